//! Why a run gives no result.

use std::fmt;

use cellrate_engine::plugins::MissingPlugin;
use cellrate_proto::Duration;

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The caller asked to stop.
    Interrupted,
    /// Too many sources and links for so long a run: the schedule's keys hold `allowed_ps` of network time.
    TooLong {
        /// The duration that it is to run \[ps\].
        given_ps: u64,
        /// The longest duration that this network may run \[ps\].
        allowed_ps: u64,
    },
    /// Data cells carry RM values, and have room for so many instants only.
    TooLongInBand {
        /// The duration that it is to run.
        given: Duration,
        /// The longest duration of a run with such cells.
        allowed: Duration,
    },
    /// The connections of the scenario cross more links, all directions together, than cells can number.
    TooLarge {
        /// Links crossed, all directions of all connections together.
        hops: usize,
        /// The most there may be.
        allowed: usize,
    },
    /// The queue of a port could take more than 106 days to transmit, which is more than instants can tell.
    BacklogTooLong {
        /// The port, as `from->to`.
        port: String,
        /// How long, at most \[days\].
        days: u64,
    },
    /// A port has a custom algorithm that the run was not given.
    MissingPlugin(MissingPlugin),
    /// Cells appeared or vanished: a defect of the simulator, never of the scenario.
    NotConserved {
        /// The connection and direction.
        vc: String,
        /// Sent, delivered, dropped and in flight.
        counts: [u64; 4],
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Interrupted => f.write_str("the run was interrupted"),
            RunError::TooLong { given_ps, allowed_ps } => {
                let [given_s, allowed_s] = [given_ps, allowed_ps].map(|ps| *ps as f64 / 1e12);
                write!(
                    f,
                    "a network of this size can be run for at most {allowed_s:.1} s, and this is to run for {given_s:.1} s; \
                     shorten `duration`"
                )
            }
            RunError::TooLongInBand { given, allowed } => write!(
                f,
                "a network with rm = \"in-band\" can be run for at most {:.1} s, and this is to run for {:.1} s: its data \
                 cells carry RM values beside their instants; shorten `duration`, or write rm = \"own-cells\"",
                allowed.as_secs_f64(),
                given.as_secs_f64()
            ),
            RunError::TooLarge { hops, allowed } => write!(
                f,
                "the connections cross {hops} links, both directions of all of them together; at most {allowed} can be \
                 simulated"
            ),
            RunError::BacklogTooLong { port, days } => write!(
                f,
                "port {port}: what its connections may send at their peak rates would take {days} days to transmit, and at \
                 most 106 can be simulated; lower their pcr, limit the buffer, or shorten `duration`"
            ),
            RunError::MissingPlugin(error) => error.fmt(f),
            RunError::NotConserved { vc, counts: [sent, delivered, dropped, in_flight] } => write!(
                f,
                "cells of {vc} are not conserved (sent {sent}, delivered {delivered}, dropped {dropped}, in flight \
                 {in_flight}): this is a defect of cellrate, please report it with the scenario"
            ),
        }
    }
}

impl std::error::Error for RunError {}

impl From<MissingPlugin> for RunError {
    fn from(error: MissingPlugin) -> RunError {
        RunError::MissingPlugin(error)
    }
}
