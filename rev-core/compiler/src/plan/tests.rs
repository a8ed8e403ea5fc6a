//! Decisions about parallel loops, in the plan's text form.

use super::lend::lend;
use super::parallel::LARGE;
use super::{loops, plan, Standing};
use crate::check::check;
use crate::ir::{Span, StmtKind};
use crate::pass::{Erased, Forms, Restores};
use crate::text::parse_function;

/// The plans of the loops of `fn f(params) { body }`.
fn of(params: &str, body: &str) -> String {
    let text = format!("fn f({params}) {{ {} }}", body.replace("; ", "\n"));
    loops(&parse_function(&text).unwrap_or_else(|e| panic!("{text}: {e}")))
}

fn is(params: &str, body: &str, plan: &str) {
    assert_eq!(of(params, body).trim_end(), plan, "{params}: {body}");
}

#[test]
fn elements_are_read_or_each_an_iteration_s_own() {
    let plan = "par i: y own, x read; narrow, linear i; work 4";
    is("y: &mut [f64], x: [f64]", "par for i in 0..len(x) { y[i] += x[i] }", plan);
}

#[test]
fn what_comes_from_the_iteration_varies() {
    let body = "par for i in 0..len(x) { let s: f64 = x[i] { let c: f64 = x[0] { y[i] += s * c } } }";
    is("y: &mut [f64], x: [f64]", body, "par i: y own, x read; narrow, linear i, packs s; work 11");
    let body = "par for i in 0..len(x) { let j: usize = i + 1 { y[j] += x[i] } }";
    is("y: &mut [f64], x: [f64]", body, "par i: y own, x read; narrow, linear i j; work 8");
}

#[test]
fn what_is_written_where_only_some_lanes_are_active_varies() {
    let body = "par for i in 0..len(x) { dropped anc k: i64 = 0 { if x[i] > 0.0 { k += 1 }; y[i] += 2.0 } }";
    is("y: &mut [f64], x: [f64]", body, "par i: y own, x read; narrow, linear i, packs k; work 12");
}

/// A loop around others leaves the lanes to them, unless one of its loops couldn't use them, or would hardly.
#[test]
fn the_innermost_parallel_loops_run_in_lanes() {
    let lanes_of = |body: &str| {
        let body = format!("par for i in 0..dim(y, 0) {{ {body} }}");
        let plan = of("y: &mut Array2<f64>, x: Array2<f64>, b: [f64], k: usize", &body);
        let lines = plan.lines().map(|line| !line.contains("one by one"));
        lines.collect::<Vec<_>>()
    };
    let inner = "par for j in 0..dim(y, 1) { y[i, j] += x[i, j] }";
    assert_eq!(lanes_of(inner), [false, true]);
    assert_eq!(lanes_of(&format!("for l in 0..k {{ {inner} }}")), [false, true]);
    assert_eq!(lanes_of(&format!("for l in 0..15 {{ y[i, l] += b[i] }}; {inner}")), [false, true]);
    // a loop of its own
    assert_eq!(lanes_of("for j in 0..dim(y, 1) { y[i, j] += x[i, j] }"), [true]);
    assert_eq!(lanes_of(&format!("for l in 0..16 {{ y[i, l] += b[i] }}; {inner}")), [true, true]);
    assert_eq!(lanes_of(&format!("for l in 0..k {{ y[i, l] += b[i] }}; {inner}")), [true, true]);
    // of few iterations, and in a branch
    assert_eq!(lanes_of("par for j in 0..15 { y[i, j] += x[i, j] }"), [true, true]);
    assert_eq!(lanes_of("par for j in 0..16 { y[i, j] += x[i, j] }"), [false, true]);
    assert_eq!(lanes_of(&format!("if b[i] > 0.0 {{ {inner} }}")), [true, true]);
}

#[test]
fn loops_over_what_all_lanes_share_are_wide() {
    let body = "par for i in 0..len(y) { for k in 0..3 { y[i] += w[k] } }";
    is("y: &mut [f64], w: [f64]", body, "par i: y own, w read; wide, linear i; work 15");
}

