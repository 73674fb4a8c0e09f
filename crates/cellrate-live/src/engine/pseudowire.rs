//! Cells in datagrams: the N:1 cell mode of RFC 4717 behind an MPLS label, as RFC 7510 puts it into UDP.
//!
//! ```text
//! octets 0-3    MPLS    label (20) | traffic class (3) | S = 1 | TTL (8)
//! octets 4-7    control | 0000 | flags (4) | fragmentation (2) | length (6) | sequence number (16) |
//! then          52 octets for each cell: the header without its HEC, and the payload
//! then          only if both ends agreed on it: 8 octets for each cell, its logical departure [ps since the start]
//! then          only if both ends agreed on it: a stamp of 24 octets,
//!               the run's nonce (8) | when the sender began [ns since the Unix epoch] (8) | number of the datagram (8)
//! ```
//!
//! The label says over which link the cells come: 16, below which labels are reserved, plus the number of the port that
//! they left. The length field holds the octets from the control word on if they are fewer than 64, so that padding can
//! be told from cells; else 0. Sequence numbers run from 1 to 65535 and then begin with 1 again; 0 says that none is
//! kept. With a stamp the number counts the sender's datagrams over the link from 0 on and does not go round. The
//! emitter ends a datagram with every RM cell, because dissectors look for one in the last place; the parser
//! takes cells in any order.

use std::fmt;

use cellrate_proto::Time;
use cellrate_proto::wire::PAYLOAD_OCTETS;

/// Most cells of a datagram: with 28 octets of IP and UDP they fit an Ethernet frame.
pub const MAX_CELLS: usize = 28;
/// Most cells of a datagram where each cell brings its departure.
pub const MAX_TIMED_CELLS: usize = 24;
/// Most cells of a datagram where each datagram has a stamp. Timed cells leave room for one.
pub const MAX_STAMPED_CELLS: usize = 27;
/// Labels below this are reserved (RFC 3032).
pub const FIRST_LABEL: u32 = 16;

const LABEL_OCTETS: usize = 4;
const CONTROL_OCTETS: usize = 4;
const HEAD_OCTETS: usize = LABEL_OCTETS + CONTROL_OCTETS;
/// A cell without its HEC.
pub const CELL_OCTETS: usize = 4 + PAYLOAD_OCTETS;
const DEPARTURE_OCTETS: usize = 8;
const BOTTOM_OF_STACK: u32 = 1 << 8;
const TTL: u32 = 64;
/// Lengths from here on are not in the control word.
const LENGTH_LIMIT: usize = 64;

/// The longest datagram that is ever read \[octets\].
pub const MAX_OCTETS: usize = HEAD_OCTETS + MAX_CELLS * (CELL_OCTETS + DEPARTURE_OCTETS) + STAMP_OCTETS;

const STAMP_OCTETS: usize = 24;

/// The end of a datagram that tells it from those of other runs, and from all others of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The run's nonce.
    pub run: u64,
    /// When the sending process began \[ns since the Unix epoch\]: later after each restart.
    pub began_ns: u64,
    /// Datagrams that this process sent over the link before.
    pub number: u64,
}

impl Stamp {
    /// Writes the stamp behind a datagram.
    pub fn append(&self, octets: &mut Vec<u8>) {
        for part in [self.run, self.began_ns, self.number] {
            octets.extend_from_slice(&part.to_be_bytes());
        }
    }

    /// Takes the stamp off; `None` where there are not octets enough for one.
    pub fn split(octets: &[u8]) -> Option<(&[u8], Stamp)> {
        let (datagram, stamp) = octets.split_last_chunk::<STAMP_OCTETS>()?;
        let (parts, _) = stamp.as_chunks::<8>();
        let [run, began_ns, number] = [0, 1, 2].map(|part| u64::from_be_bytes(parts[part]));
        Some((datagram, Stamp { run, began_ns, number }))
    }
}

/// A datagram whose cells lie in someone else's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The MPLS label.
    pub label: u32,
    /// 0 where none is kept.
    pub sequence: u16,
    cells: &'a [u8],
    departures: Option<&'a [u8]>,
}

