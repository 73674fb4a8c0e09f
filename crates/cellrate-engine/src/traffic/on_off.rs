//! On and off by turns, each for a fixed or an exponentially distributed time; cells at a constant rate while on, the
//! first at the very start of the period.

use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::Period;

use super::constant::{cells_until, last_before, run_of};
use crate::random::Random;

/// On/off traffic at work.
#[derive(Clone, Debug)]
pub struct OnOff {
    next: Time,
    on_end: Time,
    end: Time,
    spacing: Duration,
    on: Period,
    off: Period,
    random: Random,
}

impl OnOff {
    /// Cells at `rate` in periods of `on`, with `off` between them, from `start` on; none at or after `end`.
    pub fn new(rate: CellRate, on: Period, off: Period, start: Time, end: Time, random: Random) -> OnOff {
        let mut on_off =
            OnOff { next: Time::NEVER, on_end: start, end, spacing: rate.interval(), on, off, random };
        on_off.begin(start);
        on_off
    }

    /// When the next cell comes; [`Time::NEVER`] after the last.
    pub fn next(&self) -> Time {
        self.next
    }

    /// The cell that came first has left.
    pub fn take(&mut self) {
        self.next = self.next.saturating_add(self.spacing);
        if self.next >= self.on_end {
            let off = self.draw(self.off);
            self.begin(self.on_end.saturating_add(off));
        }
    }

    /// How many cells wait at `at`, and will at each `spacing` after that, as far as they come in one period. Zero
    /// before the next one comes.
    pub fn run(&self, at: Time, spacing: Duration) -> u32 {
        run_of(self.next, self.on_end, self.spacing, at, spacing)
    }

    /// `count` cells of a [run](OnOff::run) have left.
    pub fn take_run(&mut self, count: u32) {
        self.next += self.spacing * u64::from(count - 1);
        self.take();
    }

    /// Cells that have come by `now` and wait \[cells\].
    pub fn waiting(&self, now: Time) -> u64 {
        // Looks ahead on a copy: the periods to come are drawn from a copy of the stream and drawn again later.
        let mut ahead = self.clone();
        let mut waiting = 0;
        while ahead.next <= now {
            let last = now.min(last_before(ahead.on_end));
            let cells = cells_until(ahead.next, last, ahead.spacing);
            waiting += cells;
            ahead.next += ahead.spacing * (cells - 1);
            ahead.take();
        }
        waiting
    }

    /// An on period begins at `start`, unless that is past the end.
    fn begin(&mut self, start: Time) {
        let mut start = start;
        loop {
            if start >= self.end || self.spacing == Duration::FOREVER {
                self.next = Time::NEVER;
                return;
            }
            let on = self.draw(self.on);
            self.on_end = start.saturating_add(on).min(self.end);
            if self.on_end > start {
                self.next = start;
                return;
            }
            let off = self.draw(self.off);
            start = start.saturating_add(off.max(Duration::from_ps(1)));
        }
    }

    fn draw(&mut self, period: Period) -> Duration {
        match period {
            Period::Fixed(span) => span,
            Period::Exponential(mean) => self.random.exponential(mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Owner, Stream};

    fn fixed(on: u64, off: u64, start: u64, end: u64) -> OnOff {
        let period = |ps| Period::Fixed(Duration::from_ps(ps));
        let random = Random::new(1, Stream::Traffic(Owner::named("vc")));
        OnOff::new(
            CellRate::new(1e10),
            period(on),
            period(off),
            Time::from_ps(start),
            Time::from_ps(end),
            random,
        )
    }

    fn times(mut on_off: OnOff, count: usize) -> Vec<u64> {
        let mut next = || {
            let time = on_off.next();
            on_off.take();
            time.as_ps()
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn fixed_periods_alternate() {
        // On 250 ps (cells at 0, 100, 200 of it), off 150 ps: a period of 400 ps from 50 ps on.
        assert_eq!(times(fixed(250, 150, 50, u64::MAX), 7), [50, 150, 250, 450, 550, 650, 850]);
    }

    #[test]
    fn a_cell_at_the_very_end_of_an_on_period_is_not_sent() {
        assert_eq!(times(fixed(200, 100, 0, u64::MAX), 4), [0, 100, 300, 400]);
    }

    #[test]
    fn a_run_stays_within_its_period() {
        // Cells at 50, 150 and 250, and from 450 on.
        let at = |ps| Time::from_ps(ps);
        let every = Duration::from_ps(100);
        let mut on_off = fixed(250, 150, 50, u64::MAX);
        assert_eq!(on_off.run(at(49), every), 0);
        assert_eq!([50, 300, 5_000].map(|ps| on_off.run(at(ps), every)), [3; 3]);
        assert_eq!(on_off.run(at(120), Duration::from_ps(30)), 2, "at 120 and 150, and not at 180");
        on_off.take_run(2);
        assert_eq!(on_off.next(), at(250));
        on_off.take_run(1);
        assert_eq!(times(on_off, 4), [450, 550, 650, 850]);
    }

    #[test]
    fn nothing_comes_at_or_after_the_end() {
        let mut on_off = fixed(200, 100, 0, 301);
        for expected in [0, 100, 300] {
            assert_eq!(on_off.next(), Time::from_ps(expected));
            on_off.take();
        }
        assert_eq!(on_off.next(), Time::NEVER);
    }

    #[test]
    fn what_has_come_waits_over_periods() {
        let on_off = fixed(250, 150, 50, u64::MAX);
        for (now, expected) in [(49, 0), (50, 1), (300, 3), (449, 3), (450, 4), (851, 7)] {
            assert_eq!(on_off.waiting(Time::from_ps(now)), expected, "at {now}");
        }
    }

    #[test]
    fn exponential_periods_keep_the_duty_cycle() {
        let mean = |us| Period::Exponential(Duration::from_us(us));
        let random = Random::new(3, Stream::Traffic(Owner::named("vc1")));
        let end = Time::from_ps(1_000_000_000_000);
        let mut on_off = OnOff::new(CellRate::new(1e6), mean(20), mean(10), Time::ZERO, end, random);
        let mut cells = 0;
        while on_off.next() < end {
            cells += 1;
            on_off.take();
        }
        // 33,333 periods of mean 20 us on; ceil(on / 1 us) has mean 1 / (1 - exp(-1/20)) = 20.504 cells.
        let expected = 1e6 / 30.0 * 20.504;
        assert!((f64::from(cells) / expected - 1.0).abs() < 0.03, "{cells} against {expected}");
    }
}
