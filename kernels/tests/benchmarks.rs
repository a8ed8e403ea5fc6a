//! GMM and bundle adjustment: values, inverses and gradients against the plain twins.
#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_relative_eq};
use ndarray::{Array2, ArrayView2};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rev_cpu::prelude::*;
use rev_kernels::{ba, bal, gmm, rotation};

fn close(got: f64, expected: f64) {
    approx::assert_relative_eq!(got, expected, epsilon = 1e-10, max_relative = 1e-10);
}

#[test]
fn gmm_there_and_back() {
    for (d, k, n, gamma, m) in
        [(1, 1, 1, 1.0, 0), (2, 5, 50, 1.0, 0), (5, 3, 20, 1.3, 4), (10, 25, 30, 0.7, 1)]
    {
        let i = gmm::Instance { gamma, m, ..gmm::Instance::random(d, k, n, 3) };
        let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
        let alphas = i.alphas.as_slice();
        let mut loss = 0.0;
        gmm::objective(&mut loss, alphas, means, icf, points, gamma, m).unwrap();
        close(loss, gmm::plain::objective(&i.alphas, means, icf, points, gamma, m));
        gmm::objective::inverse(&mut loss, alphas, means, icf, points, gamma, m).unwrap();
        close(loss, 0.0);
    }
}

/// The mixture as GradBench defines it: the prior of the covariances is added where ADBench subtracts it.
#[reversible(constant(points, gamma))]
fn mixture_of_gradbench<T: Real>(
    loss: &mut T,
    alphas: &[T],
    means: ArrayView2<T>,
    icf: ArrayView2<T>,
    points: ArrayView2<T>,
    gamma: T,
    m: usize,
) {
    let mut exp_q: Array2<T> = zeros((means.nrows(), means.ncols()));
    for c in 0..means.nrows() {
        for j in 0..means.ncols() {
            exp_q[[c, j]] += icf[[c, j]].exp();
        }
    }
    // of no points, so that it is that of the covariances alone
    let mut prior = T::zero();
    gmm::prior(&mut prior, alphas, icf, &exp_q, gamma, m, 0);
    gmm::objective(&mut *loss, alphas, means, icf, points, gamma, m);
    *loss -= 2.0 * prior;
}

