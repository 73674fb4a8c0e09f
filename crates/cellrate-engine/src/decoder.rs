//! The receiver of an MPEG-2 transport stream: clock recovery by a phase-locked loop, and the buffer of its decoder.
//!
//! The loop is of second order: at each clock reference the error is what the reference says less the clock, and the
//! clock runs faster than its free oscillator by K times the error and k times the time integral of the error until the
//! next one. The first reference sets the clock. Nothing of the network depends on the receiver, so it is worked out
//! from the PDUs that came, in their order.

use std::collections::{BTreeMap, VecDeque};

use cellrate_proto::{Duration, Time};
use cellrate_scenario::Mpeg2Traffic;
use serde::Serialize;

use crate::declared::Row;

use crate::traffic::{Mpeg2Pdu, Part, Reference};

/// Tolerance of the 27 MHz clock \[ppm\] (ISO/IEC 13818-1, 2.4.2.1: 810 Hz).
pub const TOLERANCE_PPM: f64 = 30.0;

/// A transport stream at its receiver. Null where nothing came.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "transport stream", many = "transport streams", named = "{vc}")]
pub struct TransportStreamSummary {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// Clock references that came.
    #[row(unit = plain, adds = sum, heading = "references")]
    pub references: u64,
    /// Clock references in PDUs that did not come whole, before the last that did.
    #[row(unit = plain, adds = sum)]
    pub lost_references: u64,
    /// Mean time of a reference from the encoder to the receiver, in which its PDU is whole.
    #[row(unit = s, adds = mean(references))]
    pub mean_transit_s: Option<f64>,
    /// Mean difference of that time from its mean.
    #[row(unit = s, adds = mean(references), heading = "mean jitter", shown_in = "us")]
    pub mean_jitter_s: Option<f64>,
    /// Largest of those times less the smallest.
    #[row(unit = s, adds = largest, heading = "peak jitter", shown_in = "us")]
    pub peak_jitter_s: Option<f64>,
    /// Frequency of the recovered clock over 27 MHz, time-weighted mean.
    #[row(unit = ppm, adds = none, heading = "clock")]
    pub mean_frequency_ppm: Option<f64>,
    /// Largest difference of it from that of the encoder's clock.
    #[row(unit = ppm, adds = largest, heading = "largest clock error")]
    pub max_frequency_error_ppm: Option<f64>,
    /// References that left the clock more than 30 ppm from 27 MHz (ISO/IEC 13818-1).
    #[row(unit = plain, adds = sum)]
    pub beyond_tolerance: u64,
    /// Root of the mean square of the phase error at references.
    #[row(unit = s, adds = largest, shown_in = "us")]
    pub rms_phase_error_s: Option<f64>,
    /// Largest phase error, of either sign.
    #[row(unit = s, adds = largest, heading = "largest phase error", shown_in = "us")]
    pub max_phase_error_s: Option<f64>,
    /// Pictures that were due for decoding.
    #[row(unit = plain, adds = sum, heading = "pictures")]
    pub pictures: u64,
    /// Pictures among them that had not come whole then: the buffer ran empty.
    #[row(unit = plain, adds = sum, heading = "late")]
    pub late: u64,
    /// Pictures among them of which a part is missing.
    #[row(unit = plain, adds = sum, heading = "lost")]
    pub lost: u64,
    /// Pictures among them of which a part found no room.
    #[row(unit = plain, adds = sum, heading = "no room")]
    pub overflowed: u64,
    /// Most that waited in that buffer.
    #[row(unit = octets, adds = largest, heading = "max buffer")]
    pub max_buffer: u64,
    /// Smallest time from the last octet of a picture to its decoding, of those in time.
    #[row(unit = s, adds = least)]
    pub min_margin_s: Option<f64>,
}

/// A clock reference that came.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "clock reference", many = "clock references", named = "{vc} #{number}")]
pub struct ReferenceRow {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// Counted from 1; lost ones do not count.
    #[row(name)]
    pub number: u64,
    /// When it came.
    #[row(unit = s, adds = none)]
    pub at_s: f64,
    /// Its time from the encoder.
    #[row(unit = s, adds = largest)]
    pub transit_s: f64,
    /// Its reading less that of the clock.
    #[row(unit = s, adds = none, shown_in = "us")]
    pub phase_error_s: f64,
    /// The recovered clock's frequency from then on, over 27 MHz.
    #[row(unit = ppm, adds = none)]
    pub frequency_ppm: f64,
    /// Octets that waited for decoding.
    #[row(unit = octets, adds = largest)]
    pub buffer: u64,
}

