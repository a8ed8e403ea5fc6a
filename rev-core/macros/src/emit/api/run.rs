//! Running a program on arguments in place: `f`, `f::inverse`, `f::run`, `f::run_inverse`,
//! `f::adjoint`, `f::pullback`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, ToTokens};
use rev_compiler::ir::Direction;

use super::dispatch::Known;
use super::{lent, same_shape, Entry, Slot};
use crate::model::{Method, ParamModel};
use crate::names::RECEIVER;

/// `fn f(..)`: the forward program on the CPU with default options.
pub fn plain_function(entry: &Entry) -> TokenStream {
    let name = &entry.model.item.sig.ident;
    let (attrs, vis) = (&entry.model.item.attrs, &entry.model.item.vis);
    let head = head(entry, quote!(fn #name), None);
    let body = on_cpu(entry, "run");
    quote! {
        #(#attrs)*
        #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
        #vis #head { #body }
    }
}

/// `fn f(&mut self, ..)` in a block of its type: the forward program on the CPU with default options.
pub fn method(entry: &Entry, method: &Method) -> TokenStream {
    let (item, p) = (&entry.model.item, entry.p);
    let (attrs, vis, free, name) = (&item.attrs, &item.vis, &item.sig.ident, &method.name);
    let (declared, conditions) =
        (entry.signature.declared_but(&method.generics), entry.signature.conditions());
    let receiver = &method.receiver;
    let of_type = |param: &ParamModel| receiver.is_some() && param.ident == RECEIVER;
    let inputs = entry.model.params.iter().map(|param| match (of_type(param), receiver) {
        (true, Some(receiver)) => quote!(#receiver),
        _ => entry.input(param),
    });
    let args = entry.model.params.iter().map(|param| match of_type(param) {
        true => quote!(self),
        false => param.ident.to_token_stream(),
    });
    quote! {
        #(#attrs)*
        #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
        #vis fn #name<#declared>(#(#inputs),*) -> ::core::result::Result<(), #p::Error> #conditions {
            #free::run(&#p::Cpu::new(), #(#args),*)
        }
    }
}

/// `fn name<..>(device, ..) -> Result<(), Error>` with the arguments of the source.
pub fn head(entry: &Entry, name: TokenStream, device: Option<TokenStream>) -> TokenStream {
    let (p, declared, conditions) = (entry.p, entry.signature.declared(), entry.signature.conditions());
    let inputs = entry.model.params.iter().map(|param| entry.input(param));
    quote!(#name<#declared>(#device #(#inputs),*) -> ::core::result::Result<(), #p::Error> #conditions)
}

/// The argument that says on which device.
fn device_input(entry: &Entry) -> TokenStream {
    let (p, device) = (entry.p, entry.device());
    quote!(#device: &(impl #p::Device + ?Sized),)
}

fn on_cpu(entry: &Entry, method: &str) -> TokenStream {
    let (p, name, method) = (entry.p, &entry.model.item.sig.ident, format_ident!("{method}"));
    let args = entry.model.params.iter().map(|param| &param.ident);
    quote!(#name::#method(&#p::Cpu::new(), #(#args),*))
}

/// The functions that run in place.
pub fn functions(entry: &Entry) -> TokenStream {
    let vis = &entry.model.item.vis;
    let device = device_input(entry);
    let on_device = |name: &str, direction: Direction| {
        let name = format_ident!("{name}");
        let head = head(entry, quote!(fn #name), Some(device.clone()));
        let slots: Vec<Slot> = entry.params().map(|(param, passed)| Slot::of(param, passed)).collect();
        let (rebound, run) = (entry.rebound(slots.iter()), entry.dispatch(direction, &slots, None));
        quote!(#vis #head { #rebound #run; __Ok(()) })
    };
    let run = on_device("run", Direction::FORWARD);
    let run_inverse = on_device("run_inverse", Direction::INVERSE);
    let (inverse, body) = (head(entry, quote!(fn inverse), None), on_cpu(entry, "run_inverse"));
    let [adjoint, pullback] = [false, true].map(|forgets| adjoint(entry, &device, forgets));
    let dispatchers = entry.dispatchers(&[Direction::FORWARD, Direction::INVERSE, Direction::ADJOINT]);
    quote! {
        /// Runs the inverse on the CPU with default options.
        #vis #inverse { #body }
        /// Runs the function on a device.
        #run
        /// Runs the inverse on a device.
        #run_inverse
        /// The adjoint, in place: from the state after the function and its cotangents to the state
        /// before it, with the cotangents of everything that was read added to its shadow. Each
        /// argument is followed by its shadow of width `__N`.
        #adjoint
        /// The same where nobody needs the state before: what the function writes is used up, and holds afterwards what nothing
        /// is said about.
        #pullback
        #dispatchers
    }
}

/// `f::adjoint(device, p, &mut p_bar, …)`, or `f::pullback`, which needn't restore the state.
fn adjoint(entry: &Entry, device: &TokenStream, forgets: bool) -> TokenStream {
    let (p, vis, name) = (entry.p, &entry.model.item.vis, if forgets { "pullback" } else { "adjoint" });
    let name = format_ident!("{name}");
    let (declared, conditions) = (entry.signature.declared(), entry.signature.conditions());
    let n = quote!(__N);
    let mut inputs = Vec::new();
    let mut slots = Vec::new();
    for (param, passed) in entry.params() {
        let (value, bar) = (entry.input(param), entry.bar(param));
        let shadow = passed.shadow(p);
        let shadow = lent(p, &bar, shadow.shape, &shadow.ty, true);
        inputs.push(quote!(#value, #shadow));
        slots.push(Slot::of(param, passed));
        slots.push(Slot { name: bar, passed: passed.shadow(p), reference: passed.shape.is_by_reference() });
    }
    let rebound = entry.rebound(slots.iter());
    let shapes: TokenStream = entry
        .params()
        .map(|(param, passed)| same_shape(p, passed, &param.ident, &entry.bar(param)))
        .collect();
    let run = entry.dispatch_knowing(Direction::ADJOINT, &slots, Some(&n), Known { forgets, zeros: &[] });
    quote! {
        #vis fn #name<#declared const __N: usize>(
            #device #(#inputs),*
        ) -> ::core::result::Result<(), #p::Error> #conditions {
            #rebound
            #shapes
            #run;
            __Ok(())
        }
    }
}
