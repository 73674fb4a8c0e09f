//! The source end system of one direction of an ABR connection (TM 4.0, 5.10.4).
//!
//! ```text
//!                    data waiting?            on_backward_rm (rules 8, 9)
//!                         |                            |
//!   next_transmission -> transmit ------------------> ACR ----> spacing of in-rate cells (rule 1)
//!        (when)            |  rule 3: FRM, BRM, data    ^
//!                          |  at an FRM: rules 5, 6 ----+
//!                          v
//!                      Emission
//! ```
//!
//! The next in-rate opportunity is never stored: it is the last in-rate cell plus 1/ACR, with the ACR of now. That is
//! rule 1 in its strongest form, and it is rescheduling too (paper abr-parameters, section 5.1): when ACR rises, the
//! next cell moves forward to (last cell + 1/new ACR) by itself.
//!
//! An in-rate FRM leaves only at an opportunity at which something else waits, a data cell or a turned-around BRM: an
//! idle source is silent, which is what rule 5 and the use-it-or-lose-it policies are about (paper uili, section 5.5).
//!
//! Where RM values travel [in band](crate::parameters::RmPlacement::InBand), the data cell that waits carries them
//! where rule 3 a calls for an FRM, and what the rules do at an FRM they do there. A data cell has the last turn of
//! rule 3 (FRM, BRM, data), with values or without: a BRM that waits goes before it, once between two cells with
//! values. An FRM leaves as a cell of its own where no data wait and the first cell is due (rule 2), Trm has passed
//! (rule 3 a) or a frame has ended. The count of cells alone calls for none: a direction that only turns cells around
//! has nothing to carry values.
//!
//! # States
//!
//! ```text
//!     new, restart: ACR = min(ICR, TBE/FRTT) (rule 2)
//!                |
//!                v
//!          +-----------+
//!          |   Fresh   |  no BRM takes ACR above its beginning (rule 2)
//!          +-----------+
//!                | something waits: an in-rate FRM leaves (rules 2 and 3 a)
//!                v
//!          +-----------+  nothing waits     +-----------+
//!          |  In rate  | -----------------> |  Silent   |  no clock runs
//!          |           | <----------------- |           |
//!          +-----------+  something waits,  +-----------+
//!            |       ^    1/ACR has passed (rule 1)
//!  ACR < TCR |       | ACR >= TCR, by a BRM (rules 8 and 9)
//!            v       |
//!          +-----------+
//!          | Below TCR |  while something waits, out-of-rate FRMs at TCR or less (rule 11),
//!          +-----------+  and in-rate cells 1/ACR apart; none with an ACR of zero
//! ```
//!
//! Nothing stores which of them it is: Fresh is a flag, Silent is that nothing waits, and Below TCR is a matter of ACR.
//! Whatever the state, ACR changes at two events only, by the rules in this order:
//!
//! | event | condition | ACR | rule |
//! | --- | --- | --- | --- |
//! | in-rate FRM | more than ADTF since the last one, and ACR above ICR | ICR | 5 |
//! | in-rate FRM | CRM of them or more since the last BRM with BN = 0 | down by CDF, not below MCR | 6 |
//! | in-rate FRM | the policy finds the rate unused | what the policy says, not below MCR | 13 |
//! | BRM | CI = 1 | down by RDF, not below MCR | 8 |
//! | BRM | CI = 0 and NI = 0, and the policy lets it rise | up by RIF x PCR, at most PCR | 8 |
//! | BRM | always | at most ER, not below MCR | 9 |
//!
//! The first in-rate FRM of a connection is not subject to rules 5 and 13: nothing has been idle or unused before it.

mod bucket;
mod frm_trigger;
mod journal;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::misbehaviour::Misbehaviour;
use crate::parameters::{AbrParameters, MRM, TCR};
use crate::rate_code::RateCode;
use crate::rm::{Direction, RmCell};
use crate::uili::{BackwardRmContext, ForwardRmContext, Uili, UiliConfig};
use crate::units::{CellRate, Duration, Time};
use bucket::{Bucket, Progress};
use frm_trigger::FrmTrigger;
pub use journal::{AcrCause, AcrStep};

