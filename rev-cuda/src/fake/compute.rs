//! What operations on registers compute.

use crate::kernel::{Atomic, Kernel, Op, Operand, Relation, Ty};
use rev_core::scalar::{bf16, f16, Half};

/// The operands have the types that the operation takes.
pub fn check_types(kernel: &Kernel, op: Op, ty: Ty, args: &[Operand]) {
    let of = |k: usize| kernel.operand_ty(args[k]);
    match op {
        Op::Compare(_) => assert!(ty == Ty::Pred && of(0) == of(1), "{op:?} {:?} {:?}", of(0), of(1)),
        Op::Select => assert!(of(0) == Ty::Pred && of(1) == ty && of(2) == ty, "{op:?}"),
        Op::Convert => {}
        Op::Bits => assert_eq!(of(0).size(), ty.size()),
        Op::MulWide => assert!(ty == Ty::U64 && of(0) == Ty::U32 && of(1) == Ty::U32, "{op:?}"),
        Op::Shl | Op::Shr => assert!(of(0) == ty && of(1) == Ty::U32, "{op:?}"),
        _ => args.iter().enumerate().for_each(|(k, _)| assert_eq!(of(k), ty, "{op:?}")),
    }
}

/// What memory holds after an atomic operation.
pub fn atomic(op: Atomic, ty: Ty, a: u64, b: u64) -> u64 {
    match op {
        Atomic::Add if ty.is_half() => {
            let sum = on_f32(Op::Add, &[convert(a, ty, Ty::F32), convert(b, ty, Ty::F32)]);
            convert(sum, Ty::F32, ty)
        }
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

/// The operations that there are on 16 bits, of any format.
fn on_half(op: Op, v: &[u64]) -> u64 {
    match op {
        Op::Neg => v[0] ^ 0x8000,
        Op::Abs => v[0] & 0x7fff,
        Op::CopySign => v[0] & 0x7fff | v[1] & 0x8000,
        other => panic!("{other:?} of 16 bits"),
    }
}

/// The result of an operation.
pub fn compute(op: Op, ty: Ty, of: Ty, v: &[u64]) -> u64 {
    match op {
        Op::Move | Op::Bits => return v[0],
        Op::Select => return if v[0] & 1 == 1 { v[1] } else { v[2] },
        Op::Convert => return convert(v[0], of, ty),
        _ => {}
    }
    match of {
        Ty::F64 => return on_f64(op, v),
        Ty::F32 => return on_f32(op, v),
        Ty::F16 | Ty::Bf16 => return on_half(op, v),
        _ => {}
    }
    let a = signed(v[0], of);
    let b = || signed(v[1], of);
    let width = 8 * ty.size() as u32;
    let value = match op {
        Op::Compare(r) => return relation(r, a, b()),
        Op::Add => a + b(),
        Op::Sub => a - b(),
        Op::Mul | Op::MulWide => a.wrapping_mul(b()),
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
        (Ty::F16, Ty::F32) => f16::from_bits(bits as u16).to_f32().to_bits().into(),
        (Ty::Bf16, Ty::F32) => bf16::from_bits(bits as u16).to_f32().to_bits().into(),
        (Ty::F32, Ty::F16) => f16::narrow(f32::from_bits(bits as u32)).to_bits().into(),
        (Ty::F32, Ty::Bf16) => bf16::narrow(f32::from_bits(bits as u32)).to_bits().into(),
        (Ty::F16 | Ty::Bf16, _) | (_, Ty::F16 | Ty::Bf16) => panic!("{from:?} to {to:?}"),
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
                Ty::Pred | Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64 => panic!("float to {to:?}"),
            }
        }
        _ => signed(bits, from) as u64,
    }
}
