//! Greedy traffic: as fast as the sender may, inside windows.

use cellrate_proto::Time;
use cellrate_scenario::GreedyWindow;

/// A window that is open or still to come.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: Time,
    end: Time,
    cells_left: u64,
}

/// Greedy traffic at work.
#[derive(Clone, Debug)]
pub struct Greedy {
    current: Window,
    /// The windows after it, last first.
    later: Vec<Window>,
}

const CLOSED: Window = Window { start: Time::NEVER, end: Time::NEVER, cells_left: 0 };

impl Greedy {
    /// Data inside `windows`; always, if there are none.
    pub fn new(windows: &[GreedyWindow]) -> Greedy {
        if windows.is_empty() {
            let always = Window { start: Time::ZERO, end: Time::NEVER, cells_left: u64::MAX };
            return Greedy { current: always, later: Vec::new() };
        }
        let window = |w: &GreedyWindow| Window {
            start: w.start,
            end: w.end,
            cells_left: w.cells.map_or(u64::MAX, |cells| cells.0),
        };
        let mut later: Vec<Window> = windows.iter().rev().map(window).collect();
        let current = later.pop().unwrap_or(CLOSED);
        Greedy { current, later }
    }

    /// The first instant, not before `from`, at which there is data.
    #[inline]
    pub fn available_from(&self, from: Time) -> Time {
        if from < self.current.end && self.current.cells_left > 0 {
            return from.max(self.current.start);
        }
        self.available_later(from)
    }

    #[cold]
    fn available_later(&self, from: Time) -> Time {
        let open = self.later.iter().rev().find(|window| from < window.end && window.cells_left > 0);
        open.map_or(Time::NEVER, |window| from.max(window.start))
    }

    /// A cell leaves at `now`.
    #[inline]
    pub fn take(&mut self, now: Time) {
        while now >= self.current.end || self.current.cells_left == 0 {
            self.current = self.later.pop().unwrap_or(CLOSED);
            if self.current.start == Time::NEVER {
                return;
            }
        }
        self.current.cells_left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::Cells;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn without_windows_there_is_always_more() {
        let mut greedy = Greedy::new(&[]);
        assert_eq!(greedy.available_from(at(5)), at(5));
        greedy.take(at(5));
        assert_eq!(greedy.available_from(at(5)), at(5));
    }

    #[test]
    fn a_window_opens_at_its_start_and_is_closed_at_its_end() {
        let window = |start, end| GreedyWindow { start: at(start), end: at(end), cells: None };
        let mut greedy = Greedy::new(&[window(10, 20), window(30, 40)]);
        assert_eq!(greedy.available_from(at(0)), at(10));
        greedy.take(at(10));
        assert_eq!(greedy.available_from(at(19)), at(19));
        assert_eq!(greedy.available_from(at(20)), at(30));
        greedy.take(at(30));
        assert_eq!(greedy.available_from(at(40)), Time::NEVER);
    }

    #[test]
    fn a_transfer_of_so_many_cells_ends_after_them() {
        let transfer = GreedyWindow { start: at(10), end: Time::NEVER, cells: Some(Cells(2)) };
        let mut greedy = Greedy::new(&[transfer]);
        greedy.take(at(10));
        assert_eq!(greedy.available_from(at(11)), at(11));
        greedy.take(at(11));
        assert_eq!(greedy.available_from(at(12)), Time::NEVER);
    }
}
