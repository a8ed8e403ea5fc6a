//! Programs before and after uncomputation, and programs that can't be uncomputed.

use super::uncompute;
use crate::diag::Code;
use crate::ir::Function;
use crate::text::{parse_function, print_function};

/// Statements on one line are separated by semicolons here, to keep the programs short.
fn parse(text: &str) -> Function {
    parse_function(&text.replace("; ", "\n")).unwrap()
}

/// The program in the printed form, so that only differences in meaning are seen.
fn normal(text: &str) -> String {
    print_function(&parse(text))
}

/// Uncomputing `before` gives `after`.
fn becomes(before: &str, after: &str) {
    let mut f = parse(before);
    let diagnostics = uncompute(&mut f);
    assert!(diagnostics.is_empty(), "{diagnostics}");
    let printed = print_function(&f);
    assert_eq!(printed, normal(after), "printed:\n{printed}");
}

fn legal(text: &str) {
    let mut f = parse(text);
    let diagnostics = uncompute(&mut f);
    assert!(diagnostics.is_empty(), "{diagnostics}");
    normal(&print_function(&f));
}

/// Uncomputing reports exactly these, each as `CODE message`.
fn illegal(text: &str, expected: &[&str]) {
    let mut f = parse(text);
    let found: Vec<String> = uncompute(&mut f).iter().map(|d| format!("{} {}", d.code, d.message)).collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\nshould be\n{expected}");
    }
}

#[test]
fn a_sum_is_undone_by_its_inverse() {
    becomes(
        "fn f(y: &mut f64, a: f64, b: f64) {
            managed anc s: f64 = 0.0 { s += a * b; s += a; y += s * s }
        }",
        "fn f(y: &mut f64, a: f64, b: f64) {
            uncomputed anc s: f64 = 0.0 { s += a * b; s += a; y += s * s; s -= a; s -= a * b }
        }",
    );
}

#[test]
fn an_ancilla_that_nobody_writes_needs_nothing() {
    becomes(
        "fn f(y: &mut f64) { managed anc s: f64 = 0.0 { y += s } }",
        "fn f(y: &mut f64) { uncomputed anc s: f64 = 0.0 { y += s } }",
    );
}

#[test]
fn the_running_sum_keeps_its_loop() {
    becomes(
        "fn f(y: &mut [f64], x: [f64]) {
            managed anc s: f64 = 0.0 { for i in 0..len(x) { s += x[i]; y[i] += s } }
        }",
        "fn f(y: &mut [f64], x: [f64]) {
            uncomputed anc s: f64 = 0.0 {
                for i in 0..len(x) { s += x[i]; y[i] += s }
                for i2 in (0..len(x)).rev() { s -= x[i2] }
            }
        }",
    );
}

#[test]
fn the_running_sum_into_what_it_reads_is_illegal() {
    illegal(
        "fn f(x: &mut [f64]) {
            managed anc s: f64 = 0.0 { for i in 0..len(x) { s += x[i]; x[i] += s } }
        }",
        &["R0205 this changes `x[i]`, which is needed to uncompute the ancilla `s`"],
    );
}

#[test]
fn a_later_write_of_what_was_read_is_illegal_and_an_earlier_one_is_not() {
    illegal(
        "fn f(y: &mut f64) { managed anc s: f64 = 0.0 { s += y; y += s * 2.0 } }",
        &["R0205 this changes `y`,"],
    );
    legal("fn f(y: &mut f64, z: &mut f64) { managed anc s: f64 = 0.0 { y += 1.0; s += y; z += s * 2.0 } }");
}

#[test]
fn the_diagnostic_names_the_read_the_write_and_the_repairs() {
    let mut f = parse("fn f(y: &mut f64) { managed anc s: f64 = 0.0 { s += y; y += s * 2.0 } }");
    let found = uncompute(&mut f);
    let d = found.iter().next().unwrap();
    assert_eq!(d.code, Code::AncillaChangedRead);
    assert_eq!(d.labels.len(), 2);
    assert!(d.labels[0].1.contains("`y` is read here to compute `s`"), "{d}");
    assert_eq!(d.help.len(), 3);
}

