//! How the judge polices cells that come to a switch: leaky buckets whose content leaks one second a second, and of ABR
//! every BRM that ever left the interface.

use cellrate_proto::CellRate;
use cellrate_proto::policing::contract::{Coupling, Definition};
use cellrate_proto::policing::frame::FrameContract;
use cellrate_proto::policing::usage::{Action, Rule, UsageConfig};
use cellrate_sim::PolicingSummary;

use super::*;

/// Flaws that take a policer to tell.
pub const POLICE_FLAWS: [(Flaw, u64); 10] = [
    (Flaw::EarliestDoesNotConform, 0),
    (Flaw::CutsBindAtOnce, 8),
    (Flaw::OutOfRateIsFree, 10),
    (Flaw::BrmsCountAsTheyCome, 8),
    (Flaw::DiscardedCellsCount, 0),
    (Flaw::TaggedCellsAreAlike, 1),
    (Flaw::EligibleCellByCell, 95),
    (Flaw::IneligibleFramesCount, 23),
    (Flaw::CutFramesLoseTheirEnds, 95),
    (Flaw::SharesByNumber, 143),
];

/// A bucket, in picoseconds.
#[derive(Clone, Copy, Default)]
pub(super) struct Bucket {
    content: i128,
    at: i128,
}

impl Bucket {
    /// Content that is left at `now`.
    pub(super) fn left(self, now: i128) -> i128 {
        (self.content - (now - self.at)).max(0)
    }

    pub(super) fn pour(&mut self, now: i128, increment: i128) {
        *self = Bucket { content: self.left(now) + increment, at: now };
    }
}

/// A policer, and what it has found.
pub(super) struct Policer {
    /// The direction whose cells it polices, and the step at whose end it does.
    pub(super) flow: usize,
    pub(super) step: usize,
    usage: UsageConfig,
    flaw: Option<Flaw>,
    buckets: [Bucket; 2],
    /// BRMs that have left, and their ERs [cells/s].
    brms: Vec<(i128, f64)>,
    /// When the last cell that conformed was due or came, the later of the two, and the interval then.
    last: Option<(i128, i128)>,
    /// Out-of-rate FRMs that conformed.
    out_of_rate: Bucket,
    /// Cells of the GFR frame that comes: whether each passed, whether it was eligible, and its CLP.
    frame: Vec<(bool, bool, bool)>,
    /// Cells of a frame passed, and its end has not.
    open: Option<(bool, bool)>,
    /// Cells that conform, that do not, and of those tagged and discarded ones.
    found: [u64; 4],
    /// The counts at the end of the warm-up.
    before: [u64; 4],
}

/// Fate of a cell.
pub(super) enum Fate {
    Passes,
    IsTagged,
    IsDiscarded,
}

/// A rate's interval, down to whole picoseconds; longer than any run where there is none.
pub(super) fn interval(cells_per_s: f64) -> i128 {
    if cells_per_s > 0.0 { (1e12 / cells_per_s) as i128 } else { i128::from(u64::MAX) }
}

fn ps(span: Duration) -> i128 {
    span.as_ps().into()
}

impl Policer {
    pub(super) fn all(scenario: &Scenario, flaw: Option<Flaw>) -> Vec<Policer> {
        let mut all = Vec::new();
        for (number, connection) in scenario.connections.iter().enumerate() {
            for policing in &connection.policing {
                all.push(Policer {
                    flow: 2 * number + usize::from(policing.backward),
                    step: policing.hop,
                    usage: policing.usage,
                    flaw,
                    buckets: Default::default(),
                    brms: Vec::new(),
                    last: None,
                    out_of_rate: Bucket::default(),
                    frame: Vec::new(),
                    open: None,
                    found: [0; 4],
                    before: [0; 4],
                });
            }
        }
        all
    }

    pub(super) fn end_warm_up(&mut self) {
        self.before = self.found;
    }

    pub(super) fn on_brm(&mut self, now: Time, er: f64) {
        self.brms.push((now.as_ps().into(), er));
    }

    pub(super) fn on_cell(&mut self, now: Time, cell: &Cell) -> Fate {
        let now = i128::from(now.as_ps());
        let (clp, ends_pdu) = (cell.clp(), cell.ends_pdu);
        let fate = match self.usage.rule {
            Rule::Fixed(_) => self.by_buckets(now, clp),
            Rule::Abr(_) if clp => match cell.rm.is_some_and(|rm| rm.direction == Direction::Forward) {
                true if !self.keeps_tcr(now) => Fate::IsDiscarded,
                _ => Fate::Passes,
            },
            Rule::Abr(_) => match (self.follows_brms(now), self.usage.action) {
                (true, _) => Fate::Passes,
                (false, Action::Tag) => Fate::IsTagged,
                (false, _) => Fate::IsDiscarded,
            },
            Rule::Frames(contract) => match self.by_frames(contract, now, clp, ends_pdu) {
                None => Fate::IsDiscarded,
                Some(false) if !clp && contract.tags => Fate::IsTagged,
                Some(false) if !clp => {
                    self.found[1] += 1;
                    return Fate::Passes;
                }
                Some(_) => Fate::Passes,
            },
        };
        let place = match fate {
            Fate::Passes => 0,
            Fate::IsTagged => 2,
            Fate::IsDiscarded => 3,
        };
        if place == 0 {
            self.found[0] += 1;
            return fate;
        }
        self.found[1] += 1;
        if self.usage.action == Action::Count {
            return Fate::Passes;
        }
        self.found[place] += 1;
        fate
    }

