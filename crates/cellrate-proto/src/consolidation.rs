//! Feedback consolidation at a branch point of a point-to-multipoint ABR connection.
//!
//! A branch point copies data cells and FRMs to all its branches, and its source is to get about one BRM for each FRM,
//! which allows no more than the slowest branch does. So the BRMs of the branches end here, and what they say is kept
//! together: MER, the least ER, and MCI and MNI, whether any said CI or NI, since these registers began anew. When a
//! BRM goes up with what they hold, and when they begin anew, is the [algorithm](Consolidation).
//!
//! Who goes up too early, before all branches have reported, tells the source a rate that one of them cannot carry:
//! consolidation noise. Who waits for all lets the source overload a near branch until the farthest has reported.
//!
//! A [`Consolidator`] knows nothing of ports: whoever has it multiplies cells, lets the switch's own algorithm lower
//! the ER of the BRMs, and says which BRM has come.
//!
//! Sources: Roberts (number 1), Tzeng and Siu, JSAC 1997 (2), Ren, Siu and Suzuki (3), Jiang, Zegura and Ammar (the
//! probabilistic one), and Fahmy, Jain and others, AF 97-0615 and INFOCOM 1998, who number these and add 4 to 7.

use alloc::vec::Vec;

use crate::parameters::{ParameterError, in_range};
use crate::rate_code::RateCode;
use crate::rm::{Direction, RmCell};
use crate::units::{CellRate, Duration, Time};

/// When a branch point lets a BRM go up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Consolidation {
    /// Number 1 (Roberts): every FRM is answered at once with what the registers hold, which begin anew.
    TurnAround,
    /// Number 2 (Tzeng and Siu): as 1, but only if a BRM has come since the last answer.
    TurnAroundInformed,
    /// Number 3 (Ren, Siu and Suzuki): the first BRM that comes after an FRM goes up with what the registers hold,
    /// which begin anew.
    PassFirst,
    /// Between 3 and 4 (the idea is Jiang, Zegura and Ammar's, the form ours): after an FRM, the BRM with which all
    /// branches have reported goes up, and any that comes before it with this probability [0 to 1].
    Probabilistic(f64),
    /// Number 4: the BRM with which all branches have reported goes up, and the registers begin anew.
    WaitForAll,
    /// Number 5: as 4, and a BRM that tells of overload goes up at once: MER has fallen below the ER that went up last.
    /// The registers begin anew only when all have reported.
    FastOverload,
    /// Number 6 (default): as 5, and for each BRM too many one is saved later: when all have reported, and not of
    /// overload, their BRM does not go up.
    RatioControl,
    /// Number 7: as 6, and the switch's own algorithm answers each BRM as it comes from its branch, not only
    /// as one goes up. So its own overload goes up at once, too.
    ImmediateRate,
}

/// How a branch point consolidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConsolidationConfig {
    /// When BRMs go up.
    pub algorithm: Consolidation,
    /// Threshold of overload: MER below so many times the ER that went up last [above 0 to 1; default 1]. Of numbers 5
    /// to 7.
    pub overload_factor: f64,
    /// A branch from which no BRM has come for so long after an FRM is not waited for [above 0; default 1 s, a value of
    /// ours]. Of those that wait for all.
    pub timeout: Duration,
}

impl Default for ConsolidationConfig {
    fn default() -> ConsolidationConfig {
        ConsolidationConfig {
            algorithm: Consolidation::RatioControl,
            overload_factor: 1.0,
            timeout: Duration::from_ms(1_000),
        }
    }
}

impl ConsolidationConfig {
    /// Refuses what is out of range.
    ///
    /// # Errors
    /// With the parameter's name, value and range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let (factor, timeout) = (self.overload_factor, self.timeout);
        in_range("overload_factor", factor, "", factor > 0.0 && factor <= 1.0, "above 0, at most 1")?;
        in_range("timeout", timeout.as_secs_f64(), "s", timeout > Duration::ZERO, "above 0 s")?;
        match self.algorithm {
            Consolidation::Probabilistic(probability) => {
                let is_one = (0.0..=1.0).contains(&probability);
                in_range("probability", probability, "", is_one, "0 to 1")
            }
            _ => Ok(()),
        }
    }
}

