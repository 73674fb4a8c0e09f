// Tables of a summary as `cellrate run` prints them (recorded/summaries.py): which rows tell something, in which units, and lines between.

import { made } from "./format";
import { CELL_BITS } from "./kinds";
import type { Summary } from "./model";

/** A table: headings, and rows of a name and numbers behind it. */
export interface Table {
  head: string[];
  rows: string[][];
}

type Row = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

/** A number with so many decimals, thousands set off by commas; halves go to the even digit, as in Python. */
function decimals(value: number, places: number): string {
  const twice = value * 2 * 10 ** places;
  // A half in decimals is one exactly where so few binary places hold it.
  const isHalf = Number.isInteger(value * 2 ** (places + 1)) && Math.abs(twice) % 2 === 1;
  const text = isHalf ? (2 * Math.round(twice / 4) / 10 ** places).toFixed(places) : value.toFixed(places);
  return text.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
}

const whole = { format: (value: number): string => decimals(value, 0) };

/** A number with as many digits as tell something, of so many at most. */
function general(value: number, digits = 6): string {
  return String(Number(value.toPrecision(digits)));
}

function percent(value: number, places: number): string {
  return `${decimals(value * 100, places)}%`;
}

/** A number in another unit; nothing where there is none. */
function within(value: number | null | undefined, factor: number, places: number): string {
  return value === null || value === undefined ? "" : decimals(value * factor, places);
}

function times(row: Row, of: string): string[] {
  return ["mean", "p99", "max"].map((figure) => within(row[`${figure}_${of}_s`], 1e3, 3));
}

/** The sizes of a class of flows. */
function sizes(row: Row): string {
  const kilo = (octets: number) => whole.format(octets / 1000);
  if (row.below_octets === null) return row.from_octets ? `${kilo(row.from_octets)} kB and more` : "all";
  return `${kilo(row.from_octets)} to ${kilo(row.below_octets)} kB`;
}

/** Names: that of the VC, and behind it those of these numbers that differ within one of the VCs. */
function named(rows: Row[], ...keys: string[]): [string, Row][] {
  const shown = keys.filter((key) => {
    const numbers = new Map<string, Set<number>>();
    rows.forEach((row) => numbers.set(row.vc, (numbers.get(row.vc) ?? new Set()).add(row[key])));
    return [...numbers.values()].some((among) => among.size > 1);
  });
  return rows.map((row) => {
    const marks = shown.map((key) => `${key === keys[0] ? "#" : `${key} `}${row[key]}`);
    return [[row.vc, ...marks].join(" "), row];
  });
}

const PORT_COUNTS: Record<string, string> = {
  tagged_dropped: "tagged ones dropped",
  pdus_refused: "PDUs refused",
  pdus_cut: "PDUs cut",
  backward_rm_originated: "BRMs originated",
};

function vcTable(rows: Row[]): Table {
  return {
    head: ["VC", "data sent", "delivered", "dropped", "Mbps", "mean ACR Mbps", "p99 delay ms"],
    rows: rows
      .filter((row) => row.data_sent)
      .map((row) => [
        row.vc,
        whole.format(row.data_sent),
        whole.format(row.data_delivered),
        whole.format(row.dropped),
        (row.throughput_bps / 1e6).toFixed(2),
        row.mean_acr === null ? "" : ((row.mean_acr * CELL_BITS) / 1e6).toFixed(2),
        row.p99_delay_s === null ? "" : (row.p99_delay_s * 1e3).toFixed(3),
      ]),
  };
}

function portTable(all: Row[]): Table {
  const busy = all.filter((row) => row.max_queue > 1 || row.dropped);
  const ports = busy.length ? busy : all;
  const counted = Object.entries(PORT_COUNTS).filter(([key]) => ports.some((row) => row[key]));
  return {
    head: ["port", "utilization %", "max queue cells", "mean queue cells", "dropped cells", ...counted.map(([, title]) => title)],
    rows: ports.map((row) => [
      row.port,
      decimals(row.utilization * 100, 1),
      whole.format(row.max_queue),
      decimals(row.mean_queue, 1),
      whole.format(row.dropped),
      ...counted.map(([key]) => whole.format(row[key] ?? 0)),
    ]),
  };
}

/** Tables of VCs or of ports within windows of the run. */
function windowTables(rows: Row[], table: (rows: Row[]) => Table): Table[] {
  return [...new Set(rows.map((row) => row.window as string))].map((name) => {
    const own = rows.filter((row) => row.window === name);
    const { head, rows: lines } = table(own);
    const span = `${general(own[0].from_s)} to ${general(own[0].until_s)} s`;
    return { head: [`${head[0]} in ${name}, ${span}`, ...head.slice(1)], rows: lines };
  });
}

