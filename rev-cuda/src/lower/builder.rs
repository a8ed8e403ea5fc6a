//! A kernel while it is being made: instructions, registers, parameters on demand, and the addresses
//! of planes, computed once at its start.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::kernel::{Address, Inst, Kernel, KernelParam, Op, Operand, Reg, Space, Ty};
use crate::layout::PLANE_ALIGNMENT;
use crate::plan::{BufferId, KernelArg, Step, Word};

use super::atom::{fold, neutral, on_words, wrap, Atom};
use super::contents::Contents;
use super::memory::{Mem, MemLoc};
use super::quotients::gather;
use super::signs::tidy;

/// Where the results of operations are.
type Known = HashMap<(Op, Ty, Vec<Operand>), Reg>;

/// A kernel that is being made.
#[derive(Clone, Debug, Default)]
pub(super) struct Builder {
    pub kernel: Kernel,
    /// What its parameters are given.
    pub args: Vec<KernelArg>,
    /// Buffers that it needs for its threads, made before it is launched.
    pub allocations: Vec<Step>,
    /// Computed from parameters alone, before everything else.
    prologue: Vec<Inst>,
    /// The instructions of the innermost block, and of those around it.
    regions: Vec<Vec<Inst>>,
    words: Vec<(Word, Reg)>,
    buffers: HashMap<BufferId, Reg>,
    strides: HashMap<(usize, usize), Atom>,
    planes: HashMap<(usize, usize), Atom>,
    /// Registers that are assigned more than once.
    variables: HashSet<Reg>,
    /// What was computed in the innermost block, and in those around it: not to be computed again.
    known: Vec<Known>,
    /// The same of the prologue.
    known_early: Known,
    /// What variables hold, as far as the block that is being made tells, and those around it told.
    values: Vec<HashMap<Reg, Atom>>,
    /// What memory holds, likewise.
    contents: Vec<HashMap<usize, Contents>>,
    /// Sine and cosine, which come together, of arguments met in these blocks.
    turns: Vec<Vec<(Atom, [Atom; 2])>>,
    /// Arrays that hold zeros wherever an iteration adds to them first, and how many blocks it is in.
    pub fresh: HashMap<usize, usize>,
    /// The number of the thread and of all threads, once they are asked for.
    threads: Option<(Atom, Atom)>,
    lane: Option<Reg>,
    /// The largest magnitudes that variables held, by the registers they are in,
    pub held: HashMap<Reg, Atom>,
    /// and by the memory.
    pub held_in: HashMap<usize, Atom>,
    /// Whether something in it can fail.
    pub fails: bool,
}

impl Builder {
    /// An empty kernel.
    pub fn new(name: String, title: String, block: u32) -> Builder {
        let kernel = Kernel { name, title, block, ..Kernel::default() };
        let mut builder = Builder { kernel, ..Builder::default() };
        builder.begin();
        builder
    }

    /// The finished kernel.
    pub fn finish(mut self) -> (Kernel, Vec<KernelArg>, Vec<Step>) {
        let body = self.regions.drain(..).flatten();
        self.kernel.body = self.prologue.drain(..).chain(body).collect();
        tidy(&mut self.kernel);
        gather(&mut self.kernel);
        if self.fails {
            self.args.push(KernelArg::ErrorRecord);
            let register = self.kernel.register(Ty::U64, "error");
            self.kernel.params.push(KernelParam { name: "error".into(), register });
            self.kernel.error_record = Some(register);
        }
        (self.kernel, self.args, self.allocations)
    }

    /// Everything that was emitted so far.
    #[cfg(test)]
    pub fn instructions(&self) -> Vec<Inst> {
        self.prologue.iter().chain(self.regions.iter().flatten()).cloned().collect()
    }

    /// The kernel has one thread that does anything.
    pub fn alone(&mut self) {
        self.threads = Some((Atom::index(0), Atom::index(1)));
    }

    /// What was emitted so far, to be put inside something else.
    pub fn take_body(&mut self) -> Vec<Inst> {
        let body = self.end();
        self.begin();
        body
    }

