//! How emitted code reaches the functions that a program names.
//!
//! Every function is a type with its programs as methods (`f {}`), and a call asks for it by a trait, so that
//! rustc says in our words what isn't a function. A name that isn't a type at all would not get that far: such
//! names are imported under a name of ours, over one that a glob import gives to `Unknown`. An import takes
//! what there is of a name (here the type, which hides the glob's), and a macro of the same name sees to it that
//! there always is something.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Path, PathArguments};

use super::derived::Kind as Derived;
use crate::model::Source;
use crate::types::{is_type_name, path_text};

/// What a function is to its callers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `#[reversible]`
    Reversible,
    /// `#[pure]`: its value, or its partial derivatives of an order
    Pure(usize),
}

/// Attributes of the compiler, whose names can't be imported.
const ATTRIBUTES: &[&str] = &[
    "allow",
    "automatically_derived",
    "cfg",
    "cfg_attr",
    "cold",
    "crate_name",
    "crate_type",
    "debugger_visualizer",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "export_name",
    "feature",
    "forbid",
    "global_allocator",
    "ignore",
    "inline",
    "instruction_set",
    "link",
    "link_name",
    "link_ordinal",
    "link_section",
    "macro_export",
    "macro_use",
    "must_use",
    "naked",
    "no_builtins",
    "no_implicit_prelude",
    "no_link",
    "no_main",
    "no_mangle",
    "no_std",
    "non_exhaustive",
    "path",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "recursion_limit",
    "repr",
    "should_panic",
    "target_feature",
    "track_caller",
    "type_length_limit",
    "unsafe",
    "used",
    "warn",
    "windows_subsystem",
];

