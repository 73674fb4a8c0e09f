//! Flows and calls that come and go: when they arrive, between whom, how much they ask for, and which of them the
//! network has room for.
//!
//! None of it depends on what becomes of cells. Arrivals, pairs and amounts are drawn from streams of the demand's
//! own; whether a call is admitted depends on what calls before it have booked, and on nothing else. So all of it can
//! be worked out ahead of the network, by whoever asks first ([`DemandSchedule`]).

mod arriving;
mod law;
mod offers;
mod schedule;

pub use law::mean;
pub use offers::{Asked, Offer, Offers};
pub use schedule::{Answer, DemandSchedule, Opening, Outcome};
