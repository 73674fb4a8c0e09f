//! ERICA's parameters: what ERICA and ERICA+ declare of themselves.

use alloc::sync::Arc;

use super::{DelayControl, Erica, QueueControl};
use crate::declaration::{Key, Kind, Range, Setting, Shape, Values, joined, key, total, written};
use crate::parameters::ParameterError;
use crate::switch::built_in::{BuiltIn, Figure, Form};
use crate::switch::{ActiveSources, AgingConfig, AveragingInterval, Fairness, LoadAveraging};
use crate::units::CellRate;

/// ERICA's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EricaConfig {
    /// Averaging interval. Default 5 ms.
    pub interval: AveragingInterval,
    /// Target utilization (ERICA) or queueing delay (ERICA+).
    pub queue_control: QueueControl,
    /// delta: z up to 1 + delta counts as no overload [0 to 1; default 0.1].
    pub delta: f64,
    /// How active sources are counted.
    pub active_sources: ActiveSources,
    /// How z is averaged.
    pub load_averaging: LoadAveraging,
    /// FairShare is lowered at once when a connection becomes active within an interval. Default false.
    pub immediate_fair_share: bool,
    /// CCR is measured (cells of the VC in the last interval over its length) instead of read from FRMs. Default false.
    pub measured_ccr: bool,
    /// With [weights](Fairness) or the effective number, what a connection claims counts as what it uses, as where CCR
    /// of FRMs is all that a switch knows (ATM Forum 98-0408). Default false: what was measured counts, if that is
    /// less.
    pub claims_are_use: bool,
    /// The switch based use-it-or-lose-it policy, applied to what ERICA would grant. Default `None`.
    pub aging: Option<AgingConfig>,
    /// Whether shares are equal, or go by MCR and weight. Default equal.
    pub fairness: Fairness,
}

impl EricaConfig {
    /// ERICA with every default; set what differs.
    ///
    /// ```
    /// use cellrate_proto::switch::{AveragingInterval, EricaConfig};
    /// use cellrate_proto::Duration;
    /// let interval = AveragingInterval::of_time_or_cells(Duration::from_ms(1), 100); // paper uili
    /// let config = EricaConfig { interval, ..EricaConfig::erica() };
    /// assert_eq!(config.check(), Ok(()));
    /// let error = EricaConfig { delta: 1.5, ..config }.check().unwrap_err();
    /// assert_eq!(error.to_string(), "delta is 1.5; it must be from 0 to 1");
    /// ```
    pub const fn erica() -> EricaConfig {
        EricaConfig {
            interval: AveragingInterval::of_time(written::span(INTERVAL[0].default)),
            queue_control: QueueControl::erica(),
            delta: written::ratio(DELTA.default),
            active_sources: ActiveSources { bidirectional: false, decay: None, effective: false },
            load_averaging: LoadAveraging::None,
            immediate_fair_share: false,
            measured_ccr: false,
            claims_are_use: false,
            aging: None,
            fairness: Fairness::Equal,
        }
    }

    /// ERICA+ with every default.
    pub const fn erica_plus() -> EricaConfig {
        EricaConfig { queue_control: QueueControl::erica_plus(), ..EricaConfig::erica() }
    }

    /// Says which parameter is out of its range first, in the order of the fields.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.interval.check()?;
        self.queue_control.check()?;
        Range::FRACTION.check("delta", self.delta)?;
        self.active_sources.check()?;
        self.load_averaging.check()?;
        self.aging.as_ref().map_or(Ok(()), AgingConfig::check)
    }
}

impl Default for EricaConfig {
    fn default() -> EricaConfig {
        EricaConfig::erica()
    }
}

const INTERVAL: [Key; 2] = AveragingInterval::keys("\"5 ms\"", "Averaging interval: its length at most.");
const DELTA: Key =
    key("delta", Kind::Ratio(Range::FRACTION), "0.1", "A load factor up to 1 + delta counts as no overload.");

/// The keys of ERICA and ERICA+ behind their own.
const COMMON: &[Key] = &[
    DELTA,
    key(
        "bidirectional_counting",
        Kind::Boolean,
        "false",
        "A connection is also active when a backward RM cell of it passed.",
    ),
    key(
        "activity_decay",
        Kind::Ratio(ActiveSources::DECAY),
        "none: it counts nothing at once",
        "Part of an inactive connection's count that is left after each interval.",
    ),
    key(
        "effective_number",
        Kind::Boolean,
        "false",
        "N is the effective number of active connections: one below FairShare counts by its rate over FairShare; nobody looks at the largest allocation.",
    ),
    key(
        "load_averaging",
        Kind::Choice(LoadAveraging::WORDS),
        "none: with alpha it is \"components\"",
        "Averages the load factor over intervals: itself, or its input and capacity each on its own, in cells, so that an interval counts by its length, or as rates, to which a short interval counts as much as a long one.",
    ),
    key(
        "alpha",
        Kind::Ratio(Range::SHARE),
        "required with load_averaging other than \"none\"",
        "Weight of the newest interval in the average.",
    ),
    key(
        "immediate_fair_share",
        Kind::Boolean,
        "false",
        "FairShare falls at once when a connection becomes active within an interval.",
    ),
    key(
        "measured_ccr",
        Kind::Boolean,
        "false",
        "The rate of a connection is measured instead of read from its RM cells.",
    ),
    key(
        "claims_are_use",
        Kind::Boolean,
        "false",
        "With weights or the effective number: what a connection claims in its RM cells counts as what it uses, even if it sends less (ATM Forum 98-0408).",
    ),
    key(
        "fairness",
        Kind::Choice(Fairness::WORDS),
        "\"equal\"",
        "Equal shares, or every connection its MCR and a share by weight of what is left.",
    ),
    key(
        "aging",
        Kind::Or(&[Kind::Table(&AgingConfig::SHAPE), Kind::Choice(&["off"])]),
        "\"off\"",
        "Grants less to a connection that claims more than it sends; {} for all defaults.",
    ),
];

