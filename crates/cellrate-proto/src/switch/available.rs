//! How much of a line ABR may have: the one answer that algorithms, fair shares and plots go by.
//!
//! A scheduler takes some of the line for other categories. By strict priority that is what CBR and VBR bring, and what
//! is booked for GFR and UBR connections as their MCRs ([`BookedTurns`](crate::scheduling::BookedTurns)). With weights
//! for categories ABR has its part of what the others do not leave: those that ask for less than their own parts keep
//! what they ask for, and the rest is divided by weight. Weighted parts of `rate` are then the largest of a few
//! [`Term`]s, one for each set of categories that could use more than they get.

use crate::scheduling::Weight;
use crate::units::CellRate;

/// Rates of other categories at a port, and how it weighs them against ABR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Others {
    /// Rate that is sent before ABR, whatever that has [cells/s].
    pub first: CellRate,
    /// Weights of categories, and what they use; `None` by strict priority.
    pub weighted: Option<Weighted>,
}

/// Categories that take turns by weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// Weights of CBR and VBR together, of ABR, and of GFR and UBR together.
    pub weights: [Weight; 3],
    /// Rates that CBR and VBR, and that GFR and UBR use, or could [cells/s]; infinite for those that take all they get.
    pub used: [CellRate; 2],
}

/// One of the lines whose largest value ABR may have: `part` of the rest of a rate behind `first`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// Part of the rest [above 0, at most 1].
    pub part: f64,
    /// Rate that goes off before [cells/s].
    pub first: CellRate,
}

impl Others {
    /// By strict priority, with so much that is sent before ABR.
    pub const fn before(first: CellRate) -> Others {
        Others { first, weighted: None }
    }

    /// The lines of which ABR has the largest value: one by strict priority, four with weights.
    pub fn terms(&self) -> impl Iterator<Item = Term> + use<> {
        let Others { first, weighted } = *self;
        let by_priority = weighted.is_none().then_some(Term { part: 1.0, first });
        let weighted = weighted.into_iter().flat_map(|Weighted { weights, used }| {
            let [guaranteed, abr, ubr] = weights.map(|weight| f64::from(weight.thousandths()));
            // Whether CBR and VBR, and whether GFR and UBR would use more than their parts.
            [[false, false], [false, true], [true, false], [true, true]].into_iter().filter_map(move |more| {
                let together = [guaranteed, ubr].into_iter().zip(more);
                let weight: f64 = together.filter_map(|(weight, more)| more.then_some(weight)).sum();
                let kept = used.into_iter().zip(more).filter_map(|(used, more)| (!more).then_some(used));
                let first = kept.fold(CellRate::ZERO, |sum, used| sum + used);
                first.as_cells_per_s().is_finite().then_some(Term { part: abr / (abr + weight), first })
            })
        });
        by_priority.into_iter().chain(weighted)
    }

    /// Rest of `rate` for ABR [cells/s]; below 0 where others bring more than that.
    pub fn left_of(&self, rate: CellRate) -> f64 {
        if self.weighted.is_none() {
            return rate.as_cells_per_s() - self.first.as_cells_per_s();
        }
        let left = |term: Term| term.part * (rate.as_cells_per_s() - term.first.as_cells_per_s());
        self.terms().map(left).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Part of `rate` that ABR may have; `rate` is the line's or the part of it that is handed out [cells/s].
    ///
    /// ```
    /// use cellrate_proto::CellRate;
    /// use cellrate_proto::scheduling::Weight;
    /// use cellrate_proto::switch::{Others, Weighted};
    /// let used = [CellRate::new(10.0), CellRate::new(f64::INFINITY)];
    /// let others = Others { first: CellRate::ZERO, weighted: Some(Weighted { weights: [Weight::ONE; 3], used }) };
    /// // 10 are less than a third of 100; of the other 90 the greedy category has half.
    /// assert_eq!(others.available(CellRate::new(100.0)), CellRate::new(45.0));
    /// ```
    pub fn available(&self, rate: CellRate) -> CellRate {
        CellRate::new(self.left_of(rate).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_strict_priority_it_is_what_others_leave() {
        let others = Others::before(CellRate::new(30.0));
        assert_eq!(others.available(CellRate::new(100.0)), CellRate::new(70.0));
        assert_eq!(
            (others.available(CellRate::new(20.0)), others.left_of(CellRate::new(20.0))),
            (CellRate::ZERO, -10.0)
        );
    }

    proptest! {
        /// Water-filling found by bisection knows nothing of terms: all categories rise by their weights until the rate
        /// is used up, those that ask for less stop, and ABR does not.
        #[test]
        fn weights_divide_what_those_that_ask_for_less_leave(
            rate in 1.0..1e6_f64,
            weights in proptest::array::uniform3(0.01..100.0_f64),
            used in [prop_oneof![0.0..2e6_f64, Just(f64::INFINITY)], prop_oneof![0.0..2e6_f64, Just(f64::INFINITY)]],
        ) {
            let weights = weights.map(Weight::nearest);
            let [guaranteed, abr, ubr] = weights.map(|weight| f64::from(weight.thousandths()));
            let all = |level: f64| abr * level + used[0].min(guaranteed * level) + used[1].min(ubr * level);
            let (mut low, mut high) = (0.0, rate);
            for _ in 0..200 {
                let middle = f64::midpoint(low, high);
                if all(middle) < rate { low = middle } else { high = middle }
            }
            let others = Others { first: CellRate::ZERO, weighted: Some(Weighted { weights, used: used.map(CellRate::new) }) };
            let available = others.available(CellRate::new(rate)).as_cells_per_s();
            prop_assert!((available / (abr * low) - 1.0).abs() < 1e-6, "{} is not {}", available, abr * low);
        }
    }
}
