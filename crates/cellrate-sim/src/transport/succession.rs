//! Connections of TCP over a VC, one after the other: each carries a flow of a size, and is forgotten when the next one
//! begins, which is not before all of it is acknowledged.
//!
//! Segments have the number of their connection. Segments of one that is over are not answered.

use cellrate_proto::Octets;
use cellrate_scenario::TcpConfig;

use super::receiver::Receiver;
use super::segment::{Contents, Segment};
use super::sender::Sender;
use super::sequence::{Sequence, Span};
use super::sized_flow::{FlowEnd, SizedFlow};
use super::tally::Tally;

/// One end of them.
#[derive(Clone, Debug)]
pub(super) struct Succession {
    /// TCP of what this end sends, and of what it receives.
    sends: Option<TcpConfig>,
    receives: Option<TcpConfig>,
    /// The connection that it sends on, and the flow that this carries. Numbers are from 1 on, modulo 2^16.
    sending: u16,
    flow: Option<SizedFlow>,
    /// The connection that it receives on, and its flow between the arrival of the last segment and that of all.
    receiving: u16,
    ending: Option<SizedFlow>,
    /// Tally of those that are over.
    past: Tally,
}

impl Succession {
    /// One that sends and receives with these settings, as far as there are any.
    pub fn new([sends, receives]: [Option<TcpConfig>; 2]) -> Option<Box<Succession>> {
        (sends.is_some() || receives.is_some()).then(|| {
            let (sending, flow, receiving, ending, past) = (0, None, 0, None, Tally::default());
            Box::new(Succession { sends, receives, sending, flow, receiving, ending, past })
        })
    }

    /// The sender of the next flow, which begins at `flow.begins`; the one `before` is over.
    pub fn begin(&mut self, flow: SizedFlow, before: Option<Sender>) -> Option<Sender> {
        before.iter().for_each(|sender| self.past.add_sender(sender));
        let mut sender = Sender::supplied(self.sends.as_ref()?, flow.begins);
        sender.supply(flow.octets);
        self.sending = self.sending.wrapping_add(1);
        self.flow = Some(flow);
        Some(sender)
    }

    /// Whether a segment that has come belongs to a connection that is not over. With the first one of the next
    /// connection its receiver takes the place of the one before.
    pub fn takes(&mut self, segment: &Segment, receivers: &mut Vec<Receiver>) -> bool {
        if let Contents::Acknowledgment(_) = segment.contents {
            return segment.connection == self.sending;
        }
        if segment.connection == self.receiving.wrapping_add(1)
            && let Some(tcp) = &self.receives
        {
            receivers.drain(..).for_each(|receiver| self.past.add_receiver(&receiver));
            receivers.push(Receiver::new(tcp));
            self.receiving = segment.connection;
        }
        segment.connection == self.receiving
    }

    /// The last segment of the flow has come, which is known up to `delivered` so far.
    pub fn on_end(&mut self, end: &FlowEnd, delivered: Octets) {
        if delivered < end.flow.octets {
            self.ending = Some(end.flow);
        }
    }

    /// The flow that is complete now that all up to `delivered` has come.
    pub fn complete(&mut self, delivered: Octets) -> Option<SizedFlow> {
        self.ending.take_if(|flow| delivered >= flow.octets)
    }

    /// A segment of the present connection: an ACK, or data, of which the last say what the flow was.
    pub fn number(&self, contents: Contents) -> (u16, Contents) {
        match (contents, self.flow) {
            (Contents::Data(span), Some(flow)) if span.to == Sequence::START + flow.octets => (
                self.sending,
                Contents::FlowEnd(Box::new(FlowEnd { span, from: Sequence::START, number: 0, flow })),
            ),
            (Contents::Acknowledgment(ack), _) => (self.receiving, Contents::Acknowledgment(ack)),
            (contents, _) => (self.sending, contents),
        }
    }

    /// Whether it sends.
    pub fn sends(&self) -> bool {
        self.sends.is_some()
    }

    /// Tally of all, the present ones among them.
    pub fn tally(&self, sender: Option<&Sender>, receiver: Option<&Receiver>) -> Tally {
        let mut tally = self.past;
        sender.into_iter().for_each(|sender| tally.add_sender(sender));
        receiver.into_iter().for_each(|receiver| tally.add_receiver(receiver));
        tally
    }

    /// Segments sent again by those that are over.
    pub fn retransmitted(&self) -> u64 {
        self.past.statistics.retransmitted
    }
}

