//! The walk over a program, and the scopes of its variables.

use std::collections::BTreeSet;

use super::calls::call;
use super::held::{storage, Held};
use super::{expect, Form};
use crate::diag::Diagnostics;
use crate::ir::{
    Access, Block, Callee, Expr, ExprKind, Function, Mode, Module, Place, Release, Span, Stmt, StmtKind,
    Type, VarId, VarKind,
};

/// A program on the way through it.
pub(super) struct Walk<'f> {
    pub function: &'f Function,
    pub form: Form,
    pub module: Option<&'f Module>,
    /// Whether a variable is in scope.
    live: Vec<bool>,
    /// What a shadow is the shadow of, as far as that is said.
    pub shadow_of: Vec<Option<Place>>,
    pub held: Held,
    /// The statement, where an expression has no position of its own.
    pub span: Span,
    pub out: Diagnostics,
}

/// What is wrong with a program.
pub(super) fn walk(function: &Function, form: Form, module: Option<&Module>) -> Diagnostics {
    let n = function.vars.len();
    let mut walk = Walk {
        function,
        form,
        module,
        live: vec![false; n],
        shadow_of: vec![None; n],
        held: Held::default(),
        span: function.span,
        out: Diagnostics::default(),
    };
    walk.variables();
    walk.block(&function.body);
    walk.out
}

impl<'f> Walk<'f> {
    pub fn expect(&mut self, holds: bool, what: impl FnOnce(&Function) -> String) {
        let function = self.function;
        expect(holds, &mut self.out, self.span, || what(function));
    }

    fn kind(&self, var: VarId) -> Option<VarKind> {
        self.function.vars.get(var.0 as usize).map(|v| v.kind)
    }

    fn variables(&mut self) {
        let function = self.function;
        let mut names = BTreeSet::new();
        for var in &function.vars {
            self.expect(names.insert(&var.name), |_| format!("two variables are named `{}`", var.name));
        }
        for param in &function.params {
            let is_param = matches!(self.kind(*param), Some(VarKind::Param(_)));
            self.expect(is_param, |f| {
                format!("`{}` is listed as a parameter, but isn't one", name(f, *param))
            });
            if let Some(live) = self.live.get_mut(param.0 as usize) {
                let twice = std::mem::replace(live, true);
                self.expect(!twice, |f| format!("the parameter `{}` is listed twice", name(f, *param)));
            }
        }
        let listed = function.vars.iter().filter(|v| matches!(v.kind, VarKind::Param(_))).count();
        self.expect(listed == function.params.len(), |_| "a parameter isn't listed as one".into());
        for constant in &function.constants {
            let read = self.kind(*constant) == Some(VarKind::Param(Mode::Read));
            self.expect(read, |f| format!("the constant `{}` isn't a parameter to read", name(f, *constant)));
        }
        // an adjoint: each parameter with its shadow after it
        let pairs = function.params.chunks(2);
        let ty = |v: VarId| function.vars.get(v.0 as usize).map_or(&Type::Unknown, |v| &v.ty);
        let is_pair =
            |p: &[VarId]| matches!(p, [v, s] if matches!(ty(*s), Type::Shadow(of) if **of == *ty(*v)));
        if pairs.clone().all(is_pair) {
            for pair in pairs {
                if let ([var, shadow], true) = (pair, pair.iter().all(|v| self.kind(*v).is_some())) {
                    self.shadow_of[shadow.0 as usize] = Some(Place::var(*var));
                }
            }
        }
    }

