//! Algorithms that a scenario names and that are not built in, made for the ports that have them.

use std::error::Error;
use std::fmt;

use cellrate_proto::CellRate;
use cellrate_proto::switch::{PortControl, SwitchAlgorithm};
use cellrate_scenario::{CustomAlgorithm, NodeIndex, Scenario};

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

/// A port has an algorithm that is not built in, and that the run was not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAlgorithm {
    /// What the scenario calls the algorithm.
    pub name: String,
    /// The port.
    pub port: String,
}

impl fmt::Display for NoAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoAlgorithm { name, port } = self;
        write!(f, "port {port} has the custom algorithm \"{name}\", which the run was not given")
    }
}

impl Error for NoAlgorithm {}

/// The control of a port, by its number: twice its link's index plus the end it sends from.
///
/// # Errors
/// Where it has an algorithm that `algorithms` do not make.
pub fn control(
    scenario: &Scenario,
    number: usize,
    algorithms: &Algorithms<'_>,
) -> Result<PortControl, NoAlgorithm> {
    let link = &scenario.links[number / 2];
    let (port, link_rate) = (&link.ports[number % 2], link.rate.to_cell_rate());
    let Some(custom) = &port.custom else { return Ok(PortControl::new(&port.control, link_rate)) };
    let name = port_name(scenario, number);
    match algorithms(custom, AlgorithmPort { name: &name, link_rate }) {
        Some(algorithm) => Ok(PortControl::with_algorithm(&port.control, algorithm)),
        None => Err(NoAlgorithm { name: custom.name.clone(), port: name }),
    }
}

/// Looks whether each algorithm is `given` that is not built in and that a port has whose node runs `here`.
///
/// # Errors
/// The first one that is not.
pub fn check_given(
    scenario: &Scenario,
    given: impl Fn(&str) -> bool,
    here: impl Fn(NodeIndex) -> bool,
) -> Result<(), NoAlgorithm> {
    let ports = scenario.links.iter().flat_map(|link| link.ends.iter().zip(&link.ports));
    for (number, (&node, port)) in ports.enumerate() {
        if let Some(custom) = &port.custom
            && here(node)
            && !given(&custom.name)
        {
            return Err(NoAlgorithm { name: custom.name.clone(), port: port_name(scenario, number) });
        }
    }
    Ok(())
}
