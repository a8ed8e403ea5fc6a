//! Parts of arrays in the interpreter's memory: for each axis of the array, which of its indices a part
//! takes, and whether the axis is still there.

use super::memory::{integers, StepError};
use crate::ir::Axis;
use crate::scalar::Num;

/// A part of an array of some shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    /// The whole array's.
    shape: Vec<usize>,
    cuts: Vec<Cut>,
}

/// What a part takes of an axis: the indices from the first to before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Cut {
    from: usize,
    to: usize,
    /// Whether it is an axis of the part.
    kept: bool,
}

impl Part {
    /// A whole array.
    pub fn whole(shape: &[usize]) -> Part {
        let cuts = shape.iter().map(|&n| Cut { from: 0, to: n, kept: true }).collect();
        Part { shape: shape.to_vec(), cuts }
    }

    fn kept(&self) -> impl Iterator<Item = &Cut> {
        self.cuts.iter().filter(|c| c.kept)
    }

    /// The lengths of its axes.
    pub fn shape(&self) -> Vec<usize> {
        self.kept().map(|c| c.to - c.from).collect()
    }

    /// A part of it: of its first axes what is given, all of the others.
    pub fn take(&self, axes: &[Axis], indices: &[Num]) -> Result<Part, StepError> {
        let indices = integers(indices)?;
        let outside = || StepError::Range(indices.clone(), self.shape());
        if axes.len() > self.kept().count() {
            return Err(outside());
        }
        let mut part = self.clone();
        let mut numbers = indices.iter().map(|&i| usize::try_from(i).map_err(|_| outside()));
        let mut next = || numbers.next().unwrap_or_else(|| Err(outside()));
        for (axis, cut) in axes.iter().zip(part.cuts.iter_mut().filter(|c| c.kept)) {
            let length = cut.to - cut.from;
            let (from, to) = match axis {
                Axis::At(_) => next().map(|i| (i, i.saturating_add(1)))?,
                Axis::Range(..) => (next()?, next()?),
                Axis::Whole => (0, length),
            };
            if from > to || to > length {
                return Err(outside());
            }
            let kept = !matches!(axis, Axis::At(_));
            *cut = Cut { from: cut.from + from, to: cut.from + to, kept };
        }
        Ok(part)
    }

    /// The number in the whole array of the element at an index of the part.
    pub fn element(&self, index: &[i128]) -> Result<usize, StepError> {
        let outside = || StepError::Range(index.to_vec(), self.shape());
        let mut given = index.iter();
        let mut at = 0;
        for (cut, n) in self.cuts.iter().zip(&self.shape) {
            let own = match cut.kept {
                true => given.next().and_then(|&i| usize::try_from(i).ok()).ok_or_else(outside)?,
                false => 0,
            };
            if own >= cut.to - cut.from {
                return Err(outside());
            }
            at = at * n + cut.from + own;
        }
        if given.next().is_some() {
            return Err(outside());
        }
        Ok(at)
    }

    /// The numbers in the whole array of all its elements, in row-major order.
    pub fn elements(&self) -> Vec<usize> {
        self.cuts.iter().zip(&self.shape).fold(vec![0], |before, (cut, n)| {
            before.iter().flat_map(|at| (cut.from..cut.to).map(move |i| at * n + i)).collect()
        })
    }

    /// Whether an element of the whole array is in it.
    pub fn has(&self, mut element: usize) -> bool {
        self.cuts.iter().zip(&self.shape).rev().all(|(cut, &n)| {
            let own = element % n.max(1);
            element /= n.max(1);
            (cut.from..cut.to).contains(&own)
        })
    }

    /// Whether two parts of one array have elements in common.
    pub fn meets(&self, other: &Part) -> bool {
        self.cuts.iter().zip(&other.cuts).all(|(a, b)| a.from.max(b.from) < a.to.min(b.to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Expr;

    fn at(i: i64) -> (Axis, Vec<Num>) {
        (Axis::At(Expr::int(i.into())), vec![Num::Int(i)])
    }

    fn range(i: i64, j: i64) -> (Axis, Vec<Num>) {
        (Axis::Range(Expr::int(i.into()), Expr::int(j.into())), vec![Num::Int(i), Num::Int(j)])
    }

    fn take(part: &Part, of: &[(Axis, Vec<Num>)]) -> Option<Part> {
        let (axes, numbers): (Vec<Axis>, Vec<Vec<Num>>) = of.iter().cloned().unzip();
        part.take(&axes, &numbers.concat()).ok()
    }

    #[test]
    fn rows_columns_and_blocks() {
        let all = Part::whole(&[3, 4]);
        let row = take(&all, &[at(1)]).unwrap();
        assert_eq!(
            (row.shape(), row.elements(), row.element(&[2]).ok()),
            (vec![4], vec![4, 5, 6, 7], Some(6))
        );
        let column = take(&all, &[(Axis::Whole, vec![]), at(3)]).unwrap();
        assert_eq!((column.shape(), column.elements()), (vec![3], vec![3, 7, 11]));
        let block = take(&all, &[range(1, 3), range(2, 4)]).unwrap();
        assert_eq!((block.shape(), block.elements()), (vec![2, 2], vec![6, 7, 10, 11]));
        assert_eq!(take(&block, &[at(1), range(0, 1)]).unwrap().elements(), vec![10]);
        assert!(row.meets(&column) && !row.meets(&take(&all, &[at(2)]).unwrap()) && column.meets(&block));
        assert!(column.has(7) && !column.has(6) && block.has(10) && !block.has(9));
    }

    #[test]
    fn what_is_not_there() {
        let all = Part::whole(&[3, 4]);
        let outside =
            [vec![at(3)], vec![at(-1)], vec![range(2, 1)], vec![range(0, 4)], vec![at(0), at(0), at(0)]];
        assert!(outside.iter().all(|axes| take(&all, axes).is_none()));
        let row = take(&all, &[at(1)]).unwrap();
        assert!(row.element(&[4]).is_err() && row.element(&[]).is_err() && row.element(&[0, 0]).is_err());
        let empty = take(&all, &[range(3, 3)]).unwrap();
        assert!(empty.elements().is_empty() && !empty.meets(&all) && !empty.has(11));
    }
}
