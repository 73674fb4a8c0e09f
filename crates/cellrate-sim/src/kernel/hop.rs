//! The table of hops: one record for each link that each direction of a connection crosses.
//!
//! The hops of a direction stand one after the other, so a cell that has crossed hop h goes on over hop h + 1 unless h
//! is the last. The record says everything a switch must look up for a cell, as the translation table of a real one
//! does.

use cellrate_proto::switch::Slot;
use cellrate_scenario::FlowIndex;

/// The place of a cell once it is on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextHop {
    /// A lane of the sending node's cluster.
    Lane(u32),
    /// On the access link of a folded source.
    Feed(u32),
    /// On its way to another cluster: an index into `outboxes`.
    Outbox(u32),
}

/// No such index.
pub(crate) const NONE: u32 = u32::MAX;

/// One link crossed by one direction of a connection. Indices are those of the cluster that owns the sending node,
/// except for `endpoint`, which is one of the receiving node's cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// The output port that the link begins at.
    pub port: u32,
    /// The direction's number at that port's control.
    pub slot: Slot,
    /// The direction.
    pub flow: FlowIndex,
    /// The port at the same node that the other direction of the connection leaves by: it answers the BRMs that cross
    /// this hop. [`NONE`] at a host.
    pub answering_port: u32,
    /// The other direction's number there.
    pub answering_slot: Slot,
    /// Where the direction ends, if this is its last hop; else [`NONE`].
    pub endpoint: u32,
    /// The number of the [next hop](Hop::leads_to), and of what kind it is.
    number: u32,
    kind: Kind,
    /// Service priority of the connection.
    pub priority: u8,
}

/// Kind of the [`NextHop`].
#[derive(Clone, Copy, Debug)]
enum Kind {
    Lane,
    Feed,
    Outbox,
}

impl Hop {
    /// A hop that no cell can cross.
    pub const NOWHERE: Hop = Hop {
        port: NONE,
        slot: Slot(NONE),
        flow: FlowIndex(NONE),
        answering_port: NONE,
        answering_slot: Slot(NONE),
        endpoint: NONE,
        number: NONE,
        kind: Kind::Lane,
        priority: 0,
    };

    /// Place that the link leads to.
    #[inline(always)]
    pub fn leads_to(&self) -> NextHop {
        match self.kind {
            Kind::Lane => NextHop::Lane(self.number),
            Kind::Feed => NextHop::Feed(self.number),
            Kind::Outbox => NextHop::Outbox(self.number),
        }
    }

    /// The link leads there.
    pub fn lead_to(&mut self, next: NextHop) {
        (self.kind, self.number) = match next {
            NextHop::Lane(lane) => (Kind::Lane, lane),
            NextHop::Feed(feed) => (Kind::Feed, feed),
            NextHop::Outbox(outbox) => (Kind::Outbox, outbox),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_leads_to_its_next_and_is_half_a_cache_line() {
        let mut hop = Hop::NOWHERE;
        for next in [NextHop::Lane(3), NextHop::Feed(NONE - 1), NextHop::Outbox(0), NextHop::Lane(NONE)] {
            hop.lead_to(next);
            assert_eq!(hop.leads_to(), next);
        }
        assert_eq!(size_of::<Hop>(), 32);
    }
}
