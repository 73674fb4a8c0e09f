// Links to a set-up: a whole one in the fragment of the address, which no server sees.

/** A set-up. */
export interface Shared {
  file: string;
  text: string;
  point: number;
  settings: [string, string][];
  algorithm: string | null;
}

async function piped(bytes: Uint8Array, through: ReadableWritablePair<Uint8Array, BufferSource>): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(through as ReadableWritablePair<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The fragment of a link. */
export async function fragment(shared: Shared): Promise<string> {
  const bytes = await piped(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate-raw"));
  let letters = "";
  for (let place = 0; place < bytes.length; place += 0x8000) letters += String.fromCharCode(...bytes.subarray(place, place + 0x8000));
  return `#s=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Most octets that a link may hold once it is unpacked. */
const MOST = 4e6;

/** The set-up of a fragment; none where it holds none. */
export async function read(hash: string): Promise<Shared | null> {
  const packed = hash.match(/^#s=([\w-]+)$/)?.[1];
  if (!packed) return null;
  const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts: BlobPart[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST) throw new Error(`the link holds more than ${MOST / 1e6} MB`);
    parts.push(value as BlobPart);
  }
  const given = JSON.parse(await new Blob(parts).text()) as Partial<Shared>;
  const pairs = Array.isArray(given.settings) && given.settings.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string"));
  if (typeof given.text !== "string" || typeof given.file !== "string" || !pairs) throw new Error("the link holds no scenario");
  return {
    file: given.file,
    text: given.text,
    point: Number.isInteger(given.point) ? given.point! : 0,
    settings: given.settings!,
    algorithm: typeof given.algorithm === "string" ? given.algorithm : null,
  };
}
