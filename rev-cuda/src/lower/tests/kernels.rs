//! The programs of `rev-kernels`, bit for bit as on the CPU in the deterministic mode.

use rev_core::verify::compare;
use rev_cpu::prelude::*;
use rev_kernels::fibonacci;

use super::Lowered;

#[test]
fn lowered_programs_give_the_bits_of_the_cpu() {
    let (cpu, lowered) = (Cpu::with_threads(2).deterministic(true), Lowered::deterministic());
    for sample in rev_samples::kernels().iter().filter(|s| s.on_gpu) {
        let outcome =
            compare([&cpu, &lowered], sample.run).unwrap_or_else(|e| panic!("{}: {e}", sample.name));
        assert!(outcome.identical(), "{}: {outcome}", sample.name);
    }
}

#[test]
fn recursion_is_refused() {
    let error = fibonacci::by_odd_steps::run(&Lowered::deterministic(), &mut 0, 9).unwrap_err();
    assert!(error.to_string().contains("the recursion of `rev_kernels::fibonacci::by_odd_steps`"), "{error}");
}
