//! Samples: what a series looks at is brought up to the instant, and nothing else.

use std::collections::BTreeSet;

use cellrate_proto::Time;

use super::cluster::Cluster;
use crate::endpoint::{Access, Endpoint};
use crate::port::Port;
use crate::probe::sampler::Subject;

/// What has to be up to date when samples are taken.
#[derive(Debug, Default)]
pub(crate) struct Sampled {
    ports: Vec<u32>,
    /// Ends that send.
    senders: Vec<u32>,
}

impl Sampled {
    /// For these subjects. What has been received, or lost, may hang on any port.
    pub fn new(subjects: impl Iterator<Item = Subject>, ports: &[Port], endpoints: &[Endpoint]) -> Sampled {
        let (mut looked_at, mut senders) = (BTreeSet::new(), BTreeSet::new());
        for subject in subjects {
            match subject {
                Subject::Sender(_, endpoint) => {
                    senders.insert(endpoint);
                }
                Subject::Port(_, port) => {
                    looked_at.insert(port);
                }
                Subject::Receiver(..) | Subject::Drops(_) => looked_at.extend(0..ports.len() as u32),
            }
        }
        for (index, endpoint) in (0..).zip(endpoints) {
            if let Access::Folded { port, .. } = endpoint.access
                && looked_at.contains(&port)
            {
                senders.insert(index);
            }
        }
        looked_at.retain(|&port| ports[port as usize].deferred);
        Sampled { ports: looked_at.into_iter().collect(), senders: senders.into_iter().collect() }
    }
}

impl Cluster {
    /// Series are sampled.
    pub(super) fn on_sample(&mut self, now: Time, leaf: usize) {
        let limit = self.schedule.key(leaf, now);
        for index in 0..self.sampled.ports.len() {
            self.bring_up(self.sampled.ports[index] as usize, limit, now);
        }
        for index in 0..self.sampled.senders.len() {
            self.catch_up_and_refresh(self.sampled.senders[index] as usize, now);
        }
        self.sampler.sample(now, &mut self.ports, &self.endpoints, &self.dropped);
        self.schedule.set(leaf, self.sampler.next());
    }
}
