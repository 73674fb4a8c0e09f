//! Usage parameter control: a policer of one direction of a connection at one interface, what it does with cells that
//! do not conform, and what it counts (TM 4.0, 5.4; at the first switch UPC, between networks NPC).

use super::contract::{Contract, Policer, Verdict};
use super::dynamic::{AbrContract, DynamicGcra};
use super::frame::{FrameContract, FramePolicer, FrameVerdict};
use crate::declaration::words;
use crate::parameters::ParameterError;
use crate::units::{CellRate, Time};

/// Which conformance definition holds, and with which parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// CBR.1, VBR.1 to VBR.3, UBR.1 or UBR.2.
    Fixed(Contract),
    /// ABR.1.
    Abr(AbrContract),
    /// GFR.1 or GFR.2.
    Frames(FrameContract),
}

words! {
    /// The fate of a cell that does not conform.
    #[derive(Hash)]
    pub enum Action {
        /// It is discarded; but what VBR.3, UBR.2 and GFR.2 say is to be tagged is tagged, and what GFR.1 finds not
        /// eligible goes on as it is.
        Discard = "discard",
        /// It goes on with CLP = 1; of ABR.1, which leaves it to the network. Out-of-rate FRMs, which have that
        /// already, are discarded.
        Tag = "tag",
        /// It goes on as it is, and is counted.
        Count = "count",
    }
}

/// The configuration of a policer: its conformance definition, and the fate of cells that do not conform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsageConfig {
    /// Rule that says which cells conform.
    pub rule: Rule,
    /// Action on cells that do not conform.
    pub action: Action,
}

impl UsageConfig {
    /// Refuses what its [contract](Rule) refuses.
    ///
    /// # Errors
    /// With the parameter's name, value and range.
    pub fn check(&self) -> Result<(), ParameterError> {
        match &self.rule {
            Rule::Fixed(contract) => contract.check(),
            Rule::Abr(contract) => contract.check(),
            Rule::Frames(contract) => contract.check(),
        }
    }

    /// The name of the conformance definition, "CBR.1" to "GFR.2".
    pub const fn definition(&self) -> &'static str {
        match &self.rule {
            Rule::Fixed(contract) => contract.definition.word(),
            Rule::Abr(_) => "ABR.1",
            Rule::Frames(contract) => contract.name(),
        }
    }
}

/// Cells that a policer has decided on. Each is conforming or not; of the latter some are tagged, some discarded, and
/// where it only counts neither. Of GFR a cell with CLP = 0 counts as conforming if its frame is eligible, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageCounts {
    /// Cells that conform; those with CLP = 1 that the definition leaves alone are among them.
    pub conforming: u64,
    /// Cells that do not.
    pub nonconforming: u64,
    /// Cells among them that went on with CLP = 1.
    pub tagged: u64,
    /// Cells among them that were discarded.
    pub discarded: u64,
}

/// A cell as a policer sees it. The default is a data cell amid its PDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolicedCell {
    /// Its CLP.
    pub clp: bool,
    /// Whether it is a data cell whose AAL user bit is set.
    pub ends_pdu: bool,
    /// Whether it is an RM cell with DIR = 0.
    pub is_forward_rm: bool,
}

/// A policer at work.
#[derive(Clone, Debug)]
pub struct UsageControl {
    kind: Kind,
    action: Action,
    counts: UsageCounts,
}

#[derive(Clone, Debug)]
enum Kind {
    Fixed(Policer),
    Abr(DynamicGcra),
    Frames { policer: FramePolicer, tags: bool },
}

impl UsageControl {
    /// One that no cell has come to.
    pub fn new(config: &UsageConfig) -> UsageControl {
        let kind = match &config.rule {
            Rule::Fixed(contract) => Kind::Fixed(Policer::new(contract)),
            Rule::Abr(contract) => Kind::Abr(DynamicGcra::new(contract)),
            Rule::Frames(contract) => {
                Kind::Frames { policer: FramePolicer::new(contract), tags: contract.tags }
            }
        };
        UsageControl { kind, action: config.action, counts: UsageCounts::default() }
    }

