//! An output port: queues by priority, a line, and what a switch does about congestion there.
//!
//! Every departure is an event at its ideal instant: the end of the cell before it, or the arrival at an idle port,
//! plus the time of one cell. Service is by strict priority, or as the [queues](WaitingCells) of a port with others
//! say, and not pre-emptive; RM cells may have a queue of their own. On a line that was idle the turn is given when all
//! that comes at that instant has come: it is decided as soon as anything happens later. A data cell is marked with
//! EFCI when its transmission begins, by the ABR queue with that cell still in it. Of what is lost frame discard may
//! decide.

use std::collections::VecDeque;

use cellrate_engine::frame_discards::FrameDiscards;
use cellrate_engine::line::Line;
pub(crate) use cellrate_engine::priority::ABR;
use cellrate_engine::priority::PRIORITIES;
use cellrate_engine::waiting::WaitingCells;
use cellrate_proto::switch::{Feedback, PduCell, PortControl, Slot};
use cellrate_proto::{Cells, Direction, RmCell, Time};
use cellrate_scenario::{Port as Config, Queueing, RmCells};

use super::cell::Cell;
use super::faults::InjectedFaults;

/// Where the link behind a port goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// To a node of this process: an index into the inputs.
    Inside(u32),
    /// To a node of another process: an index into the outgoing links.
    Outside(u32),
}

/// Cells lost at a port, by category and reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    pub buffer: [u64; PRIORITIES],
    pub line: u64,
}

/// An output port.
#[derive(Debug)]
pub(crate) struct Port {
    waiting: [VecDeque<Cell>; PRIORITIES],
    /// RM cells, where they do not wait among the data cells.
    waiting_rm: VecDeque<Cell>,
    rm_cells: RmCells,
    /// All cells that wait, where queues are not one for each priority, the first priority first.
    pub fair: Option<Box<WaitingCells<Cell>>>,
    /// The cell in transmission: its priority and when it will have left.
    serving: Option<(u8, Cell, Time)>,
    /// Instant at which cells came to a line that was idle, and whose turn it is has not been decided.
    undecided: Option<Time>,
    /// Cells waiting and in transmission, by priority.
    lengths: [u64; PRIORITIES],
    room: [u64; PRIORITIES],
    shared_room: u64,
    /// For cells with CLP = 1, of all cells.
    tagged_room: u64,
    /// Cells that it had none for.
    pub tagged_dropped: u64,
    /// Frame discard of the buffers, if any has it.
    pub frame_discards: Option<FrameDiscards>,
    line: Line,
    injected: Option<Box<InjectedFaults>>,
    pub exit: Exit,
    /// Whether `control` wants to know of every cell.
    pub metered: bool,
    /// Whether it may have a BRM sent because of a cell that comes ([`super::becn`]).
    pub originates: bool,
    pub control: PortControl,
    pub transmitted: u64,
    pub max_total: u64,
    pub max_lengths: [u64; PRIORITIES],
    pub losses: Losses,
    /// RM cells that injected faults damaged here.
    pub damaged: u64,
    /// Integral of the total queue up to `integrated_until` [cells * ps].
    integral: u128,
    integrated_until: Time,
}

impl Port {
    pub fn new(
        line: Line,
        config: &Config,
        control: PortControl,
        is_switch: bool,
        exit: Exit,
        injected: Option<InjectedFaults>,
        frame_discards: Option<FrameDiscards>,
    ) -> Port {
        let buffers = &config.buffers;
        let originates = is_switch && control.originates();
        let metered = originates || is_switch && control.needs_meter();
        let limit = |buffer: Option<Cells>| buffer.map_or(u64::MAX, |cells| cells.0);
        Port {
            waiting: [VecDeque::new(), VecDeque::new(), VecDeque::new()],
            waiting_rm: VecDeque::new(),
            rm_cells: config.rm_cells,
            fair: (config.queueing != Queueing::default())
                .then(|| Box::new(WaitingCells::new(&config.queueing, config.rm_cells))),
            serving: None,
            undecided: None,
            lengths: [0; PRIORITIES],
            room: [limit(buffers.guaranteed), limit(buffers.abr), limit(buffers.ubr)],
            shared_room: limit(buffers.shared),
            tagged_room: limit(buffers.tagged),
            tagged_dropped: 0,
            frame_discards,
            line,
            injected: injected.map(Box::new),
            exit,
            metered,
            originates,
            control,
            transmitted: 0,
            max_total: 0,
            max_lengths: [0; PRIORITIES],
            losses: Losses::default(),
            damaged: 0,
            integral: 0,
            integrated_until: Time::ZERO,
        }
    }

