//! The values that derivatives read: a tree beside an expression, in which each part has a name where one is needed.
//!
//! A derivative reads the values of arguments, which were computed on the way to the value of the whole. Each of them is
//! bound once, the inner ones first, and the outer ones are computed from their names, so that what is written
//! grows as the expression does, not as its size times its depth.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Expr, ExprKind, Function, Place, Span, Step, Type, Var, VarId, VarKind};
use crate::ops::{Derivative, Func};
use crate::pass::adjoint::ElementsUsed;
use crate::pass::distinct_names;

/// An expression that is differentiated.
pub(super) struct Node<'e> {
    pub expr: &'e Expr,
    /// How often it reads what carries a derivative: how many updates of shadows a cotangent of the value becomes.
    pub reads: usize,
    /// The parts through which derivatives may flow; none where none do. Of a block the values of its names, then its own.
    pub parts: Vec<Node<'e>>,
    /// Whether it can be an error, or not a finite number.
    pub may_fail: bool,
    name: Cell<Option<VarId>>,
    /// Whether something reads the name.
    used: Cell<bool>,
    /// Whether the names of a block are in scope outside of it.
    pub opened: Cell<bool>,
    /// Whether the names of the parts are bound in branches of their own, and so aren't there outside.
    pub closed: Cell<bool>,
}

/// What is known of the variables of the function for which derivatives are made.
pub(super) struct Known<'b> {
    /// The function made.
    pub out: &'b mut Function,
    /// The variables that carry a derivative.
    pub active: &'b mut BTreeSet<VarId>,
    /// The elements of each variable that are used, of those that aren't only used as a whole.
    pub elements: &'b mut BTreeMap<VarId, ElementsUsed>,
}

/// A derivative while it is being made: gives names to values.
pub(super) trait Naming {
    /// What is known of the variables.
    fn known(&mut self) -> Known<'_>;

    /// A new binding.
    fn new_binding(&mut self, name: &str, ty: Type) -> VarId {
        let var = Var { name: name.into(), ty, kind: VarKind::Binding, span: Span::NONE };
        self.known().out.add_var(var)
    }

    /// The expression with its blocks' names all different, if they aren't: their scopes become one.
    fn with_own_names(&mut self, expr: &Expr) -> Option<Expr> {
        if has_own_names(expr) {
            return None;
        }
        let mut own = expr.clone();
        let Known { out, elements, .. } = self.known();
        for (new, old) in distinct_names(out, &mut own) {
            if let Some(used) = elements.get(&old).cloned() {
                elements.insert(new, used);
            }
        }
        Some(own)
    }

    /// The tree of an expression. The local names in it that carry derivatives are active from here on.
    fn node<'e>(&mut self, expr: &'e Expr) -> Node<'e> {
        let mut parts = Vec::new();
        let reads = match &expr.kind {
            ExprKind::Read(p) => usize::from(self.known().active.contains(&p.var)),
            ExprKind::Block(lets, value) => {
                for (var, e) in lets {
                    let part = self.node(e);
                    if part.reads > 0 {
                        self.known().active.insert(*var);
                    }
                    parts.push(part);
                }
                let value = self.node(value);
                let reads = value.reads;
                parts.push(value);
                reads
            }
            ExprKind::Func(func, _) if matches!(func.row().derivative, Derivative::Zero) => 0,
            _ => {
                parts.extend(differentiable_parts(expr).into_iter().map(|e| self.node(e)));
                parts.iter().map(|p| p.reads).sum()
            }
        };
        let mut known = parts.iter().peekable();
        let mut may_fail = fails_itself(expr);
        expr.each_child(&mut |child| {
            let part = known.next_if(|part| std::ptr::eq(part.expr, child));
            may_fail |= part.map_or_else(|| !faults(child, false).is_empty(), |part| part.may_fail);
        });
        if reads == 0 {
            parts.clear();
        }
        let (opened, closed) = (Cell::new(false), Cell::new(false));
        Node { expr, reads, parts, may_fail, name: Cell::new(None), used: Cell::new(false), opened, closed }
    }

    /// The value of a part as derivatives are written with: itself if it is a name or number, else a name for it, which
    /// is bound if it is [used](Node::is_used).
    fn value(&mut self, node: &Node) -> Expr {
        if is_trivial(node.expr) {
            return node.expr.clone();
        }
        let var = node.name.get().unwrap_or_else(|| self.new_binding("t", Type::Unknown));
        node.name.set(Some(var));
        Expr::read(Place::var(var))
    }
}

