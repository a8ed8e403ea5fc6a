//! Every row on every instruction set of this processor: the same bits as the scalar function, in each
//! lane, on special and on random values. A NaN is any NaN.

use crate::lanes::{self, get, Isa, LaneMask, Laned, Pack, Portable, NARROW, WIDTH};
use crate::scalar::rt::instr::InstrError;
use crate::scalar::{rt, Batch, Complex, ComplexShadow, Linear};
use std::fmt::Debug;

/// Xorshift (Marsaglia 2003).
pub(in crate::lanes) struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// In `[-1, 1]`.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Values to test with, and when two are the same.
pub(in crate::lanes) trait Sample: Laned + Debug {
    fn sample(r: &mut Random) -> Self;
    fn same(&self, other: &Self) -> bool;
}

macro_rules! float_samples {
    ($($t:ident $bits:ident;)*) => {$(
        impl Sample for $t {
            fn sample(r: &mut Random) -> $t {
                const SPECIAL: [$t; 22] = [
                    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.5, $t::MIN_POSITIVE, -$t::MIN_POSITIVE / 8.0,
                    $t::MIN_POSITIVE / 1024.0, $t::MAX, $t::MIN, $t::INFINITY, $t::NEG_INFINITY, $t::NAN,
                    1e15, 1e22, std::$t::consts::FRAC_PI_2, -88.0, 710.0, 3.0,
                ];
                match r.next() % 4 {
                    0 => SPECIAL[(r.next() % 22) as usize],
                    1 => $t::from_bits(r.next() as $bits),
                    2 => r.unit() as $t,
                    _ => (100.0 * r.unit()) as $t,
                }
            }
            fn same(&self, other: &$t) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        }
    )*};
}
float_samples! { f64 u64; f32 u32; }

macro_rules! integer_samples {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            fn sample(r: &mut Random) -> $t {
                const SPECIAL: [$t; 8] = [0, 1, 2, $t::MIN, $t::MAX, $t::MAX / 2, 100, 3];
                match r.next() % 3 {
                    0 => SPECIAL[(r.next() % 8) as usize],
                    1 => (r.next() % 20) as $t,
                    _ => r.next() as $t,
                }
            }
            fn same(&self, other: &$t) -> bool {
                self == other
            }
        }
    )*};
}
integer_samples!(i8 i32 i64 u32 u64 usize);

impl Sample for bool {
    fn sample(r: &mut Random) -> bool {
        r.next().is_multiple_of(2)
    }
    fn same(&self, other: &bool) -> bool {
        self == other
    }
}

impl Sample for Complex<f64> {
    fn sample(r: &mut Random) -> Self {
        Complex { re: f64::sample(r), im: f64::sample(r) }
    }
    fn same(&self, other: &Self) -> bool {
        self.re.same(&other.re) && self.im.same(&other.im)
    }
}

pub(in crate::lanes) fn draw<T: Sample>(r: &mut Random) -> [T; WIDTH] {
    std::array::from_fn(|_| T::sample(r))
}

pub(in crate::lanes) fn pack<T: Laned>(lanes: &[T; WIDTH]) -> Pack<T> {
    lanes::pack::collect(Portable::<WIDTH>, |k| lanes[k].clone())
}

