//! Flows: values against plain Rust, volumes against Jacobians, inverses, gradients.
#![allow(clippy::unwrap_used)]

#[path = "support/numbers.rs"]
mod support;

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{Array1, Array2};
use rev_cpu::prelude::*;
use rev_networks::flows::coupling::{additive, affine, plain as coupling};
use rev_networks::flows::nice::{nice, plain::nice as plain_nice};
use rev_networks::flows::normal::{box_muller, box_muller_each, plain as normal, turns};
use rev_networks::flows::real_nvp::{plain, real_nvp, unlikelihood, Weights};
use support::{apart, numbers};

fn weights(layers: usize, hidden: usize, dimensions: usize) -> Weights {
    let mut all = numbers(10_000, 7).into_iter();
    Weights::new(layers, hidden, dimensions, || all.next().unwrap())
}

#[test]
fn coupling_layers() {
    let (y, x) = (numbers((5, 2), 1), numbers((5, 3), 2));
    let (w, b, shift, t) = (numbers((4, 3), 3), numbers(4, 4), numbers((2, 4), 5), numbers(2, 6));
    let (scale, r) = (numbers((2, 4), 7), numbers(2, 8));
    let mut expected = y.clone();
    coupling::additive(expected.view_mut(), x.view(), (w.view(), b.view()), (shift.view(), t.view()));
    let mut got = y.clone();
    let (w, b, shift, t) = (w.view(), b.view(), shift.view(), t.view());
    additive(got.view_mut(), x.view(), w, b, shift, t).unwrap();
    assert!(apart(&got, &expected) < 1e-14);
    additive::inverse(got.view_mut(), x.view(), w, b, shift, t).unwrap();
    assert!(apart(&got, &y) < 1e-14);
    let report = additive::check_gradient(&Cpu::new(), y.view(), x.view(), w, b, shift, t).unwrap();
    assert!(report.passed(), "{report}");

    let mut expected = y.clone();
    let (scale, r) = (scale.view(), r.view());
    let volumes = coupling::affine(expected.view_mut(), x.view(), (w, b), (scale, r), (shift, t));
    let (mut got, mut log_det) = (y.clone(), [0.5; 5]);
    affine(got.view_mut(), &mut log_det, x.view(), w, b, scale, r, shift, t).unwrap();
    assert!(apart(&got, &expected) < 1e-14);
    assert!(apart(&Array1::from_iter(log_det.map(|v| v - 0.5)), &volumes) < 1e-14);
    affine::inverse(got.view_mut(), &mut log_det, x.view(), w, b, scale, r, shift, t).unwrap();
    assert!(apart(&got, &y) < 1e-14);
    assert!(log_det.iter().all(|&v| abs_diff_eq!(v, 0.5, epsilon = 1e-14)));
    let cpu = Cpu::new();
    let report =
        affine::check_gradient(&cpu, y.view(), &log_det, x.view(), w, b, scale, r, shift, t).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn a_stack_that_keeps_volumes() {
    let (x, w, b) = (numbers((6, 4), 1), numbers((3, 5, 2), 2), numbers((3, 5), 3));
    let (shift, t, scale) = (numbers((3, 2, 5), 4), numbers((3, 2), 5), numbers(4, 6));
    let (w, b, shift, t, scale) = (w.view(), b.view(), shift.view(), t.view(), scale.view());
    let mut expected = x.clone();
    let volume = plain_nice(expected.view_mut(), w, b, shift, t, scale);
    let (mut z, mut log_det) = (x.clone(), 0.0);
    nice(z.view_mut(), &mut log_det, w, b, shift, t, scale).unwrap();
    assert!(apart(&z, &expected) < 1e-13);
    assert_abs_diff_eq!(log_det, volume, epsilon = 1e-14);
    nice::inverse(z.view_mut(), &mut log_det, w, b, shift, t, scale).unwrap();
    assert!(apart(&z, &x) < 1e-13);
    let report = nice::check_gradient(&Cpu::new(), x.view(), &0.0, w, b, shift, t, scale).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn a_stack_of_affine_layers() {
    let (x, p) = (numbers((6, 4), 1), weights(3, 5, 4));
    let mut expected = x.clone();
    let volumes = plain::real_nvp(expected.view_mut(), &p);
    let (mut z, mut log_det) = (x.clone(), [0.0; 6]);
    let (w, b, scale, r) = (p.w.view(), p.b.view(), p.scale.view(), p.r.view());
    let (shift, t) = (p.shift.view(), p.t.view());
    real_nvp(z.view_mut(), &mut log_det, w, b, scale, r, shift, t).unwrap();
    assert!(apart(&z, &expected) < 1e-13);
    assert!(apart(&Array1::from_iter(log_det), &volumes) < 1e-14);
    real_nvp::inverse(z.view_mut(), &mut log_det, w, b, scale, r, shift, t).unwrap();
    assert!(apart(&z, &x) < 1e-13);
    let cpu = Cpu::new();
    let report = real_nvp::check_gradient(&cpu, x.view(), &[0.0; 6], w, b, scale, r, shift, t).unwrap();
    assert!(report.passed(), "{report}");
    let report = unlikelihood::check_gradient(&cpu, &0.0, x.view(), w, b, scale, r, shift, t).unwrap();
    assert!(report.passed(), "{report}");
    let g = unlikelihood::gradient(&cpu, x.view(), w, b, scale, r, shift, t).unwrap();
    assert_abs_diff_eq!(g.value, plain::unlikelihood(x.view(), &p), epsilon = 1e-13);
}

/// `ln |det|` by elimination with pivots.
fn log_det(mut a: Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut sum = 0.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[[i, k]].abs().total_cmp(&a[[j, k]].abs())).unwrap();
        for j in 0..n {
            a.swap([k, j], [pivot, j]);
        }
        sum += a[[k, k]].abs().ln();
        for i in k + 1..n {
            let factor = a[[i, k]] / a[[k, k]];
            for j in k..n {
                a[[i, j]] -= factor * a[[k, j]];
            }
        }
    }
    sum
}

