//! Sums that every iteration adds to: in each thread's registers, then over the lanes of its warp,
//! then over the warps of its block, then one addition for the block.

use crate::kernel::{Address, Atomic, Inst, Op, Relation, Space, Special, Ty};
use crate::plan::Strategy;

use super::super::atom::Atom;
use super::super::memory::{Loc, MemLoc};
use super::super::value::Val;
use super::super::{Lower, Outcome};
use super::choice::fits_registers;
use super::{shared, Sum};

/// Lanes of a warp.
const WARP: u32 = 32;

impl Lower<'_> {
    /// Registers for a thread's own sum.
    pub(super) fn open_uniform(&mut self, sum: &mut Sum) -> Outcome<Loc> {
        if sum.prefix > 0 {
            if let Some(place) = sum.fixed_place() {
                sum.target = self.locate(&place)?;
            }
        }
        let own = self.zero_registers(&sum.kind)?;
        sum.own = Some(own.clone());
        Ok(own)
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
    pub(super) fn close_uniform(&mut self, sums: &[Sum]) -> Outcome<()> {
        let uniform = sums.iter().filter(|s| s.strategy == Strategy::Uniform);
        let private: Vec<(&Sum, &Loc)> = uniform.filter_map(|s| Some((s, s.own.as_ref()?))).collect();
        if private.is_empty() {
            return Ok(());
        }
        if self.builder()?.fails {
            for (sum, own) in private {
                let value = self.load(own)?;
                self.note_gathered(&sum.target);
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
        let start = self.builder()?.kernel.shared_bytes;
        let slot = |leaf: usize| start + leaf * warps as usize * 8;
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

    /// An addition to a place that all lanes of a warp may mean: whoever is first would make the others
    /// wait, one after the other. Where they are together and mean one place they add up what they have by
    /// shuffles, and one of them adds it there.
    pub fn reduce_gathered(&mut self, at: &MemLoc, value: &Val) -> Outcome<()> {
        let atoms: Vec<Atom> = value.atoms().iter().map(|a| self.frozen(a)).collect::<Outcome<_>>()?;
        let mut each = atoms.iter().cloned();
        let value = value.clone().map(&mut |old| each.next().unwrap_or_else(|| old.clone()));
        let builder = self.builder()?;
        let lane = builder.lane();
        let place = builder.address(&at.mem, at.leaf, &at.index, at.extra.as_ref()).base;
        let place = match at.mem.space {
            Space::Shared => builder.narrowed(place),
            Space::Global | Space::Local | Space::Constant => place,
        };
        let together = builder.register(Ty::Pred, "together");
        builder.emit(Inst::Gathered { to: together, value: place });
        builder.begin();
        let mut sums = Vec::new();
        for atom in &atoms {
            sums.push(self.over_lanes(atom)?);
        }
        let mut sums = sums.into_iter();
        let sum = value.clone().map(&mut |old| sums.next().unwrap_or_else(|| old.clone()));
        let leads = self.compare(Relation::Eq, &lane, &Atom::Const(0, Ty::U32))?;
        self.builder()?.begin();
        let done = self.reduce_leaves(at, Atomic::Add, &sum);
        let then = self.builder()?.end();
        let builder = self.builder()?;
        let cond = builder.operand(&leads);
        builder.emit(Inst::If { cond, then, otherwise: Vec::new() });
        let then = builder.end();
        done?;
        self.builder()?.begin();
        let done = self.reduce_leaves(at, Atomic::Add, &value);
        let otherwise = self.builder()?.end();
        done?;
        self.builder()?.emit(Inst::If { cond: together.into(), then, otherwise });
        Ok(())
    }

    /// A value that stays, in a register.
    fn frozen(&mut self, atom: &Atom) -> Outcome<Atom> {
        Ok(self.builder()?.freeze(atom))
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
            sums.push(all.ok_or_else(|| self.defect("a sum over the warps of a block without any"))?);
        }
        let mut sums = sums.into_iter();
        for (sum, own) in private {
            let value = self.load(own)?.map(&mut |old| sums.next().unwrap_or_else(|| old.clone()));
            self.accumulate(true, &shared(sum.target.clone()), value)?;
        }
        Ok(())
    }
}
