//! A whole module about a tangent.

use crate::ir::{Derived, Module};
use crate::pass::Undirected;

impl Module {
    /// The module about the entry's tangent, with the tangents of all functions that can be called.
    ///
    /// # Errors
    ///
    /// A function that can't be uncomputed, or that passes what carries a derivative for a parameter that
    /// another declares constant.
    pub fn tangent(&self) -> Result<Module, Undirected> {
        self.taylor(1)
    }

    /// The same about the Taylor coefficients up to an order, 1 to [`HIGHEST_ORDER`](crate::pass::HIGHEST_ORDER):
    /// each argument `p` is followed by `p_1`, `p_2`, …, with `p(t) = p + p_1 t + p_2 t² + …`, so the derivative of order `k` is `k! p_k`.
    ///
    /// # Errors
    ///
    /// As [`Module::tangent`].
    pub fn taylor(&self, order: usize) -> Result<Module, Undirected> {
        let derived = Derived::of_order(order);
        self.with_derived(
            |function| crate::pass::taylor(function, order),
            (derived, |name: &str| derived.of(name)),
        )
    }
}
