//! TCP against ns-3 3.44: the same line, the same losses, the order and the instants of all segments.
//!
//! references/ns3/ holds what ns-3 did, and the script that recorded it. Here the same senders and receivers that run
//! over cells run over a line of packets as ns-3 has it: 10 Mb/s, 20 ms, 2 octets of framing.
//!
//! The same segments are sent again, in the same order, and the first of each recovery at the same microsecond. Where
//! the two differ, and why that is no fault of either:
//!
//! - ns-3 counts a segment sent again as one more in flight beside the one that was lost, so that in fast recovery its
//!   new data waits for three more duplicate ACKs than RFC 5681's inflated window asks for; what follows from that
//!   (later holes, the end) is up to three segment times later per recovery there;
//! - with SACK, ns-3 lets new data out for the first two duplicate ACKs although limited transmit is off, since
//!   reported data leaves its count of what is in flight; here nothing changes before recovery begins;
//! - a fast retransmission sets the timer anew here, as BSD has it; ns-3 leaves it running since the last new ACK;
//! - at that time-out both take out of what is in flight the segments that duplicate ACKs have told of; the transfers
//!   end 36 ms apart;
//! - ns-3's cwnd grows without limit while the offered window limits what is sent; here it stops at that window.
//!
//! Marks are told of by the same ACKs, and DCTCP's estimate is the same within 0.005, window after window. Where they
//! differ:
//!
//! - in a reduction cwnd is in whole segments here, as RFC 9937 counts; in ns-3 it goes down by half a segment for
//!   each ACK, and the two are up to one and a half segments apart;
//! - ns-3 closes a window of DCTCP with the ACK of its last octet, RFC 8257 and this with the one after that (section
//!   3.3, step 4): where a burst ends, most of a round trip lies between them;
//! - ns-3's DCTCP grows as Linux's Reno, by whole segments for as many ACKs, those with ECE among them, which let
//!   nothing grow here (RFC 3168, section 6.1.2): its window is a tenth larger where one in 25 is marked;
//! - with pacing ns-3 spreads the first window, too, where ten segments leave at once here, as Linux has it; and one
//!   that leaves late delays all that follow there, where here, as in Linux, the next makes up for half of its gap.

use std::collections::VecDeque;

use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::{
    AdapterQueue, CongestionControl, DelayedAck, Preset, RateReduction, Recovery, TcpConfig, TcpTraffic,
    TimeoutConfig,
};
use cellrate_sim::random::Owner;
use cellrate_sim::transport::{Contents, Flags, Segment, Stack};

const SEGMENT: u64 = 1000;
const SEGMENTS: u64 = 300;
const DELAY: Duration = Duration::from_ms(20);
/// One octet at 10 Mb/s.
const OCTET: Duration = Duration::from_ns(800);
/// PPP's.
const FRAMING: u64 = 2;
/// Packets that ns-3's receiver sees before the first segment.
const HANDSHAKE: usize = 2;

/// One way of the line: when it is free, and what is on it.
struct Line {
    free: Time,
    packets: VecDeque<(Time, Segment)>,
}

impl Line {
    fn new() -> Line {
        Line { free: Time::ZERO, packets: VecDeque::new() }
    }

    fn send(&mut self, now: Time, segment: Segment) {
        let octets = segment.packet(Octets(40)).0 + FRAMING;
        self.free = self.free.max(now) + OCTET * octets;
        self.packets.push_back((self.free + DELAY, segment));
    }

    fn due(&mut self, now: Time) -> Option<Segment> {
        if self.packets.front()?.0 > now {
            return None;
        }
        self.packets.pop_front().map(|(_, segment)| segment)
    }
}

/// TCP of all cases.
fn tcp(recovery: Recovery) -> TcpConfig {
    let preset = Preset::named("reno").expect("it is there").tcp();
    TcpConfig {
        mss: Octets(SEGMENT),
        window: Octets(64 * SEGMENT),
        initial_window: Octets(2 * SEGMENT),
        recovery,
        timeout: TimeoutConfig { granularity: Duration::from_ms(1), ..preset.timeout },
        delayed_ack: DelayedAck::EverySegment,
        ..preset
    }
}

/// Instants and numbers of all segments that leave.
fn transfer(recovery: Recovery, lost: &[usize]) -> Vec<(Duration, u64)> {
    run(tcp(recovery), SEGMENTS, lost).sent
}

