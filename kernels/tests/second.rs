//! Second derivatives of the mixture, bundle adjustment, k-means and log-sum-exp: three ways to a Hessian, differences of
//! gradients derived by hand, and formulas.
#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_core::sparse::SparseMatrix;
use rev_cpu::prelude::*;
use rev_cuda::driver::Target;
use rev_cuda::ptxas::Assembler;
use rev_cuda::{emulator, Emulator, Gpu};
use rev_kernels::ba::CAMERA;
use rev_kernels::{ba, gmm, kmeans, log_sum_exp};

/// The CPU in two ways, the interpreter and the emulated GPU.
fn devices() -> [Box<dyn Device>; 4] {
    let plain = Cpu::with_threads(1).checks(false);
    [Box::new(Cpu::new()), Box::new(plain), Box::new(Interpreter::new()), Box::new(Emulator::new())]
}

/// That three matrices are the same and symmetric, up to `1e-12` of the largest number.
fn same_and_symmetric(ways: [(&str, ArrayView2<f64>); 3]) {
    let (_, first) = ways[0];
    let largest = first.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    for (way, found) in ways {
        for ((i, j), v) in found.indexed_iter() {
            for other in [first[[i, j]], found[[j, i]]] {
                assert!(
                    abs_diff_eq!(*v, other, epsilon = 1e-12 * largest),
                    "{way}, ({i}, {j}): {v} and {other}"
                );
            }
        }
    }
}

fn dense(sparse: &SparseMatrix) -> Array2<f64> {
    let rows = sparse.to_dense();
    Array2::from_shape_fn((rows.len(), rows.len()), |(i, j)| rows[i][j])
}

/// The derivative of what a gradient by hand gives along unit vectors, by differences of fourth order.
fn differences(n: usize, gradient: impl Fn(usize, f64) -> Vec<f64>) -> Array2<f64> {
    let (mut out, h) = (Array2::zeros((n, n)), 1e-3);
    for k in 0..n {
        let [a, b, c, d] = [h, -h, 2.0 * h, -2.0 * h].map(|h| gradient(k, h));
        let slope = |i: usize| (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * h);
        (0..n).for_each(|i| out[[i, k]] = slope(i));
    }
    out
}

fn near_differences(found: ArrayView2<f64>, expected: ArrayView2<f64>) {
    let largest = expected.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    for ((i, j), v) in found.indexed_iter() {
        let other = expected[[i, j]];
        assert!(abs_diff_eq!(*v, other, epsilon = 1e-7 * largest), "({i}, {j}): {v} and {other}");
    }
}

#[reversible(constant(points, gamma))]
fn mixture_slope<T: Real>(
    alphas_slope: &mut [T],
    mut means_slope: ArrayViewMut2<T>,
    mut icf_slope: ArrayViewMut2<T>,
    alphas: &[T],
    means: ArrayView2<T>,
    icf: ArrayView2<T>,
    points: ArrayView2<T>,
    gamma: T,
    m: usize,
) {
    gmm::objective::gradient(
        alphas,
        &mut *alphas_slope,
        means,
        means_slope.view_mut(),
        icf,
        icf_slope.view_mut(),
        points,
        gamma,
        m,
    );
}