/// The imports of all functions that a program names.
pub fn imports(p: &TokenStream, source: &Source) -> TokenStream {
    let imported = imported(source);
    if imported.is_empty() {
        return TokenStream::new();
    }
    let names: Vec<_> = (0..imported.len()).map(|k| alias(k, Span::call_site())).collect();
    let paths = imported.values();
    // in any case there is a macro of the name
    let macros = imported
        .values()
        .filter_map(|path| path.get_ident())
        .map(|name| quote!(#[allow(unused_macros)] macro_rules! #name { () => {} }));
    quote! {
        #(#macros)*
        mod __unknown { #(pub use #p::Unknown as #names;)* }
        #[allow(unused_imports)]
        use __unknown::*;
        #(#[allow(unused_imports)] use #paths as #names;)*
    }
}

/// The value whose methods are the programs of a function.
pub fn programs(p: &TokenStream, source: &Source, path: &Path, kind: Kind) -> TokenStream {
    let (path, derived) = split_derived(path);
    let bare = bare(&path);
    let span = bare.segments.last().map_or_else(Span::call_site, |s| s.ident.span());
    let found_by = |found_by: TokenStream| match kind {
        // rustc's message stands at the call
        Kind::Pure(order @ 1..) => {
            let at = span.resolved_at(Span::call_site());
            quote_spanned!(at=> <<#found_by>::Programs as #p::HasPartials<#order>>::PROGRAMS)
        }
        Kind::Pure(0) | Kind::Reversible => quote!(<#found_by>::PROGRAMS),
    };
    if let Some((of, name)) = of_type(&bare) {
        let at = span.resolved_at(Span::call_site());
        let trait_ = found_through(p, kind, &name);
        return match kind {
            Kind::Reversible if !derived.is_empty() => {
                programs_of(p, &quote!(<#of as #trait_>::Programs), &derived, at)
            }
            Kind::Reversible => quote_spanned!(at=> <#of as #trait_>::PROGRAMS),
            Kind::Pure(_) => found_by(quote!(#of as #trait_)),
        };
    }
    let text = path_text(&bare);
    let named = match imported(source).keys().position(|t| *t == text) {
        Some(k) => {
            let alias = alias(k, span);
            quote!(#alias)
        }
        None => quote!(#bare),
    };
    match kind {
        Kind::Reversible if !derived.is_empty() => {
            programs_of(p, &named, &derived, span.resolved_at(Span::call_site()))
        }
        Kind::Reversible => found_by(quote!(#named as #p::IsReversible)),
        Kind::Pure(_) => found_by(quote!(#named as #p::IsPure)),
    }
}

/// The programs of a derived function of a function. rustc's message about one that isn't there stands at the function's name.
fn programs_of(p: &TokenStream, of: &TokenStream, derived: &[Derived], at: Span) -> TokenStream {
    let ty = derived.iter().fold(of.clone(), |of, kind| {
        let (found_by, mut ty) = kind.found_by();
        ty.set_span(at);
        quote_spanned!(at=> <#of as #p::#found_by>::#ty)
    });
    quote!(<#ty as #p::IsReversible>::PROGRAMS)
}

/// The path of a function, and which derived one of it is meant, the innermost first: `f::adjoint::tangent`.
pub fn split_derived(path: &Path) -> (Path, Vec<Derived>) {
    let (mut path, mut derived) = (path.clone(), Vec::new());
    while let Some(kind) = path.segments.last().and_then(|s| Derived::of(&s.ident)) {
        if path.segments.len() == 1 {
            break;
        }
        let arguments = path.segments.pop().map(|s| s.into_value().arguments);
        path.segments.pop_punct();
        if let (Some(last), Some(arguments)) = (path.segments.last_mut(), arguments) {
            if last.arguments.is_none() {
                last.arguments = arguments;
            }
        }
        derived.insert(0, kind);
    }
    (path, derived)
}

/// The number by which a type's function is found.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The trait through which a function of a type is found: what operators call has traits with words of their own.
pub fn found_through(p: &TokenStream, kind: Kind, name: &str) -> TokenStream {
    let update = |operator: char| quote!(#p::HasUpdate<#operator>);
    let operator = |operator: char| quote!(#p::HasOperator<#operator>);
    let hash = hash(name);
    match (kind, name) {
        (Kind::Reversible, "add_assign") => update('+'),
        (Kind::Reversible, "mul_assign") => update('*'),
        (Kind::Reversible, "bitxor_assign") => update('^'),
        (Kind::Reversible, _) => quote!(#p::HasReversible<#hash>),
        (Kind::Pure(_), "add") => operator('+'),
        (Kind::Pure(_), "sub") => operator('-'),
        (Kind::Pure(_), "mul") => operator('*'),
        (Kind::Pure(_), "div") => operator('/'),
        (Kind::Pure(_), "rem") => operator('%'),
        (Kind::Pure(_), "of") => quote!(#p::HasConversion),
        (Kind::Pure(_), _) => quote!(#p::HasPure<#hash>),
    }
}

/// The functions that are named by paths of modules, by these paths.
fn imported(source: &Source) -> BTreeMap<String, Path> {
    let all = source
        .callees
        .iter()
        .chain(&source.pures)
        .chain(&source.functions)
        .map(|(_, path)| bare(&split_derived(path).0));
    let importable = |path: &Path| {
        let plain = path.segments.iter().all(|s| s.arguments.is_none());
        plain
            && of_type(path).is_none()
            && path.get_ident().is_none_or(|name| !ATTRIBUTES.iter().any(|a| name == a))
    };
    all.filter(importable).map(|path| (path_text(&path), path)).collect()
}

/// The type and the function's name in `S::<T>::f`.
fn of_type(path: &Path) -> Option<(Path, String)> {
    let mut of = path.clone();
    let name = of.segments.pop()?.into_value().ident.to_string();
    of.segments.pop_punct();
    let last = of.segments.last()?;
    is_type_name(&last.ident.to_string()).then_some((of, name))
}

/// A path without the generic arguments of its last segment.
fn bare(path: &Path) -> Path {
    let mut bare = path.clone();
    if let Some(last) = bare.segments.last_mut() {
        last.arguments = PathArguments::None;
    }
    bare
}

fn alias(k: usize, span: Span) -> Ident {
    let mut name = format_ident!("__callee{k}");
    name.set_span(span.resolved_at(Span::call_site()));
    name
}
