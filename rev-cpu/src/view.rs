//! Handles to the arrays of a running program: copyable, bounds-checked, and free of borrows.
//!
//! A reversible program swaps two elements of one array, calls a function on two slices of it, and
//! lets the iterations of a parallel loop write to elements of their own. References can't say that
//! these accesses are disjoint; the checker can, so the emitted code turns every array parameter
//! into a handle at the entry and reaches elements through it. Handles never leave the run.
//!
//! # Safety
//!
//! A handle is made from a reference that it borrows for its lifetime `'a`, so the memory is live,
//! and nothing outside the program can reach it meanwhile (for [`Exclusive`] handles). Inside the
//! program the rules R1, R7 and P1 to P3 of the language (checked at compile time, and at run time
//! where only values decide) keep two live references to one element from being made: an access
//! lasts one statement, statements with several places copy values, and parallel iterations reach
//! an element for writing only when no other iteration does.

mod operand;
mod part;

pub use operand::{Operand, Raw};
pub use part::{Taken, Without};

use std::marker::PhantomData;

use ndarray::{Array, ArrayView, ArrayViewMut, Axis, Dim, Dimension};
use rev_core::error::Error;
use rev_core::scalar::Linear;
use rev_core::value::Stack;

use crate::atomic::Cell;
use crate::fail::{self, Absent};

/// The mark of a handle that can only read.
#[derive(Clone, Copy, Debug)]
pub struct Shared;

/// The mark of a handle that can read and write.
#[derive(Clone, Copy, Debug)]
pub struct Exclusive;

/// The most dimensions of an array whose number of dimensions is only known at run time.
pub const MAX_RANK: usize = 6;

/// A handle to contiguous elements: `&[E]`, `Vec<E>`, and arrays of the program's own.
#[derive(Debug)]
pub struct Slice<'a, E, M> {
    ptr: *mut E,
    len: usize,
    borrow: PhantomData<(&'a mut E, M)>,
}

/// A handle to an array of `R` dimensions with any strides.
#[derive(Debug)]
pub struct Strided<'a, E, const R: usize, M> {
    ptr: *mut E,
    shape: [usize; R],
    strides: [isize; R],
    borrow: PhantomData<(&'a mut E, M)>,
}

/// A handle to an array whose number of dimensions is only known at run time.
#[derive(Debug)]
pub struct Dynamic<'a, E, M> {
    rank: usize,
    all: Strided<'a, E, MAX_RANK, M>,
}

/// Where an array of `R` dimensions lies: its first element, its sizes, and how many elements neighbours
/// along each axis are apart.
pub(crate) struct Frame<E, const R: usize> {
    pub(crate) ptr: *mut E,
    pub(crate) shape: [usize; R],
    pub(crate) strides: [isize; R],
}

macro_rules! handle {
    ($name:ident $(const $r:ident)?) => {
        impl<E, $(const $r: usize,)? M> Copy for $name<'_, E, $($r,)? M> {}
        impl<E, $(const $r: usize,)? M> Clone for $name<'_, E, $($r,)? M> {
            #[cfg_attr(optimized, inline(always))]
            fn clone(&self) -> Self {
                *self
            }
        }
    };
}
handle!(Slice);
handle!(Strided const R);
handle!(Dynamic);

// SAFETY: a handle stands for a `&[E]` (Shared) or a `&mut [E]` (Exclusive) whose accesses the
// program keeps disjoint (module documentation), so it moves between threads as these do.
unsafe impl<E: Send + Sync, M> Send for Slice<'_, E, M> {}
// SAFETY: as above.
unsafe impl<E: Send + Sync, M> Sync for Slice<'_, E, M> {}
// SAFETY: as above.
unsafe impl<E: Send + Sync, const R: usize, M> Send for Strided<'_, E, R, M> {}
// SAFETY: as above.
unsafe impl<E: Send + Sync, const R: usize, M> Sync for Strided<'_, E, R, M> {}

/// The sizes of an array, for `len`, `nrows` and messages.
pub trait Extents {
    /// The number of elements along an axis; 1 for an axis that the array doesn't have.
    fn extent(&self, axis: usize) -> usize;
    /// The number of dimensions.
    fn rank(&self) -> usize;
    /// The number of elements.
    #[inline]
    fn count(&self) -> usize {
        (0..self.rank()).map(|k| self.extent(k)).product()
    }
    /// The number of elements along each of so many axes.
    #[cfg_attr(optimized, inline(always))]
    fn extents<const R: usize>(&self) -> [usize; R] {
        std::array::from_fn(|k| self.extent(k))
    }
}

