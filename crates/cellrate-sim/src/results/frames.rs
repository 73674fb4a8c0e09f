//! Rows of results about frames in datagrams.

use cellrate_engine::histogram::Histogram;
use cellrate_proto::Time;
use cellrate_scenario::{Scenario, Traffic};

use super::{FrameRow, FrameSummary};
use crate::assembly::Assembly;
use crate::cell::SEQUENCE_MASK;
use crate::endpoint::Endpoint;
use crate::traffic::Frame;
use cellrate_engine::names::flow_name;

/// Fate of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// All of its datagrams are there; when the last one came.
    Whole(Time),
    /// A datagram of it is missing, and all that is not lost has come.
    Lost,
    /// It waits or is on its way.
    Unfinished,
}

/// One summary row per direction with frames, and the single frames that were asked for. `in_flight` has the cells of
/// each direction on their way at `end`.
/// Frames handed over before `start` are not in the summary; datagrams that came before are
/// [taken off](since) it.
pub(crate) fn collect(
    scenario: &Scenario,
    assembly: &Assembly,
    in_flight: &[u64],
    end: Time,
    start: Time,
) -> (Vec<FrameSummary>, Vec<FrameRow>) {
    let (mut summaries, mut list) = (Vec::new(), Vec::new());
    for (flow, &in_flight) in scenario.flows().zip(in_flight) {
        let Some(Traffic::Frames(model)) = &scenario.flow(flow).traffic else { continue };
        let vc = flow_name(scenario, flow);
        let (sender, receiver) = (assembly.sender(flow), assembly.receiver(flow));
        let (sent, skipped) =
            sender.end.supply.frames().map_or_else(Default::default, |frames| frames.all(end));
        let fates = Fates::of(&sent, receiver, in_flight == 0);
        summaries.push(summary(&vc, &sent, &fates, skipped, start));
        let listed = sent.iter().zip(&fates.frames).take(model.record as usize);
        list.extend(listed.map(|(frame, &fate)| row(&vc, frame, fate)));
    }
    (summaries, list)
}

/// Fates of all frames of a direction, and of the datagrams that they were cut into.
struct Fates {
    /// The fates of all frames, in order.
    frames: Vec<Fate>,
    whole_datagrams: u64,
    spoiled_datagrams: u64,
}

impl Fates {
    /// If nothing is on its way, what has left and not come is lost.
    fn of(sent: &[Frame], receiver: &Endpoint, settled: bool) -> Fates {
        let Some((datagrams, reassembly)) = receiver.interface.as_ref().and_then(|interface| {
            interface.datagrams.as_ref().map(|datagrams| (datagrams, &interface.reassembly))
        }) else {
            let frames = vec![Fate::Unfinished; sent.len()];
            return Fates { frames, whole_datagrams: 0, spoiled_datagrams: 0 };
        };
        let seen = if settled { u64::MAX } else { datagrams.unwrapped(reassembly.latest()) };
        // Only the sender's frames say how long each datagram was.
        let mut reassembly = reassembly.clone();
        let (mut ends, mut before) = (datagrams.ends().iter().peekable(), 0);
        let mut fate = |frame: &Frame| {
            let mut come = Come::default();
            while let Some(&(number, at)) =
                ends.next_if(|(number, _)| *number <= before + u64::from(frame.cells))
            {
                let cells = frame.cells_of_datagram((number - before) as u32);
                come.add(at, reassembly.confirm((number & SEQUENCE_MASK) as u32, cells));
            }
            before += u64::from(frame.cells);
            come.fate(frame, seen)
        };
        let frames = sent.iter().map(&mut fate).collect();
        Fates { frames, whole_datagrams: reassembly.whole(), spoiled_datagrams: reassembly.spoiled() }
    }
}

/// Parts of a frame that have come.
#[derive(Default)]
struct Come {
    whole_datagrams: u32,
    last: Time,
}

impl Come {
    /// The end of a datagram came at that instant, of a whole one or not.
    fn add(&mut self, at: Time, whole: bool) {
        self.whole_datagrams += u32::from(whole);
        self.last = at;
    }

    /// `seen` is the number of the last cell of the direction that has come.
    fn fate(self, frame: &Frame, seen: u64) -> Fate {
        if frame.left == Time::NEVER {
            Fate::Unfinished
        } else if self.whole_datagrams == frame.cells.div_ceil(frame.cells_of_full) {
            Fate::Whole(self.last)
        } else if seen >= frame.last_cell {
            Fate::Lost
        } else {
            Fate::Unfinished
        }
    }
}

fn summary(vc: &str, sent: &[Frame], fates: &Fates, skipped: u64, start: Time) -> FrameSummary {
    let mut times = Histogram::default();
    let mut whole = 0;
    let (early, late) = sent.split_at(sent.partition_point(|frame| frame.at < start));
    let late_fates = &fates.frames[early.len()..];
    for (frame, fate) in late.iter().zip(late_fates) {
        if let Fate::Whole(at) = fate {
            times.record(at.since(frame.at));
            whole += 1;
        }
    }
    let count = |wanted: Fate| late_fates.iter().filter(|&&fate| fate == wanted).count() as u64;
    FrameSummary {
        vc: vc.to_owned(),
        frames: late.len() as u64 + skipped,
        skipped,
        whole,
        lost: count(Fate::Lost),
        unfinished: count(Fate::Unfinished),
        octets: late.iter().map(|frame| u64::from(frame.octets)).sum(),
        mean_time_s: times.mean_s(),
        p50_time_s: times.quantile_s(0.5),
        p99_time_s: times.quantile_s(0.99),
        max_time_s: times.max_s(),
        whole_datagrams: fates.whole_datagrams,
        spoiled_datagrams: fates.spoiled_datagrams,
    }
}

/// Takes off `rows` what had been left out, and what had come, when they were those of `before`.
pub(crate) fn since(mut rows: Vec<FrameSummary>, before: &[FrameSummary]) -> Vec<FrameSummary> {
    // Both have a row for each direction, in the same order.
    for (row, before) in rows.iter_mut().zip(before) {
        row.frames -= before.skipped;
        row.skipped -= before.skipped;
        row.whole_datagrams -= before.whole_datagrams;
        row.spoiled_datagrams -= before.spoiled_datagrams;
    }
    rows
}

fn row(vc: &str, frame: &Frame, fate: Fate) -> FrameRow {
    FrameRow {
        vc: vc.to_owned(),
        number: frame.number,
        at_s: frame.at.as_secs_f64(),
        octets: frame.octets,
        cells: frame.cells,
        left_s: (frame.left != Time::NEVER).then(|| frame.left.as_secs_f64()),
        arrived_s: if let Fate::Whole(at) = fate { Some(at.as_secs_f64()) } else { None },
        lost: fate == Fate::Lost,
    }
}