    /// Entry `index` of a table of integers of a type.
    pub fn entry(&mut self, table: &[u64], ty: Ty, index: &Atom) -> Atom {
        let per_word = 8 / ty.size();
        let bits = 8 * ty.size() as u32;
        let word = |some: &[u64]| {
            some.iter()
                .rev()
                .fold(0, |word: u64, entry| word.checked_shl(bits).unwrap_or(0) | wrap((*entry).into(), ty))
        };
        let words: Vec<u64> = table.chunks(per_word).map(word).collect();
        let constants = &mut self.kernel.constants;
        let first = constants.windows(words.len().max(1)).position(|w| w == words).unwrap_or_else(|| {
            constants.extend(&words);
            constants.len() - words.len()
        });
        let at = self.op(Op::Mul, Ty::U64, &[index.clone(), Atom::index(ty.size())]);
        let from = Address { space: Space::Constant, base: self.operand(&at), offset: 8 * first as i64 };
        let to = self.register(ty, "");
        self.emit(Inst::Load { to, from, read_only: true });
        Atom::Reg(to, ty)
    }

    /// Whether nothing was emitted.
    pub fn is_empty(&self) -> bool {
        self.regions.iter().flatten().all(|i| matches!(i, Inst::Comment { .. }))
    }

    /// A new register.
    pub fn register(&mut self, ty: Ty, name: &str) -> Reg {
        self.kernel.register(ty, name)
    }

    /// A new register that is assigned more than once, with its first value.
    pub fn variable(&mut self, first: &Atom, name: &str) -> Atom {
        let ty = first.ty();
        let reg = self.register(ty, name);
        self.variables.insert(reg);
        self.assign(reg, first);
        Atom::Reg(reg, ty)
    }

    /// A register that is assigned later, if at all.
    pub fn later(&mut self, ty: Ty, name: &str) -> Reg {
        let reg = self.register(ty, name);
        self.variables.insert(reg);
        reg
    }

    /// The value as it is now, also when the variable that it was read from changes.
    pub fn freeze(&mut self, atom: &Atom) -> Atom {
        let now = self.resolve(atom);
        match &now {
            Atom::Reg(reg, ty) if self.variables.contains(reg) => {
                let copy = self.register(*ty, "");
                self.assign(copy, atom);
                let copy = Atom::Reg(copy, *ty);
                if let Some(values) = self.values.last_mut() {
                    values.insert(*reg, copy.clone());
                }
                copy
            }
            _ => now,
        }
    }

    /// What a variable holds now, where that is known: from this block only, since one around it may be
    /// a loop, in which the variable changes later.
    pub fn resolve(&self, atom: &Atom) -> Atom {
        let Atom::Reg(reg, _) = atom else { return atom.clone() };
        self.values.last().and_then(|values| values.get(reg)).unwrap_or(atom).clone()
    }

    /// Whether an atom stays what it is.
    pub fn stays(&self, atom: &Atom) -> bool {
        !matches!(atom, Atom::Reg(reg, _) if self.variables.contains(reg))
    }

    /// Adds an instruction.
    pub fn emit(&mut self, inst: Inst) {
        if inst == Inst::Barrier {
            // other threads may have written
            self.contents.iter_mut().for_each(HashMap::clear);
        }
        if let Some(region) = self.regions.last_mut() {
            region.push(inst);
        }
    }

    /// What leaf of a place holds, where that is known.
    pub fn content(&mut self, at: &MemLoc, leaf: usize) -> Option<Atom> {
        let (index, extra) = (self.resolve(&at.index), at.extra.as_ref().map(|e| self.resolve(e)));
        let mem = at.mem.id;
        let depth = self.depth();
        let contents = self.contents.last_mut()?;
        if extra.is_none() && self.fresh.get(&mem) == Some(&depth) && !contents.contains_key(&mem) {
            self.fresh.remove(&mem);
            contents.insert(mem, Contents::zeros(index.clone()));
        }
        contents.get(&mem)?.leaf(&index, extra.as_ref(), leaf, at.mem.leaves[leaf])
    }

    /// A leaf of a place holds what was just read or written; what was known of other elements of that
    /// memory stays known only where it was read.
    pub fn note_content(&mut self, at: &MemLoc, leaf: usize, value: &Atom, written: bool) {
        let (index, extra) = (self.resolve(&at.index), at.extra.as_ref().map(|e| self.resolve(e)));
        let known = [Some(&index), extra.as_ref(), Some(value)].into_iter().flatten().all(|a| self.stays(a));
        let mem = at.mem.id;
        let own = self.contents.last_mut().and_then(|contents| contents.remove(&mem));
        if written {
            self.forget_contents(mem);
        }
        if at.mem.space == Space::Shared || !known {
            return;
        }
        if let Some(contents) = self.contents.last_mut() {
            let same = own.filter(|own| own.is_of(&index, extra.as_ref()));
            let mut same = same.unwrap_or_else(|| Contents::unknown(index, extra));
            same.set(leaf, value.clone());
            contents.insert(mem, same);
        }
    }