    /// The table of conformance definitions, row by row.
    fn by_buckets(&mut self, now: i128, clp: bool) -> Fate {
        let Rule::Fixed(contract) = self.usage.rule else { unreachable!() };
        let [peak, sustained] = [contract.pcr, contract.scr].map(|rate| interval(rate.as_cells_per_s()));
        let tolerance = (sustained - peak) * (i128::from(contract.mbs) - 1);
        let [in_first, in_second] = self.buckets.map(|bucket| bucket.left(now));
        let early = i128::from(self.flaw == Some(Flaw::EarliestDoesNotConform));
        let first = in_first + early <= ps(contract.cdvt);
        let second = in_second <= tolerance + ps(contract.cdvt);
        // Whether the second bucket has a say, and whether it tags what it refuses.
        let (asked, tags) = match contract.definition {
            Definition::Cbr1 | Definition::Ubr1 => return self.by_peak(now, first, peak),
            Definition::Ubr2 => {
                return match self.by_peak(now, first, peak) {
                    Fate::Passes if !clp => Fate::IsTagged,
                    fate => fate,
                };
            }
            Definition::Vbr1 => (true, false),
            Definition::Vbr2 => (!clp, false),
            Definition::Vbr3 => (!clp, true),
        };
        let fate = match (first, !asked || second) {
            (true, true) => Fate::Passes,
            (true, false) if tags => Fate::IsTagged,
            _ => Fate::IsDiscarded,
        };
        let (pours_first, pours_second) = match contract.coupling {
            Coupling::Coupled => (!matches!(fate, Fate::IsDiscarded), matches!(fate, Fate::Passes)),
            Coupling::Independent => (first, second),
            Coupling::Serial => (first, first && second),
        };
        if pours_first {
            self.buckets[0].pour(now, peak);
        }
        if asked && pours_second {
            self.buckets[1].pour(now, sustained);
        }
        fate
    }

    /// Whether the cell passes, and then whether it is of an eligible frame. `open` is a frame before of which cells
    /// have passed and the end has not, with CLP of its first cell and whether it is eligible.
    fn by_frames(&mut self, contract: FrameContract, now: i128, clp: bool, ends: bool) -> Option<bool> {
        let [peak, minimum] = [contract.pcr, contract.mcr].map(|rate| interval(rate.as_cells_per_s()));
        let tolerance = (minimum - peak) * (i128::from(contract.mbs) - 1) + ps(contract.cdvt);
        let keeps_peak = self.buckets[0].left(now) <= ps(contract.cdvt);
        let has_room = self.buckets[1].left(now) <= tolerance;
        let count = self.frame.len() as u64 + 1;
        let has_length = ends || count < contract.mfs;
        let keeps_ends = self.flaw != Some(Flaw::CutFramesLoseTheirEnds);
        let (passes, eligible) = match (self.open, self.frame.first().copied()) {
            // Nothing but an end passes, which closes the frame before.
            (Some((first_clp, eligible)), _) => {
                (keeps_ends && ends && keeps_peak && clp == first_clp, eligible)
            }
            (None, None) => (keeps_peak && has_length, !clp && has_room),
            (None, Some((false, ..))) => (false, false),
            (None, Some((true, eligible, first_clp))) => {
                let is_whole = self.frame.iter().all(|&(passed, ..)| passed);
                let keeps = keeps_peak && clp == first_clp;
                let by_itself = self.flaw == Some(Flaw::EligibleCellByCell);
                let eligible = if by_itself { !clp && has_room } else { eligible };
                (keeps && if is_whole { has_length } else { keeps_ends && ends }, eligible)
            }
        };
        if passes {
            self.buckets[0].pour(now, peak);
            if eligible || self.flaw == Some(Flaw::IneligibleFramesCount) {
                self.buckets[1].pour(now, minimum);
            }
        }
        self.frame.push((passes, eligible, clp));
        if ends {
            let (began, eligible, first_clp) = self.frame[0];
            self.open = match self.open {
                _ if passes => None,
                None if began => Some((first_clp, eligible)),
                open => open,
            };
            self.frame.clear();
        }
        passes.then_some(eligible)
    }

    fn by_peak(&mut self, now: i128, conforms: bool, peak: i128) -> Fate {
        if !conforms {
            if self.flaw == Some(Flaw::DiscardedCellsCount) {
                self.buckets[0].pour(now, peak);
            }
            return Fate::IsDiscarded;
        }
        self.buckets[0].pour(now, peak);
        Fate::Passes
    }

