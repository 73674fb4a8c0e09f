//! Cells on their way: what has left a port and has not been dealt with at the far end of its link.
//!
//! A [`lane`] has the cells of one link that go on in the same way, in a [`cell_queue`]: in a [`Ring`], as
//! [stretches](crate::stretch) that follow each other evenly, or [`packed`] into octets, with a [`trail`] for each
//! connection among its [`strands`].
//!
//! [`Ring`]: cellrate_engine::ring::Ring

pub(crate) mod cell_queue;
pub(crate) mod lane;
pub(crate) mod packed;
pub(crate) mod short;
pub(crate) mod strands;
pub(crate) mod trail;
