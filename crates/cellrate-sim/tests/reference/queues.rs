//! How the judge has the connections and categories of a port take turns: lists that are searched from end to end.

use std::collections::BTreeSet;

use cellrate_proto::scheduling::Discipline;
use cellrate_scenario::Queueing;

use super::*;

/// WF2Q+ as it is defined, over whatever has a weight [thousandths].
#[derive(Default)]
pub(super) struct Fair {
    pub weights: BTreeMap<usize, u128>,
    /// S of those that wait.
    starts: BTreeMap<usize, u128>,
    /// F of what each has sent last.
    finishes: BTreeMap<usize, u128>,
    now: u128,
}

const UNIT: u128 = 1 << 64;

impl Fair {
    pub fn begin(&mut self, who: usize) {
        let finish = self.finishes.get(&who).copied().unwrap_or(0);
        self.starts.insert(who, finish.max(self.now));
    }

    /// Whose turn it is of those that wait, of which there is one.
    pub fn take(&mut self) -> usize {
        let first = self.starts.values().copied().min().expect("somebody waits");
        self.now = self.now.max(first);
        let finish = |(&who, &start): (&usize, &u128)| (start + UNIT / self.weights[&who], who);
        let eligible = self.starts.iter().filter(|&(_, &start)| start <= self.now);
        let (finish, who) = eligible.map(finish).min().expect("the first is");
        self.starts.remove(&who);
        self.finishes.insert(who, finish);
        let total: u128 = self.weights.values().sum();
        self.now += UNIT.div_ceil(total);
        who
    }

    pub fn requeue(&mut self, who: usize) {
        self.starts.insert(who, self.finishes[&who]);
    }

    fn rest(&mut self) {
        let last = self.finishes.values().copied().max().unwrap_or(0);
        self.now = self.now.max(last);
    }
}

/// The queues of one port.
pub(super) struct Turns {
    queueing: Queueing,
    rm_cells: RmCells,
    /// By priority: the connections in the order of the round, the one in the middle of its visit first.
    rounds: [Vec<usize>; 3],
    visiting: [bool; 3],
    /// By direction: its weight, and what is left of its visit [thousandths].
    weights: BTreeMap<usize, (u64, u64)>,
    /// By priority: the least weight.
    least: [u64; 3],
    fair: [Fair; 3],
    between: Fair,
    spacings: BTreeMap<usize, Duration>,
    /// When the next cell of each may leave.
    earliest: BTreeMap<usize, Time>,
    held: BTreeSet<(Time, usize, usize)>,
    serving: Option<usize>,
    /// From which instant on the next cell of GFR and UBR goes before ABR, where a rate is booked for them.
    next_booked: Option<Time>,
    /// Whether the cell in transmission is one of the booked ones.
    pub was_booked: bool,
}

/// Turns that GFR and UBR wait for are owed for so long.
const OWED: Duration = Duration::from_ms(100);

impl Turns {
    pub fn of(scenario: &Scenario, port: PortIndex) -> Option<Turns> {
        let config = scenario.port(port);
        if config.queueing == Queueing::default() {
            return None;
        }
        let mut turns = Turns {
            queueing: config.queueing,
            rm_cells: config.rm_cells,
            rounds: Default::default(),
            visiting: [false; 3],
            weights: BTreeMap::new(),
            least: [u64::MAX; 3],
            fair: Default::default(),
            between: Fair::default(),
            spacings: BTreeMap::new(),
            earliest: BTreeMap::new(),
            held: BTreeSet::new(),
            serving: None,
            next_booked: None,
            was_booked: false,
        };
        if config.queueing.class_weights.is_none() && config.queueing.booked.as_cells_per_s() > 0.0 {
            turns.next_booked = Some(Time::ZERO);
        }
        for (class, weight) in config.queueing.class_weights.into_iter().flatten().enumerate() {
            turns.between.weights.insert(class, weight.thousandths().into());
        }
        for flow in scenario.flows().filter(|&flow| scenario.steps(flow).any(|step| step.port() == port)) {
            let connection = scenario.connection(flow.connection());
            let has_oam = !connection.loopbacks.is_empty();
            if connection.category != Category::Abr
                && !connection.carries_data(flow.is_backward())
                && !has_oam
            {
                continue;
            }
            let class = priority(connection.category);
            let own = match &scenario.flow(flow).sender {
                Sender::Abr(abr) => (abr.weight * 1000.0).round() as u64,
                Sender::Peak(_) => match connection.queue.mcr.as_cells_per_s() {
                    0.0 => 1000,
                    mcr => (mcr.round() as u64).clamp(1, 1_000_000),
                },
            };
            let weight = match config.queueing.discipline {
                Discipline::RoundRobin => 1000,
                _ => connection.queue.weight.map_or(own, |weight| weight.thousandths().into()),
            };
            turns.weights.insert(flow.index(), (weight, 0));
            turns.least[class] = turns.least[class].min(weight);
            turns.fair[class].weights.insert(flow.index(), weight.into());
            if let Some(rate) = connection.queue.shaped_to.filter(|_| config.queueing.is_per_vc()) {
                turns.spacings.insert(flow.index(), rate.interval());
            }
        }
        Some(turns)
    }

