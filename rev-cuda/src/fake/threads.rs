//! Kernels as data structures, run without their text: the threads of a block in lock-step, block
//! after block.

use super::compute::{atomic, check_types, compute};
use super::{slice, Memory};
use crate::kernel::{Address, Inst, Kernel, Op, Operand, Reg, Space, Special, Ty, FAILURE_VALUES};

/// Runs a kernel with `params`.
pub fn run(kernel: &Kernel, memory: &mut Memory, grid: u32, block: u32, params: &[u64]) {
    assert_eq!(kernel.params.len(), params.len());
    let threads = block as usize;
    for b in 0..grid {
        let mut run = Block {
            kernel,
            memory,
            registers: vec![vec![0; kernel.registers.len()]; threads],
            alive: vec![true; threads],
            shared: vec![0; kernel.shared_bytes],
            constants: kernel.constants.iter().flat_map(|word| word.to_le_bytes()).collect(),
            local: vec![vec![0; kernel.local_bytes]; threads],
            block: b,
            grid,
        };
        for (param, value) in kernel.params.iter().zip(params) {
            run.registers.iter_mut().for_each(|r| r[param.register.0 as usize] = *value);
        }
        run.insts(&kernel.body, &vec![true; threads]);
    }
}

struct Block<'a> {
    kernel: &'a Kernel,
    memory: &'a mut Memory,
    registers: Vec<Vec<u64>>,
    alive: Vec<bool>,
    shared: Vec<u8>,
    constants: Vec<u8>,
    local: Vec<Vec<u8>>,
    block: u32,
    grid: u32,
}

