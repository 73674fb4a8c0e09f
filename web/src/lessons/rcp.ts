// From ERICA to RCP: explicit rates after ABR.

import type { Lesson } from "./lesson";
import { dumbbell } from "./networks";

const five = (name: string, algorithm: string): string =>
  dumbbell({
    name,
    duration: "400 ms",
    count: 5,
    head: `[defaults.link]
rate = "149.76 Mbps"
length = "1000 km"

[defaults.abr]
icr = "10 Mbps"
rif = 1

[defaults.switch]
algorithm = { ${algorithm} }
`,
  });

const ERICA = '{ type = "erica", target_utilization = "90 %", interval = "5 ms" }';

export const rcp: Lesson = {
  id: "rcp",
  title: "From ERICA to RCP",
  about: "Explicit rates came back: what ABR's heirs kept, and what a switch gains by knowing the round trip.",
  steps: [
    {
      title: "one number for all",
      text: [
        "ERICA keeps something for each connection: what it said it sends at. RCP (2005) keeps one rate R for the whole line. Packets carry the least R of their way back to the source, as RM cells carry ER here. The way is 30 ms long, there and back.",
        "Every 10 ms R is multiplied by 1 + (T / d) (alpha (C - y) - beta q / d) / C: y is what came per second, C the line, q the queue, d the mean round trip, T the interval. What is left of the line is handed out over a round trip, and a queue is taken back over one.",
      ],
      scenario: five("rcp", 'type = "rcp", alpha = 0.4, beta = 0.4'),
      sliders: ["defaults.switch.algorithm.alpha", "defaults.switch.algorithm.beta"],
      tries: [
        { label: "RCP", settings: [] },
        { label: "ERICA", settings: [["defaults.switch.algorithm", ERICA]] },
      ],
      questions: [
        {
          question: "ERICA has its fair rates within 100 ms, RCP after some 350. What does ERICA pay?",
          answer: ["A queue of some 7,500 cells, since it tells all at once what one interval showed, before the answer to the interval before has come back. RCP takes as many round trips as its gain needs, and the queue stays below 10 cells."],
        },
        {
          question: "Set alpha to 0.1. How much of the line is used?",
          answer: ["Some 39 % in this time: a tenth of what is left is handed out in each round trip."],
        },
      ],
    },
    {
      title: "the round trip",
      text: [
        "FECN (2008), by ERICA's own authors for Ethernet, keeps one rate, too, and divides it by the load over f(q), as ERICA+ does. It knows nothing of round trips: its interval of 1 ms is made for the cables of a hall.",
        "Here the loop is thirty intervals long. Compare it with RCP, which is told d when a connection is set up: ABR's signalling carries the fixed round-trip time.",
      ],
      scenario: five("round-trip", 'type = "fecn"'),
      sliders: ["defaults.link.length"],
      tries: [
        { label: "FECN", settings: [] },
        { label: "RCP", settings: [["defaults.switch.algorithm", '{ type = "rcp" }']] },
      ],
      questions: [
        {
          question: "What becomes of FECN's queue, and what of its rates?",
          answer: ["More than 100,000 cells, and rates that swing between a few Mb/s and the whole line: each of thirty intervals divides by a load that the ones before have answered already. With links of 100 km the queue is some 2,400 cells at most."],
        },
      ],
    },
    {
      title: "gains",
      text: ["A loop that knows its delay can say beforehand how large its gains may be. Published runs of RCP have alpha 0.4 and beta 0.4, or 0.1 and 1."],
      scenario: five("gains", 'type = "rcp", alpha = 0.4, beta = 0.4'),
      sliders: ["defaults.switch.algorithm.alpha", "defaults.switch.algorithm.beta", "defaults.link.length"],
      tries: [
        { label: "alpha 1.6", settings: [["defaults.switch.algorithm.alpha", "1.6"]] },
        { label: "alpha 0.4", settings: [] },
        { label: "without the queue", settings: [["defaults.switch.algorithm.beta", "0"]] },
      ],
      questions: [
        {
          question: "Four times the gain: what does it bring, and what does it cost?",
          answer: ["All have their rates after 60 ms, and the queue reaches some 1,000 cells. It is what ERICA does, less of it."],
        },
        {
          question: "Without the term of the queue nothing seems to change. When would it?",
          answer: ["When a queue is there: nothing takes it back then but a rate that is too small by chance. Whether the term helps or makes the loop less stable is argued about to this day."],
        },
      ],
    },
  ],
};
