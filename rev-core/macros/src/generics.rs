//! Type parameters: what the bounds of each say it can do.

use rev_compiler::diag::{Code, Diagnostic, Diagnostics};
use rev_compiler::ir::{Class, Generic, GenericKind, Mode, Type};
use syn::{GenericParam, TypeParamBound, WherePredicate};

use crate::model::{Form, Passing, Source};
use crate::names::{refused, Named};
use crate::types::{type_arguments, TypeReader};

/// The scalar traits by name.
fn class_of(name: &str) -> Option<Class> {
    match name {
        "Scalar" => Some(Class::Scalar),
        "Ring" => Some(Class::Ring),
        "Integer" => Some(Class::Integer),
        "Field" => Some(Class::Field),
        "Real" => Some(Class::Real),
        _ => None,
    }
}

/// Reads the parameters of a function or struct. A bound `Reversible<(..)>` may mention type
/// parameters declared after it, so these bounds are read when all names are known.
pub fn read_generics(
    generics: &syn::Generics,
    source: &mut Source,
    diagnostics: &mut Diagnostics,
) -> Vec<Generic> {
    let mut out = Vec::new();
    let mut functions = Vec::new();
    for param in &generics.params {
        if let GenericParam::Type(syn::TypeParam { ident, .. })
        | GenericParam::Const(syn::ConstParam { ident, .. }) = param
        {
            let span = source.spans.of(ident);
            refused(ident, Named::Generic, span).into_iter().for_each(|d| diagnostics.push(d));
        }
        match param {
            GenericParam::Lifetime(_) => {}
            GenericParam::Const(c) => {
                if !is_usize(&c.ty) {
                    diagnostics.push(
                        Diagnostic::new(
                            Code::UnsupportedSignature,
                            source.spans.of(&c.ty),
                            "a const parameter has to be a `usize`",
                        )
                        .help("take the value as an argument"),
                    );
                }
                out.push(Generic { name: c.ident.to_string(), kind: GenericKind::Const });
            }
            GenericParam::Type(t) => {
                let bounds = bounds_of(&t.ident.to_string(), generics);
                if let Some(bound) = bounds.iter().find_map(reversible_bound) {
                    functions.push((out.len(), bound.clone()));
                }
                let kind = match scalar_class(&bounds) {
                    Some(class) => GenericKind::Scalar(class),
                    None if bounds.iter().any(|b| reversible_bound(b).is_some()) => {
                        GenericKind::Function(Vec::new())
                    }
                    None => {
                        diagnostics.push(unbounded(&t.ident, source));
                        GenericKind::Scalar(Class::Real)
                    }
                };
                out.push(Generic { name: t.ident.to_string(), kind });
            }
        }
    }
    for (at, bound) in functions {
        match function_signature(&bound, &out, source) {
            Ok(signature) => out[at].kind = GenericKind::Function(signature),
            Err(d) => diagnostics.push(d),
        }
    }
    out
}

/// Whether a type parameter's bounds say what it can do.
pub fn is_bounded(param: &syn::TypeParam, generics: &syn::Generics) -> bool {
    let bounds = bounds_of(&param.ident.to_string(), generics);
    scalar_class(&bounds).is_some() || bounds.iter().any(|b| reversible_bound(b).is_some())
}

/// The generic that `impl Reversible<..>` or `impl Real` in a parameter's type stands for.
pub fn impl_trait(
    name: String,
    ty: &syn::TypeImplTrait,
    generics: &[Generic],
    source: &mut Source,
) -> Result<Generic, Diagnostic> {
    let bounds: Vec<_> = ty.bounds.iter().cloned().collect();
    let kind = match (bounds.iter().find_map(reversible_bound), scalar_class(&bounds)) {
        (Some(bound), _) => GenericKind::Function(function_signature(bound, generics, source)?),
        (None, Some(class)) => GenericKind::Scalar(class),
        (None, None) => {
            return Err(Diagnostic::new(
                Code::UnsupportedSignature,
                source.spans.of(ty),
                "neither a scalar trait nor `Reversible<(..)>` is among the bounds",
            ))
        }
    };
    Ok(Generic { name, kind })
}

