//! RACK-TLP (RFC 8985): losses found by time, and a probe for those that nothing would tell of.
//!
//! A segment is lost if one that left later has been delivered, and a round trip and a window for reordering have
//! passed since it left. That finds segments that were sent again and lost again, too. Where nothing comes back for two
//! round trips, a probe is sent, whose ACK tells of losses at the tail; the retransmission timer is left for what is
//! lost altogether.
//!
//! No receiver here sends DSACK (RFC 2883), and on a VC nothing overtakes, so the reordering window is never widened;
//! a probe that was needless is known by its duplicate ACK (section 7.4.2, third case).

use std::collections::VecDeque;

use cellrate_proto::{Duration, Octets, Time};

use super::scoreboard::Scoreboard;
use super::sequence::{Sequence, Span};

/// Segments reported beyond a hole that make the reordering window nothing (section 6.2, step 4).
const DUP_THRESH: usize = 3;
/// TLP.max_ack_delay: a delayed ACK comes so late at most (section 7.2).
const MAX_ACK_DELAY: Duration = Duration::from_ms(200);
/// PTO before a round trip is known (section 7.2).
const FIRST_PTO: Duration = Duration::from_secs(1);

/// The segments on their way, and what their times tell.
#[derive(Clone, Debug)]
pub struct Rack {
    /// All that were sent and are not cumulatively acknowledged, in the order of the stream.
    segments: VecDeque<Sent>,
    tally: Tally,
    /// RACK.xmit_ts and RACK.end_seq: of the segment that left last of all that were delivered.
    latest: Option<(Time, Sequence)>,
    /// RACK.rtt: its round trip.
    round_trip: Duration,
    /// RACK.min_RTT, over the whole connection.
    shortest: Option<Duration>,
    /// RACK.fack: the end of the furthest segment that was delivered.
    furthest: Sequence,
    /// RACK.reordering_seen.
    reordering: bool,
    /// When a segment that is overdue counts as lost.
    timer: Time,
    probe: Probe,
    /// Whether a round trip has been measured since the last probe left.
    measured: bool,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    span: Span,
    at: Time,
    again: bool,
    lost: bool,
    reported: bool,
}

/// How many of the segments are so, and the octets of those that are on their way.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    reported: usize,
    lost: usize,
    again: usize,
    pipe: u64,
}

impl Tally {
    fn enter(&mut self, sent: &Sent) {
        self.reported += usize::from(sent.reported);
        self.lost += usize::from(sent.lost);
        self.again += usize::from(sent.again);
        self.pipe += sent.in_flight();
    }

    fn leave(&mut self, sent: &Sent) {
        self.reported -= usize::from(sent.reported);
        self.lost -= usize::from(sent.lost);
        self.again -= usize::from(sent.again);
        self.pipe -= sent.in_flight();
    }
}

impl Sent {
    fn in_flight(&self) -> u64 {
        if self.reported || self.lost { 0 } else { self.span.octets().0 }
    }
}

/// The tail loss probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    None,
    /// It is due at this instant.
    Scheduled(Time),
    /// It is to leave now.
    Due,
    /// On its way: TLP.end_seq, and TLP.is_retrans.
    Sent {
        end: Sequence,
        again: bool,
    },
}

/// The consequence of an ACK for a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probed {
    /// Nothing is known of one.
    Nothing,
    /// It has repaired a loss that the window has to answer for.
    Repaired,
}

impl Rack {
    /// One of a connection that has sent nothing.
    pub fn new() -> Rack {
        Rack {
            segments: VecDeque::new(),
            tally: Tally::default(),
            latest: None,
            round_trip: Duration::ZERO,
            shortest: None,
            furthest: Sequence::START,
            reordering: false,
            timer: Time::NEVER,
            probe: Probe::None,
            measured: true,
        }
    }

