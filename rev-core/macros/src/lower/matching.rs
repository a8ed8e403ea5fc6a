//! `match` and `if let`: chains of branches on what a pattern asks of a place.
//!
//! A value of an enum is seen as its parts ([`PARTS`]): which variant it is, and the fields of all variants, of which those of the
//! others are zero. Here it isn't known which number a variant has, so this is asked of the value: it is the length of one of its
//! parts. That the arms are all there is checked by rustc, on a `match` with the same patterns that is
//! emitted beside the first branch.

use quote::{quote, ToTokens};
use rev_compiler::diag::{Code, Diagnostic};
use rev_compiler::ir::{
    Block, Expr, ExprKind, Place, ScalarType, Span, Step, Stmt, StmtKind, Type, VarId, VarKind, PARTS,
};
use rev_compiler::ops::Func;

use super::{plain_name, strip_references, Lowerer};
use crate::model::{Matched, Subject};
use crate::names::{number_of, part_of, VARIANT};
use crate::spans::Region;
use crate::types::is_type_name;

/// What a pattern asks and names.
#[derive(Default)]
struct Asked<'a> {
    /// The condition, none where every value fits.
    cond: Option<Expr>,
    /// The names, and what they stand for.
    names: Vec<(&'a syn::Ident, Expr)>,
}

impl Asked<'_> {
    /// Both.
    fn and(mut self, other: Self) -> Self {
        self.cond = both(self.cond, other.cond);
        self.names.extend(other.names);
        self
    }
}

/// An arm: its condition, and what is done or computed where it holds.
struct Arm<T> {
    cond: Option<Expr>,
    names: Vec<(VarId, Expr)>,
    then: T,
    span: Span,
}

/// An arm as it is written: its pattern, its guard, what it does; an `else` has no pattern.
type Written<'a, T> = (Option<&'a syn::Pat>, Option<&'a syn::Expr>, T);

impl Lowerer {
    /// `match e { .. }` as a statement.
    pub(super) fn match_statement(&mut self, m: &syn::ExprMatch) -> Block {
        self.attributes(&m.attrs, &[]);
        let span = self.match_head(m);
        let arms =
            m.arms.iter().map(|arm| (Some(&arm.pat), arm.guard.as_ref().map(|(_, g)| &**g), &*arm.body));
        self.cases(&m.expr, arms.collect(), span, |this, body| this.statement_with_arguments(body))
    }

