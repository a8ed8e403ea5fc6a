//! Sums over the elements of a table that an index array chooses: each iteration keeps its term, and
//! the terms are added up element by element, in an order that the host makes of the index array once
//! ([`Step::Order`]).
//!
//! A *group* is the terms of one element in one block of the fixed tree. One thread adds up each
//! group, then one thread each element's groups, by the tree: no two threads add to the same place, no
//! thread adds more than a block's terms at a time however unevenly they are spread, and the result
//! has the tree's bits in any mode.

use rev_core::ir::ScalarType;

use crate::kernel::{Inst, Op, Relation, Ty};
use crate::plan::{BufferId, Order, Step, Word};

use super::super::atom::Atom;
use super::super::builder::Builder;
use super::super::memory::{ArrayLoc, Loc};
use super::super::types::ArgumentType;
use super::super::{Lower, Outcome};
use super::{ParallelLoop, Sum};

/// What a sum in segments needs.
#[derive(Debug)]
pub(super) struct Segments {
    /// The index array.
    index: BufferId,
    /// Its number that the first iteration reads,
    first: Word,
    /// and the step from one to the next.
    step: i64,
    /// Each iteration's term.
    terms: Option<BufferId>,
}

/// An index array with the number that the first iteration reads, and the step from one to the next.
pub(super) type Indexed = (BufferId, Word, i64);

impl Segments {
    pub fn over((index, first, step): Indexed) -> Segments {
        Segments { index, first, step, terms: None }
    }
}

