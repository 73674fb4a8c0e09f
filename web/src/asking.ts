// Questions about ACR to a worker of their own, which is there from the first of them on.

import { Hand } from "./local";
import type { FromWorker, Start } from "./messages";

/** So long an algorithm of the reader's may keep its worker from saying anything [ms]. */
const PATIENCE_MS = 5000;

/** An answer, or how much of the run behind it is done. */
export type Answer = { lines: string[] } | { done: number } | { fault: string };

/** Asks one question at a time; a newer one takes the place of the one before. */
export class Asking {
  private hand: Hand | null = null;
  private count = 0;
  /** As which the run was started that the worker repeats. */
  private about = "";
  private hasCode = false;
  private told: (answer: Answer) => void = () => {};
  private patience: number | undefined;

  constructor(private readonly module: Promise<WebAssembly.Module>) {}

  ask(start: Omit<Start, "id">, vc: string, at_s: number, told: (answer: Answer) => void): void {
    const about = JSON.stringify([start, vc]);
    // Code of the reader's may have changed anything in its worker, and a run for another source may go on for long.
    if (about !== this.about) this.end();
    this.about = about;
    this.count += 1;
    this.told = told;
    this.hand ??= new Hand(
      this.module,
      (message) => this.hear(message),
      ({ message }) => this.failed(message),
    );
    this.hand.say({ kind: "explain", ask: this.count, start, vc, at_s });
    this.hasCode = start.algorithm !== null;
    this.expect();
  }

  /** Ends the worker; it is there again with the next question. */
  end(): void {
    clearTimeout(this.patience);
    this.hand?.end();
    this.hand = null;
    this.about = "";
    this.told = () => {};
  }

  private expect(): void {
    clearTimeout(this.patience);
    if (!this.hasCode) return;
    this.patience = window.setTimeout(() => this.failed("the algorithm has not come back for 5 s, and was ended"), PATIENCE_MS);
  }

  private hear(message: FromWorker): void {
    if (message.kind === "failed") this.failed(message.fault.message);
    if (message.kind !== "explained" || message.ask !== this.count) return;
    clearTimeout(this.patience);
    if (message.fault) this.failed(message.fault.message);
    else if (message.done < 1) {
      this.told({ done: message.done });
      this.expect();
    } else this.told({ lines: message.lines.map(String) });
  }

  private failed(fault: string): void {
    const { told } = this;
    this.end();
    told({ fault });
  }
}
