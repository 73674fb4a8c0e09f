// The bench of the page: one run at a time, its picture, its panels, what can be done with it.

import { EXAMPLE } from "./algorithm";
import { Asking } from "./asking";
import { saved } from "./export";
import { element, made, seconds } from "./format";
import { type FromSimulator, kernel, Simulator } from "./local";
import type { Start } from "./messages";
import type { Fault, Head, More, Pace, Summary } from "./model";
import { showLinks } from "./links";
import type { Groups } from "./groups";
import { Network } from "./network";
import { Panels, type Why } from "./panels";
import type { Remote } from "./remote";
import { type Schema, whole } from "./schema";
import { fragment, type Shared } from "./share";
import { sizeInWords } from "./size";
import { Sliders } from "./sliders";
import { Store } from "./store";
import { endOf } from "./tables";
import { panelInWords, runInWords } from "./words";
import { CodeText, ScenarioText } from "./writing";
import schemaText from "../build/schema.json.txt";

const count = new Intl.NumberFormat("en-US");

/** Most letters of a name and of a purpose that are shown. */
const MOST_LETTERS = 2000;

/** Most points of a sweep that are offered. */
const MOST_POINTS = 1000;

/** Time that a cell takes for the longest link in slow motion [s]. */
const CELL_S = 2;

/** Pace of slow motion before the links are known [s/s]. */
const SLOW_UNKNOWN = 1e-6;

/** From one telling of a run that goes on to the next, for screen readers [ms]. */
const TOLD_MS = 10_000;

/** Words for where a run is. */
const ENDED = "the run has ended";

/** A run that is done, or goes on. */
interface Shown {
  store: Store;
  summary: Summary | null;
  /** As which it was started. */
  setup: Shared;
  /** Message by which the simulator was started; null where the run is elsewhere. */
  start: Omit<Start, "id"> | null;
}

/** How a scenario is opened. */
interface Opening {
  /** Whether a large one waits until its reader has been told its size. */
  ask?: boolean;
  /** Whether a run that is kept stays beside it. */
  keeps?: boolean;
}

/** The bench. */
export class Lab {
  private readonly simulator: Simulator | null;
  private readonly asking: Asking | null;
  private readonly network = new Network(element<HTMLCanvasElement>("network"), element("tip"), element("portlist"));
  private readonly sliders: Sliders;
  private readonly editor: ScenarioText;
  private readonly code = new CodeText(element("code"), EXAMPLE);
  private panels: Panels | null = null;
  private keptPanels: Panels | null = null;
  private readonly schema: Schema | null = schemaText ? whole(schemaText) : null;
  private setup: Shared = { file: "", text: "", point: 0, settings: [], algorithm: null };
  private wanted: string[] = [];
  private current: Shown | null = null;
  /** The last run that ended, for the grey lines. */
  private last: Shown | null = null;
  private kept: Shown | null = null;
  private pace: Required<Pace> = { speed: null, paused: false };
  private following = false;
  private before = { speed: null as number | null };
  private isNew = true;
  /** Whether nothing of the scenario that was opened has been shown yet: what is shown is of another. */
  private isOther = true;
  private over = false;
  /** Whether members of groups are shown one by one. */
  private each = false;
  private failedLast = false;
  /** As which the last run was started in this page. */
  private started: Omit<Start, "id"> | null = null;
  private remote: Remote | null = null;
  private answer: number | undefined;
  /** Code that came with a link, and what the reader had in its place. */
  private linked: { code: string; own: string } | null = null;
  /** Where the reader has just asked for a run, and looks for what is wrong with it. */
  private writes: "write" | "own" | null = null;
  /** When the run was told in words the last time [ms]. */
  private toldAt = 0;
  /** Called when the reader runs a text of his own. */
  onText: (setup: Shared) => void = () => {};
  /** Called when the reader has changed something of the set-up. */
  onChange: () => void = () => {};

