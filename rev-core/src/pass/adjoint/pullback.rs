//! The transpose of an expression's derivative: from the cotangent of its value to updates of the
//! shadows of the places it reads.
//!
//! A cotangent travels down the expression as `base · conj(coef)`: `base` a shadow, `coef` the
//! product of the partial derivatives so far, a plain value that is shared by all seeds of a sweep.
//! Only functions that aren't holomorphic, or whose derivative may be infinite, make a new base.
//! Conditions on the way (`select`, `max`, `if`) stay beside the product and guard it as a whole,
//! so that an infinite derivative in the branch not taken never meets a zero.

use super::Builder;
use crate::check::type_of;
use crate::ir::{
    accesses, Block, Expr, ExprKind, Number, Place, Range, Release, Span, Step, Stmt, StmtKind, Type,
    UpdateOp, VarId, VarKind,
};
use crate::ops::{Contraction, Derivative, Func};
use crate::pass::inverse_block;
use crate::pass::partials::partials_of;
use std::collections::BTreeSet;

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

/// Rounds each product together with the sum to which it is added.
fn fuse_products(block: &mut Block) {
    for stmt in block {
        if let StmtKind::Update { op: UpdateOp::Add | UpdateOp::Sub, expr, .. } = &mut stmt.kind {
            if let ExprKind::Func(Func::Scale, _) = &expr.kind {
                let product = std::mem::replace(expr, Expr::int(0));
                *expr = Expr::func(Func::Fused, vec![product]);
            }
        }
        stmt.blocks_mut().into_iter().for_each(fuse_products);
    }
}

fn is_trivial(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Literal(..) | ExprKind::Named(_) | ExprKind::Const(_) => true,
        ExprKind::Read(p) => p.path.is_empty(),
        _ => false,
    }
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

impl Builder {
    /// Updates of the shadows of what `e` reads, for a cotangent of its value.
    pub(super) fn pull(&mut self, e: &Expr, c: Cotangent) -> Block {
        if self.active_reads(e) == 0 {
            return Vec::new();
        }
        match &e.kind {
            ExprKind::Read(place) => self.pull_read(place, c),
            // what is added is a product again
            ExprKind::Func(f @ (Func::Fused | Func::MulAdd), args) => {
                let mut made = match f {
                    Func::Fused => args.iter().flat_map(|e| self.pull(e, c.clone())).collect(),
                    _ => self.pull_func(*f, args, c),
                };
                fuse_products(&mut made);
                made
            }
            ExprKind::Func(f, args) => self.pull_func(*f, args, c),
            ExprKind::Pure(path, args) => self.pull_pure(path, args, &[], c),
            ExprKind::Cast(inner, _) => self.pull_cast(e, inner, c),
            ExprKind::If(cond, a, b) => self.pull_choice(cond.as_ref().clone(), a, b, c),
            ExprKind::Block(lets, value) => self.pull_block(lets, value, c),
            ExprKind::Element(inner, k) => self.pull_element(inner, &[*k], c),
            ExprKind::Tuple(es) => self.pull_parts(es, |k| Step::Element(k as u32), c),
            ExprKind::Array(es) => self.pull_parts(es, |k| Step::Index(vec![Expr::index(k)]), c),
            ExprKind::Repeat(inner, n) => self.pull_fill(inner, std::slice::from_ref(n), c),
            ExprKind::Fill(inner, shape) => self.pull_fill(inner, shape, c),
            ExprKind::Contract(formula, factors) => self.pull_contraction(e, formula, factors, c),
            // passes give these names, and use their elements
            ExprKind::Partials(..)
            | ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Const(_)
            | ExprKind::Len(..)
            | ExprKind::Zero(_)
            | ExprKind::ZeroShadow(_)
            | ExprKind::EmptyStack => self.defect(e.span, "a cotangent of what has no derivative"),
        }
    }

    /// A derivative that can't be made.
    pub(super) fn defect(&mut self, span: Span, what: &str) -> Block {
        self.out.defects.push(crate::diag::defect(span, what));
        Vec::new()
    }

