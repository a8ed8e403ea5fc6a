//! Expressions.

use quote::ToTokens;
use rev_compiler::diag::Code;
use rev_compiler::ir::{
    is_function_name, Expr, ExprKind, Generic, Length, Number, Place, ScalarType, Type, VarKind,
};
use rev_compiler::ops::Func;

use super::part::part_method;
use super::{plain_name, strip, strip_references, Lowerer};
use crate::names::{is_generated, Named};
use crate::spans::{mentions, Region};
use crate::types::{function_path, path_text};

impl Lowerer {
    /// An expression, `None` after an error.
    pub(super) fn expr(&mut self, e: &syn::Expr) -> Option<Expr> {
        let span = self.source.spans.record(Region::of_expr(e));
        self.expr_kind(e).map(|x| if x.span.is_some() && is_wrapper(e) { x } else { x.at(span) })
    }

    fn expr_kind(&mut self, e: &syn::Expr) -> Option<Expr> {
        match e {
            syn::Expr::Paren(p) => self.expr(&p.expr),
            syn::Expr::Group(g) => self.expr(&g.expr),
            syn::Expr::Reference(r) => self.expr(&r.expr),
            syn::Expr::Lit(l) => self.literal(&l.lit),
            syn::Expr::Path(p) => self.path_expr(p),
            syn::Expr::Unary(u) => self.unary(u),
            syn::Expr::Binary(b) => self.binary(b),
            syn::Expr::Cast(c) => {
                let value = self.expr(&c.expr);
                if let syn::Type::Infer(_) = &*c.ty {
                    let message = "the type that is converted to must be named";
                    return self.error(Code::UnsupportedType, &c.ty, message);
                }
                let ty = self.read_type(&c.ty)?;
                Some(Expr::new(ExprKind::Cast(Box::new(value?), ty)))
            }
            syn::Expr::If(i) => self.if_expr(i, e),
            syn::Expr::Match(m) => self.match_expr(m, e),
            syn::Expr::Block(b) if b.label.is_none() && b.attrs.is_empty() => self.block_expr(&b.block),
            syn::Expr::Tuple(t) => self.exprs(&t.elems).map(|es| Expr::new(ExprKind::Tuple(es))),
            syn::Expr::Array(a) => self.exprs(&a.elems).map(|es| Expr::new(ExprKind::Array(es))),
            syn::Expr::Repeat(r) => {
                let (e, n) = (self.expr(&r.expr), self.length(&r.len));
                Some(Expr::new(ExprKind::Repeat(Box::new(e?), Box::new(n?))))
            }
            syn::Expr::Field(_) | syn::Expr::Index(_) => self.part(e),
            syn::Expr::Call(c) => self.call_expr(c),
            syn::Expr::MethodCall(m) if part_method(m).is_some() => match self.try_place(e)? {
                Some(place) => Some(Expr::read(place)),
                None => self.method_expr(m),
            },
            syn::Expr::MethodCall(m) => self.method_expr(m),
            syn::Expr::Macro(m) if m.mac.path.is_ident("vec") => self.vec_macro(&m.mac),
            syn::Expr::Macro(m) => self.error_help(
                Code::Macro,
                &m.mac.path,
                format!("the macro `{}!` can't be looked into", path_text(&m.mac.path)),
                "write a `#[pure]` function; arrays are made by `vec![e; n]` and `zeros(n)`",
            ),
            other => {
                self.rejected(other, Code::UnsupportedExpression, "this isn't an expression of the language")
            }
        }
    }

