//! What the iterations of a parallel loop add to: which sums there are, where an iteration's terms
//! go, and how they come together.

use rev_core::error::Cause;
use rev_core::facts::{self, ParallelFacts, PlaceClass};
use rev_core::ir::{Place, Stmt, VarId};
use rev_core::tree;

use crate::kernel::{Address, Inst, Op, Relation, Space, Special, Ty};
use crate::plan::{Accumulation, BufferId, Step, Strategy, Word, WordOp};

use super::atom::Atom;
use super::call::kind_of;
use super::loops::Visits;
use super::memory::{ArrayLoc, Loc};
use super::parallel::binary;
use super::stmt::REGISTER_LEAVES;
use super::types::ArgumentType;
use super::value::Val;
use super::{Lower, Outcome, Redirect};

/// Lanes of a warp.
const WARP: u32 = 32;

/// A sum that the iterations of a loop share.
#[derive(Debug)]
pub(super) struct Sum {
    var: VarId,
    places: Vec<Place>,
    /// What is added to.
    target: Loc,
    strategy: Strategy,
    /// A thread's own sum.
    own: Option<Loc>,
    /// The blocks' sums.
    partial: Option<(BufferId, ArrayLoc)>,
    /// The partial sums' element type.
    kind: ArgumentType,
}

impl Sum {
    /// Whether it is added up by the tree.
    pub fn is_tree(&self) -> bool {
        self.strategy == Strategy::Tree
    }

    /// Whether each thread keeps a sum of its own.
    pub fn is_private(&self) -> bool {
        self.strategy == Strategy::Uniform
    }
}

/// Whether a value has as few leaves as fit into registers, each of which lanes can exchange.
fn fits_registers(kind: &ArgumentType) -> bool {
    let leaves = kind.leaves();
    !matches!(kind, ArgumentType::Array(..) | ArgumentType::Stack(_))
        && leaves.len() <= REGISTER_LEAVES
        && leaves.iter().all(|ty| ty.size() >= 4)
}

