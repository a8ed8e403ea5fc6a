//! What the instructions do to their places: one function for each row of the table of
//! instructions. Those that are linear work on values and on shadows alike.

use super::super::{Field, Linear, Real, Ring};

/// Why an instruction can't be carried out in a way that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstrError {
    /// A product that doesn't fit.
    #[error("the product doesn't fit the type")]
    Overflow,
    /// A product with 0, or one that doesn't fit.
    #[error("the factor is 0, or the product doesn't fit the type")]
    Product,
    /// A quotient that isn't exact, or a zero divisor.
    #[error("the quotient isn't exact")]
    Inexact,
}

/// Exchanges two values.
#[cfg_attr(optimized, inline(always))]
pub fn swap<P>(a: &mut P, b: &mut P) {
    std::mem::swap(a, b);
}

/// `x → -x`
#[cfg_attr(optimized, inline(always))]
pub fn neg<P: Linear>(x: &mut P) {
    x.negate();
}

/// `x → x + 1`
#[cfg_attr(optimized, inline(always))]
pub fn inc<T: Ring>(x: &mut T) {
    *x = x.plus(T::one());
}

/// `x → x - 1`
#[cfg_attr(optimized, inline(always))]
pub fn dec<T: Ring>(x: &mut T) {
    *x = x.minus(T::one());
}

/// `b → !b`
#[cfg_attr(optimized, inline(always))]
pub fn flip(b: &mut bool) {
    *b = !*b;
}

/// `z → conj(z)`
#[cfg_attr(optimized, inline(always))]
pub fn conj<P: Linear>(z: &mut P)
where
    P::Over: Ring,
{
    *z = z.clone().conjugate();
}

/// `x → 1/x`
#[cfg_attr(optimized, inline(always))]
pub fn inv<T: Field>(x: &mut T) {
    *x = x.recip();
}

/// `(a, b) → (a cos θ - b sin θ, a sin θ + b cos θ)`
#[cfg_attr(optimized, inline(always))]
pub fn rot<P: Linear>(a: &mut P, b: &mut P, theta: P::Over)
where
    P::Over: Real,
{
    rot_by(a, b, theta.sin_cos());
}

/// The rotation by `-θ`, which undoes [`rot`].
#[cfg_attr(optimized, inline(always))]
pub fn irot<P: Linear>(a: &mut P, b: &mut P, theta: P::Over)
where
    P::Over: Real,
{
    rot_by(a, b, back(theta.sin_cos()));
}

/// The sine and the cosine of the opposite angle.
#[cfg_attr(optimized, inline(always))]
pub fn back<T: Real>((sine, cosine): (T, T)) -> (T, T) {
    (sine.negated(), cosine)
}

/// [`rot`] by an angle of which the sine and the cosine are given: `(a, b) → (a c - b s, a s + b c)`
#[cfg_attr(optimized, inline(always))]
pub fn rot_by<P: Linear>(a: &mut P, b: &mut P, (s, c): (P::Over, P::Over))
where
    P::Over: Real,
{
    let (a0, b0) = (a.clone(), b.clone());
    *a = a0.clone().scale(c);
    a.deduct(&b0.clone().scale(s));
    *b = a0.scale(s);
    b.accumulate(&b0.scale(c));
}

/// `(a, b) → ((a + b)/√2, (a - b)/√2)`
#[cfg_attr(optimized, inline(always))]
pub fn hadamard<P: Linear>(a: &mut P, b: &mut P)
where
    P::Over: Field,
{
    let r = std::f64::consts::FRAC_1_SQRT_2;
    let (mut sum, mut difference) = (a.clone(), a.clone());
    sum.accumulate(b);
    difference.deduct(b);
    *a = sum.scale_constant(r);
    *b = difference.scale_constant(r);
}

/// `x → k·x`, where the product fits.
#[cfg_attr(optimized, inline(always))]
pub fn mul_int<P: Linear>(x: &mut P, k: i64) -> Result<(), InstrError>
where
    P::Over: Ring,
{
    if k == 0 {
        return Err(InstrError::Inexact);
    }
    *x = x.clone().scale_int(k).ok_or(InstrError::Overflow)?;
    Ok(())
}

/// `x → x/k`, where the quotient is exact.
#[cfg_attr(optimized, inline(always))]
pub fn div_int<P: Linear>(x: &mut P, k: i64) -> Result<(), InstrError>
where
    P::Over: Ring,
{
    *x = x.clone().unscale_int(k).ok_or(InstrError::Inexact)?;
    Ok(())
}

/// `x → c·x`, where the product tells `x`.
#[cfg_attr(optimized, inline(always))]
pub fn scale_by<P: Linear>(x: &mut P, c: P::Over) -> Result<(), InstrError>
where
    P::Over: Ring,
{
    *x = x.clone().scale_exact(c).ok_or(InstrError::Product)?;
    Ok(())
}

/// `x → x/c`
#[cfg_attr(optimized, inline(always))]
pub fn unscale_by<P: Linear>(x: &mut P, c: P::Over) -> Result<(), InstrError>
where
    P::Over: Ring,
{
    *x = x.clone().unscale_exact(c).ok_or(InstrError::Inexact)?;
    Ok(())
}
