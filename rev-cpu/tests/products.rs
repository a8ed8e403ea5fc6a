//! Products and sums of whole arrays: against plain loops, on every kind of array, with inverse,
//! gradient and second derivative; emitted Rust and interpreter bit for bit in the deterministic mode.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{Array1, Array2, ArrayD, ArrayView1, ArrayView2, ArrayViewD, ArrayViewMut2};
use rev_core::interp::Interpreter;
use rev_core::scalar::ComplexShadow;
use rev_core::tolerance::Options;
use rev_cpu::prelude::*;

#[reversible]
fn product<T: Ring>(mut c: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>) {
    c += matmul(a, b);
}

#[reversible]
fn turned<T: Ring>(mut c: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>, s: T) {
    c -= s * matmul(a.t(), b.t());
}

#[reversible]
fn hermitian<T: Field>(mut c: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>) {
    c += matmul(conj(a.t()), b);
}

#[reversible]
fn triangles<T: Ring>(mut c: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>) {
    c += matmul(lower(a), b) - matmul(upper(a), b);
    c += matmul(strict_lower(a), b) + matmul(strict_upper(a).t(), b);
    c += matmul(unit_lower(a), b) - matmul(unit_upper(a.t()).t(), b);
    c += matmul(b, unit_upper(a)) + matmul(b, symmetric_upper(a));
    c += matmul(symmetric_lower(a), b);
}

#[reversible]
fn square<T: Ring>(mut c: ArrayViewMut2<T>, a: ArrayView2<T>) {
    lower(c) += matmul(a, a.t());
    strict_upper(c) -= matmul(a.t(), a);
}

#[reversible]
fn vectors<T: Ring>(y: &mut [T], mut m: ArrayViewMut2<T>, a: ArrayView2<T>, x: &[T], z: ArrayView1<T>, s: T) {
    y += matvec(a, x);
    y -= s * matvec(a.t(), z);
    m += s * outer(x, z);
    m -= outer(y, x);
    y += zipped(x, z) + s * x;
    y += row_sums(a) - column_sums(a);
    y += diagonal(a);
}

#[reversible]
fn sums<T: Ring>(
    r: &mut T,
    q: &mut [T],
    a: ArrayViewD<T>,
    b: ArrayViewD<T>,
    m: ArrayView2<T>,
    x: &[T],
    f: &[T; 3],
) {
    *r += dot(a, b) * sum(a) - trace(m);
    let d = dot(x, x);
    q[1] += d * d + sum(f);
    for i in par(0..x.len()) {
        q[0] += dot(x, x) * x[i];
    }
}

#[reversible]
fn started<T: Ring>(mut c: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>, s: T) {
    let mut whole: Array2<T> = zeros((a.nrows(), b.ncols()));
    whole += matmul(a, b);
    let mut turned: Array2<T> = zeros((b.ncols(), a.nrows()));
    turned -= s * matmul(b.t(), a.t());
    let mut corner: Array2<T> = zeros((a.nrows(), b.ncols()));
    corner += matmul(lower(a), b);
    let mut half: Array2<T> = zeros((a.nrows(), b.ncols()));
    strict_lower(half) += matmul(a, b);
    for i in 0..c.nrows() {
        for j in 0..c.ncols() {
            c[[i, j]] += whole[[i, j]] * turned[[j, i]] + corner[[i, j]] * half[[i, j]];
        }
    }
}

fn number(k: usize) -> f64 {
    ((k * 7 + 3) % 11) as f64 / 4.0 - 1.25
}

fn matrix(n: usize, m: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| number(seed + 13 * i + 5 * j + i * j))
}

fn complex(n: usize, m: usize, seed: usize) -> Array2<Complex<f64>> {
    Array2::from_shape_fn((n, m), |(i, j)| {
        Complex::new(number(seed + 3 * i + j), number(seed + i + 7 * j + 1))
    })
}

fn devices() -> [Box<dyn Device>; 4] {
    let fixed = Options { deterministic: true, ..Options::default() };
    [
        Box::new(Cpu::new()),
        Box::new(Cpu::new().checks(false).threads(1)),
        Box::new(Cpu::new().deterministic(true)),
        Box::new(Interpreter::with_options(fixed)),
    ]
}

