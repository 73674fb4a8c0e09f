//! Cells of many sources before another cluster: all that come before the next look at the port, at once.
//!
//! A merge of many ways in costs each cell a path up a tree. But the cells of sources are known in trains, and a train
//! says all its instants: so what comes before the limit is written down source by source and sorted, which gives all
//! departures in one loop. Then each source has its cells counted and sent on, train by train. FRMs, and cells with
//! which a connection becomes active, tell the control so in their order.
//!
//! What is not known of a source, an event on its way in and the end of the averaging interval are limits, as is a cell
//! that finds no room. It is done where the span is long enough for several cells of each source, and each has a lane
//! of its own behind the port; whatever is left comes cell by cell ([`super::before_cluster`]).

use cellrate_engine::schedule::Schedule;
use cellrate_proto::Time;

use crate::kernel::leaf::Leaf;
use crate::kernel::ports::merge::Patience;
use crate::kernel::ports::{MOST_JOINING, Port, Queues};
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::feed::Feed;
use crate::kernel::state::scratch::{ControlNotice, Member, Sorting};

/// Cells on the line for each source that the span has to be long enough for where the port's control wants to know of
/// cells: each source then tells it something, in an order that has to be found as well. Where a thousand had 2.6 cells
/// each, a cell took 730 instructions, and 480 by the way up a tree. Elsewhere one is enough.
const METERED_CELLS_PER_SOURCE: u64 = 4;

impl Cluster {
    /// Deals with the cells of many sources that come to a FIFO to another cluster before `limit`. Whether there were
    /// any.
    #[inline(never)]
    pub(crate) fn run_sorted(&mut self, number: usize, limit: u64) -> bool {
        let Port { queues: Queues::Fifo(fifo), metered, control, merge, .. } = &mut self.ports[number] else {
            return false;
        };
        let (count, from) = (merge.ways().len() as u64, merge.first());
        let cells = if *metered { METERED_CELLS_PER_SOURCE * count } else { count };
        let span = fifo.cell_time().as_ps().saturating_mul(cells);
        let span = self.schedule.key_step(span);
        if limit.saturating_sub(from) < span {
            return false;
        }
        let (limit, left) = match *metered {
            true => {
                let meter = control.quiet_meter();
                (limit.min(self.schedule.key(0, meter.until)), meter.left)
            }
            false => (limit, MOST_JOINING),
        };
        if !fifo.joining().is_usual()
            || limit.saturating_sub(from) < span
            || left < count
            || *metered && !control.ignores_open_interval()
            || !merge.patience().is_some_and(Patience::is_promising)
        {
            return false;
        }
        let known = self.gather(number, limit);
        self.scratch.sorting.sort(from, limit);
        let passed = self.pass_sorted(number, known);
        self.leave_sorted(number);
        if let Some(patience) = self.ports[number].merge.patience() {
            patience.note(passed as u64 >= count);
        }
        passed > 0
    }

    /// Writes down the keys of the cells of sources that come to the port before `limit`. Returns up to where it has
    /// all of them, if that is before the limit.
    fn gather(&mut self, number: usize, limit: u64) -> u64 {
        let mut sorting = std::mem::take(&mut self.scratch.sorting);
        sorting.keys.clear();
        sorting.members.clear();
        sorting.next.resize(self.leaves.len(), 0);
        let mut limit = limit;
        let count = self.ports[number].merge.ways().len();
        // Of all together no more than a few times as many as may join at once.
        let most = (4 * MOST_JOINING).div_ceil(count as u64);
        for place in 0..count {
            let merge = &self.ports[number].merge;
            if merge.key(place) >= limit {
                continue;
            }
            let Leaf::Feed(index) = merge.ways()[place] else { continue };
            let known = self.plan_as_far_as(index as usize, limit);
            let feed = &self.feeds[index as usize];
            limit = limit.min(self.schedule.key(feed.leaf as usize, known));
            let first = sorting.keys.len() as u32;
            sorting.members.push(Member { feed: index, first, came: 0, counted: 0 });
            sorting.next[feed.leaf as usize] = first;
            limit = write_down(feed, &self.schedule, limit, most, &mut sorting.keys);
        }
        self.scratch.sorting = sorting;
        limit
    }

