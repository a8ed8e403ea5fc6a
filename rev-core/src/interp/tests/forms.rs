//! The forms of the language beyond the conformance list: types, places, generics, calls.

use super::*;
use crate::scalar::{Complex, Fixed43};
use crate::value::{Stack, Value};
use ndarray::{arr2, Array};

fn both_ways(text: &str, args: &[Data]) -> Vec<Data> {
    there_and_back(&module(text), args)
}

#[test]
fn every_instruction() {
    let out = both_ways(
        "fn f(a: &mut f64, b: &mut f64, k: &mut i32, c: &mut bool, z: &mut Complex<f64>) {
            swap(a, b) neg(a) inc(b) dec(k) flip(c) conj(z) inv(a)
            rot(a, b, 0.5) irot(a, b, 0.25) hadamard(a, b) mul_int(k, 3) mul_int(z, 2) div_int(z, 4)
        }",
        &args([&2.0, &3.0, &5i32, &true, &Complex::new(1.0, 2.0)]),
    );
    assert_eq!(out[2..], args([&12i32, &false, &Complex::new(0.5, -1.0)]));
}

#[test]
fn fused_products_are_rounded_with_the_sum() {
    let (third, ten) = (1.0f64 / 3.0, 10.0f64);
    let out = both_ways(
        "fn f(y: &mut f64, z: &mut f32, k: &mut i32, c: &mut Complex<f64>, a: f64, b: f64, s: f32, w: Complex<f64>) {
            y += fused(a * b) y -= fused(2.5 * a) z -= fused(s * s) k += fused(3 * 4) c += fused(w * w)
        }",
        &args([&-3.0, &0.1f32, &1i32, &Complex::new(1.0, 2.0), &third, &ten, &0.3f32, &Complex::new(third, 0.1)]),
    );
    let y = (-third).mul_add(2.5, third.mul_add(ten, -3.0));
    assert_eq!(out[0], Data::scalar(y));
    assert_ne!(y, -3.0 + third * ten - 2.5 * third);
    assert_eq!(out[1], Data::scalar((-0.3f32).mul_add(0.3, 0.1)));
    assert_eq!(out[2], Data::scalar(13i32));
    let w = Complex::new(third, 0.1);
    assert_eq!(out[3], Data::scalar(crate::scalar::rt::mul_add(w, w, Complex::new(1.0, 2.0))));
}

/// `ā` starts at -10/3, to which `ȳ b` is added: its parts below the last digit of the product are seen.
#[test]
fn adjoints_of_fused_products_round_once() {
    let (third, ten) = (1.0f64 / 3.0, 10.0f64);
    for body in
        ["y += fused(a * b)", "y += mul_add(a, b, c)", "let t = fused(a * b) { y += t }", "y += 0.0 + a * b"]
    {
        let f = module(&format!("fn f(y: &mut f64, a: f64, b: f64, c: f64) {{ {body} }}"));
        let out =
            run(&f, ADJOINT, &args([&0.0, &third, &2.0, &(-third * ten), &ten, &0.0, &1.0, &0.0])).unwrap();
        let (fused, apart) = (third.mul_add(ten, -third * ten), 0.0);
        assert_ne!(fused, apart);
        assert_eq!(out[3], Data::scalar(if body.contains("0.0") { apart } else { fused }), "{body}");
    }
}

#[test]
fn ranges_visit_what_they_say_in_both_directions() {
    let cases: [(&str, &[i64]); 8] = [
        ("0..4", &[0, 1, 2, 3]),
        ("0..=4", &[0, 1, 2, 3, 4]),
        ("(0..4).rev()", &[3, 2, 1, 0]),
        ("(0..8).step_by(3)", &[0, 3, 6]),
        ("(0..8).step_by(3).rev()", &[6, 3, 0]),
        ("(0..8).rev().step_by(3)", &[7, 4, 1]),
        ("3..1", &[]),
        ("(-5..=-1).step_by(4)", &[-5, -1]),
    ];
    for (range, expected) in cases {
        let text = format!(
            "fn f(s: &mut Stack<i64>) {{ for i: i64 in {range} {{ anc a: i64 = 0 {{ a += i push(s, a) }} }} }}"
        );
        let out = both_ways(&text, &args([&Stack::<i64>::new()]));
        assert_eq!(out[0], Stack::from(expected.to_vec()).load(), "{range}");
    }
}

