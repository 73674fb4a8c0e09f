//! Sources that do not do as they are told, for whoever wants to see what that does to the others.

use crate::parameters::{ParameterError, in_range};

/// Which rules a source breaks. The default breaks none.
///
/// ```
/// use cellrate_proto::misbehaviour::Misbehaviour;
/// use cellrate_proto::uili::UiliConfig;
/// use cellrate_proto::{AbrParameters, CellRate, Duration, Source};
/// let source = Source::new(AbrParameters::new(CellRate::new(1000.0)), &UiliConfig::None);
/// let hasty = source.misbehaving(Misbehaviour { rate_factor: 2.0, ..Misbehaviour::default() });
/// assert_eq!(hasty.spacing(), Duration::from_us(500));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Misbehaviour {
    /// Rule 9 is broken: ACR does not fall to ER.
    pub ignores_er: bool,
    /// Rule 8 is broken: what comes with CI = 1 counts as if CI were 0.
    pub ignores_ci: bool,
    /// Rule 1 is broken: cells leave at so many times ACR, and RM cells still say ACR.
    pub rate_factor: f64,
    /// Rule 11 is broken: out-of-rate FRMs leave at so many times TCR.
    pub tcr_factor: f64,
}

impl Default for Misbehaviour {
    fn default() -> Misbehaviour {
        Misbehaviour { ignores_er: false, ignores_ci: false, rate_factor: 1.0, tcr_factor: 1.0 }
    }
}

impl Misbehaviour {
    /// Refuses factors of which one is not above 0 or above 1000.
    ///
    /// # Errors
    /// With the parameter's name, value and range.
    pub fn check(&self) -> Result<(), ParameterError> {
        for (name, factor) in [("rate_factor", self.rate_factor), ("tcr_factor", self.tcr_factor)] {
            in_range(name, factor, "", factor > 0.0 && factor <= 1000.0, "above 0, at most 1000")?;
        }
        Ok(())
    }
}
