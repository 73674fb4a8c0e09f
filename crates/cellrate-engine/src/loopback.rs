//! OAM loopback at an end of a connection, in either world (I.610): requests at a period, the replies that come back,
//! and what results say of them.
//!
//! A request leaves at once beside the cells of the source: source rule 3 of TM 4.0 (5.10.4) knows FRMs, BRMs and data
//! as in-rate cells, and does not name OAM cells. A request has the connection's place in every queue, so the cells of
//! a connection keep their order, and a request that a later one overtakes has been lost, or its reply has.

use std::collections::VecDeque;

use cellrate_proto::wire::{LOOPBACK_END_POINT, LoopbackCell, NO_SOURCE_ID, OamFlow, Path};
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{FlowIndex, Loopback, NodeIndex, Scenario};
use serde::Serialize;

use crate::declared::Row;

use crate::names::flow_name;

/// The bits of a correlation tag that count the requests of one loopback; those above say which loopback of the end.
const COUNT_BITS: u32 = 26;
const COUNT_MASK: u32 = (1 << COUNT_BITS) - 1;

/// The contents of a loopback cell, as far as a run has to know them: 30 bits of a tag, and two flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopbackContents {
    /// Correlation tag, below 2^30.
    pub tag: u32,
    /// Whether it has been looped back.
    pub is_reply: bool,
    /// Whether it goes along a segment, and not from end to end.
    pub is_segment: bool,
}

impl LoopbackContents {
    /// Its reply.
    pub fn reply(self) -> LoopbackContents {
        LoopbackContents { is_reply: true, ..self }
    }

    /// Which loopback of the end that sends the requests.
    pub fn loopback(self) -> u32 {
        self.tag >> COUNT_BITS
    }

    /// The cell on the wire, in a channel of this VPI and VCI, that `location` is to answer.
    pub fn on_wire(self, vpi: u8, vci: u16, location: [u8; 16]) -> LoopbackCell {
        let flow = match self.is_segment {
            true => OamFlow::ChannelSegment(vci),
            false => OamFlow::ChannelEndToEnd(vci),
        };
        LoopbackCell {
            path: Path::uni(vpi),
            flow,
            is_request: !self.is_reply,
            correlation_tag: self.tag,
            location,
            source: NO_SOURCE_ID,
        }
    }
}

/// Loopback at one end: what it sends by itself, and how many OAM cells it has sent and received.
#[derive(Debug, Default)]
pub struct LoopbackEnd {
    runs: Vec<Run>,
    /// OAM cells sent, replies among them \[cells\].
    pub sent: u64,
    /// OAM cells received \[cells\].
    pub received: u64,
    /// The last round trip.
    last: Duration,
}

/// Requests of one loopback.
#[derive(Debug)]
struct Run {
    config: Loopback,
    next: Time,
    /// The tag of the next request.
    count: u32,
    /// Requests that no reply has come to, with their tags, in order.
    waiting: VecDeque<(u32, Time)>,
    /// Requests before this instant do not count.
    from: Time,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    answered: u64,
    lost: u64,
    sum_ps: u128,
    min: Option<Duration>,
    max: Option<Duration>,
}

/// Round trips of the loopback cells of one end of a connection: `sent = answered + lost + unanswered`.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "loopback", many = "loopbacks", named = "{vc} at {at}")]
pub struct LoopbackSummary {
    /// Name of the connection; `name (back)` where its last host sends the requests.
    pub vc: String,
    /// The host or switch that answers.
    pub at: String,
    /// "end-to-end" or "segment".
    #[row(heading = "flow")]
    pub flow: &'static str,
    /// Requests sent from the end of the warm-up on.
    #[row(unit = cells, adds = sum, heading = "sent")]
    pub sent: u64,
    /// Requests among them whose reply came.
    #[row(unit = cells, adds = sum, heading = "answered")]
    pub answered: u64,
    /// Requests among them whose reply did not come before that of a later one: it or the request was lost.
    #[row(unit = cells, adds = sum, heading = "lost")]
    pub lost: u64,
    /// Requests among them of which nothing is known at the end of the run.
    #[row(unit = cells, adds = sum)]
    pub unanswered: u64,
    /// Mean round trip; null, like those below, without any.
    #[row(unit = s, adds = mean(answered), heading = "mean")]
    pub mean_s: Option<f64>,
    /// Shortest round trip.
    #[row(unit = s, adds = least, heading = "min")]
    pub min_s: Option<f64>,
    /// Longest round trip.
    #[row(unit = s, adds = largest, heading = "max")]
    pub max_s: Option<f64>,
}

