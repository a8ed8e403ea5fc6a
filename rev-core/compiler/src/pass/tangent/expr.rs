//! The Taylor coefficients of an expression: expressions in the coefficients of what it reads. The first is the tangent.
//!
//! A coefficient travels up the expression. The values that partial derivatives read have names, which are bound around
//! all that is made of the expression, as in the adjoint ([`crate::pass::values`]).
//!
//! With the partial derivatives p of w = g(a, b) by a, and q by b, which are expressions too,
//! w′ = p a′ + q b′ says for the coefficients
//!
//! ```text
//! w_k = Σ_j j/k (a_j p_{k-j} + b_j q_{k-j}),   j = 1 … k
//! ```
//!
//! and a product, or what else is linear in each of two, has w_k = Σ_j a_j b_{k-j}. The coefficients of p are found by
//! the same rule. So the rows of the table serve for every order.

use std::collections::BTreeSet;

use super::Builder;
use crate::check::type_of;
use crate::ir::{
    height, Block, Class, Derived, Expr, ExprKind, FunctionPath, Generic, GenericKind, Length, Number, Place,
    ScalarType, Span, Step, Type, VarId,
};
use crate::limits::{deeper, STEP};
use crate::ops::{Contraction, Derivative, Func, Push};
use crate::pass::adjoint::{inside, ElementsUsed};
use crate::pass::fresh_locals;
use crate::pass::values::{Naming, Node};

impl Builder {
    /// What `f` makes of the coefficients of an expression, each as terms to be added up, and of the expression, in the
    /// scope of the names that they read.
    pub(super) fn differentiated(
        &mut self,
        e: &Expr,
        f: impl FnOnce(&mut Builder, Vec<Vec<Expr>>, Expr) -> Block,
    ) -> Block {
        self.in_names(e, Builder::flat, |b, node| b.orders().map(|k| b.terms(node, k)).collect(), f)
    }

    /// The same for an expression that is read for several orders: with names for what is longer.
    pub(super) fn differentiated_once(
        &mut self,
        e: &Expr,
        f: impl FnOnce(&mut Builder, Vec<Vec<Expr>>, Expr) -> Block,
    ) -> Block {
        if self.order == 1 {
            return self.differentiated(e, f);
        }
        let coefficient = |b: &mut Builder, node: &Node, k| {
            b.coefficient(node, &[], k).map(|c| b.named(c)).into_iter().collect()
        };
        self.in_names(e, Builder::atom, |b, node| b.orders().map(|k| coefficient(b, node, k)).collect(), f)
    }

    /// The same for the coefficients up to an order, in one term each.
    pub(super) fn differentiated_up_to(
        &mut self,
        order: usize,
        e: &Expr,
        f: impl FnOnce(&mut Builder, Vec<Vec<Expr>>, Expr) -> Block,
    ) -> Block {
        self.in_names(e, Builder::flat, |b, node| b.coefficients(node, order), f)
    }

    /// The same for the expression of a binding, of which the scope uses some elements, in one term each.
    pub(super) fn differentiated_bound(
        &mut self,
        (var, e): (VarId, &Expr),
        used: &ElementsUsed,
        f: impl FnOnce(&mut Builder, Vec<Vec<Expr>>, Expr) -> Block,
    ) -> Block {
        let of_order = |b: &mut Builder, node: &Node, k| b.of_bound(var, node, used, k).into_iter().collect();
        self.in_names(e, Builder::flat, |b, node| b.orders().map(|k| of_order(b, node, k)).collect(), f)
    }

    /// The coefficients up to an order, each in one term.
    pub(super) fn coefficients(&mut self, node: &Node, order: usize) -> Vec<Vec<Expr>> {
        (1..=order).map(|k| self.coefficient(node, &[], k).into_iter().collect()).collect()
    }

    fn in_names(
        &mut self,
        e: &Expr,
        written: impl FnOnce(&mut Builder, &Expr) -> Expr,
        make: impl FnOnce(&mut Builder, &Node) -> Vec<Vec<Expr>>,
        f: impl FnOnce(&mut Builder, Vec<Vec<Expr>>, Expr) -> Block,
    ) -> Block {
        let (names, made, value) = self.with_names(e, written, make);
        let body = f(self, made, value);
        inside(names, body)
    }

