// Facts that the server of this page, or who wrote its files, has put into mode.js.

import type { Lesson } from "./lessons/lesson";

/** Facts about this copy of the page. */
interface PageFacts {
  /** Lessons of the lecturer's own. */
  lessons: Lesson[];
  /** Fragment of an address that the page opens with where its own has none. */
  start: string;
  /** Addresses by which other machines reach it. */
  served: string[];
}

export const told: PageFacts = { lessons: [], start: "", served: [], ...(globalThis as { cellrateTold?: Partial<PageFacts> }).cellrateTold };