    fn block(&mut self, block: &'f Block) {
        block.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &'f Stmt) {
        if stmt.span.is_some() {
            self.span = stmt.span;
        }
        let span = self.span;
        stmt.each_expr(&mut |e| self.expr(e));
        stmt.each_place(&mut |p, access| self.access(p, access));
        match &stmt.kind {
            StmtKind::Update { place, expr, .. } => self.apart(place, std::iter::once(expr)),
            StmtKind::Instr { instr, places, operands } => {
                let row = instr.row();
                let right = (places.len(), operands.len()) == (row.places, row.operands);
                self.expect(right, |_| {
                    format!("`{}` has another number of operands than it takes", row.name)
                });
                for (k, place) in places.iter().enumerate() {
                    self.apart(place, operands.iter());
                    for other in &places[..k] {
                        self.not_shared(place, other);
                    }
                }
            }
            StmtKind::Let { var, expr, body } => {
                self.bind(*var, VarKind::Binding);
                self.holding([expr], |w| w.block(body));
                self.unbind(*var);
            }
            StmtKind::Ancilla { var, init, release, body } => {
                self.expect(*release != Release::Managed, |_| "an ancilla isn't uncomputed".into());
                self.bind(*var, VarKind::Ancilla);
                if let ExprKind::ZeroShadow(of) = &init.kind {
                    self.note_shadow(*var, of);
                }
                match release {
                    Release::Managed | Release::Uncomputed | Release::Checked => {
                        self.holding([init], |w| w.block(body))
                    }
                    Release::Dropped => self.block(body),
                }
                self.unbind(*var);
            }
            StmtKind::If { cond, post, then, otherwise } => {
                let both = |w: &mut Self| {
                    w.block(then);
                    w.block(otherwise);
                };
                // run forward, a condition needn't hold again
                if post.is_none() && self.form == Form::Reversible {
                    self.holding([cond], both);
                } else {
                    both(self);
                }
            }
            StmtKind::While { body, .. } => self.block(body),
            StmtKind::For { var, range, parallel, body } => {
                self.bind(*var, VarKind::Index);
                self.holding(range.exprs(), |w| w.block(body));
                for place in parallel.iter().flat_map(|p| &p.injective) {
                    self.access(place, Access::Read);
                }
                for var in parallel.iter().flat_map(|p| &p.disjoint) {
                    self.used(*var);
                }
                self.unbind(*var);
            }
            StmtKind::Call { callee, direction, args } => {
                if let Callee::Param(var) = callee {
                    self.used(*var);
                }
                call(self, callee, *direction, args);
            }
            StmtKind::Compute { compute, body } => {
                self.block(compute);
                self.block(body);
            }
            StmtKind::Push { stack, place } | StmtKind::Pop { stack, place } => self.not_shared(stack, place),
            StmtKind::Release { var, .. } => self.used(*var),
            StmtKind::Unchecked { body } => self.block(body),
            StmtKind::Inverse { .. } => self.expect(false, |_| "an inverse block isn't written out".into()),
            StmtKind::External { .. } => {}
        }
        self.span = span;
    }

