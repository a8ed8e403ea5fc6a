//! The elements of arrays in lanes: reading, writing, and adding to them.

use std::ops::BitXor;

use rev_core::lanes::{self, update, Isa, Laned, Mask, Pack, WIDTH};
use rev_core::scalar::{Linear, Zero};

use super::index::{Indices, Pattern, Places};
use super::memory::{active, in_words, none, read, write};
use crate::atomic::Cell;
use crate::view::{Dynamic, Exclusive, Frame, Slice, Strided};

/// Where the active lanes' elements lie.
///
/// # Errors
///
/// The first active lane of which an index is out of range.
#[inline(always)]
pub(super) fn locate<S, M, E, X, const R: usize>(
    s: S,
    m: M,
    frame: Option<Frame<E, R>>,
    index: X,
) -> Result<(*mut E, Places), usize>
where
    S: Isa,
    M: Mask,
    X: Indices<R>,
{
    let Some(Frame { ptr, shape, strides }) = frame else { return Err(first(m.bits())) };
    let beyond = index.beyond(s, m.bits(), &shape);
    if beyond != 0 {
        return Err(first(beyond));
    }
    let size = const { std::mem::size_of::<E>() as isize };
    Ok((ptr, index.places(s, &strides.map(|stride| stride.wrapping_mul(size)))))
}

/// The lowest lane of a mask.
#[inline(always)]
fn first(m: u16) -> usize {
    m.trailing_zeros() as usize % WIDTH
}

/// An update of the elements at the places of the active lanes, several of which may have one element:
/// `whole` of all lanes at once where they are apart, `fold` of what the lanes have together where
/// they have one element, else lane by lane in order.
///
/// # Safety
///
/// As for writing.
#[inline(always)]
unsafe fn update_at<S, M, E, X>(
    s: S,
    m: M,
    (ptr, places): (*mut E, Places),
    v: Pack<E>,
    whole: impl FnOnce(&mut Pack<E>, Pack<E>),
    fold: impl FnOnce(&mut E, &Pack<E>),
    one: impl Fn(&mut E, &E),
) where
    S: Isa,
    M: Mask,
    E: Laned + Zero,
    X: Pattern,
{
    if none(m) {
        return;
    }
    // SAFETY (of all): as required of the caller
    if const { !X::LINEAR && !X::VARYING } {
        fold(unsafe { &mut *ptr.wrapping_byte_offset(places.start) }, &v);
    } else if const { in_words::<E>() && !X::VARYING } && places.step != 0 {
        let mut old = unsafe { read::<S, M, E, X>(s, m, ptr, places) };
        whole(&mut old, v);
        unsafe { write::<S, M, E, X>(s, m, ptr, places, &old) };
    } else {
        for k in 0..WIDTH {
            if active(m, k) {
                let element = unsafe { &mut *ptr.wrapping_byte_offset(places.at::<X>(k)) };
                one(element, &lanes::get(&v, k));
            }
        }
    }
}

