//! A toy: everybody is granted the same fixed rate, which is a share of the line.

use super::built_in::{BuiltIn, Figure, Form};
use super::{Feedback, Meter, Promises, Slot, SwitchAlgorithm};
use crate::declaration::{Range, Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Time};

/// The toy's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct ToyConfig {
    /// Share of the line that each connection gets.
    #[key(default = "1/8", range = Range::SHARE)]
    pub share: f64,
}

impl BuiltIn for Toy {
    type Config = ToyConfig;

    const FORMS: &'static [Form] = &[Form {
        title: "the toy",
        shape: Shape { name: "toy", about: "A toy: a fixed share for each.", keys: ToyConfig::KEYS },
        figures: &[Figure::rate("grant")],
    }];

    fn at_port(config: &ToyConfig, link_rate: CellRate) -> Toy {
        Toy { config: *config, grant: link_rate * config.share }
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<ToyConfig, V::Error> {
        ToyConfig::read(values)
    }

    fn check(config: &ToyConfig) -> Result<(), ParameterError> {
        config.check()
    }
}

/// The algorithm.
#[derive(Clone, Debug)]
pub struct Toy {
    config: ToyConfig,
    grant: CellRate,
}

impl Promises for Toy {}

impl SwitchAlgorithm for Toy {
    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.grant = link_rate * self.config.share;
    }

    fn on_backward_rm(&mut self, _: Time, _: Slot, _: Cells, _: &Meter, feedback: &mut Feedback) {
        feedback.limit(self.grant);
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("grant", self.grant.as_cells_per_s());
    }
}