#[test]
fn a_branch_is_kept_when_its_condition_can_be_evaluated_again() {
    becomes(
        "fn f(y: &mut f64, x: f64, c: f64) {
            managed anc s: f64 = 0.0 { if c < x { s += x } else { y += 1.0 } y += s }
        }",
        "fn f(y: &mut f64, x: f64, c: f64) {
            uncomputed anc s: f64 = 0.0 { if c < x { s += x } else { y += 1.0 } y += s; if c < x { s -= x } }
        }",
    );
    illegal(
        "fn f(y: &mut f64, x: f64, c: &mut f64) {
            managed anc s: f64 = 0.0 { if c < x { s += x } y += s; c += 1.0 }
        }",
        &["R0205 this changes `c`"],
    );
}

#[test]
fn a_branch_is_decided_by_the_postcondition_when_the_condition_has_changed() {
    becomes(
        "fn f(y: &mut f64, x: f64, n: &mut i64) {
            managed anc s: f64 = 0.0 {
                if n == 0 { s += x; n += 5 } else { n += 1 } post n == 5
                y += s
            }
        }",
        "fn f(y: &mut f64, x: f64, n: &mut i64) {
            uncomputed anc s: f64 = 0.0 {
                if n == 0 { s += x; n += 5 } else { n += 1 } post n == 5
                y += s
                if n == 5 { s -= x }
            }
        }",
    );
}

#[test]
fn a_branch_on_the_ancillas_themselves_keeps_both_conditions() {
    becomes(
        "fn f(y: &mut f64) {
            managed anc k: i64 = 0 {
                k += 1
                if k > 0 { k += 1 } post k > 1
                y += k as f64
            }
        }",
        "fn f(y: &mut f64) {
            uncomputed anc k: i64 = 0 {
                k += 1
                if k > 0 { k += 1 } post k > 1
                y += k as f64
                if k > 1 { k -= 1 } post k > 0
                k -= 1
            }
        }",
    );
}

#[test]
fn a_while_loop_with_its_counter_in_the_set_is_legal() {
    becomes(
        "fn f(y: &mut f64, x: f64, n: i64) {
            managed anc k: i64 = 0 {
                managed anc s: f64 = 0.0 {
                    while k < n post k > 0 { k += 1; s += x; y += s }
                }
            }
        }",
        "fn f(y: &mut f64, x: f64, n: i64) {
            uncomputed anc k: i64 = 0 {
                uncomputed anc s: f64 = 0.0 {
                    while k < n post k > 0 { k += 1; s += x; y += s }
                    while k > 0 post k < n { s -= x; k -= 1 }
                }
            }
        }",
    );
}

#[test]
fn a_while_loop_with_an_outer_counter_is_illegal() {
    illegal(
        "fn f(y: &mut f64, x: f64, n: i64, k: &mut i64) {
            managed anc s: f64 = 0.0 { while k < n post k > 0 { k += 1; s += x; y += s } }
        }",
        &["R0205 this changes `k`"],
    );
}

#[test]
fn ancillas_of_one_block_may_depend_on_each_other() {
    becomes(
        "fn f(y: &mut f64, x: f64) {
            managed anc a: f64 = 0.0 { managed anc b: f64 = 0.0 {
                a += x; b += a * x; a += b; b += a; y += a * b
            } }
        }",
        "fn f(y: &mut f64, x: f64) {
            uncomputed anc a: f64 = 0.0 { uncomputed anc b: f64 = 0.0 {
                a += x; b += a * x; a += b; b += a; y += a * b
                b -= a; a -= b; b -= a * x; a -= x
            } }
        }",
    );
    legal(
        "fn f(y: &mut f64, x: f64) {
        managed anc a: f64 = 0.0 { a += x; managed anc b: f64 = 0.0 { swap(a, b); y += b } }
    }",
    );
}

#[test]
fn a_scope_undoes_its_own_part() {
    becomes(
        "fn f(y: &mut f64, x: f64) {
            managed anc a: f64 = 0.0 {
                a += x
                let r: f64 = a * a {
                    managed anc b: f64 = 0.0 { b += r; y += b * a }
                }
            }
        }",
        "fn f(y: &mut f64, x: f64) {
            uncomputed anc a: f64 = 0.0 {
                a += x
                let r: f64 = a * a {
                    uncomputed anc b: f64 = 0.0 { b += r; y += b * a; b -= r }
                }
                a -= x
            }
        }",
    );
}