    fn overtakes(&self, cell: &Cell) -> bool {
        self.rm_cells != RmCells::InOrder && cell.rm.is_some()
    }

    fn is_ready(&self, class: usize, waiting: &[VecDeque<Box<Cell>>; 3]) -> bool {
        let has_rm = class == 1
            && self.rm_cells == RmCells::BeforeData
            && waiting[class].iter().any(|cell| cell.rm.is_some());
        has_rm
            || match self.queueing.discipline {
                Discipline::Fifo => waiting[class].iter().any(|cell| !self.overtakes(cell)),
                Discipline::WeightedFair => !self.fair[class].starts.is_empty(),
                _ => !self.rounds[class].is_empty(),
            }
    }

    fn become_ready(&mut self, now: Time, class: usize) {
        if class == 2 {
            self.next_booked.iter_mut().for_each(|next| *next = (*next).max(now));
        }
        if !self.is_by_weight() {
            return;
        }
        if self.between.starts.is_empty() && self.serving.is_none() {
            self.between.rest();
        }
        self.between.begin(class);
    }

    fn begin(&mut self, class: usize, flow: usize) {
        match self.queueing.discipline {
            Discipline::Fifo => {}
            Discipline::WeightedFair => {
                let fair = &mut self.fair[class];
                if fair.starts.is_empty() && self.serving != Some(class) {
                    fair.rest();
                }
                fair.begin(flow);
            }
            _ => {
                self.weights.get_mut(&flow).expect("it sends").1 = 0;
                self.rounds[class].push(flow);
            }
        }
    }

    /// `cell` comes, and is not among those that wait yet.
    pub fn on_arrival(&mut self, now: Time, class: usize, cell: &Cell, waiting: &[VecDeque<Box<Cell>>; 3]) {
        let was_ready = self.is_ready(class, waiting);
        let becomes_ready = if self.overtakes(cell) {
            self.rm_cells == RmCells::BeforeData
        } else if self.queueing.discipline == Discipline::Fifo {
            true
        } else {
            let others = waiting[class].iter().any(|other| other.flow == cell.flow && !self.overtakes(other));
            let earliest = self.earliest.get(&cell.flow).copied().unwrap_or(Time::ZERO).max(now);
            if !others {
                self.earliest.insert(cell.flow, earliest);
            }
            if !others && earliest > now {
                self.held.insert((earliest, class, cell.flow));
            }
            let begins = !others && earliest <= now;
            if begins {
                self.begin(class, cell.flow);
            }
            begins
        };
        if becomes_ready && !was_ready {
            self.become_ready(now, class);
        }
    }

    pub fn is_by_weight(&self) -> bool {
        self.queueing.class_weights.is_some()
    }

    /// Cells of ABR that could not leave yet if the line had been idle since the last of their connection left.
    pub fn held_of_abr(&self, now: Time, waiting: &[VecDeque<Box<Cell>>; 3]) -> usize {
        let mut next = self.earliest.clone();
        let mut held = 0;
        for cell in waiting[1].iter().filter(|cell| !self.overtakes(cell)) {
            let Some(&spacing) = self.spacings.get(&cell.flow) else { continue };
            let leaves = next.entry(cell.flow).or_insert(Time::ZERO);
            held += usize::from(*leaves > now);
            *leaves += spacing;
        }
        held
    }

