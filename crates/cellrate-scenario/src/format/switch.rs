//! The keys of switches: buffers, EFCI, algorithms, what they offer at set-up.

use cellrate_proto::declaration::{Key, Kind, Range, Setting, Shape, SpanOrZero, Table, Tagged, key};
use cellrate_proto::declaration::{joined, total};
use cellrate_proto::parameters::PowerOfTwo;
use cellrate_proto::switch::frame_discard::SHAPES;
use cellrate_proto::switch::{BecnConfig, EfciConfig, FORMS, PacketMarkingConfig};
use cellrate_proto::{CellRate, Cells, Duration};

use super::tree::CONSOLIDATION_KEY;
use super::{COUNT, LIKE, NAME, by_name};
use crate::keys::{CELLS, NRM, POSITIVE_RATE};
use crate::model::{Buffers, RmCells, VsVd};
use crate::plugin::{NAME_KEY, PARAMETERS_KEY};

const BUFFERS_KEY: Key = key(
    "buffers",
    Kind::Table(&Buffers::SHAPE),
    "infinite",
    "Room in each output port, the cell in transmission included.",
);
const RM_CELLS_KEY: Key = key(
    "rm_cells",
    RmCells::KIND,
    "\"in-order\"",
    "When RM cells are sent in each output port: among the ABR data cells, before these, or before all cells, CBR and VBR included (TM 4.0, 5.10.6). They take room of the ABR buffer in any case.",
);
const FRAME_DISCARD_KEY: Key = key(
    "frame_discard",
    Kind::Or(&[Kind::Tagged(&FRAME_DISCARD), Kind::Choice(&["off"])]),
    "\"off\"",
    "Whether the buffer of gfr and ubr of each output port loses whole PDUs, or what is left of them, rather than single cells (TM 4.0, 5.8): of connections with TCP, frames or, in live runs, packets.",
);
const ABR_FRAME_DISCARD_KEY: Key = key(
    "frame_discard_abr",
    Kind::Or(&[Kind::Tagged(&FRAME_DISCARD), Kind::Choice(&["off"])]),
    "\"off\"",
    "Frame discard of the ABR buffer, for connections that allow it with `frame_discard`; RM cells are lost one by one.",
);
const GUARANTEED_FRAME_DISCARD_KEY: Key = key(
    "frame_discard_guaranteed",
    Kind::Or(&[Kind::Tagged(&FRAME_DISCARD), Kind::Choice(&["off"])]),
    "\"off\"",
    "Frame discard of the buffer of CBR and VBR, for connections that allow it with `frame_discard`.",
);
const ECN_KEY: Key = key(
    "ecn",
    Kind::Or(&[Kind::Tagged(&ECN), Kind::Choice(&["off"])]),
    "\"off\"",
    "Marking of IP packets in AAL5 PDUs in each output port (CE; RFC 3168), of those that may be marked: TCP's with `ecn`.",
);
const QUEUEING_KEY: Key = key(
    "queueing",
    Kind::Tagged(&QUEUEING),
    "{ type = \"fifo\" }",
    "How the cells that wait in each output port take turns.",
);
const EFCI_KEY: Key = key(
    "efci",
    Kind::Or(&[Kind::Table(&EfciConfig::SHAPE), Kind::Choice(&["off"])]),
    "\"off\"",
    "EFCI marking of data cells in each output port.",
);
const BECN_KEY: Key = key(
    "becn",
    Kind::Or(&[Kind::Table(&BecnConfig::SHAPE), Kind::Choice(&["off"])]),
    "\"off\"",
    "BRMs that each output port originates (BN = 1; TM 4.0, 5.10.6); a connection whose control loop the switch segments gets none.",
);
const ALGORITHM_KEY: Key = key(
    "algorithm",
    Kind::Tagged(&ALGORITHM),
    "{ type = \"none\" }",
    "Algorithm by which each output port writes into backward RM cells.",
);

