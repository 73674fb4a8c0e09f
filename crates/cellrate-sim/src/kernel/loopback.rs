//! OAM loopback cells: what ends and switches do with them.
//!
//! An end sends a request when it is due, and a reply when a request comes, at once ([`LoopbackEnd`]); no source is
//! asked, so what leaves an end of such a connection are events, and no port of its way is deferred. On the way the
//! cells are passed on as all others of their connection, past policers and control loops that end there, up to the
//! switch that answers them, if one does.
//!
//! [`LoopbackEnd`]: cellrate_engine::loopback::LoopbackEnd

use cellrate_engine::loopback::LoopbackContents;
use cellrate_proto::Time;

use super::state::cluster::Cluster;
use crate::cell::Cell;

impl Cluster {
    /// The instant of a loopback cell that `endpoint` has received has come.
    #[cold]
    pub(super) fn on_loopback(&mut self, now: Time, endpoint: usize, contents: LoopbackContents) {
        if let Some(cell) = self.endpoints[endpoint].on_loopback(now, contents) {
            let port = self.hops[cell.hop()].port as usize;
            self.catch_up_to(port, self.schedule.key(0, now), now);
            self.leave_host(now, cell);
        }
        self.sampler.note_end(now, endpoint as u32, &self.endpoints[endpoint]);
    }

    /// Takes the cell that reaches a switch that answers loopback requests of its connection.
    pub(super) fn on_segment_end(&mut self, now: Time, lane: usize, leaf: usize) {
        let place = &mut self.lanes[lane];
        let Some(cell) = place.cells.pop() else {
            unreachable!("an arrival is scheduled only while a cell is on the link");
        };
        let next = place.cells.first().map_or(Time::NEVER, |cell| cell.arrives);
        self.schedule.set(leaf, next);
        self.pass_loopback(now, leaf, cell);
    }

    /// Passes `cell` on from a switch, or answers it if it is a loopback request for that switch.
    pub(super) fn pass_loopback(&mut self, now: Time, leaf: usize, cell: Cell) {
        let answer = cell.loopback().filter(|contents| contents.is_segment && !contents.is_reply);
        let way_back = answer.and_then(|contents| {
            let key = (cell.hop() as u32, contents.loopback());
            self.segment_ends.ways_back.get(&key).map(|&hop| (contents, hop))
        });
        let Some((contents, way_back)) = way_back else { return self.forward(now, leaf, cell) };
        *self.absorbed.entry(self.hops[cell.hop()].flow).or_default() += 1;
        let reply = Cell::oam(now, contents.reply()).on_hop(way_back as usize);
        let hop = self.hops[way_back as usize];
        *self.originated.entry(hop.flow).or_default() += 1;
        let port = &mut self.ports[hop.port as usize];
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, &reply);
        }
        self.enqueue(now, &hop, reply);
    }
}