impl Block<'_> {
    fn value(&self, t: usize, operand: &Operand) -> u64 {
        match operand {
            Operand::Reg(r) => self.registers[t][r.0 as usize],
            Operand::Const(bits, _) => *bits,
        }
    }

    fn set(&mut self, t: usize, to: Reg, bits: u64) {
        let ty = self.kernel.ty(to);
        let mask = if ty.size() == 8 { u64::MAX } else { (1 << (8 * ty.size())) - 1 };
        self.registers[t][to.0 as usize] = bits & mask;
    }

    fn bytes(&mut self, t: usize, at: &Address, n: usize) -> &mut [u8] {
        let base = self.value(t, &at.base).wrapping_add(at.offset as u64);
        match at.space {
            Space::Global => {
                assert_eq!(base % n as u64, 0, "alignment");
                slice(self.memory, base, n)
            }
            Space::Shared => &mut self.shared[base as usize..base as usize + n],
            Space::Local => &mut self.local[t][base as usize..base as usize + n],
            Space::Constant => &mut self.constants[base as usize..base as usize + n],
        }
    }

    fn load(&mut self, t: usize, at: &Address, ty: Ty) -> u64 {
        let mut bits = [0; 8];
        bits[..ty.size()].copy_from_slice(self.bytes(t, at, ty.size()));
        u64::from_le_bytes(bits)
    }

    fn store(&mut self, t: usize, at: &Address, ty: Ty, bits: u64) {
        let bytes = bits.to_le_bytes();
        self.bytes(t, at, ty.size()).copy_from_slice(&bytes[..ty.size()]);
    }

    fn insts(&mut self, insts: &[Inst], mask: &[bool]) {
        for inst in insts {
            let active: Vec<usize> = (0..mask.len()).filter(|t| mask[*t] && self.alive[*t]).collect();
            if active.is_empty() {
                return;
            }
            match inst {
                Inst::If { cond, then, otherwise } => {
                    let (mut taken, mut others) = (vec![false; mask.len()], vec![false; mask.len()]);
                    for t in active {
                        let side = if self.value(t, cond) & 1 == 1 { &mut taken } else { &mut others };
                        side[t] = true;
                    }
                    self.insts(then, &taken);
                    self.insts(otherwise, &others);
                }
                Inst::Loop { before, cond, body } => {
                    let mut inner = vec![false; mask.len()];
                    active.iter().for_each(|t| inner[*t] = true);
                    loop {
                        self.insts(before, &inner);
                        for (t, on) in inner.iter_mut().enumerate() {
                            *on = *on && self.alive[t] && self.value(t, cond) & 1 == 1;
                        }
                        if !inner.contains(&true) {
                            break;
                        }
                        self.insts(body, &inner);
                    }
                }
                Inst::Barrier => assert_eq!(active.len(), mask.len(), "a barrier that not all threads reach"),
                Inst::Shuffle { to, value, mask: bits } => {
                    assert_eq!(active.len() % 32, 0, "a shuffle with lanes missing");
                    assert!(self.kernel.ty(*to).size() >= 4, "no such shuffle");
                    let values: Vec<u64> = (0..mask.len()).map(|t| self.value(t, value)).collect();
                    active.iter().for_each(|t| self.set(*t, *to, values[t ^ *bits as usize]));
                }
                Inst::Gathered { to, value } => {
                    for t in &active {
                        let warp = t / 32 * 32..t / 32 * 32 + 32;
                        let first = self.value(warp.start, value);
                        let mut lanes = warp.into_iter();
                        let all = lanes.all(|l| active.contains(&l) && self.value(l, value) == first);
                        self.set(*t, *to, all.into());
                    }
                }
                Inst::Comment { .. } => {}
                _ => active.iter().for_each(|t| self.inst(*t, inst)),
            }
        }
    }

    fn inst(&mut self, t: usize, inst: &Inst) {
        match inst {
            Inst::Op { to, op, args } => {
                let ty = self.kernel.ty(*to);
                let of = self.kernel.operand_ty(args[usize::from(*op == Op::Select)]);
                let values: Vec<u64> = args.iter().map(|a| self.value(t, a)).collect();
                check_types(self.kernel, *op, ty, args);
                self.set(t, *to, compute(*op, ty, of, &values));
            }
            Inst::Quotients { to, over, under } => {
                let under = f64::from_bits(self.value(t, under));
                let over: Vec<u64> = over.iter().map(|a| self.value(t, a)).collect();
                for (to, over) in to.iter().zip(over) {
                    self.set(t, *to, (f64::from_bits(over) / under).to_bits());
                }
            }
            Inst::Special { to, what } => {
                let value = match what {
                    Special::ThreadInBlock => t as u32,
                    Special::BlockSize => self.kernel.block,
                    Special::Block => self.block,
                    Special::Blocks => self.grid,
                    Special::Lane => t as u32 % 32,
                };
                self.set(t, *to, value.into());
            }
            Inst::Load { to, from, .. } => {
                let value = self.load(t, from, self.kernel.ty(*to));
                self.set(t, *to, value);
            }
            Inst::Store { to, value, ty } => {
                assert_eq!(self.kernel.operand_ty(*value), *ty);
                let value = self.value(t, value);
                self.store(t, to, *ty, value);
            }
            Inst::Reduce { to, op, value, ty } => {
                let (old, value) = (self.load(t, to, *ty), self.value(t, value));
                self.store(t, to, *ty, atomic(*op, *ty, old, value));
            }
            Inst::Fetch { old, to, op, value } => {
                let ty = self.kernel.ty(*old);
                let (before, value) = (self.load(t, to, ty), self.value(t, value));
                self.store(t, to, ty, atomic(*op, ty, before, value));
                self.set(t, *old, before);
            }
            Inst::Fail { failure, values } => {
                let record = self.kernel.error_record.expect("an error record");
                let at = self.registers[t][record.0 as usize];
                assert!(values.len() <= FAILURE_VALUES);
                if slice(self.memory, at, 4) == [0; 4] {
                    slice(self.memory, at, 4).copy_from_slice(&(failure + 1).to_le_bytes());
                    for (k, value) in values.iter().enumerate() {
                        let ty = self.kernel.operand_ty(*value);
                        let wide = if ty.is_float() { Ty::F64 } else { Ty::I64 };
                        let bits = compute(Op::Convert, wide, ty, &[self.value(t, value)]);
                        slice(self.memory, at + 8 + 8 * k as u64, 8).copy_from_slice(&bits.to_le_bytes());
                    }
                }
                self.alive[t] = false;
            }
            Inst::If { .. }
            | Inst::Loop { .. }
            | Inst::Barrier
            | Inst::Shuffle { .. }
            | Inst::Gathered { .. }
            | Inst::Comment { .. } => {}
        }
    }
}