/// The cell that leaves at an opportunity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emission {
    /// A forward RM cell; `out_of_rate` says whether in rate (CLP = 0) or not.
    ForwardRm(RmCell),
    /// The turned-around cell that waited, in rate.
    BackwardRm(RmCell),
    /// The first data cell that waits, in rate, with EFCI = 0 (rule 12).
    Data,
    /// A data cell that is the first one that waits, with the values of an FRM in it.
    DataWithRm(RmCell),
}

/// How often the rules of abnormal conditions acted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SourceStatistics {
    /// Rule 5: ACR fell to ICR after ADTF without an FRM.
    pub idle_resets: u64,
    /// Rule 6: ACR fell by CDF for want of BRMs.
    pub cutoff_decreases: u64,
    /// Rule 13: the use-it-or-lose-it policy lowered ACR.
    pub uili_decreases: u64,
}

/// The source of one direction of an ABR connection.
///
/// It knows no clock: it is asked when it sends next, and told when that instant has come.
///
/// ```
/// use cellrate_proto::uili::UiliConfig;
/// use cellrate_proto::{AbrParameters, CellRate, Duration, Emission, Source, Time};
///
/// // ICR = PCR = 100,000 cells/s and always data to send: an FRM goes first, and a cell follows every 10 us.
/// let mut source = Source::new(AbrParameters::new(CellRate::new(1e5)), &UiliConfig::None);
/// let first = source.next_transmission(Time::ZERO, |from| from);
/// assert!(matches!(source.transmit(first, true), Some(Emission::ForwardRm(_))));
/// let second = source.next_transmission(first, |from| from);
/// assert_eq!(second.since(first), Duration::from_us(10));
/// assert_eq!(source.transmit(second, true), Some(Emission::Data));
/// // Without data it is silent until something arrives.
/// assert_eq!(source.next_transmission(second, |_| Time::NEVER), Time::NEVER);
/// ```
#[derive(Debug)]
pub struct Source {
    /// The rate that the network allows now.
    acr: CellRate,
    /// 1/ACR, rounded up: follows from `acr`, and is kept because every cell needs it.
    spacing: Duration,
    /// When the last in-rate cell left; zero before the first.
    last_cell: Time,
    /// Whether an in-rate cell was ever sent, and what spaces those that follow.
    progress: Progress,
    /// In-rate cells since the last in-rate FRM, which is not counted (rule 3 a).
    cells_since_frm: u32,
    /// Whether a BRM left in rate since the last in-rate FRM (rule 3 b).
    brm_since_frm: bool,
    /// The event that calls for in-rate FRMs: a count of cells, or the end of a frame.
    frm_trigger: FrmTrigger,
    /// When the last in-rate FRM left (rules 3 a and 5).
    last_frm: Time,
    /// In-rate FRMs since the last BRM with BN = 0 (rule 6). It stays at its largest value: no CRM that can be
    /// signalled or set in a scenario is above that.
    frms_since_brm: u32,
    /// The turned-around cell that waits for an in-rate opportunity.
    waiting_brm: Option<RmCell>,
    /// `None` in nearly every source of a large network.
    extras: Option<Box<Extras>>,
    /// Parameters that set-up agreed on; many connections of a network share them.
    parameters: Arc<AbrParameters>,
}

/// State that nearly no source of a large network has: a policy, rules of abnormal conditions, and rules that are
/// broken.
#[derive(Debug)]
struct Extras {
    /// The use-it-or-lose-it policy (rule 13).
    uili: Uili,
    /// The earliest instant of the next out-of-rate FRM (rule 11); zero before the first.
    next_out_of_rate: Time,
    /// How often rules 5, 6 and 13 acted.
    statistics: SourceStatistics,
    /// Rules that it breaks.
    misbehaviour: Misbehaviour,
    /// The bucket that lets small bursts go at PCR.
    bucket: Option<Bucket>,
    /// Steps of ACR, where they are kept.
    journal: Option<Vec<AcrStep>>,
}

