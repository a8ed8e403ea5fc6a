//! The attributes `#[reversible]` and `#[pure]` and the derive `Reversible` of rev.
//!
//! A function goes through four stages: its tokens are parsed (`parse`, by syn), lowered to rev's
//! IR (`lower`), checked (by rev-core, where the rules are), and Rust is emitted from what was
//! checked (`emit`). Errors of all stages are reported together, each at its token
//! (`diagnostic`); a function with errors is replaced by one with the same signature, so that one
//! mistake gives one error.

mod derive;
mod diagnostic;
mod emit;
mod fallback;
mod generics;
mod infer;
mod lower;
mod model;
mod parse;
mod runtime;
mod spans;
mod types;

use proc_macro::TokenStream;

/// Makes a function reversible: see the documentation of the language.
#[proc_macro_attribute]
pub fn reversible(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand_reversible(attribute.into(), item.into()).into()
}

/// Makes a function pure: its calls may stand in the expressions of reversible functions.
#[proc_macro_attribute]
pub fn pure(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand_pure(attribute.into(), item.into()).into()
}

/// Makes a struct a value of the language: its fields are places, and it has a shadow.
#[proc_macro_derive(Reversible)]
pub fn derive_reversible(item: TokenStream) -> TokenStream {
    match syn::parse::<syn::DeriveInput>(item) {
        Ok(item) => derive::derive(item).into(),
        Err(e) => e.into_compile_error().into(),
    }
}

fn expand_reversible(
    attribute: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let item = match syn::parse2::<syn::ItemFn>(item) {
        Ok(item) => item,
        Err(e) => return e.into_compile_error(),
    };
    let (model, mut diagnostics) = lower::lower_function(attribute, item);
    match rev_core::check::check(model.function.clone()) {
        Ok(checked) if diagnostics.is_empty() => return emit::reversible(&model, &checked),
        Ok(_) => {}
        Err(more) => diagnostics.append(more),
    }
    let mut out = diagnostic::compile_errors(diagnostics, &model.source.spans);
    out.extend(fallback::reversible(&model));
    out
}

fn expand_pure(
    attribute: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let item = match syn::parse2::<syn::ItemFn>(item) {
        Ok(item) => item,
        Err(e) => return e.into_compile_error(),
    };
    let (model, diagnostics) = lower::lower_pure(attribute, item);
    if diagnostics.is_empty() {
        return emit::pure(&model);
    }
    let mut out = diagnostic::compile_errors(diagnostics, &model.source.spans);
    out.extend(fallback::pure(&model));
    out
}
