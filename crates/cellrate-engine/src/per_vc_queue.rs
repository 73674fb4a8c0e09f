//! Data cells that wait inside a switch for their connection's virtual source.

use std::collections::VecDeque;

use cellrate_proto::{Cells, CouplingConfig, Time};

/// The data cells, each a `C`, of one direction of a connection between two control loops, in order.
#[derive(Clone, Debug)]
pub struct PerVcQueue<C> {
    cells: VecDeque<C>,
    /// The one that leaves now.
    leaving: Option<C>,
    /// With the loop before.
    coupling: CouplingConfig,
    max: usize,
    /// [cells * ps]
    integral: u128,
    integrated_until: Time,
}

impl<C: Copy> PerVcQueue<C> {
    /// An empty one, between loops that are coupled like this.
    pub fn new(coupling: CouplingConfig) -> PerVcQueue<C> {
        PerVcQueue {
            cells: VecDeque::new(),
            leaving: None,
            coupling,
            max: 0,
            integral: 0,
            integrated_until: Time::ZERO,
        }
    }

    /// Nothing was here before `now`.
    pub fn begin_at(&mut self, now: Time) {
        self.integrated_until = now;
    }

    /// How the loop before is coupled to the one behind.
    pub fn coupling(&self) -> &CouplingConfig {
        &self.coupling
    }

    /// How many wait.
    pub fn len(&self) -> Cells {
        Cells(self.cells.len() as u64)
    }

    /// Whether none does.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The most that have waited.
    pub fn max(&self) -> Cells {
        Cells(self.max as u64)
    }

    /// The most that have waited is counted anew, from those that wait now.
    pub fn begin_max(&mut self) {
        self.max = self.cells.len();
    }

    /// Cells that waited, times the time, by `end` [cells * ps].
    #[inline]
    pub fn integral(&self, end: Time) -> u128 {
        self.integral + u128::from(end.since(self.integrated_until).as_ps()) * self.cells.len() as u128
    }

    /// `cell` comes at `now`. Whether there is room for it.
    #[must_use]
    #[inline]
    pub fn push(&mut self, now: Time, cell: C) -> bool {
        let has_room = !self.coupling.is_full(self.len());
        if has_room {
            self.integrate(now);
            self.cells.push_back(cell);
            self.max = self.max.max(self.cells.len());
        }
        has_room
    }

    /// The first one leaves at `now`, if there is one.
    pub fn take(&mut self, now: Time) -> Option<C> {
        self.leaving = self.pop(now);
        self.leaving
    }

    /// The first one leaves at `now`, if there is one, and is given here only.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<C> {
        self.integrate(now);
        self.cells.pop_front()
    }

    /// The cell that was [taken](PerVcQueue::take) last, given once.
    pub fn take_leaving(&mut self) -> Option<C> {
        self.leaving.take()
    }

    #[inline]
    fn integrate(&mut self, now: Time) {
        self.integral = self.integral(now);
        self.integrated_until = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_leave_in_order_and_those_without_room_never_come() {
        let mut queue = PerVcQueue::new(CouplingConfig { buffer: Some(Cells(2)), ..CouplingConfig::new() });
        let at = |us: u64| Time::from_ps(us * 1_000_000);
        assert!(queue.push(at(10), 'a') && queue.push(at(30), 'b'));
        assert!(!queue.push(at(31), 'c'), "there is room for two");
        assert_eq!((queue.len(), queue.max()), (Cells(2), Cells(2)));
        assert_eq!(queue.take(at(40)), Some('a'));
        assert_eq!([queue.take_leaving(), queue.take_leaving()], [Some('a'), None]);
        assert_eq!(queue.take(at(50)), Some('b'));
        assert!(queue.is_empty());
        // 10 to 30 us one, to 40 us two, to 50 us one.
        assert_eq!(queue.integral(at(100)), (20 + 2 * 10 + 10) * 1_000_000);
    }
}
