//! The tangent of a program: the map (x, ẋ) → (y, ẏ), which computes beside each value its derivative along a
//! direction (forward mode).
//!
//! Every statement is followed, in the same order, by what it does to tangents, so the result is a
//! reversible program like the one it is made of: its inverse is the tangent of the inverse, it has an adjoint, and a
//! tangent again. The rules stand in the table at the head of [`crate::ir`]; expressions are handled by `expr`.
//!
//! # Parameters
//!
//! Each parameter `p` is followed by its tangent `p_dot`, of the same type and mode. That of an integer, or of
//! what else carries no derivative, is there as well, so that a call needs to know no types, and means nothing; that of a
//! reversible function is the function's tangent.
//!
//! # Calls
//!
//! A call names the tangent of its callee by a suffix of the path ([`TANGENT`]): in the module it is a function like
//! others. A call of an adjoint becomes one of the adjoint of the callee's tangent: the tangent of an adjoint is
//! that program too, with the arguments in another order, since the cotangent of a tangent is the cotangent of the
//! value, and the cotangent of the value then is the tangent of the cotangent.

mod expr;
mod module;
mod statement;

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{
    Expr, ExprKind, Function, Generic, GenericKind, Number, Place, Span, Type, Var, VarId, VarKind,
};
use crate::pass::adjoint::{each_element_used, ElementsUsed};
use crate::pass::values::{Known, Naming};

/// After the path of a function: its tangent.
pub const TANGENT: &str = "::tangent";

/// Splits a path into that of a function and how often its tangent was taken.
pub fn taken_tangents(mut path: &str) -> (&str, usize) {
    let mut times = 0;
    while let Some(of) = path.strip_suffix(TANGENT) {
        path = of;
        times += 1;
    }
    (path, times)
}

/// The tangent of a function that has been through the uncompute pass.
pub(super) fn tangent_function(function: &Function) -> Function {
    let mut builder = Builder {
        out: Function { body: Vec::new(), ..function.clone() },
        dots: BTreeMap::new(),
        active: crate::facts::active_vars(function),
        elements: each_element_used(&function.body),
        spares: BTreeMap::new(),
        names: Vec::new(),
    };
    let params = function.params.iter().flat_map(|&p| [p, builder.param_dot(p)]).collect();
    let body = builder.block(&function.body);
    let body = builder.with_spares(body);
    Function { name: format!("{}{TANGENT}", function.name), params, body, ..builder.out }
}

/// The tangent while it is being made.
struct Builder {
    /// The function made: its variables are the source's with the same ids, then the new ones.
    out: Function,
    /// The tangent of each source variable that has one in scope.
    dots: BTreeMap<VarId, VarId>,
    /// Source variables that carry a derivative.
    active: BTreeSet<VarId>,
    elements: BTreeMap<VarId, ElementsUsed>,
    /// Zeros in the shape of arrays that carry no derivative, for calls: one for all of them, as they may be made
    /// in a loop.
    spares: BTreeMap<VarId, VarId>,
    /// Names for tangents in the expression that is being differentiated.
    names: Vec<(VarId, Expr)>,
}

impl Naming for Builder {
    fn known(&mut self) -> Known<'_> {
        Known { out: &mut self.out, active: &mut self.active, elements: &mut self.elements }
    }
}

impl Builder {
    fn param_dot(&mut self, p: VarId) -> VarId {
        let kind = self.out.var(p).kind;
        let dot = self.new_dot(p, kind);
        if self.out.constants.contains(&p) {
            self.out.constants.insert(dot);
        }
        if let Type::Function(name) = self.out.var(p).ty.clone() {
            self.out.vars[dot.0 as usize].ty = self.function_dot(&name);
        }
        dot
    }

    /// The type of the tangent of a function that is an argument: each of its arguments is followed by a tangent.
    fn function_dot(&mut self, name: &str) -> Type {
        let own = format!("{name}_dot");
        let of = self.out.generics.iter().find(|g| g.name == name).map(|g| g.kind.clone());
        if let Some(GenericKind::Function(params)) = of {
            let both = params.into_iter().flat_map(|p| [p.clone(), p]).collect();
            self.out.generics.push(Generic { name: own.clone(), kind: GenericKind::Function(both) });
        }
        Type::Function(own)
    }

    fn new_dot(&mut self, of: VarId, kind: VarKind) -> VarId {
        let var = self.out.var(of);
        let dot = Var { name: format!("{}_dot", var.name), ty: var.ty.clone(), kind, span: var.span };
        let id = self.out.add_var(dot);
        self.dots.insert(of, id);
        id
    }

    /// The tangent of a place, if its variable carries a derivative.
    fn dot(&mut self, place: &Place) -> Option<Place> {
        if !self.active.contains(&place.var) {
            return None;
        }
        let dot = self.dots.get(&place.var).map(|&d| place.rooted_at(d));
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