  constructor() {
    const simulator = kernel();
    this.simulator = simulator && new Simulator(simulator, (message) => this.on(message));
    this.asking = this.simulator && new Asking(this.simulator.module);
    this.sliders = new Sliders(element("sliders"), element<HTMLSelectElement>("more"), () => this.schema, () => {
      this.restart();
      this.onChange();
    });
    this.editor = new ScenarioText(
      element("editor"),
      () => this.setup.file,
      () => this.schema,
      async (text) => (this.simulator && text ? this.simulator.check(text, this.setup.file) : null),
      () => this.runText(),
    );
    this.network.onFewer = (cells) => {
      const told = cells > 1 ? `On the fullest links one of ${cells} cells is drawn.` : "";
      element("nocells").textContent = this.following ? told : this.remote ? "" : "Slow motion shows cells.";
    };
    this.controls();
  }

  /** Whether this page has a simulator of its own. */
  get simulates(): boolean {
    return this.simulator !== null;
  }

  /** The series of the run that is shown. */
  get store(): Store | null {
    return this.current?.store ?? null;
  }

  /** The summary of the run that is shown, once it has ended and as long as no other one has been asked for. */
  get summary(): Summary | null {
    return this.over && !this.failedLast ? (this.current?.summary ?? null) : null;
  }

  /** The set-up. */
  get shared(): Shared {
    const offered = this.linked && this.linked.code === this.code.text ? this.linked.code : null;
    return { ...this.setup, algorithm: this.setup.algorithm ?? offered, settings: this.sliders.values, sliders: this.sliders.paths, slow: this.following };
  }

  /** Loads a scenario and runs it; nothing of the one before stays, but for a run that is kept where that is wanted. */
  open(setup: Shared, { ask = false, keeps = false }: Opening = {}): void {
    this.remote = null;
    if (!keeps) this.release();
    this.setup = setup;
    this.wanted = setup.sliders ?? [];
    this.isNew = this.isOther = true;
    this.last = null;
    this.editor.text = setup.text;
    this.network.at = null;
    this.following = setup.slow === true;
    this.pace = { speed: null, paused: false };
    this.before.speed = null;
    this.withdraw();
    this.notice("");
    element("said").textContent = "";
    element("links").hidden = true;
    this.showAlgorithm();
    this.start(setup.settings, { ask });
  }

  /** Says something that stays until something else is opened; nothing where the text is empty. */
  notice(text: string): void {
    element("notice").hidden = text === "";
    element("notice").textContent = text;
  }

  /** Runs with other settings, as sliders give them; those that are named are shown. */
  set(settings: [string, string][], wanted: string[] = this.wanted): void {
    this.wanted = wanted;
    this.isNew = true;
    this.pace.paused = false;
    this.start(settings);
    this.onChange();
  }

  /** Brings panels to the height that they have in the lab, or beside a lesson. */
  resize(): void {
    this.panels?.repaint();
    this.keptPanels?.repaint();
  }

  /** Puts code that a link brought into the editor, which does not run it. */
  offer(code: string): void {
    this.linked = { code, own: this.code.text };
    this.code.text = code;
    element("from-link").hidden = false;
    element<HTMLDetailsElement>("own").open = true;
  }

  /** Takes such code away again, where it is as it came. */
  private withdraw(): void {
    if (this.linked && this.code.text === this.linked.code) this.code.text = this.linked.own;
    this.linked = null;
    element("from-link").hidden = true;
  }

  /** Shows a run that is elsewhere. */
  watch(remote: Remote): void {
    this.remote = remote;
  }

  private start(settings: [string, string][], { ask = false, from_s = null as number | null } = {}): void {
    if (!this.simulator) return;
    const { file, text, point, algorithm } = this.setup;
    element("large").hidden = element("fault").hidden = true;
    element("links").hidden = true;
    element("write-fault").textContent = element("own-fault").textContent = "";
    element("speed").textContent = "begins";
    // The pace of slow motion is found once the links are known.
    const pace = this.following && this.pace.speed === null ? { speed: SLOW_UNKNOWN, paused: this.pace.paused } : this.pace;
    const own = algorithm ? ([["defaults.switch.algorithm", '{ type = "custom", name = "mine" }']] as [string, string][]) : [];
    // An algorithm of the reader's own takes the place of those below it.
    this.over = false;
    this.started = { file, text, point, settings: [...own, ...settings], algorithm };
    this.simulator.start(this.started, { pace, follow: this.following, from_s, ask });
    this.expect();
  }

