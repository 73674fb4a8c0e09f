//! The cells that wait at a port with queues for its connections, or with weights for its categories.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use cellrate_proto::scheduling::{BookedTurns, Scheduler, Weight, WeightedFair};
use cellrate_proto::switch::Slot;
use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::{Category, Connection, FlowIndex, Queueing, RmCells, Scenario, Sender};

use crate::priority::{ABR, PRIORITIES, UBR};

/// Cells, each a `C`, in queues that take turns.
///
/// Between categories the turn is taken by weight or by strict priority, with the turns of GFR and UBR that are booked
/// for them before those of ABR; within a category by its [discipline](cellrate_proto::scheduling::Discipline).
///
/// A cell whose connection is held to a rate counts as waiting
/// only from the instant on at which it may leave.
#[derive(Clone, Debug)]
pub struct WaitingCells<C> {
    classes: [Class<C>; PRIORITIES],
    /// RM cells, where they do not wait among the data cells.
    rm: VecDeque<C>,
    rm_cells: RmCells,
    /// Weights of the categories; none where service is by strict priority.
    between: Option<WeightedFair>,
    /// Turns of GFR and UBR before ABR, where a rate is booked for them and service is by strict priority.
    booked: Option<BookedTurns>,
    /// Whether the cell in transmission is one of these.
    is_booked: bool,
    /// Cells that may wait in the queue of a connection.
    room: usize,
    /// The category whose cell is in transmission.
    serving: Option<usize>,
    /// The connection whose cell that is, where connections of its category have queues of their own.
    owner: Option<Slot>,
    /// Queues whose first cell may not leave yet: when it may, the category, the queue.
    held: BinaryHeap<Reverse<(Time, u8, u32)>>,
    /// ABR queues that are held to a rate.
    shaped_abr: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Class<C> {
    /// By number at the port; one where all cells share it.
    queues: Vec<Queue<C>>,
    scheduler: Option<Scheduler>,
}

#[derive(Clone, Debug)]
struct Queue<C> {
    cells: VecDeque<C>,
    /// From one cell to the next at least.
    spacing: Duration,
    /// When the next cell may leave; not before the first of those that wait came.
    earliest: Time,
}

impl<C> Queue<C> {
    fn new(spacing: Duration) -> Queue<C> {
        Queue { cells: VecDeque::new(), spacing, earliest: Time::ZERO }
    }
}

impl<C> WaitingCells<C> {
    /// Queues of a port that serves like this; none is connected.
    pub fn new(queueing: &Queueing, rm_cells: RmCells) -> WaitingCells<C> {
        let class = || {
            let scheduler = queueing.discipline.scheduler();
            let queues = if scheduler.is_none() { vec![Queue::new(Duration::ZERO)] } else { Vec::new() };
            Class { queues, scheduler }
        };
        let between = queueing.class_weights.map(|weights| {
            let mut between = WeightedFair::new();
            weights.into_iter().for_each(|weight| between.connect(weight));
            between
        });
        WaitingCells {
            classes: [class(), class(), class()],
            rm: VecDeque::new(),
            rm_cells,
            between,
            booked: queueing.books().then(|| BookedTurns::new(queueing.booked)),
            is_booked: false,
            room: queueing.room.map_or(usize::MAX, |cells| usize::try_from(cells.0).unwrap_or(usize::MAX)),
            serving: None,
            owner: None,
            held: BinaryHeap::new(),
            shaped_abr: Vec::new(),
        }
    }

