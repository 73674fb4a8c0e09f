// Lesson on ABR: sources that ask, switches that answer.

import type { Lesson } from "./lesson";
import { dumbbell, vc } from "./networks";

const head = `[defaults.link]
rate = "149.76 Mbps"
length = "100 km"

[defaults.abr]
icr = "10 Mbps"

[defaults.switch]
algorithm = { type = "erica", target_utilization = "90 %", interval = "1 ms" }
`;
const scenario = dumbbell({
  name: "what-abr-is",
  duration: "300 ms",
  count: 2,
  head,
  vcs: vc(1, "") + "\n" + vc(2, 'traffic = { start = "100 ms", end = "200 ms" }'),
});

export const abr: Lesson = {
  id: "abr",
  title: "What ABR is",
  about: "Two sources share a line, and the network tells each how fast it may send.",
  steps: [
    {
      title: "a rate that the network gives",
      text: [
        "A source of the available bit rate service (ABR) may send at its allowed cell rate, ACR, and no faster. It starts at ICR, here 10 Mbps. After every 31 data cells it sends a resource management cell, RM for short. The RM cell goes through all switches to the receiver, which turns it around; on its way back each switch may lower the explicit rate, ER, in it. When it is back, the source sets its ACR.",
        "In this network `vc1` always has data to send, `vc2` from 100 ms to 200 ms only. Both cross the line from `sw1` to `sw2`. The upper panel shows both ACRs; dashed is what each should get while both are active: the max-min fair rate.",
      ],
      scenario,
      sliders: ["defaults.abr.icr", "defaults.abr.rif"],
      questions: [
        {
          question: "While both send, each has about half the line. Why not the whole half?",
          answer: ["The switches hand out 90 % of the line, so 134.8 of 149.76 Mbps, and each gets 67.4. The tenth that is left drains queues. Lesson 3 moves that figure."],
        },
        {
          question: "Alone, vc1 does not jump to 134 Mbps but climbs. What makes it climb faster?",
          answer: ["With each RM cell that comes back ACR may rise by RIF times PCR, the peak cell rate; RIF is 1/16 by default. With RIF = 1 a source takes at once whatever ER allows. Move RIF to 1 and see; move it to 1/1024, and the climb takes 250 of the 300 ms."],
        },
      ],
    },
    {
      title: "cells, one by one",
      text: [
        "Press Slow motion: time goes so slowly that you see single cells. Small dots are data cells; violet ones are forward RM cells, green ones backward RM cells.",
        "Between two RM cells of a source there are 31 data cells, however fast it sends: so a fast source asks more often. Point at a link to see its queue, how much of it is used and the ACRs of what crosses it.",
      ],
      scenario,
      sliders: ["defaults.link.length", "vc.vc2.traffic.start"],
      questions: [
        {
          question: "How long does a source take to learn that another one has begun?",
          answer: ["At least the way of an RM cell from the switch back to the source: here 100 km, so 0.5 ms, after the switch has noticed, which takes ERICA one or two of its intervals of 1 ms. Move the length of every link to 1000 km: the queue that grows in the meantime becomes twelve times as long, 1,350 cells instead of 110."],
        },
      ],
    },
    {
      title: "the figures",
      text: [
        "Below the panels are the tables that `cellrate run` prints: cells sent and delivered, throughput, mean ACR, the delay that 99 % of the cells do not exceed, and the longest queue.",
        "The throughput of `vc1` is less than its mean ACR. ACR counts all cells, RM cells included: one in 32 of them carries no data.",
      ],
      scenario,
      sliders: ["defaults.abr.nrm", "defaults.link.length"],
      questions: [
        {
          question: "What share of the cells are RM cells where Nrm is 8?",
          answer: ["One in eight, so 12.5 %. Move Nrm to 8 and compare Mbps with mean ACR. The next lesson asks what that buys."],
        },
        {
          question: "Is a cell ever lost here?",
          answer: ["No: dropped is 0. That is what ABR is for. The network says how much fits before it comes, instead of throwing away what does not."],
        },
      ],
    },
  ],
};
