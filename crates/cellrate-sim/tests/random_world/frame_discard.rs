//! The same networks with switches that lose PDUs rather than cells.

use std::sync::Arc;

use cellrate_proto::switch::FrameDiscardConfig;
use cellrate_proto::{CellRate, Cells};
use cellrate_scenario::{Category, NodeKind, Scenario, Sender, Traffic};
use cellrate_sim::random::{Owner, Random, Stream};

use crate::world::parameters_of;

/// `scenario`, with more of UBR and some of GFR, and frame discard before short buffers of them.
pub fn discarding(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 12")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let Scenario { nodes, links, connections, .. } = &mut scenario;
    for connection in connections.iter_mut().filter(|connection| connection.category == Category::Abr) {
        let has_tcp = [&connection.forward, &connection.backward]
            .iter()
            .any(|flow| matches!(flow.traffic, Some(Traffic::Tcp(_))));
        if !has_tcp || pick(4) == 0 {
            continue;
        }
        connection.category = [Category::Ubr, Category::Gfr][pick(2)];
        if connection.category == Category::Gfr || pick(3) == 0 {
            connection.queue.mcr = CellRate::new([1.0, 300.0, 4321.0, 50_000.0][pick(4)]);
        }
        for flow in [&mut connection.forward, &mut connection.backward] {
            if let Some(parameters) = parameters_of(flow) {
                let peak = parameters.pcr;
                flow.sender = Sender::Peak(peak);
            }
        }
    }
    for link in links {
        for (node, port) in link.ends.iter().zip(&mut link.ports) {
            if nodes[node.0 as usize].kind != NodeKind::Switch || pick(5) == 0 {
                continue;
            }
            let port = Arc::make_mut(port);
            let room = [None, Some(3), Some(15), Some(60)][pick(4)].map(Cells);
            port.buffers.ubr = room;
            port.buffers.shared = [None, None, Some(2), Some(20)][pick(4)].map(Cells);
            let room = port.buffers.room_for_ubr();
            let most = room.map_or(40, |room| room.0 - 1);
            let threshold = Cells([0, 1, most / 2, most][pick(4)]);
            let scale_factor = [0.125, 0.5, 0.875, 1.0, 2.5][pick(5)];
            let low = Cells(threshold.0 * [0, 1, 2][pick(3)] / 3);
            let policy = match pick(7) {
                0 => FrameDiscardConfig::Partial,
                1 => FrameDiscardConfig::Early { threshold },
                4 => FrameDiscardConfig::DoubleEarly { tagged_threshold: low, threshold },
                5 | 6 if low < threshold => {
                    let fairness = [0.0, 0.5, 1.0][pick(3)];
                    FrameDiscardConfig::Differential { low, high: threshold, fairness }
                }
                2 if room.is_some() => FrameDiscardConfig::Fair { threshold, scale_factor },
                _ => FrameDiscardConfig::Selective { threshold, scale_factor },
            };
            assert_eq!(policy.check(room), Ok(()));
            port.frame_discard = Some(policy);
        }
    }
    scenario
}
