//! The conformance list of the language's meaning: each item with its inverse.
//! Derivatives of the same programs are in `conformance_gradients.rs`.

use rev_core::error::Cause;
use rev_cpu::prelude::*;

// 1
#[reversible]
fn product(y: &mut f64, a: f64, b: f64) {
    *y += a * b;
}

#[test]
fn item_01_an_accumulated_product() {
    let mut y = 2.0;
    product(&mut y, 3.0, 5.0).unwrap();
    assert_eq!(y, 17.0);
    product::inverse(&mut y, 3.0, 5.0).unwrap();
    assert_eq!(y, 2.0);
}

// 3
#[reversible]
fn pair<T: Real>(y: &mut T, x: &[T], i: usize, j: usize) {
    *y += x[i] * x[j];
}

#[test]
fn item_03_two_reads_of_one_array() {
    let x = [2.0, 7.0];
    let mut y = 1.0;
    pair(&mut y, &x, 0, 1).unwrap();
    assert_eq!(y, 15.0);
    pair(&mut y, &x, 1, 1).unwrap();
    assert_eq!(y, 64.0);
    pair::inverse(&mut y, &x, 1, 1).unwrap();
    pair::inverse(&mut y, &x, 0, 1).unwrap();
    assert_eq!(y, 1.0);
}

// 4
#[reversible]
fn add_element<T: Real>(x: &mut [T], i: usize, j: usize) {
    x[i] += x[j];
}

#[test]
fn item_04_an_element_added_to_itself_is_an_error() {
    let mut x = [2.0, 7.0];
    add_element(&mut x, 0, 1).unwrap();
    assert_eq!(x, [9.0, 7.0]);
    let error = add_element(&mut x, 1, 1).unwrap_err();
    assert!(matches!(error.cause(), Cause::Alias { .. }), "{error}");
    assert_eq!(x, [9.0, 7.0]);
    assert!(error.to_string().contains("x[i] += x[j]"), "{error}");
}

// 5
#[reversible]
fn visit(order: &mut [i64], count: &mut i64) {
    for i in (1..=4).step_by(2) {
        order[i] += *count + 1;
        *count += 1;
    }
}

#[test]
fn item_05_a_stepped_loop_inverts_exactly() {
    let (mut order, mut count) = ([0; 5], 0);
    visit(&mut order, &mut count).unwrap();
    assert_eq!((order, count), ([0, 1, 0, 2, 0], 2));
    visit::inverse(&mut order, &mut count).unwrap();
    assert_eq!((order, count), ([0; 5], 0));
}

// 6
#[reversible]
fn not_a_number(y: &mut f64, x: f64) {
    let mut a = 0.0;
    a += x / x;
    *y += a;
    release(a);
}

#[test]
fn item_06_nan_never_passes_a_release() {
    let mut y = 1.0;
    let error = not_a_number(&mut y, 0.0).unwrap_err();
    assert!(matches!(error.cause(), Cause::Release { found, .. } if found == "NaN"), "{error}");
}

// 8
#[reversible]
fn running_sum<T: Real>(y: &mut [T], x: &[T]) {
    let mut s = T::zero();
    for i in 0..x.len() {
        s += x[i];
        y[i] += s;
    }
}

#[test]
fn item_08_a_running_sum_is_uncomputed() {
    let (mut y, x) = ([0.0; 4], [1.0, 2.0, 3.0, 4.0]);
    running_sum(&mut y, &x).unwrap();
    assert_eq!(y, [1.0, 3.0, 6.0, 10.0]);
    running_sum::inverse(&mut y, &x).unwrap();
    assert_eq!(y, [0.0; 4]);
}

// 9
#[reversible]
fn rfib(out: &mut i64, n: i64) {
    if n <= 1 {
        *out += n;
    } else {
        rfib(&mut *out, n - 1);
        rfib(&mut *out, n - 2);
    }
}

/// The first Fibonacci number's index that is at least `z`.
#[reversible]
fn rfibn(n: &mut i64, z: i64) {
    let mut f = 0;
    rfib(&mut f, *n);
    #[post(*n != 0)]
    while f < z {
        rfib::inverse(&mut f, *n);
        *n += 1;
        rfib(&mut f, *n);
    }
    rfib::inverse(&mut f, *n);
    release(f);
}

#[test]
fn item_09_the_first_fibonacci_number_of_a_size() {
    let mut n = 0;
    rfibn(&mut n, 100).unwrap();
    assert_eq!(n, 12);
    rfibn::inverse(&mut n, 100).unwrap();
    assert_eq!(n, 0);
}

// 12
#[reversible]
fn axpy<T: Real>(y: &mut [T], a: T, x: &[T]) {
    for i in par(0..y.len()) {
        y[i] += a * x[i];
    }
}

