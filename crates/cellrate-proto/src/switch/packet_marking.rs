//! Marking of IP packets (ECN, RFC 3168) by a port that looks into AAL5 PDUs.
//!
//! The IP header is in the first cell of a PDU, so that cell decides, by the cells of its own category that it finds in
//! the buffer, the cell in transmission included: above a step, as DCTCP asks for (RFC 8257, section 3.1), or by random
//! early detection ([`RedConfig`]); of ATM's own marking, EFCI, it is independent. The port writes CE into the first
//! cell and puts the checksum in the last one right, which is linear in what has changed. It knows beginnings of PDUs
//! by the ends before them, as frame discard does: where the end of one has been lost, the next one goes on with its
//! mark, and is spoiled anyway.

use super::Slot;
use super::list::List;
use crate::declaration::{Key, Range, Setting, Shape, Table, Values, required};
use crate::units::{Cells, Duration, Time};

/// When a port marks packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketMarkingConfig {
    /// A packet is marked whose first cell finds more cells than the threshold.
    Step {
        /// K \[cells\].
        threshold: Cells,
    },
    /// Random early detection: by chance, and the more often the longer the mean queue is.
    Red(RedConfig),
}

/// Random early detection (Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993; RFC 2309), here for
/// marks only. The queue that packets find is averaged exponentially; between the two thresholds the probability
/// rises from zero to `probability`, spread evenly over the packets between two marks. Above the upper one all are
/// marked, or, gently, the probability rises on to one at twice the upper threshold (Floyd, "Recommendation on
/// using the gentle_ variant of RED", 2000). The default probability is Floyd's recommendation of 1997, that of the
/// weight is the paper's, and a segment of 1460 octets takes the cells of the default packet.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct RedConfig {
    /// min_th: below this mean nothing is marked.
    pub minimum: Cells,
    /// max_th, above minimum: at this mean `probability` is reached.
    pub maximum: Cells,
    /// max_p; marks are spread evenly, so that twice as many packets are marked on average.
    #[key(default = "0.1", range = Range::SHARE)]
    pub probability: f64,
    /// w_q: the part of a new value in the mean.
    #[key(default = "0.002", range = Range::SHARE)]
    pub weight: f64,
    /// From maximum to twice that the probability rises to 1 (Floyd, 2000); else it is 1 from maximum on.
    #[key(default = "true")]
    pub gentle: bool,
    /// A typical packet: while the queue is empty the mean fades as if one came in each of its times on the line.
    #[key(default = "32 cells")]
    pub packet: Cells,
}

/// The one key of marking above a step.
const THRESHOLD: Key = required(
    "threshold",
    <Cells as Setting>::KIND,
    "K: more cells of its category than this in the port, the one in transmission included.",
);

const STEP: Shape = Shape {
    name: "step",
    about: "A packet is marked if its first cell finds more cells than the threshold (RFC 8257, section 3.1).",
    keys: &[THRESHOLD],
};
const RED: Shape = Shape {
    name: "red",
    about: "Random early detection (Floyd and Jacobson, 1993; RFC 2309), for marks alone: by the mean of the queues that first cells of packets find.",
    keys: RedConfig::KEYS,
};

impl PacketMarkingConfig {
    /// Name, meaning and keys of each kind of marking; the first is that of a table without a `type`.
    pub const SHAPES: &'static [Shape] = &[STEP, RED];

    /// The marking of the kind `name`, with the parameters that `values` describe.
    ///
    /// # Errors
    /// A value that cannot be taken.
    pub fn read<V: Values>(name: Option<&str>, values: &V) -> Result<PacketMarkingConfig, V::Error> {
        if name == Some(RED.name) {
            return RedConfig::read(values).map(PacketMarkingConfig::Red);
        }
        let threshold = values.cells(THRESHOLD.name)?;
        let threshold = threshold.ok_or_else(|| values.missing(THRESHOLD.name, THRESHOLD.about, "type"))?;
        Ok(PacketMarkingConfig::Step { threshold })
    }

    /// Name of the marking in results, such as "RED".
    pub const fn title(&self) -> &'static str {
        match self {
            PacketMarkingConfig::Step { .. } => "ECN",
            PacketMarkingConfig::Red(_) => "RED",
        }
    }
}

/// The port as the first cell of a packet finds it.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The instant.
    pub now: Time,
    /// Cells of its category, the one in transmission included.
    pub queue: Cells,
    /// Time that the line takes for a cell.
    pub cell_time: Duration,
}

