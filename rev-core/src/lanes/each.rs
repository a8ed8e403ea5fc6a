//! Arguments that may be the same in every lane, and are then known so.

use std::ops::Deref;

use super::{Isa, Laned, Pack};

/// A plain value, or one for each lane.
pub trait Each<T: Laned>: Clone {
    /// The value in lane `k`.
    fn at(&self, k: usize) -> T;
    /// The value, where it is known to be the same in every lane.
    fn uniform(&self) -> Option<T>;
    /// The value for each lane.
    fn pack<S: Isa>(self, s: S) -> Pack<T>;
}

macro_rules! uniform {
    ($($t:ty)*) => {$(
        impl Each<$t> for $t {
            #[cfg_attr(optimized, inline(always))]
            fn at(&self, _: usize) -> $t {
                *self
            }
            #[cfg_attr(optimized, inline(always))]
            fn uniform(&self) -> Option<$t> {
                Some(*self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn pack<S: Isa>(self, s: S) -> Pack<$t> {
                <$t>::broadcast(s, self)
            }
        }
    )*};
}
uniform!(i32 i64);

impl<T: Laned> Each<T> for Pack<T> {
    #[cfg_attr(optimized, inline(always))]
    fn at(&self, k: usize) -> T {
        T::lane(self, k)
    }
    #[cfg_attr(optimized, inline(always))]
    fn uniform(&self) -> Option<T> {
        None
    }
    #[cfg_attr(optimized, inline(always))]
    fn pack<S: Isa>(self, _: S) -> Pack<T> {
        self
    }
}

impl<T: Laned> Each<T> for &Pack<T> {
    #[cfg_attr(optimized, inline(always))]
    fn at(&self, k: usize) -> T {
        T::lane(self, k)
    }
    #[cfg_attr(optimized, inline(always))]
    fn uniform(&self) -> Option<T> {
        None
    }
    #[cfg_attr(optimized, inline(always))]
    fn pack<S: Isa>(self, _: S) -> Pack<T> {
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
    #[cfg_attr(optimized, inline(always))]
    pub fn new<S: Isa>(s: S, value: T) -> Self {
        Uniform { pack: T::broadcast(s, value.clone()), value }
    }
}

impl<T: Laned> Deref for Uniform<T> {
    type Target = Pack<T>;
    #[cfg_attr(optimized, inline(always))]
    fn deref(&self) -> &Pack<T> {
        &self.pack
    }
}

impl<T: Laned> Each<T> for &Uniform<T> {
    #[cfg_attr(optimized, inline(always))]
    fn at(&self, _: usize) -> T {
        self.value.clone()
    }
    #[cfg_attr(optimized, inline(always))]
    fn uniform(&self) -> Option<T> {
        Some(self.value.clone())
    }
    #[cfg_attr(optimized, inline(always))]
    fn pack<S: Isa>(self, _: S) -> Pack<T> {
        self.pack.clone()
    }
}