    /// Several expressions; all are read before the first error counts.
    pub(super) fn exprs<'a>(&mut self, es: impl IntoIterator<Item = &'a syn::Expr>) -> Option<Vec<Expr>> {
        let lowered: Vec<_> = es.into_iter().map(|e| self.expr(e)).collect();
        lowered.into_iter().collect()
    }

    fn literal(&mut self, lit: &syn::Lit) -> Option<Expr> {
        let (number, suffix) = match lit {
            syn::Lit::Bool(b) => (Number::Bool(b.value), ""),
            syn::Lit::Int(n) => match n.base10_parse::<i128>() {
                Ok(v) => (Number::Int(v), n.suffix()),
                Err(_) => return self.error(Code::LiteralKind, lit, "this number is too large"),
            },
            syn::Lit::Float(x) => match x.base10_parse::<f64>() {
                Ok(v) => (Number::Float(v), x.suffix()),
                Err(_) => return self.error(Code::LiteralKind, lit, "this isn't a number"),
            },
            other => {
                return self.error(
                    Code::UnsupportedExpression,
                    other,
                    "only numbers and truth values are literals",
                )
            }
        };
        let ty = ScalarType::from_name(suffix).map(Type::Scalar);
        let number = match (number, &ty) {
            (Number::Int(n), Some(Type::Scalar(s))) if s.is_float() => Number::Float(n as f64),
            _ => number,
        };
        if !suffix.is_empty() && ty.is_none() {
            return self.error(Code::LiteralKind, lit, format!("`{suffix}` isn't a type of the language"));
        }
        Some(Expr::new(ExprKind::Literal(number, ty)))
    }

    fn unary(&mut self, u: &syn::ExprUnary) -> Option<Expr> {
        let e = self.expr(&u.expr)?;
        match u.op {
            syn::UnOp::Deref(_) => Some(e),
            syn::UnOp::Neg(_) => Some(match e.kind {
                ExprKind::Literal(Number::Int(n), ty) => Expr::new(ExprKind::Literal(Number::Int(-n), ty)),
                ExprKind::Literal(Number::Float(x), ty) => {
                    Expr::new(ExprKind::Literal(Number::Float(-x), ty))
                }
                _ => Expr::func(Func::Neg, vec![e]),
            }),
            syn::UnOp::Not(_) => Some(Expr::func(Func::Not, vec![e])),
            _ => self.error(Code::UnsupportedExpression, u, "this operator isn't part of the language"),
        }
    }

    fn binary(&mut self, b: &syn::ExprBinary) -> Option<Expr> {
        if super::update::assignment(&b.op).is_some() || super::update::lossy_op(&b.op).is_some() {
            return self.error(Code::UnsupportedExpression, &b.op, "an expression can't change anything");
        }
        let (left, right) = (self.expr(&b.left), self.expr(&b.right));
        let (left, right) = (left?, right?);
        // asked of these only: the type of a part is found by looking at all of it
        let of_bits = matches!(b.op, syn::BinOp::BitAnd(_) | syn::BinOp::BitOr(_));
        let logical = of_bits && (self.type_of(&left) == Type::BOOL || self.type_of(&right) == Type::BOOL);
        let func = match b.op {
            syn::BinOp::Add(_) => Func::Add,
            syn::BinOp::Sub(_) => Func::Sub,
            syn::BinOp::Mul(_) => Func::Mul,
            // the checks make it a quotient between integers
            syn::BinOp::Div(_) => Func::Div,
            syn::BinOp::Rem(_) => Func::Rem,
            syn::BinOp::And(_) => Func::And,
            syn::BinOp::Or(_) => Func::Or,
            syn::BinOp::BitAnd(_) if logical => Func::And,
            syn::BinOp::BitOr(_) if logical => Func::Or,
            syn::BinOp::BitAnd(_) => Func::BitAnd,
            syn::BinOp::BitOr(_) => Func::BitOr,
            syn::BinOp::BitXor(_) => Func::BitXor,
            syn::BinOp::Shl(_) => return Some(self.shift(Func::Shl, left, right)),
            syn::BinOp::Shr(_) => return Some(self.shift(Func::Shr, left, right)),
            syn::BinOp::Eq(_) => Func::Eq,
            syn::BinOp::Ne(_) => Func::Ne,
            syn::BinOp::Lt(_) => Func::Lt,
            syn::BinOp::Le(_) => Func::Le,
            syn::BinOp::Gt(_) => Func::Gt,
            syn::BinOp::Ge(_) => Func::Ge,
            _ => {
                return self.error(
                    Code::UnsupportedExpression,
                    &b.op,
                    "this operator isn't part of the language",
                )
            }
        };
        if matches!(func, Func::Mul | Func::Div) {
            if let Some(product) = self.mixed(func, &left, &right) {
                return Some(product);
            }
        }
        Some(Expr::func(func, vec![left, right]))
    }

    /// A shift; the distance is an `i32`.
    fn shift(&self, func: Func, value: Expr, distance: Expr) -> Expr {
        let i32 = Type::Scalar(ScalarType::I32);
        let distance = match self.type_of(&distance) {
            Type::Unknown => distance,
            ty if ty == i32 => distance,
            _ => {
                let span = distance.span;
                Expr::new(ExprKind::Cast(Box::new(distance), i32)).at(span)
            }
        };
        Expr::func(func, vec![value, distance])
    }

    fn if_expr(&mut self, i: &syn::ExprIf, whole: &syn::Expr) -> Option<Expr> {
        self.attributes(&i.attrs, &[]);
        if let (syn::Expr::Let(l), Some((_, otherwise))) = (&*i.cond, &i.else_branch) {
            return self.if_let_expr(i, l, otherwise, whole);
        }
        let cond = self.expr(&i.cond);
        let then = self.block_expr(&i.then_branch);
        let Some((_, otherwise)) = &i.else_branch else {
            return self.error_help(
                Code::UnsupportedExpression,
                &i.if_token,
                "an `if` without `else` has no value",
                "add the other branch: `else { .. }`",
            );
        };
        let otherwise = self.expr(otherwise);
        Some(cond?.choose(then?, otherwise?))
    }

    /// `{ let a = e; value }`
    pub(super) fn block_expr(&mut self, block: &syn::Block) -> Option<Expr> {
        let span = self.source.spans.record(Region::of_block(block));
        let mark = self.scope.len();
        let mut lets = Vec::new();
        let mut result = None;
        let mut failed = false;
        let last = block.stmts.len().saturating_sub(1);
        for (k, stmt) in block.stmts.iter().enumerate() {
            match stmt {
                syn::Stmt::Local(local) => failed |= self.local_value(local, &mut lets).is_none(),
                syn::Stmt::Expr(e, None) if k == last && !is_loop(e) => {
                    result = self.expr(e);
                    failed |= result.is_none();
                }
                syn::Stmt::Macro(m) if m.semi_token.is_none() => {
                    let e = syn::Expr::Macro(syn::ExprMacro { attrs: Vec::new(), mac: m.mac.clone() });
                    result = self.expr(&e);
                    failed |= result.is_none();
                }
                other => {
                    failed = true;
                    let _: Option<()> = match other {
                        syn::Stmt::Expr(e, _) => self.effect(e),
                        other => self.error(Code::PureBody, other, "an expression can't have effects"),
                    };
                }
            }
        }
        self.scope.truncate(mark);
        if failed {
            return None;
        }
        match result {
            None => self.error(Code::PureBody, block, "this block has no value"),
            Some(e) if lets.is_empty() => Some(e),
            Some(e) => Some(Expr::new(ExprKind::Block(lets, Box::new(e))).at(span)),
        }
    }

    /// Reports a statement where only `let` and a value may stand.
    fn effect(&mut self, e: &syn::Expr) -> Option<()> {
        const MESSAGE: &str =
            "a loop, an update or a call for its effect can't stand where a value is computed";
        match e {
            syn::Expr::ForLoop(f) => self.error(Code::PureBody, &f.for_token, MESSAGE),
            syn::Expr::While(w) => self.error(Code::PureBody, &w.while_token, MESSAGE),
            syn::Expr::Loop(l) => self.error(Code::PureBody, &l.loop_token, MESSAGE),
            e => self.rejected(e, Code::PureBody, MESSAGE),
        }
    }

    /// `let n = e;` or `let (a, b) = e;` in an expression.
    fn local_value(
        &mut self,
        local: &syn::Local,
        lets: &mut Vec<(rev_compiler::ir::VarId, Expr)>,
    ) -> Option<()> {
        self.attributes(&local.attrs, &[]);
        let (pat, annotation) = match &local.pat {
            syn::Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
            pat => (pat, None),
        };
        let init = local.init.as_ref().filter(|i| i.diverge.is_none());
        let Some(init) = init else {
            return self.error(Code::UnsupportedPattern, local, "a `let` in an expression is `let n = e;`");
        };
        let value = self.expr_or_unreadable(&init.expr);
        match pat {
            syn::Pat::Ident(p) => self.name_value(p, annotation, value, lets),
            syn::Pat::Tuple(t) => {
                let at = value.span;
                let (whole, value) = self.whole(value, t.elems.len(), at);
                lets.push((whole, value));
                for (k, pat) in t.elems.iter().enumerate() {
                    let place = Place::var(whole).with(rev_compiler::ir::Step::Element(k as u32));
                    let part = Expr::read(Place { span: at, ..place });
                    match pat {
                        syn::Pat::Ident(p) => self.name_value(p, None, part, lets)?,
                        syn::Pat::Wild(_) => {}
                        other => {
                            return self.error(
                                Code::UnsupportedPattern,
                                other,
                                "this pattern isn't part of the language",
                            )
                        }
                    }
                }
                Some(())
            }
            syn::Pat::Wild(_) => Some(()),
            other => self.error(Code::UnsupportedPattern, other, "this pattern isn't part of the language"),
        }
    }

    fn name_value(
        &mut self,
        p: &syn::PatIdent,
        annotation: Option<&syn::Type>,
        value: Expr,
        lets: &mut Vec<(rev_compiler::ir::VarId, Expr)>,
    ) -> Option<()> {
        if let Some(m) = &p.mutability {
            return self.error_help(
                Code::PureBody,
                m,
                "nothing can change inside an expression",
                "bind each value under its own name",
            );
        }
        let ty = match annotation {
            Some(t) => self.read_type(t)?,
            None => self.type_of(&value),
        };
        let var = self.declare(&p.ident, ty, VarKind::Binding);
        if let Some(t) = annotation {
            self.source.annotations.insert(var, t.clone());
        }
        lets.push((var, value));
        Some(())
    }

    /// A field or element: of a place, or of a value.
    fn part(&mut self, e: &syn::Expr) -> Option<Expr> {
        if let Some(length) = self.shape_part(e) {
            return length;
        }
        if let Some(place) = self.try_place(e)? {
            return Some(Expr::read(place));
        }
        match strip_references(e) {
            syn::Expr::Field(f) => {
                let base = self.expr(&f.base)?;
                match &f.member {
                    syn::Member::Unnamed(k) => Some(match base.kind {
                        // the others of literals would have no type
                        ExprKind::Tuple(mut es) if (k.index as usize) < es.len() => {
                            es.remove(k.index as usize)
                        }
                        _ => Expr::new(ExprKind::Element(Box::new(base), k.index)),
                    }),
                    syn::Member::Named(n) if n == "re" => Some(Expr::func(Func::Re, vec![base])),
                    syn::Member::Named(n) if n == "im" => Some(Expr::func(Func::Im, vec![base])),
                    syn::Member::Named(n) => self.error_help(
                        Code::NoSuchPart,
                        n,
                        "a field of a value that has no name can't be read",
                        "bind the value first: `let n = ...;`",
                    ),
                }
            }
            syn::Expr::Index(i) => {
                self.expr(&i.expr)?;
                self.error_help(
                    Code::NoSuchPart,
                    &i.expr,
                    "an element of a value that has no name can't be read",
                    "bind the value first: `let n = ...;`",
                )
            }
            other => {
                self.error(Code::UnsupportedExpression, other, "this isn't an expression of the language")
            }
        }
    }

    /// The length in `[e; N]`.
    fn length(&mut self, e: &syn::Expr) -> Option<Expr> {
        let e = strip(e);
        let reads = self.scope.iter().any(|(name, _)| {
            syn::parse_str::<syn::Ident>(name).is_ok_and(|name| mentions(e.to_token_stream(), &name))
        });
        let length = match e {
            syn::Expr::Path(p) if !reads => return self.path_expr(p),
            _ if reads => Err(self.reader().not_a_length(e)),
            _ => self.reader().length(e),
        };
        let span = self.span(e);
        match length {
            Ok(Length::Literal(n)) => Some(Expr::int(n.into()).at(span)),
            Ok(Length::Named(text)) => Some(Expr::new(ExprKind::Named(text)).at(span)),
            Err(d) => self.report(d),
        }
    }

    /// `vec![e; n]`
    fn vec_macro(&mut self, mac: &syn::Macro) -> Option<Expr> {
        struct Repeat(syn::Expr, syn::Expr);
        impl syn::parse::Parse for Repeat {
            fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Repeat> {
                let e = input.parse()?;
                input.parse::<syn::Token![;]>()?;
                Ok(Repeat(e, input.parse()?))
            }
        }
        match mac.parse_body::<Repeat>() {
            Ok(Repeat(e, n)) => {
                let (e, n) = (self.expr(&e), self.expr(&n));
                Some(Expr::new(ExprKind::Fill(Box::new(e?), vec![n?])))
            }
            Err(_) => {
                self.error_help(Code::Macro, &mac.path, "a vector starts with equal elements", "`vec![e; n]`")
            }
        }
    }

    /// Reports an expression that is never part of the language.
    pub(super) fn rejected<T>(&mut self, e: &syn::Expr, code: Code, message: &str) -> Option<T> {
        match e {
            syn::Expr::Return(r) => self.error_help(
                Code::Return,
                &r.return_token,
                "a reversible function has one exit, its end",
                "put the rest into an `if`, and give results through `&mut` parameters",
            ),
            syn::Expr::Break(b) => self.jump(&b.break_token),
            syn::Expr::Continue(c) => self.jump(&c.continue_token),
            syn::Expr::Try(t) => {
                let _: Option<()> = self.error_help(
                    Code::QuestionMark,
                    &t.question_token,
                    "`?` is a second exit of the function",
                    "remove it: errors of calls are passed on by themselves",
                );
                None
            }
            syn::Expr::Closure(c) => self.error_help(
                Code::Closure,
                &crate::spans::Until(&c.or1_token, &c.or2_token),
                "a closure isn't part of the language",
                "write a `#[pure]` function, or pass the name of a reversible one",
            ),
            syn::Expr::Let(l) => self.error_help(
                Code::Match,
                &l.let_token,
                "a pattern stands alone after `if`",
                "put the other condition into the branch, or into a guard: `match x { Some(n) if n > 0 => .. }`",
            ),
            syn::Expr::Await(a) => self.error(code, &a.await_token, "`await` isn't part of the language"),
            syn::Expr::Async(a) => self.error(code, &a.async_token, "`async` isn't part of the language"),
            syn::Expr::Unsafe(u) => self.error(code, &u.unsafe_token, "`unsafe` isn't part of the language"),
            syn::Expr::Assign(a) => self.error(code, &a.eq_token, "an expression can't change anything"),
            syn::Expr::Struct(s) => self.error_help(
                code,
                &s.path,
                "a struct can't be made from its fields here",
                "make an ancilla (`let mut s = S::<T> { .. };`), or start one at zero (`S::<T>::zero()`) and accumulate into its fields",
            ),
            syn::Expr::Range(r) => {
                self.error(code, r, "a range stands in a `for` loop or in the brackets of an argument")
            }
            other => self.error(code, other, message.to_string()),
        }
    }

    fn jump<T>(&mut self, token: &impl quote::ToTokens) -> Option<T> {
        self.error_help(
            Code::Break,
            token,
            "a loop ends by its range or condition only",
            "use `while` with `#[post(q)]`, or put the rest of the body into an `if`",
        )
    }

    /// A variable, a const parameter, or a constant.
    pub(super) fn path_expr(&mut self, p: &syn::ExprPath) -> Option<Expr> {
        if let Some(ident) = p.path.get_ident().filter(|_| p.qself.is_none()) {
            let name = plain_name(ident);
            if let Some(var) = self.lookup(&name) {
                let span = self.span(p);
                return Some(Expr::read(Place { span, ..Place::var(var) }));
            }
            let is = |g: &&Generic| *ident == g.name && g.kind == rev_compiler::ir::GenericKind::Const;
            if let Some(g) = self.function.generics.iter().find(is) {
                return Some(Expr::new(ExprKind::Const(g.name.clone())));
            }
        }
        if p.qself.is_some() {
            return self.error(Code::UnsupportedExpression, p, "this path isn't part of the language");
        }
        if let Some(ident) = p.path.get_ident().filter(|i| is_generated(&i.to_string())) {
            self.given_name(ident, Named::Variable);
            return None;
        }
        let text = path_text(&p.path);
        if names_function(p) {
            return self.error_help(
                Code::UnknownName,
                p,
                format!("no variable `{text}` is in scope"),
                "declare it; a constant (`const`) is written in capitals, a function is called: `f(x)`",
            );
        }
        let depends = |g: &&Generic| {
            let name = syn::parse_str::<syn::Ident>(&g.name);
            name.is_ok_and(|name| mentions(p.to_token_stream(), &name))
        };
        if let Some(name) = self.function.generics.iter().find(depends).map(|g| g.name.clone()) {
            return self.error_help(
                Code::UnsupportedExpression,
                p,
                format!("the value of `{text}` may depend on what `{name}` is, which a program doesn't know"),
                "pass it as an argument",
            );
        }
        let span = self.span(p);
        self.source.constants.entry(text.clone()).or_insert_with(|| p.clone().into());
        Some(Expr::new(ExprKind::Named(text)).at(span))
    }

    /// The name of a function as an argument.
    pub(super) fn function_name(&mut self, e: &syn::Expr) -> Option<Expr> {
        let syn::Expr::Path(p) = strip(e) else { return None };
        let here = |name: String| {
            self.lookup(&name).is_some() || self.function.generics.iter().any(|g| g.name == name)
        };
        let known = p.path.get_ident().is_some_and(|i| here(plain_name(i)));
        if p.qself.is_some() || known || !names_function(p) {
            return None;
        }
        let (span, path) = (self.span(p), function_path(&p.path));
        self.source.functions.entry(path.clone()).or_insert_with(|| p.path.clone());
        Some(Expr::new(ExprKind::Function(path)).at(span))
    }
}

/// Whether a path alone, which is no variable's, is that of a function: else it is a constant's.
pub(super) fn names_function(p: &syn::ExprPath) -> bool {
    is_function_name(&path_text(&p.path))
}

fn is_loop(e: &syn::Expr) -> bool {
    matches!(e, syn::Expr::ForLoop(_) | syn::Expr::While(_) | syn::Expr::Loop(_))
}

/// Whether an expression is only another one in parentheses or behind `&`.
fn is_wrapper(e: &syn::Expr) -> bool {
    !std::ptr::eq(strip(e), e) || matches!(e, syn::Expr::Reference(_))
}
