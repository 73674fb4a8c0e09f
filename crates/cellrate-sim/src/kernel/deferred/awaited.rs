//! Cells that are awaited behind a deferred port, and are no events before it.
//!
//! Before a host FRMs and ends of PDUs have to be events, because the host may answer; but only when they arrive there.
//! To the [deferred](super) port before the host they are what data cells are. So where this port is a FIFO
//! with one lane as its only way in, they wait in the lane like all others, and are *announced* to the lane behind the
//! port. Its leaf is due when the next of them arrives there at the earliest, which is when it comes to the port and
//! finds nothing before it but what has been dealt with. Then the port deals with all cells up to this one, which says
//! when it arrives: nearly always at this instant. If it has to wait for others, the leaf is due again then; if it is
//! lost, or ends a PDU of which something is missing, it leaves nothing to do.
//!
//! No cell is missed, because none arrives earlier than the leaf is due for it; the order at the same instant is that
//! of the leaves, which is the same as if it had been on the lane behind the port all the time. Whoever looks at the
//! port has those cells dealt with that come before, announced or not, in order: what is left to do about them waits on
//! the lane behind.
//!
//! BRMs stay events before the port, because a port in the other direction answers them at that instant.

use cellrate_proto::Time;

use super::lose_for_room;
use crate::cell::{Cell, Significance};
use crate::kernel::lanes::cell_queue::CellQueue;
use crate::kernel::ports::Queues;
use crate::kernel::ports::drain_strategy::DrainStrategy;
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::event_mark::EventMark;

impl Cluster {
    /// A cell comes to the deferred `port` over `lane`, behind those announced before, that has to be an event.
    pub(crate) fn announce(&mut self, lane: usize, port: usize, mark: EventMark) {
        let at = mark.at();
        if let (DrainStrategy::Host { link, .. }, false) = (self.ports[port].strategy, mark.is_backward()) {
            let link = link as usize;
            self.lanes[link].significant.push(at);
            if self.lanes[link].significant.all().len() == 1 {
                self.await_next(port, link);
            }
            return;
        }
        let place = &mut self.lanes[lane];
        place.significant.push(at);
        if place.significant.all().len() == 1 {
            self.schedule.set(place.leaf as usize, at);
        }
    }

    /// The leaf of `link`, behind the deferred `port`, is due when the next cell that has to be an event arrives: at
    /// the earliest, if it has not been dealt with at the port.
    pub(crate) fn await_next(&mut self, port: usize, link: usize) {
        let lane = &self.lanes[link];
        let due = match (lane.cells.first(), lane.significant.first(), &self.ports[port].queues) {
            (Some(cell), ..) => cell.arrives,
            (None, Some(&at), Queues::Fifo(fifo)) => fifo.preview(at),
            _ => Time::NEVER,
        };
        self.schedule.set(lane.leaf as usize, due);
    }

    /// A cell may reach the host at the end of `link`, behind the deferred `port`, about which there is something to do
    /// at this instant.
    pub(crate) fn on_awaited(&mut self, now: Time, link: usize, port: usize) {
        let place = &mut self.lanes[link];
        let mut first = place.cells.first().copied();
        if first.is_some() {
            place.cells.skip(1);
        } else if let (Some(&at), DrainStrategy::Host { lane, .. }) =
            (place.significant.first(), self.ports[port].strategy)
        {
            let leaf = self.lanes[lane as usize].leaf as usize;
            let next = self.schedule.key(leaf, at) + 1;
            first = self.pass_to_host(port, [lane as usize, link], next);
            if let Some(cell) = first.take_if(|cell| cell.arrives > now) {
                self.lanes[link].cells.push(cell);
            }
        }
        self.await_next(port, link);
        if let Some(cell) = first {
            let endpoint = self.hops[cell.hop()].endpoint;
            self.on_arrival(now, endpoint as usize, cell);
        }
    }

    /// Deals with the cells that come to the deferred `port` of the strategy [`DrainStrategy::Host`] before `limit`, a
    /// key.
    pub(crate) fn drain_to_host(&mut self, port: usize, [lane, link]: [u32; 2], limit: u64) {
        let link = link as usize;
        let behind = &self.lanes[link];
        let (is_known, announced) = (!behind.cells.is_empty(), behind.significant.all().len());
        let last = self.pass_to_host(port, [lane as usize, link], limit);
        if let Some(cell) = last {
            self.lanes[link].cells.push(cell);
        }
        // What arrives only after the end is on the link as well, before what is announced.
        if !is_known && (last.is_some() || self.lanes[link].significant.all().len() < announced) {
            self.await_next(port, link);
        }
    }

    /// Passes cells to a host; returns the last one of which something is left to do, if there is any. Those before it
    /// are on the link.
    fn pass_to_host(&mut self, port: usize, ways: [usize; 2], limit: u64) -> Option<Cell> {
        let mut last: Option<Cell> = None;
        while self.ports[port].merge.first() < limit {
            let several = matches!(self.ports[port].strategy, DrainStrategy::Host { several: true, .. });
            let cells = &self.lanes[ways[0]].cells;
            let is_run = !begins_alone(cells);
            let is_plain = cells.first().is_some_and(|first| !first.is_special());
            let mut passed = 0;
            if several && is_plain {
                passed = self.run_several_to_host(port, ways[0], limit);
            }
            if passed == 0 && (is_plain || !several) && is_run {
                passed = self.run_to_host(port, ways, limit, &mut last);
            }
            if passed == 0
                && let Some(cell) = self.step_to_host(port, ways)
                && let Some(before) = last.replace(cell)
            {
                self.lanes[ways[1]].cells.push(before);
            }
        }
        last
    }

    /// The next cell comes to the deferred `port`: all that may happen then. Returns it if there is something left to
    /// do about it when it arrives behind the port.
    fn step_to_host(&mut self, port: usize, [lane, link]: [usize; 2]) -> Option<Cell> {
        let Cluster { ports, lanes, hops, endpoints, schedule, dropped, end, .. } = self;
        let port = &mut ports[port];
        let place = &mut lanes[lane];
        let cell = place.cells.pop_of_stretch()?;
        port.merge.set(place.place(), place.first_key(schedule));
        let now = cell.arrives;
        let cell = cell.on_next_hop();
        if cell.is_significant(Significance::BEFORE_HOST) {
            lanes[link].significant.pop();
        }
        let hop = &hops[cell.hop()];
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, &cell);
        }
        let Queues::Fifo(fifo) = &mut port.queues else {
            unreachable!("only FIFOs have this strategy");
        };
        let Some(arrives) = fifo.admit(now) else {
            lose_for_room(port, dropped, now, hop);
            return None;
        };
        let cell = cell.arriving(arrives);
        // What arrives at or after the end of the run stays on the link; the schedule never comes to it.
        if arrives < *end { endpoints[hop.endpoint as usize].receive(cell) } else { Some(cell) }
    }
}

/// Whether the first cell that is at hand in `cells` is an FRM, or stands before one: it is not a run.
#[inline(always)]
fn begins_alone(cells: &CellQueue) -> bool {
    cells.front_run().iter().take(2).any(Cell::is_forward_rm)
}
