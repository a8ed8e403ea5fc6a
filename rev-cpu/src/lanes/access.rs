//! The elements of arrays in lanes: reading, writing, and adding to them.

use std::ops::BitXor;

use rev_core::lanes::{self, update, Isa, LaneMask, Laned, Mask, Pack, WIDTH};
use rev_core::scalar::{Linear, Zero};

use super::index::{Indices, Places};
use super::memory::{active, each_of_part, in_words, none, read, write};
use crate::atomic::Cell;
use crate::view::{Dynamic, Exclusive, Frame, Slice, Strided};

/// The active lanes' elements, of which no index is out of range.
pub(super) struct Located<E, X, const R: usize> {
    /// The array's first element.
    pub ptr: *mut E,
    index: X,
    /// How many elements neighbours along each axis are apart.
    strides: [isize; R],
}

impl<E, X: Copy, const R: usize> Copy for Located<E, X, R> {}

impl<E, X: Copy, const R: usize> Clone for Located<E, X, R> {
    #[cfg_attr(optimized, inline(always))]
    fn clone(&self) -> Self {
        *self
    }
}

/// Finds the active lanes' elements.
///
/// # Errors
///
/// The first active lane of which an index is out of range.
#[cfg_attr(optimized, inline(always))]
pub(super) fn locate<S, M, E, X, const R: usize>(
    s: S,
    m: M,
    frame: Option<Frame<E, R>>,
    index: X,
) -> Result<Located<E, X, R>, usize>
where
    S: Isa,
    M: Mask,
    X: Indices<R>,
{
    let Some(Frame { ptr, shape, strides }) = frame else { return Err(first(m.bits(s))) };
    let beyond = index.beyond(s, m.bits(s), &shape);
    if beyond != 0 {
        return Err(first(beyond));
    }
    Ok(Located { ptr, index, strides })
}

impl<E, X: Indices<R>, const R: usize> Located<E, X, R> {
    /// Where they lie.
    #[cfg_attr(optimized, inline(always))]
    pub fn places<S: Isa>(self, s: S) -> Places {
        let size = const { size_of::<E>() as isize };
        let mut bytes = self.strides;
        for stride in &mut bytes {
            *stride = stride.wrapping_mul(size);
        }
        self.index.places(s, &bytes)
    }

    /// Where they lie if they do side by side: then the compiler knows how far they are apart.
    #[cfg_attr(optimized, inline(always))]
    pub fn side_by_side<S: Isa>(self, s: S) -> Option<Places> {
        let size = const { size_of::<E>() as isize };
        if const { X::VARYING || !X::LINEAR } {
            return None;
        }
        let places = self.places(s);
        (places.step == size).then_some(Places { step: size, ..places })
    }

    /// Where they lie if they don't: the compiler can't tell anything of it, or it would compute the places of all lanes before a loop,
    /// for all its arrays, whether elements lie side by side or not.
    #[cfg_attr(optimized, inline(always))]
    pub fn apart<S: Isa>(mut self, s: S) -> Places {
        if const { !X::VARYING } {
            for stride in &mut self.strides {
                *stride = unknown(*stride);
            }
        }
        self.places(s)
    }
}

/// The same number, as one that the compiler can't tell anything of.
#[cfg_attr(optimized, inline(always))]
fn unknown(mut number: isize) -> isize {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    // SAFETY: there are no instructions.
    unsafe {
        std::arch::asm!("/* {} */", inout(reg) number, options(nomem, nostack, preserves_flags));
    }
    number
}

/// The lowest lane of a mask.
#[cfg_attr(optimized, inline(always))]
fn first(m: LaneMask) -> usize {
    m.trailing_zeros() as usize % WIDTH
}

