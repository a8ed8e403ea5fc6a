//! Names that a program can't give: those of the generated code, and those that would mean something else.

use rev_compiler::diag::{Code, Diagnostic};
use rev_compiler::ir::{Derived, ScalarType, Span, NUMBER_OF};
use syn::Ident;

use crate::types::is_type_name;

/// What a name is given to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A reversible or pure function.
    Function,
    /// A function of a type.
    Method,
    /// A type or const parameter.
    Generic,
    /// A parameter, binding, ancilla or loop variable.
    Variable,
    /// A field of a struct, or the struct.
    Field,
}

/// What is wrong with a name that stands at a position.
pub fn refused(ident: &Ident, what: Named, span: Span) -> Option<Diagnostic> {
    let name = plain(ident);
    let help = format!("choose another name: `{}`", another(&name, what));
    let message = match what {
        _ if is_generated(&name) => {
            format!("`{name}`: names that begin with `__` belong to the generated code")
        }
        Named::Function | Named::Generic if is_primitive(&name) => {
            format!("`{name}` is a type, which this name would hide")
        }
        Named::Function if is_type_name(&name) => {
            format!(
                "`{name}`: a function begins with a small letter; it is also a type, which would hide others"
            )
        }
        Named::Function | Named::Method if name == "inverse" => {
            "`inverse` can't be told from the inverse of something: `m::inverse` is that of `m`".to_string()
        }
        Named::Function | Named::Method if is_derived(&name) => {
            format!("`{name}` can't be told from the {name} of something: `m::{name}` is that of `m`")
        }
        Named::Variable if matches!(name.as_str(), "Some" | "None" | "Ok" | "Err") => {
            format!("`{name}` is a value of the standard library, and can't be a variable")
        }
        Named::Function | Named::Method | Named::Generic | Named::Variable | Named::Field => return None,
    };
    Some(Diagnostic::new(Code::ReservedName, span, message).help(help))
}

/// The part of an enum that says which variant it is, by its number.
pub const VARIANT: &str = "variant";

/// The part of an enum whose length is, in every value, one more than the number of a variant.
pub fn number_of(variant: &str) -> String {
    format!("{NUMBER_OF}{}", small(variant))
}

/// The part of an enum that a field of a variant is.
pub fn part_of(variant: &str, field: &str) -> String {
    format!("{}_{field}", small(variant))
}

/// A variant's name as a field's: `RoundTrip` as `round_trip`.
fn small(variant: &str) -> String {
    let mut out = String::new();
    for c in variant.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// An identifier's text, without `r#`.
pub fn plain(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map(str::to_string).unwrap_or(name)
}

/// Whether a name could be one that the emitter makes.
pub fn is_generated(name: &str) -> bool {
    name.starts_with("__")
}

/// The name of `self` in what is generated.
pub const RECEIVER: &str = "this";

/// An identifier as it stands in an external block, where `self` is a variable like others.
pub fn in_external(ident: Ident) -> Ident {
    if ident == "self" {
        Ident::new("__self", ident.span())
    } else {
        ident
    }
}

/// Whether behind a path it names what is derived of the function there.
fn is_derived(name: &str) -> bool {
    Derived::from_name(name).is_some_and(|derived| {
        derived.order().is_some() || matches!(derived, Derived::Adjoint | Derived::Gradient)
    })
}

fn is_primitive(name: &str) -> bool {
    let built_in = ScalarType::from_name(name).is_some_and(|s| s.name() == name);
    built_in || matches!(name, "str" | "char" | "isize" | "i128" | "u128")
}

fn another(name: &str, what: Named) -> String {
    let bare = name.trim_start_matches('_');
    match what {
        Named::Function if is_type_name(bare) && !bare.is_empty() => bare.to_lowercase(),
        _ if bare != name && !bare.is_empty() => format!("_{bare}"),
        Named::Generic => "T".to_string(),
        Named::Function | Named::Method | Named::Variable | Named::Field => {
            format!("{}_", name.to_lowercase())
        }
    }
}
