//! Whether a run was in time: what is measured, and what is asked for.
//!
//! Five things are measured. The *lateness* of each wake-up: how long the first event that was due had been due.
//! *Stalls*: a canary, a thread of its own that does nothing but sleep for 1 ms at a time, sees how often and how long
//! the whole machine stood still. The *CPU share* of the engine's thread. And, with cells from other processes, how
//! many of them came *late*, after the instant at which they should have reached the node, and what became of the
//! *datagrams* that brought them. What a stall does to a run is bounded by logical time: cells keep their ideal
//! instants
//! and only their delivery to the outside is late. What datagrams lose is lost to the network and no loss of the
//! scenario's, so a run on a path that loses them does not count.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use cellrate_engine::declared::Row;
use cellrate_engine::histogram::Histogram;
use cellrate_proto::{Duration, Time};
use rustix::thread::set_current_timer_slack;
use serde::Serialize;

use super::clock::{Clock, wait};
use super::counters::PeerCounters;

/// Limits within which a live run was in time. Every limit may be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// The most that the 99th percentile of lateness may be. Default four quanta, at least 2 ms.
    pub lateness_p99: Option<Duration>,
    /// The largest share of the run that stalls of more than 2 ms may take [0 to 1]. Default 0.1.
    pub stalled_share: f64,
    /// The longest stall. Default 100 ms.
    pub longest_stall: Duration,
    /// The largest share of one processor that the engine may need [0 to 1]. Default 0.9.
    pub cpu_share: f64,
    /// The largest share of the cells from other processes that may come after the instant at which they should have
    /// been here [0 to 1]. Default 0.001: a burst of late cells misleads a switch that measures rates.
    pub late_cells: f64,
    /// The largest share of a link's datagrams that may be missing, or come again or after a later one [0 to 1].
    /// Default 0.001, as for late cells.
    pub lost_datagrams: f64,
    /// The largest share of the datagrams from neighbours that may be malformed [0 to 1]. Default 0.001.
    pub malformed_datagrams: f64,
    /// The largest share of a link's datagrams that the system may refuse to send [0 to 1]. Default 0.001.
    pub send_errors: f64,
    /// Restarts of neighbours that may be. Default none.
    pub restarts: u64,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            lateness_p99: None,
            stalled_share: 0.1,
            longest_stall: Duration::from_ms(100),
            cpu_share: 0.9,
            late_cells: 0.001,
            lost_datagrams: 0.001,
            malformed_datagrams: 0.001,
            send_errors: 0.001,
            restarts: 0,
        }
    }
}

/// Timing of a run as measured, and the verdict that follows.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "timing", many = "timings", named = "")]
pub struct Timing {
    /// Whether the run was in time.
    pub passed: bool,
    /// Limits that were exceeded: one sentence each, with figure and limit.
    pub failures: Vec<String>,
    /// The wake-up quantum of the run.
    #[row(unit = s, adds = none)]
    pub quantum_s: f64,
    /// Wake-ups at which something was due.
    #[row(unit = plain, adds = sum)]
    pub wakeups: u64,
    /// Median of how long the first due event had been due; null when nothing was ever due.
    #[row(unit = s, adds = none)]
    pub lateness_p50_s: Option<f64>,
    /// 99th percentile of the same.
    #[row(unit = s, adds = largest)]
    pub lateness_p99_s: Option<f64>,
    /// Largest of the same.
    #[row(unit = s, adds = largest)]
    pub lateness_max_s: Option<f64>,
    /// Wake-ups that had more than four quanta to catch up with.
    #[row(unit = plain, adds = sum)]
    pub catch_ups: u64,
    /// Logical time passed over after stalls too long to be caught up with.
    #[row(unit = s, adds = sum)]
    pub slipped_s: f64,
    /// Times that the machine stood still for more than 2 ms.
    #[row(unit = plain, adds = sum)]
    pub stalls: u64,
    /// The longest of them.
    #[row(unit = s, adds = largest)]
    pub longest_stall_s: f64,
    /// All of them together over the duration.
    #[row(unit = share, adds = largest)]
    pub stalled_share: f64,
    /// Share of the cells from other processes that came after the instant at which they should have been
    /// here.
    #[row(unit = share, adds = largest)]
    pub late_cells_share: f64,
    /// Share of the datagrams from other processes that were missing, or came again or after a later one: of
    /// the link with the most of them.
    #[row(unit = share, adds = largest)]
    pub lost_datagrams_share: f64,
    /// Processor time of the engine's thread over wall time.
    #[row(unit = share, adds = largest)]
    pub cpu_share: f64,
    /// Processor time of the whole process over wall time.
    #[row(unit = multiple, adds = largest)]
    pub process_cpu_share: f64,
}

