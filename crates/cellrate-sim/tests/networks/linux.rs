//! TCP against Linux 6.18 itself: the same path, the same losses, the order and the instants of all segments, cwnd and
//! ssthresh after every ACK.
//!
//! references/linux/ holds what Linux did, and the script that recorded it. Here the same senders and receivers that
//! run over cells run over the path that it had: 10 Mb/s, 20 ms each way, an ACK for every segment.
//!
//! The same segments leave in the same order, new ones and those sent again, and cwnd is the same after each ACK but
//! for what follows, and why:
//!
//! - instants by less than ACKs are apart, which the recording program and the kernel take ([`RECORDED`]);
//! - cwnd by a segment where something is lost ([`WHOLE`]): what was reported before a hole is filled is acknowledged
//!   with it here, and lets the window grow; Linux has counted it before. The window of Reno has no whole segments here. A
//!   segment may leave an ACK earlier or later for either, and where ACKs pause, a round trip is not full;
//! - timers expire later there: they run on ticks of 4 ms (of this kernel), a probe is due 2 of them later than two
//!   round trips, and a timer set to a part of a tick expires at the second one after ([`TICKS`]). Those of 63 ticks and
//!   more go in steps of 8 ([`WHEEL`]);
//! - Linux takes back a recovery that was for nothing, by timestamps and DSACK (Eifel); here no segment overtakes
//!   another, and there is no such thing to take back.

use std::collections::BTreeMap;

use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::{CongestionControl, DelayedAck, Preset, TcpConfig};
use cellrate_sim::transport::{Acknowledgment, Heading, Receiver, Sender, Span};

/// Octets of a segment: 1500 without headers and timestamps.
const SEGMENT: u64 = 1448;
/// Headers with timestamps.
const HEADERS: u64 = 52;
const DELAY: Duration = Duration::from_ms(20);
/// One octet at 10 Mb/s.
const OCTET: Duration = Duration::from_ns(800);
/// When the first segment leaves, after a handshake that took this round trip.
const START: Time = Time::from_ps(Duration::from_ms(1000).as_ps());
const HANDSHAKE: Duration = Duration::from_us(40_300);

/// A transfer, and what happens to segments of these numbers.
#[derive(Clone, Default)]
struct Case {
    segments: u64,
    /// How many times each is lost.
    lost: Vec<(u64, u32)>,
    /// How much later than others each comes \[us\].
    held: Vec<(u64, u64)>,
    /// Segments marked when they leave for the first time.
    marked: Vec<u64>,
}

#[derive(Debug, Default)]
struct Trace {
    /// When each segment leaves \[us\], and its number.
    sent: Vec<(i64, u64)>,
    acks: Vec<Ack>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ack {
    next: u64,
    cwnd: u64,
    ssthresh: u64,
}

enum Item {
    Data(Span, Heading),
    Ack(Acknowledgment, Heading),
}

/// The path: what is on it, by when it comes.
#[derive(Default)]
struct Path {
    free: [Time; 2],
    items: BTreeMap<(Time, u64), Item>,
    number: u64,
}

impl Path {
    /// When what enters now is at the other end: the line is busy with it, even if it is lost there.
    fn enter(&mut self, way: usize, now: Time, octets: u64) -> Time {
        self.free[way] = self.free[way].max(now) + OCTET * octets;
        self.free[way] + DELAY
    }

    fn put(&mut self, at: Time, item: Item) {
        self.number += 1;
        self.items.insert((at, self.number), item);
    }
}

fn simulate(config: &TcpConfig, case: &Case) -> Trace {
    let mut sender = Sender::new(config, Some(Octets(case.segments * SEGMENT)), START);
    sender.on_round_trip(Time::ZERO, Time::ZERO + HANDSHAKE);
    let mut receiver = Receiver::new(config);
    let (mut path, mut trace) = (Path::default(), Trace::default());
    let mut times = BTreeMap::new();
    let us = |now: Time| (now.as_ps() / 1_000_000) as i64 - (START.as_ps() / 1_000_000) as i64;
    let mut now = START;
    while now != Time::NEVER {
        while let Some(entry) = path.items.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Item::Data(span, heading) => {
                    receiver.on_segment(now, span, heading);
                    while let Some(ack) = receiver.poll_transmit() {
                        let blocks = ack.selective.len() as u64;
                        let octets = HEADERS + if blocks > 0 { 4 + 8 * blocks } else { 0 };
                        let at = path.enter(1, now, octets);
                        path.put(at, Item::Ack(ack, receiver.heading()));
                    }
                }
                Item::Ack(ack, heading) => {
                    sender.on_answer(now, &ack, heading);
                    send(&mut sender, now, case, &mut path, &mut trace, &mut times, us(now));
                    trace.acks.push(Ack {
                        next: ack.next.0 / SEGMENT,
                        cwnd: sender.window().0 / SEGMENT,
                        ssthresh: (sender.ssthresh().0 / SEGMENT).min(NO_SSTHRESH),
                    });
                }
            }
        }
        if sender.next_timer() <= now {
            sender.on_timer(now);
        }
        send(&mut sender, now, case, &mut path, &mut trace, &mut times, us(now));
        let arrival = path.items.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        now = arrival.min(sender.next_timer());
    }
    assert_eq!(sender.acknowledged(), Octets(case.segments * SEGMENT));
    trace
}

