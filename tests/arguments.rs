//! Every form of argument: values, inverses and gradients, on every device.

#[path = "../rev-cpu/tests/common/mod.rs"]
mod common;

use approx::{abs_diff_eq, assert_abs_diff_eq, assert_relative_eq};
use common::{devices, verify, verify_exact};
use ndarray::{array, s, Array, ArrayView, Ix1, Ix2};
use rev::prelude::*;
use rev::scalar::{Fixed43, Integer, Ring};

// scalars: by value, by reference, written

#[reversible]
fn scalars<T: Real>(y: &mut T, a: T, b: &T, n: usize, up: bool) {
    if up {
        *y += a * b * T::from_usize(n);
    } else {
        *y -= a / b;
    }
}

#[test]
fn scalars_by_value_and_by_reference() {
    let mut y = 1.0;
    scalars(&mut y, 2.0, &3.0, 4, true).unwrap();
    assert_eq!(y, 25.0);
    scalars::inverse(&mut y, 2.0, &3.0, 4, true).unwrap();
    assert_eq!(y, 1.0);
    verify!(scalars, &1.0, 2.0, &3.0, 4, true);
    verify!(scalars, &1.0, 2.0, &3.0, 4, false);
    let g = scalars::gradient(&Cpu::new(), 2.0, &3.0, 4, true).unwrap();
    assert_eq!((g.value, g.a, g.b, g.n, g.up), (24.0, 12.0, 8.0, (), ()));
}

#[reversible]
fn in_single_precision(y: &mut f32, x: &[f32]) {
    for i in 0..x.len() {
        *y += x[i] * x[i].sin() + 0.5;
    }
}

