//! Values of any type: their shadows, their zeros, and whether one may stand for another.

use super::{bf16, f16, Batch, ComplexShadow, Linear, NoShadow, Real, Scalar, WideBatch, Zero};
use super::{FixedI128, FixedI32, FixedI64, FixedPoint, Fraction128, Fraction32, Fraction64};
use crate::error::Error;
use crate::lanes::{self, InParts, Isa, LaneByLane, LaneMask, Laned, Pack};
use crate::tolerance::Tolerances;
use crate::value::DynArg;
use ndarray::{Array, Dimension};
use num_complex::Complex;
use std::fmt::Debug;

/// Two values that should agree and don't.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Where in the value, as a path to be written behind a variable's name: `[3].re`, or empty.
    pub path: String,
    /// What should have been there.
    pub expected: String,
    /// What was there.
    pub found: String,
}

impl Mismatch {
    /// The same difference seen from one level further out.
    pub fn within(mut self, step: impl std::fmt::Display) -> Mismatch {
        self.path = format!("{step}{}", self.path);
        self
    }

    /// Two shapes that differ.
    fn lengths(expected: impl Debug, found: impl Debug) -> Mismatch {
        Mismatch {
            path: ".len()".to_string(),
            expected: format!("{expected:?}"),
            found: format!("{found:?}"),
        }
    }
}

/// A type of value: scalars, arrays, tuples, structs, stacks.
///
/// # Implementing for a struct (what the derive writes)
///
/// `RealPart = ()`, `Shadow<N>` a struct with the fields' shadows under the same names; every method
/// does the same for each field (`compare` adds `.field` with [`Mismatch::within`]).
#[diagnostic::on_unimplemented(
    message = "[R0612] `{Self}` isn't a type whose values a reversible function can have",
    label = "of this type",
    note = "a struct is one under `#[derive(Clone, Debug, Reversible)]`, with `T: Scalar` for its type parameters"
)]
pub trait Primal: Clone + Debug + Zero + DynArg + Laned + Send + Sync {
    /// The type of a scalar's real part (integers: themselves); `()` for everything else.
    type RealPart: Primal;
    /// Storage for `N` cotangents of a value.
    type Shadow<const N: usize>: Linear<Over = Self, Part = <Self::RealPart as Primal>::Shadow<N>>;
    /// What callers get as its gradient: the scalar itself for scalars, the shadow for a struct, `()`
    /// for what carries no derivative.
    type Gradient: Clone + Debug + PartialEq + Send + Sync;

    /// The gradient that a shadow of width 1 holds.
    fn gradient(shadow: Self::Shadow<1>) -> Self::Gradient;
    /// The shadow of width 1 that holds a gradient, or any other cotangent of this shape.
    fn cotangent(gradient: Self::Gradient) -> Self::Shadow<1>;

    /// The shadow of width 1 that holds the numbers of a value, as a tangent of this shape.
    ///
    /// # Errors
    ///
    /// A type whose shadow doesn't take the numbers that its values have.
    fn as_tangent(&self) -> Result<Self::Shadow<1>, Error> {
        let mut shadow = self.zero_shadow();
        let mut numbers = Vec::new();
        self.sides(&mut |sides| numbers.extend_from_slice(sides));
        let mut numbers = numbers.into_iter();
        shadow.update_sides(&mut |sides| sides.fill(numbers.next().unwrap_or(f64::NAN)))?;
        Ok(shadow)
    }
    /// Values as their tangents, where they lie. `None` for a type whose shadows lie in another way.
    fn as_tangents(values: &[Self]) -> Option<&[Self::Shadow<1>]> {
        let _ = values;
        None
    }
    /// The value with the numbers of a shadow of width 1, shaped like another: its stacks are as high, its enums of the same
    /// variants, and what isn't a number that carries derivatives is as there.
    ///
    /// # Errors
    ///
    /// As [`Primal::as_tangent`].
    fn of_tangent(shadow: &Self::Shadow<1>, like: &Self) -> Result<Self, Error> {
        let (mut value, mut numbers) = (like.clone(), Vec::new());
        shadow.sides(&mut |sides| numbers.extend_from_slice(sides));
        let mut numbers = numbers.into_iter();
        value.update_sides(&mut |sides| sides.fill(numbers.next().unwrap_or(f64::NAN)))?;
        Ok(value)
    }

