//! Patterns of Jacobians and Hessians, of programs of which they are known.

use super::*;
use crate::sparse::{Branches, Pattern, Sparsity};
use approx::{abs_diff_eq, assert_abs_diff_eq};

/// Places of a matrix, and whether it has one.
type Places = &'static [(usize, usize)];
type Has<'a> = &'a dyn Fn(usize, usize) -> bool;

fn vector(n: usize) -> Data {
    (0..n).map(|k| 0.3 + 0.1 * k as f64).collect::<Vec<f64>>().load()
}

fn hessian(text: &str, args: &[Data], branches: Branches) -> Pattern {
    module(text).hessian_pattern(0, args, branches).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn jacobian(text: &str, args: &[Data], branches: Branches) -> Pattern {
    module(text).jacobian_pattern(args, branches).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn pattern(rows: usize, columns: usize, has: impl Fn(usize, usize) -> bool) -> Pattern {
    let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    Pattern::new(rows, columns, all.filter(|(i, j)| has(*i, *j))).unwrap()
}

fn places(pattern: &Pattern) -> Vec<(usize, usize)> {
    pattern.iter().collect()
}

#[test]
fn hessians_of_sums() {
    let cases: [(&str, usize, Has); 6] = [
        // a chain of springs
        ("for i in 1..len(x) { let d: f64 = x[i] - x[i - 1] { y += d * d } }", 7, &|i, j| i.abs_diff(j) < 2),
        // the same with an ancilla that is taken back
        (
            "for i in 1..len(x) { managed anc d: f64 = 0.0 { d += x[i] d -= x[i - 1] y += d * d } }",
            7,
            &|i, j| i.abs_diff(j) < 2,
        ),
        // Rosenbrock's function
        (
            "for i in 1..len(x) {
                let d: f64 = x[i] - x[i - 1] * x[i - 1] { y += 100.0 * d * d }
                let e: f64 = 1.0 - x[i - 1] { y += e * e }
             }",
            1000,
            &|i, j| i.abs_diff(j) < 2,
        ),
        // everything with the first one
        ("for i in 1..len(x) { y += x[0] * x[i] + sin(x[i]) }", 6, &|i, j| {
            (i == j && i > 0) || (i != j && (i == 0 || j == 0))
        }),
        // a product of all
        ("managed anc p: f64 = 1.0 { for i in 0..len(x) { scale_by(p, x[i]) } y += p }", 5, &|i, j| i != j),
        // linear but for a part
        (
            "for i in 0..len(x) { y += 2.0 * x[i] - x[0] / 3.0 } y += abs(x[1]) + floor(x[2]) y += exp(x[3])",
            5,
            &|i, j| (i, j) == (3, 3),
        ),
    ];
    for (body, n, expected) in cases {
        let text = format!("fn f(y: &mut f64, x: [f64]) {{ {body} }}");
        for branches in [Branches::Taken, Branches::All] {
            let found = hessian(&text, &[0.0.load(), vector(n)], branches);
            assert_eq!(found, pattern(n, n, expected), "{branches:?} {text}");
        }
        let pushed = module(&text).hessian_pushed(0, &[0.0.load(), vector(n)]).unwrap();
        assert_eq!(**pushed.pattern(), pattern(n, n, expected), "{text}");
    }
}

/// ½ xᵀA x with a sparse A: the Hessian is where A is.
#[test]
fn a_sparse_quadratic_form() {
    let text = "fn f(y: &mut f64, x: [f64], i: [usize], j: [usize], a: [f64]) {
        for k in 0..len(i) { y += 0.5 * a[k] * x[i[k]] * x[j[k]] }
    }";
    let mut state = 1usize;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let places: Vec<(usize, usize)> = (0..60).map(|_| (next(20), next(20))).collect();
    let both = |i: usize, j: usize| places.contains(&(i, j)) || places.contains(&(j, i));
    let (i, j): (Vec<usize>, Vec<usize>) = places.iter().copied().unzip();
    let mut parsed = module(text);
    let entry = parsed.functions.get_mut("f").unwrap();
    let a = entry.params[4];
    entry.constants.insert(a);
    let args = [0.0.load(), vector(20), i.load(), j.load(), vector(60)];
    let found = parsed.hessian_pattern(0, &args, Branches::Taken).unwrap();
    assert_eq!(found, pattern(20, 20, both));
    let pushed = parsed.hessian_pushed(0, &args).unwrap();
    let [Data::Array(_), values] = [&args[1], &args[4]] else { panic!("vectors") };
    let values = crate::coordinates::of(values);
    let mut expected = vec![vec![0.0; 20]; 20];
    for ((i, j), a) in places.iter().zip(values) {
        expected[*i][*j] += 0.5 * a;
        expected[*j][*i] += 0.5 * a;
    }
    for (i, row) in pushed.to_dense().iter().enumerate() {
        row.iter().zip(&expected[i]).for_each(|(a, b)| assert_abs_diff_eq!(a, b, epsilon = 1e-12));
    }
}

