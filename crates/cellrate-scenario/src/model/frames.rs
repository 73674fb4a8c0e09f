//! Frames of a codec in UDP datagrams: the video and the telephony of paper internet-applications.

use std::sync::Arc;

use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{Duration, Octets, Time};

use crate::model::TrafficKind;

/// A frame at every instant of a clock, cut into UDP datagrams that go over IP over AAL5 without feedback.
#[derive(Clone, Debug, PartialEq)]
pub struct FramesTraffic {
    /// Frame n (from 0 on) comes n / `frames_per_second` seconds after the start.
    pub frames_per_second: FrameRate,
    /// How long frames are as the codec gives them.
    pub lengths: FrameLengths,
    /// Largest payload of a datagram; all datagrams of a frame but the last have it.
    pub datagram: Octets,
    /// Octets of UDP and IP header before the payload.
    pub header: Octets,
    /// How IP packets become AAL5 SDUs.
    pub encapsulation: Encapsulation,
    /// Frames are left out so that those sent need no more than a share of ACR; ABR connections only.
    pub follow_acr: Option<FollowAcr>,
    /// In-rate FRMs follow the last cell of each frame and not every Nrm - 1 cells; ABR connections only.
    pub frm_at_frame_ends: bool,
    /// The first frame.
    pub start: Time,
    /// No frame at or after this.
    pub end: Time,
    /// How many of the frames sent are listed one by one, from the first on; all of them are in the figures.
    pub record: u32,
}

/// Frames a second as a ratio of whole numbers, so that film at 30000/1001 frames a second does not drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRate {
    /// So many frames, above 0.
    pub frames: u64,
    /// In so many seconds, above 0.
    pub seconds: u64,
}

impl FrameRate {
    /// A whole number of frames each second.
    pub const fn whole(frames: u64) -> FrameRate {
        FrameRate { frames, seconds: 1 }
    }

    /// How long after the first frame number `number` comes, rounded down to a picosecond.
    pub fn after(self, number: u64) -> Duration {
        let ps = u128::from(number) * u128::from(self.seconds) * 1_000_000_000_000 / u128::from(self.frames);
        Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// The rate as a number [frames/s].
    pub fn as_f64(self) -> f64 {
        self.frames as f64 / self.seconds as f64
    }
}

/// How long frames are.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameLengths {
    /// Gaussian, independent, and drawn again outside 1 octet to twice `size`.
    Gaussian {
        /// The mean, above 0.
        size: Octets,
        /// The standard deviation, at most `size`; 0 for frames of one length.
        deviation: Octets,
    },
    /// One after the other as listed, and then the first again.
    Trace {
        /// Lengths \[octets\], not all 0: where one is 0 no frame comes.
        lengths: Arc<[u32]>,
        /// Which comes first.
        first: FirstOfTrace,
    },
}

impl FrameLengths {
    /// Mean length of those frames that come, rounded.
    pub fn mean(&self) -> Octets {
        match self {
            FrameLengths::Gaussian { size, .. } => *size,
            FrameLengths::Trace { lengths, .. } => {
                let come = lengths.iter().filter(|&&length| length > 0);
                let (count, sum) = come.fold((0, 0), |(n, sum), &length| (n + 1, sum + u64::from(length)));
                Octets((sum + count / 2) / count.max(1))
            }
        }
    }
}

/// Where in a trace a sender begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstOfTrace {
    /// Counted from 0, within the trace.
    At(u32),
    /// Each of them with the same probability.
    Random,
}

/// A sender that reads its ACR (proposed by paper internet-applications, section 4.2, and not built there).
///
/// Credit grows by `share` times ACR, up to twice a mean frame, and a frame is sent if there is credit for all of its
/// cells, which it uses up; else it is left out. So the rate of frames is proportional to ACR over the rate of the
/// video.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowAcr {
    /// Part of ACR that data may have [above 0, at most 1]; RM cells take one cell in Nrm, and what is less than the
    /// rest empties the adapter's queue.
    pub share: f64,
    /// By the means of an interval, and not frame by frame.
    pub means: Option<FollowMeans>,
}

/// A sender that follows the mean ACR: at the end of each interval the part of the film that is sent becomes `share` of
/// the mean ACR over the mean rate of the film, both of that interval (paper internet-applications, section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowMeans {
    /// From one change to the next [above 0].
    pub interval: Duration,
    /// The quantity that gives way.
    pub adapts: Adaptation,
}

/// The quantity of a film that gives way where ACR does not carry it all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adaptation {
    /// Frames are left out, evenly.
    FrameRate,
    /// All frames are sent, each as much shorter.
    BitRate,
}

/// Codecs have clocks of their own.
impl TrafficKind for FramesTraffic {
    fn delay(&mut self, phase: Duration) {
        self.start = self.start.saturating_add(phase);
        self.end = self.end.saturating_add(phase);
    }

    fn fixed_spacing(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }
}