    /// The cells with these keys before `limit` come to the port, up to one that finds no room: how many.
    fn pass_sorted(&mut self, number: usize, limit: u64) -> usize {
        let Cluster { ports, feeds, outboxes, schedule, scratch, .. } = self;
        let Port { queues: Queues::Fifo(fifo), metered, control, .. } = &mut ports[number] else {
            return 0;
        };
        let Sorting { keys, arrivals, next, members, notices, .. } = &mut scratch.sorting;
        let meter = control.quiet_meter();
        let most = if *metered { meter.left.min(MOST_JOINING) } else { MOST_JOINING };
        let mut joining = fifo.joining();
        let mut passed = 0;
        arrivals.resize(keys.len(), Time::ZERO);
        for &key in &keys[..keys.len().min(most as usize)] {
            if key >= limit {
                break;
            }
            let (now, leaf) = schedule.split(key);
            let Some(departs) = joining.expect(now) else { break };
            let place = &mut next[leaf];
            arrivals[*place as usize] = joining.join_expected(now, departs);
            *place += 1;
            passed += 1;
        }
        joining.close(passed as u64);
        for member in members.iter_mut() {
            let feed = &mut feeds[member.feed as usize];
            let behind = next[feed.leaf as usize];
            member.came = behind - member.first;
            if member.came == 0 {
                continue;
            }
            if *metered && !meter.is_quiet(feed.slot) {
                let key = schedule.key(feed.leaf as usize, feed.front.first_arrival());
                notices.push((key, ControlNotice::Activity(feed.slot)));
                member.counted = 1;
            }
            let outbox = &mut outboxes[feed.way_out as usize];
            let mut arrivals = &arrivals[member.first as usize..behind as usize];
            while !arrivals.is_empty() {
                let now = feed.front.first_arrival();
                let plain = arrivals.len().min(feed.front.plain() as usize);
                let cell = feed.front.take(now).on_next_hop();
                let (these, others) = arrivals.split_at(plain.max(1));
                arrivals = others;
                if plain > 0 {
                    feed.front.count -= plain as u32 - 1;
                    outbox.push_evenly_sent(cell, feed.front.spacing, these);
                } else {
                    if cell.is_rm() {
                        let key = schedule.key(feed.leaf as usize, now);
                        notices.push((
                            key,
                            ControlNotice::ForwardRm(feed.slot, cell.current_cell_rate().rate()),
                        ));
                    }
                    outbox.push(cell.arriving(these[0]));
                }
                if feed.front.count == 0 {
                    feed.advance();
                }
            }
        }
        if *metered {
            // Notices of the same cell stay in this order.
            notices.sort_by_key(|&(key, _)| key);
            for &(key, notice) in &*notices {
                let (now, _) = schedule.split(key);
                match notice {
                    ControlNotice::Activity(slot) => control.on_abr_cell(now, slot),
                    ControlNotice::ForwardRm(slot, rate) => control.on_forward_rm(now, slot, rate),
                }
            }
            let mut meter = control.quiet_meter();
            for member in &*members {
                meter.count(feeds[member.feed as usize].slot, u64::from(member.came - member.counted));
            }
        }
        notices.clear();
        passed
    }

    /// The keys of the members.
    fn leave_sorted(&mut self, number: usize) {
        for index in 0..self.scratch.sorting.members.len() {
            let feed = self.scratch.sorting.members[index].feed as usize;
            if self.feeds[feed].is_empty() {
                self.next_train(feed);
            } else {
                let feed = &mut self.feeds[feed];
                self.ports[number].merge.set(feed.place as usize, feed.front_key(&self.schedule));
            }
        }
    }
}

/// Puts the keys of the cells that come over `feed` before `limit` last, up to an event, and no more than `most`.
/// Returns where it ends, if that is before the limit.
#[inline(always)]
fn write_down(feed: &Feed, schedule: &Schedule, limit: u64, most: u64, keys: &mut Vec<u64>) -> u64 {
    let mut left = most;
    for train in feed.trains() {
        let first = schedule.key(feed.leaf as usize, train.first_arrival());
        if first >= limit {
            break;
        }
        if left == 0 || !train.waits(feed.significance) {
            return first;
        }
        let step = schedule.key_step(train.spacing.as_ps());
        let before = if step > 0 { (limit - first).div_ceil(step) } else { 1 };
        let before = before.min(train.count.into());
        keys.extend((0..before.min(left)).map(|count| first + step * count));
        if before > left {
            return first + step * left;
        }
        left -= before;
    }
    limit
}

