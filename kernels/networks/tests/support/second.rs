//! Programs that end in a number, and their second derivatives by formulas and by differences: what edge pushing and compiled Hessians are
//! compared with.
#![allow(dead_code)]

use approx::abs_diff_eq;
use ndarray::{s, Array1, Array2, ArrayView1, ArrayView2, Axis};
use rev_cpu::prelude::*;
use rev_networks::flows::coupling::{additive, affine};
use rev_networks::flows::normal::box_muller;
use std::f64::consts::TAU;

/// `y += w·z` for what Box and Muller make of `(u, v)`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn weighted_normal<T: Real>(y: &mut T, u: T, v: T, w: &[T; 2]) {
    let mut a = T::zero();
    let mut b = T::zero();
    a += u;
    b += v;
    box_muller(&mut a, &mut b);
    *y += w[0] * a + w[1] * b;
}

/// `y += Σ c_ij z_ij` for what an additive layer adds to zeros.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn weighted_shift<T: Real>(
    y: &mut T,
    x: ArrayView2<T>,
    w: ArrayView2<T>,
    b: ArrayView1<T>,
    shift: ArrayView2<T>,
    t: ArrayView1<T>,
    c: ArrayView2<T>,
) {
    let mut z: Array2<T> = zeros((x.nrows(), t.len()));
    additive(&mut z, &x, &w, &b, &shift, &t);
    *y += contract("ij,ij->", c, z);
}

/// `loss += Σ z²/2 - ln |det|` for what an affine layer makes of `y`, with parameters `p` one behind the other: `W, b, S, r, T, t`, where `H` numbers are
/// hidden.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn unlikely<T: Real>(
    loss: &mut T,
    y: ArrayView2<T>,
    x: ArrayView2<T>,
    w: ArrayView2<T>,
    b: ArrayView1<T>,
    scale: ArrayView2<T>,
    r: ArrayView1<T>,
    shift: ArrayView2<T>,
    t: ArrayView1<T>,
) {
    let mut z: Array2<T> = zeros((y.nrows(), y.ncols()));
    let mut log_det = vec![T::zero(); y.nrows()];
    z += entries(y);
    affine(&mut z, &mut log_det, &x, &w, &b, &scale, &r, &shift, &t);
    for i in 0..y.nrows() {
        for j in 0..y.ncols() {
            *loss += 0.5 * z[[i, j]] * z[[i, j]];
        }
        *loss -= log_det[i];
    }
}

/// Of [`weighted_normal()`] by `u` and `v`: with `ρ = √(-2 ln u)`, `φ = 2π v`, `ρ' = -1/(u ρ)` and `ρ'' = (1/ρ - 1/ρ³)/u²`, and `f = ρ (w·e)` along
/// `e = (cos φ, sin φ)`, whose derivative is `2π n`.
pub fn of_normal(u: f64, v: f64, w: [f64; 2]) -> Vec<Vec<f64>> {
    let (rho, (sin, cos)) = ((-2.0 * u.ln()).sqrt(), (TAU * v).sin_cos());
    let (along, across) = (w[0] * cos + w[1] * sin, w[1] * cos - w[0] * sin);
    let (first, second) = (-1.0 / (u * rho), (1.0 / rho - 1.0 / rho.powi(3)) / (u * u));
    let mixed = TAU * first * across;
    vec![vec![second * along, mixed], vec![mixed, -TAU * TAU * rho * along]]
}

