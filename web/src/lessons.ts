// Lessons beside the bench: text, a live network, questions with answers to unfold.

import * as answers from "./answers";
import { element, made } from "./format";
import type { Lab } from "./lab";
import { LESSONS } from "./lessons/index";
import type { Lesson, Step } from "./lessons/lesson";

/** The lessons of the page. */
export class Lessons {
  constructor(
    private readonly place: HTMLElement,
    private readonly work: HTMLElement,
    private readonly lab: Lab,
  ) {}

  /** Shows what lessons there are. */
  list(): void {
    this.show();
    element("write").before(element("parameters"));
    const list = made("ol", "list");
    for (const lesson of LESSONS) {
      const button = made("button");
      button.type = "button";
      button.append(made("strong", "", lesson.title), made("small", "", lesson.about));
      button.addEventListener("click", () => this.open(lesson.id));
      list.append(made("li").appendChild(button).parentElement!);
    }
    this.place.replaceChildren(made("h2", "", "Lessons"), made("p", "", "Each takes about ten minutes. The network beside the text is simulated while you read; move what you like."), list);
    if (answers.any(LESSONS)) this.place.append(answers.buttons(LESSONS, () => this.list()));
  }

  /** Opens a lesson at a step of it; whether there is one of this name. */
  open(id: string, step = 0): boolean {
    const lesson = LESSONS.find((one) => one.id === id);
    if (!lesson) return false;
    this.show();
    this.step(lesson, Math.min(step, lesson.steps.length - 1));
    return true;
  }

  /** Leaves the lessons. */
  close(): void {
    this.place.hidden = true;
    // Sliders go back to where they were.
    element("write").before(element("parameters"));
    this.work.classList.remove("reading");
    element("choice").querySelector<HTMLElement>(".choose")!.hidden = false;
    [element("to-lab").ariaPressed, element("to-lessons").ariaPressed] = ["true", "false"];
    if (location.hash.startsWith("#lesson")) history.replaceState(null, "", location.href.split("#")[0]);
  }

  private show(): void {
    this.place.hidden = false;
    this.work.classList.add("reading");
    element("choice").querySelector<HTMLElement>(".choose")!.hidden = true;
    [element("to-lab").ariaPressed, element("to-lessons").ariaPressed] = ["false", "true"];
  }

  private step(lesson: Lesson, number: number): void {
    const step = lesson.steps[number];
    const parts: HTMLElement[] = [made("h2", "", lesson.title), made("h3", "", `${number + 1} of ${lesson.steps.length}: ${step.title}`)];
    parts.push(...step.text.map((text) => marked("p", text)));
    const tries = made("div", "tries");
    for (const { label, settings } of step.tries ?? []) {
      const button = made("button", "try", label);
      button.type = "button";
      button.addEventListener("click", () => this.lab.set(settings, step.sliders));
      tries.append(button);
    }
    // What one moves stands under what one reads; panels stand at the right.
    if (step.tries?.length) parts.push(tries);
    parts.push(element("parameters"));
    const own = answers.buttons([lesson], () => this.step(lesson, number));
    const look = (): void => void (own.hidden = !answers.any([lesson]));
    step.questions.forEach(({ question, answer }, which) => {
      const unfold = made("details");
      unfold.append(marked("summary", question), ...answer.map((text) => marked("p", text)));
      parts.push(unfold, answers.field(lesson, number, which, look));
    });
    look();
    parts.push(own, this.steps(lesson, number));
    this.place.replaceChildren(...parts);
    this.place.scrollTop = 0;
    history.replaceState(null, "", `#lesson=${lesson.id}${number ? `.${number + 1}` : ""}`);
    this.run(lesson, step);
  }

  private steps(lesson: Lesson, number: number): HTMLElement {
    const row = made("div", "steps");
    const button = (text: string, does: () => void, on = true): void => {
      const one = made("button", "", text);
      one.type = "button";
      one.disabled = !on;
      one.addEventListener("click", does);
      row.append(one);
    };
    const after = LESSONS[LESSONS.indexOf(lesson) + 1];
    const go = (to: number): void => {
      this.step(lesson, to);
      this.place.querySelector<HTMLElement>("h3")!.tabIndex = -1;
      this.place.querySelector<HTMLElement>("h3")!.focus();
    };
    button("Back", () => go(number - 1), number > 0);
    if (number + 1 < lesson.steps.length) button("Next", () => go(number + 1));
    if (number + 1 === lesson.steps.length && after) button(`Next lesson: ${after.title}`, () => this.open(after.id));
    button("All lessons", () => this.list());
    if (number + 1 < lesson.steps.length) return row;
    const last = made("div");
    const own = made("p", "", "Now change it yourself: in the lab this network has all its parameters, its text, and a place for a switch algorithm of your own.");
    const go_on = made("button", after ? "" : "main", "Go on with this network in the lab");
    go_on.type = "button";
    go_on.addEventListener("click", () => {
      this.close();
      this.lab.onText(this.lab.shared);
      this.lab.resize();
    });
    last.append(row, own, go_on);
    return last;
  }

  private run(lesson: Lesson, step: Step): void {
    this.lab.open({ file: `${lesson.id}.toml`, text: step.scenario, point: 0, settings: step.settings ?? [], algorithm: null, sliders: step.sliders });
  }
}

/** A text in which `code` is marked as such. */
function marked<K extends "p" | "summary">(kind: K, text: string): HTMLElementTagNameMap[K] {
  const element = made(kind);
  text.split("`").forEach((part, place) => element.append(place % 2 ? made("code", "", part) : part));
  return element;
}
