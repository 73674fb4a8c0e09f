//! Connections whose MCR is more than an equal share: what is left for the others.
//!
//! A source keeps its MCR, whichever rate it is told. Where shares are equal, those that are promised more take it off
//! the capacity before the others share it; otherwise a port would hand out what it has promised a second time.

use alloc::vec::Vec;

use super::{Meter, Slot};
use crate::units::CellRate;

/// MCRs of the connections at a port that have one, and those of them that are above the equal share.
#[derive(Clone, Debug, Default)]
pub(super) struct Minima {
    /// By slot.
    vcs: Vec<(Slot, CellRate)>,
    above: Above,
}

/// Connections that have more than an equal share by their MCRs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Above {
    /// Their MCRs together [cells/s].
    pub mcrs: CellRate,
    /// How many there are.
    pub count: f64,
}

impl Minima {
    /// A connection comes, after those with smaller numbers.
    pub fn connect(&mut self, slot: Slot, mcr: CellRate) {
        self.vcs.push((slot, mcr));
    }

    /// MCR of a connection; zero where it has none.
    pub fn of(&self, slot: Slot) -> CellRate {
        let found = self.vcs.binary_search_by_key(&slot, |&(slot, _)| slot);
        found.map_or(CellRate::ZERO, |place| self.vcs[place].1)
    }

    /// Connections that are above the share now.
    pub fn above(&self) -> Above {
        self.above
    }

    /// Works out anew who is above an equal share of `capacity` among `n`, of those that were active in the interval
    /// that has ended; `meter` is already in the next one.
    pub fn end_interval(&mut self, capacity: CellRate, n: f64, meter: &Meter) {
        let ended = meter.interval() - 1;
        let active = self.vcs.iter().filter(|(slot, _)| meter.last_active(*slot) == Some(ended));
        let mut mcrs: Vec<CellRate> = active.map(|&(_, mcr)| mcr).collect();
        self.above = above(capacity, n, &mut mcrs);
    }
}

/// The connections among those with these `mcrs`, of `n` that share `capacity`, that have more than the share of the
/// others.
pub(super) fn above(capacity: CellRate, n: f64, mcrs: &mut [CellRate]) -> Above {
    mcrs.sort_unstable_by(|a, b| b.as_cells_per_s().total_cmp(&a.as_cells_per_s()));
    let mut above = Above::default();
    for &mcr in &*mcrs {
        if mcr <= above.share_of(capacity, n) {
            break;
        }
        above = Above { mcrs: above.mcrs + mcr, count: above.count + 1.0 };
    }
    above
}

impl Above {
    /// Rate that each of the others of `n` connections has of `capacity`.
    pub fn share_of(self, capacity: CellRate, n: f64) -> CellRate {
        let left = capacity.saturating_sub(self.mcrs).as_cells_per_s();
        if self.count == 0.0 {
            CellRate::new(left / n)
        } else {
            CellRate::new(left / (n - self.count).max(1.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_promised_more_than_a_share_leaves_less_for_the_others() {
        let among = |mcrs: &[f64], n: f64| {
            let mut mcrs: Vec<CellRate> = mcrs.iter().copied().map(CellRate::new).collect();
            let above = above(CellRate::new(120.0), n, &mut mcrs);
            (above.count, above.share_of(CellRate::new(120.0), n).as_cells_per_s())
        };
        assert_eq!(among(&[], 3.0), (0.0, 40.0));
        assert_eq!(among(&[10.0, 40.0], 3.0), (0.0, 40.0));
        assert_eq!(among(&[90.0], 3.0), (1.0, 15.0));
        // 20 are less than a third of 120, and more than what 90 leave.
        assert_eq!(among(&[20.0, 90.0], 3.0), (2.0, 10.0));
        assert_eq!(among(&[90.0, 90.0], 3.0), (2.0, 0.0));
    }
}
