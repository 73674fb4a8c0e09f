// Numbers and times for people.

/** A time, in the unit that suits it. */
export function seconds(value: number): string {
  if (value >= 1 || value === 0) return `${value.toFixed(3)} s`;
  if (value >= 1e-3) return `${(value * 1e3).toFixed(2)} ms`;
  return `${(value * 1e6).toFixed(1)} us`;
}

/** A number with as many digits as tell something. */
export function digits(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? "" : value.toLocaleString("en-US", { maximumSignificantDigits: 5 });
}

/** A bit rate. */
export function bits(bps: number): string {
  if (bps >= 1e9) return `${digits(bps / 1e9)} Gbps`;
  return bps >= 1e6 ? `${digits(bps / 1e6)} Mbps` : `${digits(bps / 1e3)} kbps`;
}

/** The element of the page with that id. */
export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found as T;
}

/** A new element with a class and a text. */
export function made<K extends keyof HTMLElementTagNameMap>(kind: K, className = "", text = ""): HTMLElementTagNameMap[K] {
  const one = document.createElement(kind);
  if (className) one.className = className;
  if (text) one.textContent = text;
  return one;
}
