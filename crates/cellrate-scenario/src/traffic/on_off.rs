//! On and off alternately, each for a fixed or an exponentially distributed time; cells at a constant rate while on,
//! the first at the very start of the period.

use cellrate_proto::declaration::{Key, Shape, key, required};
use cellrate_proto::{CellRate, Duration, Time};

use super::arrivals::{Arrivals, Queued};
use super::constant::{cells_until, last_before, run_of};
use super::kinds::{Declared, required_rate, sends_from_start_to_end};
use super::{Draws, Generated, Traffic, TrafficKind};
use crate::keys::{END_KEY, PERIOD, POSITIVE_RATE, SHARE, SPAN, START_KEY};
use crate::text::error::Fault;
use crate::text::reading::{optional, period, start_and_end};
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};
use crate::values::ClockOffset;
use crate::values::Period;

/// On and off alternately; cells at `rate` while on; what the sender may not yet send waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOff {
    /// Cells per second while on.
    pub rate: CellRate,
    /// How long it is on each time.
    pub on: Period,
    /// How long it is off each time.
    pub off: Period,
    /// The first on period begins.
    pub start: Time,
    /// No cell at or after this.
    pub end: Time,
}

const RATE_KEY: Key = required("rate", POSITIVE_RATE, "Rate of data cells while on.");

impl Declared for OnOff {
    const SHAPE: Shape = Shape {
        name: "on-off",
        about: "On and off alternately, the first cell at the very start of each on period: one of length t has t * rate cells, rounded up. What the sender may not yet send waits.",
        keys: &[
            RATE_KEY,
            key("on", PERIOD, "duty times period", "How long it is on each time."),
            key("off", PERIOD, "the rest of period", "How long it is off each time."),
            key(
                "period",
                SPAN,
                "none: on and off",
                "Time from the beginning of one on period to the next; instead of on and off.",
            ),
            key("duty", SHARE, "none: on and off", "Share of the period that it is on, less than 1."),
            START_KEY,
            END_KEY,
        ],
    };

    const FOR_CALLS: Option<Shape> = Some(Shape {
        name: "call_on_off",
        about: "On and off alternately, beginning with on; as the traffic of this type of a vc.",
        keys: &[
            RATE_KEY,
            required("on", PERIOD, "How long it is on each time."),
            required("off", PERIOD, "How long it is off each time."),
        ],
    });

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<OnOff, Fault> {
        let (start, end) = start_and_end(table)?;
        let length = |key: &str| match optional(table, key, period)? {
            Some(period) => Ok(period),
            None => Err(check::missing(node.place, key, "its length")),
        };
        let (on, off) = match by_duty(node, table)? {
            Some(both) => both,
            None => (length("on")?, length("off")?),
        };
        Ok(OnOff { rate: required_rate(node, table)?, on, off, start, end })
    }
}

/// The times on and off that `period` and `duty` say, if they are given.
fn by_duty(node: &Node, table: &Table) -> Result<Option<(Period, Period)>, Fault> {
    let (whole, share) = (table.node("period"), table.node("duty"));
    let (whole, share) = match (whole, share) {
        (None, None) => return Ok(None),
        (Some(whole), Some(share)) => (whole, share),
        (Some(_), None) => {
            return Err(check::missing(node.place, "duty", "the share of the period that it is on"));
        }
        (None, Some(_)) => {
            return Err(check::missing(node.place, "period", "from one beginning to the next"));
        }
    };
    if let Some(other) = table.entry("on").or_else(|| table.entry("off")) {
        let message = format!("{} cannot go with period and duty, which set it", other.key);
        return Err(Fault::new(other.place, message, "Leave it out, or leave out period and duty"));
    }
    let period = quantity::span(whole)?;
    let on = Duration::from_ps((period.as_ps() as f64 * quantity::ratio(share)?).round() as u64);
    if on == Duration::ZERO || on >= period {
        let message = format!("{} of {period} leaves no time on, or none off", share.plain());
        return Err(Fault::new(
            share.place,
            message,
            "Write a share between 0 and 1; traffic of type constant is always on",
        ));
    }
    let off = Duration::from_ps(period.as_ps() - on.as_ps());
    Ok(Some((Period::Fixed(on), Period::Fixed(off))))
}

impl OnOff {
    /// Whether its periods have a tail for which there is no equivalent bandwidth.
    pub fn is_heavy_tailed(&self) -> bool {
        [self.on, self.off].iter().any(|period| matches!(period, Period::Pareto(..)))
    }

    /// Its mean rate.
    pub fn mean(&self) -> CellRate {
        CellRate::new(self.cells_while_on() / (self.on.mean() + self.off.mean()).as_secs_f64())
    }

    /// Cells of an on period, in the mean: the first comes at its very beginning, so that a part of a cell is one more.
    pub fn cells_while_on(&self) -> f64 {
        let spacing = self.rate.interval().as_secs_f64();
        match self.on {
            Period::Fixed(on) => on.div_ceil(self.rate.interval()) as f64,
            Period::Exponential(on) => -1.0 / (-spacing / on.as_secs_f64()).exp_m1(),
            Period::Pareto(on, alpha) => cells_of_pareto(on.as_secs_f64() / spacing, alpha),
        }
    }
}

/// The mean of a Pareto distributed length, rounded up to whole cell times: the sum over k of P(length > k), where
/// `mean` is that of the length in cell times.
fn cells_of_pareto(mean: f64, alpha: f64) -> f64 {
    let least = mean * (alpha - 1.0) / alpha;
    let beyond = |k: f64| (least / k).powf(alpha);
    // Terms one by one as long as they are not smooth, then the Euler-Maclaurin formula for what is left.
    let first = least.floor() + 1.0;
    let smooth = first + 10.0;
    let single: f64 = (0..10).map(|k| beyond(first + f64::from(k))).sum();
    let rest = beyond(smooth) * (smooth / (alpha - 1.0) + 0.5 + alpha / (12.0 * smooth));
    first + single + rest
}

