use super::*;
use num_bigint::BigInt;

/// Bits of many sizes and both signs, the ends among them.
fn samples(n: usize, bits: u32) -> Vec<i128> {
    let of = |v: i128| arithmetic::wrapped(v, FixedFormat::of_type(bits, 0));
    let mut state = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835_u128;
    let mut next = || {
        state =
            state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(0xda3e_39cb_94b9_5bdb);
        state ^ state >> 61
    };
    let mut all =
        vec![0, 1, -1, 2, -3, i128::MAX, i128::MIN, i128::MAX >> (128 - bits), i128::MIN >> (128 - bits)];
    all.extend((0..bits).flat_map(|k| [1i128 << k, -1 << k]));
    all.extend((0..n).map(|_| (next() as i128) >> (next() % u128::from(bits))));
    all.into_iter().map(of).collect()
}

fn formats() -> Vec<FixedFormat> {
    let all =
        [(32, 0), (32, 8), (32, 16), (32, 30), (64, 0), (64, 20), (64, 43), (64, 62), (128, 0), (128, 64)];
    let all = all.into_iter().chain([(128, 1), (128, 63), (128, 65), (128, 100), (128, 126)]);
    all.map(|(bits, fraction)| FixedFormat::new(bits, fraction).unwrap()).collect()
}

/// `⌊n/d⌋` for a positive `d`.
fn floor(n: BigInt, d: &BigInt) -> BigInt {
    let (q, r) = (&n / d, &n % d);
    if r < BigInt::ZERO {
        q - 1
    } else {
        q
    }
}

fn wrapped(v: BigInt, of: FixedFormat) -> i128 {
    let modulus = BigInt::from(1) << of.bits();
    let low = &v - floor(v.clone(), &modulus) * &modulus;
    let signed = if low >= BigInt::from(1) << (of.bits() - 1) { low - modulus } else { low };
    i128::try_from(signed).unwrap()
}

fn saturated(v: BigInt, of: FixedFormat) -> i128 {
    let end = if v < BigInt::ZERO { i128::MIN } else { i128::MAX };
    arithmetic::saturated(i128::try_from(v).unwrap_or(end), of)
}

/// As [`FixedPoint`]s of a format.
fn points(all: &[i128], of: FixedFormat) -> Vec<FixedPoint> {
    all.iter().map(|bits| FixedPoint::of_bits(*bits, of)).collect()
}

#[test]
fn products_and_quotients_are_those_of_whole_numbers_of_any_size() {
    for of in formats() {
        let one = BigInt::from(1) << of.fraction();
        let all = points(&samples(40, of.bits()), of);
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))) {
            let (m, n) = (BigInt::from(a.to_bits()), BigInt::from(b.to_bits()));
            let product = &m * &n;
            let rounded = floor(2 * &product + &one, &(2 * &one));
            assert_eq!(a.times(b).to_bits(), wrapped(rounded, of), "{of}: {m} · {n}");
            let exact = (&product % &one == BigInt::ZERO && n != BigInt::ZERO).then(|| &product / &one);
            let exact = exact.filter(|v| BigInt::from(saturated(v.clone(), of)) == *v);
            assert_eq!(a.times_exact(b).map(|v| v.to_bits().into()), exact, "{of}: {m} · {n}");
            assert_eq!(a.plus(b).to_bits(), wrapped(&m + &n, of));
            assert_eq!(a.plus(b).minus(b), a);
            assert_eq!(b.fused_from(a, b.fused(a, b)), b);
            if n == BigInt::ZERO {
                let end = saturated(BigInt::from(m.sign() as i32 - 1) << 128, of);
                assert_eq!(a.over(b).to_bits(), if m == BigInt::ZERO { 0 } else { end });
                assert_eq!(a.over_exact(b), None);
                continue;
            }
            let (m, n) = if n < BigInt::ZERO { (-m, -n) } else { (m, n) };
            let rounded = floor(2 * &m * &one + &n, &(2 * &n));
            assert_eq!(a.over(b).to_bits(), saturated(rounded, of), "{of}: {m} / {n}");
            let exact = (&m * &one % &n == BigInt::ZERO).then(|| &m * &one / &n);
            let exact = exact.filter(|v| BigInt::from(saturated(v.clone(), of)) == *v);
            assert_eq!(a.over_exact(b).map(|v| v.to_bits().into()), exact, "{of}: {m} / {n}");
        }
    }
}

