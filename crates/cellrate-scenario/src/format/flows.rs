//! The keys of flows and calls that come and go.

use cellrate_proto::declaration::{Key, Kind, Range, Shape, Tagged, key, required};

use super::{ABR_KEY, NAME, PEAK_KEY, SCR_DEFAULT};
use crate::keys::MAX_COLUMN;
use crate::keys::PERIOD;
use crate::keys::TIME_COLUMN_KEY;
use crate::keys::{OCTETS, POSITIVE_RATE, SPAN, TIME};
use crate::traffic::tcp::FLOW_TCP;

const GAP: &str = "Mean time from one to the next.";
const ALPHA_KEY: Key =
    key("alpha", Kind::Ratio(Range::above(1.0, 100.0)), "1.5", "Shape; up to 2 the variance is infinite.");
const SIGMA_KEY: Key = key(
    "sigma",
    Kind::Ratio(Range::above(0.0, 10.0)),
    "1",
    "Standard deviation of their natural logarithms.",
);

const COLUMN: Kind = Kind::Integer(1, MAX_COLUMN);
/// Where sizes are in a file, by default in this column.
const fn size_column(default: &'static str) -> Key {
    key(
        "column",
        COLUMN,
        default,
        "In which column sizes are; spaces, tabs, commas and semicolons are between columns.",
    )
}
const UNIT_KEY: Key = key(
    "unit",
    Kind::Choice(&["octets", "kB", "packets"]),
    "required with file",
    "Unit of sizes in the file; a packet is 1500 octets.",
);

const ARRIVALS: Tagged = Tagged {
    name: "arrivals",
    default: None,
    variants: &[
        (
            "poisson",
            Shape { name: "poisson", about: "A Poisson process.", keys: &[required("gap", SPAN, GAP)] },
        ),
        (
            "mmpp",
            Shape {
                name: "mmpp",
                about: "A Markov-modulated Poisson process of two states: a Poisson process whose rate is now the one, now the other.",
                keys: &[
                    required(
                        "gaps",
                        Kind::Pair(&SPAN, &SPAN),
                        "Mean time from one to the next, in each state.",
                    ),
                    required(
                        "stays",
                        Kind::Pair(&SPAN, &SPAN),
                        "Mean time in each state, exponentially distributed.",
                    ),
                ],
            },
        ),
        (
            "pareto",
            Shape {
                name: "pareto_gaps",
                about: "Times from one to the next that are Pareto distributed.",
                keys: &[required("gap", SPAN, GAP), ALPHA_KEY],
            },
        ),
        (
            "list",
            Shape {
                name: "list",
                about: "At given instants.",
                keys: &[required("instants", Kind::List(&TIME, 1), "The instants, in order.")],
            },
        ),
        (
            "trace",
            Shape {
                name: "flow_trace",
                about: "Flows of a trace, each with its instant, its hosts and its size; they go over the way with the fewest links. There are no `pairs` and no `size` beside it.",
                keys: &[
                    key(
                        "file",
                        Kind::Text,
                        "required: this or flows",
                        "A text file with a flow in each line, in order of time, as seen from the scenario's folder; lines without a digit, those that begin with # or %, and names of columns above the first are passed over. It is read with the scenario, and what is stored beside results has `flows` instead.",
                    ),
                    TIME_COLUMN_KEY,
                    key(
                        "time_unit",
                        Kind::Choice(&["s", "ms", "us", "ns"]),
                        "\"s\"",
                        "Unit of the instants in the file.",
                    ),
                    key("from_column", COLUMN, "2", "In which column the hosts are that send."),
                    key("to_column", COLUMN, "3", "In which column the hosts are that receive."),
                    size_column("4"),
                    UNIT_KEY,
                    key(
                        "prefix",
                        Kind::Text,
                        "\"\"",
                        "Comes before what the file has of a host's name: with \"h\" host h7 is 7 there.",
                    ),
                    key(
                        "flows",
                        Kind::List(
                            &Kind::Pair(
                                &Kind::Pair(&TIME, &OCTETS),
                                &Kind::Pair(&Kind::Reference, &Kind::Reference),
                            ),
                            1,
                        ),
                        "required: this or file",
                        "[[instant, size], [from, to]] of each themselves, in order.",
                    ),
                ],
            },
        ),
    ],
};