/// An update by an element is three operations.
#[test]
fn large_bodies_without_loops_are_compiled_once() {
    let body = |n: usize| format!("par for i in 0..len(y) {{ {} }}", vec!["y[i] += x[i]"; n].join("; "));
    let lanes = |n: usize| of("y: &mut [f64], x: [f64]", &body(n)).split("; ").nth(1).map(str::to_owned);
    assert_eq!(lanes(LARGE / 3 - 1).as_deref(), Some("narrow, linear i"));
    assert_eq!(lanes(LARGE / 3).as_deref(), Some("narrow once, linear i"));
}

#[test]
fn sums_are_of_a_scalar_an_element_or_an_array() {
    let x = "l: &mut [f64], x: [f64], n: usize, k: [usize]";
    let one = "narrow, linear i; work 4";
    let l = "loss: &mut f64, x: [f64]";
    is(l, "par for i in 0..len(x) { loss += x[i] }", "par i: loss sum, x read; narrow, linear i; work 3");
    let element = format!("par i: l[n] sum, x read, n read; {one}");
    is(x, "par for i in 0..len(x) { l[n] += x[i] }", &element);
    let array = "par i: l sum, x read; wide, linear i; work 15";
    is(x, "par for i in 0..len(x) { for j in 0..3 { l[j] += x[i] } }", array);
    let scattered = "par i: l sum scattered, x read, k read; narrow, linear i; work 5; atomic l";
    is(x, "par for i in 0..len(x) { l[k[i]] += x[i] }", scattered);
}

/// Its index would be read before the loop.
#[test]
fn an_element_whose_index_the_loop_writes_is_not_one() {
    let body = "par for i in 0..len(x) disjoint(k) { k[i] += 1; l[k[0]] += x[i] }";
    let plan = of("l: &mut [f64], x: [f64], k: &mut [usize]", body);
    assert!(plan.starts_with("par i: l sum scattered, x read, k own declared; one by one"), "{plan}");
}

#[test]
fn what_is_compared_runs_in_lanes() {
    let body = "par for i in 0..len(x) { anc a: f64 = 0.0 { a += x[i]; y[i] += a; a -= x[i] } }";
    let plan = "par i: y own, x read; narrow, linear i, packs a; work 11";
    is("y: &mut [f64], x: [f64]", body, plan);
    is("y: &mut [f64], x: [f64]", &(body.replace("par for", "unchecked { par for") + " }"), plan);
    let body = "par for i in 0..len(x) { anc a: [f64;3] = [0.0;3] { a[k] += x[i]; a[j] += a[k] } }";
    let plan = of("x: [f64], j: usize, k: usize", body);
    assert!(plan.contains("narrow, linear i, packs a"), "{plan}");
}

#[test]
fn what_is_claimed_runs_one_by_one() {
    let body = "par for i in 0..len(x) disjoint(y) { y[k[i]] += x[i] }";
    let params = "y: &mut [f64], x: [f64], k: [usize]";
    is(params, body, "par i: y own declared, x read, k read; one by one; work 5; known of y");
    // so does a loop around one that declares something
    for (declared, lanes) in [("disjoint(a)", false), ("injective(k)", false), ("", true)] {
        let inner = format!("par for j in 0..2 {declared} {{ a[k[j]] += x[i] }}");
        let body =
            format!("par for i in 0..len(x) {{ anc a: [f64;3] = [0.0;3] {{ {inner} y[i] += a[0] }} }}");
        let plan = of(params, &body);
        let around = plan.lines().next();
        assert_eq!(around.is_some_and(|line| !line.contains("one by one")), lanes, "{plan}");
    }
}

/// What the indices of declared elements are made of isn't changed by the loop.
#[test]
fn declared_elements_are_known_before_the_loop() {
    let known = |params: &str, body: &str| {
        let plan = of(params, &format!("par for i in 0..len(x) disjoint(y) {{ {body} }}"));
        plan.trim_end().split_once("; known of ").map(|(_, arrays)| arrays.to_string())
    };
    let params = "y: &mut [f64], x: [f64], k: [usize]";
    let is_known = |body: &str| assert_eq!(known(params, body).as_deref(), Some("y"), "{body}");
    let is_unknown = |body: &str| assert_eq!(known(params, body), None, "{body}");
    is_known("let j: usize = k[i] { y[j] += x[i] }");
    is_known("for j in 0..k[i] { y[k[i] + j] += x[i] }");
    is_known("if x[i] > 0.0 { y[k[i]] += x[i] } else { y[i] -= 1.0 }");
    is_known("y[len(y) - k[i] - 1] += x[i]");
    is_known("dropped anc a: f64 = 0.0 { a += y[k[i]]; y[k[i] + 1] += a }");
    is_unknown("dropped anc j: usize = 0 { j += k[i]; y[j] += x[i] }");
    // of what may not run there may be as much as nobody could look through
    is_unknown("if x[i] > 0.0 { for j in 0..k[i] { y[j] += x[i] } }");
    is_unknown("y[i] += { let j: usize = k[i];y[j] }");
    is_known("y[{ let j: usize = k[i];j }] += x[i]");
    let several = "y: &mut [f64], x: [f64], k: &mut [usize]";
    assert_eq!(known(several, "k[i] += 1; y[k[i]] += x[i]"), None);
}

