//! One end of a connection: what it sends, and what it does with what arrives.

use cellrate_engine::histogram::{Histogram, Recording};
use cellrate_engine::loopback::{LoopbackContents, LoopbackEnd};
use cellrate_engine::pacer::Pacer;
use cellrate_proto::{CellRate, Destination, Direction, Duration, Emission, RateCode, RmCell, Source, Time};

use crate::cell::Cell;
use crate::stretch::Stretch;
use crate::traffic::Supply;
use crate::transport::{Departed, Interface, Over, Segment, SizedFlow};

/// Cells of the direction that an end sends, and RM cells of the one that it receives; data cells of that one are
/// counted with their delays.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Counters {
    /// RM cells by [`RmCount`], modulo 2^32.
    rm: [u32; 4],
    /// How often each count came to 2^32: 48 bits with the count. Every second cell at the highest PCR, for the 213
    /// days that time can be told, takes no more.
    rm_carried: [u16; 4],
    pub data_sent: u64,
}

/// Counters of RM cells at an end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RmCount {
    ForwardReceived,
    BackwardReceived,
    ForwardSent,
    BackwardSent,
}

impl Counters {
    /// One more.
    #[inline(always)]
    fn count(&mut self, what: RmCount) {
        let (sum, carries) = self.rm[what as usize].overflowing_add(1);
        self.rm[what as usize] = sum;
        if carries {
            self.carry(what);
        }
    }

    #[cold]
    fn carry(&mut self, what: RmCount) {
        self.rm_carried[what as usize] += 1;
    }

    /// How many RM cells.
    pub fn rm(&self, what: RmCount) -> u64 {
        u64::from(self.rm_carried[what as usize]) << u32::BITS | u64::from(self.rm[what as usize])
    }

    /// All cells sent.
    pub fn sent(&self) -> u64 {
        self.data_sent + self.rm(RmCount::ForwardSent) + self.rm(RmCount::BackwardSent)
    }
}

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
    /// Whether there is somebody who puts PDUs together.
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

    /// These were all.
    #[inline(always)]
    pub fn close(self, cells: &[Cell]) {
        let Some(last) = cells.last() else { return };
        self.close_run(last);
    }

    /// These were all, alike in EFCI with `last`.
    #[inline(always)]
    pub fn close_run(self, last: &Cell) {
        self.delays.close();
        // Each takes the place of the one before.
        self.destination.on_data(last.efci());
    }
}

/// One end of a connection.
///
/// What a cell that arrives touches comes first, then what those touch that leave. A large network has very many ends:
/// so they are small, and what few of them have is elsewhere.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Endpoint {
    /// Delays of the data cells of the other direction. `None` until there is one: most connections of a large network
    /// send data one way only.
    delays: Option<Box<Histogram>>,
    /// The destination of the other direction.
    destination: Destination,
    /// TCP, if there is any, and the supply is its adapter then; or what puts datagrams together.
    pub interface: Option<Box<Interface>>,
    pub counters: Counters,
    /// The next transmission.
    pub transmits: Time,
    /// From then on, as many data cells leave one [spacing](Endpoint::spacing) apart, unless something happens here.
    /// Zero: only the instant is known.
    pub planned: u32,
    /// The first hop of the direction that it sends.
    pub first_hop: u32,
    /// How its cells get onto the access link.
    pub send_mode: SendMode,
    /// MCR of the direction that it sends, and of the other.
    mcr: [RateCode; 2],
    pub supply: Supply,
    pub pacer: Pacer,
    /// OAM loopback, if the connection has any.
    pub loopback: Option<Box<LoopbackEnd>>,
}

impl Endpoint {
    pub fn new(
        pacer: Pacer,
        supply: Supply,
        destination: Destination,
        first_hop: u32,
        mcr: [CellRate; 2],
    ) -> Endpoint {
        Endpoint {
            pacer,
            supply,
            destination,
            first_hop,
            mcr: mcr.map(RateCode::floor),
            transmits: Time::NEVER,
            planned: 0,
            send_mode: SendMode::Scheduled,
            counters: Counters::default(),
            delays: None,
            interface: None,
            loopback: None,
        }
    }

    /// A word of each cache line of it and its histogram ([`crate::kernel::windows::prefetch`]).
    #[inline]
    pub fn prefetch(&self) -> u64 {
        let sending = self.transmits.as_ps() ^ self.source().map_or(0, |source| source.spacing().as_ps());
        let delays = self.delays.as_deref().map_or(0, Histogram::prefetch);
        delays ^ self.counters.data_sent ^ sending ^ self.pacer.integrated_until().as_ps()
    }

    /// When it sends next, not before `now`.
    #[inline(always)]
    pub fn next_transmission(&self, now: Time) -> Time {
        self.pacer.next_transmission(now, |from| self.supply.available_from(from))
    }

