//! The types of expressions.

use crate::diag::{Code, Diagnostic};
use crate::ir::{Class, Expr, ExprKind, Length, Number, ScalarType, Span, Type, VarId};
use crate::ops::{Func, Shape};

use super::place::count;
use super::solver::{Need, Relation, Solver};
use super::term::{Head, Term};

impl Solver<'_> {
    /// The type of an expression.
    pub fn expr(&mut self, expr: &Expr) -> Term {
        match &expr.kind {
            ExprKind::Literal(n, ty) => self.literal(expr, *n, ty.as_ref()),
            ExprKind::Named(path) => self.constant(path),
            ExprKind::Function(_) => self.unknown(),
            ExprKind::Const(_) => Term::INDEX,
            ExprKind::Read(place) => self.place(place),
            ExprKind::Len(place, _) => {
                self.place(place);
                Term::INDEX
            }
            ExprKind::Func(func, args) => self.func(expr, *func, args),
            ExprKind::Pure(path, args) => self.pure(expr, path, args),
            ExprKind::Partials(path, args) => self.partials(expr, path, args),
            ExprKind::Cast(e, ty) => self.cast(e, ty),
            ExprKind::If(c, a, b) => {
                self.condition(c);
                self.alike(&[&**a, &**b], "the first branch is of type")
            }
            ExprKind::Block(lets, value) => {
                lets.iter().for_each(|(var, e)| self.bind(*var, e));
                self.expr(value)
            }
            ExprKind::Element(e, k) => {
                let (tuple, element) = (self.expr(e), self.terms.hole());
                self.relations.push(Relation::Element(tuple, *k, element.clone()));
                self.settle();
                element
            }
            ExprKind::Tuple(es) => Term::Node(Head::Tuple, es.iter().map(|e| self.expr(e)).collect()),
            ExprKind::Array(es) => {
                let element = self.alike(&es.iter().collect::<Vec<_>>(), "the first element is of type");
                Term::Node(Head::Fixed(Length::Literal(es.len() as u64)), vec![element])
            }
            ExprKind::Repeat(e, n) => {
                let element = self.expr(e);
                self.index(n, expr.span);
                match length(n) {
                    Some(length) => Term::Node(Head::Fixed(length), vec![element]),
                    None => {
                        self.open.push(element);
                        self.unknown()
                    }
                }
            }
            ExprKind::Fill(e, shape) => {
                let element = self.expr(e);
                shape.iter().for_each(|n| self.index(n, expr.span));
                Term::array(element, shape.len() as u8)
            }
            ExprKind::Zero(ty) => self.terms.of(ty),
            ExprKind::ZeroShadow(place) => Term::shadow(self.place(place)),
            ExprKind::ZeroLike(place) => self.place(place),
            ExprKind::EmptyStack => Term::Node(Head::Stack, vec![self.terms.hole()]),
            ExprKind::Contract(formula, factors) => self.contraction(expr, formula, factors),
        }
    }

    /// Gives a name to a value: the name has the value's type.
    pub fn bind(&mut self, var: VarId, value: &Expr) {
        let found = self.expr(value);
        let declared = self.var(var);
        let label = self.scope.vars.get(var.0 as usize).map(|v| (v.span, "declared as"));
        self.expect(&declared, &found, value.span, label);
        self.settle();
    }

    fn literal(&mut self, expr: &Expr, number: Number, ty: Option<&Type>) -> Term {
        let term = match (number, ty) {
            (_, Some(ty)) => self.terms.of(ty),
            (Number::Bool(_), None) => Term::BOOL,
            (Number::Int(_) | Number::Float(_), None) => self.terms.hole(),
        };
        self.note(expr, &term);
        self.literals.push((number, term.clone(), expr.span));
        term
    }

    fn constant(&mut self, path: &str) -> Term {
        if let Some(term) = self.constants.get(path) {
            return term.clone();
        }
        let table = self.scope.module.and_then(|m| m.tables.get(path));
        let term = match table {
            Some(table) => self.terms.of(&table.table_type()),
            None => self.unknown(),
        };
        self.constants.insert(path.to_string(), term.clone());
        term
    }

    /// A truth value that decides something.
    pub fn condition(&mut self, expr: &Expr) {
        let found = self.expr(expr);
        if !self.terms.unify(&Term::BOOL, &found) {
            let ty = self.terms.resolve(&found);
            let message = format!("a condition is a `bool`, but this is of type `{ty}`");
            self.out.push(Diagnostic::new(Code::ConditionType, expr.span, message));
        }
        self.settle();
    }

    /// Expressions of one type.
    fn alike(&mut self, exprs: &[&Expr], label: &str) -> Term {
        let first = exprs.first().map_or(Span::NONE, |e| e.span);
        let term = self.terms.hole();
        for e in exprs {
            let found = self.expr(e);
            self.expect(&term, &found, e.span, Some((first, label)));
        }
        term
    }

    fn cast(&mut self, e: &Expr, ty: &Type) -> Term {
        let from = self.expr(e);
        let to = self.terms.of(ty);
        let need = match self.class(ty) {
            Some(Class::Real) => Some(Need::Order),
            _ => None,
        };
        self.demand(&from, Need::Class(Class::Scalar), "a conversion", Code::FunctionClass, e.span);
        if let Some(need) = need {
            self.demand(&from, need, format!("a conversion to `{ty}`"), Code::FunctionClass, e.span);
        }
        to
    }

    fn func(&mut self, expr: &Expr, func: Func, args: &[Expr]) -> Term {
        let row = func.row();
        let shapes = ShapeTerms { t: self.terms.hole(), r: self.terms.hole() };
        let result = shapes.term(row.result);
        if args.len() != row.args.len() {
            args.iter().for_each(|e| drop(self.expr(e)));
            self.arity(expr.span, row.name, row.args.len(), args.len());
            return result;
        }
        if row.args.iter().chain([&row.result]).any(|s| matches!(s, Shape::R | Shape::SR)) {
            self.relations.push(Relation::Real(shapes.t.clone(), shapes.r.clone()));
        }
        let first = args.first().map_or(Span::NONE, |e| e.span);
        let mut demanded = false;
        for (shape, arg) in row.args.iter().zip(args) {
            let found = self.expr(arg);
            let own = *shape == Shape::T;
            let label = own.then_some((first, "this is of type"));
            let fits = self.expect(&shapes.term(*shape), &found, arg.span, label);
            if own && fits && !demanded && !is_literal(arg) {
                let what = format!("`{}`", symbol(func));
                self.demand(&shapes.t, need(func, row.class), what, Code::FunctionClass, arg.span);
                demanded = true;
            }
        }
        self.note(expr, &shapes.t);
        self.settle();
        result
    }

    pub fn arity(&mut self, span: Span, name: &str, wanted: usize, given: usize) {
        let verb = if given == 1 { "is" } else { "are" };
        let message =
            format!("`{name}` takes {}, but {given} {verb} given", count(wanted, "argument", "arguments"));
        self.out.push(Diagnostic::new(Code::ArgumentCount, span, message));
    }
}

