//! A whole module without its dead code.

use std::collections::BTreeSet;

use super::{erase, Wanted};
use crate::check::Checked;
use crate::ir::{Block, Callee, Derived, Direction, FunctionPath, Module, StmtKind};
use crate::pass::{directed, Undirected};

impl Module {
    /// The module about what is left of the entry without its dead code, and of all that it calls:
    /// the plain program, to be run forward without checks. What is called backwards stays whole.
    ///
    /// # Errors
    ///
    /// A function that can't be uncomputed.
    pub fn erased(&self) -> Result<Module, Undirected> {
        let mut module = self.clone();
        for name in self.functions.keys() {
            let function = Checked::made(directed(self, name, Direction::FORWARD)?, "uncomputation");
            let mut left = erase(&function, Wanted::All).into_inner();
            let (mut forward, mut backward) = (BTreeSet::new(), BTreeSet::new());
            called(&left.body, &mut forward, &mut backward);
            let mut links = self.links.get(name).cloned().unwrap_or_default();
            for path in forward.difference(&backward) {
                links.insert(path.to_string(), Derived::Erased.of(self.resolve(name, path.as_str())));
            }
            left.name = Derived::Erased.of(name);
            module.links.insert(left.name.clone(), links);
            module.functions.insert(left.name.clone(), left);
        }
        module.entry = Derived::Erased.of(&self.entry);
        Ok(module)
    }
}

/// The functions that a block calls forward, and in other directions.
fn called(block: &Block, forward: &mut BTreeSet<FunctionPath>, backward: &mut BTreeSet<FunctionPath>) {
    for stmt in block {
        if let StmtKind::Call { callee: Callee::Path(path), direction, .. } = &stmt.kind {
            let paths = if *direction == Direction::FORWARD { &mut *forward } else { &mut *backward };
            paths.insert(path.clone());
        }
        stmt.blocks().into_iter().for_each(|b| called(b, forward, backward));
    }
}
