//! Rows of results about the bursts of request-response traffic.

use cellrate_proto::units::BITS_PER_CELL;
use cellrate_scenario::{FlowIndex, Scenario};

use super::{Burst, BurstSummary};
use crate::assembly::Assembly;
use crate::traffic::Conversation;
use cellrate_engine::names::flow_name;

/// One summary row per direction with bursts, and the single bursts that were asked for.
pub(crate) fn collect(scenario: &Scenario, assembly: &Assembly) -> (Vec<BurstSummary>, Vec<Burst>) {
    let conversation = |flow: FlowIndex| assembly.sender(flow).end.supply.conversation();
    let mut summaries = Vec::new();
    let mut list = Vec::new();
    for flow in scenario.flows() {
        // A conversation has two ends: the other one knows when the bursts of this one arrived.
        let (Some(sender), Some(receiver)) = (conversation(flow), conversation(flow.other())) else {
            continue;
        };
        let vc = flow_name(scenario, flow);
        list.extend(singles(&vc, sender, receiver));
        summaries.push(summary(vc, sender));
    }
    (summaries, list)
}

fn summary(vc: String, sender: &Conversation) -> BurstSummary {
    let responses = sender.response_times();
    let bits = bits(sender);
    let rate = |span_s: f64| bits / span_s;
    BurstSummary {
        vc,
        role: sender.role(),
        size_cells: sender.size(),
        count: sender.completed(),
        mean_response_s: responses.mean_s(),
        p50_response_s: responses.quantile_s(0.5),
        p99_response_s: responses.quantile_s(0.99),
        max_response_s: responses.max_s(),
        mean_throughput_bps: sender.mean_inverse_response().map(|inverse| bits * inverse),
        p50_throughput_bps: responses.quantile_s(0.5).map(rate),
        p1_throughput_bps: responses.quantile_s(0.99).map(rate),
    }
}

fn singles<'a>(
    vc: &'a str,
    sender: &'a Conversation,
    receiver: &'a Conversation,
) -> impl Iterator<Item = Burst> + 'a {
    (1..).zip(sender.sent()).map(move |(number, &(start, departed))| {
        let response_s = departed.since(start).as_secs_f64();
        let arrived = receiver.arrivals().get(number as usize - 1);
        Burst {
            vc: vc.to_owned(),
            role: sender.role(),
            number,
            size_cells: sender.size(),
            start_s: start.as_secs_f64(),
            response_s,
            throughput_bps: bits(sender) / response_s,
            delivery_s: arrived.map(|arrived| arrived.since(start).as_secs_f64()),
        }
    })
}

/// Bits on the line of one burst.
fn bits(sender: &Conversation) -> f64 {
    f64::from(sender.size()) * BITS_PER_CELL as f64
}
