//! A parallel loop that is all that another one does: a kernel with a thread for each pair of their iterations, not for
//! each iteration of the outer one. The outer loop's index runs fastest, as the first axis of an array does in memory.
//!
//! Only where sums may have any order. Where all iterations of the inner loop add to one element of the outer iteration, one
//! thread adds them up as before.

use std::collections::BTreeMap;

use rev_core::facts::{Accumulated, ParallelFacts, PlaceClass};
use rev_core::ir::{Block, Expr, Parallel, Stmt, StmtKind, VarId};

use crate::kernel::{Op, Ty};
use crate::plan::{Word, WordOp};

use super::atom::Atom;
use super::loops::Visits;
use super::parallel::binary;
use super::spread::is_numbers;
use super::{Lower, Outcome};

/// The loops of a kernel but for the outermost.
#[derive(Default)]
pub(super) struct Nest {
    /// Their variables, what they visit and how often, from outside.
    pub loops: Vec<(VarId, Visits, Word)>,
    /// What is done at an iteration of all of them.
    pub body: Block,
    /// What is known about the variables.
    pub facts: ParallelFacts,
}

impl Lower<'_> {
    /// The loops inside a parallel loop with which it is one kernel.
    pub fn nest(&mut self, outer: VarId, body: &Block, facts: ParallelFacts) -> Outcome<Nest> {
        let mut nest = Nest { loops: Vec::new(), body: body.clone(), facts };
        if !self.any_order || self.asserts() || body.iter().any(|s| self.has_arrays(s)) {
            return Ok(nest);
        }
        let mut bound = vec![outer];
        while let Some(inner) = only_loop(&nest.body, &nest.facts, &mut bound) {
            let StmtKind::For { var, range, body, .. } = &inner.kind else { break };
            let fixed = |e: &Expr| reads_only(e, &|var| !bound.contains(&var));
            let outside = fixed(&range.start) && fixed(&range.end) && range.step.as_ref().is_none_or(fixed);
            let Some(visits) = (if outside { self.attempt(|l| l.visits(*var, range))? } else { None }) else {
                break;
            };
            let [Some(_), Some(_), Some(count)] =
                [&visits.first, &visits.step, &visits.count].map(Atom::word)
            else {
                break;
            };
            let Ok(facts) = self.facts(inner) else { break };
            let function = self.frame()?.function.clone();
            let shared = |var: VarId| function.as_ref().is_some_and(|f| is_numbers(&f.var(var).ty));
            let Some(facts) = both(&nest.facts, &facts, &shared) else { break };
            let (var, inside) = (*var, body.clone());
            bound.push(var);
            nest.loops.push((var, visits, binary(WordOp::Max, count, Word::Const(0))));
            nest = Nest { body: replaced(&nest.body, &inside), facts, ..nest };
        }
        Ok(nest)
    }

    /// Something for iteration `k` of the outermost of some loops, of which there are `n`, and of the others.
    pub fn at_iterations(
        &mut self,
        (var, visits, n): (VarId, &Visits, &Word),
        inner: &[(VarId, Visits, Word)],
        k: &Atom,
        inside: &mut dyn FnMut(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        let Some(((next, next_visits, count), inner)) = inner.split_first() else {
            return self.at_iteration(var, visits, k, inside);
        };
        let n = Atom::from_word(n.clone(), Ty::U64);
        let own = self.op(Op::Rem, Ty::U64, &[k.clone(), n.clone()])?;
        let rest = self.op(Op::Div, Ty::U64, &[k.clone(), n])?;
        self.at_iteration(var, visits, &own, |l| {
            l.at_iterations((*next, next_visits, count), inner, &rest, inside)
        })
    }
}

/// The parallel loop that is all that a block does, inside of bindings, whose variables are noted. Each thread computes these
/// anew, so they may read nothing that the loop writes.
fn only_loop<'a>(block: &'a Block, facts: &ParallelFacts, bound: &mut Vec<VarId>) -> Option<&'a Stmt> {
    let [only] = block.as_slice() else { return None };
    match &only.kind {
        StmtKind::For { parallel: Some(declared), .. } => (*declared == Parallel::default()).then_some(only),
        StmtKind::Let { var, expr, body } => {
            let stays =
                |var| matches!(facts.classes.get(&var), Some(PlaceClass::ReadOnly | PlaceClass::Private));
            bound.push(*var);
            reads_only(expr, &stays).then(|| only_loop(body, facts, bound))?
        }
        _ => None,
    }
}

/// Whether all that an expression reads is of some variables.
fn reads_only(e: &Expr, of: &dyn Fn(VarId) -> bool) -> bool {
    let mut all = true;
    e.each_read(&mut |place| all &= of(place.var));
    all
}

/// A block with the body of its only loop in the loop's place.
fn replaced(block: &Block, with: &Block) -> Block {
    let mut block = block.clone();
    match block.first_mut().map(|only| &mut only.kind) {
        Some(StmtKind::Let { body, .. }) => *body = replaced(body, with),
        _ => block.clone_from(with),
    }
    block
}

/// What is known about the variables of two loops as one, some of which threads can share.
fn both(
    outer: &ParallelFacts,
    inner: &ParallelFacts,
    shared: &dyn Fn(VarId) -> bool,
) -> Option<ParallelFacts> {
    use PlaceClass::{Owned, Private, ReadOnly};
    let one = |(var, class): (&VarId, &PlaceClass)| {
        let class = match (class, inner.classes.get(var)) {
            (Private, _) => Private,
            (ReadOnly, None | Some(ReadOnly)) => ReadOnly,
            (Owned { declared: a }, Some(Owned { declared: b })) => Owned { declared: *a || *b },
            (Owned { .. }, Some(PlaceClass::Accumulated(how))) if !how.uniform && shared(*var) => {
                PlaceClass::Accumulated(how.clone())
            }
            (PlaceClass::Accumulated(how), Some(Owned { .. })) => {
                PlaceClass::Accumulated(Accumulated { uniform: false, ..how.clone() })
            }
            (PlaceClass::Accumulated(how), Some(PlaceClass::Accumulated(_))) => {
                PlaceClass::Accumulated(how.clone())
            }
            _ => return None,
        };
        Some((*var, class))
    };
    let classes = outer.classes.iter().map(one).collect::<Option<BTreeMap<_, _>>>()?;
    Some(ParallelFacts { classes })
}
