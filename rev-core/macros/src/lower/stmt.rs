//! Statements other than `let`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use rev_compiler::diag::Code;
use rev_compiler::ir::{
    Block, Expr, Parallel, Place, Release, Span, Stmt, StmtKind, Type, UpdateOp, VarId, VarKind,
};
use rev_compiler::ops::Instr;

use super::attributes::inner_tokens;
use super::range::Spelled;
use super::update::{assignment, lossy_op};
use super::{plain_name, Lowerer};
use crate::model::{External, Mentioned};
use crate::names::in_external;
use crate::spans::{each_ident, Region};

impl Lowerer {
    /// A statement; several for one that the IR spells in parts, none after an error.
    pub(super) fn statement(&mut self, e: &syn::Expr) -> Block {
        match e {
            syn::Expr::Binary(b) => self.compound(b),
            syn::Expr::Assign(a) if self.steps.is_some() => {
                self.attributes(&a.attrs, &[]);
                self.renew(a)
            }
            syn::Expr::Call(c) => {
                self.attributes(&c.attrs, &[]);
                self.call_statement(c)
            }
            syn::Expr::MethodCall(m) => {
                self.attributes(&m.attrs, &[]);
                self.method_statement(m).into_iter().collect()
            }
            syn::Expr::If(i) => self.if_statement(i),
            syn::Expr::Match(m) => self.match_statement(m),
            syn::Expr::While(w) => self.while_statement(w).into_iter().collect(),
            syn::Expr::ForLoop(f) => self.for_statement(f).into_iter().collect(),
            syn::Expr::Block(b) => self.block_statement(b),
            syn::Expr::Paren(p) => self.statement(&p.expr),
            syn::Expr::Group(g) => self.statement(&g.expr),
            syn::Expr::Tuple(t) if t.elems.is_empty() => Vec::new(),
            syn::Expr::Macro(m) => {
                self.macro_statement(&m.mac);
                Vec::new()
            }
            other => {
                self.rejected_statement(other);
                Vec::new()
            }
        }
    }

    fn compound(&mut self, b: &syn::ExprBinary) -> Block {
        self.attributes(&b.attrs, &[]);
        let span = self.span(&Bare(b));
        if let Some(assignment) = assignment(&b.op) {
            return self.update(assignment, &b.left, &b.right, span);
        }
        let _: Option<()> = match lossy_op(&b.op) {
            Some(op) => self.error_help(
                Code::UnsupportedStatement,
                &b.op,
                format!("`{op}` loses what was there before"),
                "`+=`, `-=`, `^=` and the instructions can be undone",
            ),
            None => self.error_help(
                Code::UnsupportedStatement,
                b,
                "this computes a value that nothing takes",
                "bind it (`let n = ...;`) or accumulate it (`y += ...;`)",
            ),
        };
        Vec::new()
    }

    fn if_statement(&mut self, i: &syn::ExprIf) -> Block {
        let span = self.head(i.attrs.first(), &i.if_token, &i.cond);
        if let syn::Expr::Let(l) = &*i.cond {
            self.attributes(&i.attrs, &[]);
            return self.if_let_statement(i, l, span);
        }
        self.attributes(&i.attrs, &["post", "keep"]);
        let post = self.post(&i.attrs).map(|q| self.expr_or_unreadable(&q));
        let keeps = i.attrs.iter().any(|a| a.path().is_ident("keep"));
        let keep = self.keep(&i.attrs);
        let cond = self.condition(&i.cond);
        let then = self.block(&i.then_branch);
        let otherwise = match &i.else_branch {
            None => Vec::new(),
            Some((_, e)) => self.statement(e),
        };
        let Some(cond) = cond else { return Vec::new() };
        match keep {
            Some(place) => self.keeping(place, cond, [then, otherwise], span),
            // that it can't be read has been said
            None if keeps => Vec::new(),
            None => vec![Stmt::new(StmtKind::If { cond, post, then, otherwise }).at(span)],
        }
    }

