//! AAL5: SDUs of up to 65535 octets cut into cell payloads, and put together again (I.363.5).
//!
//! ```text
//! CPCS-PDU  |  SDU (1 to 65535)  |  padding (0 to 47)  | UU 1 | CPI 1 | length 2 | CRC-32 4 |
//! ```
//!
//! The PDU is a whole number of payloads; its last cell has the AAL user bit set. Nothing else marks a boundary: a lost
//! cell spoils its PDU, and a lost last cell spoils the next one too, which then seems to begin earlier than it does. A
//! spoiled PDU is reported once, at its end or where it grew too long, and the reassembler goes on with the cell after.

use alloc::vec::Vec;
use core::fmt;

use super::cell::{PAYLOAD_OCTETS, PayloadType};
use super::crc::Crc32;
use super::llc_snap::Encapsulation;
use crate::units::{Cells, Octets};

/// The longest SDU there is \[octets\]: its length field has 16 bits.
pub const MAX_SDU_OCTETS: usize = 65_535;

const TRAILER_OCTETS: usize = 8;
const CRC_OCTETS: usize = 4;

/// The cells that carry `packet` octets as one AAL5 SDU, encapsulated as said.
///
/// ```
/// use cellrate_proto::{Cells, Octets};
/// use cellrate_proto::wire::{Encapsulation::*, cells_for};
/// // A TCP segment of 512 octets with 40 of TCP and IP headers: 552 + 8 of LLC/SNAP + 8 of trailer = 568 = 11.8 * 48.
/// assert_eq!(cells_for(Octets(552), LlcSnapIpv4), Cells(12));
/// ```
pub const fn cells_for(packet: Octets, encapsulation: Encapsulation) -> Cells {
    let sdu = packet.0 + encapsulation.header().len() as u64;
    Cells((sdu + TRAILER_OCTETS as u64).div_ceil(PAYLOAD_OCTETS as u64))
}

/// One cell of a PDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Its 48 octets.
    pub payload: [u8; PAYLOAD_OCTETS],
    /// Whether it is the last of its PDU: the AAL user bit.
    pub last: bool,
}

/// The cells of one PDU, in order. Reads the SDU where it lies and allocates nothing.
///
/// ```
/// use cellrate_proto::wire::{Encapsulation, Reassembler, Segments};
/// let packet = [0x45; 100];
/// let mut reassembler = Reassembler::new(9188);
/// let mut received = None;
/// for segment in Segments::encapsulated(Encapsulation::LlcSnapIpv4, &packet)? {
///     if let Some(sdu) = reassembler.push(&segment.payload, segment.last).expect("nothing was lost") {
///         received = Some(Encapsulation::LlcSnapIpv4.strip(sdu.octets).expect("it is IPv4").to_vec());
///     }
/// }
/// assert_eq!(received.as_deref(), Some(&packet[..]));
/// # Ok::<(), cellrate_proto::wire::SegmentationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    prefix: &'a [u8],
    packet: &'a [u8],
    user_to_user: u8,
    crc: Crc32,
    /// Octets of the PDU already handed out, a multiple of 48.
    position: usize,
}

/// Why octets cannot be sent as one SDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SegmentationError {
    /// There are none: length zero means that the sender gave up ([`abort`]).
    Empty,
    /// More than [`MAX_SDU_OCTETS`].
    TooLong {
        /// Octets of the SDU, encapsulation included.
        octets: usize,
    },
}

/// A received SDU, in the reassembler's buffer until the next cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sdu<'a> {
    /// The octets as they were sent, encapsulation and all.
    pub octets: &'a [u8],
    /// UU, handed through from the sender.
    pub user_to_user: u8,
}

/// Puts the cells of one connection together again.
///
/// All memory is taken when it is made; a cell costs one copy and its share of the CRC-32. CPI is not looked at.
#[derive(Clone, Debug)]
pub struct Reassembler {
    /// Payloads of the PDU so far, whole ones. Never grows beyond the capacity it was made with.
    buffer: Vec<u8>,
    crc: Crc32,
    maximum_sdu: usize,
    progress: Progress,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    /// The buffer holds the beginning of a PDU, or nothing.
    Collecting,
    /// The buffer holds a PDU that has ended.
    Ended,
    /// The PDU was too long: its remaining cells are dropped.
    Discarding,
}

