//! TCP as a family: every feature a setting of its own, and presets that name what a paper or a system used.

use cellrate_proto::wire::{Encapsulation, MAX_SDU_OCTETS};
use cellrate_proto::{Cells, Duration, Octets, Time};

use crate::model::{Pages, TrafficKind};

/// TCP traffic of one direction of a connection: the sender at its beginning, the receiver at its end, and the ACKs as
/// data of the other direction.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpTraffic {
    /// How both ends behave.
    pub tcp: TcpConfig,
    /// How IP packets become AAL5 SDUs, both ways.
    pub encapsulation: Encapsulation,
    /// TCP connections side by side on the VC that send `transfer`, up to 65535; none where there are only pages.
    pub connections: u16,
    /// Amount that each of them sends; `None` is without end.
    pub transfer: Option<Octets>,
    /// When the application hands over its data; these connections are open by then, without handshake. When the first
    /// page begins.
    pub start: Time,
    /// From this instant on nothing is sent for the first time: what is on its way is completed, the rest is dropped by
    /// the application.
    pub end: Time,
    /// Pages that clients fetch beside those connections; on the forward flow only. The backward flow carries the
    /// responses, with its own settings if it has TCP traffic, else with these.
    pub pages: Option<Pages>,
    /// The queue at each end of the VC for PDUs that wait for their turn.
    pub adapter_queue: AdapterQueue,
    /// Whether `connections` is 1 and stands for one after the other: a new one for each flow of a size that a
    /// [demand](crate::Demand) gives the VC. There are no `transfer` and no `pages` then.
    pub successive: bool,
}

/// The queue between IP and the VC: its room, or what it does to TCP when it is full. A PDU that finds no room is lost
/// whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AdapterQueue {
    /// Without limit (default).
    #[default]
    Unbounded,
    /// So many cells, those of a PDU in transmission that have not left included.
    Cells(Cells),
    /// So many PDUs, the one in transmission included.
    Pdus(u64),
    /// Back-pressure: TCP hands over its next data while fewer cells than this wait [at least 1], and keeps them
    /// otherwise. Nothing is lost. ACKs and SYN are taken in at any time.
    HighWater(Cells),
    /// ACKs of the direction back pass while fewer cells than this wait [at least 1], and are held otherwise.
    HoldAcks(Cells),
    /// The window that ACKs of the direction back offer becomes what ACR carries in so long, a segment at least: all
    /// connections have equal parts.
    Window(Duration),
}

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

/// Loss recovery of a sender: its answer to duplicate ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing: only the timer finds losses.
    None,
    /// Fast retransmit, then slow start (BSD Tahoe).
    Tahoe,
    /// Fast retransmit and fast recovery up to the first new ACK (RFC 2581).
    Reno,
    /// Fast retransmit and fast recovery up to the ACK of all that was sent before (RFC 6582).
    NewReno,
    /// By the scoreboard of selective ACKs (RFC 2018, RFC 6675).
    Sack,
}

/// How cwnd grows in congestion avoidance, and how much of it a loss takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// A segment per round trip; half (RFC 5681).
    Reno,
    /// A cubic function of the time since the last loss; three tenths (RFC 9438).
    Cubic,
    /// As Linux counts it: CUBIC in whole segments, of cwnd, with a growth of its own before the first loss.
    LinuxCubic,
    /// As Reno, but by as much as there is congestion where marks tell of it (RFC 8257).
    Dctcp,
}

/// The end of slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStart {
    /// At ssthresh, or with a loss (RFC 5681).
    Standard,
    /// When round trips or trains of ACKs tell that the path is full, with Linux's constants (Ha and Rhee, 2011).
    HyStart,
    /// When round trips have become longer and stay so for five rounds of slower growth (RFC 9406).
    HyStartPlusPlus,
}

/// An estimator of round trips: what becomes of each measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// SRTT and four times RTTVAR, of several samples in a round trip each counts less (RFC 6298; RFC 7323, appendix
    /// G). The minimum is that of the time-out.
    Rfc6298,
    /// Each sample counts in full; the variation is the largest of a round trip, and the minimum at least: by so much a
    /// time-out is longer than a round trip (`tcp_rtt_estimator`).
    Linux,
}

/// Proportional rate reduction: how fast the pipe may be filled up to ssthresh where losses have brought it below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateReduction {
    /// No more than has been delivered (RFC 6937, PRR-CRB).
    Conservative,
    /// A segment more for each ACK (RFC 6937, PRR-SSRB).
    SlowStart,
    /// A segment more for each ACK that acknowledges something new and tells of no further loss (RFC 9937).
    SafeAck,
}

