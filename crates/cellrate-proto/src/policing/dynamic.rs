//! The dynamic GCRA for ABR (TM 4.0, 5.4.5.2): the rate that a source may send at follows the backward RM cells that
//! have passed the interface towards it.
//!
//! What a BRM grants can show in the forward direction after tau3 at the earliest, and must show after tau2 at the
//! latest: tau2 is the longest round trip between the interface and the source, tau3 its fixed part. So a rise counts
//! tau3 after the BRM, and a cut binds tau2 after it.

use alloc::collections::VecDeque;

use super::{Gcra, increment};
use crate::parameters::{ParameterError, TCR, in_range};
use crate::units::{CellRate, Duration, Time};

/// Traffic contract of an ABR connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AbrContract {
    /// Peak cell rate [cells/s].
    pub pcr: CellRate,
    /// Minimum cell rate [cells/s].
    pub mcr: CellRate,
    /// Initial cell rate [cells/s]: what may be sent before any BRM.
    pub icr: CellRate,
    /// tau1, the cell delay variation tolerance.
    pub cdvt: Duration,
    /// tau2, the longest time from a BRM's passage to the cells that follow it.
    pub longest_delay: Duration,
    /// tau3, the shortest.
    pub shortest_delay: Duration,
}

impl AbrContract {
    /// Refuses a peak of zero, rates out of order, and a shortest delay above the longest.
    ///
    /// # Errors
    /// With the parameter's name, value and range.
    pub fn check(&self) -> Result<(), ParameterError> {
        in_range("PCR", self.pcr.as_cells_per_s(), "cells/s", self.pcr > CellRate::ZERO, "above 0")?;
        in_range("MCR", self.mcr.as_cells_per_s(), "cells/s", self.mcr <= self.pcr, "at most PCR")?;
        let within = self.mcr <= self.icr && self.icr <= self.pcr;
        in_range("ICR", self.icr.as_cells_per_s(), "cells/s", within, "from MCR to PCR")?;
        let ordered = self.shortest_delay <= self.longest_delay;
        in_range("tau3", self.shortest_delay.as_secs_f64(), "s", ordered, "at most tau2")
    }
}

/// A policer of the in-rate cells of one ABR connection.
///
/// A cell at t conforms if t >= LVST + min(I(t), I of the conforming cell before) - tau1, where LVST is the later of
/// the instant of that cell and of its own theoretical time, and I(t) is 1 over the largest rate that any BRM may have
/// allowed at t. The minimum makes a cut bind one cell late.
///
/// Cells with CLP = 1 are out of rate and no part of that. FRMs among them are held to TCR (source rule 11) by
/// GCRA(1/TCR, tau1 + tau2 - tau3), whose limit is what queues may do to their spacing; BRMs, which others ask for, are
/// not.
#[derive(Clone, Debug)]
pub struct DynamicGcra {
    contract: AbrContract,
    /// The rate of the last BRM that left at or before t - tau2.
    settled: CellRate,
    /// BRMs that left later, the oldest first: when, and the rate that they grant.
    pending: VecDeque<(Time, CellRate)>,
    /// LVST and I of the conforming cell before.
    last: Option<(Time, Duration)>,
    out_of_rate: Gcra,
}

impl DynamicGcra {
    /// A policer of this contract; nothing has come.
    pub fn new(contract: &AbrContract) -> DynamicGcra {
        let AbrContract { cdvt, longest_delay, shortest_delay, .. } = *contract;
        let limit = cdvt.saturating_add(longest_delay - shortest_delay);
        DynamicGcra {
            contract: *contract,
            settled: contract.icr,
            pending: VecDeque::new(),
            last: None,
            out_of_rate: Gcra::new(increment(CellRate::new(TCR)), limit),
        }
    }

    /// A backward RM cell with this ER leaves towards the source at `now`.
    pub fn on_backward_rm(&mut self, now: Time, er: CellRate) {
        self.pending.push_back((now, er.max(self.contract.mcr).min(self.contract.pcr)));
    }

    /// Decides on an in-rate cell that comes at `now`.
    pub fn on_cell(&mut self, now: Time) -> bool {
        let interval = increment(self.allowed(now));
        let Some((at, before)) = self.last else {
            self.last = Some((now, interval));
            return true;
        };
        let due = at.saturating_add(interval.min(before));
        if now.saturating_add(self.contract.cdvt) < due {
            return false;
        }
        self.last = Some((now.max(due), interval));
        true
    }

