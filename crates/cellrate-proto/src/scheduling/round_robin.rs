//! Deficit round robin (M. Shreedhar, G. Varghese, "Efficient Fair Queuing Using Deficit Round Robin", IEEE/ACM ToN
//! 4(3), 1996), for cells.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::Weight;

/// Queues in turn: in each visit a queue may send `quantum` times its weight over the least weight, in cells; what is
/// left of a cell is carried to its next visit.
#[derive(Clone, Debug)]
pub struct DeficitRoundRobin {
    quantum: u64,
    /// By queue: its weight, and what is left of its visits [thousandths of the least weight].
    queues: Vec<(u64, u64)>,
    /// The least weight: what a cell costs.
    least: u64,
    turns: VecDeque<u32>,
    /// Whether the first of them is in the middle of its visit.
    visiting: bool,
}

impl DeficitRoundRobin {
    /// A round robin without queues, with this quantum for the least weight [cells, at least 1].
    pub fn new(quantum: u32) -> DeficitRoundRobin {
        DeficitRoundRobin {
            quantum: u64::from(quantum.max(1)),
            queues: Vec::new(),
            least: u64::MAX,
            turns: VecDeque::new(),
            visiting: false,
        }
    }

    /// Adds a queue. All are added before the first cell comes.
    pub fn connect(&mut self, weight: Weight) {
        let weight = u64::from(weight.thousandths());
        self.least = self.least.min(weight);
        self.queues.push((weight, 0));
    }

    /// Adds a queue that never has a cell to send.
    pub fn connect_silent(&mut self) {
        self.queues.push((0, 0));
    }

    /// The queue has a cell to send, and had none before: it comes last in the round, and nothing is carried from
    /// before.
    pub fn begin(&mut self, queue: u32) {
        self.queues[queue as usize].1 = 0;
        self.turns.push_back(queue);
    }

    /// The queue whose turn it is.
    #[expect(
        clippy::should_implement_trait,
        reason = "it is no iterator: what comes next hangs on what is told between"
    )]
    pub fn next(&mut self) -> Option<u32> {
        let queue = self.turns.pop_front()?;
        let (weight, deficit) = &mut self.queues[queue as usize];
        let carried = if core::mem::take(&mut self.visiting) { 0 } else { self.quantum * *weight };
        *deficit = *deficit + carried - self.least;
        Some(queue)
    }

    /// The queue whose turn it was has another cell: it goes on with its visit, or comes last in the round.
    pub fn requeue(&mut self, queue: u32) {
        if self.queues[queue as usize].1 >= self.least {
            self.turns.push_front(queue);
            self.visiting = true;
        } else {
            self.turns.push_back(queue);
        }
    }

    /// Whether no queue has a cell to send.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }
}
