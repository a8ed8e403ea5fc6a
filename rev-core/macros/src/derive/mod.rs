//! `#[derive(Reversible)]`: a struct becomes a value of the language. Its fields are places, it has
//! a zero, and a shadow with the same fields in which the gradients of the fields are kept. So does an enum, by its parts.

mod enums;
mod expand;
mod lanes;

use proc_macro2::{Span, TokenStream};
use quote::{quote, ToTokens};
use rev_compiler::diag::{Code, Diagnostic, Diagnostics};
use rev_compiler::ir::{Generic, GenericKind, Rank, Type};
use syn::{parse_quote, visit::Visit};

use crate::diagnostic::compile_errors;
use crate::generics::{is_bounded, read_generics};
use crate::model::{Form, Source};
use crate::names::{refused, Named};
use crate::runtime;
use crate::spans::{at_span, mentions, Region};
use crate::types::{form_of, type_arguments, TypeReader};

/// A struct that is read.
struct StructModel {
    item: syn::DeriveInput,
    fields: Vec<FieldModel>,
    generics: Vec<Generic>,
}

/// One of its fields.
struct FieldModel {
    vis: syn::Visibility,
    member: syn::Member,
    ty: syn::Type,
    ir: Type,
}

/// Expands the derive.
pub fn derive(mut item: syn::DeriveInput) -> TokenStream {
    bound_parameters(&mut item);
    if let syn::Data::Enum(data) = &item.data {
        return enums::derive(&item, data);
    }
    let mut source = Source::default();
    let mut diagnostics = Diagnostics::default();
    let model = read(item, &mut source, &mut diagnostics);
    match model {
        Some(mut model) if diagnostics.is_empty() => {
            ask_of_parts(&mut model);
            expand::expand(&model)
        }
        model => {
            let stand_in = model.map(|m| crate::fallback::structure(&expand::expand(&m)));
            [Some(compile_errors(diagnostics, &source.spans)), stand_in].into_iter().flatten().collect()
        }
    }
}

