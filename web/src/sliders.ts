// Sliders of parameters: a move restarts the run at once, another hand on the same slider waits for the last.

import { made } from "./format";
import { type Named, named } from "./names";
import { hint, type Parameter, parameter, unwritten, type Written, written } from "./parameters";
import type { Schema } from "./schema";

/** How long a slider has to stand still before the run starts over [ms]. */
const STILL_MS = 40;
/** Shown without being asked for, the most telling first. */
const TELLING = ["nrm", "rif", "rdf", "tbe", "crm", "target_utilization", "interval", "threshold", "length", "delay", "icr", "mcr", "weight", "start", "end", "rate", "duration", "seed"];
const MOST = 8;

type Entry = { category?: string };

/** Whether a scenario has a connection or flows of ABR, whose parameters are shown without being written in it. */
function carriesAbr({ defaults, vc = [], flows = [] }: { defaults?: { vc?: Entry }; vc?: Entry[]; flows?: Entry[] }): boolean {
  return [...vc, ...flows].some(({ category }) => (category ?? defaults?.vc?.category ?? "abr") === "abr");
}

/** The sliders of a scenario. */
export class Sliders {
  private settings = new Map<string, string>();
  private shown: string[] = [];
  private all = new Map<string, string>();
  /** Parameters as they are written, with the tables and the entries that they stand in. */
  private kinds = new Map<string, Written>();
  private timer: number | undefined;

  constructor(
    private readonly place: HTMLElement,
    private readonly more: HTMLSelectElement,
    private readonly schema: () => Schema | null,
    private readonly changed: () => void,
  ) {
    more.addEventListener("change", () => {
      if (!more.value) return;
      this.shown.push(more.value);
      more.value = "";
      this.build();
      this.place.querySelector<HTMLInputElement>(".slider:last-child input")?.focus();
    });
  }

  /** Values that have been set, in the order of the sliders. */
  get values(): [string, string][] {
    return [...this.settings];
  }

  /** The parameters that have sliders, by their paths. */
  get paths(): string[] {
    return [...this.shown];
  }

  /** The value that a parameter has where it is not set. */
  unset(path: string): string {
    return this.all.get(path) ?? "";
  }

  /** Another scenario, with what is set in it; only `wanted` are shown where any are named. */
  take(document: unknown, settings: [string, string][], wanted: string[] = []): void {
    clearTimeout(this.timer);
    this.settings = new Map(settings);
    const schema = this.schema();
    const listed = written(document as never, schema);
    if (schema) listed.push(...unwritten(document as never, schema));
    this.kinds = new Map(listed.map((one) => [one.path, one]));
    this.all = new Map(listed.filter(({ path, value }) => parameter(schema, path, value)).map(({ path, value }) => [path, value]));
    for (const path of wanted) if (!this.all.has(path)) this.all.set(path, schema ? this.fallback(path, schema) : "");
    const rank = (path: string): number => {
      const place = TELLING.indexOf(path.split(".").pop()!);
      return place < 0 ? TELLING.length : place;
    };
    const own = new Set(written(document as never, schema).map(({ path }) => path));
    const ofAbr = carriesAbr(document as never) ? /abr\.(nrm|rif|rdf|tbe)$/ : /$^/;
    const telling = [...this.all.keys()].filter((path) => own.has(path) || ofAbr.test(path)).sort((one, other) => rank(one) - rank(other));
    this.shown = [...new Set([...(wanted.length ? wanted : telling.slice(0, MOST)), ...this.settings.keys()])].filter((path) => this.all.get(path) || this.settings.has(path));
    this.build();
  }

  private fallback(path: string, schema: Schema): string {
    return unwritten({}, schema).find((one) => one.path === path)?.value ?? "";
  }

  private build(): void {
    const rows = this.shown.map((path) => this.row(path)).filter((row): row is HTMLElement => row !== null);
    this.place.replaceChildren(...rows);
    const rest = [...this.all.keys()].filter((path) => !this.shown.includes(path)).sort();
    this.more.replaceChildren(new Option("Add a parameter ...", ""), ...rest.map((path) => new Option(this.title(path), path)));
    this.more.hidden = !rest.length;
  }

  private named(path: string): Named {
    const found = this.kinds.get(path);
    return named(this.schema(), path, found?.kind, found?.entry);
  }

  private title(path: string): string {
    const { name, of } = this.named(path);
    return of ? `${name} ${of}` : name;
  }

  private row(path: string): HTMLElement | null {
    const value = this.all.get(path) ?? this.settings.get(path)!;
    const known: Parameter | null = parameter(this.schema(), path, value) ?? parameter(this.schema(), path, this.settings.get(path) ?? value);
    if (!known) return null;
    const row = made("div", "slider");
    const id = `slider ${path}`;
    const { name, of, sentence } = this.named(path);
    const label = made("label");
    label.append(made("strong", "", name), of ? ` ${of}` : "");
    label.htmlFor = id;
    label.title = [path, hint(this.schema(), path)].filter(Boolean).join(": ");
    const about = made("small", "", sentence);
    about.id = `about-${path.replace(/\s/g, "_")}`;
    const input = made("input");
    input.type = "range";
    input.id = id;
    input.min = "0";
    const set = this.settings.get(path);
    // A value that somebody has set, between those of the slider.
    const steps = set !== undefined && !known.steps.includes(set) ? [...known.steps, set] : known.steps;
    input.max = String(steps.length - 1);
    input.value = String(set === undefined ? known.place : steps.indexOf(set));
    const shown = made("output", "", set ?? known.value);
    const back = made("button", "back", "Reset");
    back.type = "button";
    back.ariaLabel = `Reset ${name}${of ? ` ${of}` : ""}`;
    back.disabled = set === undefined;
    input.ariaValueText = shown.textContent;
    const move = (value: string): void => {
      shown.textContent = value;
      input.ariaValueText = value;
      back.disabled = value === known.value;
      if (value === known.value) this.settings.delete(path);
      else this.settings.set(path, value);
      clearTimeout(this.timer);
      this.timer = window.setTimeout(this.changed, STILL_MS);
    };
    input.addEventListener("input", () => move(steps[Number(input.value)]));
    back.addEventListener("click", () => {
      input.value = String(known.place);
      move(known.value);
    });
    row.append(label, input, shown, back);
    if (sentence) {
      row.append(about);
      input.setAttribute("aria-describedby", about.id);
    }
    return row;
  }
}
