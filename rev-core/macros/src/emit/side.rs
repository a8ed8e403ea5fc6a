//! The programs that take tangents side by side, with shadows that hold tangents. They are programs of
//! the function's tangent, so that a callee without one is one error at the call.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::check::Checked;
use rev_compiler::pass;
use rev_compiler::plan::{sides, Sides};

use super::body::Scope;
use super::by_value::ByValue;
use super::signature::Signature;
use super::{lanes, program, standing};
use crate::model::Model;

/// The programs, for one iteration and for lanes, of a function and of its inverse.
pub fn programs(scope: &Scope, signature: &Signature, function: &Checked, model: &Model) -> TokenStream {
    let called = model
        .origin
        .adjoint_of
        .as_ref()
        .and_then(|of| pass::pullback_called(function, &of.to_string().into()));
    let Sides { of_function, of_adjoint, laned } = sides(function, called.as_ref(), standing(model));
    let all = || of_function.iter().chain(&of_adjoint);
    let one = all().map(|plan| program::program(scope, signature, plan, &ByValue::default()));
    let in_lanes = all().filter(|_| laned).map(|plan| lanes::program(scope, signature, plan));
    quote!(#(#one)* #(#in_lanes)*)
}
