//! Settings of a host in a live run: a machine with an IP stack.

use std::net::Ipv4Addr;
use std::sync::Arc;

use cellrate_proto::declaration::{Dimension, Key, Kind, Table};
use cellrate_proto::parameters::ParameterError;
use cellrate_proto::{Cells, Duration, Octets};

use super::scone::SconeElements;
use crate::text::error::{Fault, Place};
use crate::text::reading::whole_ms;
use crate::text::tree::{Node, Table};
use crate::text::written::{OctetsFrom, Written, from_node, octets_from, setting};
use crate::text::{check, quantity};
use crate::traffic::DelayedAck;

/// A host of a live run: a network namespace with one TUN device.
///
/// The simulator has no use for any of it but `processing`.
#[derive(Clone, Debug, PartialEq, Eq, Table)]
#[table(name = "host_live", written)]
pub struct HostSettings {
    /// IPv4 address, of this host alone.
    #[key(argument, default = "10.0.0.1 for the first host, and so on", as = Address)]
    pub address: Ipv4Addr,
    /// Largest IP packet: 576 to 65527 octets (RFC 2225 has 9180, Ethernet 1500).
    #[key(default = "9180 octets", as = OctetsFrom<576, 65_527>)]
    pub mtu: Octets,
    /// Room for packets in the host's adapter, for each vc: the edge queue of an ABR end system. A packet that does not
    /// fit whole is lost, without a sign to TCP.
    #[key(default = "4096 cells")]
    pub adapter_queue: Cells,
    /// Largest number of packets that wait on their way from the kernel to the adapter (txqueuelen), which takes them
    /// at its next wake-up; a packet that finds the queue full is lost.
    #[key(default = "1000", kind = Kind::Integer(1, 1_000_000))]
    pub transmit_queue: u32,
    /// Settings of the host's TCP.
    #[key(default = "that of the kernel, with reno", or = Arc::default())]
    pub tcp: Arc<HostTcp>,
    /// Changes that the adapter makes to the segments of the host's TCP, so that it looks like an older one, and to the
    /// ACKs that arrive for it.
    #[key(default = "nothing", or = AdapterTcp::default())]
    pub adapter_tcp: AdapterTcp,
    /// Throughput advice that the adapter writes into SCONE packets of the host's QUIC, and into those that come for
    /// it.
    #[key(default = "nothing", or = SconeElements::default())]
    pub scone: SconeElements,
    /// Processing time of each PDU of TCP that it sends, in a simulation; a live host takes as long as it takes.
    #[key(argument)]
    pub processing: Processing,
}

/// Changes that an adapter makes to segments of its host's TCP, where Linux does not behave as older systems did, and
/// to ACKs that arrive for it, so that TCP follows the adapter's rate or queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Table)]
#[table(name = "adapter_tcp", written)]
pub struct AdapterTcp {
    /// Largest window that leaves the host: 536 to 65535 octets, cut to whole segments. Window scaling is taken out;
    /// the ACK that ends the handshake offers twice as much.
    #[key(default = "as the host sends it", as = Option<AdapterWindow>)]
    pub window: Option<u16>,
    /// When an ACK without data leaves that acknowledges a single segment; the host itself then acknowledges every
    /// segment at once.
    #[key(default = "at once")]
    pub delayed_ack: Option<DelayedAck>,
    /// Treatment of the ACKs that come for the host.
    #[key(flatten)]
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

/// Settings of [`ArrivingAcks`] as they are written.
#[derive(Debug, Table)]
#[table(written)]
struct AckKeys {
    /// The window in ACKs that come for the host becomes what ACR carries in so long, a round trip without queues,
    /// shared by the connections of the VC that have data on their way, a segment at least (explicit window
    /// adaptation). For category abr.
    #[key(default = "as the peer sends it")]
    acr_window: Option<Duration>,
    /// ACKs that arrive for the host pass while fewer cells than this wait in the VC's adapter or are on their way
    /// there, and are held back otherwise (an acknowledgment bucket). At least "1 cells"; not beside acr_window.
    #[key(default = "passed on at once")]
    hold_acks: Option<Cells>,
}

impl ArrivingAcks {
    const KEYS: &[Key] = AckKeys::KEYS;

