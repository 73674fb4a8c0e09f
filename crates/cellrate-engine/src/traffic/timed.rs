//! A list of instants, each with a number of cells.

use cellrate_proto::Time;

/// Timed traffic at work.
#[derive(Clone, Debug)]
pub struct Timed {
    cells: Vec<(Time, u32)>,
    position: usize,
    taken: u32,
}

impl Timed {
    /// So many cells at each instant; instants in order.
    pub fn new(cells: &[(Time, u32)]) -> Timed {
        Timed {
            cells: cells.iter().copied().filter(|&(_, count)| count > 0).collect(),
            position: 0,
            taken: 0,
        }
    }

    /// When the next cell comes; [`Time::NEVER`] after the last.
    pub fn next(&self) -> Time {
        self.cells.get(self.position).map_or(Time::NEVER, |&(time, _)| time)
    }

    /// The cell that came first has left.
    pub fn take(&mut self) {
        self.taken += 1;
        if self.cells.get(self.position).is_some_and(|&(_, count)| self.taken >= count) {
            self.position += 1;
            self.taken = 0;
        }
    }

    /// Cells that have come by `now` and wait \[cells\].
    pub fn waiting(&self, now: Time) -> u64 {
        let arrived = self.cells[self.position..].iter().take_while(|&&(time, _)| time <= now);
        arrived.map(|&(_, count)| u64::from(count)).sum::<u64>().saturating_sub(u64::from(self.taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instant_gives_its_cells_and_then_the_next_comes() {
        let mut timed = Timed::new(&[(Time::from_ps(1), 2), (Time::from_ps(5), 0), (Time::from_ps(9), 1)]);
        assert_eq!(timed.waiting(Time::from_ps(9)), 3);
        for expected in [1, 1, 9] {
            assert_eq!(timed.next(), Time::from_ps(expected));
            timed.take();
        }
        assert_eq!(timed.next(), Time::NEVER);
        assert_eq!(timed.waiting(Time::from_ps(100)), 0);
    }
}
