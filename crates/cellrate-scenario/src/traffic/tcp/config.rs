//! How TCP behaves at both ends: every feature a setting of its own.

use cellrate_proto::declaration::words;
use cellrate_proto::wire::MAX_SDU_OCTETS;
use cellrate_proto::{Duration, Octets};

/// How TCP behaves at both ends.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    /// Largest payload of a segment [octets, 1 to 65000].
    pub mss: Octets,
    /// Octets of TCP and IP header before the payload, without options \[40\].
    pub header: Octets,
    /// The window that the receiver offers [octets, from one MSS to 2^30].
    pub window: Octets,
    /// Whether windows above 65535 octets can be offered (RFC 7323, section 2).
    pub window_scaling: bool,
    /// cwnd at the beginning [octets, at least one MSS].
    pub initial_window: Octets,
    /// ssthresh at the beginning \[octets\]; `None` is above every window.
    pub ssthresh: Option<Octets>,
    /// Loss recovery of the sender.
    pub recovery: Recovery,
    /// How cwnd grows in congestion avoidance, and how much of it a loss takes.
    pub congestion_control: CongestionControl,
    /// How slow start ends before something is lost.
    pub slow_start: SlowStart,
    /// Whether cwnd grows only with ACKs of a time in which it was in use (RFC 7661, in Linux's form).
    pub window_validation: bool,
    /// Value of cwnd after a pause longer than a time-out.
    pub idle_restart: IdleRestart,
    /// Whether the first two duplicate ACKs each let a new segment out (RFC 3042).
    pub limited_transmit: bool,
    /// Which partial ACKs set NewReno's timer anew.
    pub partial_ack_timer: PartialAckTimer,
    /// Proportional rate reduction in a recovery by SACK (RFC 9937); `None`: the window goes down to ssthresh at once,
    /// and nothing leaves until the pipe is below it (RFC 6675).
    pub rate_reduction: Option<RateReduction>,
    /// Whether losses are found by times, and probes sent for those at the tail (RFC 8985). With SACK only.
    pub rack_tlp: bool,
    /// Whether segments leave one by one over a round trip, as Linux paces them.
    pub pacing: bool,
    /// Whether its packets may be marked instead of lost, and ACKs tell of marks (RFC 3168). With DCTCP always.
    pub ecn: bool,
    /// Whether every segment has the timestamps option (RFC 7323, section 3), whose 12 octets its payload has less.
    pub timestamps: bool,
    /// How round trips become a time-out.
    pub estimator: Estimator,
    /// How long it waits for ACKs.
    pub timeout: TimeoutConfig,
    /// When the receiver sends ACKs.
    pub delayed_ack: DelayedAck,
}

words! {
    /// Loss recovery of a sender: its answer to duplicate ACKs.
    pub enum Recovery {
        /// Nothing: only the timer finds losses.
        None = "none",
        /// Fast retransmit, then slow start (BSD Tahoe).
        Tahoe = "tahoe",
        /// Fast retransmit and fast recovery up to the first new ACK (RFC 2581).
        Reno = "reno",
        /// Fast retransmit and fast recovery up to the ACK of all that was sent before (RFC 6582).
        NewReno = "newreno",
        /// By the scoreboard of selective ACKs (RFC 2018, RFC 6675).
        Sack = "sack",
    }
}

words! {
    /// How cwnd grows in congestion avoidance, and how much of it a loss takes.
    pub enum CongestionControl {
        /// A segment per round trip; half (RFC 5681).
        Reno = "reno",
        /// A cubic function of the time since the last loss; three tenths (RFC 9438).
        Cubic = "cubic",
        /// As Linux counts it: CUBIC in whole segments, of cwnd, with a growth of its own before the first loss.
        LinuxCubic = "linux-cubic",
        /// As Reno, but by as much as there is congestion where marks tell of it (RFC 8257).
        Dctcp = "dctcp",
    }
}

words! {
    /// The end of slow start.
    pub enum SlowStart {
        /// At ssthresh, or with a loss (RFC 5681).
        Standard = "standard",
        /// When round trips or trains of ACKs tell that the path is full, with Linux's constants (Ha and Rhee, 2011).
        HyStart = "hystart",
        /// When round trips have become longer and stay so for five rounds of slower growth (RFC 9406).
        HyStartPlusPlus = "hystart++",
    }
}

words! {
    /// The congestion window after a pause of more than a time-out in which nothing was on its way.
    pub enum IdleRestart {
        /// It stays as it was.
        None = "none",
        /// It is the initial window, at most (RFC 5681, section 4.1).
        RestartWindow = "restart-window",
        /// Each time-out halves it, down to the initial window; ssthresh is three quarters of it at least
        /// (`tcp_cwnd_restart`, where `tcp_slow_start_after_idle` is 1).
        Linux = "linux",
    }
}

words! {
    /// An estimator of round trips: what becomes of each measurement.
    pub enum Estimator {
        /// SRTT and four times RTTVAR, of several samples in a round trip each counts less (RFC 6298; RFC 7323,
        /// appendix G). The minimum is that of the time-out.
        Rfc6298 = "rfc6298",
        /// Each sample counts in full; the variation is the largest of a round trip, and the minimum at least: by so
        /// much a time-out is longer than a round trip (`tcp_rtt_estimator`).
        Linux = "linux",
    }
}

