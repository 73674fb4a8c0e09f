//! Greedy traffic: as fast as the sender may, inside windows.

use cellrate_proto::declaration::{Key, Kind, Shape, key};
use cellrate_proto::{CellRate, Cells, Duration, Time};

use super::kinds::Declared;
use super::{Draws, Generate, Generated, Traffic, TrafficKind};
use crate::keys::{CELLS, END_KEY, START_KEY, TIME};
use crate::text::error::Fault;
use crate::text::reading::{optional, start_and_end};
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};

/// Always more data, inside windows: as fast as the sender may.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Greedy {
    /// Times at which there are data; in order, without overlap. Empty: from the start to the end.
    pub windows: Vec<GreedyWindow>,
}

/// A window of greedy traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GreedyWindow {
    /// Data is there from this instant.
    pub start: Time,
    /// And is gone from this instant on; `Time::NEVER` when only `cells` ends the window.
    pub end: Time,
    /// At most so many data cells, if given; what is unsent when the window ends is dropped by the application.
    pub cells: Option<Cells>,
}

const CELLS_KEY: Key = key("cells", CELLS, "no limit", "Largest number of data cells.");

const WINDOW: Shape = Shape {
    name: "window",
    about: "A window of greedy traffic.",
    keys: &[
        START_KEY,
        key("end", TIME, "never", "The application drops unsent data at this instant."),
        CELLS_KEY,
    ],
};

impl Declared for Greedy {
    const SHAPE: Shape = Shape {
        name: "greedy",
        about: "Always more data, sent as fast as the sender may; in `windows`, or in the one window that start, end and cells give.",
        keys: &[
            key(
                "windows",
                Kind::List(&Kind::Table(&WINDOW), 1),
                "always",
                "Times at which there are data; in order, without overlap.",
            ),
            START_KEY,
            END_KEY,
            CELLS_KEY,
        ],
    };

    const FOR_CALLS: Option<Shape> =
        Some(Shape { name: "call_greedy", about: "Always more data, as fast as the sender may.", keys: &[] });

    fn read(_node: &Node, table: &Table, _peak: CellRate) -> Result<Greedy, Fault> {
        let direct = ["start", "end", "cells"].into_iter().find_map(|key| table.entry(key));
        match (table.node("windows"), direct) {
            (Some(_), Some(entry)) => {
                let message = format!("the traffic has both windows and {}", entry.key);
                Err(Fault::new(entry.place, message, "Write it into the windows"))
            }
            (None, None) => Ok(Greedy::default()),
            (None, Some(_)) => Ok(Greedy { windows: vec![window(table)?] }),
            (Some(node), None) => {
                let mut windows: Vec<GreedyWindow> = Vec::new();
                for node in check::list(node)? {
                    let Some(table) = node.table() else { continue };
                    let next = window(table)?;
                    if let Some(last) = windows.last().filter(|last| next.start < last.end) {
                        let message = format!(
                            "the window begins at {}, and the one before it ends at {}",
                            next.start, last.end
                        );
                        let remedy = "Write windows in order and apart, each with its end";
                        return Err(Fault::new(node.place, message, remedy));
                    }
                    windows.push(next);
                }
                Ok(Greedy { windows })
            }
        }
    }
}

fn window(table: &Table) -> Result<GreedyWindow, Fault> {
    let (start, end) = start_and_end(table)?;
    Ok(GreedyWindow { start, end, cells: optional(table, "cells", quantity::cells)? })
}

impl TrafficKind for Greedy {
    fn delay(&mut self, phase: Duration) {
        if self.windows.is_empty() {
            self.windows.push(GreedyWindow { start: Time::ZERO + phase, end: Time::NEVER, cells: None });
            return;
        }
        for window in &mut self.windows {
            window.start = window.start.saturating_add(phase);
            window.end = window.end.saturating_add(phase);
        }
    }

    fn changes(&self) -> Vec<Time> {
        self.windows.iter().flat_map(|window| [window.start, window.end]).collect()
    }

    fn sends_at(&self, at: Time) -> bool {
        self.windows.is_empty() || self.windows.iter().any(|window| window.start <= at && at < window.end)
    }

    fn rate(&self, peak: CellRate) -> Option<CellRate> {
        match self.windows[..] {
            [] | [GreedyWindow { end: Time::NEVER, cells: None, .. }] => Some(peak),
            _ => None,
        }
    }

    fn rate_at(&self, _at: Time, peak: CellRate) -> Option<CellRate> {
        Some(peak)
    }

