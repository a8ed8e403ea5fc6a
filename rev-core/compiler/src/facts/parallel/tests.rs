//! The class of every variable of small parallel loops, and the conflicts of wrong ones.

use super::*;
use crate::pass::{adjoint, Adjoint};
use crate::text::{parse_function, show};

fn parse(text: &str) -> Function {
    parse_function(&text.replace("; ", "\n")).unwrap()
}

/// The first parallel loop of a block.
fn parallel_loop(block: &[Stmt]) -> Option<&Stmt> {
    block.iter().find_map(|s| match &s.kind {
        StmtKind::For { parallel: Some(_), .. } => Some(s),
        _ => s.blocks().into_iter().find_map(|b| parallel_loop(b)),
    })
}

fn describe(class: &PlaceClass) -> String {
    match class {
        PlaceClass::Private => "private".into(),
        PlaceClass::ReadOnly => "read".into(),
        PlaceClass::Owned { declared: false } => "owned".into(),
        PlaceClass::Owned { declared: true } => "declared".into(),
        PlaceClass::Accumulated(a) => {
            let kind = match (a.uniform, a.scattered) {
                (true, _) => "uniform",
                (false, true) => "scattered",
                (false, false) => "strided",
            };
            format!("{kind}{}", if a.called { " called" } else { "" })
        }
        PlaceClass::Parts(parts) => parts.iter().map(|(_, c)| describe(c)).collect::<Vec<_>>().join("+"),
    }
}

/// The classes of the first parallel loop's variables as `name: class`, or `conflict: write / other`.
fn facts(f: &Function) -> Vec<String> {
    match classify(f, parallel_loop(&f.body).unwrap()) {
        Ok(facts) => {
            facts.classes.iter().map(|(v, c)| format!("{}: {}", f.var(*v).name, describe(c))).collect()
        }
        Err(conflicts) => conflicts
            .iter()
            .map(|c| format!("conflict: {} / {}", show(f, &c.write.place), show(f, &c.other.place)))
            .collect(),
    }
}

/// The first parallel loop of `text` has these facts among others.
fn has(text: &str, expected: &[&str]) {
    let found = facts(&parse(text));
    expected.iter().for_each(|e| assert!(found.iter().any(|f| f == e), "{e} in {found:#?}"));
}

fn conflict(text: &str, expected: &[&str]) {
    assert_eq!(facts(&parse(text)), expected.iter().map(|e| format!("conflict: {e}")).collect::<Vec<_>>());
}

/// The facts about the adjoint of a program.
fn adjoint_has(text: &str, expected: &[&str]) {
    let f = crate::check::check(parse(text)).unwrap();
    for form in [Adjoint::LEAN, Adjoint::REVERSIBLE] {
        let a = adjoint(&f, form);
        let found = facts(&a);
        expected.iter().for_each(|e| {
            assert!(found.iter().any(|f| f == e), "{e} in {found:#?}\n{}", crate::text::print_function(&a))
        });
    }
}

#[test]
fn a_scalar_read_by_every_iteration_and_its_adjoint() {
    let axpy = "fn f(y: &mut [f64], a: f64, x: [f64]) { par for i in 0..len(x) { y[i] += a * x[i] } }";
    has(axpy, &["y: owned", "a: read", "x: read"]);
    adjoint_has(axpy, &["a_bar: uniform", "x_bar: owned", "y_bar: read"]);
}

#[test]
fn gathers_and_scatters_are_dual() {
    let scatter =
        "fn f(y: &mut [f64], x: [f64], idx: [usize]) { par for i in 0..len(x) { y[idx[i]] += x[i] } }";
    has(scatter, &["y: scattered", "x: read", "idx: read"]);
    adjoint_has(scatter, &["x_bar: owned", "y_bar: read"]);
    let gather =
        "fn f(y: [f64], x: &mut [f64], idx: [usize]) { par for i in 0..len(x) { x[i] += y[idx[i]] } }";
    has(gather, &["x: owned", "y: read"]);
    adjoint_has(gather, &["y_bar: scattered", "x_bar: read"]);
}

