//! A switch that segments the control loop (VS/VD: TM 4.0, 5.10.6 d): destination of the loop that comes to it, source
//! of the one behind it.
//!
//! ```text
//!             loop before the switch                     loop behind it
//! source  ---- cells, FRMs ---->  virtual     per-VC    virtual  ---- cells, FRMs ---->  destination
//!         <------- BRMs --------  destination  queue    source   <------- BRMs --------
//! ```
//!
//! Both are ends like any others ([`Destination`], [`crate::Source`]) and keep the same rules. How one loop tells the
//! other is the switch's own affair (ATM Forum 96-1759 compares ways). Here the virtual destination grants what the
//! virtual source may send, more while few cells wait between them and less while many do: f(Tq) * ACR, with ERICA+'s
//! function of the delay Tq = queue / ACR of the per-VC queue. So whatever steers the loop behind, marks, CI or ER,
//! becomes an explicit rate before it. While nothing waits that is TCR at least: a virtual source at ACR 0 asks for a
//! rate only when a cell waits (source rule 11), so that one has to come.

use crate::destination::{Destination, DestinationCongestion};
use crate::parameters::{ParameterError, TCR};
use crate::switch::QueueControl;
use crate::units::{CellRate, Cells, Duration};

/// How a loop is coupled to the one behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplingConfig {
    /// The share of the virtual source's ACR that the loop before it gets, by the delay of the per-VC queue.
    pub queue_control: QueueControl,
    /// Room of each per-VC queue; a data cell that finds none is lost. `None` is without limit (default).
    pub buffer: Option<Cells>,
}

impl CouplingConfig {
    /// ERICA+'s defaults ([`QueueControl::erica_plus`]), and per-VC queues without limit.
    pub const fn new() -> CouplingConfig {
        CouplingConfig { queue_control: QueueControl::erica_plus(), buffer: None }
    }

    /// Says which parameter is out of its range first.
    ///
    /// # Errors
    /// A parameter of [`QueueControl`].
    pub fn check(&self) -> Result<(), ParameterError> {
        self.queue_control.check()
    }

    /// Whether a cell that comes to a per-VC queue of this length is lost.
    pub fn is_full(&self, queue: Cells) -> bool {
        self.buffer.is_some_and(|room| queue >= room)
    }

    /// The rate that the loop before may have, where `queue` cells wait for a virtual source at `acr`.
    pub fn explicit_rate(&self, queue: Cells, acr: CellRate) -> CellRate {
        let delay =
            if queue == Cells::ZERO { Duration::ZERO } else { acr.interval().saturating_mul(queue.0) };
        let rate = acr * self.queue_control.share(delay);
        if queue == Cells::ZERO { rate.max(CellRate::new(TCR)) } else { rate }
    }

    /// `destination` is told what to write into the next FRMs that it turns around.
    pub fn tell(&self, destination: &mut Destination, queue: Cells, acr: CellRate) {
        let explicit_rate = Some(self.explicit_rate(queue, acr));
        destination.set_congestion(DestinationCongestion { explicit_rate, ..Default::default() });
    }
}

impl Default for CouplingConfig {
    fn default() -> CouplingConfig {
        CouplingConfig::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::rm::{Direction, RmCell};
    use crate::switch::DelayControl;

    const ACR: CellRate = CellRate::new(100_000.0);

    fn frm(explicit_rate: f64) -> RmCell {
        RmCell {
            direction: Direction::Forward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::floor(CellRate::new(explicit_rate)),
            current_cell_rate: RateCode::ZERO,
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        }
    }

    #[test]
    fn the_loop_before_gets_more_than_the_source_behind_until_cells_wait_for_t0() {
        let coupling = CouplingConfig::new();
        let share = |queue: u64| coupling.explicit_rate(Cells(queue), ACR).as_cells_per_s() / 100_000.0;
        // 50 cells at 100,000 cells/s are T0 = 500 us.
        assert_eq!([share(0), share(50)], [1.05, 1.0]);
        assert!(share(25) > 1.0 && share(25) < 1.05);
        assert!((share(100) - 1.15 / 1.30).abs() < 1e-12);
        // From (2a - 1)/(a - 1) * T0 on, 433.3 cells.
        assert!(share(433) > 0.5);
        assert_eq!([share(434), share(u64::MAX)], [0.5, 0.5]);
    }

    #[test]
    fn a_source_that_may_not_send_has_one_cell_come_and_no_more() {
        let coupling = CouplingConfig::new();
        assert_eq!(coupling.explicit_rate(Cells::ZERO, CellRate::ZERO), CellRate::new(TCR));
        assert_eq!(coupling.explicit_rate(Cells::ZERO, CellRate::new(5.0)), CellRate::new(TCR));
        assert_eq!(coupling.explicit_rate(Cells(1), CellRate::ZERO), CellRate::ZERO);
    }

    #[test]
    fn what_is_turned_around_has_the_lower_of_both_rates() {
        let (coupling, mut destination) = (CouplingConfig::new(), Destination::default());
        coupling.tell(&mut destination, Cells(50), ACR);
        let answer = |destination: &mut Destination, er| destination.turn_around(&frm(er)).explicit_rate;
        assert_eq!(answer(&mut destination, 150_000.0), RateCode::floor(ACR));
        assert_eq!(answer(&mut destination, 50_000.0), RateCode::floor(CellRate::new(50_000.0)));
        coupling.tell(&mut destination, Cells(1_000), ACR);
        assert_eq!(answer(&mut destination, 150_000.0), RateCode::floor(CellRate::new(50_000.0)));
    }

    #[test]
    fn a_queue_is_full_when_its_room_is_taken() {
        let limited = CouplingConfig { buffer: Some(Cells(3)), ..CouplingConfig::new() };
        assert_eq!([2, 3].map(|queue| limited.is_full(Cells(queue))), [false, true]);
        assert!(!CouplingConfig::new().is_full(Cells(u64::MAX)));
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let queue_control =
            QueueControl::QueueingDelay(DelayControl::hyperbolic(Duration::from_us(500), 1.0, 1.05, 0.5));
        let wrong = CouplingConfig { queue_control, ..CouplingConfig::new() };
        assert_eq!(wrong.check().map_err(|error| error.name), Err("a"));
        assert_eq!(CouplingConfig::new().check(), Ok(()));
    }
}