    fn is_steady(&self, from: Time, to: Time) -> bool {
        let is_over = |window: &GreedyWindow| window.end <= from;
        let lasts =
            |window: &GreedyWindow| window.cells.is_none() && window.start <= from && window.end >= to;
        self.windows.is_empty()
            || self.windows.iter().all(|window| is_over(window) || lasts(window))
                && self.windows.iter().any(lasts)
    }

    fn fixed_spacing(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }

    fn is_autonomous(&self) -> bool {
        true
    }

    fn for_call(&self, start: Time, end: Time) -> Option<Traffic> {
        Some(Traffic::Greedy(Greedy { windows: vec![GreedyWindow { start, end, cells: None }] }))
    }
}

/// A window that is open or still to come.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: Time,
    end: Time,
    cells_left: u64,
}

/// Cells of [`Greedy`] traffic, as they can be sent.
#[derive(Clone, Debug)]
pub struct GreedyCells {
    current: Window,
    /// The windows after it, last first.
    later: Vec<Window>,
}

const CLOSED: Window = Window { start: Time::NEVER, end: Time::NEVER, cells_left: 0 };

impl Generated for Greedy {
    type Cells<D: Draws> = GreedyCells;

    fn cells<D: Draws>(&self, _draws: impl FnOnce() -> D) -> GreedyCells {
        if self.windows.is_empty() {
            let always = Window { start: Time::ZERO, end: Time::NEVER, cells_left: u64::MAX };
            return GreedyCells { current: always, later: Vec::new() };
        }
        let window = |w: &GreedyWindow| Window {
            start: w.start,
            end: w.end,
            cells_left: w.cells.map_or(u64::MAX, |cells| cells.0),
        };
        let mut later: Vec<Window> = self.windows.iter().rev().map(window).collect();
        let current = later.pop().unwrap_or(CLOSED);
        GreedyCells { current, later }
    }
}

impl Generate for GreedyCells {
    #[inline]
    fn available_from(&self, from: Time) -> Time {
        if from < self.current.end && self.current.cells_left > 0 {
            return from.max(self.current.start);
        }
        self.available_later(from)
    }

    #[inline]
    fn take(&mut self, now: Time) {
        while now >= self.current.end || self.current.cells_left == 0 {
            self.current = self.later.pop().unwrap_or(CLOSED);
            if self.current.start == Time::NEVER {
                return;
            }
        }
        self.current.cells_left -= 1;
    }

    fn waiting(&self, _now: Time) -> Option<u64> {
        None
    }

    /// Before its window closes or is used up; zero where `at` is in another window than the present one.
    fn run(&self, at: Time, spacing: Duration) -> u32 {
        let Window { start, end, cells_left } = self.current;
        if at < start || at >= end {
            return 0;
        }
        let in_time = if end == Time::NEVER { u64::MAX } else { end.since(at).div_ceil(spacing) };
        u32::try_from(in_time.min(cells_left)).unwrap_or(u32::MAX)
    }

    fn take_run(&mut self, count: u32) {
        self.current.cells_left -= u64::from(count);
    }
}

impl GreedyCells {
    #[cold]
    fn available_later(&self, from: Time) -> Time {
        let open = self.later.iter().rev().find(|window| from < window.end && window.cells_left > 0);
        open.map_or(Time::NEVER, |window| from.max(window.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::kinds::NoDraws;

    fn cells(windows: &[GreedyWindow]) -> GreedyCells {
        Greedy { windows: windows.to_vec() }.cells(|| NoDraws)
    }

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn without_windows_there_is_always_more() {
        let mut greedy = cells(&[]);
        assert_eq!(greedy.available_from(at(5)), at(5));
        greedy.take(at(5));
        assert_eq!(greedy.available_from(at(5)), at(5));
    }

    #[test]
    fn a_window_opens_at_its_start_and_is_closed_at_its_end() {
        let window = |start, end| GreedyWindow { start: at(start), end: at(end), cells: None };
        let mut greedy = cells(&[window(10, 20), window(30, 40)]);
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
        let mut greedy = cells(&[transfer]);
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
        assert_eq!(cells(&[window(25, None)]).run(at(10), spacing), 3, "at 10, 15 and 20");
        assert_eq!(cells(&[window(26, None)]).run(at(10), spacing), 4);
        assert_eq!(cells(&[window(26, None)]).run(at(9), spacing), 0);
        assert_eq!(cells(&[window(26, None)]).run(at(26), spacing), 0);
        let mut counted = cells(&[window(26, Some(3))]);
        assert_eq!(counted.run(at(10), spacing), 3);
        counted.take_run(2);
        assert_eq!((counted.run(at(20), spacing), counted.available_from(at(20))), (1, at(20)));
        assert_eq!(cells(&[]).run(at(10), spacing), u32::MAX);
    }
}
