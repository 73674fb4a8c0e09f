//! The cells of a source that has its access link to itself, or on their way to a host's port that it shares: trains,
//! not cells.
//!
//! Between two RM cells a source at constant ACR sends data cells evenly, as one at a peak rate does within a PDU, so
//! all its cells on the link are a few [`Train`]s. Behind those that have left stands, at most, what the source has
//! *planned*: it leaves that way unless something happens at the host first, and is cut off where it does.

use cellrate_engine::schedule::Schedule;
use cellrate_engine::tournament::NEVER;
use cellrate_proto::switch::Slot;
use cellrate_proto::{Duration, Time};

use crate::cell::{Cell, Significance};
use crate::kernel::hop::NONE;
use crate::kernel::lanes::short::Short;

/// Cells that follow each other evenly; numbers and times go up from cell to cell, all else is equal. A single cell of
/// any kind is a train of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Train {
    /// The last one, as it is on the link. It alone may end a PDU.
    pub last: Cell,
    /// Span from one cell to the next.
    pub spacing: Duration,
    /// Number of cells; zero for no train. To take the first one changes nothing else.
    pub count: u32,
}

impl Train {
    /// No cells.
    pub const fn none() -> Train {
        Train { last: Cell::NOTHING, spacing: Duration::ZERO, count: 0 }
    }

    /// Makes a train of one cell.
    pub fn of(cell: Cell) -> Train {
        Train { last: cell, count: 1, ..Train::none() }
    }

    /// Takes the first cell, which arrives at `now`; there must be one.
    #[inline(always)]
    pub fn take(&mut self, now: Time) -> Cell {
        debug_assert_eq!(now, self.first_arrival());
        self.count -= 1;
        if self.count == 0 { self.last.on_its_way() } else { self.last.before_by(self.count, now) }
    }

    /// Whether the first cell is not an event on the way to a deferred port.
    #[inline]
    pub fn waits(&self, significance: Significance) -> bool {
        // Where ends of PDUs are events they are in no train with others.
        self.count > 0 && !self.last.is_significant(significance)
    }

    /// Whether it ends with a cell that may be looked for: one that has to be an event, or a BRM.
    #[inline(always)]
    fn stands_out(&self, significance: Significance) -> bool {
        self.last.is_backward_rm() || self.last.is_significant(significance)
    }

    /// Instant at which the first cell arrives.
    #[inline]
    pub fn first_arrival(&self) -> Time {
        let before = self.spacing.as_ps() * u64::from(self.count.saturating_sub(1));
        Time::from_ps(self.last.arrives.as_ps() - before)
    }

    /// Number of the first cells that are data amid their PDUs.
    #[inline]
    pub fn plain(&self) -> u32 {
        self.count - u32::from(self.last.is_special())
    }

    /// Takes the last `count` cells away.
    fn shorten(&mut self, count: u32) {
        self.count -= count;
        if count > 0 {
            let arrives = self.last.arrives.as_ps() - self.spacing.as_ps() * u64::from(count);
            self.last = self.last.before_by(count, Time::from_ps(arrives));
        }
    }
}

/// Trains behind the first one.
#[derive(Clone, Debug)]
pub(crate) struct Behind {
    trains: Short<Train>,
    /// The numbers of those that [stand out](Train::stands_out): how many trains were taken before each, modulo 2^32.
    outstanding: Short<u32>,
    /// Number of trains that have been taken.
    taken: u32,
}

impl Behind {
    const fn new() -> Behind {
        Behind { trains: Short::new(), outstanding: Short::new(), taken: 0 }
    }

    #[inline(always)]
    fn push(&mut self, train: Train, significance: Significance) {
        if train.stands_out(significance) {
            self.outstanding.push(self.taken.wrapping_add(self.trains.all().len() as u32));
        }
        self.trains.push(train);
    }

    #[inline]
    fn pop(&mut self) -> Option<Train> {
        let first = self.trains.pop()?;
        if self.outstanding.first() == Some(&self.taken) {
            self.outstanding.pop();
        }
        self.taken = self.taken.wrapping_add(1);
        Some(first)
    }

    /// Takes the last `count` cells away, all of one train.
    fn cut(&mut self, count: u32, significance: Significance) {
        let Some(last) = self.trains.last_mut() else { return };
        let before = last.stands_out(significance);
        last.shorten(count);
        let (is_left, after) = (last.count > 0, last.stands_out(significance));
        if before && !(is_left && after) {
            self.outstanding.pop_last();
        }
        if !is_left {
            self.trains.pop_last();
        }
    }

