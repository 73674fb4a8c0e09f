//! What [EPRCA](super::Eprca) and [APRC](super::Aprc) have in common: a running mean of the rates that FRMs claim, and
//! who is told to go where by it ("intelligent marking").

use super::list::List;
use super::{Feedback, Metrics, Slot};
use crate::parameters::{ParameterError, in_range};
use crate::units::CellRate;

/// What both offer: the mean of the rates claimed [cells/s].
pub(super) const MARKING_METRICS: Metrics = &["macr"];

/// Refuses a factor outside its range.
pub(super) fn check_factors(average: f64, dpf: f64, erf: f64, mrf: f64) -> Result<(), ParameterError> {
    for (name, value) in [("average", average), ("dpf", dpf), ("erf", erf), ("mrf", mrf)] {
        in_range(name, value, "", value > 0.0 && value <= 1.0, "above 0 and at most 1")?;
    }
    Ok(())
}

/// How bad it is at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Congestion {
    /// RM cells pass unchanged.
    None,
    /// Who claims much is to reduce.
    Moderate,
    /// All are to reduce.
    Severe,
}

/// By how much they are to reduce, each a share of MACR [above 0 to 1].
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// Who claims more than this is to reduce.
    pub dpf: f64,
    /// To this.
    pub erf: f64,
    /// To this everybody, when congestion is severe.
    pub mrf: f64,
}

/// The mean, and what each connection claims.
#[derive(Clone, Debug)]
pub(super) struct Macr {
    /// `None` before the first FRM.
    mean: Option<CellRate>,
    /// By connection: what its last FRM claimed.
    ccrs: List<CellRate>,
}

impl Macr {
    /// Nothing claimed yet.
    pub const fn new() -> Macr {
        Macr { mean: None, ccrs: List::new() }
    }

    /// One more connection.
    pub fn connect(&mut self) {
        self.ccrs.push(CellRate::ZERO);
    }

    /// An FRM of a connection claims `ccr`, which has weight `average` in the mean.
    pub fn claim(&mut self, slot: Slot, ccr: CellRate, average: f64) {
        self.ccrs[slot] = ccr;
        self.mean = Some(self.mean.map_or(ccr, |mean| mean * (1.0 - average) + ccr * average));
    }

    /// The mean; zero before the first FRM.
    pub fn mean(&self) -> CellRate {
        self.mean.unwrap_or(CellRate::ZERO)
    }

    /// Answers a BRM of a connection.
    pub fn answer(&self, slot: Slot, congestion: Congestion, reduction: Reduction, feedback: &mut Feedback) {
        let Some(mean) = self.mean else { return };
        match congestion {
            Congestion::Severe => feedback.limit(mean * reduction.mrf),
            Congestion::Moderate if self.ccrs[slot] > mean * reduction.dpf => {
                feedback.limit(mean * reduction.erf);
            }
            Congestion::Moderate | Congestion::None => {}
        }
    }
}