/// Element access of arrays that lie in a value, spelled as that of handles: arrays of fixed size, and the fields of
/// structs that have a run-time shape.
pub trait Elements<const R: usize>: Extents {
    /// What it holds.
    type Element;
    /// The element at an index, where there is one.
    fn rd(&self, index: [usize; R]) -> Result<&Self::Element, Absent<R>>;
    /// The same for writing.
    fn wr(&mut self, index: [usize; R]) -> Result<&mut Self::Element, Absent<R>>;
}

/// Handles to arrays that lie in a value.
pub trait Lend {
    /// A handle that can only read.
    type Reader<'a>
    where
        Self: 'a;
    /// A handle that can write.
    type Writer<'a>
    where
        Self: 'a;
    /// A handle that can only read.
    fn reader(&self) -> Self::Reader<'_>;
    /// A handle that can write.
    fn writer(&mut self) -> Self::Writer<'_>;
}

impl<E, const N: usize> Extents for [E; N] {
    #[cfg_attr(optimized, inline(always))]
    fn extent(&self, axis: usize) -> usize {
        if axis == 0 {
            N
        } else {
            1
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn rank(&self) -> usize {
        1
    }
}

/// A stack has the length that it has at the moment.
impl<T> Extents for Stack<T> {
    #[cfg_attr(optimized, inline(always))]
    fn extent(&self, axis: usize) -> usize {
        if axis == 0 {
            self.len()
        } else {
            1
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn rank(&self) -> usize {
        1
    }
}

macro_rules! line {
    ([$($length:tt)*] $t:ty) => {
        impl<E $($length)*> Elements<1> for $t {
            type Element = E;
            #[cfg_attr(optimized, inline(always))]
            fn rd(&self, [i]: [usize; 1]) -> Result<&E, Absent<1>> {
                self.get(i).ok_or(Absent { index: [i], shape: [self.len()] })
            }
            #[cfg_attr(optimized, inline(always))]
            fn wr(&mut self, [i]: [usize; 1]) -> Result<&mut E, Absent<1>> {
                let shape = [self.len()];
                self.get_mut(i).ok_or(Absent { index: [i], shape })
            }
        }

        impl<E $($length)*> Lend for $t {
            type Reader<'a> = Slice<'a, E, Shared> where Self: 'a;
            type Writer<'a> = Slice<'a, E, Exclusive> where Self: 'a;
            #[cfg_attr(optimized, inline(always))]
            fn reader(&self) -> Slice<'_, E, Shared> {
                Slice::shared(self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn writer(&mut self) -> Slice<'_, E, Exclusive> {
                Slice::exclusive(self)
            }
        }
    };
}
line!([, const N: usize] [E; N]);
line!([] Vec<E>);

impl<E> Extents for Vec<E> {
    #[cfg_attr(optimized, inline(always))]
    fn extent(&self, axis: usize) -> usize {
        if axis == 0 {
            self.len()
        } else {
            1
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn rank(&self) -> usize {
        1
    }
}

impl<E, D: Dimension> Extents for Array<E, D> {
    #[cfg_attr(optimized, inline(always))]
    fn extent(&self, axis: usize) -> usize {
        self.shape().get(axis).copied().unwrap_or(1)
    }
    #[cfg_attr(optimized, inline(always))]
    fn rank(&self) -> usize {
        self.ndim()
    }
}

macro_rules! owned_arrays {
    ($($rank:literal)*) => {$(
        impl<E> Elements<$rank> for Array<E, Dim<[usize; $rank]>> {
            type Element = E;
            #[cfg_attr(optimized, inline(always))]
            fn rd(&self, index: [usize; $rank]) -> Result<&E, Absent<$rank>> {
                self.get(index).ok_or_else(|| Absent { index, shape: std::array::from_fn(|k| self.len_of(Axis(k))) })
            }
            #[cfg_attr(optimized, inline(always))]
            fn wr(&mut self, index: [usize; $rank]) -> Result<&mut E, Absent<$rank>> {
                let shape = std::array::from_fn(|k| self.len_of(Axis(k)));
                self.get_mut(index).ok_or(Absent { index, shape })
            }
        }

        impl<E> Lend for Array<E, Dim<[usize; $rank]>> {
            type Reader<'a> = Strided<'a, E, $rank, Shared> where Self: 'a;
            type Writer<'a> = Strided<'a, E, $rank, Exclusive> where Self: 'a;
            #[cfg_attr(optimized, inline(always))]
            fn reader(&self) -> Strided<'_, E, $rank, Shared> {
                let ptr = self.as_ptr().cast_mut();
                let of_axis = |k| (self.len_of(Axis(k)), self.stride_of(Axis(k)));
                Strided::of_axes(ptr, std::array::from_fn(of_axis))
            }
            #[cfg_attr(optimized, inline(always))]
            fn writer(&mut self) -> Strided<'_, E, $rank, Exclusive> {
                let ptr = self.as_mut_ptr();
                let of_axis = |k| (self.len_of(Axis(k)), self.stride_of(Axis(k)));
                Strided::of_axes(ptr, std::array::from_fn(of_axis))
            }
        }
    )*};
}
owned_arrays! { 1 2 3 4 }

impl<'a, E> Slice<'a, E, Shared> {
    /// A handle to a slice.
    #[cfg_attr(optimized, inline(always))]
    pub fn shared(s: &'a [E]) -> Self {
        Slice { ptr: s.as_ptr().cast_mut(), len: s.len(), borrow: PhantomData }
    }
}

impl<'a, E> Slice<'a, E, Exclusive> {
    /// A handle to a slice that can write.
    #[cfg_attr(optimized, inline(always))]
    pub fn exclusive(s: &'a mut [E]) -> Self {
        Slice { ptr: s.as_mut_ptr(), len: s.len(), borrow: PhantomData }
    }

    /// The element at an index for writing.
    ///
    /// # Errors
    ///
    /// When the index is out of range.
    #[cfg_attr(optimized, inline(always))]
    pub fn wr(self, index: [usize; 1]) -> Result<&'a mut E, Absent<1>> {
        // SAFETY: the index is in range of memory borrowed for 'a; disjointness as the module says.
        self.offset(index).map(|d| unsafe { &mut *self.ptr.add(d) })
    }

    /// All elements for writing.
    fn cells(self) -> &'a mut [E] {
        // SAFETY: ptr and len come from memory borrowed for 'a; disjointness as the module says.
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len) }
    }
}

