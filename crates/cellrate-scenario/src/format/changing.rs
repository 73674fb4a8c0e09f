//! The keys of links that change.

use cellrate_proto::declaration::{Dimension, Key, Kind, Setting, Shape, key, required};

use crate::keys::{FRACTION, TIME};
use crate::model::InFlight;

const CHANGE: Shape = Shape {
    name: "change",
    about: "State of a link from an instant on; values that are not given stay as they were.",
    keys: &[
        required("at", TIME, "The instant; a change at 0 is what the link begins with."),
        key(
            "from",
            Kind::Reference,
            "both ways",
            "An end of the link: the change is of the line out of it alone. Both lines may change at one instant, in an entry each.",
        ),
        key(
            "rate",
            Kind::Quantity(Dimension::LineRate),
            "as before",
            "Line rate, for each cell whose transmission begins from then on, both ways; \"0 bps\": none begins.",
        ),
        key(
            "delay",
            TIME,
            "as before",
            "One-way propagation delay, of each cell whose transmission ends from then on. If it decreases, a cell arrives no earlier than those before it.",
        ),
        key("loss", FRACTION, "as before", "Probability that such a cell is lost on the line, either way."),
        key(
            "in_flight",
            InFlight::KIND,
            "\"kept\"",
            "Fate of the cells that are on the line then, either way: they arrive as they would have, or are lost, and counted as lost when their transmission ends.",
        ),
    ],
};

pub(super) const CHANGES_KEY: Key = key(
    "changes",
    Kind::List(&Kind::Table(&CHANGE), 0),
    "[]",
    "How the link changes in the run, in order of time (docs/guides/changing-links.md). Switch algorithms use the rate in force at the end of each averaging interval, the default PCR the largest rate, admission the smallest, and FRTT the largest delay.",
);
