//! Contracts of CBR, VBR and UBR connections and their conformance definitions (TM 4.0, 4.3 and 4.4).
//!
//! | definition | bucket 1: PCR, CDVT | bucket 2: SCR, BT + CDVT | a cell that fails bucket 2 |
//! | --- | --- | --- | --- |
//! | CBR.1, UBR.1 | all cells | - | - |
//! | VBR.1 | all cells | all cells | is discarded |
//! | VBR.2 | all cells | CLP = 0 | is discarded |
//! | VBR.3 | all cells | CLP = 0 | is tagged |
//! | UBR.2 | all cells | CLP = 0, none conforms | is tagged |
//!
//! A cell that fails bucket 1 is discarded and never tagged; CLP = 1 cells of VBR.2 and VBR.3 see bucket 1 only.

use super::{Gcra, increment};
use crate::declaration::words;
use crate::parameters::{ParameterError, in_range};
use crate::units::{CellRate, Duration, Time};

words! {
    /// A conformance definition.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum Definition {
        /// CBR, and rt- and nrt-VBR policed by their peak alone.
        Cbr1 = "CBR.1",
        /// VBR without tagging, all cells count.
        Vbr1 = "VBR.1",
        /// VBR, cells with CLP = 0 count towards SCR.
        Vbr2 = "VBR.2",
        /// VBR.2 with tagging.
        Vbr3 = "VBR.3",
        /// UBR.
        Ubr1 = "UBR.1",
        /// UBR with tagging: what comes with CLP = 0 leaves with CLP = 1.
        Ubr2 = "UBR.2",
    }
}

impl Definition {
    /// Whether it polices SCR beside PCR.
    pub const fn is_vbr(self) -> bool {
        matches!(self, Definition::Vbr1 | Definition::Vbr2 | Definition::Vbr3)
    }

    /// Whether it tags cells that conform to the peak alone, and does not discard them.
    pub const fn tags(self) -> bool {
        matches!(self, Definition::Vbr3 | Definition::Ubr2)
    }
}

words! {
    /// How the two buckets of VBR hang together. The standard couples them; equipment offers the others, too, and what
    /// conforms depends on it.
    #[derive(Hash, Default)]
    pub enum Coupling {
        /// A cell is charged to the buckets that it must conform to, if it conforms to all of them; a tagged one to
        /// bucket 1.
        #[default]
        Coupled = "coupled",
        /// Each bucket is charged whenever the cell conforms to it, whatever the other says.
        Independent = "independent",
        /// Bucket 2 sees what bucket 1 has passed; bucket 1 stays charged for what bucket 2 then refuses.
        Serial = "serial",
    }
}

/// Traffic contract of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contract {
    /// How conformance is defined.
    pub definition: Definition,
    /// Peak cell rate [cells/s].
    pub pcr: CellRate,
    /// Cell delay variation tolerance of the peak.
    pub cdvt: Duration,
    /// Sustainable cell rate [cells/s]; of VBR only.
    pub scr: CellRate,
    /// Maximum burst size \[cells\]; of VBR only.
    pub mbs: u64,
    /// How the buckets of VBR hang together.
    pub coupling: Coupling,
}

impl Contract {
    /// Refuses a peak of zero, and of VBR an SCR that is zero or above the peak and a burst of no cells.
    ///
    /// # Errors
    /// With the parameter's name, value and range.
    pub fn check(&self) -> Result<(), ParameterError> {
        in_range("PCR", self.pcr.as_cells_per_s(), "cells/s", self.pcr > CellRate::ZERO, "above 0")?;
        if self.is_vbr() {
            let scr = self.scr.as_cells_per_s();
            in_range("SCR", scr, "cells/s", scr > 0.0 && self.scr <= self.pcr, "above 0 and at most PCR")?;
            in_range("MBS", self.mbs as f64, "cells", self.mbs >= 1, "at least 1")?;
        }
        Ok(())
    }

