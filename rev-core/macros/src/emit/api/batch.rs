//! Several tangents side by side, in one sweep: `f::jvp_batch` and `f::hvp_batch`, and in place `f::tangents` and
//! `f::adjoint_tangents`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rev_compiler::ir::{Direction, Mode};

use super::along::along;
use super::decided::{decided, Decided};
use super::dense::again;
use super::dispatch::Known;
use super::gradient::{accumulates, bar, field, Param};
use super::tangent::{zeros, Pair};
use super::{input_like, lent, same_form, same_outer_shape, same_shape, same_variants, Slot};
use crate::emit::signature::Shape;
use crate::model::{ParamModel, Passing};

/// Variables for the arguments of a program, each followed by its tangents.
struct Sides {
    code: TokenStream,
    slots: Vec<Slot>,
}

/// The tangents of an argument as a parameter: shaped like it, with shadows as elements.
fn input(pair: &Pair, (of, dot): (&Param, &Param)) -> TokenStream {
    let (p, ty) = (pair.of.p, &of.1.ty);
    input_like(p, &dot.0.ident, of.1.shape, &quote!(<#ty as #p::Primal>::Shadow<__N>))
}

/// Whether the caller gives tangents of a parameter.
fn is_given(pair: &Pair, of: &Param) -> bool {
    of.1.shape != Shape::Function && pair.is_given(of)
}

/// `zeroed`: the parameter that isn't given, and starts at zero.
fn sides(pair: &Pair, zeroed: Option<&ParamModel>) -> Sides {
    let (p, n) = (pair.of.p, quote!(__N));
    let (mut code, mut slots) = (TokenStream::new(), Vec::new());
    for (of, dot) in pair.params() {
        let ((param, passed), name) = (of, &dot.0.ident);
        let is_zeroed = zeroed.is_some_and(|z| z.var == param.var);
        let is_written = param.mode != Mode::Read;
        let slot = match is_written {
            true => Slot::own(param.ident.clone(), passed.clone()),
            false => Slot::of(param, passed),
        };
        let ty = &passed.ty;
        let value = &param.ident;
        code.extend(match (is_zeroed, is_written) {
            (true, _) => quote!(let mut #value = <#ty as #p::Zero>::zero();),
            (false, true) => pair.of.copied(param, passed),
            (false, false) => pair.of.rebound([&slot].into_iter()),
        });
        let tangent = Slot::own(name.clone(), passed.tangent(p));
        code.extend(match is_given(pair, &of) && !is_zeroed {
            true => given(p, &of, name),
            false => {
                let zero = pair.of.zero_shadow(&slot, &n);
                quote!(let mut #name = #zero;)
            }
        });
        slots.push(slot);
        slots.push(tangent);
    }
    Sides { code, slots }
}

/// A variable for tangents that the caller gave: a copy where they are written.
fn given(p: &TokenStream, (of, passed): &Param, name: &Ident) -> TokenStream {
    let check = same_shape(p, passed, &of.ident, name);
    let own = match (passed.shape, of.mode != Mode::Read) {
        (Shape::Slice, true) => quote!(.to_vec()),
        (Shape::Array(_), true) => quote!(.to_owned()),
        (Shape::Value | Shape::Slice | Shape::Array(_) | Shape::Function, _) => TokenStream::new(),
    };
    quote!(#check let mut #name = #name #own;)
}

/// The tangents that the caller gives, then the arguments, but for the loss where it starts at zero.
fn inputs(pair: &Pair, zeroed: Option<&ParamModel>) -> Vec<TokenStream> {
    let wanted = |param: &ParamModel| zeroed.is_none_or(|z| z.var != param.var);
    let all: Vec<_> = pair.params().filter(|((param, _), _)| wanted(param)).collect();
    let dots = all.iter().filter(|(of, _)| is_given(pair, of)).map(|(of, dot)| input(pair, (of, dot)));
    dots.chain(all.iter().map(|((param, passed), _)| pair.of.shared_input(param, passed))).collect()
}

/// `f::jvp_batch(device, tangents.., arguments..)`
pub fn jvp_batch(pair: &Pair) -> TokenStream {
    if pair.params().all(|((param, _), _)| param.mode == Mode::Read) {
        return TokenStream::new();
    }
    let (p, vis, device, n) = (pair.of.p, &pair.of.model.item.vis, pair.of.device(), quote!(__N));
    let (declared, conditions) = (pair.of.signature.declared(), pair.of.signature.conditions());
    let (result, inputs, sides) = (pair.of.result_name("Jvp"), inputs(pair, None), sides(pair, None));
    let (mut types, mut values) = (Vec::new(), Vec::new());
    for (of, dot) in pair.params().filter(|((param, _), _)| param.mode != Mode::Read) {
        let (value, own) = (&of.0.ident, &dot.0.ident);
        types.push(pair.of.owned_type(of.1));
        values.push(quote!(#value));
        if pair.is_given(&of) {
            types.push(pair.of.shadow_type(of.1, &n));
            values.push(quote!(#own));
        }
    }
    let run = pair.of.dispatch(Direction::TANGENTS, &sides.slots, Some(&n));
    let code = sides.code;
    let found = quote!(#result<#(#types),*>);
    let along = along(pair, "jvp_batch", None, &found, Some(&n));
    quote! {
        #along

        /// The same along `__N` directions in one sweep, side by side in shadows of this width. Functions among the
        /// arguments have no tangent here: their own are taken.
        #[allow(clippy::too_many_arguments)]
        #vis fn jvp_batch<#declared const __N: usize>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#found, #p::Error> #conditions {
            #code
            #run;
            __Ok(#result { #(#values),* })
        }
    }
}

/// `f::tangents(device, p, p_dot, ..)` and `f::adjoint_tangents(device, p, p_dot, p_bar, p_bar_dot, ..)`: in place.
pub fn in_place(pair: &Pair) -> TokenStream {
    let tangents = program_in_place(pair, "tangents", Direction::TANGENTS);
    let of_adjoint = program_in_place(pair, "adjoint_tangents", Direction::TANGENTS_OF_ADJOINT);
    let dispatchers = pair.of.dispatchers(&[Direction::TANGENTS, Direction::TANGENTS_OF_ADJOINT]);
    let module = (!pair.of.takes_functions()).then(|| {
        let p = pair.of.p;
        quote! {
            #[doc(hidden)]
            pub fn __pullback_module() -> ::core::result::Result<&'static #p::ir::Module, #p::Error> {
                static MODULE: #p::PullbackModule = #p::PullbackModule::new();
                MODULE.get(Self::__module)
            }
        }
    });
    quote! {
        /// The function with the tangents of `__N` directions, in place: each argument is followed by them, side by side in
        /// a shadow of this width.
        #tangents

        #module
        #dispatchers

        /// The tangents of the adjoint, in place: from the state after the function with its cotangents to those before
        /// it, and beside each number its derivatives along `__N` directions. Each argument is followed by its
        /// tangents, by its cotangent, of the same type, and by the tangents of that; a function by nothing.
        #of_adjoint
    }
}

fn program_in_place(pair: &Pair, name: &str, direction: Direction) -> TokenStream {
    let (p, vis, device) = (pair.of.p, &pair.of.model.item.vis, pair.of.device());
    let (declared, conditions) = (pair.of.signature.declared(), pair.of.signature.conditions());
    let name = format_ident!("{name}");
    let of_adjoint = direction == Direction::TANGENTS_OF_ADJOINT;
    let (mut inputs, mut slots, mut shapes) = (Vec::new(), Vec::new(), TokenStream::new());
    let mut functions = TokenStream::new();
    for (of, (dot, _)) in pair.params() {
        let (value, passed) = (&of.0.ident, of.1);
        let mut all = vec![(value.clone(), passed.clone()), (dot.ident.clone(), passed.tangent(p))];
        if of_adjoint {
            let (bar, cotangent) = (pair.of.bar(of.0), passed.cotangent());
            all.extend([(bar, cotangent.clone()), (bar_dot(of.0), cotangent.tangent(p))]);
        }
        let alone = of_adjoint && passed.shape == Shape::Function;
        for (k, (name, beside)) in all.into_iter().enumerate() {
            let reference = beside.shape.is_by_reference();
            match (alone && k > 0, beside.shape) {
                (true, Shape::Function) => functions.extend(quote!(let #name = #value;)),
                (true, _) => functions.extend(quote!(let #name = &#p::NoShadow::<()>::NEW;)),
                (false, Shape::Function) => inputs.push(input_like(p, &name, beside.shape, &beside.ty)),
                (false, shape) => inputs.push(lent(p, &name, shape, &beside.ty, beside.mode != Mode::Read)),
            }
            shapes.extend(match k {
                0 => TokenStream::new(),
                // a stack of flags grows, and what is beside it, which holds nothing, doesn't
                _ if pair.of.has_no_numbers(of.0) => same_outer_shape(p, passed, value, &name),
                // a cotangent is a number of the argument's type
                2 => same_form(p, passed, value, &name),
                _ => same_shape(p, passed, value, &name),
            });
            slots.push(Slot { name, passed: beside, reference });
        }
    }
    let rebound = pair.of.rebound(slots.iter());
    let run = pair.of.dispatch(direction, &slots, Some(&quote!(__N)));
    quote! {
        #[allow(clippy::too_many_arguments)]
        #vis fn #name<#declared const __N: usize>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<(), #p::Error> #conditions {
            #functions
            #rebound
            #shapes
            #run;
            __Ok(())
        }
    }
}

/// What the functions for several directions are given for one: a shadow of each tangent, then the arguments, but for
/// the loss where it starts at zero.
pub fn of_one(pair: &Pair, zeroed: Option<&ParamModel>) -> (TokenStream, Vec<TokenStream>) {
    let p = pair.of.p;
    let wanted = |param: &ParamModel| zeroed.is_none_or(|z| z.var != param.var);
    let all: Vec<_> = pair.params().filter(|((param, _), _)| wanted(param)).collect();
    let (mut code, mut arguments) = (TokenStream::new(), Vec::new());
    for (of, dot) in all.iter().filter(|(of, _)| is_given(pair, of)) {
        let (name, side) = (&dot.0.ident, format_ident!("__{}_side", of.0.ident));
        let (shadow, argument) = match of.1.shape {
            Shape::Slice => (quote!(#p::tangents(&#name[..])?), quote!(&#side[..])),
            Shape::Array(_) => (quote!(#p::tangent_array(#name.view())?), quote!(#side.view())),
            Shape::Value | Shape::Function if dot.0.mode == Mode::Read && dot.0.passing == Passing::Value => {
                (quote!(#p::Primal::as_tangent(&#name)?), quote!(#side))
            }
            Shape::Value | Shape::Function => (quote!(#p::Primal::as_tangent(&*#name)?), quote!(#side)),
        };
        // shapes are compared where all of it goes
        code.extend(same_variants(p, of.1, &of.0.ident, name));
        code.extend(quote!(let #side = #shadow;));
        arguments.push(argument);
    }
    arguments.extend(all.iter().map(|(of, _)| again(of)));
    (code, arguments)
}

/// `f::hvp_batch(device, directions.., arguments..)`: the tangents of the adjoint.
pub fn hvp_batch(pair: &Pair) -> TokenStream {
    let loss = pair.of.model.loss.and_then(|k| pair.params().nth(k));
    let Some(((loss, _), _)) = loss else { return TokenStream::new() };
    let (p, vis, device, n) = (pair.of.p, &pair.of.model.item.vis, pair.of.device(), quote!(__N));
    let (declared, conditions) = (pair.of.signature.declared(), pair.of.signature.conditions());
    let (result, inputs) = (pair.of.result_name("Hvp"), inputs(pair, Some(loss)));
    let sides = sides(pair, Some(loss));
    let others: Vec<Param> =
        pair.params().map(|(of, _)| of).filter(|(param, _)| param.var != loss.var).collect();
    let mut bars = TokenStream::new();
    for ((of, _), value_and_dot) in pair.params().zip(sides.slots.chunks(2)) {
        let (bar, bar_dot) = (bar(of.0), bar_dot(of.0));
        let zero = pair.of.zero_shadow(&value_and_dot[0], &n);
        let (value, is_function) = (&of.0.ident, of.1.shape == Shape::Function);
        bars.extend(match is_function {
            true => quote!(let #bar = #value;),
            false => zeros(p, &bar, &of, of.0.mode != Mode::Read),
        });
        bars.extend(quote!(let mut #bar_dot = #zero;));
    }
    let (seed, sweep) = (bar(loss), of_adjoint(pair, &sides.slots, false, &n));
    let (types, values): (Vec<_>, Vec<_>) = others
        .iter()
        .map(|(param, passed)| match pair.of.is_inactive(param) {
            true => (quote!(()), quote!(())),
            false => {
                let found = bar_dot(param);
                (pair.of.shadow_type(passed, &n), quote!(#found))
            }
        })
        .unzip();
    let fields = others.iter().map(|(param, _)| field(param, &others));
    let code = sides.code;
    let found = quote!(#result<#(#types),*>);
    let along = along(pair, "hvp_batch", Some(loss), &found, Some(&n));
    quote! {
        #along

        /// The products of the Hessian of the loss with `__N` directions in one sweep, side by side in shadows of this
        /// width.
        #[allow(clippy::too_many_arguments)]
        #vis fn hvp_batch<#declared const __N: usize>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#found, #p::Error> #conditions {
            #code
            #bars
            #p::seed(&mut #seed, 0);
            #sweep
            __Ok(#result { #(#fields: #values),* })
        }
    }
}

/// A run of the function with its tangents, and of its adjoint with its: on arguments with their tangents, and variables of
/// their cotangents with their tangents, which are references or hold these.
pub fn of_adjoint(pair: &Pair, sides: &[Slot], reference: bool, n: &TokenStream) -> TokenStream {
    let (mut slots, mut zeroed) = (Vec::new(), Vec::new());
    for (((param, passed), _), value_and_dot) in pair.params().zip(sides.chunks(2)) {
        let passed = passed.cotangent();
        let is_function = passed.shape == Shape::Function;
        slots.extend_from_slice(value_and_dot);
        if param.mode == Mode::Read && !is_function {
            zeroed.extend([slots.len(), slots.len() + 1]);
        }
        let reference = reference && !is_function;
        let tangent = passed.tangent(pair.of.p);
        slots.push(Slot { name: bar(param), passed, reference });
        slots.push(Slot { name: bar_dot(param), passed: tangent, reference });
    }
    let accumulates = accumulates(pair.of);
    let forward = pair.of.dispatch(Direction::TANGENTS, sides, Some(n));
    let values: Vec<Slot> = sides.iter().step_by(2).cloned().collect();
    let Decided { keep, compare, any } = decided(pair.of, &values);
    let known = Known { forgets: !any, zeros: &zeroed };
    let backward = pair.of.dispatch_knowing(Direction::TANGENTS_OF_ADJOINT, &slots, Some(n), known);
    quote! {
        #keep
        // where nothing reads what is written, the adjoint needs no state to start from
        if !#accumulates {
            #forward;
        }
        #backward;
        #compare
    }
}

/// The variable of the tangents of an argument's cotangent.
pub fn bar_dot(param: &ParamModel) -> Ident {
    format_ident!("__{}_bar_dot", param.ident)
}
