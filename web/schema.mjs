// The schema of scenarios as the page has it: each part once, numbered, parts within by their numbers, and of each only
// what editor and sliders ask for: half of what the schema is with its definitions.

/** What editor and sliders ask of a part. */
const KEPT = new Set(["type", "description", "pattern", "enum", "const"]);

/** All parts of a schema; the whole is the last. */
export function parts(schema) {
  const places = new Map();
  const found = [];
  // Where a definition stands that is referred to, such as "#/$defs/algorithm_erica/properties/alpha".
  const resolved = (part) => (part.$ref ? part.$ref.slice(2).split("/").reduce((at, key) => at[key], schema) : part);
  const known = new Map();
  const place = (part) => {
    if (!known.has(part)) known.set(part, placed(resolved(part)));
    return known.get(part);
  };
  const placed = (part) => {
    const kept = Object.fromEntries(Object.entries(part).filter(([key]) => KEPT.has(key)));
    if (part.properties) kept.properties = Object.fromEntries(Object.entries(part.properties).map(([key, one]) => [key, place(one)]));
    for (const key of ["allOf", "anyOf"]) if (part[key]) kept[key] = part[key].map(place);
    for (const key of ["items", "additionalProperties"]) if (typeof part[key] === "object") kept[key] = place(part[key]);
    const text = JSON.stringify(kept);
    if (!places.has(text)) places.set(text, found.push(kept) - 1);
    return places.get(text);
  };
  place(schema);
  return found;
}
