//! Updates: what `p ⊕= e` does to the place, in the lanes of the mask.

use super::linear::LinearRows;
use super::mask::masked;
use super::{bit_xor, Isa, Laned, Mask, Pack};
use crate::scalar::{Linear, ReversibleMul, Ring, Scalar};
use std::ops::BitXor;

/// `p += e`
#[inline(always)]
pub fn add<S: Isa, M: Mask, P: Linear>(s: S, m: M, p: &mut Pack<P>, e: Pack<P>) {
    *p = masked(s, m, P::InLanes::plus(s, p.clone(), e), p);
}

/// `p -= e`
#[inline(always)]
pub fn sub<S: Isa, M: Mask, P: Linear>(s: S, m: M, p: &mut Pack<P>, e: Pack<P>) {
    *p = masked(s, m, P::InLanes::minus(s, p.clone(), e), p);
}

/// `p += v·c`, rounded where the scalars' update is.
#[inline(always)]
pub fn add_product<S: Isa, M: Mask, P: Linear>(s: S, m: M, p: &mut Pack<P>, v: Pack<P>, c: Pack<P::Over>)
where
    P::Over: Ring,
{
    *p = masked(s, m, P::InLanes::plus_product(s, p.clone(), v, c), p);
}

/// `p -= v·c` likewise.
#[inline(always)]
pub fn sub_product<S: Isa, M: Mask, P: Linear>(s: S, m: M, p: &mut Pack<P>, v: Pack<P>, c: Pack<P::Over>)
where
    P::Over: Ring,
{
    *p = masked(s, m, P::InLanes::minus_product(s, p.clone(), v, c), p);
}

/// `p ^= e`
#[inline(always)]
pub fn xor<S: Isa, M: Mask, T: Scalar + BitXor<Output = T>>(s: S, m: M, p: &mut Pack<T>, e: Pack<T>) {
    *p = masked(s, m, bit_xor(s, p.clone(), e), p);
}

/// `p *= e`
#[inline(always)]
pub fn mul<S: Isa, M: Mask, T: ReversibleMul>(s: S, m: M, p: &mut Pack<T>, e: Pack<T>) {
    lane_by_lane(s, m, p, e, T::multiply);
}

/// `p /= e`
#[inline(always)]
pub fn div<S: Isa, M: Mask, T: ReversibleMul>(s: S, m: M, p: &mut Pack<T>, e: Pack<T>) {
    lane_by_lane(s, m, p, e, T::divide);
}

#[inline(always)]
fn lane_by_lane<S: Isa, T: Laned>(
    s: S,
    m: impl Mask,
    p: &mut Pack<T>,
    e: Pack<T>,
    update: impl Fn(&mut T, T),
) {
    for k in super::active(s, m) {
        let mut v = T::lane(p, k);
        update(&mut v, T::lane(&e, k));
        T::set_lane(p, k, v);
    }
}
