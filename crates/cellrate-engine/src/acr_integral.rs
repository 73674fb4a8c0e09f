//! ACR over time, for its mean.

use cellrate_proto::{CellRate, Duration, Time};

/// ACR integrated over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct AcrIntegral {
    /// [cells]
    sum: f64,
    until: Time,
}

impl AcrIntegral {
    /// Nothing so far, from `at` on.
    pub fn from(at: Time) -> AcrIntegral {
        AcrIntegral { sum: 0.0, until: at }
    }

    /// ACR was `acr` since the last call.
    #[inline]
    pub fn advance(&mut self, now: Time, acr: CellRate) {
        self.sum += acr.cells_in(now.since(self.until));
        self.until = now;
    }

    /// How far it has got.
    #[inline]
    pub fn until(&self) -> Time {
        self.until
    }

    /// Time-weighted mean up to `end`, over `span`, if ACR is `acr` since the last call.
    pub fn mean(mut self, end: Time, acr: CellRate, span: Duration) -> CellRate {
        self.advance(end, acr);
        CellRate::new(self.sum / span.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rate_counts_for_as_long_as_it_held() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let mut integral = AcrIntegral::from(at(10));
        integral.advance(at(20), CellRate::new(1_000.0));
        // 10 ms of 1000 and 30 ms of 200 cells/s are 16 cells in 40 ms.
        let mean = integral.mean(at(50), CellRate::new(200.0), Duration::from_ms(40));
        assert!((mean.ratio(CellRate::new(400.0)) - 1.0).abs() < 1e-12, "{mean:?}");
        assert_eq!(integral.until(), at(20));
    }
}
