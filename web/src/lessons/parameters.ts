// Nrm, RIF and RDF: how often a source asks, and how far it moves.

import type { Lesson } from "./lesson";
import { dumbbell, vc } from "./networks";

const explicit = dumbbell({
  name: "nrm",
  duration: "300 ms",
  count: 2,
  head: `[defaults.link]
rate = "149.76 Mbps"
length = "100 km"

[defaults.abr]
icr = "10 Mbps"
nrm = 32
rif = "1/16"

[defaults.switch]
algorithm = { type = "erica", target_utilization = "90 %", interval = "1 ms" }
`,
  vcs: vc(1, "") + "\n" + vc(2, 'traffic = { start = "100 ms", end = "200 ms" }'),
});
const relative = dumbbell({
  name: "rif-and-rdf",
  duration: "300 ms",
  count: 2,
  head: `[defaults.link]
rate = "149.76 Mbps"
length = "100 km"

[defaults.abr]
icr = "10 Mbps"
rif = "1/16"
rdf = "1/16"

[defaults.switch]
algorithm = { type = "relative-rate", threshold = "250 cells" }
`,
});

export const parameters: Lesson = {
  id: "nrm-rif-rdf",
  title: "Nrm, RIF and RDF",
  about: "How often a source asks, how fast it rises and how fast it falls.",
  steps: [
    {
      title: "Nrm, the price of an answer",
      text: [
        "Every Nrm-th cell of a source is an RM cell. A small Nrm asks often: sources learn of a change sooner, and RIF is applied more often. But RM cells carry no data.",
        "The network is that of the first lesson. Move Nrm and watch the climb of `vc1` at the beginning, and Mbps in the table.",
      ],
      scenario: explicit,
      sliders: ["defaults.abr.nrm"],
      tries: [
        { label: "Nrm = 8", settings: [["defaults.abr.nrm", "8"]] },
        { label: "Nrm = 32, the default", settings: [] },
        { label: "Nrm = 256", settings: [["defaults.abr.nrm", "256"]] },
      ],
      questions: [
        {
          question: "With Nrm = 256 less is lost to RM cells, and yet vc1 delivers less than with 32. Why?",
          answer: ["It climbs more slowly: one answer in 256 cells, and each answer raises ACR by 1/16 of PCR at most. Over 300 ms it delivers some 104 Mbps instead of 106. In a run of minutes the smaller overhead would win."],
        },
        {
          question: "What happens with Nrm = 2?",
          answer: ["Every other cell of a source is a forward RM cell, and the backward RM cells of its own answers take nearly all other places: below 1 Mbps of data is delivered. The standard allows 2; nobody should use it."],
        },
      ],
    },
    {
      title: "RIF, how fast a source rises",
      text: [
        "This switch computes no rates. Where its ABR queue is 250 cells or more it sets CI and NI in RM cells that pass: the source then lowers ACR by RDF times ACR; else it raises ACR by RIF times PCR. So rates swing, and the queue with them.",
      ],
      scenario: relative,
      sliders: ["defaults.abr.rif", "defaults.link.length"],
      tries: [
        { label: "RIF = 1/1024", settings: [["defaults.abr.rif", "1/1024"]] },
        { label: "RIF = 1/64", settings: [["defaults.abr.rif", "1/64"]] },
        { label: "RIF = 1/16", settings: [] },
      ],
      questions: [
        {
          question: "With RIF = 1/1024 the queue is short. What does that cost?",
          answer: ["The line is half empty: some 55 % are used in these 300 ms, because the sources never climb in time. With 1/64 it is 86 % and the longest queue 600 cells, with 1/16 it is 93 % and 970 cells."],
        },
        {
          question: "Why does a longer line make the swing wider?",
          answer: ["The sources keep on rising for as long as the news takes. The queue that grows in the meantime is about the excess times the round trip: twice as long, twice as wide."],
        },
      ],
    },
    {
      title: "RDF, how fast it falls",
      text: ["Now the other half: ACR falls by RDF times ACR with each RM cell that comes back with CI. RIF stays 1/16."],
      scenario: relative,
      sliders: ["defaults.abr.rdf", "defaults.abr.rif"],
      tries: [
        { label: "RDF = 1/2", settings: [["defaults.abr.rdf", "1/2"]] },
        { label: "RDF = 1/16", settings: [] },
        { label: "RDF = 1/256", settings: [["defaults.abr.rdf", "1/256"]] },
      ],
      questions: [
        {
          question: "RDF = 1/256 fills the line to 98 %. Is it the best?",
          answer: ["Its queue reaches some 5,700 cells, six times that of 1/16: 16 ms of waiting for everybody. RDF = 1/2 has the shortest queue of the three and uses 84 %. Between them you choose delay or throughput; explicit rates, in the next lesson, need not choose so hard."],
        },
      ],
    },
  ],
};
