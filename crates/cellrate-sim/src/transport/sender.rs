//! The sending end: what goes out when, what is lost, and what is done about it.
//!
//! ```text
//!             three duplicate ACKs (Tahoe: stays open, sends from una again)
//!    Open ---------------------------------------------------------------------> Recovering(recover)
//!      ^                                                                            |        |
//!      |   new ACK (Reno); ACK of all before `recover` (NewReno, SACK)              |        | partial ACK:
//!      +----------------------------------------------------------------------------+        | send again, stay
//!      ^   time-out: cwnd is one segment, everything from una on is sent again      |        v
//!      +----------------------------------------------------------------------------+--------+
//! ```
//!
//! With proportional rate reduction a mark makes an open sender Reducing, until everything before `recover` and more is
//! acknowledged. With RACK-TLP the sender is Repairing after a time-out, until everything before `recover` is
//! acknowledged: what is lost is sent again as cwnd grows and the pipe allows.

use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::{IdleRestart, PartialAckTimer, RateReduction, Recovery, TcpConfig};

use super::congestion::CongestionWindow;
use super::hystart::Sample;
use super::pacing::Pacing;
use super::prr::Prr;
use super::rack::{Probed, Rack};
use super::rto::RtoEstimator;
use super::scoreboard::Scoreboard;
use super::segment::{Acknowledgment, Flags, Heading};
use super::sequence::{Sequence, Span};
use super::usage::Usage;

/// Duplicate ACKs that tell of a loss.
const DUPLICATES: u32 = 3;

/// The sender of a connection.
#[derive(Clone, Debug)]
pub struct Sender {
    mss: Octets,
    recovery: Recovery,
    limited_transmit: bool,
    partial_ack_timer: PartialAckTimer,
    start: Time,
    /// The end of the application's data.
    end: Sequence,
    /// From this instant on nothing is sent for the first time.
    closes: Time,
    /// Everything before this is acknowledged.
    una: Sequence,
    /// Sequence number to send next, were all in order.
    next: Sequence,
    /// Everything before this was sent, once at least.
    highest: Sequence,
    offered: Octets,
    congestion: CongestionWindow,
    rto: RtoEstimator,
    timer: Time,
    /// The end of the segment being timed, and when it was sent.
    timed: Option<(Sequence, Time)>,
    /// With timestamps every ACK of something new measures a round trip, and none is timed.
    timestamps: bool,
    ecn: bool,
    /// Marks before this tell nothing new: the window has been reduced since (RFC 3168, section 6.1.2).
    reduced: Option<Sequence>,
    /// Whether the next new segment says so.
    says_reduced: bool,
    /// The heading of the segment that left last.
    heading: Heading,
    duplicates: u32,
    phase: Phase,
    /// End of the octets that were outstanding at the last loss: duplicate ACKs before it tell nothing new (RFC 6582,
    /// step 1; RFC 6675, section 5.1).
    guard: Option<Sequence>,
    /// The segment that the timer last had sent again begins here.
    timed_out: Option<Sequence>,
    /// A segment to send again at once, whatever the window says.
    again: Option<Sequence>,
    scoreboard: Scoreboard,
    rack: Option<Box<Rack>>,
    /// The bound of proportional rate reduction, and its state in a recovery.
    prr: Option<(RateReduction, Prr)>,
    /// Octets that the last ACK has told of, cumulatively or selectively.
    delivered: Octets,
    pacing: Option<Box<Pacing>>,
    usage: Usage,
    /// Whether cwnd grows only while it is in use.
    window_validation: bool,
    idle_restart: IdleRestart,
    statistics: SenderStatistics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Until everything before `recover` is acknowledged; `partial` once a partial ACK has come.
    Recovering {
        recover: Sequence,
        partial: bool,
    },
    /// After a mark, with proportional rate reduction, until more than what is before `recover` is acknowledged.
    Reducing {
        recover: Sequence,
    },
    /// After a time-out, with RACK, until everything before `recover` is acknowledged.
    Repairing {
        recover: Sequence,
    },
}

/// Statistics of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStatistics {
    /// Segments sent, again or for the first time.
    pub segments: u64,
    /// Octets of payload in them.
    pub octets: Octets,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Octets of payload in those.
    pub retransmitted_octets: Octets,
    /// Times that the timer expired.
    pub timeouts: u64,
    /// Times that duplicate ACKs told of a loss and were heeded.
    pub fast_retransmits: u64,
    /// Times that marks had the window reduced.
    pub reductions: u64,
    /// Tail loss probes sent.
    pub probes: u64,
    /// When the last octet of a sized transfer was acknowledged.
    pub completed: Option<Time>,
}