/// An update that accumulates. Functions, not closures, as those aren't always inlined, and vector code
/// has to be.
trait Update<E: Linear + Laned> {
    /// In the active lanes.
    fn lanes<S: Isa, M: Mask>(s: S, m: M, place: &mut Pack<E>, v: Pack<E>);
    /// Of one element.
    fn one(place: &mut E, v: &E);
    /// Of one element that other threads may update too.
    fn shared(cell: Cell<'_, E>, v: E);
}

macro_rules! updates {
    ($($update:ident: $name:ident $one:ident;)*) => {$(
        struct $update;

        impl<E: Linear + Laned> Update<E> for $update {
            #[cfg_attr(optimized, inline(always))]
            fn lanes<S: Isa, M: Mask>(s: S, m: M, place: &mut Pack<E>, v: Pack<E>) {
                update::$name(s, m, place, v);
            }
            #[cfg_attr(optimized, inline(always))]
            fn one(place: &mut E, v: &E) {
                place.$one(v);
            }
            #[cfg_attr(optimized, inline(always))]
            fn shared(cell: Cell<'_, E>, v: E) {
                cell.$name(v);
            }
        }
    )*};
}
updates! {
    Plus: add accumulate;
    Minus: sub deduct;
}

/// An update of the elements at the places of the active lanes, several of which may have one element:
/// all at once where they are apart, by the lanes' sum where they have one element, else lane by lane in
/// order.
///
/// # Safety
///
/// As for writing.
#[cfg_attr(optimized, inline(always))]
unsafe fn update_at<S, M, E, X, U, const R: usize>(s: S, m: M, at: Located<E, X, R>, v: Pack<E>)
where
    S: Isa,
    M: Mask,
    E: Laned + Linear,
    X: Indices<R>,
    U: Update<E>,
{
    if none(s, m) {
        return;
    }
    // SAFETY (of all): as required of the caller
    if const { !X::LINEAR && !X::VARYING } {
        let sum = lanes::sum(s, m, &v);
        U::one(unsafe { &mut *at.ptr.wrapping_byte_offset(at.places(s).start) }, &sum);
    } else if const { in_words::<E>() && !X::VARYING } && at.places(s).step != 0 {
        let mut old = unsafe { read(s, m, at) };
        U::lanes(s, m, &mut old, v);
        unsafe { write(s, m, at, &old) };
    } else {
        let places = at.places(s);
        if let Some(n) = m.part() {
            let v = v.clone();
            return each_of_part(n, places, |k, place| {
                U::one(unsafe { &mut *at.ptr.wrapping_byte_offset(place) }, &lanes::get(&v, k));
            });
        }
        for k in 0..S::LANES {
            if active(s, m, k) {
                let element = unsafe { &mut *at.ptr.wrapping_byte_offset(places.at(k)) };
                U::one(element, &lanes::get(&v, k));
            }
        }
    }
}

/// The same where other threads may update the elements too.
///
/// # Safety
///
/// Each active lane's place is an element that is reached through cells only while the loop runs.
#[cfg_attr(optimized, inline(always))]
unsafe fn update_shared<S, M, E, X, U, const R: usize>(s: S, m: M, at: Located<E, X, R>, v: Pack<E>)
where
    S: Isa,
    M: Mask,
    E: Laned + Linear,
    X: Indices<R>,
    U: Update<E>,
{
    if none(s, m) {
        return;
    }
    let (ptr, places) = (at.ptr, at.places(s));
    // SAFETY (of all): as required of the caller
    if const { !X::LINEAR && !X::VARYING } {
        U::shared(unsafe { Cell::new(ptr.wrapping_byte_offset(places.start)) }, lanes::sum(s, m, &v));
        return;
    }
    if let Some(n) = m.part() {
        let v = v.clone();
        return each_of_part(n, places, |k, place| {
            U::shared(unsafe { Cell::new(ptr.wrapping_byte_offset(place)) }, lanes::get(&v, k));
        });
    }
    for k in 0..S::LANES {
        if active(s, m, k) {
            let cell = unsafe { Cell::new(ptr.wrapping_byte_offset(places.at(k))) };
            U::shared(cell, lanes::get(&v, k));
        }
    }
}

macro_rules! lanes_of {
    ($handle:ident $(const $r:ident)?; $rank:tt $(of $any:ident)?) => {
        impl<E: Laned + Zero, $(const $r: usize,)? M> $handle<'_, E, $($r,)? M> {
            /// Zero in every lane, of the elements' type.
            #[cfg_attr(optimized, inline(always))]
            pub fn lanes_zero<S: Isa>(self, s: S) -> Pack<E> {
                lanes::zero(s)
            }

            /// The elements at the indices of the active lanes. Inactive lanes hold zeros.
            ///
            /// # Errors
            ///
            /// The first active lane of which an index is out of range.
            #[cfg_attr(optimized, inline(always))]
            pub fn lanes_read<S, A, X $(, const $any: usize)?>(self, s: S, m: A, index: X) -> Result<Pack<E>, usize>
            where
                S: Isa,
                A: Mask,
                X: Indices<$rank>,
            {
                let at = locate(s, m, self.frame(), index)?;
                // SAFETY: the indices are in range of the memory behind the handle, and disjointness
                // is the program's (`view`).
                Ok(unsafe { read(s, m, at) })
            }
        }

        impl<E: Laned + Zero, $(const $r: usize)?> $handle<'_, E, $($r,)? Exclusive> {
            /// Writes the elements at the indices of the active lanes, in the order of the lanes.
            ///
            /// # Errors
            ///
            /// The first active lane of which an index is out of range; nothing is written then.
            #[cfg_attr(optimized, inline(always))]
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
                let at = locate(s, m, self.frame(), index)?;
                // SAFETY: as above.
                unsafe { write(s, m, at, &v) };
                Ok(())
            }