const HOLDING: Tagged = Tagged {
    name: "holding",
    default: Some("exponential"),
    variants: &[
        (
            "exponential",
            Shape {
                name: "exponential_holding",
                about: "Exponentially distributed.",
                keys: &[required("mean", SPAN, "The mean.")],
            },
        ),
        (
            "lognormal",
            Shape {
                name: "lognormal_holding",
                about: "Lognormally distributed.",
                keys: &[required("mean", SPAN, "The mean of the times themselves."), SIGMA_KEY],
            },
        ),
        (
            "pareto",
            Shape {
                name: "pareto_holding",
                about: "Pareto distributed.",
                keys: &[required("mean", SPAN, "The mean."), ALPHA_KEY],
            },
        ),
        (
            "fixed",
            Shape {
                name: "fixed_holding",
                about: "Always the same.",
                keys: &[required("time", SPAN, "How long.")],
            },
        ),
    ],
};

const CALL_TRAFFIC: Tagged = Tagged {
    name: "call",
    default: Some("greedy"),
    variants: &[
        (
            "greedy",
            Shape { name: "call_greedy", about: "Always more data, as fast as the sender may.", keys: &[] },
        ),
        (
            "constant",
            Shape {
                name: "call_constant",
                about: "One cell every 1/rate from the beginning of the call on; what the sender may not yet send waits.",
                keys: &[required("rate", POSITIVE_RATE, "Rate of data cells.")],
            },
        ),
        (
            "on-off",
            Shape {
                name: "call_on_off",
                about: "On and off by turns, beginning with on; as the traffic of this type of a vc.",
                keys: &[
                    required("rate", POSITIVE_RATE, "Rate of data cells while on."),
                    required("on", PERIOD, "How long it is on each time."),
                    required("off", PERIOD, "How long it is off each time."),
                ],
            },
        ),
    ],
};

/// Largest flow \[octets\].
pub(crate) const MOST_OCTETS: f64 = 1e12;

const SIZE: Tagged = Tagged {
    name: "size",
    default: None,
    variants: &[
        (
            "web-search",
            Shape {
                name: "web_search",
                about: "Flows of a web search cluster (DCTCP, SIGCOMM 2010), as in the tables of the HPCC simulator.",
                keys: &[],
            },
        ),
        (
            "data-mining",
            Shape {
                name: "data_mining",
                about: "Flows of a data mining cluster (VL2, SIGCOMM 2009), as in the tables of the HKUST traffic generator, a packet as 1500 octets.",
                keys: &[],
            },
        ),
        (
            "cache-follower",
            Shape {
                name: "cache_follower",
                about: "Flows of cache followers (Facebook, SIGCOMM 2015), as in the tables of the HKUST traffic generator, a packet as 1500 octets.",
                keys: &[],
            },
        ),
        (
            "hadoop",
            Shape {
                name: "hadoop",
                about: "Flows of a Hadoop cluster (Facebook, SIGCOMM 2015), as in the tables of the HPCC simulator.",
                keys: &[],
            },
        ),
        (
            "cdf",
            Shape {
                name: "cdf",
                about: "Straight lines between points of a cumulative distribution; a first share above 0 is that of flows of exactly the first size.",
                keys: &[
                    key(
                        "points",
                        Kind::List(&Kind::Pair(&OCTETS, &Kind::Ratio(Range::closed(0.0, 1.0))), 1),
                        "required: this or file",
                        "[size, share of flows up to it], in order; the last share is 1.",
                    ),
                    key(
                        "file",
                        Kind::Text,
                        "required: this or points",
                        "A text file with a point in each line, as such tables are published, as seen from the scenario's folder; lines without a digit, those that begin with # or %, and names of columns above the first are passed over. It is read with the scenario, and what is stored beside results has `points` instead.",
                    ),
                    size_column("1"),
                    key("share_column", COLUMN, "2", "In which column shares are."),
                    UNIT_KEY,
                    key(
                        "shares",
                        Kind::Choice(&["ratio", "percent"]),
                        "\"ratio\"",
                        "Whether the last share in the file is 1 or 100.",
                    ),
                ],
            },
        ),
        (
            "exponential",
            Shape {
                name: "exponential_size",
                about: "Exponentially distributed.",
                keys: &[required("mean", OCTETS, "The mean.")],
            },
        ),
        (
            "lognormal",
            Shape {
                name: "lognormal_size",
                about: "Lognormally distributed.",
                keys: &[required("mean", OCTETS, "The mean of the sizes themselves."), SIGMA_KEY],
            },
        ),
        (
            "pareto",
            Shape {
                name: "pareto_size",
                about: "Pareto distributed, up to a largest one.",
                keys: &[
                    required("least", OCTETS, "The smallest."),
                    key(
                        "alpha",
                        Kind::Ratio(Range::above(0.0, 100.0)),
                        "1.2",
                        "Shape; the smaller, the heavier the tail.",
                    ),
                    key("most", OCTETS, "\"1000 GB\"", "The largest."),
                ],
            },
        ),
        (
            "fixed",
            Shape {
                name: "fixed_size",
                about: "Always the same.",
                keys: &[required("octets", OCTETS, "How many.")],
            },
        ),
    ],
};