/// A cell of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedCell<'a> {
    /// GFC or the high bits of the VPI, VPI, VCI, PTI, CLP.
    pub header: u32,
    /// The 48 octets after it.
    pub payload: &'a [u8; PAYLOAD_OCTETS],
    /// Its logical departure, where datagrams bring it.
    pub departure: Option<Time>,
}

/// Why octets are no datagram of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramError {
    /// Shorter than label and control word.
    TooShort {
        /// Octets that came.
        octets: usize,
    },
    /// The label is not the only one.
    LabelStack,
    /// The first four bits after the label are not those of a control word.
    NoControlWord,
    /// A part of a larger one; cells are never fragmented.
    Fragment,
    /// The length field claims more than there is.
    Length {
        /// Length in the header \[octets\].
        claimed: usize,
        /// Octets that came from the control word on.
        octets: usize,
    },
    /// No whole number of cells, or none.
    Cells {
        /// Octets that came after the control word.
        octets: usize,
    },
}

impl<'a> Datagram<'a> {
    /// Reads a datagram; `timed` says whether both ends agreed on departures after the cells.
    ///
    /// # Errors
    /// [`DatagramError`]; whatever the octets, it never panics.
    pub fn parse(octets: &'a [u8], timed: bool) -> Result<Datagram<'a>, DatagramError> {
        let Some((head, rest)) = octets.split_first_chunk::<HEAD_OCTETS>() else {
            return Err(DatagramError::TooShort { octets: octets.len() });
        };
        let [a, b, c, d, control, length, high, low] = *head;
        let entry = u32::from_be_bytes([a, b, c, d]);
        if entry & BOTTOM_OF_STACK == 0 {
            return Err(DatagramError::LabelStack);
        }
        if control >> 4 != 0 {
            return Err(DatagramError::NoControlWord);
        }
        if length >> 6 != 0 {
            return Err(DatagramError::Fragment);
        }
        let body = match usize::from(length & 0x3f) {
            0 => rest,
            claimed => claimed
                .checked_sub(CONTROL_OCTETS)
                .and_then(|octets| rest.get(..octets))
                .ok_or(DatagramError::Length { claimed, octets: CONTROL_OCTETS + rest.len() })?,
        };
        let unit = if timed { CELL_OCTETS + DEPARTURE_OCTETS } else { CELL_OCTETS };
        if body.is_empty() || !body.len().is_multiple_of(unit) {
            return Err(DatagramError::Cells { octets: body.len() });
        }
        let (cells, departures) = body.split_at(body.len() / unit * CELL_OCTETS);
        Ok(Datagram {
            label: entry >> 12,
            sequence: u16::from_be_bytes([high, low]),
            cells,
            departures: timed.then_some(departures),
        })
    }

    /// How many cells it holds, at least one.
    pub fn len(&self) -> usize {
        self.cells.len() / CELL_OCTETS
    }

    /// Never: a datagram holds at least one cell.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Its cells, in order.
    pub fn cells(&self) -> impl Iterator<Item = PackedCell<'a>> + 'a {
        let departures = self.departures.unwrap_or_default().as_chunks::<DEPARTURE_OCTETS>().0;
        self.cells.as_chunks::<CELL_OCTETS>().0.iter().enumerate().map(move |(index, octets)| {
            let [a, b, c, d, payload @ ..] = octets;
            let departure = departures.get(index).map(|octets| Time::from_ps(u64::from_be_bytes(*octets)));
            PackedCell { header: u32::from_be_bytes([*a, *b, *c, *d]), payload, departure }
        })
    }
}

/// Writes a datagram of `cells` into `octets`, in place of what stood there. There must be at least one cell;
/// departures are written if `timed`.
pub fn emit<'a>(
    octets: &mut Vec<u8>,
    label: u32,
    sequence: u16,
    timed: bool,
    cells: impl ExactSizeIterator<Item = PackedCell<'a>> + Clone,
) {
    let unit = if timed { CELL_OCTETS + DEPARTURE_OCTETS } else { CELL_OCTETS };
    let total = CONTROL_OCTETS + cells.len() * unit;
    let length = if total < LENGTH_LIMIT { total as u8 } else { 0 };
    octets.clear();
    octets.extend_from_slice(&(label << 12 | BOTTOM_OF_STACK | TTL).to_be_bytes());
    octets.extend_from_slice(&[0, length]);
    octets.extend_from_slice(&sequence.to_be_bytes());
    for cell in cells.clone() {
        octets.extend_from_slice(&cell.header.to_be_bytes());
        octets.extend_from_slice(cell.payload);
    }
    if timed {
        for cell in cells {
            let departure = cell.departure.unwrap_or(Time::ZERO);
            octets.extend_from_slice(&departure.as_ps().to_be_bytes());
        }
    }
}

