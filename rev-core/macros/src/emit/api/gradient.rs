//! `f::gradient` and `f::gradient_wrt`: the value of the loss with the gradients of all other
//! arguments, shaped like them.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rev_compiler::ir::{Direction, Mode};

use super::decided::{decided, Decided};
use super::dispatch::Known;
use super::{Api, Entry, Slot, DEPTH};
use crate::emit::signature::{Passed, Shape};
use crate::model::ParamModel;
use crate::names::plain;

/// The functions, where there is a loss.
pub fn gradient(entry: &Entry) -> Api {
    let Some(loss) = entry.model.loss else {
        return Api { items: TokenStream::new(), functions: TokenStream::new() };
    };
    let Some((loss_param, loss_passed)) = entry.params().nth(loss) else {
        return Api { items: TokenStream::new(), functions: TokenStream::new() };
    };
    let others: Vec<_> =
        entry.params().enumerate().filter(|(k, _)| *k != loss).map(|(_, param)| param).collect();
    Api { items: result(entry, &others), functions: functions(entry, (loss_param, loss_passed), &others) }
}

/// A parameter and how it is passed.
pub type Param<'a> = (&'a ParamModel, &'a Passed);

/// The name of a field of the result.
pub fn field(param: &ParamModel, others: &[Param]) -> Ident {
    let mut name = param.ident.clone();
    if name == "value" {
        while others.iter().any(|(other, _)| other.ident == name) {
            name = format_ident!("{name}_");
        }
    }
    name
}

/// The constants that name the arguments: in capitals, with underscores behind those that differ only in that or are taken.
fn constant_names(entry: &Entry) -> Vec<Ident> {
    let taken = ["ALL", "TANGENT"];
    let mut names = taken.map(|name| format_ident!("{name}")).to_vec();
    for (param, _) in entry.params() {
        let mut name = format_ident!("{}", plain(&param.ident).to_uppercase());
        while names.contains(&name) {
            name = format_ident!("{name}_");
        }
        names.push(name);
    }
    names.split_off(taken.len())
}

pub fn type_params(others: &[Param]) -> Vec<Ident> {
    (0..others.len()).map(|k| format_ident!("G{k}")).collect()
}

/// `struct FGradient { value, .. }`, generic over the types of its fields.
fn result(entry: &Entry, others: &[Param]) -> TokenStream {
    let (vis, name) = (&entry.model.item.vis, entry.result_name("Gradient"));
    let (types, fields) = (type_params(others), others.iter().map(|(param, _)| field(param, others)));
    let doc = format!(
        "What [`{0}::gradient`] gives: the value of the loss and its gradients.",
        entry.model.item.sig.ident
    );
    let docs = others.iter().map(|(param, _)| format!("The gradient by `{}`.", param.ident));
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug, PartialEq)]
        #[allow(dead_code)]
        #vis struct #name<V, #(#types),*> {
            /// The value of the loss.
            pub value: V,
            #(#[doc = #docs] pub #fields: #types,)*
        }
    }
}

