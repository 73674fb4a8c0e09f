//! A port with one category: the departure of a cell is known when it arrives.

use std::sync::Arc;

use cellrate_engine::quantities::Arrivals;
use cellrate_engine::wide::Wide;
use cellrate_proto::{Cells, Duration, Time};

use super::Line;
use super::backlog::{Backlog, Even};

/// Lindley's recursion: everything about the queue follows from the instant at which it will be empty.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    /// When the last cell accepted will have left.
    busy_until: Time,
    accepted: u64,
    /// Most work in the port just after an arrival.
    max_backlog: Duration,
    /// Sum over all cells of the time from arrival to departure \[ps\]: the integral of the queue length.
    sojourns: Wide,
    outlet: Arc<Outlet>,
    /// Arrivals that series of the queue and the line have not been told of, if they are recorded late: departures
    /// follow from them.
    #[expect(clippy::box_collection, reason = "few ports have it, and a large network has very many")]
    untold: Option<Box<Vec<Arrivals>>>,
}

/// Buffer and line of a [`Fifo`]: many ports of a network have the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outlet {
    /// Most work a cell may find in front of it and still have room.
    room: Duration,
    /// Time of one cell on the line.
    cell_time: Duration,
    /// Propagation delay of the line, which loses nothing.
    delay: Duration,
}

impl Outlet {
    /// Makes an outlet to `line`, which loses nothing; a `buffer`, if limited, has at least one place.
    pub fn new(line: &Line, buffer: Option<Cells>) -> Outlet {
        debug_assert!(!line.is_faulty() && buffer != Some(Cells::ZERO));
        let &Line { cell_time, delay, .. } = line;
        // With B places, a cell has room when at most B - 1 cells, and so (B - 1) cell times of work, are before it.
        let room = match buffer {
            None => Duration::FOREVER,
            Some(cells) => cell_time.saturating_mul(cells.0.saturating_sub(1)),
        };
        Outlet { room, cell_time, delay }
    }
}

/// Longest wait of cells that are dealt with together, and longest time of one on their line \[ps\]: 4096 sojourns,
/// each the sum of two such, fit into 64 bits.
const LONGEST: u64 = 1 << 50;

/// Cells that may join a queue before their figures are summed up.
pub(crate) const MOST_JOINING: u64 = 4096;

/// A [`Fifo`] as long as cells join its queue, no more than [`MOST_JOINING`] of them: what changes with each is kept
/// apart from the rest, and sums are short.
#[derive(Debug)]
pub(crate) struct Joining<'a> {
    busy_until: u64,
    /// Longest sojourn of a cell that finds room.
    longest: u64,
    cell_time: u64,
    delay: u64,
    sum: u64,
    max: u64,
    fifo: &'a mut Fifo,
}

