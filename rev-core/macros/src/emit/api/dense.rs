//! `f::jacobian` and `f::hessian`, sparse and in place too: several columns or rows in a sweep.
//!
//! One hidden function of each kind runs the sweeps; in which directions they go and what becomes of their products the
//! runtime knows (`rev_cpu::dense::Sweeps`). The public functions differ in that only.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rev_compiler::ir::{Direction, Mode};

use super::batch::{bar_dot, of_adjoint};
use super::decided::{decided, Decided};
use super::dispatch::Known;
use super::gradient::{accumulates, bar, underivable, Param};
use super::tangent::Pair;
use super::{Entry, Slot};
use crate::emit::signature::{Passed, Shape};
use crate::model::{Form, ParamModel, Passing};

/// A parameter of the function, and that of its tangent.
pub type Both<'a> = (Param<'a>, Param<'a>);

/// The functions.
pub fn functions(pair: &Pair) -> TokenStream {
    let (jacobian, hessian, pattern) = (jacobian(pair), hessian(pair), super::pattern::functions(pair));
    quote!(#jacobian #hessian #pattern)
}

/// A variable that owns its value, for a parameter of an entry point that changes nothing.
fn lent((param, passed): &Param, name: &Ident) -> TokenStream {
    match (passed.shape, param.form, param.passing) {
        (Shape::Function, ..) => quote!(#name),
        (Shape::Value, _, Passing::Value) => quote!(::core::clone::Clone::clone(&#name)),
        (Shape::Array(_), form, _) if form != Form::Array => quote!(#name.view()),
        (Shape::Value | Shape::Slice | Shape::Array(_), ..) => quote!(&#name),
    }
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

/// An argument as something that variables are made like.
fn source((param, passed): &Param) -> TokenStream {
    let name = &param.ident;
    match (passed.shape, param.passing) {
        (Shape::Slice, _) => quote!(&#name[..]),
        (Shape::Array(_), _) => quote!(#name.view()),
        (Shape::Value | Shape::Function, Passing::Value) => quote!(&#name),
        (Shape::Value | Shape::Function, _) => quote!(&*#name),
    }
}

/// The arguments as the runtime sees them: number, name, whether it is written, value, or why
/// there is no derivative by it.
pub fn listed(of: &Entry, but: Option<&ParamModel>) -> TokenStream {
    let p = of.p;
    let each = of.params().enumerate().map(|(k, param)| {
        let (k, text, written) = (k as u32, param.0.ident.to_string(), param.0.mode != Mode::Read);
        let name = &param.0.ident;
        let value = match underivable(of, &param, but.is_some_and(|b| b.var == param.0.var)) {
            Some(why) => quote!(__Err(#why)),
            None => quote!(__Ok(&#name as &dyn #p::DynArg)),
        };
        quote!(#p::Argument(#k, #text, #written, #value))
    });
    quote!(&[#(#each),*])
}

/// Variables that a workspace keeps from call to call.
struct Kept<'a> {
    p: &'a TokenStream,
    names: Vec<Ident>,
}

impl Kept<'_> {
    /// A variable like an argument, made by a method of `Source`.
    fn variable(&mut self, of: &Param, name: &Ident, method: &TokenStream) -> TokenStream {
        let (p, kept, source) = (self.p, format_ident!("__kept_{}", self.names.len()), source(of));
        let made = quote!(let mut #name = #p::Source::#method(#source, &mut *#kept)?;);
        self.names.push(kept);
        made
    }

    /// A shadow of an argument.
    fn shadow(&mut self, of: &Param, name: &Ident, n: &TokenStream) -> TokenStream {
        let p = self.p;
        match of.1.shape {
            Shape::Function => quote!(let mut #name = #p::NoShadow::<()>::NEW;),
            Shape::Value | Shape::Slice | Shape::Array(_) => {
                self.variable(of, name, &quote!(shadow_in::<{ #n }>))
            }
        }
    }

    /// Sweeps with the variables, until there is no direction left.
    fn sweeps(&self, begin: &TokenStream, sweep: &TokenStream) -> TokenStream {
        let names = &self.names;
        let none = names.iter().map(|_| quote!(::core::option::Option::None));
        quote! {
            let mut __kept = __sweeps.variables(|| (#(#none,)*));
            let (#(#names,)*) = &mut *__kept;
            #begin
            #sweep
            __sweeps.finish(__kept)
        }
    }
}

/// Variables with their parameters' numbers, as what directions are put into.
fn seeded(p: &TokenStream, variables: &[(u32, Ident)]) -> TokenStream {
    let each = variables.iter().map(|(k, name)| quote!((#k, &mut *#name as &mut dyn #p::DynArg)));
    quote!(&mut [#(#each),*])
}

/// The same as what products are read from.
fn taken(p: &TokenStream, variables: &[(u32, Ident)]) -> TokenStream {
    let each = variables.iter().map(|(k, name)| quote!((#k, &*#name as &dyn #p::DynArg)));
    quote!(&[#(#each),*])
}

/// A parameter's variable with its number.
fn numbered<'a>(
    params: impl Iterator<Item = &'a (u32, Both<'a>)>,
    name: impl Fn(&Both<'a>) -> Ident,
) -> Vec<(u32, Ident)> {
    params.map(|(k, both)| (*k, name(both))).collect()
}

/// Those of the parameters that carry a derivative, with their numbers.
pub fn active<'a>(pair: &Pair<'a>, but: Option<&ParamModel>) -> Vec<(u32, Both<'a>)> {
    let wanted = |(_, (of, _)): &(u32, Both)| {
        underivable(pair.of, of, but.is_some_and(|b| b.var == of.0.var)).is_none()
    };
    (0..).zip(pair.params()).filter(wanted).collect()
}

fn is_written((param, _): &Param) -> bool {
    param.mode != Mode::Read
}

/// The variable of a copy of what a function writes.
fn copy(param: &ParamModel) -> Ident {
    format_ident!("__{}_copy", param.ident)
}

/// Copies of what is written, and the slots of all arguments. What is `zeroed` starts at zero.
fn values(pair: &Pair, kept: &mut Kept, zeroed: Option<&ParamModel>) -> (TokenStream, Vec<Slot>) {
    let (mut copies, mut slots) = (TokenStream::new(), Vec::new());
    for (of, _) in pair.params() {
        let (p, ty, name) = (pair.of.p, &of.1.ty, copy(of.0));
        slots.push(match (is_written(&of), zeroed.is_some_and(|z| z.var == of.0.var)) {
            (_, true) => {
                copies.extend(quote!(let mut #name = <#ty as #p::Zero>::zero();));
                Slot::own(name, of.1.clone())
            }
            (true, false) => {
                copies.extend(kept.variable(&of, &name, &quote!(copy_in)));
                Slot { name, passed: of.1.clone(), reference: true }
            }
            (false, false) => Slot::of(of.0, of.1),
        });
    }
    (copies, slots)
}

/// Each argument, and a shadow in a variable of this name, that is `passed` so.
fn with_shadows(
    pair: &Pair,
    slots: &[Slot],
    name: impl Fn(&Both) -> Ident,
    passed: impl Fn(&Passed) -> Passed,
) -> Vec<Slot> {
    let shadow = |both: &Both| Slot {
        name: name(both),
        passed: passed(both.0 .1),
        reference: both.0 .1.shape.is_by_reference() && both.0 .1.shape != Shape::Function,
    };
    slots.iter().zip(pair.params()).flat_map(|(slot, both)| [slot.clone(), shadow(&both)]).collect()
}

/// The arguments' variables, so that they can be lent.
fn rebound(pair: &Pair, but: Option<&ParamModel>) -> TokenStream {
    let read = |(param, _): &Param| param.mode == Mode::Read && but.is_none_or(|b| b.var != param.var);
    let slots: Vec<Slot> =
        pair.params().map(|(of, _)| of).filter(read).map(|of| Slot::of(of.0, of.1)).collect();
    pair.of.rebound(slots.iter())
}

/// How many directions a sweep has side by side.
fn width(pair: &Pair) -> TokenStream {
    let p = pair.of.p;
    match pair.of.is_parallel {
        true => quote!(#p::SIDES_IN_LANES),
        false => quote!(#p::SIDES),
    }
}

/// The sweeps of a Jacobian in forward mode.
fn columns(pair: &Pair, active: &[(u32, Both)]) -> TokenStream {
    let p = pair.of.p;
    let n = width(pair);
    let dot = |both: &Both| both.1 .0.ident.clone();
    let mut kept = Kept { p, names: Vec::new() };
    let begin: TokenStream = pair.params().map(|both| kept.shadow(&both.0, &dot(&both), &n)).collect();
    let (copies, slots) = values(pair, &mut kept, None);
    let slots = with_shadows(pair, &slots, dot, |passed| passed.tangent(p));
    let run = pair.of.dispatch(Direction::TANGENTS, &slots, Some(&quote!({ #n })));
    let dots = seeded(p, &numbered(active.iter(), dot));
    let found = taken(p, &numbered(active.iter().filter(|(_, (of, _))| is_written(of)), dot));
    let sweep = quote! {
        while __sweeps.seed(#n, #dots)? {
            #copies
            #run;
            __sweeps.take(#found)?;
        }
    };
    kept.sweeps(&begin, &sweep)
}

/// The sweeps of a Jacobian in reverse mode, with `__N` seeds each.
fn rows(pair: &Pair, active: &[(u32, Both)]) -> TokenStream {
    let (p, n) = (pair.of.p, quote!(__N));
    let of_bar = |both: &Both| bar(both.0 .0);
    let mut kept = Kept { p, names: Vec::new() };
    let (copies, values) = values(pair, &mut kept, None);
    let (mut seeds, mut cleared, mut zeros) = (TokenStream::new(), TokenStream::new(), Vec::new());
    for (k, both) in pair.params().enumerate() {
        let shadow = kept.shadow(&both.0, &of_bar(&both), &n);
        match is_written(&both.0) {
            true => seeds.extend(shadow),
            false => {
                cleared.extend(shadow);
                zeros.push(2 * k + 1);
            }
        }
    }
    let slots = with_shadows(pair, &values, of_bar, |passed| passed.shadow(p));
    let accumulates = accumulates(pair.of);
    let forward = pair.of.dispatch(Direction::FORWARD, &values, None);
    let Decided { keep, compare, any } = decided(pair.of, &values);
    let known = Known { forgets: !any, zeros: &zeros };
    let adjoint = pair.of.dispatch_knowing(Direction::ADJOINT, &slots, Some(&n), known);
    let bars = seeded(p, &numbered(active.iter().filter(|(_, (of, _))| is_written(of)), of_bar));
    let found = taken(p, &numbered(active.iter(), of_bar));
    let sweep = quote! {
        while __sweeps.seed(__N, #bars)? {
            #copies
            #keep
            #cleared
            // where nothing reads what is written, the adjoint needs no state to start from
            if !#accumulates {
                #forward;
            }
            #adjoint;
            #compare
            __sweeps.take(#found)?;
        }
    };
    kept.sweeps(&seeds, &sweep)
}

/// The functions that are arguments have tangents that the caller gives first; then the arguments, without `but`.
pub fn inputs(pair: &Pair, but: Option<&ParamModel>) -> Vec<TokenStream> {
    let functions =
        pair.params().filter(|((_, passed), _)| passed.shape == Shape::Function).map(|(_, dot)| dot);
    let arguments =
        pair.params().map(|(of, _)| of).filter(|(param, _)| but.is_none_or(|b| b.var != param.var));
    functions.chain(arguments).map(|(param, passed)| pair.tangent.shared_input(param, passed)).collect()
}

/// The names of these.
fn input_names(pair: &Pair, but: Option<&ParamModel>) -> Vec<TokenStream> {
    let functions =
        pair.params().filter(|((_, passed), _)| passed.shape == Shape::Function).map(|(_, dot)| dot);
    let arguments =
        pair.params().map(|(of, _)| of).filter(|(param, _)| but.is_none_or(|b| b.var != param.var));
    functions.chain(arguments).map(|of| again(&of)).collect()
}

/// What the public functions for one kind of matrix are made of.
struct Kind<'a> {
    /// `jacobian`.
    name: &'static str,
    /// What the functions say of themselves: the matrix, that of chosen arguments, and the sparse one.
    docs: [&'static str; 3],
    but: Option<&'a ParamModel>,
    /// What a choice of arguments is converted into.
    chosen: TokenStream,
}

/// `f::jacobian`, `f::jacobian_wrt`, `f::jacobian_into`, `f::jacobian_sparse`, `f::jacobian_sparse_into`, all by
/// `f::__jacobian`.
fn matrices(pair: &Pair, kind: &Kind) -> TokenStream {
    let (p, vis, device, f) =
        (pair.of.p, &pair.of.model.item.vis, pair.of.device(), &pair.of.model.item.sig.ident);
    let (declared, conditions) = (pair.tangent.signature.declared(), pair.tangent.signature.conditions());
    let (inputs, names) = (inputs(pair, kind.but), input_names(pair, kind.but));
    let given = pair.tangent.signature.given();
    let own = format_ident!("{}", kind.name);
    let [wrt, into, sparse, sparse_into] =
        ["wrt", "into", "sparse", "sparse_into"].map(|end| format_ident!("{own}_{end}"));
    let hidden = format_ident!("__{own}");
    let (chosen, [doc, doc_wrt, doc_sparse]) = (&kind.chosen, kind.docs);
    let into_doc = format!(
        "Fills a matrix that [`{f}::{own}`] or [`{f}::{wrt}`] gave, of the same arguments, in the same mode, at \
         other values. With a workspace of an earlier call nothing is allocated."
    );
    let sparse_into_doc = format!(
        "The values of [`{f}::{sparse}`] alone, in the order of the plan's pattern, into the caller's slice. With a \
         workspace of an earlier call nothing is allocated."
    );
    let head = |name: &Ident, given: TokenStream, result: TokenStream| {
        quote! {
            #[allow(clippy::too_many_arguments)]
            #vis fn #name<#declared>(
                #device: &(impl #p::Device + ?Sized), #given #(#inputs),*
            ) -> ::core::result::Result<#result, #p::Error> #conditions
        }
    };
    let matrix = quote!(#p::DerivativeMatrix);
    let all = head(&own, TokenStream::new(), matrix.clone());
    let of_chosen = head(&wrt, quote!(__wrt: impl ::core::convert::Into<#chosen>,), matrix);
    let into = head(
        &into,
        quote!(__matrix: &mut #p::DerivativeMatrix, __workspace: &mut #p::Workspace,),
        quote!(()),
    );
    let plan = quote!(__plan: impl #p::PlanOf<#f>,);
    let sparse = head(&sparse, plan.clone(), quote!(#p::sparse::SparseMatrix));
    let sparse_into =
        head(&sparse_into, quote!(#plan __values: &mut [f64], __workspace: &mut #p::Workspace,), quote!(()));
    quote! {
        #[doc = #doc]
        #all {
            Self::#wrt::<#given>(#device, #p::Wrt::<#f>::ALL, #(#names),*)
        }

        #[doc = #doc_wrt]
        #of_chosen {
            let mut __matrix = #p::DerivativeMatrix::of(::core::convert::Into::<#chosen>::into(__wrt));
            let mut __workspace = #p::Workspace::new();
            let mut __sweeps = #p::Sweeps::of_new(&mut __matrix, &mut __workspace);
            Self::#hidden::<#given>(#device, &mut __sweeps, #(#names),*)?;
            __Ok(__matrix)
        }

        #[doc = #into_doc]
        #into {
            Self::#hidden::<#given>(#device, &mut #p::Sweeps::of_same(__matrix, __workspace), #(#names),*)
        }

        #[doc = #doc_sparse]
        #sparse {
            #p::sparse_matrix(&__plan, |__sweeps| {
                Self::#hidden::<#given>(#device, __sweeps, #(#names),*)
            })
        }

        #[doc = #sparse_into_doc]
        #sparse_into {
            Self::#hidden::<#given>(#device, &mut #p::Sweeps::of_plan(&__plan, __values, __workspace), #(#names),*)
        }
    }
}

/// `fn name<..>(device, sweeps, arguments..)`: a hidden function, with the inputs of the others.
fn hidden(
    pair: &Pair,
    name: &str,
    width: Option<&TokenStream>,
    but: Option<&ParamModel>,
    body: &TokenStream,
) -> TokenStream {
    let (p, device, name) = (pair.of.p, pair.of.device(), format_ident!("{name}"));
    let (declared, conditions) = (pair.tangent.signature.declared(), pair.tangent.signature.conditions());
    let inputs = inputs(pair, but);
    quote! {
        #[allow(clippy::too_many_arguments)]
        fn #name<#declared #width>(
            #device: &(impl #p::Device + ?Sized), __sweeps: &mut #p::Sweeps<'_>, #(#inputs),*
        ) -> ::core::result::Result<(), #p::Error> #conditions {
            #body
        }
    }
}

/// The Jacobian's functions.
fn jacobian(pair: &Pair) -> TokenStream {
    let active = active(pair, None);
    if !active.iter().any(|(_, (of, _))| is_written(of)) {
        return TokenStream::new();
    }
    let (p, f, device) = (pair.of.p, &pair.of.model.item.sig.ident, pair.of.device());
    let (rebound, listed) = (rebound(pair, None), listed(pair.of, None));
    let (columns, rows, side_by_side) = (columns(pair, &active), rows(pair, &active), width(pair));
    let (names, given) = (input_names(pair, None), pair.tangent.signature.given());
    let matrices = matrices(pair, &Kind {
        name: "jacobian",
        docs: [
            "The Jacobian: the derivatives of everything that the function writes by all arguments that carry a \
             derivative (what is written by what it held before among them), which stay as they are. By columns, in \
             forward mode, or by rows, in reverse mode, where there are fewer of these; eight in one sweep, four where the function has parallel \
             loops.",
            "The same by chosen arguments: only their columns are computed. `f::X.forward()` and `f::X.reverse()` say in \
             which mode.",
            "The same for a Jacobian whose nonzeros are known: a product for each group of a plan, which is prepared \
             once. Rows and columns are those of `jacobian`; with `(&plan, f::X)` of `jacobian_wrt`.",
        ],
        but: None,
        chosen: quote!(#p::Columns<#f>),
    });
    let body = quote! {
        __sweeps.begin_jacobian(#listed)?;
        if __sweeps.are_reverse() {
            return match __sweeps.are_few() {
                true => Self::__jacobian_rows::<#given 1>(#device, __sweeps, #(#names),*),
                false => Self::__jacobian_rows::<#given { #side_by_side }>(#device, __sweeps, #(#names),*),
            };
        }
        #rebound
        #columns
    };
    let all = hidden(pair, "__jacobian", None, None, &body);
    let width = quote!(const __N: usize);
    let rows = hidden(pair, "__jacobian_rows", Some(&width), None, &quote!(#rebound #rows));
    quote!(#matrices #all #rows)
}

/// The Hessian's functions.
fn hessian(pair: &Pair) -> TokenStream {
    let Some(loss) = pair.of.model.loss.and_then(|k| pair.params().nth(k)) else { return TokenStream::new() };
    let loss = loss.0 .0;
    let active = active(pair, Some(loss));
    let (p, f) = (pair.of.p, &pair.of.model.item.sig.ident);
    let listed = listed(pair.of, Some(loss));
    let matrices = matrices(pair, &Kind {
        name: "hessian",
        docs: [
            "The Hessian of the loss, which starts at zero, by all other arguments that carry a derivative: products \
             with unit directions, of which the symmetric part is taken.",
            "The same by chosen arguments: rows and columns are theirs, and only these columns are computed.",
            "The same for a Hessian whose nonzeros are known: a product for each group of a plan, which is prepared \
             once. Rows and columns are those of `hessian`; with `(&plan, f::X)` of `hessian_wrt`.",
        ],
        but: Some(loss),
        chosen: quote!(#p::Wrt<#f>),
    });
    let products = products(pair, &active, loss);
    let body = quote! {
        __sweeps.begin_hessian(#listed)?;
        #products
    };
    let all = hidden(pair, "__hessian", None, Some(loss), &body);
    quote!(#matrices #all)
}

/// The sweeps of a Hessian: products with directions side by side.
fn products(pair: &Pair, active: &[(u32, Both)], loss: &ParamModel) -> TokenStream {
    let p = pair.of.p;
    let n = width(pair);
    let dot = |both: &Both| both.1 .0.ident.clone();
    let mut kept = Kept { p, names: Vec::new() };
    let (mut begin, mut cleared) = (TokenStream::new(), TokenStream::new());
    let (copies, values) = values(pair, &mut kept, Some(loss));
    for both in pair.params() {
        let (of, is_loss) = (&both.0, both.0 .0.var == loss.var);
        let (bar, bar_dot, dot, own) = (bar(of.0), bar_dot(of.0), dot(&both), copy(of.0));
        if is_loss {
            // shadows of the loss are like its own variable
            cleared.extend(quote! {
                let mut #dot = &mut #p::Primal::zero_shadow::<{ #n }>(&#own);
                let mut #bar = &mut #p::Primal::zero_like(&#own);
                let mut #bar_dot = &mut #p::Primal::zero_shadow::<{ #n }>(&#own);
            });
            continue;
        }
        begin.extend(kept.shadow(of, &dot, &n));
        cleared.extend(match of.1.shape {
            Shape::Function => {
                let value = &of.0.ident;
                quote!(let #bar = #value;)
            }
            Shape::Value | Shape::Slice | Shape::Array(_) => kept.variable(of, &bar, &quote!(zeros_in)),
        });
        cleared.extend(kept.shadow(of, &bar_dot, &n));
    }
    let sides = with_shadows(pair, &values, dot, |passed| passed.tangent(p));
    let (seed, sweep) = (bar(loss), of_adjoint(pair, &sides, true, &quote!({ #n })));
    let dots = seeded(p, &numbered(active.iter(), dot));
    let found = taken(p, &numbered(active.iter(), |both| bar_dot(both.0 .0)));
    let sweeps = quote! {
        while __sweeps.seed(#n, #dots)? {
            #copies
            #cleared
            #p::seed(&mut *#seed, 0);
            #sweep
            __sweeps.take(#found)?;
        }
    };
    let (rebound, sweeps) = (rebound(pair, Some(loss)), kept.sweeps(&begin, &sweeps));
    quote!(#rebound #sweeps)
}

/// What `jvp` and `hvp` are given for the tangents, and the arguments.
pub fn arguments(pair: &Pair, but: Option<&ParamModel>) -> Vec<TokenStream> {
    let wanted = |(param, _): &Param| but.is_none_or(|b| b.var != param.var);
    let params: Vec<_> = pair.params().filter(|(of, _)| wanted(of)).collect();
    let dots = params.iter().filter(|(of, _)| pair.is_given(of)).map(|(_, dot)| lent(dot, &dot.0.ident));
    dots.chain(params.iter().map(|(of, _)| again(of))).collect()
}
