// The network that the page opens with: so slow and short that each cell on its way is drawn.

import { dumbbell, vc } from "./lessons/networks";

/** Its name in the list of scenarios. */
export const FIRST = "first-look";

/** Ten Mbps over 100 km hold twelve cells; an RM cell goes with every eight. */
export const FIRST_TEXT = dumbbell({
  name: FIRST,
  duration: "40 ms",
  count: 2,
  head: `purpose = "Two sources share a slow line, so that each cell is seen: watch RM cells go to the receivers and come back with a rate."

[defaults.link]
rate = "10 Mbps"
length = "100 km"

[defaults.abr]
icr = "2 Mbps"
nrm = 8
rif = "1/4"

[defaults.switch]
algorithm = { type = "erica", target_utilization = "90 %", interval = "1 ms" }
`,
  vcs: vc(1, "") + "\n" + vc(2, 'traffic = { start = "8 ms", end = "25 ms" }'),
  probes: '[[probe]]\nrecord = ["acr"]\nevery = "200 us"\n\n[[probe]]\nrecord = ["queue", "utilization"]\nof = ["sw1->sw2"]\nevery = "200 us"\n',
});
