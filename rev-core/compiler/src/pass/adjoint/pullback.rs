//! The transpose of an expression's derivative: from the cotangent of its value to updates of the
//! shadows of the places it reads.
//!
//! A cotangent travels down the expression as `base · conj(coef)`: `base` a shadow, `coef` the
//! product of the partial derivatives so far, a plain value that is shared by all seeds of a sweep.
//! Only functions that aren't holomorphic, or whose derivative may be infinite, make a new base.
//! Conditions on the way (`select`, `max`, `if`) stay beside the product and guard it as a whole,
//! so that an infinite derivative in the branch not taken never meets a zero. Where what a branch
//! computes may be an error outside of it, the choice becomes a branch of statements.

use super::Builder;
use crate::check::type_of;
use crate::ir::{
    height, Block, Derived, Expr, ExprKind, FunctionPath, Number, Place, Range, Release, Span, Step, Stmt,
    StmtKind, Type, UpdateOp, VarId, VarKind,
};
use crate::limits::{deeper, STEP};
use crate::ops::{Contraction, Derivative, Func};
use crate::pass::inverse_block;
use crate::pass::values::{is_trivial, Naming, Node};
use std::collections::{BTreeMap, BTreeSet};

/// A cotangent on its way down an expression.
#[derive(Clone)]
pub(super) struct Cotangent {
    base: Expr,
    negative: bool,
    coef: Option<Expr>,
    guards: Vec<(Expr, bool)>,
}

impl Cotangent {
    /// The value of a shadow.
    pub(super) fn of(shadow: Expr) -> Cotangent {
        Cotangent { base: shadow, negative: false, coef: None, guards: Vec::new() }
    }

    /// The opposite.
    pub(super) fn negated(mut self) -> Cotangent {
        self.negative = !self.negative;
        self
    }

    /// Times a partial derivative.
    pub(super) fn times(mut self, partial: Expr) -> Cotangent {
        let (negative, partial) = take_sign(partial);
        self.negative ^= negative;
        if !partial.is_number(1) {
            self.coef = Some(match self.coef.take() {
                None => partial,
                Some(c) => c * partial,
            });
        }
        self
    }

    fn guarded(mut self, cond: Expr, holds: bool) -> Cotangent {
        self.guards.push((cond, holds));
        self
    }
}

/// Splits a leading minus sign off.
fn take_sign(e: Expr) -> (bool, Expr) {
    match e.kind {
        ExprKind::Func(Func::Neg, mut args) if args.len() == 1 => (true, args.remove(0)),
        ExprKind::Literal(Number::Int(v), ref ty) if v < 0 => {
            (true, Expr { kind: ExprKind::Literal(Number::Int(-v), ty.clone()), span: e.span })
        }
        ExprKind::Literal(Number::Float(v), ref ty) if v < 0.0 => {
            (true, Expr { kind: ExprKind::Literal(Number::Float(-v), ty.clone()), span: e.span })
        }
        _ => (false, e),
    }
}

/// Whether a condition is as cheap to repeat as its name.
fn is_short(cond: &Expr) -> bool {
    match &cond.kind {
        ExprKind::Func(_, args) => args.iter().all(is_trivial),
        _ => is_trivial(cond),
    }
}

/// That all of some conditions hold, or don't, as they are guarded by.
fn all_of(guards: Vec<(Expr, bool)>) -> Option<Expr> {
    let holding = |(cond, holds): (Expr, bool)| if holds { cond } else { Expr::func(Func::Not, vec![cond]) };
    guards.into_iter().map(holding).reduce(|a, b| Expr::func(Func::And, vec![a, b]))
}

/// Whether a cotangent is a shadow, or has one as a part: nothing is gained by naming it.
fn is_part(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Read(_) => true,
        ExprKind::Func(Func::ShadowFromRe | Func::ShadowFromIm, args) => args.iter().all(is_part),
        _ => false,
    }
}

/// Whether a cotangent says itself of what type it is. The parts of complex numbers don't: they are
/// cotangents of real numbers as well.
fn is_typed(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Func(Func::ShadowFromRe | Func::ShadowFromIm, _) => false,
        ExprKind::Func(Func::Scale | Func::Absorb | Func::ShadowConj, args) => {
            args.iter().take(1).all(is_typed)
        }
        ExprKind::Cast(_, Type::Shadow(ty)) => **ty != Type::Unknown,
        _ => true,
    }
}

