//! Checks of the fuzz targets, one function each. `crates/cellrate-proto/tests/corpora.rs` includes this file and
//! replays the seed corpora through the same functions, so that every ordinary test run does so too.

use cellrate_proto::wire::{
    AddressedRmCell, CELL_OCTETS, Cell, Encapsulation, Header, Interface, MAX_SDU_OCTETS, PAYLOAD_OCTETS,
    PayloadType, Reassembler, ReassemblyError, RmCellError, Segment, Segments, abort, crc10_remainder, hec,
};
use cellrate_proto::{Cells, Direction};

/// Any octets: none make a parser panic, and what parses is emitted as it came.
///
/// First octet: bit 0 picks the interface, bit 1 makes the HEC fit, without which few inputs get past it. Then the
/// cell, cut or filled with zeros to 53 octets. The whole input is also taken as an SDU with an LLC/SNAP header.
pub fn cell(input: &[u8]) {
    let _ = Encapsulation::LlcSnapIpv4.strip(input);
    let (interface, octets) = cell_octets(input);
    let expected = hec([octets[0], octets[1], octets[2], octets[3]]);
    match Cell::parse(interface, &octets) {
        Ok(cell) => {
            assert_eq!(octets[4], expected);
            assert_eq!(cell.header.path.interface(), interface);
            assert_eq!(cell.emit(), octets);
            assert_eq!(Header::parse(interface, &cell.header.emit()), Ok(cell.header));
        }
        Err(error) => {
            assert_eq!((error.received, error.computed), (octets[4], expected));
            assert_ne!(octets[4], expected);
        }
    }
}

/// Any octets: an RM cell parses exactly if its checksums, PTI and ID are right, its fields are those of the standard,
/// and emitting it loses only what is reserved.
///
/// Input as for [`cell`]; bit 2 of the first octet makes the CRC-10 fit, bit 3 the PTI, bit 4 the ID.
pub fn rm_cell(input: &[u8]) {
    let (interface, octets) = cell_octets(input);
    let payload: [u8; PAYLOAD_OCTETS] = octets[5..].try_into().unwrap();
    let parsed = AddressedRmCell::parse(interface, &octets);
    let reason = if octets[4] != hec([octets[0], octets[1], octets[2], octets[3]]) {
        "hec"
    } else if octets[3] & 0b1110 != 0b1100 {
        "pti"
    } else if crc10_remainder(&payload) != 0 {
        "crc"
    } else if payload[0] != 1 {
        "id"
    } else {
        "none"
    };
    let refusal = match parsed {
        Err(RmCellError::Hec(_)) => "hec",
        Err(RmCellError::NotResourceManagement(_)) => "pti",
        Err(RmCellError::Crc) => "crc",
        Err(RmCellError::UnknownId(_)) => "id",
        Ok(_) => "none",
    };
    assert_eq!(refusal, reason);
    let Ok(cell) = parsed else { return };

    let rm = cell.rm;
    let flags = [
        rm.direction == Direction::Backward,
        rm.backward_notification,
        rm.congestion_indication,
        rm.no_increase,
    ];
    assert_eq!(flags, [7, 6, 5, 4].map(|bit| payload[1] >> bit & 1 == 1));
    let rates = [rm.explicit_rate, rm.current_cell_rate, rm.minimum_cell_rate].map(|code| code.bits());
    let on_the_wire = [2, 4, 6].map(|at| u16::from_be_bytes([payload[at], payload[at + 1]]) & 0x7fff);
    assert_eq!(rates, on_the_wire);
    assert_eq!(rm.out_of_rate, octets[3] & 1 == 1);

    let emitted = cell.emit();
    assert_eq!(AddressedRmCell::parse(interface, &emitted), Ok(cell));
    assert_eq!(emitted[..6], octets[..6], "header and ID");
    assert_eq!(emitted[13..21], [0; 8], "QL, SN");
    assert_eq!(emitted[21..51], [0x6a; 30], "reserved");
}

/// A sequence of operations on one connection: PDUs are sent, their cells are lost, doubled, swapped, damaged, or made
/// up; then the reassembler must say at every cell what the naive [`Model`] says, and take a sound PDU in the end.
///
/// First octet: the receiver's maximum SDU, in steps of 5 octets from 1. Then operations, see [`operate`].
pub fn aal5(input: &[u8]) {
    let Some((&first, mut rest)) = input.split_first() else { return };
    let maximum = 1 + 5 * usize::from(first);
    let mut cells = Vec::new();
    while operate(&mut rest, &mut cells).is_some() && cells.len() < 1000 {}

    let mut reassembler = Reassembler::new(maximum);
    let mut model = Model::new(maximum);
    for cell in &cells {
        let outcome = reassembler.push(&cell.payload, cell.last);
        let outcome = outcome.map(|sdu| sdu.map(|sdu| (sdu.octets.to_vec(), sdu.user_to_user)));
        assert_eq!(outcome, model.push(cell));
    }
    reassembler.reset();
    let sound = Segments::new(b"!").expect("one octet is an SDU").next().expect("and takes a cell");
    let sdu = reassembler.push(&sound.payload, sound.last).expect("it is sound").expect("and complete");
    assert_eq!(sdu.octets, b"!");
}

