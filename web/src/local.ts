// A simulation in a worker of this page.

import type { FromWorker, Start, ToWorker } from "./messages";
import type { Fault, Pace } from "./model";
import workerText from "../build/worker.js.txt";

type Told = (message: FromWorker) => void;

/** The worker with the simulator in it. */
export class Simulator {
  private worker: Worker | null = null;
  private checks = new Map<number, (fault: Fault | null) => void>();
  private count = 0;
  /** The last run that was started; what is told of others is old. */
  private id = 0;

  constructor(
    private readonly module: ArrayBuffer,
    private readonly told: Told,
  ) {
    this.begin();
  }

  private begin(): void {
    const address = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
    this.worker = new Worker(address, { name: "simulator" });
    URL.revokeObjectURL(address);
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === "checked") {
        this.checks.get(data.check)?.(data.fault);
        this.checks.delete(data.check);
      } else if (!("id" in data) || data.id === this.id) this.told(data);
    };
    this.worker.onerror = (event) => this.told({ kind: "failed", id: this.id, fault: { message: event.message || "the worker of the simulator has failed" } });
    this.say({ kind: "load", module: this.module });
  }

  private say(message: ToWorker): void {
    this.worker?.postMessage(message);
  }

  /** Starts a run; whatever ran before has ended. */
  start(start: Omit<Start, "id">, pace: Required<Pace>, follow: boolean): void {
    this.id += 1;
    this.say({ kind: "start", start: { ...start, id: this.id }, pace, follow });
  }

  /** Ends a run whatever it is doing: code of the reader's may never come back. */
  stop(): void {
    this.worker?.terminate();
    this.checks.forEach((answer) => answer(null));
    this.checks.clear();
    this.id += 1;
    this.begin();
  }

  pace(pace: Pace): void {
    this.say({ kind: "pace", pace });
  }

  step(by_s: number): void {
    this.say({ kind: "step", by_s });
  }

  follow(follow: boolean): void {
    this.say({ kind: "follow", follow });
  }

  /** What is wrong with a scenario; nothing where it can be run. */
  check(text: string, file: string): Promise<Fault | null> {
    this.count += 1;
    const check = this.count;
    return new Promise((answer) => {
      this.checks.set(check, answer);
      this.say({ kind: "check", check, text, file });
    });
  }
}

/** The simulator as it was built, or nothing where this page has none. */
export function kernel(): ArrayBuffer | null {
  const text = (globalThis as { cellrateKernel?: string }).cellrateKernel;
  if (!text) return null;
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
  return bytes.buffer;
}
