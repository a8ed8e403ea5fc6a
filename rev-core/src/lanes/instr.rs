//! What the instructions do to their places, in the lanes of the mask. Where one fails in an active
//! lane, no lane is changed.

use super::linear::LinearRows;
use super::mask::masked;
use super::{add, eq, not, recip, select, sin_cos, sub, Each, Isa, LaneMask, Laned, Mask, Pack};
use crate::scalar::rt::instr::InstrError;
use crate::scalar::{Field, Linear, Real, Ring};

/// Exchanges two values.
#[cfg_attr(optimized, inline(always))]
pub fn swap<S: Isa, M: Mask, P: Laned>(s: S, m: M, a: &mut Pack<P>, b: &mut Pack<P>) {
    if m.is_all() {
        return std::mem::swap(a, b);
    }
    let old = a.clone();
    *a = select(s, m, b.clone(), old.clone());
    *b = select(s, m, old, b.clone());
}

/// `x → -x`
#[cfg_attr(optimized, inline(always))]
pub fn neg<S: Isa, M: Mask, P: Linear>(s: S, m: M, x: &mut Pack<P>) {
    *x = masked(s, m, P::InLanes::negated(s, x.clone()), x);
}

/// `x → x + 1`
#[cfg_attr(optimized, inline(always))]
pub fn inc<S: Isa, M: Mask, T: Ring>(s: S, m: M, x: &mut Pack<T>) {
    *x = masked(s, m, add(s, *x, T::broadcast(s, T::one())), x);
}

/// `x → x - 1`
#[cfg_attr(optimized, inline(always))]
pub fn dec<S: Isa, M: Mask, T: Ring>(s: S, m: M, x: &mut Pack<T>) {
    *x = masked(s, m, sub(s, *x, T::broadcast(s, T::one())), x);
}

/// `b → !b`
#[cfg_attr(optimized, inline(always))]
pub fn flip<S: Isa, M: Mask>(s: S, m: M, b: &mut Pack<bool>) {
    *b = masked(s, m, not(s, *b), b);
}

/// `z → conj(z)`
#[cfg_attr(optimized, inline(always))]
pub fn conj<S: Isa, M: Mask, P: Linear>(s: S, m: M, z: &mut Pack<P>)
where
    P::Over: Ring,
{
    *z = masked(s, m, P::InLanes::shadow_conj(s, z.clone()), z);
}

/// `x → 1/x`
#[cfg_attr(optimized, inline(always))]
pub fn inv<S: Isa, M: Mask, T: Field>(s: S, m: M, x: &mut Pack<T>) {
    *x = masked(s, m, recip(s, *x), x);
}

/// `(a, b) → (a cos θ - b sin θ, a sin θ + b cos θ)`
#[cfg_attr(optimized, inline(always))]
pub fn rot<S: Isa, M: Mask, P: Linear>(s: S, m: M, a: &mut Pack<P>, b: &mut Pack<P>, theta: Pack<P::Over>)
where
    P::Over: Real,
{
    rotate(s, m, a, b, sin_cos(s, theta));
}

/// The rotation by `-θ`, which undoes [`rot`].
#[cfg_attr(optimized, inline(always))]
pub fn irot<S: Isa, M: Mask, P: Linear>(s: S, m: M, a: &mut Pack<P>, b: &mut Pack<P>, theta: Pack<P::Over>)
where
    P::Over: Real,
{
    let (sine, cosine) = sin_cos(s, theta);
    rotate(s, m, a, b, (super::neg(s, sine), cosine));
}

/// [`rot`] by an angle that is the same in all lanes, of which the sine and the cosine are given.
#[cfg_attr(optimized, inline(always))]
pub fn rot_by<S: Isa, M: Mask, P: Linear>(
    s: S,
    m: M,
    a: &mut Pack<P>,
    b: &mut Pack<P>,
    (sine, cosine): (P::Over, P::Over),
) where
    P::Over: Real,
{
    rotate(s, m, a, b, (super::broadcast(s, sine), super::broadcast(s, cosine)));
}

/// `(a, b) → (a c - b s, a s + b c)`
#[cfg_attr(optimized, inline(always))]
fn rotate<S: Isa, M: Mask, P: Linear>(
    s: S,
    m: M,
    a: &mut Pack<P>,
    b: &mut Pack<P>,
    (sine, cosine): (Pack<P::Over>, Pack<P::Over>),
) where
    P::Over: Real,
{
    let (ac, bs) = (scaled(s, a, &cosine), scaled(s, b, &sine));
    let (as_, bc) = (scaled(s, a, &sine), scaled(s, b, &cosine));
    let first = P::InLanes::minus(s, ac, bs);
    let second = P::InLanes::plus(s, as_, bc);
    *a = masked(s, m, first, a);
    *b = masked(s, m, second, b);
}

/// `v c`
#[cfg_attr(optimized, inline(always))]
fn scaled<S: Isa, P: Linear>(s: S, v: &Pack<P>, c: &Pack<P::Over>) -> Pack<P>
where
    P::Over: Ring,
{
    P::InLanes::scale(s, v.clone(), *c)
}