            /// `element ^= v` in the order of the lanes.
            ///
            /// # Errors
            ///
            /// As [`Self::lanes_write`].
            #[cfg_attr(optimized, inline(always))]
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
                let places = at.places(s);
                if let Some(n) = m.part() {
                    let v = v.clone();
                    each_of_part(n, places, |k, place| {
                        // SAFETY: as above.
                        let element = unsafe { &mut *at.ptr.wrapping_byte_offset(place) };
                        *element = element.clone() ^ lanes::get(&v, k);
                    });
                    return Ok(());
                }
                for k in 0..S::LANES {
                    if active(s, m, k) {
                        // SAFETY: as above.
                        let element = unsafe { &mut *at.ptr.wrapping_byte_offset(places.at(k)) };
                        *element = element.clone() ^ lanes::get(&v, k);
                    }
                }
                Ok(())
            }
        }

        impl<E: Laned + Linear, $(const $r: usize)?> $handle<'_, E, $($r,)? Exclusive> {
            lanes_of!(@update lanes_add update_at Plus, "`element += v` in the order of the lanes, several of \
                which may have one element. Where all have the same one, their sum is added."; $rank $(of $any)?);
            lanes_of!(@update lanes_sub update_at Minus, "`element -= v`, as [`Self::lanes_add`]."; $rank $(of $any)?);
            lanes_of!(@update lanes_add_atomic update_shared Plus, "`element += v`, where other threads may add to \
                the same elements."; $rank $(of $any)?);
            lanes_of!(@update lanes_sub_atomic update_shared Minus, "`element -= v` likewise."; $rank $(of $any)?);
        }
    };
    (@update $name:ident $how:ident $update:ident, $doc:literal; $rank:tt $(of $any:ident)?) => {
        #[doc = $doc]
        ///
        /// # Errors
        ///
        /// As [`Self::lanes_write`].
        #[cfg_attr(optimized, inline(always))]
        pub fn $name<S, A, X $(, const $any: usize)?>(self, s: S, m: A, index: X, v: Pack<E>) -> Result<(), usize>
        where
            S: Isa,
            A: Mask,
            X: Indices<$rank>,
        {
            let at = locate(s, m, self.frame(), index)?;
            // SAFETY: in range; disjointness is the program's (`view`).
            unsafe { $how::<S, A, E, X, $update, $rank>(s, m, at, v) };
            Ok(())
        }
    };
}
lanes_of!(Slice; 1);
lanes_of!(Strided const R; R);
lanes_of!(Dynamic; R of R);
