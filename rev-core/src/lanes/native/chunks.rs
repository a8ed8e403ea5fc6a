//! A vector's registers one after the other.

use crate::lanes::{Isa, Registers, Vector};

/// The block for each register of the lanes that run. Written out for up to eight, because a loop would keep the
/// vectors in memory; only scalars have more.
macro_rules! chunks {
    ($s:ident $registers:ident, $chunk:ident => $body:block) => {{
        if const { $s::LANES / <$s::$registers as $crate::lanes::Registers>::LANES > 8 } {
            for $chunk in 0..$s::LANES / <$s::$registers as $crate::lanes::Registers>::LANES $body
        } else {
            chunks!(@each $s $registers, $chunk => $body; 0 1 2 3 4 5 6 7)
        }
    }};
    (@each $s:ident $registers:ident, $chunk:ident => $body:block; $($k:literal)*) => {{
        $(if const { $s::LANES / <$s::$registers as $crate::lanes::Registers>::LANES > $k } {
            let $chunk = $k as usize;
            $body
        })*
    }};
}
pub(super) use chunks;

/// Whether a function of so many packs is one for [`Isa::near`]: the compiler inlines it even where it takes the caller for code that hardly
/// ever runs.
pub(super) const fn is_small<S: Isa, R: Registers>(args: &[&str]) -> bool {
    S::LANES / R::LANES * args.len() <= 12
}

/// Integers of one width that are looked at as integers of the same width.
pub(super) trait SameWidth<B> {}

macro_rules! same_width {
    ($($(#[$attribute:meta])* $a:ident $b:ident;)*) => {$(
        $(#[$attribute])*
        impl SameWidth<$b> for $a {}
    )*};
}
same_width! {
    i32 i32;
    u32 i32;
    i32 u32;
    i64 i64;
    u64 i64;
    i64 u64;
    u64 u64;
    #[cfg(target_pointer_width = "64")] usize i64;
    #[cfg(target_pointer_width = "64")] usize u64;
    #[cfg(target_pointer_width = "64")] i64 usize;
    #[cfg(target_pointer_width = "64")] isize i64;
    #[cfg(target_pointer_width = "64")] i64 isize;
    #[cfg(target_pointer_width = "64")] u64 usize;
    #[cfg(target_pointer_width = "64")] u64 isize;
}

/// The same bits.
#[cfg_attr(optimized, inline(always))]
pub(super) fn view<A: SameWidth<B>, B>(v: &Vector<A>) -> &Vector<B> {
    // SAFETY: both are arrays of integers of the same width, of which every pattern of bits is a value.
    unsafe { &*std::ptr::from_ref(v).cast() }
}
