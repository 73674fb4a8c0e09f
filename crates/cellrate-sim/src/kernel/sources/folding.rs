//! Folded sources: transmissions that are not events.
//!
//! Where a source has its access link to itself and cannot lose a cell there, its transmissions are worked out when
//! their arrival at the switch is due, or just before something reaches the host that may change them. Where it shares
//! the host's port with others ([`super::shared_host`]), transmissions are worked out when they leave that. Most are
//! data cells of a [run](Endpoint::run) that is known beforehand: these are planned as one train, put on the link at
//! once,
//! *settled* with the source when they have left, and cut off where an event at the host comes before.
//!
//! Whatever changes a folded source first [interrupts](Cluster::interrupt) it, which settles what left before and takes
//! back the rest of the plan, then changes it, then has it [plan](Cluster::reschedule) anew. PDUs of TCP that join
//! those that wait change no plan: one never reaches beyond a PDU.

use cellrate_engine::schedule::Schedule;
use cellrate_engine::tournament::NEVER;
use cellrate_proto::{Duration, Time};

use crate::cell::{Cell, Significance};
use crate::endpoint::{Endpoint, SendMode};
use crate::kernel::ports::drain_strategy::DrainStrategy;
use crate::kernel::ports::merge::Merge;
use crate::kernel::ports::onward::FedBy;
use crate::kernel::ports::{Fifo, Port, Queues};
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::feed::{Feed, SpareRoom, Train};
use cellrate_engine::sampler::Sampler;

/// A folded source with all that its transmissions touch.
pub(crate) struct Folded<'a> {
    pub sender: &'a mut Endpoint,
    index: u32,
    exit: HostExit<'a>,
    /// Feed of the link behind that, or of the way to a port that sources share.
    feed: &'a mut Feed,
    spare: &'a mut SpareRoom,
    /// The merge of the port that the link leads to.
    merge: &'a mut Merge,
    hastened: &'a mut Vec<u32>,
    schedule: &'a mut Schedule,
    sampler: &'a mut Sampler,
    end: Time,
}

/// Way of a folded source's cells out of its host.
enum HostExit<'a> {
    /// A port of its own.
    Own(&'a mut Fifo),
    /// A port that it [shares](super::shared_host): cells come to it when they are sent.
    Shared(&'a Fifo),
}

impl HostExit<'_> {
    /// Sends a cell at `at`; gives the instant at which it reaches the far end.
    #[inline(always)]
    fn admit(&mut self, at: Time) -> Time {
        match self {
            HostExit::Own(fifo) => match fifo.admit(at) {
                Some(arrives) => arrives,
                None => unreachable!("only sources behind a lossless port are folded"),
            },
            HostExit::Shared(_) => at,
        }
    }

    /// `count` cells were sent of which none waited, the last one at `last`.
    #[inline(always)]
    fn admit_run(&mut self, count: u32, last: Time) {
        if let HostExit::Own(fifo) = self {
            fifo.admit_run(count, last);
        }
    }

    /// Instant at which a cell that was sent at `at`, the next one, would reach the far end.
    #[inline(always)]
    fn preview(&self, at: Time) -> Time {
        match self {
            HostExit::Own(fifo) => fifo.preview(at),
            HostExit::Shared(_) => at,
        }
    }

    /// Whether no cell waits of those sent from `at` on, one every `spacing`.
    #[inline(always)]
    fn is_idle_for(&self, at: Time, spacing: Duration) -> bool {
        match self {
            HostExit::Own(fifo) => fifo.is_idle_for(at, spacing),
            HostExit::Shared(_) => true,
        }
    }

    /// An instant after which every transmission reaches the far end after `arrives`.
    #[inline(always)]
    fn latest_transmission(&self, arrives: Time) -> Time {
        match self {
            HostExit::Own(fifo) => fifo.latest_transmission(arrives),
            HostExit::Shared(_) => arrives,
        }
    }
}