function applicationTables(rows: (key: string) => Row[]): Table[] {
  const tcp = rows("tcp").filter((row) => row.segments);
  const skips = rows("frames").some((row) => row.skipped);
  return [
    {
      head: ["flows", "offered", "begun", "no room", "no slot", "complete", "blocked %", "mean set-up ms", "mean holding ms", "mean at once", "max at once"],
      rows: rows("flows").map((row) => [
        row.flows,
        ...["offered", "begun", "no_room", "no_slot"].map((key) => whole.format(row[key])),
        row.completed === null ? "" : whole.format(row.completed),
        within(row.blocking, 100, 2),
        within(row.mean_set_up_s ?? null, 1e3, 3),
        within(row.mean_holding_s, 1e3, 3),
        decimals(row.mean_concurrent, 2),
        whole.format(row.max_concurrent),
      ]),
    },
    {
      head: ["sizes", "offered", "blocked", "complete", "unfinished", "mean time ms", "p50 time ms", "p99 time ms", "mean slow-down", "p99 slow-down"],
      rows: rows("completions").map((row) => [
        `${row.flows}, ${sizes(row)}`,
        ...["offered", "blocked", "count", "unfinished"].map((key) => whole.format(row[key])),
        ...["mean", "p50", "p99"].map((figure) => within(row[`${figure}_time_s`], 1e3, 3)),
        ...["mean", "p99"].map((figure) => within(row[`${figure}_slowdown`], 1, 2)),
      ]),
    },
    {
      head: ["TCP", "goodput Mbps", "segments sent again", "timeouts", "fast retransmits", "efficiency %", "completed s"],
      rows: named(tcp.length ? tcp : rows("tcp"), "connection").map(([name, row]) => [
        name,
        decimals(row.goodput_bps / 1e6, 3),
        whole.format(row.retransmitted),
        whole.format(row.timeouts),
        whole.format(row.fast_retransmits),
        within(row.efficiency, 100, 1),
        within(row.completed_s, 1, 3),
      ]),
    },
    {
      head: ["pages", "whole", "mean load ms", "p99 load ms", "max load ms"],
      rows: named(rows("pages"), "client").map(([name, row]) => [name, whole.format(row.count), ...times(row, "load")]),
    },
    {
      head: ["page object", "whole", "request octets", "response octets", "mean response ms", "p99 response ms", "max response ms"],
      rows: named(rows("exchanges"), "client", "object").map(([name, row]) => [
        name,
        whole.format(row.count),
        whole.format(row.request_octets),
        whole.format(row.response_octets),
        ...times(row, "response"),
      ]),
    },
    {
      head: ["bursts", "whole", "cells each", "mean response ms", "p99 response ms", "max response ms", "mean Mbps"],
      rows: rows("bursts").map((row) => [
        `${row.vc} ${row.role}`,
        whole.format(row.count),
        whole.format(row.size_cells),
        ...times(row, "response"),
        within(row.mean_throughput_bps, 1e-6, 2),
      ]),
    },
    {
      head: [
        "transport stream",
        ...["references", "mean jitter us", "peak jitter us", "largest phase error us", "clock ppm", "largest error ppm"],
        ...["pictures", "late", "lost", "no room", "max buffer octets"],
      ],
      rows: rows("transport_streams").map((row) => [
        row.vc,
        whole.format(row.references),
        ...["mean_jitter_s", "peak_jitter_s", "max_phase_error_s"].map((key) => within(row[key], 1e6, 3)),
        ...["mean_frequency_ppm", "max_frequency_error_ppm"].map((key) => within(row[key], 1, 3)),
        ...["pictures", "late", "lost", "overflowed", "max_buffer"].map((key) => whole.format(row[key])),
      ]),
    },
    {
      head: ["frames", "all", ...(skips ? ["skipped"] : []), "whole", "lost", "unfinished", "mean time ms", "p99 time ms", "max time ms"],
      rows: rows("frames").map((row) => [
        row.vc,
        whole.format(row.frames),
        ...(skips ? [whole.format(row.skipped)] : []),
        ...["whole", "lost", "unfinished"].map((key) => whole.format(row[key])),
        ...times(row, "time"),
      ]),
    },
  ];
}

