//! The file format as one table: every key with its kind, its default and a sentence. The parser's checks, the JSON
//! Schema and the reference in docs/scenarios.md all come from here, so that they cannot disagree.

mod tcp;
mod video;

use crate::quantity::Dimension;

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// The name of a thing, with `{i}` in groups.
    Name,
    /// The name of a node, a connection or a port that is defined elsewhere.
    Reference,
    /// A whole number in a range.
    Integer(i64, i64),
    Boolean,
    /// A number with a unit, zero or more.
    Quantity(Dimension),
    /// The same, above zero.
    Positive(Dimension),
    /// A ratio in a range.
    Ratio(Range),
    /// A power of two from 1/32768 to 1.
    PowerOfTwo,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The first that fits.
    Or(&'static [Kind]),
    /// A list of at least so many.
    List(&'static Kind, usize),
    /// A list of exactly two.
    Pair(&'static Kind, &'static Kind),
    Table(&'static Shape),
    /// A table whose `type` says which keys it has.
    Tagged(&'static Tagged),
    /// A table with keys of the user's choice.
    Map(&'static Kind),
    /// `[[...]]`: entries, which may be groups when the shape has a `count`.
    Entries(&'static Shape),
    /// A value of any other key.
    Any,
}

impl Kind {
    /// Whether a list is one value of this kind; where it is not, a list in a group gives each member its own value.
    pub fn is_list(self) -> bool {
        matches!(self, Kind::List(..) | Kind::Pair(..) | Kind::Any | Kind::Entries(_))
    }
}

/// The bounds of a ratio.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub low: f64,
    pub high: f64,
    pub low_included: bool,
    pub high_included: bool,
}

impl Range {
    const fn closed(low: f64, high: f64) -> Range {
        Range { low, high, low_included: true, high_included: true }
    }

    const fn above(low: f64, high: f64) -> Range {
        Range { low, high, low_included: false, high_included: true }
    }

    const fn below(low: f64, high: f64) -> Range {
        Range { low, high, low_included: true, high_included: false }
    }

    pub fn contains(&self, value: f64) -> bool {
        (value > self.low || self.low_included && value == self.low)
            && (value < self.high || self.high_included && value == self.high)
    }

    pub fn phrase(&self) -> String {
        if self.low == self.high {
            return format!("exactly {}", self.low);
        }
        let low =
            if self.low_included { format!("{} or more", self.low) } else { format!("above {}", self.low) };
        match (self.high == f64::MAX, self.high_included) {
            (true, _) => low,
            (false, true) => format!("{low}, at most {}", self.high),
            (false, false) => format!("{low}, below {}", self.high),
        }
    }
}

/// A table: its keys.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The name in the schema and the reference.
    pub name: &'static str,
    pub about: &'static str,
    pub keys: &'static [Key],
}

impl Shape {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// A family of tables told apart by `type`.
#[derive(Debug)]
pub(crate) struct Tagged {
    /// The variant without a `type`, if there is one.
    pub default: Option<&'static str>,
    /// `type` and keys.
    pub variants: &'static [(&'static str, Shape)],
}

impl Tagged {
    pub fn variant(&self, name: &str) -> Option<&'static Shape> {
        self.variants.iter().find(|(tag, _)| *tag == name).map(|(_, shape)| shape)
    }

    /// The shapes that a table with this `type`, or none, may have.
    pub fn shapes(&self, tag: Option<&str>) -> impl Iterator<Item = &'static Shape> {
        self.variants
            .iter()
            .filter(move |(name, _)| tag.is_none_or(|tag| tag == *name))
            .map(|(_, shape)| shape)
    }
}

/// A key of a table.
#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    /// The default, as a phrase.
    pub default: &'static str,
    pub about: &'static str,
}

const fn key(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Key {
    Key { name, kind, required: false, default, about }
}

const fn required(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, required: true, default: "required", about }
}