#[test]
fn a_statement_that_also_writes_something_else_is_illegal() {
    illegal(
        "fn f(y: &mut f64) { managed anc s: f64 = 0.0 { swap(s, y) } }",
        &["R0204 this changes the ancilla `s` together with `y`"],
    );
    illegal(
        "fn f(y: &mut f64, x: f64) { managed anc s: f64 = 0.0 { call g(&mut s, &mut y, x) } }",
        &["R0204 this changes the ancilla `s` together with `y`"],
    );
    illegal(
        "fn f(st: &mut Stack<f64>, x: f64) { managed anc s: f64 = 1.0 { s += x; push(st, s) } }",
        &["R0206 this changes the ancilla `s` together with `st`"],
    );
    legal("fn f(y: &mut f64, x: f64) { managed anc s: f64 = 0.0 { call g(&mut s, x); y += s } }");
}

#[test]
fn explicit_ancillas_stay_as_they_are() {
    becomes(
        "fn f(y: &mut f64) { anc s: f64 = 0.0 { swap(s, y); swap(s, y); release s = 0.0 } }",
        "fn f(y: &mut f64) { anc s: f64 = 0.0 { swap(s, y); swap(s, y); release s = 0.0 } }",
    );
}

#[test]
fn reading_an_ancilla_that_has_been_released_since_is_illegal() {
    illegal(
        "fn f(y: &mut f64, x: f64) {
            managed anc s: f64 = 0.0 { anc e: f64 = 0.0 {
                e += x; s += e; e -= x; release e = 0.0; y += s
            } }
        }",
        &["R0205 this changes `e`"],
    );
}

#[test]
fn an_inner_ancilla_that_the_slice_reads_is_computed_again() {
    becomes(
        "fn f(y: &mut f64, x: [f64], w: [f64]) {
            managed anc s: f64 = 0.0 {
                for i in 0..len(x) {
                    managed anc t: f64 = 0.0 { t += x[i]; t += w[i]; s += t * t; y += t }
                }
                y += s
            }
        }",
        "fn f(y: &mut f64, x: [f64], w: [f64]) {
            uncomputed anc s: f64 = 0.0 {
                for i in 0..len(x) {
                    uncomputed anc t: f64 = 0.0 { t += x[i]; t += w[i]; s += t * t; y += t; t -= w[i]; t -= x[i] }
                }
                y += s
                for i2 in (0..len(x)).rev() {
                    uncomputed anc t2: f64 = 0.0 { t2 += x[i2]; t2 += w[i2]; s -= t2 * t2; t2 -= w[i2]; t2 -= x[i2] }
                }
            }
        }",
    );
}

#[test]
fn an_inner_ancilla_that_the_slice_does_not_read_is_left_out() {
    becomes(
        "fn f(y: &mut f64, x: [f64]) {
            managed anc s: f64 = 0.0 {
                for i in 0..len(x) {
                    managed anc t: f64 = 0.0 { t += x[i]; s += x[i]; y += t }
                }
            }
        }",
        "fn f(y: &mut f64, x: [f64]) {
            uncomputed anc s: f64 = 0.0 {
                for i in 0..len(x) {
                    uncomputed anc t: f64 = 0.0 { t += x[i]; s += x[i]; y += t; t -= x[i] }
                }
                for i2 in (0..len(x)).rev() { s -= x[i2] }
            }
        }",
    );
}

/// Of an array's length alone, neither what an inner ancilla holds nor what a compute part does is needed.
#[test]
fn an_inner_ancilla_of_which_only_the_length_is_asked_is_not_computed_again() {
    let [inside, computed] = [
        "c[0] += x; for i in 0..len(c) { s += 1.0 }",
        "compute { c[0] += x } do { for i in 0..len(c) { s += 1.0 } }",
    ];
    for (statements, after) in [(inside, "; c[0] -= x"), (computed, "")] {
        becomes(
            &format!(
                "fn f(x: &mut f64, n: usize) {{
                    managed anc s: f64 = 0.0 {{
                        managed anc c: [f64] = fill(0.0, n) {{ {statements} }}
                        x += 1.0
                    }}
                }}"
            ),
            &format!(
                "fn f(x: &mut f64, n: usize) {{
                    uncomputed anc s: f64 = 0.0 {{
                        uncomputed anc c: [f64] = fill(0.0, n) {{ {statements}{after} }}
                        x += 1.0
                        uncomputed anc c2: [f64] = fill(0.0, n) {{ for i2 in (0..len(c2)).rev() {{ s -= 1.0 }} }}
                    }}
                }}"
            ),
        );
        illegal(
            &format!(
                "fn f(x: &mut f64, n: usize) {{
                    managed anc s: f64 = 0.0 {{
                        managed anc c: [f64] = fill(0.0, n) {{ {} }}
                        x += 1.0
                    }}
                }}",
                statements.replace("1.0", "c[i]")
            ),
            &["R0205 this changes `x`"],
        );
    }
}

