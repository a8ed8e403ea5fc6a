//! Types to text.

use super::Printer;
use crate::ir::{Class, GenericKind, Length, Rank, Type};
use crate::text::names::is_builtin_type;

/// The name of a class.
pub(in crate::text) fn class_name(class: Class) -> &'static str {
    match class {
        Class::Scalar => "Scalar",
        Class::Ring => "Ring",
        Class::Integer => "Integer",
        Class::Field => "Field",
        Class::Real => "Real",
    }
}

impl Printer<'_> {
    pub(super) fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Scalar(s) => self.push(&s.name()),
            Type::Generic(name) => {
                self.parameter("generic ", name, |k| !matches!(k, GenericKind::Function(_)))
            }
            Type::Function(name) => {
                self.parameter("function ", name.as_str(), |k| matches!(k, GenericKind::Function(_)))
            }
            Type::Complex(t) => self.applied("Complex", t),
            Type::Array(t, Rank::Fixed(1)) => {
                self.push("[");
                self.ty(t);
                self.push("]");
            }
            Type::Array(t, Rank::Fixed(n)) => self.applied(&format!("Array{n}"), t),
            Type::Array(t, Rank::Dynamic) => self.applied("ArrayD", t),
            Type::Fixed(t, length) => {
                self.push("[");
                self.ty(t);
                self.push("; ");
                match length {
                    Length::Literal(n) => self.push(&n.to_string()),
                    Length::Named(path) => self.path(path),
                }
                self.push("]");
            }
            Type::Tuple(types) => {
                self.push("(");
                self.list(types, Self::ty);
                self.push(if types.len() == 1 { ",)" } else { ")" });
            }
            Type::Struct(path, args) => self.structure_type(path, args),
            Type::Stack(t) => self.applied("Stack", t),
            Type::Shadow(t) => self.applied("Shadow", t),
            Type::Unknown => self.push("_"),
        }
    }

    fn applied(&mut self, name: &str, argument: &Type) {
        self.push(name);
        self.push("<");
        self.ty(argument);
        self.push(">");
    }

    /// A type or function parameter, marked as one where its name doesn't say so.
    fn parameter(&mut self, mark: &str, name: &str, fits: impl Fn(&GenericKind) -> bool) {
        let plain = self.standalone || self.plain_generic(name).is_some_and(fits);
        if !plain {
            self.push(mark);
        }
        self.name(name);
    }

    /// A struct, marked as one where its name says something else.
    fn structure_type(&mut self, path: &str, args: &[Type]) {
        if is_builtin_type(path) || self.plain_generic(path).is_some() {
            self.push("struct ");
        }
        self.path(path);
        if !args.is_empty() {
            self.push("<");
            self.list(args, Self::ty);
            self.push(">");
        }
    }
}
