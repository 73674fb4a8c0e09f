//! Cells and packets marked by the judge's ports.

use super::*;

/// Flaws that take marks to tell.
pub const MARKING_FLAWS: [Flaw; 2] = [Flaw::MarksAsTheyLeave, Flaw::LastCellDecides];

impl Network<'_> {
    /// A cell gets into the buffer of the port of this number: its packet is marked if the first cell of the PDU finds
    /// more cells of its category there than the threshold.
    pub(super) fn mark_packet(&mut self, number: usize, priority: usize, cell: &mut Cell) {
        let Some(config) = self.scenario.links[number / 2].ports[number % 2].ecn else { return };
        if cell.rm.is_some() {
            return;
        }
        let port = &mut self.ports[number];
        let found = port.queue(priority) as u64;
        let (has_begun, marked) = port.packets.entry(cell.flow).or_default();
        if !*has_begun || self.flaw == Some(Flaw::LastCellDecides) {
            *marked = found > config.threshold.0;
        }
        cell.marked |= *marked && (!*has_begun || cell.ends_pdu);
        *has_begun = !cell.ends_pdu;
    }
}

/// EFCI of a cell whose transmission begins.
pub(super) fn mark(port: &mut Port, cell: &mut Cell, priority: usize, abr_queue: usize) {
    let marks = port.control.marks_efci(Cells(abr_queue as u64));
    cell.efci |= marks && priority == 1 && cell.rm.is_none();
}
