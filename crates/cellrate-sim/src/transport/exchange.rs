//! Objects that clients fetched: the fate of one, and the times of all of a kind together.

use cellrate_proto::{Duration, Time};

use cellrate_engine::histogram::Histogram;

/// An object that a client fetched, or began to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The page it belongs to, from 0 on.
    pub page: u64,
    /// Its place in the page, from 0 on.
    pub object: usize,
    /// The client's connection, from 0 on.
    pub incarnation: u32,
    /// When its turn came: a connection that has to be opened is opened now.
    pub start: Time,
    /// When the connection was open, and the request could leave; at `start` if it was before.
    pub opened: Option<Time>,
    /// When the first cell of the request had left the client's adapter, its last bit.
    pub request_cell: Option<Time>,
    /// When the first octet of the response reached the client's application.
    pub first_octet: Option<Time>,
    /// When the last did.
    pub last_octet: Option<Time>,
}

impl Exchange {
    /// From its turn to its last octet, as the application sees it.
    pub fn response_time(&self) -> Option<Duration> {
        self.last_octet.map(|last| last.since(self.start))
    }

    /// From the request's first cell to the last cell of the response, as an analyzer at the client sees them pass
    /// (paper internet-applications, section 3.3).
    pub fn cell_response_time(&self) -> Option<Duration> {
        self.last_octet.zip(self.request_cell).map(|(last, request)| last.since(request))
    }
}

/// Spans of time: mean, deviation and quantiles.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    histogram: Histogram,
    count: u64,
    /// Welford's running mean and sum of squares [s, s^2].
    mean: f64,
    squares: f64,
}

impl Spans {
    /// One more.
    pub fn record(&mut self, span: Duration) {
        self.histogram.record(span);
        self.count += 1;
        let value = span.as_secs_f64();
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean \[s\]; `None`, like all below, when there are none.
    pub fn mean_s(&self) -> Option<f64> {
        self.histogram.mean_s()
    }

    /// Their standard deviation, over `count` - 1 \[s\]; 0 of a single one.
    pub fn deviation_s(&self) -> Option<f64> {
        let less_one = self.count.checked_sub(1)?;
        Some(if less_one == 0 { 0.0 } else { (self.squares / less_one as f64).sqrt() })
    }

    /// Quantile of the times: a share of them is not above it, within 1 % \[s\].
    pub fn quantile_s(&self, share: f64) -> Option<f64> {
        self.histogram.quantile_s(share)
    }

    /// The largest \[s\].
    pub fn max_s(&self) -> Option<f64> {
        self.histogram.max_s()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_those_of_the_textbook() {
        let mut spans = Spans::default();
        assert_eq!((spans.count(), spans.mean_s(), spans.deviation_s()), (0, None, None));
        [2, 4, 4, 4, 5, 5, 7, 9].map(Duration::from_secs).iter().for_each(|&span| spans.record(span));
        // Mean 5; squares 9 + 3 * 1 + 0 + 0 + 4 + 16 = 32 over 7.
        assert_eq!(spans.mean_s(), Some(5.0));
        let deviation = spans.deviation_s().expect("eight of them");
        assert!((deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12, "{deviation}");
        assert_eq!((spans.count(), spans.max_s()), (8, Some(9.0)));
    }
}
