//! `f::jacobian` and `f::hessian`: whole matrices, column by column or row by row.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rev_compiler::ir::Mode;

use super::gradient::{field, Param};
use super::tangent::Pair;
use super::Slot;
use crate::emit::signature::Shape;
use crate::model::{Form, ParamModel, Passing};

/// A parameter of the function, and that of its tangent.
pub type Both<'a> = (Param<'a>, Param<'a>);

/// The functions.
pub fn functions(pair: &Pair) -> TokenStream {
    let (jacobian, hessian, pattern) = (jacobian(pair), hessian(pair), super::pattern::functions(pair));
    quote!(#jacobian #hessian #pattern)
}

/// An argument as it was given, to be given again.
pub fn again((param, passed): &Param) -> TokenStream {
    let name = &param.ident;
    match (passed.shape, param.passing) {
        (Shape::Array(_), _) if param.form != Form::Array => quote!(#name.view()),
        (Shape::Value, Passing::Value) if param.mode == Mode::Read => {
            quote!(::core::clone::Clone::clone(&#name))
        }
        (Shape::Value | Shape::Slice | Shape::Array(_) | Shape::Function, _) => quote!(#name),
    }
}

/// `Names::of(&mut [("x", &mut x_dot), ..])`: variables under the names of the parameters.
fn named(p: &TokenStream, params: &[Both]) -> TokenStream {
    let each = params.iter().map(|((param, _), (dot, _))| {
        let (text, dot) = (param.ident.to_string(), &dot.ident);
        quote!((#text, &mut #dot as &mut dyn #p::DynArg))
    });
    quote!(&#p::Names::of(&mut [#(#each),*])?)
}

/// A loop over sums of unit directions of variables: each one, or the groups of a plan.
fn sweeps(p: &TokenStream, variables: &[&Ident], over: &Over, body: &TokenStream) -> TokenStream {
    let (count, numbers) = match over {
        Over::Each(count) => (quote!(#count), quote!(&[__k])),
        Over::Groups => (quote!(__plan.groups()), quote!(__plan.seed(__k))),
    };
    quote! {
        for __k in 0..#count {
            #p::units(&mut [#(&mut #variables as &mut dyn #p::DynArg),*], #numbers)?;
            #body
        }
    }
}

/// The same with several sums side by side in variables that are shadows.
fn sweeps_side_by_side(
    p: &TokenStream,
    variables: &[&Ident],
    over: &Over,
    body: &TokenStream,
) -> TokenStream {
    let (count, sides) = match over {
        Over::Each(count) => (quote!(#count), quote!(__numbers.chunks(1).collect())),
        Over::Groups => {
            (quote!(__plan.groups()), quote!(__numbers.iter().map(|__g| __plan.seed(*__g)).collect()))
        }
    };
    quote! {
        for __k in (0..#count).step_by(#p::SIDES) {
            let __numbers: ::std::vec::Vec<usize> = (__k..#count.min(__k + #p::SIDES)).collect();
            let __sides: ::std::vec::Vec<&[usize]> = #sides;
            #p::units_side_by_side(&mut [#(&mut #variables as &mut dyn #p::DynArg),*], &__sides)?;
            #body
        }
    }
}

/// Shadows of zeros for tangents side by side.
fn shadows(pair: &Pair, active: &[Both]) -> TokenStream {
    let (p, mut out) = (pair.of.p, TokenStream::new());
    let n = quote!({ #p::SIDES });
    for ((param, passed), (dot, _)) in active {
        let reference = param.mode != Mode::Read || param.passing != Passing::Value;
        let slot = Slot { name: param.ident.clone(), passed: (*passed).clone(), reference };
        let (name, zero) = (&dot.ident, pair.of.zero_shadow(&slot, &n));
        out.extend(quote!(let mut #name = #zero;));
    }
    out
}

/// What `jvp_batch` and `hvp_batch` are given for shadows under the names of tangents, and the arguments.
fn side_arguments(pair: &Pair, but: Option<&ParamModel>) -> Vec<TokenStream> {
    let wanted = |(param, _): &Param| but.is_none_or(|b| b.var != param.var);
    let params: Vec<_> = pair.params().filter(|(of, _)| wanted(of)).collect();
    let given = params.iter().filter(|(of, _)| of.1.shape != Shape::Function && pair.is_given(of));
    let dots = given.map(|(of, (dot, _))| {
        let name = &dot.ident;
        match of.1.shape {
            Shape::Slice => quote!(&#name[..]),
            Shape::Array(_) => quote!(#name.view()),
            Shape::Value | Shape::Function => quote!(::core::clone::Clone::clone(&#name)),
        }
    });
    dots.chain(params.iter().map(|(of, _)| again(of))).collect()
}

/// Over which directions a loop runs.
enum Over {
    /// As many as a variable says.
    Each(Ident),
    /// The groups of a plan.
    Groups,
}

/// Those of the parameters that carry a derivative.
pub fn active<'a>(pair: &Pair<'a>) -> Vec<Both<'a>> {
    pair.params()
        .filter(|((param, passed), _)| passed.shape != Shape::Function && !pair.of.is_inactive(param))
        .collect()
}

/// The functions that are arguments have tangents that the caller gives first; then the arguments, without `but`.
pub fn inputs(pair: &Pair, but: Option<&ParamModel>) -> Vec<TokenStream> {
    let functions =
        pair.params().filter(|((_, passed), _)| passed.shape == Shape::Function).map(|(_, dot)| dot);
    let arguments =
        pair.params().map(|(of, _)| of).filter(|(param, _)| but.is_none_or(|b| b.var != param.var));
    functions.chain(arguments).map(|(param, passed)| pair.tangent.shared_input(param, passed)).collect()
}

/// `f::jacobian(device, arguments..)`
fn jacobian(pair: &Pair) -> TokenStream {
    let active = active(pair);
    let outputs: Vec<Both> =
        active.iter().filter(|((param, _), _)| param.mode != Mode::Read).copied().collect();
    if outputs.is_empty() {
        return TokenStream::new();
    }
    let (p, vis, device) = (pair.of.p, &pair.of.model.item.vis, pair.of.device());
    let (declared, conditions) = (pair.tangent.signature.declared(), pair.tangent.signature.conditions());
    let (inputs, arguments, given) =
        (inputs(pair, None), side_arguments(pair, None), pair.of.signature.given());
    let start = shadows(pair, &active);
    let (rows, by) = (named(p, &outputs), named(p, &active));
    let dots: Vec<_> = active.iter().map(|(_, (dot, _))| &dot.ident).collect();
    let found: Vec<_> = outputs.iter().map(|(_, (dot, _))| &dot.ident).collect();
    let product =
        quote!(let mut __found = Self::jvp_batch::<#given { #p::SIDES }>(#device, #(#arguments),*)?;);
    let values = quote!(&mut [#(&mut __found.#found as &mut dyn #p::DynArg),*]);
    let put = quote!(#product __matrix.put_columns(__k, #values)?;);
    let forward = sweeps_side_by_side(p, &dots, &Over::Each(format_ident!("__columns")), &put);
    let add = quote!(#product __products.add_side_by_side(__sides.len(), #values)?;);
    let in_groups = sweeps_side_by_side(p, &dots, &Over::Groups, &add);
    let Rows { start: seeds, variables, product, values } = by_rows(pair, &active, &outputs);
    let variables: Vec<_> = variables.iter().collect();
    let put = quote!(#product __matrix.put_row(__k, #values););
    let reverse = sweeps(p, &variables, &Over::Each(format_ident!("__rows")), &put);
    let in_groups_of_rows = sweeps(p, &variables, &Over::Groups, &quote!(#product __products.add(#values);));
    quote! {
        /// The same for a Jacobian whose nonzeros are known: a product for each group of a plan, which is prepared once.
        /// Rows and columns are those of `jacobian`.
        #[allow(clippy::too_many_arguments)]
        #vis fn jacobian_sparse<#declared>(
            #device: &(impl #p::Device + ?Sized), __plan: &#p::sparse::Plan, #(#inputs),*
        ) -> ::core::result::Result<#p::sparse::SparseMatrix, #p::Error> #conditions {
            #start
            let mut __products = #p::Compressed::new(__plan, #rows, #by, true)?;
            if __plan.is_by_rows() {
                #seeds
                #in_groups_of_rows
            } else {
                #in_groups
            }
            __products.finish()
        }

        /// The Jacobian: the derivatives of everything that the function writes by all arguments that carry a
        /// derivative (what is written by what it held before among them), which stay as they are. By
        /// columns, in forward mode, or by rows, in reverse mode, where there are fewer of these.
        #[allow(clippy::too_many_arguments)]
        #vis fn jacobian<#declared>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#p::DerivativeMatrix, #p::Error> #conditions {
            #start
            let mut __matrix = #p::DerivativeMatrix::zeros(#rows, #by)?;
            let (__rows, __columns) = __matrix.matrix().dim();
            if __columns <= __rows {
                #forward
            } else {
                #seeds
                #reverse
            }
            __Ok(__matrix)
        }
    }
}

/// Products of rows of a Jacobian.
struct Rows {
    /// Variables for the seeds,
    start: TokenStream,
    /// of which these carry derivatives.
    variables: Vec<Ident>,
    /// A sweep with them,
    product: TokenStream,
    /// and what it gives.
    values: TokenStream,
}

/// The rows of a Jacobian, each a sweep with a seed.
fn by_rows(pair: &Pair, active: &[Both], outputs: &[Both]) -> Rows {
    let (p, device, n) = (pair.of.p, pair.of.device(), quote!(1usize));
    let seed = |(param, _): &Param| format_ident!("__{}_seed", param.ident);
    let (mut start, mut seeds) = (TokenStream::new(), Vec::new());
    // integers have seeds too, without a number
    for (of, _) in pair.params().filter(|((param, _), _)| param.mode != Mode::Read) {
        let of = &of;
        let (name, ty) = (seed(of), pair.of.owned_type(of.1));
        let slot = Slot { name: of.0.ident.clone(), passed: of.1.clone(), reference: true };
        let zero = pair.of.zero_shadow(&slot, &n);
        start.extend(quote!(let mut #name = #zero;));
        let value = quote!(<#ty as #p::Primal>::gradient(::core::clone::Clone::clone(&#name)));
        seeds.push(match of.1.shape {
            Shape::Slice => quote!(&#value),
            Shape::Array(_) => quote!(#value.view()),
            Shape::Value | Shape::Function => value,
        });
    }
    let again = pair.params().map(|(of, _)| again(&of));
    let (mut pulled, mut names) = (TokenStream::new(), Vec::new());
    for (of, _) in active {
        let (name, field, ty) =
            (format_ident!("__{}_pulled", of.0.ident), pair.of.bar(of.0), pair.of.owned_type(of.1));
        pulled.extend(quote!(let #name = <#ty as #p::Primal>::cotangent(__found.#field);));
        names.push(name);
    }
    let product = quote! {
        let __found = Self::vjp(#device, #(#seeds,)* #(#again),*)?;
        #pulled
    };
    let values = quote!(&[#(&#names as &dyn #p::DynArg),*]);
    let variables = outputs.iter().map(|(of, _)| seed(of)).collect();
    Rows { start, variables, product, values }
}

/// `f::hessian(device, arguments..)`
fn hessian(pair: &Pair) -> TokenStream {
    let Some(loss) = pair.of.model.loss.and_then(|k| pair.params().nth(k)) else { return TokenStream::new() };
    let loss = loss.0 .0;
    let active: Vec<Both> =
        active(pair).into_iter().filter(|((param, _), _)| param.var != loss.var).collect();
    let (p, vis, device) = (pair.of.p, &pair.of.model.item.vis, pair.of.device());
    let (declared, conditions) = (pair.tangent.signature.declared(), pair.tangent.signature.conditions());
    let inputs = inputs(pair, Some(loss));
    let (sparse, dense) = side_by_side(pair, &active, loss);
    quote! {
        /// The same for a Hessian whose nonzeros are known: a product for each group of a plan, which is prepared once.
        #[allow(clippy::too_many_arguments)]
        #vis fn hessian_sparse<#declared>(
            #device: &(impl #p::Device + ?Sized), __plan: &#p::sparse::Plan, #(#inputs),*
        ) -> ::core::result::Result<#p::sparse::SparseMatrix, #p::Error> #conditions {
            #sparse
        }

        /// The Hessian of the loss, which starts at zero, by all other arguments that carry a derivative: products with
        /// unit directions. Symmetric up to rounding.
        #[allow(clippy::too_many_arguments)]
        #vis fn hessian<#declared>(
            #device: &(impl #p::Device + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#p::DerivativeMatrix, #p::Error> #conditions {
            #dense
        }
    }
}

/// The sparse and the dense Hessian by products side by side.
fn side_by_side(pair: &Pair, active: &[Both], loss: &ParamModel) -> (TokenStream, TokenStream) {
    let (p, device, given) = (pair.of.p, pair.of.device(), pair.of.signature.given());
    let arguments = side_arguments(pair, Some(loss));
    let own: Vec<Param> =
        pair.params().map(|(of, _)| of).filter(|(param, _)| param.var != loss.var).collect();
    let dots: Vec<_> = active.iter().map(|(_, (dot, _))| &dot.ident).collect();
    let fields = active.iter().map(|(of, _)| field(of.0, &own));
    let product =
        quote!(let mut __found = Self::hvp_batch::<#given { #p::SIDES }>(#device, #(#arguments),*)?;);
    let values = quote!(&mut [#(&mut __found.#fields as &mut dyn #p::DynArg),*]);
    let put = quote!(#product __matrix.put_columns(__k, #values)?;);
    let add = quote!(#product __products.add_side_by_side(__sides.len(), #values)?;);
    let columns = sweeps_side_by_side(p, &dots, &Over::Each(format_ident!("__columns")), &put);
    let groups = sweeps_side_by_side(p, &dots, &Over::Groups, &add);
    let (shadows, names) = (shadows(pair, active), named(p, active));
    let sparse = quote! {
        #shadows
        let mut __products = #p::Compressed::new(__plan, #names, #names, false)?;
        #groups
        __products.finish()
    };
    let dense = quote! {
        #shadows
        let mut __matrix = #p::DerivativeMatrix::zeros(#names, #names)?;
        let __columns = __matrix.matrix().ncols();
        #columns
        __Ok(__matrix)
    };
    (sparse, dense)
}
