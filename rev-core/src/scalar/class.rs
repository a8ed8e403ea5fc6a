//! The classes of scalars as traits: [`ir::Class`](crate::ir::Class), so that what a type can't do
//! is an error of the Rust compiler.
//!
//! Methods have the names of the table's rows where those are methods in std too (`sin`, `powi`),
//! so that a plain-Rust twin can be generic over the same traits. The ring operations have names of
//! their own (`plus`, `times`), because they wrap on integers where the operators of std panic.

use super::{Linear, Num, Primal};
use crate::lanes::{collect, Isa, Laned, Pack};
use crate::tolerance::Tolerances;
use crate::value::Value;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, BitXor, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// An elementary function as a method.
macro_rules! declared {
    ($name:ident($first:ident $($more:ident)*) $doc:literal) => {
        #[doc = $doc]
        fn $name(self $(, $more: Self)*) -> Self;
    };
}

/// A type with a zero that doesn't depend on a value. Where the shape isn't in the type (vectors,
/// arrays, stacks) it is the empty one.
pub trait Zero: Sized {
    /// The zero (`false` for `bool`).
    fn zero() -> Self;
}

/// Storage and comparison for equality.
pub trait Scalar: Primal<Lanes: Copy> + Zero + Copy + Debug + PartialEq + Send + Sync + 'static {
    /// The type in the IR.
    fn ir_type() -> crate::ir::Type;
    /// The dynamic value.
    fn to_value(self) -> Value;
    /// The value of this type, `None` where the dynamic value is of another type.
    fn from_value(value: &Value) -> Option<Self>;
    /// The number for conversions.
    fn to_number(self) -> Num;
    /// The conversion of a number to this type, as `as` converts in Rust: integers wrap, fractions
    /// are cut off towards integers, out-of-range values saturate, NaN becomes 0 in integers.
    fn from_number(num: Num) -> Self;
    /// Whether `self` may stand for `expected`: exactly for integers, `bool` and fixed point, within
    /// the type's tolerance for floating point. `held` is the largest magnitude that the variable
    /// held, where that is known. NaN is never close to anything.
    fn is_close(self, expected: Self, tolerances: &Tolerances, held: Option<f64>) -> bool;
    /// The largest absolute value of its parts, as an `f64`; 0 for `bool`.
    fn modulus(self) -> f64;
}

/// `+ - *`, zero and one. Integers wrap around, which is what makes `+=` exactly reversible.
pub trait Ring: Scalar + Linear<Over = Self> {
    /// `self + b`.
    fn plus(self, b: Self) -> Self;
    /// `self - b`.
    fn minus(self, b: Self) -> Self;
    /// `self · b`.
    fn times(self, b: Self) -> Self;
    /// `-self`.
    fn negated(self) -> Self;
    /// `self · b + c`, rounded once for `f32` and `f64`.
    fn fused(self, b: Self, c: Self) -> Self;
    /// `c - self · b`, rounded where [`fused`](Ring::fused) is; exact types get back what they had before it.
    #[cfg_attr(optimized, inline(always))]
    fn fused_from(self, b: Self, c: Self) -> Self {
        self.negated().fused(b, c)
    }
    /// `|self|`; for complex numbers the modulus as a complex number.
    fn absolute(self) -> Self;
    /// `x/|x|`: the sign, the direction of a complex number; 0 at 0.
    fn unit(self) -> Self;
    /// The complex conjugate; everything else is its own.
    #[cfg_attr(optimized, inline(always))]
    fn conj(self) -> Self {
        self
    }
    /// One.
    fn one() -> Self;
    /// An integer literal.
    fn from_int(v: i128) -> Self;
    /// A count or an index as a number.
    fn from_usize(n: usize) -> Self;
    /// `self · k`, `None` where `k` is 0, or the product doesn't fit an exact type.
    fn times_exact(self, k: Self) -> Option<Self>;
    /// `self / k`, `None` where `k` is 0, or the type is exact and the quotient isn't.
    fn over_exact(self, k: Self) -> Option<Self>;
    /// `self · k` by an integer, `None` where the product doesn't fit an exact type.
    fn times_int(self, k: i64) -> Option<Self>;
    /// `self / k` by an integer, `None` where `k` is 0, or the type is exact and the quotient isn't.
    fn over_int(self, k: i64) -> Option<Self>;
}

/// Integers: wrapping arithmetic, division, bits.
pub trait Integer: Ring + Ord + BitXor<Output = Self> {
    /// The quotient cut off towards zero; `None` for a zero divisor. `MIN / -1` wraps.
    fn quotient(self, b: Self) -> Option<Self>;
    /// The remainder with the sign of `self`; `None` for a zero divisor.
    fn remainder(self, b: Self) -> Option<Self>;
    /// `self & b`.
    fn bits_and(self, b: Self) -> Self;
    /// `self | b`.
    fn bits_or(self, b: Self) -> Self;
    /// `self << n`; 0 where `n` is negative or not less than the number of bits.
    fn shift_left(self, n: i32) -> Self;
    /// `self >> n`; only copies of the sign are left where `n` is negative or not less than the number of bits.
    fn shift_right(self, n: i32) -> Self;
}

