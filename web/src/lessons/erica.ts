// ERICA and its target.

import type { Lesson } from "./lesson";
import { dumbbell } from "./networks";

const five = (name: string, algorithm: string, rest = ""): string =>
  dumbbell({
    name,
    duration: "300 ms",
    count: 5,
    head: `[defaults.link]
rate = "149.76 Mbps"
length = "100 km"

[defaults.abr]
icr = "10 Mbps"

[defaults.switch]
algorithm = { ${algorithm} }
${rest}`,
  });

export const erica: Lesson = {
  id: "erica",
  title: "ERICA and its target",
  about: "A switch that computes rates: load factor, fair share, and the tenth that it leaves free.",
  steps: [
    {
      title: "load and share",
      text: [
        "ERICA measures for an interval, here 1 ms: how many ABR cells came, and from how many connections. The load factor z is the rate that came over the target, a share of the line. The fair share is the target over the number of active connections. A backward RM cell gets the larger of the fair share and CCR / z, CCR being the rate that the source had said it sends at.",
        "So where all send too much, z is above 1 and everybody is divided by it; and nobody is held below the fair share.",
      ],
      scenario: five("erica", 'type = "erica", target_utilization = "90 %", interval = "1 ms"'),
      sliders: ["defaults.switch.algorithm.target_utilization"],
      questions: [
        {
          question: "Five sources start at 10 Mbps each. What is the first z that ERICA measures with cells of all of them?",
          answer: ["50 Mbps over 134.8, about 0.37. So CCR / z is 27 Mbps, which is also the fair share, 134.8 / 5: they are told the right rate at once, and only RIF makes the climb slower."],
        },
        {
          question: "Set the target to 99 %. What becomes of the queue that was built at the start?",
          answer: ["It stays, for nothing is left to drain it: the mean queue is some 100 cells instead of 3. A target below 100 % is a promise that queues end."],
        },
      ],
    },
    {
      title: "the interval",
      text: ["A short interval reacts soon, but counts few cells: z jumps, and a connection that is slower than one cell per interval is not seen as active. A long one is smooth and late."],
      scenario: five("interval", 'type = "erica", target_utilization = "90 %", interval = "1 ms"'),
      sliders: ["defaults.switch.algorithm.interval", "defaults.switch.algorithm.target_utilization"],
      tries: [
        { label: "100 us", settings: [["defaults.switch.algorithm.interval", "100 us"]] },
        { label: "1 ms", settings: [] },
        { label: "10 ms", settings: [["defaults.switch.algorithm.interval", "10 ms"]] },
      ],
      questions: [
        {
          question: "With 10 ms the queue reaches some 8,000 cells at the start. Where do they come from?",
          answer: ["For 10 ms nobody tells the sources to stop rising. ERICA does not know yet that there are five, each climbs towards the whole target, and the news comes with the end of the interval."],
        },
      ],
    },
    {
      title: "your own",
      text: [
        "Open Own switch algorithm below the sliders: it has a small ERICA in some twenty lines of JavaScript. Use it, and compare with the one built in: press Compare first.",
        "Then change it. Give everybody the fair share alone; or leave the division by the load out; or let the target depend on the queue, as ERICA+ does.",
      ],
      scenario: five("own", 'type = "erica", target_utilization = "90 %", interval = "1 ms"'),
      sliders: ["defaults.link.length", "defaults.abr.rif"],
      tries: [{ label: "ERICA+, the built-in one", settings: [["defaults.switch.algorithm", '{ type = "erica+", interval = "1 ms" }']] }],
      questions: [
        {
          question: "When is the fair share alone not enough?",
          answer: ["Where a connection is held below it elsewhere. What it leaves must go to the others, and only CCR / z gives it to them: z stays below 1 until the line is full. Run the scenario parking-lot of the lab with both."],
        },
      ],
    },
  ],
};
