//! Special values (C99 Annex F.9), signs of zeros among them; and that every way to run a function
//! gives the same bits: with the fused instruction, with calls of the C library's, without branches.

use crate::cases::{Case, Random, CASES};
use rev_core::elementary_table;
use rev_core::math::numbers::{Numbers, DOUBLE};
use rev_core::math::{cpu::double, cpu::single, Machine, Native};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn case(name: &str) -> &'static Case {
    CASES.iter().find(|c| c.name == name).unwrap()
}

/// The value at the arguments, in both widths; zeros with their signs.
fn at(name: &str, x: &[f64], expected: f64) {
    let found = (case(name).double)(x);
    let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
    assert!(same, "{name}{x:?}: {found:?} for {expected:?}");
    let narrow: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let (found, expected) = ((case(name).single)(&narrow), expected as f32);
    let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
    assert!(same, "{name}{narrow:?} in f32: {found:?} for {expected:?}");
}

#[test]
fn zeros_keep_their_sign_and_nan_stays() {
    for name in
        ["sin", "tan", "asin", "atan", "sinh", "tanh", "expm1", "log1p", "cbrt", "asinh", "atanh", "erf"]
    {
        at(name, &[0.0], 0.0);
        at(name, &[-0.0], -0.0);
    }
    for case in CASES.iter().filter(|c| !["hypot", "powf", "powi"].contains(&c.name)) {
        at(case.name, &[NAN, 1.5][..case.ranges[0].len()], NAN);
    }
}

#[test]
fn functions_of_one_argument_at_their_ends() {
    let rows: &[(&str, f64, f64)] = &[
        ("exp", 0.0, 1.0),
        ("exp", -0.0, 1.0),
        ("exp", INF, INF),
        ("exp", -INF, 0.0),
        ("exp", 1000.0, INF),
        ("exp", -1000.0, 0.0),
        ("expm1", INF, INF),
        ("expm1", -INF, -1.0),
        ("expm1", -100.0, -1.0),
        ("ln", 0.0, -INF),
        ("ln", -0.0, -INF),
        ("ln", 1.0, 0.0),
        ("ln", -1.0, NAN),
        ("ln", INF, INF),
        ("ln", -INF, NAN),
        ("log2", 0.0, -INF),
        ("log2", 1.0, 0.0),
        ("log2", 8.0, 3.0),
        ("log2", 0.0625, -4.0),
        ("log2", -1.0, NAN),
        ("log2", INF, INF),
        ("log10", 0.0, -INF),
        ("log10", 1.0, 0.0),
        ("log10", 1000.0, 3.0),
        ("log10", -1.0, NAN),
        ("log10", INF, INF),
        ("log1p", -1.0, -INF),
        ("log1p", -2.0, NAN),
        ("log1p", INF, INF),
        ("sin", INF, NAN),
        ("sin", -INF, NAN),
        ("cos", 0.0, 1.0),
        ("cos", -0.0, 1.0),
        ("cos", INF, NAN),
        ("tan", INF, NAN),
        ("tan", -INF, NAN),
        ("sinh", INF, INF),
        ("sinh", -INF, -INF),
        ("cosh", 0.0, 1.0),
        ("cosh", INF, INF),
        ("cosh", -INF, INF),
        ("tanh", INF, 1.0),
        ("tanh", -INF, -1.0),
        ("tanh", 50.0, 1.0),
        ("asin", 1.0, FRAC_PI_2),
        ("asin", -1.0, -FRAC_PI_2),
        ("asin", 1.5, NAN),
        ("asin", -INF, NAN),
        ("acos", 1.0, 0.0),
        ("acos", -1.0, PI),
        ("acos", 0.0, FRAC_PI_2),
        ("acos", -0.0, FRAC_PI_2),
        ("acos", 1.5, NAN),
        ("acos", INF, NAN),
        ("atan", INF, FRAC_PI_2),
        ("atan", -INF, -FRAC_PI_2),
        ("atan", 1.0, FRAC_PI_4),
        ("atan", 1e30, FRAC_PI_2),
        ("cbrt", 27.0, 3.0),
        ("cbrt", -0.125, -0.5),
        ("cbrt", INF, INF),
        ("cbrt", -INF, -INF),
        ("exp2", 3.0, 8.0),
        ("exp2", -3.0, 0.125),
        ("exp2", INF, INF),
        ("exp2", -INF, 0.0),
        ("exp2", 2000.0, INF),
        ("exp2", -2000.0, 0.0),
        ("erf", INF, 1.0),
        ("erf", -INF, -1.0),
        ("erf", 30.0, 1.0),
        ("erfc", 0.0, 1.0),
        ("erfc", INF, 0.0),
        ("erfc", -INF, 2.0),
        ("erfc", 28.0, 0.0),
        ("erfc", -28.0, 2.0),
        ("sigmoid", 0.0, 0.5),
        ("sigmoid", INF, 1.0),
        ("sigmoid", -INF, 0.0),
        ("sigmoid", -1000.0, 0.0),
        ("softplus", INF, INF),
        ("softplus", -INF, 0.0),
        ("softplus", 1000.0, 1000.0),
        ("asinh", INF, INF),
        ("asinh", -INF, -INF),
        ("acosh", 1.0, 0.0),
        ("acosh", INF, INF),
        ("acosh", 0.5, NAN),
        ("acosh", -INF, NAN),
        ("atanh", 1.0, INF),
        ("atanh", -1.0, -INF),
        ("atanh", 1.5, NAN),
        ("atanh", -INF, NAN),
    ];
    for (name, x, expected) in rows {
        at(name, &[*x], *expected);
    }
}