#[test]
fn single_precision() {
    let x = [0.5f32, 1.5];
    let g = in_single_precision::gradient(&Cpu::new(), &x).unwrap();
    for (g, x) in g.x.iter().zip(x) {
        assert_abs_diff_eq!(*g, x.sin() + x * x.cos(), epsilon = 1e-6);
    }
    for device in devices() {
        let back = in_single_precision::check_inverse(&*device, &0.0, &x).unwrap();
        assert!(back.passed(), "{back}");
        let h = in_single_precision::gradient(&*device, &x).unwrap();
        assert_eq!(h, g);
        let report = in_single_precision::check_gradient(&*device, &0.0, &x).unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[reversible]
fn integers<I: Integer>(a: &mut I, b: &mut I, c: I) {
    *a += *b * c + I::from_usize(3);
    *b ^= *a;
    *a -= (*b & c) | (c >> 1);
    *b += *a / c - *a % c;
    swap(*a, *b);
    neg(*a);
    inc(*b);
}

#[test]
fn every_integer_type() {
    macro_rules! each {
        ($($t:ty)*) => {$(
            let (mut a, mut b): ($t, $t) = (<$t>::MAX - 5, 7);
            integers(&mut a, &mut b, 3).unwrap();
            let mut copy: ($t, $t) = (<$t>::MAX - 5, 7);
            integers::run(&Interpreter::new(), &mut copy.0, &mut copy.1, 3).unwrap();
            assert_eq!(copy, (a, b));
            integers::inverse(&mut a, &mut b, 3).unwrap();
            assert_eq!((a, b), (<$t>::MAX - 5, 7));
            verify_exact!(integers, &a, &b, 3);
        )*};
    }
    each!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
}

#[reversible]
fn booleans(a: &mut bool, b: &mut bool, c: bool) {
    *a ^= *b && c || !c;
    *b ^= *a != c;
    flip(*a);
}

#[test]
fn truth_values() {
    for bits in 0..8 {
        let [mut a, mut b, c] = [1, 2, 4].map(|bit| bits & bit != 0);
        booleans(&mut a, &mut b, c).unwrap();
        booleans::inverse(&mut a, &mut b, c).unwrap();
        assert_eq!([a, b], [1, 2].map(|bit| bits & bit != 0));
        verify_exact!(booleans, &a, &b, c);
    }
}

#[reversible]
fn fixed_point(x: &mut Fixed43, v: &mut Fixed43, steps: usize) {
    let h = Fixed43::from_num(0.01);
    for _ in 0..steps {
        *v -= *x * h;
        *x += *v * h;
    }
}

#[test]
fn fixed_point_is_exact() {
    let start = (Fixed43::from_num(1.0), Fixed43::from_num(0.0));
    let (mut x, mut v) = start;
    fixed_point(&mut x, &mut v, 1000).unwrap();
    assert_ne!((x, v), start);
    fixed_point::inverse(&mut x, &mut v, 1000).unwrap();
    assert_eq!((x, v), start);
    verify_exact!(fixed_point, &x, &v, 50);
}

#[reversible]
fn complex_numbers<T: Real>(y: &mut T, w: &mut Complex<T>, z: &Complex<T>, a: T) {
    *w += *z * *z / Complex::new(a, T::one()) + z.conj();
    w.re += a;
    w.im -= z.re * a;
    *y += z.abs2() * w.re - w.im;
}

#[reversible]
fn complex_of_one_type(w: &mut [Complex<f32>], z: Complex<f32>) {
    for i in 0..w.len() {
        w[i] += z * z;
    }
}

#[test]
fn complex() {
    let (w, z) = (Complex::new(0.5, -1.0), Complex::new(2.0, 0.25));
    verify!(complex_numbers, &0.5, &w, &z, 1.5);
    let mut single = [Complex::new(1f32, 0.0); 2];
    complex_of_one_type(&mut single, Complex::new(0.0, 2.0)).unwrap();
    assert_eq!(single, [Complex::new(-3.0, 0.0); 2]);
    complex_of_one_type::inverse(&mut single, Complex::new(0.0, 2.0)).unwrap();
    assert_eq!(single, [Complex::new(1.0, 0.0); 2]);
}

// arrays of run-time shape

#[reversible]
fn views<T: Real>(
    a: ArrayView1<T>,
    b: ArrayView2<T>,
    c: ArrayView3<T>,
    d: ArrayView4<T>,
    mut out: ArrayViewMut2<T>,
) {
    for i in 0..out.nrows() {
        for j in 0..out.ncols() {
            out[[i, j]] += a[i] * b[[i, j]] + c[[j, i, 0]] * d[[0, i, j, 1]];
        }
    }
}

#[reversible]
fn references<T: Real>(y: &mut T, a: &Array1<T>, b: &Array2<T>, c: &mut Array3<T>, d: &mut ArrayViewMut1<T>) {
    for i in 0..a.len() {
        d[i] += a[i] * b[(i, 0)];
        c[[i, 0, 1]] -= d[i] * b[[i, 1]];
        *y += c[(i, 0, 1)] * a[i] + T::from_usize(c.shape()[2] + b.len_of(Axis(0)) + d.dim(0));
    }
}

#[test]
fn views_of_each_rank() {
    let a = array![1.0, 2.0, -3.0];
    let b = Array::from_shape_fn((3, 2), |(i, j)| i as f64 - 0.5 * j as f64);
    let c = Array::from_shape_fn((2, 3, 2), |(i, j, k)| (i + 2 * j) as f64 + 0.25 * k as f64);
    let d = Array::from_shape_fn((1, 3, 2, 2), |(_, j, k, l)| (j * k + l) as f64 * 0.5 - 1.0);
    let mut out = Array2::zeros((3, 2));
    views(a.view(), b.view(), c.view(), d.view(), out.view_mut()).unwrap();
    let expected = Array::from_shape_fn((3, 2), |(i, j)| a[i] * b[[i, j]] + c[[j, i, 0]] * d[[0, i, j, 1]]);
    assert_eq!(out, expected);
    verify!(views, a.view(), b.view(), c.view(), d.view(), out.view());
    views::inverse(a.view(), b.view(), c.view(), d.view(), out.view_mut()).unwrap();
    assert!(out.iter().all(|&x| abs_diff_eq!(x, 0.0, epsilon = 1e-12)));
}

#[test]
fn arrays_by_reference() {
    let (a, b) = (array![1.0, 2.0], array![[0.5, 1.5], [-1.0, 2.0]]);
    let mut c = Array3::from_elem((2, 1, 2), 0.25);
    let mut d = array![3.0, 4.0];
    let mut y = 0.0;
    references(&mut y, &a, &b, &mut c, &mut d.view_mut()).unwrap();
    assert_eq!(d, array![3.5, 2.0]);
    references::inverse(&mut y, &a, &b, &mut c, &mut d.view_mut()).unwrap();
    assert_eq!((y, d), (0.0, array![3.0, 4.0]));
    let d = array![3.0, 4.0];
    verify!(references, &y, &a, &b, &c, d.view());
    let g = references::gradient(&Cpu::new(), &a, &b, &c, d.view()).unwrap();
    assert_eq!((g.a.dim(), g.b.dim(), g.c.dim(), g.d.dim()), (2, (2, 2), (2, 1, 2), 2));
}

#[reversible]
fn weighted<T: Real>(mut y: ArrayViewMut1<T>, m: ArrayView2<T>, x: ArrayView1<T>) {
    for i in par(0..y.len()) {
        for j in 0..x.len() {
            y[i] += m[[i, j]] * x[j] * x[j];
        }
    }
}

/// Transposed, stepped and reversed views are read and written where they lie.
#[test]
fn views_of_any_stride() {
    let m = Array::from_shape_fn((4, 6), |(i, j)| (3 * i + j) as f64 * 0.25 - 1.0);
    let x = array![1.0, 9.0, -2.0, 9.0, 0.5, 9.0, 4.0];
    let mut y = Array1::zeros(8);
    let plain = |m: ArrayView<f64, Ix2>, x: ArrayView<f64, Ix1>| m.dot(&x.map(|x| x * x));
    for (m, x) in [
        (m.view(), x.slice(s![0..6])),
        (m.t(), x.slice(s![..;2])),
        (m.slice(s![..;-1, ..;2]), x.slice(s![1..4;-1])),
        (m.slice(s![.., ..;-2]), x.slice(s![..-1;3])),
    ] {
        let x = x.slice(s![..m.ncols().min(x.len())]);
        let m = m.slice(s![.., ..x.len()]);
        let n = m.nrows();
        weighted(y.slice_mut(s![..n;-1]), m, x).unwrap();
        let expected = plain(m, x);
        for i in 0..n {
            assert_abs_diff_eq!(y[n - 1 - i], expected[i], epsilon = 1e-12);
        }
        assert!(y.slice(s![n..]).iter().all(|y| *y == 0.0));
        weighted::inverse(y.slice_mut(s![..n;-1]), m, x).unwrap();
        assert!(y.iter().all(|&y| abs_diff_eq!(y, 0.0, epsilon = 1e-12)));
        verify!(weighted, y.slice(s![..n;-1]), m, x);
        y.fill(0.0);
    }
    let x = array![1.0, 2.0];
    let seed = array![1.0, 10.0, 100.0];
    let m = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let zeros = Array1::zeros(3);
    for device in devices() {
        let v = weighted::vjp(&*device, seed.view(), zeros.view(), m.t(), x.view()).unwrap();
        assert_eq!(v.m_bar, array![[1.0, 4.0], [10.0, 40.0], [100.0, 400.0]]);
        assert_eq!(v.x_bar, array![2.0 * 321.0, 4.0 * 654.0]);
    }
}

#[reversible]
fn dynamic<T: Real>(y: &mut T, a: ArrayViewD<T>, mut b: ArrayViewMutD<T>) {
    for i in 0..a.shape()[0] {
        b[[i, 0, 1]] += a[[i, 1]] * 2.0;
        *y += a[[i, 0]] * b[[i, 0, 1]];
    }
}

#[test]
fn views_of_dynamic_rank() {
    let a = array![[1.0, 2.0], [3.0, 4.0]].into_dyn();
    let b = Array3::from_elem((2, 1, 2), 1.0).into_dyn();
    let (mut y, mut c) = (0.0, b.clone());
    dynamic(&mut y, a.view(), c.view_mut()).unwrap();
    assert_eq!(y, 1.0 * 5.0 + 3.0 * 9.0);
    dynamic::inverse(&mut y, a.view(), c.view_mut()).unwrap();
    assert_eq!((y, c), (0.0, b.clone()));
    verify!(dynamic, &0.5, a.view(), b.view());
    // a rank that the program doesn't index is an error, not a panic
    let flat = array![1.0, 2.0].into_dyn();
    let mut c = b.clone();
    for checks in [true, false] {
        let error = dynamic::run(&Cpu::new().checks(checks), &mut y, flat.view(), c.view_mut()).unwrap_err();
        assert!(error.to_string().contains("a["), "{error}");
    }
}

// fixed-size arrays, tuples, structs

#[reversible]
fn fixed_arrays<T: Real, const N: usize>(
    y: &mut [T; N],
    m: &[[T; N]; 2],
    rows: &mut [[T; 3]],
    k: [usize; 2],
) {
    for i in 0..N {
        y[i] += m[0][i] * m[1][N - 1 - i];
        for r in par(0..rows.len()) {
            rows[r][k[1]] += m[k[0]][i] * rows[r][0];
        }
    }
    swap(y[0], y[N - 1]);
}

#[test]
fn arrays_of_fixed_size() {
    let mut y = [1.0, 2.0];
    let m = [[1.0, 2.0], [3.0, 4.0]];
    let mut rows = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.5]];
    fixed_arrays(&mut y, &m, &mut rows, [1, 2]).unwrap();
    assert_eq!((y, rows), ([8.0, 5.0], [[1.0, 0.0, 7.0], [2.0, 0.0, 14.5]]));
    fixed_arrays::inverse(&mut y, &m, &mut rows, [1, 2]).unwrap();
    assert_eq!((y, rows), ([1.0, 2.0], [[1.0, 0.0, 0.0], [2.0, 0.0, 0.5]]));
    verify!(fixed_arrays, &y, &m, &rows, [1, 2]);
    let seed = ([1.0, 0.0], [[0.0; 3]; 2]);
    let v = fixed_arrays::vjp(&Cpu::new(), seed.0, &seed.1, &y, &m, &rows, [1, 2]).unwrap();
    assert_eq!((v.y_bar, v.m_bar), ([0.0, 1.0], [[0.0, 3.0], [2.0, 0.0]]));
}