impl TrafficKind for OnOff {
    sends_from_start_to_end!();

    fn scale(&mut self, offset: ClockOffset) {
        self.rate = offset.of_rate(self.rate);
    }

    fn mean_rate(&self) -> Option<CellRate> {
        Some(self.mean())
    }

    fn is_autonomous(&self) -> bool {
        true
    }

    fn for_call(&self, start: Time, end: Time) -> Option<Traffic> {
        Some(Traffic::OnOff(OnOff { start, end, ..*self }))
    }
}

impl Generated for OnOff {
    type Cells<D: Draws> = Queued<OnOffCells<D>>;

    fn cells<D: Draws>(&self, draws: impl FnOnce() -> D) -> Queued<OnOffCells<D>> {
        let &OnOff { rate, on, off, start, end } = self;
        let (spacing, draws) = (rate.interval(), draws());
        let mut cells = OnOffCells { next: Time::NEVER, on_end: start, end, spacing, on, off, draws };
        cells.begin(start);
        cells.into()
    }
}

/// Cells of [`OnOff`] traffic, as they come.
#[derive(Clone, Debug)]
pub struct OnOffCells<D> {
    /// When the next cell comes; [`Time::NEVER`] after the last.
    next: Time,
    on_end: Time,
    end: Time,
    spacing: Duration,
    on: Period,
    off: Period,
    draws: D,
}

impl<D: Draws> Arrivals for OnOffCells<D> {
    fn next(&self) -> Time {
        self.next
    }

    fn pass(&mut self) {
        self.next = self.next.saturating_add(self.spacing);
        if self.next >= self.on_end {
            let off = self.draws.period(self.off);
            self.begin(self.on_end.saturating_add(off));
        }
    }

    /// Period by period.
    fn pass_until(&mut self, now: Time) -> u64 {
        let mut passed = 0;
        while self.next <= now && self.next != Time::NEVER {
            let last = now.min(last_before(self.on_end));
            let cells = cells_until(self.next, last, self.spacing);
            passed += cells;
            self.next += self.spacing * (cells - 1);
            self.pass();
        }
        passed
    }

    /// As far as they come in one period.
    fn run(&self, at: Time, spacing: Duration) -> u32 {
        run_of(self.next, self.on_end, self.spacing, at, spacing)
    }

    fn pass_run(&mut self, count: u32) {
        self.next += self.spacing * u64::from(count - 1);
        self.pass();
    }
}

impl<D: Draws> OnOffCells<D> {
    /// An on period begins at `start`, unless that is past the end.
    fn begin(&mut self, start: Time) {
        let mut start = start;
        loop {
            if start >= self.end || self.spacing == Duration::FOREVER {
                self.next = Time::NEVER;
                return;
            }
            let on = self.draws.period(self.on);
            self.on_end = start.saturating_add(on).min(self.end);
            if self.on_end > start {
                self.next = start;
                return;
            }
            let off = self.draws.period(self.off);
            start = start.saturating_add(off.max(Duration::from_ps(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Generate;
    use crate::traffic::kinds::{NoDraws, SplitMix};

    fn fixed(on: u64, off: u64, start: u64, end: u64) -> Queued<OnOffCells<NoDraws>> {
        let [on, off] = [on, off].map(|ps| Period::Fixed(Duration::from_ps(ps)));
        let [start, end] = [start, end].map(Time::from_ps);
        OnOff { rate: CellRate::new(1e10), on, off, start, end }.cells(|| NoDraws)
    }

    fn times(mut on_off: Queued<OnOffCells<NoDraws>>, count: usize) -> Vec<u64> {
        let mut next = || {
            let time = on_off.available_from(Time::ZERO);
            on_off.take(time);
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
        assert_eq!(on_off.available_from(Time::ZERO), at(250));
        on_off.take_run(1);
        assert_eq!(times(on_off, 4), [450, 550, 650, 850]);
    }

    #[test]
    fn nothing_comes_at_or_after_the_end() {
        let mut on_off = fixed(200, 100, 0, 301);
        for expected in [0, 100, 300] {
            assert_eq!(on_off.available_from(Time::ZERO), Time::from_ps(expected));
            on_off.take(on_off.available_from(Time::ZERO));
        }
        assert_eq!(on_off.available_from(Time::ZERO), Time::NEVER);
    }

    #[test]
    fn what_has_come_waits_over_periods() {
        let on_off = fixed(250, 150, 50, u64::MAX);
        for (now, expected) in [(49, 0), (50, 1), (300, 3), (449, 3), (450, 4), (851, 7)] {
            assert_eq!(on_off.waiting(Time::from_ps(now)), Some(expected), "at {now}");
        }
    }

    #[test]
    fn exponential_periods_keep_the_duty_cycle() {
        let [on, off] = [20, 10].map(|us| Period::Exponential(Duration::from_us(us)));
        let end = Time::from_ps(1_000_000_000_000);
        let on_off = OnOff { rate: CellRate::new(1e6), on, off, start: Time::ZERO, end };
        let mut on_off = on_off.cells(|| SplitMix(3));
        let mut cells = 0;
        while on_off.available_from(Time::ZERO) < end {
            cells += 1;
            on_off.take(on_off.available_from(Time::ZERO));
        }
        // 33,333 periods of mean 20 us on; ceil(on / 1 us) has mean 1 / (1 - exp(-1/20)) = 20.504 cells.
        let expected = 1e6 / 30.0 * 20.504;
        assert!((f64::from(cells) / expected - 1.0).abs() < 0.03, "{cells} against {expected}");
    }
}