    /// The switch's look at a cell of `priority` that comes to this port; `rm` is what it says, if it is an RM cell.
    #[inline]
    pub fn observe(&mut self, now: Time, priority: usize, slot: Slot, rm: Option<&RmCell>) {
        if self.control.interval_due(now) {
            self.end_intervals(now);
        }
        if priority == ABR {
            self.control.on_abr_cell(now, slot);
            if let Some(rm) = rm
                && rm.direction == Direction::Forward
            {
                self.control.on_forward_rm(now, slot, rm.current_cell_rate.rate());
            }
        } else if priority == 0 {
            self.control.on_guaranteed_cell();
        }
    }

    /// The answer of this port to a BRM that passes in the other direction; whether it changed anything.
    pub fn answer(&mut self, now: Time, slot: Slot, rm: &mut RmCell) -> bool {
        if self.control.interval_due(now) {
            self.end_intervals(now);
        }
        let queue = self.queue(ABR);
        let before = *rm;
        let mut feedback = Feedback::new(rm.explicit_rate, rm.congestion_indication, rm.no_increase);
        self.control.on_backward_rm(now, slot, queue, &mut feedback);
        rm.explicit_rate = feedback.explicit_rate();
        rm.congestion_indication = feedback.congestion_indication();
        rm.no_increase = feedback.no_increase();
        *rm != before
    }

    /// Ends the averaging intervals that are due at `now`, each with the queue of its own end: no cell has come since.
    #[cold]
    pub fn end_intervals(&mut self, now: Time) {
        let queue = Cells(self.lengths[ABR]);
        self.control.end_intervals(now, |_| queue);
    }

    /// Ends intervals for a departure or a sample at `now`: an interval that ends at `now` itself stays open.
    pub fn end_intervals_before(&mut self, now: Time) {
        let before = Time::from_ps(now.as_ps().saturating_sub(1));
        if self.control.interval_due(before) {
            self.end_intervals(before);
        }
    }

    /// A cell arrives, whose connection has this `slot`. When the port was idle a transmission begins, of whichever of
    /// the cells that come at this instant has the turn, and the port's next departure is given.
    ///
    /// # Errors
    /// When there is no room for it, or its PDU is discarded.
    #[inline]
    pub fn admit(&mut self, now: Time, priority: u8, slot: Slot, cell: Cell) -> Result<Option<Time>, ()> {
        self.decide(now);
        let class = usize::from(priority);
        let total = self.total();
        let is_refused = cell.clp() && total >= self.tagged_room;
        let has_room = !is_refused
            && self.lengths[class] < self.room[class]
            && total < self.shared_room
            && self.fair.as_ref().is_none_or(|fair| fair.has_room(class, slot, cell.is_rm()));
        let gets_in = match &mut self.frame_discards {
            Some(discards) if !cell.is_rm() => {
                let of_pdu = PduCell { ends_pdu: cell.is_data() && cell.user_bit(), clp: cell.clp() };
                discards.admits(class, slot, of_pdu, Cells(self.lengths[class]), has_room)
            }
            _ => has_room,
        };
        if !gets_in {
            self.tagged_dropped += u64::from(is_refused);
            self.losses.buffer[class] += 1;
            return Err(());
        }
        self.integrate(now);
        self.lengths[class] += 1;
        self.max_total = self.max_total.max(total + 1);
        self.max_lengths[class] = self.max_lengths[class].max(self.lengths[class]);
        let has_turn = if let Some(fair) = &mut self.fair {
            fair.push(now, class, slot, cell, cell.is_rm());
            fair.has_turn()
        } else {
            let overtakes = self.rm_cells != RmCells::InOrder && class == ABR && cell.is_rm();
            let queue = if overtakes { &mut self.waiting_rm } else { &mut self.waiting[class] };
            queue.push_back(cell);
            true
        };
        if self.serving.is_some() || self.undecided.is_some() {
            return Ok(None);
        }
        if !has_turn {
            return Ok(Some(self.begin_next(now)));
        }
        self.undecided = Some(now);
        Ok(Some(now + self.line.cell_time))
    }

