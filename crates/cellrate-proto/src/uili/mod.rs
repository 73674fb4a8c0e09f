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
mod built_in;
mod count_based;
mod february_1995;
mod joint;
mod rule_5b;
mod time_based;

use alloc::boxed::Box;
use core::fmt;

use crate::declaration::{Drawn, Shape, Values};
use crate::parameters::{AbrParameters, ParameterError};
use crate::units::{CellRate, Duration, Time};

pub use built_in::BuiltIn;
pub use rule_5b::Rule5b;

built_in::policies! {
    february_1995::February1995(February1995Config),
    april_1995::April1995(April1995Config),
    august_1995::August1995(August1995Config),
    baseline::Baseline(BaselineConfig),
    count_based::CountBased(CountBasedConfig),
    time_based::TimeBased(TimeBasedConfig),
    joint::Joint(JointConfig),
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

impl Uili {
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
}

/// The divisor that is set, or the reciprocal of the connection's RDF: 512 where TM 4.0 writes 1/512.
fn rdf_divisor(rdf: Option<f64>, parameters: &AbrParameters) -> f64 {
    rdf.unwrap_or(1.0 / parameters.rdf.value())
}

#[cfg(test)]
mod tests;