function otherTables(rows: (key: string) => Row[]): Table[] {
  return [
    {
      head: ["virtual source", "data sent", "max queue cells", "mean queue cells", "mean ACR Mbps"],
      rows: rows("virtual_sources").map((row) => [
        `${row.vc} at ${row.switch}`,
        whole.format(row.data_sent),
        whole.format(row.max_queue),
        decimals(row.mean_queue, 1),
        ((row.mean_acr * CELL_BITS) / 1e6).toFixed(2),
      ]),
    },
    policingTable(rows("policing")),
    {
      head: [
        "branch point",
        ...["FRM", "BRM came", "BRM sent", "too high", "mean excess Mbps", "response ms", "max ms"],
      ],
      rows: rows("branch_points").map((row) => [
        `${row.vc} at ${row.switch}`,
        ...["forward_rm", "backward_rm_received", "backward_rm_sent", "too_high"].map((key) => whole.format(row[key])),
        ((row.mean_excess * CELL_BITS) / 1e6).toFixed(2),
        ...[row.mean_response_s, row.max_response_s].map((value) => (value === null ? "-" : (value * 1e3).toFixed(3))),
      ]),
    },
    {
      head: ["loopback", "flow", "sent", "answered", "lost", "mean ms", "min ms", "max ms"],
      rows: rows("loopbacks").map((row) => [
        `${row.vc} at ${row.at}`,
        row.flow,
        ...["sent", "answered", "lost"].map((key) => whole.format(row[key])),
        ...[row.mean_s, row.min_s, row.max_s].map((value) => (value === null ? "-" : (value * 1e3).toFixed(3))),
      ]),
    },
    {
      head: ["channel", "weight", "sent", "waiting", "delivered", "Mbps", "fair Mbps", "of fair %", "mean ms", "max ms"],
      rows: rows("channels").map((row) => [
        `${row.channel} in ${row.vc}`,
        `${row.weight}`,
        ...[row.sent, row.waiting, row.delivered].map((value) => (value === null ? "-" : whole.format(value))),
        ...[row.throughput_bps, row.fair_share_bps].map((value) => (value === null ? "-" : (value / 1e6).toFixed(3))),
        row.of_fair_share === null ? "-" : (row.of_fair_share * 100).toFixed(1),
        ...[row.mean_delay_s, row.max_delay_s].map((value) => (value === null ? "-" : (value * 1e3).toFixed(3))),
      ]),
    },
    ...windowTables(rows("vc_windows"), vcTable),
    ...windowTables(rows("port_windows"), portTable),
    ...windowTables(rows("policing_windows"), policingTable),
  ];
}

function policingTable(rows: Row[]): Table {
  return {
    head: ["policed", "definition", "conforming cells", "not cells", "tagged cells", "discarded cells"],
    rows: rows.map((row) => [
      `${row.vc} at ${row.switch}`,
      row.definition,
      ...["conforming", "nonconforming", "tagged", "discarded"].map((key) => whole.format(row[key])),
    ]),
  };
}

function clocksLine(clocks: Row[]): string {
  const signed = (value: number): string => `${value < 0 ? "" : "+"}${value.toFixed(1)}`;
  const offsets = clocks.map((row) => row.offset_ppm as number);
  const phase = Math.max(0, ...clocks.map((row) => (row.phase_s as number | null) ?? 0));
  const phases = phase > 0 ? `, phases up to ${decimals(phase * 1e6, 2)} us` : "";
  return `Clocks: ${clocks.length} not exact, from ${signed(Math.min(...offsets))} to ${signed(Math.max(...offsets))} ppm${phases}; --json lists them.`;
}

function beyondSignallingLine(rows: Row[]): string {
  const names = rows.length === 1 ? rows[0].vc : `${rows[0].vc} and ${rows.length - 1} more`;
  return `Beyond the standard: PCR of ${names} is above ${rows[0].most.toFixed(0)} cells/s (7.11 Gb/s), the most that signalling carries.`;
}

function unsettledLine(row: Row): string {
  const connections = row.connections === 1 ? "1 connection" : `${row.connections} connections`;
  const why =
    row.by === "rule"
      ? `gain x delay is ${decimals(row.gain_delay, 2)} with a delay of ${general(row.delay_s * 1e3, 3)} ms, and rates settle below 1.57; ${row.remedy} would`
      : `in the last quarter an ACR swings by ${percent(row.swing, 0)} of its mean, and that of ${row.vc} is ${decimals(row.share, 2)} of its fair share`;
  return `Unsettled: ${row.algorithm} at ${row.port}, ${connections}: ${why}; see docs/algorithms.`;
}

