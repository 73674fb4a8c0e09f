// Switch algorithms of one's own, in JavaScript: the interface of the Python class, and what the simulator calls.

/** The output port that an algorithm is made for. */
export interface Port {
  /** As results call it: "sw1->sw2". */
  name: string;
  /** Rate of its line [cells/s]. */
  link_rate: number;
}

/** Cells that went through a port in one averaging interval. */
export interface Load {
  start: number;
  end: number;
  length: number;
  abr_cells: number;
  guaranteed_cells: number;
  active: number;
  abr_queue: number;
  vc_cells: ArrayLike<number>;
  /** Mean round trip of the connections from which ABR cells came, weighted by cells [s]; null unless `counts_vcs`, and where no cell came. */
  round_trip: number | null;
  /** The longest of them [s]; null as `round_trip`. */
  longest_round_trip: number | null;
  abr_rate: number;
  guaranteed_rate: number;
  /** Part that ABR may have of a rate, the line's or the part of it that is handed out [cells/s]. */
  available(rate: number): number;
}

/** Feedback for a backward RM cell. */
export interface Feedback {
  er?: number | null;
  ci?: boolean;
  ni?: boolean;
}

/** Congestion control of one output port: a base that does nothing, as `cellrate.algorithms.SwitchAlgorithm`. */
export class SwitchAlgorithm {
  /** An averaging interval is at most so long [s]. */
  interval: number | null = null;
  /** It also ends with so many ABR cells. */
  interval_cells: number | null = null;
  /** Whether `load.vc_cells`, `load.round_trip` and `load.longest_round_trip` are wanted. */
  counts_vcs = false;
  /** Counts of the open interval, within the methods for RM cells. */
  running = { start: 0, abr_cells: 0, guaranteed_cells: 0, active: 0, own_cells: 0 };

  constructor(_port: Port, _parameters: Record<string, unknown>) {}
  on_connect(_vc: number, _pcr: number, _mcr: number, _weight: number): void {}
  on_forward_rm(_now: number, _vc: number, _ccr: number): void {}
  on_link_rate(_link_rate: number): void {}
  on_interval_end(_load: Load): void {}
  on_backward_rm(_now: number, _vc: number, _queue: number): Feedback | number | null | undefined {
    return null;
  }
  figures(): Record<string, number> {
    return {};
  }
}

/** A class that makes algorithms. */
export type Make = new (port: Port, parameters: Record<string, unknown>) => SwitchAlgorithm;

class Adapted {
  constructor(
    private readonly own: SwitchAlgorithm,
    private readonly what: string,
    private readonly names: string[],
  ) {
    const { interval, interval_cells: cells } = own;
    if (interval != null && !(typeof interval === "number" && interval >= 1e-12 && interval < Infinity)) {
      throw new Error(`${what}: interval is ${String(interval)}; it must be a time in seconds, above 0, or null`);
    }
    if (cells != null && !(Number.isInteger(cells) && cells >= 1 && cells < 2 ** 32)) {
      throw new Error(`${what}: interval_cells is ${String(cells)}; it must be a whole number from 1 to 2^32 - 1, or null`);
    }
    if (interval == null && cells == null && own.on_interval_end !== SwitchAlgorithm.prototype.on_interval_end) {
      throw new Error(`${what} has on_interval_end, but no interval ends: set interval [s] or interval_cells`);
    }
  }

  get interval_s(): number | undefined {
    return this.own.interval ?? undefined;
  }

  get interval_cells(): number | undefined {
    return this.own.interval_cells ?? undefined;
  }

  get counts_vcs(): boolean {
    return Boolean(this.own.counts_vcs);
  }

  on_connect(vc: number, pcr: number, mcr: number, weight: number): void {
    this.own.on_connect(vc, pcr, mcr, weight);
  }

  on_forward_rm(now: number, vc: number, ccr: number, running: Float64Array): void {
    this.run(running);
    this.at(now, "on_forward_rm", () => this.own.on_forward_rm(now, vc, ccr));
  }

  on_link_rate(link_rate: number): void {
    this.own.on_link_rate(link_rate);
  }

