//! The file format as one table: every key with its kind, its default and a sentence. The parser's checks, the JSON
//! Schema and the reference in docs/scenarios.md all come from here, so that they cannot disagree.

mod application;
mod changing;
mod channel;
mod congested;
mod flows;
mod host;
mod link;
mod loopback;
mod measuring;
mod police;
mod switch;
mod traffic;
mod tree;
mod uili;

use application::APPLICATION;
use cellrate_proto::AbrParameters;
use cellrate_proto::declaration::{Key, Kind, Range, Setting, Shape, joined, key, required, total};
use cellrate_proto::switch::FIGURES;

use crate::clocks::CLOCKS_KEY;
use crate::keys::{POSITIVE_RATE, RATE, SPAN};
use crate::model::{
    Category, DemandQuantity, FlowQuantity, LiveSettings, PortQuantity, Shaping, Tagging, WaitingBrm,
};
pub(crate) use changing::Change;
use channel::CHANNELS_KEY;
use congested::CONGESTED_KEY;
pub(crate) use congested::Congested;
use flows::FLOWS;
pub(crate) use flows::MOST_SLOTS;
use host::{HOST, HOST_DEFAULTS};
pub(crate) use link::LinkTable;
use link::{LINK, LINK_DEFAULTS};
use loopback::LOOPBACK_KEY;
use measuring::{WARM_UP_KEY, WINDOW};
pub(crate) use police::{Conformance, DEFINITIONS, Method, Misbehaves, Police};
use police::{MISBEHAVES_BACK_KEY, MISBEHAVES_KEY, POLICE_BACK_KEY, POLICE_KEY};
pub(crate) use switch::Negotiation;
use switch::{SWITCH, SWITCH_DEFAULTS};
use traffic::TRAFFIC;
use tree::BRANCHES_KEY;
use uili::{UILI, UILI_POLICIES};

const COUNT: Key = key(
    "count",
    Kind::Integer(1, 65_536),
    "1",
    "Number of members that the entry stands for. `{i}` in its strings runs from 1 to this number, `{i+1}` and the like along with it; a list of so many values gives each member its own.",
);
const LIKE: Key = key(
    "like",
    Kind::Text,
    "none",
    "Copies all keys of another entry of the same kind, by its name as written; the entry's own keys take precedence.",
);
const NAME: Key =
    required("name", Kind::Name, "Unique name: letters, digits, `_` and `-`; with `{i}` in a group.");

pub(crate) const ROOT: Shape = Shape {
    name: "scenario",
    about: "A network, its connections, and what to record of them.",
    keys: &[
        required("name", Kind::Text, "Short name, used in names of files and in titles."),
        key(
            "purpose",
            Kind::Text,
            "the comment at the head of the file",
            "One or more sentences: what the scenario is for.",
        ),
        required("duration", SPAN, "Length of the run, in the network's time."),
        WARM_UP_KEY,
        key(
            "seed",
            Kind::Integer(0, i64::MAX),
            "1",
            "Seed of all randomness; each name draws its own numbers under it.",
        ),
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
            "Values for all entries of a kind that do not give their own.",
        ),
        key("host", Kind::Entries(&HOST), "none", "Hosts: connections begin and end there."),
        key("switch", Kind::Entries(&SWITCH), "none", "Switches with output-buffered ports."),
        key("link", Kind::Entries(&LINK), "none", "Duplex links."),
        key("vc", Kind::Entries(&VC), "none", "Virtual channel connections."),
        key(
            "flows",
            Kind::Entries(&FLOWS),
            "none",
            "Flows and calls that come and go between pairs of hosts (docs/guides/flows.md).",
        ),
        key(
            "application",
            Kind::Entries(&APPLICATION),
            "none",
            "Programs on the hosts of a live run (docs/guides/testbed.md).",
        ),
        key("probe", Kind::Entries(&PROBE), "none", "Series to record."),
        key(
            "window",
            Kind::Entries(&WINDOW),
            "none",
            "Parts of the run for which figures are given separately.",
        ),
        key("live", Kind::Table(&LiveSettings::SHAPE), "none", "How the network is run live."),
        key("sweep", Kind::Entries(&SWEEP), "none", "Keys to vary: one run for every combination of values."),
    ],
};