    /// Zero cotangents, shaped like this value.
    fn zero_shadow<const N: usize>(&self) -> Self::Shadow<N>;
    /// Zero cotangents for the value in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn zero_shadow_lanes<S: Isa, const N: usize>(s: S, like: &Pack<Self>) -> Pack<Self::Shadow<N>> {
        let mut shadows = Laned::broadcast(s, Self::lane(like, 0).zero_shadow());
        for k in 1..S::LANES {
            Laned::set_lane(&mut shadows, k, Self::lane(like, k).zero_shadow());
        }
        shadows
    }
    /// The zero of this value's shape (a stack's is empty).
    fn zero_like(&self) -> Self;
    /// Zeros of this value's shape, in stacks as many as there are values, and in enums of the same variant.
    fn zeros(&self) -> Self {
        if !Self::HAS_ARRAYS && Self::HAS_SUMS {
            return self.zero_like();
        }
        let mut zeros = self.clone();
        // real numbers, which may be infinite, are set; what else there is goes by subtraction
        let _ = zeros.update_sides(&mut |sides| sides.fill(0.0));
        let rest = zeros.clone();
        zeros.add_each(&rest, true);
        zeros
    }
    /// Whether values have arrays of run-time shape in them, or stacks.
    const HAS_ARRAYS: bool = false;
    /// Whether values have sums, number by number. Those of enums don't: a sum may belong to no variant. Only cotangents that are
    /// numbers do, of which each is zero or of the variant of the value that they belong to.
    const HAS_SUMS: bool = true;
    /// Adds what another value of the same shape holds, number by number, or subtracts it; truth values by exclusive or.
    fn add_each(&mut self, by: &Self, negative: bool);
    /// The largest absolute value in it, 0 where there is none.
    fn magnitude(&self) -> f64;
    /// Whether this value may stand for `expected`: the same shape, each element close as
    /// [`Scalar::is_close`] says. `held` is the largest magnitude held on the way, where known.
    fn compare(&self, expected: &Self, tolerances: &Tolerances, held: Option<f64>) -> Result<(), Mismatch>;

    /// The magnitude in each lane, infinite where it is NaN: no comparison loses that.
    #[cfg_attr(optimized, inline(always))]
    fn magnitudes<S: Isa>(s: S, pack: &Pack<Self>) -> Pack<f64> {
        lanes::collect(s, |k| {
            let magnitude = Self::lane(pack, k).magnitude();
            if magnitude.is_nan() {
                f64::INFINITY
            } else {
                magnitude
            }
        })
    }
    /// The lanes in which [`Primal::compare`] may find that two values differ: at least those. `held` as
    /// [`Primal::magnitudes`] gives it.
    #[cfg_attr(optimized, inline(always))]
    fn may_differ<S: Isa>(
        s: S,
        found: &Pack<Self>,
        expected: &Pack<Self>,
        tolerances: &Tolerances,
        held: Option<&Pack<f64>>,
    ) -> LaneMask {
        let _ = (s, found, expected, tolerances, held);
        LaneMask::MAX
    }
}

macro_rules! scalar_primal {
    ($real:ty, $shadow:ty, $gradient:ty, |$s:ident| $get:expr, |$g:ident| $put:expr) => {
        type RealPart = $real;
        type Shadow<const N: usize> = $shadow;
        type Gradient = $gradient;

        #[cfg_attr(optimized, inline(always))]
        fn gradient($s: Self::Shadow<1>) -> Self::Gradient {
            $get
        }
        #[cfg_attr(optimized, inline(always))]
        fn cotangent($g: Self::Gradient) -> Self::Shadow<1> {
            $put
        }

        #[cfg_attr(optimized, inline(always))]
        fn zero_shadow<const N: usize>(&self) -> Self::Shadow<N> {
            Zero::zero()
        }
        #[cfg_attr(optimized, inline(always))]
        fn zero_shadow_lanes<S: Isa, const N: usize>(s: S, _: &Pack<Self>) -> Pack<Self::Shadow<N>> {
            Laned::broadcast(s, Zero::zero())
        }
        #[cfg_attr(optimized, inline(always))]
        fn zero_like(&self) -> Self {
            Zero::zero()
        }
        #[cfg_attr(optimized, inline(always))]
        fn magnitude(&self) -> f64 {
            self.modulus()
        }
        #[cfg_attr(optimized, inline(always))]
        fn compare(&self, expected: &Self, t: &Tolerances, held: Option<f64>) -> Result<(), Mismatch> {
            if self.is_close(*expected, t, held) {
                Ok(())
            } else {
                Err(Mismatch {
                    path: String::new(),
                    expected: format!("{expected:?}"),
                    found: format!("{self:?}"),
                })
            }
        }
    };
}

