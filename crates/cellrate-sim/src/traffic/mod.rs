//! What a sending end has to send, pulled cell by cell: a [`Supply`] is asked when, from some instant on, a data cell
//! waits, and is told when one has left. No event is spent on a cell's arrival at its own source.

mod constant;
mod greedy;
mod limited;
mod on_off;
mod timed;

use cellrate_proto::Time;
use cellrate_scenario::Traffic;

use crate::random::Random;
use constant::Constant;
use greedy::Greedy;
use limited::Limited;
use on_off::OnOff;
use timed::Timed;

/// The data that one direction of a connection has to send.
#[derive(Clone, Debug)]
pub enum Supply {
    /// None, ever.
    Nothing,
    /// Always more, inside windows.
    Greedy(Greedy),
    /// As much as a limit in time allows, without backlog.
    Limited(Limited),
    /// A cell at a time, evenly.
    Constant(Constant),
    /// Evenly while on, nothing while off.
    OnOff(Box<OnOff>),
    /// A list.
    Timed(Timed),
}

impl Supply {
    /// What `traffic` describes; `random` is the stream of this direction.
    pub fn new(traffic: Option<&Traffic>, random: Random) -> Supply {
        match traffic {
            None => Supply::Nothing,
            Some(Traffic::Greedy { windows }) => Supply::Greedy(Greedy::new(windows)),
            Some(Traffic::Limited { steps }) => Supply::Limited(Limited::new(steps)),
            Some(&Traffic::Constant { rate, start, end }) => {
                Supply::Constant(Constant::new(rate, start, end))
            }
            Some(&Traffic::OnOff { rate, on, off, start, end }) => {
                Supply::OnOff(Box::new(OnOff::new(rate, on, off, start, end, random)))
            }
            Some(Traffic::Timed { cells }) => Supply::Timed(Timed::new(cells)),
        }
    }

    /// The first instant, not before `from`, at which a data cell waits; [`Time::NEVER`] when there is none. `from`
    /// never falls from one call to the next, except that it may repeat an instant after the last [`Supply::take`].
    #[inline(always)]
    pub fn available_from(&self, from: Time) -> Time {
        match self {
            Supply::Greedy(greedy) => greedy.available_from(from),
            other => other.available_later(from),
        }
    }

    #[inline(never)]
    fn available_later(&self, from: Time) -> Time {
        match self {
            Supply::Greedy(greedy) => greedy.available_from(from),
            Supply::Nothing => Time::NEVER,
            Supply::Limited(limited) => limited.available_from(from),
            Supply::Constant(constant) => constant.next().max(from),
            Supply::OnOff(on_off) => on_off.next().max(from),
            Supply::Timed(timed) => timed.next().max(from),
        }
    }

    /// The waiting cell leaves at `now`.
    #[inline(always)]
    pub fn take(&mut self, now: Time) {
        match self {
            Supply::Greedy(greedy) => greedy.take(now),
            other => other.take_other(now),
        }
    }

    #[inline(never)]
    fn take_other(&mut self, now: Time) {
        match self {
            Supply::Greedy(greedy) => greedy.take(now),
            Supply::Nothing => {}
            Supply::Limited(limited) => limited.take(now),
            Supply::Constant(constant) => constant.take(),
            Supply::OnOff(on_off) => on_off.take(),
            Supply::Timed(timed) => timed.take(),
        }
    }

    /// Data cells that have arrived by `now` and wait [cells]; `None` for a supply without a queue (greedy, limited).
    pub fn waiting(&self, now: Time) -> Option<u64> {
        match self {
            Supply::Nothing => Some(0),
            Supply::Greedy(_) | Supply::Limited(_) => None,
            Supply::Constant(constant) => Some(constant.waiting(now)),
            Supply::OnOff(on_off) => Some(on_off.waiting(now)),
            Supply::Timed(timed) => Some(timed.waiting(now)),
        }
    }
}
