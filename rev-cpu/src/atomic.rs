//! Sums into elements that several threads reach at once, for targets that are too large to be
//! copied for each task.
//!
//! The order in which threads add is left to chance, so a sum of floating-point numbers may differ
//! in its last bits from run to run; the deterministic mode never comes here.

use std::marker::PhantomData;
use std::mem::{align_of, size_of, transmute_copy};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rev_core::scalar::Linear;

/// Whether elements of a type can be added to by several threads: scalars of 4 or 8 bytes, and
/// shadows of one cotangent.
pub fn is_atomic<E: Linear>() -> bool {
    E::width() == 1 && size_of::<E>() == align_of::<E>() && matches!(size_of::<E>(), 4 | 8)
}

/// An element that several threads may add to at once.
pub struct Cell<'a, E> {
    element: *mut E,
    array: PhantomData<&'a E>,
}

impl<'a, E: Linear> Cell<'a, E> {
    /// The cell at an address.
    ///
    /// # Safety
    ///
    /// The address is that of an initialised element that lives for `'a`, and meanwhile is only
    /// reached through cells.
    #[cfg_attr(optimized, inline(always))]
    pub(crate) unsafe fn new(element: *mut E) -> Self {
        Cell { element, array: PhantomData }
    }

    /// `self += v`
    #[cfg_attr(optimized, inline(always))]
    pub fn add(self, v: E) {
        self.update(|e| e.accumulate(&v));
    }

    /// `self -= v`
    #[cfg_attr(optimized, inline(always))]
    pub fn sub(self, v: E) {
        self.update(|e| e.deduct(&v));
    }

    #[cfg_attr(optimized, inline(always))]
    fn update(self, f: impl Fn(&mut E)) {
        match size_of::<E>() {
            8 if is_atomic::<E>() => {
                // SAFETY: size and alignment are those of the atomic; no other access (see `new`).
                let cell = unsafe { AtomicU64::from_ptr(self.element.cast()) };
                let mut old = cell.load(Relaxed);
                while let Err(now) = cell.compare_exchange_weak(old, next(old, &f), Relaxed, Relaxed) {
                    old = now;
                }
            }
            4 if is_atomic::<E>() => {
                // SAFETY: as above.
                let cell = unsafe { AtomicU32::from_ptr(self.element.cast()) };
                let mut old = cell.load(Relaxed);
                while let Err(now) = cell.compare_exchange_weak(old, next(old, &f), Relaxed, Relaxed) {
                    old = now;
                }
            }
            // loops with other elements don't run this way
            _ => {}
        }
    }
}

/// The bits of an element after an update.
#[cfg_attr(optimized, inline(always))]
fn next<B: Copy, E: Linear>(bits: B, f: impl Fn(&mut E)) -> B {
    const { assert!(size_of::<B>() == 4 || size_of::<B>() == 8) };
    // SAFETY: the bits are those of an element, which is a scalar of the same size (`is_atomic`).
    let mut element: E = unsafe { transmute_copy(&bits) };
    f(&mut element);
    // SAFETY: a scalar of 4 or 8 bytes has no padding.
    unsafe { transmute_copy(&element) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Slice;
    use rev_core::scalar::{Batch, Complex};

    /// How often each task adds; Miri is slow.
    const EACH: usize = if cfg!(miri) { 50 } else { 10_000 };

    #[test]
    fn nothing_is_lost() {
        let mut sums = [Batch([0.0f64]), Batch([0.0])];
        let cells = Slice::exclusive(&mut sums);
        rayon::scope(|s| {
            for _ in 0..4 {
                s.spawn(move |_| {
                    for k in 0..EACH {
                        cells.at([k % 2]).unwrap().add(Batch([1.0]));
                    }
                });
            }
        });
        assert_eq!(sums, [Batch([2.0 * EACH as f64]); 2]);
        let mut n = [7i32];
        Slice::exclusive(&mut n).at([0]).unwrap().sub(9);
        assert_eq!(n, [-2]);
    }

    #[test]
    fn only_single_numbers_of_machine_size() {
        assert!(
            is_atomic::<f64>() && is_atomic::<f32>() && is_atomic::<u64>() && is_atomic::<Batch<f32, 1>>()
        );
        assert!(!is_atomic::<Batch<f32, 2>>() && !is_atomic::<Complex<f32>>() && !is_atomic::<i128>());
        assert!(!is_atomic::<[f64; 1]>() && !is_atomic::<i8>());
    }
}