/// Second derivatives by hand, in the order of the arguments.
#[test]
fn hessians_by_edge_pushing() {
    let (a, b) = (1.3f64, 0.7f64);
    let exp = (a * b).exp();
    let cases: [(&str, [f64; 3]); 9] = [
        ("y += a * a * b", [2.0 * b, 2.0 * a, 0.0]),
        ("y += exp(a * b)", [b * b * exp, (1.0 + a * b) * exp, a * a * exp]),
        ("managed anc t: f64 = 0.0 { t += a t += b y += t * t * t }", [6.0 * (a + b); 3]),
        ("let t: f64 = a / b { y += t * b * b }", [0.0, 1.0, 0.0]),
        (
            "anc p: f64 = 0.0 { anc q: f64 = 0.0 { p += a q += b rot(p, q, a) y += p
             irot(p, q, a) p -= a q -= b } }",
            // a cos a - b sin a
            [-2.0 * a.sin() - a * a.cos() + b * a.sin(), -a.cos(), 0.0],
        ),
        (
            "managed anc p: f64 = 2.0 { scale_by(p, a) scale_by(p, b) unscale_by(p, a) inv(p) y += p }",
            [0.0, 0.0, 1.0 / (b * b * b)],
        ),
        ("anc s: Stack<f64> = stack() { anc t: f64 = 0.0 { t += a * a push(s, t) pop(s, t) y += t * t t -= a * a } }",
            [12.0 * a * a, 0.0, 0.0]),
        ("if a > b { y += max(a * b, b) } else { y += b * b * b }", [0.0, 1.0, 0.0]),
        (
            "y += abs2(complex(a, b) * complex(a, b))",
            [12.0 * a * a + 4.0 * b * b, 8.0 * a * b, 12.0 * b * b + 4.0 * a * a],
        ),
    ];
    for (body, [aa, ab, bb]) in cases {
        let text = format!("fn f(y: &mut f64, a: f64, b: f64) {{ {body} }}");
        let found =
            module(&text).hessian_pushed(0, &args([&0.0, &a, &b])).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let expected = [[aa, ab], [ab, bb]];
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let value = found.get(i, j).unwrap();
            assert!(abs_diff_eq!(value, expected[i][j], epsilon = 1e-12), "{body}: ({i}, {j}) is {value}");
        }
    }
}

/// -Δu on a grid with the energy Σ (u_i - u_j)²: five points.
#[test]
fn a_grid() {
    let text = "fn f(y: &mut f64, u: Array2<f64>) {
        for i in 0..dim(u, 0) { for j in 0..dim(u, 1) {
            if i > 0 { let d: f64 = u[i, j] - u[i - 1, j] { y += d * d } } else { }
            if j > 0 { let d: f64 = u[i, j] - u[i, j - 1] { y += d * d } } else { }
        } }
    }";
    let n = 6;
    let u = ndarray::Array2::from_shape_fn((n, n), |(i, j)| (i * j) as f64 * 0.1);
    let near = |a: usize, b: usize| (a / n).abs_diff(b / n) + (a % n).abs_diff(b % n) < 2;
    for branches in [Branches::Taken, Branches::All] {
        let found = hessian(text, &[0.0.load(), u.load()], branches);
        assert_eq!(found, pattern(n * n, n * n, near), "{branches:?}");
    }
}

