//! `management_cell`: OAM and RM cells of captures, decoded by the core.

use cellrate_proto::wire::{Header, OamFlow, OamFunction, Path, PayloadType, crc10_remainder};
use pyo3::prelude::*;

/// Flow and function of an OAM cell, or "RM" of an RM cell, and whether its CRC-10 is right; `None` for other cells.
///
/// `payload` is what was captured of its 48 octets. The CRC-10 is unknown where some are missing, and the function
/// where all are. A function is not read from a payload that is damaged.
#[pyfunction]
pub fn management_cell(vci: u16, pti: u8, payload: &[u8]) -> Option<(String, Option<bool>)> {
    let payload_type = PayloadType::from_bits(pti);
    let intact = payload.try_into().ok().map(|payload| crc10_remainder(payload) == 0);
    if payload_type == PayloadType::ResourceManagement {
        return Some(("RM".to_owned(), intact));
    }
    let flow = OamFlow::of(&Header { path: Path::uni(0), vci, payload_type, clp: false })?;
    let said = match (intact, payload) {
        (Some(false), _) | (_, []) => format!("{flow}"),
        (_, [octet, rest @ ..]) => {
            let function = OamFunction::of(*octet);
            let direction = match (function, rest.first()) {
                (OamFunction::Loopback, Some(indication)) if indication & 1 == 1 => " request",
                (OamFunction::Loopback, Some(_)) => " reply",
                _ => "",
            };
            format!("{flow} {function}{direction}")
        }
    };
    Some((said, intact))
}
