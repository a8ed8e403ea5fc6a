//! Parts of arrays that meet in other ways: read by several iterations, claimed in loops within loops, empty,
//! of elements and of index arrays, passed on by functions that run in parallel themselves.

use super::{devices, names, near, Tested};
use ndarray::{s, Array2, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, ArrayViewMut3};
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

/// Adds products with sines, its own iterations in parallel.
#[reversible]
fn add<T: Real>(mut y: ArrayViewMut1<T>, x: ArrayView1<T>) {
    for k in par(0..x.len()) {
        y[k] += sin(x[k]);
    }
}

fn add_plain(mut y: ArrayViewMut1<f64>, x: ArrayView1<f64>) {
    y.zip_mut_with(&x, |y, x| *y += x.sin());
}

/// Adds up all of a block.
#[reversible]
fn total<T: Real>(y: &mut T, x: ArrayView2<T>) {
    for i in 0..x.nrows() {
        for j in 0..x.ncols() {
            y += x[[i, j]] * x[[i, j]];
        }
    }
}

fn matrix(n: usize, m: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| ((i * 7 + j * 5 + i * j + seed * 3) % 11) as f64 / 8.0 - 0.625)
}

/// What iterations read overlaps: the shadows of rows, columns and blocks are sums of theirs. What each
/// iteration has of its own row is apart.
#[reversible]
fn windows<T: Real>(mut y: ArrayViewMut2<T>, x: ArrayView2<T>, idx: &[usize]) {
    for i in par(0..y.nrows()) {
        add(&mut y.row_mut(i), &x.row(idx[i]));
        add(&mut y.row_mut(i)[1..3], &x.column(idx[i] % 3)[i..i + 2]);
        total(&mut y[[i, 0]], &x.slice(s![i..i + 2, 1..]));
        add(&mut y.slice_mut(s![i, ..2]), &y.slice(s![i, 2..4]));
        for j in 0..2 {
            add(&mut y.row_mut(i), &x.row((i + j) / 2));
        }
    }
}

fn windows_plain(mut y: ArrayViewMut2<f64>, x: ArrayView2<f64>, idx: &[usize]) {
    for i in 0..y.nrows() {
        add_plain(y.row_mut(i), x.row(idx[i]));
        add_plain(y.slice_mut(s![i, 1..3]), x.slice(s![i..i + 2, idx[i] % 3]));
        y[[i, 0]] += x.slice(s![i..i + 2, 1..]).iter().map(|x| x * x).sum::<f64>();
        let own = y.slice(s![i, 2..4]).to_owned();
        add_plain(y.slice_mut(s![i, ..2]), own.view());
        for j in 0..2 {
            add_plain(y.row_mut(i), x.row((i + j) / 2));
        }
    }
}

#[test]
fn parts_that_several_iterations_read() {
    for n in [1, 3, 37] {
        let (y, x, seeds) = (matrix(n, 5, 1), matrix(n + 1, 5, 2), matrix(n, 5, 3));
        let idx: Vec<usize> = (0..n).map(|i| i * i % (n + 1) / 2).collect();
        let mut expected = y.clone();
        windows_plain(expected.view_mut(), x.view(), &idx);
        let reference = windows::vjp(&Interpreter::new(), seeds.view(), y.view(), x.view(), &idx).unwrap();
        for Tested { device, name, .. } in devices() {
            let mut out = y.clone();
            windows::run(&*device, out.view_mut(), x.view(), &idx).unwrap();
            assert!(near(&out, &expected), "{name}");
            windows::run_inverse(&*device, out.view_mut(), x.view(), &idx).unwrap();
            assert!(near(&out, &y), "{name}");
            let v = windows::vjp(&*device, seeds.view(), y.view(), x.view(), &idx).unwrap();
            assert!(near(&v.x_bar, &reference.x_bar) && near(&v.y_bar, &reference.y_bar), "{name}");
        }
        assert!(windows::check_gradient(&Interpreter::new(), y.view(), x.view(), &idx).unwrap().passed());
    }
}

/// An index that isn't there is an error which names the part, in a group of lanes too.
#[test]
fn rows_that_are_not_there() {
    let (n, y, x) = (37, matrix(37, 5, 1), matrix(38, 5, 2));
    let mut idx: Vec<usize> = (0..n).collect();
    idx[29] = 38;
    for Tested { device, name, bounds, .. } in devices() {
        if !bounds {
            continue;
        }
        let run = windows::run(&*device, y.clone().view_mut(), x.view(), &idx);
        let error = run.unwrap_err().to_string();
        assert!(names(&error, "x.row(idx[i])", "x[idx[i], ..]") && error.contains("38"), "{name}: {error}");
        let error = windows::vjp(&*device, y.view(), y.view(), x.view(), &idx).unwrap_err().to_string();
        assert!(names(&error, "x.row(idx[i])", "x[idx[i], ..]") && error.contains("38"), "{name}: {error}");
    }
}