    /// `#[keep(p)] if cond { .. } else { .. }`: an ancilla holds which way the branch goes while it runs, and moves to `p`
    /// behind it. What `p` held comes to the ancilla, which has to be `false` where it ends. On the way back it comes from
    /// `p`, and the condition takes it back to `false`.
    fn keeping(&mut self, place: Place, cond: Expr, [then, otherwise]: [Block; 2], span: Span) -> Block {
        let var = self.add_var("kept", Type::BOOL, VarKind::Ancilla, span);
        let kept = Place { span, ..Place::var(var) };
        let moved = match self.type_of_place(&place) {
            Type::Stack(_) => StmtKind::Push { stack: place, place: kept.clone() },
            _ => {
                let places = vec![place, kept.clone()];
                StmtKind::Instr { instr: Instr::Swap, places, operands: Vec::new() }
            }
        };
        let body = [
            StmtKind::Update { op: UpdateOp::Xor, place: kept.clone(), expr: cond },
            StmtKind::If { cond: Expr::read(kept), post: None, then, otherwise },
            moved,
            StmtKind::Release { var, value: Expr::bool(false) },
        ];
        let body = body.into_iter().map(|kind| Stmt::new(kind).at(span)).collect();
        let (init, release) = (Expr::bool(false), Release::Checked);
        vec![Stmt::new(StmtKind::Ancilla { var, init, release, body }).at(span)]
    }

    fn condition(&mut self, e: &syn::Expr) -> Option<Expr> {
        match e {
            syn::Expr::Let(l) => self.while_let(l),
            e => Some(self.expr_or_unreadable(e)),
        }
    }

    fn while_statement(&mut self, w: &syn::ExprWhile) -> Option<Stmt> {
        self.attributes(&w.attrs, &["post"]);
        self.no_label(&w.label);
        let span = self.head(w.attrs.first(), &w.while_token, &w.cond);
        let named = w.attrs.iter().any(|a| a.path().is_ident("post"));
        let post = self.post(&w.attrs).map(|q| self.expr_or_unreadable(&q));
        let mark = self.scope.len();
        let cond = self.condition(&w.cond);
        let body = self.block(&w.body);
        self.scope.truncate(mark);
        if !named {
            return self.error_help(
                Code::MissingPostcondition,
                &w.while_token,
                "a `while` loop needs a postcondition: false before the loop, true after every iteration",
                "count the iterations in an ancilla: `#[post(k > 0)] while ... { ...; inc(k); }`",
            );
        }
        let post = match post {
            Some(post) => post,
            None => self.unreadable(),
        };
        Some(Stmt::new(StmtKind::While { cond: cond?, post, body }).at(span))
    }

    fn for_statement(&mut self, f: &syn::ExprForLoop) -> Option<Stmt> {
        self.no_label(&f.label);
        let span = self.head(f.attrs.first(), &f.for_token, &f.expr);
        let mut spelled = self.range(&f.expr);
        let parallel = spelled.as_ref().is_none_or(|s| s.parallel);
        self.attributes(&f.attrs, if parallel { &["injective", "disjoint"] } else { &[] });
        let declared = Parallel { injective: self.injective(&f.attrs), disjoint: self.disjoint(&f.attrs) };
        let ty = spelled.as_mut().map_or(Type::INDEX, |s| self.range_type(&mut s.range));
        let mark = self.scope.len();
        let over = spelled.as_mut().and_then(|s| s.over.take());
        let (index, element) = match &over {
            Some(over) => self.visiting(&f.pat, over)?,
            None => (Some(&*f.pat), None),
        };
        let var = self.loop_variable(index, ty, &f.pat);
        let named = over.zip(element).and_then(|(over, pat)| self.name_element(pat, over.place, var));
        let in_parallel = self.steps.as_ref().is_some_and(|steps| steps.in_parallel);
        self.steps.iter_mut().for_each(|steps| steps.in_parallel |= parallel);
        let body = self.block(&f.body);
        self.steps.iter_mut().for_each(|steps| steps.in_parallel = in_parallel);
        self.scope.truncate(mark);
        let body = match named {
            Some((element, expr)) => vec![Stmt::new(StmtKind::Let { var: element, expr, body }).at(span)],
            None => body,
        };
        let Spelled { range, parallel, .. } = spelled?;
        Some(Stmt::new(StmtKind::For { var, range, parallel: parallel.then_some(declared), body }).at(span))
    }

    /// The variable of a loop, `None` for one without a name.
    pub(super) fn loop_variable(&mut self, pat: Option<&syn::Pat>, ty: Type, at: &syn::Pat) -> VarId {
        match pat {
            Some(syn::Pat::Ident(p))
                if p.by_ref.is_none() && p.subpat.is_none() && p.mutability.is_none() =>
            {
                return self.declare(&p.ident, ty, VarKind::Index);
            }
            Some(syn::Pat::Wild(_)) | None => {}
            Some(other) => {
                let _: Option<()> =
                    self.error(Code::UnsupportedPattern, other, "the variable of a loop is a name");
                self.declare_unread(other);
            }
        }
        let at = self.span(at);
        self.add_var("i", ty, VarKind::Index, at)
    }