const VS_VD_KEY: Key = key(
    "vs_vd",
    Kind::Or(&[Kind::Table(&VsVd::SHAPE), Kind::Choice(&["off"])]),
    "\"off\"",
    "Segments the control loops of ABR connections that leave by each output port, both directions of them: the switch is destination of the loop before it and source of the one behind it (TM 4.0, 5.10.6 d); {} for all defaults.",
);
const NEGOTIATION_KEY: Key = key(
    "negotiation",
    Kind::Table(&Negotiation::SHAPE),
    "none",
    "Limits of the switch on the ABR parameters of a connection that is set up through it; needs `admission`.",
);

/// The keys of an output port, around those of their own that switches and defaults have.
macro_rules! port_keys {
    ($($first:expr,)*; $($last:expr),* $(,)?) => {
        &[
            $($first,)*
            BUFFERS_KEY,
            FRAME_DISCARD_KEY,
            ABR_FRAME_DISCARD_KEY,
            GUARANTEED_FRAME_DISCARD_KEY,
            ECN_KEY,
            QUEUEING_KEY,
            RM_CELLS_KEY,
            EFCI_KEY,
            BECN_KEY,
            ALGORITHM_KEY,
            VS_VD_KEY,
            $($last,)*
        ]
    };
}

pub(super) const SWITCH: Shape = Shape {
    name: "switch",
    about: "A switch.",
    keys: port_keys![
        NAME,;
        CONSOLIDATION_KEY,
        NEGOTIATION_KEY,
        key(
            "ports",
            Kind::Map(&Kind::Table(&PORT)),
            "none",
            "Overrides for single ports, by the name of the neighbour that the port sends to.",
        ),
        COUNT,
        LIKE,
    ],
};

pub(super) const SWITCH_DEFAULTS: Shape = Shape {
    name: "switch_defaults",
    about: "Defaults of switches.",
    keys: port_keys![; CONSOLIDATION_KEY, NEGOTIATION_KEY],
};

/// Limits and wishes of a switch at set-up; it leaves parameters that are not given as they are (paper abr-parameters,
/// table 1).
#[derive(Table)]
#[table(name = "negotiation", written)]
pub(crate) struct Negotiation {
    /// Largest PCR, in addition to the limit by the rate of the next link.
    #[key(default = "none", kind = POSITIVE_RATE)]
    pub pcr: Option<CellRate>,
    /// Largest MCR, in addition to the limit by the rate that the next link can still promise.
    #[key(default = "none")]
    pub mcr: Option<CellRate>,
    /// Largest ICR; never below MCR.
    #[key(default = "none")]
    pub icr: Option<CellRate>,
    /// Largest TBE, by its buffers.
    #[key(default = "none")]
    pub tbe: Option<Cells>,
    /// Largest RIF.
    #[key(default = "none")]
    pub rif: Option<PowerOfTwo>,
    /// RDF that it wants: a larger one is always granted, a smaller one by no more than the factor by which the switch
    /// lowered RIF.
    #[key(default = "none")]
    pub rdf: Option<PowerOfTwo>,
    /// Parameters that it lowers by rules, beside the limits above (docs/algorithms/admission.md): RIF and RDF by PCR
    /// and FRTT up to its link, TBE to what is on the way and in its buffer, ICR to its part of the rate and of the
    /// buffer that are left.
    #[key(default = "[]", kind = Kind::List(&Kind::Choice(&["rif", "rdf", "tbe", "icr"]), 0))]
    pub rules: Vec<String>,
    /// Nrm that it wants: a power of two from 2 to 256.
    #[key(default = "none", kind = NRM)]
    pub nrm: Option<u32>,
    /// Trm that it wants: 100 ms times a power of two from 2^-7 to 1.
    #[key(default = "none")]
    pub trm: Option<Duration>,
    /// Smallest CDF: a power of two from 1/64 to 1.
    #[key(default = "none")]
    pub cdf: Option<PowerOfTwo>,
    /// Largest ADTF: 10 ms to 10.23 s in steps of 10 ms.
    #[key(default = "none")]
    pub adtf: Option<Duration>,
    /// One-way delay in the switch, queues left out, that it adds to FRTT.
    #[key(default = "\"0 ms\"", or = Duration::ZERO, as = SpanOrZero)]
    pub processing: Duration,
}

const PORT: Shape = Shape {
    name: "port",
    about: "One output port of a switch: what differs from the switch.",
    keys: port_keys![;],
};

