//! The line over which cells come from another process: when each arrives, by the instant at which it left there.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::Link;

/// A line out of a node of another process.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    /// The least time that a cell ever takes on it.
    pub cell_time: Duration,
    /// Delays, each with the instant from which on it holds, and the time of a cell then; of the beginning first.
    steps: Vec<(Time, Duration, Duration)>,
    /// When the cell before arrived.
    last_arrival: Time,
}

impl Incoming {
    /// The line out of an end of `link`.
    pub fn of(link: &Link, end: u8) -> Incoming {
        let first = [(Time::ZERO, link.delay, link.rate.cell_time())];
        let changes = link.changes_of(end).map(|(at, line)| (at, line.delay, line.rate.cell_time()));
        let steps = first.into_iter().chain(changes).collect();
        Incoming { cell_time: link.fastest_rate().cell_time(), steps, last_arrival: Time::ZERO }
    }

    /// A line without delay, on which each cell takes so long.
    #[cfg(test)]
    pub fn constant(cell_time: Duration) -> Incoming {
        let steps = vec![(Time::ZERO, Duration::ZERO, cell_time)];
        Incoming { cell_time, steps, last_arrival: Time::ZERO }
    }

    /// When a cell arrives whose transmission ended at `departure`. Where the delay has fallen it comes no sooner than
    /// a transmission behind the cell before.
    pub fn arrival(&mut self, departure: Time) -> Time {
        let past = self.steps.partition_point(|(at, ..)| *at <= departure);
        let (_, delay, cell_time) = self.steps[past.saturating_sub(1)];
        let arrives = departure.saturating_add(delay);
        if self.steps.len() == 1 {
            return arrives;
        }
        // A line that has stopped by now sent this cell at a rate before.
        let spacing = if cell_time == Duration::FOREVER { self.cell_time } else { cell_time };
        self.last_arrival = arrives.max(self.last_arrival.saturating_add(spacing));
        self.last_arrival
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
}
