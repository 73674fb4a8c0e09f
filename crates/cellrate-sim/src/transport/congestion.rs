//! Slow start and congestion avoidance (RFC 5681, section 3.1).

use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::{CongestionControl, IdleRestart, TcpConfig};

use super::cubic::Cubic;
use super::dctcp::Dctcp;
use super::hystart::{HyStart, Sample};
use super::linux_cubic::LinuxCubic;
use super::sequence::Sequence;

/// cwnd and ssthresh.
#[derive(Clone, Debug)]
pub struct CongestionWindow {
    /// \[octets\]
    cwnd: u64,
    /// \[octets\]
    ssthresh: u64,
    mss: u64,
    /// More than the offered window is never of use.
    largest: u64,
    initial: u64,
    /// Congestion avoidance that is not Reno's.
    cubic: Option<Box<Cubic>>,
    linux_cubic: Option<Box<LinuxCubic>>,
    /// DCTCP's estimate, by which marks reduce the window.
    dctcp: Option<Box<Dctcp>>,
    /// Ends slow start.
    hystart: Option<Box<HyStart>>,
}

impl CongestionWindow {
    /// As at the beginning of a connection.
    pub fn new(config: &TcpConfig) -> CongestionWindow {
        let largest = config.offered_window().0;
        CongestionWindow {
            cwnd: config.initial_window.0.min(largest),
            ssthresh: config.ssthresh.map_or(u64::MAX, |octets| octets.0),
            mss: config.payload().0,
            largest,
            initial: config.initial_window.0.min(largest),
            cubic: (config.congestion_control == CongestionControl::Cubic).then(Box::default),
            linux_cubic: (config.congestion_control == CongestionControl::LinuxCubic).then(Box::default),
            dctcp: (config.congestion_control == CongestionControl::Dctcp && config.ecn).then(Box::default),
            hystart: HyStart::of(config).map(Box::new),
        }
    }

    /// cwnd.
    pub fn window(&self) -> Octets {
        Octets(self.cwnd)
    }

    /// ssthresh; `u64::MAX` while nothing has set it.
    pub fn ssthresh(&self) -> Octets {
        Octets(self.ssthresh)
    }

    /// An ACK of something new tells of a round trip, in a recovery or not.
    pub fn on_round_trip(&mut self, sample: &Sample, recovers: bool) {
        if let Some(cubic) = &mut self.linux_cubic {
            cubic.on_round_trip(sample.round_trip);
        }
        let starts = self.cwnd < self.ssthresh && !recovers;
        if let Some(hystart) = self.hystart.as_mut().filter(|_| starts)
            && hystart.ends(sample, self.cwnd)
        {
            self.ssthresh = self.cwnd;
        }
    }

    /// An ACK of `acked` octets at `now`: a segment more at most in slow start; afterwards about a segment per
    /// `round_trip`, the smoothed one, or what CUBIC has.
    pub fn on_acknowledged(&mut self, now: Time, round_trip: Duration, acked: Octets) {
        let grown = if self.linux_cubic.is_some() {
            self.grown_by_linux(now, acked.0)
        } else if self.cwnd < self.ssthresh {
            let standard = acked.0.min(self.mss);
            self.cwnd + self.hystart.as_ref().map_or(standard, |hystart| hystart.growth(acked.0, standard))
        } else if let Some(cubic) = &mut self.cubic {
            let mss = self.mss as f64;
            let window = cubic.grow(now, round_trip, self.cwnd as f64 / mss, acked.0 as f64 / mss);
            (window * mss) as u64
        } else {
            self.cwnd + (self.mss * self.mss / self.cwnd).max(1)
        };
        self.cwnd = grown.min(self.largest);
    }

    /// Slow start by all that is acknowledged, up to ssthresh, and what is left of it in congestion avoidance.
    fn grown_by_linux(&mut self, now: Time, acked: u64) -> u64 {
        let most = match &self.hystart {
            Some(hystart) => hystart.growth(acked, acked),
            None => acked,
        };
        let starts = most.min(self.ssthresh.saturating_sub(self.cwnd));
        let left = if starts < most { acked - starts } else { 0 };
        let grown = self.cwnd + starts;
        match &mut self.linux_cubic {
            Some(cubic) if left > 0 => grown + self.mss * cubic.grow(now, grown / self.mss, left, self.mss),
            _ => grown,
        }
    }