    /// What is made of an expression, and its value, with the names that they read. Of orders above the first it is written flat
    /// before.
    pub(super) fn with_names(
        &mut self,
        e: &Expr,
        written: impl FnOnce(&mut Builder, &Expr) -> Expr,
        make: impl FnOnce(&mut Builder, &Node) -> Vec<Vec<Expr>>,
    ) -> (Vec<(VarId, Expr)>, Vec<Vec<Expr>>, Expr) {
        let own = self.with_fresh_names(e);
        let e = own.as_ref().unwrap_or(e);
        let outer = std::mem::take(&mut self.names);
        if self.order > 1 {
            let value = written(self, e);
            let node = self.node(&value);
            let made = make(self, &node);
            let names = std::mem::replace(&mut self.names, outer).bound;
            return (read_by(names, made.iter().flatten().chain([&value])), made, value);
        }
        let node = self.node(e);
        let made = make(self, &node);
        let tangents = std::mem::replace(&mut self.names, outer).bound;
        let (mut names, value) = node.finish();
        names.extend(tangents);
        (names, made, value)
    }

    /// The expression with new names in its blocks: they are bound around statements, where in an adjoint others of
    /// the same name may be in scope.
    pub(super) fn with_fresh_names(&mut self, e: &Expr) -> Option<Expr> {
        if !has_blocks(e) {
            return None;
        }
        let mut own = e.clone();
        for (new, old) in fresh_locals(&mut self.out, &mut own) {
            if let Some(used) = self.elements.get(&old).cloned() {
                self.elements.insert(new, used);
            }
        }
        Some(own)
    }

    /// A coefficient of an update's right side: of a product that is rounded with the sum, one product for each
    /// factor, which are too; of a product of arrays likewise, since it stands alone.
    fn terms(&mut self, node: &Node, k: usize) -> Vec<Expr> {
        match (&node.expr.kind, node.parts.as_slice()) {
            _ if node.reads == 0 => Vec::new(),
            (ExprKind::Func(Func::Fused, _), [product]) => {
                let fused = |t: Expr| match t.kind {
                    ExprKind::Func(Func::Mul, _) => Expr::func(Func::Fused, vec![t]),
                    _ => t,
                };
                match &product.expr.kind {
                    ExprKind::Func(Func::Mul, _) => {
                        self.products(product, k).into_iter().map(fused).collect()
                    }
                    _ => self.coefficient(product, &[], k).into_iter().collect(),
                }
            }
            (ExprKind::Contract(formula, _), _) => self.contractions(node, formula, k),
            _ => self.coefficient(node, &[], k).into_iter().collect(),
        }
    }

    /// Coefficient `k` of a value; `None` where it is zero. Of an element of it, where it is a tuple, of tuples if there
    /// are several.
    pub(super) fn coefficient(&mut self, node: &Node, element: &[u32], k: usize) -> Option<Expr> {
        if node.reads == 0 {
            return None;
        }
        let coefficient = deeper(|| self.by_kind(node, element, k))?;
        match height(&coefficient) > STEP {
            true => Some(self.named(coefficient)),
            false => Some(coefficient),
        }
    }

