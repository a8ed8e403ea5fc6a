//! The tangent of an expression: an expression in the tangents of what it reads.
//!
//! A tangent travels up the expression. The values that partial derivatives read have names, which are bound around
//! all that is made of the expression, as in the adjoint ([`crate::pass::values`]).

use super::Builder;
use crate::check::type_of;
use crate::ir::{height, Block, Class, Expr, ExprKind, Place, Span, Step, Type, VarId};
use crate::limits::{deeper, STEP};
use crate::ops::{Contraction, Derivative, Func};
use crate::pass::adjoint::{inside, ElementsUsed};
use crate::pass::fresh_locals;
use crate::pass::partials::partials_of;
use crate::pass::values::{is_guarding, is_trivial, Naming, Node};

impl Builder {
    /// What `f` makes of the tangent of an expression, as terms to be added up, and of the expression, in the scope
    /// of the names that both read.
    pub(super) fn differentiated(
        &mut self,
        e: &Expr,
        f: impl FnOnce(&mut Builder, Vec<Expr>, Expr) -> Block,
    ) -> Block {
        self.in_names(e, |b, node| b.terms(node), f)
    }

    /// The same for the expression of a binding, of which the scope uses some elements, in one term.
    pub(super) fn differentiated_bound(
        &mut self,
        (var, e): (VarId, &Expr),
        used: &ElementsUsed,
        f: impl FnOnce(&mut Builder, Option<Expr>, Expr) -> Block,
    ) -> Block {
        self.in_names(e, |b, node| b.tangent_of_bound(var, node, used), f)
    }

