//! Consistent marking (A. Charny, D. Clark, R. Jain, Congestion control with explicit rate indication, ICC 1995; the
//! "MIT scheme").
//!
//! The port keeps the rate that each connection claims, and advertises one rate to all: what the connections held back
//! elsewhere leave of the capacity, in equal shares for the others. Who claims less than the advertised rate is held
//! back elsewhere, and is marked; what it leaves makes the advertised rate larger, until it marks no other. Nothing
//! depends on the load that is measured: rates settle at max-min shares because ports agree about claims.
//!
//! Where the published description is open, or is not of TM 4.0:
//! - It stamps the rate that a source asks for on the way forward. Here a claim is the CCR of an FRM, which is what the
//!   last ER left.
//! - It marks a connection when a cell of it comes, and takes marks back with one more pass. Here all marks are worked
//!   out anew when a claim changes or an interval ends, beginning with none, until they agree with the rate.
//! - A claim is below the advertised rate if it is below the rate code of it: what sources are told is rounded down.
//! - It takes a claim for use. The way back of a one-way connection sends BRMs, and FRMs that claim all it was given; a
//!   virtual source claims what its own loop gives it, whatever comes to it. Here a connection that sent less in an
//!   averaging interval than the least it claimed throughout, by more than a sixteenth and a cell, claims what it sent,
//!   until an interval ends in which it does better. The least, because what a source sends follows what it claims.
//! - Connections come and go with their cells: one counts from its first FRM on, until an averaging interval ends
//!   without a cell of it. One that comes back counts when an interval with a cell of it has ended, by what it sent, or
//!   from its second FRM within an interval on, by what it claims: who has few cells only, as BRMs of a slow connection
//!   are, would otherwise claim everything from time to time.
//! - It shares equally, but who keeps more by its MCR takes that off the capacity first. With MCRs and weights
//!   ([`Fairness`]) what is advertised is a level, by which a connection has its MCR and its weight times the level,
//!   and the rest is what claims and the others' MCRs leave.
//! - The capacity is the target utilization of the line less what higher categories used in the last interval.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::built_in::{BuiltIn, Figure, Form};
use super::list::List;
use super::meter::{AveragingInterval, IntervalLoad, Meter, Metering};
use super::minima::above;
use super::weights::{Entitlement, Fairness};
use super::{Feedback, Promises, Slot, SwitchAlgorithm, VcAtPort};
use crate::declaration::{Range, Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::rate_code::RateCode;
use crate::units::{CellRate, Cells, Duration, Time};

/// The parameters of consistent marking. The averaging interval is one of what higher categories use, and of who is
/// there.
///
/// ```
/// use cellrate_proto::switch::ConsistentMarkingConfig;
/// let plain = ConsistentMarkingConfig::new();
/// assert_eq!(plain.check(), Ok(()));
/// let error = ConsistentMarkingConfig { target_utilization: 0.0, ..plain }.check().unwrap_err();
/// assert_eq!(error.to_string(), "target_utilization is 0; it must be above 0 and at most 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct ConsistentMarkingConfig {
    /// Averaging interval: its length at most.
    #[key(flatten, default = "5 ms")]
    pub interval: AveragingInterval,
    /// Share of the line that is handed out.
    #[key(default = "0.95", range = Range::SHARE)]
    pub target_utilization: f64,
    /// Equal shares, or every connection its MCR and a share of the rest by weight.
    #[key(default = "equal")]
    pub fairness: Fairness,
}

impl BuiltIn for ConsistentMarking {
    type Config = Arc<ConsistentMarkingConfig>;

