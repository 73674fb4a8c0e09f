//! A port whose departures have to be events ([`super`] says when): real queues.
//!
//! Service is by strict priority, or as the [queues](WaitingCells) of a port with others say, and not pre-emptive; RM
//! cells may have a queue of their own. On a line that was idle the turn is given when all that comes at that instant
//! has come: it is decided as soon as anything happens later. A data cell is marked with EFCI when its transmission
//! begins, by the ABR queue with that cell still in it; an IP packet when its first cell comes, by the queue that it
//! finds. Of what is lost frame discard may decide.

use cellrate_engine::frame_discards::FrameDiscards;
use cellrate_engine::random::Random;
use cellrate_engine::set_up::PartsOfPort;
use cellrate_engine::waiting::WaitingCells;
use cellrate_proto::switch::{Found, PacketMarking, PduCell, PortControl, Slot};
use cellrate_proto::{Cells, Duration, Time};
use cellrate_scenario::{Port as Config, Queueing, RmCells};

use super::{ABR, Admission, Line, PRIORITIES};
use crate::kernel::cell::Cell;
use crate::kernel::lanes::ring::Ring;

/// Queues by priority, and the cell in transmission.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    waiting: [Ring; PRIORITIES],
    /// RM cells, where they do not wait among the data cells.
    waiting_rm: Ring,
    rm_cells: RmCells,
    /// All cells that wait, where queues are not one for each priority, the first priority first.
    fair: Option<Box<WaitingCells<Cell>>>,
    /// The cell in transmission and its priority.
    serving: Option<(usize, Cell)>,
    /// When its transmission began, or that of the first cell that came to an idle line.
    began: Time,
    /// The line was idle at that instant, and whose turn it is has not been decided.
    undecided: bool,
    /// When it will have left; without one, when the first cell that is held back may leave.
    departs: Time,
    /// Cells waiting and in transmission, by priority, and all together.
    lengths: [u64; PRIORITIES],
    length: u64,
    room: [u64; PRIORITIES],
    shared_room: u64,
    /// For cells with CLP = 1, of all cells.
    tagged_room: u64,
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

impl Served {
    /// Time of one cell on the line.
    pub fn cell_time(&self) -> Duration {
        self.line.cell_time
    }