fn send(
    sender: &mut Sender,
    now: Time,
    case: &Case,
    path: &mut Path,
    trace: &mut Trace,
    times: &mut BTreeMap<u64, u32>,
    us: i64,
) {
    while let Some(span) = sender.poll_transmit(now) {
        let number = span.from.0 / SEGMENT;
        trace.sent.push((us, number));
        let at = path.enter(0, now, HEADERS + span.octets().0);
        let times = times.entry(number).or_insert(0);
        *times += 1;
        if case.lost.iter().any(|&(lost, most)| lost == number && *times <= most) {
            continue;
        }
        let first = *times == 1;
        let held = case
            .held
            .iter()
            .find(|held| first && held.0 == number)
            .map_or(Duration::ZERO, |held| Duration::from_us(held.1));
        let heading = sender.heading().come(first && case.marked.contains(&number));
        path.put(at + held, Item::Data(span, heading));
    }
}

fn recorded(name: &str) -> Trace {
    let path = format!("{}/tests/references/linux/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut trace = Trace::default();
    for row in text.lines().filter(|line| !line.starts_with('#')) {
        let (kind, numbers) = row.split_once(',').expect("a kind and numbers");
        let numbers: Vec<i64> = numbers.split(',').map(|number| number.parse().expect("a number")).collect();
        match (kind, &numbers[..]) {
            ("sent", &[at, from]) => trace.sent.push((at, from as u64 / SEGMENT)),
            ("ack", &[_, next, cwnd, ssthresh, _, _]) => trace.acks.push(Ack {
                next: next as u64 / SEGMENT,
                cwnd: cwnd as u64,
                ssthresh: ssthresh as u64,
            }),
            _ => panic!("{name}: {row}"),
        }
    }
    trace
}

fn linux(ssthresh: u64) -> TcpConfig {
    TcpConfig {
        window: Octets(1 << 26),
        ssthresh: Some(Octets(ssthresh * SEGMENT)),
        initial_window: Octets(10 * SEGMENT),
        delayed_ack: DelayedAck::EverySegment,
        pacing: false,
        ..Preset::named("linux").expect("it is there").tcp()
    }
}

/// ssthresh of Linux before anything has set it.
const NO_SSTHRESH: u64 = 0x7fff_ffff;
/// Largest difference of an instant that the recording and the kernel account for.
const RECORDED: i64 = 1000;
/// Largest difference of cwnd that is due to whole segments.
const WHOLE: u64 = 1;
/// By how much a timer may be later there: 4 ticks.
const TICKS: i64 = 16_000;
/// By how much one of a quarter of a second and more may be: a step of the wheel.
const WHEEL: i64 = 32_000;

fn of(segments: u64, lost: impl IntoIterator<Item = (u64, u32)>) -> Case {
    Case { segments, lost: lost.into_iter().collect(), ..Case::default() }
}

/// Segments that leave for the second time or more.
fn again(sent: &[(i64, u64)]) -> Vec<(i64, u64)> {
    let mut seen = std::collections::BTreeSet::new();
    sent.iter().filter(|(_, number)| !seen.insert(*number)).copied().collect()
}

/// Holds a case against the record: the same segments in the same order, those sent again within `instants` \[us\] of
/// the same instant, cwnd after each ACK within a segment, ssthresh the same from the first loss on.
#[track_caller]
fn compare(name: &str, config: &TcpConfig, case: &Case, instants: i64) {
    let (ours, theirs) = (simulate(config, case), recorded(name));
    let numbers = |trace: &Trace| trace.sent.iter().map(|sent| sent.1).collect::<Vec<_>>();
    assert_eq!(numbers(&ours), numbers(&theirs), "{name}: segments in their order");
    let (ours_again, theirs_again) = (again(&ours.sent), again(&theirs.sent));
    for (a, b) in ours_again.iter().zip(&theirs_again) {
        assert!((a.0 - b.0).abs() <= instants, "{name}: {} again at {} us here, {} us there", a.1, a.0, b.0);
    }
    assert_eq!(ours.acks.len(), theirs.acks.len(), "{name}: ACKs");
    for (a, b) in ours.acks.iter().zip(&theirs.acks) {
        assert_eq!(a.next, b.next, "{name}");
        let differ = a.cwnd.abs_diff(b.cwnd) > WHOLE || a.ssthresh != b.ssthresh;
        assert!(!differ, "{name}: {a:?} here, {b:?} there");
    }
}

#[test]
fn one_loss_reduces_the_window_in_proportion_to_what_is_delivered() {
    compare("one-loss", &linux(30), &of(150, [(32, 1)]), RECORDED);
    let reno = TcpConfig { congestion_control: CongestionControl::Reno, ..linux(30) };
    compare("one-loss-reno", &reno, &of(150, [(32, 1)]), RECORDED);
}

#[test]
fn many_losses_are_repaired_as_the_safe_bound_allows() {
    compare("many-losses", &linux(30), &of(150, (32..47).map(|number| (number, 1))), RECORDED);
    let third = (32..60).step_by(3).map(|number| (number, 1));
    compare("scattered-losses", &linux(30), &of(150, third), RECORDED);
}

#[test]
fn a_segment_that_is_lost_again_is_found_after_a_round_trip() {
    compare("lost-again", &linux(30), &of(150, [(32, 2)]), RECORDED);
}

/// Holds a case against the record where nothing is lost: every segment at the same instant, the same cwnd and ssthresh
/// after every ACK.
#[track_caller]
fn compare_all(name: &str, config: &TcpConfig, segments: u64) {
    let (ours, theirs) = (simulate(config, &of(segments, [])), recorded(name));
    assert_eq!(ours.sent.len(), theirs.sent.len(), "{name}: segments");
    for (a, b) in ours.sent.iter().zip(&theirs.sent) {
        assert!(a.1 == b.1 && (a.0 - b.0).abs() <= RECORDED, "{name}: {a:?} here, {b:?} there");
    }
    assert_eq!(ours.acks, theirs.acks, "{name}");
}

#[test]
fn hystart_ends_slow_start_with_the_same_ack() {
    compare_all("slow-start", &TcpConfig { ssthresh: None, ..linux(1) }, 600);
}

#[test]
fn before_a_loss_cubic_grows_by_a_twentieth() {
    compare_all("first-growth", &linux(30), 400);
}

#[test]
fn paced_segments_leave_at_the_same_instants() {
    compare_all("paced", &TcpConfig { pacing: true, ..linux(30) }, 150);
}

#[test]
fn after_a_loss_the_window_follows_the_cubic_function() {
    // 103 segments before the loss, 72 after it: K = 4.26 s.
    let (ours, theirs) = (simulate(&linux(30), &of(6000, [(1500, 1)])), recorded("growth"));
    // The record has every 25th ACK.
    for (a, b) in ours.acks.iter().step_by(25).zip(&theirs.acks) {
        let same = a.next == b.next && a.cwnd.abs_diff(b.cwnd) <= WHOLE && a.ssthresh == b.ssthresh;
        assert!(same, "{a:?} here, {b:?} there");
    }
    assert!(theirs.acks.len() > 200);
}

#[test]
fn marks_of_a_window_are_one_reduction_in_proportion_to_what_is_delivered() {
    let marked = Case { marked: vec![32, 35, 38], ..of(150, []) };
    compare("ecn", &TcpConfig { ecn: true, ..linux(30) }, &marked, RECORDED);
}

/// Holds what is sent again by timers against the record: the same segments, each at most so much later there.
#[track_caller]
fn compare_timers(name: &str, lost: &[(u64, u32)], later: i64) -> Vec<u64> {
    let (ours, theirs) = (simulate(&linux(30), &of(60, lost.iter().copied())), recorded(name));
    let again = [again(&ours.sent), again(&theirs.sent)];
    assert_eq!(again[0].len(), again[1].len());
    for (a, b) in again[0].iter().zip(&again[1]) {
        assert!(a.1 == b.1 && (0..later).contains(&(b.0 - a.0)), "{name}: {a:?} here, {b:?} there");
    }
    assert_eq!(ours.acks, theirs.acks, "{name}");
    again[0].iter().map(|sent| sent.1).collect()
}

#[test]
fn probes_find_losses_at_the_tail_and_the_timer_what_they_do_not() {
    // The probe, and what its ACK tells of.
    let tail = [(57, 1), (58, 1), (59, 1)];
    assert_eq!(compare_timers("lost-tail", &tail, TICKS), [59, 57, 58]);
    // A single segment: a time-out, a round trip and 200 ms, is sooner than a probe.
    assert_eq!(compare_timers("lost-last", &[(59, 1)], WHEEL), [59]);
    // The probe is lost, and what the timer has sent again.
    let probe = [(56, 2), (57, 1), (58, 1), (59, 2)];
    assert_eq!(compare_timers("lost-probe", &probe, WHEEL), [59, 56, 56, 57, 58, 59]);
}

#[test]
fn a_segment_that_is_a_little_late_is_not_lost() {
    compare("late-little", &linux(30), &Case { held: vec![(32, 2000)], ..of(80, []) }, RECORDED);
}

#[test]
fn a_segment_that_three_overtake_is_sent_again_with_the_third() {
    let late = Case { held: vec![(32, 5000)], ..of(80, []) };
    let (ours, theirs) = (simulate(&linux(30), &late), recorded("late-much"));
    let end = theirs.sent.iter().position(|sent| sent.0 > again(&theirs.sent)[0].0).expect("more leave");
    for (a, b) in ours.sent[..end].iter().zip(&theirs.sent[..end]) {
        assert!(a.1 == b.1 && (a.0 - b.0).abs() <= RECORDED, "{a:?} here, {b:?} there");
    }
    assert_eq!(again(&ours.sent[..end]).len(), 1);
}
