//! The fixed tree of [`rev_core::tree`] inside a thread: the blocks' sums come one after the other, and
//! as few of them as possible are kept.
//!
//! What is kept at level `l` is the sum of earlier blocks whose numbers differ from the current one's
//! in bit `l` first. When block `b` is complete and `next` follows, everything below the first bit in
//! which the two differ is added up, the later to the earlier, and kept at the level of that bit. Blocks
//! in between, if there are any, have nothing to add, which is the same as adding their zeros.

use rev_core::ir::{Axis, Step, Stmt};
use rev_core::tree;

use crate::kernel::{Inst, Op, Relation, Ty};
use crate::plan::{Word, WordOp};

use super::super::atom::Atom;
use super::super::loops::Visits;
use super::super::memory::{ArrayLoc, Loc, MemLoc};
use super::super::parallel::{binary, divided_up};
use super::super::types::ArgumentType;
use super::super::value::Val;
use super::super::{Lower, Outcome};
use super::Sum;

/// Levels of a tree whose size isn't known. A thread of its own never gets to the end of 2⁴⁰
/// iterations.
const LEVELS: usize = 32;

/// A tree in the making.
#[derive(Clone, Debug)]
pub(in super::super) struct Fold {
    /// Bit `l`: something is kept at level `l`.
    kept: Atom,
    /// The sum of the current block, and where earlier ones are kept.
    sums: Vec<(Loc, Kept)>,
}

/// Room for a sum at each level.
#[derive(Clone, Debug)]
enum Kept {
    /// Of a value.
    Value(MemLoc, ArgumentType),
    /// Of an array: the levels are its last axis.
    Array(ArrayLoc, Vec<Atom>),
}

