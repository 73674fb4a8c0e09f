//! The keys of TCP.

use cellrate_proto::declaration::{Key, Kind, Setting, Shape, joined, key, total};

use super::config::{
    CongestionControl, Estimator, IdleRestart, NO_RATE_REDUCTION, PartialAckTimer, RateReduction, Recovery,
    SlowStart,
};
use super::pages::PAGES;
use super::presets::NAMES;
use crate::keys::{CELLS, OCTETS, SPAN, TIME, encapsulation};

const OCTETS_OR_NO_END: Kind = Kind::Or(&[OCTETS, Kind::Choice(&["infinite"])]);

const RATE_REDUCTION: Kind = Kind::Choice({
    const PARTS: &[&[&str]] = &[&[NO_RATE_REDUCTION], RateReduction::WORDS];
    &joined::<_, { total(PARTS) }>(PARTS)
});

/// Keys that say how it behaves, and how it is wrapped.
pub(super) const KEYS: &[Key] = &[
    key(
        "preset",
        Kind::Choice(&NAMES),
        "\"reno\"",
        "Defaults for all keys below except those of the application, as a paper or a system used them (docs/transport.md).",
    ),
    key("mss", OCTETS, "of the preset", "Largest payload of a segment: 1 to 65000 octets."),
    key(
        "header",
        OCTETS,
        "\"40 octets\"",
        "Octets of TCP and IP header before the payload, without options: 0 to 120.",
    ),
    key(
        "window",
        OCTETS,
        "of the preset",
        "The window that the receiver offers: a segment at least, at most 1 GiB.",
    ),
    key(
        "window_scaling",
        Kind::Boolean,
        "true",
        "Windows above 65535 octets can be offered, in steps of a power of two.",
    ),
    key(
        "initial_window",
        OCTETS,
        "as many segments as the preset has",
        "The congestion window at the beginning: a segment at least.",
    ),
    key("ssthresh", OCTETS_OR_NO_END, "\"infinite\"", "The slow start threshold at the beginning."),
    key(
        "recovery",
        Recovery::KIND,
        "of the preset",
        "The sender's answer to duplicate ACKs; \"none\": only the timer finds losses.",
    ),
    key(
        "congestion_control",
        CongestionControl::KIND,
        "of the preset",
        "How cwnd grows in congestion avoidance, and how much of it a loss or a mark takes: RFC 5681, RFC 9438, CUBIC as Linux counts it, or RFC 8257.",
    ),
    key(
        "slow_start",
        SlowStart::KIND,
        "of the preset",
        "How slow start ends before something is lost: at ssthresh only, when round trips or trains of ACKs tell that the path is full (Linux), or by RFC 9406. The latter two need timestamps.",
    ),
    key(
        "window_validation",
        Kind::Boolean,
        "of the preset",
        "cwnd grows only with ACKs of a time in which it was in use: not while the application, the receiver or the adapter lets less leave (RFC 7661 and RFC 9438, section 5.8, as Linux counts); else with every ACK, as TCP did before.",
    ),
    key(
        "idle_restart",
        IdleRestart::KIND,
        "\"none\"",
        "cwnd after a pause of more than a time-out with nothing on its way: as it was, the initial window (RFC 5681, section 4.1), or halved for each time-out (Linux with tcp_slow_start_after_idle).",
    ),
    key(
        "limited_transmit",
        Kind::Boolean,
        "of the preset",
        "Each of the first two duplicate ACKs lets a new segment leave (RFC 3042), so that a third one comes even with a small window.",
    ),
    key(
        "partial_ack_timer",
        PartialAckTimer::KIND,
        "\"first\"",
        "Which partial ACKs of a recovery restart NewReno's timer: \"first\" (impatient) or \"every\" (slow but steady).",
    ),
    key(
        "prr",
        RATE_REDUCTION,
        "of the preset",
        "Proportional rate reduction (RFC 9937) in a recovery by SACK, and the bound where losses have brought the pipe below ssthresh: as much as is delivered, a segment more for each ACK, or for each that advances and tells of no further loss.",
    ),
    key(
        "rack_tlp",
        Kind::Boolean,
        "of the preset",
        "With SACK: losses are found by the times at which segments left, not by counting, and a probe goes out where nothing comes back for two round trips (RFC 8985).",
    ),
    key(
        "pacing",
        Kind::Boolean,
        "of the preset",
        "Segments leave one by one, as Linux paces them: 2 x cwnd per round trip below half of ssthresh, 1.2 x above.",
    ),
    key(
        "ecn",
        Kind::Boolean,
        "true with dctcp, else of the preset",
        "Ports that have `ecn` may mark its packets, ACKs tell of marks, and the sender reduces its window (RFC 3168).",
    ),
    key(
        "timestamps",
        Kind::Boolean,
        "of the preset",
        "Every segment has the timestamps option (RFC 7323), which takes 12 octets of its payload; each ACK of something new measures a round trip, in steps of timer_granularity.",
    ),
    key(
        "timer_granularity",
        SPAN,
        "of the preset",
        "Round trips are measured in, and timers expire at, multiples of this: \"1 us\" to \"1 s\".",
    ),
    key(
        "rtt_estimator",
        Estimator::KIND,
        "of the preset",
        "How round trips become a time-out: by RFC 6298, with samples of timestamps weighted by RFC 7323, appendix G; or as Linux has it, a round trip and minimum_rto at least.",
    ),
    key("minimum_rto", TIME, "of the preset", "Smallest retransmission time-out, before back-off."),
    key("maximum_rto", SPAN, "of the preset", "Largest retransmission time-out, back-off included."),
    key("initial_rto", SPAN, "of the preset", "Time-out before the first measurement."),
    key(
        "delayed_ack",
        Kind::Or(&[Kind::Table(&DELAYED_ACK), Kind::Choice(&["every-segment"])]),
        "of the preset",
        "When the receiver acknowledges segments in order.",
    ),
    encapsulation("of the preset"),
    key(
        "adapter_queue",
        Kind::Or(&[CELLS, Kind::Table(&ADAPTER_QUEUE), Kind::Choice(&["infinite"])]),
        "\"infinite\"",
        "Room for PDUs that wait at each end of the VC, where a PDU that does not fit whole is lost; or a table that limits the queue in another way.",
    ),
];

