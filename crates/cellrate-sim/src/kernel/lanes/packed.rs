//! Cells on their way, packed: most follow the one before them so evenly that the time between their arrivals says all
//! ([`super::trail`]). Where several connections have a lane in common, each has a [strand](super::strands) of its own.
//!
//! In a network of thousands of connections most memory is cells on their way, and this makes it a sixth, and behind a
//! queue a tenth.

use cellrate_proto::{Duration, Time};

use super::strands::{Strands, StrandsByHop};
use super::trail::{
    FEW, Gaps, MANY_CELL_TIMES, OTHER_SPACING, PDU_END, RM, RM_AT_OTHER_SPACING, TOO_LONG, TOO_MANY, Trail,
    WHOLE, cell_times, few_cell_times, picoseconds,
};
use crate::cell::Cell;

/// Gives room for so many octets, or an eighth to a quarter more: sizes that allocators have blocks of.
fn room_for(octets: usize) -> usize {
    octets.next_multiple_of((octets.next_power_of_two() / 8).max(1))
}

/// Cells that leave for one lane of another cluster.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    octets: Vec<u8>,
    trail: Trail,
    /// Factor of a time of less than 2^30 ps whose product has whole cell times in the upper half.
    reciprocal: u32,
    count: u32,
    /// Where several connections have the lane in common.
    strands: Option<Box<StrandsByHop>>,
}

impl Packing {
    /// Makes a packing of no cells so far, for a link on which a cell takes so long.
    pub fn new(cell_time: Duration) -> Packing {
        let trail = Trail::new(cell_time);
        let reciprocal = (1_u64 << u32::BITS).div_ceil(u64::from(trail.cell_time).max(1));
        let reciprocal = u32::try_from(reciprocal).unwrap_or(0);
        Packing { octets: Vec::new(), trail, reciprocal, count: 0, strands: None }
    }

    /// Makes a packing for several connections, whose hops over the link these are, in order.
    pub fn of_several(cell_time: Duration, hops: Box<[u32]>) -> Packing {
        Packing { strands: Some(Box::new(StrandsByHop::new(hops))), ..Packing::new(cell_time) }
    }

    /// Takes room for octets from what is `empty`.
    pub fn make_room(&mut self, empty: &mut Vec<Vec<u8>>) {
        if self.octets.capacity() == 0 {
            self.octets = empty.pop().unwrap_or_default();
        }
    }

    /// Puts `cell` last.
    #[inline(always)]
    pub fn push(&mut self, cell: Cell) {
        let [arrives, sent, word] = cell.to_words();
        self.push_words(arrives, sent, word);
    }

    #[inline(never)]
    fn push_words(&mut self, arrives: u64, sent: u64, word: u64) {
        let cell = Cell::from_words([arrives, sent, word]);
        self.count += 1;
        if let Some(strands) = &mut self.strands {
            strands.write_turn(cell.hop(), &mut self.octets, &mut self.trail);
        }
        let gap = cell.arrives.as_ps().wrapping_sub(self.trail.last.arrives.as_ps());
        if gap < TOO_LONG && self.trail.even(cell.arrives) == cell {
            self.push_gap(gap as u32);
            self.trail.come(cell);
        } else {
            self.push_other(gap, cell);
        }
    }

    /// Writes that the next cell arrives so long after the last one, less than 2^30 ps.
    #[inline(always)]
    fn push_gap(&mut self, gap: u32) {
        let times = self.cell_times(gap);
        match (few_cell_times(times), times) {
            ((few, true), _) => self.octets.push(few),
            (_, (count, true)) if (FEW..TOO_MANY).contains(&count) => {
                let [high, low] = (count as u16).to_be_bytes();
                self.octets.extend_from_slice(&[MANY_CELL_TIMES | high, low]);
            }
            _ => self.octets.extend_from_slice(&picoseconds(gap)),
        }
    }

    /// See [`cell_times`].
    #[inline(always)]
    fn cell_times(&self, gap: u32) -> (u32, bool) {
        cell_times(gap, self.trail.cell_time, self.reciprocal)
    }

