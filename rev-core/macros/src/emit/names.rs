//! Identifiers of emitted code.
//!
//! Names of the program keep their own spelling; names that the emitter makes start with two
//! underscores.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// What the programs of a function name by short names, declared beside them: the code is long, and the compiler reads
/// all of it. `p` is the path of the runtime's module.
pub fn in_programs(p: &TokenStream) -> TokenStream {
    quote! {
        use ::core::option::Option::{None as __None, Some as __Some};
        use ::core::result::Result::{Err as __Err, Ok as __Ok};
        use #p::{copy as __copy, lanes as __l, rt as __f, Elements as _, Extents as _};
    }
}

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
