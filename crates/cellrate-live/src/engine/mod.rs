//! The engine: adapters, switch ports and lines in logical time, gated by the wall clock.

mod device;

pub use device::{PacketDevice, PairedDevice, ScriptedDevice};
