// Messages about a run to a page, wherever the run is: in a worker of this page, or behind a WebSocket.

import type { Folding } from "./groups";

/** A node of the network. */
export interface NodeRow {
  name: string;
  is_host: boolean;
  control: string[];
}

/** A link between two nodes. */
export interface LinkRow {
  ends: [number, number];
  rate_bps: number;
  delay_s: number;
}

/** A connection; `ports` are those that its forward cells leave by: twice the place of the link plus its end. */
export interface VcRow {
  name: string;
  category: string;
  path: number[];
  ports: number[];
}

/** The network of a scenario. */
export interface Topology {
  nodes: NodeRow[];
  links: LinkRow[];
  vcs: VcRow[];
}

/** Instants [s], and the max-min fair rate [cells/s] from each on; null while there is nothing to send. */
export type Level = [number, number | null][];

/** A line of a panel. */
export interface Line {
  /** The number of the series. */
  series: number;
  label: string;
  colour: string;
  /** Whether its values hold until they change; else each stands for the interval that it ends. */
  changes: boolean;
  /** The max-min fair rate behind it, in the unit of the series. */
  level: Level;
  /** The lines that this one folds; there is a band around it then, and its series is that of the first. */
  members?: Line[];
}

/** Series that stand together on one axis. */
export interface Panel {
  axis: string;
  /** Factor from the unit of the series to that of the axis. */
  scale: number;
  /** The upper end of the axis; by the data where there is none. */
  top: number | null;
  lines: Line[];
}

/** Facts about a run before it begins. */
export interface Head {
  name: string;
  purpose: string;
  stamp: string;
  duration_s: number;
  live: boolean;
  panels: Panel[];
  topology: Topology;
  /** The scenario as it is run, settings applied. */
  toml: string;
  /** Groups that are one row or band each. */
  groups: Folding;
  /** Probe and entity of each series by its number, those that only the picture shows behind the others. */
  series: [string, string][];
}

/** Cells that have left ports, in the order of instants. */
export interface Cells {
  at: Float64Array;
  ports: Uint32Array;
  cells: Uint32Array;
}

/** Something more of a run: series by number, each with instants [s] and values. */
export interface More {
  now_s: number;
  series: [number, ArrayLike<number>, ArrayLike<number | null>][];
  /** Cells that have left ports, in one or several parts. */
  cells: Cells[];
  speed: number | null;
  paused: boolean;
}

/** A fault of a scenario, and its place. */
export interface Fault {
  file?: string;
  line?: number;
  column?: number;
  width?: number;
  key?: string;
  message: string;
  remedy?: string;
  text?: string;
}

/** The summary of a run, as `summary.json` has it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Summary = Record<string, any>;

/** Events of a source of runs. */
export interface Listener {
  head(head: Head): void;
  more(more: More): void;
  end(summary: Summary): void;
  failed(fault: Fault): void;
  /** The source has gone, before the end if `early`. */
  gone(early: boolean): void;
}

/** Requests to a run that goes on. */
export interface Pace {
  /** Network time per time [s/s]; null for as fast as it goes. */
  speed?: number | null;
  paused?: boolean;
}