#[test]
fn angles_of_axes_and_infinite_points() {
    let three_quarters = 3.0 * FRAC_PI_4;
    let rows = [
        (0.0, 1.0, 0.0),
        (-0.0, 1.0, -0.0),
        (0.0, -1.0, PI),
        (-0.0, -1.0, -PI),
        (0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0),
        (0.0, -0.0, PI),
        (-0.0, -0.0, -PI),
        (1.0, 0.0, FRAC_PI_2),
        (-1.0, -0.0, -FRAC_PI_2),
        (1.0, INF, 0.0),
        (-1.0, INF, -0.0),
        (1.0, -INF, PI),
        (-1.0, -INF, -PI),
        (INF, 1.0, FRAC_PI_2),
        (-INF, -1.0, -FRAC_PI_2),
        (INF, INF, FRAC_PI_4),
        (-INF, INF, -FRAC_PI_4),
        (INF, -INF, three_quarters),
        (-INF, -INF, -three_quarters),
        (1.0, NAN, NAN),
        (INF, NAN, NAN),
    ];
    for (y, x, expected) in rows {
        at("atan2", &[y, x], expected);
    }
    for (x, y, expected) in [
        (3.0, -4.0, 5.0),
        (0.0, -0.0, 0.0),
        (INF, NAN, INF),
        (NAN, -INF, INF),
        (NAN, 1.0, NAN),
        (1.0, NAN, NAN),
    ] {
        at("hypot", &[x, y], expected);
    }
}

#[test]
fn remainders_as_in_the_standard() {
    let (least, most) = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
    let rows = [
        (5.5, 2.0, 1.5),
        (-5.5, 2.0, -1.5),
        (5.5, -2.0, 1.5),
        (6.0, -3.0, 0.0),
        (-6.0, 3.0, -0.0),
        (-0.0, 3.0, -0.0),
        (1.0, INF, 1.0),
        (-1.5, -INF, -1.5),
        (0.0, INF, 0.0),
        (most, least, 0.0),
        (-most, least, -0.0),
        (most, most, 0.0),
        (least, most, least),
        (INF, 1.0, NAN),
        (INF, INF, NAN),
        (1.0, 0.0, NAN),
        (0.0, -0.0, NAN),
        (NAN, 1.0, NAN),
        (1.0, NAN, NAN),
    ];
    for (x, y, expected) in rows {
        at("fmod", &[x, y], expected);
    }
}

