//! `#[pure]` functions: the plain function, and a struct of its name whose associated functions
//! give its value and partial derivatives to programs.

use proc_macro2::TokenStream;
use quote::{quote, ToTokens};
use rev_compiler::ir::{Function, Module, Pure};
use rev_compiler::pass::partials;
use rev_compiler::plan::Lanes;

use super::api::collected;
use super::body::{Body, Repr, Scope};
use super::callee::Kind as Callee;
use super::lanes::Lane;
use super::sites::Quotes;
use super::types::rust_type;
use crate::methods::beside;
use crate::model::{Method, ParamModel, Passing, PureModel};
use crate::names::RECEIVER;

/// The name of the partial derivatives of an order; that of the value for 0.
pub fn pure_program(order: usize) -> proc_macro2::Ident {
    match order {
        0 => super::names::ident("__value"),
        1 => super::names::ident("__partials"),
        _ => super::names::ident(&format!("__partials{order}")),
    }
}

/// The highest order of partial derivatives that have a program for lanes. Each order has as many numbers as the one before for
/// each parameter, and a program for lanes is compiled for each width and instruction set wherever it is called.
pub const LANED_ORDERS: usize = 1;

/// The same for lanes.
pub fn pure_lane_program(order: usize) -> proc_macro2::Ident {
    super::names::ident(&format!("{}_lanes", pure_program(order)))
}

/// The items that a `#[pure]` function becomes.
pub fn pure(model: &PureModel) -> TokenStream {
    let p = &crate::runtime::path();
    let quotes = Quotes::of(&model.item);
    let sites = Default::default();
    let scope = Scope { p, source: &model.source, quotes: &quotes, sites: &sites, sided: false };
    let syn::ItemFn { attrs, vis, sig, .. } = &model.item;
    let (name, lints) = (&sig.ident, super::lints());
    let about = format!("The pure function [`{name}`]({name}()), as programs call it.");
    let module = module_of(&model.function);
    let derivatives = std::iter::successors(Some(model.function.clone()), |pure| partials(pure).ok());
    let derivatives: Vec<Pure> = derivatives.take(usize::from(model.order) + 1).collect();
    let programs: TokenStream =
        derivatives.iter().enumerate().map(|(k, pure)| programs_of(&scope, model, pure, k)).collect();
    let orders = (1..derivatives.len()).map(|order| {
        quote! {
            #[diagnostic::do_not_recommend]
            impl #p::HasPartials<#order> for #name {
                type Programs = Self;
                const PROGRAMS: Self = Self {};
            }
        }
    });
    let collected = collected(p, &module, &model.function.generics, &model.source);
    let names = super::names::in_programs(p);
    let imports = super::callee::imports(p, &model.source);
    let args = model.params.iter().map(|param| {
        let name = &param.ident;
        match param.passing {
            Passing::Value => quote!(#name),
            Passing::Shared | Passing::Exclusive => quote!(::core::clone::Clone::clone(#name)),
        }
    });
    let call = match &model.method {
        None => quote! {
            #(#attrs)*
            #[allow(clippy::too_many_arguments)]
            #[inline]
            #[track_caller]
            #vis #sig {
                #p::plain((#name {}).__value(#(#args),*))
            }
        },
        Some(method) => beside(p, Callee::Pure(0), method, name, &of_type(p, model, method)),
    };
    quote! {
        #call

        #[doc = #about]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #vis struct #name {}

        #lints
        const _: () = {
            #names
            #imports
            impl #name {
                #programs
                #collected
            }
            #[diagnostic::do_not_recommend]
            impl #p::IsPure for #name {
                type Programs = Self;
                const PROGRAMS: Self = Self {};
            }
            #(#orders)*
        };
    }
}

