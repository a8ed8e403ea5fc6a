//! The run-time checks of reversibility: what emitted code calls where checks are on.

use rev_core::error::{Cause, Error};
use rev_core::scalar::{rt, Linear, Mismatch, Primal, Scalar};
use rev_core::tolerance::{Options, Tolerance, Tolerances};

use crate::context::Context;
use crate::view::Whole;

/// The largest magnitude that an ancilla has held, against which rounding is measured when it is
/// released.
///
/// Kept as the bits of a number that isn't negative: these are in the order of the numbers, with
/// NaN above infinity, so that the largest is found without branches, and a NaN stays.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    bits: u64,
    known: bool,
}

impl Held {
    /// Starts with the first value.
    #[cfg_attr(optimized, inline(always))]
    pub fn of<P: Primal>(first: &P) -> Held {
        let mut held = Held { bits: 0, known: true };
        held.see(first);
        held
    }

    /// A value that the ancilla, or a part of it, now has.
    #[cfg_attr(optimized, inline(always))]
    pub fn see<P: Primal>(&mut self, value: &P) {
        self.bits = self.bits.max(value.magnitude().abs().to_bits());
    }

    /// The ancilla was changed in ways that weren't seen.
    #[cfg_attr(optimized, inline(always))]
    pub fn lose(&mut self) {
        self.known = false;
    }

    /// The largest magnitude, `None` where it isn't known.
    #[cfg_attr(optimized, inline(always))]
    pub fn largest(&self) -> Option<f64> {
        self.known.then(|| f64::from_bits(self.bits))
    }
}

/// Whether a value may stand for another at the release of an ancilla.
///
/// # Errors
///
/// Where they differ by more than the tolerance.
#[inline]
pub fn compare<C, P: Primal>(
    cx: Context<'_, C>,
    found: &P,
    expected: &P,
    held: Option<f64>,
) -> Result<(), Mismatch> {
    found.compare(expected, cx.tolerances(), held)
}

/// Whether the compiler's statements can bring an ancilla back: no number in it is NaN, nor infinite where `finite` says
/// that it was only added to.
#[cfg_attr(optimized, inline(always))]
pub fn is_astray<P: Primal>(found: &P, finite: bool) -> bool {
    let magnitude = found.magnitude();
    magnitude.is_nan() || finite && magnitude.is_infinite()
}

/// Where in a value such a number is.
#[cold]
#[inline(never)]
pub fn astray<P: Primal>(found: &P, first: &P) -> Mismatch {
    // a NaN isn't itself, and nothing but an infinity is infinitely far from what is finite
    let any = Tolerance { absolute: f64::INFINITY, relative: 0.0 };
    let wide = Tolerances { f16: any, bf16: any, f32: any, f64: any };
    let itself = found.compare(found, &wide, None).err();
    let other = found.compare(first, &wide, None).err();
    match (itself, other) {
        (Some(itself), Some(other)) if itself.path == other.path => other,
        (Some(itself), _) => Mismatch { expected: "a number".into(), ..itself },
        (None, Some(other)) => other,
        (None, None) => {
            Mismatch { path: String::new(), expected: "a number".into(), found: format!("{found:?}") }
        }
    }
}

/// Whether a place is zero, so that a popped value may be moved there.
///
/// # Errors
///
/// Where it isn't.
#[inline]
pub fn vacant<C, P: Primal>(cx: Context<'_, C>, found: &P) -> Result<(), Mismatch> {
    found.compare(&found.zero_like(), cx.tolerances(), None)
}

/// Moves a value out and leaves the zero of its shape: what a push does to its place.
#[cfg_attr(optimized, inline(always))]
pub fn take_value<P: Primal>(place: &mut P) -> P {
    let zero = place.zero_like();
    std::mem::replace(place, zero)
}

/// The same of a shadow.
#[cfg_attr(optimized, inline(always))]
pub fn take_shadow<S: Linear>(place: &mut S) -> S {
    let shadow = place.clone();
    place.set_zero();
    shadow
}

/// Whether two indices are the same element.
#[cfg_attr(optimized, inline(always))]
pub fn same_index<const R: usize>(a: [usize; R], b: [usize; R]) -> bool {
    a == b
}

/// Whether an element is in a range.
#[cfg_attr(optimized, inline(always))]
pub fn in_range([i]: [usize; 1], (from, to): (usize, usize)) -> bool {
    from <= i && i < to
}

/// Whether two ranges have an element in common.
#[cfg_attr(optimized, inline(always))]
pub fn ranges_meet((a, b): (usize, usize), (c, d): (usize, usize)) -> bool {
    a.max(c) < b.min(d)
}

/// A value that an index array holds twice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twice {
    /// The value.
    pub value: i128,
    /// Where it stands first.
    pub first: usize,
    /// Where it stands again.
    pub second: usize,
}

/// Whether an index array that is declared injective holds no value twice.
///
/// # Errors
///
/// The first value that stands twice; `None` when there is no memory to find out.
#[inline(never)]
pub fn injective<'a, H: Whole<'a>>(array: H) -> Result<(), Option<Twice>>
where
    H::Element: Scalar,
{
    let mut places: Vec<(i128, usize)> = Vec::new();
    places.try_reserve_exact(array.count()).map_err(|_| None)?;
    places.extend(array.elements_in_order().enumerate().map(|(k, v)| (number(*v), k)));
    places.sort_unstable();
    let twice = places.windows(2).filter(|w| w[0].0 == w[1].0).min_by_key(|w| w[1].1);
    match twice {
        Some(w) => Err(Some(Twice { value: w[0].0, first: w[0].1, second: w[1].1 })),
        None => Ok(()),
    }
}

/// That an argument which decides on the way back how often a loop runs, or which branch is taken, has come back as it was.
///
/// # Errors
///
/// Where checks are on and it hasn't.
pub fn came_back<P: Primal>(options: &Options, name: &str, found: &P, given: &P) -> Result<(), Error> {
    if !options.checks {
        return Ok(());
    }
    found.compare(given, &options.tolerances, None).map_err(|Mismatch { path, expected, found }| {
        Error::new(Cause::NotBack { place: format!("{name}{path}"), expected, found })
    })
}

/// A loop variable's value for messages.
#[cfg_attr(optimized, inline(always))]
pub fn number<I: Scalar>(i: I) -> i128 {
    rt::cast(i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert!(ranges_meet((0, 3), (2, 5)) && !ranges_meet((0, 2), (2, 5)) && !ranges_meet((1, 1), (0, 5)));
        assert!(in_range([2], (2, 3)) && !in_range([3], (2, 3)));
    }

    #[test]
    fn a_value_that_stands_twice_is_found() {
        let twice = |values: &[u32]| injective(crate::view::Slice::shared(values));
        assert_eq!(twice(&[3, 1, 0]), Ok(()));
        assert_eq!(twice(&[3, 1, 0, 1, 3]), Err(Some(Twice { value: 1, first: 1, second: 3 })));
    }

    #[test]
    fn a_nan_is_held_for_ever() {
        let mut held = Held::of(&0.0f64);
        held.see(&f64::NAN);
        held.see(&1.0f64);
        assert!(held.largest().unwrap().is_nan());
    }
}