/// Of [`weighted_shift()`] by `x, W, b, T, t`. With `a_ik = Σ_l W_kl x_il + b_k` and `g_ik = Σ_j c_ij T_jk` it is `Σ g_ik tanh a_ik` and a linear
/// term, so the second derivative by `p` and `q` is the sum over `i, k` of
///
/// ```text
/// h' (g_p a_q + g_q a_p) + g (h'' a_p a_q + h' a_pq)      h' = 1 - tanh² a,  h'' = -2 h' tanh a
/// ```
pub fn of_shift(
    x: &Array2<f64>,
    w: &Array2<f64>,
    b: &Array1<f64>,
    shift: &Array2<f64>,
    c: &Array2<f64>,
) -> Vec<Vec<f64>> {
    let ((n, e), (d, h)) = (x.dim(), shift.dim());
    let (a, g) = (x.dot(&w.t()) + b, c.dot(shift));
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    // which argument, and which element of it
    let ends = [n * e, n * e + h * e, n * e + h * e + h, n * e + h * e + h + d * h];
    let argument = |p: usize| {
        let k = ends.iter().filter(|end| p >= **end).count();
        (k, if k == 0 { p } else { p - ends[k - 1] })
    };
    let inner = |i: usize, k: usize, p: usize| match argument(p) {
        (0, at) => unit(at / e, i) * w[[k, at % e]],
        (1, at) => unit(at / e, k) * x[[i, at % e]],
        (2, at) => unit(at, k),
        _ => 0.0,
    };
    let outer = |i: usize, k: usize, p: usize| match argument(p) {
        (3, at) => unit(at % h, k) * c[[i, at / h]],
        _ => 0.0,
    };
    let both = |i: usize, k: usize, p: usize, q: usize| match (argument(p), argument(q)) {
        ((0, x), (1, w)) | ((1, w), (0, x)) => unit(x / e, i) * unit(w / e, k) * unit(x % e, w % e),
        _ => 0.0,
    };
    let second = |p: usize, q: usize| {
        let term = |(i, k): (usize, usize)| {
            let tanh = a[[i, k]].tanh();
            let (slope, p1, q1) = (1.0 - tanh * tanh, inner(i, k, p), inner(i, k, q));
            slope * (outer(i, k, p) * q1 + outer(i, k, q) * p1)
                + g[[i, k]] * slope * (both(i, k, p, q) - 2.0 * tanh * p1 * q1)
        };
        (0..n).flat_map(|i| (0..h).map(move |k| (i, k))).map(term).sum::<f64>()
    };
    let size = ends[3] + d;
    (0..size).map(|p| (0..size).map(|q| second(p, q)).collect()).collect()
}

/// The arguments of [`unlikely()`], from numbers one behind the other: two samples of two numbers and of three, and three hidden ones.
pub struct Layer {
    pub y: Array2<f64>,
    pub x: Array2<f64>,
    pub w: Array2<f64>,
    pub b: Array1<f64>,
    pub scale: Array2<f64>,
    pub r: Array1<f64>,
    pub shift: Array2<f64>,
    pub t: Array1<f64>,
}

impl Layer {
    /// How many numbers that takes.
    pub const SIZE: usize = 4 + 6 + 9 + 3 + 6 + 2 + 6 + 2;

    pub fn new(flat: &[f64]) -> Layer {
        let mut rest = flat.iter().copied();
        let mut next =
            |rows: usize, columns: usize| Array2::from_shape_fn((rows, columns), |_| rest.next().unwrap());
        let (y, x, w) = (next(2, 2), next(2, 3), next(3, 3));
        let (b, scale, r) = (next(1, 3), next(2, 3), next(1, 2));
        let (shift, t) = (next(2, 3), next(1, 2));
        let [b, r, t] = [b, r, t].map(|row| row.index_axis_move(Axis(0), 0));
        Layer { y, x, w, b, scale, r, shift, t }
    }
}

/// The second derivatives of [`unlikely()`] by all of that, by differences of fourth order of its gradient.
pub fn of_layer(flat: &[f64]) -> Vec<Vec<f64>> {
    differences(flat, |flat| {
        let l = Layer::new(flat);
        let (y, x, w, b) = (l.y.view(), l.x.view(), l.w.view(), l.b.view());
        let (scale, r, shift, t) = (l.scale.view(), l.r.view(), l.shift.view(), l.t.view());
        let g = unlikely::gradient(&Cpu::new(), y, x, w, b, scale, r, shift, t).unwrap();
        let parts = g.y.iter().chain(&g.x).chain(&g.w).chain(&g.b);
        parts.chain(&g.scale).chain(&g.r).chain(&g.shift).chain(&g.t).copied().collect()
    })
}

/// The derivatives of a function by its numbers, by differences of fourth order.
pub fn differences(at: &[f64], value: impl Fn(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    let h = 1e-3;
    let moved = |k: usize, by: f64| {
        let mut x = at.to_vec();
        x[k] += by;
        value(&x)
    };
    let column = |k: usize| {
        let [a, b, c, d] = [h, -h, 2.0 * h, -2.0 * h].map(|by| moved(k, by));
        (0..a.len()).map(|i| (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * h)).collect()
    };
    (0..at.len()).map(column).collect()
}

/// Compares the first rows and columns of a matrix, up to `tolerance` of the largest number that is expected.
pub fn near(found: &[Vec<f64>], expected: &[Vec<f64>], tolerance: f64) {
    let largest = expected.iter().flatten().fold(0.0f64, |most, v| most.max(v.abs()));
    assert!(found.len() >= expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        for (j, e) in expected.iter().enumerate() {
            assert!(
                abs_diff_eq!(found[j], *e, epsilon = tolerance * largest),
                "({i}, {j}): {} and {e}",
                found[j]
            );
        }
    }
}

/// The rows of a matrix.
pub fn rows(matrix: ArrayView2<f64>) -> Vec<Vec<f64>> {
    (0..matrix.nrows()).map(|i| matrix.slice(s![i, ..]).to_vec()).collect()
}
