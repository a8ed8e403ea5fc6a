//! Patterns of several values, names in one of several patterns, and loops that a pattern ends.

#![allow(clippy::unwrap_used, clippy::needless_range_loop)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use rev::prelude::*;
use rev::Emulator;

const MIDDLE: i64 = 5;

#[derive(Clone, Debug, PartialEq, Reversible)]
enum Force<T: Real> {
    Free,
    Spring(T),
    Drag { linear: T, factor: T },
}

#[reversible]
fn pair<T: Real>(y: &mut T, a: &Force<T>, b: &Force<T>, x: T, n: i64) {
    match (a, b) {
        (Force::Free, Force::Free) => {}
        (Force::Spring(k), Force::Free) | (Force::Free, Force::Spring(k)) => *y += k * x,
        (Force::Spring(k), Force::Spring(l)) => {
            *y += k * l * x;
            *y += k;
        }
        (Force::Drag { linear: c, factor: _ }, Force::Spring(f) | Force::Drag { linear: _, factor: f })
            if n > MIDDLE =>
        {
            *y += c * f * x;
        }
        (Force::Drag { linear, factor: _ }, _) => *y += linear * x * x,
        (_, Force::Drag { linear: _, factor }) => *y -= factor * x,
    }
}

fn pair_plainly(a: &Force<f64>, b: &Force<f64>, x: f64, n: i64) -> f64 {
    match (a, b) {
        (Force::Free, Force::Free) => 0.0,
        (Force::Spring(k), Force::Free) | (Force::Free, Force::Spring(k)) => k * x,
        (Force::Spring(k), Force::Spring(l)) => k * l * x + k,
        (Force::Drag { linear: c, factor: _ }, Force::Spring(f) | Force::Drag { linear: _, factor: f })
            if n > MIDDLE =>
        {
            c * f * x
        }
        (Force::Drag { linear, factor: _ }, _) => linear * x * x,
        (_, Force::Drag { linear: _, factor }) => -factor * x,
    }
}

fn forces() -> [Force<f64>; 4] {
    [Force::Free, Force::Spring(0.5), Force::Spring(-2.0), Force::Drag { linear: 1.5, factor: 0.25 }]
}

/// The same force with its `k`-th number changed, where it has one.
fn changed(force: &Force<f64>, k: usize, h: f64) -> Force<f64> {
    match force {
        Force::Spring(x) if k == 0 => Force::Spring(x + h),
        Force::Drag { linear, factor } if k == 1 => Force::Drag { linear: linear + h, factor: *factor },
        Force::Drag { linear, factor } if k == 2 => Force::Drag { linear: *linear, factor: factor + h },
        other => other.clone(),
    }
}

#[test]
fn two_enums_at_once() {
    fn on<D: Device>(device: &D) {
        let (x, h) = (0.75, 1e-6);
        for a in &forces() {
            for b in &forces() {
                for n in [3, 9] {
                    let plain = pair_plainly(a, b, x, n);
                    let mut y = 1.0;
                    pair::run(device, &mut y, a, b, x, n).unwrap();
                    assert!(abs_diff_eq!(y - 1.0, plain, epsilon = 1e-12), "{a:?} {b:?} {n}: {y}");
                    pair::run_inverse(device, &mut y, a, b, x, n).unwrap();
                    assert_abs_diff_eq!(y, 1.0, epsilon = 1e-12);
                    let g = pair::gradient(device, a, b, x, n).unwrap();
                    let slope = |f: &dyn Fn(f64) -> f64| (f(h) - f(-h)) / (2.0 * h);
                    let close = |a: f64, b: f64| assert_abs_diff_eq!(a, b, epsilon = 1e-7);
                    close(g.x, slope(&|h| pair_plainly(a, b, x + h, n)));
                    let of_a = [g.a.spring_0.get(), g.a.drag_linear.get(), g.a.drag_factor.get()];
                    let of_b = [g.b.spring_0.get(), g.b.drag_linear.get(), g.b.drag_factor.get()];
                    for k in 0..3 {
                        close(of_a[k], slope(&|h| pair_plainly(&changed(a, k, h), b, x, n)));
                        close(of_b[k], slope(&|h| pair_plainly(a, &changed(b, k, h), x, n)));
                    }
                }
            }
        }
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Interpreter::new());
    on(&Emulator::new());
}

/// Numbers, truth values, tuples and arrays of fixed size, as statements and values, in a parallel loop.
#[reversible]
fn many<T: Real>(y: &mut [T], x: &[T], n: &[(i64, bool)], at: &[[i64; 2]]) {
    for i in par(0..y.len()) {
        match (n[i], i % 3) {
            ((0, true), _) => y[i] += x[i],
            ((k @ 1..=4, false), 0 | 1) => y[i] += (k as T) * x[i] * x[i],
            ((k, flag), left) if flag && left == 2 => y[i] -= (k as T) * x[i],
            ((MIDDLE, _), 2) => y[i] += x[i].sin(),
            _ => {}
        }
        y[i] += match at[i] {
            [0, b] | [b, 0] => (b as T) * x[i],
            [1, 1] => x[i].cos(),
            [a, b] => ((a - b) as T) * x[i] * x[i],
        };
        let signs = (x[i] > T::zero(), n[i].0 > 2);
        if let (true, false) = signs {
            y[i] += 1.0;
        }
    }
}

