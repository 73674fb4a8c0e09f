//! The line over which cells come from another process: when each arrives, by the instant at which it left there.

use cellrate_engine::line::CELL;
use cellrate_proto::{BitRate, Duration, Time};
use cellrate_scenario::Link;

/// A line out of a node of another process.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    /// The least time that a cell ever takes on it.
    pub cell_time: Duration,
    /// Delays and rates, each with the instant from which on they hold; those of the beginning first.
    steps: Vec<(Time, Duration, BitRate)>,
    /// When the cell before arrived.
    last_arrival: Time,
}

impl Incoming {
    /// The line out of an end of `link`.
    pub fn of(link: &Link, end: u8) -> Incoming {
        let first = [(Time::ZERO, link.delay, link.rate)];
        let changes = link.changes_of(end).map(|(at, line)| (at, line.delay, line.rate));
        let steps = first.into_iter().chain(changes).collect();
        Incoming { cell_time: link.fastest_rate().cell_time(), steps, last_arrival: Time::ZERO }
    }

    /// A line without delay, on which each cell takes so long.
    #[cfg(test)]
    pub fn constant(cell_time: Duration) -> Incoming {
        let steps = vec![(Time::ZERO, Duration::ZERO, BitRate::default())];
        Incoming { cell_time, steps, last_arrival: Time::ZERO }
    }

    /// When a cell arrives whose transmission ended at `departure`. Where the delay has fallen it comes a cell time at
    /// the present rate behind the cell before, or as close as it left if that is closer.
    pub fn arrival(&mut self, departure: Time) -> Time {
        let past = self.steps.partition_point(|(at, ..)| *at <= departure).max(1);
        let (_, delay, _) = self.steps[past - 1];
        let arrives = departure.saturating_add(delay);
        if self.steps.len() == 1 {
            return arrives;
        }
        // A line that has stopped by now sent this cell at a rate before.
        let rates = self.steps[..past].iter().map(|(.., rate)| *rate);
        let rate = rates.rev().find(|rate| *rate != BitRate::default()).unwrap_or_default();
        let spacing = self.transmission(past, departure).min(rate.cell_time());
        self.last_arrival = arrives.max(self.last_arrival.saturating_add(spacing));
        self.last_arrival
    }

    /// How long a cell was sent whose last bit left at `departure`, by which so many steps had come: without the time
    /// for which the line had stopped.
    fn transmission(&self, past: usize, departure: Time) -> Duration {
        let (mut left, mut until, mut sent_for) = (CELL, departure, Duration::ZERO);
        for &(at, _, rate) in self.steps[..past].iter().rev() {
            let (span, rate) = (until.since(at), u128::from(rate.as_bps()));
            let sent = rate * u128::from(span.as_ps());
            if sent >= left {
                return sent_for + Duration::from_ps(left.div_ceil(rate) as u64);
            }
            if rate > 0 {
                sent_for += span;
            }
            (left, until) = (left - sent, at);
        }
        sent_for
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_scenario::Document;

    #[test]
    fn cells_have_the_delay_at_their_departure_and_overtake_nobody() {
        let text = r#"
name = "t"
duration = "1 s"
host = [{ name = "a" }, { name = "b" }]
[[link]]
between = ["a", "b"]
rate = "42.4 Mbps"
delay = "5 ms"
changes = [{ at = "100 ms", delay = "9 ms" }, { at = "200 ms", delay = "1 ms" }, { at = "300 ms", rate = "0 bps" }]
"#;
        let scenario = Document::parse(text, "t.toml").unwrap().resolve().unwrap();
        let mut line = Incoming::of(&scenario.links[0], 0);
        let us = |us| Time::ZERO + Duration::from_us(us);
        assert_eq!(line.cell_time, Duration::from_us(10));
        let departures = [50_000, 99_999, 100_000, 199_995, 200_005, 200_015, 260_000, 300_000, 300_001];
        let arrivals = departures.map(|at| line.arrival(us(at)));
        let expected = [55_000, 104_999, 109_000, 208_995, 209_005, 209_015, 261_000, 301_000, 301_010];
        assert_eq!(arrivals, expected.map(us));
    }

    #[test]
    fn a_cell_was_sent_at_all_rates_of_its_time() {
        let text = r#"
name = "t"
duration = "1 s"
host = [{ name = "a" }, { name = "b" }]
[[link]]
between = ["a", "b"]
rate = "42.4 Mbps"
delay = "5 ms"
changes = [
    { at = "100 ms", rate = "21.2 Mbps" },
    { at = "200 ms", rate = "0 bps" },
    { at = "300 ms", rate = "84.8 Mbps" },
]
"#;
        let scenario = Document::parse(text, "t.toml").unwrap().resolve().unwrap();
        let line = Incoming::of(&scenario.links[0], 0);
        let us = |us| Time::ZERO + Duration::from_us(us);
        // 4 us at 42.4 Mb/s are 4 of 10, and 12 us at 21.2 are 6; 3 us at 84.8 are 6 of 10, and 8 us at 21.2 are 4.
        let sent_for = [(1, 99_999), (2, 100_012), (3, 200_000), (4, 300_003), (4, 300_005)]
            .map(|(past, at)| line.transmission(past, us(at)));
        assert_eq!(sent_for, [10, 16, 20, 11, 5].map(Duration::from_us));
    }
}
