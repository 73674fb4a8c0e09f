//! What a sending end has to send, pulled cell by cell: a [`Supply`] is asked when, from some instant on, a data cell
//! waits, and is told when one has left. No event is spent on a cell's arrival at its own source.

mod constant;
mod greedy;
mod limited;
mod on_off;
mod timed;

use cellrate_proto::Time;
use cellrate_scenario::{Flow, Traffic};

use crate::random::Random;
use crate::transport::Adapter;
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
    /// Segments of TCP, data or ACKs.
    Adapter(Box<Adapter>),
}

impl Supply {
    /// What the flow `out` has to send, ACKs of the TCP of `back` included; `random` is the stream of this direction.
    pub fn new(out: &Flow, back: &Flow, random: Random) -> Supply {
        if let (Some(Traffic::Tcp(tcp)), _) | (_, Some(Traffic::Tcp(tcp))) = (&out.traffic, &back.traffic) {
            return Supply::Adapter(Box::new(Adapter::new(
                tcp.tcp.header,
                tcp.encapsulation,
                tcp.adapter_queue,
            )));
        }
        match out.traffic.as_ref() {
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
            Some(Traffic::Video(_)) => Supply::Nothing,
            Some(Traffic::Tcp(_)) => unreachable!("TCP has an adapter"),
        }
    }

    /// The first instant, not before `from`, at which a data cell waits; [`Time::NEVER`] when there is none. `from`
    /// never falls from one call to the next, except that it may repeat an instant after the last [`Supply::take`].
    #[inline(always)]
    pub fn available_from(&self, from: Time) -> Time {
        match self {
            Supply::Greedy(greedy) => greedy.available_from(from),
            Supply::Adapter(adapter) if adapter.waiting() > 0 => from,
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
            // What is in the queue came before `from`.
            Supply::Adapter(adapter) => {
                if adapter.waiting() > 0 {
                    from
                } else {
                    Time::NEVER
                }
            }
        }
    }

    /// The waiting cell leaves at `now`; whether it is the last of its PDU.
    #[inline(always)]
    pub fn take(&mut self, now: Time) -> bool {
        match self {
            Supply::Greedy(greedy) => greedy.take(now),
            Supply::Adapter(adapter) => return adapter.take(),
            other => other.take_other(now),
        }
        false
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
            Supply::Adapter(adapter) => _ = adapter.take(),
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
            Supply::Adapter(adapter) => Some(adapter.waiting()),
        }
    }

    /// The queue of PDUs, if this is one.
    pub fn adapter(&self) -> Option<&Adapter> {
        if let Supply::Adapter(adapter) = self { Some(adapter) } else { None }
    }

    /// The same, to change it.
    pub fn adapter_mut(&mut self) -> Option<&mut Adapter> {
        if let Supply::Adapter(adapter) = self { Some(adapter) } else { None }
    }
}
