//! Sorting, selection and running sums.
//!
//! A sort loses the order that was there, so that is kept: an index for each element, by which the sort is undone and its gradient
//! distributed. The order comes from merging ever longer runs (J. von Neumann, 1945; D. E. Knuth, *The Art of Computer Programming* 3,
//! section 5.2.4) of indices, which carry no derivative, on a copy of theirs that is taken back: n log₂ n time and indices. The sort is
//! stable: equal elements keep their order. NaN has no place in an order, and leaves it unspecified.

use ndarray::{ArrayView1, ArrayViewMut1};
use rev_cpu::prelude::*;

/// The logarithm of the smallest power of two that is at least `n`.
#[pure]
fn levels(n: usize) -> usize {
    (n as f64).log2().ceil() as usize
}

/// `merged`, zeros before, becomes the runs of `order`, which are `width` indices long, merged two by two by the elements of `x` that they
/// stand for.
///
/// Which run an index came from is seen from the index itself, so nothing is kept beside it.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn merge<T: Real>(mut merged: ArrayViewMut1<usize>, order: ArrayView1<usize>, x: &[T], width: usize) {
    for start in (0..x.len()).step_by(2 * width) {
        let middle = min(start + width, x.len());
        let end = min(middle + width, x.len());
        let mut left = start;
        let mut right = middle;
        for at in start..end {
            #[post(left > start && merged[at] == order[left - 1])]
            if left < middle && (right >= end || !(x[order[right]] < x[order[left]])) {
                merged[at] += order[left];
                inc(left);
            } else {
                merged[at] += order[right];
                inc(right);
            }
        }
        release(left, middle);
        release(right, end);
    }
}

/// `order +=` the indices of `x` such that its elements ascend: `x[order[0]] ≤ x[order[1]] ≤ …`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn argsort<T: Real>(order: &mut [usize], x: &[T]) {
    let n = x.len();
    let mut runs: Array2<usize> = zeros((levels(n) + 1, n));
    for i in par(0..n) {
        runs[[0, i]] += i;
    }
    for level in 0usize..levels(n) {
        merge(&mut runs.row_mut(level + 1), &runs.row(level), &x, 1 << level);
    }
    for i in par(0..n) {
        order[i] += runs[[levels(n), i]];
    }
}

/// `x_i := x_order[i]`. The inverse puts the elements back. Memory: a copy of `x`.
///
/// # Errors
///
/// An index that is there twice, or is out of range.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn permute<T: Ring>(x: &mut [T], order: &[usize]) {
    let mut old = vec![T::zero(); x.len()];
    for i in par(0..x.len()) {
        old[i] += x[order[i]];
    }
    for i in par(0..x.len()) {
        swap(x[i], old[i]);
    }
    #[injective(order)]
    for i in par(0..order.len()) {
        old[order[i]] -= x[i];
    }
    release(old);
}

/// Sorts `x` in place, ascending. `order`, zeros before and as long as `x`, gets where each element came from.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn sort<T: Real>(x: &mut [T], order: &mut [usize]) {
    argsort(&mut order, &x);
    permute(&mut x, &order);
}

/// `y +=` the elements of `x`, sorted, the smallest ones where `y` is shorter; what order they have is taken back.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn sorted<T: Real>(y: &mut [T], x: &[T]) {
    let mut order = vec![0usize; x.len()];
    argsort(&mut order, &x);
    for i in par(0..y.len()) {
        y[i] += x[order[i]];
    }
}

/// `x_i := x_0 + … + x_i` in place. The inverse are the differences.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn cumulative_sum<T: Ring>(x: &mut [T]) {
    for i in 1..x.len() {
        x[i] += x[i - 1];
    }
}

/// `y_i += x_0 ⋯ x_i`. Zeros may be among them. Memory: the products.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn cumulative_product<T: Ring>(y: &mut [T], x: &[T]) {
    let mut upto = vec![T::zero(); x.len() + 1];
    upto[0] += T::one();
    for i in 0..x.len() {
        upto[i + 1] += upto[i] * x[i];
        y[i] += upto[i + 1];
    }
}

/// `y_i += max(x_0, …, x_i)`; of equal elements the first one has the derivative. Memory: an index for each element.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn running_maximum<T: Real>(y: &mut [T], x: &[T]) {
    let mut best = vec![0usize; x.len()];
    for i in 0..x.len() {
        if i > 0 {
            best[i] += if x[i] > x[best[i - 1]] { i } else { best[i - 1] };
        }
        y[i] += x[best[i]];
    }
}

