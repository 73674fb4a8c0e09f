//! Flows of a size that are complete, counted for all clusters together.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Quantity, Scenario};

use super::census::{Census, Series};
use crate::transport::{Over, SizedFlow};
use cellrate_engine::histogram::Histogram;

/// End of each class of sizes but the last; a size at the end belongs to the next class \[octets\].
pub(crate) const CLASS_ENDS: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// Classes of flows: all, then by size.
pub(crate) const CLASSES: usize = CLASS_ENDS.len() + 2;

/// The class of a size, beside that of all.
pub(crate) fn class_of(octets: u64) -> usize {
    1 + CLASS_ENDS.partition_point(|&end| end <= octets)
}

/// Figures of the flows of each demand, class by class.
#[derive(Debug)]
pub(crate) struct Completions {
    /// Instant before which flows that arrived are not counted.
    start: Time,
    pub demands: Vec<[Class; CLASSES]>,
    /// Number of flows or calls under way, by demand.
    pub census: Vec<Census>,
    /// Instant before which each cluster has reported everything.
    reported: Vec<Time>,
}

/// Complete flows of a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    pub octets: u128,
    /// Times from the arrival of a flow to the arrival of its last cell.
    pub times: Histogram,
    /// Slow-downs: the time of a flow divided by the time that it would take alone, each as so many times [`UNIT`].
    pub slow_downs: Histogram,
}

/// A slow-down of 1; millionths are counted.
pub(crate) const UNIT: Duration = Duration::from_us(1);

impl Completions {
    /// Makes figures of no flows, for a run of `scenario` by so many clusters.
    pub fn new(scenario: &Scenario, clusters: usize) -> Completions {
        let demands = scenario.demands.iter().map(|_| Default::default()).collect();
        let start = scenario.measuring.start();
        let series_of = |place: usize| {
            let is_its = |quantity: &Quantity| matches!(quantity, Quantity::Demand { demand, .. } if *demand as usize == place);
            let own = scenario.probes.iter().enumerate().filter(|(_, probe)| is_its(&probe.quantity));
            own.map(|(number, probe)| Series::new(number, probe.every, scenario.duration)).collect()
        };
        let census = (0..scenario.demands.len()).map(|place| Census::new(start, series_of(place))).collect();
        Completions { start, demands, census, reported: vec![Time::ZERO; clusters] }
    }

    /// Takes note that a cluster has reported all that happens there before `until`.
    pub fn reported_until(&mut self, cluster: usize, until: Time) {
        self.reported[cluster] = until;
        let until = self.reported.iter().copied().min().unwrap_or(until);
        self.census.iter_mut().for_each(|census| census.count_until(until));
    }

    /// Takes note that a flow of a size, or a call with a known end, begins.
    pub fn begins(&mut self, now: Time, demand: usize, end: Option<Time>) {
        let census = &mut self.census[demand];
        census.begins(now);
        end.iter().for_each(|&end| census.ends(end, 1));
        self.count_if_alone(now);
    }

    /// Counts a flow of a size that is over, and others on its connection that were not reported.
    pub fn ends(&mut self, now: Time, over: &Over) {
        self.census[over.flow.demand as usize].ends(now, over.count);
        if over.whole {
            self.count(now, &over.flow);
        }
        self.count_if_alone(now);
    }

    /// Counts up to `now` if there is a single cluster, which reports in the order of time.
    fn count_if_alone(&mut self, now: Time) {
        if self.reported.len() == 1 {
            self.reported_until(0, now);
        }
    }

    /// Counts `flow`, which is complete.
    fn count(&mut self, now: Time, flow: &SizedFlow) {
        let classes = &mut self.demands[flow.demand as usize];
        if flow.arrived < self.start {
            return;
        }
        let time = now.since(flow.arrived);
        let slow_down =
            u128::from(time.as_ps()) * u128::from(UNIT.as_ps()) / u128::from(flow.alone.as_ps().max(1));
        let slow_down = Duration::from_ps(u64::try_from(slow_down).unwrap_or(u64::MAX));
        for class in [0, class_of(flow.octets.0)] {
            let class = &mut classes[class];
            class.octets += u128::from(flow.octets.0);
            class.times.record(time);
            class.slow_downs.record(slow_down);
        }
    }
}
