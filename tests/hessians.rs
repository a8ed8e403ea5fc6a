//! Three ways to a Hessian: the tangents of the adjoint, the adjoint of a program that calls the gradient, and
//! what is propagated beside each number on the interpreter. Each against the others and against formulas by hand. The mixture and
//! bundle adjustment are in `kernels/tests/second.rs`.

#[path = "../examples/derivatives/graph.rs"]
mod graph;
#[path = "../examples/derivatives/grid.rs"]
mod grid;
#[path = "../examples/derivatives/series.rs"]
mod series;

use approx::{abs_diff_eq, assert_abs_diff_eq, assert_relative_eq};
use graph::{each_unit, Graph};
use grid::{heights, is_laplacian, springs};
use ndarray::{Array2, ArrayView2};
use rev::prelude::*;
use rev::sparse::SparseMatrix;
use series::{bessel, bessel_derivatives, bessel_taylor, BESSEL_SECOND, BESSEL_THIRD};

/// What the ways may differ by, of the largest number in the matrix.
const NEAR: f64 = 1e-12;

/// That a matrix is symmetric, and what it should be.
fn same(way: &str, found: ArrayView2<f64>, expected: ArrayView2<f64>) {
    assert_eq!(found.dim(), expected.dim(), "{way}");
    let largest = expected.iter().fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs()));
    for ((i, j), v) in found.indexed_iter() {
        for (what, other) in [("expected", expected[[i, j]]), ("transposed", found[[j, i]])] {
            assert!(
                abs_diff_eq!(*v, other, epsilon = NEAR * largest),
                "{way}, {what}, ({i}, {j}): {v} and {other}"
            );
        }
    }
}

fn dense(sparse: &SparseMatrix) -> Array2<f64> {
    let rows = sparse.to_dense();
    Array2::from_shape_fn((rows.len(), rows.len()), |(i, j)| rows[i][j])
}

/// The Hessian of a function of one slice in three ways, `$slope` being the program of its gradient.
macro_rules! three_ways {
    ($f:ident, $slope:ident, $expected:expr, $x:expr $(, $arg:expr)*) => {{
        let (cpu, x, n) = (Cpu::new().checks(false), $x, $x.len());
        let still = vec![0.0; n];
        let tangents = $f::hessian(&cpu, x $(, $arg)*).unwrap();
        let reverse = each_unit((n, 1), |unit| {
            let seeds: Vec<f64> = unit.iter().copied().collect();
            let v = $slope::vjp(&cpu, &seeds, &still, x $(, $arg)*)?;
            Ok(Array2::from_shape_fn((n, 1), |(i, _)| v.x_bar[i]))
        });
        let pushed = dense(&$f::hessian_pushed(x $(, $arg)*).unwrap());
        let expected: Array2<f64> = $expected;
        let name = stringify!($f);
        same(&format!("{name}, tangents of the adjoint"), tangents.matrix().view(), expected.view());
        same(&format!("{name}, adjoint over adjoint"), reverse.unwrap().view(), expected.view());
        same(&format!("{name}, propagated"), pushed.view(), expected.view());
    }};
}

#[reversible]
fn bessel_slope<T: Real>(slope: &mut T, order: usize, z: T) {
    bessel::gradient(order, z, &mut *slope);
}

#[test]
fn a_bessel_function() {
    let near =
        |found: f64, expected: f64| assert_relative_eq!(found, expected, epsilon = 0.0, max_relative = NEAR);
    for device in [&Cpu::new(), &Cpu::new().checks(false)] {
        let [second, third] = bessel_derivatives(device).unwrap();
        near(second, BESSEL_SECOND);
        near(third, BESSEL_THIRD);
        let [second, third] = bessel_taylor(device).unwrap();
        near(second, BESSEL_SECOND);
        near(third, BESSEL_THIRD);
        near(bessel_slope::gradient(device, 2, 1.0).unwrap().z, BESSEL_SECOND);
        near(bessel_slope::vjp(device, 1.0, &0.0, 2, 1.0).unwrap().z_bar, BESSEL_SECOND);
        near(bessel::hessian(device, 2, 1.0).unwrap().matrix()[[0, 0]], BESSEL_SECOND);
    }
    near(bessel::hessian_pushed(2, 1.0).unwrap().get(0, 0).unwrap(), BESSEL_SECOND);
}

