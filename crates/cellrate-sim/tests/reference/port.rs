//! Queues of a port of the judge, and whose turn it is.

use super::*;

impl Port {
    /// Cells of a priority waiting and in transmission.
    pub(super) fn queue(&self, priority: usize) -> usize {
        let transmitting = self.transmitting.iter().filter(|&&(_, of, _)| of == priority).count();
        self.waiting[priority].len() + transmitting
    }

    /// Cells of ABR that wait for the line, those beside that the port holds back.
    pub(super) fn abr_signal(&self, now: Time) -> usize {
        self.queue(1) - self.turns.as_ref().map_or(0, |turns| turns.held_of_abr(now, &self.waiting))
    }

    /// Cells that leave before one of this priority that comes now.
    pub(super) fn ahead_of(&self, priority: usize) -> usize {
        match &self.turns {
            Some(turns) if turns.is_by_weight() => self.queue(priority),
            _ => (0..=priority).map(|other| self.queue(other)).sum(),
        }
    }

    /// The cell whose turn it is leaves its queue, with its priority.
    pub(super) fn take(&mut self, order: [usize; 3], rm_cells: RmCells) -> Option<(usize, Box<Cell>)> {
        let (priority, place) = self.turn(order, rm_cells)?;
        Some((priority, self.waiting[priority].remove(place)?))
    }

    /// The priority and the place in its queue of the cell whose turn it is.
    fn turn(&self, order: [usize; 3], rm_cells: RmCells) -> Option<(usize, usize)> {
        let first_rm = || self.waiting[1].iter().position(|cell| cell.rm.is_some()).map(|place| (1, place));
        let front = |priority: usize| (!self.waiting[priority].is_empty()).then_some((priority, 0));
        let in_order = || order.into_iter().find_map(front);
        match rm_cells {
            RmCells::InOrder => in_order(),
            RmCells::First => first_rm().or_else(in_order),
            RmCells::BeforeData => {
                in_order().map(|turn| if turn.0 == 1 { first_rm().unwrap_or(turn) } else { turn })
            }
        }
    }

    pub(super) fn total(&self) -> usize {
        (0..3).map(|priority| self.queue(priority)).sum()
    }
}

impl Network<'_> {
    pub(super) fn busy_by(&self, number: usize, at: Time) -> Duration {
        let port = &self.ports[number];
        let begun =
            port.transmitting.as_ref().map_or(Duration::ZERO, |&(.., began)| self.worked(number, began, at));
        port.busy + begun
    }
}
