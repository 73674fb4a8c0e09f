// All lessons, a lecturer's own before the others, in the order in which they are meant to be read.

import { abr } from "./abr";
import { erica } from "./erica";
import type { Lesson } from "./lesson";
import { parameters } from "./parameters";
import { rcp } from "./rcp";
import { satellite } from "./satellite";
import { tcp } from "./tcp";
import { uili } from "./uili";
import { told } from "../told";

const BUILT_IN = [abr, parameters, erica, rcp, satellite, uili, tcp];

export const LESSONS: Lesson[] = [...told.lessons, ...BUILT_IN.filter(({ id }) => !told.lessons.some((own) => own.id === id))];