impl Node<'_> {
    /// Says that the value is read by its name.
    pub fn is_used(&self) {
        self.used.set(true);
    }

    /// Says what name the value has.
    pub fn is_called(&self, name: VarId) {
        self.name.set(Some(name));
    }

    /// Says so for the parts, and the expression itself, whose names an expression reads.
    pub fn are_used_in(&self, by: &Expr) {
        by.each_read(&mut |place| {
            self.parts
                .iter()
                .chain([self])
                .filter(|n| n.name.get() == Some(place.var))
                .for_each(Node::is_used);
        });
    }

    /// The condition and the branches of a choice of which a branch counts only where it is taken, as [`is_guarding`] says.
    pub fn guarded(&self) -> Option<(&Expr, [&Node<'_>; 2])> {
        let (cond, branches) = match (&self.expr.kind, self.parts.as_slice()) {
            (ExprKind::If(cond, ..), [a, b]) => (cond.as_ref(), [a, b]),
            (ExprKind::Func(Func::Select, args), [_, a, b]) => (args.first()?, [a, b]),
            _ => return None,
        };
        (self.may_fail && is_guarding(cond, branches.map(|b| b.expr))).then_some((cond, branches))
    }

    /// The names that are used with their values, each before those that are computed from it.
    pub fn names(&self) -> Vec<(VarId, Expr)> {
        self.finish().0
    }

    /// The expression as it is computed from its names, and these with their values.
    pub fn finish(&self) -> (Vec<(VarId, Expr)>, Expr) {
        let mut names = Vec::new();
        let written = self.written(&mut names);
        (names, written)
    }

    /// The expression, computed from its names.
    fn written(&self, names: &mut Vec<(VarId, Expr)>) -> Expr {
        let whole = self.parts.is_empty() || self.closed.get();
        let kind = if whole { self.expr.kind.clone() } else { self.of_parts(names) };
        let written = Expr { kind, span: self.expr.span };
        match self.name.get().filter(|_| self.used.get()) {
            Some(var) => {
                names.push((var, written));
                Expr::read(Place::var(var))
            }
            None => written,
        }
    }

    fn of_parts(&self, names: &mut Vec<(VarId, Expr)>) -> ExprKind {
        if let ExprKind::Block(lets, value) = &self.expr.kind {
            return self.block(lets, value, names);
        }
        let mut parts = self.parts.iter().map(|p| p.written(names)).collect::<Vec<_>>();
        let mut last = |whole: &Expr| Box::new(parts.pop().unwrap_or_else(|| whole.clone()));
        match &self.expr.kind {
            ExprKind::Cast(e, ty) => ExprKind::Cast(last(e), ty.clone()),
            ExprKind::Element(e, k) => ExprKind::Element(last(e), *k),
            ExprKind::If(cond, a, b) => {
                let (otherwise, then) = (last(b), last(a));
                ExprKind::If(cond.clone(), then, otherwise)
            }
            ExprKind::Repeat(e, n) => ExprKind::Repeat(last(e), n.clone()),
            ExprKind::Fill(e, shape) => ExprKind::Fill(last(e), shape.clone()),
            ExprKind::Func(func, _) => ExprKind::Func(*func, parts),
            ExprKind::Pure(path, _) => ExprKind::Pure(path.clone(), parts),
            ExprKind::Partials(path, _) => ExprKind::Partials(path.clone(), parts),
            ExprKind::Tuple(_) => ExprKind::Tuple(parts),
            ExprKind::Array(_) => ExprKind::Array(parts),
            ExprKind::Contract(formula, _) => ExprKind::Contract(*formula, parts),
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Read(_)
            | ExprKind::Len(..)
            | ExprKind::Block(..)
            | ExprKind::Zero(_)
            | ExprKind::ZeroShadow(_)
            | ExprKind::ZeroLike(_)
            | ExprKind::EmptyStack => self.expr.kind.clone(),
        }
    }

    /// A block: where its names are in scope outside, its value.
    fn block(&self, lets: &[(VarId, Expr)], value: &Expr, names: &mut Vec<(VarId, Expr)>) -> ExprKind {
        let mut own = Vec::new();
        let mut parts = self.parts.iter();
        for ((var, _), part) in lets.iter().zip(&mut parts) {
            let value = part.written(if self.opened.get() { names } else { &mut own });
            if self.opened.get() { &mut *names } else { &mut own }.push((*var, value));
        }
        let value = parts.next().map_or_else(|| value.clone(), |value| value.written(names));
        match self.opened.get() {
            true => value.kind,
            false => ExprKind::Block(own, Box::new(value)),
        }
    }
}

