//! What the gradient functions of emitted code share.

use std::marker::PhantomData;
use std::ops::BitOr;

use ndarray::{Array, ArrayView, Dimension};
use rev_core::error::Error;
use rev_core::scalar::{Linear, Num, Primal};

use crate::fail;

/// Some of the arguments of a function `F`: `f::W | f::X`.
pub struct Wrt<F> {
    bits: u64,
    function: PhantomData<fn() -> F>,
}

impl<F> Wrt<F> {
    /// The argument with a number.
    pub const fn argument(number: u32) -> Self {
        Wrt { bits: 1 << (number % u64::BITS), function: PhantomData }
    }

    /// Whether an argument is among them.
    pub fn has(&self, number: u32) -> bool {
        self.bits & Self::argument(number).bits != 0
    }
}

impl<F> Clone for Wrt<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Wrt<F> {}

impl<F> BitOr for Wrt<F> {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Wrt { bits: self.bits | other.bits, function: PhantomData }
    }
}

/// Zero shadows of the elements of a slice.
///
/// # Errors
///
/// When there is no memory for them.
pub fn zero_shadows<E: Primal, const N: usize>(of: &[E]) -> Result<Vec<E::Shadow<N>>, Error> {
    let mut shadows = room(of.len())?;
    shadows.extend(of.iter().map(Primal::zero_shadow));
    Ok(shadows)
}

/// Zero shadows of the elements of an array, in its order in memory.
///
/// # Errors
///
/// When there is no memory for them.
pub fn zero_shadow_array<E: Primal, D: Dimension, const N: usize>(
    of: ArrayView<'_, E, D>,
) -> Result<Array<E::Shadow<N>, D>, Error> {
    // an array can't be asked for without the risk that the program is ended
    drop(room::<E::Shadow<N>>(of.len())?);
    Ok(of.map(Primal::zero_shadow))
}

/// Zeros like the elements of a slice.
///
/// # Errors
///
/// When there is no memory for them.
pub fn zeros_like<E: Primal>(of: &[E]) -> Result<Vec<E>, Error> {
    let mut zeros = room(of.len())?;
    zeros.extend(of.iter().map(Primal::zero_like));
    Ok(zeros)
}

/// Zeros like the elements of an array, in its order in memory.
///
/// # Errors
///
/// When there is no memory for them.
pub fn zero_array_like<E: Primal, D: Dimension>(of: ArrayView<'_, E, D>) -> Result<Array<E, D>, Error> {
    drop(room::<E>(of.len())?);
    Ok(of.map(Primal::zero_like))
}

/// The elements of a slice as tangents.
///
/// # Errors
///
/// When there is no memory for them.
pub fn tangents<E: Primal>(of: &[E]) -> Result<Vec<E::Shadow<1>>, Error> {
    let mut shadows = room(of.len())?;
    for element in of {
        shadows.push(element.as_tangent()?);
    }
    Ok(shadows)
}

/// The elements of an array as tangents.
///
/// # Errors
///
/// When there is no memory for them.
pub fn tangent_array<E: Primal, D: Dimension>(
    of: ArrayView<'_, E, D>,
) -> Result<Array<E::Shadow<1>, D>, Error> {
    drop(room::<E::Shadow<1>>(of.len())?);
    let mut failed = None;
    let shadows = of.map(|element| {
        element.as_tangent().unwrap_or_else(|e| {
            failed = Some(e);
            element.zero_shadow()
        })
    });
    failed.map_or(Ok(shadows), Err)
}

fn room<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| fail::no_copy())?;
    Ok(room)
}

/// Sets one cotangent of a scalar's shadow to 1.
pub fn seed<S: Linear>(shadow: &mut S, lane: usize) {
    shadow.set_component(lane, Num::Int(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadows_of_more_elements_than_memory() {
        assert_eq!(zero_shadows::<_, 2>(&[1.0, 2.0]).unwrap().len(), 2);
        let one = ndarray::arr1(&[1.0]);
        for count in [isize::MAX as usize, isize::MAX as usize / 8, isize::MAX as usize / 128] {
            let all = one.broadcast(count).unwrap();
            assert!(zero_shadow_array::<_, _, 1>(all).is_err(), "{count}");
        }
        let table = ndarray::Array2::from_elem((2, 3), 1.0).reversed_axes();
        let shadows = zero_shadow_array::<_, _, 1>(table.view()).unwrap();
        assert_eq!((shadows.dim(), shadows.strides()), (table.dim(), table.strides()));
    }
}
