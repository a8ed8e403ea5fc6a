//! From checked IR to Rust: the programs of a function, and the functions through which they are
//! called.
//!
//! `#[reversible] fn f` becomes a function `f` and a struct `f {}` of the same name (functions and
//! structs with braces live in different namespaces), whose associated functions are everything
//! that can be done with `f`: `f::inverse`, `f::gradient`, …. The programs themselves are hidden
//! associated functions (`__forward`, `__inverse`, `__adjoint`, `__adjoint_inverse`) with one way
//! of passing arguments for each kind of type, so that a call needs to know nothing about its
//! callee but its path:
//!
//! * a value (scalar, tuple, fixed-size array, struct, stack) goes as `&T` or `&mut T`;
//! * an array goes as a handle ([`rev_cpu::view`]), which can be copied;
//! * a reversible function goes as a value;
//! * in an adjoint every argument is followed by its shadow, exclusively: `&mut T::Shadow<N>`, or a
//!   handle to elements of that type.
//!
//! Every program is generic over `__C: Mode`, whose constant says whether an adjoint restores the state besides its
//! shadows, and adjoints over the number `__N` of cotangents that are carried side by side. Whether reversibility is
//! checked is asked at run time: the same statements serve with checks and without (`rev_compiler::pass::Forms`).

mod angle;
mod api;
mod arms;
mod body;
mod by_value;
mod call;
mod callee;
mod contraction;
mod derived;
mod expr;
mod lanes;
mod loops;
mod names;
mod pair;
mod parallel;
mod program;
mod pure;
mod recursion;
mod side;
mod signature;
mod sites;
mod stmt;
mod types;
mod weight;

use std::cell::RefCell;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use rev_compiler::check::Checked;
use rev_compiler::ir::{Direction, Module, Stmt};
use rev_compiler::plan::{plan, Plan, Program, Standing};

use crate::methods::beside;
use crate::model::Model;
use crate::spans::each_ident;
use api::{Api, Entry, Fusion};
use body::Scope;
use by_value::ByValue;
pub use callee::{found_through, Kind as Callee};
pub use pure::pure;
use signature::Signature;
use sites::{Quotes, Sites};
pub use types::rust_type;

/// The items that a `#[reversible]` function becomes. `program` is the model's function, checked.
pub fn reversible(model: &Model, program: &Checked) -> TokenStream {
    with_derived(model, program, &TokenStream::new(), &RefCell::default())
}

/// The same with associated functions that another function needs, and the sites of which these tell.
fn with_derived(model: &Model, program: &Checked, more: &TokenStream, sites: &RefCell<Sites>) -> TokenStream {
    // the runtime's module, and its short name beside the programs
    let (outside, p) = (&crate::runtime::path(), &quote!(__rt));
    let quotes = Quotes::of(&model.item);
    let scope = Scope { p, source: &model.source, quotes: &quotes, sites, sided: false };
    let signature = Signature::of(p, model);
    let plan = plan(program, standing(model));
    let name = &model.item.sig.ident;
    let [forward, inverse, _] = &plan.programs;
    let by_value = ByValue::of(&scope, &signature, name, forward, inverse);
    let each = plan.programs.iter().map(|x| program::program(&scope, &signature, x, &by_value));
    let laned = plan.programs.iter().filter(|_| plan.laned).map(|x| lanes::program(&scope, &signature, x));
    let programs: TokenStream = each.chain(laned).collect();
    let inverse_adjoint = match &plan.inverse_adjoint {
        Some(emitted) => {
            let in_lanes = plan.laned.then(|| lanes::program(&scope, &signature, emitted));
            let one = program::program(&scope, &signature, emitted, &by_value);
            quote!(#one #in_lanes)
        }
        None => without_inverse_adjoint(&scope, &signature, &plan, name),
    };
    let fused = plan.fused.as_ref().map(|x| program::fused(&scope, &signature, x));
    let by_value = &by_value.functions;
    let vis = &model.item.vis;
    let is_parallel = program.body.iter().any(Stmt::has_parallel_loop);
    let entry = Entry { p, model, signature: &signature, fused: Fusion::of(&plan), is_parallel };
    let Api { items, functions } = api::entry_points(&entry);
    let derived = derived_functions(&scope, &entry, program, plan.inverse_adjoint.is_some());
    let entry = Entry { p: outside, signature: &Signature::of(outside, model), ..entry };
    let run = match &model.method {
        None if model.origin.called_only => TokenStream::new(),
        None => api::plain_function(&entry),
        Some(method) => beside(outside, Callee::Reversible, method, name, &api::method(&entry, method)),
    };
    let collected = api::collected(p, &module_of(program), &program.generics, &model.source);
    let accumulates = program::accumulates(&scope, program);
    let recurses = recursion::recurses(&scope, program);
    let constant = program::constant(program);
    let writes = program::writes(program);
    let calls_fit = program::calls_fit(&scope, program, model.origin.order == 0);
    let tangent = (model.tangents > 0).then(|| derived::name(name, derived::Kind::Tangent));
    let passed_on = program::reversible_impl(
        name,
        program,
        &signature,
        (tangent.as_ref(), plan.inverse_adjoint.is_some()),
        p,
    );
    let names = names::in_programs(outside);
    let imports = callee::imports(outside, &model.source);
    let about = match &model.method {
        None => format!("What can be done with the reversible function [`{name}`]({name}())."),
        Some(method) => {
            let (of, name) = (crate::types::path_name(&method.of.path), &method.name);
            format!("What can be done with the reversible function `{of}::{name}`.")
        }
    };
    let (lints, sites) = (lints(), sites.borrow().table(p));
    let Derived { functions: derived, implementations, api } = derived;
    let Api { items: more_items, functions: more_functions } = api;
    let [functions, more_functions] = [functions, more_functions].map(|f| declared_at(f, name.span()));
    quote! {
        #run

        #derived

        #[doc = #about]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #vis struct #name {}

        #items
        #more_items

        #lints
        const _: () = {
            use #outside as #p;
            #names
            #imports
            #sites
            impl #name {
                #programs
                #inverse_adjoint
                #fused
                #by_value
                #accumulates
                #recurses
                #constant
                #writes
                #functions
                #more_functions
                #more
                #collected
            }
            #implementations
            #calls_fit
            #passed_on
            #[diagnostic::do_not_recommend]
            impl #p::IsReversible for #name {
                type Programs = Self;
                const PROGRAMS: Self = Self {};
            }
        };
    }
}

