//! TCP over AAL5: values that know no clock and no queue of events, in the grammar of the protocol core.
//!
//! `on_segment`, `on_timer` say what happened; after each of them `poll_transmit` is called until it gives
//! nothing more; `next_timer` says
//! when to come back. Time never goes backwards.
//!
//! A TCP connection that transfers something sends one way: a [`Sender`] at one end of a VC, a [`Receiver`] at the
//! other, ACKs as segments of their own on the direction back. It is open from the start (no handshake) and never
//! closed. One over which pages are fetched is a [`Duplex`] at each end, both halves in one, opened by a handshake; a
//! [`Client`] and a [`Server`] are the applications over it. Applications read whatever is in order at once, so the
//! offered window is constant. Flows of a size have a connection each, one after the other, of which the same is true.
//! Positions in the stream have 64 bits and never wrap. [`Stack`] is what one end of a VC
//! holds; [`Adapter`] is the queue of PDUs before the VC, [`Reassembly`] the other end of it, [`Interface`] what the
//! kernel sees.
//!
//! Where implementations differ and the scenario has no setting:
//!
//! - without timestamps one round trip is timed at once, and none in which anything was sent again (Karn, as BSD has
//!   it);
//! - after a time-out everything is sent again from the first unacknowledged octet on, but for what SACK has reported;
//! - ssthresh on loss is half of the smaller of cwnd and what is outstanding, at least two segments; at a time-out
//!   within a recovery, half of what may still be in flight (docs/transport.md, "When time runs out");
//! - cwnd grows by at most one segment per ACK in slow start, by mss * mss / cwnd in congestion avoidance, and never
//!   beyond the offered window;
//! - there is no idle restart, no FIN or persist timer; SYN only where pages ask for it.

mod adapter;
mod client;
mod congestion;
mod cubic;
mod datagrams;
mod dctcp;
mod duplex;
mod edge;
mod exchange;
mod flows;
mod hystart;
mod interface;
mod linux_cubic;
mod pacing;
mod pdus;
mod prr;
mod rack;
mod reassembly;
mod receiver;
mod rto;
mod scoreboard;
mod segment;
mod sender;
mod sequence;
mod server;
mod sized_flow;
mod stack;
mod succession;
mod tally;
mod usage;

pub use adapter::{Adapter, Departed, Offered};
pub use client::{Client, Site};
pub use congestion::CongestionWindow;
pub use datagrams::Datagrams;
pub use duplex::{Duplex, Role};
pub use exchange::Exchange;
pub use flows::{Arriving, FlowDatagrams};
pub use interface::{Interface, Peer, pick_up};
pub use reassembly::Reassembly;
pub use receiver::Receiver;
pub use rto::RtoEstimator;
pub use scoreboard::Scoreboard;
pub use segment::{Acknowledgment, Blocks, Contents, Flags, Heading, Packet, Segment};
pub use sender::{Sender, SenderStatistics};
pub use sequence::{Sequence, Span, Spans};
pub use server::Server;
pub use sized_flow::{FlowEnd, Over, SizedFlow};
pub use stack::Stack;
pub use tally::Tally;
