//! An output port of a switch, as its control of ABR sees cells and BRMs pass.

use cellrate_proto::switch::{Feedback, PortControl, Slot};
use cellrate_proto::{CellRate, Cells, Time};

use crate::priority::{ABR, GUARANTEED};

/// An output port with its control. What passes is told to the control only after the averaging intervals that have
/// ended before.
pub trait SwitchPort {
    /// The control.
    fn control(&self) -> &PortControl;

    /// The control, to be told of what passes.
    fn control_mut(&mut self) -> &mut PortControl;

    /// Cells of ABR waiting and in transmission at `now`, but for those that the port itself holds back
    /// ([`abr_before_line`](crate::served::Served::abr_before_line)) \[cells\].
    fn abr_queue(&mut self, now: Time) -> Cells;

    /// Ends the averaging intervals that are due at `now`, each with the queue of its own end: no cell has come since.
    fn end_intervals(&mut self, now: Time);

    /// Notes that a cell of the class `priority`, slot `slot`, comes to this port in the forward sense; `forward_ccr`
    /// gives CCR if it is an FRM.
    #[inline(always)]
    fn observe_cell(
        &mut self,
        now: Time,
        priority: usize,
        slot: Slot,
        forward_ccr: impl FnOnce() -> Option<CellRate>,
    ) {
        if self.control().interval_due(now) {
            self.end_intervals(now);
        }
        let control = self.control_mut();
        if priority == ABR {
            control.on_abr_cell(now, slot);
            if let Some(rate) = forward_ccr() {
                control.on_forward_rm(now, slot, rate);
            }
        } else if priority == GUARANTEED {
            control.on_guaranteed_cell();
        }
    }

    /// Gives the answer of this port to a BRM that passes in the other direction.
    #[inline]
    fn answer_brm(&mut self, now: Time, slot: Slot, feedback: &mut Feedback) {
        if self.control().interval_due(now) {
            self.end_intervals(now);
        }
        let queue = self.abr_queue(now);
        self.control_mut().on_backward_rm(now, slot, queue, feedback);
    }

    /// Ends intervals for a departure or a sample at `now`: an interval that ends at `now` itself stays open.
    #[inline]
    fn end_intervals_before(&mut self, now: Time) {
        let before = Time::from_ps(now.as_ps().saturating_sub(1));
        if self.control().interval_due(before) {
            self.end_intervals(before);
        }
    }

    /// A figure of the algorithm, by its place among those that it declares; zero past the last of them.
    fn metric(&self, place: usize) -> f64 {
        let (mut index, mut found) = (0, 0.0);
        self.control().metrics(&mut |_, value| {
            if index == place {
                found = value;
            }
            index += 1;
        });
        found
    }
}
