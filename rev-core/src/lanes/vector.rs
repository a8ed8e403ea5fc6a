//! One scalar for each lane, side by side in memory as the vector instructions want them.

use super::WIDTH;

/// One `T` for each lane, aligned to the largest vector register.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Vector<T>(pub [T; WIDTH]);

impl<T: Clone> Vector<T> {
    /// The same in every lane.
    ///
    /// Written out, because a loop would keep the vector in memory.
    #[cfg_attr(optimized, inline(always))]
    pub fn splat(v: T) -> Self {
        let c = || v.clone();
        Vector([
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
            c(),
        ])
    }
}