/// A graph that is to be drawn with edges of one length and other pairs of vertices farther apart, as in
/// `examples/derivatives`: all ends of edges meet by the mean, and so do all of the other pairs; both kinds where the
/// means are in the wrong order, which they aren't.
#[test]
fn a_graph_embedding() {
    let text = "fn f(y: &mut f64, x: Array2<f64>, a: [usize], b: [usize], near: usize) {
        managed anc length: [f64; 5] = [0.0; 5] {
            for e in 0..5 { for k in 0..2 {
                let apart: f64 = x[a[e], k] - x[b[e], k] { length[e] += apart * apart }
            } }
            managed anc mean: [f64; 2] = [0.0; 2] {
                for e in 0..near { mean[0] += length[e] / (near as f64) }
                for e in near..5 { mean[1] += length[e] / ((5 - near) as f64) }
                for e in 0..near { let off: f64 = length[e] - mean[0] { y += off * off } }
                for e in near..5 { let off: f64 = length[e] - mean[1] { y += off * off } }
                y += exp(max(mean[0] - mean[1] + 0.1, 0.0)) - 1.0
            }
        }
    }";
    // edges among the vertices 0, 1, 2, the other pairs among 2, 3, 4
    let (a, b): (Vec<usize>, Vec<usize>) = ([0, 1, 0, 2, 3].into(), [1, 2, 2, 3, 4].into());
    let x = ndarray::arr2(&[[0.0, 0.1], [0.2, 0.0], [0.1, 0.3], [2.0, -1.0], [-1.5, 3.0]]);
    let args = args([&0.0, &x, &a, &b, &3usize]);
    let together = |i: usize, j: usize| (i.max(j) < 6) || (i.min(j) >= 4);
    assert_eq!(hessian(text, &args, Branches::Taken), pattern(10, 10, together));
    assert_eq!(hessian(text, &args, Branches::All), pattern(10, 10, |_, _| true));
    let pushed = module(text).hessian_pushed(0, &args).unwrap();
    assert!(pushed.pattern().iter().all(|(i, j)| together(i, j)));
}

#[test]
fn jacobians_of_what_moves() {
    let cases: [(&str, Places); 9] = [
        ("x[0] += x[1] * x[2]", &[(0, 0), (0, 1), (0, 2), (1, 1), (2, 2)]),
        ("swap(x[0], x[2])", &[(0, 2), (1, 1), (2, 0)]),
        ("rot(x[0], x[1], 0.5)", &[(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)]),
        ("neg(x[0]) inv(x[1]) mul_int(x[2], 3)", &[(0, 0), (1, 1), (2, 2)]),
        ("scale_by(x[0], x[1])", &[(0, 0), (0, 1), (1, 1), (2, 2)]),
        (
            "anc s: Stack<f64> = stack() { push(s, x[0]) push(s, x[1]) pop(s, x[0]) pop(s, x[1]) }",
            &[(0, 1), (1, 0), (2, 2)],
        ),
        (
            "managed anc a: f64 = 0.0 { a += x[1] a += x[2] x[0] += a }",
            &[(0, 0), (0, 1), (0, 2), (1, 1), (2, 2)],
        ),
        ("x[0] += floor(x[1]) + 2.0 * (k as f64)", &[(0, 0), (1, 1), (2, 2)]),
        ("x[k] += x[k + 1]", &[(0, 0), (1, 1), (1, 2), (2, 2)]),
    ];
    for (body, expected) in cases {
        let text = format!("fn f(x: &mut [f64], k: usize) {{ {body} }}");
        for branches in [Branches::Taken, Branches::All] {
            let found = jacobian(&text, &[vector(3), 1usize.load()], branches);
            assert_eq!(places(&found), expected, "{branches:?} {body}");
        }
    }
}

/// What a branch that isn't taken changes after it began with another `if` is taken back too.
#[test]
fn a_branch_in_a_branch_is_taken_back() {
    // nothing in the first branch has the second one's derivative
    let text = "fn f(y: &mut f64, z: &mut f64, x: f64, k: &mut i64) {
        if y < 0.0 {
            if x > 9.0 { k += 1 } else { }
            neg(y)
        } else {
            z -= x
            neg(y)
        } post y > 0.0
    }";
    for (y, taken) in [(0.7, [(0, 0), (1, 1), (1, 2)].as_slice()), (-0.7, &[(0, 0), (1, 1)])] {
        let args = [y.load(), 0.2.load(), 0.3.load(), 0i64.load()];
        assert_eq!(places(&jacobian(text, &args, Branches::Taken)), taken);
        assert_eq!(places(&jacobian(text, &args, Branches::All)), [(0, 0), (1, 1), (1, 2)]);
    }
}