/// Fault of a PDU. It is gone, the next one is not affected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReassemblyError {
    /// Cells were lost, damaged or in disorder: the CRC-32 does not fit.
    Crc {
        /// Cells that came.
        cells: Cells,
    },
    /// The CRC-32 fits but the length does not: the padding would be negative or longer than 47.
    Length {
        /// The length field \[octets\].
        claimed: u16,
        /// Cells that came.
        cells: Cells,
    },
    /// Longer than this receiver takes, or its last cell was lost and the next PDU ran into it.
    TooLong {
        /// The longest SDU this receiver takes \[octets\].
        maximum: usize,
    },
    /// Length zero: the sender gave up in the middle.
    Aborted,
}

impl<'a> Segments<'a> {
    /// The cells of `sdu` as it is.
    ///
    /// # Errors
    /// [`SegmentationError`] unless it has 1 to [`MAX_SDU_OCTETS`] octets.
    pub fn new(sdu: &'a [u8]) -> Result<Segments<'a>, SegmentationError> {
        Segments::encapsulated(Encapsulation::VcMultiplexed, sdu)
    }

    /// The cells of `packet` behind the header of `encapsulation`.
    ///
    /// # Errors
    /// [`SegmentationError`] unless both together have 1 to [`MAX_SDU_OCTETS`] octets.
    pub fn encapsulated(
        encapsulation: Encapsulation,
        packet: &'a [u8],
    ) -> Result<Segments<'a>, SegmentationError> {
        let prefix = encapsulation.header();
        match prefix.len() + packet.len() {
            0 => Err(SegmentationError::Empty),
            1..=MAX_SDU_OCTETS => {
                Ok(Segments { prefix, packet, user_to_user: 0, crc: Crc32::new(), position: 0 })
            }
            octets => Err(SegmentationError::TooLong { octets }),
        }
    }

    /// The segments with `user_to_user` in the UU octet, which AAL5 hands through. Default 0.
    #[must_use]
    pub fn with_user_to_user(self, user_to_user: u8) -> Segments<'a> {
        Segments { user_to_user, ..self }
    }

    fn sdu_octets(&self) -> usize {
        self.prefix.len() + self.packet.len()
    }

    fn pdu_octets(&self) -> usize {
        (self.sdu_octets() + TRAILER_OCTETS).next_multiple_of(PAYLOAD_OCTETS)
    }
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    #[inline]
    fn next(&mut self) -> Option<Segment> {
        let (start, pdu_octets) = (self.position, self.pdu_octets());
        if start == pdu_octets {
            return None;
        }
        let mut payload = [0; PAYLOAD_OCTETS];
        let in_packet = start.checked_sub(self.prefix.len()).and_then(|at| self.packet.get(at..));
        if let Some(whole) = in_packet.and_then(|rest| rest.first_chunk()) {
            payload = *whole;
        } else {
            // The first cell or one of the last two: what is left of the prefix, then of the packet, then zeros.
            let prefix = self.prefix.get(start..).unwrap_or_default();
            let packet = in_packet.unwrap_or(if start < self.prefix.len() { self.packet } else { &[] });
            for (octet, given) in payload.iter_mut().zip(prefix.iter().chain(packet)) {
                *octet = *given;
            }
        }

        self.position += PAYLOAD_OCTETS;
        let last = self.position == pdu_octets;
        if last {
            write_trailer(&mut payload, self.user_to_user, self.sdu_octets() as u16, self.crc);
        } else {
            self.crc.update(&payload);
        }
        Some(Segment { payload, last })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let cells = (self.pdu_octets() - self.position) / PAYLOAD_OCTETS;
        (cells, Some(cells))
    }
}

impl ExactSizeIterator for Segments<'_> {}

/// The cell that ends a PDU which its sender cannot finish: length zero, and a CRC-32 over `sent`, the cells of it that
/// already went out.
pub fn abort<'a>(sent: impl IntoIterator<Item = &'a Segment>) -> Segment {
    let mut crc = Crc32::new();
    for segment in sent {
        crc.update(&segment.payload);
    }
    let mut payload = [0; PAYLOAD_OCTETS];
    write_trailer(&mut payload, 0, 0, crc);
    Segment { payload, last: true }
}

