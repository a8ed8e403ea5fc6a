//! Arrays of which every lane has its own: handles to packs, in which each lane picks an element.

use rev_core::lanes::{self, Isa, Laned, Mask, Pack, WIDTH};
use rev_core::scalar::{Mismatch, Primal, Zero};

use super::access::locate;
use super::index::{Indices, Pattern, Places};
use super::memory::{in_words, none, read_words, read_words_of_part, write_words, write_words_of_part};
use crate::arrays::{place, shape_of};
use crate::checks::{self, is_astray};
use crate::view::{Dynamic, Exclusive, Slice, Strided, Whole};

/// The places of the words of lanes in packs at indices of a pattern: from lane to lane one word further.
#[derive(Clone, Copy)]
struct Within<X>(X);

impl<X: Pattern> Pattern for Within<X> {
    const LINEAR: bool = true;
    const VARYING: bool = X::VARYING;
}

/// Places of packs as places of their lanes' words, and how far an element's words are apart.
#[cfg_attr(optimized, inline(always))]
fn within<E: Laned>(places: Places) -> (Places, usize) {
    let word = E::LAYOUT.word();
    (Places { step: places.step.wrapping_add(word as isize), ..places }, WIDTH * word)
}

/// The first active lane of which a number in an array of packs is NaN, or infinite where `finite` asks for it.
#[cfg_attr(optimized, inline(always))]
pub fn astray_in<'a, S: Isa, E: Laned + 'a, H>(s: S, m: impl Mask, array: H, finite: bool) -> Option<usize>
where
    H: Whole<'a, Element = Pack<E>>,
{
    let all = array.contiguous();
    if all.is_some_and(|all| E::may_be_astray(s, all) & m.bits(s) == 0) {
        return None;
    }
    // a loop: what a closure does for an iterator isn't always compiled for the registers of the lanes
    let mut found = 0;
    for pack in array.elements_in_order() {
        found |= E::astray(s, pack, finite);
    }
    found &= m.bits(s);
    (found != 0).then(|| found.trailing_zeros() as usize)
}

/// Where in a lane's own array such a number is, and what the array held there first.
#[cold]
#[inline(never)]
pub fn mismatch_in<'a, E: Laned + Primal + 'a, H>(
    array: H,
    first: &Pack<E>,
    lane: usize,
    finite: bool,
) -> Mismatch
where
    H: Whole<'a, Element = Pack<E>>,
{
    let mut elements = array.elements_in_order().map(|pack| lanes::get(pack, lane)).enumerate();
    let first = lanes::get(first, lane);
    match elements.find(|(_, e)| is_astray(e, finite)) {
        Some((k, e)) => checks::astray(&e, &first).within(format_args!("{:?}", place(k, &shape_of(&array)))),
        None => checks::astray(&first, &first),
    }
}

macro_rules! own_lanes_of {
    ($handle:ident $(const $r:ident)?; $rank:tt $(of $any:ident)?) => {
        impl<E: Laned + Zero, $(const $r: usize,)? M> $handle<'_, Pack<E>, $($r,)? M> {
            /// In each active lane that lane's part of the pack at the lane's index; zeros in the others.
            ///
            /// # Errors
            ///
            /// The first active lane of which the index is out of range.
            #[cfg_attr(optimized, inline(always))]
            pub fn pick<S, A, X $(, const $any: usize)?>(self, s: S, m: A, index: X) -> Result<Pack<E>, usize>
            where
                S: Isa,
                A: Mask,
                X: Indices<$rank>,
            {
                let at = locate(s, m, self.frame(), index)?;
                let (ptr, places) = (at.ptr, at.places(s));
                if const { in_words::<E>() } && !none(s, m) {
                    let (places, apart) = within::<E>(places);
                    // every lane has its own in a pack, whether it runs or not, unless it chooses another
                    if let (true, Some(n)) = (const { X::LINEAR || X::VARYING }, m.part()) {
                        // SAFETY: as below.
                        return Ok(unsafe { read_words_of_part(n, ptr.cast(), places, apart) });
                    }
                    // SAFETY: the indices are in range of the packs behind the handle, each of which
                    // has the lanes' words as its layout says.
                    return Ok(unsafe { read_words::<S, A, E, Within<X>>(s, m, ptr.cast(), places, apart) });
                }
                let mut all = lanes::broadcast(s, E::zero());
                for k in 0..S::LANES {
                    if m.bits(s) >> k & 1 != 0 {
                        // SAFETY: the lane's index is in range.
                        let pack = unsafe { &*ptr.wrapping_byte_offset(places.at(k)) };
                        lanes::set(&mut all, k, lanes::get(pack, k));
                    }
                }
                Ok(all)
            }
        }

        impl<E: Laned + Zero, $(const $r: usize)?> $handle<'_, Pack<E>, $($r,)? Exclusive> {
            /// Writes in each active lane that lane's part of the pack at the lane's index.
            ///
            /// # Errors
            ///
            /// The first active lane of which the index is out of range; nothing is written then.
            #[cfg_attr(optimized, inline(always))]
            pub fn put<S, A, X $(, const $any: usize)?>(self, s: S, m: A, index: X, v: Pack<E>) -> Result<(), usize>
            where
                S: Isa,
                A: Mask,
                X: Indices<$rank>,
            {
                let at = locate(s, m, self.frame(), index)?;
                let (ptr, places) = (at.ptr, at.places(s));
                if const { in_words::<E>() } && !none(s, m) {
                    let (places, apart) = within::<E>(places);
                    if let (true, Some(n)) = (const { X::LINEAR || X::VARYING }, m.part()) {
                        // SAFETY: as above.
                        unsafe { write_words_of_part(n, ptr.cast(), places, apart, &v) };
                        return Ok(());
                    }
                    // SAFETY: as above.
                    unsafe { write_words::<S, A, E, Within<X>>(s, m, ptr.cast(), places, apart, &v) };
                    return Ok(());
                }
                for k in 0..S::LANES {
                    if m.bits(s) >> k & 1 != 0 {
                        // SAFETY: the lane's index is in range.
                        let pack = unsafe { &mut *ptr.wrapping_byte_offset(places.at(k)) };
                        lanes::set(pack, k, lanes::get(&v, k));
                    }
                }
                Ok(())
            }
        }
    };
}
own_lanes_of!(Slice; 1);
own_lanes_of!(Strided const R; R);
own_lanes_of!(Dynamic; R of R);
