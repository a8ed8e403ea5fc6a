//! Reversible functions as arguments of reversible functions.
//!
//! Every `#[reversible] fn f` has a type `f {}` without fields, and that type implements
//! [`Reversible`] for the list of `f`'s parameters. A function that takes one is written with a
//! bound `F: Reversible<(&mut T, &T)>`, calls it as `f(..)` and `f.inverse(..)`, and can be inverted
//! and differentiated like any other.

use std::marker::PhantomData;

use rev_core::error::Error;
use rev_core::scalar::{NoShadow, Primal};

use crate::collect::Collector;
use crate::context::{Context, Mode, Width};
use crate::view::{Dynamic, Exclusive, Shared, Slice, Strided};

/// A way to pass a parameter, as a type: [`Read`], [`Write`] or [`Accumulate`] of a kind of value.
pub trait Param {
    /// What is passed.
    type Arg<'a>
    where
        Self: 'a;
    /// Its shadow in an adjoint.
    type Shadow<'a, const N: usize>
    where
        Self: 'a;
    /// Its shadow where that holds tangents.
    type Tangent<'a, const N: usize>
    where
        Self: 'a;
    /// Its cotangent as a number of its own type; of a function the function itself.
    type Cotangent<'a>
    where
        Self: 'a;
    /// The tangents of that.
    type CotangentTangent<'a, const N: usize>
    where
        Self: 'a;
}

/// A parameter that is read.
pub struct Read<K>(PhantomData<K>);

/// A parameter that is only accumulated into, whose shadow is only read: the cotangent of one that is read.
pub struct Accumulate<K>(PhantomData<K>);

/// A parameter that is written.
pub struct Write<K>(PhantomData<K>);

/// Scalars, tuples, fixed-size arrays, structs, stacks.
pub struct Value<P>(PhantomData<P>);

/// Slices.
pub struct Elements1<E>(PhantomData<E>);

/// Arrays of `R` dimensions.
pub struct ElementsN<E, const R: usize>(PhantomData<E>);

/// Arrays of any number of dimensions.
pub struct ElementsD<E>(PhantomData<E>);

/// Reversible functions.
pub struct Function<F>(PhantomData<F>);

macro_rules! param {
    ([$($generics:tt)*] $kind:ty, $read:ty, $write:ty, $shadow:ty, $shared:ty) => {
        impl<$($generics)*> Param for Read<$kind> {
            type Arg<'a> = $read where Self: 'a;
            type Shadow<'a, const N: usize> = $shadow where Self: 'a;
            type Tangent<'a, const N: usize> = $shared where Self: 'a;
            type Cotangent<'a> = $write where Self: 'a;
            type CotangentTangent<'a, const N: usize> = $shadow where Self: 'a;
        }
        impl<$($generics)*> Param for Write<$kind> {
            type Arg<'a> = $write where Self: 'a;
            type Shadow<'a, const N: usize> = $shadow where Self: 'a;
            type Tangent<'a, const N: usize> = $shadow where Self: 'a;
            type Cotangent<'a> = $write where Self: 'a;
            type CotangentTangent<'a, const N: usize> = $shadow where Self: 'a;
        }
        impl<$($generics)*> Param for Accumulate<$kind> {
            type Arg<'a> = $write where Self: 'a;
            type Shadow<'a, const N: usize> = $shared where Self: 'a;
            type Tangent<'a, const N: usize> = $shadow where Self: 'a;
            type Cotangent<'a> = $read where Self: 'a;
            type CotangentTangent<'a, const N: usize> = $shared where Self: 'a;
        }
    };
}
param!([P: Primal] Value<P>, &'a P, &'a mut P, &'a mut P::Shadow<N>, &'a P::Shadow<N>);
param!([E: Primal] Elements1<E>, Slice<'a, E, Shared>, Slice<'a, E, Exclusive>, Slice<'a, E::Shadow<N>, Exclusive>, Slice<'a, E::Shadow<N>, Shared>);
param!([E: Primal, const R: usize] ElementsN<E, R>, Strided<'a, E, R, Shared>, Strided<'a, E, R, Exclusive>, Strided<'a, E::Shadow<N>, R, Exclusive>, Strided<'a, E::Shadow<N>, R, Shared>);
param!([E: Primal] ElementsD<E>, Dynamic<'a, E, Shared>, Dynamic<'a, E, Exclusive>, Dynamic<'a, E::Shadow<N>, Exclusive>, Dynamic<'a, E::Shadow<N>, Shared>);

