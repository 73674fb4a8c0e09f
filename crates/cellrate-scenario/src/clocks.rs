//! Clocks of hosts and links that are not exactly alike: their keys, and how an entry's are read.

use cellrate_proto::Duration;
use cellrate_proto::declaration::{Dimension, Key, Kind, Setting, Shape, Table, key, required, words};

use crate::keys::{EXPONENTIAL, TIME};
use crate::model::{ClockOffset, Processing};
use crate::text::error::Fault;
use crate::text::tree::Node;
use crate::text::written::{FromNode, from_node, setting};
use crate::text::{check, quantity};

words! {
    /// The clocks of a network where entries say nothing.
    #[derive(Default)]
    pub(crate) enum Clocks {
        /// Clocks are exactly alike (default).
        #[default]
        Exact = "exact",
        /// Clocks are those of a laboratory: offsets, phases and times to process are drawn.
        Independent = "independent",
    }
}

/// The word for a phase that is drawn.
const RANDOM: &str = "random";

const OFFSET: Kind = Kind::Quantity(Dimension::Offset);

/// An offset drawn uniformly from the seed.
#[derive(Debug, Table)]
#[table(name = "within", written)]
struct Within {
    /// The largest, to either side.
    within: ClockOffset,
}

pub(crate) const CLOCKS_KEY: Key = key(
    "clocks",
    Clocks::KIND,
    "\"exact\"",
    "Whether clocks are exactly alike, or those of a laboratory: every host and every link between switches has an offset within 20 ppm and every host a phase and times to process PDUs of TCP, drawn from the seed (docs/guides/phase-effects.md). Keys of hosts and links take precedence.",
);

const UNIFORM: Shape = Shape {
    name: "uniform",
    about: "A uniformly distributed time.",
    keys: &[required("uniform", Kind::Pair(&TIME, &TIME), "The shortest and the longest.")],
};

/// Clock as an entry describes it: that of a host, or of a link, which has an offset alone.
#[derive(Clone, Copy, Debug, Table)]
#[table(written)]
pub(crate) struct OwnClock {
    /// By how much the host's clock is fast, at most 1000 ppm either way. It holds for its links, the peak rate of its
    /// cbr, vbr and ubr senders, and the rates of its constant, on-off, limited and request-response traffic; ACR is as
    /// the network says.
    #[key(
        name = "clock_offset",
        default = "\"0 ppm\", or drawn within 20 ppm where defaults.clocks is \"independent\""
    )]
    pub offset: Option<Offset>,
    /// Delay of all that the host has to send against the times that are written, except custom traffic; "random" draws
    /// it from the seed, within one cell time of its slowest link.
    #[key(default = "\"0 us\", or \"random\" where defaults.clocks is \"independent\"")]
    pub phase: Option<Phase>,
    /// Time that the host needs for each AAL5 PDU of TCP before it sends its first cell, counted from when it comes to
    /// the adapter, or from the end of the PDU before it on the line; drawn for each PDU.
    #[key(
        default = "\"0 us\", or uniform from 0 to one cell time of its slowest link where defaults.clocks is \"independent\""
    )]
    pub processing: Option<Processing>,
}

/// Offset of a clock as it is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offset {
    Given(ClockOffset),
    /// Drawn, at most so much either way.
    Within(ClockOffset),
}

/// Phase of a host's first cell as it is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    Given(Duration),
    Random,
}

/// The offset that clocks of equipment have (SDH: 4.6 ppm for a network element that runs free, 20 ppm for customer
/// equipment; ITU-T G.813 and I.432).
pub(crate) const INDEPENDENT: ClockOffset = ClockOffset::from_ppb(20_000);

setting!(ClockOffset, OFFSET);
setting!(Offset, Kind::Or(&[OFFSET, Kind::Table(&Within::SHAPE)]));
setting!(Phase, Kind::Or(&[TIME, Kind::Choice(&[RANDOM])]));
setting!(Processing, Kind::Or(&[TIME, Kind::Table(&UNIFORM), Kind::Table(&EXPONENTIAL)]));

from_node! {
    ClockOffset: quantity::clock_offset;
    Offset: offset;
    Phase: |node| match node.text() {
        Some(RANDOM) => Ok(Phase::Random),
        _ => quantity::time(node).map(Phase::Given),
    };
    Processing: processing;
}

fn offset(node: &Node) -> Result<Offset, Fault> {
    let Some(bound) = node.table().and_then(|table| table.node("within")) else {
        return ClockOffset::from_node(node).map(Offset::Given);
    };
    let Within { within } = Within::from_node(node)?;
    if within < ClockOffset::default() {
        let message = format!("{} is below 0", bound.plain());
        return Err(Fault::new(bound.place, message, "Write how far it may be off to either side"));
    }
    Ok(Offset::Within(within))
}

/// The processing time of a host as its key gives it.
fn processing(node: &Node) -> Result<Processing, Fault> {
    let table = node.table();
    if let Some(bounds) = table.and_then(|table| table.node("uniform")) {
        let [shortest, longest] = check::pair(bounds)?;
        let (from, to) = (quantity::time(shortest)?, quantity::time(longest)?);
        if to < from {
            let message = format!("{} is below {}", longest.plain(), shortest.plain());
            return Err(Fault::new(longest.place, message, "Write the shortest and the longest"));
        }
        return Ok(Processing::Uniform(from, to));
    }
    if let Some(mean) = table.and_then(|table| table.node("exponential")) {
        return quantity::span(mean).map(Processing::Exponential);
    }
    let fixed = quantity::time(node)?;
    Ok(if fixed == Duration::ZERO { Processing::None } else { Processing::Fixed(fixed) })
}
