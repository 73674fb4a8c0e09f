// Panels of series: uPlot, with max-min fair rates behind, the run before in grey, and one zoom for all.

import uPlot from "uplot";
import type { Answer } from "./asking";
import { bandOf, foldedPanel } from "./bands";
import { digits, made } from "./format";
import type { Line, Panel } from "./model";
import { type Curve, Pointing } from "./pointing";
import { type Store, type Track, until } from "./store";
import { Thinned } from "./thinned";

/** Height of a panel [CSS pixels]; beside a lesson they are lower, so that all of them are seen, and four lower still. */
const HEIGHT = 190;
const LOW_HEIGHT = 118;
const LOWEST_HEIGHT = 94;
/** Pixels of a panel's width in which a thinned line has its least and its largest value. */
const PART = 2;
/** Such values of all lines of a panel together: of many lines each has fewer. */
const MOST_VALUES = 24_000;
/** How much longer nothing is drawn than drawing took: pictures of cells and answers to the reader come between. */
const REST = 2;

/** Most lines that a panel draws, and most panels: more could not be told apart, and the page would stand still. */
const MOST_LINES = 100;
const MOST_PANELS = 30;

type Data = uPlot.AlignedData;

/** The panels of a run that are drawn, each with the lines that are, and how many lines are left out. */
function drawn({ head }: Store, each: boolean): { panel: Panel; left: number }[] {
  const panels = head.panels.slice(0, MOST_PANELS);
  return panels.map((panel) => (each ? panel : foldedPanel(panel, head.series, head.groups.drawn))).map((panel) => ({
    panel: panel.lines.length > MOST_LINES ? { ...panel, lines: panel.lines.slice(0, MOST_LINES) } : panel,
    left: Math.max(0, panel.lines.length - MOST_LINES),
  }));
}

/** Asks why a source had its ACR at an instant. */
export type Why = (vc: string, at_s: number, told: (answer: Answer) => void) => void;

/** A panel that is drawn. */
interface Drawn {
  plot: uPlot;
  panel: Panel;
  place: HTMLElement;
  /** The upper end of the axis that the reader has chosen. */
  top: number | null;
  /** The largest of the values that are seen. */
  high: number;
}

/** The panels of one run, in a place of the page. */
export class Panels {
  private plots: Drawn[] = [];
  /** Panels whose vertical axes are the same as here. */
  beside: Panels | null = null;
  private pointings: Pointing[] = [];
  private hidden = new Set<string>();
  private span: [number, number] | null = null;
  /** Places of panels that are to be drawn. */
  private due = new Set<number>();
  private room = 56;
  /** Width of the place [CSS pixels]. Asked for at each line it would have the page laid out again. */
  private width = 0;
  private thinned = new Map<string, Thinned>();
  /** No earlier than that is it drawn again [ms]. */
  private rested = 0;
  private readonly watching: ResizeObserver;
  /** Called with what is seen of time now, where its reader has chosen that. */
  onZoom: (span: [number, number] | null) => void = () => {};
  /** Called with the instant under the pointer, or null where it leaves. */
  onHover: (now: number | null) => void = () => {};

  constructor(
    private readonly place: HTMLElement,
    private store: Store,
    private before: Store | null,
    private readonly sync: string,
    /** Gives null where the run cannot be repeated in this page. */
    private readonly why: () => Why | null,
    /** Whether members of groups are drawn one by one. */
    private each: boolean,
  ) {
    this.build();
    this.watching = new ResizeObserver(() => this.resize());
    this.watching.observe(place);
  }

  /** Shows another run with the same panels where it can, or new ones; of another scenario nothing stays hidden or zoomed. */
  take(store: Store, before: Store | null, isOther = false): void {
    const names = (of: Store): string => JSON.stringify([of.head.groups.drawn, of.head.panels.map((panel) => [panel.axis, panel.lines.map((line) => line.label)]), of.head.duration_s]);
    const alike = names(store) === names(this.store) && Boolean(before) === Boolean(this.before);
    this.store = store;
    this.before = before;
    this.thinned.clear();
    if (isOther) {
      this.hidden.clear();
      this.span = null;
      this.build();
    } else if (alike) {
      const panels = drawn(store, this.each);
      this.plots.forEach((one, place) => (one.panel = panels[place].panel));
      this.pointings.forEach((pointing) => pointing.renew());
      this.draw();
    } else {
      this.span = null;
      this.build();
    }
  }