    fn by_kind(&mut self, node: &Node, element: &[u32], k: usize) -> Option<Expr> {
        if let Some((cond, branches)) = node.guarded() {
            node.closed.set(true);
            let made = branches.map(|part| self.branch(part, element, k));
            return self.choice_of(node, element, cond, made);
        }
        match (&node.expr.kind, node.parts.as_slice()) {
            (ExprKind::Read(place), _) => {
                let place = element.iter().fold(place.clone(), |of, k| of.with(Step::Element(*k)));
                self.of_place(&place, k)
            }
            (ExprKind::If(cond, ..), [a, b]) => {
                let made = [a, b].map(|part| self.coefficient(part, element, k));
                self.choice_of(node, element, cond, made)
            }
            // of orders above the first, blocks have been opened
            (ExprKind::Block(lets, _), parts) => {
                node.opened.set(true);
                let (value, values) = parts.split_last()?;
                for ((var, _), part) in lets.iter().zip(values) {
                    let used = self.elements.get(var).cloned().unwrap_or_default();
                    match self.of_bound(*var, part, &used, k) {
                        Some(tangent) => {
                            let dots = self.new_dots(*var, crate::ir::VarKind::Binding, self.order);
                            self.names.bound.extend(dots.into_iter().map(|dot| (dot, tangent.clone())));
                        }
                        None => {
                            self.active.remove(var);
                        }
                    }
                }
                self.coefficient(value, element, k)
            }
            (ExprKind::Pure(path, _), _) => self.of_pure(path, node, element, k),
            (ExprKind::Element(_, n), [inner]) => self.coefficient(inner, &[&[*n], element].concat(), k),
            (ExprKind::Tuple(_), parts) if !element.is_empty() => match parts.get(element[0] as usize) {
                Some(part) => self.coefficient(part, &element[1..], k),
                None => self.no_tangent(node.expr.span, "an element that a tuple hasn't"),
            },
            (ExprKind::Partials(path, _), _) if !element.is_empty() => {
                self.of_pure(&path.with(Derived::Partials), node, element, k)
            }
            _ if !element.is_empty() => self.no_tangent(node.expr.span, "an element of what isn't a tuple"),
            (ExprKind::Func(..), _) => sum(self.products(node, k)),
            (ExprKind::Cast(_, ty), [inner]) => self.of_cast(inner, ty, k),
            (ExprKind::Tuple(_), parts) => Some(Expr::new(ExprKind::Tuple(self.of_each(parts, k)))),
            (ExprKind::Array(_), parts) => Some(Expr::new(ExprKind::Array(self.of_each(parts, k)))),
            (ExprKind::Repeat(_, n), [inner]) => {
                let tangent = self.coefficient(inner, &[], k)?;
                Some(Expr::new(ExprKind::Repeat(Box::new(tangent), n.clone())))
            }
            (ExprKind::Fill(_, shape), [inner]) => {
                let tangent = self.coefficient(inner, &[], k)?;
                Some(Expr::new(ExprKind::Fill(Box::new(tangent), shape.clone())))
            }
            (ExprKind::Contract(formula, _), _) => sum(self.contractions(node, formula, k)),
            (ExprKind::If(..) | ExprKind::Element(..) | ExprKind::Cast(..), _)
            | (ExprKind::Repeat(..) | ExprKind::Fill(..), _)
            | (
                ExprKind::Literal(..)
                | ExprKind::Named(_)
                | ExprKind::Function(_)
                | ExprKind::Const(_)
                | ExprKind::Len(..),
                _,
            )
            | (ExprKind::Partials(..) | ExprKind::Zero(_) | ExprKind::ZeroShadow(_), _)
            | (ExprKind::ZeroLike(_) | ExprKind::EmptyStack, _) => {
                self.no_tangent(node.expr.span, "a tangent of what has no derivative")
            }
        }
    }

    fn no_tangent(&mut self, span: Span, what: &str) -> Option<Expr> {
        self.defect(span, what);
        None
    }

    /// A coefficient of a branch that may only be computed where it is taken: with its own names.
    fn branch(&mut self, part: &Node, element: &[u32], k: usize) -> Option<Expr> {
        let outer = self.names.clone();
        let (coefficient, mut names) = match self.order > 1 {
            true => {
                let own = self.with_fresh_names(part.expr);
                let value = self.flat(own.as_ref().unwrap_or(part.expr));
                let node = self.node(&value);
                (self.coefficient(&node, element, k), Vec::new())
            }
            false => (self.coefficient(part, element, k), part.names()),
        };
        let inner = std::mem::replace(&mut self.names, outer);
        names.extend(inner.bound.into_iter().skip(self.names.bound.len()));
        let value = coefficient?;
        if self.order > 1 {
            names = read_by(names, [&value].into_iter());
        }
        Some(match names.is_empty() {
            true => value,
            false => Expr::new(ExprKind::Block(names, Box::new(value))),
        })
    }

