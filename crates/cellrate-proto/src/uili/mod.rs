//! Use-it-or-lose-it policies (source rule 13; paper 004): what a source does about rate it was given and does not use.
//!
//! The source calls its policy when it is about to send an in-rate FRM, after rules 5 and 6, and when a BRM arrives,
//! before rules 8 and 9.

use crate::parameters::AbrParameters;
use crate::units::{CellRate, Duration};

/// Which policy a source follows, with its parameters.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum UiliConfig {
    /// None beyond rule 5's time-out (default).
    #[default]
    None,
}

/// What a policy may know when an FRM is about to leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForwardRmContext {
    /// ACR, after rules 5 and 6 [cells/s].
    pub acr: CellRate,
    /// ICR in force [cells/s].
    pub icr: CellRate,
    /// In-rate cells since the last FRM, that FRM included [cells].
    pub cells: u32,
    /// Time since the last FRM.
    pub elapsed: Duration,
}

/// What a policy may know when a BRM has arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackwardRmContext {
    /// ACR before rules 8 and 9 [cells/s].
    pub acr: CellRate,
    /// ER of the BRM [cells/s].
    pub er: CellRate,
    /// CI = NI = 0: the network asks for an increase.
    pub increase: bool,
}

/// A policy at work.
#[derive(Clone, Debug)]
pub enum Uili {
    /// None.
    None,
}

impl Uili {
    /// The policy that `config` names, for a source with `parameters`.
    pub fn new(config: &UiliConfig, _parameters: &AbrParameters) -> Uili {
        match config {
            UiliConfig::None => Uili::None,
        }
    }

    /// ACR as the policy leaves it before the FRM.
    pub fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        match self {
            Uili::None => context.acr,
        }
    }

    /// Whether the source may follow an increase that this BRM asks for.
    pub fn on_backward_rm(&mut self, _context: &BackwardRmContext) -> bool {
        match self {
            Uili::None => true,
        }
    }
}
