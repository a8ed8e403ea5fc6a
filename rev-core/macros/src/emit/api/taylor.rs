//! `f::taylor`, `f::directional` and `f::second_derivative`, of a function under `#[reversible(taylor = 3)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use rev_compiler::ir::{Direction, Mode};

use super::along::along;
use super::tangent::{both, in_place, inputs, start, Pair};
use super::{scalar, Api};

/// What the function offers, and what its function of Taylor coefficients does for that.
pub fn functions(pair: &Pair, order: usize) -> (Api, TokenStream) {
    let doc = "The Taylor coefficients of the function's image of a curve, in place: each argument `x` is followed by those of \
               order 1, 2, … of `x(t) = x + x_1 t + x_2 t² + …`, which become those of what it holds after the \
               function. The derivative of order `k` is `k!` times coefficient `k`. Those of an integer mean nothing.";
    let mut api = Api { items: TokenStream::new(), functions: in_place(pair, "taylor", doc) };
    let Some((directional, own)) = directional(pair, order) else { return (api, TokenStream::new()) };
    api.extend(directional);
    api.extend(scalar::second_derivative(pair));
    (api, own)
}

/// `f::directional(device, direction.., arguments..)`
fn directional(pair: &Pair, order: usize) -> Option<(Api, TokenStream)> {
    let p = pair.of.p;
    let (vis, name) = (&pair.of.model.item.vis, pair.of.result_name("Directional"));
    let doc = format!("What [`{}::directional`] gives.", pair.of.model.item.sig.ident);
    let count = order + 1;
    let (mut generics, mut types, mut fields, mut scaled, mut values) =
        (Vec::new(), Vec::new(), TokenStream::new(), TokenStream::new(), TokenStream::new());
    for (of, companions) in pair.with_companions() {
        if of.0.mode == Mode::Read {
            continue;
        }
        let (field, ty) = (&of.0.ident, pair.of.owned_type(of.1));
        let generic = format_ident!("F{}", generics.len());
        if pair.is_given(&of) {
            let orders: Vec<_> = companions.iter().map(|(param, _)| &param.ident).collect();
            let doc = format!("`{field}` after the function, and its derivatives of order 1 to {order} along the direction.");
            fields.extend(quote!(#[doc = #doc] pub #field: [#generic; #count],));
            values.extend(quote!(#field: [#field, #(#orders),*],));
            let mut factorial = 1.0;
            for (k, of_order) in orders.into_iter().enumerate().skip(1) {
                factorial *= (k + 1) as f64;
                scaled.extend(quote!(#p::scale(&mut #of_order, #factorial)?;));
            }
        } else {
            let doc = format!("`{field}` after the function.");
            fields.extend(quote!(#[doc = #doc] pub #field: #generic,));
            values.extend(quote!(#field,));
        }
        generics.push(generic);
        types.push(ty);
    }
    if generics.is_empty() {
        return None;
    }
    let start = start(pair, None);
    let run = pair.tangent.dispatch(Direction::FORWARD, &start.slots, None);
    let code = start.code;
    let body = quote!(#code #run; #scaled __Ok(#name { #values }));
    let result = quote!(#name<#(#types),*>);
    let both = both(pair, "directional", &inputs(pair, None), &result, &body);
    let (of, along) = (both.of, along(pair, "directional", None, &result, None));
    let functions = quote! {
        #along

        /// The outputs of the function and their derivatives along a direction: element `k` of each is the derivative of
        /// order `k`, and element 0 the output itself. A tangent is given for each argument that carries a derivative, shaped
        /// like it, in their order, then all arguments, which stay as they are.
        ///
        /// # Errors
        ///
        /// What the function itself fails with, and a tangent of another shape than its argument.
        #of
    };
    let items = quote! {
        #[doc = #doc]
        #[derive(Clone, Debug, PartialEq)]
        #[allow(dead_code)]
        #vis struct #name<#(#generics),*> { #fields }
    };
    Some((Api { items, functions }, both.tangent))
}
