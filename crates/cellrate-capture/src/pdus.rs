//! The PDUs that the cells of a port make up, as octets: nothing is checked and nothing is repaired, because what is
//! wrong with a PDU is often the reason to open a capture.

use std::collections::HashMap;

use cellrate_proto::wire::{MAX_SDU_OCTETS, PAYLOAD_OCTETS, PayloadType};

/// The longest PDU \[octets\]: SDU and trailer of 8, in whole payloads.
pub(crate) const LONGEST_PDU: usize = (MAX_SDU_OCTETS + 8).next_multiple_of(PAYLOAD_OCTETS);

/// PDUs in the making: the cells of each VC at each port since the last end of a PDU.
#[derive(Debug)]
pub(crate) struct Pdus {
    vcs: HashMap<(u32, u32), Vc>,
    from_the_beginning: bool,
}

#[derive(Debug)]
struct Vc {
    octets: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The octets are those since the last end.
    Collecting,
    /// The octets are those of a PDU that has ended.
    Ended,
    /// Up to the next end nothing is kept: the PDU is longer than any may be, or began before anybody looked.
    Skipping,
}

impl Pdus {
    /// None yet. Unless seen `from_the_beginning`, the first end of a VC only tells where its next PDU begins.
    pub fn new(from_the_beginning: bool) -> Pdus {
        Pdus { vcs: HashMap::new(), from_the_beginning }
    }

    /// The next cell of `port`: the PDU that it ends, if it is the last one of it. Only user data makes up PDUs.
    pub fn push(&mut self, port: u32, header: [u8; 4], payload: &[u8; PAYLOAD_OCTETS]) -> Option<&[u8]> {
        let bits = u32::from_be_bytes(header);
        let PayloadType::User { user_bit: last, .. } = PayloadType::from_bits((bits >> 1) as u8) else {
            return None;
        };
        let initial = if self.from_the_beginning { State::Collecting } else { State::Skipping };
        // VPI and VCI, without what is before them and after them.
        let address = bits >> 4 & 0x00ff_ffff;
        let fresh = || Vc { octets: Vec::new(), state: initial };
        let vc = self.vcs.entry((port, address)).or_insert_with(fresh);
        if vc.state == State::Ended {
            vc.octets.clear();
            vc.state = State::Collecting;
        }
        if vc.octets.len() == LONGEST_PDU {
            vc.state = State::Skipping;
        }
        if vc.state == State::Skipping {
            vc.octets = Vec::new();
            if last {
                vc.state = State::Collecting;
            }
            return None;
        }
        vc.octets.extend_from_slice(payload);
        if !last {
            return None;
        }
        vc.state = State::Ended;
        Some(&vc.octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::wire::{Header, Path};

    /// The next cell of a VC at a port.
    fn push(pdus: &mut Pdus, port: u32, vci: u16, pti: u8, filling: u8) -> Option<&[u8]> {
        let payload_type = PayloadType::from_bits(pti);
        let header = Header { path: Path::uni(3), vci, payload_type, clp: false };
        let [a, b, c, d, _hec] = header.emit();
        pdus.push(port, [a, b, c, d], &[filling; PAYLOAD_OCTETS])
    }

    #[test]
    fn pdus_of_several_vcs_and_ports_do_not_mix_and_rm_cells_are_none_of_them() {
        let mut pdus = Pdus::new(true);
        assert_eq!(push(&mut pdus, 0, 32, 0, 1), None);
        assert_eq!(push(&mut pdus, 0, 33, 0, 2), None);
        assert_eq!(push(&mut pdus, 1, 32, 0, 3), None);
        assert_eq!(push(&mut pdus, 0, 32, 0b110, 4), None);
        // EFCI makes no difference.
        assert_eq!(push(&mut pdus, 0, 32, 0b011, 5), Some(&[[1; 48], [5; 48]].concat()[..]));
        assert_eq!(push(&mut pdus, 0, 32, 1, 6), Some(&[6; 48][..]));
        assert_eq!(push(&mut pdus, 1, 32, 1, 7), Some(&[[3; 48], [7; 48]].concat()[..]));
        assert_eq!(push(&mut pdus, 0, 33, 1, 8), Some(&[[2; 48], [8; 48]].concat()[..]));
    }

    #[test]
    fn what_began_before_is_left_out() {
        let mut pdus = Pdus::new(false);
        assert_eq!(push(&mut pdus, 0, 32, 0, 1), None);
        assert_eq!(push(&mut pdus, 0, 32, 1, 2), None);
        assert_eq!(push(&mut pdus, 0, 32, 1, 3), Some(&[3; 48][..]));
    }

    #[test]
    fn the_longest_pdu_is_kept_and_one_cell_more_is_passed_over() {
        let cells = LONGEST_PDU / 48;
        let mut pdus = Pdus::new(true);
        (1..cells).for_each(|_| assert_eq!(push(&mut pdus, 0, 32, 0, 1), None));
        assert_eq!(push(&mut pdus, 0, 32, 1, 1).map(<[u8]>::len), Some(LONGEST_PDU));
        (0..cells).for_each(|_| assert_eq!(push(&mut pdus, 0, 32, 0, 1), None));
        assert_eq!(push(&mut pdus, 0, 32, 1, 1), None);
        assert_eq!(push(&mut pdus, 0, 32, 1, 9), Some(&[9; 48][..]));
    }
}
