//! The keys of links that change.

use cellrate_proto::declaration::{Dimension, Key, Kind, Shape, Tagged, key, required};

use crate::keys::MAX_COLUMN;
use crate::keys::{FRACTION, SPAN, TIME};

const CHANGE: Shape = Shape {
    name: "change",
    about: "State of a link from an instant on; what is not written stays as it was.",
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
            "One-way propagation delay, of each cell whose transmission ends from then on. Where it falls a cell comes as soon as those in front of it have.",
        ),
        key("loss", FRACTION, "as before", "Probability that such a cell is lost on the line, either way."),
        key(
            "in_flight",
            Kind::Choice(&["kept", "lost"]),
            "\"kept\"",
            "Fate of the cells that are on the line then, either way: they arrive as they would have, or are lost, and counted as lost when their transmission ends.",
        ),
    ],
};

pub(super) const CHANGES_KEY: Key = key(
    "changes",
    Kind::List(&Kind::Table(&CHANGE), 0),
    "[]",
    "How the link changes in the run, in order of time (docs/guides/changing-links.md). Switch algorithms go by the rate in force at the end of each averaging interval; the default PCR by the largest rate, admission by the least, and FRTT by the largest delay.",
);

const LENGTH: Kind = Kind::Quantity(Dimension::Length);
const ELEVATION: Kind = Kind::Quantity(Dimension::Angle);

pub(super) const TIME_COLUMN_KEY: Key =
    key("time_column", Kind::Integer(1, MAX_COLUMN), "1", "In which column instants are.");
const TIME_UNIT_KEY: Key =
    key("time_unit", Kind::Choice(&["s", "ms", "us"]), "\"s\"", "Unit of the instants in the file.");
const COLUMN_KEY: Key = key(
    "column",
    Kind::Integer(1, MAX_COLUMN),
    "2",
    "In which column values are; spaces, tabs, commas and semicolons are between columns.",
);
const TABLE_KEY: Key = key(
    "file",
    Kind::Text,
    "required: this or steps",
    "A text file with an instant and a value in each line, in order of time, as seen from the scenario's folder; lines without a digit, those that begin with # or %, and names of columns above the first are passed over. It is read with the scenario, and what is stored beside results has `steps` instead.",
);

pub(super) const RATE_COURSE: Tagged = Tagged {
    name: "rate",
    default: None,
    variants: &[
        (
            "csv",
            Shape {
                name: "csv_rate",
                about: "The rate by a table of instants and rates: each holds from its instant on, the first from the beginning.",
                keys: &[
                    TABLE_KEY,
                    TIME_COLUMN_KEY,
                    TIME_UNIT_KEY,
                    COLUMN_KEY,
                    key(
                        "unit",
                        Kind::Choice(&["bps", "kbps", "Mbps", "Gbps", "cells/s"]),
                        "required with file",
                        "Unit of the values in the file.",
                    ),
                    key(
                        "steps",
                        Kind::List(&Kind::Pair(&TIME, &Kind::Quantity(Dimension::LineRate)), 1),
                        "required: this or file",
                        "[instant, rate] themselves, in order; at a rate of 0 no transmission begins.",
                    ),
                ],
            },
        ),
        (
            "mahimahi",
            Shape {
                name: "mahimahi",
                about: "The rate by a packet-delivery trace of mahimahi: each line is an instant in ms at which 1504 octets can leave. They are counted over each `step`, octet by octet, and make the rate of that step.",
                keys: &[
                    key(
                        "file",
                        Kind::Text,
                        "required: this or opportunities",
                        "The trace, as seen from the scenario's folder. It is read with the scenario, and what is stored beside results has `opportunities` instead.",
                    ),
                    key(
                        "opportunities",
                        Kind::List(&Kind::Integer(0, u32::MAX as i64), 1),
                        "required: this or file",
                        "The instants themselves \\[ms\\], in order; the last above 0.",
                    ),
                    key("step", SPAN, "\"100 ms\"", "How long each rate holds: whole milliseconds."),
                    key(
                        "repeat",
                        Kind::Boolean,
                        "true",
                        "Whether the trace begins anew at its last instant, as in mahimahi; else no transmission begins behind it.",
                    ),
                ],
            },
        ),
    ],
};

pub(super) const DELAY_COURSE: Tagged = Tagged {
    name: "delay",
    default: None,
    variants: &[
        (
            "csv",
            Shape {
                name: "csv_delay",
                about: "The delay by a table of instants and delays: each holds from its instant on, the first from the beginning.",
                keys: &[
                    TABLE_KEY,
                    TIME_COLUMN_KEY,
                    TIME_UNIT_KEY,
                    COLUMN_KEY,
                    key(
                        "unit",
                        Kind::Choice(&["s", "ms", "us"]),
                        "required with file",
                        "Unit of the values in the file.",
                    ),
                    key(
                        "steps",
                        Kind::List(&Kind::Pair(&TIME, &TIME), 1),
                        "required: this or file",
                        "[instant, delay] themselves, in order.",
                    ),
                ],
            },
        ),
        (
            "leo",
            Shape {
                name: "leo",
                about: "The delay over satellites in a low circular orbit, one behind the other: each serves from `hand_over` before it sets until it sets at `minimum_elevation`. The Earth is a sphere of 6371 km that does not turn.",
                keys: &[
                    required("altitude", LENGTH, "Of the orbit, above the ground: 1 km to 50000 km."),
                    required(
                        "minimum_elevation",
                        ELEVATION,
                        "Below it a satellite is not used, such as \"25 deg\".",
                    ),
                    key(
                        "highest_elevation",
                        ELEVATION,
                        "\"90 deg\"",
                        "Of a satellite amid its pass; above `minimum_elevation`.",
                    ),
                    key(
                        "hand_over",
                        SPAN,
                        "the whole pass",
                        "How long each satellite serves; the next is so much behind it. At most the whole pass, from rise to set.",
                    ),
                    key(
                        "legs",
                        Kind::Integer(1, 2),
                        "2",
                        "How often the way goes between ground and satellite: 1 to a switch on board, 2 up and down again (bent pipe).",
                    ),
                    key(
                        "beside",
                        TIME,
                        "\"0 ms\"",
                        "Delay on the ground and in the satellite, beside the legs.",
                    ),
                    key(
                        "step",
                        SPAN,
                        "\"100 ms\"",
                        "How long each delay holds: that at the beginning of the step.",
                    ),
                    key(
                        "in_flight",
                        Kind::Choice(&["kept", "lost"]),
                        "\"kept\"",
                        "Fate of the cells on the line at a hand-over, as in `changes`.",
                    ),
                ],
            },
        ),
    ],
};
