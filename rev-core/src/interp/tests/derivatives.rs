//! The derivative of every function of the table, and the conventions where there is none.

use super::*;
use crate::ops::{Func, Instr, Shape};
use crate::value::Value;
use approx::abs_diff_eq;

/// Points inside the domain of a function of one, two or three reals.
fn points(func: Func) -> [f64; 3] {
    match func {
        Func::Asin | Func::Acos | Func::Atanh => [0.3, 0.2, 0.5],
        Func::Floor | Func::Ceil | Func::Round | Func::Trunc => [1.7, 2.2, 3.4],
        _ => [1.3, 0.7, -0.4],
    }
}

/// Programs that add a function of `a`, `b`, `c` to `y`, one for each function of real numbers.
fn programs() -> Vec<(Func, String)> {
    let mut out = Vec::new();
    for func in Func::ALL {
        let row = func.row();
        let args: Option<Vec<String>> = row
            .args
            .iter()
            .enumerate()
            .map(|(k, shape)| match shape {
                Shape::T => Some(["a", "b", "c"][k].to_string()),
                Shape::I => Some((k + 1).to_string()),
                Shape::B => Some("a > 1.0".to_string()),
                Shape::R | Shape::C | Shape::S | Shape::SR | Shape::SC => None,
            })
            .collect();
        let real =
            matches!(row.class, crate::ir::Class::Real | crate::ir::Class::Field | crate::ir::Class::Ring);
        // its derivative isn't that of its value
        let real = real && *func != Func::StopGradient;
        let ordered = matches!(func, Func::Select | Func::Min | Func::Max);
        let (Some(args), true, Shape::T | Shape::R) = (args, real || ordered, row.result) else { continue };
        let value = match func {
            Func::Fused => "fused(a * b)".to_string(),
            _ => format!("2.0 * {}({})", func.name(), args.join(", ")),
        };
        out.push((*func, format!("fn f(y: &mut f64, a: f64, b: f64, c: f64) {{ y += {value} }}")));
    }
    assert!(out.len() > 40, "{}", out.len());
    out
}

#[test]
fn every_function_of_reals_against_finite_differences() {
    for (func, text) in programs() {
        let [a, b, c] = points(func);
        check_program(&text, &super::args([&0.5, &a, &b, &c]));
    }
}

/// Each Taylor coefficient along a curve is the derivative of the one below it by the curve's parameter, divided by the
/// order; the first of all is the value.
#[test]
fn every_function_has_taylor_coefficients() {
    const ORDER: usize = 6;
    let (h, rates) = (1e-3, [0.4, -0.3, 0.25]);
    for (func, text) in programs() {
        let taylor = module(&text).taylor(ORDER).unwrap();
        // a + rt + rt²/2 from `t` on
        let along = |t: f64| {
            let mut args = vec![0.0; ORDER + 1];
            for (x, r) in points(func).into_iter().zip(rates) {
                args.extend([x + r * t + r * t * t / 2.0, r + r * t, r / 2.0, 0.0, 0.0, 0.0, 0.0]);
            }
            let args: Vec<Data> = args.iter().map(DynArg::load).collect();
            let mut machine = Machine::new(&taylor, &taylor.entry, Direction::FORWARD, args).unwrap();
            machine.run().unwrap();
            machine.arguments()[..=ORDER].iter().flat_map(crate::coordinates::of).collect::<Vec<_>>()
        };
        let (found, [near, far]) = (along(0.0), [h, 2.0 * h].map(|h| (along(h), along(-h))));
        for k in 0..ORDER {
            let apart = |(up, down): &(Vec<f64>, Vec<f64>)| up[k] - down[k];
            let expected = (8.0 * apart(&near) - apart(&far)) / (12.0 * h) / (k + 1) as f64;
            let near = abs_diff_eq!(found[k + 1], expected, epsilon = 1e-7 * found[k + 1].abs().max(1.0));
            assert!(near, "{func:?}, order {}: {} and {expected}", k + 1, found[k + 1]);
        }
    }
}

