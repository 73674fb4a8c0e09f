//! Sources in turn before another cluster: whole rounds of cells at once.
//!
//! Sources that share a line fairly send at one rate, and then their cells come to it in turn, one of each in every
//! round. As long as each goes on evenly, all rounds have the order of the first. So have the departures, which are
//! known too:
//!
//! - if every cell of the first round waits, each leaves one cell time after the one before, in this round and in
//!   others, until one does not have to wait any more;
//! - or else, if the second round begins to leave just as much later than the first as it came later, it finds what the
//!   first one found, and so does every round behind it.
//!
//! So a cell only has to be counted. The cells that leave for each source are even as well: a [`Stretch`] on
//! its way, or what goes on with the one before. FRMs take their turn like data, and then tell the control in their
//! order; where that would look at what has been counted, they end the rounds instead.
//!
//! Rounds end where something is not known to be even, at the limit, and before a way in that has its cell later than a
//! round; whatever is left comes cell by cell ([`super::before_cluster`]).

use cellrate_engine::schedule::Schedule;
use cellrate_proto::switch::QuietMeter;
use cellrate_proto::{Duration, Time};

use crate::kernel::leaf::Leaf;
use crate::kernel::ports::merge::{FEW, InOrder};
use crate::kernel::ports::{Joining, MOST_JOINING, Port, Queues};
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::feed::Feed;
use crate::kernel::state::outbox::Outbox;
use crate::kernel::state::scratch::PendingFrm;
use crate::stretch::Stretch;

/// Fewer rounds are not worth while.
const LEAST_ROUNDS: u64 = 3;

/// Participant of the rounds: its feed, and its cell in the first round.
#[derive(Clone, Copy)]
struct Member {
    feed: u32,
    key: u64,
    arrives: u64,
    /// Instant at which the port has sent it \[ps\].
    departs: u64,
}

/// The first round, and what holds for those behind it.
struct Rounds {
    members: [Member; FEW],
    count: usize,
    /// Span from a cell to the same member's cell in the next round: when they come, when they leave \[ps\], and their
    /// keys.
    spacing: u64,
    gap: u64,
    step: u64,
    /// Whole rounds, and how many members have one cell more.
    whole: u64,
    more: usize,
}

impl Cluster {
    /// Deals with whole rounds of cells that come to a FIFO to another cluster before `limit`. Whether there were any.
    #[inline(never)]
    pub(crate) fn take_turns(&mut self, number: usize, limit: u64) -> bool {
        self.know_ahead(number, limit);
        let Cluster { ports, feeds, outboxes, schedule, scratch, .. } = self;
        let Port { queues: Queues::Fifo(fifo), metered, control, merge, .. } = &mut ports[number] else {
            return false;
        };
        let Some(mut order) = merge.in_order() else { return false };
        let with_forward_rms = !*metered || control.ignores_open_interval();
        let meter = control.quiet_meter();
        let (limit, most) = match *metered {
            true => (limit.min(schedule.key(0, meter.until)), meter.left.min(MOST_JOINING)),
            false => (limit, MOST_JOINING),
        };
        let mut meter = metered.then_some(meter);
        let mut joining = fifo.joining();
        if !joining.is_usual() {
            return false;
        }
        let first = First { feeds, schedule, meter: meter.as_ref(), with_forward_rms, limit, most };
        let Some(rounds) = first.round(&mut order, &joining) else { return false };
        if !joining.expect_to_stay(rounds.longest_sojourn()) {
            return false;
        }
        let (mut sum, frms) = (0, &mut scratch.frms);
        for index in 0..rounds.count {
            let feed = &mut feeds[rounds.members[index].feed as usize];
            sum += rounds.sojourns(index);
            if let Some(meter) = &mut meter {
                meter.count(feed.slot, rounds.cells(index));
            }
            rounds.pass(index, feed, outboxes, schedule, &joining, frms);
        }
        joining.join_many(rounds.last_departure(), sum);
        joining.close(rounds.all_cells());
        order.advance(rounds.count, rounds.whole, rounds.more, rounds.step);
        if *metered {
            frms.sort_unstable_by_key(|&(key, ..)| key);
            for &(key, slot, rate) in &*frms {
                control.on_forward_rm(schedule.split(key).0, slot, rate);
            }
        }
        frms.clear();
        true
    }

