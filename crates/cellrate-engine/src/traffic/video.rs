//! Compressed video (paper tcp-lrd-vbr, section "Modeling MPEG-2 Transport Streams over VBR"): each program sends cells
//! evenly at a rate that holds from one clock reference to the next.
//!
//! A rate counts 53 octets a cell, because the paper takes the VBR rate off the line rate to get ABR's. Two transport
//! packets of 188 octets fill the 8 cells of an AAL5 PDU exactly, so there is no padding and cells, not PDUs, are what
//! is evenly spaced. A cell that a change of rate cuts short keeps the part of it that is done.

use std::sync::Arc;

use cellrate_proto::units::BITS_PER_CELL;
use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::traffic::Arrivals;
use cellrate_scenario::{OutOfRange, VideoTraffic};

use crate::noise::Spectrum;
use crate::random::{Owner, Random, Stream};
use crate::tournament::Tournament;

/// The programs of one VC at work.
#[derive(Clone, Debug)]
pub struct Video {
    programs: Vec<Program>,
    /// Pace of each program until its next clock reference.
    paces: Vec<Pace>,
    /// The next cell of each: its instant, and the number of the program below that. Of several at the same instant,
    /// the one with the lowest number comes first.
    next: Tournament,
    /// Bits of a number.
    bits: u32,
    /// Instants of keys count from here \[ps\].
    base: Time,
    /// The first one that a key cannot tell: a program with nothing to send before it waits there.
    span: u64,
    end: Time,
}

/// Cells of a program at a constant rate, as far as keys say it.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// From one to the next.
    step: u64,
    /// The first key after them.
    until: u64,
}

#[derive(Clone, Debug)]
struct Program {
    /// The next cell, or the end.
    next: Time,
    /// The next clock reference.
    reference: Time,
    end: Time,
    spacing: Duration,
    intervals: [Duration; 2],
    references: Random,
    rates: Rates,
}

/// The rates of a program, one after the other.
#[derive(Clone, Debug)]
struct Rates {
    model: VideoTraffic,
    random: Random,
    noise: Arc<Noise>,
    /// Rates to come, the next one last \[cells/s\].
    ready: Vec<CellRate>,
    /// Part of the sequence at hand that has been made; as long as it is not the whole, `random` stands before it.
    made: Made,
}

/// The noise of all programs of a video.
#[derive(Debug)]
struct Noise {
    spectrum: Spectrum,
    /// Values of a sequence.
    count: usize,
    /// Values of its beginning that are made at first: enough for nearly every run.
    beginning: usize,
}

/// Part of a sequence of noise that has been made.
#[derive(Clone, Copy, Debug)]
enum Made {
    Nothing,
    /// The beginning, of which there were so many rates.
    Beginning(usize),
    Whole,
}

impl Video {
    /// The programs that the direction `owner` sends until `end`.
    pub fn new(model: &VideoTraffic, seed: u64, owner: Owner, end: Time) -> Video {
        let bits = model.programs.next_power_of_two().trailing_zeros();
        Video::with_keys_of(u64::MAX >> bits, model, seed, owner, end)
    }

    /// A video with keys of instants up to `span` \[ps\], at most as many as there is room for beside a number.
    fn with_keys_of(span: u64, model: &VideoTraffic, seed: u64, owner: Owner, end: Time) -> Video {
        let bits = model.programs.next_power_of_two().trailing_zeros();
        let end = end.min(model.end);
        let noise = Arc::new(Rates::noise(model, end));
        let program = |number| Program::new(model, &noise, seed, owner, number, end);
        let (first, programs): (Vec<Time>, _) = (0..model.programs).map(program).unzip();
        let next = Tournament::new(first.len());
        let paces = vec![Pace { step: 0, until: 0 }; first.len()];
        let mut video = Video { programs, paces, next, bits, base: Time::ZERO, span, end };
        first.into_iter().enumerate().for_each(|(number, at)| video.set(number, at));
        video.rebase();
        video
    }

    /// Takes the next cell where a clock reference or the end may come before the next cell of the same program.
    #[inline(never)]
    fn take_last(&mut self) {
        let (at, number) = self.first();
        let after = self.programs[number].after(at);
        self.set(number, after);
        self.rebase();
    }

    /// Where all programs wait for instants that keys cannot tell, these count from the first of those on.
    fn rebase(&mut self) {
        if self.next.first() >> self.bits == self.span {
            let nexts: Vec<Time> = self.programs.iter().map(|program| program.next).collect();
            self.base = nexts.iter().copied().min().unwrap_or(self.end);
            nexts.into_iter().enumerate().for_each(|(number, at)| self.set(number, at));
        }
    }