/// The sequence number after `sequence`: 0 is left out.
pub fn next_sequence(sequence: u16) -> u16 {
    if sequence == u16::MAX { 1 } else { sequence + 1 }
}

/// How many numbers `sequence` is ahead of `expected`; negative when it is behind. Neither is 0.
pub fn distance(expected: u16, sequence: u16) -> i32 {
    const NUMBERS: i32 = 65_535;
    let ahead = (i32::from(sequence) - i32::from(expected)).rem_euclid(NUMBERS);
    if ahead > NUMBERS / 2 { ahead - NUMBERS } else { ahead }
}

impl fmt::Display for DatagramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatagramError::TooShort { octets } => {
                write!(f, "{octets} octets are too few for a label and a control word ({HEAD_OCTETS})")
            }
            DatagramError::LabelStack => f.write_str("more than one MPLS label"),
            DatagramError::NoControlWord => f.write_str("no control word: its first four bits are not zero"),
            DatagramError::Fragment => f.write_str("a fragment; cells are never fragmented"),
            DatagramError::Length { claimed, octets } => {
                write!(f, "the control word claims {claimed} octets, {octets} came")
            }
            DatagramError::Cells { octets } => {
                write!(f, "{octets} octets are not a whole number of cells of {CELL_OCTETS}")
            }
        }
    }
}

