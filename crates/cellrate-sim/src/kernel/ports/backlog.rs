//! The figures of cells that all have to wait, without dealing with each.
//!
//! Where the line is busy with one cell after the other, the k-th cell to come leaves k cell times after the line
//! began, whoever sent it. So of the time that all stay together only the instants of the trains count; and of the
//! longest stay, how many cells had come by when. Time is cut into blocks: from the cells that have come by its end
//! follows the most that any cell of a block can stay, and only blocks that may hold the longest are looked into.

use cellrate_proto::{Duration, Time};

/// `count` cells, one every `spacing`; of one alone the spacing says nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Even {
    pub first: Time,
    pub spacing: Duration,
    pub count: u64,
}

/// Fate of cells that come to a busy line.
#[derive(Debug, PartialEq)]
pub(super) struct Backlog {
    /// Number of cells.
    pub cells: u64,
    /// Instant at which the last of them will have left.
    pub busy_until: Time,
    /// Sum of the times from arrival to departure \[ps\].
    pub sojourns: u128,
    /// The longest of these times.
    pub longest: Duration,
}

/// Parts that time is cut into.
const BLOCKS: u64 = 4096;

impl Even {
    /// Puts `trains` of one source, first to last, behind `list`, as few as they can be: data and the RM cells between
    /// them are even where the rate stays.
    pub fn put_together(trains: impl Iterator<Item = Even>, list: &mut Vec<Even>) {
        let mut last: Option<Even> = None;
        trains.for_each(|train| {
            if !last.as_mut().is_some_and(|last| last.takes_in(&train)) {
                list.extend(last.replace(train));
            }
        });
        list.extend(last);
    }

    /// Takes in the cells of `next`, if they follow its own as evenly.
    fn takes_in(&mut self, next: &Even) -> bool {
        if self.count == 1 {
            self.spacing = next.first.since(self.first);
        }
        let is_even = next.first.as_ps() == self.last() + self.spacing.as_ps()
            && (next.count == 1 || next.spacing == self.spacing);
        self.count += if is_even { next.count } else { 0 };
        is_even
    }

    /// Number of them that come before `until`.
    fn before(&self, until: u64) -> u64 {
        match until.checked_sub(self.first.as_ps()) {
            None | Some(0) => 0,
            Some(span) if self.count > 1 => span.div_ceil(self.spacing.as_ps().max(1)).min(self.count),
            Some(_) => self.count,
        }
    }

    /// The instants of those that come from `from` on and before `until` \[ps\].
    fn instants(&self, from: u64, until: u64) -> impl Iterator<Item = u64> {
        let (first, spacing) = (self.first.as_ps(), self.spacing.as_ps());
        (self.before(from)..self.before(until)).map(move |index| first + spacing * index)
    }

    fn last(&self) -> u64 {
        self.first.as_ps() + self.spacing.as_ps() * (self.count - 1)
    }
}

impl Backlog {
    /// The backlog of `trains` that come to a line that is busy until `busy_until`, and at least until the last cell
    /// comes, with `cell_time` for each; `None` if there are none.
    pub fn of(trains: &[Even], busy_until: Time, cell_time: Duration) -> Option<Backlog> {
        let (begin, cell_time) = (busy_until.as_ps(), cell_time.as_ps());
        let cells: u64 = trains.iter().map(|train| train.count).sum();
        let first = trains.iter().map(|train| train.first.as_ps()).min()?;
        let last = trains.iter().map(Even::last).max()?;
        debug_assert!(begin >= last, "the line is busy");
        let triangle = |count: u64| u128::from(count) * u128::from(count + 1) / 2;
        let departures = u128::from(begin) * u128::from(cells) + triangle(cells) * u128::from(cell_time);
        let arrivals: u128 = trains
            .iter()
            .map(|train| {
                let steps = triangle(train.count - 1) * u128::from(train.spacing.as_ps());
                u128::from(train.first.as_ps()) * u128::from(train.count) + steps
            })
            .sum();
        let longest = longest(trains, [first, last], begin, cell_time);
        Some(Backlog {
            cells,
            busy_until: Time::from_ps(begin + cells * cell_time),
            sojourns: departures - arrivals,
            longest: Duration::from_ps(longest),
        })
    }
}

