//! The queue of PDUs at the sending end of a VC: IP's packets on their way to become cells.

use std::collections::{BTreeMap, VecDeque};

use cellrate_engine::processing::ProcessingTimes;
use cellrate_proto::wire::{Encapsulation, cells_for};
use cellrate_proto::{Cells, Duration, Octets, Time};
use cellrate_scenario::{AdapterQueue, TcpTraffic};

use super::flows::FlowDatagrams;
use super::pdus::Pdus;
use super::segment::Segment;

/// Segments that wait for their turn, cell by cell, and those that have left.
#[derive(Clone, Debug)]
pub struct Adapter {
    header: Octets,
    encapsulation: Encapsulation,
    limit: AdapterQueue,
    waiting: Pdus,
    /// Datagrams of a flow that wait behind those: each is made when the one before it has left.
    flow: Option<Box<FlowDatagrams>>,
    /// Cells of the first one that have not left.
    left_of_first: u32,
    waiting_cells: u64,
    max_cells: u64,
    sent_cells: u64,
    dropped: u64,
    accepted: u64,
    /// Whether the next cell is the first of a request.
    begins_request: bool,
    /// Time that the first line takes for a cell.
    cell_time: Duration,
    /// Time that the host takes for each PDU, if it takes any.
    processing: Option<Box<ProcessingTimes>>,
    /// The instant of the next offer.
    now: Time,
    /// When the last bit of the last PDU that left whole has left.
    free: Time,
    /// When the first one may leave.
    ready: Time,
    /// Requests whose first cell has left: the client's number, and when the last bit of that cell had.
    pub requests: Vec<(u16, Time)>,
    /// When the last bit of the last segment of each response that is noted had left, by client and response.
    pub responses: BTreeMap<(u16, u32), Time>,
    /// Segments that have left, for the far end to pick up: the simulator's cells carry numbers, not octets.
    pub departed: VecDeque<Departed>,
    /// Segments offered since it was last emptied, where that is asked for.
    pub journal: Option<Vec<Offered>>,
}

/// A PDU that was taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Its number among the PDUs taken in, counted from 0.
    pub number: u64,
    /// The numbers of its first and last cell among the data cells of the direction, counted from 1.
    pub first_cell: u64,
    /// See [`Offered::first_cell`].
    pub last_cell: u64,
    /// Segment that the PDU carries.
    pub segment: Segment,
}

/// A PDU that has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departed {
    /// The number of its last cell among the data cells of the direction, counted from 1.
    pub last_cell: u64,
    /// How many it has.
    pub cells: u32,
    /// Segment that the PDU carries.
    pub segment: Segment,
}

impl Adapter {
    /// An empty one. `header` is what TCP and IP put before the payload, `cell_time` what the first line takes for a
    /// cell.
    pub fn new(
        header: Octets,
        encapsulation: Encapsulation,
        limit: AdapterQueue,
        cell_time: Duration,
    ) -> Adapter {
        Adapter {
            header,
            encapsulation,
            limit,
            waiting: Pdus::default(),
            flow: None,
            left_of_first: 0,
            waiting_cells: 0,
            max_cells: 0,
            sent_cells: 0,
            dropped: 0,
            accepted: 0,
            begins_request: false,
            cell_time,
            processing: None,
            now: Time::ZERO,
            free: Time::ZERO,
            ready: Time::ZERO,
            requests: Vec::new(),
            responses: BTreeMap::new(),
            departed: VecDeque::new(),
            journal: None,
        }
    }

    /// The adapter at a host that takes these times for PDUs.
    pub fn with_processing(mut self, processing: Option<ProcessingTimes>) -> Adapter {
        self.processing = processing.map(Box::new);
        self
    }

    /// Sets the instant of all segments that are offered from here on to `now`.
    #[inline]
    pub fn on_time(&mut self, now: Time) {
        self.now = now;
    }

    /// When the first cell that waits may leave at the earliest.
    #[inline]
    pub fn ready(&self) -> Time {
        self.ready
    }

    /// The host turns to the PDU that is the first one now.
    #[inline]
    fn process(&mut self, from: Time) {
        if let Some(processing) = &mut self.processing {
            self.ready = from.saturating_add(processing.draw());
        }
    }

    /// Takes a segment in, if there is room for all of it; else it is lost.
    pub fn offer(&mut self, segment: Segment) {
        let cells = cells_for(segment.packet(self.header), self.encapsulation).0;
        let fits = match self.limit {
            AdapterQueue::Unbounded
            | AdapterQueue::HighWater(_)
            | AdapterQueue::HoldAcks(_)
            | AdapterQueue::Window(_) => true,
            AdapterQueue::Cells(Cells(room)) => self.waiting_cells + cells <= room,
            AdapterQueue::Pdus(room) => self.waiting.len() < room,
        };
        if !fits {
            self.dropped += 1;
            return;
        }
        let is_first = self.waiting.len() == 0;
        self.take_in(segment, cells, self.sent_cells + self.waiting_cells);
        self.waiting_cells += cells;
        self.max_cells = self.max_cells.max(self.waiting_cells);
        if is_first {
            self.turn_to_first(self.now.max(self.free));
        }
    }

