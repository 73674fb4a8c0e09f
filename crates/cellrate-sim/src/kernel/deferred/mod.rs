//! Deferred ports: data cells are handled when the port is looked at, not when they come.
//!
//! The effect of a data cell on a port stays unseen until something looks at the port: the next RM cell there, a BRM
//! that asks the port's control, a sample, or the end of a window. Data cells can therefore come late to a port whose
//! link leads to another cluster, to a host that counts data cells early, or to a switch where all of them go on
//! through ports that are deferred themselves ([`onward`]). They wait in their lanes and feeds without events, and are
//! merged in the order of their keys just before the look. Their keys are those that their events would have, and each
//! look has a key, too, so that it finds exactly what it would have found had every cell been an event.
//!
//! Cells that have to be events (`Significance`) are events: before a host, or a switch of the cluster, these are RM
//! cells and ends of PDUs, or of requests and responses that bear their mark, which a host may answer; before another
//! cluster they are BRMs, for which the port in the other direction is looked at. An FRM before another cluster
//! concerns the port's control alone, and waits as data cells do. So do FRMs and ends of PDUs before a host, where all
//! cells come over one lane: they are events behind the port only ([`awaited`]).
//!
//! The cells that a source sends behind a train have to be planned in time. Before a host this happens at the latest
//! when the last cell of the train is due, which is an event. Before another cluster it happens while the cells are
//! handled: where no more cells are known, the merge has the key of the next transmission, or an earlier one, and asks
//! the source when it comes to that key; only a source that may send a BRM next has an event for this. Nothing changes
//! a source in between, because every event at its host first has it send the cells that were due by then
//! ([`super::sources::folding`]).
//!
//! All other effects of a cell reach beyond the port only over its link: another cluster at the end of the window, and
//! a host through counters, which are read by samples and at the end of the run, after a look at all ports.
//!
//! Some questions to a port need no look at it. The answer to a BRM may not depend on cells that have come since the
//! interval began ([`answer_is_fixed`](cellrate_proto::switch::PortControl::answer_is_fixed)); with ERICA this holds
//! from the first answer in an interval on, and before it the answer depends only on FRMs of the same connection, none
//! of which waits most of the time.
//!
//! A BRM that a source sends by a FIFO to another cluster is an event at the switch, where the port in the other
//! direction answers it at that instant; but where other cells wait before the FIFO, it waits with them, as what it has
//! been [answered](crate::cell::Cell::answered_early).
//!
//! A deferred port with real queues has no events for departures either: it catches up with them in the same way.

pub(crate) mod awaited;
pub(crate) mod before_cluster;
pub(crate) mod before_host;
pub(crate) mod onward;
pub(crate) mod ranked;
pub(crate) mod served;
pub(crate) mod sorted;
pub(crate) mod strategy;
pub(crate) mod turns;

use std::collections::BTreeMap;

use cellrate_engine::schedule::Schedule;
use cellrate_engine::switch_port::SwitchPort;
use cellrate_engine::tournament::NEVER;
use cellrate_proto::{Duration, Time};
use cellrate_scenario::FlowIndex;

use super::hop::{Hop, NONE, NextHop};
use super::lanes::lane::Lane;
use super::leaf::Leaf;
use super::ports::drain_strategy::DrainStrategy;
use super::ports::onward::FedBy;
use super::state::cluster::Cluster;
use super::state::outbox::Outbox;
use crate::cell::Cell;
use crate::kernel::ports::{Admission, Port, Queues};
use ranked::{WaysOut, advance};

/// Averaging intervals end when their port is looked at, but after this time at the latest. A run can be interrupted
/// between windows only, and no window ends more than a port's intervals of this time: 10,000, at 1 us the least.
const LONGEST_WITHOUT_ENDS: Duration = Duration::from_ms(10);

impl Cluster {
    /// Everything that comes before `limit`, a key, has happened at `port` if it is deferred, departures at `now`
    /// included.
    #[inline]
    pub(super) fn catch_up_to(&mut self, port: usize, limit: u64, now: Time) {
        let place = &self.ports[port];
        if place.deferred {
            if place.merge.first() < limit || place.fed_by() != FedBy::None || place.hosts_before().is_some()
            {
                self.drain(port, limit);
            }
            self.serve(port, now);
        }
    }

    /// Whether it is plain that no FRM has come from the host that `hop` leads to, at `now` or before, to the port that
    /// answers its BRMs and has not been dealt with there.
    pub(super) fn no_forward_rm_waits(&mut self, hop: &Hop, now: Time) -> bool {
        // Before ports from switch to switch FRMs are events.
        self.ports[hop.answering_port as usize].strategy == DrainStrategy::Onward
            || hop.endpoint != NONE
                && matches!(hop.leads_to(), NextHop::Lane(_))
                && self
                    .folded(hop.endpoint as usize)
                    .is_some_and(|folded| folded.has_no_forward_rm(hop.answering_port, now))
    }

