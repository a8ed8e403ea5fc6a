//! Structs of the source as the IR knows them: what `#[derive(Reversible)]` says about a struct to
//! whoever runs programs as IR.
//!
//! A program names a struct by the path that stands in its source, which elsewhere may be another struct's: the
//! second one gets the path that it has in the whole program, wherever it is named.

use std::collections::BTreeMap;

use crate::ir::{Expr, ExprKind, Function, GenericKind, Pure, Stmt, StructDef, Type};

/// Definitions by the path that a program writes.
#[derive(Debug, Default)]
pub struct Structs {
    definitions: BTreeMap<String, StructDef>,
    /// Which struct each of them is.
    types: BTreeMap<String, &'static str>,
    /// The other names of structs that were named in what is being collected.
    renamed: Renamed,
}

/// Other names of structs, by the paths that are written.
type Renamed = BTreeMap<String, String>;

/// A struct that derives `Reversible`.
#[diagnostic::on_unimplemented(
    message = "[R0612] `{Self}` isn't a type whose values a reversible function can have",
    label = "of this type",
    note = "a struct is one under `#[derive(Clone, Debug, Reversible)]`, with `T: Scalar` for its type parameters"
)]
pub trait Structure {
    /// Its name, type parameters and fields.
    fn definition() -> StructDef;

    /// Adds the definitions of the structs that its fields are made of.
    fn define_fields(structs: &mut Structs);

    /// Adds its definition under the path by which a program names it, and those of its fields.
    fn define(path: &str, structs: &mut Structs) {
        let own = without_arguments(std::any::type_name::<Self>());
        let name = match structs.types.get(path) {
            Some(known) if *known != own => own,
            Some(_) | None => path,
        };
        if name != path {
            structs.renamed.insert(path.to_string(), name.to_string());
        }
        if structs.types.insert(name.to_string(), own).is_none() {
            let outside = std::mem::take(&mut structs.renamed);
            Self::define_fields(structs);
            let inside = std::mem::replace(&mut structs.renamed, outside);
            let mut definition = Self::definition();
            definition.fields.iter_mut().for_each(|(_, ty)| rename(ty, &inside));
            structs.definitions.insert(name.to_string(), definition);
        }
    }
}

impl Structs {
    /// Gives the structs that were defined since the last call their names in a function that names them.
    pub fn rename_in(&mut self, function: Option<&mut Function>, pure: Option<&mut Pure>) {
        let names = std::mem::take(&mut self.renamed);
        if names.is_empty() {
            return;
        }
        if let Some(f) = function {
            f.vars.iter_mut().for_each(|v| rename(&mut v.ty, &names));
            for g in &mut f.generics {
                if let GenericKind::Function(params) = &mut g.kind {
                    params.iter_mut().for_each(|(_, ty)| rename(ty, &names));
                }
            }
            f.body.iter_mut().for_each(|s| rename_in_statement(s, &names));
        }
        if let Some(f) = pure {
            f.vars.iter_mut().for_each(|v| rename(&mut v.ty, &names));
            rename(&mut f.result_type, &names);
            let given = f.partials.iter_mut().flatten();
            std::iter::once(&mut f.result).chain(given).for_each(|e| rename_in_expr(e, &names));
        }
    }

    /// The definitions.
    pub fn definitions(self) -> BTreeMap<String, StructDef> {
        self.definitions
    }
}

/// A type's path without the arguments at its end, on which its definition doesn't depend. What is declared in a
/// trait's method has a path that starts with `<`.
fn without_arguments(path: &str) -> &str {
    let mut open = 0_usize;
    let arguments = |(_, c): &(usize, char)| {
        match c {
            '>' => open += 1,
            '<' => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0
    };
    let start = path.char_indices().rev().find(arguments).map(|(at, _)| at);
    start.filter(|_| path.ends_with('>')).map_or(path, |at| &path[..at])
}

fn rename_in_statement(stmt: &mut Stmt, names: &Renamed) {
    stmt.each_expr_mut(&mut |e| rename_in_expr(e, names));
    stmt.blocks_mut().into_iter().flatten().for_each(|s| rename_in_statement(s, names));
}

fn rename_in_expr(e: &mut Expr, names: &Renamed) {
    if let ExprKind::Literal(_, Some(ty)) | ExprKind::Cast(_, ty) | ExprKind::Zero(ty) = &mut e.kind {
        rename(ty, names);
    }
    e.each_child_mut(&mut |e| rename_in_expr(e, names));
}

fn rename(ty: &mut Type, names: &Renamed) {
    match ty {
        Type::Struct(path, args) => {
            if let Some(name) = names.get(path) {
                path.clone_from(name);
            }
            args.iter_mut().for_each(|t| rename(t, names));
        }
        Type::Tuple(ts) => ts.iter_mut().for_each(|t| rename(t, names)),
        Type::Complex(t) | Type::Array(t, _) | Type::Fixed(t, _) | Type::Stack(t) | Type::Shadow(t) => {
            rename(t, names);
        }
        Type::Scalar(_) | Type::Generic(_) | Type::Function(_) | Type::Unknown => {}
    }
}
