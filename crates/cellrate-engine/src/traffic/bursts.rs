//! Traffic that is not built in: bursts, one after the other, as its caller says.
//!
//! Who says what comes is asked when the last cell of what it said before has come, and told the instant, the ACR then
//! and how many cells wait then. It is asked late, when someone wants to know; but what it is told is of its instant,
//! not of when it was asked, so that it does not depend on who asks when. Where the same instant has the end of a burst
//! and a change of ACR or the departure of a cell, the burst comes first.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;

use cellrate_proto::{CellRate, Cells, Duration, Time};

/// Says what an application sends.
pub trait TrafficSource {
    /// The next burst. It is asked at 0, and from then on at the instant `now` at which the last cell of the burst
    /// before comes; ACR is `acr` then, and `queue` cells wait. `None`: there is no more.
    ///
    /// All bursts but the first begin after `now`: what is said to begin sooner begins 1 ps after it.
    fn next(&mut self, now: Time, acr: CellRate, queue: Cells) -> Option<Burst>;
}

/// Cells that an application hands over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// When the first one comes.
    pub at: Time,
    /// How many [at least 1; of none there is one].
    pub cells: u32,
    /// From each to the next; zero where all come at once.
    pub spacing: Duration,
}

/// Bursts at work.
pub struct Bursts {
    /// State that moves on whenever it is read, however late.
    known: RefCell<Known>,
    acr: CellRate,
}

struct Known {
    /// `None` where there is no more.
    source: Option<Box<dyn TrafficSource + Send>>,
    /// The rest of each burst; `at` is when the next cell of it comes, or came. Only of the last one some may still
    /// have to come.
    bursts: VecDeque<Burst>,
    /// Cells left in all of them.
    cells: u64,
    /// When the last cell of the last one comes.
    last: Time,
}

impl fmt::Debug for Bursts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known.borrow();
        f.debug_struct("Bursts")
            .field("bursts", &known.bursts)
            .field("acr", &self.acr)
            .finish_non_exhaustive()
    }
}

impl Bursts {
    /// Bursts of the traffic `source`; ACR is `acr` at first.
    pub fn new(mut source: Box<dyn TrafficSource + Send>, acr: CellRate) -> Bursts {
        let first = source.next(Time::ZERO, acr, Cells::ZERO);
        let mut known = Known { source: Some(source), bursts: VecDeque::new(), cells: 0, last: Time::ZERO };
        known.put(first, Time::ZERO);
        Bursts { known: RefCell::new(known), acr }
    }

    /// From `now` on ACR is `acr`. All cells that left before have been [taken](Bursts::take).
    pub fn on_acr(&mut self, now: Time, acr: CellRate) {
        self.known.get_mut().ask_until(now, self.acr);
        self.acr = acr;
    }

    /// When the next cell comes, or came.
    pub fn next(&self) -> Time {
        self.known.borrow().bursts.front().map_or(Time::NEVER, |burst| burst.at)
    }

    /// The cell that came first leaves at `now`.
    pub fn take(&mut self, now: Time) {
        let known = self.known.get_mut();
        known.ask_until(now, self.acr);
        let Some(burst) = known.bursts.front_mut() else {
            unreachable!("a cell is taken only when one waits");
        };
        known.cells -= 1;
        burst.cells -= 1;
        burst.at = burst.at.saturating_add(burst.spacing);
        if burst.cells == 0 {
            known.bursts.pop_front();
        }
    }

    /// Cells that have come by `now` and wait \[cells\]. All that left before have been [taken](Bursts::take).
    pub fn waiting(&self, now: Time) -> u64 {
        let mut known = self.known.borrow_mut();
        known.ask_until(now, self.acr);
        let to_come = known.bursts.back().map_or(0, |burst| burst.cells_after(now));
        known.cells - to_come
    }
}

impl Burst {
    /// How many of its cells come after `now`.
    fn cells_after(&self, now: Time) -> u64 {
        let cells = u64::from(self.cells);
        if now < self.at {
            return cells;
        }
        match self.spacing {
            Duration::ZERO => 0,
            spacing => cells - cells.min(1 + now.since(self.at).as_ps() / spacing.as_ps()),
        }
    }

    /// When its last cell comes.
    fn last(&self) -> Time {
        self.at.saturating_add(self.spacing.saturating_mul(u64::from(self.cells - 1)))
    }
}

impl Known {
    /// Asks the source until every burst up to `now`, `now` included, is known, and one more.
    fn ask_until(&mut self, now: Time, acr: CellRate) {
        while self.last <= now
            && let Some(source) = &mut self.source
        {
            let at = self.last;
            let next = source.next(at, acr, Cells(self.cells));
            self.put(next, at.saturating_add(Duration::from_ps(1)));
        }
    }

