//! What stands in for a function with errors: the same signature, so that its callers compile as far
//! as they are right, and the associated functions that they may name.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::{Model, PureModel};

/// A function and a struct of the same name, with bodies that are never run.
pub fn reversible(model: &Model) -> TokenStream {
    let syn::ItemFn { vis, sig, .. } = &model.item;
    let ident = &sig.ident;
    let (generics, clause) = (&sig.generics, &sig.generics.where_clause);
    let inputs = &sig.inputs;
    let unreachable = quote!({ ::core::unreachable!() });
    quote! {
        #[allow(unused_variables, dead_code, clippy::all)]
        #vis fn #ident #generics (#inputs) -> ::core::result::Result<(), ::core::convert::Infallible> #clause
            #unreachable
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #ident {}
        #[allow(unused_variables, dead_code, clippy::all)]
        impl #ident {
            #vis fn inverse #generics (#inputs) -> ::core::result::Result<(), ::core::convert::Infallible> #clause
                #unreachable
        }
    }
}

/// The function without its body.
pub fn pure(model: &PureModel) -> TokenStream {
    let syn::ItemFn { vis, sig, .. } = &model.item;
    quote! {
        #[allow(unused_variables, dead_code, clippy::all)]
        #vis #sig { ::core::unreachable!() }
    }
}
