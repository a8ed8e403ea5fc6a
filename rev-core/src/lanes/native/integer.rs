//! 32- and 64-bit integers in registers.

use super::{chunks, divide, is_small, view};
use crate::lanes::{
    broadcast, Each, Isa, LaneMask, Laned, Layout, LinearRows, Numbers, Pack, Registers, Rows, Vector,
};
use crate::math::machine::Machine;

/// Integers in registers.
#[derive(Debug)]
pub struct Integers;

/// Functions of packs, as expressions in the registers of each chunk.
macro_rules! in_registers {
    ($t:ident $lane:ident $machine:ident $registers:ident $m:ident; $($name:ident($first:ident $($arg:ident)*) => $value:expr;)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name<S: Isa>(s: S, $first: Pack<$t>, $($arg: Pack<$t>),*) -> Pack<$t> {
            if const { is_small::<S, S::$registers>(&[stringify!($first) $(, stringify!($arg))*]) } {
                s.near(|| in_registers!(@body $t $lane s $machine $registers $m ($first $($arg)*) $value))
            } else {
                in_registers!(@body $t $lane s $machine $registers $m ($first $($arg)*) $value)
            }
        }
    )*};
    (@body $t:ident $lane:ident $s:ident $machine:ident $registers:ident $m:ident ($first:ident $($arg:ident)*) $value:expr) => {{
        let $m = &mut $s.$machine();
        let mut result = *view::<$t, $lane>(&$first.0);
        chunks!(S $registers, chunk => {
            let $first = $m.int_at(view(&$first.0), chunk);
            $(let $arg = $m.int_at(view(&$arg.0), chunk);)*
            let value = $value;
            *$m.int_at_mut(&mut result, chunk) = value;
        });
        Pack(*view(&result))
    }};
}

/// Comparisons of packs.
macro_rules! comparisons {
    ($t:ident $machine:ident $registers:ident $m:ident; $($name:ident($a:ident $b:ident) => $value:expr;)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name<S: Isa>(s: S, $a: Pack<$t>, $b: Pack<$t>) -> Pack<bool> {
            let $m = &mut s.$machine();
            let mut bits = 0;
            chunks!(S $registers, chunk => {
                let $a = $m.int_at(view(&$a.0), chunk);
                let $b = $m.int_at(view(&$b.0), chunk);
                let value = $value;
                bits |= $m.bits(&value, chunk);
            });
            Pack(bits)
        }
    )*};
}

/// `a < b`, as unsigned integers or as signed ones.
#[cfg_attr(optimized, inline(always))]
fn less<A: Machine>(m: &mut A, signed: bool, a: &A::I, b: &A::I) -> A::M {
    if signed {
        return m.int_lt(a, b);
    }
    let one = m.int(1);
    let top = m.shl(&one, A::NUMBERS.width - 1);
    let (a, b) = (m.xor(a, &top), m.xor(b, &top));
    m.int_lt(&a, &b)
}

/// `a >> n` with the sign moving in, for a variable `n` from 0 to the width less one: the bits of a
/// negative number turned, shifted as if positive, and turned back.
#[cfg_attr(optimized, inline(always))]
fn shift_signed<A: Machine>(m: &mut A, a: &A::I, n: &A::I) -> A::I {
    let sign = m.sar(a, A::NUMBERS.width - 1);
    let a = m.xor(a, &sign);
    let a = m.shr_by(&a, n);
    m.xor(&a, &sign)
}

/// `0 ≤ n <` the width, and `n` where that holds, else 0.
#[cfg_attr(optimized, inline(always))]
fn in_range<A: Machine>(m: &mut A, n: &A::I) -> (A::M, A::I) {
    let width = m.int(i64::from(A::NUMBERS.width));
    let inside = less(m, false, n, &width);
    let zero = m.int(0);
    let n = m.select_int(&inside, n, &zero);
    (inside, n)
}

