//! Positions in the octet stream of a connection, and sets of spans of it.

use std::ops::Add;

use cellrate_proto::Octets;

/// A position in the stream: the number of octets before it. With 64 bits it never wraps; the wrap-around of the 32-bit
/// field on the wire is not a mechanism that anything here depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(pub u64);

impl Sequence {
    /// The beginning of the stream.
    pub const START: Sequence = Sequence(0);
    /// Beyond every stream.
    pub const END: Sequence = Sequence(u64::MAX);

    /// Octets from `earlier` to here; none when `earlier` is later.
    pub const fn since(self, earlier: Sequence) -> Octets {
        Octets(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Octets> for Sequence {
    type Output = Sequence;
    fn add(self, octets: Octets) -> Sequence {
        Sequence(self.0.saturating_add(octets.0))
    }
}

/// Octets from `from` (included) to `to` (not included).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first octet.
    pub from: Sequence,
    /// The one after the last.
    pub to: Sequence,
}

impl Span {
    /// How long it is.
    pub const fn octets(self) -> Octets {
        self.to.since(self.from)
    }
}

/// Spans apart from each other, in order.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    spans: Vec<Span>,
}

impl Spans {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Span> + '_ {
        self.spans.iter().copied()
    }

    /// Takes `span` in; spans that overlap or touch become one, which is returned.
    pub fn insert(&mut self, span: Span) -> Span {
        let first = self.spans.partition_point(|other| other.to < span.from);
        let after = first + self.spans[first..].partition_point(|other| other.from <= span.to);
        let mut whole = span;
        if let [lowest, ..] = &self.spans[first..after] {
            whole.from = whole.from.min(lowest.from);
        }
        if let [.., highest] = &self.spans[first..after] {
            whole.to = whole.to.max(highest.to);
        }
        self.spans.splice(first..after, [whole]);
        whole
    }

    /// Forgets everything before `position`.
    pub fn remove_before(&mut self, position: Sequence) {
        let gone = self.spans.partition_point(|span| span.to <= position);
        self.spans.drain(..gone);
        if let Some(first) = self.spans.first_mut() {
            first.from = first.from.max(position);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.spans.clear();
    }

    /// The span that `position` is in.
    pub fn around(&self, position: Sequence) -> Option<Span> {
        let place = self.spans.partition_point(|span| span.to <= position);
        self.spans.get(place).copied().filter(|span| span.from <= position)
    }

    /// The end of the last one.
    pub fn end(&self) -> Option<Sequence> {
        self.spans.last().map(|span| span.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span(from: u64, to: u64) -> Span {
        Span { from: Sequence(from), to: Sequence(to) }
    }

    #[test]
    fn spans_that_touch_become_one_and_others_stay_apart() {
        let mut spans = Spans::default();
        assert_eq!(spans.insert(span(10, 20)), span(10, 20));
        assert_eq!(spans.insert(span(30, 40)), span(30, 40));
        assert_eq!(spans.insert(span(41, 50)), span(41, 50));
        assert_eq!(spans.insert(span(40, 41)), span(30, 50));
        assert_eq!(spans.insert(span(20, 21)), span(10, 21));
        spans.remove_before(Sequence(15));
        assert_eq!(spans.iter().collect::<Vec<_>>(), [span(15, 21), span(30, 50)]);
        spans.remove_before(Sequence(21));
        assert_eq!(spans.around(Sequence(30)), Some(span(30, 50)));
        assert_eq!(spans.around(Sequence(29)), None);
        assert_eq!(spans.around(Sequence(50)), None);
    }

    proptest! {
        #[test]
        fn a_set_of_spans_is_a_set_of_octets(inserts in proptest::collection::vec((0_u64..60, 1_u64..9), 1..40), cut in 0_u64..70) {
            let mut spans = Spans::default();
            let mut octets = [false; 80];
            for (from, length) in inserts {
                spans.insert(span(from, from + length));
                octets[from as usize..(from + length) as usize].fill(true);
            }
            spans.remove_before(Sequence(cut));
            octets[..cut as usize].fill(false);
            for (position, &there) in octets.iter().enumerate() {
                prop_assert_eq!(spans.around(Sequence(position as u64)).is_some(), there, "{}", position);
            }
            let list: Vec<Span> = spans.iter().collect();
            prop_assert!(list.windows(2).all(|pair| pair[0].to < pair[1].from));
        }
    }
}
