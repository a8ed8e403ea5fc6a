//! The rule of each statement.

use super::pullback::{shadow_scope, Cotangent};
use super::Builder;
use crate::check::overlap::{overlap, Overlap};
use crate::check::type_of;
use crate::ir::{
    Arg, ArgValue, Block, Callee, Derived, Direction, Expr, ExprKind, Mode, Parallel, Place, Range, Release,
    Stmt, StmtKind, Type, UpdateOp, VarId, VarKind,
};
use crate::ops::{Func, Instr, InstrAdjoint};
use crate::pass::inverse_block;
use crate::pass::values::Naming;

impl Builder<'_> {
    /// The adjoint of a sequence of statements: in reverse order.
    pub(super) fn block(&mut self, block: &[Stmt]) -> Block {
        block.iter().rev().flat_map(|s| self.stmt(s)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Block {
        use StmtKind::*;
        let made = match &stmt.kind {
            Update { op, place, expr } => self.update(*op, place, expr),
            Instr { instr, places, operands } => self.instr(*instr, places, operands),
            Let { var, expr, body } => self.binding(*var, expr, body),
            Ancilla { var, init, release, body } => self.ancilla(*var, init, *release, body),
            If { cond, post, then, otherwise } => self.branch(cond, post.as_ref(), then, otherwise),
            While { cond, post, body } => {
                let body = self.repeated(body);
                vec![Stmt::new(While { cond: post.clone(), post: cond.clone(), body })]
            }
            For { var, range, parallel, body } => {
                let range = Range { reversed: !range.reversed, ..range.clone() };
                let body = self.repeated(body);
                let parallel = parallel.as_ref().map(|p| self.parallel(p, &body));
                vec![Stmt::new(For { var: *var, range, parallel, body })]
            }
            Call { callee, direction, args } => self.call(callee, *direction, args, stmt),
            Compute { compute, body } => {
                let mut out = self.block(&inverse_block(compute));
                out.extend(self.block(body));
                out.extend(self.block(compute));
                out
            }
            Push { stack, place } => self.push(stack, place),
            Pop { stack, place } => self.pop(stack, place),
            Release { var, value } => vec![Stmt::new(Release { var: *var, value: value.clone() })],
            External { .. } if self.form.external => vec![stmt.clone()],
            External { .. } => Vec::new(),
            Unchecked { body } => {
                let body = self.block(body);
                vec![Stmt::new(Unchecked { body })]
            }
            Inverse { body } => self.block(&inverse_block(body)),
        };
        made.into_iter().map(|s| if s.span.is_some() { s } else { s.at(stmt.span) }).collect()
    }

    /// A shadow is accessed where its variable is, if at all, so what is declared about one holds for
    /// both.
    fn parallel(&self, declared: &Parallel, body: &Block) -> Parallel {
        let shadows = declared.disjoint.iter().filter_map(|v| self.shadows.get(v).copied());
        let disjoint = declared.disjoint.iter().copied().chain(shadows).collect();
        Parallel { disjoint, injective: declared.injective.clone() }.about(body)
    }

    fn update(&mut self, op: UpdateOp, place: &Place, expr: &Expr) -> Block {
        let undo = StmtKind::Update { op: op.inverse(), place: place.clone(), expr: expr.clone() };
        let mut out = vec![Stmt::new(undo)];
        let Some(shadow) = self.shadow(place).filter(|s| !self.is_zero(s)) else { return out };
        let c = Cotangent::of(Expr::read(shadow.clone()));
        match op {
            UpdateOp::Add => out.extend(self.pull(expr, c)),
            UpdateOp::Sub => out.extend(self.pull(expr, c.negated())),
            UpdateOp::Xor => {}
        }
        out
    }

    fn scale_shadow(&self, instr: Instr, shadow: Place, by: Expr) -> Stmt {
        Stmt::new(StmtKind::Instr { instr, places: vec![shadow], operands: vec![self.conjugate(by)] })
    }

    fn instr(&mut self, instr: Instr, places: &[Place], operands: &[Expr]) -> Block {
        let row = instr.row();
        let on = |instr, places: Vec<Place>, operands: &[Expr]| {
            Stmt::new(StmtKind::Instr { instr, places, operands: operands.to_vec() })
        };
        let undo = on(row.inverse, places.to_vec(), operands);
        let shadows: Vec<Place> = places.iter().filter_map(|p| self.shadow(p)).collect();
        if row.adjoint == InstrAdjoint::Nothing || shadows.iter().all(|s| self.is_zero(s)) {
            return vec![undo];
        }
        if shadows.len() < places.len() {
            return self.without_shadows(undo, &places.iter().collect::<Vec<_>>());
        }
        for s in &shadows {
            self.zero.remove(&s.var);
        }
        let x = || Expr::read(places[0].clone());
        match row.adjoint {
            InstrAdjoint::Nothing => vec![undo],
            InstrAdjoint::InverseOnShadows => vec![undo, on(row.inverse, shadows, operands)],
            InstrAdjoint::ScaleByOperand => vec![undo, on(Instr::MulInt, shadows, operands)],
            InstrAdjoint::ScaleByReciprocal => vec![undo, on(Instr::DivInt, shadows, operands)],
            // the minus sign apart, so that the factor's conjugate is simple
            InstrAdjoint::Inv => {
                let factor = -(Expr::func(Func::Recip, vec![x()]) * Expr::func(Func::Recip, vec![x()]));
                let scale = self.scale_shadow(Instr::ScaleBy, shadows[0].clone(), factor);
                vec![undo, scale]
            }
            InstrAdjoint::Rotation => self.rotation(undo, places, &shadows, operands, true),
            InstrAdjoint::ReverseRotation => self.rotation(undo, places, &shadows, operands, false),
            InstrAdjoint::ScaleBy => {
                let mut out = vec![undo];
                out.extend(self.pull(&operands[0], Cotangent::of(Expr::read(shadows[0].clone())).times(x())));
                out.push(self.scale_shadow(Instr::ScaleBy, shadows[0].clone(), operands[0].clone()));
                out
            }
            InstrAdjoint::UnscaleBy => {
                // x' = x/c, so c̄ -= (x̄'/c) x', with x' before it is undone: no division but that of x̄'
                let by = operands[0].clone();
                let c = Cotangent::of(Expr::read(shadows[0].clone())).times(x());
                let mut out = vec![self.scale_shadow(Instr::UnscaleBy, shadows[0].clone(), by.clone())];
                out.extend(self.pull(&by, c.negated()));
                out.push(undo);
                out
            }
        }
    }

    /// What moves values between places of which some have no shadow, since they are integers: so are the parts of
    /// the others that it is about.
    fn without_shadows(&mut self, undo: Stmt, places: &[&Place]) -> Block {
        let out = &self.out;
        let lost =
            |p: &&&Place| !self.active.contains(&p.var) && !out.var(p.var).ty.is_inactive(&out.generics);
        match places.iter().find(lost).map(|p| p.span) {
            Some(span) => self.defect(span, "only some of the places between which values move have shadows"),
            None => vec![undo],
        }
    }

    /// With `a' = a cos θ - b sin θ`, `b' = a sin θ + b cos θ`: `∂a'/∂θ = -b'`, `∂b'/∂θ = a'`, so
    /// the angle's part comes before the values are rotated back. The reverse rotation has the
    /// opposite signs.
    fn rotation(
        &mut self,
        undo: Stmt,
        places: &[Place],
        shadows: &[Place],
        operands: &[Expr],
        forward: bool,
    ) -> Block {
        let part = |shadow: &Place, by: &Place, negative: bool| {
            let c = Cotangent::of(Expr::read(shadow.clone())).times(Expr::read(by.clone()));
            if negative {
                c.negated()
            } else {
                c
            }
        };
        let mut out = self.pull(&operands[0], part(&shadows[0], &places[1], forward));
        out.extend(self.pull(&operands[0], part(&shadows[1], &places[0], !forward)));
        out.push(undo);
        let back = if forward { Instr::Irot } else { Instr::Rot };
        out.push(Stmt::new(StmtKind::Instr {
            instr: back,
            places: shadows.to_vec(),
            operands: operands.to_vec(),
        }));
        out
    }

    fn binding(&mut self, var: VarId, expr: &Expr, body: &[Stmt]) -> Block {
        if !self.active.contains(&var) {
            let body = self.block(body);
            return vec![Stmt::new(StmtKind::Let { var, expr: expr.clone(), body })];
        }
        let shadow = self.new_shadow(var, VarKind::Ancilla);
        let place = Place::var(shadow);
        self.zero.insert(shadow);
        let mut inner = self.block(body);
        if !self.is_zero(&place) {
            let used = self.elements.get(&var).cloned().unwrap_or_default();
            let pull = self.pull_binding(expr, &place, &used);
            if !self.form.elide_zero {
                inner.splice(0..0, inverse_block(&pull));
            }
            inner.extend(pull);
        }
        self.zero.remove(&shadow);
        let inner = shadow_scope(var, shadow, inner);
        vec![Stmt::new(StmtKind::Let { var, expr: expr.clone(), body: inner })]
    }

    fn ancilla(&mut self, var: VarId, init: &Expr, release: Release, body: &[Stmt]) -> Block {
        let body = if self.active.contains(&var) {
            let shadow = self.new_shadow(var, VarKind::Ancilla);
            self.zero.insert(shadow);
            let body = self.block(body);
            self.zero.remove(&shadow);
            shadow_scope(var, shadow, body)
        } else {
            self.block(body)
        };
        vec![Stmt::new(StmtKind::Ancilla { var, init: init.clone(), release, body })]
    }

    fn branch(&mut self, cond: &Expr, post: Option<&Expr>, then: &[Stmt], otherwise: &[Stmt]) -> Block {
        let before = self.zero.clone();
        let then = self.block(then);
        let after_then = std::mem::replace(&mut self.zero, before);
        let otherwise = self.block(otherwise);
        self.zero = self.zero.intersection(&after_then).copied().collect();
        vec![Stmt::new(StmtKind::If {
            cond: post.unwrap_or(cond).clone(),
            post: post.map(|_| cond.clone()),
            then,
            otherwise,
        })]
    }

    /// A call: the callee's adjoint, each argument followed by its shadow. A value argument gets a
    /// name, and a shadow of its own that is then pulled back; so does a place of which
    /// another argument may read a part, since two arguments may not accumulate into one element.
    ///
    /// Where the cotangents of everything that the callee writes are zero, so are all that its
    /// adjoint would give: what is left is the uncall. An adjoint that is only run has none.
    fn call(&mut self, callee: &Callee, direction: Direction, args: &[Arg], stmt: &Stmt) -> Block {
        let has_inverse = !self.is_pullback(callee);
        if self.form.elide_zero && has_inverse && args.iter().all(|arg| self.gives_nothing(arg)) {
            return inverse_block(std::slice::from_ref(stmt));
        }
        if direction.transposed {
            return self.defect(stmt.span, "a derivative of several tangents at once");
        }
        let direction = Direction { adjoint: direction.adjoint + 1, ..direction };
        let mut call_args = Vec::new();
        let mut scopes = Vec::new();
        let mut after = Vec::new();
        for (k, arg) in args.iter().enumerate() {
            match &arg.value {
                ArgValue::Place(place) => {
                    let shadow =
                        self.arg_shadow(place, arg.mode, self.shares(args, k), &mut scopes, &mut after);
                    call_args.push(arg.clone());
                    call_args.push(Arg { mode: arg.mode.of_shadow(), value: ArgValue::Place(shadow) });
                }
                ArgValue::Expr(e) => {
                    let var = self.new_binding("arg", Type::Unknown);
                    let shadow = self.new_shadow(var, VarKind::Ancilla);
                    scopes.push(Scope { var, value: e.clone(), shadow });
                    after.push((shadow, Target::Expr(e.clone())));
                    call_args.push(Arg { mode: arg.mode, value: ArgValue::Place(Place::var(var)) });
                    call_args
                        .push(Arg { mode: arg.mode.of_shadow(), value: ArgValue::Place(Place::var(shadow)) });
                }
            }
        }
        let call =
            Stmt::new(StmtKind::Call { callee: callee.clone(), direction, args: call_args }).at(stmt.span);
        let mut pulls = Vec::new();
        for (shadow, target) in after {
            let c = Cotangent::of(Expr::read(Place::var(shadow)));
            pulls.extend(match target {
                Target::Expr(e) => self.pull(&e, c),
                Target::Shadow(place) => vec![Stmt::new(StmtKind::Update {
                    op: UpdateOp::Add,
                    place,
                    expr: Expr::read(Place::var(shadow)),
                })],
            });
        }
        let mut body = Vec::new();
        if !self.form.elide_zero {
            body.extend(inverse_block(&pulls));
        }
        body.push(call);
        body.extend(pulls);
        scopes.into_iter().rev().fold(body, |body, scope| scope.around(body))
    }

    /// Whether a callee is an adjoint that is only run.
    fn is_pullback(&self, callee: &Callee) -> bool {
        match callee {
            Callee::Path(path) => path.is(Derived::Pullback),
            Callee::Param(var) => {
                matches!(&self.out.var(*var).ty, Type::Function(name) if name.is(Derived::Pullback))
            }
        }
    }

    /// Whether a call has no cotangent from an argument: it is only read, or its shadow is zero, with a height that the call leaves
    /// as it is or that doesn't matter.
    fn gives_nothing(&self, arg: &Arg) -> bool {
        match &arg.value {
            ArgValue::Place(place) if arg.mode != Mode::Read => {
                let is_zero = |s: &VarId| self.is_zero(&place.rooted_at(*s));
                let ty = || type_of(&self.out, &Expr::read(place.clone()));
                self.shadows.get(&place.var).is_none_or(is_zero)
                    && !(self.form.of_numbers && may_hold_stacks(&ty()))
            }
            ArgValue::Place(_) | ArgValue::Expr(_) => true,
        }
    }

    /// Whether another argument that is read by reference may share an element.
    fn shares(&self, args: &[Arg], k: usize) -> bool {
        let read = |arg: usize| match (&args[arg].value, args[arg].mode) {
            (ArgValue::Place(place), Mode::Read) => Some(place),
            _ => None,
        };
        let meets = |own: &Place, other: &Place| overlap(own, other, &self.values) != Overlap::Distinct;
        let others = (0..args.len()).filter(|&other| other != k).filter_map(read);
        read(k).is_some_and(|own| others.into_iter().any(|other| meets(own, other)))
    }

    /// The shadow that is passed for a place. In place of a constant's own, which stays as it is, a call is given
    /// one to drop.
    fn arg_shadow(
        &mut self,
        place: &Place,
        mode: Mode,
        shared: bool,
        scopes: &mut Vec<Scope>,
        after: &mut Vec<(VarId, Target)>,
    ) -> Place {
        let shadow = match self.shadows.get(&place.var) {
            Some(_) if self.out.constants.contains(&place.var) && !self.is_held(place) => {
                place.rooted_at(self.spare_shadow(place.var))
            }
            Some(&s) if !self.out.constants.contains(&place.var) => place.rooted_at(s),
            None if self.active.contains(&place.var) => {
                self.defect(place.span, "an argument that carries a derivative has no shadow");
                return self.temporary_shadow(place, scopes);
            }
            // the place carries no derivative, and what the callee finds is dropped
            Some(_) | None => return self.temporary_shadow(place, scopes),
        };
        self.zero.remove(&shadow.var);
        if mode == Mode::Read && shared {
            let temporary = self.temporary_shadow(place, scopes);
            after.push((temporary.var, Target::Shadow(shadow)));
            return temporary;
        }
        shadow
    }

    /// A shadow of a constant array, in scope everywhere, for what calls find for it: one for all of them, as
    /// they may be made in a loop.
    fn spare_shadow(&mut self, constant: VarId) -> VarId {
        if let Some(&spare) = self.spares.get(&constant) {
            return spare;
        }
        let ty = Type::Shadow(Box::new(self.out.var(constant).ty.clone()));
        let spare = self.new_binding("arg_bar", ty);
        self.out.vars[spare.0 as usize].kind = VarKind::Ancilla;
        self.spares.insert(constant, spare);
        spare
    }

    /// A program's statements in the scope of the shadows of its constants.
    pub(super) fn with_spares(&mut self, body: Block) -> Block {
        std::mem::take(&mut self.spares).into_iter().fold(body, |body, (constant, shadow)| {
            let value = Expr::new(ExprKind::ZeroShadow(Place::var(constant)));
            Scope { var: shadow, value, shadow }.around(body)
        })
    }

    /// Whether a place holds a value of known size.
    fn is_held(&self, place: &Place) -> bool {
        fn held(ty: &Type) -> bool {
            match ty {
                Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) => true,
                Type::Fixed(t, _) | Type::Shadow(t) => held(t),
                Type::Tuple(types) => types.iter().all(held),
                Type::Array(..) | Type::Stack(_) | Type::Struct(..) | Type::Function(_) | Type::Unknown => {
                    false
                }
            }
        }
        held(&type_of(&self.out, &Expr::read(place.clone())))
    }

    fn temporary_shadow(&mut self, place: &Place, scopes: &mut Vec<Scope>) -> Place {
        let ty = if place.path.is_empty() { self.out.var(place.var).ty.clone() } else { Type::Unknown };
        let shadow = self.new_binding("arg_bar", Type::Shadow(Box::new(ty)));
        self.out.vars[shadow.0 as usize].kind = VarKind::Ancilla;
        scopes.push(Scope { var: shadow, value: Expr::new(ExprKind::ZeroShadow(place.clone())), shadow });
        Place::var(shadow)
    }

    fn push(&mut self, stack: &Place, place: &Place) -> Block {
        let mut out = vec![Stmt::new(StmtKind::Pop { stack: stack.clone(), place: place.clone() })];
        let (stack_bar, shadow) = match (self.shadow(stack), self.shadow(place)) {
            (Some(stack_bar), Some(shadow)) => (stack_bar, shadow),
            (None, None) => return out,
            _ => return self.without_shadows(out.remove(0), &[stack, place]),
        };
        self.zero.remove(&stack_bar.var);
        let pop = Stmt::new(StmtKind::Pop { stack: stack_bar, place: shadow.clone() });
        if self.is_zero(&shadow) {
            self.zero.remove(&shadow.var);
            out.push(pop);
            return out;
        }
        out.push(self.give_up(place, shadow, vec![pop]));
        out
    }

    fn pop(&mut self, stack: &Place, place: &Place) -> Block {
        let mut out = vec![Stmt::new(StmtKind::Push { stack: stack.clone(), place: place.clone() })];
        let (stack, shadow) = match (self.shadow(stack), self.shadow(place)) {
            (Some(stack), Some(shadow)) => (stack, shadow),
            (None, None) => return out,
            _ => return self.without_shadows(out.remove(0), &[stack, place]),
        };
        self.zero.remove(&stack.var);
        out.push(Stmt::new(StmtKind::Push { stack, place: shadow.clone() }));
        if !self.form.elide_zero {
            out.push(self.give_up(place, shadow, Vec::new()));
        }
        out
    }

    /// Between its push and its pop a place starts as a constant zero, and ends as one: its cotangent
    /// is given up at both ends, as that of an ancilla.
    fn give_up(&mut self, place: &Place, shadow: Place, then: Block) -> Stmt {
        let dropped = self.new_binding("dropped", Type::Shadow(Box::new(Type::Unknown)));
        self.out.vars[dropped.0 as usize].kind = VarKind::Ancilla;
        let places = vec![shadow, Place::var(dropped)];
        let mut body = vec![Stmt::new(StmtKind::Instr { instr: Instr::Swap, places, operands: Vec::new() })];
        body.extend(then);
        let init = Expr::new(ExprKind::ZeroShadow(place.clone()));
        Stmt::new(StmtKind::Ancilla { var: dropped, init, release: Release::Dropped, body })
    }
}

/// Whether a value may hold a stack: of a struct only rustc knows.
fn may_hold_stacks(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) | Type::Function(_) => false,
        Type::Array(t, _) | Type::Fixed(t, _) | Type::Shadow(t) => may_hold_stacks(t),
        Type::Tuple(types) => types.iter().any(may_hold_stacks),
        Type::Stack(_) | Type::Struct(..) | Type::Unknown => true,
    }
}

/// What the shadow made for an argument is added to.
enum Target {
    Expr(Expr),
    Shadow(Place),
}

/// The scope of names made for an argument.
struct Scope {
    var: VarId,
    value: Expr,
    shadow: VarId,
}

impl Scope {
    fn around(self, body: Block) -> Block {
        if self.var == self.shadow {
            let release = Release::Dropped;
            return vec![Stmt::new(StmtKind::Ancilla { var: self.shadow, init: self.value, release, body })];
        }
        let body = shadow_scope(self.var, self.shadow, body);
        vec![Stmt::new(StmtKind::Let { var: self.var, expr: self.value, body })]
    }
}
