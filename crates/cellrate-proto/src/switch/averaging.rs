//! How ERICA counts active sources and averages the load factor.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Slot;
use super::meter::{IntervalLoad, Meter};
use crate::parameters::{ParameterError, in_range};
use crate::units::CellRate;

/// How the number of active sources is counted.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ActiveSources {
    /// A connection is also active when a BRM of it passed backward. Default false: forward cells only.
    pub bidirectional: bool,
    /// An inactive connection still counts `decay` times what it counted before [0 to below 1]. Default `None`: it
    /// counts nothing at once.
    pub decay: Option<f64>,
}

impl ActiveSources {
    /// Refuses a decay outside its range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let decay = self.decay.unwrap_or(0.0);
        in_range("active_decay", decay, "", (0.0..1.0).contains(&decay), "from 0 to below 1")
    }
}

/// How the load factor z is averaged over intervals; `alpha` is the weight of the newest interval [above 0 to 1].
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum LoadAveraging {
    /// Each interval stands alone (default).
    #[default]
    None,
    /// Exponential averaging of z itself.
    Ratio {
        /// Weight of the newest interval.
        alpha: f64,
    },
    /// The ratio of the averaged input to the averaged capacity, each averaged on its own.
    Components {
        /// Weight of the newest interval.
        alpha: f64,
    },
}

impl LoadAveraging {
    /// Refuses a weight outside its range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let alpha = match *self {
            LoadAveraging::None => return Ok(()),
            LoadAveraging::Ratio { alpha } | LoadAveraging::Components { alpha } => alpha,
        };
        in_range("averaging_alpha", alpha, "", alpha > 0.0 && alpha <= 1.0, "above 0 and at most 1")
    }
}

/// What has decayed to less than this is gone. It lets an idle port come to rest after a known number of intervals
/// instead of approaching zero for ever, and is far below anything a rate code can show.
const NEGLIGIBLE: f64 = 1e-9;

/// The count of active sources, averaged or not.
///
/// Without decay it is the meter's own count, and nothing loops. With decay, each connection's contribution is 1 after
/// an interval in which it was active and shrinks by the factor in each one after; their sum is taken once per interval.
#[derive(Clone, Debug)]
pub struct ActiveCount {
    counted: f64,
    /// With decay only.
    fading: Option<Box<Fading>>,
}

#[derive(Clone, Debug)]
struct Fading {
    decay: f64,
    /// Per slot.
    contributions: Vec<f64>,
}

impl ActiveCount {
    /// Nobody active yet.
    pub fn new(config: &ActiveSources) -> ActiveCount {
        let fading = config.decay.map(|decay| Box::new(Fading { decay, contributions: Vec::new() }));
        ActiveCount { counted: 0.0, fading }
    }

    /// N: at least 1, so that capacity / N is a rate even on an idle port.
    pub fn n(&self) -> f64 {
        self.counted.max(1.0)
    }

    pub(super) fn connect(&mut self) {
        if let Some(fading) = &mut self.fading {
            fading.contributions.push(0.0);
        }
    }

    /// Counts a connection that began within the interval as active at once.
    pub(super) fn join(&mut self, slot: Slot) {
        let fading = self.fading.as_mut();
        if let Some(contribution) = fading.and_then(|fading| fading.contributions.get_mut(slot.0 as usize)) {
            self.counted += 1.0 - *contribution;
            *contribution = 1.0;
        } else {
            self.counted += 1.0;
        }
    }

    /// Takes the count of the interval that `load` describes; `meter` is already in the next one.
    pub(super) fn end_interval(&mut self, load: &IntervalLoad, meter: &Meter) {
        let Some(fading) = self.fading.as_deref_mut() else {
            self.counted = f64::from(load.active);
            return;
        };
        let ended = meter.interval() - 1;
        self.counted = 0.0;
        let Fading { decay, contributions } = fading;
        for (slot, contribution) in (0..).map(Slot).zip(contributions) {
            *contribution =
                if meter.last_active(slot) == Some(ended) { 1.0 } else { settle(*contribution * *decay) };
            self.counted += *contribution;
        }
    }

    /// The sum of contributions, before the floor of 1.
    pub(super) fn counted(&self) -> f64 {
        self.counted
    }
}