#[test]
fn arrays_of_every_rank_and_kind() {
    let a = Array::from_shape_fn((2, 2, 2, 2), |(i, j, k, l)| (i + 2 * j + 4 * k + 8 * l) as f64);
    let out = both_ways(
        "fn f(y: &mut f64, a: &mut Array4<f64>, d: ArrayD<f64>, n: [[f64; 2]; 3]) {
            for i in 0..dim(a, 0) { y += a[i, 1, 0, 1] * d[1, i] swap(a[i, 0, 0, 0], a[1, 1, 1, i]) }
            for i in 0..len(n) { for j in 0..len(n[i]) { y += n[i][j] } }
            y += len(a) as f64
        }",
        &args([&0.0, &a, &arr2(&[[1.0, 2.0], [3.0, 4.0]]).into_dyn(), &[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]),
    );
    assert_eq!(out[0], (10.0 * 3.0 + 11.0 * 4.0 + 21.0 + 16.0).load());
}

const CAMERA: &str = "struct Camera<T: Scalar> { rot: [T; 3], centre: (T, T), id: usize }\n";

fn camera() -> Data {
    Data::record(
        "Camera",
        [("rot", [1.0, 2.0, 3.0].load()), ("centre", (4.0, 5.0).load()), ("id", 7usize.load())],
    )
}

#[test]
fn structs_and_tuples_are_places() {
    let f = format!(
        "{CAMERA}fn f<T: Real>(y: &mut T, c: &mut [Camera<T>], p: (T, usize)) {{
            c[1].rot[2] += c[0].centre.1 * p.0
            swap(c[0].rot[0], c[1].centre.0)
            y += c[1].rot[2] * c[p.1].rot[0]
            anc d: Camera<T> = zero(Camera<T>) {{ d.rot[1] += p.0 y += d.rot[1] d.rot[1] -= p.0 }}
        }}"
    );
    let out = check_program(&f, &[0.5.load(), Data::vector(vec![camera(), camera()]), (2.0, 0usize).load()]);
    assert_eq!(out[0], (0.5 + 13.0 * 4.0 + 2.0).load());
}

#[test]
fn whole_arrays_tuples_and_structs_are_accumulated() {
    let f = format!(
        "{CAMERA}fn f(l: &mut f64, a: &mut [f64; 2], b: [f64; 2], c: &mut Camera<f64>, d: Camera<f64>) {{
            a += b
            c.rot -= d.rot
            c.centre += (l, 2.0)
            l += a[0] * c.rot[1] + c.centre.0
        }}"
    );
    let out = check_module(&raw(&f), &[1.0.load(), [1.0, 2.0].load(), [3.0, 4.0].load(), camera(), camera()]);
    assert_eq!(out[0], 6.0.load());
}

#[test]
fn complex_numbers() {
    let z = Complex::new(1.0, -2.0);
    let w = Complex::new(0.5, 3.0);
    let f = "fn f(l: &mut f64, z: &mut Complex<f64>, w: Complex<f64>, x: f64) {
        z += exp(w) * complex(x, 1.0) / w
        z.re += z.im * x
        mul_int(z, 2)
        conj(z)
        l += abs2(z) + re(z * w) + norm(w) + arg(w) + im(conj(w) * z) + re(complex(x, x * x))
    }";
    check_program(f, &args([&0.0, &z, &w, &0.75]));
    let functions = ["sqrt", "exp", "ln", "sin", "cos", "tan", "sinh", "cosh", "tanh", "recip"];
    for name in functions {
        let text = format!("fn f(l: &mut f64, z: Complex<f64>) {{ let w: Complex<f64> = {name}(z) {{ l += re(w) + 2.0 * im(w) }} }}");
        check_program(&text, &args([&0.0, &Complex::new(0.7, 0.4)]));
        check_program(&text, &args([&0.0, &Complex::new(-0.7, -1.4)]));
    }
    let power = "fn f(l: &mut f64, z: Complex<f64>) { l += abs2(powi(z, -3)) inc(l) }";
    check_program(power, &args([&0.0, &Complex::new(0.7, 0.4)]));
    let places = "fn f(l: &mut f64, z: &mut [Complex<f64>]) {
        rot(z[0].re, z[1].im, 0.5) swap(z[0].im, z[1].re) inv(z[0]) hadamard(z[0], z[1])
        l += z[0].re * z[1].im
    }";
    check_program(places, &args([&0.0, &vec![z, w]]));
}

