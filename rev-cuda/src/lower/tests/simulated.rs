//! A driver that runs kernels as data structures, not as text: the threads of a block in lock-step,
//! block after block. What lowering makes is tested with it apart from what is printed.

use std::collections::BTreeMap;
use std::sync::Mutex;

use rev_core::error::{Cause, Error};

use crate::driver::{Driver, ModuleHandle, Target};
use crate::kernel::{
    Address, Atomic, Inst, Kernel, Op, Operand, Reg, Relation, Space, Special, Ty, FAILURE_VALUES,
};

type Memory = BTreeMap<u64, Vec<u8>>;

/// The driver, with the kernels that it can run.
pub struct Simulated {
    kernels: Vec<Kernel>,
    memory: Mutex<Memory>,
}

impl Simulated {
    pub fn new(kernels: Vec<Kernel>) -> Simulated {
        Simulated { kernels, memory: Mutex::default() }
    }

    fn with<T>(&self, at: u64, bytes: usize, f: impl FnOnce(&mut [u8]) -> T) -> T {
        let mut memory = self.memory.lock().unwrap();
        f(slice(&mut memory, at, bytes))
    }
}

fn slice(memory: &mut Memory, at: u64, bytes: usize) -> &mut [u8] {
    let (start, room) =
        memory.range_mut(..=at).next_back().unwrap_or_else(|| panic!("{at:#x} isn't allocated"));
    let offset = (at - start) as usize;
    let len = room.len();
    room.get_mut(offset..offset + bytes).unwrap_or_else(|| panic!("{offset} of {len} bytes at {start:#x}"))
}

impl Driver for Simulated {
    fn name(&self) -> &str {
        "simulated"
    }
    fn target(&self) -> Target {
        Target(70)
    }
    fn load(&self, _: &str) -> Result<ModuleHandle, Error> {
        Ok(ModuleHandle(1))
    }
    fn allocate(&self, _: &str, bytes: usize) -> Result<u64, Error> {
        let mut memory = self.memory.lock().unwrap();
        let address = memory.last_key_value().map_or(4096, |(a, m)| a + m.len() as u64 + 4096);
        let address = address.next_multiple_of(256);
        memory.insert(address, vec![0xcd; bytes]);
        Ok(address)
    }
    fn free(&self, address: u64) {
        self.memory.lock().unwrap().remove(&address);
    }
    fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), Error> {
        self.with(to, bytes.len(), |m| m.copy_from_slice(bytes));
        Ok(())
    }
    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.with(from, bytes.len(), |m| bytes.copy_from_slice(m));
        Ok(())
    }
    fn clear(&self, at: u64, bytes: usize) -> Result<(), Error> {
        self.with(at, bytes, |m| m.fill(0));
        Ok(())
    }
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        let source = self.with(from, bytes, |m| m.to_vec());
        self.upload(to, &source)
    }
    fn launch(
        &self,
        _: ModuleHandle,
        kernel: &str,
        grid: u32,
        block: u32,
        params: &[Vec<u8>],
    ) -> Result<(), Error> {
        let Some(kernel) = self.kernels.iter().find(|k| k.name == kernel) else {
            return Err(Cause::Missing { kind: "kernel".into(), name: kernel.into() }.into());
        };
        assert_eq!(kernel.params.len(), params.len());
        let mut memory = self.memory.lock().unwrap();
        for b in 0..grid {
            let threads = block as usize;
            let mut run = Block {
                kernel,
                memory: &mut memory,
                registers: vec![vec![0; kernel.registers.len()]; threads],
                alive: vec![true; threads],
                shared: vec![0; kernel.shared_bytes],
                local: vec![vec![0; kernel.local_bytes]; threads],
                block: b,
                grid,
            };
            for (param, bytes) in kernel.params.iter().zip(params) {
                let value = u64::from_le_bytes(bytes.as_slice().try_into().unwrap());
                run.registers.iter_mut().for_each(|r| r[param.register.0 as usize] = value);
            }
            run.insts(&kernel.body, &vec![true; threads]);
        }
        Ok(())
    }
    fn synchronize(&self) -> Result<(), Error> {
        Ok(())
    }
}

struct Block<'a> {
    kernel: &'a Kernel,
    memory: &'a mut Memory,
    registers: Vec<Vec<u64>>,
    alive: Vec<bool>,
    shared: Vec<u8>,
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
                assert!(ty.size() >= 4, "no such reduction");
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
            | Inst::Comment { .. } => {}
        }
    }
}

fn check_types(kernel: &Kernel, op: Op, ty: Ty, args: &[Operand]) {
    let of = |k: usize| kernel.operand_ty(args[k]);
    match op {
        Op::Compare(_) => assert!(ty == Ty::Pred && of(0) == of(1), "{op:?} {:?} {:?}", of(0), of(1)),
        Op::Select => assert!(of(0) == Ty::Pred && of(1) == ty && of(2) == ty, "{op:?}"),
        Op::Convert => {}
        Op::Bits => assert_eq!(of(0).size(), ty.size()),
        Op::Shl | Op::Shr => assert!(of(0) == ty && of(1) == Ty::U32, "{op:?}"),
        _ => args.iter().enumerate().for_each(|(k, _)| assert_eq!(of(k), ty, "{op:?}")),
    }
}

