//! Conversions of variables: `convert(x, y)` moves the value of `x` to `y`, which is of another type and holds zero.
//!
//! It stands for `y += x as Y; x -= y as X`, with checks that `y` is zero before and `x` behind it, so the inverse finds what isn't
//! a number of `x`'s type. `convert(x, y, lost)` moves what `y` can't hold, which then is left in `x`, to a stack.

use rev_compiler::diag::{Code, Diagnostic};
use rev_compiler::ir::{
    Block, Expr, ExprKind, Place, Release, ScalarType, Span, Stmt, StmtKind, Type, UpdateOp, VarKind,
};
use rev_compiler::ops::Func;

use super::call::wrong_count;
use super::Lowerer;

impl Lowerer {
    /// `convert(x, y)` or `convert(x, y, lost)`.
    pub(super) fn convert(&mut self, c: &syn::ExprCall, span: Span) -> Block {
        let places: Option<Vec<Place>> = c.args.iter().map(|e| self.place(e)).collect();
        let moved = match places.as_deref() {
            Some([x, y]) => self.moved(x, y, None, span),
            Some([x, y, lost]) => self.moved(x, y, Some(lost), span),
            Some(other) => {
                let message = format!("{}, or 3 with a stack", wrong_count("convert", 2, other.len()));
                self.error(Code::ArgumentCount, &c.func, message)
            }
            None => None,
        };
        moved.unwrap_or_default()
    }

    fn moved(&mut self, x: &Place, y: &Place, lost: Option<&Place>, span: Span) -> Option<Block> {
        let (from, to) = (self.scalar_at(x), self.scalar_at(y));
        let (from, to) = (from?, to?);
        match (from.holds_in(to), lost) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(lost)) => {
                let message = format!("every `{}` is a `{}`: nothing is lost", from.name(), to.name());
                let d = Diagnostic::new(Code::LossyConversion, lost.span, message);
                return self.report(d.help("leave the stack out: `convert(x, y);`"));
            }
            (false, None) => return self.lossy(from, to, span),
        }
        let moved = [
            self.zero(y, to, span),
            change(UpdateOp::Add, y, as_type(x, from, to), to, span),
            change(UpdateOp::Sub, x, as_type(y, to, from), from, span),
        ];
        let mut out: Block = moved.into();
        match lost {
            None => out.push(self.zero(x, from, span)),
            Some(stack) => {
                if from.is_float() {
                    out.insert(1, self.comes_back(x, from, to, span));
                }
                let kind = StmtKind::Push { stack: stack.clone(), place: x.clone() };
                out.push(Stmt::new(kind).at(span));
            }
        }
        Some(out)
    }

    /// The type of a place whose value is converted.
    fn scalar_at(&mut self, place: &Place) -> Option<ScalarType> {
        let d = match self.type_of_place(place) {
            Type::Scalar(scalar) => return Some(scalar),
            Type::Unknown => Diagnostic::new(
                Code::LossyConversion,
                place.span,
                "the type of this isn't known where it is converted",
            )
            .help(
                "move it to a variable of its own first: `let mut a = 0.0f32; swap(a, s.x); convert(a, y);`",
            ),
            other => Diagnostic::new(
                Code::LossyConversion,
                place.span,
                format!(
                    "only numbers of types that are written are converted, and this is of type `{other}`"
                ),
            )
            .help("convert one number of a type like `f32`, `f64`, `i32` or `bool` at a time"),
        };
        self.report(d)
    }

    fn lossy(&mut self, from: ScalarType, to: ScalarType, span: Span) -> Option<Block> {
        let message = format!("not every `{}` is a `{}`: something would be lost", from.name(), to.name());
        let keep = format!("keep what is lost on a stack of `{}`: `convert(x, y, lost);`", from.name());
        let help = match to.holds_in(from) {
            true => format!("{keep}; where it is known that nothing is, go the way back: `#[inverse] {{ convert(y, x); }}`"),
            false => keep,
        };
        self.report(Diagnostic::new(Code::LossyConversion, span, message).help(help))
    }

    /// Checks that a place holds zero, exactly: an ancilla that holds nothing but its value isn't released with a small one.
    fn zero(&mut self, place: &Place, ty: ScalarType, span: Span) -> Stmt {
        let name = self.var(place.var).name.clone();
        let zero = Expr::new(literal_zero(ty)).at(span);
        self.released_as(&format!("left_in_{name}"), zero, Expr::read(place.clone()), ty, span)
    }

    /// Checks that what `y` can't hold and what it holds give `x` again.
    fn comes_back(&mut self, x: &Place, from: ScalarType, to: ScalarType, span: Span) -> Stmt {
        let there = as_type(x, from, to);
        let back = Expr::new(ExprKind::Cast(Box::new(there), Type::Scalar(from)));
        let of = |func, a: &Expr, b: &Expr| Expr::func(func, vec![a.clone(), b.clone()]);
        let x = Expr::read(x.clone());
        let lost = of(Func::Sub, &x, &back);
        let again = of(Func::Add, &lost, &back);
        let differs = Expr::func(Func::Not, vec![of(Func::Eq, &again, &x)]);
        self.released_as("too_large", Expr::bool(false), differs, ScalarType::Bool, span)
    }

    /// `let mut name = zero; name += value; release(name);`
    fn released_as(&mut self, name: &str, zero: Expr, value: Expr, ty: ScalarType, span: Span) -> Stmt {
        let var = self.add_var(name, Type::Scalar(ty), VarKind::Ancilla, span);
        let body = vec![
            change(UpdateOp::Add, &Place { span, ..Place::var(var) }, value, ty, span),
            Stmt::new(StmtKind::Release { var, value: zero.clone() }).at(span),
        ];
        Stmt::new(StmtKind::Ancilla { var, init: zero, release: Release::Checked, body }).at(span)
    }
}

fn literal_zero(ty: ScalarType) -> ExprKind {
    match ty {
        ScalarType::Bool => Expr::bool(false).kind,
        _ => ExprKind::Literal(rev_compiler::ir::Number::Int(0), Some(Type::Scalar(ty))),
    }
}

/// An update of a number, or of a `bool`, which has one only.
fn change(op: UpdateOp, place: &Place, expr: Expr, ty: ScalarType, span: Span) -> Stmt {
    let op = if ty == ScalarType::Bool { UpdateOp::Xor } else { op };
    Stmt::new(StmtKind::Update { op, place: place.clone(), expr: expr.at(span) }).at(span)
}

/// `x as T`, where `T` may be `bool`.
fn as_type(x: &Place, from: ScalarType, to: ScalarType) -> Expr {
    let value = Expr::read(x.clone());
    match to {
        ScalarType::Bool => Expr::func(Func::Ne, vec![value, Expr::new(literal_zero(from))]),
        _ => Expr::new(ExprKind::Cast(Box::new(value), Type::Scalar(to))),
    }
}