    /// Brings all deferred ports up to what has the key `limit` at `now`, after which nothing happens.
    pub(super) fn bring_up_all(&mut self, limit: u64, now: Time) {
        for port in 0..self.ports.len() {
            if let DrainStrategy::SharedHost { .. } = self.ports[port].strategy {
                self.drain_busy(port, limit, now);
            } else {
                self.catch_up_to(port, limit, now);
            }
        }
    }

    /// The window ends at `until`: what leaves for other clusters before that has left.
    pub(super) fn end_window(&mut self, until: Time) {
        let limit = self.schedule.key(0, until);
        let last = Time::from_ps(until.as_ps().saturating_sub(1));
        for index in 0..self.gateways.len() {
            self.catch_up_to(self.gateways[index] as usize, limit, last);
        }
        while let Some(port) = self.crowded.pop() {
            self.catch_up_to(port as usize, limit, last);
        }
        if until.since(self.intervals_ended) >= LONGEST_WITHOUT_ENDS {
            self.end_intervals_of_all(until);
        }
        self.sampler.note_departures(last, &self.ports);
        self.sample_late(until);
        self.feeds.iter_mut().for_each(|feed| feed.give_back(&mut self.scratch.trains));
    }

    /// Ends the averaging intervals before `until` at all ports, and none later than those at a port that is looked at.
    #[cold]
    fn end_intervals_of_all(&mut self, until: Time) {
        let limit = self.schedule.key(0, until);
        let last = Time::from_ps(until.as_ps().saturating_sub(1));
        for port in 0..self.ports.len() {
            if self.ports[port].metered {
                self.catch_up_to(port, limit, last);
                self.ports[port].end_intervals_before(until);
            }
        }
        self.intervals_ended = until;
    }

    /// Deals with the data cells that come to a deferred port before `limit`.
    pub(super) fn drain(&mut self, port: usize, limit: u64) {
        if self.ports[port].fed_by() != FedBy::None {
            self.catch_up_before(port, limit);
        }
        if self.ports[port].hosts_before().is_some() {
            return self.drain_behind_shared(port, limit);
        }
        self.drain_all(port, limit);
    }

    /// Deals with all cells whose way to the port is known.
    #[inline(always)]
    pub(super) fn drain_all(&mut self, port: usize, limit: u64) {
        while self.ports[port].merge.first() < limit {
            let strategy = self.ports[port].strategy;
            if strategy == DrainStrategy::InTurn
                && self.may_be_turns(port, limit)
                && self.take_turns(port, limit)
            {
                continue;
            }
            if strategy == DrainStrategy::Sorted && self.run_sorted(port, limit) {
                continue;
            }
            let ended = match strategy {
                DrainStrategy::OneByOne => None,
                DrainStrategy::BeforeCluster | DrainStrategy::InTurn | DrainStrategy::Sorted => {
                    self.run_before_cluster(port, limit)
                }
                DrainStrategy::Host { lane, link, .. } => {
                    return self.drain_to_host(port, [lane, link], limit);
                }
                DrainStrategy::SharedHost { .. } => return self.drain_shared(port, limit, Time::NEVER),
                DrainStrategy::Onward => self.run_onward(port, limit),
                DrainStrategy::Ranked => self.run_ranked(port, limit),
                DrainStrategy::Served => self.run_served(port, limit),
            };
            if ended.is_some() {
                ended.into_iter().for_each(|feed| self.next_train(feed));
            } else if self.ports[port].merge.first() < limit
                && let Some(feed) = self.step(port)
            {
                self.next_train(feed);
            }
        }
    }

