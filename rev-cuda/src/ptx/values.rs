//! What the printed text computes, on the emulator, against Rust's own arithmetic: every operation,
//! comparison and conversion of every type on the values at which they go wrong.

use super::kernels;
use super::samples::{convertible, operations, Builder, TYPES};
use crate::cuda::CudaDriver;
use crate::driver::Driver;
use crate::emulator::Emulator;
use crate::kernel::*;
use rev_core::error::Error;
use rev_core::scalar::{bf16, f16};
use std::sync::OnceLock;

/// Values at the edges of a type, by their bits.
fn edges(ty: Ty) -> Vec<u64> {
    let integers = |bits: u32| -> Vec<u64> {
        let top = 1u64 << (bits - 1);
        let mask = u64::MAX >> (64 - bits);
        let all = [0, 1, 2, 3, 7, 13, 100, top - 1, top, top + 1, top / 3, mask, mask - 1, mask - 6];
        all.into_iter().map(|v| v & mask).collect()
    };
    match ty {
        Ty::Pred => vec![0, 1],
        Ty::I8 | Ty::U8 => integers(8),
        Ty::I16 | Ty::U16 => integers(16),
        Ty::I32 | Ty::U32 => integers(32),
        Ty::I64 | Ty::U64 => integers(64),
        Ty::F16 | Ty::Bf16 => {
            let all = [0, 1, 0x03ff, 0x0400, 0x3555, 0x3c00, 0x3f80, 0x7bff, 0x7c00, 0x7e00, 0x7f7f, 0x7f80];
            all.into_iter().flat_map(|v| [v, v | 0x8000]).collect()
        }
        Ty::F32 => singles(),
        Ty::F64 => floats().iter().map(|v| v.to_bits()).collect(),
    }
}

/// The floats, and numbers on both sides of, and right in between, numbers of 16 bits.
fn singles() -> Vec<u64> {
    let mut all: Vec<u64> = floats().iter().map(|v| (*v as f32).to_bits().into()).collect();
    for (shift, unit) in [(13, 1 << 13), (16, 1 << 16)] {
        for top in
            [0x387f_e000u32, 0x3880_0000, 0x3f80_0000, 0x477f_e000, 0x0080_0000, 0x7f7f_0000, 0x3300_0000]
        {
            let base = top >> shift << shift;
            let near =
                [0, 1, unit / 2 - 1, unit / 2, unit / 2 + 1, unit, unit + unit / 2, unit + unit / 2 + 1];
            all.extend(near.iter().flat_map(|d| [base + d, (base + d) | 0x8000_0000]).map(u64::from));
        }
    }
    all.extend([0x7f80_0001, 0xff80_0001, 0x7fff_ffff, 0x7fc1_2345]);
    all
}

