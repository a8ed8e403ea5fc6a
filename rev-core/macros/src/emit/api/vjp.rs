//! `f::vjp` and `f::vjp_batch`: the outputs, and the cotangents of all arguments for given
//! cotangents of the outputs.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rev_compiler::ir::{Direction, Mode};

use super::decided::{decided, Decided};
use super::dispatch::Known;
use super::{input_like, same_inner_shapes, same_outer_shape, Api, Entry, Slot};
use crate::emit::signature::{Passed, Shape};
use crate::model::ParamModel;

/// The functions, where something is written.
pub fn vjp(entry: &Entry) -> Api {
    if entry.params().all(|(param, _)| param.mode == Mode::Read) {
        return Api { items: TokenStream::new(), functions: TokenStream::new() };
    }
    let (one, batch) = (one(entry), batch(entry));
    let doc = "The outputs of the function, and the cotangents of all its arguments: the derivatives by \
               the arguments of the sum of the outputs, each times its seed. The seeds of the written \
               arguments come first, then all arguments, which stay as they are.";
    Api {
        items: result(entry),
        functions: quote! {
            #[doc = #doc]
            #one
            /// The same for `__N` seeds in one sweep, side by side in shadows of this width.
            #batch
        },
    }
}

/// `struct FVjp { y, y_bar, x_bar, .. }`, generic over the types of its fields.
fn result(entry: &Entry) -> TokenStream {
    let (vis, name) = (&entry.model.item.vis, entry.result_name("Vjp"));
    let doc = format!("What [`{}::vjp`] gives.", entry.model.item.sig.ident);
    let (mut types, mut fields) = (Vec::new(), TokenStream::new());
    let mut add = |field: Ident, doc: String| {
        let ty = format_ident!("F{}", types.len());
        fields.extend(quote!(#[doc = #doc] pub #field: #ty,));
        types.push(ty);
    };
    for (param, _) in entry.params() {
        if param.mode != Mode::Read {
            add(param.ident.clone(), format!("`{}` after the function.", param.ident));
        }
        add(entry.bar(param), format!("The cotangent of `{}` before the function.", param.ident));
    }
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug, PartialEq)]
        #[allow(dead_code)]
        #vis struct #name<#(#types),*> { #fields }
    }
}

