//! See `cellrate_fuzz::aal5`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cellrate_fuzz::aal5(input));
