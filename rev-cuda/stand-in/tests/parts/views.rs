//! Rows, columns and blocks of arrays.

use super::{devices, names, near, Tested};
use approx::abs_diff_eq;
use ndarray::{
    s, Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2,
    ArrayViewMut3,
};
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

/// Adds squares, and products of neighbours.
#[reversible]
fn add<T: Real>(mut y: ArrayViewMut1<T>, x: ArrayView1<T>, s: T) {
    for k in 0..x.len() {
        y[k] += x[k] * x[k] * s;
    }
}

fn add_plain(mut y: ArrayViewMut1<f64>, x: ArrayView1<f64>, s: f64) {
    y.zip_mut_with(&x, |y, x| *y += x * x * s);
}

/// Rows and columns that are their iteration's own.
#[reversible]
fn rows<T: Real>(mut y: ArrayViewMut2<T>, x: ArrayView2<T>, s: T) {
    for i in par(0..x.nrows()) {
        add(&mut y.row_mut(i), &x.row(i), s);
        add(y.row_mut(i), x.row(0), s);
    }
    for j in par(0..x.ncols()) {
        add(&mut y.column_mut(j), &x.column(x.ncols() - 1 - j), s);
    }
}

fn rows_plain(mut y: ArrayViewMut2<f64>, x: ArrayView2<f64>, s: f64) {
    for i in 0..x.nrows() {
        add_plain(y.row_mut(i), x.row(i), s);
        add_plain(y.row_mut(i), x.row(0), s);
    }
    for j in 0..x.ncols() {
        add_plain(y.column_mut(j), x.column(x.ncols() - 1 - j), s);
    }
}

/// Parts of one array, some of which only the run tells apart.
#[reversible]
fn within<T: Real>(mut y: ArrayViewMut2<T>, i: usize, j: usize) {
    add(&mut y.row_mut(0), &y.row(1), T::one());
    add(&mut y.row_mut(i), &y.row(j), T::one());
    add(&mut y.slice_mut(s![i, ..2]), &y.slice(s![i, 2..4]), T::one());
    add(&mut y.column_mut(i), &y.column(j), T::one());
}

fn within_plain(mut y: ArrayViewMut2<f64>, i: usize, j: usize) {
    let x = y.to_owned();
    add_plain(y.row_mut(0), x.row(1), 1.0);
    let x = y.to_owned();
    add_plain(y.row_mut(i), x.row(j), 1.0);
    let x = y.to_owned();
    add_plain(y.slice_mut(s![i, ..2]), x.slice(s![i, 2..4]), 1.0);
    let x = y.to_owned();
    add_plain(y.column_mut(i), x.column(j), 1.0);
}

/// A block, which is cut further by the function that gets it.
#[reversible]
fn halves<T: Real>(mut y: ArrayViewMut2<T>, x: ArrayView2<T>) {
    for i in 0..y.nrows() {
        add(&mut y.row_mut(i), &x.row(i), T::one());
        y[[i, 0]] += x[[i, y.ncols() - 1]];
    }
}

/// Parts of arrays of three axes, of ancillas, of parts; an element and the length of a part.
#[reversible]
fn blocks<T: Real>(mut y: ArrayViewMut3<T>, x: ArrayView3<T>, k: usize) {
    let n = x.dim(1);
    let mut a: Array2<T> = zeros((n, x.dim(2)));
    halves(&mut a, &x.index_axis(Axis(0), k));
    halves(&mut a.slice_mut(s![1.., ..]), &x.slice(s![0, 1.., ..]));
    halves(&mut y.index_axis_mut(Axis(0), 1), &a);
    add(&mut y.index_axis_mut(Axis(1), k).column_mut(0), &x.slice(s![.., 0, k]), T::one());
    add(&mut y.slice_mut(s![0, k, ..])[1..3], &a.row(k)[..2], T::one());
    for i in 0..a.row(0).len() {
        y[[0, 0, i]] += a.row(k)[i];
    }
}

fn halves_plain(mut y: ArrayViewMut2<f64>, x: ArrayView2<f64>) {
    for i in 0..y.nrows() {
        add_plain(y.row_mut(i), x.row(i), 1.0);
        let last = y.ncols() - 1;
        y[[i, 0]] += x[[i, last]];
    }
}

