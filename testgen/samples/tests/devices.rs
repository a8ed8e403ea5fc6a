//! Every program on the CPU, the interpreter and the emulated GPU, bit for bit in the deterministic mode, and its text through
//! NVIDIA's assembler, where there is one.
#![allow(clippy::unwrap_used, clippy::panic)]

use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_core::verify::{compare, Sample};
use rev_core::Options;
use rev_cpu::prelude::Cpu;
use rev_cuda::driver::Target;
use rev_cuda::ptxas::Assembler;
use rev_cuda::{emulator, Emulator, Gpu};

#[test]
fn every_device_gives_the_same_bits() {
    let cpu = Cpu::with_threads(2).deterministic(true);
    let interpreter = Interpreter::with_options(Options { deterministic: true, ..Options::default() });
    let gpu = Emulator::new().deterministic(true);
    let assembler = Assembler::find();
    if assembler.is_none() {
        eprintln!("not assembled: no ptxas (REV_PTXAS, PATH)");
    }
    for sample in rev_samples::all() {
        let same = |device: &dyn Device| {
            let outcome =
                compare([&cpu, device], sample.run).unwrap_or_else(|e| panic!("{}: {e}", sample.name));
            assert!(outcome.identical(), "{}: {outcome}", sample.name);
        };
        same(&interpreter);
        if sample.on_gpu {
            same(&gpu);
            if let Some(assembler) = &assembler {
                assembles(assembler, sample);
            }
        }
    }
}

/// NVIDIA's assembler takes the kernels of a sample for an old and a new GPU.
fn assembles(assembler: &Assembler, sample: &Sample) {
    for target in [70, 90].map(Target) {
        let gpu = Gpu::over(emulator::Emulator::new().with_target(target));
        let texts = gpu
            .ptx_of(|device| (sample.run)(device).map(drop))
            .unwrap_or_else(|e| panic!("{}: {e}", sample.name));
        for text in texts.iter().filter(|t| t.contains(".entry")) {
            assembler
                .assemble(text, target)
                .unwrap_or_else(|e| panic!("{} for {target:?}: {e}", sample.name));
        }
    }
}
