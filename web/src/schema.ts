// The JSON Schema of scenarios, as far as an editor and sliders ask it: which keys stand where, and what they take.

/** A part of a schema. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Schema = Record<string, any>;

/** The schema of parts that `schema.mjs` numbered, each part of it one object however often it stands there. */
export function whole(text: string): Schema {
  const parts = JSON.parse(text) as Schema[];
  const part = (number: number): Schema => parts[number];
  for (const one of parts) {
    if (one.properties) one.properties = Object.fromEntries(Object.entries(one.properties as Record<string, number>).map(([key, number]) => [key, part(number)]));
    for (const key of ["allOf", "anyOf"]) if (one[key]) one[key] = one[key].map(part);
    for (const key of ["items", "additionalProperties"]) if (typeof one[key] === "number") one[key] = part(one[key]);
  }
  return parts[parts.length - 1];
}

/** All shapes that a part may have. */
function shapes(of: Schema): Schema[] {
  const inner = [...(of.allOf ?? []), ...(of.anyOf ?? [])] as Schema[];
  const here = of.items && of.type === "array" ? shapes(of.items as Schema) : [];
  return [of, ...inner.flatMap(shapes), ...here];
}

/** Parts at a path: all shapes that the last key may have. */
export function at(root: Schema, path: string[]): Schema[] {
  let places = shapes(root);
  for (const key of path) {
    places = places
      .flatMap((place) => [place.properties?.[key] as Schema | undefined, place.additionalProperties as Schema | undefined])
      .filter((next): next is Schema => typeof next === "object")
      .flatMap(shapes);
  }
  return places;
}

/** The description of a key: its own, or that of a part which says for several what it is; a pattern says only how. */
function about(key: Schema): string {
  return (shapes(key).find((shape) => shape.description && !shape.pattern)?.description as string | undefined) ?? "";
}

/** Keys that a table may have, each with its description: that of tables of type `kind` first, as others mean something else by the same key. */
export function keys(root: Schema, path: string[], kind?: string): Map<string, string> {
  const found = new Map<string, string>();
  const places = at(root, path);
  const own = kind === undefined ? [] : places.filter((place) => (place.properties?.type as Schema | undefined)?.const === kind);
  for (const place of [...own, ...places]) {
    for (const [key, of] of Object.entries((place.properties ?? {}) as Record<string, Schema>)) {
      if (!found.get(key)) found.set(key, about(of));
    }
  }
  return found;
}

/** Words that a key may have as its value. */
export function words(root: Schema, path: string[]): string[] {
  const found = at(root, path).flatMap((place) => [...((place.enum ?? []) as unknown[]), ...("const" in place ? [place.const] : [])]);
  const booleans = at(root, path).some((place) => place.type === "boolean") ? ["true", "false"] : [];
  return [...new Set([...found.filter((word) => typeof word === "string").map((word) => JSON.stringify(word)), ...booleans])];
}

/** Form of a value by its key, such as `a string such as "5 ms"`. */
export function how(root: Schema, path: string[]): string {
  return (at(root, path).find((place) => place.pattern && place.description)?.description as string | undefined) ?? "";
}

/** The default that the description of a key tells, where that is a value. */
export function fallback(root: Schema, path: string[]): string | null {
  const told = at(root, path.slice(0, -1)).map((place) => place.properties?.[path[path.length - 1]] as Schema | undefined).map((key) => key && about(key));
  const found = told.find(Boolean)?.match(/Default: ("[^"]*"|\d[\d./]*(?: (?:cells|ms|us|s|%|[kMG]?bps))?|true|false)(?:[ ,;].*)?\.$/);
  return found ? found[1] : null;
}

/** Bounds of a value by the description of its key: powers of two between two numbers, or a largest one. */
export function bounds(root: Schema, path: string[]): { powers: [number, number] | null; most: number } {
  const told = at(root, path).map((place) => (place.description as string | undefined) ?? "");
  const ratio = (text: string): number => text.split("/").map(Number).reduce((over, under) => over / under);
  const powers = told.map((text) => text.match(/: a power of two from (\d[\d/]*) to (\d[\d/]*)/)).find(Boolean);
  const most = told.map((text) => text.match(/\bat most (\d+)(?: cells)?\b/)).find(Boolean);
  return { powers: powers ? [ratio(powers[1]), ratio(powers[2])] : null, most: most ? Number(most[1]) : Infinity };
}

/** Keys of the whole whose values are lists of tables, as `vc`. */
export function lists(root: Schema): Set<string> {
  const parts = Object.entries((root.properties ?? {}) as Record<string, Schema>);
  return new Set(parts.filter(([, part]) => shapes(part).some((shape) => shape.type === "array")).map(([key]) => key));
}

/** Where the end of a text stands: in which table, and whether behind a key and its `=`. */
export function where(text: string): { path: string[]; key: string | null } {
  let table: string[] = [];
  let begin = 0;
  for (const found of text.matchAll(/^[ \t]*\[\[?([^\]\n]*)\]?\]?[^\n]*$/gm)) {
    // A line of a list of lists begins alike, but no header has quotes or commas.
    if (/[",{}]/.test(found[1])) continue;
    table = found[1].split(".").map((part) => part.trim()).filter(Boolean);
    begin = found.index + found[0].length;
  }
  const rest = text.slice(begin);
  const open: { keys: string[]; list: boolean }[] = [];
  let key: string[] | null = null;
  let word = "";
  for (let place = 0; place < rest.length; place += 1) {
    const letter = rest[place];
    if (letter === "#") {
      while (place < rest.length && rest[place] !== "\n") place += 1;
      if (!open.length) [key, word] = [null, ""];
    } else if (letter === '"') {
      const close = rest.indexOf('"', place + 1);
      if (close < 0) break;
      word += key ? "" : rest.slice(place + 1, close);
      place = close;
    } else if (letter === "=") {
      key = word.trim().split(".").map((part) => part.trim());
      word = "";
    } else if (letter === "{" || letter === "[") {
      open.push({ keys: key ?? [], list: letter === "[" });
      if (letter === "{") key = null;
      word = "";
    } else if (letter === "}" || letter === "]") {
      const closed = open.pop();
      key = closed?.keys.length ? closed.keys : null;
      word = "";
    } else if (letter === "," || (letter === "\n" && !open.length)) {
      if (!open[open.length - 1]?.list) key = null;
      word = "";
    } else word += letter;
  }
  const inner = open.filter(({ list }) => !list).flatMap(({ keys: own }) => own);
  if (key) return { path: [...table, ...inner, ...key.slice(0, -1)], key: key[key.length - 1] };
  // Of a dotted key the parts before the last dot are tables.
  const dotted = word.trim().split(".").slice(0, -1);
  return { path: [...table, ...inner, ...dotted], key: null };
}