    /// The smallest time between two cells: between planned ones there is no other.
    #[inline(always)]
    pub fn spacing(&self) -> Duration {
        self.pacer.spacing()
    }

    /// Whether the next transmission may be a turned-around RM cell.
    #[inline]
    pub fn may_turn_around(&self) -> bool {
        self.source().is_some_and(Source::has_waiting_brm)
    }

    /// The cell that leaves at `now`, the instant of the [next transmission](Endpoint::next_transmission): there
    /// something waits, and unless it is a BRM it is data.
    #[inline(always)]
    pub fn transmit(&mut self, now: Time) -> Option<Cell> {
        if self.pacer.transmit_data(now) {
            return Some(self.data_cell(now));
        }
        self.transmit_other(now)
    }

    #[inline(always)]
    fn data_cell(&mut self, now: Time) -> Cell {
        let ends_pdu = self.supply.take(now);
        if ends_pdu {
            self.note_frame_end();
        }
        self.counters.data_sent += 1;
        Cell::data(now, self.counters.data_sent, ends_pdu).on_hop(self.first_hop as usize)
    }

    /// The last cell of a PDU has left; it may be that of a frame that calls for an FRM.
    #[inline]
    fn note_frame_end(&mut self) {
        if let (Supply::Frames(frames), Some(source)) = (&self.supply, self.pacer.source_mut())
            && frames.is_between_frames()
        {
            source.end_frame();
        }
    }

    /// Up to `count` cells of a source that has no feedback, from the one that leaves at `transmits` on, as far as they
    /// leave before `end`: each with its instant goes to `put`, and `transmits` is that of the one after them.
    pub fn send_ahead(&mut self, end: Time, count: usize, mut put: impl FnMut(Time, Cell)) {
        let Pacer::Peak { spacing, .. } = self.pacer else {
            unreachable!("ABR sources have feedback");
        };
        let (hop, mut number) = (self.first_hop as usize, self.counters.data_sent);
        let put = |at, ends_pdu| {
            number += 1;
            put(at, Cell::data(at, number, ends_pdu).on_hop(hop));
        };
        let pace = Pace { at: self.transmits, end, spacing, count };
        self.transmits = match &mut self.supply {
            // By far the most frequent one at a high rate.
            Supply::Video(video) => pace.run(
                &mut **video,
                |video, from| video.next().max(from),
                |video, _| {
                    video.take();
                    false
                },
                put,
            ),
            other => pace.run(other, |supply, from| supply.available_from(from), Supply::take, put),
        };
        self.counters.data_sent = number;
    }

    /// The data cells that will leave one after the other, from the [next transmission](Endpoint::next_transmission) at
    /// `at` on, unless something arrives here: their spacing, how many, and whether the last one ends its PDU. None at
    /// all where that is not known so simply.
    pub fn run(&self, at: Time) -> (Duration, u32, bool) {
        let (spacing, allowed) = (self.pacer.spacing(), self.pacer.data_run(at));
        if allowed == 0 {
            return (Duration::ZERO, 0, false);
        }
        let (waiting, ends_pdu) = self.supply.run(at, spacing);
        (spacing, allowed.min(waiting), ends_pdu && waiting <= allowed)
    }

    /// Whether all that it sends before `until` is what it has planned: data cells, at the ACR of now.
    #[inline]
    pub fn sends_as_planned(&self, until: Time) -> bool {
        self.transmits.saturating_add(self.spacing().saturating_mul(self.planned.into())) >= until
    }

    /// The last data cell of a run of `count`, which leaves at `last`.
    pub fn planned_cell(&self, last: Time, count: u32, ends_pdu: bool) -> Cell {
        let number = self.counters.data_sent + u64::from(count);
        Cell::data(last, number, ends_pdu).on_hop(self.first_hop as usize)
    }

    /// `count` cells of a [run](Endpoint::run) have left, the last one at `last`.
    pub fn transmit_run(&mut self, count: u32, last: Time) {
        self.pacer.transmit_run(count, last);
        self.supply.take_run(count, last);
        self.counters.data_sent += u64::from(count);
    }

    /// Anything but the common case: RM cells, and pacers that are not ABR's.
    #[inline(never)]
    fn transmit_other(&mut self, now: Time) -> Option<Cell> {
        let data_waiting = self.supply.available_from(now) <= now;
        let emission = self.pacer.transmit(now, data_waiting, |acr| self.supply.on_acr(now, acr));
        let rm = match emission? {
            Emission::Data => return Some(self.data_cell(now)),
            Emission::ForwardRm(rm) => {
                self.counters.count(RmCount::ForwardSent);
                rm
            }
            Emission::BackwardRm(rm) => {
                self.counters.count(RmCount::BackwardSent);
                rm
            }
        };
        Some(Cell::resource_management(now, &rm).on_hop(self.first_hop as usize))
    }

