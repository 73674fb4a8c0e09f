//! Algorithms that a scenario names and that are not built in, made for the ports that have them.

use cellrate_proto::CellRate;
use cellrate_proto::switch::{PortControl, SwitchAlgorithm};
use cellrate_scenario::{CustomAlgorithm, Scenario};

use crate::given::{CustomKind, NotGiven, Wanted};
use crate::names::port_name;

/// Makes the algorithm that a scenario names, with its parameters, for a port; `None` where there is none of this name. What it
/// makes may be called by several threads, one after the other.
pub type Algorithms<'a> =
    dyn Fn(&CustomAlgorithm, AlgorithmPort<'_>) -> Option<Box<dyn SwitchAlgorithm + Send>> + Sync + 'a;

/// The output port that an algorithm is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlgorithmPort<'a> {
    /// As results call it: "sw1->sw2".
    pub name: &'a str,
    /// What its line takes.
    pub link_rate: CellRate,
}

/// The control of a port, by its number: twice its link's index plus the end it sends from.
///
/// # Errors
/// Where it has an algorithm that `algorithms` do not make.
pub fn control(
    scenario: &Scenario,
    number: usize,
    algorithms: &Algorithms<'_>,
) -> Result<PortControl, NotGiven> {
    let link = &scenario.links[number / 2];
    let (port, link_rate) = (&link.ports[number % 2], link.rate.to_cell_rate());
    let Some(custom) = &port.custom else { return Ok(PortControl::new(&port.control, link_rate)) };
    let name = port_name(scenario, number);
    match algorithms(custom, AlgorithmPort { name: &name, link_rate }) {
        Some(algorithm) => Ok(PortControl::with_algorithm(&port.control, algorithm)),
        None => {
            let (kind, called) = (CustomKind::Algorithm, custom.name.clone());
            Err(NotGiven(Wanted { kind, name: called, owner: name }))
        }
    }
}
