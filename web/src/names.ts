// Names of parameters for people: the symbol of the standard, or the key in words, what it is of, and a sentence.

import glossary from "../build/glossary.json";
import { keys, lists, type Schema } from "./schema";

/** A name for people, and the sentence of the glossary or of the schema. */
export interface Named {
  name: string;
  /** Its place in the network, such as "of vc1"; empty where it is of all. */
  of: string;
  sentence: string;
}

/** Symbols of the glossary by the keys of scenarios that are not their small letters. */
const SYMBOLS: Record<string, string> = { target_utilization: "U" };

const MEANINGS = glossary as Record<string, { symbol: string; meaning: string }>;

/** Tables of defaults, in words. */
const EVERY: Record<string, string> = { link: "of every link", vc: "of every connection", switch: "of every switch", host: "of every host", abr: "", flows: "of all flows" };

function place(path: string[], label?: string): string {
  const [table, entry, ...rest] = path.slice(0, -1);
  if (table === undefined) return "";
  if (table === "defaults") {
    const inner = path.slice(2, -1).map(words).join(" ");
    return inner === "algorithm" ? "of the switches' algorithm" : [EVERY[entry] ?? `of every ${words(entry)}`, inner && `(${inner})`].filter(Boolean).join(" ");
  }
  const within = rest.filter((part) => part !== "abr").map(words).join(" ");
  return [entry === undefined ? `of ${words(table)}` : `of ${/^\d+$/.test(entry) ? `${words(table)} ${entry}` : (label ?? entry)}`, within && `(${within})`].filter(Boolean).join(" ");
}

function words(key: string): string {
  return key.replaceAll("_", " ");
}

/** Name, place and sentence of the parameter at a path, in a table of type `kind` where tables there have types, of the entry of a list that people call `entry`. */
export function named(schema: Schema | null, path: string, kind?: string, entry?: string): Named {
  const parts = path.split(".");
  const key = parts[parts.length - 1];
  const known = MEANINGS[(SYMBOLS[key] ?? key).toLowerCase()];
  // The glossary's symbols in small letters are keys of ABR alone.
  const isOfAbr = parts.includes("abr") && known !== undefined;
  const inSchema = schema && lists(schema).has(parts[0]) ? [parts[0], ...parts.slice(2, -1)] : parts.slice(0, -1);
  const told = schema ? (keys(schema, inSchema, kind).get(key) ?? "") : "";
  const meaning = isOfAbr || (SYMBOLS[key] && known) ? known.meaning : told.replace(/\s*Default: .*$/s, "");
  const sentence = meaning.charAt(0).toUpperCase() + meaning.slice(1);
  return { name: isOfAbr ? known.symbol : words(key), of: place(parts, entry), sentence };
}
