//! Elements and fields that are arrays of fixed size.

use super::{devices, near, Tested};
use approx::abs_diff_eq;
use ndarray::{ArrayView1, ArrayViewMut1};
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

/// Adds squares.
#[reversible]
fn add<T: Real>(y: &mut [T], x: &[T]) {
    for k in 0..x.len() {
        y[k] += x[k] * x[k];
    }
}

#[reversible]
fn add_sines<T: Real>(mut y: ArrayViewMut1<T>, x: ArrayView1<T>, s: T) {
    for k in 0..x.len() {
        y[k] += x[k].sin() * s;
    }
}

/// Every element is its iteration's own.
#[reversible]
fn rows<T: Real>(y: &mut [[T; 3]], x: &[[T; 3]], s: T) {
    for i in par(0..x.len()) {
        add(&mut y[i], &x[i]);
        add_sines(&mut y[i], &x[i], s);
    }
}

#[reversible]
fn pairs<T: Real>(y: &mut [[T; 3]], i: usize, j: usize) {
    add(&mut y[i], &y[j]);
}

/// Several iterations read one element: its shadow is a sum of theirs.
#[reversible]
fn gathered<T: Real>(y: &mut [[T; 3]], x: &[[T; 3]], idx: &[usize]) {
    for i in par(0..idx.len()) {
        add(&mut y[i], &x[idx[i]]);
        add(&mut y[i], &x[0]);
    }
}