fn unbounded(ident: &syn::Ident, source: &mut Source) -> Diagnostic {
    Diagnostic::new(
        Code::UnsupportedSignature,
        source.spans.of(ident),
        format!("nothing says what `{ident}` can do"),
    )
    .help(format!("bound it by a scalar trait: `{ident}: Real` (or `Field`, `Integer`, `Ring`, `Scalar`), or by `Reversible<(..)>`"))
}

fn is_usize(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(p) if p.path.is_ident("usize"))
}

fn bounds_of(name: &str, generics: &syn::Generics) -> Vec<TypeParamBound> {
    let declared = generics.type_params().filter(|t| t.ident == name).flat_map(|t| t.bounds.iter());
    let wheres = generics.where_clause.iter().flat_map(|w| &w.predicates).filter_map(|p| match p {
        WherePredicate::Type(p) if matches!(&p.bounded_ty, syn::Type::Path(t) if t.path.is_ident(name)) => {
            Some(p.bounds.iter())
        }
        _ => None,
    });
    declared.chain(wheres.flatten()).cloned().collect()
}

/// The strongest class among bounds: `Real` before `Field` before `Integer` before `Ring`.
fn scalar_class(bounds: &[TypeParamBound]) -> Option<Class> {
    let classes: Vec<Class> = bounds
        .iter()
        .filter_map(|b| match b {
            TypeParamBound::Trait(t) => class_of(&t.path.segments.last()?.ident.to_string()),
            _ => None,
        })
        .collect();
    [Class::Real, Class::Field, Class::Integer, Class::Ring, Class::Scalar]
        .into_iter()
        .find(|c| classes.contains(c))
}

fn reversible_bound(bound: &TypeParamBound) -> Option<&syn::PathSegment> {
    match bound {
        TypeParamBound::Trait(t) => t.path.segments.last().filter(|s| s.ident == "Reversible"),
        _ => None,
    }
}

/// `Reversible<(&mut T, &[T], usize)>`: modes and types of the parameters.
fn function_signature(
    bound: &syn::PathSegment,
    generics: &[Generic],
    source: &mut Source,
) -> Result<Vec<(Mode, Type)>, Diagnostic> {
    let types = type_arguments(&bound.arguments);
    let [syn::Type::Tuple(tuple)] = types.as_slice() else {
        return Err(Diagnostic::new(
            Code::UnsupportedType,
            source.spans.of(bound),
            "the parameters of the function have to be listed as a tuple",
        )
        .help("`Reversible<(&mut T, &T)>`; one parameter is `(&mut T,)`"));
    };
    let mut reader = TypeReader { generics, source };
    let mut signature = Vec::new();
    for ty in &tuple.elems {
        let declared = reader.parameter(ty)?;
        signature.push((mode_of(declared.passing, declared.form), declared.ty));
    }
    Ok(signature)
}

/// What a program may do with a parameter.
pub fn mode_of(passing: Passing, form: Form) -> Mode {
    match (passing, form) {
        (Passing::Exclusive, _) | (Passing::Value, Form::View { mutable: true }) => Mode::Write,
        (Passing::Value | Passing::Shared, _) => Mode::Read,
    }
}

/// Whether a parameter's type is a single scalar that surely carries a derivative.
pub fn is_differentiable_scalar(ty: &Type, generics: &[Generic]) -> bool {
    match ty {
        Type::Scalar(s) if s.class() == Class::Real => true,
        Type::Complex(_) => true,
        Type::Generic(_) => matches!(ty.class(generics), Some(Class::Field | Class::Real | Class::Ring)),
        Type::Scalar(_)
        | Type::Array(..)
        | Type::Fixed(..)
        | Type::Tuple(_)
        | Type::Struct(..)
        | Type::Stack(_)
        | Type::Function(_)
        | Type::Shadow(_)
        | Type::Unknown => false,
    }
}