fn functions(entry: &Entry, loss: Param, others: &[Param]) -> TokenStream {
    let (p, vis, device) = (entry.p, &entry.model.item.vis, entry.device());
    let (declared, conditions, given) =
        (entry.signature.declared(), entry.signature.conditions(), entry.signature.given());
    let name = &entry.model.item.sig.ident;
    let result = entry.result_name("Gradient");
    let value = &loss.1.ty;
    let inputs: Vec<_> = others.iter().map(|(param, passed)| entry.shared_input(param, passed)).collect();
    let types: Vec<_> = others.iter().map(|(param, passed)| entry.gradient_type(param, passed)).collect();
    let names: Vec<_> = others.iter().map(|(param, _)| &param.ident).collect();
    let fields: Vec<_> = others.iter().map(|(param, _)| field(param, others)).collect();
    let body = body(entry, loss, others);
    let numbered = || (0u32..).zip(entry.params()).filter(|(_, (param, _))| param.var != loss.0.var);
    let selected = numbered().zip(&fields).map(|((k, _), f)| quote!(#f: __wrt.has(#k).then_some(__all.#f)));
    let refused = (0u32..).zip(entry.params()).filter_map(|(k, param)| {
        let is_loss = param.0.var == loss.0.var;
        let (text, why) = (param.0.ident.to_string(), underivable(entry, &param, is_loss)?);
        Some(quote!((#k, #text, #why)))
    });
    quote! {
        /// The value of the loss, which starts at zero, and its gradients by all other arguments,
        /// shaped like them: `()` for arguments that carry no derivative or are declared constant. The arguments stay as
        /// they are.
        #vis fn gradient<#declared>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#result<#value, #(#types),*>, #p::Error> #conditions {
            #body
        }

        /// The same with the gradients of chosen arguments only.
        #vis fn gradient_wrt<#declared>(
            #device: &(impl #p::Device + ?Sized), __wrt: #p::Wrt<#name>, #(#inputs),*
        ) -> ::core::result::Result<
            #result<#value, #(::core::option::Option<#types>),*>, #p::Error
        > #conditions {
            __wrt.refuse(&[#(#refused),*])?;
            let __all = Self::gradient::<#given>(#device, #(#names),*)?;
            __Ok(#result { value: __all.value, #(#selected),* })
        }
    }
}

/// `f::W` for an argument `w`.
pub fn constants(entry: &Entry) -> TokenStream {
    let (p, name, vis) = (entry.p, &entry.model.item.sig.ident, &entry.model.item.vis);
    let constant = |(k, ((param, _), constant)): (u32, (Param, Ident))| {
        let doc = format!("The argument `{}`, for derivatives by chosen arguments.", param.ident);
        quote!(#[doc = #doc] #vis const #constant: #p::Wrt<#name> = #p::Wrt::argument(#k);)
    };
    // a choice is 63 bits and all
    let each = (0..63).zip(entry.params().zip(constant_names(entry))).map(constant);
    quote! {
        #(#each)*
        /// All arguments that carry a derivative.
        #vis const ALL: #p::Wrt<#name> = #p::Wrt::ALL;
    }
}

fn body(entry: &Entry, loss: Param, others: &[Param]) -> TokenStream {
    let p = entry.p;
    let (loss_name, loss_type) = (&loss.0.ident, &loss.1.ty);
    let result = entry.result_name("Gradient");
    let mut start = quote!(let mut #loss_name = <#loss_type as #p::Zero>::zero(););
    let mut slots = Vec::new();
    for (param, passed) in entry.params() {
        let own = param.var == loss.0.var || param.mode != Mode::Read;
        let slot = if own { Slot::own(param.ident.clone(), passed.clone()) } else { Slot::of(param, passed) };
        if param.var != loss.0.var {
            start.extend(if own { entry.copied(param, passed) } else { entry.rebound([&slot].into_iter()) });
        }
        slots.push(slot);
    }
    let sweep = sweep(entry, &slots, &start, &[loss], loss.0);
    let gradients = others.iter().map(|(param, passed)| {
        let (field, gradient) = (field(param, others), entry.gradient_of(param, passed, &bar(param)));
        quote!(#field: #gradient)
    });
    quote! {
        #sweep
        __Ok(#result { value: __values.0, #(#gradients),* })
    }
}

/// Why there is no derivative by a parameter, where that is known.
pub fn underivable(entry: &Entry, (param, passed): &Param, is_loss: bool) -> Option<&'static str> {
    match passed.shape {
        _ if is_loss => Some("it is the loss"),
        Shape::Function => Some("it is a function"),
        _ if entry.is_constant(param) => Some("it is declared constant"),
        _ if entry.is_inactive(param) => Some("its type carries none"),
        Shape::Value | Shape::Slice | Shape::Array(_) => None,
    }
}

/// The variable of an argument's shadow.
pub fn bar(param: &ParamModel) -> Ident {
    format_ident!("__{}_bar", param.ident)
}

/// A run of the program and its adjoint on the variables that `start` makes: `__values`, a tuple of what the scalars
/// `zeroed`, which start at zero, hold in between, and the shadows of all arguments for the seed 1 of one of these.
pub fn sweep(
    entry: &Entry,
    slots: &[Slot],
    start: &TokenStream,
    zeroed: &[Param],
    seeded: &ParamModel,
) -> TokenStream {
    let p = entry.p;
    let n = quote!(1usize);
    let (mut shadows, mut both, mut zeros) = (TokenStream::new(), Vec::new(), Vec::new());
    for ((param, passed), slot) in entry.params().zip(slots) {
        let (bar, zero) = (bar(param), entry.zero_shadow(slot, &n));
        if param.mode == Mode::Read {
            zeros.push(both.len() + 1);
        }
        shadows.extend(quote!(let mut #bar = #zero;));
        both.push(slot.clone());
        both.push(Slot::own(bar, passed.shadow(p)));
    }
    let (seed, accumulates) = (bar(seeded), accumulates(entry));
    let forward = entry.dispatch(Direction::FORWARD, slots, None);
    let backward = Direction::ADJOINT;
    let run =
        |forgets: bool| entry.dispatch_knowing(backward, &both, Some(&n), Known { forgets, zeros: &zeros });
    let Decided { keep, compare, any } = decided(entry, slots);
    let (restoring, adjoint) = (run(false), run(!any));
    let names: Vec<_> = zeroed.iter().map(|(param, _)| &param.ident).collect();
    let types: Vec<_> = zeroed.iter().map(|(_, passed)| &passed.ty).collect();
    quote! {
        #start
        #keep
        #shadows
        #p::seed(&mut #seed, 0);
        // where nothing reads what is written the adjoint needs no state to start from: it takes what starts at zero
        // to minus its value
        let __values = if #accumulates {
            #restoring;
            (#({
                let mut __value = <#types as #p::Zero>::zero();
                #p::rt::update::sub(&mut __value, #names);
                __value
            },)*)
        } else {
            #forward;
            let __values = (#(::core::clone::Clone::clone(&#names),)*);
            #adjoint;
            #compare
            __values
        };
    }
}

/// Whether a function only adds to what it writes, as an expression.
pub fn accumulates(entry: &Entry) -> TokenStream {
    let written =
        entry.params().enumerate().filter(|(_, (param, _))| param.mode != Mode::Read).map(|(k, _)| k);
    let depth = DEPTH;
    quote!(const { true #(&& Self {}.__accumulates(#written, #depth))* })
}

/// Whether a shape is passed by reference.
impl Shape {
    /// Whether the entry points hold a shadow of this shape as a reference to a single value.
    pub fn is_by_reference(self) -> bool {
        matches!(self, Shape::Value | Shape::Function)
    }
}
