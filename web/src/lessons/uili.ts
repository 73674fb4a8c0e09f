// Use it or lose it: rates that nobody uses.

import type { Lesson } from "./lesson";
import { dumbbell, vc } from "./networks";

const scenario = dumbbell({
  name: "use-it-or-lose-it",
  duration: "500 ms",
  count: 5,
  head: `[defaults.link]
rate = "155.52 Mbps"
length = "500 km"

[defaults.abr]
icr = "10 Mbps"
rif = 1
adtf = "500 ms"

[defaults.switch]
algorithm = { type = "erica", target_utilization = "90 %", interval = "1 ms" }
`,
  vcs: [1, 2, 3, 4, 5].map((number) => vc(number, `traffic = { type = "timed", cells = [["${(number - 1) * 40} ms", 9000], ["400 ms", 3000]] }`)).join("\n"),
});

export const uili: Lesson = {
  id: "use-it-or-lose-it",
  title: "Use it or lose it",
  about: "Five sources that were each given the line, and then all send at once.",
  steps: [
    {
      title: "a rate in the pocket",
      text: [
        "Each of five sources has 9,000 cells to send, one source after the other: alone on the line each is given nearly all of it. Then all are idle. At 400 ms each has 3,000 cells more to send, all of them at once.",
        "What a source was allowed when it fell silent it still holds. Five times 140 Mbps meet on a line of 155.",
      ],
      scenario,
      sliders: ["defaults.abr.adtf", "defaults.link.length"],
      questions: [
        {
          question: "The queue reaches 12,000 cells. How many of the 15,000 cells of the bursts are that?",
          answer: ["Four fifths: what the line carries while the bursts arrive is all that does not wait. The feedback comes when the bursts are over."],
        },
        {
          question: "Rule 5 of the standard resets ACR to ICR after a time without RM cells, ADTF, 500 ms by default. Which ADTF would help here?",
          answer: ["The first source is idle from some 30 ms, the last from some 190 ms to 400 ms. With 190 ms or less all fall back to ICR before the second bursts, and no more than 5 cells ever wait. With 200 ms the last source still holds its rate: some 6,300. Move ADTF and see."],
        },
      ],
    },
    {
      title: "policies of 1995",
      text: [
        "Should a source keep what it does not use? The ATM Forum argued about it through 1995: keeping it helps bursts, losing it protects the network. Several policies were proposed, and the scenario key `uili` has them all.",
      ],
      scenario,
      sliders: ["defaults.abr.adtf"],
      tries: [
        { label: "none beyond rule 5", settings: [] },
        { label: "february-1995: ACR falls while nothing comes back", settings: [["defaults.abr.uili", "february-1995"]] },
        { label: "count-based", settings: [["defaults.abr.uili", "count-based"]] },
        { label: "time-based", settings: [["defaults.abr.uili", "time-based"]] },
        { label: "joint, the informative appendix I.8 of TM 4.0", settings: [["defaults.abr.uili", "joint"]] },
      ],
      questions: [
        {
          question: "Which of them shortens the queue of the second bursts most?",
          answer: ["The one of February 1995: its longest queue is some 4,900 cells. The others act when an RM cell is sent, and compare ACR with what was used: by the time they have seen it, these bursts are over. Their longest queues are 11,500 to 12,000 cells."],
        },
      ],
    },
    {
      title: "who pays",
      text: ["The other side: a source that loses its rate has to ask for it anew with every burst. Look at the p99 delay in the table, and at when the last cells of the first bursts arrive."],
      scenario,
      settings: [["defaults.abr.adtf", "20 ms"]],
      sliders: ["defaults.abr.adtf", "defaults.abr.icr", "defaults.link.length"],
      questions: [
        {
          question: "With ADTF = 20 ms the queue is gone. Have the bursts become slower?",
          answer: ["Each begins at ICR again and waits a round trip, 15 ms, before it may send faster. Where bursts are shorter than a round trip the whole burst goes at ICR. Raise ICR and you have both: it is the rate that may come without being asked for."],
        },
      ],
    },
  ],
};