/// Real and complex numbers: division and the functions that are holomorphic, and the parts of a
/// complex number (a real one is its own real part).
pub trait Field:
    Ring + Primal<RealPart = <Self as Field>::Real> + Linear<Part = <Self as Field>::Real>
{
    /// The type of the real part.
    type Real: Real;
    /// A decimal literal.
    fn from_f64(v: f64) -> Self;
    /// A real number.
    fn from_real(re: Self::Real) -> Self;
    /// `self / b`.
    fn over(self, b: Self) -> Self;
    /// The principal square root.
    fn sqrt(self) -> Self;
    /// `1 / self`.
    fn recip(self) -> Self;
    /// `self` to an integer power, by repeated squaring; the reciprocal of that for a negative power.
    #[cfg_attr(optimized, inline(always))]
    fn powi(self, n: i32) -> Self {
        power(self, n)
    }
    each_elementary!(Field declared ());
    /// The sine and the cosine: with the bits of both, and in the time of little more than one where they share work.
    #[cfg_attr(optimized, inline(always))]
    fn sin_cos(self) -> (Self, Self) {
        (self.sin(), self.cos())
    }
    /// The real part.
    fn re(self) -> Self::Real;
    /// The imaginary part, 0 for a real number.
    fn im(self) -> Self::Real;
    /// `|self|²`.
    fn abs2(self) -> Self::Real;
    /// `|self|`.
    fn norm(self) -> Self::Real;
    /// The angle, in `(-π, π]`; of a real number 0 or π.
    fn arg(self) -> Self::Real;
    /// The gradient of [`arg`](Field::arg): `i z/|z|²`, and 0 for real numbers and at 0.
    fn arg_gradient(self) -> Self;
    /// A real cotangent times a number: the cotangent `c·t` of a complex variable.
    fn scale_real<const N: usize>(c: <Self::Real as Primal>::Shadow<N>, t: Self) -> Self::Shadow<N>;

    /// [`re`](Field::re) in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn re_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<Self::Real> {
        collect(s, |k| Self::lane(&z, k).re())
    }
    /// [`im`](Field::im) in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn im_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<Self::Real> {
        collect(s, |k| Self::lane(&z, k).im())
    }
    /// [`abs2`](Field::abs2) in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn abs2_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<Self::Real> {
        collect(s, |k| Self::lane(&z, k).abs2())
    }
    /// [`norm`](Field::norm) in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn norm_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<Self::Real> {
        collect(s, |k| Self::lane(&z, k).norm())
    }
    /// [`arg`](Field::arg) in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn arg_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<Self::Real> {
        collect(s, |k| Self::lane(&z, k).arg())
    }
    /// [`scale_real`](Field::scale_real) in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn scale_real_in_lanes<S: Isa, const N: usize>(
        s: S,
        c: Pack<<Self::Real as Primal>::Shadow<N>>,
        t: Pack<Self>,
    ) -> Pack<Self::Shadow<N>> {
        collect(s, |k| Self::scale_real(Laned::lane(&c, k), Self::lane(&t, k)))
    }
}

/// Real numbers: ordered, with rounding and the functions that have no complex form here. The
/// operators of std are there for plain Rust that is generic over the scalar.
pub trait Real:
    Field<Real = Self>
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// The nearest `f64`.
    fn to_f64(self) -> f64;
    /// π.
    fn pi() -> Self;
    /// The largest integer not above.
    fn floor(self) -> Self;
    /// The smallest integer not below.
    fn ceil(self) -> Self;
    /// The nearest integer, halves away from zero.
    fn round(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// `|self|` with the sign of `b`.
    fn copysign(self, b: Self) -> Self;
    each_elementary!(Real declared ());
    /// `ln |Γ(self)|`; infinite at 0, -1, -2, ….
    fn ln_gamma(self) -> Self;
    /// The `k`-th derivative of the digamma function; NaN for a negative `k`.
    fn polygamma(k: i32, x: Self) -> Self;
}

/// Integer powers by repeated squaring, in an order of operations that is the same for every type.
#[cfg_attr(optimized, inline(always))]
fn power<T: Field>(x: T, n: i32) -> T {
    let mut rest = n.unsigned_abs();
    let mut square = x;
    let mut product = T::one();
    while rest > 0 {
        if rest & 1 == 1 {
            product = product.times(square);
        }
        rest >>= 1;
        if rest > 0 {
            square = square.times(square);
        }
    }
    if n < 0 {
        product.recip()
    } else {
        product
    }
}