    /// Verdict on a cell that comes at `now`.
    pub fn on_cell(&mut self, now: Time, cell: PolicedCell) -> Verdict {
        let PolicedCell { clp, ends_pdu, .. } = cell;
        let found = match &mut self.kind {
            Kind::Fixed(policer) => policer.on_cell(now, clp),
            Kind::Abr(dynamic) if clp => match cell.is_forward_rm && !dynamic.on_out_of_rate_frm(now) {
                // Its CLP says already what a tag would.
                true => Verdict::Discard,
                false => Verdict::Pass,
            },
            Kind::Abr(dynamic) => match (dynamic.on_cell(now), self.action) {
                (true, _) => Verdict::Pass,
                (false, Action::Tag) => Verdict::Tag,
                (false, _) => Verdict::Discard,
            },
            Kind::Frames { policer, tags } => match policer.on_cell(now, clp, ends_pdu) {
                FrameVerdict::Nonconforming => Verdict::Discard,
                FrameVerdict::BestEffort if !clp && *tags => Verdict::Tag,
                FrameVerdict::BestEffort if !clp => {
                    self.counts.nonconforming += 1;
                    return Verdict::Pass;
                }
                FrameVerdict::BestEffort | FrameVerdict::Eligible => Verdict::Pass,
            },
        };
        if found == Verdict::Pass {
            self.counts.conforming += 1;
            return Verdict::Pass;
        }
        self.counts.nonconforming += 1;
        if self.action == Action::Count {
            return Verdict::Pass;
        }
        match found {
            Verdict::Tag => self.counts.tagged += 1,
            _ => self.counts.discarded += 1,
        }
        found
    }

    /// A BRM with this ER, of the loop that the policed direction belongs to, leaves the interface towards the source
    /// at `now`.
    pub fn on_backward_rm(&mut self, now: Time, er: CellRate) {
        if let Kind::Abr(dynamic) = &mut self.kind {
            dynamic.on_backward_rm(now, er);
        }
    }

    /// Counts of the cells so far.
    pub const fn counts(&self) -> UsageCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::{Coupling, Definition};
    use super::*;
    use crate::units::Duration;
    use Verdict::{Discard, Pass, Tag};
    use std::vec;
    use std::vec::Vec;

    const DATA: PolicedCell = PolicedCell { clp: false, ends_pdu: false, is_forward_rm: false };

