//! The code of the derive: a shadow struct, and the traits of values for the struct and its shadow.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, ToTokens};
use rev_compiler::ir::{Class, Generic, GenericKind, Length, Rank, ScalarType, Type};
use syn::parse_quote;

use super::StructModel;
use crate::names::plain;
use crate::runtime;
use crate::spans::mentions;
use crate::types::{form_of, type_arguments};

/// The names that the generated code is made of.
pub(super) struct Names<'a> {
    pub(super) model: &'a StructModel,
    /// The runtime's module.
    pub(super) p: TokenStream,
    /// The struct and its shadow.
    pub(super) name: &'a Ident,
    pub(super) shadow: Ident,
    /// The shadow's const parameter: the number of cotangents.
    pub(super) lanes: Ident,
    /// The fields.
    pub(super) fields: Vec<&'a syn::Member>,
    /// The fields' types.
    pub(super) types: Vec<&'a syn::Type>,
}

/// The whole expansion.
pub fn expand(model: &StructModel) -> TokenStream {
    let name = &model.item.ident;
    let names = Names {
        model,
        p: runtime::path(),
        name,
        shadow: format_ident!("{name}Shadow"),
        lanes: free_name(model),
        fields: model.fields.iter().map(|f| &f.member).collect(),
        types: model.fields.iter().map(|f| &f.ty).collect(),
    };
    [
        names.shadow_struct(),
        names.shadow_traits(),
        names.zero(),
        names.primal(),
        names.lanes(),
        names.structure(),
        names.dynamic(),
    ]
    .into_iter()
    .collect()
}

/// A field's name; its number, where it has none.
pub(super) fn label(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(ident) => plain(ident),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}

/// The struct of packs for a struct.
pub(super) fn lanes_name(name: &Ident) -> Ident {
    format_ident!("{name}Lanes")
}

/// A name for the number of cotangents that nothing in the struct has.
fn free_name(model: &StructModel) -> Ident {
    let item = model.item.to_token_stream();
    let taken = |n: &Ident| mentions(item.clone(), n);
    let candidates = ["N", "LANES", "WIDTH", "COTANGENTS"].into_iter().map(|n| format_ident!("{n}"));
    candidates.into_iter().find(|n| !taken(n)).unwrap_or_else(|| format_ident!("__N"))
}