#[reversible]
fn tuples<T: Real>(p: &mut (T, T), q: (T, [T; 2], usize), pairs: &mut [(T, T)]) {
    p.0 += q.0 * q.1[0];
    p.1 -= p.0 * q.1[1];
    for i in 0..pairs.len() {
        pairs[i].0 += pairs[i].1 * p.1;
        swap(pairs[i].0, pairs[q.2].1);
    }
    (p.0, p.1) += (q.0, q.1[0] * 2.0);
}

#[test]
fn tuples_nested() {
    let q = (2.0, [3.0, 0.5], 0);
    let (mut p, mut pairs) = ((1.0, 0.0), [(1.0, 2.0), (3.0, 4.0)]);
    tuples(&mut p, q, &mut pairs).unwrap();
    assert_eq!(p, (9.0, 2.5));
    tuples::inverse(&mut p, q, &mut pairs).unwrap();
    assert_eq!((p, pairs), ((1.0, 0.0), [(1.0, 2.0), (3.0, 4.0)]));
    verify!(tuples, &p, q, &pairs);
}

#[derive(Reversible, Clone, Copy, Debug, PartialEq)]
struct Pose<T> {
    angle: T,
    center: [T; 2],
}

#[derive(Reversible, Clone, Copy, Debug, PartialEq)]
struct Body<T> {
    poses: [Pose<T>; 2],
    offset: (T, T),
    wave: Complex<T>,
    id: usize,
    fixed: bool,
}

