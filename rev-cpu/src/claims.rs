//! Who touches which element, in loops whose iterations are declared to touch different ones.
//!
//! `#[disjoint(a)]` says what the compiler can't prove. Believed blindly, a false declaration would
//! let two threads reach one element at once. So each access in such a loop first claims its element
//! for its iteration, and one that another iteration has claimed is an error. Claims are made
//! wherever the loop runs on several threads, with checks off too, as an index is compared with its
//! array's length; on one thread they are a check like the others.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, AtomicUsize, Ordering::Relaxed};

use crate::context::{Context, Mode};
use crate::parallel::{self, on_several_threads};
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

/// Whether the iterations of a loop that is about to run claim elements. `checked` says whether the program makes checks
/// here.
pub fn are_needed<V: Visits, C: Mode>(cx: Context<'_, C>, checked: bool, visits: V, weight: usize) -> bool {
    checked && cx.checks() || on_several_threads(cx, visits, weight)
}

impl Claims {
    /// No claims yet on `count` elements, in a loop that is about to run; none ever unless they are `made`. `None` when
    /// there is no memory for them.
    pub fn new<V: Visits, C: Mode>(
        cx: Context<'_, C>,
        made: bool,
        visits: V,
        weight: usize,
        count: usize,
    ) -> Option<Claims> {
        let (iterations, alone) = (visits.numbering(), !on_several_threads(cx, visits, weight));
        let mut owners = Vec::new();
        if made {
            owners.try_reserve_exact(count).ok()?;
            owners.resize_with(count, || AtomicU64::new(FREE));
        }
        Some(Claims { owners, made, iterations, alone })
    }

    /// What the iterations claim by.
    #[cfg_attr(optimized, inline(always))]
    pub fn claiming(&self) -> Claiming<'_> {
        let Claims { owners, made, iterations, alone } = self;
        Claiming { owners, made: *made, iterations: *iterations, alone: *alone }
    }
}

impl Claiming<'_> {
    /// Whether elements are claimed.
    #[cfg_attr(optimized, inline(always))]
    pub fn are_made(self) -> bool {
        self.made
    }

    /// What an iteration marks its elements with, from the value of the loop's variable: not zero, as there are fewer than
    /// 2⁶⁴ iterations: no loop runs for so long.
    #[cfg_attr(optimized, inline(always))]
    pub fn mark(self, iteration: i128) -> u64 {
        self.iterations.of(iteration).wrapping_add(1)
    }

    /// Claims an element for the iteration with a mark. Whether no other one has it: also where there is no such
    /// element.
    #[cfg_attr(optimized, inline(always))]
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
        each_of_part(taken, array).all(|k| self.take(k, mark))
    }
}

/// The elements of some arrays that iterations use, before any of them runs.
pub struct Used<'a, const A: usize> {
    /// For each element, whether one uses it.
    seen: [&'a [AtomicU8]; A],
    /// How often one was noted.
    notes: usize,
}

impl<const A: usize> Used<'_, A> {
    /// Notes an element of an array, if there is one.
    #[cfg_attr(optimized, inline(always))]
    pub fn take(&mut self, array: usize, element: usize) {
        if let Some(seen) = self.seen[array].get(element) {
            seen.store(1, Relaxed);
            self.notes += 1;
        }
    }

    /// Notes the elements of a part of an array, if there is one.
    pub fn take_part(&mut self, number: usize, (taken, array): (&[Taken], &impl Extents)) {
        each_of_part(taken, array).for_each(|k| self.take(number, k));
    }
}