    /// `cell` will arrive, the next of its direction to do so, at the instant it is stamped with. What depends only on
    /// the order of cells is done now; returns what is left to do at that instant, if anything.
    #[inline(always)]
    pub fn receive(&mut self, cell: Cell) -> Option<Cell> {
        if cell.is_rm() {
            return Some(self.receive_rm(cell));
        }
        self.destination.on_data(cell.efci());
        self.delays.get_or_insert_default().record(cell.arrives.since(cell.sent));
        let interface = self.interface.as_mut()?;
        if !interface.reassembly.on_cell(&cell) {
            return None;
        }
        interface.on_whole(cell)
    }

    /// For receiving data cells one after the other that are to be counted early: RM cells are not among them.
    #[inline(always)]
    pub fn receive_run(&mut self) -> EarlyReceiver<'_> {
        EarlyReceiver {
            delays: self.delays.get_or_insert_default().recording(),
            interface: self.interface.as_deref_mut(),
            destination: &mut self.destination,
        }
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
                self.destination.on_time(cell.arrives);
                let answer = self.destination.turn_around(&cell.to_rm(self.mcr[1]));
                cell.answered_by(&answer)
            }
        }
    }

    /// The instant of a received RM cell has come: a BRM is obeyed, an answer waits for its turn. Returns a cell that
    /// leaves at once, out of rate.
    pub fn on_rm(&mut self, now: Time, cell: Cell) -> Option<Cell> {
        if cell.direction() == Direction::Backward {
            let rm = cell.to_rm(self.mcr[0]);
            self.pacer.on_backward_rm(now, &rm, |acr| self.supply.on_acr(now, acr));
            self.counters.count(RmCount::BackwardReceived);
            return None;
        }
        let Some(source) = self.pacer.source_mut() else {
            unreachable!("only ABR connections have RM cells");
        };
        self.counters.count(RmCount::ForwardReceived);
        let answer = RmCell { direction: Direction::Backward, ..cell.to_rm(self.mcr[1]) };
        let at_once = self.destination.schedule(answer, source)?;
        self.counters.count(RmCount::BackwardSent);
        Some(Cell::resource_management(now, &at_once).on_hop(self.first_hop as usize))
    }

    /// The first instant from `now` on at which the destination has a BRM of its own to send (destination rule 5).
    pub fn next_report(&self, now: Time) -> Time {
        self.destination.next_origination(now)
    }

    /// The first instant from `now` on at which a loopback request or such a BRM leaves.
    pub fn next_unasked(&self, now: Time) -> Time {
        self.loopback.as_ref().map_or(Time::NEVER, |own| own.next()).min(self.next_report(now))
    }

    /// The loopback request that leaves at `now`, if there is one: at once, beside what the source sends.
    pub fn request_loopback(&mut self, now: Time) -> Option<Cell> {
        let contents = self.loopback.as_mut()?.request(now)?;
        Some(Cell::oam(now, contents).on_hop(self.first_hop as usize))
    }

    /// A loopback cell has come at `now`: the reply that leaves at once, if it was a request.
    pub fn on_loopback(&mut self, now: Time, contents: LoopbackContents) -> Option<Cell> {
        let reply = self.loopback.as_mut()?.receive(now, contents)?;
        Some(Cell::oam(now, reply).on_hop(self.first_hop as usize))
    }

    /// Cells sent, OAM cells among them.
    pub fn sent(&self) -> u64 {
        self.counters.sent() + self.loopback.as_ref().map_or(0, |own| own.sent)
    }

    /// That instant has come: the BRM leaves at once, out of rate.
    pub fn report(&mut self, now: Time) -> Option<Cell> {
        self.destination.on_time(now);
        let brm = self.destination.originate(now, self.mcr[1].rate())?;
        self.counters.count(RmCount::BackwardSent);
        Some(Cell::resource_management(now, &brm).on_hop(self.first_hop as usize))
    }

    /// A call begins at `now`, and ends at `end`: the source begins anew, as one that has just been set up.
    pub fn begin_call(&mut self, now: Time, end: Time) {
        self.pacer.restart(now);
        if let Some(calls) = self.supply.calls_mut() {
            calls.begin(now, end);
        }
    }

    /// A copy of `cell` has been sent over the branch of a tree whose source this end stands for.
    pub fn count_copy(&mut self, cell: &Cell) {
        match cell.is_rm() {
            true => self.counters.count(RmCount::ForwardSent),
            false => self.counters.data_sent += 1,
        }
    }

    /// A BRM has come back from that branch.
    pub fn count_backward_rm(&mut self) {
        self.counters.count(RmCount::BackwardReceived);
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
        self.supply.adapter().is_none_or(|adapter| adapter.waiting() == 0)
            && self.interface.as_ref().is_none_or(|interface| interface.stack.is_free())
    }

    /// A flow of a size begins at `now`: its datagrams wait, and the source begins anew.
    pub fn begin_flow(&mut self, now: Time, datagrams: impl Iterator<Item = Segment>) {
        self.begin_call(now, now);
        if let Some(adapter) = self.supply.adapter_mut() {
            adapter.on_time(now);
            datagrams.for_each(|datagram| adapter.offer(datagram));
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
            if let Some(adapter) = self.supply.adapter_mut() {
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
        let (Some(interface), Some(adapter)) = (&mut self.interface, self.supply.adapter_mut()) else {
            return;
        };
        adapter.on_time(now);
        if adapter.holds_back() {
            while let Some(segment) = interface.stack.poll_in_turn(now, adapter.takes_data()) {
                adapter.offer(segment);
            }
            return;
        }
        let acr = self.pacer.source().map(|source| source.acr());
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
        let has_room = self.supply.adapter().is_some_and(|adapter| {
            adapter.holds_back() && adapter.takes_data()
                || adapter.holds_acks() && adapter.passes_acks() && has_acks()
        });
        if has_room {
            self.pump(now);
        }
        has_room
    }

    /// The destination of the other direction.
    pub fn destination_mut(&mut self) -> &mut Destination {
        &mut self.destination
    }

    /// Data cells of the other direction that have arrived.
    pub fn data_delivered(&self) -> u64 {
        self.delays.as_deref().map_or(0, Histogram::total)
    }

    /// Delays of the data cells of the other direction, if there was one.
    pub fn delays(&self) -> Option<&Histogram> {
        self.delays.as_deref()
    }

    /// Delays of the data cells of the other direction, to end an interval of theirs.
    pub fn delays_mut(&mut self) -> Option<&mut Histogram> {
        self.delays.as_deref_mut()
    }

    /// Takes them: nothing is known of data cells of the other direction any more.
    pub fn take_delays(&mut self) -> Option<Box<Histogram>> {
        self.delays.take()
    }

    /// Cells of the other direction that have arrived.
    pub fn delivered(&self) -> u64 {
        let rm = |what| self.counters.rm(what);
        let oam = self.loopback.as_ref().map_or(0, |own| own.received);
        self.data_delivered() + rm(RmCount::ForwardReceived) + rm(RmCount::BackwardReceived) + oam
    }

    /// The ABR source, if there is one.
    pub fn source(&self) -> Option<&Source> {
        self.pacer.source()
    }

    /// The least and the largest delay and the integral of ACR begin anew at `now`.
    pub fn begin_maxima(&mut self, now: Time) {
        self.pacer.begin_integral(now);
        if let Some(delays) = &mut self.delays {
            delays.begin_extremes();
        }
    }

    /// Statistics of bursts and of pages begin anew, and the largest queues of virtual sources and adapters.
    pub fn begin_statistics(&mut self) {
        match &mut self.supply {
            Supply::Relayed(queue) => queue.begin_max(),
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
        if let Some(own) = &mut self.loopback {
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

    #[test]
    fn rm_cells_are_counted_beyond_32_bits() {
        let mut counters =
            Counters { data_sent: 5, rm: [0, 9, u32::MAX, u32::MAX], rm_carried: [0, 0, 3, 0] };
        for what in [RmCount::ForwardSent, RmCount::BackwardSent, RmCount::BackwardReceived] {
            counters.count(what);
        }
        let all = [
            RmCount::ForwardReceived,
            RmCount::BackwardReceived,
            RmCount::ForwardSent,
            RmCount::BackwardSent,
        ];
        assert_eq!(all.map(|what| counters.rm(what)), [0, 10, 4 << 32, 1 << 32]);
        assert_eq!(counters.sent(), (5 << 32) + 5);
    }

    #[test]
    fn an_end_where_no_data_arrives_has_no_histogram() {
        let pacer = Pacer::Peak { spacing: Duration::from_us(10), earliest: Time::ZERO };
        let mut end = Endpoint::new(pacer, Supply::Nothing, Destination::default(), 0, [CellRate::ZERO; 2]);
        assert!(end.delays().is_none() && end.data_delivered() == 0);
        let arrives = Time::ZERO + Duration::from_ms(3);
        assert!(end.receive(Cell::data(Time::ZERO, 1, false).arriving(arrives)).is_none());
        assert_eq!((end.delays().and_then(Histogram::max_s), end.data_delivered()), (Some(0.003), 1));
    }
}
