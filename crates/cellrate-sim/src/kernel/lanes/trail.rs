//! Cells one behind the other, as octets: what an octet says, and where reading or writing has come to.
//!
//! Between two RM cells the data cells of a connection have numbers in order and left their source evenly, and the RM
//! cells among them have their turn as data cells would. Only queues have made their arrivals uneven. Behind a queue,
//! though, cells arrive whole cell times apart. So a cell is, in octets:
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

use cellrate_proto::{Duration, Time};

use crate::cell::Cell;

/// Octet that is not a time: it says of what kind a cell is.
pub(crate) const WHOLE: u8 = 0;
pub(crate) const OTHER_SPACING: u8 = 1;
pub(crate) const RM_AT_OTHER_SPACING: u8 = 2;
pub(crate) const RM: u8 = 3;
pub(crate) const PDU_END: u8 = 4;
/// Least octet that is a time.
pub(crate) const TIMES: u8 = 8;
pub(crate) const MANY_CELL_TIMES: u8 = 0b1000_0000;
pub(crate) const PICOSECONDS: u8 = 0b1100_0000;
/// Number of cell times that one octet can say, and least number that two cannot.
pub(crate) const FEW: u32 = (MANY_CELL_TIMES - TIMES) as u32;
pub(crate) const TOO_MANY: u32 = 1 << 14;
/// Picoseconds that cannot be said.
pub(crate) const TOO_LONG: u64 = 1 << 30;

/// The number of cell times in `gap`, a time of less than 2^30 ps, and whether it is as many and no more; `reciprocal`
/// is that of the cell time.
#[inline(always)]
pub(crate) fn cell_times(gap: u32, cell_time: u32, reciprocal: u32) -> (u32, bool) {
    let count = ((u64::from(gap) * u64::from(reciprocal)) >> u32::BITS) as u32;
    (count, count.wrapping_mul(cell_time) == gap)
}

/// The octet for so many cell times, and whether one can say them.
#[inline(always)]
pub(crate) fn few_cell_times((count, is_whole): (u32, bool)) -> (u8, bool) {
    ((count as u8).wrapping_add(TIMES - 1), is_whole && count.wrapping_sub(1) < FEW)
}

/// Writes so long a time in octets.
#[inline(always)]
pub(crate) fn picoseconds(gap: u32) -> [u8; 4] {
    (gap | u32::from(PICOSECONDS) << 24).to_be_bytes()
}

/// The first `N` octets, which are taken away; zeros where there are not so many.
#[inline(always)]
pub(crate) fn take<const N: usize>(octets: &mut &[u8]) -> [u8; N] {
    match octets.split_first_chunk() {
        Some((&first, rest)) => {
            *octets = rest;
            first
        }
        None => [0; N],
    }
}

/// Progress of a [`Trail`] on one of several [strands](super::strands).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strand {
    /// The word of the data cell that comes next, if it is amid its PDU.
    next: u64,
    /// Instant at which the last cell left its source,
    sent: Time,
    /// and how long after the one before it \[ps\].
    spacing: u32,
}

/// State that packing or unpacking has reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trail {
    /// The last cell.
    pub last: Cell,
    /// The word of the data cell that comes next, if it is amid its PDU.
    pub next: u64,
    /// Span from the cell before it to the last one \[ps\]; 0 where that is too long for it.
    pub spacing: u32,
    /// Time of one cell on the link \[ps\]; 0 where that is too long.
    pub cell_time: u32,
}

impl Trail {
    /// Progress on its strand.
    #[inline]
    pub fn strand(&self) -> Strand {
        Strand { next: self.next, sent: self.last.sent, spacing: self.spacing }
    }

    /// Continues on this strand.
    #[inline]
    pub fn turn_to(&mut self, Strand { next, sent, spacing }: Strand) {
        (self.next, self.last.sent, self.spacing) = (next, sent, spacing);
    }

    /// Makes a trail on which nothing has come.
    pub fn new(cell_time: Duration) -> Trail {
        let cell_time = u32::try_from(cell_time.as_ps()).unwrap_or(0);
        Trail { last: Cell::NOTHING, next: 0, spacing: 0, cell_time }
    }

    /// The data cell that follows evenly and arrives then.
    #[inline(always)]
    pub fn even(&self, arrives: Time) -> Cell {
        self.following(self.spacing, arrives, self.next)
    }

    /// The cell of this word that left its source `spacing` after the last one and arrives then.
    #[inline(always)]
    pub fn following(&self, spacing: u32, arrives: Time, word: u64) -> Cell {
        let sent = self.last.sent + Duration::from_ps(spacing.into());
        Cell::from_words([arrives.as_ps(), sent.as_ps(), word])
    }

    /// Takes `cell`, which has come evenly.
    #[inline(always)]
    pub fn come(&mut self, cell: Cell) {
        self.last = cell;
        if !cell.is_rm() {
            self.next = cell.word_behind();
        }
    }

    /// Takes `cell`, which has come at a spacing of its own.
    #[inline]
    pub fn come_apart(&mut self, cell: Cell) {
        let spacing = cell.sent.as_ps().checked_sub(self.last.sent.as_ps());
        self.spacing = spacing.and_then(|spacing| u32::try_from(spacing).ok()).unwrap_or(0);
        self.come(cell);
    }

    /// Takes so many cells, which have come evenly, the last of them then.
    #[inline(always)]
    pub fn pass(&mut self, count: u32, arrives: Time) {
        if let Some(others) = count.checked_sub(1) {
            let spacing = Duration::from_ps(self.spacing.into());
            let last = self.even(arrives).followed_by_others(others, Duration::ZERO, spacing);
            self.come(last);
        }
    }

    /// Reads a cell, if there is one: the last one then.
    #[inline(always)]
    pub fn read(&mut self, octets: &mut &[u8]) -> Option<()> {
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

    /// Reads one that is not a data cell amid its PDU that follows evenly.
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

/// Times from one arrival to the next, as long as cells follow evenly \[ps\].
#[derive(Clone, Debug)]
pub(crate) struct Gaps<'a> {
    pub octets: &'a [u8],
    pub cell_time: u32,
}

impl Gaps<'_> {
    /// Number of octets behind those that have been read.
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
        self.long_time(head)
    }
}

impl Gaps<'_> {
    /// The time that takes more than an octet, if there is one.
    #[inline]
    fn long_time(&mut self, head: u8) -> Option<u64> {
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