/// Blocks of one expression may declare the same name, of the same value or of another one.
#[test]
fn blocks_with_names_in_common() {
    let (of_a, of_b) = ("{ let t: f64 = a * b; t * t }", "{ let t: f64 = b * c; t * t }");
    for value in [
        format!("{of_a} * {of_a}"),
        format!("{of_a} * {of_b}"),
        format!("{of_b} * {of_a} * {of_b} + {of_a}"),
        format!("max({of_a}, {of_b}) * {of_a}"),
        format!("if a > b {{ {of_a} }} else {{ {of_b} }}"),
        format!("{{ let s: f64 = {of_a}; s * {of_b} }}"),
    ] {
        let text = format!("fn f(y: &mut f64, a: f64, b: f64, c: f64) {{ y += {value} }}");
        check_program(&text, &super::args([&0.5, &1.3, &0.7, &-0.4]));
        let text =
            format!("fn f(y: &mut f64, a: f64, b: f64, c: f64) {{ let v: f64 = {value} {{ y += v * v }} }}");
        check_program(&text, &super::args([&0.5, &1.3, &0.7, &-0.4]));
    }
}

/// No parameter is complex, and the partial derivatives on the way are: they are conjugated.
#[test]
fn complex_numbers_on_the_way_from_reals_to_reals() {
    let names = "fn f(y: &mut f64, a: f64, b: f64, c: f64)";
    for body in [
        "y += re(exp(complex(a, b)) * complex(b, c))",
        "y -= 2.0 * im(complex(a, b) * complex(b, c) / complex(c, 1.5))",
        "let t = complex(a, b) { y += re(t * t * t) + abs2(sin(t)) }",
        "let t = exp(complex(a, b)) { if im(t) > 0.0 { y += im(t * complex(c, a)) } else { y += c } }",
        "managed anc t: f64 = 0.0 { t += im(exp(complex(a, b))) y += t * t }",
        "y += im(exp((a as Complex<f64>) * complex(0.5, 0.25)) * (b as Complex<f64>))",
    ] {
        check_program(&format!("{names} {{ {body} }}"), &super::args([&0.5, &1.3, &0.7, &-0.4]));
    }
}

#[test]
fn every_instruction_against_finite_differences() {
    for instr in Instr::ALL {
        let row = instr.row();
        if matches!(instr, Instr::Flip) {
            continue;
        }
        let operand = match instr {
            Instr::MulInt | Instr::DivInt => ", 3",
            _ if row.operands == 1 => ", c",
            _ => "",
        };
        let places = if row.places == 1 { "a" } else { "a, b" };
        let text = format!(
            "fn f(l: &mut f64, a: &mut f64, b: &mut f64, c: f64) {{ {}({places}{operand}) l += a * b * b }}",
            instr.name()
        );
        let out = check_module(&raw(&text), &args([&0.0, &1.3, &0.7, &0.4]));
        assert_eq!(out.len(), 4);
    }
}

/// The gradient of `y += e` by `a` and `b`, with cotangent 1.
fn at(e: &str, a: f64, b: f64) -> (f64, f64) {
    scaled(e, a, b, "")
}