/// The load factor z, averaged or not.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadFactor {
    z: f64,
    /// With averaging only.
    averaged: Option<Box<Averaged>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Averaged {
    averaging: LoadAveraging,
    /// Averages so far: of z, or of input and capacity [cells/s]. `None` before the first interval they can use, whose
    /// values they then take whole.
    averages: Option<[f64; 2]>,
}

impl LoadFactor {
    /// No load measured yet: z = 0.
    pub fn new(averaging: LoadAveraging) -> LoadFactor {
        let averages = (averaging != LoadAveraging::None).then_some(Averaged { averaging, averages: None });
        LoadFactor { z: 0.0, averaged: averages.map(Box::new) }
    }

    /// z in force: input over capacity, infinite where there was no capacity.
    pub fn z(&self) -> f64 {
        self.z
    }

    /// Takes what one interval measured. Whether that left everything as it was.
    ///
    /// An infinite z (no capacity) would stay in an average of ratios for ever: it holds for its own interval and is
    /// left out of the average, which goes on from where it was.
    pub(super) fn end_interval(&mut self, input: CellRate, capacity: CellRate) -> bool {
        let (input, capacity) = (input.as_cells_per_s(), capacity.as_cells_per_s());
        let z = load_factor(input, capacity);
        let (z, same_averages) = match self.averaged.as_deref_mut() {
            None => (z, true),
            Some(averaged) => {
                let before = *averaged;
                (averaged.load_factor(z, input, capacity), before == *averaged)
            }
        };
        let before = core::mem::replace(&mut self.z, z);
        same_averages && before == z
    }
}

impl Averaged {
    /// z, averaged; `z`, `input` and `capacity` are those of the interval that ended.
    fn load_factor(&mut self, z: f64, input: f64, capacity: f64) -> f64 {
        match self.averaging {
            LoadAveraging::Ratio { alpha } if z.is_finite() => self.average(alpha, [z, 0.0])[0],
            LoadAveraging::None | LoadAveraging::Ratio { .. } => z,
            LoadAveraging::Components { alpha } => {
                let [input, capacity] = self.average(alpha, [input, capacity]);
                load_factor(input, capacity)
            }
        }
    }

    fn average(&mut self, alpha: f64, new: [f64; 2]) -> [f64; 2] {
        let old = self.averages.unwrap_or(new);
        let averages = [0, 1].map(|i| settle(alpha * new[i] + (1.0 - alpha) * old[i]));
        self.averages = Some(averages);
        averages
    }
}

fn load_factor(input: f64, capacity: f64) -> f64 {
    if capacity > 0.0 { input / capacity } else { f64::INFINITY }
}

