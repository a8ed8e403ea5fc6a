//! Terms kept apart. In the one order of the deterministic mode an iteration's terms are added one by one to
//! what the iterations before it made: which needs one thread for a block of the tree. Instead each
//! iteration, in a thread of its own, keeps its terms in memory, and a thread for each block (or for each
//! element in a block) adds them up in that order. A product that is added with one rounding is kept as
//! its factors.
//!
//! While an iteration is lowered, the registers of a sum stand for it and hold nothing; what would be added to
//! them is assigned to a register of its own. That doesn't work inside loops, and where the registers are
//! read: the sum is then added up otherwise.

use std::collections::HashMap;

use rev_core::ir::ScalarType;
use rev_core::tree;

use crate::kernel::{Inst, Op, Operand, Reg, Ty};
use crate::plan::{BufferId, Step, Word};

use super::super::atom::Atom;
use super::super::memory::{ArrayLoc, Loc};
use super::super::parallel::divided_up;
use super::super::quotients::result;
use super::super::signs;
use super::super::types::ArgumentType;
use super::super::value::{Num, Val};
use super::super::{Lower, Outcome};
use super::{ParallelLoop, Sum};

/// The most terms of an iteration, all sums together, that are kept.
const MOST: usize = 128;

/// A term that an iteration adds to a number.
#[derive(Clone, Copy, Debug)]
enum Term {
    Plain(Reg),
    /// Two factors.
    Product([Reg; 2]),
}

impl Term {
    /// Its registers, and what they hold where nothing is added: adding -0 changes nothing, not even a zero.
    fn registers(&self) -> Vec<(Reg, bool)> {
        match self {
            Term::Plain(reg) => vec![(*reg, true)],
            Term::Product([a, b]) => vec![(*a, false), (*b, true)],
        }
    }
}

/// The terms of the iteration that is being made, by the register that stands for the number that they are
/// added to.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Records {
    terms: HashMap<Reg, Vec<Term>>,
    /// Whether an iteration is being made: registers of other kernels have the same numbers.
    open: bool,
    /// Whether something is done with a sum that can't be kept.
    pub failed: bool,
}

impl Records {
    fn stands(&self, atom: &Atom) -> Option<Reg> {
        match atom {
            Atom::Reg(reg, _) => self.terms.contains_key(reg).then_some(*reg),
            Atom::Const(..) | Atom::Word(..) | Atom::Buffer(_) => None,
        }
    }

    fn terms_of<'a>(&'a self, own: &'a Val) -> impl Iterator<Item = (usize, Term)> + 'a {
        let each = own.atoms().into_iter().enumerate();
        each.flat_map(move |(leaf, atom)| {
            let terms = self.stands(&atom).and_then(|reg| self.terms.get(&reg)).cloned().unwrap_or_default();
            terms.into_iter().map(move |term| (leaf, term))
        })
    }
}

