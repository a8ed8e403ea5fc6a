//! Arguments that may be the same in every lane, and are then known so.

use std::ops::Deref;

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

impl<T: Laned> Each<T> for &Pack<T> {
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
        self.clone()
    }
}

/// A value that every lane has, as an argument of a function that asks for that, or for a pack.
#[derive(Clone, Debug)]
pub struct Uniform<T: Laned> {
    value: T,
    pack: Pack<T>,
}

impl<T: Laned> Uniform<T> {
    /// Of a value.
    #[inline(always)]
    pub fn new(value: T) -> Self {
        Uniform { pack: T::splat(value.clone()), value }
    }
}

impl<T: Laned> Deref for Uniform<T> {
    type Target = Pack<T>;
    #[inline(always)]
    fn deref(&self) -> &Pack<T> {
        &self.pack
    }
}

impl<T: Laned> Each<T> for &Uniform<T> {
    #[inline(always)]
    fn at(&self, _: usize) -> T {
        self.value.clone()
    }
    #[inline(always)]
    fn uniform(&self) -> Option<T> {
        Some(self.value.clone())
    }
    #[inline(always)]
    fn pack(self) -> Pack<T> {
        self.pack.clone()
    }
}