    /// The terms of a coefficient of a function's value.
    fn products(&mut self, node: &Node, k: usize) -> Vec<Expr> {
        let ExprKind::Func(func, _) = &node.expr.kind else { return Vec::new() };
        let values: Vec<Expr> = node.parts.iter().map(|p| self.value_of(p)).collect();
        match (func, node.parts.as_slice()) {
            (Func::Mul | Func::Scale | Func::Absorb | Func::ScaleReal, [a, b]) if k > 1 => {
                return self.bilinear(*func, [a, b], k);
            }
            (Func::MulAdd, [a, b, c]) if k > 1 => {
                let mut terms = self.bilinear(Func::Mul, [a, b], k);
                terms.extend(self.coefficient(c, &[], k));
                return terms;
            }
            (Func::Div, [a, b]) if k > 1 => return self.quotient(node, [a, b], k),
            _ => {}
        }
        match func.row().derivative {
            Derivative::Zero => Vec::new(),
            Derivative::Choice(cond, i, j) => {
                let cond = cond(&values);
                node.are_used_in(&cond);
                let [a, b] = [i, j].map(|n| self.coefficient(&node.parts[n], &[], k));
                choice(cond, a, b).into_iter().collect()
            }
            Derivative::Partials(partials) => {
                let value = self.value(node);
                self.times(node, partials(&values, &value), k, |t, p| t * p)
            }
            // where a partial derivative can be infinite, a zero tangent stays zero
            Derivative::Singular(partials) => {
                let value = self.value(node);
                self.times(node, partials(&values, &value), k, |t, p| Expr::func(Func::Absorb, vec![t, p]))
            }
            Derivative::Pullback(_, push) => {
                let value = self.value(node);
                if k > 1 && !is_linear(push, &values, &value) {
                    return self.pushed(node, push, (&values, &value), k);
                }
                let mut tangents = Vec::new();
                for part in &node.parts {
                    let tangent = self.coefficient(part, &[], k);
                    tangents.push(tangent.map(|t| self.named(t)));
                }
                let pushed = push(&values, &value, &tangents);
                pushed.iter().for_each(|t| node.are_used_in(t));
                pushed.into_iter().collect()
            }
        }
    }

    /// The coefficients of the arguments times those of the partial derivatives, these by equal arguments put together.
    fn times(
        &mut self,
        node: &Node,
        partials: Vec<Expr>,
        k: usize,
        product: impl Fn(Expr, Expr) -> Expr,
    ) -> Vec<Expr> {
        let pulled = crate::pass::adjoint::merge_equal(node, partials);
        let mut out = Vec::new();
        for (arg, partial) in pulled.into_iter().filter(|(_, partial)| !partial.is_number(0)) {
            let partial = if self.order > 1 { self.atom(&partial) } else { partial };
            for j in (1..=k).rev() {
                let p = if j == k { Some(partial.clone()) } else { self.of_atom(&partial, k - j) };
                let Some(p) = p else { continue };
                out.extend(self.coefficient(arg, &[], j).map(|t| weighted(j, k, product(t, p))));
            }
        }
        out
    }

    /// A `#[pure]` function, of whose result an element is meant.
    fn of_pure(&mut self, path: &FunctionPath, node: &Node, result: &[u32], k: usize) -> Option<Expr> {
        let args = node.parts.iter().map(|arg| {
            arg.is_used();
            self.value_of(arg)
        });
        let partials = Expr::new(ExprKind::Partials(path.clone(), args.collect()));
        let g = self.bound_name("g", partials);
        let of = result.iter().fold(Place::var(g), |place, k| place.with(Step::Element(*k)));
        let mut terms = Vec::new();
        for (n, arg) in node.parts.iter().enumerate() {
            // a tuple's tangent has an element for it, of its type
            if self.is_inactive(arg.expr) {
                continue;
            }
            let partial = Expr::read(of.clone().with(Step::Element(n as u32)));
            for j in (1..=k).rev() {
                let p = if j == k { Some(partial.clone()) } else { self.of_atom(&partial, k - j) };
                let Some(p) = p else { continue };
                let tangent = self.coefficient(arg, &[], j).map(|t| self.of_argument(arg, t));
                terms.extend(tangent.map(|t| weighted(j, k, t * p)));
            }
        }
        sum(terms)
    }

