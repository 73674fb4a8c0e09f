// Links to a set-up: a whole one in the fragment of the address, which no server sees.

/** A set-up. */
export interface Shared {
  file: string;
  text: string;
  point: number;
  settings: [string, string][];
  algorithm: string | null;
  /** Parameters that have sliders; those that the page chooses where none are named. */
  sliders?: string[];
  /** Whether it opens in slow motion. */
  slow?: boolean;
}

/** A wish that the fragment of an address has. */
export type Wanted = { kind: "nothing" } | { kind: "shared"; shared: Shared } | { kind: "lesson"; id: string; step: number } | { kind: "scenario"; name: string };

async function piped(bytes: Uint8Array, through: ReadableWritablePair<Uint8Array, BufferSource>): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(through as ReadableWritablePair<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The fragment of a link: a sum of what it holds is in it, so that a letter that has changed is found. */
export async function fragment(shared: Shared): Promise<string> {
  const bytes = await piped(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate"));
  let letters = "";
  for (let place = 0; place < bytes.length; place += 0x8000) letters += String.fromCharCode(...bytes.subarray(place, place + 0x8000));
  return `#s=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Most octets that a link may hold once it is unpacked, and most settings and sliders. */
const MOST = 4e6;
const MOST_SETTINGS = 200;

/** First octet of zlib's format; without it the data are bare, as links were in 0.1. */
const ZLIB = 0x78;

async function unpacked(letters: string): Promise<string> {
  const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const format = bytes[0] === ZLIB ? "deflate" : "deflate-raw";
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)).getReader();
  const parts: BlobPart[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST) throw new RangeError(`it holds more than ${MOST / 1e6} MB`);
    parts.push(value as BlobPart);
  }
  return new Blob(parts).text();
}

const isText = (value: unknown): value is string => typeof value === "string";

function checked(given: Partial<Shared>): Shared {
  const pairs = Array.isArray(given.settings) && given.settings.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isText));
  if (!isText(given.text) || !isText(given.file) || !pairs) throw new RangeError("it holds no scenario");
  const sliders = Array.isArray(given.sliders) && given.sliders.every(isText) ? given.sliders : [];
  const most = Math.max(given.settings!.length, sliders.length);
  if (most > MOST_SETTINGS) throw new RangeError(`it holds ${most} settings; a link may have ${MOST_SETTINGS}`);
  return {
    file: given.file.slice(0, 200),
    text: given.text,
    point: Number.isInteger(given.point) && given.point! >= 0 ? given.point! : 0,
    settings: given.settings!,
    algorithm: isText(given.algorithm) ? given.algorithm : null,
    sliders,
    slow: given.slow === true,
  };
}

/** The set-up of the packed part of a link. */
async function shared(packed: string): Promise<Shared> {
  let text: string;
  try {
    if (!/^[\w-]+$/.test(packed)) throw new Error();
    text = await unpacked(packed);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw thrown;
    throw new Error("it is cut off or damaged; some programs cut long links, so copy it whole");
  }
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error("it holds no scenario");
  }
  if (!given || typeof given !== "object") throw new Error("it holds no scenario");
  return checked(given as Partial<Shared>);
}

/**
 * Reads the fragment of an address.
 *
 * Throws an Error that says what is wrong with it.
 */
export async function wanted(hash: string): Promise<Wanted> {
  if (hash === "" || hash === "#") return { kind: "nothing" };
  if (hash.startsWith("#s=")) return { kind: "shared", shared: await shared(hash.slice(3)) };
  const [, lesson, step] = hash.match(/^#lesson=([\w-]+)(?:\.(\d{1,3}))?$/) ?? [];
  if (lesson) return { kind: "lesson", id: lesson, step: Math.max(0, Number(step ?? 1) - 1) };
  const [, scenario] = hash.match(/^#scenario=([\w/-]+)$/) ?? [];
  if (scenario) return { kind: "scenario", name: scenario };
  throw new Error(`"${hash.slice(0, 40)}" names no scenario and no lesson; it may be cut off`);
}