    /// Puts a cell last that arrives `gap` after the last one and is not a data cell amid its PDU that follows evenly.
    fn push_other(&mut self, gap: u64, cell: Cell) {
        let Trail { last, spacing, next, .. } = self.trail;
        let [_, _, word] = cell.to_words();
        let own_spacing = u32::try_from(cell.sent.as_ps().wrapping_sub(last.sent.as_ps()));
        match own_spacing.ok().filter(|_| gap < TOO_LONG) {
            Some(_) if self.trail.even(cell.arrives).ending_pdu() == cell => self.octets.push(PDU_END),
            Some(own) if cell.is_rm() => {
                self.octets.push(if own == spacing { RM } else { RM_AT_OTHER_SPACING });
                self.octets.extend_from_slice(&word.to_le_bytes());
                if own != spacing {
                    self.octets.extend_from_slice(&own.to_le_bytes());
                }
            }
            Some(own) if word == next => {
                self.octets.push(OTHER_SPACING);
                self.octets.extend_from_slice(&own.to_le_bytes());
            }
            _ => {
                self.octets.push(WHOLE);
                self.octets.extend_from_slice(cell.to_words().map(u64::to_le_bytes).as_flattened());
                return self.trail.come_apart(cell);
            }
        }
        self.push_gap(gap as u32);
        self.trail.come_apart(cell);
    }

    /// Puts data cells last that left their source one every `spacing`; the first is like `first`, and they arrive
    /// then, one after the other.
    #[inline]
    pub fn push_evenly_sent(&mut self, first: Cell, spacing: Duration, arrivals: &[Time]) {
        let mut cell = first;
        let mut rest = arrivals;
        while let [arrives, others @ ..] = rest {
            if self.strands.is_none() && self.push_rest(cell, spacing, rest) {
                return;
            }
            self.push(cell.arriving(*arrives));
            cell = cell.followed_by(spacing);
            rest = others;
        }
    }

    /// Adds cells of which each follows evenly, the first of them the last one here, and where the times
    /// between arrivals can be said. Whether they are such.
    #[inline]
    fn push_rest(&mut self, first: Cell, spacing: Duration, arrivals: &[Time]) -> bool {
        let (Some(&head), Some(&end)) = (arrivals.first(), arrivals.last()) else { return true };
        let mut before = self.trail.last.arrives;
        let gap = |before: Time, arrives: Time| (arrives.as_ps() - before.as_ps()) as u32;
        let follows = u64::from(self.trail.spacing) == spacing.as_ps()
            && self.trail.even(head) == first.arriving(head)
            && end.as_ps().wrapping_sub(before.as_ps()) < TOO_LONG;
        if follows {
            debug_assert!(before <= head && arrivals.is_sorted());
            let (_, is_few) = few_cell_times(self.cell_times(gap(before, head)));
            if !is_few {
                self.push_picoseconds(arrivals);
            } else if !self.push_few_cell_times(arrivals) {
                for &arrives in arrivals {
                    self.push_gap(gap(before, arrives));
                    before = arrives;
                }
            }
            self.count += arrivals.len() as u32;
            self.trail.pass(arrivals.len() as u32, end);
        }
        follows
    }

    /// The times from one of these arrivals to the next, beginning with the last cell's, if one octet can say each.
    /// Whether it can.
    #[inline(always)]
    fn push_few_cell_times(&mut self, arrivals: &[Time]) -> bool {
        let Packing { octets, trail, reciprocal, .. } = self;
        let (mut before, mut is_few) = (trail.last.arrives.as_ps(), true);
        let length = octets.len();
        octets.extend(arrivals.iter().map(|arrives| {
            let gap = (arrives.as_ps() - before) as u32;
            before = arrives.as_ps();
            let (octet, one_can) = few_cell_times(cell_times(gap, trail.cell_time, *reciprocal));
            is_few &= one_can;
            octet
        }));
        if !is_few {
            octets.truncate(length);
        }
        is_few
    }