macro_rules! cells {
    ($handle:ty $(, const $r:ident)?; $rank:tt; |$self:ident, $i:ident| $address:expr) => {
        impl<'a, E: Linear, $(const $r: usize)?> $handle {
            /// The element at an index as a cell that several threads may add to. While the loop runs in which
            /// this is called, the array is reached in no other way.
            ///
            /// # Errors
            ///
            /// When the index is out of range.
            #[cfg_attr(optimized, inline(always))]
            pub fn at($self, $i: [usize; $rank]) -> Result<Cell<'a, E>, Absent<$rank>> {
                // SAFETY: the index is in range of memory borrowed for 'a; the rest as documented.
                $address.map(|address| unsafe { Cell::new(address) })
            }
        }
    };
}
// SAFETY (of the offsets): the index is in range.
cells!(Slice<'a, E, Exclusive>; 1; |self, i| self.offset(i).map(|d| unsafe { self.ptr.add(d) }));
cells!(Strided<'a, E, R, Exclusive>, const R; R; |self, i| self.offset(i).map(|d| unsafe { self.ptr.offset(d) }));

impl<'a, E: Linear> Dynamic<'a, E, Exclusive> {
    /// The element at an index as a cell.
    ///
    /// # Errors
    ///
    /// When the index is out of range or of another rank.
    #[inline]
    pub fn at<const R: usize>(self, index: [usize; R]) -> Result<Cell<'a, E>, Absent<R>> {
        self.padded(index, |all, index| all.at(index).ok())
    }
}

impl<'a, E, M> Slice<'a, E, M> {
    #[cfg_attr(optimized, inline(always))]
    fn offset(self, [i]: [usize; 1]) -> Result<usize, Absent<1>> {
        if i < self.len {
            Ok(i)
        } else {
            Err(Absent { index: [i], shape: [self.len] })
        }
    }

    /// The element at an index.
    ///
    /// # Errors
    ///
    /// When the index is out of range.
    #[cfg_attr(optimized, inline(always))]
    pub fn rd(self, index: [usize; 1]) -> Result<&'a E, Absent<1>> {
        // SAFETY: the index is in range of memory borrowed for 'a; disjointness as the module says.
        self.offset(index).map(|d| unsafe { &*self.ptr.add(d) })
    }

    /// The same elements, for reading only.
    #[cfg_attr(optimized, inline(always))]
    pub fn share(self) -> Slice<'a, E, Shared> {
        Slice { ptr: self.ptr, len: self.len, borrow: PhantomData }
    }

    /// All elements, for external blocks and the runtime's operations on whole arrays.
    #[cfg_attr(optimized, inline(always))]
    pub fn elements(self) -> &'a [E] {
        // SAFETY: ptr and len come from a slice borrowed for 'a.
        unsafe { std::slice::from_raw_parts(self.ptr, self.len) }
    }
}

