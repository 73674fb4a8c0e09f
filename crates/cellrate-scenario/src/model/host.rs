//! Settings of a host in a live run: a machine with an IP stack.

use std::net::Ipv4Addr;
use std::sync::Arc;

use cellrate_proto::{Cells, Duration, Octets};

use crate::traffic::DelayedAck;

/// A host: what it takes to process what it sends, and all else for a live run, which the simulator has no use for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSettings {
    /// Its one IPv4 address.
    pub address: Ipv4Addr,
    /// Largest IP packet [octets, 576 to 65527].
    pub mtu: Octets,
    /// Room for packets in its adapter, for each connection \[cells\]: the edge queue of an ABR end system.
    pub adapter_queue: Cells,
    /// Packets on their way from the kernel to the adapter at most (txqueuelen).
    pub transmit_queue: u32,
    /// TCP.
    pub tcp: Arc<HostTcp>,
    /// Changes that its adapter makes to what its TCP sends.
    pub adapter_tcp: AdapterTcp,
    /// Processing time of each PDU of TCP that it sends, in a simulation; a live host takes as long as it takes.
    pub processing: Processing,
}

/// Changes that a live host's adapter makes to what the host's TCP sends, so that it looks like one of another time,
/// and to the ACKs that come for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AdapterTcp {
    /// Largest window that gets out, without window scaling \[octets\]. Default as the host sends it.
    pub window: Option<u16>,
    /// When ACKs without data get out. Default at once.
    pub delayed_ack: Option<DelayedAck>,
    /// Treatment of the ACKs that come for the host. Default none.
    pub arriving_acks: ArrivingAcks,
}

/// Treatment of ACKs by the adapter of the host that they come for: how it tells TCP of its rate or queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ArrivingAcks {
    /// ACKs pass as they come (default).
    #[default]
    Passed,
    /// The window that ACKs offer becomes what ACR carries in so long, a segment at least: the connections of a VC that
    /// have data on their way have equal parts.
    Window(Duration),
    /// ACKs pass while fewer cells than this wait at the adapter, or are on their way there [at least 1], and are held
    /// otherwise.
    Held(Cells),
}

/// A time that is drawn each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Processing {
    /// None at all (default).
    #[default]
    None,
    /// Always the same.
    Fixed(Duration),
    /// Uniform, from the first to the second.
    Uniform(Duration, Duration),
    /// Exponential, with this mean.
    Exponential(Duration),
}

impl HostSettings {
    /// Settings of a host whose table is empty: its address follows from its place among the hosts, from 10.0.0.1 on.
    pub fn of_host(number: u32) -> HostSettings {
        HostSettings {
            address: Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 0, 0, 1)) + number),
            mtu: Octets(9180),
            adapter_queue: Cells(4096),
            transmit_queue: 1000,
            tcp: Arc::default(),
            adapter_tcp: AdapterTcp::default(),
            processing: Processing::None,
        }
    }
}

/// Settings of TCP; `None` leaves the kernel's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTcp {
    /// Name of the algorithm. Default reno.
    pub congestion_control: String,
    /// Largest window that is offered \[octets\].
    pub receive_window: Option<Octets>,
    /// Largest send buffer \[octets\].
    pub send_buffer: Option<Octets>,
    /// Segment size that is announced \[octets\].
    pub mss: Option<Octets>,
    /// Congestion window at the beginning \[segments\].
    pub initial_window: Option<u32>,
    /// Whether ACKs may wait for more data (RFC 1122). Default true.
    pub delayed_ack: bool,
    /// Smallest retransmission time-out, whole milliseconds.
    pub minimum_rto: Option<Duration>,
    /// Selective acknowledgements. Default true.
    pub sack: bool,
    /// Timestamps. Default true.
    pub timestamps: bool,
}

impl Default for HostTcp {
    fn default() -> HostTcp {
        HostTcp {
            congestion_control: "reno".into(),
            receive_window: None,
            send_buffer: None,
            mss: None,
            initial_window: None,
            delayed_ack: true,
            minimum_rto: None,
            sack: true,
            timestamps: true,
        }
    }
}