/// `(a, b) → ((a + b)/√2, (a - b)/√2)`
#[cfg_attr(optimized, inline(always))]
pub fn hadamard<S: Isa, M: Mask, P: Linear>(s: S, m: M, a: &mut Pack<P>, b: &mut Pack<P>)
where
    P::Over: Field,
{
    let r = std::f64::consts::FRAC_1_SQRT_2;
    let sum = P::InLanes::plus(s, a.clone(), b.clone());
    let difference = P::InLanes::minus(s, a.clone(), b.clone());
    *a = masked(s, m, P::InLanes::scale_constant(s, sum, r), a);
    *b = masked(s, m, P::InLanes::scale_constant(s, difference, r), b);
}

/// `x → k·x`, where the product fits; otherwise the first lane in which it doesn't, and why.
#[cfg_attr(optimized, inline(always))]
pub fn mul_int<S: Isa, M: Mask, P: Linear>(
    s: S,
    m: M,
    x: &mut Pack<P>,
    k: impl Each<i64>,
) -> Result<(), (usize, InstrError)>
where
    P::Over: Ring,
{
    let zeros = match k.uniform() {
        Some(0) => m.bits(s),
        Some(_) => 0,
        None => m.bits(s) & eq(s, k.clone().pack(s), i64::broadcast(s, 0)).0,
    };
    if zeros == 0 {
        if let Some(product) = P::InLanes::scale_int(s, m.bits(s), x.clone(), k.clone()) {
            *x = masked(s, m, product, x);
            return Ok(());
        }
    }
    let x = x.clone();
    Err(first_failing(m.bits(s), move |lane| match zeros & lane {
        0 => P::InLanes::scale_int(s, lane, x.clone(), k.clone()).is_none().then_some(InstrError::Overflow),
        _ => Some(InstrError::Inexact),
    }))
}

/// `x → x/k`, where the quotient is exact; otherwise the first lane in which it isn't.
#[cfg_attr(optimized, inline(always))]
pub fn div_int<S: Isa, M: Mask, P: Linear>(
    s: S,
    m: M,
    x: &mut Pack<P>,
    k: impl Each<i64>,
) -> Result<(), (usize, InstrError)>
where
    P::Over: Ring,
{
    if let Some(quotient) = P::InLanes::unscale_int(s, m.bits(s), x.clone(), k.clone()) {
        *x = masked(s, m, quotient, x);
        return Ok(());
    }
    let x = x.clone();
    Err(first_failing(m.bits(s), move |lane| {
        P::InLanes::unscale_int(s, lane, x.clone(), k.clone()).is_none().then_some(InstrError::Inexact)
    }))
}

/// `x → c·x`, where the product tells `x`; otherwise the first lane in which it doesn't.
#[cfg_attr(optimized, inline(always))]
pub fn scale_by<S: Isa, M: Mask, P: Linear>(
    s: S,
    m: M,
    x: &mut Pack<P>,
    c: Pack<P::Over>,
) -> Result<(), (usize, InstrError)>
where
    P::Over: Ring,
{
    if let Some(product) = P::InLanes::scale_exact(s, m.bits(s), x.clone(), c) {
        *x = masked(s, m, product, x);
        return Ok(());
    }
    let x = x.clone();
    Err(first_failing(m.bits(s), move |lane| {
        P::InLanes::scale_exact(s, lane, x.clone(), c).is_none().then_some(InstrError::Product)
    }))
}

/// `x → x/c`, where the quotient tells `x`; otherwise the first lane in which it doesn't.
#[cfg_attr(optimized, inline(always))]
pub fn unscale_by<S: Isa, M: Mask, P: Linear>(
    s: S,
    m: M,
    x: &mut Pack<P>,
    c: Pack<P::Over>,
) -> Result<(), (usize, InstrError)>
where
    P::Over: Ring,
{
    if let Some(quotient) = P::InLanes::unscale_exact(s, m.bits(s), x.clone(), c) {
        *x = masked(s, m, quotient, x);
        return Ok(());
    }
    let x = x.clone();
    Err(first_failing(m.bits(s), move |lane| {
        P::InLanes::unscale_exact(s, lane, x.clone(), c).is_none().then_some(InstrError::Inexact)
    }))
}

/// The first lane of a mask that fails when it is alone, and why. What all lanes do at once is written out beside its calls, as a closure
/// that is called twice isn't inlined, and outside of its caller has no vectors; and it gets copies, so that the lanes stay in registers.
#[cold]
fn first_failing(lanes: LaneMask, why: impl Fn(LaneMask) -> Option<InstrError>) -> (usize, InstrError) {
    let active = (0..LaneMask::BITS as usize).filter(|lane| lanes >> lane & 1 == 1);
    let failing = active.filter_map(|lane| Some((lane, why(1 << lane)?))).next();
    failing.unwrap_or((lanes.trailing_zeros() as usize, InstrError::Inexact))
}