impl Extras {
    fn new(uili: Uili) -> Extras {
        Extras {
            uili,
            next_out_of_rate: Time::ZERO,
            statistics: SourceStatistics::default(),
            misbehaviour: Misbehaviour::default(),
            bucket: None,
            journal: None,
        }
    }
}

impl Source {
    /// A source that has sent nothing yet; its ACR is min(ICR, TBE/FRTT) (rule 2). `parameters` have been checked;
    /// sources may share them.
    pub fn new(parameters: impl Into<Arc<AbrParameters>>, uili: &UiliConfig) -> Source {
        let parameters = parameters.into();
        let uili = Uili::new(uili, &parameters);
        Source::under(parameters, uili)
    }

    /// A source under a policy that is made already: that may be one that is not built in.
    pub fn under(parameters: impl Into<Arc<AbrParameters>>, uili: Uili) -> Source {
        let parameters = parameters.into();
        let icr = parameters.effective_icr();
        Source {
            acr: icr,
            spacing: icr.interval(),
            last_cell: Time::ZERO,
            progress: Progress::Fresh,
            cells_since_frm: 0,
            brm_since_frm: false,
            frm_trigger: FrmTrigger::AfterCells,
            last_frm: Time::ZERO,
            frms_since_brm: 0,
            waiting_brm: None,
            extras: (!uili.is_none()).then(|| Box::new(Extras::new(uili))),
            parameters,
        }
    }

    /// The same source, which breaks these rules from now on.
    #[must_use]
    pub fn misbehaving(mut self, misbehaviour: Misbehaviour) -> Source {
        if misbehaviour != Misbehaviour::default() {
            self.extras_mut().misbehaviour = misbehaviour;
            self.spacing = self.spacing_at(self.acr);
        }
        self
    }

    /// This source with in-rate FRMs that follow the [ends of frames](Source::end_frame) and not every Nrm - 1 cells:
    /// a departure from rule 3 a that paper abr-parameters, section 4.2.1, names for video. Trm still calls for one.
    ///
    /// ```
    /// use cellrate_proto::uili::UiliConfig;
    /// use cellrate_proto::{AbrParameters, CellRate, Emission, Source, Time};
    /// let source = Source::new(AbrParameters::new(CellRate::new(1e6)), &UiliConfig::None);
    /// let mut video = source.reporting_frames();
    /// let mut send = |n: u64, waits: bool| video.transmit(Time::from_ps(n * 1_000_000), waits);
    /// assert!(matches!(send(0, true), Some(Emission::ForwardRm(_))), "the first cell is one");
    /// assert!((1..200).all(|n| send(n, true) == Some(Emission::Data)), "no count of cells calls for another");
    /// video.end_frame();
    /// let at = video.in_rate_opportunity();
    /// assert!(matches!(video.transmit(at, false), Some(Emission::ForwardRm(_))), "though nothing waits");
    /// ```
    #[must_use]
    pub fn reporting_frames(self) -> Source {
        Source { frm_trigger: FrmTrigger::AfterFrame, ..self }
    }

    /// The data cell that has just left was the last of its frame. Where [frames](Source::reporting_frames) call for
    /// FRMs, one leaves at the next in-rate opportunity, whether anything else waits or not; elsewhere nothing changes.
    #[inline]
    pub fn end_frame(&mut self) {
        if self.frm_trigger == FrmTrigger::AfterFrame {
            self.frm_trigger = FrmTrigger::FrameEnded;
        }
    }

    /// Begins anew at `now`, as one that has just been set up: ACR is that of the beginning, the next in-rate cell is
    /// an FRM and may leave at once (rule 2), and no BRM is missed. A turned-around cell that waits stays, and so does
    /// what a use-it-or-lose-it policy remembers.
    pub fn restart(&mut self, now: Time) {
        self.step_acr(now, self.parameters.effective_icr(), AcrCause::SetUp);
        self.progress = Progress::Fresh;
        self.cells_since_frm = 0;
        self.brm_since_frm = false;
        self.frms_since_brm = 0;
        if self.frm_trigger == FrmTrigger::FrameEnded {
            self.frm_trigger = FrmTrigger::AfterFrame;
        }
    }