    /// `if let p = e { .. } else { .. }` as a statement.
    pub(super) fn if_let_statement(&mut self, i: &syn::ExprIf, l: &syn::ExprLet, span: Span) -> Block {
        enum Body<'a> {
            Then(&'a syn::Block),
            Else(Option<&'a syn::Expr>),
        }
        let otherwise = i.else_branch.as_ref().map(|(_, e)| &**e);
        let arms =
            vec![(Some(&*l.pat), None, Body::Then(&i.then_branch)), (None, None, Body::Else(otherwise))];
        self.cases(&l.expr, arms, span, |this, body| match body {
            Body::Then(block) => this.block(block),
            Body::Else(e) => e.map_or_else(Vec::new, |e| this.statement(e)),
        })
    }

    fn cases<B>(
        &mut self,
        e: &syn::Expr,
        arms: Vec<Written<'_, B>>,
        span: Span,
        mut lower: impl FnMut(&mut Lowerer, B) -> Block,
    ) -> Block {
        let mut named = Vec::new();
        let Some(subject) = self.scrutinee(e, &mut named) else { return Vec::new() };
        let arms =
            self.arms((&subject, Region::of(e).first), arms, span, |this, body| Some(lower(this, body)));
        let Some(arms) = arms else { return Vec::new() };
        let block = arms.into_iter().rev().fold(None, |rest: Option<Block>, arm| {
            let then = arm.names.into_iter().rev().fold(arm.then, |body, (var, expr)| {
                vec![Stmt::new(StmtKind::Let { var, expr, body }).at(arm.span)]
            });
            Some(match arm.cond {
                Some(cond) => {
                    let otherwise = rest.unwrap_or_default();
                    vec![Stmt::new(StmtKind::If { cond, post: None, then, otherwise }).at(arm.span)]
                }
                None => then,
            })
        });
        named.into_iter().rev().fold(block.unwrap_or_default(), |body, (var, expr)| {
            vec![Stmt::new(StmtKind::Let { var, expr, body }).at(span)]
        })
    }

    /// `match e { .. }` as a value.
    pub(super) fn match_expr(&mut self, m: &syn::ExprMatch, whole: &syn::Expr) -> Option<Expr> {
        self.attributes(&m.attrs, &[]);
        let span = self.source.spans.record(Region::of_expr(whole));
        let arms =
            m.arms.iter().map(|arm| (Some(&arm.pat), arm.guard.as_ref().map(|(_, g)| &**g), &*arm.body));
        self.chosen(&m.expr, arms.collect(), span, |this, value| this.expr(value))
    }

    /// `if let p = e { a } else { b }` as a value.
    pub(super) fn if_let_expr(
        &mut self,
        i: &syn::ExprIf,
        l: &syn::ExprLet,
        otherwise: &syn::Expr,
        whole: &syn::Expr,
    ) -> Option<Expr> {
        let span = self.source.spans.record(Region::of_expr(whole));
        let arms = vec![(Some(&*l.pat), None, Ok(&i.then_branch)), (None, None, Err(otherwise))];
        self.chosen(&l.expr, arms, span, |this, value| match value {
            Ok(block) => this.block_expr(block),
            Err(e) => this.expr(e),
        })
    }

    fn chosen<V>(
        &mut self,
        e: &syn::Expr,
        arms: Vec<Written<'_, V>>,
        span: Span,
        lower: impl FnMut(&mut Lowerer, V) -> Option<Expr>,
    ) -> Option<Expr> {
        let mut named = Vec::new();
        let subject = self.scrutinee(e, &mut named)?;
        let arms = self.arms((&subject, Region::of(e).first), arms, span, lower)?;
        let value = arms.into_iter().rev().fold(None, |rest: Option<Expr>, arm| {
            let value = within(arm.names, arm.then);
            Some(match (arm.cond, rest) {
                (Some(cond), Some(rest)) => cond.choose(value, rest).at(arm.span),
                // what the `match` beside it says where there is another case
                (Some(cond), None) => cond.choose(value.clone(), value).at(arm.span),
                (None, _) => value,
            })
        });
        Some(within(named, value?))
    }

    /// From `match` to the end of what is matched.
    fn match_head(&mut self, m: &syn::ExprMatch) -> Span {
        self.source.spans.record(Region::of(&m.match_token).to(Region::of(&m.expr)))
    }

    /// What patterns ask about; what is no place gets a name.
    fn scrutinee(&mut self, e: &syn::Expr, named: &mut Vec<(VarId, Expr)>) -> Option<Subject> {
        if let syn::Expr::Tuple(t) = strip_references(e) {
            let each: Vec<_> = t.elems.iter().map(|e| self.scrutinee(e, named)).collect();
            return each.into_iter().collect::<Option<_>>().map(Subject::Several);
        }
        if let Some(place) = self.try_place(e)? {
            return Some(Subject::One(place));
        }
        let value = self.expr(e)?;
        let var = self.temporary(self.type_of(&value), value.span);
        let place = Place { span: value.span, ..Place::var(var) };
        named.push((var, value));
        Some(Subject::One(place))
    }

    /// The condition of `while let p = e`.
    pub(super) fn while_let(&mut self, l: &syn::ExprLet) -> Option<Expr> {
        let mut named = Vec::new();
        let subject = self.scrutinee(&l.expr, &mut named)?;
        let Asked { cond, names } = self.asked(&l.pat, &subject)?;
        if let Some((name, _)) = names.first() {
            self.declare_unread(&l.pat);
            return self.error_help(
                Code::Match,
                *name,
                "a name in the pattern of a loop stands for what the loop has to change",
                "ask without names (`while let Some(_) = x[k]`), and name inside, in a block that ends before it is changed: `{ if let Some(v) = x[k] { .. } } inc(k);`",
            );
        }
        let Some(cond) = cond else {
            return self.error_help(
                Code::Match,
                &l.pat,
                "every value fits this pattern, so the loop doesn't end",
                "ask for some of the values",
            );
        };
        Some(within(named, cond))
    }

    /// The arms, all of which are read before the first error counts. The last one needs no condition where another asks: rustc
    /// has seen that nothing else is left then.
    fn arms<B, T>(
        &mut self,
        (subject, at): (&Subject, proc_macro2::Span),
        written: Vec<Written<'_, B>>,
        span: Span,
        mut lower: impl FnMut(&mut Lowerer, B) -> Option<T>,
    ) -> Option<Vec<Arm<T>>> {
        let patterns = written.iter().map(|(pat, guard, _)| {
            let pat = pat.map_or_else(|| quote!(_), |p| p.to_token_stream());
            let guard = guard.map(|_| quote!(if false));
            quote!(#pat #guard => {})
        });
        let patterns = patterns.collect();
        let (variants, compared) = (self.variants, self.compared.len());
        let mut first_asked = None;
        let last = written.len().saturating_sub(1);
        let guarded_at_last = written.last().is_some_and(|(_, guard, _)| guard.is_some());
        let arms = written.into_iter().enumerate().map(|(k, (pat, guard, body))| {
            let mark = self.scope.len();
            let span = pat.filter(|_| k > 0).map_or(span, |pat| self.span(pat));
            let asked = pat.map_or_else(|| Some(Asked::default()), |pat| self.asked(pat, subject));
            if let (None, Some(pat)) = (&asked, pat) {
                self.declare_unread(pat);
                lower(self, body);
                self.scope.truncate(mark);
                return None;
            }
            let Asked { mut cond, names } = asked?;
            if k == last && guard.is_none() && first_asked.is_some() {
                cond = None;
            }
            first_asked = first_asked.or(cond.as_ref().map(|_| span));
            let mut guarded = Some(());
            if let Some(guard) = guard {
                let named = self.named(&names);
                let variants = self.variants;
                let guard = self.expr(guard).map(|guard| within(named, guard));
                self.variants = variants;
                self.scope.truncate(mark);
                guarded = guard.as_ref().map(|_| ());
                cond = both(cond, guard);
            }
            // an arm is a block of its own, with braces or without
            self.blocks.push(mark);
            let names = self.named(&names);
            // what an arm matches in its turn is by reference or by value for itself
            let variants = self.variants;
            let then = lower(self, body);
            self.variants = variants;
            self.blocks.pop();
            self.scope.truncate(mark);
            guarded.and(then).map(|then| Arm { cond, names, then, span })
        });
        // all of them are read
        let arms: Vec<_> = arms.collect();
        let (function, by_reference) = (self.function.name.clone(), self.variants > variants);
        let compared = self.compared.split_off(compared);
        match first_asked {
            Some(span) => {
                let subject = subject.clone();
                self.source.matches.push(Matched {
                    function,
                    span,
                    subject,
                    at,
                    by_reference,
                    compared,
                    arms: patterns,
                });
            }
            None if guarded_at_last => {
                let message = "no arm is left where no guard holds";
                let d = Diagnostic::new(Code::Match, span, message).help("end with `_ => ..`");
                return self.report(d);
            }
            None => {}
        }
        arms.into_iter().collect()
    }

    /// Declares the names of a pattern.
    fn named(&mut self, names: &[(&syn::Ident, Expr)]) -> Vec<(VarId, Expr)> {
        let declared = names.iter().map(|(name, value)| {
            let var = self.declare(name, self.type_of(value), VarKind::Binding);
            (var, value.clone())
        });
        declared.collect()
    }

    /// What a pattern asks of several values.
    fn asked_of_each<'a>(
        &mut self,
        pats: &'a syn::punctuated::Punctuated<syn::Pat, syn::Token![,]>,
        of: &[Subject],
        at: &syn::Pat,
    ) -> Option<Asked<'a>> {
        if let Some(rest) = pats.iter().find(|p| matches!(p, syn::Pat::Rest(_))) {
            return self.left_out(rest);
        }
        if pats.len() != of.len() {
            let message = format!("this is a pattern of {} values, and {} are matched", pats.len(), of.len());
            return self.error(Code::Match, at, message);
        }
        let each: Vec<_> = pats.iter().zip(of).map(|(pat, of)| self.asked(pat, of)).collect();
        each.into_iter()
            .collect::<Option<Vec<_>>>()
            .map(|each| each.into_iter().fold(Asked::default(), Asked::and))
    }