/// Inverse and gradient on every device.
macro_rules! verify {
    ($f:ident, $($arg:expr),* $(,)?) => {
        for device in devices() {
            let back = $f::check_inverse(&*device, $($arg),*).unwrap();
            assert!(back.passed(), "{} on {}:\n{back}", stringify!($f), device.name());
            let gradient = $f::check_gradient(&*device, $($arg),*).unwrap();
            assert!(gradient.passed(), "{} on {}:\n{gradient}", stringify!($f), device.name());
        }
    };
}

fn by_hand(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| {
        (0..a.ncols()).map(|k| a[[i, k]] * b[[k, j]]).sum()
    })
}

fn close(a: &Array2<f64>, b: &Array2<f64>) {
    approx::assert_relative_eq!(a, b, epsilon = 1e-10, max_relative = 1e-10);
}

#[test]
fn products_of_every_shape() {
    let sizes = [
        (1, 1, 1),
        (2, 3, 4),
        (7, 1, 9),
        (1, 300, 5),
        (40, 3, 1),
        (33, 65, 17),
        (130, 20, 70),
        (9, 200, 8),
        (9, 1037, 8),
    ];
    for (n, k, m) in sizes {
        let (a, b, c) = (matrix(n, k, 1), matrix(k, m, 2), matrix(n, m, 3));
        let expected = &c + &by_hand(&a, &b);
        for device in devices() {
            let mut out = c.clone();
            product::run(&*device, out.view_mut(), a.view(), b.view()).unwrap();
            close(&out, &expected);
            let mut out = c.clone();
            let (at, bt) = (a.t().as_standard_layout().into_owned(), b.t().as_standard_layout().into_owned());
            turned::run(&*device, out.view_mut(), at.view(), bt.view(), -1.0).unwrap();
            close(&out, &expected);
            // any strides
            let mut wide = Array2::zeros((2 * n, 3 * m));
            let mut part = wide.slice_mut(ndarray::s![..;-2, ..;3]);
            part.assign(&c);
            product::run(&*device, part.view_mut(), a.view(), bt.t()).unwrap();
            close(&part.to_owned(), &expected);
        }
    }
}

/// An array of zeros whose first update is a product is written by the product. What its memory held before, here
/// NaN of the run before, doesn't count.
#[test]
fn arrays_that_start_as_products() {
    let sizes = [
        (1, 1, 1),
        (7, 1, 9),
        (5, 0, 4),
        (33, 65, 17),
        (64, 64, 100),
        (130, 20, 70),
        (9, 300, 8),
        (40, 520, 24),
    ];
    for (n, k, m) in sizes {
        let (a, b, c) = (matrix(n, k, 1), matrix(k, m, 2), matrix(n, m, 3));
        let below = Array2::from_shape_fn((n, k), |(i, j)| if i >= j { a[[i, j]] } else { 0.0 });
        let (whole, corner) = (by_hand(&a, &b), by_hand(&below, &b));
        let expected = Array2::from_shape_fn((n, m), |(i, j)| {
            let half = if i > j { whole[[i, j]] } else { 0.0 };
            c[[i, j]] - 0.5 * whole[[i, j]] * whole[[i, j]] + corner[[i, j]] * half
        });
        for device in devices().iter().take(if n * k * m > 1000 { 3 } else { 4 }) {
            let mut out = c.clone();
            let nan = Array2::from_elem((n, k), f64::NAN);
            // it ends in an error where checks find the NaN
            let _ = started::run(&**device, out.view_mut(), nan.view(), b.view(), 0.5);
            for b in [b.view(), b.t().as_standard_layout().t()] {
                let mut out = c.clone();
                started::run(&**device, out.view_mut(), a.view(), b, 0.5).unwrap();
                close(&out, &expected);
            }
        }
        let single = |x: &Array2<f64>| x.mapv(|x| x as f32);
        let (mut out, a, b) = (single(&c), single(&a), single(&b));
        started::run(&Cpu::new().checks(false), out.view_mut(), a.view(), b.view(), 0.5).unwrap();
        out.iter()
            .zip(&expected)
            .for_each(|(x, y)| assert_abs_diff_eq!(f64::from(*x), y, epsilon = 1e-4 * (1.0 + y.abs())));
    }
    let (a, b, c) = (matrix(4, 3, 1), matrix(3, 5, 2), matrix(4, 5, 3));
    verify!(started, c.view(), a.view(), b.view(), 0.75);
    verify!(
        started,
        complex(4, 5, 3).view(),
        complex(4, 3, 1).view(),
        complex(3, 5, 2).view(),
        Complex::new(0.5, 1.0)
    );
    for device in devices() {
        let error =
            started::run(&*device, c.clone().view_mut(), a.view(), matrix(2, 5, 2).view(), 0.5).unwrap_err();
        assert!(error.to_string().contains("[2, 5]"), "{error}");
    }
}

