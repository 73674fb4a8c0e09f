//! Rows of results about TCP connections.

use cellrate_proto::{Octets, Time};
use cellrate_scenario::Scenario;

use super::TcpSummary;
use crate::assembly::Assembly;
use crate::endpoint::Endpoint;
use crate::transport::{Client, Stack, Tally};
use cellrate_engine::names::flow_name;

/// One row per TCP connection.
pub(crate) fn collect(scenario: &Scenario, assembly: &Assembly, end: Time) -> Vec<TcpSummary> {
    let rows = |flow| rows(&flow_name(scenario, flow), assembly.sender(flow), assembly.receiver(flow), end);
    scenario.flows().flat_map(rows).collect()
}

/// Growth of `rows` as of `end` since those of `before`, as of `start`. Maxima have begun anew then.
pub(crate) fn since(
    mut rows: Vec<TcpSummary>,
    before: &[TcpSummary],
    start: Time,
    end: Time,
) -> Vec<TcpSummary> {
    // Both have a row for each connection, in the same order.
    for (row, before) in rows.iter_mut().zip(before) {
        row.delivered_octets -= before.delivered_octets;
        row.acknowledged_octets -= before.acknowledged_octets;
        row.segments -= before.segments;
        row.offered_octets -= before.offered_octets;
        row.retransmitted -= before.retransmitted;
        row.retransmitted_octets -= before.retransmitted_octets;
        row.timeouts -= before.timeouts;
        row.fast_retransmits -= before.fast_retransmits;
        row.marked -= before.marked;
        row.reductions -= before.reductions;
        row.probes -= before.probes;
        row.adapter_drops -= before.adapter_drops;
        row.whole_pdus -= before.whole_pdus;
        row.spoiled_pdus -= before.spoiled_pdus;
        let span = row.completed_s.unwrap_or(end.as_secs_f64()) - row.start_s.max(start.as_secs_f64());
        row.goodput_bps = if span > 0.0 { row.delivered_octets as f64 * 8.0 / span } else { 0.0 };
        // What was acknowledged in this time, over that and what was sent again.
        let useful = row.acknowledged_octets as f64;
        row.efficiency =
            (row.acknowledged_octets > 0).then(|| useful / (useful + row.retransmitted_octets as f64));
    }
    rows
}

/// Start, end and tally of a row's direction, beside the counts of the VC's adapter and reassembly.
struct Direction {
    start: Time,
    completed: Option<Time>,
    tally: Tally,
    delivered: Octets,
    marked: u64,
}

/// The connections that this end sends on: transfers, those of flows as one, then those of clients or servers.
fn directions(near: &Stack, far: &Stack) -> Vec<Direction> {
    if let (true, Some(tally), Some(there)) = (near.sends_flows(), near.successive(), far.successive()) {
        let (start, completed, marked) = (Time::ZERO, None, there.marked);
        return vec![Direction { start, completed, tally, delivered: there.delivered, marked }];
    }
    let transfers = near.senders().iter().zip(far.receivers()).map(|(sender, receiver)| Direction {
        start: sender.start(),
        completed: sender.statistics().completed,
        tally: Tally::of(sender),
        delivered: receiver.delivered(),
        marked: receiver.marked(),
    });
    let of = |client: &Client, sending: Tally, receiving: Tally| Direction {
        start: client.start(),
        completed: client.finished(),
        tally: sending,
        delivered: receiving.delivered,
        marked: receiving.marked,
    };
    let requests = near.clients().iter().zip(far.servers());
    let requests = requests.map(|(client, server)| of(client, client.tally(), server.tally()));
    let responses = near.servers().iter().zip(far.clients());
    let responses = responses.map(|(server, client)| of(client, server.tally(), client.tally()));
    transfers.chain(requests).chain(responses).collect()
}

fn rows(vc: &str, sending: &Endpoint, receiving: &Endpoint, end: Time) -> Vec<TcpSummary> {
    let (Some(near), Some(far), Some(adapter)) =
        (&sending.interface, &receiving.interface, sending.end.supply.adapter())
    else {
        return Vec::new();
    };
    let row = |(connection, direction): (u16, Direction)| {
        let Direction { start, completed, tally, delivered, marked } = direction;
        let statistics = tally.statistics;
        let span = completed.unwrap_or(end).since(start).as_secs_f64();
        let acknowledged = tally.acknowledged.0;
        // What was sent for the first time and is not yet acknowledged was no waste.
        let outstanding = statistics.octets.0 - statistics.retransmitted_octets.0 - acknowledged;
        let offered = statistics.octets.0 - outstanding;
        TcpSummary {
            vc: vc.to_owned(),
            connection,
            start_s: start.as_secs_f64(),
            completed_s: completed.map(Time::as_secs_f64),
            delivered_octets: delivered.0,
            acknowledged_octets: acknowledged,
            goodput_bps: if span > 0.0 { delivered.0 as f64 * 8.0 / span } else { 0.0 },
            segments: statistics.segments,
            offered_octets: statistics.octets.0,
            retransmitted: statistics.retransmitted,
            retransmitted_octets: statistics.retransmitted_octets.0,
            timeouts: statistics.timeouts,
            fast_retransmits: statistics.fast_retransmits,
            marked,
            reductions: statistics.reductions,
            probes: statistics.probes,
            alpha: tally.alpha,
            efficiency: (acknowledged > 0).then(|| acknowledged as f64 / offered as f64),
            final_cwnd: tally.cwnd.0,
            smoothed_rtt_s: tally.smoothed.map(|span| span.as_secs_f64()),
            adapter_drops: adapter.dropped(),
            max_adapter_queue: adapter.max_waiting().0,
            whole_pdus: far.reassembly.whole(),
            spoiled_pdus: far.reassembly.spoiled(),
        }
    };
    // An open range would have to know a number after the last one.
    (1..=u16::MAX).zip(directions(&near.stack, &far.stack)).map(row).collect()
}
