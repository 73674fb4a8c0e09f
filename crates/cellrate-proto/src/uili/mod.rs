//! Use-it-or-lose-it policies (source rule 13; paper uili): what a source does about rate it was given and does not
//! use.
//!
//! The source calls its policy when it is about to send an in-rate FRM, after rules 5 and 6, and when a BRM arrives,
//! before rules 8 and 9. A policy may lower ACR at the first and forbid an increase at the second. It never raises ACR,
//! and a decrease that the network orders is always obeyed.
//!
//! | policy | ACR is not used when | and becomes | then |
//! | --- | --- | --- | --- |
//! | [`February1995`] | TOF FRMs without BRM or decrease | ACR (1 - T ACR / RDF) | - |
//! | [`April1995`] | T > TOF Nrm / ACR | 1 / (1/ACR + T / RDF) | - |
//! | [`August1995`] | T > TOF Nrm / ACR, ACR > ICR | max(ICR, ACR (1 - T TDF)) | rule 5b |
//! | [`Baseline`] | ACR > SR + ICR | max(ICR, ACR (1 - TDF)) | rule 5b |
//! | [`CountBased`] | ACR > SR + headroom | max(SR + headroom, ACR (1 - TDF)) | regions A and B |
//! | [`TimeBased`] | ACR > floor | max(floor, ACR (1 - T / Tc)) | rule 5b |
//! | [`Joint`] | ACR > SR + ICR | max(SR + ICR, ACR (1 - TDF)) | rule 5b |
//!
//! T is the time since the last FRM, but in [`February1995`]; SR is [`ForwardRmContext::source_rate`]. The switch based
//! policy is no source policy: it is [`crate::switch::AgingConfig`], with rule 5 as its time-out at the source.

mod april_1995;
mod august_1995;
mod baseline;
mod count_based;
mod february_1995;
mod joint;
mod rule_5b;
mod time_based;

use alloc::boxed::Box;
use core::fmt;

use crate::parameters::{AbrParameters, MAX_RATE, ParameterError, in_range};
use crate::units::{CellRate, Duration, Time};

pub use april_1995::{April1995, April1995Config};
pub use august_1995::{August1995, August1995Config, DecreasePerTime};
pub use baseline::{Baseline, BaselineConfig, BaselineFloor};
pub use count_based::{CountBased, CountBasedConfig, Region};
pub use february_1995::{February1995, February1995Config};
pub use joint::{Joint, JointConfig};
pub use rule_5b::Rule5b;
pub use time_based::{TimeBased, TimeBasedConfig, TimeBasedFloor};

/// Which policy a source follows, with its parameters.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum UiliConfig {
    /// None beyond rule 5's time-out (default).
    #[default]
    None,
    /// The first proposal (paper uili, section 3).
    February1995(February1995Config),
    /// Its harmonic correction (paper uili, section 3).
    April1995(April1995Config),
    /// Rule 5 of the draft of August 1995 (paper uili, section 3).
    August1995(August1995Config),
    /// The interim one, enhanced August 1995 (paper uili, section 4.2).
    Baseline(BaselineConfig),
    /// Regions A to D with a headroom (paper uili, section 5.2).
    CountBased(CountBasedConfig),
    /// Decrease in proportion to the idle time (paper uili, section 5.3).
    TimeBased(TimeBasedConfig),
    /// The consensus of both camps (paper uili, section 5.4; TM 4.0, appendix I.8).
    Joint(JointConfig),
}

impl UiliConfig {
    /// Says which parameter is out of its range first.
    pub fn check(&self) -> Result<(), ParameterError> {
        match self {
            UiliConfig::None => Ok(()),
            UiliConfig::February1995(config) => config.check(),
            UiliConfig::April1995(config) => config.check(),
            UiliConfig::August1995(config) => config.check(),
            UiliConfig::Baseline(config) => config.check(),
            UiliConfig::CountBased(config) => config.check(),
            UiliConfig::TimeBased(config) => config.check(),
            UiliConfig::Joint(config) => config.check(),
        }
    }
}

/// State of a source when an FRM is about to leave, as its policy may know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForwardRmContext {
    /// Now.
    pub now: Time,
    /// ACR, after rules 5 and 6 [cells/s].
    pub acr: CellRate,
    /// Whether rule 5 or 6 has just lowered it.
    pub decreased: bool,
    /// ICR in force [cells/s].
    pub icr: CellRate,
    /// In-rate cells since the last FRM, the one about to leave included \[cells\].
    pub cells: u32,
    /// T, the time since the last in-rate FRM.
    pub elapsed: Duration,
}

impl ForwardRmContext {
    /// SR, the rate of the source since the last FRM [cells/s]: the paper's Nrm/T, with the cells that were really
    /// sent.
    ///
    /// That is Nrm whenever Nrm called for this FRM. When Trm did, fewer cells were sent, and Nrm/T would credit the
    /// source with up to Nrm/3 times what it used: it is taken at its true rate.
    pub fn source_rate(&self) -> CellRate {
        if self.elapsed == Duration::ZERO {
            return CellRate::new(f64::MAX);
        }
        CellRate::new(f64::from(self.cells) / self.elapsed.as_secs_f64())
    }
}

/// State of a source when a BRM has arrived, as its policy may know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackwardRmContext {
    /// Now.
    pub now: Time,
    /// ACR before rules 8 and 9 [cells/s].
    pub acr: CellRate,
    /// ER of the BRM [cells/s].
    pub er: CellRate,
    /// CI = NI = 0: the network asks for an increase.
    pub increase: bool,
}

