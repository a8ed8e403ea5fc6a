//! Functions that are derived of a function, as functions of their own beside it: its tangent, its adjoint, its gradient.
//!
//! Under `#[reversible(tangent)] fn f` the tangent is emitted like any other function, under a name that nobody writes: programs
//! and entry points reach it through the trait `HasTangent` of `f`. So its inverse, its adjoint (which is a second
//! derivative), its programs for lanes and what other devices run of it are what they are for every function. So it is
//! with `#[reversible(adjoint)]`, for calls of adjoints and gradients in programs.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rev_compiler::check::Checked;
use rev_compiler::ir::{Derived, FunctionPath, Generic, GenericKind, Mode, Type, VarId};
use rev_compiler::pass;
use syn::{parse_quote, GenericParam};

use super::api::dimension;
use super::names::ident;
use crate::model::{Form, Model, Origin, ParamModel, Passing, Source};
use crate::types::{function_path, type_arguments};

/// What is derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `f::tangent`
    Tangent,
    /// `f::taylor3`: the Taylor coefficients up to an order
    Taylor(usize),
    /// `f::adjoint`
    Adjoint,
    /// `f::gradient`
    Gradient,
}

impl Kind {
    /// The kind that a segment of a path names.
    pub fn of(segment: &Ident) -> Option<Kind> {
        match Derived::from_name(&segment.to_string())? {
            Derived::Tangent => Some(Kind::Tangent),
            Derived::Taylor(order) => Some(Kind::Taylor(order)),
            Derived::Adjoint => Some(Kind::Adjoint),
            Derived::Gradient => Some(Kind::Gradient),
            Derived::Inverse
            | Derived::Pullback
            | Derived::Fused
            | Derived::Shadows
            | Derived::Erased
            | Derived::Partials => None,
        }
    }

    /// What it is in paths.
    pub fn derived(self) -> Derived {
        match self {
            Kind::Tangent => Derived::Tangent,
            Kind::Taylor(order) => Derived::Taylor(order),
            Kind::Adjoint => Derived::Adjoint,
            Kind::Gradient => Derived::Gradient,
        }
    }

