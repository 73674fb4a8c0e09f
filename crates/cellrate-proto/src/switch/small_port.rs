//! A port with connections, on which unit tests of several algorithms begin.

use alloc::vec::Vec;

use super::{PortControl, PortControlConfig, Slot, SwitchAlgorithmConfig, VcAtPort};
use crate::units::CellRate;

/// A port at `line`, with connections of these MCRs, in parts of `unit`, and weights.
pub(super) fn port_with(
    algorithm: SwitchAlgorithmConfig,
    line: CellRate,
    unit: CellRate,
    connections: &[(f64, f64)],
) -> (PortControl, Vec<Slot>) {
    let mut port = PortControl::new(&PortControlConfig { algorithm, ..PortControlConfig::default() }, line);
    let vcs = connections.iter().map(|&(mcr, weight)| VcAtPort {
        pcr: line,
        mcr: unit * mcr,
        weight,
        round_trip: crate::units::Duration::ZERO,
    });
    let slots = vcs.map(|vc| port.connect(&vc)).collect();
    (port, slots)
}

/// The figure of this name; NaN if there is none.
pub(super) fn figure(port: &PortControl, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    port.metrics(|name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}