#[test]
fn powers_as_in_the_standard() {
    let rows = [
        (NAN, 0.0, 1.0),
        (1.0, NAN, 1.0),
        (NAN, 1.0, NAN),
        (2.0, NAN, NAN),
        (-1.0, NAN, NAN),
        (-1.0, INF, 1.0),
        (-1.0, -INF, 1.0),
        (0.0, 3.0, 0.0),
        (-0.0, 3.0, -0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, -3.0, -INF),
        (0.0, -3.0, INF),
        (-0.0, -2.0, INF),
        (-0.0, 0.5, 0.0),
        (0.5, INF, 0.0),
        (2.0, INF, INF),
        (0.5, -INF, INF),
        (-2.0, -INF, 0.0),
        (0.0, INF, 0.0),
        (0.0, -INF, INF),
        (INF, 0.5, INF),
        (INF, -0.5, 0.0),
        (-INF, 3.0, -INF),
        (-INF, 2.0, INF),
        (-INF, -3.0, -0.0),
        (-INF, 0.5, INF),
        (-2.0, 0.5, NAN),
        (-2.0, 3.0, -8.0),
        (-1.0, 7.0, -1.0),
        (2.0, -1.0, 0.5),
        (2.0, 10.0, 1024.0),
        (10.0, 500.0, INF),
        (-10.0, 501.0, -INF),
        (10.0, -500.0, 0.0),
        (-1.0, 9007199254740992.0, 1.0),
        (3.0, 1e300, INF),
        (4.0, 0.5, 2.0),
        (1.0, 12345.678, 1.0),
    ];
    for (x, y, expected) in rows {
        at("powf", &[x, y], expected);
    }
    // the largest odd numbers of each width
    assert_eq!(double::powf(-1.0, 9007199254740991.0), -1.0);
    assert_eq!(double::powf(-1.0, 4503599627370497.0), -1.0);
    assert_eq!(
        (single::powf(-1.0, 16777215.0), single::powf(-1.0, 8388609.0), single::powf(-1.0, 16777216.0)),
        (-1.0, -1.0, 1.0)
    );
    for (x, n, expected) in [
        (NAN, 0.0, 1.0),
        (-2.0, 3.0, -8.0),
        (2.0, -2.0, 0.25),
        (-0.0, -3.0, -INF),
        (0.0, -1.0, INF),
        (-2.0, 5.0, -32.0),
        (-1.0, -2147483648.0, 1.0),
    ] {
        at("powi", &[x, n], expected);
    }
}

/// The CPU's scalars without branches, and with a table that says when an index is out of range.
struct Straight(Native<f64>);

macro_rules! forward {
    ($($name:ident($($arg:ident: $t:ty),*) -> $result:ty;)*) => {$(
        fn $name(&mut self, $($arg: $t),*) -> $result {
            self.0.$name($($arg),*)
        }
    )*};
}