#[test]
fn roots_of_128_bits_are_rounded_once() {
    for of in formats().into_iter().filter(|of| of.bits() == 128) {
        for x in points(&samples(3000, 128), of) {
            let n = BigInt::from(x.to_bits().max(0)) << of.fraction();
            let down = n.sqrt();
            let root = if &n - &down * &down > down { down + 1 } else { down };
            assert_eq!(BigInt::from(Field::sqrt(x).to_bits()), root, "{of}: {}", x.to_bits());
        }
    }
}

#[test]
fn conversions_round_to_nearest_and_saturate() {
    for (from, to) in formats().into_iter().flat_map(|f| formats().into_iter().map(move |t| (f, t))) {
        for x in points(&samples(30, from.bits()), from) {
            let n = BigInt::from(x.to_bits()) << (to.fraction() + 1);
            let rounded =
                floor(n + (BigInt::from(1) << from.fraction()), &(BigInt::from(2) << from.fraction()));
            let _format = FormatScope::of(Some(to));
            let found = FixedPoint::from_number(x.to_number());
            assert_eq!(found.to_bits(), saturated(rounded, to), "{x} of {from} in {to}");
            assert_eq!(found.format(), to);
            let whole = BigInt::from(x.to_bits()) / (BigInt::from(1) << from.fraction());
            assert_eq!(BigInt::from(i128::from_number(x.to_number())), whole);
            let back = FixedPoint::from_number(Num::Wide(x.to_bits()));
            assert_eq!(back.to_bits(), saturated(BigInt::from(x.to_bits()) << to.fraction(), to));
        }
    }
}

/// A number with its format is what the type of the format is, in every method.
fn alike<T: Real>(of: FixedFormat, new: fn(i128) -> T) {
    let same = |found: FixedPoint, expected: T, what: &str, x: i128| {
        assert_eq!(found.to_value(), expected.to_value(), "{of}: {what} of {x}");
    };
    let _format = FormatScope::of(Some(of));
    macro_rules! elementary {
        ($x:ident $y:ident $name:ident($first:ident) $doc:literal) => {
            same($x.0.$name(), $x.1.$name(), stringify!($name), $x.0.to_bits());
        };
        ($x:ident $y:ident $name:ident($first:ident $second:ident) $doc:literal) => {
            same($x.0.$name($y.0), $x.1.$name($y.1), stringify!($name), $x.0.to_bits());
        };
        ($x:ident $y:ident $name:ident($($arguments:ident)*) $doc:literal) => {
            same($x.0.$name($y.0, $y.0), $x.1.$name($y.1, $y.1), stringify!($name), $x.0.to_bits());
        };
    }
    let all = samples(20, of.bits());
    for (k, bits) in all.iter().enumerate() {
        let pair = |bits: i128| (FixedPoint::of_bits(bits, of), new(bits));
        let (x, y) = (pair(*bits), pair(all[(7 * k + 3) % all.len()]));
        each_elementary!(Field elementary (x y));
        each_elementary!(Real elementary (x y));
        same(x.0.times(y.0), x.1.times(y.1), "times", *bits);
        same(x.0.over(y.0), x.1.over(y.1), "over", *bits);
        same(x.0.sqrt(), x.1.sqrt(), "sqrt", *bits);
        same(x.0.powi(3), x.1.powi(3), "powi", *bits);
        same(x.0.powi(-2), x.1.powi(-2), "powi", *bits);
        same(x.0.floor(), x.1.floor(), "floor", *bits);
        same(x.0.ceil(), x.1.ceil(), "ceil", *bits);
        same(x.0.round(), x.1.round(), "round", *bits);
        same(x.0.trunc(), x.1.trunc(), "trunc", *bits);
        same(x.0.unit(), x.1.unit(), "unit", *bits);
        same(x.0.arg(), x.1.arg(), "arg", *bits);
        same(x.0.copysign(y.0), x.1.copysign(y.1), "copysign", *bits);
        same(x.0.ln_gamma(), x.1.ln_gamma(), "ln_gamma", *bits);
        assert_eq!(x.0.to_f64(), Real::to_f64(x.1));
        assert_eq!(format!("{:?} {:?}", x.0, x.0 < y.0), format!("{:?} {:?}", x.1, x.1 < y.1), "{of}");
        assert_eq!(T::from_value(&x.0.to_value()), Some(x.1));
        let mut stored = T::zero();
        stored.store(&x.1.load()).unwrap();
        assert_eq!(stored, x.1);
    }
    same(FixedPoint::pi(), T::pi(), "pi", 0);
    same(FixedPoint::one(), T::one(), "one", 0);
    same(FixedPoint::from_f64(0.1), T::from_f64(0.1), "0.1", 0);
    assert_eq!(T::ir_type(), FixedPoint::ir_type());
    assert_eq!(T::from_value(&Value::Fixed(FixedPoint::of_bits(1, FixedFormat::of_type(32, 1)))), None);
}