#[test]
fn parts_without_elements() {
    for (n, m) in [(0, 5), (3, 0), (0, 0)] {
        let (y, x) = (matrix(n, m, 1), matrix(n, m, 2));
        for Tested { device, name, .. } in devices() {
            let mut out = y.clone();
            empty::run(&*device, out.view_mut(), x.view(), n, 1.0).unwrap();
            empty::run_inverse(&*device, out.view_mut(), x.view(), n, 1.0).unwrap();
            let v = empty::vjp(&*device, y.view(), y.view(), x.view(), n, 1.0).unwrap();
            assert_eq!((v.y.dim(), v.x_bar.dim()), ((n, m), (n, m)), "{name}");
        }
    }
    // empty parts of one array share nothing; those of an array with elements end where it does
    let y = matrix(3, 4, 1);
    for Tested { device, name, bounds, .. } in devices() {
        let mut out = y.clone();
        nothing::run(&*device, out.view_mut(), 3, 2).unwrap();
        assert!(near(&out, &y), "{name}");
        for (i, j) in [(4, 2), (3, 3)] {
            let run = nothing::run(&*device, out.view_mut(), i, j);
            assert!(!bounds || run.is_err(), "{name}: {i} {j}");
        }
    }
}

/// Rows and columns of arrays without elements. (The number says what they would be.)
#[reversible]
fn empty<T: Real>(mut y: ArrayViewMut2<T>, x: ArrayView2<T>, n: usize, s: T) {
    for i in par(0..n) {
        add(&mut y.row_mut(i), &x.row(n - 1 - i));
    }
    for j in par(0..y.ncols()) {
        add(&mut y.column_mut(j), &x.column(j));
        for i in 0..n {
            y[[i, j]] += s;
        }
    }
}

/// Parts of which none has elements.
#[reversible]
fn nothing<T: Real>(mut y: ArrayViewMut2<T>, i: usize, j: usize) {
    add(&mut y.slice_mut(s![i.., 0]), &y.slice(s![j, 4..]));
    add(&mut y.slice_mut(s![1, j..j]), &y.slice(s![j..j, 1]));
}

/// Claims in loops within the loop that declares them.
#[reversible]
fn claimed<T: Real>(mut y: ArrayViewMut2<T>, mut z: ArrayViewMut2<T>, x: ArrayView2<T>, idx: &[usize]) {
    #[disjoint(y, z)]
    for i in par(0..idx.len()) {
        for j in par(0..x.ncols()) {
            y[[idx[i], j]] += x[[i, j]] * x[[i, j]];
        }
        for j in par(0..z.ncols()) {
            add(&mut z.slice_mut(s![2 * idx[i]..2 * idx[i] + 2, j]), &x.row(i)[j..j + 2]);
        }
    }
}

#[test]
fn rows_claimed_in_inner_loops() {
    let (n, m) = (40, 33);
    let (y, z, x, seeds) = (matrix(n, m, 1), matrix(2 * n, m - 1, 2), matrix(n, m, 3), matrix(n, m, 4));
    let apart: Vec<usize> = (0..n).map(|i| (i * 7 + 3) % n).collect();
    let (mut y_after, mut z_after) = (y.clone(), z.clone());
    for (i, &to) in apart.iter().enumerate() {
        y_after.row_mut(to).zip_mut_with(&x.row(i), |y, x| *y += x * x);
        for j in 0..m - 1 {
            add_plain(z_after.slice_mut(s![2 * to..2 * to + 2, j]), x.slice(s![i, j..j + 2]));
        }
    }
    for Tested { device, name, .. } in devices() {
        let (mut p, mut q) = (y.clone(), z.clone());
        claimed::run(&*device, p.view_mut(), q.view_mut(), x.view(), &apart).unwrap();
        assert!(near(&p, &y_after) && near(&q, &z_after), "{name}");
        claimed::run_inverse(&*device, p.view_mut(), q.view_mut(), x.view(), &apart).unwrap();
        assert!(near(&p, &y) && near(&q, &z), "{name}");
        let zero = Array2::zeros((2 * n, m - 1));
        let v =
            claimed::vjp(&*device, seeds.view(), zero.view(), y.view(), z.view(), x.view(), &apart).unwrap();
        let bar = Array2::from_shape_fn((n, m), |(i, j)| 2.0 * x[[i, j]] * seeds[[apart[i], j]]);
        assert!(near(&v.x_bar, &bar), "{name}");
    }
    // what several threads may touch at once is looked at whether or not there are checks
    let mut twice = apart.clone();
    twice[n - 1] = twice[0];
    for Tested { device, name, checks, .. } in devices() {
        if checks || name.contains("2 threads") || name.contains("3 threads") {
            let run = claimed::run(&*device, y.clone().view_mut(), z.clone().view_mut(), x.view(), &twice);
            let error = run.unwrap_err().to_string();
            assert!(error.contains("another iteration"), "{name}: {error}");
        }
    }
}

