//! Folded sources: transmissions that are not events.
//!
//! Where a source has its access link to itself and cannot lose a cell there, its transmissions are worked out when their
//! arrival at the switch is due, or just before something reaches the host that may change them. Most are data cells
//! of a [run](Endpoint::run) that is known beforehand: these are planned as one train, put on the link at once, *settled*
//! with the source when they have left, and cut off where an event at the host comes before.
//!
//! Whatever changes a folded source first [interrupts](Cluster::interrupt) it, which settles what left before and takes
//! back the rest of the plan, then changes it, then has it [plan](Cluster::reschedule) anew. PDUs of TCP that join those that
//! wait change no plan: one never reaches beyond a PDU.

use cellrate_proto::Time;

use super::cell::{Cell, Significance};
use super::cluster::Cluster;
use super::feed::{Feed, Train};
use super::tournament::NEVER;
use crate::endpoint::{Access, Endpoint};
use crate::port::{Fifo, Queues};

impl Cluster {
    /// Something is due on the access link of a folded source: a cell reaches the switch, or, where the port behind is
    /// deferred, the trains that wait end and what comes after them has to be known.
    pub(super) fn on_feed(&mut self, now: Time, index: usize, leaf: usize) {
        let feed = &self.feeds[index];
        let (port, endpoint) = (feed.port as usize, feed.endpoint as usize);
        if feed.deferred {
            let key = self.schedule.key(leaf, now);
            if self.ports[port].merge.first() <= key {
                // A single cell is due when it arrives.
                self.drain(port, key + 1);
            }
            let feed = &self.feeds[index];
            let next =
                if feed.is_empty() { self.next_folded_arrival(endpoint) } else { feed.front.cell.arrives };
            if next > now || feed.front.waits(feed.significance) {
                return;
            }
        }
        let feed = &mut self.feeds[index];
        let cell = if feed.is_empty() {
            let cell = self.release(endpoint);
            self.plan(endpoint, cell.sent);
            self.refresh(index);
            cell
        } else {
            let cell = feed.front.take();
            self.pass_event(index);
            cell
        };
        self.forward(now, leaf, cell);
    }

    /// The train at the front has been used up.
    pub(super) fn go_on(&mut self, index: usize) {
        let feed = &mut self.feeds[index];
        feed.advance();
        if feed.deferred && !feed.is_empty() {
            // What is due here is what it was: the first event, or the end of what waits.
            return self.merge_front(index);
        }
        self.plan_behind(index);
        self.refresh(index);
    }

    /// A feed without a train may have its next cell, no event, at `now`: whether it has. If not, what it has is known now.
    pub(super) fn is_next_at(&mut self, index: usize, now: Time) -> bool {
        self.plan_behind(index);
        let feed = &self.feeds[index];
        let is_next = feed.is_empty() && self.next_unheralded(feed) == now;
        if !is_next {
            self.refresh(index);
        }
        is_next
    }

    /// An event at the front has been dealt with.
    fn pass_event(&mut self, index: usize) {
        if self.feeds[index].front.count == 0 {
            self.feeds[index].advance();
            self.plan_behind(index);
        }
        self.refresh(index);
    }

    /// When nothing is left on an access link, what the source had planned has left.
    fn plan_behind(&mut self, index: usize) {
        let feed = &self.feeds[index];
        let endpoint = feed.endpoint as usize;
        let planned = self.endpoints[endpoint].planned;
        if !feed.is_empty() {
            return;
        }
        if planned > 0 {
            let last = self.settle(endpoint, planned);
            self.plan(endpoint, last);
        }
    }

    /// The front train of a feed to a deferred port has changed: its key in the merge, if its cells are no events.
    fn merge_front(&mut self, index: usize) {
        let feed = &self.feeds[index];
        let next = if feed.is_empty() {
            self.next_unheralded(feed)
        } else if feed.front.waits(feed.significance) {
            feed.front.cell.arrives
        } else {
            Time::NEVER
        };
        let key = self.schedule.key(feed.leaf as usize, next);
        let feed = &mut self.feeds[index];
        feed.key_step = self.schedule.key_step(feed.front.spacing.as_ps());
        self.ports[feed.port as usize].merge.set(feed.place as usize, key);
    }