    /// Adds arrivals as picoseconds.
    #[inline(always)]
    fn push_picoseconds(&mut self, arrivals: &[Time]) {
        let mut before = self.trail.last.arrives.as_ps();
        let length = self.octets.len();
        self.octets.resize(length + arrivals.len() * size_of::<u32>(), 0);
        let (gaps, _) = self.octets[length..].as_chunks_mut();
        for (gap, arrives) in gaps.iter_mut().zip(arrivals) {
            *gap = picoseconds((arrives.as_ps() - before) as u32);
            before = arrives.as_ps();
        }
    }

    /// Takes the octets that have been put here since the last time: they go to the end of `octets`, and their room to
    /// what is `empty`. Returns how many octets and cells it is.
    pub fn take(&mut self, octets: &mut Vec<u8>, empty: &mut Vec<Vec<u8>>) -> (u32, u32) {
        let mut taken = std::mem::take(&mut self.octets);
        octets.extend_from_slice(&taken);
        let length = taken.len() as u32;
        taken.clear();
        if taken.capacity() > 0 {
            empty.push(taken);
        }
        (length, std::mem::take(&mut self.count))
    }
}

/// Cells that came from one lane of another cluster, in order: the first one as it is, the others packed.
#[derive(Clone, Debug)]
pub(crate) struct Unpacking {
    octets: Vec<u8>,
    /// Octets that have been read.
    read: u32,
    /// Number of cells.
    len: u32,
    /// The last cell is the first one of those that are left, if there are any.
    trail: Trail,
    /// Where several connections have the lane in common.
    strands: Option<Box<Strands>>,
}

impl Unpacking {
    /// Makes an unpacking of no cells so far, for a link on which a cell takes so long.
    pub fn new(cell_time: Duration) -> Unpacking {
        Unpacking { octets: Vec::new(), read: 0, len: 0, trail: Trail::new(cell_time), strands: None }
    }

    /// Makes an unpacking for so many connections.
    pub fn of_several(cell_time: Duration, count: usize) -> Unpacking {
        Unpacking { strands: Some(Box::new(Strands::new(count))), ..Unpacking::new(cell_time) }
    }

    /// Whether all cells are of one connection.
    #[inline]
    pub fn is_of_one(&self) -> bool {
        self.strands.is_none()
    }

    /// Number of cells.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Reads a word of each cache line of it, and of the octets to be read next ([`crate::kernel::windows::prefetch`]).
    #[inline]
    pub fn prefetch(&self) -> u64 {
        let octet = self.octets.get(self.read as usize).copied().unwrap_or_default();
        u64::from(octet) ^ u64::from(self.len)
    }

    /// The first one.
    #[inline]
    pub fn first(&self) -> Option<&Cell> {
        (self.len > 0).then_some(&self.trail.last)
    }

    /// The hops of all cells in order, with how many that follow each other are on it.
    pub fn hops(&self) -> impl Iterator<Item = (usize, u64)> {
        let (mut trail, mut octets) = (self.trail, &self.octets[self.read as usize..]);
        let (mut special, mut strands) = (self.first().copied(), self.strands.clone());
        std::iter::from_fn(move || {
            if let Some(cell) = special.take() {
                return Some((cell.hop(), 1));
            }
            if let Some(strands) = &mut strands {
                strands.read_turn(&mut octets, &mut trail);
                trail.read(&mut octets)?;
                return Some((trail.last.hop(), 1));
            }
            let mut gaps = Gaps { octets, cell_time: trail.cell_time };
            let count = gaps.by_ref().count();
            octets = gaps.octets;
            if count > 0 {
                return Some((trail.even(Time::ZERO).hop(), count as u64));
            }
            trail.read(&mut octets)?;
            Some((trail.last.hop(), 1))
        })
    }

    /// Puts `count` cells last, which are these octets.
    pub fn append(&mut self, octets: &[u8], count: u32) {
        if self.octets.len() + octets.len() > self.octets.capacity() {
            self.make_room(octets.len());
        }
        self.octets.extend_from_slice(octets);
        let was_empty = self.len == 0;
        self.len += count;
        if was_empty {
            self.unpack();
        }
    }

