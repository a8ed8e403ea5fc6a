//! What the lanes give together.

use super::linear::LinearRows;
use super::{first, Isa, LaneMask, Mask, Pack};
use crate::scalar::{Accumulator, Linear, Ring, Scalar};
use std::ops::BitXor;

/// The sum over the active lanes, along a fixed tree: lane `k` and lane `k + 16`, then `k + 8`, `k + 4`,
/// `k + 2`, `k + 1`. Lanes that aren't active count as zero.
#[cfg_attr(optimized, inline(always))]
pub fn sum<S: Isa, M: Mask, P: Accumulator>(s: S, m: M, v: &Pack<P>) -> P {
    match m.part() {
        Some(n) => sum_of_part(s, n, &v.clone()),
        None if m.is_all() => P::total(s, v.clone()),
        None => P::total(s, active(s, m.bits(s), v.clone())),
    }
}

/// The sum of `v·c` over the active lanes, along a fixed tree; each product may be rounded together with
/// the sum of those before it.
#[cfg_attr(optimized, inline(always))]
pub fn sum_product<S: Isa, M: Mask, P: Linear>(s: S, m: M, v: Pack<P>, c: Pack<P::Over>) -> P
where
    P::Over: Ring,
{
    match m.part() {
        // of copies: what is given by its address isn't held in registers
        Some(n) => sum_product_of_part(s, n, &v.clone(), &{ c }),
        None if m.is_all() => P::InLanes::sum_product(s, v, c),
        None => P::InLanes::sum(s, active(s, m.bits(s), P::InLanes::scale(s, v, c))),
    }
}

/// [`sum`] of the first `n` lanes: a function of its own, which a loop's last group calls.
#[cold]
#[inline(never)]
fn sum_of_part<S: Isa, P: Accumulator>(s: S, n: usize, v: &Pack<P>) -> P {
    s.apart(
        #[cfg_attr(optimized, inline(always))]
        || P::total(s, active(s, first(n).0, v.clone())),
    )
}

/// [`sum_product`] of the first `n` lanes.
#[cold]
#[inline(never)]
fn sum_product_of_part<S: Isa, P: Linear>(s: S, n: usize, v: &Pack<P>, c: &Pack<P::Over>) -> P
where
    P::Over: Ring,
{
    s.apart(
        #[cfg_attr(optimized, inline(always))]
        || {
            let bits = first(n).0;
            P::InLanes::sum_product(s, active(s, bits, v.clone()), active(s, bits, *c))
        },
    )
}

/// `v`, and zero in the other lanes.
#[cfg_attr(optimized, inline(always))]
fn active<S: Isa, P: Accumulator>(s: S, bits: LaneMask, v: Pack<P>) -> Pack<P> {
    P::select(s, bits, v, P::broadcast(s, P::zero()))
}

/// The exclusive or of the active lanes.
#[cfg_attr(optimized, inline(always))]
pub fn parity<S: Isa, M: Mask, T: Scalar + BitXor<Output = T>>(s: S, m: M, v: &Pack<T>) -> T {
    super::active(s, m).fold(T::zero(), |a, k| a ^ T::lane(v, k))
}