/// Kinds of marking as they declare themselves, by their `type`.
const ECN: Tagged = Tagged {
    name: "ecn",
    default: Some(PacketMarkingConfig::SHAPES[0].name),
    variants: &by_name::<{ PacketMarkingConfig::SHAPES.len() }>(PacketMarkingConfig::SHAPES),
};

/// Policies of frame discard as they declare themselves, by their `type`.
const FRAME_DISCARD: Tagged =
    Tagged { name: "frame_discard", default: None, variants: &by_name::<{ SHAPES.len() }>(SHAPES) };

const CLASS_WEIGHTS_KEY: Key = key(
    "class_weights",
    Kind::Table(&CLASS_WEIGHTS),
    "none: strict priority",
    "Weights of the categories, which share the line by WF2Q+ instead of being served by strict priority.",
);

const VC_ROOM_KEY: Key = key(
    "room",
    CELLS,
    "no limit of its own",
    "Most cells of one connection that may wait, the one in transmission not included, in addition to the limits of `buffers`.",
);

const CLASS_WEIGHT: Kind = Kind::Ratio(Range::closed(0.001, 1000.0));

const CLASS_WEIGHTS: Shape = Shape {
    name: "class_weights",
    about: "A category without cells leaves its share to the others. Rounded to thousandths.",
    keys: &[
        key("guaranteed", CLASS_WEIGHT, "1", "Of CBR and VBR together."),
        key("abr", CLASS_WEIGHT, "1", "Of ABR."),
        key("ubr", CLASS_WEIGHT, "1", "Of GFR and UBR together."),
    ],
};

const QUEUEING: Tagged = Tagged {
    name: "queueing",
    default: None,
    variants: &[
        (
            "fifo",
            Shape {
                name: "fifo",
                about: "One queue for CBR and VBR, one for ABR, one for GFR and UBR.",
                keys: &[CLASS_WEIGHTS_KEY],
            },
        ),
        (
            "round-robin",
            Shape {
                name: "round-robin",
                about: "A queue for each connection; those of a category send a cell each in turn.",
                keys: &[VC_ROOM_KEY, CLASS_WEIGHTS_KEY],
            },
        ),
        (
            "deficit-round-robin",
            Shape {
                name: "deficit-round-robin",
                about: "A queue for each connection; in each round those of a category send cells in proportion to their `queue_weight`.",
                keys: &[
                    key(
                        "quantum",
                        Kind::Integer(1, 65_536),
                        "1",
                        "Cells that a connection of the least weight at the port may send in a round.",
                    ),
                    VC_ROOM_KEY,
                    CLASS_WEIGHTS_KEY,
                ],
            },
        ),
        (
            "weighted-fair",
            Shape {
                name: "weighted-fair",
                about: "A queue for each connection; those of a category are served by WF2Q+, in proportion to their `queue_weight`.",
                keys: &[VC_ROOM_KEY, CLASS_WEIGHTS_KEY],
            },
        ),
    ],
};

/// The variants before those that are built in.
const FIRST: &[(&str, Shape)] = &[
    ("none", Shape { name: "none", about: "RM cells pass unchanged.", keys: &[] }),
    (
        "custom",
        Shape {
            name: "custom",
            about: "An algorithm that is not built in and is given to the run by its name (docs/guides/algorithms.md).",
            keys: &[
                NAME_KEY,
                key(
                    "figures",
                    Kind::List(&Kind::Name, 0),
                    "[]",
                    "Names of the figures that it offers to probes.",
                ),
                PARAMETERS_KEY,
            ],
        },
    ),
];

/// Algorithms as they declare themselves, by their `type`.
const BUILT_IN: [(&str, Shape); FORMS.len()] = {
    let mut variants = [FIRST[0]; FORMS.len()];
    let mut i = 0;
    while i < variants.len() {
        variants[i] = (FORMS[i].shape.name, FORMS[i].shape);
        i += 1;
    }
    variants
};

const ALGORITHM: Tagged = Tagged {
    name: "algorithm",
    default: None,
    variants: {
        const PARTS: &[&[(&str, Shape)]] = &[FIRST, &BUILT_IN];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};