/// `out += Σ_k Σ_{n < 25} x_k^n / n!`, which is `Σ_k e^{x_k}` for small numbers.
#[reversible(tangent, adjoint)]
fn exponentials<T: Real>(out: &mut T, x: &[T]) {
    for k in 0..x.len() {
        let mut term: Array1<T> = zeros(25);
        term[0] += 1.0;
        *out += term[0];
        for n in 1..25 {
            term[n] += term[n - 1] * x[k] / (n as T);
            *out += term[n];
        }
    }
}

#[reversible]
fn exponentials_slope<T: Real>(slope: &mut [T], x: &[T]) {
    exponentials::gradient(x, &mut *slope);
}

#[test]
fn exponentials_by_their_series() {
    let x = [-1.0, 0.0, 0.5, 1.0];
    let expected = Array2::from_diag(&ndarray::arr1(&x.map(f64::exp)));
    three_ways!(exponentials, exponentials_slope, expected, &x);
}

#[reversible(tangent, adjoint)]
fn rosenbrock<T: Real>(y: &mut T, x: &[T]) {
    for i in 1..x.len() {
        *y += 100.0 * (x[i] - x[i - 1] * x[i - 1]).powi(2) + (1.0 - x[i - 1]).powi(2);
    }
}

#[reversible]
fn rosenbrock_slope<T: Real>(slope: &mut [T], x: &[T]) {
    rosenbrock::gradient(x, &mut *slope);
}

/// The entries of Rosenbrock's Hessian that aren't zero.
fn rosenbrock_entries(x: &[f64]) -> Vec<(usize, usize, f64)> {
    let n = x.len();
    let mut entries = Vec::new();
    for i in 0..n {
        let left = if i > 0 { 200.0 } else { 0.0 };
        let right = if i + 1 < n { 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0 } else { 0.0 };
        entries.push((i, i, left + right));
        if i > 0 {
            entries.extend([(i, i - 1, -400.0 * x[i - 1]), (i - 1, i, -400.0 * x[i - 1])]);
        }
    }
    entries
}

fn points(n: usize) -> Vec<f64> {
    (0..n).map(|k| (0.7 * k as f64 + 0.3).sin() + 0.1).collect()
}

#[test]
fn rosenbrocks_function() {
    for n in [2, 3, 10, 100] {
        let x = points(n);
        let mut expected = Array2::zeros((n, n));
        rosenbrock_entries(&x).into_iter().for_each(|(i, j, v)| expected[[i, j]] = v);
        three_ways!(rosenbrock, rosenbrock_slope, expected, &x);
    }
    // of a thousand variables, products with one direction and the nonzeros
    let (x, v) = (points(1000), points(1000).iter().map(|v| v * v - 0.5).collect::<Vec<_>>());
    let entries = rosenbrock_entries(&x);
    let mut product = vec![0.0; 1000];
    entries.iter().for_each(|(i, j, h)| product[*i] += h * v[*j]);
    let cpu = Cpu::new();
    let forward = rosenbrock::hvp(&cpu, &v, &x).unwrap().x;
    let reverse = rosenbrock_slope::vjp(&cpu, &v, &vec![0.0; 1000], &x).unwrap().x_bar;
    let pushed = rosenbrock::hessian_pushed(&x).unwrap();
    assert_eq!(pushed.nonzeros(), entries.len());
    for k in 0..1000 {
        assert_abs_diff_eq!(forward[k], product[k], epsilon = NEAR * 2000.0);
        assert_abs_diff_eq!(reverse[k], product[k], epsilon = NEAR * 2000.0);
    }
    for (i, j, h) in entries {
        assert_abs_diff_eq!(pushed.get(i, j).unwrap(), h, epsilon = NEAR * 2000.0);
        assert_eq!(pushed.get(i, j), pushed.get(j, i));
    }
}

#[reversible(tangent, adjoint)]
fn product<T: Real>(y: &mut T, x: &[T]) {
    let mut so_far: Array1<T> = zeros(x.len() + 1);
    so_far[0] += 1.0;
    for k in 0..x.len() {
        so_far[k + 1] += so_far[k] * x[k];
    }
    *y += so_far[x.len()];
}

#[reversible]
fn product_slope<T: Real>(slope: &mut [T], x: &[T]) {
    product::gradient(x, &mut *slope);
}

