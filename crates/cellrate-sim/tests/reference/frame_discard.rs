//! How the judge has ports lose PDUs rather than cells.

use cellrate_proto::switch::FrameDiscardConfig;

use super::*;

/// Fates of the PDUs of one direction at a port.
#[derive(Default)]
pub(super) struct Fates {
    /// Whether each cell so far of the PDU that is coming got in.
    cells: Vec<bool>,
    /// Cells of a PDU before it got in, but not its last one.
    open: bool,
}

impl Network<'_> {
    /// Whether a cell of UBR that comes to the port of this number gets in there, if it could.
    pub(super) fn frame_gets_in(&mut self, number: usize, cell: &Cell, has_room: bool) -> bool {
        let connection = &self.scenario.connections[cell.flow / 2];
        let config = &self.scenario.links[number / 2].ports[number % 2];
        let (Some(policy), Category::Ubr) = (config.frame_discard, connection.category) else {
            return has_room;
        };
        if !connection.carries_pdus(cell.flow % 2 == 1) {
            return has_room;
        }
        let Buffers { ubr, shared, .. } = config.buffers;
        let room = match (ubr, shared) {
            (Some(ubr), Some(shared)) => Some(ubr.min(shared)),
            (ubr, shared) => ubr.or(shared),
        };
        let port = &mut self.ports[number];
        let waiting = port.waiting[2].iter();
        let owners: Vec<usize> = waiting
            .chain(port.transmitting.iter().filter(|&&(_, priority, _)| priority == 2).map(|(cell, ..)| cell))
            .map(|cell| cell.flow)
            .collect();
        let fates = port.fates.entry(cell.flow).or_default();
        let gets_in = if fates.open {
            cell.ends_pdu && has_room
        } else {
            match fates.cells.first() {
                None => has_room && !is_refused(policy, &owners, cell.flow, room),
                Some(false) => false,
                Some(true) if fates.cells.contains(&false) => cell.ends_pdu && has_room,
                Some(true) => has_room,
            }
        };
        if !fates.open {
            port.refused += u64::from(fates.cells.is_empty() && !gets_in);
            let was_whole = fates.cells.first() == Some(&true) && !fates.cells.contains(&false);
            port.cut += u64::from(was_whole && !gets_in);
        }
        fates.cells.push(gets_in);
        if cell.ends_pdu {
            fates.open = !gets_in && (fates.open || fates.cells.contains(&true));
            fates.cells.clear();
        }
        gets_in
    }
}

/// Whether a PDU of `flow` is refused though there is room for its first cell. `owners`: of the cells in the buffer.
fn is_refused(policy: FrameDiscardConfig, owners: &[usize], flow: usize, room: Option<Cells>) -> bool {
    let (x, y) = (owners.len() as u128, owners.iter().filter(|&&owner| owner == flow).count() as u128);
    let n = owners.iter().collect::<std::collections::BTreeSet<_>>().len() as u128;
    // The factors of the random networks are so many eighths.
    match policy {
        FrameDiscardConfig::Partial => false,
        FrameDiscardConfig::Early { threshold } => x > u128::from(threshold.0),
        FrameDiscardConfig::Selective { threshold, scale_factor } => {
            x > u128::from(threshold.0) && 8 * y * n > (8.0 * scale_factor) as u128 * x
        }
        FrameDiscardConfig::Fair { threshold, scale_factor } => {
            let (r, k) = (u128::from(threshold.0), u128::from(room.expect("it is limited").0));
            x > r && 8 * y * n * (x - r) > (8.0 * scale_factor) as u128 * x * (k - r)
        }
    }
}