impl<E, M> Slice<'_, E, M> {
    #[cfg_attr(optimized, inline(always))]
    pub(crate) fn frame(self) -> Option<Frame<E, 1>> {
        Some(Frame { ptr: self.ptr, shape: [self.len], strides: [1] })
    }
}

impl<E, const R: usize, M> Strided<'_, E, R, M> {
    #[cfg_attr(optimized, inline(always))]
    pub(crate) fn frame(self) -> Option<Frame<E, R>> {
        Some(Frame { ptr: self.ptr, shape: self.shape, strides: self.strides })
    }
}

impl<E, M> Dynamic<'_, E, M> {
    /// `None` where the array has another number of dimensions.
    #[cfg_attr(optimized, inline(always))]
    pub(crate) fn frame<const R: usize>(self) -> Option<Frame<E, R>> {
        let (shape, strides) = (self.all.shape.first_chunk()?, self.all.strides.first_chunk()?);
        (R == self.rank).then_some(Frame { ptr: self.all.ptr, shape: *shape, strides: *strides })
    }
}

impl<E, M> Extents for Slice<'_, E, M> {
    #[cfg_attr(optimized, inline(always))]
    fn extent(&self, axis: usize) -> usize {
        if axis == 0 {
            self.len
        } else {
            1
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn rank(&self) -> usize {
        1
    }
    #[cfg_attr(optimized, inline(always))]
    fn count(&self) -> usize {
        self.len
    }
    #[cfg_attr(optimized, inline(always))]
    fn extents<const R: usize>(&self) -> [usize; R] {
        let mut extents = [1; R];
        if R > 0 {
            extents[0] = self.len;
        }
        extents
    }
}

impl<E, M> std::ops::Deref for Slice<'_, E, M> {
    type Target = [E];
    fn deref(&self) -> &[E] {
        self.elements()
    }
}

impl<'a, E, const R: usize> Strided<'a, E, R, Shared> {
    /// A handle to an array view.
    ///
    /// # Errors
    ///
    /// When its number of dimensions isn't `R`.
    #[inline]
    pub fn shared<D: Dimension>(v: ArrayView<'a, E, D>) -> Result<Self, Error> {
        Self::parts(v.as_ptr().cast_mut(), v.shape(), v.strides()).ok_or_else(|| fail::rank(v.ndim(), R))
    }
}

impl<'a, E, const R: usize> Strided<'a, E, R, Exclusive> {
    /// A handle to an array view that can write.
    ///
    /// # Errors
    ///
    /// When its number of dimensions isn't `R`.
    #[inline]
    pub fn exclusive<D: Dimension>(mut v: ArrayViewMut<'a, E, D>) -> Result<Self, Error> {
        let ptr = v.as_mut_ptr();
        Self::parts(ptr, v.shape(), v.strides()).ok_or_else(|| fail::rank(v.ndim(), R))
    }

    /// The element at an index for writing.
    ///
    /// # Errors
    ///
    /// When the index is out of range.
    #[cfg_attr(optimized, inline(always))]
    pub fn wr(self, index: [usize; R]) -> Result<&'a mut E, Absent<R>> {
        // SAFETY: the index is in range of memory borrowed for 'a; disjointness as the module says.
        self.offset(index).map(|d| unsafe { &mut *self.ptr.offset(d) })
    }
}

impl<'a, E, const R: usize, M> Strided<'a, E, R, M> {
    /// From the first element and, of each axis, its length and how far neighbours are apart.
    #[cfg_attr(optimized, inline(always))]
    fn of_axes(ptr: *mut E, axes: [(usize, isize); R]) -> Self {
        Strided { ptr, shape: axes.map(|a| a.0), strides: axes.map(|a| a.1), borrow: PhantomData }
    }

    #[inline]
    fn parts(ptr: *mut E, shape: &[usize], strides: &[isize]) -> Option<Self> {
        let (shape, strides) = (shape.try_into().ok()?, strides.try_into().ok()?);
        Some(Strided { ptr, shape, strides, borrow: PhantomData })
    }

