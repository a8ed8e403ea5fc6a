//! Updates: what `p ⊕= e` does to the place, in the lanes of the mask.

use super::linear::LinearRows;
use super::mask::masked;
use super::{bit_xor, Isa, Mask, Pack};
use crate::scalar::{Accumulator, Linear, Ring, Scalar};
use std::ops::BitXor;

/// `p += e`
#[cfg_attr(optimized, inline(always))]
pub fn add<S: Isa, M: Mask, P: Accumulator>(s: S, m: M, p: &mut Pack<P>, e: Pack<P>) {
    *p = masked(s, m, P::sum(s, p.clone(), e, false), p);
}

/// `p -= e`
#[cfg_attr(optimized, inline(always))]
pub fn sub<S: Isa, M: Mask, P: Accumulator>(s: S, m: M, p: &mut Pack<P>, e: Pack<P>) {
    *p = masked(s, m, P::sum(s, p.clone(), e, true), p);
}

/// `p += v·c`, rounded where the scalars' update is.
#[cfg_attr(optimized, inline(always))]
pub fn add_product<S: Isa, M: Mask, P: Linear>(s: S, m: M, p: &mut Pack<P>, v: Pack<P>, c: Pack<P::Over>)
where
    P::Over: Ring,
{
    *p = masked(s, m, P::InLanes::plus_product(s, p.clone(), v, c), p);
}

/// `p -= v·c` likewise.
#[cfg_attr(optimized, inline(always))]
pub fn sub_product<S: Isa, M: Mask, P: Linear>(s: S, m: M, p: &mut Pack<P>, v: Pack<P>, c: Pack<P::Over>)
where
    P::Over: Ring,
{
    *p = masked(s, m, P::InLanes::minus_product(s, p.clone(), v, c), p);
}

/// `p ^= e`
#[cfg_attr(optimized, inline(always))]
pub fn xor<S: Isa, M: Mask, T: Scalar + BitXor<Output = T>>(s: S, m: M, p: &mut Pack<T>, e: Pack<T>) {
    *p = masked(s, m, bit_xor(s, *p, e), p);
}
