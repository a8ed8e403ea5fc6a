//! The conformance list of the language's definition, as far as one function's text can say it.

use super::*;
use crate::value::{Stack, Value};
use approx::{abs_diff_eq, assert_abs_diff_eq};

fn number(d: &Data) -> f64 {
    match d {
        Data::Scalar(v) => v.to_num().to_f64(),
        other => panic!("{other}"),
    }
}

#[test]
fn c01_a_product() {
    let f = module("fn f(y: &mut f64, a: f64, b: f64) { y += a * b }");
    assert_eq!(there_and_back(&f, &args([&2.0, &3.0, &5.0]))[0], 17.0.load());
    assert_eq!(gradient(&f, &args([&0.0, &3.0, &5.0]), 0), args([&1.0, &5.0, &3.0]));
}

#[test]
fn c02_a_square() {
    let f = module("fn f(y: &mut f64, x: f64) { y += x * x }");
    assert_eq!(there_and_back(&f, &args([&1.0, &3.0]))[0], 10.0.load());
    assert_eq!(gradient(&f, &args([&1.0, &3.0]), 0)[1], 6.0.load());
}

#[test]
fn c03_two_reads_of_one_array() {
    let f = module("fn f(y: &mut f64, x: [f64], i: usize, j: usize) { y += x[i] * x[j] }");
    let x = vec![2.0, 3.0, 4.0];
    let grad = |i: usize, j: usize| gradient(&f, &args([&0.0, &x, &i, &j]), 0)[1].clone();
    assert_eq!(grad(0, 2), vec![4.0, 0.0, 2.0].load());
    assert_eq!(grad(1, 1), vec![0.0, 6.0, 0.0].load());
}

#[test]
fn c04_equal_indices_at_run_time() {
    let text = "fn f(x: &mut [f64], i: usize, j: usize) { x[i] += x[j] }";
    let x = vec![1.0, 2.0];
    let out = there_and_back(&module(text), &args([&x, &0usize, &1usize]));
    assert_eq!(out[0], vec![3.0, 2.0].load());
    let cause = failure(text, &args([&x, &1usize, &1usize]));
    assert_eq!(cause, Cause::Alias { first: "x[i]".into(), second: "x[j]".into() });
}

#[test]
fn c05_a_stepped_loop() {
    let text = "fn f(s: &mut Stack<i64>, n: i64) {
        for i: i64 in (1..=n).step_by(2) { anc a: i64 = 0 { a += i push(s, a) } }
    }";
    let f = module(text);
    let out = run(&f, Direction::FORWARD, &args([&Stack::<i64>::new(), &4i64])).unwrap();
    assert_eq!(out[0], Stack::from(vec![1i64, 3]).load());
    let mut m =
        Machine::new(&f, "f", Direction::INVERSE, args([&Stack::from(vec![1i64, 3]), &4i64])).unwrap();
    let mut visited = Vec::new();
    while m.step().unwrap() == super::super::Progress::Stepped {
        let iteration = m.position().and_then(|s| s.iterations.first().map(|i| i.value));
        visited.extend(iteration);
    }
    visited.dedup();
    assert_eq!(visited, [3, 1]);
    assert_eq!(m.arguments()[0], Stack::<i64>::new().load());
}

#[test]
fn c06_nan_never_passes_a_release() {
    let cause = failure(
        "fn f(y: &mut f64) { anc a: f64 = 0.0 { a += 0.0 / 0.0 y += 1.0 a -= 0.0 / 0.0 } }",
        &args([&0.0]),
    );
    assert!(matches!(cause, Cause::Release { ref found, .. } if found == "NaN"), "{cause}");
}

#[test]
fn c07_the_gradient_flows_through_a_binding() {
    let f = module("fn f(z: &mut f64, y: f64) { let t: f64 = y + 1.0 { z += t } }");
    assert_eq!(gradient(&f, &args([&0.0, &5.0]), 0)[1], 1.0.load());
}