fn many_plainly(i: usize, x: f64, n: (i64, bool), at: [i64; 2]) -> f64 {
    let mut y = match (n, i % 3) {
        ((0, true), _) => x,
        ((k @ 1..=4, false), 0 | 1) => k as f64 * x * x,
        ((k, flag), left) if flag && left == 2 => -(k as f64) * x,
        ((MIDDLE, _), 2) => x.sin(),
        _ => 0.0,
    };
    y += match at {
        [0, b] | [b, 0] => b as f64 * x,
        [1, 1] => x.cos(),
        [a, b] => (a - b) as f64 * x * x,
    };
    if let (true, false) = (x > 0.0, n.0 > 2) {
        y += 1.0;
    }
    y
}

#[test]
fn tuples_and_arrays() {
    fn on<D: Device>(device: &D) {
        let x: Vec<f64> = (0..300).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let n: Vec<(i64, bool)> = (0..300).map(|i| (i * i % 7, i % 2 == 0)).collect();
        let at: Vec<[i64; 2]> = (0..300).map(|i| [i % 3, i * i % 4]).collect();
        let mut y = vec![0.0; 300];
        many::run(device, &mut y, &x, &n, &at).unwrap();
        for i in 0..300 {
            assert!(abs_diff_eq!(y[i], many_plainly(i, x[i], n[i], at[i]), epsilon = 1e-12), "{i}");
        }
        many::run_inverse(device, &mut y, &x, &n, &at).unwrap();
        assert_abs_diff_eq!(y[..], vec![0.0; y.len()][..], epsilon = 1e-12);
        let v = many::vjp(device, &vec![1.0; 300], &y, &x, &n, &at).unwrap();
        let h = 1e-6;
        for i in 0..300 {
            let f = |x| many_plainly(i, x, n[i], at[i]);
            let slope = (f(x[i] + h) - f(x[i] - h)) / (2.0 * h);
            assert!(
                x[i].abs() < 1e-5 || abs_diff_eq!(v.x_bar[i], slope, epsilon = 1e-7),
                "{i} {} {slope}",
                v.x_bar[i]
            );
        }
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Cpu::new().threads(3));
    on(&Interpreter::new());
    on(&Emulator::new());
}

/// Struct fields that a parallel loop writes beside those that are matched.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Cells<T: Real> {
    kinds: Vec<(i64, bool)>,
    sums: Vec<T>,
    total: T,
}

#[reversible]
fn fields<T: Real>(cells: &mut Cells<T>, x: &[T], width: i64) {
    for i in par(0..x.len()) {
        match (cells.kinds[i], width, i + 1) {
            ((0, _), 1..=3, _) => cells.sums[i] += x[i],
            ((k, true), _, 2..) => cells.sums[i] += (k as T) * x[i],
            (_, 7, _) => cells.sums[i] -= x[i],
            _ => {}
        }
    }
}

#[test]
fn fields_that_are_lent_to_a_loop() {
    for device in [&Cpu::new().threads(3) as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let start = Cells {
            kinds: (0..200).map(|i| (i % 4, i % 3 == 0)).collect(),
            sums: vec![0.5; 200],
            total: 0.0,
        };
        for width in [2, 7] {
            let mut cells = start.clone();
            let x: Vec<f64> = (0..200).map(f64::from).collect();
            fields::run(device, &mut cells, &x, width).unwrap();
            for i in 0..200 {
                let added = match (start.kinds[i], width, i + 1) {
                    ((0, _), 1..=3, _) => x[i],
                    ((k, true), _, 2..) => k as f64 * x[i],
                    (_, 7, _) => -x[i],
                    _ => 0.0,
                };
                assert_eq!(cells.sums[i], 0.5 + added, "{i} {width}");
            }
            fields::run_inverse(device, &mut cells, &x, width).unwrap();
            assert_eq!(cells, start);
        }
    }
}

/// The sum of the numbers before the first gap.
#[reversible]
fn before_the_gap<T: Real>(y: &mut T, x: &[Option<T>]) {
    let mut k = 0usize;
    #[compute]
    {
        #[post(k > 0)]
        while let Some(_) = x[k] {
            inc(k);
        }
    }
    for i in 0..k {
        if let Some(v) = x[i] {
            *y += v * v;
        }
    }
}

/// Steps of the Collatz sequence until a number of which a pattern of two values says enough.
#[reversible]
fn until(n: &mut u64, kept: &mut Stack<bool>, count: &mut u64) {
    #[post(*count > 0)]
    while let (2..=u64::MAX, 0..=9) = (*n, *count) {
        let mut half = 0;
        half += *n / 2;
        #[keep(kept)]
        if *n % 2 == 0 {
            *n -= half;
            half -= *n;
        } else {
            half -= *n / 2;
            mul_int(n, 3);
            inc(n);
        }
        release(half);
        inc(count);
    }
}

#[test]
fn loops_that_a_pattern_ends() {
    for device in
        [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new(), &Emulator::new()]
    {
        let x = [Some(1.0), Some(2.0), Some(-4.0), None, Some(8.0)];
        let g = before_the_gap::gradient(device, &x).unwrap();
        assert_eq!((g.value, g.x), (21.0, vec![2.0, 4.0, -8.0, 0.0, 0.0]));
        let (mut y, none) = (0.5, [None::<f64>]);
        before_the_gap::run(device, &mut y, &none).unwrap();
        assert_eq!(y, 0.5);
    }
}

#[test]
fn a_loop_of_two_values() {
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        for (start, end, steps) in [(8, 1, 3), (1, 1, 0), (3, 1, 7), (27, 214, 10)] {
            let (mut n, mut kept, mut count) = (start, Stack::new(), 0);
            until::run(device, &mut n, &mut kept, &mut count).unwrap();
            assert_eq!((n, count, kept.len() as u64), (end, steps, steps));
            until::run_inverse(device, &mut n, &mut kept, &mut count).unwrap();
            assert_eq!((n, count, kept.len()), (start, 0, 0));
        }
    }
}