    /// How many reads of places that carry a derivative an expression has, lengths and indices apart.
    fn active_reads(&self, e: &Expr) -> usize {
        match &e.kind {
            ExprKind::Read(p) => usize::from(self.active.contains(&p.var)),
            ExprKind::Func(f, args) => match f.row().derivative {
                Derivative::Zero => 0,
                _ => args.iter().map(|a| self.active_reads(a)).sum(),
            },
            ExprKind::Block(lets, value) => {
                lets.iter().map(|(_, e)| self.active_reads(e)).sum::<usize>() + self.active_reads(value)
            }
            ExprKind::Repeat(inner, _) | ExprKind::Fill(inner, _) => self.active_reads(inner),
            ExprKind::Len(..) | ExprKind::ZeroShadow(_) => 0,
            _ => {
                let mut n = 0;
                e.each_child(&mut |child| n += self.active_reads(child));
                n
            }
        }
    }

    fn pull_read(&mut self, place: &Place, c: Cotangent) -> Block {
        let Some(shadow) = self.shadow(place) else { return Vec::new() };
        self.zero.remove(&shadow.var);
        let op = if c.negative { UpdateOp::Sub } else { UpdateOp::Add };
        let expr = self.scaled(c);
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

    fn pull_func(&mut self, func: Func, args: &[Expr], c: Cotangent) -> Block {
        let row = func.row();
        match row.derivative {
            Derivative::Zero => Vec::new(),
            Derivative::Choice(cond, i, j) => {
                let names = self.name_args(args);
                let inner = |b: &mut Builder| b.pull_choice(cond(&names.exprs), &args[i], &args[j], c);
                self.wrap(&names, None, func, inner)
            }
            Derivative::Partials(partials) => self.pull_partials(func, args, partials, false, c),
            Derivative::Singular(partials) => self.pull_partials(func, args, partials, true, c),
            Derivative::Pullback(pullback) => {
                let names = self.name_args(args);
                let v = self.new_binding("v", Type::Unknown);
                let value = Expr::read(Place::var(v));
                let inner = |b: &mut Builder| {
                    let negative = c.negative;
                    b.with_base(c, 2, &value, |b, base| {
                        let cotangents = pullback(&names.exprs, &value, &base);
                        b.pull_each(args, cotangents, |e| Cotangent { negative, ..Cotangent::of(e) })
                    })
                };
                self.wrap(&names, Some(v), func, inner)
            }
        }
    }

    fn pull_partials(
        &mut self,
        func: Func,
        args: &[Expr],
        partials: fn(&[Expr], &Expr) -> Vec<Expr>,
        singular: bool,
        c: Cotangent,
    ) -> Block {
        let names = self.name_args(args);
        let v = self.new_binding("v", Type::Unknown);
        let value = Expr::read(Place::var(v));
        let mut partials = partials(&names.exprs, &value);
        let mut args = args.to_vec();
        merge_equal(&mut args, &mut partials);
        let inner = |b: &mut Builder| {
            let several = args.iter().map(|a| b.active_reads(a)).sum::<usize>() > 1;
            if singular {
                let negative = c.negative;
                let absorb = |b: &mut Builder, base: Expr| {
                    let absorbed = partials
                        .into_iter()
                        .map(|p| Some(Expr::func(Func::Absorb, vec![base.clone(), b.conjugate(p)])))
                        .collect();
                    b.pull_each(&args, absorbed, |e| Cotangent { negative, ..Cotangent::of(e) })
                };
                b.with_base(c, if several { 2 } else { 1 }, &value, absorb)
            } else {
                b.with_coef(c, several, |b, c| {
                    let scaled = partials.into_iter().map(|p| (!p.is_number(0)).then_some(p)).collect();
                    b.pull_each(&args, scaled, |p| c.clone().times(p))
                })
            }
        };
        self.wrap(&names, Some(v), func, inner)
    }

    /// Pulls each argument that has a cotangent, made by `f` from its expression.
    fn pull_each(&mut self, args: &[Expr], parts: Vec<Option<Expr>>, f: impl Fn(Expr) -> Cotangent) -> Block {
        if args.len() != parts.len() {
            return self.defect(Span::NONE, "a function has another number of arguments than derivatives");
        }
        let mut out = Vec::new();
        for (arg, part) in args.iter().zip(parts) {
            if let Some(part) = part {
                out.extend(self.pull_shared(arg, f(part)));
            }
        }
        out
    }

    /// Like [`pull`](Self::pull), with a composite base bound to a name where it is used more than once.
    fn pull_shared(&mut self, e: &Expr, c: Cotangent) -> Block {
        let uses = self.active_reads(e);
        if uses > 1 && !is_trivial(&c.base) {
            let (coef, guards, negative) = (c.coef.clone(), c.guards.clone(), c.negative);
            let bare = Cotangent::of(c.base);
            return self
                .with_base(bare, 2, e, |b, base| b.pull(e, Cotangent { base, negative, coef, guards }));
        }
        self.pull(e, c)
    }

    /// Makes the cotangent a plain base expression (sign apart), bound to a name if it is composite
    /// and used more than once. `of` is what it is the cotangent of.
    fn with_base(
        &mut self,
        c: Cotangent,
        uses: usize,
        of: &Expr,
        f: impl FnOnce(&mut Builder, Expr) -> Block,
    ) -> Block {
        let base = self.scaled(c);
        if uses < 2 || is_part(&base) {
            return f(self, base);
        }
        let base = if is_typed(&base) { base } else { Expr::func(Func::ShadowOf, vec![base, of.clone()]) };
        let var = self.new_binding("c", Type::Shadow(Box::new(Type::Unknown)));
        let body = f(self, Expr::read(Place::var(var)));
        bind(var, base, body)
    }

    /// Binds the coefficient to a name if it is composite and used more than once.
    fn with_coef(
        &mut self,
        mut c: Cotangent,
        several: bool,
        f: impl FnOnce(&mut Builder, Cotangent) -> Block,
    ) -> Block {
        match c.coef.take() {
            Some(coef) if several && !is_trivial(&coef) => {
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

    /// Names for composite arguments, so that derivatives don't repeat them.
    fn name_args(&mut self, args: &[Expr]) -> Names {
        let vars: Vec<Option<VarId>> =
            args.iter().map(|a| (!is_trivial(a)).then(|| self.new_binding("t", Type::Unknown))).collect();
        let exprs =
            args.iter().zip(&vars).map(|(a, v)| v.map_or(a.clone(), |v| Expr::read(Place::var(v)))).collect();
        Names { vars, exprs, args: args.to_vec() }
    }

    /// The block that `inner` makes, inside bindings for those names that it uses.
    fn wrap(
        &mut self,
        names: &Names,
        value: Option<VarId>,
        func: Func,
        inner: impl FnOnce(&mut Builder) -> Block,
    ) -> Block {
        let mut body = inner(self);
        if let Some(v) = value.filter(|&v| accesses(&body, v)) {
            body = bind(v, Expr::func(func, names.exprs.clone()), body);
        }
        for (var, arg) in names.vars.iter().zip(&names.args).rev() {
            if let Some(v) = var.filter(|&v| accesses(&body, v)) {
                body = bind(v, arg.clone(), body);
            }
        }
        body
    }

    fn pull_choice(&mut self, cond: Expr, a: &Expr, b: &Expr, c: Cotangent) -> Block {
        let mut out = self.pull(a, c.clone().guarded(cond.clone(), true));
        out.extend(self.pull(b, c.guarded(cond, false)));
        out
    }

    /// A `#[pure]` function: its partial derivatives are a tuple, of tuples where it has several
    /// results, of which `result` is the one meant.
    fn pull_pure(&mut self, path: &str, args: &[Expr], result: &[u32], c: Cotangent) -> Block {
        let of_result = self.carried(&type_of(&self.out, &c.base));
        if of_result == Carried::Nothing {
            return Vec::new();
        }
        let g = self.new_binding("g", Type::Unknown);
        let partials = Expr::new(ExprKind::Partials(path.to_string(), args.to_vec()));
        let mut body = Vec::new();
        for (k, arg) in args.iter().enumerate() {
            if self.active_reads(arg) == 0 {
                continue;
            }
            let partial = Expr::read(element_of(Place::var(g), result).with(Step::Element(k as u32)));
            let mut c = c.clone();
            if of_result == Carried::Unknown {
                let any = match is_typed(&c.base) {
                    true => Expr::new(ExprKind::Cast(Box::new(c.base), any_shadow())),
                    false => c.base,
                };
                c.base = Expr::func(Func::ShadowOf, vec![any, partial.clone()]);
            }
            let c = c.times(partial);
            body.extend(match self.carried(&Type::Shadow(Box::new(type_of(&self.out, arg)))) {
                Carried::Number => self.pull_shared(arg, c),
                Carried::Nothing => Vec::new(),
                Carried::Unknown => self.pull_converted(arg, c, any_shadow()),
            });
        }
        bind(g, partials, body)
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
    fn pull_results(&mut self, path: &str, args: &[Expr], used: &ElementsUsed, shadow: &Place) -> Block {
        let mut out = Vec::new();
        for result in used {
            let c = Cotangent::of(Expr::read(element_of(shadow.clone(), result)));
            out.extend(self.pull_pure(path, args, result, c));
        }
        out
    }

    fn pull_cast(&mut self, e: &Expr, inner: &Expr, mut c: Cotangent) -> Block {
        if !is_typed(&c.base) {
            c.base = Expr::func(Func::ShadowOf, vec![c.base, e.clone()]);
        }
        let source = type_of(&self.out, inner);
        self.pull_converted(inner, c, Type::Shadow(Box::new(source)))
    }

    fn pull_converted(&mut self, inner: &Expr, c: Cotangent, to: Type) -> Block {
        let negative = c.negative;
        let base = Expr::new(ExprKind::Cast(Box::new(self.scaled(c)), to));
        self.pull_shared(inner, Cotangent { negative, ..Cotangent::of(base) })
    }

    /// An element of a tuple, or of a tuple inside it: the numbers of both, from the outside.
    fn pull_element(&mut self, inner: &Expr, numbers: &[u32], c: Cotangent) -> Block {
        let element = |e: &Expr| numbers.iter().fold(e.clone(), element_value);
        match (&inner.kind, numbers) {
            (_, []) => self.pull(inner, c),
            (ExprKind::Tuple(es), [k, rest @ ..]) => match es.get(*k as usize) {
                Some(e) => self.pull_element(e, rest, c),
                None => self.defect(inner.span, "an element that a tuple hasn't"),
            },
            (ExprKind::Read(place), _) => self.pull_read(&element_of(place.clone(), numbers), c),
            (ExprKind::Pure(path, args), _) => self.pull_pure(path, args, numbers, c),
            (ExprKind::Partials(path, args), _) => self.pull_pure(&partials_of(path), args, numbers, c),
            (ExprKind::Block(lets, value), _) => self.pull_block(lets, &element(value), c),
            (ExprKind::If(cond, a, b), _) => {
                self.pull_choice(cond.as_ref().clone(), &element(a), &element(b), c)
            }
            (ExprKind::Element(outer, k), _) => self.pull_element(outer, &[&[*k][..], numbers].concat(), c),
            (
                ExprKind::Literal(..)
                | ExprKind::Named(_)
                | ExprKind::Const(_)
                | ExprKind::Len(..)
                | ExprKind::Func(..)
                | ExprKind::Cast(..)
                | ExprKind::Array(_)
                | ExprKind::Repeat(..)
                | ExprKind::Fill(..)
                | ExprKind::Zero(_)
                | ExprKind::ZeroShadow(_)
                | ExprKind::EmptyStack
                | ExprKind::Contract(..),
                _,
            ) => self.defect(inner.span, "an element of what isn't a tuple"),
        }
    }

    /// A tuple or fixed-size array: the cotangent is one too, always a place.
    fn pull_parts(&mut self, parts: &[Expr], step: impl Fn(usize) -> Step, c: Cotangent) -> Block {
        let ExprKind::Read(place) = &c.base.kind else {
            return self.defect(c.base.span, "a tuple's cotangent that isn't a place");
        };
        let mut out = Vec::new();
        for (k, part) in parts.iter().enumerate() {
            let base = Expr::read(place.clone().with(step(k)));
            out.extend(self.pull(part, Cotangent { base, ..c.clone() }));
        }
        out
    }

    /// A product of arrays: the cotangent of each factor is the product of the target's with the other
    /// factors.
    fn pull_contraction(&mut self, e: &Expr, formula: &Contraction, factors: &[Expr], c: Cotangent) -> Block {
        let active: Vec<usize> = (0..factors.len()).filter(|k| self.active_reads(&factors[*k]) > 0).collect();
        let negative = c.negative;
        self.with_base(c, active.len(), e, |b, base| {
            let mut out = Vec::new();
            for k in active {
                let others = factors.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, f)| f.clone());
                let product = std::iter::once(base.clone()).chain(others).collect();
                let product = ExprKind::Contract(formula.adjoint(k, b.complex), product);
                out.extend(b.pull(&factors[k], Cotangent { negative, ..Cotangent::of(Expr::new(product)) }));
            }
            out
        })
    }

    /// Equal elements: the cotangents of all of them add up.
    fn pull_fill(&mut self, inner: &Expr, shape: &[Expr], c: Cotangent) -> Block {
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
        let body = self.pull(inner, Cotangent { base, ..c.clone() });
        indices.into_iter().zip(shape).rev().fold(body, |body, (var, n)| {
            let range = Range::new(Expr::index(0), n.clone());
            vec![Stmt::new(StmtKind::For { var, range, parallel: None, body })]
        })
    }

    /// Local names: like bindings.
    fn pull_block(&mut self, lets: &[(VarId, Expr)], value: &Expr, c: Cotangent) -> Block {
        let Some(((var, e), rest)) = lets.split_first() else { return self.pull(value, c) };
        if self.active_reads(e) == 0 {
            let body = self.pull_block(rest, value, c);
            return bind(*var, e.clone(), body);
        }
        self.active.insert(*var);
        let shadow = self.new_shadow(*var, VarKind::Ancilla);
        let mut body = self.pull_block(rest, value, c);
        let reads = rest.iter().map(|(_, e)| e).chain([value]).flat_map(|e| e.reads());
        let pull = self.pull_binding(e, &Place::var(shadow), &elements_used(*var, reads));
        if !self.form.elide_zero {
            body.splice(0..0, inverse_block(&pull));
        }
        body.extend(pull);
        let scope = shadow_scope(*var, shadow, body);
        bind(*var, e.clone(), scope)
    }

    /// The pull of a binding's expression by the shadow of the bound name, of which the scope uses
    /// some elements.
    pub(super) fn pull_binding(&mut self, e: &Expr, shadow: &Place, used: &ElementsUsed) -> Block {
        match &e.kind {
            ExprKind::Pure(path, args) if !used.is_empty() => self.pull_results(path, args, used, shadow),
            ExprKind::Partials(path, args) => self.pull_results(&partials_of(path), args, used, shadow),
            _ => self.pull(e, Cotangent::of(Expr::read(shadow.clone()))),
        }
    }
}

/// Bindings made for the arguments of a function.
struct Names {
    vars: Vec<Option<VarId>>,
    exprs: Vec<Expr>,
    args: Vec<Expr>,
}

/// Puts the partial derivatives by equal arguments together: `x·x` is pulled back once, by `x + x`.
fn merge_equal(args: &mut Vec<Expr>, partials: &mut Vec<Expr>) {
    let mut k = 0;
    while k < args.len() {
        if let Some(first) = (0..k).find(|&j| args[j].same(&args[k])) {
            args.remove(k);
            let partial = partials.remove(k);
            partials[first] = partials[first].clone() + partial;
        } else {
            k += 1;
        }
    }
}

fn bind(var: VarId, expr: Expr, body: Block) -> Block {
    if body.is_empty() {
        return body;
    }
    vec![Stmt::new(StmtKind::Let { var, expr, body })]
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
    let leading = |p: &'a Place| {
        p.path.iter().map_while(|step| match step {
            Step::Element(k) => Some(*k),
            Step::Field(_) | Step::Index(_) | Step::Part(_) | Step::Re | Step::Im => None,
        })
    };
    places
        .filter(|p| p.var == var)
        .map(|p| leading(p).collect())
        .filter(|e: &Vec<u32>| !e.is_empty())
        .collect()
}

/// An element of a tuple of tuples.
fn element_of(place: Place, element: &[u32]) -> Place {
    element.iter().fold(place, |place, k| place.with(Step::Element(*k)))
}

fn element_value(tuple: Expr, k: &u32) -> Expr {
    Expr::new(ExprKind::Element(Box::new(tuple), *k))
}
