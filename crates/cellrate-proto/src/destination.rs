//! The destination end system of one direction of an ABR connection (TM 4.0, 5.10.5).
//!
//! A destination turns FRMs around; the cells it makes leave through the source of the other direction, which gives
//! them their in-rate turn ([`crate::Source::turn_around`]).

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::parameters::TCR;
use crate::rate_code::RateCode;
use crate::rm::{Direction, RmCell};
use crate::source::Source;
use crate::units::{CellRate, Duration, Time};

/// Configuration of a destination at set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DestinationConfig {
    /// Rule 2: whether the EFCI state is cleared when it has set CI in a turned-around cell (TM 4.0), or kept until a
    /// data cell changes it. Default true.
    pub clear_efci_state: bool,
    /// Rule 3: whether a cell also leaves out of rate, with the newest contents, when an FRM comes while an older
    /// turned-around cell still waits; otherwise the older one is only overwritten. Default false.
    pub send_waiting_out_of_rate: bool,
    /// ER of the values that data cells carry: the code of PCR, the same in each of a direction, so that a cell of a
    /// simulation may leave it out. Default zero, where no data cell carries any.
    pub asked_in_band: RateCode,
}

impl Default for DestinationConfig {
    fn default() -> DestinationConfig {
        DestinationConfig {
            clear_efci_state: true,
            send_waiting_out_of_rate: false,
            asked_in_band: RateCode::ZERO,
        }
    }
}

/// Congestion at the destination itself (rule 2): what it adds to the cells it turns around.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct DestinationCongestion {
    /// Set CI.
    pub congestion_indication: bool,
    /// Set NI.
    pub no_increase: bool,
    /// Lower ER to this [cells/s].
    pub explicit_rate: Option<CellRate>,
}

/// A span in which the destination itself is congested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CongestedSpan {
    /// First instant inside.
    pub start: Time,
    /// First instant after.
    pub end: Time,
    /// Contents that it adds meanwhile to the cells it turns around (rule 2).
    pub congestion: DestinationCongestion,
    /// Whether it also [originates](Destination::originate) BRMs that say so (rule 5), which takes CI or NI.
    pub originates: bool,
}

/// The destination of one direction of an ABR connection.
#[derive(Clone, Debug, Default)]
pub struct Destination {
    /// EFCI of the last data cell, unless it was cleared.
    efci: bool,
    config: DestinationConfig,
    /// The congestion of one that ever was congested. A large network has very many that never were.
    own: Option<Box<OwnCongestion>>,
}

#[derive(Clone, Debug, Default)]
struct OwnCongestion {
    congestion: DestinationCongestion,
    /// when there is any, if that is known before
    spans: Arc<[CongestedSpan]>,
    /// The last BRM originated here (rule 5).
    last_originated: Option<Time>,
}

impl Destination {
    /// A destination that has seen nothing yet.
    pub fn new(config: DestinationConfig) -> Destination {
        Destination { config, ..Destination::default() }
    }

    /// A data cell arrived (rule 1).
    #[inline]
    pub fn on_data(&mut self, efci: bool) {
        self.efci = efci;
    }

    /// ER that the values of a data cell ask for ([`DestinationConfig::asked_in_band`]).
    #[inline]
    pub fn asked_in_band(&self) -> RateCode {
        self.config.asked_in_band
    }

    /// The saved EFCI state.
    pub fn efci_state(&self) -> bool {
        self.efci
    }

    /// From now on, report this congestion of the destination's own (rule 2).
    pub fn set_congestion(&mut self, congestion: DestinationCongestion) {
        self.own.get_or_insert_default().congestion = congestion;
    }

    /// The destination is congested in these `spans`, in order and apart: from now on [`on_time`](Destination::on_time)
    /// says when something happens.
    pub fn congested_in(mut self, spans: &Arc<[CongestedSpan]>) -> Destination {
        if !spans.is_empty() {
            self.own.get_or_insert_default().spans = Arc::clone(spans);
        }
        self
    }

    /// Something is about to happen at `now`: congestion is what the [spans](Destination::congested_in) have then.
    /// Without spans nothing changes.
    #[inline]
    pub fn on_time(&mut self, now: Time) {
        if let Some(own) = &mut self.own {
            own.on_time(now);
        }
    }

