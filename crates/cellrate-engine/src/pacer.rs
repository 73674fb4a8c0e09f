//! The pacer of a sending end: its ABR source and the course of ACR, or its peak rate.

use cellrate_proto::{CellRate, Duration, Emission, RmCell, Source, Time};
use cellrate_scenario::{FlowIndex, Scenario, Sender, Traffic};

use crate::acr_integral::{AcrIntegral, Tail};
use crate::conditioner::Conditioner;
use crate::plugins::{MissingPlugin, Plugins};

/// How an end is paced.
#[derive(Debug)]
pub enum Pacer {
    /// By the TM 4.0 source of its direction, whose ACR is integrated over time.
    Abr(Source, AcrIntegral),
    /// By a peak rate alone.
    Peak {
        /// The smallest time between two cells.
        spacing: Duration,
        /// The earliest instant of the next cell.
        earliest: Time,
    },
    /// By a peak rate, a shaper and a marker, cell by cell.
    Conditioned(Box<Conditioner>),
}

/// Most cells of a [run](Pacer::data_run) at a peak rate, where no RM cell ends it: as many as at ACR with the largest
/// Nrm.
const LONGEST_RUN: u32 = 255;

impl Pacer {
    /// That of `flow` at time zero, at a host or inside a switch that segments its control loop.
    ///
    /// # Errors
    /// Where its source has a policy that the run was not given.
    pub fn new(scenario: &Scenario, flow: FlowIndex, plugins: Plugins<'_>) -> Result<Pacer, MissingPlugin> {
        Ok(match &scenario.flow(flow).sender {
            Sender::Abr(abr) => Pacer::Abr(plugins.source(scenario, flow, abr)?, AcrIntegral::default()),
            Sender::Peak(rate) => match Conditioner::of(scenario, flow) {
                Some(conditioner) => Pacer::Conditioned(Box::new(conditioner)),
                None => Pacer::Peak { spacing: rate.interval(), earliest: Time::ZERO },
            },
        })
    }

    /// The pacer at the host where `flow` begins: it breaks the rules that the scenario says it does, and its FRMs
    /// follow frames where the traffic says so.
    ///
    /// # Errors
    /// Where its source has a policy that the run was not given.
    pub fn at_host(
        scenario: &Scenario,
        flow: FlowIndex,
        plugins: Plugins<'_>,
    ) -> Result<Pacer, MissingPlugin> {
        let pacer = Pacer::new(scenario, flow, plugins)?;
        Ok(match (pacer, &scenario.flow(flow).sender) {
            (Pacer::Abr(source, integral), Sender::Abr(abr)) => {
                let source = source.misbehaving(abr.misbehaviour).bursting(abr.mbs);
                let source = match &scenario.flow(flow).traffic {
                    Some(Traffic::Frames(frames)) if frames.frm_at_frame_ends => source.reporting_frames(),
                    _ => source,
                };
                Pacer::Abr(source, integral)
            }
            (pacer, _) => pacer,
        })
    }

    /// When it sends next, not before `now`; `available_from` says when, from some instant on, a data cell waits.
    #[inline(always)]
    pub fn next_transmission(&self, now: Time, available_from: impl Fn(Time) -> Time) -> Time {
        match self {
            Pacer::Abr(source, _) => source.next_transmission(now, available_from),
            Pacer::Peak { earliest, .. } => available_from(now.max(*earliest)),
            Pacer::Conditioned(own) => available_from(own.earliest(now)),
        }
    }

    /// The smallest time between two cells.
    #[inline(always)]
    pub fn spacing(&self) -> Duration {
        match self {
            Pacer::Abr(source, _) => source.spacing(),
            Pacer::Peak { spacing, .. } => *spacing,
            Pacer::Conditioned(own) => own.spacing(),
        }
    }

