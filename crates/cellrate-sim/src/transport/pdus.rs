//! PDUs that wait, in order. A transfer has very many, mostly data that follow on from each other in PDUs of one
//! length: these take one place together, which stays in the caches.

use std::collections::VecDeque;

use super::segment::{Contents, Segment};
use super::sequence::Span;

/// PDUs, first in first out, each with the number of its cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Pdus {
    runs: VecDeque<Run>,
    len: u64,
}

/// A PDU, and `more` behind it with the data that follow, as many octets in each and alike in their headers.
#[derive(Clone, Debug)]
struct Run {
    first: Segment,
    cells: u32,
    more: u32,
}

impl Pdus {
    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The first one.
    pub fn first(&self) -> Option<(&Segment, u32)> {
        self.runs.front().map(|run| (&run.first, run.cells))
    }

    /// Puts `segment` last, in a PDU of so many cells.
    pub fn push(&mut self, segment: Segment, cells: u32) {
        self.len += 1;
        match self.runs.back_mut().filter(|run| run.is_followed_by(&segment)) {
            Some(run) => run.more += 1,
            None => self.runs.push_back(Run { first: segment, cells, more: 0 }),
        }
    }

    /// Takes the first one.
    pub fn pop(&mut self) -> Option<(Segment, u32)> {
        let run = self.runs.front_mut()?;
        self.len -= 1;
        match &mut run.first {
            Segment { connection, flags, stamp, contents: Contents::Data(span) } if run.more > 0 => {
                run.more -= 1;
                let (connection, flags, stamp) = (*connection, *flags, *stamp);
                let first = Segment { connection, flags, stamp, contents: Contents::Data(*span) };
                *span = Span { from: span.to, to: span.to + span.octets() };
                Some((first, run.cells))
            }
            _ => self.runs.pop_front().map(|run| (run.first, run.cells)),
        }
    }
}

impl Run {
    /// Whether `segment` has the data behind those of the last one, and as many.
    fn is_followed_by(&self, segment: &Segment) -> bool {
        let (Contents::Data(first), Contents::Data(next)) = (&self.first.contents, &segment.contents) else {
            return false;
        };
        let before = u64::from(self.more).checked_mul(first.octets().0);
        self.first.connection == segment.connection
            && (self.first.flags, self.first.stamp) == (segment.flags, segment.stamp)
            && next.octets() == first.octets()
            && before.and_then(|before| first.to.0.checked_add(before)) == Some(next.from.0)
            && self.more < u32::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Packet, Sequence};

    use proptest::prelude::*;

    fn data(connection: u16, from: u64, to: u64) -> Segment {
        let span = Span { from: Sequence(from), to: Sequence(to) };
        Segment::plain(connection, Contents::Data(span))
    }

    proptest! {
        #[test]
        fn they_come_out_as_they_went_in(steps in proptest::collection::vec((0_u8..10, 1_u64..4, 0_u16..2, 0_u32..8), 0..200)) {
            let (mut pdus, mut deque) = (Pdus::default(), VecDeque::new());
            let mut next = 0;
            for (step, length, connection, stamp) in steps {
                let length = 100 * length;
                let mut segment = match step {
                    // Most go on where the last one ended.
                    0..5 => data(connection.saturating_sub(u16::from(step)), next, next + if step < 3 { 100 } else { length }),
                    5 => data(connection, next - next.min(length), next),
                    6 => Segment::plain(connection, Contents::Duplex(Box::new(Packet::empty(0)))),
                    _ => {
                        prop_assert_eq!(pdus.pop(), deque.pop_front());
                        continue;
                    }
                };
                // Most are of the tick of the one before.
                segment.stamp = stamp / 7;
                if let Contents::Data(span) = segment.contents {
                    next = span.to.0;
                }
                let cells = (length / 48) as u32;
                let cells = if matches!(segment.contents, Contents::Data(_)) { cells_of(&segment) } else { cells };
                pdus.push(segment.clone(), cells);
                deque.push_back((segment, cells));
                prop_assert_eq!(pdus.len(), deque.len() as u64);
                prop_assert_eq!(pdus.first(), deque.front().map(|(segment, cells)| (segment, *cells)));
            }
            while let Some(pdu) = deque.pop_front() {
                prop_assert_eq!(pdus.pop(), Some(pdu));
            }
            prop_assert_eq!((pdus.pop(), pdus.len()), (None, 0));
        }
    }

    /// As many octets, as many cells.
    fn cells_of(segment: &Segment) -> u32 {
        match &segment.contents {
            Contents::Data(span) => span.octets().0 as u32 / 48 + 1,
            _ => 1,
        }
    }

    #[test]
    fn a_transfer_takes_one_place() {
        let mut pdus = Pdus::default();
        (0..1000).for_each(|n| pdus.push(data(0, 512 * n, 512 * (n + 1)), 12));
        assert_eq!((pdus.len(), pdus.runs.len()), (1000, 1));
        for n in 0..1000 {
            assert_eq!(pdus.pop(), Some((data(0, 512 * n, 512 * (n + 1)), 12)));
        }
        assert_eq!((pdus.len(), pdus.runs.len()), (0, 0));
    }
}
