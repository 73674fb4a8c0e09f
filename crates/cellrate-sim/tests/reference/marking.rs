//! Cells and packets marked by the judge's ports.

use cellrate_proto::switch::{PacketMarkingConfig, RedConfig};

use super::*;

/// Flaws that take marks to tell.
pub const MARKING_FLAWS: [(Flaw, u64); 3] =
    [(Flaw::MarksAsTheyLeave, 3), (Flaw::LastCellDecides, 0), (Flaw::MeanStays, 6)];

/// RED of a category.
#[derive(Default)]
pub struct Average {
    value: f64,
    /// Packets since the last mark; none while the average is below the lower threshold.
    count: Option<u32>,
    /// When its last cell left; the beginning, if none has.
    empty_since: Time,
}

/// RED at a port: averages by priority, and random numbers.
pub struct Reds {
    averages: [Average; 3],
    marks: Random,
}

impl Reds {
    pub fn of(scenario: &Scenario, number: usize) -> Reds {
        let owner = Owner::port(scenario, PortIndex(number as u32));
        Reds { averages: Default::default(), marks: Random::new(scenario.seed, Stream::Marks(owner)) }
    }
}

/// A cell of this priority has left the port.
pub(super) fn note_empty(port: &mut Port, now: Time, priority: usize) {
    if port.queue(priority) == 0 {
        port.reds.averages[priority].empty_since = now;
    }
}

impl Network<'_> {
    /// A cell gets into the buffer of the port of this number: its packet is marked if the first cell of the PDU finds
    /// more cells of its category there than the threshold.
    pub(super) fn mark_packet(&mut self, now: Time, number: usize, priority: usize, cell: &mut Cell) {
        let cell_time = self.rate(now, number).cell_time();
        let Some(config) = self.scenario.links[number / 2].ports[number % 2].ecn else { return };
        if !cell.is_data(self.flaw) {
            return;
        }
        let port = &mut self.ports[number];
        let found = port.queue(priority) as u64;
        let (has_begun, marked) = port.packets.entry(cell.flow).or_default();
        if !*has_begun || self.flaw == Some(Flaw::LastCellDecides) {
            *marked = match config {
                PacketMarkingConfig::Step { threshold } => found > threshold.0,
                PacketMarkingConfig::Red(red) => {
                    let fades = found == 0 && self.flaw != Some(Flaw::MeanStays);
                    let idle = now.since(port.reds.averages[priority].empty_since);
                    let missed =
                        fades.then(|| idle.as_ps() / (cell_time.as_ps().saturating_mul(red.packet.0)));
                    red_marks(&mut port.reds, priority, &red, found, missed)
                }
            };
        }
        cell.marked |= *marked && (!*has_begun || cell.ends_pdu);
        *has_begun = !cell.ends_pdu;
    }
}

/// Random early detection as the paper of 1993 writes it: `missed` packets would have come while the queue was empty.
fn red_marks(reds: &mut Reds, priority: usize, red: &RedConfig, found: u64, missed: Option<u64>) -> bool {
    let Reds { averages, marks } = reds;
    let average = &mut averages[priority];
    match missed {
        Some(missed) => (0..missed.min(100_000)).for_each(|_| average.value *= 1.0 - red.weight),
        None => average.value = (1.0 - red.weight) * average.value + red.weight * found as f64,
    }
    let (low, high) = (red.minimum.0 as f64, red.maximum.0 as f64);
    let linear = red.probability * (average.value - low) / (high - low);
    let beyond = red.probability + (1.0 - red.probability) * (average.value - high) / high;
    let probability = match average.value {
        value if value < low => {
            average.count = None;
            return false;
        }
        value if value < high => linear,
        value if red.gentle && value < 2.0 * high => beyond,
        _ => {
            average.count = Some(0);
            return true;
        }
    };
    let count = average.count.map_or(0, |count| count + 1);
    let rest = 1.0 - f64::from(count) * probability;
    let marked = rest <= probability || marks.uniform() < probability / rest;
    average.count = Some(if marked { 0 } else { count });
    marked
}

/// EFCI of a cell whose transmission begins.
pub(super) fn mark(port: &mut Port, cell: &mut Cell, priority: usize, abr_queue: usize) {
    let marks = port.control.marks_efci(Cells(abr_queue as u64));
    cell.efci |= marks && priority == 1 && cell.is_data(None);
}
