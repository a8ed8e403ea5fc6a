//! Sorts, running sums, selections and histograms against plain loops.
#![allow(clippy::unwrap_used)]

use rev_algebra::sorting::{self, plain};
use rev_cpu::prelude::*;

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (1.0 + 12.9898 * i as f64).sin() * 3.0).collect()
}

fn close(got: &[f64], expected: &[f64]) {
    approx::assert_abs_diff_eq!(got, expected, epsilon = 1e-13);
}

#[test]
fn a_sort_is_undone_exactly() {
    for n in [0, 1, 2, 3, 8, 17, 100] {
        for x in [numbers(n), numbers(n).iter().map(|x| x.round()).collect()] {
            let (mut sorted, mut order) = (x.clone(), vec![0; n]);
            sorting::sort(&mut sorted, &mut order).unwrap();
            assert_eq!(order, plain::argsort(&x));
            assert!(sorted.windows(2).all(|pair| pair[0] <= pair[1]));
            sorting::sort::inverse(&mut sorted, &mut order).unwrap();
            assert_eq!((sorted, order), (x.iter().map(|x| x + 0.0).collect(), vec![0; n]));
        }
    }
}

#[test]
fn gradients_go_through_a_sort() {
    let (x, seed, cpu) = (numbers(9), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], Cpu::new());
    let order = plain::argsort(&x);
    let g = sorting::sort::vjp(&cpu, &seed, &[(); 9], &x, &[0; 9]).unwrap();
    order.iter().zip(seed).for_each(|(i, s)| assert_eq!(g.x_bar[*i], s));
    let g = sorting::sorted::vjp(&cpu, &seed, &[0.0; 9], &x).unwrap();
    order.iter().zip(seed).for_each(|(i, s)| assert_eq!(g.x_bar[*i], s));
    let report = sorting::sort::check_gradient(&cpu, &x, &[0; 9]).unwrap();
    assert!(report.passed(), "{report}");
    let report = sorting::sorted::check_gradient(&cpu, &[0.5; 9], &x).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn permutations() {
    let mut x = [1, 2, 3, 4];
    sorting::permute(&mut x, &[2, 0, 3, 1]).unwrap();
    assert_eq!(x, [3, 1, 4, 2]);
    sorting::permute::inverse(&mut x, &[2, 0, 3, 1]).unwrap();
    assert_eq!(x, [1, 2, 3, 4]);
    assert!(sorting::permute(&mut x, &[2, 0, 2, 1]).unwrap_err().to_string().contains("injective"));
    let report = sorting::permute::check_gradient(&Cpu::new(), &numbers(4), &[2, 0, 3, 1]).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn running() {
    let (cpu, mut x) = (Cpu::new(), numbers(12));
    x[5] = 0.0;
    let start = vec![0.5; 12];
    let mut sums = x.clone();
    sorting::cumulative_sum(&mut sums).unwrap();
    close(&sums, &plain::cumulative_sum(&x));
    sorting::cumulative_sum::inverse(&mut sums).unwrap();
    close(&sums, &x);
    let mut y = vec![0.0; 12];
    sorting::cumulative_product(&mut y, &x).unwrap();
    close(&y, &plain::cumulative_product(&x));
    let mut integers = [0i64; 4];
    sorting::cumulative_product(&mut integers, &[1, 2, 3, 4]).unwrap();
    assert_eq!(integers, [1, 2, 6, 24]);
    let mut y = vec![0.0; 12];
    sorting::running_maximum(&mut y, &x).unwrap();
    assert_eq!(y, plain::running_maximum(&x));
    sorting::running_maximum::inverse(&mut y, &x).unwrap();
    assert_eq!(y, [0.0; 12]);
    for report in [
        sorting::cumulative_sum::check_gradient(&cpu, &x).unwrap(),
        sorting::cumulative_product::check_gradient(&cpu, &start, &x).unwrap(),
        sorting::running_maximum::check_gradient(&cpu, &start, &x).unwrap(),
    ] {
        assert!(report.passed(), "{report}");
    }
    // of equal maxima the first one
    let g = sorting::running_maximum::vjp(&cpu, &[1.0, 2.0, 4.0], &[0.0; 3], &[1.0, 3.0, 3.0]).unwrap();
    assert_eq!(g.x_bar, [1.0, 6.0, 0.0]);
}

#[test]
fn records() {
    for x in
        [vec![], vec![2.5], numbers(10), numbers(100), vec![1.0, 1.0, 3.0, 2.0, 3.0, 4.0], vec![3.0, 2.0]]
    {
        let expected = plain::records(&x);
        let (mut y, mut at, mut count) = (vec![0.0; x.len()], vec![0; x.len()], 0);
        sorting::records(&mut y, &mut at, &mut count, &x).unwrap();
        let found: Vec<_> = at.iter().copied().zip(y.iter().copied()).take(count).collect();
        assert_eq!(found, expected);
        // the last one is the maximum
        assert_eq!(found.last().map(|r| r.1), x.iter().copied().reduce(f64::max));
        sorting::records::inverse(&mut y, &mut at, &mut count, &x).unwrap();
        assert_eq!((y, at, count), (vec![0.0; x.len()], vec![0; x.len()], 0));
    }
    let (x, seed) = ([1.0, 3.0, 2.0, 3.5], [1.0, 2.0, 4.0, 8.0]);
    let g = sorting::records::vjp(&Cpu::new(), &seed, &[(); 4], (), &[0.0; 4], &[0; 4], &0, &x).unwrap();
    assert_eq!((g.y, g.x_bar), (vec![1.0, 3.0, 3.5, 0.0], vec![1.0, 2.0, 0.0, 4.0]));
    assert!(sorting::records(&mut [0.0; 2], &mut [0; 4], &mut 0, &x).is_err());
    // what isn't cleared could mislead the way back
    assert!(sorting::records(&mut [0.0; 4], &mut [3, 0, 0, 0], &mut 1, &[-1.0, 0.0, -1.0, -2.0]).is_err());
}

#[reversible]
fn negative<T: Real>(keep: &mut bool, x: &T) {
    if *x < 0.0 {
        flip(keep);
    }
}

#[reversible]
fn exponential<T: Real>(y: &mut T, x: &T) {
    *y += x.exp();
}

#[reversible]
fn add<T: Real>(sum: &mut T, x: &T) {
    *sum += *x;
}

/// `out += Σ eˣ` over the negative elements.
#[reversible]
fn decayed<T: Real>(out: &mut T, x: &[T]) {
    let mut chosen = vec![T::zero(); x.len()];
    let mut count = 0usize;
    sorting::filter(&mut chosen, &mut count, &x, negative);
    sorting::map_and_fold(&mut out, &chosen[..count], exponential, add);
}

#[test]
fn select_map_and_fold() {
    let (mut y, mut count, x) = ([0.0; 5], 0, [1.0, -0.5, 0.25, -1.0, 3.0]);
    sorting::filter(&mut y, &mut count, &x, negative {}).unwrap();
    assert_eq!((y, count), ([-0.5, -1.0, 0.0, 0.0, 0.0], 2));
    let mut sum = 0.0;
    sorting::map_and_fold(&mut sum, &y[..count], exponential {}, add {}).unwrap();
    close(&[sum], &[0.974_410_100_884_075_8]);
    sorting::filter::inverse(&mut y, &mut count, &x, negative {}).unwrap();
    assert_eq!((y, count), ([0.0; 5], 0));
    let g = decayed::gradient(&Cpu::new(), &x).unwrap();
    close(&[g.value], &[0.974_410_100_884_075_8]);
    close(&g.x, &[0.0, f64::exp(-0.5), 0.0, f64::exp(-1.0), 0.0]);
    let mut small = [0.0];
    assert!(sorting::filter(&mut small, &mut 0, &x, negative {}).is_err());
}

#[test]
fn histograms() {
    let (x, cpu) = (numbers(200), Cpu::with_threads(2));
    let weights: Vec<f64> = (0..200).map(|i| (0.1 * i as f64).cos()).collect();
    let mut bins = [0.0; 7];
    sorting::histogram(&mut bins, &x, &weights, -2.0, 2.5).unwrap();
    close(&bins, &plain::histogram(7, &x, &weights, -2.0, 2.5));
    sorting::histogram::inverse(&mut bins, &x, &weights, -2.0, 2.5).unwrap();
    close(&bins, &[0.0; 7]);
    let mut edges = [0.0; 2];
    sorting::histogram(&mut edges, &[0.0, 0.5, 1.0, -0.1, f64::NAN], &[1.0; 5], 0.0, 1.0).unwrap();
    assert_eq!(edges, [1.0, 1.0]);
    let report = sorting::histogram::check_gradient(&cpu, &bins, &x, &weights, -2.0, 2.5).unwrap();
    assert!(report.passed(), "{report}");
}
