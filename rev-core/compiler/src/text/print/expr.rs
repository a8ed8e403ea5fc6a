//! Expressions and places to text.

use super::Printer;
use crate::ir::*;
use crate::ops::Func;
use crate::text::names::*;

/// How strongly the text of an expression holds together.
const OPEN: u8 = 0;
const ATOM: u8 = UNARY + 1;

impl Printer<'_> {
    pub(super) fn expr(&mut self, e: &Expr) {
        self.within_operator(e, OPEN);
    }

    /// An expression as an operand that has to bind at least as strongly as `least`.
    fn within_operator(&mut self, e: &Expr, least: u8) {
        if strength(e) < least {
            self.push("(");
            self.bare(e);
            self.push(")");
        } else {
            self.bare(e);
        }
    }

    /// The text of an expression. Its position stands behind the operator, or behind an atom.
    fn bare(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Func(func, args) => match (operator(*func, args.len()), &args[..]) {
                (Some(Operator::Infix(symbol, level)), [a, b]) => {
                    // `a` repeats the operator only where that associates
                    self.within_operator(a, if level == COMPARISON { level + 1 } else { level });
                    self.push(" ");
                    self.push(symbol);
                    self.mark(e.span);
                    self.push(" ");
                    return self.within_operator(b, level + 1);
                }
                (Some(Operator::Prefix(symbol)), [a]) => return self.prefix(symbol, a, e.span),
                _ => self.call(func.name(), args),
            },
            ExprKind::Cast(value, ty) => {
                self.within_operator(value, UNARY);
                self.push(" as");
                self.mark(e.span);
                self.push(" ");
                return self.ty(ty);
            }
            ExprKind::Read(place) => return self.read(place, e.span),
            ExprKind::Literal(number, ty) => self.literal(*number, ty.as_ref()),
            ExprKind::Named(path) => self.named(path),
            ExprKind::Function(path) => self.named(path.as_str()),
            ExprKind::Const(name) => {
                if !self.standalone && (self.uses.contains_key(name.as_str()) || !self.is_const(name)) {
                    self.push("const ");
                }
                self.name(name);
            }
            ExprKind::Len(place, None) => self.of_place("len(", place),
            ExprKind::ZeroShadow(place) => self.of_place("zero_shadow(", place),
            ExprKind::ZeroLike(place) => self.of_place("zero_like(", place),
            ExprKind::Len(place, Some(axis)) => {
                self.push("dim(");
                self.place(place);
                self.push(&format!(", {axis})"));
            }
            ExprKind::Pure(path, args) => {
                self.function_path(path.as_str());
                self.arguments(args);
            }
            ExprKind::Partials(path, args) => {
                self.push("partials ");
                self.function_path(path.as_str());
                self.arguments(args);
            }
            ExprKind::If(c, a, b) => {
                self.push("if ");
                self.expr(c);
                self.push(" ");
                self.braced(a);
                self.push(" else ");
                self.braced(b);
            }
            ExprKind::Block(lets, value) => self.block_expr(lets, value),
            ExprKind::Element(tuple, index) => {
                self.element_base(tuple);
                self.push(&format!(".{index}"));
            }
            ExprKind::Tuple(items) => {
                self.push("(");
                self.list(items, |p, e| p.expr(e));
                self.push(if items.len() == 1 { ",)" } else { ")" });
            }
            ExprKind::Array(items) => {
                self.push("[");
                self.list(items, |p, e| p.expr(e));
                self.push("]");
            }
            ExprKind::Repeat(value, length) => {
                self.push("[");
                self.expr(value);
                self.push("; ");
                self.expr(length);
                self.push("]");
            }
            ExprKind::Fill(value, shape) => {
                self.push("fill(");
                self.expr(value);
                for e in shape {
                    self.push(", ");
                    self.expr(e);
                }
                self.push(")");
            }
            ExprKind::Zero(ty) => {
                self.push("zero(");
                self.ty(ty);
                self.push(")");
            }
            ExprKind::EmptyStack => self.push("stack()"),
            ExprKind::Contract(formula, factors) => {
                self.push(&format!("contract(\"{formula}\""));
                for e in factors {
                    self.push(", ");
                    self.expr(e);
                }
                self.push(")");
            }
        }
        self.mark(e.span);
    }

    fn prefix(&mut self, symbol: &str, operand: &Expr, span: Span) {
        self.push(symbol);
        if self.encoded && span != Span::NONE {
            self.mark(span);
            self.push(" ");
        }
        // a minus sign before a number belongs to the number
        let number = matches!(operand.kind, ExprKind::Literal(Number::Int(_) | Number::Float(_), _));
        self.within_operator(operand, if number { ATOM + 1 } else { UNARY });
    }

    fn call(&mut self, name: &str, args: &[Expr]) {
        self.push(name);
        self.arguments(args);
    }

    fn arguments(&mut self, args: &[Expr]) {
        self.push("(");
        self.list(args, |p, e| p.expr(e));
        self.push(")");
    }

    fn of_place(&mut self, head: &str, place: &Place) {
        self.push(head);
        self.place(place);
        self.push(")");
    }

    /// The path of a pure function, quoted where it would mean something else.
    fn function_path(&mut self, path: &str) {
        if Func::from_name(path).is_some() || HEADS.contains(&path) {
            self.quoted('`', path);
        } else {
            self.path(path);
        }
    }

    fn named(&mut self, path: &str) {
        if !is_path(path) || !looks_constant(path) || self.is_taken(path) {
            self.push("named ");
        }
        self.path(path);
    }

    fn is_const(&self, name: &str) -> bool {
        self.generics.iter().any(|g| g.name == name && g.kind == GenericKind::Const)
    }

    /// The value at a place: the place's position, then its own where that differs.
    fn read(&mut self, place: &Place, span: Span) {
        self.place(place);
        if self.encoded && place.span != span {
            if place.span == Span::NONE {
                self.push("@0");
            }
            match span == Span::NONE {
                true => self.push("@0"),
                false => self.mark(span),
            }
        }
    }

    pub(super) fn place(&mut self, place: &Place) {
        self.var(place.var);
        for step in &place.path {
            match step {
                Step::Field(name) if name == "re" || name == "im" => {
                    self.push(".");
                    self.quoted('`', name);
                }
                Step::Field(name) => {
                    self.push(".");
                    self.name(name);
                }
                Step::Element(i) => self.push(&format!(".{i}")),
                Step::Index(indices) => {
                    self.push("[");
                    self.list(indices, |p, e| p.expr(e));
                    self.push("]");
                }
                Step::Part(axes) => {
                    self.push("[");
                    self.list(axes, |p, axis| p.axis(axis));
                    // what tells a row from an element
                    let element = axes.iter().all(|a| matches!(a, Axis::At(_)));
                    self.push(if element { ", ..]" } else { "]" });
                }
                Step::Re => self.push(".re"),
                Step::Im => self.push(".im"),
            }
        }
        self.mark(place.span);
    }

    fn axis(&mut self, axis: &Axis) {
        match axis {
            Axis::At(e) => self.expr(e),
            Axis::Range(from, to) => {
                self.expr(from);
                self.push("..");
                self.expr(to);
            }
            Axis::Whole => self.push(".."),
        }
    }

    /// A literal: a number of a scalar type has the type behind it, anything else in parentheses.
    fn literal(&mut self, number: Number, ty: Option<&Type>) {
        let finite = match number {
            Number::Int(_) => true,
            Number::Float(v) => v.is_finite(),
            Number::Bool(_) => false,
        };
        match ty {
            None => self.number(number),
            Some(Type::Scalar(s)) if finite && is_identifier(&s.name()) => {
                self.number(number);
                self.push(&s.name());
            }
            Some(Type::Generic(name))
                if finite
                    && (self.standalone || self.plain_generic(name).is_some())
                    && is_identifier(name) =>
            {
                self.number(number);
                self.push("_");
                self.push(name);
            }
            Some(ty) => {
                self.push("(");
                self.number(number);
                self.push(": ");
                self.ty(ty);
                self.push(")");
            }
        }
    }

    pub(super) fn number(&mut self, number: Number) {
        let text = match number {
            Number::Int(v) => v.to_string(),
            Number::Float(v) if v.is_nan() => "nan".to_owned(),
            Number::Float(v) => format!("{v:?}"),
            Number::Bool(v) => v.to_string(),
        };
        self.push(&text);
    }

    /// Whether `{ … }` around an expression can be the braces of the block that it is.
    pub(super) fn flattens(&self, e: &Expr) -> bool {
        let positioned = self.encoded && e.span != Span::NONE;
        matches!(&e.kind, ExprKind::Block(lets, _) if !lets.is_empty()) && !positioned
    }

    fn braced(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Block(lets, value) if self.flattens(e) => self.block_expr(lets, value),
            _ => {
                self.push("{ ");
                self.expr(e);
                self.push(" }");
            }
        }
    }

    fn block_expr(&mut self, lets: &[(VarId, Expr)], value: &Expr) {
        self.push("{ ");
        for (var, e) in lets {
            self.binding(*var, e);
            self.push("; ");
        }
        self.expr(value);
        self.push(" }");
    }

    /// `let n: T = e`.
    pub(super) fn binding(&mut self, var: VarId, e: &Expr) {
        self.push("let ");
        self.var(var);
        self.var_type(var);
        self.push(" = ");
        self.expr(e);
    }

    /// The type of a variable at its declaration, where it isn't in the table already.
    pub(super) fn var_type(&mut self, var: VarId) {
        if let Some(v) = self.vars.get(var.0 as usize).filter(|_| !self.tabled) {
            if v.ty != Type::Unknown {
                self.push(": ");
                self.ty(&v.ty);
            }
        }
    }

    fn element_base(&mut self, e: &Expr) {
        let atom = matches!(e.kind, ExprKind::Pure(..) | ExprKind::Tuple(_) | ExprKind::Element(..));
        self.within_operator(e, if atom { ATOM } else { ATOM + 1 });
    }
}

