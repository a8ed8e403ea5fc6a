//! `f::jvp_wrt`, `f::hvp_wrt`, `f::directional_wrt` and their kin: directions along some arguments, with zeros along all others.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::dense::{again, arguments, inputs};
use super::gradient::underivable;
use super::tangent::{zeros, Pair};
use super::Slot;
use crate::emit::signature::Shape;
use crate::model::{ParamModel, Passing};

/// `f::jvp_wrt(device, &[f::X.along(&v)], arguments..)` for `f::jvp`: zeros for all tangents, the directions put into them,
/// and the call. `width`: how many directions the tangents are, where they are side by side.
pub fn along(
    pair: &Pair,
    name: &str,
    but: Option<&ParamModel>,
    result: &TokenStream,
    width: Option<&TokenStream>,
) -> TokenStream {
    let (p, f, device) = (pair.of.p, &pair.of.model.item.sig.ident, pair.of.device());
    let (vis, name, own) = (&pair.of.model.item.vis, format_ident!("{name}_wrt"), format_ident!("{name}"));
    let signature = if width.is_some() { pair.of.signature } else { pair.tangent.signature };
    let (declared, conditions, given) = (signature.declared(), signature.conditions(), signature.given());
    let (mut start, mut tangents) = (TokenStream::new(), Vec::new());
    for (k, (of, (dot, _))) in (0u32..).zip(pair.params()) {
        let (dot, text) = (&dot.ident, of.0.ident.to_string());
        if let Some(why) = underivable(pair.of, &of, but.is_some_and(|b| b.var == of.0.var)) {
            tangents.push(quote!((#k, #text, __Err(#why))));
            continue;
        }
        start.extend(match width {
            None => zeros(p, dot, &of, false),
            Some(n) => {
                let slot = Slot {
                    name: of.0.ident.clone(),
                    passed: of.1.clone(),
                    reference: of.0.passing != Passing::Value,
                };
                let zero = pair.of.zero_shadow(&slot, n);
                quote!(let mut #dot = #zero;)
            }
        });
        let text = dot.to_string();
        tangents.push(quote!((#k, #text, __Ok(&mut #dot as &mut dyn #p::DynArg))));
    }
    let (inputs, call) = match width {
        None => {
            let (arguments, given) = (arguments(pair, but), pair.tangent.signature.given());
            (inputs(pair, but), quote!(Self::#own::<#given>(#device, #(#arguments),*)))
        }
        Some(n) => {
            let arguments = side_arguments(pair, but);
            (inputs_alone(pair, but), quote!(Self::#own::<#given #n>(#device, #(#arguments),*)))
        }
    };
    let width = width.map(|n| quote!(const #n: usize));
    let doc = format!(
        "[`{f}::{own}`] with directions along some arguments, `&[{f}::X.along(&v), ..]`, each shaped like its argument; \
         along all others the direction is zero."
    );
    quote! {
        #[doc = #doc]
        #[allow(clippy::too_many_arguments)]
        #vis fn #name<#declared #width>(
            #device: &(impl #p::Device + ?Sized), __along: &[#p::Along<'_, #f>], #(#inputs),*
        ) -> ::core::result::Result<#result, #p::Error> #conditions {
            #start
            #p::directions(__along, &mut [#(#tangents),*])?;
            #call
        }
    }
}

/// The arguments, without the tangents of functions among them.
fn inputs_alone(pair: &Pair, but: Option<&ParamModel>) -> Vec<TokenStream> {
    let wanted = pair.params().map(|(of, _)| of).filter(|(of, _)| but.is_none_or(|b| b.var != of.var));
    wanted.map(|(param, passed)| pair.of.shared_input(param, passed)).collect()
}

/// What `jvp_batch` and `hvp_batch` are given for shadows under the names of tangents, and the arguments.
fn side_arguments(pair: &Pair, but: Option<&ParamModel>) -> Vec<TokenStream> {
    let wanted = |of: &ParamModel| but.is_none_or(|b| b.var != of.var);
    let params: Vec<_> = pair.params().filter(|(of, _)| wanted(of.0)).collect();
    let given = params.iter().filter(|(of, _)| of.1.shape != Shape::Function && pair.is_given(of));
    let dots = given.map(|(of, (dot, _))| {
        let name = &dot.ident;
        match of.1.shape {
            Shape::Slice => quote!(&#name[..]),
            Shape::Array(_) => quote!(#name.view()),
            Shape::Value | Shape::Function => quote!(#name),
        }
    });
    dots.chain(params.iter().map(|(of, _)| again(of))).collect()
}