    /// Memory changes in a way that isn't followed.
    pub fn forget_contents(&mut self, mem: usize) {
        self.fresh.remove(&mem);
        self.contents.iter_mut().for_each(|contents| {
            contents.remove(&mem);
        });
    }

    /// How many blocks are open.
    pub fn depth(&self) -> usize {
        self.regions.len()
    }

    /// Begins a block of instructions.
    pub fn begin(&mut self) {
        self.regions.push(Vec::new());
        self.known.push(HashMap::new());
        self.turns.push(Vec::new());
        self.values.push(HashMap::new());
        self.contents.push(HashMap::new());
    }

    /// Ends it.
    pub fn end(&mut self) -> Vec<Inst> {
        self.known.pop();
        self.turns.pop();
        self.values.pop();
        self.contents.pop();
        self.regions.pop().unwrap_or_default()
    }

    /// Sine and cosine of an argument, if they were computed before.
    pub fn turn(&self, x: &Atom) -> Option<[Atom; 2]> {
        self.turns.iter().flatten().find(|(known, _)| known == x).map(|(_, turn)| turn.clone())
    }

    /// Keeps them, where the argument stays what it is.
    pub fn keep_turn(&mut self, x: &Atom, turn: &[Atom; 2]) {
        let stays = self.stays(x);
        if let Some(turns) = self.turns.last_mut().filter(|_| stays) {
            turns.push((x.clone(), turn.clone()));
        }
    }

    /// `to = value`
    pub fn assign(&mut self, to: Reg, value: &Atom) {
        let value = self.resolve(value);
        self.values.iter_mut().for_each(|values| {
            values.remove(&to);
        });
        let stays = self.stays(&value);
        if let Some(values) = self.values.last_mut().filter(|_| stays) {
            values.insert(to, value.clone());
        }
        let value = self.operand(&value);
        self.emit(Inst::Op { to, op: Op::Move, args: vec![value] });
    }

    /// `to = value` after instructions that were made before. The register is no variable: what is known of
    /// these goes by the order in which instructions are made.
    pub fn assign_after(&mut self, insts: &mut Vec<Inst>, to: Reg, value: &Atom) {
        debug_assert!(!self.variables.contains(&to));
        let value = self.operand(value);
        insts.push(Inst::Op { to, op: Op::Move, args: vec![value] });
    }

    /// What an instruction reads for an atom.
    pub fn operand(&mut self, atom: &Atom) -> Operand {
        match self.resolve(atom) {
            Atom::Const(bits, ty) => Operand::Const(bits, ty),
            Atom::Reg(reg, _) => Operand::Reg(reg),
            Atom::Word(word, ty) => Operand::Reg(self.word(&word, ty)),
            Atom::Buffer(buffer) => Operand::Reg(self.buffer(buffer)),
        }
    }

    fn parameter(&mut self, name: String, arg: KernelArg) -> Reg {
        let register = self.register(Ty::U64, &name);
        self.kernel.params.push(KernelParam { name, register });
        self.args.push(arg);
        register
    }

    fn word(&mut self, word: &Rc<Word>, ty: Ty) -> Reg {
        let known = self.words.iter().find(|(w, r)| w == &**word && self.kernel.ty(*r) == ty);
        if let Some((_, reg)) = known {
            return *reg;
        }
        let own = self.words.iter().find(|(w, r)| w == &**word && self.kernel.ty(*r) == Ty::U64);
        let mut reg = match own.map(|(_, r)| *r) {
            Some(reg) => reg,
            None => {
                let reg =
                    self.parameter(format!("word{}", self.words.len()), KernelArg::Word((**word).clone()));
                self.words.push(((**word).clone(), reg));
                reg
            }
        };
        if ty != Ty::U64 {
            let to = self.register(ty, "");
            let op = if ty.size() == 8 { Op::Bits } else { Op::Convert };
            self.prologue.push(Inst::Op { to, op, args: vec![reg.into()] });
            reg = to;
            self.words.push(((**word).clone(), reg));
        }
        reg
    }