/// The registers of one connection at a branch point.
///
/// ```
/// use cellrate_proto::consolidation::{Consolidation, ConsolidationConfig, Consolidator};
/// use cellrate_proto::{CellRate, Direction, RateCode, RmCell, Time};
/// let config = ConsolidationConfig { algorithm: Consolidation::WaitForAll, ..Default::default() };
/// let mut point = Consolidator::new(config, 2, CellRate::new(100.0));
/// let brm = |rate| RmCell {
///     direction: Direction::Backward,
///     backward_notification: false,
///     congestion_indication: false,
///     no_increase: false,
///     explicit_rate: RateCode::floor(CellRate::new(rate)),
///     current_cell_rate: RateCode::ZERO,
///     minimum_cell_rate: RateCode::ZERO,
///     out_of_rate: false,
/// };
/// // Branch 0 allows 50 cells/s, branch 1 only 10.
/// assert_eq!(point.on_backward_rm(Time::ZERO, 0, &brm(50.0), || 0.0), None);
/// let up = point.on_backward_rm(Time::ZERO, 1, &brm(10.0), || 0.0).unwrap();
/// assert_eq!(up.explicit_rate.rate(), CellRate::new(10.0));
/// ```
#[derive(Clone, Debug)]
pub struct Consolidator {
    config: ConsolidationConfig,
    pcr: RateCode,
    registers: Registers,
    /// ER that went up last; PCR before.
    last_er: RateCode,
    branches: Vec<Branch>,
    balance: Balance,
}

/// The registers: what the BRMs of the branches have said since they began anew.
#[derive(Clone, Copy, Debug)]
struct Registers {
    /// MER: the least ER; PCR before the first.
    er: RateCode,
    /// MCI: whether any said CI.
    ci: bool,
    /// MNI: whether any said NI.
    ni: bool,
}

/// The BRMs that went up, against those that an algorithm wants to go up. Numbers 1, 4 and 5 keep no account of them:
/// it is always even.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Balance {
    /// As many as wanted.
    Even,
    /// One is wanted: an FRM has come since the last one went up (numbers 3 and the probabilistic one), or a BRM of a
    /// branch (number 2).
    Owed,
    /// So many more, which told of overload, at least one: they are saved later (numbers 6 and 7).
    Ahead(u64),
}

impl Balance {
    /// How many more went up than were wanted.
    const fn ahead(self) -> u64 {
        if let Balance::Ahead(more) = self { more } else { 0 }
    }
}

/// A branch as the branch point knows it.
#[derive(Clone, Copy, Debug, Default)]
struct Branch {
    /// Whether a BRM has come from it since the registers began anew.
    reported: bool,
    /// The first FRM that it has been sent since its last BRM.
    asked: Option<Time>,
}

impl Consolidator {
    /// Registers of a connection with this PCR that goes on to so many branches.
    pub fn new(config: ConsolidationConfig, branches: usize, pcr: CellRate) -> Consolidator {
        let pcr = RateCode::floor(pcr);
        Consolidator {
            config,
            pcr,
            registers: Registers { er: pcr, ci: false, ni: false },
            last_er: pcr,
            branches: alloc::vec![Branch::default(); branches],
            balance: Balance::Even,
        }
    }

    /// Whether the switch's own algorithm answers BRMs as they come from their branches; otherwise it does as they go
    /// up, for all branches.
    pub const fn answers_on_arrival(&self) -> bool {
        matches!(self.config.algorithm, Consolidation::ImmediateRate)
    }

    /// An FRM has come, and has been copied to all branches. Returns the BRM to send up at once.
    pub fn on_forward_rm(&mut self, now: Time, frm: &RmCell) -> Option<RmCell> {
        for branch in &mut self.branches {
            branch.asked.get_or_insert(now);
        }
        match self.config.algorithm {
            Consolidation::TurnAround => Some(self.send(frm, true)),
            Consolidation::TurnAroundInformed => self.is_owed().then(|| self.send(frm, true)),
            Consolidation::PassFirst | Consolidation::Probabilistic(_) => {
                self.balance = Balance::Owed;
                None
            }
            _ => None,
        }
    }

