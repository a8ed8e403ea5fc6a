//! The rule of each statement.

use super::{Builder, TANGENT};
use crate::check::type_of;
use crate::ir::{
    is_function_name, Arg, ArgValue, Block, Callee, Direction, Expr, ExprKind, Mode, Number, Parallel, Place,
    Release, Stmt, StmtKind, Type, UpdateOp, VarId, VarKind,
};
use crate::ops::{Instr, InstrAdjoint};
use crate::pass::adjoint::bind;
use crate::pass::values::Naming;

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
                self.beside(stmt, dots, |stack, place| Push { stack, place })
            }
            Pop { stack, place } => {
                let dots = self.moved(&[stack, place]);
                self.beside(stmt, dots, |stack, place| Pop { stack, place })
            }
            Release { var, value } => {
                let dot = self.dot(&Place::var(*var)).map(|p| p.var);
                let own = dot.map(|dot| Stmt::new(Release { var: dot, value: self.zero_of(dot, value) }));
                own.into_iter().chain([stmt.clone()]).collect()
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
        let dots = declared.disjoint.iter().filter_map(|v| self.dots.get(v).copied());
        let disjoint = declared.disjoint.iter().copied().chain(dots).collect();
        Parallel { disjoint, injective: declared.injective.clone() }.about(body)
    }

    fn update(&mut self, op: UpdateOp, place: &Place, expr: &Expr) -> Block {
        let own = |expr| Stmt::new(StmtKind::Update { op, place: place.clone(), expr });
        let Some(dot) = self.dot(place).filter(|_| op != UpdateOp::Xor) else {
            return vec![own(expr.clone())];
        };
        let to_dot = |op, expr| Stmt::new(StmtKind::Update { op, place: dot.clone(), expr });
        self.differentiated(expr, |_, terms, value| match op {
            UpdateOp::Add | UpdateOp::Sub => {
                let terms = terms.into_iter().map(|t| to_dot(op, t));
                terms.chain([own(value)]).collect()
            }
            UpdateOp::Xor => vec![own(value)],
            // ẏ' = ẏ e + y ė
            UpdateOp::Mul => {
                let mut out = vec![to_dot(op, value.clone())];
                let by_value = |t| to_dot(UpdateOp::Add, t * Expr::read(place.clone()));
                out.extend(terms.into_iter().map(by_value));
                out.push(own(value));
                out
            }
            // ẏ' = (ẏ - y' ė)/e
            UpdateOp::Div => {
                let mut out = vec![own(value.clone())];
                let by_value = |t| to_dot(UpdateOp::Sub, t * Expr::read(place.clone()));
                out.extend(terms.into_iter().map(by_value));
                out.push(to_dot(op, value));
                out
            }
        })
    }

    /// The tangents of places between which values move; none where these carry no derivative.
    fn moved(&mut self, places: &[&Place]) -> Vec<Place> {
        let dots: Vec<Place> = places.iter().filter_map(|p| self.dot(p)).collect();
        if dots.len() == places.len() {
            return dots;
        }
        let out = &self.out;
        // the other parts of a value that holds integers too
        let lost =
            |p: &&&Place| !self.active.contains(&p.var) && !out.var(p.var).ty.is_inactive(&out.generics);
        if let Some(span) = places.iter().find(lost).map(|p| p.span).filter(|_| !dots.is_empty()) {
            self.defect(span, "only some of the places between which values move have tangents");
        }
        Vec::new()
    }

    fn beside(&self, stmt: &Stmt, dots: Vec<Place>, make: impl Fn(Place, Place) -> StmtKind) -> Block {
        let own = match <[Place; 2]>::try_from(dots) {
            Ok([stack, place]) => Some(Stmt::new(make(stack, place))),
            Err(_) => None,
        };
        own.into_iter().chain([stmt.clone()]).collect()
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
        let add = |op, k: usize, t: Expr| Stmt::new(StmtKind::Update { op, place: dots[k].clone(), expr: t });
        let read = |k: usize| Expr::read(places[k].clone());
        match row.adjoint {
            InstrAdjoint::Nothing => vec![stmt.clone()],
            // linear maps
            InstrAdjoint::InverseOnShadows
            | InstrAdjoint::ScaleByOperand
            | InstrAdjoint::ScaleByReciprocal => {
                vec![on(instr, &dots, operands), stmt.clone()]
            }
            InstrAdjoint::Inv => {
                // ẋ' = -ẋ x'²
                let factor = -(read(0) * read(0));
                vec![stmt.clone(), on(Instr::ScaleBy, &dots, &[factor])]
            }
            // ∂a'/∂θ = -b', ∂b'/∂θ = a'; the reverse rotation has the opposite signs
            InstrAdjoint::Rotation | InstrAdjoint::ReverseRotation => {
                let forward = row.adjoint == InstrAdjoint::Rotation;
                let (first, second) = match forward {
                    true => (UpdateOp::Sub, UpdateOp::Add),
                    false => (UpdateOp::Add, UpdateOp::Sub),
                };
                self.differentiated(&operands[0], |b, terms, angle| {
                    let angle = [angle];
                    let mut out = vec![on(instr, &dots, &angle), on(instr, places, &angle)];
                    for t in terms {
                        let var = b.new_binding("d", Type::Unknown);
                        let named = || Expr::read(Place::var(var));
                        let turned = [(first, 0, read(1)), (second, 1, read(0))];
                        out.extend(bind(var, t, turned.map(|(op, k, by)| add(op, k, named() * by)).to_vec()));
                    }
                    out
                })
            }
            // ẋ' = ẋ c + x ċ
            InstrAdjoint::ScaleBy => self.differentiated(&operands[0], |_, terms, by| {
                let by = [by];
                let mut out = vec![on(instr, &dots, &by)];
                out.extend(terms.into_iter().map(|t| add(UpdateOp::Add, 0, t * read(0))));
                out.push(on(instr, places, &by));
                out
            }),
            // ẋ' = (ẋ - x' ċ)/c
            InstrAdjoint::UnscaleBy => self.differentiated(&operands[0], |_, terms, by| {
                let by = [by];
                let mut out = vec![on(instr, places, &by)];
                out.extend(terms.into_iter().map(|t| add(UpdateOp::Sub, 0, t * read(0))));
                out.push(on(instr, &dots, &by));
                out
            }),
        }
    }

    fn binding(&mut self, var: VarId, expr: &Expr, body: &[Stmt]) -> Block {
        if !self.active.contains(&var) {
            let tangent = match &expr.kind {
                ExprKind::Named(path) => function_tangent(path),
                _ => None,
            };
            let dot = tangent.map(|tangent| (self.new_dot(var, VarKind::Binding), tangent));
            let body = self.block(body);
            let body = match dot {
                Some((dot, tangent)) => bind(dot, tangent, body),
                None => body,
            };
            return vec![Stmt::new(StmtKind::Let { var, expr: expr.clone(), body })];
        }
        let used = self.elements.get(&var).cloned().unwrap_or_default();
        self.differentiated_bound((var, expr), &used, |b, tangent, value| {
            let body = match tangent {
                Some(tangent) => {
                    let dot = b.new_dot(var, VarKind::Binding);
                    let body = b.block(body);
                    bind(dot, tangent, body)
                }
                None => {
                    b.active.remove(&var);
                    b.block(body)
                }
            };
            vec![Stmt::new(StmtKind::Let { var, expr: value, body })]
        })
    }

    fn ancilla(&mut self, var: VarId, init: &Expr, release: Release, body: &[Stmt]) -> Block {
        let body = if self.active.contains(&var) {
            let dot = self.new_dot(var, VarKind::Ancilla);
            let body = self.block(body);
            vec![Stmt::new(StmtKind::Ancilla { var: dot, init: self.zero_of(var, init), release, body })]
        } else {
            self.block(body)
        };
        vec![Stmt::new(StmtKind::Ancilla { var, init: init.clone(), release, body })]
    }

    /// A call: each argument is followed by its tangent.
    fn call(&mut self, callee: &Callee, direction: Direction, args: &[Arg], stmt: &Stmt) -> Block {
        let callee = match callee {
            Callee::Path(path) => Callee::Path(format!("{path}{TANGENT}")),
            Callee::Param(var) => Callee::Param(self.dots.get(var).copied().unwrap_or(*var)),
        };
        let mut scopes = Vec::new();
        let both: Vec<[Arg; 2]> = args.iter().map(|arg| self.argument(arg, &mut scopes)).collect();
        let args = in_order_of_adjoint(both, direction.adjoint);
        let call = Stmt::new(StmtKind::Call { callee, direction, args }).at(stmt.span);
        scopes.into_iter().rev().fold(vec![call], |body, scope| match scope {
            Scope::Name(var, expr) => bind(var, expr, body),
            Scope::Zeros(var, init) => {
                let release = Release::Dropped;
                vec![Stmt::new(StmtKind::Ancilla { var, init, release, body })]
            }
        })
    }

    /// An argument and its tangent.
    fn argument(&mut self, arg: &Arg, scopes: &mut Vec<Scope>) -> [Arg; 2] {
        let with = |value| Arg { mode: arg.mode, value };
        match &arg.value {
            ArgValue::Place(place) => {
                let dot = match self.dot(place) {
                    Some(dot) => dot,
                    None => self.zeros(place, arg.mode, scopes),
                };
                [arg.clone(), with(ArgValue::Place(dot))]
            }
            ArgValue::Expr(e) => {
                let own = self.with_fresh_names(e);
                let node = self.node(own.as_ref().unwrap_or(e));
                let outer = std::mem::take(&mut self.names);
                let tangent = self.tangent(&node, &[]);
                let tangents = std::mem::replace(&mut self.names, outer);
                let (names, value) = node.finish();
                scopes.extend(names.into_iter().chain(tangents).map(|(var, e)| Scope::Name(var, e)));
                let (value, tangent) = match tangent {
                    Some(tangent) => (value, tangent),
                    None => self.without_tangent(value, scopes),
                };
                [with(ArgValue::Expr(value)), with(ArgValue::Expr(tangent))]
            }
        }
    }

    /// A value that carries no derivative, and what is passed for its tangent.
    fn without_tangent(&mut self, value: Expr, scopes: &mut Vec<Scope>) -> (Expr, Expr) {
        if let ExprKind::Named(path) = &value.kind {
            if let Some(tangent) = function_tangent(path) {
                return (value, tangent);
            }
        }
        let function = match &value.kind {
            ExprKind::Read(place) => self.dot_of_function(place),
            _ => None,
        };
        if let Some(dot) = function {
            return (value, Expr::read(dot));
        }
        let tangent = match &value.kind {
            ExprKind::Literal(Number::Int(_), ty) => ExprKind::Literal(Number::Int(0), ty.clone()),
            ExprKind::Literal(Number::Float(_), ty) => ExprKind::Literal(Number::Float(0.0), ty.clone()),
            ExprKind::Literal(Number::Bool(_), _) => value.kind.clone(),
            _ if self.is_inactive(&value) => value.kind.clone(),
            _ => {
                let var = self.new_binding("arg", Type::Unknown);
                scopes.push(Scope::Name(var, value));
                let zero = Expr::new(ExprKind::ZeroLike(Place::var(var)));
                return (Expr::read(Place::var(var)), zero);
            }
        };
        let tangent = Expr { kind: tangent, span: value.span };
        (value, tangent)
    }

    /// The tangent of a function, or of a name for one: it has one although it isn't active.
    fn dot_of_function(&self, place: &Place) -> Option<Place> {
        let of = self.out.var(place.var);
        let is_function = matches!(of.ty, Type::Function(_)) || of.kind == VarKind::Binding;
        self.dots.get(&place.var).filter(|_| is_function).map(|dot| place.rooted_at(*dot))
    }

    /// What is passed for the tangent of a place that carries no derivative: the place itself where its type says so,
    /// else zeros.
    fn zeros(&mut self, place: &Place, mode: Mode, scopes: &mut Vec<Scope>) -> Place {
        if let Some(dot) = self.dot_of_function(place) {
            return dot;
        }
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

    /// Whether a value surely carries no derivative, whatever it is passed to.
    fn is_inactive(&self, e: &Expr) -> bool {
        let ty = type_of(&self.out, e);
        ty.is_inactive(&self.out.generics) && !ty.is_storage(&self.out.generics)
    }
}

/// What is passed for the tangent of a reversible function that is an argument.
fn function_tangent(path: &str) -> Option<Expr> {
    is_function_name(path).then(|| Expr::new(ExprKind::Named(format!("{path}{TANGENT}"))))
}

/// What is in scope around a call.
enum Scope {
    Name(VarId, Expr),
    Zeros(VarId, Expr),
}

/// Arguments with their tangents in the order in which the adjoints of a tangent have them: those of an adjoint
/// are a value and its cotangent, `n` times over, and the cotangent of a tangent's value is the tangent of the cotangent.
fn in_order_of_adjoint(both: Vec<[Arg; 2]>, adjoints: u8) -> Vec<Arg> {
    let of_one = 1 << adjoints;
    let mut out = Vec::with_capacity(2 * both.len());
    for arguments in both.chunks(of_one) {
        for dot in 0..2 {
            for (k, both) in arguments.iter().enumerate() {
                let swapped = k.count_ones() as usize % 2;
                out.push(both[dot ^ swapped].clone());
            }
        }
    }
    out
}