fn atomic(op: Atomic, ty: Ty, a: u64, b: u64) -> u64 {
    match op {
        Atomic::Add => compute(Op::Add, ty, ty, &[a, b]),
        Atomic::Xor => a ^ b,
        Atomic::Min => compute(Op::Min, ty, ty, &[a, b]),
        Atomic::Max => compute(Op::Max, ty, ty, &[a, b]),
    }
}

fn signed(bits: u64, ty: Ty) -> i128 {
    match ty {
        Ty::I8 => (bits as i8).into(),
        Ty::I16 => (bits as i16).into(),
        Ty::I32 => (bits as i32).into(),
        Ty::I64 => (bits as i64).into(),
        _ => bits.into(),
    }
}

fn relation<T: PartialOrd>(r: Relation, a: T, b: T) -> u64 {
    u64::from(match r {
        Relation::Eq => a == b,
        Relation::Ne => a != b,
        Relation::Lt => a < b,
        Relation::Le => a <= b,
        Relation::Gt => a > b,
        Relation::Ge => a >= b,
    })
}

macro_rules! float {
    ($name:ident $t:ident $bits:ident) => {
        fn $name(op: Op, v: &[u64]) -> u64 {
            let x: Vec<$t> = v.iter().map(|b| $t::from_bits(*b as $bits)).collect();
            let value = match op {
                Op::Compare(r) => return relation(r, x[0], x[1]),
                Op::Move => x[0],
                Op::Add => x[0] + x[1],
                Op::Sub => x[0] - x[1],
                Op::Mul => x[0] * x[1],
                Op::Div => x[0] / x[1],
                Op::Fma => x[0].mul_add(x[1], x[2]),
                Op::Neg => -x[0],
                Op::Abs => x[0].abs(),
                Op::Min => {
                    if x[0] <= x[1] {
                        x[0]
                    } else {
                        x[1]
                    }
                }
                Op::Max => {
                    if x[0] >= x[1] {
                        x[0]
                    } else {
                        x[1]
                    }
                }
                Op::Sqrt => x[0].sqrt(),
                Op::Floor => x[0].floor(),
                Op::Ceil => x[0].ceil(),
                Op::Trunc => x[0].trunc(),
                Op::RoundEven => x[0].round_ties_even(),
                Op::CopySign => x[0].copysign(x[1]),
                other => panic!("{other:?} of floats"),
            };
            value.to_bits().into()
        }
    };
}
float!(on_f64 f64 u64);
float!(on_f32 f32 u32);

fn compute(op: Op, ty: Ty, of: Ty, v: &[u64]) -> u64 {
    match op {
        Op::Move | Op::Bits => return v[0],
        Op::Select => return if v[0] & 1 == 1 { v[1] } else { v[2] },
        Op::Convert => return convert(v[0], of, ty),
        _ => {}
    }
    match of {
        Ty::F64 => return on_f64(op, v),
        Ty::F32 => return on_f32(op, v),
        _ => {}
    }
    let a = signed(v[0], of);
    let b = || signed(v[1], of);
    let width = 8 * ty.size() as u32;
    let value = match op {
        Op::Compare(r) => return relation(r, a, b()),
        Op::Add => a + b(),
        Op::Sub => a - b(),
        Op::Mul => a.wrapping_mul(b()),
        Op::MulHigh => a.wrapping_mul(b()) >> width,
        Op::Div => {
            assert_ne!(b(), 0, "division by zero");
            a / b()
        }
        Op::Rem => {
            assert_ne!(b(), 0, "division by zero");
            a % b()
        }
        Op::Neg => -a,
        Op::Abs => a.abs(),
        Op::Min => a.min(b()),
        Op::Max => a.max(b()),
        Op::And => a & b(),
        Op::Or => a | b(),
        Op::Xor => a ^ b(),
        Op::Not if of == Ty::Pred => 1 - a,
        Op::Not => !a,
        Op::Shl => a << (v[1] as u32 % width),
        Op::Shr => a >> (v[1] as u32 % width),
        other => panic!("{other:?} of integers"),
    };
    value as u64
}

fn convert(bits: u64, from: Ty, to: Ty) -> u64 {
    match (from, to) {
        (Ty::F64, Ty::F32) => (f64::from_bits(bits) as f32).to_bits().into(),
        (Ty::F32, Ty::F64) => f64::from(f32::from_bits(bits as u32)).to_bits(),
        (Ty::F64, Ty::F64) | (Ty::F32, Ty::F32) => bits,
        (_, Ty::F64) => (signed(bits, from) as f64).to_bits(),
        (_, Ty::F32) => (signed(bits, from) as f32).to_bits().into(),
        (Ty::F64 | Ty::F32, _) => {
            let v = if from == Ty::F64 { f64::from_bits(bits) } else { f32::from_bits(bits as u32).into() };
            match to {
                Ty::I8 => v as i8 as u64,
                Ty::I16 => v as i16 as u64,
                Ty::I32 => v as i32 as u64,
                Ty::I64 => v as i64 as u64,
                Ty::U8 => v as u8 as u64,
                Ty::U16 => v as u16 as u64,
                Ty::U32 => v as u32 as u64,
                Ty::U64 => v as u64,
                Ty::Pred | Ty::F32 | Ty::F64 => panic!("float to {to:?}"),
            }
        }
        _ => signed(bits, from) as u64,
    }
}
