//! Parts of arrays: rows, columns, blocks, the elements of a range; of any strides.

use std::marker::PhantomData;

use super::{Dynamic, Slice, Strided, MAX_RANK};

/// What a part takes of one axis.
#[derive(Clone, Copy, Debug)]
pub enum Taken {
    /// One index: the part doesn't have the axis.
    At(usize),
    /// The indices from the first to before the second.
    Range(usize, usize),
    /// All of them.
    Whole,
}

impl Taken {
    /// The first index that is taken of an axis of a length, and how many; `None` where they aren't there.
    #[cfg_attr(optimized, inline(always))]
    fn of(self, extent: usize) -> Option<(usize, usize)> {
        match self {
            Taken::At(i) => (i < extent).then_some((i, 1)),
            Taken::Range(i, j) => (i <= j && j <= extent).then(|| (i, j - i)),
            Taken::Whole => Some((0, extent)),
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn drops(self) -> bool {
        matches!(self, Taken::At(_))
    }
}

impl<E, M> Slice<'_, E, M> {
    /// A part, `None` unless it takes a range of the elements. (`Q` is 1; the other handles need it.)
    #[cfg_attr(optimized, inline(always))]
    pub fn part<const A: usize, const Q: usize>(self, taken: [Taken; A]) -> Option<Self> {
        let [taken @ (Taken::Range(..) | Taken::Whole)] = taken[..] else { return None };
        taken.of(self.len).map(|(first, len)| Slice {
            // SAFETY: first <= self.len, so the address is inside the borrowed memory or one past its end.
            ptr: unsafe { self.ptr.add(first) },
            len,
            borrow: PhantomData,
        })
    }
}

/// Where a part with at most `Q` axes lies in its array.
struct Cut<const Q: usize> {
    /// Its first element; 0 where it has none, as there may be no memory to point into.
    offset: isize,
    shape: [usize; Q],
    strides: [isize; Q],
    rank: usize,
}

impl<const Q: usize> Cut<Q> {
    /// Takes what is given of the first axes, and all of the others; `None` where that isn't there, or
    /// more axes are left.
    #[cfg_attr(optimized, inline(always))]
    fn of(shape: &[usize], strides: &[isize], taken: &[Taken]) -> Option<Cut<Q>> {
        let mut cut = Cut { offset: 0, shape: [1; Q], strides: [0; Q], rank: 0 };
        if taken.len() > shape.len() {
            return None;
        }
        let mut empty = false;
        for (axis, (&extent, &stride)) in shape.iter().zip(strides).enumerate() {
            let own = taken.get(axis).copied().unwrap_or(Taken::Whole);
            let (first, length) = own.of(extent)?;
            cut.offset = cut.offset.wrapping_add((first as isize).wrapping_mul(stride));
            empty |= length == 0;
            if !own.drops() {
                *cut.shape.get_mut(cut.rank)? = length;
                *cut.strides.get_mut(cut.rank)? = stride;
                cut.rank += 1;
            }
        }
        if empty {
            cut.offset = 0;
        }
        Some(cut)
    }
}

impl<'a, E, const R: usize, M> Strided<'a, E, R, M> {
    /// The part with `Q` axes that takes what is given of the first axes, and all of the others; `None`
    /// where that isn't there.
    #[cfg_attr(optimized, inline(always))]
    pub fn part<const A: usize, const Q: usize>(self, taken: [Taken; A]) -> Option<Strided<'a, E, Q, M>> {
        let Cut { offset, shape, strides, rank } = Cut::of(&self.shape, &self.strides, &taken)?;
        // SAFETY: the offset is that of an element, whose indices are all in range, or 0.
        let ptr = unsafe { self.ptr.offset(offset) };
        (rank == Q).then_some(Strided { ptr, shape, strides, borrow: PhantomData })
    }
}

impl<E, M> Dynamic<'_, E, M> {
    /// The same of an array whose number of axes isn't known.
    pub fn part<const A: usize, const Q: usize>(self, taken: [Taken; A]) -> Option<Self> {
        let Strided { ptr, shape, strides, borrow } = self.all;
        let cut = Cut::<MAX_RANK>::of(&shape[..self.rank], &strides[..self.rank], &taken)?;
        // SAFETY: as above.
        let ptr = unsafe { ptr.offset(cut.offset) };
        Some(Dynamic { rank: cut.rank, all: Strided { ptr, shape: cut.shape, strides: cut.strides, borrow } })
    }
}

