//! Structs that are made of their fields: `let mut s = S::<T> { x: 1.0, at: [a, b] };`, the same without `mut`, as an
//! argument that is read (`f(&S { x, y })`), and on the right of an update of a struct (`s += S { x, y }`).
//!
//! What holds such a struct is an ancilla that starts at zero, and what isn't zero is added to its fields. So it is
//! uncomputed as others are, and the fields may start at what carries a derivative.

use rev_compiler::diag::{Code, Diagnostic};
use rev_compiler::ir::{
    Access, Block, Expr, ExprKind, Number, Place, Release, Step, Stmt, StmtKind, Type, UpdateOp, VarId,
    VarKind,
};

use super::number::{type_name, REPRESENTATION};
use super::{plain_name, strip, Lowerer};
use crate::types::is_type_name;

/// What is added to which part of the struct.
type Parts = Vec<(Vec<Step>, Expr)>;

/// The path of the struct that an expression makes from its fields.
pub(super) fn made(e: &syn::Expr) -> Option<&syn::Path> {
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
        let syn::Pat::Ident(syn::PatIdent { mutability, .. }) = pat else { return None };
        let written = syn::Type::Path(syn::TypePath { qself: None, path: path.clone() });
        let ty = self.read_type(annotation.unwrap_or(&written));
        let mut parts = Parts::new();
        self.parts_of(init, Vec::new(), &mut parts);
        let value = match ty {
            Some(ty) => Expr::new(ExprKind::Zero(ty)).at(span),
            None => self.unreadable(),
        };
        let declared = self.declare_pattern(pat, annotation, value.clone())?;
        let var = declared.0;
        if mutability.is_none() {
            self.function.vars[var.0 as usize].kind = VarKind::Ancilla;
            self.first_values.insert(var, value);
        }
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
            if mutability.is_none() {
                self.keeps(var, body);
            }
            body.splice(0..0, started(var, parts));
        }
        Some(block)
    }

    /// Reports what changes a struct that is declared without `mut`.
    fn keeps(&mut self, var: VarId, body: &Block) {
        let mut written = None;
        body.iter().for_each(|s| {
            s.each_access_deep(&mut |q, access| {
                if q.var == var && access != Access::Read && written.is_none() {
                    written = Some(if q.span.is_some() { q.span } else { s.span });
                }
            });
        });
        if let Some(span) = written {
            let (name, declared) = (self.var(var).name.clone(), self.var(var).span);
            let message = format!("`{name}` is written, but it is a name for a value");
            let d = Diagnostic::new(Code::WriteBinding, span, message)
                .label(declared, "declared here")
                .help(format!("declare an ancilla: `let mut {name} = ...;`"));
            let _: Option<()> = self.report(d);
        }
    }

    /// An argument that is a struct made of its fields: an ancilla around the call.
    pub(super) fn made_argument(&mut self, e: &syn::Expr) -> Option<Place> {
        let path = made(e)?;
        let span = self.span(e);
        let ty = self.read_type(&syn::Type::Path(syn::TypePath { qself: None, path: path.clone() }))?;
        let mut parts = Parts::new();
        self.parts_of(e, Vec::new(), &mut parts);
        let zero = Expr::new(ExprKind::Zero(ty.clone())).at(span);
        let var = self.add_var("made", ty, VarKind::Ancilla, span);
        self.made.push((var, zero, started(var, parts)));
        Some(Place { span, ..Place::var(var) })
    }

    /// A statement inside the ancillas that its arguments were made in.
    pub(super) fn around_made(&mut self, statements: Block) -> Block {
        std::mem::take(&mut self.made).into_iter().rev().fold(statements, |inner, (var, init, mut body)| {
            let span = init.span;
            body.extend(inner);
            let release = Release::Managed;
            vec![Stmt::new(StmtKind::Ancilla { var, init, release, body }).at(span)]
        })
    }

    /// The right side of an update of a struct that isn't a number: a struct made of its fields. What is added, and to
    /// which parts.
    pub(super) fn made_of_fields(&mut self, of: &Type, e: &syn::Expr) -> Option<Vec<(Vec<Step>, Expr)>> {
        let last = |path: &syn::Path| path.segments.last().map(|s| s.ident.to_string());
        let (name, path) = (type_name(of).rsplit("::").next()?, made(e)?);
        let named = last(path).as_deref() == Some(name);
        let is_number = matches!(strip(e), syn::Expr::Struct(s)
            if s.fields.iter().any(|f| matches!(&f.member, syn::Member::Named(n) if n == REPRESENTATION)));
        (named && !is_number).then(|| {
            let mut parts = Parts::new();
            self.parts_of(e, Vec::new(), &mut parts);
            parts
        })
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
                Some(value) if self.is_shaped(&value) => {
                    let _: Option<()> = self.error_help(
                        Code::UnsupportedExpression,
                        e,
                        "a struct that is made here can't hold arrays whose lengths only the run tells",
                        "start like another struct, `let mut s = zeros_like(p);`, and accumulate into its fields",
                    );
                }
                Some(value) => parts.push((path, value)),
                None => {}
            },
        }
    }
}

impl Lowerer {
    /// Whether a value is an array of run-time shape, or a stack.
    fn is_shaped(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Fill(..) | ExprKind::EmptyStack | ExprKind::ZeroLike(_) => true,
            ExprKind::Contract(formula, _) => !formula.target.is_scalar(),
            ExprKind::Read(q) => matches!(self.type_of_place(q), Type::Array(..) | Type::Stack(_)),
            _ => false,
        }
    }
}

/// What is added to an ancilla first.
fn started(var: VarId, parts: Parts) -> Block {
    let started = parts.into_iter().map(|(path, expr)| {
        let place = Place { var, path, span: expr.span };
        let (op, at) = (update_of(UpdateOp::Add, &expr), expr.span);
        Stmt::new(StmtKind::Update { op, place, expr }).at(at)
    });
    started.collect()
}

/// How a part is added: truth values by exclusive or.
pub(super) fn update_of(op: UpdateOp, expr: &Expr) -> UpdateOp {
    match expr.kind {
        ExprKind::Literal(Number::Bool(_), _) => UpdateOp::Xor,
        _ => op,
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
