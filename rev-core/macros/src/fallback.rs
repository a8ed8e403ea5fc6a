//! What stands in for a function or a struct with errors: the same signature, so that what uses it compiles as far
//! as it is right.

use proc_macro2::TokenStream;
use quote::{quote, ToTokens};
use rev_compiler::check::check;
use rev_compiler::ir::Function;
use syn::visit_mut::VisitMut;

use crate::model::{Model, PureModel};
use crate::names::{refused, Named};
use crate::{emit, runtime};

/// The function without its statements, with everything that its callers may name.
pub fn reversible(mut model: Model) -> TokenStream {
    let empty = Function { body: Vec::new(), ..model.function.clone() };
    let source = &mut model.source;
    for names in [&mut source.callees, &mut source.pures, &mut source.functions] {
        names.clear();
    }
    source.constants.clear();
    model.source.receivers.clear();
    match check(empty) {
        Ok(checked) if model.declared && (model.method.is_some() || !is_refused(&model.item.sig.ident)) => {
            emit::reversible(&model, &checked)
        }
        Ok(_) | Err(_) => signature(&model),
    }
}

/// The function as it is written, for rust-analyzer only: a body that is being typed has errors, and what can stand at the
/// cursor is looked up in it. It has to come first: rust-analyzer expands the function with and without a name put in at
/// the cursor, and takes the place of that name in the one for a place in the other.
pub fn written(item: &syn::ItemFn) -> TokenStream {
    let syn::ItemFn { vis, sig, block, .. } = item;
    let mut block = block.clone();
    if sig.generics.type_params().next().is_some() {
        Decimals.visit_block_mut(&mut block);
    }
    quote! {
        #[allow(unexpected_cfgs, non_snake_case)]
        const _: () = {
            #[cfg(rust_analyzer)]
            #vis #sig #block
        };
    }
}

/// Makes `0.5` of no type that is known: in Rust it is no `T`, and rust-analyzer would say so.
struct Decimals;

impl VisitMut for Decimals {
    fn visit_expr_mut(&mut self, e: &mut syn::Expr) {
        match e {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Float(_), .. }) => *e = syn::parse_quote!(__decimal),
            e => syn::visit_mut::visit_expr_mut(self, e),
        }
    }
}

/// Whether a function of this name would hide something else, whose users would be told of it.
fn is_refused(name: &syn::Ident) -> bool {
    refused(name, Named::Function, rev_compiler::ir::Span::NONE).is_some()
}

/// The function and its inverse, where not even the parameters can be read.
fn signature(model: &Model) -> TokenStream {
    let p = runtime::path();
    let syn::ItemFn { vis, sig, .. } = &model.item;
    let mut sig = sig.clone();
    Bounds.visit_signature_mut(&mut sig);
    let syn::Signature { ident, generics, inputs, .. } = &sig;
    if model.method.is_some() || is_refused(ident) {
        return TokenStream::new();
    }
    let clause = &generics.where_clause;
    let result = quote!(::core::result::Result<(), #p::Error>);
    quote! {
        #[allow(unused_variables, unused_mut, dead_code, clippy::all)]
        #vis fn #ident #generics (#inputs) -> #result #clause {
            ::core::unreachable!()
        }
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #ident {}
        #[allow(unused_variables, unused_mut, dead_code, clippy::all)]
        impl #ident {
            #vis fn inverse #generics (#inputs) -> #result #clause {
                ::core::unreachable!()
            }
        }
    }
}

/// Takes the parameters out of `Reversible<(&mut T, &T)>`: in a bound, references would have to name
/// their lifetimes.
struct Bounds;

impl VisitMut for Bounds {
    fn visit_trait_bound_mut(&mut self, bound: &mut syn::TraitBound) {
        if bound.path.segments.last().is_some_and(|s| s.ident == "Reversible") {
            bound.path = syn::parse_quote!(::core::marker::Copy);
        }
    }
}

/// The function without its body.
pub fn pure(model: &PureModel) -> TokenStream {
    let syn::ItemFn { vis, sig, .. } = &model.item;
    if model.method.is_some() {
        return TokenStream::new();
    }
    quote! {
        #[allow(unused_variables, dead_code, clippy::all)]
        #vis #sig { ::core::unreachable!() }
    }
}

/// What a struct's derive makes of the fields that are right, with no body: it would have to make the others too.
pub fn structure(expanded: &TokenStream) -> TokenStream {
    struct Bodies;
    impl VisitMut for Bodies {
        fn visit_impl_item_fn_mut(&mut self, function: &mut syn::ImplItemFn) {
            function.block = syn::parse_quote!({ ::core::unreachable!() });
            function.attrs.push(syn::parse_quote!(#[allow(unused_variables, clippy::all)]));
        }
    }
    syn::parse2::<syn::File>(expanded.clone()).map_or_else(
        |_| TokenStream::new(),
        |mut file| {
            Bodies.visit_file_mut(&mut file);
            file.into_token_stream()
        },
    )
}