    /// When the next cell of the source of `feed` reaches the switch, of which only the instant is known, if that cell
    /// will be no event whatever it is.
    fn next_unheralded(&self, feed: &Feed) -> Time {
        let endpoint = feed.endpoint as usize;
        let heralded =
            feed.significance != Significance::BEFORE_CLUSTER || self.endpoints[endpoint].may_turn_around();
        if heralded { Time::NEVER } else { self.next_folded_arrival(endpoint) }
    }

    /// The front train may have changed: the keys for it.
    pub(super) fn refresh(&mut self, index: usize) {
        if self.feeds[index].deferred {
            self.merge_front(index);
        }
        let feed = &self.feeds[index];
        let (leaf, endpoint) = (feed.leaf as usize, feed.endpoint as usize);
        let first = if feed.is_empty() {
            None
        } else if feed.deferred {
            feed.first_event()
        } else {
            Some(feed.front.cell.arrives)
        };
        let lazy = feed.deferred && feed.significance == Significance::BEFORE_CLUSTER;
        let due = if let Some(first) = first {
            first
        } else if lazy && !self.endpoints[endpoint].may_turn_around() {
            // Whoever looks at the port works out what comes.
            Time::NEVER
        } else if self.endpoints[endpoint].planned > 0 {
            // Behind a planned train the source sends its spacing later, or later still.
            feed.end()
        } else {
            self.next_folded_arrival(endpoint)
        };
        self.schedule.keep(leaf, due);
    }

    /// The next folded transmission of `endpoint`, of which only the instant was known, leaves.
    pub(super) fn release(&mut self, endpoint: usize) -> Cell {
        let sender = &mut self.endpoints[endpoint];
        let at = sender.transmits;
        let Some(mut cell) = sender.transmit(at) else {
            unreachable!("something waits at the next transmission");
        };
        let Some(arrives) = self.access_port(endpoint).admit(at) else {
            unreachable!("only sources behind a lossless port are folded");
        };
        self.sampler.note_endpoint(at, endpoint as u32, &self.endpoints);
        cell.arrives = arrives;
        cell
    }

    /// The port that a folded `endpoint` sends by.
    fn access_port(&mut self, endpoint: usize) -> &mut Fifo {
        let Access::Folded { port, .. } = self.endpoints[endpoint].access else {
            unreachable!("only folded sources have an access link to themselves");
        };
        match &mut self.ports[port as usize].queues {
            Queues::Fifo(fifo) => fifo,
            Queues::Ranked(_) | Queues::Served(_) => unreachable!("only sources behind a FIFO are folded"),
        }
    }

    fn next_folded_arrival(&self, endpoint: usize) -> Time {
        let sender = &self.endpoints[endpoint];
        match (sender.access, sender.transmits) {
            (_, Time::NEVER) | (Access::Scheduled | Access::Ahead { .. }, _) => Time::NEVER,
            (Access::Folded { port, .. }, at) => match &self.ports[port as usize].queues {
                Queues::Fifo(fifo) => fifo.preview(at),
                Queues::Ranked(_) | Queues::Served(_) => {
                    unreachable!("only sources behind a FIFO are folded")
                }
            },
        }
    }

    /// The first `count` planned cells of `endpoint` have left; returns when the last of them did.
    fn settle(&mut self, endpoint: usize, count: u32) -> Time {
        let sender = &mut self.endpoints[endpoint];
        let last = sender.transmits + sender.spacing * u64::from(count - 1);
        sender.planned -= count;
        sender.transmits = last.saturating_add(sender.spacing);
        sender.transmit_run(count, last);
        self.access_port(endpoint).admit_run(count, last);
        last
    }

    /// The transmissions of a folded `endpoint` before `until` have been made. Whether there is something new on the link or
    /// planned.
    pub(super) fn catch_up(&mut self, endpoint: usize, until: Time) -> bool {
        let Access::Folded { feed, .. } = self.endpoints[endpoint].access else { return false };
        let mut replanned = false;
        while self.endpoints[endpoint].transmits < until {
            let Endpoint { planned, transmits, spacing, .. } = self.endpoints[endpoint];
            let left = if planned == 0 {
                let cell = self.release(endpoint);
                self.feeds[feed as usize].push(Train::of(cell));
                cell.sent
            } else {
                let before = until.since(transmits).div_ceil(spacing);
                let left = planned.min(u32::try_from(before).unwrap_or(u32::MAX));
                let last = self.settle(endpoint, left);
                if left < planned {
                    return replanned;
                }
                last
            };
            self.plan(endpoint, left);
            replanned = true;
        }
        replanned
    }

