//! The keys of flows and calls that come and go.

use cellrate_proto::declaration::{Key, Kind, Range, Shape, joined, key, required, total};

use super::traffic::CALL;
use super::{ABR_KEY, NAME, PEAK_KEY, SCR_DEFAULT};
use crate::demand::{ARRIVALS, HOLDING, SIZE};
use crate::keys::{POSITIVE_RATE, TIME};
use crate::model::Category;
use crate::traffic::Datagrams;
use crate::traffic::tcp::FLOW_TCP;

/// Most flows or calls between a pair at once.
pub(crate) const MOST_SLOTS: i64 = 65_536;

/// Service categories of flows and calls: all but that of frames.
const CATEGORY_OF_FLOWS: Kind =
    Kind::Choice(&[Category::Abr.word(), Category::Cbr.word(), Category::Vbr.word(), Category::Ubr.word()]);

pub(super) const FLOWS: Shape = Shape {
    name: "flows",
    about: "Flows or calls that arrive one after the other and end, each between a pair of hosts drawn at random. While it lasts, each has a connection of its pair to itself.",
    keys: {
        const PARTS: &[&[Key]] = &[FIRST, Datagrams::KEYS, LAST];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};

/// Keys before those of datagrams.
const FIRST: &[Key] = &[
    NAME,
    key(
        "pairs",
        Kind::List(&Kind::List(&Kind::Reference, 2), 1),
        "required: this or among, but with a trace",
        "Pairs of hosts, [from, to], each over the path with the fewest links, the first such in the order of the file; or whole paths.",
    ),
    key(
        "weights",
        Kind::List(&Kind::Ratio(Range::above(0.0, 1e9)), 1),
        "all alike",
        "How often each of `pairs` is drawn, relative to the others.",
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
        "Octets of a flow of category abr or ubr, which is sent as fast as the category, or `tcp`, allows; when all of its cells have left, its connection is free again.",
    ),
    key(
        "tcp",
        Kind::Table(&FLOW_TCP),
        "none: datagrams, of which nothing is sent again",
        "For `size`: TCP carries each flow, by a connection of its own, open when its set-up is over; its VC is free again when all is acknowledged.",
    ),
];

/// Keys behind those of datagrams.
const LAST: &[Key] = &[
    key("category", CATEGORY_OF_FLOWS, "\"abr\"", "Service category of each."),
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
        Kind::Tagged(&CALL),
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
        "From the arrival of each to its first data; \"round-trip\" is twice the delays of the path's links, and twice the `processing` of each switch. A call holds its booking from its arrival on.",
    ),
    key(
        "slots",
        Kind::Integer(1, MOST_SLOTS),
        "64",
        "Most flows or calls between a pair at once: a further one is blocked. Memory grows with this number.",
    ),
    key("start", TIME, "\"0 ms\"", "None arrives before this instant."),
    key("end", TIME, "never", "None arrives from this instant on."),
];
