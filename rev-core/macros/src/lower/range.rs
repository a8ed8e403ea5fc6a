//! Ranges of `for` loops: `a..b`, `a..=b`, and chains of `.rev()` and `.step_by(k)` on them.

use rev_compiler::diag::Code;
use rev_compiler::ir::{Expr, ExprKind, Number, Range, ScalarType, Type};
use rev_compiler::ops::Func;

use super::elements::Visited;
use super::{strip, Lowerer};
use crate::spans::Region;

/// A range as a loop spells it.
pub(super) struct Spelled {
    pub(super) range: Range,
    /// Whether it stands in `par(..)`.
    pub(super) parallel: bool,
    /// The array whose elements it visits.
    pub(super) over: Option<Visited>,
}

impl Lowerer {
    /// The range of a `for` loop.
    pub(super) fn range(&mut self, e: &syn::Expr) -> Option<Spelled> {
        match strip(e) {
            syn::Expr::Range(r) => {
                self.plain_range(r).map(|range| Spelled { range, parallel: false, over: None })
            }
            syn::Expr::Call(c) if is_par(&c.func) && c.args.len() == 1 => {
                let inner = self.range(&c.args[0])?;
                Some(Spelled { parallel: true, ..inner })
            }
            syn::Expr::MethodCall(m) if m.method == "rev" && m.args.is_empty() => {
                let mut inner = self.range(&m.receiver)?;
                inner.range.reversed = !inner.range.reversed;
                Some(inner)
            }
            syn::Expr::MethodCall(m) if m.method == "step_by" && m.args.len() == 1 => {
                let inner = self.range(&m.receiver)?;
                self.step_by(inner, m)
            }
            other => match self.visited(other) {
                Some(spelled) => spelled,
                None => self.error_help(
                    Code::UnsupportedExpression,
                    other,
                    "a `for` loop runs over a range",
                    "`a..b`, `a..=b`, with `.rev()` and `.step_by(k)`, or `par(a..b)`; elements that are only read \
                     are visited by `for x in &xs` too, others by index: `for i in 0..x.len() { .. x[i] .. }`",
                ),
            },
        }
    }

    fn plain_range(&mut self, r: &syn::ExprRange) -> Option<Range> {
        let (Some(start), Some(end)) = (&r.start, &r.end) else {
            return self.error(
                Code::UnsupportedExpression,
                r,
                "the range of a loop needs a start and an end",
            );
        };
        let start = self.expr_or_unreadable(start);
        let end = self.expr_or_unreadable(end);
        Some(Range { inclusive: matches!(r.limits, syn::RangeLimits::Closed(_)), ..Range::new(start, end) })
    }

    /// Every `k`-th value, from the first one that is visited now.
    fn step_by(&mut self, inner: Spelled, m: &syn::ExprMethodCall) -> Option<Spelled> {
        let step = self.expr_or_unreadable(&m.args[0]);
        let Spelled { mut range, parallel, over } = inner;
        range.step = Some(match range.step.take() {
            None => {
                range.from_end = range.reversed;
                step
            }
            Some(before) if range.from_end == range.reversed => multiplied(before, step),
            Some(_) => {
                let at = Region::of(&m.method).to(Region::of(&m.args));
                let span = self.source.spans.record(at);
                return self.report(
                    rev_compiler::diag::Diagnostic::new(
                        Code::UnsupportedExpression,
                        span,
                        "a second step counts from the other end than the first one",
                    )
                    .help("step once"),
                );
            }
        });
        Some(Spelled { range, parallel, over })
    }

    /// The type of a loop's variable: that of the bounds. Bounds that are bare whole numbers become
    /// `usize`.
    pub(super) fn range_type(&self, range: &mut Range) -> Type {
        let known =
            [&range.start, &range.end].into_iter().map(|e| self.type_of(e)).find(|t| *t != Type::Unknown);
        known.unwrap_or_else(|| match (&mut range.start.kind, &mut range.end.kind) {
            (
                ExprKind::Literal(Number::Int(0..), start @ None),
                ExprKind::Literal(Number::Int(0..), end @ None),
            ) => {
                (*start, *end) = (Some(Type::INDEX), Some(Type::INDEX));
                Type::INDEX
            }
            _ => Type::Unknown,
        })
    }
}

/// The product of two steps. What doesn't fit 64 bits reaches past the end of every range.
fn multiplied(a: Expr, b: Expr) -> Expr {
    if let (ExprKind::Literal(Number::Int(a), None), ExprKind::Literal(Number::Int(b), None)) =
        (&a.kind, &b.kind)
    {
        return Expr::int(a.saturating_mul(*b));
    }
    let wide = |e: Expr| Expr::new(ExprKind::Cast(Box::new(e), Type::Scalar(ScalarType::U64)));
    let most =
        || Expr::new(ExprKind::Literal(Number::Int(u64::MAX.into()), Some(Type::Scalar(ScalarType::U64))));
    let (a, b) = (wide(a), wide(b));
    let largest =
        Expr::func(Func::Quot, vec![most(), Expr::func(Func::Max, vec![a.clone(), wide(Expr::int(1))])]);
    Expr::func(Func::Gt, vec![b.clone(), largest]).choose(most(), a * b)
}

fn is_par(func: &syn::Expr) -> bool {
    matches!(strip(func), syn::Expr::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "par"))
}
