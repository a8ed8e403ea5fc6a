//! The tangents of a program, several of them side by side: the transpose of its adjoint.
//!
//! An adjoint is linear in shadows. Each of its statements that touches them adds a multiple of one to another, moves or
//! scales them in place. Its transpose has these statements in the opposite order, and in each the two sides exchanged:
//! from `x_bar += y_bar * c` becomes `y_dot += x_dot * c`. The values, which the adjoint takes back, go forward again.
//! That takes the tangents of what the adjoint takes the cotangents of, so what is known about derivatives of
//! statements and functions stands in the adjoint alone. What the adjoint leaves out since a cotangent is still zero is a
//! tangent that is dropped here.
//!
//! Shadows can't be bound to names that many read, as the adjoint does: the expressions behind those names are written
//! where they are read.

use std::collections::{BTreeMap, BTreeSet};

use super::adjoint::may_be_complex;
use crate::check::type_of;
use crate::diag::defect;
use crate::ir::{
    Arg, Block, Derived, Direction, Expr, ExprKind, Function, Place, Range, Span, Stmt, StmtKind, Type,
    UpdateOp, VarId, VarKind,
};
use crate::limits::deeper;
use crate::ops::{Derivative, Func, Instr};

/// The transpose of an adjoint that is made to be run.
pub(super) fn transposed(adjoint: &Function) -> Function {
    let mut out = Function { body: Vec::new(), ..adjoint.clone() };
    let name = Derived::Adjoint.source(&adjoint.name).unwrap_or(&adjoint.name);
    out.name = Derived::Tangent.of(name);
    let is_shadow = |p: &&VarId| matches!(adjoint.var(**p).ty, Type::Shadow(_));
    let mut shadows: BTreeSet<VarId> = adjoint.params.iter().filter(is_shadow).copied().collect();
    add_shadows(&adjoint.body, &mut shadows);
    for var in &shadows {
        let var = &mut out.vars[var.0 as usize];
        if let VarKind::Param(mode) = &mut var.kind {
            *mode = mode.of_shadow();
        }
    }
    let complex = may_be_complex(adjoint);
    let mut transpose = Transpose { complex, shadows, names: BTreeMap::new(), out };
    let body = transpose.block(&adjoint.body);
    Function { body, ..transpose.out }
}

/// The variables that are shadows. Types don't say that of names for parts of cotangents that are numbers, as an adjoint's
/// own are where it is a function.
fn add_shadows(block: &[Stmt], shadows: &mut BTreeSet<VarId>) {
    for stmt in block {
        let declared = match &stmt.kind {
            StmtKind::Let { var, expr, .. } => Some(*var).filter(|_| reads(expr, shadows)),
            StmtKind::Ancilla { var, init, .. } => {
                Some(*var).filter(|_| matches!(init.kind, ExprKind::ZeroShadow(_)))
            }
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => None,
        };
        shadows.extend(declared);
        stmt.blocks().into_iter().for_each(|b| add_shadows(b, shadows));
    }
}

/// Whether an expression is made of one of some variables.
fn reads(e: &Expr, of: &BTreeSet<VarId>) -> bool {
    let mut found = false;
    e.each_read(&mut |place| found |= of.contains(&place.var));
    found
}

/// Whether a shadow doesn't say of what type it is: a part of a complex number, what is converted, or a multiple of one.
fn is_untyped(shadow: &Expr) -> bool {
    match &shadow.kind {
        ExprKind::Func(Func::ShadowFromRe | Func::ShadowFromIm, _) => true,
        ExprKind::Func(Func::Scale | Func::Absorb | Func::ShadowConj | Func::Fused, args) => {
            args.first().is_some_and(is_untyped)
        }
        ExprKind::Cast(_, ty) => *ty == Type::Shadow(Box::new(Type::Unknown)),
        _ => false,
    }
}

/// Whether a value takes the type that is asked of it: made of literals.
fn is_of_literals(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Literal(..) => true,
        ExprKind::Func(_, args) => args.iter().all(is_of_literals),
        ExprKind::If(_, a, b) => is_of_literals(a) && is_of_literals(b),
        _ => false,
    }
}

struct Transpose {
    out: Function,
    shadows: BTreeSet<VarId>,
    /// The expressions that the adjoint gives names to.
    names: BTreeMap<VarId, Expr>,
    /// Whether partial derivatives are conjugated.
    complex: bool,
}

