//! State of the kernel: what a [`cluster`] is made of. Nothing here makes anything happen.

pub(crate) mod bag;
pub(crate) mod branch_points;
pub(crate) mod cluster;
pub(crate) mod departures;
pub(crate) mod event_mark;
pub(crate) mod feed;
pub(crate) mod openers;
pub(crate) mod outbox;
pub(crate) mod sampled;
pub(crate) mod scratch;
pub(crate) mod segment_ends;
