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

/// The statements of a program that run in lanes, where there are some.
#[derive(Default)]
struct Laned {
    /// Where the parameters that count differ between lanes.
    varying: Option<TokenStream>,
    /// Where they don't.
    uniform: Option<TokenStream>,
}

/// The function of a program for lanes.
pub fn program(scope: &Scope, signature: &Signature, plan: &Program) -> TokenStream {
    let Some(Variants { all, shadows, .. }) = plan.variants.as_ref().filter(|_| plan.laned) else {
        return around(scope, signature, plan, &[Laned::default()]);
    };
    let shadows = shadows.as_ref();
    let (passed, counts) = (passed_params(signature, plan.direction, scope.p), counts(&plan.function));
    let of = |form: fn(&Forms) -> &Erased| {
        let laned = |uniform: &BTreeSet<VarId>| {
            let all = statements(scope, form(all), &passed, uniform)?;
            let shadows = shadows.map(|forms| statements(scope, form(forms), &passed, uniform));
            Some(match shadows.flatten() {
                Some(shadows) => quote!(if __C::RESTORES { #all } else { #shadows }),
                None => all,
            })
        };
        let uniform = if counts.is_empty() { None } else { laned(&counts) };
        Laned { varying: laned(&BTreeSet::new()), uniform }
    };
    let two = |forms: &Forms| matches!(forms, Forms::Two { .. });
    match two(all) || shadows.is_some_and(two) {
        true => around(scope, signature, plan, &[of(Forms::checked), of(Forms::unchecked)]),
        false => around(scope, signature, plan, &[of(Forms::unchecked)]),
    }
}

/// The hidden associated function with statements: one form of them, or those with checks and those without. Where there
/// are none, a call for each lane.
fn around(scope: &Scope, signature: &Signature, plan: &Program, forms: &[Laned]) -> TokenStream {
    let (p, function, direction) = (scope.p, &plan.function, plan.direction);
    let passed = passed_params(signature, direction, p);
    let frame = Body::new(scope, function);
    let counts = counts(function);
    let names: Vec<_> = counts.iter().map(|&var| frame.name(var)).collect();
    let packed = quote!(#(let #names = &__l::Each::pack(#names, __s);)*);
    let one_by_one = || {
        let calls = one_by_one(&frame, signature, function, &passed, direction);
        quote!(#packed #calls)
    };
    let form = |Laned { varying, uniform }: &Laned| {
        let varying = varying.as_ref().map_or_else(one_by_one, |varying| quote!(#packed #varying));
        match uniform {
            Some(uniform) => quote! {
                if let (#(__Some(#names),)*) = (#(__l::Each::uniform(&#names),)*) {
                    #uniform
                } else {
                    #varying
                }
            },
            None => varying,
        }
    };
    let statements = match forms {
        [checked, unchecked] => {
            let (checked, unchecked) = (form(checked), form(unchecked));
            quote!(if __cx.checks() { #checked } else { #unchecked })
        }
        forms => forms.iter().map(form).collect(),
    };
    // a recursion sees to its depth and its stack in its program for one iteration
    let in_lanes = forms.iter().any(|form| form.varying.is_some() || form.uniform.is_some());
    let statements = match is_recursive(function).filter(|_| in_lanes) {
        Some(recursive) => {
            let one_by_one = one_by_one();
            quote!(if #recursive { #one_by_one } else { #statements })
        }
        None => statements,
    };
    declared(scope, signature, plan, &quote!(#statements __Ok(())))
}

/// The hidden associated function with its parameters.
pub fn declared(
    scope: &Scope,
    signature: &Signature,
    plan: &Program,
    statements: &TokenStream,
) -> TokenStream {
    let (p, function, direction) = (scope.p, &plan.function, plan.direction);
    let passed = passed_params(signature, direction, p);
    let name = lane_program_name(direction);
    let frame = Body::new(scope, function);
    let counts = counts(function);
    let args: Vec<_> = function.params.iter().map(|&var| frame.name(var)).collect();
    let params = function.params.iter().zip(&passed).map(|(&var, param)| {
        let (name, ty) = (frame.name(var), lane_type(param, counts.contains(&var), p));
        quote!(#name: #ty)
    });
    let params: Vec<_> = params.collect();
    let (declared, conditions) = (signature.declared(), signature.conditions());
    let (width, width_argument) = if direction.adjoint > 0 {
        (quote!(const __N: usize,), quote!(__width: #p::Width<__N>,))
    } else {
        (TokenStream::new(), TokenStream::new())
    };
    let function = |name: &proc_macro2::Ident, statements: &TokenStream| {
        quote! {
            #[doc(hidden)]
            #[inline(always)]
            pub fn #name<#declared __S: __l::Isa, __M: __l::Mask, __C: #p::Mode, #width>(
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
            }
        }
    };
    if direction.adjoint < 2 {
        return function(&name, statements);
    }
    // what is this large is compiled twice, for every lane and for some, wherever it is called from
    let (inlined, given) = (ident(&format!("{name}_inlined")), signature.given());
    let call = |mask: TokenStream| {
        quote! {
            __l::Isa::apart(__s, #[inline(always)] || {
                Self::#inlined::<#given _, _, _, __N>(self, __s, #mask, __cx, __width, #(#args),*)
            })
        }
    };
    let (every, some) = (call(quote!(__l::All)), call(quote!(__m)));
    let apart = function(&name, &quote!(if __l::Mask::is_whole(__m) { #every } else { #some }));
    let inlined = function(&inlined, statements);
    quote!(#apart #inlined)
}

/// The type with which a parameter is passed.
fn lane_type(param: &Passed, counts: bool, p: &TokenStream) -> TokenStream {
    let ty = &param.ty;
    match (param.shape, param.mode) {
        (Shape::Value, Mode::Read) if counts => quote!(impl __l::Each<#ty>),
        (Shape::Value, Mode::Read) => quote!(&__l::Pack<#ty>),
        (Shape::Value, Mode::Write | Mode::Accumulate) => quote!(&mut __l::Pack<#ty>),
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
    body.lane = Some(Lane::under(lanes, ident("__m")).called());
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
    let (program, generics) = (program_name(direction), signature.given());
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
                taken.extend(quote!(let #one = __l::get(#name, __k);));
                given.push(quote!(&#one));
            }
            Repr::Value | Repr::Owned | Repr::Mut | Repr::Handle | Repr::Function => {
                taken.extend(quote!(let mut #one = __l::get(&*#name, __k);));
                given.push(quote!(&mut #one));
                back.extend(quote!(__l::set(&mut *#name, __k, #one);));
            }
        }
    }
    quote! {
        for __k in __l::active(__s, __m) {
            #taken
            if let __Err(__e) = Self::#program::<#generics _ #wide>(self, __cx, #width #(#given),*) {
                return __Err(__e.in_lane(__k));
            }
            #back
        }
    }
}
