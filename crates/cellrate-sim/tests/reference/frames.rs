//! How the judge counts frames: by the cells of their datagrams that have come, one by one.

use std::collections::BTreeSet;

use cellrate_proto::Octets;
use cellrate_proto::wire::cells_for;

use super::*;

impl Network<'_> {
    /// The row of a direction with frames, of which `in_flight` cells are on their way. Quantiles are those of the
    /// sorted values.
    pub(super) fn frame_row(&self, flow: usize, in_flight: u64) -> Option<FrameSummary> {
        let connection = &self.scenario.connections[flow / 2];
        let own = if flow.is_multiple_of(2) { &connection.forward } else { &connection.backward };
        let Some(Traffic::Frames(model)) = &own.traffic else { return None };
        let come = self.ends[flow ^ 1].frame_cells.as_ref().expect("the other end has them");
        let (sent, skipped) = self.ends[flow].supply.frames().expect("it sends frames").all(self.end);
        let start = self.scenario.measuring.start();
        let skipped = skipped - self.warm_up().map_or(0, |look| look.skipped[flow]);
        // The numbers of the cells of each datagram.
        let mut before = 0;
        let mut cells_of = |octets: u64| {
            let first = before + 1;
            before += cells_for(model.header + Octets(octets), model.encapsulation).0 as u32;
            (first..=before).collect::<Vec<u32>>()
        };
        let datagrams_of = |octets: u32| {
            let (full, rest) = (u64::from(octets) / model.datagram.0, u64::from(octets) % model.datagram.0);
            let lengths = (0..full).map(|_| model.datagram.0).chain((rest > 0).then_some(rest));
            lengths.map(&mut cells_of).collect::<Vec<_>>()
        };
        let frames: Vec<Vec<Vec<u32>>> = sent.iter().map(|frame| frame.octets).map(datagrams_of).collect();
        // What AAL5 takes for one, by its last cell: all that came since the last end of a datagram.
        let ends: BTreeSet<u32> = frames.iter().flatten().filter_map(|cells| cells.last().copied()).collect();
        let (mut taken, mut cells) = (BTreeMap::new(), Vec::new());
        for &(number, at) in come {
            cells.push(number);
            if ends.contains(&number) {
                taken.insert(number, (std::mem::take(&mut cells), at));
            }
        }
        let arrival = |cells: &Vec<u32>| {
            let (taken, at) = taken.get(cells.last()?)?;
            (taken == cells).then_some(*at)
        };
        let come_since = |at: &Time| *at >= start;
        let whole_datagrams =
            frames.iter().flatten().filter(|cells| arrival(cells).as_ref().is_some_and(come_since)).count();
        let ended = taken.values().filter(|(_, at)| come_since(at)).count();
        let (mut times, mut lost) = (Vec::new(), 0);
        for (frame, datagrams) in sent.iter().zip(&frames).filter(|(frame, _)| frame.at >= start) {
            let arrivals: Option<Vec<Time>> = datagrams.iter().map(arrival).collect();
            let last = *datagrams.last().and_then(|cells| cells.last()).expect("a frame has cells");
            let is_known = in_flight == 0 || come.last().is_some_and(|(number, _)| *number >= last);
            match arrivals {
                Some(arrivals) => {
                    times.push(arrivals.last().expect("one at least").since(frame.at).as_ps());
                }
                None => lost += u64::from(frame.left != Time::NEVER && is_known),
            }
        }
        times.sort_unstable();
        let quantile = |share: f64| {
            let rank = (share * times.len() as f64).ceil().max(1.0) as usize;
            times.get(rank - 1).map(|&ps| ps as f64 / 1e12)
        };
        let sum: u128 = times.iter().map(|&ps| u128::from(ps)).sum();
        let whole = times.len() as u64;
        let sent: Vec<_> = sent.iter().filter(|frame| frame.at >= start).collect();
        Some(FrameSummary {
            vc: self.name_of(flow),
            frames: sent.len() as u64 + skipped,
            skipped,
            whole,
            lost,
            unfinished: sent.len() as u64 - whole - lost,
            octets: sent.iter().map(|frame| u64::from(frame.octets)).sum(),
            mean_time_s: (whole > 0).then(|| sum as f64 / whole as f64 / 1e12),
            p50_time_s: quantile(0.5),
            p99_time_s: quantile(0.99),
            max_time_s: quantile(1.0),
            whole_datagrams: whole_datagrams as u64,
            spoiled_datagrams: (ended - whole_datagrams) as u64,
        })
    }
}

impl End {
    /// A data cell has left at `now`: where the source sends an FRM after each frame, it may have been the last of one.
    pub(super) fn note_frame(&mut self, now: Time) {
        if let (Some(frames), Some(source)) = (self.supply.frames(), &mut self.source) {
            let number = self.data_sent;
            if frames.all(now).0.iter().any(|frame| frame.left == now && frame.last_cell == number) {
                source.end_frame();
            }
        }
    }
}

/// Whether the rows are the same, with quantiles within 1 %.
pub fn same_frames(kernel: &FrameSummary, judge: &FrameSummary) -> bool {
    let within = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 0.01 * b,
        (a, b) => a == b,
    };
    let exact = FrameSummary { p50_time_s: judge.p50_time_s, p99_time_s: judge.p99_time_s, ..kernel.clone() };
    exact == *judge
        && within(kernel.p50_time_s, judge.p50_time_s)
        && within(kernel.p99_time_s, judge.p99_time_s)
}