  /** Whether curves of it can be explained. */
  get explains(): boolean {
    return this.pointings.length > 0 && this.why() !== null;
  }

  /** Draws soon, however often it is called: one panel in a picture, so that no picture waits for all of them. */
  update(): void {
    const waits = this.due.size > 0;
    // Those that wait longest stay in front.
    this.plots.forEach((_, place) => this.due.add(place));
    if (!waits && this.due.size) requestAnimationFrame((now) => this.next(now));
  }

  private next(now: number): void {
    const [place] = this.due;
    if (place === undefined) return;
    if (now >= this.rested) {
      this.due.delete(place);
      const one = this.plots[place];
      if (one) this.draw([one]);
    }
    if (this.due.size) requestAnimationFrame((then) => this.next(then));
  }

  /** Span of time in view; all where there is none. */
  get zoomed(): [number, number] | null {
    return this.span;
  }

  /** Sees another part of time; `follows` other panels, or tells them. */
  zoom(span: [number, number] | null, follows = false): void {
    const duration = this.store.head.duration_s;
    this.span = span && [Math.max(0, span[0]), Math.min(duration, span[1])];
    if (!span) this.plots.forEach((one) => (one.top = null));
    this.pointings.forEach((pointing) => pointing.hide());
    this.thinned.clear();
    this.draw();
    if (!follows) this.onZoom(this.span);
  }

  /** Looks closer or from further away, around the middle. */
  scale(factor: number): void {
    const [from, to] = this.span ?? [0, this.store.head.duration_s];
    const [middle, half] = [(from + to) / 2, ((to - from) / 2) * factor];
    this.zoom(half * 2 >= this.store.head.duration_s ? null : [middle - half, middle + half]);
  }

  /** Moves by a part of what is seen. */
  pan(part: number): void {
    if (!this.span) return;
    const length = this.span[1] - this.span[0];
    const from = Math.min(Math.max(0, this.span[0] + part * length), this.store.head.duration_s - length);
    this.zoom([from, from + length]);
  }

  /** Draws members of groups one by one, or each group as a band. */
  unfold(each: boolean): void {
    this.each = each;
    this.hidden.clear();
    this.build();
  }

  /** Draws everything anew, because colours have changed. */
  repaint(): void {
    this.build();
  }

  destroy(): void {
    this.watching.disconnect();
    this.due.clear();
    this.plots.forEach(({ plot }) => plot.destroy());
    this.place.replaceChildren();
  }

