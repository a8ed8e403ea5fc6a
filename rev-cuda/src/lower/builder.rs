//! A kernel while it is being made: instructions, registers, parameters on demand, and the addresses
//! of planes, computed once at its start.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::kernel::{Address, Inst, Kernel, KernelParam, Op, Operand, Reg, Space, Ty};
use crate::layout::PLANE_ALIGNMENT;
use crate::plan::{BufferId, KernelArg, Step, Word};

use super::atom::{fold, neutral, wrap, Atom};
use super::memory::Mem;
use super::zeros::Fresh;

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
    /// The last copy of a variable in each block, while the variable holds the same.
    copies: Vec<HashMap<Reg, Reg>>,
    /// Sine and cosine, which come together, of arguments met in these blocks.
    turns: Vec<Vec<(Atom, [Atom; 2])>>,
    /// Arrays that began as zeros, of which it is known what this iteration stored.
    pub fresh: HashMap<usize, Fresh>,
    /// The number of the thread and of all threads, once they are asked for.
    threads: Option<(Atom, Atom)>,
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
        if self.fails {
            self.args.push(KernelArg::ErrorRecord);
            let register = self.kernel.register(Ty::U64, "error");
            self.kernel.params.push(KernelParam { name: "error".into(), register });
            self.kernel.error_record = Some(register);
        }
        (self.kernel, self.args, self.allocations)
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

    /// The value as it is now, also when the variable that it was read from changes.
    pub fn freeze(&mut self, atom: &Atom) -> Atom {
        match atom {
            Atom::Reg(reg, ty) if self.variables.contains(reg) => {
                // of this block only: one around it may be a loop, in which the variable changes later
                if let Some(copy) = self.copies.last().and_then(|copies| copies.get(reg)) {
                    return Atom::Reg(*copy, *ty);
                }
                let copy = self.register(*ty, "");
                self.assign(copy, atom);
                if let Some(copies) = self.copies.last_mut() {
                    copies.insert(*reg, copy);
                }
                Atom::Reg(copy, *ty)
            }
            _ => atom.clone(),
        }
    }

    /// Adds an instruction.
    pub fn emit(&mut self, inst: Inst) {
        if let Some(region) = self.regions.last_mut() {
            region.push(inst);
        }
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
        self.copies.push(HashMap::new());
    }

    /// Ends it.
    pub fn end(&mut self) -> Vec<Inst> {
        self.known.pop();
        self.turns.pop();
        self.copies.pop();
        self.regions.pop().unwrap_or_default()
    }

    /// Sine and cosine of an argument, if they were computed before.
    pub fn turn(&self, x: &Atom) -> Option<[Atom; 2]> {
        self.turns.iter().flatten().find(|(known, _)| known == x).map(|(_, turn)| turn.clone())
    }

    /// Keeps them, where the argument stays what it is.
    pub fn keep_turn(&mut self, x: &Atom, turn: &[Atom; 2]) {
        let stays = !matches!(x, Atom::Reg(reg, _) if self.variables.contains(reg));
        if let Some(turns) = self.turns.last_mut().filter(|_| stays) {
            turns.push((x.clone(), turn.clone()));
        }
    }

    /// `to = value`
    pub fn assign(&mut self, to: Reg, value: &Atom) {
        self.copies.iter_mut().for_each(|copies| {
            copies.remove(&to);
        });
        let value = self.operand(value);
        self.emit(Inst::Op { to, op: Op::Move, args: vec![value] });
    }

    /// What an instruction reads for an atom.
    pub fn operand(&mut self, atom: &Atom) -> Operand {
        match atom {
            Atom::Const(bits, ty) => Operand::Const(*bits, *ty),
            Atom::Reg(reg, _) => Operand::Reg(*reg),
            Atom::Word(word, ty) => Operand::Reg(self.word(word, *ty)),
            Atom::Buffer(buffer) => Operand::Reg(self.buffer(*buffer)),
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
        if let Some(known) = fold(op, ty, args).or_else(|| neutral(op, args)) {
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
        if let Some(known) = fold(op, ty, args).or_else(|| neutral(op, args)) {
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

    /// The bytes from one plane of a memory to the next, for leaves of a size.
    pub fn stride(&mut self, mem: &Mem, size: usize) -> Atom {
        if mem.space == Space::Local {
            return Atom::index(size.next_multiple_of(8));
        }
        if let Some(known) = self.strides.get(&(mem.id, size)) {
            return known.clone();
        }
        let bytes = self.early(Op::Mul, Ty::U64, &[mem.count.clone(), Atom::index(size)]);
        let up = self.early(Op::Add, Ty::U64, &[bytes, Atom::index(PLANE_ALIGNMENT - 1)]);
        let mask = Atom::Const(!(PLANE_ALIGNMENT as u64 - 1), Ty::U64);
        let stride = self.early(Op::And, Ty::U64, &[up, mask]);
        self.strides.insert((mem.id, size), stride.clone());
        stride
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
            // from plane to plane, which costs one addition where the one before is known
            let before = self.address(mem, leaf - 1, index, extra);
            let at = match before.base {
                Operand::Reg(reg) => Atom::Reg(reg, Ty::U64),
                Operand::Const(bits, ty) => Atom::Const(bits, ty),
            };
            let at = self.op(Op::Add, Ty::U64, &[at, stride]);
            return Address { base: self.operand(&at), ..before };
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