    /// Whether it is worth while to look closer: mostly it is not because the port was looked at just before, or
    /// because the averaging interval has only begun.
    #[inline(always)]
    pub(super) fn may_be_turns(&mut self, number: usize, limit: u64) -> bool {
        let Port { merge, metered, control, .. } = &mut self.ports[number];
        let Some(mut order) = merge.in_order() else { return false };
        let (key, Leaf::Feed(first)) = order.get(0) else { return false };
        let step = self.feeds[first as usize].key_step;
        let is_short = |limit: u64| limit.saturating_sub(key) / LEAST_ROUNDS < step;
        if is_short(limit) || !order.is_promising() {
            return false;
        }
        let (_, Leaf::Feed(last)) = order.get(order.count() - 1) else { return false };
        let (last, meter) = (&self.feeds[last as usize], control.quiet_meter());
        let until = if *metered { limit.min(self.schedule.key(0, meter.until)) } else { limit };
        let begins = *metered && last.front.count > 0 && !meter.is_quiet(last.slot);
        !is_short(until) && !begins
    }

    /// Plans the cells that come before `limit`, as far as it can be done.
    fn know_ahead(&mut self, number: usize, limit: u64) {
        let Cluster { ports, feeds, schedule, .. } = self;
        let Some(order) = ports[number].merge.in_order() else { return };
        let (until, _) = schedule.split(limit);
        let ends_before =
            |way: &&Leaf| matches!(**way, Leaf::Feed(feed) if feeds[feed as usize].end() < until);
        let known = order.ways().iter().filter(ends_before);
        let unknown: Vec<Leaf> = known.copied().collect();
        for way in unknown {
            if let Leaf::Feed(feed) = way {
                self.plan_as_far_as(feed as usize, limit);
            }
        }
    }
}

/// State of the search for the first round.
struct First<'a> {
    feeds: &'a [Feed],
    schedule: &'a Schedule,
    meter: Option<&'a QuietMeter<'a>>,
    with_forward_rms: bool,
    limit: u64,
    /// Number of cells that may come.
    most: u64,
}

impl First<'_> {
    /// The first round, if there are enough others like it.
    fn round(self, order: &mut InOrder<'_>, joining: &Joining<'_>) -> Option<Rounds> {
        let First { feeds, schedule, meter, with_forward_rms, mut limit, most } = self;
        let (first_key, Leaf::Feed(first)) = order.get(0) else { return None };
        let spacing = feeds[first as usize].pace()?;
        let step = schedule.key_step(spacing.as_ps());
        let next_round = first_key.checked_add(step)?;
        if first_key >= limit || step == 0 {
            return None;
        }
        // Before its second cell each of the others has had its first one.
        let enough = (most / order.count() as u64).min((limit - first_key) / step) as u32 + 3;
        let cell_time = joining.cell_time();
        let mut free = joining.busy_until();
        let mut members = [Member { feed: 0, key: 0, arrives: 0, departs: 0 }; FEW];
        let (mut count, mut shortest_wait) = (0, i64::MAX);
        let (mut whole, mut more) = (u64::MAX, 0);
        while count < order.count() {
            let (key, way) = order.get(count);
            if key >= next_round {
                // The next cell of each member comes before this one, too.
                limit = limit.min(key.saturating_sub(step));
                break;
            }
            let Leaf::Feed(index) = way else { return None };
            let feed = &feeds[index as usize];
            if meter.is_some_and(|meter| !meter.is_quiet(feed.slot)) {
                return None;
            }
            let known = feed.known_evenly(spacing, enough, with_forward_rms);
            if known == 0 {
                order.note_failure();
                return None;
            }
            // The one behind the last is known as well, and so is its key.
            let known = u64::from(known - 1);
            if known < whole {
                (whole, more) = (known, count);
            }
            let arrives = schedule.split(key).0.as_ps();
            shortest_wait = shortest_wait.min(free as i64 - arrives as i64);
            free = free.max(arrives) + cell_time;
            members[count] = Member { feed: index, key, arrives, departs: free };
            count += 1;
        }
        let spacing = spacing.as_ps();
        let all = count as u64;
        (whole, more) = (whole, more).min((most / all, (most % all) as usize));
        let mut rounds = Rounds { members, count, spacing, gap: 0, step, whole, more };
        rounds.keep_to(limit, count < order.count());
        if rounds.whole < LEAST_ROUNDS {
            order.note_failure();
            return None;
        }
        rounds.gap = free.max(members[0].arrives + spacing) + cell_time - members[0].departs;
        let all_wait = shortest_wait >= 0 && rounds.gap == cell_time * all;
        let go_on_waiting = rounds.gap >= spacing
            || shortest_wait as u64 >= (spacing - rounds.gap).saturating_mul(rounds.whole);
        let is_known = all_wait && go_on_waiting || rounds.gap == spacing;
        if !is_known {
            order.note_failure();
        }
        is_known.then_some(rounds)
    }
}