/// The octets of a segment with data, and, if it is the last one of its flow, what that was.
pub(super) fn data(contents: &Contents) -> Option<(Span, Option<&FlowEnd>)> {
    match contents {
        Contents::Data(span) => Some((*span, None)),
        Contents::FlowEnd(end) => Some((end.span, Some(end))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Stack;
    use cellrate_engine::random::Owner;
    use cellrate_proto::wire::Encapsulation;
    use cellrate_proto::{Duration, Time};
    use cellrate_scenario::{AdapterQueue, PRESETS, Preset, TcpTraffic};

    fn traffic(preset: &Preset) -> TcpTraffic {
        TcpTraffic {
            tcp: preset.tcp(),
            encapsulation: Encapsulation::LlcSnapIpv4,
            connections: 1,
            transfer: None,
            start: Time::ZERO,
            end: Time::NEVER,
            pages: None,
            adapter_queue: AdapterQueue::Unbounded,
            successive: true,
        }
    }

    fn flow(begins: Time, octets: u64) -> SizedFlow {
        SizedFlow { demand: 0, arrived: begins, begins, octets: Octets(octets), alone: Duration::from_us(1) }
    }

    fn ends(traffic: &TcpTraffic) -> [Stack; 2] {
        [
            Stack::new(Some(traffic), None, 1, Owner::named("there")),
            Stack::new(None, Some(traffic), 1, Owner::named("back")),
        ]
    }

    #[test]
    fn each_flow_is_complete_once_and_the_next_one_begins_anew_with_every_preset() {
        for preset in PRESETS {
            let [mut first, mut second] = ends(&traffic(preset));
            let (mut now, mut complete, mut sent) = (Time::ZERO, Vec::new(), 0_u64);
            for octets in [1, 100_000, 40_000] {
                assert!(first.is_free());
                first.begin_flow(flow(now, octets));
                assert!(!first.is_free());
                let window = first.senders()[0].window();
                assert_eq!(window, preset.tcp().initial_window, "{}", preset.name);
                while !first.is_free() {
                    // Half a round trip each way; every seventh segment is lost.
                    let mut segments = Vec::new();
                    while let Some(segment) = first.poll_transmit(now) {
                        sent += 1;
                        segments.extend((!sent.is_multiple_of(7)).then_some(segment));
                    }
                    now += Duration::from_ms(10);
                    for segment in &segments {
                        let whole = second.on_segment(now, segment, false);
                        complete.extend(whole.map(|flow| flow.octets.0));
                    }
                    second.on_timer(now);
                    let acks: Vec<Segment> = std::iter::from_fn(|| second.poll_transmit(now)).collect();
                    now += Duration::from_ms(10);
                    acks.iter().for_each(|ack| _ = first.on_segment(now, ack, false));
                    first.on_timer(now);
                    if segments.is_empty() && acks.is_empty() {
                        now = [&first, &second].map(Stack::next_timer).into_iter().min().unwrap().max(now);
                        first.on_timer(now);
                    }
                }
            }
            assert_eq!(complete, [1, 100_000, 40_000], "{}", preset.name);
            let [there, back] = [&first, &second].map(|stack| stack.successive().expect("they are"));
            assert_eq!((there.acknowledged, back.delivered), (Octets(140_001), Octets(140_001)));
            assert!(
                there.statistics.retransmitted > 0 && first.retransmitted() == there.statistics.retransmitted
            );
        }
    }

    #[test]
    fn segments_of_a_connection_that_is_over_are_answered_by_nobody() {
        let [mut first, mut second] = ends(&traffic(&PRESETS[0]));
        let now = Time::ZERO;
        first.begin_flow(flow(now, 3000));
        let data: Vec<Segment> = std::iter::from_fn(|| first.poll_transmit(now)).collect();
        assert_eq!(data.len(), 2, "the first window");
        assert_eq!(data.iter().filter_map(|data| second.on_segment(now, data, false)).count(), 0);
        let ack = second.poll_transmit(now).expect("for the second");
        first.on_segment(now, &ack, false);
        let last = first.poll_transmit(now).expect("the window has grown");
        assert!(matches!(&last.contents, Contents::FlowEnd(end) if end.span.octets() == Octets(80)));
        assert_eq!(second.on_segment(now, &last, false).map(|flow| flow.octets), Some(Octets(3000)));
        assert_eq!(second.on_segment(now, &last, false), None, "it is complete");
        let late = second.poll_transmit(now).expect("for what came twice");
        first.on_segment(now, &late, false);
        assert!(first.is_free());
        first.begin_flow(flow(now, 10_000));
        let next: Vec<Segment> = std::iter::from_fn(|| first.poll_transmit(now)).collect();
        // An ACK of the flow before is not a duplicate ACK of this one.
        (0..3).for_each(|_| _ = first.on_segment(now, &late, false));
        assert_eq!(
            (first.poll_transmit(now), first.successive().expect("it is").statistics.fast_retransmits),
            (None, 0)
        );
        assert_eq!(next.iter().map(|data| data.connection).collect::<Vec<_>>(), [2, 2]);
        next.iter().for_each(|data| _ = second.on_segment(now, data, false));
        assert_eq!(second.on_segment(now, &last, false), None, "nor are its data any of this one's");
        assert_eq!(second.receivers()[0].delivered(), Octets(2920));
    }
}