/// Functions whose names stand at a position, so that an editor that is asked where `f::gradient` is declared goes to `f`.
fn declared_at(functions: TokenStream, at: Span) -> TokenStream {
    let mut declares = false;
    each_ident(functions, &mut |mut ident| {
        if declares {
            ident.set_span(at.resolved_at(ident.span()));
        }
        declares = ident == "fn";
        ident
    })
}

/// What a function has with derived functions.
struct Derived {
    /// The items that these are.
    functions: TokenStream,
    /// That the function has them.
    implementations: TokenStream,
    /// What the function offers by its tangent.
    api: Api,
}

/// What `#[reversible(tangent)]` and `#[reversible(adjoint)]` add.
fn derived_functions(scope: &Scope, entry: &Entry, program: &Checked, inverse_adjoint: bool) -> Derived {
    let (outside, p) = (&crate::runtime::path(), scope.p);
    let api = Api::default();
    let mut made = Derived { functions: TokenStream::new(), implementations: TokenStream::new(), api };
    let tangent = (entry.model.tangents > 0).then_some(derived::Kind::Tangent);
    let taylor = entry.model.taylor.map(derived::Kind::Taylor);
    let adjoints = [derived::Kind::Adjoint, derived::Kind::Gradient];
    let adjoints = adjoints.into_iter().filter(|_| entry.model.adjoints > 0);
    for kind in tangent.into_iter().chain(taylor).chain(adjoints) {
        let Some((model, function)) = derived::derived(outside, entry.model, program, kind) else { continue };
        let model = Model { inverse_adjoint, ..model };
        // a loss of nothing: no argument is left that says of what type it is
        if kind == derived::Kind::Gradient && !Signature::of(p, &model).is_determined() {
            continue;
        }
        let (mut more, sites) = (TokenStream::new(), RefCell::default());
        if matches!(kind, derived::Kind::Tangent | derived::Kind::Taylor(_)) {
            let signature = Signature::of(p, &model);
            let tangent = Entry { signature: &signature, model: &model, fused: Fusion::default(), ..*entry };
            if !entry.model.origin.called_only {
                let (api, functions) = offered(&api::Pair { of: entry, tangent: &tangent, kind });
                made.api.extend(api);
                more = functions;
            }
            if kind == derived::Kind::Tangent {
                let scope = Scope { source: &model.source, sites: &sites, ..*scope };
                more.extend(side::programs(&scope, entry.signature, program, entry.model));
            }
        }
        made.implementations.extend(derived::implementation(p, entry.model, &model, kind));
        made.functions.extend(with_derived(&model, &function, &more, &sites));
    }
    made
}

/// What a function offers by its tangent or its Taylor coefficients, and what these do for that.
fn offered(pair: &api::Pair) -> (Api, TokenStream) {
    match pair.kind {
        derived::Kind::Taylor(order) => api::of_taylor(pair, order),
        derived::Kind::Tangent | derived::Kind::Adjoint | derived::Kind::Gradient => api::of_tangent(pair),
    }
}

/// What stands for the adjoint of the inverse where that isn't asked for: who calls it, by a derivative that is compiled, learns
/// what to write.
fn without_inverse_adjoint(scope: &Scope, signature: &Signature, plan: &Plan, name: &Ident) -> TokenStream {
    let [_, _, adjoint] = &plan.programs;
    let direction = Direction::INVERSE_ADJOINT;
    let message = format!(
        "a derivative goes through the inverse of `{name}`: write `#[reversible(inverse_adjoint)]` at `{name}`"
    );
    // about a type parameter, so that it is asked where the program is compiled for types, and not before
    let statements = quote! {
        const { ::core::assert!(::core::mem::size_of::<__C>() == usize::MAX, #message) };
        ::core::unreachable!()
    };
    let absent = Program { direction, function: adjoint.function.clone(), variants: None, laned: false };
    let in_lanes = plan.laned.then(|| lanes::declared(scope, signature, &absent, &statements));
    let one = program::declared(scope, signature, &absent.function, direction, &statements);
    quote!(#one #in_lanes)
}

/// What a function is to its callers.
fn standing(model: &Model) -> Standing {
    Standing {
        order: model.origin.order,
        entered: api::has_all(model),
        inverse_adjoint: model.inverse_adjoint,
    }
}

/// A module with nothing but a function.
fn module_of(function: &Checked) -> Module {
    let name = function.name.clone();
    let functions = [(name.clone(), function.clone().into_inner())].into_iter().collect();
    Module { entry: name, functions, ..Module::default() }
}

/// Emitted code isn't written by hand, and the lints for code that is don't apply to it.
fn lints() -> TokenStream {
    quote! {
        #[allow(
            clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction,
            dead_code, non_local_definitions, non_snake_case, unreachable_code, unused, unused_braces, unused_parens
        )]
    }
}
