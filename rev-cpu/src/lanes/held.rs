//! What an ancilla is asked at its release, of which each lane has its own: asked of vectors, and where these can't say
//! that all is well, of one lane after the other as where there are no lanes.

use rev_core::lanes::{self, Isa, LaneMask, Laned, Mask, Pack, WIDTH};
use rev_core::scalar::{Mismatch, Primal};

use crate::arrays::{place, shape_of};
use crate::context::Context;
use crate::view::Whole;

/// The largest magnitudes that an ancilla has held in each lane start with those of its first value.
#[cfg_attr(optimized, inline(always))]
pub fn hold<S: Isa, P: Primal>(s: S, first: &Pack<P>) -> Pack<f64> {
    P::magnitudes(s, first)
}

/// The same of an array, whose elements all start with one value.
#[cfg_attr(optimized, inline(always))]
pub fn hold_in<'a, S: Isa, E: Laned + Primal + 'a, H>(s: S, _: H, first: &Pack<E>) -> Pack<f64>
where
    H: Whole<'a, Element = Pack<E>>,
{
    hold(s, first)
}

/// A value that the ancilla, or a part of it, now has in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn see<S: Isa, P: Primal>(s: S, held: &mut Pack<f64>, value: &Pack<P>) {
    *held = lanes::max(s, *held, P::magnitudes(s, value));
}

/// The first active lane in which a value may not stand for another, and why.
#[cfg_attr(optimized, inline(always))]
pub fn unrestored<S: Isa, C, P: Primal>(
    s: S,
    m: impl Mask,
    cx: Context<'_, C>,
    (found, expected): (&Pack<P>, &Pack<P>),
    held: Option<&Pack<f64>>,
) -> Option<(usize, Mismatch)> {
    let asked = P::may_differ(s, found, expected, cx.tolerances(), held) & m.bits(s);
    if asked == 0 {
        return None;
    }
    // of copies: one lane taken from a pack keeps it from being held in registers
    let (found, expected, held) = (found.clone(), expected.clone(), held.copied());
    first_of(asked, |k| {
        let held = held.as_ref().map(|held| lanes::get(held, k));
        lanes::get(&found, k).compare(&lanes::get(&expected, k), cx.tolerances(), held)
    })
}

/// The same of an array, whose elements all have to stand for one value.
#[cfg_attr(optimized, inline(always))]
pub fn unrestored_in<'a, S: Isa, C, E: Laned + Primal + 'a, H>(
    s: S,
    m: impl Mask,
    cx: Context<'_, C>,
    (array, expected): (H, &Pack<E>),
    held: Option<&Pack<f64>>,
) -> Option<(usize, Mismatch)>
where
    H: Whole<'a, Element = Pack<E>>,
{
    let mut asked = 0;
    match array.contiguous() {
        Some(all) => {
            for found in all {
                asked |= E::may_differ(s, found, expected, cx.tolerances(), held);
            }
        }
        None => {
            for found in array.elements_in_order() {
                asked |= E::may_differ(s, found, expected, cx.tolerances(), held);
            }
        }
    }
    let asked = asked & m.bits(s);
    if asked == 0 {
        return None;
    }
    let (expected, held) = (expected.clone(), held.copied());
    first_of(asked, |lane| {
        let held = held.as_ref().map(|held| lanes::get(held, lane));
        let expected = lanes::get(&expected, lane);
        for (k, found) in array.elements_in_order().enumerate() {
            lanes::get(found, lane)
                .compare(&expected, cx.tolerances(), held)
                .map_err(|e| e.within(format_args!("{:?}", place(k, &shape_of(&array)))))?;
        }
        Ok(())
    })
}

/// The first of some lanes that is asked in vain, and why.
#[cold]
#[inline(never)]
fn first_of(asked: LaneMask, ask: impl Fn(usize) -> Result<(), Mismatch>) -> Option<(usize, Mismatch)> {
    (0..WIDTH).filter(|k| asked >> k & 1 == 1).find_map(|k| ask(k).err().map(|e| (k, e)))
}