#[test]
fn c08_a_running_sum_and_its_illegal_twin() {
    let f = "fn f(l: &mut f64, y: &mut [f64], x: [f64]) {
        managed anc s: f64 = 0.0 { for i in 0..len(x) { s += x[i] y[i] += s } }
        l += y[len(x) - 1] * y[0]
    }";
    let out = check_program(f, &args([&0.0, &vec![0.5, 0.25, 0.125], &vec![1.0, 2.0, 4.0]]));
    assert_eq!(out[1], vec![1.5, 3.25, 7.125].load());
    let twin =
        "fn f(x: &mut [f64]) { managed anc s: f64 = 0.0 { for i in 0..len(x) { s += x[i] x[i] += s } } }";
    assert!(crate::check::check(raw(twin).functions["f"].clone()).is_err());
    // a program that wasn't checked is rejected when it is run
    let rejected = run(&raw(twin), Direction::FORWARD, &args([&vec![1.0]])).unwrap_err();
    assert!(matches!(rejected.cause(), Cause::Rejected(_)));
}

#[test]
fn c09_the_first_fibonacci_number_that_is_large_enough() {
    let f = module(
        "fn f(n: &mut i64, z: i64) {
            managed anc a: i64 = 1 { managed anc b: i64 = 1 { managed anc c: i64 = 1 {
                while a < z post c > 1 { a += b swap(a, b) c += 1 }
                n += c
            } } }
        }",
    );
    let out = there_and_back(&f, &args([&0i64, &100i64]));
    assert_eq!(number(&out[0]), 12.0);
}

#[test]
fn c11_exp_by_its_series() {
    // terms are uncomputed arithmetically: the quotient of neighbours is known
    let f = "fn f(y: &mut f64, x: f64, n: usize) {
        managed anc s: f64 = 1.0 { managed anc sum: f64 = 1.0 {
            for i in 1..n { anc t: f64 = 0.0 {
                t += s * x / (i as f64)
                swap(s, t)
                t -= s * (i as f64) / x
                sum += s
            } }
            y += sum
        } }
    }";
    let out = check_program(f, &args([&0.0, &1.6, &24usize]));
    assert_abs_diff_eq!(number(&out[0]), 1.6f64.exp(), epsilon = 1e-12);
    let g = gradient(&module(f), &args([&0.0, &1.6, &24usize]), 0);
    assert_abs_diff_eq!(number(&g[1]), 1.6f64.exp(), epsilon = 1e-9);
}

#[test]
fn c12_axpy_with_a_shared_scalar() {
    let f = "fn f(l: &mut f64, y: &mut [f64], alpha: f64, x: [f64]) {
        par for i in 0..len(x) { y[i] += alpha * x[i] }
        par for i in 0..len(x) { l += y[i] * y[i] }
    }";
    check_program(f, &args([&0.0, &vec![1.0, 2.0, 3.0], &0.5, &vec![4.0, 5.0, 6.0]]));
}

#[test]
fn c13_scatter_and_gather() {
    let x = vec![1.0, 2.0, 3.0];
    let idx = vec![1usize, 0, 1];
    let scatter = "fn f(l: &mut f64, y: &mut [f64], x: [f64], idx: [usize]) {
        par for i in 0..len(x) { y[idx[i]] += x[i] * x[i] }
        for i in 0..len(y) { l += y[i] * y[i] }
    }";
    let out = check_program(scatter, &args([&0.0, &vec![0.0, 0.0], &x, &idx]));
    assert_eq!(out[1], vec![4.0, 10.0].load());
    let gather = "fn f(l: &mut f64, x: &mut [f64], y: [f64], idx: [usize]) {
        par for i in 0..len(x) { x[i] += y[idx[i]] }
        for i in 0..len(x) { l += x[i] * x[i] }
    }";
    check_program(gather, &args([&0.0, &x, &vec![7.0, 9.0], &idx]));
}

