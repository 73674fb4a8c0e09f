//! An adapter that tells TCP of its rate by the ACKs that pass it, without TCP's knowing.
//!
//! Explicit rates end at the adapter, and TCP's window does not know of them: what it lets out beyond ACR waits there.
//! An adapter at the edge of ABR can keep its queue short in two ways. It writes a window into the ACKs that ACR
//! carries in a round trip (ATM Forum 98-0152, explicit rate control of TCP applications), or it holds ACKs until few
//! cells wait (after Narvaez and Siu, An acknowledgment bucket scheme, GLOBECOM 1997; the threshold on the queue is
//! ours).

use std::collections::VecDeque;

use cellrate_proto::wire::cells_for;
use cellrate_proto::{CellRate, Duration, Octets};
use cellrate_scenario::{AdapterQueue, TcpTraffic};

use super::segment::{Acknowledgment, Heading};
use super::sequence::Sequence;

/// An ACK for one of the connections on the VC.
pub type Passing = (usize, Acknowledgment, Heading);

/// The ACKs on their way through the adapter.
#[derive(Clone, Debug)]
pub struct Edge {
    window: Option<Window>,
    passing: VecDeque<Passing>,
}

/// How a rate becomes a window.
#[derive(Clone, Debug)]
struct Window {
    round_trip: Duration,
    /// Octets of data that a cell carries in a full segment, over the number of connections.
    share: f64,
    least: Octets,
    /// The step in which a window can be written: 2 to the shift of window scaling.
    unit: u64,
    /// For each connection: what the last ACK said, and the window written into it.
    told: Vec<(Sequence, Octets)>,
}

impl Edge {
    /// The edge of an adapter that does either; `None` for any other.
    pub fn of(traffic: &TcpTraffic) -> Option<Edge> {
        let window = match traffic.adapter_queue {
            AdapterQueue::HoldAcks(_) => None,
            AdapterQueue::Window(round_trip) => {
                let tcp = &traffic.tcp;
                let cells = cells_for(tcp.mss + tcp.header, traffic.encapsulation).0;
                let connections = traffic.connections.max(1);
                Some(Window {
                    round_trip,
                    share: tcp.payload().0 as f64 / cells as f64 / f64::from(connections),
                    least: tcp.payload(),
                    unit: (tcp.offered_window().0 / 0x1_0000 + 1).next_power_of_two(),
                    told: vec![(Sequence::START, Octets::ZERO); usize::from(connections)],
                })
            }
            _ => return None,
        };
        Some(Edge { window, passing: VecDeque::new() })
    }

    /// An ACK has come to the adapter.
    pub fn on_acknowledgment(&mut self, passing: Passing) {
        self.passing.push_back(passing);
    }

    /// Whether any is there.
    pub fn holds_any(&self) -> bool {
        !self.passing.is_empty()
    }

    /// The next one passes, while ACR is so much.
    pub fn pass(&mut self, acr: Option<CellRate>) -> Option<Passing> {
        let (connection, mut ack, heading) = self.passing.pop_front()?;
        if let (Some(window), Some(acr)) = (&mut self.window, acr) {
            ack.window = window.write(connection, &ack, acr);
        }
        Some((connection, ack, heading))
    }
}

impl Window {
    /// The window for this ACK. One that acknowledges nothing new keeps that of the one before, or TCP would not see it
    /// as a duplicate (RFC 5681, section 2).
    fn write(&mut self, connection: usize, ack: &Acknowledgment, acr: CellRate) -> Octets {
        let (next, window) = &mut self.told[connection];
        if *next != ack.next || *window == Octets::ZERO {
            let octets = (acr.cells_in(self.round_trip) * self.share) as u64 / self.unit * self.unit;
            (*next, *window) = (ack.next, Octets(octets).max(self.least).min(ack.window));
        }
        *window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Blocks;
    use cellrate_proto::wire::Encapsulation;
    use cellrate_proto::{Cells, Time};
    use cellrate_scenario::Preset;

    fn edge(adapter_queue: AdapterQueue, connections: u16, window: u64) -> Option<Edge> {
        let mut tcp = Preset::named("sack").expect("it is there").tcp();
        tcp.window = Octets(window);
        Edge::of(&TcpTraffic {
            tcp,
            encapsulation: Encapsulation::VcMultiplexed,
            connections,
            transfer: None,
            start: Time::ZERO,
            end: Time::NEVER,
            pages: None,
            adapter_queue,
            successive: false,
        })
    }

    fn ack(next: u64) -> Acknowledgment {
        Acknowledgment { next: Sequence(next), window: Octets(65_535), selective: Blocks::NONE }
    }

    fn windows(edge: &mut Edge, connection: usize, next: u64, acr: f64) -> u64 {
        edge.on_acknowledgment((connection, ack(next), Heading::default()));
        edge.pass(Some(CellRate::new(acr))).expect("it passes").1.window.0
    }

    #[test]
    fn the_window_is_what_acr_carries_in_a_round_trip() {
        // 1460 octets are 32 cells. 32,000 cells/s for 20 ms are 640 cells, 20 segments.
        let mut edge = edge(AdapterQueue::Window(Duration::from_ms(20)), 1, 65_535).expect("it has one");
        assert_eq!(windows(&mut edge, 0, 1460, 32_000.0), 29_200);
        assert_eq!(windows(&mut edge, 0, 2920, 16_000.0), 14_600);
        assert_eq!(windows(&mut edge, 0, 2920, 32_000.0), 14_600, "a duplicate stays one");
        assert_eq!(windows(&mut edge, 0, 4380, 10.0), 1460, "a segment at least");
        assert_eq!(windows(&mut edge, 0, 5840, 1e9), 65_535, "and never more than the receiver offers");
    }

    #[test]
    fn connections_have_equal_parts_and_windows_the_steps_of_their_scaling() {
        let mut edge = edge(AdapterQueue::Window(Duration::from_ms(20)), 2, 1 << 20).expect("it has one");
        // 1 MiB needs a shift of 5: 14,600 is 456 * 32 and 8.
        assert_eq!([0, 1].map(|connection| windows(&mut edge, connection, 1460, 32_000.0)), [14_592; 2]);
    }

    #[test]
    fn held_acks_pass_in_order_and_as_they_are() {
        let mut edge = edge(AdapterQueue::HoldAcks(Cells(9)), 1, 65_535).expect("it has one");
        (1..=2).for_each(|next| edge.on_acknowledgment((0, ack(next), Heading::default())));
        let passed = [0; 2].map(|_| edge.pass(Some(CellRate::new(1.0))).expect("one").1);
        assert_eq!((passed, edge.holds_any()), ([ack(1), ack(2)], false));
        assert!(super::tests::edge(AdapterQueue::Unbounded, 1, 65_535).is_none());
    }
}
