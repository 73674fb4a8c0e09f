//! Round trips of the connections at a port, as set-up tells them, and their mean over an averaging interval.

use alloc::vec::Vec;

use super::meter::Meter;
use super::{Slot, VcAtPort};

/// Fixed round-trip times of the connections at a port, by slot (FRTT; TM 4.0, 5.10.3).
#[derive(Clone, Debug, Default)]
pub struct RoundTrips(Vec<f64>);

/// Round trips of the connections from which cells came in an averaging interval \[s\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalRoundTrips {
    /// Their mean, weighted by cells.
    pub mean: f64,
    /// The longest.
    pub longest: f64,
}

impl RoundTrips {
    /// Takes in a connection, in the order of slots.
    pub fn connect(&mut self, vc: &VcAtPort) {
        self.0.push(vc.round_trip.as_secs_f64());
    }

    /// Round trips of the interval before the one that `meter` is in; `None` where no ABR cell came. The meter has to
    /// keep its [history](super::Metering::history). One step for each connection at the port.
    pub fn of_last_interval(&self, meter: &Meter) -> Option<IntervalRoundTrips> {
        let (mut cells, mut sum, mut longest) = (0.0, 0.0, 0.0_f64);
        for (slot, &round_trip) in (0..).map(Slot).zip(&self.0) {
            let own = meter.previous_cells(slot) as f64;
            if own > 0.0 {
                cells += own;
                sum += own * round_trip;
                longest = longest.max(round_trip);
            }
        }
        (cells > 0.0).then(|| IntervalRoundTrips { mean: sum / cells, longest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::{AveragingInterval, Metering};
    use crate::units::{CellRate, Cells, Duration, Time};

    #[test]
    fn the_mean_is_by_cells_and_a_silent_connection_counts_for_nothing() {
        let interval = AveragingInterval::of_time(Duration::from_ms(1));
        let mut meter = Meter::new(Some(Metering { interval, bidirectional: false, history: true }));
        let mut round_trips = RoundTrips::default();
        for ms in [10, 40, 500] {
            meter.connect();
            let (pcr, mcr) = (CellRate::new(1.0), CellRate::ZERO);
            round_trips.connect(&VcAtPort { pcr, mcr, weight: 1.0, round_trip: Duration::from_ms(ms) });
        }
        for slot in [0, 1, 0, 0] {
            meter.on_abr_cell(Time::ZERO, Slot(slot));
        }
        meter.end_interval(Cells::ZERO);
        // Three cells at 10 ms and one at 40 ms.
        let found = round_trips.of_last_interval(&meter).expect("cells came");
        assert!((found.mean - 0.0175).abs() < 1e-12, "{found:?}");
        assert_eq!(found.longest, 0.04);
        meter.end_interval(Cells::ZERO);
        assert_eq!(round_trips.of_last_interval(&meter), None);
    }
}
