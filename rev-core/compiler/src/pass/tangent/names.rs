//! The names of an expression's parts, and their coefficients, each computed once.
//!
//! For orders above the first an expression is written flat: what a function reads are names and numbers, and what
//! is the same has one name. Then a coefficient of a name is found by name and order, and the coefficients of a closed family (the
//! exponential, sine and cosine, powers, quotients) are as many as there are orders; without names they would be twice
//! as long with each order.

use std::collections::BTreeMap;

use super::expr::sum;
use super::Builder;
use crate::ir::{Expr, ExprKind, Place, Step, Type, VarId};
use crate::ops::{Derivative, Func, Push};
use crate::pass::values::{is_trivial, Naming, Node};

/// The names in the expression that is being differentiated.
#[derive(Clone, Default)]
pub(super) struct Names {
    /// What they stand for, each before those that are computed from it.
    pub bound: Vec<(VarId, Expr)>,
    /// The coefficients that are known, by the name, the element of it, and the order.
    coefficients: BTreeMap<(VarId, Vec<u32>, usize), Option<Expr>>,
    /// Names for derivatives by the parameter of the curve, with what they are the derivatives of.
    rates: Vec<(VarId, Expr)>,
}

impl Names {
    fn value(&self, var: VarId) -> Option<&Expr> {
        self.bound.iter().find(|(own, _)| *own == var).map(|(_, e)| e)
    }

    /// Whether a name stands for the results of a `#[pure]` function.
    pub fn is_call(&self, var: VarId) -> bool {
        self.value(var).is_some_and(|e| matches!(e.kind, ExprKind::Pure(..) | ExprKind::Partials(..)))
    }
}

/// Whether an expression is made of literals, which have the types that are asked for where they stand, and so no names.
fn is_literal(e: &Expr) -> bool {
    e.reads().is_empty()
}

impl Builder {
    /// A name for what is read more than once.
    pub(super) fn named(&mut self, e: Expr) -> Expr {
        if is_trivial(&e) || matches!(e.kind, ExprKind::Read(_)) {
            return e;
        }
        Expr::read(Place::var(self.bound_name("d", e)))
    }

    /// A name for an expression, the same for the same one where there are orders above the first.
    pub(super) fn bound_name(&mut self, name: &str, e: Expr) -> VarId {
        if self.order > 1 {
            if let Some((var, _)) = self.names.bound.iter().find(|(_, own)| own.same(&e)) {
                return *var;
            }
        }
        let var = self.new_binding(name, Type::Unknown);
        if self.order > 1 && self.node(&e).reads > 0 {
            self.active.insert(var);
        }
        self.names.bound.push((var, e));
        var
    }

    /// An expression as a function reads it: a name or a number.
    pub(super) fn atom(&mut self, e: &Expr) -> Expr {
        let e = self.flat(e);
        match is_trivial(&e) || is_literal(&e) {
            true => e,
            false => Expr::read(Place::var(self.bound_name("t", e))),
        }
    }

    /// The value of a part as derivatives are written with.
    pub(super) fn value_of(&mut self, part: &Node) -> Expr {
        match self.order > 1 {
            true if is_literal(part.expr) => part.expr.clone(),
            true => self.atom(part.expr),
            false => self.value(part),
        }
    }

    /// An expression whose functions read names and numbers. Sums, choices and products are left as they are, other functions
    /// have names.
    pub(super) fn flat(&mut self, e: &Expr) -> Expr {
        let node = self.node(e);
        if node.reads == 0 || node.guarded().is_some() {
            return e.clone();
        }
        let kind = match &e.kind {
            ExprKind::Func(func, args) => {
                let func = *func;
                let args = match func {
                    Func::Add | Func::Sub | Func::Neg | Func::Fused => {
                        args.iter().map(|a| self.flat(a)).collect()
                    }
                    _ => args.iter().map(|a| self.atom(a)).collect(),
                };
                let flat = Expr { kind: ExprKind::Func(func, args), span: e.span };
                return match (func, func.row().derivative) {
                    (Func::Add | Func::Sub | Func::Neg | Func::Fused | Func::Mul | Func::MulAdd, _) => flat,
                    (_, Derivative::Choice(..)) => flat,
                    _ => Expr::read(Place::var(self.bound_name("t", flat))),
                };
            }
            ExprKind::If(cond, a, b) => {
                let [a, b] = [a, b].map(|branch| Box::new(self.flat(branch)));
                ExprKind::If(cond.clone(), a, b)
            }
            ExprKind::Block(lets, value) => {
                for (var, e) in lets {
                    let e = self.flat(e);
                    self.names.bound.push((*var, e));
                }
                return self.flat(value);
            }
            ExprKind::Element(of, k) => match self.atom(of) {
                Expr { kind: ExprKind::Read(place), span } => {
                    return Expr { kind: ExprKind::Read(place.with(Step::Element(*k))), span };
                }
                other => ExprKind::Element(Box::new(other), *k),
            },
            ExprKind::Contract(formula, factors) => {
                let factor = |e: &Expr| match &e.kind {
                    ExprKind::Read(_) => e.clone(),
                    _ => self.atom(e),
                };
                ExprKind::Contract(*formula, factors.iter().map(factor).collect())
            }
            ExprKind::Pure(path, args) => {
                ExprKind::Pure(path.clone(), args.iter().map(|a| self.atom(a)).collect())
            }
            ExprKind::Partials(path, args) => {
                ExprKind::Partials(path.clone(), args.iter().map(|a| self.atom(a)).collect())
            }
            ExprKind::Tuple(parts) => ExprKind::Tuple(parts.iter().map(|e| self.flat(e)).collect()),
            ExprKind::Array(parts) => ExprKind::Array(parts.iter().map(|e| self.flat(e)).collect()),
            ExprKind::Cast(of, ty) => ExprKind::Cast(Box::new(self.flat(of)), ty.clone()),
            ExprKind::Repeat(of, n) => ExprKind::Repeat(Box::new(self.flat(of)), n.clone()),
            ExprKind::Fill(of, shape) => ExprKind::Fill(Box::new(self.flat(of)), shape.clone()),
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Read(_)
            | ExprKind::Len(..)
            | ExprKind::Zero(_)
            | ExprKind::ZeroShadow(_)
            | ExprKind::ZeroLike(_)
            | ExprKind::EmptyStack => e.kind.clone(),
        };
        Expr { kind, span: e.span }
    }