fn scaled(e: &str, a: f64, b: f64, factor: &str) -> (f64, f64) {
    let f = module(&format!("fn f(y: &mut f64, a: f64, b: f64) {{ y += {factor}{e} }}"));
    let out = run(&f, Direction::FORWARD, &args([&0.0, &a, &b])).unwrap();
    let end = run(&f, ADJOINT, &seeded(&out, 0)).unwrap();
    match (&end[3], &end[5]) {
        (Data::Scalar(a), Data::Scalar(b)) => (a.to_num().to_f64(), b.to_num().to_f64()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn conventions_where_there_is_no_derivative() {
    assert_eq!(at("abs(a)", 0.0, 0.0), (0.0, 0.0));
    assert_eq!(at("max(a, b)", 2.0, 2.0), (1.0, 0.0));
    assert_eq!(at("min(a, b)", 2.0, 2.0), (1.0, 0.0));
    assert_eq!(at("hypot(a, b)", 0.0, 0.0), (0.0, 0.0));
    assert_eq!(at("atan2(a, b)", 0.0, 0.0), (0.0, 0.0));
    assert_eq!(at("sqrt(a)", 0.0, 0.0).0, f64::INFINITY);
    assert_eq!(scaled("sqrt(a)", 0.0, 0.0, "0.0 * "), (0.0, 0.0));
    assert_eq!(at("powf(a, b)", 0.0, 2.0), (0.0, 0.0));
    assert_eq!(at("powi(a, 2)", 0.0, 0.0).0, 0.0);
    assert_eq!(at("floor(a)", 1.5, 0.0).0, 0.0);
    assert_eq!(at("stop_gradient(a)", 1.5, 0.0), (0.0, 0.0));
    assert_eq!(at("(a * stop_gradient(a * b))", 1.5, 2.0), (3.0, 0.0));
    // the branch that isn't taken has no say, even where its derivative is infinite
    assert_eq!(at("select(b > 0.0, a, sqrt(a))", 0.0, 1.0).0, 1.0);
    assert_eq!(at("if b > 0.0 { a } else { 1.0 / a }", 0.0, 1.0).0, 1.0);
}

#[test]
fn a_repeated_read_counts_every_time() {
    assert_eq!(at("a * a * a", 2.0, 0.0).0, 12.0);
    assert_eq!(at("(a - a) * b + a / a", 2.0, 3.0), (0.0, 0.0));
}

#[test]
fn negative_literals_keep_their_sign() {
    for literal in ["-3", "-3.0", "(-3)", "neg(3)", "(0 - 3)"] {
        assert_eq!(at(&format!("(a * {literal})"), 2.0, 0.0).0, -3.0, "{literal}");
        assert_eq!(at(&format!("({literal} * a * b)"), 2.0, 5.0), (-15.0, -6.0), "{literal}");
        assert_eq!(at(&format!("(a / {literal})"), 2.0, 0.0).0, -1.0 / 3.0, "{literal}");
        let given = format!(
            "pure fn g(x: f64) -> f64 {{ x * x }} partials ({literal})
            fn f(y: &mut f64, a: f64) {{ y -= g(a) }}"
        );
        assert_eq!(gradient(&module(&given), &args([&0.0, &2.0]), 0)[1], 3.0.load(), "{literal}");
    }
}

/// A call adds to the shadow that it is given; a constant's own stays what it was.
#[test]
fn calls_leave_the_shadows_of_constants() {
    let g = "fn g(y: &mut f64, x: f64, v: [f64; 2]) { y += x * x * v[0] + v[1] }";
    for argument in ["&c", "c", "2.0 * c", "&w[1]"] {
        let f = module(&format!(
            "{g} fn f(y: &mut f64, c: f64, w: [f64; 2], v: [f64; 2]) constant(c, w, v) {{
                call g(&mut y, {argument}, &v)
            }}"
        ));
        let bars: [&dyn DynArg; 3] = [&7.0, &[8.0, 9.0], &[10.0, 11.0]];
        let start = args([&1.0, &0.5, &3.0, bars[0], &[1.0, 2.0], bars[1], &[4.0, 5.0], bars[2]]);
        let end = run(&f, ADJOINT, &start).unwrap();
        let found: Vec<_> = end.into_iter().skip(3).step_by(2).collect();
        assert_eq!(found, args(bars), "{argument}");
    }
}

#[test]
fn given_derivatives_of_pure_functions_are_used() {
    let f = module(
        "pure fn g(x: f64, n: i64) -> f64 { x * x } partials (7.0 * x, 0.0)
        fn f(y: &mut f64, a: f64) { y += g(a, 1) }",
    );
    assert_eq!(gradient(&f, &args([&0.0, &2.0]), 0)[1], 14.0.load());
}

#[test]
fn the_norm_of_nothing_has_the_derivative_zero() {
    assert_eq!(at("norm(a)", 0.0, 0.0).0, 0.0);
    let f = module("pure fn g(x: f64) -> f64 { norm(x) } fn f(y: &mut f64, a: f64) { y += g(a) }");
    assert_eq!(gradient(&f, &args([&0.5, &0.0]), 0)[1], 0.0.load());
}

/// What a `#[pure]` function computes of a real number as of a complex one has a derivative there.
#[test]
fn functions_of_complex_numbers_in_pure_functions_of_reals() {
    for value in ["re(x)", "conj(x)", "abs2(x)", "norm(x)", "(im(x) + x)"] {
        check_program(
            &format!(
                "pure fn g(x: f64) -> f64 {{ x * {value} }}
                fn f(y: &mut f64, a: f64) {{ y += g(a) }}"
            ),
            &super::args([&0.5, &-1.3]),
        );
    }
}

#[test]
fn pure_functions_that_call_pure_functions() {
    let g = "pure fn g(x: f64, n: i64, y: f64) -> f64 { x * x * y + n as f64 * y }
        pure fn pair(x: f64, y: f64) -> (f64, f64) { (x * sin(y), x / y) }";
    for value in [
        "g(x, 2, y)",
        "g(sin(x), 3, x) * y - g(y, 1, y)",
        "pair(x, y).1 - 2.0 * pair(x * y, x).0",
        "{ let p = pair(x, y); p.0 * p.1 }",
        "{ let t = g(x, 2, y); if x > 0.0 { t * t } else { y } }",
    ] {
        let text = format!(
            "{g} pure fn h(x: f64, y: f64) -> f64 {{ {value} }} fn f(z: &mut f64, a: f64, b: f64) {{ z += h(a, b) }}"
        );
        check_program(&text, &super::args([&0.5, &1.3, &0.7]));
    }
}

/// One of the places is a part of what has a shadow, the other hasn't one.
#[test]
fn integers_move_between_tuples_and_variables() {
    let f = module(
        "fn f(y: &mut f64, x: &mut (f64, i64), k: &mut i64) {
            swap(x.1, k)
            y += x.0 * (x.1 as f64)
        }",
    );
    let bars = gradient(&f, &args([&0.0, &(0.5, 3i64), &4i64]), 0);
    assert_eq!(bars[1..], [Data::Tuple(vec![4.0.load(), Data::None]), Data::None]);
}