  private restart(): void {
    this.start(this.sliders.values);
  }

  private runText(): void {
    const text = this.editor.text;
    // A text of one's own has its own name, in errors and in the list.
    if (text !== this.setup.text) {
      this.setup = { ...this.setup, text, file: `${text.match(/^name\s*=\s*"([^"\n]+)"/m)?.[1] ?? "your-text"}.toml`, point: 0 };
      this.onText(this.setup);
    }
    this.isNew = true;
    this.last = null;
    this.writes = "write";
    this.start([]);
    this.onChange();
  }

  /** An algorithm may never come back: after a while the run can be ended. */
  private expect(): void {
    clearTimeout(this.answer);
    if (!this.setup.algorithm) return;
    this.answer = window.setTimeout(() => {
      this.simulator?.stop();
      this.failed({ message: "the algorithm has not come back for 5 s, and was ended" });
    }, 5000);
  }

  private on(message: FromSimulator): void {
    clearTimeout(this.answer);
    switch (message.kind) {
      case "head":
        this.head(message.head, message.restarted);
        if (this.isNew) this.sliders.take(JSON.parse(message.document), message.settings.filter(([path]) => !(this.setup.algorithm && path === "defaults.switch.algorithm")), this.wanted);
        this.isNew = false;
        // Sliders have taken what is set only now.
        this.current!.setup = this.shared;
        this.named();
        this.offerPoints(message.points);
        // Its very first step may be the one that does not end.
        if (!this.pace.paused) this.expect();
        break;
      case "more":
        this.more(message.more);
        if (!this.over && !message.more.paused) this.expect();
        break;
      case "end":
        clearTimeout(this.answer);
        this.end(JSON.parse(message.summary) as Summary);
        break;
      case "failed":
        this.failed(message.fault);
        break;
      case "large":
        this.waits(sizeInWords(message.size));
        break;
    }
  }

  /** Time in which a cell goes over the longest link is seconds in slow motion. */
  private slowPace(head: Head): number {
    return head.topology.links.reduce((longest, link) => Math.max(longest, link.delay_s), 1e-6) / CELL_S;
  }

  /** A run begins; `again` if it is the same one, with its cells followed. */
  head(head: Head, again = false): void {
    const store = new Store(head);
    element("fault").hidden = true;
    if (!again && this.current?.summary && !this.isOther) this.last = this.current;
    this.current = { store, summary: null, setup: this.shared, start: this.remote ? null : this.started };
    this.asking?.end();
    this.over = this.failedLast = false;
    const before = this.ghost(head);
    this.outdate(before !== null);
    document.title = `${head.name} - cellrate`;
    element("name").textContent = head.name.slice(0, MOST_LETTERS);
    element("purpose").textContent = head.purpose.slice(0, MOST_LETTERS);
    element("stamp").textContent = head.stamp;
    if (this.panels) this.panels.take(store, before, this.isOther);
    else {
      this.panels = new Panels(element("panels"), store, before, "time", this.why(() => this.current), this.each);
      this.panels.onZoom = (span) => this.keptPanels?.zoom(span, true);
      this.panels.beside = this.keptPanels;
      if (this.keptPanels) this.keptPanels.beside = this.panels;
      this.panels.onHover = (now) => {
        this.network.at = now;
        this.network.update();
      };
    }
    this.network.take(store);
    this.isOther = false;
    if (this.following && this.pace.speed === null && !this.remote) this.ask({ speed: this.slowPace(head) });
    this.tell("The run has begun");
    this.named();
    element("dashed").hidden = !head.panels.some((panel) => panel.lines.some((line) => line.level.some(([, rate]) => rate !== null)));
    element("grey").hidden = !before;
    element("each").hidden = !Object.keys(head.groups.all).length;
    element("pointable").hidden = !this.panels.explains;
    for (const id of ["slower", "faster", "fastest", "pause", "step", "slow", "again"]) element(id).hidden = head.live;
    this.enable();
    this.showPace();
  }

