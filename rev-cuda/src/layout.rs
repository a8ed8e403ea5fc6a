//! How values lie in device memory.
//!
//! A value is an array of run-time shape (a scalar, tuple or struct: of one element) whose elements
//! are split into *leaves*: the scalars of the element type in order of declaration (a complex
//! number: real part, imaginary part; a fixed-size array: its elements in order; a shadow `N`
//! cotangents wide: `N` leaves for each leaf that carries a derivative, and none for the others; a
//! 128-bit integer: low, then high half; fixed point: its bits as `I64`). Each leaf is a *plane*:
//! that scalar of every element, the first axis fastest, so that threads that differ in the first
//! index read neighbouring words. Planes follow one another, each starting at a multiple of
//! [`PLANE_ALIGNMENT`] bytes.
//!
//! A stack has room for a fixed number of values, its *capacity*, and lies as an array of that many;
//! before the planes stands, in [`STACK_HEADER`] bytes, how many values there are, a `U64`.

use crate::kernel::Ty;

/// The alignment of a plane in bytes.
pub const PLANE_ALIGNMENT: usize = 128;

/// The bytes before the planes of a stack.
pub const STACK_HEADER: usize = PLANE_ALIGNMENT;

/// The bytes from one plane of `count` elements of `ty` to the next.
pub fn plane_stride(count: usize, ty: Ty) -> usize {
    (count * ty.size()).next_multiple_of(PLANE_ALIGNMENT)
}

/// The bytes of a buffer of `count` elements with these leaves; at least one plane's alignment.
pub fn buffer_bytes(count: usize, leaves: &[Ty]) -> usize {
    leaves.iter().map(|ty| plane_stride(count, *ty)).sum::<usize>().max(PLANE_ALIGNMENT)
}

/// Where plane `leaf` starts.
pub fn plane_offset(count: usize, leaves: &[Ty], leaf: usize) -> usize {
    leaves[..leaf].iter().map(|ty| plane_stride(count, *ty)).sum()
}

/// The number of an element: the first axis fastest.
pub fn element(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).rev().fold(0, |n, (i, len)| n * len + i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_follow_one_another() {
        let leaves = [Ty::F64, Ty::U8, Ty::F64];
        assert_eq!(plane_offset(17, &leaves, 2), 256 + 128);
        assert_eq!(buffer_bytes(17, &leaves), 256 + 128 + 256);
        assert_eq!(buffer_bytes(0, &[]), 128);
    }

    #[test]
    fn the_first_axis_is_fastest() {
        let shape = [3, 4, 5];
        assert_eq!(element(&[1, 0, 0], &shape), 1);
        assert_eq!(element(&[2, 3, 4], &shape), 59);
        assert_eq!(element(&[], &[]), 0);
    }
}