fn floats() -> Vec<f64> {
    let mut all = vec![
        0.0,
        1.0,
        0.5,
        1.5,
        2.5,
        0.1,
        3.7,
        127.5,
        128.0,
        255.9,
        32768.0,
        65535.5,
        2147483647.0,
        2147483648.0,
        4294967295.0,
        1e10,
        9.2e18,
        9.3e18,
        1.9e19,
        1e-40,
        5e-324,
        f64::MIN_POSITIVE,
        1.1754943508222875e-38,
        3.4e38,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    all.extend(all.clone().into_iter().map(|v: f64| -v));
    all
}

/// Runs `to = op(args)` for each row of arguments; the bits of the results.
fn run(op: Op, to: Ty, types: &[Ty], rows: &[Vec<u64>]) -> Vec<u64> {
    let mut b = Builder::new("values");
    let thread = b.kernel.register(Ty::U32, "thread");
    let (block, size) = (b.kernel.register(Ty::U32, "block"), b.kernel.register(Ty::U32, "size"));
    b.inst(Inst::Special { to: thread, what: Special::ThreadInBlock });
    b.inst(Inst::Special { to: block, what: Special::Block });
    b.inst(Inst::Special { to: size, what: Special::BlockSize });
    let start = b.op(Ty::U32, Op::Mul, &[block.into(), size.into()]);
    let index = b.op(Ty::U32, Op::Add, &[start.into(), thread.into()]);
    let inside = b.op(Ty::Pred, Op::Compare(Relation::Lt), &[index.into(), Operand::u32(rows.len() as u32)]);
    let wide = b.op(Ty::U64, Op::Convert, &[index.into()]);
    let offset = b.op(Ty::U64, Op::Mul, &[wide.into(), Operand::u64(8)]);
    let params: Vec<Reg> = b.kernel.params.iter().map(|p| p.register).collect();
    let (from, into) = (
        b.op(Ty::U64, Op::Add, &[params[0].into(), offset.into()]),
        b.op(Ty::U64, Op::Add, &[params[1].into(), offset.into()]),
    );
    let outer = std::mem::take(&mut b.kernel.body);
    let mut args = Vec::new();
    for (k, ty) in types.iter().enumerate() {
        let register = b.kernel.register(*ty, "a");
        let offset = (k * rows.len() * 8) as i64;
        let from = Address { space: Space::Global, base: from.into(), offset };
        b.inst(Inst::Load { to: register, from, read_only: true });
        args.push(Operand::from(register));
    }
    let result = b.op(to, op, &args);
    let place = Address { space: Space::Global, base: into.into(), offset: 0 };
    b.inst(Inst::Store { to: place, value: result.into(), ty: to });
    let then = std::mem::replace(&mut b.kernel.body, outer);
    b.inst(Inst::If { cond: inside.into(), then, otherwise: vec![] });

    let columns: Vec<u8> =
        (0..types.len()).flat_map(|k| rows.iter().flat_map(move |r| r[k].to_le_bytes())).collect();
    let grid = rows.len().div_ceil(64) as u32;
    let (_, back) = launched(&b.kernel, &columns, &vec![0; 8 * rows.len()], grid, &|bytes| {
        let bits = words(bytes);
        bits.iter().map(|v| if is_nan(to, *v) { u64::MAX } else { *v }).collect()
    });
    words(&back)
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect()
}

fn is_nan(ty: Ty, bits: u64) -> bool {
    match number(ty, bits) {
        Number::Real(v) => v.is_nan(),
        Number::Whole(_) => false,
    }
}

/// A kernel of two buffers, what it reads and what it changes: its text and what the emulator makes of the second, which a GPU,
/// where there is one, has to make of it as well, as far as `seen` sees it.
fn launched(
    kernel: &Kernel,
    from: &[u8],
    to: &[u8],
    grid: u32,
    seen: &dyn Fn(&[u8]) -> Vec<u64>,
) -> (String, Vec<u8>) {
    static GPU: OnceLock<Option<CudaDriver>> = OnceLock::new();
    let gpu = GPU.get_or_init(|| CudaDriver::new(0).inspect_err(|e| eprintln!("skipped on CUDA: {e}")).ok());
    let run = |driver: &dyn Driver| {
        let text = kernels(std::slice::from_ref(kernel), driver.target());
        let back = run_text(driver, &text, &kernel.name, [from, to], grid);
        (back.unwrap_or_else(|e| panic!("{}: {e}\n{text}", driver.name())), text)
    };
    let (back, text) = run(&Emulator::new());
    if let Some(gpu) = gpu {
        let (found, text) = run(gpu);
        assert_eq!(seen(&found), seen(&back), "{} and the emulator\n{text}", gpu.name());
    }
    (text, back)
}

fn run_text(
    driver: &dyn Driver,
    text: &str,
    kernel: &str,
    [from, to]: [&[u8]; 2],
    grid: u32,
) -> Result<Vec<u8>, Error> {
    let module = driver.load(text)?;
    let [source, target] = [driver.allocate("from", from.len())?, driver.allocate("to", to.len())?];
    driver.upload(source, from)?;
    driver.upload(target, to)?;
    let params = [source, target].map(|address| address.to_le_bytes().to_vec());
    driver.launch(module, kernel, grid, 64, &params)?;
    let mut back = vec![0; to.len()];
    driver.download(target, &mut back)?;
    driver.free(source);
    driver.free(target);
    Ok(back)
}

/// Every row of edges of some types. Three operands: not every combination.
fn rows(types: &[Ty]) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for (k, ty) in types.iter().enumerate() {
        let edges = edges(*ty);
        let step = if k == 2 { 5 } else { 1 };
        all = all
            .into_iter()
            .flat_map(|row: Vec<u64>| {
                let skip = row.iter().fold(0, |n, v| n ^ v) as usize % step;
                let edges = edges.clone();
                edges.into_iter().skip(skip).step_by(step).map(move |v| {
                    let mut row = row.clone();
                    row.push(v);
                    row
                })
            })
            .collect();
    }
    all
}