    /// `span` leaves at `now`, for the first time or `again`. Segments that it covers in part stay with their rest.
    pub fn on_sent(&mut self, now: Time, span: Span, again: bool) {
        let sent = Sent { span, at: now, again, lost: false, reported: false };
        let first = self.segments.partition_point(|other| other.span.to <= span.from);
        let mut parts = [None, Some(sent), None];
        while let Some(&other) = self.segments.get(first).filter(|other| other.span.from < span.to) {
            self.tally.leave(&other);
            self.segments.remove(first);
            if other.span.from < span.from {
                parts[0] = Some(Sent { span: Span { to: span.from, ..other.span }, ..other });
            }
            if other.span.to > span.to {
                parts[2] = Some(Sent { span: Span { from: span.to, ..other.span }, ..other });
            }
        }
        for part in parts.into_iter().flatten().rev() {
            self.tally.enter(&part);
            self.segments.insert(first, part);
        }
    }

    /// An ACK of everything before `next` has come at `now`, with the reports that are in `board`. `is_old` says of the
    /// instant at which a segment was sent again whether the ACK answers an earlier one, by its timestamps (section
    /// 6.2, steps 1 to 3). Of segments beyond a hole they say nothing: the echo is that of the segment which advanced
    /// the left edge last (RFC 7323, section 4.3), older than any probe. Linux takes the shortest round trip alone.
    pub fn on_acknowledgment(
        &mut self,
        now: Time,
        next: Sequence,
        board: &Scoreboard,
        is_old: impl Fn(Time) -> bool,
    ) {
        while let Some(first) = self.segments.pop_front() {
            self.tally.leave(&first);
            if first.span.to > next {
                let from = first.span.from.max(next);
                let rest = Sent { span: Span { from, ..first.span }, ..first };
                self.tally.enter(&rest);
                self.segments.push_front(rest);
                break;
            }
            if !first.reported {
                self.on_delivered(now, first, &is_old);
            }
        }
        for place in 0..self.segments.len() {
            let segment = self.segments[place];
            if board.is_beyond(segment.span.from) {
                break;
            }
            if !segment.reported && board.skip_reported(segment.span.from) >= segment.span.to {
                self.tally.leave(&segment);
                self.segments[place] = Sent { reported: true, lost: false, ..segment };
                self.tally.enter(&self.segments[place]);
                self.on_delivered(now, segment, |_| false);
            }
        }
    }

    fn on_delivered(&mut self, now: Time, segment: Sent, is_old: impl Fn(Time) -> bool) {
        let end = segment.span.to;
        if end < self.furthest && !segment.again {
            self.reordering = true;
        }
        self.furthest = self.furthest.max(end);
        let round_trip = now.since(segment.at);
        // An ACK sooner than any round trip answers what was sent before.
        if segment.again
            && (is_old(segment.at) || self.shortest.is_some_and(|shortest| round_trip < shortest))
        {
            return;
        }
        if !segment.again {
            self.shortest = Some(self.shortest.map_or(round_trip, |shortest| shortest.min(round_trip)));
        }
        self.measured = true;
        self.round_trip = round_trip;
        self.latest = self.latest.max(Some((segment.at, end)));
    }

    /// Segments that are overdue are lost from now on; sets the timer for those that soon will be. Whether any is lost
    /// (section 6.2, steps 4 and 5). `smoothed` is SRTT.
    pub fn detect(&mut self, now: Time, in_recovery: bool, smoothed: Option<Duration>) -> bool {
        self.timer = Time::NEVER;
        // Segments that leave in order overtake each other only where one is lost.
        let Some(latest) = self.latest.filter(|_| self.tally.reported + self.tally.again > 0) else {
            return false;
        };
        let overdue = self.round_trip + self.reordering_window(in_recovery, smoothed);
        let (mut any, mut timer) = (false, Time::NEVER);
        for segment in self.segments.iter_mut().filter(|segment| !segment.reported && !segment.lost) {
            if (segment.at, segment.span.to) >= latest {
                continue;
            }
            let due = segment.at.saturating_add(overdue);
            if due <= now {
                self.tally.leave(segment);
                segment.lost = true;
                self.tally.enter(segment);
                any = true;
            } else {
                // The last of them, as the RFC has it: one alarm finds all that are lost.
                timer = if timer == Time::NEVER { due } else { timer.max(due) };
            }
        }
        self.timer = timer;
        any
    }

