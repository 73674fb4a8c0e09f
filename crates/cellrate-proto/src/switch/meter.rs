//! Measurements of a port over an averaging interval.
//!
//! Nothing here loops over connections: every counter of a connection is stamped with the number of the interval it
//! belongs to, and a stamp that is out of date reads as zero. The end of an interval is one more number.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Slot;
use super::available::{Others, Weighted};
use super::list::List;
use crate::declaration::{Key, Setting, Values, key, written};
use crate::parameters::{ParameterError, in_range};
use crate::scheduling::Weight;
use crate::units::{CellRate, Cells, Duration, Time};

/// When an averaging interval ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AveragingInterval {
    /// At the latest after this span. Above zero.
    pub time: Duration,
    /// Or when so many ABR cells have arrived, if that is sooner [cells, above 0].
    pub cells: Option<u32>,
}

impl AveragingInterval {
    /// Ends after `time` only.
    pub const fn of_time(time: Duration) -> AveragingInterval {
        AveragingInterval { time, cells: None }
    }

    /// Ends after `time` or with the `cells`-th ABR cell, whichever is first.
    pub const fn of_time_or_cells(time: Duration, cells: u32) -> AveragingInterval {
        AveragingInterval { time, cells: Some(cells) }
    }

    /// How long it is where ABR cells arrive one `spacing` apart.
    pub fn length(&self, spacing: Duration) -> Duration {
        self.cells.map_or(self.time, |cells| self.time.min(spacing.saturating_mul(u64::from(cells))))
    }

    /// The keys of an interval, the first with this default and sentence.
    pub const fn keys(default: &'static str, about: &'static str) -> [Key; 2] {
        const CELLS: Key = key(
            "interval_cells",
            <u32 as Setting>::KIND,
            "none",
            "The interval ends early when so many ABR cells have arrived.",
        );
        [key("interval", <Duration as Setting>::KIND, default, about), CELLS]
    }

    /// The interval of a default such as "5 ms".
    pub const fn written(default: &str) -> AveragingInterval {
        AveragingInterval::of_time(written::span(default))
    }

    /// The interval that `values` describe, as `default` where they say nothing else.
    pub fn read<V: Values>(values: &V, default: AveragingInterval) -> Result<AveragingInterval, V::Error> {
        let time = values.span("interval")?.unwrap_or(default.time);
        Ok(AveragingInterval { time, cells: values.count("interval_cells")?.or(default.cells) })
    }

    /// Refuses a span or a number of cells of zero.
    pub fn check(&self) -> Result<(), ParameterError> {
        in_range("interval", self.time.as_secs_f64(), "s", self.time > Duration::ZERO, "above 0 s")?;
        let cells = self.cells.map_or(1, u64::from);
        in_range("interval_cells", cells as f64, "cells", cells > 0, "at least 1 cell")
    }
}

/// Measurements that an algorithm wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metering {
    /// When [`SwitchAlgorithm::on_interval_end`](super::SwitchAlgorithm::on_interval_end) is called.
    pub interval: AveragingInterval,
    /// Whether a BRM that passes backward also makes its connection active.
    pub bidirectional: bool,
    /// Whether connections are compared with what they did in the last interval: [`Meter::joined`],
    /// [`Meter::previous_cells`] and [`Meter::previous_rate`] are for those who ask for it.
    pub history: bool,
}

/// Cells that went through a port in one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalLoad {
    /// When the interval began.
    pub start: Time,
    /// When it ended; always later than `start`.
    pub end: Time,
    /// ABR cells that arrived, RM cells included.
    pub abr_cells: u64,
    /// CBR and VBR cells that arrived.
    pub guaranteed_cells: u64,
    /// Cells of other categories that the scheduler of the port sent.
    pub sent: Sent,
    /// Connections of which an ABR cell arrived, or, with bidirectional counting, a BRM passed backward.
    pub active: u32,
    /// ABR queue when it ended.
    pub abr_queue: Cells,
}

impl IntervalLoad {
    /// How long the interval was.
    pub const fn length(&self) -> Duration {
        self.end.since(self.start)
    }

    /// ABR cells over the length [cells/s].
    pub fn abr_rate(&self) -> CellRate {
        rate(self.abr_cells, self.length())
    }

    /// CBR and VBR cells over the length [cells/s].
    pub fn guaranteed_rate(&self) -> CellRate {
        rate(self.guaranteed_cells, self.length())
    }

