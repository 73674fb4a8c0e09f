// What the page and its worker say to each other.

import type { Fault, Head, More, Pace } from "./model";

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

/** To the worker. */
export type ToWorker =
  | { kind: "load"; module: ArrayBuffer }
  | { kind: "check"; check: number; text: string; file: string }
  | { kind: "start"; start: Start; pace: Required<Pace>; follow: boolean }
  | { kind: "pace"; pace: Pace }
  | { kind: "step"; by_s: number }
  | { kind: "follow"; follow: boolean };

/** From the worker. */
export type FromWorker =
  | { kind: "loaded"; schema: string; version: string }
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
  | { kind: "more"; id: number; more: More }
  | { kind: "end"; id: number; summary: string }
  | { kind: "failed"; id: number; fault: Fault };
