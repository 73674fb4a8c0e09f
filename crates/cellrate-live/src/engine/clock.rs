//! The wall clock, and logical time as it follows from it.
//!
//! Logical time is the wall clock less the instant of the start, and less what was passed over after stalls too long to
//! be caught up with. The clock is CLOCK_MONOTONIC; a start given in Unix time is turned into it once, so that no later
//! step of the system's date moves a run.

use cellrate_proto::{Duration, Time};
use rustix::event::{PollFd, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

const NS_PER_S: i128 = 1_000_000_000;
const PS_PER_NS: u64 = 1_000;
const PS_PER_S: f64 = 1e12;

/// Logical time.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// The start on CLOCK_MONOTONIC \[ns\].
    origin_ns: i128,
    slipped: Duration,
}

impl Clock {
    /// Begins at `start_unix_ns`, or at once. Whatever came before is past, or still to come.
    pub fn new(start_unix_ns: Option<u64>) -> Clock {
        let monotonic = read(ClockId::Monotonic);
        let origin_ns = match start_unix_ns {
            None => monotonic,
            Some(start) => monotonic + i128::from(start) - read(ClockId::Realtime),
        };
        Clock { origin_ns, slipped: Duration::ZERO }
    }

    /// Logical time now; zero before the start.
    pub fn now(&self) -> Time {
        let ns = (read(ClockId::Monotonic) - self.origin_ns).max(0) as u64;
        Time::from_ps(ns.saturating_mul(PS_PER_NS).saturating_sub(self.slipped.as_ps()))
    }

    /// How long ago an instant of logical time was \[s\], also longer ago than logical time can tell.
    pub fn ago_s(&self, instant: Time) -> f64 {
        let ns = read(ClockId::Monotonic) - self.origin_ns;
        let after = i128::from(self.slipped.as_ps()) + i128::from(instant.as_ps());
        (ns * i128::from(PS_PER_NS) - after) as f64 / PS_PER_S
    }

    /// How long it is until the start; [`Duration::FOREVER`] for one that is further away than a span can say.
    pub fn until_start(&self) -> Duration {
        let ns = (self.origin_ns - read(ClockId::Monotonic)).max(0) as u64;
        Duration::checked_from_ns(ns).unwrap_or(Duration::FOREVER)
    }

    /// Logical time stands still for `span` that has passed.
    pub fn slip(&mut self, span: Duration) {
        self.slipped += span;
    }

    /// All that was passed over.
    pub fn slipped(&self) -> Duration {
        self.slipped
    }
}

/// Waits until one of `fds` is ready or `span` has passed; a signal may end it sooner.
pub(crate) fn wait(fds: &mut [PollFd<'_>], span: Duration) {
    let ns = span.as_ps().div_ceil(PS_PER_NS);
    let timeout = Timespec { tv_sec: (ns / NS_PER_S as u64) as i64, tv_nsec: (ns % NS_PER_S as u64) as i64 };
    // Whatever ended the wait, the caller looks at the clock and at its devices.
    let _ = poll(fds, Some(&timeout));
}

/// Processor time that this process has used \[ns\].
pub(crate) fn cpu_ns() -> u64 {
    read(ClockId::ProcessCPUTime).max(0) as u64
}

/// Processor time of this thread \[ns\].
pub(crate) fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime).max(0) as u64
}

/// The system's date [ns since the Unix epoch].
pub fn unix_ns() -> u64 {
    read(ClockId::Realtime).max(0) as u64
}

fn read(clock: ClockId) -> i128 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    i128::from(tv_sec) * NS_PER_S + i128::from(tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logical_time_waits_for_the_start_and_then_runs() {
        let clock = Clock::new(Some(unix_ns() + 3_000_000_000));
        assert_eq!(clock.now(), Time::ZERO);
        let until = clock.until_start();
        assert!(until > Duration::from_secs(2) && until <= Duration::from_secs(3), "{until}");
        let clock = Clock::new(Some(unix_ns() - 2_000_000_000));
        assert!(clock.now() >= Time::ZERO + Duration::from_ms(1_999));
        assert_eq!(clock.until_start(), Duration::ZERO);
        assert_eq!(Clock::new(Some(u64::MAX)).until_start(), Duration::FOREVER, "in the year 2554");
    }

    #[test]
    fn what_was_long_ago_is_as_long_ago_as_it_was() {
        // A year: logical time, in ps, ends after 213 days.
        let year_s = 365 * 24 * 3600;
        let mut clock = Clock::new(Some(unix_ns() - year_s * 1_000_000_000));
        let end = Time::ZERO + Duration::from_secs(10);
        assert_eq!(clock.now(), Time::from_ps(u64::MAX));
        let late_s = clock.ago_s(end) - (year_s - 10) as f64;
        assert!((0.0..60.0).contains(&late_s), "{late_s}");
        clock.slip(Duration::from_secs(3_600));
        assert!(clock.ago_s(end) < (year_s - 3_600 + 60) as f64);
        assert!(Clock::new(None).ago_s(end) < -9.0, "still to come");
    }

    #[test]
    fn what_is_passed_over_is_missing_ever_after() {
        let mut clock = Clock::new(Some(unix_ns() - 2_000_000_000));
        let before = clock.now();
        clock.slip(Duration::from_secs(1));
        let after = clock.now();
        assert!(after < before && clock.slipped() == Duration::from_secs(1));
    }

    #[test]
    fn a_wait_lasts_as_long_as_it_should() {
        let clock = Clock::new(None);
        let before = clock.now();
        wait(&mut [], Duration::from_us(300));
        assert!(clock.now().since(before) >= Duration::from_us(300));
    }
}
