//! State that has to be up to date for a sample.

use std::collections::BTreeSet;

use cellrate_proto::Time;
use cellrate_scenario::{FlowSource, PortSource};

use crate::endpoint::{Endpoint, SendMode};
use crate::kernel::ports::{Port, Seen};
use cellrate_engine::sampler::Subject;

/// State that has to be up to date when samples are taken.
#[derive(Debug, Default)]
pub(crate) struct Sampled {
    pub(in crate::kernel) ports: Vec<u32>,
    /// Ports of which samples need only the queue and the cells that have left.
    pub(in crate::kernel) queues: Vec<SampledQueue>,
    /// Ends of which samples need every cell.
    pub(in crate::kernel) senders: Vec<u32>,
    /// Ends of which samples need only RM cells, and what these change.
    pub(in crate::kernel) rm_senders: Vec<u32>,
    /// Ports that a sample reads as they are, with what it saw of them last.
    pub(in crate::kernel) shown: Vec<(u32, Seen)>,
}

/// A port of which samples need only the queue and the cells that have left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampledQueue {
    pub(in crate::kernel) port: u32,
    /// How far the last sample looked into the lane before it.
    pub(in crate::kernel) bookmark: Bookmark,
}

/// How far somebody looked into the lane before a FIFO, none of whose cells has been dealt with since.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bookmark {
    /// View of the FIFO when the first cell of the lane had not come, and when those before this place have.
    pub(in crate::kernel) begun: Seen,
    pub(in crate::kernel) seen: Seen,
    /// View at the last sample, and up to when it is one: until the next cell comes. Zero where nobody knows of one.
    pub(in crate::kernel) latest: Seen,
    pub(in crate::kernel) next: Time,
    /// Number of the [run](crate::kernel::lanes::cell_queue::Lists::run) of the lane, and of the entry there.
    pub(in crate::kernel) run: usize,
    pub(in crate::kernel) entry: usize,
}

impl Bookmark {
    /// From now on that is to be seen, until a cell comes at `next` or later.
    #[inline]
    pub(in crate::kernel) fn note(&mut self, latest: Seen, next: Time) -> Seen {
        (self.latest, self.next) = (latest, next);
        latest
    }
}

impl Sampled {
    /// Finds the state that samples of these subjects need. What has been received, or lost, may hang on any port.
    pub fn new(subjects: impl Iterator<Item = Subject>, ports: &[Port], endpoints: &[Endpoint]) -> Sampled {
        let (mut looked_at, mut queues) = (BTreeSet::new(), BTreeSet::new());
        let (mut senders, mut rm_senders) = (BTreeSet::new(), BTreeSet::new());
        for subject in subjects {
            match subject {
                Subject::Sender(quantity, endpoint) => match quantity.source() {
                    FlowSource::RmCells => _ = rm_senders.insert(endpoint),
                    _ => _ = senders.insert(endpoint),
                },
                Subject::Port(quantity, port) => match quantity.source() {
                    PortSource::Queue | PortSource::Line => _ = queues.insert(port),
                    PortSource::Port | PortSource::Algorithm => _ = looked_at.insert(port),
                },
                Subject::Receiver(..) | Subject::Drops(_) => looked_at.extend(0..ports.len() as u32),
            }
        }
        for (index, endpoint) in (0..).zip(endpoints) {
            if let SendMode::Folded { port, .. } = endpoint.send_mode
                && (looked_at.contains(&port) || queues.contains(&port))
            {
                senders.insert(index);
            }
        }
        let is_deferred = |port: &&u32| ports[**port as usize].deferred;
        Sampled {
            ports: looked_at.iter().filter(is_deferred).copied().collect(),
            queues: queues
                .difference(&looked_at)
                .filter(is_deferred)
                .map(|&port| SampledQueue { port, bookmark: Bookmark::default() })
                .collect(),
            rm_senders: rm_senders.difference(&senders).copied().collect(),
            senders: senders.into_iter().collect(),
            shown: Vec::new(),
        }
    }
}