/// What the cotangents of a type are.
#[derive(Clone, Copy, PartialEq)]
enum Carried {
    Number,
    /// It carries no derivative.
    Nothing,
    /// The program doesn't say of what type a pure function's result is, or what is read from a struct: it may
    /// be an integer.
    Unknown,
}

fn any_shadow() -> Type {
    Type::Shadow(Box::new(Type::Unknown))
}

impl Builder<'_> {
    /// Updates of the shadows of what `e` reads, for a cotangent of its value.
    pub(super) fn pull(&mut self, e: &Expr, c: Cotangent) -> Block {
        let own = self.with_own_names(e);
        let node = self.node(own.as_ref().unwrap_or(e));
        let body = self.pull_node(&node, &[], c);
        inside(node.names(), body)
    }

    /// The pull of a binding's expression by the shadow of the bound name, of which the scope uses
    /// some elements.
    pub(super) fn pull_binding(&mut self, e: &Expr, shadow: &Place, used: &ElementsUsed) -> Block {
        let own = self.with_own_names(e);
        let node = self.node(own.as_ref().unwrap_or(e));
        let body = self.pull_bound(&node, shadow, used);
        inside(node.names(), body)
    }

    fn pull_bound(&mut self, node: &Node, shadow: &Place, used: &ElementsUsed) -> Block {
        if node.reads == 0 {
            return Vec::new();
        }
        match &node.expr.kind {
            ExprKind::Pure(path, _) if !used.is_empty() => self.pull_results(path, node, used, shadow),
            ExprKind::Partials(path, _) => {
                self.pull_results(&path.with(Derived::Partials), node, used, shadow)
            }
            // a call stands in a branch: what is used of its results
            _ if !used.is_empty() && has_call_as_value(node.expr) => used
                .iter()
                .flat_map(|e| {
                    self.pull_node(node, e, Cotangent::of(Expr::read(element_of(shadow.clone(), e))))
                })
                .collect(),
            _ => self.pull_node(node, &[], Cotangent::of(Expr::read(shadow.clone()))),
        }
    }

    /// The same for an element of the value, where that is a tuple, of tuples if there are several.
    fn pull_node(&mut self, node: &Node, element: &[u32], c: Cotangent) -> Block {
        if node.reads == 0 {
            return Vec::new();
        }
        deeper(|| self.pull_by_kind(node, element, c))
    }

    fn pull_by_kind(&mut self, node: &Node, element: &[u32], c: Cotangent) -> Block {
        if let Some((cond, branches)) = node.guarded() {
            return self.pull_branches(node, cond, branches, element, c);
        }
        match (&node.expr.kind, node.parts.as_slice()) {
            (ExprKind::Read(place), _) => self.pull_read(&element_of(place.clone(), element), c),
            (ExprKind::If(cond, ..), [a, b]) => self.pull_choice(cond.as_ref().clone(), a, b, element, c),
            (ExprKind::Block(lets, _), _) => self.pull_block(lets, node, element, c),
            (ExprKind::Pure(path, _), _) => self.pull_pure(path, node, element, c),
            (ExprKind::Element(_, k), [inner]) => {
                let element = [&[*k], element].concat();
                self.pull_node(inner, &element, c)
            }
            (ExprKind::Tuple(_), parts) if !element.is_empty() => {
                let part = parts.get(element[0] as usize);
                match part {
                    Some(part) => self.pull_node(part, &element[1..], c),
                    None => self.defect(node.expr.span, "an element that a tuple hasn't"),
                }
            }
            (ExprKind::Partials(path, _), _) if !element.is_empty() => {
                self.pull_pure(&path.with(Derived::Partials), node, element, c)
            }
            _ if !element.is_empty() => self.defect(node.expr.span, "an element of what isn't a tuple"),
            // what is added is a product again
            (ExprKind::Func(func @ (Func::Fused | Func::MulAdd), _), parts) => {
                let around = std::mem::replace(&mut self.fusing, true);
                let made = match (func, parts) {
                    (Func::Fused, [product]) => self.pull_node(product, &[], c),
                    _ => self.pull_func(*func, node, c),
                };
                self.fusing = around;
                made
            }
            (ExprKind::Func(func, _), _) => self.pull_func(*func, node, c),
            (ExprKind::Cast(..), [inner]) => self.pull_cast(node, inner, c),
            (ExprKind::Tuple(_), parts) => self.pull_parts(parts, |k| Step::Element(k as u32), c),
            (ExprKind::Array(_), parts) => self.pull_parts(parts, |k| Step::Index(vec![Expr::index(k)]), c),
            (ExprKind::Repeat(_, n), [inner]) => self.pull_fill(inner, std::slice::from_ref(n), c),
            (ExprKind::Fill(_, shape), [inner]) => self.pull_fill(inner, shape, c),
            (ExprKind::Contract(formula, _), _) => self.pull_contraction(node, formula, c),
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
            | (
                ExprKind::Partials(..) | ExprKind::Zero(_) | ExprKind::ZeroShadow(_) | ExprKind::ZeroLike(_),
                _,
            )
            | (ExprKind::EmptyStack, _) => {
                self.defect(node.expr.span, "a cotangent of what has no derivative")
            }
        }
    }

    /// A derivative that can't be made.
    pub(super) fn defect(&mut self, span: Span, what: &str) -> Block {
        self.out.defects.push(crate::diag::defect(span, what));
        Vec::new()
    }

    fn pull_read(&mut self, place: &Place, c: Cotangent) -> Block {
        let Some(shadow) = self.shadow(place) else { return Vec::new() };
        self.zero.remove(&shadow.var);
        let op = if c.negative { UpdateOp::Sub } else { UpdateOp::Add };
        let expr = match self.scaled(c) {
            // the product is rounded together with the sum to which it is added
            product if self.fusing && matches!(product.kind, ExprKind::Func(Func::Scale, _)) => {
                Expr::func(Func::Fused, vec![product])
            }
            value => value,
        };
        vec![Stmt::new(StmtKind::Update { op, place: shadow, expr }).at(place.span)]
    }

    /// `base · conj(coef)` under its guards, without the sign.
    fn scaled(&self, c: Cotangent) -> Expr {
        let coef = c.guards.into_iter().rev().fold(c.coef, |coef, (cond, holds)| {
            let value = coef.unwrap_or(Expr::int(1));
            Some(if holds { cond.choose(value, Expr::int(0)) } else { cond.choose(Expr::int(0), value) })
        });
        match coef {
            None => c.base,
            Some(coef) => Expr::func(Func::Scale, vec![c.base, self.conjugate(coef)]),
        }
    }

    pub(super) fn conjugate(&self, e: Expr) -> Expr {
        match e.kind {
            _ if !self.complex => e,
            ExprKind::Literal(..) => e,
            _ => Expr::func(Func::Conj, vec![e]),
        }
    }

    fn pull_func(&mut self, func: Func, node: &Node, c: Cotangent) -> Block {
        let values: Vec<Expr> = node.parts.iter().map(|p| self.value(p)).collect();
        match func.row().derivative {
            Derivative::Zero => Vec::new(),
            Derivative::Choice(cond, i, j) => {
                let cond = cond(&values);
                if matches!(cond.kind, ExprKind::Literal(Number::Bool(true), _)) {
                    return self.pull_shared(&node.parts[i], c);
                }
                node.are_used_in(&cond);
                self.pull_choice(cond, &node.parts[i], &node.parts[j], &[], c)
            }
            Derivative::Partials(partials) => {
                let value = self.value(node);
                self.pull_partials(node, partials(&values, &value), c)
            }
            Derivative::Singular(partials) => {
                let value = self.value(node);
                self.pull_singular(node, partials(&values, &value), c)
            }
            Derivative::Pullback(pullback, _) => {
                let (value, negative) = (self.value(node), c.negative);
                self.with_base(c, true, node, |b, base| {
                    let cotangents = pullback(&values, &value, &base);
                    let mut out = Vec::new();
                    for (arg, part) in node.parts.iter().zip(cotangents) {
                        if let Some(part) = part.filter(|_| arg.reads > 0) {
                            node.are_used_in(&part);
                            out.extend(b.pull_shared(arg, Cotangent { negative, ..Cotangent::of(part) }));
                        }
                    }
                    out
                })
            }
        }
    }

    fn pull_partials(&mut self, node: &Node, partials: Vec<Expr>, c: Cotangent) -> Block {
        let mut pulled = merge_equal(node, partials);
        pulled.retain(|(_, partial)| !partial.is_number(0));
        let several = several(&pulled);
        self.with_coef(c, several, |b, c| {
            let each = std::iter::repeat_n(c, pulled.len());
            pulled.into_iter().zip(each).flat_map(|((arg, p), c)| b.pull_shared(arg, c.times(p))).collect()
        })
    }

    /// Where a partial derivative can be infinite, it meets the cotangent at once.
    fn pull_singular(&mut self, node: &Node, partials: Vec<Expr>, c: Cotangent) -> Block {
        let pulled = merge_equal(node, partials);
        let (several, negative) = (several(&pulled), c.negative);
        self.with_base(c, several, node, |b, base| {
            let each = std::iter::repeat_n(base, pulled.len());
            let mut out = Vec::new();
            for ((arg, partial), base) in pulled.into_iter().zip(each) {
                let absorbed = Expr::func(Func::Absorb, vec![base, b.conjugate(partial)]);
                out.extend(b.pull_shared(arg, Cotangent { negative, ..Cotangent::of(absorbed) }));
            }
            out
        })
    }

    /// The pull of a part, with a composite base bound to a name where it is used more than once.
    fn pull_shared(&mut self, node: &Node, c: Cotangent) -> Block {
        if node.reads < 2 || is_trivial(&c.base) {
            return self.pull_node(node, &[], c);
        }
        let Cotangent { base, negative, coef, guards } = c;
        self.with_base(Cotangent::of(base), true, node, |b, base| {
            b.pull_node(node, &[], Cotangent { base, negative, coef, guards })
        })
    }

    /// Makes the cotangent of a part's value a plain base expression (sign apart), bound to a name if it is
    /// composite and used more than once, or long.
    fn with_base(
        &mut self,
        c: Cotangent,
        several: bool,
        node: &Node,
        f: impl FnOnce(&mut Self, Expr) -> Block,
    ) -> Block {
        let base = self.scaled(c);
        if is_part(&base) || !several && height(&base) <= STEP {
            return f(self, base);
        }
        let base = if is_typed(&base) {
            base
        } else {
            let value = self.value(node);
            node.is_used();
            Expr::func(Func::ShadowOf, vec![base, value])
        };
        let var = self.new_binding("c", Type::Shadow(Box::new(Type::Unknown)));
        let body = f(self, Expr::read(Place::var(var)));
        bind(var, base, body)
    }

    /// Binds the coefficient to a name if it is composite and used more than once, or has many factors.
    fn with_coef(
        &mut self,
        mut c: Cotangent,
        several: bool,
        f: impl FnOnce(&mut Self, Cotangent) -> Block,
    ) -> Block {
        match c.coef.take() {
            Some(coef) if several && !is_trivial(&coef) || height(&coef) > STEP => {
                let var = self.new_binding("k", Type::Unknown);
                c.coef = Some(Expr::read(Place::var(var)));
                let body = f(self, c);
                bind(var, coef, body)
            }
            coef => {
                c.coef = coef;
                f(self, c)
            }
        }
    }

    fn pull_choice(&mut self, cond: Expr, a: &Node, b: &Node, element: &[u32], mut c: Cotangent) -> Block {
        match (a.reads, b.reads) {
            (_, 0) => return self.pull_node(a, element, c.guarded(cond, true)),
            (0, _) => return self.pull_node(b, element, c.guarded(cond, false)),
            _ => {}
        }
        let mut names = Vec::new();
        let (cond, guards) = self.short_conditions(cond, std::mem::take(&mut c.guards), &mut names);
        c.guards = guards;
        let mut out = self.pull_node(a, element, c.clone().guarded(cond.clone(), true));
        out.extend(self.pull_node(b, element, c.guarded(cond, false)));
        inside(names, out)
    }

    /// A choice of what may be an error, or infinite, where it isn't chosen: a branch of statements, which computes what
    /// derivatives read and adds them where it is taken.
    fn pull_branches(
        &mut self,
        node: &Node,
        cond: &Expr,
        parts: [&Node; 2],
        element: &[u32],
        c: Cotangent,
    ) -> Block {
        node.closed.set(true);
        let [then, otherwise] = parts.map(|part| {
            let body = self.pull_node(part, element, c.clone());
            inside(part.names(), body)
        });
        if then.is_empty() && otherwise.is_empty() {
            return Vec::new();
        }
        let kind = StmtKind::If { cond: cond.clone(), post: None, then, otherwise };
        vec![Stmt::new(kind).at(node.expr.span)]
    }

    /// A condition, and those that guard it, in a form that can be repeated: with names for what is long, which
    /// evaluate nothing where the guards don't hold.
    fn short_conditions(
        &mut self,
        cond: Expr,
        guards: Vec<(Expr, bool)>,
        names: &mut Vec<(VarId, Expr)>,
    ) -> (Expr, Vec<(Expr, bool)>) {
        if guards.len() < 2 && is_short(&cond) {
            return (cond, guards);
        }
        let mut named = |b: &mut Self, value: Expr| {
            let var = b.new_binding("g", Type::BOOL);
            names.push((var, value));
            Expr::read(Place::var(var))
        };
        let around = all_of(guards).map(|all| if is_trivial(&all) { all } else { named(self, all) });
        let reached = around.iter().cloned().chain([cond]).map(|c| (c, true)).collect();
        let cond = all_of(reached).map_or(Expr::bool(true), |all| named(self, all));
        (cond, around.into_iter().map(|c| (c, true)).collect())
    }

    /// A `#[pure]` function: its partial derivatives are a tuple, of tuples where it has several
    /// results, of which `result` is the one meant.
    fn pull_pure(&mut self, path: &FunctionPath, node: &Node, result: &[u32], c: Cotangent) -> Block {
        let of_result = self.carried(&type_of(&self.out, &c.base));
        if of_result == Carried::Nothing {
            return Vec::new();
        }
        let args = node.parts.iter().map(|arg| {
            arg.is_used();
            self.value(arg)
        });
        let partials = Expr::new(ExprKind::Partials(path.clone(), args.collect()));
        let g = self.new_binding("g", Type::Unknown);
        let partial = |k| Expr::read(element_of(Place::var(g), result).with(Step::Element(k)));
        let pulled: Vec<_> = node.parts.iter().zip((0..).map(partial)).filter(|(a, _)| a.reads > 0).collect();
        let several = several(&pulled);
        let body = self.with_coef(c, several, |b, c| {
            let each = std::iter::repeat_n(c, pulled.len());
            let mut out = Vec::new();
            for ((arg, partial), c) in pulled.into_iter().zip(each) {
                out.extend(b.pull_argument(arg, partial, of_result, c));
            }
            out
        });
        bind(g, partials, body)
    }

    /// An argument of a `#[pure]` function, by the partial derivative of a result.
    fn pull_argument(&mut self, arg: &Node, partial: Expr, of_result: Carried, mut c: Cotangent) -> Block {
        if of_result == Carried::Unknown {
            let any = match is_typed(&c.base) {
                true => Expr::new(ExprKind::Cast(Box::new(c.base), any_shadow())),
                false => c.base,
            };
            c.base = Expr::func(Func::ShadowOf, vec![any, partial.clone()]);
        }
        let c = c.times(partial);
        match self.carried(&Type::Shadow(Box::new(type_of(&self.out, arg.expr)))) {
            Carried::Number => self.pull_shared(arg, c),
            Carried::Nothing => Vec::new(),
            // it may be a truth value, of which there is no shadow by which what is converted could get its type
            Carried::Unknown => {
                let negative = c.negative;
                self.with_base(c, arg.reads > 1, arg, |b, base| {
                    let base = Expr::new(ExprKind::Cast(Box::new(base), any_shadow()));
                    b.pull_node(arg, &[], Cotangent { negative, ..Cotangent::of(base) })
                })
            }
        }
    }

    fn carried(&self, shadow: &Type) -> Carried {
        match shadow {
            Type::Shadow(of) if **of == Type::Unknown => Carried::Unknown,
            Type::Shadow(of) if of.is_inactive(&self.out.generics) => Carried::Nothing,
            Type::Shadow(_) => Carried::Number,
            _ => Carried::Unknown,
        }
    }

    /// The binding `let t = g(..)` of a pure function with several results, of which the scope uses
    /// some.
    fn pull_results(
        &mut self,
        path: &FunctionPath,
        node: &Node,
        used: &ElementsUsed,
        shadow: &Place,
    ) -> Block {
        let mut out = Vec::new();
        for result in used {
            let c = Cotangent::of(Expr::read(element_of(shadow.clone(), result)));
            out.extend(self.pull_pure(path, node, result, c));
        }
        out
    }

    fn pull_cast(&mut self, node: &Node, inner: &Node, mut c: Cotangent) -> Block {
        if !is_typed(&c.base) {
            let value = self.value(node);
            node.is_used();
            c.base = Expr::func(Func::ShadowOf, vec![c.base, value]);
        }
        let to = match type_of(&self.out, inner.expr) {
            // of an adjoint on numbers, whose products of cotangents are called shadows
            shadow @ Type::Shadow(_) => shadow,
            source => Type::Shadow(Box::new(source)),
        };
        self.pull_converted(inner, c, to)
    }

    fn pull_converted(&mut self, inner: &Node, c: Cotangent, to: Type) -> Block {
        let negative = c.negative;
        let base = Expr::new(ExprKind::Cast(Box::new(self.scaled(c)), to));
        self.pull_shared(inner, Cotangent { negative, ..Cotangent::of(base) })
    }

    /// A tuple or fixed-size array: the cotangent is one too, always a place.
    fn pull_parts(&mut self, parts: &[Node], step: impl Fn(usize) -> Step, c: Cotangent) -> Block {
        let ExprKind::Read(place) = &c.base.kind else {
            return self.defect(c.base.span, "a tuple's cotangent that isn't a place");
        };
        let mut out = Vec::new();
        for (k, part) in parts.iter().enumerate() {
            let base = Expr::read(place.clone().with(step(k)));
            out.extend(self.pull_node(part, &[], Cotangent { base, ..c.clone() }));
        }
        out
    }

    /// A product of arrays: the cotangent of each factor is the product of the target's with the other
    /// factors.
    fn pull_contraction(&mut self, node: &Node, formula: &Contraction, c: Cotangent) -> Block {
        let active: Vec<usize> = (0..node.parts.len()).filter(|k| node.parts[*k].reads > 0).collect();
        let negative = c.negative;
        self.with_base(c, active.len() > 1, node, |b, base| {
            let mut out = Vec::new();
            for k in active {
                let others = node.parts.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, f)| b.factor(f));
                let product = std::iter::once(base.clone()).chain(others).collect();
                let product = ExprKind::Contract(formula.adjoint(k, b.complex), product);
                let c = Cotangent { negative, ..Cotangent::of(Expr::new(product)) };
                out.extend(b.pull_shared(&node.parts[k], c));
            }
            out
        })
    }

    /// A factor of a product of arrays: an array as it is written, a number by its name.
    fn factor(&mut self, node: &Node) -> Expr {
        match &node.expr.kind {
            ExprKind::Read(_) => node.expr.clone(),
            _ => {
                node.is_used();
                self.value(node)
            }
        }
    }

    /// Equal elements: the cotangents of all of them add up.
    fn pull_fill(&mut self, inner: &Node, shape: &[Expr], c: Cotangent) -> Block {
        let ExprKind::Read(place) = &c.base.kind else {
            return self.defect(c.base.span, "an array's cotangent that isn't a place");
        };
        let indices: Vec<VarId> = shape
            .iter()
            .map(|_| {
                let var = self.new_binding("i", Type::INDEX);
                self.out.vars[var.0 as usize].kind = VarKind::Index;
                var
            })
            .collect();
        let index = indices.iter().map(|&i| Expr::read(Place::var(i))).collect();
        let base = Expr::read(place.clone().with(Step::Index(index)));
        let body = self.pull_node(inner, &[], Cotangent { base, ..c });
        indices.into_iter().zip(shape).rev().fold(body, |body, (var, n)| {
            let range = Range::new(Expr::index(0), n.clone());
            vec![Stmt::new(StmtKind::For { var, range, parallel: None, body })]
        })
    }

    /// Local names: like bindings. They are in scope around all that is made of the whole expression.
    fn pull_block(&mut self, lets: &[(VarId, Expr)], node: &Node, element: &[u32], c: Cotangent) -> Block {
        let Some((value, values)) = node.parts.split_last() else { return Vec::new() };
        node.opened.set(true);
        let mut names = Vec::new();
        for ((var, _), e) in lets.iter().zip(values) {
            // a name may only seem to depend on something: then its cotangent is given to nothing
            if e.reads > 0 || self.active.contains(var) {
                names.push((*var, self.new_shadow(*var, VarKind::Ancilla), e));
            }
        }
        let mut body = self.pull_node(value, element, c);
        for (var, shadow, e) in names.into_iter().rev() {
            let used = self.elements.get(&var).cloned().unwrap_or_default();
            let pull = self.pull_bound(e, &Place::var(shadow), &used);
            if !self.form.elide_zero {
                body.splice(0..0, inverse_block(&pull));
            }
            body.extend(pull);
            body = shadow_scope(var, shadow, body);
        }
        body
    }
}

