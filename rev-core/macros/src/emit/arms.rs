//! The arms of a `match` as they are written, beside the branch that it became: rustc says what is missing in them.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::{Block, Expr, ExprKind, Place, Span, StmtKind, VarId};
use rev_compiler::plan;

use super::body::Body;
use super::expr::Reach;
use super::types::rust_type;
use crate::model::{Matched, Subject};
use crate::spans::at_span;

impl Body<'_> {
    /// Where a branch stands for a `match`, one with the same patterns, so that rustc says what is missing in it.
    pub fn arms(&mut self, span: Span, cond: &Expr) -> TokenStream {
        let matched = self.source.matched(&self.function.name, span).filter(|_| self.lane.is_none());
        let Some(matched) = matched else { return TokenStream::new() };
        // as it is called here, where the condition still asks it
        let asked = match &matched.subject {
            Subject::One(Place { path, .. }) => first_place(cond)
                .filter(|p| p.path.len() >= path.len())
                .map(|asked| Place { path: asked.path[..path.len()].to_vec(), ..asked.clone() }),
            // a copy of the branch, as on the way back, has other variables
            subject @ Subject::Several(_) if self.is_copied(subject, cond) => return TokenStream::new(),
            Subject::Several(_) => None,
        };
        let of = match asked {
            Some(place) => {
                let place = self.place(&place, Reach::Read);
                let borrow = matched.by_reference.then(|| quote!(&));
                quote!(#borrow #place)
            }
            None => match self.matched(&matched.subject, matched) {
                Some(of) => of,
                None => return TokenStream::new(),
            },
        };
        let of = at_span(of, matched.at.resolved_at(proc_macro2::Span::call_site()));
        let arms = &matched.arms;
        quote!(if false { match #of { #arms } })
    }

    /// Values that are matched, of which not all need be left in the program; `None` where the type of one that isn't
    /// left is rustc's to tell, from the program in which it is.
    fn matched(&mut self, subject: &Subject, within: &Matched) -> Option<TokenStream> {
        let place = match subject {
            Subject::Several(each) => {
                let each = each.iter().map(|s| self.matched(s, within)).collect::<Option<Vec<_>>>()?;
                return Some(quote!((#(#each,)*)));
            }
            Subject::One(place) => place,
        };
        let by_reference = within.by_reference && !within.compared.iter().any(|other| other.same(place));
        let borrow = by_reference.then(|| quote!(&));
        if self.is_there(place.var) {
            let mut place = place.clone();
            plan::rename_lent(&mut place, &self.loans);
            let place = self.place(&place, Reach::Read);
            return Some(quote!(#borrow #place));
        }
        let of = rust_type(&self.function.type_at(place)?, self.p)?;
        let p = self.p;
        Some(quote!(#borrow #p::fail::erased::<#of>()))
    }

    /// Whether something that is matched is declared in the program, but not around a branch.
    fn is_copied(&self, subject: &Subject, cond: &Expr) -> bool {
        let place = match subject {
            Subject::Several(each) => return each.iter().any(|s| self.is_copied(s, cond)),
            Subject::One(place) => place,
        };
        let mut vars = vec![place.var];
        place.indices().for_each(|i| vars.extend(i.reads().into_iter().map(|p| p.var)));
        let mut around = Vec::new();
        let found = declared_around(&self.function.body, cond, &mut around);
        let local = |var: &VarId| !self.function.params.contains(var) && self.is_there(*var);
        found && vars.iter().any(|var| local(var) && !around.contains(var))
    }

    /// Whether a variable is declared in the program.
    fn is_there(&self, var: VarId) -> bool {
        let mut bound = std::collections::BTreeSet::new();
        self.function.body.iter().for_each(|s| s.add_bound(&mut bound));
        self.function.params.contains(&var) || bound.contains(&var)
    }
}

/// The place that an expression reads first.
fn first_place(e: &Expr) -> Option<&Place> {
    match &e.kind {
        ExprKind::Read(place) | ExprKind::Len(place, _) => Some(place),
        _ => {
            let mut first = None;
            e.each_child(&mut |part| first = first.or_else(|| first_place(part)));
            first
        }
    }
}

/// Whether an expression stands in a block, and the variables that are declared around it.
fn declared_around(block: &Block, e: &Expr, around: &mut Vec<VarId>) -> bool {
    fn within(part: &Expr, e: &Expr, around: &mut Vec<VarId>) -> bool {
        if std::ptr::eq(part, e) {
            return true;
        }
        let count = around.len();
        if let ExprKind::Block(lets, _) = &part.kind {
            around.extend(lets.iter().map(|(var, _)| *var));
        }
        let mut found = false;
        part.each_child(&mut |child| found = found || within(child, e, around));
        if !found {
            around.truncate(count);
        }
        found
    }
    block.iter().any(|stmt| {
        let mut found = false;
        stmt.each_expr(&mut |part| found = found || within(part, e, around));
        if found {
            return true;
        }
        let count = around.len();
        if let StmtKind::Let { var, .. } | StmtKind::Ancilla { var, .. } | StmtKind::For { var, .. } =
            &stmt.kind
        {
            around.push(*var);
        }
        let found = stmt.blocks().into_iter().any(|block| declared_around(block, e, around));
        if !found {
            around.truncate(count);
        }
        found
    })
}