/// Parts of elements that are arrays; parts of arrays of indices.
#[reversible]
fn inside<T: Real>(y: &mut [[T; 4]], x: ArrayView2<T>, idx: ArrayView2<usize>) {
    for i in par(0..y.len()) {
        add(&mut y[i][..2], &y[i][2..]);
        add(&mut y[i][1..3], &x.row(i)[..2]);
        gather(&mut y[i], &x.row(i), &idx.row(i));
    }
}

/// `y[k] += x[idx[k]]²`
#[reversible]
fn gather<T: Real>(y: &mut [T; 4], x: ArrayView1<T>, idx: ArrayView1<usize>) {
    for k in 0..idx.len() {
        y[k] += x[idx[k]] * x[idx[k]];
    }
}

#[test]
fn parts_of_elements_and_of_arrays_of_indices() {
    let n = 19;
    let x = matrix(n, 4, 1);
    let y: Vec<[f64; 4]> = matrix(n, 4, 2).outer_iter().map(|r| [r[0], r[1], r[2], r[3]]).collect();
    let idx = Array2::from_shape_fn((n, 3), |(i, j)| (i * 3 + j * j) % 4);
    let mut after = y.clone();
    for (i, y) in after.iter_mut().enumerate() {
        for k in 0..2 {
            y[k] += y[k + 2].sin();
        }
        for k in 0..2 {
            y[k + 1] += x[[i, k]].sin();
        }
        for k in 0..3 {
            y[k] += x[[i, idx[[i, k]]]].powi(2);
        }
    }
    let flat = |y: &[[f64; 4]]| y.iter().flatten().copied().collect::<Vec<f64>>();
    let reference = inside::vjp(&Interpreter::new(), &y, &y, x.view(), idx.view()).unwrap();
    for Tested { device, name, .. } in devices() {
        if name.contains("emulator") || name.contains("cuda") {
            // a GPU keeps the numbers of an element apart
            let error = inside::run(&*device, &mut y.clone(), x.view(), idx.view()).unwrap_err().to_string();
            assert!(error.contains("can't be run on a GPU"), "{name}: {error}");
            continue;
        }
        let mut out = y.clone();
        inside::run(&*device, &mut out, x.view(), idx.view()).unwrap();
        assert!(near(&flat(&out), &flat(&after)), "{name}");
        inside::run_inverse(&*device, &mut out, x.view(), idx.view()).unwrap();
        assert!(near(&flat(&out), &flat(&y)), "{name}");
        let v = inside::vjp(&*device, &y, &y, x.view(), idx.view()).unwrap();
        assert!(near(&v.x_bar, &reference.x_bar), "{name}");
        assert!(near(&flat(&v.y_bar), &flat(&reference.y_bar)), "{name}");
    }
    assert!(inside::check_gradient(&Interpreter::new(), &y, x.view(), idx.view()).unwrap().passed());
}

/// A block of a block of three axes, whose halves the function gives to itself.
#[reversible]
fn doubled<T: Real>(mut y: ArrayViewMut2<T>, x: ArrayView2<T>) {
    if y.nrows() > 1 {
        let half = y.nrows() / 2;
        doubled(&mut y.slice_mut(s![..half, ..]), &x.slice(s![half.., ..]));
        doubled(&mut y.slice_mut(s![half.., ..]), &x.slice(s![..half, ..]));
        add(&mut y.row_mut(0), &y.row(half));
    } else {
        add(&mut y.row_mut(0), &x.row(0));
    }
}

/// Planes and lines of arrays with three axes.
#[reversible]
fn planes<T: Real>(mut y: ArrayViewMut3<T>, x: ArrayView3<T>) {
    for i in par(0..y.dim(0)) {
        doubled(&mut y.index_axis_mut(Axis(0), i), &x.index_axis(Axis(1), i));
    }
    for j in par(0..y.dim(2)) {
        add(&mut y.index_axis_mut(Axis(2), j).row_mut(1), &x.slice(s![j, .., 0]));
        add(&mut y.slice_mut(s![.., 0, j]), &y.slice(s![.., 1, j]));
    }
}

