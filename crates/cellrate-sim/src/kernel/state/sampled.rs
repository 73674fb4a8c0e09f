//! State that has to be up to date for a sample.

use std::collections::BTreeSet;

use crate::endpoint::{Endpoint, SendMode};
use crate::kernel::ports::Port;
use cellrate_engine::sampler::{Sampler, Subject};

/// State that has to be up to date when samples are taken.
#[derive(Debug, Default)]
pub(crate) struct Sampled {
    pub(in crate::kernel) ports: Vec<u32>,
    /// Ends of which samples need every cell.
    pub(in crate::kernel) senders: Vec<u32>,
    /// Ends of which samples need only RM cells, and what these change: they have to have left at the end of a window,
    /// when samples are taken [late](crate::kernel::sampling).
    pub(in crate::kernel) rm_senders: Vec<u32>,
}

impl Sampled {
    /// For the series of this sampler. What has been received, or lost, may depend on any port.
    pub fn new(sampler: &mut Sampler, ports: &[Port], endpoints: &[Endpoint]) -> Sampled {
        let rm_senders = sampler.wait_for_changes(endpoints);
        let (mut looked_at, mut senders) = (BTreeSet::new(), BTreeSet::new());
        for subject in sampler.looks_at() {
            match subject {
                Subject::Sender(_, endpoint) => _ = senders.insert(endpoint),
                Subject::Port(_, port) => _ = looked_at.insert(port),
                Subject::Receiver(..) | Subject::Drops(_) => looked_at.extend(0..ports.len() as u32),
            }
        }
        for (index, endpoint) in (0..).zip(endpoints) {
            if let SendMode::Folded { port, .. } = endpoint.send_mode
                && looked_at.contains(&port)
            {
                senders.insert(index);
            }
        }
        let is_deferred = |port: &u32| ports[*port as usize].deferred;
        Sampled {
            ports: looked_at.into_iter().filter(is_deferred).collect(),
            senders: senders.into_iter().collect(),
            rm_senders: rm_senders.into_iter().collect(),
        }
    }
}
