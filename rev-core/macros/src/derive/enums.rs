//! The derive of an enum: its parts, a struct with the number of the variant and the fields of all variants, and the enum as a value
//! by them (`rev_core::scalar::Variants`). The zero of the parts is the first variant with zeros in its fields. For each variant the
//! parts have an array without contents whose length is the next number, by which programs find it.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use rev_compiler::diag::{Code, Diagnostic, Diagnostics};
use syn::parse_quote;

use super::expand::generic_tokens;
use crate::diagnostic::compile_errors;
use crate::generics::read_generics;
use crate::model::Source;
use crate::names::{number_of, part_of, plain, VARIANT};
use crate::runtime;

/// A variant.
struct Variant<'a> {
    ident: &'a syn::Ident,
    number: usize,
    number_of: syn::Ident,
    /// Each field with the part that it is.
    fields: Vec<(syn::Member, syn::Ident, &'a syn::Type)>,
}

/// Expands the derive of an enum whose parameters have their bounds.
pub(super) fn derive(item: &syn::DeriveInput, data: &syn::DataEnum) -> TokenStream {
    let (mut source, mut diagnostics) = (Source::default(), Diagnostics::default());
    let variants: Vec<Variant<'_>> = data.variants.iter().enumerate().map(|(k, v)| variant(k, v)).collect();
    let mut names = BTreeSet::from([VARIANT.to_string()]);
    for v in &variants {
        let mut wrong = |message: String, help: &str| {
            let span = source.spans.of(v.ident);
            diagnostics.push(Diagnostic::new(Code::ReservedName, span, message).help(help));
        };
        if v.ident == "Some" || v.ident == "None" {
            wrong(format!("`{}` is a variant of `Option`", v.ident), "choose another name");
        }
        let parts = std::iter::once(&v.number_of).chain(v.fields.iter().map(|(_, part, _)| part));
        for part in parts.filter(|part| !names.insert(part.to_string())) {
            let message = format!("`{part}`, a part of this variant, is one of another variant too");
            wrong(
                message,
                "rename one of the variants: a part is called like its variant and field, in small letters",
            );
        }
    }
    for (_, _, ty) in variants.iter().flat_map(|v| &v.fields).filter(|(_, _, ty)| is_shaped(ty)) {
        let d = Diagnostic::new(
            Code::UnsupportedType,
            source.spans.of(ty),
            "an array of run-time shape, or a stack, can't be part of an enum",
        );
        diagnostics.push(
            d.help("hold an array of fixed size, or an index into an array that is an argument of its own"),
        );
    }
    if variants.is_empty() {
        let span = source.spans.of(&item.ident);
        diagnostics.push(Diagnostic::new(
            Code::UnsupportedType,
            span,
            "an enum without variants has no values",
        ));
    }
    match diagnostics.is_empty() {
        true => expand(item, &variants),
        false => compile_errors(diagnostics, &source.spans),
    }
}

/// Whether a type is an array of run-time shape or a stack.
fn is_shaped(ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| {
        let name = last.ident.to_string();
        matches!(name.as_str(), "Vec" | "Stack") || name.starts_with("Array")
    })
}

fn variant(number: usize, variant: &syn::Variant) -> Variant<'_> {
    let name = plain(&variant.ident);
    let fields = variant.fields.iter().enumerate().map(|(k, field)| {
        let (member, text) = match &field.ident {
            Some(ident) => (syn::Member::Named(ident.clone()), plain(ident)),
            None => (syn::Member::Unnamed(k.into()), k.to_string()),
        };
        let part = format_ident!("{}", part_of(&name, &text), span = variant.ident.span());
        (member, part, &field.ty)
    });
    let number_of = format_ident!("{}", number_of(&name), span = variant.ident.span());
    Variant { ident: &variant.ident, number, number_of, fields: fields.collect() }
}

