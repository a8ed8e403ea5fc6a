//! Who touches which element, in loops whose iterations are declared to touch different ones.
//!
//! `#[disjoint(a)]` says what the compiler can't prove. Believed blindly, a false declaration would
//! let two threads reach one element at once. So each access in such a loop first claims its element
//! for its iteration, and one that another iteration has claimed is an error. Claims are made
//! wherever the loop runs on several threads, with checks off too, as an index is compared with its
//! array's length; on one thread they are a check like the others.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::context::{Context, Mode};
use crate::parallel::on_several_threads;
use crate::steps::{Numbering, Visits};
use crate::view::{Extents, Taken};

/// An element that no iteration has claimed. The others belong to the iteration of the number before.
const FREE: u64 = 0;

/// The claims on the elements of an array, or on a variable as a whole.
pub struct Claims {
    owners: Vec<AtomicU64>,
    /// Whether anything is claimed.
    made: bool,
    iterations: Numbering,
    /// Whether the loop's iterations run one after the other.
    alone: bool,
}

/// The same for the iterations: a copy, which the compiler keeps in registers.
#[derive(Clone, Copy)]
pub struct Claiming<'a> {
    owners: &'a [AtomicU64],
    made: bool,
    iterations: Numbering,
    alone: bool,
}

impl Claims {
    /// No claims yet on `count` elements, in a loop that is about to run. `checked` says whether the
    /// program makes checks here. `None` when there is no memory for them.
    pub fn new<V: Visits, C: Mode>(
        cx: Context<'_, C>,
        checked: bool,
        visits: V,
        weight: usize,
        count: usize,
    ) -> Option<Claims> {
        let (iterations, alone) = (visits.numbering(), !on_several_threads(cx, visits, weight));
        let made = checked && cx.checks() || !alone;
        let mut owners = Vec::new();
        if made {
            owners.try_reserve_exact(count).ok()?;
            owners.resize_with(count, || AtomicU64::new(FREE));
        }
        Some(Claims { owners, made, iterations, alone })
    }

    /// What the iterations claim by.
    #[inline(always)]
    pub fn claiming(&self) -> Claiming<'_> {
        let Claims { owners, made, iterations, alone } = self;
        Claiming { owners, made: *made, iterations: *iterations, alone: *alone }
    }
}

impl Claiming<'_> {
    /// Whether elements are claimed.
    #[inline(always)]
    pub fn are_made(self) -> bool {
        self.made
    }

    /// What an iteration marks its elements with, from the value of the loop's variable: not zero, as there are fewer than
    /// 2⁶⁴ iterations: no loop runs for so long.
    #[inline(always)]
    pub fn mark(self, iteration: i128) -> u64 {
        self.iterations.of(iteration).wrapping_add(1)
    }

    /// Claims an element for the iteration with a mark. Whether no other one has it: also where there is no such
    /// element.
    #[inline(always)]
    pub fn take(self, element: usize, mark: u64) -> bool {
        let Some(owner) = self.owners.get(element) else { return true };
        let found = if self.alone {
            let found = owner.load(Relaxed);
            if found == FREE {
                owner.store(mark, Relaxed);
            }
            found
        } else {
            owner.compare_exchange(FREE, mark, Relaxed, Relaxed).unwrap_or_else(|other| other)
        };
        found == FREE || found == mark
    }

    /// Claims the elements of a part of an array. Whether no other iteration has any of them: also where
    /// there is no such part.
    pub fn take_part(self, (taken, array): (&[Taken], &impl Extents), mark: u64) -> bool {
        if !self.made {
            return true;
        }
        let mut elements = vec![0];
        for axis in 0..array.rank() {
            let n = array.extent(axis);
            let (from, to) = match taken.get(axis) {
                Some(&Taken::At(i)) => (i, i.saturating_add(1)),
                Some(&Taken::Range(i, j)) => (i, j),
                Some(Taken::Whole) | None => (0, n),
            };
            elements = elements.iter().flat_map(|at| (from..to.min(n)).map(move |i| at * n + i)).collect();
        }
        elements.into_iter().all(|k| self.take(k, mark))
    }
}