    /// The tangent of an argument, in the type of the result: of an argument of which only rustc knows whether it is a
    /// number that carries one, it may be a zero of another.
    fn of_argument(&self, arg: &Node, tangent: Expr) -> Expr {
        match self.is_unknown(arg.expr) {
            true => as_any(tangent),
            false => tangent,
        }
    }

    /// Whether only rustc knows the type of an expression.
    fn is_unknown(&self, e: &Expr) -> bool {
        type_of(&self.out, e) == Type::Unknown
    }

    /// A binding's value: of a pure function with several results the elements that are used, with zeros in place of
    /// the others.
    fn of_bound(&mut self, var: VarId, node: &Node, used: &ElementsUsed, k: usize) -> Option<Expr> {
        let is_call = match &node.expr.kind {
            ExprKind::Read(place) => self.names.is_call(place.var),
            _ => self.ends_in_call(node.expr) || self.has_inactive_part(var),
        };
        match is_call && !used.is_empty() && node.reads > 0 {
            true => Some(self.of_elements((var, k), node, used, &mut Vec::new())),
            false => {
                let tangent = self.coefficient(node, &[], k)?;
                Some(self.of_type(tangent, node.expr, Expr::read(Place::var(var))))
            }
        }
    }

    /// Whether a name stands for a tuple in which something carries no derivative.
    fn has_inactive_part(&self, var: VarId) -> bool {
        let Type::Tuple(parts) = &self.out.var(var).ty else { return false };
        parts.iter().any(|ty| ty.is_inactive(&self.out.generics))
    }