/// Elements of a permutation, which is checked, and elements that are claimed.
#[reversible]
fn permuted<T: Real>(y: &mut [[T; 3]], z: &mut [[T; 3]], x: &[[T; 3]], idx: &[usize]) {
    #[injective(idx)]
    for i in par(0..idx.len()) {
        if x[i][0] > T::zero() {
            add(&mut y[idx[i]], &x[i]);
        }
    }
    #[disjoint(z)]
    for i in par(0..idx.len()) {
        add(&mut z[idx[i]], &x[idx[i]]);
    }
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Body<T: Real> {
    at: [T; 3],
    by: [[T; 3]; 2],
    mass: T,
}

#[reversible]
fn fields<T: Real>(one: &mut Body<T>, all: &mut [Body<T>], x: &[Body<T>]) {
    add(&mut one.at, &one.by[1]);
    add(&mut one.by[0], &one.by[1]);
    for i in 0..x.len() {
        add(&mut all[i].at, &x[i].by[1]);
        add(&mut all[i].by[1], &all[i].by[0]);
        all[i].mass += x[i].mass;
    }
    for i in par(0..x.len()) {
        add(&mut all[i].at, &x[i].at);
    }
}

/// Parts of an ancilla, of a tuple and of an array of fixed size.
#[reversible]
fn nested<T: Real>(y: &mut [T; 2], t: &mut ([T; 2], T), m: &[[T; 2]; 2]) {
    let mut a = [[T::zero(); 2]; 3];
    for i in 0..2 {
        add(&mut a[i], &m[i]);
        add(&mut a[i + 1], &m[1 - i]);
    }
    add(&mut y, &a[1]);
    add(&mut t.0, &a[0]);
    add(&mut t.0, &m[1]);
}

type Vectors = Vec<[f64; 3]>;

fn vectors(n: usize, seed: usize) -> Vectors {
    let number = |i: usize, k: usize| ((i * 7 + k * 5 + seed * 3) % 11) as f64 / 3.0 - 1.5;
    (0..n).map(|i| std::array::from_fn(|k| number(i, k))).collect()
}

fn made(n: usize, f: impl Fn(usize, usize) -> f64) -> Vectors {
    (0..n).map(|i| std::array::from_fn(|k| f(i, k))).collect()
}

fn same(a: &[[f64; 3]], b: &[[f64; 3]]) -> bool {
    near(a.as_flattened(), b.as_flattened())
}

#[test]
fn elements_of_parallel_iterations() {
    let s = 0.7;
    for (n, Tested { device, name, .. }) in
        [0, 1, 5, 100].into_iter().flat_map(|n| devices().into_iter().map(move |d| (n, d)))
    {
        let (y, x, seeds) = (vectors(n, 1), vectors(n, 2), vectors(n, 3));
        let mut out = y.clone();
        rows::run(&*device, &mut out, &x, s).unwrap();
        let expected = made(n, |i, k| y[i][k] + x[i][k].powi(2) + x[i][k].sin() * s);
        assert!(same(&out, &expected), "{name}");
        rows::run_inverse(&*device, &mut out, &x, s).unwrap();
        assert!(same(&out, &y), "{name}");
        let v = rows::vjp(&*device, &seeds, &y, &x, s).unwrap();
        assert!(same(&v.y, &expected) && same(&v.y_bar, &seeds), "{name}");
        assert!(same(&v.x_bar, &made(n, |i, k| seeds[i][k] * (2.0 * x[i][k] + x[i][k].cos() * s))), "{name}");
        let sines =
            seeds.iter().zip(&x).flat_map(|(seed, x)| seed.iter().zip(x)).map(|(seed, x)| seed * x.sin());
        assert!(abs_diff_eq!(v.s_bar, sines.sum::<f64>(), epsilon = 1e-9), "{name}");
    }
}

#[test]
fn two_elements_of_one_array() {
    let (y, seeds) = (vectors(4, 1), vectors(4, 2));
    for Tested { device, name, checks, bounds } in devices() {
        let mut out = y.clone();
        pairs::run(&*device, &mut out, 1, 2).unwrap();
        let expected = made(4, |i, k| y[i][k] + if i == 1 { y[2][k].powi(2) } else { 0.0 });
        assert!(same(&out, &expected), "{name}");
        pairs::run_inverse(&*device, &mut out, 1, 2).unwrap();
        assert!(same(&out, &y), "{name}");
        let v = pairs::vjp(&*device, &seeds, &y, 0, 3).unwrap();
        let bar = made(4, |i, k| seeds[i][k] + if i == 3 { 2.0 * y[3][k] * seeds[0][k] } else { 0.0 });
        assert!(same(&v.y_bar, &bar), "{name}");
        if bounds {
            assert!(
                pairs::run(&*device, &mut out, 1, 4).is_err()
                    && pairs::run(&*device, &mut out, 9, 0).is_err(),
                "{name}"
            );
        }
        if checks {
            let error = pairs::run(&*device, &mut out, 3, 3).unwrap_err().to_string();
            assert!(error.contains("y[j]"), "{name}: {error}");
        }
    }
}

#[test]
fn elements_through_an_index_array() {
    let n = 70;
    let (y, z, x, seeds) = (vectors(n, 1), vectors(n, 2), vectors(n, 3), vectors(n, 4));
    let idx: Vec<usize> = (0..n).map(|i| (i * i + 3) % 7).collect();
    let permutation: Vec<usize> = (0..n).map(|i| (i * 11 + 5) % n).collect();
    for Tested { device, name, checks, .. } in devices() {
        let mut out = y.clone();
        gathered::run(&*device, &mut out, &x, &idx).unwrap();
        assert!(same(&out, &made(n, |i, k| y[i][k] + x[idx[i]][k].powi(2) + x[0][k].powi(2))), "{name}");
        gathered::run_inverse(&*device, &mut out, &x, &idx).unwrap();
        assert!(same(&out, &y), "{name}");
        let v = gathered::vjp(&*device, &seeds, &y, &x, &idx).unwrap();
        let mut bar = vec![[0.0; 3]; n];
        for (i, k) in (0..n).flat_map(|i| [(i, 0), (i, 1), (i, 2)]) {
            bar[idx[i]][k] += seeds[i][k] * 2.0 * x[idx[i]][k];
            bar[0][k] += seeds[i][k] * 2.0 * x[0][k];
        }
        assert!(same(&v.x_bar, &bar), "{name}");

        let (mut a, mut b) = (y.clone(), z.clone());
        permuted::run(&*device, &mut a, &mut b, &x, &permutation).unwrap();
        let mut expected = y.clone();
        for (i, k) in (0..n).flat_map(|i| [(i, 0), (i, 1), (i, 2)]).filter(|(i, _)| x[*i][0] > 0.0) {
            expected[permutation[i]][k] += x[i][k].powi(2);
        }
        assert!(same(&a, &expected) && same(&b, &made(n, |i, k| z[i][k] + x[i][k].powi(2))), "{name}");
        permuted::run_inverse(&*device, &mut a, &mut b, &x, &permutation).unwrap();
        assert!(same(&a, &y) && same(&b, &z), "{name}");
        let v = permuted::vjp(&*device, &seeds, &seeds, &y, &z, &x, &permutation).unwrap();
        let of = |i: usize, k: usize| if x[i][0] > 0.0 { seeds[permutation[i]][k] } else { 0.0 };
        assert!(same(&v.x_bar, &made(n, |i, k| 2.0 * x[i][k] * (seeds[i][k] + of(i, k)))), "{name}");
        if checks {
            let error = permuted::run(&*device, &mut a, &mut b, &x, &idx).unwrap_err().to_string();
            assert!(error.contains("injective"), "{name}: {error}");
        }
    }
}

fn body(k: usize) -> Body<f64> {
    let f = |j: usize| ((k * 5 + j * 3) % 7) as f64 / 2.0 - 1.0;
    Body { at: [f(0), f(1), f(2)], by: [[f(3), f(4), f(5)], [f(6), f(7), f(8)]], mass: f(9) }
}

#[test]
fn fields_of_structs() {
    let (one, all, x) = (body(0), [body(1), body(2)], [body(3), body(4)]);
    let squares = |to: [f64; 3], from: &[[f64; 3]]| -> [f64; 3] {
        std::array::from_fn(|k| to[k] + from.iter().map(|v| v[k] * v[k]).sum::<f64>())
    };
    let (mut one_after, mut all_after) = (one.clone(), all.clone());
    one_after.at = squares(one.at, &[one.by[1]]);
    one_after.by[0] = squares(one.by[0], &[one.by[1]]);
    for (b, x) in all_after.iter_mut().zip(&x) {
        b.at = squares(b.at, &[x.by[1], x.at]);
        b.by[1] = squares(b.by[1], &[b.by[0]]);
        b.mass += x.mass;
    }
    for Tested { device, name, .. } in devices() {
        let (mut a, mut b) = (one.clone(), all.clone());
        fields::run(&*device, &mut a, &mut b, &x).unwrap();
        assert_eq!((&a, &b), (&one_after, &all_after), "{name}");
        fields::run_inverse(&*device, &mut a, &mut b, &x).unwrap();
        assert_eq!((&a, &b), (&one, &all), "{name}"); // halves and quarters: exact
    }
    for device in [&Cpu::new() as &dyn Device, &Cpu::with_threads(2).checks(false), &Interpreter::new()] {
        assert!(fields::check_gradient(device, &one, &all, &x).unwrap().passed());
    }
}

#[test]
fn parts_of_locals_and_tuples() {
    let m = [[1.5, -2.0], [0.5, 3.0]];
    let (y, t) = ([1.0, 2.0], ([3.0, 4.0], 5.0));
    let square = |i: usize, k: usize| f64::powi(m[i][k], 2);
    for Tested { device, name, .. } in devices() {
        let (mut a, mut b) = (y, t);
        nested::run(&*device, &mut a, &mut b, &m).unwrap();
        for k in 0..2 {
            // the middle row has both squares of the second row of m
            assert_eq!(a[k], y[k] + (2.0 * square(1, k)).powi(2), "{name}");
            assert_eq!(b.0[k], t.0[k] + square(0, k).powi(2) + square(1, k), "{name}");
        }
        nested::run_inverse(&*device, &mut a, &mut b, &m).unwrap();
        assert_eq!((a, b), (y, t), "{name}");
        let v = nested::vjp(&*device, [1.0, -1.0], ([0.5, 2.0], 0.0), &y, &t, &m).unwrap();
        let bar = |k: usize, a: f64, b: f64| {
            [b * 4.0 * m[0][k].powi(3), a * 16.0 * m[1][k].powi(3) + b * 2.0 * m[1][k]]
        };
        let ([p, q], [r, s]) = (bar(0, 1.0, 0.5), bar(1, -1.0, 2.0));
        assert!(near(v.m_bar.as_flattened(), &[p, r, q, s]), "{name}: {:?}", v.m_bar);
    }
}
