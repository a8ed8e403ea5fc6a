//! Loops over the elements of an array: `for x in &xs`, `for (i, x) in xs.iter().enumerate()`.
//!
//! They are loops over its indices, in which the element is a binding.

use rev_compiler::diag::Code;
use rev_compiler::ir::{Axis, Expr, ExprKind, Place, Range, Rank, Step, Type, VarId, VarKind};

use super::range::Spelled;
use super::{strip, Lowerer};

/// What a loop visits the elements of.
pub(super) struct Visited {
    pub(super) place: Place,
    /// Whether their indices are counted.
    enumerated: bool,
}

impl Lowerer {
    /// `&xs`, `xs.iter()`, `xs.iter().enumerate()`, or the name of an array; `None` for anything else, the inner one after an error.
    pub(super) fn visited(&mut self, e: &syn::Expr) -> Option<Option<Spelled>> {
        let array = match strip(e) {
            syn::Expr::Reference(r) if r.mutability.is_none() => &r.expr,
            syn::Expr::Path(p) if self.is_array(p) => e,
            syn::Expr::MethodCall(m) if m.args.is_empty() && m.method == "iter" => &m.receiver,
            syn::Expr::MethodCall(m) if m.args.is_empty() && m.method == "enumerate" => {
                let inner = self.visited(&m.receiver)?;
                return Some(inner.and_then(|inner| self.enumerated(inner, m)));
            }
            _ => return None,
        };
        Some(self.elements_of(array))
    }

    fn is_array(&self, p: &syn::ExprPath) -> bool {
        let var = p.path.get_ident().and_then(|name| self.lookup(&super::plain_name(name)));
        var.is_some_and(|var| matches!(self.var(var).ty, Type::Array(..) | Type::Fixed(..)))
    }

    fn elements_of(&mut self, array: &syn::Expr) -> Option<Spelled> {
        let place = match self.table(array)? {
            Some(table) => table,
            None => self.place(array)?,
        };
        let span = self.span(array);
        match self.type_of_place(&place) {
            Type::Array(_, Rank::Fixed(1)) | Type::Fixed(..) | Type::Unknown => {}
            _ => {
                return self.error_help(
                    Code::UnsupportedExpression,
                    array,
                    "only the elements of a slice, a vector or a fixed-size array are visited in a loop",
                    "loop over indices: `for i in 0..x.nrows() { .. x[[i, j]] .. }`",
                )
            }
        }
        let end = Expr::new(ExprKind::Len(place.clone(), None)).at(span);
        let range = Range::new(Expr::index(0).at(span), end);
        Some(Spelled { range, parallel: false, over: Some(Visited { place, enumerated: false }) })
    }

    fn enumerated(&mut self, inner: Spelled, m: &syn::ExprMethodCall) -> Option<Spelled> {
        match inner.over {
            Some(Visited { place, enumerated: false }) => {
                Some(Spelled { over: Some(Visited { place, enumerated: true }), ..inner })
            }
            _ => self.error(Code::UnsupportedExpression, &m.method, "elements are counted once"),
        }
    }

    /// The patterns of the index and of the element.
    pub(super) fn visiting<'a>(
        &mut self,
        pat: &'a syn::Pat,
        over: &Visited,
    ) -> Option<(Option<&'a syn::Pat>, Option<&'a syn::Pat>)> {
        match pat {
            syn::Pat::Tuple(t) if over.enumerated && t.elems.len() == 2 => {
                Some((Some(&t.elems[0]), Some(&t.elems[1])))
            }
            _ if over.enumerated => self.error_help(
                Code::UnsupportedPattern,
                pat,
                "an index and an element are visited",
                "name both: `for (i, x) in xs.iter().enumerate()`",
            ),
            pat => Some((None, Some(pat))),
        }
    }

    /// The binding of an element: `let x = xs[i]`.
    pub(super) fn name_element(
        &mut self,
        pat: &syn::Pat,
        array: Place,
        index: VarId,
    ) -> Option<(VarId, Expr)> {
        let name = match pat {
            syn::Pat::Wild(_) => return None,
            syn::Pat::Reference(r) if r.mutability.is_none() => {
                return self.name_element(&r.pat, array, index)
            }
            syn::Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() && p.mutability.is_none() => {
                &p.ident
            }
            other => {
                let _: Option<()> =
                    self.error(Code::UnsupportedPattern, other, "an element that a loop visits has a name");
                self.declare_unread(other);
                return None;
            }
        };
        let element = element_at(array, Expr::read(Place::var(index)));
        let ty = self.type_of_place(&element);
        let value = Expr::read(element);
        let var = self.declare(name, ty, VarKind::Binding);
        self.visited.insert(var);
        Some((var, value))
    }
}

/// An element of an array, or of a part of one with one axis left.
fn element_at(mut array: Place, index: Expr) -> Place {
    let indices = match array.path.last() {
        Some(Step::Part(axes)) => axes
            .iter()
            .map(|axis| match axis {
                Axis::At(e) => e.clone(),
                Axis::Range(start, _) => start.clone() + index.clone(),
                Axis::Whole => index.clone(),
            })
            .collect(),
        _ => return array.with(Step::Index(vec![index])),
    };
    array.path.pop();
    array.with(Step::Index(indices))
}