    fn read(values: &Written<'_>) -> Result<ArrivingAcks, Fault> {
        let refused =
            |message: &str, remedy: &str| Err(Fault::new(values.place_of("hold_acks"), message, remedy));
        match AckKeys::read(values)? {
            AckKeys { hold_acks: Some(Cells::ZERO), .. } => {
                refused("hold_acks is 0 cells, which lets nothing through", "Write 1 cell at least")
            }
            AckKeys { acr_window: Some(_), hold_acks: Some(_) } => refused(
                "acr_window and hold_acks are both given, and only one of them can treat ACKs",
                "Write one of them",
            ),
            AckKeys { hold_acks: Some(mark), .. } => Ok(ArrivingAcks::Held(mark)),
            AckKeys { acr_window: Some(round_trip), .. } => Ok(ArrivingAcks::Window(round_trip)),
            AckKeys { .. } => Ok(ArrivingAcks::Passed),
        }
    }

    /// Refuses nothing: reading does.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }
}

impl HostSettings {
    /// Settings of a host whose table is empty: its address follows from its place among the hosts, from 10.0.0.1 on.
    pub fn of_host(number: u32) -> HostSettings {
        let read = HostSettings::read(
            &Written::new(&Table::default(), Place::default()),
            address_of(number),
            Processing::None,
        );
        read.unwrap_or_else(|_| unreachable!("an empty table is one of a host"))
    }
}

/// The address of the host of this number where it has none of its own.
pub(crate) fn address_of(number: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 0, 0, 1)) + number)
}

/// TCP of a host in a live run; settings that are not given are the kernel's.
#[derive(Clone, Debug, PartialEq, Eq, Table)]
#[table(name = "host_tcp", written)]
pub struct HostTcp {
    /// One of the kernel's algorithms, such as reno, cubic or bbr.
    #[key(default = "reno", as = Algorithm)]
    pub congestion_control: String,
    /// The host offers this at first and has a receive buffer for it; Linux 6.18 then offers up to what the buffer
    /// holds.
    #[key(default = "the kernel's", as = Option<OctetsFrom<536, 1_073_741_824>>)]
    pub receive_window: Option<Octets>,
    /// Unacknowledged data is at most about this.
    #[key(default = "the kernel's", as = Option<OctetsFrom<4096, 1_073_741_824>>)]
    pub send_buffer: Option<Octets>,
    /// The segment size that the host announces.
    #[key(default = "of the MTU")]
    pub mss: Option<Octets>,
    /// Congestion window at the beginning, in segments.
    #[key(default = "10", kind = Kind::Integer(1, 1000))]
    pub initial_window: Option<u32>,
    /// false: every segment is acknowledged at once.
    #[key(default = "true")]
    pub delayed_ack: bool,
    /// Smallest retransmission time-out, in whole ms.
    #[key(default = "\"200 ms\"", as = Option<WholeMilliseconds>)]
    pub minimum_rto: Option<Duration>,
    /// Selective acknowledgements (RFC 2018).
    #[key(default = "true")]
    pub sack: bool,
    /// Timestamps (RFC 7323): 12 octets in every segment.
    #[key(default = "true")]
    pub timestamps: bool,
}

/// A window that fits into the field of a TCP header.
struct AdapterWindow;

/// An IPv4 address of a host.
struct Address;

/// Name of a congestion control, which becomes a word of a command to the kernel.
struct Algorithm;

impl Algorithm {
    fn written(text: &str) -> String {
        text.to_owned()
    }
}

/// A span of whole milliseconds.
struct WholeMilliseconds;

setting!(AdapterWindow => u16, Kind::Quantity(Dimension::Octets), true);
setting!(Algorithm => String, Kind::Text, true);
setting!(WholeMilliseconds => Duration, Kind::Positive(Dimension::Time), true);
setting!(Address => Ipv4Addr, Kind::Text, true);

from_node! {
    AdapterWindow: |node| octets_from(node, 536, u16::MAX.into()).map(|octets| octets.0 as u16);
    Algorithm: algorithm;
    WholeMilliseconds: whole_ms;
    Address: address;
}

fn address(node: &Node) -> Result<Ipv4Addr, Fault> {
    let text = check::text(node)?;
    let is_host = |address: &Ipv4Addr| {
        !(address.is_loopback()
            || address.is_multicast()
            || address.is_unspecified()
            || address.is_broadcast()
            || address.is_link_local())
    };
    text.parse().ok().filter(is_host).ok_or_else(|| {
        let message = format!("\"{}\" is not an IPv4 address of a host", quantity::shortened(text));
        Fault::new(node.place, message, "Write one such as \"10.0.0.1\"")
    })
}

fn algorithm(node: &Node) -> Result<String, Fault> {
    let text = check::text(node)?;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if (1..=15).contains(&text.len()) && text.chars().all(fits) {
        return Ok(text.to_string());
    }
    let message = format!("\"{}\" is not the name of a congestion control", quantity::shortened(text));
    Err(Fault::new(node.place, message, "Write one such as \"reno\" or \"cubic\""))
}
