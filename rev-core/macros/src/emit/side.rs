//! The programs that take tangents side by side, with shadows that hold tangents. They are programs of
//! the function's tangent, so that a callee without one is one error at the call.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::check::Checked;
use rev_compiler::facts::calls;
use rev_compiler::plan::{sides, Sides};

use super::api::aliases;
use super::body::Scope;
use super::by_value::ByValue;
use super::call::callee_tangent;
use super::signature::Signature;
use super::{lanes, program};

/// The programs, for one iteration and for lanes, of a function and of its inverse.
pub fn programs(scope: &Scope, signature: &Signature, function: &Checked) -> TokenStream {
    let p = scope.p;
    let Sides { of_function, of_adjoint, whole, laned } = sides(function);
    let is_whole = is_whole(scope, function, whole);
    let error = quote!(#p::fail::no_tangents_of_adjoint(self.__name()));
    let of_adjoint = of_adjoint.into_iter().flatten().map(|mut plan| {
        if !whole {
            plan.variants = None;
        }
        plan
    });
    let of_adjoint: Vec<_> = of_adjoint.collect();
    let one = of_adjoint.iter().map(|plan| match whole {
        true => program::program(scope, signature, plan, &ByValue::default()),
        false => program::missing(scope, signature, plan, &error),
    });
    let own = of_function.iter().map(|plan| program::program(scope, signature, plan, &ByValue::default()));
    let all = of_function.iter().chain(&of_adjoint).filter(|_| laned);
    let in_lanes = all.map(|plan| lanes::program(scope, signature, plan));
    quote!(#(#own)* #(#one)* #(#in_lanes)* #is_whole)
}

/// `__is_whole(depth)`: whether all adjoints that calls lead to have tangents.
fn is_whole(scope: &Scope, function: &Checked, own: bool) -> TokenStream {
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