impl Lower<'_> {
    /// Registers for an iteration's term, and memory for all.
    pub(super) fn open_segments(&mut self, sum: &mut Sum, of: &ParallelLoop) -> Outcome<Loc> {
        if sum.recorded {
            self.keep_terms(sum, of);
            return self.open_records(sum);
        }
        let name = format!("{}_terms", self.name(sum.var));
        let buffer = self.new_buffer(&name, &sum.kind, 1);
        self.step_host(Step::Allocate { buffer, shape: vec![of.n.clone()] });
        let n = Atom::from_word(of.n.clone(), Ty::U64);
        let terms = self.buffer_array(buffer, &sum.kind, vec![n])?;
        sum.partial = Some((buffer, terms));
        if let Some(segments) = &mut sum.segments {
            segments.terms = Some(buffer);
        }
        let own = self.zero_registers(&sum.kind)?;
        sum.own = Some(own.clone());
        Ok(own)
    }

    /// Keeps the term of iteration `k`.
    pub(super) fn keep_term(&mut self, sum: &Sum, k: &Atom) -> Outcome<()> {
        let (Some(own), Some((_, terms))) = (&sum.own, &sum.partial) else { return Ok(()) };
        let value = self.load(own)?;
        let to = self.element(terms, k)?;
        self.store(&to, value)
    }

    /// Adds up the terms.
    pub(super) fn add_segments(&mut self, n: &Word, sums: &[Sum]) -> Outcome<()> {
        for sum in sums {
            let Some(Segments { index, first, step, terms }) = &sum.segments else { continue };
            let Some(terms) = sum.kept.or(*terms) else { continue };
            let Loc::Array(target) = &sum.target else { continue };
            let Some(elements) = target.shape.first().and_then(Atom::word) else {
                return Err(self.unsupported("a sum into an array whose length the host doesn't know"));
            };
            let name = self.name(sum.var);
            let whole = ArgumentType::Scalar(ScalarType::U32);
            let [order, starts, blocks, groups_of, places] =
                ["order", "starts", "blocks", "groups", "places"]
                    .map(|what| self.new_buffer(&format!("{name}_{what}"), &whole, 1));
            let (groups, touched) = (self.new_word(), self.new_word());
            let made = Order {
                index: *index,
                first: first.clone(),
                step: *step,
                place: name.clone(),
                terms: n.clone(),
                elements,
                order,
                starts,
                blocks,
                groups_of,
                places,
                groups,
                touched,
            };
            self.step_host(Step::Order(Box::new(made)));
            let (groups, touched) = (Word::Var(groups), Word::Var(touched));
            let sums = self.new_buffer(&format!("{name}_sums"), &sum.kind, 1);
            self.step_host(Step::Allocate { buffer: sums, shape: vec![groups.clone()] });
            self.threads_kernel("groups", &groups, |l, own| {
                let terms = match sum.kept {
                    Some(kept) => l.kept_array(sum, kept, n)?,
                    None => l.whole_array(terms, &sum.kind, n)?,
                };
                let order = l.whole_array(order, &whole, n)?;
                let starts = l.whole_array(starts, &whole, &groups)?;
                let sums = l.whole_array(sums, &sum.kind, &groups)?;
                l.add_group(&terms, &order, &starts, &sums, sum, own)
            })?;
            self.threads_kernel("elements", &touched, |l, own| {
                let sums = l.whole_array(sums, &sum.kind, &groups)?;
                let blocks = l.whole_array(blocks, &whole, &groups)?;
                let groups_of = l.whole_array(groups_of, &whole, &touched)?;
                let places = l.whole_array(places, &whole, &touched)?;
                let place = l.number_at(&places, own)?;
                let to = l.element(target, &place)?;
                l.add_element(&sums, &blocks, &groups_of, &sum.kind, own, &to)
            })?;
        }
        Ok(())
    }

    /// A kernel that does something in each of so many threads.
    pub(super) fn threads_kernel(
        &mut self,
        what: &str,
        threads: &Word,
        body: impl FnOnce(&mut Self, &Atom) -> Outcome<()>,
    ) -> Outcome<()> {
        let (name, title) = self.kernel_name(what);
        self.builder = Some(Builder::new(name, title, self.options.block));
        let (own, _) = self.builder()?.threads();
        let inside = self.compare(Relation::Lt, &own, &Atom::from_word(threads.clone(), Ty::U64))?;
        self.builder()?.begin();
        let done = body(self, &own);
        let then = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&inside);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        if let Some(builder) = self.builder.take() {
            self.launch(builder, threads.clone(), None);
        }
        Ok(())
    }

    pub(super) fn whole_array(
        &mut self,
        buffer: BufferId,
        kind: &ArgumentType,
        length: &Word,
    ) -> Outcome<ArrayLoc> {
        let length = Atom::from_word(length.clone(), Ty::U64);
        self.buffer_array(buffer, kind, vec![length])
    }

    /// An element of an array of integers, as a `U64`.
    fn number_at(&mut self, array: &ArrayLoc, k: &Atom) -> Outcome<Atom> {
        let at = self.element(array, k)?;
        let value = self.load(&at)?;
        self.as_index(value)
    }

    fn number_after(&mut self, array: &ArrayLoc, k: &Atom) -> Outcome<Atom> {
        let next = self.op(Op::Add, Ty::U64, &[k.clone(), Atom::index(1)])?;
        self.number_at(array, &next)
    }

    fn add_group(
        &mut self,
        terms: &ArrayLoc,
        order: &ArrayLoc,
        starts: &ArrayLoc,
        sums: &ArrayLoc,
        sum: &Sum,
        own: &Atom,
    ) -> Outcome<()> {
        let (from, end) = (self.number_at(starts, own)?, self.number_after(starts, own)?);
        let total = self.zero_registers(&sum.kind)?;
        let p = self.variable(&from, "p")?;
        self.counted(&p, &end, &Atom::index(1), |l| {
            let k = l.number_at(order, &p)?;
            let at = l.element(terms, &k)?;
            let term = l.load(&at)?;
            match sum.kept {
                Some(_) => l.replay(sum, &total, &term),
                None => l.accumulate(true, &total, term),
            }
        })?;
        let (to, total) = (self.element(sums, own)?, self.load(&total)?);
        self.store(&to, total)
    }

    fn add_element(
        &mut self,
        sums: &ArrayLoc,
        blocks: &ArrayLoc,
        groups_of: &ArrayLoc,
        kind: &ArgumentType,
        own: &Atom,
        to: &Loc,
    ) -> Outcome<()> {
        let (from, end) = (self.number_at(groups_of, own)?, self.number_after(groups_of, own)?);
        let last = self.op(Op::Sub, Ty::U64, &[end.clone(), Atom::index(1)])?;
        let total = self.zero_registers(kind)?;
        let fold = self.open_fold(std::slice::from_ref(&total), None)?;
        let g = self.variable(&from, "g")?;
        self.counted(&g, &last, &Atom::index(1), |l| {
            let at = l.element(sums, &g)?;
            let sum = l.load(&at)?;
            l.store(&total, sum)?;
            let (b, next) = (l.number_at(blocks, &g)?, l.number_after(blocks, &g)?);
            l.fold_block(&fold, &b, &next)
        })?;
        let at = self.element(sums, &last)?;
        let sum = self.load(&at)?;
        self.store(&total, sum)?;
        self.fold_up(&fold)?;
        let total = self.load(&total)?;
        self.accumulate(true, to, total)
    }
}
