//! Virtual channels within a virtual path.

use cellrate_proto::scheduling::Weight;
use cellrate_proto::{Duration, Time};

use super::{Traffic, TrafficKind};
use crate::values::ClockOffset;

/// Most channels of a virtual path.
pub const MOST_CHANNELS: usize = 1000;

/// Most virtual paths of a scenario: they have VPIs of their own, from 255 down.
pub const MOST_PATHS: usize = 200;

/// A virtual channel within an ABR virtual path: it shares the path's ACR with the others there.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Unique within its path.
    pub name: String,
    /// Data that it has to send: open-loop traffic.
    pub traffic: Traffic,
    /// Its weight beside the others.
    pub weight: Weight,
}

/// The channels of a virtual path together.
impl TrafficKind for Box<[Channel]> {
    fn delay(&mut self, phase: Duration) {
        self.iter_mut().for_each(|channel| channel.traffic.kind_mut().delay(phase));
    }

    fn scale(&mut self, offset: ClockOffset) {
        self.iter_mut().for_each(|channel| channel.traffic.kind_mut().scale(offset));
    }

    fn changes(&self) -> Vec<Time> {
        self.iter().flat_map(|channel| channel.traffic.kind().changes()).collect()
    }

    fn sends_at(&self, at: Time) -> bool {
        self.iter().any(|channel| channel.traffic.kind().sends_at(at))
    }

    fn octets(&self) -> u64 {
        self.iter().map(|channel| 256 + channel.traffic.kind().octets()).sum()
    }
}
