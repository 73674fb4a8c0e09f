//! How much of the line is handed out: ERICA's fixed share, or one that falls as the queueing delay grows.
//!
//! ERICA+ knows one such function. The literature on queue control (Vandalore, Jain, Goyal, Fahmy: Design and Analysis
//! of Queue Control Functions for Explicit Rate Switch Schemes, 1998; arXiv cs/9809041) compares four, each with a dead
//! band from Q0 to Q1 in which f is 1. All of them are b at an empty queue, or fall from it to 1 at T0, and fall beyond
//! T1 to QDLF.

use crate::declaration::{Key, Kind, Range, Table, key, words, written};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Duration};

/// How much of the line ERICA hands out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueControl {
    /// ERICA: a fixed share of the line, less what higher categories use [above 0 to 1; default 0.9].
    TargetUtilization(f64),
    /// ERICA+: a share that falls as the queueing delay grows.
    QueueingDelay(DelayControl),
}

/// The share f(Tq) of what higher categories leave, by the queueing delay Tq. The defaults are those of paper
/// tcp-lrd-vbr: hyperbolic, no dead band, by capacity.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct DelayControl {
    /// The queueing delay aimed at.
    #[key(default = "500 us", holds(t0 > Duration::ZERO, "above 0 s"))]
    pub t0: Duration,
    /// The end of the dead band, which begins at t0: the share is 1 there. At least t0.
    #[key(default = "t0", or = t0, holds(t1 >= t0, "at least t0"))]
    pub t1: Duration,
    /// How the share falls as the queueing delay grows (docs/algorithms/erica-plus.md).
    #[key(default = "hyperbolic")]
    pub function: ControlFunction,
    /// Rate that the queueing delay divides the queue by: what higher categories leave of the line, or the line.
    #[key(default = "capacity")]
    pub drained_by: DrainedBy,
    /// Slope above t0.
    #[key(default = "1.15", range = Range::ABOVE_ONE)]
    pub a: f64,
    /// Share at an empty queue, and slope below t0.
    #[key(default = "1.05", range = Range::ABOVE_ONE)]
    pub b: f64,
    /// Queue drain limit factor: the smallest share.
    #[key(default = "0.5", range = Range::SHARE)]
    pub qdlf: f64,
}

words! {
    /// The form of f, with x = Tq / T0 and y = (Tq - T1) / T0.
    #[derive(Default)]
    pub enum ControlFunction {
        /// b / ((b - 1) x + 1) below T0, a T1 / ((a - 1) Tq + T1) beyond T1 (default; ERICA+).
        #[default]
        Hyperbolic = "hyperbolic",
        /// b below T0; beyond T1 lower by a - 1 for every T0 begun. The source leaves the number of steps open.
        Step = "step",
        /// b - (b - 1) x below T0, 1 - (a - 1) y beyond T1.
        Linear = "linear",
        /// Hyperbolic below T0; beyond T1 a hyperbola turned by half a turn, so that f begins to fall slowly, down to
        /// QDLF at T2 = (1 + a / 3) T1. The source has T2 and draws the form; the equation between them is ours.
        InverseHyperbolic = "inverse-hyperbolic",
    }
}

words! {
    /// Divisor of the queue in the queueing delay Tq.
    #[derive(Default)]
    pub enum DrainedBy {
        /// Rate that higher categories leave of the line in the interval (default: Q0 = T0 x ABR capacity in the
        /// sources).
        #[default]
        Capacity = "capacity",
        /// The rate of the line.
        Line = "line",
    }
}

impl DelayControl {
    /// ERICA+'s function: hyperbolic, no dead band, by capacity.
    pub const fn hyperbolic(t0: Duration, a: f64, b: f64, qdlf: f64) -> DelayControl {
        DelayControl { t0, t1: t0, a, b, qdlf, ..DelayControl::new() }
    }

    /// The delay of a queue at the port of a line that takes `line`, of which higher categories leave `available`.
    pub fn queueing_delay(&self, queue: Cells, available: CellRate, line: CellRate) -> Duration {
        let by = match self.drained_by {
            DrainedBy::Capacity => available,
            DrainedBy::Line => line,
        };
        // Without any capacity a queue waits for ever: the ratio is infinite and saturates.
        Duration::from_secs_f64(CellRate::new(queue.0 as f64).ratio(by))
    }