    /// The source said that `burst` comes next, not before `earliest`.
    fn put(&mut self, burst: Option<Burst>, earliest: Time) {
        let Some(burst) = burst.filter(|burst| burst.at < Time::NEVER) else {
            self.source = None;
            return;
        };
        let burst = Burst { at: burst.at.max(earliest), cells: burst.cells.max(1), ..burst };
        self.cells += u64::from(burst.cells);
        self.last = burst.last();
        self.bursts.push_back(burst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Now \[ps\], ACR, queue.
    type Asked = Arc<Mutex<Vec<(u64, f64, u64)>>>;

    /// Says what is in a list, and notes what it is told.
    struct Listed(Vec<Burst>, Asked);

    impl TrafficSource for Listed {
        fn next(&mut self, now: Time, acr: CellRate, queue: Cells) -> Option<Burst> {
            self.1.lock().unwrap().push((now.as_ps(), acr.as_cells_per_s(), queue.0));
            if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
        }
    }

    fn burst(at: u64, cells: u32, spacing: u64) -> Burst {
        Burst { at: Time::from_ps(at), cells, spacing: Duration::from_ps(spacing) }
    }

    fn bursts(list: &[Burst]) -> (Bursts, Asked) {
        let asked = Asked::default();
        (Bursts::new(Box::new(Listed(list.to_vec(), Arc::clone(&asked))), CellRate::new(7.0)), asked)
    }

    fn asked(asked: &Asked) -> Vec<(u64, f64, u64)> {
        std::mem::take(&mut *asked.lock().unwrap())
    }

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn cells_come_as_they_were_said_to_and_then_no_more() {
        let (mut bursts, _) = bursts(&[burst(10, 2, 0), burst(20, 3, 5)]);
        for come in [10, 10, 20, 25, 30] {
            assert_eq!(bursts.next(), at(come));
            bursts.take(at(come));
        }
        assert_eq!(bursts.next(), Time::NEVER);
    }

    #[test]
    fn cells_that_have_come_wait() {
        let (mut bursts, _) = bursts(&[burst(10, 2, 0), burst(20, 3, 5), burst(40, 1, 0)]);
        let waiting = |bursts: &Bursts, times: &[u64]| -> Vec<u64> {
            times.iter().map(|&now| bursts.waiting(at(now))).collect()
        };
        assert_eq!(waiting(&bursts, &[9, 10, 19, 20, 24, 25, 30, 39]), [0, 2, 2, 3, 3, 4, 5, 5]);
        (0..3).for_each(|_| bursts.take(at(39)));
        assert_eq!(waiting(&bursts, &[39, 40, 1000]), [2, 3, 3]);
        assert_eq!(bursts.next(), at(25), "it came then");
    }

    #[test]
    fn a_source_is_told_of_its_instant_whenever_it_is_asked() {
        let list = [burst(10, 2, 0), burst(20, 3, 5), burst(40, 1, 0), burst(50, 1, 0)];
        let expected = [(0, 7.0, 0), (10, 7.0, 2), (30, 8.0, 4), (40, 8.0, 5), (50, 9.0, 5)];
        // All at once in the end, or as time passes: a cell leaves at 15, another at 45, ACR changes at 20 and 45.
        for looks in [vec![], vec![5, 10, 12, 20, 29, 30, 31, 44, 60]] {
            let (mut bursts, told) = bursts(&list);
            let mut look = looks.into_iter().peekable();
            let mut happens = |bursts: &mut Bursts, now: u64, what: &dyn Fn(&mut Bursts)| {
                while let Some(looks) = look.next_if(|&looks| looks <= now) {
                    bursts.waiting(at(looks));
                }
                what(bursts);
            };
            happens(&mut bursts, 15, &|bursts| bursts.take(at(15)));
            happens(&mut bursts, 20, &|bursts| bursts.on_acr(at(20), CellRate::new(8.0)));
            happens(&mut bursts, 45, &|bursts| bursts.take(at(45)));
            happens(&mut bursts, 45, &|bursts| bursts.on_acr(at(45), CellRate::new(9.0)));
            happens(&mut bursts, 60, &|bursts| assert_eq!(bursts.waiting(at(60)), 5));
            assert_eq!(asked(&told), expected);
        }
    }

    #[test]
    fn at_one_instant_a_burst_comes_before_acr_changes_and_cells_leave() {
        let (mut bursts, told) = bursts(&[burst(10, 2, 0), burst(20, 1, 0), burst(30, 1, 0)]);
        bursts.on_acr(at(10), CellRate::new(8.0));
        bursts.take(at(20));
        assert_eq!(asked(&told), [(0, 7.0, 0), (10, 7.0, 2), (20, 8.0, 3)]);
    }

    #[test]
    fn who_says_that_a_burst_begins_in_the_past_does_not_stop_the_clock() {
        let (mut bursts, _) = bursts(&[burst(0, 0, 0), burst(0, 1, 0), burst(5, 1, 0)]);
        for come in [0, 1, 5] {
            assert_eq!((bursts.next(), bursts.waiting(at(come))), (at(come), 1));
            bursts.take(at(come));
        }
    }
}