/// How a number adds another one.
macro_rules! adds_numbers {
    () => {
        #[cfg_attr(optimized, inline(always))]
        fn add_each(&mut self, by: &Self, negative: bool) {
            if negative {
                self.deduct(by);
            } else {
                self.accumulate(by);
            }
        }
    };
}

macro_rules! inactive {
    ($($t:ty $({$adds:ident})?)*) => {$(
        impl Primal for $t {
            inactive!(@adds $($adds)?);
            scalar_primal!($t, NoShadow<$t>, (), |_s| (), |_g| NoShadow::NEW);

            #[cfg_attr(optimized, inline(always))]
            fn may_differ<S: Isa>(
                s: S,
                found: &Pack<Self>,
                expected: &Pack<Self>,
                _: &Tolerances,
                _: Option<&Pack<f64>>,
            ) -> LaneMask {
                lanes::ne(s, found.clone(), expected.clone()).0
            }
        }
    )*};
    (@adds) => {
        adds_numbers!();
    };
    (@adds xor) => {
        #[cfg_attr(optimized, inline(always))]
        fn add_each(&mut self, by: &Self, _: bool) {
            *self ^= *by;
        }
    };
}
inactive!(bool {xor} i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

/// The questions that are asked in lanes of `f64` and `f32`.
macro_rules! float_in_lanes {
    ($t:ident) => {
        #[cfg_attr(optimized, inline(always))]
        fn magnitudes<S: Isa>(s: S, pack: &Pack<Self>) -> Pack<f64> {
            let magnitudes: Pack<f64> = lanes::abs(s, lanes::cast(s, *pack));
            let numbers = lanes::eq(s, magnitudes, magnitudes);
            lanes::select(s, numbers, magnitudes, lanes::broadcast(s, f64::INFINITY))
        }
        #[cfg_attr(optimized, inline(always))]
        fn may_differ<S: Isa>(
            s: S,
            found: &Pack<Self>,
            expected: &Pack<Self>,
            tolerances: &Tolerances,
            held: Option<&Pack<f64>>,
        ) -> LaneMask {
            let tolerance = &tolerances.$t;
            // at most what `Tolerance::limit` allows; NaN and infinities are asked one by one
            let limit = match held {
                Some(held) => lanes::mul(s, *held, lanes::broadcast(s, tolerance.relative)),
                None => lanes::broadcast(s, tolerance.absolute),
            };
            let [found, expected]: [Pack<f64>; 2] = [lanes::cast(s, *found), lanes::cast(s, *expected)];
            let apart = lanes::abs(s, lanes::sub(s, found, expected));
            let near = lanes::le(s, apart, limit);
            let finite = lanes::lt(s, limit, lanes::broadcast(s, f64::INFINITY));
            !lanes::and(s, near, finite).0
        }
    };
}

macro_rules! active {
    ($([$($generics:tt)*] $t:ty $(, $lanes:ident $float:ident)?;)*) => {$(
        impl<$($generics)*> Primal for $t {
            $($lanes!($float);)?
            adds_numbers!();
            scalar_primal!($t, Batch<$t, N>, $t, |s| s.get(), |g| Batch([g]));

            #[cfg_attr(optimized, inline(always))]
            fn as_tangent(&self) -> Result<Self::Shadow<1>, Error> {
                Ok(Batch([*self]))
            }
            fn as_tangents(values: &[Self]) -> Option<&[Self::Shadow<1>]> {
                Some(Batch::each_of(values))
            }
            #[cfg_attr(optimized, inline(always))]
            fn of_tangent(shadow: &Self::Shadow<1>, _: &Self) -> Result<Self, Error> {
                Ok(shadow.get())
            }
        }
    )*};
}
active! {
    [] f32, float_in_lanes f32;
    [] f64, float_in_lanes f64;
    [F: Fraction32] FixedI32<F>;
    [F: Fraction64] FixedI64<F>;
    [F: Fraction128] FixedI128<F>;
    [] FixedPoint;
}

macro_rules! halves {
    ($($t:ty)*) => {$(
        impl Primal for $t {
            adds_numbers!();
            scalar_primal!($t, WideBatch<$t, N>, f32, |s| s.get(), |g| WideBatch::from(g));
        }
    )*};
}
halves!(f16 bf16);

impl<T: Real> Primal for Complex<T> {
    adds_numbers!();
    scalar_primal!(
        T,
        ComplexShadow<T::Shadow<N>>,
        Complex<T::Gradient>,
        |s| Complex { re: T::gradient(s.re), im: T::gradient(s.im) },
        |g| ComplexShadow { re: T::cotangent(g.re), im: T::cotangent(g.im) }
    );

    #[cfg_attr(optimized, inline(always))]
    fn as_tangent(&self) -> Result<Self::Shadow<1>, Error> {
        Ok(ComplexShadow { re: self.re.as_tangent()?, im: self.im.as_tangent()? })
    }
    #[cfg_attr(optimized, inline(always))]
    fn of_tangent(shadow: &Self::Shadow<1>, like: &Self) -> Result<Self, Error> {
        Ok(Complex { re: T::of_tangent(&shadow.re, &like.re)?, im: T::of_tangent(&shadow.im, &like.im)? })
    }
    #[cfg_attr(optimized, inline(always))]
    fn magnitudes<S: Isa>(s: S, pack: &Pack<Self>) -> Pack<f64> {
        lanes::max(s, T::magnitudes(s, &pack.0.re), T::magnitudes(s, &pack.0.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn may_differ<S: Isa>(
        s: S,
        found: &Pack<Self>,
        expected: &Pack<Self>,
        t: &Tolerances,
        held: Option<&Pack<f64>>,
    ) -> LaneMask {
        T::may_differ(s, &found.0.re, &expected.0.re, t, held)
            | T::may_differ(s, &found.0.im, &expected.0.im, t, held)
    }
}

impl Zero for () {
    fn zero() -> Self {}
}

impl Primal for () {
    type RealPart = ();
    type Shadow<const N: usize> = NoShadow<()>;
    type Gradient = ();

    fn gradient(_: NoShadow<()>) {}
    fn cotangent((): ()) -> NoShadow<()> {
        NoShadow::NEW
    }
    fn zero_shadow<const N: usize>(&self) -> NoShadow<()> {
        NoShadow::NEW
    }
    fn zero_like(&self) -> Self {}
    fn add_each(&mut self, (): &(), _: bool) {}
    fn magnitude(&self) -> f64 {
        0.0
    }
    fn compare(&self, _: &Self, _: &Tolerances, _: Option<f64>) -> Result<(), Mismatch> {
        Ok(())
    }
}

/// Compares element by element what has the same number of elements.
fn compare_each<'a, P: Primal + 'a>(
    found: impl Iterator<Item = &'a P>,
    expected: impl Iterator<Item = &'a P>,
    path: impl Fn(usize) -> String,
    tolerances: &Tolerances,
    held: Option<f64>,
) -> Result<(), Mismatch> {
    for (k, (a, b)) in found.zip(expected).enumerate() {
        a.compare(b, tolerances, held).map_err(|m| m.within(path(k)))?;
    }
    Ok(())
}

/// The largest of the elements' magnitudes; NaN if any is.
fn largest<'a, P: Primal + 'a>(elements: impl Iterator<Item = &'a P>) -> f64 {
    elements.map(P::magnitude).fold(0.0, |a, b| if a > b || a.is_nan() { a } else { b })
}

/// The element-wise operations of [`Linear`] by iteration over the elements.
macro_rules! linear_elements {
    ($rows:ident) => {
        type Part = NoShadow<()>;
        type InLanes = $rows;

        #[inline]
        fn accumulate(&mut self, v: &Self) {
            self.iter_mut().zip(v.iter()).for_each(|(a, b)| a.accumulate(b));
        }
        #[inline]
        fn deduct(&mut self, v: &Self) {
            self.iter_mut().zip(v.iter()).for_each(|(a, b)| a.deduct(b));
        }
        #[inline]
        fn negate(&mut self) {
            self.iter_mut().for_each(Linear::negate);
        }
        #[inline]
        fn set_zero(&mut self) {
            self.iter_mut().for_each(Linear::set_zero);
        }
        #[inline]
        fn is_zero(&self) -> bool {
            self.iter().all(Linear::is_zero)
        }
    };
}

impl<T: Zero, const K: usize> Zero for [T; K] {
    #[inline]
    fn zero() -> Self {
        std::array::from_fn(|_| T::zero())
    }
}

impl<S: Linear, const K: usize> Linear for [S; K] {
    type Over = [S::Over; K];
    linear_elements!(InParts);
}

impl<P: Primal, const K: usize> Primal for [P; K] {
    type RealPart = ();
    type Shadow<const N: usize> = [P::Shadow<N>; K];
    type Gradient = [P::Gradient; K];

    fn gradient(shadow: Self::Shadow<1>) -> Self::Gradient {
        shadow.map(P::gradient)
    }
    fn cotangent(gradient: Self::Gradient) -> Self::Shadow<1> {
        gradient.map(P::cotangent)
    }

    fn as_tangents(values: &[Self]) -> Option<&[Self::Shadow<1>]> {
        let all = P::as_tangents(values.as_flattened())?;
        // SAFETY: there are as many shadows as arrays of `K` of them have
        (all.len() == values.len() * K)
            .then(|| unsafe { std::slice::from_raw_parts(all.as_ptr().cast(), values.len()) })
    }

    #[inline]
    fn zero_shadow<const N: usize>(&self) -> Self::Shadow<N> {
        std::array::from_fn(|k| self[k].zero_shadow())
    }
    #[cfg_attr(optimized, inline(always))]
    fn zero_shadow_lanes<S: Isa, const N: usize>(s: S, like: &Pack<Self>) -> Pack<Self::Shadow<N>> {
        Pack(std::array::from_fn(|k| P::zero_shadow_lanes(s, &like.0[k])))
    }
    #[inline]
    fn zero_like(&self) -> Self {
        std::array::from_fn(|k| self[k].zero_like())
    }
    const HAS_ARRAYS: bool = P::HAS_ARRAYS;
    const HAS_SUMS: bool = P::HAS_SUMS;
    fn add_each(&mut self, by: &Self, negative: bool) {
        self.iter_mut().zip(by.iter()).for_each(|(a, b)| a.add_each(b, negative));
    }
    fn magnitude(&self) -> f64 {
        largest(self.iter())
    }
    fn compare(&self, expected: &Self, t: &Tolerances, held: Option<f64>) -> Result<(), Mismatch> {
        compare_each(self.iter(), expected.iter(), |k| format!("[{k}]"), t, held)
    }
    #[cfg_attr(optimized, inline(always))]
    fn magnitudes<S: Isa>(s: S, pack: &Pack<Self>) -> Pack<f64> {
        let mut largest = lanes::broadcast(s, 0.0);
        for part in &pack.0 {
            largest = lanes::max(s, largest, P::magnitudes(s, part));
        }
        largest
    }
    #[cfg_attr(optimized, inline(always))]
    fn may_differ<S: Isa>(
        s: S,
        found: &Pack<Self>,
        expected: &Pack<Self>,
        t: &Tolerances,
        held: Option<&Pack<f64>>,
    ) -> LaneMask {
        let mut mask = 0;
        for (found, expected) in found.0.iter().zip(&expected.0) {
            mask |= P::may_differ(s, found, expected, t, held);
        }
        mask
    }
}

impl<T> Zero for Vec<T> {
    fn zero() -> Self {
        Vec::new()
    }
}

impl<S: Linear> Linear for Vec<S> {
    type Over = Vec<S::Over>;
    linear_elements!(LaneByLane);
}

impl<P: Primal> Primal for Vec<P> {
    type RealPart = ();
    type Shadow<const N: usize> = Vec<P::Shadow<N>>;
    type Gradient = Vec<P::Gradient>;

    /// The vector's memory is used again where the elements have the same layout.
    fn gradient(shadow: Self::Shadow<1>) -> Self::Gradient {
        shadow.into_iter().map(P::gradient).collect()
    }
    fn cotangent(gradient: Self::Gradient) -> Self::Shadow<1> {
        gradient.into_iter().map(P::cotangent).collect()
    }
    fn as_tangent(&self) -> Result<Self::Shadow<1>, Error> {
        self.iter().map(P::as_tangent).collect()
    }
    fn of_tangent(shadow: &Self::Shadow<1>, like: &Self) -> Result<Self, Error> {
        shadow.iter().zip(like).map(|(s, like)| P::of_tangent(s, like)).collect()
    }

    fn zero_shadow<const N: usize>(&self) -> Self::Shadow<N> {
        self.iter().map(P::zero_shadow).collect()
    }
    fn zero_like(&self) -> Self {
        self.iter().map(P::zero_like).collect()
    }
    const HAS_ARRAYS: bool = true;
    const HAS_SUMS: bool = P::HAS_SUMS;
    fn add_each(&mut self, by: &Self, negative: bool) {
        self.iter_mut().zip(by.iter()).for_each(|(a, b)| a.add_each(b, negative));
    }
    fn magnitude(&self) -> f64 {
        largest(self.iter())
    }
    fn compare(&self, expected: &Self, t: &Tolerances, held: Option<f64>) -> Result<(), Mismatch> {
        if self.len() != expected.len() {
            return Err(Mismatch::lengths(expected.len(), self.len()));
        }
        compare_each(self.iter(), expected.iter(), |k| format!("[{k}]"), t, held)
    }
}

impl<T: Zero, D: Dimension> Zero for Array<T, D> {
    fn zero() -> Self {
        Array::from_shape_simple_fn(D::zeros(D::NDIM.unwrap_or(1)), T::zero)
    }
}

impl<S: Linear, D: Dimension> Linear for Array<S, D> {
    type Over = Array<S::Over, D>;
    linear_elements!(LaneByLane);
}

impl<P: Primal, D: Dimension> Primal for Array<P, D> {
    type RealPart = ();
    type Shadow<const N: usize> = Array<P::Shadow<N>, D>;
    type Gradient = Array<P::Gradient, D>;

    fn gradient(shadow: Self::Shadow<1>) -> Self::Gradient {
        shadow.map(|s| P::gradient(s.clone()))
    }
    fn cotangent(gradient: Self::Gradient) -> Self::Shadow<1> {
        gradient.map(|g| P::cotangent(g.clone()))
    }
    fn of_tangent(shadow: &Self::Shadow<1>, like: &Self) -> Result<Self, Error> {
        let mut values = like.zero_like();
        for ((value, s), like) in values.iter_mut().zip(shadow).zip(like) {
            *value = P::of_tangent(s, like)?;
        }
        Ok(values)
    }

    fn zero_shadow<const N: usize>(&self) -> Self::Shadow<N> {
        self.map(P::zero_shadow)
    }
    fn zero_like(&self) -> Self {
        self.map(P::zero_like)
    }
    const HAS_ARRAYS: bool = true;
    const HAS_SUMS: bool = P::HAS_SUMS;
    fn add_each(&mut self, by: &Self, negative: bool) {
        self.iter_mut().zip(by.iter()).for_each(|(a, b)| a.add_each(b, negative));
    }
    fn magnitude(&self) -> f64 {
        largest(self.iter())
    }
    fn compare(&self, expected: &Self, t: &Tolerances, held: Option<f64>) -> Result<(), Mismatch> {
        if self.shape() != expected.shape() {
            return Err(Mismatch::lengths(expected.shape(), self.shape()));
        }
        compare_each(self.iter(), expected.iter(), |k| format!("{:?}", position(k, self.shape())), t, held)
    }
}

/// The index of the `k`-th element in row-major order.
fn position(mut k: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, n) in index.iter_mut().zip(shape).rev() {
        *i = k % n;
        k /= n;
    }
    index
}

macro_rules! tuples {
    ($(($($name:ident $k:tt)*))*) => {$(
        impl<$($name: Zero),*> Zero for ($($name,)*) {
            #[inline]
            fn zero() -> Self {
                ($($name::zero(),)*)
            }
        }

        impl<$($name: Linear),*> Linear for ($($name,)*) {
            type Over = ($($name::Over,)*);
            type Part = NoShadow<()>;
            type InLanes = InParts;

            #[inline]
            fn accumulate(&mut self, v: &Self) {
                $(self.$k.accumulate(&v.$k);)*
            }
            #[inline]
            fn deduct(&mut self, v: &Self) {
                $(self.$k.deduct(&v.$k);)*
            }
            #[inline]
            fn negate(&mut self) {
                $(self.$k.negate();)*
            }
            #[inline]
            fn set_zero(&mut self) {
                $(self.$k.set_zero();)*
            }
            #[inline]
            fn is_zero(&self) -> bool {
                true $(&& self.$k.is_zero())*
            }
        }

        impl<$($name: Primal),*> Primal for ($($name,)*) {
            type RealPart = ();
            type Shadow<const N: usize> = ($($name::Shadow<N>,)*);
            type Gradient = ($($name::Gradient,)*);

            fn gradient(shadow: Self::Shadow<1>) -> Self::Gradient {
                ($($name::gradient(shadow.$k),)*)
            }
            fn cotangent(gradient: Self::Gradient) -> Self::Shadow<1> {
                ($($name::cotangent(gradient.$k),)*)
            }

            #[inline]
            fn zero_shadow<const N: usize>(&self) -> Self::Shadow<N> {
                ($(self.$k.zero_shadow(),)*)
            }
            #[cfg_attr(optimized, inline(always))]
            fn zero_shadow_lanes<S: Isa, const N: usize>(s: S, like: &Pack<Self>) -> Pack<Self::Shadow<N>> {
                Pack(($($name::zero_shadow_lanes(s, &like.0.$k),)*))
            }
            #[inline]
            fn zero_like(&self) -> Self {
                ($(self.$k.zero_like(),)*)
            }
            const HAS_ARRAYS: bool = $($name::HAS_ARRAYS ||)* false;
            const HAS_SUMS: bool = $($name::HAS_SUMS &&)* true;
            fn add_each(&mut self, by: &Self, negative: bool) {
                $(self.$k.add_each(&by.$k, negative);)*
            }
            fn magnitude(&self) -> f64 {
                [$(self.$k.magnitude()),*].into_iter().fold(0.0, |a, b| if a > b || a.is_nan() { a } else { b })
            }
            fn compare(&self, e: &Self, t: &Tolerances, held: Option<f64>) -> Result<(), Mismatch> {
                $(self.$k.compare(&e.$k, t, held).map_err(|m| m.within(concat!(".", stringify!($k))))?;)*
                Ok(())
            }
            #[cfg_attr(optimized, inline(always))]
            fn magnitudes<S: Isa>(s: S, pack: &Pack<Self>) -> Pack<f64> {
                let mut largest = lanes::broadcast(s, 0.0);
                $(largest = lanes::max(s, largest, $name::magnitudes(s, &pack.0.$k));)*
                largest
            }
            #[cfg_attr(optimized, inline(always))]
            fn may_differ<S: Isa>(
                s: S,
                found: &Pack<Self>,
                expected: &Pack<Self>,
                t: &Tolerances,
                held: Option<&Pack<f64>>,
            ) -> LaneMask {
                0 $(| $name::may_differ(s, &found.0.$k, &expected.0.$k, t, held))*
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
    (A 0 B 1 C 2 D 3 E 4)
    (A 0 B 1 C 2 D 3 E 4 F 5)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7)
}
