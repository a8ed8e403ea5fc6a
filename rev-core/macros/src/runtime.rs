//! Where the generated code finds what it calls: the hidden module of whichever of the crates
//! `rev` and `rev-cpu` the user depends on, under the name that the user gives it.

use proc_macro2::{Span, TokenStream};
use proc_macro_crate::{crate_name, FoundCrate};
use quote::quote;

/// Packages that have the runtime's module, and what their libraries are called where nobody renames them.
const RUNTIMES: [(&str, &str); 2] = [("rev-ad", "rev"), ("rev-cpu", "rev_cpu")];

/// The path of the runtime's module, `::rev::__private` by default.
pub fn path() -> TokenStream {
    let found = RUNTIMES
        .into_iter()
        .find_map(|(package, library)| Some(name(package, library, crate_name(package).ok()?)));
    let name = syn::Ident::new(&found.unwrap_or_else(|| RUNTIMES[0].1.into()), Span::call_site());
    quote!(::#name::__private)
}

/// What a crate calls the library of a package. A dependency that isn't renamed is found under the package's name, which the
/// library needn't have; so `rev_ad` is the one name that `rev-ad` can't be given.
fn name(package: &str, library: &str, found: FoundCrate) -> String {
    match found {
        FoundCrate::Name(given) if given != package.replace('-', "_") => given,
        FoundCrate::Name(_) | FoundCrate::Itself => library.into(),
    }
}
