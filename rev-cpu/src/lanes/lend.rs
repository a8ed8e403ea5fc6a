//! Fixed-size arrays of the lanes' own as arguments of a called function, whose parameter may be one
//! too, or a handle to an array that all lanes have in common. As that it can't be passed: the function is
//! then called for one lane after the other.

use rev_core::lanes::{Laned, Pack};

use crate::view::{Dynamic, Exclusive, Shared, Slice, Strided};

/// An argument for a parameter that the called function sees as a `To`.
pub trait Lend<To> {
    /// The argument. `laned` becomes false, and the argument is an empty array that nobody looks at, where
    /// the function can't be called for all lanes at once.
    fn lend(self, laned: &mut bool) -> To;
}

impl<'a, P: Laned, const K: usize> Lend<&'a Pack<[P; K]>> for &'a Pack<[P; K]> {
    #[cfg_attr(optimized, inline(always))]
    fn lend(self, _: &mut bool) -> Self {
        self
    }
}

impl<'a, P: Laned, const K: usize> Lend<&'a mut Pack<[P; K]>> for &'a mut Pack<[P; K]> {
    #[cfg_attr(optimized, inline(always))]
    fn lend(self, _: &mut bool) -> Self {
        self
    }
}

macro_rules! in_common {
    ($pack:ty, $mark:ty, $empty:expr) => {
        impl<'a, P: Laned, const K: usize> Lend<Slice<'a, P, $mark>> for $pack {
            #[cfg_attr(optimized, inline(always))]
            fn lend(self, laned: &mut bool) -> Slice<'a, P, $mark> {
                *laned = false;
                $empty
            }
        }

        impl<'a, P: Laned, const K: usize> Lend<Strided<'a, P, 1, $mark>> for $pack {
            #[cfg_attr(optimized, inline(always))]
            fn lend(self, laned: &mut bool) -> Strided<'a, P, 1, $mark> {
                *laned = false;
                $empty.into()
            }
        }

        impl<'a, P: Laned, const K: usize> Lend<Dynamic<'a, P, $mark>> for $pack {
            #[cfg_attr(optimized, inline(always))]
            fn lend(self, laned: &mut bool) -> Dynamic<'a, P, $mark> {
                *laned = false;
                $empty.into()
            }
        }
    };
}
in_common!(&'a Pack<[P; K]>, Shared, Slice::shared(&[]));
in_common!(&'a mut Pack<[P; K]>, Exclusive, Slice::exclusive(&mut []));
