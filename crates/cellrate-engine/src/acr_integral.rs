//! ACR over time: its mean, and what it did at the end of a run.

use cellrate_proto::{CellRate, Duration, Time};

/// ACR integrated over time.
#[derive(Clone, Debug, Default)]
pub struct AcrIntegral {
    /// \[cells\]
    sum: f64,
    until: Time,
    tail: Option<Box<Tail>>,
}

/// ACR from an instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    from: Time,
    sum: f64,
    /// The lowest since then.
    pub low: CellRate,
    /// The highest since then.
    pub high: CellRate,
}

impl Tail {
    fn advance(&mut self, before: Time, now: Time, acr: CellRate) {
        if now > self.from {
            self.sum += acr.cells_in(now.since(before.max(self.from)));
            self.low = self.low.min(acr);
            self.high = self.high.max(acr);
        }
    }

    /// Time-weighted mean up to `end`.
    pub fn mean(&self, end: Time) -> CellRate {
        CellRate::new(self.sum / end.since(self.from).as_secs_f64())
    }
}

impl AcrIntegral {
    /// The integral begins anew at `now`, to where ACR has been `acr` since the last call. What is kept apart goes on.
    pub fn restart(&mut self, now: Time, acr: CellRate) {
        self.advance(now, acr);
        self.sum = 0.0;
    }

    /// Has what ACR does from `from` on kept apart.
    pub fn watch(&mut self, from: Time) {
        let (low, high) = (CellRate::new(f64::MAX), CellRate::ZERO);
        self.tail = Some(Box::new(Tail { from, sum: 0.0, low, high }));
    }

    /// ACR was `acr` since the last call.
    #[inline]
    pub fn advance(&mut self, now: Time, acr: CellRate) {
        self.sum += acr.cells_in(now.since(self.until));
        if let Some(tail) = &mut self.tail {
            tail.advance(self.until, now, acr);
        }
        self.until = now;
    }

    /// How far it has got.
    #[inline]
    pub fn until(&self) -> Time {
        self.until
    }

    /// The integral up to `end`, if ACR is `acr` since the last call \[cells\].
    pub fn cells(&self, end: Time, acr: CellRate) -> f64 {
        self.sum + acr.cells_in(end.since(self.until))
    }

    /// Time-weighted mean up to `end`, over `span`, if ACR is `acr` since the last call.
    pub fn mean(&self, end: Time, acr: CellRate, span: Duration) -> CellRate {
        CellRate::new((self.sum + acr.cells_in(end.since(self.until))) / span.as_secs_f64())
    }

    /// The tail kept apart, up to `end`, if ACR is `acr` since the last call; `None` unless it is watched.
    pub fn tail(&self, end: Time, acr: CellRate) -> Option<Tail> {
        let mut tail = **self.tail.as_ref()?;
        tail.advance(self.until, end, acr);
        Some(tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rate_counts_for_as_long_as_it_held() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let mut integral = AcrIntegral::default();
        integral.restart(at(10), CellRate::new(7_000.0));
        integral.advance(at(20), CellRate::new(1_000.0));
        // 10 ms of 1000 and 30 ms of 200 cells/s are 16 cells in 40 ms.
        let mean = integral.mean(at(50), CellRate::new(200.0), Duration::from_ms(40));
        assert!((mean.ratio(CellRate::new(400.0)) - 1.0).abs() < 1e-12, "{mean:?}");
        assert_eq!(integral.until(), at(20));
    }

    #[test]
    fn the_tail_knows_what_acr_was_from_an_instant_on() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let mut integral = AcrIntegral::default();
        integral.watch(at(15));
        integral.advance(at(10), CellRate::new(5_000.0));
        // Windows begin before the tail and within it, and nothing of it is lost.
        integral.restart(at(12), CellRate::new(1_000.0));
        integral.restart(at(17), CellRate::new(1_000.0));
        integral.advance(at(20), CellRate::new(1_000.0));
        // 5 ms of 1000 and 15 ms of 200 cells/s: 8 cells in 20 ms.
        let tail = integral.tail(at(35), CellRate::new(200.0)).unwrap();
        assert_eq!((tail.low, tail.high), (CellRate::new(200.0), CellRate::new(1_000.0)));
        assert!((tail.mean(at(35)).ratio(CellRate::new(400.0)) - 1.0).abs() < 1e-12, "{tail:?}");
        assert_eq!(AcrIntegral::default().tail(at(35), CellRate::ZERO), None);
    }
}
