//! `f64` and `f32` in registers. The functions are those of [`crate::math`], which the scalars use too.

use super::{chunks, is_small};
use crate::lanes::{
    broadcast, Each, Elementary, Isa, LaneMask, Laned, Layout, LinearRows, Numbers, Pack, Registers, Rows,
    Special, Vector,
};
use crate::math::machine::Machine;

/// `f64` or `f32` in registers.
#[derive(Debug)]
pub struct Floats;

/// Functions of packs, as expressions in the registers of each chunk.
macro_rules! in_registers {
    ($t:ident $machine:ident $registers:ident $m:ident; $($name:ident($first:ident $($arg:ident)*) => $value:expr;)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name<S: Isa>(s: S, $first: Pack<$t>, $($arg: Pack<$t>),*) -> Pack<$t> {
            if const { is_small::<S, S::$registers>(&[stringify!($first) $(, stringify!($arg))*]) } {
                s.near(|| in_registers!(@body s $machine $registers $m ($first $($arg)*) $value))
            } else {
                in_registers!(@body s $machine $registers $m ($first $($arg)*) $value)
            }
        }
    )*};
    (@body $s:ident $machine:ident $registers:ident $m:ident ($first:ident $($arg:ident)*) $value:expr) => {{
        let $m = &mut $s.$machine();
        let mut result = $first;
        chunks!(S $registers, chunk => {
            let $first = $m.at(&$first.0, chunk);
            $(let $arg = $m.at(&$arg.0, chunk);)*
            let value = $value;
            *$m.at_mut(&mut result.0, chunk) = value;
        });
        result
    }};
}

/// The functions that are compiled for themselves.
macro_rules! elementary {
    ($t:ident $machine:ident $(($variant:ident $name:ident($($arg:ident)*) $doc:literal $($row:tt)*))*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name<S: Isa>(s: S, $($arg: Pack<$t>),*) -> Pack<$t> {
            Pack(s.$machine().$name(S::LANES, $(&$arg.0),*))
        }
    )*};
}

/// Comparisons of packs.
macro_rules! comparisons {
    ($t:ident $machine:ident $registers:ident $m:ident; $($name:ident($a:ident $b:ident) => $value:expr;)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name<S: Isa>(s: S, $a: Pack<$t>, $b: Pack<$t>) -> Pack<bool> {
            let $m = &mut s.$machine();
            let mut bits = 0;
            chunks!(S $registers, chunk => {
                let $a = $m.at(&$a.0, chunk);
                let $b = $m.at(&$b.0, chunk);
                let value = $value;
                bits |= $m.bits(&value, chunk);
            });
            Pack(bits)
        }
    )*};
}

