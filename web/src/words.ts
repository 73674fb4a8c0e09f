// A run in words: what the picture and the panels show, for those who do not see them.

import { digits, seconds } from "./format";
import type { Panel } from "./model";
import { type Store, until } from "./store";

/** Lines of a panel that are told one by one. */
const MOST_TOLD = 6;

/** A panel in words: of each line where it is, its least and its largest value so far. */
export function panelInWords(panel: Panel, store: Store): string {
  const told = panel.lines.slice(0, MOST_TOLD).map((line) => {
    const { times, values } = store.track(line.series);
    const count = until(times.values, store.now_s);
    if (!count) return `${line.label}: nothing yet`;
    let [low, high] = [0, 0];
    for (let place = 1; place < count; place += 1) {
      if (values.values[place] < values.values[low]) low = place;
      if (values.values[place] > values.values[high]) high = place;
    }
    const value = (place: number): string => digits(values.values[place] * panel.scale);
    if (low === high) return `${line.label}: ${value(low)}`;
    return `${line.label}: now ${value(count - 1)}, least ${value(low)} at ${seconds(times.values[low])}, most ${value(high)} at ${seconds(times.values[high])}`;
  });
  const rest = panel.lines.length - told.length;
  if (rest > 0) told.push(`${digits(rest)} more lines`);
  return `${panel.axis}. ${told.join("; ")}.`;
}

/** A run at its instant in one or two sentences. */
export function runInWords(store: Store, state: string): string {
  const now = store.now_s;
  const parts = store.head.panels.slice(0, 3).map((panel) => {
    const values = panel.lines.slice(0, MOST_TOLD).flatMap((line) => {
      const value = store.track(line.series).at(now);
      return value === null ? [] : [`${line.label} ${digits(value * panel.scale)}`];
    });
    return values.length ? `${panel.axis}: ${values.join(", ")}.` : "";
  });
  return [`${state}, at ${seconds(now)} of ${seconds(store.head.duration_s)}.`, ...parts].filter(Boolean).join(" ");
}
