//! What a lowered scalar is: a constant, a register of the kernel, or a word that the host knows.

use std::rc::Rc;

use rev_core::scalar::{bf16, f16, Half};

use crate::kernel::{Op, Reg, Relation, Ty};
use crate::plan::{BufferId, Word, WordOp};

/// A scalar while a program is being lowered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Atom {
    /// A constant: its bits and its type.
    Const(u64, Ty),
    /// A register of the kernel that is being made.
    Reg(Reg, Ty),
    /// A 64-bit integer that the host knows before the launch.
    Word(Rc<Word>, Ty),
    /// The address of a buffer.
    Buffer(BufferId),
}

impl Atom {
    /// The type.
    pub fn ty(&self) -> Ty {
        match self {
            Atom::Const(_, ty) | Atom::Reg(_, ty) | Atom::Word(_, ty) => *ty,
            Atom::Buffer(_) => Ty::U64,
        }
    }

    pub fn index(n: usize) -> Atom {
        Atom::Const(n as u64, Ty::U64)
    }

    pub fn bool(b: bool) -> Atom {
        Atom::Const(b.into(), Ty::Pred)
    }

    /// The constant's bits.
    pub fn bits(&self) -> Option<u64> {
        match self {
            Atom::Const(bits, _) => Some(*bits),
            Atom::Reg(..) | Atom::Word(..) | Atom::Buffer(_) => None,
        }
    }

    /// The truth value, where it is a constant.
    pub fn truth(&self) -> Option<bool> {
        self.bits().map(|b| b != 0)
    }

    /// The integer, where it is a constant.
    pub fn integer(&self) -> Option<i128> {
        match self {
            Atom::Const(bits, ty) if !ty.is_float() => Some(integer(*bits, *ty)),
            _ => None,
        }
    }

    /// What the host knows of it: constants of 64 bits and words.
    pub fn word(&self) -> Option<Word> {
        match self {
            // the host's words wrap too: a step downwards is one of them
            Atom::Const(bits, Ty::U64) => Some(Word::Const(*bits as i64)),
            Atom::Const(bits, ty) if !ty.is_float() => {
                i64::try_from(integer(*bits, *ty)).ok().map(Word::Const)
            }
            Atom::Word(word, _) => Some((**word).clone()),
            Atom::Const(..) | Atom::Reg(..) | Atom::Buffer(_) => None,
        }
    }

    /// A word of a type.
    pub fn from_word(word: Word, ty: Ty) -> Atom {
        match word {
            Word::Const(n) => Atom::Const(n as u64, ty),
            word => Atom::Word(Rc::new(word), ty),
        }
    }
}

/// The integer that bits of a type stand for.
fn integer(bits: u64, ty: Ty) -> i128 {
    match ty {
        Ty::Pred => (bits & 1).into(),
        Ty::I8 => (bits as i8).into(),
        Ty::I16 => (bits as i16).into(),
        Ty::I32 => (bits as i32).into(),
        Ty::I64 => (bits as i64).into(),
        Ty::U8 => (bits as u8).into(),
        Ty::U16 => (bits as u16).into(),
        Ty::U32 => (bits as u32).into(),
        Ty::U64 | Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64 => bits.into(),
    }
}

/// The bits of an integer in a type, wrapped.
pub(super) fn wrap(v: i128, ty: Ty) -> u64 {
    match ty.size() {
        1 if ty == Ty::Pred => (v != 0).into(),
        1 => (v as u8).into(),
        2 => (v as u16).into(),
        4 => (v as u32).into(),
        _ => v as u64,
    }
}

/// The host's operation on words that an operation of 64-bit integers is.
pub(super) fn on_words(op: Op, ty: Ty, args: &[Atom]) -> Option<Atom> {
    let [a, b] = args else { return None };
    if !matches!(ty, Ty::U64 | Ty::I64) || a.ty() != ty || b.ty() != ty {
        return None;
    }
    let op = match op {
        Op::Add => WordOp::Add,
        Op::Sub => WordOp::Sub,
        Op::Mul => WordOp::Mul,
        // the host's are signed; lengths never are
        Op::Div if matches!(b.word(), Some(Word::Const(1..))) => WordOp::Div,
        Op::Rem if matches!(b.word(), Some(Word::Const(1..))) => WordOp::Rem,
        _ => return None,
    };
    let word = Word::Binary(op, Box::new(a.word()?), Box::new(b.word()?));
    Some(Atom::from_word(word, ty))
}

