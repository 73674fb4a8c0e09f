//! EFCI marking (TM 4.0, 5.10.6 a).

use crate::declaration::Table;
use crate::units::Cells;

/// Thresholds on the ABR queue.
///
/// They say when a port marks data cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Table)]
#[table(name = "efci")]
pub struct EfciConfig {
    /// Marking begins when the queue is above this.
    pub high: Cells,
    /// Marking ends when the queue is at or below this; at most `high`.
    #[key(default = "`high`", or = high, holds(low <= high, "from 0 to high"))]
    pub low: Cells,
}

impl EfciConfig {
    /// One threshold: data cells that leave a queue above it are marked, others are not.
    pub const fn single(threshold: Cells) -> EfciConfig {
        EfciConfig::new(threshold)
    }
}

/// The marking state of a port.
#[derive(Clone, Debug)]
pub struct Efci {
    config: EfciConfig,
    marking: bool,
}

impl Efci {
    /// A port that does not mark yet.
    pub const fn new(config: EfciConfig) -> Efci {
        Efci { config, marking: false }
    }

    /// Whether a data cell that leaves an ABR queue of `queue` cells is marked. Between the thresholds it is as the one
    /// before it.
    #[inline]
    pub fn marks(&mut self, queue: Cells) -> bool {
        if queue > self.config.high {
            self.marking = true;
        } else if queue <= self.config.low {
            self.marking = false;
        }
        self.marking
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(config: EfciConfig, queues: &[u64]) -> std::vec::Vec<bool> {
        let mut efci = Efci::new(config);
        queues.iter().map(|&queue| efci.marks(Cells(queue))).collect()
    }

    #[test]
    fn one_threshold_marks_above_it_only() {
        assert_eq!(marks(EfciConfig::single(Cells(127)), &[127, 128, 127, 129]), [false, true, false, true]);
    }

    #[test]
    fn between_two_thresholds_the_state_stays() {
        let config = EfciConfig { high: Cells(127), low: Cells(100) };
        let queues = [101, 127, 128, 127, 101, 100, 101, 127, 128];
        assert_eq!(marks(config, &queues), [false, false, true, true, true, false, false, false, true]);
    }

    #[test]
    fn low_may_equal_high_but_not_exceed_it() {
        assert_eq!(EfciConfig::single(Cells(127)).check(), Ok(()));
        assert_eq!(EfciConfig { high: Cells(127), low: Cells(128) }.check().map_err(|e| e.name), Err("low"));
    }
}