    /// The burst tolerance that lets MBS cells at the peak conform, (MBS - 1)(1/SCR - 1/PCR) (TM 4.0, C.4).
    pub fn burst_tolerance(&self) -> Duration {
        let gained = increment(self.scr).as_ps().saturating_sub(increment(self.pcr).as_ps());
        Duration::from_ps(gained).saturating_mul(self.mbs.saturating_sub(1))
    }

    const fn is_vbr(&self) -> bool {
        self.definition.is_vbr()
    }
}

/// Fate of a cell at a policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It conforms.
    Pass,
    /// It goes on with CLP = 1.
    Tag,
    /// It is discarded.
    Discard,
}

/// A verdict, and the buckets that its cell is charged to.
#[derive(Clone, Copy, Debug)]
struct Decision {
    verdict: Verdict,
    charges_peak: bool,
    charges_sustained: bool,
}

/// A policer of one connection.
#[derive(Clone, Debug)]
pub struct Policer {
    contract: Contract,
    peak: Gcra,
    sustained: Gcra,
}

impl Policer {
    /// A policer of this contract; no cell has come.
    pub fn new(contract: &Contract) -> Policer {
        let limit = contract.burst_tolerance().saturating_add(contract.cdvt);
        Policer {
            contract: *contract,
            peak: Gcra::new(increment(contract.pcr), contract.cdvt),
            sustained: Gcra::new(increment(contract.scr), limit),
        }
    }

    /// Decides on a cell that comes at `now`, with this CLP.
    pub fn on_cell(&mut self, now: Time, clp: bool) -> Verdict {
        let decision = self.decision(now, clp);
        self.charge(now, decision, 1);
        decision.verdict
    }

    /// Decides on `cells` that come at `now`, one behind the other without time between them, all with this CLP.
    ///
    /// `told` hears of cells with the same verdict together: the verdict and how many cells have it, in the order of
    /// the cells. It is called three times at most, however many cells there are.
    pub fn on_cells(&mut self, now: Time, clp: bool, cells: u64, mut told: impl FnMut(Verdict, u64)) {
        let mut left = cells;
        while left > 0 {
            let decision = self.decision(now, clp);
            let of = |bucket: &Gcra, charged| if charged { bucket.room(now) } else { u64::MAX };
            let alike = of(&self.peak, decision.charges_peak)
                .min(of(&self.sustained, decision.charges_sustained))
                .clamp(1, left);
            self.charge(now, decision, alike);
            told(decision.verdict, alike);
            left -= alike;
        }
    }

    /// The decision on a cell that comes at `now`. It stays the same at that instant until a bucket that it charges is
    /// full.
    fn decision(&self, now: Time, clp: bool) -> Decision {
        let failing = match self.contract.definition {
            Definition::Vbr3 | Definition::Ubr2 => Verdict::Tag,
            _ => Verdict::Discard,
        };
        let sees_bucket_2 = match self.contract.definition {
            Definition::Cbr1 | Definition::Ubr1 => false,
            Definition::Vbr1 => true,
            Definition::Vbr2 | Definition::Vbr3 | Definition::Ubr2 => !clp,
        };
        let to_peak = self.peak.conforms(now);
        let to_sustained = !sees_bucket_2 || (self.contract.is_vbr() && self.sustained.conforms(now));
        let verdict = match (to_peak, to_sustained) {
            (false, _) => Verdict::Discard,
            (true, true) => Verdict::Pass,
            (true, false) => failing,
        };
        let (charges_peak, charges_sustained) = match self.contract.coupling {
            Coupling::Coupled => (verdict != Verdict::Discard, verdict == Verdict::Pass),
            Coupling::Independent => (to_peak, to_sustained),
            Coupling::Serial => (to_peak, to_peak && to_sustained),
        };
        Decision { verdict, charges_peak, charges_sustained: charges_sustained && sees_bucket_2 }
    }