/// Most that the loop adds to the frequency or takes from it: a clock that references reach late by seconds neither
/// stands still nor runs away (ours; far beyond what any oscillator can be pulled).
const PULL: f64 = 0.5;

/// A clock that follows references.
#[derive(Clone, Debug)]
struct Clock {
    gains: [f64; 2],
    /// Part by which its oscillator is faster than 27 MHz.
    free: f64,
    /// When the last reference came, and what the clock said then \[s\].
    last: Option<(Time, f64)>,
    integral: f64,
    /// Part that the loop adds to the frequency.
    control: f64,
}

impl Clock {
    fn rate(&self) -> f64 {
        1.0 + self.free + self.control
    }

    /// Its reading at `now` \[s\]; `None` before the first reference.
    fn reads(&self, now: Time) -> Option<f64> {
        let (at, reading) = self.last?;
        Some(reading + now.since(at).as_secs_f64() * self.rate())
    }

    /// When it will say `reading`, as of the last reference; `None` before the first.
    fn when(&self, reading: f64) -> Option<Time> {
        let (at, then) = self.last?;
        Some(at.saturating_add(Duration::from_secs_f64(((reading - then) / self.rate()).max(0.0))))
    }

    /// A reference of `reading` \[s\] comes at `now`; the error.
    fn on_reference(&mut self, now: Time, reading: f64) -> f64 {
        let Some((at, _)) = self.last else {
            self.last = Some((now, reading));
            return 0.0;
        };
        let own = self.reads(now).unwrap_or(reading);
        let error = reading - own;
        let most = PULL / self.gains[1];
        self.integral = (self.integral + error * now.since(at).as_secs_f64()).clamp(-most, most);
        self.control = (self.gains[0] * error + self.gains[1] * self.integral).clamp(-PULL, PULL);
        self.last = Some((now, own));
        error
    }
}

/// A picture that has not been decoded.
#[derive(Clone, Copy, Debug)]
struct Coming {
    number: u64,
    /// Octets of it in the buffer.
    octets: u64,
    /// When its last octet came.
    whole: Option<Time>,
    is_lost: bool,
    overflowed: bool,
}

/// The receiver of one transport stream at work.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    model: &'a Mpeg2Traffic,
    /// From when on figures count.
    from: Time,
    clock: Clock,
    pictures: VecDeque<Coming>,
    /// The number of the next picture to be decoded.
    due: u64,
    buffer: u64,
    /// Pictures that were due and not whole, and whether a part of them found no room.
    failed: BTreeMap<u64, bool>,
    /// Transit times of those references that count \[ps\].
    transits: Vec<u64>,
    errors: Vec<f64>,
    /// Sum of frequency offset times time, and time.
    frequency: [f64; 2],
    missing: u64,
    number: u64,
    summary: TransportStreamSummary,
    list: Vec<ReferenceRow>,
}