impl SenderStatistics {
    /// Adds the statistics of a connection after this one.
    pub fn add(&mut self, next: &SenderStatistics) {
        self.segments += next.segments;
        self.octets += next.octets;
        self.retransmitted += next.retransmitted;
        self.retransmitted_octets += next.retransmitted_octets;
        self.timeouts += next.timeouts;
        self.fast_retransmits += next.fast_retransmits;
        self.reductions += next.reductions;
        self.probes += next.probes;
        self.completed = next.completed;
    }
}

impl Sender {
    /// One with `transfer` octets to send from `start` on, or without end.
    pub fn new(config: &TcpConfig, transfer: Option<Octets>, start: Time) -> Sender {
        Sender {
            mss: config.payload(),
            recovery: config.recovery,
            limited_transmit: config.limited_transmit,
            partial_ack_timer: config.partial_ack_timer,
            start,
            end: transfer.map_or(Sequence::END, |octets| Sequence::START + octets),
            closes: Time::NEVER,
            una: Sequence::START,
            next: Sequence::START,
            highest: Sequence::START,
            offered: config.offered_window(),
            congestion: CongestionWindow::new(config),
            rto: RtoEstimator::new(config.timeout).by(config.estimator),
            timer: start,
            timed: None,
            timestamps: config.timestamps,
            ecn: config.ecn,
            reduced: None,
            says_reduced: false,
            heading: Heading::default(),
            duplicates: 0,
            phase: Phase::Open,
            guard: None,
            timed_out: None,
            again: None,
            scoreboard: Scoreboard::new(config.payload()),
            rack: config.rack_tlp.then(|| Box::new(Rack::new())),
            prr: config.rate_reduction.map(|bound| (bound, Prr::default())),
            delivered: Octets::ZERO,
            pacing: config.pacing.then(Box::default),
            usage: Usage::default(),
            window_validation: config.window_validation,
            idle_restart: config.idle_restart,
            statistics: SenderStatistics::default(),
        }
    }

    /// The sender whose application drops at `closes` what it has not sent by then.
    pub fn until(self, closes: Time) -> Sender {
        Sender { closes, ..self }
    }

    /// One whose data are [supplied](Sender::supply) in the course of time.
    pub fn supplied(config: &TcpConfig, now: Time) -> Sender {
        Sender { timer: Time::NEVER, ..Sender::new(config, Some(Octets::ZERO), now) }
    }

    /// The application has so much more to send.
    pub fn supply(&mut self, octets: Octets) {
        self.end = self.end + octets;
    }

    /// Takes the first round trip that is known: the segment that opened the connection went at `sent` and was answered
    /// at `now`.
    pub fn on_round_trip(&mut self, sent: Time, now: Time) {
        self.rto.on_measurement(sent, now);
    }

    /// Notes that the segment that opened the connection had to be sent again: the first window is one segment (RFC
    /// 5681, section 3.1), the first time-out at least 3 s (RFC 6298, rule 5.7).
    pub fn on_opening_lost(&mut self) {
        self.congestion.collapse();
        self.rto.on_opening_lost();
    }

    /// An ACK has come whose heading says nothing.
    pub fn on_acknowledgment(&mut self, now: Time, ack: &Acknowledgment) {
        self.on_answer(now, ack, Heading::default());
    }