    /// f(Tq): from b at an empty queue over 1, from T0 to T1, down to QDLF.
    pub fn share(&self, queueing_delay: Duration) -> f64 {
        let DelayControl { t0, t1, a, b, qdlf, function, .. } = *self;
        if queueing_delay > t0 && queueing_delay <= t1 {
            return 1.0;
        }
        let (tq, t0_s, t1_s) = (queueing_delay.as_secs_f64(), t0.as_secs_f64(), t1.as_secs_f64());
        if queueing_delay <= t0 {
            let x = tq / t0_s;
            return match function {
                ControlFunction::Step if queueing_delay == t0 => 1.0,
                ControlFunction::Step => b,
                ControlFunction::Linear => b - (b - 1.0) * x,
                ControlFunction::Hyperbolic | ControlFunction::InverseHyperbolic => b / ((b - 1.0) * x + 1.0),
            };
        }
        let y = (tq - t1_s) / t0_s;
        let share = match function {
            ControlFunction::Step => 1.0 - (a - 1.0) * ceiling(y),
            ControlFunction::Linear => 1.0 - (a - 1.0) * y,
            ControlFunction::Hyperbolic => a / ((a - 1.0) * (tq / t1_s) + 1.0),
            ControlFunction::InverseHyperbolic => {
                let band = self.falls_over();
                // 1 at T1, QDLF at T2, where half of the way to the pole is left.
                if tq < t1_s + band {
                    2.0 - qdlf - 2.0 * (1.0 - qdlf) * band / (t1_s + 2.0 * band - tq)
                } else {
                    qdlf
                }
            }
        };
        share.max(qdlf)
    }

    /// How fast f falls at the edges of where it is 1, the steeper of both sides [1/s]: how much of the capacity the
    /// share changes by for a second of queueing delay. Infinite for steps.
    pub fn slope_at_rest(&self) -> f64 {
        let DelayControl { t0, t1, a, b, qdlf, function, .. } = *self;
        let (t0, t1) = (t0.as_secs_f64(), t1.as_secs_f64());
        let hyperbola_below = (b - 1.0) / (b * t0);
        match function {
            ControlFunction::Step => f64::INFINITY,
            ControlFunction::Linear => (a - 1.0).max(b - 1.0) / t0,
            ControlFunction::Hyperbolic => hyperbola_below.max((a - 1.0) / (a * t1)),
            ControlFunction::InverseHyperbolic => {
                hyperbola_below.max((1.0 - qdlf) / (2.0 * self.falls_over()))
            }
        }
    }

    /// T2 - T1 \[s\], over which the inverse hyperbola falls from 1 to QDLF. The parameters that table 1 of the source
    /// prints, 36, 16.5 and 6.75 for a T1 of 2, 4 and 8 T0, are those of a T2 of 26 T0: a = 3 (T2 - T1) / T1.
    fn falls_over(&self) -> f64 {
        self.a / 3.0 * self.t1.as_secs_f64()
    }
}

impl QueueControl {
    /// The key of ERICA's share.
    pub(super) const SHARE: Key =
        key("target_utilization", Kind::Ratio(Range::SHARE), "0.9", "Share of the line that is handed out.");

    /// ERICA's target utilization of 0.9 (papers abr-parameters and uili).
    pub const fn erica() -> QueueControl {
        QueueControl::TargetUtilization(written::ratio(QueueControl::SHARE.default))
    }

    /// ERICA+ as [`DelayControl::new`] has it.
    pub const fn erica_plus() -> QueueControl {
        QueueControl::QueueingDelay(DelayControl::new())
    }

    /// The share of the line at this queueing delay Tq: U, or f(Tq).
    pub fn share(&self, queueing_delay: Duration) -> f64 {
        match self {
            QueueControl::TargetUtilization(utilization) => *utilization,
            QueueControl::QueueingDelay(control) => control.share(queueing_delay),
        }
    }

    /// Says which parameter is out of its range first.
    pub fn check(&self) -> Result<(), ParameterError> {
        match self {
            QueueControl::TargetUtilization(utilization) => {
                Range::SHARE.check("target_utilization", *utilization)
            }
            QueueControl::QueueingDelay(control) => control.check(),
        }
    }
}