    fn reordering_window(&self, in_recovery: bool, smoothed: Option<Duration>) -> Duration {
        if !self.reordering && (in_recovery || self.tally.reported >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let quarter = Duration::from_ps(self.shortest.map_or(0, |shortest| shortest.as_ps() / 4));
        smoothed.map_or(quarter, |smoothed| quarter.min(smoothed))
    }

    /// The retransmission timer has expired: the first segment is lost, and all that are overdue (section 6.3).
    pub fn on_timeout(&mut self, now: Time, smoothed: Option<Duration>) {
        let overdue = self.round_trip + self.reordering_window(true, smoothed);
        for (place, segment) in self.segments.iter_mut().enumerate() {
            self.tally.leave(segment);
            segment.lost |= !segment.reported && (place == 0 || segment.at.saturating_add(overdue) <= now);
            self.tally.enter(segment);
        }
        self.timer = Time::NEVER;
        self.probe = Probe::None;
    }

    /// Octets on their way: neither reported nor lost.
    pub fn pipe(&self) -> Octets {
        Octets(self.tally.pipe)
    }

    /// The first segment that is lost and was not sent again since.
    pub fn next_lost(&self) -> Option<Span> {
        self.segments.iter().find(|segment| segment.lost).map(|segment| segment.span)
    }

    /// When an overdue segment counts as lost, or a probe is due.
    pub fn next_timer(&self) -> Time {
        match self.probe {
            Probe::Scheduled(at) => self.timer.min(at),
            _ => self.timer,
        }
    }

    /// Whether it is time to [look for](Rack::detect) losses.
    pub fn is_overdue(&self, now: Time) -> bool {
        self.timer <= now
    }

    /// Something new has been sent or acknowledged at `now`: with nothing lost or reported, a probe is scheduled, not
    /// later than the time-out at `expires` (section 7.2).
    pub fn schedule_probe(&mut self, now: Time, smoothed: Option<Duration>, expires: Time, alone: bool) {
        if matches!(self.probe, Probe::Sent { .. }) {
            return;
        }
        self.probe = Probe::None;
        let holes = self.tally.reported + self.tally.lost;
        if self.segments.is_empty() || holes > 0 || !self.measured {
            return;
        }
        let pto = match smoothed {
            None => FIRST_PTO,
            Some(smoothed) => smoothed * 2 + if alone { MAX_ACK_DELAY } else { Duration::ZERO },
        };
        self.probe = Probe::Scheduled(now.saturating_add(pto).min(expires));
    }

    /// A recovery or a report of a segment takes the place of a probe that has not left.
    pub fn drop_probe(&mut self) {
        if !matches!(self.probe, Probe::Sent { .. }) {
            self.probe = Probe::None;
        }
    }

    /// A recovery begins: no probe tells anything (section 7.1).
    pub fn forget_probe(&mut self) {
        self.probe = Probe::None;
    }

    /// Time has come to `now`: whether a probe is due.
    pub fn probe_falls_due(&mut self, now: Time) -> bool {
        let due = matches!(self.probe, Probe::Scheduled(at) if at <= now);
        if due {
            self.probe = Probe::Due;
        }
        due
    }

    /// Whether a probe is to leave now.
    pub fn owes_probe(&self) -> bool {
        self.probe == Probe::Due
    }

    /// The segment that a probe sends again where nothing new may be sent: the last one.
    pub fn last(&self) -> Option<Span> {
        self.segments.back().map(|segment| segment.span)
    }

    /// A probe has left, which ends at `end` and is sent `again` or new.
    pub fn on_probe_sent(&mut self, end: Sequence, again: bool) {
        self.probe = Probe::Sent { end, again };
        self.measured = false;
    }

    /// An ACK of everything before `next` for the probe that is on its way; `bare`: it acknowledges nothing new and
    /// reports nothing (section 7.4.2).
    pub fn on_answer_to_probe(&mut self, next: Sequence, bare: bool) -> Probed {
        let Probe::Sent { end, again } = self.probe else { return Probed::Nothing };
        if next < end {
            return Probed::Nothing;
        }
        let repaired = again && next > end;
        if !again || repaired || bare {
            self.probe = Probe::None;
        }
        if repaired { Probed::Repaired } else { Probed::Nothing }
    }
}
