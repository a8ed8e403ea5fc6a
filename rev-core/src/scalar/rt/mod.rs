//! What a program's expressions and statements compute: one function for each row of the table of
//! pure functions, under the row's name, and in [`instr`] one for each instruction.
//!
//! Every function is generic over the scalar, with the bound that the row's class asks for, and all
//! arguments of one type `T` so that literals find theirs. Functions of order (`lt`, `max`, `abs`)
//! ask for `PartialOrd`, which integers, reals and `bool` have. Shadow functions take their type
//! from the shadow.

use super::{Complex, Field, Integer, Linear, Primal, Real, Ring, Scalar};
use std::ops::BitXor;

pub mod instr;

/// An integer literal, in the type that its context asks for.
#[cfg_attr(optimized, inline(always))]
pub fn lit_int<T: Ring>(v: i128) -> T {
    T::from_int(v)
}

/// A decimal literal, in the type that its context asks for.
#[cfg_attr(optimized, inline(always))]
pub fn lit_f64<T: Field>(v: f64) -> T {
    T::from_f64(v)
}

/// `a as B`.
#[cfg_attr(optimized, inline(always))]
pub fn cast<A: Scalar, B: Scalar>(a: A) -> B {
    B::from_number(a.to_number())
}

/// The cotangents of a conversion's argument, from those of its result: the same numbers in the
/// other type. Nothing where either type carries no derivative.
#[cfg_attr(optimized, inline(always))]
pub fn cast_shadow<R: Linear, S: Linear>(s: S) -> R {
    let mut r = R::zero();
    for k in 0..R::width().min(S::width()) {
        r.set_component(k, s.component(k));
    }
    r
}