    /// ACR now.
    #[inline]
    pub fn acr(&self) -> CellRate {
        self.acr
    }

    /// Parameters that set-up agreed on.
    pub fn parameters(&self) -> &AbrParameters {
        &self.parameters
    }

    /// How often rules 5, 6 and 13 acted so far.
    pub fn statistics(&self) -> SourceStatistics {
        self.extras.as_ref().map_or_else(SourceStatistics::default, |extras| extras.statistics)
    }

    /// Whether something other than data waits: a turned-around cell, or the FRM that the end of a frame calls for.
    #[inline]
    fn waits(&self) -> bool {
        self.waiting_brm.is_some() || self.frm_trigger == FrmTrigger::FrameEnded
    }

    /// Whether in-rate opportunities are for data alone and 1/ACR apart, until the count of cells or Trm calls for an
    /// FRM: the first FRM has left, and nothing else waits.
    #[inline]
    fn sends_data_only(&self) -> bool {
        self.progress == Progress::Paced && !self.waits()
    }

    /// Whether a turned-around cell waits.
    #[inline]
    pub fn has_waiting_brm(&self) -> bool {
        self.waiting_brm.is_some()
    }

    /// The earliest instant at which an in-rate cell may leave (rule 1); [`Time::NEVER`] while ACR is zero.
    #[inline]
    pub fn in_rate_opportunity(&self) -> Time {
        if self.has_started() {
            self.last_cell.saturating_add(self.spacing)
        } else if self.spacing == Duration::FOREVER {
            Time::NEVER
        } else {
            Time::ZERO
        }
    }

    /// When to call [`transmit`](Source::transmit) next, not before `now`; [`Time::NEVER`] when only an arrival (data,
    /// an FRM to turn around, a BRM) can change anything.
    ///
    /// `data_from(t)` answers when, at `t` or later, a data cell waits; [`Time::NEVER`] when none is in sight.
    #[inline]
    pub fn next_transmission(&self, now: Time, mut data_from: impl FnMut(Time) -> Time) -> Time {
        let opportunity = self.in_rate_opportunity().max(now);
        if self.acr.as_cells_per_s() < TCR {
            return self.next_below_tcr(now, opportunity, data_from);
        }
        if self.waits() { opportunity } else { data_from(opportunity) }
    }

    /// With ACR below TCR the clock of out-of-rate FRMs runs beside the in-rate one while anything waits (rule 11).
    #[cold]
    fn next_below_tcr(&self, now: Time, opportunity: Time, mut data_from: impl FnMut(Time) -> Time) -> Time {
        let earliest = opportunity.min(self.next_out_of_rate().max(now));
        if self.waits() { earliest } else { data_from(earliest) }
    }

    /// Sends the waiting data cell at `now`, if that is what [`transmit`](Source::transmit) would do: the case of
    /// nearly every cell, apart from it because it needs three comparisons. False leaves everything as it was.
    #[inline]
    pub fn transmit_data(&mut self, now: Time) -> bool {
        let may =
            self.sends_data_only() && now >= self.in_rate_opportunity() && !self.interval_calls_for_frm(now);
        if may {
            self.last_cell = now;
            self.cells_since_frm += 1;
        }
        may
    }

