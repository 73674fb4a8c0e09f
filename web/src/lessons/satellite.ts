// A satellite hop: CRM and TBE.

import type { Lesson } from "./lesson";
import { dumbbell } from "./networks";

const scenario = dumbbell({
  name: "satellite-hop",
  duration: "6 s",
  count: 2,
  head: `[defaults.link]
rate = "149.76 Mbps"
length = "1 km"

[defaults.abr]
icr = "20 Mbps"
rif = 1
cdf = "1/16"
tbe = "65536 cells"

[defaults.switch]
algorithm = { type = "erica", target_utilization = "90 %", interval = "5 ms" }
`,
  middle: 'delay = "275 ms"\n',
  probes: '[[probe]]\nrecord = ["acr", "received"]\nevery = "10 ms"\n\n[[probe]]\nrecord = ["queue", "utilization"]\nof = ["sw1->sw2"]\nevery = "10 ms"\n',
});

export const satellite: Lesson = {
  id: "satellite",
  title: "Satellite: CRM and TBE",
  about: "Feedback that is half a second old, and sources that may not wait for it.",
  steps: [
    {
      title: "half a second",
      text: [
        "A geostationary hop takes 275 ms one way. A source hears of the network 550 ms after it has asked. For all that time it sends at ICR, here 20 Mbps, and then takes what it is told.",
        "The line stays empty for the first half second, and nothing can change that but a higher ICR.",
      ],
      scenario,
      sliders: ["defaults.abr.icr", "link.sw1-sw2.delay"],
      questions: [
        {
          question: "How many cells are on the way at 67 Mbps each, both directions of the hop together?",
          answer: ["Two sources of 67 Mbps are some 318,000 cells/s; 275 ms of that are 87,000 cells on the line to the receivers alone. RM cells come back in the other direction, one in 32."],
        },
      ],
    },
    {
      title: "rule 6: the source that hears nothing",
      text: [
        "What if the way is broken? Rule 6 of the standard: when a source has sent CRM forward RM cells and none has come back, it lowers ACR by CDF times ACR with each further one. CRM follows from TBE, the transient buffer exposure: TBE / Nrm, rounded up.",
        "TBE is what a source may send before anything comes back. In the set-up of a connection the switches lower it to what their buffers hold.",
      ],
      scenario,
      sliders: ["defaults.abr.tbe", "defaults.abr.icr"],
      tries: [
        { label: "TBE = 1024 cells", settings: [["defaults.abr.tbe", "1024 cells"]] },
        { label: "TBE = 8192 cells", settings: [["defaults.abr.tbe", "8192 cells"]] },
        { label: "TBE = 65536 cells", settings: [] },
      ],
      questions: [
        {
          question: "With TBE = 1024 cells, when does ACR begin to fall, and why?",
          answer: ["CRM is 32 then. At 20 Mbps, 47,170 cells/s, 32 RM cells have left after 1024 cells, 22 ms. The first answer comes after 550 ms. Until then every further RM cell costs a sixteenth of ACR, though nothing is wrong."],
        },
        {
          question: "How large has TBE to be so that rule 6 never acts in the first round trip?",
          answer: ["ICR times the round trip: 47,170 cells/s for 0.55 s, so 26,000 cells. With 32,768 or more nothing is cut; with 8192 there are cuts."],
        },
      ],
    },
    {
      title: "CRM by itself",
      text: ["A scenario may give CRM directly. Early drafts of the standard had it fixed at 32 whatever the way: for satellites it was then raised."],
      scenario,
      settings: [["defaults.abr.crm", "32"]],
      sliders: ["defaults.abr.crm", "defaults.abr.cdf"],
      tries: [
        { label: "CRM = 32", settings: [["defaults.abr.crm", "32"]] },
        { label: "CRM = 6144", settings: [["defaults.abr.crm", "6144"]] },
      ],
      questions: [
        {
          question: "With CRM = 32 ACR falls again and again, not at the start alone. Why?",
          answer: ["At 67 Mbps a source sends some 2,700 RM cells in a round trip, so far more than 32 of them are always without an answer between two that come back in a burst. What rule 6 takes, the next answer gives back, because RIF is 1."],
        },
      ],
    },
  ],
};