    /// Makes room for so many octets more: by taking those away that have been read, if these are many, so that few are
    /// moved often; or elsewhere, if there is too little, or much more than is needed after a long queue.
    #[cold]
    fn make_room(&mut self, more: usize) {
        let left = self.octets.len() - self.read as usize;
        let is_too_large = self.octets.capacity() / 2 > left + more;
        if self.read as usize >= more.max(left / 8) && !is_too_large {
            self.octets.drain(..self.read as usize);
        } else {
            let mut octets = Vec::with_capacity(room_for(left + more.max(left / 8)));
            octets.extend_from_slice(&self.octets[self.read as usize..]);
            self.octets = octets;
        }
        self.read = 0;
    }

    /// Unpacks the next cell, of which there is one.
    #[inline(always)]
    fn unpack(&mut self) {
        let mut octets = &self.octets[self.read as usize..];
        if let Some(strands) = &mut self.strands {
            strands.read_turn(&mut octets, &mut self.trail);
        }
        let read = self.trail.read(&mut octets);
        debug_assert!(read.is_some(), "there are as many cells as were said");
        self.read = (self.octets.len() - octets.len()) as u32;
    }

    /// The first cell, which there is, how far apart it and those that follow it evenly left their source, and the
    /// times between their arrivals. All are [of one](Unpacking::is_of_one) connection.
    #[inline]
    pub fn even_run(&self) -> (Cell, Duration, Gaps<'_>) {
        let Trail { last, spacing, cell_time, .. } = self.trail;
        let gaps = Gaps { octets: &self.octets[self.read as usize..], cell_time };
        (last, Duration::from_ps(spacing.into()), gaps)
    }

    /// Takes the first `count` cells of an [even run](Unpacking::even_run) away; the last of them arrived then, and so
    /// many octets are [left](Gaps::left) behind it.
    #[inline]
    pub fn skip_evenly(&mut self, count: u32, arrives: Time, left: usize) {
        let Some(others) = count.checked_sub(1) else { return };
        self.trail.pass(others, arrives);
        self.read = (self.octets.len() - left) as u32;
        self.len -= others;
        self.skip();
    }

    /// Takes the first `count` cells away.
    #[inline(never)]
    pub fn skip_all(&mut self, count: usize) {
        (0..count).for_each(|_| self.skip());
    }

