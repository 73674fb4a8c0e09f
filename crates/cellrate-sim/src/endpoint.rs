//! One end of a connection in a simulation: the [`ConnectionEnd`] of both worlds in cells of three words, plans of what
//! it will send, and what puts PDUs together.

use cellrate_engine::connection_end::{ConnectionEnd, RmCount};
use cellrate_engine::histogram::{Histogram, Recording};
use cellrate_engine::loopback::LoopbackContents;
use cellrate_engine::pacer::Pacer;
use cellrate_engine::supply::{CellSupply, CommonSupply};
use cellrate_proto::{Destination, Direction, Duration, Emission, RmCell, Time};
use cellrate_scenario::traffic::Generate;

use crate::cell::Cell;
use crate::stretch::Stretch;
use crate::traffic::Supply;
use crate::transport::{Departed, FlowDatagrams, Interface, Over, SizedFlow};

/// How the cells of an end get onto its access link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendMode {
    /// Every transmission is an event.
    Scheduled,
    /// Transmissions are worked out when their arrival at the switch is due, or when something reaches the host: no one
    /// else uses the link from it. Or others do, and they are worked out when the [shared
    /// port](crate::kernel::sources::shared_host) is looked at.
    Folded {
        /// The host's port.
        port: u32,
        /// The far end of the link, or the way to the shared port: an index into `feeds`.
        feed: u32,
    },
    /// Cells are sent [ahead of time](crate::kernel::sources::ahead).
    Ahead {
        /// The host's port.
        port: u32,
    },
}

/// State that data cells touch at the end that receives them, their count apart.
#[derive(Debug)]
pub(crate) struct EarlyReceiver<'a> {
    delays: Recording<'a>,
    interface: Option<&'a mut Interface>,
    destination: &'a mut Destination,
}

impl EarlyReceiver<'_> {
    /// Whether PDUs are put together here.
    pub fn reassembles(&self) -> bool {
        self.interface.is_some()
    }

    /// The next data cell, which `arrives` then.
    #[inline(always)]
    pub fn count(&mut self, cell: &Cell, arrives: Time) {
        self.delays.record(Duration::from_ps(arrives.as_ps() - cell.sent.as_ps()));
    }

    /// The data cell that has been counted is put to those before it; whether it makes a PDU
    /// [whole](EarlyReceiver::on_whole).
    #[inline(always)]
    pub fn reassemble(&mut self, cell: &Cell) -> bool {
        self.interface.as_mut().is_some_and(|interface| interface.reassembly.on_cell(cell))
    }

    /// `cell` has made a PDU whole: returned if there is something left to do at the instant at which it arrives.
    pub fn on_whole(&mut self, cell: Cell) -> Option<Cell> {
        self.interface.as_mut()?.on_whole(cell)
    }

    /// The next `count` data cells: `first`, which `arrives` then, and others that follow it as those of `stretch` do.
    pub fn receive_stretch(&mut self, first: &Cell, stretch: Stretch, count: u64, arrives: Time) {
        let delay = Duration::from_ps(arrives.as_ps() - first.sent.as_ps());
        let step = stretch.gap.as_ps().wrapping_sub(stretch.spacing.as_ps()) as i64;
        self.delays.record_even(delay, step, count);
        if let Some(interface) = &mut self.interface {
            interface.reassembly.on_run(first, count as u32);
        }
    }

    /// Ends the run of data cells: these were all.
    #[inline(always)]
    pub fn close(self, cells: &[Cell]) {
        let Some(last) = cells.last() else { return };
        self.close_run(last);
    }

    /// Ends the run of data cells, which are alike in EFCI with `last`.
    #[inline(always)]
    pub fn close_run(self, last: &Cell) {
        self.delays.close();
        // Each takes the place of the one before.
        self.destination.on_data(last.efci());
    }
}

/// One end of a connection.
///
/// Fields that cells touch both as they arrive and as they leave come first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Endpoint {
    /// TCP, if there is any, and the supply is its adapter then; or what puts datagrams together.
    pub interface: Option<Box<Interface>>,
    /// The next transmission.
    pub transmits: Time,
    /// From then on, as many data cells leave one [spacing](ConnectionEnd::spacing) apart, unless something happens
    /// here. Zero: only the instant is known.
    pub planned: u32,
    /// How its cells get onto the access link.
    pub send_mode: SendMode,
    /// Source, destination, supply and counts.
    pub end: ConnectionEnd<Supply>,
}

