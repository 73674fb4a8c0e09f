// Groups in panels: of the lines of a group one, with a band from the least to the largest of them.

import { folded, type Groups } from "./groups";
import { COLOURS } from "./kinds";
import type { Panel } from "./model";
import type { Thinned } from "./thinned";

/** A panel whose lines are folded by the groups of their entities; those of different probes stay apart. */
export function foldedPanel(panel: Panel, series: [string, string][], groups: Groups): Panel {
  if (!Object.keys(groups).length) return panel;
  const probes = [...new Set(panel.lines.map((line) => series[line.series][0]))];
  const lines = probes.flatMap((probe) => {
    const own = panel.lines.filter((line) => series[line.series][0] === probe);
    return folded(own.map((line) => series[line.series][1]), groups).flatMap(([group, places]) => {
      const members = places.map((place) => own[place]);
      const [first] = members;
      // Members whose values were taken in different ways have no band.
      if (members.length < 2 || members.some(({ changes }) => changes !== first.changes)) return members;
      const isShared = members.every(({ level }) => JSON.stringify(level) === JSON.stringify(first.level));
      const label = probes.length > 1 ? `${group} ${probe.replaceAll("_", " ")}` : group;
      return [{ ...first, label, level: isShared ? first.level : [], members }];
    });
  });
  if (lines.length === panel.lines.length) return panel;
  return { ...panel, lines: lines.map((line, number) => ({ ...line, colour: COLOURS[number % COLOURS.length] })) };
}

/** Values of a group, two for each part of the time in view: its median, its least, its largest. */
export interface Band {
  median: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

/** The band of what the members of a group have in each part. */
export function bandOf(members: Thinned[], parts: number, now: number): Band {
  const spreads = members.map((member) => member.spread(now));
  const band: Band = { median: [], low: [], high: [] };
  const push = (into: (number | null)[], value: number | null): void => void into.push(value, value);
  for (let part = 0; part < parts; part += 1) {
    const there = spreads.filter(({ last }) => !Number.isNaN(last[part]));
    const values = Float64Array.from(there, ({ last }) => last[part]).sort();
    const middle = values.length >> 1;
    const median = values.length % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    push(band.median, values.length ? median : null);
    push(band.low, values.length ? there.reduce((least, { low }) => Math.min(least, low[part]), Infinity) : null);
    push(band.high, values.length ? there.reduce((most, { high }) => Math.max(most, high[part]), -Infinity) : null);
  }
  return band;
}
