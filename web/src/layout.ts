// Where nodes stand in the picture: in layers from senders to receivers.

import type { Topology } from "./model";

/** Places of nodes, both coordinates from 0 to 1. */
export function placed({ nodes, links, vcs }: Topology): { x: number; y: number }[] {
  // Of connections in both directions the first counts.
  const known = new Set<string>();
  const ways: [number, number][] = [];
  const add = (from: number, to: number): void => {
    if (known.has(`${from} ${to}`) || known.has(`${to} ${from}`)) return;
    known.add(`${from} ${to}`);
    ways.push([from, to]);
  };
  for (const vc of vcs) for (let hop = 1; hop < vc.path.length; hop += 1) add(vc.path[hop - 1], vc.path[hop]);
  for (const { ends } of links) add(ends[0], ends[1]);
  const after: number[][] = nodes.map(() => []);
  const before: number[][] = nodes.map(() => []);
  for (const [from, to] of ways) {
    after[from].push(to);
    before[to].push(from);
  }
  const layer = nodes.map(() => 0);
  // Rings would go on for ever.
  for (let turn = 0; turn < Math.min(nodes.length, 40); turn += 1) {
    let moved = false;
    for (const [from, to] of ways) {
      if (layer[to] <= layer[from] && layer[from] < 40) {
        layer[to] = layer[from] + 1;
        moved = true;
      }
    }
    if (!moved) break;
  }
  // A host stands beside the node that it sends to.
  nodes.forEach((node, place) => {
    if (!node.is_host) return;
    if (after[place].length && !before[place].length) layer[place] = Math.max(0, after[place].reduce((least, to) => Math.min(least, layer[to]), Infinity) - 1);
  });
  const used = [...new Set(layer)].sort((a, b) => a - b);
  const columns: number[][] = used.map((at) => nodes.map((_, place) => place).filter((place) => layer[place] === at));
  const neighbours = nodes.map((_, place) => [...before[place], ...after[place]]);
  const height = nodes.map(() => 0.5);
  const spread = (): void => columns.forEach((column) => column.forEach((place, number) => (height[place] = (number + 0.5) / column.length)));
  spread();
  for (let sweep = 0; sweep < 6; sweep += 1) {
    for (const column of sweep % 2 ? [...columns].reverse() : columns) {
      const wanted = new Map(column.map((place) => [place, neighbours[place].reduce((sum, other) => sum + height[other], 0) / (neighbours[place].length || 1)]));
      column.sort((a, b) => wanted.get(a)! - wanted.get(b)! || a - b);
    }
    spread();
  }
  return nodes.map((_, place) => ({ x: used.length > 1 ? used.indexOf(layer[place]) / (used.length - 1) : 0.5, y: height[place] }));
}