    /// An ACK has come, with this heading.
    pub fn on_answer(&mut self, now: Time, ack: &Acknowledgment, heading: Heading) {
        if ack.next < self.una || ack.next > self.highest {
            return;
        }
        self.leave_out_unused(now);
        if let Some(echo) = heading.echo().filter(|_| self.timestamps && ack.next > self.una) {
            let samples = self.outstanding().0.div_ceil(2 * self.mss.0);
            let round_trip = self.rto.on_echo(echo, now, samples, [ack.next, self.highest]);
            let smoothed = self.rto.smoothed().unwrap_or(round_trip);
            let sample = Sample { now, round_trip, smoothed, acknowledged: ack.next, sent: self.highest };
            let recovers = matches!(self.phase, Phase::Recovering { .. } | Phase::Reducing { .. });
            self.congestion.on_round_trip(&sample, recovers);
        }
        let echo = self.ecn && heading.flags.has(Flags::ECE);
        if self.ecn {
            self.congestion.on_echo(ack.next, ack.next.since(self.una), echo, self.highest);
        }
        self.close(now);
        let same_window = ack.window == self.offered;
        self.offered = ack.window;
        let advances = ack.next > self.una;
        let known = if self.prr.is_some() { self.scoreboard.reported() } else { Octets::ZERO };
        let lost_before = if self.prr.is_some() { self.scoreboard.lost_before() } else { Sequence::START };
        // With SACK a duplicate ACK reports something new (RFC 6675, section 2); others answer what came twice.
        let tells =
            self.recovery != Recovery::Sack || self.scoreboard.on_acknowledgment(ack.next, &ack.selective);
        if self.prr.is_some() {
            let told = ack.next.since(self.una) + self.scoreboard.reported();
            self.delivered = Octets(told.0.saturating_sub(known.0));
        }
        let probed = self.on_times(now, ack, heading);
        if advances {
            self.on_progress(now, ack.next, echo);
        } else if self.highest > self.una && same_window && tells {
            self.on_duplicate(now);
        }
        if probed == Probed::Repaired && self.phase == Phase::Open {
            // The probe's own loss has to be answered for (RFC 8985, section 7.4.2, second case).
            self.congestion.on_loss(self.outstanding());
            self.congestion.settle(Octets(u64::MAX));
            self.note_reduction();
        }
        let finds = self.detect_losses(now);
        self.regulate(advances && !finds && self.scoreboard.lost_before() == lost_before);
        self.plan_probe(now, advances);
        if echo && self.phase == Phase::Open && self.reduced.is_none_or(|reduced| ack.next > reduced) {
            self.statistics.reductions += 1;
            self.congestion.on_mark(self.outstanding());
            self.note_reduction();
            if self.prr.is_some() {
                self.begin_reduction();
                self.phase = Phase::Reducing { recover: self.highest };
                self.regulate(advances);
            } else {
                self.congestion.fall();
            }
        }
    }

    /// RACK learns which segments have been delivered; the consequence for a probe.
    fn on_times(&mut self, now: Time, ack: &Acknowledgment, heading: Heading) -> Probed {
        let Some(rack) = &mut self.rack else { return Probed::Nothing };
        let (rto, echo) = (&self.rto, heading.echo().filter(|_| self.timestamps));
        // An earlier tick than that at which it was sent again, modulo 2^32.
        let is_old = |sent| echo.is_some_and(|echo| (echo.wrapping_sub(rto.clock(sent)) as i32) < 0);
        rack.on_acknowledgment(now, ack.next, &self.scoreboard, is_old);
        rack.on_answer_to_probe(ack.next, ack.next == self.una && ack.selective.is_empty())
    }

    /// RACK looks for losses, and a recovery begins with the first one. Whether any was found.
    fn detect_losses(&mut self, now: Time) -> bool {
        let Some(rack) = &mut self.rack else { return false };
        let whole = matches!(self.phase, Phase::Open | Phase::Reducing { .. });
        let finds = rack.detect(now, !whole, self.rto.smoothed());
        if finds && whole && self.is_news() {
            self.fast_retransmit(now);
        }
        finds
    }

    /// Proportional rate reduction begins with all that is outstanding but for what had been reported before.
    fn begin_reduction(&mut self) {
        let flight = self.outstanding() + self.delivered;
        let flight = Octets(flight.0.saturating_sub(self.scoreboard.reported().0));
        self.prr = self.prr.map(|(bound, _)| (bound, Prr::begin(flight)));
    }

    /// In a recovery with proportional rate reduction, and after marks, sets cwnd to what is on its way and what may
    /// leave for what the last ACK has told of.
    fn regulate(&mut self, safe: bool) {
        let reduces = matches!(self.phase, Phase::Recovering { .. } | Phase::Reducing { .. });
        let Some((bound, mut prr)) = self.prr.filter(|_| reduces) else { return };
        let delivered = std::mem::take(&mut self.delivered);
        if delivered > Octets::ZERO || !prr.has_sent() {
            let pipe = self.pipe();
            let parts = [pipe, self.congestion.ssthresh(), self.mss];
            let count = prr.on_delivered(bound, delivered, parts, safe);
            self.prr = Some((bound, prr));
            self.congestion.regulate(pipe + count);
        }
    }