fn check(op: Op, to: Ty, types: &[Ty], expected: impl Fn(&[u64]) -> Option<u64>) {
    let rows: Vec<Vec<u64>> = rows(types).into_iter().filter(|r| expected(r).is_some()).collect();
    for (row, found) in rows.iter().zip(run(op, to, types, &rows)) {
        let expected = expected(row).unwrap();
        let same = match to {
            Ty::F32 => {
                let (a, b) = (f32::from_bits(found as u32), f32::from_bits(expected as u32));
                found == expected || (a.is_nan() && b.is_nan())
            }
            Ty::F64 => {
                let (a, b) = (f64::from_bits(found), f64::from_bits(expected));
                found == expected || (a.is_nan() && b.is_nan())
            }
            _ => found == expected,
        };
        assert!(same, "{op:?} {types:?} -> {to:?} of {row:x?}: {found:x}, not {expected:x}");
    }
}

/// Rust's integer operations; `None` where the operation isn't defined on the values.
fn integer(op: Op, ty: Ty, args: &[u64]) -> Option<u64> {
    macro_rules! on {
        ($t:ty, $wide:ty, $u:ty) => {{
            let a = args[0] as $t;
            let b = *args.get(1).unwrap_or(&0) as $t;
            let value: $t = match op {
                Op::Move => a,
                Op::Add => a.wrapping_add(b),
                Op::Sub => a.wrapping_sub(b),
                Op::Mul => a.wrapping_mul(b),
                Op::MulHigh => ((a as $wide * b as $wide) >> <$t>::BITS) as $t,
                Op::Div if b == 0 => return None,
                Op::Rem if b == 0 => return None,
                Op::Div => a.wrapping_div(b),
                Op::Rem => a.wrapping_rem(b),
                Op::Neg => a.wrapping_neg(),
                Op::Abs if ty.is_signed() => (a as i64).wrapping_abs() as $t,
                Op::Abs => a,
                Op::Min => a.min(b),
                Op::Max => a.max(b),
                Op::And => a & b,
                Op::Or => a | b,
                Op::Xor => a ^ b,
                Op::Not => !a,
                Op::Shl => a.wrapping_shl(args[1] as u32),
                Op::Shr => a.wrapping_shr(args[1] as u32),
                _ => unreachable!("{op:?}"),
            };
            value as $u as u64
        }};
    }
    Some(match ty {
        Ty::I8 => on!(i8, i128, u8),
        Ty::I16 => on!(i16, i128, u16),
        Ty::I32 => on!(i32, i128, u32),
        Ty::I64 => on!(i64, i128, u64),
        Ty::U8 => on!(u8, u128, u8),
        Ty::U16 => on!(u16, u128, u16),
        Ty::U32 => on!(u32, u128, u32),
        Ty::U64 => on!(u64, u128, u64),
        Ty::Pred => {
            let (a, b) = (args[0], *args.get(1).unwrap_or(&0));
            match op {
                Op::Move => a,
                Op::And => a & b,
                Op::Or => a | b,
                Op::Xor => a ^ b,
                Op::Not => a ^ 1,
                _ => unreachable!("{op:?}"),
            }
        }
        Ty::F16 | Ty::Bf16 => match op {
            Op::Move => args[0],
            Op::Neg => args[0] ^ 0x8000,
            Op::Abs => args[0] & 0x7fff,
            Op::CopySign => args[0] & 0x7fff | args[1] & 0x8000,
            _ => unreachable!("{op:?}"),
        },
        Ty::F32 | Ty::F64 => unreachable!(),
    })
}

