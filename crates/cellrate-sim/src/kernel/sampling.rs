//! Samples: what a series looks at is brought up to the instant, and nothing else.
//!
//! Of most ports a series wants to know the queue and what has left. Before a host both follow from the next few
//! entries of one queue, and the cells that these stand for can be dealt with later, more of them at once: then the
//! port is only [shown](Cluster::show) as it is at the instant, and the next sample looks on from there. A source that
//! is to tell its ACR needs to have sent its RM cells up to then; data cells behind the last of them may still be
//! planned.

use cellrate_proto::Time;

use super::lanes::cell_queue::{CellQueue, Lists};
use super::ports::drain_strategy::DrainStrategy;
use super::ports::fed::Fed;
use super::state::cluster::Cluster;
use super::state::sampled::{Bookmark, SampledQueue};
use crate::kernel::ports::{Fifo, Queues, Seen};
use crate::kernel::readings::ClusterReadings;
use crate::stretch::Stretch;

/// Most entries of a queue that are looked through for a sample. With more of them it takes less to deal with the
/// cells, once.
const MOST_ENTRIES: usize = 8;

impl Cluster {
    /// Takes a sample of the series of this leaf.
    pub(super) fn on_sample(&mut self, now: Time, leaf: usize) {
        let limit = self.schedule.key(leaf, now);
        for index in 0..self.sampled.ports.len() {
            self.catch_up_to(self.sampled.ports[index] as usize, limit, now);
        }
        for index in 0..self.sampled.queues.len() {
            let port = self.sampled.queues[index].port as usize;
            if self.ports[port].fed() != Fed::No {
                self.catch_up_before(port, limit);
            }
            if !self.show(index, now) {
                self.catch_up_to(port, limit, now);
            }
        }
        for index in 0..self.sampled.senders.len() {
            self.catch_up_and_refresh(self.sampled.senders[index] as usize, now);
        }
        for index in 0..self.sampled.rm_senders.len() {
            self.plan_until(self.sampled.rm_senders[index] as usize, now);
        }
        let Cluster { ports, endpoints, dropped, sampler, .. } = self;
        sampler.sample(now, &mut ClusterReadings { ports, endpoints, dropped });
        for (port, before) in self.sampled.shown.drain(..) {
            if let Queues::Fifo(fifo) = &mut self.ports[port as usize].queues {
                fifo.show(before);
            }
        }
        self.schedule.set(leaf, self.sampler.next());
    }

    /// Shows a FIFO before a host, of that sampled queue, as it is at `now`, if that is easily said: when those cells
    /// of its lane have joined that come before then. They stay in the lane. Whether it is shown.
    fn show(&mut self, index: usize, now: Time) -> bool {
        let SampledQueue { port: number, bookmark } = &mut self.sampled.queues[index];
        let port = &mut self.ports[*number as usize];
        let (DrainStrategy::Host { lane, .. }, Queues::Fifo(fifo)) = (port.strategy, &mut port.queues) else {
            return false;
        };
        let seen = match &self.lanes[lane as usize].cells {
            CellQueue::Lists(cells) if fifo.is_lossless() => seen_with(fifo, cells, now, bookmark),
            _ => None,
        };
        // Most often nothing has come.
        if let Some(seen) = seen
            && seen != bookmark.begun
        {
            self.sampled.shown.push((*number, fifo.show(seen)));
        }
        seen.is_some()
    }
}

/// View of `fifo` when those cells of `cells` have come that come before `until`; `None` where that takes longer.
/// The bookmark is moved on to the first entry of which not all have come.
#[inline]
fn seen_with(fifo: &Fifo, cells: &Lists, until: Time, bookmark: &mut Bookmark) -> Option<Seen> {
    let begun = fifo.seen();
    if bookmark.begun != begun {
        // Cells have been dealt with: the lane begins behind them.
        *bookmark = Bookmark { begun, seen: begun, ..Bookmark::default() };
    } else if until <= bookmark.next {
        return Some(bookmark.latest);
    }
    for _ in 0..MOST_ENTRIES {
        let (first, behind) = loop {
            let Some(entry) = cells.run(bookmark.run)?.get(bookmark.entry..).and_then(<[_]>::split_first)
            else {
                // What comes next may be put behind this run, or into another one.
                if cells.run(bookmark.run + 1).is_none() {
                    return Some(bookmark.note(bookmark.seen, Time::ZERO));
                }
                (bookmark.run, bookmark.entry) = (bookmark.run + 1, 0);
                continue;
            };
            break entry;
        };
        if first.arrives >= until {
            return Some(bookmark.note(bookmark.seen, first.arrives));
        }
        let Some(stretch) = behind.first().and_then(Stretch::of) else {
            bookmark.seen.admit(first.arrives, fifo.cell_time());
            bookmark.entry += 1;
            continue;
        };
        let (mut seen, count) = (bookmark.seen, stretch.arrive_before(first, until));
        if !seen.admit_apart(first.arrives, stretch.gap, count, fifo.cell_time()) {
            return None;
        }
        if count <= stretch.count.into() {
            return Some(bookmark.note(seen, first.arrives + stretch.gap * count));
        }
        bookmark.seen = seen;
        bookmark.entry += 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cellrate_proto::Duration;

    use super::*;
    use crate::cell::Cell;
    use crate::kernel::lanes::cell_queue::Batch;
    use crate::kernel::ports::{Line, Outlet};
    use cellrate_engine::random::{Owner, Random, Stream};

    #[test]
    fn a_sample_sees_each_cell_of_a_stretch_that_has_come_before_it() {
        const CELL: Duration = Duration::from_ps(10);
        let line =
            Line::new(CELL, Duration::ZERO, 0.0, &[], Random::new(1, Stream::Loss(Owner::named("line"))));
        let fifo = Fifo::new(Arc::new(Outlet::new(&line, None)));
        let first = Cell::data(Time::ZERO, 1, false).arriving(Time::from_ps(100));
        let stretch = Stretch { gap: Duration::from_ps(50), spacing: Duration::from_ps(40), count: 3 };
        let mut cells = CellQueue::new();
        cells.append(Batch::Plain(vec![first, stretch.entry()]));
        let CellQueue::Lists(cells) = &cells else { unreachable!("they are not packed") };
        let mut bookmark = Bookmark::default();
        for now in (0..320).step_by(5) {
            let mut expected = Seen::default();
            for arrives in (100..=250).step_by(50).filter(|&arrives| arrives < now) {
                expected.admit(Time::from_ps(arrives), CELL);
            }
            let seen = seen_with(&fifo, cells, Time::from_ps(now), &mut bookmark);
            assert_eq!(seen, Some(expected), "{now}");
        }
    }
}