impl Lower<'_> {
    /// Registers that stand for a sum.
    pub(super) fn open_records(&mut self, sum: &mut Sum) -> Outcome<Loc> {
        let own = self.zero_registers(&sum.kind)?;
        if let Loc::Registers(val) = &own {
            for atom in val.atoms() {
                if let Atom::Reg(reg, _) = atom {
                    self.records.terms.insert(reg, Vec::new());
                }
            }
        }
        sum.own = Some(own.clone());
        Ok(own)
    }

    /// The same for what is added up block by block, of the tree.
    pub(super) fn open_blocks(&mut self, sum: &mut Sum, of: &ParallelLoop) -> Outcome<Loc> {
        self.keep_terms(sum, of);
        let name = format!("{}_blocks", self.name(sum.var));
        let buffer = self.new_buffer(&name, &sum.kind, 1);
        let blocks = divided_up(of.n.clone(), tree::BLOCK as i64);
        self.step_host(Step::Allocate { buffer, shape: vec![blocks.clone()] });
        let mut partial = self.whole_array(buffer, &sum.kind, &blocks)?;
        partial.shape.clear();
        sum.partial = Some((buffer, partial));
        self.open_records(sum)
    }

    /// Memory for what iterations keep; what that is isn't known yet.
    pub(super) fn keep_terms(&mut self, sum: &mut Sum, of: &ParallelLoop) {
        let name = format!("{}_terms", self.name(sum.var));
        let buffer = self.new_buffer(&name, &sum.kind, 1);
        self.step_host(Step::Allocate { buffer, shape: vec![of.n.clone()] });
        sum.kept = Some(buffer);
    }

    /// Whether a value stands for a sum whose terms are kept.
    pub fn is_recorded(&self, own: &Val) -> bool {
        let atoms = own.atoms();
        self.records.open && !atoms.is_empty() && atoms.iter().all(|a| self.records.stands(a).is_some())
    }

    /// Keeps a term, of the sum's type.
    pub fn keep(&mut self, own: &Val, add: bool, value: &Val) -> Outcome<()> {
        for (own, value) in own.atoms().iter().zip(value.atoms()) {
            let value = if add { value } else { self.op(Op::Neg, value.ty(), &[value])? };
            let term = Term::Plain(self.kept(&value)?);
            self.add_term(own, term);
        }
        Ok(())
    }

    /// Keeps the factors of a product that is added with one rounding, of each cotangent.
    pub fn keep_product(&mut self, add: bool, own: &Num, a: &Num, b: &Num) -> Outcome<()> {
        if own.complex || b.parts.len() != 1 || a.parts.len() != own.parts.len() {
            self.records.failed = true;
            return Ok(());
        }
        for (own, a) in own.parts.iter().zip(&a.parts) {
            let a = if add { a.clone() } else { self.op(Op::Neg, a.ty(), std::slice::from_ref(a))? };
            let term = Term::Product([self.kept(&a)?, self.kept(&b.parts[0])?]);
            self.add_term(own, term);
        }
        Ok(())
    }

    fn kept(&mut self, value: &Atom) -> Outcome<Reg> {
        let builder = self.builder()?;
        let reg = builder.later(value.ty(), "term");
        builder.assign(reg, value);
        Ok(reg)
    }

    fn add_term(&mut self, own: &Atom, term: Term) {
        let terms = self.records.stands(own).and_then(|reg| self.records.terms.get_mut(&reg));
        if let Some(terms) = terms {
            terms.push(term);
        }
    }

    /// Before an iteration whose terms are kept.
    pub fn begin_recorded(&mut self) -> Outcome<()> {
        self.records.open = true;
        self.builder()?.begin();
        Ok(())
    }

    /// Emits an iteration whose terms are kept; where they can't be, that is noted.
    pub fn end_recorded(&mut self) -> Outcome<()> {
        self.records.open = false;
        let iteration = self.builder()?.end();
        let terms: Vec<Term> = self.records.terms.values().flatten().copied().collect();
        let mut slots: Vec<(Reg, bool)> = terms.iter().flat_map(Term::registers).collect();
        slots.sort_unstable();
        let mut failed = slots.len() > MOST;
        signs::visit(&iteration, &mut |inst| {
            signs::reads(inst, &mut |reg| failed |= self.records.terms.contains_key(&reg));
            failed |= result(inst).is_some_and(|reg| self.records.terms.contains_key(&reg));
            if let Inst::Loop { before, body, .. } = inst {
                let mut assigned = |inst: &Inst| {
                    let kept = |reg: Reg| slots.binary_search_by_key(&reg, |s| s.0).is_ok();
                    failed |= matches!(inst, Inst::Op { to, .. } if kept(*to));
                };
                signs::visit(before, &mut assigned);
                signs::visit(body, &mut assigned);
            }
        });
        self.records.failed |= failed;
        let builder = self.builder()?;
        for (to, last) in slots {
            let ty = builder.kernel.ty(to);
            let sign = if last { 1 << (8 * ty.size() - 1) } else { 0 };
            builder.emit(Inst::Op { to, op: Op::Move, args: vec![Operand::Const(sign, ty)] });
        }
        iteration.into_iter().for_each(|inst| builder.emit(inst));
        Ok(())
    }

    /// What an iteration keeps of a sum, as one value in memory.
    fn kept_kind(&self, sum: &Sum) -> ArgumentType {
        let Some(Loc::Registers(own)) = &sum.own else { return ArgumentType::Tuple(Vec::new()) };
        let leaves = sum.kind.leaves();
        let scalar = |leaf: usize| match leaves.get(leaf) {
            Some(Ty::F32) => ArgumentType::Scalar(ScalarType::F32),
            _ => ArgumentType::Scalar(ScalarType::F64),
        };
        let terms = self.records.terms_of(own);
        ArgumentType::Tuple(
            terms.flat_map(|(leaf, t)| t.registers().into_iter().map(move |_| leaf)).map(scalar).collect(),
        )
    }

    /// Keeps the terms of iteration `k` of `n`.
    pub(super) fn keep_records(&mut self, sum: &Sum, terms: BufferId, n: &Word, k: &Atom) -> Outcome<()> {
        let Some(Loc::Registers(own)) = &sum.own else { return Ok(()) };
        let kind = self.kept_kind(sum);
        self.plan.buffers[terms.0 as usize].leaves = kind.leaves();
        let array = self.kept_array(sum, terms, n)?;
        let kept: Vec<Term> = self.records.terms_of(own).map(|(_, term)| term).collect();
        let atoms = kept.iter().flat_map(Term::registers);
        let atoms: Vec<Atom> = {
            let kernel = &self.builder()?.kernel;
            atoms.map(|(reg, _)| Atom::Reg(reg, kernel.ty(reg))).collect()
        };
        let Some(zero) = Val::zero(&kind) else { return Ok(()) };
        let mut atoms = atoms.into_iter();
        let value = zero.map(&mut |old| atoms.next().unwrap_or_else(|| old.clone()));
        let to = self.element(&array, k)?;
        self.store(&to, value)
    }

    /// What all iterations keep.
    pub(super) fn kept_array(&mut self, sum: &Sum, terms: BufferId, n: &Word) -> Outcome<ArrayLoc> {
        let kind = self.kept_kind(sum);
        self.whole_array(terms, &kind, n)
    }

    /// Adds what an iteration kept to a total in registers, in order.
    pub(super) fn replay(&mut self, sum: &Sum, total: &Loc, kept: &Val) -> Outcome<()> {
        let (Some(Loc::Registers(own)), Loc::Registers(total)) = (&sum.own, total) else { return Ok(()) };
        let order: Vec<(usize, Term)> = self.records.terms_of(own).collect();
        let (totals, mut kept) = (total.atoms(), kept.atoms().into_iter());
        for (leaf, term) in order {
            let Some(total) = totals.get(leaf) else { continue };
            let sum = match (term, kept.next()) {
                (Term::Plain(_), Some(v)) => self.op(Op::Add, total.ty(), &[total.clone(), v])?,
                (Term::Product(_), Some(a)) => {
                    let b = kept.next().unwrap_or_else(|| a.clone());
                    self.op(Op::Fma, total.ty(), &[a, b, total.clone()])?
                }
                (_, None) => continue,
            };
            self.assign(total, &sum)?;
        }
        Ok(())
    }

    /// Adds up the terms of each block of the tree, in a thread each.
    pub(super) fn add_blocks(&mut self, n: &Word, sums: &[Sum]) -> Outcome<()> {
        for sum in sums {
            let (true, Some(terms), Some((buffer, partial))) = (sum.is_tree(), sum.kept, &sum.partial) else {
                continue;
            };
            let blocks = divided_up(n.clone(), tree::BLOCK as i64);
            self.threads_kernel("blocks", &blocks, |l, own| {
                let array = l.kept_array(sum, terms, n)?;
                let size = Atom::index(tree::BLOCK);
                let first = l.op(Op::Mul, Ty::U64, &[own.clone(), size.clone()])?;
                let end = l.op(Op::Add, Ty::U64, &[first.clone(), size])?;
                let end = l.op(Op::Min, Ty::U64, &[end, Atom::from_word(n.clone(), Ty::U64)])?;
                let total = l.zero_registers(&sum.kind)?;
                let k = l.variable(&first, "k")?;
                l.counted(&k, &end, &Atom::index(1), |l| {
                    let at = l.element(&array, &k)?;
                    let kept = l.load(&at)?;
                    l.replay(sum, &total, &kept)
                })?;
                let all = l.whole_array(*buffer, &partial.kind, &blocks)?;
                let (to, total) = (l.element(&all, own)?, l.load(&total)?);
                l.store(&to, total)
            })?;
        }
        Ok(())
    }
}
