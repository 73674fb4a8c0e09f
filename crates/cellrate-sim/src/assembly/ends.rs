//! Ends of connections, at hosts and inside switches.

use cellrate_engine::connection_end::ConnectionEnd;
use cellrate_engine::pacer::Pacer;
use cellrate_engine::per_vc_queue::PerVcQueue;
use cellrate_engine::plugins::{MissingPlugin, Plugins};
use cellrate_engine::random::Owner;
use cellrate_engine::segments::VirtualEnd;
use cellrate_engine::supply::CommonSupply;
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Flow, FlowIndex, Scenario, Traffic};

use super::announced::Announced;
use super::hops::{Hops, own};
use super::place::Place;
use crate::endpoint::Endpoint;
use crate::kernel::build::Parts;
use crate::traffic::{Site, Supply};
use crate::transport::{Interface, Peer, Stack};

pub(super) fn build_endpoints(
    announced: &Announced<'_>,
    first_hops: &[u32],
    places: &[Place],
    parts: &mut [Parts],
    plugins: Plugins<'_>,
) -> Result<(), MissingPlugin> {
    let scenario = announced.scenario;
    let judges = scenario.is_stationary();
    for flow in scenario.flows() {
        let [out, back] = [scenario.flow(flow), scenario.flow(flow.other())];
        let first = scenario.step(flow, 0);
        let site = Site {
            scenario,
            flow,
            cell_time: scenario.link(first.link).rate.cell_time(),
            end: Time::ZERO + scenario.duration,
            marks_bursts: announced.has(flow),
            plugins,
        };
        // What goes over a branch of a tree are copies.
        let is_copied = scenario.connection(flow.connection()).branch.is_some() && !flow.is_backward();
        let pacer = match is_copied {
            true => Pacer::Peak { spacing: Duration::FOREVER, earliest: Time::NEVER },
            false => Pacer::at_host(scenario, flow, plugins)?,
        };
        let (supply, first_hop) = (Supply::new(site)?, first_hops[flow.index()]);
        let end = ConnectionEnd::at_host(scenario, flow, pacer, supply, first_hop);
        let mut endpoint = Endpoint::new(end);
        if judges && out.traffic.is_some() {
            endpoint.end.pacer.watch_acr(last_quarter(scenario));
        }
        let [own, other] = [places[flow.index()], places[flow.other().index()]];
        let stack = build_stack(scenario, flow);
        endpoint.interface = interface(stack, [out, back], own, other);
        parts[own.cluster as usize].endpoints.push(endpoint);
    }
    Ok(())
}

/// When the last quarter of a run begins.
fn last_quarter(scenario: &Scenario) -> Time {
    Time::from_ps(scenario.duration.as_ps() / 4 * 3)
}

/// Ends inside switches, with the hops that lead to them.
pub(super) fn build_virtual_ends(
    scenario: &Scenario,
    ends: &[(VirtualEnd, Place)],
    hops: &mut Hops,
    parts: &mut [Parts],
    plugins: Plugins<'_>,
) -> Result<(), MissingPlugin> {
    for &(end, place) in ends {
        let flow = end.flow;
        let supply = Supply::Common(CommonSupply::Relayed(Box::new(PerVcQueue::new(end.coupling))));
        let virtual_end = ConnectionEnd::in_switch(scenario, &end, supply, hops.of(flow), plugins)?;
        parts[place.cluster as usize].endpoints.push(Endpoint::new(virtual_end));
        let received = hops.of(flow.other()) as usize + end.received_step(scenario.steps(flow).len());
        own(&mut hops.table)[received].endpoint = place.index;
    }
    Ok(())
}

/// TCP at the end that sends the direction `flow` and receives the other one, if either is TCP.
fn build_stack(scenario: &Scenario, flow: FlowIndex) -> Option<Stack> {
    let [out, back] = [flow, flow.other()].map(|flow| match &scenario.flow(flow).traffic {
        Some(Traffic::Tcp(tcp)) => Some(&**tcp),
        _ => None,
    });
    (out.is_some() || back.is_some())
        .then(|| Stack::new(out, back, scenario.seed, Owner::flow(scenario, flow)))
}

/// Interface that puts PDUs together at an end: TCP, if it has any, or a receiver of the frames or of the transport
/// stream of `back`.
fn interface(
    stack: Option<Stack>,
    [out, back]: [&Flow; 2],
    own: Place,
    other: Place,
) -> Option<Box<Interface>> {
    let peer = if own.cluster == other.cluster { Peer::Near(other.index) } else { Peer::Far };
    let receives_frames = matches!(back.traffic, Some(Traffic::Frames(_) | Traffic::Mpeg2(_)));
    let has_flows = matches!(
        (&out.traffic, &back.traffic),
        (Some(Traffic::Transfers(_)), _) | (_, Some(Traffic::Transfers(_)))
    );
    let interface = match stack {
        Some(stack) => Interface::new(stack, peer),
        None if has_flows => Interface::of_flows(peer),
        None if receives_frames => Interface::of_datagrams(peer),
        None => return None,
    };
    Some(Box::new(interface))
}

/// Where PDUs leave one cluster for another, and where they arrive.
pub(super) fn conduits(parts: &[Parts], places: &[Place]) -> Vec<[(usize, usize); 2]> {
    let at = |place: Place| (place.cluster as usize, place.index as usize);
    let mut conduits = Vec::new();
    for (flow, &from) in (0..).map(FlowIndex).zip(places) {
        let to = places[flow.other().index()];
        let has_tcp = parts[from.cluster as usize].endpoints[from.index as usize].interface.is_some();
        if has_tcp && from.cluster != to.cluster {
            conduits.push([at(from), at(to)]);
        }
    }
    conduits
}
