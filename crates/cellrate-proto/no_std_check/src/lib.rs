//! Compiles only as long as `cellrate-proto`, and everything it depends on, does without `std`.
//!
//! A program has one panic handler. `std` brings one; this crate has its own. If `std` came in anywhere among the
//! dependencies, the compiler would refuse the second: "found duplicate lang item `panic_impl`" (E0152).
#![no_std]

use core::panic::PanicInfo;

use cellrate_proto::wire::{Reassembler, ReassemblyError, Segments};

/// Uses the crate, so that it is more than a name in a manifest: `true` if `sdu` comes through its cells unharmed.
///
/// # Errors
/// [`ReassemblyError`] never, unless reassembly is broken.
pub fn round_trip(sdu: &[u8]) -> Result<bool, ReassemblyError> {
    let mut reassembler = Reassembler::new(sdu.len());
    let Ok(segments) = Segments::new(sdu) else { return Ok(false) };
    for segment in segments {
        if let Some(received) = reassembler.push(&segment.payload, segment.last)? {
            return Ok(received.octets == sdu);
        }
    }
    Ok(false)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