  /** The panels as one picture. */
  async picture(): Promise<Blob> {
    const sheet = document.createElement("canvas");
    const sources = this.plots.map(({ plot }) => plot.ctx.canvas);
    sheet.width = Math.max(...sources.map((source) => source.width));
    sheet.height = sources.reduce((sum, source) => sum + source.height + 24 * devicePixelRatio, 0);
    const context = sheet.getContext("2d")!;
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, sheet.width, sheet.height);
    let top = 0;
    context.font = `${13 * devicePixelRatio}px sans-serif`;
    for (const { plot, panel } of this.plots) {
      let left = 8 * devicePixelRatio;
      for (const line of panel.lines) {
        if (this.hidden.has(line.label)) continue;
        context.fillStyle = colour(line.colour);
        context.fillText(line.label, left, top + 16 * devicePixelRatio);
        left += context.measureText(`${line.label}   `).width;
      }
      top += 24 * devicePixelRatio;
      context.drawImage(plot.ctx.canvas, 0, top);
      top += plot.ctx.canvas.height;
    }
    return new Promise((done, fail) => sheet.toBlob((blob) => (blob ? done(blob) : fail(new Error("the picture could not be made"))), "image/png"));
  }

  private build(): void {
    this.plots.forEach(({ plot }) => plot.destroy());
    this.place.replaceChildren();
    this.width = this.place.clientWidth;
    this.plots = [];
    this.pointings = [];
    drawn(this.store, this.each).forEach(({ panel, left }, number, all) => {
      const place = made("section", "panel");
      place.ariaLabel = panel.axis;
      place.append(made("h3", "", panel.axis));
      this.place.append(place);
      const own: Drawn = { plot: null as unknown as uPlot, panel, place, top: null, high: 0 };
      own.plot = new uPlot(this.options(own, number === all.length - 1), this.columns(panel), place);
      this.legend(own);
      if (left) place.append(made("p", "left", `${left.toLocaleString("en-US")} more lines are not drawn; CSV has them all.`));
      this.plots.push(own);
      this.pointable(own);
    });
    const left = this.store.head.panels.length - this.plots.length;
    if (left > 0) this.place.append(made("p", "left", `${left.toLocaleString("en-US")} more panels are not drawn; CSV has them all.`));
  }

  /** Has curves of ACR explained that are pointed at. */
  private pointable(own: Drawn): void {
    const probe = (series: number): string | undefined => this.store.head.series[series]?.[0];
    if (!own.panel.lines.every(({ series }) => probe(series) === "acr")) return;
    const curve = (line: Line): Curve => {
      const at = (now: number): number | null => {
        const value = this.valueAt(line, now);
        return value === null ? null : value * own.panel.scale;
      };
      return { name: this.store.head.series[line.series][1], colour: colour(line.colour), at };
    };
    this.pointings.push(
      new Pointing(own.plot, own.place, {
        explains: () => this.why() !== null,
        // Of a group its members, of which the pointer finds the nearest.
        curves: () => own.panel.lines.filter(({ label }) => !this.hidden.has(label)).flatMap((line) => (line.members ?? [line]).map(curve)),
        span: () => {
          const [from, to] = this.span ?? [0, this.store.head.duration_s];
          return [from, Math.max(from, Math.min(to, this.store.now_s))];
        },
        ask: ({ name }, at_s, told) => this.why()?.(name, at_s, told),
      }),
    );
  }

  /** The value of a line as it is drawn at an instant: a sample stands for the interval that it ends. */
  private valueAt(line: Line, now: number): number | null {
    const { times, values } = this.store.track(line.series);
    const count = until(times.values, now);
    const place = line.changes || times.values[count - 1] === now ? count - 1 : count;
    const value = values.values[Math.min(place, values.length - 1)];
    return value === undefined || Number.isNaN(value) ? null : value;
  }

  private options(own: Drawn, last: boolean): uPlot.Options {
    const { panel } = own;
    const style = getComputedStyle(document.documentElement);
    const [ink, faint] = [style.getPropertyValue("--ink").trim(), style.getPropertyValue("--rule").trim()];
    const stepped = uPlot.paths.stepped!;
    const greys = this.before ? panel.lines.map(() => ({ stroke: style.getPropertyValue("--ghost").trim(), width: 1, spanGaps: true, points: { show: false }, paths: stepped({ align: 1 }) })) : [];
    const lines = panel.lines.map((line) => ({
      label: line.label,
      stroke: () => colour(line.colour),
      width: 1.5,
      spanGaps: true,
      show: !this.hidden.has(line.label),
      points: { show: false },
      // A sample stands for the interval that it ends, a change for what follows.
      paths: stepped({ align: line.changes ? 1 : -1 }),
    }));
    // Edges of bands stand behind all lines, the lower one first.
    const groups = panel.lines.filter((line) => line.members);
    const edges = groups.flatMap((line) => [0, 1].map(() => ({ label: line.label, width: 0, stroke: "transparent", spanGaps: true, show: !this.hidden.has(line.label), points: { show: false }, paths: stepped({ align: line.changes ? 1 : -1 }) })));
    const bands = groups.map((line, number) => {
      const low = 1 + greys.length + lines.length + 2 * number;
      return { series: [low + 1, low] as [number, number], fill: () => `${colour(line.colour)}40` };
    });
    const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 } };
    return {
      width: Math.max(this.width, 200),
      height: this.height,
      legend: { show: false },
      cursor: { sync: { key: this.sync, setSeries: false }, drag: { x: true, y: true, uni: 40, setScale: false }, points: { show: false } },
      scales: {
        x: { time: false, range: () => this.span ?? [0, this.store.head.duration_s] },
        y: { range: (_plot, _low, high) => [0, this.upper(own, high)] },
      },
      axes: [
        { ...axis, size: 32, ...(last ? { label: "time [s]", labelSize: 18 } : {}) },
        { ...axis, size: (plot, texts, index, cycle) => this.roomFor(plot, texts, index, cycle), values: (_plot, splits) => splits.map((value) => value.toLocaleString("en-US")) },
      ],
      series: [{}, ...greys, ...lines, ...edges],
      bands,
      hooks: {
        drawAxes: [(plot) => this.levels(plot, panel)],
        setCursor: [(plot) => this.hover(own, plot)],
        setSelect: [(plot) => this.selected(own, plot)],
        ready: [(plot) => plot.over.addEventListener("dblclick", () => this.zoom(null))],
      },
    };
  }

  /** Instants and values of all lines. Where they are sampled together they share their instants; else they are joined. */
  private columns(panel: Panel): Data {
    const now = this.store.now_s;
    if (panel.lines.some((line) => line.members) || this.isDense(panel)) return this.thin(panel);
    const tables = panel.lines.map((line) => table(this.store.track(line.series), now, panel.scale, line.changes));
    const befores = this.before ? panel.lines.map((line) => table(this.before!.track(line.series), Infinity, panel.scale, false)) : [];
    const all = [...befores, ...tables];
    const longest = all.reduce((most, one) => (one[0].length > most.length ? one[0] : most), all[0][0]);
    const shared = panel.lines.every((line) => !line.changes) && all.every(([times]) => !times.length || (times[0] === longest[0] && times[times.length - 1] === longest[times.length - 1]));
    if (!shared) return uPlot.join(all.map((one) => [one[0], one[1]] as unknown as Data));
    const padded = all.map(([, values]) => {
      const whole: (number | null)[] = Array.from(values, (value) => (Number.isFinite(value) ? value : null));
      whole.length = longest.length;
      return whole.fill(null, values.length);
    });
    return [Array.from(longest), ...padded] as Data;
  }

  /** Parts of the time that is seen in which a thinned line has two values. */
  private get parts(): number {
    return Math.max(100, Math.round((this.width * devicePixelRatio) / PART));
  }

  /** Parts of the time that is seen for one panel: fewer where it has many lines. */
  private partsOf(panel: Panel): number {
    return Math.max(100, Math.min(this.parts, Math.floor(MOST_VALUES / (2 * panel.lines.length))));
  }

  /** Whether a line of it has more samples in what is seen than can be told apart. */
  private isDense(panel: Panel): boolean {
    const [from, to] = this.span ?? [0, this.store.head.duration_s];
    const count = ({ times }: Track): number => until(times.values, to) - until(times.values, from);
    const stores = this.before ? [this.store, this.before] : [this.store];
    return stores.some((store) => panel.lines.some((line) => count(store.track(line.series)) > 2 * this.partsOf(panel)));
  }

  /** All lines as their least and largest values, at instants that they share. */
  private thin(panel: Panel): Data {
    const parts = this.partsOf(panel);
    const [from, to] = this.span ?? [0, this.store.head.duration_s];
    const thinned = (line: Line, store: Store, now: number): Thinned => {
      const key = [line.series, store === this.store, from, to, parts].join(" ");
      let found = this.thinned.get(key);
      if (!found) this.thinned.set(key, (found = new Thinned(store.track(line.series), from, to, parts, panel.scale, line.changes)));
      found.take(now);
      return found;
    };
    const edges: (number | null)[][] = [];
    const values = (store: Store, now: number): (number | null)[][] =>
      panel.lines.map((line) => {
        if (!line.members) return thinned(line, store, now).columns;
        const { median, low, high } = bandOf(line.members.map((member) => thinned(member, store, now)), parts, Math.min(now, to));
        if (store === this.store) edges.push(low, high);
        return median;
      });
    const lines = values(this.store, this.store.now_s);
    // A value that holds until it changes holds now.
    const part = Math.min(2 * parts - 1, Math.floor(((this.store.now_s - from) / (to - from)) * 2 * parts));
    panel.lines.forEach((line, place) => {
      const held = this.store.track(line.series).at(this.store.now_s);
      if (line.changes && !line.members && held !== null && part >= 0) lines[place][part] ??= held * panel.scale;
    });
    return [Thinned.instants(from, to, parts), ...(this.before ? values(this.before, Infinity) : []), ...lines, ...edges] as Data;
  }

  private draw(plots = this.plots): void {
    const before = this.room;
    const begun = performance.now();
    const ends = (): string => plots.map(({ high, top }) => `${high} ${top}`).join();
    const reached = ends();
    plots.forEach(({ plot, panel }) => plot.setData(this.columns(panel)));
    // They are drawn when this function has come to its end.
    queueMicrotask(() => {
      const ended = performance.now();
      this.rested = ended + REST * (ended - begun);
      if (this.beside && ends() !== reached) this.beside.rescale();
      if (this.room > before) this.plots.forEach(({ plot }) => plot.redraw(false, true));
    });
  }

  /** The upper end of a vertical axis: one for both runs that stand side by side. */
  private upper(own: Drawn, high: number): number {
    own.high = high > 0 ? high : 0;
    const other = this.beside?.plots.find(({ panel }) => panel.axis === own.panel.axis);
    const most = Math.max(own.high, other?.high ?? 0);
    return own.top ?? other?.top ?? own.panel.top ?? (most > 0 ? most * 1.05 : 1);
  }

  /** Takes another scale, because the other run beside it has one. */
  rescale(): void {
    this.plots.forEach(({ plot }) => plot.setData(plot.data));
  }

  /** As much as the longest number at any of the vertical axes has needed: so that panels share their time. */
  private roomFor(plot: uPlot, texts: string[] | null, index: number, cycle: number): number {
    const axis = plot.axes[index] as uPlot.Axis & { _size: number; font: string[] };
    // Sizes of both axes are settled in turns; a number more or less is no reason to begin again.
    if (cycle > 1) return axis._size;
    plot.ctx.save();
    [plot.ctx.font] = axis.font;
    const widths = (texts ?? []).map((text) => plot.ctx.measureText(text).width / devicePixelRatio);
    plot.ctx.restore();
    this.room = Math.max(this.room, Math.ceil((axis.ticks?.size ?? 10) + (axis.gap ?? 5) + Math.max(0, ...widths)) + 4);
    return this.room;
  }

  /** Max-min fair rates, dashed. */
  private levels(plot: uPlot, panel: Panel): void {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.setLineDash([6, 6]);
    ctx.globalAlpha = 0.6;
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const line of panel.lines) {
      if (this.hidden.has(line.label)) continue;
      ctx.strokeStyle = colour(line.colour);
      ctx.beginPath();
      line.level.forEach(([at, rate], place) => {
        if (rate === null) return;
        const y = plot.valToPos(rate * panel.scale, "y", true);
        const next = line.level[place + 1];
        ctx.moveTo(plot.valToPos(at, "x", true), y);
        ctx.lineTo(next ? plot.valToPos(next[0], "x", true) : bbox.left + bbox.width, y);
      });
      ctx.stroke();
    }
    ctx.restore();
  }

  private selected(own: Drawn, plot: uPlot): void {
    const { left, top, width, height } = plot.select;
    if (width > 4 || height > 4) {
      const inner = plot.over;
      if (height > 4 && height < inner.clientHeight - 1) own.top = plot.posToVal(top, "y");
      const wide = width > 4 && width < inner.clientWidth - 1;
      if (wide) this.zoom([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
      else this.draw();
      this.beside?.rescale();
    }
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  private hover(own: { panel: Panel; place: HTMLElement }, plot: uPlot): void {
    const now = plot.cursor.left !== undefined && plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : null;
    own.place.querySelectorAll<HTMLElement>(".value").forEach((cell, place) => {
      const line = own.panel.lines[place];
      const at = (of: Line): number | null => (now === null ? null : this.store.track(of.series).at(Math.min(now, this.store.now_s)));
      const values = (line.members ?? [line]).map(at).filter((value) => value !== null);
      const ends = values.length ? [values.reduce((least, value) => Math.min(least, value)), values.reduce((most, value) => Math.max(most, value))] : [];
      cell.textContent = [...new Set(ends.map((value) => digits(value * own.panel.scale)))].join(" to ");
    });
    this.onHover(now);
  }

  /** Names that are pressed to hide a line or show it again, with the value under the pointer. */
  private legend(own: { plot: uPlot; panel: Panel; place: HTMLElement }): void {
    const list = made("div", "legend");
    const behind = this.before ? own.panel.lines.length : 0;
    own.panel.lines.forEach((line, place) => {
      const button = made("button", "line");
      button.type = "button";
      const mark = made("span", "mark");
      mark.style.setProperty("--line", colour(line.colour));
      button.append(mark, made("span", "", line.label), made("span", "value"));
      const show = (): void => {
        button.ariaPressed = String(!this.hidden.has(line.label));
      };
      show();
      button.title = "Hide or show this line";
      button.addEventListener("click", () => {
        if (!this.hidden.delete(line.label)) this.hidden.add(line.label);
        const edge = 1 + behind + own.panel.lines.length + 2 * own.panel.lines.slice(0, place).filter(({ members }) => members).length;
        const parts = [1 + behind + place, ...(behind ? [1 + place] : []), ...(line.members ? [edge, edge + 1] : [])];
        parts.forEach((part) => own.plot.setSeries(part, { show: !this.hidden.has(line.label) }));
        show();
      });
      list.append(button);
    });
    own.place.append(list);
  }

  private get height(): number {
    if (!this.place.closest(".reading")) return HEIGHT;
    return this.store.head.panels.length > 3 ? LOWEST_HEIGHT : LOW_HEIGHT;
  }

  private resize(): void {
    this.thinned.clear();
    this.pointings.forEach((pointing) => pointing.hide());
    this.width = this.place.clientWidth;
    this.plots.forEach(({ plot }) => plot.setSize({ width: Math.max(this.width, 200), height: this.height }));
  }
}

/** Colours of the palette that are hard to see on dark ground, each with a lighter one. */
const ON_DARK: Record<string, string> = { "#0072B2": "#4aa3df", "#D55E00": "#f0803c", "#009E73": "#2fc796", "#CC79A7": "#dd92bb", "#8C8C00": "#c8c832" };

/** A colour of the palette as it is drawn here; black is the colour of the text. */
function colour(name: string): string {
  const style = getComputedStyle(document.documentElement);
  if (name === "#000000") return style.getPropertyValue("--ink").trim();
  return style.colorScheme === "dark" ? (ON_DARK[name] ?? name) : name;
}

function table(track: Track, now: number, scale: number, changes: boolean): [Float64Array | number[], Float64Array | number[]] {
  const count = now === Infinity ? track.times.length : until(track.times.values, now);
  const times = track.times.values.subarray(0, count);
  const values = scale === 1 ? track.values.values.subarray(0, count) : track.values.values.subarray(0, count).map((value) => value * scale);
  // A value that holds until it changes holds now.
  if (changes && count && times[count - 1] < now && now < Infinity) return [[...times, now], [...values, values[count - 1]]];
  return [times, values];
}