/// A shadow's claims are those of its array.
#[test]
fn arrays_of_which_the_same_elements_are_used_are_claimed_once() {
    let params = "y: &mut [f64], z: &mut [f64], x: [f64], k: [usize]";
    let of = |body: &str| of(params, &format!("par for i in 0..len(x) disjoint(y, z) {{ {body} }}"));
    let same = of("let j: usize = k[i] { y[j] += x[i]; z[j] += x[i] }");
    assert!(same.trim_end().ends_with("; known of y = z"), "{same}");
    let other = of("y[k[i]] += x[i]; z[k[i] + 1] += x[i]");
    assert!(other.trim_end().ends_with("; known of y; known of z"), "{other}");
    // one of fewer elements goes with one of more, not the other way round
    let more = of("y[k[i]] += x[i]; z[k[i]] += x[i]; z[k[i] + 1] += x[i]");
    assert!(more.trim_end().ends_with("; known of y; known of z"), "{more}");
}

#[test]
fn a_loop_inside_adds_to_scattered_elements_as_the_one_around() {
    let body = "par for i in 0..9 { par for j in 0..9 { l[k[i + j]] += x[i] } }";
    let plan = of("l: &mut [f64], x: [f64], k: [usize]", body);
    let [outer, inner] = plan.lines().collect::<Vec<_>>()[..] else { panic!("{plan}") };
    assert!(outer.starts_with("par i: l sum scattered") && outer.ends_with("atomic l"), "{plan}");
    assert!(inner.starts_with("    par j: l sum scattered") && inner.ends_with("as around"), "{plan}");
}

#[test]
fn a_loop_inside_adds_where_it_has_terms_to_what_iterations_around_have_parts_of() {
    let of = |params: &str, declared: &str, place: &str| {
        let body = format!("par for i in 0..9{declared} {{ par for j in 0..len(x) {{ {place} += x[j] }} }}");
        let plan = of(params, &body);
        plan.lines().nth(1).unwrap_or_default().trim().to_string()
    };
    let params = "y: &mut [f64], f: &mut [f64; 9], t: &mut Array2<f64>, k: [usize], x: [f64]";
    for (declared, place, found) in [
        ("", "t[i, j & 1]", "par j: t[i, ..] sum where touched"),
        ("", "t[j & 1, 3]", "par j: t[.., 3] sum"),
        ("", "t[i, k[j]]", "par j: t[i, ..] sum where touched"),
        ("", "t[k[i], j & 1]", "par j: t sum"),
        ("", "t[3 / (i + 1), j & 1]", "par j: t sum"),
        ("", "y[2 * i + (j & 1)]", "par j: y sum"),
        ("", "y[i]", "par j: y[i] sum"),
        ("", "f[i]", "par j: f[i] sum"),
        ("", "y[j & 1]", "par j: y sum"),
        // an iteration that has no terms may name an element that is another's
        (" disjoint(y)", "y[k[i]]", "par j: y[k[i]] sum where touched"),
        (" disjoint(y)", "y[k[i + j]]", "par j: y sum scattered where touched"),
    ] {
        let plan = of(params, declared, place);
        assert!(plan.starts_with(&format!("{found}, ")), "{place}: {plan}");
    }
}

#[test]
fn structs_have_sums_and_nothing_else() {
    let of = |op: &str| format!("par for i in 0..9 {{ y {op} x.a }}");
    is("y: &mut Pair, x: Pair", &of("+="), "par i: y sum, x read; one by one; work 2");
    is("y: &mut Pair, x: Pair", &of("^="), "for i: in order");
}

