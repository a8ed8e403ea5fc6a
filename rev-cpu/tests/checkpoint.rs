//! Loops with `#[checkpoint]`, whose steps lose what was there before: against the same loops in plain Rust, and differences.

#![allow(clippy::unwrap_used)]

use approx::assert_relative_eq;
use approx::relative_eq;
use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

/// Steps of the logistic map `x ← r x (1 - x)`.
#[reversible]
fn logistic<T: Real>(loss: &mut T, start: T, r: T, steps: usize, every: usize) {
    let mut x = T::zero();
    x += start;
    #[checkpoint(every = every)]
    for _ in 0..steps {
        let mut product = T::zero();
        product += r * x;
        x = product * (1.0 - x);
    }
    *loss += x * x;
}

fn logistic_in_rust(start: f64, r: f64, steps: usize) -> f64 {
    let x = (0..steps).fold(start, |x, _| r * x * (1.0 - x));
    x * x
}

/// The derivative of a function of one number, by differences of fourth order.
fn slope(f: impl Fn(f64) -> f64) -> f64 {
    let h = 1e-4;
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

fn devices() -> Vec<Box<dyn Device>> {
    vec![Box::new(Cpu::new()), Box::new(Cpu::new().checks(false)), Box::new(Interpreter::new())]
}

#[test]
fn a_lossy_loop_is_a_loop() {
    for device in devices() {
        for steps in [0, 1, 2, 9, 10, 11, 40] {
            for every in [1, 3, 10, 50] {
                let g = logistic::gradient(&*device, 0.3, 2.6, steps, every).unwrap();
                let at = |dx: f64, dr: f64| logistic_in_rust(0.3 + dx, 2.6 + dr, steps);
                assert_relative_eq!(g.value, at(0.0, 0.0), max_relative = 1e-14);
                assert_relative_eq!(g.start, slope(|h| at(h, 0.0)), epsilon = 1e-9, max_relative = 1e-7);
                assert_relative_eq!(g.r, slope(|h| at(0.0, h)), epsilon = 1e-9, max_relative = 1e-7);
            }
        }
        let report = logistic::check_inverse(&*device, &0.25, 0.3, 2.6, 17, 4).unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn segments_have_a_step_at_least() {
    let mut loss = 0.0;
    let error = logistic(&mut loss, 0.3, 2.6, 5, 0).unwrap_err().to_string();
    assert!(error.contains("step"), "{error}");
}

/// Variables of all kinds: two that are renewed one after the other, one twice, one in a branch, a tuple, an integer, a truth
/// value, and arrays whose elements are swept in place.
#[reversible]
fn relaxed<T: Real>(loss: &mut T, u0: &[T], k: T, from: i64, to: i64) {
    let mut u = vec![T::zero(); u0.len()];
    let mut x: T = T::zero();
    let mut v: T = T::zero();
    let mut pair: (T, i64) = (T::zero(), 0);
    let mut count = 0i64;
    let mut odd = false;
    let mut fixed = [T::zero(); 2];
    for i in 0..u0.len() {
        u[i] += u0[i];
    }
    x += u0[0];
    #[checkpoint]
    for t in from..to {
        v = 0.9 * v - k * x;
        x = x + 0.1 * v;
        x = 0.5 * (x + x.sin());
        for i in 1..u.len() - 1 {
            u[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1] + 0.01 * x;
        }
        if t % 2 == 1 {
            pair.0 = pair.0 * 0.5 + x;
            count = count * 2 + t;
        } else {
            fixed[1] = fixed[0] + u[1];
        }
        fixed[0] = fixed[1] * k;
        pair.1 += t;
        odd = !odd;
    }
    *loss += x * v + pair.0 + (pair.1 as T) + (count as T) * k + fixed[0] * fixed[1];
    if odd {
        *loss += 1.0;
    }
    for i in 0..u.len() {
        *loss += u[i] * u[i];
    }
}

fn relaxed_in_rust(u0: &[f64], k: f64, from: i64, to: i64) -> f64 {
    let mut u = u0.to_vec();
    let (mut x, mut v, mut pair, mut count, mut odd, mut fixed) =
        (u0[0], 0.0, (0.0, 0), 0i64, false, [0.0; 2]);
    for t in from..to {
        v = 0.9 * v - k * x;
        x += 0.1 * v;
        x = 0.5 * (x + x.sin());
        for i in 1..u.len() - 1 {
            u[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1] + 0.01 * x;
        }
        if t % 2 == 1 {
            pair.0 = pair.0 * 0.5 + x;
            count = count * 2 + t;
        } else {
            fixed[1] = fixed[0] + u[1];
        }
        fixed[0] = fixed[1] * k;
        pair.1 += t;
        odd = !odd;
    }
    let of_arrays: f64 = u.iter().map(|u| u * u).sum();
    x * v
        + pair.0
        + pair.1 as f64
        + count as f64 * k
        + fixed[0] * fixed[1]
        + f64::from(u8::from(odd))
        + of_arrays
}

#[test]
fn all_that_a_step_changes_is_kept() {
    let u0 = [0.7, -0.4, 1.1, 0.2, -0.9];
    for device in devices() {
        for (from, to) in [(-3, 12), (0, 1), (5, 5), (5, 2)] {
            let g = relaxed::gradient(&*device, &u0, 0.8, from, to).unwrap();
            let at = |i: usize, h: f64, k: f64| {
                let mut u = u0;
                u[i] += h;
                relaxed_in_rust(&u, k, from, to)
            };
            assert_relative_eq!(g.value, at(0, 0.0, 0.8), max_relative = 1e-13);
            assert_relative_eq!(g.k, slope(|h| at(0, 0.0, 0.8 + h)), epsilon = 1e-8, max_relative = 1e-8);
            for i in 0..u0.len() {
                assert_relative_eq!(g.u0[i], slope(|h| at(i, h, 0.8)), epsilon = 1e-8, max_relative = 1e-8);
            }
        }
        let report = relaxed::check_inverse(&*device, &0.5, &u0, 0.8, 0, 7).unwrap();
        assert!(report.passed(), "{report}");
    }
}

/// Loops in loops: each state of the outer one is the result of an inner one.
#[reversible]
fn nested<T: Real>(loss: &mut T, start: T, r: T) {
    let mut x: T = T::zero();
    x += start;
    #[checkpoint(every = 2)]
    for _ in 0..5 {
        let mut y: T = T::zero();
        y += x;
        #[checkpoint(every = 3)]
        for _ in 0..8 {
            y = r * y * (1.0 - y);
        }
        x = y;
    }
    *loss += x * x;
}

#[test]
fn loops_in_loops() {
    for device in devices() {
        let g = nested::gradient(&*device, 0.3, 2.6).unwrap();
        let at = |dx: f64, dr: f64| logistic_in_rust(0.3 + dx, 2.6 + dr, 40);
        assert_relative_eq!(g.value, at(0.0, 0.0), max_relative = 1e-13);
        assert_relative_eq!(g.r, slope(|h| at(0.0, h)), max_relative = 1e-8);
    }
}

/// A machine with registers: what step `t` does is said by the numbers `ops[t]`, `a[t]`, `b[t]`, so that data are programs of
/// assignments to elements, numbers, parts of tuples, complex numbers and truth values.
#[reversible]
fn machine<T: Real>(loss: &mut T, start: &[T], ops: &[u8], a: &[usize], b: &[usize], every: usize) {
    let mut r = vec![T::zero(); start.len()];
    let mut marked = vec![(T::zero(), false); start.len()];
    let mut turned = vec![Complex::<T>::zero(); start.len()];
    let mut x: T = T::zero();
    let mut odd = false;
    for i in 0..start.len() {
        r[i] += start[i];
        turned[i].re += start[i];
    }
    #[checkpoint(every = every)]
    for t in 0..ops.len() {
        let mut sum = T::zero();
        sum += r[b[t]] + x;
        x = 0.5 * x + 0.25 * sum.sin();
        odd = odd ^ (ops[t] > 2);
        if ops[t] == 0 {
            turned[a[t]].re = x * turned[a[t]].im + 0.1;
        } else if ops[t] == 1 {
            marked[a[t]].0 = marked[a[t]].0 * x - turned[b[t]].re;
            marked[a[t]].1 = !marked[a[t]].1;
        } else if ops[t] == 2 {
            for i in 0..2 {
                turned[a[t]].im = turned[b[t]].im * 0.5 + x * (i as T);
            }
        }
        swap(turned[a[t]], turned[b[t]]);
        swap(marked[a[t]].0, turned[b[t]].im);
    }
    for i in 0..start.len() {
        *loss += marked[i].0 * turned[i].re + turned[i].im * if marked[i].1 { x } else { r[i] };
    }
    if odd {
        *loss += 3.0;
    }
}

fn machine_in_rust(start: &[f64], ops: &[u8], a: &[usize], b: &[usize]) -> f64 {
    let (r, mut marked) = (start, vec![(0.0, false); start.len()]);
    let mut turned: Vec<(f64, f64)> = start.iter().map(|v| (*v, 0.0)).collect();
    let (mut x, mut odd) = (0.0f64, false);
    for ((&op, &a), &b) in ops.iter().zip(a).zip(b) {
        x = 0.5 * x + 0.25 * (r[b] + x).sin();
        odd ^= op > 2;
        match op {
            0 => turned[a].0 = x * turned[a].1 + 0.1,
            1 => marked[a] = (marked[a].0 * x - turned[b].0, !marked[a].1),
            2 => (0..2).for_each(|i| turned[a].1 = turned[b].1 * 0.5 + x * f64::from(i)),
            _ => {}
        }
        turned.swap(a, b);
        std::mem::swap(&mut marked[a].0, &mut turned[b].1);
    }
    let of = |i: usize| marked[i].0 * turned[i].0 + turned[i].1 * if marked[i].1 { x } else { r[i] };
    (0..start.len()).map(of).sum::<f64>() + if odd { 3.0 } else { 0.0 }
}

#[test]
fn random_steps_are_those_of_rust() {
    let start = [0.7, -0.4, 1.1, 0.2];
    // Knuth's generator modulo 2⁶⁴
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for round in 0..60 {
        let steps = below(25) as usize;
        let every = 1 + below(7) as usize;
        let ops: Vec<u8> = (0..steps).map(|_| below(4) as u8).collect();
        let [a, b] = [0, 1].map(|_| (0..steps).map(|_| below(4) as usize).collect::<Vec<_>>());
        for device in devices() {
            let g = machine::gradient(&*device, &start, &ops, &a, &b, every).unwrap();
            let at = |i: usize, h: f64| {
                let mut start = start;
                start[i] += h;
                machine_in_rust(&start, &ops, &a, &b)
            };
            assert_relative_eq!(g.value, at(0, 0.0), epsilon = 1e-13, max_relative = 1e-13);
            for i in 0..start.len() {
                let slope = slope(|h| at(i, h));
                assert!(
                    relative_eq!(g.start[i], slope, epsilon = 1e-8, max_relative = 1e-8),
                    "round {round}: {} {slope}",
                    g.start[i]
                );
            }
        }
    }
}
