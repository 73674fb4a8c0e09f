//! Frame discard at an output port: one for each priority that has it.

use cellrate_proto::switch::{FrameDiscard, PduCell, Slot};
use cellrate_proto::{CellRate, Cells};
use cellrate_scenario::{FlowIndex, PortIndex, Scenario, Sender};

use crate::priority::{PRIORITIES, priority};
use crate::random::{Owner, Random, Stream};

/// Frame discard of the buffers of a port, by priority.
#[derive(Clone, Debug)]
pub struct FrameDiscards {
    classes: [Option<FrameDiscard>; PRIORITIES],
    /// Whether any of them counts the cells of connections.
    counts: bool,
    /// Random numbers for what is left to chance.
    refusals: Random,
}

impl FrameDiscards {
    /// Frame discard of a port; `None` where no buffer has it.
    pub fn of(scenario: &Scenario, port: PortIndex) -> Option<FrameDiscards> {
        let config = scenario.port(port);
        let policies = config.frame_discards();
        if policies.iter().all(Option::is_none) {
            return None;
        }
        let per_vc = config.queueing.is_per_vc();
        let discard = if per_vc { FrameDiscard::before_queues } else { FrameDiscard::new };
        let rooms = config.buffers.rooms();
        let class = |class: usize| policies[class].map(|policy| discard(policy, rooms[class]));
        let refusals = Random::new(scenario.seed, Stream::Refusals(Owner::port(scenario, port)));
        Some(FrameDiscards::new([class(0), class(1), class(2)], refusals))
    }

    /// Frame discard of these buffers, by priority; `refusals` is for what is left to chance.
    pub fn new(classes: [Option<FrameDiscard>; PRIORITIES], refusals: Random) -> FrameDiscards {
        let counts = classes.iter().flatten().any(FrameDiscard::counts);
        FrameDiscards { classes, counts, refusals }
    }

    /// Connects one direction of a connection: its number among those of its priority, if that has frame discard.
    pub fn connect(&mut self, scenario: &Scenario, flow: FlowIndex) -> Option<Slot> {
        let (connection, backward) = (scenario.connection(flow.connection()), flow.is_backward());
        let discard = self.classes[priority(connection.category)].as_mut()?;
        let sends = connection.carries_data(backward) || connection.carries_packets();
        let mcr = match &scenario.flow(flow).sender {
            Sender::Abr(abr) => abr.parameters.mcr,
            Sender::Peak(_) => connection.queue.mcr,
        };
        let mcr = if sends { mcr } else { CellRate::ZERO };
        Some(discard.connect(connection.loses_whole_pdus() && connection.carries_pdus(backward), mcr))
    }

    /// True if a data cell that comes to the buffer of `class` gets in, where `queue` cells are; `has_room` says
    /// whether it could. RM cells are no part of it.
    #[inline]
    pub fn admits(&mut self, class: usize, slot: Slot, cell: PduCell, queue: Cells, has_room: bool) -> bool {
        let refusals = &mut self.refusals;
        match &mut self.classes[class] {
            Some(discard) => discard.admits(slot, cell, queue, has_room, || refusals.uniform()),
            None => has_room,
        }
    }

    /// Notes that a data cell has left the buffer of `class`: the oldest, or one of `owner` where connections have
    /// queues of their own.
    #[inline]
    pub fn on_departure(&mut self, class: usize, owner: Option<Slot>) {
        if self.counts
            && let Some(discard) = &mut self.classes[class]
        {
            discard.on_departure(owner);
        }
    }

    /// PDUs of which no cell got in, of all priorities.
    pub fn refused(&self) -> u64 {
        self.classes.iter().flatten().map(FrameDiscard::refused).sum()
    }

    /// PDUs that were cut, of all priorities.
    pub fn cut(&self) -> u64 {
        self.classes.iter().flatten().map(FrameDiscard::cut).sum()
    }
}