    /// A BRM has come from the branch of this number. `draw` gives a random number, uniform in [0, 1), to who needs
    /// one. Returns the BRM to send up in its place.
    pub fn on_backward_rm(
        &mut self,
        now: Time,
        branch: usize,
        brm: &RmCell,
        draw: impl FnOnce() -> f64,
    ) -> Option<RmCell> {
        let Registers { er, ci, ni } = &mut self.registers;
        *er = (*er).min(brm.explicit_rate);
        *ci |= brm.congestion_indication;
        *ni |= brm.no_increase;
        if let Some(branch) = self.branches.get_mut(branch) {
            *branch = Branch { reported: true, asked: None };
        }
        let all = self.branches.iter().all(|branch| branch.reported || self.is_silent(branch, now));
        match self.config.algorithm {
            Consolidation::TurnAround => None,
            Consolidation::TurnAroundInformed => {
                self.balance = Balance::Owed;
                None
            }
            Consolidation::PassFirst => self.is_owed().then(|| self.send(brm, true)),
            Consolidation::Probabilistic(probability) => {
                (self.is_owed() && (all || draw() < probability)).then(|| self.send(brm, true))
            }
            Consolidation::WaitForAll => all.then(|| self.send(brm, true)),
            Consolidation::FastOverload => (all || self.is_overload()).then(|| self.send(brm, all)),
            Consolidation::RatioControl | Consolidation::ImmediateRate => self.in_ratio(brm, all),
        }
    }

    /// Numbers 6 and 7.
    fn in_ratio(&mut self, brm: &RmCell, all: bool) -> Option<RmCell> {
        match (all, self.is_overload(), self.balance) {
            (false, true, balance) => {
                self.balance = Balance::Ahead(balance.ahead() + 1);
                Some(self.send(brm, false))
            }
            (true, false, Balance::Ahead(more)) => {
                self.balance = if more > 1 { Balance::Ahead(more - 1) } else { Balance::Even };
                self.begin_anew();
                None
            }
            (true, ..) => Some(self.send(brm, true)),
            (false, false, _) => None,
        }
    }

    fn is_owed(&self) -> bool {
        self.balance == Balance::Owed
    }

    /// The BRM has gone up with this ER, which the switch's own algorithm may have lowered.
    pub fn on_sent(&mut self, explicit_rate: RateCode) {
        self.last_er = explicit_rate;
    }

    fn is_overload(&self) -> bool {
        let last = self.last_er.rate().as_cells_per_s();
        self.registers.er.rate().as_cells_per_s() < last * self.config.overload_factor
    }

    fn is_silent(&self, branch: &Branch, now: Time) -> bool {
        branch.asked.is_some_and(|asked| now >= asked.saturating_add(self.config.timeout))
    }

    /// The BRM that goes up in the place of `cell`.
    fn send(&mut self, cell: &RmCell, begins_anew: bool) -> RmCell {
        let up = RmCell {
            direction: Direction::Backward,
            congestion_indication: self.registers.ci,
            no_increase: self.registers.ni,
            explicit_rate: self.registers.er,
            ..*cell
        };
        self.last_er = self.registers.er;
        if self.is_owed() {
            self.balance = Balance::Even;
        }
        if begins_anew {
            self.begin_anew();
        }
        up
    }

