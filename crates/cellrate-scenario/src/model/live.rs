//! How a network is run live.

use std::net::SocketAddr;

use cellrate_proto::Duration;

/// Settings of live runs. The simulator has no use for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSettings {
    /// Where each node takes datagrams of cells, in the order of the nodes; nodes beyond its end have no address.
    pub addresses: Vec<Option<SocketAddr>>,
    /// How often the engine wakes while cells move; `None` is for the engine to choose.
    pub quantum: Option<Duration>,
    /// The most that is caught up with after a stall. Default 100 ms.
    pub catch_up: Duration,
    /// Whether datagrams bring the instant at which each cell left. Default false.
    pub timestamps: bool,
    /// Whether each datagram ends with a stamp that tells it from those of other runs. Default true.
    pub stamps: bool,
}

impl Default for LiveSettings {
    fn default() -> LiveSettings {
        LiveSettings {
            addresses: Vec::new(),
            quantum: None,
            catch_up: Duration::from_ms(100),
            timestamps: false,
            stamps: true,
        }
    }
}