/// A transfer that is over.
#[derive(Default)]
struct Run {
    sent: Vec<(Duration, u64)>,
    /// cwnd after each ACK \[octets\].
    windows: Vec<(Duration, u64)>,
    /// ACKs that tell of marks, and up to which segment.
    echoes: Vec<(Duration, u64)>,
    /// DCTCP's estimate, where it changes.
    alphas: Vec<(Duration, f64)>,
}

fn run(tcp: TcpConfig, segments: u64, lost: &[usize]) -> Run {
    run_marked(tcp, segments, lost, &[])
}

fn run_marked(tcp: TcpConfig, segments: u64, lost: &[usize], marked: &[usize]) -> Run {
    let traffic = TcpTraffic {
        tcp,
        encapsulation: Encapsulation::VcMultiplexed,
        connections: 1,
        transfer: Some(Octets(segments * SEGMENT)),
        start: Time::ZERO,
        end: Time::NEVER,
        pages: None,
        adapter_queue: AdapterQueue::Unbounded,
        successive: false,
    };
    let mut sender = Stack::new(Some(&traffic), None, 1, Owner::named("there"));
    let mut receiver = Stack::new(None, Some(&traffic), 1, Owner::named("back"));
    // The ACK of ns-3's handshake has just left.
    let (mut there, mut back) = (Line::new(), Line::new());
    there.free = Time::ZERO + OCTET * (40 + FRAMING);
    let (mut run, mut arrived) = (Run::default(), HANDSHAKE);
    let mut now = Time::ZERO;
    while now != Time::NEVER {
        while let Some(segment) = there.due(now) {
            arrived += 1;
            if !lost.contains(&(arrived - 1)) {
                receiver.on_segment(now, &segment, marked.contains(&(arrived - 1)));
                while let Some(ack) = receiver.poll_transmit(now) {
                    if let Contents::Acknowledgment(told) = &ack.contents
                        && ack.flags.has(Flags::ECE)
                    {
                        run.echoes.push((now.since(Time::ZERO), told.next.0 / SEGMENT));
                    }
                    back.send(now, ack);
                }
            }
        }
        let mut again = true;
        while again {
            match back.due(now) {
                Some(ack) => {
                    sender.on_segment(now, &ack, false);
                    run.windows.push((now.since(Time::ZERO), sender.senders()[0].window().0));
                    if let Some(alpha) = sender.senders()[0].alpha()
                        && run.alphas.last().is_none_or(|last| last.1 != alpha)
                    {
                        run.alphas.push((now.since(Time::ZERO), alpha));
                    }
                }
                None if sender.next_timer() <= now => sender.on_timer(now),
                None => again = false,
            }
            while let Some(segment) = sender.poll_transmit(now) {
                if let Contents::Data(span) = segment.contents {
                    run.sent.push((now.since(Time::ZERO), span.from.0 / SEGMENT));
                }
                there.send(now, segment);
            }
        }
        let arrivals = [&there, &back].into_iter().filter_map(|line| line.packets.front().map(|(at, _)| *at));
        now = arrivals.chain([sender.next_timer(), receiver.next_timer()]).min().unwrap_or(Time::NEVER);
    }
    assert_eq!(sender.senders()[0].acknowledged(), Octets(segments * SEGMENT));
    run
}

