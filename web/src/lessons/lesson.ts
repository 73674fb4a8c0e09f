// Parts of a lesson.

/** A lesson: a few steps. */
export interface Lesson {
  id: string;
  title: string;
  /** One sentence for the list. */
  about: string;
  steps: Step[];
}

/** A step: text, a network, things to try, questions. Code in texts stands between backticks. */
export interface Step {
  title: string;
  text: string[];
  scenario: string;
  settings?: [string, string][];
  /** The parameters that have sliders, by their paths. */
  sliders: string[];
  /** Buttons that set several parameters at once. */
  tries?: { label: string; settings: [string, string][] }[];
  questions: { question: string; answer: string[] }[];
}