function phaseEffectLine(row: Row): string {
  return (
    `Phase effects: at ${row.port} ${row.decided} of ${row.lost} losses were decided by a tie or a phase that never changes between ` +
    `${row.vcs} like connections (${row.starved} lost ${percent(row.starved_loss, 1)} of its cells, ${row.favoured} ` +
    `${percent(row.favoured_loss, 1)}); see docs/guides/phase-effects.md.`
  );
}

function fairnessLine(rows: Row[]): string {
  const parts = rows
    .filter((row) => row.vcs >= 2 && row.jain !== null)
    .map((row) => {
      const over = row.jain_of_fair_shares === null ? "" : ` (${decimals(row.jain_of_fair_shares, 3)} over max-min shares)`;
      return `${decimals(row.jain, 3)} of ${row.vcs} ${String(row.category).toUpperCase()} directions${over}`;
    });
  return parts.length ? `Jain's index: ${parts.join(", ")}.` : "";
}

/** Tables and lines that the command prints of a run in the end, in its order, but for the line about the run itself. */
export function reportOf(summary: Summary): (Table | string)[] {
  const rows = (key: string): Row[] => summary[key] ?? [];
  const changed = new Set(rows("negotiated").map((row) => row.vc)).size;
  const parts: (Table | string)[] = [
    vcTable(rows("vcs")),
    ...applicationTables(rows).filter((table) => table.rows.length),
    ...rows("refused").map((row) => `Refused: ${row.category} connection ${row.vc}, ${row.reason}`),
    changed ? `Set-up changed ${rows("negotiated").length} parameters of ${changed} directions; --json lists them.` : "",
    rows("beyond_signalling").length ? beyondSignallingLine(rows("beyond_signalling")) : "",
    rows("clocks").length ? clocksLine(rows("clocks")) : "",
    portTable(rows("ports")),
    ...rows("host_bottlenecks").map(
      (row) =>
        `${row.port}: the host's own line is the bottleneck of its connections, ${whole.format(row.waiting)} cells wait there at the end. ` +
        "ABR begins with ICR, which is PCR unless the scenario says less.",
    ),
    ...rows("phase_effects").map(phaseEffectLine),
    ...rows("unsettled").map(unsettledLine),
    ...otherTables(rows).filter((table) => table.rows.length),
    fairnessLine(rows("fairness")),
  ];
  return parts.filter((part) => part !== "");
}

/** Tables and lines of a run that has ended: as the command said it where that was told, else as it would. */
export function endOf(summary: Summary): HTMLElement[] {
  return ((summary.report as (Table | string)[] | undefined) ?? reportOf(summary)).map(shown);
}

/** A part of what the command prints of a run, a table or a line, as an element. */
function shown(part: Table | string): HTMLElement {
  if (typeof part !== "string") return drawn(part);
  const line = document.createElement("p");
  line.className = "line";
  line.textContent = part;
  return line;
}

/** Has tables that are wider than their place shown as lists there. */
const fitting = new ResizeObserver((entries) => {
  // In the next picture: here it would change what is being observed.
  requestAnimationFrame(() => {
    for (const { target } of entries) {
      target.classList.remove("cards");
      target.classList.toggle("cards", target.scrollWidth > target.clientWidth + 1);
    }
  });
});

/** Most rows of a table in the page; of thousands its reader would find none. */
const MOST_ROWS = 200;

/** A table as an element, with its name for those who do not see it. */
function drawn(table: Table): HTMLElement {
  const box = document.createElement("div");
  box.className = "table";
  box.tabIndex = 0;
  box.role = "region";
  box.ariaLabel = `Figures: ${table.head[0]}`;
  const element = box.appendChild(document.createElement("table"));
  const head = element.createTHead().insertRow();
  for (const title of table.head) {
    const cell = head.appendChild(document.createElement("th"));
    cell.scope = "col";
    cell.textContent = title.replaceAll("\n", " ");
  }
  const body = element.createTBody();
  for (const row of table.rows.slice(0, MOST_ROWS)) {
    const line = body.insertRow();
    row.forEach((text, place) => {
      const cell = place ? line.insertCell() : line.appendChild(document.createElement("th"));
      if (!place) (cell as HTMLTableCellElement).scope = "row";
      else cell.dataset.title = table.head[place].replaceAll("\n", " ");
      cell.textContent = text;
    });
  }
  const rest = table.rows.length - MOST_ROWS;
  if (rest > 0) box.append(made("p", "line", `${whole.format(rest)} more rows are not shown here; the command prints them all.`));
  fitting.observe(box);
  return box;
}