const TIME: Kind = Kind::Quantity(Dimension::Time);
const SPAN: Kind = Kind::Positive(Dimension::Time);
const RATE: Kind = Kind::Quantity(Dimension::Rate);
const POSITIVE_RATE: Kind = Kind::Positive(Dimension::Rate);
const CELLS: Kind = Kind::Quantity(Dimension::Cells);
const ROOM: Kind = Kind::Or(&[CELLS, Kind::Choice(&["infinite"])]);
const COUNT: Key = key(
    "count",
    Kind::Integer(1, 65_536),
    "1",
    "How many the entry stands for; `{i}` in its strings runs from 1 to this, `{i+1}` and the like beside it, and a list of so many values gives each its own.",
);
const LIKE: Key = key(
    "like",
    Kind::Text,
    "none",
    "Takes all keys of another entry of the same kind, by its name as written; own keys win.",
);
const NAME: Key =
    required("name", Kind::Name, "Unique name: letters, digits, `_` and `-`; with `{i}` in a group.");

pub(crate) const ROOT: Shape = Shape {
    name: "scenario",
    about: "A network, its connections, and what to record of them.",
    keys: &[
        required("name", Kind::Text, "Short name, for files and titles."),
        key(
            "purpose",
            Kind::Text,
            "the comment at the head of the file",
            "One or more sentences: what the scenario is for.",
        ),
        required("duration", SPAN, "How long the network is watched."),
        key("seed", Kind::Integer(0, i64::MAX), "1", "Seed of all randomness."),
        key(
            "admission",
            Kind::Or(&[Kind::Boolean, Kind::Table(&ADMISSION)]),
            "false",
            "Whether connections ask to be admitted, in the order of the file; one that is refused does not run, and is reported.",
        ),
        key(
            "defaults",
            Kind::Table(&DEFAULTS),
            "none",
            "Values for all entries of a kind that do not say otherwise.",
        ),
        key("host", Kind::Entries(&HOST), "none", "Hosts: connections begin and end there."),
        key("switch", Kind::Entries(&SWITCH), "none", "Switches with output-buffered ports."),
        key("link", Kind::Entries(&LINK), "none", "Duplex links."),
        key("vc", Kind::Entries(&VC), "none", "Virtual channel connections."),
        key("probe", Kind::Entries(&PROBE), "none", "Series to record."),
        key("sweep", Kind::Entries(&SWEEP), "none", "Keys to vary: one run for every combination of values."),
    ],
};

const ADMISSION: Shape = Shape {
    name: "admission",
    about: "Connection admission control, and negotiation along each path (paper 002, sections 3 to 6). A link carries at most its rate in PCR of CBR, SCR of VBR and MCR of ABR connections, in each direction with traffic.",
    keys: &[
        key(
            "negotiate",
            Kind::Boolean,
            "true",
            "Whether the nodes of a path change the ABR parameters: PCR to the smallest link, FRTT from the delays, and what `negotiation` of a switch says.",
        ),
        key(
            "charging",
            Kind::Integer(2, 10),
            "none",
            "Limits PCR to so many times MCR (section 3.2); a connection without MCR is refused.",
        ),
        key(
            "signal",
            Kind::List(&Kind::Choice(&["nrm", "trm", "cdf", "adtf"]), 0),
            "all four",
            "The optional parameters that set-up carries, and switches can change.",
        ),
    ],
};

const DEFAULTS: Shape = Shape {
    name: "defaults",
    about: "Each table holds keys as they stand in an entry of that kind.",
    keys: &[
        key("link", Kind::Table(&LINK_DEFAULTS), "none", "For every link."),
        key("switch", Kind::Table(&SWITCH_DEFAULTS), "none", "For every switch."),
        key("abr", Kind::Table(&ABR), "none", "For every connection of category abr, both directions."),
        key("vc", Kind::Table(&VC_DEFAULTS), "none", "For every connection."),
    ],
};

const HOST: Shape = Shape { name: "host", about: "A host.", keys: &[NAME, COUNT, LIKE] };

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
const EFCI_KEY: Key = key(
    "efci",
    Kind::Or(&[Kind::Table(&EFCI), Kind::Choice(&["off"])]),
    "\"off\"",
    "EFCI marking of data cells in each output port.",
);
const ALGORITHM_KEY: Key = key(
    "algorithm",
    Kind::Tagged(&ALGORITHM),
    "{ type = \"none\" }",
    "What each output port writes into backward RM cells.",
);

