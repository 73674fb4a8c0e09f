// What a worker does before it runs anything: a scenario read with its settings, the reader's algorithm, faults.

import { Setup } from "../pkg/cellrate_web.js";
import { type Make, SwitchAlgorithm } from "./algorithm";
import type { Start } from "./messages";
import type { Fault } from "./model";

declare function importScripts(...addresses: string[]): void;

/** An exception as a fault. */
export function fault(thrown: unknown): Fault {
  if (typeof thrown === "string") {
    try {
      return JSON.parse(thrown) as Fault;
    } catch {
      return { message: thrown };
    }
  }
  if (thrown instanceof WebAssembly.RuntimeError) {
    return { message: `the simulator has stopped (${thrown.message}): the memory of a page may not be enough for this scenario` };
  }
  return { message: thrown instanceof Error ? thrown.message : String(thrown) };
}

/** The scenario at its point with its settings, its points, and the document before settings, as JSON text. */
export function prepared(start: Pick<Start, "text" | "file" | "point" | "settings">): { setup: Setup; points: [string, string][][]; document: string } {
  const setup = Setup.parse(start.text, start.file);
  const points = JSON.parse(setup.points()) as [string, string][][];
  if (points.length > 1) setup.take_point(Math.min(start.point, points.length - 1));
  const document = setup.to_json();
  for (const [path, value] of start.settings) setup.set(path, value);
  return { setup, points, document };
}

/** Classes of the reader's code; it is run in this worker, which has no page to touch and no network but its own. */
export function classes(code: string): Record<string, Make> {
  const names = [...code.matchAll(/^\s*class\s+([A-Za-z_$][\w$]*)/gm)].map((found) => found[1]);
  if (!names.length) throw new Error("the code has no class: write class Mine extends SwitchAlgorithm { ... }");
  const scope = self as unknown as Record<string, unknown>;
  scope.SwitchAlgorithm = SwitchAlgorithm;
  const whole = `(() => { "use strict";\n${code}\nself.ownAlgorithms = { ${names.join(", ")} };\n})();`;
  const address = URL.createObjectURL(new Blob([whole], { type: "text/javascript" }));
  try {
    importScripts(address);
  } finally {
    URL.revokeObjectURL(address);
  }
  const found = scope.ownAlgorithms as Record<string, Make>;
  const by: Record<string, Make> = {};
  // A scenario may call it as the class is called, in small letters, or "mine" where there is one class alone.
  for (const name of names) {
    if (!(found[name].prototype instanceof SwitchAlgorithm)) continue;
    by[name] = found[name];
    by[name.toLowerCase()] = found[name];
    by.mine ??= found[name];
  }
  return by;
}
