// Tables of a summary as `cellrate run` prints them (recorded/summaries.py): which rows tell something, in which units, and lines between.

import { APPLICATIONS, INSIDE, TABLES, WINDOWS } from "./columns";
import type { Column } from "./declared";
import { made } from "./format";
import { folded, type Groups } from "./groups";
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

function said(column: Column, value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : decimals((value as number) * column.factor, column.decimals);
}

/** The sizes of a class of flows. */
function sizes(row: Row): string {
  const kilo = (octets: number) => whole.format(octets / 1000);
  if (row.below_octets === null) return row.from_octets ? `${kilo(row.from_octets)} kB and more` : "all";
  return `${kilo(row.from_octets)} to ${kilo(row.below_octets)} kB`;
}

/** Gives the names of rows among these: a number of which no VC has several tells nothing, and is left out. */
function namer(key: string, rows: Row[]): (row: Row) => string {
  if (key === "completions") return (row) => `${row.flows}, ${sizes(row)}`;
  const parts = TABLES[key].named.filter(([, column, isNumber]) => {
    const numbers = new Map<unknown, Set<unknown>>();
    rows.forEach((row) => numbers.set(row.vc, (numbers.get(row.vc) ?? new Set()).add(row[column])));
    return !isNumber || [...numbers.values()].some((among) => among.size > 1);
  });
  return (row) => parts.map(([before, column]) => before + row[column]).join("");
}

/** Rows that tell something, or all if none does. */
function telling(key: string, rows: Row[]): Row[] {
  const { tells } = TABLES[key];
  const some = rows.filter((row) => !tells.length || tells.some(([column, above]) => (row[column] ?? 0) > above));
  return some.length ? some : rows;
}

/** The values of several rows in one cell: their least and largest, or the texts that there are. */
function saidOfAll(column: Column, rows: Row[]): string {
  const values = rows.map((row) => row[column.key]).filter((value) => value !== null && value !== undefined);
  if (values.some((value) => typeof value === "string")) return [...new Set(values.map((value) => said(column, value)))].join(", ");
  const ends = values.length ? [smallest(values), largest(values)] : [];
  return [...new Set(ends.map((value) => said(column, value)))].join(" to ");
}

const smallest = (values: number[]): number => values.reduce((least, value) => Math.min(least, value));
const largest = (values: number[]): number => values.reduce((most, value) => Math.max(most, value));

/** The values of several rows together, where a sum says that. */
function totalOf(column: Column, rows: Row[]): string {
  const values = rows.map((row) => row[column.key]).filter((value) => value !== null && value !== undefined);
  return column.sums && values.length ? said(column, values.reduce((sum: number, value: number) => sum + value, 0)) : "";
}

function tableOf(key: string, all: Row[], groups: Groups, title = TABLES[key].title): Table {
  const rows = telling(key, all);
  const columns = TABLES[key].columns.filter((column) => !column.ifAny || rows.some((row) => row[column.key]));
  const name = namer(key, rows);
  return {
    head: [title, ...columns.map((column) => column.heading)],
    rows: folded(rows.map(name), groups).flatMap(([group, places]) => {
      const members = places.map((place) => rows[place]);
      const row = [group, ...columns.map((column) => saidOfAll(column, members))];
      const adds = members.length > 1 && columns.some((column) => column.sums);
      return adds ? [row, [`  total of ${members.length}`, ...columns.map((column) => totalOf(column, members))]] : [row];
    }),
  };
}

