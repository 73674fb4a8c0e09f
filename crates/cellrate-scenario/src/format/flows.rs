//! The keys of flows and calls that come and go.

use super::timing::PERIOD;
use super::{ABR_KEY, Kind, NAME, PEAK_KEY, POSITIVE_RATE, Range, SPAN, Shape, TIME, Tagged, key, required};

const GAP: &str = "Mean time from one to the next.";
const ABOVE_ONE: Kind = Kind::Ratio(Range::above(1.0, 100.0));
const SIGMA: Kind = Kind::Ratio(Range::above(0.0, 10.0));

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
                keys: &[
                    required("gap", SPAN, GAP),
                    key("alpha", ABOVE_ONE, "1.5", "Shape; up to 2 the variance is infinite."),
                ],
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
                keys: &[
                    required("mean", SPAN, "The mean of the times themselves."),
                    key("sigma", SIGMA, "1", "Standard deviation of their natural logarithms."),
                ],
            },
        ),
        (
            "pareto",
            Shape {
                name: "pareto_holding",
                about: "Pareto distributed.",
                keys: &[
                    required("mean", SPAN, "The mean."),
                    key("alpha", ABOVE_ONE, "1.5", "Shape; up to 2 the variance is infinite."),
                ],
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
            "required: this or among",
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
        required(
            "holding",
            Kind::Tagged(&HOLDING),
            "How long a call lasts, from its first data on; then its connection is free again.",
        ),
        key("category", Kind::Choice(&["abr", "cbr", "vbr", "ubr"]), "\"abr\"", "Service category of each."),
        ABR_KEY,
        PEAK_KEY,
        key(
            "scr",
            POSITIVE_RATE,
            "the mean rate of constant and on-off traffic, else pcr",
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
