//! OAM loopback cells, as in the simulator: ends answer at once, switches answer requests of segments that name them,
//! and all others pass, policers and ends of control loops too.

use cellrate_engine::loopback::location_id;
use cellrate_proto::Time;
use cellrate_scenario::FlowIndex;

use super::cell::{self, Cell};
use super::machine::Machine;

impl Machine<'_> {
    /// An OAM cell reaches the host at the end of its connection.
    pub(super) fn deliver_oam(
        &mut self,
        now: Time,
        input: usize,
        number: usize,
        flow: FlowIndex,
        cell: &Cell,
    ) {
        let received = self.network.adapters[number].receive_oam(now, cell);
        self.answer_control(now, input, number, flow, received);
    }

    /// An OAM cell reaches a switch, which answers it or passes it on.
    pub(super) fn pass_oam(&mut self, now: Time, input: usize, cell: Cell) {
        let here = location_id(self.network.inputs[input].node);
        let asked = cell
            .to_loopback()
            .ok()
            .filter(|(contents, location)| contents.is_segment && !contents.is_reply && *location == here);
        let way_back = asked.and_then(|(contents, _)| {
            let hop = *self.network.segment_ends.get(&(cell.hop, contents.loopback()))?;
            Some((contents, hop))
        });
        let Some((contents, way_back)) = way_back else { return self.forward(now, input, cell) };
        self.passages[self.network.hops[cell.hop as usize].flow.index()].answered += 1;
        let hop = self.network.hops[way_back as usize];
        self.passages[hop.flow.index()].originated += 1;
        let address = cell::address(hop.flow.connection());
        let reply = Cell::oam(now, way_back, address, contents.reply(), here);
        let port = &mut self.network.ports[hop.port as usize];
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, None);
        }
        self.enqueue(now, reply);
    }
}