fn blocks_plain(mut y: ArrayViewMut3<f64>, x: ArrayView3<f64>, k: usize) {
    let mut a = Array2::zeros((x.dim().1, x.dim().2));
    halves_plain(a.view_mut(), x.index_axis(ndarray::Axis(0), k));
    halves_plain(a.slice_mut(s![1.., ..]), x.slice(s![0, 1.., ..]));
    halves_plain(y.index_axis_mut(ndarray::Axis(0), 1), a.view());
    add_plain(y.slice_mut(s![.., k, 0]), x.slice(s![.., 0, k]), 1.0);
    add_plain(y.slice_mut(s![0, k, 1..3]), a.slice(s![k, ..2]), 1.0);
    for i in 0..a.ncols() {
        y[[0, 0, i]] += a[[k, i]];
    }
}

/// Products of rows and columns, in place.
#[reversible]
fn products<T: Real>(mut y: ArrayViewMut2<T>, mut c: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>) {
    for i in 0..a.nrows() {
        y.row_mut(i) += 2.0 * b.row(i) - matvec(a, b.column(i));
        for j in 0..a.ncols() {
            c[[i, j]] += dot(a.row(i), b.column(j));
        }
    }
    for i in par(0..a.nrows()) {
        c[[i, 0]] += dot(a.row(i), a.column(i)[..a.nrows()]);
    }
    c.slice_mut(s![1.., 1..]) +=
        outer(a.column(0)[1..], b.row(0)[1..]) + matmul(a.slice(s![1.., ..]), b.slice(s![.., 1..]));
}

fn products_plain(
    mut y: ArrayViewMut2<f64>,
    mut c: ArrayViewMut2<f64>,
    a: ArrayView2<f64>,
    b: ArrayView2<f64>,
) {
    for i in 0..a.nrows() {
        let row = 2.0 * &b.row(i) - a.dot(&b.column(i));
        let mut to = y.row_mut(i);
        to += &row;
    }
    c += &a.dot(&b);
    for i in 0..a.nrows() {
        c[[i, 0]] += a.row(i).dot(&a.column(i));
    }
    let product = a.slice(s![1.., ..]).dot(&b.slice(s![.., 1..]));
    for ((i, j), p) in product.indexed_iter() {
        c[[i + 1, j + 1]] += p + a[[i + 1, 0]] * b[[0, j + 1]];
    }
}

/// Elements of a permutation of the rows, which is checked, and rows that are claimed.
#[reversible]
fn permuted<T: Real>(mut y: ArrayViewMut2<T>, x: ArrayView2<T>, idx: &[usize]) {
    #[injective(idx)]
    for i in par(0..idx.len()) {
        add(&mut y.row_mut(idx[i]), &x.row(i), T::one());
    }
    #[disjoint(y)]
    for i in par(0..idx.len()) {
        add(&mut y.column_mut(idx[i]), &x.row(idx[i]), T::one());
    }
}

fn matrix(n: usize, m: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| ((i * 7 + j * 5 + i * j + seed * 3) % 11) as f64 / 8.0 - 0.625)
}

fn apart(a: &Array2<f64>) -> Array2<f64> {
    a.clone()
}