macro_rules! lanes_of {
    ($handle:ident $(const $r:ident)?; $rank:tt $(of $any:ident)?) => {
        impl<E: Laned + Zero, $(const $r: usize,)? M> $handle<'_, E, $($r,)? M> {
            /// The elements at the indices of the active lanes. Inactive lanes hold zeros.
            ///
            /// # Errors
            ///
            /// The first active lane of which an index is out of range.
            #[inline(always)]
            pub fn lanes_read<S, A, X $(, const $any: usize)?>(self, s: S, m: A, index: X) -> Result<Pack<E>, usize>
            where
                S: Isa,
                A: Mask,
                X: Indices<$rank>,
            {
                let (ptr, places) = locate(s, m, self.frame(), index)?;
                // SAFETY: the indices are in range of the memory behind the handle, and disjointness
                // is the program's (`view`).
                Ok(unsafe { read::<S, A, E, X>(s, m, ptr, places) })
            }
        }

        impl<E: Laned + Zero, $(const $r: usize)?> $handle<'_, E, $($r,)? Exclusive> {
            /// Writes the elements at the indices of the active lanes, in the order of the lanes.
            ///
            /// # Errors
            ///
            /// The first active lane of which an index is out of range; nothing is written then.
            #[inline(always)]
            pub fn lanes_write<S, A, X $(, const $any: usize)?>(
                self,
                s: S,
                m: A,
                index: X,
                v: Pack<E>,
            ) -> Result<(), usize>
            where
                S: Isa,
                A: Mask,
                X: Indices<$rank>,
            {
                let (ptr, places) = locate(s, m, self.frame(), index)?;
                // SAFETY: as above.
                unsafe { write::<S, A, E, X>(s, m, ptr, places, &v) };
                Ok(())
            }

            /// `element ^= v` in the order of the lanes.
            ///
            /// # Errors
            ///
            /// As [`Self::lanes_write`].
            #[inline(always)]
            pub fn lanes_xor<S, A, X $(, const $any: usize)?>(
                self,
                s: S,
                m: A,
                index: X,
                v: Pack<E>,
            ) -> Result<(), usize>
            where
                S: Isa,
                A: Mask,
                X: Indices<$rank>,
                E: BitXor<Output = E>,
            {
                let at = locate(s, m, self.frame(), index)?;
                for k in 0..WIDTH {
                    if active(m, k) {
                        // SAFETY: as above.
                        let element = unsafe { &mut *at.0.wrapping_byte_offset(at.1.at::<X>(k)) };
                        *element = element.clone() ^ lanes::get(&v, k);
                    }
                }
                Ok(())
            }
        }

        impl<E: Laned + Linear, $(const $r: usize)?> $handle<'_, E, $($r,)? Exclusive> {
            lanes_of!(@sum lanes_add, "`element += v` in the order of the lanes, several of which may have one \
                element. Where all have the same one, it is their sum that is added.",
                add, accumulate; $rank $(of $any)?);
            lanes_of!(@sum lanes_sub, "`element -= v`, as [`Self::lanes_add`].", sub, deduct; $rank $(of $any)?);
            lanes_of!(@atomic lanes_add_atomic, "`element += v`, where other threads may add to the same \
                elements.", add; $rank $(of $any)?);
            lanes_of!(@atomic lanes_sub_atomic, "`element -= v` likewise.", sub; $rank $(of $any)?);
        }
    };
    (@sum $name:ident, $doc:literal, $update:ident, $one:ident; $rank:tt $(of $any:ident)?) => {
        #[doc = $doc]
        ///
        /// # Errors
        ///
        /// As [`Self::lanes_write`].
        #[inline(always)]
        pub fn $name<S, A, X $(, const $any: usize)?>(self, s: S, m: A, index: X, v: Pack<E>) -> Result<(), usize>
        where
            S: Isa,
            A: Mask,
            X: Indices<$rank>,
        {
            let at = locate(s, m, self.frame(), index)?;
            let whole = |old: &mut Pack<E>, v| update::$update(s, m, old, v);
            let fold = |old: &mut E, v: &Pack<E>| old.$one(&lanes::sum(s, m, v));
            // SAFETY: as above.
            unsafe { update_at::<S, A, E, X>(s, m, at, v, whole, fold, E::$one) };
            Ok(())
        }
    };
    (@atomic $name:ident, $doc:literal, $update:ident; $rank:tt $(of $any:ident)?) => {
        #[doc = $doc]
        ///
        /// # Errors
        ///
        /// As [`Self::lanes_write`].
        #[inline(always)]
        pub fn $name<S, A, X $(, const $any: usize)?>(self, s: S, m: A, index: X, v: Pack<E>) -> Result<(), usize>
        where
            S: Isa,
            A: Mask,
            X: Indices<$rank>,
        {
            let (ptr, places) = locate(s, m, self.frame(), index)?;
            // SAFETY: in range; the array is reached through cells only while the loop runs.
            let cell = |offset| unsafe { Cell::new(ptr.wrapping_byte_offset(offset)) };
            if const { !X::LINEAR && !X::VARYING } {
                if !none(m) {
                    cell(places.start).$update(lanes::sum(s, m, &v));
                }
                return Ok(());
            }
            for k in 0..WIDTH {
                if active(m, k) {
                    cell(places.at::<X>(k)).$update(lanes::get(&v, k));
                }
            }
            Ok(())
        }
    };
}
lanes_of!(Slice; 1);
lanes_of!(Strided const R; R);
lanes_of!(Dynamic; R of R);
