//! What the gradient functions of emitted code share.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::BitOr;

use ndarray::{Array, ArrayView, CowArray, Dimension};
use rev_core::error::Error;
use rev_core::scalar::{Linear, Num, Primal};
use rev_core::value::{DynArg, Shapes};

use crate::fail;

/// Some of the arguments of a function `F`: `f::W | f::X`, or all of them: `f::ALL`.
pub struct Wrt<F> {
    chosen: Chosen,
    function: PhantomData<fn() -> F>,
}

/// The numbers of arguments, each a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen(u64);

impl Chosen {
    /// All arguments, those without a bit too.
    pub const ALL: Chosen = Chosen(u64::MAX);

    /// Whether an argument is among them.
    pub fn has(self, number: u32) -> bool {
        self == Chosen::ALL || 1u64.checked_shl(number).is_some_and(|bit| self.0 & bit != 0)
    }
}

/// What an argument is called, and why there is no derivative by it.
pub type Underivable = (u32, &'static str, &'static str);

impl<F> Wrt<F> {
    /// All arguments by which there is a derivative.
    pub const ALL: Self = Wrt { chosen: Chosen::ALL, function: PhantomData };

    /// The argument with a number below 63.
    pub const fn argument(number: u32) -> Self {
        Wrt { chosen: Chosen(1 << number), function: PhantomData }
    }

    /// Whether an argument is among them.
    pub fn has(self, number: u32) -> bool {
        self.chosen.has(number)
    }

    /// Which they are.
    pub fn chosen(self) -> Chosen {
        self.chosen
    }

    /// These columns of a Jacobian in forward mode, whatever its sizes: each sweep gives columns.
    pub fn forward(self) -> Columns<F> {
        Columns { wrt: self, mode: Mode::Forward }
    }

    /// These columns of a Jacobian in reverse mode, whatever its sizes: each sweep gives rows.
    pub fn reverse(self) -> Columns<F> {
        Columns { wrt: self, mode: Mode::Reverse }
    }

    /// A direction along one argument, shaped like it: `f::X.along(&v)`.
    pub fn along<V: DynArg>(self, direction: &V) -> Along<'_, F> {
        Along { wrt: self, direction }
    }

    /// That none of these arguments is among the chosen ones.
    ///
    /// # Errors
    ///
    /// Names the first that is, and says why there is no derivative by it.
    pub fn refuse(self, arguments: &[Underivable]) -> Result<(), Error> {
        let wrong = arguments.iter().find(|(k, ..)| self.chosen != Chosen::ALL && self.has(*k));
        wrong.map_or(Ok(()), |(_, name, why)| Err(fail::no_derivative(name, why)))
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
        Wrt { chosen: Chosen(self.chosen.0 | other.chosen.0), function: PhantomData }
    }
}

/// How a Jacobian is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// In forward mode, or in reverse mode where it has fewer rows than columns.
    #[default]
    Shorter,
    /// In forward mode: each sweep gives columns.
    Forward,
    /// In reverse mode: each sweep gives rows.
    Reverse,
}

/// Columns of a Jacobian of a function `F`, and how they are computed: `f::X`, `f::X.forward()`, `f::ALL.reverse()`.
pub struct Columns<F> {
    pub(crate) wrt: Wrt<F>,
    pub(crate) mode: Mode,
}

impl<F> From<Wrt<F>> for Columns<F> {
    fn from(wrt: Wrt<F>) -> Self {
        Columns { wrt, mode: Mode::Shorter }
    }
}

/// A direction along one argument of a function `F`: [`Wrt::along`].
pub struct Along<'a, F> {
    wrt: Wrt<F>,
    direction: &'a dyn DynArg,
}

/// An argument: its number, the name of its tangents, and zeros for these; or why it has no derivative.
pub type Tangent<'a> = (u32, &'static str, Result<&'a mut dyn DynArg, &'static str>);