    /// A probe is planned anew when an ACK acknowledges something, and gives way to what finds losses otherwise.
    fn plan_probe(&mut self, now: Time, advances: bool) {
        let alone = self.outstanding() <= self.mss;
        let Some(rack) = &mut self.rack else { return };
        match self.phase {
            Phase::Open | Phase::Reducing { .. } if advances => {
                rack.schedule_probe(now, self.rto.smoothed(), self.timer, alone);
            }
            Phase::Open | Phase::Reducing { .. } if self.scoreboard.is_beyond(self.una) => {}
            _ => rack.drop_probe(),
        }
    }

    /// Octets on their way, by the scoreboard or by RACK.
    fn pipe(&self) -> Octets {
        match &self.rack {
            Some(rack) => rack.pipe(),
            None => self.scoreboard.pipe(self.una, self.highest),
        }
    }

    /// The window has been reduced, for whatever reason.
    fn note_reduction(&mut self) {
        self.reduced = Some(self.highest);
        self.says_reduced = self.ecn;
    }

    fn on_progress(&mut self, now: Time, acknowledged: Sequence, echo: bool) {
        let acked = acknowledged.since(self.una);
        self.una = acknowledged;
        self.next = self.next.max(acknowledged);
        self.duplicates = 0;
        if let Some((end, sent)) = self.timed
            && end <= acknowledged
        {
            self.rto.on_measurement(sent, now);
            self.timed = None;
        }
        let mut restart = true;
        match self.phase {
            // With ECE it does not grow (RFC 3168, section 6.1.2).
            Phase::Open if echo => {}
            Phase::Open => self.grow(now, acked),
            Phase::Reducing { recover } => {
                // The segment with CWR is beyond it, and has come.
                if acknowledged > recover {
                    self.congestion.settle(Octets(u64::MAX));
                    self.phase = Phase::Open;
                }
            }
            Phase::Recovering { recover, partial } => {
                if self.recovery == Recovery::Reno || acknowledged >= recover {
                    // NewReno's first way (RFC 6582, step 3): no burst when little is left on its way.
                    let limit = match self.recovery {
                        Recovery::NewReno => self.outstanding().max(self.mss) + self.mss,
                        _ => Octets(u64::MAX),
                    };
                    self.congestion.settle(limit);
                    self.phase = Phase::Open;
                } else {
                    if self.recovery == Recovery::NewReno {
                        self.again = Some(acknowledged);
                        self.congestion.deflate(acked);
                        restart = !partial || self.partial_ack_timer == PartialAckTimer::Every;
                    }
                    self.phase = Phase::Recovering { recover, partial: true };
                }
            }
            Phase::Repairing { recover } => {
                self.grow(now, acked);
                if acknowledged >= recover {
                    self.phase = Phase::Open;
                }
            }
        }
        if self.una == self.highest {
            self.timer = Time::NEVER;
        } else if restart {
            self.timer = self.rto.expires(now);
        }
        if self.una == self.end {
            self.statistics.completed = Some(now);
        }
    }

    /// cwnd grows with an ACK of `acked` octets, if it may.
    fn grow(&mut self, now: Time, acked: Octets) {
        let (cwnd, starts) = (self.congestion.window(), self.congestion.is_slow_start());
        if !self.window_validation || self.usage.lets_grow(cwnd, starts) {
            let round_trip = self.rto.smoothed().unwrap_or(Duration::ZERO);
            self.congestion.on_acknowledged(now, round_trip, acked);
        }
    }

    /// Whether another segment would be more than cwnd allows.
    fn is_full(&self) -> bool {
        let used = match (self.phase, self.recovery) {
            (Phase::Open, _) => self.next.since(self.una),
            (_, Recovery::Sack) => self.pipe(),
            _ => self.outstanding(),
        };
        used + self.mss > self.congestion.window()
    }

    /// Time has come to `now`. CUBIC leaves out for how long cwnd was not full, if pacing did not hold segments back.
    fn leave_out_unused(&mut self, now: Time) {
        let since = self.usage.see(now);
        let is_held = self.pacing.as_ref().is_some_and(|pacing| pacing.timer() != Time::NEVER);
        if !is_held && !self.is_full() {
            self.congestion.on_unused(now.since(since));
        }
    }