/// A loop as often as an argument is long, inside a compute block that changes the argument's elements.
#[test]
fn a_compute_part_that_changes_an_array_is_not_run_for_its_length() {
    becomes(
        "fn f(x: &mut f64, y: &mut [f64]) {
            managed anc s: f64 = 0.0 {
                compute { y[0] += x } do { for i in 0..len(y) { s += 1.0 } }
                x += 1.0
            }
        }",
        "fn f(x: &mut f64, y: &mut [f64]) {
            uncomputed anc s: f64 = 0.0 {
                compute { y[0] += x } do { for i in 0..len(y) { s += 1.0 } }
                x += 1.0
                for i2 in (0..len(y)).rev() { s -= 1.0 }
            }
        }",
    );
    illegal(
        "fn f(x: &mut f64, y: &mut Stack<f64>, z: &mut f64) {
            managed anc s: usize = 0 {
                compute { z += x; push(y, z) } do { s += len(y) }
                x += 1.0
            }
        }",
        &["R0205 this changes `x`"],
    );
}

#[test]
fn an_inner_ancilla_that_cannot_be_computed_again_is_named_with_the_outer_one() {
    illegal(
        "fn f(y: &mut f64) {
            managed anc s: f64 = 0.0 {
                for i in 0..3 { anc e: f64 = 0.0 { swap(e, y); s += e; swap(e, y); release e = 0.0 } }
            }
        }",
        &["R0204 this changes `e`, which the ancilla `s` is computed from, together with `y`"],
    );
    illegal(
        "fn f(y: &mut f64, x: &mut f64) {
            managed anc s: f64 = 0.0 {
                if y > 0.0 { managed anc t: f64 = 0.0 { t += x; s += t } }
                x += s
            }
        }",
        &["R0205 this changes `x`, which is needed to uncompute the ancilla `s`"],
    );
}

#[test]
fn inner_ancillas_that_depend_on_inner_ancillas_come_along() {
    becomes(
        "fn f(y: &mut f64, x: f64) {
            managed anc s: f64 = 0.0 {
                if x > 0.0 {
                    managed anc c: f64 = 0.0 {
                        c += x
                        managed anc b: f64 = 0.0 { b += c; s += b; y += b }
                    }
                }
                y += s
            }
        }",
        "fn f(y: &mut f64, x: f64) {
            uncomputed anc s: f64 = 0.0 {
                if x > 0.0 {
                    uncomputed anc c: f64 = 0.0 {
                        c += x
                        uncomputed anc b: f64 = 0.0 { b += c; s += b; y += b; b -= c }
                        c -= x
                    }
                }
                y += s
                if x > 0.0 {
                    uncomputed anc c2: f64 = 0.0 {
                        c2 += x
                        uncomputed anc b2: f64 = 0.0 { b2 += c2; s -= b2; b2 -= c2 }
                        c2 -= x
                    }
                }
            }
        }",
    );
}

#[test]
fn a_binding_is_evaluated_again_when_the_slice_needs_it() {
    becomes(
        "fn f(y: &mut f64, x: [f64]) {
            managed anc s: f64 = 0.0 {
                for i in 0..len(x) { let r: f64 = x[i] * 2.0 { let q: f64 = 1.0 { s += r; y += q } } }
            }
        }",
        "fn f(y: &mut f64, x: [f64]) {
            uncomputed anc s: f64 = 0.0 {
                for i in 0..len(x) { let r: f64 = x[i] * 2.0 { let q: f64 = 1.0 { s += r; y += q } } }
                for i2 in (0..len(x)).rev() { let r2: f64 = x[i2] * 2.0 { s -= r2 } }
            }
        }",
    );
    illegal(
        "fn f(y: &mut f64, x: &mut [f64]) {
            managed anc s: f64 = 0.0 {
                for i in 0..len(x) { let r: f64 = x[i] { s += r } }
                x[0] += 1.0
                y += s
            }
        }",
        &["R0205 this changes `x[0]`"],
    );
}