#[test]
fn a_field_in_which_only_sums_are_formed_is_one_sum() {
    let of =
        |body: &str| format!("fn f(q: &mut Model, n: usize, x: f64) {{ par for i in 0..n {{ {body} }} }}");
    has(&of("q.g[i].u += x; q.g[i].v += x; q.g[6].v += x"), &["q: strided"]);
    has(&of("q.d[i] += x; q.g[i].v += x; q.g[6].v += x"), &["q: owned+strided"]);
    has(&of("neg(q.g[i].u); q.g[i].v += x; q.g[6].v += x"), &["q: owned+strided"]);
    has(&of("q.g[i].v += q.g[i].u; q.g[6].v += x"), &["q: read+strided"]);
}

#[test]
fn reading_what_another_iteration_writes_is_a_conflict() {
    conflict(
        "fn f(y: &mut [f64], n: usize) { par for i in 0..n { y[i] += y[i + 1] } }",
        &["y[i] / y[i + 1]"],
    );
    conflict(
        "fn f(y: &mut [f64], z: &mut f64, n: usize) { par for i in 0..n { y[0] += 1.0; z += y[i] } }",
        &["y[0] / y[i]"],
    );
    conflict(
        "fn f(s: &mut f64, x: &mut [f64]) { par for i in 0..len(x) { s += x[i]; x[i] += s } }",
        &["s / s"],
    );
}

#[test]
fn an_exchange_of_two_halves_must_be_proven_or_declared() {
    conflict(
        "fn f(a: &mut [f64], n: usize) { par for i in 0..n / 2 { swap(a[i], a[n - 1 - i]) } }",
        &["a[i] / a[n - 1 - i]"],
    );
    has(
        "fn f(a: &mut [f64], n: usize) { par for i in 0..n / 2 disjoint(a) { swap(a[i], a[n - 1 - i]) } }",
        &["a: declared"],
    );
    has("fn f(a: &mut [f64], n: usize) { par for i in 0..n { swap(a[i], a[i + n]) } }", &["a: owned"]);
    conflict(
        "fn f(a: &mut [f64], n: usize, m: usize) { par for i in 0..n { swap(a[i], a[i + m]) } }",
        &["a[i] / a[i + m]"],
    );
    has(
        "fn f(a: &mut [f64], n: usize, m: usize) { par for i in 0..n disjoint(a) { swap(a[i], a[i + m]) } }",
        &["a: declared"],
    );
}

#[test]
fn strides_keep_elements_apart() {
    has(
        "fn f(a: &mut [f64], n: usize) { par for i in 0..n { swap(a[2 * i], a[2 * i + 1]) } }",
        &["a: owned"],
    );
    has(
        "fn f(a: &mut [f64], n: usize) { par for i in (0..n).step_by(2) { swap(a[i], a[i + 1]) } }",
        &["a: owned"],
    );
    has(
        "fn f(a: &mut [f64], n: usize) { par for i in (0..n).step_by(2).rev() { swap(a[i], a[i + 1]) } }",
        &["a: owned"],
    );
    conflict(
        "fn f(a: &mut [f64], n: usize) { par for i in 0..n { swap(a[i], a[i + 1]) } }",
        &["a[i] / a[i + 1]"],
    );
    conflict(
        "fn f(a: &mut [f64], n: usize) { par for i in 0..n { swap(a[2 * i], a[2 * i + 2]) } }",
        &["a[2 * i] / a[2 * i + 2]"],
    );
    has("fn f(a: &mut [f64], n: usize) { par for i in 0..4 { swap(a[i], a[i + 4]) } }", &["a: owned"]);
    conflict(
        "fn f(a: &mut [f64], n: usize) { par for i in 0..5 { swap(a[i], a[i + 4]) } }",
        &["a[i] / a[i + 4]"],
    );
}

