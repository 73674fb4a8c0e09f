// A simulation in a worker of this page.

import { type FromWorker, type Start, type ToWorker, unpacked } from "./messages";
import type { Fault, More, Pace } from "./model";
import workerText from "../build/worker.js.txt";

/** Messages about a run. */
export type FromSimulator = Exclude<FromWorker, { kind: "more" } | { kind: "checked" }> | { kind: "more"; id: number; more: More };

/** The worker with the simulator in it. */
export class Simulator {
  private worker: Worker | null = null;
  private ready: Promise<void> = Promise.resolve();
  private checks = new Map<number, (fault: Fault | null) => void>();
  private count = 0;
  /** The last run that was started; what is told of others is old. */
  private id = 0;

  constructor(
    private readonly kernel: Promise<string>,
    private readonly told: (message: FromSimulator) => void,
  ) {
    this.begin();
  }

  private begin(): void {
    const address = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
    const worker = new Worker(address, { name: "simulator" });
    this.worker = worker;
    URL.revokeObjectURL(address);
    this.ready = this.kernel.then(
      (kernel) => worker.postMessage({ kind: "load", kernel } satisfies ToWorker),
      (thrown: Error) => this.told({ kind: "failed", id: this.id, fault: { message: thrown.message } }),
    );
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === "checked") {
        this.checks.get(data.check)?.(data.fault);
        this.checks.delete(data.check);
      } else if (data.id !== this.id) return;
      else if (data.kind === "more") this.told({ kind: "more", id: data.id, more: unpacked(data.told) });
      else this.told(data);
    };
    worker.onerror = (event) => this.told({ kind: "failed", id: this.id, fault: { message: event.message || "the worker of the simulator has failed" } });
  }

  /** Tells the worker, once it has its simulator; in the order of calls. */
  private say(message: ToWorker): void {
    const { worker } = this;
    void this.ready.then(() => worker?.postMessage(message));
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

  /** The fault of a scenario; none where it can be run. */
  check(text: string, file: string): Promise<Fault | null> {
    this.count += 1;
    const check = this.count;
    return new Promise((answer) => {
      this.checks.set(check, answer);
      this.say({ kind: "check", check, text, file });
    });
  }
}

declare const HAS_KERNEL: boolean;

/** The simulator as it was built, compressed and in base 64, once its file is there; nothing where this page has none. */
export function kernel(): Promise<string> | null {
  if (!HAS_KERNEL) return null;
  const here = (): string | undefined => (globalThis as { cellrateKernel?: string }).cellrateKernel;
  const script = document.querySelector('script[src="kernel.js"]');
  return new Promise((done, fail) => {
    const found = here();
    if (found) done(found);
    script?.addEventListener("load", () => done(here()!));
    script?.addEventListener("error", () => fail(new Error("the file kernel.js of this page, which holds the simulator, cannot be loaded")));
  });
}
