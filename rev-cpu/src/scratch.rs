//! Memory for arrays that live inside a run: ancillas of run-time shape, their shadows, and the
//! private copies of parallel loops.
//!
//! Buffers come from a pool of the thread and go back to it, so a loop that needs one in every
//! iteration allocates in the first only, and so does a program that is called in a loop.

use std::cell::RefCell;
use std::mem::{align_of, size_of, MaybeUninit};

use crate::view::{Exclusive, Slice};

/// The unit of the pool's buffers: one cache line, so that a buffer suits every scalar and vector.
#[repr(C, align(64))]
struct Line(MaybeUninit<[u8; LINE]>);
const LINE: usize = 64;

type Buffer = Vec<Line>;

/// How many bytes are copied at once where an array is filled.
const COPIED: usize = 1 << 12;

/// Buffers that a thread keeps at most.
const KEPT: usize = 64;

thread_local! {
    static POOL: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

/// Gives the memory that the calling thread keeps for scratch arrays back to the system.
pub fn clear() {
    POOL.with_borrow_mut(Vec::clear);
}

/// The smallest kept buffer that holds `lines` lines, else a new one. `None` when out of memory.
fn take(lines: usize) -> Option<Buffer> {
    let kept = POOL.with_borrow_mut(|pool| {
        let fitting = pool.iter().enumerate().filter(|(_, b)| b.capacity() >= lines);
        fitting.min_by_key(|(_, b)| b.capacity()).map(|(k, _)| k).map(|k| pool.swap_remove(k))
    });
    kept.or_else(|| {
        let mut new = Buffer::new();
        new.try_reserve_exact(lines.next_power_of_two()).ok()?;
        Some(new)
    })
}

/// Keeps a buffer for later; while a thread is ending it is freed instead.
fn give_back(buffer: Buffer) {
    let mut buffer = Some(buffer);
    let _ = POOL.try_with(|pool| {
        if let Ok(mut pool) = pool.try_borrow_mut() {
            if pool.len() < KEPT {
                pool.extend(buffer.take());
            }
        }
    });
}

/// An array on the pool's memory.
pub struct Scratch<E> {
    buffer: Buffer,
    capacity: usize,
    len: usize,
    element: std::marker::PhantomData<E>,
}

impl<E> Scratch<E> {
    /// An array of `len` elements made in order. `None` when the memory can't be had.
    pub fn from_fn(len: usize, mut make: impl FnMut(usize) -> E) -> Option<Self> {
        let mut scratch = Scratch::with_capacity(len)?;
        for k in 0..len {
            scratch.push(make(k));
        }
        Some(scratch)
    }

    /// An empty array with room for `capacity` elements. `None` when the memory can't be had.
    pub fn with_capacity(capacity: usize) -> Option<Self> {
        const { assert!(align_of::<E>() <= LINE) };
        let bytes = capacity.checked_mul(size_of::<E>())?;
        let buffer = if bytes == 0 { Buffer::new() } else { take(bytes.div_ceil(LINE))? };
        Some(Scratch { buffer, capacity, len: 0, element: std::marker::PhantomData })
    }

    /// One more element, as long as there is room; an element too many is dropped.
    #[inline]
    pub fn push(&mut self, element: E) {
        if self.len < self.capacity {
            // SAFETY: the buffer has room for `capacity` elements at an alignment of 64, or E has no size.
            unsafe { self.start().add(self.len).write(element) };
            self.len += 1;
        }
    }

    /// An array of `len` equal elements. `None` when the memory can't be had.
    pub fn filled(len: usize, value: E) -> Option<Self>
    where
        E: Clone,
    {
        if std::mem::needs_drop::<E>() {
            return Self::from_fn(len, |_| value.clone());
        }
        let mut scratch = Scratch::with_capacity(len)?;
        scratch.push(value);
        scratch.fill_up();
        Some(scratch)
    }

    /// Fills the room that is left with what is there already, again and again. What is to be dropped
    /// can't be copied so: nothing happens then.
    pub fn fill_up(&mut self)
    where
        E: Clone,
    {
        if std::mem::needs_drop::<E>() || self.len == 0 {
            return;
        }
        let start = self.start();
        // what is copied stays in the first cache
        let near = (COPIED / size_of::<E>().max(1)).max(1);
        while self.len < self.capacity {
            let more = self.len.min(self.capacity - self.len).min(near);
            // SAFETY: there is room for `capacity` elements, the first `more` of which are initialised. What
            // has nothing to drop owns nothing, so its bits are a value again.
            unsafe { start.copy_to_nonoverlapping(start.add(self.len), more) };
            self.len += more;
        }
    }

    /// Declares that there are as many elements as there is room for.
    ///
    /// # Safety
    ///
    /// All of them have been written.
    pub(crate) unsafe fn complete(&mut self) {
        self.len = self.capacity;
    }

    /// Where the elements start: aligned for E even where there is no buffer.
    pub(crate) fn start(&mut self) -> *mut E {
        self.buffer.as_mut_ptr().cast()
    }

    /// The elements.
    pub fn elements(&mut self) -> &mut [E] {
        // SAFETY: the first `len` elements are initialised, and the buffer is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.len) }
    }

    /// A handle to the elements.
    pub fn handle(&mut self) -> Slice<'_, E, Exclusive> {
        Slice::exclusive(self.elements())
    }
}

impl<E> Drop for Scratch<E> {
    fn drop(&mut self) {
        // SAFETY: the elements are initialised and dropped once.
        unsafe { std::ptr::drop_in_place(self.elements()) };
        if self.buffer.capacity() > 0 {
            give_back(std::mem::take(&mut self.buffer));
        }
    }
}

// SAFETY: a Scratch owns its elements and its buffer, as a Vec does.
unsafe impl<E: Send> Send for Scratch<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again() {
        clear();
        let first = Scratch::filled(100, 1.0f64).unwrap().elements().as_ptr() as usize;
        let second = Scratch::filled(90, 2u8).unwrap().elements().as_ptr() as usize;
        assert_eq!(first, second);
        clear();
    }

    #[test]
    fn empty_and_sizeless_arrays_and_too_large_ones() {
        assert!(Scratch::filled(0, 1.0).unwrap().elements().is_empty());
        assert_eq!(Scratch::filled(1 << 20, ()).unwrap().elements().len(), 1 << 20);
        assert!(Scratch::filled(usize::MAX / 4, 1.0f64).is_none());
        assert!(Scratch::filled(usize::MAX / 16, 1.0f64).is_none());
    }

    #[test]
    fn elements_are_dropped() {
        let counted = std::rc::Rc::new(());
        drop(Scratch::filled(3, counted.clone()).unwrap());
        assert_eq!(std::rc::Rc::strong_count(&counted), 1);
    }
}
