//! Updates of numbers of a type: `x *= a * b` for a struct `x`.
//!
//! A struct with a field `repr` can be a number system. An update is a call of a reversible function of the type on what
//! represents the right side: `x *= e` is `S::mul_assign(&mut x, e)`, `x /= e` the inverse of that call. An expression of
//! such numbers is one of pure functions of the type on their representations: `a * b` is `S::mul(a.repr, b.repr)`, and a
//! part without numbers of the type becomes one by `S::of(part)`.

use proc_macro2::{Ident, Span as Position};
use quote::ToTokens;
use rev_compiler::diag::{Code, Diagnostic};
use rev_compiler::ir::{
    Arg, ArgValue, Block, Callee, Direction, Expr, ExprKind, Mode, Place, Span, Step, Stmt, StmtKind, Type,
    UpdateOp,
};

use super::path::is_function;
use super::update::Assignment;
use super::{plain_name, strip, strip_references, Lowerer};
use crate::spans::Region;
use crate::types::function_path;

/// The field that expressions are computed on.
pub(super) const REPRESENTATION: &str = "repr";

impl Lowerer {
    /// Whether a place is known to be a struct. Few are: the type of the others, which takes all variables to find, isn't asked for.
    pub(super) fn is_struct(&self, place: &Place) -> bool {
        has_struct(&self.var(place.var).ty) && matches!(self.type_of_place(place), Type::Struct(..))
    }

    /// `place op= right` where the place is a struct.
    pub(super) fn number_update(
        &mut self,
        assignment: Assignment,
        place: Place,
        (left, right): (&syn::Expr, &syn::Expr),
        span: Span,
    ) -> Block {
        let of = self.type_of_place(&place);
        if let Some(found) = self.type_of_part(right) {
            if self.lacks_arguments(&of, &found, place.span) {
                return Vec::new();
            }
        }
        let value = self.number(&of, right);
        let (name, inverse) = match assignment {
            Assignment::Update(UpdateOp::Add) => ("add_assign", false),
            Assignment::Update(UpdateOp::Sub) => ("add_assign", true),
            Assignment::Update(UpdateOp::Xor) => ("bitxor_assign", false),
            Assignment::Product { inverse } => ("mul_assign", inverse),
        };
        let direction = Direction { inverse, ..Direction::FORWARD };
        let path = self.own_function(&of, &Ident::new(name, position(left)), left);
        let (Some(value), Some(path)) = (value, path) else { return Vec::new() };
        let callee = function_path(&path);
        self.source.callees.entry(callee.clone()).or_insert(path);
        let args = vec![
            Arg { mode: Mode::Write, value: ArgValue::Place(place) },
            Arg { mode: Mode::Read, value: ArgValue::Expr(value) },
        ];
        vec![Stmt::new(StmtKind::Call { callee: Callee::Path(callee), direction, args }).at(span)]
    }

    /// The type of a struct that is read, without a word where it is none.
    fn type_of_part(&mut self, e: &syn::Expr) -> Option<Type> {
        let e = strip_references(e);
        if !matches!(e, syn::Expr::Path(_) | syn::Expr::Field(_) | syn::Expr::Index(_)) {
            return None;
        }
        let reported = self.diagnostics.0.len();
        let place = self.try_place(e).flatten();
        // it is read again
        self.diagnostics.0.truncate(reported);
        place.filter(|p| self.is_struct(p)).map(|p| self.type_of_place(&p))
    }

    /// Whether the arguments of a struct's type aren't known, as those of another one of the same name are.
    pub(super) fn lacks_arguments(&mut self, of: &Type, found: &Type, at: Span) -> bool {
        let (Type::Struct(name, known), Type::Struct(other, wanted)) = (of, found) else { return false };
        let lacks = name == other && known.is_empty() && !wanted.is_empty();
        if lacks {
            let wanted: Vec<_> = wanted.iter().map(ToString::to_string).collect();
            let message = format!("the arguments of the type `{name}` aren't known here");
            let help =
                format!("say what they are where it is declared: `{name}::<{}>::zero()`", wanted.join(", "));
            self.diagnostics.push(Diagnostic::new(Code::UnsupportedType, at, message).help(help));
        }
        lacks
    }

    /// What represents an expression in a number system.
    fn number(&mut self, of: &Type, e: &syn::Expr) -> Option<Expr> {
        let span = self.source.spans.record(Region::of_expr(e));
        if !self.has_number(of, e) {
            return self.converted(of, e).map(|x| x.at(span));
        }
        let e = strip_references(e);
        let value = match e {
            syn::Expr::Binary(b) => {
                let (left, right) = (self.number(of, &b.left), self.number(of, &b.right));
                let name = match b.op {
                    syn::BinOp::Add(_) => "add",
                    syn::BinOp::Sub(_) => "sub",
                    syn::BinOp::Mul(_) => "mul",
                    syn::BinOp::Div(_) => "div",
                    syn::BinOp::Rem(_) => "rem",
                    _ => {
                        let message = "this operator isn't one of number systems: `+ - * / %` are";
                        return self.error(Code::UnsupportedExpression, &b.op, message);
                    }
                };
                self.computed(of, &Ident::new(name, position(&b.op)), e, vec![left?, right?])
            }
            syn::Expr::Unary(u) => {
                let inner = self.number(of, &u.expr);
                self.computed(of, &Ident::new("neg", position(&u.op)), e, vec![inner?])
            }
            syn::Expr::MethodCall(m) => {
                let args = self.arguments_of(of, &m.method, std::iter::once(&*m.receiver).chain(&m.args));
                self.computed(of, &m.method, e, args?)
            }
            syn::Expr::Call(c) => {
                let name = function_name(c)?;
                let args = self.arguments_of(of, &name, &c.args);
                self.computed(of, &name, e, args?)
            }
            e => {
                let place = self.place(e)?;
                Some(Expr::read(place.with(Step::Field(REPRESENTATION.into()))))
            }
        };
        value.map(|x| x.at(span))
    }

