// Pointing at a curve of ACR, by the pointer or by keys: which curve, at which instant, and what is said of it.

import type uPlot from "uplot";
import type { Answer } from "./asking";
import { made, seconds } from "./format";

/** How long the pointer rests before anything is asked [ms]; shorter while an answer is shown. */
const REST_MS = 250;
const NEXT_MS = 60;
/** Distance from a curve that is still at it [CSS pixels]. */
const NEAR = 14;
/** Part of the time in view that an arrow moves by; with Shift the smaller. */
const ARROW = 0.01;
const FINE_ARROW = 0.001;

/** A curve that can be pointed at. */
export interface Curve {
  /** The direction of a connection whose ACR it is. */
  name: string;
  colour: string;
  /** Its value at an instant, in the unit of the axis; null where it has none. */
  at(now: number): number | null;
}

/** The panel of ACR, as pointing at it needs it. */
export interface Pointed {
  /** Whether the run can be explained here. */
  explains(): boolean;
  /** Curves that are shown. */
  curves(): Curve[];
  /** Instants in view [s], none later than the run has got. */
  span(): [number, number];
  ask(curve: Curve, at_s: number, told: (answer: Answer) => void): void;
}

/** The box below a panel that says why ACR is what it is, as long as something points at a curve there. */
export class Pointing {
  private readonly box = made("div", "why");
  private readonly spot = made("div", "spot");
  private readonly over: HTMLElement;
  private timer: number | undefined;
  private at: number | null = null;
  private name = "";
  private shows = false;

  constructor(
    private readonly plot: uPlot,
    private readonly panel: HTMLElement,
    private readonly pointed: Pointed,
  ) {
    this.over = plot.over;
    this.box.hidden = this.spot.hidden = true;
    this.box.role = "status";
    this.over.append(this.spot);
    panel.append(this.box);
    this.renew();
    this.over.addEventListener("pointermove", (event) => this.moved(event));
    panel.addEventListener("pointerleave", () => {
      if (!this.over.matches(":focus-visible")) this.hide();
    });
    this.over.addEventListener("focus", () => {
      if (this.over.matches(":focus-visible")) this.by(0, 0);
    });
    this.over.addEventListener("blur", () => this.hide());
    panel.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** Begins with another run. The drawing area is a slider over instants, for those who have no pointer. */
  renew(): void {
    this.hide();
    if (!this.pointed.explains()) {
      this.over.removeAttribute("tabindex");
      this.over.removeAttribute("role");
      return;
    }
    Object.assign(this.over, { tabIndex: 0, role: "slider", ariaLabel: "Why this rate? Left and right arrows move the instant, up and down pick a curve", ariaValueMin: "0" });
    this.valued("no instant yet");
  }

  private valued(text: string): void {
    const [, to] = this.pointed.span();
    Object.assign(this.over, { ariaValueMax: String(to), ariaValueNow: String(this.at ?? 0), ariaValueText: text });
  }

  private moved(event: PointerEvent): void {
    clearTimeout(this.timer);
    // A button that is down drags a zoom.
    if (event.buttons) return this.hide();
    if (!this.pointed.explains()) return;
    const { left, top } = this.over.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const at = Math.min(this.plot.posToVal(x, "x"), this.pointed.span()[1]);
    let nearest: { curve: Curve; far: number } | null = null;
    for (const curve of this.pointed.curves()) {
      const value = curve.at(at);
      const far = value === null ? Infinity : Math.abs(this.plot.valToPos(value, "y") - y);
      if (far <= NEAR && far < (nearest?.far ?? Infinity)) nearest = { curve, far };
    }
    if (!nearest) return;
    const { curve } = nearest;
    this.timer = window.setTimeout(() => this.ask(curve, at), this.shows ? NEXT_MS : REST_MS);
  }

  private pressed(event: KeyboardEvent): void {
    if (event.key === "Escape" && this.shows) {
      event.stopPropagation();
      return this.hide();
    }
    if (event.target !== this.over || event.ctrlKey || event.altKey || event.metaKey) return;
    const part = event.shiftKey ? FINE_ARROW : ARROW;
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [-part, 0],
      ArrowRight: [part, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
      PageDown: [-0.1, 0],
      PageUp: [0.1, 0],
      Home: [-1, 0],
      End: [1, 0],
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    this.by(...move);
  }

  /** Goes on by a part of the time in view, and by some curves. */
  private by(part: number, curves: number): void {
    const shown = this.pointed.curves();
    if (!shown.length || !this.pointed.explains()) return;
    const [from, to] = this.pointed.span();
    const at = (this.at ?? (from + to) / 2) + part * (to - from);
    const before = shown.findIndex(({ name }) => name === this.name);
    const curve = shown[(Math.max(0, before) + curves + shown.length) % shown.length];
    this.ask(curve, Math.min(Math.max(from, at), to));
  }

  private ask(curve: Curve, at: number): void {
    this.at = at;
    this.name = curve.name;
    this.shows = true;
    const value = curve.at(at);
    this.spot.hidden = value === null;
    this.spot.style.setProperty("--line", curve.colour);
    if (value !== null) Object.assign(this.spot.style, { left: `${this.plot.valToPos(at, "x")}px`, top: `${this.plot.valToPos(value, "y")}px` });
    const head = `${curve.name} at ${seconds(at)}`;
    this.valued(head);
    this.pointed.ask(curve, at, (answer) => this.tell(head, answer));
  }

  private tell(head: string, answer: Answer): void {
    if (!this.shows) return;
    const lines = "lines" in answer ? answer.lines : "fault" in answer ? [`It cannot be explained: ${answer.fault}`] : [`The run is repeated up to there: ${Math.floor(100 * answer.done)} %`];
    this.box.replaceChildren(made("b", "", head), made("pre", "", lines.join("\n")));
    this.box.hidden = false;
    const legend = this.panel.querySelector<HTMLElement>(".legend");
    this.box.style.top = `${(legend ?? this.over).offsetTop + (legend ?? this.over).offsetHeight}px`;
  }

  /** Says nothing any more; the curve and the instant stay where a key goes on from. */
  hide(): void {
    clearTimeout(this.timer);
    this.shows = false;
    this.box.hidden = this.spot.hidden = true;
  }
}
