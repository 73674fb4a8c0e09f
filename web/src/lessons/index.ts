// All lessons, in the order in which they are meant to be read.

import { abr } from "./abr";
import { erica } from "./erica";
import type { Lesson } from "./lesson";
import { parameters } from "./parameters";
import { satellite } from "./satellite";
import { tcp } from "./tcp";
import { uili } from "./uili";

export const LESSONS: Lesson[] = [abr, parameters, erica, satellite, uili, tcp];