    /// How many data cells leave from `at` on, one every [`spacing`](Source::spacing), before anything else can leave,
    /// as long as data waits and nothing arrives here. `at` is the instant of the next transmission. Zero when the cell
    /// at `at` may be another one.
    pub fn data_run(&self, at: Time) -> u32 {
        let plain =
            self.sends_data_only() && self.acr.as_cells_per_s() >= TCR && at >= self.in_rate_opportunity();
        if !plain {
            return 0;
        }
        // Rule 3 a, its two ways: by count, and by time once Mrm others have left.
        let by_count = match self.frm_trigger {
            FrmTrigger::AfterCells => self.parameters.nrm.saturating_sub(self.cells_since_frm + 1),
            _ => u32::MAX,
        };
        let until_trm = self.last_frm.saturating_add(self.parameters.trm).since(at);
        if until_trm >= self.spacing.saturating_mul(u64::from(by_count)) {
            // The usual case needs no division.
            return by_count;
        }
        let by_time =
            until_trm.div_ceil(self.spacing).max(u64::from(MRM.saturating_sub(self.cells_since_frm)));
        by_count.min(u32::try_from(by_time).unwrap_or(u32::MAX))
    }

    /// The time from one in-rate cell to the next, at the ACR of now.
    #[inline]
    pub fn spacing(&self) -> Duration {
        self.spacing
    }

    /// `count` data cells of a [run](Source::data_run) have left, the last one at `last`.
    pub fn transmit_run(&mut self, count: u32, last: Time) {
        debug_assert!(
            self.cells_since_frm + count < self.parameters.nrm,
            "an FRM is due before the run ends"
        );
        self.last_cell = last;
        self.cells_since_frm += count;
    }

    /// How many whole rounds leave before `until`, each of the FRM that is due, first at `at`, and data up to the next
    /// one, as long as data waits and nothing arrives here; no FRM of them changes ACR. Zero, too, where that takes a
    /// closer look.
    pub fn whole_rounds(&self, at: Time, until: Time) -> u32 {
        let AbrParameters { nrm, trm, adtf, cdf, .. } = *self.parameters;
        let round = self.spacing.saturating_mul(u64::from(nrm));
        let rounds = until.since(at).div_floor(round) as u32;
        let reaches_crm = || {
            let last = u64::from(self.frms_since_brm) + u64::from(rounds);
            cdf.is_some() && self.parameters.is_crm_reached(last)
        };
        let is_plain = !self.parameters.is_in_band()
            && self.sends_data_only()
            && self.acr.as_cells_per_s() >= TCR
            && self.frm_trigger == FrmTrigger::AfterCells
            && self.cells_since_frm + 1 >= nrm
            && at >= self.in_rate_opportunity()
            && self.extras.is_none()
            && at.since(self.last_frm).max(round) <= adtf.min(trm)
            && !reaches_crm();
        if is_plain { rounds } else { 0 }
    }

    /// `rounds` of them leave, the first FRM at `at`: returns it.
    pub fn transmit_rounds(&mut self, rounds: u32, at: Time) -> RmCell {
        let spacings = u64::from(self.parameters.nrm);
        self.last_frm = at + self.spacing * (spacings * u64::from(rounds - 1));
        self.last_cell = self.last_frm + self.spacing * (spacings - 1);
        self.cells_since_frm = self.parameters.nrm - 1;
        self.brm_since_frm = false;
        self.frms_since_brm = self.frms_since_brm.saturating_add(rounds);
        self.forward_rm(false)
    }

    /// The cell that leaves at `now`, if any does (rules 3, 5, 6, 7, 10, 11, 12).
    #[inline]
    pub fn transmit(&mut self, now: Time, data_waiting: bool) -> Option<Emission> {
        if !data_waiting && !self.waits() {
            return None;
        }
        if now < self.in_rate_opportunity() {
            return self.transmit_out_of_rate(now);
        }
        let in_band = self.parameters.is_in_band();
        let forward_rm_is_due = match in_band && !data_waiting {
            false => self.forward_rm_is_due(now),
            true => self.forward_rm_is_due_without_data(now),
        };
        // Rule 3 b, c: a waiting BRM goes first, once between two FRMs; then data; then the BRM all the same.
        let brm_goes = self.waiting_brm.is_some() && !(self.brm_since_frm && data_waiting);
        let goes_with_data = in_band && data_waiting;
        if forward_rm_is_due && !(goes_with_data && brm_goes && self.has_started()) {
            let rm = self.send_forward_rm(now);
            return Some(if goes_with_data { Emission::DataWithRm(rm) } else { Emission::ForwardRm(rm) });
        }
        self.last_cell = now;
        self.cells_since_frm += 1;
        if self.progress == Progress::Bursting {
            self.spend(now);
        }
        if brm_goes {
            self.brm_since_frm = true;
            return self.waiting_brm.take().map(Emission::BackwardRm);
        }
        Some(Emission::Data)
    }

