//! Explicit releases: of ancillas, on every path, and the last use of what they release.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Block, Expr, ExprKind, Release, Span, Stmt, StmtKind, VarId, VarKind};

use super::context::{each_stmt, or, Context};

/// Where each released ancilla was released.
type Released = BTreeMap<VarId, Span>;

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    let mut walk = Walk { cx, managed: managed(cx), out };
    walk.block(&cx.function.body, &mut Released::new());
}

/// The ancillas that the compiler uncomputes.
fn managed(cx: &Context) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    cx.each_stmt(&mut |stmt| {
        if let StmtKind::Ancilla { var, release: Release::Managed, .. } = &stmt.kind {
            found.insert(*var);
        }
    });
    found
}

struct Walk<'a, 'b> {
    cx: &'a Context<'a>,
    managed: BTreeSet<VarId>,
    out: &'b mut Diagnostics,
}

impl Walk<'_, '_> {
    fn block(&mut self, block: &Block, released: &mut Released) {
        block.iter().for_each(|s| self.stmt(s, released));
    }

    fn stmt(&mut self, stmt: &Stmt, released: &mut Released) {
        self.uses(stmt, released);
        match &stmt.kind {
            StmtKind::Release { var, .. } => self.release(*var, stmt.span, released),
            StmtKind::If { then, otherwise, .. } => self.branches(stmt, [then, otherwise], released),
            StmtKind::While { body, .. } | StmtKind::For { body, .. } => {
                self.enclosed(body, released, "in a loop, around which it is still used")
            }
            StmtKind::Inverse { body } => self.enclosed(
                body,
                released,
                "in an inverse block, in which statements run in the reverse order",
            ),
            StmtKind::Compute { compute, body } => {
                self.enclosed(
                    compute,
                    released,
                    "in the compute part of a block, which is undone at its end",
                );
                self.computed(compute, body, released);
            }
            StmtKind::Let { body, .. } | StmtKind::Ancilla { body, .. } | StmtKind::Unchecked { body } => {
                self.block(body, released)
            }
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Call { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::External { .. } => {}
        }
    }

    fn release(&mut self, var: VarId, span: Span, released: &mut Released) {
        let name = self.cx.name(var);
        if self.cx.function.var(var).kind != VarKind::Ancilla {
            let message = format!("`{name}` is released, but it isn't an ancilla");
            self.out.push(
                Diagnostic::new(Code::ReleaseNotAncilla, span, message)
                    .label(self.cx.declared(var), "declared here"),
            );
        } else if self.managed.contains(&var) {
            let message = format!("`{name}` is released, but it is uncomputed by the compiler");
            self.out.push(Diagnostic::new(Code::ReleaseNotAncilla, span, message));
        } else {
            released.entry(var).or_insert(span);
        }
    }

    /// Branches release the same ancillas.
    fn branches(&mut self, stmt: &Stmt, branches: [&Block; 2], released: &mut Released) {
        let after = branches.map(|b| {
            let mut after = released.clone();
            self.block(b, &mut after);
            after
        });
        let missing = |a: &Released, b: &Released| -> Vec<(VarId, Span)> {
            a.iter().filter(|(v, _)| !b.contains_key(v)).map(|(v, s)| (*v, *s)).collect()
        };
        for (here, there) in [(0, 1), (1, 0)] {
            let missing = missing(&after[here], &after[there]);
            let inner = if missing.is_empty() { BTreeSet::new() } else { declared_in(branches[here]) };
            for (var, span) in missing {
                if !inner.contains(&var) {
                    let message = format!("`{}` is released in one branch only", self.cx.name(var));
                    self.out.push(
                        Diagnostic::new(Code::UnbalancedRelease, span, message)
                            .label(head(stmt), "the other branch of this `if` doesn't release it")
                            .help("release it in both branches, or after them"),
                    );
                }
            }
        }
        after.into_iter().for_each(|a| released.extend(a));
    }

    /// A block that runs another number of times than what is around it, or backwards.
    fn enclosed(&mut self, block: &Block, released: &mut Released, place: &str) {
        let mut after = released.clone();
        self.block(block, &mut after);
        let inner = declared_in(block);
        for (var, span) in after {
            if !released.contains_key(&var) && !inner.contains(&var) {
                let message = format!("`{}` is released {place}", self.cx.name(var));
                self.out.push(
                    Diagnostic::new(Code::UnbalancedRelease, span, message)
                        .label(self.cx.declared(var), "declared here")
                        .help("release it in the block that declares it"),
                );
                released.insert(var, span);
            }
        }
    }

    /// The middle of a compute block must leave alive what the end uncomputes.
    fn computed(&mut self, compute: &Block, body: &Block, released: &mut Released) {
        let before = released.clone();
        self.block(body, released);
        let new: Released =
            released.iter().filter(|(v, _)| !before.contains_key(v)).map(|(v, s)| (*v, *s)).collect();
        each_stmt(compute, &mut |s| {
            each_use(s, &mut |var, span| {
                if let Some(at) = new.get(&var) {
                    self.after(var, span, *at)
                }
            })
        });
    }

    fn uses(&mut self, stmt: &Stmt, released: &Released) {
        each_use(stmt, &mut |var, span| {
            if let Some(at) = released.get(&var) {
                self.after(var, span, *at)
            }
        });
    }

    fn after(&mut self, var: VarId, span: Span, released: Span) {
        let message = format!("`{}` is used after its release", self.cx.name(var));
        self.out.push(
            Diagnostic::new(Code::UseAfterRelease, span, message)
                .label(released, "released here")
                .help("release it after its last use; or leave that to the end of its scope"),
        );
    }
}

/// Calls `f` on each variable that a statement itself names, with the position.
fn each_use(stmt: &Stmt, f: &mut dyn FnMut(VarId, Span)) {
    stmt.each_place(&mut |p, _| {
        f(p.var, or(p.span, stmt.span));
        p.indices().for_each(|e| each_mention(e, stmt.span, f));
    });
    stmt.each_expr(&mut |e| each_mention(e, stmt.span, f));
    if let StmtKind::Release { var, .. } = &stmt.kind {
        f(*var, stmt.span)
    }
}

fn each_mention(expr: &Expr, span: Span, f: &mut dyn FnMut(VarId, Span)) {
    if let ExprKind::Read(p) | ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) =
        &expr.kind
    {
        f(p.var, or(p.span, or(expr.span, span)));
    }
    expr.each_child(&mut |e| each_mention(e, span, f));
}

fn declared_in(block: &Block) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    each_stmt(block, &mut |s| {
        if let StmtKind::Ancilla { var, .. } = &s.kind {
            vars.insert(*var);
        }
    });
    vars
}

/// The `if` itself rather than its branches: the position of its condition.
fn head(stmt: &Stmt) -> Span {
    match &stmt.kind {
        StmtKind::If { cond, .. } => or(cond.span, stmt.span),
        _ => stmt.span,
    }
}