macro_rules! integers {
    ($($(#[$attribute:meta])* $t:ident $lane:ident $machine:ident $registers:ident $signed:tt $width:tt;)*) => {$(
        $(#[$attribute])*
        impl Laned for $t {
            type Lanes = Vector<$t>;
            type Rows = Integers;
            // SAFETY: one word, any bits of which are a value, and its vector all lanes' words.
            const LAYOUT: Layout = unsafe { Layout::words(std::mem::size_of::<$t>()) };

            #[cfg_attr(optimized, inline(always))]
            fn cloned(pack: &Pack<$t>) -> Pack<$t> {
                *pack
            }
            #[cfg_attr(optimized, inline(always))]
            fn broadcast<S: Isa>(s: S, v: $t) -> Pack<$t> {
                Pack(*view(&s.$machine().broadcast_int(v as $lane)))
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
            fn select<S: Isa>(s: S, mask: LaneMask, a: Pack<$t>, b: Pack<$t>) -> Pack<$t> {
                let m = &mut s.$machine();
                let mut result = *view::<$t, $lane>(&b.0);
                chunks!(S $registers, chunk => {
                    let (a, b) = (m.int_at(view(&a.0), chunk), m.int_at(view(&b.0), chunk));
                    let here = m.mask(mask, chunk);
                    let value = m.select_int(&here, a, b);
                    *m.int_at_mut(&mut result, chunk) = value;
                });
                Pack(*view(&result))
            }
        }

        $(#[$attribute])*
        impl Rows<$t> for Integers {
            in_registers! { $t $lane $machine $registers m;
                add(a b) => m.int_add(a, b);
                sub(a b) => m.int_sub(a, b);
                mul(a b) => m.int_mul(a, b);
                neg(a) => {
                    let zero = m.int(0);
                    m.int_sub(&zero, a)
                };
                mul_add(a b c) => {
                    let product = m.int_mul(a, b);
                    m.int_add(&product, c)
                };
                bit_and(a b) => m.and(a, b);
                bit_or(a b) => m.or(a, b);
                bit_xor(a b) => m.xor(a, b);
                min(a b) => {
                    let second = less(m, $signed, b, a);
                    m.select_int(&second, b, a)
                };
                max(a b) => {
                    let second = less(m, $signed, a, b);
                    m.select_int(&second, b, a)
                };
                abs(x) => {
                    let zero = m.int(0);
                    let minus = m.int_sub(&zero, x);
                    let negative = m.int_lt(x, &zero);
                    if $signed { m.select_int(&negative, &minus, x) } else { x.clone() }
                };
                unit(x) => {
                    let (zero, one, minus) = (m.int(0), m.int(1), m.int(-1));
                    let none = m.int_eq(x, &zero);
                    let negative = m.int_lt(x, &zero);
                    let sign = if $signed { m.select_int(&negative, &minus, &one) } else { one };
                    m.select_int(&none, &zero, &sign)
                };
            }
            comparisons! { $t $machine $registers m;
                eq(a b) => m.int_eq(a, b);
                ne(a b) => {
                    let equal = m.int_eq(a, b);
                    m.not(&equal)
                };
                lt(a b) => less(m, $signed, a, b);
                gt(a b) => less(m, $signed, b, a);
                le(a b) => {
                    let greater = less(m, $signed, b, a);
                    m.not(&greater)
                };
                ge(a b) => {
                    let smaller = less(m, $signed, a, b);
                    m.not(&smaller)
                };
            }
            #[cfg_attr(optimized, inline(always))]
            fn quot<S: Isa>(s: S, a: Pack<$t>, b: Pack<$t>) -> Pack<$t> {
                divide::quot(s, a, b)
            }
            #[cfg_attr(optimized, inline(always))]
            fn rem<S: Isa>(s: S, a: Pack<$t>, b: Pack<$t>) -> Pack<$t> {
                divide::rem(s, a, b)
            }
            #[cfg_attr(optimized, inline(always))]
            fn conj<S: Isa>(_: S, a: Pack<$t>) -> Pack<$t> {
                a
            }
            #[cfg_attr(optimized, inline(always))]
            fn shl<S: Isa>(s: S, a: Pack<$t>, n: impl Each<i32>) -> Pack<$t> {
                s.near(|| {
                    let m = &mut s.$machine();
                    let counts = integers!(@counts $width s n);
                    let mut result = *view::<$t, $lane>(&a.0);
                    chunks!(S $registers, chunk => {
                        let (a, n) = (m.int_at(view(&a.0), chunk), m.int_at(&counts, chunk));
                        let (inside, n) = in_range(m, n);
                        let shifted = m.shl_by(a, &n);
                        let zero = m.int(0);
                        let value = m.select_int(&inside, &shifted, &zero);
                        *m.int_at_mut(&mut result, chunk) = value;
                    });
                    Pack(*view(&result))
                })
            }
            #[cfg_attr(optimized, inline(always))]
            fn shr<S: Isa>(s: S, a: Pack<$t>, n: impl Each<i32>) -> Pack<$t> {
                s.near(|| {
                    let m = &mut s.$machine();
                    let counts = integers!(@counts $width s n);
                    let mut result = *view::<$t, $lane>(&a.0);
                    chunks!(S $registers, chunk => {
                        let (a, n) = (m.int_at(view(&a.0), chunk), m.int_at(&counts, chunk));
                        let (inside, n) = in_range(m, n);
                        let shifted = if $signed { shift_signed(m, a, &n) } else { m.shr_by(a, &n) };
                        let out = if $signed { m.sar(a, $lane::BITS - 1) } else { m.int(0) };
                        let value = m.select_int(&inside, &shifted, &out);
                        *m.int_at_mut(&mut result, chunk) = value;
                    });
                    Pack(*view(&result))
                })
            }
            integers!(@numbers $t $signed $width);
        }

        $(#[$attribute])*
        impl LinearRows<$t> for Integers {
            in_registers! { $t $lane $machine $registers m;
                plus(a b) => m.int_add(a, b);
                minus(a b) => m.int_sub(a, b);
                negated(a) => {
                    let zero = m.int(0);
                    m.int_sub(&zero, a)
                };
                scale(a c) => m.int_mul(a, c);
                absorb(a c) => m.int_mul(a, c);
            }
            #[cfg_attr(optimized, inline(always))]
            fn shadow_conj<S: Isa>(_: S, a: Pack<$t>) -> Pack<$t> {
                a
            }
        }
    )*};
    // shift counts as integers of the lane's width
    (@counts 32 $s:ident $n:ident) => { $n.pack($s).0 };
    (@counts 64 $s:ident $n:ident) => { $s.int_to_long(&$n.pack($s).0) };
    (@numbers $t:ident true 64) => {
        #[cfg_attr(optimized, inline(always))]
        fn numbers<S: Isa>(_: S, a: &Pack<$t>) -> Option<Numbers> {
            Some(Numbers::Int(*view(&a.0)))
        }
        #[cfg_attr(optimized, inline(always))]
        fn from_numbers<S: Isa>(s: S, n: Numbers) -> Pack<$t> {
            match n {
                Numbers::Int(v) => Pack(*view(&v)),
                Numbers::Uint(v) => Pack(*view(&v)),
                Numbers::Float(v) => Pack(*view(&s.double_to_long(&v))),
            }
        }
    };
    (@numbers $t:ident false 64) => {
        #[cfg_attr(optimized, inline(always))]
        fn numbers<S: Isa>(_: S, a: &Pack<$t>) -> Option<Numbers> {
            Some(Numbers::Uint(*view(&a.0)))
        }
        #[cfg_attr(optimized, inline(always))]
        fn from_numbers<S: Isa>(s: S, n: Numbers) -> Pack<$t> {
            match n {
                Numbers::Int(v) => Pack(*view(&v)),
                Numbers::Uint(v) => Pack(*view(&v)),
                Numbers::Float(v) => Pack(*view(&s.double_to_unsigned(&v))),
            }
        }
    };
    (@numbers $t:ident $signed:tt 32) => {
        #[cfg_attr(optimized, inline(always))]
        fn numbers<S: Isa>(s: S, a: &Pack<$t>) -> Option<Numbers> {
            Some(integers!(@widened $signed s a))
        }
        #[cfg_attr(optimized, inline(always))]
        fn from_numbers<S: Isa>(s: S, n: Numbers) -> Pack<$t> {
            let longs = match n {
                Numbers::Int(v) => v,
                Numbers::Uint(v) => *view(&v),
                Numbers::Float(v) => s.double_to_long(&clamp(s, v, $t::MIN.into(), $t::MAX.into())),
            };
            Pack(*view(&s.long_to_int(&longs)))
        }
    };
    (@widened true $s:ident $a:ident) => { Numbers::Int($s.int_to_long(&$a.0)) };
    (@widened false $s:ident $a:ident) => { Numbers::Uint($s.unsigned_to_long(&$a.0)) };
}
integers! {
    i32 i32 single Single true 32;
    u32 i32 single Single false 32;
    i64 i64 double Double true 64;
    u64 i64 double Double false 64;
    #[cfg(target_pointer_width = "64")] isize i64 double Double true 64;
    #[cfg(target_pointer_width = "64")] usize i64 double Double false 64;
}

/// The nearest numbers between the bounds; NaN stays.
#[cfg_attr(optimized, inline(always))]
fn clamp<S: Isa>(s: S, v: Vector<f64>, low: f64, high: f64) -> Vector<f64> {
    // the bound where it isn't exceeded beyond doubt, so that NaN is kept
    let v = crate::lanes::min(s, broadcast(s, high), crate::lanes::max(s, broadcast(s, low), Pack(v)));
    v.0
}
