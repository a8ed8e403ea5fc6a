//! Every program on every device: the emitted code against the reference interpreter, bit for bit
//! in the deterministic mode.
#![allow(clippy::unwrap_used)]

use rev_core::interp::Interpreter;
use rev_core::verify::compare;
use rev_core::Options;
use rev_cpu::prelude::*;
use rev_kernels::suite::SAMPLES;

#[test]
fn native_code_and_the_interpreter_give_the_same_bits() {
    let options = Options { deterministic: true, ..Options::default() };
    let (cpu, interpreter) = (Cpu::with_threads(2).deterministic(true), Interpreter::with_options(options));
    for sample in SAMPLES {
        let outcome = compare([&cpu, &interpreter], sample.run).unwrap();
        assert!(outcome.identical(), "{}: {outcome}", sample.name);
    }
}