#[test]
fn a_row_of_a_matrix_belongs_to_an_iteration() {
    has(
        "fn f(x: &mut Array2<f64>, w: [f64], n: usize, d: usize) {
            par for i in 0..n { for j in 1..d { x[i, j] += w[j] * x[i, j - 1] } }
        }",
        &["x: owned", "w: read", "j: private", "i: private"],
    );
    conflict(
        "fn f(x: &mut Array2<f64>, n: usize, d: usize) {
            par for i in 1..n { for j in 0..d { x[i, j] += x[i - 1, j] } }
        }",
        &["x[i, j] / x[i - 1, j]"],
    );
    has(
        "fn f(x: &mut Array2<f64>, n: usize, d: usize) {
            par for j in 0..d { for i in 1..n { x[i, j] += x[i - 1, j] } }
        }",
        &["x: owned"],
    );
}

#[test]
fn a_flattened_matrix_is_as_good() {
    has(
        "fn f(x: &mut [f64], n: usize, d: usize) { par for i in 0..n { for j in 0..d { neg(x[i * d + j]) } } }",
        &["x: owned"],
    );
    has(
        "fn f(x: &mut [f64], n: usize, m: usize, d: usize) {
            par for i in 0..n { for j in 0..m { for k in 0..d { neg(x[(i * m + j) * d + k]) } } }
        }",
        &["x: owned"],
    );
    conflict(
        "fn f(x: &mut [f64], n: usize, d: usize) { par for i in 0..n { for j in 0..d + 1 { neg(x[i * d + j]) } } }",
        &["x[i * d + j] / x[i * d + j]"],
    );
    has(
        "fn f(x: &mut [f64], n: usize) {
            for s in 0..n {
                let h: usize = n >> (s as i32) { par for b in 0..n { for k in 0..h { swap(x[2 * h * b + k], x[2 * h * b + k + h]) } } }
            }
        }",
        &["x: owned"],
    );
    conflict(
        "fn f(x: &mut [f64], n: i64) {
            let h: i64 = n >> 1 { par for b in 0..n { for k in 0..h { swap(x[2 * h * b + k], x[2 * h * b + k + h]) } } }
        }",
        &["x[2 * h * b + k] / x[2 * h * b + k]"],
    );
    has(
        "fn f(x: &mut [f64], n: usize) { par for i in 0..n { for j in 0..3 { neg(x[3 * i + j]) } } }",
        &["x: owned"],
    );
    conflict(
        "fn f(x: &mut [f64], n: usize) { par for i in 0..n { for j in 0..4 { neg(x[3 * i + j]) } } }",
        &["x[3 * i + j] / x[3 * i + j]"],
    );
    has(
        "fn f(x: &mut Array2<f64>, n: usize) { par for i in 0..n { for j in 0..i { neg(x[i, j]) } } }",
        &["x: owned"],
    );
}

#[test]
fn slices_are_ranges_of_elements() {
    has(
        "fn f(x: &mut [f64], n: usize) { par for i in 0..n { call g(&mut x[3 * i..3 * i + 3]) } }",
        &["x: owned"],
    );
    conflict(
        "fn f(x: &mut [f64], n: usize) { par for i in 0..n { call g(&mut x[3 * i..3 * i + 4]) } }",
        &["x[3 * i..3 * i + 4] / x[3 * i..3 * i + 4]"],
    );
    has("fn f(x: &mut [f64], n: usize, d: usize) { par for i in 0..n { call g(&mut x[i * d..(i + 1) * d]) } }", &[
        "x: owned",
    ]);
    conflict("fn f(x: &mut [f64], n: usize) { par for i in 0..n { call g(&mut x, i) } }", &["x / x"]);
}

