//! What the way of adding up a shared sum depends on, besides the program: how large the table is
//! that iterations add to, and how often they meet in one of its elements.
//!
//! Lowering asks ([`Question`]) where the program alone doesn't say; the runtime answers from the
//! arguments of a call ([`Answer`]), an index array by counting its elements, and programs are
//! compiled for answers as they are for types. Answers are coarse, so that few programs are compiled.

use crate::kernel::Ty;
use crate::layout::buffer_bytes;
use crate::plan::{BufferId, Word};

/// The most bytes of shared memory that the tables of a kernel may have: a block has 48 KiB, and sums over its warps
/// need some of them.
pub const TABLE_BYTES: usize = 40 * 1024;

/// What has to be known about a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The place that is added to.
    pub place: String,
    /// The leaves of its elements.
    pub leaves: Vec<Ty>,
    /// How many elements there are.
    pub elements: Word,
    /// How many terms are added in all.
    pub terms: Word,
    /// The argument that says which element each iteration adds to.
    pub index: Option<BufferId>,
}

/// What is known about a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Room for how many elements a table in shared memory needs: their number, rounded up to a
    /// power of two where that fits. Nothing where the table is too large.
    pub room: Option<usize>,
    /// How many terms meet in an element on average, of the elements that there are terms for.
    pub multiplicity: Multiplicity,
}

/// How often iterations add to one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Multiplicity {
    /// Fewer than 128 times.
    Few,
    /// 128 times or more: with as few additions to each element of a block's own table as to those
    /// of the table that all blocks share, there are still enough blocks.
    Many,
}

impl Multiplicity {
    /// Of `terms` to `touched` elements.
    pub fn of(terms: u64, touched: u64) -> Multiplicity {
        match terms / touched.max(1) {
            0..128 => Multiplicity::Few,
            128.. => Multiplicity::Many,
        }
    }
}

impl std::fmt::Display for Multiplicity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Multiplicity::Few => "fewer than 128",
            Multiplicity::Many => "128 or more",
        })
    }
}

/// What is known about the sums of a program when it is lowered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Measured {
    /// Nothing: what isn't written in the program is taken to be unknown.
    #[default]
    Nothing,
    /// Nothing yet: the program is lowered for its questions.
    Asking,
    /// The answers to the questions in the order of [`Program::questions`](crate::plan::Program);
    /// nothing where something isn't known before the program runs.
    Answers(Vec<Option<Answer>>),
}

impl Answer {
    /// The answer to a question about so many elements and terms; of an index array also how many of
    /// the elements it names.
    pub fn new(leaves: &[Ty], elements: u64, terms: u64, touched: Option<u64>) -> Answer {
        let touched = touched.unwrap_or(elements);
        Answer { room: room(leaves, elements), multiplicity: Multiplicity::of(terms, touched) }
    }
}

/// Room for so many elements in a table.
fn room(leaves: &[Ty], elements: u64) -> Option<usize> {
    let exact = usize::try_from(elements).ok().filter(|n| *n <= TABLE_BYTES)?;
    let fits = |n: &usize| buffer_bytes(*n, leaves) <= TABLE_BYTES;
    Some(exact.next_power_of_two()).filter(fits).or(Some(exact).filter(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_room_for_their_elements_and_fit() {
        let room = |leaves: &[Ty], n| Answer::new(leaves, n, 0, None).room;
        assert_eq!(room(&[Ty::F64], 5), Some(8));
        assert_eq!(room(&[Ty::F64], 4096), Some(4096));
        assert_eq!(room(&[Ty::F64; 11], 450), Some(450));
        assert_eq!(room(&[Ty::F64], 4097), Some(4097));
        assert_eq!(room(&[Ty::F64], 5120), Some(5120));
        assert_eq!(room(&[Ty::F64], 5121), None);
        assert_eq!(room(&[Ty::F64], 1 << 40), None);
    }

    #[test]
    fn multiplicities_count_the_elements_that_are_touched() {
        assert_eq!(Answer::new(&[Ty::F64], 1000, 1000, None).multiplicity, Multiplicity::Few);
        assert_eq!(Answer::new(&[Ty::F64], 1000, 1270, Some(10)).multiplicity, Multiplicity::Few);
        assert_eq!(Answer::new(&[Ty::F64], 1000, 1280, Some(10)).multiplicity, Multiplicity::Many);
        assert_eq!(Answer::new(&[Ty::F64], 0, 0, Some(0)).multiplicity, Multiplicity::Few);
    }
}
