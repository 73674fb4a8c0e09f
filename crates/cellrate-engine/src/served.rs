//! The queues of an output port whose every departure is an event, and what it does with the cells in them.
//!
//! Service is by strict priority, or as the [queues](WaitingCells) of a port with others say, and not pre-emptive; RM
//! cells may have a queue of their own. On a line that was idle the turn is given when all that comes at that instant
//! has come: it is decided as soon as anything happens later. A data cell is marked with EFCI when its transmission
//! begins, by the ABR queue with that cell still in it; an IP packet when its first cell comes, by the queue that it
//! finds. Of what is lost frame discard may decide.

use cellrate_proto::switch::{Found, PacketMarking, PduCell, PortControl, Slot};
use cellrate_proto::{Cells, Duration, Time};
use cellrate_scenario::{Port as Config, Queueing, RmCells};

use crate::frame_discards::FrameDiscards;
use crate::line::{Line, Transmission};
use crate::priority::{ABR, GUARANTEED, PRIORITIES};
use crate::random::Random;
use crate::ring::Ring;
use crate::set_up::PartsOfPort;
use crate::waiting::WaitingCells;

/// A cell, as far as an output port looks at it.
pub trait PortCell: Copy {
    /// Whether it is an RM cell.
    fn is_rm(&self) -> bool;

    /// Whether it carries user data.
    fn is_data(&self) -> bool;

    /// CLP.
    fn clp(&self) -> bool;

    /// Whether it is a data cell that ends a PDU.
    fn ends_pdu(&self) -> bool;

    /// EFCI := 1, in a data cell.
    fn mark_efci(&mut self);

    /// Marks the packet that the cell, a data cell, is part of.
    fn mark_packet(&mut self);

    /// Notes that its last bit reaches the far end of the line at `at`.
    fn arrive_at(&mut self, at: Time);
}

/// Outcome for a cell that came to a served port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It found no room, or its PDU is discarded.
    Lost,
    /// It waits, or is being transmitted; if given, the port's next departure has become this.
    Queued(Option<Time>),
}

/// State of the line behind a port.
#[derive(Clone, Copy, Debug)]
enum OnLine<C> {
    /// Nothing is transmitted.
    Nothing,
    /// A cell has come to an idle line; whose turn it is will be decided as soon as anything happens later.
    Undecided,
    /// A cell of this priority is in transmission.
    Cell(usize, C),
}

/// Queues of an output port by priority, the cell in transmission, and the line that it is on.
#[derive(Clone, Debug)]
pub struct Served<C> {
    waiting: [Ring<C>; PRIORITIES],
    /// RM cells, where they do not wait among the data cells.
    waiting_rm: Ring<C>,
    rm_cells: RmCells,
    /// All cells that wait, where queues are not one for each priority, the first priority first.
    fair: Option<Box<WaitingCells<C>>>,
    on_line: OnLine<C>,
    /// When the transmission on the line began, later by all time for which it stood still.
    began: Time,
    /// When it will have ended; without one, when the first cell that is held back may leave.
    departs: Time,
    /// Cells waiting and in transmission, by priority, and all together.
    lengths: [u64; PRIORITIES],
    length: u64,
    room: [u64; PRIORITIES],
    shared_room: u64,
    /// For cells with CLP = 1, of all cells that leave before them.
    tagged_room: u64,
    /// Whether the categories take turns by weight: then none leaves before another.
    by_weight: bool,
    /// Cells that it had none for.
    tagged_dropped: u64,
    frame_discards: Option<Box<FrameDiscards>>,
    /// Marking of packets, and random numbers for it.
    marking: Option<Box<(PacketMarking<PRIORITIES>, Random)>>,
    line: Line,
    transmitted: u64,
    /// Time of all transmissions that have ended \[ps\].
    busy_ps: u64,
    max_total: u64,
    max_lengths: [u64; PRIORITIES],
    /// Integral of the total queue up to `integrated_until` [cells * ps].
    integral: u128,
    integrated_until: Time,
}

impl<C: PortCell> Served<C> {
    /// Time of one cell on the line.
    pub fn cell_time(&self) -> Duration {
        self.line.cell_time
    }