impl Endpoint {
    pub fn new(end: ConnectionEnd<Supply>) -> Endpoint {
        Endpoint { end, transmits: Time::NEVER, planned: 0, send_mode: SendMode::Scheduled, interface: None }
    }

    /// A word of each cache line of it and its histogram ([`crate::kernel::windows::prefetch`]).
    #[inline]
    pub fn prefetch(&self) -> u64 {
        let end = &self.end;
        let sending = self.transmits.as_ps() ^ end.source().map_or(0, |source| source.spacing().as_ps());
        let delays = end.delays().map_or(0, Histogram::prefetch);
        delays ^ end.counts.data_sent ^ sending ^ end.pacer.integrated_until().as_ps()
    }

    /// The cell that leaves at `now`, the instant of the [next transmission](ConnectionEnd::next_transmission): there
    /// something waits, and unless it is a BRM it is data.
    #[inline(always)]
    pub fn transmit(&mut self, now: Time) -> Option<Cell> {
        if self.end.transmit_data(now) {
            return Some(self.data_cell(now));
        }
        self.transmit_other(now)
    }

    /// Anything but the common case: RM cells, and pacers that are not ABR's.
    #[inline(never)]
    fn transmit_other(&mut self, now: Time) -> Option<Cell> {
        match self.end.transmit(now)? {
            Emission::Data => {
                let cell = self.data_cell(now);
                Some(if self.end.pacer.marks(now, cell.ends_pdu()) { cell.tagged() } else { cell })
            }
            Emission::DataWithRm(rm) => Some(self.data_cell(now).carrying(rm.current_cell_rate)),
            Emission::ForwardRm(rm) | Emission::BackwardRm(rm) => Some(self.rm_cell(now, &rm)),
        }
    }

    /// An RM cell of this end.
    #[inline]
    fn rm_cell(&self, now: Time, rm: &RmCell) -> Cell {
        Cell::resource_management(now, rm).on_hop(self.end.first_hop as usize)
    }

    /// An OAM cell of this end.
    fn oam_cell(&self, now: Time, contents: LoopbackContents) -> Cell {
        Cell::oam(now, contents).on_hop(self.end.first_hop as usize)
    }

    #[inline(always)]
    fn data_cell(&mut self, now: Time) -> Cell {
        let ends_pdu = self.end.supply.take(now);
        if ends_pdu {
            self.note_frame_end();
        }
        Cell::data(now, self.end.counts.data_sent, ends_pdu).on_hop(self.end.first_hop as usize)
    }

    /// The last cell of a PDU has left; it may be that of a frame that calls for an FRM.
    #[inline]
    fn note_frame_end(&mut self) {
        if let (Supply::Frames(frames), Some(source)) = (&self.end.supply, self.end.pacer.source_mut())
            && frames.is_between_frames()
        {
            source.end_frame();
        }
    }

    /// Up to `count` cells of a source that has no feedback, from the one that leaves at `transmits` on, as far as they
    /// leave before `end`: each with its instant goes to `put`, and `transmits` is that of the one after them.
    pub fn send_ahead(&mut self, end: Time, count: usize, mut put: impl FnMut(Time, Cell)) {
        let Pacer::Peak { spacing, .. } = self.end.pacer else {
            unreachable!("ABR sources have feedback");
        };
        let (hop, mut number) = (self.end.first_hop as usize, self.end.counts.data_sent);
        let put = |at, ends_pdu| {
            number += 1;
            put(at, Cell::data(at, number, ends_pdu).on_hop(hop));
        };
        let pace = Pace { at: self.transmits, end, spacing, count };
        self.transmits = match &mut self.end.supply {
            // By far the most frequent ones.
            Supply::Common(CommonSupply::Generated(cells)) => pace.run(
                cells,
                |cells, from| cells.available_from(from),
                |cells, now| {
                    cells.take(now);
                    false
                },
                put,
            ),
            Supply::Common(CommonSupply::Video(video)) => pace.run(
                &mut **video,
                |video, from| video.available_from(from),
                |video, now| {
                    video.take(now);
                    false
                },
                put,
            ),
            other => pace.run(other, |supply, from| supply.available_from(from), Supply::take, put),
        };
        self.end.counts.data_sent = number;
    }

