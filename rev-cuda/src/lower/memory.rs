//! Where variables are: in registers, or in memory as [`crate::layout`] says.

use std::rc::Rc;

use crate::kernel::{Space, Ty};

use super::atom::Atom;
use super::types::ArgumentType;
use super::value::Val;

/// An array in memory, or a single value there.
#[derive(Debug)]
pub(super) struct Mem {
    /// Unique.
    pub id: usize,
    pub space: Space,
    /// Where it starts, a `U64`.
    pub address: Atom,
    /// How many elements there are, a `U64`.
    pub count: Atom,
    pub leaves: Rc<[Ty]>,
    /// Bytes before the first plane.
    pub header: usize,
    /// Element `i` of this thread's array is element `i · scale + shift` of the buffer.
    pub interleaved: Option<(Atom, Atom)>,
    /// Nobody writes it while the program runs.
    pub read_only: bool,
}

/// A part of an element of a memory.
#[derive(Clone, Debug)]
pub(super) struct MemLoc {
    pub mem: Rc<Mem>,
    /// The element, a `U64`.
    pub index: Atom,
    /// Its first leaf.
    pub leaf: usize,
    /// Bytes added to the address: the element of an inner array that isn't known here.
    pub extra: Option<Atom>,
    /// What is there.
    pub kind: ArgumentType,
    /// Other threads add to it too.
    pub shared: bool,
}

/// An array in memory.
#[derive(Clone, Debug)]
pub(super) struct ArrayLoc {
    pub mem: Rc<Mem>,
    /// Its first element, a `U64`.
    pub first: Atom,
    /// The length of each axis, `U64`s.
    pub shape: Vec<Atom>,
    /// How many elements neighbours along each axis are apart; `None` where the elements lie one after the
    /// other, the first axis fastest.
    pub strides: Option<Vec<Atom>>,
    /// What its elements are.
    pub kind: ArgumentType,
    /// Other threads add to it too.
    pub shared: bool,
}

/// A stack: an array with room, and how many values there are.
#[derive(Clone, Debug)]
pub(super) struct StackLoc {
    pub values: ArrayLoc,
    /// A place that holds a `usize`.
    pub count: Box<Loc>,
}

/// Where a variable is.
#[derive(Clone, Debug)]
pub(super) enum Loc {
    /// A value that doesn't change.
    Value(Val),
    /// Registers.
    Registers(Val),
    /// One of these, by a number that isn't known here.
    Choice(Vec<Loc>, Atom),
    /// In memory.
    Memory(MemLoc),
    /// An array in memory.
    Array(ArrayLoc),
    /// A stack.
    Stack(StackLoc),
}