#[test]
fn a_product_of_all_variables() {
    let mut x = [0.5, -1.5, 2.0, 0.75, -3.0, 1.25, 0.9];
    for at_zero in [false, true] {
        if at_zero {
            (x[1], x[4]) = (0.0, 0.0); // one entry and its mirror image are left
        }
        let entry = |(i, j): (usize, usize)| {
            let others = (0..7).filter(|k| *k != i && *k != j).map(|k| x[k]);
            if i == j {
                0.0
            } else {
                others.product()
            }
        };
        three_ways!(product, product_slope, Array2::from_shape_fn((7, 7), entry), &x);
    }
}

/// `y += ½ xᵀ A x`, of the entries of A.
#[reversible(tangent, adjoint, constant(a))]
fn quadratic<T: Real>(y: &mut T, x: &[T], row: &[usize], column: &[usize], a: &[T]) {
    for e in par(0..a.len()) {
        *y += 0.5 * a[e] * x[row[e]] * x[column[e]];
    }
}

#[reversible(constant(a))]
fn quadratic_slope<T: Real>(slope: &mut [T], x: &[T], row: &[usize], column: &[usize], a: &[T]) {
    quadratic::gradient(x, &mut *slope, row, column, a);
}

#[test]
fn a_quadratic_form_has_its_matrix() {
    use rand::{RngExt, SeedableRng};
    for (n, seed) in [(3, 1), (20, 2), (60, 3)] {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut a = Array2::<f64>::zeros((n, n));
        for _ in 0..2 * n {
            let (i, j) = (rng.random_range(0..n), rng.random_range(0..n));
            let v = rng.random_range(-1.0..1.0);
            (a[[i, j]], a[[j, i]]) = (v, v);
        }
        let (mut row, mut column, mut value) = (Vec::new(), Vec::new(), Vec::new());
        for ((i, j), v) in a.indexed_iter().filter(|(_, v)| **v != 0.0) {
            row.push(i);
            column.push(j);
            value.push(*v);
        }
        let x = points(n);
        assert_eq!(quadratic::hessian_pushed(&x, &row, &column, &value).unwrap().nonzeros(), value.len());
        three_ways!(quadratic, quadratic_slope, a, &x, &row, &column, &value);
    }
}

#[test]
fn the_embedding_of_a_graph() {
    let (graph, cpu) = (Graph::petersen(), Cpu::new().checks(false));
    for dimensions in 2..=10 {
        let x = Graph::start(dimensions);
        let tangents = graph.hessian(&cpu, x.view()).unwrap();
        let reverse = graph.reverse_over_reverse(&cpu, x.view()).unwrap();
        let pushed = graph.pushed(x.view()).unwrap();
        same(&format!("tangents of the adjoint, k = {dimensions}"), tangents.view(), pushed.view());
        same(&format!("adjoint over adjoint, k = {dimensions}"), reverse.view(), pushed.view());
    }
    let x = Graph::start(3);
    let (hessian, products) =
        (graph.hessian(&cpu, x.view()).unwrap(), graph.products(&cpu, x.view()).unwrap());
    let forward = graph.forward_over_reverse(&cpu, x.view()).unwrap();
    same("forward over reverse", forward.view(), hessian.view());
    // not made symmetric
    same("products", products.view(), hessian.view());
}

#[test]
fn the_laplacian_of_a_grid() {
    let mut of_four = None;
    for side in [1, 2, 3, 4, 19] {
        let u = heights(side);
        let pattern = grid::pattern(&u, side).unwrap();
        assert_eq!(pattern.nonzeros(), if side > 1 { 5 * side * side - 4 * side } else { 0 });
        let plan = grid::plan(pattern).unwrap();
        let (few, all) = (Cpu::with_threads(1).checks(false), Cpu::with_threads(3).parallel_from(0));
        for device in [&few as &dyn Device, &all, &Interpreter::new()] {
            let found = springs::hessian_sparse(device, &plan, &u, side).unwrap();
            assert!(is_laplacian(&found, side), "{side} on {}", device.name());
            assert_eq!(found, springs::hessian_pushed(&u, side).unwrap());
            of_four = Some(found).filter(|_| side == 4).or(of_four);
        }
        // the number of products doesn't grow with the grid
        assert!(plan.groups() <= 8, "{} groups", plan.groups());
    }
    // what is looked for can be missed
    assert!(!is_laplacian(&of_four.unwrap(), 2));
}
