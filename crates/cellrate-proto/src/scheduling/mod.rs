//! Scheduling: whose cell an output port sends next, of several queues that wait.
//!
//! Queues are numbered from 0 on, as they are connected. A scheduler knows which of them have a cell to send and
//! nothing of the cells: [`Scheduler::begin`] says that a queue has one from now on, [`Scheduler::next`] whose turn it
//! is, and [`Scheduler::requeue`], right after that, that the queue has another one.
//!
//! [`DeficitRoundRobin`] goes around; [`WeightedFair`] is WF2Q+ (J. Bennett, H. Zhang, "Hierarchical Packet Fair
//! Queueing Algorithms", IEEE/ACM ToN 5(5), 1997). Weights are whole thousandths ([`Weight`]) and virtual times are
//! fixed-point numbers, so that what is sent is the same on every machine. [`BookedTurns`] let a queue that otherwise
//! comes last go first as often as a rate that is booked for it asks.

mod booked_turns;
mod round_robin;
#[cfg(test)]
mod tests;
mod weighted_fair;

pub use booked_turns::BookedTurns;
pub use round_robin::DeficitRoundRobin;
pub use weighted_fair::WeightedFair;

/// The weight of a queue: a whole number of thousandths, at least one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Weight(u32);

impl Weight {
    /// Weight 1.
    pub const ONE: Weight = Weight(1000);

    /// `weight`, rounded to the nearest thousandth, from 0.001 to 1000.
    ///
    /// ```
    /// use cellrate_proto::scheduling::Weight;
    /// assert_eq!(Weight::nearest(2.5).thousandths(), 2500);
    /// assert_eq!(Weight::nearest(0.0).thousandths(), 1);
    /// ```
    pub fn nearest(weight: f64) -> Weight {
        Weight((weight.clamp(0.001, 1000.0) * 1000.0 + 0.5) as u32)
    }

    /// How many thousandths it is.
    pub const fn thousandths(self) -> u32 {
        self.0
    }
}

/// How the queues of one service category take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Discipline {
    /// One queue for all, first in, first out.
    #[default]
    Fifo,
    /// A queue for each connection, one cell of each in turn, whatever its weight.
    RoundRobin,
    /// A queue for each connection; in each round the one of least weight may send `quantum` cells, others in
    /// proportion.
    DeficitRoundRobin {
        /// Cells in a round for the least weight, at least 1.
        quantum: u32,
    },
    /// A queue for each connection, served by WF2Q+.
    WeightedFair,
}

impl Discipline {
    /// A scheduler of this discipline without queues; `None` for one queue.
    pub fn scheduler(self) -> Option<Scheduler> {
        match self {
            Discipline::Fifo => None,
            Discipline::RoundRobin => Some(Scheduler::RoundRobin(DeficitRoundRobin::new(1))),
            Discipline::DeficitRoundRobin { quantum } => {
                Some(Scheduler::DeficitRoundRobin(DeficitRoundRobin::new(quantum)))
            }
            Discipline::WeightedFair => Some(Scheduler::WeightedFair(WeightedFair::new())),
        }
    }
}

/// A scheduler of any discipline.
#[derive(Clone, Debug)]
pub enum Scheduler {
    /// Round robin: weights do not count.
    RoundRobin(DeficitRoundRobin),
    /// Deficit round robin.
    DeficitRoundRobin(DeficitRoundRobin),
    /// WF2Q+.
    WeightedFair(WeightedFair),
}

impl Scheduler {
    /// Adds a queue of this weight: its number is how many there were before.
    pub fn connect(&mut self, weight: Weight) {
        match self {
            Scheduler::RoundRobin(rounds) => rounds.connect(Weight::ONE),
            Scheduler::DeficitRoundRobin(rounds) => rounds.connect(weight),
            Scheduler::WeightedFair(fair) => fair.connect(weight),
        }
    }

    /// Adds a queue that never has a cell to send: the others share without it.
    pub fn connect_silent(&mut self) {
        match self {
            Scheduler::RoundRobin(rounds) | Scheduler::DeficitRoundRobin(rounds) => rounds.connect_silent(),
            Scheduler::WeightedFair(fair) => fair.connect_silent(),
        }
    }

    /// The queue has a cell to send, and had none before.
    pub fn begin(&mut self, queue: u32) {
        match self {
            Scheduler::RoundRobin(rounds) | Scheduler::DeficitRoundRobin(rounds) => rounds.begin(queue),
            Scheduler::WeightedFair(fair) => fair.begin(queue),
        }
    }

    /// The queue whose turn it is. It is taken to have nothing more to send unless it is
    /// [requeued](Scheduler::requeue).
    #[expect(
        clippy::should_implement_trait,
        reason = "it is no iterator: what comes next hangs on what is told between"
    )]
    pub fn next(&mut self) -> Option<u32> {
        match self {
            Scheduler::RoundRobin(rounds) | Scheduler::DeficitRoundRobin(rounds) => rounds.next(),
            Scheduler::WeightedFair(fair) => fair.next(),
        }
    }

    /// The queue whose turn it was has another cell.
    pub fn requeue(&mut self, queue: u32) {
        match self {
            Scheduler::RoundRobin(rounds) | Scheduler::DeficitRoundRobin(rounds) => rounds.requeue(queue),
            Scheduler::WeightedFair(fair) => fair.requeue(queue),
        }
    }

    /// Nothing waits and nothing is being sent: what was sent before counts no more.
    pub fn idle(&mut self) {
        if let Scheduler::WeightedFair(fair) = self {
            fair.idle();
        }
    }

    /// Whether no queue has a cell to send.
    pub fn is_empty(&self) -> bool {
        match self {
            Scheduler::RoundRobin(rounds) | Scheduler::DeficitRoundRobin(rounds) => rounds.is_empty(),
            Scheduler::WeightedFair(fair) => fair.is_empty(),
        }
    }
}
