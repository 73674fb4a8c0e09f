//! TCP before a port that marks packets, against closed forms.
//!
//! A packet is 32 cells, and marked if its first cell finds more than K of them. With a sender, every segment
//! acknowledged, and a path that holds P packets, cwnd goes up by one a round trip to P + K, where a mark comes back a
//! round trip later.

use std::ops::ControlFlow;

use cellrate_scenario::Document;
use cellrate_sim::{RunResult, run};

/// Cells of a segment of 1460 octets.
const CELLS: u64 = 32;
/// The line in segments: 150 Mb/s for 10 ms, and what the hosts' lines hold.
const PATH: f64 = 111.0;

/// `senders` of this TCP before a line of 150 Mb/s, 10 ms there and back, that marks above `threshold` packets.
fn marking(tcp: &str, senders: u64, threshold: u64, duration: &str) -> RunResult {
    marking_by(&format!("threshold = \"{} cells\"", threshold * CELLS), tcp, senders, duration)
}

/// The same line, and marks by these keys.
fn marking_by(ecn: &str, tcp: &str, senders: u64, duration: &str) -> RunResult {
    let text = format!(
        r#"
name = "marking"
duration = "{duration}"
warm_up = "4 s"
[[host]]
name = "s{{i}}"
count = {senders}
[[host]]
name = "d{{i}}"
count = {senders}
[[switch]]
name = "sw{{i}}"
count = 2
ecn = {{ {ecn} }}
[[link]]
between = ["s{{i}}", "sw1"]
rate = "622.08 Mbps"
length = "1 km"
count = {senders}
[[link]]
between = ["sw1", "sw2"]
rate = "150 Mbps"
length = "1000 km"
[[link]]
between = ["sw2", "d{{i}}"]
rate = "622.08 Mbps"
length = "1 km"
count = {senders}
[[vc]]
name = "v{{i}}"
category = "ubr"
pcr = "622.08 Mbps"
path = ["s{{i}}", "sw1", "sw2", "d{{i}}"]
traffic = {{ type = "tcp", window = "4 MB", delayed_ack = "every-segment", timestamps = false, {tcp} }}
count = {senders}
"#
    );
    let scenario =
        Document::parse(&text, "marking").and_then(|document| document.resolve()).expect("it is sound");
    run(&scenario, &mut |_| ControlFlow::Continue(())).expect("the run ends well")
}

/// Utilization, mean queue and largest queue of the line, in packets.
fn line(result: &RunResult) -> (f64, f64, f64) {
    let port = result.summary.ports.iter().find(|port| port.port == "sw1->sw2").expect("it is there");
    (port.utilization, port.mean_queue / CELLS as f64, port.max_queue as f64 / CELLS as f64)
}

#[test]
fn reno_goes_from_half_of_path_and_threshold_up_to_all_of_it() {
    let k = 20.0;
    let result = marking("preset = \"sack\", ecn = true", 1, k as u64, "24 s");
    let tcp = &result.summary.tcp[0];
    assert_eq!((tcp.retransmitted, tcp.timeouts), (0, 0));
    assert!(tcp.reductions > 5 && tcp.marked > tcp.reductions, "{tcp:?}");
    // A cycle of windows W from (P + K) / 2 to P + K, a round trip each: P / C long below P, W / C above.
    let (mut sent, mut time) = (0.0, 0.0);
    let mut window = (PATH + k + 1.0) / 2.0;
    while window <= PATH + k + 1.0 {
        sent += window;
        time += window.max(PATH);
        window += 1.0;
    }
    let (utilization, ..) = line(&result);
    let expected = sent / time;
    println!("{utilization} of the line, {expected} by the sawtooth");
    assert!((utilization - expected).abs() < 0.02, "{utilization} against {expected}");
}

