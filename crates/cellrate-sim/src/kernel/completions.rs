//! Flows of a size that are complete, counted for all clusters together.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::Scenario;

use crate::probe::histogram::Histogram;
use crate::transport::SizedFlow;

/// The first size that does not belong to each class any more, but for the last \[octets\].
pub(crate) const CLASS_ENDS: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// Figures of classes of flows, by demand: all, then by size.
#[derive(Debug)]
pub(crate) struct Completions {
    /// Flows that arrived before this instant are not counted.
    start: Time,
    pub demands: Vec<[Class; CLASS_ENDS.len() + 2]>,
}

/// Complete flows of a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    pub octets: u128,
    /// From arrival to the arrival of the last cell.
    pub times: Histogram,
    /// This over what it would be alone, in steps of [`UNIT`].
    pub slow_downs: Histogram,
    /// Time that they were under way from the start on \[ps\].
    pub presence: u128,
}

/// A slow-down of 1.
pub(crate) const UNIT: Duration = Duration::from_us(1);

impl Completions {
    /// Nothing complete yet, in a run of `scenario`.
    pub fn new(scenario: &Scenario) -> Completions {
        let demands = scenario.demands.iter().map(|_| Default::default()).collect();
        Completions { start: scenario.measuring.start(), demands }
    }

    /// `flow` is complete.
    pub fn count(&mut self, now: Time, flow: &SizedFlow) {
        let classes = &mut self.demands[flow.demand as usize];
        // All that were under way in the time that is measured have a part in how many there were.
        classes[0].presence += u128::from(now.since(flow.arrived.max(self.start)).as_ps());
        if flow.arrived < self.start {
            return;
        }
        let time = now.since(flow.arrived);
        let slow_down =
            u128::from(time.as_ps()) * u128::from(UNIT.as_ps()) / u128::from(flow.alone.as_ps().max(1));
        let slow_down = Duration::from_ps(u64::try_from(slow_down).unwrap_or(u64::MAX));
        let of_size = 1 + CLASS_ENDS.partition_point(|&end| end <= flow.octets.0);
        for class in [0, of_size] {
            let class = &mut classes[class];
            class.octets += u128::from(flow.octets.0);
            class.times.record(time);
            class.slow_downs.record(slow_down);
        }
    }
}