    /// The data cells that will leave one after the other, unless something arrives here, from `at` on, which is the
    /// [next transmission](ConnectionEnd::next_transmission): their spacing, how many, and whether the last one ends
    /// its PDU. None at all where that is not known so simply.
    pub fn run(&self, at: Time) -> (Duration, u32, bool) {
        let (spacing, allowed) = (self.end.pacer.spacing(), self.end.pacer.data_run(at));
        if allowed == 0 {
            return (Duration::ZERO, 0, false);
        }
        let (waiting, ends_pdu) = self.end.supply.run(at, spacing);
        (spacing, allowed.min(waiting), ends_pdu && waiting <= allowed)
    }

    /// Whether all that it sends before `until` is what it has planned: data cells, at the ACR of now.
    #[inline]
    pub fn sends_as_planned(&self, until: Time) -> bool {
        self.transmits.saturating_add(self.end.spacing().saturating_mul(self.planned.into())) >= until
    }

    /// The last data cell of a run of `count`, which leaves at `last`.
    pub fn planned_cell(&self, last: Time, count: u32, ends_pdu: bool) -> Cell {
        let number = self.end.counts.data_sent + u64::from(count);
        Cell::data(last, number, ends_pdu).on_hop(self.end.first_hop as usize)
    }

    /// `count` cells of a [run](Endpoint::run) have left, the last one at `last`.
    pub fn transmit_run(&mut self, count: u32, last: Time) {
        self.end.pacer.transmit_run(count, last);
        self.end.supply.take_run(count, last);
        self.end.counts.data_sent += u64::from(count);
    }

    /// How many rounds of a greedy source [leave whole](cellrate_proto::Source::whole_rounds) before `until`, where the
    /// next transmission begins one.
    pub fn whole_rounds(&self, until: Time) -> u32 {
        match (&self.end.supply, self.end.source()) {
            (Supply::Endless, Some(source)) => source.whole_rounds(self.transmits, until),
            _ => 0,
        }
    }

    /// So many rounds leave: of each, the FRM and the last data cell go to `put`. Returns when the last cell does.
    pub fn transmit_rounds(&mut self, rounds: u32, mut put: impl FnMut(Cell, Cell, u32)) -> Time {
        let (mut at, spacing) = (self.transmits, self.end.spacing());
        let Some(source) = self.end.pacer.source_mut() else { return at };
        let (frm, data) = (source.transmit_rounds(rounds, at), source.parameters().nrm - 1);
        for _ in 0..rounds {
            let last = at + spacing * u64::from(data);
            self.end.counts.count(RmCount::ForwardSent);
            put(self.rm_cell(at, &frm), self.planned_cell(last, data, false), data);
            self.end.counts.data_sent += u64::from(data);
            at = last + spacing;
        }
        Time::from_ps(at.as_ps() - spacing.as_ps())
    }

    /// `cell` will arrive, the next of its direction to do so, at the instant it is stamped with. What depends only on
    /// the order of cells is done now; returns what is left to do at that instant, if anything.
    #[inline(always)]
    pub fn receive(&mut self, cell: Cell) -> Option<Cell> {
        if cell.is_rm() {
            return Some(self.receive_rm(cell));
        }
        self.end.receive_data(cell.efci(), cell.arrives.since(cell.sent));
        let Some(interface) = &mut self.interface else {
            return (cell.ends_pdu() && self.end.supply.conversation().is_some()).then_some(cell);
        };
        if !interface.reassembly.on_cell(&cell) {
            return None;
        }
        interface.on_whole(cell)
    }