/// Most flows or calls between a pair at once.
pub(crate) const MOST_SLOTS: i64 = 65_536;

pub(super) const FLOWS: Shape = Shape {
    name: "flows",
    about: "Flows or calls that arrive one after the other, each between a pair of hosts that is drawn, and end. Each has a connection of its pair to itself while it lasts.",
    keys: &[
        NAME,
        key(
            "pairs",
            Kind::List(&Kind::List(&Kind::Reference, 2), 1),
            "required: this or among, but with a trace",
            "Pairs of hosts, [from, to], each over the way with the fewest links, of these the first in the order of the file; or whole paths.",
        ),
        key(
            "weights",
            Kind::List(&Kind::Ratio(Range::above(0.0, 1e9)), 1),
            "all alike",
            "How often each of `pairs` is drawn, against the others.",
        ),
        key(
            "among",
            Kind::List(&Kind::Reference, 2),
            "required: this or pairs",
            "Hosts: every ordered pair of them is one.",
        ),
        key(
            "matrix",
            Kind::List(&Kind::List(&Kind::Ratio(Range::closed(0.0, 1e9)), 2), 2),
            "all alike",
            "For `among`: a row for each host, in it how often flows from it go to each host, in the same order; 0 on the diagonal.",
        ),
        required("arrivals", Kind::Tagged(&ARRIVALS), "When they arrive, those of all pairs together."),
        key(
            "holding",
            Kind::Tagged(&HOLDING),
            "required: this, size or a trace",
            "How long a call lasts, from its first data on; then its connection is free again.",
        ),
        key(
            "size",
            Kind::Tagged(&SIZE),
            "required: this, holding or a trace",
            "Octets of a flow, which category abr or ubr sends as fast as it may, or as `tcp` may; when all of its cells have left, its connection is free again.",
        ),
        key(
            "tcp",
            Kind::Table(&FLOW_TCP),
            "none: datagrams, of which nothing is sent again",
            "For `size`: TCP carries each flow, by a connection of its own, open when its set-up is over; its VC is free again when all is acknowledged.",
        ),
        key(
            "datagram",
            OCTETS,
            "\"1472 octets\"",
            "For `size` without `tcp`: largest payload of a datagram, 1 to 65000 octets.",
        ),
        key(
            "header",
            OCTETS,
            "\"28 octets\"",
            "For `size` without `tcp`: octets of UDP and IP header before the payload, at most 120.",
        ),
        key(
            "encapsulation",
            Kind::Choice(&["llc-snap", "vc-mux"]),
            "\"llc-snap\"",
            "For `size` without `tcp`: how IP packets become AAL5 SDUs, with the 8 octets of LLC/SNAP or bare.",
        ),
        key("category", Kind::Choice(&["abr", "cbr", "vbr", "ubr"]), "\"abr\"", "Service category of each."),
        ABR_KEY,
        PEAK_KEY,
        key(
            "scr",
            POSITIVE_RATE,
            SCR_DEFAULT,
            "Sustainable cell rate of a vbr call, which admission books; at most pcr; needs `admission`.",
        ),
        key(
            "call",
            Kind::Tagged(&CALL_TRAFFIC),
            "{ type = \"greedy\" } for abr, required for others",
            "Traffic of a call while it lasts; what is unsent when it ends is dropped by the application.",
        ),
        key(
            "bidirectional",
            Kind::Boolean,
            "false",
            "The last host of a call sends the same traffic as the first.",
        ),
        key(
            "set_up",
            Kind::Or(&[TIME, Kind::Choice(&["round-trip"])]),
            "\"0 ms\"",
            "From the arrival of each to its first data; \"round-trip\" is twice the delays of the path's links, and twice the `processing` of each switch. What a call books it has from its arrival on.",
        ),
        key(
            "slots",
            Kind::Integer(1, MOST_SLOTS),
            "64",
            "Most between a pair at once: one more is blocked. Memory grows with them.",
        ),
        key("start", TIME, "\"0 ms\"", "None arrives before this instant."),
        key("end", TIME, "never", "None arrives from this instant on."),
    ],
};
