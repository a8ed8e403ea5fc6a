//! 128-bit integers against the interpreter, at the edges of their range.

use rev_core::error::Cause;
use rev_core::ir::Direction;
use rev_core::value::{Data, DynArg};

use super::{interpret, module, simulate};
use crate::lower::LowerOptions;

/// Powers of two and what is next to them, of both signs.
fn edges() -> Vec<i128> {
    let mut all = vec![0, 1, -1, 3, -10, 12345678901234567890123456789, i128::MAX, i128::MIN, i128::MIN + 1];
    for shift in [31, 32, 52, 53, 63, 64, 65, 100, 117, 126] {
        let power = 1i128 << shift;
        all.extend([power - 1, power, power + 1, -power, power + (power >> 53), power + (power >> 54) + 1]);
    }
    all
}

fn agrees(text: &str, args: &[Data]) {
    let m = module(text);
    let options = LowerOptions::default();
    let after = interpret(&m, Direction::FORWARD, args, false);
    let found = simulate(&m, Direction::FORWARD, args, &options).unwrap_or_else(|e| panic!("{text}\n{e}"));
    for (k, (a, b)) in after.iter().zip(&found).enumerate() {
        assert_eq!(format!("{a:?}"), format!("{b:?}"), "argument {k} of {text}");
    }
    let back = interpret(&m, Direction::INVERSE, &after, false);
    assert_eq!(back, simulate(&m, Direction::INVERSE, &after, &options).unwrap());
}

/// Every pair of edges.
fn pairs() -> (Vec<i128>, Vec<i128>) {
    let all = edges();
    all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))).unzip()
}

#[test]
fn arithmetic_and_comparisons() {
    let (a, b) = pairs();
    let divisors: Vec<i128> = b.iter().map(|b| if *b == 0 { 7 } else { *b }).collect();
    let wide = vec![3i128; a.len()];
    let bits = vec![0i32; a.len()];
    for ty in ["i128", "u128"] {
        let text = format!(
            "module wide
             fn wide(s: &mut [{ty}], t: &mut [i32], a: [{ty}], b: [{ty}], d: [{ty}]) {{
                 par for i in 0..len(a) {{
                     s[i] += a[i] * b[i] - mul_add(b[i], 3, a[i])
                     s[i] ^= a[i] / d[i]
                     s[i] += a[i] % d[i] ^ (a[i] & b[i]) ^ (a[i] | b[i])
                     s[i] -= min(a[i], b[i]) * 5 - max(a[i], b[i]) * 7
                     s[i] ^= abs(a[i]) + -b[i]
                     neg(s[i])
                     inc(s[i])
                     t[i] += (if a[i] < b[i] {{ 1 }} else {{ 0 }}) + (if a[i] <= b[i] {{ 2 }} else {{ 0 }})
                     t[i] += (if a[i] > b[i] {{ 4 }} else {{ 0 }}) + (if a[i] >= b[i] {{ 8 }} else {{ 0 }})
                     t[i] += (if a[i] == b[i] {{ 16 }} else {{ 0 }}) + (if a[i] != b[i] {{ 32 }} else {{ 0 }})
                 }}
             }}"
        );
        let args = match ty {
            "i128" => [wide.load(), bits.load(), a.load(), b.load(), divisors.load()],
            _ => {
                let unsigned = |v: &[i128]| v.iter().map(|v| *v as u128).collect::<Vec<_>>().load();
                [unsigned(&wide), bits.load(), unsigned(&a), unsigned(&b), unsigned(&divisors)]
            }
        };
        agrees(&text, &args);
    }
}

#[test]
fn shifts() {
    let all = edges();
    let by = [-129, -1, 0, 1, 31, 63, 64, 65, 100, 127, 128, 1000];
    let (a, n): (Vec<i128>, Vec<i32>) = all.iter().flat_map(|a| by.map(|n| (*a, n))).unzip();
    for ty in ["i128", "u128"] {
        let text = format!(
            "module wide
             fn wide(s: &mut [{ty}], a: [{ty}], n: [i32]) {{
                 par for i in 0..len(a) {{ s[i] += a[i] << n[i] s[i] ^= a[i] >> n[i] s[i] += a[i] << 70 s[i] ^= a[i] >> 3 }}
             }}"
        );
        let unsigned = a.iter().map(|v| *v as u128).collect::<Vec<_>>();
        let args = match ty {
            "i128" => [vec![1i128; a.len()].load(), a.load(), n.load()],
            _ => [vec![1u128; a.len()].load(), unsigned.load(), n.load()],
        };
        agrees(&text, &args);
    }
}

