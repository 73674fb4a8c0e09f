//! How ERICA counts active sources and averages the load factor.

use alloc::vec::Vec;

use super::Slot;
use super::meter::Meter;
use crate::declaration::{Key, Kind, Range, Table, Values, key};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Duration};

/// How the number of active sources is counted.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct ActiveSources {
    /// A connection is also active when a backward RM cell of it passed.
    ///
    /// Otherwise forward cells alone count.
    #[key(name = "bidirectional_counting", default = "false")]
    pub bidirectional: bool,
    /// Part of an inactive connection's count that is left after each interval.
    #[key(
        name = "activity_decay",
        default = "none: it counts nothing at once",
        range = Range::below(0.0, 1.0)
    )]
    pub decay: Option<f64>,
    /// N is the effective number of active connections: one below FairShare counts by its rate over FairShare; nobody
    /// looks at the largest allocation.
    #[key(name = "effective_number", default = "false")]
    pub effective: bool,
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
    /// The ratio of averaged input to averaged capacity, each averaged on its own and in cells: an interval counts by
    /// how long it was. A plain average of ratios whose denominators vary is wrong, and intervals that end early in
    /// overload are short (Kalyanaraman's thesis, p. 74 and appendix C, method 2).
    Components {
        /// Weight of the newest interval.
        alpha: f64,
    },
    /// As [`Components`](LoadAveraging::Components), of rates: every interval counts the same, however short it was.
    Rates {
        /// Weight of the newest interval.
        alpha: f64,
    },
}

impl LoadAveraging {
    /// The two keys that say it.
    pub(crate) const KEYS: &'static [Key] = &[
        key(
            "load_averaging",
            Kind::Choice(&["none", "ratio", "components", "rates"]),
            "none: with alpha it is \"components\"",
            "Averages the load factor over intervals: itself, or its input and capacity each on its own, in cells, so that an interval counts by its length, or as rates, to which a short interval counts as much as a long one.",
        ),
        key(
            "alpha",
            Kind::Ratio(Range::SHARE),
            "required with load_averaging other than \"none\"",
            "Weight of the newest interval in the average.",
        ),
    ];

    /// No averaging.
    pub(crate) const fn new() -> LoadAveraging {
        LoadAveraging::None
    }

    /// Averaging as the keys `load_averaging` and `alpha` describe it.
    pub(crate) fn read<V: Values>(values: &V) -> Result<LoadAveraging, V::Error> {
        match (values.word("load_averaging")?, values.ratio("alpha")?) {
            (Some("ratio"), Some(alpha)) => Ok(LoadAveraging::Ratio { alpha }),
            (Some("rates"), Some(alpha)) => Ok(LoadAveraging::Rates { alpha }),
            (Some("none"), Some(_)) => {
                let message = "alpha has no effect with load_averaging = \"none\"";
                let remedy = "Write load_averaging = \"components\", or leave alpha out";
                Err(values.refused("alpha", message.into(), remedy.into()))
            }
            (_, Some(alpha)) => Ok(LoadAveraging::Components { alpha }),
            (Some("none") | None, None) => Ok(LoadAveraging::None),
            (Some(_), None) => {
                let about = "the weight of the newest interval, above 0, at most 1";
                Err(values.missing("alpha", about, "load_averaging"))
            }
        }
    }

    /// Refuses a weight outside its range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let alpha = match *self {
            LoadAveraging::None => return Ok(()),
            LoadAveraging::Ratio { alpha }
            | LoadAveraging::Components { alpha }
            | LoadAveraging::Rates { alpha } => alpha,
        };
        Range::SHARE.check("alpha", alpha)
    }
}

/// A contribution that has decayed to less than this is gone. It lets an idle port come to rest after a known number of
/// intervals instead of approaching zero for ever, and is far below anything a rate code can show.
const NEGLIGIBLE: f64 = 1e-9;