/// The longest stay of a cell \[ps\].
fn longest(trains: &[Even], [first, last]: [u64; 2], begin: u64, cell_time: u64) -> u64 {
    let length = (last - first) / BLOCKS + 1;
    let mut counts = vec![0; ((last - first) / length + 1) as usize];
    for train in trains {
        // Block by block, from the one with the first cell to the one with the last.
        let mut counted = 0;
        while counted < train.count {
            let block = (train.first.as_ps() + train.spacing.as_ps() * counted - first) / length;
            let until = train.before(first + (block + 1) * length);
            counts[block as usize] += until - counted;
            counted = until;
        }
    }
    let (mut longest, mut left) = (0, counts.iter().sum::<u64>());
    // The last block most often holds the longest stay.
    for (block, &count) in counts.iter().enumerate().rev() {
        let block = block as u64;
        let from = first + block * length;
        if count > 0 && begin + left * cell_time - from > longest {
            let mut instants: Vec<u64> =
                trains.iter().flat_map(|train| train.instants(from, from + length)).collect();
            instants.sort_unstable();
            let mut joined = left - count;
            for instant in instants {
                joined += 1;
                longest = longest.max(begin + joined * cell_time - instant);
            }
        }
        left -= count;
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn trains_that_follow_each_other_evenly_are_one() {
        let even = |first, spacing, count| Even {
            first: Time::from_ps(first),
            spacing: Duration::from_ps(spacing),
            count,
        };
        // Data, an RM cell, data; a gap; then another rate, whose first cell comes one spacing of the old one later.
        let trains = [even(0, 10, 3), even(30, 7, 1), even(40, 10, 2), even(80, 10, 2), even(100, 5, 2)];
        let mut list = vec![even(1, 1, 1)];
        Even::put_together(trains.into_iter(), &mut list);
        let cells =
            |list: &[Even]| list.iter().flat_map(|train| train.instants(0, u64::MAX)).collect::<Vec<_>>();
        assert_eq!(list.iter().map(|train| train.count).collect::<Vec<_>>(), [1, 6, 2, 2]);
        assert_eq!(cells(&list[1..]), cells(&trains));
    }

    proptest! {
        #[test]
        fn figures_are_those_of_cells_one_by_one(
            trains in proptest::collection::vec((0_u64..50_000, 1_u64..900, 1_u64..40), 1..20),
            (later, cell_time) in (0_u64..500, 1_u64..300),
        ) {
            let even = |&(first, spacing, count): &(u64, u64, u64)| Even {
                first: Time::from_ps(first),
                spacing: Duration::from_ps(spacing),
                count,
            };
            let trains: Vec<Even> = trains.iter().map(even).collect();
            let mut instants: Vec<u64> = trains.iter().flat_map(|train| train.instants(0, u64::MAX)).collect();
            instants.sort_unstable();
            let begin = instants.last().expect("a cell") + later;
            let (mut busy, mut sojourns, mut longest) = (begin, 0, 0);
            for instant in &instants {
                busy += cell_time;
                sojourns += u128::from(busy - instant);
                longest = longest.max(busy - instant);
            }
            let expected = Backlog {
                cells: instants.len() as u64,
                busy_until: Time::from_ps(busy),
                sojourns,
                longest: Duration::from_ps(longest),
            };
            let found = Backlog::of(&trains, Time::from_ps(begin), Duration::from_ps(cell_time));
            prop_assert_eq!(found, Some(expected));
            prop_assert_eq!(Backlog::of(&[], Time::ZERO, Duration::from_ps(1)), None);
        }
    }
}