    /// Rates that other categories took of the line, or could have.
    pub fn others(&self) -> Others {
        let length = self.length();
        Others {
            first: rate(self.guaranteed_cells + self.sent.booked, length),
            weighted: self.sent.weights.map(|weights| {
                let used = [self.sent.guaranteed, self.sent.ubr].map(|cells| rate(cells, length));
                Weighted { weights, used }
            }),
        }
    }

    /// Part that ABR may have of `of`, which is the line's rate or the part of it that is handed out [cells/s].
    pub fn available(&self, of: CellRate) -> CellRate {
        self.others().available(of)
    }

    /// Whether nothing came, was sent or waits, and no connection was active.
    pub fn is_idle(&self) -> bool {
        let Sent { booked, guaranteed, ubr, .. } = self.sent;
        let others = self.guaranteed_cells + booked + guaranteed + ubr;
        self.abr_cells == 0 && others == 0 && self.active == 0 && self.abr_queue == Cells::ZERO
    }
}

/// Cells that a port sent of other categories than ABR, as far as its scheduler regards them.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Sent {
    /// GFR and UBR cells that went before ABR cells, because so much is booked for them.
    pub booked: u64,
    /// Weights of CBR and VBR together, of ABR, and of GFR and UBR together; `None` by strict priority.
    pub weights: Option<[Weight; 3]>,
    /// CBR and VBR cells, where categories have weights.
    pub guaranteed: u64,
    /// GFR and UBR cells, where categories have weights.
    pub ubr: u64,
}

/// The counters of a port.
///
/// The fields that a cell touches come first, one behind the other.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Meter {
    deadline: Time,
    interval: u64,
    abr_cells: u64,
    vcs: List<VcMeter>,
    guaranteed_cells: u64,
    /// ABR cells before the one that completes the interval's count; [`NO_COUNT`] where no number of cells ends it.
    before_last: u32,
    active: u32,
    start: Time,
    /// After this time an interval ends; [`Duration::FOREVER`] where no time ends it.
    longest: Duration,
    wishes: Option<Box<Wishes>>,
}

/// Measurements that few algorithms or ports ask for.
#[derive(Clone, Debug, Default)]
struct Wishes {
    /// Whether a BRM makes its connection active.
    bidirectional: bool,
    history: Option<History>,
    /// Cells that the scheduler has sent in the present interval.
    sent: Sent,
}

impl Wishes {
    /// `None` where nothing is asked for.
    fn of(metering: &Metering) -> Option<Box<Wishes>> {
        let &Metering { bidirectional, history, .. } = metering;
        let history = history.then(History::default);
        let sent = Sent::default();
        (bidirectional || history.is_some()).then(|| Box::new(Wishes { bidirectional, history, sent }))
    }
}

/// One more than the largest number of cells that can come before the last one.
const NO_COUNT: u32 = u32::MAX;

/// Counts of the last interval that are kept.
#[derive(Clone, Debug, Default)]
struct History {
    /// How long it was.
    length: Duration,
    /// By slot: the cells of a connection, once it is active in the present interval.
    cells: Vec<u64>,
    /// Connections active in the present interval and not in the last one.
    joined: Vec<Slot>,
}

/// The counters of one connection at a port.
#[derive(Clone, Copy, Debug, Default)]
pub struct VcMeter {
    /// The interval it was last active in; 0 for none, because no interval has a number below
    /// [`Meter::FIRST_INTERVAL`].
    interval: u64,
    /// Cells in that interval.
    cells: u64,
}

/// A [`Meter`] as long as ABR cells come of connections that are active in the present interval, before it ends.
#[derive(Debug)]
pub struct QuietMeter<'a> {
    /// The end of the interval: only cells before it are quiet.
    pub until: Time,
    /// Cells that may still come before the one that completes the interval's count.
    pub left: u64,
    interval: u64,
    abr_cells: Option<&'a mut u64>,
    vcs: &'a mut [VcMeter],
}

