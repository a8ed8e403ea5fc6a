//! The programs of the papers: values, inverses and gradients, and the papers' numbers.
#![allow(clippy::unwrap_used)]

use ndarray::arr2;
use num_complex::Complex;
use rev_cpu::prelude::*;
use rev_kernels::*;

fn close(got: f64, expected: f64, tolerance: f64) {
    approx::assert_abs_diff_eq!(got, expected, epsilon = tolerance);
}

#[test]
fn multiplier_there_and_back() {
    let mut y = 2.0;
    multiplier::multiplier(&mut y, 3.0, 5.0).unwrap();
    assert_eq!(y, 17.0);
    multiplier::multiplier::inverse(&mut y, 3.0, 5.0).unwrap();
    assert_eq!(y, 2.0);
}

#[test]
fn the_approximate_multiplier_keeps_its_rounding() {
    let (mut y, mut dirty) = (0.1, 0.0);
    multiplier::approximate_multiply(&mut y, 0.3, &mut dirty).unwrap();
    close(y, 0.03, 1e-17);
    close(dirty, 0.0, 1e-16);
    multiplier::approximate_multiply::inverse(&mut y, 0.3, &mut dirty).unwrap();
    close(y, 0.1, 1e-17);
    assert_eq!(dirty, 0.0);
}

#[test]
fn norm_there_and_back() {
    let x = [1.0, 2.0, 3.0];
    let mut out = 0.5;
    norm::norm(&mut out, &x).unwrap();
    assert_eq!(out, 0.5 + 3.7416573867739413);
    norm::norm::inverse(&mut out, &x).unwrap();
    close(out, 0.5, 1e-15);
    let (mut out, mut square) = (0.0, 0.0);
    norm::norm_and_square(&mut out, &mut square, &x).unwrap();
    assert_eq!((out, square), (3.7416573867739413, 14.0));
    norm::norm_and_square::inverse(&mut out, &mut square, &x).unwrap();
    assert_eq!((out, square), (0.0, 0.0));
}

#[test]
fn complex_log_there_and_back() {
    let (x, mut y) = (Complex::new(3.0, 2.0), Complex::new(0.0, 0.0));
    complex_log::complex_log(&mut y, x).unwrap();
    let error: Complex<f64> = y - complex_log::plain::complex_log(x);
    close(error.norm(), 0.0, 1e-15);
    complex_log::complex_log::inverse(&mut y, x).unwrap();
    assert_eq!(y, Complex::new(0.0, 0.0));
}

#[test]
fn affine_there_and_back() {
    let (w, b, x) = (arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]), [10.0, 20.0], [1.0, 0.5, -1.0]);
    let (mut y, mut expected) = ([1.0, 2.0], [1.0, 2.0]);
    affine::affine(&mut y, w.view(), &b, &x).unwrap();
    affine::plain::affine(&mut expected, w.view(), &b, &x);
    assert_eq!(y, expected);
    affine::affine::inverse(&mut y, w.view(), &b, &x).unwrap();
    assert_eq!(y, [1.0, 2.0]);
}

#[test]
fn bessel_there_and_back() {
    for (nu, z) in [(2, 1.0), (0, 2.5), (1, 0.3), (0, 0.0), (1, 0.0), (3, -1.5)] {
        let mut out = 0.25;
        bessel::bessel_j(&mut out, nu, z, 1e-10).unwrap();
        close(out, 0.25 + bessel::plain::bessel_j(nu as u32, z, 1e-17), 1e-9);
        bessel::bessel_j::inverse(&mut out, nu, z, 1e-10).unwrap();
        close(out, 0.25, 1e-16);
    }
    let mut out = 0.0;
    bessel::bessel_j(&mut out, 2, 1.0, 1e-8).unwrap();
    close(out, 0.114_903_484_931_900_47, 1e-9);
    let mut out = 0;
    bessel::factorial(&mut out, 10).unwrap();
    assert_eq!(out, 3_628_800);
    bessel::factorial::inverse(&mut out, 10).unwrap();
    assert_eq!(out, 0);
}

