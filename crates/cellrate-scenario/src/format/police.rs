//! The keys of policing: a contract, what becomes of cells that do not keep to it, and sources that do not.

use cellrate_proto::declaration::{Dimension, Key, Kind, Range, Shape, key};

use crate::keys::{SPAN, TIME};

pub(super) const POLICE_KEY: Key = key(
    "police",
    Kind::Or(&[Kind::Table(&POLICE), Kind::Choice(&["off"])]),
    "\"off\"",
    "Holds the forward direction to its contract where its cells come to a switch.",
);
pub(super) const POLICE_BACK_KEY: Key = key(
    "police",
    Kind::Or(&[Kind::Table(&POLICE), Kind::Choice(&["off"])]),
    "\"off\"",
    "Holds the backward direction to its contract where its cells come to a switch.",
);

pub(super) const MISBEHAVES_KEY: Key = key(
    "misbehaves",
    Kind::Or(&[Kind::Table(&MISBEHAVES), Kind::Choice(&["off"])]),
    "\"off\"",
    "Rules that the abr source of the forward direction breaks.",
);
pub(super) const MISBEHAVES_BACK_KEY: Key = key(
    "misbehaves",
    Kind::Or(&[Kind::Table(&MISBEHAVES), Kind::Choice(&["off"])]),
    "\"off\"",
    "Rules that the abr source of the backward direction breaks.",
);

const MISBEHAVES: Shape = Shape {
    name: "misbehaves",
    about: "An ABR source that does not do as it is told (docs/algorithms/policing.md).",
    keys: &[
        key(
            "ignores",
            Kind::List(&Kind::Choice(&["er", "ci"]), 0),
            "[]",
            "er: it does not lower ACR to ER (rule 9); ci: it takes CI for 0 (rule 8).",
        ),
        key(
            "rate_factor",
            Kind::Ratio(Range::above(0.0, 1000.0)),
            "1",
            "It sends at so many times ACR (rule 1); RM cells still say ACR.",
        ),
        key(
            "tcr_factor",
            Kind::Ratio(Range::above(0.0, 1000.0)),
            "1",
            "While ACR is below TCR its out-of-rate FRMs leave at so many times TCR (rule 11).",
        ),
    ],
};

/// Conformance definitions, in the order of the standard.
pub(crate) const DEFINITIONS: &[&str] =
    &["cbr.1", "vbr.1", "vbr.2", "vbr.3", "ubr.1", "ubr.2", "abr.1", "gfr.1", "gfr.2"];

const POLICE: Shape = Shape {
    name: "police",
    about: "Usage parameter control of one direction of a connection (TM 4.0, 4.5 and 5.4; TM 4.1 for gfr; docs/algorithms/policing.md): what conforms, and what becomes of the rest.",
    keys: &[
        key(
            "at",
            Kind::List(&Kind::Reference, 1),
            "the first switch of the direction",
            "The switches at whose incoming interface its cells are policed, each by a policer of its own.",
        ),
        key(
            "definition",
            Kind::Choice(DEFINITIONS),
            "the one of the category whose number is 1",
            "Conformance definition, one of the connection's category.",
        ),
        key(
            "action",
            Kind::Choice(&["discard", "tag", "count"]),
            "\"tag\" for vbr.3, ubr.2 and gfr.2, \"discard\" for others",
            "Fate of cells that do not conform. vbr.3 and ubr.2 tag those that only bucket 2 refuses, gfr.2 those of frames that are not eligible; abr.1 leaves the choice; count lets all go on with any.",
        ),
        key(
            "pcr",
            Kind::Positive(Dimension::Rate),
            "PCR of the sender",
            "Peak cell rate of the contract; for abr it is `abr.pcr`.",
        ),
        key(
            "cdvt",
            TIME,
            "one cell time of the link",
            "Cell delay variation tolerance of the peak; tau1 of abr.1.",
        ),
        key(
            "scr",
            Kind::Positive(Dimension::Rate),
            "`scr` of the connection",
            "Sustainable cell rate of the contract; of vbr, which needs it.",
        ),
        key(
            "mbs",
            Kind::Integer(1, u32::MAX as i64),
            "required for vbr",
            "Maximum burst size in cells: so many may come at the peak. Of vbr.",
        ),
        key(
            "coupling",
            Kind::Choice(&["coupled", "independent", "serial"]),
            "\"coupled\"",
            "How the two buckets of vbr hang together: a cell is charged to both or, tagged, to that of the peak; to each that it conforms to; to the second only if the first passed it, which stays charged.",
        ),
        key(
            "tau2",
            SPAN,
            "tau3 and one cell time of each link between",
            "Longest time from the departure of a backward RM cell towards the source to the arrival of the cells that follow it. Of abr.1.",
        ),
        key(
            "tau3",
            TIME,
            "twice the delays of the links between",
            "Shortest of the same; at most tau2. Of abr.1.",
        ),
    ],
};
