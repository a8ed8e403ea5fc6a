//! Functions of types: `#[reversible] impl S { #[reversible] fn f(&mut self, ..) { .. } }`.
//!
//! Programs need a type of their own, which can't stand inside an `impl`. So `f` becomes a function beside the
//! block, `S_f`, to which `self` is a parameter like others, with everything that a function offers; `S::f` and
//! `s.f(..)` call it, and programs that name `S::f` find it through the type.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{quote, ToTokens};
use rev_compiler::diag::{Code, Diagnostic, Diagnostics};
use syn::{Attribute, FnArg, ImplItem, ImplItemFn, ItemFn, ItemImpl, Meta, PathArguments, Token, TypePath};

use crate::diagnostic::compile_errors;
use crate::emit::{found_through, Callee};
use crate::model::Method;
use crate::names::plain;
use crate::spans::Spans;
use crate::{pure_function, reversible_function};

/// What an `impl` block with reversible and pure functions becomes.
pub fn expand(attribute: &TokenStream, mut item: ItemImpl) -> TokenStream {
    let (mut spans, mut diagnostics) = (Spans::default(), Diagnostics::default());
    let of = self_type(attribute, &item, &mut spans, &mut diagnostics);
    if of.is_some() && !item.items.iter().any(|member| marked(member).is_some()) {
        let span = spans.of(&item.self_ty);
        let message = "no function of this block is marked";
        let help = "mark those that are meant: `#[reversible] fn f(&mut self) { .. }`";
        diagnostics.push(Diagnostic::new(Code::UnsupportedAttribute, span, message).help(help));
    }
    let mut out = compile_errors(diagnostics, &spans);
    let mut rest = Vec::new();
    for member in std::mem::take(&mut item.items) {
        match (marked(&member), &of, member) {
            (Some((kind, k)), Some(of), ImplItem::Fn(mut function)) => {
                let mark = function.attrs.remove(k);
                out.extend(expand_function(&item, of, function, kind, &mark));
            }
            (Some((_, k)), None, ImplItem::Fn(mut function)) => {
                function.attrs.remove(k);
                function.block = syn::parse_quote!({ ::core::unreachable!() });
                rest.push(ImplItem::Fn(function));
            }
            (_, _, member) => rest.push(member),
        }
    }
    item.items = rest;
    if !item.items.is_empty() {
        item.to_tokens(&mut out);
    }
    out
}

/// What a marked function is.
#[derive(Clone, Copy)]
enum Kind {
    Reversible,
    Pure,
}

/// What a member of the block is marked to be, and by which of its attributes.
fn marked(member: &ImplItem) -> Option<(Kind, usize)> {
    let ImplItem::Fn(function) = member else { return None };
    function.attrs.iter().enumerate().find_map(|(k, attribute)| {
        let name = &attribute.path().segments.last()?.ident;
        let kind = if name == "reversible" {
            Kind::Reversible
        } else if name == "pure" {
            Kind::Pure
        } else {
            return None;
        };
        Some((kind, k))
    })
}

/// The type of the block with its arguments as an expression writes them: `S::<T>`.
fn self_type(
    attribute: &TokenStream,
    item: &ItemImpl,
    spans: &mut Spans,
    diagnostics: &mut Diagnostics,
) -> Option<TypePath> {
    let mut refuse = |at: &dyn ToTokens, code: Code, message: &str, help: &str| {
        let span = spans.of(&at.to_token_stream());
        diagnostics.push(Diagnostic::new(code, span, message).help(help));
    };
    if !attribute.is_empty() {
        let help = "give them at the function: `#[reversible(unchecked)] fn f(&mut self) { .. }`";
        refuse(attribute, Code::UnsupportedAttribute, "an `impl` block takes no arguments", help);
    }
    if let Some((_, of, _)) = &item.trait_ {
        let help = "write it in an `impl` block of the type, and call it from the trait's function";
        refuse(of, Code::UnsupportedSignature, "a function of a trait can't be reversible", help);
        return None;
    }
    let syn::Type::Path(of) = &*item.self_ty else {
        refuse(
            &item.self_ty,
            Code::UnsupportedSignature,
            "this type has no functions of its own",
            "name a struct",
        );
        return None;
    };
    let mut of = of.clone();
    for segment in &mut of.path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token.get_or_insert_with(<Token![::]>::default);
        }
    }
    Some(of)
}