enum Operator {
    Infix(&'static str, u8),
    Prefix(&'static str),
}

/// The operator that an application is written with.
fn operator(func: Func, arguments: usize) -> Option<Operator> {
    if arguments == 2 {
        let row = INFIX.iter().find(|(f, ..)| *f == func)?;
        return Some(Operator::Infix(row.1, row.2));
    }
    PREFIX.iter().find(|(f, _)| *f == func && arguments == 1).map(|row| Operator::Prefix(row.1))
}

fn strength(e: &Expr) -> u8 {
    match &e.kind {
        ExprKind::Func(func, args) => match operator(*func, args.len()) {
            Some(Operator::Infix(_, level)) => level,
            Some(Operator::Prefix(_)) => UNARY,
            None => ATOM,
        },
        ExprKind::Cast(..) | ExprKind::If(..) => OPEN,
        ExprKind::Literal(..)
        | ExprKind::Named(_)
        | ExprKind::Function(_)
        | ExprKind::Const(_)
        | ExprKind::Read(_)
        | ExprKind::Len(..)
        | ExprKind::Pure(..)
        | ExprKind::Partials(..)
        | ExprKind::Block(..)
        | ExprKind::Element(..)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Repeat(..)
        | ExprKind::Fill(..)
        | ExprKind::Zero(_)
        | ExprKind::ZeroShadow(_)
        | ExprKind::ZeroLike(_)
        | ExprKind::EmptyStack
        | ExprKind::Contract(..) => ATOM,
    }
}
