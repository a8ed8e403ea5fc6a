//! One program of a function: a hidden associated function that runs it.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use rev_compiler::check::Checked;
use rev_compiler::facts::{accumulated_by, passed_with_derivatives, written_params, PassedOn, Passing};
use rev_compiler::ir::{Callee, Direction, Function, FunctionPath, Mode, Span, Stmt, StmtKind};
use rev_compiler::pass::{Erased, Forms};
use rev_compiler::plan::{self, has_fused_product_outside, Program, Variants};

use super::api::aliases;
use super::body::{parsed, Body, Repr, Scope};
use super::by_value::ByValue;
use super::call::program_name;
use super::callee::{programs, Kind};
use super::names::ident;
use super::recursion;
use super::signature::{Passed, Signature};
use crate::model::Receiver;

/// The most parameters of a function that is passed to others (`rev_cpu::function::Params`).
const MOST_PARAMS: usize = 24;

/// The function of a program (the parameters of an adjoint, and of tangents, are each followed by their shadows).
pub fn program(scope: &Scope, signature: &Signature, plan: &Program, by_value: &ByValue) -> TokenStream {
    let (function, direction) = (&plan.function, plan.direction);
    let scope = &Scope { sided: direction.adjoint > 0, ..*scope };
    let passed = passed_params(signature, direction, scope.p);
    let name = program_name(direction);
    let entry = entry(scope, signature, function, &name, direction);
    let statements = match &plan.variants {
        None => {
            let statements = statements(scope, function, &passed, None);
            quote!(#entry #statements)
        }
        Some(Variants { all, shadows, .. }) => {
            let by_value = by_value.statements(direction, all.asks(), scope.p);
            variants(scope, (all, shadows.as_ref()), &passed, &entry, &by_value)
        }
    };
    declared(scope, signature, function, direction, &quote!(#statements __Ok(())))
}

/// `__fused`: the function and its adjoint in one ([`rev_compiler::pass::fuse`]).
pub fn fused(scope: &Scope, signature: &Signature, fused: &plan::Fusion) -> TokenStream {
    let (function, name, direction) = (&fused.function, ident("__fused"), Direction::ADJOINT);
    let scope = &Scope { sided: true, ..*scope };
    let passed = passed_params(signature, direction, scope.p);
    let entry = entry(scope, signature, function, &name, direction);
    let statements = statements(scope, function, &passed, Some(function));
    named(scope, signature, function, (&name, direction), &quote!(#entry #statements __Ok(())))
}

/// What a program does first where the function is recursive.
fn entry(
    scope: &Scope,
    signature: &Signature,
    function: &Function,
    name: &proc_macro2::Ident,
    direction: Direction,
) -> TokenStream {
    let (frame, shadowed) = (Body::new(scope, function), direction.adjoint > 0);
    let args: Vec<_> = function.params.iter().map(|&var| frame.name(var)).collect();
    recursion::entry(scope.p, function, &recursion::again(name, &signature.given(), shadowed, scope.p, &args))
}

/// The hidden associated function of a program, with its parameters.
pub fn declared(
    scope: &Scope,
    signature: &Signature,
    function: &Function,
    direction: Direction,
    statements: &TokenStream,
) -> TokenStream {
    named(scope, signature, function, (&program_name(direction), direction), statements)
}

fn named(
    scope: &Scope,
    signature: &Signature,
    function: &Function,
    (name, direction): (&proc_macro2::Ident, Direction),
    statements: &TokenStream,
) -> TokenStream {
    let p = scope.p;
    let passed = passed_params(signature, direction, p);
    let frame = Body::new(scope, function);
    let params = function.params.iter().zip(&passed).map(|(&var, param)| {
        let (name, ty) = (frame.name(var), param.rust(p));
        quote!(#name: #ty)
    });
    let (declared, conditions) = (signature.declared(), signature.conditions());
    let (width, width_argument) = if direction.adjoint > 0 {
        (quote!(const __N: usize,), quote!(_: #p::Width<__N>,))
    } else {
        (TokenStream::new(), TokenStream::new())
    };
    quote! {
        #[doc(hidden)]
        #[inline]
        pub fn #name<#declared __C: #p::Mode, #width>(
            self,
            __cx: #p::Context<'_, __C>,
            #width_argument
            #(#params),*
        ) -> ::core::result::Result<(), #p::Error>
        #conditions
        {
            #statements
        }
    }
}

/// The statements of a program; of an adjoint, with and without the state that it restores.
fn variants(
    scope: &Scope,
    (all, shadows): (&Forms, Option<&Forms>),
    passed: &[Passed],
    entry: &TokenStream,
    by_value: &TokenStream,
) -> TokenStream {
    let statements = form(scope, all, passed);
    let by_reference = match shadows {
        Some(shadows) => {
            let shadows = form(scope, shadows, passed);
            quote!(if __C::RESTORES { #statements } else { #shadows })
        }
        None => statements,
    };
    let by_reference = quote!(#entry #by_reference);
    quote!(#by_value #by_reference)
}

/// The statements that serve with checks and without, or both.
fn form(scope: &Scope, forms: &Forms, passed: &[Passed]) -> TokenStream {
    match forms {
        Forms::One(one) => statements(scope, one, passed, Some(one)),
        Forms::Two { checked, unchecked } => {
            let checked = statements(scope, checked, passed, Some(checked));
            let unchecked = statements(scope, unchecked, passed, Some(unchecked));
            quote!(if __cx.checks() { #checked } else { #unchecked })
        }
    }
}

/// The statements of one variant.
fn statements(scope: &Scope, function: &Function, passed: &[Passed], erased: Option<&Erased>) -> TokenStream {
    let mut body = Body::new(scope, function);
    body.forgetful = erased;
    let mut entry = TokenStream::new();
    for (&var, param) in function.params.iter().zip(passed) {
        let name = body.name(var);
        let copied = param.repr() == Repr::Ref && function.var(var).ty.is_scalar();
        if copied {
            entry.extend(quote!(let #name = *#name;));
        }
        body.set(var, if copied { Repr::Value } else { param.repr() });
    }
    let statements = body.finish(&function.body);
    if !function.body.iter().any(has_fused_product_outside) {
        return quote!(#entry #statements);
    }
    let p = scope.p;
    quote! {
        __l::fusing(#[inline(always)] || {
            #entry
            #statements
            ::core::result::Result::<(), #p::Error>::Ok(())
        })?;
    }
}

/// How the parameters of a program are passed: each, or each with its shadow, which holds cotangents or tangents.
pub fn passed_params(signature: &Signature, direction: Direction, p: &TokenStream) -> Vec<Passed> {
    let each = |x: &Passed| {
        let cotangent = x.cotangent();
        match direction {
            Direction { adjoint: 0, .. } => vec![x.clone()],
            Direction { transposed: false, .. } => vec![x.clone(), x.shadow(p)],
            Direction { adjoint: 1, .. } => vec![x.clone(), x.tangent(p)],
            Direction { .. } => vec![x.clone(), x.tangent(p), cotangent.clone(), cotangent.tangent(p)],
        }
    };
    signature.params.iter().flat_map(each).collect()
}

/// `__accumulates(k, depth)`: whether the function only accumulates into its parameter `k`, as far as
/// calls at most `depth` deep say. Constant, so that what depends on it is decided at compile time.
pub fn accumulates(scope: &Scope, function: &Checked) -> TokenStream {
    let arms = written_params(function).filter_map(|param| {
        let calls = accumulated_by(function, param)?;
        let k = function.params.iter().position(|p| *p == param)?;
        let in_callees = calls.iter().map(|PassedOn { callee, argument }| {
            let path = callee_programs(scope, callee);
            quote!(&& #path.__accumulates(#argument, __depth - 1))
        });
        Some(quote!(#k => true #(#in_callees)*,))
    });
    let aliases = aliases(&function.generics);
    quote! {
        #[doc(hidden)]
        pub const fn __accumulates(self, __param: usize, __depth: u32) -> bool {
            #aliases
            __depth > 0 && match __param { #(#arms)* _ => false }
        }
    }
}

/// `__constant(k)`: whether the function's parameter `k` has no derivative, by declaration.
pub fn constant(function: &Checked) -> TokenStream {
    let params = function.params.iter().enumerate();
    let declared = params.filter(|(_, v)| function.constants.contains(v)).map(|(k, _)| k);
    quote! {
        #[doc(hidden)]
        pub const fn __constant(self, __param: usize) -> bool {
            match __param { #(#declared => true,)* _ => false }
        }
    }
}

/// `__writes(k)`: whether the function changes its parameter `k`.
pub fn writes(function: &Checked) -> TokenStream {
    let written = written_params(function).filter_map(|v| function.params.iter().position(|p| *p == v));
    quote! {
        #[doc(hidden)]
        pub const fn __writes(self, __param: usize) -> bool {
            match __param { #(#written => true,)* _ => false }
        }
    }
}

/// What holds for calls: nothing that carries a derivative is passed for a constant, which would lose it, and in a function that
/// is `written`, not derived, nothing by value that the callee changes.
pub fn calls_fit(scope: &Scope, function: &Checked, written: bool) -> TokenStream {
    let asserts = passed_with_derivatives(function).into_iter().map(|Passing { callee, argument, name, span }| {
        let path = callee_programs(scope, &callee);
        let message = format!(
            "`{name}` carries a derivative, but `{callee}` declares this argument constant: declare `{name}` \
             constant here too, or don't declare it there"
        );
        quote_spanned!(scope.source.spans.span(span)=> ::core::assert!(!#path.__constant(#argument), #message);)
    });
    let receivers = scope.source.receivers.iter().map(|Receiver { callee, name, span }| {
        let path = callee_programs(scope, callee);
        let message = format!(
            "[R0412] this function only reads `{name}`, but it is called as one that changes it: write `(&{name}).` before its name"
        );
        quote_spanned!(scope.source.spans.span(*span)=> ::core::assert!(#path.__writes(0), #message);)
    });
    let mut read = BTreeMap::new();
    if written {
        function.grown(|| function.body.iter().for_each(|stmt| add_read_arguments(stmt, &mut read)));
    }
    // rustc compares the arguments of what is emitted, and a call that changes nothing isn't
    let by_value = read.into_iter().map(|((callee, argument), span)| {
        let path = callee_programs(scope, &callee);
        let message = format!(
            "[R0412] `{callee}` changes its argument {}, which is passed by value here: write `&mut x`",
            argument + 1
        );
        quote_spanned!(scope.source.spans.span(span)=> ::core::assert!(!#path.__writes(#argument), #message);)
    });
    let asserts: TokenStream = asserts.chain(receivers).chain(by_value).collect();
    match asserts.is_empty() {
        true => asserts,
        false => {
            let aliases = aliases(&function.generics);
            quote!(const _: () = { #aliases #asserts };)
        }
    }
}

/// The arguments that calls only give to be read, each once, with the call.
fn add_read_arguments(stmt: &Stmt, out: &mut BTreeMap<(FunctionPath, usize), Span>) {
    if let StmtKind::Call { callee: Callee::Path(callee), args, .. } = &stmt.kind {
        for (k, _) in args.iter().enumerate().filter(|(_, arg)| arg.mode == Mode::Read) {
            out.entry((callee.clone(), k)).or_insert(stmt.span);
        }
    }
    stmt.blocks().into_iter().flatten().for_each(|s| add_read_arguments(s, out));
}

/// The programs of a called function.
pub fn callee_programs(scope: &Scope, path: &FunctionPath) -> TokenStream {
    match scope.source.callees.get(path) {
        Some(written) => programs(scope.p, scope.source, written, Kind::Reversible),
        None => parsed(path.as_str()),
    }
}

/// The trait through which a function is passed to others.
pub fn reversible_impl(
    name: &proc_macro2::Ident,
    function: &Checked,
    signature: &Signature,
    (tangent, inverse_adjoint): (Option<&proc_macro2::Ident>, bool),
    p: &TokenStream,
) -> TokenStream {
    // whoever calls it through the trait couldn't know what is constant
    let passable = signature.is_determined() && function.constants.is_empty();
    if !passable || signature.params.len() > MOST_PARAMS {
        return TokenStream::new();
    }
    let (declared, conditions, given) = (signature.declared(), signature.conditions(), signature.given());
    let descriptors: Vec<_> = signature.params.iter().map(|x| x.descriptor(p)).collect();
    let list = quote!((#(#descriptors,)*));
    let args: Vec<_> = (0..descriptors.len()).map(|k| ident(&format!("__a{k}"))).collect();
    let bars: Vec<_> = (0..descriptors.len()).map(|k| ident(&format!("__s{k}"))).collect();
    let plain = |method: &str, program: &str| {
        let (method, program) = (ident(method), ident(program));
        quote! {
            #[inline]
            fn #method<__C: #p::Mode>(
                self,
                __cx: #p::Context<'_, __C>,
                (#(#args,)*): <#list as #p::Params>::Args<'_>,
            ) -> ::core::result::Result<(), #p::Error> {
                #name::#program::<#given _>(self, __cx, #(#args),*)
            }
        }
    };
    let adjoint = |of: &proc_macro2::Ident, method: &str, program: &str, shadows: &str| {
        let (method, program, shadows) = (ident(method), ident(program), ident(shadows));
        quote! {
            #[inline]
            fn #method<__C: #p::Mode, const __N: usize>(
                self,
                __cx: #p::Context<'_, __C>,
                __width: #p::Width<__N>,
                (#(#args,)*): <#list as #p::Params>::Args<'_>,
                (#(#bars,)*): <#list as #p::Params>::#shadows<'_, __N>,
            ) -> ::core::result::Result<(), #p::Error> {
                #of::#program::<#given _, __N>(#of {}, __cx, __width, #(#args, #bars),*)
            }
        }
    };
    let methods = [
        plain("forward", "__forward"),
        plain("inverse", "__inverse"),
        adjoint(name, "adjoint", "__adjoint", "Shadows"),
    ];
    let inverse_adjoint =
        inverse_adjoint.then(|| adjoint(name, "adjoint_inverse", "__adjoint_inverse", "Shadows"));
    let of_adjoint = |of: &proc_macro2::Ident, method: &str, program: &str| {
        let (method, program) = (ident(method), ident(program));
        let [dots, own, own_dots] = ["d", "b", "e"]
            .map(|x| (0..descriptors.len()).map(|k| ident(&format!("__{x}{k}"))).collect::<Vec<_>>());
        quote! {
            #[inline]
            fn #method<__C: #p::Mode, const __N: usize>(
                self,
                __cx: #p::Context<'_, __C>,
                __width: #p::Width<__N>,
                (#(#args,)*): <#list as #p::Params>::Args<'_>,
                (#(#dots,)*): <#list as #p::Params>::Tangents<'_, __N>,
                (#(#own,)*): <#list as #p::Params>::Cotangents<'_>,
                (#(#own_dots,)*): <#list as #p::Params>::CotangentTangents<'_, __N>,
            ) -> ::core::result::Result<(), #p::Error> {
                #of::#program::<#given _, __N>(#of {}, __cx, __width, #(#args, #dots, #own, #own_dots),*)
            }
        }
    };
    let tangents = tangent.map(|of| {
        let methods = [
            adjoint(of, "tangents", "__tangents", "Tangents"),
            adjoint(of, "tangents_inverse", "__tangents_inverse", "Tangents"),
            of_adjoint(of, "adjoint_tangents", "__adjoint_tangents"),
            of_adjoint(of, "adjoint_tangents_inverse", "__adjoint_tangents_inverse"),
        ];
        quote!(#(#methods)*)
    });
    quote! {
        #[automatically_derived]
        impl<#declared> #p::Reversible<#list> for #name #conditions {
            fn name(self) -> &'static str {
                #name::__name(self)
            }
            fn collect(self, __c: &mut #p::Collector) {
                #name::__collect(self, __c);
            }
            #(#methods)*
            #inverse_adjoint
            #tangents
        }
    }
}