#[test]
fn a_range_must_be_there_again() {
    illegal(
        "fn f(y: &mut f64, n: &mut i64, x: f64) {
            managed anc s: f64 = 0.0 { for i in 0..n { s += x } y += s; n += 1 }
        }",
        &["R0205 this changes `n`"],
    );
}

#[test]
fn the_compute_part_of_a_compute_block_needs_nothing() {
    becomes(
        "fn f(y: &mut f64, x: f64) {
            managed anc t: f64 = 0.0 { compute { t += x } do { y += t } }
        }",
        "fn f(y: &mut f64, x: f64) {
            uncomputed anc t: f64 = 0.0 { compute { t += x } do { y += t } }
        }",
    );
    illegal(
        "fn f(x: &mut f64) {
            managed anc t: f64 = 0.0 { compute { t += x } do { x += t } }
        }",
        &["R0205 this changes `x`"],
    );
}

#[test]
fn a_compute_block_inside_is_run_again_around_the_slice() {
    becomes(
        "fn f(y: &mut f64, x: [f64]) {
            managed anc t: f64 = 0.0 { managed anc s: f64 = 0.0 {
                for i in 0..len(x) { compute { t += x[i] } do { s += t; y += t } }
                y += s
            } }
        }",
        "fn f(y: &mut f64, x: [f64]) {
            uncomputed anc t: f64 = 0.0 { uncomputed anc s: f64 = 0.0 {
                for i in 0..len(x) { compute { t += x[i] } do { s += t; y += t } }
                y += s
                for i2 in (0..len(x)).rev() { compute { t += x[i2] } do { s -= t } }
            } }
        }",
    );
}

#[test]
fn a_compute_block_that_changes_the_basis_is_sliced_whole() {
    becomes(
        "fn f(y: &mut f64, x: f64) {
            managed anc a: f64 = 0.0 { managed anc b: f64 = 0.0 {
                if x > 0.0 { compute { hadamard(a, b) } do { a += x } }
                y += a
            } }
        }",
        "fn f(y: &mut f64, x: f64) {
            uncomputed anc a: f64 = 0.0 { uncomputed anc b: f64 = 0.0 {
                if x > 0.0 { compute { hadamard(a, b) } do { a += x } }
                y += a
                if x > 0.0 { compute { hadamard(a, b) } do { a -= x } }
            } }
        }",
    );
}

#[test]
fn parallel_loops_stay_parallel_and_arrays_are_ancillas_too() {
    becomes(
        "fn f(y: &mut f64, x: [f64]) {
            managed anc s: [f64] = fill(0.0, len(x)) {
                par for i in 0..len(x) { s[i] += exp(x[i]) }
                for i in 0..len(x) { y += s[i] }
            }
        }"
        .replace("for i in 0..len(x) { y", "for j in 0..len(x) { y")
        .replace("y += s[i]", "y += s[j]")
        .as_str(),
        "fn f(y: &mut f64, x: [f64]) {
            uncomputed anc s: [f64] = fill(0.0, len(x)) {
                par for i in 0..len(x) { s[i] += exp(x[i]) }
                for j in 0..len(x) { y += s[j] }
                par for i2 in (0..len(x)).rev() { s[i2] -= exp(x[i2]) }
            }
        }",
    );
}

#[test]
fn each_iteration_undoes_its_own_ancillas() {
    becomes(
        "fn f(y: &mut [f64], x: [f64]) {
            par for i in 0..len(x) { managed anc s: f64 = 0.0 { s += x[i]; y[i] += s * s } }
        }",
        "fn f(y: &mut [f64], x: [f64]) {
            par for i in 0..len(x) { uncomputed anc s: f64 = 0.0 { s += x[i]; y[i] += s * s; s -= x[i] } }
        }",
    );
}