    /// The last cell of the first train that stands out, which from now on does not.
    fn take_outstanding(&mut self) -> Option<&mut Cell> {
        let number = self.outstanding.pop()?.wrapping_sub(self.taken);
        Some(&mut self.trains.all_mut()[number as usize].last)
    }

    /// The first train that [stands out](Train::stands_out).
    #[inline]
    fn first_outstanding(&self) -> Option<&Train> {
        let number = self.outstanding.first()?.wrapping_sub(self.taken);
        self.trains.all().get(number as usize)
    }
}

/// An access link whose only source is folded into it, or the way of a source to the port of a [shared
/// host](crate::kernel::sources::shared_host).
#[derive(Clone, Debug)]
pub(crate) struct Feed {
    /// The train whose first cell arrives next at the switch.
    pub front: Train,
    /// Difference between the keys of successive cells.
    pub key_step: u64,
    /// The port that all its cells go on by.
    pub port: u32,
    /// Place of the feed in the merge of that port; only for a deferred one.
    pub place: u32,
    pub leaf: u32,
    /// The end of a connection that sends.
    pub endpoint: u32,
    /// Number of the connection at the control of the port, and the outbox or the lane that its cells leave by.
    pub slot: Slot,
    pub way_out: u32,
    /// The service priority of its connection.
    pub priority: u8,
    /// Whether the port is a deferred one.
    pub deferred: bool,
    /// Which cells have to be events.
    pub significance: Significance,
    /// Whether BRMs are [answered early](crate::kernel::sources::folding): when they reach the switch, though the port
    /// is looked at later.
    pub answers_early: bool,
    /// Whether the control loop of its connection ends at the switch, at a [virtual end](crate::kernel::virtual_end).
    pub ends_loop: bool,
    /// Whether the last train is as the source planned it last.
    pub open: bool,
    /// Trains behind it, if there is room for any.
    behind: Option<Box<Behind>>,
}

/// Room for trains behind the first that no feed needs: few have any from one window to the next.
pub(crate) type SpareRoom = Vec<Box<Behind>>;

impl Feed {
    /// An empty link.
    pub fn new(endpoint: u32, port: u32, deferred: bool, significance: Significance) -> Feed {
        Feed {
            front: Train::none(),
            key_step: 0,
            port,
            place: 0,
            leaf: 0,
            endpoint,
            slot: Slot(NONE),
            way_out: NONE,
            priority: 0,
            deferred,
            significance,
            answers_early: false,
            ends_loop: false,
            open: false,
            behind: None,
        }
    }

    /// A word of each cache line of it and its trains ([`crate::kernel::windows::prefetch`]).
    #[inline]
    pub fn prefetch(&self) -> u64 {
        let behind = self.behind().first().map_or(0, |train| train.spacing.as_ps());
        behind ^ u64::from(self.front.count) ^ u64::from(self.leaf)
    }