#[test]
fn exponential_there_and_back() {
    for x in [1.6, -2.0, 0.0, 3.0] {
        let mut y = 0.5;
        exponential::exponential(&mut y, x, 1e-14).unwrap();
        close(y, 0.5 + f64::exp(x), 1e-8);
        exponential::exponential::inverse(&mut y, x, 1e-14).unwrap();
        close(y, 0.5, 1e-14);
    }
}

#[test]
fn fibonacci_there_and_back() {
    let mut out = 0;
    fibonacci::fibonacci(&mut out, 10).unwrap();
    assert_eq!(out, 55);
    fibonacci::fibonacci::inverse(&mut out, 10).unwrap();
    assert_eq!(out, 0);
    let mut n = 0;
    fibonacci::first_at_least(&mut n, 100).unwrap();
    assert_eq!(n, 12);
    fibonacci::first_at_least::inverse(&mut n, 100).unwrap();
    assert_eq!(n, 0);
    for n in -1..15 {
        let mut out = 3;
        fibonacci::by_odd_steps(&mut out, n).unwrap();
        assert_eq!(out, 3 + fibonacci::plain::by_odd_steps(n));
        fibonacci::by_odd_steps::inverse(&mut out, n).unwrap();
        assert_eq!(out, 3);
    }
}

/// A million steps of a program on fixed point, and back to the last bit.
#[test]
fn leapfrog_returns_bit_for_bit() {
    let start = (Fixed43::from_num(1.0), Fixed43::from_num(0.25));
    let dt = Fixed43::from_num(1e-3);
    let (mut x, mut v) = start;
    leapfrog::leapfrog(&mut x, &mut v, dt, 1_000_000).unwrap();
    let (mut expected_x, mut expected_v) = (1.0, 0.25);
    leapfrog::plain::leapfrog(&mut expected_x, &mut expected_v, dt.to_num(), 1_000_000);
    close(x.to_num(), expected_x, 1e-6);
    close(v.to_num(), expected_v, 1e-6);
    leapfrog::leapfrog::inverse(&mut x, &mut v, dt, 1_000_000).unwrap();
    assert_eq!((x, v), start);
}

#[test]
fn log_sum_exp_there_and_back() {
    for x in [vec![0.3], vec![1000.0, 1000.5, -3.0], vec![-800.0, -801.0, -799.0, -799.0]] {
        let mut out = 0.0;
        log_sum_exp::log_sum_exp(&mut out, &x).unwrap();
        close(out, gmm::plain::log_sum_exp(&x), 1e-12);
        log_sum_exp::log_sum_exp::inverse(&mut out, &x).unwrap();
        assert_eq!(out, 0.0);
    }
}

#[test]
fn gradient_of_the_multiplier() {
    let g = multiplier::multiplier::gradient(&Cpu::new(), 3.0, 5.0).unwrap();
    assert_eq!((g.value, g.a, g.b), (15.0, 5.0, 3.0));
}

#[test]
fn gradient_of_the_norm() {
    let x = [1.0, 2.0, 3.0];
    let expected = [0.267_261_241_912, 0.534_522_483_825, 0.801_783_725_737];
    let g = norm::norm::gradient(&Cpu::new(), &x).unwrap();
    assert_eq!(g.value, 3.7416573867739413);
    g.x.iter().zip(expected).for_each(|(g, e)| close(*g, e, 1e-11));
    // with the square as an output of its own, which starts at zero and carries a cotangent too
    let g = norm::norm_and_square::gradient(&Cpu::new(), &0.0, &x).unwrap();
    close(g.square, 0.133_630_620_956_212_2, 1e-15);
    g.x.iter().zip(expected).for_each(|(g, e)| close(*g, e, 1e-11));
}

#[test]
fn gradient_of_the_complex_log() {
    let (x, zero) = (Complex::new(3.0, 2.0), Complex::new(0.0, 0.0));
    // the real and the imaginary part as loss: dL/dre + i dL/dim is conj(1/x), and i conj(1/x)
    let slope = (Complex::new(1.0, 0.0) / x).conj();
    for seed in [Complex::new(1.0, 0.0), Complex::new(0.0, 1.0)] {
        let g = complex_log::complex_log::vjp(&Cpu::new(), seed, &zero, x).unwrap();
        close((g.x_bar - seed * slope).norm(), 0.0, 1e-15);
    }
}