    /// How many data cells may leave one after the other, a [spacing](Pacer::spacing) apart, from the one that leaves
    /// at `at` on, with nothing else among them; none where anything else may leave.
    #[inline]
    pub fn data_run(&self, at: Time) -> u32 {
        match self {
            Pacer::Abr(source, _) => source.data_run(at),
            Pacer::Peak { .. } => LONGEST_RUN,
            // Cells differ, and keep no distance that is known beforehand.
            Pacer::Conditioned(_) => 0,
        }
    }

    /// `count` cells of a [run](Pacer::data_run) have left, the last one at `last`.
    #[inline]
    pub fn transmit_run(&mut self, count: u32, last: Time) {
        match self {
            Pacer::Abr(source, _) => source.transmit_run(count, last),
            Pacer::Peak { spacing, earliest } => *earliest = last.saturating_add(*spacing),
            Pacer::Conditioned(_) => unreachable!("it has no runs of {count} cells"),
        }
    }

    /// Sends a data cell at `now`, the instant of the next transmission, if it is an ABR source's turn to send one:
    /// false where anything else may leave ([`transmit`](Pacer::transmit)).
    #[inline(always)]
    pub fn transmit_data(&mut self, now: Time) -> bool {
        match self {
            Pacer::Abr(source, _) => source.transmit_data(now),
            Pacer::Peak { .. } | Pacer::Conditioned(_) => false,
        }
    }

    /// The cell that leaves at `now`, if any may: `waits` says if a data cell does. An FRM may change ACR; `on_acr` is
    /// then told the new one.
    #[inline(always)]
    pub fn transmit(&mut self, now: Time, waits: bool, on_acr: impl FnOnce(CellRate)) -> Option<Emission> {
        match self {
            Pacer::Abr(source, integral) => {
                let before = source.acr();
                let emission = source.transmit(now, waits);
                let after = source.acr();
                if after != before {
                    integral.advance(now, before);
                    on_acr(after);
                }
                emission
            }
            Pacer::Peak { spacing, earliest } => {
                if !waits || now < *earliest {
                    return None;
                }
                *earliest = now.saturating_add(*spacing);
                Some(Emission::Data)
            }
            Pacer::Conditioned(own) => (waits && own.release(now)).then_some(Emission::Data),
        }
    }

    /// Whether the source sends the data cell that leaves at `now` with CLP = 1; `ends_pdu` says whether it is the last
    /// of its PDU.
    #[inline]
    pub fn marks(&mut self, now: Time, ends_pdu: bool) -> bool {
        match self {
            Pacer::Conditioned(own) => own.marks(now, ends_pdu),
            Pacer::Abr(..) | Pacer::Peak { .. } => false,
        }
    }

    /// A BRM has come at `now`, and an ABR source obeys it; `on_acr` is told the new ACR where that changes it.
    #[inline(always)]
    pub fn on_backward_rm(&mut self, now: Time, rm: &RmCell, on_acr: impl FnOnce(CellRate)) {
        let Pacer::Abr(source, integral) = self else { return };
        let before = source.acr();
        source.on_backward_rm(now, rm);
        integral.advance(now, before);
        if source.acr() != before {
            on_acr(source.acr());
        }
    }

    /// An ABR source begins anew at `now`, as one that has just been set up.
    pub fn restart(&mut self, now: Time) {
        if let Pacer::Abr(source, integral) = self {
            let before = source.acr();
            source.restart(now);
            integral.advance(now, before);
        }
    }

    /// The ABR source, if there is one.
    #[inline]
    pub fn source(&self) -> Option<&Source> {
        match self {
            Pacer::Abr(source, _) => Some(source),
            Pacer::Peak { .. } | Pacer::Conditioned(_) => None,
        }
    }

    /// The ABR source, if there is one, for what leaves its ACR as it is.
    #[inline]
    pub fn source_mut(&mut self) -> Option<&mut Source> {
        match self {
            Pacer::Abr(source, _) => Some(source),
            Pacer::Peak { .. } | Pacer::Conditioned(_) => None,
        }
    }

    /// The integral of ACR begins anew at `now`.
    pub fn begin_integral(&mut self, now: Time) {
        if let Pacer::Abr(source, integral) = self {
            integral.restart(now, source.acr());
        }
    }