#[test]
fn sums_into_fields_are_each_one() {
    let function = parse_function(
        "fn f(p: &mut Model, x: [f64]) { par for i in 0..len(x) { p.d[1] += x[i]\n p.m[i, 0] += x[i] * p.t.0\n p.s += x[i] } }",
    );
    let lent = lend(function.unwrap());
    let plan = "par i: x read, __p_d[1] sum, __p_t_0 read, __p_m own, __p_s sum; narrow, linear i; work 14";
    assert_eq!(loops(&lent).trim(), plan);
}

/// A field and a part of it are lent as one: what is used of other fields runs in parallel beside them.
#[test]
fn a_field_and_a_part_of_it_are_lent_as_one() {
    let of = |body: &str| {
        let text = format!(
            "fn f(s: &mut S, t: S, y: &mut [f64]) {{ par for i in 0..len(y) {{ {} }} }}",
            body.replace("; ", "\n")
        );
        loops(&lend(parse_function(&text).unwrap())).trim().to_string()
    };
    let plan = of("s.c += 1.0; y[i] += s.p.u; call g(&mut y[i], s.p)");
    assert!(plan.starts_with("par i: y own, __s_c sum, __s_p read;"), "{plan}");
    let plan = of("s.p.u += 1.0; s.p += t.p; y[i] += s.c");
    assert!(plan.starts_with("par i: t read, y own, __s_p sum, __s_c read;"), "{plan}");
    // elements that are written have a handle, which a part of what is reached by reference hasn't
    let plan = of("s.p.v[i] += 1.0; s.p += t.p; y[i] += s.c");
    assert_eq!(plan, "for i: in order, s.p sum");
}

/// What a loop in order adds to, where the deterministic mode can set it to zero for a block.
#[test]
fn sums_of_loops_in_order() {
    let of = |params: &str, body: &str| {
        let text = format!("fn f({params}) {{ par for i in 0..len(x) {{ {} }} }}", body.replace("; ", "\n"));
        loops(&lend(parse_function(&text).unwrap())).trim().to_string()
    };
    let x = "x: [f64], k: [usize], n: usize";
    let is = |z: &str, body: &str, sums: &str| {
        assert_eq!(of(&format!("z: &mut {z}, {x}"), body), format!("for i: in order{sums}"), "{body}");
    };
    is("c64", "z.re += x[i] * z.im", ", z.re sum");
    is("[f64; 3]", "z[0] += x[i]; z[0] += x[i] * z[1]", ", z[0] sum");
    is("[f64; 3]", "z[n + 1] += x[i] * z[n]", ", z[n + 1] sum");
    is("[f64; 3]", "z[0] += x[i] * z[2]; z[1] += x[i]", ", z[0] sum, z[1] sum");
    is("(f64, f64)", "z.0 += x[i] * z.1", ", z.0 sum");
    // the element changes in the loop, so that others may be read
    is("[f64; 3]", "for j in 1..3 { z[j] += x[i] * z[0] }", "");
}

/// The plan of `fn f(params) { body }`.
fn plan_of(params: &str, body: &str) -> String {
    let text = format!("fn f({params}) {{ {} }}", body.replace("; ", "\n"));
    plan(&check(parse_function(&text).unwrap()).unwrap(), Standing::WRITTEN).to_string()
}

#[test]
fn programs_are_erased() {
    let plan = plan_of("y: &mut f64, x: f64", "y += x * x");
    assert_eq!(plan, "program\ninverse's program\nadjoint\nadjoint for shadows\n");
    let plan = plan_of("y: &mut f64, x: f64", "anc a: f64 = 0.0 { a += x; y += x; a -= x }");
    assert!(
        plan.starts_with("program with checks\nprogram without checks\ninverse's program with checks"),
        "{plan}"
    );
}

#[test]
fn the_adjoint_of_an_inverse_is_there_where_it_is_asked_for_or_called_by_the_function() {
    let whole = "inverse's adjoint: whole\n";
    let function = || check(parse_function("fn f(y: &mut f64, x: f64) { y += x * x }").unwrap()).unwrap();
    let asked = Standing { inverse_adjoint: true, ..Standing::WRITTEN };
    assert!(plan(&function(), asked).to_string().ends_with(whole));
    assert!(!plan(&function(), Standing::WRITTEN).to_string().contains(whole));
    let calls =
        |callee: &str| plan_of("y: &mut f64, n: i64", &format!("if n > 0 {{ uncall {callee}(&mut y, &n) }}"));
    assert!(calls("f").contains(whole) && calls("Self::f").contains(whole), "{}", calls("f"));
    assert!(!calls("g").contains(whole));
}