#[test]
fn integers_carry_no_derivative() {
    let f = module("fn f(y: &mut f64, n: i64, k: [usize]) { y += n as f64 * (k[0] as f64) }");
    let out = gradient(&f, &args([&0.0, &3i64, &vec![1usize, 2]]), 0);
    assert_eq!(out[1..], [Data::None, Data::vector(vec![Data::None, Data::None])]);
}

#[test]
fn conversions_between_floats_carry_it() {
    let f = module("fn f(y: &mut f64, a: f32) { y += (a * a) as f64 }");
    assert_eq!(gradient(&f, &args([&0.0, &3.0f32]), 0)[1], 6.0f32.load());
}

/// A shadow of a constant array, for calls in a loop, whose adjoint is made more than once.
#[test]
fn constants_passed_in_loops() {
    let g = "fn g<T: Real>(y: &mut [T], a: [T], b: [T], x: [T]) constant(x) {
        for i in 0..len(x) { y[i] += a[i] * b[i] * x[i] }
    }";
    let f = module(&format!(
        "{g}
        fn f<T: Real>(y: &mut [T], z: &mut T, w: T, v: [T], x: [T]) constant(x) {{
            let n = w {{
                for i in 0..2 {{
                    call g(&mut y, v, v, x)
                    call g(&mut y, v, v, x)
                    z -= n
                }}
            }}
        }}"
    ));
    let (y, v, x) = (vec![0.0; 3], vec![1.0, 2.0, 3.0], vec![0.5, 0.25, 4.0]);
    let end = run(&f, ADJOINT, &args([&y, &vec![1.0; 3], &0.0, &1.0, &2.0, &0.0, &v, &vec![0.0; 3], &x, &y]));
    let end = end.unwrap();
    assert_eq!(end[7], vec![4.0, 4.0, 96.0].load());
    assert_eq!((&end[5], &end[9]), (&(-2.0).load(), &y.load()));

    let f = module(
        "fn axpy<T: Real>(y: &mut [T], a: T, x: [T]) { for i in 0..len(x) { y[i] += a * x[i] } }
        fn f<T: Real>(y: &mut [T], z: &mut [T], w: T, x: [T]) constant(x) {
            let n = w {
                for i in 0..2 {
                    if w > 0.5 { call axpy(&mut y, exp(x[i]) * w, x) } else { z[i] -= n }
                }
            }
        }",
    );
    let y_bar = vec![1.0; 2];
    for (w, expected) in [(0.25, -2.0), (0.75, 5.0 * (2.0f64.exp() + 3.0f64.exp()))] {
        let x = vec![2.0, 3.0];
        let start = args([&x, &y_bar, &x, &y_bar, &w, &0.0, &x, &vec![0.0; 2]]);
        let end = run(&f, ADJOINT, &start).unwrap();
        let Data::Scalar(found) = &end[5] else { panic!("{}", end[5]) };
        assert!(
            abs_diff_eq!(found.to_num().to_f64(), expected, epsilon = 1e-12),
            "{found:?} instead of {expected}"
        );
        assert_eq!(end[7], vec![0.0; 2].load());
    }
}