/// The keys around those that ERICA or ERICA+ has alone.
macro_rules! around {
    ($own:expr) => {{
        const PARTS: &[&[Key]] = &[&INTERVAL, $own, COMMON];
        &joined::<_, { total(PARTS) }>(PARTS)
    }};
}

/// Load factor, active sources, fair share, capacity and largest allocation.
const FIGURES: &[Figure] = &[
    Figure::plain("z"),
    Figure::plain("n"),
    Figure::rate("fair_share"),
    Figure::rate("capacity"),
    Figure::rate("max_alloc"),
];

const ERICA: Form = Form {
    title: "ERICA",
    shape: Shape { name: "erica", about: "Explicit rate by ERICA.", keys: around!(&[QueueControl::SHARE]) },
    figures: FIGURES,
};

const ERICA_PLUS: Form = Form {
    title: "ERICA+",
    shape: Shape {
        name: "erica+",
        about: "Explicit rate by ERICA+: the share of the line falls as the queueing delay grows.",
        keys: around!(DelayControl::KEYS),
    },
    figures: FIGURES,
};

impl BuiltIn for Erica {
    type Config = Arc<EricaConfig>;

    const FORMS: &'static [Form] = &[ERICA, ERICA_PLUS];

    fn at_port(config: &Arc<EricaConfig>, link_rate: CellRate) -> Erica {
        Erica::new(Arc::clone(config), link_rate)
    }

    fn read<V: Values>(form: &Form, values: &V) -> Result<Arc<EricaConfig>, V::Error> {
        let queue_control = if form.shape.name == ERICA_PLUS.shape.name {
            QueueControl::QueueingDelay(DelayControl::read(values)?)
        } else {
            values
                .ratio(QueueControl::SHARE.name)?
                .map_or(QueueControl::erica(), QueueControl::TargetUtilization)
        };
        let flag = |key: &str| values.flag(key).map(|flag| flag.unwrap_or(false));
        let default = EricaConfig::erica();
        Ok(Arc::new(EricaConfig {
            interval: AveragingInterval::read(values, default.interval.time)?,
            queue_control,
            delta: values.ratio(DELTA.name)?.unwrap_or(default.delta),
            active_sources: ActiveSources {
                bidirectional: flag("bidirectional_counting")?,
                decay: values.ratio("activity_decay")?,
                effective: flag("effective_number")?,
            },
            load_averaging: LoadAveraging::read(values)?,
            immediate_fair_share: flag("immediate_fair_share")?,
            measured_ccr: flag("measured_ccr")?,
            claims_are_use: claims_are_use(values)?,
            aging: values.table("aging").map(|table| aging(&table)).transpose()?,
            fairness: Fairness::read(values, "fairness")?.unwrap_or_default(),
        }))
    }

    fn check(config: &Arc<EricaConfig>) -> Result<(), ParameterError> {
        config.as_ref().check()
    }

    fn form(config: &Arc<EricaConfig>) -> &'static Form {
        match config.queue_control {
            QueueControl::TargetUtilization(_) => &ERICA,
            QueueControl::QueueingDelay(_) => &ERICA_PLUS,
        }
    }

    fn target_utilization(config: &Arc<EricaConfig>) -> f64 {
        match config.queue_control {
            QueueControl::TargetUtilization(share) => share,
            QueueControl::QueueingDelay(_) => 1.0,
        }
    }
}

/// Aging as its own table describes it, whose values are in range.
fn aging<V: Values>(values: &V) -> Result<AgingConfig, V::Error> {
    let config = AgingConfig::read(values)?;
    config.check().map_err(|error| values.out_of_range(error))?;
    Ok(config)
}

/// Whether claims count as use: a setting of ERICA with weights or the effective number, with CCR from RM cells.
fn claims_are_use<V: Values>(values: &V) -> Result<bool, V::Error> {
    let key = "claims_are_use";
    let wanted = values.flag(key)?.unwrap_or(false);
    let is_set = |key: &str| values.flag(key).map(|flag| flag == Some(true));
    let weighted = Fairness::read(values, "fairness")? == Some(Fairness::Weighted);
    if wanted && !weighted && !is_set("effective_number")? {
        let remedy = "Write one of them, or leave claims_are_use out";
        return Err(values.refused(
            key,
            "claims_are_use has no effect without fairness = \"weighted\" or effective_number = true".into(),
            remedy.into(),
        ));
    }
    if wanted && is_set("measured_ccr")? {
        let message = "claims_are_use has no effect with measured_ccr";
        return Err(values.refused(key, message.into(), "Leave one of them out".into()));
    }
    Ok(wanted)
}
