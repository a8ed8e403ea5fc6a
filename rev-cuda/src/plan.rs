//! What the host does to run a program: buffers, launches, and the control flow around them.
//!
//! Everything that a program computes is computed on the device, also what stands outside its
//! parallel loops (by kernels of one thread). The host knows sizes, counts loops, and reads back the
//! few words on which its own control flow depends.

use crate::kernel::{Kernel, Ty};
use crate::measure::Question;
use rev_core::error::{Cause, Site};
use std::fmt;

/// A program for one direction and one set of argument types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The name of the function, with its direction.
    pub name: String,
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// Every buffer: the arguments in order, then the program's own.
    pub buffers: Vec<Buffer>,
    /// How many of the buffers are arguments.
    pub arguments: usize,
    /// How many words the host keeps.
    pub words: usize,
    /// What the host does, in order.
    pub steps: Vec<Step>,
    /// What a kernel may report, by the number in [`Inst::Fail`](crate::kernel::Inst::Fail).
    pub failures: Vec<Failure>,
    /// How what iterations add to is added up, for the reader.
    pub accumulations: Vec<Accumulation>,
    /// What would help to choose how.
    pub questions: Vec<Question>,
}

/// A value in device memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// The variable.
    pub name: String,
    /// Its leaves, as [`crate::layout`] says.
    pub leaves: Vec<Ty>,
    /// The number of axes; a scalar has none.
    pub rank: usize,
    /// Whether it is a stack: its one length is its capacity.
    pub stack: bool,
    /// Whether a run may change it.
    pub written: bool,
}

/// A buffer of a program: an index into [`Program::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// A word that the host keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WordId(pub u32);

/// What the host computes: 64-bit wrapping integers, read as signed.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// A number.
    Const(i64),
    /// A word that it keeps.
    Var(WordId),
    /// The length of a buffer along an axis.
    Length(BufferId, usize),
    /// A scalar integer argument that no run changes: leaf 0 of the buffer as it was given.
    Argument(BufferId),
    /// An operation on two words.
    Binary(WordOp, Box<Word>, Box<Word>),
}

/// Operations of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a · b`
    Mul,
    /// `a / b`, truncated; 0 where `b` is 0.
    Div,
    /// The remainder; 0 where `b` is 0.
    Rem,
    /// The smaller.
    Min,
    /// The larger.
    Max,
}

impl WordOp {
    /// The result.
    pub fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            WordOp::Add => a.wrapping_add(b),
            WordOp::Sub => a.wrapping_sub(b),
            WordOp::Mul => a.wrapping_mul(b),
            WordOp::Div if b == 0 => 0,
            WordOp::Div => a.wrapping_div(b),
            WordOp::Rem if b == 0 => 0,
            WordOp::Rem => a.wrapping_rem(b),
            WordOp::Min => a.min(b),
            WordOp::Max => a.max(b),
        }
    }
}

/// What the host does.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Makes room for one of the program's own buffers, of a shape, filled with zeros. Kept from
    /// call to call where it is large enough.
    Allocate {
        /// The buffer.
        buffer: BufferId,
        /// Its shape.
        shape: Vec<Word>,
    },
    /// Fills a buffer with zeros.
    Clear {
        /// The buffer.
        buffer: BufferId,
    },
    /// Runs a kernel with at least `threads` threads in whole blocks (none where it is 0 or less);
    /// at most `max_blocks` of them where it says so (the kernel then strides over its iterations).
    Launch {
        /// An index into [`Program::kernels`].
        kernel: usize,
        /// The values of its parameters.
        args: Vec<KernelArg>,
        /// How many threads are wanted.
        threads: Word,
        /// The largest number of blocks.
        max_blocks: Option<Word>,
    },
    /// Matrix products by the driver's library, one after the other; where it has none, the other
    /// steps, or an error where the library is forced.
    Products {
        /// The products.
        products: Vec<MatrixProduct>,
        /// What does the same.
        otherwise: Vec<Step>,
        /// Whether only the library will do.
        forced: bool,
    },
    /// Reads leaf 0 of a buffer's first element, an integer or truth value, extended to 64 bits.
    Read {
        /// Where it is kept.
        word: WordId,
        /// The buffer.
        buffer: BufferId,
    },
    /// Keeps a word.
    Set {
        /// Which.
        word: WordId,
        /// Its value.
        value: Word,
    },
    /// A branch: whether the word isn't 0.
    If {
        /// The condition.
        cond: Word,
        /// Where it holds.
        then: Vec<Step>,
        /// Where it doesn't.
        otherwise: Vec<Step>,
    },
    /// `loop { before; if cond == 0 { break } body }`
    Loop {
        /// Steps that give the condition.
        before: Vec<Step>,
        /// Whether the body is run.
        cond: Word,
        /// The body.
        body: Vec<Step>,
    },
    /// Makes the order in which the terms of a sum are added up, of an index array; once for each
    /// content of the array.
    Order(Box<Order>),
    /// Reports a failure that the host found (a negative size, a step of a range below 1).
    Fail {
        /// An index into [`Program::failures`].
        failure: u32,
        /// What it says more.
        values: Vec<Word>,
    },
}