/// What the letters of a row stand for.
struct ShapeTerms {
    t: Term,
    r: Term,
}

impl ShapeTerms {
    fn term(&self, shape: Shape) -> Term {
        let complex = || Term::Node(Head::Complex, vec![self.t.clone()]);
        match shape {
            Shape::T => self.t.clone(),
            Shape::R => self.r.clone(),
            Shape::C => complex(),
            Shape::I => Term::scalar(ScalarType::I32),
            Shape::B => Term::BOOL,
            Shape::S => Term::shadow(self.t.clone()),
            Shape::SR => Term::shadow(self.r.clone()),
            Shape::SC => Term::shadow(complex()),
        }
    }
}

fn need(func: Func, class: Class) -> Need {
    match func {
        Func::Lt | Func::Le | Func::Gt | Func::Ge | Func::Min | Func::Max => Need::Order,
        Func::Div => Need::Division,
        Func::Rem => Need::Remainder,
        Func::BitXor => Need::Bits,
        _ => Need::Class(class),
    }
}

/// The name by which a reader knows the function.
fn symbol(func: Func) -> &'static str {
    match func {
        Func::Add => "+",
        Func::Sub | Func::Neg => "-",
        Func::Mul => "*",
        Func::Div | Func::Quot => "/",
        Func::Rem | Func::Fmod => "%",
        Func::BitAnd => "&",
        Func::BitOr => "|",
        Func::BitXor => "^",
        Func::Shl => "<<",
        Func::Shr => ">>",
        Func::Eq => "==",
        Func::Ne => "!=",
        Func::Lt => "<",
        Func::Le => "<=",
        Func::Gt => ">",
        Func::Ge => ">=",
        Func::And => "&&",
        Func::Or => "||",
        Func::Not => "!",
        other => other.name(),
    }
}

fn is_literal(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Literal(..))
}

fn length(n: &Expr) -> Option<Length> {
    match &n.kind {
        ExprKind::Literal(Number::Int(n), _) => u64::try_from(*n).ok().map(Length::Literal),
        ExprKind::Const(name) | ExprKind::Named(name) => Some(Length::Named(name.clone())),
        _ => None,
    }
}
