//! Worst-case fair weighted fair queueing, WF2Q+, for cells.
//!
//! Of the disciplines that approximate the fluid server WF2Q+ is the one whose delay bound does not grow with the
//! number of queues (that of self-clocked fair queueing does, by a cell time for each), that never runs ahead of the
//! fluid server by more than a cell, and whose virtual time takes one addition, not the fluid server itself.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::Weight;

/// A fair queueing scheduler: while several queues have cells, each is served in proportion to its weight.
///
/// A queue's next cell has a start tag S and a finish tag F = S + 1/weight. S is the finish tag of the cell before it,
/// or, where the queue has been empty, that or the virtual time V, whichever is later. V goes up by 1/(sum of all
/// weights) with each cell sent, and at least to the smallest S. The cell sent is that with the smallest F of those
/// with S <= V; of equal ones that of the queue connected first.
#[derive(Clone, Debug, Default)]
pub struct WeightedFair {
    /// By queue: 1/weight, and the finish tag of its last cell.
    queues: Vec<(u128, u128)>,
    /// Queues with S <= V when they were last looked at: F, queue.
    eligible: BinaryHeap<Reverse<(u128, u32)>>,
    /// Queues that are ahead, all others: S, queue.
    ahead: BinaryHeap<Reverse<(u128, u32)>>,
    virtual_time: u128,
    /// Sum of the weights \[thousandths\].
    total: u64,
    /// Virtual time that each cell sent adds. Rounded up, where tags are rounded down: a cell whose fluid service
    /// begins now is eligible.
    step: u128,
    latest_finish: u128,
}

/// The unit of virtual time: what a cell of a queue of one thousandth takes. 2^64 such cells fit.
const UNIT: u128 = 1 << 64;

impl WeightedFair {
    /// A scheduler without queues.
    pub fn new() -> WeightedFair {
        WeightedFair::default()
    }

    /// Adds a queue. All are added before the first cell comes.
    pub fn connect(&mut self, weight: Weight) {
        self.total += u64::from(weight.thousandths());
        self.step = UNIT.div_ceil(u128::from(self.total));
        self.queues.push((UNIT / u128::from(weight.thousandths()), 0));
    }

    /// Adds a queue that never has a cell to send.
    pub fn connect_silent(&mut self) {
        self.queues.push((UNIT, 0));
    }

    /// The queue has a cell to send, and had none before.
    pub fn begin(&mut self, queue: u32) {
        let start = self.queues[queue as usize].1.max(self.virtual_time);
        self.await_turn(queue, start);
    }

    /// The queue whose turn it is.
    #[expect(
        clippy::should_implement_trait,
        reason = "it is no iterator: what comes next hangs on what is told between"
    )]
    pub fn next(&mut self) -> Option<u32> {
        if self.eligible.is_empty() {
            let &Reverse((start, _)) = self.ahead.peek()?;
            self.virtual_time = self.virtual_time.max(start);
        }
        while let Some(&Reverse((start, queue))) = self.ahead.peek()
            && start <= self.virtual_time
        {
            self.ahead.pop();
            let finish = start + self.queues[queue as usize].0;
            self.eligible.push(Reverse((finish, queue)));
        }
        let Reverse((finish, queue)) = self.eligible.pop()?;
        self.queues[queue as usize].1 = finish;
        self.latest_finish = self.latest_finish.max(finish);
        self.virtual_time += self.step;
        Some(queue)
    }

    /// The queue whose turn it was has another cell.
    pub fn requeue(&mut self, queue: u32) {
        self.await_turn(queue, self.queues[queue as usize].1);
    }

    /// Nothing waits and nothing is being sent: every queue begins anew.
    pub fn idle(&mut self) {
        self.virtual_time = self.virtual_time.max(self.latest_finish);
    }

    /// Whether no queue has a cell to send.
    pub fn is_empty(&self) -> bool {
        self.eligible.is_empty() && self.ahead.is_empty()
    }

    fn await_turn(&mut self, queue: u32, start: u128) {
        if start <= self.virtual_time {
            self.eligible.push(Reverse((start + self.queues[queue as usize].0, queue)));
        } else {
            self.ahead.push(Reverse((start, queue)));
        }
    }
}