impl Machine for Straight {
    type F = f64;
    type I = i64;
    type M = bool;
    const NUMBERS: &'static Numbers = &DOUBLE;
    forward! {
        float(c: f64) -> f64;
        int(c: i64) -> i64;
        add(a: &f64, b: &f64) -> f64;
        sub(a: &f64, b: &f64) -> f64;
        mul(a: &f64, b: &f64) -> f64;
        div(a: &f64, b: &f64) -> f64;
        fma(a: &f64, b: &f64, c: &f64) -> f64;
        sqrt(a: &f64) -> f64;
        neg(a: &f64) -> f64;
        abs(a: &f64) -> f64;
        copysign(a: &f64, b: &f64) -> f64;
        lt(a: &f64, b: &f64) -> bool;
        le(a: &f64, b: &f64) -> bool;
        eq(a: &f64, b: &f64) -> bool;
        int_lt(a: &i64, b: &i64) -> bool;
        int_eq(a: &i64, b: &i64) -> bool;
        both(a: &bool, b: &bool) -> bool;
        either(a: &bool, b: &bool) -> bool;
        not(a: &bool) -> bool;
        select(c: &bool, a: &f64, b: &f64) -> f64;
        select_int(c: &bool, a: &i64, b: &i64) -> i64;
        to_bits(a: &f64) -> i64;
        from_bits(a: &i64) -> f64;
        int_add(a: &i64, b: &i64) -> i64;
        int_sub(a: &i64, b: &i64) -> i64;
        int_mul(a: &i64, b: &i64) -> i64;
        int_mul_high(a: &i64, b: &i64) -> i64;
        and(a: &i64, b: &i64) -> i64;
        or(a: &i64, b: &i64) -> i64;
        xor(a: &i64, b: &i64) -> i64;
        shl(a: &i64, n: u32) -> i64;
        shr(a: &i64, n: u32) -> i64;
        sar(a: &i64, n: u32) -> i64;
    }
    fn shl_by(&mut self, a: &i64, n: &i64) -> i64 {
        assert!((0..64).contains(n));
        a << n
    }
    fn shr_by(&mut self, a: &i64, n: &i64) -> i64 {
        assert!((0..64).contains(n));
        ((*a as u64) >> n) as i64
    }
    fn lookup(&mut self, table: &'static [u64], index: &i64) -> i64 {
        table[*index as usize] as i64
    }
}

macro_rules! every_way {
    ($x:ident $y:ident: $($name:ident($($arg:ident)*))*) => {$({
        let expected = double::$name($($arg),*);
        let calls = rev_core::math::$name(&mut Native::<f64>::new(), $(&$arg),*);
        let straight = rev_core::math::$name(&mut Straight(Native::new()), $(&$arg),*);
        for found in [calls, straight] {
            assert!(
                found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                "{}({:e}, {:e}): {found:e} for {expected:e}", stringify!($name), $x, $y
            );
        }
    })*};
}

macro_rules! every_row {
    ($x:ident $y:ident: $(($variant:ident $name:ident $args:tt $doc:literal $class:ident $shapes:tt $($row:tt)*))*) => {
        $(every_row!(@ $x $y $name $shapes);)*
    };
    (@ $x:ident $y:ident $name:ident (T)) => { every_way!($x $y: $name($x)) };
    (@ $x:ident $y:ident $name:ident (T T)) => { every_way!($x $y: $name($x $y)) };
}

#[test]
fn every_way_to_run_a_function_gives_the_same_bits() {
    let mut random = Random(2);
    for i in 0..3000 {
        let mut draw = || match i % 3 {
            0 => f64::from_bits(random.bits()),
            1 => f64::from_bits(random.bits() >> 2 | 0x3000 << 48) * 4.0,
            _ => (random.bits() >> 11) as f64 / 2f64.powi(49) - 8.0,
        };
        let (x, y) = (draw(), draw());
        every_way! { x y:
            ln_gamma(x)
        }
        elementary_table!(every_row, x y:);
        let (s, c) = double::sin_cos(x);
        assert!(x.is_infinite() || x.is_nan() || (s, c) == (double::sin(x), double::cos(x)), "{x}");
        for k in 0..5 {
            let mut straight = Straight(Native::new());
            let (found, expected) =
                (rev_core::math::polygamma(&mut straight, k, &x), double::polygamma(k, x));
            assert!(
                found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                "polygamma({k}, {x:e}): {found:e} for {expected:e}"
            );
        }
        let n = (random.bits() % 151) as i32 - 75;
        let power = rev_core::math::powi(&mut Straight(Native::new()), &x, &i64::from(n));
        assert!(power == double::powi(x, n) || power.is_nan(), "{x}^{n}");
    }
}
