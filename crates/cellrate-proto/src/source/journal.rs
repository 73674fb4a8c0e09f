//! A journal of one source: each step of its ACR, and the rule that took it.
//!
//! A source keeps one where it is told to, among what nearly no source has, so that it costs the others nothing.

use alloc::vec::Vec;

use super::{Extras, Source};
use crate::rm::RmCell;
use crate::units::{CellRate, Time};

/// A step of ACR, or a BRM that left it where it was.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AcrStep {
    /// The instant.
    pub at: Time,
    /// ACR before \[cells/s\].
    pub before: CellRate,
    /// ACR after \[cells/s\].
    pub after: CellRate,
    /// The event behind it.
    pub cause: AcrCause,
}

/// The event behind a step of ACR.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AcrCause {
    /// The connection began anew: rule 2.
    SetUp,
    /// An FRM left more than ADTF after the one before: rule 5.
    Idle,
    /// An FRM left, and CRM of them or more without a BRM: rule 6.
    MissingBrms,
    /// An FRM left, and the use-it-or-lose-it policy found the rate unused: rule 13.
    Unused,
    /// A BRM came: rules 8 and 9.
    BackwardRm {
        /// Its contents.
        rm: RmCell,
        /// ACR after rule 8, which rule 9 has still to limit \[cells/s\].
        indicated: CellRate,
    },
}

impl AcrStep {
    /// Numbers of the rules that changed ACR, in the order in which they did (TM 4.0, 5.10.4). Rule 9 may take back
    /// what rule 8 has given.
    ///
    /// ```
    /// use cellrate_proto::source::{AcrCause, AcrStep};
    /// use cellrate_proto::{CellRate, Time};
    /// let (before, after) = (CellRate::new(9e4), CellRate::new(1e4));
    /// let step = AcrStep { at: Time::ZERO, before, after, cause: AcrCause::Idle };
    /// assert!(step.rules().eq([5]));
    /// ```
    pub fn rules(&self) -> impl Iterator<Item = u8> + use<> {
        let moved = self.after != self.before;
        let [first, second] = match self.cause {
            AcrCause::SetUp => [moved.then_some(2), None],
            AcrCause::Idle => [moved.then_some(5), None],
            AcrCause::MissingBrms => [moved.then_some(6), None],
            AcrCause::Unused => [moved.then_some(13), None],
            AcrCause::BackwardRm { indicated, .. } => {
                [(indicated != self.before).then_some(8), (indicated != self.after).then_some(9)]
            }
        };
        first.into_iter().chain(second)
    }
}

impl Source {
    /// Keeps a journal of ACR from now on, until it is taken and beyond.
    ///
    /// ```
    /// use cellrate_proto::source::AcrCause;
    /// use cellrate_proto::uili::UiliConfig;
    /// use cellrate_proto::{AbrParameters, CellRate, Direction, RateCode, RmCell, Source, Time};
    /// let mut source = Source::new(AbrParameters::new(CellRate::new(1e5)), &UiliConfig::None);
    /// source.keep_journal();
    /// let rm = RmCell {
    ///     direction: Direction::Backward,
    ///     backward_notification: false,
    ///     congestion_indication: false,
    ///     no_increase: true,
    ///     explicit_rate: RateCode::floor(CellRate::new(2e4)),
    ///     current_cell_rate: RateCode::ZERO,
    ///     minimum_cell_rate: RateCode::ZERO,
    ///     out_of_rate: false,
    /// };
    /// source.on_backward_rm(Time::from_ps(7), &rm);
    /// let [step] = source.take_journal()[..] else { panic!("one BRM is one step") };
    /// assert_eq!((step.before, step.after), (CellRate::new(1e5), rm.explicit_rate.rate()));
    /// assert!(step.rules().eq([9]), "NI keeps rule 8 from raising it, and ER lowers it");
    /// assert_eq!(source.take_journal(), []);
    /// ```
    pub fn keep_journal(&mut self) {
        self.extras_mut().journal.get_or_insert_default();
    }

    /// Steps since the journal was begun or last taken, in the order of instants; none where none is kept.
    pub fn take_journal(&mut self) -> Vec<AcrStep> {
        let journal = self.extras.as_mut().and_then(|extras| extras.journal.as_mut());
        journal.map(core::mem::take).unwrap_or_default()
    }

    /// ACR becomes `acr` at `at`, by this cause.
    #[inline]
    pub(super) fn step_acr(&mut self, at: Time, acr: CellRate, cause: AcrCause) {
        let before = self.acr;
        self.fill(at);
        self.set_acr(acr);
        if let Some(Extras { journal: Some(journal), .. }) = self.extras.as_deref_mut() {
            journal.push(AcrStep { at, before, after: acr, cause });
        }
    }
}
