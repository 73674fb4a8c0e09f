//! How the judge has ports lose PDUs rather than cells.

use cellrate_proto::switch::FrameDiscardConfig;
use cellrate_proto::switch::frame_discard::{Differential, DoubleEarly, Early, Fair, Partial, Selective};

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
    /// Whether a cell that comes to the port of this number gets in there, if it could.
    pub(super) fn frame_gets_in(&mut self, number: usize, cell: &Cell, has_room: bool) -> bool {
        let connection = &self.scenario.connections[cell.flow / 2];
        let config = &self.scenario.links[number / 2].ports[number % 2];
        let class = priority(connection.category);
        let Buffers { guaranteed, abr, ubr, shared, .. } = config.buffers;
        let policies = [config.guaranteed_frame_discard, config.abr_frame_discard, config.frame_discard];
        let (Some(policy), true) = (policies[class], cell.is_data(self.flaw)) else {
            return has_room;
        };
        let allowed = match connection.queue.frame_discard {
            Some(allowed) => allowed,
            None => class == 2,
        };
        if !allowed || !connection.carries_pdus(cell.flow % 2 == 1) {
            return has_room;
        }
        let room = match ([guaranteed, abr, ubr][class], shared) {
            (Some(own), Some(shared)) => Some(own.min(shared)),
            (own, shared) => own.or(shared),
        };
        let part = self.part_of_minima(number, cell.flow);
        let port = &mut self.ports[number];
        let queue = port.queue(class);
        let waiting = port.waiting[class].iter();
        let owners: Vec<usize> = waiting
            .chain(
                port.transmitting
                    .iter()
                    .filter(|&&(_, priority, _)| priority == class)
                    .map(|(cell, ..)| cell),
            )
            .filter(|cell| cell.is_data(self.flaw))
            .map(|cell| cell.flow)
            .collect();
        let fates = port.fates.entry(cell.flow).or_default();
        let coming = Coming { flow: cell.flow, clp: cell.clp(), part, queue };
        let gets_in = if fates.open {
            cell.ends_pdu && has_room
        } else {
            match fates.cells.first() {
                None => has_room && !is_refused(policy, &owners, coming, room, &mut port.refusals),
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

/// A PDU that comes: its direction, CLP of its first cell, and the direction's part of the MCRs of all at the port.
#[derive(Clone, Copy)]
struct Coming {
    flow: usize,
    clp: bool,
    part: f64,
    /// Cells of its categories at the port, RM cells among them.
    queue: usize,
}

impl Network<'_> {
    /// MCR of the direction over the sum of those that send through the port of this number; 0 without any.
    fn part_of_minima(&self, number: usize, flow: usize) -> f64 {
        let class = priority(self.scenario.connections[flow / 2].category);
        let minimum = |flow: usize| {
            let connection = &self.scenario.connections[flow / 2];
            let sends = connection.carries_data(flow % 2 == 1);
            let crosses = self.paths[flow].iter().any(|&step| number_of(step) == number);
            let same = priority(connection.category) == class;
            let mcr = match &flow_config(self.scenario, flow).sender {
                Sender::Abr(abr) => abr.parameters.mcr,
                Sender::Peak(_) => connection.queue.mcr,
            };
            if sends && crosses && same { mcr.as_cells_per_s() } else { 0.0 }
        };
        if self.flaw == Some(Flaw::SharesByNumber) {
            return 0.5;
        }
        let sum: f64 = (0..self.paths.len()).map(minimum).sum();
        if sum > 0.0 { minimum(flow) / sum } else { 0.0 }
    }
}

/// Whether a PDU is refused though there is room for its first cell. `owners`: of the cells in the buffer.
fn is_refused(
    policy: FrameDiscardConfig,
    owners: &[usize],
    Coming { flow, clp, part, queue }: Coming,
    room: Option<Cells>,
    refusals: &mut Random,
) -> bool {
    let (x, y) = (queue as u128, owners.iter().filter(|&&owner| owner == flow).count() as u128);
    let n = owners.iter().collect::<std::collections::BTreeSet<_>>().len() as u128;
    // The factors of the random networks are so many eighths.
    match policy {
        FrameDiscardConfig::Partial(Partial {}) => false,
        FrameDiscardConfig::Early(Early { threshold }) => x > u128::from(threshold.0),
        FrameDiscardConfig::Selective(Selective { threshold, scale_factor }) => {
            x > u128::from(threshold.0) && 8 * y * n > (8.0 * scale_factor) as u128 * x
        }
        FrameDiscardConfig::Fair(Fair { threshold, scale_factor }) => {
            let (r, k) = (u128::from(threshold.0), u128::from(room.expect("it is limited").0));
            x > r && 8 * y * n * (x - r) > (8.0 * scale_factor) as u128 * x * (k - r)
        }
        FrameDiscardConfig::DoubleEarly(DoubleEarly { tagged_threshold, threshold }) => {
            x > u128::from(if clp { tagged_threshold } else { threshold }.0)
        }
        FrameDiscardConfig::Differential(Differential { low, high, fairness }) => {
            let (l, h) = (u128::from(low.0), u128::from(high.0));
            let [x_, y_, l_, h_] = [x, y, l, h].map(|cells| cells as f64);
            match (x > h, x > l) {
                (true, _) => true,
                (false, false) => false,
                (false, true) if clp => true,
                (false, true) if y_ <= part * x_ || part == 1.0 => false,
                (false, true) => {
                    let unfair = (y_ - part * x_) / (x_ * (1.0 - part));
                    let load = (x_ - l_) / (h_ - l_);
                    refusals.uniform() < (1.0 - part) * (fairness * unfair + (1.0 - fairness) * load)
                }
            }
        }
    }
}
