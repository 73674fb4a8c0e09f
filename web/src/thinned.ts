// A series with far more samples than the screen has places: what is least and largest at each place.

import { type Track, until } from "./store";

/** The least and the largest value of a series in each of as many equal parts of a span of time. */
export class Thinned {
  private readonly low: Float64Array;
  private readonly high: Float64Array;
  /** Whether the largest value of a part came before its least. */
  private readonly falls: Uint8Array;
  private readonly last: Float64Array;
  /** The part of the last value. */
  private reached = -1;
  private taken: number;

  constructor(
    private readonly track: Track,
    private readonly from: number,
    private readonly to: number,
    private readonly parts: number,
    private readonly scale: number,
    private readonly holds: boolean,
  ) {
    this.low = new Float64Array(parts).fill(NaN);
    this.high = new Float64Array(parts).fill(NaN);
    this.falls = new Uint8Array(parts);
    this.last = new Float64Array(parts).fill(NaN);
    this.taken = until(track.times.values, from);
    // A value that holds until it changes is there at the beginning.
    if (holds && this.taken) this.put(0, track.values.values[this.taken - 1]);
  }

  private put(part: number, value: number): void {
    if (!Number.isFinite(value)) return;
    const scaled = value * this.scale;
    this.last[part] = scaled;
    this.reached = part;
    if (!(scaled >= this.low[part])) {
      this.falls[part] = 1;
      this.low[part] = scaled;
    }
    if (!(scaled <= this.high[part])) {
      this.falls[part] = 0;
      this.high[part] = scaled;
    }
  }

  /** Takes what has come since the last time and is not after `now`. */
  take(now: number): void {
    const [times, values] = [this.track.times.values, this.track.values.values];
    const last = Math.min(now, this.to);
    const width = (this.to - this.from) / this.parts;
    for (; this.taken < times.length && times[this.taken] <= last; this.taken += 1) {
      this.put(Math.min(this.parts - 1, Math.floor((times[this.taken] - this.from) / width)), values[this.taken]);
    }
  }

  /** The least, the largest and the last value in force in each part up to `now`. */
  spread(now: number): { low: Float64Array; high: Float64Array; last: Float64Array } {
    const [low, high, last] = [this.low, this.high, this.last].map((column) => column.slice());
    const width = (this.to - this.from) / this.parts;
    let beside = NaN;
    const hold = (part: number): void => void (low[part] = high[part] = last[part] = beside);
    if (this.holds) {
      for (let part = 0; part <= Math.min(this.parts - 1, Math.floor((now - this.from) / width)); part += 1) {
        if (Number.isNaN(last[part])) hold(part);
        else {
          low[part] = Math.min(low[part], Number.isNaN(beside) ? Infinity : beside);
          high[part] = Math.max(high[part], Number.isNaN(beside) ? -Infinity : beside);
        }
        beside = last[part];
      }
      return { low, high, last };
    }
    // A sample stands for the interval that it ends, and there are none after the end of their source.
    for (let part = this.reached; part >= 0; part -= 1) {
      if (Number.isNaN(last[part])) hold(part);
      beside = last[part];
    }
    return { low, high, last };
  }

  /** Two values for each part, in the order in which they came; nothing where none came, and once where both are one. */
  get columns(): (number | null)[] {
    const found = new Array<number | null>(2 * this.parts).fill(null);
    for (let part = 0; part < this.parts; part += 1) {
      const [low, high] = [this.low[part], this.high[part]];
      if (Number.isNaN(low)) continue;
      const falls = this.falls[part] === 1;
      found[2 * part + 1] = falls ? low : high;
      if (low !== high) found[2 * part] = falls ? high : low;
    }
    return found;
  }

  /** The instants of those values. */
  static instants(from: number, to: number, parts: number): number[] {
    return Array.from({ length: 2 * parts }, (_, place) => from + ((place + 0.5) * (to - from)) / (2 * parts));
  }
}