    /// The next data cell comes to a deferred port: all that may happen then. Returns its feed if it was the last one
    /// that is known.
    fn step(&mut self, number: usize) -> Option<usize> {
        let key = self.ports[number].merge.first();
        let (now, leaf) = self.schedule.split(key);
        let unannounced = match self.leaves[leaf] {
            Leaf::Feed(index) if self.feeds[index as usize].is_empty() => {
                let cell = self.unannounced(index as usize, now)?;
                debug_assert!(cell.arrives == now && !cell.is_backward_rm());
                Some(cell)
            }
            _ => None,
        };
        let Cluster {
            ports, lanes, feeds, leaves, hops, outboxes, endpoints, schedule, dropped, end, ..
        } = self;
        let port = &mut ports[number];
        let mut onward = None;
        let (cell, ended) = match (unannounced, leaves[leaf]) {
            (Some(cell), _) => (cell, None),
            (None, Leaf::Feed(index)) => {
                let feed = &mut feeds[index as usize];
                let cell = feed.front.take(now);
                let next = match feed.front.count {
                    0 => feed.key_behind(key, schedule),
                    _ => Some(key + feed.key_step),
                };
                port.merge.set(feed.place as usize, next.unwrap_or(NEVER));
                (cell, next.is_none().then_some(index as usize))
            }
            (None, Leaf::Lane(index)) => (take(&mut lanes[index as usize], leaf, port, schedule), None),
            _ => unreachable!("only cells are merged"),
        };
        let mut cell = cell.on_next_hop();
        let hop = &hops[cell.hop()];
        if !matches!(port.queues, Queues::Fifo(_)) {
            serve(port, now, hops, outboxes, dropped);
        }
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, &cell);
        }
        match &mut port.queues {
            Queues::Fifo(fifo) => match fifo.admit(now) {
                Some(arrives) => {
                    cell.arrives = arrives;
                    match hop.leads_to() {
                        NextHop::Outbox(outbox) => outboxes[outbox as usize].push(cell),
                        NextHop::Lane(lane) if hop.endpoint == NONE => onward = Some((lane, cell)),
                        NextHop::Lane(_) if arrives < *end => {
                            let left_to_do = endpoints[hop.endpoint as usize].receive(cell);
                            debug_assert!(
                                left_to_do.is_none(),
                                "what has to be done at an instant is an event"
                            );
                        }
                        // It stays on the link; the schedule never comes to it.
                        NextHop::Lane(lane) => lanes[lane as usize].cells.push(cell),
                        NextHop::Feed(_) => unreachable!("no feed begins at a switch"),
                    }
                }
                None => lose_for_room(port, dropped, now, hop),
            },
            Queues::Ranked(ranked) => {
                ranked.admit(now, usize::from(hop.priority), cell, &mut WaysOut { hops, outboxes });
            }
            Queues::Served(served) => {
                let priority = usize::from(hop.priority);
                if let Admission::Lost = served.admit(now, priority, hop.slot, cell, &mut port.control) {
                    lose_for_room(port, dropped, now, hop);
                }
            }
        }
        if let Some((lane, cell)) = onward {
            self.approach(lane as usize, NONE, cell);
        }
        self.sampler.note_port(now, number as u32, &mut self.ports);
        ended
    }

    /// The departures up to `until` from a deferred port with real queues.
    #[inline]
    pub(super) fn serve(&mut self, number: usize, until: Time) {
        let port = &mut self.ports[number];
        if !matches!(port.queues, Queues::Fifo(_)) {
            serve(port, until, &self.hops, &mut self.outboxes, &mut self.dropped);
        }
    }
}

/// The first cell of a deferred lane, which is one that waits; the key of the next one stands in the merge instead.
fn take(lane: &mut Lane, leaf: usize, port: &mut Port, schedule: &Schedule) -> Cell {
    debug_assert_eq!(lane.leaf as usize, leaf);
    let Some(cell) = lane.cells.pop() else {
        unreachable!("a key stands for a cell");
    };
    port.merge.set(lane.place(), lane.first_key(schedule));
    cell
}

/// The departures up to `until`, each with the intervals that end before it.
#[inline]
fn serve(
    port: &mut Port,
    until: Time,
    hops: &[Hop],
    outboxes: &mut [Outbox],
    dropped: &mut BTreeMap<FlowIndex, u64>,
) {
    loop {
        let served = match &mut port.queues {
            Queues::Served(served) => served,
            Queues::Ranked(_) => return advance(port, until, hops, outboxes),
            Queues::Fifo(_) => return,
        };
        let now = served.next_departure();
        if now > until {
            return;
        }
        if port.metered {
            port.end_intervals_before(now);
        }
        let Queues::Served(served) = &mut port.queues else { return };
        let (cell, _) = served.depart(now, &mut port.control);
        match cell {
            None => {}
            Some(Ok(cell)) => match hops[cell.hop()].leads_to() {
                NextHop::Outbox(outbox) => outboxes[outbox as usize].push(cell),
                NextHop::Lane(_) | NextHop::Feed(_) => {
                    unreachable!("real queues are deferred before other clusters only")
                }
            },
            Some(Err(lost)) => lose(port, dropped, &hops[lost.hop()]),
        }
    }
}

#[cold]
pub(super) fn lose_for_room(port: &mut Port, dropped: &mut BTreeMap<FlowIndex, u64>, now: Time, hop: &Hop) {
    port.lose_for_room(now, hop.flow);
    *dropped.entry(hop.flow).or_default() += 1;
}

#[cold]
pub(super) fn lose(port: &mut Port, dropped: &mut BTreeMap<FlowIndex, u64>, hop: &Hop) {
    port.lose();
    *dropped.entry(hop.flow).or_default() += 1;
}