  /** Explains the ACRs of a run that this page can repeat. */
  private why(shown: () => Shown | null): () => Why | null {
    const { asking } = this;
    return () => {
      const start = shown()?.start;
      return asking && start ? (vc, at_s, told) => asking.ask(start, vc, at_s, told) : null;
    };
  }

  /** Groups that are one row each in tables of a run. */
  private groupsOf({ store }: Shown): Groups {
    return this.each ? {} : store.head.groups.all;
  }

  /** Shows the members of groups one by one, or each group as one. */
  private unfold(): void {
    this.each = !this.each;
    element("each").ariaPressed = String(this.each);
    for (const panels of [this.panels, this.keptPanels]) panels?.unfold(this.each);
    const { current, kept } = this;
    if (current?.summary) element("figures").replaceChildren(...endOf(current.summary, this.groupsOf(current)));
    if (kept?.summary) element("kept-figures").replaceChildren(...endOf(kept.summary, this.groupsOf(kept)));
  }

  /** Figures of the run before stand there until there are new ones, and say so; those of another scenario do not. */
  private outdate(stays: boolean): void {
    const place = element("figures");
    place.classList.toggle("old", stays);
    if (!stays) place.replaceChildren();
  }

  /** Shows nothing of any run: the scenario that was opened cannot be run, or has not begun. */
  private blank(): void {
    this.current = this.last = null;
    this.panels?.destroy();
    this.panels = null;
    this.network.clear();
    this.sliders.take({}, []);
    this.outdate(false);
    document.title = "cellrate lab";
    element("name").textContent = this.setup.file.replace(/\.toml$/, "");
    for (const id of ["purpose", "stamp", "now"]) element(id).textContent = "";
    for (const id of ["points", "dashed", "grey"]) element(id).hidden = true;
    element<HTMLProgressElement>("done").value = 0;
    this.named();
  }

  /** A large scenario of a link begins when its reader says so. */
  private waits(size: string): void {
    this.over = true;
    this.blank();
    element("fault").hidden = true;
    element("large").hidden = false;
    element("large-text").textContent = `The scenario of this link is large: it has ${size}. It may take long, and much of this browser's memory.`;
    element("speed").textContent = "waits for your word";
    this.enable();
  }

  /** The run before, where its panels are those of this one. */
  private ghost(head: Head): Store | null {
    const last = this.last?.store ?? null;
    const names = (of: Head): string => JSON.stringify(of.panels.map((panel) => [panel.axis, panel.lines.map((line) => line.label)]));
    return last && last.head.name === head.name && names(last.head) === names(head) && last.head.toml !== head.toml ? last : null;
  }

  /** More of it has come. */
  more(more: More): void {
    if (!this.current) return;
    const { store } = this.current;
    if (more.now_s >= 0) {
      store.add(more);
      if (this.following) store.forgetCells(more.now_s);
      const duration = store.head.duration_s;
      element<HTMLProgressElement>("done").value = more.now_s / duration;
      element("now").textContent = `${seconds(more.now_s)} of ${seconds(duration)}`;
    }
    if (this.remote) this.pace = { speed: more.speed, paused: more.paused };
    this.showPace();
    this.panels?.update();
    this.network.update();
    if (performance.now() - this.toldAt > TOLD_MS) this.tell("The run goes on");
    if (element<HTMLDetailsElement>("ports").open) this.network.listed();
    this.wordPanels();
  }

