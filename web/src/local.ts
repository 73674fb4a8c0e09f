// Simulations in workers of this page.

import { type FromWorker, type How, type Start, type ToWorker, unpacked } from "./messages";
import type { Fault, More, Pace } from "./model";
import workerText from "../build/worker.js.txt";

/** Messages about a run. */
export type FromSimulator = Exclude<FromWorker, { kind: "more" } | { kind: "checked" } | { kind: "explained" }> | { kind: "more"; id: number; more: More };

/** Messages that a worker may have sent: so many at any time, and so many for each second of its life. A simulator sends some seventy. */
const MESSAGES = 1000;
const MESSAGES_PER_S = 200;

/** A worker with a simulator in it. */
export class Hand {
  private readonly worker: Worker;
  private readonly ready: Promise<void>;
  private readonly began = performance.now();
  private heard = 0;

  constructor(module: Promise<WebAssembly.Module>, told: (message: FromWorker) => void, failed: (fault: Fault) => void) {
    const address = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
    const worker = new Worker(address, { name: "simulator" });
    URL.revokeObjectURL(address);
    this.worker = worker;
    this.ready = module.then(
      (compiled) => worker.postMessage({ kind: "load", module: compiled } satisfies ToWorker),
      (thrown: Error) => failed({ message: thrown.message }),
    );
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      this.heard += 1;
      if (this.heard > MESSAGES + (MESSAGES_PER_S * (performance.now() - this.began)) / 1e3) failed({ message: "the algorithm floods the page with messages of its own, and was ended" });
      else told(data);
    };
    worker.onerror = (event) => failed({ message: event.message || "the worker of the simulator has failed" });
  }

  /** Tells the worker, once it has its simulator; in the order of calls. */
  say(message: ToWorker): void {
    void this.ready.then(() => this.worker.postMessage(message));
  }

  /** Ends it, whatever it is doing; nothing that it has said is heard any more. */
  end(): void {
    this.worker.onmessage = this.worker.onerror = null;
    this.worker.terminate();
  }
}

/**
 * Runs in workers. A worker in which code of the reader's has run does nothing else afterwards: the code may have
 * changed anything there, so that the next run, even of the same code, has a worker of its own. Scenarios are checked in
 * a worker in which no such code ever runs.
 */
export class Simulator {
  /** The simulator, compiled. */
  readonly module: Promise<WebAssembly.Module>;
  private runner: Hand;
  private checker: Hand | null = null;
  private checks = new Map<number, (fault: Fault | null) => void>();
  private count = 0;
  /** The last run that was started; what is told of others is old. */
  private id = 0;
  /** Whether code of the reader's has run in the worker. */
  private hasCode = false;
  /** News of the last run that is due next: its head, then more of it, and nothing after its end. */
  private next: "head" | "more" | "nothing" = "nothing";

  constructor(
    kernel: Promise<string>,
    private readonly told: (message: FromSimulator) => void,
  ) {
    this.module = kernel.then(compiled);
    this.runner = this.hired();
  }

  private hired(): Hand {
    const hand: Hand = new Hand(
      this.module,
      (message) => this.hear(message),
      (fault) => this.fail(fault),
    );
    return hand;
  }

  /** Takes what a worker says of a run; one in which code of the reader's runs may say anything. */
  private hear(message: FromWorker): void {
    if (message.kind === "checked" || message.kind === "explained" || message.id !== this.id || this.next === "nothing") return;
    const isDue = message.kind === "failed" || (message.kind === "more" || message.kind === "end" ? this.next === "more" : this.next === "head");
    if (!isDue) return;
    this.next = message.kind === "head" || message.kind === "more" ? "more" : "nothing";
    try {
      this.told(message.kind === "more" ? { kind: "more", id: message.id, more: unpacked(message.told) } : message);
    } catch (thrown) {
      if (!this.hasCode) throw thrown;
      this.fail({ message: `the algorithm has told the page what no simulator tells (${(thrown as Error).message}), and was ended` });
    }
  }

  private fail(fault: Fault): void {
    this.stop();
    this.told({ kind: "failed", id: this.id, fault });
  }

  /** Starts a run; whatever ran before has ended. */
  start(start: Omit<Start, "id">, how: How): void {
    if (this.hasCode) this.stop();
    this.hasCode = start.algorithm !== null;
    this.id += 1;
    this.next = "head";
    this.runner.say({ kind: "start", start: { ...start, id: this.id }, how });
  }

  /** Ends a run whatever it is doing: code of the reader's may never come back. */
  stop(): void {
    this.runner.end();
    this.runner = this.hired();
    this.hasCode = false;
    this.id += 1;
    this.next = "nothing";
  }

  pace(pace: Pace): void {
    this.runner.say({ kind: "pace", pace });
  }

  step(by_s: number): void {
    this.runner.say({ kind: "step", by_s });
  }

  /** The fault of a scenario; none where it can be run. */
  check(text: string, file: string): Promise<Fault | null> {
    this.checker ??= new Hand(
      this.module,
      (message) => {
        if (message.kind !== "checked") return;
        this.checks.get(message.check)?.(message.fault);
        this.checks.delete(message.check);
      },
      () => {
        this.checks.forEach((answer) => answer(null));
        this.checks.clear();
      },
    );
    this.count += 1;
    const check = this.count;
    return new Promise((answer) => {
      this.checks.set(check, answer);
      this.checker!.say({ kind: "check", check, text, file });
    });
  }
}

declare const HAS_KERNEL: boolean;

/** Unpacks the simulator, and compiles it once for all workers. */
async function compiled(kernel: string): Promise<WebAssembly.Module> {
  const letters = atob(kernel);
  const packed = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) packed[place] = letters.charCodeAt(place);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

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