/// A connection.
#[derive(Clone, Copy, Debug, Default)]
struct Vc {
    /// Whether the last cell was amid its PDU.
    within: bool,
    /// Whether that PDU is marked.
    marked: bool,
}

/// RED's state for a category.
#[derive(Clone, Copy, Debug)]
struct Mean {
    /// avg \[cells\].
    queue: f64,
    /// Packets since the last mark, if the mean has been above the lower threshold since.
    count: Option<u32>,
    /// Since when the queue has been empty, while it is.
    empty: Option<Time>,
}

/// Marking at a port with so many categories, whose connections have numbers of their own each.
#[derive(Clone, Debug)]
pub struct PacketMarking<const CATEGORIES: usize> {
    config: PacketMarkingConfig,
    vcs: [List<Vc>; CATEGORIES],
    means: [Mean; CATEGORIES],
}

impl<const CATEGORIES: usize> PacketMarking<CATEGORIES> {
    /// A port without connections.
    pub fn new(config: PacketMarkingConfig) -> PacketMarking<CATEGORIES> {
        PacketMarking {
            config,
            vcs: [const { List::new() }; CATEGORIES],
            means: [Mean { queue: 0.0, count: None, empty: Some(Time::ZERO) }; CATEGORIES],
        }
    }

    /// One more connection of this category.
    pub fn connect(&mut self, category: usize) -> Slot {
        let vcs = &mut self.vcs[category];
        vcs.push(Vc::default());
        Slot(vcs.as_slice().len() as u32 - 1)
    }

    /// A data cell gets into the buffer, which it `found` so: whether it has to say that its packet is marked. Only the
    /// first cell of a PDU and the last one do. `ends_pdu`: whether its AAL user bit is set. `chance` gives a number
    /// from 0 to 1, where marks are left to chance.
    #[inline]
    pub fn marks(
        &mut self,
        category: usize,
        slot: Slot,
        ends_pdu: bool,
        found: Found,
        chance: impl FnOnce() -> f64,
    ) -> bool {
        let vc = &mut self.vcs[category][slot];
        let is_first = !vc.within;
        if is_first {
            vc.marked = match &self.config {
                PacketMarkingConfig::Step { threshold } => found.queue > *threshold,
                PacketMarkingConfig::Red(red) => self.means[category].marks(red, found, chance),
            };
        }
        vc.within = !ends_pdu;
        vc.marked && (is_first || ends_pdu)
    }

    /// The last cell of a category has left at `now`.
    #[inline]
    pub fn on_empty(&mut self, category: usize, now: Time) {
        self.means[category].empty = Some(now);
    }
}

impl Mean {
    fn marks(&mut self, red: &RedConfig, found: Found, chance: impl FnOnce() -> f64) -> bool {
        match self.empty.take().filter(|_| found.queue == Cells::ZERO) {
            Some(since) => {
                let packet = found.cell_time.as_ps().saturating_mul(red.packet.0).max(1);
                self.queue *= power(1.0 - red.weight, found.now.since(since).as_ps() / packet);
            }
            None => self.queue = (1.0 - red.weight) * self.queue + red.weight * found.queue.0 as f64,
        }
        let (minimum, maximum) = (red.minimum.0 as f64, red.maximum.0 as f64);
        if self.queue < minimum {
            self.count = None;
            return false;
        }
        let probability = if self.queue < maximum {
            red.probability * (self.queue - minimum) / (maximum - minimum)
        } else if red.gentle && self.queue < 2.0 * maximum {
            red.probability + (1.0 - red.probability) * (self.queue - maximum) / maximum
        } else {
            self.count = Some(0);
            return true;
        };
        let count = self.count.map_or(0, |count| count.saturating_add(1));
        // Even between two marks: p / (1 - count p).
        let left = 1.0 - f64::from(count) * probability;
        let marks = left <= probability || chance() < probability / left;
        self.count = Some(if marks { 0 } else { count });
        marks
    }
}