#[test]
fn dctcp_keeps_its_queue_at_the_threshold_and_the_line_full() {
    // Alizadeh and others (SIGCOMM 2010), section 3.3: W* = P + K, alpha = sqrt(2 / W*), the queue swings by
    // W* alpha / 2 below K + 1; K above P / 7 keeps the line full.
    let k = 20.0;
    let result = marking("preset = \"dctcp\"", 1, k as u64, "24 s");
    let tcp = &result.summary.tcp[0];
    let (utilization, mean, max) = line(&result);
    let full = PATH + k;
    let (alpha, swing) = ((2.0 / full).sqrt(), (full / 2.0).sqrt());
    println!("alpha {:?} against {alpha}; queue {mean} and {max}, which swings by {swing}", tcp.alpha);
    assert_eq!((tcp.retransmitted, tcp.timeouts), (0, 0));
    assert!(utilization > 0.999, "{utilization}");
    assert!(
        (tcp.alpha.expect("DCTCP has one") / alpha - 1.0).abs() < 0.35,
        "{:?} against {alpha}",
        tcp.alpha
    );
    assert!(max <= k + 3.0 && max > k, "{max}");
    assert!((mean - (k + 1.0 - swing / 2.0)).abs() < 2.0, "{mean}");
}

#[test]
fn several_share_the_line_and_the_queue_stays_near_the_threshold() {
    let (n, k) = (4_u64, 40.0);
    let result = marking("preset = \"dctcp\"", n, k as u64, "24 s");
    let (utilization, mean, max) = line(&result);
    let rates: Vec<f64> = result.summary.tcp.iter().map(|tcp| tcp.goodput_bps).collect();
    let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|rate| rate * rate).sum::<f64>());
    println!("{utilization}, queue {mean} and {max}, {rates:?}");
    assert!(utilization > 0.999 && sum * sum / (n as f64 * squares) > 0.95, "{rates:?}");
    // K + N is the most where all are in step.
    assert!(max <= k + 2.0 * n as f64 && (k - 15.0..k + n as f64).contains(&mean), "{mean} and {max}");
    assert!(result.summary.tcp.iter().all(|tcp| tcp.retransmitted == 0));
}

#[test]
fn red_keeps_the_mean_queue_where_its_curve_meets_the_window_of_reno() {
    // A window W is halved once in 3 W^2 / 8 packets (Mathis and others, 1997, every segment acknowledged) when it has
    // grown to W; the mean window is 3/4 of that, so a share p of 1.5 / mean^2 is marked. Of RED's probability that is
    // twice as much, because marks are spread evenly. With 16 senders the mean is (P + q) / 16, and q is above the
    // lower threshold of 20 by 80 p / 2 / 0.1.
    let ecn = "type = \"red\", minimum = \"640 cells\", maximum = \"3200 cells\", probability = 0.1";
    let result = marking_by(ecn, "preset = \"sack\", ecn = true", 16, "10 s");
    let share = |queue: f64| 1.5 / ((PATH + queue) / 16.0).powi(2);
    let expected = (0..50).fold(30.0, |queue, _| 20.0 + 400.0 * share(queue));
    let (utilization, mean, _) = line(&result);
    let sums = result.summary.tcp.iter().fold((0, 0), |(marked, segments), tcp| {
        assert_eq!((tcp.retransmitted, tcp.timeouts), (0, 0));
        (marked + tcp.marked, segments + tcp.segments)
    });
    let marked = sums.0 as f64 / sums.1 as f64;
    println!(
        "{utilization}; queue {mean}, expected {expected}; {marked} marked, expected {}",
        share(expected)
    );
    assert!(utilization > 0.95, "{utilization}");
    assert!((mean - expected).abs() < 5.0, "{mean} against {expected}");
    assert!((marked / share(expected) - 1.0).abs() < 0.35, "{marked} against {}", share(expected));
}

#[test]
fn tcp_that_may_not_be_marked_goes_on() {
    let result = marking("preset = \"sack\"", 1, 20, "8 s");
    let tcp = &result.summary.tcp[0];
    assert_eq!((tcp.marked, tcp.reductions, tcp.alpha), (0, 0, None));
    let (_, mean, _) = line(&result);
    assert!(mean > 1000.0, "the queue has no limit: {mean}");
}
