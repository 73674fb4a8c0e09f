// The simulator in a worker of the page: reads and checks scenarios, runs one of them in steps, at the pace it is told.

import { initSync, Run, type Setup } from "../pkg/cellrate_web.js";
import { maker } from "./algorithm";
import { Explainer } from "./explaining";
import { groupsOf } from "./groups";
import { panelsOf, type SeriesRow } from "./kinds";
import type { FromWorker, How, Pack, Part, Start, ToWorker } from "./messages";
import type { Head, Level, Topology } from "./model";
import { classes, fault, prepared } from "./preparing";
import { isLarge, sizeOf } from "./size";

/** How long one step computes, about [ms]: short enough for 60 pictures a second. */
const SLICE_MS = 14;
/** Steps that a run has at least, however short it is. */
const MIN_STEPS = 20;
/** Samples of what the picture needs in a run, and where cells are followed. */
const SAMPLES = 500;
const FINE_SAMPLES = 20000;
/** Networks with more ports than this have no picture of their state. */
const MOST_PORTS = 400;

let current: { id: number; start: Start; setup: Setup; run: Run; head: Head } | null = null;
let pace = { speed: 0 as number | null, paused: false };
let shown = 0;
let last = 0;
let due = false;
/** Network time that a step goes on for [s]: as long as makes it a good part of a slice. */
let stride = 0;

const NO_CELLS = { at: new Float64Array(), ports: new Uint32Array(), cells: new Uint32Array() };

/** As it is before any code of the reader's. */
const post = (self as unknown as Worker).postMessage.bind(self) as (message: FromWorker, moved: Transferable[]) => void;

function tell(message: FromWorker, moved: Transferable[] = []): void {
  post(message, moved);
}

interface Described {
  name: string;
  purpose: string;
  duration_s: number;
  seed: number;
  hash: string;
  topology: Topology;
  series: SeriesRow[];
  levels: { entity: string; steps: Level }[];
  customs: { kind: string; name: string; owner: string }[];
}

function begin(start: Start, { follow, from_s, ask }: How): void {
  end();
  const { setup, points, document } = prepared(start);
  const described = JSON.parse(setup.describe()) as Described;
  if (described.customs.some(({ kind }) => kind !== "algorithm")) {
    const { kind, name, owner } = described.customs.find((custom) => custom.kind !== "algorithm")!;
    throw new Error(`${owner} has the custom ${kind} "${name}", which only Python can give a run`);
  }
  if (described.customs.length && !start.algorithm) {
    throw new Error(`port ${described.customs[0].owner} has the custom algorithm "${described.customs[0].name}": write it under "Own algorithm" and use it`);
  }
  const size = sizeOf(described);
  if (ask && isLarge(size)) {
    setup.free();
    tell({ kind: "large", id: start.id, size });
    return;
  }
  const make = start.algorithm ? maker(classes(start.algorithm)) : undefined;
  const pictured = described.topology.links.length * 2 <= MOST_PORTS;
  const interval = pictured ? described.duration_s / (follow ? FINE_SAMPLES : SAMPLES) : 0;
  // Cells that are on their way at the instant have left their ports before.
  const longest = Math.max(0, ...described.topology.links.map((link) => link.delay_s));
  const run = new Run(setup, interval, follow, Math.max(0, shown - longest), make as never);
  const levels = new Map(described.levels.map(({ entity, steps }) => [entity, steps]));
  const head: Head = {
    name: described.name,
    purpose: described.purpose,
    stamp: `hash ${described.hash.slice(0, 12)}, seed ${described.seed}`,
    duration_s: described.duration_s,
    live: false,
    panels: panelsOf(described.series, levels),
    topology: described.topology,
    toml: setup.to_toml(),
    groups: groupsOf(JSON.parse(setup.to_json()) as Record<string, unknown>),
    series: [
      ...described.series.map(({ probe, entity }) => [probe, entity] as [string, string]),
      ...(JSON.parse(run.pictured) as [string, string, string][]).map(([probe, entity]) => [probe, entity] as [string, string]),
    ],
  };
  stride = Math.max(described.duration_s / 1000, 1e-4);
  current = { id: start.id, start, setup, run, head };
  tell({ kind: "head", id: start.id, head, document, settings: start.settings, points, customs: described.customs, restarted: from_s !== null });
}

function end(): void {
  current?.run.free();
  current?.setup.free();
  current = null;
}