#[test]
fn generic_functions_take_the_types_of_their_arguments() {
    let f = module(
        "fn g<T: Real, const N: usize>(y: &mut T, x: [T; N]) {
            managed anc m: T = 0_T { for i in 0..N { m += x[i] } y += m / (N as T) }
        }
        fn f<T: Real>(y: &mut T, x: [T; 3]) { call g(&mut y, &x) }",
    );
    let out = |args: &[Data]| there_and_back(&f, args)[0].clone();
    assert_eq!(out(&args([&1.0f32, &[1.0f32, 2.0, 6.0]])), 4.0f32.load());
    assert_eq!(out(&args([&1.0f64, &[1.0f64, 2.0, 6.0]])), 4.0f64.load());
    let fixed = |v: f64| Fixed43::from_num(v);
    assert_eq!(out(&args([&fixed(1.0), &[fixed(1.0), fixed(2.0), fixed(6.0)]])), fixed(4.0).load());
    let written = module(
        "fn g<const N: usize>(y: &mut f64) { y += N as f64 }
        fn f(y: &mut f64) { call g::<5>(&mut y) }
        links f { g::<5> => g }",
    );
    assert_eq!(there_and_back(&written, &args([&1.0]))[0], 6.0.load());
}

#[test]
fn literals_take_the_type_of_what_they_meet() {
    let f = "fn f(a: &mut f32, b: &mut i8, c: &mut Complex<f32>) {
        a += 1 + 2 * 0.5
        b += 100 + 100
        c += 2 * 3 + 1.5
        anc t: _ = 0 { t += a t -= a }
        let u: _ = 3 { a += u b += u }
    }";
    let out = run(&raw(f), Direction::FORWARD, &args([&0.0f32, &0i8, &Complex::new(0.0f32, 1.0)])).unwrap();
    assert_eq!(out, args([&5.0f32, &-53i8, &Complex::new(7.5f32, 1.0)]));
}

#[test]
fn expressions_of_every_kind() {
    let f = "const TAU = 6.25
        pure fn h<T: Real>(x: T, k: i32) -> (T, T) { { let s: T = x * x; (s + 1_T, if k > 1 { s } else { x }) } }
        fn f(y: &mut f64, x: f64, v: [f64], n: usize) {
            y += TAU * x
            y += { let t: f64 = x + 1.0; t * t }
            y += if n > 1 && v[1] > 0.0 { v[1] } else { v[0] }
            y += select(n == 0, x, v[0])
            let p: (f64, f64) = h(x, 2) { y += p.0 * p.1 }
            y += (h(x, 1)).1
            y += n as f64 * x
            y += max(x, v[0]) * min(x, 2.0) + abs(x - 5.0)
        }";
    for n in [0usize, 1, 2] {
        check_program(f, &args([&0.5, &1.25, &vec![0.5, 0.25], &n]));
    }
}

#[test]
fn composite_ancillas_and_bindings() {
    let f = "fn f(y: &mut f64, x: [f64], n: usize) {
        managed anc a: [f64; 3] = [0.0; 3] { managed anc m: Array2<f64> = fill(0.0, n, 2) {
            for i in 0..n { a[i] += x[i] * x[i] m[i, 1] += a[i] }
            y += m[1, 1] * a[0]
        } }
        let t: (f64, f64) = (x[0] * x[1], x[2]) { y += t.0 / t.1 }
        let v: [f64; 2] = [x[0], 2.0 * x[1]] { y += v[0] * v[1] }
    }";
    check_program(f, &args([&0.5, &vec![1.0, 2.0, 3.0], &2usize]));
}

