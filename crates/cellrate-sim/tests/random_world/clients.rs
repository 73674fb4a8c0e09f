//! Networks of other families with clients that wait for their next request, and series of ACR at every change beside
//! them.

use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

use super::chains::random_chain;
use super::hosts::random_shared_hosts;
use super::{random_bottleneck, random_fair_shares, random_scenario};

/// Networks of every kind with clients that wait.
pub fn random_clients(number: u64) -> Scenario {
    let kinds: [fn(u64) -> Scenario; 5] =
        [random_fair_shares, random_scenario, random_chain, random_bottleneck, random_shared_hosts];
    with_waiting_clients(kinds[number as usize % 5](number), number)
}

/// `scenario`, in which most ABR connections are those of clients, and few end systems have a series.
fn with_waiting_clients(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("waiting clients")));
    let mut below = |count: u64| (dice.uniform() * count as f64) as u64;
    let duration = scenario.duration.as_ps();
    let mut probes = Vec::new();
    for (index, connection) in (0..).map(ConnectionIndex).zip(&mut scenario.connections) {
        let Sender::Abr(abr) = &connection.forward.sender else { continue };
        if below(4) > 0 {
            let peak = abr.parameters.pcr;
            let model = conversation(peak, duration, &mut below);
            connection.forward.traffic = Some(Traffic::RequestResponse(model));
            connection.backward.traffic = None;
        }
        if below(3) == 0 {
            let flow = FlowIndex::of(index, below(2) == 0);
            probes.push(Probe {
                quantity: Quantity::Flow { quantity: FlowQuantity::Acr, flow },
                every: Every::Change,
            });
        }
    }
    scenario.probes = probes;
    scenario
}

/// Bursts of a few cells or of many times Nrm, with pauses between them.
fn conversation(peak: CellRate, duration: u64, below: &mut impl FnMut(u64) -> u64) -> RequestResponse {
    let span = |part: u64| Duration::from_ps(duration / part);
    RequestResponse {
        request: [1, 2, 40][below(3) as usize],
        response: [1, 20, 200, 1_000][below(4) as usize],
        requests: 1 + below(2) as u32,
        request_gap: [Duration::ZERO, span(200)][below(2) as usize],
        cycle_gap: [Duration::ZERO, span(100), span(20)][below(3) as usize],
        server_time: [Duration::ZERO, span(300)][below(2) as usize],
        rate: peak * [0.3, 1.0, 1.7][below(3) as usize],
        start: Time::from_ps(below(1 + duration / 4)),
        end: if below(3) > 0 { Time::NEVER } else { Time::from_ps(duration / 2) },
        record: 0,
    }
}