/// Ends the last payload of a PDU; `crc` covers the payloads before it.
fn write_trailer(payload: &mut [u8; PAYLOAD_OCTETS], user_to_user: u8, length: u16, mut crc: Crc32) {
    let (body, crc_field) = payload.split_at_mut(PAYLOAD_OCTETS - CRC_OCTETS);
    let trailer = body.len() + CRC_OCTETS - TRAILER_OCTETS;
    let [high, low] = length.to_be_bytes();
    body[trailer..].copy_from_slice(&[user_to_user, 0, high, low]);
    crc.update(body);
    crc_field.copy_from_slice(&crc.value().to_be_bytes());
}

impl Segment {
    /// The payload type of its cell, before any switch marked it.
    pub const fn payload_type(&self) -> PayloadType {
        PayloadType::User { efci: false, user_bit: self.last }
    }
}

impl Reassembler {
    /// A reassembler of SDUs of up to `maximum_sdu` octets, which must be 1 to [`MAX_SDU_OCTETS`]: what lies outside is
    /// brought to the nearer end. An IP interface needs its MTU plus 8 of LLC/SNAP.
    pub fn new(maximum_sdu: usize) -> Reassembler {
        let maximum_sdu = maximum_sdu.clamp(1, MAX_SDU_OCTETS);
        let capacity = (maximum_sdu + TRAILER_OCTETS).next_multiple_of(PAYLOAD_OCTETS);
        Reassembler {
            buffer: Vec::with_capacity(capacity),
            crc: Crc32::new(),
            maximum_sdu,
            progress: Progress::Collecting,
        }
    }

    /// The next cell of user data: its payload, and its AAL user bit as `last`. Gives the SDU that it completes.
    ///
    /// The remaining cells of a PDU that was refused as too long give nothing, the last one included.
    ///
    /// # Errors
    /// [`ReassemblyError`] when it completes a PDU that is spoiled, or makes one too long.
    #[inline]
    pub fn push(
        &mut self,
        payload: &[u8; PAYLOAD_OCTETS],
        last: bool,
    ) -> Result<Option<Sdu<'_>>, ReassemblyError> {
        match self.progress {
            Progress::Collecting => {}
            Progress::Ended => self.reset(),
            Progress::Discarding => {
                if last {
                    self.reset();
                }
                return Ok(None);
            }
        }
        let capacity = (self.maximum_sdu + TRAILER_OCTETS).next_multiple_of(PAYLOAD_OCTETS);
        if self.buffer.len() == capacity {
            self.progress = if last { Progress::Ended } else { Progress::Discarding };
            return Err(ReassemblyError::TooLong { maximum: self.maximum_sdu });
        }
        self.buffer.extend_from_slice(payload);
        self.crc.update(payload);
        if !last {
            return Ok(None);
        }
        self.progress = Progress::Ended;
        self.check(payload).map(Some)
    }

    /// Forgets the PDU in progress, as after a time-out or when the connection is set up anew.
    pub fn reset(&mut self) {
        self.buffer.clear();
        self.crc = Crc32::new();
        self.progress = Progress::Collecting;
    }

    /// The SDU in the buffer, which `last_payload` has just completed.
    fn check(&self, last_payload: &[u8; PAYLOAD_OCTETS]) -> Result<Sdu<'_>, ReassemblyError> {
        let cells = Cells((self.buffer.len() / PAYLOAD_OCTETS) as u64);
        if !self.crc.is_intact() {
            return Err(ReassemblyError::Crc { cells });
        }
        let [.., user_to_user, _cpi, high, low, _, _, _, _] = *last_payload;
        let claimed = u16::from_be_bytes([high, low]);
        if claimed == 0 {
            return Err(ReassemblyError::Aborted);
        }
        if cells_for(Octets(claimed.into()), Encapsulation::VcMultiplexed) != cells {
            return Err(ReassemblyError::Length { claimed, cells });
        }
        if usize::from(claimed) > self.maximum_sdu {
            return Err(ReassemblyError::TooLong { maximum: self.maximum_sdu });
        }
        Ok(Sdu { octets: &self.buffer[..claimed.into()], user_to_user })
    }
}

impl fmt::Display for SegmentationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SegmentationError::Empty => f.write_str("an AAL5 SDU has at least one octet, this one has none"),
            SegmentationError::TooLong { octets } => {
                write!(f, "SDU of {octets} octets is longer than AAL5 carries: {MAX_SDU_OCTETS}")
            }
        }
    }
}

impl core::error::Error for SegmentationError {}

