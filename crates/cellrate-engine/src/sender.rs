//! How the sending end of a direction is paced.

use cellrate_proto::{CellRate, Duration, Emission, Source, Time};
use cellrate_scenario::{FlowIndex, Scenario, Sender as SenderConfig, Traffic};

use crate::plugins::{MissingPlugin, Plugins};

/// How an end is paced.
#[derive(Debug)]
pub enum Sender {
    /// By the TM 4.0 source of its direction.
    Abr(Source),
    /// By a peak rate alone.
    Peak {
        /// The smallest time between two cells.
        spacing: Duration,
        /// The earliest instant of the next cell.
        earliest: Time,
    },
}

impl Sender {
    /// That of `flow` at time zero, at a host or inside a switch that segments its control loop.
    ///
    /// # Errors
    /// Where its source has a policy that the run was not given.
    pub fn new(scenario: &Scenario, flow: FlowIndex, plugins: Plugins<'_>) -> Result<Sender, MissingPlugin> {
        Ok(match &scenario.flow(flow).sender {
            SenderConfig::Abr(abr) => Sender::Abr(plugins.source(scenario, flow, abr)?),
            SenderConfig::Peak(rate) => Sender::Peak { spacing: rate.interval(), earliest: Time::ZERO },
        })
    }

    /// The sender at the host where `flow` begins: it breaks the rules that the scenario says it does, and its FRMs
    /// follow frames where the traffic says so.
    ///
    /// # Errors
    /// Where its source has a policy that the run was not given.
    pub fn at_host(
        scenario: &Scenario,
        flow: FlowIndex,
        plugins: Plugins<'_>,
    ) -> Result<Sender, MissingPlugin> {
        let sender = Sender::new(scenario, flow, plugins)?;
        Ok(match (sender, &scenario.flow(flow).sender) {
            (Sender::Abr(source), SenderConfig::Abr(abr)) => {
                let source = source.misbehaving(abr.misbehaviour);
                let frames = &scenario.flow(flow).traffic;
                Sender::Abr(match frames {
                    Some(Traffic::Frames(frames)) if frames.frm_at_frame_ends => source.reporting_frames(),
                    _ => source,
                })
            }
            (sender, _) => sender,
        })
    }

    /// When it sends next, not before `now`; `available_from` says when, from some instant on, a data cell waits.
    #[inline(always)]
    pub fn next_transmission(&self, now: Time, available_from: impl Fn(Time) -> Time) -> Time {
        match self {
            Sender::Abr(source) => source.next_transmission(now, available_from),
            Sender::Peak { earliest, .. } => available_from(now.max(*earliest)),
        }
    }

    /// The smallest time between two cells.
    #[inline(always)]
    pub fn spacing(&self) -> Duration {
        match self {
            Sender::Abr(source) => source.spacing(),
            Sender::Peak { spacing, .. } => *spacing,
        }
    }

    /// The cell that leaves at `now`, if any may: `waits` says if a data cell does. An FRM may change ACR, which
    /// `on_acr` is then told, before and after.
    #[inline(always)]
    pub fn transmit(
        &mut self,
        now: Time,
        waits: bool,
        on_acr: impl FnOnce(CellRate, CellRate),
    ) -> Option<Emission> {
        match self {
            Sender::Abr(source) => {
                let before = source.acr();
                let emission = source.transmit(now, waits);
                let after = source.acr();
                if after != before {
                    on_acr(before, after);
                }
                emission
            }
            Sender::Peak { spacing, earliest } => {
                if !waits || now < *earliest {
                    return None;
                }
                *earliest = now.saturating_add(*spacing);
                Some(Emission::Data)
            }
        }
    }

    /// The ABR source, if there is one.
    #[inline]
    pub fn source(&self) -> Option<&Source> {
        match self {
            Sender::Abr(source) => Some(source),
            Sender::Peak { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    #[test]
    fn a_peak_rate_keeps_cells_apart_and_sends_nothing_that_does_not_wait() {
        let mut sender = Sender::Peak { spacing: Duration::from_us(10), earliest: Time::ZERO };
        let mut transmit = |now, waits| sender.transmit(now, waits, |_, _| panic!("a peak rate has no ACR"));
        assert_eq!(transmit(at(5), false), None);
        assert_eq!(transmit(at(5), true), Some(Emission::Data));
        assert_eq!(transmit(at(14), true), None);
        assert_eq!(transmit(at(15), true), Some(Emission::Data));
        assert_eq!(sender.next_transmission(at(16), |from| from), at(25));
        assert_eq!(sender.next_transmission(at(16), |from| from.max(at(40))), at(40));
        assert_eq!(sender.next_transmission(at(30), |_| Time::NEVER), Time::NEVER);
    }
}