    /// The cell that comes first, or the end, and its program.
    #[inline]
    fn first(&self) -> (Time, usize) {
        let key = self.next.first();
        let at = self.base.saturating_add(Duration::from_ps(key >> self.bits));
        (at, (key & ((1 << self.bits) - 1)) as usize)
    }

    fn set(&mut self, number: usize, at: Time) {
        // After the end it does not matter when.
        let at = at.min(self.end);
        let as_key = |at: Time| at.since(self.base).as_ps().min(self.span) << self.bits;
        self.next.set(number, as_key(at) | number as u64);
        let program = &mut self.programs[number];
        program.next = at;
        self.paces[number] = Pace {
            step: program.spacing.as_ps().saturating_mul(1 << self.bits),
            until: as_key(program.reference.min(self.end)),
        };
    }
}

impl Arrivals for Video {
    #[inline]
    fn next(&self) -> Time {
        let (next, _) = self.first();
        if next < self.end { next } else { Time::NEVER }
    }

    #[inline(always)]
    fn pass(&mut self) {
        let key = self.next.first();
        let number = (key & ((1 << self.bits) - 1)) as usize;
        let Pace { step, until } = self.paces[number];
        let after = key.saturating_add(step);
        if after < until {
            self.next.set_in_place(number, after);
        } else {
            self.take_last();
        }
    }
}

impl Program {
    /// Its first cell, and the program.
    fn new(
        model: &VideoTraffic,
        noise: &Arc<Noise>,
        seed: u64,
        owner: Owner,
        number: u32,
        end: Time,
    ) -> (Time, Program) {
        let mut program = Program {
            next: model.start,
            reference: model.start,
            end,
            spacing: Duration::ZERO,
            intervals: model.reference_interval,
            references: Random::new(seed, Stream::References(owner, number)),
            rates: Rates::new(model, noise, Random::new(seed, Stream::Rates(owner, number))),
        };
        // Programs are not in step: the first cell comes anywhere within its time.
        let remaining = program.references.uniform();
        (program.follow_references(remaining), program)
    }

    /// The cell after the one at `last`.
    fn after(&mut self, last: Time) -> Time {
        let next = last.saturating_add(self.spacing);
        if next < self.reference {
            return next;
        }
        let remaining = next.since(self.reference).as_secs_f64() / self.spacing.as_secs_f64();
        self.follow_references(remaining)
    }

    /// At the clock reference a new rate begins; `remaining` of a cell's time is still to come [0 to 1]. Gives the next
    /// cell, or any instant from the end on where that is not before the end.
    #[inline(never)]
    fn follow_references(&mut self, remaining: f64) -> Time {
        let mut remaining = remaining;
        loop {
            let begin = self.reference;
            let [low, high] = self.intervals;
            let span = low.as_secs_f64() + self.references.uniform() * (high - low).as_secs_f64();
            self.reference = begin.saturating_add(Duration::from_secs_f64(span));
            let rate = self.rates.next();
            self.spacing = rate.interval();
            let wait = if rate == CellRate::ZERO { f64::INFINITY } else { remaining / rate.as_cells_per_s() };
            let next = if wait < span { begin + Duration::from_secs_f64(wait) } else { Time::NEVER };
            if next < self.reference || self.reference >= self.end {
                return next;
            }
            remaining -= rate.as_cells_per_s() * span;
            remaining = remaining.max(0.0);
        }
    }
}

impl Rates {
    fn new(model: &VideoTraffic, noise: &Arc<Noise>, random: Random) -> Rates {
        let noise = Arc::clone(noise);
        Rates { model: model.clone(), random, noise, ready: Vec::new(), made: Made::Nothing }
    }

    /// The noise of a program's rates, with as many values as its run takes.
    fn noise(model: &VideoTraffic, end: Time) -> Noise {
        let [low, high] = model.reference_interval;
        let mean = 0.5 * (low.as_secs_f64() + high.as_secs_f64());
        // Half of the values may be ruled out, and intervals be shorter than their mean.
        let for_span = |span: Duration| {
            let wanted = 2.5 * span.as_secs_f64() / mean + 64.0;
            (wanted as usize).clamp(64, 1 << 22).next_power_of_two()
        };
        let run = end.since(model.start);
        let count = for_span(model.sequence.unwrap_or(run).max(run));
        Noise::new(model, count, for_span(run))
    }

    fn next(&mut self) -> CellRate {
        loop {
            if let Some(rate) = self.ready.pop() {
                return rate;
            }
            self.refill();
        }
    }