    /// Nothing more comes before `now`: the turn on a line that was idle is given.
    #[inline]
    fn decide(&mut self, now: Time) {
        if let Some(began) = self.undecided.filter(|&began| began < now) {
            self.undecided = None;
            self.begin_next(began);
        }
    }

    /// The cell in transmission has left at `now`: returns it, stamped with its arrival at the far end, and the next
    /// departure. The cell is an error if the line loses it. There is none where a cell that was held back may leave
    /// from now on.
    #[inline]
    pub fn depart(&mut self, now: Time) -> (Option<Result<Cell, Cell>>, Time) {
        self.decide(now);
        self.integrate(now);
        let Some((priority, mut cell, _)) = self.serving.take() else {
            debug_assert!(
                self.fair.is_some(),
                "a departure is scheduled only while a cell is in transmission"
            );
            return (None, self.begin_next(now));
        };
        let owner = self.fair.as_mut().and_then(|fair| fair.ended());
        self.lengths[usize::from(priority)] -= 1;
        if let Some(discards) = &mut self.frame_discards
            && !cell.is_rm()
        {
            discards.on_departure(usize::from(priority), owner);
        }
        self.transmitted += 1;
        cell.arrives = now + self.line.delay;
        let departure = self.begin_next(now);
        let mut lost = self.line.loses(now);
        if let Some(injected) = &mut self.injected {
            let damaged = injected.strike(&mut cell, &mut lost);
            self.damaged += u64::from(damaged);
        }
        if lost {
            self.losses.line += 1;
        }
        (Some(if lost { Err(cell) } else { Ok(cell) }), departure)
    }

    /// The line is free at `now`: the next cell goes on it, if one may. When the port has to be looked at again.
    #[inline]
    fn begin_next(&mut self, now: Time) -> Time {
        let next = match &mut self.fair {
            Some(fair) => fair.pop(now).map(|(class, cell)| (class as u8, cell)),
            None => self.next(),
        };
        if let Some((priority, cell)) = next {
            return self.begin(now, priority, cell);
        }
        self.fair.as_ref().and_then(|fair| fair.next_release()).unwrap_or(Time::NEVER)
    }

    /// The cell whose turn it is, and its priority.
    #[inline]
    fn next(&mut self) -> Option<(u8, Cell)> {
        if self.rm_cells == RmCells::InOrder {
            return (0..)
                .zip(&mut self.waiting)
                .find_map(|(priority, queue)| queue.pop_front().map(|cell| (priority, cell)));
        }
        let turn = if self.rm_cells == RmCells::First { 0 } else { ABR };
        (0..PRIORITIES).find_map(|priority| {
            if priority == turn
                && let Some(cell) = self.waiting_rm.pop_front()
            {
                return Some((ABR as u8, cell));
            }
            self.waiting[priority].pop_front().map(|cell| (priority as u8, cell))
        })
    }

    #[inline]
    fn begin(&mut self, now: Time, priority: u8, mut cell: Cell) -> Time {
        if self.control.uses_efci() {
            let marks = self.control.marks_efci(Cells(self.lengths[ABR]));
            if marks && usize::from(priority) == ABR && cell.is_data() {
                cell.mark_efci();
            }
        }
        let departs = now + self.line.cell_time;
        self.serving = Some((priority, cell, departs));
        departs
    }

    /// Cells of `priority` waiting and in transmission.
    pub fn queue(&self, priority: usize) -> Cells {
        Cells(self.lengths[priority])
    }

    /// Cells of all categories waiting and in transmission.
    #[inline]
    pub fn total(&self) -> u64 {
        self.lengths[0] + self.lengths[1] + self.lengths[2]
    }

    /// Cells lost here, for want of room or on the line.
    pub fn dropped(&self) -> u64 {
        self.losses.buffer.iter().sum::<u64>() + self.losses.line
    }

    /// Time for which the line had been busy by `at`, which is not before the last event \[ps\].
    pub fn busy_ps(&self, at: Time) -> u64 {
        let cell_time = self.line.cell_time.as_ps();
        let departs = match (self.serving, self.undecided) {
            (Some((.., departs)), _) => Some(departs),
            (None, began) => began.map(|began| began + self.line.cell_time),
        };
        let begun = departs.map_or(0, |departs| cell_time.saturating_sub(departs.since(at).as_ps()));
        self.transmitted * cell_time + begun
    }

