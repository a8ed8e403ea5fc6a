//! Updates of an array from which a binding around them was read: `let a = x[i]; x[j] += a`.
//!
//! Whether `x[j]` is the element that the binding stands for is known when the program runs. There an update is
//! compared with what it reads itself, so what the binding stands for is written into the update: `x[j] += x[i]`.

use std::collections::{BTreeMap, BTreeSet};

use rev_compiler::check::overlap::{overlap, Overlap, Values};
use rev_compiler::ir::{Block, Expr, ExprKind, Function, Place, StmtKind, VarId};

/// How many operations and names an update may have when its bindings are written out: chains of them double.
const LONGEST: usize = 256;

/// The function with bindings written out in the updates that may change what they read; but for the elements that
/// loops visit, which stay as they are.
pub(super) fn with_bindings_written_out(mut function: Function, visited: &BTreeSet<VarId>) -> Function {
    if !may_change_what_is_bound(&function.body, visited, &mut BTreeMap::new()) {
        return function;
    }
    let mut body = function.body.clone();
    let values = Values::of(&function);
    written_out(&mut body, &mut Bound { visited, values: &values, exprs: BTreeMap::new() });
    function.body = body;
    function
}

/// For each binding the variables of which it reads elements or fields, by other names too.
type Roots = BTreeMap<VarId, BTreeSet<VarId>>;

/// Whether an update names a binding that reads of the variable that it changes.
fn may_change_what_is_bound(block: &Block, visited: &BTreeSet<VarId>, roots: &mut Roots) -> bool {
    block.iter().any(|stmt| {
        let mut own = false;
        if let StmtKind::Update { place, expr, .. } = &stmt.kind {
            let of_place = |q: &Place| roots.get(&q.var).is_some_and(|of| of.contains(&place.var));
            own = expr.reads().into_iter().any(of_place);
        } else if let StmtKind::Let { var, expr, .. } = &stmt.kind {
            let mut of = BTreeSet::new();
            for q in expr.reads().into_iter().filter(|_| !visited.contains(var)) {
                if !q.path.is_empty() {
                    of.insert(q.var);
                }
                of.extend(roots.get(&q.var).into_iter().flatten());
            }
            if !of.is_empty() {
                roots.insert(*var, of);
            }
        }
        own || stmt.blocks().into_iter().any(|b| may_change_what_is_bound(b, visited, roots))
    })
}

/// The bindings seen so far.
struct Bound<'a> {
    visited: &'a BTreeSet<VarId>,
    values: &'a Values<'a>,
    exprs: BTreeMap<VarId, Expr>,
}

fn written_out(block: &mut Block, bound: &mut Bound) {
    for stmt in block {
        if let StmtKind::Update { place, expr, .. } = &mut stmt.kind {
            if bound.may_meet(place, expr, &mut BTreeSet::new()) && bound.length(expr, 0) <= LONGEST {
                bound.replace(expr);
            }
        } else if let StmtKind::Let { var, expr, .. } = &stmt.kind {
            if !bound.visited.contains(var) {
                bound.exprs.insert(*var, expr.clone());
            }
        }
        stmt.blocks_mut().into_iter().for_each(|b| written_out(b, bound));
    }
}

impl Bound<'_> {
    /// What a name that is read stands for.
    fn named(&self, q: &Place) -> Option<&Expr> {
        self.exprs.get(&q.var).filter(|_| q.path.is_empty())
    }

    /// Whether a name in an expression stands for something that may be read at the place.
    fn may_meet(&self, place: &Place, expr: &Expr, seen: &mut BTreeSet<VarId>) -> bool {
        expr.reads().into_iter().any(|q| match self.named(q) {
            Some(value) => {
                let unknown = |read: &Place| {
                    read.var == place.var && overlap(place, read, self.values) == Overlap::Unknown
                };
                seen.insert(q.var)
                    && (value.reads().into_iter().any(unknown) || self.may_meet(place, value, seen))
            }
            None => false,
        })
    }

    /// How long an expression is when its names are written out, counted up to the limit.
    fn length(&self, expr: &Expr, before: usize) -> usize {
        let mut length = before + 1;
        if length > LONGEST {
            return length;
        }
        if let ExprKind::Read(q) = &expr.kind {
            if let Some(value) = self.named(q) {
                return self.length(value, length);
            }
        }
        expr.each_child(&mut |e| length = self.length(e, length));
        length
    }

    fn replace(&self, expr: &mut Expr) {
        let mut value = None;
        if let ExprKind::Read(q) = &expr.kind {
            value = self.named(q).map(|e| e.kind.clone());
        }
        match value {
            Some(kind) => {
                expr.kind = kind;
                self.replace(expr);
            }
            None => expr.each_child_mut(&mut |e| self.replace(e)),
        }
    }
}