    /// The first instant from `now` on at which a BRM is due that the [spans](Destination::congested_in) have it
    /// [originate](Destination::originate): as such a span begins and every 100 ms within it. [`Time::NEVER`] if there
    /// is none.
    pub fn next_origination(&self, now: Time) -> Time {
        let Some(own) = &self.own else { return Time::NEVER };
        let due = own.last_originated.map_or(now, |last| now.max(last.saturating_add(spacing())));
        let says = |span: &&CongestedSpan| {
            span.originates && (span.congestion.congestion_indication || span.congestion.no_increase)
        };
        let next = own.spans.iter().filter(says).find(|span| span.end > due);
        next.map_or(Time::NEVER, |span| span.start.max(due))
    }

    /// An FRM arrived: it waits, turned around, at `reverse`, the source of the other direction (rules 2 to 4 and 6).
    ///
    /// Returns a cell that must leave at once and out of rate (CLP = 1), if there is one: see
    /// [`schedule`](Destination::schedule), which this is, after [`turn_around`](Destination::turn_around).
    pub fn on_forward_rm(&mut self, frm: &RmCell, reverse: &mut Source) -> Option<RmCell> {
        let brm = self.turn_around(frm);
        self.schedule(brm, reverse)
    }

    /// The turned-around cell `brm` waits at `reverse` for its in-rate turn (rules 3, 4 and 6).
    ///
    /// Returns a cell that must leave at once and out of rate (CLP = 1), if there is one: the answer to an out-of-rate
    /// FRM, and, if so configured, a copy of the newest contents when an older cell still waited. What waits in rate
    /// always has the newest contents, so older contents never follow newer ones (rule 4).
    pub fn schedule(&self, brm: RmCell, reverse: &mut Source) -> Option<RmCell> {
        if brm.out_of_rate {
            if reverse.has_waiting_brm() {
                reverse.turn_around(brm);
            }
            return Some(brm);
        }
        let older = reverse.turn_around(brm);
        (older.is_some() && self.config.send_waiting_out_of_rate)
            .then_some(RmCell { out_of_rate: true, ..brm })
    }

    /// The answer to an FRM that arrived (rule 2): DIR and BN change, CI takes the EFCI state, a congested destination
    /// adds its own word, all else stays. It depends on the cells before it only, not on the time.
    pub fn turn_around(&mut self, frm: &RmCell) -> RmCell {
        let congestion = self.own.as_ref().map(|own| own.congestion).unwrap_or_default();
        let brm = RmCell {
            direction: Direction::Backward,
            backward_notification: false,
            congestion_indication: frm.congestion_indication || self.efci || congestion.congestion_indication,
            no_increase: frm.no_increase || congestion.no_increase,
            explicit_rate: match congestion.explicit_rate {
                Some(limit) => frm.explicit_rate.min(RateCode::floor(limit)),
                None => frm.explicit_rate,
            },
            ..*frm
        };
        if self.config.clear_efci_state {
            self.efci = false;
        }
        brm
    }

    /// Rule 5: a BRM originated here (BN = 1) with CI or NI as the destination's congestion has them, at most 10
    /// cells/s; `None` sooner than that, or when there is no congestion to report. It leaves out of rate.
    pub fn originate(&mut self, now: Time, mcr: CellRate) -> Option<RmCell> {
        let own = self.own.as_deref_mut()?;
        let DestinationCongestion { congestion_indication, no_increase, explicit_rate } = own.congestion;
        let due = own.last_originated.is_none_or(|last| now >= last.saturating_add(spacing()));
        (due && (congestion_indication || no_increase)).then(|| {
            own.last_originated = Some(now);
            RmCell {
                direction: Direction::Backward,
                backward_notification: true,
                congestion_indication,
                no_increase,
                explicit_rate: explicit_rate.map_or(RateCode::MAX, RateCode::floor),
                current_cell_rate: RateCode::ZERO,
                minimum_cell_rate: RateCode::floor(mcr),
                out_of_rate: true,
            }
        })
    }
}

impl OwnCongestion {
    fn on_time(&mut self, now: Time) {
        if self.spans.is_empty() {
            return;
        }
        let place = self.spans.partition_point(|span| span.end <= now);
        let span = self.spans.get(place).filter(|span| span.start <= now);
        self.congestion = span.map(|span| span.congestion).unwrap_or_default();
    }
}

/// From one BRM that a destination originates to the next, at least (rule 5).
fn spacing() -> Duration {
    CellRate::new(TCR).interval()
}