#[test]
fn a_loop_and_its_adjoint_are_one_sweep() {
    let body = "par for i in 0..len(x) { managed anc s: f64 = 0.0 { s += x[i] * x[i]; l += s * s } }";
    let plan = plan_of("l: &mut f64, x: [f64]", body);
    let (_, fused) = plan.split_once("fused\n").unwrap();
    let line =
        "    par i: l sum, x read, l_bar read, x_bar own; narrow, linear i, packs s s_bar t2 t3 __x_read; work 32\n";
    assert_eq!(fused, line, "{plan}");
}

#[test]
fn functions_that_take_functions_have_no_programs_for_lanes() {
    let text = "fn f<F: fn(&mut f64)>(g: F, y: &mut f64) { call g(&mut y) }";
    let plan = plan(&check(parse_function(text).unwrap()).unwrap(), Standing::WRITTEN);
    assert!(!plan.laned && plan.fused.is_none());
}

/// What is emitted of the adjoint of `fn f(y: &mut f64, x: f64) { body }`, whose statements stand on lines of their own.
fn adjoint_of(body: &str) -> super::Variants {
    let mut function = parse_function(&format!("fn f(y: &mut f64, x: f64) {{ {body} }}")).unwrap();
    for (stmt, line) in function.body.iter_mut().zip(1..) {
        stmt.span = Span { line, ..Span::NONE };
    }
    let [_, _, adjoint] = plan(&check(function).unwrap(), Standing::WRITTEN).programs;
    adjoint.variants.unwrap()
}

#[test]
fn an_adjoint_in_which_only_calls_restore_is_one_program() {
    let variants = adjoint_of("call g(&mut y, &x)");
    assert_eq!(variants.shadows, None);
    let Forms::One(one) = &variants.all else { panic!("{variants:?}") };
    let [call] = one.body.as_slice() else { panic!("{one:?}") };
    assert_eq!(one.restores(call.span), Restores::AsCaller);
}

#[test]
fn an_adjoint_that_restores_by_its_own_statements_is_two() {
    let variants = adjoint_of("y += x call g(&mut y, &x)");
    let shadows = variants.shadows.expect("`y -= x` isn't in it");
    assert_ne!(variants.all.checked().body, shadows.checked().body);
    let call = |program: &Erased| {
        program.body.iter().find(|s| matches!(s.kind, StmtKind::Call { .. })).map(|s| s.span)
    };
    let (all, shadows) = (variants.all.checked(), shadows.checked());
    assert_eq!(call(all).map(|at| all.restores(at)), Some(Restores::Always));
    assert_eq!(call(shadows).map(|at| shadows.restores(at)), Some(Restores::Never));
}

/// A row of a sparse matrix, and what isn't like it: as many trips in all lanes, elements that lie one after the other,
/// a function to compute.
#[test]
fn loops_that_mostly_gather_run_one_by_one() {
    let params = "y: &mut [f64], starts: [usize], columns: [usize], x: [f64]";
    let lanes =
        |body: &str| !of(params, &format!("par for i in 0..len(y) {{ {body} }}")).contains("one by one");
    let rows = |term: &str| format!("for k in starts[i]..starts[i + 1] {{ y[i] += {term} }}");
    assert!(!lanes(&rows("x[columns[k]]")));
    assert!(!lanes(&rows("x[k] * x[k]")));
    let search = "dropped anc k: usize = 0 { while columns[k] < i post k > 0 { k += 1 }; y[i] += x[k] }";
    assert!(!lanes(search));
    assert!(lanes(&rows("exp(x[columns[k]])")));
    assert!(lanes(&rows("x[i]")));
    assert!(lanes("for k in 0..9 { y[i] += x[columns[i + k]] }"));
    assert!(lanes(
        "dropped anc k: i64 = 0 { while (k as f64) < x[i] post k > 0 { k += 1 }; y[i] += (k as f64) }"
    ));
}