impl Lower<'_> {
    /// The sums of a parallel loop.
    pub fn sums(&mut self, facts: &ParallelFacts) -> Outcome<Vec<Sum>> {
        let mut sums = Vec::new();
        for (var, class) in &facts.classes {
            match class {
                PlaceClass::Parts(parts) => {
                    for (places, class) in parts {
                        self.add_sum(*var, places.clone(), class, &mut sums)?;
                    }
                }
                class => self.add_sum(*var, Vec::new(), class, &mut sums)?,
            }
        }
        Ok(sums)
    }

    fn add_sum(
        &mut self,
        var: VarId,
        places: Vec<Place>,
        class: &PlaceClass,
        sums: &mut Vec<Sum>,
    ) -> Outcome<()> {
        let PlaceClass::Accumulated(accumulated) = class else { return Ok(()) };
        let target = match places.first().and_then(|p| self.redirected(p)) {
            Some(outer) => outer,
            None => match self.redirected(&Place::var(var)) {
                Some(outer) => outer,
                None => self.slot(var)?,
            },
        };
        let Some(kind) = kind_of(&target).filter(|k| !k.leaves().is_empty()) else { return Ok(()) };
        let adds = accumulated.sum == facts::Sum::Add;
        let strategy = match self.options.force {
            _ if self.options.deterministic && adds => Strategy::Tree,
            Some(Strategy::Atomic) => Strategy::Atomic,
            _ if adds && fits_registers(&kind) => Strategy::Uniform,
            _ => Strategy::Atomic,
        };
        sums.push(Sum { var, places, target, strategy, own: None, partial: None, kind });
        Ok(())
    }

    fn record(&mut self, sum: &Sum, kernel: &str) {
        let place = self.name(sum.var);
        self.plan.accumulations.push(Accumulation {
            kernel: kernel.to_string(),
            place,
            strategy: sum.strategy,
        });
    }

    fn redirect(&mut self, sum: &Sum, loc: Loc) -> Outcome<()> {
        let (var, places) = (sum.var, sum.places.clone());
        self.frame_mut()?.redirects.push(Redirect { var, places, loc });
        Ok(())
    }

    /// Prepares a sum at the start of a kernel.
    pub fn open_sum(&mut self, sum: &mut Sum, kernel: &str) -> Outcome<()> {
        self.record(sum, kernel);
        let loc = if sum.is_private() {
            let own = self.zero_registers(&sum.kind)?;
            sum.own = Some(own.clone());
            own
        } else {
            shared(sum.target.clone())
        };
        self.redirect(sum, loc)
    }

    fn zero_registers(&mut self, kind: &ArgumentType) -> Outcome<Loc> {
        let Some(zero) = Val::zero(kind) else { return Err(self.unsupported("a sum of arrays")) };
        let builder = self.builder()?;
        Ok(Loc::Registers(zero.map(&mut |atom| builder.variable(atom, "sum"))))
    }

    /// Registers for the sum of a callee, where it adds to what other threads add to as well.
    pub fn private_sum(&mut self, loc: &Loc) -> Outcome<Option<Loc>> {
        match loc {
            Loc::Memory(m) if m.shared && fits_registers(&m.kind) && !m.kind.leaves().is_empty() => {
                self.zero_registers(&m.kind.clone()).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Adds the threads' own sums to their targets: over the lanes of each warp, then over the warps
    /// of the block, then once for the block. Where threads may have failed each adds for itself.
    pub fn close_private_sums(&mut self, sums: &[Sum]) -> Outcome<()> {
        let private: Vec<(&Sum, &Loc)> = sums.iter().filter_map(|s| Some((s, s.own.as_ref()?))).collect();
        if private.is_empty() {
            return Ok(());
        }
        if self.builder()?.fails {
            for (sum, own) in private {
                let value = self.load(own)?;
                self.accumulate(true, &shared(sum.target.clone()), value)?;
            }
            return Ok(());
        }
        let [thread, lane] = [Special::ThreadInBlock, Special::Lane].map(|what| {
            self.builder.as_mut().map(|b| {
                let to = b.register(Ty::U32, "");
                b.emit(Inst::Special { to, what });
                Atom::Reg(to, Ty::U32)
            })
        });
        let (Some(thread), Some(lane)) = (thread, lane) else { return Ok(()) };
        let warps = self.builder()?.kernel.block.div_ceil(WARP);
        let warp = self.op(Op::Shr, Ty::U32, &[thread.clone(), Atom::Const(5, Ty::U32)])?;
        let warp = self.op(Op::Convert, Ty::U64, &[warp])?;
        let warp = self.op(Op::Mul, Ty::U64, &[warp, Atom::index(8)])?;
        let mut totals = Vec::new();
        for (_, own) in &private {
            for atom in self.load(own)?.atoms() {
                totals.push(self.over_lanes(&atom)?);
            }
        }
        let slot = |leaf: usize| leaf * warps as usize * 8;
        self.builder()?.kernel.shared_bytes = slot(totals.len());
        let leads = self.compare(Relation::Eq, &lane, &Atom::Const(0, Ty::U32))?;
        self.builder()?.begin();
        for (leaf, total) in totals.iter().enumerate() {
            let builder = self.builder()?;
            let (base, value) = (builder.operand(&warp), builder.operand(total));
            let to = Address { space: Space::Shared, base, offset: slot(leaf) as i64 };
            builder.emit(Inst::Store { to, value, ty: total.ty() });
        }
        let then = self.builder()?.end();
        let builder = self.builder()?;
        let cond = builder.operand(&leads);
        builder.emit(Inst::If { cond, then, otherwise: Vec::new() });
        builder.emit(Inst::Barrier);
        let first = self.compare(Relation::Eq, &thread, &Atom::Const(0, Ty::U32))?;
        self.builder()?.begin();
        let done = self.over_warps(&private, &totals, warps, &slot);
        let then = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&first);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }

    fn add_atoms(&mut self, a: &Atom, b: &Atom) -> Outcome<Atom> {
        self.op(Op::Add, a.ty(), &[a.clone(), b.clone()])
    }

    fn over_lanes(&mut self, atom: &Atom) -> Outcome<Atom> {
        let mut total = atom.clone();
        let mut mask = WARP / 2;
        while mask > 0 {
            let builder = self.builder()?;
            let to = builder.register(atom.ty(), "");
            let value = builder.operand(&total);
            builder.emit(Inst::Shuffle { to, value, mask });
            total = self.add_atoms(&total, &Atom::Reg(to, atom.ty()))?;
            mask /= 2;
        }
        Ok(total)
    }

    fn over_warps(
        &mut self,
        private: &[(&Sum, &Loc)],
        totals: &[Atom],
        warps: u32,
        slot: &dyn Fn(usize) -> usize,
    ) -> Outcome<()> {
        let mut sums = Vec::new();
        for (leaf, total) in totals.iter().enumerate() {
            let mut all: Option<Atom> = None;
            for warp in 0..warps as usize {
                let builder = self.builder()?;
                let base = builder.operand(&Atom::index(0));
                let from = Address { space: Space::Shared, base, offset: (slot(leaf) + 8 * warp) as i64 };
                let to = builder.register(total.ty(), "");
                builder.emit(Inst::Load { to, from, read_only: false });
                let one = Atom::Reg(to, total.ty());
                all = Some(match all {
                    Some(sum) => self.add_atoms(&sum, &one)?,
                    None => one,
                });
            }
            sums.extend(all);
        }
        let mut sums = sums.into_iter();
        for (sum, own) in private {
            let value = self.load(own)?.map(&mut |old| sums.next().unwrap_or_else(|| old.clone()));
            self.accumulate(true, &shared(sum.target.clone()), value)?;
        }
        Ok(())
    }

    /// Prepares a sum at the start of a kernel of one thread for each block of the tree.
    pub fn open_tree(&mut self, sum: &mut Sum, blocks: &Word, kernel: &str) -> Outcome<()> {
        self.record(sum, kernel);
        if !sum.is_tree() {
            return self.redirect(sum, shared(sum.target.clone()));
        }
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
        let partial = ArrayLoc { mem, first: Atom::index(0), shape, kind: element, shared: false };
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
        self.redirect(sum, loc)
    }

    /// Stores the sums of a block that were kept in registers.
    pub fn close_tree_block(&mut self, sums: &[Sum], _own: &Atom) -> Outcome<()> {
        for sum in sums {
            if let (Some(own), Some((_, partial))) = (&sum.own, &sum.partial) {
                let value = self.load(own)?;
                let to = self.element(partial, &Atom::index(0))?;
                self.store(&to, value)?;
            }
        }
        Ok(())
    }

    /// Adds up the blocks of each sum, neighbours first, and the total to the target.
    pub fn add_trees(&mut self, n: &Word, sums: &[Sum]) -> Outcome<()> {
        for sum in sums {
            let Some((buffer, partial)) = &sum.partial else { continue };
            let blocks = super::parallel::divided_up(n.clone(), tree::BLOCK as i64);
            let count = self.count(&partial.shape)?;
            let elements = count.word().unwrap_or(Word::Const(1));
            let (name, title) = self.kernel_name("tree");
            self.builder = Some(super::builder::Builder::new(name, title, self.options.block));
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
        let row =
            ArrayLoc { mem, first, shape: vec![blocks.clone()], kind: partial.kind.clone(), shared: false };
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

    /// In the deterministic mode a parallel loop inside a kernel adds up its sums from zero, too: one
    /// block of the tree, which is all that it may have.
    pub fn inner_sums(&mut self, stmt: &Stmt, visits: &Visits) -> Outcome<Vec<Sum>> {
        let facts = self.facts(stmt)?;
        let mut sums = self.sums(&facts)?;
        sums.retain(Sum::is_tree);
        if !sums.is_empty() {
            let most = Atom::Const(tree::BLOCK as u64, Ty::I64);
            let over = self.compare(Relation::Gt, &visits.count, &most)?;
            let reason = format!(
                "a parallel loop of more than {} iterations with sums inside a kernel can't be added up in a fixed order",
                tree::BLOCK
            );
            self.fail_if(&over, Cause::Device { device: "gpu".into(), reason })?;
        }
        for sum in &mut sums {
            let own = match &sum.target {
                Loc::Array(a) => {
                    let Some(zero) = Val::zero(&a.kind) else {
                        return Err(self.unsupported("a sum of arrays"));
                    };
                    let fill = Val::Fill(Box::new(zero), a.shape.clone());
                    self.array_storage("sum", fill)?
                }
                _ => self.zero_registers(&sum.kind)?,
            };
            sum.own = Some(own.clone());
            self.redirect(sum, own)?;
        }
        Ok(sums)
    }

    /// Adds them to their targets, unless there was no iteration.
    pub fn close_inner_sums(&mut self, sums: &[Sum], visits: &Visits) -> Outcome<()> {
        let kept = self.frame()?.redirects.len() - sums.len();
        self.frame_mut()?.redirects.truncate(kept);
        if sums.is_empty() {
            return Ok(());
        }
        let any = self.compare(Relation::Gt, &visits.count, &Atom::Const(0, Ty::I64))?;
        self.builder()?.begin();
        let mut done = Ok(());
        for sum in sums {
            if let (Some(own), Ok(())) = (&sum.own, &done) {
                done = self.load(own).and_then(|value| self.accumulate(true, &sum.target, value));
            }
        }
        let then = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&any);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }
}

/// The same place, with additions that don't interfere with other threads'.
fn shared(loc: Loc) -> Loc {
    match loc {
        Loc::Memory(m) => Loc::Memory(super::memory::MemLoc { shared: true, ..m }),
        Loc::Array(a) => Loc::Array(ArrayLoc { shared: true, ..a }),
        Loc::Choice(locs, which) => Loc::Choice(locs.into_iter().map(shared).collect(), which),
        loc @ (Loc::Value(_) | Loc::Registers(_) | Loc::Stack(_)) => loc,
    }
}