/// A use-it-or-lose-it policy of a source, with its state.
pub trait UiliPolicy {
    /// ACR as the policy leaves it before the FRM; the source does not follow what is above `context.acr`, nor goes
    /// below MCR.
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate;

    /// Whether the source may follow an increase that this BRM asks for. It obeys a decrease whatever the answer.
    fn on_backward_rm(&mut self, context: &BackwardRmContext) -> bool;
}

/// A policy at work. Boxed, so that a source without one, or with a small one, is not as large as the largest.
pub enum Uili {
    /// None.
    None,
    /// The policy of February 1995.
    February1995(Box<February1995>),
    /// The policy of April 1995.
    April1995(Box<April1995>),
    /// The policy of August 1995.
    August1995(Box<August1995>),
    /// Baseline rule 5.
    Baseline(Box<Baseline>),
    /// Count based.
    CountBased(Box<CountBased>),
    /// Time based.
    TimeBased(Box<TimeBased>),
    /// Joint source based.
    Joint(Box<Joint>),
    /// One that is not built in.
    Custom(Box<dyn UiliPolicy + Send>),
}

impl fmt::Debug for Uili {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uili::None => f.write_str("None"),
            Uili::February1995(policy) => policy.fmt(f),
            Uili::April1995(policy) => policy.fmt(f),
            Uili::August1995(policy) => policy.fmt(f),
            Uili::Baseline(policy) => policy.fmt(f),
            Uili::CountBased(policy) => policy.fmt(f),
            Uili::TimeBased(policy) => policy.fmt(f),
            Uili::Joint(policy) => policy.fmt(f),
            Uili::Custom(_) => f.write_str("Custom"),
        }
    }
}

impl Uili {
    /// The policy that `config` names, for a source with `parameters`. Both have been checked.
    pub fn new(config: &UiliConfig, parameters: &AbrParameters) -> Uili {
        match config {
            UiliConfig::None => Uili::None,
            UiliConfig::February1995(config) => {
                Uili::February1995(Box::new(February1995::new(config, parameters)))
            }
            UiliConfig::April1995(config) => Uili::April1995(Box::new(April1995::new(config, parameters))),
            UiliConfig::August1995(config) => Uili::August1995(Box::new(August1995::new(config, parameters))),
            UiliConfig::Baseline(config) => Uili::Baseline(Box::new(Baseline::new(config))),
            UiliConfig::CountBased(config) => Uili::CountBased(Box::new(CountBased::new(config))),
            UiliConfig::TimeBased(config) => Uili::TimeBased(Box::new(TimeBased::new(config, parameters))),
            UiliConfig::Joint(config) => Uili::Joint(Box::new(Joint::new(config))),
        }
    }

    /// Whether there is no policy.
    #[inline]
    pub fn is_none(&self) -> bool {
        matches!(self, Uili::None)
    }

    /// ACR as the policy leaves it before the FRM.
    pub fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        self.policy().map_or(context.acr, |policy| policy.on_forward_rm(context))
    }

    /// Whether the source may follow an increase that this BRM asks for.
    pub fn on_backward_rm(&mut self, context: &BackwardRmContext) -> bool {
        self.policy().is_none_or(|policy| policy.on_backward_rm(context))
    }

    #[inline]
    fn policy(&mut self) -> Option<&mut dyn UiliPolicy> {
        match self {
            Uili::None => None,
            Uili::February1995(policy) => Some(&mut **policy),
            Uili::April1995(policy) => Some(&mut **policy),
            Uili::August1995(policy) => Some(&mut **policy),
            Uili::Baseline(policy) => Some(&mut **policy),
            Uili::CountBased(policy) => Some(&mut **policy),
            Uili::TimeBased(policy) => Some(&mut **policy),
            Uili::Joint(policy) => Some(&mut **policy),
            Uili::Custom(policy) => Some(&mut **policy),
        }
    }
}

/// TDF of the count based policies: the share of ACR that one trigger takes.
fn check_tdf(tdf: f64) -> Result<(), ParameterError> {
    in_range("tdf", tdf, "", (0.0..=1.0).contains(&tdf), "from 0 to 1")
}

/// TOF: how many times its due an FRM may be late.
fn check_tof(tof: f64) -> Result<(), ParameterError> {
    in_range("tof", tof, "", tof >= 1.0 && tof.is_finite(), "at least 1")
}

fn check_rate(name: &'static str, rate: CellRate) -> Result<(), ParameterError> {
    let value = rate.as_cells_per_s();
    in_range(name, value, "cells/s", value <= MAX_RATE, "from 0 to 16777215 cells/s")
}

/// RDF as the proposals of 1995 have it, a divisor, where it is set apart from the connection's.
fn check_rdf(rdf: Option<f64>) -> Result<(), ParameterError> {
    let value = rdf.unwrap_or(1.0);
    in_range("rdf", value, "", value >= 1.0 && value.is_finite(), "at least 1")
}

/// The divisor that is set, or the reciprocal of the connection's RDF: 512 where TM 4.0 writes 1/512.
fn rdf_divisor(rdf: Option<f64>, parameters: &AbrParameters) -> f64 {
    rdf.unwrap_or(1.0 / parameters.rdf.value())
}

#[cfg(test)]
mod tests;
