//! A whole module about a tangent.

use super::TANGENT;
use crate::ir::Module;
use crate::pass::Undirected;

impl Module {
    /// The module about the entry's tangent, with the tangents of all functions that can be called.
    ///
    /// # Errors
    ///
    /// A function that can't be uncomputed, or that passes what carries a derivative for a parameter that
    /// another declares constant.
    pub fn tangent(&self) -> Result<Module, Undirected> {
        self.with_derived(crate::pass::tangent, (TANGENT, TANGENT))
    }
}
