//! `f::tangent`, `f::jvp`, `f::hvp` and `f::gradient_and_hvp`, of a function under `#[reversible(tangent)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rev_compiler::ir::{Direction, Mode};

use super::along::along;
use super::gradient::{bar, field, sweep, type_params, Param};
use super::run::head;
use super::{batch, dense, same_form, same_outer_shape, scalar, Api, Entry, Slot};
use crate::emit::derived;
use crate::emit::signature::Shape;
use crate::model::{ParamModel, Passing};

/// A function with its tangent.
pub struct Pair<'a> {
    /// The function.
    pub of: &'a Entry<'a>,
    /// Its tangent, or what gives its Taylor coefficients.
    pub tangent: &'a Entry<'a>,
    /// Which of these.
    pub kind: derived::Kind,
}

impl<'a> Pair<'a> {
    /// The parameters of the function, each with that of its tangent.
    pub fn params(&self) -> impl Iterator<Item = (Param<'a>, Param<'a>)> {
        self.with_companions().into_iter().filter_map(|(of, companions)| Some((of, *companions.first()?)))
    }

    /// The parameters of the function, each with those that stand behind it: of a function one, of what else there is as many
    /// as there are orders.
    pub fn with_companions(&self) -> Vec<(Param<'a>, Vec<Param<'a>>)> {
        let (of, tangent) = (self.of, self.tangent);
        let mut all = tangent.model.params.iter().zip(&tangent.signature.params);
        let values = of.model.params.iter().zip(&of.signature.params);
        let companions = |of: &ParamModel| self.kind.companions(of);
        values.map(|value| (value, all.by_ref().skip(1).take(companions(value.0)).collect())).collect()
    }

    /// Whether the caller says the tangent of a parameter: of what carries a derivative, and of functions.
    pub fn is_given(&self, (param, passed): &Param) -> bool {
        passed.shape == Shape::Function || !self.of.is_inactive(param)
    }
}

