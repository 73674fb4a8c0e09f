//! BRMs that switches originate (BN = 1): a cell that finds a long queue has one sent back to its source.
//!
//! It comes to the port in the other direction at the instant of that cell, as a BRM that passes the switch would. It
//! cannot be known of beforehand, so the port that originates it is never deferred. The other one may be, and catches
//! up first.

use cellrate_engine::switch_port::SwitchPort;
use cellrate_proto::Time;

use super::hop::Hop;
use super::state::cluster::Cluster;
use crate::cell::Cell;

impl Cluster {
    /// An ABR cell that is not a BRM has come to the port of `hop`, the one of this `number`, which has
    /// [observed](crate::kernel::ports::Port::observe) it; it does not wait there yet.
    #[cold]
    pub(super) fn originate(&mut self, now: Time, leaf: usize, number: usize, hop: &Hop) {
        let port = &mut self.ports[hop.port as usize];
        if port.control.interval_due(now) {
            // It was the last cell of an averaging interval, and what the port says is what it says after that.
            port.end_intervals(now);
        }
        let queue = port.abr_queue(now);
        let Some(brm) = port.control.originate(now, hop.slot, queue) else { return };
        let Some(&way_back) = self.ways_back.get(&(number as u32)) else {
            unreachable!("both directions of a connection pass the same switches");
        };
        let cell = Cell::resource_management(now, &brm).on_hop(way_back as usize);
        let hop = self.hops[way_back as usize];
        *self.originated.entry(hop.flow).or_default() += 1;
        self.catch_up_to(hop.port as usize, self.schedule.key(leaf, now), now);
        let port = &mut self.ports[hop.port as usize];
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, &cell);
        }
        self.enqueue(now, &hop, cell);
    }
}