/// The numbers are quarters, so that every sum is exact in single precision too.
#[test]
fn products_in_single_precision() {
    for (n, k, m) in [(16, 32, 48), (33, 65, 17), (9, 300, 50), (6, 1037, 10)] {
        let (a, b) = (matrix(n, k, 1), matrix(k, m, 2));
        let expected = by_hand(&a, &b).mapv(|x| x as f32);
        let [a, b] = [a, b].map(|x| x.mapv(|x| x as f32));
        let columns = b.t().as_standard_layout().into_owned();
        for device in devices() {
            for b in [b.view(), columns.t()] {
                let mut c = Array2::zeros((n, m));
                product::run(&*device, c.view_mut(), a.view(), b).unwrap();
                assert_eq!(c, expected);
            }
        }
    }
}

#[test]
fn triangles_count_what_they_say() {
    for n in [1, 3, 64, 65, 150] {
        let (a, b) = (matrix(n, n, 4), matrix(n, n, 5));
        let keep = |f: &dyn Fn(usize, usize) -> bool| {
            Array2::from_shape_fn((n, n), |(i, j)| if f(i, j) { a[[i, j]] } else { 0.0 })
        };
        let one = Array2::<f64>::eye(n);
        let (lower, upper) = (keep(&|i, j| i >= j), keep(&|i, j| i <= j));
        let (low, up) = (keep(&|i, j| i > j), keep(&|i, j| i < j));
        let expected = by_hand(&lower, &b) - by_hand(&upper, &b)
            + by_hand(&low, &b) + by_hand(&up.t().to_owned(), &b)
            // the upper triangle of the transposed, transposed, is the lower one
            + by_hand(&(&low + &one), &b)
            - by_hand(&(&low + &one), &b)
            + by_hand(&b, &(&up + &one))
            + by_hand(&b, &(&up + &up.t() + &keep(&|i, j| i == j)))
            + by_hand(&(&low + &low.t() + &keep(&|i, j| i == j)), &b);
        for device in devices().iter().take(if n > 65 { 3 } else { 4 }) {
            let mut c = Array2::zeros((n, n));
            triangles::run(&**device, c.view_mut(), a.view(), b.view()).unwrap();
            close(&c, &expected);
            let mut c = Array2::zeros((n, n));
            square::run(&**device, c.view_mut(), a.view()).unwrap();
            let (aat, ata) = (by_hand(&a, &a.t().to_owned()), by_hand(&a.t().to_owned(), &a));
            close(
                &c,
                &Array2::from_shape_fn((n, n), |(i, j)| if i >= j { aat[[i, j]] } else { -ata[[i, j]] }),
            );
        }
    }
}

#[test]
fn vectors_and_sums() {
    let (a, x, z) = (matrix(3, 3, 1), vec![1.0, -2.0, 0.5], Array1::from_vec(vec![4.0, 0.25, -1.0]));
    let s = 0.5;
    let mut y = vec![1.0, 2.0, 3.0];
    let mut m = Array2::zeros((3, 3));
    vectors(&mut y, m.view_mut(), a.view(), &x, z.view(), s).unwrap();
    for i in 0..3 {
        let rows = (0..3).map(|k| a[[i, k]] * x[k] - s * a[[k, i]] * z[k]).sum::<f64>();
        let first = [1.0, 2.0, 3.0][i] + rows;
        let last = first + x[i] * z[i] + s * x[i] + a.row(i).sum() - a.column(i).sum() + a[[i, i]];
        assert_abs_diff_eq!(y[i], last, epsilon = 1e-12);
        for j in 0..3 {
            assert_abs_diff_eq!(m[[i, j]], s * x[i] * z[j] - first * x[j], epsilon = 1e-12);
        }
    }
    verify!(vectors, &y, m.view(), a.view(), &x, z.view(), s);
    let (p, q) = (matrix(2, 3, 8).into_dyn(), matrix(2, 3, 9).into_dyn());
    verify!(sums, &0.5, &[1.0, 2.0], p.view(), q.view(), a.view(), &x, &[1.0, 2.0, 3.0]);
}