    const FORMS: &'static [Form] = &[Form {
        title: "consistent marking",
        shape: Shape {
            name: "consistent-marking",
            about: "Consistent marking: one rate for all connections, which is what those held back elsewhere leave for each other one.",
            keys: ConsistentMarkingConfig::KEYS,
        },
        figures: &[Figure::plain("n"), Figure::rate("fair_share"), Figure::rate("capacity")],
    }];

    fn at_port(config: &Arc<ConsistentMarkingConfig>, link_rate: CellRate) -> ConsistentMarking {
        ConsistentMarking::new(Arc::clone(config), link_rate)
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<Arc<ConsistentMarkingConfig>, V::Error> {
        ConsistentMarkingConfig::read(values).map(Arc::new)
    }

    fn check(config: &Arc<ConsistentMarkingConfig>) -> Result<(), ParameterError> {
        config.as_ref().check()
    }

    fn target_utilization(config: &Arc<ConsistentMarkingConfig>) -> f64 {
        config.target_utilization
    }

    fn fairness(config: &Arc<ConsistentMarkingConfig>) -> Fairness {
        config.fairness
    }
}

/// The algorithm. Ports share their parameters.
#[derive(Clone, Debug)]
pub struct ConsistentMarking {
    config: Arc<ConsistentMarkingConfig>,
    link_rate: CellRate,
    capacity: CellRate,
    claims: List<Claim>,
    /// The weights of connections that count, together: with equal shares, their number.
    counted: f64,
    /// The rate, or with weights the level, of all that are not marked.
    advertised: CellRate,
}

/// Claim of a connection on the line, and what it really sent.
#[derive(Clone, Copy, Debug)]
struct Claim {
    standing: Standing,
    /// CCR of the last FRM.
    ccr: CellRate,
    /// The least it claimed since the interval began; zero if it did not claim anything then.
    least: CellRate,
    /// Rate that it sent in the last interval, if that was less than it claimed; else infinite.
    sent: CellRate,
    entitled: Entitlement,
    /// MCR, which it keeps in any case, where shares are equal; zero else. In single precision for its size.
    keeps: f32,
}

/// Whether a connection counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// No FRM has come yet.
    New,
    /// An interval has ended without a cell of it, and no FRM has come since.
    Away,
    /// It was away before this interval, and one FRM has come.
    Back,
    /// It counts.
    Counts,
}

/// A connection uses what it claims if it sends this part of it, less a cell.
const USED: f64 = 15.0 / 16.0;

impl Claim {
    const ANYTHING: CellRate = CellRate::new(f64::INFINITY);

    fn new(entitled: Entitlement, mcr: CellRate) -> Claim {
        let (ccr, least) = (CellRate::ZERO, CellRate::ZERO);
        let keeps = mcr.as_cells_per_s() as f32;
        Claim { standing: Standing::New, ccr, least, sent: Claim::ANYTHING, entitled, keeps }
    }

    /// Rate that it takes of the line, if it counts.
    fn claimed(&self) -> Option<CellRate> {
        (self.standing == Standing::Counts).then(|| self.ccr.min(self.sent))
    }

    fn on_forward_rm(&mut self, ccr: CellRate) {
        self.ccr = ccr;
        match self.standing {
            Standing::Away => self.standing = Standing::Back,
            Standing::Counts => self.least = self.least.min(ccr),
            Standing::New | Standing::Back => {
                // The interval has begun without its claim.
                let (standing, least, sent) = (Standing::Counts, CellRate::ZERO, Claim::ANYTHING);
                *self = Claim { standing, least, sent, ..*self };
            }
        }
    }

    /// An interval of this length ended, in which so many cells of it came.
    fn end_interval(&mut self, cells: u64, length: Duration) {
        if self.standing == Standing::New {
            return;
        }
        let seconds = length.as_secs_f64();
        let claimed = self.least.as_cells_per_s() * seconds;
        let used = self.standing == Standing::Counts && (cells + 1) as f64 >= USED * claimed;
        self.sent = if used { Claim::ANYTHING } else { CellRate::new(cells as f64 / seconds) };
        self.standing = if cells > 0 { Standing::Counts } else { Standing::Away };
        self.least = self.ccr;
    }
}

