//! Ancillas that start at a struct's fields: `let mut s = S::<T> { x: 1.0, at: [a, b] };`.
//!
//! Such an ancilla starts at zero, and what isn't zero is added to its fields. So it is uncomputed as others are, and
//! the fields may start at what carries a derivative.

use rev_compiler::diag::Code;
use rev_compiler::ir::{Block, Expr, ExprKind, Number, Place, Step, Stmt, StmtKind, UpdateOp};

use super::{plain_name, strip, Lowerer};
use crate::types::is_type_name;

/// What is added to which part of the struct.
type Parts = Vec<(Vec<Step>, Expr)>;

/// The path of the struct that an expression makes from its fields.
fn made(e: &syn::Expr) -> Option<&syn::Path> {
    match strip(e) {
        syn::Expr::Struct(s) => Some(&s.path),
        syn::Expr::Call(c) => match strip(&c.func) {
            syn::Expr::Path(p) if p.qself.is_none() => {
                p.path.segments.last().filter(|s| is_type_name(&s.ident.to_string())).map(|_| &p.path)
            }
            _ => None,
        },
        _ => None,
    }
}

impl Lowerer {
    /// `let mut s = S { .. }` or `let mut s = S(..)` around the rest of the block; `None` for anything else.
    pub(super) fn literal_ancilla(
        &mut self,
        pat: &syn::Pat,
        annotation: Option<&syn::Type>,
        init: &syn::Expr,
        span: rev_compiler::ir::Span,
        rest: &[syn::Stmt],
    ) -> Option<Block> {
        let path = made(init)?;
        let syn::Pat::Ident(syn::PatIdent { mutability: Some(_), .. }) = pat else { return None };
        let written = syn::Type::Path(syn::TypePath { qself: None, path: path.clone() });
        let ty = self.read_type(annotation.unwrap_or(&written));
        let mut parts = Parts::new();
        self.parts_of(init, Vec::new(), &mut parts);
        let value = match ty {
            Some(ty) => Expr::new(ExprKind::Zero(ty)).at(span),
            None => self.unreadable(),
        };
        let declared = self.declare_pattern(pat, annotation, value)?;
        let var = declared.0;
        let mut block = self.around_rest(vec![declared], span, rest);
        if self.released.contains(&var) {
            let _: Option<()> = self.error_help(
                Code::UnsupportedStatement,
                pat,
                "an ancilla that starts at a struct's fields is uncomputed where its scope ends, and not released",
                "start at zero (`let mut s = S::<T>::zero();`) and accumulate into its fields",
            );
        }
        if let Some(StmtKind::Ancilla { body, .. }) = block.first_mut().map(|stmt| &mut stmt.kind) {
            let started = parts.into_iter().map(|(path, expr)| {
                let place = Place { var, path, span: expr.span };
                let op = match expr.kind {
                    ExprKind::Literal(Number::Bool(_), _) => UpdateOp::Xor,
                    _ => UpdateOp::Add,
                };
                let at = expr.span;
                Stmt::new(StmtKind::Update { op, place, expr }).at(at)
            });
            body.splice(0..0, started);
        }
        Some(block)
    }

    /// The fields of a struct, and the elements of what they are made of, that aren't zero.
    fn parts_of(&mut self, e: &syn::Expr, path: Vec<Step>, parts: &mut Parts) {
        let with = |step: Step| path.iter().cloned().chain([step]).collect::<Vec<_>>();
        match strip(e) {
            syn::Expr::Struct(s) => {
                if let Some(base) = &s.rest {
                    let _: Option<()> =
                        self.error(Code::UnsupportedExpression, base, "the other fields have to be named");
                }
                for field in &s.fields {
                    let step = match &field.member {
                        syn::Member::Named(name) => Step::Field(plain_name(name)),
                        syn::Member::Unnamed(k) => Step::Element(k.index),
                    };
                    self.parts_of(&field.expr, with(step), parts);
                }
            }
            syn::Expr::Call(c) if made(e).is_some() => {
                c.args.iter().zip(0..).for_each(|(e, k)| self.parts_of(e, with(Step::Element(k)), parts));
            }
            syn::Expr::Tuple(t) => {
                t.elems.iter().zip(0..).for_each(|(e, k)| self.parts_of(e, with(Step::Element(k)), parts));
            }
            syn::Expr::Array(a) => {
                for (k, e) in a.elems.iter().enumerate() {
                    self.parts_of(e, with(Step::Index(vec![Expr::index(k)])), parts);
                }
            }
            e => match self.expr(e).filter(|value| !is_zero(value)) {
                Some(Expr { kind: ExprKind::Repeat(..), .. }) => {
                    let _: Option<()> = self.error_help(
                        Code::UnsupportedExpression,
                        e,
                        "the elements that a field starts at are written one by one, unless they are zero",
                        "`[1.0, 1.0]`, or start at zeros and accumulate into the elements in a loop",
                    );
                }
                Some(value) => parts.push((path, value)),
                None => {}
            },
        }
    }
}

/// Whether nothing is to be added.
fn is_zero(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Zero(_) | ExprKind::Literal(Number::Bool(false), _) => true,
        ExprKind::Literal(..) => value.is_number(0),
        ExprKind::Repeat(e, _) => is_zero(e),
        _ => false,
    }
}
