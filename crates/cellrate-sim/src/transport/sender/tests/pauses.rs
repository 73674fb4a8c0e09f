//! The sender whose application, or receiver, lets less leave than cwnd allows.

use super::*;

/// A sender of 1000-octet segments in congestion avoidance with cwnd of ten of them, whose application has `segments`.
fn avoiding(control: CongestionControl, segments: u64, change: fn(&mut TcpConfig)) -> Sender {
    let preset = Preset::named("sack").expect("it is there").tcp();
    let mut config = TcpConfig {
        mss: Octets(MSS),
        initial_window: Octets(10 * MSS),
        ssthresh: Some(Octets(10 * MSS)),
        window: Octets(64_000),
        congestion_control: control,
        ..preset
    };
    change(&mut config);
    Sender::new(&config, Some(Octets(segments * MSS)), Time::ZERO)
}

const ALL: [CongestionControl; 4] = [
    CongestionControl::Reno,
    CongestionControl::Cubic,
    CongestionControl::LinuxCubic,
    CongestionControl::Dctcp,
];

#[test]
fn a_window_that_is_not_in_use_does_not_grow() {
    for control in ALL {
        // Nine segments of ten, each round trip, for long: and every one of them acknowledged.
        let mut sender = avoiding(control, 9, |_| {});
        let mut reno_of_old = avoiding(control, 9, |config| config.window_validation = false);
        for round in 0..100 {
            for sender in [&mut sender, &mut reno_of_old] {
                assert_eq!(sent(sender, 100 * round).len(), 9);
                (1..=9).for_each(|number| ack(sender, 100 * round + 50, 9 * round + number, &[]));
                sender.supply(Octets(9 * MSS));
            }
        }
        assert_eq!(cwnd(&sender), 10_000, "{control:?}");
        assert!(cwnd(&reno_of_old) > 10_000, "{control:?}");
        // Ten are the whole window: it grows with the ACKs of these, in Linux with every twentieth.
        sender.supply(Octets(100 * MSS));
        let mut next = 900;
        for round in 100..104 {
            let count = sent(&mut sender, 100 * round).len() as u64;
            assert!(count >= 10, "{control:?}");
            (1..=count).for_each(|number| ack(&mut sender, 100 * round + 50, next + number, &[]));
            next += count;
        }
        assert!(cwnd(&sender) > 10_000, "{control:?}");
    }
}

#[test]
fn a_receiver_that_takes_less_than_cwnd_does_not_let_it_grow() {
    for control in ALL {
        let mut sender = avoiding(control, 1000, |_| {});
        let answer = |sender: &mut Sender, ms, next: u64| {
            let ack = Acknowledgment {
                next: Sequence(next * MSS),
                window: Octets(5 * MSS),
                selective: Blocks::NONE,
            };
            sender.on_acknowledgment(at(ms), &ack);
        };
        assert_eq!(sent(&mut sender, 0).len(), 10);
        (1..=10).for_each(|number| answer(&mut sender, 50, number));
        let mut before = 0;
        for round in 1..=20 {
            assert_eq!(sent(&mut sender, 100 * round).len(), 5);
            (1..=5).for_each(|number| answer(&mut sender, 100 * round + 50, 5 + 5 * round + number));
            // The first ACKs are those of the window that was full.
            before = if round == 1 { cwnd(&sender) } else { before };
        }
        assert_eq!(cwnd(&sender), before, "{control:?}");
    }
}

/// The growth of a sender's cwnd \[octets\] in five round trips behind `pause` \[ms\] after ten with a full window.
fn growth_behind(control: CongestionControl, busy: u64, pause: u64) -> u64 {
    let mut sender = avoiding(control, 0, |_| {});
    let (mut next, mut before) = (0, 0);
    for round in 0..15 {
        let ms = 100 * round + if round < 10 { 0 } else { pause };
        if round == 10 {
            before = cwnd(&sender);
            // In the pause the application has a segment now and then, or nothing.
            for trip in 0..busy {
                let ms = 1000 + trip * pause / busy;
                sender.supply(Octets(MSS));
                assert_eq!(sent(&mut sender, ms).len(), 1);
                next += 1;
                ack(&mut sender, ms + 50, next, &[]);
            }
        }
        let window = cwnd(&sender) / MSS;
        sender.supply(Octets(window * MSS));
        let count = sent(&mut sender, ms).len() as u64;
        assert_eq!(count, window);
        (1..=count).for_each(|number| ack(&mut sender, ms + 50, next + number, &[]));
        next += count;
    }
    cwnd(&sender) - before
}

#[test]
fn cubic_does_not_count_the_time_of_a_pause() {
    for control in [CongestionControl::Cubic, CongestionControl::LinuxCubic] {
        let without = growth_behind(control, 0, 0);
        assert!(without > 0);
        for pause in [1000, 20_000, 200_000] {
            let with = growth_behind(control, 0, pause);
            assert!(
                with.abs_diff(without) <= MSS,
                "{control:?}: {with} behind {pause} ms, {without} without"
            );
        }
    }
    // RFC 9438, section 5.8: neither time in which less is sent than cwnd allows; Linux leaves out pauses alone.
    let (without, with) =
        (growth_behind(CongestionControl::Cubic, 0, 0), growth_behind(CongestionControl::Cubic, 20, 20_000));
    assert!(with.abs_diff(without) <= MSS, "{with} behind a slow application, {without} without");
}

#[test]
fn after_a_pause_of_more_than_a_time_out_cwnd_may_start_anew() {
    use cellrate_scenario::IdleRestart;
    let behind = |restart: fn(&mut TcpConfig), pause: u64| {
        let mut sender = avoiding(CongestionControl::Reno, 40, |config| {
            config.initial_window = Octets(2 * MSS);
            config.ssthresh = Some(Octets(64_000));
        });
        let mut config = Preset::named("sack").expect("it is there").tcp();
        restart(&mut config);
        sender.idle_restart = config.idle_restart;
        let (mut next, mut ms) = (0, 0);
        while next < 40 {
            let count = sent(&mut sender, ms).len() as u64;
            (1..=count).for_each(|number| ack(&mut sender, ms + 100, next + number, &[]));
            (next, ms) = (next + count, ms + 100);
        }
        let (full, timeout) = (cwnd(&sender), sender.rto().timeout());
        assert_eq!((full, timeout), (32_000, Duration::from_secs(1)));
        sender.supply(Octets(100 * MSS));
        (sent(&mut sender, ms - 100 + pause).len() as u64, sender.ssthresh().0)
    };
    // T and T + 1 ms of a time-out of 1 s since the last segment left.
    let none = |_: &mut TcpConfig| {};
    let anew = |config: &mut TcpConfig| config.idle_restart = IdleRestart::RestartWindow;
    let linux = |config: &mut TcpConfig| config.idle_restart = IdleRestart::Linux;
    assert_eq!(behind(none, 100_000), (32, 64_000));
    assert_eq!([1000, 1001, 9000].map(|pause| behind(anew, pause).0), [32, 2, 2]);
    assert_eq!(
        [1000, 1001, 2000, 2001, 4001, 90_000].map(|pause| behind(linux, pause).0),
        [32, 16, 16, 8, 2, 2]
    );
}