    /// Takes all datagrams of a flow in, where nothing waits.
    pub fn begin_flow(&mut self, flow: FlowDatagrams) {
        debug_assert_eq!(self.waiting_cells, 0, "a slot has one flow at a time");
        self.waiting_cells = flow.cells().0;
        self.max_cells = self.max_cells.max(self.waiting_cells);
        self.flow = Some(Box::new(flow));
        self.make_datagram();
        self.turn_to_first(self.now.max(self.free));
    }

    /// Makes the next datagram of the flow that is under way, if it has one.
    fn make_datagram(&mut self) {
        let Some(segment) = self.flow.as_mut().and_then(|flow| flow.next()) else {
            self.flow = None;
            return;
        };
        let cells = cells_for(segment.packet(self.header), self.encapsulation).0;
        self.take_in(segment, cells, self.sent_cells);
    }

    /// A segment waits from now on, behind the `before` cells that had left or waited.
    #[inline]
    fn take_in(&mut self, segment: Segment, cells: u64, before: u64) {
        if let Some(journal) = &mut self.journal {
            let (first_cell, last_cell) = (before + 1, before + cells);
            journal.push(Offered { number: self.accepted, first_cell, last_cell, segment: segment.clone() });
        }
        self.accepted += 1;
        self.waiting.push(segment, cells as u32);
    }

    /// The first PDU of the queue is the next to leave, and the host turns to it at `from`.
    #[inline]
    fn turn_to_first(&mut self, from: Time) {
        if let Some((segment, cells)) = self.waiting.first() {
            self.left_of_first = cells;
            self.begins_request = segment.begins_request();
            self.process(from);
        }
    }

    /// The one at either end of a VC with this TCP.
    pub fn of(traffic: &TcpTraffic, cell_time: Duration) -> Adapter {
        Adapter::new(traffic.tcp.header, traffic.encapsulation, traffic.adapter_queue, cell_time)
    }

    /// Whether TCP may hand over its next data now. Only a high-water mark says no.
    #[inline]
    pub fn takes_data(&self) -> bool {
        match self.limit {
            AdapterQueue::HighWater(Cells(mark)) => self.waiting_cells < mark,
            _ => true,
        }
    }

    /// Whether a cell that leaves may let TCP hand over data.
    #[inline]
    pub fn holds_back(&self) -> bool {
        matches!(self.limit, AdapterQueue::HighWater(_))
    }

    /// Whether ACKs may pass now. Only a mark that holds them says no.
    #[inline]
    pub fn passes_acks(&self) -> bool {
        match self.limit {
            AdapterQueue::HoldAcks(Cells(mark)) => self.waiting_cells < mark,
            _ => true,
        }
    }

    /// Whether a cell that leaves may let ACKs pass.
    #[inline]
    pub fn holds_acks(&self) -> bool {
        matches!(self.limit, AdapterQueue::HoldAcks(_))
    }