/// Functions that are methods of a class.
macro_rules! by_method {
    ($class:ident: $($(#[$doc:meta])* $name:ident = $method:ident ($($arg:ident)*);)*) => {$(
        $(#[$doc])*
        #[cfg_attr(optimized, inline(always))]
        pub fn $name<T: $class>($($arg: T),*) -> T {
            <T as $class>::$method($($arg),*)
        }
    )*};
}

by_method! { Ring:
    /// `a + b`
    add = plus(a b);
    /// `a - b`
    sub = minus(a b);
    /// `a · b`
    mul = times(a b);
    /// `-a`
    neg = negated(a);
    /// `a · b + c`, rounded once.
    mul_add = fused(a b c);
    /// `x/|x|`, 0 at 0.
    unit = unit(x);
    /// The complex conjugate.
    conj = conj(z);
}

by_method! { Integer:
    /// `a & b`
    bit_and = bits_and(a b);
    /// `a | b`
    bit_or = bits_or(a b);
}

by_method! { Field:
    /// `a / b`
    div = over(a b);
    /// The principal square root.
    sqrt = sqrt(x);
    /// `1 / x`
    recip = recip(x);
    /// The gradient of [`arg`].
    arg_gradient = arg_gradient(z);
}

/// [`sin`] and [`cos`] at once.
#[cfg_attr(optimized, inline(always))]
pub fn sin_cos<T: Field>(x: T) -> (T, T) {
    x.sin_cos()
}

by_method! { Real:
    /// The largest integer not above.
    floor = floor(x);
    /// The smallest integer not below.
    ceil = ceil(x);
    /// The nearest integer, halves away from zero.
    round = round(x);
    /// The integer part.
    trunc = trunc(x);
    /// `|a|` with the sign of `b`.
    copysign = copysign(a b);
    /// `ln |Γ(x)|`
    ln_gamma = ln_gamma(x);
}

/// An elementary function.
macro_rules! elementary {
    ($class:ident $name:ident($first:ident $($more:ident)*) $doc:literal) => {
        #[doc = $doc]
        #[cfg_attr(optimized, inline(always))]
        pub fn $name<T: $class>($first: T $(, $more: T)*) -> T {
            <T as $class>::$name($first $(, $more)*)
        }
    };
}
each_elementary!(Field elementary (Field));
each_elementary!(Real elementary (Real));

/// `a / b` cut off towards zero. Total: 0 for a zero divisor, which [`try_quot`] tells apart.
#[cfg_attr(optimized, inline(always))]
pub fn quot<T: Integer>(a: T, b: T) -> T {
    a.quotient(b).unwrap_or_else(T::zero)
}

/// `a / b` cut off towards zero, `None` for a zero divisor.
#[cfg_attr(optimized, inline(always))]
pub fn try_quot<T: Integer>(a: T, b: T) -> Option<T> {
    a.quotient(b)
}

/// The remainder of [`quot`]. Total: 0 for a zero divisor, which [`try_rem`] tells apart.
#[cfg_attr(optimized, inline(always))]
pub fn rem<T: Integer>(a: T, b: T) -> T {
    a.remainder(b).unwrap_or_else(T::zero)
}

/// The remainder of [`quot`], `None` for a zero divisor.
#[cfg_attr(optimized, inline(always))]
pub fn try_rem<T: Integer>(a: T, b: T) -> Option<T> {
    a.remainder(b)
}

/// `a ^ b`
#[cfg_attr(optimized, inline(always))]
pub fn bit_xor<T: Scalar + BitXor<Output = T>>(a: T, b: T) -> T {
    a ^ b
}

/// `a << n`; 0 where `n` is out of range.
#[cfg_attr(optimized, inline(always))]
pub fn shl<T: Integer>(a: T, n: i32) -> T {
    a.shift_left(n)
}

/// `a >> n`; copies of the sign where `n` is out of range.
#[cfg_attr(optimized, inline(always))]
pub fn shr<T: Integer>(a: T, n: i32) -> T {
    a.shift_right(n)
}

/// `a == b`
#[cfg_attr(optimized, inline(always))]
pub fn eq<T: Scalar>(a: T, b: T) -> bool {
    a == b
}

/// `a != b`
#[cfg_attr(optimized, inline(always))]
pub fn ne<T: Scalar>(a: T, b: T) -> bool {
    a != b
}

/// `a < b`
#[cfg_attr(optimized, inline(always))]
pub fn lt<T: PartialOrd>(a: T, b: T) -> bool {
    a < b
}

/// `a <= b`
#[cfg_attr(optimized, inline(always))]
pub fn le<T: PartialOrd>(a: T, b: T) -> bool {
    a <= b
}

/// `a > b`
#[cfg_attr(optimized, inline(always))]
pub fn gt<T: PartialOrd>(a: T, b: T) -> bool {
    a > b
}

/// `a >= b`
#[cfg_attr(optimized, inline(always))]
pub fn ge<T: PartialOrd>(a: T, b: T) -> bool {
    a >= b
}

/// `a && b`; both sides have been evaluated.
#[cfg_attr(optimized, inline(always))]
pub fn and(a: bool, b: bool) -> bool {
    a & b
}

/// `a || b`; both sides have been evaluated.
#[cfg_attr(optimized, inline(always))]
pub fn or(a: bool, b: bool) -> bool {
    a | b
}

/// `!a`
#[cfg_attr(optimized, inline(always))]
pub fn not(a: bool) -> bool {
    !a
}

/// `a` where `c` holds, else `b`; both have been evaluated.
#[cfg_attr(optimized, inline(always))]
pub fn select<T: Scalar>(c: bool, a: T, b: T) -> T {
    if c {
        a
    } else {
        b
    }
}

/// `a` where `a <= b`, else `b` (so `b` where one of them is NaN).
#[cfg_attr(optimized, inline(always))]
pub fn min<T: Scalar + PartialOrd>(a: T, b: T) -> T {
    if a <= b {
        a
    } else {
        b
    }
}

/// `a` where `a >= b`, else `b` (so `b` where one of them is NaN).
#[cfg_attr(optimized, inline(always))]
pub fn max<T: Scalar + PartialOrd>(a: T, b: T) -> T {
    if a >= b {
        a
    } else {
        b
    }
}

/// `|x|`
#[cfg_attr(optimized, inline(always))]
pub fn abs<T: Ring + PartialOrd>(x: T) -> T {
    x.absolute()
}

/// `x` to an integer power.
#[cfg_attr(optimized, inline(always))]
pub fn powi<T: Field>(x: T, n: i32) -> T {
    x.powi(n)
}

/// The `k`-th derivative of `xⁿ`: `n (n-1) … (n-k+1) xⁿ⁻ᵏ`, and 0 where that product is 0, also at
/// `x = 0`.
#[cfg_attr(optimized, inline(always))]
pub fn powi_derivative<T: Field>(x: T, n: i32, k: i32) -> T {
    match falling_factorial::<T>(n, k) {
        Some(c) => c.times(x.powi(n.wrapping_sub(k))),
        None => T::zero(),
    }
}

/// `n (n-1) … (n-k+1)`; `None` where it is 0.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn falling_factorial<T: Field>(n: i32, k: i32) -> Option<T> {
    let mut c = T::one();
    for j in 0..k {
        c = c.times(T::from_int(i128::from(n) - i128::from(j)));
        if n == j {
            return None;
        }
    }
    Some(c)
}

/// The `k`-th derivative of the digamma function.
#[cfg_attr(optimized, inline(always))]
pub fn polygamma<T: Real>(k: i32, x: T) -> T {
    T::polygamma(k, x)
}

/// The real part.
#[cfg_attr(optimized, inline(always))]
pub fn re<T: Field>(z: T) -> T::Real {
    z.re()
}

/// The imaginary part.
#[cfg_attr(optimized, inline(always))]
pub fn im<T: Field>(z: T) -> T::Real {
    z.im()
}

/// `a + ib`
#[cfg_attr(optimized, inline(always))]
pub fn complex<T: Real>(a: T, b: T) -> Complex<T> {
    Complex { re: a, im: b }
}

/// `|z|²`
#[cfg_attr(optimized, inline(always))]
pub fn abs2<T: Field>(z: T) -> T::Real {
    z.abs2()
}

/// `|z|`
#[cfg_attr(optimized, inline(always))]
pub fn norm<T: Field>(z: T) -> T::Real {
    z.norm()
}

/// The angle of `z`.
#[cfg_attr(optimized, inline(always))]
pub fn arg<T: Field>(z: T) -> T::Real {
    z.arg()
}

/// The same value; what it says is for the update that adds it ([`update::add_product`]).
#[cfg_attr(optimized, inline(always))]
pub fn fused<T>(product: T) -> T {
    product
}

/// The same value, which counts as a constant for all derivatives.
#[cfg_attr(optimized, inline(always))]
pub fn stop_gradient<T>(x: T) -> T {
    x
}

/// A number that carries a derivative; 0 for one that doesn't.
#[cfg_attr(optimized, inline(always))]
pub fn differentiable<T: Scalar>(t: T) -> T {
    if carries_derivative::<T>() {
        t
    } else {
        T::zero()
    }
}

/// Whether a value of this type has storage for cotangents.
#[cfg_attr(optimized, inline(always))]
pub(crate) const fn carries_derivative<P: Primal>() -> bool {
    std::mem::size_of::<P::Shadow<1>>() > 0
}

/// `s · c`
#[cfg_attr(optimized, inline(always))]
pub fn scale<S: Linear>(s: S, c: S::Over) -> S
where
    S::Over: Ring,
{
    s.scale(c)
}

/// `s · c`, and 0 where `s` is 0 whatever `c` is.
#[cfg_attr(optimized, inline(always))]
pub fn absorb<S: Linear>(s: S, c: S::Over) -> S
where
    S::Over: Ring,
{
    s.absorb(c)
}

/// A real cotangent times a number.
#[cfg_attr(optimized, inline(always))]
pub fn scale_real<T: Field, const N: usize>(c: <T::Real as Primal>::Shadow<N>, t: T) -> T::Shadow<N> {
    T::scale_real(c, t)
}

/// The conjugate of a cotangent.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_conj<S: Linear>(s: S) -> S
where
    S::Over: Ring,
{
    s.conjugate()
}

/// The real part of a cotangent.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_re<S: Linear>(s: S) -> S::Part
where
    S::Over: Field,
{
    s.real_part()
}

/// The imaginary part of a cotangent.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_im<S: Linear>(s: S) -> S::Part
where
    S::Over: Field,
{
    s.imaginary_part()
}

/// The cotangent as one of a value like `of`, which isn't used otherwise.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_of<T: Scalar, const N: usize>(s: T::Shadow<N>, of: T) -> T::Shadow<N> {
    let _ = of;
    s
}