/// The word for no [`RateReduction`].
pub(super) const NO_RATE_REDUCTION: &str = "none";

words! {
    /// Proportional rate reduction: how fast the pipe may be filled up to ssthresh where losses have brought it below.
    pub enum RateReduction {
        /// No more than has been delivered (RFC 6937, PRR-CRB).
        Conservative = "conservative",
        /// A segment more for each ACK (RFC 6937, PRR-SSRB).
        SlowStart = "slow-start",
        /// A segment more for each ACK that acknowledges something new and tells of no further loss (RFC 9937).
        SafeAck = "safe-ack",
    }
}

words! {
    /// Which partial ACKs of a recovery set the retransmission timer anew, with NewReno (RFC 6582, section 4).
    pub enum PartialAckTimer {
        /// The first one: where many segments are lost, the timer ends the recovery (impatient, the RFC's rule).
        First = "first",
        /// All of them: a hole is filled per round trip, however many there are (slow but steady).
        Every = "every",
    }
}

/// The retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutConfig {
    /// Round trips are measured in, and timers expire at, multiples of this [1 us to 1 s].
    pub granularity: Duration,
    /// Smallest time-out, before back-off.
    pub minimum: Duration,
    /// Largest time-out, back-off included.
    pub maximum: Duration,
    /// Time-out before the first measurement.
    pub initial: Duration,
}

/// When a receiver sends ACKs. Segments out of order, and those that fill a hole, are acknowledged at once by all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// For every segment.
    EverySegment,
    /// For every second segment, and at the beats of a clock for a single one (BSD: every 200 ms).
    Heartbeat(Duration),
    /// For every second segment, and for a single one this long after it came.
    Timer(Duration),
    /// For every second segment, and for a single one at the first tick of a clock that is not earlier than so long
    /// after it came (Solaris 2.4: 50 ms, ticks of 10 ms).
    TimerOnTicks {
        /// How long.
        timer: Duration,
        /// From one tick to the next.
        ticks: Duration,
    },
}

/// The largest shift of a window (RFC 7323, section 2.3).
const MOST_SHIFT: u32 = 14;

/// The largest window that this shift allows, rounded to a power of two.
pub const MAX_WINDOW: u64 = 1 << 30;

/// The largest payload of a segment: with its headers and options it has to fit into an AAL5 SDU.
pub const MAX_MSS: u64 = 65_000;

const _: () = assert!(MAX_MSS as usize + 40 + 40 + 8 < MAX_SDU_OCTETS);

/// Octets that the timestamps option takes in every segment, two that do nothing included (RFC 7323, appendix A).
pub const TIMESTAMPS_OCTETS: Octets = Octets(12);

impl TcpConfig {
    /// Most octets of data in a segment: the largest payload without the timestamps, if there are any (RFC 6691).
    pub fn payload(&self) -> Octets {
        if self.timestamps { Octets(self.mss.0.saturating_sub(TIMESTAMPS_OCTETS.0)) } else { self.mss }
    }

    /// The window as a 16-bit field and a shift can say it: rounded down to a multiple of 2^shift (RFC 7323, 2.2).
    ///
    /// ```
    /// use cellrate_proto::Octets;
    /// let mut tcp = cellrate_scenario::Preset::named("reno").unwrap().tcp();
    /// tcp.window = Octets(8_704_000);
    /// assert_eq!(tcp.offered_window(), Octets(8_704_000)); // 34000 * 2^8, as paper tcp-lrd-vbr writes it
    /// tcp.window = Octets(100_001);
    /// assert_eq!(tcp.offered_window(), Octets(100_000));
    /// tcp.window_scaling = false;
    /// assert_eq!(tcp.offered_window(), Octets(65_535));
    /// ```
    pub fn offered_window(&self) -> Octets {
        const FIELD: u64 = 0xffff;
        let most = if self.window_scaling { MOST_SHIFT } else { 0 };
        let fits = |shift: &u32| self.window.0 >> shift <= FIELD;
        let shift = (0..most).find(fits).unwrap_or(most);
        Octets((self.window.0 >> shift).min(FIELD) << shift)
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets::Preset;
    use super::*;

    #[test]
    fn a_window_is_rounded_down_to_what_its_shift_can_say() {
        // 16 * 64 kB = 2^20 needs a shift of 5: 2^20 / 2^4 = 65536 is one too many for 16 bits.
        let tcp = Preset::named("tcp-lrd-vbr").expect("it is there").tcp();
        assert_eq!(tcp.offered_window(), Octets(1 << 20));
        let odd = TcpConfig { window: Octets((1 << 20) + 31), ..tcp };
        assert_eq!(odd.offered_window(), Octets(1 << 20));
        // A shift of 15 could say 2^30, and there is none.
        let largest = TcpConfig { window: Octets(MAX_WINDOW), ..odd };
        assert_eq!(largest.offered_window(), Octets(65_535 << 14));
    }
}