impl fmt::Display for ReassemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReassemblyError::Crc { cells } => write!(f, "PDU of {cells} spoiled: its CRC-32 does not fit"),
            ReassemblyError::Length { claimed, cells } => {
                write!(
                    f,
                    "PDU of {cells} claims an SDU of {claimed} octets, which takes another number of cells"
                )
            }
            ReassemblyError::TooLong { maximum } => {
                write!(f, "PDU dropped: its SDU is longer than the {maximum} octets that are taken here")
            }
            ReassemblyError::Aborted => f.write_str("PDU aborted by its sender (length 0)"),
        }
    }
}

impl core::error::Error for ReassemblyError {}

#[cfg(test)]
mod tests {
    use super::Encapsulation::{LlcSnapIpv4, VcMultiplexed};
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::Index;

    fn segments(sdu: &[u8]) -> Vec<Segment> {
        Segments::new(sdu).unwrap().collect()
    }

    /// Everything that comes out of `cells`: SDUs and refusals, in order.
    fn reassemble(maximum: usize, cells: &[Segment]) -> Vec<Result<Vec<u8>, ReassemblyError>> {
        let mut reassembler = Reassembler::new(maximum);
        let outcome = |cell: &Segment| {
            reassembler
                .push(&cell.payload, cell.last)
                .map(|sdu| sdu.map(|sdu| sdu.octets.to_vec()))
                .transpose()
        };
        cells.iter().filter_map(outcome).collect()
    }

    /// `cells` with the CRC-32 of the last one made to fit whatever else was changed.
    fn with_fitting_crc(mut cells: Vec<Segment>) -> Vec<Segment> {
        let mut crc = Crc32::new();
        let (last, before) = cells.split_last_mut().unwrap();
        before.iter().for_each(|cell| crc.update(&cell.payload));
        crc.update(&last.payload[..44]);
        last.payload[44..].copy_from_slice(&crc.value().to_be_bytes());
        cells
    }

    #[test]
    fn the_segments_of_the_papers_take_12_and_192_cells() {
        // Paper tcp-lrd-vbr: MSS + 20 TCP + 20 IP + 8 LLC/SNAP + 8 trailer. 568 / 48 = 11.8; 9196 / 48 = 191.6.
        assert_eq!(cells_for(Octets(512 + 40), LlcSnapIpv4), Cells(12));
        assert_eq!(cells_for(Octets(9140 + 40), LlcSnapIpv4), Cells(192));
        // Paper stop-and-go, without LLC/SNAP: 560 / 48 = 11.7.
        assert_eq!(cells_for(Octets(512 + 40), VcMultiplexed), Cells(12));
    }

    #[test]
    fn a_cell_is_added_when_the_trailer_no_longer_fits() {
        for (packet, encapsulation, cells) in [
            (1, VcMultiplexed, 1),
            (40, VcMultiplexed, 1),
            (41, VcMultiplexed, 2),
            (88, VcMultiplexed, 2),
            (89, VcMultiplexed, 3),
            (32, LlcSnapIpv4, 1),
            (33, LlcSnapIpv4, 2),
            (65_535, VcMultiplexed, 1366), // 65543 / 48 = 1365.5
        ] {
            assert_eq!(cells_for(Octets(packet), encapsulation), Cells(cells), "{packet} octets");
            let packet = alloc::vec![0; packet as usize];
            let segments = Segments::encapsulated(encapsulation, &packet).unwrap();
            assert_eq!(segments.len() as u64, cells);
            assert_eq!(segments.count() as u64, cells);
        }
    }

    #[test]
    fn only_one_to_65535_octets_are_sent() {
        let octets = alloc::vec![0; 65_536];
        assert_eq!(Segments::new(&[]).unwrap_err(), SegmentationError::Empty);
        assert!(Segments::new(&octets[..65_535]).is_ok());
        assert_eq!(Segments::new(&octets).unwrap_err(), SegmentationError::TooLong { octets: 65_536 });
        assert!(Segments::encapsulated(LlcSnapIpv4, &octets[..65_527]).is_ok());
        assert_eq!(
            Segments::encapsulated(LlcSnapIpv4, &octets[..65_528]).unwrap_err(),
            SegmentationError::TooLong { octets: 65_536 }
        );
    }