    fn charge(&mut self, now: Time, decision: Decision, cells: u64) {
        if decision.charges_peak {
            self.peak.charge_all(now, cells);
        }
        if decision.charges_sustained {
            self.sustained.charge_all(now, cells);
        }
    }

    /// The earliest instant from `now` on at which a cell with CLP = 0 passes: when a shaper lets it go.
    pub fn earliest(&self, now: Time) -> Time {
        let peak = self.peak.earliest(now);
        if self.contract.is_vbr() { self.sustained.earliest(peak) } else { peak }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    /// A rate of one cell in so many microseconds, in which the tests below count.
    fn every(us: u64) -> CellRate {
        CellRate::new(1e6 / us as f64)
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// T_p 2, CDVT 1, T_s 5, MBS 3, in us.
    fn contract(definition: Definition, coupling: Coupling) -> Contract {
        Contract { definition, pcr: every(2), cdvt: Duration::from_us(1), scr: every(5), mbs: 3, coupling }
    }

    fn decided(contract: &Contract, cells: &[(u64, bool)]) -> String {
        decided_by(Policer::new(contract), cells)
    }

    fn decided_by(mut policer: Policer, cells: &[(u64, bool)]) -> String {
        let letter = |&(at, clp): &(u64, bool)| match policer.on_cell(us(at), clp) {
            Verdict::Pass => 'P',
            Verdict::Tag => 'T',
            Verdict::Discard => 'D',
        };
        cells.iter().map(letter).collect()
    }

    #[test]
    fn two_buckets_decide_as_they_are_coupled() {
        use Coupling::{Coupled, Independent, Serial};
        use Definition::{Vbr1, Vbr2, Vbr3};
        let cells: Vec<(u64, bool)> =
            [0, 2, 3, 4, 7, 11, 15, 17, 19, 20].into_iter().map(|at| (at, at == 19)).collect();
        for (definition, coupling, expected) in [
            (Vbr1, Coupled, "PPDPDPPDPD"),
            (Vbr1, Independent, "PPDDDPPDPD"),
            (Vbr1, Serial, "PPDDPPPDPD"),
            (Vbr2, Coupled, "PPDPDPPDPP"),
            (Vbr2, Independent, "PPDDDPPDPP"),
            (Vbr2, Serial, "PPDDPPPDPP"),
            (Vbr3, Coupled, "PPTDPPPTPP"),
            (Vbr3, Independent, "PPTDTPPTPP"),
            (Vbr3, Serial, "PPTDPPPTPP"),
        ] {
            // Bucket 2 with a limit of 6 us.
            let sustained = Gcra::new(Duration::from_us(5), Duration::from_us(6));
            let policer = Policer { sustained, ..Policer::new(&contract(definition, coupling)) };
            let found = decided_by(policer, &cells);
            assert_eq!(found, expected, "{definition:?}, {coupling:?}");
        }
    }

    #[test]
    fn a_burst_of_mbs_cells_at_the_peak_passes_and_the_next_may_begin_after_its_time_at_scr() {
        // PCR 100,000, SCR 25,000, MBS 10: BT 270 us; the next burst of ten begins 400 us after the first.
        let contract = Contract {
            definition: Definition::Vbr1,
            pcr: CellRate::new(1e5),
            cdvt: Duration::ZERO,
            scr: CellRate::new(25e3),
            mbs: 10,
            coupling: Coupling::Coupled,
        };
        assert_eq!(contract.burst_tolerance(), Duration::from_us(270));
        let burst = |from: u64, cells: u64| (0..cells).map(move |cell| (from + 10 * cell, false));
        let on_time: Vec<_> = burst(0, 10).chain(burst(400, 10)).collect();
        assert_eq!(decided(&contract, &on_time), "P".repeat(20));
        let too_soon: Vec<_> = burst(0, 10).chain(burst(399, 10)).collect();
        assert_eq!(decided(&contract, &too_soon), "P".repeat(19) + "D");
        // A source that stays at the peak has every fourth cell pass after the burst.
        let passed = decided(&contract, &burst(0, 24).collect::<Vec<_>>());
        let places: Vec<usize> =
            passed.match_indices('P').map(|(place, _)| place).filter(|&p| p > 9).collect();
        assert_eq!(places, [13, 17, 21]);
    }

    #[test]
    fn peak_alone_counts_for_cbr_and_ubr_and_ubr_2_tags_all() {
        let cells = [(0, false), (1, false), (3, true), (4, false), (9, false)];
        for (definition, expected) in
            [(Definition::Cbr1, "PPPDP"), (Definition::Ubr1, "PPPDP"), (Definition::Ubr2, "TTPDT")]
        {
            assert_eq!(decided(&contract(definition, Coupling::Coupled), &cells), expected, "{definition:?}");
        }
    }

    #[test]
    fn a_contract_says_what_is_wrong_with_it() {
        let sound = contract(Definition::Vbr1, Coupling::Coupled);
        assert!(sound.check().is_ok());
        assert_eq!(Contract { pcr: CellRate::ZERO, ..sound }.check().unwrap_err().name, "PCR");
        assert_eq!(Contract { scr: every(1), ..sound }.check().unwrap_err().name, "SCR");
        assert_eq!(Contract { mbs: 0, ..sound }.check().unwrap_err().name, "MBS");
        assert!(Contract { definition: Definition::Cbr1, mbs: 0, ..sound }.check().is_ok());
    }

    proptest! {
        #[test]
        fn cells_of_one_instant_are_decided_together_as_one_by_one(
            definition in proptest::sample::select(std::vec![
                Definition::Cbr1, Definition::Vbr1, Definition::Vbr2, Definition::Vbr3, Definition::Ubr1, Definition::Ubr2,
            ]),
            coupling in proptest::sample::select(std::vec![Coupling::Coupled, Coupling::Independent, Coupling::Serial]),
            (tp, ts) in (1_u64..50, 1_u64..200), mbs in 1_u64..30, cdvt in 0_u64..400,
            bursts in proptest::collection::vec((0_u64..300, 0_u64..60, proptest::bool::ANY), 1..60),
        ) {
            let contract = Contract {
                definition, pcr: every(tp), cdvt: Duration::from_us(cdvt), scr: every(tp + ts), mbs, coupling,
            };
            let (mut together, mut singly) = (Policer::new(&contract), Policer::new(&contract));
            let mut at = 0;
            for (gap, cells, clp) in bursts {
                at += gap;
                let mut found = Vec::new();
                let mut calls = 0;
                together.on_cells(us(at), clp, cells, |verdict, alike| {
                    calls += 1;
                    found.extend(std::iter::repeat_n(verdict, alike as usize));
                });
                let expected: Vec<Verdict> = (0..cells).map(|_| singly.on_cell(us(at), clp)).collect();
                prop_assert_eq!(found, expected);
                prop_assert!(calls <= 3);
            }
        }

        #[test]
        fn what_a_shaper_lets_go_passes_its_policer(
            (tp, ts) in (1_u64..50, 1_u64..200), mbs in 1_u64..30, cdvt in 0_u64..20,
            gaps in proptest::collection::vec(0_u64..300, 1..100),
        ) {
            let contract = Contract {
                definition: Definition::Vbr1,
                pcr: every(tp),
                cdvt: Duration::from_us(cdvt),
                scr: every(tp + ts),
                mbs,
                coupling: Coupling::Coupled,
            };
            let (mut shaper, mut policer) = (Policer::new(&contract), Policer::new(&contract));
            let (mut arrival, mut last) = (0, Time::ZERO);
            for gap in gaps {
                arrival += gap;
                let leaves = shaper.earliest(us(arrival).max(last));
                prop_assert_eq!(shaper.on_cell(leaves, false), Verdict::Pass);
                prop_assert_eq!(policer.on_cell(leaves, false), Verdict::Pass);
                last = leaves;
            }
        }
    }
}
