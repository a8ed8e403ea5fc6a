//! A program as it is run: compute parts written out, and no more assertions than are asked for.

use crate::ir::{Block, Expr, Function, Release, Stmt, StmtKind};
use crate::pass::{fresh_names, inverse_block};

/// What is left of what only checks are for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Nothing: no postconditions, ancillas are dropped, and nothing says where nothing is checked.
    Nothing,
    /// Which ancillas the compiler uncomputes.
    Uncomputed,
    /// That, and postconditions.
    Posts,
    /// Everything.
    All,
}

/// The function without what only checks are for: postconditions, what ancillas hold at their
/// release, blocks without checks (nothing is checked anywhere). `compute A { B }` becomes the
/// statements `A; B; A⁻¹`, of which the last ones may be dead.
pub fn plain(function: &Function) -> Function {
    written(function, Left::Nothing)
}

/// The same with its postconditions, which its inverse and its adjoint decide by.
pub fn written_out(function: &Function) -> Function {
    written(function, Left::Posts)
}

/// The same with the ancillas that the compiler uncomputes, where anything is checked.
pub fn watched(function: &Function) -> Function {
    match function.checks {
        true => Function { checks: true, ..written(function, Left::Uncomputed) },
        false => plain(function),
    }
}

/// The same with all that is checked, where anything is.
pub fn checked(function: &Function) -> Function {
    match function.checks {
        true => Function { checks: true, ..written(function, Left::All) },
        false => plain(function),
    }
}

fn written(function: &Function, left: Left) -> Function {
    let mut out = Function { checks: false, body: Vec::new(), ..function.clone() };
    let body = Plain { out: &mut out, left }.block(&function.body);
    Function { body, ..out }
}

struct Plain<'f> {
    out: &'f mut Function,
    left: Left,
}

impl Plain<'_> {
    fn has_posts(&self) -> bool {
        matches!(self.left, Left::Posts | Left::All)
    }

    fn block(&mut self, statements: &[Stmt]) -> Block {
        statements.iter().flat_map(|s| self.stmt(s)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Block {
        let kind = match &stmt.kind {
            StmtKind::Compute { compute, body } => {
                let mut all = self.block(compute);
                all.extend(self.block(body));
                let mut undo = self.block(&inverse_block(compute));
                fresh_names(self.out, &mut undo);
                all.extend(undo);
                return all;
            }
            StmtKind::Inverse { body } => {
                let inverse = inverse_block(body);
                return self.block(&inverse);
            }
            StmtKind::Unchecked { body } => match self.left {
                Left::All => {
                    self.left = Left::Nothing;
                    let body = self.block(body);
                    self.left = Left::All;
                    StmtKind::Unchecked { body }
                }
                Left::Posts | Left::Uncomputed | Left::Nothing => return self.block(body),
            },
            StmtKind::Release { .. } => match self.left {
                Left::All => stmt.kind.clone(),
                Left::Posts | Left::Uncomputed | Left::Nothing => return Vec::new(),
            },
            StmtKind::Ancilla { var, init, release, body } => {
                let release = match (self.left, release) {
                    (Left::All, _) | (Left::Posts | Left::Uncomputed, Release::Uncomputed) => *release,
                    (Left::Posts | Left::Uncomputed | Left::Nothing, _) => Release::Dropped,
                };
                StmtKind::Ancilla { var: *var, init: init.clone(), release, body: self.block(body) }
            }
            StmtKind::If { cond, post, then, otherwise } => {
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                StmtKind::If {
                    cond: cond.clone(),
                    post: post.clone().filter(|_| self.has_posts()),
                    then,
                    otherwise,
                }
            }
            StmtKind::While { cond, post, body } => {
                let post = if self.has_posts() { post.clone() } else { Expr::bool(true) };
                StmtKind::While { cond: cond.clone(), post, body: self.block(body) }
            }
            StmtKind::Let { var, expr, body } => {
                StmtKind::Let { var: *var, expr: expr.clone(), body: self.block(body) }
            }
            StmtKind::For { var, range, parallel, body } => {
                let body = self.block(body);
                let parallel = parallel.as_ref().map(|declared| declared.about(&body));
                StmtKind::For { var: *var, range: range.clone(), parallel, body }
            }
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Call { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::External { .. } => stmt.kind.clone(),
        };
        vec![Stmt { kind, span: stmt.span }]
    }
}
