// Where nodes stand in the picture: in layers from senders to receivers.

import type { Topology } from "./model";

/** Places of nodes, both coordinates from 0 to 1. */
export function placed({ nodes, links, vcs }: Topology): { x: number; y: number }[] {
  const edges = new Set<string>();
  for (const vc of vcs) for (let hop = 1; hop < vc.path.length; hop += 1) edges.add(`${vc.path[hop - 1]} ${vc.path[hop]}`);
  // Of connections in both directions the first counts.
  const ways = [...edges].map((edge) => edge.split(" ").map(Number) as [number, number]).filter(([from, to], place, all) => !all.slice(0, place).some(([a, b]) => a === to && b === from));
  for (const { ends } of links) if (!ways.some(([a, b]) => (a === ends[0] && b === ends[1]) || (a === ends[1] && b === ends[0]))) ways.push(ends);
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
    const after = ways.filter(([from]) => from === place).map(([, to]) => layer[to]);
    if (after.length && !ways.some(([, to]) => to === place)) layer[place] = Math.max(0, Math.min(...after) - 1);
  });
  const used = [...new Set(layer)].sort((a, b) => a - b);
  const columns: number[][] = used.map((at) => nodes.map((_, place) => place).filter((place) => layer[place] === at));
  const neighbours = nodes.map((_, place) => ways.filter((way) => way.includes(place)).map(([from, to]) => (from === place ? to : from)));
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