#[cfg(test)]
mod tests {
    //! The basics, by state; `tests/rules` holds every rule.

    use super::*;
    use crate::parameters::AbrParameters;
    use crate::uili::UiliConfig;

    fn reverse() -> Source {
        Source::new(AbrParameters::new(CellRate::new(100_000.0)), &UiliConfig::None)
    }

    fn frm() -> RmCell {
        RmCell {
            direction: Direction::Forward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::floor(CellRate::new(100_000.0)),
            current_cell_rate: RateCode::floor(CellRate::new(50_000.0)),
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        }
    }

    // Without congestion.

    #[test]
    fn an_frm_waits_as_a_brm_at_the_reverse_source() {
        let (mut destination, mut reverse) = (Destination::default(), reverse());
        assert_eq!(destination.on_forward_rm(&frm(), &mut reverse), None);
        let brm = RmCell { direction: Direction::Backward, ..frm() };
        assert_eq!(reverse.turn_around(brm), Some(brm));
        assert_eq!(destination.originate(Time::ZERO, CellRate::ZERO), None);
    }

    #[test]
    fn an_out_of_rate_frm_is_answered_at_once() {
        let (mut destination, mut reverse) = (Destination::default(), reverse());
        let tagged = RmCell { out_of_rate: true, ..frm() };
        let answer = RmCell { direction: Direction::Backward, ..tagged };
        assert_eq!(destination.on_forward_rm(&tagged, &mut reverse), Some(answer));
        assert!(!reverse.has_waiting_brm());
    }

    // After a marked data cell.

    #[test]
    fn the_efci_state_goes_into_one_brm() {
        let (mut destination, mut reverse) = (Destination::default(), reverse());
        destination.on_data(true);
        assert!(destination.efci_state());
        destination.on_forward_rm(&frm(), &mut reverse);
        assert!(!destination.efci_state());
        let brm = RmCell { direction: Direction::Backward, congestion_indication: true, ..frm() };
        assert_eq!(reverse.turn_around(brm), Some(brm));
    }

    // Congested itself.

    #[test]
    fn a_congested_destination_originates_a_brm_every_100_ms() {
        let mut destination = Destination::default();
        destination.set_congestion(DestinationCongestion { no_increase: true, ..Default::default() });
        let at = |ms| Time::ZERO + crate::units::Duration::from_ms(ms);
        assert!(destination.originate(at(5), CellRate::ZERO).is_some_and(|brm| brm.backward_notification));
        assert_eq!(destination.originate(at(104), CellRate::ZERO), None);
        assert!(destination.originate(at(105), CellRate::ZERO).is_some());
    }

    #[test]
    fn congestion_comes_and_goes_with_its_spans() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let span = |start, end, ci, originates| CongestedSpan {
            start: at(start),
            end: at(end),
            congestion: DestinationCongestion { congestion_indication: ci, ..Default::default() },
            originates,
        };
        // The last one has nothing to say in a BRM of its own.
        let spans = [
            span(10, 20, true, true),
            span(30, 300, true, false),
            span(400, 610, true, true),
            span(700, 900, false, true),
        ];
        let mut destination = Destination::default().congested_in(&spans.into());
        let mut says = |ms| {
            destination.on_time(at(ms));
            destination.turn_around(&frm()).congestion_indication
        };
        assert_eq!(
            [9, 10, 19, 20, 30, 299, 300, 500].map(&mut says),
            [false, true, true, false, true, true, false, true]
        );
        let mut sent = std::vec::Vec::new();
        let mut next = destination.next_origination(Time::ZERO);
        while next < Time::NEVER {
            destination.on_time(next);
            assert!(destination.originate(next, CellRate::ZERO).is_some());
            sent.push(next);
            next = destination.next_origination(next);
        }
        assert_eq!(sent, [10, 400, 500, 600].map(at));
        // A span that begins sooner than 100 ms after the last of them waits, if it lasts so long.
        let close = [span(10, 20, true, true), span(40, 90, true, true), span(100, 200, true, true)];
        let mut destination = Destination::default().congested_in(&close.into());
        destination.on_time(at(10));
        assert!(destination.originate(at(10), CellRate::ZERO).is_some());
        assert_eq!(destination.next_origination(at(10)), at(110));
        assert_eq!(Destination::default().next_origination(Time::ZERO), Time::NEVER);
    }
}