/// The cotangent with a real part only.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_from_re<S: Linear>(re: S::Part) -> S
where
    S::Over: Field,
{
    S::from_real_part(re)
}

/// The cotangent with an imaginary part only (0 where the variable is real).
#[cfg_attr(optimized, inline(always))]
pub fn shadow_from_im<S: Linear>(im: S::Part) -> S
where
    S::Over: Field,
{
    S::from_imaginary_part(im)
}

/// Updates: what `p ⊕= e` does to the place. `+=` and `-=` work on shadows and on whole arrays,
/// tuples and structs too.
pub mod update {
    use super::super::{Accumulator, Linear, Primal, Ring, Scalar};
    use std::ops::BitXor;

    /// `p += e` of numbers, and of arrays of the same shape.
    #[cfg_attr(optimized, inline(always))]
    pub fn add_each<P: Linear>(p: &mut P, e: &P) {
        p.accumulate(e);
    }

    /// `p -= e` likewise.
    #[cfg_attr(optimized, inline(always))]
    pub fn sub_each<P: Linear>(p: &mut P, e: &P) {
        p.deduct(e);
    }

    /// That `fields(e)` is written of what has sums.
    #[cfg_attr(optimized, inline(always))]
    pub fn has_sums<P: Primal>(_: &P) {
        const {
            assert!(P::HAS_SUMS, "[R0403] `fields` of what holds an enum or an `Option`, which have no sum: add the other fields, each by itself")
        };
    }

