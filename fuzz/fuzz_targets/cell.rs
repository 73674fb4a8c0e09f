//! See `cellrate_fuzz::cell`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cellrate_fuzz::cell(input));
