//! The programs of the kernels crate, bit for bit as on the CPU in the deterministic mode.

use ndarray::arr2;
use num_complex::Complex;
use rev_cpu::prelude::*;
use rev_kernels::*;

use super::Lowered;

fn devices() -> (Cpu, Lowered) {
    (Cpu::with_threads(2).deterministic(true), Lowered::deterministic())
}

macro_rules! same {
    (|$device:ident| $call:expr) => {{
        let (cpu, lowered) = devices();
        let native = {
            let $device = &cpu;
            format!("{:?}", $call)
        };
        let lowered = {
            let $device = &lowered;
            format!("{:?}", $call)
        };
        assert_eq!(native, lowered);
    }};
}

#[test]
fn scalars_and_small_arrays() {
    same!(|d| {
        let mut y = 2.0;
        multiplier::multiplier::run(d, &mut y, 3.0, 5.0).unwrap();
        y
    });
    same!(|d| norm::norm::gradient(d, &[1.0, 2.0, 3.0]).unwrap().x);
    same!(|d| {
        let w = arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]);
        let mut y = [1.0, 2.0];
        affine::affine::run(d, &mut y, w.view(), &[10.0, 20.0], &[1.0, 0.5, -1.0]).unwrap();
        y
    });
}

#[test]
fn loops_with_conditions() {
    same!(|d| {
        let mut n = 0;
        fibonacci::first_at_least::run(d, &mut n, 100).unwrap();
        n
    });
    let error = fibonacci::by_odd_steps::run(&Lowered::deterministic(), &mut 0, 9).unwrap_err();
    assert!(error.to_string().contains("the recursion of `rev_kernels::fibonacci::by_odd_steps`"), "{error}");
}

#[test]
fn fixed_point() {
    same!(|d| {
        let (mut x, mut v) = (Fixed43::from_num(1.0), Fixed43::from_num(0.0));
        leapfrog::leapfrog::run(d, &mut x, &mut v, Fixed43::from_num(0.01), 500).unwrap();
        (x, v)
    });
}

#[test]
fn complex_numbers() {
    same!(|d| {
        let mut y = Complex::new(0.0, 0.0);
        complex_log::complex_log::run(d, &mut y, Complex::new(3.0, 2.0)).unwrap();
        y
    });
}

#[test]
fn series() {
    same!(|d| {
        let g = bessel::bessel_j::gradient(d, 2, 1.0, 1e-10).unwrap();
        (g.value, g.z)
    });
    same!(|d| {
        let z: Vec<f64> = (0..300).map(|i| f64::from(i) * 0.01).collect();
        let mut out = vec![0.0; 300];
        bessel::bessel_j_each::run(d, &mut out, 2, &z, 1e-10).unwrap();
        let there = out.clone();
        bessel::bessel_j_each::run_inverse(d, &mut out, 2, &z, 1e-10).unwrap();
        (there, out)
    });
    same!(|d| {
        let g = exponential::exponential::gradient(d, 1.6, 1e-10).unwrap();
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
fn bundle_adjustment() {
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