#[test]
fn the_mixtures_hessian() {
    let (d, k) = (2, 3);
    let i = gmm::Instance { gamma: 1.3, m: 2, ..gmm::Instance::random(d, k, 40, 3) };
    let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
    let (alphas, row) = (&i.alphas[..], gmm::icf_len(d));
    let n = k * (1 + d + row);
    // parameters as the matrix has them: alphas, means, factors
    let parts = |flat: &[f64]| {
        let (alphas, rest) = flat.split_at(k);
        let (means, icf) = rest.split_at(k * d);
        let shaped =
            |part: &[f64], columns| Array2::from_shape_fn((k, columns), |(i, j)| part[columns * i + j]);
        (alphas.to_vec(), shaped(means, d), shaped(icf, row))
    };
    let flat = |alphas: &[f64], means: &Array2<f64>, icf: &Array2<f64>| -> Vec<f64> {
        alphas.iter().chain(means).chain(icf).copied().collect()
    };
    let pushed = dense(&gmm::objective::hessian_pushed(alphas, means, icf, points, i.gamma, i.m).unwrap());
    let by_hand = differences(n, |j, h| {
        let mut x = flat(alphas, &i.means, &i.icf);
        x[j] += h;
        let (alphas, means, icf) = parts(&x);
        let g = gmm::plain::gradient(&alphas, means.view(), icf.view(), points, i.gamma, i.m);
        flat(&g.alphas, &g.means, &g.icf)
    });
    near_differences(pushed.view(), by_hand.view());
    for device in devices() {
        let device = &*device;
        let tangents = gmm::objective::hessian(device, alphas, means, icf, points, i.gamma, i.m).unwrap();
        let (a, b, c) = parts(&vec![0.0; n]);
        let mut reverse = Array2::zeros((n, n));
        for j in 0..n {
            let mut unit = vec![0.0; n];
            unit[j] = 1.0;
            let (by_alphas, by_means, by_icf) = parts(&unit);
            let v = mixture_slope::vjp(
                device,
                &by_alphas,
                by_means.view(),
                by_icf.view(),
                &a,
                b.view(),
                c.view(),
                alphas,
                means,
                icf,
                points,
                i.gamma,
                i.m,
            );
            let v = v.unwrap();
            let row = flat(&v.alphas_bar, &v.means_bar, &v.icf_bar);
            reverse.row_mut(j).assign(&ndarray::Array1::from(row));
        }
        same_and_symmetric([
            ("propagated", pushed.view()),
            ("tangents of the adjoint", tangents.matrix().view()),
            ("adjoint over adjoint", reverse.view()),
        ]);
    }
}

#[reversible(constant(features))]
fn adjustment_slope<T: Real>(
    cameras_slope: &mut [[T; CAMERA]],
    points_slope: &mut [[T; 3]],
    weights_slope: &mut [T],
    cameras: &[[T; CAMERA]],
    points: &[[T; 3]],
    weights: &[T],
    camera_of: &[usize],
    point_of: &[usize],
    features: &[[T; 2]],
) {
    ba::objective::gradient(
        cameras,
        &mut *cameras_slope,
        points,
        &mut *points_slope,
        weights,
        &mut *weights_slope,
        camera_of,
        point_of,
        features,
    );
}

#[test]
fn bundle_adjustments_hessian() {
    let (cameras, points, observations) = (2, 3, 20);
    let mut i = ba::Instance::random(cameras, points, observations, 11);
    i.features.iter_mut().flatten().for_each(|x| *x += 0.01);
    let n = CAMERA * cameras + 3 * points + observations;
    let parts = |flat: &[f64]| -> (Vec<[f64; CAMERA]>, Vec<[f64; 3]>, Vec<f64>) {
        let (c, rest) = flat.split_at(CAMERA * cameras);
        let (p, w) = rest.split_at(3 * points);
        let c = c.chunks_exact(CAMERA).map(|c| c.try_into().unwrap()).collect();
        (c, p.chunks_exact(3).map(|p| p.try_into().unwrap()).collect(), w.to_vec())
    };
    let flat = |c: &[[f64; CAMERA]], p: &[[f64; 3]], w: &[f64]| -> Vec<f64> {
        c.iter().flatten().chain(p.iter().flatten()).chain(w).copied().collect()
    };
    let (c, p, w) = (&i.cameras[..], &i.points[..], &i.weights[..]);
    let (camera_of, point_of, features) = (&i.camera_of[..], &i.point_of[..], &i.features[..]);
    let pushed = dense(&ba::objective::hessian_pushed(c, p, w, camera_of, point_of, features).unwrap());
    let by_hand = differences(n, |j, h| {
        let mut x = flat(c, p, w);
        x[j] += h;
        let (cameras, points, weights) = parts(&x);
        let g = ba::plain::gradient(&ba::Instance { cameras, points, weights, ..i.clone() });
        flat(&g.cameras, &g.points, &g.weights)
    });
    near_differences(pushed.view(), by_hand.view());
    for device in devices() {
        let device = &*device;
        let tangents = ba::objective::hessian(device, c, p, w, camera_of, point_of, features).unwrap();
        let (still_c, still_p, still_w) = parts(&vec![0.0; n]);
        let mut reverse = Array2::zeros((n, n));
        for j in 0..n {
            let mut unit = vec![0.0; n];
            unit[j] = 1.0;
            let (by_c, by_p, by_w) = parts(&unit);
            let v = adjustment_slope::vjp(
                device, &by_c, &by_p, &by_w, &still_c, &still_p, &still_w, c, p, w, camera_of, point_of,
                features,
            );
            let v = v.unwrap();
            let row = flat(&v.cameras_bar, &v.points_bar, &v.weights_bar);
            reverse.row_mut(j).assign(&ndarray::Array1::from(row));
        }
        same_and_symmetric([
            ("propagated", pushed.view()),
            ("tangents of the adjoint", tangents.matrix().view()),
            ("adjoint over adjoint", reverse.view()),
        ]);
    }
}