    #[test]
    fn uu_is_handed_through() {
        let mut reassembler = Reassembler::new(100);
        let cell = Segments::new(b"x").unwrap().with_user_to_user(0x5a).next().unwrap();
        assert_eq!(cell.payload[40], 0x5a);
        let sdu = reassembler.push(&cell.payload, cell.last).unwrap().unwrap();
        assert_eq!(sdu, Sdu { octets: b"x", user_to_user: 0x5a });
    }

    #[test]
    fn the_maximum_is_taken_and_one_octet_more_is_not() {
        // 100 octets and 101 both take three cells, so that only the length tells them apart.
        let refused = || Err(ReassemblyError::TooLong { maximum: 100 });
        assert_eq!(reassemble(100, &segments(&[7; 100])), [Ok(alloc::vec![7; 100])]);
        assert_eq!(reassemble(100, &segments(&[7; 101])), [refused()]);
        // 137 octets take four cells: refused at the fourth.
        assert_eq!(reassemble(100, &segments(&[7; 136])), [refused()]);
        assert_eq!(reassemble(100, &segments(&[7; 137])), [refused()]);
        // Ten cells: refused once, the rest dropped in silence, and the next PDU is taken.
        let cells = [segments(&[7; 450]), segments(&[8; 50])].concat();
        assert_eq!(reassemble(100, &cells), [refused(), Ok(alloc::vec![8; 50])]);
    }

    #[test]
    fn a_length_that_does_not_fit_the_cells_is_refused_though_the_crc_fits() {
        let two_cells = |length: u16| {
            let mut cells = segments(&[7; 60]);
            cells[1].payload[42..44].copy_from_slice(&length.to_be_bytes());
            reassemble(9188, &with_fitting_crc(cells)).remove(0)
        };
        // Two cells hold an SDU of 41 to 88 octets.
        let refused = |claimed| Err(ReassemblyError::Length { claimed, cells: Cells(2) });
        assert_eq!(two_cells(40), refused(40));
        assert_eq!(two_cells(41).map(|sdu| sdu.len()), Ok(41));
        assert_eq!(two_cells(88).map(|sdu| sdu.len()), Ok(88));
        assert_eq!(two_cells(89), refused(89));
        assert_eq!(two_cells(65_535), refused(65_535));
    }

    #[test]
    fn an_aborted_pdu_is_reported_as_such_and_the_next_is_taken() {
        let mut cells = segments(&[7; 200]);
        cells.truncate(2);
        cells.push(abort(&cells));
        cells.extend(segments(b"next"));
        assert_eq!(reassemble(9188, &cells), [Err(ReassemblyError::Aborted), Ok(b"next".to_vec())]);
    }

    #[test]
    fn a_lost_last_cell_spoils_the_next_pdu_too_and_no_more() {
        let mut cells = segments(&[7; 60]);
        cells.pop();
        cells.extend([segments(b"second"), segments(b"third")].concat());
        assert_eq!(
            reassemble(9188, &cells),
            [Err(ReassemblyError::Crc { cells: Cells(2) }), Ok(b"third".to_vec())]
        );
    }

    #[test]
    fn a_reset_forgets_the_beginning_of_a_pdu() {
        let mut reassembler = Reassembler::new(9188);
        let cells = segments(&[7; 60]);
        assert_eq!(reassembler.push(&cells[0].payload, false), Ok(None));
        reassembler.reset();
        for cell in &cells[..1] {
            assert_eq!(reassembler.push(&cell.payload, cell.last), Ok(None));
        }
        let sdu = reassembler.push(&cells[1].payload, true).unwrap().unwrap();
        assert_eq!(sdu.octets, [7; 60]);
    }

    #[test]
    fn no_cell_makes_the_buffer_grow() {
        let mut reassembler = Reassembler::new(100);
        let capacity = reassembler.buffer.capacity();
        for cell in [segments(&[7; 1000]), segments(&[7; 100])].concat() {
            let _ = reassembler.push(&cell.payload, cell.last);
            assert_eq!(reassembler.buffer.capacity(), capacity);
        }
    }