    /// Cells that have not left.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting_cells
    }

    /// A cell leaves at `now`; whether it is the last of its PDU.
    #[inline]
    pub fn take(&mut self, now: Time) -> bool {
        if self.begins_request {
            self.note_request(now);
        }
        self.waiting_cells -= 1;
        self.sent_cells += 1;
        self.left_of_first -= 1;
        if self.left_of_first > 0 {
            return false;
        }
        if let Some((segment, cells)) = self.waiting.pop() {
            if let Some(response) = segment.answers() {
                self.responses.insert((segment.connection, response), now.saturating_add(self.cell_time));
            }
            self.departed.push_back(Departed { last_cell: self.sent_cells, cells, segment });
        }
        self.left_of_first = 0;
        self.free = now.saturating_add(self.cell_time);
        if self.flow.is_some() {
            self.make_datagram();
        }
        self.turn_to_first(self.free);
        true
    }

    /// Cells left of the first PDU that have no consequences before the last of them leaves.
    pub fn run(&self) -> u32 {
        if self.begins_request { 0 } else { self.left_of_first }
    }

    /// `count` cells of a [run](Adapter::run) have left, the last one at `last`.
    pub fn take_run(&mut self, count: u32, last: Time) {
        let plain = count.min(self.left_of_first.saturating_sub(1));
        self.waiting_cells -= u64::from(plain);
        self.sent_cells += u64::from(plain);
        self.left_of_first -= plain;
        if plain < count {
            self.take(last);
        }
    }

    #[cold]
    fn note_request(&mut self, now: Time) {
        self.begins_request = false;
        if let Some((segment, _)) = self.waiting.first() {
            self.requests.push((segment.connection, now.saturating_add(self.cell_time)));
        }
    }

    /// PDUs taken in so far.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// PDUs lost for want of room.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The most that have waited is counted anew, from those that wait now.
    pub fn begin_max(&mut self) {
        self.max_cells = self.waiting_cells;
    }

    /// The most cells that have waited.
    pub fn max_waiting(&self) -> Cells {
        Cells(self.max_cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Contents, Packet, Sequence, SizedFlow, Span};
    use cellrate_scenario::{Datagrams, Document, FlowIndex, Processing, Scenario};

    fn segment(octets: u64) -> Segment {
        Segment::plain(0, Contents::Data(Span { from: Sequence(0), to: Sequence(octets) }))
    }

    /// A network of two hosts, the first of which takes so long for each PDU.
    fn fixed_processing(time: Duration) -> Scenario {
        let text = "name = \"t\"\nduration = \"1 s\"\nhost = [{ name = \"a\" }, { name = \"b\" }]\n\
            link = [{ between = [\"a\", \"b\"], rate = \"100 Mbps\", length = \"1 km\" }]\n\
            vc = [{ name = \"v\", path = [\"a\", \"b\"] }]\n";
        let mut scenario = Document::parse(text, "t").and_then(|document| document.resolve()).unwrap();
        scenario.hosts[0].processing = Processing::Fixed(time);
        scenario
    }

    fn adapter(limit: AdapterQueue) -> Adapter {
        Adapter::new(Octets(40), Encapsulation::VcMultiplexed, limit, Duration::from_us(3))
    }

    #[test]
    fn the_last_cell_of_each_pdu_is_marked() {
        // 100 + 48 octets are 4 cells, 1 + 48 are 2.
        let mut adapter = adapter(AdapterQueue::Unbounded);
        adapter.offer(segment(100));
        adapter.offer(segment(1));
        assert_eq!(adapter.waiting(), 6);
        let ends: Vec<bool> = (0..6).map(|_| adapter.take(Time::ZERO)).collect();
        assert_eq!(ends, [false, false, false, true, false, true]);
        let numbers: Vec<u64> = adapter.departed.iter().map(|departed| departed.last_cell).collect();
        assert_eq!((numbers, adapter.waiting()), (vec![4, 6], 0));
    }

    #[test]
    fn a_run_of_cells_leaves_as_one_by_one() {
        for run in 1..=4 {
            let (mut at_once, mut one_by_one) =
                (adapter(AdapterQueue::Unbounded), adapter(AdapterQueue::Unbounded));
            for adapter in [&mut at_once, &mut one_by_one] {
                adapter.offer(segment(100));
                adapter.offer(segment(1));
            }
            assert_eq!(at_once.run(), 4);
            at_once.take_run(run, Time::ZERO);
            (0..run).for_each(|_| _ = one_by_one.take(Time::ZERO));
            assert_eq!(at_once.departed, one_by_one.departed);
            assert_eq!((at_once.waiting(), at_once.run()), (one_by_one.waiting(), one_by_one.run()));
        }
    }

    /// A flow of so many octets in datagrams of 100, as the third of its slot.
    fn flow(octets: u64) -> FlowDatagrams {
        let (arrived, begins, alone) = (Time::ZERO, Time::ZERO, Duration::ZERO);
        let flow = SizedFlow { demand: 0, arrived, begins, octets: Octets(octets), alone };
        let (header, encapsulation) = (Octets(40), Encapsulation::VcMultiplexed);
        FlowDatagrams::new(flow, 3, 1000, Datagrams { payload: Octets(100), header, encapsulation })
    }

    #[test]
    fn datagrams_of_a_flow_are_made_in_turn_and_leave_as_if_all_had_been_there() {
        for octets in [1, 100, 250, 400] {
            let (mut in_turn, mut at_once) =
                (adapter(AdapterQueue::Unbounded), adapter(AdapterQueue::Unbounded));
            for adapter in [&mut in_turn, &mut at_once] {
                adapter.journal = Some(Vec::new());
                adapter.offer(segment(1));
                (0..2).for_each(|_| _ = adapter.take(Time::ZERO));
                adapter.on_time(Time::ZERO + Duration::from_us(50));
            }
            in_turn.begin_flow(flow(octets));
            flow(octets).for_each(|datagram| at_once.offer(datagram));
            let cells = at_once.waiting();
            for left in 0..cells {
                assert_eq!((in_turn.waiting(), in_turn.run()), (at_once.waiting(), at_once.run()), "{left}");
                let at = Time::ZERO + Duration::from_us(100 + left);
                assert_eq!(in_turn.take(at), at_once.take(at));
            }
            assert_eq!((&in_turn.departed, &in_turn.journal), (&at_once.departed, &at_once.journal));
            let state = |adapter: &Adapter| (adapter.accepted(), adapter.max_waiting(), adapter.waiting());
            assert_eq!(state(&in_turn), state(&at_once));
        }
    }

    #[test]
    fn a_flow_of_terabytes_takes_the_place_of_one_datagram() {
        let mut adapter = adapter(AdapterQueue::Unbounded);
        adapter.begin_flow(flow(1 << 43));
        assert_eq!((adapter.waiting.len(), adapter.waiting()), (1, flow(1 << 43).cells().0));
        (0..8).for_each(|_| _ = adapter.take(Time::ZERO));
        assert_eq!((adapter.waiting.len(), adapter.departed.len()), (1, 2));
    }

    #[test]
    fn a_host_takes_its_time_for_each_pdu() {
        // 4 us for each; a cell is 3 us on the line. 2 cells of the first leave at 14 and 17 us, the last bit at 20.
        let scenario = fixed_processing(Duration::from_us(4));
        let at = |us| Time::ZERO + Duration::from_us(us);
        let mut adapter =
            adapter(AdapterQueue::Unbounded).with_processing(ProcessingTimes::of(&scenario, FlowIndex(0)));
        adapter.on_time(at(10));
        (0..2).for_each(|_| adapter.offer(segment(1)));
        assert_eq!(adapter.ready(), at(14));
        adapter.take(at(14));
        assert!(adapter.take(at(17)));
        assert_eq!(adapter.ready(), at(24));
        adapter.take_run(2, at(27));
        adapter.on_time(at(28));
        adapter.offer(segment(1));
        assert_eq!(adapter.ready(), at(34), "the line is free from 30 us on");
    }

    #[test]
    fn a_pdu_that_does_not_fit_whole_is_lost_whole() {
        let mut by_cells = adapter(AdapterQueue::Cells(Cells(7)));
        (0..3).for_each(|_| by_cells.offer(segment(100)));
        assert_eq!((by_cells.accepted(), by_cells.dropped(), by_cells.waiting()), (1, 2, 4));
        by_cells.take(Time::ZERO);
        by_cells.offer(segment(100));
        assert_eq!((by_cells.accepted(), by_cells.waiting()), (2, 7), "3 left and 4 are exactly 7");
        let mut by_pdus = adapter(AdapterQueue::Pdus(2));
        (0..3).for_each(|_| by_pdus.offer(segment(100)));
        assert_eq!((by_pdus.accepted(), by_pdus.dropped(), by_pdus.max_waiting()), (2, 1, Cells(8)));
        (0..4).for_each(|_| _ = by_pdus.take(Time::ZERO));
        by_pdus.offer(segment(100));
        assert_eq!(by_pdus.accepted(), 3, "the first has left whole");
    }

    #[test]
    fn a_high_water_mark_holds_data_back_and_loses_nothing() {
        let mut adapter = adapter(AdapterQueue::HighWater(Cells(3)));
        assert!(adapter.holds_back() && adapter.takes_data());
        adapter.offer(segment(100));
        assert!(!adapter.takes_data(), "four cells wait");
        adapter.offer(segment(100));
        assert_eq!((adapter.accepted(), adapter.dropped(), adapter.waiting()), (2, 0, 8), "an ACK goes in");
        for left in [7, 6, 5, 4, 3] {
            adapter.take(Time::ZERO);
            assert!(!adapter.takes_data(), "{left}");
        }
        adapter.take(Time::ZERO);
        assert!(adapter.takes_data(), "two wait");
    }

    #[test]
    fn the_first_cell_of_a_request_is_noted_when_its_last_bit_has_left() {
        let at = |us| Time::ZERO + Duration::from_us(us);
        let data = Some(Span { from: Sequence(0), to: Sequence(100) });
        let request = |begins_request| {
            Segment::plain(2, Contents::Duplex(Box::new(Packet { data, begins_request, ..Packet::empty(0) })))
        };
        let mut adapter = adapter(AdapterQueue::Unbounded);
        for segment in [segment(100), request(true), request(false)] {
            adapter.offer(segment);
        }
        (0..12).for_each(|n| _ = adapter.take(at(10 * n)));
        // Four cells before it; 3 us on the line.
        assert_eq!(adapter.requests, [(2, at(43))]);
        adapter.offer(request(true));
        adapter.take(at(200));
        assert_eq!(adapter.requests[1], (2, at(203)), "in an empty queue, too");
    }
}