/// Puts directions along some arguments into their tangents, which are zero.
///
/// # Errors
///
/// A direction by an argument without a derivative, of another shape than the argument, by several arguments at once, or
/// a second one by the same; each with the name of the tangent.
pub fn directions<F>(given: &[Along<'_, F>], tangents: &mut [Tangent]) -> Result<(), Error> {
    let mut all = Chosen(0);
    for along in given {
        let bits = along.wrt.chosen.0;
        for (k, name, tangent) in tangents.iter_mut().filter(|(k, ..)| along.wrt.has(*k)) {
            let tangent = tangent.as_mut().map_err(|why| fail::no_derivative(name, why))?;
            if bits.count_ones() != 1 {
                return Err(fail::directions(name, "one argument for each direction", "several"));
            }
            if all.has(*k) {
                return Err(fail::directions(name, "one direction", "two"));
            }
            put_direction(name, along.direction, &mut **tangent)?;
        }
        all.0 |= bits;
    }
    Ok(())
}

fn put_direction(name: &'static str, direction: &dyn DynArg, tangent: &mut dyn DynArg) -> Result<(), Error> {
    if let (Some(found), Some(expected)) = (direction.outline(), tangent.outline()) {
        fail::same_shape(name, &expected.shape, &found.shape)?;
    }
    // an array may stand for a vector
    fail::alike(name, &Shapes::of(tangent, true).inside(), &Shapes::of(direction, true).inside())?;
    let (mut numbers, mut width) = (Vec::new(), 0);
    direction.sides(&mut |sides| {
        width = sides.len();
        numbers.extend_from_slice(sides);
    });
    let (mut left, mut expected) = (numbers.chunks(width.max(1)), [0; 2]);
    tangent.update_sides(&mut |sides| {
        expected = [expected[0] + 1, sides.len()];
        if let Some(own) = left.next().filter(|own| own.len() == sides.len()) {
            sides.copy_from_slice(own);
        }
    })?;
    match (expected, numbers.len()) {
        ([0, _], 0) => return Ok(()),
        _ => fail::same_shape(name, &expected, &[numbers.len() / width.max(1), width])?,
    }
    // what another variant of an enum holds isn't taken
    let (mut given, mut lost) = (numbers.chunks(width), false);
    tangent.sides(&mut |sides| lost |= given.next() != Some(sides) && sides.iter().all(|v| *v == 0.0));
    match lost {
        true => Err(fail::directions(name, "an enum of the argument's variant", "another")),
        false => Ok(()),
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
    zeros.extend(of.iter().map(Primal::zeros));
    Ok(zeros)
}

/// Zeros like the elements of an array, in its order in memory.
///
/// # Errors
///
/// When there is no memory for them.
pub fn zero_array_like<E: Primal, D: Dimension>(of: ArrayView<'_, E, D>) -> Result<Array<E, D>, Error> {
    drop(room::<E>(of.len())?);
    Ok(of.map(Primal::zeros))
}

/// The elements of a slice as tangents: where they lie, if they do so in the same way.
///
/// # Errors
///
/// When there is no memory for them.
pub fn tangents<E: Primal>(of: &[E]) -> Result<Cow<'_, [E::Shadow<1>]>, Error> {
    if let Some(shadows) = E::as_tangents(of) {
        return Ok(Cow::Borrowed(shadows));
    }
    let mut shadows = room(of.len())?;
    for element in of {
        shadows.push(element.as_tangent()?);
    }
    Ok(Cow::Owned(shadows))
}

/// The elements of an array as tangents, likewise.
///
/// # Errors
///
/// When there is no memory for them.
pub fn tangent_array<E: Primal, D: Dimension>(
    of: ArrayView<'_, E, D>,
) -> Result<CowArray<'_, E::Shadow<1>, D>, Error> {
    let here = of.to_slice().and_then(E::as_tangents);
    if let Some(Ok(view)) = here.map(|shadows| ArrayView::from_shape(of.raw_dim(), shadows)) {
        return Ok(CowArray::from(view));
    }
    drop(room::<E::Shadow<1>>(of.len())?);
    let mut failed = None;
    let shadows = of.map(|element| {
        element.as_tangent().unwrap_or_else(|e| {
            failed = Some(e);
            element.zero_shadow()
        })
    });
    failed.map_or(Ok(CowArray::from(shadows)), Err)
}

pub(crate) fn room<T>(count: usize) -> Result<Vec<T>, Error> {
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

    /// Numbers are tangents where they lie; a broadcast or turned view is copied in its order.
    #[test]
    fn tangents_of_numbers_are_not_copied() {
        let x = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let of = |shadows: &[[rev_core::scalar::Batch<f64, 1>; 2]]| -> Vec<f64> {
            shadows.iter().flatten().map(|s| s.0[0]).collect()
        };
        let found = tangents(&x).unwrap();
        assert!(matches!(&found, Cow::Borrowed(_)) && of(&found) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(tangents::<[f64; 0]>(&[[]; 3]).unwrap().len() == 3);
        let halves = tangents(&[rev_core::scalar::f16::ONE]).unwrap();
        assert!(matches!(&halves, Cow::Owned(_)) && halves[0].0 == [1.0]);
        let table = ndarray::arr2(&[[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        assert!(tangent_array(table.view()).unwrap().is_view());
        let turned = tangent_array(table.t()).unwrap();
        assert!(!turned.is_view() && turned.dim() == (2, 3) && turned[[1, 2]].0 == [6.0]);
        let row = ndarray::arr1(&[1.0f64, 2.0]);
        let wide = tangent_array(row.broadcast((3, 2)).unwrap()).unwrap();
        assert!(!wide.is_view() && wide.dim() == (3, 2) && wide[[2, 1]].0 == [2.0]);
    }
}
