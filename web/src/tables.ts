// The tables that `cellrate run` prints, of a summary (results/summaries.py): which rows tell something, in which units.

import { CELL_BITS } from "./kinds";
import type { Summary } from "./model";

/** A table: headings, and rows of a name and numbers behind it. */
export interface Table {
  head: string[];
  rows: string[][];
}

type Row = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

function decimals(value: number, places: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
}

/** A number in another unit; nothing where there is none. */
function within(value: number | null | undefined, factor: number, places: number): string {
  return value === null || value === undefined ? "" : decimals(value * factor, places);
}

function times(row: Row, of: string): string[] {
  return ["mean", "p99", "max"].map((figure) => within(row[`${figure}_${of}_s`], 1e3, 3));
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
  pdus_refused: "PDUs refused",
  pdus_cut: "PDUs cut",
  backward_rm_originated: "BRMs originated",
};

/** The tables of a summary that have rows, in the order of the command. */
export function tablesOf(summary: Summary): Table[] {
  const rows = (key: string): Row[] => summary[key] ?? [];
  const vcs = rows("vcs").filter((row) => row.data_sent);
  const busy = rows("ports").filter((row) => row.max_queue > 1 || row.dropped);
  const ports = busy.length ? busy : rows("ports");
  const counted = Object.entries(PORT_COUNTS).filter(([key]) => ports.some((row) => row[key]));
  const tcp = rows("tcp").filter((row) => row.segments);
  const skips = rows("frames").some((row) => row.skipped);
  const tables: Table[] = [
    {
      head: ["VC", "data sent", "delivered", "dropped", "Mbps", "mean ACR Mbps", "p99 delay ms"],
      rows: vcs.map((row) => [
        row.vc,
        whole.format(row.data_sent),
        whole.format(row.data_delivered),
        whole.format(row.dropped),
        (row.throughput_bps / 1e6).toFixed(2),
        row.mean_acr === null ? "" : ((row.mean_acr * CELL_BITS) / 1e6).toFixed(2),
        row.p99_delay_s === null ? "" : (row.p99_delay_s * 1e3).toFixed(3),
      ]),
    },
    {
      head: ["port", "utilization %", "max queue cells", "mean queue cells", "dropped cells", ...counted.map(([, title]) => title)],
      rows: ports.map((row) => [
        row.port,
        (row.utilization * 100).toFixed(1),
        whole.format(row.max_queue),
        decimals(row.mean_queue, 1),
        whole.format(row.dropped),
        ...counted.map(([key]) => whole.format(row[key] ?? 0)),
      ]),
    },
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
    {
      head: ["policed", "definition", "conforming cells", "not", "tagged", "discarded"],
      rows: rows("policing").map((row) => [
        `${row.vc} at ${row.switch}`,
        row.definition,
        ...["conforming", "nonconforming", "tagged", "discarded"].map((key) => whole.format(row[key])),
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
  return tables.filter((table) => table.rows.length);
}

/** A part of what the command prints of a run, a table or a line, as an element. */
export function shown(part: Table | string): HTMLElement {
  if (typeof part !== "string") return drawn(part);
  const line = document.createElement("p");
  line.className = "line";
  line.textContent = part;
  return line;
}

/** A table as an element, with its name for those who do not see it. */
export function drawn(table: Table): HTMLElement {
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
  for (const row of table.rows) {
    const line = body.insertRow();
    row.forEach((text, place) => {
      const cell = place ? line.insertCell() : line.appendChild(document.createElement("th"));
      if (!place) (cell as HTMLTableCellElement).scope = "row";
      cell.textContent = text;
    });
  }
  return box;
}
