//! `f::jacobian_pattern`, `f::hessian_pattern` and `f::hessian_pushed`: where derivatives may not be zero, and a Hessian
//! without that, found by a run of the IR.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::Mode;

use super::dense::listed;
use super::gradient::Param;
use super::tangent::Pair;
use super::Entry;
use crate::emit::signature::Shape;
use crate::model::ParamModel;

/// The functions.
pub fn functions(pair: &Pair) -> TokenStream {
    let of = pair.of;
    let jacobian = jacobian_pattern(of);
    let hessian = of.model.loss.and_then(|k| of.params().nth(k).map(|loss| hessian_pattern(of, loss, k)));
    quote!(#jacobian #hessian)
}

fn inputs(of: &Entry, but: Option<&ParamModel>) -> Vec<TokenStream> {
    let wanted = |(param, _): &Param| but.is_none_or(|b| b.var != param.var);
    of.params().filter(wanted).map(|(param, passed)| of.shared_input(param, passed)).collect()
}

/// The arguments as values of the interpreter.
fn loaded(of: &Entry) -> TokenStream {
    let p = of.p;
    let each = of.params().map(|(param, passed)| {
        let name = &param.ident;
        match passed.shape {
            Shape::Function => quote!(#p::DynArg::load(&#p::FunctionArg::of(#p::Reversible::name(#name)))),
            Shape::Value | Shape::Slice | Shape::Array(_) => quote!(#p::DynArg::load(&#name)),
        }
    });
    quote!(&[#(#each),*])
}

/// `f::jacobian_pattern(branches, arguments..)`
fn jacobian_pattern(of: &Entry) -> TokenStream {
    if of.params().all(|(param, _)| param.mode == Mode::Read || of.is_inactive(param)) {
        return TokenStream::new();
    }
    let (p, vis, module) = (of.p, &of.model.item.vis, of.module());
    let (declared, conditions) = (of.signature.declared(), of.signature.conditions());
    let (inputs, loaded, f) = (inputs(of, None), loaded(of), &of.model.item.sig.ident);
    let listed = listed(of, None);
    quote! {
        /// Where the Jacobian may have nonzeros, found by running the program once with sets of indices, on the
        /// interpreter: along the branches that are taken, or for all of them. Rows and columns are those of `jacobian`; with
        /// `(branches, f::X)` those of `jacobian_wrt`.
        #[allow(clippy::too_many_arguments)]
        #vis fn jacobian_pattern<#declared>(
            __branches: impl ::core::convert::Into<#p::PatternOf<#f>>, #(#inputs),*
        ) -> ::core::result::Result<#p::sparse::Pattern, #p::Error> #conditions {
            let #p::PatternOf(__branches, __wrt) = ::core::convert::Into::into(__branches);
            let __columns = #p::columns_of(#listed, __wrt)?;
            let __all = #p::sparse::Sparsity::jacobian_pattern(#module, #loaded, __branches)?;
            __Ok(__all.part(0..__all.rows(), __columns))
        }
    }
}

/// `f::hessian_pattern(branches, arguments..)`, `f::hessian_pushed(arguments..)`
fn hessian_pattern(of: &Entry, (loss, passed): Param, k: usize) -> TokenStream {
    let (p, vis, module) = (of.p, &of.model.item.vis, of.module());
    let (declared, conditions) = (of.signature.declared(), of.signature.conditions());
    let (inputs, loaded, f) = (inputs(of, Some(loss)), loaded(of), &of.model.item.sig.ident);
    let listed = listed(of, Some(loss));
    let (name, ty) = (&loss.ident, &passed.ty);
    quote! {
        /// Where the Hessian of the loss may have nonzeros, found like `jacobian_pattern`. Rows and columns are those
        /// of `hessian`; with `(branches, f::X)` those of `hessian_wrt`.
        #[allow(clippy::too_many_arguments)]
        #vis fn hessian_pattern<#declared>(
            __branches: impl ::core::convert::Into<#p::PatternOf<#f>>, #(#inputs),*
        ) -> ::core::result::Result<#p::sparse::Pattern, #p::Error> #conditions {
            let #name = <#ty as #p::Zero>::zero();
            let #p::PatternOf(__branches, __wrt) = ::core::convert::Into::into(__branches);
            let __columns = #p::columns_of(#listed, __wrt)?;
            let __all = #p::sparse::Sparsity::hessian_pattern(#module, #k, #loaded, __branches)?;
            __Ok(__all.part(__columns.iter().copied(), __columns.iter().copied()))
        }

        /// The Hessian of the loss by edge pushing: the program is run on the interpreter, forward and back, and the
        /// second derivatives by the numbers that are live go with it. Needs no pattern. Rows and columns are those of
        /// `hessian`.
        #[allow(clippy::too_many_arguments)]
        #vis fn hessian_pushed<#declared>(
            #(#inputs),*
        ) -> ::core::result::Result<#p::sparse::SparseMatrix, #p::Error> #conditions {
            let #name = <#ty as #p::Zero>::zero();
            #p::sparse::Sparsity::hessian_pushed(#module, #k, #loaded)
        }
    }
}