/// A type parameter without a scalar trait is taken for a `Field`, for a `Real` where a field is the
/// complex numbers over it.
fn bound_parameters(item: &mut syn::DeriveInput) {
    let p = runtime::path();
    let declared = item.generics.clone();
    let mut parts = ComplexParts::default();
    parts.visit_data(&item.data);
    for param in item.generics.type_params_mut().filter(|t| !is_bounded(t, &declared)) {
        let is_part = parts.0.contains(&param.ident);
        param.bounds.push(if is_part { parse_quote!(#p::Real) } else { parse_quote!(#p::Field) });
    }
}

/// Asks of the structs among the fields that they are values of the language, in all that is generated: so what
/// rustc says about one that isn't is one message. Where a struct's own parameters are arguments of one, such a
/// bound would hide what is known about it.
fn ask_of_parts(model: &mut StructModel) {
    let p = runtime::path();
    let params: Vec<syn::Ident> =
        model.generics.iter().filter_map(|g| syn::parse_str(&g.name).ok()).collect();
    let mut parts = Vec::new();
    for field in &model.fields {
        structs_in(&field.ty, &field.ir, &mut parts);
    }
    parts.retain(|ty| params.iter().all(|name| !mentions(ty.to_token_stream(), name)));
    if !parts.is_empty() {
        let clause = model.item.generics.make_where_clause();
        for ty in parts {
            let at = Region::of(&ty).first.resolved_at(Span::call_site());
            let bound = at_span(quote!(#p::Part), at);
            clause.predicates.push(parse_quote!(#ty: #bound));
        }
    }
}

/// The structs that a type is made of.
fn structs_in(ty: &syn::Type, ir: &Type, out: &mut Vec<syn::Type>) {
    match (ir, ty) {
        (Type::Struct(..), _) => out.push(ty.clone()),
        (_, syn::Type::Paren(t)) => structs_in(&t.elem, ir, out),
        (_, syn::Type::Group(t)) => structs_in(&t.elem, ir, out),
        (Type::Fixed(t, _), syn::Type::Array(a)) => structs_in(&a.elem, t, out),
        (Type::Array(t, _) | Type::Stack(t), ty) => {
            form_of(ty, ir).1.iter().for_each(|element| structs_in(element, t, out));
        }
        (Type::Tuple(ts), syn::Type::Tuple(t)) => {
            t.elems.iter().zip(ts).for_each(|(ty, ir)| structs_in(ty, ir, out));
        }
        _ => {}
    }
}

/// The `T` of each `Complex<T>`.
#[derive(Default)]
struct ComplexParts(Vec<syn::Ident>);

impl<'ast> Visit<'ast> for ComplexParts {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        if segment.ident == "Complex" {
            for ty in type_arguments(&segment.arguments) {
                if let syn::Type::Path(path) = ty {
                    self.0.extend(path.path.get_ident().cloned());
                }
            }
        }
        syn::visit::visit_path_segment(self, segment);
    }
}

fn read(item: syn::DeriveInput, source: &mut Source, diagnostics: &mut Diagnostics) -> Option<StructModel> {
    let generics = read_generics(&item.generics, source, diagnostics);
    let span = source.spans.of(&item.ident);
    refused(&item.ident, Named::Field, span).into_iter().for_each(|d| diagnostics.push(d));
    for g in generics.iter().filter(|g| matches!(g.kind, GenericKind::Function(_))) {
        let message = format!("`{}` is a function, and a field can't hold one", g.name);
        diagnostics.push(Diagnostic::new(Code::UnsupportedType, source.spans.of(&item.generics), message));
    }
    if let Some(lifetime) = item.generics.lifetimes().next() {
        let span = source.spans.of(lifetime);
        diagnostics.push(
            Diagnostic::new(Code::UnsupportedType, span, "a struct with references has no shadow of its own")
                .help("give it values, or pass the references as arguments of their own"),
        );
    }
    let declared = match &item.data {
        syn::Data::Struct(syn::DataStruct { fields: syn::Fields::Named(named), .. }) => named.named.clone(),
        syn::Data::Struct(syn::DataStruct { fields: syn::Fields::Unnamed(unnamed), .. }) => {
            unnamed.unnamed.clone()
        }
        syn::Data::Struct(syn::DataStruct { fields: syn::Fields::Unit, .. })
        | syn::Data::Enum(_)
        | syn::Data::Union(_) => {
            let span = source.spans.of(&item.ident);
            diagnostics.push(
                Diagnostic::new(Code::UnsupportedType, span, "only a struct with fields can be reversible")
                    .help("`struct S<T> { x: T, y: [T; 3] }`, `struct S<T>(T, [T; 3]);`"),
            );
            return None;
        }
    };
    let fields = declared.into_iter().enumerate();
    let fields = fields.filter_map(|(k, f)| field(k, f, &generics, source, diagnostics)).collect();
    Some(StructModel { item, fields, generics })
}

fn field(
    number: usize,
    field: syn::Field,
    generics: &[Generic],
    source: &mut Source,
    diagnostics: &mut Diagnostics,
) -> Option<FieldModel> {
    let ir = match (TypeReader { generics, source }).read(&field.ty) {
        Ok(ir) => ir,
        Err(d) => {
            diagnostics.push(d);
            return None;
        }
    };
    if let Some(why) = no_field(&field.ty, &ir) {
        let span = source.spans.of(&field.ty);
        diagnostics.push(
            Diagnostic::new(Code::UnsupportedType, span, format!("{why} can't be a field")).help(
                "a field is a scalar, a tuple, a `[T; N]`, a `Vec<T>`, an `Array1<T>` to `Array4<T>`, a `Stack<T>`, or another reversible struct",
            ),
        );
        return None;
    }
    let member = match field.ident {
        Some(ident) => {
            let span = source.spans.of(&ident);
            refused(&ident, Named::Field, span).into_iter().for_each(|d| diagnostics.push(d));
            syn::Member::Named(ident)
        }
        None => syn::Member::Unnamed(number.into()),
    };
    Some(FieldModel { vis: field.vis, member, ty: field.ty, ir })
}

/// What a field's type is, where a field can't be of it: what isn't owned, and what has a handle of its own for each
/// run.
fn no_field(ty: &syn::Type, ir: &Type) -> Option<&'static str> {
    match (ir, form_of(ty, ir).0) {
        (Type::Function(_), _) => Some("a function"),
        (Type::Array(_, Rank::Dynamic), _) => Some("an array whose number of dimensions only the run tells"),
        (_, Form::Slice | Form::View { .. }) => Some("a view of elements that are elsewhere"),
        (_, Form::Plain | Form::Vec | Form::Array | Form::Stack | Form::Function) => None,
    }
}