impl QuietMeter<'_> {
    /// Where nothing is counted: no cell is quiet.
    #[inline]
    pub(super) fn none() -> QuietMeter<'static> {
        QuietMeter { until: Time::NEVER, left: 0, interval: 0, abr_cells: None, vcs: &mut [] }
    }

    /// Whether a cell of this connection that comes before [`until`](QuietMeter::until) is quiet: then
    /// [`count`](QuietMeter::count) does all that [`PortControl::on_abr_cell`](super::PortControl::on_abr_cell) would
    /// do.
    #[inline(always)]
    pub fn is_quiet(&self, slot: Slot) -> bool {
        self.left > 0 && self.vcs.get(slot.0 as usize).is_some_and(|vc| vc.interval == self.interval)
    }

    /// Counts a cell of this connection if it is quiet; whether it was. The caller keeps to `left`, and tells of all
    /// cells counted this way in the end ([`close`](QuietMeter::close)).
    #[inline(always)]
    pub fn count_one(&mut self, slot: Slot) -> bool {
        match self.vcs.get_mut(slot.0 as usize) {
            Some(vc) if vc.interval == self.interval => {
                vc.cells += 1;
                true
            }
            _ => false,
        }
    }

    /// So many cells have been counted [one by one](QuietMeter::count_one).
    #[inline(always)]
    pub fn close(self, counted: u64) {
        if let Some(abr_cells) = self.abr_cells {
            *abr_cells += counted;
        }
    }

    /// `count` ABR cells of a connection arrived, not more than `left`.
    #[inline(always)]
    pub fn count(&mut self, slot: Slot, count: u64) {
        if let Some(vc) = self.vcs.get_mut(slot.0 as usize) {
            vc.cells += count;
            self.left -= count;
        }
        if let Some(abr_cells) = &mut self.abr_cells {
            **abr_cells += count;
        }
    }
}

impl Meter {
    /// The number of a port's first interval. Two below it lies 0, so that "never" is not "in the last interval".
    pub const FIRST_INTERVAL: u64 = 2;

    /// Counters for `metering`; with `None` there are no interval ends. The first interval begins at time 0.
    pub fn new(metering: Option<Metering>) -> Meter {
        let interval = metering.map(|metering| metering.interval);
        let longest = interval.map_or(Duration::FOREVER, |interval| interval.time);
        let cells = interval.and_then(|interval| interval.cells);
        Meter {
            deadline: Time::ZERO.saturating_add(longest),
            interval: Meter::FIRST_INTERVAL,
            abr_cells: 0,
            vcs: List::new(),
            guaranteed_cells: 0,
            before_last: cells.map_or(NO_COUNT, |cells| cells.saturating_sub(1)),
            active: 0,
            start: Time::ZERO,
            longest,
            wishes: metering.as_ref().and_then(Wishes::of),
        }
    }

    /// One more connection; its slot.
    pub(super) fn connect(&mut self) -> Slot {
        let before = self.vcs.as_slice().len();
        let slot = Slot(u32::try_from(before).expect("fewer than 2^32 connections at a port"));
        self.vcs.push(VcMeter::default());
        if let Some(history) = self.history_mut() {
            history.cells.push(0);
            // Every connection can join once per interval: with room for all, a data cell never allocates.
            let room = (before + 1).next_power_of_two();
            history.joined.reserve_exact(room.saturating_sub(history.joined.len()));
        }
        slot
    }

    fn history(&self) -> Option<&History> {
        self.wishes.as_ref()?.history.as_ref()
    }

    fn history_mut(&mut self) -> Option<&mut History> {
        self.wishes.as_mut()?.history.as_mut()
    }

    /// Whether the number of cells may end an interval.
    #[inline]
    pub(super) fn limits_cells(&self) -> bool {
        self.before_last != NO_COUNT
    }

    /// When the interval ends; [`Time::NEVER`] when only a cell count or nothing ends it.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// An ABR cell arrived.
    #[inline]
    pub(super) fn on_abr_cell(&mut self, now: Time, slot: Slot) {
        self.abr_cells += 1;
        let vc = &mut self.vcs[slot];
        if vc.interval == self.interval {
            vc.cells += 1;
        } else {
            self.begin_activity(slot, 1);
        }
        if self.abr_cells > u64::from(self.before_last) {
            self.end_at(now);
        }
    }

