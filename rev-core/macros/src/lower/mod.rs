//! From Rust syntax to the IR.
//!
//! Lowering gives names to variables, turns the surface forms into the IR's statements and
//! expressions, and reports what isn't part of the language. It goes on after an error, so that one
//! compilation shows everything that is wrong; what couldn't be read is left out.

mod aliases;
mod array;
mod attributes;
mod block;
mod call;
mod checkpoint;
mod composed;
mod convert;
mod elements;
mod exits;
mod expr;
mod function;
mod literal;
mod matching;
mod number;
mod part;
mod path;
mod place;
mod pure;
mod range;
mod receiver;
mod stmt;
#[cfg(test)]
mod tests;
mod update;

pub use function::lower_function;
pub use number::has_struct;
pub use pure::lower_pure;

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use rev_compiler::check::Types;
use rev_compiler::diag::{Code, Diagnostic, Diagnostics};
use rev_compiler::ir::{Block, Expr, ExprKind, Function, Place, Span, Step, Type, Var, VarId, VarKind};

use crate::model::Source;
use crate::names::{plain as plain_name, refused, Named};
use crate::types::TypeReader;

/// What lowering knows at a point of the source.
struct Lowerer {
    /// The function so far: its type parameters and variables.
    function: Function,
    /// The names in scope, innermost last.
    scope: Vec<(String, VarId)>,
    source: Source,
    diagnostics: Diagnostics,
    /// The first values of ancillas.
    first_values: BTreeMap<VarId, Expr>,
    /// The ancillas that the program releases itself.
    released: BTreeSet<VarId>,
    /// The variables whose value couldn't be read: what is wrong with them has been said.
    unread: BTreeSet<VarId>,
    /// The parameters that are references in the source.
    references: BTreeSet<VarId>,
    /// How many expressions couldn't be read.
    unreadable: usize,
    /// The elements that loops visit.
    visited: BTreeSet<VarId>,
    /// How many names were in scope where each block around begins.
    blocks: Vec<usize>,
    /// The loop with `#[checkpoint]` around.
    steps: Option<checkpoint::Steps>,
    /// The ancillas that the arguments of the statement at hand are made in, with how they start.
    made: Vec<(VarId, Expr, Block)>,
    /// How many variants patterns have named.
    variants: usize,
    /// The places that patterns compare with constants.
    compared: Vec<Place>,
    /// Whether complex numbers occur.
    has_complex: bool,
    /// Whether this is a pure function.
    is_pure: bool,
}

impl Lowerer {
    /// For a function of this name.
    fn new(name: &syn::Ident) -> Lowerer {
        let mut source = Source::default();
        let function = Function {
            name: plain_name(name),
            generics: Vec::new(),
            params: Vec::new(),
            constants: BTreeSet::new(),
            vars: Vec::new(),
            names: rev_compiler::ir::Names::default(),
            body: Vec::new(),
            checks: true,
            file: name.span().file(),
            span: source.spans.of(name),
            defects: Default::default(),
        };
        Lowerer {
            function,
            source,
            scope: Vec::new(),
            diagnostics: Diagnostics::default(),
            first_values: BTreeMap::new(),
            released: BTreeSet::new(),
            unread: BTreeSet::new(),
            references: BTreeSet::new(),
            unreadable: 0,
            visited: BTreeSet::new(),
            blocks: Vec::new(),
            steps: None,
            made: Vec::new(),
            variants: 0,
            compared: Vec::new(),
            has_complex: false,
            is_pure: false,
        }
    }

    /// The position of some syntax.
    fn span(&mut self, tokens: &impl ToTokens) -> Span {
        self.source.spans.of(tokens)
    }

    /// Reports an error; the `None` stands for what couldn't be read.
    fn error<T>(&mut self, code: Code, at: &impl ToTokens, message: impl Into<String>) -> Option<T> {
        let span = self.span(at);
        self.report(Diagnostic::new(code, span, message))
    }

    /// The same with a way to repair it.
    fn error_help<T>(
        &mut self,
        code: Code,
        at: &impl ToTokens,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        let span = self.span(at);
        self.report(Diagnostic::new(code, span, message).help(help))
    }