/// The connections that count, parted by a level.
#[derive(Clone, Copy, Debug)]
struct Parted {
    /// How many claim less, and are marked.
    marked: u32,
    /// Rate that these claim, and the others' MCRs.
    taken: CellRate,
    /// The others' weights.
    sharing: f64,
    /// The largest level that a marked one claims, and its weight.
    largest: CellRate,
    its_weight: f64,
    /// All weights.
    counted: f64,
    /// Whether some of the others keep an MCR where shares are equal.
    keeps: bool,
}

impl ConsistentMarking {
    /// At the port of a line that takes `link_rate`.
    pub fn new(config: impl Into<Arc<ConsistentMarkingConfig>>, link_rate: CellRate) -> ConsistentMarking {
        let config = config.into();
        let capacity = link_rate * config.target_utilization;
        let (claims, counted) = (List::new(), 0.0);
        ConsistentMarking { config, link_rate, capacity, claims, counted, advertised: capacity }
    }

    /// Works out what is advertised from the claims: with none marked it is smallest, and each mark lets it grow.
    fn advertise(&mut self) {
        let (mut level, mut parted) = (CellRate::ZERO, self.part_at(CellRate::ZERO));
        loop {
            self.advertised = self.left_by(&parted);
            if parted.keeps && parted.sharing > 0.0 {
                self.advertised = self.left_above(level, &parted);
            }
            level = self.advertised;
            let next = self.part_at(self.advertised);
            if next.marked <= parted.marked {
                break;
            }
            parted = next;
        }
        self.counted = parted.counted;
    }

    /// A connection is marked if it claims less than it would have at this level, as far as an RM cell can say it.
    fn part_at(&self, level: CellRate) -> Parted {
        let nobody = Parted {
            marked: 0,
            taken: CellRate::ZERO,
            sharing: 0.0,
            largest: CellRate::ZERO,
            its_weight: 1.0,
            counted: 0.0,
            keeps: false,
        };
        let claims = self.claims.as_slice().iter();
        let counted = claims.filter_map(|claim| Some((claim.claimed()?, claim.entitled, claim.keeps)));
        counted.fold(nobody, |mut parted, (claimed, entitled, keeps)| {
            parted.counted += entitled.weight();
            if claimed >= RateCode::floor(entitled.rate(level)).rate() {
                parted.taken = parted.taken + entitled.rate(CellRate::ZERO);
                parted.sharing += entitled.weight();
                parted.keeps |= keeps > 0.0;
                return parted;
            }
            parted.marked += 1;
            parted.taken = parted.taken + claimed;
            let level = entitled.level(claimed);
            if level >= parted.largest {
                (parted.largest, parted.its_weight) = (level, entitled.weight());
            }
            parted
        })
    }

    /// With equal shares, rate that is left for each of those that are not marked, since they claim no less than this
    /// `level`, when those of them that keep more by their MCRs have it.
    fn left_above(&self, level: CellRate, parted: &Parted) -> CellRate {
        let level = RateCode::floor(level).rate();
        let keeping = self.claims.as_slice().iter().filter(|claim| claim.keeps > 0.0);
        let sharing = keeping.filter(|claim| claim.claimed().is_some_and(|claimed| claimed >= level));
        let mut mcrs: Vec<CellRate> = sharing.map(|claim| CellRate::new(claim.keeps.into())).collect();
        let left = self.capacity.saturating_sub(parted.taken);
        above(left, parted.sharing, &mut mcrs).share_of(left, parted.sharing)
    }

    /// Rate that is left for each unit of weight of those that are not marked; where all are, what the largest of them
    /// could have.
    fn left_by(&self, parted: &Parted) -> CellRate {
        let left = self.capacity.saturating_sub(parted.taken);
        if parted.sharing > 0.0 {
            left * (1.0 / parted.sharing)
        } else {
            parted.largest + left * (1.0 / parted.its_weight)
        }
    }
}

impl SwitchAlgorithm for ConsistentMarking {
    fn metering(&self) -> Option<Metering> {
        Some(Metering { interval: self.config.interval, bidirectional: false, history: true })
    }