fn float(op: Op, ty: Ty, args: &[u64]) -> u64 {
    macro_rules! on {
        ($t:ty, $bits:ty) => {{
            let v = |k: usize| <$t>::from_bits(*args.get(k).unwrap_or(&0) as $bits);
            let (a, b, c) = (v(0), v(1), v(2));
            let value = match op {
                Op::Move => a,
                Op::Add => a + b,
                Op::Sub => a - b,
                Op::Mul => a * b,
                Op::Div => a / b,
                Op::Neg => -a,
                Op::Abs => a.abs(),
                Op::Min => rev_core::scalar::rt::min(a, b),
                Op::Max => rev_core::scalar::rt::max(a, b),
                Op::Fma => a.mul_add(b, c),
                Op::Sqrt => a.sqrt(),
                Op::Floor => a.floor(),
                Op::Ceil => a.ceil(),
                Op::Trunc => a.trunc(),
                Op::RoundEven => a.round_ties_even(),
                Op::CopySign => a.copysign(b),
                _ => unreachable!("{op:?}"),
            };
            value.to_bits() as u64
        }};
    }
    if ty == Ty::F32 {
        on!(f32, u32)
    } else {
        on!(f64, u64)
    }
}

#[test]
fn operations_compute_what_rust_computes() {
    for ty in TYPES {
        for (op, count) in operations(ty) {
            let types = vec![ty; count];
            check(op, ty, &types, |args| match ty.is_float() && !ty.is_half() {
                true => Some(float(op, ty, args)),
                false => integer(op, ty, args),
            });
        }
        if !ty.is_float() && ty != Ty::Pred {
            for op in [Op::Shl, Op::Shr] {
                check(op, ty, &[ty, Ty::U32], |args| integer(op, ty, args));
            }
        }
        check(Op::Select, ty, &[Ty::Pred, ty, ty], |a| Some(if a[0] == 1 { a[1] } else { a[2] }));
    }
}

/// A value as an integer, or as a float.
enum Number {
    Whole(i128),
    Real(f64),
}

fn number(ty: Ty, bits: u64) -> Number {
    match ty {
        Ty::Pred | Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 => Number::Whole(bits.into()),
        Ty::I8 => Number::Whole((bits as i8).into()),
        Ty::I16 => Number::Whole((bits as i16).into()),
        Ty::I32 => Number::Whole((bits as i32).into()),
        Ty::I64 => Number::Whole((bits as i64).into()),
        Ty::F16 => Number::Real(f16::from_bits(bits as u16).into()),
        Ty::Bf16 => Number::Real(bf16::from_bits(bits as u16).into()),
        Ty::F32 => Number::Real(f32::from_bits(bits as u32).into()),
        Ty::F64 => Number::Real(f64::from_bits(bits)),
    }
}

#[test]
fn comparisons_are_those_of_rust() {
    use Relation::*;
    for ty in TYPES.into_iter().filter(|ty| !ty.is_half()) {
        for relation in [Eq, Ne, Lt, Le, Gt, Ge] {
            check(Op::Compare(relation), Ty::Pred, &[ty, ty], |args| {
                let order = match (number(ty, args[0]), number(ty, args[1])) {
                    (Number::Whole(a), Number::Whole(b)) => a.partial_cmp(&b),
                    (Number::Real(a), Number::Real(b)) => a.partial_cmp(&b),
                    _ => None,
                };
                let holds = match relation {
                    Eq => order.is_some_and(|o| o.is_eq()),
                    Ne => order.is_none_or(|o| o.is_ne()),
                    Lt => order.is_some_and(|o| o.is_lt()),
                    Le => order.is_some_and(|o| o.is_le()),
                    Gt => order.is_some_and(|o| o.is_gt()),
                    Ge => order.is_some_and(|o| o.is_ge()),
                };
                Some(holds.into())
            });
        }
    }
}

