//! Cells on their way, packed: most follow the one before them so evenly that the time between their arrivals says all.
//!
//! Between two RM cells the data cells of a connection have numbers in order and left their source evenly, and the RM cells
//! among them have their turn as data cells would. Only queues have made their arrivals uneven. Behind a queue, though, cells
//! arrive whole cell times apart. So a cell is, in octets:
//!
//! ```text
//! 8 to 127                                  even, as many cell times as that less 7 after the one before it
//! 10xxxxxx xxxxxxxx                         even, so many cell times after it
//! 11xxxxxx xxxxxxxx xxxxxxxx xxxxxxxx       even, so many picoseconds after it
//! 4, and one of these                       even, and the last one of its PDU
//! 3, eight octets, and one of these         even but for what it says: an RM cell
//! 2, twelve octets, and one of these        the same, at another spacing, which holds from then on
//! 1, four octets, and one of these          even but for its spacing
//! 0, and 24 octets                          any cell
//! ```
//!
//! Where several connections have a lane in common, each has a [strand](super::strands) of its own.
//!
//! In a network of thousands of connections most memory is cells on their way, and this makes it a sixth, and behind a queue a tenth.

use cellrate_proto::{Duration, Time};

use super::cell::Cell;
use super::strands::{Strand, Strands, StrandsByHop};

/// What an octet says that is no time: what kind of cell it is.
const WHOLE: u8 = 0;
const OTHER_SPACING: u8 = 1;
const RM_AT_OTHER_SPACING: u8 = 2;
const RM: u8 = 3;
const PDU_END: u8 = 4;
/// From here on an octet is a time.
const TIMES: u8 = 8;
const MANY_CELL_TIMES: u8 = 0b1000_0000;
const PICOSECONDS: u8 = 0b1100_0000;
/// Cell times that one octet can say, and those that two cannot.
const FEW: u32 = (MANY_CELL_TIMES - TIMES) as u32;
const TOO_MANY: u32 = 1 << 14;
/// Picoseconds that cannot be said.
const TOO_LONG: u64 = 1 << 30;

/// How many cell times `gap` is, a time of less than 2^30 ps, and whether it is as many and no more; `reciprocal` is that of the
/// cell time.
#[inline(always)]
fn cell_times(gap: u32, cell_time: u32, reciprocal: u32) -> (u32, bool) {
    let count = ((u64::from(gap) * u64::from(reciprocal)) >> u32::BITS) as u32;
    (count, count.wrapping_mul(cell_time) == gap)
}

/// The octet for so many cell times, and whether one can say them.
#[inline(always)]
fn few_cell_times((count, is_whole): (u32, bool)) -> (u8, bool) {
    ((count as u8).wrapping_add(TIMES - 1), is_whole && count.wrapping_sub(1) < FEW)
}

/// So long a time, in octets.
#[inline(always)]
fn picoseconds(gap: u32) -> [u8; 4] {
    (gap | u32::from(PICOSECONDS) << 24).to_be_bytes()
}

/// The first `N` octets, which are taken away; zeros where there are not so many.
#[inline(always)]
pub(super) fn take<const N: usize>(octets: &mut &[u8]) -> [u8; N] {
    match octets.split_first_chunk() {
        Some((&first, rest)) => {
            *octets = rest;
            first
        }
        None => [0; N],
    }
}

/// Where packing or unpacking has come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trail {
    /// The last cell.
    last: Cell,
    /// The word of the data cell that comes next, if it is amid its PDU.
    next: u64,
    /// From the one before it to the last one [ps]; 0 where that is too long for it.
    spacing: u32,
    /// Time of one cell on the link [ps]; 0 where that is too long.
    cell_time: u32,
}

impl Trail {
    /// What it has come to on its strand.
    #[inline]
    pub fn strand(&self) -> Strand {
        Strand { next: self.next, sent: self.last.sent, spacing: self.spacing }
    }

    /// It goes on along this strand.
    #[inline]
    pub fn turn_to(&mut self, Strand { next, sent, spacing }: Strand) {
        (self.next, self.last.sent, self.spacing) = (next, sent, spacing);
    }

    /// Nothing has come.
    fn new(cell_time: Duration) -> Trail {
        let cell_time = u32::try_from(cell_time.as_ps()).unwrap_or(0);
        Trail { last: Cell::NOTHING, next: 0, spacing: 0, cell_time }
    }