    /// Rules 2 and 3 a: the first in-rate cell is an FRM; so is the next one after the end of a frame that calls for
    /// it, and one that the [count of cells or Trm](Source::interval_calls_for_frm) calls for.
    #[inline]
    fn forward_rm_is_due(&self, now: Time) -> bool {
        !self.has_started() || self.frm_trigger == FrmTrigger::FrameEnded || self.interval_calls_for_frm(now)
    }

    /// Rule 3 a: an FRM is due after Nrm - 1 other cells, or after Trm and at least Mrm other cells. Where frames call
    /// for FRMs, the count does not.
    #[inline]
    fn interval_calls_for_frm(&self, now: Time) -> bool {
        (self.frm_trigger == FrmTrigger::AfterCells && self.cells_since_frm + 1 >= self.parameters.nrm)
            || self.trm_calls_for_frm(now)
    }

    #[inline]
    fn trm_calls_for_frm(&self, now: Time) -> bool {
        self.cells_since_frm >= MRM && now.since(self.last_frm) >= self.parameters.trm
    }

    /// Whether an FRM is due as a cell of its own, where values travel in band and no data wait that could carry them.
    fn forward_rm_is_due_without_data(&self, now: Time) -> bool {
        !self.has_started() || self.frm_trigger == FrmTrigger::FrameEnded || self.trm_calls_for_frm(now)
    }

    fn send_forward_rm(&mut self, now: Time) -> RmCell {
        let before = self.acr;
        if self.has_started() {
            self.reset_when_idle(now);
        }
        self.decrease_without_feedback(now);
        if self.has_started() {
            self.lose_what_is_not_used(now, self.acr < before);
        }
        self.last_cell = now;
        self.spend(now);
        self.last_frm = now;
        self.cells_since_frm = 0;
        self.brm_since_frm = false;
        if self.frm_trigger == FrmTrigger::FrameEnded {
            self.frm_trigger = FrmTrigger::AfterFrame;
        }
        self.frms_since_brm = self.frms_since_brm.saturating_add(1);
        self.forward_rm(false)
    }

    /// Rule 5: more than ADTF since the last FRM, and ACR above ICR: back to ICR.
    fn reset_when_idle(&mut self, now: Time) {
        if now.since(self.last_frm) > self.parameters.adtf {
            let icr = self.parameters.effective_icr();
            if self.acr > icr {
                self.count().idle_resets += 1;
                self.step_acr(now, icr, AcrCause::Idle);
            }
        }
    }

    /// Rule 6: CRM FRMs or more without a BRM: down by CDF, not below MCR.
    fn decrease_without_feedback(&mut self, now: Time) {
        if let Some(cdf) = self.parameters.cdf
            && self.parameters.is_crm_reached(self.frms_since_brm.into())
        {
            self.count().cutoff_decreases += 1;
            let acr = self.acr.saturating_sub(self.acr * cdf.value()).max(self.parameters.mcr);
            self.step_acr(now, acr, AcrCause::MissingBrms);
        }
    }

    /// Rule 13: the use-it-or-lose-it policy may lower ACR further, not below MCR.
    fn lose_what_is_not_used(&mut self, now: Time, decreased: bool) {
        let Some(Extras { uili, .. }) = self.extras.as_deref_mut() else { return };
        let context = ForwardRmContext {
            now,
            acr: self.acr,
            decreased,
            icr: self.parameters.effective_icr(),
            cells: self.cells_since_frm + 1,
            elapsed: now.since(self.last_frm),
        };
        let acr = uili.on_forward_rm(&context).max(self.parameters.mcr);
        if acr < self.acr {
            self.count().uili_decreases += 1;
            self.step_acr(now, acr, AcrCause::Unused);
        }
    }