#[test]
fn conversions_are_those_of_rust() {
    for from in TYPES {
        for to in TYPES {
            if from.size() == to.size() && from.size() > 1 {
                check(Op::Bits, to, &[from], |args| Some(args[0]));
            }
            if !convertible(from, to) {
                continue;
            }
            check(Op::Convert, to, &[from], |args| {
                if from == to {
                    return Some(args[0]);
                }
                let value = number(from, args[0]);
                macro_rules! cast {
                    ($t:ty, $u:ty) => {
                        match value {
                            Number::Whole(v) => v as $t as $u as u64,
                            Number::Real(v) => v as $t as $u as u64,
                        }
                    };
                }
                Some(match to {
                    Ty::Pred => match value {
                        Number::Whole(v) => (v != 0).into(),
                        Number::Real(v) => (v != 0.0).into(),
                    },
                    Ty::I8 => cast!(i8, u8),
                    Ty::I16 => cast!(i16, u16),
                    Ty::I32 => cast!(i32, u32),
                    Ty::I64 => cast!(i64, u64),
                    Ty::U8 => cast!(u8, u8),
                    Ty::U16 => cast!(u16, u16),
                    Ty::U32 => cast!(u32, u32),
                    Ty::U64 => cast!(u64, u64),
                    Ty::F16 => match value {
                        Number::Real(v) if v.is_nan() => 0x7e00,
                        Number::Real(v) => f16::from_f32(v as f32).to_bits().into(),
                        Number::Whole(_) => unreachable!(),
                    },
                    Ty::Bf16 => match value {
                        Number::Real(v) if v.is_nan() => 0x7fc0,
                        Number::Real(v) => bf16::from_f32(v as f32).to_bits().into(),
                        Number::Whole(_) => unreachable!(),
                    },
                    Ty::F32 => match value {
                        Number::Whole(v) => (v as f32).to_bits().into(),
                        Number::Real(v) => (v as f32).to_bits().into(),
                    },
                    Ty::F64 => match value {
                        Number::Whole(v) => (v as f64).to_bits(),
                        Number::Real(v) => v.to_bits(),
                    },
                })
            });
        }
    }
}

#[test]
fn every_number_of_16_bits_has_its_own_f32() {
    let rows: Vec<Vec<u64>> = (0..=0xffff).map(|v| vec![v]).collect();
    for ty in [Ty::F16, Ty::Bf16] {
        let wide = run(Op::Convert, Ty::F32, &[ty], &rows);
        for (row, found) in rows.iter().zip(&wide) {
            let expected = match ty {
                Ty::F16 => f16::from_bits(row[0] as u16).to_f32(),
                _ => bf16::from_bits(row[0] as u16).to_f32(),
            };
            let found = f32::from_bits(*found as u32);
            let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
            assert!(same, "{ty:?} {:#06x}: {found:?}, not {expected:?}", row[0]);
        }
        let rows: Vec<Vec<u64>> = wide.into_iter().map(|v| vec![v]).collect();
        for (bits, found) in (0..=0xffff).zip(run(Op::Convert, ty, &[Ty::F32], &rows)) {
            let (nan, infinity) = if ty == Ty::F16 { (0x7e00, 0x7c00) } else { (0x7fc0, 0x7f80) };
            assert_eq!(found, if bits & 0x7fff > infinity { nan } else { bits }, "{ty:?}");
        }
    }
}