#[test]
fn index_arrays_are_injective_when_declared() {
    conflict(
        "fn f(x: &mut [f64], k: [usize]) { par for i in 0..len(k) { neg(x[k[i]]) } }",
        &["x[k[i]] / x[k[i]]"],
    );
    has(
        "fn f(x: &mut [f64], k: [usize]) { par for i in 0..len(k) injective(k) { neg(x[k[i]]) } }",
        &["x: owned"],
    );
    has(
        "fn f(x: &mut Array2<f64>, k: [usize], d: usize) {
            par for i in 0..len(k) injective(k) { for j in 0..d { x[k[i], j] += x[k[i], 0] * 2.0 } }
        }"
        .replace("x[k[i], 0] * 2.0", "1.0")
        .as_str(),
        &["x: owned"],
    );
    has(
        "fn f(x: &mut [f64], k: [usize]) {
            par for i in 0..len(k) injective(k) { let p: usize = 2 * k[i] { swap(x[p], x[p + 1]) } }
        }",
        &["x: owned"],
    );
    conflict("fn f(x: &mut [f64], k: [usize]) { par for i in 0..len(k) injective(k) { swap(x[k[i]], x[k[i] + 1]) } }", &[
        "x[k[i]] / x[k[i] + 1]",
    ]);
    conflict(
        "fn f(x: &mut [f64], k: [usize], n: usize) { par for i in 0..n injective(k) { neg(x[k[i / 2]]) } }",
        &["x[k[i / 2]] / x[k[i / 2]]"],
    );
}

#[test]
fn bindings_are_seen_through() {
    has("fn f(x: &mut [f64], n: usize) { par for i in 0..n { let k: usize = 2 * i { swap(x[k], x[k + 1]) } } }", &[
        "x: owned", "k: private",
    ]);
    conflict(
        "fn f(x: &mut [f64], n: usize) { par for i in 0..n { let k: usize = i / 2 { neg(x[k]) } } }",
        &["x[k] / x[k]"],
    );
    has(
        "fn f(x: &mut [f64], n: usize) { par for i in 0..n { let k: usize = i / 2 { x[k] += 1.0 } } }",
        &["x: strided"],
    );
}

#[test]
fn a_counter_of_the_iteration_says_nothing() {
    conflict(
        "fn f(x: &mut [f64], n: usize) {
            par for i in 0..n { anc k: usize = 0 { k += i; neg(x[k]); k -= i } }
        }",
        &["x[k] / x[k]"],
    );
    has(
        "fn f(x: &mut [f64], n: usize) {
            par for i in 0..n { anc k: usize = 0 { k += i; x[k] += 1.0; k -= i } }
        }",
        &["x: scattered", "k: private"],
    );
}

#[test]
fn fields_are_judged_separately() {
    has(
        "fn f(s: &mut State<f64>, n: usize) { par for i in 0..n { s.total += s.scale; s.x[i] += s.scale } }",
        &["s: uniform+read+owned"],
    );
    has(
        "fn f(c: &mut [Camera<f64>], n: usize) { par for i in 0..n { for k in 0..3 { c[i].rot[k] += c[i].x0 } } }",
        &["c: owned"],
    );
    conflict(
        "fn f(c: &mut [Camera<f64>], n: usize) { par for i in 0..n { c[0].x0 += c[i].x0 } }",
        &["c[0].x0 / c[i].x0"],
    );
    has(
        "fn f(c: &mut [Camera<f64>], n: usize) { par for i in 0..n { c[0].x0 += c[i].y0 } }",
        &["c: read+uniform"],
    );
    has("fn f(z: &mut [Complex<f64>], n: usize) { par for i in 0..n { z[i].re += z[i].im } }", &["z: owned"]);
}

#[test]
fn small_shared_arrays_are_uniform() {
    has(
        "fn f(w: &mut [f64], x: Array2<f64>, n: usize, d: usize) {
            par for i in 0..n { for j in 0..d { w[j] += x[i, j] } }
        }",
        &["w: uniform"],
    );
    has("fn f(w: &mut [f64], n: usize) { par for i in 0..n { w[0] += 1.0; w[1] += 2.0 } }", &["w: uniform"]);
    has(
        "fn f(w: &mut [f64], n: usize) { par for i in 0..n { for j in 0..i { w[j] += 1.0 } } }",
        &["w: strided"],
    );
    has("fn f(w: &mut [u64], n: usize) { par for i in 0..n { w[i / 2] ^= 1 } }", &["w: strided"]);
    conflict(
        "fn f(w: &mut [u64], n: usize) { par for i in 0..n { w[i / 2] ^= 1; w[0] += 1 } }",
        &["w[i / 2] / w[0]"],
    );
    conflict("fn f(w: &mut f64, n: usize) { par for i in 0..n { neg(w) } }", &["w / w"]);
}