fn expand(item: &syn::DeriveInput, variants: &[Variant<'_>]) -> TokenStream {
    let (p, name, vis) = (runtime::path(), &item.ident, &item.vis);
    let mut generics = item.generics.clone();
    generics.type_params_mut().for_each(|t| (t.eq_token, t.default) = (None, None));
    generics.const_params_mut().for_each(|c| (c.eq_token, c.default) = (None, None));
    let (impl_generics, ty_generics, clause) = generics.split_for_impl();
    let params = &generics.params;
    let parts = format_ident!("{name}Parts");
    let doc =
        format!("What a value of [`{name}`] is made of: which variant it is, and the fields of all of them.");
    let variant = format_ident!("{VARIANT}");
    let numbers = variants.iter().map(|Variant { number, number_of, .. }| {
        let length = number + 1;
        quote!(pub #number_of: [(); #length])
    });
    let fields = variants.iter().flat_map(|v| v.fields.iter().map(|(_, part, ty)| quote!(pub #part: #ty)));
    let declared: syn::DeriveInput = parse_quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        #vis struct #parts #impl_generics #clause { pub #variant: usize, #(#numbers,)* #(#fields),* }
    };
    let derived = super::derive(declared.clone());
    let into_parts = variants.iter().map(|v| {
        let Variant { ident, number, fields, .. } = v;
        let pattern = fields.iter().map(|(member, part, _)| quote!(#member: #part));
        let values = fields.iter().map(|(_, part, _)| quote!(#part: ::core::clone::Clone::clone(#part)));
        quote! {
            #name::#ident { #(#pattern),* } => #parts { #variant: #number, #(#values,)* ..#p::Zero::zero() },
        }
    });
    let made = |v: &Variant<'_>| {
        let (ident, fields) =
            (v.ident, v.fields.iter().map(|(member, part, _)| quote!(#member: parts.#part)));
        quote!(#name::#ident { #(#fields),* })
    };
    let others = variants.iter().skip(1).map(|v| {
        let (number, value) = (v.number, made(v));
        quote!(if parts.#variant == #number { return #value; })
    });
    let first = variants.first().map(made);
    let text = plain(name);
    let has_fields = variants.iter().any(|v| !v.fields.is_empty());
    let gradient = match has_fields {
        true => quote! {
            <#parts #ty_generics as #p::Primal>::Gradient,
            |shadow| <#parts #ty_generics as #p::Primal>::gradient(shadow),
            |gradient| <#parts #ty_generics as #p::Primal>::cotangent(gradient)
        },
        false => quote!((), |_shadow| (), |_gradient| #p::Zero::zero()),
    };
    let read = read_generics(&item.generics, &mut Source::default(), &mut Diagnostics::default());
    let kinds = read.iter().map(|g| generic_tokens(&g.name, &g.kind, &p));
    let names = read.iter().map(|g| &g.name);
    let held = variants.iter().map(|v| {
        let parts = v.fields.iter().map(|(_, part, _)| part);
        quote!(false #(|| #p::is_held(&parts.#parts))*)
    });
    let parts_text = parts.to_string();
    quote! {
        #declared
        #derived
        impl #impl_generics #p::Variants for #name #ty_generics #clause {
            const NAME: &'static str = #text;
            type Parts = #parts #ty_generics;
            #[inline]
            fn parts(&self) -> Self::Parts {
                match self { #(#into_parts)* }
            }
            #[inline]
            fn of_parts(parts: Self::Parts) -> Self {
                #(#others)*
                #first
            }
            fn settle(parts: &mut Self::Parts) {
                match #p::held_variant(parts.#variant, [#(#held),*]) {
                    ::core::option::Option::Some(variant) => parts.#variant = variant,
                    ::core::option::Option::None => {
                        let _ = #p::DynArg::update_sides(parts, &mut |sides| sides.fill(f64::NAN));
                    }
                }
            }
            fn add_fields(&mut self, by: &Self, negative: bool) {
                let mut parts = #p::Variants::parts_mut(self);
                let variant = parts.#variant;
                #p::Primal::add_each(&mut *parts, &#p::Variants::parts(by), negative);
                parts.#variant = variant;
            }
        }
        #p::enum_value! { [#params] #name #ty_generics, [#clause], #gradient }
        impl #impl_generics #p::Part for #name #ty_generics #clause {}
        impl #impl_generics #p::Structure for #name #ty_generics #clause {
            fn definition() -> #p::ir::StructDef {
                let arguments = ::std::vec![#(#p::ir::Type::Generic(#names.into())),*];
                #p::ir::StructDef {
                    name: #text.into(),
                    generics: ::std::vec![#(#kinds),*],
                    fields: ::std::vec![(#p::ir::PARTS.into(), #p::ir::Type::Struct(#parts_text.into(), arguments))],
                }
            }
            fn define_fields(structs: &mut #p::Structs) {
                <#parts #ty_generics as #p::Structure>::define(#parts_text, structs);
            }
        }
    }
}
