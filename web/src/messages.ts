// Messages between the page and its worker.

import type { Cells, Fault, Head, More, Pace } from "./model";
import type { Size } from "./size";

/** A run to be. */
export interface Start {
  id: number;
  text: string;
  file: string;
  /** Which point of its sweep. */
  point: number;
  settings: [string, string][];
  /** The reader's own code; none where he has none, or has not said that it may run. */
  algorithm: string | null;
}

/** How a run begins. */
export interface How {
  pace: Required<Pace>;
  /** Whether its cells are followed. */
  follow: boolean;
  /** The network time at which the same run stood, which goes on there; null where it is another run. */
  from_s: number | null;
  /** Whether a large scenario is to wait until its reader has been told its size. */
  ask: boolean;
}

/** Which step of ACR a source had taken last at an instant of a run, and why. */
export interface Question {
  kind: "explain";
  ask: number;
  start: Omit<Start, "id">;
  /** The direction of a connection whose source is asked about. */
  vc: string;
  at_s: number;
}

/** New samples of series, and cells that have left ports: few buffers, whatever the number of series. */
export interface Pack extends Cells {
  /** Number of each series and how many samples it has here. */
  counts: Uint32Array;
  /** The series one behind the other: all instants [s] of one, then its values. */
  samples: Float64Array;
}

/** Something more of a run, as the worker hands it over. */
export interface Part extends Required<Pace> {
  now_s: number;
  packs: Pack[];
}

/** Values given so far, by series. */
export function unpacked({ packs, ...rest }: Part): More {
  const series: More["series"] = [];
  for (const { counts, samples } of packs) {
    let from = 0;
    for (let place = 0; place < counts.length; place += 2) {
      const count = counts[place + 1];
      series.push([counts[place], samples.subarray(from, from + count), samples.subarray(from + count, from + 2 * count)]);
      from += 2 * count;
    }
  }
  return { ...rest, series, cells: packs.filter(({ at }) => at.length) };
}

/** To the worker. */
export type ToWorker =
  /** The simulator, compiled. */
  | { kind: "load"; module: WebAssembly.Module }
  | { kind: "check"; check: number; text: string; file: string }
  | Question
  | { kind: "start"; start: Start; how: How }
  | { kind: "pace"; pace: Pace }
  | { kind: "step"; by_s: number };

/** From the worker. */
export type FromWorker =
  /** Lines of an answer; none as long as only a part of its run is `done`. */
  | { kind: "explained"; ask: number; lines: string[]; done: number; fault: Fault | null }
  | { kind: "checked"; check: number; fault: Fault | null }
  | {
      kind: "head";
      id: number;
      head: Head;
      /** The scenario as it is written, before settings, as JSON text. */
      document: string;
      settings: [string, string][];
      points: [string, string][][];
      customs: { kind: string; name: string }[];
      /** Whether it is the same run again, because cells are followed now. */
      restarted: boolean;
    }
  /** The scenario is large, and has not begun. */
  | { kind: "large"; id: number; size: Size }
  | { kind: "more"; id: number; told: Part }
  | { kind: "end"; id: number; summary: string }
  | { kind: "failed"; id: number; fault: Fault };