#[test]
fn conversions() {
    let all = edges();
    let mut floats: Vec<f64> = all.iter().flat_map(|v| [*v as f64, *v as f64 + 0.75]).collect();
    floats.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.5, -0.5, 1e300, -1e300, 3.4e38]);
    let n = floats.len();
    let wides: Vec<i128> = (0..n).map(|k| all[k % all.len()]).collect();
    let longs: Vec<i64> = wides.iter().map(|v| *v as i64).collect();
    for (ty, unsigned) in [("i128", false), ("u128", true)] {
        let text = format!(
            "module wide
             fn wide(s: &mut [{ty}], x: &mut [f64], y: &mut [f32], k: &mut [i16], l: &mut [u64], o: &mut [i128],
                     a: [{ty}], f: [f64], g: [f32], n: [i64], b: [bool], q: [Fixed43], p: &mut [Fixed43]) {{
                 par for i in 0..len(a) {{
                     s[i] += f[i] as {ty}
                     s[i] ^= (g[i] as {ty}) + (n[i] as {ty}) + ((n[i] as u32) as {ty}) * 3 + (b[i] as {ty})
                     s[i] ^= q[i] as {ty}
                     x[i] += a[i] as f64
                     y[i] += a[i] as f32
                     k[i] += a[i] as i16
                     l[i] += a[i] as u64
                     o[i] += (a[i] as u128) as i128
                     p[i] += a[i] as Fixed43
                 }}
             }}"
        );
        let wide = |v: &[i128]| match unsigned {
            true => v.iter().map(|v| *v as u128).collect::<Vec<_>>().load(),
            false => v.to_vec().load(),
        };
        let singles: Vec<f32> = floats.iter().map(|v| *v as f32).collect();
        let fixed: Vec<rev_core::scalar::Fixed43> =
            longs.iter().map(|v| rev_core::scalar::Fixed43::from_bits(*v)).collect();
        let truths: Vec<bool> = (0..n).map(|k| k % 2 == 0).collect();
        let args = [
            wide(&vec![0; n]),
            vec![0.0; n].load(),
            vec![0f32; n].load(),
            vec![0i16; n].load(),
            vec![0u64; n].load(),
            vec![0i128; n].load(),
            wide(&wides),
            floats.load(),
            singles.load(),
            longs.load(),
            truths.load(),
            fixed.load(),
            vec![rev_core::scalar::Fixed43::ZERO; n].load(),
        ];
        let m = module(&text);
        let expected = interpret(&m, Direction::FORWARD, &args, false);
        let found = simulate(&m, Direction::FORWARD, &args, &LowerOptions::default()).unwrap();
        for (k, (a, b)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(format!("{a:?}"), format!("{b:?}"), "argument {k}, {ty}");
        }
    }
}

#[test]
fn what_goes_wrong_is_the_interpreters_error() {
    let m = module(
        "module wide
         fn wide(s: &mut [i128], a: [i128], b: [i128], k: [i64]) {
             par for i in 0..len(a) { s[i] += a[i] / b[i] mul_int(s[i], k[i]) div_int(s[i], 2) }
         }",
    );
    let checked = LowerOptions { checks: true, ..LowerOptions::default() };
    let fails = |s: i128, b: i128, k: i64| {
        let args = [vec![4, s].load(), vec![20i128, i128::MAX].load(), vec![10, b].load(), vec![2, k].load()];
        let mut machine =
            rev_core::interp::Machine::new(&m, "wide", Direction::FORWARD, args.to_vec()).unwrap();
        let expected = machine.run().unwrap_err();
        assert_eq!(expected, simulate(&m, Direction::FORWARD, &args, &checked).unwrap_err());
        expected.cause().clone()
    };
    assert_eq!(fails(0, 0, 1), Cause::DivisionByZero);
    for (s, b, k) in [(0, 1, 2), (0, i128::MAX, 0), (4, i128::MAX, 3), (0, -1, -2)] {
        assert!(matches!(fails(s, b, k), Cause::Instruction { .. }), "{s} {b} {k}");
    }
    // unchecked: 0 for a zero divisor
    let args = [vec![4i128].load(), vec![20i128].load(), vec![0i128].load(), vec![2i64].load()];
    let found = simulate(&m, Direction::FORWARD, &args, &LowerOptions::default()).unwrap();
    assert_eq!(found[0], vec![4i128].load());
    // what is released
    let m = module(
        "module left fn left(y: &mut [i128]) {
             par for i in 0..len(y) { anc s: i128 = -7 { s += y[i] y[i] += 0 release s = -7 } }
         }",
    );
    let args = [vec![0, -1i128 << 100].load()];
    let expected =
        rev_core::interp::Machine::new(&m, "left", Direction::FORWARD, args.to_vec()).unwrap().run();
    let found = simulate(&m, Direction::FORWARD, &args, &checked).unwrap_err();
    assert_eq!(expected.unwrap_err(), found);
}