/// Parts with their partial derivatives.
pub(in crate::pass) type Pulled<'n, 'e> = Vec<(&'n Node<'e>, Expr)>;

/// Whether a cotangent is used for more than one update.
fn several(pulled: &Pulled) -> bool {
    pulled.iter().map(|(arg, _)| arg.reads).sum::<usize>() > 1
}

/// The arguments that carry derivatives with their partial derivatives, those by equal arguments put together:
/// `x·x` is pulled back once, by `x + x`.
pub(in crate::pass) fn merge_equal<'n, 'e>(node: &'n Node<'e>, partials: Vec<Expr>) -> Pulled<'n, 'e> {
    let mut out: Pulled = Vec::new();
    for (arg, partial) in node.parts.iter().zip(partials).filter(|(arg, _)| arg.reads > 0) {
        match out.iter_mut().find(|(first, _)| first.expr.same(arg.expr)) {
            Some((_, sum)) => *sum = std::mem::replace(sum, Expr::int(0)) + partial,
            None => out.push((arg, partial)),
        }
    }
    out.iter().for_each(|(_, partial)| node.are_used_in(partial));
    out
}

/// Statements inside bindings.
pub(in crate::pass) fn inside(names: Vec<(VarId, Expr)>, body: Block) -> Block {
    names.into_iter().rev().fold(body, |body, (var, value)| bind(var, value, body))
}

