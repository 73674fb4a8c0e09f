//! A toy: a source keeps no more than a share of what it was granted.

use super::built_in::BuiltIn;
use super::{BackwardRmContext, ForwardRmContext, UiliPolicy};
use crate::declaration::{Range, Shape, Table};
use crate::parameters::AbrParameters;
use crate::units::CellRate;

/// The toy's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct ToyPolicyConfig {
    /// Share of ACR that is kept at each forward RM cell.
    #[key(default = "1/2", range = Range::SHARE)]
    pub kept: f64,
}

impl BuiltIn for ToyPolicy {
    type Config = ToyPolicyConfig;

    const SHAPE: Shape = Shape {
        name: "toy-policy",
        about: "A toy: ACR falls at each forward RM cell.",
        keys: ToyPolicyConfig::KEYS,
    };

    fn for_source(config: &ToyPolicyConfig, _parameters: &AbrParameters) -> ToyPolicy {
        ToyPolicy { kept: config.kept }
    }
}

/// The policy.
#[derive(Clone, Debug)]
pub struct ToyPolicy {
    kept: f64,
}

impl UiliPolicy for ToyPolicy {
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        context.acr * self.kept
    }

    fn on_backward_rm(&mut self, _context: &BackwardRmContext) -> bool {
        true
    }
}
