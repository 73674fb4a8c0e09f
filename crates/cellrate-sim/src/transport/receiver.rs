//! The receiving end: puts the stream in order and acknowledges it.

use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::{CongestionControl, DelayedAck, Recovery, TcpConfig};

use super::segment::{Acknowledgment, Blocks, Flags, Heading, MAX_BLOCKS, MAX_BLOCKS_BESIDE_TIMESTAMPS};
use super::sequence::{Sequence, Span, Spans};

/// The receiver of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Everything before this has come and was read.
    next: Sequence,
    beyond: Spans,
    /// Starts of the spans beyond, the latest first: the order of SACK blocks.
    latest: Vec<Sequence>,
    window: Octets,
    selective: bool,
    delayed_ack: DelayedAck,
    /// Segments in order that no ACK has told of yet.
    unacknowledged: u32,
    timer: Time,
    /// ACKs to be sent now.
    due: u32,
    /// TS.Recent and Last.ACK.sent, with timestamps (RFC 7323, section 4.3).
    stamps: Option<Stamps>,
    echo: Echo,
    /// ACKs of what came before the mark changed, to be sent before the others: up to where, and whether with ECE.
    before: Option<(Sequence, bool)>,
    /// Whether the ACK that was polled last has ECE.
    says_echo: bool,
    /// Marked segments that have come.
    marked: u64,
}

/// The way in which ACKs tell of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Echo {
    /// Nothing.
    Nothing,
    /// ECE from a mark on until CWR comes (RFC 3168, section 6.1.3).
    UntilReduced(bool),
    /// ECE if what they acknowledge was marked (RFC 8257, section 3.2).
    Exactly(bool),
}

#[derive(Clone, Copy, Debug)]
struct Stamps {
    recent: u32,
    last_ack_sent: Sequence,
}

/// Segments in order until an ACK is sent (RFC 1122, 4.2.3.2).
const SEGMENTS_PER_ACK: u32 = 2;

impl Receiver {
    /// One that waits for the first octet.
    pub fn new(config: &TcpConfig) -> Receiver {
        Receiver {
            next: Sequence::START,
            beyond: Spans::default(),
            latest: Vec::new(),
            window: config.offered_window(),
            selective: config.recovery == Recovery::Sack,
            delayed_ack: config.delayed_ack,
            unacknowledged: 0,
            timer: Time::NEVER,
            due: 0,
            echo: match (config.ecn, config.congestion_control) {
                (false, _) => Echo::Nothing,
                (true, CongestionControl::Dctcp) => Echo::Exactly(false),
                (true, _) => Echo::UntilReduced(false),
            },
            before: None,
            says_echo: false,
            marked: 0,
            stamps: config.timestamps.then_some(Stamps { recent: 0, last_ack_sent: Sequence::START }),
        }
    }

    /// Octets that the application has read.
    pub fn delivered(&self) -> Octets {
        self.next.since(Sequence::START)
    }

    /// A segment has come, with this heading.
    pub fn on_segment(&mut self, now: Time, span: Span, heading: Heading) {
        if let (Some(stamps), Some(value)) = (&mut self.stamps, heading.value())
            && span.from <= stamps.last_ack_sent
        {
            // An old one cannot overtake a younger one on a VC, so TS.Recent never falls.
            stamps.recent = value;
        }
        let marked = heading.flags.has(Flags::CE);
        self.marked += u64::from(marked);
        let changes = match &mut self.echo {
            Echo::Nothing => false,
            Echo::UntilReduced(tells) => {
                *tells = marked || *tells && !heading.flags.has(Flags::CWR);
                false
            }
            Echo::Exactly(tells) => std::mem::replace(tells, marked) != marked,
        };
        if changes && self.unacknowledged > 0 {
            self.before = Some((self.next, !marked));
            self.unacknowledged = 0;
        }
        self.on_data(now, span);
        if changes && self.unacknowledged > 0 {
            self.acknowledge();
        }
    }

    /// SYN has come, with this heading.
    pub fn on_opening(&mut self, heading: Heading) {
        if let (Some(stamps), Some(value)) = (&mut self.stamps, heading.value()) {
            stamps.recent = value;
        }
    }