/// The count of active sources with decay: each connection's contribution is 1 after an interval in which it was active
/// and shrinks by the factor in each one after; their sum is taken once per interval. Without decay it is the meter's
/// own count, and nothing loops.
#[derive(Clone, Debug)]
pub struct Fading {
    decay: f64,
    vcs: Vec<FadingVc>,
}

#[derive(Clone, Copy, Debug, Default)]
struct FadingVc {
    /// Contribution of the connection to N, the number of active ones.
    contribution: f64,
    /// Rate used in the last interval that the connection was active in.
    used: CellRate,
}

impl Fading {
    /// No connection active yet.
    pub const fn new(decay: f64) -> Fading {
        Fading { decay, vcs: Vec::new() }
    }

    pub(super) fn connect(&mut self) {
        self.vcs.push(FadingVc::default());
    }

    /// Counts a connection that began within the interval as active at once; by how much that raises the sum.
    pub(super) fn join(&mut self, slot: Slot) -> f64 {
        let contribution = &mut self.vcs[slot.0 as usize].contribution;
        1.0 - core::mem::replace(contribution, 1.0)
    }

    /// Contribution of a connection to N since the last interval ended.
    pub(super) fn contribution(&self, slot: Slot) -> f64 {
        self.vcs[slot.0 as usize].contribution
    }

    /// Rate that a connection used in the last interval that it was active in.
    pub(super) fn used(&self, slot: Slot) -> CellRate {
        self.vcs[slot.0 as usize].used
    }

    /// The sum of contributions after the interval that has ended, and whether each is what it was before; `meter` is
    /// already in the next one, and `used` gives what a connection used in the ended one.
    pub(super) fn end_interval(&mut self, meter: &Meter, used: impl Fn(Slot) -> CellRate) -> (f64, bool) {
        let ended = meter.interval() - 1;
        let (mut sum, mut same) = (0.0, true);
        for (slot, vc) in (0..).map(Slot).zip(&mut self.vcs) {
            let before = vc.contribution;
            if meter.last_active(slot) == Some(ended) {
                *vc = FadingVc { contribution: 1.0, used: used(slot) };
            } else {
                vc.contribution = settle(before * self.decay);
            }
            same &= vc.contribution == before;
            sum += vc.contribution;
        }
        (sum, same)
    }
}

/// The load factor z, averaged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AveragedLoad {
    averaging: LoadAveraging,
    /// Averages so far: of z, or of input and capacity [cells, or cells/s]. `None` before the first interval they can
    /// use, whose values they then take whole.
    averages: Option<[f64; 2]>,
}

impl AveragedLoad {
    /// No load measured yet.
    pub const fn new(averaging: LoadAveraging) -> AveragedLoad {
        AveragedLoad { averaging, averages: None }
    }

