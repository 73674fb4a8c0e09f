//! How the judge receives transport streams: PDUs by the cells that have come, one by one; the loop with all errors
//! since the beginning; and the buffer by going through all parts for each picture.

use cellrate_engine::decoder::TransportStreamSummary;
use cellrate_engine::traffic::{Mpeg2Pdu, Mpeg2Pdus};

use super::*;

impl Network<'_> {
    /// The row of a direction with a transport stream.
    pub(super) fn transport_stream_row(&self, flow: usize) -> Option<TransportStreamSummary> {
        let connection = &self.scenario.connections[flow / 2];
        let own = if flow.is_multiple_of(2) { &connection.forward } else { &connection.backward };
        let Some(Traffic::Mpeg2(model)) = &own.traffic else { return None };
        let come = self.ends[flow ^ 1].frame_cells.as_ref().expect("the other end has them");
        let owner = Owner::flow(self.scenario, FlowIndex(flow as u32));
        let pdus = Mpeg2Pdus::new(model, Random::new(self.scenario.seed, Stream::Traffic(owner)));
        // PDUs up to the last cell that has come: the numbers of their cells.
        let latest = come.last().map_or(0, |&(number, _)| number);
        let mut before = 0;
        let mut all: Vec<(Vec<u32>, Mpeg2Pdu)> = Vec::new();
        for pdu in pdus {
            if before >= latest {
                break;
            }
            all.push(((before + 1..=before + pdu.cells).collect(), pdu.clone()));
            before += pdu.cells;
        }
        // What AAL5 takes for one, by its last cell.
        let mut taken = BTreeMap::new();
        let mut cells = Vec::new();
        for &(number, at) in come {
            cells.push(number);
            if all.iter().any(|(own, _)| own.last() == Some(&number)) {
                taken.insert(number, (std::mem::take(&mut cells), at));
            }
        }
        let arrived: Vec<(Option<Time>, &Mpeg2Pdu)> = all
            .iter()
            .map(|(cells, pdu)| {
                let last = cells.last().expect("a PDU has cells");
                (taken.get(last).filter(|(got, _)| got == cells).map(|(_, at)| *at), pdu)
            })
            .collect();
        let (from, start) = (self.scenario.measuring.start(), model.decoder.delay.as_secs_f64());
        let mut row = TransportStreamSummary {
            vc: self.name_of(flow),
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
        // References: when each came, its reading, its error; and the clock's rate from it on.
        let (mut points, mut transits, mut errors, mut lost) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let [proportional, integral] = model.decoder.gains();
        let free = model.decoder.clock_offset * 1e-6;
        let mut history: Vec<(f64, f64)> = Vec::new();
        for (at, pdu) in &arrived {
            let Some(at) = *at else {
                lost += pdu.references.len() as u64;
                continue;
            };
            for reference in &pdu.references {
                let says = reference.ticks as f64 / 27e6;
                let (reading, error) = match points.last() {
                    None => (says, 0.0),
                    Some(&(before, reading, rate)) => {
                        let span = at.since(before).as_secs_f64();
                        let own: f64 = reading + span * rate;
                        history.push((says - own, span));
                        (own, says - own)
                    }
                };
                let most = 0.5 / integral;
                let sum: f64 =
                    history.iter().fold(0.0, |sum, (error, span)| (sum + error * span).clamp(-most, most));
                let rate = 1.0 + free + (proportional * error + integral * sum).clamp(-0.5, 0.5);
                points.push((at, reading, rate));
                if at >= from {
                    row.references += 1;
                    row.lost_references += std::mem::take(&mut lost);
                    transits.push(at.since(reference.left).as_secs_f64());
                    errors.push(error);
                    let ppm = (rate - 1.0) * 1e6;
                    row.beyond_tolerance += u64::from(ppm.abs() > 30.0);
                    let most = row.max_frequency_error_ppm.get_or_insert(0.0);
                    *most = most.max((ppm - model.clock_offset).abs());
                } else {
                    lost = 0;
                }
            }
        }
        let count = transits.len() as f64;
        if !transits.is_empty() {
            let mean = transits.iter().sum::<f64>() / count;
            row.mean_transit_s = Some(mean);
            row.mean_jitter_s =
                Some(transits.iter().map(|transit| (transit - mean).abs()).sum::<f64>() / count);
            let most = transits.iter().copied().fold(f64::MIN, f64::max);
            row.peak_jitter_s = Some(most - transits.iter().copied().fold(f64::MAX, f64::min));
            row.rms_phase_error_s =
                Some((errors.iter().map(|error| error * error).sum::<f64>() / count).sqrt());
            row.max_phase_error_s = Some(errors.iter().fold(0.0, |most: f64, error| most.max(error.abs())));
        }
        let (mut weighted, mut time) = (0.0, 0.0);
        for (place, &(at, _, rate)) in points.iter().enumerate() {
            let until = points.get(place + 1).map_or(self.end, |next| next.0);
            let span = until.since(at.max(from)).as_secs_f64();
            if until > at.max(from) {
                (weighted, time) = (weighted + (rate - 1.0) * 1e6 * span, time + span);
            }
        }
        row.mean_frequency_ppm = (time > 0.0).then(|| weighted / time);
        self.pictures(model, &arrived, &points, start, &mut row);
        Some(row)
    }

    /// Pictures, one after the other, each with all parts that come before it is due; and how many octets wait after
    /// each PDU.
    fn pictures(
        &self,
        model: &cellrate_scenario::Mpeg2Traffic,
        arrived: &[(Option<Time>, &Mpeg2Pdu)],
        points: &[(Time, f64, f64)],
        delay: f64,
        row: &mut TransportStreamSummary,
    ) {
        let from = self.scenario.measuring.start();
        // When each picture is due, until one is not by the end.
        let mut due = Vec::new();
        'pictures: for number in 0.. {
            let reading = model.pictures_per_second.after(number).as_secs_f64() + delay;
            for (place, &(at, own, rate)) in points.iter().enumerate() {
                let when = at.saturating_add(Duration::from_secs_f64(((reading - own) / rate).max(0.0)));
                if points.get(place + 1).is_none_or(|next| when <= next.0) {
                    if when <= self.end {
                        due.push(when);
                        continue 'pictures;
                    }
                    break 'pictures;
                }
            }
            break;
        }
        let is_due = |picture: u64, now: Time| due.get(picture as usize).is_some_and(|&at| at <= now);
        // Octets of each picture in the buffer, whether one of them found no room, and when the last one came.
        let mut held: BTreeMap<u64, (u64, bool, Option<Time>)> = BTreeMap::new();
        let mut waits: BTreeMap<u64, u64> = BTreeMap::new();
        for (at, pdu) in arrived {
            let Some(now) = *at else { continue };
            waits.retain(|&picture, _| !is_due(picture, now));
            for part in &pdu.parts {
                if is_due(part.picture, now) {
                    continue;
                }
                let picture = held.entry(part.picture).or_default();
                if part.is_last {
                    picture.2 = Some(now);
                }
                if waits.values().sum::<u64>() + u64::from(part.octets) <= model.decoder.buffer.0 {
                    picture.0 += u64::from(part.octets);
                    *waits.entry(part.picture).or_default() += u64::from(part.octets);
                } else {
                    picture.1 = true;
                }
            }
            if now >= from {
                row.max_buffer = row.max_buffer.max(waits.values().sum());
            }
        }
        for (number, &at) in (0..).zip(&due) {
            if at < from {
                continue;
            }
            row.pictures += 1;
            // A part in a PDU that did not come whole, while one behind it did.
            let missing = arrived.iter().enumerate().any(|(place, (came, pdu))| {
                came.is_none()
                    && pdu.parts.iter().any(|part| part.picture == number)
                    && arrived[place..].iter().any(|(came, _)| came.is_some())
            });
            let (_, overflowed, whole) = held.get(&number).copied().unwrap_or_default();
            if missing {
                row.lost += 1;
            } else if overflowed {
                row.overflowed += 1;
            } else if let Some(came) = whole {
                let margin = at.since(came).as_secs_f64();
                row.min_margin_s = Some(row.min_margin_s.map_or(margin, |least| least.min(margin)));
            } else {
                row.late += 1;
            }
        }
    }
}