    /// A segment has come whose heading says nothing.
    pub fn on_data(&mut self, now: Time, span: Span) {
        let in_order = span.from <= self.next && span.to > self.next;
        let filled_a_hole = in_order && !self.beyond.is_empty();
        if in_order {
            self.next = span.to;
            if let Some(joined) = self.beyond.around(self.next) {
                self.next = joined.to;
            }
            self.beyond.remove_before(self.next);
            self.unacknowledged += 1;
        } else if span.to > self.next {
            let whole = self.beyond.insert(span);
            if self.selective {
                self.latest.retain(|&start| start < whole.from || start >= whole.to);
                self.latest.insert(0, whole.from);
            }
        }
        let at_once = !in_order
            || filled_a_hole
            || self.delayed_ack == DelayedAck::EverySegment
            || self.unacknowledged >= SEGMENTS_PER_ACK;
        if at_once {
            self.acknowledge();
        } else if self.timer == Time::NEVER {
            self.timer = match self.delayed_ack {
                DelayedAck::Heartbeat(period) => next_beat(now, period),
                DelayedAck::Timer(span) => now.saturating_add(span),
                DelayedAck::TimerOnTicks { timer, ticks } => first_tick(now.saturating_add(timer), ticks),
                DelayedAck::EverySegment => Time::NEVER,
            };
        }
    }

    /// When a delayed ACK is due.
    pub fn next_timer(&self) -> Time {
        self.timer
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        if self.timer <= now {
            self.acknowledge();
        }
    }

    /// Acknowledges at once all octets that have come and no ACK has told of.
    pub fn acknowledge_what_waits(&mut self) {
        if self.unacknowledged > 0 {
            self.acknowledge();
        }
    }

    /// An ACK that goes with data: those that could still wait need none of their own.
    pub fn ride(&mut self) -> Acknowledgment {
        self.unacknowledged = 0;
        self.timer = Time::NEVER;
        self.say(self.next, self.tells())
    }

    /// An ACK is sent at once.
    pub fn acknowledge(&mut self) {
        self.due += 1;
        self.unacknowledged = 0;
        self.timer = Time::NEVER;
    }

    /// An ACK to send now.
    pub fn poll_transmit(&mut self) -> Option<Acknowledgment> {
        if let Some((next, echo)) = self.before.take() {
            return Some(self.say(next, echo));
        }
        self.due = self.due.checked_sub(1)?;
        Some(self.say(self.next, self.tells()))
    }

    fn say(&mut self, next: Sequence, echo: bool) -> Acknowledgment {
        self.stamps.iter_mut().for_each(|stamps| stamps.last_ack_sent = next);
        self.says_echo = echo;
        // Nothing beyond it had come when what an earlier ACK tells of did.
        let selective = if next == self.next { self.blocks() } else { Blocks::NONE };
        Acknowledgment { next, window: self.window, selective }
    }

    /// Whether ACKs have ECE now.
    fn tells(&self) -> bool {
        matches!(self.echo, Echo::UntilReduced(true) | Echo::Exactly(true))
    }

    /// Marked segments that have come.
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// The heading of the ACK that was polled last.
    pub fn heading(&self) -> Heading {
        let echo = self.stamps.map_or(0, |stamps| stamps.recent);
        let flags = Flags::default().with(Flags::STAMPED, self.stamps.is_some());
        Heading { flags: flags.with(Flags::ECE, self.says_echo), value: 0, echo }
    }

    fn blocks(&mut self) -> Blocks {
        if self.beyond.is_empty() {
            self.latest.clear();
            return Blocks::NONE;
        }
        let next = self.next;
        self.latest.retain(|&start| start > next);
        let most = if self.stamps.is_some() { MAX_BLOCKS_BESIDE_TIMESTAMPS } else { MAX_BLOCKS };
        self.latest.iter().filter_map(|&start| self.beyond.around(start)).take(most).collect()
    }
}

/// The first tick of a clock with this period that is not before `due`.
fn first_tick(due: Time, period: Duration) -> Time {
    Time::ZERO.saturating_add(period.saturating_mul(due.since(Time::ZERO).div_ceil(period)))
}

