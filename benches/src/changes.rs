//! The table of changes: the network of W1 with one thing changed at a time.
//!
//! A workload says how fast the kernel is on its best day; these say how much one step beside it costs.

use crate::networks::{BASE_NETWORK, CBR, Network, RATES, Text};
use crate::workloads::Workload;

/// The network without a change, which the others are compared to.
pub const BASE: &Workload = &CHANGES[0];

/// The networks of the table, in its order.
pub const CHANGES: &[Workload] = &[
    change("A0", "nothing: 15 greedy ABR sources, ERICA, 5 ms links", [4000, 400], BASE_NETWORK),
    change("A1", "access links of 15 rates", [2000, 400], Network { access: RATES, ..BASE_NETWORK }),
    change("A2", "every link 10 us", [2000, 200], Network { delay: "10 us", ..BASE_NETWORK }),
    change(
        "A3",
        "every link 0 us, access links of 15 rates",
        [2000, 200],
        Network { delay: "0 us", access: RATES, ..BASE_NETWORK },
    ),
    change(
        "A4",
        "100 sources of 100 rates",
        [2000, 200],
        Network { sources: 100, access: RATES, ..BASE_NETWORK },
    ),
    change(
        "A5",
        "1,000 sources of 1,000 rates, 622.08 Mbps",
        [400, 100],
        Network { sources: 1000, rate: "622.08 Mbps", access: RATES, ..BASE_NETWORK },
    ),
    change(
        "A6",
        "50 switches, 10 us links",
        [200, 40],
        Network { switches: 50, delay: "10 us", ..BASE_NETWORK },
    ),
    change(
        "A7",
        "50 switches, 1 ms links",
        [300, 100],
        Network { switches: 50, delay: "1 ms", ..BASE_NETWORK },
    ),
    change("A8", "9 VBR sources on and off above", [2000, 200], Network { more: VBR, ..BASE_NETWORK }),
    change(
        "A9",
        "EFCI from 100 to 50 cells, no ERICA",
        [2000, 200],
        Network { switch: EFCI, ..BASE_NETWORK },
    ),
    change("A10", "Nrm 8", [2000, 200], Network { abr: "nrm = 8", ..BASE_NETWORK }),
    change("A11", "Nrm 4", [1000, 100], Network { abr: "nrm = 4", ..BASE_NETWORK }),
    change("A12", "Nrm 2", [400, 100], Network { abr: "nrm = 2", ..BASE_NETWORK }),
    change("A13", "on/off sources", [2000, 200], Network { vc: ON_OFF, ..BASE_NETWORK }),
    change(
        "A14",
        "one host with all VCs, ICR = PCR",
        [1000, 200],
        Network { one_host: true, ..BASE_NETWORK },
    ),
    change(
        "A15",
        "one host with all VCs, ICR 5 Mbps",
        [1000, 200],
        Network { one_host: true, abr: "icr = \"5 Mbps\"", ..BASE_NETWORK },
    ),
    change(
        "A16",
        "virtual sources and destinations at both switches",
        [400, 100],
        Network { switch: VS_VD, ..BASE_NETWORK },
    ),
    change(
        "A17",
        "ACR and queues at every change",
        [400, 100],
        Network { more: CHANGES_RECORDED, ..BASE_NETWORK },
    ),
    change(
        "A18",
        "ACR, queue and utilization every 1 ms",
        [2000, 400],
        Network { more: EVERY_1_MS, ..BASE_NETWORK },
    ),
    change(
        "A19",
        "ACR, queue and utilization every 100 us",
        [1000, 100],
        Network { more: EVERY_100_US, ..BASE_NETWORK },
    ),
    change(
        "A20",
        "ACR, queue and utilization every 10 us",
        [200, 20],
        Network { more: EVERY_10_US, ..BASE_NETWORK },
    ),
    change(
        "A21",
        "TCP over UBR, 1,000 cells, early packet discard",
        [1000, 100],
        Network { switch: EARLY_DISCARD, vc: TCP_OVER_UBR, ..BASE_NETWORK },
    ),
    change("A22", "requests and responses", [1000, 200], Network { vc: REQUESTS, ..BASE_NETWORK }),
    change("A23", "BECN above 100 cells, no ERICA", [400, 100], Network { switch: BECN, ..BASE_NETWORK }),
    change("A24", "RM cells first", [400, 100], Network { switch: RM_FIRST, ..BASE_NETWORK }),
    change(
        "A25",
        "one cell in 10,000 lost between the switches",
        [2000, 200],
        Network { trunk: "loss = 0.0001", ..BASE_NETWORK },
    ),
    change("A26", "15 CBR sources, 15 rates", [4000, 400], Network { vc: CBR, ..BASE_NETWORK }),
    change(
        "A27",
        "15 CBR sources, 15 rates, every link 10 us",
        [2000, 200],
        Network { delay: "10 us", vc: CBR, ..BASE_NETWORK },
    ),
    change(
        "A28",
        "1,500 CBR sources, 1,500 rates",
        [2000, 200],
        Network { sources: 1500, vc: CBR, ..BASE_NETWORK },
    ),
    change("A29", "every link 100 us", [2000, 200], Network { delay: "100 us", ..BASE_NETWORK }),
    change("A30", "every link 250 us", [2000, 200], Network { delay: "250 us", ..BASE_NETWORK }),
    change(
        "A31",
        "sources of 8 Mbps, below their shares",
        [2000, 200],
        Network { vc: LIMITED, ..BASE_NETWORK },
    ),
    change(
        "A32",
        "ERICA with an interval of 0.1 ms",
        [1000, 100],
        Network { switch: SHORT_INTERVALS, ..BASE_NETWORK },
    ),
    change(
        "A33",
        "EFCI from 100 to 50 cells, RIF and RDF 1/512",
        [2000, 200],
        Network { switch: EFCI, abr: "rif = \"1/512\"\nrdf = \"1/512\"", ..BASE_NETWORK },
    ),
    change(
        "A34",
        "15,000 CBR sources, 15,000 rates",
        [1000, 100],
        Network { sources: 15_000, vc: CBR, ..BASE_NETWORK },
    ),
];

