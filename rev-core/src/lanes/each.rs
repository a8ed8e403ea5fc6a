//! Arguments that may be the same in every lane, and are then known so.

use super::{Laned, Pack};

/// A plain value, or one for each lane.
pub trait Each<T: Laned>: Clone {
    /// The value in lane `k`.
    fn at(&self, k: usize) -> T;
    /// The value, where it is known to be the same in every lane.
    fn uniform(&self) -> Option<T>;
    /// The value for each lane.
    fn pack(self) -> Pack<T>;
}

macro_rules! uniform {
    ($($t:ty)*) => {$(
        impl Each<$t> for $t {
            #[inline(always)]
            fn at(&self, _: usize) -> $t {
                *self
            }
            #[inline(always)]
            fn uniform(&self) -> Option<$t> {
                Some(*self)
            }
            #[inline(always)]
            fn pack(self) -> Pack<$t> {
                <$t>::splat(self)
            }
        }
    )*};
}
uniform!(i32 i64);

impl<T: Laned> Each<T> for Pack<T> {
    #[inline(always)]
    fn at(&self, k: usize) -> T {
        T::lane(self, k)
    }
    #[inline(always)]
    fn uniform(&self) -> Option<T> {
        None
    }
    #[inline(always)]
    fn pack(self) -> Pack<T> {
        self
    }
}
