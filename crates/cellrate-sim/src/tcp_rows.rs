//! Rows of results about TCP connections.

use cellrate_proto::Time;
use cellrate_scenario::Scenario;

use crate::assembly::{Assembly, Place};
use crate::endpoint::Endpoint;
use crate::names::flow_name;
use crate::results::TcpSummary;

/// One row per TCP connection.
pub(crate) fn collect(scenario: &Scenario, assembly: &Assembly, end: Time) -> Vec<TcpSummary> {
    let endpoint = |flow: usize| {
        let Place { cluster, index } = assembly.endpoints[flow];
        &assembly.kernel.clusters[cluster as usize].endpoints[index as usize]
    };
    let flows = 0..2 * scenario.connections.len();
    flows.flat_map(|flow| rows(&flow_name(scenario, flow), endpoint(flow), endpoint(flow ^ 1), end)).collect()
}

fn rows(vc: &str, sending: &Endpoint, receiving: &Endpoint, end: Time) -> Vec<TcpSummary> {
    let (Some(near), Some(far), Some(adapter)) =
        (&sending.interface, &receiving.interface, sending.supply.adapter())
    else {
        return Vec::new();
    };
    let pairs = near.stack.senders().iter().zip(far.stack.receivers());
    let row = |(connection, (sender, receiver)): (
        u16,
        (&crate::transport::Sender, &crate::transport::Receiver),
    )| {
        let statistics = sender.statistics();
        let span = statistics.completed.unwrap_or(end).since(sender.start()).as_secs_f64();
        let delivered = receiver.delivered().0;
        let acknowledged = sender.acknowledged().0;
        // What was sent for the first time and is not yet acknowledged was no waste.
        let outstanding = statistics.octets.0 - statistics.retransmitted_octets.0 - acknowledged;
        let offered = statistics.octets.0 - outstanding;
        TcpSummary {
            vc: vc.to_owned(),
            connection,
            start_s: sender.start().as_secs_f64(),
            completed_s: statistics.completed.map(Time::as_secs_f64),
            delivered_octets: delivered,
            acknowledged_octets: acknowledged,
            goodput_bps: if span > 0.0 { delivered as f64 * 8.0 / span } else { 0.0 },
            segments: statistics.segments,
            offered_octets: statistics.octets.0,
            retransmitted: statistics.retransmitted,
            retransmitted_octets: statistics.retransmitted_octets.0,
            timeouts: statistics.timeouts,
            fast_retransmits: statistics.fast_retransmits,
            efficiency: (acknowledged > 0).then(|| acknowledged as f64 / offered as f64),
            final_cwnd: sender.window().0,
            smoothed_rtt_s: sender.rto().smoothed().map(|span| span.as_secs_f64()),
            adapter_drops: adapter.dropped(),
            max_adapter_queue: adapter.max_waiting().0,
            whole_pdus: far.reassembly.whole(),
            spoiled_pdus: far.reassembly.spoiled(),
        }
    };
    (1..).zip(pairs).map(row).collect()
}