#[test]
fn stencils_gather_and_their_adjoints_add() {
    let stencil = "fn f(y: &mut [f64], x: [f64], n: usize) {
        par for i in 1..n { y[i] += x[i - 1] - 2.0 * x[i] + x[i + 1] }
    }";
    has(stencil, &["y: owned", "x: read"]);
    adjoint_has(stencil, &["x_bar: strided", "y_bar: read"]);
}

#[test]
fn calls_accumulate_or_change() {
    has(
        "fn f(y: &mut [f64], w: [f64], loss_bar: &acc f64, w_bar: &acc [f64], n: usize) {
            par for i in 0..n { call g(&mut y[i], &acc w_bar, &acc loss_bar, &w) }
        }",
        &["y: owned", "w_bar: uniform called", "loss_bar: uniform called", "w: read"],
    );
    conflict(
        "fn f(loss: &mut f64, n: usize) { par for i in 0..n { call g(&mut loss, i) } }",
        &["loss / loss"],
    );
    adjoint_has(
        "fn f(y: &mut [f64], w: [f64], n: usize) { par for i in 0..n { call g(&mut y[i], &w) } }",
        &["y: owned", "y_bar: owned", "w_bar: uniform called"],
    );
}

#[test]
fn stacks_belong_to_one_iteration() {
    conflict(
        "fn f(st: &mut Stack<f64>, x: &mut [f64], n: usize) { par for i in 0..n { push(st, x[i]) } }",
        &["st / st"],
    );
    has(
        "fn f(x: &mut [f64], n: usize) {
            par for i in 0..n { anc st: Stack<f64> = stack() { push(st, x[i]); pop(st, x[i]) } }
        }",
        &["st: private", "x: owned"],
    );
}

#[test]
fn nested_loops_are_judged_one_by_one() {
    let nested = "fn f(x: &mut Array2<f64>, s: &mut [f64], n: usize, d: usize) {
        par for i in 0..n { par for j in 0..d { neg(x[i, j]); s[i] += 1.0 } }
    }";
    has(nested, &["x: owned", "s: owned"]);
    let f = parse(nested);
    let outer = parallel_loop(&f.body).unwrap();
    let inner = classify(&f, &outer.blocks()[0][0]).unwrap();
    let s = f.find_var("s").unwrap();
    assert_eq!(describe(&inner.classes[&s]), "uniform");
    has(
        "fn f(x: &mut [f64], n: usize) { for t in 0..n { par for i in 0..n { x[i + t] += 1.0 } } }",
        &["x: owned"],
    );
    has(
        "fn f(x: &mut Array2<f64>, n: usize) {
            for t in 1..n { par for i in 0..n { x[t, i] += x[t - 1, i + 1] } }
        }",
        &["x: owned"],
    );
}

/// The same element of an array that each iteration has for itself is another number in each.
#[test]
fn an_index_read_from_what_varies_is_scattered() {
    has(
        "fn f(s: &mut [f64], x: [usize], n: usize) {
            par for i in 0..n { anc k: [usize;2] = [0;2] { k[0] += x[i]; s[k[0]] += 1.0 } }
        }",
        &["s: scattered"],
    );
    has(
        "fn f(s: &mut [f64], k: [usize], n: usize) { par for i in 0..n { s[k[0]] += 1.0 } }",
        &["s: uniform"],
    );
}