    /// For receiving data cells one after the other that are to be counted early: RM cells are not among them.
    #[inline(always)]
    pub fn receive_run(&mut self) -> EarlyReceiver<'_> {
        let (delays, destination) = self.end.receive_many();
        EarlyReceiver { delays, interface: self.interface.as_deref_mut(), destination }
    }

    /// Data cells amid their PDUs with numbers in order arrive after these `delays`: `first`, and others like it.
    #[inline(always)]
    pub fn receive_evenly(&mut self, first: &Cell, delays: &[Duration]) {
        let mut early = self.receive_run();
        delays.iter().for_each(|&delay| early.delays.record(delay));
        if let Some(interface) = &mut early.interface {
            interface.reassembly.on_run(first, delays.len() as u32);
        }
        early.close_run(first);
    }

    /// A forward cell takes the contents of its answer, but keeps DIR = 0 until its instant comes: that tells it from a
    /// backward one, which the source will obey.
    fn receive_rm(&mut self, cell: Cell) -> Cell {
        if cell.loopback().is_some() {
            return cell;
        }
        match cell.direction() {
            Direction::Backward => cell,
            Direction::Forward => {
                let answer = self.end.turn_around(cell.arrives, &cell.to_rm(self.end.mcr[1]));
                cell.answered_by(&answer)
            }
        }
    }

    /// The instant of a received RM cell has come: a BRM is obeyed, an answer waits for its turn. Returns a cell that
    /// leaves at once, out of rate.
    pub fn on_rm(&mut self, now: Time, cell: Cell) -> Option<Cell> {
        if cell.direction() == Direction::Backward {
            self.end.obey(now, &cell.to_rm(self.end.mcr[0]));
            return None;
        }
        let answer = RmCell { direction: Direction::Backward, ..cell.to_rm(self.end.mcr[1]) };
        let at_once = match cell.is_in_band() {
            true => self.end.answer_in_band(answer)?,
            false => self.end.answer(answer)?,
        };
        Some(self.rm_cell(now, &at_once))
    }

    /// The loopback request that leaves at `now`, if there is one.
    pub fn request_loopback(&mut self, now: Time) -> Option<Cell> {
        let contents = self.end.request_loopback(now)?;
        Some(self.oam_cell(now, contents))
    }

    /// A loopback cell has come at `now`: the reply that leaves at once, if it was a request.
    pub fn on_loopback(&mut self, now: Time, contents: LoopbackContents) -> Option<Cell> {
        let reply = self.end.on_loopback(now, contents)?;
        Some(self.oam_cell(now, reply))
    }

    /// The BRM that the destination sends when it has [one of its own](ConnectionEnd::next_report), at once.
    pub fn report(&mut self, now: Time) -> Option<Cell> {
        let brm = self.end.report(now)?;
        Some(self.rm_cell(now, &brm))
    }

    /// A call begins at `now`, and ends at `end`: the source begins anew, as one that has just been set up.
    pub fn begin_call(&mut self, now: Time, end: Time) {
        self.end.pacer.restart(now);
        if let Some(calls) = self.end.supply.calls_mut() {
            calls.begin(now, end);
        }
    }

    /// A copy of `cell` has been sent over the branch of a tree whose source this end stands for.
    pub fn count_copy(&mut self, cell: &Cell) {
        match cell.is_rm() {
            true => self.end.counts.count(RmCount::ForwardSent),
            false => self.end.counts.data_sent += 1,
        }
    }

    /// A BRM has come back from that branch.
    pub fn count_backward_rm(&mut self) {
        self.end.counts.count(RmCount::BackwardReceived);
    }

    /// A flow of a size begins at `now`, and TCP carries it: the source begins anew.
    pub fn begin_transfer(&mut self, now: Time, flow: SizedFlow) {
        self.begin_call(now, now);
        if let Some(interface) = &mut self.interface {
            interface.stack.begin_flow(flow);
        }
        self.pump(now);
    }

    /// Whether a flow of a size that begins here now would be by itself: the one before has nothing left to send, or,
    /// with TCP, to be acknowledged.
    pub fn is_free(&self) -> bool {
        self.end.supply.adapter().is_none_or(|adapter| adapter.waiting() == 0)
            && self.interface.as_ref().is_none_or(|interface| interface.stack.is_free())
    }

    /// A flow of a size begins at `now`: its datagrams wait, and the source begins anew.
    pub fn begin_flow(&mut self, now: Time, datagrams: FlowDatagrams) {
        self.begin_call(now, now);
        if let Some(adapter) = self.end.supply.adapter_mut() {
            adapter.on_time(now);
            adapter.begin_flow(datagrams);
        }
    }

    /// The last cell of a PDU has come; there may be more to send now. The flow of a size that is over with it.
    pub fn on_pdu(&mut self, now: Time, last: Cell, pdu: &Departed) -> Option<Over> {
        let mut over = None;
        if let Some(interface) = &mut self.interface {
            if !interface.reassembly.confirm(last.sequence(), pdu.cells) {
                return None;
            }
            if let Some(flows) = &mut interface.flows {
                return flows.on_segment(&pdu.segment);
            }
            if let Some(adapter) = self.end.supply.adapter_mut() {
                adapter
                    .requests
                    .drain(..)
                    .for_each(|(client, at)| interface.stack.on_request_departed(client, at));
            }
            over = interface.stack.on_segment(now, &pdu.segment, last.is_marked()).map(|flow| Over {
                flow,
                whole: true,
                count: 1,
            });
        }
        self.pump(now);
        over
    }

    /// A timer of TCP has expired; there may be more to send now.
    pub fn on_timer(&mut self, now: Time) {
        if let Some(interface) = &mut self.interface {
            interface.stack.on_timer(now);
        }
        self.pump(now);
    }

    /// All that TCP may send goes into the adapter's queue.
    fn pump(&mut self, now: Time) {
        let acr = self.end.source().map(|source| source.acr());
        let (Some(interface), Some(adapter)) = (&mut self.interface, self.end.supply.adapter_mut()) else {
            return;
        };
        adapter.on_time(now);
        if adapter.holds_back() {
            while let Some(segment) = interface.stack.poll_in_turn(now, adapter.takes_data()) {
                adapter.offer(segment);
            }
            return;
        }
        loop {
            while let Some(segment) = interface.stack.poll_transmit(now) {
                adapter.offer(segment);
            }
            if !(adapter.passes_acks() && interface.stack.pass_ack(now, acr)) {
                return;
            }
        }
    }

    /// A cell has left at `now`. Whether that has let TCP, held back until then, hand over more.
    #[inline]
    pub fn on_room(&mut self, now: Time) -> bool {
        let has_acks = || self.interface.as_ref().is_some_and(|interface| interface.stack.has_acks());
        let has_room = self.end.supply.adapter().is_some_and(|adapter| {
            adapter.holds_back() && adapter.takes_data()
                || adapter.holds_acks() && adapter.passes_acks() && has_acks()
        });
        if has_room {
            self.pump(now);
        }
        has_room
    }

    /// Statistics of bursts and of pages begin anew, and the largest queues of virtual sources and adapters.
    pub fn begin_statistics(&mut self) {
        match &mut self.end.supply {
            Supply::Common(CommonSupply::Relayed(queue)) => queue.begin_max(),
            Supply::Conversation(conversation) => conversation.begin_statistics(),
            Supply::Channels(channels) => channels.begin_statistics(),
            supply => {
                if let Some(adapter) = supply.adapter_mut() {
                    adapter.begin_max();
                }
            }
        }
        if let Some(interface) = &mut self.interface {
            interface.stack.begin_statistics();
        }
    }

    /// The warm-up is over at `now`: loopback counts begin anew.
    pub fn begin_loopback_anew(&mut self, now: Time) {
        if let Some(own) = &mut self.end.loopback {
            own.begin_anew(now);
        }
    }
}

/// Cells in a row without feedback.
struct Pace {
    /// When the first one leaves.
    at: Time,
    /// None leaves then or later.
    end: Time,
    /// The smallest time between two.
    spacing: Duration,
    /// How many, at most.
    count: usize,
}

impl Pace {
    /// `next` says when a cell waits, from an instant on; `take` takes it, and says whether it ends its PDU. Returns
    /// when the next one leaves.
    #[inline(always)]
    fn run<S>(
        self,
        supply: &mut S,
        next: impl Fn(&S, Time) -> Time,
        take: impl Fn(&mut S, Time) -> bool,
        mut put: impl FnMut(Time, bool),
    ) -> Time {
        let mut at = self.at;
        for _ in 0..self.count {
            if at >= self.end {
                break;
            }
            put(at, take(supply, at));
            at = next(supply, at.saturating_add(self.spacing));
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_takes_little_more_than_three_cache_lines() {
        assert!(size_of::<Endpoint>() <= 216);
    }
}