impl Folded<'_> {
    /// The transmissions before `until` have been made. Whether there is something new on the link: then what follows
    /// may have to be [planned](Folded::plan_run).
    fn catch_up(&mut self, until: Time) -> bool {
        let mut is_new = false;
        while self.sender.transmits < until {
            let Endpoint { planned, transmits, .. } = *self.sender;
            let left = if planned == 0 {
                self.send_rounds(until).unwrap_or_else(|| {
                    let cell = self.release();
                    self.feed.push(Train::of(cell), self.spare);
                    cell.left()
                })
            } else {
                let spacing = self.sender.end.spacing();
                let all = transmits.saturating_add(spacing.saturating_mul(u64::from(planned - 1)));
                if until <= all {
                    // As many as begin before then, one at least and not all.
                    self.settle(until.since(transmits).div_ceil(spacing) as u32);
                    return is_new;
                }
                self.settle(planned)
            };
            self.await_next(left);
            if self.sender.transmits < until {
                self.plan_run();
            }
            is_new = true;
        }
        is_new
    }

    /// Sends the rounds that a source of a shared host sends whole before `until`, if there are two or more: many may
    /// leave there before anyone asks. Returns when the last cell leaves.
    fn send_rounds(&mut self, until: Time) -> Option<Time> {
        let Folded { sender, feed, spare, exit: HostExit::Shared(_), sampler, .. } = self else {
            return None;
        };
        let rounds = if sampler.watches_ends() { 0 } else { sender.whole_rounds(until) };
        let spacing = sender.end.spacing();
        (rounds > 1).then(|| {
            sender.transmit_rounds(rounds, |forward_rm, last, count| {
                feed.push(Train::of(forward_rm), spare);
                feed.push(Train { last, spacing, count }, spare);
            })
        })
    }

    /// The transmissions before `until` have been made, and what was planned after that is taken back: something
    /// happens at the host.
    pub fn interrupt(&mut self, until: Time) {
        self.catch_up(until);
        self.take_back();
    }

    /// Takes back what is planned.
    fn take_back(&mut self) {
        let planned = std::mem::take(&mut self.sender.planned);
        if planned > 0 {
            self.feed.cut(planned);
        }
        self.feed.open = false;
    }

    /// The instant of an RM cell that the host has received has come. Its plan stands where ACR is what it was, as with
    /// most BRMs where many come in an averaging interval, and no turned-around cell waits that did not wait before.
    /// Returns a cell that leaves at once, out of rate: nothing is planned then.
    pub fn on_rm(&mut self, now: Time, cell: Cell) -> Option<Cell> {
        let is_new = self.catch_up(now);
        let of_plan =
            |sender: &Endpoint| sender.end.source().map(|source| (source.acr(), source.has_waiting_brm()));
        let before = of_plan(self.sender);
        let at_once = self.sender.on_rm(now, cell);
        let stands = at_once.is_none() && of_plan(self.sender) == before;
        if stands && !is_new {
            return None;
        }
        if stands {
            self.plan_run();
        } else {
            self.take_back();
            if at_once.is_none() {
                self.plan(now);
            }
        }
        // What has been sent may be what the port is to have got before.
        self.refresh();
        at_once
    }

    /// The next transmission, not before `now`, may have moved, after an [interruption](Folded::interrupt).
    pub fn reschedule(&mut self, now: Time) {
        self.plan(now);
        self.refresh();
    }

    /// The next cell, which is no event and of which only the instant was known, may reach the switch at `now`: if it
    /// does, it has left, and what follows it is planned. If not, what there is instead is known now.
    pub fn unannounced(&mut self, now: Time) -> Option<Cell> {
        self.plan_behind();
        let is_next = self.feed.is_empty() && self.waits_for_merge() && self.next_arrival() == now;
        let cell = is_next.then(|| self.release_and_plan());
        self.refresh();
        cell
    }

    /// Plans the cells that the source sends before `until`, as far as no event comes before them. Returns when the
    /// first cell reaches the switch that is not known, or earlier.
    pub fn plan_as_far_as(&mut self, until: Time) -> Time {
        if self.waits_for_merge() {
            self.plan_until(until);
        }
        self.first_unknown()
    }

    /// Plans the cells that the source sends before `until`.
    fn plan_until(&mut self, until: Time) {
        // Behind a cell that is known, one that is not an event makes nothing happen sooner.
        let (was_empty, mut is_new, mut has_event) = (self.feed.is_empty(), false, false);
        while !self.sender.sends_as_planned(until) {
            is_new = true;
            let planned = self.sender.planned;
            let left = if planned == 0 {
                let cell = self.release();
                has_event |= cell.is_backward_rm() || cell.is_significant(self.feed.significance);
                self.feed.push(Train::of(cell), self.spare);
                cell.left()
            } else {
                self.settle(planned)
            };
            self.plan(left);
        }
        if is_new && (was_empty || has_event || !self.waits_for_merge()) {
            self.refresh();
        }
    }

    /// The next transmission, of which only the instant was known, leaves, and what follows it is planned.
    fn release_and_plan(&mut self) -> Cell {
        let cell = self.release();
        self.plan(cell.left());
        cell
    }

    /// The next transmission, of which only the instant was known, leaves.
    fn release(&mut self) -> Cell {
        let at = self.sender.transmits;
        let Some(mut cell) = self.sender.transmit(at) else {
            unreachable!("something waits at the next transmission");
        };
        cell.arrives = self.exit.admit(at);
        self.sampler.note_end(at, self.index, self.sender);
        cell
    }

    /// The first `count` planned cells have left; returns when the last of them did.
    #[inline]
    fn settle(&mut self, count: u32) -> Time {
        let Endpoint { transmits, .. } = *self.sender;
        let spacing = self.sender.end.spacing();
        let last = transmits + spacing * u64::from(count - 1);
        self.sender.planned -= count;
        self.sender.transmits = last.saturating_add(spacing);
        self.sender.transmit_run(count, last);
        self.exit.admit_run(count, last);
        last
    }

    /// Works out the next transmission, not before `now`, and the run that begins there if one does.
    fn plan(&mut self, now: Time) {
        self.await_next(now);
        self.plan_run();
    }

    /// Works out the instant of the next transmission, not before `now`; nothing is planned.
    #[inline(always)]
    fn await_next(&mut self, now: Time) {
        self.sender.transmits = self.sender.end.next_transmission(now);
        self.sender.planned = 0;
        self.feed.open = false;
    }

    /// Plans the run that begins with the next transmission, if one does and it is not planned yet. Nothing is planned
    /// beyond the end.
    fn plan_run(&mut self) {
        let Folded { sender, exit, feed, spare, schedule, end, .. } = self;
        let at = sender.transmits;
        if sender.planned > 0 || at >= *end {
            return;
        }
        let (spacing, mut count, mut ends_pdu) = sender.run(at);
        if count == 0 || !exit.is_idle_for(at, spacing) {
            return;
        }
        if ends_pdu && feed.significance.of_pdu_ends() {
            count -= 1;
            ends_pdu = false;
        }
        if at.saturating_add(spacing.saturating_mul(u64::from(count))) > *end {
            let before_end = end.since(at).div_ceil(spacing) as u32;
            ends_pdu &= before_end == count;
            count = before_end;
        }
        if count == 0 {
            return;
        }
        let first_to_last = spacing * u64::from(count - 1);
        let last = sender.planned_cell(at + first_to_last, count, ends_pdu);
        let last = last.arriving(exit.preview(at) + first_to_last);
        if schedule.key(0, last.arrives) == NEVER {
            return;
        }
        sender.planned = count;
        // The end of a PDU has to be known as soon as it has left.
        feed.open = !ends_pdu;
        feed.push(Train { last, spacing, count }, spare);
    }

    /// When nothing is left on the access link, what the source had planned has left.
    fn plan_behind(&mut self) {
        let planned = self.sender.planned;
        if planned > 0 && self.feed.is_empty() {
            let last = self.settle(planned);
            self.plan(last);
        }
    }

    /// Instant at which the next cell of which nothing else is known reaches the switch.
    #[inline]
    fn next_arrival(&self) -> Time {
        match self.sender.transmits {
            Time::NEVER => Time::NEVER,
            at => self.exit.preview(at),
        }
    }

    /// Instant at which the first cell that is in no train reaches the switch, or earlier. Behind a planned train the
    /// source sends its spacing later, or later still; where nothing is planned, a rate that has grown since the last
    /// cell left has the next one follow sooner.
    #[inline]
    fn first_unknown(&self) -> Time {
        if self.sender.planned > 0 { self.feed.end() } else { self.next_arrival() }
    }

    /// Whether it is plain that no FRM is on the link to `port` that reaches it at `now` or before.
    pub fn has_no_forward_rm(&self, port: u32, now: Time) -> bool {
        // Behind the trains that are known others may have come.
        self.feed.port == port
            && !self.feed.is_empty()
            && self.first_unknown() > now
            && self.feed.trains().take_while(|train| train.first_arrival() <= now).all(|train| {
                !train.last.is_rm() || train.last.is_answered_early() || train.last.arrives > now
            })
    }

    /// Whether a cell of which only the instant is known will be no event whatever it is: it is found when the port is
    /// looked at.
    #[inline]
    fn waits_for_merge(&self) -> bool {
        self.feed.deferred
            && match self.exit {
                HostExit::Shared(_) => true,
                HostExit::Own(_) => {
                    self.feed.significance == Significance::BEFORE_CLUSTER
                        && !self.sender.end.may_turn_around()
                }
            }
    }

    /// The front train of a feed to a deferred port has changed: its key in the merge, if its cells are no events.
    fn merge_front(&mut self) {
        let next = if !self.feed.is_empty() {
            self.feed.front_key(self.schedule)
        } else if self.waits_for_merge() {
            self.schedule.key(self.feed.leaf as usize, self.next_arrival())
        } else {
            NEVER
        };
        let before = self.merge.first();
        self.merge.set(self.feed.place as usize, next);
        if let (HostExit::Shared(_), true) = (&self.exit, self.merge.first() < before) {
            self.hastened.push(self.feed.port);
        }
    }

    /// Instant at which the first BRM is sent that has not come to the shared port, or earlier.
    fn first_backward_rm(&self) -> Option<Time> {
        match self.feed.first_backward_rm() {
            Some(train) => Some(train.first_arrival()),
            None => self.sender.end.may_turn_around().then(|| self.first_unknown()),
        }
        .filter(|&sent| sent != Time::NEVER)
    }

    /// The front train may have changed: the keys for it.
    pub fn refresh(&mut self) {
        if self.feed.deferred {
            self.merge_front();
        }
        self.set_event();
    }

    /// The first event of the feed may have changed.
    fn set_event(&mut self) {
        let feed = &*self.feed;
        if let HostExit::Shared(fifo) = &self.exit {
            let due = self.first_backward_rm().map_or(Time::NEVER, |sent| fifo.begins(sent));
            return self.schedule.keep(feed.leaf as usize, due);
        }
        let first = if feed.is_empty() {
            None
        } else if feed.deferred {
            feed.first_event()
        } else {
            Some(feed.front.first_arrival())
        };
        let due = if let Some(first) = first {
            first
        } else if self.waits_for_merge() {
            Time::NEVER
        } else {
            self.first_unknown()
        };
        self.schedule.keep(feed.leaf as usize, due);
    }
}