    /// Contiguous elements in a shape, the last axis running fastest. An array without elements
    /// where there aren't as many as the shape says.
    #[inline]
    pub fn row_major(elements: Slice<'a, E, M>, mut shape: [usize; R]) -> Self {
        if shape.iter().try_fold(1usize, |n, &s| n.checked_mul(s)) != Some(elements.len) {
            shape = [0; R];
        }
        let mut strides = [1isize; R];
        for k in (1..R).rev() {
            strides[k - 1] = strides[k].wrapping_mul(shape[k].max(1) as isize);
        }
        Strided { ptr: elements.ptr, shape, strides, borrow: PhantomData }
    }

    // a plain loop over the axes, which the compiler unrolls; iterators here weren't inlined
    #[cfg_attr(optimized, inline(always))]
    fn offset(self, index: [usize; R]) -> Result<isize, Absent<R>> {
        let mut offset = 0isize;
        let mut k = 0;
        while k < R {
            if index[k] >= self.shape[k] {
                return Err(Absent { index, shape: self.shape });
            }
            offset = offset.wrapping_add((index[k] as isize).wrapping_mul(self.strides[k]));
            k += 1;
        }
        Ok(offset)
    }

    /// The element at an index.
    ///
    /// # Errors
    ///
    /// When the index is out of range.
    #[cfg_attr(optimized, inline(always))]
    pub fn rd(self, index: [usize; R]) -> Result<&'a E, Absent<R>> {
        // SAFETY: the index is in range of memory borrowed for 'a; disjointness as the module says.
        self.offset(index).map(|d| unsafe { &*self.ptr.offset(d) })
    }

    /// The same elements, for reading only.
    #[cfg_attr(optimized, inline(always))]
    pub fn share(self) -> Strided<'a, E, R, Shared> {
        Strided { ptr: self.ptr, shape: self.shape, strides: self.strides, borrow: PhantomData }
    }

    /// The sizes.
    #[cfg_attr(optimized, inline(always))]
    pub fn shape(self) -> [usize; R] {
        self.shape
    }
}

impl<E, const R: usize, M> Extents for Strided<'_, E, R, M> {
    #[cfg_attr(optimized, inline(always))]
    fn extent(&self, axis: usize) -> usize {
        self.shape.get(axis).copied().unwrap_or(1)
    }
    #[cfg_attr(optimized, inline(always))]
    fn rank(&self) -> usize {
        R
    }
}

/// The elements of an array in row-major order.
pub struct Walk<'a, E, const R: usize, M> {
    array: Strided<'a, E, R, M>,
    index: [usize; R],
    left: usize,
}

impl<E, const R: usize, M> Walk<'_, E, R, M> {
    /// The next element's index.
    #[inline]
    fn step(&mut self) -> Option<[usize; R]> {
        self.left = self.left.checked_sub(1)?;
        let here = self.index;
        for axis in (0..R).rev() {
            self.index[axis] += 1;
            if self.index[axis] < self.array.shape[axis] {
                break;
            }
            self.index[axis] = 0;
        }
        Some(here)
    }
}

impl<'a, E, const R: usize> Iterator for Walk<'a, E, R, Shared> {
    type Item = &'a E;
    #[inline]
    fn next(&mut self) -> Option<&'a E> {
        let index = self.step()?;
        self.array.rd(index).ok()
    }
}

impl<'a, E, const R: usize> Iterator for Walk<'a, E, R, Exclusive> {
    type Item = &'a mut E;
    #[inline]
    fn next(&mut self) -> Option<&'a mut E> {
        let index = self.step()?;
        self.array.wr(index).ok()
    }
}

/// A handle as a whole array.
pub trait Whole<'a>: Extents + Copy + Send + Sync {
    /// What it holds.
    type Element: 'a;
    /// Its elements in row-major order, for reading.
    fn elements_in_order(self) -> impl Iterator<Item = &'a Self::Element>;
    /// The same as a slice, if they lie one after the other in memory.
    fn contiguous(self) -> Option<&'a [Self::Element]>;
}

/// An exclusive handle as storage: what parallel loops make private copies of.
pub trait Cells<'a>: Whole<'a> {
    /// Its elements in row-major order, for writing.
    fn cells_in_order(self) -> impl Iterator<Item = &'a mut Self::Element>;
    /// The same as a slice, if they lie one after the other in memory.
    fn contiguous_cells(self) -> Option<&'a mut [Self::Element]>;
    /// A handle of this type and shape to contiguous elements, as many as this one has.
    ///
    /// # Safety
    ///
    /// The handle must not be used after the elements' memory is freed or borrowed otherwise.
    unsafe fn over(self, elements: &mut [Self::Element]) -> Option<Self>;
}

