//! The keys of switches: buffers, EFCI, algorithms, what they offer at set-up.

use super::custom::{NAME_KEY, PARAMETERS_KEY};
use super::{
    CELLS, COUNT, FRACTION, Key, Kind, LIKE, NAME, NRM, POSITIVE_RATE, RATE, ROOM, Range, SHARE, SPAN, Shape,
    TIME, Tagged, key, required,
};

const BUFFERS_KEY: Key = key(
    "buffers",
    Kind::Table(&BUFFERS),
    "infinite",
    "Room in each output port, the cell in transmission included.",
);
const RM_CELLS_KEY: Key = key(
    "rm_cells",
    Kind::Choice(&["in-order", "before-data", "first"]),
    "\"in-order\"",
    "When RM cells have their turn in each output port: among the ABR data cells, before these, or before everything, CBR and VBR included (TM 4.0, 5.10.6). They take places of the ABR buffer in any case.",
);
const FRAME_DISCARD_KEY: Key = key(
    "frame_discard",
    Kind::Or(&[Kind::Tagged(&FRAME_DISCARD), Kind::Choice(&["off"])]),
    "\"off\"",
    "Whether the UBR buffer of each output port loses whole PDUs, or what is left of them, rather than single cells (TM 4.0, 5.8): of connections with TCP, frames or, in live runs, packets.",
);
const EFCI_KEY: Key = key(
    "efci",
    Kind::Or(&[Kind::Table(&EFCI), Kind::Choice(&["off"])]),
    "\"off\"",
    "EFCI marking of data cells in each output port.",
);
const BECN_KEY: Key = key(
    "becn",
    Kind::Or(&[Kind::Table(&BECN), Kind::Choice(&["off"])]),
    "\"off\"",
    "BRMs that each output port originates (BN = 1; TM 4.0, 5.10.6); at a switch that segments the control loop of a connection it gets none.",
);
const ALGORITHM_KEY: Key = key(
    "algorithm",
    Kind::Tagged(&ALGORITHM),
    "{ type = \"none\" }",
    "What each output port writes into backward RM cells.",
);

const VS_VD_KEY: Key = key(
    "vs_vd",
    Kind::Or(&[Kind::Table(&VS_VD), Kind::Choice(&["off"])]),
    "\"off\"",
    "Segments the control loops of ABR connections that leave by each output port, both directions of them: the switch is destination of the loop before it and source of the one behind it (TM 4.0, 5.10.6 d); {} for all defaults.",
);
const NEGOTIATION_KEY: Key = key(
    "negotiation",
    Kind::Table(&NEGOTIATION),
    "none",
    "What the switch does to the ABR parameters of a connection that is set up through it; needs `admission`.",
);

