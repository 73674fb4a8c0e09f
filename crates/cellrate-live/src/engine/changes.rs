//! Changes of links that are asked for while the network runs, and the links as they are.
//!
//! A caller and the engine share a [`Changes`]: a short list that the engine empties at each of its wake-ups, some
//! 50 ms apart at most, and the states that it writes beside it as often as it tells of its progress.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cellrate_proto::{BitRate, Duration};
use cellrate_scenario::{LineState, LinkIndex, Scenario};

/// Most changes that wait.
const MOST: usize = 64;
/// The longest delay that a link may come to have: cells on the line take memory.
const LONGEST_DELAY: Duration = Duration::from_secs(60);
/// The fastest line, as in scenarios.
const FASTEST: BitRate = BitRate::from_bps(10_000_000_000_000);

/// A change of both lines of a link. What is `None` stays as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkChange {
    /// The link.
    pub link: LinkIndex,
    /// Line rate; zero stops it [0 to 10 Tb/s].
    pub rate: Option<BitRate>,
    /// One-way propagation delay [0 to 60 s].
    pub delay: Option<Duration>,
    /// Probability that a cell is lost on the line [0 to 1].
    pub cell_loss: Option<f64>,
}

impl LinkChange {
    /// `before` after the change.
    pub(super) fn of(&self, before: LineState) -> LineState {
        LineState {
            rate: self.rate.unwrap_or(before.rate),
            delay: self.delay.unwrap_or(before.delay),
            cell_loss: self.cell_loss.unwrap_or(before.cell_loss),
            in_flight: before.in_flight,
        }
    }
}

/// Why a change is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Nothing is given.
    Nothing,
    /// The rate is out of range.
    Rate,
    /// The delay is out of range.
    Delay,
    /// The loss is out of range.
    Loss,
    /// So many changes wait already that the engine must have stopped.
    Full,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Nothing => "nothing is given to change: rate, delay or loss",
            Refused::Rate => "the rate must be at most 10 Tbps",
            Refused::Delay => "the delay must be at most 60 s",
            Refused::Loss => "the loss must be from 0 to 1, or to 100 %",
            Refused::Full => "64 changes wait already, and the network takes none in",
        })
    }
}

/// Changes that wait for the engine, and what it says of its links.
#[derive(Debug)]
pub struct Changes {
    waiting: Mutex<Vec<LinkChange>>,
    any: AtomicBool,
    states: Mutex<Vec<LineState>>,
}

impl Changes {
    /// No changes; links are as they begin.
    pub fn new(scenario: &Scenario) -> Changes {
        let states = scenario.links.iter().map(|link| link.first_state()).collect();
        Changes { waiting: Mutex::default(), any: AtomicBool::new(false), states: Mutex::new(states) }
    }

    /// Has the engine make `change` at its next wake-up.
    ///
    /// # Errors
    /// Where a value is out of range, nothing is given, or too many wait.
    pub fn ask(&self, change: LinkChange) -> Result<(), Refused> {
        let refused = match change {
            LinkChange { rate: None, delay: None, cell_loss: None, .. } => Some(Refused::Nothing),
            LinkChange { rate: Some(rate), .. } if rate > FASTEST => Some(Refused::Rate),
            LinkChange { delay: Some(delay), .. } if delay > LONGEST_DELAY => Some(Refused::Delay),
            LinkChange { cell_loss: Some(loss), .. } if !(0.0..=1.0).contains(&loss) => Some(Refused::Loss),
            _ => None,
        };
        if let Some(refused) = refused {
            return Err(refused);
        }
        let mut waiting = locked(&self.waiting);
        if waiting.len() >= MOST {
            return Err(Refused::Full);
        }
        waiting.push(change);
        self.any.store(true, Ordering::Release);
        Ok(())
    }

    /// State of each link as the engine last said, in the order of the scenario.
    pub fn states(&self) -> Vec<LineState> {
        locked(&self.states).clone()
    }

    /// Takes what waits, in the order in which it was asked for.
    pub(super) fn take(&self) -> Vec<LinkChange> {
        if !self.any.swap(false, Ordering::Acquire) {
            return Vec::new();
        }
        std::mem::take(&mut locked(&self.waiting))
    }

    /// Notes how links are now.
    pub(super) fn publish(&self, links: impl Iterator<Item = (LinkIndex, LineState)>) {
        let mut states = locked(&self.states);
        for (link, state) in links {
            if let Some(place) = states.get_mut(link.0 as usize) {
                *place = state;
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_refused_and_so_is_what_is_too_much() {
        let changes =
            Changes { waiting: Mutex::default(), any: AtomicBool::new(false), states: Mutex::default() };
        let none = LinkChange { link: LinkIndex(0), rate: None, delay: None, cell_loss: None };
        let slow = LinkChange { rate: Some(BitRate::from_bps(1)), ..none };
        let fast = LinkChange { rate: Some(BitRate::from_bps(10_000_000_000_001)), ..none };
        let long = LinkChange { delay: Some(Duration::from_secs(61)), ..none };
        for (change, refused) in [(none, Refused::Nothing), (fast, Refused::Rate), (long, Refused::Delay)] {
            assert_eq!(changes.ask(change), Err(refused));
        }
        for loss in [-0.1, 1.1, f64::NAN] {
            let change = LinkChange { cell_loss: Some(loss), ..none };
            assert_eq!(changes.ask(change), Err(Refused::Loss));
        }
        for _ in 0..MOST {
            assert_eq!(changes.ask(slow), Ok(()));
        }
        assert_eq!(changes.ask(slow), Err(Refused::Full));
        assert_eq!(changes.take(), vec![slow; MOST]);
        assert!(changes.take().is_empty());
        assert_eq!(changes.ask(slow), Ok(()));
    }
}
