//! Supplies of sending ends, pulled cell by cell: one is asked when, from some instant on, a data cell waits, and is
//! told when one has left. No event is spent on a cell's arrival at its own source.
//!
//! Each world has its own data cells, and its own way to take one; here is what an end asks of any supply, and the
//! supplies that both worlds have.

use cellrate_proto::{CellRate, Time};
use cellrate_scenario::traffic::{Generate, Queued};
use cellrate_scenario::{FlowIndex, Scenario, Traffic};

use crate::per_vc_queue::PerVcQueue;
use crate::plugins::{MissingPlugin, Plugins};
use crate::random::Owner;
use crate::traffic::{Bursts, Generator, Video, generator};

/// The data that one direction of a connection has to send, as its end sees them.
pub trait CellSupply {
    /// The first instant, not before `from`, at which a data cell waits; [`Time::NEVER`] when there is none. `from`
    /// never falls from one call to the next, except that it may repeat an instant after a cell was taken.
    fn available_from(&self, from: Time) -> Time;

    /// Data cells that have come by `now` and wait \[cells\]; `None` for a supply without a queue (greedy, limited).
    fn waiting(&self, now: Time) -> Option<u64>;

    /// From `now` on ACR is `acr`; what is left of the time before counts with the one before. Called before the next
    /// transmission is asked for.
    fn on_acr(&mut self, now: Time, acr: CellRate);
}

/// A supply that both worlds have; waiting cells inside a switch are `C`s.
#[derive(Debug)]
pub enum CommonSupply<C> {
    /// No data, ever.
    Nothing,
    /// Cells of open-loop traffic.
    Generated(Generator),
    /// Cells of several programs.
    Video(Box<Queued<Video>>),
    /// Traffic that is not built in.
    Bursts(Box<Bursts>),
    /// Cells that another loop of the same connection brings to a switch.
    Relayed(Box<PerVcQueue<C>>),
}

impl<C: Copy> CommonSupply<C> {
    /// The supply of the traffic of a direction, `flow`, in a run with this end; `None` for traffic that is one
    /// world's alone.
    ///
    /// # Errors
    /// Where the run was not given the traffic.
    pub fn of_traffic(
        scenario: &Scenario,
        flow: FlowIndex,
        end: Time,
        plugins: Plugins<'_>,
    ) -> Result<Option<CommonSupply<C>>, MissingPlugin> {
        Ok(match &scenario.flow(flow).traffic {
            None => Some(CommonSupply::Nothing),
            Some(Traffic::Video(video)) => {
                let owner = Owner::flow(scenario, flow);
                Some(CommonSupply::Video(Box::new(Video::new(video, scenario.seed, owner, end).into())))
            }
            Some(Traffic::Custom(custom)) => {
                Some(CommonSupply::Bursts(Box::new(plugins.bursts(scenario, flow, custom)?)))
            }
            Some(_) => generator(scenario, flow).map(CommonSupply::Generated),
        })
    }

    /// The waiting cell leaves at `now`; of relayed ones it is returned.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<C> {
        match self {
            CommonSupply::Generated(cells) => cells.take(now),
            CommonSupply::Nothing => {}
            CommonSupply::Video(video) => video.take(now),
            CommonSupply::Bursts(bursts) => bursts.take(now),
            CommonSupply::Relayed(queue) => return queue.take(now),
        }
        None
    }

    /// Passes over what should have been sent before `start`: a node that begins late does not send it after all.
    pub fn skip_until(&mut self, start: Time) {
        match self {
            CommonSupply::Nothing => {}
            CommonSupply::Generated(cells) => cells.skip_until(start),
            CommonSupply::Video(video) => video.skip_until(start),
            CommonSupply::Relayed(queue) => queue.begin_at(start),
            CommonSupply::Bursts(_) => loop {
                let next = self.available_from(Time::ZERO);
                if next >= start {
                    return;
                }
                self.take(next);
            },
        }
    }

    /// The queue of a virtual source, if this is one's supply.
    pub fn relayed(&self) -> Option<&PerVcQueue<C>> {
        if let CommonSupply::Relayed(queue) = self { Some(queue) } else { None }
    }

    /// The queue of relayed cells, to change it.
    pub fn relayed_mut(&mut self) -> Option<&mut PerVcQueue<C>> {
        if let CommonSupply::Relayed(queue) = self { Some(queue) } else { None }
    }
}

impl<C: Copy> CellSupply for CommonSupply<C> {
    #[inline]
    fn available_from(&self, from: Time) -> Time {
        match self {
            CommonSupply::Nothing => Time::NEVER,
            CommonSupply::Generated(cells) => cells.available_from(from),
            CommonSupply::Video(video) => video.available_from(from),
            CommonSupply::Bursts(bursts) => bursts.next().max(from),
            CommonSupply::Relayed(queue) => {
                if queue.is_empty() {
                    Time::NEVER
                } else {
                    from
                }
            }
        }
    }

    fn waiting(&self, now: Time) -> Option<u64> {
        match self {
            CommonSupply::Nothing => Some(0),
            CommonSupply::Generated(cells) => cells.waiting(now),
            CommonSupply::Video(video) => video.waiting(now),
            CommonSupply::Bursts(bursts) => Some(bursts.waiting(now)),
            CommonSupply::Relayed(queue) => Some(queue.len().0),
        }
    }

    #[inline]
    fn on_acr(&mut self, now: Time, acr: CellRate) {
        if let CommonSupply::Bursts(bursts) = self {
            bursts.on_acr(now, acr);
        }
    }
}
