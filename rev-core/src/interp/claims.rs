//! Who touches which element, in loops whose iterations are declared to touch different ones
//! (`#[disjoint(a)]`): as in emitted code, an element that another iteration has touched is an error.

use crate::ir::VarId;
use std::cell::RefCell;
use std::collections::HashMap;

/// The claims of a running loop's iterations on the elements of arrays.
pub(super) struct Claims {
    arrays: Vec<VarId>,
    owners: RefCell<HashMap<(VarId, usize), i128>>,
}

impl Claims {
    /// No claims yet on elements of these variables.
    pub fn new(arrays: &[VarId]) -> Claims {
        Claims { arrays: arrays.to_vec(), owners: RefCell::default() }
    }

    /// Claims elements of a variable for an iteration. Whether no other one has any of them.
    pub fn take(&self, array: VarId, elements: &[usize], iteration: i128) -> bool {
        let mut owners = self.owners.borrow_mut();
        !self.arrays.contains(&array)
            || elements.iter().all(|k| *owners.entry((array, *k)).or_insert(iteration) == iteration)
    }
}