#[test]
fn blocks_that_are_halved_and_planes() {
    let (y, x) = (cube((4, 4, 3), 1), cube((4, 4, 3), 2));
    let reference = planes::vjp(&Interpreter::new(), y.view(), y.view(), x.view()).unwrap();
    for Tested { device, name, .. } in devices() {
        if name.contains("emulator") || name.contains("cuda") {
            continue; // how deep the recursion goes, only the sizes say
        }
        let mut out = y.clone();
        planes::run(&*device, out.view_mut(), x.view()).unwrap();
        assert!(near(&out, &reference.y), "{name}");
        planes::run_inverse(&*device, out.view_mut(), x.view()).unwrap();
        assert!(near(&out, &y), "{name}");
        let v = planes::vjp(&*device, y.view(), y.view(), x.view()).unwrap();
        assert!(near(&v.x_bar, &reference.x_bar) && near(&v.y_bar, &reference.y_bar), "{name}");
    }
    assert!(planes::check_gradient(&Interpreter::new(), y.view(), x.view()).unwrap().passed());
    let mut out = y.clone();
    for i in 0..4 {
        doubled_plain(out.index_axis_mut(ndarray::Axis(0), i), x.index_axis(ndarray::Axis(1), i));
    }
    for j in 0..3 {
        add_plain(out.slice_mut(s![1, .., j]), x.slice(s![j, .., 0]));
        let line = out.slice(s![.., 1, j]).to_owned();
        add_plain(out.slice_mut(s![.., 0, j]), line.view());
    }
    assert!(near(&out, &reference.y));
}

fn doubled_plain(mut y: ArrayViewMut2<f64>, x: ArrayView2<f64>) {
    if y.nrows() > 1 {
        let half = y.nrows() / 2;
        doubled_plain(y.slice_mut(s![..half, ..]), x.slice(s![half.., ..]));
        doubled_plain(y.slice_mut(s![half.., ..]), x.slice(s![..half, ..]));
        let row = y.row(half).to_owned();
        add_plain(y.row_mut(0), row.view());
    } else {
        add_plain(y.row_mut(0), x.row(0));
    }
}

fn cube(dim: (usize, usize, usize), seed: usize) -> ndarray::Array3<f64> {
    ndarray::Array3::from_shape_fn(dim, |(i, j, k)| ((i * 5 + j * 3 + k * 7 + seed) % 9) as f64 / 4.0 - 1.0)
}

/// Two parts of one array that are only read, and which the run may find to be the same.
#[reversible]
fn pairs<T: Real>(mut y: ArrayViewMut2<T>, x: ArrayView2<T>, idx: &[usize]) {
    for i in par(0..idx.len()) {
        mixed(&mut y.row_mut(i), &x.row(i), &x.row(idx[i]));
        mixed(&mut y.row_mut(i), &x.row(idx[i]), &x.column(i));
    }
    mixed(&mut y.column_mut(0)[..2], &x.row(0)[1..3], &x.row(0)[..2]);
}

/// `y[k] += a[k] sin(b[n - 1 - k])`
#[reversible]
fn mixed<T: Real>(mut y: ArrayViewMut1<T>, a: ArrayView1<T>, b: ArrayView1<T>) {
    for k in par(0..a.len()) {
        y[k] += a[k] * sin(b[b.len() - 1 - k]);
    }
}

fn mixed_plain(mut y: ArrayViewMut1<f64>, a: ArrayView1<f64>, b: ArrayView1<f64>) {
    for k in 0..a.len() {
        y[k] += a[k] * b[b.len() - 1 - k].sin();
    }
}

#[test]
fn two_parts_of_one_array_are_read() {
    let n = 20;
    let (y, x, seeds) = (matrix(n, n, 1), matrix(n, n, 2), matrix(n, n, 3));
    let idx: Vec<usize> = (0..n).map(|i| if i % 3 == 0 { i } else { i * i % n }).collect();
    let mut expected = y.clone();
    for (i, &j) in idx.iter().enumerate() {
        mixed_plain(expected.row_mut(i), x.row(i), x.row(j));
        mixed_plain(expected.row_mut(i), x.row(j), x.column(i));
    }
    mixed_plain(expected.slice_mut(s![..2, 0]), x.slice(s![0, 1..3]), x.slice(s![0, ..2]));
    let reference = pairs::vjp(&Interpreter::new(), seeds.view(), y.view(), x.view(), &idx).unwrap();
    for Tested { device, name, .. } in devices() {
        let mut out = y.clone();
        pairs::run(&*device, out.view_mut(), x.view(), &idx).unwrap();
        assert!(near(&out, &expected), "{name}");
        pairs::run_inverse(&*device, out.view_mut(), x.view(), &idx).unwrap();
        assert!(near(&out, &y), "{name}");
        let v = pairs::vjp(&*device, seeds.view(), y.view(), x.view(), &idx).unwrap();
        assert!(near(&v.x_bar, &reference.x_bar), "{name}");
    }
    assert!(pairs::check_gradient(&Interpreter::new(), y.view(), x.view(), &idx).unwrap().passed());
}