impl<F> Param for Read<Function<F>> {
    type Arg<'a>
        = F
    where
        Self: 'a;
    type Shadow<'a, const N: usize>
        = &'a mut NoShadow<()>
    where
        Self: 'a;
    type Tangent<'a, const N: usize>
        = &'a NoShadow<()>
    where
        Self: 'a;
    type Cotangent<'a>
        = F
    where
        Self: 'a;
    type CotangentTangent<'a, const N: usize>
        = &'a NoShadow<()>
    where
        Self: 'a;
}

/// A list of parameters.
pub trait Params {
    /// The arguments, as a tuple.
    type Args<'a>
    where
        Self: 'a;
    /// Their shadows, as a tuple.
    type Shadows<'a, const N: usize>
    where
        Self: 'a;
    /// Their tangents, as a tuple.
    type Tangents<'a, const N: usize>
    where
        Self: 'a;
    /// Their cotangents as numbers, as a tuple.
    type Cotangents<'a>
    where
        Self: 'a;
    /// The tangents of these, as a tuple.
    type CotangentTangents<'a, const N: usize>
    where
        Self: 'a;
}

macro_rules! params {
    ($(($($name:ident)*))*) => {$(
        impl<$($name: Param),*> Params for ($($name,)*) {
            type Args<'a> = ($($name::Arg<'a>,)*) where Self: 'a;
            type Shadows<'a, const N: usize> = ($($name::Shadow<'a, N>,)*) where Self: 'a;
            type Tangents<'a, const N: usize> = ($($name::Tangent<'a, N>,)*) where Self: 'a;
            type Cotangents<'a> = ($($name::Cotangent<'a>,)*) where Self: 'a;
            type CotangentTangents<'a, const N: usize> = ($($name::CotangentTangent<'a, N>,)*) where Self: 'a;
        }
    )*};
}
params! {
    ()
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
    (A B C D E F G H I)
    (A B C D E F G H I J)
    (A B C D E F G H I J K)
    (A B C D E F G H I J K L)
    (A B C D E F G H I J K L M)
    (A B C D E F G H I J K L M O)
    (A B C D E F G H I J K L M O P)
    (A B C D E F G H I J K L M O P Q)
    (A B C D E F G H I J K L M O P Q R)
    (A B C D E F G H I J K L M O P Q R S)
    (A B C D E F G H I J K L M O P Q R S T)
    (A B C D E F G H I J K L M O P Q R S T U)
    (A B C D E F G H I J K L M O P Q R S T U V)
    (A B C D E F G H I J K L M O P Q R S T U V W)
    (A B C D E F G H I J K L M O P Q R S T U V W X)
    (A B C D E F G H I J K L M O P Q R S T U V W X Y)
}