    /// If data is to leave at `now` when nothing is outstanding, the pause before it ends.
    fn resume(&mut self, now: Time) {
        if self.una == self.highest
            && self.end > self.highest
            && let Some(last) = self.usage.end_pause(now)
        {
            self.congestion.on_resumed(now, now.since(last), self.rto.timeout(), self.idle_restart);
        }
    }

    fn on_duplicate(&mut self, now: Time) {
        self.duplicates += 1;
        match (self.phase, self.recovery) {
            (Phase::Recovering { .. }, Recovery::Reno | Recovery::NewReno) => self.congestion.inflate(),
            (Phase::Recovering { .. } | Phase::Repairing { .. }, _) | (Phase::Open, Recovery::None) => {}
            // RACK compares times.
            (Phase::Open | Phase::Reducing { .. }, Recovery::Sack) if self.rack.is_some() => {}
            (Phase::Open | Phase::Reducing { .. }, Recovery::Sack) => {
                let lost = self.scoreboard.lost_before() > self.una;
                if (self.duplicates >= DUPLICATES || lost) && self.is_news() {
                    self.fast_retransmit(now);
                }
            }
            (Phase::Reducing { .. }, _) => {}
            (Phase::Open, Recovery::NewReno) => {
                if self.duplicates == DUPLICATES && self.is_news() {
                    self.fast_retransmit(now);
                }
            }
            (Phase::Open, Recovery::Tahoe | Recovery::Reno) => {
                if self.duplicates == DUPLICATES {
                    self.fast_retransmit(now);
                }
            }
        }
    }

    /// Whether duplicate ACKs tell of another loss than the last one. NewReno's have to be for octets beyond what was
    /// outstanding then, since those of the last segment sent again look like them; SACK tells them apart by its
    /// blocks.
    fn is_news(&self) -> bool {
        self.guard.is_none_or(|guard| match self.recovery {
            Recovery::Sack => self.una >= guard,
            _ => self.una > guard,
        })
    }

    fn fast_retransmit(&mut self, now: Time) {
        self.statistics.fast_retransmits += 1;
        let reduces = matches!(self.phase, Phase::Reducing { .. });
        if !reduces {
            // What limited transmit has let out does not count (RFC 5681, section 3.1); cwnd is without it.
            self.congestion.on_loss(self.outstanding());
        }
        self.timed = None;
        self.guard = Some(self.highest);
        self.note_reduction();
        if self.recovery == Recovery::Tahoe {
            self.congestion.collapse();
            self.next = self.una;
        } else {
            self.again = Some(self.una);
            self.phase = Phase::Recovering { recover: self.highest, partial: false };
            match self.recovery {
                Recovery::Sack => {
                    if !reduces {
                        self.congestion.settle(Octets(u64::MAX));
                        self.begin_reduction();
                    }
                    self.scoreboard.begin_recovery(self.una);
                    if let Some(rack) = &mut self.rack {
                        rack.forget_probe();
                    }
                }
                _ => self.congestion.begin_recovery(),
            }
        }
        self.timer = self.rto.expires(now);
    }

    /// When something is to be done: data is there, or the time-out is over.
    pub fn next_timer(&self) -> Time {
        let of_rack = self.rack.as_ref().map_or(Time::NEVER, |rack| rack.next_timer());
        let of_pacing = self.pacing.as_ref().map_or(Time::NEVER, |pacing| pacing.timer());
        self.timer.min(of_rack).min(of_pacing)
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        self.leave_out_unused(now);
        if let Some(pacing) = &mut self.pacing {
            pacing.on_timer(now);
        }
        if self.rack.as_ref().is_some_and(|rack| rack.is_overdue(now)) {
            self.detect_losses(now);
            self.regulate(false);
        }
        if self.rack.as_mut().is_some_and(|rack| rack.probe_falls_due(now)) {
            // The probe takes the place of a time-out at this very instant (RFC 8985, section 7.3).
            self.timer = self.rto.expires(now);
        }
        if self.timer > now {
            return;
        }
        self.timer = Time::NEVER;
        if self.una == self.highest {
            // The start, not a time-out.
            return;
        }
        self.statistics.timeouts += 1;
        // A segment that the timer has had sent before says nothing new (RFC 5681, section 3.1).
        let recovers = self.phase != Phase::Open && !self.congestion.reduces_again();
        if self.timed_out != Some(self.una) && !recovers {
            self.congestion.on_loss(self.in_flight());
        }
        self.timed_out = Some(self.una);
        self.congestion.on_timeout();
        self.note_reduction();
        self.rto.back_off();
        self.timed = None;
        self.duplicates = 0;
        self.guard = Some(self.highest);
        if let Some(rack) = &mut self.rack {
            rack.on_timeout(now, self.rto.smoothed());
            self.again = Some(self.una);
            self.phase = Phase::Repairing { recover: self.highest };
        } else {
            self.next = self.una;
            self.again = None;
            self.phase = Phase::Open;
            self.scoreboard.clear();
        }
        self.timer = self.rto.expires(now);
    }

