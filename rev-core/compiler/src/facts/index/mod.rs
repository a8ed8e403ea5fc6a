//! Whether two places are certainly different: at one moment, or in two iterations of a loop.
//!
//! Places differ where their paths name different fields or elements whose indices differ. Indices
//! are compared as [polynomials](polynomial::Polynomial): their difference must not be zero, which
//! is decided by bounds (loop variables stay in their ranges), by divisibility, and in two
//! iterations of a loop by the loop variable's change being at least one step. This covers
//! `a[2*i]` beside `a[2*i + 1]`, `x[[i, j]]`, `x[i*d + j]` for `j` below `d`, `&mut x[3*i..3*i + 3]`, and
//! index arrays that are declared to hold no value twice.

mod bounds;
mod polynomial;

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{
    axes_of_both, AxisRef, Expr, ExprKind, Number, Place, Range, ScalarType, Span, Step, Stmt, StmtKind,
    Type, Var, VarId,
};
use crate::ops::Func;
use bounds::Difference;
pub(super) use polynomial::{Atom, Base, Polynomial, Term};

/// What the bindings and loop variables of a program stand for.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// `None` for an ancilla, and where the declarations of one variable differ.
    known: BTreeMap<VarId, Option<Definition>>,
    /// Variables that are declared more than once, which may have a value in each of their scopes.
    repeated: BTreeSet<VarId>,
}

#[derive(Clone, Debug, PartialEq)]
enum Definition {
    Binding(Expr),
    Index(Box<Range>),
}

impl Definitions {
    /// The definitions in a sequence of statements.
    pub fn of(block: &[Stmt]) -> Definitions {
        let mut out = Definitions::default();
        out.add(block);
        out
    }

    /// Adds those of more statements.
    pub fn add(&mut self, block: &[Stmt]) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Let { var, expr, .. } => {
                    self.define(*var, Definition::Binding(expr.clone()));
                }
                StmtKind::For { var, range, .. } => {
                    self.define(*var, Definition::Index(Box::new(range.clone())));
                }
                StmtKind::Ancilla { var, .. } => {
                    if self.known.insert(*var, None).is_some() {
                        self.repeated.insert(*var);
                    }
                }
                StmtKind::Update { .. }
                | StmtKind::Instr { .. }
                | StmtKind::If { .. }
                | StmtKind::While { .. }
                | StmtKind::Call { .. }
                | StmtKind::Compute { .. }
                | StmtKind::Push { .. }
                | StmtKind::Pop { .. }
                | StmtKind::Release { .. }
                | StmtKind::External { .. }
                | StmtKind::Unchecked { .. }
                | StmtKind::Inverse { .. } => {}
            }
            stmt.blocks().into_iter().for_each(|b| self.add(b));
        }
    }

    fn define(&mut self, var: VarId, definition: Definition) {
        if let Some(known) = self.known.get_mut(&var) {
            self.repeated.insert(var);
            known.take_if(|d| *d != definition);
        } else {
            self.known.insert(var, Some(definition));
        }
    }
}

/// What the indices in a program's places are, with bindings seen through.
#[derive(Clone, Copy)]
pub struct Indices<'f> {
    vars: &'f [Var],
    definitions: &'f Definitions,
}

/// How the moments lie apart at which two places are evaluated.
pub struct Apart<'a> {
    /// The index variable of the loop whose iterations are different ones, if it has one.
    pub index: Option<VarId>,
    /// Which of the loop's iterations comes first.
    pub order: Order,
    /// Whether a variable may have another value at the second moment, the index variable included.
    pub varies: &'a dyn Fn(VarId) -> bool,
    /// Whether a variable may be another one at the second moment, with another shape.
    pub rebound: &'a dyn Fn(VarId) -> bool,
    /// Index arrays that hold no value twice.
    pub injective: &'a [Place],
}

/// How the index variable's values at two moments compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// They differ.
    Any,
    /// The second one is greater.
    Up,
    /// The second one is smaller.
    Down,
}

/// How the element that an index names depends on what varies between iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spread {
    /// Not at all.
    Uniform,
    /// By arithmetic on loop variables.
    Strided,
    /// Through data: an element of an index array, a counter.
    Scattered,
}

/// How many bindings are seen through in one index, which keeps expressions small.
const FUEL: usize = 64;

