//! Arrays that held zeros when the program started: as long as each of their elements belongs to one
//! iteration, the first addition to it needs no load, and later ones know what was stored.

use std::collections::HashMap;

use rev_core::facts::{ParallelFacts, PlaceClass};

use super::atom::Atom;
use super::memory::{Loc, MemLoc};
use super::value::Val;
use super::{Lower, Outcome};

/// An array of which an iteration knows what is in its elements.
#[derive(Clone, Debug)]
pub(super) struct Fresh {
    /// How deep in blocks the iteration is: what is done in inner ones is not followed.
    depth: usize,
    /// The element that was added to, once there is one.
    index: Option<Atom>,
    /// What its leaves hold; zero where nothing is said.
    leaves: HashMap<usize, Atom>,
}

impl Lower<'_> {
    /// An argument holds zeros.
    pub fn note_zeros(&mut self, loc: &Loc) {
        if let Loc::Array(a) = loc {
            self.zeros.insert(a.mem.id);
        }
    }

    /// At the start of an iteration: finds the arrays that it alone adds to, element by element.
    pub fn open_fresh(&mut self, facts: &ParallelFacts) -> Outcome<()> {
        if self.zeros.is_empty() || self.measuring.is_some() {
            return Ok(());
        }
        // a loop of the host would come back to them
        let once = self.steps.len() == 1;
        for (var, class) in &facts.classes {
            // those of the iteration itself aren't in scope
            let Ok(Loc::Array(a)) = self.slot(*var) else { continue };
            if !once || !matches!(class, PlaceClass::Owned { .. }) {
                self.zeros.remove(&a.mem.id);
            } else if self.zeros.contains(&a.mem.id) {
                let builder = self.builder()?;
                let fresh = Fresh { depth: builder.depth(), index: None, leaves: HashMap::new() };
                builder.fresh.insert(a.mem.id, fresh);
            }
        }
        Ok(())
    }

    /// At its end they are like other arrays.
    pub fn close_fresh(&mut self) -> Outcome<()> {
        let fresh = std::mem::take(&mut self.builder()?.fresh);
        fresh.into_keys().for_each(|mem| {
            self.zeros.remove(&mem);
        });
        Ok(())
    }

    /// Something is written to an array in another way.
    pub fn forget_fresh(&mut self, mem: usize) {
        self.zeros.remove(&mem);
        if let Some(builder) = &mut self.builder {
            builder.fresh.remove(&mem);
        }
    }

    /// Whether it is known what a place holds.
    pub fn is_fresh(&mut self, at: &MemLoc) -> bool {
        let Some(builder) = &self.builder else { return false };
        let depth = builder.depth();
        builder.fresh.get(&at.mem.id).is_some_and(|fresh| {
            let same = fresh.index.as_ref().is_none_or(|index| *index == at.index);
            fresh.depth == depth && same && at.extra.is_none()
        })
    }

    /// Adds to such a place.
    pub fn accumulate_fresh(&mut self, add: bool, at: &MemLoc, value: Val) -> Outcome<()> {
        let Some(zero) = Val::zero(&at.kind) else { return Err(self.unsupported("an array of arrays")) };
        let leaves = self.builder()?.fresh.get(&at.mem.id).map(|f| f.leaves.clone()).unwrap_or_default();
        let mut leaf = at.leaf..;
        let old = zero.map(&mut |zero| leaf.next().and_then(|k| leaves.get(&k)).unwrap_or(zero).clone());
        let value = self.coerce(value, &old)?;
        let sum = self.combine(add, &old, &value)?;
        let new = self.freeze(&sum);
        let kept = self.builder()?.fresh.remove(&at.mem.id);
        self.store(&Loc::Memory(at.clone()), new.clone())?;
        if let Some(mut fresh) = kept {
            fresh.index = Some(at.index.clone());
            fresh.leaves.extend((at.leaf..).zip(new.atoms()));
            self.builder()?.fresh.insert(at.mem.id, fresh);
        }
        Ok(())
    }
}