    /// A direction of a connection of this category comes through the port: its number among those of the category,
    /// where they have queues of their own.
    pub fn connect(&mut self, scenario: &Scenario, flow: FlowIndex, class: usize) -> Option<Slot> {
        let Class { queues, scheduler } = &mut self.classes[class];
        let scheduler = scheduler.as_mut()?;
        let connection = scenario.connection(flow.connection());
        let backward = flow.is_backward();
        let sends = connection.category == Category::Abr
            || connection.carries_data(backward)
            || connection.carries_packets()
            || !connection.loopbacks.is_empty();
        if sends {
            scheduler.connect(weight(connection, backward));
        } else {
            scheduler.connect_silent();
        }
        let spacing = connection.queue.shaped_to.map_or(Duration::ZERO, |rate| rate.interval());
        queues.push(Queue::new(spacing));
        let number = queues.len() as u32 - 1;
        if class == ABR && spacing > Duration::ZERO {
            self.shaped_abr.push(number);
        }
        Some(Slot(number))
    }

    /// Whether a cell of this category, of the connection with this number there, finds room in its queue.
    pub fn has_room(&self, class: usize, slot: Slot, is_rm: bool) -> bool {
        let Class { queues, scheduler } = &self.classes[class];
        let overtakes = is_rm && class == ABR && self.rm_cells != RmCells::InOrder;
        overtakes || scheduler.is_none() || queues[slot.0 as usize].cells.len() < self.room
    }

    /// A cell of this category comes at `now`, of the connection with this number there.
    pub fn push(&mut self, now: Time, class: usize, slot: Slot, cell: C, is_rm: bool) {
        if is_rm && class == ABR && self.rm_cells != RmCells::InOrder {
            if self.rm_cells == RmCells::BeforeData && !self.is_ready(ABR) {
                self.become_ready(now, ABR);
            }
            return self.rm.push_back(cell);
        }
        let number = if self.classes[class].scheduler.is_none() { 0 } else { slot.0 };
        let was_ready = self.is_ready(class);
        let queue = &mut self.classes[class].queues[number as usize];
        queue.cells.push_back(cell);
        if queue.cells.len() > 1 {
            return;
        }
        queue.earliest = queue.earliest.max(now);
        if queue.earliest > now {
            self.held.push(Reverse((queue.earliest, class as u8, number)));
        } else {
            self.begin(now, class, number, was_ready);
        }
    }

    /// The cell whose turn it is at `now`, when the line is free, and its category.
    pub fn pop(&mut self, now: Time) -> Option<(usize, C)> {
        while let Some(&Reverse((at, class, number))) = self.held.peek()
            && at <= now
        {
            self.held.pop();
            let class = usize::from(class);
            self.begin(now, class, number, self.is_ready(class));
        }
        self.is_booked = false;
        if self.rm_cells == RmCells::First
            && let Some(cell) = self.rm.pop_front()
        {
            return Some((ABR, cell));
        }
        let class = match &mut self.between {
            Some(between) => between.next()? as usize,
            None => self.first_ready(now)?,
        };
        let cell = self.pop_of(now, class)?;
        if self.is_ready(class)
            && let Some(between) = &mut self.between
        {
            between.requeue(class as u32);
        }
        self.serving = Some(class);
        Some((class, cell))
    }

    /// Whether the cell in transmission is of GFR or UBR and went, or could have gone, before ABR: its turn was booked.
    pub fn is_booked(&self) -> bool {
        self.is_booked
    }

    /// ABR cells that the port itself holds back at `now`: their connection is held to a rate, and they may not be sent
    /// yet even if the line is idle. They say nothing of what others find on the line.
    pub fn held_of_abr(&self, now: Time) -> u64 {
        let held = |&number: &u32| {
            let Queue { cells, spacing, earliest } = &self.classes[ABR].queues[number as usize];
            let may_leave = match now >= *earliest {
                true => 1 + now.since(*earliest).div_floor(*spacing),
                false => 0,
            };
            (cells.len() as u64).saturating_sub(may_leave)
        };
        self.shaped_abr.iter().map(held).sum()
    }

    /// Whether a cell that has come may leave, those left out that were held back until now.
    pub fn has_turn(&self) -> bool {
        let overtakes = self.rm_cells == RmCells::First && !self.rm.is_empty();
        overtakes || (0..PRIORITIES).any(|class| self.is_ready(class))
    }