/// Which partial ACKs of a recovery set the retransmission timer anew, with NewReno (RFC 6582, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialAckTimer {
    /// The first one: where many segments are lost, the timer ends the recovery (impatient, the RFC's rule).
    First,
    /// All of them: a hole is filled per round trip, however many there are (slow but steady).
    Every,
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

/// A named set of defaults.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Systems that it stands for, and questions that its source leaves open.
    pub about: &'static str,
    tcp: fn() -> TcpConfig,
    /// How its source wraps packets.
    pub encapsulation: Encapsulation,
}

impl Preset {
    /// The preset called `name`.
    pub fn named(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Its settings.
    pub fn tcp(&self) -> TcpConfig {
        (self.tcp)()
    }
}

/// All presets; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "reno",
        about: "RFC 2581 with RFC 6298's timer: 1460 octets, window 64 kB, two segments at first, 200 ms heartbeat.",
        tcp: reno,
        encapsulation: Encapsulation::LlcSnapIpv4,
    },
    Preset {
        name: "newreno",
        about: "As reno, with RFC 6582's recovery.",
        tcp: || TcpConfig { recovery: Recovery::NewReno, ..reno() },
        encapsulation: Encapsulation::LlcSnapIpv4,
    },
    Preset {
        name: "sack",
        about: "As reno, with RFC 6675's recovery.",
        tcp: || TcpConfig { recovery: Recovery::Sack, ..reno() },
        encapsulation: Encapsulation::LlcSnapIpv4,
    },
    Preset {
        name: "cubic",
        about: "As sack, with RFC 9438's window, ten segments at first (RFC 6928) and limited transmit.",
        tcp: || TcpConfig {
            recovery: Recovery::Sack,
            congestion_control: CongestionControl::Cubic,
            initial_window: Octets(10 * 1460),
            limited_transmit: true,
            ..reno()
        },
        encapsulation: Encapsulation::LlcSnapIpv4,
    },
    Preset {
        name: "dctcp",
        about: "As cubic, with RFC 8257's window and ECN.",
        tcp: || TcpConfig {
            recovery: Recovery::Sack,
            congestion_control: CongestionControl::Dctcp,
            ecn: true,
            initial_window: Octets(10 * 1460),
            limited_transmit: true,
            ..reno()
        },
        encapsulation: Encapsulation::LlcSnapIpv4,
    },
    Preset {
        name: "linux",
        about: "Linux today: as cubic, with timestamps, PRR (RFC 9937), RACK-TLP (RFC 8985) and pacing, a window of 3 MiB, round trips in microseconds, RTO from 200 ms, delayed ACKs after 40 ms; HyStart, and the time-out and the whole segments of Linux.",
        tcp: linux,
        encapsulation: Encapsulation::LlcSnapIpv4,
    },
    Preset {
        name: "tcp-lrd-vbr",
        about: "512 octets, window 16 x 64 kB, no fast retransmit, as the paper says; it does not name the timer (100 ms here, RTO from 200 ms) and the ACKs (every segment here).",
        tcp: paper_001,
        encapsulation: Encapsulation::LlcSnapIpv4,
    },
    Preset {
        name: "stop-and-go",
        about: "BSD Reno with 1460 octets and a timer of 50 us, as the paper says; its minimum RTO (two ticks here), window (64 kB here) and delayed ACKs (200 ms heartbeat here) are not printed.",
        tcp: paper_003,
        encapsulation: Encapsulation::VcMultiplexed,
    },
    Preset {
        name: "internet-applications",
        about: "A window of 9148 octets, as the paper says of its WWW connections between Solaris 2.4 and 2.5.1; ours are 9140 octets, what the 9180 of IP over ATM leave for a segment, and the rest of solaris-2.4, but its 50 ms timer of delayed ACKs waits for no tick: a segment at a time, each acknowledged late.",
        tcp: paper_000,
        encapsulation: Encapsulation::LlcSnapIpv4,
    },
    Preset {
        name: "solaris-2.4",
        about: "Solaris 2.4: 1460 octets, window 8760, Reno, delayed ACKs by a 50 ms timer on the ticks of its clock of 10 ms, RTO from 200 ms in steps of 10 ms.",
        tcp: solaris,
        encapsulation: Encapsulation::LlcSnapIpv4,
    },
];

