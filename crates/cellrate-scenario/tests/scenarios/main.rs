//! The format seen from outside: good files, bad files, overrides, any bytes at all.

mod admission;
mod application;
mod bad;
mod becn;
mod changing;
mod channels;
mod clocks;
mod conditioning;
mod congested;
mod custom;
mod ecn;
mod expected_error;
mod flows;
mod frame_discard;
mod frames;
mod gfr;
mod large;
mod live;
mod loopback;
mod measuring;
mod mpeg2;
mod on_off;
mod overrides;
mod pages;
mod parallel;
mod police;
mod queueing;
mod ready;
mod reference;
mod resolved;
mod robust;
mod stop_and_go;
mod support;
mod tcp;
mod trees;
mod uili;
mod vs_vd;

/// A small scenario that uses most of the format.
const GOOD: &str = include_str!("good.toml");
