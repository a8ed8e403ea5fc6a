//! The shape of a sum over a parallel loop in the deterministic mode. It depends on the number of
//! iterations alone, so that every device and every number of threads gives the same bits.
//!
//! Iterations are numbered `0..n` in the order in which the loop visits them. They are cut into
//! blocks of [`BLOCK`]; the last one may be shorter. Each block starts from zero and adds its
//! iterations in order. Then the blocks' sums are added [`pairwise`]: neighbours at distance 1, then
//! 2, then 4, …, always the later one to the earlier one. The result is added once to the target.

use std::ops::Range;

/// The number of iterations in a block.
pub const BLOCK: usize = 256;

/// How many blocks `n` iterations make.
pub fn blocks(n: usize) -> usize {
    n.div_ceil(BLOCK)
}

/// The iterations of block `b` of a loop of `n`.
pub fn block(n: usize, b: usize) -> Range<usize> {
    let start = (b * BLOCK).min(n);
    start..(start + BLOCK).min(n)
}

/// Adds up the blocks' sums: `add(earlier, later)` changes the earlier one. Returns the total, and
/// `None` where there is no block.
pub fn pairwise<T>(mut sums: Vec<T>, mut add: impl FnMut(&mut T, &T)) -> Option<T> {
    let mut distance = 1;
    while distance < sums.len() {
        for i in (distance..sums.len()).step_by(2 * distance) {
            let (earlier, later) = sums.split_at_mut(i);
            add(&mut earlier[i - distance], &later[0]);
        }
        distance *= 2;
    }
    sums.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_iteration_once() {
        for n in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 10 * BLOCK + 7] {
            let all: Vec<usize> = (0..blocks(n)).flat_map(|b| block(n, b)).collect();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_tree_adds_neighbours_first() {
        let text = |n: usize| {
            let leaves = (0..n).map(|i| i.to_string()).collect();
            pairwise(leaves, |a: &mut String, b| *a = format!("({a}+{b})")).unwrap_or_default()
        };
        assert_eq!(text(5), "(((0+1)+(2+3))+4)");
        assert_eq!(text(1), "0");
        assert_eq!(text(0), "");
    }
}
