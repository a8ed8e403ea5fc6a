//! What has changed in memory since some point, so that it can be taken back: for branches that are tried although
//! they aren't taken.

use super::memory::{Cell, CellId, Location, Memory};
use crate::value::Data;

/// A change, with what was there before.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Written(Location, Data),
    Allocated(CellId),
    Released(CellId, Cell),
}

impl Memory {
    /// Starts to remember changes, or goes on doing so; how many there are so far.
    pub fn remember(&mut self) -> usize {
        self.journal.get_or_insert_default().len()
    }

    /// Takes back all changes but the first so many, and forgets them. Nothing is remembered any more after the first.
    pub fn take_back(&mut self, but: usize) {
        let mut journal = self.journal.take().unwrap_or_default();
        while journal.len() > but {
            match journal.pop() {
                Some(Change::Written(at, data)) => self.write(&at, data),
                Some(Change::Allocated(id)) => drop(self.release(id)),
                Some(Change::Released(id, cell)) => self.restore(id, cell),
                None => break,
            }
        }
        self.journal = (but > 0).then_some(journal);
    }

    /// Remembers a change.
    pub fn note(&mut self, change: impl FnOnce(&Memory) -> Option<Change>) {
        if self.journal.is_some() {
            let change = change(self);
            self.journal.iter_mut().for_each(|journal| journal.extend(change.clone()));
        }
    }
}