    /// The next segment that may leave now.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Span> {
        if now < self.start {
            return None;
        }
        self.leave_out_unused(now);
        self.close(now);
        self.resume(now);
        let span = self.poll(now);
        self.usage.note(span.is_some(), self.is_full(), [self.una, self.highest]);
        span
    }

    fn poll(&mut self, now: Time) -> Option<Span> {
        if let Some(pacing) = &mut self.pacing
            && !pacing.allows(now)
        {
            return None;
        }
        if let Some(from) = self.again.take() {
            let to = (from + self.mss).min(self.highest);
            let lost = self.rack.as_ref().and_then(|rack| rack.next_lost());
            return Some(self.emit(now, lost.unwrap_or(Span { from, to })));
        }
        if let Some(span) = self.poll_probe(now) {
            return Some(span);
        }
        if let Phase::Reducing { .. } = self.phase {
            let room = self.pipe() + self.mss <= self.congestion.window();
            return if room { self.poll_new(now, self.una + self.offered) } else { None };
        }
        if self.recovery == Recovery::Sack && self.phase != Phase::Open {
            if self.pipe() + self.mss > self.congestion.window() {
                return None;
            }
            if let Some(rack) = &self.rack {
                return match rack.next_lost() {
                    Some(span) => Some(self.emit(now, span)),
                    None => self.poll_new(now, self.una + self.offered),
                };
            }
            if let Some(span) = self.scoreboard.next_lost(self.una) {
                return Some(self.emit(now, span));
            }
            if let Some(span) = self.poll_new(now, self.una + self.offered) {
                return Some(span);
            }
            if let Some(span) = self.scoreboard.next_hole(self.una) {
                return Some(self.emit(now, span));
            }
            let rescue = self.scoreboard.rescue(self.una, self.highest)?;
            return Some(self.emit_again(now, rescue));
        }
        let window = (self.congestion.window() + self.limited_transmit()).min(self.offered);
        self.poll_new(now, self.una + window)
    }

    /// The probe that is due: something new, whatever cwnd says, or the last segment again (RFC 8985, section 7.3).
    fn poll_probe(&mut self, now: Time) -> Option<Span> {
        let last = self.rack.as_ref().filter(|rack| rack.owes_probe())?.last()?;
        let new = self.poll_new(now, self.una + self.offered);
        let span = new.unwrap_or_else(|| self.emit(now, last));
        if let Some(rack) = &mut self.rack {
            rack.on_probe_sent(self.highest, new.is_none());
        }
        self.statistics.probes += 1;
        self.timer = self.rto.expires(now);
        Some(span)
    }

    /// Octets that the first duplicate ACKs let out beyond cwnd (RFC 3042): a segment each, none that was sent before.
    fn limited_transmit(&self) -> Octets {
        let heeds = self.limited_transmit && self.recovery != Recovery::None && self.phase == Phase::Open;
        if heeds && self.duplicates < DUPLICATES && self.next == self.highest {
            Octets(self.mss.0 * u64::from(self.duplicates))
        } else {
            Octets::ZERO
        }
    }

    /// The application's data end with what has been sent, if its time is over.
    fn close(&mut self, now: Time) {
        if now >= self.closes {
            self.end = self.end.min(self.highest);
        }
    }

    /// The segment at `next`, if it ends within the window.
    fn poll_new(&mut self, now: Time, window_end: Sequence) -> Option<Span> {
        let from = self.scoreboard.skip_reported(self.next);
        let to = (from + self.mss).min(self.end);
        if from == to || to > window_end {
            return None;
        }
        Some(self.emit(now, Span { from, to }))
    }

    fn emit(&mut self, now: Time, span: Span) -> Span {
        if span.from < self.highest {
            self.scoreboard.on_retransmission(span);
            self.emit_again(now, span)
        } else {
            if self.timed.is_none() && !self.timestamps {
                self.timed = Some((span.to, now));
            }
            self.count(now, span)
        }
    }

    fn emit_again(&mut self, now: Time, span: Span) -> Span {
        self.statistics.retransmitted += 1;
        self.statistics.retransmitted_octets += span.octets();
        // Karn: an ACK would not tell which of the two it answers.
        self.timed = None;
        self.count(now, span)
    }

    fn count(&mut self, now: Time, span: Span) -> Span {
        self.usage.on_sent(now);
        if self.timestamps || self.ecn {
            // What is sent again may not be marked (RFC 3168, section 6.1.5).
            let is_new = self.ecn && span.from >= self.highest;
            let flags = Flags::default()
                .with(Flags::STAMPED, self.timestamps)
                .with(Flags::ECT, is_new)
                .with(Flags::CWR, is_new && std::mem::take(&mut self.says_reduced));
            self.heading = Heading { flags, value: self.rto.clock(now), echo: 0 };
        }
        self.statistics.segments += 1;
        self.statistics.octets += span.octets();
        if let Some(pacing) = &mut self.pacing {
            let window = self.congestion.window().max(self.highest.since(self.una));
            pacing.on_sent(now, span.octets(), self.rto.smoothed(), window, self.congestion.starts());
        }
        let reduces = matches!(self.phase, Phase::Recovering { .. } | Phase::Reducing { .. });
        if let Some((_, prr)) = self.prr.as_mut().filter(|_| reduces) {
            prr.on_sent(span.octets());
        }
        let again = span.from < self.highest;
        if let Some(rack) = &mut self.rack {
            rack.on_sent(now, span, again);
        }
        if span.from >= self.next {
            self.next = span.to;
        }
        self.highest = self.highest.max(span.to);
        if self.timer == Time::NEVER {
            self.timer = self.rto.expires(now);
        }
        if !again {
            self.plan_probe(now, true);
        }
        span
    }

    /// FlightSize (RFC 5681, section 2): octets that were sent and are not acknowledged.
    fn outstanding(&self) -> Octets {
        self.highest.since(self.una)
    }

    /// Octets that may still be in the network when the timer expires, as far as this sender can tell.
    ///
    /// RFC 5681, equation 4, sets ssthresh to "no more than" half of FlightSize. In a recovery FlightSize is the wrong
    /// measure: most of it has arrived, and nothing but a cumulative ACK takes it out. Half of that would be more than
    /// the path holds; slow start would overrun it again, and the next recovery end in a time-out again, for ever.
    fn in_flight(&self) -> Octets {
        match (self.phase, self.recovery) {
            (Phase::Reducing { .. }, _) => self.pipe(),
            (Phase::Recovering { .. } | Phase::Repairing { .. }, Recovery::Sack) => self.pipe(),
            // Each duplicate ACK told of a segment that has left the network, and inflated cwnd by it.
            (Phase::Recovering { .. }, _) => self.congestion.without_inflation(self.outstanding()),
            // After a time-out everything beyond `next` counts as lost.
            (Phase::Open | Phase::Repairing { .. }, _) => self.next.since(self.una),
        }
    }

    /// Everything before this is acknowledged.
    pub fn una(&self) -> Sequence {
        self.una
    }

    /// The heading of the segment that was polled last.
    pub fn heading(&self) -> Heading {
        self.heading
    }

    /// The end of the data that the application has handed over.
    pub fn end(&self) -> Sequence {
        self.end
    }

    /// Octets acknowledged so far.
    pub fn acknowledged(&self) -> Octets {
        self.una.since(Sequence::START)
    }

    /// cwnd.
    pub fn window(&self) -> Octets {
        self.congestion.window()
    }

    /// DCTCP's estimate of the share of octets that meet congestion, with DCTCP.
    pub fn alpha(&self) -> Option<f64> {
        self.congestion.alpha()
    }

    /// ssthresh.
    pub fn ssthresh(&self) -> Octets {
        self.congestion.ssthresh()
    }

    /// The retransmission timer's estimates.
    pub fn rto(&self) -> &RtoEstimator {
        &self.rto
    }

    /// When the application hands over its data.
    pub fn start(&self) -> Time {
        self.start
    }

    /// Statistics of this sender.
    pub fn statistics(&self) -> &SenderStatistics {
        &self.statistics
    }
}

#[cfg(test)]
mod tests;
