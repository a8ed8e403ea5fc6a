//! The passes: small functions from programs to programs.
//!
//! The public ones take and give [`Checked`] functions, and need not be able to fail.

mod adjoint;
mod direction;
mod erase;
mod expand;
mod fuse;
mod inverse;
mod partials;
mod pullback;
mod rename;
mod rows;
mod share;
mod tangent;
mod transpose;
mod uncompute;
mod values;

use crate::check::Checked;
use crate::ir::{Function, Module};
use crate::validate;

use adjoint::adjoint_function;
pub use adjoint::Adjoint;
pub use direction::{directed, Undirected};
pub use erase::{claims, erase, erase_program, erase_unproven, Erased, Forms, Restores, Wanted};
pub use expand::{expand, has_contraction, Expansion};
pub use fuse::{fuse, fuse_proven, Fused};
pub use inverse::inverse_block;
use inverse::inverse_function;
pub(crate) use partials::row_type;
pub use partials::{partials, NotDifferentiable};
pub use pullback::{
    carries_derivative, gradient_function, pullback, pullback_called, pullback_to_run, tangent_of_pullback,
};
pub use rename::{distinct_names, fresh_locals, fresh_names};
use tangent::taylor_function;
pub use tangent::HIGHEST_ORDER;
pub use uncompute::{deciding_arguments, uncompute};

/// The inverse of a function.
pub fn inverse(function: &Checked) -> Checked {
    function.grown(|| Checked::made(verified_inverse(function), "the inverse"))
}

/// The adjoint of a function: each parameter `p` is followed by its shadow `p_bar`; it takes the
/// state after the function and that state's cotangents to the state before and its cotangents.
pub fn adjoint(function: &Checked, form: Adjoint) -> Checked {
    function.grown(|| Checked::made(verified_adjoint(function, form), "the adjoint"))
}

/// The tangent of a function: each parameter `p` is followed by its tangent `p_dot`; it takes the state and a
/// direction to the state after the function and the derivative of it along that direction.
pub fn tangent(function: &Checked) -> Checked {
    taylor(function, 1)
}

/// What takes Taylor coefficients up to an order, from 1 to [`HIGHEST_ORDER`], to those of the function's image: each
/// parameter `p` is followed by its coefficients `p_1`, `p_2`, …; of order 1 the tangent.
pub fn taylor(function: &Checked, order: usize) -> Checked {
    function.grown(|| Checked::made(taylor_function(function, order), "the tangent"))
}

/// The tangents of a function, several of them side by side: each parameter `p` is followed by its shadow `p_dot`; it takes
/// the state before the function and its tangents to the state after it and its tangents. It can be run, and nothing else.
pub fn tangents(function: &Checked) -> Checked {
    function.grown(|| {
        let adjoint = verified_adjoint(function, Adjoint::TO_TRANSPOSE);
        Checked::made(transpose::transposed(&adjoint), "the tangents")
    })
}

/// The inverse; where passes are verified, with what it isn't that an inverse is.
fn verified_inverse(function: &Function) -> Function {
    let mut inverse = inverse_function(function);
    if validate::is_on() {
        let found = validate::inverse_of(function, &inverse);
        validate::note(&mut inverse, found, "the inverse");
    }
    inverse
}

/// The adjoint, likewise.
fn verified_adjoint(function: &Function, form: Adjoint) -> Function {
    let mut adjoint = adjoint_function(function, form);
    if validate::is_on() {
        let found = validate::adjoint_of(function, &adjoint);
        validate::note(&mut adjoint, found, "the adjoint");
    }
    adjoint
}

impl Module {
    /// The module about the entry's inverse.
    pub fn inverse(&self) -> Module {
        self.derived(verified_inverse)
    }

    /// The module about the entry's adjoint, in the form that can be inverted and differentiated again.
    pub fn adjoint(&self) -> Module {
        self.derived(|f| verified_adjoint(f, Adjoint::REVERSIBLE))
    }

    fn derived(&self, pass: impl Fn(&Function) -> Function) -> Module {
        let mut module = self.clone();
        if let Some(function) = self.entry().map(|f| f.grown(|| pass(f))) {
            let function = validate::verified(function, validate::Form::Reversible, "a derived program");
            let links = self.links.get(&self.entry).cloned().unwrap_or_default();
            module.entry = function.name.clone();
            module.links.insert(function.name.clone(), links);
            module.functions.insert(function.name.clone(), function);
        }
        module
    }
}
