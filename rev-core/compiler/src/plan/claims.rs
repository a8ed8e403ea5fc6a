//! The elements that the iterations of a loop use, where they are known before it runs: whether two iterations meet in
//! one is asked once, and then the loop runs without asking.

use std::collections::BTreeSet;

use crate::check::overlap::{overlap, Overlap, Values};
use crate::ir::{
    has_external, Access, Block, Expr, ExprKind, Named, Place, Range, Step, Stmt, StmtKind, VarId,
};

use super::roles::named_in;

/// What an iteration uses of the arrays that are declared to be apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// The arrays, each with those of which it uses no other elements, if they have its shape: shadows above all.
    pub arrays: Vec<(VarId, Vec<VarId>)>,
    /// What it uses of the former. It may be more than it does use: both branches of an `if` are in it.
    pub takes: Vec<Take>,
}

/// What of it stands in a scope.
#[derive(Clone, Debug, PartialEq)]
pub enum Take {
    /// An element, or a part of an array.
    Of(Place),
    /// These, by a name.
    Let(VarId, Expr, Vec<Take>),
    /// These, for each value of a loop inside.
    For(VarId, Box<Range>, Vec<Take>),
}

impl Take {
    /// Whether it needs the value of a variable.
    fn names(&self, var: VarId) -> bool {
        let in_one = |e: &Expr| {
            let mut named = Vec::new();
            named_in(e, &mut named);
            named.iter().any(|(v, _)| *v == var)
        };
        let inside = |takes: &[Take]| takes.iter().any(|take| take.names(var));
        match self {
            Take::Of(place) => place.indices().any(in_one),
            Take::Let(_, value, takes) => in_one(value) || inside(takes),
            Take::For(_, range, takes) => range.exprs().any(in_one) || inside(takes),
        }
    }
}

impl Claims {
    /// Those of a loop on some arrays; `None` where they follow from what the loop changes.
    pub(super) fn of(
        (var, body): (VarId, &Block),
        arrays: &BTreeSet<VarId>,
        values: &Values,
    ) -> Option<Claims> {
        let (mut inside, mut changed) = (BTreeSet::new(), BTreeSet::new());
        for stmt in body {
            stmt.add_bound(&mut inside);
            add_names(stmt, &mut inside);
            stmt.each_access_deep(&mut |q, access| {
                if access != Access::Read {
                    changed.insert(q.var);
                }
            });
        }
        inside.remove(&var);
        let mut claims = Claims { arrays: Vec::new(), takes: Vec::new() };
        let mut used = Used { arrays, values, inside, changed, certain: true };
        if has_external(body) || !used.block(body, &mut claims.takes) {
            return None;
        }
        arrays.iter().for_each(|&array| claims.add(array, values));
        Some(claims)
    }

    /// Adds an array to those that it goes with, or as one of its own.
    fn add(&mut self, array: VarId, values: &Values) {
        let takes = &self.takes;
        match self.arrays.iter_mut().find(|(first, _)| goes_with(takes, *first, array, values)) {
            Some((_, others)) => {
                others.push(array);
                forget(&mut self.takes, array);
            }
            None => self.arrays.push((array, Vec::new())),
        }
    }
}

/// Whether of an array only those elements are used whose indices are used of another one in the same scope.
fn goes_with(takes: &[Take], first: VarId, array: VarId, values: &Values) -> bool {
    takes.iter().all(|take| match take {
        Take::Of(q) if q.var == array => {
            let q = q.rooted_at(first);
            takes.iter().any(|other| matches!(other, Take::Of(r) if is_same_element(&q, r, values)))
        }
        Take::Of(_) => true,
        Take::Let(_, _, inner) | Take::For(_, _, inner) => goes_with(inner, first, array, values),
    })
}

/// What stands in the scope of a name, with the name if it needs it.
fn name(var: VarId, value: &Expr, takes: Vec<Take>) -> Vec<Take> {
    match takes.iter().any(|take| take.names(var)) {
        true => vec![Take::Let(var, value.clone(), takes)],
        false => takes,
    }
}

fn forget(takes: &mut Vec<Take>, array: VarId) {
    takes.retain_mut(|take| match take {
        Take::Of(q) => q.var != array,
        Take::Let(_, _, inner) | Take::For(_, _, inner) => {
            forget(inner, array);
            !inner.is_empty()
        }
    });
}

/// Whether two places are one element. (Parts that share elements overlap as well.)
fn is_same_element(a: &Place, b: &Place, values: &Values) -> bool {
    let element = |q: &Place| matches!(q.path.as_slice(), [Step::Index(_)]);
    element(a) && element(b) && overlap(a, b, values) == Overlap::Equal
}

