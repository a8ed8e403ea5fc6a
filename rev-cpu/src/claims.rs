//! Who touches which element, in loops whose iterations are declared to touch different ones.
//!
//! `#[disjoint(a)]` says what the compiler can't prove. Believed blindly, a false declaration would
//! let two threads reach one element at once. So each access in such a loop first claims its element
//! for its iteration, and one that another iteration has claimed is an error. Claims are made
//! wherever the loop runs on several threads, with checks off too, as an index is compared with its
//! array's length; on one thread they are a check like the others.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::context::{Checks, Context};
use crate::parallel::on_several_threads;
use crate::steps::Visits;

/// An element that no iteration has claimed.
const FREE: u64 = u64::MAX;

/// The claims on the elements of an array, or on a variable as a whole.
pub struct Claims {
    /// `None` where nothing is claimed.
    owners: Option<Vec<AtomicU64>>,
}

impl Claims {
    /// No claims yet on `count` elements, in a loop that is about to run. `checked` says whether the
    /// program makes checks here.
    pub fn new<V: Visits, C: Checks>(
        cx: Context<'_, C>,
        checked: bool,
        visits: V,
        weight: usize,
        count: usize,
    ) -> Claims {
        let needed = (checked && C::ON) || on_several_threads(cx, visits, weight);
        Claims { owners: needed.then(|| (0..count).map(|_| AtomicU64::new(FREE)).collect()) }
    }

    /// Whether elements are claimed.
    #[inline(always)]
    pub fn are_made(&self) -> bool {
        self.owners.is_some()
    }

    /// Claims an element for an iteration. Whether no other one has it: also where there is no such
    /// element.
    #[inline]
    pub fn take(&self, element: usize, iteration: i128) -> bool {
        let owner = self.owners.as_ref().and_then(|owners| owners.get(element));
        owner.is_none_or(|owner| claim(owner, iteration))
    }

    /// Claims several elements.
    pub fn take_all(&self, elements: Range<usize>, iteration: i128) -> bool {
        let Some(owners) = &self.owners else { return true };
        let end = elements.end.min(owners.len());
        owners.get(elements.start..end).unwrap_or_default().iter().all(|owner| claim(owner, iteration))
    }
}

/// Iterations are told apart by the low 64 bits of the loop's variable: no loop runs for so long that
/// two have the same.
#[inline]
fn claim(owner: &AtomicU64, iteration: i128) -> bool {
    let own = iteration as u64;
    match owner.compare_exchange(FREE, own, Relaxed, Relaxed) {
        Ok(_) => own != FREE,
        Err(other) => own == other,
    }
}

/// The number of an element in row-major order; beyond every array where the index is out of range.
#[inline]
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
    use crate::context::{Run, Unchecked};
    use crate::steps::Up;
    use rev_core::tolerance::Options;

    fn claims(threads: usize) -> Claims {
        let options = Options { threads: Some(threads), parallel_from: 0, ..Options::default() };
        let run = Run::new(&options);
        Claims::new::<_, Unchecked>(run.context(), true, Up::new(0usize, 10), 1, 6)
    }

    #[test]
    fn an_element_belongs_to_the_first_iteration_that_takes_it() {
        let claims = claims(2);
        assert!(claims.take(3, -1 << 40) && claims.take(3, -1 << 40) && !claims.take(3, 2));
        assert!(claims.take_all(0..3, 2) && !claims.take_all(2..5, 7) && claims.take_all(4..usize::MAX, 8));
        assert!(claims.take(6, 1) && claims.take(6, 2) && claims.take_all(8..9, 1));
    }

    #[test]
    fn one_thread_without_checks_claims_nothing() {
        let claims = claims(1);
        assert!(claims.take(3, 1) && claims.take(3, 2));
    }

    #[test]
    fn positions() {
        assert_eq!((position([1, 2], [3, 4]), position([5], [6])), (6, 5));
        assert_eq!((position([1, 4], [3, 4]), position([], [])), (usize::MAX, 0));
    }
}
