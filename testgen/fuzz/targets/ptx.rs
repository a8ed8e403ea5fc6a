//! PTX, as the emulator reads it.
#![no_main]

use rev_cuda::driver::{Driver, Target};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = rev_cuda::emulator::Emulator::new().with_target(Target(90)).load(text);
});