/// `base` to the power of `exponent`, by products alone: the same on every machine.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left % 2 == 1 {
            result *= square;
        }
        square *= square;
        left /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn found(queue: u64) -> Found {
        Found { now: Time::ZERO, queue: Cells(queue), cell_time: Duration::from_us(3) }
    }

    fn step(threshold: u64) -> PacketMarkingConfig {
        PacketMarkingConfig::Step { threshold: Cells(threshold) }
    }

    #[test]
    fn the_first_cell_decides_and_the_first_and_the_last_say_so() {
        let mut marking = PacketMarking::<2>::new(step(4));
        let [first, second] = [marking.connect(1), marking.connect(1)];
        let mut pdu = |slot, queues: [u64; 3]| -> Vec<bool> {
            let cells = queues.iter().zip(1..);
            cells.map(|(&queue, place)| marking.marks(1, slot, place == 3, found(queue), || 0.0)).collect()
        };
        assert_eq!(pdu(first, [4, 9, 9]), [false, false, false], "exactly the threshold is not above it");
        assert_eq!(pdu(first, [5, 0, 0]), [true, false, true]);
        assert_eq!(pdu(second, [0, 5, 5]), [false, false, false]);
    }

    #[test]
    fn connections_have_marks_of_their_own() {
        let mut marking = PacketMarking::<1>::new(step(0));
        let [first, second] = [marking.connect(0), marking.connect(0)];
        let mut marks = |slot, ends, queue| marking.marks(0, slot, ends, found(queue), || 0.0);
        assert!(marks(first, false, 1));
        assert!(!marks(second, false, 0));
        assert!(marks(first, true, 0));
        assert!(!marks(second, true, 0));
        assert!(marks(second, true, 1), "a PDU of one cell");
    }

    /// A port that looks at the present queue, and a packet of one cell for each of these queues: whether each is
    /// marked where chance gives this number.
    fn red(gentle: bool, queues: &[u64], chance: f64) -> Vec<bool> {
        let config = RedConfig { weight: 1.0, gentle, ..RedConfig::new(Cells(100), Cells(200)) };
        let mut marking = PacketMarking::<1>::new(PacketMarkingConfig::Red(config));
        let slot = marking.connect(0);
        queues.iter().map(|&queue| marking.marks(0, slot, true, found(queue), || chance)).collect()
    }

    #[test]
    fn the_probability_rises_between_the_thresholds_and_marks_are_spread_evenly() {
        // At 150 the probability is 0.05: with p / (1 - count p) and chance 0.5, the first of the series that is at
        // least 0.5 is count 18: 0.05 / 0.1; where chance is against it, count 19 in any case.
        let mark = |chance| red(true, &[150; 40], chance).iter().position(|&marked| marked);
        assert_eq!((mark(0.499), mark(0.99)), (Some(18), Some(19)));
        assert_eq!(mark(0.04), Some(0));
        assert_eq!(red(true, &[99, 99], 0.0), [false, false]);
        // Below the lower threshold the count begins anew.
        let mut queues = [150; 40];
        queues[17] = 50;
        assert_eq!(red(true, &queues, 0.99).iter().position(|&marked| marked), Some(18 + 19));
    }

    #[test]
    fn above_the_upper_threshold_all_are_marked_or_gently_more() {
        // 0.1 + 0.9 * 100 / 200 = 0.55 at 300.
        assert_eq!(red(false, &[300], 0.99), [true]);
        assert_eq!((red(true, &[300], 0.54), red(true, &[300], 0.56)), (vec(true), vec(false)));
        assert_eq!(red(true, &[400], 0.99), [true]);
        fn vec(marked: bool) -> Vec<bool> {
            [marked].into()
        }
    }

    #[test]
    fn the_mean_follows_the_queue_and_fades_while_it_is_empty() {
        let config = RedConfig {
            minimum: Cells(10),
            maximum: Cells(20),
            probability: 1.0,
            weight: 0.5,
            gentle: true,
            packet: Cells(2),
        };
        let mut mean = Mean { queue: 0.0, count: None, empty: None };
        for expected in [50.0, 75.0, 87.5] {
            mean.marks(&config, found(100), || 1.0);
            assert_eq!(mean.queue, expected);
        }
        // Empty for 20 us: three whole packets of 6 us.
        mean.empty = Some(Time::ZERO);
        let later = Found { now: Time::ZERO + Duration::from_us(20), ..found(0) };
        mean.marks(&config, later, || 1.0);
        assert_eq!((mean.queue, mean.empty), (87.5 / 8.0, None));
        // One that finds cells again is an ordinary value.
        mean.empty = Some(Time::ZERO);
        mean.marks(&config, Found { queue: Cells(1), ..later }, || 1.0);
        assert_eq!(mean.queue, (87.5 / 8.0 + 1.0) / 2.0);
    }

    #[test]
    fn powers_are_products() {
        assert_eq!((power(0.5, 0), power(0.5, 3), power(0.25, 5)), (1.0, 0.125, 0.25_f64.powi(5)));
    }
}