/// Operations with a neutral operand, on integers.
pub(super) fn neutral(op: Op, args: &[Atom]) -> Option<Atom> {
    let [a, b] = args else { return None };
    let (zero, one) = (|x: &Atom| x.integer() == Some(0), |x: &Atom| x.integer() == Some(1));
    match op {
        Op::Add if zero(b) => Some(a.clone()),
        Op::Add if zero(a) => Some(b.clone()),
        Op::Sub if zero(b) => Some(a.clone()),
        Op::Mul if one(b) || zero(a) => Some(a.clone()),
        Op::Mul if one(a) || zero(b) => Some(b.clone()),
        Op::And if a.ty() == Ty::Pred && (one(b) || zero(a)) => Some(a.clone()),
        Op::And if a.ty() == Ty::Pred && (one(a) || zero(b)) => Some(b.clone()),
        Op::Or if a.ty() == Ty::Pred && (zero(b) || one(a)) => Some(a.clone()),
        Op::Or if a.ty() == Ty::Pred && (zero(a) || one(b)) => Some(b.clone()),
        _ => None,
    }
}

/// The value of an operation on constants, as the device computes it.
pub(super) fn fold(op: Op, ty: Ty, args: &[Atom]) -> Option<Atom> {
    if op == Op::Select {
        let chosen = if args.first()?.truth()? { args.get(1)? } else { args.get(2)? };
        return Some(chosen.clone());
    }
    let of = args.first()?.ty();
    let bits: Vec<u64> = args.iter().map(Atom::bits).collect::<Option<_>>()?;
    let folded = match (op, of) {
        (Op::Move, _) => bits[0],
        (Op::Bits, _) => bits[0],
        (Op::Convert, _) => convert(bits[0], of, ty)?,
        (_, Ty::F16 | Ty::Bf16) => half_op(op, &bits)?,
        (_, Ty::F64) => f64_op(op, bits.iter().map(|b| f64::from_bits(*b)).collect())?,
        (_, Ty::F32) => f32_op(op, bits.iter().map(|b| f32::from_bits(*b as u32)).collect())?,
        _ => integer_op(op, ty, of, &bits)?,
    };
    Some(Atom::Const(folded, ty))
}

/// The operations that there are on 16 bits.
fn half_op(op: Op, bits: &[u64]) -> Option<u64> {
    match (op, bits) {
        (Op::Neg, [a]) => Some(a ^ 0x8000),
        (Op::Abs, [a]) => Some(a & 0x7fff),
        (Op::CopySign, [a, b]) => Some(a & 0x7fff | b & 0x8000),
        _ => None,
    }
}

fn compare<T: PartialOrd>(relation: Relation, a: T, b: T) -> u64 {
    match relation {
        Relation::Eq => a == b,
        Relation::Ne => a != b,
        Relation::Lt => a < b,
        Relation::Le => a <= b,
        Relation::Gt => a > b,
        Relation::Ge => a >= b,
    }
    .into()
}

macro_rules! float_op {
    ($name:ident $t:ident) => {
        fn $name(op: Op, a: Vec<$t>) -> Option<u64> {
            let value = match (op, a.as_slice()) {
                (Op::Compare(relation), [a, b]) => return Some(compare(relation, *a, *b)),
                (Op::Add, [a, b]) => a + b,
                (Op::Sub, [a, b]) => a - b,
                (Op::Mul, [a, b]) => a * b,
                (Op::Div, [a, b]) => a / b,
                (Op::Fma, [a, b, c]) => a.mul_add(*b, *c),
                (Op::Neg, [a]) => -a,
                (Op::Abs, [a]) => a.abs(),
                (Op::Sqrt, [a]) => a.sqrt(),
                (Op::Floor, [a]) => a.floor(),
                (Op::Ceil, [a]) => a.ceil(),
                (Op::Trunc, [a]) => a.trunc(),
                (Op::CopySign, [a, b]) => a.copysign(*b),
                _ => return None,
            };
            Some(value.to_bits().into())
        }
    };
}
float_op!(f64_op f64);
float_op!(f32_op f32);

