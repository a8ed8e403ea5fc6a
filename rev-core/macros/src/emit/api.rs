//! The functions through which the programs are called.

use proc_macro2::TokenStream;
use quote::quote;
use syn::FnArg;

use super::signature::{converted, Signature};
use crate::model::Model;

/// `fn f(..)`: the forward program on the CPU with default options.
pub fn plain_function(model: &Model, signature: &Signature, p: &TokenStream) -> TokenStream {
    let name = &model.item.sig.ident;
    let (attrs, vis) = (&model.item.attrs, &model.item.vis);
    let body = run_native(model, signature, p, "__forward");
    let (declared, conditions, inputs) = (signature.declared(), signature.conditions(), inputs(model));
    quote! {
        #(#attrs)*
        #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
        #vis fn #name<#declared>(#(#inputs),*) -> ::core::result::Result<(), #p::Error> #conditions {
            #body
        }
    }
}

fn inputs(model: &Model) -> Vec<TokenStream> {
    model
        .item
        .sig
        .inputs
        .iter()
        .filter_map(|arg| match arg {
            FnArg::Typed(t) => {
                let (pat, ty) = (&t.pat, &t.ty);
                Some(quote!(#pat: #ty))
            }
            FnArg::Receiver(_) => None,
        })
        .collect()
}

fn run_native(model: &Model, signature: &Signature, p: &TokenStream, program: &str) -> TokenStream {
    let name = &model.item.sig.ident;
    let program = super::names::ident(program);
    let given = signature.given();
    let args = model.params.iter().zip(&signature.params).map(|(m, x)| converted(m, x, p));
    quote! {
        let __run = #p::Run::new(&::core::default::Default::default());
        #name::#program::<#given _>(__run.context::<#p::Checked>(), #(#args),*)
    }
}

/// The associated functions of the struct `f {}`.
pub fn functions(model: &Model, signature: &Signature, p: &TokenStream) -> TokenStream {
    let body = run_native(model, signature, p, "__inverse");
    let (declared, conditions, inputs) = (signature.declared(), signature.conditions(), inputs(model));
    let vis = &model.item.vis;
    quote! {
        /// Runs the inverse on the CPU with default options.
        #vis fn inverse<#declared>(#(#inputs),*) -> ::core::result::Result<(), #p::Error> #conditions {
            #body
        }
    }
}