/// A test of something generic over the instruction set, with all lanes and with half of them.
macro_rules! on_each_isa {
    (@ $run:ident $lanes:ident) => {
        $run(Portable::<$lanes>);
        #[cfg(target_arch = "x86_64")]
        if let Some(s) = lanes::Avx2::<$lanes>::detect() {
            $run(s);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(s) = lanes::Avx512::<$lanes>::detect() {
            $run(s);
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(s) = lanes::Neon::<$lanes>::detect() {
            $run(s);
        }
    };
    ($(fn $name:ident($s:ident) $body:block)*) => {$(
        #[test]
        fn $name() {
            fn run<S: Isa>($s: S) $body
            on_each_isa!(@ run WIDTH);
            on_each_isa!(@ run NARROW);
        }
    )*};
}

/// A row on packs of a type against the scalar function.
macro_rules! compare {
    ($s:ident $t:ty: $name:ident($($arg:ident)*)) => {{
        #[inline(never)]
        fn check<S: Isa>($s: S) {
        let mut r = Random::new();
        for _ in 0..60 {
            $(let $arg: [$t; WIDTH] = draw(&mut r);)*
            let found = lanes::$name($s, $(pack(&$arg)),*);
            for k in 0..S::LANES {
                let expected = rt::$name($($arg[k]),*);
                assert!(
                    get(&found, k).same(&expected),
                    "{} {}{:?} on {}: {:?} instead of {:?}",
                    stringify!($name), stringify!($t), ($($arg[k],)*), S::NAME, get(&found, k), expected,
                );
            }
        }
        }
        check($s)
    }};
}

macro_rules! compare_uniform {
    ($s:ident; $(($name:ident [$($bound:tt)*] ($($arg:ident)*)))*) => {
        $(compare_uniform!(@ $s [$($bound)*] $name($($arg)*));)*
    };
    (@ $s:ident [Ring] $name:ident $args:tt) => {
        compare_uniform!(@each $s [f64 f32 i8 i32 i64 u32 u64] $name $args);
        compare!($s Complex<f64>: $name $args);
    };
    (@ $s:ident [Ring + PartialOrd] $name:ident $args:tt) => {
        compare_uniform!(@each $s [f64 f32 i8 i32 i64 u32 u64] $name $args);
    };
    (@ $s:ident [Scalar + PartialOrd] $name:ident $args:tt) => {
        compare_uniform!(@each $s [f64 f32 i8 i32 i64 u32 u64] $name $args);
    };
    (@ $s:ident [Scalar + BitXor<Output = T>] $name:ident $args:tt) => {
        compare_uniform!(@each $s [bool i8 i32 u64] $name $args);
    };
    (@ $s:ident [Integer] $name:ident $args:tt) => {
        compare_uniform!(@each $s [i8 i32 i64 u32 u64] $name $args);
    };
    (@ $s:ident [Field] $name:ident $args:tt) => {
        compare_uniform!(@each $s [f64 f32] $name $args);
        compare!($s Complex<f64>: $name $args);
    };
    (@ $s:ident [Real] $name:ident $args:tt) => {
        compare_uniform!(@each $s [f64 f32] $name $args);
    };
    (@each $s:ident [$($t:ident)*] $name:ident $args:tt) => {
        $(compare!($s $t: $name $args);)*
    };
}

macro_rules! uniform_tests {
    ($($row:tt)*) => {
        on_each_isa! {
            fn rows_of_one_type(s) {
                compare_uniform!(s; $($row)*);
            }
        }
    };
}
uniform_rows!(uniform_tests);

macro_rules! comparing_tests {
    ($(($name:ident [$($bound:tt)*]))*) => {
        on_each_isa! {
            fn comparisons(s) {
                $(compare_uniform!(@each s [f64 f32 i8 i32 u32 i64 usize bool] $name (a b));)*
                compare!(s Complex<f64>: eq(a b));
                compare!(s Complex<f64>: ne(a b));
            }
        }
    };
}
comparing_rows!(comparing_tests);

macro_rules! real_tests {
    ($(($name:ident $method:ident))*) => {
        on_each_isa! {
            fn parts(s) {
                $(compare_uniform!(@each s [f64 f32] $name (a)); compare!(s Complex<f64>: $name(a));)*
            }
        }
    };
}
real_rows!(real_tests);

on_each_isa! {
    fn logic(s) {
        compare!(s bool: and(a b));
        compare!(s bool: or(a b));
        compare!(s bool: not(a));
    }
    fn selection(s) {
        macro_rules! each {
            ($($t:ty)*) => {$({
                let mut r = Random::new();
                for _ in 0..60 {
                    let (c, a, b): ([bool; WIDTH], [$t; WIDTH], [$t; WIDTH]) = (draw(&mut r), draw(&mut r), draw(&mut r));
                    let found = lanes::select(s, pack(&c), pack(&a), pack(&b));
                    for k in 0..S::LANES {
                        assert!(get(&found, k).same(&rt::select(c[k], a[k], b[k])), "{} on {}", stringify!($t), S::NAME);
                    }
                }
            })*};
        }
        each!(f64 f32 i8 i32 i64 u32 u64 usize bool Complex<f64>);
    }
    fn shifts(s) {
        macro_rules! each {
            ($($t:ty)*) => {$({
                let mut r = Random::new();
                for round in 0..80 {
                    let a: [$t; WIDTH] = draw(&mut r);
                    let n: [i32; WIDTH] = std::array::from_fn(|_| (r.next() % 140) as i32 - 5);
                    let (left, right) = (lanes::shl(s, pack(&a), pack(&n)), lanes::shr(s, pack(&a), pack(&n)));
                    let (l, w) = (lanes::shl(s, pack(&a), round - 5), lanes::shr(s, pack(&a), round - 5));
                    for k in 0..S::LANES {
                        let about = format!("{} {} {} on {}", stringify!($t), a[k], n[k], S::NAME);
                        assert_eq!(get(&left, k), rt::shl(a[k], n[k]), "{about}");
                        assert_eq!(get(&right, k), rt::shr(a[k], n[k]), "{about}");
                        assert_eq!(get(&l, k), rt::shl(a[k], round - 5), "{about}");
                        assert_eq!(get(&w, k), rt::shr(a[k], round - 5), "{about}");
                    }
                }
            })*};
        }
        each!(i8 i32 i64 u32 usize);
    }
    fn powers(s) {
        macro_rules! each {
            ($($t:ty)*) => {$({
                let mut r = Random::new();
                for round in -6..7 {
                    let x: [$t; WIDTH] = draw(&mut r);
                    let n: [i32; WIDTH] = std::array::from_fn(|_| (r.next() % 12) as i32 - 5);
                    let same = lanes::powi(s, pack(&x), round);
                    let each = lanes::powi(s, pack(&x), pack(&n));
                    let derivative = lanes::powi_derivative(s, pack(&x), round, 2);
                    let derivatives = lanes::powi_derivative(s, pack(&x), pack(&n), 1);
                    for k in 0..S::LANES {
                        let about = format!("{} {:?} {} {} on {}", stringify!($t), x[k], round, n[k], S::NAME);
                        assert!(get(&same, k).same(&rt::powi(x[k], round)), "{about}");
                        assert!(get(&each, k).same(&rt::powi(x[k], n[k])), "{about}");
                        assert!(get(&derivative, k).same(&rt::powi_derivative(x[k], round, 2)), "{about}");
                        assert!(get(&derivatives, k).same(&rt::powi_derivative(x[k], n[k], 1)), "{about}");
                    }
                }
            })*};
        }
        each!(f64 f32 Complex<f64>);
    }
    fn sine_and_cosine(s) {
        macro_rules! each {
            ($($t:ty)*) => {$({
                let mut r = Random::new();
                for _ in 0..100 {
                    let x: [$t; WIDTH] = draw(&mut r);
                    let (sines, cosines) = lanes::sin_cos(s, pack(&x));
                    for k in 0..S::LANES {
                        let (found, scalars) = ([get(&sines, k), get(&cosines, k)], rt::sin_cos(x[k]));
                        let expected = [rt::sin(x[k]), rt::cos(x[k])];
                        let all = found.iter().zip(&expected).chain([(&scalars.0, &expected[0]), (&scalars.1, &expected[1])]);
                        all.into_iter().for_each(|(f, e)| {
                            assert!(f.same(e), "{} {:?} on {}: {f:?} instead of {e:?}", stringify!($t), x[k], S::NAME);
                        });
                    }
                }
            })*};
        }
        each!(f64 f32 Complex<f64>);
    }
    fn polygamma(s) {
        macro_rules! each {
            ($($t:ty)*) => {$({
                let mut r = Random::new();
                for order in -1..3 {
                    let x: [$t; WIDTH] = draw(&mut r);
                    let found = lanes::polygamma(s, order, pack(&x));
                    let orders = lanes::polygamma(s, pack(&[order; WIDTH]), pack(&x));
                    for k in 0..S::LANES {
                        let expected = rt::polygamma(order, x[k]);
                        assert!(get(&found, k).same(&expected), "{order} {} on {}", x[k], S::NAME);
                        assert!(get(&orders, k).same(&expected), "{order} {} on {}", x[k], S::NAME);
                    }
                }
            })*};
        }
        each!(f64 f32);
    }
    fn division_by_zero(s) {
        let (a, mut b) = ([7i64; WIDTH], [2i64; WIDTH]);
        b[3] = 0;
        let all_but_3 = Pack(!(1 << 3));
        assert!(matches!(lanes::quotient(s, lanes::All, pack(&a), pack(&b)), Err(3)));
        assert!(matches!(lanes::remainder(s, lanes::All, pack(&a), pack(&b)), Err(3)));
        assert_eq!(lanes::quotient(s, all_but_3, pack(&a), pack(&b)).map(|q| get(&q, 4)), Ok(3));
        assert_eq!(lanes::remainder(s, all_but_3, pack(&a), pack(&b)).map(|q| get(&q, 4)), Ok(1));
    }
    fn quotients(s) {
        // around multiples of the divisor, below and above the limit up to which integers are floats
        macro_rules! each {
            ($($t:ident)*) => {$({
                let mut r = Random::new();
                for limit in [5, 24, 31, 52, 53, 54, 63, 64] {
                    for _ in 0..100 {
                        let mut below = |bits: u32| (r.next() >> (64 - bits).max(64 - $t::BITS)) as $t;
                        let (mut a, mut b): ([$t; WIDTH], [$t; WIDTH]) = ([0; WIDTH], [0; WIDTH]);
                        for k in 0..WIDTH {
                            b[k] = below(1 + (k as u32 * limit) / WIDTH as u32);
                            let multiple = (below(limit) / b[k].max(1)).wrapping_mul(b[k]);
                            a[k] = multiple.wrapping_add(below(2)).wrapping_sub(below(2));
                            if $t::MIN != 0 && below(1) == 1 {
                                a[k] = a[k].wrapping_neg();
                            }
                            if $t::MIN != 0 && below(1) == 1 {
                                b[k] = b[k].wrapping_neg();
                            }
                        }
                        // a quotient that doesn't fit wraps
                        (a[0], b[0]) = ($t::MIN, (0 as $t).wrapping_sub(1));
                        let (q, m) = (lanes::quot(s, pack(&a), pack(&b)), lanes::rem(s, pack(&a), pack(&b)));
                        for k in 0..S::LANES {
                            let expected = (rt::quot(a[k], b[k]), rt::rem(a[k], b[k]));
                            assert_eq!((get(&q, k), get(&m, k)), expected, "{} by {} on {}", a[k], b[k], S::NAME);
                        }
                    }
                }
            })*};
        }
        each!(i32 u32 i64 u64 usize isize);
    }
    fn conversions(s) {
        macro_rules! each {
            ($($a:ident)*) => { $(each!(@ $a [f64 f32 i8 i32 u32 i64 usize bool]);)* };
            (@ $a:ident [$($b:ident)*]) => {$({
                let mut r = Random::new();
                for _ in 0..40 {
                    let x: [$a; WIDTH] = draw(&mut r);
                    let found: Pack<$b> = lanes::cast(s, pack(&x));
                    for k in 0..S::LANES {
                        let expected: $b = rt::cast(x[k]);
                        assert!(
                            get(&found, k).same(&expected),
                            "{:?} as {} on {}: {:?} instead of {:?}",
                            x[k], stringify!($b), S::NAME, get(&found, k), expected,
                        );
                    }
                }
            })*};
        }
        each!(f64 f32 i8 i32 u32 i64 usize bool);
    }
}

impl<const N: usize> Sample for Batch<f64, N> {
    fn sample(r: &mut Random) -> Self {
        Batch(std::array::from_fn(|_| f64::sample(r)))
    }
    fn same(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a.same(b))
    }
}

impl Sample for ComplexShadow<Batch<f64, 2>> {
    fn sample(r: &mut Random) -> Self {
        ComplexShadow { re: Sample::sample(r), im: Sample::sample(r) }
    }
    fn same(&self, other: &Self) -> bool {
        self.re.same(&other.re) && self.im.same(&other.im)
    }
}

impl<P: Sample, const K: usize> Sample for [P; K] {
    fn sample(r: &mut Random) -> Self {
        std::array::from_fn(|_| P::sample(r))
    }
    fn same(&self, other: &Self) -> bool {
        self.iter().zip(other).all(|(a, b)| a.same(b))
    }
}

impl<A: Sample, B: Sample> Sample for (A, B) {
    fn sample(r: &mut Random) -> Self {
        (A::sample(r), B::sample(r))
    }
    fn same(&self, other: &Self) -> bool {
        self.0.same(&other.0) && self.1.same(&other.1)
    }
}

/// Changes a place in the lanes of a random mask, and compares with the scalar change.
#[inline(never)]
fn changes<P: Sample, Q: Sample>(
    lanes_run: usize,
    lanes: impl Fn(Pack<bool>, &mut Pack<P>, Pack<Q>) -> Result<(), (usize, InstrError)>,
    scalar: impl Fn(&mut P, Q) -> Result<(), InstrError>,
) {
    let mut r = Random::new();
    for _ in 0..60 {
        let (mask, a, b): ([bool; WIDTH], [P; WIDTH], [Q; WIDTH]) =
            (draw(&mut r), draw(&mut r), draw(&mut r));
        let mut found = pack(&a);
        let here = Pack(pack(&mask).0 & LaneMask::MAX >> (WIDTH - lanes_run));
        let done = lanes(here, &mut found, pack(&b));
        let mut expected = a.clone();
        let mut expected_done = Ok(());
        for k in (0..lanes_run).filter(|k| mask[*k]) {
            let here = scalar(&mut expected[k], b[k].clone()).map_err(|error| (k, error));
            expected_done = expected_done.and(here);
        }
        assert_eq!(done, expected_done);
        let expected = if done.is_ok() { expected } else { a };
        for (k, expected) in expected.iter().enumerate().take(lanes_run) {
            assert!(get(&found, k).same(expected), "{:?} instead of {expected:?}", get(&found, k));
        }
    }
}

on_each_isa! {
    fn updates(s) {
        macro_rules! each {
            ($($t:ty)*) => {$(
                changes::<$t, $t>(
                    S::LANES,
                    |m, p, e| { lanes::update::add(s, m, p, e); Ok(()) },
                    |p, e| { rt::update::add(p, e); Ok(()) },
                );
                changes::<$t, $t>(
                    S::LANES,
                    |m, p, e| { lanes::update::sub(s, &m, p, e); Ok(()) },
                    |p, e| { rt::update::sub(p, e); Ok(()) },
                );
                changes::<$t, bool>(
                    S::LANES,
                    |m, p, _| { lanes::instr::neg(s, m, p); Ok(()) },
                    |p, _| { rt::instr::neg(p); Ok(()) },
                );
                changes::<($t, $t), bool>(
                    S::LANES,
                    |m, p, _| { lanes::instr::swap(s, m, &mut p.0 .0, &mut p.0 .1); Ok(()) },
                    |p, _| { std::mem::swap(&mut p.0, &mut p.1); Ok(()) },
                );
            )*};
        }
        each!(f64 f32 i64 i8 Complex<f64> Batch<f64, 1> Batch<f64, 3> ComplexShadow<Batch<f64, 2>> [f64; 3] (f64, i32));
        changes::<u64, u64>(
            S::LANES,
            |m, p, e| { lanes::update::xor(s, m, p, e); Ok(()) },
            |p, e| { rt::update::xor(p, e); Ok(()) },
        );
    }
    fn scaling(s) {
        macro_rules! each {
            ($($t:ty, $over:ty;)*) => {$(
                changes::<$t, $over>(
                    S::LANES,
                    |m, p, c| { *p = lanes::select(s, m, lanes::scale(s, p.clone(), c), p.clone()); Ok(()) },
                    |p, c| { *p = rt::scale(p.clone(), c); Ok(()) },
                );
                changes::<$t, $over>(
                    S::LANES,
                    |m, p, c| { *p = lanes::select(s, m, lanes::absorb(s, p.clone(), c), p.clone()); Ok(()) },
                    |p, c| { *p = rt::absorb(p.clone(), c); Ok(()) },
                );
                changes::<$t, $over>(
                    S::LANES,
                    |m, p, c| { lanes::update::add_product(s, m, p, p.clone(), c); Ok(()) },
                    |p, c| { rt::update::add_product(p, p.clone(), c); Ok(()) },
                );
                changes::<$t, $over>(
                    S::LANES,
                    |m, p, c| { lanes::update::sub_product(s, m, p, p.clone(), c); Ok(()) },
                    |p, c| { rt::update::sub_product(p, p.clone(), c); Ok(()) },
                );
                changes::<$t, $over>(
                    S::LANES,
                    |m, p, c| lanes::instr::scale_by(s, m, p, c),
                    |p, c| rt::instr::scale_by(p, c),
                );
                changes::<$t, i64>(
                    S::LANES,
                    |m, p, c| lanes::instr::mul_int(s, m, p, c),
                    |p, c| rt::instr::mul_int(p, c),
                );
                changes::<$t, i64>(
                    S::LANES,
                    |m, p, _| lanes::instr::div_int(s, m, p, 3i64),
                    |p, _| rt::instr::div_int(p, 3),
                );
                changes::<$t, bool>(
                    S::LANES,
                    |m, p, _| { lanes::instr::conj(s, m, p); Ok(()) },
                    |p, _| { rt::instr::conj(p); Ok(()) },
                );
            )*};
        }
        each! {
            f64, f64; f32, f32; i32, i32; Complex<f64>, Complex<f64>; Batch<f64, 2>, f64;
            ComplexShadow<Batch<f64, 2>>, Complex<f64>;
        }
        changes::<(Batch<f64, 1>, Batch<f64, 1>), f64>(
            S::LANES,
            |m, p, angle| { lanes::instr::rot(s, m, &mut p.0 .0, &mut p.0 .1, angle); Ok(()) },
            |p, angle| { rt::instr::rot(&mut p.0, &mut p.1, angle); Ok(()) },
        );
        changes::<(Complex<f64>, Complex<f64>), bool>(
            S::LANES,
            |m, p, _| { lanes::instr::hadamard(s, m, &mut p.0 .0, &mut p.0 .1); Ok(()) },
            |p, _| { rt::instr::hadamard(&mut p.0, &mut p.1); Ok(()) },
        );
    }
    fn sums(s) {
        let ends: LaneMask = 1 | 1 << (S::LANES - 1);
        let mut r = Random::new();
        let lane: [[f64; 2]; WIDTH] = std::array::from_fn(|_| [r.unit(), r.unit()]);
        for m in [S::ALL, ends, 0x0ff0, 0] {
            let mut tree: Vec<[f64; 2]> =
                (0..S::LANES).map(|k| if m >> k & 1 == 1 { lane[k] } else { [0.0; 2] }).collect();
            while tree.len() > 1 {
                let upper = tree.split_off(tree.len() / 2);
                tree.iter_mut().zip(&upper).for_each(|(a, b)| a.accumulate(b));
            }
            let mask: Pack<bool> = Pack(m);
            let found = lanes::sum(s, mask, &pack(&lane));
            assert!(found.same(&tree[0]), "{found:?} instead of {:?} on {}", tree[0], S::NAME);
            let (bits, expected) = ([3u64, 5].repeat(WIDTH / 2), if m == ends { 3 ^ 5 } else { 0 });
            assert_eq!(lanes::parity(s, mask, &lanes::pack::collect(Portable::<WIDTH>, |k| bits[k])), expected);
            let single = lanes::pack::collect(Portable::<WIDTH>, |k| lane[k][0] as f32);
            let doubled = lanes::pack::collect(Portable::<WIDTH>, |k| Batch([lane[k][0]]));
            assert_eq!(lanes::sum(s, mask, &doubled).0[0], tree[0][0]);
            let same = match S::LANES {
                WIDTH => lanes::sum(Portable::<WIDTH>, mask, &single),
                _ => lanes::sum(Portable::<NARROW>, mask, &single),
            };
            assert_eq!(lanes::sum(s, mask, &single), same);
        }
    }
}