impl Transpose {
    fn block(&mut self, block: &[Stmt]) -> Block {
        block.iter().rev().flat_map(|s| self.stmt(s)).collect()
    }

    fn is_shadow(&self, var: VarId) -> bool {
        self.shadows.contains(&var)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Block {
        use StmtKind::*;
        let kind = match &stmt.kind {
            Update { op, place, expr } if self.is_shadow(place.var) => {
                return self.update(*op, place, expr, stmt.span);
            }
            Instr { instr, places, operands } if places.iter().any(|p| self.is_shadow(p.var)) => {
                self.instr(*instr, places, operands)
            }
            Let { var, expr, body } if self.is_shadow(*var) => {
                self.names.insert(*var, expr.clone());
                return self.block(body);
            }
            Let { var, expr, body } => Let { var: *var, expr: expr.clone(), body: self.block(body) },
            Ancilla { var, init, release, body } => {
                Ancilla { var: *var, init: init.clone(), release: *release, body: self.block(body) }
            }
            If { cond, post, then, otherwise } => If {
                cond: post.as_ref().unwrap_or(cond).clone(),
                post: post.as_ref().map(|_| cond.clone()),
                then: self.block(then),
                otherwise: self.block(otherwise),
            },
            While { cond, post, body } => {
                While { cond: post.clone(), post: cond.clone(), body: self.block(body) }
            }
            For { var, range, parallel, body } => {
                let range = Range { reversed: !range.reversed, ..range.clone() };
                let body = self.block(body);
                let parallel = parallel.as_ref().map(|p| p.clone().about(&body));
                For { var: *var, range, parallel, body }
            }
            Call { callee, direction: direction @ Direction { adjoint: 1, transposed: false, .. }, args } => {
                let direction = Direction { transposed: true, ..*direction };
                Call { callee: callee.clone(), direction, args: tangents_of(args) }
            }
            Call { direction, .. } if direction.adjoint > 0 => {
                return self.defect(stmt.span, "the tangents of a call of an adjoint");
            }
            Unchecked { body } => Unchecked { body: self.block(body) },
            Update { .. } | Instr { .. } | Call { .. } | Compute { .. } | Push { .. } | Pop { .. } => {
                return crate::pass::inverse_block(std::slice::from_ref(stmt));
            }
            Release { .. } | External { .. } | Inverse { .. } => {
                return crate::pass::inverse_block(std::slice::from_ref(stmt));
            }
        };
        vec![Stmt { kind, span: stmt.span }]
    }

    /// `x_bar += L(y_bar)` becomes `y_dot += Lᵀ(x_dot)`.
    fn update(&mut self, op: UpdateOp, place: &Place, expr: &Expr, span: Span) -> Block {
        let (expr, fused) = match (&expr.kind, op) {
            (_, UpdateOp::Xor) => {
                return self.defect(span, "bits of a shadow");
            }
            (ExprKind::Func(Func::Fused, args), UpdateOp::Add | UpdateOp::Sub) if args.len() == 1 => {
                (&args[0], true)
            }
            (_, UpdateOp::Add | UpdateOp::Sub) => (expr, false),
        };
        let Some((place, value)) = self.through(expr, Expr::read(place.clone())) else {
            return self.defect(span, "what is added to a cotangent isn't made of one");
        };
        let is_product = matches!(value.kind, ExprKind::Func(Func::Scale, _));
        let value = if fused && is_product { Expr::func(Func::Fused, vec![value]) } else { value };
        vec![Stmt::new(StmtKind::Update { op, place, expr: value }).at(span)]
    }

    /// The shadow that a linear expression is made of, and what the expression's transpose makes of `c`.
    fn through(&self, e: &Expr, c: Expr) -> Option<(Place, Expr)> {
        deeper(|| match &e.kind {
            ExprKind::Read(place) => match self.names.get(&place.var) {
                Some(named) if place.path.is_empty() => self.through(named, c),
                Some(_) => None,
                None => Some((place.clone(), c)),
            },
            // the same, and of the same type
            ExprKind::Func(Func::ShadowOf, args) => {
                let [of, value] = args.as_slice() else { return None };
                self.through(of, Expr::func(Func::ShadowOf, vec![c, value.clone()]))
            }
            ExprKind::Func(func, args) => {
                let Derivative::Pullback(transpose, _) = func.row().derivative else { return None };
                let c = self.typed(*func, args, c);
                let k = args.iter().position(|arg| reads(arg, &self.shadows))?;
                let c = transpose(args, e, &c).into_iter().nth(k)??;
                self.through(&args[k], self.simplified(c))
            }
            ExprKind::Cast(inner, _) => {
                let to = match type_of(&self.out, inner) {
                    ty @ Type::Shadow(_) => ty,
                    _ => Type::Shadow(Box::new(Type::Unknown)),
                };
                // between two conversions nothing would say of what type the shadow is
                let c = match c.kind {
                    ExprKind::Cast(of, ty) if ty == to && to == Type::Shadow(Box::new(Type::Unknown)) => *of,
                    kind => Expr { kind, span: c.span },
                };
                self.through(inner, Expr::new(ExprKind::Cast(Box::new(c), to)))
            }
            ExprKind::Contract(formula, factors) => {
                let (of, others) = factors.split_first()?;
                let product = std::iter::once(c).chain(others.iter().cloned()).collect();
                self.through(of, Expr::new(ExprKind::Contract(formula.adjoint(0, self.complex), product)))
            }
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Len(..)
            | ExprKind::Pure(..)
            | ExprKind::Partials(..)
            | ExprKind::If(..)
            | ExprKind::Block(..)
            | ExprKind::Element(..)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Repeat(..)
            | ExprKind::Fill(..)
            | ExprKind::Zero(_)
            | ExprKind::ZeroShadow(_)
            | ExprKind::ZeroLike(_)
            | ExprKind::EmptyStack => None,
        })
    }

    /// What doesn't say of what type it is, with a value that does, where there is one.
    fn typed(&self, func: Func, args: &[Expr], c: Expr) -> Expr {
        let value = match (func, args) {
            (Func::Scale | Func::Absorb | Func::ScaleReal, [_, value]) if !reads(value, &self.shadows) => {
                value
            }
            _ => return c,
        };
        match is_untyped(&c) && !is_of_literals(value) {
            true => Expr::func(Func::ShadowOf, vec![c, value.clone()]),
            false => c,
        }
    }

    /// Without conjugates that take each other back, or that do nothing.
    fn simplified(&self, e: Expr) -> Expr {
        let Expr { kind, span } = e;
        match kind {
            ExprKind::Func(func, args) => {
                let mut args: Vec<Expr> = args.into_iter().map(|a| self.simplified(a)).collect();
                match (func, args.as_mut_slice()) {
                    (Func::Conj, [_]) if !self.complex => args.remove(0),
                    (Func::Conj, [Expr { kind: ExprKind::Literal(..), .. }]) => args.remove(0),
                    (Func::Conj, [Expr { kind: ExprKind::Func(Func::Conj, inner), .. }])
                        if inner.len() == 1 =>
                    {
                        inner.remove(0)
                    }
                    _ => Expr { kind: ExprKind::Func(func, args), span },
                }
            }
            kind => Expr { kind, span },
        }
    }

    /// An instruction on shadows.
    fn instr(&mut self, instr: Instr, places: &[Place], operands: &[Expr]) -> StmtKind {
        let operand = |e: &Expr| self.simplified(Expr::func(Func::Conj, vec![e.clone()]));
        let (instr, operands) = match instr {
            Instr::ScaleBy | Instr::UnscaleBy => (instr, operands.iter().map(operand).collect()),
            Instr::Rot | Instr::Irot => (instr.row().inverse, operands.to_vec()),
            // symmetric
            Instr::Swap | Instr::Neg | Instr::Conj | Instr::Hadamard | Instr::MulInt | Instr::DivInt => {
                (instr, operands.to_vec())
            }
            // never on shadows
            Instr::Inc | Instr::Dec | Instr::Flip | Instr::Inv => (instr, operands.to_vec()),
        };
        StmtKind::Instr { instr, places: places.to_vec(), operands }
    }

    /// A transpose that can't be made.
    fn defect(&mut self, span: Span, what: &str) -> Block {
        self.out.defects.push(defect(span, what));
        Vec::new()
    }
}

/// The arguments of an adjoint with the ways in which the tangents are used.
fn tangents_of(args: &[Arg]) -> Vec<Arg> {
    let each = args.iter().enumerate();
    each.map(|(k, arg)| match k % 2 {
        0 => arg.clone(),
        _ => Arg { mode: arg.mode.of_shadow(), ..arg.clone() },
    })
    .collect()
}
