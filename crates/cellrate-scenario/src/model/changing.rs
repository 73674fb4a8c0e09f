//! Links whose rate, delay or loss changes in time, step by step.

use std::iter;

use cellrate_proto::declaration::words;
use cellrate_proto::{BitRate, Duration, Time};

use crate::model::{Link, Scenario};

/// State of a link from an instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkStep {
    /// The instant. What happens at it finds the link as it is from then on.
    pub at: Time,
    /// State of its line out of each end.
    pub lines: [LineState; 2],
}

/// State of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineState {
    /// Line rate, for each bit that leaves from then on. At rate zero none leaves.
    pub rate: BitRate,
    /// One-way propagation delay, of each cell whose transmission ends from then on.
    pub delay: Duration,
    /// Probability that such a cell is lost on the line [0 to 1].
    pub cell_loss: f64,
    /// Fate of the cells that are on the line.
    pub in_flight: InFlight,
}

words! {
    /// Fate of the cells that are on a line when it changes.
    #[derive(Default)]
    pub enum InFlight {
        /// Cells arrive when they would have, and those behind them come no closer than they left (default).
        #[default]
        Kept = "kept",
        /// Cells are lost, and those behind them need not wait for them.
        Lost = "lost",
    }
}

impl Link {
    /// Whether anything about the link changes in time.
    pub fn is_changing(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Its line out of either end as it begins.
    pub fn first_state(&self) -> LineState {
        let (rate, delay, cell_loss) = (self.rate, self.delay, self.line.loss);
        LineState { rate, delay, cell_loss, in_flight: InFlight::Kept }
    }

    /// All states that its lines come to have after that of the beginning.
    fn later(&self) -> impl Iterator<Item = LineState> {
        self.changes.iter().flat_map(|step| step.lines)
    }

    /// Changes of the line out of an end, one for each of the link's.
    pub fn changes_of(
        &self,
        end: u8,
    ) -> impl DoubleEndedIterator<Item = (Time, LineState)> + ExactSizeIterator {
        self.changes.iter().map(move |step| (step.at, step.lines[usize::from(end)]))
    }

    /// Whether its rate changes, either way.
    pub fn changes_rate(&self) -> bool {
        self.later().any(|state| state.rate != self.rate)
    }

    /// The least of its rates: what can be promised of it. Zero where it stops.
    pub fn slowest_rate(&self) -> BitRate {
        self.later().map(|state| state.rate).fold(self.rate, Ord::min)
    }

    /// The longest time that a cell takes on it.
    pub fn longest_cell_time(&self) -> Duration {
        let rates = iter::once(self.rate).chain(self.later().map(|state| state.rate));
        let moving = rates.filter(|&rate| rate != BitRate::default());
        moving.map(BitRate::cell_time).max().unwrap_or(Duration::FOREVER)
    }

    /// The largest of its rates.
    pub fn fastest_rate(&self) -> BitRate {
        self.later().map(|state| state.rate).fold(self.rate, Ord::max)
    }

    /// How long a cell may wait at most before the line out of an end because it is slower for a while than at its
    /// fastest, if all that comes fills the fastest line: a wait that is over as the line gets faster, so that cells
    /// come out closer than they came in. A slow line at the end of the run does not count.
    pub fn longest_slack(&self, end: u8) -> Duration {
        let first = (Time::ZERO, self.first_state());
        let states: Vec<(Time, LineState)> = iter::once(first).chain(self.changes_of(end)).collect();
        let fastest = states.iter().map(|(_, state)| state.rate.as_bps()).max().unwrap_or_default() as f64;
        let lost = |pair: &[(Time, LineState)]| {
            let span = pair[1].0.since(pair[0].0).as_ps() as f64;
            span * (1.0 - pair[0].1.rate.as_bps() as f64 / fastest)
        };
        Duration::from_ps(states.windows(2).map(lost).sum::<f64>().ceil() as u64)
    }

    /// The least of its delays.
    pub fn shortest_delay(&self) -> Duration {
        self.later().map(|state| state.delay).fold(self.delay, Ord::min)
    }

    /// The largest of its delays.
    pub fn longest_delay(&self) -> Duration {
        self.later().map(|state| state.delay).fold(self.delay, Ord::max)
    }

    /// The rate of the line out of an end at `at`.
    pub fn rate_at(&self, end: u8, at: Time) -> BitRate {
        let past = self.changes.partition_point(|step| step.at <= at);
        past.checked_sub(1).map_or(self.rate, |last| self.changes[last].lines[usize::from(end)].rate)
    }

    /// The mean rate of the line out of `ends[from]` from `start` to `end` [bit/s]; that at `start` where these are the
    /// same.
    pub fn mean_rate_bps(&self, from: u8, start: Time, end: Time) -> f64 {
        if self.changes.is_empty() || end <= start {
            return self.rate_at(from, start).as_bps() as f64;
        }
        let inside = self.changes_of(from).filter(|&(at, _)| start < at && at < end);
        let (mut sum, mut since, mut rate) = (0.0, start, self.rate_at(from, start));
        for (at, state) in inside {
            sum += rate.as_bps() as f64 * at.since(since).as_secs_f64();
            (since, rate) = (at, state.rate);
        }
        (sum + rate.as_bps() as f64 * end.since(since).as_secs_f64()) / end.since(start).as_secs_f64()
    }
}

impl Scenario {
    /// Whether the rate of some link changes in time.
    pub fn changes_rates(&self) -> bool {
        self.links.iter().any(Link::changes_rate)
    }
}
