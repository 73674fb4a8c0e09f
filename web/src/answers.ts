// What a student answers in the lessons: kept by the browser, taken along as a file.

import { saved } from "./export";
import { made } from "./format";
import type { Lesson } from "./lessons/lesson";

const KEPT = "cellrate answers";
/** Longest answer [characters]: a page of text. */
const LONGEST = 4000;

/** Answers by lesson, step and question, as "erica 0 1". */
type Answers = Record<string, string>;

let answers: Answers = read();

function read(): Answers {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    const texts = Object.entries(kept ?? {}).filter((one): one is [string, string] => typeof one[1] === "string");
    return Object.fromEntries(texts.map(([place, text]) => [place, text.slice(0, LONGEST)]));
  } catch {
    // No storage here, or something else in it: answers last as long as the page.
    return {};
  }
}

function keep(): void {
  try {
    if (Object.keys(answers).length) localStorage.setItem(KEPT, JSON.stringify(answers));
    else localStorage.removeItem(KEPT);
  } catch {
    // They can still be saved as a file.
  }
}

function place(lesson: Lesson, step: number, question: number): string {
  return `${lesson.id} ${step} ${question}`;
}

/** A field for the answer to a question; `changed` is called as one writes. */
export function field(lesson: Lesson, step: number, question: number, changed: () => void): HTMLElement {
  const own = made("textarea", "answer");
  own.rows = 2;
  own.maxLength = LONGEST;
  own.placeholder = "Your answer, before you look";
  own.ariaLabel = `Your answer: ${lesson.steps[step].questions[question].question}`;
  own.value = answers[place(lesson, step, question)] ?? "";
  own.addEventListener("input", () => {
    if (own.value.trim()) answers[place(lesson, step, question)] = own.value;
    else delete answers[place(lesson, step, question)];
    keep();
    changed();
  });
  return own;
}

/** Answers to these lessons in Markdown, with their questions; empty where there is none. */
export function text(lessons: readonly Lesson[], date: Date): string {
  const parts: string[] = [];
  for (const lesson of lessons) {
    const found = lesson.steps.flatMap((step, number) =>
      step.questions.flatMap(({ question }, which) => {
        const answer = answers[place(lesson, number, which)];
        if (!answer) return [];
        // A quotation: nothing that one writes becomes a heading or a question of the file.
        const lines = answer.trim().split(/\r?\n/).map((line) => `> ${line}`.trimEnd());
        return [`### ${number + 1}. ${step.title}\n\n${question}\n\n${lines.join("\n")}\n`];
      }),
    );
    if (found.length) parts.push(`## ${lesson.title}\n`, ...found);
  }
  return parts.length ? [`# Answers, ${date.toISOString().slice(0, 10)}\n`, ...parts].join("\n") : "";
}

/** Buttons that save the answers to these lessons as a file, and that forget them. `again` shows what has changed. */
export function buttons(lessons: readonly Lesson[], again: () => void): HTMLElement {
  const row = made("div", "answers");
  const button = (label: string, does: () => void): void => {
    const one = made("button", "", label);
    one.type = "button";
    one.addEventListener("click", does);
    row.append(one);
  };
  button("Save my answers", () => saved.text(lessons.length === 1 ? `${lessons[0].id}-answers.md` : "answers.md", text(lessons, new Date())));
  button("Forget them", () => {
    const own = new Set(lessons.map(({ id }) => id));
    answers = Object.fromEntries(Object.entries(answers).filter(([where]) => !own.has(where.split(" ")[0])));
    keep();
    again();
  });
  return row;
}

/** Whether there is an answer to one of these lessons. */
export function any(lessons: readonly Lesson[]): boolean {
  return text(lessons, new Date()) !== "";
}