const NEGOTIATION_KEY: Key = key(
    "negotiation",
    Kind::Table(&NEGOTIATION),
    "none",
    "What the switch does to the ABR parameters of a connection that is set up through it; needs `admission`.",
);

const SWITCH: Shape = Shape {
    name: "switch",
    about: "A switch.",
    keys: &[
        NAME,
        BUFFERS_KEY,
        RM_CELLS_KEY,
        EFCI_KEY,
        ALGORITHM_KEY,
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

const SWITCH_DEFAULTS: Shape = Shape {
    name: "switch_defaults",
    about: "Defaults of switches.",
    keys: &[BUFFERS_KEY, RM_CELLS_KEY, EFCI_KEY, ALGORITHM_KEY, NEGOTIATION_KEY],
};

const NEGOTIATION: Shape = Shape {
    name: "negotiation",
    about: "Limits and wishes of a switch at set-up; what is not given is left alone (paper 002, table 1).",
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
        key("nrm", Kind::Integer(2, 256), "none", "Nrm it wants: a power of two from 2 to 256."),
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
    keys: &[BUFFERS_KEY, RM_CELLS_KEY, EFCI_KEY, ALGORITHM_KEY],
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

const EFCI: Shape = Shape {
    name: "efci",
    about: "Thresholds on the ABR queue.",
    keys: &[
        required("high", CELLS, "Marking begins when the queue is above this."),
        key("low", CELLS, "`high`", "Marking ends when the queue is at or below this; at most `high`."),
    ],
};

const FRACTION: Kind = Kind::Ratio(Range::closed(0.0, 1.0));
const SHARE: Kind = Kind::Ratio(Range::above(0.0, 1.0));

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
            key("load_averaging", Kind::Choice(&["none", "ratio", "components"]), "\"none\"", "Averages the load factor over intervals: itself, or its input and capacity each on its own."),
            key("alpha", SHARE, "required with load_averaging", "Weight of the newest interval in the average."),
            key("immediate_fair_share", Kind::Boolean, "false", "FairShare falls at once when a connection becomes active within an interval."),
            key("measured_ccr", Kind::Boolean, "false", "The rate of a connection is measured instead of read from its RM cells."),
            key("aging", Kind::Or(&[Kind::Table(&AGING), Kind::Choice(&["off"])]), "\"off\"", "Grants less to a connection that claims more than it sends; {} for all defaults."),
        ]
    };
}

const ALGORITHM: Tagged = Tagged {
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
                about: "Sources send at PCR or at MCR (paper 003). The ABR connections through such a port have RIF, RDF and CDF 1, Nrm 32, and ICR PCR or MCR: what they do not say is that, ICR being PCR where TBE / FRTT is at least PCR, and MCR otherwise; anything else is an error.",
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
                    key("a", Kind::Ratio(Range::above(1.0, f64::MAX)), "1.15", "Slope above t0."),
                    key(
                        "b",
                        Kind::Ratio(Range::above(1.0, f64::MAX)),
                        "1.05",
                        "Share at an empty queue, and slope below t0."
                    ),
                    key("qdlf", SHARE, "0.5", "Queue drain limit factor: the smallest share."),
                ],
            },
        ),
    ],
};

const RATE_KEY: Key = key(
    "rate",
    Kind::Positive(Dimension::LineRate),
    "required here or in defaults.link",
    "Line rate, headers and all, the same both ways.",
);
const LENGTH_KEY: Key = key(
    "length",
    Kind::Quantity(Dimension::Length),
    "required: this or delay",
    "Length; light takes 5 us per km.",
);
const DELAY_KEY: Key = key("delay", TIME, "required: this or length", "One-way propagation delay.");
const LOSS_KEY: Key = key("loss", FRACTION, "0", "Probability that a cell is lost on the line, either way.");
const OUTAGES_KEY: Key = key(
    "outages",
    Kind::List(&Kind::Pair(&TIME, &TIME), 0),
    "[]",
    "Spans [start, end] in which the line is down, either way; in order, apart.",
);