/// Each loop's adjoint is made again for what was found in it, not again for each attempt at the loop around
/// it: this would never end.
#[test]
fn loops_inside_loops_are_not_made_over_and_over() {
    let depth = 60;
    let open: String =
        (1..=depth).map(|k| format!("for i{k} in 0..1 {{ let n{k} = n{} * x {{ ", k - 1)).collect();
    let f = module(&format!(
        "fn f<T: Real>(y: &mut T, x: T) {{ let n0 = x {{ {open} y += n{depth} {} }} }}",
        "} }".repeat(depth)
    ));
    // y = x^61
    let end = run(&f, ADJOINT, &args([&0.0, &1.0, &1.0, &0.0])).unwrap();
    assert_eq!(end[3], 61.0.load());
}

/// Partial derivatives are values of the program's types: a literal beside numbers of 16 bits is one of them.
#[test]
fn literals_of_16_bits_in_derivatives() {
    use crate::scalar::{bf16, Complex};
    let literal = bf16::from_f32(0.2222).to_f32();
    let x = bf16::from_f32(0.5);
    for text in [
        "fn f(y: &mut bf16, x: bf16) { y += 0.2222 * x }",
        "fn f<T: Real>(y: &mut T, x: T) { y += 0.2222 * x }",
        "fn f<T: Real>(y: &mut T, x: T) { y += x * 0.2222 - 0.25 }",
    ] {
        let grad = gradient(&module(text), &args([&bf16::ZERO, &x]), 0);
        assert_eq!(grad[1], Data::scalar(literal), "{text}");
    }
    let z = Complex::new(x, x);
    for text in [
        "fn f<T: Real>(y: &mut Complex<T>, x: Complex<T>) { y += 0.2222 * x }",
        "fn f<T: Real>(y: &mut Complex<T>, x: Complex<T>) { y += 0.2222 * (x - complex(0.5_T, 0.3)) }",
        "fn f<T: Real>(y: &mut Complex<T>, x: Complex<T>) { y += (x - 0.5) * 0.2222 }",
        "fn f<T: Real>(y: &mut Complex<T>, x: Complex<T>) { y += 0.2222 * (0.5 * (complex(0.5_T, 0.3) - x)) * -2 }",
    ] {
        let grad = gradient(&module(text), &args([&Complex::new(bf16::ZERO, bf16::ZERO), &z]), 0);
        assert_eq!(grad[1], Data::scalar(Complex::new(literal, 0.0)), "{text}");
    }
}

/// The types of literals are found for the arguments of the run, not for those of the machine's first one.
#[test]
fn literals_of_16_bits_after_a_run_on_other_numbers() {
    use crate::scalar::bf16;
    let f = module("fn f<T: Real>(y: &mut T, x: T) { y += 0.2222 * x }");
    let x = bf16::from_f32(0.5);
    let halves = args([&bf16::ZERO, &1.0f32, &x, &0.0f32]);
    let mut machine = Machine::new(&f, "f", ADJOINT, args([&0.0, &1.0, &0.5, &0.0])).unwrap();
    machine.run().unwrap();
    assert_eq!(machine.arguments()[3], 0.2222.load());
    machine.restart(halves.clone()).unwrap();
    machine.run().unwrap();
    assert_eq!(machine.arguments(), run(&f, ADJOINT, &halves).unwrap());
    assert_eq!(machine.arguments()[3], Data::scalar(bf16::from_f32(0.2222).to_f32()));
}

