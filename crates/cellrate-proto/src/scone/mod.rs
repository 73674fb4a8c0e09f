//! SCONE: throughput advice that elements of the network write into packets of QUIC (draft-ietf-scone-protocol, working
//! group text of August 2026).
//!
//! A sender puts a SCONE packet in front of a datagram now and then, with an unknown rate. Each element of the path
//! that would advise less than what the packet says writes its own advice; the receiver learns the lowest of them, and
//! tells its application. ABR's RM cell does the same with ER, at other time scales: advice applies to a period of 67
//! s, comes in steps of 12 %, and never replaces congestion control.
//!
//! | part | role | ABR's counterpart |
//! | --- | --- | --- |
//! | [`RateSignal`] | a rate in seven bits | [`RateCode`](crate::RateCode) in 16 |
//! | [`packet`] | the packet at the head of a datagram | the RM cell |
//! | [`datagram`] | the datagram within a packet of IP, its checksum | the cell's header and CRC-10 |
//! | [`Element`] | recognizes, lowers, and holds back | a switch, which lowers ER |
//! | [`Opportunities`] | when a sender sends such packets | source rule 3 |
//! | [`Advice`] | what a receiver may rely on, and until when | source rules 5 and 9 |
//! | [`Monitor`] | whether a flow follows its advice | the policer of ABR.1 |

mod advice;
pub mod datagram;
mod element;
mod monitor;
mod opportunities;
pub mod packet;
mod signal;

pub use advice::Advice;
pub use element::{Element, ElementConfig, Outcome};
pub use monitor::{Judgement, Monitor};
pub use opportunities::Opportunities;
pub use signal::RateSignal;

use crate::units::Duration;

/// The monitoring period: senders may spread what they are advised over any span up to it, elements judge over at least
/// it, and advice expires after it.
pub const PERIOD: Duration = Duration::from_secs(67);

/// The transport parameter by which an endpoint says that it takes SCONE packets; its value is empty.
pub const TRANSPORT_PARAMETER: u64 = 0x219e;

/// The last two octets of datagrams that begin a flow, until the client has heard from the server.
pub const INDICATION: [u8; 2] = [0xc8, 0x13];