    /// The cell whose turn it is leaves its queue, with its priority.
    pub fn take(
        &mut self,
        now: Time,
        waiting: &mut [VecDeque<Box<Cell>>; 3],
        order: [usize; 3],
    ) -> Option<(usize, Box<Cell>)> {
        while let Some(&(at, class, flow)) = self.held.first().filter(|&&(at, ..)| at <= now) {
            self.held.remove(&(at, class, flow));
            let was_ready = self.is_ready(class, waiting);
            self.begin(class, flow);
            if !was_ready {
                self.become_ready(now, class);
            }
        }
        self.was_booked = false;
        let first_rm = waiting[1].iter().position(|cell| cell.rm.is_some());
        if self.rm_cells == RmCells::First
            && let Some(place) = first_rm
        {
            return Some((1, waiting[1].remove(place)?));
        }
        let ready: Vec<usize> = order.into_iter().filter(|&class| self.is_ready(class, waiting)).collect();
        let class = match self.queueing.class_weights {
            _ if ready.is_empty() => return None,
            Some(_) => self.between.take(),
            None => {
                let waits = ready.contains(&2) && !ready.contains(&0);
                match self.next_booked.filter(|&next| waits && next <= now) {
                    None => ready[0],
                    Some(next) => {
                        let oldest = Time::from_ps(now.as_ps().saturating_sub(OWED.as_ps()));
                        self.next_booked = Some(next.max(oldest) + self.queueing.booked.interval());
                        self.was_booked = true;
                        2
                    }
                }
            }
        };
        self.serving = Some(class);
        let rm_goes = class == 1 && self.rm_cells == RmCells::BeforeData;
        let place = match first_rm.filter(|_| rm_goes) {
            Some(place) => place,
            None if self.queueing.discipline == Discipline::Fifo => {
                waiting[class].iter().position(|cell| !self.overtakes(cell)).expect("it is ready")
            }
            None => self.turn_of(now, class, waiting),
        };
        let cell = waiting[class].remove(place)?;
        if self.queueing.class_weights.is_some() && self.is_ready(class, waiting) {
            self.between.requeue(class);
        }
        Some((class, cell))
    }

    fn turn_of(&mut self, now: Time, class: usize, waiting: &[VecDeque<Box<Cell>>; 3]) -> usize {
        let is_fair = self.queueing.discipline == Discipline::WeightedFair;
        let flow = if is_fair {
            self.fair[class].take()
        } else {
            let quantum = match self.queueing.discipline {
                Discipline::DeficitRoundRobin { quantum } => u64::from(quantum),
                _ => 1,
            };
            let flow = self.rounds[class].remove(0);
            let (weight, left) = self.weights.get_mut(&flow).expect("it sends");
            if !self.visiting[class] {
                *left += quantum * *weight;
            }
            *left -= self.least[class];
            flow
        };
        self.visiting[class] = false;
        let is_own = |cell: &Cell| cell.flow == flow && !self.overtakes(cell);
        let place = waiting[class].iter().position(|cell| is_own(cell)).expect("it has one");
        let has_more = waiting[class].iter().filter(|cell| is_own(cell)).count() > 1;
        if let Some(&spacing) = self.spacings.get(&flow) {
            let earliest = now + spacing;
            self.earliest.insert(flow, earliest);
            if has_more {
                self.held.insert((earliest, class, flow));
            }
        } else if has_more && is_fair {
            self.fair[class].requeue(flow);
        } else if has_more && self.weights[&flow].1 >= self.least[class] {
            self.rounds[class].insert(0, flow);
            self.visiting[class] = true;
        } else if has_more {
            self.rounds[class].push(flow);
        }
        place
    }

    pub fn has_room(&self, cell: &Cell, waiting: &VecDeque<Box<Cell>>) -> bool {
        let own = waiting.iter().filter(|other| other.flow == cell.flow && !self.overtakes(other)).count();
        self.overtakes(cell)
            || !self.queueing.is_per_vc()
            || self.queueing.room.is_none_or(|room| (own as u64) < room.0)
    }

    pub fn ended(&mut self) {
        self.serving = None;
    }

    pub fn next_release(&self) -> Option<Time> {
        self.held.first().map(|&(at, ..)| at)
    }
}
