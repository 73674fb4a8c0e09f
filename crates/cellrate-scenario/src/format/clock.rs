//! The keys of clocks: what tells a laboratory's clocks from one clock for all.

use cellrate_proto::declaration::{Dimension, Key, Kind, Shape, key, required};

use crate::keys::EXPONENTIAL;
use crate::keys::TIME;

const OFFSET: Kind = Kind::Quantity(Dimension::Offset);

const WITHIN: Shape = Shape {
    name: "within",
    about: "An offset drawn from the seed, every one as likely as another.",
    keys: &[required("within", OFFSET, "The largest, to either side.")],
};

pub(super) const CLOCKS_KEY: Key = key(
    "clocks",
    Kind::Choice(&["exact", "independent"]),
    "\"exact\"",
    "Whether clocks are exactly alike, or those of a laboratory: every host and every link between switches has an offset within 20 ppm and every host a phase and times to process PDUs of TCP, drawn from the seed (docs/guides/phase-effects.md). Keys of hosts and links go before it.",
);

pub(super) const HOST_OFFSET_KEY: Key = key(
    "clock_offset",
    Kind::Or(&[OFFSET, Kind::Table(&WITHIN)]),
    "\"0 ppm\", or drawn within 20 ppm where defaults.clocks is \"independent\"",
    "By how much the host's clock is fast, at most 1000 ppm either way: of its links, of the peak rate of its cbr, vbr and ubr senders, and of the rates of its constant, on-off, limited and request-response traffic. ACR is what the network says.",
);

pub(super) const LINK_OFFSET_KEY: Key = key(
    "clock_offset",
    Kind::Or(&[OFFSET, Kind::Table(&WITHIN)]),
    "that of its host; between switches \"0 ppm\", or drawn within 20 ppm where defaults.clocks is \"independent\"",
    "By how much the link is faster than its rate says, both ways, at most 1000 ppm either way. Admission and the default PCR go by the rate as written.",
);

const UNIFORM: Shape = Shape {
    name: "uniform",
    about: "A uniformly distributed time.",
    keys: &[required("uniform", Kind::Pair(&TIME, &TIME), "The shortest and the longest.")],
};

pub(super) const PROCESSING_KEY: Key = key(
    "processing",
    Kind::Or(&[TIME, Kind::Table(&UNIFORM), Kind::Table(&EXPONENTIAL)]),
    "\"0 us\", or uniform from 0 to one cell time of its slowest link where defaults.clocks is \"independent\"",
    "Time that the host takes for each AAL5 PDU of TCP that it sends, from its coming to the adapter, or from the end of the PDU before it on the line, to its first cell; drawn for each.",
);

pub(super) const PHASE_KEY: Key = key(
    "phase",
    Kind::Or(&[TIME, Kind::Choice(&["random"])]),
    "\"0 us\", or \"random\" where defaults.clocks is \"independent\"",
    "How much later than written everything is that the host has to send, but custom traffic; \"random\": drawn from the seed within one cell time of its slowest link.",
);
