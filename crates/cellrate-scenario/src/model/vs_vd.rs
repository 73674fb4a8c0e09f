//! The mode of ports where the control loops of ABR connections are segmented (VS/VD: TM 4.0, 5.10.6 d).

use cellrate_proto::declaration::{Range, Table};
use cellrate_proto::switch::{DelayControl, QueueControl};
use cellrate_proto::{Cells, CouplingConfig, Duration};

use crate::text::written::Room;

/// Cells wait in a queue for each connection until the virtual source may send them. The loop before the switch gets
/// f(Tq) times its ACR, with ERICA+'s function f of the delay Tq = queue / ACR.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
#[table(name = "vs_vd", written)]
pub struct VsVd {
    /// The delay aimed at.
    ///
    /// The round trip of the default is without queues.
    #[key(default = "\"500 us\", or half a round trip of the loop before the switch if that is longer")]
    pub t0: Option<Duration>,
    /// Slope of f above t0.
    #[key(default = "1.15", range = Range::ABOVE_ONE)]
    pub a: f64,
    /// f at an empty queue, and its slope below t0.
    #[key(default = "1.05", range = Range::ABOVE_ONE)]
    pub b: f64,
    /// Queue drain limit factor: the smallest f.
    #[key(default = "0.5", range = Range::SHARE)]
    pub qdlf: f64,
    /// Room of each such queue, for data cells; one that finds none is lost.
    #[key(default = "infinite", as = Room)]
    pub buffer: Option<Cells>,
}

impl VsVd {
    /// With a loop before the switch that takes so long there and back. With all defaults a delay of the queue comes to
    /// rest without swinging: the loop's delay times the slope of f, at most (a - 1)/(a * T0) beyond T0 and b (b -
    /// 1)/T0 before, is below 1/e.
    pub fn coupling(&self, round_trip: Duration) -> CouplingConfig {
        let VsVd { a, b, qdlf, buffer, .. } = *self;
        let half = Duration::from_ps(round_trip.as_ps() / 2);
        let t0 = self.t0.unwrap_or(half.max(Duration::from_us(500)));
        let control = DelayControl::hyperbolic(t0, a, b, qdlf);
        CouplingConfig { queue_control: QueueControl::QueueingDelay(control), buffer }
    }
}
