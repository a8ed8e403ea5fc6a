//! Fixed point of every width and fraction that a GPU has against the interpreter, at the edges of its range.

use rev_core::error::Cause;
use rev_core::ir::{Direction, FixedFormat, ScalarType};
use rev_core::value::{Data, DynArg, Value};

use super::{interpret, module, simulate, ADJOINT};
use crate::lower::LowerOptions;

const FORMATS: [(u32, u32); 8] =
    [(32, 0), (32, 8), (32, 16), (32, 30), (64, 0), (64, 20), (64, 43), (64, 62)];

fn of(bits: u32, fraction: u32) -> ScalarType {
    ScalarType::Fixed(FixedFormat::new(bits, fraction).unwrap())
}

/// Powers of two and what is next to them, of both signs, as numbers of a type.
fn edges(ty: ScalarType) -> Vec<Value> {
    let mut all = vec![0i128, 3, -10, 0x5555_5555_5555_5555, -0x1234_5678_9abc_def0, i128::MAX, i128::MIN];
    for shift in
        (0..ty.bits()).step_by(if ty.bits() == 64 { 7 } else { 4 }).chain([ty.bits() - 2, ty.bits() - 1])
    {
        let power = 1i128 << shift;
        all.extend([power - 1, power, -power, -power - 1]);
    }
    let saturated = |v: i128| v.clamp(-1 << (ty.bits() - 1), (1 << (ty.bits() - 1)) - 1);
    all.into_iter().map(|v| Value::from_bits(ty, saturated(v) as u128)).collect()
}

fn vector(values: impl IntoIterator<Item = Value>) -> Data {
    Data::vector(values.into_iter().map(Data::Scalar).collect())
}

fn agrees(text: &str, direction: Direction, args: &[Data]) -> Vec<Data> {
    let m = module(text);
    let expected = interpret(&m, direction, args, true);
    let options = LowerOptions { deterministic: true, ..LowerOptions::default() };
    let found = simulate(&m, direction, args, &options).unwrap_or_else(|e| panic!("{text}\n{e}"));
    for (k, (a, b)) in expected.iter().zip(&found).enumerate() {
        assert_eq!(format!("{a:?}"), format!("{b:?}"), "argument {k} of {text}");
    }
    expected
}

#[test]
fn arithmetic_rounding_and_comparisons() {
    for (bits, fraction) in FORMATS {
        let ty = of(bits, fraction);
        let name = ty.name();
        let text = format!(
            "module fixed
             fn fixed(s: &mut [{name}], t: &mut [{name}], u: &mut [{name}], k: &mut [i32], a: [{name}], b: [{name}]) {{
                 par for i in 0..len(a) {{
                     s[i] += a[i] * b[i]
                     t[i] += a[i] / b[i]
                     u[i] += floor(a[i])
                     u[i] -= ceil(b[i]) * 3
                     u[i] += round(a[i]) - trunc(b[i])
                     s[i] -= mul_add(a[i], b[i], abs(a[i])) - unit(b[i])
                     t[i] += copysign(a[i], b[i]) + min(a[i], b[i]) - max(a[i], 0.75)
                     t[i] -= recip(a[i]) + sqrt(b[i]) + arg(a[i])
                     neg(u[i])
                     k[i] += (if a[i] < b[i] {{ 1 }} else {{ 0 }}) + (if a[i] == b[i] {{ 2 }} else {{ 0 }})
                 }}
             }}"
        );
        let all = edges(ty);
        let pairs: Vec<(Value, Value)> = all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))).collect();
        let zeros = || vector(pairs.iter().map(|(a, _)| a.zero_like()));
        let (a, b) = (vector(pairs.iter().map(|p| p.0)), vector(pairs.iter().map(|p| p.1)));
        let args = [zeros(), zeros(), zeros(), vec![0i32; pairs.len()].load(), a, b];
        let after = agrees(&text, Direction::FORWARD, &args);
        assert_eq!(agrees(&text, Direction::INVERSE, &after), args);
    }
}

#[test]
fn functions_and_their_derivatives() {
    for (bits, fraction) in FORMATS {
        let ty = of(bits, fraction);
        let name = ty.name();
        let text = format!(
            "module fixed
             fn fixed(s: &mut [{name}], r: &mut [{name}], z: &mut [Complex<{name}>], a: [{name}], b: [{name}]) {{
                 par for i in 0..len(a) {{
                     s[i] += sin(a[i]) * exp(b[i]) - ln(a[i]) / 3
                     s[i] += powi(a[i], 3) + hypot(a[i], b[i]) + tanh(b[i]) * 0.3
                     z[i] += complex(a[i], b[i]) * complex(b[i], s[i])
                     rot(s[i], r[i], a[i])
                 }}
             }}"
        );
        let all: Vec<Value> = edges(ty);
        let n = all.len();
        let other: Vec<Value> = (0..n).map(|k| all[(5 * k + 2) % n]).collect();
        let zero = all[0].zero_like();
        let complex = Value::complex(zero, zero).unwrap();
        let args = [
            vector(vec![zero; n]),
            vector(vec![zero; n]),
            vector(vec![complex; n]),
            vector(all),
            vector(other),
        ];
        let after = agrees(&text, Direction::FORWARD, &args);
        agrees(&text, Direction::INVERSE, &after);
        let ones = |d: &Data| {
            let one = |e: &Data| match e {
                Data::Scalar(v) if v.parts().is_some() => Data::Scalar(*v),
                Data::Scalar(v) => Data::Scalar(v.same_type(rev_core::scalar::Num::Float(0.75)).unwrap()),
                other => other.clone(),
            };
            Data::vector(d.children().map(one).collect())
        };
        let seeds =
            [ones(&after[0]), ones(&after[1]), ones(&after[2]), args[3].zero_shadow(), args[4].zero_shadow()];
        let both: Vec<Data> = after.iter().zip(seeds).flat_map(|(a, s)| [a.clone(), s]).collect();
        agrees(&text, ADJOINT, &both);
    }
}