/** Tables of VCs, of ports or of policers within windows of the run. */
function windowTables(key: string, rows: Row[], groups: Groups): Table[] {
  return [...new Set(rows.map((row) => row.window as string))].map((name) => {
    const own = rows.filter((row) => row.window === name);
    const span = `${general(own[0].from_s)} to ${general(own[0].until_s)} s`;
    return tableOf(key, own, groups, `${TABLES[key].title} in ${name}, ${span}`);
  });
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

function overbookedLine(row: Row): string {
  return (
    `Overbooked: ${row.port}: MCR, SCR (VBR) and PCR (CBR) of ${row.connections} connections sum to ${general(row.promised * 424e-6, 6)} Mbps, ` +
    `and its line has ${general(row.line * 424e-6, 6)} Mbps: not all can have what they are promised. ` +
    "With admission = true, connections beyond the line would be refused."
  );
}

function unkeptLine(row: Row): string {
  const others = row.connections > 1 ? ` (${row.connections} connections)` : "";
  const left = row.by === "queue" ? `has about ${general(row.left * 424e-6, 4)}` : "may have nothing";
  return (
    `Not kept: at ${row.port} ${row.vc}${others} is promised ${general(row.promised * 424e-6, 6)} Mbps and ${left}: ` +
    `${row.other} may bring more than it is promised, and their ${row.by} goes by no promise; ${row.remedy} would.`
  );
}

function startLine(row: Row): string {
  return (
    `Start: at ${row.port} ${row.connections} sources begin together with ${general(row.icr / row.line, 3)} times the rate of the line (ICR). ` +
    `Its longest queue, ${whole.format(row.queue)} cells, is that of the start, and so are ` +
    "delays and means. A smaller icr or tbe avoids that; warm_up leaves it out of the figures."
  );
}

function unsettledLine(row: Row): string {
  const connections = row.connections === 1 ? "1 connection" : `${row.connections} connections`;
  const why =
    row.by === "rule"
      ? `gain x delay is ${decimals(row.gain_delay, 2)} with a delay of ${general(row.delay_s * 1e3, 3)} ms, and rates settle below 1.57; ${row.remedy} would`
      : row.by === "phase"
      ? `bursts that leave nothing come every ${general(row.delay_s * 1e3, 3)} ms, a whole part of the 100 ms between two FRMs of a source at ACR 0, ` +
        `which may meet bursts alone for ever; ${row.remedy} would help`
      : `in the last quarter an ACR swings by ${percent(row.swing, 0)} of its mean, and that of ${row.vc} is ${decimals(row.share, 2)} of its fair share` +
        (row.remedy ? `; ${row.remedy} would help` : "");
  return `Unsettled: ${row.algorithm} at ${row.port}, ${connections}: ${why}; see docs/algorithms.`;
}

function phaseEffectLine(row: Row): string {
  return (
    `Phase effects: at ${row.port} ${row.decided} of ${row.lost} losses were decided by a tie or a phase that never changes between ` +
    `${row.vcs} like connections (${row.starved} lost ${percent(row.starved_loss, 1)} of its cells, ${row.favoured} ` +
    `${percent(row.favoured_loss, 1)}); see docs/guides/phase-effects.md.`
  );
}

/** How evenly connections of a category were served, each over the time in which it sends. */
function fairnessLine(rows: Row[], shares: Row[]): string {
  const several = rows.filter((row) => row.vcs >= 2);
  const of = (row: Row) => `of ${row.vcs} ${String(row.category).toUpperCase()} directions`;
  const parts = several.flatMap((row) => {
    const over = row.jain_of_fair_shares;
    if (row.jain !== null) {
      return [`${decimals(row.jain, 3)} ${of(row)}${over === null ? "" : ` (${decimals(over, 3)} over max-min shares)`}`];
    }
    return over === null ? [] : [`${decimals(over, 3)} ${of(row)} over max-min shares, each of the time in which it sends`];
  });
  const without = several
    .filter((row) => row.jain === null && row.jain_of_fair_shares === null)
    .filter((row) => shares.some((share) => share.category === row.category && share.goodput_bps))
    .map((row) => `none ${of(row)}, which do not all send all the time`);
  return parts.length || without.length ? `Jain's index: ${[...parts, ...without].join(", ")}.` : "";
}

/** Tables, in which each of `groups` is one row, and lines: as the command prints them, but for the line about the run itself. */
export function reportOf(summary: Summary, groups: Groups): (Table | string)[] {
  const rows = (key: string): Row[] => summary[key] ?? [];
  const changed = new Set(rows("negotiated").map((row) => row.vc)).size;
  const parts: (Table | string)[] = [
    tableOf("vcs", rows("vcs"), groups),
    ...APPLICATIONS.map((key) => tableOf(key, rows(key), groups)).filter((table) => table.rows.length),
    ...rows("refused").map((row) => `Refused: ${row.category} connection ${row.vc}, ${row.reason}`),
    changed ? `Set-up changed ${rows("negotiated").length} parameters of ${changed} directions; --json lists them.` : "",
    rows("beyond_signalling").length ? beyondSignallingLine(rows("beyond_signalling")) : "",
    rows("clocks").length ? clocksLine(rows("clocks")) : "",
    tableOf("ports", rows("ports"), groups),
    ...rows("host_bottlenecks").map(
      (row) =>
        `${row.port}: the host's own line is the bottleneck of its connections, ${whole.format(row.waiting)} cells wait there at the end. ` +
        "ABR begins with ICR, which is PCR unless the scenario says less.",
    ),
    ...rows("overbooked").map(overbookedLine),
    ...rows("unkept").map(unkeptLine),
    ...rows("starts").map(startLine),
    ...rows("phase_effects").map(phaseEffectLine),
    ...rows("unsettled").map(unsettledLine),
    ...INSIDE.map((key) => tableOf(key, rows(key), groups)).filter((table) => table.rows.length),
    ...Object.entries(WINDOWS).flatMap(([windows, key]) => windowTables(key, rows(windows), groups)),
    fairnessLine(rows("fairness"), rows("shares")),
  ];
  return parts.filter((part) => part !== "");
}

/** Tables and lines of a run that has ended: as the command said it where that was told, else as it would. */
export function endOf(summary: Summary, groups: Groups): HTMLElement[] {
  return ((summary.report as (Table | string)[] | undefined) ?? reportOf(summary, groups)).map(shown);
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
