//! The statements of the language, one by one: what each does, and that its inverse undoes it, on the
//! CPU with and without checks and on the interpreter.

use approx::assert_abs_diff_eq;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

fn devices() -> [Box<dyn Device>; 3] {
    [Box::new(Cpu::new()), Box::new(Cpu::new().checks(false)), Box::new(Interpreter::new())]
}

#[reversible]
fn updates(y: &mut f64, x: f64, k: &mut u32, b: &mut bool, n: u32) {
    *y += x * 2.0;
    *y -= x;
    y += 1.0;
    *k ^= n & 6;
    *k += n;
    *b ^= n > 3;
}

#[test]
fn updates_accumulate() {
    for device in devices() {
        let (mut y, mut k, mut b) = (1.0, 5, true);
        updates::run(&*device, &mut y, 3.0, &mut k, &mut b, 4).unwrap();
        assert_eq!((y, k, b), (5.0, 5, false));
        updates::run_inverse(&*device, &mut y, 3.0, &mut k, &mut b, 4).unwrap();
        assert_eq!((y, k, b), (1.0, 5, true));
    }
}

#[pure]
fn both<T: Real>(x: T) -> (T, T) {
    (x * x, x + 1.0)
}

#[reversible]
fn views(y: &mut f64, s: &mut f64, c: &mut f64, z: &mut Complex<f64>, x: f64) {
    -*y += x;
    (*s, *c) += (x, x * x);
    (*s, *c) += both(x);
    (s, c) -= x.sin_cos();
    conj(z) += Complex::new(x, 1.0);
    z.re += x;
    z.im -= 0.5;
}

#[test]
fn views_are_targets() {
    for device in devices() {
        let (mut y, mut s, mut c, mut z) = (0.0, 0.0, 0.0, Complex::new(0.0, 0.0));
        views::run(&*device, &mut y, &mut s, &mut c, &mut z, 2.0).unwrap();
        assert_eq!(y, -2.0);
        assert_eq!((s, c), (6.0 - 2f64.sin(), 7.0 - 2f64.cos()));
        assert_eq!(z, Complex::new(4.0, -1.5));
        views::run_inverse(&*device, &mut y, &mut s, &mut c, &mut z, 2.0).unwrap();
        assert_eq!((y, z), (0.0, Complex::new(0.0, 0.0)));
        assert_abs_diff_eq!(s, 0.0, epsilon = 1e-15);
        assert_abs_diff_eq!(c, 0.0, epsilon = 1e-15);
    }
}

#[reversible]
fn instructions(a: &mut f64, b: &mut f64, k: &mut i64, f: &mut bool, z: &mut Complex<f64>, x: &mut [f64]) {
    swap(a, b);
    neg(a);
    inc(k);
    dec(&mut *b);
    flip(f);
    conj(z);
    inv(x[0]);
    rot(x[1], x[2], std::f64::consts::FRAC_PI_2);
    irot(x[1], x[2], std::f64::consts::PI);
    hadamard(x[3], x[4]);
    mul_int(k, 3);
    mul_int(a, -2);
    div_int(x[5], 4);
    swap(z.re, z.im);
}

#[test]
fn instructions_undo_each_other() {
    for device in devices() {
        let (mut a, mut b, mut k, mut f) = (1.0, 2.0, 4, false);
        let mut z = Complex::new(1.0, 2.0);
        let start = [4.0, 1.0, 0.0, 1.0, 3.0, 8.0];
        let mut x = start;
        instructions::run(&*device, &mut a, &mut b, &mut k, &mut f, &mut z, &mut x).unwrap();
        assert_eq!((a, b, k, f, z), (4.0, 0.0, 15, true, Complex::new(-2.0, 1.0)));
        assert_eq!((x[0], x[5]), (0.25, 2.0));
        assert_abs_diff_eq!(x[1], 0.0, epsilon = 1e-15);
        assert_abs_diff_eq!(x[2], -1.0, epsilon = 1e-15);
        assert_abs_diff_eq!(x[3], 8f64.sqrt(), epsilon = 1e-15);
        assert_abs_diff_eq!(x[4], -2f64.sqrt(), epsilon = 1e-15);
        instructions::run_inverse(&*device, &mut a, &mut b, &mut k, &mut f, &mut z, &mut x).unwrap();
        assert_eq!((a, b, k, f, z), (1.0, 2.0, 4, false, Complex::new(1.0, 2.0)));
        assert_abs_diff_eq!(x[..], start[..], epsilon = 1e-14);
    }
}

#[reversible]
fn bindings(y: &mut f64, x: &[f64]) {
    let n = x.len();
    let (first, last) = (x[0], x[n - 1]);
    let (square, _) = both(first);
    let last: f64 = last * 10.0;
    *y += square + last;
}

