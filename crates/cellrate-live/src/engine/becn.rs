//! BRMs that switches originate, as in the simulator: a cell that finds a long queue has one sent back to its source,
//! by the port in the other direction, at its own instant.

use cellrate_engine::switch_port::SwitchPort;
use cellrate_proto::Time;

use super::cell::{self, Cell};
use super::machine::Machine;
use super::network::Hop;

impl Machine<'_> {
    /// `cell`, one of ABR and no BRM, has come to the port of `hop`, which has observed it; it does not wait there yet.
    pub(super) fn originate(&mut self, now: Time, cell: &Cell, hop: &Hop) {
        let port = &mut self.network.ports[hop.port as usize];
        if port.control.interval_due(now) {
            // It was the last cell of an averaging interval, and what the port says is what it says after that.
            port.end_intervals(now);
        }
        let queue = port.abr_queue(now);
        let Some(brm) = port.control.originate(now, hop.slot, queue) else { return };
        let Some(&way_back) = self.network.ways_back.get(&cell.hop) else {
            unreachable!("both directions of a connection pass the same switches");
        };
        let back = self.network.hops[way_back as usize];
        self.passages[back.flow.index()].originated += 1;
        let port = &mut self.network.ports[back.port as usize];
        if port.metered {
            port.observe(now, usize::from(back.priority), back.slot, Some(&brm));
        }
        let address = cell::address(back.flow.connection());
        self.enqueue(now, Cell::resource_management(now, way_back, address, &brm));
    }
}
