//! Where the generated code finds what it calls: the hidden module of whichever of the crates
//! `rev` and `rev-cpu` the user depends on.

use proc_macro2::{Span, TokenStream};
use proc_macro_crate::{crate_name, FoundCrate};
use quote::quote;

/// The path of the runtime's module, `::rev::__private` by default.
pub fn path() -> TokenStream {
    let name = ["rev", "rev-cpu"].into_iter().find_map(|package| match crate_name(package) {
        Ok(FoundCrate::Itself) => Some(package.replace('-', "_")),
        Ok(FoundCrate::Name(name)) => Some(name),
        Err(_) => None,
    });
    let name = syn::Ident::new(&name.unwrap_or_else(|| "rev".into()), Span::call_site());
    quote!(::#name::__private)
}