    /// Integral of the total queue over time up to `at` [cells * ps].
    #[inline]
    pub fn queue_integral(&self, at: Time) -> u128 {
        let since = at.since(self.integrated_until).as_ps();
        self.integral + u128::from(self.total()) * u128::from(since)
    }

    /// A figure of the algorithm, by its place; zero when there is none.
    pub fn metric(&self, place: usize) -> f64 {
        let (mut index, mut found) = (0, 0.0);
        self.control.metrics(&mut |_, value| {
            if index == place {
                found = value;
            }
            index += 1;
        });
        found
    }

    /// Every cell in the port.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        let waiting = self.waiting.iter().chain([&self.waiting_rm]).flatten();
        let fair = self.fair.iter().flat_map(|fair| fair.iter());
        waiting.chain(fair).chain(self.serving.iter().map(|(_, cell, _)| cell))
    }

    #[inline]
    fn integrate(&mut self, now: Time) {
        self.integral = self.queue_integral(now);
        self.integrated_until = now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::faults::Faults;
    use super::super::network::NONE;
    use super::*;
    use cellrate_engine::priority::UBR;
    use cellrate_engine::random::{Owner, Random, Stream};
    use cellrate_proto::switch::{FrameDiscard, FrameDiscardConfig, PortControlConfig};
    use cellrate_proto::{BitRate, CellRate, Duration, RateCode};
    use cellrate_scenario::Buffers;

    fn port(buffers: Buffers, rm_cells: RmCells) -> Port {
        let rate = BitRate::from_bps(42_400_000); // 10 us a cell
        let random = Random::new(1, Stream::Loss(Owner::named("line")));
        let line = Line::new(rate.cell_time(), Duration::from_us(7), 0.0, &[], random);
        let control = PortControlConfig::default();
        let config = Config { buffers, rm_cells, control, ..Config::default() };
        Port::new(
            line,
            &config,
            PortControl::new(&config.control, CellRate::new(100_000.0)),
            false,
            Exit::Inside(0),
            None,
            None,
        )
    }

    fn data(number: u32) -> Cell {
        Cell::data(Time::ZERO, number, 0, &[0; 48], false)
    }

    fn rm(number: u32) -> Cell {
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
        Cell::resource_management(Time::ZERO, number, 0, &rm)
    }

    /// The order in which a port sends what came, `apart` \[ps\] from one to the next.
    fn order(rm_cells: RmCells, apart: u64) -> Vec<u32> {
        let mut port = port(Buffers::default(), rm_cells);
        let mut departure = Time::NEVER;
        let come = [
            (1, data(0)),
            (2, data(1)),
            (1, data(2)),
            (1, rm(3)),
            (0, data(4)),
            (1, data(5)),
            (1, rm(6)),
            (0, data(7)),
        ];
        for (now, (priority, cell)) in (0..).map(|number| Time::from_ps(number * apart)).zip(come) {
            if let Some(at) = port.admit(now, priority, Slot(0), cell).unwrap() {
                departure = at;
            }
        }
        let mut left = Vec::new();
        while departure != Time::NEVER {
            let (cell, next) = port.depart(departure);
            let cell = cell.unwrap().unwrap();
            assert_eq!(cell.arrives, departure + Duration::from_us(7));
            left.push(cell.hop);
            departure = next;
        }
        left
    }

    #[test]
    fn guaranteed_goes_first_and_rm_cells_wait_for_what_the_port_says() {
        assert_eq!(order(RmCells::InOrder, 1), [0, 4, 7, 2, 3, 5, 6, 1]);
        assert_eq!(order(RmCells::BeforeData, 1), [0, 4, 7, 3, 6, 2, 5, 1]);
        assert_eq!(order(RmCells::First, 1), [0, 3, 6, 4, 7, 2, 5, 1]);
    }

    #[test]
    fn of_all_that_come_to_an_idle_line_at_one_instant_the_highest_category_goes_first() {
        assert_eq!(order(RmCells::InOrder, 0), [4, 7, 0, 2, 3, 5, 6, 1]);
        assert_eq!(order(RmCells::BeforeData, 0), [4, 7, 3, 6, 0, 2, 5, 1]);
        assert_eq!(order(RmCells::First, 0), [3, 6, 4, 7, 0, 2, 5, 1]);
    }

    #[test]
    fn a_full_category_and_a_full_port_lose_cells_by_category() {
        let buffers = Buffers { abr: Some(Cells(2)), shared: Some(Cells(3)), ..Buffers::default() };
        let mut port = port(buffers, RmCells::InOrder);
        let admitted =
            [1, 1, 1, 2, 2].map(|priority| port.admit(Time::ZERO, priority, Slot(0), data(0)).is_ok());
        assert_eq!(admitted, [true, true, false, true, false]);
        assert_eq!(port.losses, Losses { buffer: [0, 1, 1], line: 0 });
        assert_eq!((port.total(), port.queue(ABR), port.dropped()), (3, Cells(2), 2));
    }

    #[test]
    fn frame_discard_decides_on_ubr_alone_and_counts_what_leaves() {
        let buffers = Buffers { abr: Some(Cells(1)), ubr: Some(Cells(9)), ..Buffers::default() };
        let mut port = port(buffers, RmCells::InOrder);
        let policy = FrameDiscardConfig::Selective { threshold: Cells(1), scale_factor: 1.0 };
        let mut discard = FrameDiscard::new(policy, buffers.ubr);
        let [one, two] = [true, true].map(|has_pdus| discard.connect(has_pdus, CellRate::ZERO));
        let refusals = Random::new(1, Stream::Refusals(Owner::named("line")));
        port.frame_discards = Some(FrameDiscards::new([None, None, Some(discard)], refusals));
        let cell = |last: bool| Cell::data(Time::ZERO, 0, 0, &[0; 48], last);
        let come = |port: &mut Port, slot, last| port.admit(Time::ZERO, 2, slot, cell(last));
        let departure = come(&mut port, one, true).unwrap().unwrap();
        assert!(come(&mut port, one, false).is_ok() && come(&mut port, two, true).is_ok());
        assert!(come(&mut port, one, true).is_ok(), "it belongs to what has begun");
        assert!(come(&mut port, one, true).is_err(), "3 * 2 / 4 is above 1");
        assert!(port.admit(Time::ZERO, 1, Slot(NONE), data(0)).is_ok());
        assert!(port.admit(Time::ZERO, 1, Slot(NONE), data(0)).is_err());
        let (_, second) = port.depart(departure);
        // The ABR cell goes first.
        let (_, third) = port.depart(second);
        let (_, fourth) = port.depart(third);
        let _ = port.depart(fourth);
        assert_eq!(port.queue(UBR), Cells(1));
        assert!(come(&mut port, two, true).is_ok(), "one cell is no more than the threshold");
        assert!(come(&mut port, two, true).is_ok(), "1 * 2 / 2 is not above 1");
        assert_eq!((port.losses.buffer, port.frame_discards.unwrap().refused()), ([0, 1, 1], 1));
    }

    #[test]
    fn busy_time_and_the_queue_are_integrated_to_the_instant() {
        let mut port = port(Buffers::default(), RmCells::InOrder);
        let first = port.admit(Time::ZERO, 1, Slot(0), data(0)).unwrap().unwrap();
        assert_eq!(port.admit(Time::ZERO, 1, Slot(0), data(1)), Ok(None));
        assert_eq!(first, Time::ZERO + Duration::from_us(10));
        let (_, second) = port.depart(first);
        // Two cells for 10 us, one for 5.
        let at = first + Duration::from_us(5);
        assert_eq!(port.queue_integral(at), 25_000_000);
        assert_eq!(port.busy_ps(at), 15_000_000);
        assert_eq!(port.depart(second).1, Time::NEVER);
    }

    #[test]
    fn injected_faults_damage_rm_cells_and_lose_data() {
        let mut port = port(Buffers::default(), RmCells::InOrder);
        let rates = Faults { rm_damage: 1.0, data_loss: 1.0, ..Faults::default() };
        port.injected = Some(Box::new(InjectedFaults {
            rates,
            random: Random::new(1, Stream::Faults(Owner::named("line"))),
        }));
        let first = port.admit(Time::ZERO, 1, Slot(0), rm(0)).unwrap().unwrap();
        port.admit(Time::ZERO, 1, Slot(0), data(1)).unwrap();
        let (left, second) = port.depart(first);
        assert!(left.unwrap().unwrap().to_rm().is_err());
        assert!(port.depart(second).0.unwrap().is_err());
        assert_eq!((port.damaged, port.losses.line), (1, 1));
    }
}