    /// For counting cells that change nothing but counters.
    #[inline]
    pub(super) fn quiet(&mut self) -> QuietMeter<'_> {
        QuietMeter {
            until: self.deadline,
            left: u64::from(self.before_last).saturating_sub(self.abr_cells),
            interval: self.interval,
            abr_cells: Some(&mut self.abr_cells),
            vcs: self.vcs.as_mut_slice(),
        }
    }

    /// `count` CBR or VBR cells arrived.
    #[inline]
    pub(super) fn on_guaranteed_cells(&mut self, count: u64) {
        self.guaranteed_cells += count;
    }

    /// The port weighs categories by these `weights`, or follows what is booked: it tells of [what it
    /// sends](Meter::sent).
    pub(super) fn watch_sent(&mut self, weights: Option<[Weight; 3]>) {
        self.wishes.get_or_insert_default().sent.weights = weights;
    }

    /// Cells that the scheduler has sent since the interval began; `None` where it does not tell of them.
    #[inline]
    pub(super) fn sent(&mut self) -> Option<&mut Sent> {
        self.wishes.as_mut().map(|wishes| &mut wishes.sent)
    }

    /// A BRM passed backward, which makes its connection active with bidirectional counting.
    #[inline]
    pub(super) fn on_backward_rm(&mut self, slot: Slot) {
        let counts = self.wishes.as_ref().is_some_and(|wishes| wishes.bidirectional);
        if counts && self.vcs[slot].interval != self.interval {
            self.begin_activity(slot, 0);
        }
    }

    /// Ends the interval at its deadline, where the ABR queue was `abr_queue`, and begins the next one there.
    pub(super) fn end_interval(&mut self, abr_queue: Cells) -> IntervalLoad {
        let load = IntervalLoad {
            start: self.start,
            end: self.deadline,
            abr_cells: self.abr_cells,
            guaranteed_cells: self.guaranteed_cells,
            sent: self.wishes.as_ref().map_or(Sent::default(), |wishes| wishes.sent),
            active: self.active,
            abr_queue,
        };
        if let Some(wishes) = &mut self.wishes {
            wishes.sent = Sent { weights: wishes.sent.weights, ..Sent::default() };
        }
        self.abr_cells = 0;
        self.guaranteed_cells = 0;
        self.active = 0;
        if let Some(history) = self.history_mut() {
            history.length = load.length();
            history.joined.clear();
        }
        self.begin_interval(load.end, 1);
        load
    }

    /// Passes over the intervals that end at or before `now`, in which nothing came.
    pub(super) fn skip_idle_intervals(&mut self, now: Time) {
        let time = self.longest;
        let intervals = now.since(self.start).div_floor(time);
        if intervals > 0 {
            if let Some(history) = self.history_mut() {
                history.length = time;
            }
            self.begin_interval(self.start.saturating_add(time.saturating_mul(intervals)), intervals);
        }
    }

    /// The number of the present interval, counted from [`Meter::FIRST_INTERVAL`].
    pub fn interval(&self) -> u64 {
        self.interval
    }

    /// When the present interval began.
    pub fn start(&self) -> Time {
        self.start
    }

    /// ABR cells in the present interval.
    pub fn abr_cells(&self) -> u64 {
        self.abr_cells
    }

    /// CBR and VBR cells in the present interval.
    pub fn guaranteed_cells(&self) -> u64 {
        self.guaranteed_cells
    }

    /// Connections active in the present interval.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// Connections active in the present interval and not in the last one, in the order in which they began; none
    /// without [history](Metering::history).
    pub fn joined(&self) -> &[Slot] {
        self.history().map_or(&[], |history| &history.joined)
    }

    /// The interval in which a connection was last active; `None` if never.
    pub fn last_active(&self, slot: Slot) -> Option<u64> {
        let interval = self.vcs[slot].interval;
        (interval >= Meter::FIRST_INTERVAL).then_some(interval)
    }

    /// Cells of a connection in the present interval.
    pub fn cells(&self, slot: Slot) -> u64 {
        let vc = &self.vcs[slot];
        if vc.interval == self.interval { vc.cells } else { 0 }
    }

    /// Cells of a connection in the last interval; zero without [history](Metering::history).
    pub fn previous_cells(&self, slot: Slot) -> u64 {
        let Some(history) = self.history() else { return 0 };
        let vc = &self.vcs[slot];
        if vc.interval == self.interval {
            history.cells[slot.0 as usize]
        } else if vc.interval + 1 == self.interval {
            vc.cells
        } else {
            0
        }
    }

    /// A connection's cells in the last interval over the length of that interval [cells/s]; zero in the first interval
    /// and without [history](Metering::history).
    pub fn previous_rate(&self, slot: Slot) -> CellRate {
        let length = self.history().map_or(Duration::ZERO, |history| history.length);
        rate(self.previous_cells(slot), length)
    }

    /// The first sign of a connection in this interval.
    #[cold]
    fn begin_activity(&mut self, slot: Slot, cells: u64) {
        let vc = VcMeter { interval: self.interval, cells };
        let before = core::mem::replace(&mut self.vcs[slot], vc);
        self.active += 1;
        let interval = self.interval;
        if let Some(history) = self.history_mut() {
            let was_active = before.interval + 1 == interval;
            history.cells[slot.0 as usize] = if was_active { before.cells } else { 0 };
            if !was_active {
                history.joined.push(slot);
            }
        }
    }

    /// The cell count is reached. An interval without length has no rates, so one whose cells all came at its very
    /// start goes on until a cell comes later.
    #[cold]
    fn end_at(&mut self, now: Time) {
        if self.limits_cells() && now > self.start {
            self.deadline = self.deadline.min(now);
        }
    }

    fn begin_interval(&mut self, start: Time, intervals: u64) {
        self.start = start;
        self.interval += intervals;
        self.deadline = start.saturating_add(self.longest);
    }
}