    pub(super) fn no_label(&mut self, label: &Option<syn::Label>) {
        if let Some(label) = label {
            let _: Option<()> = self.error(
                Code::Break,
                label,
                "a label is for `break` and `continue`, which aren't part of the language",
            );
        }
    }

    /// From the first attribute, else the keyword, to the end of the condition or range.
    pub(super) fn head(
        &mut self,
        attr: Option<&syn::Attribute>,
        keyword: &impl ToTokens,
        end: &syn::Expr,
    ) -> Span {
        let start = attr.map_or_else(|| Region::of(keyword), Region::of);
        self.source.spans.record(start.to(Region::of(end)))
    }

    fn block_statement(&mut self, b: &syn::ExprBlock) -> Block {
        self.no_label(&b.label);
        let span = self.block_head(b);
        let kind = match self.block_attribute(&b.attrs) {
            None => return self.block(&b.block),
            Some("inverse") => StmtKind::Inverse { body: self.block(&b.block) },
            Some("unchecked") => StmtKind::Unchecked { body: self.block(&b.block) },
            Some(_) => self.external(&b.block, span),
        };
        vec![Stmt::new(kind).at(span)]
    }

    fn external(&mut self, block: &syn::Block, span: Span) -> StmtKind {
        self.exits(block);
        let tokens = inner_tokens(block);
        let code = tokens.to_string();
        let mut names = Vec::new();
        self.mentioned(tokens.clone(), &mut names);
        let tokens = each_ident(tokens, &mut in_external);
        self.source.externals.push(External { code: code.clone(), span, tokens, names });
        StmtKind::External { code }
    }

    /// The variables that tokens name.
    fn mentioned(&self, tokens: TokenStream, names: &mut Vec<Mentioned>) {
        for tree in tokens {
            match tree {
                TokenTree::Group(g) => self.mentioned(g.stream(), names),
                TokenTree::Ident(ident) => {
                    let var = self.lookup(&plain_name(&ident));
                    if let Some(var) = var.filter(|v| names.iter().all(|n| n.var != *v)) {
                        names.push(Mentioned {
                            ident: in_external(ident),
                            var,
                            by_reference: self.references.contains(&var),
                        });
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// Reports a statement that has no reversible meaning.
    fn rejected_statement(&mut self, e: &syn::Expr) {
        let _: Option<()> = match e {
            syn::Expr::Assign(a) => self.assignment(a),
            syn::Expr::Loop(l) => self.error_help(
                Code::UnsupportedStatement,
                &l.loop_token,
                "`loop` can only be left by `break`, which isn't part of the language",
                "use `while` with `#[post(q)]`, or `for`",
            ),
            syn::Expr::Unsafe(u) => self.error(
                Code::UnsupportedStatement,
                &u.unsafe_token,
                "an `unsafe` block isn't part of the language",
            ),
            e => self.rejected(e, Code::UnsupportedStatement, "this isn't a statement of the language"),
        };
    }

    fn assignment(&mut self, a: &syn::ExprAssign) -> Option<()> {
        let (l, r) = (tidy(&a.left), tidy(&a.right));
        let help = match l.len() + r.len() < 60 {
            true => format!(
                "accumulate where `{l}` is 0 before (`{l} += {r};`), exchange (`swap`), or take a new name (`let n = {r};`); in a loop with `#[checkpoint]` it may stand"
            ),
            false => "accumulate (`+=`) where it is 0 before, exchange (`swap`), or take a new name (`let`); in a loop with `#[checkpoint]` it may stand".into(),
        };
        self.error_help(
            Code::Assignment,
            &a.eq_token,
            "an assignment loses the value that was there before",
            help,
        )
    }
}

/// Short syntax as it is usually spaced.
fn tidy(e: &syn::Expr) -> String {
    let mut text = e.to_token_stream().to_string();
    for (wide, narrow) in [(" . ", "."), (" [", "["), ("[ ", "["), (" ]", "]"), (" (", "("), (" ,", ",")] {
        text = text.replace(wide, narrow);
    }
    let mut tidy = String::new();
    for (k, part) in text.split("* ").enumerate() {
        // behind an operand it is a product, elsewhere a dereference
        let product = tidy.trim_end().ends_with(|c: char| c.is_alphanumeric() || "_)]".contains(c));
        if k > 0 {
            tidy += if product { "* " } else { "*" };
        }
        tidy += part;
    }
    tidy
}

/// A compound assignment without its attributes.
struct Bare<'a>(&'a syn::ExprBinary);

impl ToTokens for Bare<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.left.to_tokens(tokens);
        self.0.op.to_tokens(tokens);
        self.0.right.to_tokens(tokens);
    }
}