impl<'a, E: Send + Sync + 'a, M: Send + Sync> Whole<'a> for Slice<'a, E, M> {
    type Element = E;
    fn elements_in_order(self) -> impl Iterator<Item = &'a E> {
        self.elements().iter()
    }
    #[cfg_attr(optimized, inline(always))]
    fn contiguous(self) -> Option<&'a [E]> {
        Some(self.elements())
    }
}

impl<'a, E: Send + Sync + 'a> Cells<'a> for Slice<'a, E, Exclusive> {
    fn cells_in_order(self) -> impl Iterator<Item = &'a mut E> {
        self.cells().iter_mut()
    }
    fn contiguous_cells(self) -> Option<&'a mut [E]> {
        Some(self.cells())
    }
    unsafe fn over(self, elements: &mut [E]) -> Option<Self> {
        (elements.len() == self.len).then_some(Slice { ptr: elements.as_mut_ptr(), ..self })
    }
}

impl<'a, E, const R: usize, M> Strided<'a, E, R, M> {
    fn walk(self) -> Walk<'a, E, R, M> {
        Walk { array: self, index: [0; R], left: self.shape.iter().product() }
    }

    /// All elements, if there are any and they lie one after the other in memory.
    #[cfg_attr(optimized, inline(always))]
    fn flat(self) -> Option<Slice<'a, E, M>> {
        let count = self.shape.iter().product();
        let all = Slice { ptr: self.ptr, len: count, borrow: PhantomData };
        let in_order = Strided::row_major(all, self.shape).strides;
        let mut axes = self.shape.iter().zip(self.strides.iter().zip(in_order));
        // where an axis has no second element, its stride doesn't matter
        let same = axes.all(|(extent, (stride, expected))| *extent < 2 || *stride == expected);
        (same && count > 0).then_some(all)
    }
}

impl<'a, E: Send + Sync + 'a, const R: usize, M: Send + Sync> Whole<'a> for Strided<'a, E, R, M> {
    type Element = E;
    fn elements_in_order(self) -> impl Iterator<Item = &'a E> {
        self.share().walk()
    }
    #[cfg_attr(optimized, inline(always))]
    fn contiguous(self) -> Option<&'a [E]> {
        self.flat().map(Slice::elements)
    }
}

impl<'a, E: Send + Sync + 'a, const R: usize> Cells<'a> for Strided<'a, E, R, Exclusive> {
    fn cells_in_order(self) -> impl Iterator<Item = &'a mut E> {
        self.walk()
    }
    fn contiguous_cells(self) -> Option<&'a mut [E]> {
        self.flat().map(Slice::cells)
    }
    unsafe fn over(self, elements: &mut [E]) -> Option<Self> {
        let count: usize = self.shape.iter().product();
        let all = Slice { ptr: elements.as_mut_ptr(), len: elements.len(), borrow: PhantomData };
        (count == elements.len()).then(|| Strided::row_major(all, self.shape))
    }
}

impl<'a, E: Send + Sync + 'a, M: Send + Sync> Whole<'a> for Dynamic<'a, E, M> {
    type Element = E;
    fn elements_in_order(self) -> impl Iterator<Item = &'a E> {
        self.all.share().walk()
    }
    #[cfg_attr(optimized, inline(always))]
    fn contiguous(self) -> Option<&'a [E]> {
        self.all.contiguous()
    }
}

impl<'a, E: Send + Sync + 'a> Cells<'a> for Dynamic<'a, E, Exclusive> {
    fn cells_in_order(self) -> impl Iterator<Item = &'a mut E> {
        self.all.walk()
    }
    fn contiguous_cells(self) -> Option<&'a mut [E]> {
        self.all.contiguous_cells()
    }
    unsafe fn over(self, elements: &mut [E]) -> Option<Self> {
        // SAFETY: as required of the caller.
        unsafe { self.all.over(elements) }.map(|all| Dynamic { rank: self.rank, all })
    }
}

impl<'a, E, M> From<Slice<'a, E, M>> for Strided<'a, E, 1, M> {
    #[cfg_attr(optimized, inline(always))]
    fn from(s: Slice<'a, E, M>) -> Self {
        Strided { ptr: s.ptr, shape: [s.len], strides: [1], borrow: PhantomData }
    }
}

impl<'a, E, M> From<Slice<'a, E, M>> for Dynamic<'a, E, M> {
    fn from(s: Slice<'a, E, M>) -> Self {
        Strided::<E, 1, M>::from(s).into()
    }
}

