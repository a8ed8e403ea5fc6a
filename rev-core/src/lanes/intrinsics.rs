//! What the vector machines of all architectures have in common: methods by intrinsics, vectors cut into
//! registers, sums over registers.
//!
//! Every machine belongs to a token, which can only be had where the processor has the instructions; that
//! is why the calls of intrinsics are safe.

use super::{Registers, Vector, WIDTH};
use std::mem::MaybeUninit;

/// Operations that are one intrinsic.
macro_rules! by_intrinsic {
    ($($name:ident($($arg:ident: $t:ident),*) -> $result:ident = $intrinsic:expr;)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name(&mut self, $($arg: &Self::$t),*) -> Self::$result {
            // SAFETY: the token says that the processor has the instruction.
            unsafe { ($intrinsic)($(*$arg),*) }
        }
    )*};
}
pub(super) use by_intrinsic;

/// Operations that are a few.
macro_rules! by_intrinsics {
    ($($name:ident($($arg:ident: $t:ident),*) -> $result:ident = $value:expr;)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        #[allow(unused_unsafe)] // masks are integers
        fn $name(&mut self, $($arg: &Self::$t),*) -> Self::$result {
            $(let $arg = *$arg;)*
            // SAFETY: the token says that the processor has the instructions.
            unsafe { $value }
        }
    )*};
}
pub(super) use by_intrinsics;

/// [`Machine::rarely`](crate::math::machine::Machine::rarely) that branches, to code that is kept apart.
macro_rules! branching {
    ($features:literal |$condition:ident| $nowhere:expr) => {
        #[cfg_attr(optimized, inline(always))]
        #[allow(unused_unsafe)] // masks are integers
        fn rarely<const N: usize>(
            &mut self,
            condition: &Self::M,
            fast: [Self::F; N],
            slow: impl FnOnce(&mut Self) -> [Self::F; N],
        ) -> [Self::F; N] {
            #[cold]
            #[inline(never)]
            #[target_feature(enable = $features)]
            fn apart<A: $crate::math::machine::Machine, const N: usize>(
                m: &mut A,
                slow: impl FnOnce(&mut A) -> [A::F; N],
            ) -> [A::F; N] {
                slow(m)
            }
            let $condition = *condition;
            // SAFETY: the token says that the processor has the instructions.
            if unsafe { $nowhere } {
                return fast;
            }
            // SAFETY: likewise.
            let mut result = unsafe { apart(self, slow) };
            for k in 0..N {
                result[k] = self.select(condition, &result[k], &fast[k]);
            }
            result
        }
    };
}
pub(super) use branching;

/// How a vector is cut into registers of so many lanes. A chunk's number is taken modulo the number of registers: to check it is a
/// branch at each access, which the compiler takes longer to remove than all else that it does with one.
macro_rules! cut {
    ($lanes:literal $f:ident $i:ident) => {
        type Float = $f;
        type Int = $i;
        const LANES: usize = $lanes;

        #[cfg_attr(optimized, inline(always))]
        fn at<'v>(&mut self, of: &'v Vector<$f>, chunk: usize) -> &'v Self::F {
            // SAFETY: words in the vector, which is aligned to the largest register, and any bits are a value.
            unsafe { &*of.0.as_ptr().cast::<Self::F>().add(chunk % const { $crate::lanes::WIDTH / $lanes }) }
        }
        #[cfg_attr(optimized, inline(always))]
        fn at_mut<'v>(&mut self, of: &'v mut Vector<$f>, chunk: usize) -> &'v mut Self::F {
            // SAFETY: as above.
            unsafe {
                &mut *of.0.as_mut_ptr().cast::<Self::F>().add(chunk % const { $crate::lanes::WIDTH / $lanes })
            }
        }
        #[cfg_attr(optimized, inline(always))]
        fn int_at<'v>(&mut self, of: &'v Vector<$i>, chunk: usize) -> &'v Self::I {
            // SAFETY: as above.
            unsafe { &*of.0.as_ptr().cast::<Self::I>().add(chunk % const { $crate::lanes::WIDTH / $lanes }) }
        }
        #[cfg_attr(optimized, inline(always))]
        fn int_at_mut<'v>(&mut self, of: &'v mut Vector<$i>, chunk: usize) -> &'v mut Self::I {
            // SAFETY: as above.
            unsafe {
                &mut *of.0.as_mut_ptr().cast::<Self::I>().add(chunk % const { $crate::lanes::WIDTH / $lanes })
            }
        }
        #[cfg_attr(optimized, inline(always))]
        fn broadcast(&mut self, v: $f) -> Vector<$f> {
            let register = self.float(v.into());
            // SAFETY: a register is lanes of a vector, side by side.
            unsafe { $crate::lanes::intrinsics::filled::<$f, _>(register) }
        }
        #[cfg_attr(optimized, inline(always))]
        fn broadcast_int(&mut self, v: $i) -> Vector<$i> {
            let register = self.int(v.into());
            // SAFETY: as above.
            unsafe { $crate::lanes::intrinsics::filled::<$i, _>(register) }
        }
    };
}
pub(super) use cut;