    /// Numbers and other arguments of a function of the language: powers are no numbers of the type.
    fn arguments_of<'a>(
        &mut self,
        of: &Type,
        name: &Ident,
        args: impl IntoIterator<Item = &'a syn::Expr>,
    ) -> Option<Vec<Expr>> {
        let is_power = ["powi", "powf", "powc"].iter().any(|power| name == power);
        let lowered: Vec<_> = args
            .into_iter()
            .enumerate()
            .map(|(k, e)| if is_power && k > 0 { self.expr(e) } else { self.number(of, e) })
            .collect();
        lowered.into_iter().collect()
    }

    /// A number of the type, of what is none.
    fn converted(&mut self, of: &Type, e: &syn::Expr) -> Option<Expr> {
        let value = self.expr(e)?;
        if let Type::Struct(found, _) = self.type_of(&value) {
            let wanted = type_name(of);
            return self.error_help(
                Code::TypeMismatch,
                e,
                format!("this is of type `{found}`, and not a number of `{wanted}`"),
                format!("convert what it is represented by: `{wanted}::of(..)`"),
            );
        }
        let name = Ident::new("of", position(e));
        self.computed(of, &name, e, vec![value])
    }

    /// `S::f(args)`.
    fn computed(&mut self, of: &Type, name: &Ident, at: &syn::Expr, args: Vec<Expr>) -> Option<Expr> {
        let path = self.own_function(of, name, at)?;
        let pure = function_path(&path);
        self.source.pures.entry(pure.clone()).or_insert(path);
        Some(Expr::new(ExprKind::Pure(pure, args)))
    }

    fn own_function(&mut self, of: &Type, name: &Ident, at: &syn::Expr) -> Option<syn::Path> {
        match self.function_of(of, name) {
            Some(path) => Some(path),
            None => {
                let name = type_name(of);
                self.error_help(
                    Code::UnsupportedType,
                    at,
                    format!("the arguments of the type `{name}` aren't known here"),
                    format!("say what it is where it is declared: `let mut a: {name}<T> = ..;`"),
                )
            }
        }
    }

    /// Whether a number of the type stands in an expression, apart from the arguments of functions that aren't of the
    /// language.
    fn has_number(&mut self, of: &Type, e: &syn::Expr) -> bool {
        match strip_references(e) {
            syn::Expr::Binary(b) => self.has_number(of, &b.left) || self.has_number(of, &b.right),
            syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Neg(_)) => self.has_number(of, &u.expr),
            syn::Expr::MethodCall(m) if is_function(&plain_name(&m.method)) => {
                self.has_number(of, &m.receiver) || m.args.iter().any(|e| self.has_number(of, e))
            }
            syn::Expr::Call(c) if function_name(c).is_some() => c.args.iter().any(|e| self.has_number(of, e)),
            e => self.type_of_part(e).is_some_and(|t| type_name(&t) == type_name(of)),
        }
    }
}

/// Whether there is a struct in a type.
pub fn has_struct(ty: &Type) -> bool {
    match ty {
        Type::Struct(..) => true,
        Type::Array(t, _) | Type::Fixed(t, _) | Type::Stack(t) | Type::Shadow(t) => has_struct(t),
        Type::Tuple(ts) => ts.iter().any(has_struct),
        Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) | Type::Function(_) | Type::Unknown => false,
    }
}

/// The name of a struct, as it is written.
pub(super) fn type_name(ty: &Type) -> &str {
    match ty {
        Type::Struct(name, _) => name,
        Type::Scalar(_)
        | Type::Generic(_)
        | Type::Complex(_)
        | Type::Array(..)
        | Type::Fixed(..)
        | Type::Tuple(_)
        | Type::Stack(_)
        | Type::Function(_)
        | Type::Shadow(_)
        | Type::Unknown => "",
    }
}

/// The function of the language that a call names.
fn function_name(c: &syn::ExprCall) -> Option<Ident> {
    match strip(&c.func) {
        syn::Expr::Path(p) => p.path.get_ident().filter(|name| is_function(&plain_name(name))).cloned(),
        _ => None,
    }
}

/// Where rustc shows an error about some syntax.
fn position(tokens: &impl ToTokens) -> Position {
    syn::spanned::Spanned::span(&tokens.to_token_stream())
}