    /// Takes the first cell away.
    #[inline(always)]
    pub fn skip(&mut self) {
        self.len -= 1;
        if self.len == 0 {
            self.octets.clear();
            self.read = 0;
        } else {
            self.unpack();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    use cellrate_proto::{Direction, RateCode, RmCell, Time};

    use proptest::prelude::*;

    /// The cell time of the link \[ps\].
    const CELL_TIME: u64 = 2_726;

    fn packing() -> Packing {
        Packing::new(Duration::from_ps(CELL_TIME))
    }

    fn unpacking() -> Unpacking {
        Unpacking::new(Duration::from_ps(CELL_TIME))
    }

    /// Packs `cells`; gives the octets, and their number.
    fn packed(packing: &mut Packing, cells: &[Cell]) -> (Vec<u8>, u32) {
        let (mut octets, mut empty) = (Vec::new(), Vec::new());
        packing.make_room(&mut empty);
        cells.iter().for_each(|&cell| packing.push(cell));
        let (length, count) = packing.take(&mut octets, &mut empty);
        assert_eq!(length as usize, octets.len());
        (octets, count)
    }

    fn rest(unpacking: &Unpacking) -> Vec<Cell> {
        let mut unpacking = unpacking.clone();
        let mut cells = Vec::new();
        while let Some(&first) = unpacking.first() {
            cells.push(first);
            unpacking.skip();
        }
        cells
    }

    fn rm(sent: Time, backward: bool) -> Cell {
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let rm = RmCell {
            direction,
            backward_notification: false,
            congestion_indication: true,
            no_increase: false,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::MAX,
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        };
        Cell::resource_management(sent, &rm)
    }

    /// Spans from arrival to arrival: the longest that each form can say, and the shortest that it cannot.
    const GAPS: [u64; 12] = [
        0,
        1,
        777,
        CELL_TIME,
        CELL_TIME,
        CELL_TIME * 7,
        CELL_TIME * 120,
        CELL_TIME * 121,
        CELL_TIME * ((1 << 14) - 1),
        CELL_TIME << 14,
        TOO_LONG - 1,
        TOO_LONG,
    ];

    #[test]
    fn room_is_in_steps_and_little_more_than_is_needed() {
        let rooms = [0, 1, 8, 9, 63, 64, 65, 512, 513, 640, 641].map(room_for);
        assert_eq!(rooms, [0, 1, 8, 10, 64, 64, 80, 512, 640, 640, 768]);
        assert!(
            (8..10_000).all(|octets| room_for(octets) >= octets && 4 * room_for(octets) <= 5 * octets + 4)
        );
    }

    #[test]
    fn room_grows_with_a_queue_and_goes_back_behind_it() {
        let (mut packing, mut unpacking) = (packing(), unpacking());
        let mut number = 0;
        let mut window = |unpacking: &mut Unpacking, come: u64, go: usize| {
            let times = (0..come).map(|cell| Time::from_ps((1 << 40) + (number + cell) * CELL_TIME));
            let cells: Vec<Cell> =
                (number..).zip(times).map(|(cell, at)| Cell::data(at, cell, false).arriving(at)).collect();
            number += come;
            let (octets, count) = packed(&mut packing, &cells);
            unpacking.append(&octets, count);
            unpacking.skip_all(go);
        };
        for _ in 0..200 {
            window(&mut unpacking, 20, 10);
        }
        let queue = unpacking.octets.len() - unpacking.read as usize;
        assert!((1_990..2_100).contains(&queue), "an octet a cell: {queue}");
        assert!(unpacking.octets.capacity() < queue * 4 / 3, "{}", unpacking.octets.capacity());
        for _ in 0..190 {
            window(&mut unpacking, 10, 20);
        }
        assert_eq!(unpacking.len(), 100);
        for _ in 0..300 {
            window(&mut unpacking, 10, 10);
        }
        assert!(unpacking.octets.capacity() < 300, "{}", unpacking.octets.capacity());
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out_as_it_was(
            // By cell: what it is, and how long after the one before it left and came.
            cells in proptest::collection::vec((0..16, 0..8_usize, 0..GAPS.len()), 1..200),
            list in 1..80_usize,
            takes in proptest::collection::vec(0..60_u64, 1..20),
        ) {
            let (mut sent, mut arrives, mut number) = (0, 1 << 40, (1 << 30) - 20);
            let cells: Vec<Cell> = cells.into_iter().map(|(kind, left, came)| {
                sent += [1 << 34, 2_000, 0, 1_000, 1_000, 1_000, 1_000, 1_000][left];
                arrives += GAPS[came];
                number += u64::from(!matches!(kind, 1 | 4 | 5)) + u64::from(kind == 0);
                let at = Time::from_ps(sent);
                let cell = match kind {
                    1 | 4 | 5 => rm(at, kind == 1),
                    2 => Cell::data(at, number, true),
                    _ => Cell::data(at, number, false),
                };
                cell.on_hop(5 + usize::from(kind == 3)).arriving(Time::from_ps(arrives))
            }).collect();
            let (mut packing, mut unpacking) = (packing(), unpacking());
            let mut waiting: VecDeque<Cell> = VecDeque::new();
            for (chunk, most) in cells.chunks(list).zip(takes.iter().cycle()) {
                let (octets, count) = packed(&mut packing, chunk);
                unpacking.append(&octets, count);
                waiting.extend(chunk);
                prop_assert!(waiting.iter().eq(&rest(&unpacking)));
                let mut behind = waiting.iter();
                for (hop, count) in unpacking.hops() {
                    let on_hop = behind.by_ref().take(count as usize).filter(|cell| cell.hop() == hop);
                    prop_assert_eq!(on_hop.count() as u64, count);
                }
                prop_assert_eq!(behind.next(), None);
                let mut left = *most as usize;
                while left > 0 && unpacking.len() > 0 {
                    let (first, spacing, mut gaps) = unpacking.even_run();
                    let (mut run, mut behind) = (vec![first], gaps.left());
                    if first.is_rm() {
                        unpacking.skip();
                    } else {
                        while run.len() < left && let Some(gap) = gaps.next() {
                            let before = run[run.len() - 1];
                            let sent = before.sent + spacing;
                            let arrives = before.arrives + Duration::from_ps(gap);
                            run.push(Cell::from_words([arrives.as_ps(), sent.as_ps(), before.word_behind()]));
                            behind = gaps.left();
                        }
                        unpacking.skip_evenly(run.len() as u32, run[run.len() - 1].arrives, behind);
                    }
                    left -= run.len();
                    prop_assert!(run.iter().eq(waiting.drain(..run.len()).collect::<Vec<_>>().iter()));
                }
                prop_assert_eq!(unpacking.len() as usize, waiting.len());
            }
        }

        #[test]
        fn cells_that_were_sent_evenly_are_packed_as_one_by_one(
            // By run: how it goes on from the one before, whether it comes from a queue, its spacing, and from arrival
            // to arrival.
            runs in proptest::collection::vec(
                (0..3_usize, any::<bool>(), 1..4_u64, proptest::collection::vec(0..6_usize, 1..30)), 1..20
            ),
        ) {
            let (mut runwise, mut one_by_one) = (packing(), packing());
            let (mut sent, mut number, mut arrives, mut latest) = (1_000, 5, 1 << 40, 1);
            let (mut by_runs, mut by_cells) = (unpacking(), unpacking());
            for (goes_on, from_queue, spacing, gaps) in runs {
                sent += [spacing, latest, 7_777][goes_on];
                latest = spacing;
                let first = Cell::data(Time::from_ps(sent), number, false);
                let mut arrivals = Vec::new();
                for (index, gap) in gaps.into_iter().enumerate() {
                    // Within a run they come one after the other.
                    arrives += if from_queue {
                        CELL_TIME * [1, 1, 2, 7, 120, 121][gap]
                    } else {
                        [u64::from(index > 0), 9, CELL_TIME, 2 * CELL_TIME, 200 * CELL_TIME, TOO_LONG][gap]
                    };
                    let at = Time::from_ps(sent + spacing * arrivals.len() as u64);
                    let cell = Cell::data(at, number + arrivals.len() as u64, false);
                    one_by_one.push(cell.arriving(Time::from_ps(arrives)));
                    arrivals.push(Time::from_ps(arrives));
                }
                runwise.push_evenly_sent(first, Duration::from_ps(spacing), &arrivals);
                number += arrivals.len() as u64;
                sent += spacing * (arrivals.len() as u64 - 1);
                for (packing, row) in [(&mut runwise, &mut by_runs), (&mut one_by_one, &mut by_cells)] {
                    let (octets, count) = packed(packing, &[]);
                    row.append(&octets, count);
                }
            }
            prop_assert_eq!(rest(&by_runs), rest(&by_cells));
        }
    }

    #[test]
    fn a_cell_that_follows_evenly_behind_a_queue_is_one_octet() {
        let at = |ps| Time::from_ps(ps);
        let arrives = |i: u64| at(9_000 + CELL_TIME * (100 * i + i % 3));
        // An FRM every 32 cells, and the end of a PDU after it.
        let train: Vec<Cell> = (0..62)
            .map(|i| match i {
                31 => rm(at(1_310), false).arriving(arrives(i)),
                _ => Cell::data(at(1_000 + 10 * i), 7 + i - i / 32, i == 40).arriving(arrives(i)),
            })
            .collect();
        let (mut packing, mut unpacking) = (packing(), unpacking());
        let lists = [&train[..20], &train[20..]].map(|list| packed(&mut packing, list));
        let sizes = lists.each_ref().map(|(octets, count)| (octets.len(), *count));
        assert_eq!(
            sizes,
            [(25 + (1 + 4 + 1) + 18, 20), ((1 + 8 + 1) + (1 + 1) + 40, 42)],
            "the second one says the spacing"
        );
        lists.iter().for_each(|(octets, count)| unpacking.append(octets, *count));
        assert_eq!(rest(&unpacking), train);
    }

    #[test]
    fn rows_hardly_move_what_they_have() {
        let (mut packing, mut unpacking) = (packing(), unpacking());
        let (mut moves, mut grows) = (0, true);
        for window in 0..2_000 {
            let cells: Vec<Cell> = (0..10)
                .map(|i| 10 * window + i)
                .map(|i| Cell::data(Time::from_ps(10 * i), i, false).arriving(Time::from_ps(CELL_TIME * i)))
                .collect();
            let (octets, count) = packed(&mut packing, &cells);
            let before = (unpacking.octets.capacity(), unpacking.read);
            unpacking.append(&octets, count);
            moves += u32::from(before != (unpacking.octets.capacity(), unpacking.read));
            // It grows until there is hardly any room left, and stays as long.
            let room = unpacking.octets.capacity() - unpacking.octets.len();
            grows &= window < 100 || room > 20;
            unpacking.skip_all(if grows { 0 } else { 10 });
        }
        let room = unpacking.octets.capacity();
        assert!(moves < 200 && room < 3_000, "{moves} moves, room for {room}");
    }

    /// Hop number 3 i for connection i.
    fn of_several(connections: usize) -> (Packing, Unpacking) {
        let cell_time = Duration::from_ps(CELL_TIME);
        let hops = (0..connections as u32).map(|connection| 3 * connection).collect();
        (Packing::of_several(cell_time, hops), Unpacking::of_several(cell_time, connections))
    }

    proptest! {
        #[test]
        fn cells_of_several_connections_come_out_as_they_went_in(
            connections in 1_usize..400,
            // By cell: its connection, how long after the last one it comes, and what it is.
            cells in proptest::collection::vec((0_usize..400, 1_u64..40, 0_u16..40), 1..300),
            batch in 1_usize..50,
            taken in proptest::collection::vec(0_usize..60, 1..10),
        ) {
            let (mut packing, mut unpacking) = of_several(connections);
            let mut sent = vec![(Time::ZERO, 0_u64); connections];
            let (mut at, mut deque, mut taken) = (Time::ZERO, VecDeque::new(), taken.into_iter().cycle());
            for cells in cells.chunks(batch) {
                for &(connection, gap, kind) in cells {
                    let connection = connection % connections;
                    let (left, number) = &mut sent[connection];
                    *left += Duration::from_ps(1_000 + u64::from(kind / 38));
                    at += if kind == 37 { Duration::from_ps(gap) } else { Duration::from_ps(CELL_TIME) * gap };
                    let cell = match kind {
                        0 => rm(*left, false),
                        _ => {
                            *number += 1;
                            Cell::data(*left, *number, kind == 1)
                        }
                    };
                    let cell = cell.on_hop(3 * connection).arriving(at);
                    packing.push(cell);
                    deque.push_back(cell);
                }
                let (mut octets, mut spare) = (Vec::new(), Vec::new());
                let (length, count) = packing.take(&mut octets, &mut spare);
                prop_assert_eq!((length as usize, count as usize), (octets.len(), cells.len()));
                unpacking.append(&octets, count);
                let hops: Vec<(usize, u64)> = unpacking.hops().collect();
                prop_assert_eq!(hops, deque.iter().map(|cell: &Cell| (cell.hop(), 1)).collect::<Vec<_>>());
                for _ in 0..taken.next().unwrap_or(0).min(deque.len()) {
                    prop_assert_eq!(unpacking.first().copied(), deque.pop_front());
                    unpacking.skip();
                }
                let first = unpacking.first().copied();
                prop_assert_eq!((first, unpacking.len() as usize), (deque.front().copied(), deque.len()));
            }
        }
    }

    #[test]
    fn a_cell_that_follows_evenly_on_its_strand_takes_two_octets() {
        let (mut packing, _) = of_several(3);
        let cell = |number: u64, connection: u64| {
            let sent = Time::ZERO + Duration::from_ps(CELL_TIME) * (10 * number + connection);
            Cell::data(sent, number, false)
                .on_hop(3 * connection as usize)
                .arriving(sent + Duration::from_ps(CELL_TIME))
        };
        let mut octets = Vec::new();
        let mut lengths = Vec::new();
        for number in 1..5 {
            (0..3).for_each(|connection| packing.push(cell(number, connection)));
            lengths.push(packing.take(&mut octets, &mut Vec::new()));
        }
        // The first of each strand whole, the second at a spacing of its own.
        assert_eq!(lengths[2..], [(6, 3); 2]);
    }
}