#[test]
fn gradient_of_the_affine_map() {
    let (w, b, x) = (arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]), [10.0, 20.0], [1.0, 0.5, -1.0]);
    let seed = [2.0, -3.0];
    let g = affine::affine::vjp(&Cpu::new(), &seed, &[0.0, 0.0], w.view(), &b, &x).unwrap();
    assert_eq!(g.b_bar, seed);
    assert_eq!(g.x_bar, [2.0 - 12.0, 4.0 - 15.0, 6.0 - 19.5]);
    assert_eq!(g.w_bar, arr2(&[[2.0, 1.0, -2.0], [-3.0, -1.5, 3.0]]));
}

#[test]
fn gradient_of_bessel_at_the_papers_point() {
    let g = bessel::bessel_j::gradient(&Cpu::new(), 2, 1.0, 1e-8).unwrap();
    close(g.value, 0.114_903_484_931_900_47, 1e-9);
    close(g.z, 0.210_243_615_881_132_58, 1e-9);
    for (nu, z) in [(0, 2.5), (1, 0.3), (3, -1.5), (0, 0.0), (1, 0.0)] {
        let g = bessel::bessel_j::gradient(&Cpu::new(), nu, z, 1e-10).unwrap();
        let expected = match (nu, z == 0.0) {
            (0, true) => 0.0,
            (1, true) => 0.5,
            _ => bessel::plain::gradient(nu as u32, z, 1e-17).1,
        };
        close(g.z, expected, 1e-6);
    }
}

#[test]
fn gradient_of_many_bessel_functions() {
    let z: Vec<f64> = (1..200).map(|i| 0.01 * f64::from(i)).collect();
    let seeds = vec![1.0; z.len()];
    for threads in [1, 2, 8] {
        let device = Cpu::with_threads(threads);
        let g = bessel::bessel_j_each::vjp(&device, &seeds, &vec![0.0; z.len()], 2, &z, 1e-8).unwrap();
        for (i, &z) in z.iter().enumerate() {
            let (value, slope) = bessel::plain::gradient(2, z, 1e-17);
            close(g.out[i], value, 1e-8);
            close(g.z_bar[i], slope, 1e-7);
        }
    }
}

#[test]
fn gradient_of_the_exponential_at_the_papers_point() {
    let g = exponential::exponential::gradient(&Cpu::new(), 1.6, 1e-14).unwrap();
    close(g.value, 1.6f64.exp(), 1e-9);
    close(g.x, 4.953_032_424_4, 1e-9);
}

#[test]
fn gradient_of_log_sum_exp() {
    for x in [vec![0.3], vec![1000.0, 1000.5, -3.0], vec![-800.0, -801.0, -799.0, -799.0]] {
        let g = log_sum_exp::log_sum_exp::gradient(&Cpu::new(), &x).unwrap();
        let lse = gmm::plain::log_sum_exp(&x);
        g.x.iter().zip(&x).for_each(|(g, x)| close(*g, (x - lse).exp(), 1e-14));
    }
}

#[test]
fn gradient_of_leapfrog() {
    // a linear map: the gradient of x after n steps is the first row of its matrix
    let (steps, dt) = (100, 0.05);
    let column = |x: f64, v: f64| {
        let (mut x, mut v) = (x, v);
        leapfrog::plain::leapfrog(&mut x, &mut v, dt, steps);
        [x, v]
    };
    let g = leapfrog::leapfrog::vjp(&Cpu::new(), 1.0, 0.0, &0.7, &-0.2, dt, steps).unwrap();
    close(g.x_bar, column(1.0, 0.0)[0], 1e-12);
    close(g.v_bar, column(0.0, 1.0)[0], 1e-12);
    let h = 1e-6;
    let at = |dt: f64| {
        let (mut x, mut v) = (0.7, -0.2);
        leapfrog::plain::leapfrog(&mut x, &mut v, dt, steps);
        x
    };
    close(g.dt_bar, (at(dt + h) - at(dt - h)) / (2.0 * h), 1e-5);
}