/// Adds the names that expressions bind.
fn add_names(stmt: &Stmt, names: &mut BTreeSet<VarId>) {
    fn of(e: &Expr, names: &mut BTreeSet<VarId>) {
        if let ExprKind::Block(lets, _) = &e.kind {
            names.extend(lets.iter().map(|(var, _)| *var));
        }
        e.each_child(&mut |c| of(c, names));
    }
    stmt.each_expr(&mut |e| of(e, names));
    stmt.each_place(&mut |q, _| q.indices().for_each(|e| of(e, names)));
    stmt.blocks().into_iter().flatten().for_each(|s| add_names(s, names));
}

struct Used<'a> {
    arrays: &'a BTreeSet<VarId>,
    values: &'a Values<'a>,
    /// The variables that there are only inside of the loop, those aside whose scope is looked at and whose values
    /// are known.
    inside: BTreeSet<VarId>,
    /// The variables that the loop changes. Their lengths stay: it has no stack from outside.
    changed: BTreeSet<VarId>,
    /// Whether the statements that are looked at surely run. Of others only single elements are taken: a loop or a part
    /// of an array may be as large as only a number can be that nobody uses.
    certain: bool,
}

impl Used<'_> {
    /// Adds what a block uses. Whether that is known.
    fn block(&mut self, block: &[Stmt], out: &mut Vec<Take>) -> bool {
        block.iter().all(|stmt| self.stmt(stmt, out))
    }

    fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<Take>) -> bool {
        let mut known = true;
        stmt.each_access(&mut |q, _| {
            if self.arrays.contains(&q.var) {
                known &= self.take(q, out);
            }
        });
        known
            && match &stmt.kind {
                StmtKind::Let { var, expr, body } => {
                    let named = self.is_known(expr);
                    self.inside(*var, named, body, out, |takes| name(*var, expr, takes))
                }
                StmtKind::For { var, range, body, .. } => {
                    let counted = self.certain && range.exprs().all(|e| self.is_known(e));
                    self.inside(*var, counted, body, out, |takes| {
                        vec![Take::For(*var, Box::new(range.clone()), takes)]
                    })
                }
                StmtKind::If { .. } | StmtKind::While { .. } => {
                    let around = std::mem::replace(&mut self.certain, false);
                    let all = stmt.blocks().into_iter().all(|b| self.block(b, out));
                    self.certain = around;
                    all
                }
                StmtKind::Update { .. }
                | StmtKind::Instr { .. }
                | StmtKind::Ancilla { .. }
                | StmtKind::Call { .. }
                | StmtKind::Compute { .. }
                | StmtKind::Push { .. }
                | StmtKind::Pop { .. }
                | StmtKind::Release { .. }
                | StmtKind::External { .. }
                | StmtKind::Unchecked { .. }
                | StmtKind::Inverse { .. } => stmt.blocks().into_iter().all(|b| self.block(b, out)),
            }
    }

    /// Adds what the scope of a variable uses, inside of what makes the variable where its value is known.
    fn inside(
        &mut self,
        var: VarId,
        known: bool,
        body: &[Stmt],
        out: &mut Vec<Take>,
        around: impl FnOnce(Vec<Take>) -> Vec<Take>,
    ) -> bool {
        if !known {
            return self.block(body, out);
        }
        self.inside.remove(&var);
        let mut takes = Vec::new();
        let all = self.block(body, &mut takes);
        if !takes.is_empty() {
            out.extend(around(takes));
        }
        all
    }

    /// Adds an element or a part, once in a scope. Whether it is known.
    fn take(&self, place: &Place, out: &mut Vec<Take>) -> bool {
        const LAST: usize = 32;
        let head = Place { path: place.path.iter().take(1).cloned().collect(), ..place.clone() };
        let small = match head.path.first() {
            Some(Step::Index(_)) => true,
            Some(Step::Part(_)) => self.certain,
            _ => false,
        };
        let known = small && head.indices().all(|e| self.is_known(e));
        let same = |take: &Take| matches!(take, Take::Of(q) if is_same_element(q, &head, self.values));
        if known && !out.iter().rev().take(LAST).any(same) {
            out.push(Take::Of(head));
        }
        known
    }

    /// Whether the value of an expression is known before the loop.
    fn is_known(&self, e: &Expr) -> bool {
        let mut named = Vec::new();
        named_in(e, &mut named);
        named.iter().all(|(var, of)| {
            !self.inside.contains(var) && (*of != Named::Value || !self.changed.contains(var))
        })
    }
}