fn settle(value: f64) -> f64 {
    if value < NEGLIGIBLE { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::{AveragingInterval, Metering};
    use crate::units::{Cells, Duration, Time};

    const A: Slot = Slot(0);
    const B: Slot = Slot(1);

    fn meter() -> Meter {
        let interval = AveragingInterval::of_time(Duration::from_ms(5));
        let mut meter = Meter::new(Some(Metering { interval, bidirectional: false }));
        meter.connect();
        meter.connect();
        meter
    }

    /// N after each of a row of intervals, given who was active in each.
    fn counts(decay: Option<f64>, intervals: &[&[Slot]]) -> Vec<f64> {
        let mut meter = meter();
        let mut active = ActiveCount::new(&ActiveSources { bidirectional: false, decay });
        active.connect();
        active.connect();
        let count = |slots: &&[Slot]| {
            slots.iter().for_each(|&slot| meter.on_abr_cell(Time::ZERO, slot));
            let load = meter.end_interval(Cells::ZERO);
            active.end_interval(&load, &meter);
            active.n()
        };
        intervals.iter().map(count).collect()
    }

    #[test]
    fn without_decay_n_is_who_was_active_and_at_least_one() {
        assert_eq!(counts(None, &[&[], &[A], &[A, B], &[B], &[]]), [1.0, 1.0, 2.0, 1.0, 1.0]);
    }

    #[test]
    fn with_decay_a_silent_connection_fades() {
        // A stays, B is silent from the second interval on: 1 + 1, 1 + 1/2, 1 + 1/4; then B is back.
        let intervals: [&[Slot]; 4] = [&[A, B], &[A], &[A], &[B]];
        assert_eq!(counts(Some(0.5), &intervals), [2.0, 1.5, 1.25, 1.5]);
        assert_eq!(counts(Some(0.0), &intervals), counts(None, &intervals));
    }

    #[test]
    fn a_connection_that_joins_counts_one_at_once_and_not_twice() {
        let mut active = ActiveCount::new(&ActiveSources { bidirectional: false, decay: None });
        active.join(A);
        assert_eq!(active.n(), 1.0);
        active.join(B);
        assert_eq!(active.n(), 2.0);

        let mut meter = meter();
        let mut fading = ActiveCount::new(&ActiveSources { bidirectional: false, decay: Some(0.25) });
        fading.connect();
        fading.connect();
        for slots in [&[A, B][..], &[A]] {
            slots.iter().for_each(|&slot| meter.on_abr_cell(Time::ZERO, slot));
            let load = meter.end_interval(Cells::ZERO);
            fading.end_interval(&load, &meter);
        }
        assert_eq!(fading.n(), 1.25);
        fading.join(B);
        assert_eq!(fading.n(), 2.0);
    }

    /// z after each of a row of intervals of (input, capacity).
    fn factors(averaging: LoadAveraging, intervals: &[(f64, f64)]) -> Vec<f64> {
        let mut load = LoadFactor::new(averaging);
        let factor = |&(input, capacity): &(f64, f64)| {
            load.end_interval(CellRate::new(input), CellRate::new(capacity));
            load.z()
        };
        intervals.iter().map(factor).collect()
    }

    #[test]
    fn each_interval_stands_alone_without_averaging() {
        let intervals = [(50.0, 100.0), (200.0, 100.0), (10.0, 0.0), (0.0, 0.0), (0.0, 100.0)];
        assert_eq!(factors(LoadAveraging::None, &intervals), [0.5, 2.0, f64::INFINITY, f64::INFINITY, 0.0]);
    }

    #[test]
    fn the_average_of_ratios_begins_with_the_first_and_leaves_infinity_out() {
        // 0.5; 0.75 * 2 + 0.25 * 0.5 = 1.625; infinite, left out; 0.75 * 0.5 + 0.25 * 1.625 = 0.78125.
        let intervals = [(50.0, 100.0), (200.0, 100.0), (10.0, 0.0), (50.0, 100.0)];
        let averaging = LoadAveraging::Ratio { alpha: 0.75 };
        assert_eq!(factors(averaging, &intervals), [0.5, 1.625, f64::INFINITY, 0.78125]);
    }

    #[test]
    fn the_ratio_of_averages_weighs_input_and_capacity_apart() {
        // input 50, 125, 67.5 -> with alpha 1/2: 50, 125, 67.5; capacity 100, 100, 50: z = 0.5, 1.25, 1.35, where the
        // interval alone would be infinite.
        let intervals = [(50.0, 100.0), (200.0, 100.0), (10.0, 0.0)];
        assert_eq!(factors(LoadAveraging::Components { alpha: 0.5 }, &intervals), [0.5, 1.25, 1.35]);
        assert_eq!(factors(LoadAveraging::Components { alpha: 0.5 }, &[(10.0, 0.0)]), [f64::INFINITY]);
    }

    #[test]
    fn a_weight_of_one_is_no_averaging() {
        let intervals = [(50.0, 100.0), (200.0, 100.0), (30.0, 100.0)];
        let plain = factors(LoadAveraging::None, &intervals);
        assert_eq!(factors(LoadAveraging::Ratio { alpha: 1.0 }, &intervals), plain);
        assert_eq!(factors(LoadAveraging::Components { alpha: 1.0 }, &intervals), plain);
    }

    #[test]
    fn factors_outside_their_range_are_refused() {
        for decay in [-0.1, 1.0, f64::NAN] {
            let sources = ActiveSources { bidirectional: false, decay: Some(decay) };
            assert_eq!(sources.check().map_err(|error| error.name), Err("active_decay"), "{decay}");
        }
        assert_eq!(ActiveSources { bidirectional: true, decay: Some(0.0) }.check(), Ok(()));
        for alpha in [0.0, 1.0001, f64::NAN] {
            assert_eq!(
                LoadAveraging::Ratio { alpha }.check().map_err(|error| error.name),
                Err("averaging_alpha")
            );
            assert_eq!(
                LoadAveraging::Components { alpha }.check().map_err(|error| error.name),
                Err("averaging_alpha")
            );
        }
        assert_eq!(LoadAveraging::Ratio { alpha: 1.0 }.check(), Ok(()));
    }
}
