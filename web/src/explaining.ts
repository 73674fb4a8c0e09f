// Why a source has its ACR, in a worker: the run is repeated as far as it is asked for, and goes on from there.

import { Explained } from "../pkg/cellrate_web.js";
import { maker } from "./algorithm";
import type { FromWorker, Question } from "./messages";
import { classes, fault, prepared } from "./preparing";

/** How long one step computes, about [ms]: newer questions are heard in between. */
const SLICE_MS = 50;

/** Answers one question at a time; a newer one takes its place. */
export class Explainer {
  private explained: Explained | null = null;
  /** As whose run and for which source it was begun. */
  private about = "";
  private question: Question | null = null;
  private stride = 1e-3;
  private readonly channel = new MessageChannel();

  constructor(private readonly tell: (message: FromWorker) => void) {
    // A timer of no time waits for 4 ms after a while; a message does not, and those of the page come before it.
    this.channel.port1.onmessage = () => this.goOn();
  }

  ask(question: Question): void {
    const goes = this.question !== null;
    this.question = question;
    if (!goes) this.soon();
  }

  private soon(): void {
    this.channel.port2.postMessage(null);
  }

  private begin({ start, vc, at_s }: Question): Explained {
    const about = JSON.stringify([start, vc]);
    if (this.explained && this.about === about && this.explained.covers(at_s)) return this.explained;
    this.end();
    const { setup } = prepared(start);
    try {
      this.explained = new Explained(setup, vc, start.algorithm ? (maker(classes(start.algorithm)) as never) : undefined);
    } finally {
      setup.free();
    }
    this.about = about;
    return this.explained;
  }

  private end(): void {
    this.explained?.free();
    this.explained = null;
  }

  private goOn(): void {
    const { question } = this;
    if (!question) return;
    const { ask, at_s } = question;
    try {
      const explained = this.begin(question);
      const began = performance.now();
      // An instant has been reached once nothing can come at it any more.
      while (!explained.reached(at_s) && performance.now() - began < SLICE_MS) {
        const before = performance.now();
        explained.advance(Math.min(at_s, explained.now + this.stride));
        const took = performance.now() - before;
        if (took < SLICE_MS / 4) this.stride *= 2;
        else if (took > SLICE_MS) this.stride /= 2;
      }
      if (explained.reached(at_s)) {
        this.question = null;
        this.tell({ kind: "explained", ask, lines: explained.words(at_s), done: 1, fault: null });
        return;
      }
      this.tell({ kind: "explained", ask, lines: [], done: explained.now / at_s, fault: null });
      this.soon();
    } catch (thrown) {
      this.question = null;
      this.end();
      this.tell({ kind: "explained", ask, lines: [], done: 1, fault: fault(thrown) });
    }
  }
}