impl std::error::Error for DatagramError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAYLOAD: [u8; 48] = [0x6a; 48];

    fn cell(departure: Option<u64>) -> PackedCell<'static> {
        // VCI 32, an RM cell in rate.
        PackedCell {
            header: 32 << 4 | 0b110 << 1,
            payload: &PAYLOAD,
            departure: departure.map(Time::from_ps),
        }
    }

    #[test]
    fn one_cell_stands_octet_by_octet_where_the_rfcs_put_it() {
        let mut octets = Vec::new();
        emit(&mut octets, 19, 0x1234, false, [cell(None)].into_iter());
        // Label 19 << 12, S = 1, TTL 64; control word: length 4 + 52 = 56 = 0x38; the header without HEC.
        assert_eq!(octets[..12], [0x00, 0x01, 0x31, 0x40, 0x00, 0x38, 0x12, 0x34, 0x00, 0x00, 0x02, 0x0c]);
        assert_eq!(octets[12..], PAYLOAD);
        let datagram = Datagram::parse(&octets, false).unwrap();
        assert_eq!((datagram.label, datagram.sequence, datagram.len()), (19, 0x1234, 1));
        assert_eq!(datagram.cells().next(), Some(cell(None)));
    }

    #[test]
    fn from_two_cells_on_the_length_is_not_given() {
        let mut octets = Vec::new();
        emit(&mut octets, 16, 1, false, [cell(None); 2].into_iter());
        assert_eq!((octets.len(), octets[5]), (8 + 104, 0));
        emit(&mut octets, 16, 1, true, [cell(Some(7))].into_iter());
        assert_eq!((octets.len(), octets[5]), (8 + 60, 0), "4 + 60 octets are 64");
        assert_eq!(Datagram::parse(&octets, true).unwrap().cells().next(), Some(cell(Some(7))));
    }

    #[test]
    fn padding_after_a_short_datagram_is_not_taken_for_cells() {
        let mut octets = Vec::new();
        emit(&mut octets, 16, 1, false, [cell(None)].into_iter());
        octets.extend_from_slice(&[0; 30]);
        assert_eq!(Datagram::parse(&octets, false).map(|datagram| datagram.len()), Ok(1));
    }

    #[test]
    fn each_refusal_names_its_reason() {
        let mut whole = Vec::new();
        emit(&mut whole, 16, 1, false, [cell(None)].into_iter());
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut octets = whole.clone();
            change(&mut octets);
            Datagram::parse(&octets, false).unwrap_err()
        };
        assert_eq!(refused(&|octets| octets.truncate(7)), DatagramError::TooShort { octets: 7 });
        assert_eq!(refused(&|octets| octets[2] &= !1), DatagramError::LabelStack);
        assert_eq!(refused(&|octets| octets[4] = 0x10), DatagramError::NoControlWord);
        assert_eq!(refused(&|octets| octets[5] |= 0x80), DatagramError::Fragment);
        assert_eq!(refused(&|octets| octets.truncate(59)), DatagramError::Length { claimed: 56, octets: 55 });
        assert_eq!(refused(&|octets| octets[5] = 3), DatagramError::Length { claimed: 3, octets: 56 });
        assert_eq!(refused(&|octets| octets[5] = 4), DatagramError::Cells { octets: 0 });
        assert_eq!(refused(&|octets| octets[5] = 55), DatagramError::Cells { octets: 51 });
    }

    #[test]
    fn sequence_numbers_leave_out_zero_and_count_round() {
        assert_eq!((next_sequence(1), next_sequence(65_534), next_sequence(65_535)), (2, 65_535, 1));
        for (expected, sequence, ahead) in [
            (1, 1, 0),
            (5, 7, 2),
            (5, 4, -1),
            (65_535, 1, 1),
            (1, 65_535, -1),
            (1, 32_768, 32_767),
            (1, 32_769, -32_767),
        ] {
            assert_eq!(distance(expected, sequence), ahead, "{sequence} where {expected} was expected");
        }
    }

    #[test]
    fn a_stamp_is_the_last_24_octets_and_fits_an_ethernet_frame_with_as_many_cells_as_may_be() {
        let stamp = Stamp { run: 0x0102_0304_0506_0708, began_ns: 9, number: 1 << 40 };
        for (timed, most) in [(false, MAX_STAMPED_CELLS), (true, MAX_TIMED_CELLS)] {
            let mut octets = Vec::new();
            emit(&mut octets, 16, 1, timed, vec![cell(Some(7)); most].into_iter());
            let plain = octets.clone();
            stamp.append(&mut octets);
            assert!(octets.len() <= 1472 && octets.len() <= MAX_OCTETS, "{} octets", octets.len());
            assert_eq!(octets[plain.len()..plain.len() + 8], [1, 2, 3, 4, 5, 6, 7, 8]);
            assert_eq!(Stamp::split(&octets), Some((&plain[..], stamp)));
        }
        assert_eq!(Stamp::split(&[0; 23]), None);
    }

    proptest! {
        #[test]
        fn cells_survive_the_datagram(
            cells in proptest::collection::vec((any::<u32>(), any::<[u8; 48]>(), any::<u64>()), 1..=MAX_TIMED_CELLS),
            label in 0_u32..1 << 20,
            sequence: u16,
            timed: bool,
        ) {
            let packed: Vec<PackedCell<'_>> = cells
                .iter()
                .map(|(header, payload, departure)| PackedCell {
                    header: *header,
                    payload,
                    departure: timed.then_some(Time::from_ps(*departure)),
                })
                .collect();
            let mut octets = Vec::new();
            emit(&mut octets, label, sequence, timed, packed.iter().copied());
            prop_assert!(octets.len() <= 1472, "it fits an Ethernet frame");
            let datagram = Datagram::parse(&octets, timed).unwrap();
            prop_assert_eq!((datagram.label, datagram.sequence), (label, sequence));
            prop_assert_eq!(datagram.cells().collect::<Vec<_>>(), packed);
        }

        #[test]
        fn random_octets_never_panic_and_hold_whole_cells_or_nothing(
            octets in proptest::collection::vec(any::<u8>(), 0..200), timed: bool,
        ) {
            if let Ok(datagram) = Datagram::parse(&octets, timed) {
                prop_assert!(!datagram.is_empty());
                prop_assert_eq!(datagram.cells().count(), datagram.len());
            }
        }

        #[test]
        fn octets_that_look_right_never_panic(
            body in proptest::collection::vec(any::<u8>(), 0..400), length in 0_u8..64, timed: bool,
        ) {
            let octets = [&[0, 1, 1, 64, 0, length, 0, 1][..], &body].concat();
            if let Ok(datagram) = Datagram::parse(&octets, timed) {
                prop_assert_eq!(datagram.cells().count(), datagram.len());
            }
        }
    }
}
