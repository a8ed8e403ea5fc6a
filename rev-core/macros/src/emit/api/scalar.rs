//! `f::derivative` and `f::second_derivative`: by the one real number that a function takes.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rev_compiler::ir::{Mode, Type};

use super::dense::{active, arguments, inputs, Both};
use super::tangent::{zeros, Pair};
use super::Api;
use crate::emit::derived::Kind;
use crate::emit::signature::Shape;

/// `f::derivative(device, arguments..)`
pub fn derivative(pair: &Pair) -> Api {
    let found = |output: &Both| {
        let dot = &output.1 .0.ident;
        quote!(__found.#dot)
    };
    by_number(pair, "derivative", "first", &quote!(jvp), &found)
}

/// `f::second_derivative(device, arguments..)`
pub fn second_derivative(pair: &Pair) -> Api {
    let found = |output: &Both| {
        let field = &output.0 .0.ident;
        quote!({ let [_, _, __second, ..] = __found.#field; __second })
    };
    by_number(pair, "second_derivative", "second", &quote!(directional), &found)
}

/// `found`: the derivative of an output in what `by`, along the direction 1, gives.
fn by_number(
    pair: &Pair,
    name: &str,
    which: &str,
    by: &TokenStream,
    found: &dyn Fn(&Both) -> TokenStream,
) -> Api {
    let active: Vec<Both> = active(pair, None).into_iter().map(|(_, both)| both).collect();
    let name = format_ident!("{name}");
    let outputs: Vec<_> = active.iter().filter(|((param, _), _)| param.mode != Mode::Read).collect();
    if outputs.is_empty() {
        return Api::default();
    }
    let (p, vis, device) = (pair.of.p, &pair.of.model.item.vis, pair.of.device());
    let (declared, conditions) = (pair.tangent.signature.declared(), pair.tangent.signature.conditions());
    let given = pair.tangent.signature.given();
    let (inputs, arguments) = (inputs(pair, None), arguments(pair, None));
    let result = pair.of.result_name(if which == "first" { "Derivative" } else { "SecondDerivative" });
    let generics: Vec<Ident> = (0..outputs.len()).map(|k| format_ident!("F{k}")).collect();
    let fields: Vec<_> = outputs.iter().map(|(of, _)| &of.0.ident).collect();
    let types: Vec<_> = outputs.iter().map(|(of, _)| pair.of.owned_type(of.1)).collect();
    let body = match input(pair, &active) {
        Ok(input) => {
            let zeros = active.iter().map(|(of, dot)| zeros(p, &dot.0.ident, of, false));
            let (dot, text) = (&input.1 .0.ident, input.0 .0.ident.to_string());
            let values = outputs.iter().map(|output| found(output));
            quote! {
                #(#zeros)*
                #p::one(&mut #dot, #text)?;
                let __found = Self::#by::<#given>(#device, #(#arguments),*)?;
                __Ok(#result { #(#fields: #values),* })
            }
        }
        Err(why) => quote!(#p::fail::no_single_number(#why)),
    };
    let of = format!("{}::{name}", pair.of.model.item.sig.ident);
    let (doc, doc_of_fields) = (
        format!("What [`{of}`] gives."),
        fields.iter().map(|field| format!("The {which} derivative of `{field}`.")),
    );
    let about = format!(
        "The {which} derivative of each output by the one real number that the function takes: the only argument that is \
         read and carries a derivative, or else the only one that does."
    );
    let functions = quote! {
        #[doc = #about]
        ///
        /// # Errors
        ///
        /// What the function itself fails with; of a function that takes several real numbers, or none, always.
        #[allow(clippy::too_many_arguments, unused_variables)]
        #vis fn #name<#declared>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#result<#(#types),*>, #p::Error> #conditions {
            #body
        }
    };
    let items = quote! {
        #[doc = #doc]
        #[derive(Clone, Debug, PartialEq)]
        #[allow(dead_code)]
        #vis struct #result<#(#generics),*> { #(#[doc = #doc_of_fields] pub #fields: #generics,)* }
    };
    Api { items, functions }
}

/// The number by which there are derivatives; why there is none.
fn input<'a, 'b>(pair: &Pair<'a>, active: &'b [Both<'a>]) -> Result<&'b Both<'a>, String> {
    let function = &pair.of.model.item.sig.ident;
    let read: Vec<_> = active.iter().filter(|((param, _), _)| param.mode == Mode::Read).collect();
    let candidates = if read.is_empty() { active.iter().collect() } else { read };
    let names = |of: &[&Both]| {
        of.iter().map(|((param, _), _)| format!("`{}`", param.ident)).collect::<Vec<_>>().join(", ")
    };
    let otherwise = match pair.kind {
        Kind::Taylor(_) => "`directional` has derivatives along a direction",
        Kind::Tangent | Kind::Adjoint | Kind::Gradient => "`jacobian` has those by all of them",
    };
    match candidates[..] {
        [one] => {
            let (param, passed) = one.0;
            let ty = &pair.of.model.function.var(param.var).ty;
            match passed.shape == Shape::Value && matches!(ty, Type::Scalar(_) | Type::Generic(_)) {
                true => Ok(one),
                false => Err(format!(
                    "`{function}` has no derivative by a single number: `{}` isn't one; {otherwise}",
                    param.ident
                )),
            }
        }
        _ => Err(format!(
            "`{function}` has no derivative by a single number: it takes several, {}; {otherwise}",
            names(&candidates)
        )),
    }
}
