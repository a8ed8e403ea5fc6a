//! The programs that lanes call: like those for one iteration, but with packs in place of values, an
//! instruction set, and the mask of the lanes that take part.
//!
//! A function that can't run in lanes (it has a stack, a struct, …) is called for one lane after the
//! other.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::{Direction, Function, Mode, VarId};
use rev_compiler::pass::{Erased, Forms};
use rev_compiler::plan::{counts, Lanes, Program, Variants};

use super::super::body::{Body, Repr, Scope};
use super::super::call::program_name;
use super::super::names::ident;
use super::super::program::passed_params;
use super::super::recursion::is_recursive;
use super::super::signature::{Passed, Shape, Signature};
use super::call::lane_program_name;
use super::Lane;

/// The function of a program for lanes.
pub fn program(scope: &Scope, signature: &Signature, plan: &Program) -> TokenStream {
    let Some(Variants { all, shadows, .. }) = &plan.variants else {
        return around(scope, signature, plan, false, |_, _| (None, None));
    };
    let shadows = shadows.as_ref().or((plan.direction.adjoint > 0).then_some(all));
    let two = |forms: &Forms| matches!(forms, Forms::Two { .. });
    let one_by_one_if_checked = two(all) || shadows.is_some_and(two);
    around(scope, signature, plan, one_by_one_if_checked, |passed, counts| {
        let laned = |uniform: &BTreeSet<VarId>| {
            let all = statements(scope, all.unchecked(), passed, uniform)?;
            let shadows = shadows.map(|forms| statements(scope, forms.unchecked(), passed, uniform));
            Some(match shadows.flatten() {
                Some(shadows) => quote!(if __C::RESTORES { #all } else { #shadows }),
                None => all,
            })
        };
        let uniform = if counts.is_empty() { None } else { laned(counts) };
        (laned(&BTreeSet::new()), uniform)
    })
}

/// The hidden associated function with what `emit` gives for the parameters and those of them that count: the
/// statements where these differ between lanes, and those where they don't. Without statements, a call for each lane; so
/// with checks, where the statements make none.
fn around(
    scope: &Scope,
    signature: &Signature,
    plan: &Program,
    unchecked: bool,
    emit: impl FnOnce(&[Passed], &BTreeSet<VarId>) -> (Option<TokenStream>, Option<TokenStream>),
) -> TokenStream {
    let (p, function, direction) = (scope.p, &plan.function, plan.direction);
    let shadowed = direction.adjoint > 0;
    let passed = passed_params(signature, direction, p);
    let name = lane_program_name(direction);
    let frame = Body::new(scope, function);
    let counts = counts(function);
    let params = function.params.iter().zip(&passed).map(|(&var, param)| {
        let (name, ty) = (frame.name(var), lane_type(param, counts.contains(&var), p));
        quote!(#name: #ty)
    });
    let (declared, conditions) = (signature.declared(), signature.conditions());
    let (width, width_argument) = if shadowed {
        (quote!(const __N: usize,), quote!(__width: #p::Width<__N>,))
    } else {
        (TokenStream::new(), TokenStream::new())
    };
    let one_by_one = || one_by_one(&frame, signature, function, &passed, direction);
    let (varying, uniform) = emit(&passed, &counts);
    let in_lanes = varying.is_some() || uniform.is_some();
    let varying = varying.unwrap_or_else(one_by_one);
    let names: Vec<_> = counts.iter().map(|&var| frame.name(var)).collect();
    let packed = quote!(#(let #names = &#p::lanes::Each::pack(#names);)*);
    let varying = quote!(#packed #varying);
    let statements = match uniform {
        Some(uniform) => quote! {
            if let (#(__Some(#names),)*) = (#(#p::lanes::Each::uniform(&#names),)*) {
                #uniform
            } else {
                #varying
            }
        },
        None => varying,
    };
    // a recursion sees to its depth and its stack in its program for one iteration
    let recursive = is_recursive(function);
    let apart: Vec<_> = recursive.into_iter().chain(unchecked.then(|| quote!(__cx.checks()))).collect();
    let statements = match in_lanes && !apart.is_empty() {
        true => {
            let one_by_one = one_by_one();
            quote!(if #(#apart)||* { #packed #one_by_one } else { #statements })
        }
        false => statements,
    };
    quote! {
        #[doc(hidden)]
        #[inline(always)]
        pub fn #name<#declared __S: #p::lanes::Isa, __M: #p::lanes::Mask, __C: #p::Mode, #width>(
            self,
            __s: __S,
            __m: __M,
            __cx: #p::Context<'_, __C>,
            #width_argument
            #(#params),*
        ) -> ::core::result::Result<(), #p::Error>
        #conditions
        {
            #statements
            __Ok(())
        }
    }
}

/// The type with which a parameter is passed.
fn lane_type(param: &Passed, counts: bool, p: &TokenStream) -> TokenStream {
    let ty = &param.ty;
    match (param.shape, param.mode) {
        (Shape::Value, Mode::Read) if counts => quote!(impl #p::lanes::Each<#ty>),
        (Shape::Value, Mode::Read) => quote!(&#p::lanes::Pack<#ty>),
        (Shape::Value, Mode::Write | Mode::Accumulate) => quote!(&mut #p::lanes::Pack<#ty>),
        (Shape::Slice | Shape::Array(_) | Shape::Function, _) => param.rust(p),
    }
}

/// The statements, where some parameters are the same in all lanes; `None` where they can't run in lanes.
fn statements(
    scope: &Scope,
    erased: &Erased,
    passed: &[Passed],
    uniform: &BTreeSet<VarId>,
) -> Option<TokenStream> {
    let function: &Function = erased;
    let lanes = Lanes::of_function(function, uniform)?;
    let mut body = Body::new(scope, function);
    body.forgetful = Some(erased);
    for (&var, param) in function.params.iter().zip(passed) {
        body.set(var, if uniform.contains(&var) { Repr::Value } else { param.repr() });
    }
    body.lane = Some(Lane::under(lanes, ident("__m")));
    Some(body.finish(&function.body))
}

/// A call for one lane after the other.
fn one_by_one(
    frame: &Body,
    signature: &Signature,
    function: &Function,
    passed: &[Passed],
    direction: Direction,
) -> TokenStream {
    let (p, program, generics) = (frame.p, program_name(direction), signature.given());
    let (width, wide) = if direction.adjoint > 0 {
        (quote!(__width,), quote!(, __N))
    } else {
        (TokenStream::new(), TokenStream::new())
    };
    let (mut taken, mut given, mut back) = (TokenStream::new(), Vec::new(), TokenStream::new());
    for (&var, param) in function.params.iter().zip(passed) {
        let name = frame.name(var);
        if param.shape != Shape::Value {
            given.push(quote!(#name));
            continue;
        }
        let one = frame.companion("one", var);
        match param.repr() {
            Repr::Ref => {
                taken.extend(quote!(let #one = #p::lanes::get(#name, __k);));
                given.push(quote!(&#one));
            }
            Repr::Value | Repr::Owned | Repr::Mut | Repr::Handle | Repr::Function => {
                taken.extend(quote!(let mut #one = #p::lanes::get(&*#name, __k);));
                given.push(quote!(&mut #one));
                back.extend(quote!(#p::lanes::set(&mut *#name, __k, #one);));
            }
        }
    }
    quote! {
        for __k in #p::lanes::active(__s, __m) {
            #taken
            Self::#program::<#generics _ #wide>(self, __cx, #width #(#given),*)?;
            #back
        }
    }
}
