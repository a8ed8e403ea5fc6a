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
    /// Goes on to remember changes, of which there are so many so far, or starts to, which is `None`.
    pub fn remember(&mut self) -> Option<usize> {
        let before = self.journal.as_ref().map(Vec::len);
        self.journal.get_or_insert_default();
        before
    }

    /// Takes back the changes since [`Memory::remember`] gave this, and forgets them. Nothing is remembered any more where it started then.
    pub fn take_back(&mut self, before: Option<usize>) {
        let mut journal = self.journal.take().unwrap_or_default();
        while journal.len() > before.unwrap_or(0) {
            match journal.pop() {
                Some(Change::Written(at, data)) => self.write(&at, data),
                Some(Change::Allocated(id)) => drop(self.release(id)),
                Some(Change::Released(id, cell)) => self.restore(id, cell),
                None => break,
            }
        }
        self.journal = before.map(|_| journal);
    }

    /// Remembers a change.
    pub fn note(&mut self, change: impl FnOnce(&Memory) -> Option<Change>) {
        if self.journal.is_some() {
            let change = change(self);
            self.journal.iter_mut().for_each(|journal| journal.extend(change.clone()));
        }
    }
}
