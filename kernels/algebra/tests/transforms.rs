//! Rotations and Fourier transforms against their definitions and another crate.
#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{Array1, Array2};
use num_complex::Complex;
use rev_algebra::{fft, unitary};
use rev_cpu::prelude::*;
use rustfft::FftPlanner;

fn signal(n: usize) -> Array1<Complex<f64>> {
    (0..n).map(|i| Complex::new((1.0 + 1.7 * i as f64).sin(), (0.3 * (i * i) as f64).cos())).collect()
}

fn close<'a>(
    got: impl IntoIterator<Item = &'a Complex<f64>>,
    expected: impl IntoIterator<Item = Complex<f64>>,
) {
    got.into_iter()
        .zip(expected)
        .for_each(|(g, e)| assert!(abs_diff_eq!((g - e).norm(), 0.0, epsilon = 1e-13), "{g} against {e}"));
}

#[test]
fn rotations_of_many_vectors() {
    // 20 numbers have 190 angles, 200 have 19 900
    for (n, columns) in [(1, 1), (2, 3), (20, 1), (7, 40), (200, 1)] {
        let x = Array2::from_shape_fn((n, columns), |(i, j)| (1.3 * i as f64 - 0.7 * j as f64).cos());
        let angles: Vec<f64> = (0..n * (n - 1) / 2).map(|k| (0.9 * k as f64).sin() * 3.0).collect();
        let mut y = x.clone();
        unitary::rotations(y.view_mut(), &angles).unwrap();
        let expected = unitary::plain::rotations(x.view(), &angles);
        assert!((&y - &expected).iter().all(|&d| abs_diff_eq!(d, 0.0, epsilon = 1e-13)));
        let norm = |x: &Array2<f64>| x.iter().map(|x| x * x).sum::<f64>();
        assert_abs_diff_eq!(norm(&x), norm(&y), epsilon = 1e-12 * norm(&x));
        unitary::rotations::inverse(y.view_mut(), &angles).unwrap();
        assert!((&y - &x).iter().all(|&d| abs_diff_eq!(d, 0.0, epsilon = 1e-13)));
    }
    let x = Array2::from_shape_fn((4, 3), |(i, j)| (1.3 * i as f64 - 0.7 * j as f64).cos());
    let angles = [0.3, -1.2, 2.5, 0.9, -0.4, 1.7];
    let report = unitary::rotations::check_gradient(&Cpu::new(), x.view(), &angles).unwrap();
    assert!(report.passed(), "{report}");
    assert!(unitary::rotations(x.clone().view_mut(), &angles[..5]).is_err());
}

#[test]
fn complex_signals() {
    let mut planner = FftPlanner::new();
    for n in [1, 2, 4, 8, 32, 1024] {
        let mut x = signal(n);
        fft::fft(x.view_mut()).unwrap();
        let mut theirs = signal(n).to_vec();
        planner.plan_fft_forward(n).process(&mut theirs);
        close(&x, theirs.iter().map(|x| x / (n as f64).sqrt()));
        if n <= 32 {
            close(&x, fft::plain::dft(signal(n).as_slice().unwrap()));
        }
        fft::fft::inverse(x.view_mut()).unwrap();
        close(&x, signal(n));
    }
    // on threads, every other element, in f32
    let (mut x, cpu) = (signal(64), Cpu::with_threads(2));
    fft::fft::run(&cpu, x.slice_mut(ndarray::s![..;2])).unwrap();
    let half: Vec<_> = signal(64).iter().step_by(2).copied().collect();
    close(x.slice(ndarray::s![..;2]), fft::plain::dft(&half));
    let mut small = Array1::from_elem(4, Complex::new(0.5f32, 0.0));
    fft::fft(small.view_mut()).unwrap();
    assert_abs_diff_eq!(small[0].re, 1.0, epsilon = 1e-6);
    assert!(fft::fft(signal(12).view_mut()).unwrap_err().to_string().contains("beyond_a_power_of_two"));
    let report = fft::fft::check_gradient(&cpu, signal(64).view()).unwrap();
    assert!(report.passed(), "{report}");
    // the cotangents come back by the inverse transform
    let g = fft::fft::vjp(&cpu, signal(64).view(), signal(64).view()).unwrap();
    let mut expected = signal(64);
    fft::fft::inverse(expected.view_mut()).unwrap();
    close(&g.x_bar, expected);
}

#[test]
fn real_signals() {
    for m in [1, 2, 4, 16, 128] {
        let real: Vec<f64> = (0..2 * m).map(|i| (0.4 + 1.1 * i as f64).sin()).collect();
        let packed: Array1<_> = real.chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect();
        let mut z = packed.clone();
        fft::real_fft(z.view_mut()).unwrap();
        let all = fft::plain::dft(&real.iter().map(|x| Complex::new(*x, 0.0)).collect::<Vec<_>>());
        close([&z[0]], [Complex::new(all[0].re, all[m].re)]);
        close(z.iter().skip(1), (1..m).map(|k| all[k] * 2f64.sqrt()));
        fft::real_fft::inverse(z.view_mut()).unwrap();
        close(&z, packed.clone());
        let report = fft::real_fft::check_gradient(&Cpu::new(), packed.view()).unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn two_dimensions() {
    let x = Array2::from_shape_fn((8, 4), |(i, j)| {
        Complex::new((i as f64 + 0.3).sin(), (1.9 * (i * j) as f64).cos())
    });
    let mut y = x.clone();
    fft::fft2(y.view_mut()).unwrap();
    let mut expected = x.clone();
    let along = |mut line: ndarray::ArrayViewMut1<Complex<f64>>| {
        let transformed = fft::plain::dft(&line.to_vec());
        line.assign(&Array1::from(transformed));
    };
    expected.rows_mut().into_iter().for_each(along);
    expected.columns_mut().into_iter().for_each(along);
    close(&y, expected);
    fft::fft2::inverse(y.view_mut()).unwrap();
    close(&y, x.iter().copied());
    let report = fft::fft2::check_gradient(&Cpu::with_threads(2), x.view()).unwrap();
    assert!(report.passed(), "{report}");
}