    /// The data cell that follows evenly and arrives then.
    #[inline(always)]
    fn even(&self, arrives: Time) -> Cell {
        self.following(self.spacing, arrives, self.next)
    }

    /// The cell of this word that left its source `spacing` after the last one and arrives then.
    #[inline(always)]
    fn following(&self, spacing: u32, arrives: Time, word: u64) -> Cell {
        let sent = self.last.sent + Duration::from_ps(spacing.into());
        Cell::from_words([arrives.as_ps(), sent.as_ps(), word])
    }

    /// `cell` has come, evenly.
    #[inline(always)]
    fn come(&mut self, cell: Cell) {
        self.last = cell;
        if !cell.is_rm() {
            self.next = cell.word_behind();
        }
    }

    /// `cell` has come, at a spacing of its own.
    #[inline]
    fn come_apart(&mut self, cell: Cell) {
        let spacing = cell.sent.as_ps().checked_sub(self.last.sent.as_ps());
        self.spacing = spacing.and_then(|spacing| u32::try_from(spacing).ok()).unwrap_or(0);
        self.come(cell);
    }

    /// So many cells have come evenly, the last of them then.
    #[inline(always)]
    fn pass(&mut self, count: u32, arrives: Time) {
        if let Some(others) = count.checked_sub(1) {
            let spacing = Duration::from_ps(self.spacing.into());
            let last = self.even(arrives).followed_by_others(others, Duration::ZERO, spacing);
            self.come(last);
        }
    }

    /// Reads a cell, if there is one: the last one then.
    #[inline(always)]
    fn read(&mut self, octets: &mut &[u8]) -> Option<()> {
        let mut gaps = Gaps { octets, cell_time: self.cell_time };
        match gaps.next() {
            Some(gap) => {
                *octets = gaps.octets;
                self.come(self.even(self.last.arrives + Duration::from_ps(gap)));
                Some(())
            }
            None => self.read_other(octets),
        }
    }

    /// The same for one that is no data cell amid its PDU that follows evenly.
    fn read_other(&mut self, octets: &mut &[u8]) -> Option<()> {
        let [kind] = *octets.split_off(..1)?.first_chunk()?;
        if kind == WHOLE {
            let words: [[u8; 8]; 3] = std::array::from_fn(|_| take(octets));
            self.come_apart(Cell::from_words(words.map(u64::from_le_bytes)));
            return Some(());
        }
        let word = matches!(kind, RM | RM_AT_OTHER_SPACING).then(|| u64::from_le_bytes(take(octets)));
        let spacing =
            matches!(kind, OTHER_SPACING | RM_AT_OTHER_SPACING).then(|| u32::from_le_bytes(take(octets)));
        let mut gaps = Gaps { octets, cell_time: self.cell_time };
        let arrives = self.last.arrives + Duration::from_ps(gaps.next()?);
        *octets = gaps.octets;
        let cell = self.following(spacing.unwrap_or(self.spacing), arrives, word.unwrap_or(self.next));
        self.come_apart(if kind == PDU_END { cell.ending_pdu() } else { cell });
        Some(())
    }
}

/// Cells that leave for one lane of another cluster.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    octets: Vec<u8>,
    trail: Trail,
    /// What a time of less than 2^30 ps is multiplied with to have whole cell times in the upper half.
    reciprocal: u32,
    count: u32,
    /// Where several connections have the lane in common.
    strands: Option<Box<StrandsByHop>>,
}

impl Packing {
    /// None so far, on a link on which a cell takes so long.
    pub fn new(cell_time: Duration) -> Packing {
        let trail = Trail::new(cell_time);
        let reciprocal = (1_u64 << u32::BITS).div_ceil(u64::from(trail.cell_time).max(1));
        let reciprocal = u32::try_from(reciprocal).unwrap_or(0);
        Packing { octets: Vec::new(), trail, reciprocal, count: 0, strands: None }
    }

