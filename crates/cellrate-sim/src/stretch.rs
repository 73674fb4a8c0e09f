//! Data cells that follow each other evenly, as one entry of a list.
//!
//! Where sources take [turns](crate::kernel::deferred::turns), what leaves for each of them is even too. In a list of
//! cells a [`Stretch`] stands behind a data cell and says how many more follow it. Only lists on their way to a port
//! before a host, with one way in, have any: nothing else looks at cells that come there one by one.

use cellrate_proto::{Duration, Time};

use crate::cell::Cell;

/// Data cells, amid their PDUs, that follow the one before in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// From arrival to arrival.
    pub gap: Duration,
    /// From one that left the source to the next.
    pub spacing: Duration,
    /// How many; one at least.
    pub count: u32,
}

/// Most cells of one stretch: their number has 30 bits.
const LONGEST: u32 = 1 << 29;

impl Stretch {
    /// Stretch that `entry` of a list stands for, if it is not a cell.
    #[inline(always)]
    pub fn of(entry: &Cell) -> Option<Stretch> {
        let count = entry.marked()?;
        let since = |time: Time| Duration::from_ps(time.as_ps());
        Some(Stretch { gap: since(entry.arrives), spacing: since(entry.sent), count })
    }

    /// Entry of a list that stands for this stretch.
    #[inline]
    pub fn entry(self) -> Cell {
        let at = |span: Duration| Time::from_ps(span.as_ps());
        Cell::mark(at(self.gap), at(self.spacing), self.count)
    }

    /// The cell that is `count` behind `before`.
    #[inline]
    pub fn cell(self, before: Cell, count: u32) -> Cell {
        before.followed_by_others(count, self.gap, self.spacing)
    }

    /// How many of `first` and those behind it arrive before `until`.
    #[inline]
    pub fn arrive_before(self, first: &Cell, until: Time) -> u64 {
        let count = u64::from(self.count);
        // Most often all, which takes no division to tell.
        if first.arrives + self.gap * count < until {
            count + 1
        } else {
            until.since(first.arrives).div_ceil(self.gap)
        }
    }
}

/// Puts data cells last: `first` and those behind it, of which `stretch` says how many more there are: none, perhaps.
#[inline]
pub(crate) fn push(cells: &mut Vec<Cell>, first: Cell, stretch: Stretch) {
    let Stretch { gap, spacing, count } = stretch;
    match &mut cells[..] {
        [.., before, last] if last.marked().is_some() => {
            if let Some(known) = Stretch::of(last)
                && (gap, spacing) == (known.gap, known.spacing)
                && known.count < LONGEST
                && known.cell(*before, known.count + 1) == first
            {
                *last = Stretch { count: known.count + 1 + count, ..known }.entry();
                return;
            }
        }
        [.., last] if !last.is_special() && stretch.cell(*last, 1) == first => {
            cells.push(Stretch { count: count + 1, ..stretch }.entry());
            return;
        }
        _ => {}
    }
    cells.push(first);
    if count > 0 {
        cells.push(stretch.entry());
    }
}

/// The cells that a list stands for.
#[cfg(test)]
pub(crate) fn cells(list: &[Cell]) -> impl Iterator<Item = Cell> {
    let mut before = Cell::NOTHING;
    list.iter().flat_map(move |&entry| {
        let stretch = Stretch::of(&entry);
        let behind = before;
        if stretch.is_none() {
            before = entry;
        }
        let more = stretch
            .into_iter()
            .flat_map(move |stretch| (1..=stretch.count).map(move |count| stretch.cell(behind, count)));
        stretch.is_none().then_some(entry).into_iter().chain(more)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_stands_for_what_was_put_there(
            // By group of cells: how many, when they came and left after those before, and what they are.
            groups in proptest::collection::vec((1..5_u32, 1..3_u64, 1..3_u64, 0..8), 1..60),
        ) {
            let (mut arrives, mut sent, mut number) = (1_000, 10, (1 << 30) - 20);
            let (mut list, mut all) = (Vec::new(), Vec::new());
            for (count, gap, spacing, kind) in groups {
                let stretch = Stretch {
                    gap: Duration::from_ps(10 * gap),
                    spacing: Duration::from_ps(7 * spacing),
                    count: count - 1,
                };
                // Most go on as evenly as before, if before was as even.
                let first = Cell::data(Time::from_ps(sent), number, kind == 0)
                    .on_hop(5)
                    .arriving(Time::from_ps(arrives + u64::from(kind == 1)));
                if kind == 0 {
                    list.push(first);
                    all.push(first);
                } else {
                    push(&mut list, first, stretch);
                    all.extend((0..count).map(|behind| stretch.cell(first, behind)));
                }
                let cells = if kind == 0 { 1 } else { u64::from(count) };
                (arrives, sent, number) = (arrives + 10 * gap * cells, sent + 7 * spacing * cells, number + cells);
            }
            prop_assert!(cells(&list).eq(all.iter().copied()));
            prop_assert!(list.first().is_none_or(|first| first.marked().is_none()));
        }

        #[test]
        fn those_arrive_before_an_instant_whose_instants_are_before(
            count in 1..9_u32, gap in 1..5_u64, until in 95..150_u64,
        ) {
            let stretch = Stretch { gap: Duration::from_ps(gap), spacing: Duration::from_ps(1), count };
            let (first, until) = (Cell::data(Time::from_ps(100), 0, false), Time::from_ps(until));
            let cells = (0..=count).map(|behind| stretch.cell(first, behind));
            let before = cells.filter(|cell| cell.arrives < until).count();
            prop_assert_eq!(stretch.arrive_before(&first, until), before as u64);
        }
    }

    #[test]
    fn what_goes_on_evenly_is_one_entry_and_the_cell_before_it() {
        let cell = |n: u64| Cell::data(Time::from_ps(7 * n), n, false).arriving(Time::from_ps(100 + 10 * n));
        let stretch = |count| Stretch { gap: Duration::from_ps(10), spacing: Duration::from_ps(7), count };
        let mut list = vec![cell(1)];
        push(&mut list, cell(2), stretch(0));
        push(&mut list, cell(3), stretch(4));
        push(&mut list, cell(8), stretch(1));
        assert_eq!(list, [cell(1), stretch(8).entry()]);
        let later = cell(10).arriving(Time::from_ps(777));
        push(&mut list, later, stretch(0));
        assert_eq!(list, [cell(1), stretch(8).entry(), later]);
    }

    #[test]
    fn a_stretch_that_is_as_long_as_its_number_can_say_is_followed_by_another() {
        let (gap, spacing) = (Duration::from_ps(10), Duration::from_ps(7));
        let stretch = |count| Stretch { gap, spacing, count };
        let first = Cell::data(Time::ZERO, 0, false);
        let mut list = Vec::new();
        push(&mut list, first, stretch(LONGEST));
        push(&mut list, stretch(0).cell(first, LONGEST + 1), stretch(4));
        push(&mut list, stretch(0).cell(first, LONGEST + 6), stretch(0));
        let next = stretch(0).cell(first, LONGEST + 1);
        assert_eq!(list, [first, stretch(LONGEST).entry(), next, stretch(5).entry()]);
    }
}
