//! Random networks with switches that police what comes, and sources that break rules.

use std::sync::Arc;

use cellrate_proto::misbehaviour::Misbehaviour;
use cellrate_proto::policing::contract::{Contract, Coupling, Definition};
use cellrate_proto::policing::dynamic::AbrContract;
use cellrate_proto::policing::frame::FrameContract;
use cellrate_proto::policing::usage::{Action, Rule, UsageConfig};
use cellrate_proto::{CellRate, Cells, Duration};
use cellrate_scenario::{Category, NodeKind, Policing, Scenario, Sender};
use cellrate_sim::random::{Owner, Random, Stream};

/// `scenario` with policers of every definition on the ways of its connections, some for contracts that are kept and
/// some for others, and with sources that do not do as they are told.
pub fn policed(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("police")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let connections = std::mem::take(&mut scenario.connections);
    let mut all = Vec::new();
    for mut connection in connections {
        for flow in [&mut connection.forward, &mut connection.backward] {
            let (Sender::Abr(abr), 0) = (&mut flow.sender, pick(4)) else { continue };
            Arc::make_mut(abr).misbehaviour = Misbehaviour {
                ignores_er: pick(2) == 0,
                ignores_ci: pick(2) == 0,
                rate_factor: [1.0, 1.0, 1.001, 1.5, 4.0, 0.7][pick(6)],
                tcr_factor: [1.0, 2.0, 100.0, 1000.0][pick(4)],
            };
        }
        for backward in [false, true] {
            let steps: Vec<_> = connection.steps(backward).collect();
            let heads = steps.iter().map(|&step| scenario.node(scenario.head(step)).kind);
            let switches = heads.filter(|&kind| kind == NodeKind::Switch).count();
            for hop in 0..switches {
                if pick(3) > 0 {
                    continue;
                }
                let links = || steps[..=hop].iter().map(|step| scenario.link(step.link));
                let cell_time = scenario.link(steps[hop].link).rate.cell_time();
                let cdvt = cell_time * [0, 0, 1, 3, 50][pick(5)];
                let share = [0.05, 0.5, 0.999, 1.0, 1.0, 1.0][pick(6)];
                let coupling = [Coupling::Coupled, Coupling::Independent, Coupling::Serial][pick(3)];
                let rule = match &connection.flow(backward).sender {
                    Sender::Abr(abr) => {
                        let parameters = &abr.parameters;
                        let round_trip = links().fold(Duration::ZERO, |sum, link| sum + link.delay * 2);
                        let fixed = if pick(3) == 0 { Duration::ZERO } else { round_trip };
                        let queues = cell_time * [0, 1, 2, 20, 300][pick(5)];
                        Rule::Abr(AbrContract {
                            pcr: parameters.pcr * share,
                            mcr: parameters.mcr.min(parameters.pcr * share),
                            icr: parameters.icr.min(parameters.pcr * share),
                            cdvt,
                            longest_delay: fixed + queues,
                            shortest_delay: fixed,
                        })
                    }
                    Sender::Peak(peak) if connection.category == Category::Gfr => {
                        let pcr = *peak * share;
                        let mcr = pcr * [0.01, 0.1, 0.3, 1.0][pick(4)];
                        let (mbs, mfs) = ([1, 12, 100][pick(3)], [1, 10, 12, 32, 192][pick(5)]);
                        Rule::Frames(FrameContract { tags: pick(3) > 0, pcr, cdvt, mcr, mbs, mfs })
                    }
                    Sender::Peak(peak) => {
                        let definition = match connection.category {
                            Category::Cbr => Definition::Cbr1,
                            Category::Ubr => [Definition::Ubr1, Definition::Ubr2][pick(2)],
                            _ => [Definition::Vbr1, Definition::Vbr2, Definition::Vbr3][pick(3)],
                        };
                        let (pcr, scr, mbs) = if definition.is_vbr() {
                            (*peak * share, *peak * share * [0.1, 0.6, 1.0][pick(3)], [1, 4, 100][pick(3)])
                        } else {
                            (*peak * share, CellRate::ZERO, 0)
                        };
                        Rule::Fixed(Contract { definition, pcr, cdvt, scr, mbs, coupling })
                    }
                };
                let action = [Action::Discard, Action::Discard, Action::Tag, Action::Count][pick(4)];
                let action = match (action, &rule) {
                    (Action::Tag, Rule::Fixed(_) | Rule::Frames(_)) => Action::Discard,
                    (action, _) => action,
                };
                let usage = UsageConfig { rule, action };
                assert_eq!(usage.check(), Ok(()));
                connection.policing.push(Policing { backward, hop, usage });
            }
        }
        all.push(connection);
    }
    scenario.connections = all;
    for link in &mut scenario.links {
        for port in &mut link.ports {
            if pick(3) == 0 {
                Arc::make_mut(port).buffers.tagged = Some(Cells([0, 1, 3, 10, 60][pick(5)]));
            }
        }
    }
    scenario
}