/// Each of 64 threads changes one of eight elements, in global or shared memory, which first hold
/// zeros. The text, and the elements.
fn atomics(ty: Ty, op: Atomic, space: Space, fetch: bool) -> (String, Vec<u8>) {
    let mut b = Builder::new("atomics");
    b.kernel.shared_bytes = 64;
    let thread = b.kernel.register(Ty::U32, "thread");
    b.inst(Inst::Special { to: thread, what: Special::ThreadInBlock });
    let value = if ty.is_half() { b.op(Ty::F32, Op::Convert, &[thread.into()]) } else { thread };
    let value = b.op(ty, Op::Convert, &[value.into()]);
    let slot = b.op(Ty::U32, Op::And, &[thread.into(), Operand::u32(7)]);
    let wide = b.op(Ty::U64, Op::Convert, &[slot.into()]);
    let offset = b.op(Ty::U64, Op::Mul, &[wide.into(), Operand::u64(ty.size() as u64)]);
    let into = b.kernel.params[1].register;
    let global = b.op(Ty::U64, Op::Add, &[into.into(), offset.into()]);
    let first = b.op(Ty::Pred, Op::Compare(Relation::Lt), &[thread.into(), Operand::u32(8)]);
    let base = if space == Space::Shared { offset } else { global };
    let at = Address { space, base: base.into(), offset: 0 };
    let zero = Inst::Store { to: at, value: Operand::Const(0, ty), ty };
    b.inst(Inst::If { cond: first.into(), then: vec![zero], otherwise: vec![] });
    b.inst(Inst::Barrier);
    if fetch {
        let old = b.kernel.register(ty, "old");
        b.inst(Inst::Fetch { old, to: at, op, value: value.into() });
    } else {
        b.inst(Inst::Reduce { to: at, op, value: value.into(), ty });
    }
    b.inst(Inst::Barrier);
    let sum = b.kernel.register(ty, "sum");
    b.inst(Inst::Load { to: sum, from: at, read_only: false });
    let place = Address { space: Space::Global, base: global.into(), offset: 64 };
    let store = Inst::Store { to: place, value: sum.into(), ty };
    b.inst(Inst::If { cond: first.into(), then: vec![store], otherwise: vec![] });
    let (text, back) = launched(&b.kernel, &[0; 8], &[0; 128], 1, &|bytes| words(&bytes[64..]));
    (text, back[64..].to_vec())
}

#[test]
fn atomics_combine_what_all_threads_give() {
    for ty in TYPES {
        for op in [Atomic::Add, Atomic::Xor, Atomic::Min, Atomic::Max] {
            if ty.is_half() && op != Atomic::Add {
                continue;
            }
            if (ty.is_float() && op == Atomic::Xor) || (ty == Ty::Pred && op != Atomic::Xor) {
                continue;
            }
            for space in [Space::Global, Space::Shared] {
                for fetch in [false, true] {
                    let (text, back) = atomics(ty, op, space, fetch);
                    for slot in 0..8u64 {
                        let given = (slot..64).step_by(8);
                        // The sums and extrema are below 2^8; those of eight truth values are all 0 or 1.
                        let whole: u64 = match op {
                            Atomic::Add => given.sum::<u64>() & if ty.size() == 1 { 0xff } else { u64::MAX },
                            Atomic::Xor if ty == Ty::Pred => given.filter(|v| *v != 0).count() as u64 & 1,
                            Atomic::Xor => given.fold(0, |a, b| a ^ b),
                            Atomic::Min => 0,
                            Atomic::Max => 56 + slot,
                        };
                        let expected = match ty {
                            Ty::F16 => f16::from_f32(whole as f32).to_bits().into(),
                            Ty::Bf16 => bf16::from_f32(whole as f32).to_bits().into(),
                            Ty::F32 => u64::from((whole as f32).to_bits()),
                            Ty::F64 => (whole as f64).to_bits(),
                            _ => whole,
                        };
                        let at = slot as usize * ty.size();
                        let mut word = [0; 8];
                        word[..ty.size()].copy_from_slice(&back[at..at + ty.size()]);
                        let found = u64::from_le_bytes(word);
                        assert_eq!(found, expected, "{ty:?} {op:?} {space:?} slot {slot}\n{text}");
                    }
                }
            }
        }
    }
}