/// No two iterations are as far apart as these elements are, or none by such a part of a step.
#[test]
fn elements_that_no_two_iterations_share_are_owned() {
    for owned in [
        "par for i in 0..n { swap(x[3 * i], x[3 * i + 4]) }",
        "par for i in 0..n { swap(x[3 * i + 1], x[3 * i + 6]) }",
        "par for i in 0..4 { swap(x[i], x[i + 4]) }",
        "par for i in (0..n).step_by(6) { swap(x[i], x[i + 8]) }",
    ] {
        has(&format!("fn f(x: &mut [f64], n: usize) {{ {owned} }}"), &["x: owned"]);
    }
    for shared in
        ["par for i in 0..n { swap(x[3 * i], x[3 * i + 6]) }", "par for i in 0..5 { swap(x[i], x[i + 4]) }"]
    {
        let found = facts(&parse(&format!("fn f(x: &mut [f64], n: usize) {{ {shared} }}")));
        assert!(
            !found.is_empty() && found.iter().all(|f| f.starts_with("conflict: x")),
            "{shared}: {found:?}"
        );
    }
}

/// A conversion to a narrow type, or of arithmetic in one, takes different numbers to the same.
#[test]
fn conversions_that_lose_numbers_tell_no_iterations_apart() {
    for index in
        ["i as u8 as usize", "(i + 1) as i32 as usize", "(2 * (i as u16)) as usize", "i as f32 as usize"]
    {
        let text = format!("fn f(x: &mut [f64], n: usize) {{ par for i in 0..n {{ neg(x[{index}]) }} }}");
        let found = facts(&parse(&text));
        assert!(
            !found.is_empty() && found.iter().all(|f| f.starts_with("conflict: x")),
            "{index}: {found:?}"
        );
    }
    // these wrap before they are converted
    for index in ["2 * i", "i * i", "i + 1"] {
        let text = format!(
            "fn f(x: &mut [f64], n: u8) {{ par for i: u8 in 0..n {{ neg(x[({index}) as usize]) }} }}"
        );
        let found = facts(&parse(&text));
        assert!(
            !found.is_empty() && found.iter().all(|f| f.starts_with("conflict: x")),
            "{index}: {found:?}"
        );
    }
    has(
        "fn f(x: &mut [f64], n: usize) { par for i in 0..n { neg(x[(2 * i + 1) as u64 as usize]) } }",
        &["x: owned"],
    );
    has("fn f(x: &mut [f64], n: u8) { par for i: u8 in 0..n { neg(x[i as usize]) } }", &["x: owned"]);
}

#[test]
fn the_adjoint_of_an_owned_exchange_is_owned() {
    adjoint_has(
        "fn f(a: &mut [f64], b: &mut [f64], n: usize) { par for i in 0..n { swap(a[i], b[2 * i]); neg(a[i]) } }",
        &["a_bar: owned", "b_bar: owned", "a: owned"],
    );
    adjoint_has(
        "fn f(a: &mut [f64], n: usize) { par for i in 0..n / 2 disjoint(a) { swap(a[i], a[n - 1 - i]) } }",
        &["a: declared", "a_bar: declared"],
    );
    adjoint_has(
        "fn f(a: &mut [f64], k: [usize], n: usize) { par for i in 0..n injective(k) { neg(a[k[i]]) } }",
        &["a: owned", "a_bar: owned"],
    );
}

#[test]
fn a_place_finds_its_own_class() {
    let f = parse(
        "fn f(s: &mut State<f64>, n: usize) { par for i in 0..n { s.total += 1.0; s.x[i] += s.scale } }",
    );
    let stmt = parallel_loop(&f.body).unwrap();
    let facts = classify(&f, stmt).unwrap();
    let mut found = Vec::new();
    stmt.blocks()[0].iter().for_each(|s| {
        s.each_access_deep(&mut |p, _| {
            found.extend(facts.class_of(p).map(|c| (show(&f, p).to_string(), describe(c))))
        })
    });
    let expected = [("s.total", "uniform"), ("s.scale", "read"), ("s.x[i]", "owned"), ("i", "private")];
    assert_eq!(found, expected.map(|(p, c)| (p.to_string(), c.to_string())));
    assert_eq!(facts.accumulated().count(), 1);
}
