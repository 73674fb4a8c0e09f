// Series that stand together on one axis, in which unit and colour: as in plots of the Python package (plotting/panels.py).

import type { Level, Panel } from "./model";

/** Bits of a cell on the line. */
export const CELL_BITS = 424;

/** Okabe and Ito's palette, told apart by colour-blind readers; yellow darkened to show on white. */
export const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C8C00"];

interface Kind {
  probes: string[];
  axis: string;
  scale: number;
  top: number | null;
}

const KINDS: Kind[] = [
  { probes: ["acr"], axis: "ACR [Mbps]", scale: CELL_BITS / 1e6, top: null },
  { probes: ["source_rate"], axis: "source rate [Mbps]", scale: CELL_BITS / 1e6, top: null },
  { probes: ["queue", "abr_queue", "guaranteed_queue", "ubr_queue"], axis: "queue [cells]", scale: 1, top: null },
  { probes: ["utilization"], axis: "utilization [%]", scale: 100, top: 105 },
  { probes: ["delay", "max_delay"], axis: "cell delay [ms]", scale: 1e3, top: null },
  { probes: ["received"], axis: "cells received", scale: 1, top: null },
  { probes: ["concurrent"], axis: "flows under way", scale: 1, top: null },
];

/** A series as the simulator describes it. */
export interface SeriesRow {
  probe: string;
  entity: string;
  unit: string;
  every_s: number | null;
}

/** The panels that these series make, from top to bottom. */
export function panelsOf(series: SeriesRow[], levels: Map<string, Level>): Panel[] {
  const known = new Set(KINDS.flatMap((kind) => kind.probes));
  const others = [...new Set(series.map((row) => row.probe).filter((probe) => !known.has(probe)))];
  const kinds = KINDS.concat(
    others.map((probe) => {
      const unit = series.find((row) => row.probe === probe)?.unit;
      const name = probe.replaceAll("_", " ");
      return { probes: [probe], axis: unit ? `${name} [${unit}]` : name, scale: 1, top: null };
    }),
  );
  const panels: Panel[] = [];
  for (const { probes, axis, scale, top } of kinds) {
    const places = probes.flatMap((probe) => series.map((row, place) => ({ row, place })).filter(({ row }) => row.probe === probe));
    if (!places.length) continue;
    const several = new Set(places.map(({ row }) => row.probe)).size > 1;
    const lines = places.map(({ row, place }, number) => ({
      series: place,
      label: several ? `${row.entity} ${row.probe.replaceAll("_", " ")}` : row.entity,
      colour: COLOURS[number % COLOURS.length],
      changes: row.every_s === null,
      level: row.probe === "acr" ? (levels.get(row.entity) ?? []) : [],
    }));
    panels.push({ axis, scale, top, lines });
  }
  return panels;
}
