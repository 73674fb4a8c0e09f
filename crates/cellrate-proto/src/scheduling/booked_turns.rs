//! Turns of a queue that is promised a rate, whatever goes before it otherwise.

use crate::units::{CellRate, Duration, Time};

/// When a queue of a lower priority may go first: as often as the rate that is booked for it asks, as long as it waits.
///
/// A cell that is sent because nothing of a higher priority waits counts as one of the booked ones if its turn has
/// come, and costs nothing if it has not: what goes beyond the rate is never held against the queue. A queue that waits
/// while others are served before it all the same is owed those turns, up to [`MOST_OWED`](BookedTurns::MOST_OWED).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookedTurns {
    spacing: Duration,
    /// When the next turn comes.
    due: Time,
}

impl BookedTurns {
    /// A queue that has waited longer than this without its turns is owed no more than they come to in this time.
    pub const MOST_OWED: Duration = Duration::from_ms(100);

    /// Turns at `rate`.
    pub fn new(rate: CellRate) -> BookedTurns {
        BookedTurns { spacing: rate.interval(), due: Time::ZERO }
    }

    /// The queue has a cell at `now`, and had none before: nothing is owed for the time before.
    pub fn begin(&mut self, now: Time) {
        self.due = self.due.max(now);
    }

    /// Whether a cell that is sent at `now` is one of the booked ones.
    pub fn is_due(&self, now: Time) -> bool {
        self.due <= now
    }

    /// A booked cell is sent at `now`.
    pub fn take(&mut self, now: Time) {
        let owed_from = now.as_ps().saturating_sub(BookedTurns::MOST_OWED.as_ps());
        self.due = self.due.max(Time::from_ps(owed_from)).saturating_add(self.spacing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn a_queue_that_waits_has_its_rate_and_is_owed_what_it_was_kept_from() {
        // A turn every 10 ms.
        let mut turns = BookedTurns::new(CellRate::new(100.0));
        turns.begin(ms(5));
        assert!(turns.is_due(ms(5)));
        turns.take(ms(5));
        assert!(!turns.is_due(ms(14)) && turns.is_due(ms(15)));
        // Kept from three turns, it has them one behind the other.
        (0..3).for_each(|_| {
            assert!(turns.is_due(ms(35)));
            turns.take(ms(35));
        });
        assert!(!turns.is_due(ms(44)) && turns.is_due(ms(45)));
    }

    #[test]
    fn a_queue_that_was_empty_is_owed_nothing_and_no_wait_is_owed_for_ever() {
        let mut turns = BookedTurns::new(CellRate::new(100.0));
        turns.begin(ms(1000));
        turns.take(ms(1000));
        assert!(!turns.is_due(ms(1009)));
        // Ten seconds without a turn are worth a tenth: ten turns and the one of now.
        let owed = (0..100).take_while(|_| {
            let is_due = turns.is_due(ms(11_000));
            turns.take(ms(11_000));
            is_due
        });
        assert_eq!(owed.count(), 11);
    }
}