    /// Rule 7: CCR is the ACR after rules 5 and 6. Rule 10: the other fields.
    fn forward_rm(&self, out_of_rate: bool) -> RmCell {
        RmCell {
            direction: Direction::Forward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::floor(self.parameters.pcr),
            current_cell_rate: RateCode::floor(self.acr),
            minimum_cell_rate: RateCode::floor(self.parameters.mcr),
            out_of_rate,
        }
    }

    /// Rule 11: an out-of-rate FRM, at no more than TCR, when ACR is too low for in-rate ones and something waits. A
    /// BRM that waits is reason enough: a direction without data of its own could not win back its rate otherwise.
    #[cold]
    fn transmit_out_of_rate(&mut self, now: Time) -> Option<Emission> {
        let due = self.acr.as_cells_per_s() < TCR && now >= self.next_out_of_rate();
        due.then(|| {
            let extras = self.extras_mut();
            let rate = CellRate::new(TCR) * extras.misbehaviour.tcr_factor;
            extras.next_out_of_rate = now.saturating_add(rate.interval());
            Emission::ForwardRm(self.forward_rm(true))
        })
    }

    /// A BRM of this connection's loop arrived (rules 8 and 9, in this order). Call
    /// [`next_transmission`](Source::next_transmission) afterwards: the next cell may move.
    pub fn on_backward_rm(&mut self, now: Time, rm: &RmCell) {
        if !rm.backward_notification {
            self.frms_since_brm = 0;
        }
        let AbrParameters { pcr, mcr, rif, rdf, .. } = *self.parameters;
        let er = rm.explicit_rate.rate();
        let Misbehaviour { ignores_er, ignores_ci, .. } =
            self.extras.as_ref().map_or_else(Misbehaviour::default, |extras| extras.misbehaviour);
        let must_decrease = rm.congestion_indication && !ignores_ci;
        let wants_increase = !must_decrease && !rm.no_increase;
        let context = BackwardRmContext { now, acr: self.acr, er, increase: wants_increase };
        // Rule 13: the policy is told of every BRM, whatever that asks for.
        let may_increase = self.extras.as_mut().is_none_or(|extras| extras.uili.on_backward_rm(&context));
        let mut acr = self.acr;
        if must_decrease {
            acr = acr.saturating_sub(acr * rdf.value()).max(mcr);
        } else if may_increase && wants_increase {
            // Rule 2: before the first cell, whatever comes, ACR is at most ICR.
            let nothing_sent = !self.has_started() && self.next_out_of_rate() == Time::ZERO;
            acr = (acr + pcr * rif.value()).min(if nothing_sent {
                self.parameters.effective_icr()
            } else {
                pcr
            });
        }
        let cause = AcrCause::BackwardRm { rm: *rm, indicated: acr };
        self.step_acr(now, if ignores_er { acr } else { acr.min(er) }.max(mcr), cause);
    }

    /// A cell was turned around at this end and waits for an in-rate opportunity of this direction (destination rules
    /// 2 and 3), with CLP = 0 there (rule 4). An older one that still waits is overwritten and returned.
    pub fn turn_around(&mut self, brm: RmCell) -> Option<RmCell> {
        self.waiting_brm.replace(RmCell { out_of_rate: false, ..brm })
    }

    fn next_out_of_rate(&self) -> Time {
        self.extras.as_ref().map_or(Time::ZERO, |extras| extras.next_out_of_rate)
    }

    fn count(&mut self) -> &mut SourceStatistics {
        &mut self.extras_mut().statistics
    }

    fn extras_mut(&mut self) -> &mut Extras {
        self.extras.get_or_insert_with(|| Box::new(Extras::new(Uili::None)))
    }

    fn set_acr(&mut self, acr: CellRate) {
        if acr != self.acr {
            self.acr = acr;
            self.spacing = self.spacing_at(acr);
        }
    }
}

#[cfg(test)]
mod tests;