    fn in_names<T>(
        &mut self,
        e: &Expr,
        tangent: impl FnOnce(&mut Builder, &Node) -> T,
        f: impl FnOnce(&mut Builder, T, Expr) -> Block,
    ) -> Block {
        let own = self.with_fresh_names(e);
        let node = self.node(own.as_ref().unwrap_or(e));
        let outer = std::mem::take(&mut self.names);
        let tangent = tangent(self, &node);
        let tangents = std::mem::replace(&mut self.names, outer);
        let (names, value) = node.finish();
        let body = f(self, tangent, value);
        inside(names, inside(tangents, body))
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

    /// The tangent of an update's right side: of a product that is rounded with the sum, one product for each
    /// factor, which are too; of a product of arrays likewise, since it stands alone.
    fn terms(&mut self, node: &Node) -> Vec<Expr> {
        match (&node.expr.kind, node.parts.as_slice()) {
            _ if node.reads == 0 => Vec::new(),
            (ExprKind::Func(Func::Fused, _), [product]) => {
                let fused = |t: Expr| match t.kind {
                    ExprKind::Func(Func::Mul, _) => Expr::func(Func::Fused, vec![t]),
                    _ => t,
                };
                match &product.expr.kind {
                    ExprKind::Func(Func::Mul, _) => self.products(product).into_iter().map(fused).collect(),
                    _ => self.tangent(product, &[]).into_iter().collect(),
                }
            }
            (ExprKind::Contract(formula, _), _) => self.contractions(node, formula),
            _ => self.tangent(node, &[]).into_iter().collect(),
        }
    }

    /// The tangent of a value; `None` where it is zero. Of an element of it, where it is a tuple, of tuples if there
    /// are several.
    pub(super) fn tangent(&mut self, node: &Node, element: &[u32]) -> Option<Expr> {
        if node.reads == 0 {
            return None;
        }
        let tangent = deeper(|| self.by_kind(node, element))?;
        match height(&tangent) > STEP {
            true => Some(self.named(tangent)),
            false => Some(tangent),
        }
    }

    fn by_kind(&mut self, node: &Node, element: &[u32]) -> Option<Expr> {
        match (&node.expr.kind, node.parts.as_slice()) {
            (ExprKind::Read(place), _) => {
                let dot = self.dot(place)?;
                Some(Expr::read(element.iter().fold(dot, |dot, k| dot.with(Step::Element(*k)))))
            }
            (ExprKind::If(cond, then, otherwise), [a, b]) => {
                let apart = node.may_fail && is_guarding(cond, [then, otherwise]);
                node.closed.set(apart);
                let [a, b] = [a, b].map(|part| match apart {
                    true => self.branch(part, element),
                    false => self.tangent(part, element),
                });
                choice(cond.as_ref().clone(), a, b)
            }
            (ExprKind::Block(lets, _), parts) => {
                node.opened.set(true);
                let (value, values) = parts.split_last()?;
                for ((var, _), part) in lets.iter().zip(values) {
                    let used = self.elements.get(var).cloned().unwrap_or_default();
                    match self.tangent_of_bound(*var, part, &used) {
                        Some(tangent) => {
                            let dot = self.new_dot(*var, crate::ir::VarKind::Binding);
                            self.names.push((dot, tangent));
                        }
                        None => {
                            self.active.remove(var);
                        }
                    }
                }
                self.tangent(value, element)
            }
            (ExprKind::Pure(path, _), _) => self.of_pure(path, node, element),
            (ExprKind::Element(_, k), [inner]) => self.tangent(inner, &[&[*k], element].concat()),
            (ExprKind::Tuple(_), parts) if !element.is_empty() => match parts.get(element[0] as usize) {
                Some(part) => self.tangent(part, &element[1..]),
                None => self.no_tangent(node.expr.span, "an element that a tuple hasn't"),
            },
            (ExprKind::Partials(path, _), _) if !element.is_empty() => {
                self.of_pure(&partials_of(path), node, element)
            }
            _ if !element.is_empty() => self.no_tangent(node.expr.span, "an element of what isn't a tuple"),
            (ExprKind::Func(..), _) => sum(self.products(node)),
            (ExprKind::Cast(_, ty), [inner]) => self.of_cast(inner, ty),
            (ExprKind::Tuple(_), parts) => Some(Expr::new(ExprKind::Tuple(self.of_each(parts)))),
            (ExprKind::Array(_), parts) => Some(Expr::new(ExprKind::Array(self.of_each(parts)))),
            (ExprKind::Repeat(_, n), [inner]) => {
                let tangent = self.tangent(inner, &[])?;
                Some(Expr::new(ExprKind::Repeat(Box::new(tangent), n.clone())))
            }
            (ExprKind::Fill(_, shape), [inner]) => {
                let tangent = self.tangent(inner, &[])?;
                Some(Expr::new(ExprKind::Fill(Box::new(tangent), shape.clone())))
            }
            (ExprKind::Contract(formula, _), _) => sum(self.contractions(node, formula)),
            (ExprKind::If(..) | ExprKind::Element(..) | ExprKind::Cast(..), _)
            | (ExprKind::Repeat(..) | ExprKind::Fill(..), _)
            | (ExprKind::Literal(..) | ExprKind::Named(_) | ExprKind::Const(_) | ExprKind::Len(..), _)
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

    /// The tangent of a branch that may only be computed where it is taken: with its own names.
    fn branch(&mut self, part: &Node, element: &[u32]) -> Option<Expr> {
        let outer = std::mem::take(&mut self.names);
        let tangent = self.tangent(part, element);
        let tangents = std::mem::replace(&mut self.names, outer);
        let mut names = part.names();
        names.extend(tangents);
        tangent.map(|value| match names.is_empty() {
            true => value,
            false => Expr::new(ExprKind::Block(names, Box::new(value))),
        })
    }

    /// The terms of the tangent of a function's value.
    fn products(&mut self, node: &Node) -> Vec<Expr> {
        let ExprKind::Func(func, _) = &node.expr.kind else { return Vec::new() };
        let values: Vec<Expr> = node.parts.iter().map(|p| self.value(p)).collect();
        match func.row().derivative {
            Derivative::Zero => Vec::new(),
            Derivative::Choice(cond, i, j) => {
                let cond = cond(&values);
                node.are_used_in(&cond);
                let [a, b] = [i, j].map(|k| self.tangent(&node.parts[k], &[]));
                choice(cond, a, b).into_iter().collect()
            }
            Derivative::Partials(partials) => {
                let value = self.value(node);
                self.times(node, partials(&values, &value), |t, p| t * p)
            }
            // where a partial derivative can be infinite, a zero tangent stays zero
            Derivative::Singular(partials) => {
                let value = self.value(node);
                self.times(node, partials(&values, &value), |t, p| Expr::func(Func::Absorb, vec![t, p]))
            }
            Derivative::Pullback(_, push) => {
                let value = self.value(node);
                let mut tangents = Vec::new();
                for part in &node.parts {
                    let tangent = self.tangent(part, &[]);
                    tangents.push(tangent.map(|t| self.named(t)));
                }
                let pushed = push(&values, &value, &tangents);
                pushed.iter().for_each(|t| node.are_used_in(t));
                pushed.into_iter().collect()
            }
        }
    }

    /// The tangents of the arguments times the partial derivatives, those by equal arguments put together.
    fn times(&mut self, node: &Node, partials: Vec<Expr>, product: impl Fn(Expr, Expr) -> Expr) -> Vec<Expr> {
        let pulled = crate::pass::adjoint::merge_equal(node, partials);
        let mut out = Vec::new();
        for (arg, partial) in pulled.into_iter().filter(|(_, partial)| !partial.is_number(0)) {
            out.extend(self.tangent(arg, &[]).map(|t| product(t, partial)));
        }
        out
    }

    /// A `#[pure]` function, of whose result an element is meant.
    fn of_pure(&mut self, path: &str, node: &Node, result: &[u32]) -> Option<Expr> {
        let args = node.parts.iter().map(|arg| {
            arg.is_used();
            self.value(arg)
        });
        let partials = Expr::new(ExprKind::Partials(path.to_string(), args.collect()));
        let g = self.new_binding("g", Type::Unknown);
        self.names.push((g, partials));
        let of = result.iter().fold(Place::var(g), |place, k| place.with(Step::Element(*k)));
        let mut terms = Vec::new();
        for (k, arg) in node.parts.iter().enumerate() {
            let partial = Expr::read(of.clone().with(Step::Element(k as u32)));
            terms.extend(self.tangent(arg, &[]).map(|t| t * partial));
        }
        sum(terms)
    }

    /// A binding's value: of a pure function with several results the elements that are used, with zeros in place of
    /// the others.
    fn tangent_of_bound(&mut self, var: VarId, node: &Node, used: &ElementsUsed) -> Option<Expr> {
        match &node.expr.kind {
            ExprKind::Pure(..) | ExprKind::Partials(..) if !used.is_empty() && node.reads > 0 => {
                Some(self.of_elements(var, node, used, &mut Vec::new()))
            }
            _ => self.tangent(node, &[]),
        }
    }

    /// The tuple of the tangents of the used elements of an element, with zeros of the types that the others have in the
    /// bound value.
    fn of_elements(&mut self, var: VarId, node: &Node, used: &ElementsUsed, element: &mut Vec<u32>) -> Expr {
        let inside = |e: &&Vec<u32>| e.starts_with(element);
        let Some(last) = used.iter().filter(inside).filter_map(|e| e.get(element.len())).max().copied()
        else {
            let tangent = used.contains(element).then(|| self.tangent(node, element)).flatten();
            return tangent.unwrap_or_else(|| {
                let value = element.iter().fold(Place::var(var), |of, k| of.with(Step::Element(*k)));
                Expr::new(ExprKind::ZeroLike(value))
            });
        };
        let parts = (0..=last).map(|k| {
            element.push(k);
            let part = self.of_elements(var, node, used, element);
            element.pop();
            part
        });
        Expr::new(ExprKind::Tuple(parts.collect()))
    }

    /// A conversion carries a derivative between numbers that have one.
    fn of_cast(&mut self, inner: &Node, to: &Type) -> Option<Expr> {
        if to.is_inactive(&self.out.generics) {
            return None;
        }
        let from = type_of(&self.out, inner.expr);
        let tangent = self.tangent(inner, &[])?;
        let tangent = match from.class(&self.out.generics) {
            Some(Class::Ring | Class::Field | Class::Real) => tangent,
            Some(Class::Integer | Class::Scalar) | None => Expr::func(Func::Differentiable, vec![tangent]),
        };
        Some(Expr::new(ExprKind::Cast(Box::new(tangent), to.clone())))
    }

    fn of_each(&mut self, parts: &[Node]) -> Vec<Expr> {
        parts.iter().map(|part| self.tangent(part, &[]).unwrap_or(Expr::int(0))).collect()
    }

    /// A product of arrays: for each factor the product with its tangent in its place.
    fn contractions(&mut self, node: &Node, formula: &Contraction) -> Vec<Expr> {
        let mut out = Vec::new();
        for (k, part) in node.parts.iter().enumerate() {
            let Some(tangent) = self.tangent(part, &[]) else { continue };
            let tangent = self.named(tangent);
            let factor = |(j, part): (usize, &Node)| match &part.expr.kind {
                _ if j == k => tangent.clone(),
                ExprKind::Read(_) => part.expr.clone(),
                _ => {
                    part.is_used();
                    self.value(part)
                }
            };
            let factors = node.parts.iter().enumerate().map(factor).collect();
            out.push(Expr::new(ExprKind::Contract(*formula, factors)));
        }
        out
    }

    /// A name for a tangent that is read more than once.
    fn named(&mut self, tangent: Expr) -> Expr {
        if is_trivial(&tangent) || matches!(tangent.kind, ExprKind::Read(_)) {
            return tangent;
        }
        let var = self.new_binding("d", Type::Unknown);
        self.names.push((var, tangent));
        Expr::read(Place::var(var))
    }
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

fn sum(terms: Vec<Expr>) -> Option<Expr> {
    terms.into_iter().reduce(|sum, term| match term.kind {
        ExprKind::Func(Func::Neg, mut args) if args.len() == 1 => sum - args.remove(0),
        kind => sum + Expr { kind, span: term.span },
    })
}