    pub fn new(line: Line, config: &Config, frame_discards: Option<FrameDiscards>, marks: Random) -> Served {
        let buffers = &config.buffers;
        let limit = |buffer: Option<Cells>| buffer.map_or(u64::MAX, |cells| cells.0);
        Served {
            waiting: [Ring::new(), Ring::new(), Ring::new()],
            waiting_rm: Ring::new(),
            rm_cells: config.rm_cells,
            fair: (config.queueing != Queueing::default())
                .then(|| Box::new(WaitingCells::new(&config.queueing, config.rm_cells))),
            serving: None,
            began: Time::ZERO,
            undecided: false,
            departs: Time::NEVER,
            lengths: [0; PRIORITIES],
            length: 0,
            room: [limit(buffers.guaranteed), limit(buffers.abr), limit(buffers.ubr)],
            shared_room: limit(buffers.shared),
            tagged_room: limit(buffers.tagged),
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
    pub fn connected(&mut self) -> PartsOfPort<'_, Cell> {
        PartsOfPort {
            frame_discards: self.frame_discards.as_deref_mut(),
            marking: self.marking.as_deref_mut().map(|(marking, _)| marking),
            waiting: self.fair.as_deref_mut(),
        }
    }

    /// A cell arrives, whose connection has this `slot`; when the port was idle a transmission begins at `now`, of
    /// whichever of the cells that come at this instant has the turn.
    pub fn admit(
        &mut self,
        now: Time,
        priority: usize,
        slot: Slot,
        mut cell: Cell,
        control: &mut PortControl,
    ) -> Admission {
        self.decide(now, control);
        let is_refused = cell.clp() && self.total().0 >= self.tagged_room;
        let has_room = !is_refused
            && self.lengths[priority] < self.room[priority]
            && self.total().0 < self.shared_room
            && self.fair.as_ref().is_none_or(|fair| fair.has_room(priority, slot, cell.is_rm()));
        let gets_in = match self.frame_discards.as_deref_mut() {
            Some(discards) if !cell.is_rm() => {
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
            && !cell.is_rm()
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
        (self.undecided, self.began, self.departs) = (true, now, now + self.line.cell_time);
        Admission::Queued(Some(self.departs))
    }

    /// Whether a transmission has begun and not ended.
    fn is_busy(&self) -> bool {
        self.serving.is_some() || self.undecided
    }

    /// Nothing more comes before `now`: the turn on a line that was idle is given.
    #[inline]
    fn decide(&mut self, now: Time, control: &mut PortControl) {
        if self.undecided && self.began < now {
            self.undecided = false;
            self.begin_next(self.began, control);
        }
    }

    /// The cell in transmission has left at `now`: returns it, stamped, as an error if the line lost it, and the next
    /// departure. There is none where a cell that was held back may leave from now on.
    pub fn depart(&mut self, now: Time, control: &mut PortControl) -> (Option<Result<Cell, Cell>>, Time) {
        self.decide(now, control);
        self.integrate(now);
        let Some((priority, mut cell)) = self.serving.take() else {
            debug_assert!(
                self.fair.is_some(),
                "a departure is scheduled only while a cell is in transmission"
            );
            return (None, self.begin_next(now, control));
        };
        let owner = self.fair.as_mut().and_then(|fair| fair.ended());
        self.lengths[priority] -= 1;
        self.length -= 1;
        if let Some((marking, _)) = self.marking.as_deref_mut()
            && self.lengths[priority] == 0
        {
            marking.on_empty(priority, now);
        }
        if let Some(discards) = self.frame_discards.as_deref_mut()
            && !cell.is_rm()
        {
            discards.on_departure(priority, owner);
        }
        self.transmitted += 1;
        self.busy_ps += now.since(self.began).as_ps();
        let carried = self.line.carry(self.began, now);
        let departure = self.begin_next(now, control);
        cell.arrives = carried.unwrap_or_else(|lost| lost);
        (Some(carried.map(|_| cell).map_err(|_| cell)), departure)
    }

    /// When the line changes next.
    pub fn next_change(&self) -> Time {
        self.line.next_change()
    }

    /// The change of the line that comes next happens at `now`. If given, the port's next departure has become this.
    pub fn change(&mut self, now: Time, control: &mut PortControl) -> Option<Time> {
        self.decide(now, control);
        let had_stopped = self.line.has_stopped();
        if let Some(rate) = self.line.change() {
            control.set_link_rate(rate.to_cell_rate());
        }
        (had_stopped && self.serving.is_none()).then(|| self.begin_next(now, control))
    }

    /// The line is free at `now`: the next cell goes on it, if one may. When the port has to be looked at again.
    fn begin_next(&mut self, now: Time, control: &mut PortControl) -> Time {
        if self.line.has_stopped() {
            self.departs = Time::NEVER;
            return self.departs;
        }
        let next = match &mut self.fair {
            Some(fair) => fair.pop(now),
            None if self.length == 0 => None,
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
    fn next(&mut self) -> Option<(usize, Cell)> {
        let turn = match self.rm_cells {
            RmCells::InOrder => usize::MAX,
            RmCells::BeforeData => ABR,
            RmCells::First => 0,
        };
        (0..PRIORITIES).find_map(|priority| {
            if priority == turn
                && let Some(cell) = self.waiting_rm.pop()
            {
                return Some((ABR, cell));
            }
            self.waiting[priority].pop().map(|cell| (priority, cell))
        })
    }

    fn begin(&mut self, now: Time, priority: usize, mut cell: Cell, control: &mut PortControl) -> Time {
        if control.uses_efci() {
            let marks = control.marks_efci(Cells(self.lengths[ABR]));
            if marks && priority == ABR && !cell.is_rm() {
                cell.mark_efci();
            }
        }
        let departs = now + self.line.cell_time;
        self.began = now;
        self.serving = Some((priority, cell));
        self.departs = departs;
        departs
    }

    /// Cells of `priority` waiting and in transmission.
    pub fn queue(&self, priority: usize) -> Cells {
        Cells(self.lengths[priority])
    }

    /// Cells of all categories waiting and in transmission.
    pub fn total(&self) -> Cells {
        Cells(self.length)
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
        if let Some((priority, _)) = &self.serving
            && self.departs == now
        {
            self.max_total -= 1;
            self.max_lengths[*priority] -= 1;
        }
    }

    /// Cells whose transmission has ended.
    pub fn transmitted(&self) -> u64 {
        self.transmitted
    }

    /// Time for which the line had been busy by `at`, which is not before the last event \[ps\].
    pub fn busy_ps(&self, at: Time) -> u64 {
        let begun = if self.is_busy() { self.departs.min(at).since(self.began).as_ps() } else { 0 };
        self.busy_ps + begun
    }

    /// Integral of the total queue over time up to `at` [cells * ps].
    pub fn queue_integral(&self, at: Time) -> u128 {
        let since = at.since(self.integrated_until).as_ps();
        self.integral + u128::from(self.total().0) * u128::from(since)
    }

    /// Every cell in the port.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        let waiting = self.waiting.iter().chain([&self.waiting_rm]).flat_map(Ring::iter);
        let fair = self.fair.iter().flat_map(|fair| fair.iter());
        waiting.chain(fair).chain(self.serving.iter().map(|(_, cell)| cell))
    }

    fn integrate(&mut self, now: Time) {
        self.integral = self.queue_integral(now);
        self.integrated_until = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Owner, Random, Stream};
    use cellrate_proto::switch::PortControlConfig;
    use cellrate_proto::{BitRate, CellRate, Direction, RateCode, RmCell};

    /// The order in which a port sends what came, in the order of the names, while the first was being sent: "v" VBR,
    /// "d" ABR data, "r" RM cells, "u" UBR.
    fn order(rm_cells: RmCells) -> Vec<&'static str> {
        order_of(rm_cells, ["d0", "u1", "d2", "r3", "v4", "d5", "r6", "v7"], 1)
    }

    /// The order in which a port sends what came in this order, `apart` \[ps\] from one to the next.
    fn order_of(rm_cells: RmCells, names: [&'static str; 8], apart: u64) -> Vec<&'static str> {
        let rm = RmCell {
            direction: Direction::Forward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::MAX,
            minimum_cell_rate: RateCode::MAX,
            out_of_rate: false,
        };
        let rate = BitRate::from_bps(150_000_000);
        let random = Random::new(1, Stream::Loss(Owner::named("line")));
        let line = Line::new(rate.cell_time(), Duration::ZERO, 0.0, &[], random);
        let control = PortControlConfig::default();
        let config = Config { buffers: Default::default(), rm_cells, control, ..Config::default() };
        let mut control = PortControl::new(&config.control, CellRate::new(353_773.0));
        let marks = Random::new(1, Stream::Marks(Owner::named("port")));
        let mut port = Served::new(line, &config, None, marks);
        for (number, name) in (0..).zip(names) {
            let (sent, now) = (Time::from_ps(number), Time::from_ps(number * apart));
            let (priority, cell) = match &name[..1] {
                "v" => (0, Cell::data(sent, number, false)),
                "r" => (ABR, Cell::resource_management(sent, &rm)),
                "u" => (2, Cell::data(sent, number, false)),
                _ => (ABR, Cell::data(sent, number, false)),
            };
            assert!(matches!(port.admit(now, priority, Slot(0), cell, &mut control), Admission::Queued(_)));
        }
        assert_eq!(
            (port.cells().count(), port.queue(ABR)),
            (8, Cells(5)),
            "RM cells are in the buffer of ABR"
        );
        let mut left = Vec::new();
        let mut now = Time::ZERO + rate.cell_time();
        while now != Time::NEVER {
            let (cell, next) = port.depart(now, &mut control);
            left.push(
                names[cell.expect("one leaves").expect("the line loses nothing").sent.as_ps() as usize],
            );
            now = next;
        }
        assert_eq!(port.total(), Cells(0));
        left
    }

    #[test]
    fn rm_cells_wait_for_what_the_port_says_and_stay_in_order() {
        assert_eq!(order(RmCells::InOrder), ["d0", "v4", "v7", "d2", "r3", "d5", "r6", "u1"]);
        assert_eq!(order(RmCells::BeforeData), ["d0", "v4", "v7", "r3", "r6", "d2", "d5", "u1"]);
        assert_eq!(order(RmCells::First), ["d0", "r3", "r6", "v4", "v7", "d2", "d5", "u1"]);
    }

    #[test]
    fn of_all_that_come_to_an_idle_line_at_one_instant_the_highest_category_goes_first() {
        let come = ["u0", "d1", "d2", "r3", "v4", "d5", "r6", "v7"];
        let at_once = |rm_cells| order_of(rm_cells, come, 0);
        assert_eq!(at_once(RmCells::InOrder), ["v4", "v7", "d1", "d2", "r3", "d5", "r6", "u0"]);
        assert_eq!(at_once(RmCells::BeforeData), ["v4", "v7", "r3", "r6", "d1", "d2", "d5", "u0"]);
        assert_eq!(at_once(RmCells::First), ["r3", "r6", "v4", "v7", "d1", "d2", "d5", "u0"]);
        assert_eq!(order_of(RmCells::InOrder, come, 1)[0], "u0", "a moment before the others");
    }
}