/// An `if` on a real number counts with both its branches where all count, one on integers never does.
#[test]
fn branches() {
    let cases: [(&str, Places, Places); 8] = [
        (
            "if x[0] > 0.0 { y += x[1] } else { y += x[2] * x[2] }",
            &[(0, 0), (0, 2)],
            &[(0, 0), (0, 2), (0, 3)],
        ),
        (
            "if x[0] < 0.0 { y += x[1] } else { y += x[2] * x[2] }",
            &[(0, 0), (0, 3)],
            &[(0, 0), (0, 2), (0, 3)],
        ),
        ("if k > 5 { y += x[k] } else { y += x[0] }", &[(0, 0), (0, 1)], &[(0, 0), (0, 1)]),
        ("y += max(x[0], x[1])", &[(0, 0), (0, 2)], &[(0, 0), (0, 1), (0, 2)]),
        ("y += select(x[0] > 0.0, x[1], x[2])", &[(0, 0), (0, 2)], &[(0, 0), (0, 2), (0, 3)]),
        ("y += if x[0] > 0.0 { x[1] } else { x[2] }", &[(0, 0), (0, 2)], &[(0, 0), (0, 2), (0, 3)]),
        // an index that is found by comparing
        (
            "managed anc i: usize = 1 { if x[0] > 0.5 { i += 1 } else { } y += x[i] }",
            &[(0, 0), (0, 2)],
            &[(0, 0), (0, 1), (0, 2), (0, 3)],
        ),
        // one inside the other
        (
            "if x[0] > 0.5 { if x[1] > 9.0 { y += x[2] } else { } } else { y += x[1] }",
            &[(0, 0), (0, 2)],
            &[(0, 0), (0, 2), (0, 3)],
        ),
    ];
    for (body, taken, all) in cases {
        let text = format!("fn f(y: &mut f64, x: [f64], k: usize) {{ {body} }}");
        let args = [0.0.load(), vector(3), 1usize.load()];
        assert_eq!(places(&jacobian(&text, &args, Branches::Taken)), taken, "{body}");
        assert_eq!(places(&jacobian(&text, &args, Branches::All)), all, "{body}");
    }
}

/// What is written in a branch that isn't taken is what it was before.
#[test]
fn a_branch_that_is_tried_leaves_nothing() {
    let text = "fn f(x: &mut [f64], s: &mut Stack<f64>) {
        if x[3] > 100.0 {
            push(s, x[0])
            managed anc a: f64 = 0.0 { a += x[1] x[2] += a * a }
            x[1] += 1000.0
        } else { x[0] += x[2] } post x[3] > 100.0
        if x[1] > 50.0 { x[2] += x[0] } else { }
    }";
    let module = module(text);
    let all = module.jacobian_pattern(&[vector(4), Data::Stack(Vec::new())], Branches::All);
    // x[0]: its own and x[2]'s, or what was pushed away; x[2]: what both branches of both give
    let expected = [(0, 0), (0, 2), (1, 1), (2, 0), (2, 1), (2, 2), (3, 3)];
    assert_eq!(places(&all.unwrap()), expected);
    let taken = module.jacobian_pattern(&[vector(4), Data::Stack(Vec::new())], Branches::Taken).unwrap();
    assert_eq!(places(&taken), [(0, 0), (0, 2), (1, 1), (2, 2), (3, 3)]);
}