/// Of `ln Σ exp(x)`, with `s = softmax(x)`: `diag(s) - s sᵀ`.
#[test]
fn log_sum_exps() {
    let x = [0.3, -1.2, 2.5, 2.5, 40.0, 39.1];
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers = x.map(|x| (x - largest).exp());
    let s = powers.map(|p| p / powers.iter().sum::<f64>());
    for device in [Cpu::new(), Cpu::with_threads(1).checks(false)] {
        let h = log_sum_exp::log_sum_exp::hessian(&device, &x).unwrap();
        for ((i, j), v) in h.matrix().indexed_iter() {
            let expected = s[i] * (f64::from(u8::from(i == j)) - s[j]);
            assert!(abs_diff_eq!(*v, expected, epsilon = 1e-15), "({i}, {j}): {v} and {expected}");
        }
    }
}

#[test]
fn directions_of_k_means() {
    let numbers = |n: usize, d: usize, by: f64| {
        Array2::from_shape_fn((n, d), |(i, j)| (by * (d * i + j) as f64 + 0.4).sin())
    };
    let (points, centroids) = (numbers(70, 3, 1.7), numbers(4, 3, 0.9));
    let (points, centroids) = (points.view(), centroids.view());
    let expected = kmeans::plain::direction(centroids, points);
    let value = kmeans::plain::cost(centroids, points);
    for device in [Cpu::new(), Cpu::new().checks(false), Cpu::with_threads(1).lanes(false)] {
        let mut loss = 0.0;
        kmeans::cost::run(&device, &mut loss, centroids, points).unwrap();
        assert_abs_diff_eq!(loss, value, epsilon = 1e-12 * value);
        let found = kmeans::direction(&device, centroids, points).unwrap();
        found.iter().zip(&expected).for_each(|(a, b)| assert_abs_diff_eq!(a, b, epsilon = 1e-12));
        let hessian = kmeans::cost::hessian(&device, centroids, points).unwrap();
        let pushed = dense(&kmeans::cost::hessian_pushed(centroids, points).unwrap());
        for ((i, j), v) in hessian.matrix().indexed_iter() {
            assert!(i == j || *v == 0.0, "({i}, {j}): {v}");
            assert_eq!(*v, pushed[[i, j]]);
        }
    }
}

/// The texts of what a GPU would run for second derivatives of the mixture, bundle adjustment and k-means.
fn texts<D: rev_cuda::driver::Driver>(gpu: &Gpu<D>) -> Vec<String> {
    let (mixture, bundle) = (gmm::Instance::random(2, 3, 40, 3), ba::Instance::random(2, 3, 20, 11));
    let (means, icf, points) = (mixture.means.view(), mixture.icf.view(), mixture.points.view());
    let (gamma, m) = (mixture.gamma, mixture.m);
    let ba::Instance { cameras, points: world, weights, camera_of, point_of, features, .. } = &bundle;
    gpu.ptx_of(|d| {
        gmm::objective::gradient_and_hvp(
            d,
            &mixture.alphas,
            means,
            icf,
            &mixture.alphas,
            means,
            icf,
            points,
            gamma,
            m,
        )?;
        gmm::objective::hessian(d, &mixture.alphas, means, icf, points, gamma, m)?;
        ba::objective::gradient_and_hvp(
            d, cameras, world, weights, cameras, world, weights, camera_of, point_of, features,
        )?;
        ba::objective::hessian(d, cameras, world, weights, camera_of, point_of, features)?;
        kmeans::cost::hessian(d, means, points).map(drop)
    })
    .unwrap()
}

#[test]
fn ptxas_takes_second_derivatives() {
    let Some(assembler) = Assembler::find() else {
        return eprintln!("skipped: no ptxas (REV_PTXAS, PATH)");
    };
    let target = Target(90);
    let texts = texts(&Gpu::over(emulator::Emulator::new().with_target(target)));
    assert!(texts.len() >= 5 && texts.iter().all(|text| text.contains(".visible .entry")));
    for text in texts {
        let kernels = assembler.assemble(&text, target).unwrap();
        assert!(!kernels.is_empty());
    }
}
