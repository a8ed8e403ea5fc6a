//! Blocks: sequences of statements, where a `let` holds the rest of its block.

use rev_compiler::diag::{Code, Diagnostic};
use rev_compiler::ir::{
    Block, Expr, ExprKind, Number, Place, Release, ScalarType, Span, Step, Stmt, StmtKind, Type, VarId,
    VarKind,
};

use super::checkpoint::zero_of;
use super::{is_unreadable, strip, Lowerer};
use crate::spans::Region;
use crate::types::path_text;

impl Lowerer {
    /// A block with a scope of its own.
    pub(super) fn block(&mut self, block: &syn::Block) -> Block {
        let mark = self.scope.len();
        self.blocks.push(mark);
        let out = self.sequence(&block.stmts);
        self.blocks.pop();
        self.scope.truncate(mark);
        out
    }

    /// The statements of a block. What declares something has the rest as its body.
    pub(super) fn sequence(&mut self, stmts: &[syn::Stmt]) -> Block {
        let mut out = Vec::new();
        for (k, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[k + 1..];
            match stmt {
                syn::Stmt::Local(local) => {
                    out.extend(self.local(local, rest));
                    return out;
                }
                syn::Stmt::Expr(syn::Expr::Block(b), _)
                    if b.attrs.iter().any(|a| a.path().is_ident("compute")) =>
                {
                    out.push(self.compute(b, rest));
                    return out;
                }
                syn::Stmt::Expr(syn::Expr::ForLoop(f), _)
                    if f.attrs.iter().any(|a| a.path().is_ident("checkpoint")) =>
                {
                    out.extend(self.checkpointed(f, rest));
                    return out;
                }
                syn::Stmt::Expr(e, _) => out.extend(self.statement_with_arguments(e)),
                syn::Stmt::Macro(m) => self.macro_statement(&m.mac),
                syn::Stmt::Item(item) => self.item(item),
            }
        }
        out
    }

    /// A statement inside the ancillas that its arguments are made in.
    pub(super) fn statement_with_arguments(&mut self, e: &syn::Expr) -> Block {
        let statements = self.statement(e);
        self.around_made(statements)
    }

    fn compute(&mut self, b: &syn::ExprBlock, rest: &[syn::Stmt]) -> Stmt {
        self.attributes(&b.attrs, &["compute"]);
        let span = self.block_head(b);
        let compute = self.block(&b.block);
        let body = self.sequence(rest);
        Stmt::new(StmtKind::Compute { compute, body }).at(span)
    }

    /// From a block's first attribute to its opening brace.
    pub(super) fn block_head(&mut self, b: &syn::ExprBlock) -> Span {
        let open = Region::at(b.block.brace_token.span.open());
        let region = b.attrs.first().map_or(open, |a| Region::of(a).to(open));
        self.source.spans.record(region)
    }

    pub(super) fn macro_statement(&mut self, mac: &syn::Macro) {
        let _: Option<()> = self.error_help(
            Code::Macro,
            &mac.path,
            format!("the macro `{}!` can't be looked into", path_text(&mac.path)),
            "if it leaves the program's variables alone, put it in a block: `#[external] { ... }`",
        );
    }

    fn item(&mut self, item: &syn::Item) {
        let _: Option<()> = self.error_help(
            Code::UnsupportedStatement,
            item,
            "an item can't be declared inside a reversible function",
            "move it out of the function",
        );
    }

    fn local(&mut self, local: &syn::Local, rest: &[syn::Stmt]) -> Block {
        self.attributes(&local.attrs, &[]);
        let (pat, annotation) = match &local.pat {
            syn::Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
            pat => (pat, None),
        };
        let span = self.local_span(local);
        let Some(init) = &local.init else {
            let _: Option<()> = self.error_help(
                Code::UnsupportedPattern,
                &local.pat,
                "a variable needs a value where it is declared",
                "an ancilla starts at a known value: `let mut a = T::zero();`",
            );
            let value = self.unreadable();
            return self.bind(pat, annotation, value, span, rest);
        };
        if let Some((_, diverge)) = &init.diverge {
            let _: Option<()> =
                self.error(Code::UnsupportedPattern, diverge, "`let ... else` isn't part of the language");
        }
        if let Some(block) = self.literal_ancilla(pat, annotation, &init.expr, span, rest) {
            return block;
        }
        match (pat, strip(&init.expr)) {
            (syn::Pat::Tuple(names), syn::Expr::Tuple(values)) if names.elems.len() == values.elems.len() => {
                self.bind_each(names, annotation, values, span, rest)
            }
            _ => {
                let value = self.first_value(&init.expr, annotation);
                self.bind(pat, annotation, value, span, rest)
            }
        }
    }

