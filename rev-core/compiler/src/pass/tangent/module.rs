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
            module.links.insert(tangent.name.clone(), self.links_of_tangent(name));
            module.functions.insert(tangent.name.clone(), tangent);
        }
        module.entry = format!("{}{TANGENT}", self.entry);
        Ok(module)
    }

    /// What the paths in a function's tangent mean: also that of each function's tangent.
    fn links_of_tangent(&self, name: &str) -> std::collections::BTreeMap<String, String> {
        let mut links = self.links.get(name).cloned().unwrap_or_default();
        let functions = links.iter().filter(|(_, of)| self.functions.contains_key(*of));
        let tangents: Vec<_> =
            functions.map(|(path, of)| (format!("{path}{TANGENT}"), format!("{of}{TANGENT}"))).collect();
        links.extend(tangents);
        links
    }
}