    fn buffer(&mut self, buffer: BufferId) -> Reg {
        if let Some(reg) = self.buffers.get(&buffer) {
            return *reg;
        }
        let reg = self.parameter(format!("buffer{}", buffer.0), KernelArg::Buffer(buffer));
        self.buffers.insert(buffer, reg);
        reg
    }

    /// `op(args)`, computed here where the arguments are constants.
    pub fn op(&mut self, op: Op, ty: Ty, args: &[Atom]) -> Atom {
        let args: Vec<Atom> = args.iter().map(|a| self.resolve(a)).collect();
        if let Some(known) = fold(op, ty, &args).or_else(|| neutral(op, &args)) {
            return known;
        }
        let args: Vec<Operand> = args.iter().map(|a| self.operand(a)).collect();
        let key = (op, ty, args.clone());
        let found =
            self.known.iter().find_map(|known| known.get(&key)).or_else(|| self.known_early.get(&key));
        if let Some(reg) = found {
            return Atom::Reg(*reg, ty);
        }
        let to = self.register(ty, "");
        self.emit(Inst::Op { to, op, args });
        let stays = |a: &Operand| !matches!(a, Operand::Reg(reg) if self.variables.contains(reg));
        if let Some(known) = self.known.last_mut().filter(|_| key.2.iter().all(stays)) {
            known.insert(key, to);
        }
        Atom::Reg(to, ty)
    }

    /// The same among what is computed once from the parameters.
    pub fn early(&mut self, op: Op, ty: Ty, args: &[Atom]) -> Atom {
        let known = fold(op, ty, args).or_else(|| neutral(op, args)).or_else(|| on_words(op, ty, args));
        if let Some(known) = known {
            return known;
        }
        let args: Vec<Operand> = args.iter().map(|a| self.operand(a)).collect();
        let key = (op, ty, args.clone());
        if let Some(reg) = self.known_early.get(&key) {
            return Atom::Reg(*reg, ty);
        }
        let to = self.register(ty, "");
        self.prologue.push(Inst::Op { to, op, args });
        self.known_early.insert(key, to);
        Atom::Reg(to, ty)
    }

    /// The number of this thread, and of all threads of the launch.
    pub fn threads(&mut self) -> (Atom, Atom) {
        if let Some(threads) = &self.threads {
            return threads.clone();
        }
        use crate::kernel::Special::{Block, BlockSize, Blocks, ThreadInBlock};
        let [thread, size, block, blocks] = [ThreadInBlock, BlockSize, Block, Blocks].map(|what| {
            let to = self.register(Ty::U32, "");
            self.prologue.push(Inst::Special { to, what });
            self.early(Op::Convert, Ty::U64, &[Atom::Reg(to, Ty::U32)])
        });
        let first = self.early(Op::Mul, Ty::U64, &[block, size.clone()]);
        let own = self.early(Op::Add, Ty::U64, &[first, thread]);
        let all = self.early(Op::Mul, Ty::U64, &[blocks, size]);
        self.threads = Some((own.clone(), all.clone()));
        (own, all)
    }

    /// The number of this thread in its warp.
    pub fn lane(&mut self) -> Atom {
        let lane = *self.lane.get_or_insert_with(|| {
            let to = self.kernel.register(Ty::U32, "lane");
            self.prologue.push(Inst::Special { to, what: crate::kernel::Special::Lane });
            to
        });
        Atom::Reg(lane, Ty::U32)
    }

    /// The low half of an address that needs no more.
    pub fn narrowed(&mut self, address: Operand) -> Operand {
        match address {
            Operand::Reg(reg) => {
                let low = self.op(Op::Convert, Ty::U32, &[Atom::Reg(reg, Ty::U64)]);
                self.operand(&low)
            }
            Operand::Const(bits, _) => Operand::Const(bits, Ty::U32),
        }
    }

    /// The bytes from one plane of a memory to the next, for leaves of a size.
    pub fn stride(&mut self, mem: &Mem, size: usize) -> Atom {
        if mem.space == Space::Local {
            return Atom::index(size.next_multiple_of(8));
        }
        if let Some(known) = self.strides.get(&(mem.id, size)) {
            return known.clone();
        }
        let units = self.whole_units(mem, size);
        let stride = self.early(Op::Mul, Ty::U64, &[units, Atom::index(PLANE_ALIGNMENT)]);
        self.strides.insert((mem.id, size), stride.clone());
        stride
    }