impl Lower<'_> {
    /// A tree for sums of a thread; `blocks` are at most so many, where the host knows.
    pub(super) fn open_fold(&mut self, sums: &[Loc], blocks: Option<Word>) -> Outcome<Fold> {
        let kept = self.variable(&Atom::index(0), "kept")?;
        let sums = sums.iter().map(|own| Ok((own.clone(), self.kept_of(own, blocks.as_ref())?)));
        Ok(Fold { kept, sums: sums.collect::<Outcome<_>>()? })
    }

    fn kept_of(&mut self, own: &Loc, blocks: Option<&Word>) -> Outcome<Kept> {
        if let Loc::Array(a) = own {
            let levels = match blocks {
                Some(n) => binary(WordOp::Min, n.clone(), Word::Const(LEVELS as i64)),
                None => Word::Const(LEVELS as i64),
            };
            let (kind, inner) = (a.kind.clone(), a.shape.clone());
            let shape = inner.iter().cloned().chain([Atom::from_word(levels, Ty::U64)]).collect();
            return Ok(Kept::Array(self.thread_array(None, "kept", &kind, shape)?, inner));
        }
        let Some(kind) = super::kind_of(own) else { return Err(self.unsupported("a sum of arrays")) };
        match self.local(&ArgumentType::Fixed(Box::new(kind.clone()), LEVELS))? {
            Loc::Memory(m) => Ok(Kept::Value(m, kind)),
            _ => Err(self.unsupported("a sum of arrays")),
        }
    }

    /// What is kept at a level.
    fn at_level(&mut self, kept: &Kept, level: &Atom) -> Outcome<Loc> {
        Ok(match kept {
            Kept::Array(a, shape) => {
                let count = self.count(shape)?;
                let first = self.op(Op::Mul, Ty::U64, &[count, level.clone()])?;
                Loc::Array(ArrayLoc { first, shape: shape.clone(), ..a.clone() })
            }
            Kept::Value(m, kind) => {
                let leaves = kind.leaves().len();
                let bytes = self.builder()?.planes_bytes(&m.mem, m.leaf..m.leaf + leaves);
                let extra = Some(self.op(Op::Mul, Ty::U64, &[level.clone(), bytes])?);
                Loc::Memory(MemLoc { extra, kind: kind.clone(), ..m.clone() })
            }
        })
    }

    /// The current block, number `b`, is complete; the next one is `next`. The current sums are kept
    /// and start from zero again.
    pub(super) fn fold_block(&mut self, fold: &Fold, b: &Atom, next: &Atom) -> Outcome<()> {
        let differ = self.op(Op::Xor, Ty::U64, &[b.clone(), next.clone()])?;
        let differ = self.variable(&differ, "differ")?;
        let level = self.variable(&Atom::index(0), "level")?;
        self.builder()?.begin();
        let more = self.compare(Relation::Gt, &differ, &Atom::index(1));
        let before = self.builder()?.end();
        self.builder()?.begin();
        let done = self.take_level(fold, &level).and_then(|()| {
            let half = self.op(Op::Shr, Ty::U64, &[differ.clone(), Atom::Const(1, Ty::U32)])?;
            self.assign(&differ, &half)
        });
        let body = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&more?);
        self.builder()?.emit(Inst::Loop { before, cond, body });
        for (own, kept) in &fold.sums {
            let to = self.at_level(kept, &level)?;
            let value = self.load(own)?;
            self.store(&to, value)?;
            self.clear_sum(own)?;
        }
        let bit = self.bit(&level)?;
        let kept = self.op(Op::Or, Ty::U64, &[fold.kept.clone(), bit])?;
        self.assign(&fold.kept, &kept)
    }

    fn clear_sum(&mut self, own: &Loc) -> Outcome<()> {
        let zero = match own {
            Loc::Array(a) => Val::zero(&a.kind).map(|z| Val::Fill(Box::new(z), a.shape.clone())),
            other => super::kind_of(other).and_then(|k| Val::zero(&k)),
        };
        match zero {
            Some(zero) => self.store(own, zero),
            None => Err(self.unsupported("a sum of arrays")),
        }
    }

    fn bit(&mut self, level: &Atom) -> Outcome<Atom> {
        let level = self.op(Op::Convert, Ty::U32, std::slice::from_ref(level))?;
        self.op(Op::Shl, Ty::U64, &[Atom::index(1), level])
    }

    /// Adds the current sums to what is kept at a level, if anything is: the result is the current
    /// one. Goes on to the next level.
    fn take_level(&mut self, fold: &Fold, level: &Atom) -> Outcome<()> {
        let bit = self.bit(level)?;
        let here = self.op(Op::And, Ty::U64, &[fold.kept.clone(), bit.clone()])?;
        let here = self.compare(Relation::Ne, &here, &Atom::index(0))?;
        self.builder()?.begin();
        let done = self.take_kept(fold, level, &bit);
        let then = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&here);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        let up = self.op(Op::Add, Ty::U64, &[level.clone(), Atom::index(1)])?;
        self.assign(level, &up)
    }

    fn take_kept(&mut self, fold: &Fold, level: &Atom, bit: &Atom) -> Outcome<()> {
        for (own, kept) in &fold.sums {
            let from = self.at_level(kept, level)?;
            let earlier = self.load(&from)?;
            // of two numbers either may come first
            self.accumulate(true, own, earlier)?;
        }
        let rest = self.op(Op::Xor, Ty::U64, &[fold.kept.clone(), bit.clone()])?;
        self.assign(&fold.kept, &rest)
    }

    /// Adds up what is kept, the later to the earlier: the current sums, those of the last block (which
    /// is empty where all others are complete), are the totals then.
    pub fn fold_up(&mut self, fold: &Fold) -> Outcome<()> {
        let level = self.variable(&Atom::index(0), "level")?;
        self.builder()?.begin();
        let more = self.compare(Relation::Ne, &fold.kept, &Atom::index(0));
        let before = self.builder()?.end();
        self.builder()?.begin();
        let done = self.take_level(fold, &level);
        let body = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&more?);
        self.builder()?.emit(Inst::Loop { before, cond, body });
        Ok(())
    }

    /// In the deterministic mode a parallel loop inside a kernel adds up its sums from zero by the
    /// tree, too; where it may have more than one block, with a fold.
    pub fn inner_sums(&mut self, stmt: &Stmt, visits: &Visits) -> Outcome<(Vec<Sum>, Option<Fold>)> {
        let facts = self.facts(stmt)?;
        let mut sums = self.candidates(stmt, &facts)?;
        self.frame_mut()?.owned.enter(&facts);
        sums.retain(|s| !s.is_exact());
        let mut owns = Vec::new();
        for sum in &mut sums {
            Self::narrow_to_element(sum);
            let (own, redirected) = match &sum.target {
                Loc::Array(a) if !sum.narrowed => {
                    let a = a.clone();
                    self.own_array(sum, &a)?
                }
                _ => {
                    let own = self.zero_registers(&sum.kind)?;
                    (own.clone(), own)
                }
            };
            sum.own = Some(own.clone());
            self.redirect(sum, redirected)?;
            owns.push(own);
        }
        let one_block = visits.count.integer().is_some_and(|n| n <= tree::BLOCK as i128);
        if sums.is_empty() || one_block {
            return Ok((sums, None));
        }
        let blocks = visits.count.word().map(|n| divided_up(n, tree::BLOCK as i64));
        let fold = self.open_fold(&owns, blocks)?;
        Ok((sums, Some(fold)))
    }

    /// Where all iterations add to one element of an array, a thread's own sum is that of the element.
    fn narrow_to_element(sum: &mut Sum) {
        let (kind, axes) = match &sum.target {
            Loc::Array(a) => (a.kind.clone(), a.shape.len()),
            Loc::Memory(MemLoc { kind: ArgumentType::Fixed(element, _), .. }) => ((**element).clone(), 1),
            _ => return,
        };
        if sum.prefix == 0 && sum.is_of_one_element(axes) {
            (sum.kind, sum.prefix, sum.narrowed) = (kind, 1, true);
        }
    }

    /// A thread's own sum of an array or of the part of it that is added to, and what stands for the array then: of a part
    /// one that has it at each index along the other axes.
    fn own_array(&mut self, sum: &mut Sum, target: &ArrayLoc) -> Outcome<(Loc, Loc)> {
        let Some(zero) = Val::zero(&target.kind) else { return Err(self.unsupported("a sum of arrays")) };
        let axes = match sum.part.as_ref().and_then(|part| part.path.first()) {
            Some(Step::Part(axes)) if sum.prefix == 0 && axes.len() == target.shape.len() => axes.clone(),
            _ => {
                sum.part = None;
                let own = self.array_storage("sum", None, Val::Fill(Box::new(zero), target.shape.clone()))?;
                return Ok((own.clone(), own));
            }
        };
        let (mut shape, mut strides, mut next) = (Vec::new(), Vec::new(), Atom::index(1));
        for (axis, n) in axes.iter().zip(&target.shape) {
            match axis {
                Axis::At(_) => strides.push(Atom::index(0)),
                Axis::Whole | Axis::Range(..) => {
                    shape.push(n.clone());
                    strides.push(next.clone());
                    next = self.op(Op::Mul, Ty::U64, &[next, n.clone()])?;
                }
            }
        }
        let own = self.array_storage("sum", None, Val::Fill(Box::new(zero), shape))?;
        let Loc::Array(part) = &own else { return Err(self.defect("an array that isn't one")) };
        let all = ArrayLoc { shape: target.shape.clone(), strides: Some(strides), ..part.clone() };
        Ok((own, Loc::Array(all)))
    }

    /// Adds a thread's own sum to its target.
    fn add_own(&mut self, own: &Loc, sum: &Sum) -> Outcome<()> {
        let element = sum.fixed_place().filter(|_| sum.narrowed);
        let part = sum.part.clone().filter(|_| matches!(own, Loc::Array(_)));
        let target = match element.or(part) {
            Some(place) => self.locate_from(sum.target.clone(), &place, 0)?,
            None => sum.target.clone(),
        };
        let owned = &self.frame()?.owned;
        let touched = [owned.only_touched(sum.var, sum.narrowed), owned.declared(sum.var).is_some()];
        match (own, &target) {
            (Loc::Array(own), Loc::Array(target)) => self.each_element(own, |l, k| {
                let (from, to) = (l.element(own, k)?, l.element(target, k)?);
                let (Loc::Memory(to), sum) = (to, l.load(&from)?) else {
                    return Err(l.unsupported("a sum of arrays of arrays"));
                };
                l.add_numbers(&sum, &to, &mut 0, touched)
            }),
            (own, Loc::Memory(to)) => {
                let sum = self.load(own)?;
                self.add_numbers(&sum, to, &mut 0, touched)
            }
            (own, target) => {
                let sum = self.load(own)?;
                self.accumulate(true, target, sum)
            }
        }
    }

    /// Adds a sum to memory from a leaf on, number by number. Only numbers that aren't zero where `touched` says so, and in
    /// arrays of fixed size where `parts` does: others may be other threads'.
    fn add_numbers(
        &mut self,
        sum: &Val,
        to: &MemLoc,
        leaf: &mut usize,
        [touched, parts]: [bool; 2],
    ) -> Outcome<()> {
        match sum {
            Val::Fixed(sums) => {
                sums.iter().try_for_each(|sum| self.add_numbers(sum, to, leaf, [parts, parts]))
            }
            Val::Tuple(sums) => {
                sums.iter().try_for_each(|sum| self.add_numbers(sum, to, leaf, [touched, parts]))
            }
            Val::Struct(_, fields) => {
                fields.iter().try_for_each(|(_, sum)| self.add_numbers(sum, to, leaf, [touched, parts]))
            }
            Val::Num(number) => {
                let Some(kind) = sum.kind() else { return Err(self.unsupported("a sum of these values")) };
                let at = Loc::Memory(MemLoc { leaf: to.leaf + *leaf, kind, ..to.clone() });
                *leaf += number.parts.len();
                if !touched {
                    return self.accumulate(true, &at, sum.clone());
                }
                let mut any = Atom::bool(false);
                for atom in &number.parts {
                    let here = self.compare(Relation::Ne, atom, &Atom::Const(0, atom.ty()))?;
                    any = self.op(Op::Or, Ty::Pred, &[any, here])?;
                }
                let then = self.instructions(|l| l.accumulate(true, &at, sum.clone()))?;
                let cond = self.builder()?.operand(&any);
                self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
                Ok(())
            }
            Val::None => Ok(()),
            _ => Err(self.unsupported("a sum of these values")),
        }
    }

    /// After the iteration that makes it `k` of them: a block may be complete.
    pub fn fold_iteration(&mut self, fold: &Fold, k: &Atom) -> Outcome<()> {
        let inside = self.op(Op::And, Ty::U64, &[k.clone(), Atom::index(tree::BLOCK - 1)])?;
        let complete = self.compare(Relation::Eq, &inside, &Atom::index(0))?;
        self.builder()?.begin();
        let next = self.block_of(k);
        let done = next.and_then(|next| {
            let own = self.op(Op::Sub, Ty::U64, &[next.clone(), Atom::index(1)])?;
            self.fold_block(fold, &own, &next)
        });
        let then = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&complete);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }

    /// The block of iteration `k`.
    fn block_of(&mut self, k: &Atom) -> Outcome<Atom> {
        let shift = Atom::Const(tree::BLOCK.trailing_zeros().into(), Ty::U32);
        self.op(Op::Shr, Ty::U64, &[k.clone(), shift])
    }

    /// Adds the totals to their targets, unless there was no iteration.
    pub fn close_inner_sums(&mut self, sums: &[Sum], visits: &Visits) -> Outcome<()> {
        let kept = self.frame()?.redirects.len() - sums.len();
        self.frame_mut()?.redirects.truncate(kept);
        if sums.is_empty() {
            return Ok(());
        }
        let any = self.compare(Relation::Gt, &visits.count, &Atom::Const(0, Ty::I64))?;
        let then = self.instructions(|l| {
            sums.iter().try_for_each(|sum| sum.own.as_ref().map_or(Ok(()), |own| l.add_own(own, sum)))
        })?;
        let cond = self.builder()?.operand(&any);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }
}
