//! Enums as values: what programs know of one are its parts, a value that says which variant it is and has the fields of all variants,
//! of which those of the others are zero. Its shadow is the parts' shadow.

use super::{Linear, NoShadow, Primal, Zero};
use crate::error::Error;
use crate::lanes::{Isa, LaneByLane, Laned, Pack};
use crate::structure::{Structs, Structure};
use crate::value::{Data, DynArg, PlaneReader, PlaneWriter};
pub use rev_compiler::ir::PARTS;
use rev_compiler::ir::{Class, Generic, GenericKind, ScalarType, StructDef, Type};
use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

/// An enum whose values are values of the language: under `#[derive(Reversible)]`, or an [`Option`].
#[diagnostic::on_unimplemented(
    message = "[R0606] `{Self}` isn't an enum that a program can look into",
    label = "matched here",
    note = "an enum is one under `#[derive(Clone, Debug, Reversible)]`; so is an `Option` of what has no arrays of run-time shape",
    note = "a constant of a type where the pattern doesn't say that it is no variant is compared in a guard: `n if n == S::LIMIT`"
)]
pub trait Variants: Clone + Debug + Send + Sync {
    /// Its name.
    const NAME: &'static str;
    /// Which variant it is, and the fields of all of them. Zero stands for the first variant with zeros in its fields.
    type Parts: Primal;

    /// What it is made of.
    fn parts(&self) -> Self::Parts;
    /// The value with these parts.
    fn of_parts(parts: Self::Parts) -> Self;
    /// Says of parts whose variant may be another which variant they are of: that whose fields hold numbers. Cotangents that are
    /// numbers start at zero, which is of the first variant, and add up in the fields of the one that the value is. Where the
    /// fields of several variants hold numbers, they become NaN.
    fn settle(parts: &mut Self::Parts);
    /// The value with these parts, which may be sums: of the variant whose fields hold numbers.
    fn of_sums(mut parts: Self::Parts) -> Self {
        Self::settle(&mut parts);
        Self::of_parts(parts)
    }
    /// Adds the numbers of another value to the fields, or subtracts them: cotangents, of which each is zero or of the value's
    /// variant.
    fn add_fields(&mut self, by: &Self, negative: bool);

    /// Its parts, to be changed.
    fn parts_mut(&mut self) -> PartsMut<'_, Self> {
        PartsMut { parts: self.parts(), of: self }
    }
}

/// The parts of an enum that are being changed; the enum has them when this ends.
pub struct PartsMut<'a, E: Variants> {
    of: &'a mut E,
    parts: E::Parts,
}

impl<E: Variants> Deref for PartsMut<'_, E> {
    type Target = E::Parts;
    fn deref(&self) -> &E::Parts {
        &self.parts
    }
}

impl<E: Variants> DerefMut for PartsMut<'_, E> {
    fn deref_mut(&mut self) -> &mut E::Parts {
        &mut self.parts
    }
}

impl<E: Variants> Drop for PartsMut<'_, E> {
    fn drop(&mut self) {
        *self.of = E::of_sums(self.parts.clone());
    }
}

/// Whether numbers of a value that carry derivatives aren't zero.
pub fn is_held<P: DynArg>(value: &P) -> bool {
    let mut held = false;
    value.sides(&mut |sides| held |= sides.iter().any(|v| *v != 0.0));
    held
}

/// The only variant whose fields hold numbers, or the one that is said where none does: nothing where several do.
pub fn held_variant<const V: usize>(variant: usize, held: [bool; V]) -> Option<usize> {
    let mut holding = (0..V).filter(|k| held[*k]);
    match (holding.next(), holding.next()) {
        (None, _) => Some(variant),
        (found, None) => found,
        (Some(_), Some(_)) => None,
    }
}

/// The cotangents of an enum: those of its parts.
pub struct VariantsShadow<E: Variants, const N: usize> {
    #[doc(hidden)]
    pub __parts: <E::Parts as Primal>::Shadow<N>,
}

impl<E: Variants, const N: usize> Deref for VariantsShadow<E, N> {
    type Target = <E::Parts as Primal>::Shadow<N>;
    fn deref(&self) -> &Self::Target {
        &self.__parts
    }
}

impl<E: Variants, const N: usize> Clone for VariantsShadow<E, N> {
    fn clone(&self) -> Self {
        VariantsShadow { __parts: self.__parts.clone() }
    }
}

impl<E: Variants, const N: usize> Debug for VariantsShadow<E, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.__parts.fmt(f)
    }
}

impl<E: Variants, const N: usize> PartialEq for VariantsShadow<E, N> {
    fn eq(&self, other: &Self) -> bool {
        self.__parts == other.__parts
    }
}

