//! Quotients of integers by the division of floats, for which there are vector instructions.
//!
//! For `|a|, |b| < 2⁵³` the integers are floats, and the rounded quotient, cut off towards zero, is the integers' one. Let `m` be the integer
//! that `a/b > 0`, cut off, is. Where `a/b` isn't `m`, it is at least `1/b` below `m + 1`. Floats just below `m + 1` are at most `2⁻⁵² max(m, 1/2)`
//! apart. So only where `1/b ≤ 2⁻⁵³ max(m, 1/2)` could `a/b` be rounded to `m + 1`; but `m b ≤ a < 2⁵³`, and `b < 2⁵⁴`.

use crate::lanes::pack::collect;
use crate::lanes::{
    abs, broadcast, cast, div, eq, lt, mul, sub, Isa, LaneMask, Level, Numbers, Pack, Portable, Rows, WIDTH,
};
use crate::scalar::{rt, Integer};

/// `rt::quot` in each lane.
#[cfg_attr(optimized, inline(always))]
pub(super) fn quot<S: Isa, T: Integer>(s: S, a: Pack<T>, b: Pack<T>) -> Pack<T> {
    if const { is_portable::<S>() } {
        return collect(s, |k| rt::quot(T::lane(&a, k), T::lane(&b, k)));
    }
    let (none, divisor) = divisor(s, b);
    match by_floats(s, a, divisor) {
        Some(quotient) => T::select(s, none, broadcast(s, T::zero()), quotient),
        None => one_by_one(&a, &b, rt::quot),
    }
}

/// `rt::rem` in each lane.
#[cfg_attr(optimized, inline(always))]
pub(super) fn rem<S: Isa, T: Integer>(s: S, a: Pack<T>, b: Pack<T>) -> Pack<T> {
    if const { is_portable::<S>() } {
        return collect(s, |k| rt::rem(T::lane(&a, k), T::lane(&b, k)));
    }
    // the remainder by 1 is 0
    let (_, divisor) = divisor(s, b);
    match by_floats(s, a, divisor) {
        Some(quotient) => sub(s, a, mul(s, quotient, divisor)),
        None => one_by_one(&a, &b, rt::rem),
    }
}

const fn is_portable<S: Isa>() -> bool {
    S::LEVEL as usize == Level::Portable as usize
}

/// The lanes with a zero, and 1 in its place.
#[cfg_attr(optimized, inline(always))]
fn divisor<S: Isa, T: Integer>(s: S, b: Pack<T>) -> (LaneMask, Pack<T>) {
    let none = eq(s, b, broadcast(s, T::zero())).0;
    (none, T::select(s, none, broadcast(s, T::one()), b))
}

/// The quotients, where all integers are floats.
#[cfg_attr(optimized, inline(always))]
fn by_floats<S: Isa, T: Integer>(s: S, a: Pack<T>, b: Pack<T>) -> Option<Pack<T>> {
    let (x, y): (Pack<f64>, Pack<f64>) = (cast(s, a), cast(s, b));
    if const { size_of::<T>() > 4 } {
        let limit = broadcast(s, (1u64 << 53) as f64);
        let exact = lt(s, abs(s, x), limit).0 & lt(s, abs(s, y), limit).0;
        if !exact & S::ALL != 0 {
            return None;
        }
    }
    // a quotient that doesn't fit, of the least 32-bit integer by -1, wraps
    let quotient: Pack<i64> = cast(s, div(s, x, y));
    Some(T::Rows::from_numbers(s, Numbers::Int(quotient.0)))
}

/// A function of each lane's integers.
#[cold]
#[inline(never)]
fn one_by_one<T: Integer>(a: &Pack<T>, b: &Pack<T>, f: fn(T, T) -> T) -> Pack<T> {
    collect(Portable::<WIDTH>, |k| f(T::lane(a, k), T::lane(b, k)))
}