const LINK: Shape = Shape {
    name: "link",
    about: "A duplex link.",
    keys: &[
        required(
            "between",
            Kind::Pair(&Kind::Reference, &Kind::Reference),
            "The two nodes. The entry is called by both names with `-` between them.",
        ),
        RATE_KEY,
        LENGTH_KEY,
        DELAY_KEY,
        LOSS_KEY,
        OUTAGES_KEY,
        COUNT,
        LIKE,
    ],
};

const LINK_DEFAULTS: Shape = Shape {
    name: "link_defaults",
    about: "Defaults of links.",
    keys: &[RATE_KEY, LENGTH_KEY, DELAY_KEY, LOSS_KEY, OUTAGES_KEY],
};

const CATEGORY_KEY: Key = key(
    "category",
    Kind::Choice(&["abr", "cbr", "vbr", "ubr"]),
    "\"abr\"",
    "Service category; a port serves cbr and vbr before abr and abr before ubr.",
);
const ABR_KEY: Key = key(
    "abr",
    Kind::Table(&ABR),
    "defaults.abr",
    "ABR parameters of the forward direction, and of the other one where `reverse` does not say otherwise.",
);
const TRAFFIC_KEY: Key = key(
    "traffic",
    Kind::Tagged(&TRAFFIC),
    "{ type = \"greedy\" } for abr, required for others",
    "What the first host of the path has to send.",
);
const REVERSE_KEY: Key = key(
    "reverse",
    Kind::Table(&REVERSE),
    "no traffic",
    "The direction from the last host back to the first.",
);
const BIDIRECTIONAL_KEY: Key =
    key("bidirectional", Kind::Boolean, "false", "The last host sends the same traffic as the first.");
const PEAK_KEY: Key = key(
    "pcr",
    POSITIVE_RATE,
    "the smallest link rate of the path",
    "Peak rate of a cbr, vbr or ubr sender, both directions; for abr it is `abr.pcr`.",
);
const MCR_MIN_KEY: Key = key(
    "mcr_min",
    RATE,
    "none: MCR is not negotiable",
    "Smallest MCR that an abr connection accepts, both directions, at most `abr.mcr`; needs `admission`.",
);
const SCR_KEY: Key = key(
    "scr",
    POSITIVE_RATE,
    "the mean rate of constant and on-off traffic, else pcr",
    "Sustainable cell rate of a vbr connection, both directions, that admission books; at most pcr; needs `admission`.",
);

const VC: Shape = Shape {
    name: "vc",
    about: "A virtual channel connection.",
    keys: &[
        NAME,
        required(
            "path",
            Kind::List(&Kind::Reference, 2),
            "The nodes from the first host to the last, each linked to the next.",
        ),
        CATEGORY_KEY,
        ABR_KEY,
        TRAFFIC_KEY,
        REVERSE_KEY,
        BIDIRECTIONAL_KEY,
        PEAK_KEY,
        MCR_MIN_KEY,
        SCR_KEY,
        COUNT,
        LIKE,
    ],
};

const VC_DEFAULTS: Shape = Shape {
    name: "vc_defaults",
    about: "Defaults of connections.",
    keys: &[
        CATEGORY_KEY,
        ABR_KEY,
        TRAFFIC_KEY,
        REVERSE_KEY,
        BIDIRECTIONAL_KEY,
        PEAK_KEY,
        MCR_MIN_KEY,
        SCR_KEY,
    ],
};

const REVERSE: Shape = Shape {
    name: "reverse",
    about: "The backward direction of a connection.",
    keys: &[
        key("traffic", Kind::Tagged(&TRAFFIC), "none", "What the last host of the path has to send."),
        key(
            "abr",
            Kind::Table(&ABR),
            "as forward",
            "ABR parameters that differ from those of the forward direction.",
        ),
    ],
};