#[test]
fn the_interpreters_numbers_are_the_types() {
    alike::<FixedI32<U8>>(FixedFormat::of_type(32, 8), |b| FixedI32::from_bits(b as i32));
    alike::<FixedI32<U30>>(FixedFormat::of_type(32, 30), |b| FixedI32::from_bits(b as i32));
    alike::<FixedI64<U20>>(FixedFormat::of_type(64, 20), |b| FixedI64::from_bits(b as i64));
    alike::<Fixed43>(FixedFormat::DEFAULT, |b| FixedI64::from_bits(b as i64));
    alike::<FixedI128<U64>>(FixedFormat::of_type(128, 64), FixedI128::from_bits);
    alike::<FixedI128<U126>>(FixedFormat::of_type(128, 126), FixedI128::from_bits);
}

/// The crate `fixed` itself, where it has the same rounding.
#[test]
fn roundings_and_conversions_are_those_of_the_crate() {
    for bits in samples(500, 64) {
        let x = FixedI64::<U20>::from_bits(bits as i64);
        assert_eq!(Real::floor(x), x.wrapping_floor());
        assert_eq!(Real::ceil(x), x.wrapping_ceil());
        assert_eq!(Real::round(x), x.wrapping_round());
        assert_eq!(Real::trunc(x), x.round_to_zero());
        assert_eq!(Real::to_f64(x), x.to_num::<f64>());
        assert_eq!(f32::from_number(x.to_number()), x.to_num::<f32>());
        let v = bits as f64 * 2f64.powi((bits % 90) as i32 - 45);
        assert_eq!(FixedI64::<U20>::from_f64(v), FixedI64::<U20>::saturating_from_num(v), "{v}");
        assert_eq!(FixedI128::<U100>::from_f64(v), FixedI128::<U100>::saturating_from_num(v), "{v}");
        assert_eq!(FixedI32::<U8>::from_f64(v), FixedI32::<U8>::saturating_from_num(v), "{v}");
    }
    assert_eq!(Fixed43::from_f64(f64::NAN), Fixed43::ZERO);
    assert_eq!(Fixed43::pi(), Fixed43::PI);
    assert_eq!(FixedI32::<U8>::pi(), FixedI32::<U8>::PI);
    // out of the range of ±2
    assert_eq!(FixedI128::<U126>::pi().to_bits(), i128::MAX);
}

#[test]
fn without_a_scope_a_number_is_of_no_format() {
    let none = FixedPoint::one();
    assert_eq!((none.format(), none.to_bits()), (FixedFormat::NONE, 0));
    {
        let _outer = FormatScope::of(Some(FixedFormat::DEFAULT));
        {
            let _inner = FormatScope::of(Some(FixedFormat::of_type(32, 8)));
            assert_eq!(FixedPoint::one().to_bits(), 256);
        }
        assert_eq!(FixedPoint::one().to_bits(), 1 << 43);
    }
    assert_eq!(FixedPoint::zero().format(), FixedFormat::NONE);
    // complex numbers have parts of one format
    let (a, b) =
        (FixedPoint::of_bits(3, FixedFormat::DEFAULT), FixedPoint::of_bits(3, FixedFormat::of_type(32, 8)));
    assert_eq!(Value::complex(Value::Fixed(a), Value::Fixed(b)), None);
    assert_eq!(std::mem::size_of::<Value>(), 48);
}