    /// A port before this line, configured so; nothing has come. `marks` is for packets that are marked by chance.
    pub fn new(
        line: Line,
        config: &Config,
        frame_discards: Option<FrameDiscards>,
        marks: Random,
    ) -> Served<C> {
        let buffers = &config.buffers;
        let limit = |buffer: Option<Cells>| buffer.map_or(u64::MAX, |cells| cells.0);
        Served {
            waiting: [Ring::new(), Ring::new(), Ring::new()],
            waiting_rm: Ring::new(),
            rm_cells: config.rm_cells,
            fair: (config.queueing != Queueing::default())
                .then(|| Box::new(WaitingCells::new(&config.queueing, config.rm_cells))),
            on_line: OnLine::Nothing,
            began: Time::ZERO,
            departs: Time::NEVER,
            lengths: [0; PRIORITIES],
            length: 0,
            room: [limit(buffers.guaranteed), limit(buffers.abr), limit(buffers.ubr)],
            shared_room: limit(buffers.shared),
            tagged_room: limit(buffers.tagged),
            by_weight: config.queueing.class_weights.is_some(),
            tagged_dropped: 0,
            frame_discards: frame_discards.map(Box::new),
            marking: config.ecn.map(|config| Box::new((PacketMarking::new(config), marks))),
            line,
            transmitted: 0,
            busy_ps: 0,
            max_total: 0,
            max_lengths: [0; PRIORITIES],
            integral: 0,
            integrated_until: Time::ZERO,
        }
    }

    /// Frame discard of the buffers, if any has it.
    pub fn frame_discards(&self) -> Option<&FrameDiscards> {
        self.frame_discards.as_deref()
    }

    /// Cells with CLP = 1 that found no room of their own.
    pub fn tagged_dropped(&self) -> u64 {
        self.tagged_dropped
    }