    /// z after an interval of this length that measured these.
    ///
    /// An infinite z (no capacity) would stay in an average of ratios for ever: it holds for its own interval and is
    /// left out of the average, which goes on from where it was.
    pub(super) fn end_interval(&mut self, input: CellRate, capacity: CellRate, length: Duration) -> f64 {
        let z = load_factor(input, capacity);
        match self.averaging {
            LoadAveraging::Ratio { alpha } if z.is_finite() => self.average(alpha, [z, 0.0])[0],
            LoadAveraging::None | LoadAveraging::Ratio { .. } => z,
            LoadAveraging::Components { alpha } | LoadAveraging::Rates { alpha } => {
                let in_cells = matches!(self.averaging, LoadAveraging::Components { .. });
                let new = [input, capacity]
                    .map(|rate| if in_cells { rate.cells_in(length) } else { rate.as_cells_per_s() });
                let [input, capacity] = self.average(alpha, new).map(CellRate::new);
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

/// z of one interval: input over capacity, infinite where there was no capacity.
pub(super) fn load_factor(input: CellRate, capacity: CellRate) -> f64 {
    let (input, capacity) = (input.as_cells_per_s(), capacity.as_cells_per_s());
    if capacity > 0.0 { input / capacity } else { f64::INFINITY }
}

fn settle(value: f64) -> f64 {
    if value < NEGLIGIBLE { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::{AveragingInterval, Metering};
    use crate::units::{Cells, Time};

    const A: Slot = Slot(0);
    const B: Slot = Slot(1);

    fn meter() -> Meter {
        let interval = AveragingInterval::of_time(Duration::from_ms(5));
        let mut meter = Meter::new(Some(Metering { interval, bidirectional: false, history: true }));
        meter.connect();
        meter.connect();
        meter
    }

    /// The sum after each of a row of intervals, given who was active in each.
    fn sums(fading: &mut Fading, meter: &mut Meter, intervals: &[&[Slot]]) -> Vec<f64> {
        let sum = |slots: &&[Slot]| {
            slots.iter().for_each(|&slot| meter.on_abr_cell(Time::ZERO, slot));
            meter.end_interval(Cells::ZERO);
            fading.end_interval(meter, |_| CellRate::ZERO).0
        };
        intervals.iter().map(sum).collect()
    }

    fn fading(decay: f64) -> Fading {
        let mut fading = Fading::new(decay);
        fading.connect();
        fading.connect();
        fading
    }

    #[test]
    fn a_silent_connection_fades() {
        // A stays, B is silent from the second interval on: 1 + 1, 1 + 1/2, 1 + 1/4; then B is back.
        let intervals: [&[Slot]; 4] = [&[A, B], &[A], &[A], &[B]];
        assert_eq!(sums(&mut fading(0.5), &mut meter(), &intervals), [2.0, 1.5, 1.25, 1.5]);
        assert_eq!(sums(&mut fading(0.0), &mut meter(), &intervals), [2.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_connection_that_joins_counts_one_at_once_and_not_twice() {
        let (mut fading, mut meter) = (fading(0.25), meter());
        assert_eq!(sums(&mut fading, &mut meter, &[&[A, B], &[A]]), [2.0, 1.25]);
        assert_eq!(fading.join(B), 0.75);
        assert_eq!(fading.join(B), 0.0);
    }

    /// z after each of a row of intervals of (input, capacity).
    fn factors(averaging: LoadAveraging, intervals: &[(f64, f64)]) -> Vec<f64> {
        let mut load = AveragedLoad::new(averaging);
        let factor = |&(input, capacity): &(f64, f64)| {
            load.end_interval(CellRate::new(input), CellRate::new(capacity), Duration::from_secs(1))
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
    fn a_short_interval_counts_by_its_length() {
        // Weight 1/2. 1 s at 50 of 100 cells/s, then 1/4 s at 200 of 100: of cells (25 + 25) / (50 + 12.5) = 0.8; of
        // rates, to which both intervals are alike, (25 + 100) / 100 = 1.25.
        let z = |averaging| {
            let mut load = AveragedLoad::new(averaging);
            let mut end = |input, ms| {
                load.end_interval(CellRate::new(input), CellRate::new(100.0), Duration::from_ms(ms))
            };
            end(50.0, 1000);
            end(200.0, 250)
        };
        assert_eq!(z(LoadAveraging::Components { alpha: 0.5 }), 0.8);
        assert_eq!(z(LoadAveraging::Rates { alpha: 0.5 }), 1.25);
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
            let sources = ActiveSources { decay: Some(decay), ..ActiveSources::default() };
            assert_eq!(sources.check().map_err(|error| error.name), Err("activity_decay"), "{decay}");
        }
        let gone_at_once = ActiveSources { decay: Some(0.0), ..ActiveSources::default() };
        assert_eq!(gone_at_once.check(), Ok(()));
        for alpha in [0.0, 1.0001, f64::NAN] {
            assert_eq!(LoadAveraging::Ratio { alpha }.check().map_err(|error| error.name), Err("alpha"));
            assert_eq!(LoadAveraging::Components { alpha }.check().map_err(|error| error.name), Err("alpha"));
            assert_eq!(LoadAveraging::Rates { alpha }.check().map_err(|error| error.name), Err("alpha"));
        }
        assert_eq!(LoadAveraging::Ratio { alpha: 1.0 }.check(), Ok(()));
    }
}