/** Goes on for a moment, and tells what came. */
function goOn(): void {
  due = false;
  if (!current) return;
  const { id, run, head } = current;
  const began = performance.now();
  const duration = head.duration_s;
  const passed = Math.min((began - last) / 1e3, 0.1);
  last = began;
  // The same run again goes to where it was, as fast as it can.
  const isBehind = run.now < shown;
  if (pace.paused && !isBehind) return;
  try {
    const told: Part = { now_s: 0, packs: [], ...pace };
    const further = pace.speed === null ? duration : Math.min(duration, shown + pace.speed * passed);
    const target = isBehind ? shown : further;
    do {
      if (run.now >= target || run.is_over) break;
      const until = pace.speed === null || isBehind ? run.now + stride : Math.min(target, run.now + Math.max(stride, target - run.now > 1 ? 1 : 0));
      const before = performance.now();
      told.packs.push(run.advance(until) as Pack);
      // Few steps in a slice: each of them asks all series for what they have.
      const took = performance.now() - before;
      if (until < target && took < SLICE_MS / 3) stride = Math.min(2 * stride, duration / MIN_STEPS);
      else if (took > SLICE_MS) stride /= 2;
    } while (performance.now() - began < SLICE_MS);
    if (!isBehind) shown = Math.min(target, run.now);
    told.now_s = shown;
    hand(id, told);
    if (run.is_over && shown >= duration) {
      const { summary, counts, samples } = run.finish() as Pack & { summary: string };
      hand(id, { ...told, packs: [{ counts, samples, ...NO_CELLS }] });
      tell({ kind: "end", id, summary });
      end();
      return;
    }
  } catch (thrown) {
    end();
    tell({ kind: "failed", id, fault: fault(thrown) });
    return;
  }
  soon(pace.speed === null ? 0 : Math.max(0, 16 - (performance.now() - began)));
}

/** Hands over what came; the buffers are the page's then. */
function hand(id: number, told: Part): void {
  const buffers = told.packs.flatMap(({ counts, samples, at, ports, cells }) => [counts, samples, at, ports, cells].map(({ buffer }) => buffer as ArrayBuffer));
  // Those of no length are one and the same.
  tell({ kind: "more", id, told }, [...new Set(buffers)].filter(({ byteLength }) => byteLength));
}

function soon(ms: number): void {
  if (due) return;
  due = true;
  if (ms < 1) channel.port2.postMessage(null);
  else setTimeout(goOn, ms);
}

// A timer of no time waits for 4 ms after a while; a message does not.
const channel = new MessageChannel();
channel.port1.onmessage = goOn;

const explainer = new Explainer(tell);

function on(message: Exclude<ToWorker, { kind: "load" }>): void {
  switch (message.kind) {
    case "explain":
      explainer.ask(message);
      return;
    case "check": {
      try {
        const { setup } = prepared({ ...message, point: 0, settings: [] });
        setup.describe();
        setup.free();
        tell({ kind: "checked", check: message.check, fault: null });
      } catch (thrown) {
        tell({ kind: "checked", check: message.check, fault: fault(thrown) });
      }
      return;
    }
    case "start": {
      const { start, how } = message;
      shown = how.from_s ?? 0;
      pace = { ...how.pace };
      try {
        begin(start, how);
      } catch (thrown) {
        tell({ kind: "failed", id: start.id, fault: fault(thrown) });
      }
      break;
    }
    case "pace":
      pace = { ...pace, ...message.pace };
      break;
    case "step":
      if (!current) return;
      pace.paused = true;
      try {
        shown = Math.min(current.head.duration_s, shown + message.by_s);
        hand(current.id, { now_s: shown, packs: current.run.now < shown ? [current.run.advance(shown) as Pack] : [], ...pace });
      } catch (thrown) {
        tell({ kind: "failed", id: current.id, fault: fault(thrown) });
        end();
      }
      return;
  }
  last = performance.now();
  soon(0);
}

let loaded: Promise<void> = Promise.resolve();
/** Makes the simulator ready, which the page has compiled. */
const load = async (module: WebAssembly.Module): Promise<void> => {
  initSync({ module });
};
self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "load") loaded = load(data.module);
  else void loaded.then(() => on(data)).catch((thrown) => tell({ kind: "failed", id: data.kind === "start" ? data.start.id : (current?.id ?? 0), fault: fault(thrown) }));
};