    /// Ten out-of-rate FRMs a second at most, of which each may have waited longer than the next.
    fn keeps_tcr(&mut self, now: i128) -> bool {
        let Rule::Abr(contract) = self.usage.rule else { unreachable!() };
        let limit = ps(contract.cdvt) + ps(contract.longest_delay) - ps(contract.shortest_delay);
        let keeps = self.flaw == Some(Flaw::OutOfRateIsFree) || self.out_of_rate.left(now) <= limit;
        if keeps {
            self.out_of_rate.pour(now, 100_000_000_000);
        }
        keeps
    }

    /// The largest ER of those that may hold now: that of the last BRM of tau2 ago or before, or ICR, and those since
    /// until tau3 ago.
    fn follows_brms(&mut self, now: i128) -> bool {
        let Rule::Abr(contract) = self.usage.rule else { unreachable!() };
        let [pcr, mcr, icr] = [contract.pcr, contract.mcr, contract.icr].map(CellRate::as_cells_per_s);
        let (tau2, tau3) = (ps(contract.longest_delay), ps(contract.shortest_delay));
        let settled = self.brms.iter().rfind(|&&(at, _)| at + tau2 <= now).map_or(icr, |&(_, er)| er);
        let since = self.brms.iter().filter(|&&(at, _)| at + tau2 > now && at + tau3 <= now);
        let rate = since.fold(settled.clamp(mcr, pcr), |most, &(_, er)| most.max(er.clamp(mcr, pcr)));
        let interval = interval(rate);
        let binds = self.flaw == Some(Flaw::CutsBindAtOnce);
        let due =
            self.last.map_or(now, |(at, before)| at + if binds { interval } else { interval.min(before) });
        let conforms = now >= due - ps(contract.cdvt);
        if conforms {
            self.last = Some((due.max(now), interval));
        }
        conforms
    }
}

impl Network<'_> {
    /// `cell` has reached a switch: the cell, tagged or not, unless it is policed there and discarded.
    pub(super) fn police(&mut self, now: Time, mut cell: Box<Cell>) -> Option<Box<Cell>> {
        if cell.oam.is_some() {
            return Some(cell);
        }
        let here = |policer: &&mut Policer| (policer.flow, policer.step) == (cell.flow, cell.step);
        let Some(policer) = self.policers.iter_mut().find(here) else { return Some(cell) };
        match policer.on_cell(now, &cell) {
            Fate::Passes => {}
            Fate::IsTagged => match &mut cell.rm {
                Some(rm) => rm.out_of_rate = true,
                None => cell.tagged = true,
            },
            Fate::IsDiscarded => {
                self.ends[cell.flow].dropped += 1;
                return None;
            }
        }
        Some(cell)
    }

    /// `cell` has left the port of this number: BRMs are seen by who polices the direction that they control, where it
    /// comes in over the same link.
    pub(super) fn show_to_police(&mut self, now: Time, number: usize, cell: &Cell) {
        let Some(rm) = cell.rm.filter(|rm| rm.direction == Direction::Backward) else { return };
        for policer in self.policers.iter_mut().filter(|policer| policer.flow == cell.flow ^ 1) {
            if number_of(self.paths[policer.flow][policer.step]) == number ^ 1 {
                policer.on_brm(now, rm.explicit_rate.rate().as_cells_per_s());
            }
        }
    }

    pub(super) fn policing_rows(&self) -> Vec<PolicingSummary> {
        let all = |of: fn(&Policer) -> [u64; 4]| self.policers.iter().map(of).collect::<Vec<_>>();
        self.policing_rows_between(&all(|policer| policer.before), &all(|policer| policer.found))
    }

    /// Counts of all policers so far.
    pub(super) fn policed(&self) -> Vec<[u64; 4]> {
        self.policers.iter().map(|policer| policer.found).collect()
    }

    /// The rows of policers that had these counts and have those.
    pub(super) fn policing_rows_between(&self, from: &[[u64; 4]], to: &[[u64; 4]]) -> Vec<PolicingSummary> {
        let row = |(policer, (from, to)): (&Policer, (&[u64; 4], &[u64; 4]))| {
            let switch = self.scenario.head(self.paths[policer.flow][policer.step]);
            let grown = |place: usize| to[place] - from[place];
            PolicingSummary {
                vc: self.name_of(policer.flow),
                switch: self.scenario.nodes[switch.0 as usize].name.clone(),
                definition: policer.usage.definition(),
                conforming: grown(0),
                nonconforming: grown(1),
                tagged: grown(2),
                discarded: grown(3),
            }
        };
        self.policers.iter().zip(from.iter().zip(to)).map(row).collect()
    }
}

impl Cell {
    /// CLP.
    pub(super) fn clp(&self) -> bool {
        self.rm.map_or(self.tagged, |rm| rm.out_of_rate)
    }
}
