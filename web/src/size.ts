// How large a scenario is for a page: what is large waits until its reader has been told so.

/** Parts of a scenario that cost the page time and memory. */
export interface Size {
  nodes: number;
  connections: number;
  series: number;
  /** Samples of all series that are taken at intervals. */
  samples: number;
}

/** Up to here nobody has to wait for the page; a sample takes 16 octets. */
const LARGE: Size = { nodes: 1000, connections: 2000, series: 1000, samples: 5e6 };

const WORDS: Record<keyof Size, string> = { nodes: "nodes", connections: "connections", series: "series", samples: "samples" };

interface Described {
  duration_s: number;
  topology: { nodes: unknown[]; vcs: unknown[] };
  series: { every_s: number | null }[];
}

/** The size of a scenario that has been described. */
export function sizeOf({ duration_s, topology, series }: Described): Size {
  const samples = series.reduce((sum, { every_s }) => sum + (every_s ? Math.ceil(duration_s / every_s) : 0), 0);
  return { nodes: topology.nodes.length, connections: topology.vcs.length, series: series.length, samples };
}

/** Whether any part of it is large. */
export function isLarge(size: Size): boolean {
  return (Object.keys(LARGE) as (keyof Size)[]).some((part) => size[part] > LARGE[part]);
}

/** A size in words. */
export function sizeInWords(size: Size): string {
  const parts = (Object.keys(LARGE) as (keyof Size)[]).filter((part) => size[part]).map((part) => `${size[part].toLocaleString("en-US")} ${WORDS[part]}`);
  const last = parts.pop();
  return parts.length ? `${parts.join(", ")} and ${last}` : (last ?? "nothing");
}