#[test]
fn calls_structs_pure_functions_and_products() {
    let text = "struct P { at: [f64; 2], n: i64 }
        pure fn g(a: f64, b: f64) -> f64 { a + b }
        fn add(y: &mut f64, a: f64) { y += a * a }
        fn f(y: &mut f64, p: P, m: Array2<f64>, v: [f64]) {
            call add(&mut y, p.at[0] + v[0])
            uncall add(&mut y, v[1])
            y += g(p.at[1], v[2])
            managed anc w: [f64; 2] = [0.0; 2] { w += contract(\"ij,j->i\", m, v) y += w[0] }
        }";
    let p = Data::record("P", [("at", [0.1, 0.2].load()), ("n", 3i64.load())]);
    let args = [0.0.load(), p, ndarray::Array2::<f64>::ones((2, 3)).load(), vector(3)];
    // p.at, then the rows of m, then v
    let mut expected = vec![(0, 0), (0, 8), (8, 8), (9, 9), (1, 1), (1, 10), (10, 10)];
    for i in 0..2 {
        expected.extend((0..3).map(|j| (2 + 3 * i + j, 8 + j)));
    }
    let both = |i: usize, j: usize| expected.contains(&(i, j)) || expected.contains(&(j, i));
    assert_eq!(hessian(text, &args, Branches::Taken), pattern(11, 11, both));
    assert_eq!(jacobian(text, &args, Branches::All).row(0), [0, 1, 2, 3, 4, 5, 9, 10, 11]);
}

/// A complex number has two coordinates, which aren't told apart.
#[test]
fn complex_numbers() {
    let text = "fn f(y: &mut f64, z: [Complex<f64>], x: f64) { y += abs2(z[0]) + x * re(z[1]) }";
    let z = vec![crate::scalar::Complex { re: 0.5, im: 0.25 }; 2];
    let found = hessian(text, &[0.0.load(), z.load(), 2.0.load()], Branches::Taken);
    let expected = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 4), (3, 4), (4, 2), (4, 3)];
    assert_eq!(places(&found), expected);
}

/// A recursion goes as deep as the values say; what calls a function that it is given is none.
#[test]
fn recursions() {
    let text = "fn f(y: &mut f64, x: [f64], k: usize) {
        if x[k] > 0.0 { call f(&mut y, x, k + 1) y += x[k] } else { y -= x[0] }
    }";
    for (deep, expected) in [(2, vec![0, 1, 2]), (0, vec![0, 1])] {
        let x: Vec<f64> = (0..6).map(|k| if k < deep { 1.0 } else { -1.0 }).collect();
        for branches in [Branches::Taken, Branches::All] {
            let found = jacobian(text, &args([&0.0, &x, &0usize]), branches);
            assert_eq!(found.row(0), expected, "{branches:?}");
        }
    }
    let text = "fn square(y: &mut f64, a: f64) { y += a * a }
        fn apply<F: fn(&mut f64, f64)>(g: F, y: &mut f64, a: f64) { call g(&mut y, a) }
        fn f(y: &mut f64, x: [f64]) {
            if x[0] > 100.0 { call apply(named square, &mut y, x[1]) } else { y += x[2] }
        }";
    assert_eq!(jacobian(text, &args([&0.0, &vec![1.0; 3]]), Branches::All).row(0), [0, 2, 3]);
}

#[test]
fn errors_name_the_place() {
    let text = "fn f(y: &mut f64, x: [f64]) { if x[0] > 100.0 { y += x[7] } else { } }";
    let error = module(text).jacobian_pattern(&[0.0.load(), vector(3)], Branches::All).unwrap_err();
    assert!(error.to_string().contains("y += x[7]"), "{error}");
    assert!(matches!(error.cause(), Cause::Sparsity(_)), "{error}");
    let error = module(text).hessian_pattern(5, &[0.0.load(), vector(3)], Branches::All).unwrap_err();
    assert!(error.to_string().contains("argument number 5"), "{error}");
    let missing = module(text).jacobian_pattern(&[], Branches::Taken).unwrap_err();
    assert!(matches!(missing.cause(), Cause::Arguments { .. }), "{missing}");
}

/// One part of a complex number is live when all of it is read.
#[test]
fn a_complex_number_of_which_one_part_is_live() {
    let text = "fn f(y: &mut f64, z: Complex<f64>) { y += norm(z)\n y += z.im }";
    let z = num_complex::Complex::new(0.3, 0.4);
    let pushed = module(text).hessian_pushed(0, &args([&0.0, &z])).unwrap();
    // |z|'' = (I - z zᵀ/|z|²)/|z|
    for (i, j, expected) in [(0, 0, 1.28), (0, 1, -0.96), (1, 1, 0.72)] {
        assert!(abs_diff_eq!(pushed.get(i, j).unwrap(), expected, epsilon = 1e-12), "{pushed:?}");
    }
}
