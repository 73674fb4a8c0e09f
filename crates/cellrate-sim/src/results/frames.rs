//! Rows of results about frames in datagrams.

use cellrate_drive::histogram::Histogram;
use cellrate_proto::Time;
use cellrate_scenario::{Scenario, Traffic};

use super::{FrameRow, FrameSummary};
use crate::assembly::Assembly;
use crate::endpoint::Endpoint;
use crate::names::flow_name;
use crate::traffic::Frame;
use crate::transport::Datagrams;

/// What became of a frame.
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
pub(crate) fn collect(
    scenario: &Scenario,
    assembly: &Assembly,
    in_flight: &[u64],
    end: Time,
) -> (Vec<FrameSummary>, Vec<FrameRow>) {
    let (mut summaries, mut list) = (Vec::new(), Vec::new());
    for (flow, &in_flight) in scenario.flows().zip(in_flight) {
        let Some(Traffic::Frames(model)) = &scenario.flow(flow).traffic else { continue };
        let vc = flow_name(scenario, flow);
        let (sender, receiver) = (assembly.sender(flow), assembly.receiver(flow));
        let (sent, skipped) = sender.supply.frames().map_or_else(Default::default, |frames| frames.all(end));
        let fates = fates(&sent, receiver, in_flight == 0);
        summaries.push(summary(&vc, &sent, &fates, skipped, receiver));
        let listed = sent.iter().zip(&fates).take(model.record as usize);
        list.extend(listed.map(|(frame, &fate)| row(&vc, frame, fate)));
    }
    (summaries, list)
}

/// The fate of each frame, in order. If nothing is on its way, what has left and not come is lost.
fn fates(sent: &[Frame], receiver: &Endpoint, settled: bool) -> Vec<Fate> {
    let Some((datagrams, reassembly)) = receiver.interface.as_ref().and_then(|interface| {
        interface.datagrams.as_ref().map(|datagrams| (datagrams, &interface.reassembly))
    }) else {
        return vec![Fate::Unfinished; sent.len()];
    };
    let seen = if settled { u64::MAX } else { datagrams.unwrapped(reassembly.latest()) };
    let mut place = 0;
    sent.iter().map(|frame| fate(frame, datagrams, &mut place, seen)).collect()
}

/// `place` is where to look for the ends of its datagrams; `seen` the number of the last cell of the direction that has
/// come.
fn fate(frame: &Frame, datagrams: &Datagrams, place: &mut usize, seen: u64) -> Fate {
    if frame.left == Time::NEVER {
        return Fate::Unfinished;
    }
    let first = frame.last_cell - u64::from(frame.cells);
    let ends = datagrams.ends();
    let (mut whole, mut last) = (0, Time::ZERO);
    while let Some(&(number, at)) = ends.get(*place).filter(|(number, _)| *number <= frame.last_cell) {
        *place += 1;
        if number > first {
            whole += 1;
            last = at;
        }
    }
    if whole == frame.cells.div_ceil(frame.cells_of_full) {
        Fate::Whole(last)
    } else if seen >= frame.last_cell {
        Fate::Lost
    } else {
        Fate::Unfinished
    }
}

fn summary(vc: &str, sent: &[Frame], fates: &[Fate], skipped: u64, receiver: &Endpoint) -> FrameSummary {
    let mut times = Histogram::default();
    let mut whole = 0;
    for (frame, fate) in sent.iter().zip(fates) {
        if let Fate::Whole(at) = fate {
            times.record(at.since(frame.at));
            whole += 1;
        }
    }
    let count = |wanted: Fate| fates.iter().filter(|&&fate| fate == wanted).count() as u64;
    let reassembly = receiver.interface.as_ref().map(|interface| &interface.reassembly);
    FrameSummary {
        vc: vc.to_owned(),
        frames: sent.len() as u64 + skipped,
        skipped,
        whole,
        lost: count(Fate::Lost),
        unfinished: count(Fate::Unfinished),
        octets: sent.iter().map(|frame| u64::from(frame.octets)).sum(),
        mean_time_s: times.mean_s(),
        p50_time_s: times.quantile_s(0.5),
        p99_time_s: times.quantile_s(0.99),
        max_time_s: times.max_s(),
        whole_datagrams: reassembly.map_or(0, |reassembly| reassembly.whole()),
        spoiled_datagrams: reassembly.map_or(0, |reassembly| reassembly.spoiled()),
    }
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