const ADMISSION: Shape = Shape {
    name: "admission",
    about: "Connection admission control, and negotiation along each path (paper abr-parameters, sections 3 to 6). A link carries at most its rate in PCR of CBR, SCR of VBR and MCR of ABR, GFR and UBR connections, in each direction with traffic.",
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
            "Limits PCR to so many times MCR (section 3.2); a connection without MCR, or whose PCR would become less than 1 cell/s, is refused.",
        ),
        key(
            "signal",
            Kind::List(&Kind::Choice(&["nrm", "trm", "cdf", "adtf"]), 0),
            "all four",
            "The optional parameters that set-up carries, and switches can change.",
        ),
        key(
            "equivalent_bandwidth",
            Kind::Table(&EQUIVALENT_BANDWIDTH),
            "none: each books its mean",
            "Books vbr connections with on-off traffic and without `scr` at the equivalent bandwidth of all of them together, those with Pareto periods at their rate while on.",
        ),
    ],
};

const EQUIVALENT_BANDWIDTH: Shape = Shape {
    name: "equivalent_bandwidth",
    about: "Equivalent bandwidth of on-off sources on each link (Guérin, Ahmadi and Naghshineh, IEEE JSAC 9, 1991; docs/algorithms/admission.md): the smaller of two rates: the sum of what each source needs alone, given the port's room for cbr and vbr, and the rate that a Gaussian sum of their rates exceeds as rarely. A port without limit books their means.",
    keys: &[required(
        "loss",
        Kind::Ratio(Range::above(0.0, 0.1)),
        "The share of their cells that may be lost in a port.",
    )],
};

const DEFAULTS: Shape = Shape {
    name: "defaults",
    about: "Each table holds keys as they stand in an entry of that kind.",
    keys: &[
        CLOCKS_KEY,
        key("host", Kind::Table(&HOST_DEFAULTS), "none", "For every host."),
        key("link", Kind::Table(&LINK_DEFAULTS), "none", "For every link."),
        key("switch", Kind::Table(&SWITCH_DEFAULTS), "none", "For every switch."),
        key("abr", Kind::Table(&ABR), "none", "For every connection of category abr, both directions."),
        key("vc", Kind::Table(&VC_DEFAULTS), "none", "For every connection."),
    ],
};

const CATEGORY_KEY: Key = key(
    "category",
    Category::KIND,
    "\"abr\"",
    "Service category; a port serves cbr and vbr before abr and abr before gfr and ubr, unless it has `class_weights`.",
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
    "Traffic that the first host of the path has to send.",
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
    "Peak rate of a cbr, vbr, gfr or ubr sender, both directions; for abr it is `abr.pcr`.",
);
const MCR_MIN_KEY: Key = key(
    "mcr_min",
    RATE,
    "none: MCR is not negotiable",
    "Smallest MCR that an abr connection accepts, both directions, at most `abr.mcr`; needs `admission`.",
);
const MCR_KEY: Key = key(
    "mcr",
    POSITIVE_RATE,
    "required for gfr, none for ubr",
    "Minimum cell rate of a gfr or ubr connection, both directions, at most pcr and 1000000 cells/s: what ports weigh it by, frame discard of type \"differential\" grants it and admission books; for abr it is `abr.mcr`.",
);
const MBS_KEY: Key = key(
    "mbs",
    Kind::Integer(1, u32::MAX as i64),
    "`mfs`",
    "Maximum burst size of a gfr connection in cells, both directions: so many may come at the peak in frames that the guarantee is for; of `police`.",
);
const MFS_KEY: Key = key(
    "mfs",
    Kind::Integer(1, 1366),
    "192",
    "Maximum frame size of a gfr connection in cells, both directions: 192 are a datagram of 9180 octets; of `police`.",
);
/// SCR of a call where none is written.
const SCR_DEFAULT: &str = "the mean rate of constant and on-off traffic, else pcr";
const SCR_KEY: Key = key(
    "scr",
    POSITIVE_RATE,
    "the mean rate of constant and on-off traffic, else pcr; at most that of `shaping`",
    "Sustainable cell rate of a vbr connection, both directions, that admission books; at most pcr; needs `admission`.",
);

