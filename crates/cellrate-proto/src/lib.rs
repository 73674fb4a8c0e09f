//! The Available Bit Rate service as values: no clock, no socket, no file, no thread, no randomness.
//!
//! Everything here is driven from outside. Time comes in as an argument and decisions go out as return values, so that
//! a simulator with its own clock and a testbed with a real one run the very same code. The grammar is the same
//! everywhere: `on_*` says what happened, `poll_*` or `transmit` asks what must go out, `next_*` says when to come
//! back. Time never goes backwards from one call to the next.
//!
//! Rule numbers are those of the ATM Forum Traffic Management Specification 4.0 (af-tm-0056), 5.10.3 to 5.10.6.
//!
//! Nothing in this crate panics on input that came from the wire: what is malformed is refused with a typed error.
#![no_std]

extern crate alloc;
// Derives name this crate as others do.
extern crate self as cellrate_proto;
#[cfg(test)]
extern crate std;

pub mod admission;
pub mod consolidation;
pub mod coupling;
pub mod declaration;
pub mod destination;
pub mod misbehaviour;
pub mod negotiation;
pub mod parameters;
pub mod policing;
mod power_of_two;
pub mod rate_code;
pub mod rm;
pub mod scheduling;
pub mod scone;
pub mod signalling;
pub mod source;
pub mod switch;
pub mod uili;
pub mod units;
pub mod wire;

pub use coupling::CouplingConfig;
pub use destination::{Destination, DestinationConfig};
pub use parameters::AbrParameters;
pub use rate_code::RateCode;
pub use rm::{Direction, RmCell};
pub use source::{Emission, Source, SourceStatistics};
pub use units::{BitRate, CellRate, Cells, Duration, Octets, Time};