#[test]
fn elements_and_fields_that_certainly_differ_do_not_conflict() {
    legal("fn f(x: &mut [f64]) { managed anc s: f64 = 0.0 { s += x[0]; x[1] += s } }");
    legal("fn f(x: &mut Complex<f64>) { managed anc s: f64 = 0.0 { s += x.re; x.im += s } }");
    legal("fn f(x: &mut [f64], n: i64) { managed anc s: f64 = 0.0 { s += x[n]; x[n + 1] += s } }");
    illegal(
        "fn f(x: &mut [f64], n: i64, m: i64) { managed anc s: f64 = 0.0 { s += x[n]; x[m] += s } }",
        &["R0205 this changes `x[m]`"],
    );
    illegal(
        "fn f(x: &mut [f64]) {
            managed anc k: i64 = 0 { managed anc s: f64 = 0.0 { s += x[k]; k += 1; x[k + 1] += s } }
        }",
        &["R0205 this changes `x[k + 1]`"],
    );
}

#[test]
fn a_write_before_the_read_is_after_it_in_the_next_iteration() {
    illegal(
        "fn f(z: &mut f64, y: &mut f64, n: i64) {
            managed anc s: f64 = 0.0 { for i in 0..n { z += 1.0; s += z; y += s } }
        }",
        &["R0205 this changes `z` for the next iteration"],
    );
    legal(
        "fn f(x: &mut [f64], y: &mut f64) {
        managed anc s: f64 = 0.0 { for i in 0..len(x) { x[i] += 1.0; s += x[i]; y += s } }
    }",
    );
    illegal(
        "fn f(x: &mut [f64], y: &mut f64, n: i64) {
            managed anc s: f64 = 0.0 { for i in 1..n { x[i] += 1.0; s += x[i] + x[i + 1]; y += s } }
        }",
        &["R0205 this changes `x[i]` for the next iteration"],
    );
    legal(
        "fn f(x: &mut [f64], y: &mut f64, n: i64) {
        managed anc s: f64 = 0.0 { for i in 1..n { x[i] += 1.0; s += x[i] + x[i - 1]; y += s } }
    }",
    );
    illegal(
        "fn f(x: &mut [f64], y: &mut f64, n: i64) {
            managed anc s: f64 = 0.0 { for j in 0..n { for i in 1..n { x[i] += 1.0; s += x[i]; y += s } } }
        }",
        &["R0205 this changes `x[i]` for the next iteration"],
    );
}

#[test]
fn a_range_that_has_changed_bounds_nothing() {
    illegal(
        "fn f(y: &mut [f64], z: &mut f64) {
            managed anc s: f64 = 0.0 { anc n: usize = 0 {
                n += 3; s += y[n]; n += 2
                for j in 0..n { y[j] += 1.0 }
                z += s; n -= 5
            } }
        }",
        &["R0205 this changes `y[j]`", "R0205 this changes `n`"],
    );
    legal(
        "fn f(y: &mut [f64], n: usize) {
        managed anc s: f64 = 0.0 { s += y[n]; for j in 0..n { y[j] += s } }
    }",
    );
}

#[test]
fn branches_exclude_each_other_unless_a_loop_repeats_them() {
    legal(
        "fn f(z: &mut f64, y: &mut f64, c: bool) {
        managed anc s: f64 = 0.0 { if c { s += z } else { z += 1.0 } y += s }
    }",
    );
    illegal(
        "fn f(z: &mut f64, y: &mut f64, c: [bool]) {
            managed anc s: f64 = 0.0 { for i in 0..len(c) { if c[i] { s += z } else { z += 1.0 } } y += s }
        }",
        &["R0205 this changes `z` for the next iteration"],
    );
}

#[test]
fn the_height_of_a_stack_is_a_value() {
    illegal(
        "fn f(st: &mut Stack<f64>, x: &mut f64, y: &mut f64) {
            managed anc k: usize = 0 { k += len(st); push(st, x); y += k as f64 }
        }",
        &["R0205 this changes `st`"],
    );
    legal(
        "fn f(a: &mut [f64], y: &mut f64) {
        managed anc k: usize = 0 { k += len(a); a[0] += 1.0; y += k as f64 }
    }",
    );
}