    /// The same, and what was planned after that is taken back: something happens at the host.
    pub(super) fn interrupt(&mut self, endpoint: usize, until: Time) {
        self.catch_up(endpoint, until);
        if let Access::Folded { feed, .. } = self.endpoints[endpoint].access {
            let planned = std::mem::take(&mut self.endpoints[endpoint].planned);
            self.feeds[feed as usize].cut(planned);
            self.feeds[feed as usize].open = false;
        }
    }

    /// Works out the next transmission of a folded `endpoint`, not before `now`, and the run that begins there if one
    /// does. Nothing is planned beyond the end.
    pub(super) fn plan(&mut self, endpoint: usize, now: Time) {
        let sender = &mut self.endpoints[endpoint];
        let at = sender.next_transmission(now);
        sender.transmits = at;
        sender.planned = 0;
        let Access::Folded { port, feed } = sender.access else { return };
        self.feeds[feed as usize].open = false;
        let Queues::Fifo(fifo) = &self.ports[port as usize].queues else { return };
        if at >= self.end {
            return;
        }
        let (spacing, count, ends_pdu) = sender.run(at);
        if count == 0 || !fifo.is_idle_for(at, spacing) {
            return;
        }
        let feed = &mut self.feeds[feed as usize];
        let mut train = Train { cell: Cell::NOTHING, spacing, count, ends_pdu };
        if ends_pdu && feed.significance.of_pdu_ends() {
            train.count -= 1;
            train.ends_pdu = false;
        }
        if at.saturating_add(spacing.saturating_mul(u64::from(train.count))) > self.end {
            let before_end = self.end.since(at).div_ceil(spacing) as u32;
            train.ends_pdu &= before_end == train.count;
            train.count = before_end;
        }
        let arrives = fifo.preview(at);
        train.cell = sender.planned_cell(at);
        train.cell.arrives = arrives;
        if train.count == 0 || self.schedule.key(0, train.last_arrival()) == NEVER {
            return;
        }
        sender.planned = train.count;
        sender.spacing = spacing;
        // The end of a PDU has to be known as soon as it has left.
        feed.open = !train.ends_pdu;
        feed.push(train);
    }

    /// The next transmission of `endpoint`, not before `now`, may have moved. A folded one has been interrupted before.
    pub(super) fn reschedule(&mut self, now: Time, endpoint: usize) {
        match self.endpoints[endpoint].access {
            Access::Scheduled => {
                let sender = &mut self.endpoints[endpoint];
                sender.transmits = sender.next_transmission(now);
                self.schedule.set(self.transmission_leaves[endpoint] as usize, sender.transmits);
            }
            Access::Folded { feed, .. } => {
                self.plan(endpoint, now);
                self.refresh(feed as usize);
            }
            Access::Ahead { .. } => {}
        }
    }

    /// TCP at `endpoint` may have put PDUs behind those that waited; what it had to send before `now` has been
    /// [sent](Cluster::catch_up), and `replanned` is what that said. What is planned is part of the PDU that waited first, and
    /// stays.
    pub(super) fn more_waits(&mut self, now: Time, endpoint: usize, replanned: bool) {
        let Endpoint { planned, access, .. } = self.endpoints[endpoint];
        match access {
            Access::Folded { feed, .. } if planned > 0 => {
                if replanned {
                    self.refresh(feed as usize);
                }
            }
            _ => self.reschedule(now, endpoint),
        }
    }

    /// The transmissions before `until` have all been made: for looking at the hosts.
    pub(super) fn catch_up_all(&mut self, until: Time) {
        for endpoint in 0..self.endpoints.len() {
            self.catch_up(endpoint, until);
            if let Access::Folded { feed, .. } = self.endpoints[endpoint].access {
                self.refresh(feed as usize);
            }
        }
    }

    /// The end has come: what was planned after it is taken back.
    pub(super) fn end_plans(&mut self, end: Time) {
        for endpoint in 0..self.endpoints.len() {
            self.interrupt(endpoint, end);
        }
    }
}