    /// Makes rates: the beginning of the first sequence, then the rest of it, then whole ones.
    fn refill(&mut self) {
        let Noise { spectrum, count, beginning } = &*self.noise;
        let is_first = matches!(self.made, Made::Nothing) && beginning < count;
        let noise = match is_first {
            true => spectrum.sequence(&mut self.random.clone(), *beginning),
            false => spectrum.sequence(&mut self.random, *count),
        };
        let rates = self.of_noise(noise);
        let given = if let Made::Beginning(rates) = self.made { rates } else { 0 };
        self.made = if is_first { Made::Beginning(rates.len()) } else { Made::Whole };
        let to_come = rates[given..].iter().rev();
        self.ready.extend(to_come.map(|bits| CellRate::new(bits / BITS_PER_CELL as f64)));
    }

    /// The rates that follow from values of noise, from the beginning of a sequence on \[bit/s\]: the first do not
    /// depend on the last values.
    fn of_noise(&self, noise: Vec<f64>) -> Vec<f64> {
        let VideoTraffic { mean, deviation, peak, out_of_range, .. } = self.model;
        let [mean, deviation, peak] = [mean, deviation, peak].map(|rate| rate.as_bps() as f64);
        let gaussian = noise.into_iter().map(|x| mean + deviation * x);
        match out_of_range {
            OutOfRange::Ignore => gaussian.filter(|rate| (0.0..=peak).contains(rate)).collect(),
            OutOfRange::Truncate => gaussian.map(|rate| rate.clamp(0.0, peak)).collect(),
            OutOfRange::TruncateAndCarry => carried(gaussian, peak),
            OutOfRange::Exponentiate => gaussian
                .map(|rate| {
                    let x = libm::log(mean / 1e6) + (rate - mean) / mean;
                    (libm::round(libm::exp(x)) * 1e6).min(peak)
                })
                .collect(),
        }
    }
}

impl Noise {
    fn new(model: &VideoTraffic, count: usize, beginning: usize) -> Noise {
        Noise { spectrum: Spectrum::new(model.method, count, beginning, model.hurst), count, beginning }
    }
}

