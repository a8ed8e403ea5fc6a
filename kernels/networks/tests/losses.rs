//! Losses and attention against plain Rust.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/support/hessian.rs"]
mod pushed;
#[path = "support/numbers.rs"]
mod support;

use approx::assert_abs_diff_eq;
use ndarray::{arr1, arr2, Array1, ArrayView1};
use pushed::hessian;
use rev_cpu::prelude::*;
use rev_networks::attention::{attention, plain::attention as plain_attention};
use rev_networks::losses::*;
use support::{apart, numbers};

#[test]
fn probabilities_of_scores() {
    for x in [arr1(&[0.3]), arr1(&[1000.0, 1000.5, -3.0]), 5.0 * numbers(10, 1), 50.0 * numbers(100, 2)] {
        let before = numbers(x.len(), 3);
        let mut y = before.clone();
        softmax(y.view_mut(), x.view()).unwrap();
        assert!(apart(&(&y - &before), &plain::softmax(x.view())) < 1e-14);
        softmax::inverse(y.view_mut(), x.view()).unwrap();
        assert!(apart(&y, &before) < 1e-14);
    }
    let x: Array1<f64> = 2.0 * numbers(7, 1);
    let report = softmax::check_gradient(&Cpu::new(), Array1::zeros(7).view(), x.view()).unwrap();
    assert!(report.passed(), "{report}");
    let mut at = 0;
    largest(&mut at, arr1(&[1.0, 3.0, 3.0, 2.0]).view()).unwrap();
    assert_eq!(at, 1);
    assert_eq!(plain::largest(arr1(&[1.0, 3.0, 3.0, 2.0]).view()), 1);
}

#[test]
fn cross_entropies() {
    for columns in [10, 100] {
        let x = 4.0 * numbers((3, columns), 1);
        let weights = numbers((3, columns), 2).mapv(f64::exp);
        let p = &weights / &weights.sum_axis(ndarray::Axis(1)).insert_axis(ndarray::Axis(1));
        let expected = plain::cross_entropy(x.view(), p.view());
        let g = cross_entropy::gradient(&Cpu::new(), x.view(), p.view()).unwrap();
        assert_abs_diff_eq!(g.value, expected, epsilon = 1e-12);
        // softmax(x) - p, of each of three
        for n in 0..3 {
            let slope = (plain::softmax(x.row(n)) - p.row(n)) / 3.0;
            assert!(apart(&g.x.row(n), &slope.view()) < 1e-14);
        }
        let report = cross_entropy::check_gradient(&Cpu::new(), &0.5, x.view(), p.view()).unwrap();
        assert!(report.passed(), "{report}");
        assert!(cross_entropy::check_inverse(&Cpu::new(), &0.5, x.view(), p.view()).unwrap().passed());
    }
    // far beyond what e^x can hold
    let x = arr2(&[[2000.0, -2000.0]]);
    let g = cross_entropy::gradient(&Cpu::new(), x.view(), arr2(&[[0.0, 1.0]]).view()).unwrap();
    assert_eq!((g.value, g.x), (4000.0, arr2(&[[1.0, -1.0]])));
}

fn same(found: &[Vec<f64>], expected: impl Fn(usize, usize) -> f64) {
    for (i, row) in found.iter().enumerate() {
        assert_eq!(row.len(), found.len());
        row.iter().enumerate().for_each(|(j, h)| assert_abs_diff_eq!(*h, expected(i, j), epsilon = 1e-13));
    }
}

fn unit(i: usize, j: usize) -> f64 {
    f64::from(u8::from(i == j))
}

/// Of the mean of `N` cross entropies, with `s = softmax(x)` and the sum `P` of weights that are no probabilities: `P (diag(s) - s sᵀ)/N` by the scores
/// of a row, `s - 1` and `s` by a score and a weight, 0 by two weights.
#[test]
fn second_derivatives_of_cross_entropies() {
    let (rows, columns) = (2, 4);
    let (x, p) = (3.0 * numbers((rows, columns), 1), numbers((rows, columns), 2));
    let s: Vec<_> = x.outer_iter().map(plain::softmax).collect();
    let of_row = |n: usize, i: usize, j: usize| match [i, j].map(|k| k / (rows * columns)) {
        [0, 0] => p.row(n).sum() * s[n][i % columns] * (unit(i, j) - s[n][j % columns]),
        [1, 1] => 0.0,
        _ => s[n][i.min(j) % columns] - unit(i % columns, j % columns),
    };
    let h = hessian!(cross_entropy, x, p);
    assert_eq!(h.len(), 2 * rows * columns);
    same(&h, |i, j| {
        let [n, m] = [i, j].map(|k| k / columns % rows);
        if n == m {
            of_row(n, i, j) / rows as f64
        } else {
            0.0
        }
    });
}

