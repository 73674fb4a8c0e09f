// The series of a run as they grow, and the cells on their way.

import type { Cells, Head, More } from "./model";

/** Numbers that grow at the end without being copied each time. */
export class Column {
  private held = new Float64Array(16);
  length = 0;

  push(values: ArrayLike<number | null>): void {
    const length = this.length + values.length;
    if (length > this.held.length) {
      const larger = new Float64Array(Math.max(length, 2 * this.held.length));
      larger.set(this.held.subarray(0, this.length));
      this.held = larger;
    }
    if (values instanceof Float64Array) this.held.set(values, this.length);
    else for (let place = 0; place < values.length; place += 1) this.held[this.length + place] = values[place] ?? NaN;
    this.length = length;
  }

  /** All of them. */
  get values(): Float64Array {
    return this.held.subarray(0, this.length);
  }
}

/** How many of `times`, which rise, are not after `now`. */
export function until(times: ArrayLike<number>, now: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= now) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Instants and values of one series. */
export class Track {
  times = new Column();
  values = new Column();

  /** The value at an instant; none before the first. */
  at(now: number): number | null {
    const count = until(this.times.values, now);
    return count ? this.values.values[count - 1] : null;
  }
}

/** Cells of one port, by the instants at which they left it. */
export class Departures {
  at: number[] = [];
  cells: number[] = [];
  /** The number of each among the RM cells, or the data cells, that have left: some of them are picked by it. */
  numbers: number[] = [];
  private counts = [0, 0];

  push(at: number, cell: number): void {
    this.at.push(at);
    this.cells.push(cell);
    const isRm = (cell & 7) >= 2 ? 1 : 0;
    this.numbers.push(this.counts[isRm]);
    this.counts[isRm] += 1;
  }

  forget(count: number): void {
    this.at.splice(0, count);
    this.cells.splice(0, count);
    this.numbers.splice(0, count);
  }
}

/** All that has come of a run. */
export class Store {
  readonly tracks = new Map<number, Track>();
  readonly departures = new Map<number, Departures>();
  now_s = 0;

  constructor(readonly head: Head) {}

  track(series: number): Track {
    let track = this.tracks.get(series);
    if (!track) this.tracks.set(series, (track = new Track()));
    return track;
  }

  add(more: More): void {
    for (const [series, times, values] of more.series) {
      const track = this.track(series);
      track.times.push(times);
      track.values.push(values);
    }
    more.cells.forEach((cells) => this.addCells(cells));
    this.now_s = more.now_s;
  }

  private addCells({ at, ports, cells }: Cells): void {
    for (let place = 0; place < at.length; place += 1) {
      let departures = this.departures.get(ports[place]);
      if (!departures) this.departures.set(ports[place], (departures = new Departures()));
      departures.push(at[place], cells[place]);
    }
  }

  /** Forgets cells that have arrived before `now`. */
  forgetCells(now: number): void {
    this.departures.forEach((departures, port) => {
      const delay = this.head.topology.links[port >> 1].delay_s;
      const gone = until(departures.at, now - delay);
      if (gone > 4096) departures.forget(gone);
    });
  }
}
