//! Values of the quantities that probes record, alike in both worlds.
//!
//! Ports and sending ends of either world are read by [`PortReading`] and [`EndReading`]. A quantity that can be
//! worked out from what these give is a line here, beside its declaration in `cellrate_scenario`.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{FlowQuantity, PortQuantity};

use crate::connection_end::{ConnectionEnd, RmCount};
use crate::priority::{ABR, GUARANTEED, UBR};
use crate::supply::CellSupply;

/// Cells that come to a FIFO evenly; where they are several, each finds it empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// When the first one comes.
    pub first: Time,
    /// From one to the next.
    pub gap: Duration,
    /// How many there are.
    pub count: u64,
}

/// An output port, read at an instant.
pub trait PortReading {
    /// Cells waiting and in transmission, of all categories \[cells\].
    fn total_queue(&self, now: Time) -> u64;

    /// Cells of this priority waiting and in transmission \[cells\].
    fn queue(&self, priority: usize, now: Time) -> u64;

    /// Time that the line was busy since the start \[ps\].
    fn busy_ps(&self, now: Time) -> u64;

    /// Cells lost at the port so far \[cells\].
    fn dropped(&self) -> u64;

    /// The figure of the port's algorithm at this place in its `metrics`.
    fn figure(&self, place: usize) -> f64;

    /// Ends the averaging intervals before `now`, where figures are to be read that may depend on them.
    fn bring_figures_up_to(&mut self, now: Time);

    /// When averaging intervals ended since the last call, with the figures from then on; `None` where each ends at an
    /// event of the port, which notes the figures itself.
    fn take_ended(&mut self) -> Option<Vec<(Time, Vec<f64>)>> {
        None
    }

    /// Whether it keeps the instants at which cells come, from which all changes of its queue follow, and for how long
    /// its line was busy: it is a FIFO then, and what is recorded as it happens is its queue alone.
    fn keeps_arrivals(&self) -> bool {
        false
    }

    /// The arrivals kept, in order, for who reads them and takes them away, and the time of one cell on the line;
    /// `None` where none are kept.
    fn arrivals(&mut self) -> Option<(&mut Vec<Arrivals>, Duration)> {
        None
    }

    /// Time of one cell on the line, and when the port will be empty if nothing comes, where `quantity` is the queue of
    /// a port whose departures are no events; `None` where they are.
    fn draining(&self, quantity: PortQuantity) -> Option<(Duration, Time)> {
        let _ = quantity;
        None
    }
}

/// An end of a connection, read at an instant: what it sends, and what of the other direction has come.
pub trait EndReading {
    /// The data that it sends.
    type Supply: CellSupply;

    /// The end.
    fn end(&self) -> &ConnectionEnd<Self::Supply>;

    /// The end itself, for who ends an interval of the delays of what has come.
    fn end_mut(&mut self) -> &mut ConnectionEnd<Self::Supply>;

    /// Data cells of the other direction that have come so far \[cells\], where the end itself does not know of all.
    fn data_delivered(&self) -> u64 {
        self.end().data_delivered()
    }

    /// The value of a quantity of its TCP; `None` where TCP is the kernel's, or where there is none.
    fn of_tcp(&self, quantity: FlowQuantity) -> Option<f64> {
        let _ = quantity;
        None
    }
}

/// Growth of a count from one sample to the next, as a rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    count: u64,
    /// The instant of the last value.
    pub time: Time,
}

impl Growth {
    /// The count at the last value.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The growth of `count` since the last value, per second.
    #[inline]
    pub fn per_second(&mut self, count: u64, now: Time) -> f64 {
        let grown = self.since(count);
        let span = now.since(self.time);
        if span == Duration::ZERO { 0.0 } else { grown as f64 / span.as_secs_f64() }
    }

    /// The growth of `count` since the last value.
    #[inline]
    pub fn since(&mut self, count: u64) -> u64 {
        count - std::mem::replace(&mut self.count, count)
    }
}

/// Time for which a line was busy since the last value, per time, if it was busy for `busy_ps` by `now` \[ps\].
#[inline]
pub fn utilization(busy_ps: u64, now: Time, growth: &mut Growth) -> f64 {
    growth.per_second(busy_ps, now) * 1e-12
}

/// The value of a port's quantity at `now`.
#[inline]
pub fn port_value(quantity: PortQuantity, port: &impl PortReading, now: Time, growth: &mut Growth) -> f64 {
    match quantity {
        PortQuantity::Queue => port.total_queue(now) as f64,
        PortQuantity::GuaranteedQueue => port.queue(GUARANTEED, now) as f64,
        PortQuantity::AbrQueue => port.queue(ABR, now) as f64,
        PortQuantity::UbrQueue => port.queue(UBR, now) as f64,
        PortQuantity::Utilization => utilization(port.busy_ps(now), now, growth),
        PortQuantity::Drops => port.dropped() as f64,
        PortQuantity::Metric(place) => port.figure(usize::from(place)),
    }
}

/// The value at `now` of a quantity that the sending end knows.
///
/// # Panics
/// For one that it does not know.
pub fn sender_value(quantity: FlowQuantity, sender: &impl EndReading, now: Time, growth: &mut Growth) -> f64 {
    let end = sender.end();
    match quantity {
        FlowQuantity::Acr => end.source().map_or(0.0, |source| source.acr().as_cells_per_s()),
        FlowQuantity::SourceRate => growth.per_second(end.sent(), now),
        FlowQuantity::SourceQueue => end.supply.waiting(now).unwrap_or(0) as f64,
        FlowQuantity::ForwardRm => end.counts.rm(RmCount::ForwardSent) as f64,
        FlowQuantity::BackwardRm => end.counts.rm(RmCount::BackwardReceived) as f64,
        FlowQuantity::LoopbackTime => end.loopback.as_ref().map_or(0.0, |own| own.last_s()),
        FlowQuantity::Cwnd
        | FlowQuantity::Rtt
        | FlowQuantity::Retransmissions
        | FlowQuantity::Responses
        | FlowQuantity::ResponseTime => sender.of_tcp(quantity).unwrap_or(0.0),
        FlowQuantity::Received | FlowQuantity::Drops | FlowQuantity::Delay | FlowQuantity::MaxDelay => {
            unreachable!("not known at the sender")
        }
    }
}