#[test]
fn derivatives_of_matrices() {
    let (a, b, c) = (matrix(3, 2, 1), matrix(2, 4, 2), matrix(3, 4, 3));
    verify!(product, c.view(), a.view(), b.view());
    verify!(turned, c.t().view(), b.view(), a.view(), 0.75);
    let (a, b, c) = (matrix(3, 3, 1), matrix(3, 3, 2), matrix(3, 3, 3));
    verify!(triangles, c.view(), a.view(), b.view());
    verify!(square, c.view(), a.view());
    let (a, b, c) = (complex(2, 3, 1), complex(2, 2, 2), complex(3, 2, 3));
    verify!(hermitian, c.view(), a.view(), b.view());
    verify!(product, complex(3, 2, 5).view(), complex(3, 2, 6).view(), b.view());
    assert_eq!(c.dim(), (3, 2));
}

#[test]
fn complex_products_of_the_library_are_those_of_loops() {
    let (n, k, m) = (21, 34, 17);
    let (a, b) = (complex(k, n, 1), complex(k, m, 2));
    let expected = Array2::from_shape_fn((n, m), |(i, j)| {
        (0..k).map(|l| a[[l, i]].conj() * b[[l, j]]).sum::<Complex<f64>>()
    });
    for device in devices() {
        let mut c = Array2::from_elem((n, m), Complex::new(0.0, 0.0));
        hermitian::run(&*device, c.view_mut(), a.view(), b.view()).unwrap();
        c.iter()
            .zip(&expected)
            .for_each(|(x, y)| assert!(abs_diff_eq!((x - y).norm(), 0.0, epsilon = 1e-10), "{x} is not {y}"));
        hermitian::run_inverse(&*device, c.view_mut(), a.view(), b.view()).unwrap();
        assert!(c.iter().all(|z| abs_diff_eq!(z.norm(), 0.0, epsilon = 1e-10)));
    }
}

#[test]
fn integers_wrap_and_are_exact() {
    let big = |n, m, s: i64| {
        Array2::from_shape_fn((n, m), |(i, j)| (i as i64 + 2).wrapping_mul(i64::MAX / 3 + s + j as i64))
    };
    let (a, b, c) = (big(3, 4, 1), big(4, 5, 2), big(3, 5, 3));
    for device in devices() {
        assert!(product::check_inverse(&*device, c.view(), a.view(), b.view()).unwrap().is_exact());
    }
    let mut out = c.clone();
    product(out.view_mut(), a.view(), b.view()).unwrap();
    let at =
        |i: usize, j: usize| (0..4).fold(c[[i, j]], |t, k| t.wrapping_add(a[[i, k]].wrapping_mul(b[[k, j]])));
    assert_eq!(out, Array2::from_shape_fn((3, 5), |(i, j)| at(i, j)));
}

#[test]
fn the_deterministic_mode_has_one_order() {
    let (n, k, m) = (19, 300, 11);
    let (a, b, c) = (matrix(n, k, 1) / 3.0, matrix(k, m, 2) / 7.0, matrix(n, m, 3));
    let long = Array1::from_shape_fn(700, |i| 1.0 / (1.0 + i as f64)).to_vec();
    let fixed = Options { deterministic: true, ..Options::default() };
    let interpreter = Interpreter::with_options(fixed);
    let run = |device: &dyn Device| {
        let seed = matrix(n, m, 9) / 11.0;
        let v = product::vjp(device, seed.view(), c.view(), a.view(), b.view()).unwrap();
        let mut q = vec![0.0, 0.0];
        let small = a.clone().into_dyn();
        sums::run(
            device,
            &mut 0.0,
            &mut q,
            small.view(),
            small.view(),
            Array2::eye(2).view(),
            &long,
            &[0.0; 3],
        )
        .unwrap();
        (v.c, v.a_bar, v.b_bar, q[1])
    };
    let one = run(&interpreter);
    assert!(one == run(&Cpu::new().deterministic(true).threads(1)));
    assert!(one == run(&Cpu::new().deterministic(true).threads(3)));
}