    fn left_out<T>(&mut self, rest: &syn::Pat) -> Option<T> {
        let wanted = "name each field, or `_`";
        self.error_help(Code::Match, rest, "fields that are left out here aren't counted", wanted)
    }

    /// Several patterns of which one has to fit. A name in each of them stands for what it is in the first one that fits.
    fn one_of<'a>(&mut self, cases: Vec<(Asked<'a>, &syn::Pat)>) -> Option<Asked<'a>> {
        let mut cases = cases.into_iter();
        let (mut all, _) = cases.next()?;
        for (case, pat) in cases {
            let mut names = Vec::new();
            for (name, value) in std::mem::take(&mut all.names) {
                let (Some((_, other)), Some(cond)) = (case.names.iter().find(|(n, _)| *n == name), &all.cond)
                else {
                    // that the patterns don't have the same names, or the second one is never reached
                    return self.error_help(
                        Code::Match,
                        pat,
                        format!("`{name}` has to be named in each of these patterns, all but the last of which ask something"),
                        "write an arm for each pattern",
                    );
                };
                let value = match value == *other {
                    true => value,
                    false => {
                        let span = value.span;
                        cond.clone().choose(value, other.clone()).at(span)
                    }
                };
                names.push((name, value));
            }
            if case.names.len() > names.len() {
                return self.error_help(
                    Code::Match,
                    pat,
                    "these patterns don't have the same names",
                    "write an arm for each pattern",
                );
            }
            all.names = names;
            all.cond = all.cond.zip(case.cond).map(|(a, b)| Expr::func(Func::Or, vec![a, b]));
        }
        Some(all)
    }

    /// What a pattern asks, `None` after an error.
    fn asked<'a>(&mut self, pat: &'a syn::Pat, subject: &Subject) -> Option<Asked<'a>> {
        match (pat, subject) {
            (syn::Pat::Wild(_), _) => Some(Asked::default()),
            (syn::Pat::Paren(p), _) => self.asked(&p.pat, subject),
            (syn::Pat::Or(o), _) => {
                let cases: Vec<_> = o.cases.iter().map(|pat| self.asked(pat, subject)).collect();
                let cases = cases.into_iter().collect::<Option<Vec<_>>>()?;
                self.one_of(cases.into_iter().zip(&o.cases).collect())
            }
            (syn::Pat::Tuple(t), Subject::Several(each)) => self.asked_of_each(&t.elems, each, pat),
            (_, Subject::Several(_)) => self.error_help(
                Code::Match,
                pat,
                "this isn't a pattern for several values",
                "write a pattern for each of them, `(p, q)`, or `_` for all",
            ),
            (_, Subject::One(place)) => self.asked_of(pat, place),
        }
    }

    /// What a pattern asks of a place.
    fn asked_of<'a>(&mut self, pat: &'a syn::Pat, place: &Place) -> Option<Asked<'a>> {
        let only = |cond: Expr| Some(Asked { cond: Some(cond), names: Vec::new() });
        let one = || Subject::One(place.clone());
        let read = |this: &mut Lowerer| {
            let span = this.span(pat);
            Expr::read(Place { span, ..place.clone() })
        };
        match pat {
            syn::Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() => {
                if is_type_name(&p.ident.to_string()) && p.subpat.is_none() {
                    let path = syn::ExprPath { attrs: Vec::new(), qself: None, path: p.ident.clone().into() };
                    return self.value_or_variant(&path, pat, place);
                }
                let mut asked = match &p.subpat {
                    Some((_, pat)) => self.asked(pat, &one())?,
                    None => Asked::default(),
                };
                asked.names.push((&p.ident, Expr::read(place.clone())));
                Some(asked)
            }
            syn::Pat::Lit(l) => {
                let value = self.expr(&syn::Expr::Lit(l.clone()))?;
                let place = read(self);
                only(match &l.lit {
                    syn::Lit::Bool(b) if b.value => place,
                    syn::Lit::Bool(_) => Expr::func(Func::Not, vec![place]),
                    _ => Expr::func(Func::Eq, vec![place, value]),
                })
            }
            syn::Pat::Range(r) => {
                let inclusive = matches!(r.limits, syn::RangeLimits::Closed(_));
                let mut bound = |e: &Option<Box<syn::Expr>>, func: Func| match e {
                    Some(e) => self.expr(e).map(|e| Some((func, e))),
                    None => Some(None),
                };
                let first = bound(&r.start, Func::Ge);
                let last = bound(&r.end, if inclusive { Func::Le } else { Func::Lt });
                let ends = [first?, last?].into_iter().flatten();
                let conds: Vec<Expr> = ends.map(|(f, e)| Expr::func(f, vec![read(self), e])).collect();
                let cond = conds.into_iter().fold(None, |a, b| both(a, Some(b)));
                Some(Asked { cond, names: Vec::new() })
            }
            syn::Pat::Tuple(t) => {
                let element = |k| Subject::One(place.clone().with(Step::Element(k)));
                let each: Vec<_> = (0..).map(element).take(t.elems.len()).collect();
                self.asked_of_each(&t.elems, &each, pat)
            }
            syn::Pat::Slice(s) if matches!(self.type_of_place(place), Type::Fixed(..) | Type::Unknown) => {
                let element = |k| Subject::One(place.clone().with(Step::Index(vec![Expr::index(k)])));
                let each: Vec<_> = (0..).map(element).take(s.elems.len()).collect();
                self.asked_of_each(&s.elems, &each, pat)
            }
            syn::Pat::Path(p) => self.value_or_variant(p, pat, place),
            syn::Pat::TupleStruct(t) => {
                let variant = variant_of(&t.path)?;
                let fields = t.elems.iter().enumerate().map(|(k, pat)| (k.to_string(), pat));
                if let Some(rest) = t.elems.iter().find(|p| matches!(p, syn::Pat::Rest(_))) {
                    return self.left_out(rest);
                }
                self.variant(&variant, fields.collect(), place)
            }
            syn::Pat::Struct(s) => {
                let variant = variant_of(&s.path)?;
                let fields = s.fields.iter().map(|f| {
                    let name = match &f.member {
                        syn::Member::Named(name) => plain_name(name),
                        syn::Member::Unnamed(k) => k.index.to_string(),
                    };
                    (name, &*f.pat)
                });
                self.variant(&variant, fields.collect(), place)
            }
            other => self.error_help(
                Code::Match,
                other,
                "this pattern isn't part of the language",
                "numbers, ranges, constants, variants of enums with their fields, tuples, arrays of fixed size, names, `_`, and several of them with `|` are",
            ),
        }
    }

    /// A path in a pattern: a variant without fields, or a constant.
    fn value_or_variant<'a>(&mut self, p: &syn::ExprPath, at: &syn::Pat, place: &Place) -> Option<Asked<'a>> {
        let of_enum = match self.type_of_place(place) {
            Type::Struct(..) => true,
            Type::Unknown => {
                let (len, segments) = (p.path.segments.len(), &p.path.segments);
                let of = len.checked_sub(2).map(|k| segments[k].ident.to_string());
                let is_enum = |name: &String| is_type_name(name) && ScalarType::from_name(name).is_none();
                of.as_ref().is_some_and(is_enum) || p.path.is_ident("None")
            }
            _ => false,
        };
        if of_enum {
            let variant = variant_of(&p.path)?;
            return self.variant(&variant, Vec::new(), place);
        }
        let (value, span) = (self.path_expr(p)?, self.span(at));
        self.compared.push(place.clone());
        let cond = Expr::func(Func::Eq, vec![Expr::read(Place { span, ..place.clone() }), value]);
        Some(Asked { cond: Some(cond), names: Vec::new() })
    }

    /// A variant with patterns for its fields.
    fn variant<'a>(
        &mut self,
        variant: &str,
        fields: Vec<(String, &'a syn::Pat)>,
        place: &Place,
    ) -> Option<Asked<'a>> {
        self.variants += 1;
        let parts = place.clone().with(Step::Field(PARTS.to_string()));
        let of_option = matches!(variant, "Some" | "None");
        let part = |name: String| parts.clone().with(Step::Field(name));
        let element = |k| parts.clone().with(Step::Element(k));
        let cond = match variant {
            "Some" => Expr::read(element(0)),
            "None" => Expr::func(Func::Not, vec![Expr::read(element(0))]),
            variant => {
                let number = Expr::new(ExprKind::Len(part(number_of(variant)), None));
                Expr::func(Func::Eq, vec![Expr::read(part(VARIANT.into())) + Expr::index(1), number])
            }
        };
        let mut asked = Asked { cond: Some(cond), names: Vec::new() };
        for (field, pat) in fields {
            let held = if of_option { element(1) } else { part(part_of(variant, &field)) };
            asked = asked.and(self.asked(pat, &Subject::One(held))?);
        }
        Some(asked)
    }
}

/// The name of a variant.
fn variant_of(path: &syn::Path) -> Option<String> {
    path.segments.last().map(|s| plain_name(&s.ident))
}

/// Both conditions, where there are any.
fn both(a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Expr::func(Func::And, vec![a, b])),
        (a, b) => a.or(b),
    }
}

/// A value in the scope of names.
fn within(names: Vec<(VarId, Expr)>, value: Expr) -> Expr {
    match names.is_empty() {
        true => value,
        false => {
            let span = value.span;
            Expr::new(ExprKind::Block(names, Box::new(value))).at(span)
        }
    }
}