    /// Decides on an out-of-rate FRM that comes at `now`.
    pub fn on_out_of_rate_frm(&mut self, now: Time) -> bool {
        self.out_of_rate.on_cell(now)
    }

    /// The largest rate that the source may send at `now`, for all that the interface knows.
    pub fn allowed(&mut self, now: Time) -> CellRate {
        while let Some(&(at, rate)) = self.pending.front()
            && at.saturating_add(self.contract.longest_delay) <= now
        {
            self.settled = rate;
            self.pending.pop_front();
        }
        let shows = |&&(at, _): &&(Time, CellRate)| at.saturating_add(self.contract.shortest_delay) <= now;
        self.pending.iter().take_while(shows).fold(self.settled, |most, &(_, rate)| most.max(rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn every(us: f64) -> CellRate {
        CellRate::new(1e6 / us)
    }

    fn contract() -> AbrContract {
        AbrContract {
            pcr: every(1.0),
            mcr: CellRate::ZERO,
            icr: every(10.0),
            cdvt: Duration::from_us(2),
            longest_delay: Duration::from_us(30),
            shortest_delay: Duration::from_us(5),
        }
    }

    #[test]
    fn a_worked_sequence_of_a_rise_and_a_cut() {
        // One cell in 10 us until 33, in 5 until 58, then in 20: the BRMs left at 28 (with tau3 5) and at 28 (tau2 30).
        let mut policer = DynamicGcra::new(&contract());
        policer.on_backward_rm(us(28), every(5.0));
        policer.on_backward_rm(us(28), every(20.0));
        let cells = [0, 10, 20, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100];
        let conform: Vec<bool> = cells.iter().map(|&at| policer.on_cell(us(at))).collect();
        assert_eq!(conform[..9], [true; 9], "60 is held against 55: a cut binds one cell late");
        assert_eq!(conform[9..], [false, true, false, true]);
    }

    #[test]
    fn a_rise_counts_from_tau3_and_a_cut_from_tau2_on() {
        let mut policer = DynamicGcra::new(&contract());
        policer.on_backward_rm(us(100), every(4.0));
        assert_eq!(policer.allowed(us(104)), every(10.0));
        assert_eq!(policer.allowed(us(105)), every(4.0));
        policer.on_backward_rm(us(200), every(50.0));
        assert_eq!(policer.allowed(us(229)), every(4.0));
        assert_eq!(policer.allowed(us(230)), every(50.0));
    }

    #[test]
    fn of_several_rates_that_may_be_in_force_the_largest_is_allowed() {
        let mut policer = DynamicGcra::new(&contract());
        for (at, interval) in [(100, 50.0), (110, 2.0), (120, 40.0)] {
            policer.on_backward_rm(us(at), every(interval));
        }
        assert_eq!(policer.allowed(us(126)), every(2.0));
        assert_eq!(policer.allowed(us(140)), every(2.0), "the BRM of 110 has settled, that of 120 has not");
        assert_eq!(policer.allowed(us(150)), every(40.0));
    }

    #[test]
    fn rates_stay_within_mcr_and_pcr() {
        let mut policer = DynamicGcra::new(&AbrContract { mcr: every(100.0), ..contract() });
        policer.on_backward_rm(us(0), CellRate::ZERO);
        assert_eq!(policer.allowed(us(30)), every(100.0));
        policer.on_backward_rm(us(40), CellRate::new(1e12));
        assert_eq!(policer.allowed(us(70)), every(1.0));
    }

    #[test]
    fn out_of_rate_frms_may_come_sooner_by_as_much_as_queues_may_hold_the_one_before() {
        let mut policer = DynamicGcra::new(&contract());
        // 100 ms apart, less tau1 + tau2 - tau3 = 27 us.
        let conform = [0, 99_972, 99_973, 199_972, 199_973].map(|at| policer.on_out_of_rate_frm(us(at)));
        assert_eq!(conform, [true, false, true, false, true]);
    }

    #[test]
    fn with_a_constant_rate_it_is_the_plain_algorithm() {
        let mut dynamic = DynamicGcra::new(&contract());
        let mut plain = super::super::Gcra::new(Duration::from_us(10), Duration::from_us(2));
        for at in [0, 8, 17, 18, 28, 40, 47, 58, 66, 100, 101, 108] {
            assert_eq!(dynamic.on_cell(us(at)), plain.on_cell(us(at)), "at {at} us");
        }
    }
}