impl LoopbackEnd {
    /// That of the end which sends `flow`; `None` where the connection has no loopback cells.
    pub fn of(scenario: &Scenario, flow: FlowIndex) -> Option<LoopbackEnd> {
        let loopbacks = &scenario.connection(flow.connection()).loopbacks;
        if loopbacks.is_empty() {
            return None;
        }
        let own = loopbacks.iter().filter(|loopback| loopback.backward == flow.is_backward());
        let run = |(config, number): (&Loopback, u32)| Run {
            config: *config,
            next: config.start,
            count: number << COUNT_BITS,
            waiting: VecDeque::new(),
            from: Time::ZERO,
            counts: Counts::default(),
        };
        Some(LoopbackEnd { runs: own.zip(0..).map(run).collect(), ..LoopbackEnd::default() })
    }

    /// A run begins at `now`, not at zero: what was due before is not sent.
    pub fn skip_until(&mut self, now: Time) {
        for run in self.runs.iter_mut().filter(|run| run.next < now) {
            let periods = now.since(run.next).div_ceil(run.config.every);
            run.next = run.next.saturating_add(run.config.every.saturating_mul(periods));
        }
    }

    /// When the next request leaves.
    pub fn next(&self) -> Time {
        self.runs.iter().map(|run| run.next).min().unwrap_or(Time::NEVER)
    }

    /// The next request that leaves at `now`, if there is one.
    pub fn request(&mut self, now: Time) -> Option<LoopbackContents> {
        let run = self.runs.iter_mut().find(|run| run.next <= now)?;
        let tag = run.count;
        run.next = run.next.saturating_add(run.config.every);
        run.count = tag & !COUNT_MASK | tag.wrapping_add(1) & COUNT_MASK;
        run.waiting.push_back((tag, now));
        run.counts.sent += 1;
        self.sent += 1;
        Some(LoopbackContents { tag, is_reply: false, is_segment: run.config.hop.is_some() })
    }

    /// A loopback cell has come at `now`: the reply that leaves at once, if it was a request.
    pub fn receive(&mut self, now: Time, contents: LoopbackContents) -> Option<LoopbackContents> {
        self.received += 1;
        if !contents.is_reply {
            self.sent += 1;
            return Some(contents.reply());
        }
        let run = self.runs.get_mut(contents.loopback() as usize)?;
        let place = run.waiting.iter().position(|&(tag, _)| tag == contents.tag)?;
        for (number, (_, sent)) in run.waiting.drain(..=place).enumerate() {
            let counts = &mut run.counts;
            let span = now.since(sent);
            if number == place {
                self.last = span;
            }
            match (sent >= run.from, number == place) {
                (false, _) => {}
                (true, false) => counts.lost += 1,
                (true, true) => {
                    counts.answered += 1;
                    counts.sum_ps += u128::from(span.as_ps());
                    counts.min = Some(counts.min.map_or(span, |min| min.min(span)));
                    counts.max = Some(counts.max.map_or(span, |max| max.max(span)));
                }
            }
        }
        None
    }

    /// The last round trip \[s\]; 0 before the first.
    pub fn last_s(&self) -> f64 {
        self.last.as_secs_f64()
    }

    /// The warm-up is over at `now`: counts begin anew.
    pub fn begin_anew(&mut self, now: Time) {
        for run in &mut self.runs {
            (run.from, run.counts) = (now, Counts::default());
        }
    }

    /// The rows of what the end sends, which is that of `flow`.
    pub fn rows<'a>(
        &'a self,
        scenario: &'a Scenario,
        flow: FlowIndex,
    ) -> impl Iterator<Item = LoopbackSummary> + 'a {
        self.runs.iter().map(move |run| {
            let node: NodeIndex = run.config.answering(scenario, scenario.connection(flow.connection()));
            let Counts { sent, answered, lost, sum_ps, min, max } = run.counts;
            LoopbackSummary {
                vc: flow_name(scenario, flow),
                at: scenario.node(node).name.clone(),
                flow: if run.config.hop.is_some() { "segment" } else { "end-to-end" },
                sent,
                answered,
                lost,
                unanswered: sent - answered - lost,
                mean_s: (answered > 0).then(|| sum_ps as f64 / answered as f64 / 1e12),
                min_s: min.map(Duration::as_secs_f64),
                max_s: max.map(Duration::as_secs_f64),
            }
        })
    }
}

/// The ID of a node in loopback cells: its number in the scenario, from 1 on.
pub fn location_id(node: NodeIndex) -> [u8; 16] {
    (u128::from(node.0) + 1).to_be_bytes()
}