/// Record of ns-3, from its first segment on.
fn recorded(name: &str) -> Vec<(Duration, u64)> {
    let path = format!("{}/tests/references/ns3/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows = text.lines().filter_map(|line| line.strip_prefix("data,"));
    let parsed: Vec<(u64, u64)> = rows
        .map(|row| row.split_once(',').expect("two numbers"))
        .map(|(at, octet)| (at.parse().expect("ns"), octet.parse().expect("octets")))
        .collect();
    let first = parsed[0].0;
    parsed.into_iter().map(|(at, octet)| (Duration::from_ns(at - first), octet / SEGMENT)).collect()
}

/// Segments that leave for the second time or more.
fn again(segments: &[(Duration, u64)]) -> Vec<(Duration, u64)> {
    let mut seen = std::collections::BTreeSet::new();
    segments.iter().filter(|(_, number)| !seen.insert(*number)).copied().collect()
}

fn apart(a: Duration, b: Duration) -> Duration {
    if a > b { a - b } else { b - a }
}

/// Holds a case against the record: the same segments again in the same order, the first at the same instant, the
/// others within `others`, and the last segment of all within `end`.
#[track_caller]
fn compare(name: &str, recovery: Recovery, lost: &[usize], others: Duration, end: Duration) {
    let (ours, theirs) = (transfer(recovery, lost), recorded(name));
    assert_eq!(ours.len(), theirs.len(), "{name}: as many segments");
    let (ours_again, theirs_again) = (again(&ours), again(&theirs));
    assert!(!ours_again.is_empty(), "{name}: something was lost");
    for (place, (a, b)) in ours_again.iter().zip(&theirs_again).enumerate() {
        assert_eq!(a.1, b.1, "{name}: {ours_again:?} against {theirs_again:?}");
        let allowed = if place == 0 { Duration::from_us(1) } else { others };
        assert!(apart(a.0, b.0) <= allowed, "{name}: {} again at {} here, {} there", a.1, a.0, b.0);
    }
    let [a, b] = [&ours, &theirs].map(|segments| segments.last().map_or(Duration::ZERO, |last| last.0));
    assert!(apart(a, b) <= end, "{name}: the last segment leaves at {a} here, {b} there");
}

/// Three segments, and what sending them takes: what ns-3's count of data in flight costs per recovery.
const THREE_SEGMENTS: Duration = Duration::from_us(2502);

#[test]
fn without_loss_every_segment_leaves_at_the_same_microsecond() {
    let (ours, theirs) = (transfer(Recovery::NewReno, &[]), recorded("no-loss"));
    assert_eq!(ours.len(), theirs.len());
    for (a, b) in ours.iter().zip(&theirs) {
        assert_eq!(a.1, b.1);
        assert!(apart(a.0, b.0) <= Duration::from_us(1), "segment {}: {} here, {} there", a.1, a.0, b.0);
    }
}

#[test]
fn one_loss_is_repaired_the_same_way() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        compare("newreno-one-loss", recovery, &[42], Duration::ZERO, Duration::from_ms(4));
    }
}

#[test]
fn three_losses_of_a_window_are_repaired_the_same_way() {
    let end = Duration::from_ms(41);
    compare("newreno-three-losses", Recovery::NewReno, &[42, 44, 47], Duration::from_us(1), end);
}

#[test]
fn losses_in_two_windows_are_two_recoveries() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        compare("newreno-two-windows", recovery, &[42, 96], THREE_SEGMENTS, Duration::from_ms(40));
    }
}

#[test]
fn a_retransmission_that_is_lost_waits_for_the_timer() {
    // The time-out counts from the fast retransmission here, and ends at a tick of 1 ms; there it counts from the last
    // new ACK, four segment times before: 4.1 ms.
    let end = Duration::from_ms(40);
    compare("newreno-lost-again", Recovery::NewReno, &[42, 84], Duration::from_ms(5), end);
}

#[test]
fn sack_repairs_one_loss_and_three_the_same_way() {
    compare("sack-one-loss", Recovery::Sack, &[42], Duration::ZERO, Duration::from_ms(9));
    compare("sack-three-losses", Recovery::Sack, &[42, 44, 47], THREE_SEGMENTS, Duration::from_ms(9));
}