/// What the function offers, and what its tangent does for that.
pub fn functions(pair: &Pair) -> (Api, TokenStream) {
    let (jvp, own_jvp) = jvp(pair);
    let (hvp, own_hvp) = hvp(pair);
    let doc = "The tangent, in place: the function, and beside each value its derivative along a direction. Each argument is \
               followed by its tangent, which for an integer means nothing.";
    let tangent = in_place(pair, "tangent", doc);
    let derivative = scalar::derivative(pair);
    let items = [jvp.items, hvp.items, derivative.items];
    let batches = [batch::in_place(pair), batch::jvp_batch(pair), batch::hvp_batch(pair)];
    let functions = [
        tangent,
        jvp.functions,
        hvp.functions,
        dense::functions(pair),
        derivative.functions,
        quote!(#(#batches)*),
    ];
    (Api { items: quote!(#(#items)*), functions: quote!(#(#functions)*) }, quote!(#own_jvp #own_hvp))
}

/// `f::tangent(device, p, p_dot, …)`
pub fn in_place(pair: &Pair, of: &str, doc: &str) -> TokenStream {
    let of = format_ident!("{of}");
    let (p, vis, device) = (pair.of.p, &pair.of.model.item.vis, pair.of.device());
    let name = &pair.tangent.model.item.sig.ident;
    let head = head(pair.tangent, quote!(fn #of), Some(quote!(#device: &(impl #p::Device + ?Sized),)));
    let args = pair.tangent.model.params.iter().map(|param| &param.ident);
    let shapes = pair.with_companions().into_iter().flat_map(|(value, companions)| {
        let (name, passed) = (&value.0.ident, value.1);
        companions.into_iter().map(move |dot| match pair.of.has_no_numbers(value.0) {
            true => same_outer_shape(p, passed, name, &dot.0.ident),
            false => same_form(p, passed, name, &dot.0.ident),
        })
    });
    quote! {
        #[doc = #doc]
        #[allow(clippy::too_many_arguments)]
        #vis #head {
            #(#shapes)*
            #name::run(#device, #(#args),*)
        }
    }
}

/// Variables for the arguments of the tangent: copies of what is written, zeros for the tangents of what has none.
pub struct Start {
    pub code: TokenStream,
    pub slots: Vec<Slot>,
}

/// `zeroed`: the parameter of the function that isn't given, and starts at zero with its tangent.
pub fn start(pair: &Pair, zeroed: Option<&ParamModel>) -> Start {
    let p = pair.of.p;
    let (mut code, mut slots) = (TokenStream::new(), Vec::new());
    for (value, companions) in pair.with_companions() {
        let is_zeroed = zeroed.is_some_and(|z| z.var == value.0.var);
        for (k, (param, passed)) in [value].into_iter().chain(companions.iter().copied()).enumerate() {
            let name = &param.ident;
            let own = Slot::own(name.clone(), passed.clone());
            let lent = Slot::of(param, passed);
            let given = k == 0 || k == 1 && pair.is_given(&value);
            let slot = match (is_zeroed, given, param.mode) {
                (true, ..) => {
                    let ty = &passed.ty;
                    code.extend(quote!(let mut #name = <#ty as #p::Zero>::zero();));
                    own
                }
                (_, false, _) => {
                    code.extend(zeros(p, name, &value, value.0.mode != Mode::Read));
                    own
                }
                (_, true, Mode::Read) => {
                    code.extend(pair.tangent.rebound([&lent].into_iter()));
                    lent
                }
                (_, true, Mode::Write | Mode::Accumulate) => {
                    code.extend(pair.tangent.copied(param, passed));
                    own
                }
            };
            slots.push(slot);
        }
        if pair.is_given(&value) && !is_zeroed {
            let shape = |dot: &Param| same_form(p, value.1, &value.0.ident, &dot.0.ident);
            code.extend(companions.first().map(shape));
        }
    }
    Start { code, slots }
}

/// A variable of zeros shaped like an argument, whose variable owns it or is a reference.
pub fn zeros(p: &TokenStream, name: &Ident, (of, passed): &Param, is_owned: bool) -> TokenStream {
    let of_name = &of.ident;
    match passed.shape {
        Shape::Function => TokenStream::new(),
        Shape::Value if is_owned || of.passing == Passing::Value => {
            quote!(let mut #name = #p::Primal::zeros(&#of_name);)
        }
        Shape::Value => quote!(let mut #name = #p::Primal::zeros(&*#of_name);),
        Shape::Slice => quote!(let mut #name = #p::zeros_like(&#of_name[..])?;),
        Shape::Array(_) => quote!(let mut #name = #p::zero_array_like(#of_name.view())?;),
    }
}

/// A function of the tangent, and the one of the function that hands its arguments on to it.
pub struct Both {
    pub of: TokenStream,
    pub tangent: TokenStream,
}

/// `inputs`: declarations with their names.
pub fn both(
    pair: &Pair,
    name: &str,
    inputs: &[(TokenStream, Ident)],
    result: &TokenStream,
    body: &TokenStream,
) -> Both {
    let (p, vis, device) = (pair.of.p, &pair.of.model.item.vis, pair.of.device());
    let signature = pair.tangent.signature;
    let (declared, conditions, given) = (signature.declared(), signature.conditions(), signature.given());
    let (own, hidden) = (format_ident!("{name}"), format_ident!("__{name}"));
    let tangent = &pair.tangent.model.item.sig.ident;
    let (inputs, names): (Vec<_>, Vec<_>) = inputs.iter().map(|(input, name)| (input, name)).unzip();
    let head = |name: &Ident| {
        quote! {
            fn #name<#declared>(
                #device: &(impl #p::Device + ?Sized), #(#inputs),*
            ) -> ::core::result::Result<#result, #p::Error> #conditions
        }
    };
    let (own_head, hidden_head) = (head(&own), head(&hidden));
    Both {
        of: quote! {
            #[allow(clippy::too_many_arguments)]
            #vis #own_head { #tangent::#hidden::<#given>(#device, #(#names),*) }
        },
        tangent: quote! {
            #[doc(hidden)]
            pub #hidden_head { #body }
        },
    }
}

/// The tangents that the caller gives, then the arguments, but for the loss where it starts at zero.
pub fn inputs(pair: &Pair, zeroed: Option<&ParamModel>) -> Vec<(TokenStream, Ident)> {
    let wanted = |param: &ParamModel| zeroed.is_none_or(|z| z.var != param.var);
    let input = |(param, passed): Param| (pair.tangent.shared_input(param, passed), param.ident.clone());
    let all: Vec<_> = pair.params().filter(|((param, _), _)| wanted(param)).collect();
    let dots = all.iter().filter(|(of, _)| pair.is_given(of)).map(|(_, dot)| input(*dot));
    dots.chain(all.iter().map(|(of, _)| input(*of))).collect()
}

/// `f::jvp(device, tangents.., arguments..)`
fn jvp(pair: &Pair) -> (Api, TokenStream) {
    if pair.params().all(|((param, _), _)| param.mode == Mode::Read) {
        return (Api { items: TokenStream::new(), functions: TokenStream::new() }, TokenStream::new());
    }
    let (vis, name) = (&pair.of.model.item.vis, pair.of.result_name("Jvp"));
    let doc = format!("What [`{}::jvp`] gives.", pair.of.model.item.sig.ident);
    let (mut types, mut fields, mut generics, mut values) =
        (Vec::new(), TokenStream::new(), Vec::new(), TokenStream::new());
    let mut add = |field: &Ident, doc: String, ty: TokenStream, value: TokenStream| {
        let generic = format_ident!("F{}", generics.len());
        fields.extend(quote!(#[doc = #doc] pub #field: #generic,));
        generics.push(generic);
        types.push(ty);
        values.extend(quote!(#field: #value,));
    };
    for (of, dot) in pair.params().filter(|((param, _), _)| param.mode != Mode::Read) {
        let (param, own) = (&of.0.ident, &dot.0.ident);
        let ty = pair.of.owned_type(of.1);
        add(param, format!("`{param}` after the function."), ty.clone(), quote!(#param));
        if pair.is_given(&of) {
            add(own, format!("The derivative of `{param}` along the direction."), ty, quote!(#own));
        }
    }
    let (inputs, result) = (inputs(pair, None), quote!(#name<#(#types),*>));
    let both = match pair.of.takes_functions() {
        // whose tangents are given
        true => {
            let start = start(pair, None);
            let run = pair.tangent.dispatch(Direction::FORWARD, &start.slots, None);
            let code = start.code;
            both(pair, "jvp", &inputs, &result, &quote!(#code #run; __Ok(#name { #values })))
        }
        false => Both { of: jvp_of_one(pair, &inputs, &result), tangent: TokenStream::new() },
    };
    let (of, along) = (both.of, along(pair, "jvp", None, &result, None));
    let functions = quote! {
        #along

        /// The outputs of the function, and their derivatives along a direction: a tangent for each argument that
        /// carries a derivative, shaped like it. The tangents come first, then all arguments, which stay as they are.
        #of
    };
    let items = quote! {
        #[doc = #doc]
        #[derive(Clone, Debug, PartialEq)]
        #[allow(dead_code)]
        #vis struct #name<#(#generics),*> { #fields }
    };
    (Api { items, functions }, both.tangent)
}

/// `f::jvp` by the program for several directions.
fn jvp_of_one(pair: &Pair, inputs: &[(TokenStream, Ident)], result: &TokenStream) -> TokenStream {
    let (p, vis, device) = (pair.of.p, &pair.of.model.item.vis, pair.of.device());
    let (declared, conditions, given) =
        (pair.of.signature.declared(), pair.of.signature.conditions(), pair.of.signature.given());
    let (code, arguments) = batch::of_one(pair, None);
    let inputs = inputs.iter().map(|(input, _)| input);
    let values = pair.params().filter(|((param, _), _)| param.mode != Mode::Read).map(|(of, dot)| {
        let (value, tangent) = (&of.0.ident, &dot.0.ident);
        let tangent = pair
            .is_given(&of)
            .then(|| quote!(#tangent: #p::Primal::of_tangent(&__found.#tangent, &__found.#value)?,));
        quote!(#tangent #value: __found.#value,)
    });
    let name = pair.of.result_name("Jvp");
    quote! {
        #[allow(clippy::too_many_arguments)]
        #vis fn jvp<#declared>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#result, #p::Error> #conditions {
            #code
            let __found = Self::jvp_batch::<#given 1>(#device, #(#arguments),*)?;
            __Ok(#name { #(#values)* })
        }
    }
}

/// `f::hvp(device, directions.., arguments..)`, `f::gradient_and_hvp`
fn hvp(pair: &Pair) -> (Api, TokenStream) {
    let none = || (Api { items: TokenStream::new(), functions: TokenStream::new() }, TokenStream::new());
    let Some(loss) = pair.of.model.loss else { return none() };
    let Some((loss, loss_dot)) = pair.params().nth(loss) else { return none() };
    let others: Vec<_> = pair.params().filter(|((param, _), _)| param.var != loss.0.var).collect();
    let own: Vec<Param> = others.iter().map(|(of, _)| *of).collect();
    let (vis, name) = (&pair.of.model.item.vis, pair.of.result_name("Hvp"));
    let gradient = pair.of.result_name("Gradient");
    let doc = format!(
        "What [`{}::hvp`] gives: the product of the Hessian with a direction.",
        pair.of.model.item.sig.ident
    );
    let generics = type_params(&own);
    let fields: Vec<_> = own.iter().map(|(param, _)| field(param, &own)).collect();
    let docs = own.iter().map(|(param, _)| format!("Its part for `{}`, shaped like it.", param.ident));
    let types: Vec<_> = own.iter().map(|(param, passed)| pair.of.gradient_type(param, passed)).collect();
    let start = start(pair, Some(loss.0));
    let shadows = sweep(pair.tangent, &start.slots, &start.code, &[loss, loss_dot], loss_dot.0);
    let of_shadow = |(param, passed): &Param, shadow: Ident| pair.of.gradient_of(param, passed, &shadow);
    let products: Vec<_> = own.iter().map(|of| of_shadow(of, bar(of.0))).collect();
    let gradients: Vec<_> = others.iter().map(|(of, dot)| of_shadow(of, bar(dot.0))).collect();
    let value = &loss.1.ty;
    let result = quote!((#gradient<#value, #(#types),*>, #name<#(#types),*>));
    let body = quote! {
        #shadows
        __Ok((#gradient { value: __values.0, #(#fields: #gradients),* }, #name { #(#fields: #products),* }))
    };
    let inputs = inputs(pair, Some(loss.0));
    let both = both(pair, "gradient_and_hvp", &inputs, &result, &body);
    let along = [("hvp", quote!(#name<#(#types),*>)), ("gradient_and_hvp", result)]
        .map(|(own, result)| along(pair, own, Some(loss.0), &result, None));
    let of = both.of;
    let (p, device, declared, conditions) =
        (pair.of.p, pair.of.device(), pair.tangent.signature.declared(), pair.tangent.signature.conditions());
    let inputs = inputs.iter().map(|(input, _)| input);
    let (code, arguments) = batch::of_one(pair, Some(loss.0));
    let given = pair.of.signature.given();
    let values = own.iter().zip(&fields).map(|((param, passed), field)| {
        let product = format_ident!("__{}_product", param.ident);
        let value = pair.of.gradient_of(param, passed, &product);
        quote!(#field: { let #product = __found.#field; #value })
    });
    let functions = quote! {
        /// The product of the Hessian of the loss, which starts at zero, with a direction: a tangent for each other
        /// argument that carries a derivative. The directions come first, then the arguments; the result is shaped like
        /// them, `()` for those that carry no derivative or are declared constant.
        #[allow(clippy::too_many_arguments)]
        #vis fn hvp<#declared>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#name<#(#types),*>, #p::Error> #conditions {
            #code
            let __found = Self::hvp_batch::<#given 1>(#device, #(#arguments),*)?;
            __Ok(#name { #(#values),* })
        }

        /// The value of the loss and its gradient, and the product of the Hessian with a direction, in one sweep.
        #of

        #(#along)*
    };
    let items = quote! {
        #[doc = #doc]
        #[derive(Clone, Debug, PartialEq)]
        #[allow(dead_code)]
        #vis struct #name<#(#generics),*> { #(#[doc = #docs] pub #fields: #generics,)* }
    };
    (Api { items, functions }, both.tangent)
}
