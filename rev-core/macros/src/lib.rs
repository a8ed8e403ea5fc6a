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
mod lower;
mod model;
mod parse;
mod runtime;
mod spans;
#[cfg(test)]
mod tests;
mod types;

use proc_macro::TokenStream;
use rev_core::check::{check, check_pure, infer_pure};
use rev_core::diag::{Code, Diagnostic, Diagnostics};

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
    let complete = diagnostics.is_empty();
    match check(model.function.clone()) {
        Ok(checked) if complete => return emit::reversible(&model, &checked),
        Ok(_) => {}
        // what couldn't be read is missing, so that a loop may seem to change nothing
        Err(more) if complete => diagnostics.append(more),
        Err(more) => diagnostics.append(Diagnostics(more.into_iter().filter(is_sure).collect())),
    }
    let mut out = diagnostic::compile_errors(diagnostics, &model.source.spans);
    out.extend(fallback::reversible(&model));
    out
}

/// Whether a diagnostic of an incomplete function would be one of the complete function.
fn is_sure(d: &Diagnostic) -> bool {
    !matches!(d.code, Code::ConstantCondition | Code::ConstantPostcondition | Code::UnbalancedRelease)
}

fn expand_pure(
    attribute: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let item = match syn::parse2::<syn::ItemFn>(item) {
        Ok(item) => item,
        Err(e) => return e.into_compile_error(),
    };
    let (mut model, mut diagnostics) = lower::lower_pure(attribute, item);
    if let Err(more) = check_pure(&model.function) {
        diagnostics.append(more);
    }
    if diagnostics.is_empty() {
        infer_pure(&mut model.function);
        return emit::pure(&model);
    }
    let mut out = diagnostic::compile_errors(diagnostics, &model.source.spans);
    out.extend(fallback::pure(&model));
    out
}
