// TCP over UBR and ABR, and phase effects.

import type { Lesson } from "./lesson";

const network = (name: string, rest: string): string => `name = "${name}"
duration = "20 s"

[defaults.link]
rate = "10 Mbps"
length = "200 km"

[defaults.switch]
algorithm = { type = "erica", target_utilization = "90 %", interval = "5 ms" }
buffers = { ubr = "100 cells" }

[[host]]
name = "s{i}"
count = 2

[[host]]
name = "d{i}"
count = 2

[[switch]]
name = "sw{i}"
count = 2

[[link]]
between = ["s{i}", "sw1"]
count = 2
rate = "100 Mbps"
length = ["1 km", "50 km"]

[[link]]
between = ["sw1", "sw2"]
length = "200 km"

[[link]]
between = ["sw2", "d{i}"]
count = 2
rate = "100 Mbps"
length = "1 km"

[[vc]]
name = "tcp{i}"
count = 2
${rest}path = ["s{i}", "sw1", "sw2", "d{i}"]
traffic = { type = "tcp" }

[[probe]]
record = ["cwnd", "received"]
every = "20 ms"

[[probe]]
record = ["queue"]
of = ["sw1->sw2"]
every = "20 ms"
`;

export const tcp: Lesson = {
  id: "tcp",
  title: "TCP over UBR and ABR",
  about: "Two TCP connections, one buffer, and who of them is lucky.",
  steps: [
    {
      title: "all or nothing",
      text: [
        "Two TCP connections share a line of 10 Mbps. The service is UBR: nobody says how fast to send, and what finds the buffer of 100 cells full is dropped. Both are alike, but for 49 km of the way.",
        "Look at the table of TCP below the panels.",
      ],
      scenario: network("tcp-over-ubr", 'category = "ubr"\n'),
      sliders: ["link.sw1-sw2.length", "defaults.switch.buffers.ubr"],
      questions: [
        {
          question: "One connection has nearly all, the other nearly nothing. Is the network unfair by rule?",
          answer: ["No, by phase. A cell that comes when the buffer has just become full is lost. Segments and acknowledgments of both run round and round in step, and it is always the same one that comes a moment too late. Floyd and Jacobson described it in 1991 for packets."],
        },
        {
          question: "Move the length of the line from 200 to about 210 km. Who wins now?",
          answer: ["The other one: 0.05 ms more of a way shifts the phase, and the luck changes sides. Where a result hangs on such a detail, one run says little: vary the detail, or add randomness, and look at many."],
        },
      ],
    },
    {
      title: "a larger buffer",
      text: ["The window of a TCP connection grows until something is lost, or until the receiver's window is full. With a buffer for both windows nothing is ever lost."],
      scenario: network("tcp-over-ubr", 'category = "ubr"\n'),
      sliders: ["defaults.switch.buffers.ubr", "link.sw1-sw2.length"],
      tries: [
        { label: "300 cells", settings: [["defaults.switch.buffers.ubr", "300 cells"]] },
        { label: "1000 cells", settings: [["defaults.switch.buffers.ubr", "1000 cells"]] },
        { label: "3000 cells", settings: [["defaults.switch.buffers.ubr", "3000 cells"]] },
      ],
      questions: [
        {
          question: "With 3,000 cells both have 4.3 Mbps. What does a cell wait?",
          answer: ["The queue stands at some 2,700 cells, for TCP fills what it is given: at 10 Mbps that are 115 ms, on a way that itself takes 1 ms."],
        },
      ],
    },
    {
      title: "the same over ABR",
      text: ["Now the two connections are ABR, and ERICA tells the sources how fast to send. What does not yet fit waits in the hosts, not in the network."],
      scenario: network("tcp-over-abr", ""),
      sliders: ["link.sw1-sw2.length", "defaults.switch.algorithm.target_utilization"],
      questions: [
        {
          question: "How long is the queue of the switch, and how fair is it?",
          answer: ["Some 60 cells at most, nothing is lost, and both have 3.74 Mbps whatever the length. 90 % of the line are handed out; raise the target and see both rise."],
        },
        {
          question: "Where have the 115 ms gone?",
          answer: ["To the hosts: TCP still fills its window, and what ACR does not let go waits in the adapter of the sender. The network is spared; the application waits as long. A host that knows its ACR could tell its TCP, and that is another story."],
        },
      ],
    },
  ],
};