/// A complex number of literals has the type of what stands beside it.
#[test]
fn complex_numbers_of_literals() {
    use crate::scalar::{bf16, f16, Complex, Fixed43};
    let texts = [
        "fn f<T: Real>(y: &mut Complex<T>, x: Complex<T>) { y += complex(0.5, 0.25) * x }",
        "fn f<T: Real>(y: &mut Complex<T>, x: Complex<T>) { let c = 0.5 { y += complex(c, 0.25) * x } }",
        "pure fn half<T: Real>(x: Complex<T>) -> Complex<T> { complex(0.5, 0.25) * x }
         fn f<T: Real>(y: &mut Complex<T>, x: Complex<T>) { y += half(x) }",
    ];
    for text in texts {
        let f = module(text);
        macro_rules! run_on {
            ($($T:ty),*) => {$(
                let z = |re, im| {
                    let of = |v: f64| <$T as crate::scalar::Scalar>::from_number(crate::scalar::Num::Float(v));
                    Complex::<$T>::new(of(re), of(im))
                };
                let end = run(&f, Direction::FORWARD, &args([&z(0.0, 0.0), &z(1.0, 2.0)])).unwrap();
                assert_eq!(end[0], z(0.0, 1.25).load(), "{text}");
            )*};
        }
        run_on!(f16, bf16, f32, f64, Fixed43);
        let x = Complex::new(bf16::from_f32(1.0), bf16::from_f32(2.0));
        let grad = gradient(&f, &args([&Complex::new(bf16::ZERO, bf16::ZERO), &x]), 0);
        assert_eq!(grad[1], Data::scalar(Complex::new(0.5f32, -0.25)), "{text}");
    }
}

#[test]
fn what_a_branch_guards_is_not_computed_outside_of_it() {
    let f = module(
        "fn f(y: &mut f64, x: [f64], i: usize, n: i64) {
             y += if i < len(x) { sin(x[i]) * x[i] } else { 2.0 }
             let t = if n != 0i64 { sin(x[0] * ((6i64 / n) as f64)) } else { x[0] } {
                 y += t * if i < len(x) && n > 1i64 { x[i] } else { x[1] * if n == 1i64 { x[i - 4] } else { 1.0 } }
             }
         }",
    );
    for (i, n) in [(1usize, 2i64), (5, 2), (1, 0), (5, 0), (5, 1)] {
        let y = |x: &[f64]| {
            let out = run(&f, Direction::FORWARD, &args([&0.0, &x.to_vec(), &i, &n])).unwrap();
            let Data::Scalar(Value::F64(y)) = out[0] else { panic!("{out:?}") };
            y
        };
        let x = [0.5, 0.7];
        let there = run(&f, Direction::FORWARD, &args([&0.0, &x.to_vec(), &i, &n])).unwrap();
        let adjoint = [there[0].clone(), 1.0.load(), there[1].clone(), there[1].zero_like()];
        let adjoint = [&adjoint[..], &[there[2].clone(), Data::None, there[3].clone(), Data::None]].concat();
        let end = run(&f, ADJOINT, &adjoint).unwrap();
        let slope = |k: usize| {
            let at = |h: f64| y(&std::array::from_fn::<_, 2, _>(|j| x[j] + if j == k { h } else { 0.0 }));
            (at(1e-6) - at(-1e-6)) / 2e-6
        };
        let Data::Array(found) = &end[3] else { panic!("{end:?}") };
        for k in 0..2 {
            let Data::Scalar(Value::F64(found)) = found.elements[k] else { panic!("{found:?}") };
            assert!(
                abs_diff_eq!(found, slope(k), epsilon = 1e-8),
                "i = {i}, n = {n}, x[{k}]: {found} for {}",
                slope(k)
            );
        }
        // the adjoint can be inverted, as that of any program
        there_and_back(&f, &args([&0.0, &x.to_vec(), &i, &n]));
    }
}
