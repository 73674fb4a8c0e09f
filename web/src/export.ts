// Files for a reader to take along: files of the browser's own making.

import type { Store } from "./store";

function blob(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** All series as one table: a row per value. */
export function table(store: Store): string {
  const lines = ["panel,line,time_s,value"];
  for (const panel of store.head.panels) {
    for (const line of panel.lines) {
      const track = store.track(line.series);
      const times = track.times.values;
      track.values.values.forEach((value, place) => lines.push(`${quoted(panel.axis)},${quoted(line.label)},${times[place]},${value * panel.scale}`));
    }
  }
  return lines.join("\n") + "\n";
}

export const saved = {
  blob,
  text: (name: string, text: string): void => blob(name, new Blob([text], { type: "text/plain" })),
  csv: (store: Store): void => blob(`${store.head.name}.csv`, new Blob([table(store)], { type: "text/csv" })),
};
