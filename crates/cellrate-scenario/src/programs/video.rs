//! Moving pictures.

use cellrate_proto::declaration::{Dimension, Kind, Range, Shape, key};
use cellrate_proto::{BitRate, Duration, Octets};

use super::Program;
use crate::keys::{OCTETS, TIME};
use crate::text::error::{Fault, Place};
use crate::text::reading::{or_default, some_octets};
use crate::text::tree::Table;
use crate::text::{check, quantity};

/// Motion JPEG of real frames; the simulator's video is [`VideoTraffic`](crate::VideoTraffic).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveVideo {
    /// Mean rate of the JPEG data when all frames are sent.
    pub rate: BitRate,
    /// Frames per second [1 to 120].
    pub frame_rate: f64,
    /// One frame in so many is sent [at least 1].
    pub send_every: u32,
    /// The share of ACR that frames may have, where the sender follows ACR [above 0 to 1].
    pub follow_acr: Option<f64>,
    /// Frame buffer of the receiver \[octets\].
    pub buffer: Octets,
    /// From the first frame to the beginning of playing.
    pub prebuffer: Duration,
    /// Whether the player waits for a frame that is late, or goes on without.
    pub wait: bool,
}

const RATIO_OF_FRAMES: Kind =
    Kind::Ratio(Range { low: 1.0, high: 120.0, low_included: true, high_included: true });

impl Program for LiveVideo {
    const SHAPE: Shape = Shape {
        name: "video",
        about: "Motion JPEG over RTP and UDP (RFC 2435): frames made by ffmpeg, sent at their instants, counted at the receiver and played out of a buffer.",
        keys: &[
            key(
                "rate",
                Kind::Positive(Dimension::LineRate),
                "\"8.5 Mbps\"",
                "Mean rate of the JPEG data at `frame_rate`, headers left out: sets the size of frames.",
            ),
            key("frame_rate", RATIO_OF_FRAMES, "24", "Frames per second, 1 to 120."),
            key(
                "send_every",
                Kind::Integer(1, 120),
                "1",
                "Sends one of so many frames: with 3, 24 frames per second become 8.",
            ),
            key(
                "follow_acr",
                Kind::Boolean,
                "false",
                "The sender asks its adapter for ACR and sends no more frames than it carries.",
            ),
            key(
                "acr_share",
                Kind::Ratio(Range::above(0.0, 1.0)),
                "0.9",
                "With follow_acr: the share of ACR that frames may have, headers included.",
            ),
            key("buffer", OCTETS, "\"1 MB\"", "Frame buffer of the receiver; what does not fit is lost."),
            key("prebuffer", TIME, "\"500 ms\"", "From the first frame to the beginning of playing."),
            key(
                "late",
                Kind::Choice(&["wait", "skip"]),
                "\"wait\"",
                "What the player does about a frame that has not arrived in time: it waits for it, and plays everything later from then on, or continues without it.",
            ),
        ],
    };

    fn read(table: &Table, _place: Place) -> Result<LiveVideo, Fault> {
        let frame_rate = or_default(table, &Self::SHAPE, "frame_rate", quantity::ratio)?;
        let rate = or_default(table, &Self::SHAPE, "rate", quantity::line_rate)?;
        // The smallest JPEG of a recognisable picture; the largest that a frame can be with 24 bits of offset
        // (RFC 2435).
        let frame_octets = rate.as_bps() as f64 / 8.0 / frame_rate;
        if !(2_000.0..=4_000_000.0).contains(&frame_octets) {
            let place = table.node("rate").map(|rate| rate.place).unwrap_or_default();
            let message = format!("frames have {frame_octets:.0} octets at this rate and frame_rate");
            return Err(Fault::new(place, message, "Let them have from 2000 to 4000000"));
        }
        let follow = or_default(table, &Self::SHAPE, "follow_acr", check::boolean)?;
        let share = or_default(table, &Self::SHAPE, "acr_share", quantity::ratio)?;
        if let (Some(node), false) = (table.node("acr_share"), follow) {
            return Err(Fault::new(
                node.place,
                "acr_share needs follow_acr = true",
                "Write both, or neither",
            ));
        }
        Ok(LiveVideo {
            rate,
            frame_rate,
            send_every: or_default(table, &Self::SHAPE, "send_every", |node| check::integer(node, 1, 120))?
                as u32,
            follow_acr: follow.then_some(share),
            buffer: or_default(table, &Self::SHAPE, "buffer", some_octets)?,
            prebuffer: or_default(table, &Self::SHAPE, "prebuffer", quantity::time)?,
            wait: table.text("late") != Some("skip"),
        })
    }
}
