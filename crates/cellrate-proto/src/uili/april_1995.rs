//! The harmonic correction (Barnhart, AF-TM 95-0267R1, and Roberts, AF-TM 95-0340, April 1995; paper uili, section 3).
//! History: hard to compute (a division per trigger), and without a floor but MCR.

use super::built_in::BuiltIn;
use super::{BackwardRmContext, ForwardRmContext, UiliPolicy, rdf_divisor};
use crate::declaration::{Range, Shape, Table};
use crate::parameters::AbrParameters;
use crate::units::CellRate;

/// Parameters of [`April1995`].
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct April1995Config {
    /// A forward RM cell is late when it comes more than tof times nrm/ACR after the last.
    #[key(default = "2", range = Range::AT_LEAST_ONE)]
    pub tof: f64,
    /// Divisor of the decrease, as in 1995: 512 where abr.rdf is 1/512.
    #[key(default = "1 / abr.rdf", range = Range::AT_LEAST_ONE)]
    pub rdf: Option<f64>,
}

impl BuiltIn for April1995 {
    type Config = April1995Config;

    const SHAPE: Shape = Shape {
        name: "april-1995",
        about: "The harmonic decrease (paper uili, section 3).",
        keys: April1995Config::KEYS,
    };

    fn for_source(config: &April1995Config, parameters: &AbrParameters) -> April1995 {
        April1995::new(config, parameters)
    }
}

/// Before an FRM that is late, T > TOF * Nrm / ACR:
///
/// ```text
/// 1 / ACR := 1 / ACR + T / RDF           T: time since the last FRM
/// ```
///
/// The paper gives the formula and the new T, not the test; it is taken to be that of August 1995, which goes with this
/// T, without the floor of ICR that came in May. Nothing forbids the next increase.
#[derive(Clone, Debug)]
pub struct April1995 {
    /// An FRM is late after as many cells: TOF * Nrm.
    late: f64,
    rdf: f64,
}

impl April1995 {
    /// For a source with `parameters`.
    pub fn new(config: &April1995Config, parameters: &AbrParameters) -> April1995 {
        let late = config.tof * f64::from(parameters.nrm);
        April1995 { late, rdf: rdf_divisor(config.rdf, parameters) }
    }
}

impl UiliPolicy for April1995 {
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        // T * ACR, the cells that could have been sent: 1 / (1/ACR + T/RDF) = ACR / (1 + T ACR / RDF).
        let cells = context.acr.cells_in(context.elapsed);
        if cells > self.late { context.acr * (1.0 / (1.0 + cells / self.rdf)) } else { context.acr }
    }

    fn on_backward_rm(&mut self, _context: &BackwardRmContext) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{backward, forward, parameters};
    use super::*;
    use crate::units::Duration;

    #[test]
    fn a_late_frm_adds_a_share_of_its_delay_to_the_spacing() {
        // 64,000 cells/s: TOF * Nrm / ACR = 1 ms. At 8 ms, 512 cells of RDF 512: 1/ACR doubles.
        let mut policy = April1995::new(&April1995Config::default(), &parameters());
        let at = |span| forward(64_000.0, 32, span);
        assert_eq!(policy.on_forward_rm(&at(Duration::from_ms(8))), CellRate::new(32_000.0));
        assert!(policy.on_backward_rm(&backward(32_000.0, 64_000.0)));
        assert_eq!(policy.on_forward_rm(&at(Duration::from_ms(1))), CellRate::new(64_000.0));
        let later = policy.on_forward_rm(&at(Duration::from_us(1_001)));
        assert!(later < CellRate::new(64_000.0) && later > CellRate::new(56_000.0), "{later:?}");
    }

    #[test]
    fn it_knows_no_floor() {
        let mut policy = April1995::new(&April1995Config::default(), &parameters());
        let idle = forward(64_000.0, 32, Duration::from_secs(8));
        assert!(policy.on_forward_rm(&idle) < idle.icr);
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        let refused = |tof, rdf| April1995Config { tof, rdf }.check().map_err(|error| error.name);
        assert_eq!(refused(0.99, None), Err("tof"));
        assert_eq!(refused(f64::INFINITY, None), Err("tof"));
        assert_eq!(refused(1.0, Some(0.5)), Err("rdf"));
        assert_eq!(refused(1.0, None), Ok(()));
    }
}