/// `f::vjp`: a seed of one, as plain numbers.
fn one(entry: &Entry) -> TokenStream {
    let (p, vis, device) = (entry.p, &entry.model.item.vis, entry.device());
    let (declared, conditions) = (entry.signature.declared(), entry.signature.conditions());
    let (result, given) = (entry.result_name("Vjp"), entry.signature.given());
    let inputs: Vec<_> = entry.params().map(|(param, passed)| entry.shared_input(param, passed)).collect();
    let names = entry.params().map(|(param, _)| &param.ident);
    let (mut seeds, mut start, mut cotangents) = (Vec::new(), TokenStream::new(), Vec::new());
    let (mut types, mut fields) = (Vec::new(), TokenStream::new());
    for (param, passed) in entry.params() {
        let (name, bar, ty) = (&param.ident, entry.bar(param), entry.owned_type(passed));
        if param.mode != Mode::Read {
            let element = &passed.ty;
            seeds.push(input_like(p, &bar, passed.shape, &quote!(<#element as #p::Primal>::Gradient)));
            let owned = owned(passed.shape, &bar);
            start.extend(quote!(let #bar = <#ty as #p::Primal>::cotangent(#owned);));
            cotangents.push(match passed.shape {
                Shape::Value | Shape::Function => quote!(#bar),
                Shape::Slice => quote!(&#bar[..]),
                Shape::Array(_) => quote!(#bar.view()),
            });
            fields.extend(quote!(#name: __all.#name,));
            types.push(ty);
        }
        let gradient = entry.gradient_of(param, passed, &quote!(__all.#bar));
        fields.extend(quote!(#bar: #gradient,));
        types.push(entry.gradient_type(param, passed));
    }
    quote! {
        #vis fn vjp<#declared>(
            #device: &(impl #p::Device + ?Sized), #(#seeds,)* #(#inputs),*
        ) -> ::core::result::Result<#result<#(#types),*>, #p::Error> #conditions {
            #start
            let __all = Self::vjp_batch::<#given 1usize>(#device, #(#cotangents,)* #(#names),*)?;
            __Ok(#result { #fields })
        }
    }
}

/// `f::vjp_batch`: seeds of `__N` cotangents side by side.
fn batch(entry: &Entry) -> TokenStream {
    let (p, vis, device) = (entry.p, &entry.model.item.vis, entry.device());
    let (declared, conditions) = (entry.signature.declared(), entry.signature.conditions());
    let (result, n) = (entry.result_name("Vjp"), quote!(__N));
    let written = || entry.params().filter(|(param, _)| param.mode != Mode::Read);
    let seeds: Vec<_> = written().map(|(param, passed)| seed_input(entry, param, passed)).collect();
    let inputs: Vec<_> = entry.params().map(|(param, passed)| entry.shared_input(param, passed)).collect();
    let (mut types, mut start, mut outputs, mut fields) =
        (Vec::new(), TokenStream::new(), TokenStream::new(), TokenStream::new());
    let (mut values, mut both) = (Vec::new(), Vec::new());
    let (mut kept, mut after, mut zeros) = (Vec::new(), Vec::new(), Vec::new());
    for (param, passed) in entry.params() {
        let (name, shadow) = (&param.ident, entry.bar(param));
        let own = param.mode != Mode::Read;
        let slot = if own { Slot::own(name.clone(), passed.clone()) } else { Slot::of(param, passed) };
        if own {
            start.extend(entry.copied(param, passed));
            start.extend(seed(entry, param, passed));
            let output = format_ident!("__{}_after", name);
            outputs.extend(quote!(let #output = ::core::clone::Clone::clone(&#name);));
            kept.push(output.clone());
            after.push(name.clone());
            fields.extend(quote!(#name: #output,));
            types.push(entry.owned_type(passed));
        } else {
            let zero = entry.zero_shadow(&slot, &n);
            start.extend(entry.rebound([&slot].into_iter()));
            start.extend(quote!(let mut #shadow = #zero;));
            zeros.push(both.len() + 1);
        }
        if entry.is_constant(param) {
            fields.extend(quote!(#shadow: (),));
            types.push(quote!(()));
        } else {
            fields.extend(quote!(#shadow,));
            types.push(entry.shadow_type(passed, &n));
        }
        values.push(slot.clone());
        both.push(slot);
        both.push(Slot::own(shadow, passed.shadow(p)));
    }
    let forward = entry.dispatch(Direction::FORWARD, &values, None);
    let Decided { keep, compare, any } = decided(entry, &values);
    let known = Known { forgets: !any, zeros: &zeros };
    let adjoint = entry.dispatch_knowing(Direction::ADJOINT, &both, Some(&n), known);
    let (fuses, fused) = (entry.is_fused(), entry.dispatch_fused(&both, &zeros, &n));
    quote! {
        #vis fn vjp_batch<#declared const __N: usize>(
            #device: &(impl #p::Device + ?Sized), #(#seeds,)* #(#inputs),*
        ) -> ::core::result::Result<#result<#(#types),*>, #p::Error> #conditions {
            #start
            #keep
            // there and back in one sweep, which leaves the outputs as they are
            let (#(#kept,)*) = if #fuses {
                #fused;
                (#(#after,)*)
            } else {
                #forward;
                #outputs
                #adjoint;
                #compare
                (#(#kept,)*)
            };
            __Ok(#result { #fields })
        }
    }
}

/// The seed of a written argument: shaped like it.
fn seed_input(entry: &Entry, param: &ParamModel, passed: &Passed) -> TokenStream {
    let (p, ty) = (entry.p, &passed.ty);
    input_like(p, &entry.bar(param), passed.shape, &quote!(<#ty as #p::Primal>::Shadow<__N>))
}

/// Turns the seed into a shadow of the argument's shape.
fn seed(entry: &Entry, param: &ParamModel, passed: &Passed) -> TokenStream {
    let (p, name) = (entry.p, entry.bar(param));
    let shape = same_outer_shape(p, passed, &param.ident, &name);
    // stacks have other heights after the function
    let inner = same_inner_shapes(p, passed, &param.ident, &name, false);
    let owned = owned(passed.shape, &name);
    quote!(#shape let mut #name = #owned; #inner)
}

/// An argument's own copy.
fn owned(shape: Shape, name: &Ident) -> TokenStream {
    match shape {
        Shape::Value | Shape::Function => quote!(#name),
        Shape::Slice => quote!(#name.to_vec()),
        Shape::Array(_) => quote!(#name.to_owned()),
    }
}
