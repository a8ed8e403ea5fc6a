//! Arrays of every kind as one: an address, lengths and strides, for products of whole arrays.

use std::marker::PhantomData;

use ndarray::{Array, Dim};
use rev_core::ops::MAX_AXES;

use super::{Dynamic, Lend, Slice, Strided, MAX_RANK};

const _: () = assert!(MAX_AXES == MAX_RANK);

/// An array with any number of dimensions; a scalar has none.
pub struct Raw<'a, E> {
    ptr: *mut E,
    shape: [usize; MAX_AXES],
    strides: [isize; MAX_AXES],
    rank: usize,
    borrow: PhantomData<&'a mut E>,
}

impl<E> Copy for Raw<'_, E> {}
impl<E> Clone for Raw<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, E> Raw<'a, E> {
    /// A scalar that is only read.
    pub fn scalar(value: &'a E) -> Self {
        Raw::new(std::ptr::from_ref(value).cast_mut(), [0; MAX_AXES], [0; MAX_AXES], 0)
    }

    fn new(ptr: *mut E, shape: [usize; MAX_AXES], strides: [isize; MAX_AXES], rank: usize) -> Self {
        Raw { ptr, shape, strides, rank, borrow: PhantomData }
    }

    /// Elements in row-major order, which needn't be initialised to be written.
    pub(crate) fn row_major<const R: usize>(ptr: *mut E, extents: [usize; R]) -> Self {
        let (mut shape, mut strides) = ([1; MAX_AXES], [0; MAX_AXES]);
        let mut stride = 1usize;
        for axis in (0..R).rev() {
            (shape[axis], strides[axis]) = (extents[axis], stride as isize);
            stride = stride.wrapping_mul(extents[axis]);
        }
        Raw::new(ptr, shape, strides, R)
    }

    fn line(ptr: *mut E, len: usize) -> Self {
        let (mut shape, mut strides) = ([1; MAX_AXES], [0; MAX_AXES]);
        (shape[0], strides[0]) = (len, 1);
        Raw::new(ptr, shape, strides, 1)
    }

    /// The first element's address. Elements reached from it by indices in range of the shape may be
    /// read, and written where the array was made from something that could be.
    pub fn ptr(self) -> *mut E {
        self.ptr
    }

    /// The lengths.
    pub fn shape(&self) -> &[usize] {
        &self.shape[..self.rank]
    }

    /// The distances, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.strides[..self.rank]
    }
}

/// What can be an array in a product.
pub trait Operand<'a> {
    /// What it holds.
    type Element: 'a;
    /// The array.
    fn raw(self) -> Raw<'a, Self::Element>;
}

impl<'a, E: 'a, M> Operand<'a> for Slice<'a, E, M> {
    type Element = E;
    fn raw(self) -> Raw<'a, E> {
        Raw::line(self.ptr, self.len)
    }
}

impl<'a, E: 'a, const R: usize, M> Operand<'a> for Strided<'a, E, R, M> {
    type Element = E;
    fn raw(self) -> Raw<'a, E> {
        let (mut shape, mut strides) = ([1; MAX_AXES], [0; MAX_AXES]);
        shape[..R].copy_from_slice(&self.shape);
        strides[..R].copy_from_slice(&self.strides);
        Raw::new(self.ptr, shape, strides, R)
    }
}

impl<'a, E: 'a, M> Operand<'a> for Dynamic<'a, E, M> {
    type Element = E;
    fn raw(self) -> Raw<'a, E> {
        Raw::new(self.all.ptr, self.all.shape, self.all.strides, self.rank)
    }
}

macro_rules! lent {
    ([$($length:tt)*] $t:ty) => {
        impl<'a, E $($length)*> Operand<'a> for &'a $t {
            type Element = E;
            fn raw(self) -> Raw<'a, E> {
                self.reader().raw()
            }
        }
        impl<'a, E $($length)*> Operand<'a> for &'a mut $t {
            type Element = E;
            fn raw(self) -> Raw<'a, E> {
                self.writer().raw()
            }
        }
    };
}
lent!([, const N: usize] [E; N]);
lent!([] Vec<E>);
lent!([] Array<E, Dim<[usize; 1]>>);
lent!([] Array<E, Dim<[usize; 2]>>);
lent!([] Array<E, Dim<[usize; 3]>>);
lent!([] Array<E, Dim<[usize; 4]>>);
