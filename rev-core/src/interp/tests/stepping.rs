//! Stepping: forward and back from any point, and around a check that failed.

use super::super::Progress;
use super::*;
use crate::value::Stack;

/// A program with every form of statement.
const EVERYTHING: &str = "
    fn g(a: &mut f64, b: f64) { managed anc t: f64 = 0.0 { t += b * b a += t } }
    fn f(y: &mut f64, x: &mut [f64], n: i64, s: &mut Stack<f64>, c: &mut bool) {
        c ^= n > 2
        for i in (0..len(x)).rev() {
            let r: f64 = sin(x[i]) {
                if c { y += r } else { y -= r }
                call g(&mut y, &x[i])
            }
        }
        compute { x[0] += 1.0 swap(x[0], x[1]) } do { y += x[0] * x[1] }
        anc k: i64 = 0 {
            while k < n post k > 0 { k += 1 unchecked { y += k as f64 } }
            k -= n
            release k = 0
        }
        push(s, x[0])
        uncall g(&mut y, 2.0)
        par for i in (1..len(x)).step_by(2) { neg(x[i]) }
        rot(x[1], x[2], 0.5)
        if y > 100.0 { y += 1.0 } else { inc(x[1]) } post y > 101.0
        external \"trace()\"
    }";

fn everything() -> (Module, Vec<Data>) {
    let start = args([&1.0, &vec![0.5, 0.25, 2.0], &3i64, &Stack::<f64>::new(), &false]);
    (module(EVERYTHING), start)
}

#[test]
fn every_step_can_be_undone() {
    let (f, start) = everything();
    for direction in [Direction::FORWARD, ADJOINT] {
        let start = if direction == ADJOINT {
            seeded(&run(&f, Direction::FORWARD, &start).unwrap(), 0)
        } else {
            start.clone()
        };
        let mut m = Machine::new(&f, "f", direction, start.clone()).unwrap();
        let mut trail = vec![(m.trace(), m.state())];
        while m.step().unwrap() == Progress::Stepped {
            // back and forth at every point
            let now = (m.trace(), m.state());
            assert_eq!(m.step_back().unwrap(), Progress::Stepped);
            let before = trail.last().unwrap();
            assert_eq!(places(&m.trace()), places(&before.0));
            close(&m.state(), &before.1);
            m.step().unwrap();
            assert_eq!(m.trace().len(), now.0.len());
            trail.push(now);
        }
        assert!(m.is_at_end() && trail.len() > 60);
        for (site, state) in trail.iter().rev().skip(1) {
            assert_eq!(m.step_back().unwrap(), Progress::Stepped);
            assert_eq!(places(&m.trace()), places(site));
            close(&m.state(), state);
        }
        assert!(m.is_at_start());
        assert_eq!(m.step_back().unwrap(), Progress::AtEnd);
    }
}

/// Where the machine is, without the numbers of `while` iterations, which count from the side that
/// the loop was entered from.
fn places(trace: &[crate::error::Site]) -> Vec<(String, String, Vec<i128>)> {
    let one = |s: &crate::error::Site| {
        let counted = s.iterations.iter().filter(|i| i.variable != "while").map(|i| i.value).collect();
        (s.function.to_string(), s.statement.to_string(), counted)
    };
    trace.iter().map(one).collect()
}

fn close(found: &[super::super::Variable], expected: &[super::super::Variable]) {
    let names = |vs: &[super::super::Variable]| vs.iter().map(|v| v.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(found), names(expected));
    for (a, b) in found.iter().zip(expected) {
        if let Err(m) = a.data.compare(&b.data, &Tolerances::default(), None) {
            panic!("{}{}: {} instead of {}", a.name, m.path, m.found, m.expected);
        }
    }
}

#[test]
fn a_failed_check_leaves_the_machine_where_it_can_turn_around() {
    let f = raw("fn f(y: &mut f64, x: [f64]) {
        for i in 0..len(x) { anc a: f64 = 0.0 { a += x[i] y += a * a a -= abs(x[i]) } }
    }");
    let start = args([&0.0, &vec![1.0, 2.0, -3.0]]);
    let mut m = Machine::new(&f, "f", Direction::FORWARD, start.clone()).unwrap();
    let error = m.run().unwrap_err();
    assert!(matches!(error.cause(), Cause::Release { found, .. } if found == "-6.0"), "{error}");
    assert_eq!(error.site().unwrap().iterations[0].value, 2);
    // it fails again, and nothing has changed
    let state = m.state();
    assert!(m.step().is_err());
    assert_eq!(m.state(), state);
    assert_eq!(m.arguments()[0], 14.0.load());
    // what the ancilla held before the last statement
    m.step_back().unwrap();
    assert_eq!(m.position().unwrap().statement, "a -= abs(x[i])");
    let a = m.state().into_iter().find(|v| v.name == "a").unwrap();
    assert_eq!(a.data, (-3.0).load());
    m.run_back().unwrap();
    assert_eq!(m.arguments(), start);
}

#[test]
fn a_machine_can_start_at_the_end() {
    let (f, start) = everything();
    let out = run(&f, Direction::FORWARD, &start).unwrap();
    let mut m = Machine::new(&f, "f", Direction::FORWARD, out.clone()).unwrap().at_end();
    assert!(m.position().is_none());
    m.run_back().unwrap();
    assert_close(&m.arguments(), &start, "from the end");
    m.run().unwrap();
    assert_close(&m.arguments(), &out, "and forward again");
}

#[test]
fn the_machine_says_where_it_is() {
    let f = module(
        "fn g(a: &mut f64) { a += 1.0 }
        fn f(y: &mut f64) { for i in 0..2 { let t: f64 = 2.0 { call g(&mut y) } } }",
    );
    let mut m = Machine::new(&f, "f", Direction::FORWARD, args([&0.0])).unwrap();
    let mut seen = Vec::new();
    loop {
        seen.push(m.trace().iter().map(|s| s.to_string()).collect::<Vec<_>>().join(" < "));
        if m.step().unwrap() == Progress::AtEnd {
            break;
        }
    }
    assert_eq!(seen[3], "in `g`: `a += 1.0` < in `f`: `call g(&mut y)` with i = 0");
    assert_eq!(seen.len(), 14);
    let (f, start) = everything();
    let mut m = Machine::new(&f, "f", Direction::FORWARD, start).unwrap();
    let names = |m: &Machine<'_>| m.state().into_iter().map(|v| v.name).collect::<Vec<_>>();
    assert_eq!(names(&m), ["y", "x", "n", "s", "c"]);
    while m.position().unwrap().statement != "y += r" {
        m.step().unwrap();
    }
    assert_eq!(names(&m), ["y", "x", "n", "s", "c", "i", "r"]);
}