macro_rules! floats {
    ($t:ident $machine:ident $registers:ident) => {
        impl Laned for $t {
            type Lanes = Vector<$t>;
            type Rows = Floats;
            // SAFETY: one word, any bits of which are a value, and its vector all lanes' words.
            const LAYOUT: Layout = unsafe { Layout::words(std::mem::size_of::<$t>()) };

            #[cfg_attr(optimized, inline(always))]
            fn cloned(pack: &Pack<$t>) -> Pack<$t> {
                *pack
            }
            #[cfg_attr(optimized, inline(always))]
            fn broadcast<S: Isa>(s: S, v: $t) -> Pack<$t> {
                Pack(s.$machine().broadcast(v))
            }
            #[cfg_attr(optimized, inline(always))]
            fn lane(pack: &Pack<$t>, k: usize) -> $t {
                pack.0 .0[k]
            }
            #[cfg_attr(optimized, inline(always))]
            fn set_lane(pack: &mut Pack<$t>, k: usize, v: $t) {
                pack.0 .0[k] = v;
            }
            #[cfg_attr(optimized, inline(always))]
            fn astray<S: Isa>(s: S, pack: &Pack<$t>, finite: bool) -> LaneMask {
                // an infinity less itself is NaN, which isn't equal to itself
                let v = if finite { Floats::sub(s, *pack, *pack) } else { *pack };
                let found: Pack<bool> = Floats::ne(s, v, v);
                found.0
            }
            #[cfg_attr(optimized, inline(always))]
            fn may_be_astray<S: Isa>(s: S, packs: &[Pack<$t>]) -> LaneMask {
                // nothing but NaN and infinities times zero is other than zero
                let zero = broadcast(s, 0.0);
                let mut sum = zero;
                for v in packs {
                    sum = Floats::mul_add(s, *v, zero, sum);
                }
                let found: Pack<bool> = Floats::ne(s, sum, sum);
                found.0
            }
            #[cfg_attr(optimized, inline(always))]
            fn select<S: Isa>(s: S, mask: LaneMask, a: Pack<$t>, b: Pack<$t>) -> Pack<$t> {
                let m = &mut s.$machine();
                let mut result = b;
                chunks!(S $registers, chunk => {
                    let (a, b) = (m.at(&a.0, chunk), m.at(&b.0, chunk));
                    let here = m.mask(mask, chunk);
                    let value = m.select(&here, a, b);
                    *m.at_mut(&mut result.0, chunk) = value;
                });
                result
            }
        }

        impl Rows<$t> for Floats {
            in_registers! { $t $machine $registers m;
                add(a b) => m.add(a, b);
                sub(a b) => m.sub(a, b);
                mul(a b) => m.mul(a, b);
                neg(a) => m.neg(a);
                mul_add(a b c) => m.fma(a, b, c);
                unit(x) => {
                    let zero = m.float(0.0);
                    let one = m.float(1.0);
                    let is_zero = m.eq(x, &zero);
                    let is_number = m.eq(x, x);
                    let sign = m.copysign(&one, x);
                    let sign = m.select(&is_number, &sign, x);
                    m.select(&is_zero, &zero, &sign)
                };
                abs(x) => m.abs(x);
                min(a b) => {
                    let first = m.le(a, b);
                    m.select(&first, a, b)
                };
                max(a b) => {
                    let first = m.le(b, a);
                    m.select(&first, a, b)
                };
                div(a b) => m.div(a, b);
                sqrt(x) => m.sqrt(x);
                recip(x) => {
                    let one = m.float(1.0);
                    m.div(&one, x)
                };
                floor(x) => m.floor(x);
                ceil(x) => m.ceil(x);
                trunc(x) => m.trunc(x);
                round(x) => {
                    // the integer part, and one more where a half or more is left
                    let whole = m.trunc(x);
                    let left = m.sub(x, &whole);
                    let left = m.abs(&left);
                    let half = m.float(0.5);
                    let up = m.le(&half, &left);
                    let one = m.float(1.0);
                    let step = m.copysign(&one, x);
                    let next = m.add(&whole, &step);
                    let nearest = m.select(&up, &next, &whole);
                    m.copysign(&nearest, x)
                };
                copysign(a b) => m.copysign(a, b);
            }
            rev_compiler::elementary_table!(elementary, $t $machine);
            #[cfg_attr(optimized, inline(always))]
            fn sin_cos<S: Isa>(s: S, x: Pack<$t>) -> (Pack<$t>, Pack<$t>) {
                let (sine, cosine) = s.$machine().sin_cos(S::LANES, &x.0);
                (Pack(sine), Pack(cosine))
            }
            comparisons! { $t $machine $registers m;
                eq(a b) => m.eq(a, b);
                ne(a b) => {
                    let equal = m.eq(a, b);
                    m.not(&equal)
                };
                lt(a b) => m.lt(a, b);
                le(a b) => m.le(a, b);
                gt(a b) => m.lt(b, a);
                ge(a b) => m.le(b, a);
            }
            #[cfg_attr(optimized, inline(always))]
            fn conj<S: Isa>(_: S, z: Pack<$t>) -> Pack<$t> {
                z
            }
            #[cfg_attr(optimized, inline(always))]
            fn arg_gradient<S: Isa>(s: S, _: Pack<$t>) -> Pack<$t> {
                broadcast(s, 0.0)
            }
            float_rows!($t);
        }

        impl LinearRows<$t> for Floats {
            in_registers! { $t $machine $registers m;
                plus(a b) => m.add(a, b);
                minus(a b) => m.sub(a, b);
                negated(a) => m.neg(a);
                scale(a c) => m.mul(a, c);
                plus_product(to v c) => m.fma(v, c, to);
                minus_product(from v c) => {
                    let v = m.neg(v);
                    m.fma(&v, c, from)
                };
                absorb(a c) => {
                    let zero = m.float(0.0);
                    let nothing = m.eq(a, &zero);
                    let product = m.mul(a, c);
                    m.select(&nothing, a, &product)
                };
            }
            #[cfg_attr(optimized, inline(always))]
            fn sum<S: Isa>(s: S, a: Pack<$t>) -> $t {
                s.near(|| s.$machine().sum(S::LANES, &a.0))
            }
            #[cfg_attr(optimized, inline(always))]
            fn sum_product<S: Isa>(s: S, v: Pack<$t>, c: Pack<$t>) -> $t {
                s.$machine().sum_product(S::LANES, &v.0, &c.0)
            }
            #[cfg_attr(optimized, inline(always))]
            fn scale_constant<S: Isa>(s: S, a: Pack<$t>, c: f64) -> Pack<$t> {
                Self::scale(s, a, broadcast(s, c as $t))
            }
            #[cfg_attr(optimized, inline(always))]
            fn scale_exact<S: Isa>(s: S, mask: LaneMask, a: Pack<$t>, c: Pack<$t>) -> Option<Pack<$t>> {
                if crate::lanes::eq(s, c, broadcast(s, 0.0)).0 & mask != 0 {
                    return None;
                }
                Some(crate::lanes::mul(s, a, c))
            }
            #[cfg_attr(optimized, inline(always))]
            fn unscale_exact<S: Isa>(s: S, mask: LaneMask, a: Pack<$t>, c: Pack<$t>) -> Option<Pack<$t>> {
                if crate::lanes::eq(s, c, broadcast(s, 0.0)).0 & mask != 0 {
                    return None;
                }
                Some(crate::lanes::div(s, a, c))
            }
            #[cfg_attr(optimized, inline(always))]
            fn scale_int<S: Isa>(s: S, _: LaneMask, a: Pack<$t>, n: impl Each<i64>) -> Option<Pack<$t>> {
                Some(crate::lanes::mul(s, a, crate::lanes::number::from_longs::<S, $t>(s, n)))
            }
            #[cfg_attr(optimized, inline(always))]
            fn unscale_int<S: Isa>(s: S, mask: LaneMask, a: Pack<$t>, n: impl Each<i64>) -> Option<Pack<$t>> {
                Self::unscale_exact(s, mask, a, crate::lanes::number::from_longs::<S, $t>(s, n))
            }
            #[cfg_attr(optimized, inline(always))]
            fn shadow_conj<S: Isa>(_: S, a: Pack<$t>) -> Pack<$t> {
                a
            }
            #[cfg_attr(optimized, inline(always))]
            fn shadow_re<S: Isa>(_: S, a: Pack<$t>) -> Pack<$t> {
                a
            }
            #[cfg_attr(optimized, inline(always))]
            fn shadow_im<S: Isa>(s: S, _: Pack<$t>) -> Pack<$t> {
                broadcast(s, 0.0)
            }
            #[cfg_attr(optimized, inline(always))]
            fn shadow_from_re<S: Isa>(_: S, re: Pack<$t>) -> Pack<$t> {
                re
            }
            #[cfg_attr(optimized, inline(always))]
            fn shadow_from_im<S: Isa>(s: S, _: Pack<$t>) -> Pack<$t> {
                broadcast(s, 0.0)
            }
            #[cfg_attr(optimized, inline(always))]
            fn cotangents<S: Isa>(s: S, a: &Pack<$t>, _: usize) -> Option<Numbers> {
                Self::numbers(s, a)
            }
            #[cfg_attr(optimized, inline(always))]
            fn set_cotangents<S: Isa>(s: S, a: &mut Pack<$t>, _: usize, n: Numbers) {
                *a = Self::from_numbers(s, n);
            }
        }
    };
}