const ABR: Shape = Shape {
    name: "abr",
    about: "Parameters of an ABR source and of the destination of its cells (TM 4.0, 5.10.3 to 5.10.5).",
    keys: &[
        key(
            "pcr",
            RATE,
            "the smallest link rate of the path, at most 16777215 cells/s",
            "Peak cell rate, above 0 to 16777215 cells/s.",
        ),
        key("mcr", RATE, "0", "Minimum cell rate, at most pcr."),
        key("icr", RATE, "pcr", "Initial cell rate, from mcr to pcr."),
        key(
            "nrm",
            Kind::Integer(0, u32::MAX as i64),
            "32",
            "In-rate cells per forward RM cell: a power of two from 2 to 256.",
        ),
        key(
            "trm",
            SPAN,
            "\"100 ms\"",
            "Longest time between forward RM cells while cells flow: 100 ms times a power of two from 2^-7 to 1.",
        ),
        key(
            "rif",
            Kind::PowerOfTwo,
            "1/16",
            "Largest increase per backward RM cell, as a fraction of pcr: a power of two from 1/32768 to 1.",
        ),
        key(
            "rdf",
            Kind::PowerOfTwo,
            "1/16",
            "Decrease on congestion indication, as a fraction of the allowed cell rate: a power of two from 1/32768 to 1.",
        ),
        key(
            "adtf",
            SPAN,
            "\"500 ms\"",
            "Idle time after which the allowed cell rate falls to icr: 10 ms to 10.23 s in steps of 10 ms.",
        ),
        key("tbe", CELLS, "16777215 cells", "Transient buffer exposure, at most 16777215 cells."),
        key(
            "crm",
            Kind::Integer(1, u32::MAX as i64),
            "tbe / nrm, rounded up",
            "Forward RM cells without a backward one before rule 6 acts.",
        ),
        key(
            "cdf",
            Kind::Or(&[Kind::PowerOfTwo, Kind::Ratio(Range::closed(0.0, 0.0))]),
            "1/16",
            "Decrease of rule 6 as a fraction of the allowed cell rate: a power of two from 1/64 to 1, or 0, which disables the rule.",
        ),
        key(
            "frtt",
            TIME,
            "twice the delays of the path's links",
            "Fixed round-trip time, at most 16.777215 s.",
        ),
        key("weight", Kind::Ratio(Range::closed(0.001, 1000.0)), "1", "Weight in weighted max-min sharing."),
        key(
            "efci_state",
            Kind::Choice(&["clear", "keep"]),
            "\"clear\"",
            "Whether the destination clears its EFCI state when it turns a forward RM cell around (TM 4.0) or keeps it until a data cell changes it.",
        ),
        key(
            "waiting_brm",
            Kind::Choice(&["overwrite", "out-of-rate"]),
            "\"overwrite\"",
            "What the destination does with a turned-around RM cell that still waits when the next comes (rule 3).",
        ),
        key(
            "uili",
            Kind::Or(&[Kind::Tagged(&UILI), Kind::Choice(UILI_POLICIES)]),
            "\"none\"",
            "Use-it-or-lose-it policy of the source beyond rule 5: a table, or the type alone.",
        ),
    ],
};

/// The types of [`UILI`] (held by a test): a policy with its defaults may be named alone.
const UILI_POLICIES: &[&str] =
    &["none", "february-1995", "april-1995", "august-1995", "baseline", "count-based", "time-based", "joint"];

const PNI_KEY: Key = key(
    "pni",
    Kind::Boolean,
    "false",
    "Prohibit no increase: the next backward RM cell may raise ACR again.",
);
const TOF_KEY: Key = key(
    "tof",
    Kind::Ratio(Range { low: 1.0, high: f64::MAX, low_included: true, high_included: true }),
    "2",
    "A forward RM cell is late when it comes more than tof times nrm/ACR after the last.",
);
const RDF_KEY: Key = key(
    "rdf",
    Kind::Ratio(Range { low: 1.0, high: f64::MAX, low_included: true, high_included: true }),
    "1 / abr.rdf",
    "Divisor of the decrease, as in 1995: 512 where abr.rdf is 1/512.",
);

const fn tdf_key(default: &'static str) -> Key {
    key("tdf", FRACTION, default, "Share of ACR that is lost each time.")
}