/// A reversible function with a list of parameters. In the source of a reversible function the list
/// is written with the parameters' own types: `F: Reversible<(&mut T, &[T], usize)>`.
#[diagnostic::on_unimplemented(
    message = "[R0412] `{Self}` isn't a reversible function with the parameters that are asked for",
    label = "passed here",
    note = "what is passed is a function under `#[reversible]`: `f {{}}` from plain Rust, `f` in a reversible function; a closure has no inverse"
)]
pub trait Reversible<P: Params>: Copy + Send + Sync + 'static {
    /// Its unique name.
    fn name(self) -> &'static str;

    /// Adds its IR, with all that it calls.
    fn collect(self, collector: &mut Collector);

    /// Runs it.
    ///
    /// # Errors
    ///
    /// A check that failed, an index out of range, or what else stopped it.
    fn forward<C: Mode>(self, cx: Context<'_, C>, args: P::Args<'_>) -> Result<(), Error>;

    /// Runs its inverse.
    ///
    /// # Errors
    ///
    /// As [`forward`](Reversible::forward).
    fn inverse<C: Mode>(self, cx: Context<'_, C>, args: P::Args<'_>) -> Result<(), Error>;

    /// Runs its adjoint.
    ///
    /// # Errors
    ///
    /// As [`forward`](Reversible::forward).
    fn adjoint<C: Mode, const N: usize>(
        self,
        cx: Context<'_, C>,
        width: Width<N>,
        args: P::Args<'_>,
        shadows: P::Shadows<'_, N>,
    ) -> Result<(), Error>;

    /// Runs the adjoint of its inverse.
    ///
    /// # Errors
    ///
    /// As [`forward`](Reversible::forward); a function that isn't compiled with it (`#[reversible(inverse_adjoint)]`).
    fn adjoint_inverse<C: Mode, const N: usize>(
        self,
        cx: Context<'_, C>,
        width: Width<N>,
        args: P::Args<'_>,
        shadows: P::Shadows<'_, N>,
    ) -> Result<(), Error> {
        let _ = (cx, width, args, shadows);
        Err(crate::fail::no_inverse_adjoint(self.name()))
    }

    /// Runs it with tangents side by side.
    ///
    /// # Errors
    ///
    /// As [`forward`](Reversible::forward); a function that isn't compiled with tangents.
    fn tangents<C: Mode, const N: usize>(
        self,
        cx: Context<'_, C>,
        width: Width<N>,
        args: P::Args<'_>,
        tangents: P::Tangents<'_, N>,
    ) -> Result<(), Error> {
        let _ = (cx, width, args, tangents);
        Err(crate::fail::no_tangents(self.name()))
    }

    /// Runs its inverse with tangents side by side.
    ///
    /// # Errors
    ///
    /// As [`tangents`](Reversible::tangents).
    fn tangents_inverse<C: Mode, const N: usize>(
        self,
        cx: Context<'_, C>,
        width: Width<N>,
        args: P::Args<'_>,
        tangents: P::Tangents<'_, N>,
    ) -> Result<(), Error> {
        let _ = (cx, width, args, tangents);
        Err(crate::fail::no_tangents(self.name()))
    }

    /// Runs its adjoint on numbers with tangents side by side.
    ///
    /// # Errors
    ///
    /// As [`tangents`](Reversible::tangents).
    fn adjoint_tangents<C: Mode, const N: usize>(
        self,
        cx: Context<'_, C>,
        width: Width<N>,
        args: P::Args<'_>,
        tangents: P::Tangents<'_, N>,
        cotangents: P::Cotangents<'_>,
        cotangent_tangents: P::CotangentTangents<'_, N>,
    ) -> Result<(), Error> {
        let _ = (cx, width, args, tangents, cotangents, cotangent_tangents);
        Err(crate::fail::no_tangents(self.name()))
    }

    /// Runs the adjoint of its inverse with tangents side by side.
    ///
    /// # Errors
    ///
    /// As [`tangents`](Reversible::tangents).
    fn adjoint_tangents_inverse<C: Mode, const N: usize>(
        self,
        cx: Context<'_, C>,
        width: Width<N>,
        args: P::Args<'_>,
        tangents: P::Tangents<'_, N>,
        cotangents: P::Cotangents<'_>,
        cotangent_tangents: P::CotangentTangents<'_, N>,
    ) -> Result<(), Error> {
        let _ = (cx, width, args, tangents, cotangents, cotangent_tangents);
        Err(crate::fail::no_tangents(self.name()))
    }
}