/// Whether no element is used twice by what iterations use of arrays of `counts` elements. `used_by` notes what one of
/// them uses, and is `None` where that can't be computed. Where it isn't so, two of them may use an element, or one of them twice:
/// as many elements have to be seen as were noted.
#[inline]
pub fn are_apart<V, C, F, const A: usize>(
    cx: Context<'_, C>,
    visits: V,
    weight: usize,
    counts: [usize; A],
    used_by: F,
) -> bool
where
    V: Visits,
    C: Mode,
    F: Fn(&mut Used<'_, A>, V::Item) -> Option<()> + Sync,
{
    let mut seen = counts.map(|_| Vec::new());
    for (seen, count) in seen.iter_mut().zip(counts) {
        if seen.try_reserve_exact(count).is_err() {
            return false;
        }
        seen.resize_with(count, || AtomicU8::new(0));
    }
    let (notes, known) = (AtomicUsize::new(0), AtomicBool::new(true));
    let each = |_: Context<'_, C>, visits: V, (): ()| {
        let mut used = Used { seen: seen.each_ref().map(Vec::as_slice), notes: 0 };
        if !visits.into_iter().all(|k| used_by(&mut used, k).is_some()) {
            known.store(false, Relaxed);
        }
        notes.fetch_add(used.notes, Relaxed);
        Ok(())
    };
    let done = parallel::run(cx, visits, [weight, 1], (), each).is_ok();
    let found: usize = seen.iter_mut().map(|seen| number_seen(seen)).sum();
    done && known.into_inner() && found == notes.into_inner()
}

/// How many elements of an array are used: bytes are added up in bytes, as many as these can count, which vectors do.
fn number_seen(seen: &mut [AtomicU8]) -> usize {
    let part = |part: &mut [AtomicU8]| part.iter_mut().fold(0u8, |sum, seen| sum + *seen.get_mut());
    seen.chunks_mut(u8::MAX.into()).map(|seen| usize::from(part(seen))).sum()
}

/// Whether two arrays have the same shape.
pub fn have_one_shape(a: &impl Extents, b: &impl Extents) -> bool {
    a.rank() == b.rank() && (0..a.rank()).all(|axis| a.extent(axis) == b.extent(axis))
}

/// The numbers of the elements of a part of an array, in row-major order; none where there is no such part.
fn each_of_part(taken: &[Taken], array: &impl Extents) -> impl Iterator<Item = usize> {
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
    elements.into_iter()
}

/// The number of an element in row-major order; beyond every array where the index is out of range.
#[cfg_attr(optimized, inline(always))]
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
        let cx = run.context::<Restoring>();
        Claims::new(cx, are_needed(cx, true, visits, 1), visits, 1, count)
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

    /// Whether ten iterations that use elements of two arrays of 600 and 6 elements are apart.
    fn apart(threads: usize, used_by: impl Fn(&mut Used<'_, 2>, usize) -> Option<()> + Sync) -> bool {
        let options = Options { threads: Some(threads), parallel_from: 0, ..Options::default() };
        let run = Run::new(&options);
        are_apart(run.context::<Restoring>(), Up::new(0usize, 10), 1, [600, 6], used_by)
    }

    #[test]
    fn iterations_are_apart_if_each_element_is_used_once() {
        for threads in [1, 3] {
            let takes = |elements: fn(usize) -> Vec<(usize, usize)>| {
                apart(threads, move |used, k| {
                    elements(k).into_iter().for_each(|(array, at)| used.take(array, at));
                    Some(())
                })
            };
            assert!(takes(|k| vec![(0, k)]) && takes(|_| vec![]));
            assert!(takes(|k| vec![(0, 2 * k), (0, 2 * k + 1)]), "two of each");
            assert!(takes(|k| (0..60).map(|j| (0, 60 * k + j)).collect()), "more than a byte counts");
            assert!(!takes(|k| vec![(0, k / 2)]) && !takes(|k| vec![(0, k), (0, 9 - k)]));
            assert!(!takes(|k| vec![(0, k), (0, k)]), "one of them twice: nobody says which");
            assert!(takes(|k| vec![(0, k), (1, if k < 6 { k } else { usize::MAX })]), "no such element");
            assert!(!takes(|k| vec![(0, k), (1, k % 6)]), "in the second array");
            let part = |width| {
                apart(threads, move |used, k| {
                    used.take_part(0, (&[Taken::Range(10 * k, 10 * k + width)], &[0; 600]));
                    Some(())
                })
            };
            assert!(part(10) && !part(11));
            assert!(!apart(threads, |used, k| (k < 9).then(|| used.take(0, k))), "not computed");
        }
    }

    #[test]
    fn positions() {
        assert_eq!((position([1, 2], [3, 4]), position([5], [6])), (6, 5));
        assert_eq!((position([1, 4], [3, 4]), position([], [])), (usize::MAX, 0));
    }
}