#[test]
fn the_volume_is_that_of_the_jacobian() {
    let (x, p) = (numbers((1, 4), 9), weights(4, 5, 4));
    let (mut z, mut found) = (x.clone(), [0.0]);
    let (w, b, scale, r) = (p.w.view(), p.b.view(), p.scale.view(), p.r.view());
    let (shift, t) = (p.shift.view(), p.t.view());
    real_nvp(z.view_mut(), &mut found, w, b, scale, r, shift, t).unwrap();
    let mut jacobian = Array2::zeros((4, 4));
    for k in 0..4 {
        let mut seed = Array2::zeros((1, 4));
        seed[[0, k]] = 1.0;
        let v = real_nvp::vjp(&Cpu::new(), seed.view(), &[0.0], x.view(), &[0.0], w, b, scale, r, shift, t)
            .unwrap();
        jacobian.row_mut(k).assign(&v.x_bar.row(0));
    }
    assert_abs_diff_eq!(log_det(jacobian), found[0], epsilon = 1e-12);
}

#[test]
fn normally_distributed_numbers() {
    let (mut u, mut v): (f64, f64) = (0.5, 0.5);
    box_muller(&mut u, &mut v).unwrap();
    let expected = normal::box_muller(0.5, 0.5);
    assert_abs_diff_eq!(u, expected.0, epsilon = 1e-15);
    assert_abs_diff_eq!(v, expected.1, epsilon = 1e-15);
    // the papers' number, which is also -ln p(z₁) p(z₂)
    let jacobian: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, 1.0]].map(|[a, b]| {
        let v = box_muller::vjp(&Cpu::new(), a, b, &0.5f64, &0.5f64).unwrap();
        [v.u_bar, v.v_bar]
    });
    let volume: f64 = (jacobian[0][0] * jacobian[1][1] - jacobian[0][1] * jacobian[1][0]).abs().ln();
    assert_abs_diff_eq!(volume, 2.531_024_246_969_290_7, epsilon = 1e-13);
    assert_abs_diff_eq!(volume, -(normal::density(u) * normal::density(v)).ln(), epsilon = 1e-13);
    box_muller::inverse(&mut u, &mut v).unwrap();
    assert_abs_diff_eq!(u, 0.5, epsilon = 1e-15);
    assert_abs_diff_eq!(v, 0.5, epsilon = 1e-15);
    for (u, v) in [(0.1f64, 0.9f64), (0.9, 0.2), (0.3, 0.6), (0.7, 0.4)] {
        assert!(box_muller::check_inverse(&Cpu::new(), &u, &v).unwrap().passed());
        let report = box_muller::check_gradient(&Cpu::new(), &u, &v).unwrap();
        assert!(report.passed(), "{report}");
    }
    assert_eq!(turns(0.0, -1.0), 0.75);
}

#[test]
fn many_normally_distributed_numbers() {
    let uniform = numbers((4000, 2), 1).mapv(|v| 0.5 + 0.499_999 * v);
    let start: Vec<[f64; 2]> = uniform.outer_iter().map(|row| [row[0], row[1]]).collect();
    let mut pairs = start.clone();
    box_muller_each(&mut pairs).unwrap();
    let all: Vec<f64> = pairs.iter().flatten().copied().collect();
    let moment = |power: i32| all.iter().map(|v| v.powi(power)).sum::<f64>() / all.len() as f64;
    assert_abs_diff_eq!(moment(1), 0.0, epsilon = 0.05);
    assert_abs_diff_eq!(moment(2), 1.0, epsilon = 0.06);
    assert_abs_diff_eq!(moment(4), 3.0, epsilon = 0.4);
    box_muller_each::inverse(&mut pairs).unwrap();
    let back = pairs.iter().flatten().zip(start.iter().flatten());
    assert!(back.into_iter().all(|(a, b)| abs_diff_eq!(a, b, epsilon = 1e-12)));
}
