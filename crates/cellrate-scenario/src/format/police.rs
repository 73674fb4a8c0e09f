//! The keys of policing: a contract, what becomes of cells that do not keep to it, and sources that do not.

use cellrate_proto::declaration::{Key, Kind, OrOff, Range, Setting, SpanOrZero, Table, key};
use cellrate_proto::policing::contract::{Coupling, Definition};
use cellrate_proto::policing::usage::Action;
use cellrate_proto::{CellRate, Duration};

use crate::keys::POSITIVE_RATE;
use crate::model::Category;
use crate::text::tree::Node;

/// One table, or one for each of several places.
const POLICE_KIND: Kind = Kind::Or(&[Police::KIND, Kind::List(&Police::KIND, 1), Kind::Choice(&["off"])]);

pub(super) const POLICE_KEY: Key = key(
    "police",
    POLICE_KIND,
    "\"off\"",
    "Holds the forward direction to its contract where its cells come to a switch; a list of tables has one for each place, `at` different switches.",
);
pub(super) const POLICE_BACK_KEY: Key = key(
    "police",
    POLICE_KIND,
    "\"off\"",
    "Holds the backward direction to its contract where its cells come to a switch; a list of tables has one for each place.",
);

pub(super) const MISBEHAVES_KEY: Key = key(
    "misbehaves",
    OrOff::<Misbehaves>::KIND,
    "\"off\"",
    "Rules that the abr source of the forward direction breaks.",
);
pub(super) const MISBEHAVES_BACK_KEY: Key = key(
    "misbehaves",
    OrOff::<Misbehaves>::KIND,
    "\"off\"",
    "Rules that the abr source of the backward direction breaks.",
);

/// An ABR source that breaks rules (docs/algorithms/policing.md).
#[derive(Table)]
#[table(name = "misbehaves", written)]
pub(crate) struct Misbehaves {
    /// "er": it does not lower ACR to ER (rule 9); "ci": it treats CI as 0 (rule 8).
    #[key(default = "[]", kind = Kind::List(&Kind::Choice(&["er", "ci"]), 0))]
    pub ignores: Vec<String>,
    /// It sends at so many times ACR (rule 1); RM cells still say ACR.
    #[key(default = "1", range = Range::above(0.0, 1000.0))]
    pub rate_factor: f64,
    /// While ACR is below TCR its out-of-rate FRMs leave at so many times TCR (rule 11).
    #[key(default = "1", range = Range::above(0.0, 1000.0))]
    pub tcr_factor: f64,
}

/// A conformance definition as `police` names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conformance {
    /// Its name in a file.
    pub name: &'static str,
    /// The category that it is for.
    pub category: Category,
    /// How the core holds cells to it.
    pub method: Method,
}

/// How the core holds cells to a conformance definition.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Method {
    /// By buckets of fixed rates.
    Fixed(Definition),
    /// By a bucket whose rate backward RM cells change.
    Dynamic,
    /// Frame by frame; those that are not eligible are tagged or left alone.
    Frames { tags: bool },
}

impl Conformance {
    /// Whether cells that do not conform to all of it are tagged, and not discarded.
    pub fn tags(&self) -> bool {
        match self.method {
            Method::Fixed(definition) => definition.tags(),
            Method::Dynamic => false,
            Method::Frames { tags } => tags,
        }
    }

    /// Keys of parameters that it does not have.
    pub fn foreign(&self) -> &'static [&'static str] {
        match self.method {
            Method::Dynamic => &["pcr", "scr", "mbs", "coupling"],
            Method::Fixed(definition) if definition.is_vbr() => &["tau2", "tau3"],
            Method::Fixed(_) | Method::Frames { .. } => &["scr", "mbs", "coupling", "tau2", "tau3"],
        }
    }
}

/// Conformance definitions, in the order of the standard; the first of a category is the one of its connections that
/// name none.
pub(crate) const DEFINITIONS: [Conformance; 9] = {
    use Category::{Abr, Cbr, Gfr, Ubr, Vbr};
    const fn of(name: &'static str, category: Category, method: Method) -> Conformance {
        Conformance { name, category, method }
    }
    [
        of("cbr.1", Cbr, Method::Fixed(Definition::Cbr1)),
        of("vbr.1", Vbr, Method::Fixed(Definition::Vbr1)),
        of("vbr.2", Vbr, Method::Fixed(Definition::Vbr2)),
        of("vbr.3", Vbr, Method::Fixed(Definition::Vbr3)),
        of("ubr.1", Ubr, Method::Fixed(Definition::Ubr1)),
        of("ubr.2", Ubr, Method::Fixed(Definition::Ubr2)),
        of("abr.1", Abr, Method::Dynamic),
        of("gfr.1", Gfr, Method::Frames { tags: false }),
        of("gfr.2", Gfr, Method::Frames { tags: true }),
    ]
};

const NAMES: [&str; DEFINITIONS.len()] = {
    let mut names = [""; DEFINITIONS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = DEFINITIONS[i].name;
        i += 1;
    }
    names
};

/// Usage parameter control of one direction of a connection (TM 4.0, 4.5 and 5.4; TM 4.1 for gfr;
/// docs/algorithms/policing.md): what conforms, and what becomes of the rest.
#[derive(Table)]
#[table(name = "police", written)]
pub(crate) struct Police {
    /// The switches at whose incoming interface its cells are policed, each by a policer of its own.
    #[key(default = "the first switch of the direction", kind = Kind::List(&Kind::Reference, 1))]
    pub at: Option<Node>,
    /// Conformance definition, one of the connection's category.
    #[key(default = "the one of the category whose number is 1", kind = Kind::Choice(&NAMES))]
    pub definition: Option<String>,
    /// Fate of cells that do not conform. vbr.3 and ubr.2 tag those that only bucket 2 refuses, gfr.2 those of frames
    /// that are not eligible; abr.1 leaves the choice; count lets all go on with any.
    #[key(default = "\"tag\" for vbr.3, ubr.2 and gfr.2, \"discard\" for others")]
    pub action: Option<Action>,
    /// Peak cell rate of the contract; for abr it is `abr.pcr`.
    #[key(default = "PCR of the sender", kind = POSITIVE_RATE)]
    pub pcr: Option<CellRate>,
    /// Cell delay variation tolerance of the peak; tau1 of abr.1. It has to be given where the rate of a link before
    /// the policer changes.
    #[key(
        default = "one cell time of the link, and by how much delays on the way to the policer change",
        as = Option<SpanOrZero>
    )]
    pub cdvt: Option<Duration>,
    /// Sustainable cell rate of the contract; of vbr, which needs it.
    #[key(default = "`scr` of the connection, else that of its `shaping`", kind = POSITIVE_RATE)]
    pub scr: Option<CellRate>,
    /// Maximum burst size in cells: so many may come at the peak. Of vbr.
    #[key(default = "that of `shaping`, else required for vbr")]
    pub mbs: Option<u32>,
    /// How the two buckets of vbr work together. "coupled": a cell is charged to both or, if tagged, to that of the
    /// peak; "independent": to each that it conforms to; "serial": to the second only if the first passed it, which
    /// stays charged.
    #[key(default = "coupled")]
    pub coupling: Coupling,
    /// For abr.1: longest time from the departure of a backward RM cell towards the source to the arrival of cells sent
    /// at the rate that it gives.
    #[key(default = "tau3 and one cell time of each link between")]
    pub tau2: Option<Duration>,
    /// For abr.1: shortest such time, at most tau2.
    #[key(default = "twice the delays of the links between", as = Option<SpanOrZero>)]
    pub tau3: Option<Duration>,
}