impl<'f> Indices<'f> {
    /// The indices of a program with these variables and definitions.
    pub fn new(vars: &'f [Var], definitions: &'f Definitions) -> Indices<'f> {
        Indices { vars, definitions }
    }

    fn definition(&self, var: VarId) -> Option<&'f Definition> {
        self.definitions.known.get(&var)?.as_ref()
    }

    fn type_of(&self, var: VarId) -> &'f Type {
        self.vars.get(var.0 as usize).map_or(&Type::Unknown, |v| &v.ty)
    }

    /// Whether the length of a variable changes with its value.
    pub fn may_be_stack(&self, var: VarId) -> bool {
        matches!(self.type_of(var), Type::Stack(_) | Type::Struct(..) | Type::Unknown)
    }

    /// Whether `a` at one moment is certainly another place than `b` at the other.
    pub fn distinct(&self, a: &Place, b: &Place, apart: &Apart) -> bool {
        crate::ir::step();
        a.var != b.var || a.path.iter().zip(&b.path).any(|(a, b)| self.distinct_step(a, b, apart))
    }

    fn distinct_step(&self, a: &Step, b: &Step, apart: &Apart) -> bool {
        match (a, b) {
            (Step::Index(a), Step::Index(b)) if a.len() != b.len() => false,
            (Step::Index(_) | Step::Part(_), Step::Index(_) | Step::Part(_)) => {
                axes_of_both(a, b).any(|(a, b)| self.distinct_axis(a, b, apart))
            }
            (Step::Element(a), Step::Element(b)) => a != b,
            _ => match (field_name(a), field_name(b)) {
                (Some(a), Some(b)) => a != b,
                _ => false,
            },
        }
    }

    /// Whether what is taken of one axis has nothing in common.
    fn distinct_axis(&self, a: AxisRef, b: AxisRef, apart: &Apart) -> bool {
        let taken = |axis| match axis {
            AxisRef::At(e) => Some((e, None)),
            AxisRef::Range(from, to) => Some((from, Some(to))),
            AxisRef::Whole => None,
        };
        let (Some(a), Some(b)) = (taken(a), taken(b)) else { return false };
        let mut difference = Difference::new(self, apart);
        let a = difference.element(a.0, a.1, false);
        let b = difference.element(b.0, b.1, true);
        difference.is_never_zero(a - b)
    }

    fn atom_varies(&self, atom: &Atom, apart: &Apart) -> bool {
        match &atom.base {
            Base::Var(v) => self.varies(*v, apart),
            Base::Term(t) => self.term_varies(&t.expr, apart),
            Base::Made(_) => false,
        }
    }

    fn varies(&self, var: VarId, apart: &Apart) -> bool {
        (apart.varies)(var) || self.definitions.repeated.contains(&var)
    }

    /// Whether an expression that isn't a polynomial may have another value at the second moment.
    fn term_varies(&self, e: &Expr, apart: &Apart) -> bool {
        let own = match &e.kind {
            ExprKind::Read(p) => self.varies(p.var, apart),
            ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) => (apart.rebound)(p.var),
            _ => false,
        };
        let mut varies = own;
        e.each_child(&mut |e| varies |= self.term_varies(e, apart));
        varies
    }

    /// `a - b` at one moment, where that is a number.
    pub fn difference(&self, a: &Expr, b: &Expr) -> Option<i128> {
        (self.polynomial(a) - self.polynomial(b)).as_constant()
    }

    /// How an index depends on what varies; the variable of an inner loop does as its range does.
    pub fn spread(&self, e: &Expr, apart: &Apart) -> Spread {
        let of_atom = |a: &Atom| match &a.base {
            Base::Var(v) => self.spread_of(*v, apart),
            Base::Term(t) => self.spread_of_term(&t.expr, apart),
            Base::Made(_) => Spread::Uniform,
        };
        self.polynomial(e).atoms().map(of_atom).max().unwrap_or(Spread::Uniform)
    }

    fn spread_of(&self, var: VarId, apart: &Apart) -> Spread {
        match self.definition(var) {
            _ if !(apart.varies)(var) => Spread::Uniform,
            _ if apart.index == Some(var) => Spread::Strided,
            Some(Definition::Index(range)) => {
                range.exprs().map(|e| self.spread(e, apart)).max().unwrap_or(Spread::Uniform)
            }
            Some(Definition::Binding(_)) | None => Spread::Scattered,
        }
    }

    fn spread_of_term(&self, e: &Expr, apart: &Apart) -> Spread {
        let own = match &e.kind {
            ExprKind::Read(p) if p.path.is_empty() => self.spread_of(p.var, apart),
            ExprKind::Read(p) if (apart.varies)(p.var) => Spread::Scattered,
            ExprKind::Read(p) => {
                let index = p.indices().map(|e| self.spread_of_term(e, apart)).max();
                index.filter(|s| *s != Spread::Uniform).map_or(Spread::Uniform, |_| Spread::Scattered)
            }
            _ => Spread::Uniform,
        };
        let mut spread = own;
        e.each_child(&mut |e| spread = spread.max(self.spread_of_term(e, apart)));
        spread
    }

    pub(super) fn polynomial(&self, e: &Expr) -> Polynomial {
        self.polynomial_of(e, &mut FUEL.clone())
    }

    fn polynomial_of(&self, e: &Expr, fuel: &mut usize) -> Polynomial {
        let constant = |n: &Number| match n {
            Number::Int(v) => Some(Polynomial::constant(*v)),
            Number::Float(_) | Number::Bool(_) => None,
        };
        let known = match &e.kind {
            ExprKind::Literal(n, _) => constant(n),
            ExprKind::Read(p) if p.path.is_empty() => Some(self.variable(p.var, fuel)),
            ExprKind::Func(func, args) => self.arithmetic(*func, args, fuel),
            ExprKind::Cast(inner, Type::Scalar(to)) if is_wide(*to) => self.cast(inner, fuel),
            _ => None,
        };
        known.unwrap_or_else(|| self.term(e, fuel))
    }

    fn variable(&self, var: VarId, fuel: &mut usize) -> Polynomial {
        match self.definition(var) {
            Some(Definition::Binding(e)) if *fuel > 0 => {
                *fuel -= 1;
                self.polynomial_of(e, fuel)
            }
            _ => Polynomial::atom(Atom { base: Base::Var(var), primed: false }),
        }
    }

    fn arithmetic(&self, func: Func, args: &[Expr], fuel: &mut usize) -> Option<Polynomial> {
        match (func, args) {
            (Func::Neg, [a]) => Some(-self.polynomial_of(a, fuel)),
            (Func::Add, [a, b]) => Some(self.polynomial_of(a, fuel) + self.polynomial_of(b, fuel)),
            (Func::Sub, [a, b]) => Some(self.polynomial_of(a, fuel) - self.polynomial_of(b, fuel)),
            (Func::Mul, [a, b]) => Some(self.polynomial_of(a, fuel) * self.polynomial_of(b, fuel)),
            _ => None,
        }
    }

    /// A conversion to a wide integer keeps the value of a wide integer, or of a single variable.
    fn cast(&self, inner: &Expr, fuel: &mut usize) -> Option<Polynomial> {
        let p = self.polynomial_of(inner, fuel);
        let single = p.terms().count() <= 1 && p.terms().all(|(m, c)| c == 1 && m.len() == 1);
        let integers = p.atoms().all(|a| match &a.base {
            Base::Var(v) => match self.type_of(*v) {
                Type::Scalar(s) => is_wide(*s) || single && is_integer(*s),
                _ => matches!(self.definition(*v), Some(Definition::Index(_))),
            },
            Base::Term(t) => matches!(t.expr.kind, ExprKind::Len(..) | ExprKind::Const(_)),
            Base::Made(_) => true,
        });
        integers.then_some(p)
    }

    fn term(&self, e: &Expr, fuel: &mut usize) -> Polynomial {
        let mut e = e.clone();
        self.normalize(&mut e, fuel);
        Polynomial::atom(Atom { base: Base::Term(Term::new(e)), primed: false })
    }

    /// Takes out positions and the types of integer literals, and sees through bindings.
    fn normalize(&self, e: &mut Expr, fuel: &mut usize) {
        if let ExprKind::Read(p) = &e.kind {
            if let (true, true, Some(Definition::Binding(value))) =
                (p.path.is_empty(), *fuel > 0, self.definition(p.var))
            {
                *fuel -= 1;
                *e = value.clone();
                return self.normalize(e, fuel);
            }
        }
        e.span = Span::NONE;
        match &mut e.kind {
            ExprKind::Read(p) | ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) => {
                p.span = Span::NONE
            }
            ExprKind::Literal(Number::Int(_), ty) => *ty = None,
            _ => {}
        }
        e.each_child_mut(&mut |e| self.normalize(e, fuel));
    }

    /// The first and the last value that a loop variable may have.
    fn bounds(&self, var: VarId) -> Option<(Polynomial, Polynomial)> {
        match self.definition(var) {
            Some(Definition::Index(range)) => {
                let last = if range.inclusive { 0 } else { 1 };
                let end = self.polynomial(&range.end) - Polynomial::constant(last);
                Some((self.polynomial(&range.start), end))
            }
            Some(Definition::Binding(_)) | None => None,
        }
    }

    /// The order of a loop's iterations.
    pub fn order(&self, var: VarId) -> Order {
        match self.definition(var) {
            Some(Definition::Index(range)) if range.reversed => Order::Down,
            Some(Definition::Index(_)) => Order::Up,
            Some(Definition::Binding(_)) | None => Order::Any,
        }
    }

    /// The step of a loop variable, where it is a number.
    fn step(&self, var: VarId) -> i128 {
        match self.definition(var) {
            Some(Definition::Index(range)) => {
                let step = range.step.as_ref().and_then(|e| self.polynomial(e).as_constant());
                step.filter(|s| *s > 0).unwrap_or(1)
            }
            Some(Definition::Binding(_)) | None => 1,
        }
    }

    fn is_natural(&self, atom: &Atom) -> bool {
        match &atom.base {
            Base::Var(v) => self.is_natural_var(*v, &[]),
            Base::Term(t) => self.is_natural_expr(&t.expr),
            Base::Made(_) => true,
        }
    }

    /// Whether a part of a variable is an unsigned integer, or the variable counts from such a number on.
    fn is_natural_var(&self, var: VarId, path: &[Step]) -> bool {
        let counts = || match self.definition(var) {
            Some(Definition::Index(range)) => self.is_natural_expr(&range.start),
            Some(Definition::Binding(_)) | None => false,
        };
        scalar_at(self.type_of(var), path).is_some_and(is_unsigned) || path.is_empty() && counts()
    }

    fn is_natural_expr(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Len(..) | ExprKind::Const(_) => true,
            ExprKind::Literal(Number::Int(v), _) => *v >= 0,
            ExprKind::Cast(_, Type::Scalar(s)) => is_unsigned(*s),
            ExprKind::Read(p) => self.is_natural_var(p.var, &p.path),
            // whatever type the distance has
            ExprKind::Func(Func::Shr, args) => args.first().is_some_and(|a| self.is_natural_expr(a)),
            ExprKind::Func(f, args) => {
                let keeps = [
                    Func::Add,
                    Func::Mul,
                    Func::Quot,
                    Func::Rem,
                    Func::Min,
                    Func::Max,
                    Func::BitAnd,
                    Func::BitOr,
                    Func::BitXor,
                ];
                keeps.contains(f) && args.iter().all(|a| self.is_natural_expr(a))
            }
            _ => false,
        }
    }
}

fn field_name(step: &Step) -> Option<&str> {
    match step {
        Step::Field(name) => Some(name),
        Step::Re => Some("re"),
        Step::Im => Some("im"),
        Step::Element(_) | Step::Index(_) | Step::Part(_) => None,
    }
}

/// The scalar type at a path into a type, where arrays and tuples lead to it.
fn scalar_at(ty: &Type, path: &[Step]) -> Option<ScalarType> {
    match (ty, path) {
        (Type::Scalar(s), []) => Some(*s),
        (Type::Array(t, _) | Type::Fixed(t, _), [Step::Index(_), rest @ ..]) => scalar_at(t, rest),
        (Type::Tuple(ts), [Step::Element(k), rest @ ..]) => scalar_at(ts.get(*k as usize)?, rest),
        _ => None,
    }
}

fn is_integer(s: ScalarType) -> bool {
    s.class() == crate::ir::Class::Integer
}

fn is_unsigned(s: ScalarType) -> bool {
    s.signed() == Some(false)
}

/// An integer type in which indices don't wrap around.
fn is_wide(s: ScalarType) -> bool {
    is_integer(s) && s.bits() >= 64
}