#[test]
fn a_function_that_takes_a_function() {
    let f = "fn m::SQUARE(y: &mut f64, x: f64) { y += x * x }
        fn m::CUBE(y: &mut f64, x: f64) { y += x * x * x }
        fn twice<F: fn(&mut f64, f64)>(g: F, y: &mut f64, x: f64) {
            managed anc t: f64 = 0.0 { call g(&mut t, &x) call g(&mut y, &t) }
        }
        fn f(y: &mut f64, x: f64) { call twice(m::SQUARE, &mut y, &x) uncall twice(m::CUBE, &mut y, &x) }";
    let mut m = raw(f);
    for function in m.functions.values_mut() {
        crate::pass::uncompute(function);
    }
    let out = there_and_back(&m, &args([&0.0, &2.0]));
    assert_eq!(out[0], (16.0 - 512.0).load());
    assert_eq!(gradient(&m, &args([&0.0, &2.0]), 0)[1], (4.0 * 8.0 - 9.0 * 256.0).load());
}

#[test]
fn fixed_point_comes_back_bit_for_bit_after_many_steps() {
    let f = module(
        "fn f<T: Real>(x: &mut T, v: &mut T, n: usize) {
            for k in 0..n { v -= 0.005 * x x += 0.01 * v v -= 0.005 * x }
        }",
    );
    let start = args([&Fixed43::from_num(1.0), &Fixed43::from_num(0.25), &2000usize]);
    let out = run(&f, Direction::FORWARD, &start).unwrap();
    assert_ne!(out, start);
    assert_eq!(run(&f, Direction::INVERSE, &out).unwrap(), start);
}

#[test]
fn adjoints_carry_several_cotangents_at_once() {
    use crate::scalar::{Batch, ComplexShadow};
    let f = module(
        "fn f(y: &mut [f64], x: [f64], z: Complex<f64>) {
            managed anc p: f64 = 1.0 {
                p += x[0] * x[1]
                y[0] += p * sin(x[0])
                y[1] += sqrt(x[1]) + re(z * z) * x[0]
                rot(y[0], y[1], x[0])
            }
        }",
    );
    let start = args([&vec![1.0, 2.0], &vec![0.5, 3.0], &Complex::new(1.0, 2.0)]);
    let out = run(&f, Direction::FORWARD, &start).unwrap();
    let adjoint = |y_bar: &dyn DynArg, x_bar: &dyn DynArg, z_bar: &dyn DynArg| {
        let [y, x, z] = [&out[0], &out[1], &out[2]].map(Data::clone);
        run(&f, ADJOINT, &[y, y_bar.load(), x, x_bar.load(), z, z_bar.load()]).unwrap()
    };
    let zero = ComplexShadow { re: Batch([0.0; 2]), im: Batch([0.0; 2]) };
    let both = adjoint(&vec![Batch([1.0, 0.0]), Batch([0.0, 1.0])], &vec![Batch([0.0; 2]); 2], &zero);
    for lane in 0..2 {
        let seeds = vec![(lane == 0) as u8 as f64, (lane == 1) as u8 as f64];
        let one = adjoint(&seeds, &vec![0.0; 2], &Complex::new(0.0, 0.0));
        let pick = |d: &Data| {
            d.map(&|leaf| match leaf {
                Data::Lanes(l) => Data::Scalar(l[lane]),
                other => other.clone(),
            })
        };
        for k in [1, 3, 5] {
            assert_eq!(pick(&both[k]), one[k], "lane {lane}, argument {k}");
        }
    }
}

#[test]
fn a_deterministic_sum_has_the_shape_of_the_tree() {
    let f = module("fn f(y: &mut f32, x: [f32]) { par for i in 0..len(x) { y += x[i] } }");
    let n = 3 * crate::tree::BLOCK + 17;
    let x: Vec<f32> = (0..n).map(|i| 1.0 / (1.0 + i as f32)).collect();
    let mut m = Machine::new(&f, "f", Direction::FORWARD, args([&0.5f32, &x]))
        .unwrap()
        .with_options(Options { deterministic: true, ..Options::default() });
    m.run().unwrap();
    let blocks =
        (0..crate::tree::blocks(n)).map(|b| x[crate::tree::block(n, b)].iter().sum::<f32>()).collect();
    let total = crate::tree::pairwise(blocks, |a, b| *a += b).unwrap();
    assert_eq!(m.arguments()[0], (0.5 + total).load());
    let plain = run(&f, Direction::FORWARD, &args([&0.5f32, &x])).unwrap();
    assert_ne!(m.arguments()[0], plain[0]);
    // half-way back and forth over the borders of blocks
    let mut m = Machine::new(&f, "f", Direction::FORWARD, args([&0.5f32, &x]))
        .unwrap()
        .with_options(Options { deterministic: true, ..Options::default() });
    (0..4 * crate::tree::BLOCK).for_each(|_| assert!(m.step().is_ok()));
    (0..3 * crate::tree::BLOCK).for_each(|_| assert!(m.step_back().is_ok()));
    m.run().unwrap();
    assert_close(&m.arguments(), &args([&(0.5 + total), &x]), "after turning around twice");
    m.run_back().unwrap();
    assert_close(&m.arguments(), &args([&0.5f32, &x]), "back");
}