/// Shorter ones are what any system does.
const SHORTEST_STALL: Duration = Duration::from_ms(2);
const CANARY_PERIOD: Duration = Duration::from_ms(1);

/// Stalls of the machine as the canary saw them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stalls {
    pub count: u64,
    pub longest: Duration,
    pub total: Duration,
}

/// The thread that watches for stalls.
pub(crate) struct Canary {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Stalls>>,
}

impl Canary {
    /// Begins to watch; a system without a thread to spare has no canary, and no stalls are known.
    pub fn start() -> Canary {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("canary".into()).spawn(move || watch(&stopped)).ok();
        Canary { stop, thread }
    }

    /// Ends the watch.
    pub fn stop(mut self) -> Stalls {
        self.end().unwrap_or_default()
    }

    fn end(&mut self) -> Option<Stalls> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.end();
    }
}

fn watch(stop: &AtomicBool) -> Stalls {
    precise_timers();
    let clock = Clock::new(None);
    let mut stalls = Stalls::default();
    let mut due = Time::ZERO + CANARY_PERIOD;
    while !stop.load(Ordering::Relaxed) {
        wait(&mut [], due.since(clock.now()));
        let now = clock.now();
        stalls.note(now.since(due));
        due = now.max(due) + CANARY_PERIOD;
    }
    stalls
}

impl Stalls {
    fn note(&mut self, late: Duration) {
        if late > SHORTEST_STALL {
            self.count += 1;
            self.longest = self.longest.max(late);
            self.total += late;
        }
    }
}

/// Timers of this thread end when they should, not up to 50 us later.
pub(crate) fn precise_timers() {
    // Where the system refuses, lateness shows it.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Lateness of wake-ups, while a run goes on.
#[derive(Debug, Default)]
pub(crate) struct Lateness {
    histogram: Histogram,
    wakeups: u64,
    catch_ups: u64,
}

impl Lateness {
    /// A wake-up at which the first event had been due for `late`.
    pub fn note(&mut self, late: Duration, quantum: Duration) {
        self.wakeups += 1;
        self.catch_ups += u64::from(late > quantum * 4);
        self.histogram.record(late);
    }
}

/// Measurements at the end of a run, beside its lateness.
pub(crate) struct Measured {
    pub quantum: Duration,
    pub slipped: Duration,
    pub stalls: Stalls,
    /// Links into other processes.
    pub links: Vec<LinkFigures>,
    /// Datagrams from neighbours that were malformed.
    pub malformed: u64,
    /// Wall time \[ns\].
    pub wall_ns: u64,
    pub thread_cpu_ns: u64,
    pub process_cpu_ns: u64,
}

/// Figures of a link into another process.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkFigures {
    /// "sw1-sw2".
    pub link: String,
    /// Whether nothing came in all the time that RM cells, which are answered, were sent.
    pub unanswered: bool,
    pub counters: PeerCounters,
}

impl LinkFigures {
    /// Share of the datagrams for this end that are missing, or came out of order.
    fn lost_share(&self) -> f64 {
        let lost = self.counters.missing + self.counters.out_of_order;
        lost as f64 / (lost + self.counters.received).max(1) as f64
    }

    /// Faults of the link, a sentence each.
    fn failures(&self, thresholds: &Thresholds) -> Vec<String> {
        let LinkFigures { link, unanswered, counters } = self;
        let mut failures = Vec::new();
        let percent = |share: f64| 100.0 * share;
        if self.lost_share() > thresholds.lost_datagrams {
            failures.push(format!(
                "{link}: {} datagrams missing and {} out of order beside {} that were taken; the limit is {:.2} %",
                counters.missing,
                counters.out_of_order,
                counters.received,
                percent(thresholds.lost_datagrams)
            ));
        }
        if *unanswered {
            failures.push(format!("{link}: {} datagrams were sent and none came", counters.sent));
        }
        if counters.send_errors as f64 > thresholds.send_errors * counters.sent as f64 {
            failures.push(format!(
                "{link}: {} of {} datagrams could not be sent; the limit is {:.2} %",
                counters.send_errors,
                counters.sent,
                percent(thresholds.send_errors)
            ));
        }
        if counters.restarts > thresholds.restarts {
            let limit = if thresholds.restarts == 0 {
                "none may be".into()
            } else {
                format!("the limit is {}", thresholds.restarts)
            };
            failures.push(format!("{link}: {} restarts of the neighbour; {limit}", counters.restarts));
        }
        failures
    }
}