impl<'a, E, const R: usize, M> From<Strided<'a, E, R, M>> for Dynamic<'a, E, M> {
    fn from(s: Strided<'a, E, R, M>) -> Self {
        const { assert!(R <= MAX_RANK) };
        let (mut shape, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
        shape[..R].copy_from_slice(&s.shape);
        strides[..R].copy_from_slice(&s.strides);
        Dynamic { rank: R, all: Strided { ptr: s.ptr, shape, strides, borrow: PhantomData } }
    }
}

/// One value behind a handle that can be copied: what the tasks of a parallel loop accumulate into,
/// each in a private copy. Parts of one value are never written by several tasks, which would need
/// exclusive references to the whole.
#[derive(Debug)]
pub struct Single<'a, P>(*mut P, PhantomData<&'a mut P>);

impl<P> Copy for Single<'_, P> {}
impl<P> Clone for Single<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
// SAFETY: as for slices.
unsafe impl<P: Send + Sync> Send for Single<'_, P> {}
// SAFETY: as for slices.
unsafe impl<P: Send + Sync> Sync for Single<'_, P> {}

impl<'a, P> Single<'a, P> {
    /// A handle to a value.
    #[cfg_attr(optimized, inline(always))]
    pub fn new(value: &'a mut P) -> Self {
        Single(value, PhantomData)
    }

    /// A handle to an element of an array, `None` where the index was out of range.
    #[cfg_attr(optimized, inline(always))]
    pub fn of_element<A>(element: Result<&'a mut P, A>) -> Option<Self> {
        element.ok().map(Single::new)
    }

    /// The value, which tasks may look at while none of them changes it.
    #[cfg_attr(optimized, inline(always))]
    pub fn look(self) -> &'a P {
        // SAFETY: made from a reference with this lifetime; disjointness as the module says.
        unsafe { &*self.0 }
    }

    /// The value. A task asks for it only where it is its own copy, or where it runs alone.
    #[cfg_attr(optimized, inline(always))]
    pub fn get(self) -> &'a mut P {
        // SAFETY: made from a reference with this lifetime; disjointness as the module says.
        unsafe { &mut *self.0 }
    }

    /// A handle of this type to another value.
    ///
    /// # Safety
    ///
    /// The handle must not be used after the value is moved, dropped or borrowed otherwise.
    pub unsafe fn over(self, value: &mut P) -> Self {
        Single(value, PhantomData)
    }
}

/// Fills up a shape with ones (strides with zeros) to [`MAX_RANK`].
fn padded<X: Copy>(given: &[X], fill: X) -> Option<[X; MAX_RANK]> {
    let mut out = [fill; MAX_RANK];
    out.get_mut(..given.len())?.copy_from_slice(given);
    Some(out)
}

impl<'a, E> Dynamic<'a, E, Shared> {
    /// A handle to an array view.
    ///
    /// # Errors
    ///
    /// When it has more than [`MAX_RANK`] dimensions.
    pub fn shared<D: Dimension>(v: ArrayView<'a, E, D>) -> Result<Self, Error> {
        let ptr = v.as_ptr().cast_mut();
        Self::parts(ptr, v.shape(), v.strides()).ok_or_else(|| fail::rank(v.ndim(), MAX_RANK))
    }
}

impl<'a, E> Dynamic<'a, E, Exclusive> {
    /// A handle to an array view that can write.
    ///
    /// # Errors
    ///
    /// When it has more than [`MAX_RANK`] dimensions.
    pub fn exclusive<D: Dimension>(mut v: ArrayViewMut<'a, E, D>) -> Result<Self, Error> {
        let ptr = v.as_mut_ptr();
        Self::parts(ptr, v.shape(), v.strides()).ok_or_else(|| fail::rank(v.ndim(), MAX_RANK))
    }

    /// The element at an index for writing.
    ///
    /// # Errors
    ///
    /// When the index is out of range or of another rank.
    #[inline]
    pub fn wr<const R: usize>(self, index: [usize; R]) -> Result<&'a mut E, Absent<R>> {
        self.padded(index, |all, index| all.wr(index).ok())
    }
}

impl<'a, E, M> Dynamic<'a, E, M> {
    fn parts(ptr: *mut E, shape: &[usize], strides: &[isize]) -> Option<Self> {
        let all =
            Strided { ptr, shape: padded(shape, 1)?, strides: padded(strides, 0)?, borrow: PhantomData };
        Some(Dynamic { rank: shape.len(), all })
    }

