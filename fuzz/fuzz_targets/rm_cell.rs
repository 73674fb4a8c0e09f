//! See `cellrate_fuzz::rm_cell`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cellrate_fuzz::rm_cell(input));
