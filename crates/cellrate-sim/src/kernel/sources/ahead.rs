//! Sources that send ahead of time.
//!
//! Cells of a source without feedback depend on its traffic alone. Where it is not looked at before the end, it has
//! its access link to itself, and the port behind is a [deferred](crate::kernel::deferred) one, its cells are put on
//! the link long before their instants, many at a time: they are cells of a lane like any other.
//!
//! None of these cells has to be an event before the port: it leads to another cluster, or the source sends no PDUs
//! whose ends a host may answer.
//!
//! No cell is missed: when the first one that has not been sent would reach the switch, the leaf of the lane has an
//! event, and more are sent then. At the end of the run those that leave before it are, and no others.

use cellrate_proto::Time;

use crate::endpoint::SendMode;
use crate::kernel::lanes::cell_queue::Batch;
use crate::kernel::ports::Queues;
use crate::kernel::state::cluster::{Ahead, Cluster};

/// Cells that a source sends at once.
const AHEAD: usize = 128;

impl Cluster {
    /// Has all sources that send ahead of time do so for the first time.
    pub(crate) fn begin_ahead(&mut self) {
        for index in 0..self.ahead.len() {
            let sender = &mut self.endpoints[self.ahead[index].source as usize];
            sender.transmits = sender.end.next_transmission(Time::ZERO);
            self.send_ahead(self.ahead[index]);
        }
    }

    /// Has the source of `lane` send more: there is an event on the lane, and no cell of it has to be one.
    pub(crate) fn on_ahead(&mut self, lane: usize) {
        let Ok(index) = self.ahead.binary_search_by_key(&lane, |ahead| ahead.lane as usize) else {
            unreachable!("without a cell that is one, nothing else is an event on a lane");
        };
        self.send_ahead(self.ahead[index]);
    }

    /// The source of a lane sends its next cells, each stamped with its own instants, and has its next event when the
    /// one after them would arrive.
    fn send_ahead(&mut self, Ahead { lane, source }: Ahead) {
        let Cluster { endpoints, lanes, ports, end, .. } = self;
        let lane = lane as usize;
        let place = &mut lanes[lane];
        let sender = &mut endpoints[source as usize];
        let SendMode::Ahead { port } = sender.send_mode else {
            unreachable!("a lane has a source if that sends ahead of time");
        };
        let Queues::Fifo(fifo) = &mut ports[port as usize].queues else {
            unreachable!("only sources behind a FIFO send ahead of time");
        };
        let was_empty = place.cells.is_empty();
        let mut cells = Vec::with_capacity(AHEAD);
        sender.send_ahead(*end, AHEAD, |at, cell| {
            let Some(arrives) = fifo.admit(at) else {
                unreachable!("only sources behind a lossless port send ahead of time");
            };
            cells.push(cell.arriving(arrives));
        });
        if !cells.is_empty() {
            place.cells.append(Batch::Plain(cells));
        }
        let next = if sender.transmits < *end { fifo.preview(sender.transmits) } else { Time::NEVER };
        self.schedule.set(place.leaf as usize, next);
        if was_empty {
            self.note_first(lane);
        }
    }

    /// Has all sources that send ahead of time continue after a [pause](crate::kernel::pause).
    pub(crate) fn go_on_ahead(&mut self) {
        for index in 0..self.ahead.len() {
            self.send_ahead(self.ahead[index]);
        }
    }

    /// The end has come: what leaves before it has left.
    pub(crate) fn end_ahead(&mut self) {
        for index in 0..self.ahead.len() {
            while self.endpoints[self.ahead[index].source as usize].transmits < self.end {
                self.send_ahead(self.ahead[index]);
            }
        }
    }
}