/// A function beside the block.
fn expand_function(
    block: &ItemImpl,
    of: &TypePath,
    written: ImplItemFn,
    kind: Kind,
    mark: &Attribute,
) -> TokenStream {
    let attribute = match &mark.meta {
        Meta::List(list) => list.tokens.clone(),
        Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
    };
    let named = with_type(written.to_token_stream(), of);
    let function = match syn::parse2::<ImplItemFn>(named) {
        Ok(function) => function,
        Err(e) => return e.into_compile_error(),
    };
    let ImplItemFn { attrs, vis, mut sig, block: body, .. } = function;
    let receiver = sig.receiver().cloned();
    let name = sig.ident.clone();
    let last = of.path.segments.last().map(|s| plain(&s.ident)).unwrap_or_default();
    sig.ident = Ident::new(&format!("{last}_{}", plain(&name)), name.span());
    if let (Some(FnArg::Receiver(_)), Some(receiver)) = (sig.inputs.first(), &receiver) {
        let own = parameter(receiver, of);
        if let Some(first) = sig.inputs.first_mut() {
            *first = own;
        }
    }
    let mut generics = block.generics.clone();
    generics.params.extend(std::mem::take(&mut sig.generics.params));
    if let Some(clause) = sig.generics.where_clause.take() {
        generics.make_where_clause().predicates.extend(clause.predicates);
    }
    sig.generics = generics;
    let item = ItemFn { attrs, vis, sig, block: Box::new(body) };
    let method = Method { of: of.clone(), name, generics: block.generics.clone(), receiver };
    match kind {
        Kind::Reversible => reversible_function(attribute, item, Some(method)),
        Kind::Pure => pure_function(attribute, item, Some(method)),
    }
}

/// The receiver as a parameter: `self: &mut S::<T>`.
fn parameter(receiver: &syn::Receiver, of: &TypePath) -> FnArg {
    let name = Ident::new("self", receiver.self_token.span);
    let ty: syn::Type = match (&receiver.reference, &receiver.mutability) {
        _ if receiver.colon_token.is_some() => (*receiver.ty).clone(),
        (None, _) => syn::Type::Path(of.clone()),
        (Some((and, lifetime)), mutability) => syn::Type::Reference(syn::TypeReference {
            and_token: *and,
            lifetime: lifetime.clone(),
            mutability: *mutability,
            elem: Box::new(syn::Type::Path(of.clone())),
        }),
    };
    FnArg::Typed(syn::PatType {
        attrs: Vec::new(),
        pat: Box::new(syn::Pat::Ident(syn::PatIdent {
            attrs: Vec::new(),
            by_ref: None,
            mutability: None,
            ident: name,
            subpat: None,
        })),
        colon_token: <Token![:]>::default(),
        ty: Box::new(ty),
    })
}

/// Tokens with the type in place of `Self`.
fn with_type(tokens: TokenStream, of: &TypePath) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|tree| match tree {
            TokenTree::Ident(i) if i == "Self" => {
                let at = i.span();
                let placed = of.to_token_stream().into_iter().map(move |mut t| {
                    t.set_span(at);
                    t
                });
                placed.collect::<TokenStream>()
            }
            TokenTree::Group(g) => {
                let mut group = proc_macro2::Group::new(g.delimiter(), with_type(g.stream(), of));
                group.set_span(g.span());
                TokenTree::Group(group).into()
            }
            other => other.into(),
        })
        .collect()
}

/// The implementation that programs find the function by, and the function itself in a block of the type.
pub fn beside(
    p: &TokenStream,
    kind: Callee,
    method: &Method,
    free: &Ident,
    function: &TokenStream,
) -> TokenStream {
    let Method { of, generics, name, .. } = method;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let found_through = found_through(p, kind, &name.to_string());
    quote! {
        #[allow(clippy::all, non_local_definitions, unused_parens)]
        const _: () = {
            #[diagnostic::do_not_recommend]
            impl #impl_generics #found_through for #of #clause {
                type Programs = #free;
                const PROGRAMS: #free = #free {};
            }
            impl #impl_generics #of #clause { #function }
        };
    }
}