impl Rounds {
    /// Only cells with a key before `limit` come; and only whole rounds, if others have to stay last.
    fn keep_to(&mut self, limit: u64, whole_only: bool) {
        if whole_only {
            self.more = 0;
        }
        let key = |member: &Member, round: u64| member.key + self.step * round;
        let members = &self.members[..self.count];
        let last = match self.more {
            0 if self.whole == 0 => return,
            0 => key(&members[self.count - 1], self.whole - 1),
            more => key(&members[more - 1], self.whole),
        };
        if last < limit {
            return;
        }
        let round = (limit - 1 - self.members[0].key) / self.step;
        let more = members.iter().take_while(|member| key(member, round) < limit).count();
        (self.whole, self.more) = if more == self.count { (round + 1, 0) } else { (round, more) };
        if whole_only {
            self.more = 0;
        }
    }

    /// Number of cells that a member has.
    fn cells(&self, index: usize) -> u64 {
        self.whole + u64::from(index < self.more)
    }

    fn all_cells(&self) -> u64 {
        self.whole * self.count as u64 + self.more as u64
    }

    /// Instant at which the last cell of all has left \[ps\].
    fn last_departure(&self) -> u64 {
        match self.more {
            0 => self.members[self.count - 1].departs + self.gap * (self.whole - 1),
            more => self.members[more - 1].departs + self.gap * self.whole,
        }
    }

    /// Times that the first cell and the last one of a member stay in the port \[ps\].
    fn sojourn_of_ends(&self, index: usize) -> [u64; 2] {
        let Member { arrives, departs, .. } = self.members[index];
        let others = self.cells(index) - 1;
        [departs - arrives, departs + self.gap * others - (arrives + self.spacing * others)]
    }

    fn longest_sojourn(&self) -> u64 {
        (0..self.count).flat_map(|index| self.sojourn_of_ends(index)).max().unwrap_or(0)
    }

    /// Sum of the times that all cells of a member stay \[ps\].
    fn sojourns(&self, index: usize) -> u64 {
        let [first, last] = self.sojourn_of_ends(index);
        // Of the first and the last, the second and the last but one, and so on, each two have the same sum.
        (first + last) * self.cells(index) / 2
    }

    /// The cells of a member leave its feed, and are on their way to the other cluster.
    #[inline(always)]
    fn pass(
        &self,
        index: usize,
        feed: &mut Feed,
        outboxes: &mut [Outbox],
        schedule: &Schedule,
        joining: &Joining<'_>,
        frms: &mut Vec<PendingFrm>,
    ) {
        let Member { mut key, arrives, departs, .. } = self.members[index];
        let (mut now, mut departs) = (Time::from_ps(arrives), Time::from_ps(departs));
        let (spacing, gap) = (Duration::from_ps(self.spacing), Duration::from_ps(self.gap));
        let outbox = &mut outboxes[feed.way_out as usize];
        let mut left = self.cells(index);
        while left > 0 {
            let plain = left.min(feed.front.plain().into());
            let cell = feed.front.take(now).on_next_hop().arriving(joining.arrival(departs));
            if plain > 0 {
                let others = plain as u32 - 1;
                feed.front.count -= others;
                outbox.push_stretch(cell, Stretch { gap, spacing, count: others });
            } else {
                outbox.push(cell);
                if cell.is_forward_rm() {
                    frms.push((key, feed.slot, cell.current_cell_rate().rate()));
                }
            }
            let passed = plain.max(1);
            left -= passed;
            key += self.step * passed;
            now += spacing * passed;
            departs += gap * passed;
            if feed.front.count == 0 {
                feed.advance();
                feed.key_step = schedule.key_step(feed.front.spacing.as_ps());
            }
        }
        debug_assert_eq!(schedule.key(feed.leaf as usize, feed.front.first_arrival()), key);
        debug_assert_eq!(schedule.key_step(feed.front.spacing.as_ps()), feed.key_step);
    }
}
