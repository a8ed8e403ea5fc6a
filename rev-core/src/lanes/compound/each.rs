//! One part after the other.

use std::mem::MaybeUninit;

/// The block for each part's number. Written out for up to eight: a loop would keep the packs in memory until the compiler has
/// unrolled it, which is most of what the block then costs to compile.
macro_rules! each_part {
    ($count:ident, $k:ident => $body:block) => {
        if const { $count > 8 } {
            #[allow(clippy::needless_range_loop)]
            for $k in 0..$count $body
        } else {
            each_part!(@each $count, $k => $body; 0 1 2 3 4 5 6 7)
        }
    };
    (@each $count:ident, $k:ident => $body:block; $($number:literal)*) => {{
        $(if const { $count > $number } {
            let $k: usize = $number;
            $body
        })*
    }};
}
pub(super) use each_part;

/// An array of so many parts. Not by a function of closures, which aren't always inlined where vector code has to be.
macro_rules! made {
    ($count:ident, $k:ident => $value:expr) => {{
        let mut parts = std::mem::MaybeUninit::uninit();
        each_part!($count, $k => {
            let value = $value;
            // SAFETY: one of as many.
            unsafe { $crate::lanes::compound::each::write::<_, $count>(&mut parts, $k, value) };
        });
        // SAFETY: all of them are written.
        unsafe { parts.assume_init() }
    }};
}
pub(super) use made;

/// Writes a part.
///
/// # Safety
///
/// There is one with this number.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn write<P, const K: usize>(parts: &mut MaybeUninit<[P; K]>, k: usize, part: P) {
    // SAFETY: as required of the caller
    unsafe { parts.as_mut_ptr().cast::<P>().add(k).write(part) };
}
