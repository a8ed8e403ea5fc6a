//! Loops that are parallel without saying so. What the host has to do between parallel loops is the work of one
//! thread; a loop in it whose iterations each write elements of their own, and add to nothing that others add to, becomes
//! a kernel of many threads. Every number is computed as before, so that the bits stay. Where sums may have any order, so
//! does a loop whose iterations add to the same.

use std::collections::BTreeSet;

use rev_core::facts::{self, PlaceClass};
use rev_core::ir::{Block, Callee, Expr, ExprKind, Function, Module, Parallel, Range, Stmt, StmtKind};
use rev_core::ir::{Mode, Type, VarId, VarKind};
use rev_core::pass;

/// The number of iterations, where it is known, from which on a kernel is worth its launch.
const FEWEST: u64 = 64;

/// Declares such loops of a function, which was made from the one named, parallel, and says whether there are any. Those
/// in loops and branches of the host are left as they are: to decide these it would have to wait for the GPU.
pub(super) fn spread(module: &Module, source: &str, function: &mut Function, any_order: bool) -> bool {
    let mut body = std::mem::take(&mut function.body);
    function.body.clone_from(&body);
    let known =
        function.params.iter().copied().filter(|p| function.var(*p).kind == VarKind::Param(Mode::Read));
    let known = known.collect();
    let mut spread = Spread { module, source, function, known, any_order, any: false };
    spread.block(&mut body);
    let any = spread.any;
    function.body = body;
    any
}

struct Spread<'a> {
    module: &'a Module,
    source: &'a str,
    function: &'a Function,
    /// What the host knows before any kernel has run.
    known: BTreeSet<VarId>,
    any_order: bool,
    any: bool,
}

impl Spread<'_> {
    fn block(&mut self, block: &mut Block) {
        block.iter_mut().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        let independent = matches!(stmt.kind, StmtKind::For { parallel: None, .. }) && self.independent(stmt);
        match &mut stmt.kind {
            StmtKind::For { parallel, .. } => {
                if independent {
                    *parallel = Some(Parallel::default());
                    self.any = true;
                }
            }
            StmtKind::Let { var, expr, body } => {
                if self.is_known(expr) {
                    self.known.insert(*var);
                }
                self.block(body);
            }
            StmtKind::Ancilla { body, .. } | StmtKind::Unchecked { body } | StmtKind::Inverse { body } => {
                self.block(body)
            }
            StmtKind::Compute { compute, body } => {
                self.block(compute);
                self.block(body);
            }
            StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Call { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. } => {}
        }
    }

    fn independent(&self, stmt: &Stmt) -> bool {
        let StmtKind::For { range, body, .. } = &stmt.kind else { return false };
        let worth = facts::trips(self.function, range).is_none_or(|n| n >= FEWEST);
        worth
            && self.counted_by_the_host(range)
            && self.small(body, self.source, &mut Vec::new())
            && self.apart(stmt)
    }

    /// Whether every element that an iteration writes is its own, or a sum.
    fn apart(&self, stmt: &Stmt) -> bool {
        let own = |class: &PlaceClass| match class {
            PlaceClass::Private | PlaceClass::ReadOnly | PlaceClass::Owned { .. } => true,
            PlaceClass::Accumulated(_) | PlaceClass::Parts(_) => false,
        };
        let summed = |var: VarId, class: &PlaceClass| {
            matches!(class, PlaceClass::Accumulated(_))
                && self.any_order
                && is_numbers(&self.function.var(var).ty)
        };
        let all_own = |(var, class): (&VarId, &PlaceClass)| match class {
            PlaceClass::Parts(parts) => parts.iter().all(|(_, class)| own(class)),
            class => own(class) || summed(*var, class),
        };
        facts::classify(self.function, stmt).is_ok_and(|facts| facts.classes.iter().all(all_own))
    }

    fn counted_by_the_host(&self, range: &Range) -> bool {
        [Some(&range.start), Some(&range.end), range.step.as_ref()]
            .into_iter()
            .flatten()
            .all(|e| self.is_known(e))
    }

    fn is_known(&self, expr: &Expr) -> bool {
        let mut known = true;
        expr.each_read(&mut |place| known &= place.path.is_empty() && self.known.contains(&place.var));
        known
    }

    /// Whether nothing in it has arrays or stacks of its own, which each thread would need, or loops that are
    /// parallel themselves.
    fn small<'a>(&'a self, block: &'a Block, caller: &'a str, seen: &mut Vec<&'a str>) -> bool {
        block.iter().all(|stmt| {
            let own = match &stmt.kind {
                StmtKind::For { parallel, .. } => parallel.is_none(),
                StmtKind::Call { callee: Callee::Param(_), .. } => false,
                StmtKind::Call { callee: Callee::Path(path), .. } => {
                    self.small_callee(caller, path.as_str(), seen)
                }
                StmtKind::Push { .. } | StmtKind::Pop { .. } => false,
                StmtKind::Let { expr, .. } | StmtKind::Ancilla { init: expr, .. } => !matches!(
                    expr.kind,
                    ExprKind::Fill(..)
                        | ExprKind::EmptyStack
                        | ExprKind::ZeroShadow(_)
                        | ExprKind::ZeroLike(_)
                ),
                StmtKind::Update { .. }
                | StmtKind::Instr { .. }
                | StmtKind::If { .. }
                | StmtKind::While { .. }
                | StmtKind::Compute { .. }
                | StmtKind::Release { .. }
                | StmtKind::External { .. }
                | StmtKind::Unchecked { .. }
                | StmtKind::Inverse { .. } => true,
            };
            own && !pass::has_contraction(stmt)
                && stmt.blocks().into_iter().all(|b| self.small(b, caller, seen))
        })
    }

    fn small_callee<'a>(&'a self, caller: &'a str, path: &'a str, seen: &mut Vec<&'a str>) -> bool {
        let name = self.module.resolve(caller, path);
        let Some(callee) = self.module.functions.get(name) else { return false };
        seen.contains(&name) || {
            seen.push(name);
            self.small(&callee.body, name, seen)
        }
    }
}

/// Whether a type is one of numbers that threads can share, or of a parameter that stands for one.
pub(super) fn is_numbers(ty: &Type) -> bool {
    match ty {
        Type::Scalar(scalar) => scalar.bits() < 128,
        Type::Generic(_) => true,
        Type::Complex(of) | Type::Array(of, _) | Type::Fixed(of, _) | Type::Shadow(of) => is_numbers(of),
        Type::Tuple(_) | Type::Struct(..) | Type::Stack(_) | Type::Function(_) | Type::Unknown => false,
    }
}