/// The least whole number that is not below `value`, which is above 0.
fn ceiling(value: f64) -> f64 {
    let floor = (value as u64) as f64;
    if floor < value { floor + 1.0 } else { floor }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(function: ControlFunction, t1_us: u64) -> DelayControl {
        let t1 = Duration::from_us(t1_us);
        DelayControl {
            t0: Duration::from_us(100),
            t1,
            a: 1.5,
            b: 1.25,
            qdlf: 0.5,
            function,
            ..DelayControl::new()
        }
    }

    /// f at these delays [us].
    fn shares<const N: usize>(function: ControlFunction, t1_us: u64, delays: [u64; N]) -> [f64; N] {
        delays.map(|us| control(function, t1_us).share(Duration::from_us(us)))
    }

    fn close(left: &[f64], right: &[f64]) -> bool {
        left.len() == right.len() && left.iter().zip(right).all(|(l, r)| (l - r).abs() < 1e-12)
    }

    #[test]
    fn each_function_is_one_in_the_dead_band_and_falls_to_qdlf() {
        use ControlFunction::{Hyperbolic, InverseHyperbolic, Linear, Step};
        // Dead band from 100 to 200 us, T0 = 100 us: 1.25 - 0.25/2 halfway to T0, 1 - 0.5 x 0.5 at 250 us.
        let delays = [0, 50, 100, 150, 200, 250, 300, 1000];
        assert!(close(&shares(Linear, 200, delays), &[1.25, 1.125, 1.0, 1.0, 1.0, 0.75, 0.5, 0.5]));
        assert!(close(&shares(Step, 200, delays), &[1.25, 1.25, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5]));
        // 1.25 / 1.125 at half of T0; 1.5 / (0.5 x 2 + 1) at twice T1; QDLF at (1.5 / 0.5 - 1) / 0.5 = four times T1.
        let delays = [0, 50, 100, 200, 400, 800, 900];
        assert!(close(&shares(Hyperbolic, 200, delays), &[1.25, 1.25 / 1.125, 1.0, 1.0, 0.75, 0.5, 0.5]));
        // T2 is at (1 + 1.5 / 3) x 200 = 300 us, the pole at 400 us: 3/2 - 100 / 150 at 250 us.
        let delays = [0, 50, 100, 200, 250, 300, 301];
        assert!(close(
            &shares(InverseHyperbolic, 200, delays),
            &[1.25, 1.25 / 1.125, 1.0, 1.0, 5.0 / 6.0, 0.5, 0.5]
        ));
    }

    #[test]
    fn the_inverse_hyperbola_ends_where_its_source_says() {
        // Table 1 of cs/9809041: a for T1, in T0, and T2 = 26 T0 for all of them.
        for (a, t1) in [(36.0, 2), (16.5, 4), (6.75, 8)] {
            let control = DelayControl { a, ..control(ControlFunction::InverseHyperbolic, t1 * 100) };
            let at = |us: u64| control.share(Duration::from_us(us));
            assert!(close(&[at(2_600)], &[0.5]), "{a}: {}", at(2_600));
            assert!(at(2_599) > 0.5 && at(t1 * 100 + 1) < 1.0, "{a}: {}", at(2_599));
            // It falls slowly first: half of the way takes two thirds of the delay.
            let middle = t1 * 100 + (2_600 - t1 * 100) * 2 / 3;
            assert!((at(middle) - 0.75).abs() < 1e-3, "{a}: {}", at(middle));
        }
    }

    #[test]
    fn the_slope_at_rest_is_that_of_the_function() {
        for function in
            [ControlFunction::Linear, ControlFunction::Hyperbolic, ControlFunction::InverseHyperbolic]
        {
            let control = control(function, 200);
            let at = |ps: u64| control.share(Duration::from_ps(ps));
            // 10 ns to either side of the band.
            let below = (at(99_990_000) - at(100_000_000)) / 10e-9;
            let above = (at(200_000_000) - at(200_010_000)) / 10e-9;
            let found = below.max(above);
            assert!((found / control.slope_at_rest() - 1.0).abs() < 1e-3, "{function:?}: {found}");
        }
    }

    #[test]
    fn the_delay_is_by_capacity_or_by_line() {
        let delay = |drained_by| {
            let control = DelayControl { drained_by, ..DelayControl::new() };
            control.queueing_delay(Cells(100), CellRate::new(1e5), CellRate::new(4e5))
        };
        assert_eq!(delay(DrainedBy::Capacity), Duration::from_ms(1));
        assert_eq!(delay(DrainedBy::Line), Duration::from_us(250));
        let idle = DelayControl::new().queueing_delay(Cells(1), CellRate::ZERO, CellRate::new(4e5));
        assert_eq!(DelayControl::new().share(idle), 0.5);
    }

    #[test]
    fn a_band_that_ends_before_it_begins_is_refused() {
        let wrong = QueueControl::QueueingDelay(control(ControlFunction::Linear, 99));
        assert_eq!(wrong.check().map_err(|error| error.name), Err("t1"));
        assert_eq!(QueueControl::QueueingDelay(control(ControlFunction::Linear, 100)).check(), Ok(()));
    }
}