    fn sdu(longest: usize) -> impl Strategy<Value = Vec<u8>> {
        // Short and long ones alike, random and all the same octet: a CRC is tried hardest by regular data.
        let length = prop_oneof![1..=100.min(longest), 1..=longest];
        (length, any::<Option<u8>>(), any::<u64>()).prop_map(|(length, constant, seed)| {
            let mut state = seed | 1;
            let mut random = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state as u8
            };
            (0..length).map(|_| constant.unwrap_or_else(&mut random)).collect()
        })
    }

    #[derive(Clone, Debug)]
    enum Fault {
        Lose(Index),
        Duplicate(Index),
        Swap(Index, Index),
        Flip(Index, usize),
    }

    fn fault() -> impl Strategy<Value = Fault> {
        prop_oneof![
            any::<Index>().prop_map(Fault::Lose),
            any::<Index>().prop_map(Fault::Duplicate),
            any::<(Index, Index)>().prop_map(|(one, other)| Fault::Swap(one, other)),
            (any::<Index>(), 0usize..385).prop_map(|(cell, bit)| Fault::Flip(cell, bit)),
        ]
    }

    impl Fault {
        fn happen(&self, cells: &mut Vec<Segment>) {
            if cells.is_empty() {
                return;
            }
            match self {
                Fault::Lose(at) => {
                    cells.remove(at.index(cells.len()));
                }
                Fault::Duplicate(at) => {
                    let at = at.index(cells.len());
                    cells.insert(at, cells[at]);
                }
                Fault::Swap(one, other) => {
                    let (one, other) = (one.index(cells.len()), other.index(cells.len()));
                    cells.swap(one, other);
                }
                Fault::Flip(at, bit) => {
                    let at = at.index(cells.len());
                    match bit.checked_sub(1) {
                        None => cells[at].last ^= true,
                        Some(bit) => cells[at].payload[bit / 8] ^= 0x80 >> (bit % 8),
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_sdu_survives_the_wire(sdu in sdu(MAX_SDU_OCTETS)) {
            let cells = segments(&sdu);
            prop_assert_eq!(cells.iter().filter(|cell| cell.last).count(), 1);
            prop_assert_eq!(reassemble(MAX_SDU_OCTETS, &cells), [Ok(sdu)]);
        }

        #[test]
        fn any_packet_survives_the_wire_behind_its_header(packet in sdu(MAX_SDU_OCTETS - 8)) {
            let cells: Vec<_> = Segments::encapsulated(LlcSnapIpv4, &packet).unwrap().collect();
            prop_assert_eq!(cells.len() as u64, cells_for(Octets(packet.len() as u64), LlcSnapIpv4).0);
            let sdu = reassemble(MAX_SDU_OCTETS, &cells).remove(0).unwrap();
            prop_assert_eq!(LlcSnapIpv4.strip(&sdu), Ok(&packet[..]));
        }

        #[test]
        fn a_lost_or_doubled_cell_spoils_its_pdu_for_certain(sdu in sdu(2000), at: Index, doubled: bool) {
            // For certain, not but for one chance in 2^32: the number of cells no longer fits the length field.
            let mut cells = segments(&sdu);
            let at = at.index(cells.len());
            if doubled {
                cells.insert(at, Segment { last: false, ..cells[at] });
            } else if cells[at].last {
                return Ok(());
            } else {
                cells.remove(at);
            }
            let outcomes = reassemble(MAX_SDU_OCTETS, &cells);
            prop_assert!(outcomes.len() == 1 && outcomes[0].is_err());
        }

        #[test]
        fn whatever_happens_to_cells_no_wrong_sdu_comes_out(
            sdus in proptest::collection::vec(sdu(1000), 1..6),
            faults in proptest::collection::vec(fault(), 1..5),
        ) {
            let mut cells: Vec<_> = sdus.iter().flat_map(|sdu| segments(sdu)).collect();
            for fault in &faults {
                fault.happen(&mut cells);
            }
            for sdu in reassemble(1000, &cells).into_iter().flatten() {
                prop_assert!(sdus.contains(&sdu), "an SDU of {} octets that was never sent", sdu.len());
            }
            // And the receiver recovers: one more last cell closes whatever is open, after that all is well.
            cells.extend([segments(b"closing"), segments(b"after")].concat());
            prop_assert_eq!(reassemble(1000, &cells).pop(), Some(Ok(b"after".to_vec())));
        }

        #[test]
        fn random_cells_never_panic(
            cells in proptest::collection::vec((any::<[u8; 48]>(), any::<bool>()), 0..40), maximum in 0usize..400,
        ) {
            let cells: Vec<_> = cells.into_iter().map(|(payload, last)| Segment { payload, last }).collect();
            prop_assert!(reassemble(maximum, &cells).iter().all(Result::is_err));
        }
    }
}
