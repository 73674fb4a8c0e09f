//! A run that is watched: what its series have recorded so far, again and again while it goes on.
//!
//! Nothing is recorded for it that would not be anyway, so results are the same. It looks between windows of the
//! kernel, when all clusters have got to the same instant.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use cellrate_proto::{Duration, Time};

use crate::kernel::census::Census;
use crate::kernel::state::cluster::Cluster;

/// Progress since the last look.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// How far the run has got: all that happens before this has happened.
    pub now: Time,
    /// Series with something new, in the order of the scenario.
    pub recent: Vec<Recent>,
}

/// Values added to one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Recent {
    /// Its place among the scenario's probes, and among [`RunResult::series`](crate::RunResult::series).
    pub probe: usize,
    /// Instants \[ps\], not before those of the last look.
    pub times_ps: Vec<u64>,
    /// As many values.
    pub values: Vec<f64>,
}

/// Who watches.
pub(crate) struct Watcher<'a> {
    /// From one look to the next, at least.
    every: Duration,
    next: Time,
    seen: Seen,
    look: &'a mut dyn FnMut(Look) -> ControlFlow<()>,
}

/// How much of its series a watcher has seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How many values of each track of each cluster.
    values: Vec<Vec<usize>>,
    /// How many values of each series of flows that come and go, by its probe.
    flows: BTreeMap<usize, usize>,
}

impl<'a> Watcher<'a> {
    /// A watcher of a run that has not begun.
    pub fn new(every: Duration, look: &'a mut dyn FnMut(Look) -> ControlFlow<()>) -> Watcher<'a> {
        Watcher { every, next: Time::ZERO + every, seen: Seen::default(), look }
    }

    /// After a window, which has ended at `now`.
    pub fn pass(&mut self, now: Time, clusters: &[Cluster]) -> ControlFlow<()> {
        if now < self.next {
            return ControlFlow::Continue(());
        }
        self.next = now.saturating_add(self.every);
        let recent = self.seen.recent(clusters);
        (self.look)(Look { now, recent })
    }
}

impl Seen {
    /// Values of series since the last call, in the order of the scenario.
    pub fn recent(&mut self, clusters: &[Cluster]) -> Vec<Recent> {
        let mut recent: BTreeMap<usize, Recent> = BTreeMap::new();
        self.values.resize(clusters.len(), Vec::new());
        for (cluster, seen) in clusters.iter().zip(&mut self.values) {
            let tracks = cluster.sampler.tracks();
            seen.resize(tracks.len(), 0);
            for (track, seen) in tracks.iter().zip(seen) {
                let (times_ps, values) = track.recorder.since(*seen);
                *seen += values.len();
                if values.is_empty() {
                    continue;
                }
                match recent.get_mut(&track.probe) {
                    // Losses of a connection, counted in several clusters at the same instants.
                    Some(Recent { values: sums, .. }) => {
                        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                    }
                    None => {
                        let values = values.to_vec();
                        recent.insert(track.probe, Recent { probe: track.probe, times_ps, values });
                    }
                }
            }
        }
        if let Some(openers) = clusters.first().map(|cluster| &cluster.openers) {
            openers.look(|completions| {
                for series in completions.census.iter().flat_map(Census::series) {
                    let seen = self.flows.entry(series.probe).or_default();
                    let (times_ps, values) = series.recorder.since(*seen);
                    *seen += values.len();
                    if !values.is_empty() {
                        let values = values.to_vec();
                        recent.insert(series.probe, Recent { probe: series.probe, times_ps, values });
                    }
                }
            });
        }
        recent.into_values().collect()
    }
}
