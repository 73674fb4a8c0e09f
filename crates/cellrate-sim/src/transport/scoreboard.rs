//! Scoreboard of a SACK sender: the octets on their way, as it knows of them (RFC 6675).

use cellrate_proto::Octets;

use super::sequence::{Sequence, Span, Spans};

/// Segments that must have come beyond an octet for it to count as lost.
const DUP_THRESH: u64 = 3;

/// The scoreboard: what the receiver has reported beyond the cumulative ACK, and how far holes were filled again.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    reported: Spans,
    /// HighRxt: everything before it that was lost has been sent again.
    retransmitted: Sequence,
    /// Whether this recovery has had its rescue.
    rescued: bool,
    mss: Octets,
}

impl Scoreboard {
    /// An empty one.
    pub fn new(mss: Octets) -> Scoreboard {
        Scoreboard { reported: Spans::default(), retransmitted: Sequence::START, rescued: false, mss }
    }

    /// An ACK: everything before `acknowledged` has come, and these blocks. Whether they report octets that no ACK has
    /// told of before.
    pub fn on_acknowledgment(&mut self, acknowledged: Sequence, blocks: &[Span]) -> bool {
        let mut is_news = false;
        for &block in blocks {
            let known = self.reported.around(block.from).is_some_and(|span| span.to >= block.to);
            is_news |= !known && block.to > acknowledged;
            self.reported.insert(block);
        }
        self.reported.remove_before(acknowledged);
        is_news
    }

    /// Forgets all reports: a receiver may drop what it reported (RFC 2018, section 8).
    pub fn clear(&mut self) {
        self.reported.clear();
    }

    /// Recovery begins: nothing from `acknowledged` on has been sent again.
    pub fn begin_recovery(&mut self, acknowledged: Sequence) {
        self.retransmitted = acknowledged;
        self.rescued = false;
    }

    /// `span` has been sent again.
    pub fn on_retransmission(&mut self, span: Span) {
        self.retransmitted = self.retransmitted.max(span.to);
    }

    /// The first position from `position` on that was not reported.
    pub fn skip_reported(&self, position: Sequence) -> Sequence {
        self.reported.around(position).map_or(position, |span| span.to)
    }

    /// Whether nothing from `position` on was reported.
    pub fn is_beyond(&self, position: Sequence) -> bool {
        self.reported.end().is_none_or(|end| end <= position)
    }

    /// SACKd: octets reported beyond the cumulative ACK.
    pub fn reported(&self) -> Octets {
        Octets(self.reported.iter().map(|span| span.octets().0).sum())
    }

    /// Everything unreported before this counts as lost: more than two segments beyond it have been reported
    /// (RFC 6675, IsLost: more than (DupThresh - 1) * SMSS octets, or DupThresh spans apart).
    pub fn lost_before(&self) -> Sequence {
        let mut beyond = Octets::ZERO;
        for (apart, span) in (1..).zip(self.reported.iter().rev()) {
            beyond += span.octets();
            if beyond.0 > (DUP_THRESH - 1) * self.mss.0 || apart >= DUP_THRESH {
                return span.from;
            }
        }
        Sequence::START
    }

    /// SetPipe: octets on their way between `acknowledged` and `highest`.
    pub fn pipe(&self, acknowledged: Sequence, highest: Sequence) -> Octets {
        let lost_before = self.lost_before();
        let mut pipe = 0;
        let mut hole = |from: Sequence, to: Sequence| {
            // Not lost: on its way since it was first sent. Sent again: on its way since then.
            pipe += to.since(from.max(lost_before)).0 + to.min(self.retransmitted).since(from).0;
        };
        let mut from = acknowledged;
        for span in self.reported.iter() {
            hole(from, span.from);
            from = span.to;
        }
        hole(from, highest);
        Octets(pipe)
    }

    /// NextSeg rule 1: the next lost octets that have not been sent again, a segment at most.
    pub fn next_lost(&self, acknowledged: Sequence) -> Option<Span> {
        let lost_before = self.lost_before();
        let from = self.skip_reported(self.retransmitted.max(acknowledged));
        if from >= lost_before {
            return None;
        }
        let hole_end =
            self.reported.iter().map(|span| span.from).find(|&start| start > from).unwrap_or(lost_before);
        Some(Span { from, to: hole_end.min(from + self.mss) })
    }

    /// NextSeg rule 3: the next octets not sent again with reported ones beyond them, lost or not, a segment at most.
    pub fn next_hole(&self, acknowledged: Sequence) -> Option<Span> {
        let from = self.skip_reported(self.retransmitted.max(acknowledged));
        let hole_end = self.reported.iter().map(|span| span.from).find(|&start| start > from)?;
        Some(Span { from, to: hole_end.min(from + self.mss) })
    }