    fn on_connect(&mut self, _slot: Slot, vc: &VcAtPort) {
        let (entitled, mcr) = match self.config.fairness {
            Fairness::Equal => (Entitlement::EQUAL, vc.mcr),
            Fairness::Weighted => (Entitlement::of(vc), CellRate::ZERO),
        };
        self.claims.push(Claim::new(entitled, mcr));
    }

    fn on_forward_rm(&mut self, _now: Time, slot: Slot, ccr: CellRate, _meter: &Meter) {
        let claim = &mut self.claims[slot];
        let before = claim.claimed();
        claim.on_forward_rm(ccr);
        if claim.claimed() != before {
            self.advertise();
        }
    }

    fn on_backward_rm(
        &mut self,
        _now: Time,
        slot: Slot,
        _queue: Cells,
        _meter: &Meter,
        feedback: &mut Feedback,
    ) {
        feedback.limit(self.claims[slot].entitled.rate(self.advertised));
    }

    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.link_rate = link_rate;
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, meter: &Meter) {
        self.capacity = load.available(self.link_rate * self.config.target_utilization);
        for (slot, claim) in (0..).map(Slot).zip(self.claims.as_mut_slice()) {
            claim.end_interval(meter.previous_cells(slot), load.length());
        }
        self.advertise();
    }

    /// A number, and two rates in cells/s.
    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("n", self.counted);
        visit("fair_share", self.advertised.as_cells_per_s());
        visit("capacity", self.capacity.as_cells_per_s());
    }
}

impl Promises for ConsistentMarking {
    fn ignores_open_interval(&self) -> bool {
        true
    }