#[test]
fn rows_and_columns_of_parallel_iterations() {
    for (n, m) in [(0, 3), (3, 0), (1, 1), (4, 5), (40, 50)] {
        let (y, x, seeds) = (matrix(n, m, 1), matrix(n, m, 2), matrix(n, m, 3));
        let mut expected = y.clone();
        rows_plain(expected.view_mut(), x.view(), 0.75);
        for Tested { device, name, .. } in devices() {
            // as they lie, transposed, and every other row backwards
            for layout in 0..3 {
                let laid = |a: &Array2<f64>| match layout {
                    0 => a.clone(),
                    1 => a.t().as_standard_layout().reversed_axes().to_owned(),
                    _ => a.clone(),
                };
                let (mut wide, mut out) = (Array2::zeros((2 * n, m)), laid(&y));
                if layout == 2 {
                    let mut view = wide.slice_mut(s![..;-2, ..]);
                    view.assign(&y);
                    rows::run(&*device, view.view_mut(), x.view(), 0.75).unwrap();
                    assert!(near(&view.to_owned(), &expected), "{name}");
                    rows::run_inverse(&*device, view.view_mut(), x.view(), 0.75).unwrap();
                    assert!(near(&view.to_owned(), &y), "{name}");
                    continue;
                }
                rows::run(&*device, out.view_mut(), laid(&x).view(), 0.75).unwrap();
                assert!(near(&out, &expected), "{name}");
                rows::run_inverse(&*device, out.view_mut(), laid(&x).view(), 0.75).unwrap();
                assert!(near(&out, &y), "{name}");
            }
            let v = rows::vjp(&*device, seeds.view(), y.view(), x.view(), 0.75).unwrap();
            assert!(near(&v.y, &expected) && near(&v.y_bar, &seeds), "{name}");
            let mut bar = Array2::zeros((n, m));
            let mut s_bar = 0.0;
            for ((i, j), seed) in seeds.indexed_iter() {
                for (p, q) in [(i, j), (0, j), (i, m - 1 - j)] {
                    bar[[p, q]] += 2.0 * x[[p, q]] * 0.75 * seed;
                    s_bar += x[[p, q]] * x[[p, q]] * seed;
                }
            }
            assert!(near(&v.x_bar, &bar), "{name}");
            assert!(abs_diff_eq!(v.s_bar, s_bar, epsilon = 1e-9), "{name}");
        }
    }
}

#[test]
fn parts_of_one_array() {
    let y = matrix(4, 4, 5);
    let mut expected = apart(&y);
    within_plain(expected.view_mut(), 2, 3);
    for Tested { device, name, checks, bounds } in devices() {
        let mut out = apart(&y);
        within::run(&*device, out.view_mut(), 2, 3).unwrap();
        assert!(near(&out, &expected), "{name}");
        within::run_inverse(&*device, out.view_mut(), 2, 3).unwrap();
        assert!(near(&out, &y), "{name}");
        if bounds {
            for (i, j) in [(2, 4), (9, 1)] {
                let error = within::run(&*device, apart(&y).view_mut(), i, j).unwrap_err().to_string();
                let named =
                    names(&error, "y.row(j)", "y[j, ..]") || names(&error, "y.row_mut(i)", "y[i, ..]");
                assert!(named, "{name}: {error}");
            }
        }
        if checks {
            let error = within::run(&*device, apart(&y).view_mut(), 3, 3).unwrap_err().to_string();
            assert!(names(&error, "y.row(j)", "y[j, ..]"), "{name}: {error}");
        }
    }
    for device in [&Cpu::new() as &dyn Device, &Cpu::with_threads(2).checks(false), &Interpreter::new()] {
        assert!(within::check_gradient(device, y.view(), 2, 3).unwrap().passed());
    }
}

#[test]
fn blocks_and_parts_of_parts() {
    let cube = |seed| {
        Array3::from_shape_fn((2, 3, 4), |(i, j, k)| ((i * 5 + j * 3 + k * 7 + seed) % 9) as f64 / 4.0 - 1.0)
    };
    let (y, x) = (cube(1), cube(2));
    let mut expected = y.clone();
    blocks_plain(expected.view_mut(), x.view(), 1);
    for Tested { device, name, .. } in devices() {
        let mut out = y.clone();
        blocks::run(&*device, out.view_mut(), x.view(), 1).unwrap();
        assert!(near(&out, &expected), "{name}");
        blocks::run_inverse(&*device, out.view_mut(), x.view(), 1).unwrap();
        assert!(near(&out, &y), "{name}");
        let v = blocks::vjp(&*device, y.view(), y.view(), x.view(), 1).unwrap();
        let reference = blocks::vjp(&Interpreter::new(), y.view(), y.view(), x.view(), 1).unwrap();
        assert!(near(&v.x_bar, &reference.x_bar), "{name}");
    }
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        assert!(blocks::check_gradient(device, y.view(), x.view(), 1).unwrap().passed());
    }
}