    fn part(clp: bool, ends_pdu: bool) -> PolicedCell {
        PolicedCell { clp, ends_pdu, ..DATA }
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn fixed(definition: Definition, action: Action) -> UsageControl {
        let contract = Contract {
            definition,
            pcr: CellRate::new(1e5),
            cdvt: Duration::ZERO,
            scr: CellRate::new(25e3),
            mbs: 2,
            coupling: Coupling::Coupled,
        };
        UsageControl::new(&UsageConfig { rule: Rule::Fixed(contract), action })
    }

    fn abr(action: Action) -> UsageControl {
        let rate = CellRate::new(1e5);
        let contract = AbrContract {
            pcr: rate,
            mcr: CellRate::ZERO,
            icr: rate,
            cdvt: Duration::ZERO,
            longest_delay: Duration::ZERO,
            shortest_delay: Duration::ZERO,
        };
        UsageControl::new(&UsageConfig { rule: Rule::Abr(contract), action })
    }

    /// Counts after cells every 5 us at a peak of one in 10.
    fn counts(mut control: UsageControl) -> (UsageCounts, Vec<Verdict>) {
        let verdicts = (0..8).map(|cell| control.on_cell(us(5 * cell), DATA)).collect();
        (control.counts(), verdicts)
    }

    #[test]
    fn what_fails_is_discarded_or_tagged_as_the_definition_says() {
        let (counted, verdicts) = counts(fixed(Definition::Cbr1, Action::Discard));
        assert_eq!(verdicts, [Pass, Discard].repeat(4));
        assert_eq!(counted, UsageCounts { conforming: 4, nonconforming: 4, tagged: 0, discarded: 4 });
        // Of the cells every 10 us the first two conform to SCR, and the next would at 50 us.
        let (counted, verdicts) = counts(fixed(Definition::Vbr3, Action::Discard));
        assert_eq!(verdicts, [Pass, Discard, Pass, Discard, Tag, Discard, Tag, Discard]);
        assert_eq!(counted, UsageCounts { conforming: 2, nonconforming: 6, tagged: 2, discarded: 4 });
    }

    #[test]
    fn counting_lets_all_go_on_and_charges_as_if_it_did_not() {
        for definition in [Definition::Cbr1, Definition::Vbr1, Definition::Vbr3, Definition::Ubr2] {
            let (acting, _) = counts(fixed(definition, Action::Discard));
            let (counted, verdicts) = counts(fixed(definition, Action::Count));
            assert_eq!(verdicts, vec![Pass; 8]);
            assert_eq!(counted, UsageCounts { tagged: 0, discarded: 0, ..acting }, "{definition:?}");
        }
    }

    #[test]
    fn of_abr_in_rate_cells_are_discarded_or_tagged_and_others_pass() {
        assert_eq!(counts(abr(Action::Discard)).1, [Pass, Discard].repeat(4));
        assert_eq!(counts(abr(Action::Tag)).1, [Pass, Tag].repeat(4));
        let mut control = abr(Action::Discard);
        assert!((0..8).all(|cell| control.on_cell(us(cell), PolicedCell { clp: true, ..DATA }) == Pass));
        assert_eq!(control.counts().conforming, 8);
        // A BRM cuts the rate to a tenth; the cut binds one cell late.
        control.on_backward_rm(us(10), CellRate::new(1e4));
        let verdicts: Vec<Verdict> = (2..13).map(|cell| control.on_cell(us(10 * cell), DATA)).collect();
        assert_eq!(verdicts, [&[Pass][..], &[Discard; 9], &[Pass]].concat());
    }

    #[test]
    fn out_of_rate_frms_are_held_to_tcr_and_brms_are_not() {
        let frm = PolicedCell { clp: true, is_forward_rm: true, ..DATA };
        let story = |action, cell: PolicedCell| {
            let mut control = abr(action);
            let verdicts: Vec<Verdict> =
                (0..6).map(|number| control.on_cell(us(50_000 * number), cell)).collect();
            (verdicts, control.counts())
        };
        // One in 50 ms, and TCR is one in 100 ms.
        for action in [Action::Discard, Action::Tag] {
            let (verdicts, counts) = story(action, frm);
            assert_eq!(verdicts, [Pass, Discard].repeat(3));
            assert_eq!(counts, UsageCounts { conforming: 3, nonconforming: 3, tagged: 0, discarded: 3 });
        }
        let (verdicts, counts) = story(Action::Count, frm);
        assert_eq!((verdicts, counts.nonconforming, counts.discarded), (vec![Pass; 6], 3, 0));
        assert_eq!(story(Action::Discard, PolicedCell { is_forward_rm: false, ..frm }).0, [Pass; 6]);
    }

    /// Counts and verdicts where frames of two cells come at the peak of one a us, and every second may be eligible.
    fn frames(tags: bool, action: Action) -> (UsageCounts, Vec<Verdict>) {
        let contract = FrameContract {
            tags,
            pcr: CellRate::new(1e6),
            cdvt: Duration::ZERO,
            mcr: CellRate::new(5e5),
            mbs: 1,
            mfs: 2,
        };
        let mut control = UsageControl::new(&UsageConfig { rule: Rule::Frames(contract), action });
        let mut verdicts: Vec<Verdict> =
            (0..8).map(|cell| control.on_cell(us(cell), part(false, cell % 2 == 1))).collect();
        // One with CLP = 1, of two cells, and one that is too long by a cell.
        verdicts.extend((8..10).map(|cell| control.on_cell(us(cell), part(true, cell == 9))));
        verdicts.extend((20..23).map(|cell| control.on_cell(us(cell), part(false, cell == 22))));
        (control.counts(), verdicts)
    }

    #[test]
    fn of_gfr_what_is_not_eligible_is_tagged_or_left_alone() {
        let (counted, verdicts) = frames(true, Action::Discard);
        let passed = [Pass, Pass, Tag, Tag, Pass, Pass, Tag, Tag, Pass, Pass, Pass, Discard, Pass];
        assert_eq!(verdicts, passed);
        assert_eq!(counted, UsageCounts { conforming: 8, nonconforming: 5, tagged: 4, discarded: 1 });
        let (counted, verdicts) = frames(false, Action::Discard);
        assert_eq!(verdicts, passed.map(|verdict| if verdict == Tag { Pass } else { verdict }));
        assert_eq!(counted, UsageCounts { conforming: 8, nonconforming: 5, tagged: 0, discarded: 1 });
        let (counted, verdicts) = frames(true, Action::Count);
        assert_eq!(verdicts, vec![Pass; 13]);
        assert_eq!(counted, UsageCounts { conforming: 8, nonconforming: 5, tagged: 0, discarded: 0 });
    }
}