fn integer_op(op: Op, ty: Ty, of: Ty, bits: &[u64]) -> Option<u64> {
    let a = integer(*bits.first()?, of);
    let b = bits.get(1).map(|b| integer(*b, of));
    let width = 8 * of.size() as i128;
    let value = match (op, b) {
        (Op::Compare(relation), Some(b)) => return Some(compare(relation, a, b)),
        (Op::Add, Some(b)) => a.wrapping_add(b),
        (Op::Sub, Some(b)) => a.wrapping_sub(b),
        (Op::Mul, Some(b)) => a.wrapping_mul(b),
        (Op::Div, Some(b)) if b != 0 => a / b,
        (Op::Rem, Some(b)) if b != 0 => a % b,
        (Op::And, Some(b)) => a & b,
        (Op::Or, Some(b)) => a | b,
        (Op::Xor, Some(b)) => a ^ b,
        (Op::Min, Some(b)) => a.min(b),
        (Op::Max, Some(b)) => a.max(b),
        (Op::Not, None) if of == Ty::Pred => 1 - a,
        (Op::Not, None) => !a,
        (Op::Neg, None) => -a,
        (Op::Abs, None) => a.abs(),
        (Op::Shl, _) => a << (*bits.get(1)? as i128 % width),
        (Op::Shr, _) => a >> (*bits.get(1)? as i128 % width),
        _ => return None,
    };
    Some(wrap(value, ty))
}

fn convert(bits: u64, from: Ty, to: Ty) -> Option<u64> {
    Some(match (from, to) {
        (Ty::F64, Ty::F64) | (Ty::F32, Ty::F32) | (Ty::F16, Ty::F16) | (Ty::Bf16, Ty::Bf16) => bits,
        (Ty::F16, Ty::F32) => f16::from_bits(bits as u16).to_f32().to_bits().into(),
        (Ty::Bf16, Ty::F32) => bf16::from_bits(bits as u16).to_f32().to_bits().into(),
        (Ty::F32, Ty::F16) => f16::narrow(f32::from_bits(bits as u32)).to_bits().into(),
        (Ty::F32, Ty::Bf16) => bf16::narrow(f32::from_bits(bits as u32)).to_bits().into(),
        // in two steps
        (Ty::F16 | Ty::Bf16, _) | (_, Ty::F16 | Ty::Bf16) => return None,
        (Ty::F64, Ty::F32) => (f64::from_bits(bits) as f32).to_bits().into(),
        (Ty::F32, Ty::F64) => f64::from(f32::from_bits(bits as u32)).to_bits(),
        (_, Ty::F64) if !from.is_float() => (integer(bits, from) as f64).to_bits(),
        (_, Ty::F32) if !from.is_float() => (integer(bits, from) as f32).to_bits().into(),
        (Ty::F64 | Ty::F32, _) => {
            let v = if from == Ty::F64 { f64::from_bits(bits) } else { f32::from_bits(bits as u32).into() };
            match to {
                Ty::I8 => wrap((v as i8).into(), to),
                Ty::I16 => wrap((v as i16).into(), to),
                Ty::I32 => wrap((v as i32).into(), to),
                Ty::I64 => wrap((v as i64).into(), to),
                Ty::U8 => (v as u8).into(),
                Ty::U16 => (v as u16).into(),
                Ty::U32 => (v as u32).into(),
                Ty::U64 => v as u64,
                Ty::Pred | Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64 => return None,
            }
        }
        (_, Ty::Pred) => return None,
        _ => wrap(integer(bits, from), to),
    })
}