const SHAPING_KEY: Key = key(
    "shaping",
    Kind::Or(&[Kind::Table(&Shaping::SHAPE), Kind::Choice(&["off"])]),
    "\"off\"",
    "Leaky bucket at the source of the forward direction, for all categories but abr: its cells keep to SCR and MBS.",
);
const SHAPING_BACK_KEY: Key = key(
    "shaping",
    Kind::Or(&[Kind::Table(&Shaping::SHAPE), Kind::Choice(&["off"])]),
    "\"off\"",
    "Leaky bucket at the source of the backward direction.",
);
const TAGGING_KEY: Key = key(
    "tagging",
    Kind::Or(&[Kind::Table(&Tagging::SHAPE), Kind::Choice(&["off"])]),
    "\"off\"",
    "Data cells that the source of the forward direction sends with CLP = 1, for all categories but abr.",
);
const TAGGING_BACK_KEY: Key = key(
    "tagging",
    Kind::Or(&[Kind::Table(&Tagging::SHAPE), Kind::Choice(&["off"])]),
    "\"off\"",
    "Data cells that the source of the backward direction sends with CLP = 1.",
);
const QUEUE_WEIGHT_KEY: Key = key(
    "queue_weight",
    Kind::Ratio(Range::closed(0.001, 1000.0)),
    "abr.weight for abr, `mcr` in thousands of cells/s where there is one, else 1",
    "Weight of its queues at ports whose `queueing` is weighted-fair or deficit-round-robin, rounded to thousandths, both directions.",
);
const LOSES_PDUS_KEY: Key = key(
    "frame_discard",
    Kind::Boolean,
    "true for gfr and ubr, false for others",
    "Whether ports with frame discard may lose whole PDUs of it rather than single cells, in both directions, as set-up says (TM 4.0, 5.8).",
);
const SHAPED_TO_KEY: Key = key(
    "shaped_to",
    POSITIVE_RATE,
    "none",
    "Rate that ports with a queue for each connection hold it to, both directions: cells leave no closer than its interval, even if the line is idle.",
);

/// Keys of connections that defaults have, too.
const VC_KEYS: &[Key] = &[
    CATEGORY_KEY,
    ABR_KEY,
    TRAFFIC_KEY,
    REVERSE_KEY,
    BIDIRECTIONAL_KEY,
    PEAK_KEY,
    MCR_KEY,
    MBS_KEY,
    MFS_KEY,
    MCR_MIN_KEY,
    SCR_KEY,
    QUEUE_WEIGHT_KEY,
    SHAPED_TO_KEY,
    LOSES_PDUS_KEY,
    SHAPING_KEY,
    TAGGING_KEY,
    POLICE_KEY,
    MISBEHAVES_KEY,
];