impl Names<'_> {
    /// The struct's parameters without their defaults.
    pub(super) fn plain_generics(&self) -> syn::Generics {
        let mut generics = self.model.item.generics.clone();
        for param in generics.type_params_mut() {
            (param.eq_token, param.default) = (None, None);
        }
        for param in generics.const_params_mut() {
            (param.eq_token, param.default) = (None, None);
        }
        generics
    }

    /// The struct's parameters with the shadow's one behind them.
    pub(super) fn shadow_generics(&self) -> syn::Generics {
        let lanes = &self.lanes;
        let mut generics = self.plain_generics();
        generics.params.push(parse_quote!(const #lanes: usize));
        generics
    }

    fn shadow_struct(&self) -> TokenStream {
        let Names { p, name, shadow, lanes, fields, types, .. } = self;
        let (generics, vis) = (self.shadow_generics(), &self.model.item.vis);
        let clause = &generics.where_clause;
        let doc = format!("The shadow of [`{name}`]: for each field its `{lanes}` cotangents.");
        let docs: Vec<_> = fields.iter().map(|f| format!("The cotangents of `{}`.", label(f))).collect();
        let types: Vec<_> = types.iter().map(|ty| quote!(<#ty as #p::Primal>::Shadow<#lanes>)).collect();
        let declared = self.declared(&quote!(#shadow #generics), clause.as_ref(), &docs, &types);
        quote! {
            #[doc = #doc]
            #[allow(dead_code)]
            #vis #declared
        }
    }

    /// The declaration of a struct with the same fields of other types.
    pub(super) fn declared(
        &self,
        name: &TokenStream,
        clause: Option<&syn::WhereClause>,
        docs: &[String],
        types: &[TokenStream],
    ) -> TokenStream {
        let fields = self.model.fields.iter().zip(docs).zip(types).map(|((f, doc), ty)| {
            let (vis, name) = (&f.vis, &f.member);
            match name {
                syn::Member::Named(_) => quote!(#[doc = #doc] #vis #name: #ty),
                syn::Member::Unnamed(_) => quote!(#[doc = #doc] #vis #ty),
            }
        });
        match self.fields.first() {
            Some(syn::Member::Unnamed(_)) => quote!(struct #name(#(#fields),*) #clause;),
            Some(syn::Member::Named(_)) | None => quote!(struct #name #clause { #(#fields),* }),
        }
    }

    /// `Clone`, `Debug`, `Zero` and `Linear` of the shadow.
    fn shadow_traits(&self) -> TokenStream {
        let Names { p, name, shadow, fields, .. } = self;
        let lanes = lanes_name(shadow);
        let generics = self.shadow_generics();
        let (impl_generics, ty_generics, clause) = generics.split_for_impl();
        let (_, over, _) = self.model.item.generics.split_for_impl();
        let text = shadow.to_string();
        let labels = fields.iter().map(|f| label(f));
        let operations = self.linear_operations();
        quote! {
            impl #impl_generics ::core::clone::Clone for #shadow #ty_generics #clause {
                fn clone(&self) -> Self {
                    Self { #(#fields: ::core::clone::Clone::clone(&self.#fields)),* }
                }
            }
            impl #impl_generics ::core::fmt::Debug for #shadow #ty_generics #clause {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_struct(#text) #(.field(#labels, &self.#fields))* .finish()
                }
            }
            impl #impl_generics ::core::cmp::PartialEq for #shadow #ty_generics #clause {
                fn eq(&self, other: &Self) -> bool {
                    true #(&& self.#fields == other.#fields)*
                }
            }
            impl #impl_generics #p::Zero for #shadow #ty_generics #clause {
                fn zero() -> Self {
                    Self { #(#fields: #p::Zero::zero()),* }
                }
            }
            impl #impl_generics #p::Linear for #shadow #ty_generics #clause {
                type Over = #name #over;
                type InLanes = #lanes #ty_generics;
                #operations
            }
        }
    }

    /// The element-wise operations of `Linear`.
    fn linear_operations(&self) -> TokenStream {
        let Names { p, fields, .. } = self;
        quote! {
            type Part = #p::NoShadow<()>;
            #[inline]
            fn accumulate(&mut self, v: &Self) {
                #(#p::Linear::accumulate(&mut self.#fields, &v.#fields);)*
            }
            #[inline]
            fn deduct(&mut self, v: &Self) {
                #(#p::Linear::deduct(&mut self.#fields, &v.#fields);)*
            }
            #[inline]
            fn negate(&mut self) {
                #(#p::Linear::negate(&mut self.#fields);)*
            }
            #[inline]
            fn set_zero(&mut self) {
                #(#p::Linear::set_zero(&mut self.#fields);)*
            }
            #[inline]
            fn is_zero(&self) -> bool {
                true #(&& #p::Linear::is_zero(&self.#fields))*
            }
        }
    }

    fn zero(&self) -> TokenStream {
        let Names { p, name, fields, .. } = self;
        let (impl_generics, ty_generics, clause) = self.model.item.generics.split_for_impl();
        quote! {
            impl #impl_generics #p::Zero for #name #ty_generics #clause {
                fn zero() -> Self {
                    Self { #(#fields: #p::Zero::zero()),* }
                }
            }
        }
    }

    fn primal(&self) -> TokenStream {
        let Names { p, name, shadow, lanes, fields, types, .. } = self;
        let shadow_lanes = lanes_name(shadow);
        let (impl_generics, ty_generics, clause) = self.model.item.generics.split_for_impl();
        let generics = self.shadow_generics();
        let (_, shadow_generics, _) = generics.split_for_impl();
        let paths = fields.iter().map(|f| format!(".{}", label(f)));
        quote! {
            impl #impl_generics #p::Primal for #name #ty_generics #clause {
                type RealPart = ();
                type Shadow<const #lanes: usize> = #shadow #shadow_generics;
                type Gradient = Self::Shadow<1>;

                #[inline]
                fn gradient(shadow: Self::Shadow<1>) -> Self::Shadow<1> {
                    shadow
                }
                #[inline]
                fn cotangent(gradient: Self::Shadow<1>) -> Self::Shadow<1> {
                    gradient
                }

                #[inline]
                fn zero_shadow<const #lanes: usize>(&self) -> Self::Shadow<#lanes> {
                    #shadow { #(#fields: #p::Primal::zero_shadow::<#lanes>(&self.#fields)),* }
                }
                #[inline(always)]
                fn zero_shadow_lanes<__S: #p::lanes::Isa, const #lanes: usize>(
                    s: __S,
                    like: &#p::lanes::Pack<Self>,
                ) -> #p::lanes::Pack<Self::Shadow<#lanes>> {
                    let _ = (s, &like);
                    #p::lanes::Pack(#shadow_lanes { #(#fields: #p::lanes::zero_shadow::<_, _, #lanes>(s, &like.0.#fields)),* })
                }
                #[inline]
                fn zero_like(&self) -> Self {
                    Self { #(#fields: #p::Primal::zero_like(&self.#fields)),* }
                }
                const HAS_ARRAYS: bool = #(<#types as #p::Primal>::HAS_ARRAYS ||)* false;
                const HAS_SUMS: bool = #(<#types as #p::Primal>::HAS_SUMS &&)* true;
                fn add_each(&mut self, by: &Self, negative: bool) {
                    #(#p::Primal::add_each(&mut self.#fields, &by.#fields, negative);)*
                }
                fn magnitude(&self) -> f64 {
                    let parts: &[f64] = &[#(#p::Primal::magnitude(&self.#fields)),*];
                    parts.iter().fold(0.0, |a, &b| if a > b || a.is_nan() { a } else { b })
                }
                fn compare(
                    &self,
                    expected: &Self,
                    tolerances: &#p::Tolerances,
                    held: ::core::option::Option<f64>,
                ) -> ::core::result::Result<(), #p::Mismatch> {
                    #(
                        #p::Primal::compare(&self.#fields, &expected.#fields, tolerances, held)
                            .map_err(|m| m.within(#paths))?;
                    )*
                    ::core::result::Result::Ok(())
                }
            }
        }
    }

    /// The struct and its shadow as dynamic values.
    fn dynamic(&self) -> TokenStream {
        let Names { p, name, shadow, lanes, types, .. } = self;
        let body = self.dynamic_body(types.iter().map(|ty| quote!(#ty)));
        let shadow_body =
            self.dynamic_body(types.iter().map(|ty| quote!(<#ty as #p::Primal>::Shadow<#lanes>)));
        let (impl_generics, ty_generics, clause) = self.model.item.generics.split_for_impl();
        let generics = self.shadow_generics();
        let (shadow_impl, shadow_type, shadow_clause) = generics.split_for_impl();
        quote! {
            impl #impl_generics #p::DynArg for #name #ty_generics #clause { #body }
            impl #shadow_impl #p::DynArg for #shadow #shadow_type #shadow_clause { #shadow_body }
        }
    }

    /// The same for fields of some types.
    fn dynamic_body(&self, types: impl Iterator<Item = TokenStream>) -> TokenStream {
        let Names { p, name, fields, .. } = self;
        let types: Vec<_> = types.collect();
        let text = plain(name);
        let labels: Vec<_> = fields.iter().map(|f| label(f)).collect();
        let paths = labels.iter().map(|l| format!(".{l}"));
        quote! {
            fn load(&self) -> #p::Data {
                #p::Data::record(#text, [#((#labels, #p::DynArg::load(&self.#fields))),*])
            }
            fn store(&mut self, data: &#p::Data) -> ::core::result::Result<(), #p::Error> {
                #(#p::DynArg::store(&mut self.#fields, data.field(#labels)?)?;)*
                ::core::result::Result::Ok(())
            }
            fn update_sides(
                &mut self, f: &mut dyn ::core::ops::FnMut(&mut [f64]),
            ) -> ::core::result::Result<(), #p::Error> {
                #(#p::DynArg::update_sides(&mut self.#fields, f)?;)*
                ::core::result::Result::Ok(())
            }
            fn sides(&self, f: &mut dyn ::core::ops::FnMut(&[f64])) {
                #(#p::DynArg::sides(&self.#fields, f);)*
            }
            fn scalars(list: &mut ::std::vec::Vec<#p::ir::ScalarType>) -> bool {
                true #(&& <#types as #p::DynArg>::scalars(list))*
            }
            #[inline(always)]
            fn is_shaped() -> bool {
                false #(|| <#types as #p::DynArg>::is_shaped())*
            }
            fn shapes(&self, of: &mut #p::Shapes) {
                #(of.within(#paths, &self.#fields);)*
            }
            #[inline]
            fn put(&self, to: &mut #p::PlaneWriter<'_>) {
                #(#p::DynArg::put(&self.#fields, to);)*
            }
            #[inline]
            fn take(&mut self, from: &mut #p::PlaneReader<'_>) {
                #(#p::DynArg::take(&mut self.#fields, from);)*
            }
        }
    }

    /// The struct's definition in the IR.
    fn structure(&self) -> TokenStream {
        let Names { p, name, types, .. } = self;
        let (impl_generics, ty_generics, clause) = self.model.item.generics.split_for_impl();
        let text = plain(name);
        let labels = self.fields.iter().map(|f| label(f));
        let irs = self.model.fields.iter().map(|f| type_tokens(&f.ir, &self.model.generics, p));
        let generics = self.model.generics.iter().map(|g| generic_tokens(&g.name, &g.kind, p));
        let nested = types.iter().zip(&self.model.fields).map(|(t, f)| nested(t, &f.ir, p));
        quote! {
            impl #impl_generics #p::Part for #name #ty_generics #clause {}
            impl #impl_generics #p::Structure for #name #ty_generics #clause {
                fn definition() -> #p::ir::StructDef {
                    #p::ir::StructDef {
                        name: #text.into(),
                        generics: ::std::vec![#(#generics),*],
                        fields: ::std::vec![#((#labels.into(), #irs)),*],
                    }
                }
                fn define_fields(structs: &mut #p::Structs) {
                    let _ = &structs;
                    #(#nested)*
                }
            }
        }
    }
}

/// The definitions of the structs that a type is made of.
fn nested(ty: &syn::Type, ir: &Type, p: &TokenStream) -> TokenStream {
    match (ir, ty) {
        (Type::Struct(path, args), _) => {
            // an `Option` doesn't say what its value is made of
            let held = match (args.as_slice(), ty) {
                ([of], syn::Type::Path(path)) => {
                    path.path.segments.last().filter(|last| last.ident == "Option").and_then(|last| {
                        type_arguments(&last.arguments).first().map(|held| nested(held, of, p))
                    })
                }
                _ => None,
            };
            quote!(<#ty as #p::Structure>::define(#path, structs); #held)
        }
        (_, syn::Type::Paren(t)) => nested(&t.elem, ir, p),
        (_, syn::Type::Group(t)) => nested(&t.elem, ir, p),
        (Type::Fixed(t, _), syn::Type::Array(a)) => nested(&a.elem, t, p),
        (Type::Array(t, _) | Type::Stack(t), ty) => {
            form_of(ty, ir).1.map(|element| nested(&element, t, p)).unwrap_or_default()
        }
        (Type::Tuple(ts), syn::Type::Tuple(t)) => {
            t.elems.iter().zip(ts).map(|(ty, ir)| nested(ty, ir, p)).collect()
        }
        _ => TokenStream::new(),
    }
}

pub(super) fn generic_tokens(name: &str, kind: &GenericKind, p: &TokenStream) -> TokenStream {
    let kind = match kind {
        GenericKind::Scalar(class) => {
            let class = format_ident!("{}", class_name(*class));
            quote!(Scalar(#p::ir::Class::#class))
        }
        GenericKind::Const => quote!(Const),
        GenericKind::Function(_) => quote!(Function(::std::vec::Vec::new())),
    };
    quote!(#p::ir::Generic { name: #name.into(), kind: #p::ir::GenericKind::#kind })
}

/// The variant's name.
fn class_name(class: Class) -> &'static str {
    match class {
        Class::Scalar => "Scalar",
        Class::Ring => "Ring",
        Class::Integer => "Integer",
        Class::Field => "Field",
        Class::Real => "Real",
    }
}

/// An IR type as an expression that makes it, given the parameters of the struct. Lengths that are constants have their values.
fn type_tokens(ty: &Type, generics: &[Generic], p: &TokenStream) -> TokenStream {
    let boxed = |t: &Type| {
        let t = type_tokens(t, generics, p);
        quote!(::std::boxed::Box::new(#t))
    };
    let list = |ts: &[Type]| {
        let ts = ts.iter().map(|t| type_tokens(t, generics, p));
        quote!(::std::vec![#(#ts),*])
    };
    let variant = match ty {
        Type::Scalar(ScalarType::Fixed(format)) => {
            let (bits, fraction) = (format.bits(), format.fraction());
            quote!(Scalar(#p::ir::ScalarType::Fixed(#p::ir::FixedFormat::of_type(#bits, #fraction))))
        }
        Type::Scalar(s) => {
            let name = format_ident!("{s:?}");
            quote!(Scalar(#p::ir::ScalarType::#name))
        }
        Type::Generic(name) => quote!(Generic(#name.into())),
        Type::Complex(t) => {
            let t = boxed(t);
            quote!(Complex(#t))
        }
        Type::Array(t, rank) => {
            let (t, rank) = (boxed(t), rank_tokens(*rank));
            quote!(Array(#t, #p::ir::Rank::#rank))
        }
        Type::Fixed(t, length) => {
            let t = boxed(t);
            let length = match length {
                Length::Literal(n) => quote!(Literal(#n)),
                Length::Named(name) => match syn::parse_str::<syn::Expr>(name) {
                    Ok(constant) if generics.iter().all(|g| g.name != *name) => {
                        quote!(Literal((#constant) as u64))
                    }
                    Ok(_) | Err(_) => quote!(Named(#name.into())),
                },
            };
            quote!(Fixed(#t, #p::ir::Length::#length))
        }
        Type::Tuple(ts) => {
            let ts = list(ts);
            quote!(Tuple(#ts))
        }
        Type::Struct(name, args) => {
            let args = list(args);
            quote!(Struct(#name.into(), #args))
        }
        Type::Stack(t) => {
            let t = boxed(t);
            quote!(Stack(#t))
        }
        Type::Function(name) => {
            let name = name.as_str();
            quote!(Function(#name.into()))
        }
        Type::Shadow(t) => {
            let t = boxed(t);
            quote!(Shadow(#t))
        }
        Type::Unknown => quote!(Unknown),
    };
    quote!(#p::ir::Type::#variant)
}

fn rank_tokens(rank: Rank) -> TokenStream {
    match rank {
        Rank::Fixed(n) => quote!(Fixed(#n)),
        Rank::Dynamic => quote!(Dynamic),
    }
}
