//! Loops that lanes leave one after the other: what is alike in all lanes that are left is computed once,
//! and every lane has the bits that it has alone.

#![allow(clippy::unwrap_used)]

use rev_cpu::__private::lanes::Level;
use rev_cpu::prelude::*;

/// `out += 0 + 1 + … + (n - 1)`
#[reversible]
fn triangle(out: &mut i64, n: i64) {
    for i in 0..n {
        *out += i;
    }
}

/// A counter and a weight are alike, the terms differ; afterwards the counters differ too.
#[reversible]
fn series<T: Real>(out: &mut T, n: i64, x: T) {
    let mut offset = 0i64;
    triangle(&mut offset, n);
    let mut k = 0i64;
    let mut weight = T::zero();
    let mut term = T::zero();
    let mut sum = T::zero();
    weight += T::one();
    term += x;
    sum += x;
    #[post(k > 0)]
    while term.abs() > 1e-3 && k < 40 {
        inc(k);
        let divisor = (k + offset + 1) as T;
        unscale_by(weight, divisor);
        scale_by(term, x);
        sum += term * weight;
    }
    *out += sum + weight * (k as T);
}

/// One variable counts all trips, one only some.
#[reversible]
fn some_trips<T: Real>(out: &mut T, n: i64, x: T) {
    let mut k = 0i64;
    let mut some = 0i64;
    #[post(k > 0)]
    while k < n {
        inc(k);
        if k % 3 == n % 2 {
            some += k;
        }
    }
    *out += x * ((100 * k + some) as T);
}

/// Before the second loop the lanes' counters differ, and before the first of a later round too.
#[reversible]
fn rounds<T: Real>(out: &mut T, n: i64, x: T) {
    let mut k = 0i64;
    #[post(k > 0)]
    while k < n {
        inc(k);
        *out += x * (k as T);
    }
    #[post(k < n)]
    while k > 0 {
        dec(k);
        *out += x.sin() * (k as T);
    }
    for j in 0..3i64 {
        let before = if j > 0 && n + j > 1 { n + j - 1 } else { 0 };
        #[post(k > before)]
        while k < n + j {
            inc(k);
            *out += x * x * (k as T);
        }
    }
}

#[reversible]
fn all<T: Real>(out: &mut [T], n: i64, each: &[i64], x: &[T]) {
    for i in par(0..x.len()) {
        series(&mut out[i], n, x[i]);
        series(&mut out[i], each[i], x[i]);
        some_trips(&mut out[i], each[i], x[i]);
        rounds(&mut out[i], n, x[i]);
        rounds(&mut out[i], each[i], x[i]);
        if each[i] > 2 {
            some_trips(&mut out[i], n, x[i]);
        }
    }
}

#[test]
fn lanes_have_the_bits_of_scalars() {
    // full groups, and what is left over of them: too few for lanes, enough for a part of a group, nearly a group
    for count in [3, 14, 31, 34, 53] {
        compare(count);
    }
}

fn compare(count: u32) {
    let x: Vec<f64> = (0..count).map(|i| 0.9 * (f64::from(i) + 0.5).sin()).collect();
    let each: Vec<i64> = (0..count).map(|i| i64::from(i * 7 % 6) - 1).collect();
    let seeds: Vec<f64> = (0..count).map(|i| 1.0 + f64::from(i)).collect();
    let start = vec![0.25; x.len()];
    let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let run = |device: &Cpu| {
        let mut out = start.clone();
        all::run(device, &mut out, 4, &each, &x).unwrap();
        let g = all::vjp(device, &seeds, &start, 4, &each, &x).unwrap();
        let values = bits(&out);
        all::run_inverse(device, &mut out, 4, &each, &x).unwrap();
        (values, bits(&g.out), bits(&g.x_bar), bits(&out))
    };
    let one = Cpu::with_threads(1).checks(false);
    let expected = run(&one.clone().lanes(false));
    for level in Level::ALL {
        let Ok(device) = one.clone().isa(level) else { continue };
        assert_eq!(run(&device), expected, "{count} iterations, {level:?}");
    }
    let checked = run(&one.checks(true));
    assert_eq!((&checked.0, &checked.2), (&expected.0, &expected.2));
}
