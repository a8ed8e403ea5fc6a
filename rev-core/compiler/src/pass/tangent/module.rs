//! A whole module about a tangent.

use super::TANGENT;
use crate::check::{lost_to_constants, Checked};
use crate::ir::{Direction, Module};
use crate::pass::{directed, Undirected};

impl Module {
    /// The module about the entry's tangent, with the tangents of all functions that can be called.
    ///
    /// # Errors
    ///
    /// A function that can't be uncomputed, or that passes what carries a derivative for a parameter that
    /// another declares constant.
    pub fn tangent(&self) -> Result<Module, Undirected> {
        let mut module = self.clone();
        for (name, source) in &self.functions {
            let function = directed(self, name, Direction::FORWARD)?;
            if let Some(lost) = lost_to_constants(self, source).iter().next() {
                return Err(Undirected::Rejected(lost.message.clone()));
            }
            let tangent = crate::pass::tangent(&Checked::made(function, "uncomputation")).into_inner();
            if let Some(defect) = tangent.defects.iter().next() {
                return Err(Undirected::Rejected(defect.message.clone()));
            }
            module.links.insert(tangent.name.clone(), self.links_of_derived(name, TANGENT, TANGENT));
            module.functions.insert(tangent.name.clone(), tangent);
        }
        module.entry = format!("{}{TANGENT}", self.entry);
        Ok(module)
    }
}