/// The first beat of a clock with this period after `now`.
fn next_beat(now: Time, period: Duration) -> Time {
    let beats = now.since(Time::ZERO).div_floor(period) + 1;
    Time::ZERO.saturating_add(period.saturating_mul(beats))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_scenario::Preset;

    fn receiver(delayed_ack: DelayedAck, recovery: Recovery) -> Receiver {
        let preset = Preset::named("reno").expect("it is there").tcp();
        Receiver::new(&TcpConfig { delayed_ack, recovery, ..preset })
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn segment(number: u64) -> Span {
        Span { from: Sequence(100 * number), to: Sequence(100 * number + 100) }
    }

    fn next(receiver: &mut Receiver) -> Option<u64> {
        receiver.poll_transmit().map(|ack| ack.next.0)
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_single_one_at_the_next_beat() {
        let mut receiver = receiver(DelayedAck::Heartbeat(Duration::from_ms(200)), Recovery::Reno);
        receiver.on_data(at(10), segment(0));
        assert_eq!((next(&mut receiver), receiver.next_timer()), (None, at(200)));
        receiver.on_data(at(20), segment(1));
        assert_eq!((next(&mut receiver), receiver.next_timer()), (Some(200), Time::NEVER));
        receiver.on_data(at(200), segment(2));
        assert_eq!(receiver.next_timer(), at(400), "a beat at this very instant has passed");
        receiver.on_timer(at(399));
        assert_eq!(next(&mut receiver), None);
        receiver.on_timer(at(400));
        assert_eq!((next(&mut receiver), next(&mut receiver)), (Some(300), None));
    }

    #[test]
    fn a_timer_of_its_own_runs_from_the_segment() {
        let mut receiver = receiver(DelayedAck::Timer(Duration::from_ms(50)), Recovery::Reno);
        receiver.on_data(at(10), segment(0));
        assert_eq!(receiver.next_timer(), at(60));
    }

    #[test]
    fn a_timer_on_ticks_waits_for_the_first_tick_that_is_late_enough() {
        let on_ticks =
            DelayedAck::TimerOnTicks { timer: Duration::from_ms(50), ticks: Duration::from_ms(10) };
        for (arrival, due) in [(11, 70), (20, 70), (21, 80)] {
            let mut receiver = receiver(on_ticks, Recovery::Reno);
            receiver.on_data(at(arrival), segment(0));
            assert_eq!(receiver.next_timer(), at(due), "{arrival}");
        }
    }

    #[test]
    fn every_segment_means_every_segment() {
        let mut receiver = receiver(DelayedAck::EverySegment, Recovery::None);
        for number in 0..3 {
            receiver.on_data(at(number), segment(number));
            assert_eq!(next(&mut receiver), Some(100 * number + 100));
        }
    }

    #[test]
    fn disorder_and_holes_filled_are_acknowledged_at_once() {
        let mut receiver = receiver(DelayedAck::Timer(Duration::from_ms(50)), Recovery::Reno);
        receiver.on_data(at(0), segment(1));
        assert_eq!(next(&mut receiver), Some(0));
        receiver.on_data(at(1), segment(3));
        assert_eq!(next(&mut receiver), Some(0));
        receiver.on_data(at(2), segment(0));
        assert_eq!(next(&mut receiver), Some(200), "0 and 1 are there");
        receiver.on_data(at(3), segment(0));
        assert_eq!(next(&mut receiver), Some(200), "a duplicate");
        receiver.on_data(at(4), segment(2));
        assert_eq!(next(&mut receiver), Some(400));
        assert_eq!(receiver.delivered(), Octets(400));
    }

    #[test]
    fn blocks_tell_the_latest_first_and_four_at_most() {
        let mut receiver = receiver(DelayedAck::EverySegment, Recovery::Sack);
        for number in [2, 4, 6, 8, 5] {
            receiver.on_data(at(0), segment(number));
        }
        let mut more = receiver.clone();
        for number in [12, 10] {
            more.on_data(at(0), segment(number));
        }
        let last = std::iter::from_fn(|| more.poll_transmit()).last().expect("seven ACKs");
        let starts: Vec<_> = last.selective.iter().map(|span| span.from.0).collect();
        assert_eq!(starts, [1000, 1200, 400, 800], "2 is one too many");
        let last = std::iter::from_fn(|| receiver.poll_transmit()).last().expect("five ACKs");
        let spans: Vec<_> = last.selective.iter().map(|span| (span.from.0, span.to.0)).collect();
        // 5 joined 4 and 6; then 8; then 2.
        assert_eq!(spans, [(400, 700), (800, 900), (200, 300)]);
        receiver.on_data(at(0), segment(1));
        receiver.on_data(at(0), segment(0));
        let last = std::iter::from_fn(|| receiver.poll_transmit()).last().expect("two ACKs");
        assert_eq!(last.next, Sequence(300));
        assert_eq!(last.selective.len(), 2);
    }

    #[test]
    fn without_sack_there_are_no_blocks() {
        let mut receiver = receiver(DelayedAck::EverySegment, Recovery::NewReno);
        receiver.on_data(at(0), segment(2));
        assert!(receiver.poll_transmit().expect("a duplicate ACK").selective.is_empty());
    }

    #[test]
    fn an_ack_echoes_what_advanced_the_left_edge_last() {
        let preset = Preset::named("sack").expect("it is there").tcp();
        let mut receiver = Receiver::new(&TcpConfig { timestamps: true, ..preset });
        let flags = Flags::default().with(Flags::STAMPED, true);
        let echo = |receiver: &mut Receiver| {
            receiver.poll_transmit().map(|_| receiver.heading().echo().expect("it is stamped"))
        };
        let mut come = |number, value| {
            receiver.on_segment(at(value), segment(number), Heading { flags, value: value as u32, echo: 0 });
            echo(&mut receiver)
        };
        // RFC 7323, section 4.3, case A: of those that one ACK answers, the earliest.
        assert_eq!([come(0, 1), come(1, 2)], [None, Some(1)]);
        // Case B: while something is missing, that of the last ACK of something new; then what has filled the hole.
        assert_eq!([come(3, 4), come(4, 5), come(2, 7)], [Some(1), Some(1), Some(7)]);
        // A segment that has come before was sent again, at another time.
        assert_eq!(come(2, 9), Some(9));
    }

    #[test]
    fn three_blocks_fit_beside_timestamps() {
        for (timestamps, blocks) in [(false, 4), (true, 3)] {
            let preset = Preset::named("sack").expect("it is there").tcp();
            let mut receiver = Receiver::new(&TcpConfig { timestamps, ..preset });
            [2, 4, 6, 8, 10].iter().for_each(|&number| receiver.on_data(at(0), segment(number)));
            let last = std::iter::from_fn(|| receiver.poll_transmit()).last().expect("five ACKs");
            assert_eq!(last.selective.len(), blocks);
        }
    }

    fn marked_receiver(congestion_control: CongestionControl) -> Receiver {
        let delayed_ack = DelayedAck::Timer(Duration::from_ms(50));
        let preset = Preset::named("reno").expect("it is there").tcp();
        Receiver::new(&TcpConfig { congestion_control, delayed_ack, ecn: true, ..preset })
    }

    /// Segment `number` comes with these bits: up to where each ACK is, in segments, and whether it has ECE.
    fn come(receiver: &mut Receiver, number: u64, flags: Flags) -> Vec<(u64, bool)> {
        let heading = Heading { flags: flags.with(Flags::ECT, true), ..Heading::default() };
        receiver.on_segment(at(number), segment(number), heading);
        std::iter::from_fn(|| {
            let ack = receiver.poll_transmit()?;
            Some((ack.next.0 / 100, receiver.heading().flags.has(Flags::ECE)))
        })
        .collect()
    }

    #[test]
    fn a_mark_is_told_until_the_sender_has_reduced() {
        // RFC 3168, section 6.1.3.
        let mut receiver = marked_receiver(CongestionControl::Reno);
        assert_eq!(come(&mut receiver, 0, Flags::CE), []);
        assert_eq!(come(&mut receiver, 1, Flags::default()), [(2, true)]);
        assert_eq!(come(&mut receiver, 2, Flags::default()), []);
        assert_eq!(come(&mut receiver, 3, Flags::default()), [(4, true)]);
        assert_eq!(come(&mut receiver, 4, Flags::CWR), []);
        assert_eq!(come(&mut receiver, 5, Flags::default()), [(6, false)]);
        // Marked itself, the one with CWR begins it again.
        assert_eq!(come(&mut receiver, 6, Flags::CWR.with(Flags::CE, true)), []);
        assert_eq!((come(&mut receiver, 7, Flags::default()), receiver.marked()), (vec![(8, true)], 2));
    }

    #[test]
    fn dctcp_tells_of_exactly_what_was_marked() {
        // RFC 8257, section 3.2, with an ACK of its own for what came before the mark changed.
        let mut receiver = marked_receiver(CongestionControl::Dctcp);
        assert_eq!(come(&mut receiver, 0, Flags::default()), []);
        assert_eq!(come(&mut receiver, 1, Flags::CE), [(1, false), (2, true)]);
        assert_eq!(receiver.next_timer(), Time::NEVER);
        assert_eq!(come(&mut receiver, 2, Flags::CE), []);
        assert_eq!(come(&mut receiver, 3, Flags::CE), [(4, true)]);
        assert_eq!(come(&mut receiver, 4, Flags::default()), [(5, false)], "at once, though nothing waited");
        assert_eq!(come(&mut receiver, 6, Flags::CE), [(5, true)], "out of order");
    }
}