#[test]
fn bindings_name_values() {
    for device in devices() {
        let mut y = 0.0;
        bindings::run(&*device, &mut y, &[3.0, 5.0]).unwrap();
        assert_eq!(y, 59.0);
        bindings::run_inverse(&*device, &mut y, &[3.0, 5.0]).unwrap();
        assert_eq!(y, 0.0);
    }
}

#[reversible]
fn ancillas(y: &mut f64, x: &[f64]) {
    let mut sum = 0.0;
    let mut count = 0u32;
    let (mut low, mut high) = (0.0, 1.0);
    let mut squares = vec![0.0; x.len()];
    for i in 0..x.len() {
        sum += x[i];
        inc(count);
        squares[i] += x[i] * x[i];
        low -= x[i];
        high += x[i];
    }
    for i in 0..squares.len() {
        *y += squares[i];
    }
    *y += sum * count as f64 + low * high;
}

#[reversible]
fn released(y: &mut f64, x: f64) {
    let mut a = 1.0;
    a += x;
    *y += a * a;
    release(a, x + 1.0);
    let mut a = 0.0;
    a += x;
    *y += a;
    a -= x;
    release(a);
}

#[test]
fn ancillas_return_to_their_first_value() {
    for device in devices() {
        let mut y = 0.0;
        ancillas::run(&*device, &mut y, &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(y, 14.0 + 18.0 - 42.0);
        ancillas::run_inverse(&*device, &mut y, &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(y, 0.0);
        released::run(&*device, &mut y, 2.0).unwrap();
        assert_eq!(y, 11.0);
        released::run_inverse(&*device, &mut y, 2.0).unwrap();
        assert_eq!(y, 0.0);
    }
}

#[reversible]
fn branches(y: &mut f64, k: &mut i32, x: f64) {
    if x > 1.0 {
        *y += x;
    } else if x > 0.0 {
        *y += 10.0;
    } else {
        *y += 100.0;
    }
    #[post(*k > 10)]
    if *k > 0 {
        *k += 10;
    } else {
        *k -= 10;
    }
}

#[test]
fn branches_with_and_without_postconditions() {
    for device in devices() {
        for (x, k, expected) in [(2.0, 1, (2.0, 11)), (0.5, 0, (10.0, -10)), (-1.0, 9, (100.0, 19))] {
            let (mut y, mut k_now) = (0.0, k);
            branches::run(&*device, &mut y, &mut k_now, x).unwrap();
            assert_eq!((y, k_now), expected);
            branches::run_inverse(&*device, &mut y, &mut k_now, x).unwrap();
            assert_eq!((y, k_now), (0.0, k));
        }
    }
}

#[reversible]
fn powers(y: &mut f64, count: &mut u32, x: f64) {
    #[post(*count > 0)]
    while *count < 5 {
        inc(count);
        let power = x.powi(*count as i32);
        *y += power;
    }
}

#[test]
fn while_loops() {
    for device in devices() {
        let (mut y, mut count) = (0.0, 0);
        powers::run(&*device, &mut y, &mut count, 2.0).unwrap();
        assert_eq!((y, count), (62.0, 5));
        powers::run_inverse(&*device, &mut y, &mut count, 2.0).unwrap();
        assert_eq!((y, count), (0.0, 0));
    }
}

#[reversible]
fn visits(order: &mut [usize], at: &mut usize, n: usize) {
    for i in 0..n {
        order[*at] += i;
        inc(at);
    }
    for i in (1..=n).rev() {
        order[*at] += i;
        inc(at);
    }
    for i in (1..=n).step_by(2) {
        order[*at] += i;
        inc(at);
    }
    for i in (0..n).rev().step_by(2) {
        order[*at] += i;
        inc(at);
    }
    for i in (0..n).step_by(2).rev() {
        order[*at] += i;
        inc(at);
    }
    for _ in 0..0 {
        inc(at);
    }
}

#[test]
fn for_loops_visit_what_rust_visits() {
    for device in devices() {
        for n in 0..6 {
            let expected: Vec<usize> = (0..n)
                .chain((1..=n).rev())
                .chain((1..=n).step_by(2))
                .chain((0..n).rev().step_by(2))
                .chain((0..n).step_by(2).rev())
                .collect();
            let (mut order, mut at) = (vec![0; expected.len()], 0);
            visits::run(&*device, &mut order, &mut at, n).unwrap();
            assert_eq!(order, expected);
            visits::run_inverse(&*device, &mut order, &mut at, n).unwrap();
            assert_eq!((order, at), (vec![0; expected.len()], 0));
        }
    }
}

#[reversible]
fn parallel(y: &mut [f64], total: &mut f64, x: &[f64], idx: &[usize]) {
    for i in par(0..x.len()) {
        let mut t = 0.0;
        t += x[i] * 2.0;
        *total += t;
        y[idx[i]] += t;
    }
    #[injective(idx)]
    for i in par(0..x.len()) {
        neg(y[idx[i]]);
    }
}

#[test]
fn parallel_loops() {
    for device in devices() {
        let (mut y, mut total) = ([0.0; 3], 0.0);
        parallel::run(&*device, &mut y, &mut total, &[1.0, 2.0, 3.0], &[2, 0, 1]).unwrap();
        assert_eq!((y, total), ([-4.0, -6.0, -2.0], 12.0));
        parallel::run_inverse(&*device, &mut y, &mut total, &[1.0, 2.0, 3.0], &[2, 0, 1]).unwrap();
        assert_eq!((y, total), ([0.0; 3], 0.0));
    }
    let (mut y, mut total) = ([0.0; 3], 0.0);
    let error = parallel(&mut y, &mut total, &[1.0, 2.0, 3.0], &[2, 0, 2]).unwrap_err();
    assert!(error.to_string().contains("idx"), "{error}");
}

#[reversible]
fn computed(y: &mut f64, x: f64) {
    let mut a = 0.0;
    let mut b = 0.0;
    #[compute]
    {
        a += x * x;
        swap(a, b);
        b += 1.0;
    }
    *y += b * 2.0;
}

#[reversible]
fn inverted(y: &mut f64, x: f64) {
    #[inverse]
    {
        let mut t = 0.0;
        t += x;
        *y += t * 3.0;
        neg(y);
    }
}

#[reversible]
fn stacked(y: &mut f64, depth: usize) {
    let mut stack = Stack::new();
    let mut t = 0.0;
    #[compute]
    {
        for i in 0..depth {
            t += i as f64;
            push(stack, t);
        }
    }
    let mut top = 0.0;
    #[compute]
    {
        pop(stack, top);
    }
    *y += top;
}

#[reversible]
fn caller_stack(stack: &mut Stack<f64>, x: &mut f64, y: &mut f64) {
    push(stack, x);
    pop(stack, y);
}

#[reversible]
fn external(y: &mut f64, x: f64, r: &f64) {
    let n = x;
    let n = n + 1.0;
    let mut a = 0.0;
    a += n;
    #[external]
    {
        assert_eq!((n, x, a, *r, *y), (3.0, 2.0, 3.0, 7.0, 0.0));
    }
    *y += a;
}

/// Without checks nobody sees that the ancilla isn't released at its first value.
#[reversible]
fn leaky(y: &mut f64, x: f64) {
    #[unchecked]
    {
        let mut a = 0.0;
        a += x;
        *y += a;
        release(a);
    }
}

#[reversible(unchecked)]
fn leaky_as_a_whole(y: &mut f64, x: f64) {
    let mut a = 0.0;
    a += x;
    *y += a;
    release(a);
}

#[reversible]
fn leaky_but_checked(y: &mut f64, x: f64) {
    let mut a = 0.0;
    a += x;
    *y += a;
    release(a);
}

#[test]
fn checks_are_on_by_default() {
    let error = leaky_but_checked(&mut 0.0, 2.0).unwrap_err().to_string();
    assert!(error.contains("release(a)") && error.contains("leaky_but_checked"), "{error}");
    leaky_but_checked::run(&Cpu::new().checks(false), &mut 0.0, 2.0).unwrap();
}

#[test]
fn blocks() {
    for device in devices() {
        let mut y = 1.0;
        computed::run(&*device, &mut y, 3.0).unwrap();
        assert_eq!(y, 21.0);
        computed::run_inverse(&*device, &mut y, 3.0).unwrap();
        inverted::run(&*device, &mut y, 2.0).unwrap();
        assert_eq!(y, -7.0);
        inverted::run_inverse(&*device, &mut y, 2.0).unwrap();
        stacked::run(&*device, &mut y, 4).unwrap();
        assert_eq!(y, 4.0);
        stacked::run_inverse(&*device, &mut y, 4).unwrap();
        leaky::run(&*device, &mut y, 2.0).unwrap();
        leaky_as_a_whole::run(&*device, &mut y, 2.0).unwrap();
        assert_eq!(y, 5.0);
    }
}

#[test]
fn a_stack_of_the_caller() {
    for device in devices() {
        let (mut stack, mut x, mut y) = (Stack::new(), 2.0, 0.0);
        caller_stack::run(&*device, &mut stack, &mut x, &mut y).unwrap();
        assert_eq!((x, y, stack.len()), (0.0, 2.0, 0));
        caller_stack::run_inverse(&*device, &mut stack, &mut x, &mut y).unwrap();
        assert_eq!((x, y), (2.0, 0.0));
    }
}

#[test]
fn external_code_sees_the_variables() {
    let mut y = 0.0;
    external(&mut y, 2.0, &7.0).unwrap();
    assert_eq!(y, 3.0);
    external::inverse(&mut y, 2.0, &7.0).unwrap();
    assert_eq!(y, 0.0);
}