impl<'a> Decoder<'a> {
    /// One to which nothing has come; what is before `from` is in no figure but those of the list.
    pub fn new(vc: &str, model: &'a Mpeg2Traffic, from: Time) -> Decoder<'a> {
        let clock = Clock {
            gains: model.decoder.gains(),
            free: model.decoder.clock_offset * 1e-6,
            last: None,
            integral: 0.0,
            control: 0.0,
        };
        let summary = TransportStreamSummary {
            vc: vc.to_owned(),
            references: 0,
            lost_references: 0,
            mean_transit_s: None,
            mean_jitter_s: None,
            peak_jitter_s: None,
            mean_frequency_ppm: None,
            max_frequency_error_ppm: None,
            beyond_tolerance: 0,
            rms_phase_error_s: None,
            max_phase_error_s: None,
            pictures: 0,
            late: 0,
            lost: 0,
            overflowed: 0,
            max_buffer: 0,
            min_margin_s: None,
        };
        Decoder {
            model,
            from,
            clock,
            pictures: VecDeque::new(),
            due: 0,
            buffer: 0,
            failed: BTreeMap::new(),
            transits: Vec::new(),
            errors: Vec::new(),
            frequency: [0.0; 2],
            missing: 0,
            number: 0,
            summary,
            list: Vec::new(),
        }
    }

    /// The next PDU comes at `now`.
    pub fn on_pdu(&mut self, now: Time, pdu: &Mpeg2Pdu) {
        self.decode_until(now);
        let listed = self.list.len();
        for reference in &pdu.references {
            self.on_reference(now, *reference);
        }
        // By the clock that the first reference sets, pictures may be due at once.
        self.decode_until(now);
        for part in &pdu.parts {
            self.on_part(now, *part);
        }
        if now >= self.from {
            self.summary.max_buffer = self.summary.max_buffer.max(self.buffer);
        }
        for row in &mut self.list[listed..] {
            row.buffer = self.buffer;
        }
    }

    /// The next PDU did not come whole, and one behind it does.
    pub fn on_loss(&mut self, pdu: &Mpeg2Pdu) {
        self.missing += pdu.references.len() as u64;
        for part in &pdu.parts {
            if let Some(picture) = self.picture(part.picture) {
                picture.is_lost = true;
            } else if let Some(overflowed) = self.failed.remove(&part.picture) {
                // It was due before that was known.
                self.summary.lost += 1;
                match overflowed {
                    true => self.summary.overflowed -= 1,
                    false => self.summary.late -= 1,
                }
            }
        }
    }

    /// The run ends at `end`: the summary, and the references that are listed.
    pub fn finish(mut self, end: Time) -> (TransportStreamSummary, Vec<ReferenceRow>) {
        self.decode_until(end);
        let from = self.clock.last.map_or(end, |(at, _)| at.max(self.from));
        self.add_frequency(from, end);
        let mut summary = self.summary;
        let count = self.transits.len() as f64;
        if let (Some(least), Some(most)) = (self.transits.iter().min(), self.transits.iter().max()) {
            let sum: u128 = self.transits.iter().map(|&ps| u128::from(ps)).sum();
            let mean = sum as f64 / count;
            let away: f64 = self.transits.iter().map(|&ps| (ps as f64 - mean).abs()).sum();
            summary.mean_transit_s = Some(mean / 1e12);
            summary.mean_jitter_s = Some(away / count / 1e12);
            summary.peak_jitter_s = Some((most - least) as f64 / 1e12);
            let squares: f64 = self.errors.iter().map(|error| error * error).sum();
            summary.rms_phase_error_s = Some((squares / count).sqrt());
            summary.max_phase_error_s =
                Some(self.errors.iter().fold(0.0, |most, error| error.abs().max(most)));
        }
        let [weighted, time] = self.frequency;
        summary.mean_frequency_ppm = (time > 0.0).then(|| weighted / time);
        (summary, self.list)
    }

    fn on_reference(&mut self, now: Time, reference: Reference) {
        if let Some((at, _)) = self.clock.last {
            self.add_frequency(at.max(self.from), now);
        }
        let error = self.clock.on_reference(now, reference.ticks as f64 / 27e6);
        let transit = now.since(reference.left);
        let frequency_ppm = (self.clock.rate() - 1.0) * 1e6;
        self.number += 1;
        let missing = std::mem::take(&mut self.missing);
        if self.list.len() < self.model.record as usize {
            self.list.push(ReferenceRow {
                vc: self.summary.vc.clone(),
                number: self.number,
                at_s: now.as_secs_f64(),
                transit_s: transit.as_secs_f64(),
                phase_error_s: error,
                frequency_ppm,
                buffer: 0,
            });
        }
        if now < self.from {
            return;
        }
        self.summary.references += 1;
        self.summary.lost_references += missing;
        self.summary.beyond_tolerance += u64::from(frequency_ppm.abs() > TOLERANCE_PPM);
        let off = (frequency_ppm - self.model.clock_offset).abs();
        let most = self.summary.max_frequency_error_ppm.get_or_insert(0.0);
        *most = most.max(off);
        self.transits.push(transit.as_ps());
        self.errors.push(error);
    }

    /// The clock runs at its rate from `from` to `until`, which counts where the one is before the other.
    fn add_frequency(&mut self, from: Time, until: Time) {
        let span = until.since(from).as_secs_f64();
        if until > from {
            self.frequency[0] += (self.clock.rate() - 1.0) * 1e6 * span;
            self.frequency[1] += span;
        }
    }

    /// The picture of this number, unless it was due already.
    fn picture(&mut self, number: u64) -> Option<&mut Coming> {
        let place = number.checked_sub(self.due)? as usize;
        while self.pictures.len() <= place {
            let number = self.due + self.pictures.len() as u64;
            let coming = Coming { number, octets: 0, whole: None, is_lost: false, overflowed: false };
            self.pictures.push_back(coming);
        }
        self.pictures.get_mut(place)
    }

    fn on_part(&mut self, now: Time, part: Part) {
        let (room, octets) = (self.model.decoder.buffer.0, u64::from(part.octets));
        let fits = self.buffer + octets <= room;
        let Some(picture) = self.picture(part.picture) else { return };
        if part.is_last {
            picture.whole = Some(now);
        }
        if fits {
            picture.octets += octets;
            self.buffer += octets;
        } else {
            picture.overflowed = true;
        }
    }

    /// Decodes the pictures that are due by `now`.
    fn decode_until(&mut self, now: Time) {
        loop {
            let own = self.model.pictures_per_second.after(self.due).as_secs_f64();
            let reading = own + self.model.decoder.delay.as_secs_f64();
            let Some(at) = self.clock.when(reading).filter(|&at| at <= now) else { return };
            // A picture that is whole at the very instant is too late.
            let picture = self.picture(self.due).copied();
            self.pictures.pop_front();
            self.due += 1;
            let Some(Coming { octets, whole, is_lost, overflowed, number }) = picture else { return };
            self.buffer -= octets;
            if at < self.from {
                continue;
            }
            let summary = &mut self.summary;
            summary.pictures += 1;
            if is_lost {
                summary.lost += 1;
            } else if overflowed {
                summary.overflowed += 1;
                self.failed.insert(number, true);
            } else if let Some(came) = whole {
                let margin = at.since(came).as_secs_f64();
                summary.min_margin_s = Some(summary.min_margin_s.map_or(margin, |least| least.min(margin)));
            } else {
                summary.late += 1;
                self.failed.insert(number, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: f64 = 0.04;

    /// Errors at references that come 40 ms apart, each `late` seconds later than the first would have it, with an
    /// encoder that is so many ppm fast.
    fn errors(gains: [f64; 2], ppm: f64, count: u64, late: impl Fn(u64) -> f64) -> (Vec<f64>, Clock) {
        let mut clock = Clock { gains, free: 0.0, last: None, integral: 0.0, control: 0.0 };
        let at = |n: u64| Time::ZERO + Duration::from_secs_f64(n as f64 * INTERVAL + late(n));
        let says = |n: u64| n as f64 * INTERVAL * (1.0 + ppm * 1e-6);
        let errors = (0..count).map(|n| clock.on_reference(at(n), says(n))).collect();
        (errors, clock)
    }

    /// Roots of the loop, real or the real and imaginary part of a pair.
    fn gains(frequency: f64, damping: f64) -> [f64; 2] {
        let omega = 2.0 * std::f64::consts::PI * frequency;
        [2.0 * damping * omega, omega * omega]
    }

    #[test]
    fn a_step_of_frequency_is_followed_as_the_closed_form_says() {
        // e(n+1) - (2 - K T - k T^2) e(n) + (1 - K T) e(n-1) = 0 with e(0) = 0 and e(1) = T x step. With complex roots
        // r exp(+-i phi): e(n) = e(1) r^(n-1) sin(n phi) / sin(phi).
        let [k, i] = gains(0.5, 0.5);
        let (r, b) = ((1.0 - k * INTERVAL).sqrt(), 2.0 - k * INTERVAL - i * INTERVAL * INTERVAL);
        let phi = (b / (2.0 * r)).acos();
        let (errors, clock) = errors([k, i], 25.0, 400, |_| 0.0);
        for (n, error) in errors.iter().enumerate() {
            let n = n as f64;
            let expected = INTERVAL * 25e-6 * r.powf(n - 1.0) * (n * phi).sin() / phi.sin();
            assert!((error - expected).abs() < 1e-12, "{n}: {error} and {expected}");
        }
        assert!(errors[399].abs() < 1e-11 && (clock.control - 25e-6).abs() < 1e-9, "it has settled");
    }

    #[test]
    fn with_so_little_damping_that_a_root_leaves_the_unit_circle_it_does_not_settle() {
        let decoder = |frequency| cellrate_scenario::Mpeg2Decoder {
            frequency,
            damping: 0.7,
            clock_offset: 0.0,
            delay: Duration::ZERO,
            buffer: cellrate_proto::Octets(1),
        };
        // 2 K T + k T^2 = 4: x^2 + 2.8 x - 4 = 0 for x = 2 pi f T, and so x = 1.0413.
        let limit = 1.041_31 / (2.0 * std::f64::consts::PI * INTERVAL);
        for (frequency, settles) in [(limit * 0.99, true), (limit * 1.01, false)] {
            let model = decoder(frequency);
            assert_eq!(model.settles(Duration::from_ms(40)), settles);
            let (errors, _) = errors(model.gains(), 25.0, 2000, |_| 0.0);
            assert_eq!(errors[1999].abs() < errors[1].abs(), settles, "{frequency}");
        }
    }

    #[test]
    fn references_that_are_late_by_seconds_leave_the_clock_running() {
        let (_, clock) = errors(gains(0.5, 0.5), 0.0, 100, |n| 3.0 * n as f64);
        assert!((clock.rate() - 0.5).abs() < 1e-9, "{}", clock.rate());
        assert!(clock.when(1e3).is_some_and(|at| at > clock.last.expect("references").0));
    }

    #[test]
    fn what_is_due_by_the_first_reference_is_too_late_beside_it() {
        use cellrate_scenario::{FrameRate, Mpeg2Decoder, Packing, Picture, RateControl};
        let model = Mpeg2Traffic {
            gop: [Picture::Intra].into(),
            pictures_per_second: FrameRate::whole(25),
            sizes: [cellrate_proto::Octets(100); 3],
            deviation: 0.0,
            rate: cellrate_proto::BitRate::from_bps(1_504_000),
            control: RateControl::Constant,
            reference_interval: [Duration::from_ms(40); 2],
            packing: Packing::Pairs,
            clock_offset: 0.0,
            decoder: Mpeg2Decoder {
                frequency: 0.5,
                damping: 0.7,
                clock_offset: 0.0,
                delay: Duration::ZERO,
                buffer: cellrate_proto::Octets(1_000),
            },
            start: Time::ZERO,
            end: Time::NEVER,
            record: 0,
        };
        // Pictures 0 and 1 are due at 0 and 40 ms by a clock that begins with 40 ms; 2 is 40 ms later, and is there.
        let at = Time::ZERO + Duration::from_ms(90);
        let part = |picture| Part { picture, octets: 100, is_last: true };
        let reference = Reference { ticks: 1_080_000, left: Time::ZERO };
        let parts = vec![part(0), part(1), part(2)];
        let pdu = Mpeg2Pdu { at: Time::ZERO, cells: 8, references: vec![reference], parts };
        let mut decoder = Decoder::new("vc", &model, Time::ZERO);
        decoder.on_pdu(at, &pdu);
        let (summary, _) = decoder.finish(at + Duration::from_ms(40));
        assert_eq!((summary.pictures, summary.late, summary.max_buffer), (3, 2, 100));
        assert!(summary.min_margin_s.is_some_and(|margin| (margin - 0.04).abs() < 1e-6));
    }

    #[test]
    fn a_constant_delay_changes_nothing_and_jitter_moves_the_clock_by_its_gain() {
        let loop_gains = gains(0.02, 0.7);
        let (_, clock) = errors(loop_gains, 0.0, 100, |_| 0.003);
        assert!(clock.control.abs() < 1e-12);
        // One reference that is 1 ms late, of many.
        let (errors, clock) = errors(loop_gains, 0.0, 51, |n| if n == 50 { 0.001 } else { 0.0 });
        assert!((errors[50] + 0.001).abs() < 1e-9);
        let expected = -0.001 * (loop_gains[0] + loop_gains[1] * (INTERVAL + 0.001));
        assert!((clock.control - expected).abs() < 1e-9);
    }
}
