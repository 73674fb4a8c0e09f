//! Parts that [EPRCA](super::Eprca) and [APRC](super::Aprc) have in common: a running mean of the rates that FRMs
//! claim, and who is told to go where by it ("intelligent marking").

use super::list::List;
use super::{Feedback, Slot};
use crate::declaration::{Range, Table};
use crate::units::CellRate;

/// The mean, and by how much connections are to reduce, each a share of it.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct MarkingFactors {
    /// AV: weight of a forward RM cell in the mean.
    #[key(default = "1/16", range = Range::SHARE)]
    pub average: f64,
    /// Down pressure factor.
    #[key(default = "7/8", range = Range::SHARE)]
    pub dpf: f64,
    /// Explicit reduction factor: to this of the mean.
    #[key(default = "15/16", range = Range::SHARE)]
    pub erf: f64,
    /// Major reduction factor.
    #[key(default = "1/4", range = Range::SHARE)]
    pub mrf: f64,
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

    /// Answers a BRM of a connection: who claims more than `dpf` of the mean is to go to `erf` of it in moderate
    /// congestion, everybody to `mrf` of it in severe one.
    pub fn answer(
        &self,
        slot: Slot,
        congestion: Congestion,
        factors: &MarkingFactors,
        feedback: &mut Feedback,
    ) {
        let Some(mean) = self.mean else { return };
        match congestion {
            Congestion::Severe => feedback.limit(mean * factors.mrf),
            Congestion::Moderate if self.ccrs[slot] > mean * factors.dpf => {
                feedback.limit(mean * factors.erf);
            }
            Congestion::Moderate | Congestion::None => {}
        }
    }
}