/// The records of `x`, elements that are larger than all before them, in their order: they are added to the first places of `y`, their indices to
/// those of `at`, all zeros before, and their number to `count`, 0 before. The last one is the maximum. The index of the last record says
/// on the way back whether an element was one.
///
/// # Errors
///
/// More records than `y` or `at` have places for.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn records<T: Real>(y: &mut [T], at: &mut [usize], count: &mut usize, x: &[T]) {
    for i in 0..x.len() {
        #[post(*count > 0 && at[*count - 1] == i)]
        if *count == 0 || x[i] > y[*count - 1] {
            y[*count] += x[i];
            at[*count] += i;
            inc(count);
        }
    }
}

/// The elements of `x` that `keep` chooses, in their order: they are added to the first places of `y`, and their number to `count`.
/// `keep` is a reversible function that flips a `false` for those which stay.
///
/// # Errors
///
/// More elements than `y` has places for.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn filter<T: Real>(y: &mut [T], count: &mut usize, x: &[T], keep: impl Reversible<(&mut bool, &T)>) {
    let mut kept = vec![false; x.len()];
    let mut before = vec![0usize; x.len() + 1];
    for i in 0..x.len() {
        keep(&mut kept[i], &x[i]);
        before[i + 1] += before[i] + if kept[i] { 1 } else { 0 };
    }
    for i in par(0..x.len()) {
        if kept[i] {
            y[before[i]] += x[i];
        }
    }
    *count += before[x.len()];
}

/// Maps each element of `x` and folds what comes out: `fold(&mut out, &y_i)`, where `map(&mut y_i, &x_i)` has made `y_i` from zero.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn map_and_fold<T: Real>(
    out: &mut T,
    x: &[T],
    map: impl Reversible<(&mut T, &T)>,
    fold: impl Reversible<(&mut T, &T)>,
) {
    for i in 0..x.len() {
        let mut mapped = T::zero();
        map(&mut mapped, &x[i]);
        fold(&mut out, &mapped);
    }
}

/// The bin of `x` of `n` equal ones between two limits, of which the upper one belongs to none; `n` for what is outside.
#[pure]
fn bin_of<T: Real>(x: T, low: T, high: T, n: usize) -> usize {
    let at = (x - low) / (high - low) * (n as T);
    if x >= low && x < high {
        min(at.floor() as usize, n - 1)
    } else {
        n
    }
}

/// `bins_b += Σ w_i` over the elements `x_i` in bin `b` of equal ones from `low` up to `high`, which is outside; other elements don't
/// count.
/// The gradient is by the weights; by `x` and the limits it is zero. All elements add to the bins in parallel.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn histogram<T: Real>(bins: &mut [T], x: &[T], weights: &[T], low: T, high: T) {
    for i in par(0..x.len()) {
        let bin = bin_of(x[i], low, high, bins.len());
        if bin < bins.len() {
            bins[bin] += weights[i];
        }
    }
}

/// The same as plain Rust.
pub mod plain {
    use num_traits::Float;

    /// The indices that sort `x`.
    pub fn argsort<T: PartialOrd>(x: &[T]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..x.len()).collect();
        order.sort_by(|i, j| x[*i].partial_cmp(&x[*j]).unwrap_or(std::cmp::Ordering::Equal));
        order
    }

    /// `x_0 + … + x_i` for each `i`.
    pub fn cumulative_sum<T: Float>(x: &[T]) -> Vec<T> {
        running(x, T::zero(), |sum, x| sum + x)
    }

    /// `x_0 ⋯ x_i` for each `i`.
    pub fn cumulative_product<T: Float>(x: &[T]) -> Vec<T> {
        running(x, T::one(), |product, x| product * x)
    }

    /// `max(x_0, …, x_i)` for each `i`.
    pub fn running_maximum<T: Float>(x: &[T]) -> Vec<T> {
        running(x, T::neg_infinity(), T::max)
    }

    /// The records of `x` with their indices.
    pub fn records<T: Float>(x: &[T]) -> Vec<(usize, T)> {
        let mut found: Vec<(usize, T)> = vec![];
        for (i, &x) in x.iter().enumerate() {
            if found.last().is_none_or(|(_, most)| x > *most) {
                found.push((i, x));
            }
        }
        found
    }

    fn running<T: Float>(x: &[T], start: T, step: impl Fn(T, T) -> T) -> Vec<T> {
        let next = |state: &mut T, x: &T| {
            *state = step(*state, *x);
            Some(*state)
        };
        x.iter().scan(start, next).collect()
    }

    /// The sums of the weights of the elements in each of `n` bins.
    pub fn histogram<T: Float>(n: usize, x: &[T], weights: &[T], low: T, high: T) -> Vec<T> {
        let mut bins = vec![T::zero(); n];
        for (&x, &w) in x.iter().zip(weights).filter(|(x, _)| **x >= low && **x < high) {
            let at = (x - low) / (high - low) * T::from(n).unwrap_or_else(T::nan);
            let bin = at.floor().to_usize().unwrap_or(0).min(n - 1);
            bins[bin] = bins[bin] + w;
        }
        bins
    }
}