/// `cells` over `length`; zero when there was no time for any.
fn rate(cells: u64, length: Duration) -> CellRate {
    if length == Duration::ZERO { CellRate::ZERO } else { CellRate::new(cells as f64 / length.as_secs_f64()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Slot = Slot(0);
    const B: Slot = Slot(1);

    fn meter(cells: Option<u32>) -> Meter {
        let interval = AveragingInterval { time: Duration::from_ms(5), cells };
        let mut meter = Meter::new(Some(Metering { interval, bidirectional: false, history: true }));
        assert_eq!((meter.connect(), meter.connect()), (A, B));
        meter
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn what_a_cell_touches_is_in_the_first_cache_line() {
        assert!(core::mem::offset_of!(Meter, start) <= 64);
    }

    #[test]
    fn an_interval_counts_cells_and_connections_and_the_next_starts_at_nothing() {
        let mut meter = meter(None);
        for slot in [A, A, B, A] {
            meter.on_abr_cell(ms(1), slot);
        }
        meter.on_guaranteed_cells(1);
        assert_eq!((meter.cells(A), meter.cells(B), meter.active()), (3, 1, 2));
        let load = meter.end_interval(Cells(7));
        let expected = IntervalLoad {
            start: Time::ZERO,
            end: ms(5),
            abr_cells: 4,
            guaranteed_cells: 1,
            sent: Sent::default(),
            active: 2,
            abr_queue: Cells(7),
        };
        assert_eq!(load, expected);
        assert_eq!((load.abr_rate(), load.guaranteed_rate()), (CellRate::new(800.0), CellRate::new(200.0)));
        assert_eq!((meter.abr_cells(), meter.guaranteed_cells(), meter.active()), (0, 0, 0));
        assert_eq!((meter.cells(A), meter.previous_cells(A), meter.previous_cells(B)), (0, 3, 1));
        assert_eq!((meter.start(), meter.deadline()), (ms(5), ms(10)));
    }

    #[test]
    fn the_last_interval_stays_readable_after_the_first_cell_of_this_one() {
        let mut meter = meter(None);
        meter.on_abr_cell(ms(1), A);
        meter.on_abr_cell(ms(1), A);
        meter.end_interval(Cells::ZERO);
        meter.on_abr_cell(ms(6), A);
        assert_eq!((meter.cells(A), meter.previous_cells(A)), (1, 2));
        assert_eq!(meter.previous_rate(A), CellRate::new(400.0));
        meter.end_interval(Cells::ZERO);
        meter.end_interval(Cells::ZERO);
        assert_eq!((meter.cells(A), meter.previous_cells(A)), (0, 0));
        meter.on_abr_cell(ms(16), A);
        assert_eq!((meter.cells(A), meter.previous_cells(A)), (1, 0));
    }

    #[test]
    fn the_cell_that_completes_the_count_ends_the_interval_at_its_own_time() {
        let mut meter = meter(Some(3));
        meter.on_abr_cell(ms(1), A);
        meter.on_abr_cell(ms(2), A);
        assert_eq!(meter.deadline(), ms(5));
        meter.on_abr_cell(ms(3), B);
        assert_eq!(meter.deadline(), ms(3));
        assert_eq!(meter.end_interval(Cells::ZERO).length(), Duration::from_ms(3));
        assert_eq!(meter.deadline(), ms(8));
    }

    #[test]
    fn quiet_cells_are_counted_as_others_are_and_stop_before_anything_else_happens() {
        let (mut quietly, mut plainly) = (meter(Some(4)), meter(Some(4)));
        assert!(!quietly.quiet().is_quiet(A), "not active yet");
        quietly.on_abr_cell(ms(1), A);
        let mut quiet = quietly.quiet();
        assert!(quiet.is_quiet(A) && !quiet.is_quiet(B));
        assert_eq!(quiet.until, ms(5));
        quiet.count(A, 1);
        assert!(quiet.count_one(A) && !quiet.count_one(B));
        quiet.left -= 1;
        assert!(!quiet.is_quiet(A), "the fourth cell ends the interval");
        quiet.close(1);
        (0..3).for_each(|_| plainly.on_abr_cell(ms(1), A));
        for meter in [&mut quietly, &mut plainly] {
            assert_eq!((meter.abr_cells(), meter.cells(A), meter.deadline()), (3, 3, ms(5)));
            meter.on_abr_cell(ms(3), A);
            assert_eq!(meter.deadline(), ms(3));
            assert_eq!(meter.quiet().until, ms(3));
        }
    }

    #[test]
    fn an_interval_whose_cells_all_came_at_its_start_goes_on_until_a_later_one() {
        let mut meter = meter(Some(2));
        for _ in 0..3 {
            meter.on_abr_cell(Time::ZERO, A);
        }
        assert_eq!(meter.deadline(), ms(5));
        meter.on_abr_cell(Time::from_ps(1), A);
        assert_eq!(meter.deadline(), Time::from_ps(1));
    }

    #[test]
    fn a_connection_joins_when_the_last_interval_did_not_see_it() {
        let mut meter = meter(None);
        meter.on_abr_cell(ms(1), B);
        meter.on_abr_cell(ms(1), A);
        assert_eq!(meter.joined(), [B, A]);
        meter.end_interval(Cells::ZERO);
        meter.on_abr_cell(ms(6), A);
        assert_eq!(meter.joined(), []);
        meter.end_interval(Cells::ZERO);
        meter.on_abr_cell(ms(11), A);
        meter.on_abr_cell(ms(11), B);
        assert_eq!(meter.joined(), [B]);
        assert_eq!((meter.last_active(A), meter.last_active(B)), (Some(4), Some(4)));
    }

    #[test]
    fn with_bidirectional_counting_a_brm_makes_its_connection_active_and_counts_no_cell() {
        for (bidirectional, active) in [(true, 2), (false, 1)] {
            let interval = AveragingInterval::of_time(Duration::from_ms(5));
            let mut meter = Meter::new(Some(Metering { interval, bidirectional, history: false }));
            assert_eq!((meter.connect(), meter.connect()), (A, B));
            meter.on_backward_rm(A);
            meter.on_backward_rm(A);
            assert_eq!(meter.last_active(A), bidirectional.then_some(Meter::FIRST_INTERVAL));
            meter.on_abr_cell(ms(1), A);
            meter.on_backward_rm(B);
            assert_eq!(
                (meter.active(), meter.abr_cells(), meter.cells(A), meter.cells(B)),
                (active, 1, 1, 0)
            );
        }
    }

    #[test]
    fn without_metering_there_is_no_deadline() {
        let mut meter = Meter::new(None);
        let slot = meter.connect();
        meter.on_abr_cell(ms(1), slot);
        assert_eq!((meter.deadline(), meter.previous_rate(slot)), (Time::NEVER, CellRate::ZERO));
    }

    #[test]
    fn skipping_ends_at_the_last_boundary_that_is_not_after_now() {
        for (now, start, interval) in
            [(ms(4), ms(0), 2), (ms(5), ms(5), 3), (ms(9), ms(5), 3), (ms(500), ms(500), 102)]
        {
            let mut meter = meter(None);
            meter.skip_idle_intervals(now);
            assert_eq!((meter.start(), meter.interval()), (start, interval), "{now}");
            assert_eq!(meter.deadline(), start + Duration::from_ms(5));
        }
    }

    #[test]
    fn an_interval_of_no_time_or_no_cells_is_refused() {
        let refused = |interval: AveragingInterval| interval.check().map_err(|error| error.name);
        assert_eq!(refused(AveragingInterval::of_time(Duration::ZERO)), Err("interval"));
        assert_eq!(refused(AveragingInterval::of_time(Duration::from_ps(1))), Ok(()));
        assert_eq!(
            refused(AveragingInterval::of_time_or_cells(Duration::from_ms(1), 0)),
            Err("interval_cells")
        );
        assert_eq!(refused(AveragingInterval::of_time_or_cells(Duration::from_ms(1), 1)), Ok(()));
    }
}
