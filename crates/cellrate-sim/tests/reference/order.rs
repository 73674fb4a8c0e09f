//! Order of the judge's events: by instant, then by rank, index and the sequence in which they were planned.

use std::cmp::Ordering;

use super::{Event, Flaw, Happening};

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    /// The heap gives the largest first, so the soonest is the largest.
    fn cmp(&self, other: &Event) -> Ordering {
        let key = |event: &Event| (event.time, event.rank, event.index, event.sequence);
        key(other).cmp(&key(self))
    }
}

/// Rank and index of what happens, among all of its instant: by the rules, or by all but one.
pub(super) fn place(happening: &Happening, flaw: Option<Flaw>) -> (u8, usize) {
    let (rank, index) = match happening {
        Happening::Change(port, _) if flaw == Some(Flaw::DelayAfterDeparture) => (2, *port),
        Happening::Change(port, _) => (0, *port),
        Happening::Departure(port) | Happening::Release(port) => (1, *port),
        Happening::Sample(probe) => (2, *probe),
        Happening::IntervalEnd(port) => (3, *port),
        Happening::Arrival(port, _) => (4, *port),
        Happening::Opening(flow, _) | Happening::Flow(flow, _) | Happening::Report(flow, _) => (5, 2 * *flow),
        Happening::Loopback(flow, _) if flaw == Some(Flaw::LoopbackAfterSource) => (7, *flow),
        Happening::Loopback(flow, _) => (5, 2 * *flow + 1),
        Happening::Transmission(flow, _) => (6, *flow),
        Happening::Timer(flow, _) => (7, *flow),
        Happening::Turn(port) => (9, *port),
    };
    match (flaw, rank) {
        (Some(Flaw::TiesReversed), 4 | 6) => (rank, usize::MAX - index),
        (Some(Flaw::DeparturesAfterArrivals), 1) | (Some(Flaw::IntervalsEndAfterArrivals), 3) => (5, index),
        (Some(Flaw::SamplesLast), 2) => (8, index),
        (Some(Flaw::TimersBeforeArrivals), 7) => (3, index),
        _ => (rank, index),
    }
}