#[test]
fn inverse_blocks_become_statements() {
    becomes(
        "fn f(y: &mut f64, x: f64) {
            managed anc s: f64 = 0.0 { inverse { s += x; y += s } }
        }",
        "fn f(y: &mut f64, x: f64) {
            uncomputed anc s: f64 = 0.0 { y -= s; s -= x; s += x }
        }",
    );
}

#[test]
fn blocks_without_checks_stay_without() {
    becomes(
        "fn f(y: &mut f64, x: f64) {
            managed anc s: f64 = 0.0 { unchecked { s += x; y += s } }
        }",
        "fn f(y: &mut f64, x: f64) {
            uncomputed anc s: f64 = 0.0 { unchecked { s += x; y += s } unchecked { s -= x } }
        }",
    );
}

#[test]
fn what_is_moved_to_a_stack_at_last_is_zero() {
    becomes(
        "fn f(st: &mut Stack<f64>, x: f64) {
            managed anc a: f64 = 0.0 { managed anc b: f64 = 0.0 {
                b += x; a += b; push(st, a); push(st, b)
            } }
        }",
        "fn f(st: &mut Stack<f64>, x: f64) {
            anc a: f64 = 0.0 { anc b: f64 = 0.0 { b += x; a += b; push(st, a); push(st, b) } }
        }",
    );
    let mixed = ["R0206 this changes the ancilla `a` together with `st`"];
    for body in [
        "a += x; push(st, a); a += x",
        "if x > 0.0 { a += x; push(st, a) }",
        "push(st, a); for i in 0..2 { a += x; push(st, a) }",
    ] {
        illegal(
            &format!("fn f(st: &mut Stack<f64>, x: f64) {{ managed anc a: f64 = 0.0 {{ {body} }} }}"),
            &mixed,
        );
    }
    illegal(
        "fn f(st: &mut Stack<(f64, f64)>, x: f64) {
            managed anc a: (f64, f64) = (1.0, 0.0) { a.0 += x; push(st, a) }
        }",
        &mixed,
    );
}

#[test]
fn a_stack_and_what_it_holds_can_be_managed_together() {
    becomes(
        "fn f(y: &mut f64, x: f64) {
            managed anc st: Stack<f64> = stack() { managed anc t: f64 = 0.0 {
                t += x; push(st, t); t += x * x; y += t
            } }
        }",
        "fn f(y: &mut f64, x: f64) {
            uncomputed anc st: Stack<f64> = stack() { uncomputed anc t: f64 = 0.0 {
                t += x; push(st, t); t += x * x; y += t; t -= x * x; pop(st, t); t -= x
            } }
        }",
    );
}

#[test]
fn a_loop_that_undoes_a_part_declares_nothing_about_the_rest() {
    becomes(
        "fn f(y: &mut [f64], x: [f64], k: [usize]) {
            managed anc a: [f64] = fill(0.0, len(k)) {
                par for i in 0..len(k) injective(k) { a[i] += x[i]; y[k[i]] += a[i] }
                par for i in 0..len(k) injective(k) { a[k[i]] += x[i] }
                y[0] += a[0]
            }
        }",
        "fn f(y: &mut [f64], x: [f64], k: [usize]) {
            uncomputed anc a: [f64] = fill(0.0, len(k)) {
                par for i in 0..len(k) injective(k) { a[i] += x[i]; y[k[i]] += a[i] }
                par for i in 0..len(k) injective(k) { a[k[i]] += x[i] }
                y[0] += a[0]
                par for i2 in (0..len(k)).rev() injective(k) { a[k[i2]] -= x[i2] }
                par for i3 in (0..len(k)).rev() { a[i3] -= x[i3] }
            }
        }",
    );
}

#[test]
fn ancillas_in_ancillas_are_sliced_once_each() {
    // each visit of a scope twice, for what it needs and then with it, would take 2^60 of them
    let depth = 60;
    let mut text =
        "fn f(y: &mut f64, x: [f64]) { managed anc s: f64 = 0.0 { for i in 0..len(x) { ".to_string();
    let mut last = "x[i]".to_string();
    for k in 0..depth {
        text += &format!("managed anc a{k}: f64 = 0.0 {{ a{k} += sin({last}); ");
        last = format!("a{k}");
    }
    text += &format!("s += {last} {} }}; y += s * s }} }}", "}".repeat(depth));
    legal(&text);
}
