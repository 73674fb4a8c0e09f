//! Samples: what a series looks at is brought up to the instant, and nothing else.
//!
//! Few series look at anything. The queue of a FIFO and what has left follow from the instants at which cells come:
//! where these are kept, samples are taken [late](cellrate_engine::sampler::Sampler::note_unchanged), at the end of the
//! window, when all have come. They are kept before a host, where cells that follow each other evenly are one entry,
//! and before another cluster if a sample comes every few cells; to have cells come many at a time is worth more than
//! that, else. Rates and counts of a source that only RM cells change are noted when they change, and samples of them
//! are taken then.

use cellrate_proto::Time;

use super::state::cluster::Cluster;
use crate::kernel::readings::ClusterReadings;

impl Cluster {
    /// Takes a sample of the series of this leaf.
    pub(super) fn on_sample(&mut self, now: Time, leaf: usize) {
        let limit = self.schedule.key(leaf, now);
        for index in 0..self.sampled.ports.len() {
            self.catch_up_to(self.sampled.ports[index] as usize, limit, now);
        }
        for index in 0..self.sampled.senders.len() {
            self.catch_up_and_refresh(self.sampled.senders[index] as usize, now);
        }
        let Cluster { ports, endpoints, dropped, sampler, .. } = self;
        sampler.sample(now, &mut ClusterReadings { ports, endpoints, dropped });
        self.schedule.set(leaf, self.sampler.next());
    }

    /// Takes the samples before `until` that have waited: all cells before then have come to the ports that keep
    /// arrivals.
    pub(super) fn sample_late(&mut self, until: Time) {
        for index in 0..self.sampled.rm_senders.len() {
            self.plan_until(self.sampled.rm_senders[index] as usize, until);
        }
        let last = Time::from_ps(until.as_ps().saturating_sub(1));
        self.sampler.note_unchanged(last, &mut self.ports);
    }
}
