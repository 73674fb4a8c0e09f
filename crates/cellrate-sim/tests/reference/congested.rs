//! How the judge has destinations be congested: it looks through the list of spans whenever it has to know, and has
//! all BRMs that they originate planned from the beginning.

use cellrate_proto::RateCode;
use cellrate_proto::destination::{CongestedSpan, DestinationCongestion};

use super::*;

/// Flaws that take congested destinations to tell.
pub const CONGESTED_FLAWS: [(Flaw, u64); 2] =
    [(Flaw::CongestionUntold, 0), (Flaw::SpansReportAsTheyBegin, 1)];

/// The spans of the destination at the end of this number, which receives the other direction.
fn spans(scenario: &Scenario, end: usize) -> &[CongestedSpan] {
    match &flow_config(scenario, end ^ 1).sender {
        Sender::Abr(abr) => &abr.congested,
        Sender::Peak(_) => &[],
    }
}

impl Network<'_> {
    /// The destination at an end of a host is told what holds at `now`.
    pub(super) fn tell_congestion(&mut self, now: Time, number: usize) {
        if self.ends[number].relay.is_some() || self.flaw == Some(Flaw::CongestionUntold) {
            return;
        }
        let own = spans(self.scenario, number);
        if own.is_empty() {
            return;
        }
        let present = own.iter().find(|span| span.start <= now && now < span.end);
        let congestion = present.map_or(DestinationCongestion::default(), |span| span.congestion);
        self.ends[number].destination.set_congestion(congestion);
    }

    /// All BRMs that destinations at hosts originate.
    pub(super) fn plan_reports(&mut self) {
        for number in 0..self.paths.len() {
            let mut last: Option<Time> = None;
            for (place, span) in spans(self.scenario, number).iter().enumerate() {
                if !span.originates {
                    continue;
                }
                let mut at = match last {
                    Some(last) if self.flaw != Some(Flaw::SpansReportAsTheyBegin) => {
                        span.start.max(last + Duration::from_ms(100))
                    }
                    _ => span.start,
                };
                while at < span.end && at < self.end {
                    self.plan(at, Happening::Report(number, place));
                    last = Some(at);
                    at += Duration::from_ms(100);
                }
            }
        }
    }

    /// The destination at the end of this number originates a BRM, because of the span of that place.
    pub(super) fn on_report(&mut self, now: Time, number: usize, place: usize) {
        let sender = &flow_config(self.scenario, number ^ 1).sender;
        let DestinationCongestion { congestion_indication, no_increase, explicit_rate } =
            spans(self.scenario, number)[place].congestion;
        let brm = RmCell {
            direction: Direction::Backward,
            backward_notification: true,
            congestion_indication,
            no_increase,
            explicit_rate: explicit_rate.map_or(RateCode::MAX, RateCode::floor),
            current_cell_rate: RateCode::ZERO,
            minimum_cell_rate: RateCode::floor(sender.mcr()),
            out_of_rate: true,
        };
        self.send(now, number, Some(brm), false);
    }
}