    /// From `let` to the end of the value.
    fn local_span(&mut self, local: &syn::Local) -> Span {
        let start = Region::of(&local.let_token);
        let region = match &local.init {
            Some(init) => start.to(Region::of(&init.expr)),
            None => start.to(Region::of(&local.pat)),
        };
        self.source.spans.record(region)
    }

    /// The value of a `let`; arrays of zeros take the element type of its annotation.
    fn first_value(&mut self, e: &syn::Expr, annotation: Option<&syn::Type>) -> Expr {
        let expected = annotation.and_then(|t| self.read_type(t));
        let mut value = self.expr_or_unreadable(e);
        if let (Some(Type::Array(element, _)), ExprKind::Fill(fill, _)) = (expected, &mut value.kind) {
            match &mut fill.kind {
                ExprKind::Literal(Number::Int(0), None)
                    if fill.span == Span::NONE && *element == Type::Scalar(ScalarType::Bool) =>
                {
                    **fill = zero_of(&element);
                }
                ExprKind::Literal(_, ty @ None) => *ty = Some(*element),
                _ => {}
            }
        }
        value
    }

    /// `let pat = value` around the rest of the block.
    fn bind(
        &mut self,
        pat: &syn::Pat,
        annotation: Option<&syn::Type>,
        value: Expr,
        span: Span,
        rest: &[syn::Stmt],
    ) -> Block {
        match pat {
            syn::Pat::Tuple(names) => self.bind_parts(names, annotation, value, span, rest),
            _ => {
                let declared = self.declare_pattern(pat, annotation, value).into_iter().collect();
                self.around_rest(declared, span, rest)
            }
        }
    }

    /// `let (a, b) = (e, f)`: all values are of the state before.
    fn bind_each(
        &mut self,
        names: &syn::PatTuple,
        annotation: Option<&syn::Type>,
        values: &syn::ExprTuple,
        span: Span,
        rest: &[syn::Stmt],
    ) -> Block {
        let types = element_types(annotation, names.elems.len());
        let lowered: Vec<Expr> =
            values.elems.iter().zip(&types).map(|(e, t)| self.first_value(e, *t)).collect();
        let pats = names.elems.iter().zip(lowered).zip(types);
        let declared = pats.filter_map(|((pat, value), ty)| self.declare_pattern(pat, ty, value)).collect();
        self.around_rest(declared, span, rest)
    }

    /// `let (a, b) = e`: the tuple gets a name, its elements are bound to its parts.
    fn bind_parts(
        &mut self,
        names: &syn::PatTuple,
        annotation: Option<&syn::Type>,
        value: Expr,
        span: Span,
        rest: &[syn::Stmt],
    ) -> Block {
        let types = element_types(annotation, names.elems.len());
        let (whole, value) = self.whole(value, names.elems.len(), span);
        let mut declared = vec![(whole, value)];
        for (k, (pat, ty)) in names.elems.iter().zip(types).enumerate() {
            let part = Place { span: self.span(pat), ..Place::var(whole).with(Step::Element(k as u32)) };
            declared.extend(self.declare_pattern(pat, ty, Expr::read(part)));
        }
        self.around_rest(declared, span, rest)
    }

