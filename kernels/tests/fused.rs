//! The fused programs of the kernels: what is left of their statements, and that a call without checks,
//! which runs them, gives the bits of the program and its adjoint run one after the other.

#![allow(clippy::unwrap_used)]

use rev_core::ir::{Block, Module};
use rev_core::scalar::Batch;
use rev_cpu::prelude::*;
use rev_kernels::{ba, bessel, exponential, gmm, log_sum_exp, norm};

fn statements(block: &Block) -> usize {
    block.iter().map(|s| 1 + s.blocks().into_iter().map(statements).sum::<usize>()).sum()
}

/// The text of a module's fused program, and how many statements it has; those of the program and of
/// its adjoint, without their dead code, beside it.
fn fused(module: &Module) -> (String, usize, usize) {
    use rev_core::pass::{directed, erase_program, Wanted};
    let fused = module.fused().unwrap();
    let function = &fused.functions[&fused.entry];
    let size = |adjoint, wanted| {
        let direction = rev_core::ir::Direction { adjoint, ..rev_core::ir::Direction::FORWARD };
        let program = directed(module, &module.entry, direction).unwrap();
        statements(&erase_program(&program, wanted).body)
    };
    let apart = size(0, Wanted::All) + size(1, Wanted::Shadows);
    (function.to_string(), statements(&function.body), apart)
}

#[test]
fn nothing_is_computed_twice() {
    let (text, together, apart) = fused(&bessel::bessel_j::ir());
    // the series once there and once back, where each had it there
    assert_eq!((text.matches("while ").count(), text.matches("factorial(").count()), (2, 1), "{text}");
    assert!(together < apart, "{together} {apart}");
    let (text, ..) = fused(&norm::norm::ir());
    assert_eq!((text.matches("for ").count(), text.matches("square += ").count()), (2, 1), "{text}");
    let (text, ..) = fused(&log_sum_exp::log_sum_exp::ir());
    assert_eq!((text.matches("sum += ").count(), text.matches("best[").count() > 0), (1, true), "{text}");
    let (text, ..) = fused(&exponential::exponential::ir());
    assert_eq!(text.matches("while ").count(), 2, "{text}");
    let (text, ..) = fused(&ba::residual::ir());
    assert_eq!(text.matches("rotate").count(), 2, "{text}");
    let (text, together, apart) = fused(&gmm::objective::ir());
    assert_eq!(text.matches("exp_q[c, j] += ").count(), 1, "{text}");
    assert!(together < apart, "{together} {apart}");
}

#[test]
fn parallel_loops_are_one() {
    for module in [bessel::bessel_j_each::ir(), ba::residuals_apart::ir(), ba::errors::ir()] {
        let (text, ..) = fused(&module);
        assert_eq!(text.matches("par for ").count(), 1, "{text}");
    }
    let (text, ..) = fused(&bessel::bessel_j_each::ir());
    assert!(text.contains("bessel_j::fused("), "{text}");
}

#[test]
fn bits_stay() {
    let (z, start, seeds) = (vec![0.0, 0.3, 1.0, 2.5, 7.0], vec![0.25; 5], vec![1.0, 0.5, -2.0, 1.0, 3.0]);
    for threads in [1, 3] {
        let device = Cpu::with_threads(threads).checks(false);
        let g = bessel::bessel_j_each::vjp(&device, &seeds, &start, 2, &z, 1e-10).unwrap();
        let mut out = start.clone();
        bessel::bessel_j_each::run(&device, &mut out, 2, &z, 1e-10).unwrap();
        let mut out_bar: Vec<Batch<f64, 1>> = seeds.iter().map(|s| Batch([*s])).collect();
        let mut z_bar = vec![Batch([0.0]); z.len()];
        let after = out.clone();
        bessel::bessel_j_each::adjoint(
            &device,
            &mut out,
            &mut out_bar,
            2,
            &mut 2usize.zero_shadow::<1>(),
            &z,
            &mut z_bar,
            1e-10,
            &mut Batch([0.0]),
        )
        .unwrap();
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&g.out), bits(&after));
        assert_eq!(bits(&g.z_bar), bits(&z_bar.iter().map(|b| b.0[0]).collect::<Vec<_>>()));
    }
}
