//! Every program on every device: the emitted code against the reference interpreter, bit for bit
//! in the deterministic mode.
#![allow(clippy::unwrap_used)]

use ndarray::arr2;
use num_complex::Complex;
use rev_core::interp::Interpreter;
use rev_core::Options;
use rev_cpu::prelude::*;
use rev_kernels::*;

fn devices() -> (Cpu, Interpreter) {
    let options = Options { deterministic: true, ..Options::default() };
    (Cpu::with_threads(2).deterministic(true), Interpreter::with_options(options))
}

/// Runs a call on both devices and compares what it gives, by its text: bits as Rust prints them.
macro_rules! same {
    (|$device:ident| $call:expr) => {{
        let (cpu, interpreter) = devices();
        let native = {
            let $device = &cpu;
            format!("{:?}", $call)
        };
        let interpreted = {
            let $device = &interpreter;
            format!("{:?}", $call)
        };
        assert_eq!(native, interpreted);
        native
    }};
}

#[test]
fn the_programs_of_the_papers() {
    let x = [1.0, 2.0, 3.0];
    same!(|d| {
        let mut y = 2.0;
        multiplier::multiplier::run(d, &mut y, 3.0, 5.0).unwrap();
        y
    });
    same!(|d| norm::norm::gradient(d, &x).unwrap().x);
    same!(|d| {
        let mut y = Complex::new(0.0, 0.0);
        complex_log::complex_log::run(d, &mut y, Complex::new(3.0, 2.0)).unwrap();
        let there = y;
        complex_log::complex_log::run_inverse(d, &mut y, Complex::new(3.0, 2.0)).unwrap();
        (there, y)
    });
    same!(|d| {
        let w = arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]);
        let mut y = [1.0, 2.0];
        affine::affine::run(d, &mut y, w.view(), &[10.0, 20.0], &[1.0, 0.5, -1.0]).unwrap();
        y
    });
    same!(|d| {
        let g = bessel::bessel_j::gradient(d, 2, 1.0, 1e-10).unwrap();
        (g.value, g.z)
    });
    same!(|d| {
        let g = exponential::exponential::gradient(d, 1.6, 1e-10).unwrap();
        (g.value, g.x)
    });
    same!(|d| {
        let mut n = 0;
        fibonacci::fibonacci::run(d, &mut n, 12).unwrap();
        n
    });
    same!(|d| {
        let mut n = 0;
        fibonacci::first_at_least::run(d, &mut n, 100).unwrap();
        n
    });
    same!(|d| {
        let mut n = 0;
        fibonacci::by_odd_steps::run(d, &mut n, 9).unwrap();
        n
    });
    same!(|d| {
        let (mut x, mut v) = (Fixed43::from_num(1.0), Fixed43::from_num(0.0));
        leapfrog::leapfrog::run(d, &mut x, &mut v, Fixed43::from_num(0.01), 500).unwrap();
        (x, v)
    });
    same!(|d| {
        let g = log_sum_exp::log_sum_exp::gradient(d, &x).unwrap();
        (g.value, g.x)
    });
}

#[test]
fn gmm_and_its_gradient() {
    let i = gmm::Instance { gamma: 1.3, m: 2, ..gmm::Instance::random(2, 3, 300, 3) };
    same!(|d| {
        let g = gmm::objective::gradient(
            d,
            &i.alphas,
            i.means.view(),
            i.icf.view(),
            i.points.view(),
            i.gamma,
            i.m,
        )
        .unwrap();
        (g.value, g.alphas, g.means, g.icf)
    });
}

#[test]
fn bundle_adjustment_values_jacobians_and_gradients() {
    let i = ba::Instance::random(2, 4, 20, 5);
    same!(|d| ba::values(d, &i).unwrap());
    same!(|d| ba::gradient(d, &i).unwrap());
    same!(|d| {
        let mut blocks = ba::Blocks::default();
        ba::jacobian(d, &i, 0..20, &mut blocks).unwrap();
        (0..20).map(|k| blocks.rows(k)).collect::<Vec<_>>()
    });
    let i = bal::Instance::random(2, 4, 20, 5);
    same!(|d| bal::values(d, &i).unwrap());
    same!(|d| bal::gradient(d, &i).unwrap());
    same!(|d| {
        let mut blocks = bal::Blocks::default();
        bal::jacobian(d, &i, 0..20, &mut blocks).unwrap();
        (0..20).map(|k| blocks.rows(k)).collect::<Vec<_>>()
    });
}
