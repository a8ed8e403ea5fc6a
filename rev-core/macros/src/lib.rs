//! The attributes `#[reversible]` and `#[pure]` and the derive `Reversible` of rev.
//!
//! A function goes through four stages: its tokens are parsed (`parse`, by syn), lowered to rev's
//! IR (`lower`), checked (by rev-compiler, where the rules are), and Rust is emitted from what was
//! checked (`emit`). Errors of all stages are reported together, each at its token
//! (`diagnostic`); a function with errors is replaced by one with the same signature, so that one
//! mistake gives one error.

mod depth;
mod derive;
mod diagnostic;
mod emit;
mod fallback;
mod generics;
#[cfg(test)]
mod growth;
mod lower;
mod methods;
mod model;
mod names;
mod parse;
mod runtime;
mod spans;
#[cfg(test)]
mod tests;
mod types;

use proc_macro::TokenStream;
use rev_compiler::check::{check, check_pure, infer_pure};
use rev_compiler::diag::{Code, Diagnostic, Diagnostics};

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
    depth::reading(&item.clone(), || reversible_in(attribute, item))
}

fn reversible_in(
    attribute: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(syn::Item::Fn(function)) => match function.sig.receiver() {
            None => reversible_function(attribute, function, None),
            Some(_) => unmarked_block(attribute, function),
        },
        Ok(syn::Item::Impl(block)) => methods::expand(&attribute, block),
        Ok(_) => misplaced(
            item,
            "`reversible` stands at a function, or at an `impl` block with reversible functions",
        ),
        Err(e) => e.into_compile_error(),
    }
}

fn reversible_function(
    attribute: proc_macro2::TokenStream,
    item: syn::ItemFn,
    method: Option<model::Method>,
) -> proc_macro2::TokenStream {
    let (model, mut diagnostics) = lower::lower_function(attribute, item, method);
    let complete = diagnostics.is_empty();
    match check(model.function.clone()) {
        Ok(checked) if complete => return depth::emitting(&checked, || emit::reversible(&model, &checked)),
        Ok(_) => {}
        // what couldn't be read is missing, so that a loop may seem to change nothing
        Err(more) if complete => diagnostics.append(more),
        Err(more) => diagnostics.append(Diagnostics(more.into_iter().filter(is_sure).collect())),
    }
    let mut out = fallback::written(&model.item);
    out.extend(diagnostic::compile_errors(diagnostics, &model.source.spans));
    out.extend(fallback::reversible(model));
    out
}

/// A function with a receiver in a block that isn't marked: only what is wrong with it is known.
fn unmarked_block(attribute: proc_macro2::TokenStream, mut item: syn::ItemFn) -> proc_macro2::TokenStream {
    item.block = syn::parse_quote!({ ::core::unreachable!() });
    let stub = quote::quote!(#[allow(unused_variables, dead_code, clippy::all)] #item);
    let (model, diagnostics) = lower::lower_function(attribute, item, None);
    let receiver = diagnostics.into_iter().filter(|d| d.code == Code::UnsupportedSignature).take(1);
    let mut out = diagnostic::compile_errors(Diagnostics(receiver.collect()), &model.source.spans);
    out.extend(stub);
    out
}

/// An attribute at something else: the item stays as it is.
fn misplaced(item: proc_macro2::TokenStream, message: &str) -> proc_macro2::TokenStream {
    let mut spans = spans::Spans::default();
    let span = spans.of(&item);
    let error = Diagnostic::new(Code::UnsupportedSignature, span, message)
        .help("a struct becomes a value of the language by `#[derive(Reversible)]`");
    let mut out = diagnostic::compile_errors(Diagnostics(vec![error]), &spans);
    out.extend(item);
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
    depth::reading(&item.clone(), || pure_in(attribute, item))
}

fn pure_in(attribute: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(syn::Item::Fn(function)) => pure_function(attribute, function, None),
        Ok(_) => misplaced(item, "`pure` stands at a function"),
        Err(e) => e.into_compile_error(),
    }
}

fn pure_function(
    attribute: proc_macro2::TokenStream,
    item: syn::ItemFn,
    method: Option<model::Method>,
) -> proc_macro2::TokenStream {
    let (mut model, mut diagnostics) = lower::lower_pure(attribute, item, method);
    if let Err(more) = check_pure(&model.function) {
        diagnostics.append(more);
    }
    if diagnostics.is_empty() {
        infer_pure(&mut model.function);
        return emit::pure(&model);
    }
    let mut out = fallback::written(&model.item);
    out.extend(diagnostic::compile_errors(diagnostics, &model.source.spans));
    out.extend(fallback::pure(&model));
    out
}