/// cwnd of ns-3 from its first segment on \[octets\].
fn recorded_windows(name: &str) -> Vec<(Duration, u64)> {
    let path = format!("{}/tests/references/ns3/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows = text.lines().filter_map(|line| line.strip_prefix("cwnd,"));
    let parsed: Vec<(u64, u64)> = rows
        .map(|row| row.split_once(',').expect("two numbers"))
        .map(|(at, octets)| (at.parse().expect("ns"), octets.parse().expect("octets")))
        .collect();
    let first = parsed[0].0;
    parsed.into_iter().map(|(at, octets)| (Duration::from_ns(at - first), octets)).collect()
}

/// A line that SACK and proportional rate reduction run over, with a clock of a microsecond.
fn today() -> TcpConfig {
    let sack = tcp(Recovery::Sack);
    TcpConfig {
        rate_reduction: Some(RateReduction::SlowStart),
        // ns-3 lets new data out for the first two duplicate ACKs, since reported data leaves its count of what is in
        // flight.
        limited_transmit: true,
        timeout: TimeoutConfig { granularity: Duration::from_us(1), ..sack.timeout },
        ..sack
    }
}

#[test]
fn proportional_rate_reduction_lets_the_same_segments_out_in_the_same_order() {
    let (ours, theirs) = (run(today(), SEGMENTS, &[42]).sent, recorded("prr-one-loss"));
    let numbers = |segments: &[(Duration, u64)]| segments.iter().map(|segment| segment.1).collect::<Vec<_>>();
    assert_eq!(numbers(&ours), numbers(&theirs));
    let [a, b] = [again(&ours), again(&theirs)];
    assert!(apart(a[0].0, b[0].0) <= Duration::from_us(1), "{a:?} here, {b:?} there");
}

#[test]
fn the_window_of_cubic_is_that_of_ns_3() {
    let cubic = TcpConfig {
        congestion_control: CongestionControl::LinuxCubic,
        window: Octets(2000 * SEGMENT),
        ssthresh: Some(Octets(100 * SEGMENT)),
        ..today()
    };
    let ours = run(cubic, 8000, &[2000]);
    // A recovery takes a round trip, 200 segments of 0.83 ms, and cwnd is that of proportional rate reduction then; the
    // two end apart by what ns-3 counts in flight.
    let lost = again(&ours.sent)[0].0;
    let recovers = lost..lost + Duration::from_ms(300);
    let (mut rows, mut before) = (0, 0);
    for (at, window) in recorded_windows("cubic-growth").into_iter().filter(|(at, _)| !recovers.contains(at))
    {
        let Some((_, here)) = ours.windows.iter().rev().find(|row| row.0 <= at) else { continue };
        // Whole segments there and here, and sums of the cubic function in other units.
        assert!(here.abs_diff(window) <= 3 * SEGMENT, "{here} here, {window} there at {at}");
        rows += 1;
        before += usize::from(at < lost && *here == window);
    }
    assert!(rows > 60 && before > 25, "{rows} rows, the same {before} times before the loss");
}

/// Rows of a record of one kind, from the first segment on.
fn rows(name: &str, kind: &str) -> Vec<(Duration, f64)> {
    let path = format!("{}/tests/references/ns3/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let parsed = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let parts: Vec<&str> = line.split(',').collect();
        let at = Duration::from_ns(parts[1].parse().expect("ns"));
        (parts[0], at, parts[2].parse::<f64>().expect("a number"))
    });
    let parsed: Vec<_> = parsed.collect();
    let first = parsed.iter().find(|row| row.0 == "data").expect("a segment").1;
    parsed.iter().filter(|row| row.0 == kind && row.1 >= first).map(|row| (row.1 - first, row.2)).collect()
}

fn numbers(segments: &[(Duration, u64)]) -> Vec<u64> {
    segments.iter().map(|segment| segment.1).collect()
}

/// Largest difference to a record, of all its rows from an instant on at which `ours` has a value.
fn largest_difference(ours: &[(Duration, f64)], theirs: &[(Duration, f64)], from: Duration) -> f64 {
    let theirs = theirs.iter().filter(|row| row.0 >= from);
    let pairs = theirs.filter_map(|(at, value)| {
        let here = ours.partition_point(|row| row.0 <= *at).checked_sub(1)?;
        Some((ours[here].1 - value).abs())
    });
    pairs.fold(0.0, f64::max)
}

/// cwnd of a record \[segments\].
fn windows(name: &str) -> Vec<(Duration, f64)> {
    rows(name, "cwnd").into_iter().map(|(at, octets)| (at, octets / SEGMENT as f64)).collect()
}

/// Mean over the time from 1.2 to 2.4 s, in which one in 25 is marked.
fn mean(rows: &[(Duration, f64)]) -> f64 {
    let value = |at: Duration| rows[rows.partition_point(|row| row.0 <= at) - 1].1;
    (1200..2400).map(|ms| value(Duration::from_ms(ms))).sum::<f64>() / 1200.0
}

fn segments_of(windows: &[(Duration, u64)]) -> Vec<(Duration, f64)> {
    windows.iter().map(|(at, octets)| (*at, *octets as f64 / SEGMENT as f64)).collect()
}