/// Negative values become 0, and what they were short of is taken from the positive ones after them.
fn carried(gaussian: impl Iterator<Item = f64>, peak: f64) -> Vec<f64> {
    let mut owed = 0.0;
    let mut settle = |rate: f64| {
        let left = rate + owed;
        owed = left.min(0.0);
        left.clamp(0.0, peak)
    };
    gaussian.map(&mut settle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::BitRate;
    use cellrate_scenario::NoiseMethod;
    use cellrate_scenario::traffic::Backlog;

    const MBPS: u64 = 1_000_000;

    fn model(mean: u64, deviation: u64, out_of_range: OutOfRange, method: NoiseMethod) -> VideoTraffic {
        VideoTraffic {
            programs: 9,
            mean: BitRate::from_bps(mean * MBPS / 10),
            deviation: BitRate::from_bps(deviation * MBPS),
            hurst: 0.8,
            peak: BitRate::from_bps(15 * MBPS),
            reference_interval: [Duration::from_ms(20), Duration::from_ms(100)],
            out_of_range,
            method,
            sequence: None,
            start: Time::ZERO,
            end: Time::NEVER,
        }
    }

    /// Mb/s of all programs, by their cells.
    fn rate(model: &VideoTraffic, seconds: u64, seed: u64) -> f64 {
        let end = Time::ZERO + Duration::from_secs(seconds);
        let mut video = Video::new(model, seed, Owner::named("vc"), end);
        let mut cells = 0_u64;
        let mut last = Time::ZERO;
        while video.next() != Time::NEVER {
            assert!(video.next() >= last && video.next() < end);
            last = video.next();
            video.pass();
            cells += 1;
        }
        cells as f64 * BITS_PER_CELL as f64 / 1e6 / seconds as f64
    }

    #[test]
    fn nine_programs_have_the_mean_of_the_truncated_normal_distribution() {
        // mean + deviation * (phi(a) - phi(b)) / (Phi(b) - Phi(a)), a and b being 0 and 15 Mb/s in deviations:
        // 9 * 6.1428 = 55.3, 9 * 7.5 = 67.5, 9 * 8.8572 = 79.7. White noise: nearly every value counts.
        for (mean, deviation, expected) in [(50, 5, 55.285), (75, 7, 67.5), (100, 5, 79.715)] {
            let mut white = model(mean, deviation, OutOfRange::Ignore, NoiseMethod::DaviesHarte);
            white.hurst = 0.5;
            let found = rate(&white, 150, 1);
            // 22,500 values with a deviation of 4 Mb/s: the sum of nine means is within 0.24 of it, three times over.
            assert!((found - expected).abs() < 0.75, "{found} Mb/s for {expected}");
        }
    }

    #[test]
    fn long_range_dependence_leaves_the_mean_where_it_was_over_many_seeds() {
        let model = model(50, 5, OutOfRange::Ignore, NoiseMethod::Paxson);
        let rates: Vec<f64> = (0..12).map(|seed| rate(&model, 60, seed)).collect();
        let mean = rates.iter().sum::<f64>() / 12.0;
        assert!((mean - 55.3).abs() < 2.0, "{mean} of {rates:?}");
    }

    #[test]
    fn the_four_techniques_shift_the_mean_as_the_paper_says() {
        let of = |out_of_range| {
            let mut white = model(50, 5, out_of_range, NoiseMethod::DaviesHarte);
            white.hurst = 0.5;
            rate(&white, 200, 3)
        };
        // Truncated at 0 and 15 the mean of N(5, 5) rises by 0.42 - 0.04 Mb/s: 9 * 5.375.
        assert!((of(OutOfRange::Truncate) - 48.4).abs() < 0.7);
        // What is carried over keeps the mean at 45, but for what the peak cuts off.
        assert!((of(OutOfRange::TruncateAndCarry) - 44.7).abs() < 0.8);
        assert!(of(OutOfRange::Exponentiate) > 50.0);
    }

    #[test]
    fn rates_are_those_of_whole_sequences_however_many_are_made_at_first() {
        for method in [NoiseMethod::DaviesHarte, NoiseMethod::Paxson] {
            for out_of_range in [OutOfRange::Ignore, OutOfRange::Truncate, OutOfRange::TruncateAndCarry] {
                let model = model(10, 5, out_of_range, method);
                let rates = |beginning| {
                    let noise = Arc::new(Noise::new(&model, 1 << 9, beginning));
                    let random = Random::new(1, Stream::Rates(Owner::named("vc"), 0));
                    let mut rates = Rates::new(&model, &noise, random);
                    // More than two sequences.
                    (0..3 << 9).map(|_| rates.next()).collect::<Vec<_>>()
                };
                let whole = rates(1 << 9);
                assert!([1 << 6, 1 << 8].into_iter().all(|beginning| rates(beginning) == whole));
            }
        }
    }

    #[test]
    fn a_program_is_piecewise_constant() {
        let mut one = model(75, 7, OutOfRange::Ignore, NoiseMethod::Paxson);
        one.programs = 1;
        let mut video = Video::new(&one, 5, Owner::named("vc"), Time::ZERO + Duration::from_secs(2));
        let mut gaps: Vec<u64> = Vec::new();
        let mut last = video.next();
        loop {
            video.pass();
            if video.next() == Time::NEVER {
                break;
            }
            gaps.push(video.next().since(last).as_ps());
            last = video.next();
        }
        // 20 to 100 references of a new gap each, with one gap across each of them: few different neighbours.
        let changes = gaps.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!((2 * 20..=2 * 100).contains(&changes), "{changes} of {}", gaps.len());
        // Never faster than the peak.
        assert!(gaps.iter().all(|&gap| gap >= CellRate::new(15e6 / 424.0).interval().as_ps() - 1));
    }

    #[test]
    fn what_has_come_waits() {
        let model = model(50, 5, OutOfRange::Ignore, NoiseMethod::Paxson);
        let mut video = Video::new(&model, 1, Owner::named("vc"), Time::ZERO + Duration::from_secs(1));
        let now = Time::ZERO + Duration::from_ms(10);
        let waiting = Backlog::default().count(&video, now);
        for _ in 0..waiting {
            assert!(video.next() <= now);
            video.pass();
        }
        assert!(video.next() > now && waiting > 0);
    }

    #[test]
    fn cells_at_a_constant_rate_come_as_if_each_was_the_last_one_at_it() {
        let ends = [Time::ZERO + Duration::from_ms(700), Time::from_ps(40_000_000_001)];
        for (programs, end, seed) in [(1, ends[0], 1), (9, ends[0], 2), (20, ends[1], 3)] {
            // A tenth of the rates is zero.
            let mut of = model(50, 5, OutOfRange::Truncate, NoiseMethod::Paxson);
            of.programs = programs;
            let mut video = Video::new(&of, seed, Owner::named("vc"), end);
            let mut one_by_one = video.clone();
            let mut count = 0;
            while one_by_one.next() != Time::NEVER {
                assert_eq!(video.next(), one_by_one.next());
                video.pass();
                one_by_one.take_last();
                count += 1;
            }
            assert!(video.next() == Time::NEVER && count > 100 * programs, "{count} cells");
        }
    }

    #[test]
    fn nobody_looks_for_a_cell_beyond_the_end() {
        // e^x is about 0.3 Mb/s and rounds to none: of all rates to come none has a cell.
        let mut silent = model(3, 1, OutOfRange::Exponentiate, NoiseMethod::Paxson);
        silent.deviation = BitRate::from_bps(10_000);
        silent.reference_interval = [Duration::from_secs(600); 2];
        let video = Video::new(&silent, 1, Owner::named("vc"), Time::ZERO + Duration::from_secs(900));
        assert_eq!(video.next(), Time::NEVER);
        let beyond = Time::ZERO + Duration::from_secs(1200);
        assert!(video.programs.iter().all(|program| program.reference == beyond), "{video:?}");
    }

    #[test]
    fn cells_come_as_they_would_if_keys_could_tell_all_instants() {
        let end = Time::ZERO + Duration::from_ms(400);
        for (programs, start) in [(2, 0), (9, 0), (9, 90), (20, 0)] {
            let mut of = model(50, 5, OutOfRange::Truncate, NoiseMethod::Paxson);
            (of.programs, of.start) = (programs, Time::ZERO + Duration::from_ms(start));
            // The first is shorter than some gaps between cells, the last than some spans between references.
            for span in [1_000_000, 30_000_000, 30_000_000_000] {
                let mut whole = Video::new(&of, 1, Owner::named("vc"), end);
                let mut piecewise = Video::with_keys_of(span, &of, 1, Owner::named("vc"), end);
                while whole.next() != Time::NEVER {
                    assert_eq!(piecewise.next(), whole.next(), "{programs} programs, {span} ps");
                    whole.pass();
                    piecewise.pass();
                }
                assert_eq!(piecewise.next(), Time::NEVER);
                assert!((whole.base, piecewise.base > Time::ZERO) == (Time::ZERO, true));
            }
        }
    }

    #[test]
    fn very_many_programs_go_on_for_longer_than_keys_of_all_instants_could_tell() {
        // 54 bits are left beside the numbers of 1024 programs: 5 hours.
        let mut slow = model(5, 5, OutOfRange::Truncate, NoiseMethod::Paxson);
        (slow.programs, slow.mean, slow.deviation) = (1024, BitRate::from_bps(424), BitRate::from_bps(42));
        slow.reference_interval = [Duration::from_secs(20); 2];
        slow.start = Time::from_ps((1 << 54) - 1_000_000_000_000);
        let end = slow.start + Duration::from_secs(11);
        let mut video = Video::new(&slow, 1, Owner::named("vc"), end);
        let mut cells = 0_u32;
        while video.next() != Time::NEVER {
            assert!(video.next() < end);
            video.pass();
            cells += 1;
        }
        // A cell a second of each.
        assert!((11_100..11_400).contains(&cells), "{cells}");
    }

    #[test]
    fn programs_have_streams_of_their_own() {
        let cells = |programs, seed| {
            let mut model = model(50, 5, OutOfRange::Ignore, NoiseMethod::Paxson);
            model.programs = programs;
            let mut video = Video::new(&model, seed, Owner::named("vc"), Time::ZERO + Duration::from_secs(1));
            let mut cells = Vec::new();
            while video.next() != Time::NEVER {
                cells.push(video.next());
                video.pass();
            }
            cells
        };
        let all = cells(9, 1);
        assert!(all.is_sorted());
        assert!(
            cells(1, 1).iter().all(|at| all.binary_search(at).is_ok()),
            "more programs do not disturb the first"
        );
        assert_ne!(cells(1, 1), cells(1, 2));
    }

    #[test]
    fn the_mean_of_a_part_of_a_sequence_wanders_as_exact_noise_does() {
        // 10 s of one program, 40 seeds: the deviation of its mean rate, of a sequence as long as the run and of one
        // that is forty times as long, beside exact noise.
        let deviation = |method, sequence: Option<Duration>| {
            let mut of = model(50, 5, OutOfRange::Truncate, method);
            (of.programs, of.sequence) = (1, sequence);
            let rates: Vec<f64> = (0..40).map(|seed| rate(&of, 10, seed)).collect();
            let mean = rates.iter().sum::<f64>() / 40.0;
            (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / 39.0).sqrt()
        };
        let exact = deviation(NoiseMethod::DaviesHarte, None);
        let whole = deviation(NoiseMethod::Paxson, None);
        let part = deviation(NoiseMethod::Paxson, Some(Duration::from_secs(400)));
        assert!(whole < 0.7 * exact && part > 0.75 * exact, "{exact}, {whole}, {part}");
    }
}