    /// Contiguous elements in a shape, the last axis running fastest. An array without elements
    /// where there aren't as many as the shape says, or the shape has more than [`MAX_RANK`] axes.
    pub fn row_major(elements: Slice<'a, E, M>, shape: &[usize]) -> Self {
        let shape_of_all = padded(shape, 1).unwrap_or([0; MAX_RANK]);
        let rank = shape.len().min(MAX_RANK);
        Dynamic { rank, all: Strided::row_major(elements, shape_of_all) }
    }

    #[inline]
    fn padded<X, const R: usize>(
        self,
        index: [usize; R],
        reach: impl FnOnce(Strided<'a, E, MAX_RANK, M>, [usize; MAX_RANK]) -> Option<X>,
    ) -> Result<X, Absent<R>> {
        let found = (R == self.rank).then(|| padded(&index, 0)).flatten().and_then(|i| reach(self.all, i));
        found.ok_or_else(|| Absent::of(&self, index))
    }

    /// The element at an index.
    ///
    /// # Errors
    ///
    /// When the index is out of range or of another rank.
    #[inline]
    pub fn rd<const R: usize>(self, index: [usize; R]) -> Result<&'a E, Absent<R>> {
        self.padded(index, |all, index| all.rd(index).ok())
    }

    /// The same elements, for reading only.
    #[inline]
    pub fn share(self) -> Dynamic<'a, E, Shared> {
        Dynamic { rank: self.rank, all: self.all.share() }
    }

    /// The sizes.
    pub fn shape(&self) -> &[usize] {
        &self.all.shape[..self.rank]
    }
}

impl<E, M> Extents for Dynamic<'_, E, M> {
    fn extent(&self, axis: usize) -> usize {
        self.all.extent(axis)
    }
    fn rank(&self) -> usize {
        self.rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, s};

    #[test]
    fn slices_check_their_range_and_split() {
        let mut a = [1, 2, 3, 4];
        let v = Slice::exclusive(&mut a);
        assert_eq!(v.rd([3]), Ok(&4));
        assert_eq!(v.rd([4]), Err(Absent { index: [4], shape: [4] }));
        let part = |i, j| v.part::<1, 1>([Taken::Range(i, j)]);
        assert!(part(3, 2).is_none() && part(0, 5).is_none());
        let (left, right) = (part(0, 2).unwrap(), part(2, 4).unwrap());
        std::mem::swap(left.wr([0]).unwrap(), right.wr([1]).unwrap());
        assert_eq!(a, [4, 2, 3, 1]);
    }

    #[test]
    fn strided_views_follow_any_strides() {
        let mut a = array![[1., 2., 3.], [4., 5., 6.]];
        let v = Strided::<_, 2, _>::exclusive(a.slice_mut(s![..;-1, ..;2])).unwrap();
        assert_eq!(v.shape(), [2, 2]);
        assert_eq!((v.rd([0, 1]), v.rd([1, 0])), (Ok(&6.), Ok(&1.)));
        assert_eq!(v.rd([0, 2]), Err(Absent { index: [0, 2], shape: [2, 2] }));
        *v.wr([1, 1]).unwrap() = 0.;
        assert_eq!(a[[0, 2]], 0.);
        assert!(Strided::<_, 3, _>::shared(a.view()).is_err());
    }

    #[test]
    fn dynamic_views_check_their_rank() {
        let a = array![[1, 2], [3, 4]];
        let v = Dynamic::shared(a.view().into_dyn()).unwrap();
        assert_eq!(v.rd([1, 0]), Ok(&3));
        assert_eq!(v.rd([1]), Err(Absent { index: [1], shape: [2] }));
        assert_eq!(v.rd([2, 0]), Err(Absent { index: [2, 0], shape: [2, 2] }));
        assert_eq!((v.count(), v.extent(1), v.extent(5)), (4, 2, 1));
    }

    #[test]
    fn copies_have_the_shape_and_order_of_their_original() {
        let mut a = array![[1, 2, 3], [4, 5, 6]];
        let mut b = [0; 6];
        let v = Strided::<_, 2, _>::exclusive(a.view_mut().reversed_axes()).unwrap();
        b.iter_mut().zip(v.elements_in_order()).for_each(|(b, e)| *b = *e);
        assert_eq!(b, [1, 4, 2, 5, 3, 6]);
        // SAFETY: b outlives the handle.
        let copy = unsafe { v.over(&mut b) }.unwrap();
        assert_eq!((copy.shape(), copy.rd([2, 0]), copy.rd([0, 1])), ([3, 2], Ok(&3), Ok(&4)));
    }
}
