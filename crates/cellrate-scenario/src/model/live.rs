//! How a network is run live.

use std::net::SocketAddr;

use cellrate_proto::Duration;
use cellrate_proto::declaration::{Kind, Table};

/// Settings of a live run; a simulation ignores them.
#[derive(Clone, Debug, PartialEq, Eq, Table)]
#[table(name = "live", written)]
pub struct LiveSettings {
    /// For each host and switch of a distributed run, the UDP address and port at which it takes datagrams of cells,
    /// such as "127.0.0.1:6635"; of one machine, neither 0.0.0.0 nor a multicast or broadcast address.
    ///
    /// In the order of the nodes; nodes beyond its end have no address.
    #[key(name = "nodes", default = "none", kind = Kind::Map(&Kind::Text), elsewhere)]
    pub addresses: Vec<Option<SocketAddr>>,
    /// How often the engine wakes while cells move.
    #[key(default = "12 cell times of the fastest line, from 50 us to 500 us")]
    pub quantum: Option<Duration>,
    /// Longest stall of the engine after which it catches up; a longer one fails the run.
    #[key(default = "100 ms")]
    pub catch_up: Duration,
    /// Whether datagrams carry the instant at which each cell left; other equipment does not accept such datagrams.
    #[key(default = "false")]
    pub timestamps: bool,
    /// Whether each datagram ends with a stamp of its run and its number, without which it is dropped; other equipment
    /// does not accept such datagrams.
    #[key(default = "true")]
    pub stamps: bool,
}