    /// The same for several connections, whose hops over the link these are, in order.
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
    #[inline]
    pub fn push(&mut self, cell: Cell) {
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

    /// So long after the last cell, less than 2^30 ps, the next one arrives.
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

    /// Puts a cell last that arrives `gap` after the last one and is no data cell amid its PDU that follows evenly.
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

    /// Puts data cells last that left their source one every `spacing`; the first is like `first`, and they arrive then, one
    /// after the other.
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

    /// The same for cells of which each follows evenly, the first of them the last one here, and where the times between
    /// arrivals can be said. Whether they are such.
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

    /// The times from one of these arrivals to the next, beginning with the last cell's, if one octet can say each. Whether it can.
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

    /// The same as picoseconds.
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

    /// What has been put here since the last time: it goes to the end of `octets`, and its room to what is `empty`. Returns how
    /// many octets and cells it is.
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
    /// How many cells there are.
    len: u32,
    /// The last cell is the first one of those that are left, if there are any.
    trail: Trail,
    /// Where several connections have the lane in common.
    strands: Option<Box<Strands>>,
}

/// Times from one arrival to the next, as long as cells follow evenly [ps].
#[derive(Clone, Debug)]
pub(crate) struct Gaps<'a> {
    octets: &'a [u8],
    cell_time: u32,
}

impl Gaps<'_> {
    /// How many octets are behind those that have been read.
    #[inline(always)]
    pub fn left(&self) -> usize {
        self.octets.len()
    }
}

impl Iterator for Gaps<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        let (&head, behind) = self.octets.split_first()?;
        let few = head.wrapping_sub(TIMES);
        if u32::from(few) < FEW {
            self.octets = behind;
            return Some((u64::from(few) + 1) * u64::from(self.cell_time));
        }
        self.long(head)
    }
}

impl Gaps<'_> {
    /// One that takes more than an octet, if there is one.
    #[inline]
    fn long(&mut self, head: u8) -> Option<u64> {
        if head < TIMES {
            None
        } else if head < PICOSECONDS {
            let octets = take(&mut self.octets);
            Some(
                u64::from(u16::from_be_bytes(octets) ^ u16::from(MANY_CELL_TIMES) << 8)
                    * u64::from(self.cell_time),
            )
        } else {
            let octets = take(&mut self.octets);
            Some(u64::from(u32::from_be_bytes(octets) ^ u32::from(PICOSECONDS) << 24))
        }
    }
}

impl Unpacking {
    /// None so far, of a link on which a cell takes so long.
    pub fn new(cell_time: Duration) -> Unpacking {
        Unpacking { octets: Vec::new(), read: 0, len: 0, trail: Trail::new(cell_time), strands: None }
    }

    /// The same for so many connections.
    pub fn of_several(cell_time: Duration, count: usize) -> Unpacking {
        Unpacking { strands: Some(Box::new(Strands::new(count))), ..Unpacking::new(cell_time) }
    }

    /// Whether all cells are of one connection.
    #[inline]
    pub fn is_of_one(&self) -> bool {
        self.strands.is_none()
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Something of each cache line of it, and of the octets to be read next ([`super::fetching`]).
    #[inline]
    pub fn touch(&self) -> u64 {
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

    /// Makes room for so many octets more: by taking those away that have been read, if these are many, so that hardly any is
    /// moved twice.
    #[cold]
    fn make_room(&mut self, more: usize) {
        let left = self.octets.len() - self.read as usize;
        if self.read as usize >= more.max(left / 4) {
            self.octets.drain(..self.read as usize);
        } else {
            let mut octets = Vec::with_capacity(left + more.max(left / 4));
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

    /// The first cell, which there is, how far apart it and those that follow it evenly left their source, and the times between
    /// their arrivals. All are [of one](Unpacking::is_of_one) connection.
    #[inline]
    pub fn even_run(&self) -> (Cell, Duration, Gaps<'_>) {
        let Trail { last, spacing, cell_time, .. } = self.trail;
        let gaps = Gaps { octets: &self.octets[self.read as usize..], cell_time };
        (last, Duration::from_ps(spacing.into()), gaps)
    }

    /// Takes the first `count` cells of an [even run](Unpacking::even_run) away; the last of them arrived then, and so many octets are
    /// [left](Gaps::left) behind it.
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

    /// Of the link.
    const CELL_TIME: u64 = 2_726;

    fn packing() -> Packing {
        Packing::new(Duration::from_ps(CELL_TIME))
    }

    fn unpacking() -> Unpacking {
        Unpacking::new(Duration::from_ps(CELL_TIME))
    }

    /// `cells` in octets, and how many these are.
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

    /// From arrival to arrival: all that is said in one way, and what is one too many for it.
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
            // By run: how it goes on from the one before, whether it comes from a queue, its spacing, and from arrival to arrival.
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
}
