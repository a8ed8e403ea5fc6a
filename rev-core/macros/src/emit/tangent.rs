//! The tangent of a function as a function of its own, beside the one that it is of.
//!
//! Under `#[reversible(tangent)] fn f` it is emitted like any other, under a name that nobody writes: programs and
//! entry points reach it through the trait `HasTangent` of `f`. So its inverse, its adjoint (which is a second
//! derivative), its programs for lanes and what other devices run of it are what they are for every function.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use rev_compiler::check::Checked;
use rev_compiler::ir::{is_function_name, GenericKind, Type};
use rev_compiler::pass::TANGENT;
use syn::{parse_quote, GenericParam};

use super::names::ident;
use crate::model::{Form, Model, ParamModel, Source};

/// The model of the tangent of a function, and its program.
pub fn tangent_of(model: &Model, program: &Checked) -> (Model, Checked) {
    let tangent = rev_compiler::pass::tangent(program);
    let mut params: Vec<ParamModel> = Vec::new();
    for (param, vars) in model.params.iter().zip(tangent.params.chunks(2)) {
        let mut ident = format_ident!("{}_dot", param.ident);
        while model.params.iter().any(|p| p.ident == ident) {
            ident = format_ident!("{ident}_");
        }
        let ty = match (&param.ty, &tangent.var(vars[1]).ty) {
            // the type parameter that stands for `impl Real`
            (syn::Type::ImplTrait(_), Type::Generic(name)) => {
                let name = self::ident(name);
                parse_quote!(#name)
            }
            (ty, _) if param.form == Form::Function => function_tangent(ty),
            (ty, _) => ty.clone(),
        };
        params.push(param.clone());
        params.push(ParamModel { var: vars[1], ident, ty, ..param.clone() });
    }
    let mut item = model.item.clone();
    item.sig.ident = format_ident!("__{}_tangent", item.sig.ident);
    item.sig.inputs = params
        .iter()
        .map(|param| -> syn::FnArg {
            let (ident, ty) = (&param.ident, &param.ty);
            parse_quote!(#ident: #ty)
        })
        .collect();
    item.sig.generics = with_functions(&model.item.sig.generics, &tangent);
    item.attrs = vec![parse_quote!(#[doc(hidden)])];
    let made = Model {
        item,
        params,
        loss: model.loss.map(|k| 2 * k + 1),
        declared: model.declared,
        function: (*tangent).clone(),
        source: source(&model.source),
        tangents: model.tangents.saturating_sub(1),
        method: None,
    };
    (made, tangent)
}

/// What the paths in a tangent are: those of the function, and the tangents of the functions among them.
fn source(of: &Source) -> Source {
    let both = |paths: &BTreeMap<String, syn::Path>| {
        let tangents = paths.iter().filter(|(text, _)| is_function_name(text)).map(|(text, path)| {
            let mut path = path.clone();
            path.segments.push(parse_quote!(tangent));
            (format!("{text}{TANGENT}"), path)
        });
        tangents.chain(paths.iter().map(|(text, path)| (text.clone(), path.clone()))).collect()
    };
    Source { callees: both(&of.callees), constants: both(&of.constants), ..of.clone() }
}

/// The generics, with one for the tangent of each that is a reversible function.
fn with_functions(generics: &syn::Generics, tangent: &Checked) -> syn::Generics {
    let is_function = |name: &str| {
        tangent.generics.iter().any(|g| g.name == name && matches!(g.kind, GenericKind::Function(_)))
    };
    let mut out = generics.clone();
    for param in &generics.params {
        let GenericParam::Type(t) = param else { continue };
        if is_function(&t.ident.to_string()) {
            let mut own = t.clone();
            own.ident = format_ident!("{}_dot", t.ident);
            own.bounds = bounds_of_tangent(&t.bounds);
            out.params.push(GenericParam::Type(own));
        }
    }
    let Some(clause) = &generics.where_clause else { return out };
    for predicate in &clause.predicates {
        let syn::WherePredicate::Type(w) = predicate else { continue };
        let syn::Type::Path(path) = &w.bounded_ty else { continue };
        let Some(name) = path.path.get_ident().filter(|name| is_function(&name.to_string())) else {
            continue;
        };
        let (own, bounds) = (format_ident!("{name}_dot"), bounds_of_tangent(&w.bounds));
        out.make_where_clause().predicates.push(parse_quote!(#own: #bounds));
    }
    out
}

/// `impl Reversible<(&mut T, &mut T, ..)>` from `impl Reversible<(&mut T, ..)>`.
fn function_tangent(ty: &syn::Type) -> syn::Type {
    match ty {
        syn::Type::ImplTrait(t) => {
            let bounds = bounds_of_tangent(&t.bounds);
            parse_quote!(impl #bounds)
        }
        syn::Type::Path(path) => match path.path.get_ident() {
            Some(name) => {
                let own = format_ident!("{name}_dot");
                parse_quote!(#own)
            }
            None => ty.clone(),
        },
        _ => ty.clone(),
    }
}

type Bounds = syn::punctuated::Punctuated<syn::TypeParamBound, syn::Token![+]>;

fn bounds_of_tangent(bounds: &Bounds) -> Bounds {
    let mut out = bounds.clone();
    for bound in &mut out {
        let syn::TypeParamBound::Trait(bound) = bound else { continue };
        let Some(last) = bound.path.segments.last_mut().filter(|s| s.ident == "Reversible") else { continue };
        let syn::PathArguments::AngleBracketed(arguments) = &mut last.arguments else { continue };
        for argument in &mut arguments.args {
            if let syn::GenericArgument::Type(syn::Type::Tuple(tuple)) = argument {
                let both = tuple.elems.iter().flat_map(|ty| [ty.clone(), ty.clone()]);
                tuple.elems =
                    both.map(|ty| syn::punctuated::Pair::Punctuated(ty, Default::default())).collect();
            }
        }
    }
    out
}

/// That a function has a tangent.
pub fn implementation(p: &TokenStream, model: &Model, tangent: &Model) -> TokenStream {
    let (of, name) = (&model.item.sig.ident, &tangent.item.sig.ident);
    quote! {
        #[diagnostic::do_not_recommend]
        impl #p::HasTangent for #of {
            type Tangent = #name;
        }
    }
}
