//! What a thread knows of memory, so that it needn't read it: what it read or wrote before in the same
//! block of statements; and, of arrays that held zeros when the program started and whose elements
//! belong to one iteration each, that nothing was added yet.

use std::collections::HashMap;

use rev_core::facts::{ParallelFacts, PlaceClass};

use crate::kernel::Ty;

use super::atom::Atom;
use super::memory::Loc;
use super::{Lower, Outcome};

/// What an element of an array holds.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    /// The element,
    index: Atom,
    /// and the bytes to the part of it that isn't known here.
    extra: Option<Atom>,
    leaves: HashMap<usize, Atom>,
    /// Leaves of which nothing is said hold zero.
    zeros: bool,
}

impl Contents {
    pub fn unknown(index: Atom, extra: Option<Atom>) -> Contents {
        Contents { index, extra, leaves: HashMap::new(), zeros: false }
    }

    pub fn zeros(index: Atom) -> Contents {
        Contents { zeros: true, ..Contents::unknown(index, None) }
    }

    /// Whether it is about this part of this element.
    pub fn is_of(&self, index: &Atom, extra: Option<&Atom>) -> bool {
        self.index == *index && self.extra.as_ref() == extra
    }

    /// What a leaf of a type holds.
    pub fn leaf(&self, index: &Atom, extra: Option<&Atom>, leaf: usize, ty: Ty) -> Option<Atom> {
        let zero = || self.zeros.then_some(Atom::Const(0, ty));
        self.is_of(index, extra).then(|| self.leaves.get(&leaf).cloned().or_else(zero))?
    }

    pub fn set(&mut self, leaf: usize, value: Atom) {
        self.leaves.insert(leaf, value);
    }
}

impl Lower<'_> {
    /// An argument holds zeros.
    pub fn note_zeros(&mut self, loc: &Loc) {
        if let Loc::Array(a) = loc {
            self.zeros.insert(a.mem.id);
        }
    }

    /// At the start of an iteration: finds the arrays of zeros that it alone adds to, element by element.
    pub fn open_fresh(&mut self, facts: &ParallelFacts) -> Outcome<()> {
        if self.zeros.is_empty() || self.measuring.is_some() {
            return Ok(());
        }
        // a loop of the host would come back to them
        let once = self.steps.len() == 1;
        for (var, class) in &facts.classes {
            // those of the iteration itself aren't in scope
            let Ok(Loc::Array(a)) = self.slot(*var) else { continue };
            let zeros = self.zeros.remove(&a.mem.id);
            if zeros && once && matches!(class, PlaceClass::Owned { .. }) {
                let builder = self.builder()?;
                let depth = builder.depth();
                builder.fresh.insert(a.mem.id, depth);
            }
        }
        Ok(())
    }

    /// At its end they are like other arrays.
    pub fn close_fresh(&mut self) -> Outcome<()> {
        self.builder()?.fresh.clear();
        Ok(())
    }
}