    fn is_at_rest(&self) -> bool {
        self.counted == 0.0 && self.capacity == self.link_rate * self.config.target_utilization
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::small_port::port_with;
    use crate::switch::{PortControl, SwitchAlgorithmConfig};

    /// Intervals of 1/64 s; the line takes twice what is handed out, 65,536 cells/s.
    const INTERVAL: Duration = Duration::from_us(15_625);
    const C: f64 = 65_536.0;

    struct World {
        port: PortControl,
        slots: Vec<Slot>,
    }

    impl World {
        fn new(connections: usize) -> World {
            World::with(Fairness::Equal, &[(0.0, 7.0)].repeat(connections))
        }

        /// Connections of these MCRs, in parts of C, and weights.
        fn with(fairness: Fairness, connections: &[(f64, f64)]) -> World {
            let interval = AveragingInterval::of_time(INTERVAL);
            let config = ConsistentMarkingConfig { interval, target_utilization: 0.5, fairness };
            assert_eq!(config.check(), Ok(()));
            let algorithm = SwitchAlgorithmConfig::ConsistentMarking(Arc::new(config));
            let (port, slots) = port_with(algorithm, CellRate::new(2.0 * C), CellRate::new(C), connections);
            World { port, slots }
        }

        /// An FRM that claims so many parts of C.
        fn claim(&mut self, connection: usize, part: f64) {
            self.cell(connection);
            let now = Time::from_ps(self.port.next_deadline().as_ps() - 1);
            self.port.on_forward_rm(now, self.slots[connection], CellRate::new(part * C));
        }

        fn cell(&mut self, connection: usize) {
            self.cells(connection, 1);
        }

        /// So many cells: 1024 in an interval are C.
        fn cells(&mut self, connection: usize, count: u32) {
            let now = Time::from_ps(self.port.next_deadline().as_ps() - 1);
            (0..count).for_each(|_| self.port.on_abr_cell(now, self.slots[connection]));
        }

        fn end_interval(&mut self) {
            self.port.end_intervals(self.port.next_deadline(), |_| Cells::ZERO);
        }

        fn figures(&self) -> Vec<f64> {
            let mut figures = Vec::new();
            self.port.metrics(|_, value| figures.push(value));
            figures
        }

        /// The advertised rate in parts of C.
        fn advertised(&self) -> f64 {
            self.figures()[1] / C
        }

        fn er(&mut self, came: CellRate) -> f64 {
            self.er_of(0, came)
        }

        fn er_of(&mut self, connection: usize, came: CellRate) -> f64 {
            let mut feedback = Feedback::new(RateCode::floor(came), false, false);
            self.port.on_backward_rm(Time::ZERO, self.slots[connection], Cells(1_000), &mut feedback);
            assert!(!feedback.congestion_indication() && !feedback.no_increase());
            feedback.explicit_rate().rate().as_cells_per_s() / C
        }
    }

    #[test]
    fn with_nobody_there_all_of_the_capacity_is_advertised() {
        let mut world = World::new(2);
        assert_eq!((world.figures(), world.er(RateCode::MAX.rate())), ([0.0, C, C].to_vec(), 1.0));
        assert_eq!(world.er(CellRate::new(C / 4.0)), 0.25, "ER is never raised");
    }

    #[test]
    fn those_who_claim_more_share_what_those_who_claim_less_leave() {
        let mut world = World::new(4);
        for (connection, claim, advertised) in [
            (0, 1.0, 1.0),
            (1, 1.0, 0.5),
            // Held back elsewhere: 7/8 for two.
            (2, 0.125, 0.4375),
            // 1/4 is not less than a quarter of C, but less than what the third leaves for each of three: 5/8 for two.
            (3, 0.25, 0.3125),
            // Nor is 5/16 less than 5/16: it is one of the two.
            (0, 0.3125, 0.3125),
        ] {
            world.claim(connection, claim);
            assert_eq!(world.advertised(), advertised, "{connection} claims {claim}");
        }
    }

    #[test]
    fn who_keeps_more_by_its_mcr_leaves_less_to_share() {
        let mut world = World::with(Fairness::Equal, &[(0.75, 1.0), (0.0, 1.0), (0.0, 1.0)]);
        (0..3).for_each(|connection| world.claim(connection, 0.75));
        assert_eq!(world.advertised(), 0.125, "a quarter of C for two");
        // One that is held back leaves its part to the other, and not to the first.
        world.claim(2, 0.0625);
        assert_eq!(world.advertised(), 0.1875);
    }

    /// A claim of what was advertised before a third came is above what each gets now, and all that is marked below it
    /// goes.
    #[test]
    fn a_mark_does_not_outlive_its_reason() {
        let mut world = World::new(4);
        (0..2).for_each(|connection| world.claim(connection, 1.0));
        world.claim(2, 0.3125);
        assert_eq!(world.advertised(), 0.34375, "the third is marked");
        world.claim(3, 1.0);
        assert_eq!(world.advertised(), 0.25, "and holds back with the others now");
    }

    #[test]
    fn where_all_are_held_back_elsewhere_the_largest_may_have_the_rest() {
        let mut world = World::new(2);
        world.claim(0, 0.125);
        assert_eq!(world.advertised(), 1.0);
        world.claim(1, 0.25);
        assert_eq!(world.advertised(), 0.875);
    }

    /// The rate code of C/3 is below it. A claim of just that is one of three equal ones, and does not raise the
    /// others.
    #[test]
    fn a_claim_is_compared_with_the_rate_code() {
        let third = RateCode::floor(CellRate::new(C / 3.0)).rate().as_cells_per_s() / C;
        assert!(third < 1.0 / 3.0);
        let mut world = World::new(3);
        (0..3).for_each(|connection| world.claim(connection, third));
        assert!((world.advertised() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn with_weights_each_has_its_mcr_and_its_weight_times_the_level() {
        let mut world = World::with(Fairness::Weighted, &[(0.25, 1.0), (0.0, 2.0), (0.125, 1.0)]);
        let most = RateCode::MAX.rate();
        (0..2).for_each(|connection| world.claim(connection, 1.0));
        // 3/4 for weights of 3.
        assert_eq!((world.figures()[0], world.advertised()), (3.0, 0.25));
        assert_eq!((world.er_of(0, most), world.er_of(1, most)), (0.5, 0.5));
        // The third has 1/8 and is not marked for claiming no more than that. Then 5/8 for weights of 4.
        world.claim(2, 1.0);
        assert_eq!((world.figures()[0], world.advertised()), (4.0, 0.15625));
        assert_eq!(world.er_of(2, most), 0.28125);
        // It is held back elsewhere at 3/16, below 9/32: 9/16 for weights of 3, above one MCR of 1/4.
        world.claim(2, 0.1875);
        assert_eq!(world.advertised(), 0.1875);
        assert_eq!([0, 1, 2].map(|connection| world.er_of(connection, most)), [0.4375, 0.375, 0.3125]);
        // All are: what is left of C goes on top of the largest level, that of the second.
        world.claim(0, 0.25);
        world.claim(1, 0.25);
        assert_eq!(world.advertised(), 0.125 + 0.3125 / 2.0);
    }

    #[test]
    fn where_mcrs_take_all_there_is_nothing_to_share_and_they_remain() {
        let mut world = World::with(Fairness::Weighted, &[(0.75, 1.0), (0.5, 1.0)]);
        (0..2).for_each(|connection| world.claim(connection, 1.0));
        assert_eq!(world.advertised(), 0.0);
        assert_eq!([0, 1].map(|connection| world.er_of(connection, RateCode::MAX.rate())), [0.75, 0.5]);
    }

    #[test]
    fn a_connection_counts_from_its_frm_until_an_interval_without_a_cell() {
        let mut world = World::new(2);
        world.cell(1);
        world.claim(0, 1.0);
        assert_eq!(world.figures()[0], 1.0, "a cell alone is no claim");
        world.claim(1, 1.0);
        assert_eq!((world.figures()[0], world.advertised()), (2.0, 0.5));
        world.end_interval();
        assert_eq!(world.figures()[0], 2.0, "both were there");
        world.cells(0, 1024);
        world.end_interval();
        assert_eq!((world.figures()[0], world.advertised()), (1.0, 1.0));
    }

    #[test]
    fn one_that_comes_back_counts_from_its_second_frm_within_an_interval_by_its_claim() {
        let mut world = World::new(2);
        (0..2).for_each(|connection| world.claim(connection, 1.0));
        world.cells(0, 1023);
        world.end_interval();
        world.cells(0, 1024);
        world.end_interval();
        world.claim(1, 1.0);
        assert_eq!(world.figures()[0], 1.0, "nobody knows yet what comes behind this one");
        world.claim(1, 1.0);
        assert_eq!((world.figures()[0], world.advertised()), (2.0, 0.5));
        // It began within the interval, of which its few cells say nothing.
        world.cells(0, 1024);
        world.end_interval();
        assert_eq!((world.figures()[0], world.advertised()), (2.0, 0.5));
    }

    /// As BRMs of a slow connection do, each time with the same claim of all the line.
    #[test]
    fn one_that_comes_back_with_few_cells_counts_after_the_interval_and_by_those() {
        let mut world = World::new(2);
        (0..2).for_each(|connection| world.claim(connection, 1.0));
        world.end_interval();
        for _ in 0..3 {
            world.cells(0, 1024);
            world.end_interval();
            assert_eq!((world.figures()[0], world.advertised()), (1.0, 1.0));
            world.cells(0, 1024);
            world.cells(1, 15);
            world.claim(1, 1.0);
            assert_eq!((world.figures()[0], world.advertised()), (1.0, 1.0));
            world.end_interval();
            assert_eq!((world.figures()[0], world.advertised()), (2.0, 0.984375), "16 of 1024 cells");
        }
    }

    /// It sends as much as it claimed before it went away, which says nothing of what it claims now.
    #[test]
    fn one_that_comes_back_is_not_held_to_what_it_claimed_before() {
        let mut world = World::new(2);
        world.claim(0, 1.0);
        world.claim(1, 0.015625);
        (0..2).for_each(|_| {
            world.end_interval();
            world.cells(0, 1024);
        });
        world.cells(1, 15);
        world.claim(1, 1.0);
        world.end_interval();
        assert_eq!((world.figures()[0], world.advertised()), (2.0, 0.984375), "16 of 1024 cells");
    }

    #[test]
    fn who_sends_less_than_it_claims_claims_what_it_sends() {
        let mut world = World::new(2);
        (0..2).for_each(|connection| world.claim(connection, 1.0));
        world.end_interval();
        assert_eq!(world.advertised(), 0.5, "the first interval says nothing: it began without claims");
        world.cells(0, 1024);
        world.cells(1, 128);
        world.end_interval();
        assert_eq!((world.figures()[0], world.advertised()), (2.0, 0.875));
        // Whatever it claims then, but not more than that.
        world.claim(1, 0.875);
        assert_eq!(world.advertised(), 0.875);
        world.claim(1, 0.0625);
        assert_eq!(world.advertised(), 0.9375);
        // It has sent 64 cells, as much as the least that it claimed: it is trusted again.
        world.cells(1, 61);
        world.claim(1, 0.5);
        assert_eq!(world.advertised(), 0.875);
        world.cells(0, 1024);
        world.end_interval();
        assert_eq!(world.advertised(), 0.5);
    }

    #[test]
    fn a_claim_counts_as_used_within_a_sixteenth_and_a_cell() {
        // 256 cells in an interval are a quarter of C: 240 are enough, or 239, because the last one may be late.
        for (cells, claimed) in [(239, 0.25), (238, 238.0 / 1024.0)] {
            let mut world = World::new(2);
            world.claim(0, 1.0);
            world.claim(1, 0.25);
            world.end_interval();
            world.cells(0, 1024);
            world.cells(1, cells);
            world.end_interval();
            assert_eq!(world.advertised(), 1.0 - claimed, "{cells} cells");
        }
    }

    /// A source that grows: its rate follows its claim, and in the interval in which it claims more it has still sent
    /// less.
    #[test]
    fn a_growing_source_is_held_to_the_least_that_it_claimed() {
        let mut world = World::new(2);
        world.claim(0, 1.0);
        world.claim(1, 0.25);
        world.end_interval();
        world.cells(0, 1024);
        world.cells(1, 254);
        world.claim(1, 0.375);
        world.claim(1, 1.0);
        world.end_interval();
        assert_eq!(world.advertised(), 0.5);
    }

    #[test]
    fn higher_categories_leave_less() {
        let mut world = World::new(2);
        (0..2).for_each(|connection| world.claim(connection, 1.0));
        world.port.on_guaranteed_cells(512);
        world.end_interval();
        assert_eq!((world.figures()[2], world.advertised()), (C / 2.0, 0.25));
        (0..2).for_each(|connection| world.claim(connection, 0.25));
        world.port.on_guaranteed_cells(4096);
        world.end_interval();
        assert_eq!((world.figures()[2], world.er(RateCode::MAX.rate())), (0.0, 0.0));
    }

    #[test]
    fn idle_intervals_passed_over_are_those_that_would_change_nothing() {
        let [mut late, mut prompt] = [(); 2].map(|()| World::new(1));
        for world in [&mut late, &mut prompt] {
            world.claim(0, 1.0);
            world.port.on_guaranteed_cells(100);
        }
        let end = late.port.next_deadline() + INTERVAL * 300;
        let mut asked = 0;
        late.port.end_intervals(end, |_| {
            asked += 1;
            Cells::ZERO
        });
        (0..301).for_each(|_| prompt.end_interval());
        assert_eq!(
            (late.figures(), late.port.next_deadline()),
            (prompt.figures(), prompt.port.next_deadline())
        );
        assert!(asked < 10, "{asked} intervals were ended one by one");
    }
}