const UILI: Tagged = Tagged {
    default: None,
    variants: &[
        ("none", Shape { name: "none", about: "Nothing beyond rule 5.", keys: &[] }),
        (
            "february-1995",
            Shape {
                name: "february-1995",
                about: "ACR falls with the time without a backward RM cell (paper 004, section 3).",
                keys: &[
                    key(
                        "tof",
                        Kind::Integer(1, u32::MAX as i64),
                        "2",
                        "Forward RM cells without a backward one or a decrease before ACR falls.",
                    ),
                    RDF_KEY,
                ],
            },
        ),
        (
            "april-1995",
            Shape {
                name: "april-1995",
                about: "The harmonic decrease (paper 004, section 3).",
                keys: &[TOF_KEY, RDF_KEY],
            },
        ),
        (
            "august-1995",
            Shape {
                name: "august-1995",
                about: "Rule 5 of the draft of August 1995 (paper 004, section 3).",
                keys: &[
                    TOF_KEY,
                    key(
                        "tdff",
                        Kind::Or(&[Kind::PowerOfTwo, Kind::Ratio(Range::closed(0.0, 0.0))]),
                        "1/8, unless tdf is given",
                        "ACR loses tdff times abr.rdf times (the smallest power of two not below pcr, in cells/s) per second since the last forward RM cell: a power of two from 1/32768 to 1, or 0.",
                    ),
                    key(
                        "tdf",
                        Kind::Ratio(Range {
                            low: 0.0,
                            high: f64::MAX,
                            low_included: true,
                            high_included: true,
                        }),
                        "from tdff",
                        "The same share itself, per second.",
                    ),
                    PNI_KEY,
                ],
            },
        ),
        (
            "baseline",
            Shape {
                name: "baseline",
                about: "Enhanced August 1995 (paper 004, section 4.2).",
                keys: &[
                    tdf_key("1/8"),
                    key(
                        "floor",
                        Kind::Choice(&["icr", "source-rate-plus-icr"]),
                        "\"icr\"",
                        "Below what ACR is not lowered.",
                    ),
                    PNI_KEY,
                ],
            },
        ),
        (
            "count-based",
            Shape {
                name: "count-based",
                about: "Regions A to D with a headroom (paper 004, section 5.2).",
                keys: &[
                    tdf_key("1/8"),
                    key(
                        "headroom",
                        RATE,
                        "\"10 Mbps\"",
                        "How far ACR may exceed the rate of the source, at most 16777215 cells/s.",
                    ),
                    key(
                        "pr5",
                        Kind::Boolean,
                        "false",
                        "The first forward RM cell after an increase lowers nothing.",
                    ),
                    key(
                        "delta",
                        RATE,
                        "ACR/512",
                        "Slot granularity: ACR up to this above the rate of the source counts as used, at most 16777215 cells/s.",
                    ),
                ],
            },
        ),
        (
            "time-based",
            Shape {
                name: "time-based",
                about: "ACR falls with the time since the last forward RM cell (paper 004, section 5.3).",
                keys: &[
                    key(
                        "floor",
                        Kind::Choice(&["icr-plus-source-rate", "multiple"]),
                        "\"icr-plus-source-rate\"",
                        "Below what ACR is not lowered; \"multiple\" is the larger of icr and tof times the rate of the source.",
                    ),
                    key(
                        "tof",
                        Kind::Ratio(Range {
                            low: 1.0,
                            high: f64::MAX,
                            low_included: true,
                            high_included: true,
                        }),
                        "2",
                        "Goes with floor = \"multiple\".",
                    ),
                    key(
                        "addf",
                        Kind::Ratio(Range::above(0.0, f64::MAX)),
                        "2",
                        "Everything unused is lost within the larger of addf times frtt and tbe/pcr.",
                    ),
                    key("tc", SPAN, "from addf", "That time itself."),
                    PNI_KEY,
                ],
            },
        ),
        (
            "joint",
            Shape {
                name: "joint",
                about: "The joint source based policy (paper 004, section 5.4; TM 4.0, appendix I.8).",
                keys: &[tdf_key("1/16"), PNI_KEY],
            },
        ),
    ],
};

