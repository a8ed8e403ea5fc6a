//! The rule of each statement.

use super::expr::{sum, weighted};
use super::Builder;
use crate::check::type_of;
use crate::ir::{
    Arg, ArgValue, Block, Callee, Derived, Direction, Expr, ExprKind, FunctionPath, Mode, Number, Parallel,
    Place, Release, Stmt, StmtKind, Type, UpdateOp, VarId, VarKind,
};
use crate::ops::{Instr, InstrAdjoint};
use crate::pass::adjoint::{bind, inside};
use crate::pass::values::{is_trivial, Naming};

impl Builder {
    pub(super) fn block(&mut self, block: &[Stmt]) -> Block {
        block.iter().flat_map(|s| self.stmt(s)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Block {
        use StmtKind::*;
        let made = match &stmt.kind {
            Update { op, place, expr } => self.update(*op, place, expr),
            Instr { instr, places, operands } => self.instr(*instr, places, operands, stmt),
            Let { var, expr, body } => self.binding(*var, expr, body),
            Ancilla { var, init, release, body } => self.ancilla(*var, init, *release, body),
            If { cond, post, then, otherwise } => {
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                vec![Stmt::new(If { cond: cond.clone(), post: post.clone(), then, otherwise })]
            }
            While { cond, post, body } => {
                let body = self.block(body);
                vec![Stmt::new(While { cond: cond.clone(), post: post.clone(), body })]
            }
            For { var, range, parallel, body } => {
                let body = self.block(body);
                let parallel = parallel.as_ref().map(|p| self.parallel(p, &body));
                vec![Stmt::new(For { var: *var, range: range.clone(), parallel, body })]
            }
            Call { callee, direction, args } => self.call(callee, *direction, args, stmt),
            Compute { compute, body } => {
                let (compute, body) = (self.block(compute), self.block(body));
                vec![Stmt::new(Compute { compute, body })]
            }
            Push { stack, place } => {
                let dots = self.moved(&[stack, place]);
                beside(stmt, dots, |stack, place| Push { stack, place })
            }
            Pop { stack, place } => {
                let dots = self.moved(&[stack, place]);
                beside(stmt, dots, |stack, place| Pop { stack, place })
            }
            Release { var, value } => {
                let dots = self.moved(&[&Place::var(*var)]);
                let release = |of: &Vec<Place>| {
                    Stmt::new(Release { var: of[0].var, value: self.zero_of(of[0].var, value) })
                };
                dots.iter().map(release).chain([stmt.clone()]).collect()
            }
            External { .. } => vec![stmt.clone()],
            Unchecked { body } => {
                let body = self.block(body);
                vec![Stmt::new(Unchecked { body })]
            }
            Inverse { body } => {
                let body = self.block(body);
                vec![Stmt::new(Inverse { body })]
            }
        };
        made.into_iter().map(|s| if s.span.is_some() { s } else { s.at(stmt.span) }).collect()
    }

    /// A tangent is accessed where its variable is, if at all, so what is declared about one holds for both.
    fn parallel(&self, declared: &Parallel, body: &Block) -> Parallel {
        let dots = declared.disjoint.iter().filter_map(|v| self.dots.get(v)).flatten().copied();
        let disjoint = declared.disjoint.iter().copied().chain(dots).collect();
        Parallel { disjoint, injective: declared.injective.clone() }.about(body)
    }

    fn update(&mut self, op: UpdateOp, place: &Place, expr: &Expr) -> Block {
        let own = |expr| Stmt::new(StmtKind::Update { op, place: place.clone(), expr });
        if op == UpdateOp::Xor || !self.active.contains(&place.var) {
            return vec![own(expr.clone())];
        }
        let Some(all) = self.of_every_order(place) else { return vec![own(expr.clone())] };
        let to = |k: usize, op, expr| Stmt::new(StmtKind::Update { op, place: all[k].clone(), expr });
        match op {
            UpdateOp::Add | UpdateOp::Sub => self.differentiated(expr, |_, terms, value| {
                let of_order = |(k, terms): (usize, Vec<Expr>)| terms.into_iter().map(move |t| (k + 1, t));
                let added = terms.into_iter().enumerate().flat_map(of_order).map(|(k, t)| to(k, op, t));
                added.chain([own(value)]).collect()
            }),
            UpdateOp::Xor => vec![own(expr.clone())],
        }
    }

    /// A place and its coefficients.
    fn of_every_order(&mut self, place: &Place) -> Option<Vec<Place>> {
        let dots: Option<Vec<Place>> = self.orders().map(|k| self.dot(place, k)).collect();
        dots.map(|dots| [vec![place.clone()], dots].concat())
    }

    /// The coefficients of places between which values move, by their orders; none where these carry no derivative.
    fn moved(&mut self, places: &[&Place]) -> Vec<Vec<Place>> {
        let orders = self.orders();
        let of_order = |k| places.iter().filter_map(|p| self.dot(p, k)).collect();
        let dots: Vec<Vec<Place>> = orders.map(of_order).collect();
        if dots.iter().all(|dots| dots.len() == places.len()) {
            return dots;
        }
        let out = &self.out;
        // the other parts of a value that holds integers too
        let lost =
            |p: &&&Place| !self.active.contains(&p.var) && !out.var(p.var).ty.is_inactive(&out.generics);
        if let Some(span) =
            places.iter().find(lost).map(|p| p.span).filter(|_| dots.iter().any(|dots| !dots.is_empty()))
        {
            self.defect(span, "only some of the places between which values move have tangents");
        }
        Vec::new()
    }

    fn instr(&mut self, instr: Instr, places: &[Place], operands: &[Expr], stmt: &Stmt) -> Block {
        let row = instr.row();
        if row.adjoint == InstrAdjoint::Nothing {
            return vec![stmt.clone()];
        }
        let dots = self.moved(&places.iter().collect::<Vec<_>>());
        if dots.is_empty() {
            return vec![stmt.clone()];
        }
        let on = |instr, places: &[Place], operands: &[Expr]| {
            let (places, operands) = (places.to_vec(), operands.to_vec());
            Stmt::new(StmtKind::Instr { instr, places, operands })
        };
        let to_dots = |instr, operands: &[Expr]| -> Block {
            dots.iter().map(|dots| on(instr, dots, operands)).collect()
        };
        // a place with its coefficients
        let all = |n: usize| -> Vec<Place> {
            [vec![places[n].clone()], dots.iter().map(|dots| dots[n].clone()).collect()].concat()
        };
        let of_order = |k: usize| if k == 0 { places } else { &dots[k - 1][..] };
        match row.adjoint {
            InstrAdjoint::Nothing => vec![stmt.clone()],
            // linear maps
            InstrAdjoint::InverseOnShadows
            | InstrAdjoint::ScaleByOperand
            | InstrAdjoint::ScaleByReciprocal => [to_dots(instr, operands), vec![stmt.clone()]].concat(),
            InstrAdjoint::Inv => {
                let of_orders = self.orders().flat_map(|k| self.inverted(&all(0), k));
                [stmt.clone()].into_iter().chain(of_orders.collect::<Block>()).collect()
            }
            // the reverse rotation has the opposite signs
            InstrAdjoint::Rotation | InstrAdjoint::ReverseRotation => {
                let forward = row.adjoint == InstrAdjoint::Rotation;
                self.differentiated(&operands[0], |b, terms, angle| {
                    let angle = [angle];
                    let mut out = to_dots(instr, &angle);
                    out.push(on(instr, places, &angle));
                    b.turned([&all(0), &all(1)], terms, forward, &mut out);
                    out
                })
            }
            InstrAdjoint::ScaleBy => self.differentiated_once(&operands[0], |_, terms, by| {
                let by = [by];
                multiplied(&all(0), &terms, |k| on(instr, of_order(k), &by))
            }),
            InstrAdjoint::UnscaleBy => self.differentiated_once(&operands[0], |_, terms, by| {
                let by = [by];
                divided(&all(0), &terms, |k| on(instr, of_order(k), &by))
            }),
        }
    }

    /// Coefficient `k` of `w = 1/x` in place of that of `x`, where those below are there: with the coefficients `r` of
    /// `1/w` below it, which are those of `x`, `w_k = -w² x_k - w Σ r_j w_{k-j}` for `j = 1 … k-1`.
    fn inverted(&mut self, places: &[Place], k: usize) -> Block {
        let read = |k: usize| Expr::read(places[k].clone());
        let (instr, to) = (Instr::ScaleBy, vec![places[k].clone()]);
        let scaled = Stmt::new(StmtKind::Instr { instr, places: to, operands: vec![-(read(0) * read(0))] });
        if k == 1 {
            return vec![scaled];
        }
        let before = self.differentiated_up_to(k - 1, &(Expr::int(1) / read(0)), |_, below, _| {
            let terms = below.into_iter().enumerate().filter_map(|(j, r)| Some(sum(r)? * read(k - j - 1)));
            let expr = sum(terms.collect()).map(|sum| sum * read(0));
            let update = |expr| StmtKind::Update { op: UpdateOp::Sub, place: places[k].clone(), expr };
            expr.map(|expr| Stmt::new(update(expr))).into_iter().collect()
        });
        [vec![scaled], before].concat()
    }

    /// What the coefficients of an angle do to those of two places, all of which have been turned by the angle itself: with
    /// the coefficients c, s of the cosine and the sine of its change, `a_k -= Σ s_j b_{k-j} - c_j a_{k-j}` and
    /// `b_k += Σ s_j a_{k-j} + c_j b_{k-j}`, from the highest order down.
    fn turned(&mut self, [a, b]: [&[Place]; 2], angle: Vec<Vec<Expr>>, forward: bool, out: &mut Block) {
        let (first, second) =
            if forward { (UpdateOp::Sub, UpdateOp::Add) } else { (UpdateOp::Add, UpdateOp::Sub) };
        let add = |op, place: &Place, expr| Stmt::new(StmtKind::Update { op, place: place.clone(), expr });
        let read = |place: &Place| Expr::read(place.clone());
        let mut names = Vec::new();
        let mut name = |b: &mut Builder, e: Expr| {
            let var = b.new_binding("d", Type::Unknown);
            names.push((var, e));
            Expr::read(Place::var(var))
        };
        let change: Vec<Option<Expr>> =
            angle.into_iter().map(|terms| sum(terms).map(|t| name(self, t))).collect();
        let (mut sines, mut cosines): (Vec<Option<Expr>>, Vec<Option<Expr>>) =
            (vec![None], vec![Some(Expr::int(1))]);
        for k in self.orders() {
            // sin' = δ' cos, cos' = -δ' sin
            let along = |of: &[Option<Expr>]| {
                let term = |j: usize| Some(weighted(j, k, change[j - 1].clone()? * of[k - j].clone()?));
                sum((1..=k).rev().filter_map(term).collect())
            };
            let (sine, cosine) = (along(&cosines), along(&sines).map(|e| -e));
            let mut named = |e: Expr| if is_trivial(&e) { e } else { name(self, e) };
            sines.push(sine.map(&mut named));
            cosines.push(cosine.map(&mut named));
        }
        let mut turned = Vec::new();
        for k in self.orders().rev() {
            for j in 1..=k {
                if let Some(s) = &sines[j] {
                    turned.push(add(first, &a[k], s.clone() * read(&b[k - j])));
                    turned.push(add(second, &b[k], s.clone() * read(&a[k - j])));
                }
                if let Some(c) = &cosines[j] {
                    turned.push(add(UpdateOp::Add, &a[k], c.clone() * read(&a[k - j])));
                    turned.push(add(UpdateOp::Add, &b[k], c.clone() * read(&b[k - j])));
                }
            }
        }
        out.extend(inside(names, turned));
    }

    fn binding(&mut self, var: VarId, expr: &Expr, body: &[Stmt]) -> Block {
        if !self.active.contains(&var) {
            let tangent = match &expr.kind {
                ExprKind::Function(path) => Some(self.function_tangent(path)),
                _ => None,
            };
            let dots = tangent.map(|tangent| (self.new_dots(var, VarKind::Binding, 1), tangent));
            let body = self.block(body);
            let body = match dots {
                Some((dots, tangent)) => {
                    inside(dots.into_iter().map(|dot| (dot, tangent.clone())).collect(), body)
                }
                None => body,
            };
            return vec![Stmt::new(StmtKind::Let { var, expr: expr.clone(), body })];
        }
        let used = self.elements.get(&var).cloned().unwrap_or_default();
        self.differentiated_bound((var, expr), &used, |b, coefficients, value| {
            let body = match coefficients.iter().any(|c| !c.is_empty()) {
                true => {
                    let dots = b.new_dots(var, VarKind::Binding, b.order);
                    let body = b.block(body);
                    let zero = || Expr::new(ExprKind::ZeroLike(Place::var(var)));
                    let values = coefficients.into_iter().map(|c| sum(c).unwrap_or_else(zero));
                    inside(dots.into_iter().zip(values).collect(), body)
                }
                false => {
                    b.active.remove(&var);
                    b.block(body)
                }
            };
            vec![Stmt::new(StmtKind::Let { var, expr: value, body })]
        })
    }

    fn ancilla(&mut self, var: VarId, init: &Expr, release: Release, body: &[Stmt]) -> Block {
        let active = self.active.contains(&var);
        let dots = if active { self.new_dots(var, VarKind::Ancilla, self.order) } else { Vec::new() };
        let body = self.block(body);
        let body = dots.into_iter().rev().fold(body, |body, dot| {
            vec![Stmt::new(StmtKind::Ancilla { var: dot, init: self.zero_of(var, init), release, body })]
        });
        vec![Stmt::new(StmtKind::Ancilla { var, init: init.clone(), release, body })]
    }

    /// A call: each argument is followed by its coefficients.
    fn call(&mut self, callee: &Callee, direction: Direction, args: &[Arg], stmt: &Stmt) -> Block {
        let callee = match callee {
            Callee::Path(path) => Callee::Path(path.with(Derived::of_order(self.order))),
            Callee::Param(var) => Callee::Param(self.dots.get(var).map_or(*var, |dots| dots[0])),
        };
        let mut scopes = Vec::new();
        let all: Vec<Vec<Arg>> = args.iter().map(|arg| self.argument(arg, &mut scopes)).collect();
        let args = in_order_of_adjoint(all, direction.adjoint);
        let call = Stmt::new(StmtKind::Call { callee, direction, args }).at(stmt.span);
        scopes.into_iter().rev().fold(vec![call], |body, scope| match scope {
            Scope::Name(var, expr) => bind(var, expr, body),
            Scope::Zeros(var, init) => {
                let release = Release::Dropped;
                vec![Stmt::new(StmtKind::Ancilla { var, init, release, body })]
            }
        })
    }

    /// An argument and its coefficients.
    fn argument(&mut self, arg: &Arg, scopes: &mut Vec<Scope>) -> Vec<Arg> {
        let with = |value| Arg { mode: arg.mode, value };
        match &arg.value {
            ArgValue::Place(place) => {
                if let Some(dot) = self.dot_of_function(place) {
                    return vec![arg.clone(), with(ArgValue::Place(dot))];
                }
                let dots = self.orders().map(|k| match self.dot(place, k) {
                    Some(dot) => dot,
                    None => self.zeros(place, arg.mode, scopes),
                });
                let dots: Vec<Place> = dots.collect();
                [arg.clone()]
                    .into_iter()
                    .chain(dots.into_iter().map(|dot| with(ArgValue::Place(dot))))
                    .collect()
            }
            ArgValue::Expr(e) => {
                let (names, coefficients, value) =
                    self.with_names(e, Builder::flat, |b, node| b.coefficients(node, b.order));
                scopes.extend(names.into_iter().map(|(var, e)| Scope::Name(var, e)));
                let function = match &value.kind {
                    ExprKind::Function(path) => Some(self.function_tangent(path)),
                    ExprKind::Read(place) => self.dot_of_function(place).map(Expr::read),
                    _ => None,
                };
                if let Some(tangent) = function {
                    return vec![with(ArgValue::Expr(value)), with(ArgValue::Expr(tangent))];
                }
                let (value, zero) = match coefficients.iter().all(|c| !c.is_empty()) {
                    true if self.ends_in_call(e) => self.named_with_zero(value, scopes),
                    true => (value, Expr::int(0)),
                    false => self.without_tangent(value, scopes),
                };
                let values = coefficients
                    .into_iter()
                    .map(|c| sum(c).map_or_else(|| zero.clone(), |c| self.of_type(c, e, value.clone())));
                [value.clone()].into_iter().chain(values).map(|e| with(ArgValue::Expr(e))).collect()
            }
        }
    }

    /// A value that carries no derivative, and what is passed for its tangent.
    fn without_tangent(&mut self, value: Expr, scopes: &mut Vec<Scope>) -> (Expr, Expr) {
        let tangent = match &value.kind {
            ExprKind::Literal(Number::Int(_), ty) => ExprKind::Literal(Number::Int(0), ty.clone()),
            ExprKind::Literal(Number::Float(_), ty) => ExprKind::Literal(Number::Float(0.0), ty.clone()),
            ExprKind::Literal(Number::Bool(_), _) => value.kind.clone(),
            _ if self.is_inactive(&value) => value.kind.clone(),
            _ => return self.named_with_zero(value, scopes),
        };
        let tangent = Expr { kind: tangent, span: value.span };
        (value, tangent)
    }

    /// A name for a value around a call, and a zero of its type.
    fn named_with_zero(&mut self, value: Expr, scopes: &mut Vec<Scope>) -> (Expr, Expr) {
        let var = self.new_binding("arg", Type::Unknown);
        scopes.push(Scope::Name(var, value));
        (Expr::read(Place::var(var)), Expr::new(ExprKind::ZeroLike(Place::var(var))))
    }

    /// The tangent of a function, or of a name for one: it has one although it isn't active.
    fn dot_of_function(&self, place: &Place) -> Option<Place> {
        let of = self.out.var(place.var);
        let may_be = matches!(of.ty, Type::Function(_)) || of.kind == VarKind::Binding;
        let dots = self.dots.get(&place.var).filter(|_| may_be && !self.active.contains(&place.var));
        dots.map(|dots| place.rooted_at(dots[0]))
    }

    /// What is passed for the tangent of a place that carries no derivative: the place itself where its type says so,
    /// else zeros.
    fn zeros(&mut self, place: &Place, mode: Mode, scopes: &mut Vec<Scope>) -> Place {
        if mode == Mode::Read && self.is_inactive(&Expr::read(place.clone())) {
            return place.clone();
        }
        let is_array = matches!(self.out.var(place.var).ty, Type::Array(..));
        if mode == Mode::Read && is_array && matches!(self.out.var(place.var).kind, VarKind::Param(_)) {
            return place.rooted_at(self.spare(place.var));
        }
        let zeros = self.new_binding("zeros", Type::Unknown);
        self.out.vars[zeros.0 as usize].kind = VarKind::Ancilla;
        if place.path.is_empty() {
            self.out.vars[zeros.0 as usize].ty = self.out.var(place.var).ty.clone();
        }
        scopes.push(Scope::Zeros(zeros, Expr::new(ExprKind::ZeroLike(place.clone()))));
        Place::var(zeros)
    }

    /// Zeros in the shape of an array, in scope everywhere.
    fn spare(&mut self, of: VarId) -> VarId {
        if let Some(&spare) = self.spares.get(&of) {
            return spare;
        }
        let ty = self.out.var(of).ty.clone();
        let spare = self.new_binding("zeros", ty);
        self.out.vars[spare.0 as usize].kind = VarKind::Ancilla;
        self.spares.insert(of, spare);
        spare
    }

    /// A program's statements in the scope of its zeros.
    pub(super) fn with_spares(&mut self, body: Block) -> Block {
        std::mem::take(&mut self.spares).into_iter().fold(body, |body, (of, var)| {
            let init = Expr::new(ExprKind::ZeroLike(Place::var(of)));
            vec![Stmt::new(StmtKind::Ancilla { var, init, release: Release::Dropped, body })]
        })
    }

    /// What is passed for the tangent of a reversible function that is an argument.
    fn function_tangent(&self, path: &FunctionPath) -> Expr {
        Expr::new(ExprKind::Function(path.with(Derived::of_order(self.order))))
    }

    /// Whether a value surely carries no derivative, whatever it is passed to.
    pub(super) fn is_inactive(&self, e: &Expr) -> bool {
        let ty = type_of(&self.out, e);
        ty.is_inactive(&self.out.generics) && !ty.is_storage(&self.out.generics)
    }
}

/// `y_k' = Σ y_{k-j} e_j` for a place and its coefficients, from the highest order down; `apply` multiplies one of them by `e`.
fn multiplied(all: &[Place], terms: &[Vec<Expr>], apply: impl Fn(usize) -> Stmt) -> Block {
    let of_order = |k: usize| [apply(k)].into_iter().chain(by_lower(all, terms, UpdateOp::Add, k));
    (0..all.len()).rev().flat_map(of_order).collect()
}

/// `y_k' = (y_k - Σ y_{k-j}' e_j)/e`, from the lowest order up; `apply` divides one of them by `e`.
fn divided(all: &[Place], terms: &[Vec<Expr>], apply: impl Fn(usize) -> Stmt) -> Block {
    let of_order = |k: usize| by_lower(all, terms, UpdateOp::Sub, k).into_iter().chain([apply(k)]);
    (0..all.len()).flat_map(of_order).collect()
}

/// Adds to a coefficient those of lower orders times those of a factor.
fn by_lower(all: &[Place], terms: &[Vec<Expr>], op: UpdateOp, k: usize) -> Block {
    let times = |j: usize| {
        terms[j - 1].iter().map(move |t| {
            let expr = t.clone() * Expr::read(all[k - j].clone());
            Stmt::new(StmtKind::Update { op, place: all[k].clone(), expr })
        })
    };
    (1..=k).flat_map(times).collect()
}

fn beside(stmt: &Stmt, dots: Vec<Vec<Place>>, make: impl Fn(Place, Place) -> StmtKind) -> Block {
    let of_order = |dots: Vec<Place>| match <[Place; 2]>::try_from(dots) {
        Ok([stack, place]) => Some(Stmt::new(make(stack, place))),
        Err(_) => None,
    };
    dots.into_iter().filter_map(of_order).chain([stmt.clone()]).collect()
}

/// What is in scope around a call.
enum Scope {
    Name(VarId, Expr),
    Zeros(VarId, Expr),
}

/// Arguments with their coefficients in the order in which the adjoints of a tangent have them: those of an adjoint
/// are a value and its cotangent, `n` times over, and the cotangent of a coefficient is the cotangent's coefficient from the other
/// end.
fn in_order_of_adjoint(all: Vec<Vec<Arg>>, adjoints: u8) -> Vec<Arg> {
    let mut out = Vec::with_capacity(all.iter().map(Vec::len).sum());
    for arguments in all.chunks(1 << adjoints) {
        let orders = arguments.iter().map(Vec::len).min().unwrap_or_default();
        for k in 0..orders {
            for (n, coefficients) in arguments.iter().enumerate() {
                let is_cotangent = n.count_ones() % 2 == 1;
                out.push(coefficients[if is_cotangent { orders - 1 - k } else { k }].clone());
            }
        }
    }
    out
}
