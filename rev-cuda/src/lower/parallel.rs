//! A parallel loop as a kernel: one thread for each iteration, or each thread several of them where
//! it keeps something from one to the next; in the deterministic mode one thread for each block of
//! the tree.

use rev_core::facts::{self, Conflict};
use rev_core::ir::{Block, Parallel, Range, ScalarType, Stmt, VarId};
use rev_core::plan::Owned;
use rev_core::tree;

use crate::kernel::{Inst, Op, Relation, Ty};
use crate::plan::{Word, WordOp};

use super::atom::Atom;
use super::builder::Builder;
use super::loops::Visits;
use super::memory::Loc;
use super::nested::Nest;
use super::sums::{ParallelLoop, Sum};
use super::value::Val;
use super::{Lower, Outcome};

/// The largest number of blocks of a kernel whose threads have arrays of their own in memory.
const SCRATCH_BLOCKS: i64 = 512;

impl Lower<'_> {
    /// A parallel loop around which only the host's statements stand.
    pub fn parallel_loop(
        &mut self,
        stmt: &Stmt,
        var: VarId,
        range: &Range,
        declared: &Parallel,
        body: &Block,
    ) -> Outcome<()> {
        let visits = self.host_visits(var, range)?;
        self.check_injective(declared)?;
        self.flush()?;
        let n = self.host_word(&visits.count)?;
        self.measure(var, &visits, &n, body)?;
        let facts = self.facts(stmt)?;
        let nest = match declared.injective.is_empty() && declared.disjoint.is_empty() {
            true => self.nest(var, body, facts)?,
            false => Nest { loops: Vec::new(), body: body.clone(), facts },
        };
        let inner = &nest.loops[..];
        let outer = match inner.is_empty() {
            true => n,
            false => binary(WordOp::Max, n, Word::Const(0)),
        };
        let n = inner.iter().fold(outer.clone(), |n, (.., count)| binary(WordOp::Mul, n, count.clone()));
        self.frame_mut()?.disjoint.clone_from(&declared.disjoint);
        self.frame_mut()?.owned.enter(&nest.facts);
        let (barriers, records) = (true, self.options.deterministic);
        let (visits, body, facts) = (&visits, &nest.body, &nest.facts);
        let mut of = ParallelLoop { stmt, var, visits, outer, inner, n, body, facts, barriers, records };
        let before = self.save();
        while let Some(without) = self.loop_kernels(&of)? {
            match without {
                Without::Barriers => of.barriers = false,
                Without::Records => of.records = false,
            }
            self.restore(before.clone());
        }
        self.frame_mut()?.disjoint.clear();
        self.frame_mut()?.owned = Owned::default();
        self.host_check_visits(var, range, visits)
    }

    /// The kernels of a loop; or what they have to do without, where they may not be used.
    fn loop_kernels(&mut self, of: &ParallelLoop) -> Outcome<Option<Without>> {
        let mut sums = self.sums(of)?;
        let redirects = self.frame()?.redirects.len();
        let without = if sums.iter().any(Sum::is_by_blocks) {
            self.by_blocks(of, &mut sums)?
        } else {
            self.by_iterations(of, &mut sums)?
        };
        self.frame_mut()?.redirects.truncate(redirects);
        if without.is_none() {
            self.finish_sums(&of.n, &sums)?;
        }
        Ok(without)
    }

    /// What is known about the variables of a parallel loop.
    pub fn facts(&mut self, stmt: &Stmt) -> Outcome<facts::ParallelFacts> {
        let Some(function) = self.frame()?.function.clone() else {
            return Err(self.unsupported("a parallel loop in a pure function"));
        };
        facts::classify(&function, stmt).map_err(|conflicts: Vec<Conflict>| {
            let place = conflicts.first().map(|c| self.name(c.write.place.var)).unwrap_or_default();
            self.unsupported(format!("a parallel loop whose iterations may meet in `{place}`"))
        })
    }

    fn new_kernel(&self) -> Builder {
        let (name, title) = self.kernel_name("par");
        Builder::new(name, title, self.options.block)
    }

    fn by_iterations(&mut self, of: &ParallelLoop, sums: &mut [Sum]) -> Outcome<Option<Without>> {
        let block = i64::from(self.options.block);
        let most = Word::Const(i64::from(self.options.max_blocks).min(SCRATCH_BLOCKS));
        let blocks = binary(WordOp::Min, divided_up(of.n.clone(), block), most.clone());
        self.scratch = binary(WordOp::Mul, blocks, Word::Const(block));
        self.builder = Some(self.new_kernel());
        self.open_sums(of, sums, None)?;
        let (own, all) = self.builder()?.threads();
        let k = self.variable(&own, "k")?;
        self.builder()?.begin();
        let end = Atom::from_word(of.n.clone(), Ty::U64);
        let inside = self.compare(Relation::Lt, &k, &end);
        let before = self.builder()?.end();
        self.builder()?.begin();
        let done = self.one_iteration(of, &k, sums);
        let mut body = self.builder()?.end();
        done?;
        let inside = self.builder()?.operand(&inside?);
        let has_scratch = !self.builder()?.allocations.is_empty();
        let strides = has_scratch || sums.iter().any(Sum::strides);
        if strides {
            self.builder()?.begin();
            let next = self.op(Op::Add, Ty::U64, &[k.clone(), all])?;
            self.assign(&k, &next)?;
            body.extend(self.builder()?.end());
            self.builder()?.emit(Inst::Loop { before, cond: inside, body });
        } else {
            before.into_iter().for_each(|inst| {
                if let Some(b) = &mut self.builder {
                    b.emit(inst)
                }
            });
            self.builder()?.emit(Inst::If { cond: inside, then: body, otherwise: Vec::new() });
        }
        let max_blocks = match (strides, has_scratch) {
            (true, true) => Some(most),
            (true, false) => Some(self.most_blocks(of, sums)),
            (false, _) => None,
        };
        self.close_kernel(sums, of.n.clone(), max_blocks)
    }

    /// What the threads do at the end, and the launch; or why the kernel may not be used.
    fn close_kernel(
        &mut self,
        sums: &[Sum],
        threads: Word,
        max_blocks: Option<Word>,
    ) -> Outcome<Option<Without>> {
        if self.builder()?.fails && sums.iter().any(Sum::needs_barriers) {
            return Ok(Some(Without::Barriers));
        }
        if self.records.failed {
            return Ok(Some(Without::Records));
        }
        self.close_sums(sums)?;
        let Some(builder) = self.builder.take() else { return Ok(None) };
        self.launch(builder, threads, max_blocks);
        Ok(None)
    }

    /// The `k`-th iteration.
    fn one_iteration(&mut self, of: &ParallelLoop, number: &Atom, sums: &[Sum]) -> Outcome<()> {
        self.begin_iteration(sums)?;
        let recorded = sums.iter().any(Sum::is_recorded);
        if recorded {
            self.begin_recorded()?;
        }
        let done = self.at_iterations((of.var, of.visits, &of.outer), of.inner, number, &mut |l| {
            l.open_claims(number)?;
            l.open_fresh(of.facts)?;
            l.block(of.body)?;
            l.frame_mut()?.claims.clear();
            l.close_fresh()?;
            Ok(())
        });
        if recorded {
            self.end_recorded()?;
        }
        done?;
        self.end_iteration(of, sums, number)
    }

    /// Something for the `k`-th iteration.
    pub fn at_iteration(
        &mut self,
        var: VarId,
        visits: &Visits,
        k: &Atom,
        inside: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        let k = self.converted(k, ScalarType::U64, visits.scalar)?;
        let ty = visits.first.ty();
        let value = if visits.step.integer() == Some(1) {
            k
        } else {
            self.op(Op::Mul, ty, &[k, visits.step.clone()])?
        };
        let value = self.op(Op::Add, ty, &[value, visits.first.clone()])?;
        let name = self.name(var);
        self.set_slot(var, Some(Loc::Value(Val::real(visits.scalar, value.clone()))))?;
        self.within_loop(&name, value, inside)?;
        self.set_slot(var, None)
    }

    /// One thread for each block of [`rev_core::tree`], which adds its iterations in order.
    fn by_blocks(&mut self, of: &ParallelLoop, sums: &mut [Sum]) -> Outcome<Option<Without>> {
        let blocks = divided_up(of.n.clone(), tree::BLOCK as i64);
        let block = i64::from(self.options.block);
        let launched = divided_up(blocks.clone(), block);
        self.scratch = binary(WordOp::Mul, launched, Word::Const(block));
        self.builder = Some(self.new_kernel());
        self.open_sums(of, sums, Some(&blocks))?;
        let (own, _) = self.builder()?.threads();
        let inside = self.compare(Relation::Lt, &own, &Atom::from_word(blocks.clone(), Ty::U64))?;
        self.builder()?.begin();
        let done = self.tree_block(of, &own, sums);
        let then = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&inside);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        self.close_kernel(sums, blocks, None)
    }

    fn tree_block(&mut self, of: &ParallelLoop, own: &Atom, sums: &[Sum]) -> Outcome<()> {
        let size = Atom::index(tree::BLOCK);
        let first = self.op(Op::Mul, Ty::U64, &[own.clone(), size.clone()])?;
        let end = self.op(Op::Add, Ty::U64, &[first.clone(), size])?;
        let n = Atom::from_word(of.n.clone(), Ty::U64);
        let end = self.op(Op::Min, Ty::U64, &[end, n])?;
        let k = self.variable(&first, "k")?;
        self.counted(&k, &end, &Atom::index(1), |l| l.one_iteration(of, &k, sums))?;
        self.close_tree_block(sums)
    }
}

/// What kernels of a loop can't have.
enum Without {
    /// A thread can fail, and would be missed at a barrier.
    Barriers,
    /// What is done with a sum can't be kept term by term.
    Records,
}

pub(super) fn binary(op: WordOp, a: Word, b: Word) -> Word {
    Word::Binary(op, Box::new(a), Box::new(b))
}

/// `a / b`, rounded up.
pub(super) fn divided_up(a: Word, b: i64) -> Word {
    let up = binary(WordOp::Add, a, Word::Const(b - 1));
    binary(WordOp::Div, up, Word::Const(b))
}