const AGING: Shape = Shape {
    name: "aging",
    about: "The switch based use-it-or-lose-it policy (paper 004, section 5.5).",
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

const START_KEY: Key = key("start", TIME, "\"0 ms\"", "The first instant with data.");
const END_KEY: Key = key("end", TIME, "never", "No data from this instant on.");
const PERIOD: Kind = Kind::Or(&[SPAN, Kind::Table(&EXPONENTIAL)]);

const EXPONENTIAL: Shape = Shape {
    name: "exponential",
    about: "An exponentially distributed time.",
    keys: &[required("exponential", SPAN, "The mean.")],
};

const WINDOW: Shape = Shape {
    name: "window",
    about: "A window of greedy traffic.",
    keys: &[
        START_KEY,
        key(
            "end",
            TIME,
            "never",
            "Data is gone from this instant on; what is unsent is dropped by the application.",
        ),
        key("cells", CELLS, "no limit", "At most so many data cells."),
    ],
};

const TRAFFIC: Tagged = Tagged {
    default: Some("greedy"),
    variants: &[
        (
            "greedy",
            Shape {
                name: "greedy",
                about: "Always more data, as fast as the sender may; in windows, or in the one window of start, end and cells.",
                keys: &[
                    key(
                        "windows",
                        Kind::List(&Kind::Table(&WINDOW), 1),
                        "always",
                        "When there is data; in order, apart.",
                    ),
                    START_KEY,
                    END_KEY,
                    key("cells", CELLS, "no limit", "At most so many data cells."),
                ],
            },
        ),
        (
            "limited",
            Shape {
                name: "limited",
                about: "Data at no more than a rate that changes in time, without backlog.",
                keys: &[
                    key(
                        "steps",
                        Kind::List(&Kind::Pair(&TIME, &Kind::Or(&[RATE, Kind::Choice(&["unlimited"])])), 1),
                        "required: this or rate",
                        "[instant, rate] from each instant on, in order; before the first nothing is sent.",
                    ),
                    key("rate", RATE, "required: this or steps", "One rate from the start on."),
                ],
            },
        ),
        (
            "constant",
            Shape {
                name: "constant",
                about: "One cell every 1/rate; what the sender may not yet send waits.",
                keys: &[required("rate", POSITIVE_RATE, "Rate of data cells."), START_KEY, END_KEY],
            },
        ),
        (
            "on-off",
            Shape {
                name: "on-off",
                about: "On and off by turns; what the sender may not yet send waits.",
                keys: &[
                    required("rate", POSITIVE_RATE, "Rate of data cells while on."),
                    required("on", PERIOD, "How long it is on each time."),
                    required("off", PERIOD, "How long it is off each time."),
                    START_KEY,
                    END_KEY,
                ],
            },
        ),
        (
            "timed",
            Shape {
                name: "timed",
                about: "So many cells at each of these instants.",
                keys: &[required(
                    "cells",
                    Kind::List(&Kind::Pair(&TIME, &Kind::Integer(1, u32::MAX as i64)), 1),
                    "[instant, number of cells], in order.",
                )],
            },
        ),
        (
            "request-response",
            Shape {
                name: "request-response",
                about: "A client sends requests, the server at the other end of the path answers each when it is whole, and the next cycle begins after the last answer (paper 004, section 7.2.1). The reverse direction carries the answers.",
                keys: &[
                    required(
                        "response",
                        Kind::Positive(Dimension::Cells),
                        "Length of a response, 1 cell or more.",
                    ),
                    key(
                        "request",
                        Kind::Positive(Dimension::Cells),
                        "\"16 cells\"",
                        "Length of a request, 1 cell or more.",
                    ),
                    key("requests", Kind::Integer(1, u32::MAX as i64), "1", "Requests in a cycle."),
                    key(
                        "request_gap",
                        TIME,
                        "\"0 ms\"",
                        "From the end of one request to the next in its cycle.",
                    ),
                    key(
                        "cycle_gap",
                        TIME,
                        "\"1 ms\"",
                        "From the arrival of a cycle's last response to the next cycle.",
                    ),
                    key("server_time", TIME, "\"0 ms\"", "From the arrival of a request to its response."),
                    key(
                        "rate",
                        POSITIVE_RATE,
                        "pcr",
                        "Rate of the cells of a burst as the application hands it over.",
                    ),
                    key(
                        "record",
                        Kind::Integer(0, u32::MAX as i64),
                        "0",
                        "How many bursts of each direction the results list one by one.",
                    ),
                    START_KEY,
                    key("end", TIME, "never", "No cycle begins at or after this."),
                ],
            },
        ),
        ("tcp", tcp::TCP),
        ("video", video::VIDEO),
        ("none", Shape { name: "none", about: "No data; for abr, RM cells only.", keys: &[] }),
    ],
};

/// Quantities of one direction of a connection, by their names in `record`.
pub(crate) const FLOW_QUANTITIES: &[&str] = &[
    "acr",
    "source_rate",
    "received",
    "source_queue",
    "drops",
    "forward_rm",
    "backward_rm",
    "cwnd",
    "rtt",
    "retransmissions",
];
/// Quantities of any port.
pub(crate) const PORT_QUANTITIES: &[&str] =
    &["queue", "guaranteed_queue", "abr_queue", "ubr_queue", "utilization", "port_drops"];

const PROBE: Shape = Shape {
    name: "probe",
    about: "Series to record.",
    keys: &[
        required(
            "record",
            Kind::List(&RECORD, 1),
            "Quantities: of a direction of a connection, of a port, or of the port's algorithm.",
        ),
        key(
            "of",
            Kind::List(&Kind::Reference, 1),
            "all forward directions with traffic, all switch ports on the way of data that have the quantity",
            "Of what: \"vc1\", \"vc1 (back)\", \"sw1->sw2\"; with {i}, all of a group.",
        ),
        required(
            "every",
            Kind::Or(&[SPAN, Kind::Choice(&["change"])]),
            "A value at every multiple of this span, or at every change.",
        ),
    ],
};

/// Flow quantities, port quantities, then the figures of [`cellrate_proto::switch::ERICA_METRICS`] (held by a test).
const RECORD: Kind = Kind::Choice(&[
    "acr",
    "source_rate",
    "received",
    "source_queue",
    "drops",
    "forward_rm",
    "backward_rm",
    "cwnd",
    "rtt",
    "retransmissions",
    "queue",
    "guaranteed_queue",
    "abr_queue",
    "ubr_queue",
    "utilization",
    "port_drops",
    "z",
    "n",
    "fair_share",
    "capacity",
    "max_alloc",
]);

const SWEEP: Shape = Shape {
    name: "sweep",
    about: "A key that is varied.",
    keys: &[
        required(
            "set",
            Kind::Text,
            "The dotted path of the key, such as defaults.abr.nrm or vc.vc1.abr.icr.",
        ),
        required("values", Kind::List(&Kind::Any, 1), "The values it takes by turns."),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::switch::ERICA_METRICS;

    #[test]
    fn record_names_every_quantity_there_is() {
        let Kind::Choice(names) = RECORD else { panic!("a choice") };
        assert_eq!(names, [FLOW_QUANTITIES, PORT_QUANTITIES, ERICA_METRICS].concat());
    }

    #[test]
    fn every_policy_may_be_named_alone() {
        assert_eq!(UILI_POLICIES, UILI.variants.iter().map(|(tag, _)| *tag).collect::<Vec<_>>());
    }

    #[test]
    fn ranges_know_their_ends() {
        let share = Range::above(0.0, 1.0);
        assert!(
            !share.contains(0.0)
                && share.contains(1e-9)
                && share.contains(1.0)
                && !share.contains(1.0 + 1e-9)
        );
        let decay = Range::below(0.0, 1.0);
        assert!(decay.contains(0.0) && !decay.contains(1.0) && !decay.contains(f64::NAN));
        assert_eq!(share.phrase(), "above 0, at most 1");
    }
}
