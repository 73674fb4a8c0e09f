//! Ports whose algorithm cannot settle, by its rule or by what the run shows.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use cellrate_engine::rows::{UnsettledSummary, cannot_settle};
use cellrate_proto::Time;
use cellrate_scenario::fair::{Bottleneck, FairShare};
use cellrate_scenario::{FlowIndex, PortIndex, Scenario, Sender};

use crate::assembly::Assembly;
use cellrate_engine::names::{control_names, flow_name, port_name};

/// Swings of more than this part of the mean, and shares off by more, are not settled.
const TOLERANCE: f64 = 0.1;

/// The largest [fall] by marks in a round trip that rates recover from: to three fifths.
const MOST_FALL: f64 = 0.5;

/// Figures of a port in the last quarter.
#[derive(Default)]
struct Shown {
    connections: u64,
    /// The largest swing of an ACR, as a part of its mean.
    swing: f64,
    /// The mean ACR that is farthest from its fair share, as a multiple of it.
    share: f64,
    worst: Option<FlowIndex>,
    /// The largest [fall] by marks in a round trip, where the port marks beside its algorithm.
    fall: f64,
}

/// Rows by rule, then rows by what the run shows of fair shares, each in the order of the ports.
pub(super) fn collect(
    scenario: &Scenario,
    assembly: &Assembly,
    fair: &LazyCell<Vec<FairShare>, impl FnOnce() -> Vec<FairShare>>,
    end: Time,
) -> Vec<UnsettledSummary> {
    let mut rows = cannot_settle(scenario);
    if !scenario.is_stationary() {
        return rows;
    }
    let mut shown: BTreeMap<PortIndex, Shown> = BTreeMap::new();
    for share in fair.iter() {
        let Bottleneck::Port(port) = share.bottleneck else { continue };
        if !hands_out_rates(scenario, port) {
            continue;
        }
        let Some(tail) = assembly.sender(share.flow).end.pacer.acr_tail(end) else { continue };
        let mean = tail.mean(end).as_cells_per_s();
        let swing = (tail.high.as_cells_per_s() - tail.low.as_cells_per_s()) / mean;
        let ratio = mean / share.rate.as_cells_per_s();
        let shown = shown.entry(port).or_insert_with(|| Shown { share: 1.0, ..Shown::default() });
        shown.connections += 1;
        if scenario.port(port).control.efci.is_some() {
            shown.fall = shown.fall.max(fall(scenario, share));
        }
        shown.swing = shown.swing.max(swing);
        if shown.worst.is_none() || off(ratio) > off(shown.share) {
            (shown.share, shown.worst) = (ratio, Some(share.flow));
        }
    }
    let row = |(port, shown): (PortIndex, Shown)| {
        is_unsettled(shown.swing, shown.share).then(|| UnsettledSummary {
            port: port_name(scenario, port),
            algorithm: control_names(scenario.port(port)).into_iter().next().unwrap_or_default(),
            by: "run",
            connections: shown.connections,
            gain_delay: None,
            delay_s: None,
            remedy: smaller_rdf(shown.fall),
            swing: Some(shown.swing),
            share: Some(shown.share),
            vc: shown.worst.map(|flow| flow_name(scenario, flow)),
        })
    };
    rows.extend(shown.into_iter().filter_map(row));
    rows
}

/// The exponent by which marks take the fair rate of a flow down in a round trip, before their end can be seen: RDF for
/// each of the ACR x RTT / Nrm BRMs of that time.
fn fall(scenario: &Scenario, share: &FairShare) -> f64 {
    let Sender::Abr(sender) = &scenario.flow(share.flow).sender else { return 0.0 };
    let one_way: f64 =
        scenario.steps(share.flow).map(|step| scenario.link(step.link).longest_delay().as_secs_f64()).sum();
    let parameters = &sender.parameters;
    parameters.rdf.value() * share.rate.as_cells_per_s() * 2.0 * one_way / f64::from(parameters.nrm)
}

/// The remedy where marks take rates down much further than the queue needs, before the sources hear of its end: rates
/// that a port hands out come back at once, and find the next queue.
fn smaller_rdf(fall: f64) -> Option<String> {
    (fall > MOST_FALL).then(|| {
        let (by, left) = ((fall / MOST_FALL).log2().ceil().exp2(), 100.0 * (-fall).exp());
        let why = format!("marks take rates to {left:.0} % in a round trip");
        format!("an rdf {by:.0} times as small or no efci beside the algorithm ({why})")
    })
}

/// Whether ACRs that swing by such a part of their mean, or are such a multiple of their share, have not settled.
fn is_unsettled(swing: f64, share: f64) -> bool {
    swing > TOLERANCE || off(share) > off(1.0 + TOLERANCE)
}

/// How far a multiple is from 1, either way.
fn off(ratio: f64) -> f64 {
    if ratio > 0.0 { ratio.max(1.0 / ratio) } else { f64::INFINITY }
}

/// Whether a port's algorithm is built in and hands out explicit rates: those that mark alone swing by their nature.
fn hands_out_rates(scenario: &Scenario, port: PortIndex) -> bool {
    scenario.port(port).control.algorithm.hands_out_rates()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_settled_and_more_is_not() {
        assert!(!is_unsettled(0.1, 1.0) && is_unsettled(0.1001, 1.0));
        assert!(!is_unsettled(0.0, 1.1) && is_unsettled(0.0, 1.1001));
        assert!(!is_unsettled(0.0, 0.9091) && is_unsettled(0.0, 0.909));
        assert!(is_unsettled(0.0, 0.0));
    }
}
