//! How the sending end of a direction is paced.

use cellrate_proto::{Duration, Source, Time};
use cellrate_scenario::{FlowIndex, Scenario, Sender as SenderConfig};

use crate::given::{Given, NotGiven};

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
    /// That of `flow` at time zero.
    ///
    /// # Errors
    /// Where its source has a policy that the run was not given.
    pub fn new(scenario: &Scenario, flow: FlowIndex, given: Given<'_>) -> Result<Sender, NotGiven> {
        Ok(match &scenario.flow(flow).sender {
            SenderConfig::Abr(abr) => Sender::Abr(given.source(scenario, flow, abr)?),
            SenderConfig::Peak(rate) => Sender::Peak { spacing: rate.interval(), earliest: Time::ZERO },
        })
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