pub(in crate::pass) fn bind(var: VarId, expr: Expr, body: Block) -> Block {
    if body.is_empty() {
        return body;
    }
    vec![Stmt::new(StmtKind::Let { var, expr, body })]
}

/// Whether the value of an expression is that of a pure function in a branch.
fn has_call_as_value(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Pure(..) | ExprKind::Partials(..) => true,
        ExprKind::If(_, a, b) => has_call_as_value(a) || has_call_as_value(b),
        ExprKind::Block(_, value) => has_call_as_value(value),
        _ => false,
    }
}

/// The scope of a shadow: zeros, dropped at its end.
pub(super) fn shadow_scope(of: VarId, shadow: VarId, body: Block) -> Block {
    let init = Expr::new(ExprKind::ZeroShadow(Place::var(of)));
    vec![Stmt::new(StmtKind::Ancilla { var: shadow, init, release: Release::Dropped, body })]
}

/// Elements of a tuple, by their places in it and in the tuples inside it.
pub(in crate::pass) type ElementsUsed = BTreeSet<Vec<u32>>;

/// The elements by which a bound name is used; none if it is used as a whole only.
pub(in crate::pass) fn elements_used<'a>(
    var: VarId,
    places: impl Iterator<Item = &'a Place>,
) -> ElementsUsed {
    places.filter(|p| p.var == var).map(leading_elements).filter(|e| !e.is_empty()).collect()
}

/// The same of each variable that statements read.
pub(in crate::pass) fn each_element_used(block: &[Stmt]) -> BTreeMap<VarId, ElementsUsed> {
    let mut out: BTreeMap<VarId, ElementsUsed> = BTreeMap::new();
    let mut add = |place: &Place| {
        let elements = leading_elements(place);
        if !elements.is_empty() {
            out.entry(place.var).or_default().insert(elements);
        }
    };
    block.iter().for_each(|s| s.each_access_deep(&mut |place, _| add(place)));
    out
}

fn leading_elements(place: &Place) -> Vec<u32> {
    let element = |step: &Step| match step {
        Step::Element(k) => Some(*k),
        Step::Field(_) | Step::Index(_) | Step::Part(_) | Step::Re | Step::Im => None,
    };
    place.path.iter().map_while(element).collect()
}

/// An element of a tuple of tuples.
fn element_of(place: Place, element: &[u32]) -> Place {
    element.iter().fold(place, |place, k| place.with(Step::Element(*k)))
}