/// Judges a run.
pub(crate) fn judge(lateness: &Lateness, measured: &Measured, thresholds: &Thresholds) -> Timing {
    let wall_s = measured.wall_ns.max(1) as f64 * 1e-9;
    let stalled_share = measured.stalls.total.as_secs_f64() / wall_s;
    let cpu_share = measured.thread_cpu_ns as f64 * 1e-9 / wall_s;
    let lateness_p99_s = lateness.histogram.quantile_s(0.99);
    let limit = thresholds.lateness_p99.unwrap_or((measured.quantum * 4).max(Duration::from_ms(2)));
    let ms = |s: f64| s * 1e3;
    let mut failures = Vec::new();
    if let Some(p99) = lateness_p99_s.filter(|&p99| p99 > limit.as_secs_f64()) {
        failures.push(format!("99 % of wake-ups were up to {:.2} ms late; the limit is {limit}", ms(p99)));
    }
    if measured.slipped > Duration::ZERO {
        let slipped = ms(measured.slipped.as_secs_f64());
        failures.push(format!("{slipped:.1} ms were passed over after stalls; none may be"));
    }
    if stalled_share > thresholds.stalled_share {
        let (share, limit) = (100.0 * stalled_share, 100.0 * thresholds.stalled_share);
        failures
            .push(format!("the machine stood still for {share:.1} % of the time; the limit is {limit:.1} %"));
    }
    if measured.stalls.longest > thresholds.longest_stall {
        let longest = ms(measured.stalls.longest.as_secs_f64());
        let limit = thresholds.longest_stall;
        failures.push(format!("the machine once stood still for {longest:.1} ms; the limit is {limit}"));
    }
    let total =
        |of: fn(&PeerCounters) -> u64| measured.links.iter().map(|link| of(&link.counters)).sum::<u64>();
    let late_cells_share =
        total(|link| link.late_cells) as f64 / total(|link| link.cells_received).max(1) as f64;
    if late_cells_share > thresholds.late_cells {
        let (share, limit) = (100.0 * late_cells_share, 100.0 * thresholds.late_cells);
        failures
            .push(format!("{share:.2} % of the cells from other nodes were late; the limit is {limit:.2} %"));
    }
    failures.extend(measured.links.iter().flat_map(|link| link.failures(thresholds)));
    let malformed_share =
        measured.malformed as f64 / (measured.malformed + total(|link| link.received)).max(1) as f64;
    if malformed_share > thresholds.malformed_datagrams {
        let limit = 100.0 * thresholds.malformed_datagrams;
        let malformed = measured.malformed;
        failures
            .push(format!("{malformed} datagrams from neighbours were malformed; the limit is {limit:.2} %"));
    }
    if cpu_share > thresholds.cpu_share {
        let (share, limit) = (100.0 * cpu_share, 100.0 * thresholds.cpu_share);
        failures.push(format!("the engine took {share:.0} % of a processor; the limit is {limit:.0} %"));
    }
    Timing {
        passed: failures.is_empty(),
        failures,
        quantum_s: measured.quantum.as_secs_f64(),
        wakeups: lateness.wakeups,
        lateness_p50_s: lateness.histogram.quantile_s(0.5),
        lateness_p99_s,
        lateness_max_s: lateness.histogram.max_s(),
        catch_ups: lateness.catch_ups,
        slipped_s: measured.slipped.as_secs_f64(),
        stalls: measured.stalls.count,
        longest_stall_s: measured.stalls.longest.as_secs_f64(),
        stalled_share,
        late_cells_share,
        lost_datagrams_share: measured.links.iter().map(LinkFigures::lost_share).fold(0.0, f64::max),
        cpu_share,
        process_cpu_share: measured.process_cpu_ns as f64 * 1e-9 / wall_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link whose counters are just within the limits but for those that `more` adds.
    fn link(more: PeerCounters) -> LinkFigures {
        let counters = PeerCounters {
            sent: 1_000,
            cells_sent: 10_000,
            send_errors: 1 + more.send_errors,
            received: 1_998,
            cells_received: 10_000,
            missing: 1 + more.missing,
            out_of_order: 1 + more.out_of_order,
            restarts: more.restarts,
            late_cells: 10 + more.late_cells,
        };
        LinkFigures { link: "sw1-sw2".into(), unanswered: false, counters }
    }

    fn measured() -> Measured {
        Measured {
            quantum: Duration::from_us(500),
            slipped: Duration::ZERO,
            stalls: Stalls::default(),
            links: vec![link(PeerCounters::default())],
            malformed: 1,
            wall_ns: 1_000_000_000,
            thread_cpu_ns: 250_000_000,
            process_cpu_ns: 300_000_000,
        }
    }

    /// A thousand wake-ups, `late` of them late by 3 ms and the others by 0.4 ms.
    fn lateness(late: u64) -> Lateness {
        let mut lateness = Lateness::default();
        let quantum = Duration::from_us(500);
        (0..1000).for_each(|n| lateness.note(Duration::from_us(if n < late { 3000 } else { 400 }), quantum));
        lateness
    }

    #[test]
    fn one_late_wake_up_in_a_hundred_passes_and_more_do_not() {
        let thresholds = Thresholds::default();
        let timing = judge(&lateness(10), &measured(), &thresholds);
        assert!(timing.passed && timing.catch_ups == 10, "{timing:?}");
        let timing = judge(&lateness(11), &measured(), &thresholds);
        assert_eq!(timing.failures.len(), 1);
        assert!(timing.failures[0].ends_with("the limit is 2 ms"), "{:?}", timing.failures);
        let relaxed = Thresholds { lateness_p99: Some(Duration::from_ms(4)), ..thresholds };
        assert!(judge(&lateness(11), &measured(), &relaxed).passed);
    }

    #[test]
    fn each_measure_can_fail_a_run_alone() {
        let stalls = |total_ms, longest_ms| Stalls {
            count: 1,
            longest: Duration::from_ms(longest_ms),
            total: Duration::from_ms(total_ms),
        };
        let cases = [
            Measured { slipped: Duration::from_us(1), ..measured() },
            Measured { stalls: stalls(101, 50), ..measured() },
            Measured { stalls: stalls(101, 101), wall_ns: 2_000_000_000, ..measured() },
            Measured { thread_cpu_ns: 910_000_000, ..measured() },
            Measured { malformed: 3, ..measured() },
        ];
        for measured in cases {
            let timing = judge(&lateness(0), &measured, &Thresholds::default());
            assert_eq!((timing.passed, timing.failures.len()), (false, 1), "{timing:?}");
        }
        let just = Measured { stalls: stalls(100, 100), thread_cpu_ns: 900_000_000, ..measured() };
        assert!(judge(&lateness(0), &just, &Thresholds::default()).passed);
    }

    #[test]
    fn each_measure_of_a_link_can_fail_a_run_alone_and_names_it() {
        let none = PeerCounters::default();
        assert!(judge(&lateness(0), &measured(), &Thresholds::default()).passed);
        let cases = [
            (PeerCounters { late_cells: 1, ..none }, "0.11 % of the cells from other nodes were late"),
            (
                PeerCounters { missing: 1, ..none },
                "sw1-sw2: 2 datagrams missing and 1 out of order beside 1998",
            ),
            (PeerCounters { out_of_order: 1, ..none }, "sw1-sw2: 1 datagrams missing and 2 out of order"),
            (PeerCounters { send_errors: 1, ..none }, "sw1-sw2: 2 of 1000 datagrams could not be sent"),
            (PeerCounters { restarts: 1, ..none }, "sw1-sw2: 1 restarts of the neighbour; none may be"),
        ];
        for (more, said) in cases {
            let measured = Measured { links: vec![link(more)], ..measured() };
            let timing = judge(&lateness(0), &measured, &Thresholds::default());
            assert!(timing.failures.len() == 1 && timing.failures[0].starts_with(said), "{timing:?}");
        }
    }

    #[test]
    fn a_link_on_which_nothing_comes_back_is_dead() {
        let counters = PeerCounters { sent: 100, ..PeerCounters::default() };
        let dead = LinkFigures { link: "a-sw".into(), unanswered: true, counters };
        let failures = dead.failures(&Thresholds::default());
        assert_eq!(failures, ["a-sw: 100 datagrams were sent and none came"]);
    }

    #[test]
    fn only_stalls_of_more_than_two_milliseconds_count() {
        let mut stalls = Stalls::default();
        for late in [2, 3, 5] {
            stalls.note(Duration::from_ms(late));
        }
        assert_eq!(stalls, Stalls { count: 2, longest: Duration::from_ms(5), total: Duration::from_ms(8) });
    }

    #[test]
    fn the_canary_ends_when_told() {
        let canary = Canary::start();
        wait(&mut [], Duration::from_ms(5));
        let stalls = canary.stop();
        assert!(stalls.longest < Duration::from_secs(2));
    }
}