#[test]
fn item_12_a_scalar_read_by_every_iteration() {
    let x: Vec<f64> = (0..1000).map(f64::from).collect();
    let mut y = vec![1.0; 1000];
    axpy(&mut y, 3.0, &x).unwrap();
    assert!(y.iter().zip(&x).all(|(y, x)| *y == 1.0 + 3.0 * x));
    axpy::inverse(&mut y, 3.0, &x).unwrap();
    assert!(y.iter().all(|y| *y == 1.0));
}

// 13
#[reversible]
fn scatter<T: Real>(y: &mut [T], idx: &[usize], x: &[T]) {
    for i in par(0..x.len()) {
        y[idx[i]] += x[i];
    }
}

#[reversible]
fn gather<T: Real>(x: &mut [T], idx: &[usize], y: &[T]) {
    for i in par(0..x.len()) {
        x[i] += y[idx[i]];
    }
}

#[test]
fn item_13_scatter_and_gather() {
    let idx = [2, 0, 2, 2];
    let mut y = [0.0; 3];
    scatter(&mut y, &idx, &[1.0, 10.0, 100.0, 1000.0]).unwrap();
    assert_eq!(y, [10.0, 0.0, 1101.0]);
    scatter::inverse(&mut y, &idx, &[1.0, 10.0, 100.0, 1000.0]).unwrap();
    assert_eq!(y, [0.0; 3]);
    let mut x = [0.0; 4];
    gather(&mut x, &idx, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(x, [3.0, 1.0, 3.0, 3.0]);
    let error = gather(&mut x, &[0, 1, 3, 0], &[1.0, 2.0, 3.0]).unwrap_err();
    assert!(matches!(error.cause(), Cause::IndexOutOfRange { .. }), "{error}");
}

// 15
#[reversible]
fn reverse<T: Real>(a: &mut [T]) {
    #[disjoint(a)]
    for i in par(0..a.len() / 2) {
        swap(a[i], a[a.len() - 1 - i]);
    }
}

#[test]
fn item_15_declared_disjoint_swaps() {
    let mut a = [1.0, 2.0, 3.0, 4.0, 5.0];
    reverse(&mut a).unwrap();
    assert_eq!(a, [5.0, 4.0, 3.0, 2.0, 1.0]);
    reverse::inverse(&mut a).unwrap();
    assert_eq!(a, [1.0, 2.0, 3.0, 4.0, 5.0]);
}

// 16
#[reversible]
fn add_all<T: Real>(to: &mut [T], from: &[T]) {
    for i in 0..from.len() {
        to[i] += from[i];
    }
}

#[reversible]
fn fold_halves<T: Real>(a: &mut [T], m: usize, n: usize) {
    add_all(&mut a[0..m], &a[n..a.len()]);
}

#[test]
fn item_16_two_slices_of_one_array() {
    let mut a = [1.0, 2.0, 10.0, 20.0];
    fold_halves(&mut a, 2, 2).unwrap();
    assert_eq!(a, [11.0, 22.0, 10.0, 20.0]);
    fold_halves::inverse(&mut a, 2, 2).unwrap();
    assert_eq!(a, [1.0, 2.0, 10.0, 20.0]);
    let error = fold_halves(&mut a, 3, 2).unwrap_err();
    assert!(matches!(error.cause(), Cause::Alias { .. }), "{error}");
    assert_eq!(a, [1.0, 2.0, 10.0, 20.0]);
}

// 17
#[test]
fn item_17_recursion() {
    let mut out = 0;
    rfib(&mut out, 10).unwrap();
    assert_eq!(out, 55);
    rfib::inverse(&mut out, 10).unwrap();
    assert_eq!(out, 0);
}

// 18
/// Halves `n` until nothing is left, keeping the bits that fall off.
#[reversible]
fn shift_out(n: &mut u64, bits: &mut Stack<u64>, count: &mut usize) {
    #[post(*count != 0)]
    while *n != 0 {
        let mut half = 0;
        let mut bit = 0;
        half += *n >> 1;
        bit += *n & 1;
        *n -= half + half + bit;
        swap(*n, half);
        push(*bits, bit);
        release(half);
        release(bit);
        *count += 1;
    }
}

#[test]
fn item_18_a_stack_across_a_loop_of_unknown_length() {
    let (mut n, mut bits, mut count) = (11, Stack::new(), 0);
    shift_out(&mut n, &mut bits, &mut count).unwrap();
    assert_eq!((n, count), (0, 4));
    shift_out::inverse(&mut n, &mut bits, &mut count).unwrap();
    assert_eq!((n, count, bits.len()), (11, 0, 0));
}