  on_interval_end(told: Float64Array, vc_cells: Float64Array): void {
    const [start, end, length, abr_cells, guaranteed_cells, active, abr_queue, mean, longest, ...terms] = told;
    const [abr_rate, guaranteed_rate] = [abr_cells / length, guaranteed_cells / length];
    const available = (rate: number) => {
      let most = 0;
      // Pairs: the part that ABR has, and the rate that goes off before.
      for (let place = 0; place < terms.length; place += 2) most = Math.max(most, terms[place] * (rate - terms[place + 1]));
      return most;
    };
    const [round_trip, longest_round_trip] = [mean, longest].map((span) => (Number.isNaN(span) ? null : span));
    const counts = { start, end, length, abr_cells, guaranteed_cells, active, abr_queue, vc_cells, round_trip, longest_round_trip };
    const load = { ...counts, abr_rate, guaranteed_rate, available };
    this.at(end, "on_interval_end", () => this.own.on_interval_end(load));
  }

  on_backward_rm(now: number, vc: number, queue: number, running: Float64Array): Float64Array {
    this.run(running);
    return this.at(now, "on_backward_rm", () => {
      const answer = this.own.on_backward_rm(now, vc, queue);
      if (answer == null) return new Float64Array([-1, 0, 0]);
      const { er = null, ci = false, ni = false } = typeof answer === "number" ? { er: answer } : answer;
      if (er !== null && !(typeof er === "number" && er >= 0)) {
        throw new Error(`it gave an ER of ${String(er)}; it must be a rate in cells/s, 0 or more, or null`);
      }
      return new Float64Array([er ?? -1, ci ? 1 : 0, ni ? 1 : 0]);
    });
  }

  figures(): Float64Array {
    const given = this.own.figures();
    return new Float64Array(
      this.names.map((name) => {
        if (typeof given[name] === "number") return given[name];
        throw new Error(`the scenario lists the figure "${name}" of ${this.what}, whose figures() gives ${Object.keys(given).join(", ") || "none"}`);
      }),
    );
  }

  private run([start, abr_cells, guaranteed_cells, active, own_cells]: Float64Array): void {
    this.own.running = { start, abr_cells, guaranteed_cells, active, own_cells };
  }

  private at<T>(now: number, method: string, call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      const why = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
      throw new Error(`${this.what}, ${method} at ${now} s: ${why}`);
    }
  }
}

/** Functions by which the simulator makes algorithms, from classes by the names that scenarios have for them. */
export function maker(classes: Record<string, Make>): { make: (...given: never[]) => Adapted } {
  return {
    make(name: string, port: string, link_rate: number, parameters: string, figures: string[]): Adapted {
      const Class = classes[name];
      if (!Class) throw new Error(`the scenario has the custom algorithm "${name}"; here is ${Object.keys(classes).join(", ")}`);
      const what = `the algorithm "${name}" of port ${port}`;
      const made = new Class({ name: port, link_rate }, JSON.parse(parameters) as Record<string, unknown>);
      if (!(made instanceof SwitchAlgorithm)) throw new Error(`${what} is no SwitchAlgorithm: begin its class with "extends SwitchAlgorithm"`);
      return new Adapted(made, what, figures);
    },
  };
}

/** Algorithm that a reader begins with: ERICA without its averages, in few lines. */
export const EXAMPLE = `// One output port of a switch. Rates are in cells/s, times in seconds.
class Mine extends SwitchAlgorithm {
  constructor(port) {
    super(port);
    this.interval = 0.001;          // measure for a millisecond
    this.target = 0.9 * port.link_rate;
    this.load = 1;
    this.ccr = {};
    this.active = 1;
  }
  on_forward_rm(now, vc, ccr) {
    this.ccr[vc] = ccr;
  }
  on_interval_end(load) {
    this.load = Math.max(load.abr_rate / Math.max(load.available(this.target), 1), 1e-3);
    this.active = Math.max(load.active, 1);
  }
  on_backward_rm(now, vc, queue) {
    const fair = this.target / this.active;
    return Math.min(Math.max(fair, (this.ccr[vc] ?? 0) / this.load), this.target);
  }
}
`;