/// `C += scale·A·B` of planes of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixProduct {
    /// The type of the numbers, `F32` or `F64`.
    pub ty: Ty,
    /// The rows and columns of `C`, and how many products are added up for each of its elements.
    pub size: [Word; 3],
    /// `A` and `B`.
    pub factors: [Matrix; 2],
    /// `C`.
    pub target: Matrix,
    /// The factor of all of it.
    pub scale: f64,
}

/// A plane of a buffer with two axes as a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matrix {
    /// The buffer.
    pub buffer: BufferId,
    /// The plane.
    pub leaf: usize,
    /// Whether the matrix is its transposed.
    pub transposed: bool,
}

/// What a kernel is given.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelArg {
    /// The address of a buffer.
    Buffer(BufferId),
    /// A word, as a `U64`.
    Word(Word),
    /// The address of the error record.
    ErrorRecord,
}

/// An error that a kernel can report, with the values that the record holds for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What failed; texts that depend on values are completed from the record by `detail`.
    pub cause: Cause,
    /// Where: the failing statement, then the calls around it.
    pub trace: Vec<Site>,
    /// The loops around it, outermost first: site (index into `trace`) and variable. Their
    /// iterations are the record's first values.
    pub loops: Vec<(usize, String)>,
    /// What the values after the iterations are.
    pub detail: Vec<Detail>,
}

/// What a value of an error record means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What was found, of a type.
    Found(Ty),
    /// What was expected, of a type.
    Expected(Ty),
    /// An index of the place, along the next axis.
    Index,
    /// The length of the array along the next axis.
    Length,
    /// The difference that would have passed, an `F64`.
    Tolerance,
    /// The low half of a 128-bit integer, whose high half comes next.
    Low,
    /// Its high half.
    High {
        /// Whether it was expected; else it was found.
        expected: bool,
        /// Whether it has a sign.
        signed: bool,
    },
}

/// The terms of a sum in the order of the elements that an index array gives them to; of one element
/// in the order of the terms. Numbers are `U32`s, and the buffers of their own length.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The index array, an argument that isn't written: term `k` belongs to the element that its number at `first`
    /// plus `k` steps says. Terms without a number are of iterations that add nothing.
    pub index: BufferId,
    /// The number of the first term,
    pub first: Word,
    /// and the step from term to term.
    pub step: i64,
    /// What is added to, for messages.
    pub place: String,
    /// How many terms there are.
    pub terms: Word,
    /// How many elements there are.
    pub elements: Word,
    /// The terms.
    pub order: BufferId,
    /// Where each group starts in the order, and the end of the last: a group is the terms of one
    /// element in one block of [`rev_core::tree`].
    pub starts: BufferId,
    /// The block of each group, and one more number.
    pub blocks: BufferId,
    /// The first group of each element that has terms, and the number of groups.
    pub groups_of: BufferId,
    /// The elements that have terms.
    pub places: BufferId,
    /// Is set to the number of groups.
    pub groups: WordId,
    /// Is set to the number of elements that have terms.
    pub touched: WordId,
}

/// How what iterations add to is added up.
#[derive(Clone, Debug, PartialEq)]
pub struct Accumulation {
    /// The kernel.
    pub kernel: String,
    /// The place.
    pub place: String,
    /// How.
    pub strategy: Strategy,
    /// Why so.
    pub reason: String,
}

impl fmt::Display for Accumulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Accumulation { kernel, place, strategy, reason } = self;
        write!(f, "{place} in {kernel}: {} ({}); {reason}", strategy.name(), strategy.meaning())
    }
}

/// Ways to add up what iterations share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// An element belongs to one iteration: load, add, store.
    Exclusive,
    /// Every iteration adds to the same few elements: registers, then warp, block and one `red`.
    Uniform,
    /// A table in shared memory for each block, then a `red` for each of its elements.
    BlockTable,
    /// `red` for each addition.
    Atomic,
    /// Every iteration keeps its term; the terms are added up in the order of the index array, which
    /// is made once for each content of the array. Has the bits of [`Strategy::Tree`].
    Segmented,
    /// The deterministic tree of [`rev_core::tree`].
    Tree,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 6] = [
        Strategy::Exclusive,
        Strategy::Uniform,
        Strategy::BlockTable,
        Strategy::Atomic,
        Strategy::Segmented,
        Strategy::Tree,
    ];

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Exclusive => "exclusive",
            Strategy::Uniform => "uniform",
            Strategy::BlockTable => "block-table",
            Strategy::Atomic => "atomic",
            Strategy::Segmented => "segmented",
            Strategy::Tree => "tree",
        }
    }

    /// What is done.
    pub const fn meaning(self) -> &'static str {
        match self {
            Strategy::Exclusive => "an element belongs to one iteration",
            Strategy::Uniform => "registers, warp, block, one red",
            Strategy::BlockTable => "a table for each block, then a red for each element",
            Strategy::Atomic => "a red for each addition",
            Strategy::Segmented => "terms in memory, added up in the order of the index array",
            Strategy::Tree => "the fixed tree",
        }
    }
}
