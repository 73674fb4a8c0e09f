//! ERICA's parameters: what ERICA and ERICA+ declare of themselves.

use alloc::sync::Arc;

use super::{DelayControl, Erica, QueueControl};
use crate::declaration::{Key, OrOff, Range, Shape, Table, Values, joined, total};
use crate::parameters::ParameterError;
use crate::switch::built_in::{BuiltIn, Figure, Form};
use crate::switch::{ActiveSources, AgingConfig, AveragingInterval, Fairness, LoadAveraging};
use crate::units::CellRate;

/// ERICA's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct EricaConfig {
    /// Averaging interval: its length at most.
    #[key(flatten, default = "5 ms")]
    pub interval: AveragingInterval,
    /// Target utilization (ERICA) or queueing delay (ERICA+).
    #[key(argument, flatten)]
    pub queue_control: QueueControl,
    /// A load factor up to 1 + delta counts as no overload.
    #[key(default = "0.1", range = Range::FRACTION)]
    pub delta: f64,
    /// How active sources are counted.
    #[key(flatten)]
    pub active_sources: ActiveSources,
    /// How the load factor is averaged.
    #[key(flatten)]
    pub load_averaging: LoadAveraging,
    /// FairShare falls at once when a connection becomes active within an interval.
    #[key(default = "false")]
    pub immediate_fair_share: bool,
    /// The rate of a connection is measured instead of read from its RM cells.
    ///
    /// It is the cells of the VC in the last interval over its length.
    #[key(default = "false")]
    pub measured_ccr: bool,
    /// With weights or the effective number: what a connection claims in its RM cells counts as what it uses, even if
    /// it sends less (ATM Forum 98-0408).
    ///
    /// Otherwise what was measured counts, if that is less.
    #[key(default = "false")]
    pub claims_are_use: bool,
    /// Equal shares, or every connection its MCR and a share of the rest by weight.
    #[key(default = "equal")]
    pub fairness: Fairness,
    /// Grants less to a connection that claims more than it sends; {} for all defaults.
    ///
    /// The switch based use-it-or-lose-it policy, applied to what ERICA would grant.
    #[key(default = "off", as = OrOff<AgingConfig>)]
    pub aging: Option<AgingConfig>,
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
        EricaConfig::new(QueueControl::erica())
    }

    /// ERICA+ with every default.
    pub const fn erica_plus() -> EricaConfig {
        EricaConfig::new(QueueControl::erica_plus())
    }

    /// The keys of every field, with these for the control of the queue.
    const fn parts(queue_control: &'static [Key]) -> [&'static [Key]; EricaConfig::PARTS.len()] {
        let mut parts = EricaConfig::PARTS;
        parts[1] = queue_control;
        parts
    }
}

impl Default for EricaConfig {
    fn default() -> EricaConfig {
        EricaConfig::erica()
    }
}

/// The keys of ERICA or ERICA+, with those that it has alone.
macro_rules! keys {
    ($own:expr) => {{
        const PARTS: &[&[Key]] = &EricaConfig::parts($own);
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
    shape: Shape { name: "erica", about: "Explicit rate by ERICA.", keys: keys!(&[QueueControl::SHARE]) },
    figures: FIGURES,
};

const ERICA_PLUS: Form = Form {
    title: "ERICA+",
    shape: Shape {
        name: "erica+",
        about: "Explicit rate by ERICA+: the share of the line falls as the queueing delay grows.",
        keys: keys!(DelayControl::KEYS),
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
        let config = EricaConfig::read(values, queue_control)?;
        check_use(&config, values)?;
        Ok(Arc::new(config))
    }

    fn check(config: &Arc<EricaConfig>) -> Result<(), ParameterError> {
        EricaConfig::check(config)
    }

    fn form(config: &Arc<EricaConfig>) -> &'static Form {
        match config.queue_control {
            QueueControl::TargetUtilization(_) => &ERICA,
            QueueControl::QueueingDelay(_) => &ERICA_PLUS,
        }
    }

    fn fairness(config: &Arc<EricaConfig>) -> Fairness {
        config.fairness
    }

    fn target_utilization(config: &Arc<EricaConfig>) -> f64 {
        match config.queue_control {
            QueueControl::TargetUtilization(share) => share,
            QueueControl::QueueingDelay(_) => 1.0,
        }
    }
}

/// Whether claims count as use is a setting of ERICA with weights or the effective number, with CCR from RM cells.
fn check_use<V: Values>(config: &EricaConfig, values: &V) -> Result<(), V::Error> {
    let refused =
        |message: &str, remedy: &str| values.refused("claims_are_use", message.into(), remedy.into());
    if !config.claims_are_use {
        return Ok(());
    }
    if config.fairness != Fairness::Weighted && !config.active_sources.effective {
        return Err(refused(
            "claims_are_use has no effect without fairness = \"weighted\" or effective_number = true",
            "Write one of them, or leave claims_are_use out",
        ));
    }
    if config.measured_ccr {
        return Err(refused("claims_are_use has no effect with measured_ccr", "Leave one of them out"));
    }
    Ok(())
}
