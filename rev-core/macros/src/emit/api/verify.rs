//! `f::check_inverse` and `f::check_gradient`: the checkers of `rev_core::verify` on a function.
//!
//! A checker moves single numbers of the arguments, also of those that the function only reads, so
//! each run works on copies that are filled from the checker's state.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use rev_compiler::ir::{Direction, Mode};

use super::{Entry, Slot};
use crate::emit::signature::{Passed, Shape};
use crate::model::{ParamModel, Passing};
use crate::names::plain;

/// The functions.
pub fn functions(entry: &Entry) -> TokenStream {
    let (p, vis, device) = (entry.p, &entry.model.item.vis, entry.device());
    let (declared, conditions) = (entry.signature.declared(), entry.signature.conditions());
    let inputs: Vec<_> = entry.params().map(|(param, passed)| entry.shared_input(param, passed)).collect();
    let names: Vec<_> = entry.params().map(|(param, _)| &param.ident).collect();
    let (given, subject) = (entry.signature.given(), subject(entry));
    quote! {
        /// Runs the function and then its inverse on copies of the arguments, and reports every
        /// element that isn't what it was.
        #vis fn check_inverse<#declared>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#p::verify::InverseReport, #p::Error> #conditions {
            let __backend = #p::Device::backend(#device);
            let __tolerances = &__backend.options().tolerances;
            Self::__check::<#given _>(#device, |__s| #p::verify::check_inverse(__s, __tolerances), #(#names),*)
        }

        /// Compares the function's derivatives with finite differences, on copies of the arguments.
        #vis fn check_gradient<#declared>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#p::verify::GradientReport, #p::Error> #conditions {
            Self::check_gradient_with::<#given>(#device, &::core::default::Default::default(), #(#names),*)
        }

        /// The same with other steps and tolerances.
        #vis fn check_gradient_with<#declared>(
            #device: &(impl #p::Device + ?Sized), __how: &#p::verify::GradientOptions, #(#inputs),*
        ) -> ::core::result::Result<#p::verify::GradientReport, #p::Error> #conditions {
            Self::__check::<#given _>(#device, |__s| #p::verify::check_gradient(__s, __how), #(#names),*)
        }

        /// A checker's result on the function with its arguments.
        #[doc(hidden)]
        fn __check<#declared __R>(
            #device: &(impl #p::Device + ?Sized),
            __checker: impl ::core::ops::FnOnce(#p::verify::Subject<'_>) -> __R,
            #(#inputs),*
        ) -> __R #conditions {
            __checker(#subject)
        }
    }
}

/// The function with its arguments as a subject of the checkers.
fn subject(entry: &Entry) -> TokenStream {
    let p = entry.p;
    let names = entry.params().map(|(param, _)| plain(&param.ident));
    let written = entry.params().map(|(param, _)| param.mode != Mode::Read);
    let state = entry.params().map(|(param, passed)| match passed.shape {
        Shape::Function => quote!(#p::Data::None),
        Shape::Value | Shape::Slice | Shape::Array(_) => {
            let (name, copy) = (&param.ident, copy(param, passed));
            quote!({ #copy #p::DynArg::load(&#name) })
        }
    });
    let (load, store) = filled(entry);
    let [forward, inverse] = [Direction::FORWARD, Direction::INVERSE].map(|direction| {
        let slots: Vec<_> =
            entry.params().map(|(param, passed)| Slot::own(param.ident.clone(), passed.clone())).collect();
        entry.dispatch(direction, &slots, None)
    });
    let adjoint = adjoint(entry);
    quote! {
        #p::verify::Subject {
            names: &[#(#names),*],
            written: &[#(#written),*],
            state: ::std::vec![#(#state),*],
            run: ::std::boxed::Box::new(|__way, __state, __shadows| {
                #load
                match __way {
                    #p::verify::Way::Forward => #forward,
                    #p::verify::Way::Inverse => #inverse,
                    #p::verify::Way::Adjoint => { #adjoint }
                }
                #store
                __Ok(())
            }),
        }
    }
}

/// A copy of an argument in a variable of its name.
fn copy(param: &ParamModel, passed: &Passed) -> TokenStream {
    let name = &param.ident;
    match (passed.shape, param.mode, &param.passing) {
        (Shape::Value, Mode::Read, Passing::Value) => {
            quote!(let mut #name = ::core::clone::Clone::clone(&#name);)
        }
        (Shape::Value, ..) => quote!(let mut #name = ::core::clone::Clone::clone(&*#name);),
        (Shape::Slice, ..) => quote!(let mut #name = #name.to_vec();),
        (Shape::Array(_), ..) => quote!(let mut #name = #name.to_owned();),
        (Shape::Function, ..) => TokenStream::new(),
    }
}

/// Copies filled from the state, and back.
fn filled(entry: &Entry) -> (TokenStream, TokenStream) {
    let p = entry.p;
    let (mut load, mut store) = (TokenStream::new(), TokenStream::new());
    for (k, (param, passed)) in entry.params().enumerate() {
        let (name, copy) = (&param.ident, copy(param, passed));
        load.extend(copy);
        if passed.shape != Shape::Function {
            load.extend(quote!(#p::DynArg::store(&mut #name, &__state[#k])?;));
            store.extend(quote!(__state[#k] = #p::DynArg::load(&#name);));
        }
    }
    (load, store)
}

/// A run of the adjoint on the copies, with shadows filled from the checker's, and back.
fn adjoint(entry: &Entry) -> TokenStream {
    let (p, n) = (entry.p, quote!(1usize));
    let (mut load, mut store, mut slots) = (TokenStream::new(), TokenStream::new(), Vec::new());
    for (k, (param, passed)) in entry.params().enumerate() {
        let bar = format_ident!("__{}_bar", param.ident);
        let slot = Slot::own(param.ident.clone(), passed.clone());
        let zero = entry.zero_shadow(&slot, &n);
        load.extend(quote!(let mut #bar = #zero;));
        if passed.shape != Shape::Function {
            load.extend(quote!(#p::DynArg::store(&mut #bar, &__shadows[#k])?;));
            let found = match entry.is_constant(param) {
                true => quote!(#p::Data::None),
                false => quote!(#p::DynArg::load(&#bar)),
            };
            store.extend(quote!(__shadows[#k] = #found;));
        }
        slots.push(slot);
        slots.push(Slot::own(bar, passed.shadow(p)));
    }
    let run = entry.dispatch(Direction::ADJOINT, &slots, Some(&n));
    quote!(#load #run; #store)
}
