//! How the judge drives TCP: which PDUs come whole, when a segment counts, and when a timer does.

use cellrate_proto::Octets;
use cellrate_sim::TcpSummary;

use super::*;

impl Network<'_> {
    /// A cell of a PDU has come. With the last one the PDU is whole if all that came since the last end is all of it.
    pub(super) fn reassemble(
        &mut self,
        now: Time,
        number: usize,
        (pdu, place, segment): (u64, u64, Option<Segment>),
        marked: bool,
    ) {
        let (has_flows, over_tcp) = (self.sized.contains_key(&(number ^ 1)), self.is_over_tcp(number ^ 1));
        let end = &mut self.ends[number];
        let tcp = end.tcp.as_mut().expect("only TCP sends PDUs");
        tcp.come.push((pdu, place));
        let Some(segment) = segment else { return };
        let after_a_gap = pdu != tcp.ended + 1;
        tcp.ended = pdu;
        let whole = std::mem::take(&mut tcp.come).into_iter().eq((1..=place).map(|place| (pdu, place)));
        if !whole || after_a_gap && self.flaw == Some(Flaw::LostPduSpoilsNext) {
            tcp.spoiled += 1;
            return;
        }
        tcp.whole += 1;
        if has_flows && !over_tcp {
            return self.on_datagram(now, number ^ 1, pdu);
        }
        let adapter = end.supply.adapter_mut().expect("TCP has one");
        adapter.requests.drain(..).for_each(|(client, at)| tcp.stack.on_request_departed(client, at));
        tcp.stack.on_segment(now, &segment, marked);
        if has_flows {
            self.on_octets_of_flows(now, number ^ 1);
        }
        self.pump(now, number);
    }

    pub(super) fn on_timer(&mut self, now: Time, flow: usize, plan: u64) {
        let tcp = self.ends[flow].tcp.as_mut().expect("only TCP has timers");
        if tcp.timer_plan == plan {
            tcp.stack.on_timer(now);
            self.pump(now, flow);
        }
    }

    /// Hands the segments that TCP has to send to the adapter.
    pub(super) fn pump(&mut self, now: Time, flow: usize) {
        let end = &mut self.ends[flow];
        let tcp = end.tcp.as_mut().expect("it has something to say");
        let adapter = end.supply.adapter_mut().expect("TCP has one");
        adapter.on_time(now);
        let acr = end.source.as_ref().map(|source| source.acr());
        loop {
            while let Some(segment) = if adapter.holds_back() {
                tcp.stack.poll_in_turn(now, adapter.takes_data())
            } else {
                tcp.stack.poll_transmit(now)
            } {
                adapter.offer(segment);
            }
            if !(adapter.passes_acks() && tcp.stack.pass_ack(now, acr)) {
                break;
            }
        }
        self.plan_transmission(now, flow);
        self.plan_timer(flow);
    }

    pub(super) fn plan_timer(&mut self, flow: usize) {
        let Some(tcp) = &mut self.ends[flow].tcp else { return };
        tcp.timer_plan += 1;
        let (plan, next) = (tcp.timer_plan, tcp.stack.next_timer());
        if next < self.end {
            self.plan(next, Happening::Timer(flow, plan));
        }
    }
}

impl End {
    /// The place in its PDU of the data cell that leaves now.
    pub(super) fn part_of_pdu(&mut self) -> Option<(u64, u64, Option<Segment>)> {
        let (tcp, adapter) = (self.tcp.as_mut()?, self.supply.adapter_mut()?);
        let (pdu, place) = (tcp.leaving.0, tcp.leaving.1 + 1);
        let segment = adapter.departed.pop_front().map(|departed| departed.segment);
        tcp.leaving = if segment.is_some() { (pdu + 1, 0) } else { (pdu, place) };
        Some((pdu, place, segment))
    }
}

pub(super) fn tcp_value(quantity: FlowQuantity, stack: &Stack) -> f64 {
    let clients = stack.clients().iter();
    match quantity {
        FlowQuantity::Cwnd => stack.all_senders().fold(0.0, |sum, sender| sum + sender.window().0 as f64),
        FlowQuantity::Rtt => {
            let mut measured = Vec::new();
            stack.all_senders().for_each(|sender| measured.extend(sender.rto().smoothed()));
            let sum: f64 = measured.iter().map(|span| span.as_secs_f64()).sum();
            if measured.is_empty() { 0.0 } else { sum / measured.len() as f64 }
        }
        FlowQuantity::Retransmissions => stack.retransmitted() as f64,
        FlowQuantity::Responses => clients.map(|client| client.complete()).sum::<u64>() as f64,
        FlowQuantity::ResponseTime => {
            let latest = clients.max_by_key(|client| client.last_complete());
            latest.map_or(0.0, |client| client.last_response().as_secs_f64())
        }
        other => panic!("{other:?} is no quantity of TCP"),
    }
}

/// Growth of a row since the end of the warm-up.
pub fn tcp_since(row: &TcpRow, before: Option<&TcpRow>) -> TcpRow {
    let mut row = row.clone();
    if let Some((_, _, tally, delivered, whole, spoiled)) = before {
        row.2.statistics.segments -= tally.statistics.segments;
        row.2.statistics.octets = Octets(row.2.statistics.octets.0 - tally.statistics.octets.0);
        row.2.statistics.retransmitted -= tally.statistics.retransmitted;
        row.2.statistics.retransmitted_octets =
            Octets(row.2.statistics.retransmitted_octets.0 - tally.statistics.retransmitted_octets.0);
        row.2.statistics.timeouts -= tally.statistics.timeouts;
        row.2.statistics.fast_retransmits -= tally.statistics.fast_retransmits;
        row.2.statistics.reductions -= tally.statistics.reductions;
        row.2.statistics.probes -= tally.statistics.probes;
        row.2.marked -= tally.marked;
        row.2.acknowledged = Octets(row.2.acknowledged.0 - tally.acknowledged.0);
        (row.3, row.4, row.5) = (row.3 - delivered, row.4 - whole, row.5 - spoiled);
    }
    row
}

/// Whether a row is the judge's.
pub fn same_tcp(kernel: &TcpSummary, judge: &TcpRow) -> bool {
    let (vc, connection, tally, delivered, whole, spoiled) = judge;
    let statistics = &tally.statistics;
    (&kernel.vc, kernel.connection, kernel.delivered_octets) == (vc, *connection, *delivered)
        && [kernel.segments, kernel.offered_octets, kernel.retransmitted, kernel.retransmitted_octets]
            == [
                statistics.segments,
                statistics.octets.0,
                statistics.retransmitted,
                statistics.retransmitted_octets.0,
            ]
        && [kernel.timeouts, kernel.fast_retransmits, kernel.acknowledged_octets, kernel.final_cwnd]
            == [statistics.timeouts, statistics.fast_retransmits, tally.acknowledged.0, tally.cwnd.0]
        && (kernel.marked, kernel.reductions, kernel.alpha)
            == (tally.marked, statistics.reductions, tally.alpha)
        && kernel.probes == statistics.probes
        && kernel.smoothed_rtt_s == tally.smoothed.map(|span| span.as_secs_f64())
        && (kernel.whole_pdus, kernel.spoiled_pdus) == (*whole, *spoiled)
}