/// The interface and the 53 octets that `input` describes, with what its first octet asks for made to fit.
fn cell_octets(input: &[u8]) -> (Interface, [u8; CELL_OCTETS]) {
    let (options, input) = input.split_first().map_or((0, input), |(&options, rest)| (options, rest));
    let option = |bit: u8| options >> bit & 1 == 1;
    let mut octets = [0; CELL_OCTETS];
    let given = input.len().min(CELL_OCTETS);
    octets[..given].copy_from_slice(&input[..given]);
    if option(3) {
        octets[3] = octets[3] & !0b1110 | PayloadType::ResourceManagement.bits() << 1;
    }
    if option(4) {
        octets[5] = 1;
    }
    if option(1) {
        octets[4] = hec([octets[0], octets[1], octets[2], octets[3]]);
    }
    if option(2) {
        octets[51] &= !0b11;
        octets[52] = 0;
        let crc = crc10_remainder(octets[5..].try_into().unwrap());
        octets[51] |= (crc >> 8) as u8;
        octets[52] = crc as u8;
    }
    (if option(0) { Interface::Nni } else { Interface::Uni }, octets)
}

/// Carries out the operation that `input` begins with on the cells under way; nothing when the input has ended.
///
/// Operations (octet modulo 9): 0 a PDU of up to 255 octets; 1 of up to 2047; 2 an aborted PDU; then, on the cell `a`
/// places from the end: 3 lose, 4 double, 5 swap with the last, 6 flip a bit, 7 flip the AAL user bit; 8 a cell
/// made up of what follows. Operands are octets that follow; missing ones are zero.
fn operate(input: &mut &[u8], cells: &mut Vec<Segment>) -> Option<()> {
    let operation = take(input)?;
    let mut operand = || usize::from(take(input).unwrap_or(0));
    match operation % 9 {
        size @ (0 | 1) => {
            let octets = if size == 0 { operand() } else { (operand() << 8 | operand()) & 0x7ff };
            let (fill, user_to_user) = (operand(), operand() as u8);
            let sdu: Vec<u8> = (0..octets).map(|at| (fill + at * (fill & 3)) as u8).collect();
            match Segments::new(&sdu) {
                Ok(segments) => cells.extend(segments.with_user_to_user(user_to_user)),
                Err(_) => assert!(sdu.is_empty() || sdu.len() > MAX_SDU_OCTETS),
            }
        }
        2 => {
            let sdu = vec![0x6a; 1000];
            let sent: Vec<Segment> = Segments::new(&sdu).expect("1 to 65535").take(operand() % 21).collect();
            let end = abort(&sent);
            cells.extend(sent);
            cells.push(end);
        }
        8 => {
            let last = operand() & 1 == 1;
            cells.push(Segment { payload: std::array::from_fn(|_| operand() as u8), last });
        }
        fault => {
            let Some(at) = cells.len().checked_sub(1 + operand()) else { return Some(()) };
            let end = cells.len() - 1;
            match fault {
                3 => drop(cells.remove(at)),
                4 => cells.insert(at, cells[at]),
                5 => cells.swap(at, end),
                6 => {
                    let bit = operand();
                    cells[at].payload[(bit >> 3 | operand() << 5) % PAYLOAD_OCTETS] ^= 1 << (bit & 7);
                }
                _ => cells[at].last ^= true,
            }
        }
    }
    Some(())
}

fn take(input: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = input.split_first()?;
    *input = rest;
    Some(first)
}

type Outcome = Result<Option<(Vec<u8>, u8)>, ReassemblyError>;

/// Reassembly as one would write it from the standard: keep the cells, and look at them when the last one has come.
struct Model {
    maximum: usize,
    cells: Vec<Segment>,
    refused: bool,
}

impl Model {
    fn new(maximum: usize) -> Model {
        Model { maximum, cells: Vec::new(), refused: false }
    }

    fn push(&mut self, cell: &Segment) -> Outcome {
        self.cells.push(*cell);
        let too_long = self.cells.len() * PAYLOAD_OCTETS >= self.maximum + 8 + PAYLOAD_OCTETS;
        let first_refusal = too_long && !self.refused;
        self.refused |= too_long;
        let refused = self.refused;
        let mut pdu = Vec::new();
        if cell.last {
            pdu = self.cells.drain(..).flat_map(|cell| cell.payload).collect();
            self.refused = false;
        }
        match (first_refusal, refused) {
            (true, _) => Err(ReassemblyError::TooLong { maximum: self.maximum }),
            (false, true) => Ok(None),
            (false, false) if cell.last => self.judge(&pdu).map(Some),
            (false, false) => Ok(None),
        }
    }

    fn judge(&self, pdu: &[u8]) -> Result<(Vec<u8>, u8), ReassemblyError> {
        let cells = Cells((pdu.len() / PAYLOAD_OCTETS) as u64);
        let (protected, crc) = pdu.split_at(pdu.len() - 4);
        if crc32_bit_by_bit(protected).to_be_bytes() != crc {
            return Err(ReassemblyError::Crc { cells });
        }
        let (before, trailer) = protected.split_at(protected.len() - 4);
        let claimed = u16::from_be_bytes([trailer[2], trailer[3]]);
        let length = usize::from(claimed);
        if length == 0 {
            return Err(ReassemblyError::Aborted);
        }
        match before.len().checked_sub(length) {
            Some(0..=47) if length > self.maximum => Err(ReassemblyError::TooLong { maximum: self.maximum }),
            Some(0..=47) => Ok((before[..length].to_vec(), trailer[0])),
            _ => Err(ReassemblyError::Length { claimed, cells }),
        }
    }
}

fn crc32_bit_by_bit(octets: &[u8]) -> u32 {
    !octets.iter().fold(u32::MAX, |crc, &octet| {
        (0..8).fold(crc ^ u32::from(octet) << 24, |crc, _| {
            if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 }
        })
    })
}