    /// Declares the variable of `n` or `mut a`; a wildcard declares nothing.
    pub(super) fn declare_pattern(
        &mut self,
        pat: &syn::Pat,
        annotation: Option<&syn::Type>,
        value: Expr,
    ) -> Option<(VarId, Expr)> {
        let ident = match pat {
            syn::Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => p,
            syn::Pat::Wild(_) => return None,
            syn::Pat::Type(t) => return self.declare_pattern(&t.pat, Some(&t.ty), value),
            _ => {
                self.declare_unread(pat);
                return self.error_help(
                    Code::UnsupportedPattern,
                    pat,
                    "this pattern isn't part of the language",
                    "`let` takes a name, or a tuple of names",
                );
            }
        };
        let ty = match annotation {
            Some(t) => self.read_type(t).unwrap_or(Type::Unknown),
            None => self.type_of(&value),
        };
        let kind = if ident.mutability.is_some() { VarKind::Ancilla } else { VarKind::Binding };
        self.no_array_copy(&value, kind);
        if kind == VarKind::Binding && matches!(value.kind, ExprKind::Fill(..)) {
            let _: Option<()> = self.error_help(
                Code::UnsupportedExpression,
                ident,
                "an array that is made here is an ancilla, not a name for a value",
                format!("`let mut {} = ...;`", ident.ident),
            );
        }
        let var = self.declare(&ident.ident, ty, kind);
        if let Some(t) = annotation {
            self.source.annotations.insert(var, t.clone());
        }
        if is_unreadable(&value) {
            self.unread.insert(var);
        }
        if kind == VarKind::Ancilla {
            self.first_values.insert(var, value.clone());
        }
        Some((var, value))
    }

    /// Declares the names in a pattern that isn't part of the language: that has been said.
    pub(super) fn declare_unread(&mut self, pat: &syn::Pat) {
        struct Names(Vec<syn::Ident>);
        impl<'ast> syn::visit::Visit<'ast> for Names {
            fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
                self.0.push(p.ident.clone());
                syn::visit::visit_pat_ident(self, p);
            }
        }
        let mut names = Names(Vec::new());
        syn::visit::Visit::visit_pat(&mut names, pat);
        for name in names.0 {
            let var = self.declare(&name, Type::Unknown, VarKind::Binding);
            self.unread.insert(var);
        }
    }

    /// Reports a `let` of a whole array that is there already: arrays have one name.
    fn no_array_copy(&mut self, value: &Expr, kind: VarKind) {
        let ExprKind::Read(place) = &value.kind else { return };
        let part = place.is_part(); // has a message of its own
        if part || !matches!(self.type_of_place(place), Type::Array(..) | Type::Stack(_)) {
            return;
        }
        let name = self.var(place.var).name.clone();
        let help = match kind {
            VarKind::Ancilla => {
                format!("make one of its length (`vec![0.0; {name}.len()]`) and accumulate into it")
            }
            VarKind::Binding | VarKind::Param(_) | VarKind::Index => format!("use `{name}` itself"),
        };
        let message = "a whole array can't be copied or given a second name";
        let d = Diagnostic::new(Code::UnsupportedExpression, value.span, message).help(help);
        let _: Option<()> = self.report(d);
    }

    /// The rest of the block inside the declarations of variables, the first one outermost.
    pub(super) fn around_rest(
        &mut self,
        declared: Vec<(VarId, Expr)>,
        span: Span,
        rest: &[syn::Stmt],
    ) -> Block {
        let body = self.sequence(rest);
        declared.into_iter().rev().fold(body, |body, (var, value)| {
            let kind = match self.var(var).kind {
                VarKind::Ancilla => {
                    let explicit = self.released.contains(&var);
                    let release = if explicit { Release::Checked } else { Release::Managed };
                    StmtKind::Ancilla { var, init: value, release, body }
                }
                VarKind::Binding | VarKind::Param(_) | VarKind::Index => {
                    StmtKind::Let { var, expr: value, body }
                }
            };
            vec![Stmt::new(kind).at(span)]
        })
    }
}

/// The types of a tuple's elements where the tuple is annotated.
fn element_types(annotation: Option<&syn::Type>, n: usize) -> Vec<Option<&syn::Type>> {
    match annotation {
        Some(syn::Type::Tuple(t)) if t.elems.len() == n => t.elems.iter().map(Some).collect(),
        _ => vec![None; n],
    }
}
