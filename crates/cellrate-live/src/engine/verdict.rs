//! Whether a run was in time: what is measured, and what is asked for.
//!
//! Four things are measured. The *lateness* of each wake-up: how long the first event that was due had been due.
//! *Stalls*: a canary, a thread of its own that does nothing but sleep for 1 ms at a time, sees how often and how long
//! the whole machine stood still. The *CPU share* of the engine's thread. And, with cells from other processes, how
//! many of them came *late*, after the instant at which they should have reached the node. What a stall does to a run
//! is bounded by logical time: cells keep their ideal instants and only their delivery to the outside is late.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use cellrate_engine::histogram::Histogram;
use cellrate_proto::{Duration, Time};
use rustix::thread::set_current_timer_slack;
use serde::Serialize;

use super::clock::{Clock, wait};

/// What a run in time looks like. Every limit may be set.
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
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            lateness_p99: None,
            stalled_share: 0.1,
            longest_stall: Duration::from_ms(100),
            cpu_share: 0.9,
            late_cells: 0.001,
        }
    }
}

/// What was measured of a run's timing, and what follows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// Whether the run was in time.
    pub passed: bool,
    /// What was not: one sentence each, with figure and limit.
    pub failures: Vec<String>,
    /// The wake-up quantum of the run [s].
    pub quantum_s: f64,
    /// Wake-ups at which something was due.
    pub wakeups: u64,
    /// Median of how long the first due event had been due [s]; null when nothing was ever due.
    pub lateness_p50_s: Option<f64>,
    /// 99th percentile of the same [s].
    pub lateness_p99_s: Option<f64>,
    /// Largest of the same [s].
    pub lateness_max_s: Option<f64>,
    /// Wake-ups that had more than four quanta to catch up with.
    pub catch_ups: u64,
    /// Logical time passed over after stalls too long to be caught up with [s].
    pub slipped_s: f64,
    /// Times that the machine stood still for more than 2 ms.
    pub stalls: u64,
    /// The longest of them [s].
    pub longest_stall_s: f64,
    /// All of them together over the duration [0 to 1].
    pub stalled_share: f64,
    /// Share of the cells from other processes that came after the instant at which they should have been here [0 to
    /// 1].
    pub late_cells_share: f64,
    /// Processor time of the engine's thread over wall time [0 to 1].
    pub cpu_share: f64,
    /// Processor time of the whole process over wall time [0 to the number of processors].
    pub process_cpu_share: f64,
}

/// Shorter ones are what any system does.
const SHORTEST_STALL: Duration = Duration::from_ms(2);
const CANARY_PERIOD: Duration = Duration::from_ms(1);

/// What the canary saw.
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

/// What is known at the end of a run beside its lateness.
pub(crate) struct Measured {
    pub quantum: Duration,
    pub slipped: Duration,
    pub stalls: Stalls,
    /// Cells from other processes, and how many of them were late.
    pub foreign_cells: u64,
    pub late_cells: u64,
    /// Wall time [ns].
    pub wall_ns: u64,
    pub thread_cpu_ns: u64,
    pub process_cpu_ns: u64,
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
    let late_cells_share = measured.late_cells as f64 / measured.foreign_cells.max(1) as f64;
    if late_cells_share > thresholds.late_cells {
        let (share, limit) = (100.0 * late_cells_share, 100.0 * thresholds.late_cells);
        failures
            .push(format!("{share:.2} % of the cells from other nodes were late; the limit is {limit:.2} %"));
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
        cpu_share,
        process_cpu_share: measured.process_cpu_ns as f64 * 1e-9 / wall_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Measured {
        Measured {
            quantum: Duration::from_us(500),
            slipped: Duration::ZERO,
            stalls: Stalls::default(),
            foreign_cells: 10_000,
            late_cells: 10,
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
            Measured { late_cells: 11, ..measured() },
        ];
        for measured in cases {
            let timing = judge(&lateness(0), &measured, &Thresholds::default());
            assert_eq!((timing.passed, timing.failures.len()), (false, 1), "{timing:?}");
        }
        let just = Measured { stalls: stalls(100, 100), thread_cpu_ns: 900_000_000, ..measured() };
        assert!(judge(&lateness(0), &just, &Thresholds::default()).passed);
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