    /// Whether a time-out in a recovery reduces ssthresh again (RFC 5681); in Linux the recovery has done so.
    pub fn reduces_again(&self) -> bool {
        self.linux_cubic.is_none()
    }

    /// A loss while `outstanding` octets are on their way: ssthresh is half of what could be in flight, or what CUBIC
    /// leaves of it.
    pub fn on_loss(&mut self, outstanding: Octets) {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_loss();
        }
        if let Some(cubic) = &mut self.linux_cubic {
            self.ssthresh = self.mss * cubic.on_loss(self.cwnd / self.mss);
            return;
        }
        let flight = self.cwnd.min(outstanding.0);
        let left = match &mut self.cubic {
            None => flight / 2,
            Some(cubic) => {
                let window = flight as f64 / self.mss as f64;
                (cubic.on_loss(window) * flight as f64) as u64
            }
        };
        self.ssthresh = left.max(2 * self.mss);
    }

    /// An ACK up to `next`, of `acked` octets, has come with ECE or without, when everything before `sent` had left.
    pub fn on_echo(&mut self, next: Sequence, acked: Octets, echo: bool, sent: Sequence) {
        if let Some(dctcp) = &mut self.dctcp {
            dctcp.on_acknowledged(next, acked, echo, sent);
        }
    }

    /// Marks tell of congestion while `outstanding` octets are on their way: ssthresh is reduced as for a loss, or as
    /// DCTCP has it.
    pub fn on_mark(&mut self, outstanding: Octets) {
        match &self.dctcp {
            None => self.on_loss(outstanding),
            Some(dctcp) => self.ssthresh = ((dctcp.left() * self.cwnd as f64) as u64).max(2 * self.mss),
        }
    }

    /// cwnd := ssthresh where that is less.
    pub fn fall(&mut self) {
        self.cwnd = self.cwnd.min(self.ssthresh);
    }

    /// DCTCP's estimate of the share of octets that meet congestion.
    pub fn alpha(&self) -> Option<f64> {
        self.dctcp.as_ref().map(|dctcp| dctcp.alpha())
    }

    /// The loss was found by the timer: cwnd is one segment.
    pub fn on_timeout(&mut self) {
        self.collapse();
        if let Some(cubic) = &mut self.cubic {
            cubic.on_timeout();
        }
        if let Some(cubic) = &mut self.linux_cubic {
            cubic.on_timeout();
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.on_timeout();
        }
    }

    /// cwnd is one segment.
    pub fn collapse(&mut self) {
        self.cwnd = self.mss;
    }

    /// Fast recovery begins: three segments have left the network.
    pub fn begin_recovery(&mut self) {
        self.cwnd = self.ssthresh + 3 * self.mss;
    }

    /// Another has.
    pub fn inflate(&mut self) {
        self.cwnd += self.mss;
    }

    /// Part of `outstanding` that is in fast recovery without the segments that duplicate ACKs have told of, and at
    /// most the window of this recovery.
    pub fn without_inflation(&self, outstanding: Octets) -> Octets {
        let inflation = self.cwnd.saturating_sub(self.ssthresh);
        Octets(outstanding.0.saturating_sub(inflation).min(self.ssthresh))
    }

    /// A partial ACK of `acked` octets (RFC 6582, section 3.2, step 3).
    pub fn deflate(&mut self, acked: Octets) {
        self.cwnd = self.cwnd.saturating_sub(acked.0);
        if acked.0 >= self.mss {
            self.cwnd += self.mss;
        }
        self.cwnd = self.cwnd.max(self.mss);
    }

    /// Whether it is slow start that cwnd grows by.
    pub fn is_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// For so long cwnd was not full, which is no time of RFC 9438's function (sections 4.2 and 5.8). Linux leaves out
    /// [pauses](CongestionWindow::on_resumed) alone.
    pub fn on_unused(&mut self, span: Duration) {
        if let Some(cubic) = &mut self.cubic {
            cubic.leave_out(span);
        }
    }

    /// Data leaves at `now`, `idle` after the last segment left, and nothing is outstanding. After more than a time-out
    /// cwnd may have to start anew, by `restart`.
    pub fn on_resumed(&mut self, now: Time, idle: Duration, timeout: Duration, restart: IdleRestart) {
        if let Some(cubic) = &mut self.linux_cubic {
            cubic.leave_out(now, idle);
        }
        if restart == IdleRestart::None || idle <= timeout {
            return;
        }
        let least = self.initial.min(self.cwnd);
        if restart == IdleRestart::RestartWindow {
            self.cwnd = least;
        } else {
            // tcp_cwnd_restart: ssthresh remembers three quarters, and each time-out of the pause halves.
            self.ssthresh = self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4);
            let halvings = (idle.as_ps() - 1) / timeout.as_ps().max(1);
            self.cwnd = (self.cwnd >> halvings.min(63)).max(least);
        }
        if let Some(cubic) = &mut self.cubic {
            cubic.begin_anew();
        }
    }

    /// Whether slow start has far to go: cwnd is below half of ssthresh.
    pub fn starts(&self) -> bool {
        self.cwnd < self.ssthresh / 2
    }

    /// cwnd within a recovery whose reduction is proportional: what is on its way, and what may leave.
    pub fn regulate(&mut self, octets: Octets) {
        self.cwnd = octets.0.max(1);
    }

    /// cwnd := ssthresh, but not above `limit`.
    pub fn settle(&mut self, limit: Octets) {
        self.cwnd = self.ssthresh.min(limit.0).min(self.largest).max(self.mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_scenario::Preset;

    fn window(initial: u64, ssthresh: u64) -> CongestionWindow {
        let preset = Preset::named("reno").expect("it is there").tcp();
        CongestionWindow::new(&TcpConfig {
            mss: Octets(1000),
            initial_window: Octets(initial),
            ssthresh: Some(Octets(ssthresh)),
            window: Octets(20_000),
            ..preset
        })
    }

    #[test]
    fn slow_start_adds_a_segment_per_ack_up_to_ssthresh_and_a_segment_per_window_after() {
        let mut window = window(1000, 4000);
        for expected in [2000, 3000, 4000] {
            window.on_acknowledged(Time::ZERO, Duration::ZERO, Octets(2000));
            assert_eq!(window.window(), Octets(expected));
        }
        // 1000 * 1000 / 4000 = 250, then / 4250 = 235.
        window.on_acknowledged(Time::ZERO, Duration::ZERO, Octets(1000));
        assert_eq!(window.window(), Octets(4250));
        window.on_acknowledged(Time::ZERO, Duration::ZERO, Octets(1000));
        assert_eq!(window.window(), Octets(4485));
    }

    #[test]
    fn cwnd_stays_within_the_offered_window() {
        let mut window = window(19_500, 1 << 40);
        window.on_acknowledged(Time::ZERO, Duration::ZERO, Octets(1000));
        assert_eq!(window.window(), Octets(20_000));
    }

    #[test]
    fn a_loss_halves_what_was_on_its_way_but_keeps_two_segments() {
        let mut window = window(10_000, 1 << 40);
        window.on_loss(Octets(8000));
        assert_eq!(window.ssthresh(), Octets(4000));
        window.begin_recovery();
        assert_eq!(window.window(), Octets(7000));
        window.inflate();
        // A partial ACK of three segments: 8000 - 3000 + 1000.
        window.deflate(Octets(3000));
        assert_eq!(window.window(), Octets(6000));
        window.settle(Octets(u64::MAX));
        assert_eq!(window.window(), Octets(4000));
        window.collapse();
        window.on_loss(Octets(8000));
        assert_eq!((window.window(), window.ssthresh()), (Octets(1000), Octets(2000)));
    }
}