#[test]
fn several_seeds_at_once() {
    let (n, k, m) = (12, 13, 14);
    let (a, b, c) = (matrix(n, k, 1), matrix(k, m, 2), matrix(n, m, 3));
    let (one, two) = (matrix(n, m, 4), matrix(n, m, 5));
    let both = Array2::from_shape_fn((n, m), |at| Batch([one[at], two[at]]));
    for cpu in [Cpu::new(), Cpu::new().deterministic(true)] {
        let v = product::vjp_batch(&cpu, both.view(), c.view(), a.view(), b.view()).unwrap();
        for (k, seed) in [&one, &two].into_iter().enumerate() {
            close(&v.a_bar.mapv(|s| s.0[k]), &by_hand(seed, &b.t().to_owned()));
            close(&v.b_bar.mapv(|s| s.0[k]), &by_hand(&a.t().to_owned(), seed));
        }
    }
    let z = complex(9, 10, 1);
    let w = complex(10, 11, 2);
    let seeds = [complex(9, 11, 3), complex(9, 11, 4)];
    let both = Array2::from_shape_fn((9, 11), |at| {
        let (a, b) = (seeds[0][at], seeds[1][at]);
        ComplexShadow { re: Batch([a.re, b.re]), im: Batch([a.im, b.im]) }
    });
    let v = product::vjp_batch(&Cpu::new(), both.view(), seeds[0].view(), z.view(), w.view()).unwrap();
    for (k, seed) in seeds.iter().enumerate() {
        let expected = Array2::from_shape_fn((9, 10), |(i, l)| {
            (0..11).map(|j| seed[[i, j]] * w[[l, j]].conj()).sum::<Complex<f64>>()
        });
        let found = v.a_bar.mapv(|s| Complex::new(s.re.0[k], s.im.0[k]));
        found
            .iter()
            .zip(&expected)
            .for_each(|(x, y)| assert_abs_diff_eq!((x - y).norm(), 0.0, epsilon = 1e-10));
    }
}

#[test]
fn shapes_that_dont_fit_are_errors_that_name_the_arrays() {
    let (a, b) = (matrix(2, 3, 1), matrix(4, 5, 2));
    for device in devices() {
        let mut c = Array2::zeros((2, 5));
        let error = product::run(&*device, c.view_mut(), a.view(), b.view()).unwrap_err().to_string();
        for part in ["`a`", "`b`", "[2, 3]", "[4, 5]"] {
            assert!(error.contains(part), "{error} doesn't say {part}");
        }
        let mut c = Array2::zeros((2, 4));
        let error =
            product::run(&*device, c.view_mut(), a.view(), matrix(3, 5, 1).view()).unwrap_err().to_string();
        assert!(error.contains("`c`") || error.contains("`b`"), "{error}");
    }
}

#[reversible]
fn parts<T: Real>(y: &mut [T], m: ArrayView2<T>, x: &[T], n: usize) {
    y[0..n] += matvec(m, x[1..n + 1]);
    y[n..y.len()] -= zipped(x[0..n], x[1..n + 1]);
}

#[test]
fn parts_of_slices() {
    let (m, x) = (matrix(2, 2, 1), [1.0, 2.0, 3.0]);
    let mut y = [0.0; 4];
    parts(&mut y, m.view(), &x, 2).unwrap();
    let row = |i: usize| m[[i, 0]] * x[1] + m[[i, 1]] * x[2];
    assert_eq!(y, [row(0), row(1), -2.0, -6.0]);
    verify!(parts, &y, m.view(), &x, 2);
}

#[reversible]
fn layered<T: Real>(loss: &mut T, w: ArrayView2<T>, v: &Array2<T>, x: ArrayView2<T>) {
    let mut h: Array2<T> = zeros((x.nrows(), w.ncols()));
    let mut s: Array2<T> = zeros((x.nrows(), w.ncols()));
    let mut out: Array2<T> = zeros((x.nrows(), v.ncols()));
    h += matmul(x, w);
    for i in par(0..h.nrows()) {
        for j in 0..h.ncols() {
            s[[i, j]] += h[[i, j]].tanh();
        }
    }
    out += matmul(s, v);
    *loss += dot(out, out);
}

#[test]
fn ancillas_are_uncomputed_through_products() {
    let (w, v, x) = (matrix(3, 4, 1), matrix(4, 2, 2), matrix(5, 3, 3));
    verify!(layered, &0.0, w.view(), &v, x.view());
    let _: ArrayD<f64> = ArrayD::zeros(vec![1]);
}