    /// Whether the value of an expression, or of a branch of it, is that of a pure function.
    pub(super) fn ends_in_call(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Pure(..) | ExprKind::Partials(..) => true,
            ExprKind::If(_, a, b) => self.ends_in_call(a) || self.ends_in_call(b),
            ExprKind::Block(_, value) | ExprKind::Element(value, _) => self.ends_in_call(value),
            ExprKind::Read(place) => place.path.is_empty() && self.names.is_call(place.var),
            _ => false,
        }
    }

    /// The tangent of an expression, in the type of its value: that of a pure function's result, of which only rustc knows whether
    /// it is a truth value or an integer, may be a zero of another.
    pub(super) fn of_type(&self, tangent: Expr, of: &Expr, value: Expr) -> Expr {
        if !self.ends_in_call(of) || !self.is_unknown(&value) {
            return tangent;
        }
        Expr::func(Func::Select, vec![Expr::bool(true), as_any(tangent), value])
    }

    /// The tuple of the tangents of the used elements of an element, with zeros of the types that the others have in the
    /// bound value.
    fn of_elements(
        &mut self,
        (var, k): (VarId, usize),
        node: &Node,
        used: &ElementsUsed,
        element: &mut Vec<u32>,
    ) -> Expr {
        let inside = |e: &&Vec<u32>| e.starts_with(element);
        let whole = self.out.var(var).ty.clone();
        let ty = element.iter().try_fold(whole, |ty, k| ty.part(&Step::Element(*k))).unwrap_or(Type::Unknown);
        let last = used.iter().filter(inside).filter_map(|e| e.get(element.len())).max().copied();
        let known = if let Type::Tuple(parts) = &ty { parts.len().checked_sub(1) } else { None };
        let inactive = ty.is_inactive(&self.out.generics);
        let Some(last) = last.map(|last| known.map_or(last, |known| last.max(known as u32))) else {
            let is_used = used.contains(element) && !inactive;
            let tangent = is_used.then(|| self.coefficient(node, element, k)).flatten();
            let value = element.iter().fold(Place::var(var), |of, k| of.with(Step::Element(*k)));
            return match tangent {
                Some(tangent) => self.of_type(tangent, node.expr, Expr::read(value)),
                None => Expr::new(ExprKind::ZeroLike(value)),
            };
        };
        let parts = (0..=last).map(|n| {
            element.push(n);
            let part = self.of_elements((var, k), node, used, element);
            element.pop();
            part
        });
        Expr::new(ExprKind::Tuple(parts.collect()))
    }

    /// A conversion carries a derivative between numbers that have one.
    fn of_cast(&mut self, inner: &Node, to: &Type, k: usize) -> Option<Expr> {
        if to.is_inactive(&self.out.generics) {
            return None;
        }
        let from = type_of(&self.out, inner.expr);
        let tangent = self.coefficient(inner, &[], k)?;
        let tangent = match from.class(&self.out.generics) {
            Some(Class::Ring | Class::Field | Class::Real) => tangent,
            Some(Class::Integer | Class::Scalar) | None => Expr::func(Func::Differentiable, vec![tangent]),
        };
        Some(Expr::new(ExprKind::Cast(Box::new(tangent), to.clone())))
    }

    fn of_each(&mut self, parts: &[Node], k: usize) -> Vec<Expr> {
        let of = |part| self.coefficient(part, &[], k).unwrap_or_else(|| self.zero_of_part(part));
        parts.iter().map(of).collect()
    }

    /// The zero of a part that is constant: nothing else need say of which type it is.
    fn zero_of_part(&mut self, part: &Node) -> Expr {
        if !matches!(type_of(&self.out, part.expr), Type::Unknown) {
            return self.zero(part.expr, &[]);
        }
        let place = match self.value_of(part) {
            Expr { kind: ExprKind::Read(place), .. } => place,
            value => Place::var(self.bound_name("z", value)),
        };
        part.is_used();
        Expr::new(ExprKind::ZeroLike(place))
    }

    /// The choice between coefficients of branches, with zeros in place of those of one that is constant.
    fn choice_of(&self, node: &Node, element: &[u32], cond: &Expr, made: [Option<Expr>; 2]) -> Option<Expr> {
        let [a, b] = match made {
            [None, None] => return None,
            // the zero of a pure function's integer takes the type of the other one
            [Some(a), Some(b)] => {
                let opens = |e: &Expr| self.ends_in_call(e) && self.is_unknown(e);
                match node.parts.as_slice() {
                    [.., other] if opens(other.expr) => [a, as_any(b)],
                    [.., first, _] if opens(first.expr) => [as_any(a), b],
                    _ => [a, b],
                }
            }
            [Some(a), None] => [a, self.zero(node.expr, element)],
            [None, Some(b)] => [self.zero(node.expr, element), b],
        };
        Some(cond.clone().choose(a, b))
    }

    /// The coefficient of what is constant, in the form of the value of an expression, or of an element of it: zeros in a tuple
    /// where that is one.
    fn zero(&self, e: &Expr, element: &[u32]) -> Expr {
        match &e.kind {
            ExprKind::Literal(..) => Expr::int(0),
            _ => self.zero_in_form(&type_of(&self.out, e), element),
        }
    }

    /// The zero of an element of a type. That of a number has the type that is asked for where it stands.
    fn zero_in_form(&self, ty: &Type, element: &[u32]) -> Expr {
        match (ty, element) {
            (Type::Tuple(types), [first, rest @ ..]) => {
                types.get(*first as usize).map_or(Expr::int(0), |ty| self.zero_in_form(ty, rest))
            }
            (Type::Tuple(types), []) => {
                let parts = types.iter().map(|ty| self.zero_in_form(ty, &[])).collect();
                Expr::new(ExprKind::Tuple(parts))
            }
            (Type::Fixed(of, length), []) => {
                let of = Box::new(self.zero_in_form(of, &[]));
                Expr::new(ExprKind::Repeat(of, Box::new(self.length(length))))
            }
            (Type::Struct(..), []) if !ty.is_partial() => Expr::new(ExprKind::Zero(ty.clone())),
            (Type::Scalar(ScalarType::Bool), []) => Expr::bool(false),
            (Type::Scalar(_), []) if ty.is_inactive(&self.out.generics) => {
                Expr::new(ExprKind::Literal(Number::Int(0), Some(ty.clone())))
            }
            _ => Expr::int(0),
        }
    }

    fn length(&self, length: &Length) -> Expr {
        match length {
            Length::Literal(n) => {
                Expr::new(ExprKind::Literal(Number::Int(i128::from(*n)), Some(Type::INDEX)))
            }
            Length::Named(name) => {
                let is_own = |g: &Generic| g.name == *name && matches!(g.kind, GenericKind::Const);
                Expr::new(match self.out.generics.iter().any(is_own) {
                    true => ExprKind::Const(name.clone()),
                    false => ExprKind::Named(name.clone()),
                })
            }
        }
    }

    /// A product of arrays: the products of coefficients of the factors, of orders that add up to `k`.
    fn contractions(&mut self, node: &Node, formula: &Contraction, k: usize) -> Vec<Expr> {
        let mut out = Vec::new();
        for orders in splits(k, node.parts.len()) {
            let mut coefficients = Vec::new();
            for (part, &j) in node.parts.iter().zip(&orders).filter(|(_, &j)| j > 0) {
                let Some(c) = self.coefficient(part, &[], j) else { break };
                coefficients.push(self.named(c));
            }
            if coefficients.len() < orders.iter().filter(|&&j| j > 0).count() {
                continue;
            }
            let mut coefficients = coefficients.into_iter();
            let factor = |(part, &j): (&Node, &usize)| match &part.expr.kind {
                _ if j > 0 => coefficients.next().unwrap_or(Expr::int(0)),
                ExprKind::Read(_) => part.expr.clone(),
                _ => {
                    part.is_used();
                    self.value_of(part)
                }
            };
            let factors = node.parts.iter().zip(&orders).map(factor).collect();
            out.push(Expr::new(ExprKind::Contract(*formula, factors)));
        }
        out
    }
}