/// A vector of equal registers. Written out, because a loop would keep it in memory.
///
/// # Safety
///
/// A register is lanes of the vector, of which there are at most sixteen registers.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn filled<T, R: Copy>(register: R) -> Vector<T> {
    let mut vector = MaybeUninit::<Vector<T>>::uninit();
    let first = vector.as_mut_ptr().cast::<R>();
    macro_rules! write {
        ($($k:literal)*) => {
            $(if const { $k * size_of::<R>() < size_of::<Vector<T>>() } {
                // SAFETY: inside of the vector.
                unsafe { first.add($k).write(register) };
            })*
        };
    }
    write!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    // SAFETY: all registers were written.
    unsafe { vector.assume_init() }
}

/// The sum of the registers of so many lanes, of which there are at most sixteen: the upper half added to
/// the lower until one is left.
#[cfg_attr(optimized, inline(always))]
pub(super) fn folded<R: Registers>(m: &mut R, count: usize, v: &Vector<R::Float>) -> R::F {
    const { assert!(WIDTH / R::LANES <= 16) };
    macro_rules! sum {
        ($a:expr, $b:expr) => {{
            let (a, b) = ($a, $b);
            m.add(&a, &b)
        }};
    }
    macro_rules! at {
        ($a:literal $b:literal) => {
            sum!(*m.at(v, $a), *m.at(v, $b))
        };
    }
    match count / R::LANES {
        1 => *m.at(v, 0),
        2 => at!(0 1),
        4 => sum!(at!(0 2), at!(1 3)),
        8 => sum!(sum!(at!(0 4), at!(2 6)), sum!(at!(1 5), at!(3 7))),
        _ => sum!(
            sum!(sum!(at!(0 8), at!(4 12)), sum!(at!(2 10), at!(6 14))),
            sum!(sum!(at!(1 9), at!(5 13)), sum!(at!(3 11), at!(7 15)))
        ),
    }
}

/// The sum of the products of two vectors' registers of so many lanes, one after the other.
#[cfg_attr(optimized, inline(always))]
pub(super) fn folded_product<R: Registers>(
    m: &mut R,
    count: usize,
    a: &Vector<R::Float>,
    b: &Vector<R::Float>,
) -> R::F {
    let (x, y) = (*m.at(a, 0), *m.at(b, 0));
    let mut sum = m.mul(&x, &y);
    for chunk in 1..count / R::LANES {
        let (x, y) = (*m.at(a, chunk), *m.at(b, chunk));
        sum = m.fma(&x, &y, &sum);
    }
    sum
}

/// Which registers a vector of one type and a vector of another are taken in, half of one at a time.
macro_rules! in_registers {
    ($($(#[$doc:meta])* $name:ident($from:ty [$load:ident $step:literal] -> $to:ty [$store:ident]) |$a:ident| $value:expr;)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name(self, from: &$crate::lanes::Vector<$from>) -> $crate::lanes::Vector<$to> {
            let mut to = $crate::lanes::Vector([0 as $to; $crate::lanes::WIDTH]);
            const { assert!(LANES.is_multiple_of($step) && LANES <= $crate::lanes::WIDTH) };
            for k in 0..const { LANES / $step } {
                // SAFETY: the token says that the processor has the instructions; the vector is so many times
                // `step` lanes.
                unsafe {
                    let $a = $load(from.0.as_ptr().add(k * $step).cast());
                    $store(to.0.as_mut_ptr().add(k * $step).cast(), $value);
                }
            }
            to
        }
    )*};
}
pub(super) use in_registers;
