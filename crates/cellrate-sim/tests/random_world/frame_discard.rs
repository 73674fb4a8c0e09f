//! Random networks with switches that lose PDUs rather than cells.

use std::sync::Arc;

use cellrate_proto::declaration::Drawn;
use cellrate_proto::switch::frame_discard::{SHAPES, Selective};
use cellrate_proto::switch::{FrameDiscardConfig, SwitchAlgorithmConfig};
use cellrate_proto::{CellRate, Cells};
use cellrate_scenario::{Buffers, Category, NodeKind, Scenario, Sender, Traffic};
use cellrate_sim::random::{Owner, Random, Stream};

use crate::world::parameters_of;

/// `scenario`, with more of UBR and some of GFR, and frame discard before short buffers of them; in every second one
/// before those of other categories, too.
pub fn discarding(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 12")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let with_others = number.is_multiple_of(2);
    let Scenario { nodes, links, connections, .. } = &mut scenario;
    for connection in connections.iter_mut().filter(|connection| connection.category == Category::Abr) {
        let has_tcp = [&connection.forward, &connection.backward]
            .iter()
            .any(|flow| matches!(flow.traffic, Some(Traffic::Tcp(_))));
        if with_others {
            connection.queue.frame_discard = [None, Some(true), Some(true), Some(false)][pick(4)];
        }
        if !has_tcp || pick(if with_others { 2 } else { 4 }) == 0 {
            continue;
        }
        connection.category =
            if with_others && pick(3) == 0 { Category::Vbr } else { [Category::Ubr, Category::Gfr][pick(2)] };
        if connection.category == Category::Gfr || connection.category == Category::Ubr && pick(3) == 0 {
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
            port.frame_discard = Some(policy(&mut port.buffers, 2, &mut pick));
            if with_others {
                if pick(2) == 0 {
                    port.control.algorithm = SwitchAlgorithmConfig::None;
                }
                port.abr_frame_discard = Some(policy(&mut port.buffers, 1, &mut pick));
                port.guaranteed_frame_discard = Some(policy(&mut port.buffers, 0, &mut pick));
            }
        }
    }
    scenario
}

/// A policy for the buffer of this priority, which gets short.
fn policy(buffers: &mut Buffers, class: usize, pick: &mut impl FnMut(usize) -> usize) -> FrameDiscardConfig {
    let own = [None, Some(3), Some(15), Some(60)][pick(4)].map(Cells);
    match class {
        0 => buffers.guaranteed = own,
        1 => buffers.abr = own,
        _ => {
            buffers.ubr = own;
            buffers.shared = [None, None, Some(2), Some(20)][pick(4)].map(Cells);
        }
    }
    let room = buffers.rooms()[class];
    let most = room.map_or(40, |room| room.0 - 1);
    let threshold = Cells([0, 1, most / 2, most][pick(4)].min(most));
    let scale_factor = [0.125, 0.5, 0.875, 1.0, 2.5][pick(5)];
    let low = Cells(threshold.0 * [0, 1, 2][pick(3)] / 3);
    let shape = &SHAPES[pick(SHAPES.len())];
    // The judge reckons with eighths of the factors of its policies; what it does not know is drawn as it comes.
    let drawn = Drawn::new(shape.keys, &mut || pick(1 << 16) as f64 / 65_536.0)
        .with_cells("threshold", threshold)
        .with_cells("high", threshold)
        .with_cells("tagged_threshold", low)
        .with_cells("low", low)
        .with_ratio("scale_factor", scale_factor)
        .with_ratio("fairness", [0.0, 0.5, 1.0][pick(3)]);
    let read = FrameDiscardConfig::read(shape.name, &drawn).expect("there is such a policy");
    match read {
        Ok(policy) if policy.check(room).is_ok() => policy,
        _ => FrameDiscardConfig::Selective(Selective { threshold, scale_factor }),
    }
}
