//! Presets of TCP: what a paper or a system used.

use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{Duration, Octets};

use super::config::{
    CongestionControl, Estimator, IdleRestart, PartialAckTimer, RateReduction, Recovery, SlowStart,
    TcpConfig, TimeoutConfig,
};
use super::delayed_ack::DelayedAck;

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

/// The name of each.
pub(super) const NAMES: [&str; PRESETS.len()] = {
    let mut names = [""; PRESETS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = PRESETS[i].name;
        i += 1;
    }
    names
};

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
        window_validation: true,
        idle_restart: IdleRestart::None,
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
        window_validation: false,
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
        window_validation: false,
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
        window_validation: false,
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
}