    /// `p += fields(e)` of structs too, and of cotangents of enums.
    #[cfg_attr(optimized, inline(always))]
    pub fn add_fields<P: Primal>(p: &mut P, e: &P) {
        p.add_each(e, false);
    }

    /// `p -= fields(e)` likewise.
    #[cfg_attr(optimized, inline(always))]
    pub fn sub_fields<P: Primal>(p: &mut P, e: &P) {
        p.add_each(e, true);
    }

    /// `p += e`
    #[cfg_attr(optimized, inline(always))]
    pub fn add<P: Linear>(p: &mut P, e: P) {
        p.accumulate(&e);
    }

    /// `p -= e`
    #[cfg_attr(optimized, inline(always))]
    pub fn sub<P: Linear>(p: &mut P, e: P) {
        p.deduct(&e);
    }

    /// `p += e` of derivatives of a value whose type only rustc knows.
    #[cfg_attr(optimized, inline(always))]
    pub fn add_any<P: Accumulator>(p: &mut P, e: P) {
        p.add(&e, false);
    }

    /// `p -= e` likewise.
    #[cfg_attr(optimized, inline(always))]
    pub fn sub_any<P: Accumulator>(p: &mut P, e: P) {
        p.add(&e, true);
    }

    /// `p += v·c`, rounded once where [`Linear::accumulate_product`] is.
    #[cfg_attr(optimized, inline(always))]
    pub fn add_product<P: Linear>(p: &mut P, v: P, c: P::Over)
    where
        P::Over: Ring,
    {
        p.accumulate_product(v, c);
    }

    /// `p -= v·c` likewise.
    #[cfg_attr(optimized, inline(always))]
    pub fn sub_product<P: Linear>(p: &mut P, v: P, c: P::Over)
    where
        P::Over: Ring,
    {
        p.deduct_product(v, c);
    }

    /// `p ^= e`
    #[cfg_attr(optimized, inline(always))]
    pub fn xor<T: Scalar + BitXor<Output = T>>(p: &mut T, e: T) {
        *p = *p ^ e;
    }
}

/// Every row has its function, and every instruction: a missing one doesn't compile.
mod complete {
    macro_rules! all_present {
        ($(($variant:ident $name:ident $($rest:tt)*))*) => {
            #[allow(unused_imports, non_snake_case)]
            mod rows {
                $(use super::super::$name as $variant;)*
            }
        };
    }
    rev_compiler::func_table!(all_present);
}

#[cfg(test)]
mod tests;
