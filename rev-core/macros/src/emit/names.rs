//! Identifiers of emitted code.
//!
//! Names of the program keep their own spelling; names that the emitter makes start with two
//! underscores.

use proc_macro2::{Ident, Span};

/// An identifier, raw if it is a keyword.
pub fn ident(name: &str) -> Ident {
    ident_at(name, Span::call_site())
}

/// The same at a place in the source, so that the Rust compiler's messages point there.
pub fn ident_at(name: &str, span: Span) -> Ident {
    let span = span.resolved_at(Span::call_site());
    match name.strip_prefix("r#") {
        Some(bare) => Ident::new_raw(bare, span),
        None if syn::parse_str::<Ident>(name).is_ok() => Ident::new(name, span),
        None if matches!(name, "self" | "Self" | "super" | "crate" | "_") => {
            Ident::new(&format!("__{name}"), span)
        }
        None => Ident::new_raw(name, span),
    }
}