/// The formula of GradBench's documentation:
///
/// ```text
/// -N (D/2 ln 2π + lse(α)) + Σ_i lse_k(α_k - |Q_k (x_i - μ_k)|²/2 + Σ_j q_kj)
///     + K (νD ln(γ/√2) - ln Γ_D(ν/2)) - γ²/2 Σ_k |Q_k|² + m Σ_kj q_kj
/// ```
///
/// in one dimension, where `Q = e^q`, and in two, where ν is chosen such that `Γ_D` is known.
#[test]
fn gmm_of_gradbench() {
    let (tau, pi) = (std::f64::consts::TAU, std::f64::consts::PI);
    let lse = |x: &[f64]| x.iter().map(|x| x.exp()).sum::<f64>().ln();
    // Γ_1(1) = Γ(1), and Γ_2(2) = √π Γ(2) Γ(3/2) = π/2
    for (d, m, log_gamma) in [(1, 0, 0.0), (2, 1, (pi / 2.0).ln())] {
        let (k, n, gamma) = (3, 7, 1.3);
        let i = gmm::Instance { gamma, m, ..gmm::Instance::random(d, k, n, 3) };
        let factor = |c: usize| -> Array2<f64> {
            let row = i.icf.row(c);
            Array2::from_shape_fn((d, d), |(r, j)| match r.cmp(&j) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => row[j].exp(),
                std::cmp::Ordering::Greater => row[d],
            })
        };
        let log_sum = |c: usize| i.icf.row(c).iter().take(d).sum::<f64>();
        let of_point = |x: ndarray::ArrayView1<f64>| {
            let term = |c: usize| {
                let z = factor(c).dot(&(&x - &i.means.row(c)));
                i.alphas[c] - z.dot(&z) / 2.0 + log_sum(c)
            };
            lse(&(0..k).map(term).collect::<Vec<_>>())
        };
        let nu = (d + m + 1) as f64;
        let norms: f64 = (0..k).map(|c| factor(c).mapv(|q| q * q).sum()).sum();
        let expected = i.points.outer_iter().map(of_point).sum::<f64>()
            - n as f64 * (d as f64 / 2.0 * tau.ln() + lse(&i.alphas))
            + k as f64 * (nu * d as f64 * (gamma / 2f64.sqrt()).ln() - log_gamma)
            - gamma * gamma / 2.0 * norms
            + m as f64 * (0..k).map(log_sum).sum::<f64>();
        let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
        let cpu = Cpu::new();
        let g = mixture_of_gradbench::gradient(&cpu, &i.alphas, means, icf, points, gamma, m).unwrap();
        close(g.value, expected);
        let report =
            mixture_of_gradbench::check_gradient(&cpu, &0.5, &i.alphas, means, icf, points, gamma, m)
                .unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn gmm_in_single_precision() {
    let i = gmm::Instance::random(3, 4, 50, 7);
    let single = |a: &ndarray::Array2<f64>| a.mapv(|x| x as f32);
    let (alphas, means, icf, points) = (
        i.alphas.iter().map(|x| *x as f32).collect::<Vec<_>>(),
        single(&i.means),
        single(&i.icf),
        single(&i.points),
    );
    let mut loss = 0f32;
    gmm::objective(&mut loss, &alphas, means.view(), icf.view(), points.view(), 1.0, 0).unwrap();
    let expected = gmm::plain::objective(&i.alphas, i.means.view(), i.icf.view(), i.points.view(), 1.0, 0);
    assert_relative_eq!(f64::from(loss), expected, epsilon = 0.0, max_relative = 1e-4);
}

/// Whether what a fused product was added to and taken from again is back at zero: each of the two is rounded
/// once, but the product itself isn't, so the last digits of the sum stay.
fn back_at_zero(left: f64, between: f64) {
    assert!(
        abs_diff_eq!(left, 0.0, epsilon = 8.0 * f64::EPSILON * between.abs().max(1.0)),
        "{left}, after {between}"
    );
}

#[test]
fn rotation_there_and_back_also_at_angle_zero() {
    for r in [[0.4, -1.1, 0.7], [0.0; 3], [1e-9, 0.0, 0.0]] {
        let (v, mut out) = ([0.3, -1.2, 2.5], [0.0; 3]);
        rotation::rotate(&mut out, &r, &v).unwrap();
        let expected = rotation::plain::rotate(&r, &v);
        (0..3).for_each(|j| close(out[j], expected[j]));
        rotation::rotate::inverse(&mut out, &r, &v).unwrap();
        (0..3).for_each(|j| back_at_zero(out[j], expected[j]));
    }
}

#[test]
fn ba_errors_and_objective() {
    let mut i = ba::Instance::random(3, 7, 40, 5);
    i.cameras[1][..6].copy_from_slice(&[0.0, 0.0, 0.0, 0.1, 0.2, -6.0]);
    let (mut residuals, mut weight_errors) = (vec![[0.0; 2]; 40], vec![0.0; 40]);
    let (camera_of, point_of) = (i.camera_of.as_slice(), i.point_of.as_slice());
    ba::errors(
        &mut residuals,
        &mut weight_errors,
        &i.cameras,
        &i.points,
        &i.weights,
        camera_of,
        point_of,
        &i.features,
    )
    .unwrap();
    let expected = ba::plain::residuals(&i);
    (0..40).for_each(|j| (0..2).for_each(|c| close(residuals[j][c], expected[j][c])));
    assert_eq!(weight_errors, ba::plain::weight_errors(&i));
    ba::errors::inverse(
        &mut residuals,
        &mut weight_errors,
        &i.cameras,
        &i.points,
        &i.weights,
        camera_of,
        point_of,
        &i.features,
    )
    .unwrap();
    (0..40).for_each(|j| (0..2).for_each(|c| back_at_zero(residuals[j][c], expected[j][c])));
    assert_eq!(weight_errors, [0.0; 40]);
    let mut loss = 0.0;
    ba::objective(&mut loss, &i.cameras, &i.points, &i.weights, camera_of, point_of, &i.features).unwrap();
    close(loss, ba::plain::gradient(&i).value);
}

#[test]
fn bal_errors_and_objective() {
    let i = bal::Instance::random(3, 7, 40, 5);
    let mut residuals = vec![[0.0; 2]; 40];
    let (camera_of, point_of) = (i.camera_of.as_slice(), i.point_of.as_slice());
    bal::errors(&mut residuals, &i.cameras, &i.points, camera_of, point_of, &i.features).unwrap();
    let expected = bal::plain::residuals(&i);
    (0..40).for_each(|j| (0..2).for_each(|c| close(residuals[j][c], expected[j][c])));
    bal::errors::inverse(&mut residuals, &i.cameras, &i.points, camera_of, point_of, &i.features).unwrap();
    assert_eq!(residuals, vec![[0.0; 2]; 40]);
    let mut loss = 0.0;
    bal::objective(&mut loss, &i.cameras, &i.points, camera_of, point_of, &i.features).unwrap();
    close(loss, bal::plain::gradient(&i).value);
}

#[test]
fn gmm_gradient_on_any_number_of_threads() {
    for (d, k, n, gamma, m) in
        [(1, 1, 1, 1.0, 0), (2, 5, 3000, 1.0, 0), (5, 3, 500, 1.3, 4), (10, 25, 300, 0.7, 1)]
    {
        let i = gmm::Instance { gamma, m, ..gmm::Instance::random(d, k, n, 3) };
        let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
        let expected = gmm::plain::gradient(&i.alphas, means, icf, points, gamma, m);
        for device in [1, 2, 8].map(Cpu::with_threads).into_iter().chain([Cpu::new().checks(false)]) {
            let g = gmm::objective::gradient(&device, &i.alphas, means, icf, points, gamma, m).unwrap();
            close(g.value, expected.value);
            g.alphas.iter().zip(&expected.alphas).for_each(|(g, e)| close(*g, *e));
            g.means.iter().zip(&expected.means).for_each(|(g, e)| close(*g, *e));
            g.icf.iter().zip(&expected.icf).for_each(|(g, e)| close(*g, *e));
        }
    }
}

#[test]
fn gmm_gradient_with_another_prior() {
    let i = gmm::Instance { gamma: 1.2, m: 2, ..gmm::Instance::random(2, 3, 10, 9) };
    let g = gmm::objective::gradient(
        &Cpu::new(),
        &i.alphas,
        i.means.view(),
        i.icf.view(),
        i.points.view(),
        i.gamma,
        i.m,
    )
    .unwrap();
    let h = 1e-5;
    let slope = |move_by: &dyn Fn(&mut gmm::Instance, f64)| {
        let at = |h: f64| {
            let mut i = i.clone();
            move_by(&mut i, h);
            gmm::plain::objective(&i.alphas, i.means.view(), i.icf.view(), i.points.view(), i.gamma, i.m)
        };
        (at(h) - at(-h)) / (2.0 * h)
    };
    for column in 0..i.icf.ncols() {
        let by_differences = slope(&|i, h| i.icf[[1, column]] += h);
        assert_relative_eq!(g.icf[[1, column]], by_differences, epsilon = 1e-6, max_relative = 1e-6);
    }
    let by_differences = slope(&|i, h| i.means[[2, 1]] += h);
    assert_relative_eq!(g.means[[2, 1]], by_differences, epsilon = 1e-6, max_relative = 1e-6);
    // the points and the prior are data
    assert_eq!((g.points, g.gamma), ((), ()));
}

#[test]
fn gmm_by_products_is_the_same_function() {
    // several blocks of points, the last one not full; in many dimensions most weights are zero
    for (d, k, n) in [(1, 2, 3), (3, 4, 50), (40, 3, 70), (5, 2, 1001), (64, 4, 970)] {
        let i = gmm::Instance { gamma: 1.3, m: 1, ..gmm::Instance::random(d, k, n, 3) };
        let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
        let device = Cpu::new().checks(d < 40);
        let a = gmm::objective::gradient(&device, &i.alphas, means, icf, points, i.gamma, i.m).unwrap();
        let b = gmm::objective_by_products::gradient(&device, &i.alphas, means, icf, points, i.gamma, i.m)
            .unwrap();
        let c = gmm::objective_by_matrices::gradient(&device, &i.alphas, means, icf, points, i.gamma, i.m)
            .unwrap();
        for (value, alphas, means, icf) in
            [(b.value, &b.alphas, &b.means, &b.icf), (c.value, &c.alphas, &c.means, &c.icf)]
        {
            close(a.value, value);
            a.alphas.iter().zip(alphas).for_each(|(a, b)| close(*a, *b));
            a.means.iter().zip(means).for_each(|(a, b)| close(*a, *b));
            a.icf.iter().zip(icf).for_each(|(a, b)| close(*a, *b));
        }
    }
}

#[test]
fn a_component_far_away_keeps_the_gradient_finite() {
    let mut i = gmm::Instance::random(2, 3, 20, 9);
    i.means[[1, 0]] = 1e4; // its responsibilities are zero
    let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
    let expected = gmm::plain::gradient(&i.alphas, means, icf, points, i.gamma, i.m);
    let g = gmm::objective::gradient(&Cpu::new(), &i.alphas, means, icf, points, i.gamma, i.m).unwrap();
    g.means.iter().zip(&expected.means).for_each(|(g, e)| close(*g, *e));
    assert_eq!(g.means[[1, 0]], 0.0);
}

#[test]
fn rotation_jacobian_also_at_angle_zero() {
    for r in [[0.4, -1.1, 0.7], [0.0; 3], [1e-9, 0.0, 0.0]] {
        let v = [0.3, -1.2, 2.5];
        let (_, by_r, by_v) = rotation::plain::rotate_jacobian(&r, &v);
        for row in 0..3 {
            let mut seed = [0.0; 3];
            seed[row] = 1.0;
            let g = rotation::rotate::vjp(&Cpu::new(), seed, &[0.0; 3], &r, &v).unwrap();
            for j in 0..3 {
                close(g.r_bar[j], by_r[row][j]);
                close(g.v_bar[j], by_v[row][j]);
            }
        }
    }
}

/// An instance with a camera that isn't turned.
fn adjustment() -> ba::Instance {
    let mut i = ba::Instance::random(3, 7, 4000, 5);
    i.cameras[1][..6].copy_from_slice(&[0.0, 0.0, 0.0, 0.1, 0.2, -6.0]);
    i
}

#[test]
fn ba_blocks() {
    let i = adjustment();
    let compare = |range: Range<usize>, blocks: &ba::Blocks| {
        assert_eq!(blocks.residuals.len(), range.len());
        for (at, j) in range.enumerate() {
            let (camera, point) = (&i.cameras[i.camera_of[j]], &i.points[i.point_of[j]]);
            let (value, rows) = ba::plain::residual_jacobian(camera, point, i.weights[j], &i.features[j]);
            let got = blocks.rows(at);
            for row in 0..2 {
                close(blocks.residuals[at][row], value[row]);
                (0..ba::COLUMNS).for_each(|c| close(got[row][c], rows[row][c]));
            }
        }
    };
    for device in [Cpu::with_threads(1), Cpu::with_threads(4), Cpu::new().checks(false)] {
        let mut blocks = ba::Blocks::default();
        for range in [0..4000, 17..18, 5..90] {
            ba::jacobian(&device, &i, range.clone(), &mut blocks).unwrap();
            compare(range, &blocks);
        }
        let seen = AtomicUsize::new(0);
        let mut memory = Vec::new();
        for size in [300, 5000] {
            let take = |range: Range<usize>, blocks: &ba::Blocks| {
                seen.fetch_add(range.len(), Relaxed);
                compare(range, blocks);
                Ok::<(), Error>(())
            };
            ba::each_jacobian(&device, &i, size, &mut memory, take).unwrap();
        }
        assert_eq!(seen.into_inner(), 8000);
    }
    let by_weight = ba::weight_jacobian(&Cpu::new(), &i).unwrap();
    by_weight.iter().zip(&i.weights).for_each(|(d, w)| close(*d, ba::plain::weight_jacobian(*w)));
}

#[test]
fn ba_gradient_on_any_number_of_threads() {
    let i = adjustment();
    let expected = ba::plain::gradient(&i);
    for device in [1, 2, 8].map(Cpu::with_threads).into_iter().chain([Cpu::new().checks(false)]) {
        let g = ba::gradient(&device, &i).unwrap();
        close(g.value, expected.value);
        g.cameras.iter().flatten().zip(expected.cameras.iter().flatten()).for_each(|(g, e)| close(*g, *e));
        g.points.iter().flatten().zip(expected.points.iter().flatten()).for_each(|(g, e)| close(*g, *e));
        g.weights.iter().zip(&expected.weights).for_each(|(g, e)| close(*g, *e));
    }
}

#[test]
fn bal_blocks_and_gradient() {
    let mut i = bal::Instance::random(3, 7, 2000, 5);
    i.cameras[2][..3].fill(0.0);
    let mut blocks = bal::Blocks::default();
    bal::jacobian(&Cpu::new(), &i, 100..1000, &mut blocks).unwrap();
    let mut memory = Vec::new();
    bal::each_jacobian(&Cpu::with_threads(3), &i, 90, &mut memory, |range, part| {
        let whole = range.filter(|j| (100..1000).contains(j)).map(|j| (j % 90, j - 100));
        whole.for_each(|(k, at)| assert_eq!(part.rows(k), blocks.rows(at)));
        Ok::<(), Error>(())
    })
    .unwrap();
    for at in 0..900 {
        let j = at + 100;
        let (camera, point) = (&i.cameras[i.camera_of[j]], &i.points[i.point_of[j]]);
        let (value, rows) = bal::plain::residual_jacobian(camera, point, &i.features[j]);
        let got = blocks.rows(at);
        for row in 0..2 {
            close(blocks.residuals[at][row], value[row]);
            (0..bal::COLUMNS).for_each(|c| close(got[row][c], rows[row][c]));
        }
    }
    let (g, expected) = (bal::gradient(&Cpu::new(), &i).unwrap(), bal::plain::gradient(&i));
    close(g.value, expected.value);
    g.cameras.iter().flatten().zip(expected.cameras.iter().flatten()).for_each(|(g, e)| close(*g, *e));
    g.points.iter().flatten().zip(expected.points.iter().flatten()).for_each(|(g, e)| close(*g, *e));
}

/// The same bits on any number of threads.
#[test]
fn deterministic_gradients() {
    let i = gmm::Instance::random(2, 5, 3000, 3);
    let adjustment = adjustment();
    let run = |threads: usize| {
        let device = Cpu::with_threads(threads).deterministic(true);
        let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
        let g = gmm::objective::gradient(&device, &i.alphas, means, icf, points, i.gamma, i.m).unwrap();
        (g.value, g.alphas, g.means, g.icf, ba::gradient(&device, &adjustment).unwrap())
    };
    let one = run(1);
    assert!(one == run(2) && one == run(8));
}