    fn begin_anew(&mut self) {
        self.registers = Registers { er: self.pcr, ci: false, ni: false };
        self.branches.iter_mut().for_each(|branch| branch.reported = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Consolidation::*;

    const ALL: [Consolidation; 8] = [
        TurnAround,
        TurnAroundInformed,
        PassFirst,
        Probabilistic(0.5),
        WaitForAll,
        FastOverload,
        RatioControl,
        ImmediateRate,
    ];

    fn point(algorithm: Consolidation) -> Consolidator {
        let config = ConsolidationConfig { algorithm, ..ConsolidationConfig::default() };
        assert_eq!(config.check(), Ok(()));
        Consolidator::new(config, 2, CellRate::new(100.0))
    }

    fn rm(direction: Direction, er: f64) -> RmCell {
        RmCell {
            direction,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::floor(CellRate::new(er)),
            current_cell_rate: RateCode::floor(CellRate::new(77.0)),
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        }
    }

    fn brm(er: f64) -> RmCell {
        rm(Direction::Backward, er)
    }

    fn er(up: Option<RmCell>) -> u64 {
        up.map_or(0, |up| up.explicit_rate.rate().as_cells_per_s() as u64)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// An FRM, or a BRM of branch A or B with this ER.
    const STORY: [(char, f64); 17] = [
        ('F', 0.0),
        ('A', 50.0),
        ('F', 0.0),
        ('A', 50.0),
        ('B', 10.0),
        ('F', 0.0),
        ('A', 50.0),
        ('B', 10.0),
        ('F', 0.0),
        ('A', 5.0),
        ('B', 10.0),
        ('F', 0.0),
        ('A', 60.0),
        ('B', 40.0),
        ('F', 0.0),
        ('A', 60.0),
        ('B', 40.0),
    ];

    fn told(algorithm: Consolidation) -> Vec<u64> {
        let mut point = point(algorithm);
        let step = |(who, rate): (char, f64)| {
            er(match who {
                'F' => point.on_forward_rm(Time::ZERO, &rm(Direction::Forward, 100.0)),
                who => point.on_backward_rm(Time::ZERO, usize::from(who == 'B'), &brm(rate), || 0.75),
            })
        };
        STORY.into_iter().map(step).collect()
    }

    /// Worked by hand from the seven descriptions: what goes up at each step of the story, 0 for nothing. The own
    /// algorithm is silent, so that 7 is as 6.
    #[test]
    fn each_algorithm_by_its_description() {
        let expected: [(Consolidation, [u64; 17]); 8] = [
            (TurnAround, [100, 0, 50, 0, 0, 10, 0, 0, 10, 0, 0, 5, 0, 0, 40, 0, 0]),
            (TurnAroundInformed, [0, 0, 50, 0, 0, 10, 0, 0, 10, 0, 0, 5, 0, 0, 40, 0, 0]),
            (PassFirst, [0, 50, 0, 50, 0, 0, 10, 0, 0, 5, 0, 0, 10, 0, 0, 40, 0]),
            (WaitForAll, [0, 0, 0, 0, 10, 0, 0, 10, 0, 0, 5, 0, 0, 40, 0, 0, 40]),
            (FastOverload, [0, 50, 0, 0, 10, 0, 0, 10, 0, 5, 5, 0, 0, 40, 0, 0, 40]),
            (RatioControl, [0, 50, 0, 0, 10, 0, 0, 0, 0, 5, 0, 0, 0, 40, 0, 0, 40]),
            (ImmediateRate, [0, 50, 0, 0, 10, 0, 0, 0, 0, 5, 0, 0, 0, 40, 0, 0, 40]),
            // 0.75 is drawn: it waits for all at 0.5.
            (Probabilistic(0.5), [0, 0, 0, 0, 10, 0, 0, 10, 0, 0, 5, 0, 0, 40, 0, 0, 40]),
        ];
        for (algorithm, expected) in expected {
            assert_eq!(told(algorithm), expected, "{algorithm:?}");
        }
    }

    #[test]
    fn the_probability_leads_from_waiting_for_all_to_passing_the_first() {
        assert_eq!(told(Probabilistic(0.0)), told(WaitForAll));
        assert_eq!(told(Probabilistic(0.76)), told(PassFirst));
        // Two BRMs of A to one FRM, and the second finds no FRM that waits for an answer.
        let mut point = point(Probabilistic(1.0));
        point.on_forward_rm(Time::ZERO, &rm(Direction::Forward, 100.0));
        assert_eq!(er(point.on_backward_rm(Time::ZERO, 0, &brm(50.0), || 0.0)), 50);
        assert_eq!(er(point.on_backward_rm(Time::ZERO, 1, &brm(10.0), || 0.0)), 0);
    }

    #[test]
    fn ci_and_ni_of_any_branch_go_up_once() {
        for algorithm in ALL {
            let mut point = point(algorithm);
            let marked = RmCell { congestion_indication: true, ..brm(50.0) };
            let held = RmCell { no_increase: true, ..brm(50.0) };
            let frm = rm(Direction::Forward, 100.0);
            let mut up = Vec::new();
            for (a, b) in [(marked, held), (brm(50.0), brm(50.0)), (brm(50.0), brm(50.0))] {
                up.extend(point.on_backward_rm(Time::ZERO, 0, &a, || 0.9));
                up.extend(point.on_backward_rm(Time::ZERO, 1, &b, || 0.9));
                up.extend(point.on_forward_rm(Time::ZERO, &frm));
            }
            let count = |said: fn(&RmCell) -> bool| up.iter().filter(|up| said(up)).count();
            // 5 to 7 tell of overload before B has reported, and then of CI again with what B says.
            let told_twice = matches!(algorithm, FastOverload);
            assert_eq!(count(|up| up.congestion_indication), 1 + usize::from(told_twice), "{algorithm:?}");
            let saved = matches!(algorithm, RatioControl | ImmediateRate);
            assert_eq!(count(|up| up.no_increase), usize::from(!saved), "{algorithm:?}: {up:?}");
        }
    }

    #[test]
    fn what_goes_up_is_backward_and_says_of_itself_what_its_cell_said() {
        let mut turning = point(TurnAround);
        let frm = RmCell { out_of_rate: true, ..rm(Direction::Forward, 100.0) };
        let up = turning.on_forward_rm(Time::ZERO, &frm).unwrap();
        assert_eq!(up, RmCell { direction: Direction::Backward, ..frm });
        let mut passing = point(PassFirst);
        passing.on_forward_rm(Time::ZERO, &frm);
        assert_eq!(passing.on_backward_rm(Time::ZERO, 1, &brm(30.0), || 0.0), Some(brm(30.0)));
    }

    #[test]
    fn overload_is_measured_at_what_went_up_in_fact() {
        for algorithm in [FastOverload, RatioControl] {
            let mut point = point(algorithm);
            assert_eq!(er(point.on_backward_rm(Time::ZERO, 0, &brm(50.0), || 0.0)), 50);
            // The own algorithm left 20 of them: 30 is nothing new, 19 is.
            point.on_sent(RateCode::floor(CellRate::new(20.0)));
            assert_eq!(er(point.on_backward_rm(Time::ZERO, 0, &brm(30.0), || 0.0)), 0);
            assert_eq!(er(point.on_backward_rm(Time::ZERO, 0, &brm(19.0), || 0.0)), 19);
        }
    }

    #[test]
    fn a_factor_lets_small_decreases_wait_for_all() {
        let config = ConsolidationConfig {
            algorithm: FastOverload,
            overload_factor: 0.5,
            ..ConsolidationConfig::default()
        };
        let mut point = Consolidator::new(config, 2, CellRate::new(100.0));
        assert_eq!(er(point.on_backward_rm(Time::ZERO, 0, &brm(50.0), || 0.0)), 0);
        assert_eq!(er(point.on_backward_rm(Time::ZERO, 0, &brm(49.0), || 0.0)), 49);
    }

    #[test]
    fn a_branch_that_stays_silent_after_an_frm_is_left_out_after_a_time() {
        for algorithm in [WaitForAll, FastOverload, RatioControl, Probabilistic(0.0)] {
            let mut point = point(algorithm);
            let frm = rm(Direction::Forward, 100.0);
            // Without an FRM no branch is silent, however long.
            assert_eq!(er(point.on_backward_rm(at(5_000), 0, &brm(100.0), || 0.9)), 0, "{algorithm:?}");
            point.on_forward_rm(at(6_000), &frm);
            point.on_forward_rm(at(6_900), &frm);
            assert_eq!(er(point.on_backward_rm(at(6_999), 0, &brm(100.0), || 0.9)), 0, "{algorithm:?}");
            assert_eq!(er(point.on_backward_rm(at(7_000), 0, &brm(100.0), || 0.9)), 100, "{algorithm:?}");
            // It reports, and is waited for again.
            point.on_forward_rm(at(7_100), &frm);
            point.on_backward_rm(at(7_200), 1, &brm(100.0), || 0.9);
            assert_eq!(er(point.on_backward_rm(at(7_200), 0, &brm(100.0), || 0.9)), 100, "{algorithm:?}");
            point.on_forward_rm(at(7_300), &frm);
            assert_eq!(er(point.on_backward_rm(at(8_299), 0, &brm(100.0), || 0.9)), 0, "{algorithm:?}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let default = ConsolidationConfig::default();
        for (config, name) in [
            (ConsolidationConfig { overload_factor: 0.0, ..default }, "overload_factor"),
            (ConsolidationConfig { overload_factor: 1.5, ..default }, "overload_factor"),
            (ConsolidationConfig { timeout: Duration::ZERO, ..default }, "timeout"),
            (ConsolidationConfig { algorithm: Probabilistic(1.1), ..default }, "probability"),
            (ConsolidationConfig { algorithm: Probabilistic(f64::NAN), ..default }, "probability"),
        ] {
            assert_eq!(config.check().map_err(|error| error.name), Err(name));
        }
    }
}