/// The keys of an output port, around those of their own that switches and defaults have.
macro_rules! port_keys {
    ($($first:expr,)*; $($last:expr),* $(,)?) => {
        &[
            $($first,)*
            BUFFERS_KEY,
            FRAME_DISCARD_KEY,
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

pub(super) const SWITCH_DEFAULTS: Shape =
    Shape { name: "switch_defaults", about: "Defaults of switches.", keys: port_keys![; NEGOTIATION_KEY] };

const VS_VD: Shape = Shape {
    name: "vs_vd",
    about: "Cells wait in a queue for each connection until the virtual source may send them. The loop before the switch gets f(Tq) times its ACR, with ERICA+'s function f of the delay Tq = queue / ACR.",
    keys: &[
        key(
            "t0",
            SPAN,
            "\"500 us\", or half a round trip of the loop before the switch if that is longer",
            "The delay aimed at.",
        ),
        key("a", SLOPE, "1.15", "Slope of f above t0."),
        key("b", SLOPE, "1.05", "f at an empty queue, and its slope below t0."),
        key("qdlf", SHARE, "0.5", "Queue drain limit factor: the smallest f."),
        key(
            "buffer",
            ROOM,
            "\"infinite\"",
            "Room of each such queue, for data cells; one that finds none is lost.",
        ),
    ],
};

const NEGOTIATION: Shape = Shape {
    name: "negotiation",
    about: "Limits and wishes of a switch at set-up; what is not given is left alone (paper abr-parameters, table 1).",
    keys: &[
        key("pcr", POSITIVE_RATE, "none", "Largest PCR, beside the rate of the next link."),
        key("mcr", RATE, "none", "Largest MCR, beside what the next link can still promise."),
        key("icr", RATE, "none", "Largest ICR; never below MCR."),
        key("tbe", CELLS, "none", "Largest TBE, by its buffers."),
        key("rif", Kind::PowerOfTwo, "none", "Largest RIF."),
        key(
            "rdf",
            Kind::PowerOfTwo,
            "none",
            "RDF it wants: larger is granted, smaller as far as the switch cut RIF.",
        ),
        key("nrm", NRM, "none", "Nrm it wants: a power of two from 2 to 256."),
        key("trm", SPAN, "none", "Trm it wants: 100 ms times a power of two from 2^-7 to 1."),
        key("cdf", Kind::PowerOfTwo, "none", "Smallest CDF: a power of two from 1/64 to 1."),
        key("adtf", SPAN, "none", "Largest ADTF: 10 ms to 10.23 s in steps of 10 ms."),
        key(
            "processing",
            TIME,
            "\"0 ms\"",
            "One-way delay in the switch, queues left out, that it adds to FRTT.",
        ),
    ],
};

const PORT: Shape = Shape {
    name: "port",
    about: "One output port of a switch: what differs from the switch.",
    keys: port_keys![;],
};

const BUFFERS: Shape = Shape {
    name: "buffers",
    about: "A cell that finds no room is lost.",
    keys: &[
        key("guaranteed", ROOM, "\"infinite\"", "For CBR and VBR together."),
        key("abr", ROOM, "\"infinite\"", "For ABR."),
        key("ubr", ROOM, "\"infinite\"", "For UBR."),
        key("shared", ROOM, "\"infinite\"", "For all of them together, beside their own limits."),
    ],
};

const FRAME_DISCARD: Tagged = Tagged {
    name: "frame_discard",
    default: None,
    variants: &[
        (
            "partial",
            Shape {
                name: "partial",
                about: "Partial packet discard (PPD): a PDU of which a cell has found no room gets nothing more in but its last cell.",
                keys: &[],
            },
        ),
        (
            "early",
            Shape {
                name: "early",
                about: "Early packet discard (EPD): besides, a PDU is refused whole if there are more cells in the buffer than the threshold when its first cell comes.",
                keys: &[DISCARD_THRESHOLD],
            },
        ),
        (
            "selective",
            Shape {
                name: "selective",
                about: "Selective discard: the same, of connections only that have more than their part of the cells in the buffer.",
                keys: &[
                    DISCARD_THRESHOLD,
                    key(
                        "scale_factor",
                        Kind::Ratio(Range::above(0.0, f64::MAX)),
                        "0.8",
                        "Z: refused is who has more than this times what each connection with cells there has on average.",
                    ),
                ],
            },
        ),
        (
            "fair",
            Shape {
                name: "fair",
                about: "Fair buffer allocation (FBA): the same, and the part shrinks as the buffer fills. The buffer has to be limited.",
                keys: &[
                    DISCARD_THRESHOLD,
                    key(
                        "scale_factor",
                        Kind::Ratio(Range::above(0.0, f64::MAX)),
                        "0.8",
                        "Z: refused is who has more than Z (K - R) / (X - R) times that, with K cells of room, the threshold R, and X cells there.",
                    ),
                ],
            },
        ),
    ],
};

const DISCARD_THRESHOLD: Key = required(
    "threshold",
    CELLS,
    "R: PDUs are refused while there are more cells of UBR in the port; less than `buffers.ubr` and `buffers.shared`.",
);

const EFCI: Shape = Shape {
    name: "efci",
    about: "Thresholds on the ABR queue.",
    keys: &[
        required("high", CELLS, "Marking begins when the queue is above this."),
        key("low", CELLS, "`high`", "Marking ends when the queue is at or below this; at most `high`."),
    ],
};

const BECN: Shape = Shape {
    name: "becn",
    about: "A cell of an ABR connection that finds a long ABR queue has a BRM sent to its source, at most 10 a second for each connection. The algorithm of the port answers it as any BRM that passes.",
    keys: &[
        required("threshold", CELLS, "While the ABR queue is at or above this; at least 1 cell."),
        key(
            "sets",
            Kind::Choice(&["ci", "ni"]),
            "\"ci\"",
            "What it says: CI, the source is to reduce its rate by RDF, or NI, it is not to raise it.",
        ),
    ],
};

const SLOPE: Kind = Kind::Ratio(Range::above(1.0, f64::MAX));

const FAIRNESS: Key = key(
    "fairness",
    Kind::Choice(&["equal", "weighted"]),
    "\"equal\"",
    "Equal shares, or every connection its MCR and a share by weight of what is left.",
);

// What EPRCA and APRC have in common.
const MARKING_AVERAGE: Key = key("average", SHARE, "1/16", "AV: weight of a forward RM cell in the mean.");
const MARKING_DPF: Key = key("dpf", SHARE, "7/8", "Down pressure factor.");
const MARKING_ERF: Key = key("erf", SHARE, "15/16", "Explicit reduction factor: to this of the mean.");
const MARKING_MRF: Key = key("mrf", SHARE, "1/4", "Major reduction factor.");

/// The keys that ERICA and ERICA+ have in common, around their own.
macro_rules! erica_keys {
    ($($own:expr),* $(,)?) => {
        &[
            key("interval", SPAN, "\"5 ms\"", "Averaging interval: its length at most."),
            key("interval_cells", Kind::Integer(1, u32::MAX as i64), "none", "The interval ends early when so many ABR cells have arrived."),
            $($own,)*
            key("delta", FRACTION, "0.1", "A load factor up to 1 + delta counts as no overload."),
            key("bidirectional_counting", Kind::Boolean, "false", "A connection is also active when a backward RM cell of it passed."),
            key("activity_decay", Kind::Ratio(Range::below(0.0, 1.0)), "none: it counts nothing at once", "What an inactive connection still counts, as a part of what it counted an interval before."),
            key("effective_number", Kind::Boolean, "false", "N is the effective number of active connections: one below FairShare counts by its rate over FairShare; nobody looks at the largest allocation."),
            key("load_averaging", Kind::Choice(&["none", "ratio", "components", "rates"]), "none: with alpha it is \"components\"", "Averages the load factor over intervals: itself, or its input and capacity each on its own, in cells, so that an interval counts by its length, or as rates, to which a short interval counts as much as a long one."),
            key("alpha", SHARE, "required with load_averaging other than \"none\"", "Weight of the newest interval in the average."),
            key("immediate_fair_share", Kind::Boolean, "false", "FairShare falls at once when a connection becomes active within an interval."),
            key("measured_ccr", Kind::Boolean, "false", "The rate of a connection is measured instead of read from its RM cells."),
            key("claims_are_use", Kind::Boolean, "false", "With weights or the effective number: what a connection claims in its RM cells counts as what it uses, even if it sends less (ATM Forum 98-0408)."),
            FAIRNESS,
            key("aging", Kind::Or(&[Kind::Table(&AGING), Kind::Choice(&["off"])]), "\"off\"", "Grants less to a connection that claims more than it sends; {} for all defaults."),
        ]
    };
}

const ALGORITHM: Tagged = Tagged {
    name: "algorithm",
    default: None,
    variants: &[
        ("none", Shape { name: "none", about: "RM cells pass unchanged.", keys: &[] }),
        (
            "relative-rate",
            Shape {
                name: "relative-rate",
                about: "CI and NI are set by a queue threshold (TM 4.0, 5.10.6 b).",
                keys: &[required(
                    "threshold",
                    CELLS,
                    "CI and NI are set while the ABR queue is at or above this.",
                )],
            },
        ),
        (
            "stop-and-go",
            Shape {
                name: "stop-and-go",
                about: "Sources send at PCR or at MCR (paper stop-and-go). The ABR connections through such a port have RIF, RDF and CDF 1, Nrm 32, and ICR PCR or MCR: what they do not say is that, ICR being PCR where TBE / FRTT is at least PCR, and MCR otherwise; anything else is an error.",
                keys: &[
                    required(
                        "threshold",
                        CELLS,
                        "Sources are to stop while the ABR queue is at or above this.",
                    ),
                    key(
                        "form",
                        Kind::Choice(&["relative-rate", "explicit-rate"]),
                        "\"relative-rate\"",
                        "How they are told: by CI and NI, or by ER, which becomes MCR to stop and PCR to go.",
                    ),
                ],
            },
        ),
        (
            "eprca",
            Shape {
                name: "eprca",
                about: "EPRCA: a mean of the rates that sources claim, and two queue thresholds.",
                keys: &[
                    required(
                        "threshold",
                        CELLS,
                        "QT: above this ABR queue, who claims more than dpf of the mean is to reduce.",
                    ),
                    key(
                        "high_threshold",
                        CELLS,
                        "4 * threshold",
                        "DQT: above this ABR queue, everybody is to go to mrf of the mean; at least `threshold`.",
                    ),
                    MARKING_AVERAGE,
                    MARKING_DPF,
                    MARKING_ERF,
                    MARKING_MRF,
                ],
            },
        ),
        (
            "aprc",
            Shape {
                name: "aprc",
                about: "APRC: EPRCA's mean of the rates that sources claim; congestion is a queue that grows.",
                keys: &[
                    key(
                        "interval_cells",
                        Kind::Integer(1, u32::MAX as i64),
                        "100",
                        "The queue is compared with what it was each time that so many ABR cells have arrived.",
                    ),
                    key(
                        "growth_threshold",
                        CELLS,
                        "\"0 cells\"",
                        "If it has grown by more than this, who claims more than dpf of the mean is to reduce.",
                    ),
                    required(
                        "high_threshold",
                        CELLS,
                        "DQT: above this ABR queue, everybody is to go to mrf of the mean.",
                    ),
                    MARKING_AVERAGE,
                    MARKING_DPF,
                    MARKING_ERF,
                    MARKING_MRF,
                ],
            },
        ),
        (
            "capc",
            Shape {
                name: "capc",
                about: "CAPC: one rate for all connections, which grows and shrinks in proportion to the load.",
                keys: &[
                    key("interval", SPAN, "\"1 ms\"", "Averaging interval: its length at most."),
                    key(
                        "interval_cells",
                        Kind::Integer(1, u32::MAX as i64),
                        "none",
                        "The interval ends early when so many ABR cells have arrived.",
                    ),
                    key("target_utilization", SHARE, "0.95", "Share of the line that is aimed at."),
                    key("rup", Kind::Ratio(Range::above(0.0, f64::MAX)), "0.1", "Steepness of growth."),
                    key("rdn", Kind::Ratio(Range::above(0.0, f64::MAX)), "0.8", "Steepness of shrinking."),
                    key(
                        "eru",
                        Kind::Ratio(Range::above(1.0, f64::MAX)),
                        "1.5",
                        "Largest factor of one interval.",
                    ),
                    key(
                        "erf",
                        Kind::Ratio(Range::between(0.0, 1.0)),
                        "0.5",
                        "Smallest factor of one interval.",
                    ),
                    key("threshold", CELLS, "\"50 cells\"", "CI is set while the ABR queue is above this."),
                ],
            },
        ),
        (
            "phantom",
            Shape {
                name: "phantom",
                about: "Phantom: one rate for all connections, a multiple of the mean of what they leave of the line.",
                keys: &[
                    key("interval", SPAN, "\"0.5 ms\"", "Averaging interval: its length at most."),
                    key(
                        "interval_cells",
                        Kind::Integer(1, u32::MAX as i64),
                        "none",
                        "The interval ends early when so many ABR cells have arrived.",
                    ),
                    key(
                        "utilization_factor",
                        Kind::Ratio(Range::above(0.0, f64::MAX)),
                        "5",
                        "How many times the mean a connection may send: n of them have n times this of what is left.",
                    ),
                    key("alpha", SHARE, "1/128", "Weight of the newest interval in the mean."),
                ],
            },
        ),
        (
            "consistent-marking",
            Shape {
                name: "consistent-marking",
                about: "Consistent marking: one rate for all connections, which is what those held back elsewhere leave for each other one.",
                keys: &[
                    key("interval", SPAN, "\"5 ms\"", "Averaging interval: its length at most."),
                    key(
                        "interval_cells",
                        Kind::Integer(1, u32::MAX as i64),
                        "none",
                        "The interval ends early when so many ABR cells have arrived.",
                    ),
                    key("target_utilization", SHARE, "0.95", "Share of the line that is handed out."),
                    FAIRNESS,
                ],
            },
        ),
        (
            "custom",
            Shape {
                name: "custom",
                about: "An algorithm that is not built in. The run is given it by its name (docs/guides/algorithms.md).",
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
        (
            "erica",
            Shape {
                name: "erica",
                about: "Explicit rate by ERICA.",
                keys: erica_keys![key(
                    "target_utilization",
                    SHARE,
                    "0.9",
                    "Share of the line that is handed out."
                )],
            },
        ),
        (
            "erica+",
            Shape {
                name: "erica+",
                about: "Explicit rate by ERICA+: the share of the line falls as the queueing delay grows.",
                keys: erica_keys![
                    key("t0", SPAN, "\"500 us\"", "The queueing delay aimed at."),
                    key(
                        "t1",
                        SPAN,
                        "t0",
                        "The end of the dead band, which begins at t0: the share is 1 there. At least t0."
                    ),
                    key(
                        "function",
                        Kind::Choice(&["hyperbolic", "step", "linear", "inverse-hyperbolic"]),
                        "\"hyperbolic\"",
                        "How the share falls as the queueing delay grows (docs/algorithms/erica-plus.md)."
                    ),
                    key(
                        "drained_by",
                        Kind::Choice(&["capacity", "line"]),
                        "\"capacity\"",
                        "What the queueing delay divides the queue by: what higher categories leave of the line, or the line."
                    ),
                    key("a", SLOPE, "1.15", "Slope above t0."),
                    key("b", SLOPE, "1.05", "Share at an empty queue, and slope below t0."),
                    key("qdlf", SHARE, "0.5", "Queue drain limit factor: the smallest share."),
                ],
            },
        ),
    ],
};

const AGING: Shape = Shape {
    name: "aging",
    about: "The switch based use-it-or-lose-it policy (paper uili, section 5.5).",
    keys: &[
        key("alpha", Kind::Ratio(Range::above(0.0, 10.0)), "0.1", "Steepness of the aging function."),
        key(
            "delta",
            Kind::Ratio(Range::closed(1.0, 100.0)),
            "1.5",
            "Ratio of claimed to measured rate that is left in peace.",
        ),
        key(
            "used",
            Kind::Ratio(Range::closed(1.0, 100.0)),
            "1.1",
            "Ratio up to which a connection counts as using all it has; at most delta.",
        ),
        key("weight", SHARE, "1/4", "Weight of the newest interval in the smoothed rates."),
        key("floor", RATE, "\"10 Mbps\"", "What is left of every allocation, at most 16777215 cells/s."),
    ],
};