  /** It has ended. */
  end(summary: Summary): void {
    if (!this.current) return;
    this.over = true;
    const { run } = summary;
    element("figures").replaceChildren(...endOf(summary, this.groupsOf(this.current)));
    element("figures").classList.remove("old");
    this.current.summary = summary;
    element("speed").textContent = ENDED;
    element("now").textContent = `${seconds(run.duration_s)}, ${count.format(run.cell_hops)} cell hops`;
    element<HTMLProgressElement>("done").value = 1;
    this.panels?.update();
    this.network.update();
    this.network.listed();
    this.wordPanels();
    this.tell("The run has ended");
    this.enable();
    if (this.remote && this.simulator && !this.current.store.head.live) {
      // A run that was watched can be run again here, and changed.
      this.setup = { file: `${this.current.store.head.name}.toml`, text: this.current.store.head.toml, point: 0, settings: [], algorithm: null };
      this.editor.text = this.setup.text;
    }
  }

  /** Something is wrong with the scenario, or has gone wrong. */
  failed(fault: Fault): void {
    this.over = this.failedLast = true;
    clearTimeout(this.answer);
    if (this.isOther) this.blank();
    element("fault").hidden = false;
    element("fault-text").textContent = fault.text ?? [fault.message, fault.remedy].filter(Boolean).join(". ");
    element("fault-place").hidden = fault.line === undefined || fault.file !== this.setup.file;
    element("fault-place").onclick = () => {
      element<HTMLDetailsElement>("write").open = true;
      void this.editor.show(fault);
    };
    element("speed").textContent = this.current ? "it cannot be run; below is the run before" : "it cannot be run";
    this.pointOut(fault);
    this.enable();
  }

  /** Says what is wrong where the reader has written it: under the editor, with the cursor at its place. */
  private pointOut(fault: Fault): void {
    if (this.writes === "write") {
      element("links").hidden = true;
    element("write-fault").textContent = `${fault.line === undefined ? "" : `Line ${fault.line}: `}${fault.key ? `${fault.key}: ` : ""}${fault.message}. ${fault.remedy ?? ""}`.trim();
      if (fault.line !== undefined && fault.file === this.setup.file) void this.editor.show(fault);
    }
    if (this.writes === "own") element("own-fault").textContent = fault.message;
    this.writes = null;
  }

  /** Tells screen readers where the run is. */
  private tell(state: string): void {
    if (!this.current) return;
    this.toldAt = performance.now();
    element("told").textContent = runInWords(this.current.store, state);
  }

  /** Writes panels in words where they are unfolded. */
  private wordPanels(): void {
    const store = this.current?.store;
    if (!store || !element<HTMLDetailsElement>("words").open) return;
    element("wordlist").replaceChildren(...store.head.panels.slice(0, 12).map((panel) => made("li", "", panelInWords(panel, store))));
  }

  /** The source has gone. */
  gone(early: boolean): void {
    if (early) {
      this.over = true;
      element("speed").textContent = "the run has been ended";
    }
    this.remote = null;
    this.enable();
  }

  private enable(): void {
    const here = this.simulator !== null && this.remote === null && this.setup.text !== "";
    const goes = !this.over && this.current !== null;
    const elsewhere = this.remote !== null && !this.current?.store.head.live;
    const set = (id: string, on: boolean): void => {
      element<HTMLButtonElement>(id).disabled = !on;
    };
    for (const id of ["pause", "slower", "faster", "fastest"]) set(id, goes && (here || elsewhere));
    for (const id of ["step", "slow"]) set(id, (goes || id === "slow") && here);
    set("again", here);
    element("pause").classList.toggle("main", goes);
    element("again").classList.toggle("main", here && !goes);
    for (const id of ["csv", "png", "toml", "keep"]) set(id, this.current !== null);
    set("link", this.setup.text !== "");
    element("parameters").hidden = !here || this.current === null;
    element("write").hidden = !here;
    element("own").hidden = !here;
  }

  private showPace(): void {
    const { speed, paused } = this.pace;
    element("slow").ariaPressed = String(this.following);
    if (this.over) return;
    if (this.current?.store.head.live) {
      element("speed").textContent = "live";
      return;
    }
    element("pause").textContent = paused ? "Go on" : "Pause";
    const told = speed === null ? "as fast as it goes" : `${seconds(speed)} per second`;
    element("speed").textContent = paused ? "stands still" : told;
  }

