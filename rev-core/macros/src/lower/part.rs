//! Parts of arrays: `a[i..j]`, and the methods that ndarray has for them: `x.row(i)`, `x.column(j)`,
//! `x.index_axis(Axis(k), i)`, `x.slice(s![i, a..b])`; the same with `_mut`. A part of a part is one part of
//! the array where that can be said.

use rev_compiler::diag::Code;
use rev_compiler::ir::{Axis, Expr, ExprKind, Place, Rank, Step, Type};

use super::{plain_name, strip, Lowerer};

type Axes = syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>;

/// The name of a method that gives a part of an array, and whether the part is to be written.
pub(super) fn part_method(m: &syn::ExprMethodCall) -> Option<(String, bool)> {
    let name = plain_name(&m.method);
    let (name, written) = match name.strip_suffix("_mut") {
        Some(name) => (name.to_string(), true),
        None => (name, false),
    };
    let arguments = match name.as_str() {
        "row" | "column" | "slice" => 1,
        "index_axis" => 2,
        _ => return None,
    };
    (m.args.len() == arguments).then_some((name, written))
}

impl Lowerer {
    /// The part of a place that a method of ndarray gives.
    pub(super) fn method_part(&mut self, base: Place, name: &str, m: &syn::ExprMethodCall) -> Option<Place> {
        let axes = match name {
            "row" | "column" => {
                let rank = self.rank(&base);
                if rank.is_some_and(|rank| rank != 2) {
                    return self.error_help(
                        Code::NoSuchPart,
                        &m.method,
                        format!("only a matrix has a {name}"),
                        "of other arrays, `x.index_axis(Axis(k), i)` is the part with one axis fixed",
                    );
                }
                fixed(usize::from(name == "column"), self.expr_or_unreadable(&m.args[0]))
            }
            "index_axis" => {
                let axis = match strip(&m.args[0]) {
                    syn::Expr::Call(c) if super::update::is_named(&c.func, "Axis") && c.args.len() == 1 => {
                        self.axis(&c.args[0])
                    }
                    other => self.error(Code::UnsupportedExpression, other, "an axis is `Axis(k)`"),
                };
                let index = self.expr_or_unreadable(&m.args[1]);
                let axis = axis?;
                if self.rank(&base).is_some_and(|rank| axis >= u32::from(rank)) {
                    let message = format!("there is no axis {axis} in this array");
                    return self.error(Code::NoSuchPart, &m.args[0], message);
                }
                fixed(axis as usize, index)
            }
            _ => self.sliced(&base, &m.args[0])?,
        };
        Some(within(base, axes))
    }

    /// How many axes an array has, where that is known.
    fn rank(&self, place: &Place) -> Option<u8> {
        match self.type_of_place(place) {
            Type::Array(_, Rank::Fixed(rank)) => Some(rank),
            Type::Fixed(..) => Some(1),
            _ => None,
        }
    }

    /// What `s![..]` takes of each axis.
    fn sliced(&mut self, base: &Place, given: &syn::Expr) -> Option<Vec<Axis>> {
        let parsed = match strip(given) {
            syn::Expr::Macro(m) if m.mac.path.segments.last().is_some_and(|s| s.ident == "s") => {
                m.mac.parse_body_with(Axes::parse_terminated).ok()
            }
            _ => None,
        };
        let Some(parsed) = parsed else {
            return self.error_help(
                Code::UnsupportedExpression,
                given,
                "what a part takes of each axis is an index or a range with step 1",
                "`x.slice(s![i, a..b])`: the elements of row `i` from `a` to before `b`; `..` is all of an axis",
            );
        };
        // of each axis of the part, whose length may be asked for
        Some(parsed.iter().enumerate().map(|(k, e)| self.sliced_axis(base, k as u32, e)).collect())
    }

    fn sliced_axis(&mut self, base: &Place, k: u32, e: &syn::Expr) -> Axis {
        match strip(e) {
            syn::Expr::Range(r) if r.start.is_none() && r.end.is_none() => Axis::Whole,
            syn::Expr::Range(r) => self.range_axis(base, Some(k), r),
            e => Axis::At(self.expr_or_unreadable(e)),
        }
    }

    /// `i..j`; what isn't given is the beginning or the end of an axis.
    pub(super) fn range_axis(&mut self, base: &Place, k: Option<u32>, r: &syn::ExprRange) -> Axis {
        let span = self.span(r);
        let start = match &r.start {
            Some(e) => self.expr_or_unreadable(e),
            None => Expr::index(0).at(span),
        };
        let end = match (&r.end, &r.limits) {
            (Some(e), syn::RangeLimits::HalfOpen(_)) => self.expr_or_unreadable(e),
            (Some(e), syn::RangeLimits::Closed(_)) => {
                let last = self.expr_or_unreadable(e);
                let at = last.span;
                (last + Expr::index(1)).at(at)
            }
            (None, _) => Expr::new(ExprKind::Len(base.clone(), k)).at(span),
        };
        Axis::Range(start, end)
    }
}

fn fixed(axis: usize, index: Expr) -> Vec<Axis> {
    std::iter::repeat_n(Axis::Whole, axis).chain([Axis::At(index)]).collect()
}

/// A part of a place, which may be a part itself.
pub(super) fn within(mut base: Place, axes: Vec<Axis>) -> Place {
    let outer = match base.path.last() {
        Some(Step::Part(outer)) => merged(outer, axes.clone()),
        _ => None,
    };
    let axes = match outer {
        Some(all) => {
            base.path.pop();
            all
        }
        None => axes,
    };
    match Step::part(axes) {
        Some(step) => base.with(step),
        None => base,
    }
}

/// An element of a place, which may be a part of an array.
pub(super) fn element(mut base: Place, indices: Vec<Expr>) -> Place {
    if let Some(Step::Part(outer)) = base.path.last() {
        let all = merged(outer, indices.iter().cloned().map(Axis::At).collect());
        let index = |axis| match axis {
            Axis::At(e) => Some(e),
            Axis::Range(..) | Axis::Whole => None,
        };
        if let Some(all) = all.and_then(|all| all.into_iter().map(index).collect::<Option<Vec<Expr>>>()) {
            base.path.pop();
            return base.with(Step::Index(all));
        }
    }
    base.with(Step::Index(indices))
}

/// What a part of a part takes of the array's axes; `None` where that is a range of a range.
fn merged(outer: &[Axis], inner: Vec<Axis>) -> Option<Vec<Axis>> {
    let mut inner = inner.into_iter();
    let mut all = Vec::new();
    for axis in outer {
        all.push(match axis {
            Axis::At(e) => Axis::At(e.clone()),
            Axis::Whole => inner.next().unwrap_or(Axis::Whole),
            range @ Axis::Range(..) => match inner.next() {
                None | Some(Axis::Whole) => range.clone(),
                Some(Axis::At(_) | Axis::Range(..)) => return None,
            },
        });
    }
    all.extend(inner);
    Some(all)
}
