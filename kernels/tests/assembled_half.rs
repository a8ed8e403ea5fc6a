//! NVIDIA's assembler on programs of the kernels crate in `f16` and `bf16`, forward, inverse and adjoint,
//! for every generation of GPUs: the conversions are there on all of them.
//!
//! Without `ptxas` it says that it was skipped.

#![allow(clippy::unwrap_used, clippy::panic)]

use ndarray::Array2;
use num_complex::Complex;
use rev_core::device::Device;
use rev_core::error::Error;
use rev_core::scalar::{bf16, f16, Half};
use rev_cuda::driver::Target;
use rev_cuda::emulator::Emulator;
use rev_cuda::ptxas::Assembler;
use rev_cuda::Gpu;
use rev_kernels::*;

type Call<'a> = (&'a str, Box<dyn Fn(&dyn Device) -> Result<(), Error>>);

fn programs<T: Half>() -> Vec<Call<'static>> {
    let c = T::from_f64;
    let x = move || [1.5, 2.5, 0.5, 1.0].map(c);
    let matrix = move |rows, columns| Array2::<T>::from_elem((rows, columns), c(0.5));
    vec![
        ("norm", Box::new(move |d| norm::norm::run(d, &mut c(0.0), &x()))),
        ("norm gradient", Box::new(move |d| norm::norm::gradient(d, &x()).map(drop))),
        ("affine", Box::new(move |d| affine::affine::run(d, &mut x(), matrix(4, 4).view(), &x(), &x()))),
        (
            "affine inverse",
            Box::new(move |d| affine::affine::run_inverse(d, &mut x(), matrix(4, 4).view(), &x(), &x())),
        ),
        (
            "complex_log",
            Box::new(move |d| {
                let z = Complex::new(c(1.0), c(2.0));
                complex_log::complex_log::run(d, &mut Complex::new(c(0.0), c(0.0)), z)
            }),
        ),
        (
            "gmm gradient",
            Box::new(move |d| {
                let (means, icf, points) = (matrix(4, 3), matrix(4, 6), matrix(50, 3));
                gmm::objective::gradient(d, &x(), means.view(), icf.view(), points.view(), c(1.0), 0)
                    .map(drop)
            }),
        ),
    ]
}

#[test]
fn ptxas_takes_numbers_of_16_bits() {
    let Some(assembler) = Assembler::find() else {
        return eprintln!("skipped: no ptxas (REV_PTXAS, PATH)");
    };
    let all = programs::<f16>().into_iter().chain(programs::<bf16>());
    for (name, call) in all {
        for target in [60, 70, 75, 80, 90].map(Target) {
            let gpu = Gpu::over(Emulator::new().with_target(target));
            let texts = gpu.ptx_of(|d| call(d)).unwrap_or_else(|e| panic!("{name}: {e}"));
            let kernels = texts.iter().filter(|t| t.contains(".entry"));
            let mut count = 0;
            for text in kernels {
                let usages =
                    assembler.assemble(text, target).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
                // of the mixture model's loop over points a few bytes are spilled
                let spilled = usages.iter().any(|u| u.spill_stores + u.spill_loads > 0);
                assert!(!spilled || name.starts_with("gmm"), "{name}: {usages:?}");
                count += usages.len();
            }
            assert!(count > 0, "{name}");
        }
    }
}