#[test]
fn c15_a_reversal_that_is_declared() {
    let f = module(
        "fn f(a: &mut [f64], n: usize) { par for i in 0..n / 2 disjoint(a) { swap(a[i], a[n - 1 - i]) } }",
    );
    let out = there_and_back(&f, &args([&vec![1.0, 2.0, 3.0], &3usize]));
    assert_eq!(out[0], vec![3.0, 2.0, 1.0].load());
}

#[test]
fn c16_two_slices_of_one_array() {
    let f = "fn g(a: &mut [f64], b: [f64]) { for i in 0..len(a) { a[i] += b[i] } }
        fn f(x: &mut [f64], k: usize, m: usize) { call g(&mut x[0..k], &x[m..m + k]) }";
    let x = vec![1.0, 2.0, 3.0, 4.0];
    let out = there_and_back(&module(f), &args([&x, &2usize, &2usize]));
    assert_eq!(out[0], vec![4.0, 6.0, 3.0, 4.0].load());
    let cause = failure(f, &args([&x, &2usize, &1usize]));
    assert_eq!(cause, Cause::Alias { first: "x[0..k]".into(), second: "x[m..m + k]".into() });
}

#[test]
fn c17_recursion() {
    // out += fib(n); the intermediate results are uncomputed by the inverse
    let fib = module(
        "fn f(out: &mut i64, n: i64) {
            if n < 2 { out += 1 } else { anc a: i64 = 0 { anc b: i64 = 0 {
                call f(&mut a, n - 1)
                call f(&mut b, n - 2)
                out += a + b
                uncall f(&mut b, n - 2)
                uncall f(&mut a, n - 1)
            } } }
        }",
    );
    assert_eq!(number(&there_and_back(&fib, &args([&0i64, &10i64]))[0]), 89.0);
    let power = "fn f(y: &mut f64, x: f64, n: i64) {
        if n == 0 { y += 1.0 } else { managed anc a: f64 = 0.0 {
            call f(&mut a, x, n - 1)
            y += a * x
        } }
    }";
    let out = check_program(power, &args([&0.0, &1.5, &5i64]));
    assert_eq!(number(&out[0]), 1.5f64.powi(5));
}

#[test]
fn c18_a_stack_over_a_loop_of_unknown_length() {
    let collatz = module(
        "fn f(s: &mut Stack<bool>, x: &mut i64, n: &mut i64) {
            while x > 1 post n > 0 {
                anc odd: bool = false {
                    odd ^= x % 2 == 1
                    if odd { mul_int(x, 3) inc(x) } else { div_int(x, 2) } post odd
                    push(s, odd)
                }
                n += 1
            }
        }",
    );
    let out = there_and_back(&collatz, &args([&Stack::<bool>::new(), &27i64, &0i64]));
    assert_eq!((number(&out[1]), number(&out[2])), (1.0, 111.0));
    let squares = "fn f(y: &mut f64, x: &mut [f64], s: &mut Stack<f64>) {
        for i in 0..len(x) { push(s, x[i]) x[i] += 2.0 * y + 1.0 y += x[i] }
    }";
    check_program(squares, &args([&1.0, &vec![2.0, 3.0], &Stack::<f64>::new()]));
}

#[test]
fn c19_the_adjoint_has_an_inverse() {
    let f = module(
        "fn f(y: &mut f64, x: [f64]) {
            managed anc p: f64 = 1.0 {
                for i in 0..len(x) { p += sin(x[i]) * x[i] }
                let t: f64 = p * p { y += t + x[0] }
            }
        }",
    );
    let start = args([&1.0, &vec![0.3, 0.7]]);
    let out = run(&f, Direction::FORWARD, &start).unwrap();
    let seeded = seeded(&out, 0);
    let at_start = run(&f, ADJOINT, &seeded).unwrap();
    let back = run(&f, Direction { adjoint: 1, ..Direction::INVERSE }, &at_start).unwrap();
    assert_close(&back, &seeded, "the adjoint of the inverse");
    // the same through the modules made by the passes
    let adjoint = f.adjoint();
    let direct = {
        let mut m = Machine::new(&adjoint, &adjoint.entry, Direction::FORWARD, seeded.clone()).unwrap();
        m.run().unwrap();
        m.arguments()
    };
    assert_close(&direct, &at_start, "the module's adjoint");
    let inverse = adjoint.inverse();
    let mut m = Machine::new(&inverse, &inverse.entry, Direction::FORWARD, direct).unwrap();
    m.run().unwrap();
    assert_close(&m.arguments(), &seeded, "the inverse of the adjoint");
}