/// Keys that say what applications do with it.
pub(super) const APPLICATION: &[Key] = &[
    key(
        "transfer",
        OCTETS_OR_NO_END,
        "\"infinite\"",
        "Amount that the application of each connection sends: above 0.",
    ),
    key(
        "start",
        TIME,
        "\"0 ms\"",
        "Instant at which the application hands over its data, over connections that are open by then without a handshake, and at which the first page begins.",
    ),
    key(
        "end",
        TIME,
        "never",
        "Nothing of a transfer is sent for the first time from this instant on; the application drops what it has left. Pages have an end of their own.",
    ),
    key(
        "connections",
        Kind::Integer(0, 65_535),
        "1, or 0 with pages",
        "TCP connections side by side on the VC that send `transfer`; 0 only with pages, this way or the other.",
    ),
    key(
        "pages",
        Kind::Table(&PAGES),
        "none",
        "Clients that fetch pages from a server at the other end of the path, beside the connections above.",
    ),
];

pub(super) const DELAYED_ACK: Shape = Shape {
    name: "delayed_ack",
    about: "Every second segment is acknowledged at once, a single one later: heartbeat, or timer.",
    keys: &[
        key("heartbeat", SPAN, "required: this or timer", "At the beats of a clock with this period (BSD)."),
        key("timer", SPAN, "required: this or heartbeat", "So long after it came (Solaris)."),
        key(
            "ticks",
            SPAN,
            "none: exactly then",
            "With `timer`: at the first tick of a clock with this period that is not earlier (Solaris: 10 ms).",
        ),
    ],
};

const ADAPTER_QUEUE: Shape = Shape {
    name: "adapter_queue",
    about: "Room counted in PDUs, back-pressure, or control by ACKs at the edge: exactly one of the keys.",
    keys: &[
        key(
            "pdus",
            Kind::Integer(1, u32::MAX as i64),
            "required: one of them",
            "Largest number of PDUs, the one in transmission included; a further one is lost.",
        ),
        key(
            "high_water",
            CELLS,
            "required: one of them",
            "TCP hands over data while fewer cells than this wait, and keeps them otherwise: nothing is lost, and round trips are those of the network. At least \"1 cells\".",
        ),
        key(
            "hold_acks",
            CELLS,
            "required: one of them",
            "ACKs for TCP at this end pass the adapter while fewer cells than this wait there, and are held back otherwise (an acknowledgment bucket). At least \"1 cells\".",
        ),
        key(
            "window",
            SPAN,
            "required: one of them",
            "The window in ACKs for TCP at this end becomes what ACR carries in so long, a round trip without queues, shared by the connections, a segment at least (explicit window adaptation). For category abr.",
        ),
    ],
};

pub(crate) const FLOW_TCP: Shape = Shape {
    name: "flow_tcp",
    about: "TCP over IP over AAL5, a new connection for each flow; the ACKs go the other way as data.",
    keys: KEYS,
};