/// The ways to write `k` as a sum of `n` orders, those with high orders first before others.
fn splits(k: usize, n: usize) -> Vec<Vec<usize>> {
    match n {
        0 => Vec::new(),
        1 => vec![vec![k]],
        _ => (0..=k)
            .rev()
            .flat_map(|first| {
                splits(k - first, n - 1).into_iter().map(move |rest| [vec![first], rest].concat())
            })
            .collect(),
    }
}

/// Those of the names that expressions read, and what these are computed from.
fn read_by<'e>(mut names: Vec<(VarId, Expr)>, by: impl Iterator<Item = &'e Expr>) -> Vec<(VarId, Expr)> {
    fn mention(e: &Expr, read: &mut BTreeSet<VarId>) {
        read.extend(e.named().map(|(place, _)| place.var));
        e.each_child(&mut |child| mention(child, read));
    }
    let (mut read, mut kept) = (BTreeSet::new(), Vec::new());
    by.for_each(|e| mention(e, &mut read));
    while let Some((var, e)) = names.pop() {
        if read.contains(&var) {
            mention(&e, &mut read);
            kept.push((var, e));
        }
    }
    kept.reverse();
    kept
}

/// `j/k` times an expression.
pub(super) fn weighted(j: usize, k: usize, e: Expr) -> Expr {
    match j == k {
        true => e,
        false => Expr::float(j as f64 / k as f64) * e,
    }
}

/// Whether what a function makes of tangents is the same function of them wherever it is taken: it reads no values.
fn is_linear(push: Push, values: &[Expr], value: &Expr) -> bool {
    let ones: Vec<Option<Expr>> = values.iter().map(|_| Some(Expr::int(1))).collect();
    push(values, value, &ones).is_some_and(|pushed| pushed.reads().is_empty())
}

/// A number in the type that is asked for where it stands.
fn as_any(e: Expr) -> Expr {
    Expr::new(ExprKind::Cast(Box::new(e), Type::Unknown))
}

fn has_blocks(e: &Expr) -> bool {
    let mut found = matches!(e.kind, ExprKind::Block(..));
    e.each_child(&mut |child| found |= has_blocks(child));
    found
}

fn choice(cond: Expr, a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(cond.choose(a.unwrap_or(Expr::int(0)), b.unwrap_or(Expr::int(0)))),
    }
}

pub(super) fn sum(terms: Vec<Expr>) -> Option<Expr> {
    terms.into_iter().reduce(|sum, term| match term.kind {
        ExprKind::Func(Func::Neg, mut args) if args.len() == 1 => sum - args.remove(0),
        kind => sum + Expr { kind, span: term.span },
    })
}
