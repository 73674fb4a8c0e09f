//! The mode of ports where the control loops of ABR connections are segmented (VS/VD: TM 4.0, 5.10.6 d).

use cellrate_proto::switch::{DelayControl, QueueControl};
use cellrate_proto::{Cells, CouplingConfig, Duration};

/// How the loops that meet at a switch are coupled, where cells go on by a port of this mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VsVd {
    /// T0, the delay in the per-VC queue that is aimed at; `None` is the longer one of 500 us and half a round trip of
    /// the loop before the switch, queues left out.
    pub t0: Option<Duration>,
    /// a, the slope of f(Tq) above T0 [above 1; default 1.15].
    pub a: f64,
    /// b, f at an empty queue and its slope below T0 [above 1; default 1.05].
    pub b: f64,
    /// QDLF, the smallest f [above 0 to 1; default 0.5].
    pub qdlf: f64,
    /// Room of each per-VC queue; `None` is without limit (default).
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

impl Default for VsVd {
    fn default() -> VsVd {
        VsVd { t0: None, a: 1.15, b: 1.05, qdlf: 0.5, buffer: None }
    }
}