impl Cluster {
    /// `endpoint`, if it is folded.
    #[inline(always)]
    pub(crate) fn folded(&mut self, endpoint: usize) -> Option<Folded<'_>> {
        let Cluster { endpoints, ports, feeds, sampler, schedule, end, scratch, hastened, .. } = self;
        let sender = &mut endpoints[endpoint];
        let SendMode::Folded { port, feed } = sender.send_mode else { return None };
        let feed = &mut feeds[feed as usize];
        let (exit, merge) = if port == feed.port {
            let Port { queues: Queues::Fifo(fifo), merge, .. } = &mut ports[port as usize] else {
                unreachable!("sources share a FIFO");
            };
            (HostExit::Shared(fifo), merge)
        } else {
            let Ok([Port { queues: Queues::Fifo(fifo), .. }, behind]) =
                ports.get_disjoint_mut([port as usize, feed.port as usize])
            else {
                unreachable!("a source is folded behind a FIFO that leads to another port");
            };
            (HostExit::Own(fifo), &mut behind.merge)
        };
        let (index, spare) = (endpoint as u32, &mut scratch.trains);
        Some(Folded { sender, index, exit, feed, spare, merge, hastened, schedule, sampler, end: *end })
    }

    /// The source of the feed of this `index`.
    fn folded_into(&mut self, index: usize) -> Folded<'_> {
        let endpoint = self.feeds[index].endpoint as usize;
        let Some(folded) = self.folded(endpoint) else {
            unreachable!("a feed is the link of a folded source");
        };
        folded
    }

    /// Something is due on the access link of a folded source: a cell reaches the switch, or, where the port behind is
    /// deferred, the trains that wait end and what comes after them has to be known.
    pub(crate) fn on_feed(&mut self, now: Time, index: usize, leaf: usize) {
        let feed = &mut self.feeds[index];
        if feed.answers_early {
            return self.answer_early(now, index, leaf);
        }
        let (port, deferred, ends_loop) = (feed.port as usize, feed.deferred, feed.ends_loop);
        if !deferred && feed.front.count > 1 {
            let cell = feed.front.take(now);
            self.schedule.set(leaf, now + feed.front.spacing);
            return self.reach_switch(now, leaf, ends_loop, cell);
        }
        if let DrainStrategy::SharedHost { .. } = self.ports[port].strategy {
            self.drain_for_a_while(port, self.schedule.key(leaf, now) + 1, now);
            return self.folded_into(index).refresh();
        }
        if deferred {
            // A single cell is due when it arrives.
            self.drain(port, self.schedule.key(leaf, now) + 1);
        }
        let mut folded = self.folded_into(index);
        let feed = &*folded.feed;
        if deferred {
            let next = if feed.is_empty() { folded.next_arrival() } else { feed.front.first_arrival() };
            if next > now || feed.front.waits(feed.significance) {
                return;
            }
        }
        let cell = if feed.is_empty() {
            folded.release_and_plan()
        } else {
            let cell = folded.feed.front.take(now);
            if folded.feed.front.count == 0 {
                folded.feed.advance();
                folded.plan_behind();
            }
            cell
        };
        folded.refresh();
        self.reach_switch(now, leaf, ends_loop, cell);
    }

    /// A BRM may reach the switch at `now`. The port in the other direction answers it. Then it joins the queue if
    /// nothing waits before the port that it leaves by; or else it waits as data cells do until that is looked at,
    /// where it does no more than join the queue and be counted.
    fn answer_early(&mut self, now: Time, index: usize, leaf: usize) {
        let is_due = |cell: &Cell| cell.arrives == now;
        let known = self.feeds[index].first_unanswered().filter(is_due);
        if self.feeds[index].is_empty() && self.comes_at_once(now, index, leaf) {
            let mut folded = self.folded_into(index);
            let cell = folded.release_and_plan();
            folded.refresh();
            return self.forward(now, leaf, cell);
        }
        let unknown = || {
            let mut folded = self.folded_into(index);
            let last = folded.exit.latest_transmission(now);
            folded.plan_until(last + Duration::from_ps(1));
            folded.feed.first_unanswered().filter(is_due)
        };
        let Some(cell) = known.or_else(unknown) else {
            return self.folded_into(index).set_event();
        };
        let hop = self.hops[cell.hop() + 1];
        let answered = self.answer(now, leaf, &hop, cell);
        let port = &self.ports[hop.port as usize];
        let is_first = port.merge.first() == self.schedule.key(leaf, now);
        if is_first && port.fed_by() == FedBy::None && port.hosts_before().is_none() {
            let mut folded = self.folded_into(index);
            folded.feed.front.count = 0;
            folded.feed.advance();
            folded.plan_behind();
            folded.refresh();
            return self.join(now, leaf, &hop, answered.on_next_hop());
        }
        self.feeds[index].answer_first(answered);
        self.folded_into(index).set_event();
    }

    /// Whether the next cell over an access link that is empty, of which only the instant was known, reaches the switch
    /// at `now`, and nothing waits before the port there.
    fn comes_at_once(&mut self, now: Time, index: usize, leaf: usize) -> bool {
        let key = self.schedule.key(leaf, now);
        let port = &self.ports[self.feeds[index].port as usize];
        if port.merge.first() < key || port.fed_by() != FedBy::None || port.hosts_before().is_some() {
            return false;
        }
        let mut folded = self.folded_into(index);
        folded.plan_behind();
        let is_next = folded.feed.is_empty() && folded.next_arrival() == now;
        if !is_next {
            folded.refresh();
        }
        is_next
    }

    /// `cell` reaches a switch over the link of its source; its control loop may end there.
    #[inline(always)]
    fn reach_switch(&mut self, now: Time, leaf: usize, ends_loop: bool, cell: Cell) {
        if ends_loop { self.end_loop(now, cell) } else { self.forward(now, leaf, cell) }
    }

    /// The train at the front has been used up.
    pub(crate) fn next_train(&mut self, index: usize) {
        let mut folded = self.folded_into(index);
        folded.feed.advance();
        if folded.feed.deferred && !folded.feed.is_empty() {
            // What is due here is what it was: the first event, or the end of what waits.
            return folded.merge_front();
        }
        folded.plan_behind();
        folded.refresh();
    }

    /// Plans the cells that come over the feed of this `index` before `limit`, a key, as far as it can be done, as
    /// [`Folded::plan_as_far_as`] does; returns until when they are known.
    pub(crate) fn plan_as_far_as(&mut self, index: usize, limit: u64) -> Time {
        let mut folded = self.folded_into(index);
        let (now, _) = folded.schedule.split(limit);
        let until = folded.exit.latest_transmission(now);
        folded.plan_as_far_as(until)
    }

    /// The next cell of the feed of this `index`, if it comes at `now` and [was not known](Folded::unannounced) before.
    pub(crate) fn unannounced(&mut self, index: usize, now: Time) -> Option<Cell> {
        self.folded_into(index).unannounced(now)
    }

    /// The transmissions of a folded `endpoint` before `until` have been made. Whether there is something new on the
    /// link: then what follows may not be planned yet.
    pub(crate) fn catch_up(&mut self, endpoint: usize, until: Time) -> bool {
        self.folded(endpoint).is_some_and(|mut folded| folded.catch_up(until))
    }

    /// The transmissions before `until` have been made, and what was planned after that is taken back: something
    /// happens at the host.
    pub(crate) fn interrupt(&mut self, endpoint: usize, until: Time) {
        if let Some(mut folded) = self.folded(endpoint) {
            folded.interrupt(until);
        }
    }

    /// The next transmission of `endpoint`, not before `now`, may have moved. A folded one has been interrupted before.
    pub(crate) fn reschedule(&mut self, now: Time, endpoint: usize) {
        if let Some(mut folded) = self.folded(endpoint) {
            folded.reschedule(now);
        } else if self.endpoints[endpoint].send_mode == SendMode::Scheduled {
            let sender = &mut self.endpoints[endpoint];
            sender.transmits = sender.end.next_transmission(now);
            self.schedule.set(self.transmission_leaves[endpoint] as usize, sender.transmits);
        }
    }

    /// TCP at `endpoint` may have put PDUs behind those that waited; what it had to send before `now` has been
    /// [sent](Cluster::catch_up), and `is_new` is what that said. What is planned is part of the PDU that waited first,
    /// and stays.
    pub(crate) fn more_waits(&mut self, now: Time, endpoint: usize, is_new: bool) {
        match self.folded(endpoint) {
            Some(mut folded) if folded.sender.planned > 0 => {
                if is_new {
                    folded.refresh();
                }
            }
            _ => self.reschedule(now, endpoint),
        }
    }

    /// The transmissions of `endpoint` before `until` have all been made: for looking at it.
    pub(crate) fn catch_up_and_refresh(&mut self, endpoint: usize, until: Time) {
        if let Some(mut folded) = self.folded(endpoint)
            && folded.catch_up(until)
        {
            folded.plan_run();
            folded.refresh();
        }
    }

    /// Plans the cells that `endpoint` sends before `until`; its RM cells among them have left.
    pub(crate) fn plan_until(&mut self, endpoint: usize, until: Time) {
        // Most often it is, which takes only a look at the end itself.
        if !self.endpoints[endpoint].sends_as_planned(until)
            && let Some(mut folded) = self.folded(endpoint)
        {
            folded.plan_until(until);
        }
    }

    /// The end has come: what was planned after it is taken back.
    pub(crate) fn end_plans(&mut self, end: Time) {
        for endpoint in 0..self.endpoints.len() {
            self.interrupt(endpoint, end);
        }
    }
}