fn marked_run(tcp: TcpConfig, name: &str, segments: u64, marked: &[usize]) -> (Run, f64) {
    let ours = run_marked(tcp, segments, &[], marked);
    let theirs: Vec<u64> = rows(name, "data").iter().map(|row| row.1 as u64 / SEGMENT).collect();
    assert_eq!(numbers(&ours.sent), theirs, "{name}: segments in their order");
    let told: Vec<u64> = rows(name, "ece").iter().map(|row| row.1 as u64 / SEGMENT).collect();
    assert_eq!(numbers(&ours.echoes), told, "{name}: ACKs that tell of marks");
    let apart = largest_difference(&segments_of(&ours.windows), &windows(name), Duration::ZERO);
    (ours, apart)
}

#[test]
fn marks_are_told_of_by_the_same_acks_and_take_the_same_from_the_window() {
    let tcp = TcpConfig { ecn: true, ssthresh: Some(Octets(20 * SEGMENT)), ..today() };
    let (ours, apart) = marked_run(tcp, "ecn-marks", SEGMENTS, &[60, 61, 70, 200]);
    assert!(apart <= 1.5, "cwnd is up to {apart} segments apart");
    // Until the first mark is answered all leave at the same microsecond.
    for (place, (a, b)) in ours.sent.iter().zip(rows("ecn-marks", "data")).enumerate().take(80) {
        assert!(
            self::apart(a.0, b.0) <= Duration::from_us(1),
            "segment {place}: {} here, {} there",
            a.0,
            b.0
        );
    }
}

#[test]
fn dctcp_has_the_same_estimate_and_the_same_window() {
    let tcp = TcpConfig {
        congestion_control: CongestionControl::Dctcp,
        ecn: true,
        ssthresh: Some(Octets(30 * SEGMENT)),
        window: Octets(200 * SEGMENT),
        ..today()
    };
    let marked: Vec<usize> = (100..110).chain((400..1100).step_by(25)).collect();
    let (ours, apart) = marked_run(tcp, "dctcp-marks", 1200, &marked);
    // Window after window; ns-3 closes one an ACK earlier, so that the instants are up to a round trip apart.
    let (ours_alphas, theirs_alphas) = (&ours.alphas, rows("dctcp-marks", "alpha"));
    assert!(ours_alphas.len().abs_diff(theirs_alphas.len()) <= 2 && ours_alphas.len() >= 70);
    for (place, (a, b)) in ours_alphas.iter().zip(&theirs_alphas).enumerate() {
        assert!((a.1 - b.1).abs() <= 0.006, "estimate {place}: {} here, {} there", a.1, b.1);
    }
    // Up to 4.6 segments apart where one has reduced and the other not yet, 2 in the mean.
    assert!(apart <= 5.0, "cwnd is up to {apart} segments apart");
    let [here, there] = [segments_of(&ours.windows), windows("dctcp-marks")].map(|rows| mean(&rows));
    assert!((here / there - 1.0).abs() < 0.12, "{here} segments in the mean here, {there} there");
}

#[test]
fn paced_segments_are_as_far_apart() {
    let tcp = TcpConfig {
        pacing: true,
        ssthresh: Some(Octets(20 * SEGMENT)),
        window: Octets(40 * SEGMENT),
        ..today()
    };
    let (ours, theirs) = (run(tcp, 500, &[]), rows("paced", "data"));
    assert_eq!(ours.sent.len(), theirs.len());
    // Ten leave at once here, none there; that has evened out when the first round trips are over.
    let (mut gaps, mut latest) = (Vec::new(), Duration::ZERO);
    for place in 36..theirs.len() {
        assert_eq!(ours.sent[place].1, theirs[place].1 as u64 / SEGMENT);
        latest = latest.max(apart(ours.sent[place].0, theirs[place].0));
        let [a, b] = [ours.sent[place].0 - ours.sent[place - 1].0, theirs[place].0 - theirs[place - 1].0];
        gaps.push(a.as_secs_f64() / b.as_secs_f64());
    }
    assert!(latest <= Duration::from_ms(6), "up to {latest} apart");
    // The same gap but where one has left late, which the next makes up for by half of its own here.
    let same = gaps.iter().filter(|gap| (*gap - 1.0).abs() < 0.01).count();
    assert!(2 * same >= gaps.len(), "{same} gaps of {} are the same within 1 %", gaps.len());
    let apart = largest_difference(&segments_of(&ours.windows), &windows("paced"), Duration::from_ms(250));
    assert!(apart <= 0.3, "cwnd is up to {apart} segments apart");
}