impl Joining<'_> {
    /// Whether cells may join here. On a line that takes minutes for a cell they come one at a time.
    #[inline(always)]
    pub fn is_usual(&self) -> bool {
        self.cell_time < LONGEST
    }

    /// Instant at which the next cell, which comes at `now` and certainly does come, will have left the port, if it
    /// finds room.
    #[inline(always)]
    pub fn expect(&mut self, now: Time) -> Option<Time> {
        let departs = self.departure(now);
        let sojourn = departs.as_ps() - now.as_ps();
        // A cell that stays no longer than another one finds room as that one did.
        (sojourn <= self.max || self.stay_longer(sojourn)).then_some(departs)
    }

    /// The [expected](Joining::expect) cell has come: when it reaches the far end.
    #[inline(always)]
    pub fn join_expected(&mut self, now: Time, departs: Time) -> Time {
        self.busy_until = departs.as_ps();
        self.sum += departs.as_ps() - now.as_ps();
        self.fifo.note(now);
        self.arrival(departs)
    }

    /// The latest instant, not after `until`, before which up to `count` cells may come of which each surely reaches
    /// the far end before `end`, if there is one.
    #[inline(always)]
    pub fn surely_before(&self, end: Time, until: Time, count: usize) -> Option<Time> {
        let work = self.cell_time * count as u64 + self.delay;
        let latest = end.as_ps().checked_sub(work + 1)?;
        (self.busy_until <= latest).then(|| until.min(Time::from_ps(latest)))
    }

    /// Instant at which a cell that comes at `now`, the next to come, will have left the port if it finds room.
    #[inline(always)]
    pub fn departure(&self, now: Time) -> Time {
        Time::from_ps(self.busy_until.max(now.as_ps()) + self.cell_time)
    }

    /// The departure of a cell that comes now, if it finds room.
    #[inline(always)]
    pub fn departure_with_room(&self, now: Time) -> Option<Time> {
        let departs = self.departure(now);
        let sojourn = departs.as_ps() - now.as_ps();
        (sojourn <= self.max || sojourn <= self.longest).then_some(departs)
    }

    /// Instant at which a cell that leaves the port at `departs` will reach the far end.
    #[inline(always)]
    pub fn arrival(&self, departs: Time) -> Time {
        Time::from_ps(departs.as_ps() + self.delay)
    }

    /// Has a cell join that comes at `now` and [leaves](Joining::departure) at `departs`; or it may find no room: then
    /// it has not come.
    #[inline(always)]
    pub fn join(&mut self, now: Time, departs: Time) -> bool {
        let sojourn = departs.as_ps() - now.as_ps();
        // A cell that stays no longer than another one finds room as that one did.
        if sojourn > self.max && !self.stay_longer(sojourn) {
            return false;
        }
        self.busy_until = departs.as_ps();
        self.sum += sojourn;
        self.fifo.note(now);
        true
    }

    /// Has `count` cells join that come one every `gap`, the first at `now`, if each finds nothing before it.
    /// Whether they have.
    #[inline]
    pub fn join_apart(&mut self, now: Time, gap: Duration, count: u64) -> bool {
        if self.busy_until > now.as_ps() || gap.as_ps() < self.cell_time {
            return false;
        }
        if self.cell_time > self.max && !self.stay_longer(self.cell_time) {
            return false;
        }
        self.busy_until = now.as_ps() + gap.as_ps() * (count - 1) + self.cell_time;
        self.sum += self.cell_time * count;
        if let Some(untold) = &mut self.fifo.untold {
            untold.push(Arrivals { first: now, gap, count });
        }
        true
    }

    /// Time of one cell on the line \[ps\].
    #[inline]
    pub fn cell_time(&self) -> u64 {
        self.cell_time
    }

    /// Instant at which the last cell that has joined will have left \[ps\].
    #[inline]
    pub fn busy_until(&self) -> u64 {
        self.busy_until
    }

    /// Whether a cell finds room that stays so long \[ps\]; it surely does come then.
    pub fn expect_to_stay(&mut self, sojourn: u64) -> bool {
        sojourn <= self.max || self.stay_longer(sojourn)
    }

    /// Notes that cells have joined whose sojourns are `sum` together; the last of them leaves at `busy_until` \[ps\].
    pub fn join_many(&mut self, busy_until: u64, sum: u64) {
        debug_assert!(self.fifo.untold.is_none(), "whose arrivals count is told each");
        self.busy_until = busy_until;
        self.sum += sum;
    }

    #[cold]
    fn stay_longer(&mut self, sojourn: u64) -> bool {
        let has_room = sojourn <= self.longest;
        if has_room {
            self.max = sojourn;
        }
        has_room
    }

    /// Ends the joining: `count` cells have joined, and no more will.
    #[inline(always)]
    pub fn close(self, count: u64) {
        let fifo = self.fifo;
        fifo.busy_until = Time::from_ps(self.busy_until);
        fifo.accepted += count;
        fifo.sojourns.add(self.sum);
        fifo.max_backlog = Duration::from_ps(self.max);
    }
}

impl Fifo {
    /// Makes an empty FIFO with this outlet.
    pub fn new(outlet: Arc<Outlet>) -> Fifo {
        Fifo {
            busy_until: Time::ZERO,
            accepted: 0,
            max_backlog: Duration::ZERO,
            sojourns: Wide::ZERO,
            outlet,
            untold: None,
        }
    }

    /// Has arrivals kept from now on, until they are [told](Fifo::untold).
    pub fn keep_arrivals(&mut self) {
        self.untold = Some(Box::default());
    }

    /// Whether they are.
    #[inline]
    pub fn keeps_arrivals(&self) -> bool {
        self.untold.is_some()
    }

    /// Gives the arrivals in order, for the caller to tell of and take away; `None` if they are not kept.
    pub fn untold(&mut self) -> Option<&mut Vec<Arrivals>> {
        self.untold.as_deref_mut()
    }

    /// Notes that a cell has come and joined the queue.
    #[inline(always)]
    fn note(&mut self, now: Time) {
        if let Some(untold) = &mut self.untold {
            untold.push(Arrivals { first: now, gap: Duration::ZERO, count: 1 });
        }
    }