#[test]
fn the_interpreter_is_a_device() {
    use super::super::Interpreter;
    use crate::device::{Backend, Device};
    let f = module("fn f(y: &mut f64, x: [f64]) { for i in 0..len(x) { y += x[i] * x[i] } }");
    let device = Interpreter::new();
    let Backend::Dynamic(dynamic) = device.backend() else { panic!("not dynamic") };
    let (mut y, x) = (1.0, vec![3.0, 4.0]);
    let mut slice = x.as_slice();
    dynamic.execute(&f, Direction::FORWARD, &mut [&mut y, &mut slice]).unwrap();
    assert_eq!(y, 26.0);
    let (mut y_bar, mut x_bar) = (1.0, vec![0.0, 0.5]);
    dynamic.execute(&f, ADJOINT, &mut [&mut y, &mut y_bar, &mut slice, &mut x_bar]).unwrap();
    assert_eq!((y, x_bar), (1.0, vec![6.0, 8.5]));
    // what ran before a failure is seen in the arguments
    let g = module(
        "fn f(y: &mut f64, s: &mut Stack<f64>) { y += 1.0 anc a: f64 = 0.0 { pop(s, a) push(s, a) } }",
    );
    let mut stack = Stack::<f64>::new();
    assert!(dynamic.execute(&g, Direction::FORWARD, &mut [&mut y, &mut stack]).is_err());
    assert_eq!(y, 2.0);
}

#[test]
fn values_of_every_scalar_type_are_computed_as_in_rust() {
    use crate::ops::Func;
    let same = |func, args: &[Data], expected: Value| {
        assert_eq!(super::super::func::apply(func, args).unwrap(), Data::Scalar(expected));
    };
    same(Func::Add, &args([&200u8, &100u8]), Value::U8(44));
    same(Func::Rem, &args([&-7i16, &2i16]), Value::I16(-1));
    same(Func::Shl, &args([&1u32, &3i32]), Value::U32(8));
    same(Func::Lt, &args([&1.0f32, &2.0f32]), Value::Bool(true));
    same(Func::Powi, &args([&2.0, &-2i32]), Value::F64(0.25));
    same(Func::Polygamma, &args([&0i32, &1.0]), Value::F64(crate::math::cpu::double::polygamma(0, 1.0)));
    same(Func::MulAdd, &args([&0.1, &10.0, &-1.0]), Value::F64(0.1f64.mul_add(10.0, -1.0)));
    same(Func::Norm, &args([&Complex::new(3.0f32, 4.0)]), Value::F32(5.0));
    // every function of the table is defined on some scalars
    let samples: Vec<Data> = args([&0.5, &2i32, &true, &Complex::new(0.5, 0.25)]);
    for func in Func::ALL {
        let n = func.row().args.len() as u32;
        let defined = (0..4usize.pow(n)).any(|code| {
            let chosen: Vec<Data> = (0..n).map(|k| samples[code / 4usize.pow(k) % 4].clone()).collect();
            super::super::func::apply(*func, &chosen).is_ok()
        });
        assert!(defined, "{}", func.name());
    }
}

#[test]
fn pure_functions_that_call_themselves_are_refused() {
    let calls = raw("pure fn p(x: f64) -> f64 { q(x) }
         pure fn q(x: f64) -> f64 { p(x) + 1.0 }
         fn f(y: &mut f64, x: f64) { y += p(x) }");
    let error = run(&calls, Direction::FORWARD, &args([&0.0, &2.0])).unwrap_err();
    assert!(error.to_string().contains("calls itself"), "{error}");
}