    /// How far the integral of ACR has got.
    #[inline]
    pub fn integrated_until(&self) -> Time {
        match self {
            Pacer::Abr(_, integral) => integral.until(),
            Pacer::Peak { .. } | Pacer::Conditioned(_) => Time::ZERO,
        }
    }

    /// Time integral of ACR up to `end`, since it [began anew](Pacer::begin_integral) \[cells\]; zero without an ABR
    /// source.
    pub fn acr_cells(&self, end: Time) -> f64 {
        match self {
            Pacer::Abr(source, integral) => integral.cells(end, source.acr()),
            Pacer::Peak { .. } | Pacer::Conditioned(_) => 0.0,
        }
    }

    /// Time-weighted mean of ACR up to `end`, over `span`.
    pub fn mean_acr(&self, end: Time, span: Duration) -> Option<CellRate> {
        match self {
            Pacer::Abr(source, integral) => Some(integral.mean(end, source.acr(), span)),
            Pacer::Peak { .. } | Pacer::Conditioned(_) => None,
        }
    }

    /// Has what ACR does from `from` on kept apart.
    pub fn watch_acr(&mut self, from: Time) {
        if let Pacer::Abr(_, integral) = self {
            integral.watch(from);
        }
    }

    /// ACR from that instant on, up to `end`; `None` unless it is [watched](Pacer::watch_acr).
    pub fn acr_tail(&self, end: Time) -> Option<Tail> {
        match self {
            Pacer::Abr(source, integral) => integral.tail(end, source.acr()),
            Pacer::Peak { .. } | Pacer::Conditioned(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use cellrate_proto::uili::UiliConfig;
    use cellrate_proto::{AbrParameters, Direction, RateCode};

    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    #[test]
    fn a_peak_rate_keeps_cells_apart_and_sends_nothing_that_does_not_wait() {
        let mut pacer = Pacer::Peak { spacing: Duration::from_us(10), earliest: Time::ZERO };
        let mut transmit = |now, waits| pacer.transmit(now, waits, |_| panic!("a peak rate has no ACR"));
        assert_eq!(transmit(at(5), false), None);
        assert_eq!(transmit(at(5), true), Some(Emission::Data));
        assert_eq!(transmit(at(14), true), None);
        assert_eq!(transmit(at(15), true), Some(Emission::Data));
        assert_eq!(pacer.next_transmission(at(16), |from| from), at(25));
        assert_eq!(pacer.next_transmission(at(16), |from| from.max(at(40))), at(40));
        assert_eq!(pacer.next_transmission(at(30), |_| Time::NEVER), Time::NEVER);
    }

    #[test]
    fn acr_is_integrated_up_to_each_change_of_it() {
        let acr = CellRate::new(100_000.0);
        let source = Source::new(AbrParameters::new(acr), &UiliConfig::None);
        let mut pacer = Pacer::Abr(source, AcrIntegral::default());
        let down = RmCell {
            direction: Direction::Backward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::floor(CellRate::new(25_000.0)),
            current_cell_rate: RateCode::floor(acr),
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        };
        let mut told = Vec::new();
        pacer.on_backward_rm(at(10), &down, |acr| told.push(acr));
        pacer.on_backward_rm(at(20), &down, |acr| told.push(acr));
        let low = pacer.source().unwrap().acr();
        assert_eq!(told, [low], "the second one changes nothing");
        // 10 us at one rate and 30 at the other.
        assert_eq!(pacer.integrated_until(), at(20));
        let cells = acr.cells_in(Duration::from_us(10)) + low.cells_in(Duration::from_us(30));
        assert!((pacer.acr_cells(at(40)) / cells - 1.0).abs() < 1e-12);
        pacer.restart(at(40));
        pacer.begin_integral(at(40));
        let mean = pacer.mean_acr(at(50), Duration::from_us(10)).unwrap();
        assert!((mean.ratio(acr) - 1.0).abs() < 1e-12, "ICR is PCR, not {mean:?}");
    }
}
