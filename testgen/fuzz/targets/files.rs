//! The four formats of input files.
#![no_main]

use std::io::Write;

use rev_kernels::io::{read_ba_adbench, read_ba_full, read_bal, read_gmm};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // a file of ADBench may ask for numbers that it doesn't hold; large ones are right and take long
    let sizes = bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(3);
    if sizes.into_iter().any(|word| word.len() > 3) {
        return;
    }
    let Ok(mut file) = tempfile::NamedTempFile::new_in("/dev/shm") else { return };
    if file.write_all(bytes).is_ok() {
        let path = file.path();
        let _ = (read_gmm(path), read_ba_adbench(path), read_ba_full(path), read_bal(path));
    }
});