  private ask(pace: Pace): void {
    if (this.remote) {
      this.remote.pace(pace);
      return;
    }
    this.pace = { ...this.pace, ...pace };
    this.simulator?.pace(pace);
    this.showPace();
  }

  private controls(): void {
    const on = (id: string, does: () => void): void => element(id).addEventListener("click", does);
    const duration = (): number => this.current?.store.head.duration_s ?? 1;
    on("pause", () => {
      this.ask({ paused: !this.pace.paused });
      this.tell(this.pace.paused ? "The run stands still" : "The run goes on");
    });
    on("slower", () => this.ask({ speed: (this.pace.speed ?? duration() / 2) / 2 }));
    on("faster", () => this.ask({ speed: this.pace.speed === null ? null : this.pace.speed * 2 }));
    on("fastest", () => {
      this.before.speed = null;
      if (this.following) this.slowMotion();
      else this.ask({ speed: null });
    });
    on("again", () => {
      this.pace.paused = false;
      this.restart();
    });
    on("step", () => {
      this.pace.paused = true;
      this.simulator?.step(this.following ? 10e-6 : duration() / 200);
      this.showPace();
    });
    on("slow", () => this.slowMotion());
    on("run-text", () => this.runText());
    on("run-large", () => this.start(this.setup.settings));
    on("use", () => {
      this.writes = "own";
      this.use(this.code.text);
    });
    on("unuse", () => this.use(null));
    on("closer", () => this.panels?.scale(0.5));
    on("further", () => this.panels?.scale(2));
    on("left", () => this.panels?.pan(-0.25));
    on("right", () => this.panels?.pan(0.25));
    on("whole", () => this.panels?.zoom(null));
    on("keep", () => this.keep());
    on("each", () => this.unfold());
    on("csv", () => saved.csv(this.current!.store));
    on("toml", () => saved.text(`${this.current!.store.head.name}.toml`, this.current!.store.head.toml));
    on("png", () => void this.panels!.picture().then((blob) => saved.blob(`${this.current!.store.head.name}.png`, blob)));
    on("link", () => void this.link());
    element<HTMLSelectElement>("point").addEventListener("change", ({ target }) => {
      this.setup = { ...this.setup, point: Number((target as HTMLSelectElement).value) };
      this.isNew = true;
      this.start(this.sliders.values);
      this.onChange();
    });
    const repaint = (): void => {
      this.panels?.repaint();
      this.keptPanels?.repaint();
      this.network.update();
    };
    window.addEventListener("theme", repaint);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    const unfolds = (id: string, open: () => Promise<unknown>): void =>
      element<HTMLDetailsElement>(id).addEventListener("toggle", ({ target }) => {
        if ((target as HTMLDetailsElement).open) open().catch((thrown: Error) => this.failed({ message: thrown.message }));
      });
    unfolds("write", () => this.editor.open());
    unfolds("own", () => this.code.open());
    element("ports").addEventListener("toggle", () => this.network.listed());
    element("words").addEventListener("toggle", () => this.wordPanels());
  }

  /** Cells are followed from where the run is; or from its beginning, where it has ended. */
  private slowMotion(): void {
    this.following = !this.following;
    const head = this.current?.store.head;
    if (!head) return;
    if (this.following) {
      this.before.speed = this.pace.speed;
      this.pace = { speed: this.slowPace(head), paused: false };
    } else this.pace = { speed: this.before.speed, paused: false };
    if (this.over) {
      this.restart();
      return;
    }
    this.start(this.sliders.values, { from_s: this.current!.store.now_s });
    this.showPace();
  }

  private use(code: string | null): void {
    this.setup = { ...this.setup, algorithm: code };
    element("from-link").hidden = true;
    this.showAlgorithm();
    this.isNew = true;
    this.start(this.sliders.values);
    this.onChange();
  }

  private showAlgorithm(): void {
    for (const id of ["unuse", "in-use"]) element(id).hidden = this.setup.algorithm === null;
  }