const VC: Shape = Shape {
    name: "vc",
    about: "A virtual channel connection.",
    keys: {
        const FIRST: &[Key] = &[
            NAME,
            required(
                "path",
                Kind::List(&Kind::Reference, 2),
                "The nodes from the first host to the last, each linked to the next.",
            ),
            BRANCHES_KEY,
            CHANNELS_KEY,
        ];
        const PARTS: &[&[Key]] = &[FIRST, VC_KEYS, &[LOOPBACK_KEY, COUNT, LIKE]];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};

const VC_DEFAULTS: Shape = Shape { name: "vc_defaults", about: "Defaults of connections.", keys: VC_KEYS };

const REVERSE: Shape = Shape {
    name: "reverse",
    about: "The backward direction of a connection.",
    keys: &[
        key("traffic", Kind::Tagged(&TRAFFIC), "none", "Traffic that the last host of the path has to send."),
        key(
            "abr",
            Kind::Table(&ABR),
            "as forward",
            "ABR parameters that differ from those of the forward direction.",
        ),
        SHAPING_BACK_KEY,
        TAGGING_BACK_KEY,
        POLICE_BACK_KEY,
        MISBEHAVES_BACK_KEY,
    ],
};

const ABR: Shape = Shape {
    name: "abr",
    about: "Parameters of an ABR source and of the destination of its cells (TM 4.0, 5.10.3 to 5.10.5).",
    keys: {
        const PARTS: &[&[Key]] = &[AbrParameters::KEYS, ABR_ENDS];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};

/// Keys of the ends of an ABR connection, beside the parameters that set-up agrees on.
const ABR_ENDS: &[Key] = &[
    key(
        "mbs",
        Kind::Integer(1, u32::MAX as i64),
        "1: cells leave 1/ACR apart",
        "Maximum burst size in cells of a leaky bucket before the source at the host: so many in-rate cells may leave at PCR whatever ACR is, and ACR fills it. Not of TM 4.0 (paper uili, section 7.2.3).",
    ),
    key(
        "weight",
        Kind::Ratio(Range::closed(0.001, 1000.0)),
        "1",
        "Weight in weighted max-min sharing: for `cellrate fair`, and for switches with fairness = \"weighted\".",
    ),
    key(
        "efci_state",
        Kind::Choice(&["clear", "keep"]),
        "\"clear\"",
        "Whether the destination clears its EFCI state when it turns a forward RM cell around (TM 4.0) or keeps it until a data cell changes it.",
    ),
    key(
        "waiting_brm",
        WaitingBrm::KIND,
        "\"overwrite\"",
        "Treatment of a turned-around RM cell that still waits at the destination when the next comes (rule 3).",
    ),
    CONGESTED_KEY,
    key(
        "uili",
        Kind::Or(&[Kind::Tagged(&UILI), Kind::Choice(UILI_POLICIES)]),
        "\"none\"",
        "Use-it-or-lose-it policy of the source beyond rule 5: a table, or the type alone.",
    ),
];

const PROBE: Shape = Shape {
    name: "probe",
    about: "Series to record.",
    keys: &[
        required(
            "record",
            Kind::List(&RECORD, 1),
            "Quantities: of a direction of a connection, of a port, of the port's algorithm, or of flows that come and go; another name is that of a figure of a custom algorithm.",
        ),
        key(
            "of",
            Kind::List(&Kind::Reference, 1),
            "all forward directions with traffic, all switch ports on the way of data that have the quantity, all flows",
            "Of what: \"vc1\", \"vc1 (back)\", \"sw1->sw2\", the name of flows; with {i}, all of a group. \"vc1 at sw2\" is its virtual source at a switch with vs_vd, which has acr, source_rate, source_queue (of the connection, at the switch), forward_rm and backward_rm.",
        ),
        key(
            "every",
            Kind::Or(&[SPAN, Kind::Choice(&["change"])]),
            "a thousandth of `duration`",
            "A value at every multiple of this span, or at every change.",
        ),
    ],
};

/// Quantities of one direction of a connection, by their names in `record`.
pub(crate) const FLOW_QUANTITIES: &[&str] = FlowQuantity::NAMES;
/// Quantities of any port.
pub(crate) const PORT_QUANTITIES: &[&str] = PortQuantity::NAMES;

/// Quantities of flows that come and go.
pub(crate) const DEMAND_QUANTITIES: &[&str] = DemandQuantity::NAMES;

/// Tables by their names, for those of a family.
const fn by_name<const N: usize>(shapes: &[Shape]) -> [(&'static str, Shape); N] {
    let mut variants = [(shapes[0].name, shapes[0]); N];
    let mut i = 0;
    while i < N {
        variants[i] = (shapes[i].name, shapes[i]);
        i += 1;
    }
    variants
}

/// Names of tables, in order.
const fn names<const N: usize>(shapes: &[Shape]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = shapes[i].name;
        i += 1;
    }
    names
}

/// One of these, or a figure of a custom algorithm.
const RECORD: Kind = Kind::Or(&[Kind::Choice(QUANTITIES), Kind::Name]);

/// Quantities of connections, of ports and of flows that come and go, then the figures of algorithms.
pub(crate) const QUANTITIES: &[&str] = {
    const PARTS: &[&[&str]] = &[FLOW_QUANTITIES, PORT_QUANTITIES, DEMAND_QUANTITIES, &FIGURE_NAMES];
    &joined::<_, { total(PARTS) }>(PARTS)
};

/// Names of the figures that algorithms offer.
pub(crate) const FIGURE_NAMES: [&str; FIGURES.len()] = {
    let mut names = [""; FIGURES.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = FIGURES[i].name;
        i += 1;
    }
    names
};

const SWEEP: Shape = Shape {
    name: "sweep",
    about: "A key that is varied.",
    keys: &[
        required(
            "set",
            Kind::Text,
            "The dotted path of the key, such as defaults.abr.nrm or vc.vc1.abr.icr.",
        ),
        required("values", Kind::List(&Kind::Any, 1), "Its values, one after the other."),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::check;
    use crate::text::reading::written;

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

    /// Every key of these tables and of those below them.
    fn keys(shape: &Shape, found: &mut Vec<Key>) {
        for key in shape.keys {
            found.push(*key);
            below(key.kind, found);
        }
    }

    fn below(kind: Kind, found: &mut Vec<Key>) {
        match kind {
            Kind::Or(kinds) => kinds.iter().for_each(|kind| below(*kind, found)),
            Kind::List(inner, _) | Kind::Map(inner) => below(*inner, found),
            Kind::Table(shape) | Kind::Entries(shape) => keys(shape, found),
            Kind::Tagged(tagged) => tagged.variants.iter().for_each(|(_, shape)| keys(shape, found)),
            _ => {}
        }
    }

    #[test]
    fn a_default_that_could_stand_in_a_file_is_a_value_of_its_key() {
        let mut found = Vec::new();
        keys(&ROOT, &mut found);
        let is_value = |text: &str| {
            let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            inner.is_some_and(|inner| !inner.contains('"'))
                || matches!(text, "true" | "false" | "[]")
                || text.parse::<f64>().is_ok()
        };
        let mut values = 0;
        for key in found.iter().filter(|key| is_value(key.default)) {
            let mode = check::Mode { groups: false, complete: true };
            let taken = check::value(&written(key.default), key.kind, mode);
            assert!(taken.is_ok(), "{} = {}: {taken:?}", key.name, key.default);
            values += 1;
        }
        assert!(values > 200, "{values}");
    }
}