fn reno() -> TcpConfig {
    TcpConfig {
        mss: Octets(1460),
        header: Octets(40),
        window: Octets(65_535),
        window_scaling: true,
        initial_window: Octets(2 * 1460),
        ssthresh: None,
        recovery: Recovery::Reno,
        congestion_control: CongestionControl::Reno,
        slow_start: SlowStart::Standard,
        estimator: Estimator::Rfc6298,
        limited_transmit: false,
        partial_ack_timer: PartialAckTimer::First,
        rate_reduction: None,
        rack_tlp: false,
        pacing: false,
        ecn: false,
        timestamps: false,
        timeout: TimeoutConfig {
            granularity: Duration::from_ms(10),
            minimum: Duration::from_secs(1),
            maximum: Duration::from_secs(64),
            initial: Duration::from_secs(1),
        },
        delayed_ack: DelayedAck::Heartbeat(Duration::from_ms(200)),
    }
}

/// Defaults of Linux: half of the largest buffer (tcp_rmem, 6 MiB) is offered, TCP_RTO_MIN is 200 ms, TCP_DELACK_MIN
/// 40 ms.
fn linux() -> TcpConfig {
    TcpConfig {
        window: Octets(3 << 20),
        recovery: Recovery::Sack,
        congestion_control: CongestionControl::LinuxCubic,
        slow_start: SlowStart::HyStart,
        estimator: Estimator::Linux,
        initial_window: Octets(10 * 1460),
        limited_transmit: true,
        rate_reduction: Some(RateReduction::SafeAck),
        rack_tlp: true,
        pacing: true,
        timestamps: true,
        timeout: TimeoutConfig {
            granularity: Duration::from_us(1),
            minimum: Duration::from_ms(200),
            maximum: Duration::from_secs(120),
            initial: Duration::from_secs(1),
        },
        delayed_ack: DelayedAck::Timer(Duration::from_ms(40)),
        ..reno()
    }
}

fn paper_001() -> TcpConfig {
    TcpConfig {
        mss: Octets(512),
        window: Octets(16 << 16),
        initial_window: Octets(512),
        recovery: Recovery::None,
        timeout: TimeoutConfig {
            granularity: Duration::from_ms(100),
            minimum: Duration::from_ms(200),
            maximum: Duration::from_secs(64),
            initial: Duration::from_secs(3),
        },
        delayed_ack: DelayedAck::EverySegment,
        ..reno()
    }
}

fn paper_003() -> TcpConfig {
    TcpConfig {
        initial_window: Octets(1460),
        timeout: TimeoutConfig {
            granularity: Duration::from_us(50),
            minimum: Duration::from_us(100),
            maximum: Duration::from_secs(64),
            initial: Duration::from_secs(3),
        },
        ..reno()
    }
}

fn solaris() -> TcpConfig {
    TcpConfig {
        window: Octets(8760),
        initial_window: Octets(1460),
        timeout: TimeoutConfig {
            granularity: Duration::from_ms(10),
            minimum: Duration::from_ms(200),
            maximum: Duration::from_secs(240),
            initial: Duration::from_secs(1),
        },
        delayed_ack: DelayedAck::TimerOnTicks { timer: Duration::from_ms(50), ticks: Duration::from_ms(10) },
        ..reno()
    }
}

fn paper_000() -> TcpConfig {
    TcpConfig {
        mss: Octets(9140),
        window: Octets(9148),
        initial_window: Octets(9140),
        delayed_ack: DelayedAck::Timer(Duration::from_ms(50)),
        ..solaris()
    }
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

impl TrafficKind for TcpTraffic {
    fn delay(&mut self, phase: Duration) {
        self.start = self.start.saturating_add(phase);
        self.end = self.end.saturating_add(phase);
        if let Some(pages) = &mut self.pages {
            pages.end = pages.end.saturating_add(phase);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_have_names_of_their_own_and_windows_of_a_segment_at_least() {
        for (i, preset) in PRESETS.iter().enumerate() {
            let tcp = preset.tcp();
            assert!(PRESETS[..i].iter().all(|other| other.name != preset.name));
            assert!(tcp.offered_window() >= tcp.mss && tcp.initial_window >= tcp.mss, "{}", preset.name);
            assert_eq!(Preset::named(preset.name).map(|found| found.about), Some(preset.about));
        }
        assert!(Preset::named("tahoe").is_none());
    }

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
