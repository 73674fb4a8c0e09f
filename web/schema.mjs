// The schema of scenarios as the page has it: each part once, numbered, parts within by their numbers. Written out it
// is 3.6 MB of JSON text that says the same things again and again; so it is a thirtieth of that.

/** What editor and sliders ask of a part. */
const KEPT = new Set(["type", "description", "pattern", "enum", "const"]);

/** All parts of a schema; the whole is the last. */
export function parts(schema) {
  const places = new Map();
  const found = [];
  const place = (part) => {
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