    /// The transmission of the cell taken last has ended. The number of its connection among those of its category,
    /// where these have queues of their own.
    pub fn ended(&mut self) -> Option<Slot> {
        self.serving = None;
        self.owner.take()
    }

    /// When the first of the cells that may not leave yet may.
    pub fn next_release(&self) -> Option<Time> {
        self.held.peek().map(|Reverse((at, ..))| *at)
    }

    /// All cells.
    pub fn iter(&self) -> impl Iterator<Item = &C> {
        let queues = self.classes.iter().flat_map(|class| &class.queues);
        queues.flat_map(|queue| &queue.cells).chain(&self.rm)
    }

    fn pop_of(&mut self, now: Time, class: usize) -> Option<C> {
        if class == ABR
            && self.rm_cells == RmCells::BeforeData
            && let Some(cell) = self.rm.pop_front()
        {
            return Some(cell);
        }
        let Class { queues, scheduler } = &mut self.classes[class];
        let Some(scheduler) = scheduler else { return queues[0].cells.pop_front() };
        let number = scheduler.next()?;
        self.owner = Some(Slot(number));
        let queue = &mut queues[number as usize];
        let cell = queue.cells.pop_front();
        if queue.spacing > Duration::ZERO {
            queue.earliest = now.saturating_add(queue.spacing);
            if !queue.cells.is_empty() {
                self.held.push(Reverse((queue.earliest, class as u8, number)));
            }
        } else if !queue.cells.is_empty() {
            scheduler.requeue(number);
        }
        cell
    }

    /// The category whose turn it is by strict priority, and whether the turn is booked.
    fn first_ready(&mut self, now: Time) -> Option<usize> {
        let first = (0..PRIORITIES).find(|&class| self.is_ready(class))?;
        let waits = first >= ABR && self.is_ready(UBR);
        self.is_booked = waits && self.booked.is_some_and(|booked| booked.is_due(now));
        if let (true, Some(booked)) = (self.is_booked, &mut self.booked) {
            booked.take(now);
            return Some(UBR);
        }
        Some(first)
    }

    /// The queue has a cell that may leave at `now`, and had none; `was_ready` says whether its category had one.
    fn begin(&mut self, now: Time, class: usize, number: u32, was_ready: bool) {
        if let Some(scheduler) = &mut self.classes[class].scheduler {
            if scheduler.is_empty() && self.serving != Some(class) {
                scheduler.idle();
            }
            scheduler.begin(number);
        }
        if !was_ready {
            self.become_ready(now, class);
        }
    }

    fn become_ready(&mut self, now: Time, class: usize) {
        if let (UBR, Some(booked)) = (class, &mut self.booked) {
            booked.begin(now);
        }
        let Some(between) = &mut self.between else { return };
        if between.is_empty() && self.serving.is_none() {
            between.idle();
        }
        between.begin(class as u32);
    }

    /// Whether the category has a cell that may leave.
    fn is_ready(&self, class: usize) -> bool {
        let Class { queues, scheduler } = &self.classes[class];
        let has_rm = class == ABR && self.rm_cells == RmCells::BeforeData && !self.rm.is_empty();
        has_rm
            || match scheduler {
                Some(scheduler) => !scheduler.is_empty(),
                None => !queues[0].cells.is_empty(),
            }
    }
}

/// The weight of a direction of `connection` at ports that go by it.
fn weight(connection: &Connection, backward: bool) -> Weight {
    let of_sender = || match &connection.flow(backward).sender {
        Sender::Abr(abr) => Weight::nearest(abr.weight),
        // A thousand cells/s weigh 1.
        Sender::Peak(_) if connection.queue.mcr > CellRate::ZERO => {
            Weight::nearest(connection.queue.mcr.as_cells_per_s() / 1000.0)
        }
        Sender::Peak(_) => Weight::ONE,
    };
    connection.queue.weight.unwrap_or_else(of_sender)
}