/// Whether no two blocks of an expression declare the same variable.
fn has_own_names(expr: &Expr) -> bool {
    let (mut seen, mut work) = (BTreeSet::new(), vec![expr]);
    while let Some(e) = work.pop() {
        if let ExprKind::Block(lets, _) = &e.kind {
            if lets.iter().any(|(var, _)| !seen.insert(*var)) {
                return false;
            }
        }
        e.each_child(&mut |child| work.push(child));
    }
    true
}

/// The parts of an expression through which derivatives may flow.
fn differentiable_parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Func(_, parts)
        | ExprKind::Pure(_, parts)
        | ExprKind::Partials(_, parts)
        | ExprKind::Tuple(parts)
        | ExprKind::Array(parts)
        | ExprKind::Contract(_, parts) => parts.iter().collect(),
        ExprKind::Cast(part, _)
        | ExprKind::Element(part, _)
        | ExprKind::Repeat(part, _)
        | ExprKind::Fill(part, _) => vec![part],
        ExprKind::If(_, a, b) => vec![a, b],
        ExprKind::Literal(..)
        | ExprKind::Named(_)
        | ExprKind::Function(_)
        | ExprKind::Const(_)
        | ExprKind::Read(_)
        | ExprKind::Len(..)
        | ExprKind::Block(..)
        | ExprKind::Zero(_)
        | ExprKind::ZeroShadow(_)
        | ExprKind::ZeroLike(_)
        | ExprKind::EmptyStack => Vec::new(),
    }
}

/// Whether nothing is gained by naming a value.
pub(super) fn is_trivial(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Literal(..) | ExprKind::Named(_) | ExprKind::Function(_) | ExprKind::Const(_) => true,
        ExprKind::Read(p) => p.path.is_empty(),
        _ => false,
    }
}

/// Whether a choice computes in a branch what may be an error where that isn't taken, an index that is in range only there,
/// or may not be finite, a division by what isn't zero there: times a cotangent of zero that would not be zero. What the
/// condition computes, or the other branch, is computed anyway.
fn is_guarding(cond: &Expr, branches: [&Expr; 2]) -> bool {
    let [a, b] = branches.map(|e| faults(e, false));
    let sure = faults(cond, true);
    let [in_a, in_b] = branches.map(|e| faults(e, true));
    let only = |own: &[&Expr], other: &[&Expr]| own.iter().any(|e| !is_in(e, &sure) && !is_in(e, other));
    only(&a, &in_b) || only(&b, &in_a)
}

fn is_in(e: &Expr, list: &[&Expr]) -> bool {
    list.iter().any(|other| other.same(e))
}

/// The parts of an expression that can be an error or infinite; only those that are computed whatever the values are, if `surely`.
fn faults(expr: &Expr, surely: bool) -> Vec<&Expr> {
    let (mut found, mut work) = (Vec::new(), vec![expr]);
    while let Some(e) = work.pop() {
        if fails_itself(e) {
            found.push(e);
        }
        match &e.kind {
            ExprKind::If(cond, a, b) if surely => {
                work.push(cond);
                let b = faults(b, true);
                found.extend(faults(a, true).into_iter().filter(|e| is_in(e, &b)));
            }
            ExprKind::Func(Func::And | Func::Or, args) if surely => work.extend(args.first()),
            _ => e.each_child(&mut |child| work.push(child)),
        }
    }
    found
}

/// Whether a function is taken to have infinite values or derivatives, at numbers that aren't too large to be squared, or can be
/// an error. Elementary functions aren't told apart.
fn may_be_infinite(func: Func) -> bool {
    use Func::*;
    func.is_elementary()
        || matches!(func, Div | Recip | Quot | Rem | Sqrt | Powi | PowiDerivative | LnGamma | Polygamma)
        || matches!(func, Norm | Arg | ArgGradient | Unit)
}

/// Whether an expression can be an error, or have an infinite value or derivative, where its parts aren't.
fn fails_itself(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Read(place) => place.path.iter().any(|s| matches!(s, Step::Index(_) | Step::Part(_))),
        ExprKind::Func(func, _) => may_be_infinite(*func),
        ExprKind::Pure(..) | ExprKind::Partials(..) | ExprKind::Contract(..) => true,
        ExprKind::Literal(..)
        | ExprKind::Named(_)
        | ExprKind::Function(_)
        | ExprKind::Const(_)
        | ExprKind::Len(..)
        | ExprKind::Cast(..)
        | ExprKind::Element(..)
        | ExprKind::If(..)
        | ExprKind::Block(..)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Repeat(..)
        | ExprKind::Fill(..)
        | ExprKind::Zero(_)
        | ExprKind::ZeroShadow(_)
        | ExprKind::ZeroLike(_)
        | ExprKind::EmptyStack => false,
    }
}