#[reversible]
fn structs<T: Real>(y: &mut T, body: &mut Body<T>, others: &mut [Body<T>], from: Pose<T>) {
    if !body.fixed {
        body.poses[0].angle += from.angle * from.center[1];
    }
    for i in 0..others.len() {
        others[i].poses[1].center[0] += body.poses[0].angle * others[i].offset.1;
        others[i].wave.re -= others[i].poses[1].center[0];
        *y += others[i].wave.abs2() * T::from_usize(others[i].id);
        inc(others[i].id);
    }
    turn(&mut body.poses[1], &body.poses[0], from.angle);
    *y += body.poses[1].center[0];
}

#[reversible]
fn turn<T: Real>(p: &mut Pose<T>, by: &Pose<T>, angle: T) {
    rot(p.center[0], p.center[1], by.angle + angle);
    p.angle += by.angle;
}

fn body(id: usize) -> Body<f64> {
    let k = id as f64;
    Body {
        poses: [Pose { angle: 0.3 + k, center: [1.0, -k] }, Pose { angle: 0.1 * k, center: [0.5, 2.0] }],
        offset: (k, 1.5),
        wave: Complex::new(0.25, k - 1.0),
        id,
        fixed: false,
    }
}

#[test]
fn structs_nested_and_in_arrays() {
    let from = Pose { angle: 0.7, center: [0.5, 2.0] };
    let (mut one, mut others) = (body(3), [body(1), body(2)]);
    let mut y = 0.0;
    structs(&mut y, &mut one, &mut others, from).unwrap();
    assert_eq!([others[0].id, others[1].id], [2, 3]);
    structs::inverse(&mut y, &mut one, &mut others, from).unwrap();
    assert_eq!(others.map(|b| b.id), [1, 2]);
    verify!(structs, &0.0, &body(3), &[body(1), body(2)], from);
    let g = structs::gradient(&Cpu::new(), &body(3), &[body(1), body(2)], from).unwrap();
    let h = structs::gradient(&Interpreter::new(), &body(3), &[body(1), body(2)], from).unwrap();
    assert_abs_diff_eq!(g.from.angle.get(), h.from.angle.get(), epsilon = 1e-12);
    assert_abs_diff_eq!(g.body.poses[1].center[1].get(), h.body.poses[1].center[1].get(), epsilon = 1e-12);
    assert!(g.others[1].wave.im.get() != 0.0);
}