    /// Whether no train is on the link or planned.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.front.count == 0
    }

    /// Removes the exhausted front train, whose last cell had `key`, and returns the key of the next cell. If the
    /// source has planned nothing more, returns the earliest key its next cell can have, or `None` if that cell may be
    /// an event.
    #[inline(never)]
    pub fn key_behind(&mut self, key: u64, schedule: &Schedule) -> Option<u64> {
        if let Some(next) = self.next_behind() {
            self.front = next;
            return Some(self.front_key(schedule));
        }
        let is_no_event = self.significance != Significance::BEFORE_HOST;
        (self.open && is_no_event).then_some(key + self.key_step)
    }

    /// Puts `train` behind all others, if need be in room that is to spare.
    #[inline]
    pub fn push(&mut self, train: Train, spare: &mut SpareRoom) {
        if self.front.count == 0 {
            self.front = train;
        } else {
            self.push_behind(train, spare);
        }
    }

    /// Puts `train` behind the others in place, so that it need not stand in memory before.
    #[inline(always)]
    fn push_behind(&mut self, train: Train, spare: &mut SpareRoom) {
        let room = || spare.pop().unwrap_or_else(|| Box::new(Behind::new()));
        self.behind.get_or_insert_with(room).push(train, self.significance);
    }

    /// Room that it does not need is to spare.
    #[inline]
    pub fn give_back(&mut self, spare: &mut SpareRoom) {
        spare.extend(self.behind.take_if(|behind| behind.trains.all().is_empty()));
    }

    /// The front train has been used up: the next one, if there is one, takes its place.
    pub fn advance(&mut self) {
        debug_assert_eq!(self.front.count, 0);
        if let Some(next) = self.next_behind() {
            self.front = next;
        }
    }

    /// Takes the train behind the front one, if there is one.
    #[inline]
    fn next_behind(&mut self) -> Option<Train> {
        self.behind.as_mut()?.pop()
    }

    /// The first train that [stands out](Train::stands_out).
    #[inline]
    fn first_outstanding(&self) -> Option<&Train> {
        if self.front.count > 0 && self.front.stands_out(self.significance) {
            return Some(&self.front);
        }
        self.behind.as_ref()?.first_outstanding()
    }

    /// The first train that ends with a BRM, where only these stand out.
    pub fn first_backward_rm(&self) -> Option<&Train> {
        self.first_outstanding()
    }

    /// The trains behind the front one.
    #[inline]
    fn behind(&self) -> &[Train] {
        self.behind.as_ref().map_or(&[], |behind| behind.trains.all())
    }

    /// The key of the front train in the merge of a deferred port, and with it the step to the next one: none if its
    /// cells are events that are [passed on](crate::kernel::events) at once, or there is no train.
    #[inline]
    pub fn front_key(&mut self, schedule: &Schedule) -> u64 {
        self.key_step = schedule.key_step(self.front.spacing.as_ps());
        if self.answers_early || self.front.waits(self.significance) {
            schedule.key(self.leaf as usize, self.front.first_arrival())
        } else {
            NEVER
        }
    }

    /// Span from the first cell to the next one, where both are known.
    #[inline]
    pub fn pace(&self) -> Option<Duration> {
        match self.front.count {
            0 => None,
            1 => Some(self.behind().first()?.first_arrival().since(self.front.last.arrives)),
            _ => Some(self.front.spacing),
        }
    }

    /// Number of cells, the first ones, that are known to arrive one every `spacing` and are no events; no more than
    /// `enough` are counted. FRMs may not be among them unless `with_forward_rms`.
    pub fn known_evenly(&self, spacing: Duration, enough: u32, with_forward_rms: bool) -> u32 {
        let (mut count, mut next) = (0, None);
        for train in self.trains() {
            let is_even = (train.count == 1 || train.spacing == spacing)
                && next.is_none_or(|next| next == train.first_arrival());
            if !is_even || !train.waits(self.significance) || train.last.is_rm() && !with_forward_rms {
                break;
            }
            count += train.count;
            if count >= enough {
                return enough;
            }
            next = Some(train.last.arrives + spacing);
        }
        count
    }

    /// Instant at which the first cell arrives that has to be an event.
    pub fn first_event(&self) -> Option<Time> {
        let is_event = |train: &&Train| train.last.is_significant(self.significance);
        self.first_outstanding().filter(is_event).map(Train::first_arrival)
    }

    /// The first cell that has to be an event, where only BRMs are.
    pub fn first_unanswered(&self) -> Option<Cell> {
        self.first_outstanding().map(|train| train.last)
    }

    /// The [first such cell](Feed::first_unanswered) has its answer, and is this from now on.
    pub fn answer_first(&mut self, answered: Cell) {
        let last = match &mut self.behind {
            Some(behind) if !self.front.stands_out(self.significance) => behind.take_outstanding(),
            _ => Some(&mut self.front.last),
        };
        if let Some(last) = last {
            *last = answered.answered_early();
        }
    }

    /// Instant at which a cell would arrive that leaves one spacing after the last one: no sooner comes what follows a
    /// plan.
    pub fn end(&self) -> Time {
        let last = self.behind().last().unwrap_or(&self.front);
        last.last.arrives + last.spacing
    }

    /// The last `count` cells will not leave as planned; all of them are in one train.
    pub fn cut(&mut self, count: u32) {
        match &mut self.behind {
            Some(behind) if !behind.trains.all().is_empty() => behind.cut(count, self.significance),
            _ => self.front.shorten(count),
        }
    }

    /// Iterates over all trains, first to last.
    pub fn trains(&self) -> impl Iterator<Item = &Train> {
        std::iter::once(&self.front).chain(self.behind()).filter(|train| train.count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    use proptest::prelude::*;

    fn train(number: u64, count: u32) -> Train {
        let train = amid_pdu(number, count);
        let end = Cell::data(train.last.sent, train.last.sequence().into(), true);
        Train { last: end, ..train }
    }

    fn amid_pdu(number: u64, count: u32) -> Train {
        let last = number + u64::from(count) - 1;
        let last = Cell::data(Time::from_ps(last * 10), last, false);
        Train { last, spacing: Duration::from_ps(10), count }
    }

    fn numbers(feed: &mut Feed) -> Vec<(u32, bool)> {
        let mut cells = Vec::new();
        while !feed.is_empty() {
            let now = feed.front.first_arrival();
            let cell = feed.front.take(now);
            assert_eq!((cell.arrives, cell.sent), (now, now));
            assert_eq!(now.as_ps(), 10 * u64::from(cell.sequence()));
            cells.push((cell.sequence(), cell.ends_pdu()));
            if feed.front.count == 0 {
                feed.advance();
            }
        }
        cells
    }

    #[test]
    fn trains_give_their_cells_in_order_and_the_last_one_ends_the_pdu() {
        let mut feed = Feed::new(0, 0, false, Significance::BEFORE_CLUSTER);
        feed.push(train(1, 3), &mut Vec::new());
        feed.push(train(4, 1), &mut Vec::new());
        assert_eq!(feed.front.first_arrival(), Time::from_ps(10));
        assert_eq!(numbers(&mut feed), [(1, false), (2, false), (3, true), (4, true)]);
    }

    proptest! {
        #[test]
        fn trains_are_taken_in_order_and_cut_at_the_end(
            // By step: what is done, and with how many cells.
            steps in proptest::collection::vec((0..5_usize, 1..5_u32), 1..100),
        ) {
            let mut feed = Feed::new(0, 0, false, Significance::BEFORE_CLUSTER);
            let (mut deque, mut number) = (VecDeque::new(), 1);
            for (step, count) in steps {
                match step {
                    0 | 1 => {
                        feed.push(amid_pdu(number, count), &mut Vec::new());
                        deque.push_back((number, count));
                        number += u64::from(count);
                    }
                    2 | 3 => {
                        feed.front.count = 0;
                        feed.advance();
                        deque.pop_front();
                    }
                    _ => {
                        let there = deque.back().map_or(0, |&(_, there)| there);
                        let cut = count.min(there);
                        feed.cut(cut);
                        number -= u64::from(cut);
                        deque.back_mut().into_iter().for_each(|(_, there)| *there -= cut);
                        if deque.back().is_some_and(|&(_, there)| there == 0) {
                            deque.pop_back();
                        }
                    }
                }
                let left: Vec<(u64, u32)> =
                    feed.trains().map(|train| (train.first_arrival().as_ps() / 10, train.count)).collect();
                prop_assert_eq!(&left, &Vec::from(deque.clone()));
            }
        }
    }

    #[test]
    fn room_that_a_feed_does_not_need_is_for_others() {
        let [mut one, mut other] = [0, 1].map(|end| Feed::new(end, 0, false, Significance::BEFORE_CLUSTER));
        let mut spare = SpareRoom::new();
        one.give_back(&mut spare);
        assert!(spare.is_empty(), "there was none");
        one.push(train(1, 1), &mut spare);
        one.push(train(2, 1), &mut spare);
        one.give_back(&mut spare);
        assert!(spare.is_empty(), "a train is there");
        assert_eq!(numbers(&mut one), [(1, true), (2, true)]);
        one.give_back(&mut spare);
        assert!(spare.len() == 1 && one.behind.is_none());
        other.push(train(1, 1), &mut spare);
        assert_eq!(spare.len(), 1, "the first train needs no room");
        other.push(train(2, 1), &mut spare);
        assert!(spare.is_empty());
        assert_eq!(numbers(&mut other), [(1, true), (2, true)]);
    }

    #[test]
    fn the_first_event_is_the_first_cell_that_does_not_wait() {
        let mut feed = Feed::new(0, 0, true, Significance::BEFORE_HOST);
        assert_eq!(feed.first_event(), None);
        feed.push(amid_pdu(1, 3), &mut Vec::new());
        assert_eq!((feed.first_event(), feed.end()), (None, Time::from_ps(40)));
        feed.push(Train::of(Cell::data(Time::from_ps(77), 4, false)), &mut Vec::new());
        assert_eq!((feed.first_event(), feed.end()), (None, Time::from_ps(77)));
        feed.push(Train::of(Cell::data(Time::from_ps(88), 5, true)), &mut Vec::new());
        feed.push(train(9, 1), &mut Vec::new());
        assert_eq!(feed.first_event(), Some(Time::from_ps(88)), "the end of a PDU");
    }

    #[test]
    fn what_somebody_looks_for_is_found_behind_the_front_until_it_has_gone() {
        use cellrate_proto::{Direction, RateCode, RmCell};
        let brm = RmCell {
            direction: Direction::Backward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::ZERO,
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        };
        let brm = |at: u64| Train::of(Cell::resource_management(Time::from_ps(at), &brm));
        // Where no cell is an event a port may look for BRMs all the same.
        for significance in [Significance::BEFORE_CLUSTER, Significance::NONE] {
            let mut feed = Feed::new(0, 0, true, significance);
            let found = |feed: &Feed| feed.first_backward_rm().map(|train| train.first_arrival().as_ps());
            let is_event = significance != Significance::NONE;
            feed.push(amid_pdu(1, 3), &mut Vec::new());
            assert_eq!((found(&feed), feed.first_event()), (None, None));
            feed.push(brm(40), &mut Vec::new());
            feed.push(amid_pdu(5, 2), &mut Vec::new());
            feed.cut(1);
            feed.cut(1);
            assert_eq!((found(&feed), feed.first_event().is_some()), (Some(40), is_event));
            feed.front.count = 0;
            feed.advance();
            assert_eq!((found(&feed), feed.first_event().is_some()), (Some(40), is_event), "at the front");
            feed.push(brm(50), &mut Vec::new());
            feed.front.count = 0;
            feed.advance();
            feed.push(amid_pdu(6, 2), &mut Vec::new());
            feed.front.count = 0;
            feed.advance();
            assert_eq!((found(&feed), feed.first_event()), (None, None));
        }
    }

    #[test]
    fn cells_are_known_evenly_up_to_the_first_that_comes_otherwise() {
        use cellrate_proto::{RateCode, RmCell};
        let even = Duration::from_ps(10);
        let known = |feed: &Feed| feed.known_evenly(even, 100, true);
        let rm = |at: u64, direction| {
            let rm = RmCell {
                direction,
                backward_notification: false,
                congestion_indication: false,
                no_increase: false,
                explicit_rate: RateCode::MAX,
                current_cell_rate: RateCode::ZERO,
                minimum_cell_rate: RateCode::ZERO,
                out_of_rate: false,
            };
            Train::of(Cell::resource_management(Time::from_ps(at), &rm))
        };
        let mut feed = Feed::new(0, 0, true, Significance::BEFORE_CLUSTER);
        assert_eq!((feed.pace(), known(&feed)), (None, 0));
        feed.push(rm(10, cellrate_proto::Direction::Forward), &mut Vec::new());
        assert_eq!((feed.pace(), known(&feed)), (None, 1), "nothing is known of the next one");
        feed.push(amid_pdu(2, 3), &mut Vec::new());
        assert_eq!((feed.pace(), known(&feed)), (Some(even), 4));
        assert_eq!(feed.known_evenly(even, 3, true), 3, "enough");
        assert_eq!(feed.known_evenly(even, 100, false), 0, "FRMs may not be among them");
        assert_eq!(
            feed.known_evenly(Duration::from_ps(11), 100, true),
            1,
            "a train of one has no pace of its own"
        );
        let mut next = feed.clone();
        next.push(amid_pdu(5, 2), &mut Vec::new());
        assert_eq!(known(&next), 6);
        let mut later = feed.clone();
        later.push(amid_pdu(6, 2), &mut Vec::new());
        assert_eq!(known(&later), 4, "a cell is missing");
        let mut slower = feed.clone();
        let last = Cell::data(Time::from_ps(61), 6, false);
        slower.push(Train { last, spacing: Duration::from_ps(11), count: 2 }, &mut Vec::new());
        assert_eq!(known(&slower), 4, "the last train has another pace, though its first cell comes in time");
        let mut answered = feed.clone();
        answered.push(rm(50, cellrate_proto::Direction::Backward), &mut Vec::new());
        answered.push(amid_pdu(6, 2), &mut Vec::new());
        assert_eq!(known(&answered), 4, "a BRM is an event");
    }

    #[test]
    fn what_is_cut_off_takes_the_end_of_the_pdu_with_it() {
        let mut feed = Feed::new(0, 0, false, Significance::BEFORE_CLUSTER);
        feed.push(train(1, 3), &mut Vec::new());
        feed.cut(0);
        feed.push(train(4, 3), &mut Vec::new());
        feed.cut(2);
        assert_eq!(numbers(&mut feed.clone()), [(1, false), (2, false), (3, true), (4, false)]);
        feed.cut(1);
        feed.cut(3);
        assert!(feed.is_empty() && feed.trains().count() == 0);
    }
}