#[test]
fn products_of_rows_and_columns() {
    let (n, y) = (5, matrix(5, 5, 1));
    let (c, a, b) = (matrix(n, n, 2), matrix(n, n, 3), matrix(n, n, 4));
    let (mut y_after, mut c_after) = (y.clone(), c.clone());
    products_plain(y_after.view_mut(), c_after.view_mut(), a.view(), b.view());
    for Tested { device, name, .. } in devices() {
        let (mut p, mut q) = (y.clone(), c.clone());
        products::run(&*device, p.view_mut(), q.view_mut(), a.view(), b.view()).unwrap();
        assert!(near(&p, &y_after) && near(&q, &c_after), "{name}");
        products::run_inverse(&*device, p.view_mut(), q.view_mut(), a.view(), b.view()).unwrap();
        assert!(near(&p, &y) && near(&q, &c), "{name}");
        let v = products::vjp(&*device, c.view(), y.view(), y.view(), c.view(), a.view(), b.view()).unwrap();
        let r =
            products::vjp(&Interpreter::new(), c.view(), y.view(), y.view(), c.view(), a.view(), b.view())
                .unwrap();
        assert!(near(&v.a_bar, &r.a_bar) && near(&v.b_bar, &r.b_bar), "{name}");
    }
    for device in [&Cpu::new() as &dyn Device, &Cpu::with_threads(2).checks(false), &Interpreter::new()] {
        assert!(products::check_gradient(device, y.view(), c.view(), a.view(), b.view()).unwrap().passed());
    }
}

#[test]
fn rows_through_an_index_array() {
    let n = 20;
    let (y, x, seeds) = (matrix(n, n, 1), matrix(n, n, 2), matrix(n, n, 3));
    let permutation: Vec<usize> = (0..n).map(|i| (i * 7 + 3) % n).collect();
    let twice = vec![4; n];
    let mut expected = y.clone();
    for (i, row) in permutation.iter().enumerate() {
        add_plain(expected.row_mut(*row), x.row(i), 1.0);
        add_plain(expected.column_mut(i), x.row(i), 1.0);
    }
    for Tested { device, name, checks, .. } in devices() {
        let mut out = y.clone();
        permuted::run(&*device, out.view_mut(), x.view(), &permutation).unwrap();
        assert!(near(&out, &expected), "{name}");
        permuted::run_inverse(&*device, out.view_mut(), x.view(), &permutation).unwrap();
        assert!(near(&out, &y), "{name}");
        let v = permuted::vjp(&*device, seeds.view(), y.view(), x.view(), &permutation).unwrap();
        let bar = |(i, j): (usize, usize)| 2.0 * x[[i, j]] * (seeds[[permutation[i], j]] + seeds[[j, i]]);
        assert!(near(&v.x_bar, &Array2::from_shape_fn((n, n), bar)), "{name}");
        if checks {
            let error = permuted::run(&*device, out.view_mut(), x.view(), &twice).unwrap_err().to_string();
            assert!(error.contains("injective"), "{name}: {error}");
        }
    }
}

/// Rows of one array whose columns another iteration has are not apart.
#[reversible]
fn crossing<T: Real>(mut y: ArrayViewMut2<T>, x: ArrayView1<T>, idx: &[usize]) {
    #[disjoint(y)]
    for i in par(0..idx.len()) {
        add(&mut y.row_mut(i), &x, T::one());
        if idx[i] < y.ncols() {
            add(&mut y.column_mut(idx[i]), &x, T::one());
        }
    }
}

#[test]
fn a_row_and_a_column_that_cross_are_claimed_twice() {
    let (y, x) = (matrix(3, 3, 1), Array1::from(vec![1.0, 2.0, 3.0]));
    for Tested { device, name, checks, .. } in devices() {
        crossing::run(&*device, y.clone().view_mut(), x.view(), &[7, 7, 7]).unwrap();
        if checks {
            let error =
                crossing::run(&*device, y.clone().view_mut(), x.view(), &[7, 0, 7]).unwrap_err().to_string();
            assert!(error.contains("another iteration"), "{name}: {error}");
        }
    }
}