// generics

#[reversible]
fn bounded<T, S, const N: usize>(y: &mut [T; N], x: S, k: S)
where
    T: Real,
    S: Integer,
{
    for i in 0..N {
        y[i] += y_scale::<T>(x as T, k as T);
    }
}

#[pure]
fn y_scale<T: Real>(x: T, k: T) -> T {
    x * k + T::one()
}

#[reversible]
fn ring_product<T: Ring>(y: &mut T, a: &[T]) {
    for i in 1..a.len() {
        *y += a[i] * a[i - 1];
    }
}

#[reversible]
fn impl_scalar(y: &mut f64, n: impl Integer) {
    *y += n as f64;
}

#[test]
fn generic_functions() {
    let mut y = [0.5f32; 3];
    bounded(&mut y, 2u8, 3).unwrap();
    assert_eq!(y, [7.5; 3]);
    verify_exact!(bounded, &[0.5; 3], 2i64, 3);
    let (mut i, mut x) = (0i32, 0.0);
    ring_product(&mut i, &[1, 2, 3]).unwrap();
    ring_product(&mut x, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!((i, x), (8, 8.0));
    verify!(ring_product, &0.5, &[1.0, -2.0, 3.0]);
    let z = [Complex::new(1.0, 2.0), Complex::new(0.5, -1.0)];
    verify!(ring_product, &z[0], &z);
    let mut y = 0.0;
    impl_scalar(&mut y, 3u16).unwrap();
    assert_eq!(y, 3.0);
}

/// Shapes that disagree are errors, checked or not.
#[test]
fn arrays_that_are_too_short() {
    let (m, x) = (array![[1.0, 2.0]], array![1.0, 2.0]);
    for checks in [true, false] {
        let mut y = array![0.0, 0.0];
        let cpu = Cpu::new().checks(checks);
        let error = weighted::run(&cpu, y.view_mut(), m.view(), x.view()).unwrap_err();
        assert!(matches!(error.cause(), rev::error::Cause::IndexOutOfRange { .. }), "{error}");
    }
}

// data, by which nobody asks for a derivative

/// How far a line through the data is off: the sum of squares.
#[reversible(constant(data))]
fn misfit<T: Real>(loss: &mut T, w: &[T], data: ArrayView2<T>) {
    for i in par(0..data.nrows()) {
        let mut r = T::zero();
        for j in 0..w.len() {
            r += w[j] * data[[i, j]].sin();
        }
        *loss += r * r;
    }
}

/// The same, by a function that is given its rows.
#[reversible(constant(data, scale))]
fn scaled_misfit<T: Real>(loss: &mut T, w: &[T], data: ArrayView2<T>, scale: T) {
    let mut unscaled = T::zero();
    misfit(&mut unscaled, w, data);
    *loss += scale * unscaled;
}

/// The same, by a function that would find a derivative by the data.
#[reversible(constant(data))]
fn misfit_by_rows<T: Real>(loss: &mut T, w: &[T], data: ArrayView2<T>) {
    for i in par(0..data.nrows()) {
        let mut r = T::zero();
        row(&mut r, w, data, i);
        *loss += r * r;
    }
}

#[reversible]
fn row<T: Real>(r: &mut T, w: &[T], data: ArrayView2<T>, i: usize) {
    for j in 0..w.len() {
        *r += w[j] * data[[i, j]].sin();
    }
}

#[reversible]
fn misfit_with_all<T: Real>(loss: &mut T, w: &[T], data: ArrayView2<T>) {
    for i in par(0..data.nrows()) {
        let mut r = T::zero();
        for j in 0..w.len() {
            r += w[j] * data[[i, j]].sin();
        }
        *loss += r * r;
    }
}

#[test]
fn constants_have_no_gradient_and_change_no_other() {
    let data = Array::from_shape_fn((70, 3), |(i, j)| 0.1 * i as f64 - j as f64);
    let w = [0.5, -1.5, 2.0];
    let seed = 3.0;
    let emulator = rev::Emulator::new();
    let all = devices();
    // sums over several threads have no order of their own
    let close = |found: &[f64], expected: &[f64]| {
        assert_eq!(found.len(), expected.len());
        for (f, e) in found.iter().zip(expected) {
            assert_relative_eq!(f, e, epsilon = 0.0, max_relative = 1e-12);
        }
    };
    for device in all.iter().map(|d| &**d).chain([&emulator as &dyn Device]) {
        let g = misfit::gradient(device, &w, data.view()).unwrap();
        let full = misfit_with_all::gradient(device, &w, data.view()).unwrap();
        close(&[g.value], &[full.value]);
        close(&g.w, &full.w);
        assert_eq!(g.data, ());
        let v = misfit::vjp(device, seed, &0.0, &w, data.view()).unwrap();
        let full = misfit_with_all::vjp(device, seed, &0.0, &w, data.view()).unwrap();
        close(&[v.loss], &[full.loss]);
        close(&v.w_bar, &full.w_bar);
        assert_eq!(v.data_bar, ());
        let scaled = scaled_misfit::gradient(device, &w, data.view(), seed).unwrap();
        close(&scaled.w, &v.w_bar);
        assert_eq!((scaled.data, scaled.scale), ((), ()));
        let by_rows = misfit_by_rows::gradient(device, &w, data.view()).unwrap();
        close(&by_rows.w, &g.w);
        assert_eq!(by_rows.data, ());
    }
    verify!(misfit, &1.0, &w, data.view());
    verify!(scaled_misfit, &1.0, &w, data.view(), seed);
    verify!(misfit_by_rows, &1.0, &w, data.view());
    let batch = misfit::vjp_batch::<f64, 2>(&Cpu::new(), Batch([1.0, 2.0]), &0.0, &w, data.view()).unwrap();
    assert_eq!(batch.data_bar, ());
    let some = misfit::gradient_wrt(&Cpu::new(), misfit::W, &w, data.view()).unwrap();
    assert!(some.w.is_some());
}

#[test]
fn a_constant_s_cotangents_are_left_alone() {
    let data = Array::from_shape_fn((40, 2), |(i, j)| 0.1 * i as f64 - j as f64);
    let w = [0.5, -1.5];
    for device in devices() {
        let mut loss = 0.0;
        misfit::run(&*device, &mut loss, &w, data.view()).unwrap();
        let after = loss;
        for by_rows in [false, true] {
            let mut loss_bar = Batch([1.0]);
            let mut w_bar = [Batch::<f64, 1>::zero(); 2];
            let mut data_bar = Array::from_elem((40, 2), Batch([7.0]));
            let (d, bar) = (data.view(), data_bar.view_mut());
            loss = after;
            if by_rows {
                misfit_by_rows::adjoint(&*device, &mut loss, &mut loss_bar, &w, &mut w_bar, d, bar).unwrap();
            } else {
                misfit::adjoint(&*device, &mut loss, &mut loss_bar, &w, &mut w_bar, d, bar).unwrap();
            }
            assert!(data_bar.iter().all(|b| *b == Batch([7.0])));
            assert!(w_bar.iter().all(|b| *b != Batch::zero()));
        }
    }
    let adjoint = misfit::ir().adjoint().to_string();
    assert!(adjoint.contains("constant(data)") && !adjoint.contains("data_bar["), "{adjoint}");
}

// functions of a type, and structs with lengths

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Series<T: Real, const N: usize> {
    c: [T; N],
    center: T,
}

#[reversible]
impl<T: Real, const N: usize> Series<T, N> {
    #[reversible]
    fn at(&self, y: &mut T, x: T) {
        for k in 0..N {
            *y += self.c[k] * (x - self.center).powi(k as i32);
        }
    }
}

#[reversible]
fn sums_of_series<T: Real>(y: &mut T, series: &[Series<T, 3>], x: &[T]) {
    for i in par(0..x.len()) {
        let mut twice = Series::<T, 3>::zero();
        for k in 0..3 {
            twice.c[k] += series[i].c[k] * 2.0;
        }
        let mut t = T::zero();
        (&twice).at(&mut t, x[i]);
        series[i].at(&mut t, x[i]);
        *y += t;
    }
}

#[test]
fn functions_of_structs_with_lengths() {
    let series: Vec<_> = (0..40).map(|k| Series { c: [1.0, 2.0, f64::from(k)], center: 0.5 }).collect();
    let x = vec![2.0; 40];
    let emulator = rev::Emulator::new();
    for device in devices().iter().map(|d| &**d).chain([&emulator as &dyn Device]) {
        let g = sums_of_series::gradient(device, &series, &x).unwrap();
        // at 2, without a center and with twice the coefficients, and around 0.5
        let first = |k: f64| 2.0 * (1.0 + 4.0 + 4.0 * k) + 4.0 + 2.25 * k;
        assert_eq!(g.value, (0..40).map(|k| first(f64::from(k))).sum::<f64>(), "{}", device.name());
        assert_eq!(g.series[3].c.map(|c| c.0), [[3.0], [5.5], [10.25]]);
        assert_eq!((g.x[3], g.series[3].center.0), (2.0 * (2.0 + 12.0) + 2.0 + 9.0, [-11.0]));
    }
    verify!(sums_of_series, &0.0, &series, &x);
}
