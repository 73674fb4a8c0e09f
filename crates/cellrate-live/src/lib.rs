//! The live testbed: the values of `cellrate-proto` driven by the clock of a Linux machine, and the cells they send
//! carrying the IP packets of real hosts.
//!
//! - [`engine`]: logical time gated by the wall clock; adapters, switch ports and lines; timing verdict; cells in
//!   datagrams.
//! - [`mod@bench`]: how many cells a core carries from TUN to TUN.
//! - [`host`]: network namespaces with a TUN device each.
//!
//! What runs in the hosts is started and watched by `python/cellrate/live`.

pub mod bench;
pub mod engine;
pub mod host;
