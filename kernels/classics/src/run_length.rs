//! Run-length coding: a text to its runs, and back, as in Janus (T. Yokoyama, "Reversible computation and reversible programming
//! languages", ENTCS 253, 2010).
//!
//! ```text
//! a a a b b a   ⇄   (a, 3) (b, 2) (a, 1)
//! ```
//!
//! The text is cleared while its code is made. Time is linear, and there is no memory beside the two.

use rev_cpu::prelude::*;

/// Codes a text: its symbols become zeros, `values` and `lengths`, which hold zeros, its runs, and `runs`, which is 0, their number.
///
/// # Errors
///
/// More runs than `values` or `lengths` have places. Of the inverse: runs next to each other with one value, empty ones, and lengths whose
/// sum isn't that of the text.
#[reversible]
pub fn encode<T: Integer>(text: &mut [T], values: &mut [T], lengths: &mut [usize], runs: &mut usize) {
    let mut at = 0usize;
    #[post(at > 0)]
    while at < text.len() {
        swap(values[*runs], text[at]);
        inc(lengths[*runs]);
        inc(at);
        #[post(lengths[*runs] > 1)]
        while at < text.len() && text[at] == values[*runs] {
            text[at] -= values[*runs];
            inc(lengths[*runs]);
            inc(at);
        }
        inc(runs);
    }
    release(at, text.len());
}

/// The same as plain Rust.
pub mod plain {
    /// The runs of a text: value and length of each.
    pub fn encode<T: Copy + PartialEq>(text: &[T]) -> Vec<(T, usize)> {
        text.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
    }

    /// The text of runs.
    pub fn decode<T: Copy>(runs: &[(T, usize)]) -> Vec<T> {
        runs.iter().flat_map(|&(value, length)| std::iter::repeat_n(value, length)).collect()
    }
}
