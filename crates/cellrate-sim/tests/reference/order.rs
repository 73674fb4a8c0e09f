//! Order of the judge's events: by instant, then by rank, index and the sequence in which they were planned.

use std::cmp::Ordering;

use super::Event;

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
