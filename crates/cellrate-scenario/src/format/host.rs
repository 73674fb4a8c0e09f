//! The keys of hosts: their names, their clocks, and what they are in a live run.

use cellrate_proto::declaration::{Key, Kind, Shape, joined, key, total};

use super::{COUNT, LIKE, NAME};
use crate::clocks::{HOST_OFFSET_KEY, PHASE_KEY, PROCESSING_KEY};
use crate::keys::{CELLS, OCTETS, SPAN};
use crate::traffic::tcp::DELAYED_ACK;

const LIVE_KEY: Key = key(
    "live",
    Kind::Table(&HOST_LIVE),
    "defaults.host.live",
    "The host as a machine with an IP stack, in `cellrate live run`; the simulator, which has no IP, ignores it.",
);

/// Keys of hosts that defaults have, too.
const KEYS: &[Key] = &[HOST_OFFSET_KEY, PHASE_KEY, PROCESSING_KEY, LIVE_KEY];

pub(super) const HOST: Shape = Shape {
    name: "host",
    about: "A host.",
    keys: {
        const PARTS: &[&[Key]] = &[&[NAME], KEYS, &[COUNT, LIKE]];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};
pub(super) const HOST_DEFAULTS: Shape =
    Shape { name: "host_defaults", about: "Defaults of hosts.", keys: KEYS };

const HOST_LIVE: Shape = Shape {
    name: "host_live",
    about: "A host of a live run: a network namespace with one TUN device.",
    keys: &[
        key(
            "address",
            Kind::Text,
            "10.0.0.1 for the first host, and so on",
            "IPv4 address, of this host alone.",
        ),
        key(
            "mtu",
            OCTETS,
            "\"9180 octets\"",
            "Largest IP packet: 576 to 65527 octets (RFC 2225 has 9180, Ethernet 1500).",
        ),
        key(
            "adapter_queue",
            CELLS,
            "\"4096 cells\"",
            "Room for packets in the host's adapter, for each vc: the edge queue of an ABR end system. A packet that does not fit whole is lost, without a sign to TCP.",
        ),
        key(
            "transmit_queue",
            Kind::Integer(1, 1_000_000),
            "1000",
            "Largest number of packets that wait on their way from the kernel to the adapter (txqueuelen), which takes them at its next wake-up; a packet that finds the queue full is lost.",
        ),
        key("tcp", Kind::Table(&HOST_TCP), "that of the kernel, with reno", "Settings of the host's TCP."),
        key(
            "adapter_tcp",
            Kind::Table(&ADAPTER_TCP),
            "nothing",
            "Changes that the adapter makes to the segments of the host's TCP, so that it looks like an older one, and to the ACKs that arrive for it.",
        ),
    ],
};

const ADAPTER_TCP: Shape = Shape {
    name: "adapter_tcp",
    about: "Changes that an adapter makes to segments of its host's TCP, where Linux does not behave as older systems did, and to ACKs that arrive for it, so that TCP follows the adapter's rate or queue.",
    keys: &[
        key(
            "window",
            OCTETS,
            "as the host sends it",
            "Largest window that leaves the host: 536 to 65535 octets, cut to whole segments. Window scaling is taken out; the ACK that ends the handshake offers twice as much.",
        ),
        key(
            "delayed_ack",
            Kind::Table(&DELAYED_ACK),
            "at once",
            "When an ACK without data leaves that acknowledges a single segment; the host itself then acknowledges every segment at once.",
        ),
        key(
            "acr_window",
            SPAN,
            "as the peer sends it",
            "The window in ACKs that come for the host becomes what ACR carries in so long, a round trip without queues, shared by the connections of the VC that have data on their way, a segment at least (explicit window adaptation). For category abr.",
        ),
        key(
            "hold_acks",
            CELLS,
            "passed on at once",
            "ACKs that arrive for the host pass while fewer cells than this wait in the VC's adapter or are on their way there, and are held back otherwise (an acknowledgment bucket). At least \"1 cells\"; not beside acr_window.",
        ),
    ],
};

const HOST_TCP: Shape = Shape {
    name: "host_tcp",
    about: "TCP of a host in a live run; settings that are not given are the kernel's.",
    keys: &[
        key(
            "congestion_control",
            Kind::Text,
            "\"reno\"",
            "One of the kernel's algorithms, such as reno, cubic or bbr.",
        ),
        key(
            "receive_window",
            OCTETS,
            "the kernel's",
            "The host offers this at first and has a receive buffer for it; Linux 6.18 then offers up to what the buffer holds.",
        ),
        key("send_buffer", OCTETS, "the kernel's", "Unacknowledged data is at most about this."),
        key("mss", OCTETS, "of the MTU", "The segment size that the host announces."),
        key(
            "initial_window",
            Kind::Integer(1, 1000),
            "10",
            "Congestion window at the beginning, in segments.",
        ),
        key("delayed_ack", Kind::Boolean, "true", "false: every segment is acknowledged at once."),
        key("minimum_rto", SPAN, "\"200 ms\"", "Smallest retransmission time-out, in whole ms."),
        key("sack", Kind::Boolean, "true", "Selective acknowledgements (RFC 2018)."),
        key("timestamps", Kind::Boolean, "true", "Timestamps (RFC 7323): 12 octets in every segment."),
    ],
};
