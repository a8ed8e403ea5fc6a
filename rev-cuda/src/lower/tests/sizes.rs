//! Arrays of an iteration whose length isn't known before the loop runs.

use rev_core::ir::Direction;
use rev_core::value::{Data, DynArg};

use super::{agrees, module, simulate};
use crate::lower::LowerOptions;

const FILL: &str = "anc t: [T] = fill(0, LENGTH) {
        for j in 0..LENGTH { t[j] += x[j] * x[j] }
        for j in 0..LENGTH { y[i] += t[j] * x[LENGTH - 1] }
        for j in 0..LENGTH { t[j] -= x[j] * x[j] }
        release t = fill(0, LENGTH)
    }";

fn args() -> (Data, Data, Data) {
    let x: Vec<f64> = (0..20).map(|j| (f64::from(j) * 0.7).sin()).collect();
    let y: Vec<f64> = (0..300).map(|i| f64::from(i) * 0.01).collect();
    let n: Vec<usize> = (0..300).map(|i| if i == 217 { 19 } else { 1 + i % 5 }).collect();
    (y.load(), x.load(), n.load())
}

#[test]
fn the_host_sizes_arrays_by_the_largest_length() {
    let around = |prelude: &str, length: &str, end: &str| {
        let body = FILL.replace("LENGTH", length);
        let head = "module sized
             fn inner<T: Real>(y: &mut T, x: [T], m: usize) {
                 anc t: [T] = fill(0, m + 1) {
                     for j in 0..m { t[j] += x[j] * x[j] y += t[j] }
                     for j in 0..m { t[j] -= x[j] * x[j] }
                     release t = fill(0, m + 1)
                 }
             }
             fn sized<T: Real>(y: &mut [T], x: [T], n: [usize]) {
                 par for i in 0..len(y) {";
        format!("{head} {prelude} {body} {end} }} }}")
    };
    let (y, x, n) = args();
    for text in [
        around("", "n[i]", ""),
        around("", "(i % 7 + 1)", ""),
        around("let m: usize = n[i] / 2 + 1 {", "m", "}"),
        around("if n[i] > 3 {", "(n[i] - 2)", "} else { y[i] += 1 }"),
        around("for k in 1..n[i] {", "k", "}"),
        around("call inner(&mut y[i], &x[0..n[i]], n[i])", "2", ""),
    ] {
        agrees(
            &module(&text),
            &[y.clone(), x.clone(), n.clone()],
            &[y.clone(), x.zero_like(), Data::vector(vec![Data::None; 300])],
        );
    }
}

#[test]
fn the_host_reads_lengths_back_for_arrays_of_its_own() {
    let m = module(
        "module own
         fn own<T: Real>(y: &mut [T], x: [T], n: [usize]) {
             anc t: [T] = fill(0, n[217] + 1) {
                 par for j in 0..len(t) { t[j] += x[j] * x[j] }
                 par for i in 0..len(y) { y[i] += t[n[i]] }
                 par for j in 0..len(t) { t[j] -= x[j] * x[j] }
                 release t = fill(0, n[217] + 1)
             }
             for k in 0..3 {
                 anc u: [T] = fill(1, n[k]) { u[0] += x[k] y[k] += u[0] u[0] -= x[k] release u = fill(1, n[k]) }
             }
         }",
    );
    let (y, x, n) = args();
    agrees(&m, &[y.clone(), x.clone(), n], &[y, x.zero_like(), Data::vector(vec![Data::None; 300])]);
}

#[test]
fn a_length_that_nobody_can_find_is_named() {
    let (y, x, n) = args();
    let m = module(
        "module sized fn sized<T: Real>(y: &mut [T], x: [T], n: [usize]) {
             par for i in 0..len(y) {
                 anc m: usize = 0 {
                     m += n[i]
                     anc t: [T] = fill(0, m) { y[i] += 1 + t[0] release t = fill(0, m) }
                     m -= n[i]
                     release m = 0
                 }
             }
         }",
    );
    let error = simulate(&m, Direction::FORWARD, &[y, x, n], &LowerOptions::default()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`t`, an array") && text.contains("can't be run on a GPU"), "{text}");
    assert!(error.site().is_some_and(|s| s.statement.contains("fill(0, m)")), "{text}");
}

/// The sum goes through an ancilla that is only dropped, so the way back is not that statement reversed.
#[test]
fn a_sum_that_is_computed_and_uncomputed() {
    let m = module(
        "module sums fn sums<T: Real>(y: &mut [T], x: [T]) {
             compute { y[1] += 0.5 * contract(\"i->\", x) } do { y[0] += 3 * y[1] }
             inverse { inverse { compute { y[2] -= contract(\"i,i->\", x, x) } do { y[0] += y[2] } } }
         }",
    );
    let (y, x, _) = args();
    agrees(&m, &[y.clone(), x.clone()], &[y, x.zero_like()]);
}