/// Who is to answer the requests that the end of `flow` sends, by the number of their loopback.
pub fn locations(scenario: &Scenario, flow: FlowIndex) -> Vec<[u8; 16]> {
    let connection = scenario.connection(flow.connection());
    let own = connection.loopbacks.iter().filter(|one| one.backward == flow.is_backward());
    own.map(|one| match one.hop {
        Some(_) => location_id(one.answering(scenario, connection)),
        None => LOOPBACK_END_POINT,
    })
    .collect()
}

/// A switch that answers the requests of a loopback along a segment; hops are counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentEnd {
    /// The direction of the requests.
    pub flow: FlowIndex,
    /// Which loopback of that direction, as its [tags](LoopbackContents::loopback) say.
    pub loopback: u32,
    /// The hop at whose far end the switch stands.
    pub hop: usize,
    /// The switch.
    pub switch: NodeIndex,
    /// The hop of the other direction by which the reply leaves.
    pub hop_back: usize,
}

/// All of them.
pub fn segment_ends(scenario: &Scenario) -> Vec<SegmentEnd> {
    let mut all = Vec::new();
    for flow in scenario.flows() {
        let connection = scenario.connection(flow.connection());
        let own = connection.loopbacks.iter().filter(|one| one.backward == flow.is_backward());
        for (loopback, one) in (0..).zip(own) {
            let Some(hop) = one.hop else { continue };
            let (switch, hop_back) = (one.answering(scenario, connection), connection.path.len() - 1 - hop);
            all.push(SegmentEnd { flow, loopback, hop, switch, hop_back });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(runs: usize) -> LoopbackEnd {
        let config = |ms: u64| Loopback {
            backward: false,
            every: Duration::from_ms(ms),
            start: Time::ZERO,
            hop: (ms > 1).then_some(0),
        };
        let run = |number: u32| Run {
            config: config(u64::from(number) + 1),
            next: Time::ZERO,
            count: number << COUNT_BITS,
            waiting: VecDeque::new(),
            from: Time::ZERO,
            counts: Counts::default(),
        };
        LoopbackEnd { runs: (0..runs as u32).map(run).collect(), ..LoopbackEnd::default() }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn requests_leave_at_their_periods_each_with_a_tag_of_its_own() {
        let mut end = end(2);
        let mut sent = Vec::new();
        for at in (0..4).map(ms) {
            while let Some(request) = end.request(at) {
                sent.push((at, request.tag, request.is_segment));
            }
        }
        let second = 1 << COUNT_BITS;
        let expected = [
            (ms(0), 0, false),
            (ms(0), second, true),
            (ms(1), 1, false),
            (ms(2), 2, false),
            (ms(2), second + 1, true),
            (ms(3), 3, false),
        ];
        assert_eq!(sent, expected);
        assert_eq!((end.next(), end.sent), (ms(4), 6));
    }

    #[test]
    fn a_reply_that_overtakes_has_lost_those_before_it() {
        let mut end = end(1);
        let requests: Vec<_> = (0..4).map(|at| end.request(ms(at)).unwrap()).collect();
        assert_eq!(end.receive(ms(10), requests[2].reply()), None);
        // One that came twice, and one of another run, say nothing.
        end.receive(ms(11), requests[2].reply());
        end.receive(ms(11), LoopbackContents { tag: 9 << COUNT_BITS, ..requests[2].reply() });
        let counts = end.runs[0].counts;
        assert_eq!((counts.sent, counts.answered, counts.lost), (4, 1, 2));
        assert_eq!((counts.min, counts.max), (Some(Duration::from_ms(8)), Some(Duration::from_ms(8))));
        assert!((end.last_s() - 0.008).abs() < 1e-15);
    }

    #[test]
    fn a_request_is_answered_and_keeps_its_tag() {
        let mut end = end(0);
        let request = LoopbackContents { tag: 77, is_reply: false, is_segment: false };
        assert_eq!(end.receive(ms(1), request), Some(LoopbackContents { is_reply: true, ..request }));
        assert_eq!((end.sent, end.received), (1, 1));
    }

    #[test]
    fn requests_of_the_warm_up_do_not_count_though_they_are_answered_later() {
        let mut end = end(1);
        let early = end.request(ms(0)).unwrap();
        end.begin_anew(ms(1));
        let late = end.request(ms(1)).unwrap();
        end.receive(ms(5), early.reply());
        end.receive(ms(7), late.reply());
        let counts = end.runs[0].counts;
        assert_eq!((counts.sent, counts.answered, counts.max), (1, 1, Some(Duration::from_ms(6))));
    }

    #[test]
    fn tags_begin_again_within_their_loopback() {
        let mut end = end(1);
        end.runs[0].count = COUNT_MASK;
        assert_eq!(end.request(ms(0)).unwrap().tag, COUNT_MASK);
        assert_eq!(end.request(ms(1)).unwrap().tag, 0);
    }
}
