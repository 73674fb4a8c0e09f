//! Greedy traffic: as fast as the sender may, inside windows.

use cellrate_proto::{Duration, Time};
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

impl Greedy {
    /// How many cells may leave from `at` on, one every `spacing`, before its window closes or is used up; zero where
    /// `at` is in another window than the present one.
    pub fn run(&self, at: Time, spacing: Duration) -> u32 {
        let Window { start, end, cells_left } = self.current;
        if at < start || at >= end {
            return 0;
        }
        let in_time = if end == Time::NEVER { u64::MAX } else { end.since(at).div_ceil(spacing) };
        u32::try_from(in_time.min(cells_left)).unwrap_or(u32::MAX)
    }

    /// `count` cells of a [run](Greedy::run) have left.
    pub fn take_run(&mut self, count: u32) {
        self.current.cells_left -= u64::from(count);
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

    #[test]
    fn a_run_ends_with_its_window_or_with_its_cells() {
        let window =
            |end, cells: Option<u64>| GreedyWindow { start: at(10), end: at(end), cells: cells.map(Cells) };
        let spacing = Duration::from_ps(5);
        assert_eq!(Greedy::new(&[window(25, None)]).run(at(10), spacing), 3, "at 10, 15 and 20");
        assert_eq!(Greedy::new(&[window(26, None)]).run(at(10), spacing), 4);
        assert_eq!(Greedy::new(&[window(26, None)]).run(at(9), spacing), 0);
        assert_eq!(Greedy::new(&[window(26, None)]).run(at(26), spacing), 0);
        let mut counted = Greedy::new(&[window(26, Some(3))]);
        assert_eq!(counted.run(at(10), spacing), 3);
        counted.take_run(2);
        assert_eq!((counted.run(at(20), spacing), counted.available_from(at(20))), (1, at(20)));
        assert_eq!(Greedy::new(&[]).run(at(10), spacing), u32::MAX);
    }
}
