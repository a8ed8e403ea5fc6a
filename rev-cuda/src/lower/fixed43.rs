//! Fixed point with 43 fraction bits on 64-bit integers, with the roundings of
//! [`rev_core::scalar::Fixed43`].

use rev_core::ir::ScalarType;

use crate::kernel::{Op, Relation, Ty};

use super::atom::Atom;
use super::real::ty_of;
use super::{Lower, Outcome};

const FRACTION: u64 = 43;
const FIXED: ScalarType = ScalarType::Fixed43;

fn u64(v: u64) -> Atom {
    Atom::Const(v, Ty::U64)
}
fn i64(v: i64) -> Atom {
    Atom::Const(v as u64, Ty::I64)
}
fn bits(n: u64) -> Atom {
    Atom::Const(n, Ty::U32)
}

impl Lower<'_> {
    fn unsigned(&mut self, op: Op, args: &[&Atom]) -> Outcome<Atom> {
        let args: Vec<Atom> = args.iter().map(|a| (*a).clone()).collect();
        self.op(op, Ty::U64, &args)
    }

    fn bits_as(&mut self, ty: Ty, a: &Atom) -> Outcome<Atom> {
        self.op(Op::Bits, ty, std::slice::from_ref(a))
    }

    /// `(a · b + 2⁴²) >> 43` of the 128-bit product.
    pub fn fixed_times(&mut self, a: &Atom, b: &Atom) -> Outcome<Atom> {
        let high = self.op(Op::MulHigh, Ty::I64, &[a.clone(), b.clone()])?;
        let low = self.op(Op::Mul, Ty::I64, &[a.clone(), b.clone()])?;
        let low = self.bits_as(Ty::U64, &low)?;
        let sum = self.unsigned(Op::Add, &[&low, &u64(1 << (FRACTION - 1))])?;
        let carry = self.compare(Relation::Lt, &sum, &low)?;
        let carry = self.op(Op::Convert, Ty::U64, &[carry])?;
        let high = self.bits_as(Ty::U64, &high)?;
        let high = self.unsigned(Op::Add, &[&high, &carry])?;
        let high = self.unsigned(Op::Shl, &[&high, &bits(64 - FRACTION)])?;
        let low = self.unsigned(Op::Shr, &[&sum, &bits(FRACTION)])?;
        let both = self.unsigned(Op::Or, &[&high, &low])?;
        self.bits_as(Ty::I64, &both)
    }

    /// `n/d` rounded to nearest, halves up, saturating; 0 for 0/0. With `m = |n|`, `e = |d|`: a long
    /// division of `m · 2⁴³` by `e`, of which the first 64 bits are one instruction.
    pub fn fixed_over(&mut self, n: &Atom, d: &Atom) -> Outcome<Atom> {
        let zero = i64(0);
        let (n_below, d_below) =
            (self.compare(Relation::Lt, n, &zero)?, self.compare(Relation::Lt, d, &zero)?);
        let negative = self.op(Op::Xor, Ty::Pred, &[n_below.clone(), d_below])?;
        let none = self.compare(Relation::Eq, d, &zero)?;
        let (m, e) = (self.absolute(FIXED, n)?, self.absolute(FIXED, d)?);
        let (m, e) = (self.bits_as(Ty::U64, &m)?, self.bits_as(Ty::U64, &e)?);
        let e = self.choose(&none, &u64(1), &e)?;
        let first = self.unsigned(Op::Div, &[&m, &e])?;
        let rest = self.unsigned(Op::Rem, &[&m, &e])?;
        let large = self.compare(Relation::Ge, &first, &u64(1 << 20))?;
        let (q, r) = (self.variable(&first, "quotient")?, self.variable(&rest, "rest")?);
        self.repeat(&Atom::Const(FRACTION, Ty::U32), |l| {
            let doubled = l.unsigned(Op::Shl, &[&r, &bits(1)])?;
            let fits = l.compare(Relation::Ge, &doubled, &e)?;
            let less = l.unsigned(Op::Sub, &[&doubled, &e])?;
            let next = l.choose(&fits, &less, &doubled)?;
            l.assign(&r, &next)?;
            let bit = l.op(Op::Convert, Ty::U64, &[fits])?;
            let q2 = l.unsigned(Op::Shl, &[&q, &bits(1)])?;
            let q2 = l.unsigned(Op::Or, &[&q2, &bit])?;
            l.assign(&q, &q2)
        })?;
        // halves go up: away from zero above it, towards it below
        let left = self.unsigned(Op::Sub, &[&e, &r])?;
        let (at_least, above) =
            (self.compare(Relation::Ge, &r, &left)?, self.compare(Relation::Gt, &r, &left)?);
        let up = self.choose(&negative, &above, &at_least)?;
        let up = self.op(Op::Convert, Ty::U64, &[up])?;
        let q = self.unsigned(Op::Add, &[&q, &up])?;
        let most = u64(i64::MAX as u64);
        let over = self.compare(Relation::Gt, &q, &most)?;
        let over = self.op(Op::Or, Ty::Pred, &[over, large.clone()])?;
        let positive = self.choose(&over, &most, &q)?;
        let opposite = self.unsigned(Op::Sub, &[&u64(0), &q])?;
        let opposite = self.choose(&large, &u64(i64::MIN as u64), &opposite)?;
        let value = self.choose(&negative, &opposite, &positive)?;
        let value = self.bits_as(Ty::I64, &value)?;
        let end = self.choose(&n_below, &i64(i64::MIN), &i64(i64::MAX))?;
        let still = self.compare(Relation::Eq, n, &zero)?;
        let end = self.choose(&still, &zero, &end)?;
        self.choose(&none, &end, &value)
    }

    /// The nearest `f64`.
    pub fn fixed_to_f64(&mut self, a: &Atom) -> Outcome<Atom> {
        let x = self.op(Op::Convert, Ty::F64, std::slice::from_ref(a))?;
        let unit = Atom::Const((0.5f64).powi(FRACTION as i32).to_bits(), Ty::F64);
        self.op(Op::Mul, Ty::F64, &[x, unit])
    }

    /// The nearest `f32`, rounded once.
    pub fn fixed_to_f32(&mut self, a: &Atom) -> Outcome<Atom> {
        let x = self.op(Op::Convert, Ty::F32, std::slice::from_ref(a))?;
        let unit = Atom::Const((0.5f32).powi(FRACTION as i32).to_bits().into(), Ty::F32);
        self.op(Op::Mul, Ty::F32, &[x, unit])
    }

    /// The nearest fixed-point number, saturating; 0 for NaN.
    pub fn fixed_from_f64(&mut self, x: &Atom) -> Outcome<Atom> {
        let one = Atom::Const((2.0f64).powi(FRACTION as i32).to_bits(), Ty::F64);
        let scaled = self.op(Op::Mul, Ty::F64, &[x.clone(), one])?;
        let whole = self.op(Op::RoundEven, Ty::F64, &[scaled])?;
        self.op(Op::Convert, Ty::I64, &[whole])
    }

    /// An integer as a fixed-point number, saturating.
    pub fn fixed_from_integer(&mut self, a: &Atom) -> Outcome<Atom> {
        let (wide, most) = if a.ty().is_signed() {
            (self.widened(a, Ty::I64)?, i64((1 << 20) - 1))
        } else {
            (self.widened(a, Ty::U64)?, u64((1 << 20) - 1))
        };
        let over = self.compare(Relation::Gt, &wide, &most)?;
        let shifted = self.op(Op::Shl, wide.ty(), &[wide.clone(), bits(FRACTION)])?;
        let shifted = if wide.ty() == Ty::I64 { shifted } else { self.bits_as(Ty::I64, &shifted)? };
        let value = self.choose(&over, &i64(i64::MAX), &shifted)?;
        if !a.ty().is_signed() {
            return Ok(value);
        }
        let under = self.compare(Relation::Lt, &wide, &i64(-(1 << 20)))?;
        self.choose(&under, &i64(i64::MIN), &value)
    }

    fn widened(&mut self, a: &Atom, ty: Ty) -> Outcome<Atom> {
        if a.ty() == ty {
            Ok(a.clone())
        } else {
            self.op(Op::Convert, ty, std::slice::from_ref(a))
        }
    }

    /// The integer part in an integer type, saturating.
    pub fn fixed_to_integer(&mut self, a: &Atom, to: ScalarType) -> Outcome<Atom> {
        let whole = self.fixed_round(Op::Trunc, a)?;
        let whole = self.op(Op::Shr, Ty::I64, &[whole, bits(FRACTION)])?;
        let ty = ty_of(to);
        let (low, high): (i64, i64) = match ty {
            Ty::I8 => (i8::MIN.into(), i8::MAX.into()),
            Ty::I16 => (i16::MIN.into(), i16::MAX.into()),
            Ty::U8 => (0, u8::MAX.into()),
            Ty::U16 => (0, u16::MAX.into()),
            Ty::U32 | Ty::U64 => (0, i64::MAX),
            Ty::Pred | Ty::I32 | Ty::I64 | Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64 => (i64::MIN, i64::MAX),
        };
        let whole = self.op(Op::Max, Ty::I64, &[whole, i64(low)])?;
        let whole = self.op(Op::Min, Ty::I64, &[whole, i64(high)])?;
        if ty == Ty::I64 {
            return Ok(whole);
        }
        self.op(Op::Convert, ty, &[whole])
    }

    /// Rounded to a whole number: down, up or towards zero, wrapping.
    pub fn fixed_round(&mut self, op: Op, a: &Atom) -> Outcome<Atom> {
        let mask = i64(-1 << FRACTION);
        let part = i64((1 << FRACTION) - 1);
        let add = match op {
            Op::Floor => i64(0),
            Op::Ceil => part,
            _ => {
                let below = self.compare(Relation::Lt, a, &i64(0))?;
                self.choose(&below, &part, &i64(0))?
            }
        };
        let sum = self.op(Op::Add, Ty::I64, &[a.clone(), add])?;
        self.op(Op::And, Ty::I64, &[sum, mask])
    }
}
