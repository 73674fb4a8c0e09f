//! How TCP behaves at both ends: every feature a setting of its own.

use cellrate_proto::declaration::{Kind, SpanOrZero, Table, joined, total, words};
use cellrate_proto::wire::MAX_SDU_OCTETS;
use cellrate_proto::{Duration, Octets};

use super::delayed_ack::{DELAYED_ACK_OR_NONE, DelayedAck};
use crate::text::check;
use crate::text::written::{OctetsOrNoEnd, from_node, setting};

/// How TCP behaves at both ends: what a scenario does not say is as the preset has it.
#[derive(Clone, Debug, PartialEq, Table)]
#[table(written, beside(base: &TcpConfig))]
pub struct TcpConfig {
    /// Largest payload of a segment: 1 to 65000 octets.
    #[key(default = "of the preset", or = base.mss)]
    pub mss: Octets,
    /// Octets of TCP and IP header before the payload, without options: 0 to 120.
    #[key(default = "\"40 octets\"", or = base.header)]
    pub header: Octets,
    /// The window that the receiver offers: a segment at least, at most 1 GiB.
    #[key(default = "of the preset", or = base.window)]
    pub window: Octets,
    /// Windows above 65535 octets can be offered, in steps of a power of two.
    ///
    /// RFC 7323, section 2.
    #[key(default = "true", or = base.window_scaling)]
    pub window_scaling: bool,
    /// The congestion window at the beginning: a segment at least.
    #[key(default = "as many segments as the preset has", or = Octets(base.initial_window.0 / base.mss.0 * mss.0))]
    pub initial_window: Octets,
    /// The slow start threshold at the beginning.
    ///
    /// `None` is above every window.
    #[key(default = "\"infinite\"", or = base.ssthresh, as = OctetsOrNoEnd)]
    pub ssthresh: Option<Octets>,
    /// The sender's answer to duplicate ACKs; "none": only the timer finds losses.
    #[key(default = "of the preset", or = base.recovery)]
    pub recovery: Recovery,
    /// How cwnd grows in congestion avoidance, and how much of it a loss or a mark takes: RFC 5681, RFC 9438, CUBIC as
    /// Linux counts it, or RFC 8257.
    #[key(default = "of the preset", or = base.congestion_control)]
    pub congestion_control: CongestionControl,
    /// How slow start ends before something is lost: at ssthresh only, when round trips or trains of ACKs tell that the
    /// path is full (Linux), or by RFC 9406. The latter two need timestamps.
    #[key(default = "of the preset", or = base.slow_start)]
    pub slow_start: SlowStart,
    /// cwnd grows only with ACKs of a time in which it was in use: not while the application, the receiver or the
    /// adapter lets less leave (RFC 7661 and RFC 9438, section 5.8, as Linux counts); else with every ACK, as TCP did
    /// before.
    #[key(default = "of the preset", or = base.window_validation)]
    pub window_validation: bool,
    /// cwnd after a pause of more than a time-out with nothing on its way: as it was, the initial window (RFC 5681,
    /// section 4.1), or halved for each time-out (Linux with tcp_slow_start_after_idle).
    #[key(default = "\"none\"", or = base.idle_restart)]
    pub idle_restart: IdleRestart,
    /// Each of the first two duplicate ACKs lets a new segment leave (RFC 3042), so that a third one comes even with a
    /// small window.
    #[key(default = "of the preset", or = base.limited_transmit)]
    pub limited_transmit: bool,
    /// Which partial ACKs of a recovery restart NewReno's timer: "first" (impatient) or "every" (slow but steady).
    #[key(default = "\"first\"", or = base.partial_ack_timer)]
    pub partial_ack_timer: PartialAckTimer,
    /// Proportional rate reduction (RFC 9937) in a recovery by SACK, and the bound where losses have brought the pipe
    /// below ssthresh: as much as is delivered, a segment more for each ACK, or for each that advances and tells of no
    /// further loss.
    ///
    /// `None`: the window goes down to ssthresh at once, and nothing leaves until the pipe is below it (RFC 6675).
    #[key(name = "prr", default = "of the preset", or = base.rate_reduction, as = ReductionOrNone)]
    pub rate_reduction: Option<RateReduction>,
    /// With SACK: losses are found by the times at which segments left, not by counting, and a probe goes out where
    /// nothing comes back for two round trips (RFC 8985).
    #[key(default = "of the preset", or = base.rack_tlp)]
    pub rack_tlp: bool,
    /// Segments leave one by one, as Linux paces them: 2 x cwnd per round trip below half of ssthresh, 1.2 x above.
    #[key(default = "of the preset", or = base.pacing)]
    pub pacing: bool,
    /// Ports that have `ecn` may mark its packets, ACKs tell of marks, and the sender reduces its window (RFC 3168).
    #[key(
        default = "true with dctcp, else of the preset",
        or = base.ecn || congestion_control == CongestionControl::Dctcp
    )]
    pub ecn: bool,
    /// Every segment has the timestamps option (RFC 7323), which takes 12 octets of its payload; each ACK of something
    /// new measures a round trip, in steps of timer_granularity.
    #[key(default = "of the preset", or = base.timestamps)]
    pub timestamps: bool,
    /// How round trips become a time-out: by RFC 6298, with samples of timestamps weighted by RFC 7323, appendix G; or
    /// as Linux has it, a round trip and minimum_rto at least.
    #[key(name = "rtt_estimator", default = "of the preset", or = base.estimator)]
    pub estimator: Estimator,
    /// How long it waits for ACKs.
    #[key(flatten, with = &base.timeout)]
    pub timeout: TimeoutConfig,
    /// When the receiver acknowledges segments in order.
    #[key(default = "of the preset", or = base.delayed_ack, kind = DELAYED_ACK_OR_NONE)]
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

/// The word of a reduction, or "none", which is `None`.
#[derive(Debug)]
pub struct ReductionOrNone;

setting!(
    ReductionOrNone => Option<RateReduction>,
    Kind::Choice({
        const PARTS: &[&[&str]] = &[&["none"], RateReduction::WORDS];
        &joined::<_, { total(PARTS) }>(PARTS)
    }),
    true
);

from_node! {
    ReductionOrNone: |node| check::text(node).map(RateReduction::named);
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Table)]
#[table(written, beside(base: &TimeoutConfig))]
pub struct TimeoutConfig {
    /// Round trips are measured in, and timers expire at, multiples of this: "1 us" to "1 s".
    #[key(name = "timer_granularity", default = "of the preset", or = base.granularity)]
    pub granularity: Duration,
    /// Smallest retransmission time-out, before back-off.
    #[key(name = "minimum_rto", default = "of the preset", or = base.minimum, as = SpanOrZero)]
    pub minimum: Duration,
    /// Largest retransmission time-out, back-off included.
    #[key(name = "maximum_rto", default = "of the preset", or = base.maximum)]
    pub maximum: Duration,
    /// Time-out before the first measurement.
    #[key(name = "initial_rto", default = "of the preset", or = base.initial)]
    pub initial: Duration,
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