#[reversible]
fn weighted<T: Real>(out: &mut T, x: ArrayView1<T>, w: ArrayView1<T>) {
    let mut s: Array1<T> = zeros(x.len());
    softmax(&mut s, x);
    for c in 0..x.len() {
        *out += w[c] * s[c];
    }
}

/// Of `w·s`, with `s = softmax(x)`: `s_i (δ_ij - s_j)(w_i - w·s) - s_i s_j (w_j - w·s)` by two scores, `s_i (δ_ij - s_j)` by a score and a weight.
#[test]
fn second_derivatives_of_softmax() {
    let n = 5;
    let (x, w): (Array1<f64>, Array1<f64>) = (2.0 * numbers(n, 1), numbers(n, 2));
    let s = plain::softmax(x.view());
    let from_mean = &w - w.dot(&s);
    let slope = |i: usize, j: usize| s[i] * (unit(i, j) - s[j]);
    let h = hessian!(weighted, x, w);
    assert_eq!(h.len(), 2 * n);
    same(&h, |i, j| match [i / n, j / n] {
        [0, 0] => slope(i, j) * from_mean[i] - s[i] * s[j] * from_mean[j],
        [1, 1] => 0.0,
        _ => slope(i % n, j % n),
    });
}

#[test]
fn cross_entropy_with_labels() {
    let (x, labels) = (4.0 * numbers((5, 6), 1), [0, 3, 5, 2, 2]);
    let p = ndarray::Array2::from_shape_fn((5, 6), |(n, c)| f64::from(u8::from(labels[n] == c)));
    let (mut loss, mut found) = (0.25, [0; 5]);
    cross_entropy_of_labels(&mut loss, &mut found, x.view(), &labels).unwrap();
    assert_abs_diff_eq!(loss - 0.25, plain::cross_entropy(x.view(), p.view()), epsilon = 1e-13);
    assert_eq!(found.to_vec(), x.outer_iter().map(plain::largest).collect::<Vec<_>>());
    cross_entropy_of_labels::inverse(&mut loss, &mut found, x.view(), &labels).unwrap();
    assert_abs_diff_eq!(loss, 0.25, epsilon = 1e-14);
    assert_eq!(found, [0; 5]);
    let report =
        cross_entropy_of_labels::check_gradient(&Cpu::new(), &0.0, &found, x.view(), &labels).unwrap();
    assert!(report.passed(), "{report}");
    let error = cross_entropy_of_labels(&mut loss, &mut found, x.view(), &[0, 6, 0, 0, 0]).unwrap_err();
    assert!(error.to_string().contains("labels"), "{error}");
}

#[test]
fn attention_to_keys() {
    let (q, k, v) = (numbers((5, 3), 1), 3.0 * numbers((4, 3), 2), numbers((4, 2), 3));
    let before = numbers((5, 2), 4);
    for causal in [false, true] {
        let mut y = before.clone();
        attention(y.view_mut(), q.view(), k.view(), v.view(), causal).unwrap();
        let expected = plain_attention(q.view(), k.view(), v.view(), causal);
        assert!(apart(&(&y - &before), &expected) < 1e-14);
        attention::inverse(y.view_mut(), q.view(), k.view(), v.view(), causal).unwrap();
        assert!(apart(&y, &before) < 1e-14);
        let (q, k, v) = (q.view(), k.view(), v.view());
        let report = attention::check_gradient(&Cpu::new(), before.view(), q, k, v, causal).unwrap();
        assert!(report.passed(), "{report}");
    }
    // the first of causal queries sees one key only
    let mut y = before.clone();
    attention(y.view_mut(), q.view(), k.view(), v.view(), true).unwrap();
    assert!(apart(&(&y - &before).row(0), &v.row(0)) < 1e-14);
}