/// The rows in which the widths differ.
macro_rules! float_rows {
    (f64) => {
        #[cfg_attr(optimized, inline(always))]
        fn numbers<S: Isa>(_: S, a: &Pack<f64>) -> Option<Numbers> {
            Some(Numbers::Float(a.0))
        }
        #[cfg_attr(optimized, inline(always))]
        fn from_numbers<S: Isa>(s: S, n: Numbers) -> Pack<f64> {
            match n {
                Numbers::Int(v) => Pack(s.long_to_double(&v)),
                Numbers::Uint(v) => Pack(s.unsigned_to_double(&v)),
                Numbers::Float(v) => Pack(v),
            }
        }
        #[cfg_attr(optimized, inline(always))]
        fn powi<S: Isa>(s: S, x: Pack<f64>, n: impl Each<i32>) -> Pack<f64> {
            let Some(n) = n.uniform() else {
                return Pack(s.double().powi(S::LANES, &x.0, &s.int_to_long(&n.pack(s).0)));
            };
            match small_power(s, x, n) {
                Some(power) => power,
                None => Pack(s.double().powi(S::LANES, &x.0, &broadcast(s, i64::from(n)).0)),
            }
        }
        #[cfg_attr(optimized, inline(always))]
        fn polygamma<S: Isa>(s: S, order: impl Each<i32>, x: Pack<f64>) -> Pack<f64> {
            let Some(order) = order.uniform() else {
                return crate::lanes::pack::collect(s, |k| {
                    crate::scalar::rt::polygamma(order.at(k), x.0 .0[k])
                });
            };
            Pack(s.double().polygamma(S::LANES, order, &x.0))
        }
        #[cfg_attr(optimized, inline(always))]
        fn ln_gamma<S: Isa>(s: S, x: Pack<f64>) -> Pack<f64> {
            Pack(s.double().ln_gamma(S::LANES, &x.0))
        }
    };
    (f32) => {
        #[cfg_attr(optimized, inline(always))]
        fn numbers<S: Isa>(s: S, a: &Pack<f32>) -> Option<Numbers> {
            Some(Numbers::Float(s.single_to_double(&a.0)))
        }
        #[cfg_attr(optimized, inline(always))]
        fn from_numbers<S: Isa>(s: S, n: Numbers) -> Pack<f32> {
            match n {
                Numbers::Int(v) => Pack(s.long_to_single(&v)),
                Numbers::Uint(v) => Pack(s.unsigned_to_single(&v)),
                Numbers::Float(v) => Pack(s.double_to_single(&v)),
            }
        }
        // what isn't a product or two is computed in f64
        #[cfg_attr(optimized, inline(always))]
        fn powi<S: Isa>(s: S, x: Pack<f32>, n: impl Each<i32>) -> Pack<f32> {
            let Some(n) = n.uniform() else {
                return crate::lanes::pack::collect(s, |k| crate::scalar::rt::powi(x.0 .0[k], n.at(k)));
            };
            match small_power(s, x, n) {
                Some(power) => power,
                None => crate::lanes::pack::collect(s, |k| crate::scalar::rt::powi(x.0 .0[k], n)),
            }
        }
        #[cfg_attr(optimized, inline(always))]
        fn polygamma<S: Isa>(s: S, order: impl Each<i32>, x: Pack<f32>) -> Pack<f32> {
            narrow(s, Floats::polygamma(s, order, widen(s, x)))
        }
        #[cfg_attr(optimized, inline(always))]
        fn ln_gamma<S: Isa>(s: S, x: Pack<f32>) -> Pack<f32> {
            narrow(s, Floats::ln_gamma(s, widen(s, x)))
        }
    };
}
floats!(f64 double Double);
floats!(f32 single Single);

#[cfg_attr(optimized, inline(always))]
fn widen<S: Isa>(s: S, x: Pack<f32>) -> Pack<f64> {
    Pack(s.single_to_double(&x.0))
}

#[cfg_attr(optimized, inline(always))]
fn narrow<S: Isa>(s: S, x: Pack<f64>) -> Pack<f32> {
    Pack(s.double_to_single(&x.0))
}

/// `xⁿ` by multiplication, for the exponents of [`math::small_power`].
#[cfg_attr(optimized, inline(always))]
fn small_power<S: Isa, T: crate::scalar::Real>(s: S, x: Pack<T>, n: i32) -> Option<Pack<T>> {
    use crate::lanes::{mul, recip};
    match n {
        0 => Some(broadcast(s, T::one())),
        1 => Some(x),
        2 => Some(mul(s, x, x)),
        3 => Some(mul(s, mul(s, x, x), x)),
        -1 => Some(recip(s, x)),
        -2 => {
            let inverse = recip(s, x);
            Some(mul(s, inverse, inverse))
        }
        _ => None,
    }
}
