//! Policing: whether cells of a connection keep to its contract, cell by cell.
//!
//! [`Gcra`] is the generic cell rate algorithm; [`contract`] makes the conformance definitions of TM 4.0 of it, from
//! CBR.1 to UBR.2; [`dynamic`] is ABR's, whose rate follows the backward RM cells that pass; [`usage`] is what stands
//! at an interface and acts on any; [`frame`] is GFR's, of AAL5 frames, and says which are eligible for its guarantee.
//!
//! A source that sends at exactly its rate sits on the edge of what conforms, so instants, increments and limits are
//! whole picoseconds, and an increment is 1/rate rounded down: where a rate has no whole interval, a source that paces
//! itself by intervals rounded up conforms.

pub mod contract;
pub mod dynamic;
pub mod frame;
mod gcra;
pub mod usage;

pub use gcra::{Gcra, increment};