const fn change(
    name: &'static str,
    what: &'static str,
    [full_ms, counted_ms]: [u64; 2],
    network: Network,
) -> Workload {
    Workload { name, what, full_ms, counted_ms, text: Text::Changed(network) }
}

const EFCI: &str = r#"efci = { high = "100 cells", low = "50 cells" }"#;
const BECN: &str = "efci = { high = \"100 cells\" }\nbecn = { threshold = \"100 cells\" }";
const VS_VD: &str =
    "algorithm = { type = \"erica\", target_utilization = \"90 %\", interval = \"5 ms\" }\nvs_vd = {}";
const RM_FIRST: &str = "algorithm = { type = \"erica\", target_utilization = \"90 %\", interval = \"5 ms\" }\nrm_cells = \"first\"";
const EARLY_DISCARD: &str =
    "buffers = { ubr = \"1000 cells\" }\nframe_discard = { type = \"early\", threshold = \"800 cells\" }";
const LIMITED: &str = r#"traffic = { type = "limited", rate = "8 Mbps" }"#;
const SHORT_INTERVALS: &str =
    r#"algorithm = { type = "erica", target_utilization = "90 %", interval = "0.1 ms" }"#;
const ON_OFF: &str = r#"traffic = { type = "on-off", rate = "60 Mbps", on = { exponential = "2 ms" }, off = { exponential = "10 ms" } }"#;
const TCP_OVER_UBR: &str =
    "category = \"ubr\"\ntraffic = { type = \"tcp\", mss = \"512 octets\", window = \"256 KiB\" }";
const REQUESTS: &str =
    r#"traffic = { type = "request-response", response = "256 cells", cycle_gap = "1 ms" }"#;
const VBR: &str = r#"
[[host]]
name = "v{i}"
count = 9
[[link]]
between = ["v{i}", "sw1"]
count = 9
[[vc]]
name = "video{i}"
count = 9
category = "vbr"
path = ["v{i}", "sw1", "sw2", "d1"]
traffic = { type = "on-off", rate = "20 Mbps", on = { exponential = "3 ms" }, off = { exponential = "6 ms" } }
"#;
const CHANGES_RECORDED: &str = "[[probe]]\nrecord = [\"acr\", \"queue\"]\nevery = \"change\"\n";
const EVERY_1_MS: &str = "[[probe]]\nrecord = [\"acr\", \"queue\", \"utilization\"]\nevery = \"1 ms\"\n";
const EVERY_100_US: &str = "[[probe]]\nrecord = [\"acr\", \"queue\", \"utilization\"]\nevery = \"100 us\"\n";
const EVERY_10_US: &str = "[[probe]]\nrecord = [\"acr\", \"queue\", \"utilization\"]\nevery = \"10 us\"\n";