/// Whether a row is the judge's, whose sums are in another order.
pub fn same_stream(kernel: &TransportStreamSummary, judge: &TransportStreamSummary) -> bool {
    // What is left of jitter and errors where there are none is below a picosecond and a millionth of a ppm.
    let within = |a: Option<f64>, b: Option<f64>, least: f64| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * b.abs() + least,
        (a, b) => a == b,
    };
    let exact = TransportStreamSummary {
        mean_transit_s: judge.mean_transit_s,
        mean_jitter_s: judge.mean_jitter_s,
        peak_jitter_s: judge.peak_jitter_s,
        mean_frequency_ppm: judge.mean_frequency_ppm,
        max_frequency_error_ppm: judge.max_frequency_error_ppm,
        rms_phase_error_s: judge.rms_phase_error_s,
        max_phase_error_s: judge.max_phase_error_s,
        ..kernel.clone()
    };
    exact == *judge
        && within(kernel.mean_transit_s, judge.mean_transit_s, 1e-12)
        && within(kernel.mean_jitter_s, judge.mean_jitter_s, 1e-12)
        && within(kernel.peak_jitter_s, judge.peak_jitter_s, 1e-12)
        && within(kernel.mean_frequency_ppm, judge.mean_frequency_ppm, 1e-6)
        && within(kernel.max_frequency_error_ppm, judge.max_frequency_error_ppm, 1e-6)
        && within(kernel.rms_phase_error_s, judge.rms_phase_error_s, 1e-12)
        && within(kernel.max_phase_error_s, judge.max_phase_error_s, 1e-12)
}