/// The number of an element in row-major order; beyond every array where the index is out of range.
#[inline(always)]
pub fn position<const R: usize>(index: [usize; R], shape: [usize; R]) -> usize {
    index
        .iter()
        .zip(shape)
        .try_fold(0usize, |at, (&i, n)| {
            let at = at.checked_mul(n)?.checked_add(i)?;
            (i < n).then_some(at)
        })
        .unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Restoring, Run};
    use crate::steps::{Down, Steps, Up};
    use crate::view::Strided;
    use rev_core::tolerance::Options;

    fn claims(threads: usize) -> Claims {
        claims_of(threads, Up::new(0usize, 10))
    }

    fn claims_of(threads: usize, visits: impl Visits) -> Claims {
        claims_on(false, 6, threads, visits).unwrap()
    }

    fn claims_on(checks: bool, count: usize, threads: usize, visits: impl Visits) -> Option<Claims> {
        let options = Options { threads: Some(threads), parallel_from: 0, checks, ..Options::default() };
        let run = Run::new(&options);
        Claims::new::<_, Restoring>(run.context(), true, visits, 1, count)
    }

    #[test]
    fn an_element_belongs_to_the_first_iteration_that_takes_it() {
        [1, 2].into_iter().for_each(belongs_to_the_first);
    }

    fn belongs_to_the_first(threads: usize) {
        let claims = &claims_on(true, 6, threads, Up::new(0usize, 10)).unwrap();
        let claims = claims.claiming();
        assert!(claims.take(3, 9) && claims.take(3, 9) && !claims.take(3, 2));
        let part = |i: usize, j, iteration| claims.take_part((&[Taken::Range(i, j)], &[0; 6]), iteration);
        assert!(part(0, 3, 2) && !part(2, 5, 7) && part(4, usize::MAX, 8));
        assert!(claims.take(6, 1) && claims.take(6, 2) && part(8, 9, 1));
    }

    #[test]
    fn rows_and_columns_share_an_element() {
        let array = ndarray::Array2::<u8>::zeros((2, 3));
        let array = Strided::<_, 2, _>::shared(array.view()).unwrap();
        let claims = &claims(2);
        let claims = claims.claiming();
        assert!(claims.take_part((&[Taken::At(1)], &array), 1));
        assert!(!claims.take_part((&[Taken::Whole, Taken::At(2)], &array), 2));
        assert!(claims.take(0, 3) && claims.take_part((&[Taken::At(0), Taken::Range(1, 2)], &array), 4));
        assert!(claims.take_part((&[Taken::At(7)], &array), 9));
    }

    /// No value of a loop's variable means that nobody has the element, and no two of them are the same.
    #[test]
    fn every_iteration_can_claim() {
        let each = |claims: Claims, values: [i128; 2]| {
            let [a, b] = values;
            let claims = claims.claiming();
            let [a, b] = [a, b].map(|v| claims.mark(v));
            assert!(claims.take(0, a) && claims.take(0, a) && !claims.take(0, b), "{values:?}");
            assert!(claims.take(1, b) && claims.take(1, b) && !claims.take(1, a), "{values:?}");
        };
        let steps = |inclusive, reversed| Steps::new(-1i64, 1, inclusive, 1i64, false, reversed).unwrap();
        each(claims_of(2, Up::new(-1i8, 1)), [-1, 0]);
        each(claims_of(2, Down::new(-1i32, 1)), [-1, 0]);
        each(claims_of(2, steps(true, false)), [-1, 1]);
        each(claims_of(2, steps(true, true)), [-1, 1]);
        each(
            claims_of(2, Steps::new(0, u64::MAX, true, u64::MAX, false, false).unwrap()),
            [0, u64::MAX.into()],
        );
        each(
            claims_of(2, Steps::new(i64::MIN, i64::MAX, true, u64::MAX, false, true).unwrap()),
            [i64::MIN.into(), i64::MAX.into()],
        );
        // the same low 64 bits
        each(
            claims_of(2, Steps::new(0i128, 1 << 100, true, 1i128 << 64, false, false).unwrap()),
            [0, 3 << 64],
        );
        each(claims_of(2, Steps::new(0u128, u128::MAX, true, u128::MAX, false, false).unwrap()), [0, -1]);
    }

    #[test]
    fn one_thread_without_checks_claims_nothing() {
        let claims = &claims(1);
        let claims = claims.claiming();
        assert!(claims.take(3, 1) && claims.take(3, 2));
    }

    #[test]
    fn more_claims_than_memory() {
        for count in [usize::MAX, isize::MAX as usize / 8, isize::MAX as usize / 16] {
            assert!(claims_on(false, count, 2, Up::new(0usize, 10)).is_none());
            assert!(claims_on(false, count, 1, Up::new(0usize, 10)).is_some(), "none are made");
        }
    }

    #[test]
    fn positions() {
        assert_eq!((position([1, 2], [3, 4]), position([5], [6])), (6, 5));
        assert_eq!((position([1, 4], [3, 4]), position([], [])), (usize::MAX, 0));
    }
}
