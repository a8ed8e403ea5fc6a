//! The tangent of a program: the map (x, ẋ) → (y, ẏ), which computes beside each value its derivative along a
//! direction (forward mode); and, of an order `K`, what takes the Taylor coefficients of a curve to those of its image:
//! of `x(t) = x + x_1 t + … + x_K t^K` to `y, y_1, …, y_K`, in which `k! y_k` is the derivative of order `k`. The tangent is
//! that of order 1.
//!
//! Every statement is followed, in the same order, by what it does to the coefficients, so the result is a
//! reversible program like the one it is made of: its inverse is that of the inverse, it has an adjoint, and a
//! tangent again. The rules stand in the table at the head of [`crate::ir`]; expressions are handled by `expr`. Coefficients are
//! divided by the factorials so that products of arrays have no factors of their own, and that the adjoint is its own
//! (below).
//!
//! # Parameters
//!
//! Each parameter `p` is followed by its tangent `p_dot`, of the same type and mode; of a higher order by `p_1`, `p_2`, ….
//! That of an integer, or of what else carries no derivative, is there as well, so that a call needs to know no types, and
//! means nothing; a reversible function is followed once by the function's tangent.
//!
//! # Calls
//!
//! A call names the tangent of its callee behind the path ([`Derived::Tangent`]): in the module it is a function like
//! others. A call of an adjoint becomes one of the adjoint of the callee's tangent: the tangent of an adjoint is
//! that program too, with the arguments in another order, since the cotangent of a tangent is the cotangent of the
//! value, and the cotangent of the value then is the tangent of the cotangent. Of order `K` the cotangent of the coefficient `k`
//! is the coefficient `K - k` of the cotangent: both are sums of transposed derivatives times coefficients whose
//! orders have the same sum.

mod expr;
mod module;
mod names;
mod statement;

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{
    Derived, Expr, ExprKind, Function, FunctionPath, Generic, GenericKind, Number, Place, Span, Type, Var,
    VarId, VarKind,
};
use crate::pass::adjoint::{each_element_used, ElementsUsed};
use crate::pass::values::{Known, Naming};
use names::Names;

/// The highest order of Taylor coefficients.
pub const HIGHEST_ORDER: usize = 6;

/// The function of Taylor coefficients up to an order of a function that has been through the uncompute pass.
pub(super) fn taylor_function(function: &Function, order: usize) -> Function {
    let mut builder = Builder {
        order,
        out: Function { body: Vec::new(), ..function.clone() },
        dots: BTreeMap::new(),
        active: crate::facts::active_vars(function),
        elements: each_element_used(&function.body),
        spares: BTreeMap::new(),
        names: Names::default(),
    };
    let params = function.params.iter().flat_map(|&p| [vec![p], builder.param_dots(p)].concat()).collect();
    let body = builder.block(&function.body);
    let body = builder.with_spares(body);
    Function { name: Derived::of_order(order).of(&function.name), params, body, ..builder.out }
}

/// The tangent while it is being made.
struct Builder {
    /// The order of the highest coefficient.
    order: usize,
    /// The function made: its variables are the source's with the same ids, then the new ones.
    out: Function,
    /// The coefficients of each source variable that has them in scope, from order 1.
    dots: BTreeMap<VarId, Vec<VarId>>,
    /// Source variables that carry a derivative.
    active: BTreeSet<VarId>,
    elements: BTreeMap<VarId, ElementsUsed>,
    /// Zeros in the shape of arrays that carry no derivative, for calls: one for all of them, as they may be made
    /// in a loop.
    spares: BTreeMap<VarId, VarId>,
    /// Names for coefficients in the expression that is being differentiated.
    names: Names,
}

impl Naming for Builder {
    fn known(&mut self) -> Known<'_> {
        Known { out: &mut self.out, active: &mut self.active, elements: &mut self.elements }
    }
}

impl Builder {
    /// The orders of coefficients.
    fn orders(&self) -> std::ops::RangeInclusive<usize> {
        1..=self.order
    }

