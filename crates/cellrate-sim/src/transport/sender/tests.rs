//! The sender, step by step.

use super::*;
use crate::transport::Blocks;
use cellrate_scenario::{CongestionControl, Preset};

mod pauses;

const MSS: u64 = 1000;
const NOTHING: [u64; 0] = [];

/// A sender of 1000-octet segments with cwnd of `initial` of them.
fn sender(recovery: Recovery, initial: u64) -> Sender {
    let preset = Preset::named("reno").expect("it is there").tcp();
    let config = TcpConfig {
        mss: Octets(MSS),
        initial_window: Octets(initial * MSS),
        window: Octets(64_000),
        recovery,
        ..preset
    };
    Sender::new(&config, None, Time::ZERO)
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// The numbers of the segments that leave at `ms`.
fn sent(sender: &mut Sender, ms: u64) -> Vec<u64> {
    std::iter::from_fn(|| sender.poll_transmit(at(ms)).map(|span| span.from.0 / MSS)).collect()
}

/// An ACK of everything before segment `next`, with reports of whole segments.
fn ack(sender: &mut Sender, ms: u64, next: u64, reports: &[(u64, u64)]) {
    let selective =
        reports.iter().map(|&(a, b)| Span { from: Sequence(a * MSS), to: Sequence(b * MSS) }).collect();
    let ack = Acknowledgment { next: Sequence(next * MSS), window: Octets(64_000), selective };
    sender.on_acknowledgment(at(ms), &ack);
}

fn cwnd(sender: &Sender) -> u64 {
    sender.window().0
}

#[test]
fn slow_start_doubles_per_round_trip() {
    let mut sender = sender(Recovery::Reno, 1);
    assert_eq!(sent(&mut sender, 0), [0]);
    ack(&mut sender, 10, 1, &[]);
    assert_eq!(sent(&mut sender, 10), [1, 2]);
    ack(&mut sender, 20, 2, &[]);
    ack(&mut sender, 20, 3, &[]);
    assert_eq!(sent(&mut sender, 20), [3, 4, 5, 6]);
}

#[test]
fn nothing_leaves_before_the_start_or_after_the_end_of_the_data() {
    let config = Preset::named("reno").expect("it is there").tcp();
    let mut sender = Sender::new(&config, Some(Octets(1461)), at(5));
    assert_eq!((sender.next_timer(), sender.poll_transmit(at(4))), (at(5), None));
    sender.on_timer(at(5));
    let spans: Vec<_> = std::iter::from_fn(|| sender.poll_transmit(at(5))).collect();
    assert_eq!(spans.iter().map(|span| span.octets().0).collect::<Vec<_>>(), [1460, 1]);
    let ack = Acknowledgment { next: Sequence(1461), window: Octets(65_535), selective: Blocks::NONE };
    sender.on_acknowledgment(at(9), &ack);
    assert_eq!(sender.statistics().completed, Some(at(9)));
    assert_eq!((sender.next_timer(), sender.statistics().timeouts), (Time::NEVER, 0));
}

#[test]
fn from_the_end_on_only_what_was_sent_before_is_sent_again() {
    let config = Preset::named("reno").expect("it is there").tcp();
    let mut sender = Sender::new(&config, None, at(0)).until(at(10));
    sender.on_timer(at(0));
    let spans: Vec<_> = std::iter::from_fn(|| sender.poll_transmit(at(9))).collect();
    assert!(!spans.is_empty());
    let all = spans.last().expect("there is one").to;
    let ack = |next| Acknowledgment { next, window: Octets(65_535), selective: Blocks::NONE };
    let mut open = sender.clone();
    open.on_acknowledgment(at(9), &ack(spans[0].to));
    assert!(open.poll_transmit(at(9)).is_some(), "just before the end an ACK lets the next one out");
    sender.on_acknowledgment(at(10), &ack(spans[0].to));
    assert_eq!((sender.poll_transmit(at(10)), sender.statistics().completed), (None, None));
    let expires = sender.next_timer();
    sender.on_timer(expires);
    assert_eq!(sender.poll_transmit(expires).map(|span| span.from), Some(spans[0].to), "sent again");
    sender.on_acknowledgment(expires, &ack(all));
    assert_eq!(sender.statistics().completed, Some(expires));
    assert_eq!((sender.poll_transmit(expires), sender.next_timer()), (None, Time::NEVER));
}

#[test]
fn reno_sends_the_hole_again_and_leaves_recovery_with_the_first_new_ack() {
    let mut sender = sender(Recovery::Reno, 10);
    assert_eq!(sent(&mut sender, 0).len(), 10);
    // Segment 0 is lost: nine duplicates. The third halves: ssthresh 5000, cwnd 8000; six more make it 14,000.
    for duplicate in 1..=9 {
        ack(&mut sender, 10, 0, &[]);
        let now = sent(&mut sender, 10);
        match duplicate {
            3 => assert_eq!(now, [0]),
            // 10 are outstanding; the sixth duplicate brings cwnd to 11,000.
            6..=9 => assert_eq!(now, [4 + duplicate]),
            _ => assert_eq!(now, NOTHING),
        }
    }
    assert_eq!(cwnd(&sender), 14_000);
    ack(&mut sender, 20, 10, &[]);
    assert_eq!((cwnd(&sender), sender.ssthresh().0), (5000, 5000));
    assert_eq!(sent(&mut sender, 20), [14]);
    assert_eq!((sender.statistics().fast_retransmits, sender.statistics().retransmitted), (1, 1));
}

#[test]
fn newreno_fills_a_second_hole_at_the_partial_ack() {
    let mut sender = sender(Recovery::NewReno, 10);
    sent(&mut sender, 0);
    // 0 and 4 are lost.
    (0..8).for_each(|_| ack(&mut sender, 10, 0, &[]));
    // cwnd 5000 + 3000 + 5 * 1000 = 13,000: 10, 11 and 12 go out after 0.
    assert_eq!(sent(&mut sender, 10), [0, 10, 11, 12]);
    ack(&mut sender, 20, 4, &[]);
    // 13,000 - 4000 + 1000 = 10,000 from 4 on: up to 13.
    assert_eq!(cwnd(&sender), 10_000);
    assert_eq!(sent(&mut sender, 20), [4, 13]);
    ack(&mut sender, 30, 10, &[]);
    // All before `recover`: min(5000, 4 outstanding + 1).
    assert_eq!(cwnd(&sender), 5000);
    assert_eq!(sender.statistics().fast_retransmits, 1);
}

#[test]
fn reno_waits_for_the_timer_when_two_segments_are_lost_in_a_small_window() {
    let mut sender = sender(Recovery::Reno, 4);
    sent(&mut sender, 0);
    // 0 is lost: three duplicates. The sender of 0 again, then nothing comes any more.
    (0..3).for_each(|_| ack(&mut sender, 10, 0, &[]));
    assert_eq!(sent(&mut sender, 10), [0, 4]);
    // The initial time-out is 1 s from the retransmission on.
    assert_eq!(sender.next_timer(), at(1010));
    sender.on_timer(at(1010));
    assert_eq!((cwnd(&sender), sent(&mut sender, 1010)), (1000, vec![0]));
    assert_eq!(sender.next_timer(), at(3010), "twice as long");
}

#[test]
fn sack_fills_holes_as_the_pipe_allows() {
    let mut sender = sender(Recovery::Sack, 10);
    sent(&mut sender, 0);
    // 0, 2 and 4 are lost. Reports of 1, 3, 5 and on.
    ack(&mut sender, 10, 0, &[(1, 2)]);
    ack(&mut sender, 10, 0, &[(3, 4), (1, 2)]);
    assert_eq!(sent(&mut sender, 10), NOTHING);
    ack(&mut sender, 10, 0, &[(5, 6), (3, 4), (1, 2)]);
    // Three spans apart: all before 1 is lost. cwnd = 5000; pipe: 2, 4 and 6 to 9, of six segments, and 0 again.
    assert_eq!(sent(&mut sender, 10), [0]);
    for end in 7..=10 {
        ack(&mut sender, 10, 0, &[(5, end), (3, 4), (1, 2)]);
    }
    // 5 to 9 reported: 2 and 4 are lost; pipe is 0 alone: 2, 4, and two new ones.
    assert_eq!(sent(&mut sender, 10), [2, 4, 10, 11]);
    ack(&mut sender, 20, 2, &[(5, 10), (3, 4)]);
    assert_eq!(sent(&mut sender, 20), [12]);
    ack(&mut sender, 20, 10, &[]);
    assert_eq!(cwnd(&sender), 5000);
    assert_eq!(sender.statistics().retransmitted, 3);
}

#[test]
fn tahoe_starts_slowly_again_from_the_hole_on() {
    let mut sender = sender(Recovery::Tahoe, 10);
    sent(&mut sender, 0);
    (0..3).for_each(|_| ack(&mut sender, 10, 0, &[]));
    assert_eq!((cwnd(&sender), sent(&mut sender, 10)), (1000, vec![0]));
    ack(&mut sender, 20, 10, &[]);
    assert_eq!((cwnd(&sender), sent(&mut sender, 20)), (2000, vec![10, 11]));
}

#[test]
fn without_fast_retransmit_only_the_timer_finds_a_loss() {
    let mut sender = sender(Recovery::None, 10);
    sent(&mut sender, 0);
    (0..9).for_each(|_| ack(&mut sender, 10, 0, &[]));
    assert_eq!(sent(&mut sender, 10), NOTHING);
    sender.on_timer(at(1000));
    assert_eq!((sent(&mut sender, 1000), sender.ssthresh().0), (vec![0], 5000));
    ack(&mut sender, 1010, 10, &[]);
    assert_eq!(sent(&mut sender, 1010), [10, 11]);
}

/// A sender with SACK whose ten segments are all of the transfer.
fn last_ten() -> Sender {
    let config = TcpConfig {
        mss: Octets(MSS),
        initial_window: Octets(10 * MSS),
        window: Octets(64_000),
        recovery: Recovery::Sack,
        ..Preset::named("reno").expect("it is there").tcp()
    };
    let mut sender = Sender::new(&config, Some(Octets(10 * MSS)), Time::ZERO);
    assert_eq!(sent(&mut sender, 0).len(), 10);
    ack(&mut sender, 10, 4, &[]);
    sender
}

#[test]
fn sack_fills_a_hole_with_little_behind_it_where_no_new_data_are_left() {
    let mut sender = last_ten();
    // 4 and 8 are lost. Behind 8 there is one segment only.
    for (ms, end) in [(11, 6), (12, 7), (13, 8)] {
        ack(&mut sender, ms, 4, &[(5, end)]);
    }
    assert_eq!(sent(&mut sender, 13), [4]);
    ack(&mut sender, 14, 4, &[(9, 10), (5, 8)]);
    assert_eq!(sent(&mut sender, 14), [8]);
    ack(&mut sender, 24, 10, &[]);
    assert_eq!((sender.statistics().timeouts, sender.statistics().completed), (0, Some(at(24))));
}

#[test]
fn sack_rescues_the_last_segment_without_the_timer() {
    let mut sender = last_ten();
    // 4 and 9, the last, are lost.
    for (ms, end) in [(11, 6), (12, 7), (13, 8), (14, 9)] {
        ack(&mut sender, ms, 4, &[(5, end)]);
    }
    assert_eq!(sent(&mut sender, 14), [4, 9]);
    ack(&mut sender, 24, 10, &[]);
    assert_eq!(sender.statistics().timeouts, 0);
}

#[test]
fn sack_heeds_duplicates_of_the_first_segment_after_a_recovery() {
    let mut sender = sender(Recovery::Sack, 10);
    assert_eq!(sent(&mut sender, 0).len(), 10);
    (2..=4).for_each(|end| ack(&mut sender, 10, 0, &[(1, end)]));
    assert_eq!(sent(&mut sender, 10), [0]);
    ack(&mut sender, 20, 10, &[]);
    assert_eq!(sent(&mut sender, 20), [10, 11, 12, 13, 14]);
    // 10 is lost, which is where the recovery ended.
    (12..=14).for_each(|end| ack(&mut sender, 30, 10, &[(11, end)]));
    assert_eq!(sent(&mut sender, 30), [10]);
    assert_eq!(sender.statistics().fast_retransmits, 2);
}

#[test]
fn sack_heeds_no_duplicates_that_report_nothing_new() {
    let mut sender = sender(Recovery::Sack, 10);
    assert_eq!(sent(&mut sender, 0).len(), 10);
    // Nothing is lost, only late: the timer expires, and ACKs of what was sent first have it all sent again.
    sender.on_timer(at(1000));
    let mut again = sent(&mut sender, 1000);
    for next in 1..=10 {
        ack(&mut sender, 1001, next, &[]);
        again.extend(sent(&mut sender, 1001));
    }
    assert_eq!(again[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let cwnd_before = cwnd(&sender);
    // The receiver has had those ten, and says so ten times. New segments are on their way.
    assert!(again.len() > 10, "{again:?}");
    (0..10).for_each(|_| ack(&mut sender, 1040, 10, &[]));
    assert_eq!((sent(&mut sender, 1040), sender.statistics().fast_retransmits), (vec![], 0));
    assert_eq!(cwnd(&sender), cwnd_before);
    // One of the new ones is lost: those behind it are reported.
    (12..=14).for_each(|end| ack(&mut sender, 1050, 10, &[(11, end)]));
    assert_eq!((sent(&mut sender, 1050), sender.statistics().fast_retransmits), (vec![10], 1));
}

#[test]
fn ssthresh_is_held_only_where_the_timer_has_had_the_same_segment_sent_before() {
    let mut sender = sender(Recovery::None, 10);
    sent(&mut sender, 0);
    sender.on_timer(at(1000));
    assert_eq!((sender.ssthresh().0, sent(&mut sender, 1000)), (5000, vec![0]));
    sender.on_timer(at(3000));
    assert_eq!((sender.ssthresh().0, sent(&mut sender, 3000)), (5000, vec![0]), "the same segment");
    ack(&mut sender, 3010, 10, &[]);
    assert_eq!(sent(&mut sender, 3010), [10, 11]);
    // 10 and 11 are new, and not measured yet: half of two segments is two segments.
    let expires = sender.next_timer();
    sender.on_timer(expires);
    assert_eq!(sender.ssthresh().0, 2000);
}

#[test]
fn a_timeout_in_a_recovery_halves_what_is_still_in_flight_and_not_what_has_arrived() {
    let mut sender = sender(Recovery::NewReno, 20);
    assert_eq!(sent(&mut sender, 0).len(), 20);
    // 0 to 11 are lost, 12 to 19 are not: eight duplicates. ssthresh 10,000, cwnd 10,000 + 8000.
    (0..8).for_each(|_| ack(&mut sender, 10, 0, &[]));
    assert_eq!((sender.ssthresh().0, cwnd(&sender), sent(&mut sender, 10)), (10_000, 18_000, vec![0]));
    // Two partial ACKs: 10 of the 18 outstanding have not been told of. The recovery ends by the timer.
    ack(&mut sender, 20, 1, &[]);
    ack(&mut sender, 30, 2, &[]);
    let expires = sender.next_timer();
    sender.on_timer(expires);
    assert_eq!((sender.ssthresh().0, cwnd(&sender)), (5000, 1000), "and not half of 18,000");
}

#[test]
fn a_timeout_with_sack_halves_the_pipe() {
    let mut sender = sender(Recovery::Sack, 20);
    sent(&mut sender, 0);
    // 0 and 1 are lost, the others reported: 0 and 1 go again, then 20 to 27 fill the window of 10.
    ack(&mut sender, 10, 0, &[(2, 20)]);
    (0..2).for_each(|_| ack(&mut sender, 10, 0, &[(2, 20)]));
    assert_eq!(sent(&mut sender, 10), [0, 1, 20, 21, 22, 23, 24, 25, 26, 27]);
    // Six of the new ones arrive, 0 and 1 were lost again.
    ack(&mut sender, 20, 0, &[(2, 26)]);
    let expires = sender.next_timer();
    sender.on_timer(expires);
    // 0, 1, 26 and 27 of 28 outstanding.
    assert_eq!(sender.ssthresh().0, 2000);
}

#[test]
fn a_second_loss_in_the_slow_start_after_a_timeout_halves_again() {
    let mut sender = sender(Recovery::None, 20);
    sent(&mut sender, 0);
    sender.on_timer(at(1000));
    assert_eq!((sender.ssthresh().0, sent(&mut sender, 1000)), (10_000, vec![0]));
    for next in 1..=5 {
        ack(&mut sender, 1010, next, &[]);
    }
    // cwnd is 6000: 5 to 10 again. 5 is lost once more.
    assert_eq!(sent(&mut sender, 1010), [5, 6, 7, 8, 9, 10]);
    let expires = sender.next_timer();
    sender.on_timer(expires);
    assert_eq!(sender.ssthresh().0, 3000, "half of the six on their way, although all were sent again");
}

#[test]
fn the_first_or_every_partial_ack_sets_the_timer_anew() {
    for (which, expected) in [(PartialAckTimer::First, 1020), (PartialAckTimer::Every, 1030)] {
        let mut sender = sender(Recovery::NewReno, 10);
        sender.partial_ack_timer = which;
        sent(&mut sender, 0);
        (0..5).for_each(|_| ack(&mut sender, 10, 0, &[]));
        assert_eq!(sent(&mut sender, 10), [0]);
        for (ms, next) in [(20, 1), (30, 2)] {
            ack(&mut sender, ms, next, &[]);
            assert_eq!(sent(&mut sender, ms), [next, next + 9]);
        }
        assert_eq!(sender.next_timer(), at(expected), "{which:?}");
    }
}

#[test]
fn limited_transmit_lets_two_new_segments_out_before_the_third_duplicate() {
    let mut sender = sender(Recovery::Reno, 4);
    sender.limited_transmit = true;
    assert_eq!(sent(&mut sender, 0), [0, 1, 2, 3]);
    ack(&mut sender, 10, 0, &[]);
    assert_eq!(sent(&mut sender, 10), [4]);
    ack(&mut sender, 10, 0, &[]);
    assert_eq!(sent(&mut sender, 10), [5]);
    ack(&mut sender, 10, 0, &[]);
    // cwnd has stayed at four segments, and what limited transmit let out does not count: ssthresh is two.
    assert_eq!((sender.ssthresh().0, sent(&mut sender, 10)), (2000, vec![0]));
}

#[test]
fn a_connection_that_was_hard_to_open_begins_with_a_segment_and_three_seconds() {
    let mut sender = sender(Recovery::Reno, 4);
    sender.on_opening_lost();
    sender.on_timer(at(0));
    assert_eq!(sent(&mut sender, 0), [0]);
    assert_eq!(sender.next_timer(), at(3000));
}

#[test]
fn karn_measures_nothing_that_was_sent_twice() {
    let mut sender = sender(Recovery::None, 1);
    sent(&mut sender, 0);
    sender.on_timer(at(1000));
    sent(&mut sender, 1000);
    ack(&mut sender, 1005, 1, &[]);
    assert_eq!(sender.rto().smoothed(), None);
    assert_eq!(sender.rto().timeout(), Duration::from_secs(2), "the back-off stays until a measurement");
    sent(&mut sender, 1005);
    ack(&mut sender, 1025, 2, &[]);
    assert_eq!(sender.rto().smoothed(), Some(Duration::from_ms(20)));
    assert_eq!(sender.rto().timeout(), Duration::from_secs(1));
}

#[test]
fn newreno_does_not_halve_twice_for_one_window_of_losses() {
    let mut sender = sender(Recovery::NewReno, 8);
    sent(&mut sender, 0);
    sender.on_timer(at(1000));
    sent(&mut sender, 1000);
    // Duplicates of what was sent before the time-out come late.
    (0..4).for_each(|_| ack(&mut sender, 1010, 0, &[]));
    assert_eq!((sender.statistics().fast_retransmits, cwnd(&sender)), (0, 1000));
}

#[test]
fn with_timestamps_every_ack_is_a_sample_of_what_was_sent_again_too() {
    let preset = Preset::named("reno").expect("it is there").tcp();
    let config = TcpConfig {
        mss: Octets(MSS + 12),
        initial_window: Octets(4 * MSS),
        window: Octets(64_000),
        timestamps: true,
        ..preset
    };
    let mut sender = Sender::new(&config, None, Time::ZERO);
    assert_eq!(sent(&mut sender, 0), [0, 1, 2, 3], "twelve octets of the largest segment are the option's");
    let flags = Flags::default().with(Flags::STAMPED, true);
    assert_eq!(sender.heading(), Heading { flags, value: 0, echo: 0 });
    let answer = |sender: &mut Sender, ms, next: u64, echo| {
        let ack =
            Acknowledgment { next: Sequence(next * MSS), window: Octets(64_000), selective: Blocks::NONE };
        sender.on_answer(at(ms), &ack, Heading { flags, value: 0, echo });
    };
    // Ticks of 10 ms. 4 segments are 2 samples a round trip: 80 + (160 - 80) / 16.
    answer(&mut sender, 80, 1, 0);
    assert_eq!(sender.rto().smoothed(), Some(Duration::from_ms(80)));
    answer(&mut sender, 160, 1, 0);
    assert_eq!(sender.rto().smoothed(), Some(Duration::from_ms(80)), "a duplicate measures nothing");
    answer(&mut sender, 160, 2, 0);
    assert_eq!(sender.rto().smoothed(), Some(Duration::from_ms(85)));
    let expires = sender.next_timer();
    sender.on_timer(expires);
    let backed_off = sender.rto().timeout();
    let again = sender.poll_transmit(expires).expect("the first one that is not acknowledged");
    assert_eq!((again.from.0 / MSS, sender.heading().value), (2, sender.rto().clock(expires)));
    let echo = sender.heading().value;
    sender.on_answer(
        expires + Duration::from_ms(40),
        &Acknowledgment { next: again.to, window: Octets(64_000), selective: Blocks::NONE },
        Heading { flags, value: 0, echo },
    );
    assert!(sender.rto().smoothed() < Some(Duration::from_ms(85)), "no need for Karn's rule");
    assert!(sender.rto().timeout() < backed_off);
}

/// A sender whose packets may be marked, with cwnd of `initial` segments of 1000 octets, in congestion avoidance.
fn marked_sender(congestion_control: CongestionControl, initial: u64) -> Sender {
    let preset = Preset::named("sack").expect("it is there").tcp();
    let config = TcpConfig {
        mss: Octets(MSS),
        initial_window: Octets(initial * MSS),
        ssthresh: Some(Octets(initial * MSS)),
        window: Octets(64_000),
        congestion_control,
        ecn: true,
        ..preset
    };
    Sender::new(&config, None, Time::ZERO)
}

/// An ACK with ECE of everything before segment `next`.
fn echo(sender: &mut Sender, ms: u64, next: u64) {
    let ack = Acknowledgment { next: Sequence(next * MSS), window: Octets(64_000), selective: Blocks::NONE };
    sender.on_answer(at(ms), &ack, Heading { flags: Flags::ECE, ..Heading::default() });
}

#[test]
fn a_mark_halves_the_window_once_per_window_of_data() {
    // RFC 3168, section 6.1.2.
    let mut sender = marked_sender(CongestionControl::Reno, 10);
    assert_eq!(sent(&mut sender, 0).len(), 10);
    assert_eq!(sender.heading().flags, Flags::ECT);
    echo(&mut sender, 10, 1);
    assert_eq!((cwnd(&sender), sender.statistics().reductions), (4500, 1), "half of the nine on their way");
    (2..=10).for_each(|next| echo(&mut sender, 10, next));
    assert_eq!((cwnd(&sender), sender.statistics().reductions), (4500, 1), "neither less nor more");
    // The next new segment says so, and only that.
    let first = sender.poll_transmit(at(20)).expect("four may leave");
    assert_eq!((first.from.0 / MSS, sender.heading().flags), (10, Flags::ECT.with(Flags::CWR, true)));
    assert_eq!(sent(&mut sender, 20), [11, 12, 13]);
    assert_eq!(sender.heading().flags, Flags::ECT);
    // Segments 10 to 13 are a window of their own.
    echo(&mut sender, 30, 11);
    assert_eq!((cwnd(&sender), sender.statistics().reductions), (2000, 2), "two segments are left");
    ack(&mut sender, 40, 12, &[]);
    assert_eq!(cwnd(&sender), 2500, "without ECE it grows");
}

#[test]
fn a_loss_is_a_reduction_too_and_what_is_sent_again_may_not_be_marked() {
    let mut sender = marked_sender(CongestionControl::Reno, 10);
    sent(&mut sender, 0);
    (2..=4).for_each(|n| ack(&mut sender, 10, 0, &[(1, n)]));
    assert_eq!(sender.poll_transmit(at(10)).map(|span| span.from), Some(Sequence(0)));
    assert_eq!(sender.heading().flags, Flags::default(), "RFC 3168, section 6.1.5");
    ack(&mut sender, 20, 10, &[]);
    assert_eq!((cwnd(&sender), sender.statistics().reductions), (5000, 0));
    sender.poll_transmit(at(20)).expect("a new one");
    assert!(sender.heading().flags.has(Flags::CWR));
    // What was outstanding at the loss has been answered for.
    let mut sender = marked_sender(CongestionControl::Reno, 10);
    sent(&mut sender, 0);
    let expires = sender.next_timer();
    sender.on_timer(expires);
    echo(&mut sender, 2000, 1);
    assert_eq!(sender.statistics().reductions, 0);
}

#[test]
fn cubic_gives_up_three_tenths_and_dctcp_half_of_its_estimate() {
    for (control, left) in [(CongestionControl::Cubic, 7000), (CongestionControl::Dctcp, 5000)] {
        let mut sender = marked_sender(control, 11);
        assert_eq!(sent(&mut sender, 0).len(), 11);
        echo(&mut sender, 10, 1);
        let expected = if control == CongestionControl::Dctcp { 5500 } else { left };
        assert_eq!(cwnd(&sender), expected, "{control:?}");
    }
    // RFC 8257, section 3.3: of the ten octets-thousands that end this window, two were marked.
    let mut sender = marked_sender(CongestionControl::Dctcp, 11);
    sent(&mut sender, 0);
    ack(&mut sender, 10, 1, &[]);
    assert_eq!(sender.alpha(), Some(15.0 / 16.0));
    let before = cwnd(&sender);
    sent(&mut sender, 10);
    echo(&mut sender, 20, 2);
    let expected = (before as f64 * (1.0 - 15.0 / 32.0)) as u64;
    assert_eq!((cwnd(&sender), sender.alpha()), (expected, Some(15.0 / 16.0)), "the window is not over");
    (3..=10).for_each(|next| ack(&mut sender, 20, next, &[]));
    echo(&mut sender, 20, 11);
    assert_eq!(sender.alpha(), Some(15.0 / 16.0));
    ack(&mut sender, 20, 12, &[]);
    assert_eq!(sender.alpha(), Some(225.0 / 256.0 + 2.0 / 11.0 / 16.0));
}

#[test]
fn ece_means_nothing_without_ecn() {
    let mut sender = sender(Recovery::Reno, 10);
    sent(&mut sender, 0);
    echo(&mut sender, 10, 1);
    assert_eq!((cwnd(&sender), sender.statistics().reductions), (11_000, 0));
    assert_eq!(sender.heading(), Heading::default());
}

/// A sender with SACK and a clock of 1 ms, whose settings `set` changes, with cwnd of `initial` segments.
fn modern_sender(initial: u64, transfer: Option<u64>, set: impl Fn(&mut TcpConfig)) -> Sender {
    let preset = Preset::named("sack").expect("it is there").tcp();
    let mut config = TcpConfig {
        mss: Octets(MSS),
        initial_window: Octets(initial * MSS),
        window: Octets(64_000),
        ..preset
    };
    config.timeout.granularity = Duration::from_ms(1);
    set(&mut config);
    let mut sender = Sender::new(&config, transfer.map(|segments| Octets(segments * MSS)), Time::ZERO);
    sender.on_timer(at(0));
    sender
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

#[test]
fn a_probe_finds_losses_at_the_tail_without_the_timer() {
    // RFC 8985, sections 7.2 to 7.4: the two last of ten are lost, and there is nothing new to send.
    let mut sender = modern_sender(10, Some(10), |config| config.rack_tlp = true);
    assert_eq!(sent(&mut sender, 0).len(), 10);
    ack(&mut sender, 10, 8, &[]);
    assert_eq!((sent(&mut sender, 10), sender.next_timer()), (vec![], at(30)), "two round trips of 10 ms");
    sender.on_timer(at(30));
    assert_eq!((sent(&mut sender, 30), sender.statistics().probes), (vec![9], 1));
    assert_eq!(sender.next_timer(), at(1030), "the time-out begins anew, and there is no second probe");
    ack(&mut sender, 40, 8, &[(9, 10)]);
    assert_eq!(sent(&mut sender, 40), [8], "it left before the probe, more than 12.5 ms ago");
    ack(&mut sender, 50, 10, &[]);
    let statistics = sender.statistics();
    assert_eq!((statistics.timeouts, statistics.fast_retransmits, statistics.retransmitted), (0, 1, 2));
    assert_eq!(statistics.completed, Some(at(50)));
}

#[test]
fn a_probe_beyond_a_hole_tells_of_losses_although_its_ack_echoes_an_earlier_segment() {
    let mut sender =
        modern_sender(10, Some(10), |config| (config.rack_tlp, config.timestamps) = (true, true));
    sender.mss = Octets(MSS);
    assert_eq!(sent(&mut sender, 0).len(), 10);
    let flags = Flags::default().with(Flags::STAMPED, true);
    let answer = |sender: &mut Sender, ms, selective: Blocks| {
        let ack = Acknowledgment { next: Sequence(8 * MSS), window: Octets(64_000), selective };
        sender.on_answer(at(ms), &ack, Heading { flags, value: 0, echo: 0 });
    };
    answer(&mut sender, 10, Blocks::NONE);
    sender.on_timer(at(30));
    assert_eq!(sent(&mut sender, 30), [9]);
    // The left edge was advanced last by what had left at 0.
    answer(&mut sender, 40, [Span { from: Sequence(9 * MSS), to: Sequence(10 * MSS) }].into_iter().collect());
    assert_eq!(sent(&mut sender, 40), [8]);
    assert_eq!((sender.statistics().timeouts, sender.statistics().fast_retransmits), (0, 1));
}

#[test]
fn a_probe_is_something_new_where_there_is_any_and_waits_for_a_delayed_ack_of_a_single_segment() {
    let mut sender = modern_sender(2, None, |config| {
        config.rack_tlp = true;
        config.ssthresh = Some(Octets(2 * MSS));
    });
    assert_eq!((sent(&mut sender, 0), sender.next_timer()), (vec![0, 1], at(1000)), "no round trip is known");
    ack(&mut sender, 10, 2, &[]);
    assert_eq!(sent(&mut sender, 10), [2, 3]);
    sender.on_timer(at(30));
    assert_eq!(sent(&mut sender, 30), [4], "cwnd is two segments");
    let mut sender = modern_sender(1, Some(2), |config| config.rack_tlp = true);
    sent(&mut sender, 0);
    ack(&mut sender, 10, 1, &[]);
    assert_eq!((sent(&mut sender, 10), sender.next_timer()), (vec![1], at(230)));
}

#[test]
fn a_loss_that_the_probe_has_repaired_reduces_the_window_and_a_needless_probe_does_not() {
    // RFC 8985, section 7.4.2: the second and the third case.
    // The last segment leaves alone: an ACK of one segment where cwnd has twelve is no reason to grow.
    for (needless, expected) in [(true, 12_000), (false, 2000)] {
        let mut sender = modern_sender(10, Some(10), |config| config.rack_tlp = true);
        sent(&mut sender, 0);
        ack(&mut sender, 10, 9, &[]);
        sender.on_timer(sender.next_timer());
        assert_eq!(sent(&mut sender, 230), [9]);
        ack(&mut sender, 235, 10, &[]);
        if needless {
            ack(&mut sender, 240, 10, &[]);
        }
        sender.supply(Octets(MSS));
        assert_eq!(sent(&mut sender, 250), [10]);
        ack(&mut sender, 260, 11, &[]);
        assert_eq!((cwnd(&sender), sender.statistics().timeouts), (expected, 0), "{needless}");
    }
}

#[test]
fn a_segment_out_of_order_has_a_quarter_of_a_round_trip_and_three_reports_end_it() {
    // RFC 8985, section 6.2, step 4.
    let start = || {
        let mut sender = modern_sender(10, None, |config| config.rack_tlp = true);
        sent(&mut sender, 0);
        ack(&mut sender, 10, 0, &[(1, 2)]);
        assert_eq!((sent(&mut sender, 10), sender.next_timer()), (vec![], us(12_500)));
        sender
    };
    let mut lost = start();
    lost.on_timer(us(12_500));
    assert_eq!(sent(&mut lost, 13), [0]);
    let mut late = start();
    ack(&mut late, 12, 2, &[]);
    assert_eq!(late.statistics().fast_retransmits, 0);
    // Reordering has been seen: three reports are no reason any more.
    sent(&mut late, 12);
    ack(&mut late, 13, 2, &[(3, 6)]);
    assert_eq!(late.statistics().fast_retransmits, 0);
    let mut three = start();
    ack(&mut three, 11, 0, &[(1, 4)]);
    assert_eq!(sent(&mut three, 11), [0]);
}

#[test]
fn a_segment_that_is_lost_again_is_found_by_what_left_after_it() {
    let mut sender = modern_sender(10, None, |config| config.rack_tlp = true);
    sent(&mut sender, 0);
    ack(&mut sender, 10, 0, &[(1, 10)]);
    assert_eq!(sent(&mut sender, 10), [0, 10, 11, 12, 13], "ssthresh is five segments");
    ack(&mut sender, 20, 0, &[(1, 11)]);
    assert_eq!(sent(&mut sender, 20), [0, 14], "10 left after 0, and has come");
    ack(&mut sender, 30, 14, &[]);
    assert_eq!((sender.statistics().timeouts, sender.statistics().fast_retransmits), (0, 1));
    assert_eq!(cwnd(&sender), 5000);
}

#[test]
fn after_a_timeout_rack_sends_again_what_is_lost_as_the_window_grows() {
    let mut sender = modern_sender(10, Some(10), |config| config.rack_tlp = true);
    sent(&mut sender, 0);
    ack(&mut sender, 10, 1, &[]);
    sender.on_timer(at(30));
    assert_eq!(sent(&mut sender, 30), [9], "the probe, lost as all others");
    sender.on_timer(at(1030));
    assert_eq!((sent(&mut sender, 1030), cwnd(&sender)), (vec![1], 1000));
    ack(&mut sender, 1040, 2, &[]);
    assert_eq!((sent(&mut sender, 1040), cwnd(&sender)), (vec![2, 3], 2000));
    ack(&mut sender, 1050, 2, &[(3, 4)]);
    assert_eq!(sent(&mut sender, 1050), [2, 4], "2 is lost again");
    assert_eq!(sender.statistics().fast_retransmits, 0, "the window has been reduced already");
    ack(&mut sender, 1060, 10, &[]);
    assert_eq!((sender.statistics().timeouts, sender.statistics().completed), (1, Some(at(1060))));
}

#[test]
fn a_recovery_with_prr_sends_for_every_second_ack() {
    // RFC 6937, section 3.1: 20 segments, the first is lost.
    let bounds = [RateReduction::Conservative, RateReduction::SlowStart, RateReduction::SafeAck];
    for (bound, rack_tlp) in bounds.into_iter().zip([false, true, true]) {
        let mut sender = modern_sender(20, None, |config| {
            config.limited_transmit = true;
            config.rate_reduction = Some(bound);
            config.rack_tlp = rack_tlp;
        });
        assert_eq!(sent(&mut sender, 0).len(), 20);
        let counts: Vec<usize> = (1..=19)
            .map(|number| {
                ack(&mut sender, 20, 0, &[(1, number + 1)]);
                sent(&mut sender, 20).len()
            })
            .collect();
        assert_eq!(counts[..16], [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0], "{bound:?}");
        // 19 are on their way after the loss, and 17 of them come: the pipe ends at ssthresh, ten segments.
        assert_eq!(counts[2..].iter().sum::<usize>(), 10 + 17 - 19, "{bound:?}: {counts:?}");
        ack(&mut sender, 40, 20, &[]);
        assert_eq!(cwnd(&sender), 10_000, "ssthresh at the end");
    }
}

#[test]
fn a_burst_of_losses_is_repaired_as_the_bound_of_prr_allows() {
    // RFC 6937, section 3.1: 15 of 20 are lost, and five ACKs come.
    for (bound, expected) in [(RateReduction::Conservative, 1), (RateReduction::SlowStart, 2)] {
        let mut sender = modern_sender(20, None, |config| {
            config.limited_transmit = true;
            config.rate_reduction = Some(bound);
        });
        sent(&mut sender, 0);
        let counts: Vec<usize> = (16..=20)
            .map(|end| {
                ack(&mut sender, 20, 0, &[(15, end)]);
                sent(&mut sender, 20).len()
            })
            .collect();
        assert_eq!(counts, [1, 1, expected, expected, expected], "{bound:?}");
    }
}

#[test]
fn paced_segments_leave_one_by_one() {
    let mut sender = modern_sender(20, None, |config| {
        config.pacing = true;
        config.ssthresh = Some(Octets(20 * MSS));
    });
    assert_eq!(sent(&mut sender, 0).len(), 20, "no round trip is known yet");
    ack(&mut sender, 24, 20, &[]);
    // cwnd is 20.05 segments, 24 ms / 20.05 / 1.2 = 0.9975 ms; the first leaves late, and its gap is half.
    assert_eq!(sent(&mut sender, 24), [20]);
    let first = sender.next_timer();
    assert_eq!(first.as_ps() / 1_000_000, 24_498);
    assert_eq!(sender.poll_transmit(us(24_498)), None, "not before the timer");
    sender.on_timer(first);
    assert!(sender.poll_transmit(first).is_some());
    assert!(sender.poll_transmit(first).is_none());
    assert_eq!(sender.next_timer().since(first).as_ps() / 1_000_000, 997);
}
