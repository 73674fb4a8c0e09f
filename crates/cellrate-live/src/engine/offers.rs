//! Offers of adapters to applications while the network runs: ACR, now.

use std::sync::atomic::{AtomicU64, Ordering};

use cellrate_proto::CellRate;
use cellrate_scenario::{FlowIndex, Scenario};

/// ACR of every sending end, written by the engine at each of its wake-ups, read by whoever wants to know.
#[derive(Debug)]
pub struct Offers {
    /// By flow, the bits of a rate in cells/s.
    rates: Box<[AtomicU64]>,
}

impl Offers {
    /// The offers before the run: ICR in force of ABR sources, and PCR of others, which never changes.
    pub fn new(scenario: &Scenario) -> Offers {
        let rates = scenario.flows().map(|flow| scenario.flow(flow).sender.icr());
        Offers { rates: rates.map(|rate| AtomicU64::new(rate.as_cells_per_s().to_bits())).collect() }
    }

    /// The rate at which one direction of a connection may send now.
    ///
    /// # Panics
    /// When the scenario has no such direction.
    pub fn rate(&self, flow: FlowIndex) -> CellRate {
        CellRate::new(f64::from_bits(self.rates[flow.index()].load(Ordering::Relaxed)))
    }

    /// Flows, each with what its end may send now.
    pub(crate) fn publish(&self, rates: impl Iterator<Item = (FlowIndex, CellRate)>) {
        for (flow, rate) in rates {
            self.rates[flow.index()].store(rate.as_cells_per_s().to_bits(), Ordering::Relaxed);
        }
    }
}