impl<E, const R: usize, M> Strided<'_, E, R, M> {
    /// The part with the same number of axes that has one index along some of them; without elements where one of these is
    /// out of range.
    pub(crate) fn at_indices(mut self, at: [Option<usize>; R]) -> Self {
        let empty = self.shape.contains(&0);
        for (k, index) in at.into_iter().enumerate() {
            let Some(index) = index else { continue };
            let inside = index < self.shape[k];
            self.shape[k] = usize::from(inside);
            if inside && !empty {
                // SAFETY: the offset is that of an element.
                self.ptr = unsafe { self.ptr.offset(index as isize * self.strides[k]) };
            }
        }
        self
    }

    /// An array of a shape that has this part at each index along the axes of [`Strided::at_indices`].
    pub(crate) fn repeated(mut self, at: [Option<usize>; R], shape: [usize; R]) -> Self {
        for (k, index) in at.into_iter().enumerate() {
            if index.is_some() {
                (self.shape[k], self.strides[k]) = (shape[k], 0);
            }
        }
        self
    }
}

/// Parts of which it is known how many axes they drop, where only the type says how many the array has.
pub trait Without<const DROPPED: usize>: Sized {
    /// What is left.
    type Left;
    /// The part, `None` where it isn't there.
    fn left<const A: usize>(self, taken: [Taken; A]) -> Option<Self::Left>;
}

impl<E, M> Without<0> for Slice<'_, E, M> {
    type Left = Self;
    #[cfg_attr(optimized, inline(always))]
    fn left<const A: usize>(self, taken: [Taken; A]) -> Option<Self> {
        self.part::<A, 1>(taken)
    }
}

macro_rules! left {
    ($($rank:literal - $dropped:literal = $left:literal;)*) => {$(
        impl<'a, E, M> Without<$dropped> for Strided<'a, E, $rank, M> {
            type Left = Strided<'a, E, $left, M>;
            #[cfg_attr(optimized, inline(always))]
            fn left<const A: usize>(self, taken: [Taken; A]) -> Option<Self::Left> {
                self.part::<A, $left>(taken)
            }
        }
    )*};
}
left! {
    1 - 0 = 1;
    2 - 0 = 2; 2 - 1 = 1;
    3 - 0 = 3; 3 - 1 = 2; 3 - 2 = 1;
    4 - 0 = 4; 4 - 1 = 3; 4 - 2 = 2; 4 - 3 = 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Extents, Whole};
    use ndarray::{array, s, Array3};
    use Taken::{At, Range};

    fn numbers<'a, W: Whole<'a, Element = i32>>(part: W) -> Vec<i32> {
        part.elements_in_order().copied().collect()
    }

    #[test]
    fn rows_columns_and_blocks_of_any_strides() {
        let a = array![[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        for view in [a.view(), a.t(), a.slice(s![..;-1, ..;2]), a.slice(s![1.., 1..])] {
            let v = Strided::<_, 2, _>::shared(view).unwrap();
            let last = (view.nrows() - 1, view.ncols() - 1);
            let row = v.part::<1, 1>([At(last.0)]).unwrap();
            assert_eq!(numbers(row), view.row(last.0).to_vec());
            let column = v.part::<2, 1>([Taken::Whole, At(last.1)]).unwrap();
            assert_eq!(numbers(column), view.column(last.1).to_vec());
            let block = v.part::<2, 2>([Range(1, view.nrows()), Range(0, 1)]).unwrap();
            assert_eq!(numbers(block), view.slice(s![1.., ..1]).iter().copied().collect::<Vec<_>>());
            assert!(v.part::<1, 1>([At(view.nrows())]).is_none());
            assert!(
                v.part::<2, 2>([Range(0, 1), Range(0, 4)]).is_none()
                    && v.part::<1, 2>([Range(2, 1)]).is_none()
            );
            assert!(v.part::<1, 2>([At(0)]).is_none() && v.part::<3, 1>([At(0), At(0), At(0)]).is_none());
            let d = Dynamic::shared(view.into_dyn()).unwrap();
            let column = d.part::<2, 0>([Taken::Whole, At(last.1)]).unwrap();
            assert_eq!((column.rank(), numbers(column)), (1, view.column(last.1).to_vec()));
            assert!(d.part::<2, 0>([Taken::Whole, At(9)]).is_none());
        }
        let a = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k) as i32);
        let v = Strided::<_, 3, _>::shared(a.view()).unwrap();
        let middle = v.part::<2, 2>([Taken::Whole, At(1)]).unwrap();
        assert_eq!((middle.shape(), middle.rd([1, 3])), ([2, 4], Ok(&113)));
    }

    #[test]
    fn parts_without_elements() {
        let a = array![[1, 2, 3], [4, 5, 6]];
        let v = Strided::<_, 2, _>::shared(a.slice(s![..;-1, ..])).unwrap();
        let none = v.part::<1, 2>([Range(2, 2)]).unwrap();
        assert!(none.rd([0, 0]).is_err());
        assert_eq!((none.shape(), numbers(none)), ([0, 3], vec![]));
        let empty = ndarray::Array2::<i32>::zeros((4, 0));
        let row = Strided::<_, 2, _>::shared(empty.view()).unwrap().part::<1, 1>([At(3)]).unwrap();
        assert_eq!((row.shape(), numbers(row)), ([0], vec![]));
    }
}
