//! Why a live run gave no result.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use cellrate_engine::plugins::MissingPlugin;

/// Why a live run gave no result.
#[derive(Debug)]
pub enum Error {
    /// The caller asked to stop.
    Interrupted,
    /// More connections than VPIs and VCIs can number.
    TooLarge {
        /// Connections of the scenario.
        connections: usize,
        /// The most there may be.
        allowed: usize,
    },
    /// A route leads over a connection one of whose hosts has no device.
    NoDevice {
        /// The connection.
        vc: String,
        /// The host.
        host: String,
    },
    /// A connection's traffic answers what it receives, and there is no application to do so.
    NoApplication {
        /// The connection.
        vc: String,
    },
    /// The adapter of a host uses ACR, and a connection has none.
    NoRate {
        /// The connection.
        vc: String,
        /// The host.
        host: String,
        /// The key of the host that goes by it, and what does without.
        key: (&'static str, &'static str),
    },
    /// Something custom of the scenario was not given to the run.
    MissingPlugin(MissingPlugin),
    /// A distributed run needs the address of a node, and it is not given.
    NoAddress {
        /// The node.
        node: String,
    },
    /// The node's own address cannot be used.
    Bind {
        /// The node.
        node: String,
        /// The address.
        address: SocketAddr,
        /// The error that the operating system gave.
        cause: io::Error,
    },
    /// Too many things happen at once for so long a run: the numbers that order them in time end before it does.
    TooLong {
        /// The duration that it is to run \[s\].
        given_s: f64,
        /// The longest duration that this network may run \[s\].
        allowed_s: f64,
    },
    /// The start lies in the past by more than the run takes.
    TooLate {
        /// How long ago the run ended \[s\].
        late_s: f64,
    },
    /// The system refused something that the engine cannot do without.
    System(io::Error),
    /// Cells or packets appeared or vanished: a defect of the engine, never of the scenario.
    NotConserved {
        /// The connection and direction.
        vc: String,
        /// Cells that went in and cells that came out, in words and numbers.
        account: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Interrupted => f.write_str("the run was interrupted"),
            Error::TooLarge { connections, allowed } => {
                write!(
                    f,
                    "the scenario has {connections} connections; a live run takes at most {allowed}, by the VPIs and VCIs that there are"
                )
            }
            Error::NoDevice { vc, host } => {
                write!(
                    f,
                    "{vc} carries packets, and its host {host} has no device for them; attach one, or leave its route out"
                )
            }
            Error::NoApplication { vc } => write!(
                f,
                "the traffic of {vc} consists of packets, or answers what it receives: a live run has real applications for that, a simulated \
                 one (`cellrate run`) models of them. Give it an application, or another traffic type"
            ),
            Error::NoRate { vc, host, key: (key, instead) } => write!(
                f,
                "host {host} has live.{key}, which uses ACR, and {vc} has none; make it category \"abr\", or leave it out there ({instead})"
            ),
            Error::MissingPlugin(error) => error.fmt(f),
            Error::NoAddress { node } => write!(
                f,
                "no address of {node}; a distributed run needs `[live] nodes = {{ {node} = \"127.0.0.1:6635\", ... }}`"
            ),
            Error::Bind { node, address, cause } => {
                write!(f, "{node} cannot receive at {address}: {cause}")
            }
            Error::TooLong { given_s, allowed_s } => write!(
                f,
                "a network of this size can be run for at most {allowed_s:.1} s, and this is to run for {given_s:.1} s; \
                 shorten `duration`"
            ),
            Error::TooLate { late_s } => {
                write!(
                    f,
                    "the start that was given lies so far back that the run ended {late_s:.1} s ago; give a later one (start_unix_ns, --start)"
                )
            }
            Error::System(cause) => write!(f, "the system refused what the engine needs: {cause}"),
            Error::NotConserved { vc, account } => write!(
                f,
                "cells or packets of {vc} are not conserved ({account}): this is a defect of cellrate, please report it \
                 with the scenario"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Bind { cause, .. } | Error::System(cause) => Some(cause),
            _ => None,
        }
    }
}

impl From<MissingPlugin> for Error {
    fn from(error: MissingPlugin) -> Error {
        Error::MissingPlugin(error)
    }
}

impl From<io::Error> for Error {
    fn from(cause: io::Error) -> Error {
        Error::System(cause)
    }
}