/// A pure function in a block of its type.
fn of_type(p: &TokenStream, model: &PureModel, method: &Method) -> TokenStream {
    let syn::ItemFn { attrs, vis, sig, .. } = &model.item;
    let (free, name, receiver, output) = (&sig.ident, &method.name, &method.receiver, &sig.output);
    let of_type = |param: &ParamModel| receiver.is_some() && param.ident == RECEIVER;
    let inputs = model.params.iter().map(|param| match (of_type(param), receiver) {
        (true, Some(receiver)) => quote!(#receiver),
        _ => {
            let (name, ty) = (&param.ident, &param.ty);
            quote!(#name: #ty)
        }
    });
    let args = model.params.iter().map(|param| {
        let name = match of_type(param) {
            true => quote!(self),
            false => param.ident.to_token_stream(),
        };
        match param.passing {
            Passing::Value => name,
            Passing::Shared | Passing::Exclusive => quote!(::core::clone::Clone::clone(#name)),
        }
    });
    let own = |param: &&syn::GenericParam| method.generics.params.iter().all(|g| g != *param);
    let (declared, clause) = (sig.generics.params.iter().filter(own), &sig.generics.where_clause);
    quote! {
        #(#attrs)*
        #[allow(clippy::too_many_arguments)]
        #[inline]
        #[track_caller]
        #vis fn #name<#(#declared),*>(#(#inputs),*) #output #clause {
            #p::plain((#free {}).__value(#(#args),*))
        }
    }
}

/// The value of a pure function, or of its partial derivatives: for one iteration, `None` where an integer is divided by
/// zero; and for lanes, with the first of them in which one is as the error.
fn programs_of(scope: &Scope, model: &PureModel, pure: &Pure, order: usize) -> TokenStream {
    let p = scope.p;
    let function = frame(pure);
    let types = model.params.iter().map(|param| match &param.ty {
        syn::Type::Reference(r) => &*r.elem,
        ty => ty,
    });
    let types: Vec<&syn::Type> = types.collect();
    let result = match (rust_type(&pure.result_type, p), &model.item.sig.output) {
        (Some(ty), _) => ty,
        (None, syn::ReturnType::Type(_, ty)) => quote!(#ty),
        (None, syn::ReturnType::Default) => quote!(()),
    };
    let body = |lane: Option<Lane>| {
        let mut body = Body::new(scope, &function);
        body.pure = true;
        pure.params.iter().for_each(|&var| body.set(var, Repr::Value));
        body.lane = lane;
        body
    };
    let generics = &model.item.sig.generics;
    let conditions = &generics.where_clause;
    let mut one = body(None);
    let names: Vec<_> = pure.params.iter().map(|&var| one.name(var)).collect();
    let (name, value) = (pure_program(order), one.expr(&pure.result));
    let program = quote! {
        #[doc(hidden)]
        #[inline]
        pub fn #name #generics (self, #(#names: #types),*) -> ::core::option::Option<#result> #conditions {
            __Some(#value)
        }
    };
    let Some(lanes) = Lanes::of_pure(pure).filter(|_| order <= LANED_ORDERS) else { return program };
    let mut laned = body(Some(Lane::under(lanes, super::names::ident("__m"))));
    let (name, value) = (pure_lane_program(order), laned.pack(&pure.result));
    let (declared, others) = (generics.params.iter(), generics.type_params().map(|t| &t.ident));
    let conditions = conditions.iter().flat_map(|clause| &clause.predicates);
    quote! {
        #program

        #[doc(hidden)]
        #[inline(always)]
        pub fn #name<#(#declared,)* __S: __l::Isa, __M: __l::Mask>(
            self,
            __s: __S,
            __m: __M,
            #(#names: __l::Pack<#types>),*
        ) -> ::core::result::Result<__l::Pack<#result>, usize>
        where
            #(#others: __l::Laned,)*
            #(#conditions),*
        {
            __Ok(#value)
        }
    }
}

/// A function with the variables of a pure one, to emit its expressions in.
fn frame(pure: &Pure) -> Function {
    Function {
        name: pure.name.clone(),
        generics: pure.generics.clone(),
        params: pure.params.clone(),
        constants: std::collections::BTreeSet::new(),
        vars: pure.vars.clone(),
        names: rev_compiler::ir::Names::default(),
        body: Vec::new(),
        checks: false,
        file: pure.file.clone(),
        span: pure.span,
        defects: Default::default(),
    }
}

fn module_of(pure: &Pure) -> Module {
    let pures = [(pure.name.clone(), pure.clone())].into_iter().collect();
    Module { entry: pure.name.clone(), pures, ..Module::default() }
}
