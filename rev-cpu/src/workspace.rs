//! The memory that entry points keep from call to call.

use std::any::Any;
use std::fmt;

use ndarray::{Array, ArrayView, Dimension};
use rev_core::error::Error;
use rev_core::scalar::Primal;

use crate::fail;
use crate::gradient::{room, zero_array_like, zero_shadow_array};

/// Memory for the entry points that fill the caller's matrices, `f::jacobian_into` and others: after a first call
/// with it, another one of the same function and for arguments of the same sizes allocates nothing of its own.
///
/// One workspace serves any functions and sizes, one after the other; a change allocates again.
#[derive(Default)]
pub struct Workspace {
    kept: Option<Box<dyn Any + Send>>,
    pub(crate) products: Vec<f64>,
}

impl Workspace {
    /// An empty one.
    pub fn new() -> Workspace {
        Workspace::default()
    }

    /// The variables that were kept, if they are of this type.
    pub(crate) fn take<B: Any + Send>(&mut self) -> Option<Box<B>> {
        self.kept.take().and_then(|kept| kept.downcast().ok())
    }

    pub(crate) fn keep<B: Any + Send>(&mut self, variables: Box<B>) {
        self.kept = Some(variables);
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").field("is_used", &self.kept.is_some()).finish_non_exhaustive()
    }
}

/// An argument that variables are made like, in the memory that they have.
///
/// # Errors
///
/// Of all methods: when there is no memory.
pub trait Source {
    /// What owns its value.
    type Own;
    /// What owns a shadow of it.
    type Shadow<const N: usize>;

    /// A copy.
    fn copy_in(self, own: &mut Option<Self::Own>) -> Result<&mut Self::Own, Error>;
    /// Zeros shaped like it.
    fn zeros_in(self, own: &mut Option<Self::Own>) -> Result<&mut Self::Own, Error>;
    /// Zero shadows.
    fn shadow_in<const N: usize>(
        self,
        own: &mut Option<Self::Shadow<N>>,
    ) -> Result<&mut Self::Shadow<N>, Error>;
}

impl<T: Primal> Source for &T {
    type Own = T;
    type Shadow<const N: usize> = T::Shadow<N>;

    fn copy_in(self, own: &mut Option<T>) -> Result<&mut T, Error> {
        match own {
            Some(own) => own.clone_from(self),
            None => *own = Some(self.clone()),
        }
        own.as_mut().ok_or_else(fail::no_copy)
    }
    fn zeros_in(self, own: &mut Option<T>) -> Result<&mut T, Error> {
        Ok(own.insert(self.zeros()))
    }
    fn shadow_in<const N: usize>(self, own: &mut Option<T::Shadow<N>>) -> Result<&mut T::Shadow<N>, Error> {
        Ok(own.insert(self.zero_shadow()))
    }
}

/// The vector of what a function makes of each element, in the memory that it has.
fn refilled<'o, E, S>(
    own: &'o mut Option<Vec<S>>,
    of: &[E],
    each: impl Fn(&E) -> S,
) -> Result<&'o mut Vec<S>, Error> {
    let own = own.get_or_insert_default();
    own.clear();
    own.try_reserve_exact(of.len()).map_err(|_| fail::no_copy())?;
    own.extend(of.iter().map(each));
    Ok(own)
}

impl<E: Primal> Source for &[E] {
    type Own = Vec<E>;
    type Shadow<const N: usize> = Vec<E::Shadow<N>>;

    fn copy_in(self, own: &mut Option<Vec<E>>) -> Result<&mut Vec<E>, Error> {
        let own = own.get_or_insert_default();
        own.try_reserve_exact(self.len().saturating_sub(own.len())).map_err(|_| fail::no_copy())?;
        self.clone_into(own);
        Ok(own)
    }
    fn zeros_in(self, own: &mut Option<Vec<E>>) -> Result<&mut Vec<E>, Error> {
        refilled(own, self, Primal::zeros)
    }
    fn shadow_in<const N: usize>(
        self,
        own: &mut Option<Vec<E::Shadow<N>>>,
    ) -> Result<&mut Vec<E::Shadow<N>>, Error> {
        refilled(own, self, Primal::zero_shadow)
    }
}

/// The array of what a function makes of each element, in the memory that it has, or else a new one.
fn refilled_array<'o, E, S, D: Dimension>(
    own: &'o mut Option<Array<S, D>>,
    of: &ArrayView<'_, E, D>,
    each: impl Fn(&mut S, &E),
    new: impl FnOnce() -> Result<Array<S, D>, Error>,
) -> Result<&'o mut Array<S, D>, Error> {
    match own {
        Some(own) if own.raw_dim() == of.raw_dim() => own.zip_mut_with(of, each),
        _ => *own = Some(new()?),
    }
    own.as_mut().ok_or_else(fail::no_copy)
}

impl<E: Primal, D: Dimension> Source for ArrayView<'_, E, D> {
    type Own = Array<E, D>;
    type Shadow<const N: usize> = Array<E::Shadow<N>, D>;

    fn copy_in(self, own: &mut Option<Array<E, D>>) -> Result<&mut Array<E, D>, Error> {
        refilled_array(own, &self, E::clone_from, || {
            // an array can't be asked for without the risk that the program is ended
            drop(room::<E>(self.len())?);
            Ok(self.to_owned())
        })
    }
    fn zeros_in(self, own: &mut Option<Array<E, D>>) -> Result<&mut Array<E, D>, Error> {
        let new = || zero_array_like(self.view());
        refilled_array(own, &self, |own, e| *own = e.zeros(), new)
    }
    fn shadow_in<const N: usize>(
        self,
        own: &mut Option<Array<E::Shadow<N>, D>>,
    ) -> Result<&mut Array<E::Shadow<N>, D>, Error> {
        let new = || zero_shadow_array::<E, D, N>(self.view());
        refilled_array(own, &self, |own, e| *own = e.zero_shadow(), new)
    }
}