impl<E: Variants, const N: usize> Zero for VariantsShadow<E, N> {
    fn zero() -> Self {
        VariantsShadow { __parts: Zero::zero() }
    }
}

impl<E: Variants, const N: usize> Linear for VariantsShadow<E, N> {
    type Over = E;
    type Part = NoShadow<()>;
    type InLanes = LaneByLane;

    #[inline]
    fn accumulate(&mut self, v: &Self) {
        self.__parts.accumulate(&v.__parts);
    }
    #[inline]
    fn deduct(&mut self, v: &Self) {
        self.__parts.deduct(&v.__parts);
    }
    #[inline]
    fn negate(&mut self) {
        self.__parts.negate();
    }
    #[inline]
    fn set_zero(&mut self) {
        self.__parts.set_zero();
    }
    #[inline]
    fn is_zero(&self) -> bool {
        self.__parts.is_zero()
    }
}

impl<E: Variants, const N: usize> Laned for VariantsShadow<E, N> {
    type Lanes = Pack<<E::Parts as Primal>::Shadow<N>>;
    type Rows = LaneByLane;

    #[cfg_attr(optimized, inline(always))]
    fn broadcast<S: Isa>(s: S, v: Self) -> Pack<Self> {
        Pack(Laned::broadcast(s, v.__parts))
    }
    #[cfg_attr(optimized, inline(always))]
    fn lane(pack: &Pack<Self>, k: usize) -> Self {
        VariantsShadow { __parts: Laned::lane(&pack.0, k) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self) {
        Laned::set_lane(&mut pack.0, k, v.__parts);
    }
}

impl<E: Variants, const N: usize> DynArg for VariantsShadow<E, N> {
    fn load(&self) -> Data {
        Data::record(E::NAME, [(PARTS, self.__parts.load())])
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        self.__parts.store(data.field(PARTS)?)
    }
    fn update_sides(&mut self, f: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
        self.__parts.update_sides(f)
    }
    fn sides(&self, f: &mut dyn FnMut(&[f64])) {
        self.__parts.sides(f);
    }
    fn scalars(list: &mut Vec<ScalarType>) -> bool {
        <E::Parts as DynArg>::scalars(list)
    }
    #[inline]
    fn put(&self, to: &mut PlaneWriter<'_>) {
        self.__parts.put(to);
    }
    #[inline]
    fn take(&mut self, from: &mut PlaneReader<'_>) {
        self.__parts.take(from);
    }
}

/// What makes an enum with [`Variants`] a value: the traits of values, by its parts. Its gradient is what is said of the shadow of
/// these.
#[doc(hidden)]
#[macro_export]
macro_rules! enum_value {
    (
        [$($generics:tt)*] $E:ty, [$($clause:tt)*],
        $Gradient:ty, |$shadow:ident| $get:expr, |$gradient:ident| $put:expr
    ) => {
        impl<$($generics)*> $crate::scalar::Zero for $E $($clause)* {
            fn zero() -> Self {
                $crate::scalar::Variants::of_parts($crate::scalar::Zero::zero())
            }
        }
        impl<$($generics)*> $crate::scalar::Primal for $E $($clause)* {
            type RealPart = ();
            type Shadow<const __N: usize> = $crate::scalar::VariantsShadow<Self, __N>;
            type Gradient = $Gradient;

            #[inline]
            fn gradient($shadow: Self::Shadow<1>) -> Self::Gradient {
                let $shadow = $shadow.__parts;
                $get
            }
            #[inline]
            fn cotangent($gradient: Self::Gradient) -> Self::Shadow<1> {
                $crate::scalar::VariantsShadow { __parts: $put }
            }
            #[inline]
            fn zero_shadow<const __N: usize>(&self) -> Self::Shadow<__N> {
                const {
                    assert!(
                        !<<$E as $crate::scalar::Variants>::Parts as $crate::scalar::Primal>::HAS_ARRAYS,
                        "an array of run-time shape, or a stack, can't be part of an enum"
                    )
                };
                let parts = $crate::scalar::Variants::parts(self);
                $crate::scalar::VariantsShadow { __parts: $crate::scalar::Primal::zero_shadow(&parts) }
            }
            #[inline]
            fn zero_like(&self) -> Self {
                $crate::scalar::Zero::zero()
            }
            const HAS_SUMS: bool = false;
            fn add_each(&mut self, by: &Self, negative: bool) {
                $crate::scalar::Variants::add_fields(self, by, negative);
            }
            fn magnitude(&self) -> f64 {
                $crate::scalar::Primal::magnitude(&$crate::scalar::Variants::parts(self))
            }
            fn compare(
                &self,
                expected: &Self,
                tolerances: &$crate::Tolerances,
                held: ::core::option::Option<f64>,
            ) -> ::core::result::Result<(), $crate::scalar::Mismatch> {
                let [found, expected] = [self, expected].map($crate::scalar::Variants::parts);
                $crate::scalar::Primal::compare(&found, &expected, tolerances, held)
            }
        }
        impl<$($generics)*> $crate::lanes::Laned for $E $($clause)* {
            type Lanes = $crate::lanes::Pack<<$E as $crate::scalar::Variants>::Parts>;
            type Rows = $crate::lanes::LaneByLane;

            #[inline(always)]
            fn broadcast<__S: $crate::lanes::Isa>(s: __S, v: Self) -> $crate::lanes::Pack<Self> {
                $crate::lanes::Pack($crate::lanes::Laned::broadcast(s, $crate::scalar::Variants::parts(&v)))
            }
            #[inline(always)]
            fn lane(pack: &$crate::lanes::Pack<Self>, k: usize) -> Self {
                $crate::scalar::Variants::of_sums($crate::lanes::Laned::lane(&pack.0, k))
            }
            #[inline(always)]
            fn set_lane(pack: &mut $crate::lanes::Pack<Self>, k: usize, v: Self) {
                $crate::lanes::Laned::set_lane(&mut pack.0, k, $crate::scalar::Variants::parts(&v));
            }
        }
        impl<$($generics)*> $crate::value::DynArg for $E $($clause)* {
            fn load(&self) -> $crate::value::Data {
                let parts = $crate::value::DynArg::load(&$crate::scalar::Variants::parts(self));
                $crate::value::Data::record(
                    <$E as $crate::scalar::Variants>::NAME,
                    [($crate::scalar::PARTS, parts)],
                )
            }
            fn store(&mut self, data: &$crate::value::Data) -> ::core::result::Result<(), $crate::Error> {
                let mut parts = $crate::scalar::Variants::parts(self);
                $crate::value::DynArg::store(&mut parts, data.field($crate::scalar::PARTS)?)?;
                *self = $crate::scalar::Variants::of_parts(parts);
                ::core::result::Result::Ok(())
            }
            fn update_sides(
                &mut self,
                f: &mut dyn ::core::ops::FnMut(&mut [f64]),
            ) -> ::core::result::Result<(), $crate::Error> {
                let mut parts = $crate::scalar::Variants::parts(self);
                $crate::value::DynArg::update_sides(&mut parts, f)?;
                *self = $crate::scalar::Variants::of_parts(parts);
                ::core::result::Result::Ok(())
            }
            fn sides(&self, f: &mut dyn ::core::ops::FnMut(&[f64])) {
                $crate::value::DynArg::sides(&$crate::scalar::Variants::parts(self), f);
            }
            fn scalars(list: &mut ::std::vec::Vec<$crate::ir::ScalarType>) -> bool {
                <<$E as $crate::scalar::Variants>::Parts as $crate::value::DynArg>::scalars(list)
            }
            #[inline]
            fn put(&self, to: &mut $crate::value::PlaneWriter<'_>) {
                $crate::value::DynArg::put(&$crate::scalar::Variants::parts(self), to);
            }
            #[inline]
            fn take(&mut self, from: &mut $crate::value::PlaneReader<'_>) {
                let mut parts = $crate::scalar::Variants::parts(self);
                $crate::value::DynArg::take(&mut parts, from);
                *self = $crate::scalar::Variants::of_parts(parts);
            }
        }
    };
}

impl<T: Primal> Variants for Option<T> {
    const NAME: &'static str = "Option";
    /// Whether it is `Some`, and the value or zero.
    type Parts = (bool, T);

    #[inline]
    fn parts(&self) -> (bool, T) {
        self.as_ref().map_or_else(|| (false, T::zero()), |v| (true, v.clone()))
    }
    #[inline]
    fn of_parts((is_some, value): (bool, T)) -> Option<T> {
        is_some.then_some(value)
    }
    fn settle((is_some, value): &mut (bool, T)) {
        *is_some |= is_held(value);
    }
    fn add_fields(&mut self, by: &Self, negative: bool) {
        if let Some(by) = by {
            self.get_or_insert_with(T::zero).add_each(by, negative);
        }
    }
}

enum_value! {
    [T: Primal] Option<T>, [],
    T::Gradient, |shadow| T::gradient(shadow.1), |gradient| (NoShadow::NEW, T::cotangent(gradient))
}

impl<T: Primal> Structure for Option<T> {
    fn definition() -> StructDef {
        let generic = Generic { name: "T".into(), kind: GenericKind::Scalar(Class::Scalar) };
        let parts = Type::Tuple(vec![Type::Scalar(ScalarType::Bool), Type::Generic("T".into())]);
        StructDef { name: "Option".into(), generics: vec![generic], fields: vec![(PARTS.into(), parts)] }
    }
    fn define_fields(_: &mut Structs) {}
}