impl Sorting {
    /// Sorts the keys, which lie between these: each into its part of the span first.
    fn sort(&mut self, from: u64, to: u64) {
        let Sorting { keys, spare, parts, .. } = self;
        let bits = (keys.len() | 1).ilog2();
        let shift = (u64::BITS - (to - from).leading_zeros()).saturating_sub(bits);
        let part = |key: u64| ((key - from) >> shift) as usize;
        parts.clear();
        parts.resize(1 << bits, 0);
        for &key in &*keys {
            parts[part(key)] += 1;
        }
        let mut before = 0;
        for count in &mut *parts {
            (*count, before) = (before, before + *count);
        }
        spare.resize(keys.len(), 0);
        for &key in &*keys {
            let place = &mut parts[part(key)];
            spare[*place as usize] = key;
            *place += 1;
        }
        std::mem::swap(keys, spare);
        sort_within_parts(keys);
    }
}

/// Sorts `keys`, most of which are where they belong or next to it.
fn sort_within_parts(keys: &mut [u64]) {
    let mut moves = FEW_MOVES * keys.len();
    for end in 1..keys.len() {
        let key = keys[end];
        let mut place = end;
        while place > 0 && keys[place - 1] > key {
            keys[place] = keys[place - 1];
            place -= 1;
        }
        keys[place] = key;
        match moves.checked_sub(end - place) {
            Some(left) => moves = left,
            None => return keys.sort_unstable(),
        }
    }
}

/// Number of moves per key from which on keys are sorted in another way.
const FEW_MOVES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_sorted_however_they_lie(
            (from, span) in (0..1_u64 << 60, 1..1_u64 << 60),
            // Evenly, or all of them in a small part.
            keys in proptest::collection::vec(any::<u64>(), 0..400),
            narrow in 0..60_u32,
        ) {
            let keys: Vec<u64> = keys.iter().map(|key| from + ((key % span) >> narrow)).collect();
            let mut sorting = Sorting { keys: keys.clone(), ..Sorting::default() };
            sorting.sort(from, from + span);
            let mut expected = keys;
            expected.sort_unstable();
            prop_assert_eq!(sorting.keys, expected);
        }
    }

    #[test]
    fn keys_that_lie_the_wrong_way_round_are_sorted_all_the_same() {
        let mut keys: Vec<u64> = (0..5_000).rev().collect();
        sort_within_parts(&mut keys);
        assert!(keys.is_sorted());
    }

    #[test]
    fn cells_are_written_down_up_to_the_limit_an_event_or_as_many_as_may_be() {
        use crate::cell::{Cell, Significance};
        use crate::kernel::state::feed::Train;
        use cellrate_proto::{Direction, Duration, RateCode, RmCell};
        let schedule = Schedule::new(4);
        let mut feed = Feed::new(0, 0, true, Significance::BEFORE_CLUSTER);
        feed.leaf = 3;
        for (end, count) in [(50, 5), (80, 3)] {
            let last = Cell::data(Time::from_ps(end), end, false);
            feed.push(Train { last, spacing: Duration::from_ps(10), count }, &mut Vec::new());
        }
        let rm = RmCell {
            direction: Direction::Backward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::ZERO,
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        };
        feed.push(Train::of(Cell::resource_management(Time::from_ps(90), &rm)), &mut Vec::new());
        let key = |ps: u64| schedule.key(3, Time::from_ps(ps));
        // Up to that instant, and no more than so many: how many, and where it ends.
        let cases = [
            (75, 100, 7, 75),
            (70, 100, 6, 70),
            (200, 100, 8, 90),
            (75, 3, 3, 40),
            (75, 5, 5, 60),
            (60, 5, 5, 60),
        ];
        for (limit, most, count, end) in cases {
            let mut keys = vec![7];
            let ends = write_down(&feed, &schedule, key(limit), most, &mut keys);
            let expected: Vec<u64> =
                std::iter::once(7).chain((1..=count).map(|cell| key(10 * cell))).collect();
            assert_eq!((keys, ends), (expected, key(end)), "{limit} {most}");
        }
    }
}