    fn param_dots(&mut self, p: VarId) -> Vec<VarId> {
        let Var { kind, ty, .. } = self.out.var(p).clone();
        let Type::Function(name) = ty else {
            let dots = self.new_dots(p, kind, self.order);
            if self.out.constants.contains(&p) {
                self.out.constants.extend(dots.iter().copied());
            }
            return dots;
        };
        let dots = self.new_dots(p, kind, 1);
        let ty = self.function_dot(&name);
        dots.iter().for_each(|dot| self.out.vars[dot.0 as usize].ty = ty.clone());
        dots
    }

    /// The type of the tangent of a function that is an argument: each of its arguments is followed by a tangent.
    fn function_dot(&mut self, name: &FunctionPath) -> Type {
        let own = self.out.new_generic(format!("{name}_dot"));
        let of = self.out.generics.iter().find(|g| g.name == name.as_str()).map(|g| g.kind.clone());
        if let Some(GenericKind::Function(params)) = of {
            let all = params.into_iter().flat_map(|p| vec![p; self.order + 1]).collect();
            self.out.generics.push(Generic { name: own.clone(), kind: GenericKind::Function(all) });
        }
        Type::Function(own.into())
    }

    /// Variables for coefficients up to an order: a function has one for all of them.
    fn new_dots(&mut self, of: VarId, kind: VarKind, order: usize) -> Vec<VarId> {
        let var = self.out.var(of).clone();
        let add = |k: usize| {
            let name =
                if self.order == 1 { format!("{}_dot", var.name) } else { format!("{}_{k}", var.name) };
            self.out.add_var(Var { name, kind, ..var.clone() })
        };
        let dots: Vec<VarId> = (1..=order).map(add).collect();
        self.dots.insert(of, dots.clone());
        dots
    }

    /// A coefficient of a place, if its variable carries a derivative.
    fn dot(&mut self, place: &Place, k: usize) -> Option<Place> {
        if !self.active.contains(&place.var) {
            return None;
        }
        let dot = self.dots.get(&place.var).and_then(|d| d.get(k - 1)).map(|&d| place.rooted_at(d));
        if dot.is_none() {
            self.defect(place.span, "a variable that carries a derivative has no tangent");
        }
        dot
    }

    /// A derivative that can't be made.
    fn defect(&mut self, span: Span, what: &str) {
        self.out.defects.push(crate::diag::defect(span, what));
    }

    /// The zero tangent of an ancilla.
    fn zero_of(&self, var: VarId, init: &Expr) -> Expr {
        let ty = &self.out.var(var).ty;
        if let (ExprKind::Fill(e, shape), Some(zero)) = (&init.kind, zero_element(init, ty)) {
            return Expr {
                kind: ExprKind::Fill(Box::new(Expr { kind: zero, span: e.span }), shape.clone()),
                ..init.clone()
            };
        }
        Expr::new(match ty {
            Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) => ExprKind::Zero(ty.clone()),
            Type::Array(..)
            | Type::Fixed(..)
            | Type::Tuple(_)
            | Type::Struct(..)
            | Type::Stack(_)
            | Type::Function(_)
            | Type::Shadow(_)
            | Type::Unknown => ExprKind::ZeroLike(Place::var(var)),
        })
    }
}

/// The zero of the elements of an array of equal ones, where it can be said.
fn zero_element(init: &Expr, ty: &Type) -> Option<ExprKind> {
    let ExprKind::Fill(e, _) = &init.kind else { return None };
    match (&e.kind, ty) {
        (ExprKind::Literal(Number::Int(_), ty), _) => Some(ExprKind::Literal(Number::Int(0), ty.clone())),
        (ExprKind::Literal(Number::Float(_), ty), _) => {
            Some(ExprKind::Literal(Number::Float(0.0), ty.clone()))
        }
        (ExprKind::Zero(ty), _) => Some(ExprKind::Zero(ty.clone())),
        (_, Type::Array(of, _)) if matches!(**of, Type::Scalar(_) | Type::Generic(_) | Type::Complex(_)) => {
            Some(ExprKind::Zero((**of).clone()))
        }
        _ => None,
    }
}
