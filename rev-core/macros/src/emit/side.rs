//! Programs that take tangents side by side: of a function, and of its adjoint on numbers.
//!
//! Both are transposes of adjoints ([`rev_compiler::pass::tangents`]), with shadows that hold tangents. They are programs of
//! the function's tangent, so that a callee without one is one error at the call.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::check::Checked;
use rev_compiler::facts::calls;
use rev_compiler::ir::{is_function_name, Direction, Expr, ExprKind, Stmt};
use rev_compiler::pass::{inverse, pullback_to_run, tangents};

use super::api::aliases;
use super::body::Scope;
use super::by_value::ByValue;
use super::call::{callee_tangent, TANGENTS_OF_ADJOINT};
use super::derived::computes_with_parts;
use super::signature::{Shape, Signature};
use super::{lanes, program};

/// The programs, for one iteration and for lanes, of a function and of its inverse.
pub fn programs(scope: &Scope, signature: &Signature, function: &Checked) -> TokenStream {
    let backward = inverse(function);
    let both = [(function, Direction::FORWARD), (&backward, Direction::INVERSE)];
    let each = both.map(|(function, Direction { inverse, .. })| {
        let direction = Direction { inverse, ..Direction::TANGENTS };
        let of_function = emitted(scope, signature, &tangents(function), direction);
        let of_adjoint = of_adjoint(scope, signature, function, inverse);
        quote!(#of_function #of_adjoint)
    });
    let is_whole = is_whole(scope, signature, function);
    quote!(#(#each)* #is_whole)
}

fn emitted(scope: &Scope, signature: &Signature, function: &Checked, direction: Direction) -> TokenStream {
    let (one, in_lanes) = match direction.inverse {
        true => (
            program::seldom_called(scope, signature, function, direction),
            lanes::seldom_called(scope, signature, function, direction),
        ),
        false => (
            program::program(scope, signature, function, direction, &ByValue::default()),
            lanes::program(scope, signature, function, direction),
        ),
    };
    quote!(#one #in_lanes)
}

/// The tangents of the adjoint; where it has none, an error for whoever calls it.
fn of_adjoint(scope: &Scope, signature: &Signature, function: &Checked, inverse: bool) -> TokenStream {
    if signature.params.iter().any(|x| x.shape == Shape::Function) {
        return TokenStream::new();
    }
    let (p, direction) = (scope.p, Direction { inverse, ..TANGENTS_OF_ADJOINT });
    let of = pullback_to_run(function);
    let tangents = tangents(&of);
    if has_tangents_of_adjoint(signature, function, &of) {
        return emitted(scope, signature, &tangents, direction);
    }
    let error = quote!(#p::fail::no_tangents_of_adjoint(self.__name()));
    let one = program::missing(scope, signature, &tangents, direction, &error);
    let in_lanes = lanes::seldom_called(scope, signature, &tangents, direction);
    quote!(#one #in_lanes)
}

/// Whether the adjoint on numbers of a function can be emitted.
fn has_tangents_of_adjoint(signature: &Signature, function: &Checked, adjoint: &Checked) -> bool {
    let takes = signature.params.iter().any(|x| x.shape == Shape::Function);
    !takes && !function.body.iter().any(names_functions) && !computes_with_parts(adjoint)
}

fn names_functions(stmt: &Stmt) -> bool {
    fn names(e: &Expr) -> bool {
        let mut found = matches!(&e.kind, ExprKind::Named(path) if is_function_name(path));
        e.each_child(&mut |e| found |= names(e));
        found
    }
    let mut found = stmt.blocks().into_iter().flatten().any(names_functions);
    stmt.each_expr(&mut |e| found |= names(e));
    found
}

/// `__is_whole(depth)`: whether all adjoints that calls lead to have tangents.
fn is_whole(scope: &Scope, signature: &Signature, function: &Checked) -> TokenStream {
    let own = has_tangents_of_adjoint(signature, function, &pullback_to_run(function));
    let calls = calls(function);
    let inside = calls.paths.iter().map(|path| {
        let path = callee_tangent(scope, path);
        quote!(&& #path.__is_whole(__depth - 1))
    });
    let aliases = aliases(&function.generics);
    quote! {
        #[doc(hidden)]
        pub const fn __is_whole(self, __depth: u32) -> bool {
            #aliases
            #own && (__depth == 0 || true #(#inside)*)
        }
    }
}