    /// Statements during which what some expressions read stays.
    fn holding<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>, f: impl FnOnce(&mut Self))
    where
        'f: 'e,
    {
        let mut held = Vec::new();
        for expr in exprs {
            expr.each_read(&mut |p| held.push(storage(self.function, p)));
        }
        held.iter().for_each(|s| self.held.take(s));
        f(self);
        held.iter().for_each(|s| self.held.give(s));
    }

    /// What a statement writes is nothing that its expressions, or its own indices, read.
    fn apart(&mut self, place: &Place, exprs: impl Iterator<Item = &'f Expr>) {
        let own = storage(self.function, place);
        let mut clash = false;
        let mut see = |p: &Place| clash |= own.surely_shares(&storage(self.function, p));
        exprs.for_each(|e| e.each_read(&mut see));
        place.indices().for_each(|e| e.each_read(&mut see));
        self.expect(!clash, |f| format!("a statement reads `{}`, which it writes", name(f, place.var)));
    }

    fn not_shared(&mut self, a: &Place, b: &Place) {
        let shared = storage(self.function, a).surely_shares(&storage(self.function, b));
        self.expect(!shared, |f| format!("a statement changes `{}` twice", name(f, a.var)));
    }

    fn bind(&mut self, var: VarId, kind: VarKind) {
        self.expect(self.kind(var) == Some(kind), |f| {
            format!("`{}` is bound as what it isn't listed as", name(f, var))
        });
        if let Some(live) = self.live.get_mut(var.0 as usize) {
            let inside = std::mem::replace(live, true);
            self.expect(!inside, |f| format!("`{}` is bound inside its own scope", name(f, var)));
        }
    }

    fn unbind(&mut self, var: VarId) {
        if let Some(live) = self.live.get_mut(var.0 as usize) {
            *live = false;
            self.shadow_of[var.0 as usize] = None;
        }
    }

    /// A variable holds the shadow of a place.
    fn note_shadow(&mut self, var: VarId, of: &Place) {
        let ty = |v: VarId| self.function.vars.get(v.0 as usize).map_or(&Type::Unknown, |v| &v.ty);
        let right = match (ty(var), ty(of.var)) {
            (Type::Shadow(own), of_type) => {
                own.is_partial() || of_type.is_partial() || !of.path.is_empty() || **own == *of_type
            }
            (Type::Unknown, _) => true,
            _ => false,
        };
        self.expect(right, |f| {
            format!("`{}` has another type than a shadow of `{}`", name(f, var), name(f, of.var))
        });
        if let Some(slot) = self.shadow_of.get_mut(var.0 as usize) {
            *slot = Some(of.clone());
        }
    }

    fn used(&mut self, var: VarId) {
        let live = self.live.get(var.0 as usize).copied().unwrap_or(false);
        self.expect(live, |f| format!("`{}` is used outside of its scope", name(f, var)));
    }

    /// A place is named in a statement that treats it so.
    fn access(&mut self, place: &'f Place, access: Access) {
        self.used(place.var);
        place.indices().for_each(|e| self.expr(e));
        let allowed = match (self.kind(place.var), access) {
            (Some(VarKind::Param(Mode::Write) | VarKind::Ancilla) | None, _) => true,
            (Some(VarKind::Param(Mode::Read) | VarKind::Binding | VarKind::Index), access) => {
                access == Access::Read
            }
            (Some(VarKind::Param(Mode::Accumulate)), access) => access == Access::Accumulate,
        };
        self.expect(allowed, |f| {
            let how = match access {
                Access::Read => "read",
                Access::Accumulate | Access::Write => "written",
            };
            format!("`{}` is {how}, which it may not be", name(f, place.var))
        });
        if access != Access::Read {
            let own = storage(self.function, place);
            let free = !self.held.is_shared(&own);
            self.expect(free, |f| {
                format!("`{}` changes while something stands for what it was", name(f, place.var))
            });
        }
    }

    fn takes(&mut self, name: &str, number: usize, args: &[Expr]) {
        self.expect(args.len() == number, |_| {
            format!("`{name}` takes {number} arguments, and has {}", args.len())
        });
    }

    fn expr(&mut self, expr: &'f Expr) {
        match &expr.kind {
            ExprKind::Read(p) => self.access(p, Access::Read),
            // only the shape
            ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) => {
                self.used(p.var);
                p.indices().for_each(|e| self.expr(e));
            }
            ExprKind::Block(lets, value) => {
                for (var, e) in lets {
                    self.expr(e);
                    self.bind(*var, VarKind::Binding);
                }
                self.expr(value);
                lets.iter().for_each(|(var, _)| self.unbind(*var));
            }
            ExprKind::Func(func, args) => {
                self.takes(func.name(), func.row().args.len(), args);
                args.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Contract(formula, factors) => {
                self.takes("a product's formula", formula.factors().len(), factors);
                factors.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Pure(..)
            | ExprKind::Partials(..)
            | ExprKind::Cast(..)
            | ExprKind::If(..)
            | ExprKind::Element(..)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Repeat(..)
            | ExprKind::Fill(..)
            | ExprKind::Zero(_)
            | ExprKind::EmptyStack => expr.each_child(&mut |e| self.expr(e)),
        }
    }
}

/// The name of a variable, or its number where there is no such variable.
pub(super) fn name(function: &Function, var: VarId) -> String {
    function.vars.get(var.0 as usize).map_or_else(|| format!("#{}", var.0), |v| v.name.clone())
}