    /// Admits a cell; gives the instant at which it will reach the far end; `None` if it finds no room, or the line
    /// loses it.
    #[inline(always)]
    pub fn admit(&mut self, now: Time) -> Option<Time> {
        let Outlet { room, cell_time, delay } = *self.outlet;
        let backlog = self.busy_until.since(now);
        if backlog > room {
            return None;
        }
        let sojourn = backlog + cell_time;
        let departs = now + sojourn;
        self.busy_until = departs;
        self.accepted += 1;
        self.sojourns.add(sojourn.as_ps());
        if sojourn > self.max_backlog {
            self.max_backlog = sojourn;
        }
        self.note(now);
        Some(departs + delay)
    }

    /// Begins a series of cells that join the queue one after the other.
    #[inline(always)]
    pub fn joining(&mut self) -> Joining<'_> {
        Joining {
            busy_until: self.busy_until.as_ps(),
            longest: self.outlet.room.as_ps().min(LONGEST).saturating_add(self.outlet.cell_time.as_ps()),
            cell_time: self.outlet.cell_time.as_ps(),
            delay: self.outlet.delay.as_ps(),
            sum: 0,
            max: self.max_backlog.as_ps(),
            fifo: self,
        }
    }

    /// When the last cell accepted will have left.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Time of one cell on the line.
    #[inline]
    pub fn cell_time(&self) -> Duration {
        self.outlet.cell_time
    }

    /// Instant at which a cell that came at `now`, the next to come, would reach the far end. There must be room
    /// without limit.
    #[inline]
    pub fn preview(&self, now: Time) -> Time {
        self.busy_until.max(now).saturating_add(self.outlet.cell_time).saturating_add(self.outlet.delay)
    }

    /// Instant at which the transmission of a cell would begin that came at `now`, the next to come.
    pub fn begins(&self, now: Time) -> Time {
        self.busy_until.max(now)
    }

    /// Instant at which a cell reaches the far end that leaves the port at `departs`.
    pub fn arrival_behind(&self, departs: Time) -> Time {
        departs.saturating_add(self.outlet.delay)
    }

    /// Admits cells, in any order of trains, each of which finds the line busy.
    pub fn admit_waiting(&mut self, trains: &[Even]) {
        let Some(backlog) = Backlog::of(trains, self.busy_until, self.outlet.cell_time) else { return };
        self.accepted += backlog.cells;
        self.busy_until = backlog.busy_until;
        self.sojourns.add_wide(backlog.sojourns);
        self.max_backlog = self.max_backlog.max(backlog.longest);
    }

    /// An instant after which every transmission reaches the far end after `arrives`.
    #[inline]
    pub fn latest_transmission(&self, arrives: Time) -> Time {
        Time::from_ps(arrives.as_ps().saturating_sub((self.outlet.cell_time + self.outlet.delay).as_ps()))
    }

    /// Whether cells that come from `at` on, one every `spacing`, each find an empty port.
    pub fn is_idle_for(&self, at: Time, spacing: Duration) -> bool {
        self.busy_until <= at && spacing >= self.outlet.cell_time
    }

    /// Admits `count` cells, each of which found an empty port, the last one at `last`.
    pub fn admit_run(&mut self, count: u32, last: Time) {
        self.busy_until = last + self.outlet.cell_time;
        self.accepted += u64::from(count);
        self.sojourns.add_wide(u128::from(self.outlet.cell_time.as_ps()) * u128::from(count));
        self.max_backlog = self.max_backlog.max(self.outlet.cell_time);
    }

    /// Whether there is always room.
    pub fn is_lossless(&self) -> bool {
        self.outlet.room == Duration::FOREVER
    }

    /// Number of cells waiting and in transmission at `at`; one that leaves at `at` has left.
    #[inline]
    pub fn queue(&self, at: Time) -> Cells {
        let (backlog, cell_time) = (self.busy_until.since(at), self.outlet.cell_time);
        // Most ports have at most one cell most of the time, which takes no division to tell.
        Cells(if backlog <= cell_time {
            u64::from(backlog > Duration::ZERO)
        } else {
            backlog.div_ceil(cell_time)
        })
    }

    /// Largest queue so far.
    pub fn max_queue(&self) -> Cells {
        Cells(self.max_backlog.div_ceil(self.outlet.cell_time))
    }

    /// The largest queue is looked for anew from `now` on, with what stands then.
    pub fn begin_max(&mut self, now: Time) {
        self.max_backlog = self.busy_until.since(now);
    }

    /// Number of cells whose transmission had ended by `at`.
    pub fn transmitted(&self, at: Time) -> u64 {
        self.accepted - self.queue(at).0
    }

    /// Time for which the line had been busy by `at`.
    pub fn busy(&self, at: Time) -> Duration {
        self.outlet.cell_time * self.accepted - self.busy_until.since(at)
    }

    /// Integral of the queue length over time up to `at` [cells * ps].
    pub fn queue_integral(&self, at: Time) -> u128 {
        // Of the n cells still there at `at`, the last will stay for the backlog, the one before it a cell time less.
        let backlog = u128::from(self.busy_until.since(at).as_ps());
        let (n, cell_time) = (u128::from(self.queue(at).0), u128::from(self.outlet.cell_time.as_ps()));
        let unserved = n * backlog - cell_time * (n * n.saturating_sub(1) / 2);
        self.sojourns.get() - unserved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_engine::random::{Owner, Random, Stream};
    use proptest::prelude::*;

    const CELL: Duration = Duration::from_ps(100);

    fn fifo(buffer: Option<u64>) -> Fifo {
        let line = Line::new(
            CELL,
            Duration::from_ps(7),
            0.0,
            &[],
            Random::new(1, Stream::Loss(Owner::named("line"))),
        );
        Fifo::new(Arc::new(Outlet::new(&line, buffer.map(Cells))))
    }

    fn arrival(fifo: &mut Fifo, at: u64) -> Option<u64> {
        fifo.admit(Time::from_ps(at)).map(Time::as_ps)
    }

    #[test]
    fn cells_before_that_instant_surely_reach_the_far_end_before_the_end() {
        let mut fifo = fifo(None);
        // The line is busy until 350; five cells take 500, and 7 on the line.
        [0, 10, 250].into_iter().for_each(|at| _ = arrival(&mut fifo, at));
        let before = |fifo: &mut Fifo, end, until| {
            let [end, until] = [end, until].map(Time::from_ps);
            fifo.joining().surely_before(end, until, 5).map(Time::as_ps)
        };
        assert_eq!(before(&mut fifo, 2_000, 600), Some(600));
        assert_eq!(before(&mut fifo, 2_000, 1_900), Some(2_000 - 507 - 1));
        assert_eq!([857, 858].map(|end| before(&mut fifo, end, 1_900)), [None, Some(350)]);
        assert_eq!(before(&mut fifo, 100, 90), None);
    }

    #[test]
    fn arrivals_are_kept_whichever_way_cells_come_and_told_once() {
        let mut fifo = fifo(Some(2));
        assert_eq!((fifo.keeps_arrivals(), fifo.untold()), (false, None));
        fifo.keep_arrivals();
        let at = Time::from_ps;
        assert_eq!([0, 10, 20].map(|now| arrival(&mut fifo, now).is_some()), [true, true, false]);
        let mut joining = fifo.joining();
        let departs = joining.departure(at(150));
        assert!(joining.join(at(150), departs) && joining.join_apart(at(400), CELL, 2));
        let departs = joining.expect(at(700)).expect("there is room");
        joining.join_expected(at(700), departs);
        joining.close(4);
        let several = Arrivals { first: at(400), gap: CELL, count: 2 };
        let [first, second, third, last] =
            [0, 10, 150, 700].map(|now| Arrivals { first: at(now), gap: Duration::ZERO, count: 1 });
        let told = vec![first, second, third, several, last];
        assert_eq!(fifo.untold(), Some(&mut told.clone()), "one found no room");
    }

    proptest! {
        #[test]
        fn cells_that_keep_apart_join_as_one_by_one(
            buffer in (0_usize..4).prop_map(|choice| [None, Some(1), Some(2), Some(9)][choice]),
            // By group: how long after the one before, from cell to cell, and how many.
            groups in proptest::collection::vec((0_usize..4, 0_usize..6, 1_u64..6), 1..30),
        ) {
            let (mut apart, mut one_by_one) = (fifo(buffer), fifo(buffer));
            let mut at = 0;
            for (later, gap, count) in groups {
                at += [0, 1, 99, 250][later];
                let gap = [60, 99, 100, 100, 101, 300][gap];
                let instants = (0..count).map(|index| at + gap * index);
                let mut joining = apart.joining();
                if joining.join_apart(Time::from_ps(at), Duration::from_ps(gap), count) {
                    joining.close(count);
                    for now in instants {
                        prop_assert_eq!(arrival(&mut one_by_one, now), Some(now + 107), "nothing is before it");
                    }
                } else {
                    prop_assert!(joining.busy_until() > at || gap < 100);
                    for now in instants {
                        prop_assert_eq!(arrival(&mut apart, now), arrival(&mut one_by_one, now));
                    }
                }
                at += gap * count;
                let figures = |fifo: &Fifo| {
                    let now = Time::from_ps(at);
                    (fifo.queue(now), fifo.busy(now), fifo.transmitted(now), fifo.queue_integral(now), fifo.max_queue())
                };
                prop_assert_eq!(figures(&apart), figures(&one_by_one));
            }
        }
    }

    #[test]
    fn cells_that_join_in_turns_are_as_one_by_one() {
        let (mut in_turns, mut one_by_one) = (fifo(Some(3)), fifo(Some(3)));
        let instants = [0, 0, 150, 150];
        let arrivals = instants.map(|at| arrival(&mut one_by_one, at));
        assert_eq!(arrivals, [107, 207, 307, 407].map(Some));
        let mut joining = in_turns.joining();
        assert_eq!((joining.cell_time(), joining.busy_until()), (100, 0));
        assert!(joining.expect_to_stay(300) && !joining.expect_to_stay(301), "no room for a fourth");
        assert!(joining.expect_to_stay(250));
        joining.join_many(400, 100 + 200 + 150 + 250);
        joining.close(4);
        for at in [150, 199, 300, 1_000].map(Time::from_ps) {
            assert_eq!(
                (in_turns.busy(at), in_turns.transmitted(at)),
                (one_by_one.busy(at), one_by_one.transmitted(at))
            );
            assert_eq!(in_turns.queue_integral(at), one_by_one.queue_integral(at));
        }
        assert_eq!((in_turns.max_queue(), one_by_one.max_queue()), (Cells(3), Cells(3)));
    }

    #[test]
    fn a_cell_waits_for_those_before_it_and_then_crosses() {
        let mut fifo = fifo(None);
        assert_eq!(arrival(&mut fifo, 1_000), Some(1_107));
        assert_eq!(arrival(&mut fifo, 1_000), Some(1_207));
        assert_eq!(arrival(&mut fifo, 1_150), Some(1_307));
        assert_eq!(arrival(&mut fifo, 5_000), Some(5_107));
    }

    #[test]
    fn a_run_through_an_idle_port_is_as_one_by_one() {
        let (mut at_once, mut one_by_one) = (fifo(None), fifo(None));
        arrival(&mut at_once, 50);
        arrival(&mut one_by_one, 50);
        let idle = |at, spacing| at_once.is_idle_for(Time::from_ps(at), Duration::from_ps(spacing));
        assert!(idle(150, 100) && !idle(149, 100) && !idle(150, 99));
        [200, 330, 460].into_iter().for_each(|at| assert_eq!(arrival(&mut one_by_one, at), Some(at + 107)));
        at_once.admit_run(3, Time::from_ps(460));
        for at in [460, 500, 560, 1_000].map(Time::from_ps) {
            assert_eq!(
                (at_once.busy(at), at_once.transmitted(at), at_once.queue_integral(at), at_once.max_queue()),
                (
                    one_by_one.busy(at),
                    one_by_one.transmitted(at),
                    one_by_one.queue_integral(at),
                    one_by_one.max_queue()
                ),
            );
        }
    }

    #[test]
    fn a_cell_that_leaves_now_has_left() {
        let mut fifo = fifo(None);
        arrival(&mut fifo, 0);
        arrival(&mut fifo, 0);
        assert_eq!(fifo.queue(Time::from_ps(99)), Cells(2));
        assert_eq!(fifo.queue(Time::from_ps(100)), Cells(1));
        assert_eq!(fifo.queue(Time::from_ps(200)), Cells(0));
        assert_eq!(fifo.max_queue(), Cells(2));
    }

    #[test]
    fn a_full_buffer_loses_the_cell_until_one_has_left() {
        let mut fifo = fifo(Some(2));
        assert!(arrival(&mut fifo, 0).is_some());
        assert!(arrival(&mut fifo, 0).is_some());
        assert_eq!(arrival(&mut fifo, 99), None);
        assert!(arrival(&mut fifo, 100).is_some());
    }

    #[test]
    fn busy_time_and_queue_integral_stop_at_the_instant_asked_for() {
        let mut fifo = fifo(None);
        for _ in 0..3 {
            arrival(&mut fifo, 0);
        }
        // Queue 3, 2, 1 over three cell times: at 150 ps, 3 * 100 + 2 * 50 cell ps; all of it is 600.
        assert_eq!(fifo.queue_integral(Time::from_ps(150)), 400);
        assert_eq!(fifo.queue_integral(Time::from_ps(300)), 600);
        assert_eq!(fifo.busy(Time::from_ps(150)), Duration::from_ps(150));
        assert_eq!(fifo.transmitted(Time::from_ps(150)), 1);
        assert_eq!(fifo.transmitted(Time::from_ps(300)), 3);
    }
}