#[test]
fn conversions() {
    for ((bits, fraction), (other, places)) in FORMATS.into_iter().flat_map(|a| FORMATS.map(|b| (a, b))) {
        let (ty, to) = (of(bits, fraction), of(other, places));
        let (name, another) = (ty.name(), to.name());
        let text = format!(
            "module fixed
             fn fixed(d: &mut [f64], f: &mut [f32], h: &mut [f16], k: &mut [i8], l: &mut [u32], m: &mut [i64], n: &mut [i32],
                      w: &mut [i128], t: &mut [{another}], s: &mut [{name}], a: [{name}], x: [f64], y: [i64]) {{
                 par for i in 0..len(a) {{
                     d[i] += a[i] as f64
                     f[i] += a[i] as f32
                     h[i] += a[i] as f16
                     k[i] += a[i] as i8
                     l[i] += a[i] as u32
                     m[i] += a[i] as i64
                     n[i] += a[i] as i32
                     w[i] += a[i] as i128
                     t[i] += a[i] as {another}
                     s[i] += (x[i] as {name}) + (y[i] as {name}) * 3 + ((y[i] as u32) as {name}) + ((y[i] as i128) as {name})
                     s[i] -= (x[i] as f32) as {name}
                 }}
             }}"
        );
        let all = edges(ty);
        let n = all.len();
        let numbers: Vec<f64> = (0..n)
            .map(|k| match k % 5 {
                0 => f64::NAN,
                1 => f64::INFINITY * if k % 2 == 0 { 1.0 } else { -1.0 },
                _ => (k as f64 - 7.3) * 2f64.powi(5 * k as i32 - 60),
            })
            .collect();
        let longs: Vec<i64> = (0..n).map(|k| (0x1234_5678_9abc_def1i64 << (k % 7)) >> (3 * k % 64)).collect();
        let zero = all[0].zero_like();
        let there = Value::from_bits(to, 0);
        let args = [
            vec![0.0; n].load(),
            vec![0f32; n].load(),
            vec![rev_core::scalar::f16::ZERO; n].load(),
            vec![0i8; n].load(),
            vec![0u32; n].load(),
            vec![0i64; n].load(),
            vec![0i32; n].load(),
            vec![0i128; n].load(),
            vector(vec![there; n]),
            vector(vec![zero; n]),
            vector(all),
            numbers.load(),
            longs.load(),
        ];
        agrees(&text, Direction::FORWARD, &args);
    }
}

#[test]
fn products_by_integers_have_the_interpreters_errors() {
    for (bits, fraction) in [(32, 8), (64, 20)] {
        let name = of(bits, fraction).name();
        let m = module(&format!(
            "module fixed
             fn fixed(s: &mut [{name}], k: [i64], l: [i64]) {{
                 par for i in 0..len(k) {{ mul_int(s[i], k[i]) div_int(s[i], l[i]) }}
             }}"
        ));
        let checked = LowerOptions { checks: true, ..LowerOptions::default() };
        let most = Value::from_bits(of(bits, fraction), i64::MAX as u128 >> (64 - bits));
        let small = Value::from_bits(of(bits, fraction), 12);
        for (s, k, l) in [
            (small, 2, 3),
            (small, 0, 1),
            (small, 1, 5),
            (most, 2, 1),
            (small, 1i64 << 40, 1),
            (small, -1, -2),
        ] {
            let args = [vector([s]), vec![k].load(), vec![l].load()];
            let mut machine =
                rev_core::interp::Machine::new(&m, "fixed", Direction::FORWARD, args.to_vec()).unwrap();
            let expected = machine.run().map(|()| machine.arguments());
            let found = simulate(&m, Direction::FORWARD, &args, &checked);
            match (expected, found) {
                (Ok(expected), Ok(found)) => assert_eq!(expected, found, "{s} {k} {l}"),
                (expected, found) => assert_eq!(expected.map(drop), found.map(drop), "{s} {k} {l}"),
            }
        }
    }
}

#[test]
fn of_128_bits_there_is_none() {
    let refused = |text: &str, args: &[Data]| {
        let error = simulate(&module(text), Direction::FORWARD, args, &LowerOptions::default()).unwrap_err();
        assert!(matches!(error.cause(), Cause::Device { .. }), "{error}");
        error.to_string()
    };
    let wide = Value::from_bits(of(128, 64), 3);
    let message = refused(
        "module wide fn wide(y: &mut FixedI128<U64>, x: FixedI128<U64>) { y += x }",
        &[Data::Scalar(wide), Data::Scalar(wide)],
    );
    assert!(
        message.contains("`FixedI128<U64>` (only fixed point of 32 and 64 bits: a product needs integers of twice as many)"),
        "{message}"
    );
    refused("module wide fn wide(y: &mut f64) { y += (1.5 as FixedI128<U64>) as f64 }", &[0.0.load()]);
    refused(
        "module wide fn wide(y: &mut f64, x: i64) { y += (x as FixedI128<U64>) as f64 }",
        &[0.0.load(), 3i64.load()],
    );
}