  private offerPoints(points: [string, string][][]): void {
    const select = element<HTMLSelectElement>("point");
    element("points").hidden = points.length < 2;
    if (points.length < 2) return;
    const name = (set: [string, string][]): string => set.map(([path, value]) => `${path.split(".").pop()} = ${value}`).join(", ");
    select.replaceChildren(...points.slice(0, MOST_POINTS).map((set, place) => new Option(name(set).slice(0, 80), String(place), false, place === this.setup.point)));
  }

  /** Names two runs side by side by what differs between them. */
  private named(): void {
    const both = this.kept && this.current;
    element("own-name").hidden = !both;
    if (!both) return;
    const [kept, now] = differing(this.kept!, this.current!, (path) => this.sliders.unset(path));
    element("kept-name").textContent = `Kept: ${kept}`;
    element("own-name").textContent = `Now: ${now}`;
  }

  /** Keeps this run beside the next ones, or lets it go. */
  private keep(): void {
    if (this.kept) this.release();
    else if (this.current) {
      this.kept = this.current;
      element("kept").hidden = false;
      this.keptPanels = new Panels(element("kept-panels"), this.kept.store, null, "time", this.why(() => this.kept), this.each);
      this.keptPanels.onZoom = (span) => this.panels?.zoom(span, true);
      this.keptPanels.beside = this.panels;
      if (this.panels) this.panels.beside = this.keptPanels;
      if (this.panels?.zoomed) this.keptPanels.zoom(this.panels.zoomed, true);
      element("kept-figures").replaceChildren(...(this.kept.summary ? endOf(this.kept.summary, this.groupsOf(this.kept)) : []));
    }
    this.compares();
  }

  /** Lets a run that was kept go. */
  private release(): void {
    this.kept = null;
    if (this.panels) this.panels.beside = null;
    this.keptPanels?.destroy();
    this.keptPanels = null;
    element("kept-figures").replaceChildren();
    this.compares();
  }

  private compares(): void {
    const button = element("keep");
    element("kept").hidden = !this.kept;
    this.named();
    element("bench").classList.toggle("compares", this.kept !== null);
    button.ariaPressed = String(this.kept !== null);
    button.textContent = this.kept ? "End comparison" : "Compare";
    this.panels?.rescale();
  }

  private async link(): Promise<void> {
    if (!element("links").hidden) {
      element("links").hidden = true;
      return;
    }
    const packed = await fragment(this.shared);
    showLinks(packed);
    // The address of a lesson stays that of the lesson.
    if (location.hash.startsWith("#lesson")) return;
    history.replaceState(null, "", packed);
    element("said").textContent = "The link is in the address, too.";
  }
}

/** Differences between two runs, as words for each: its name, its point, its settings, its algorithm, its text. */
function differing(one: Shown, other: Shown, unset: (path: string) => string): [string, string] {
  const runs = [one, other];
  const words: [string[], string[]] = [[], []];
  const add = (texts: string[]): void => {
    if (texts[0] !== texts[1]) texts.forEach((text, place) => words[place].push(text));
  };
  add(runs.map(({ store }) => store.head.name));
  add(runs.map(({ setup }) => `point ${setup.point + 1}`));
  add(runs.map(({ setup }) => (setup.algorithm === null ? "the scenario's algorithm" : "own algorithm")));
  const paths = [...new Set(runs.flatMap(({ setup }) => setup.settings.map(([path]) => path)))];
  const last = (path: string): string => path.split(".").pop()!;
  for (const path of paths) {
    const name = paths.filter((each) => last(each) === last(path)).length > 1 ? path : last(path);
    add(runs.map(({ setup }) => `${name} = ${setup.settings.find(([set]) => set === path)?.[1] ?? unset(path)}`));
  }
  if (!words[0].length && one.setup.text !== other.setup.text) add(["the text as it was", "the text as it is"]);
  return words.map((texts, place) => texts.join(", ") || runs[place].store.head.name) as [string, string];
}
