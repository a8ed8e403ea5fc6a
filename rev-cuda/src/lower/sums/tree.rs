//! The fixed tree of [`rev_core::tree`]: one thread for each block, which adds its iterations in
//! order, and one for each element, which adds up the blocks.

use rev_core::tree;

use crate::kernel::{Inst, Op, Relation, Ty};
use crate::plan::{BufferId, Step, Word, WordOp};

use super::super::atom::Atom;
use super::super::builder::Builder;
use super::super::memory::{ArrayLoc, Loc};
use super::super::parallel::{binary, divided_up};
use super::super::{Lower, Outcome};
use super::choice::fits_registers;
use super::Sum;

impl Lower<'_> {
    /// Prepares a sum at the start of a kernel of one thread for each block of the tree.
    pub(super) fn open_tree(&mut self, sum: &mut Sum, blocks: &Word) -> Outcome<Loc> {
        let (element, shape) = match &sum.target {
            Loc::Array(a) => (a.kind.clone(), a.shape.clone()),
            _ => (sum.kind.clone(), Vec::new()),
        };
        let Some(words) = shape.iter().map(Atom::word).collect::<Option<Vec<Word>>>() else {
            return Err(self.unsupported("a sum into an array whose length the host doesn't know"));
        };
        let name = format!("{}_blocks", self.name(sum.var));
        let buffer = self.new_buffer(&name, &element, shape.len() + 1);
        let full: Vec<Word> = [blocks.clone()].into_iter().chain(words).collect();
        self.step_host(Step::Allocate { buffer, shape: full.clone() });
        let full: Vec<Atom> = full.into_iter().map(|w| Atom::from_word(w, Ty::U64)).collect();
        let own = self.builder()?.threads().0;
        let interleaved = Some((Atom::from_word(blocks.clone(), Ty::U64), own));
        let mem = self.buffer_mem(buffer, &full, interleaved)?;
        let partial =
            ArrayLoc { mem, first: Atom::index(0), shape, strides: None, kind: element, shared: false };
        let loc = if partial.shape.is_empty() && fits_registers(&partial.kind) {
            let own = self.zero_registers(&partial.kind)?;
            sum.own = Some(own.clone());
            own
        } else if partial.shape.is_empty() {
            self.element(&partial, &Atom::index(0))?
        } else {
            Loc::Array(partial.clone())
        };
        sum.partial = Some((buffer, partial));
        Ok(loc)
    }

    /// Stores the sums of a block that were kept in registers.
    pub fn close_tree_block(&mut self, sums: &[Sum]) -> Outcome<()> {
        for sum in sums {
            let (true, Some(own), Some((_, partial))) = (sum.is_tree(), &sum.own, &sum.partial) else {
                continue;
            };
            {
                let value = self.load(own)?;
                let to = self.element(partial, &Atom::index(0))?;
                self.store(&to, value)?;
            }
        }
        Ok(())
    }

    /// Adds up the blocks of each sum, neighbours first, and the total to the target.
    pub(super) fn add_trees(&mut self, n: &Word, sums: &[Sum]) -> Outcome<()> {
        for sum in sums {
            let Some((buffer, partial)) = sum.partial.as_ref().filter(|_| sum.is_tree()) else { continue };
            let blocks = divided_up(n.clone(), tree::BLOCK as i64);
            let count = self.count(&partial.shape)?;
            let elements = self.host_word(&count)?;
            let (name, title) = self.kernel_name("tree");
            self.builder = Some(Builder::new(name, title, self.options.block));
            let done = self.add_tree(sum, *buffer, partial, &blocks, &count);
            let builder = self.builder.take();
            done?;
            // nothing is added where there is no iteration
            let any = binary(WordOp::Min, blocks, Word::Const(1));
            if let Some(builder) = builder {
                self.launch(builder, binary(WordOp::Mul, elements, any), None);
            }
        }
        Ok(())
    }

    fn add_tree(
        &mut self,
        sum: &Sum,
        buffer: BufferId,
        partial: &ArrayLoc,
        blocks: &Word,
        count: &Atom,
    ) -> Outcome<()> {
        let (own, _) = self.builder()?.threads();
        let inside = self.compare(Relation::Lt, &own, count)?;
        let full = [Atom::from_word(blocks.clone(), Ty::U64)].into_iter().chain(partial.shape.clone());
        let full: Vec<Atom> = full.collect();
        let mem = self.buffer_mem(buffer, &full, None)?;
        let blocks = Atom::from_word(blocks.clone(), Ty::U64);
        self.builder()?.begin();
        let first = self.op(Op::Mul, Ty::U64, &[own.clone(), blocks.clone()])?;
        let row = ArrayLoc {
            mem,
            first,
            shape: vec![blocks.clone()],
            strides: None,
            kind: partial.kind.clone(),
            shared: false,
        };
        let done = self.pairwise(&row, &blocks).and_then(|()| {
            let total = self.element(&row, &Atom::index(0))?;
            let total = self.load(&total)?;
            let to = match &sum.target {
                Loc::Array(a) => self.element(a, &own)?,
                other => other.clone(),
            };
            self.accumulate(true, &to, total)
        });
        let then = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&inside);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }

    /// [`rev_core::tree::pairwise`] on an array.
    fn pairwise(&mut self, row: &ArrayLoc, blocks: &Atom) -> Outcome<()> {
        let distance = self.variable(&Atom::index(1), "distance")?;
        self.builder()?.begin();
        let cond = self.compare(Relation::Lt, &distance, blocks);
        let before = self.builder()?.end();
        self.builder()?.begin();
        let done = self.one_level(row, blocks, &distance);
        let body = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&cond?);
        self.builder()?.emit(Inst::Loop { before, cond, body });
        Ok(())
    }

    fn one_level(&mut self, row: &ArrayLoc, blocks: &Atom, distance: &Atom) -> Outcome<()> {
        let twice = self.op(Op::Add, Ty::U64, &[distance.clone(), distance.clone()])?;
        let i = self.variable(distance, "i")?;
        self.counted(&i, blocks, &twice, |l| {
            let earlier = l.op(Op::Sub, Ty::U64, &[i.clone(), distance.clone()])?;
            let (to, from) = (l.element(row, &earlier)?, l.element(row, &i)?);
            let later = l.load(&from)?;
            l.accumulate(true, &to, later)
        })?;
        self.assign(distance, &twice)
    }
}
