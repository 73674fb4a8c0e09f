//! Networks in which every limit is small: rooms, thresholds, adapters, rates that sources begin with.

use std::sync::Arc;

use cellrate_proto::declaration::Drawn;
use cellrate_proto::scheduling::Discipline;
use cellrate_proto::switch::frame_discard::SHAPES;
use cellrate_proto::switch::{EfciConfig, FrameDiscardConfig};
use cellrate_proto::{CellRate, Cells, Duration};

use super::flows::book_of;
use super::*;
use crate::world::parameters_of;

/// `scenario` with everything small that has a limit; by the network's number.
pub fn cramped(mut scenario: Scenario, number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("cramped")));
    let mut generator = Generator { dice, style: Style::Mixed };
    let Scenario { nodes, links, connections, .. } = &mut scenario;
    for connection in connections.iter_mut() {
        for flow in [&mut connection.forward, &mut connection.backward] {
            generator.cramp_end(flow);
        }
        if generator.one_in(4) {
            connection.queue.frame_discard = generator.pick(&[Some(true), Some(false)]);
        }
    }
    for link in links {
        for (node, port) in link.ends.iter().zip(&mut link.ports) {
            let port = Arc::make_mut(port);
            if nodes[node.0 as usize].kind == NodeKind::Switch {
                port.buffers = generator.few_cells();
                generator.cramp_switch(port);
            } else if generator.one_in(3) {
                port.buffers = generator.few_cells();
            }
        }
    }
    if !scenario.demands.is_empty() {
        scenario.book = book_of(&scenario);
    }
    scenario
}

impl Generator {
    /// An adapter with room for next to nothing, and a source that begins slowly and may wait for little.
    fn cramp_end(&mut self, flow: &mut Flow) {
        if let Some(Traffic::Tcp(tcp)) = &mut flow.traffic
            && !tcp.successive
        {
            tcp.adapter_queue = match self.below(6) {
                0 => AdapterQueue::Cells(Cells(self.pick(&[1, 2, 5, 12]))),
                1 => AdapterQueue::Pdus(1 + self.below(2)),
                2 => AdapterQueue::HighWater(Cells(1 + self.below(3))),
                3 => AdapterQueue::HoldAcks(Cells(1 + self.below(3))),
                4 => tcp.adapter_queue,
                _ => AdapterQueue::Unbounded,
            };
        }
        let Some(parameters) = parameters_of(flow) else { return };
        if self.one_in(2) {
            parameters.tbe = Cells(self.pick(&[0, 1, 2, 33]));
        }
        if self.one_in(3) {
            parameters.crm = Some(self.below(3) as u32);
        }
        if self.one_in(3) {
            parameters.nrm = self.pick(&[2, 4]);
        }
        if self.one_in(4) {
            let slow = CellRate::new(self.pick(&[1.0, 10.0, 100.0]));
            parameters.icr = parameters.mcr.max(slow.min(parameters.pcr));
        }
    }

    fn few_cells(&mut self) -> Buffers {
        let mut room =
            |often: u64| (self.below(often) > 0).then(|| Cells(self.pick(&[0, 1, 1, 2, 2, 3, 4, 7])));
        Buffers { guaranteed: room(5), abr: room(5), ubr: room(5), shared: room(3), tagged: room(4) }
    }

    /// Rooms of queues, thresholds of marks and of frame discard.
    fn cramp_switch(&mut self, port: &mut Port) {
        if let Some(vs_vd) = &mut port.vs_vd {
            vs_vd.buffer = self.pick(&[None, Some(Cells(1)), Some(Cells(2)), Some(Cells(3))]);
            vs_vd.t0 = self.pick(&[None, Some(Duration::from_us(1)), Some(Duration::from_us(50))]);
        }
        if self.one_in(3) && port.control.efci.is_some() {
            let high = self.below(3);
            port.control.efci = Some(EfciConfig { high: Cells(high), low: Cells(self.below(1 + high)) });
        }
        if !matches!(port.queueing.discipline, Discipline::Fifo) && !self.one_in(3) {
            port.queueing.room = Some(Cells(1 + self.below(3)));
        }
        let rooms = port.buffers.rooms();
        let policies =
            [&mut port.guaranteed_frame_discard, &mut port.abr_frame_discard, &mut port.frame_discard];
        for (policy, room) in policies.into_iter().zip(rooms) {
            if self.one_in(2) {
                *policy = Some(self.strict_policy(room));
            }
            // A threshold beyond the room is left out.
            *policy = policy.take().filter(|policy| policy.check(room).is_ok());
        }
    }

    /// A frame discard whose thresholds are a cell or two.
    fn strict_policy(&mut self, room: Option<Cells>) -> FrameDiscardConfig {
        let most = room.map_or(4, |room| room.0.saturating_sub(1));
        let high = Cells(self.below(3).min(most));
        let low = Cells(self.below(2).min(high.0));
        let shape = self.pick(SHAPES);
        let drawn = Drawn::new(shape.keys, &mut || self.dice.uniform())
            .with_cells("threshold", high)
            .with_cells("high", high)
            .with_cells("tagged_threshold", low)
            .with_cells("low", low)
            .with_ratio("scale_factor", self.pick(&[0.125, 0.5, 1.0]))
            .with_ratio("fairness", self.pick(&[0.0, 0.5, 1.0]));
        FrameDiscardConfig::read(shape.name, &drawn).expect("there is such a policy").expect("its values are")
    }
}