    /// A coefficient of a place: of a variable, or of a name in the expression.
    pub(super) fn of_place(&mut self, place: &Place, k: usize) -> Option<Expr> {
        if self.order == 1 || self.names.value(place.var).is_none() {
            return Some(Expr::read(self.dot(place, k)?));
        }
        let elements: Vec<u32> = place
            .path
            .iter()
            .map_while(|step| match step {
                Step::Element(k) => Some(*k),
                Step::Field(_) | Step::Index(_) | Step::Part(_) | Step::Re | Step::Im => None,
            })
            .collect();
        let of = self.of_name(place.var, &elements, k)?;
        match (place.path.get(elements.len()..), of.kind) {
            (None | Some([]), kind) => Some(Expr { kind, span: place.span }),
            (Some(rest), ExprKind::Read(of)) => {
                Some(Expr::read(rest.iter().fold(of, |of, step| of.with(step.clone()))))
            }
            _ => None,
        }
    }

    fn of_name(&mut self, var: VarId, element: &[u32], k: usize) -> Option<Expr> {
        let key = (var, element.to_vec(), k);
        if let Some(known) = self.names.coefficients.get(&key) {
            return known.clone();
        }
        let rate = self.names.rates.iter().find(|(own, _)| *own == var).map(|(_, of)| of.clone());
        let made = match rate {
            Some(of) => self.of_atom(&of, k + 1).map(|c| Expr::int(k as i128 + 1) * c),
            None => {
                let value = self.names.value(var)?.clone();
                let node = self.node(&value);
                node.is_called(var);
                self.coefficient(&node, element, k)
            }
        };
        let made = made.map(|c| self.named(c));
        self.names.coefficients.insert(key, made.clone());
        made
    }

    /// A coefficient of a name or number.
    pub(super) fn of_atom(&mut self, atom: &Expr, k: usize) -> Option<Expr> {
        let node = self.node(atom);
        self.coefficient(&node, &[], k)
    }

    /// Of a function that is linear in each of two numbers: `Σ f(a_j, b_{k-j})`.
    pub(super) fn bilinear(&mut self, func: Func, [a, b]: [&Node; 2], k: usize) -> Vec<Expr> {
        let is_square = func == Func::Mul && a.expr.same(b.expr);
        let mut out = Vec::new();
        for j in (0..=k).rev().filter(|j| !is_square || 2 * j >= k) {
            let (Some(first), Some(second)) = (self.of_order(a, j), self.of_order(b, k - j)) else {
                continue;
            };
            out.push(match is_square && 2 * j > k {
                true => first * (second.clone() + second),
                false if func == Func::Mul => first * second,
                false => Expr::func(func, vec![first, second]),
            });
        }
        out
    }

    /// Of `w = a/b`: `(a_k - Σ b_j w_{k-j})/b`.
    pub(super) fn quotient(&mut self, node: &Node, [a, b]: [&Node; 2], k: usize) -> Vec<Expr> {
        let (value, by) = (self.value(node), self.value_of(b));
        let mut terms: Vec<Expr> = self.coefficient(a, &[], k).into_iter().collect();
        for j in 1..=k {
            let Some(of_divisor) = self.coefficient(b, &[], j) else { continue };
            let rest = if j == k { Some(value.clone()) } else { self.of_atom(&value, k - j) };
            terms.extend(rest.map(|rest| -(of_divisor * rest)));
        }
        let reciprocal = self.atom(&(Expr::int(1) / by));
        sum(terms).map(|sum| sum * reciprocal).into_iter().collect()
    }

    /// Of a function whose tangent isn't linear in those of the arguments by partial derivatives alone: with the
    /// derivatives of the arguments by the parameter in place of tangents it is that of the value, which has the coefficients
    /// `k w_k`.
    pub(super) fn pushed(
        &mut self,
        node: &Node,
        push: Push,
        (values, value): (&[Expr], &Expr),
        k: usize,
    ) -> Vec<Expr> {
        let rates: Vec<Option<Expr>> = node.parts.iter().map(|part| self.rate(part)).collect();
        let Some(pushed) = push(values, value, &rates) else { return Vec::new() };
        let rate = self.atom(&pushed);
        let by = Expr::float(1.0 / k as f64);
        self.of_atom(&rate, k - 1).map(|c| by * c).into_iter().collect()
    }

    /// The derivative of a part by the parameter.
    fn rate(&mut self, part: &Node) -> Option<Expr> {
        if let Some((var, _)) = self.names.rates.iter().find(|(_, of)| of.same(part.expr)) {
            return Some(Expr::read(Place::var(*var)));
        }
        let first = self.coefficient(part, &[], 1)?;
        let var = self.new_binding("d", Type::Unknown);
        self.active.insert(var);
        self.names.bound.push((var, first));
        self.names.rates.push((var, part.expr.clone()));
        Some(Expr::read(Place::var(var)))
    }

    fn of_order(&mut self, node: &Node, k: usize) -> Option<Expr> {
        match k {
            0 => Some(self.value_of(node)),
            _ => self.coefficient(node, &[], k),
        }
    }
}
