//! Cells before they leave a host: what a source will send, worked out before anyone asks.
//!
//! A source with a link to itself is [`folding`]: it sends trains into a [`feed`](super::state::feed). One that depends
//! on its traffic alone sends [`ahead`]. Where several share a link, their cells meet at a [`shared_host`].

pub(crate) mod ahead;
pub(crate) mod folding;
pub(crate) mod shared_host;