    fn report<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.diagnostics.push(diagnostic);
        None
    }

    /// The IR type of a Rust type.
    fn read_type(&mut self, ty: &syn::Type) -> Option<Type> {
        match self.reader().read(ty) {
            Ok(t) => Some(t),
            Err(d) => self.report(d),
        }
    }

    fn reader(&mut self) -> TypeReader<'_> {
        TypeReader { generics: &self.function.generics, source: &mut self.source }
    }

    fn type_of(&self, e: &Expr) -> Type {
        Types::of(&self.function).expr(e)
    }

    fn type_of_place(&self, p: &Place) -> Type {
        Types::of(&self.function).place(p)
    }

    /// The variable that a name stands for here.
    fn lookup(&self, name: &str) -> Option<VarId> {
        self.scope.iter().rev().find(|(n, _)| n == name).map(|(_, v)| *v)
    }

    fn var(&self, id: VarId) -> &Var {
        self.function.var(id)
    }

    /// Reports a name that can't be given.
    fn given_name(&mut self, ident: &syn::Ident, what: Named) {
        let span = self.span(ident);
        if let Some(d) = refused(ident, what, span) {
            self.diagnostics.push(d);
        }
    }

    /// Brings a new variable into scope. It may take the name of another one, except that of an
    /// ancilla, which could no longer be named to bring it back.
    fn declare(&mut self, ident: &syn::Ident, ty: Type, kind: VarKind) -> VarId {
        self.given_name(ident, Named::Variable);
        let name = plain_name(ident);
        let span = self.span(ident);
        let hidden = self.lookup(&name).filter(|v| !self.released.contains(v)).map(|v| self.var(v));
        if let Some(hidden) = hidden.filter(|v| v.kind == VarKind::Ancilla) {
            let message = format!("`{name}` hides an ancilla that is still in use");
            let d = Diagnostic::new(Code::ShadowedAncilla, span, message)
                .label(hidden.span, format!("the ancilla `{name}` is declared here"))
                .help("choose another name, or end the ancilla's scope first");
            self.diagnostics.push(d);
        }
        let id = self.add_var(&name, ty, kind, span);
        self.scope.push((name, id));
        id
    }

    /// A name for a value that the source doesn't name.
    fn temporary(&mut self, ty: Type, span: Span) -> VarId {
        self.add_var("t", ty, VarKind::Binding, span)
    }

    /// A name for a value of several parts, which are read of it.
    fn whole(&mut self, value: Expr, parts: usize, span: Span) -> (VarId, Expr) {
        let value = match value.kind {
            ExprKind::If(..) | ExprKind::Block(..) => self.calls_in_parts(value, parts),
            _ => value,
        };
        (self.temporary(self.type_of(&value), span), value)
    }

    /// Branches that are calls of functions with several results, as tuples of these: only there it is known how many they are.
    fn calls_in_parts(&mut self, value: Expr, parts: usize) -> Expr {
        let Expr { kind, span } = value;
        let kind = match kind {
            ExprKind::If(cond, a, b) => {
                let [a, b] = [a, b].map(|branch| Box::new(self.calls_in_parts(*branch, parts)));
                ExprKind::If(cond, a, b)
            }
            ExprKind::Block(lets, value) => {
                ExprKind::Block(lets, Box::new(self.calls_in_parts(*value, parts)))
            }
            ExprKind::Pure(..) => {
                let call = Expr { kind, span };
                let whole = self.temporary(self.type_of(&call), span);
                let part = |k| Place { span, ..Place::var(whole).with(Step::Element(k as u32)) };
                let results = (0..parts).map(|k| Expr::read(part(k))).collect();
                ExprKind::Block(vec![(whole, call)], Box::new(Expr::new(ExprKind::Tuple(results)).at(span)))
            }
            kind => kind,
        };
        Expr { kind, span }
    }

    fn add_var(&mut self, name: &str, ty: Type, kind: VarKind, span: Span) -> VarId {
        self.has_complex |= has_complex(&ty);
        self.function.add_var(Var { name: name.to_string(), ty, kind, span })
    }

    /// An expression, or what stands for one that couldn't be read: of any type, reading nothing.
    fn expr_or_unreadable(&mut self, e: &syn::Expr) -> Expr {
        match self.expr(e) {
            Some(value) => value,
            None => self.unreadable(),
        }
    }

    fn unreadable(&mut self) -> Expr {
        self.unreadable += 1;
        Expr::new(ExprKind::Named(format!("{UNREADABLE}{}", self.unreadable)))
    }
}

/// Whether a type has complex numbers in it.
fn has_complex(ty: &Type) -> bool {
    match ty {
        Type::Complex(_) => true,
        Type::Array(t, _) | Type::Fixed(t, _) | Type::Stack(t) | Type::Shadow(t) => has_complex(t),
        Type::Tuple(ts) | Type::Struct(_, ts) => ts.iter().any(has_complex),
        Type::Scalar(_) | Type::Generic(_) | Type::Function(_) | Type::Unknown => false,
    }
}

/// How the names of expressions that couldn't be read begin; no path does.
const UNREADABLE: &str = "?";

fn is_unreadable(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Named(name) if name.starts_with(UNREADABLE))
}

/// An expression without parentheses.
fn strip(e: &syn::Expr) -> &syn::Expr {
    match e {
        syn::Expr::Paren(p) => strip(&p.expr),
        syn::Expr::Group(g) => strip(&g.expr),
        _ => e,
    }
}

/// An expression without parentheses, `&`, `&mut` and `*`.
fn strip_references(e: &syn::Expr) -> &syn::Expr {
    match strip(e) {
        syn::Expr::Reference(r) => strip_references(&r.expr),
        syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => strip_references(&u.expr),
        e => e,
    }
}