    /// The same in units of the planes' alignment.
    fn whole_units(&mut self, mem: &Mem, size: usize) -> Atom {
        let bytes = self.early(Op::Mul, Ty::U64, &[mem.count.clone(), Atom::index(size)]);
        let up = self.early(Op::Add, Ty::U64, &[bytes, Atom::index(PLANE_ALIGNMENT - 1)]);
        self.early(Op::Div, Ty::U64, &[up, Atom::index(PLANE_ALIGNMENT)])
    }

    /// The same of 32 bits: a plane has less than half a terabyte.
    fn units(&mut self, mem: &Mem, size: usize) -> Atom {
        let units = self.whole_units(mem, size);
        self.early(Op::Convert, Ty::U32, &[units])
    }

    /// The bytes of some leaves' planes.
    pub fn planes_bytes(&mut self, mem: &Mem, leaves: std::ops::Range<usize>) -> Atom {
        let mut bytes = Atom::index(0);
        for size in [1, 2, 4, 8] {
            let n = mem.leaves[leaves.clone()].iter().filter(|ty| ty.size() == size).count();
            if n > 0 {
                let stride = self.stride(mem, size);
                let all = self.early(Op::Mul, Ty::U64, &[stride, Atom::index(n)]);
                bytes = self.early(Op::Add, Ty::U64, &[bytes, all]);
            }
        }
        bytes
    }

    /// Where plane `leaf` starts.
    pub fn plane(&mut self, mem: &Mem, leaf: usize) -> Atom {
        if let Some(known) = self.planes.get(&(mem.id, leaf)) {
            return known.clone();
        }
        let offset = self.planes_bytes(mem, 0..leaf);
        let plane = match &mem.address {
            // constant offsets go into the instruction
            address if offset.bits().is_some() => address.clone(),
            address => self.early(Op::Add, Ty::U64, &[address.clone(), offset]),
        };
        self.planes.insert((mem.id, leaf), plane.clone());
        plane
    }

    /// The address of a leaf of an element.
    pub fn address(&mut self, mem: &Mem, leaf: usize, index: &Atom, extra: Option<&Atom>) -> Address {
        let size = mem.leaves[leaf].size();
        let like = |ty: &Ty| ty.size() == size;
        let stride = self.stride(mem, size);
        if leaf > 0
            && stride.bits().is_none()
            && index.bits().is_none()
            && mem.leaves[..leaf].iter().all(like)
        {
            // planes on, in units of their alignment: a product of 32 bits, added as it is made
            let first = self.address(mem, 0, index, extra);
            let at = match first.base {
                Operand::Reg(reg) => Atom::Reg(reg, Ty::U64),
                Operand::Const(bits, ty) => Atom::Const(bits, ty),
            };
            let units = self.units(mem, size);
            let planes = Atom::Const((leaf * PLANE_ALIGNMENT) as u64, Ty::U32);
            let on = self.op(Op::MulWide, Ty::U64, &[units, planes]);
            let at = self.op(Op::Add, Ty::U64, &[at, on]);
            return Address { base: self.operand(&at), ..first };
        }
        let mut at = self.plane(mem, leaf);
        let mut offset = mem.header as i64;
        if let Some(bytes) = self.planes_bytes(mem, 0..leaf).bits() {
            offset += bytes as i64;
        }
        let index = match &mem.interleaved {
            Some((scale, shift)) => {
                let scaled = self.op(Op::Mul, Ty::U64, &[index.clone(), scale.clone()]);
                self.op(Op::Add, Ty::U64, &[scaled, shift.clone()])
            }
            None => index.clone(),
        };
        match index.bits() {
            Some(index) => offset += index as i64 * size as i64,
            None => {
                let bytes = self.op(Op::Mul, Ty::U64, &[index, Atom::index(size)]);
                at = self.op(Op::Add, Ty::U64, &[at, bytes]);
            }
        }
        if let Some(extra) = extra {
            at = self.op(Op::Add, Ty::U64, &[at, extra.clone()]);
        }
        Address { space: mem.space, base: self.operand(&at), offset }
    }
}