/// `∂²y/∂x_i∂x_j` of the first argument by the others, from the adjoint of the adjoint.
fn second_derivatives(text: &str, xs: &[f64]) -> Vec<Vec<f64>> {
    let f = module(text);
    let mut start: Vec<Data> = vec![0.0.load()];
    start.extend(xs.iter().map(|x| x.load()));
    let out = run(&f, Direction::FORWARD, &start).unwrap();
    // the adjoint's results are the gradients; its adjoint differentiates one of them
    let at_start = run(&f, ADJOINT, &seeded(&out, 0)).unwrap();
    (0..xs.len())
        .map(|i| {
            let mut twice: Vec<Data> = Vec::new();
            for (k, v) in at_start.iter().enumerate() {
                twice.extend([v.clone(), if k == 2 * (i + 1) + 1 { 1.0.load() } else { 0.0.load() }]);
            }
            let end = run(&f, Direction { adjoint: 2, ..Direction::FORWARD }, &twice).unwrap();
            (0..xs.len()).map(|j| number(&end[4 * (j + 1) + 1])).collect()
        })
        .collect()
}

#[test]
fn c20_second_derivatives() {
    let close = |found: Vec<Vec<f64>>, expected: &[&[f64]]| {
        for (f, e) in found.iter().flatten().zip(expected.iter().copied().flatten()) {
            assert!(abs_diff_eq!(f, e, epsilon = 1e-12), "{found:?} {expected:?}");
        }
    };
    close(second_derivatives("fn f(y: &mut f64, x: f64) { y += x * x * x }", &[2.0]), &[&[12.0]]);
    close(second_derivatives("fn f(y: &mut f64, x: f64) { y += sin(x) }", &[2.0]), &[&[-2f64.sin()]]);
    // `z` reaches `y` by way of a truth value and an integer, which have no cotangents
    let by_way_of_integers = "
        pure fn which(n: i64, b: bool) -> i64 { if b { quot(n, 3) } else { n - 1 } }
        pure fn gauge(n: i64, x: f64, b: bool) -> (bool, f64, i64) {
            (n > 1 || b, if b { 0.5 * sin(x) } else { 0.25 * x * x * x }, which(n, b))
        }
        fn f(y: &mut f64, x: f64, z: f64) { y += gauge(which(5, gauge(3, z, true).0), x, false).1 }";
    close(second_derivatives(by_way_of_integers, &[2.0, 1.0]), &[&[3.0, 0.0], &[0.0, 0.0]]);
    close(
        second_derivatives("fn f(y: &mut f64, a: f64, b: f64) { y += a / b }", &[3.0, 2.0]),
        &[&[0.0, -0.25], &[-0.25, 0.75]],
    );
    close(
        second_derivatives(
            "fn f(y: &mut f64, x: f64) { managed anc p: f64 = 0.0 { p += x * x y += p * p } }",
            &[2.0],
        ),
        &[&[48.0]],
    );
}

#[test]
fn values_of_every_integer_type_come_back_bit_for_bit() {
    let h = module("fn f<T: Integer>(y: &mut T, x: T) { y += x * x y ^= x y -= 3_T * x inc(y) neg(y) }");
    for v in [Value::U8(200), Value::I8(-100), Value::I128(i128::MIN), Value::U64(u64::MAX), Value::Usize(7)]
    {
        let two = Value::from_num(crate::scalar::Num::Int(77), &v.ir_type()).unwrap();
        let start = vec![Data::Scalar(v), Data::Scalar(two)];
        let out = run(&h, Direction::FORWARD, &start).unwrap();
        assert_eq!(run(&h, Direction::INVERSE, &out).unwrap(), start);
    }
}
