//! Arrays of an argument as planes of bytes: for each scalar of the element type a plane that holds
//! that scalar of every element. What devices with memory of their own copy, scalar by scalar in its
//! own type, without a tree of [`Data`] in between.
//!
//! The scalars of a type are those that stand in it, in order of declaration: a complex number is its
//! real and its imaginary part, a fixed-size array its elements, the shadow of a number as many
//! scalars as it has cotangents (of a complex one all real parts first), the shadow of what has no
//! derivative none. A 128-bit integer takes two planes, low and high half. Elements stand in the order
//! in which the first axis is the fastest, numbers with the low byte first.

use super::Data;
use crate::ir::ScalarType;

/// What is known of an argument that can be copied to planes, before it is copied.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// An array or stack with at most one of its elements, which shows their type.
    pub sample: Data,
    /// The scalars of each element.
    pub scalars: Vec<ScalarType>,
    /// The length along each axis; of a stack the number of its values.
    pub shape: Vec<usize>,
    /// How many values a stack was made for; none where it isn't one.
    pub room: Option<usize>,
}

/// Planes that are being written, element after element, scalar after scalar.
#[derive(Debug)]
pub struct PlaneWriter<'a> {
    bytes: &'a mut [u8],
    starts: &'a [usize],
    element: usize,
    plane: usize,
}

impl<'a> PlaneWriter<'a> {
    /// Planes in `bytes` that start at `starts`. What lies beyond the end of `bytes` is left out.
    pub fn new(bytes: &'a mut [u8], starts: &'a [usize]) -> PlaneWriter<'a> {
        PlaneWriter { bytes, starts, element: 0, plane: 0 }
    }

    /// The next scalar of the element.
    #[cfg_attr(optimized, inline(always))]
    pub fn put<const N: usize>(&mut self, scalar: [u8; N]) {
        let Some(start) = self.starts.get(self.plane) else { return };
        let at = start + self.element * N;
        if let Some(to) = self.bytes.get_mut(at..at + N) {
            to.copy_from_slice(&scalar);
        }
        self.plane += 1;
    }

    /// Goes on to the next element.
    #[cfg_attr(optimized, inline(always))]
    pub fn next_element(&mut self) {
        self.element += 1;
        self.plane = 0;
    }

    /// A whole plane, of elements that are one scalar each.
    #[cfg_attr(optimized, inline(always))]
    pub fn column<const N: usize>(&mut self, scalars: impl Iterator<Item = [u8; N]>) {
        let Some(plane) = self.starts.first().and_then(|start| self.bytes.get_mut(*start..)) else { return };
        plane.chunks_exact_mut(N).zip(scalars).for_each(|(to, scalar)| to.copy_from_slice(&scalar));
    }

    /// Both halves of a 128-bit integer.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn put_wide(&mut self, v: u128) {
        self.put((v as u64).to_le_bytes());
        self.put(((v >> 64) as u64).to_le_bytes());
    }
}

/// Planes that are being read.
#[derive(Debug)]
pub struct PlaneReader<'a> {
    bytes: &'a [u8],
    starts: &'a [usize],
    count: usize,
    element: usize,
    plane: usize,
}

impl<'a> PlaneReader<'a> {
    /// Planes of `count` elements in `bytes` that start at `starts`. What lies beyond the end of
    /// `bytes` reads as zero.
    pub fn new(bytes: &'a [u8], starts: &'a [usize], count: usize) -> PlaneReader<'a> {
        PlaneReader { bytes, starts, count, element: 0, plane: 0 }
    }

    /// How many elements there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The next scalar of the element.
    #[cfg_attr(optimized, inline(always))]
    pub fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut scalar = [0; N];
        if let Some(start) = self.starts.get(self.plane) {
            let at = start + self.element * N;
            if let Some(from) = self.bytes.get(at..at + N) {
                scalar.copy_from_slice(from);
            }
        }
        self.plane += 1;
        scalar
    }

    /// Goes on to the next element.
    #[cfg_attr(optimized, inline(always))]
    pub fn next_element(&mut self) {
        self.element += 1;
        self.plane = 0;
    }

    /// A whole plane, of elements that are one scalar each.
    #[cfg_attr(optimized, inline(always))]
    pub fn column<const N: usize>(&self) -> impl Iterator<Item = [u8; N]> + 'a {
        let plane = self.starts.first().and_then(|start| self.bytes.get(*start..)).unwrap_or_default();
        plane.chunks_exact(N).map(|from| {
            let mut scalar = [0; N];
            scalar.copy_from_slice(from);
            scalar
        })
    }

    /// Both halves of a 128-bit integer.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn take_wide(&mut self) -> u128 {
        let low = u64::from_le_bytes(self.take());
        u128::from(low) | u128::from(u64::from_le_bytes(self.take())) << 64
    }
}
