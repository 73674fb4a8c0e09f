//! Ends, policers and copies of cells inside switches, and the ports that they join.

use std::collections::BTreeSet;

use cellrate_engine::becn::{Origin, origins};
use cellrate_engine::branch_point::{self, Ways};
use cellrate_engine::policing::{Checkpoint, checkpoints};
use cellrate_engine::segments::{VirtualEnd, virtual_ends};
use cellrate_proto::policing::usage::Rule;
use cellrate_proto::switch::SwitchAlgorithmConfig;
use cellrate_scenario::{FlowIndex, Port, PortIndex, Scenario};

use super::carried::most_cells;
use crate::mechanisms::{Mechanism, Mechanisms};

/// Mechanisms inside switches, each with the ports that it concerns.
pub(super) struct WithinSwitches {
    pub(super) virtual_ends: Vec<VirtualEnd>,
    pub(super) checkpoints: Vec<Checkpoint>,
    pub(super) branch_points: Vec<Ways>,
    /// Ports whose algorithms may originate BRMs.
    pub(super) origins: Vec<Origin>,
    /// Ports where one of these mechanisms sends cells, or has to tell them apart.
    pub(super) joined: BTreeSet<PortIndex>,
    /// Ports of `origins`.
    pub(super) originating: BTreeSet<PortIndex>,
    /// Ports that BRMs leave by which a policer has to see.
    pub(super) watched_brms: BTreeSet<PortIndex>,
    /// By port, the most cells that there may be at once, where that is known.
    pub(super) most_there: Vec<Option<u64>>,
}

impl WithinSwitches {
    pub(super) fn of(scenario: &Scenario, mechanisms: Mechanisms) -> WithinSwitches {
        let (virtual_ends, checkpoints) = (virtual_ends(scenario), checkpoints(scenario));
        let branch_points = branch_point::ways(scenario);
        let mut joined = joined(scenario, &virtual_ends, &checkpoints, &branch_points);
        let mut origins = origins(scenario);
        let mut most_there = most_cells(scenario, &origins);
        for (port, most) in scenario.ports().zip(&mut most_there) {
            most.take_if(|_| joined.contains(&port) || !mechanisms.has(Mechanism::WithoutQueue));
        }
        // A cell finds fewer than there are with it. Where an algorithm measures, one that ends an interval ends it
        // before it joins the queue.
        origins.retain(|origin| {
            let port = origin.step.port();
            let Port { control, custom, .. } = scenario.port(port);
            let measures = control.algorithm != SwitchAlgorithmConfig::None || custom.is_some();
            let threshold = control.becn.map_or(0, |becn| becn.threshold.0);
            measures || most_there[port.index()].is_none_or(|most| most > threshold)
        });
        let originating: BTreeSet<PortIndex> = origins.iter().map(|origin| origin.step.port()).collect();
        joined.extend(&originating);
        let watched_brms = checkpoints
            .iter()
            .filter(|point| matches!(point.usage.rule, Rule::Abr(_)))
            .map(|point| point.step_back.port())
            .collect();
        WithinSwitches {
            virtual_ends,
            checkpoints,
            branch_points,
            origins,
            joined,
            originating,
            watched_brms,
            most_there,
        }
    }
}

/// Ports that cells come to from inside their switch, or whose cells are told apart one by one.
fn joined(
    scenario: &Scenario,
    virtual_ends: &[VirtualEnd],
    checkpoints: &[Checkpoint],
    branch_points: &[Ways],
) -> BTreeSet<PortIndex> {
    let sends_by = |end: &VirtualEnd| scenario.step(end.flow, end.step).port();
    let mut joined: BTreeSet<PortIndex> = virtual_ends.iter().map(sends_by).collect();
    joined.extend(checkpoints.iter().map(|point| scenario.step(point.flow, point.hop + 1).port()));
    let joined_by = |ways: &Ways| {
        ways.on.iter().chain([&ways.up]).map(|hop| hop.step(scenario).port()).collect::<Vec<_>>()
    };
    joined.extend(branch_points.iter().flat_map(joined_by));
    // Loopback cells come when they are sent, and cells of channels are told apart one by one.
    let with_loopback = |flow: &FlowIndex| {
        let connection = scenario.connection(flow.connection());
        !connection.loopbacks.is_empty() || connection.is_path()
    };
    let of_loopback = scenario.flows().filter(with_loopback);
    joined.extend(of_loopback.flat_map(|flow| scenario.steps(flow)).map(|step| step.port()));
    joined
}