    /// NextSeg rule 4: the last octets before `highest` that were not reported, a segment at most and once per
    /// recovery: nothing beyond them could tell that they are lost. HighRxt stays.
    pub fn rescue(&mut self, acknowledged: Sequence, highest: Sequence) -> Option<Span> {
        let last = self.reported.iter().next_back().filter(|span| span.to >= highest);
        let to = last.map_or(highest, |span| span.from);
        let begin = self.reported.iter().rev().map(|span| span.to).find(|&end| end <= to);
        let begin = begin.unwrap_or(acknowledged).max(acknowledged);
        if self.rescued || begin >= to {
            return None;
        }
        self.rescued = true;
        Some(Span { from: begin.max(Sequence(to.0.saturating_sub(self.mss.0))), to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: u64, to: u64) -> Span {
        Span { from: Sequence(from), to: Sequence(to) }
    }

    /// Segments of 100 octets, 0 to 1000 sent; those from 100, 400 and 500 lost, all others reported.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::new(Octets(100));
        board.on_acknowledgment(Sequence(100), &[span(600, 1000), span(200, 400)]);
        board.begin_recovery(Sequence(100));
        board
    }

    #[test]
    fn what_more_than_two_segments_have_overtaken_is_lost() {
        let mut board = Scoreboard::new(Octets(100));
        board.on_acknowledgment(Sequence(100), &[span(200, 400)]);
        assert_eq!(board.lost_before(), Sequence(0), "200 octets are two segments, not more");
        board.on_acknowledgment(Sequence(100), &[span(400, 401)]);
        assert_eq!(board.lost_before(), Sequence(200));
    }

    #[test]
    fn three_spans_apart_count_as_well_as_three_segments() {
        let mut board = Scoreboard::new(Octets(100));
        board.on_acknowledgment(Sequence(0), &[span(100, 150), span(200, 250)]);
        assert_eq!(board.lost_before(), Sequence(0));
        board.on_acknowledgment(Sequence(0), &[span(300, 350)]);
        assert_eq!(board.lost_before(), Sequence(100));
    }

    #[test]
    fn holes_are_filled_in_order_and_each_once() {
        let mut board = board();
        for expected in [span(100, 200), span(400, 500), span(500, 600)] {
            let next = board.next_lost(Sequence(100)).expect("a hole");
            assert_eq!(next, expected);
            board.on_retransmission(next);
        }
        assert_eq!(board.next_lost(Sequence(100)), None);
    }

    #[test]
    fn the_pipe_holds_what_is_neither_reported_nor_lost_and_what_was_sent_again() {
        let mut board = board();
        assert_eq!(board.pipe(Sequence(100), Sequence(1000)), Octets(0));
        board.on_retransmission(span(100, 200));
        assert_eq!(board.pipe(Sequence(100), Sequence(1000)), Octets(100));
        // 300 octets of new data beyond the last report.
        assert_eq!(board.pipe(Sequence(100), Sequence(1300)), Octets(400));
    }

    #[test]
    fn a_hole_that_is_not_yet_lost_is_filled_when_there_is_nothing_better_to_do() {
        let mut board = Scoreboard::new(Octets(100));
        board.on_acknowledgment(Sequence(100), &[span(200, 400), span(500, 600)]);
        board.begin_recovery(Sequence(100));
        board.on_retransmission(span(100, 200));
        // A segment beyond 400 to 500 has been reported, and it takes more than two for it to count as lost.
        assert_eq!(board.next_lost(Sequence(100)), None);
        assert_eq!(board.next_hole(Sequence(100)), Some(span(400, 500)));
        board.on_retransmission(span(400, 500));
        assert_eq!(board.next_hole(Sequence(100)), None);
    }

    #[test]
    fn the_rescue_is_the_last_segment_that_was_not_reported_once_per_recovery() {
        let mut board = board();
        assert_eq!(board.rescue(Sequence(100), Sequence(1250)), Some(span(1150, 1250)));
        assert_eq!(board.rescue(Sequence(100), Sequence(1250)), None);
        board.begin_recovery(Sequence(100));
        assert_eq!(
            board.rescue(Sequence(100), Sequence(1030)),
            Some(span(1000, 1030)),
            "not what was reported"
        );
        board.begin_recovery(Sequence(100));
        assert_eq!(board.rescue(Sequence(100), Sequence(1000)), Some(span(500, 600)));
        board.begin_recovery(Sequence(100));
        board.on_acknowledgment(Sequence(1000), &[]);
        assert_eq!(board.rescue(Sequence(1000), Sequence(1000)), None);
    }

    #[test]
    fn a_report_is_news_once() {
        let mut board = Scoreboard::new(Octets(100));
        assert!(!board.on_acknowledgment(Sequence(100), &[]));
        assert!(board.on_acknowledgment(Sequence(100), &[span(300, 400)]));
        assert!(!board.on_acknowledgment(Sequence(100), &[span(300, 400)]));
        assert!(board.on_acknowledgment(Sequence(100), &[span(300, 401)]), "an octet more");
        assert!(board.on_acknowledgment(Sequence(100), &[span(600, 700), span(300, 401)]));
        assert!(!board.on_acknowledgment(Sequence(500), &[span(300, 401)]), "below what is acknowledged");
    }

    #[test]
    fn reports_below_the_cumulative_ack_are_forgotten() {
        let mut board = board();
        board.on_acknowledgment(Sequence(700), &[]);
        assert_eq!(board.skip_reported(Sequence(700)), Sequence(1000));
        assert_eq!(board.skip_reported(Sequence(600)), Sequence(600));
        board.clear();
        assert_eq!(board.skip_reported(Sequence(700)), Sequence(700));
    }
}