    /// The trait by which a function has it, and the type in that.
    pub fn found_by(self) -> (TokenStream, Ident) {
        let (of, ty) = match self {
            Kind::Tangent => (quote!(HasTangent), "Tangent"),
            Kind::Taylor(order) => (quote!(HasTaylor<#order>), "Taylor"),
            Kind::Adjoint => (quote!(HasAdjoint), "Adjoint"),
            Kind::Gradient => (quote!(HasGradient), "Gradient"),
        };
        (of, ident(ty))
    }

    /// How many arguments it has behind each of the function's.
    pub fn companions(self, of: &ParamModel) -> usize {
        match self {
            Kind::Taylor(order) if of.form != Form::Function => order,
            Kind::Tangent | Kind::Taylor(_) | Kind::Adjoint | Kind::Gradient => 1,
        }
    }

    /// The name of companion `k` of an argument.
    fn of_argument(self, name: &Ident, k: usize) -> Ident {
        match self {
            Kind::Taylor(_) => format_ident!("{name}_{k}"),
            Kind::Tangent | Kind::Adjoint | Kind::Gradient => format_ident!("{name}_{}", self.suffix()),
        }
    }

    /// What is behind the name of a variable's companion.
    fn suffix(self) -> &'static str {
        match self {
            Kind::Tangent | Kind::Taylor(_) => "dot",
            Kind::Adjoint | Kind::Gradient => "bar",
        }
    }

    /// How the companion of an argument is used.
    fn mode(self, mode: Mode) -> Mode {
        match (self, mode) {
            (Kind::Tangent | Kind::Taylor(_), mode) => mode,
            (Kind::Adjoint | Kind::Gradient, mode) => mode.of_shadow(),
        }
    }
}

/// The name under which what is derived of a function is emitted.
pub fn name(of: &Ident, kind: Kind) -> Ident {
    format_ident!("__{}_{}", of, kind.derived().to_string())
}

/// The model of a derived function, and its program; `None` for the gradient of a function without a loss.
pub fn derived(p: &TokenStream, model: &Model, program: &Checked, kind: Kind) -> Option<(Model, Checked)> {
    let name = &model.item.sig.ident;
    let as_call = match (kind, &model.origin.adjoint_of) {
        (Kind::Tangent, Some(of)) => pass::tangent_of_pullback(program, &of.to_string().into()),
        (Kind::Tangent, None) | (Kind::Taylor(_) | Kind::Adjoint | Kind::Gradient, _) => None,
    };
    let is_call = as_call.is_some();
    let made = match kind {
        Kind::Tangent => as_call.unwrap_or_else(|| pass::tangent(program)),
        Kind::Taylor(order) => pass::taylor(program, order),
        Kind::Adjoint => pass::pullback(program),
        Kind::Gradient => pass::gradient_function(program, model.loss?, &name.to_string().into())?,
    };
    let mut params: Vec<ParamModel> = Vec::new();
    let mut vars = made.params.iter();
    for (k, param) in model.params.iter().enumerate() {
        if kind == Kind::Gradient && model.loss == Some(k) {
            continue;
        }
        params.push(ParamModel { var: *vars.next()?, ..param.clone() });
        if kind != Kind::Gradient || pass::carries_derivative(program, param.var) {
            for n in 1..=kind.companions(param) {
                let var = *vars.next()?;
                params.push(companion(p, model, param, (kind, n), (var, &made.var(var).ty)));
            }
        }
    }
    let mut item = model.item.clone();
    item.sig.ident = self::name(name, kind);
    item.sig.inputs = params
        .iter()
        .map(|param| -> syn::FnArg {
            let (ident, ty) = (&param.ident, &param.ty);
            parse_quote!(#ident: #ty)
        })
        .collect();
    item.sig.generics =
        with_functions(p, &model.item.sig.generics, (&model.function.generics, &made.generics), kind);
    item.attrs = vec![parse_quote!(#[doc(hidden)]), parse_quote!(#[allow(non_snake_case)])];
    let source = match kind {
        Kind::Gradient => called_by_gradient(model),
        Kind::Tangent | Kind::Taylor(_) | Kind::Adjoint => source(&model.source, kind),
    };
    let source = match &model.origin.adjoint_of {
        Some(of) if is_call => with_adjoint_of_tangent(source, of),
        Some(_) | None => source,
    };
    let origin = Origin {
        order: model.origin.order + 1,
        called_only: model.origin.called_only || matches!(kind, Kind::Adjoint | Kind::Gradient),
        adjoint_of: (kind == Kind::Adjoint).then(|| name.clone()),
    };
    // Taylor coefficients are the last that is derived
    let (tangents, taylor, adjoints) = match kind {
        Kind::Tangent => (model.tangents.saturating_sub(1), None, model.adjoints),
        Kind::Taylor(_) => (0, None, 0),
        Kind::Adjoint | Kind::Gradient => (model.tangents, model.taylor, model.adjoints.saturating_sub(1)),
    };
    let made_model = Model {
        item,
        params,
        loss: model.loss.filter(|_| kind == Kind::Tangent).map(|k| 2 * k + 1),
        declared: model.declared,
        function: (*made).clone(),
        source,
        tangents,
        taylor,
        adjoints,
        inverse_adjoint: model.inverse_adjoint,
        origin,
        method: None,
    };
    Some((made_model, made))
}

/// The parameter that follows a parameter.
fn companion(
    p: &TokenStream,
    model: &Model,
    param: &ParamModel,
    (kind, n): (Kind, usize),
    made: (VarId, &Type),
) -> ParamModel {
    let (var, ir) = made;
    let mut ident = kind.of_argument(&param.ident, n);
    while model.params.iter().any(|p| p.ident == ident) {
        ident = format_ident!("{ident}_");
    }
    let own = model.function.var(param.var);
    let mode = match own.kind {
        rev_compiler::ir::VarKind::Param(mode) => kind.mode(mode),
        _ => param.mode,
    };
    let plain = ParamModel { var, ident, ..param.clone() };
    if param.form == Form::Function {
        return ParamModel { ty: function_companion(p, &param.ty, kind), ..plain };
    }
    // the type parameter that stands for `impl Real`
    let plain = match (&param.ty, ir) {
        (syn::Type::ImplTrait(_), Type::Generic(name)) => {
            let name = self::ident(name);
            ParamModel { ty: parse_quote!(#name), ..plain }
        }
        _ => plain,
    };
    let (is_written, wanted) = (param.mode != Mode::Read, mode != Mode::Read);
    if is_written == wanted {
        return plain;
    }
    let passing = if wanted { Passing::Exclusive } else { Passing::Shared };
    let rank = match ir {
        Type::Array(_, rank) => Some(*rank),
        _ => None,
    };
    match (param.form, rank, &param.element) {
        (Form::View { .. }, Some(rank), Some(element)) => {
            let (dimension, form) = (dimension(rank, p), Form::View { mutable: wanted });
            let ty = match wanted {
                true => parse_quote!(#p::ndarray::ArrayViewMut<'_, #element, #dimension>),
                false => parse_quote!(#p::ndarray::ArrayView<'_, #element, #dimension>),
            };
            ParamModel { ty, form, mode, passing: Passing::Value, ..plain }
        }
        _ => ParamModel { ty: referred(&plain.ty, wanted), mode, passing, ..plain },
    }
}

/// `&T` or `&mut T`, from a type that may be a reference.
fn referred(ty: &syn::Type, mutable: bool) -> syn::Type {
    let of = match ty {
        syn::Type::Reference(r) => &*r.elem,
        ty => ty,
    };
    match mutable {
        true => parse_quote!(&mut #of),
        false => parse_quote!(&#of),
    }
}

/// What the paths in a derived function are: those of the function, and the derived functions of the functions among
/// them.
fn source(of: &Source, kind: Kind) -> Source {
    let both = |paths: &BTreeMap<FunctionPath, syn::Path>| {
        let derived = paths.iter().map(|(path, written)| (path.with(kind.derived()), of_path(written, kind)));
        derived.chain(paths.iter().map(|(path, written)| (path.clone(), written.clone()))).collect()
    };
    Source { callees: both(&of.callees), functions: both(&of.functions), ..of.clone() }
}

/// A gradient calls the function and its adjoint.
fn called_by_gradient(model: &Model) -> Source {
    let name = &model.item.sig.ident;
    let path: syn::Path = parse_quote!(#name);
    let own = function_path(&path);
    let adjoint = (own.with(Derived::Adjoint), of_path(&path, Kind::Adjoint));
    let callees = [(own, path), adjoint].into_iter().collect();
    Source { callees, structs: model.source.structs.clone(), ..Source::default() }
}

/// The tangent of an adjoint calls the adjoint of the tangent, and beside it stand the programs with tangents of the
/// function's adjoint.
fn with_adjoint_of_tangent(source: Source, of: &Ident) -> Source {
    let path: syn::Path = parse_quote!(#of);
    let called = of_path(&of_path(&path, Kind::Tangent), Kind::Adjoint);
    let mut callees = source.callees;
    let own = function_path(&path);
    callees.insert(own.with(Derived::Tangent).with(Derived::Adjoint), called);
    callees.insert(own, path);
    Source { callees, ..source }
}

/// The path of what is derived of a function.
pub fn of_path(path: &syn::Path, kind: Kind) -> syn::Path {
    let (mut path, name) = (path.clone(), ident(&kind.derived().to_string()));
    path.segments.push(parse_quote!(#name));
    path
}

/// The generics, with one for the derived function of each that is a reversible function.
fn with_functions(
    p: &TokenStream,
    generics: &syn::Generics,
    (before, after): (&[Generic], &[Generic]),
    kind: Kind,
) -> syn::Generics {
    let is_function = |name: &str| {
        let own = format!("{name}_{}", kind.suffix());
        let has = |generics: &[Generic], name: &str| {
            generics.iter().any(|g| g.name == name && matches!(g.kind, GenericKind::Function(_)))
        };
        has(before, name) && has(after, &own)
    };
    let mut out = generics.clone();
    for param in &generics.params {
        let GenericParam::Type(t) = param else { continue };
        if is_function(&t.ident.to_string()) {
            let mut own = t.clone();
            own.ident = format_ident!("{}_{}", t.ident, kind.suffix());
            own.bounds = bounds_of_companion(p, &t.bounds, kind);
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
        let (own, bounds) =
            (format_ident!("{name}_{}", kind.suffix()), bounds_of_companion(p, &w.bounds, kind));
        out.make_where_clause().predicates.push(parse_quote!(#own: #bounds));
    }
    out
}

/// `impl Reversible<(&mut T, &mut T, ..)>` from `impl Reversible<(&mut T, ..)>`.
fn function_companion(p: &TokenStream, ty: &syn::Type, kind: Kind) -> syn::Type {
    match ty {
        syn::Type::ImplTrait(t) => {
            let bounds = bounds_of_companion(p, &t.bounds, kind);
            parse_quote!(impl #bounds)
        }
        syn::Type::Path(path) => match path.path.get_ident() {
            Some(name) => {
                let own = format_ident!("{name}_{}", kind.suffix());
                parse_quote!(#own)
            }
            None => ty.clone(),
        },
        _ => ty.clone(),
    }
}

type Bounds = syn::punctuated::Punctuated<syn::TypeParamBound, syn::Token![+]>;

fn bounds_of_companion(p: &TokenStream, bounds: &Bounds, kind: Kind) -> Bounds {
    let mut out = bounds.clone();
    for bound in &mut out {
        let syn::TypeParamBound::Trait(bound) = bound else { continue };
        let Some(last) = bound.path.segments.last_mut().filter(|s| s.ident == "Reversible") else { continue };
        let syn::PathArguments::AngleBracketed(arguments) = &mut last.arguments else { continue };
        for argument in &mut arguments.args {
            if let syn::GenericArgument::Type(syn::Type::Tuple(tuple)) = argument {
                let both: Vec<syn::Type> = tuple
                    .elems
                    .iter()
                    .flat_map(|ty| {
                        let companions = if let Kind::Taylor(order) = kind { order } else { 1 };
                        [vec![ty.clone()], vec![of_argument(p, ty, kind); companions]].concat()
                    })
                    .collect();
                *tuple = parse_quote!((#(#both,)*));
            }
        }
    }
    out
}

/// The type of what follows an argument of a function that is an argument.
fn of_argument(p: &TokenStream, ty: &syn::Type, kind: Kind) -> syn::Type {
    if matches!(kind, Kind::Tangent | Kind::Taylor(_)) {
        return ty.clone();
    }
    if let syn::Type::Path(path) = ty {
        let last = path.path.segments.last();
        let view = last.and_then(|s| s.ident.to_string().strip_prefix("ArrayView").map(str::to_string));
        if let (Some(dimension), Some(last)) = (view.filter(|rest| !rest.starts_with("Mut")), last) {
            let (name, arguments) =
                (format_ident!("ArrayViewMut{dimension}"), type_arguments(&last.arguments));
            return parse_quote!(#p::ndarray::#name<#(#arguments),*>);
        }
    }
    referred(ty, true)
}

/// That a function has a derived one.
pub fn implementation(p: &TokenStream, model: &Model, derived: &Model, kind: Kind) -> TokenStream {
    let (of, name) = (&model.item.sig.ident, &derived.item.sig.ident);
    let (found_by, ty) = kind.found_by();
    let constant = ident(&ty.to_string().to_uppercase());
    quote! {
        #[diagnostic::do_not_recommend]
        impl #p::#found_by for #of {
            type #ty = #name;
            const #constant: #name = #name {};
        }
    }
}