    /// Parts that have to know of each connection: frame discard, marking and queues, if it has any.
    pub fn connected(&mut self) -> PartsOfPort<'_, C> {
        PartsOfPort {
            frame_discards: self.frame_discards.as_deref_mut(),
            marking: self.marking.as_deref_mut().map(|(marking, _)| marking),
            waiting: self.fair.as_deref_mut(),
        }
    }

    /// A cell arrives, whose connection has this `slot`; when the port was idle a transmission begins at `now`, of
    /// whichever of the cells that come at this instant has the turn.
    #[inline(always)]
    pub fn admit(
        &mut self,
        now: Time,
        priority: usize,
        slot: Slot,
        mut cell: C,
        control: &mut PortControl,
    ) -> Admission {
        self.decide(now, control);
        let is_refused = cell.clp() && !cell.is_rm() && self.before(priority) >= self.tagged_room;
        let has_room = !is_refused
            && self.lengths[priority] < self.room[priority]
            && self.total().0 < self.shared_room
            && self.fair.as_ref().is_none_or(|fair| fair.has_room(priority, slot, cell.is_rm()));
        let gets_in = match self.frame_discards.as_deref_mut() {
            Some(discards) if cell.is_data() => {
                let of_pdu = PduCell { ends_pdu: cell.ends_pdu(), clp: cell.clp() };
                discards.admits(priority, slot, of_pdu, Cells(self.lengths[priority]), has_room)
            }
            _ => has_room,
        };
        if !gets_in {
            self.tagged_dropped += u64::from(is_refused);
            return Admission::Lost;
        }
        if let Some((marking, chance)) = self.marking.as_deref_mut()
            && cell.is_data()
        {
            let queue = Cells(self.lengths[priority]);
            let found = Found { now, queue, cell_time: self.line.cell_time };
            if marking.marks(priority, slot, cell.ends_pdu(), found, || chance.uniform()) {
                cell.mark_packet();
            }
        }
        self.integrate(now);
        self.lengths[priority] += 1;
        self.length += 1;
        self.max_total = self.max_total.max(self.length);
        self.max_lengths[priority] = self.max_lengths[priority].max(self.lengths[priority]);
        let has_turn = match &mut self.fair {
            Some(fair) => {
                fair.push(now, priority, slot, cell, cell.is_rm());
                fair.has_turn()
            }
            None => {
                let overtakes = self.rm_cells != RmCells::InOrder && priority == ABR && cell.is_rm();
                let queue = if overtakes { &mut self.waiting_rm } else { &mut self.waiting[priority] };
                queue.push(cell);
                true
            }
        };
        if self.is_busy() {
            return Admission::Queued(None);
        }
        if !has_turn || self.line.has_stopped() {
            return Admission::Queued(Some(self.begin_next(now, control)));
        }
        (self.on_line, self.began, self.departs) = (OnLine::Undecided, now, now + self.line.cell_time);
        Admission::Queued(Some(self.departs))
    }

    /// Cells that a cell of this priority would leave behind, or with: its category's, and by strict priority those of
    /// higher ones. What leaves later takes no room from it.
    #[cold]
    fn before(&self, priority: usize) -> u64 {
        let first = if self.by_weight { priority } else { 0 };
        self.lengths[first..=priority].iter().sum()
    }

    /// Whether a transmission has begun and not ended.
    fn is_busy(&self) -> bool {
        !matches!(self.on_line, OnLine::Nothing)
    }

    /// Nothing more comes before `now`: the turn on a line that was idle is given.
    #[inline]
    fn decide(&mut self, now: Time, control: &mut PortControl) {
        if matches!(self.on_line, OnLine::Undecided) && self.began < now {
            self.give_turn(control);
        }
    }

    /// The turn on the line that was idle is given, as of the instant at which cells came to it.
    fn give_turn(&mut self, control: &mut PortControl) {
        self.on_line = OnLine::Nothing;
        self.begin_next(self.began, control);
    }

    /// The cell in transmission has left at `now`: returns it, stamped, as an error if the line lost it, and the next
    /// departure. No cell is returned where one that was held back may leave from now on.
    #[inline(always)]
    pub fn depart(&mut self, now: Time, control: &mut PortControl) -> (Option<Result<C, C>>, Time) {
        self.decide(now, control);
        self.integrate(now);
        let OnLine::Cell(priority, mut cell) = self.on_line else {
            debug_assert!(
                self.fair.is_some(),
                "a departure is scheduled only while a cell is in transmission"
            );
            return (None, self.begin_next(now, control));
        };
        self.on_line = OnLine::Nothing;
        let owner = self.fair.as_mut().and_then(|fair| {
            if priority != ABR {
                control.on_sent(priority == GUARANTEED, fair.is_booked());
            }
            fair.ended()
        });
        self.lengths[priority] -= 1;
        self.length -= 1;
        if let Some((marking, _)) = self.marking.as_deref_mut()
            && self.lengths[priority] == 0
        {
            marking.on_empty(priority, now);
        }
        if let Some(discards) = self.frame_discards.as_deref_mut()
            && cell.is_data()
        {
            discards.on_departure(priority, owner);
        }
        self.transmitted += 1;
        self.busy_ps += now.since(self.began).as_ps();
        let carried = self.line.carry(self.began, now);
        let departure = self.begin_next(now, control);
        cell.arrive_at(carried.unwrap_or_else(|lost| lost));
        (Some(carried.map(|_| cell).map_err(|_| cell)), departure)
    }

    /// The line.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// The line, whose steps may be added to.
    pub fn line_mut(&mut self) -> &mut Line {
        &mut self.line
    }

    /// When the line changes next.
    pub fn next_change(&self) -> Time {
        self.line.next_change()
    }

    /// The change of the line that comes next happens at `now`. If given, the port's next departure has become this.
    pub fn change(&mut self, now: Time, control: &mut PortControl) -> Option<Time> {
        self.decide(now, control);
        let had_stopped = self.line.has_stopped();
        let (rate, transmission) = self.line.change(self.transmission())?;
        control.set_link_rate(rate.to_cell_rate());
        let Some(Transmission { began, departs }) = transmission else {
            return had_stopped.then(|| self.begin_next(now, control));
        };
        (self.began, self.departs) = (began, departs);
        Some(departs)
    }

    /// The transmission that has begun and not ended.
    fn transmission(&self) -> Option<Transmission> {
        self.is_busy().then_some(Transmission { began: self.began, departs: self.departs })
    }

    /// The line is free at `now`: the next cell goes on it, if one may. When the port has to be looked at again.
    #[inline(always)]
    fn begin_next(&mut self, now: Time, control: &mut PortControl) -> Time {
        if self.line.has_stopped() {
            self.departs = Time::NEVER;
            return self.departs;
        }
        let next = match &mut self.fair {
            Some(fair) => fair.pop(now),
            None => self.next(),
        };
        if let Some((priority, cell)) = next {
            return self.begin(now, priority, cell, control);
        }
        let release = self.fair.as_ref().and_then(|fair| fair.next_release());
        self.departs = release.unwrap_or(Time::NEVER);
        self.departs
    }

    /// When the cell in transmission will have left.
    #[inline]
    pub fn next_departure(&self) -> Time {
        self.departs
    }

    /// The cell whose turn it is, and its priority.
    #[inline]
    fn next(&mut self) -> Option<(usize, C)> {
        let first = (0..PRIORITIES).find(|&priority| self.lengths[priority] > 0)?;
        let overtakes = match self.rm_cells {
            RmCells::InOrder => false,
            RmCells::BeforeData => first == ABR,
            RmCells::First => true,
        };
        if overtakes && let Some(cell) = self.waiting_rm.pop() {
            return Some((ABR, cell));
        }
        self.waiting[first].pop().map(|cell| (first, cell))
    }

    #[inline]
    fn begin(&mut self, now: Time, priority: usize, mut cell: C, control: &mut PortControl) -> Time {
        if control.uses_efci() {
            let marks = control.marks_efci(self.abr_before_line(now));
            if marks && priority == ABR && cell.is_data() {
                cell.mark_efci();
            }
        }
        let departs = now + self.line.cell_time;
        self.began = now;
        self.on_line = OnLine::Cell(priority, cell);
        self.departs = departs;
        departs
    }

    /// Cells of `priority` waiting and in transmission.
    pub fn queue(&self, priority: usize) -> Cells {
        Cells(self.lengths[priority])
    }

    /// The ABR queue as control of ABR has to see it at `now`: cells that wait for the line. Those that the port holds
    /// back, since their connection is held to a rate, are left out. Turns before `now` have been
    /// [given](Served::settle).
    #[inline]
    pub fn abr_before_line(&self, now: Time) -> Cells {
        let held = self.fair.as_ref().map_or(0, |fair| fair.held_of_abr(now));
        Cells(self.lengths[ABR] - held)
    }

    /// Gives the turn on a line that was idle before `now`, where it matters to who looks at the queue.
    #[inline]
    pub fn settle(&mut self, now: Time, control: &mut PortControl) {
        if self.fair.is_some() {
            self.decide(now, control);
        }
    }

    /// Cells of all categories waiting and in transmission.
    pub fn total(&self) -> Cells {
        Cells(self.length)
    }

    /// Cells that have not left by `at`, no departure before which is due: one that leaves then has.
    pub fn total_by(&self, at: Time) -> Cells {
        Cells(self.length - u64::from(self.is_busy() && self.departs <= at))
    }

    /// Largest total so far.
    pub fn max_total(&self) -> Cells {
        Cells(self.max_total)
    }

    /// Largest queue of `priority` so far.
    pub fn max_queue(&self, priority: usize) -> Cells {
        Cells(self.max_lengths[priority])
    }

    /// The largest queues are looked for anew from `now` on, with what stands then: a cell that leaves at `now` does
    /// not.
    pub fn begin_max(&mut self, now: Time, control: &mut PortControl) {
        self.decide(now, control);
        (self.max_total, self.max_lengths) = (self.length, self.lengths);
        if let OnLine::Cell(priority, _) = self.on_line
            && self.departs == now
        {
            self.max_total -= 1;
            self.max_lengths[priority] -= 1;
        }
    }

    /// Cells whose transmission has ended.
    pub fn transmitted(&self) -> u64 {
        self.transmitted
    }

    /// Time for which the line had been busy by `at`, which is not before the last event \[ps\].
    pub fn busy_ps(&self, at: Time) -> u64 {
        let until = self.transmission().map(|transmission| self.line.works_until(transmission).min(at));
        self.busy_ps + until.map_or(0, |until| until.since(self.began).as_ps())
    }

    /// Integral of the total queue over time up to `at` [cells * ps].
    pub fn queue_integral(&self, at: Time) -> u128 {
        let since = at.since(self.integrated_until).as_ps();
        self.integral + u128::from(self.total().0) * u128::from(since)
    }

    /// Every cell in the port.
    pub fn cells(&self) -> impl Iterator<Item = &C> {
        let waiting = self.waiting.iter().chain([&self.waiting_rm]).flat_map(Ring::iter);
        let fair = self.fair.iter().flat_map(|fair| fair.iter());
        let on_line = if let OnLine::Cell(_, cell) = &self.on_line { Some(cell) } else { None };
        waiting.chain(fair).chain(on_line)
    }

    fn integrate(&mut self, now: Time) {
        self.integral = self.queue_integral(now);
        self.integrated_until = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::UBR;
    use crate::random::{Owner, Stream};
    use cellrate_proto::switch::frame_discard::Selective;
    use cellrate_proto::switch::{FrameDiscard, FrameDiscardConfig, PortControlConfig};
    use cellrate_proto::{BitRate, CellRate};
    use cellrate_scenario::Buffers;

    /// A cell with nothing but its name.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Named {
        name: &'static str,
        arrives: Time,
        efci: bool,
    }

    impl PortCell for Named {
        fn is_rm(&self) -> bool {
            self.name.starts_with('r')
        }

        fn is_data(&self) -> bool {
            !self.is_rm()
        }

        fn clp(&self) -> bool {
            false
        }

        fn ends_pdu(&self) -> bool {
            self.name == "last"
        }

        fn mark_efci(&mut self) {
            self.efci = true;
        }

        fn mark_packet(&mut self) {
            unreachable!("no port here marks packets");
        }

        fn arrive_at(&mut self, at: Time) {
            self.arrives = at;
        }
    }

    fn cell(name: &'static str) -> Named {
        Named { name, arrives: Time::ZERO, efci: false }
    }

    /// A port and its control.
    struct Port {
        served: Served<Named>,
        control: PortControl,
    }

    impl Port {
        fn new(buffers: Buffers, rm_cells: RmCells, frame_discards: Option<FrameDiscards>) -> Port {
            let rate = BitRate::from_bps(42_400_000); // 10 us a cell
            let random = Random::new(1, Stream::Loss(Owner::named("line")));
            let line = Line::new(rate.cell_time(), Duration::from_us(7), 0.0, &[], random);
            let control = PortControlConfig::default();
            let config = Config { buffers, rm_cells, control, ..Config::default() };
            let control = PortControl::new(&config.control, CellRate::new(100_000.0));
            let marks = Random::new(1, Stream::Marks(Owner::named("port")));
            Port { served: Served::new(line, &config, frame_discards, marks), control }
        }

        fn admit(&mut self, priority: usize, slot: Slot, name: &'static str) -> Admission {
            self.admit_at(Time::ZERO, priority, slot, name)
        }

        fn admit_at(&mut self, now: Time, priority: usize, slot: Slot, name: &'static str) -> Admission {
            self.served.admit(now, priority, slot, cell(name), &mut self.control)
        }

        fn gets_in(&mut self, priority: usize, slot: Slot, name: &'static str) -> bool {
            self.admit(priority, slot, name) != Admission::Lost
        }

        /// Has the next cell leave, and says which.
        fn depart(&mut self) -> &'static str {
            let now = self.served.next_departure();
            let (left, next) = self.served.depart(now, &mut self.control);
            let left = left.expect("one leaves").expect("the line loses nothing");
            assert_eq!((left.arrives, self.served.next_departure()), (now + Duration::from_us(7), next));
            left.name
        }
    }

    /// The order in which a port sends what came, `apart` \[ps\] from one to the next: "v" VBR, "d" ABR data, "r" RM
    /// cells, "u" UBR.
    fn order(rm_cells: RmCells, apart: u64) -> Vec<&'static str> {
        let mut port = Port::new(Buffers::default(), rm_cells, None);
        for (number, name) in (0..).zip(["d0", "u1", "d2", "r3", "v4", "d5", "r6", "v7"]) {
            let priority = match &name[..1] {
                "v" => 0,
                "u" => UBR,
                _ => ABR,
            };
            let admission = port.admit_at(Time::from_ps(number * apart), priority, Slot(0), name);
            assert_ne!(admission, Admission::Lost);
        }
        let waiting = (port.served.cells().count(), port.served.queue(ABR));
        assert_eq!(waiting, (8, Cells(5)), "RM cells are in the buffer of ABR");
        let mut left = Vec::new();
        while port.served.next_departure() != Time::NEVER {
            left.push(port.depart());
        }
        assert_eq!(port.served.total(), Cells(0));
        left
    }

    #[test]
    fn guaranteed_goes_first_and_rm_cells_wait_for_what_the_port_says() {
        assert_eq!(order(RmCells::InOrder, 1), ["d0", "v4", "v7", "d2", "r3", "d5", "r6", "u1"]);
        assert_eq!(order(RmCells::BeforeData, 1), ["d0", "v4", "v7", "r3", "r6", "d2", "d5", "u1"]);
        assert_eq!(order(RmCells::First, 1), ["d0", "r3", "r6", "v4", "v7", "d2", "d5", "u1"]);
    }

    #[test]
    fn of_all_that_come_to_an_idle_line_at_one_instant_the_highest_category_goes_first() {
        assert_eq!(order(RmCells::InOrder, 0), ["v4", "v7", "d0", "d2", "r3", "d5", "r6", "u1"]);
        assert_eq!(order(RmCells::BeforeData, 0), ["v4", "v7", "r3", "r6", "d0", "d2", "d5", "u1"]);
        assert_eq!(order(RmCells::First, 0), ["r3", "r6", "v4", "v7", "d0", "d2", "d5", "u1"]);
    }

    #[test]
    fn a_full_category_and_a_full_port_lose_cells() {
        let buffers = Buffers { abr: Some(Cells(2)), shared: Some(Cells(3)), ..Buffers::default() };
        let mut port = Port::new(buffers, RmCells::InOrder, None);
        let admitted = [1, 1, 1, 2, 2].map(|priority| port.gets_in(priority, Slot(0), "d"));
        assert_eq!(admitted, [true, true, false, true, false]);
        assert_eq!((port.served.total(), port.served.queue(ABR)), (Cells(3), Cells(2)));
    }

    #[test]
    fn frame_discard_decides_on_its_category_alone_and_counts_what_leaves() {
        let buffers = Buffers { abr: Some(Cells(1)), ubr: Some(Cells(9)), ..Buffers::default() };
        let policy = FrameDiscardConfig::Selective(Selective { threshold: Cells(1), scale_factor: 1.0 });
        let mut discard = FrameDiscard::new(policy, buffers.ubr);
        let [one, two] = [true, true].map(|has_pdus| discard.connect(has_pdus, CellRate::ZERO));
        let refusals = Random::new(1, Stream::Refusals(Owner::named("line")));
        let discards = FrameDiscards::new([None, None, Some(discard)], refusals);
        let mut port = Port::new(buffers, RmCells::InOrder, Some(discards));
        assert!(port.gets_in(UBR, one, "last"));
        assert!(port.gets_in(UBR, one, "first") && port.gets_in(UBR, two, "last"));
        assert!(port.gets_in(UBR, one, "last"), "it belongs to what has begun");
        assert!(!port.gets_in(UBR, one, "last"), "3 * 2 / 4 is above 1");
        assert!(port.gets_in(ABR, Slot(u32::MAX), "d"));
        assert!(!port.gets_in(ABR, Slot(u32::MAX), "d"));
        // The ABR cell goes first.
        let left = [(); 4].map(|()| port.depart());
        assert_eq!((left, port.served.queue(UBR)), (["d", "last", "first", "last"], Cells(1)));
        assert!(port.gets_in(UBR, two, "last"), "one cell is no more than the threshold");
        assert!(port.gets_in(UBR, two, "last"), "1 * 2 / 2 is not above 1");
        assert_eq!(port.served.frame_discards().map(FrameDiscards::refused), Some(1));
    }

    #[test]
    fn busy_time_and_the_queue_are_integrated_to_the_instant() {
        let mut port = Port::new(Buffers::default(), RmCells::InOrder, None);
        let first = Time::ZERO + Duration::from_us(10);
        assert_eq!(port.admit(ABR, Slot(0), "d0"), Admission::Queued(Some(first)));
        assert_eq!(port.admit(ABR, Slot(0), "d1"), Admission::Queued(None));
        port.depart();
        // Two cells for 10 us, one for 5.
        let at = first + Duration::from_us(5);
        assert_eq!(port.served.queue_integral(at), 25_000_000);
        assert_eq!(port.served.busy_ps(at), 15_000_000);
        port.depart();
        assert_eq!(port.served.next_departure(), Time::NEVER);
    }
}
