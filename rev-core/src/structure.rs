//! Structs of the source as the IR knows them: what `#[derive(Reversible)]` says about a struct to
//! whoever runs programs as IR.

use std::collections::BTreeMap;

use crate::ir::StructDef;

/// Definitions by the path that a program writes.
pub type Structs = BTreeMap<String, StructDef>;

/// A struct that derives `Reversible`.
pub trait Structure {
    /// Its name, type parameters and fields.
    fn definition() -> StructDef;

    /// Adds the definitions of the structs that its fields are made of.
    fn define_fields(structs: &mut Structs);

    /// Adds its definition under the path by which a program names it, and those of its fields.
    fn define(path: &str, structs: &mut Structs) {
        if !structs.contains_key(path) {
            structs.insert(path.to_string(), Self::definition());
            Self::define_fields(structs);
        }
    }
}
