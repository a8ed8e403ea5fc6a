//! Programs that differ from rejected ones by a little, and are right.

use rev_cpu::prelude::*;

/// R0101: other parts, other elements, unknown elements (compared at run time).
#[reversible]
fn other_parts(z: &mut (f64, f64), x: &mut [f64], i: usize, j: usize) {
    z.0 += z.1;
    x[i] += x[i + 1];
    x[i] += x[j];
}

/// R0102, R0103: places that differ.
#[reversible]
fn apart(z: &mut (f64, f64), x: &mut [f64], i: usize) {
    swap(x[i], x[i + 1]);
    other_parts(&mut z, &mut x[4..], 0, 2);
    axpy(&mut x[0..2], &x[2..4], 0.5);
}

#[reversible]
fn axpy(y: &mut [f64], x: &[f64], a: f64) {
    for i in 0..x.len() {
        y[i] += a * x[i];
    }
}

/// R0104: the other target, and a pure pair.
#[reversible]
fn pair(a: &mut f64, b: &mut f64, x: f64) {
    (*a, *b) += (x, x * 2.0);
    (*a, *b) -= x.sin_cos();
}

/// R0205: what is read doesn't change.
#[reversible]
fn running_sum(y: &mut [f64], x: &[f64]) {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i];
        y[i] += s;
    }
}

/// R0205: the ancilla's scope ends before the write.
#[reversible]
fn ends_before(y: &mut f64, x: &mut f64) {
    {
        let mut s = 0.0;
        s += *x;
        *y += s;
    }
    *x += *y;
}

/// R0210: bindings and loop variables may be hidden, and a released ancilla.
#[reversible]
fn hidden(y: &mut f64, x: f64) {
    let n = x * 2.0;
    let n = n + 1.0;
    for i in 0..2 {
        *y += n * i as f64;
    }
    let i = 3.0;
    let mut a = 0.0;
    a += x;
    a -= x;
    release(a);
    let a = i;
    *y += a;
}

/// R0208: released in both branches.
#[reversible]
fn both_branches(y: &mut f64, c: bool) {
    let mut a = 0.0;
    *y += a;
    if c {
        release(a);
    } else {
        release(a);
    }
}

/// R0301, R0303: with a postcondition.
#[reversible]
fn decided(y: &mut f64, k: &mut u32) {
    #[post(*y > 1.0)]
    if *y > 0.0 {
        *y += 1.0;
    } else {
        *y -= 1.0;
    }
    #[post(*k > 0)]
    while *k < 10 {
        inc(k);
        *y += 1.0;
    }
}

/// R0402: factors that can be undone.
#[reversible]
fn factors(y: &mut f64) {
    mul_int(y, 3);
    neg(y);
}

/// R0501, R0502: declared, accumulated, owned.
#[reversible]
fn parallel(a: &mut [f64], total: &mut f64, y: &mut [f64], idx: &[usize], n: usize) {
    #[disjoint(a)]
    for i in par(0..n / 2) {
        swap(a[i], a[n - 1 - i]);
    }
    for i in par(0..n) {
        *total += a[i] * a[0];
        y[idx[i]] += a[i];
    }
    for i in par(0..n - 1) {
        a[i] += y[i + 1];
    }
}

/// R0608: marked as external.
#[reversible]
fn speaks(y: &mut f64) {
    #[external]
    {
        assert!(*y < 1e6, "{}", y);
    }
    *y += 1.0;
}

#[test]
fn places_that_differ() {
    let (mut z, mut x) = ((1.0, 2.0), vec![1.0; 8]);
    apart(&mut z, &mut x, 0).unwrap();
    apart::inverse(&mut z, &mut x, 0).unwrap();
    assert_eq!((z, x), ((1.0, 2.0), vec![1.0; 8]));
    let (mut s, mut c) = (0.0, 0.0);
    pair(&mut s, &mut c, 0.0).unwrap();
    assert_eq!((s, c), (0.0, -1.0));
}

#[test]
fn parallel_loops() {
    let (mut a, mut total, mut y) = (vec![1.0, 2.0, 3.0, 4.0], 0.0, vec![0.0; 4]);
    parallel(&mut a, &mut total, &mut y, &[1, 1, 2, 0], 4).unwrap();
    assert_eq!((total, &y[..]), (40.0, &[1.0, 7.0, 2.0, 0.0][..]));
    assert_eq!(a, [11.0, 5.0, 2.0, 1.0]);
    parallel::inverse(&mut a, &mut total, &mut y, &[1, 1, 2, 0], 4).unwrap();
    assert_eq!((a, total, y), (vec![1.0, 2.0, 3.0, 4.0], 0.0, vec![0.0; 4]));
}

#[test]
fn postconditions() {
    let (mut y, mut k) = (0.5, 0);
    decided(&mut y, &mut k).unwrap();
    assert_eq!((y, k), (11.5, 10));
    decided::inverse(&mut y, &mut k).unwrap();
    assert_eq!((y, k), (0.5, 0));
}

#[test]
fn scopes() {
    let mut y = 0.0;
    hidden(&mut y, 1.0).unwrap();
    assert_eq!(y, 6.0);
    both_branches(&mut y, true).unwrap();
    factors(&mut y).unwrap();
    assert_eq!(y, -18.0);
    speaks(&mut y).unwrap();
    let mut x = 2.0;
    ends_before(&mut y, &mut x).unwrap();
    assert_eq!((x, y), (-13.0, -15.0));
    let mut sums = [0.0; 3];
    running_sum(&mut sums, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(sums, [1.0, 3.0, 6.0]);
}
