// Parameters of a scenario, each with the path by which it is set and the values that a slider gives it.

import { firstToLast } from "./groups";
import { bounds, fallback, how, keys, lists, type Schema } from "./schema";

/** A parameter that can be moved. */
export interface Parameter {
  path: string;
  /** As it is written, strings without quotes. */
  value: string;
  /** Values from the lowest to the highest, and the place of the present one. */
  steps: string[];
  place: number;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Keys that are no parameters, though their values look like some. */
const NOT = new Set(["name", "purpose", "like", "count", "between", "path", "set", "values", "of", "record", "sweep", "type"]);
/** Entries of a list whose values are parameters, at most; a longer list is changed in the text. */
const MOST_ENTRIES = 40;
/** How many steps a slider makes of a factor of ten. */
const PER_DECADE = 48;

/** A value of a scenario: its path, the value, and the `type` of the table in which it stands, where that has one. */
export interface Written {
  path: string;
  value: string;
  kind?: string;
  /** Name for people of the entry of a list in which it stands: for a group those of its first and last. */
  entry?: string;
}

/** All parameters that a scenario writes down, by their paths. */
export function written(document: Json, schema: Schema | null): Written[] {
  const found: Written[] = [];
  const entries = schema ? lists(schema) : new Set<string>();
  const walk = (value: Json, path: string[], kind?: string, within?: string): void => {
    const key = path[path.length - 1];
    if (NOT.has(key)) return;
    if (Array.isArray(value)) {
      if (path.length === 1 && entries.has(key)) value.slice(0, MOST_ENTRIES).forEach((entry, number) => walk(entry, [key, handle(entry, number + 1)], undefined, label(entry, number + 1)));
    } else if (value !== null && typeof value === "object") {
      const own = typeof value.type === "string" ? value.type : undefined;
      Object.entries(value).forEach(([inner, one]) => walk(one, [...path, inner], own, within));
    } else if (value !== null) found.push({ path: path.join("."), value: String(value), kind, entry: within });
  };
  if (document && typeof document === "object" && !Array.isArray(document)) Object.entries(document).forEach(([key, value]) => walk(value, [key]));
  return found;
}

/** Name of an entry in a path: its name; for a link its two ends; else its number. */
function handle(entry: Json, number: number): string {
  if (entry && typeof entry === "object" && !Array.isArray(entry)) {
    if (typeof entry.name === "string") return entry.name;
    if (Array.isArray(entry.between) && entry.between.length === 2) return entry.between.map(String).join("-");
  }
  return String(number);
}

/** Name of an entry for people: of a group those of its first and last member. */
function label(entry: Json, number: number): string {
  const count = entry && typeof entry === "object" && !Array.isArray(entry) ? entry.count : undefined;
  return firstToLast(handle(entry, number), count);
}

/** Parameters that a scenario leaves at their defaults and could write down for all: paths and default values. */
export function unwritten(document: Json, schema: Schema): Written[] {
  const known = new Set(written(document, schema).map(({ path }) => path));
  const places: [string, string[]][] = [
    ["defaults.abr", ["defaults", "abr"]],
    ["defaults.link", ["defaults", "link"]],
  ];
  const found: Written[] = [];
  for (const [prefix, path] of places) {
    for (const key of keys(schema, path).keys()) {
      const value = fallback(schema, [...path, key]);
      const whole = `${prefix}.${key}`;
      if (value !== null && !known.has(whole) && steps(schema, [...path, key], value.replaceAll('"', "")).length > 1) found.push({ path: whole, value: value.replaceAll('"', "") });
    }
  }
  return found;
}

/** A path as the schema has it: entries of lists have no names there. */
function unnamed(schema: Schema, path: string[]): string[] {
  return lists(schema).has(path[0]) ? [path[0], ...path.slice(2)] : path;
}

/** The values that a slider offers around one. */
export function steps(schema: Schema | null, path: string[], value: string): string[] {
  const { powers, most } = schema ? bounds(schema, unnamed(schema, path)) : { powers: null, most: Infinity };
  if (powers) {
    const [from, to] = powers.map(Math.log2);
    return Array.from({ length: to - from + 1 }, (_, place) => (from + place < 0 ? `1/${2 ** -(from + place)}` : String(2 ** (from + place))));
  }
  if (value === "true" || value === "false") return ["false", "true"];
  const found = value.match(/^(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([A-Za-z/%]*)$/i);
  if (!found) return [];
  const [number, unit] = [Number(found[1]), found[2]];
  const written = (one: number): string => `${one}${unit ? " " : ""}${unit}`;
  if (unit === "%") return Array.from({ length: 100 }, (_, place) => written(place + 1));
  const isWhole = Number.isInteger(number) && (!unit || /^(cells?|octets|B)$/.test(unit));
  // A ratio without a unit stays one.
  if (!unit && !Number.isInteger(number) && number <= 1) return Array.from({ length: 100 }, (_, place) => String((place + 1) / 100));
  if (number === 0) return [written(0), ...(isWhole || unit ? decades(1, 0, 3, isWhole) : []).map(written)];
  return [...new Set(decades(number, 2, 2, isWhole))].filter((one) => one <= most || !/^(cells?)?$/.test(unit)).map(written);
}

/** Numbers from so many factors of ten below to so many above one. */
function decades(number: number, below: number, above: number, isWhole: boolean): number[] {
  const all: number[] = [];
  for (let step = -below * PER_DECADE; step <= above * PER_DECADE; step += 1) {
    const value = number * 10 ** (step / PER_DECADE);
    const round = step === 0 ? number : Number(value.toPrecision(2));
    if (!isWhole) all.push(round);
    else if (Math.round(round) >= 1) all.push(Math.round(round));
  }
  return [...new Set(all)];
}

/** A parameter with the values that a slider gives it; none where there are none. */
export function parameter(schema: Schema | null, path: string, value: string): Parameter | null {
  const offered = steps(schema, path.split("."), value);
  if (offered.length < 2) return null;
  const spaced = offered.includes(value) ? value : value.replace(/\s*([A-Za-z%])/, " $1");
  // One that a slider would not offer stands in front of those that it does.
  const all = offered.includes(spaced) ? offered : [value, ...offered];
  return { path, value, steps: all, place: Math.max(0, all.indexOf(spaced)) };
}

/** Allowed values, in words. */
export function hint(schema: Schema | null, path: string): string {
  return schema ? how(schema, unnamed(schema, path.split("."))) : "";
}
