//! Fixed point of 32 and 64 bits with any fraction, on integers, with the roundings of [`rev_core::scalar::FixedPoint`].

use rev_core::ir::{FixedFormat, ScalarType};
use rev_core::scalar::{FixedPoint, FormatScope, Real};

use crate::kernel::{Op, Relation, Ty};

use super::atom::{wrap, Atom};
use super::real::ty_of;
use super::{Lower, Outcome};

fn u64(v: u64) -> Atom {
    Atom::Const(v, Ty::U64)
}
fn i64(v: i64) -> Atom {
    Atom::Const(v as u64, Ty::I64)
}
fn bits(n: u32) -> Atom {
    Atom::Const(n.into(), Ty::U32)
}

/// The register type of a format.
fn word(of: FixedFormat) -> Ty {
    ty_of(ScalarType::Fixed(of))
}

/// Bits in a register of a format.
pub(super) fn held(v: i64, of: FixedFormat) -> Atom {
    Atom::Const(wrap(v.into(), word(of)), word(of))
}

fn most(of: FixedFormat) -> i64 {
    i64::MAX >> (64 - of.bits())
}

fn least(of: FixedFormat) -> i64 {
    !most(of)
}

/// What is behind the point, all set.
pub(super) fn below_one(of: FixedFormat) -> i64 {
    (1 << of.fraction()) - 1
}

/// Half of one, or 0 of whole numbers.
pub(super) fn half(of: FixedFormat) -> i64 {
    (1 << of.fraction()) >> 1
}

/// π.
pub(super) fn pi(of: FixedFormat) -> Atom {
    let _format = FormatScope::of(Some(of));
    held(<FixedPoint as Real>::pi().to_bits() as i64, of)
}

impl Lower<'_> {
    fn unsigned(&mut self, op: Op, args: &[&Atom]) -> Outcome<Atom> {
        let args: Vec<Atom> = args.iter().map(|a| (*a).clone()).collect();
        self.op(op, Ty::U64, &args)
    }

    fn bits_as(&mut self, ty: Ty, a: &Atom) -> Outcome<Atom> {
        self.op(Op::Bits, ty, std::slice::from_ref(a))
    }

    fn signed(&mut self, op: Op, args: &[&Atom]) -> Outcome<Atom> {
        let args: Vec<Atom> = args.iter().map(|a| (*a).clone()).collect();
        self.op(op, Ty::I64, &args)
    }

    /// Bits of at most 64 that fit a format, in its registers.
    fn fitted(&mut self, a: &Atom, of: FixedFormat) -> Outcome<Atom> {
        self.widened(a, word(of))
    }

    /// The same with the end of the range for what is out of it.
    fn saturated(&mut self, a: &Atom, of: FixedFormat) -> Outcome<Atom> {
        if of.bits() == 64 {
            return Ok(a.clone());
        }
        let a = self.signed(Op::Max, &[a, &i64(least(of))])?;
        let a = self.signed(Op::Min, &[&a, &i64(most(of))])?;
        self.fitted(&a, of)
    }

    /// `(a · b + 2^(f-1)) >> f` of the product of twice as many bits.
    pub fn fixed_times(&mut self, of: FixedFormat, a: &Atom, b: &Atom) -> Outcome<Atom> {
        let fraction = of.fraction();
        if of.bits() == 32 {
            let (a, b) = (self.widened(a, Ty::I64)?, self.widened(b, Ty::I64)?);
            let product = self.signed(Op::Mul, &[&a, &b])?;
            let product = self.signed(Op::Add, &[&product, &i64(half(of))])?;
            let product = self.signed(Op::Shr, &[&product, &bits(fraction)])?;
            return self.fitted(&product, of);
        }
        let high = self.op(Op::MulHigh, Ty::I64, &[a.clone(), b.clone()])?;
        let low = self.op(Op::Mul, Ty::I64, &[a.clone(), b.clone()])?;
        let low = self.bits_as(Ty::U64, &low)?;
        let sum = self.unsigned(Op::Add, &[&low, &u64(half(of) as u64)])?;
        let carry = self.compare(Relation::Lt, &sum, &low)?;
        let carry = self.op(Op::Convert, Ty::U64, &[carry])?;
        let high = self.bits_as(Ty::U64, &high)?;
        let high = self.unsigned(Op::Add, &[&high, &carry])?;
        if fraction == 0 {
            return self.bits_as(Ty::I64, &sum);
        }
        let high = self.unsigned(Op::Shl, &[&high, &bits(64 - fraction)])?;
        let low = self.unsigned(Op::Shr, &[&sum, &bits(fraction)])?;
        let both = self.unsigned(Op::Or, &[&high, &low])?;
        self.bits_as(Ty::I64, &both)
    }

    /// `n/d` rounded to nearest, halves up, saturating; 0 for 0/0. With `m = |n|`, `e = |d|`: a long
    /// division of `m · 2^f` by `e`, of which the first 64 bits are one instruction.
    pub fn fixed_over(&mut self, of: FixedFormat, n: &Atom, d: &Atom) -> Outcome<Atom> {
        if of.bits() == 32 {
            return self.narrow_over(of, n, d);
        }
        let fixed = ScalarType::Fixed(of);
        let zero = i64(0);
        let (n_below, d_below) =
            (self.compare(Relation::Lt, n, &zero)?, self.compare(Relation::Lt, d, &zero)?);
        let negative = self.op(Op::Xor, Ty::Pred, &[n_below.clone(), d_below])?;
        let none = self.compare(Relation::Eq, d, &zero)?;
        let (m, e) = (self.absolute(fixed, n)?, self.absolute(fixed, d)?);
        let (m, e) = (self.bits_as(Ty::U64, &m)?, self.bits_as(Ty::U64, &e)?);
        let e = self.choose(&none, &u64(1), &e)?;
        let first = self.unsigned(Op::Div, &[&m, &e])?;
        let rest = self.unsigned(Op::Rem, &[&m, &e])?;
        let large = self.compare(Relation::Ge, &first, &u64(1 << (63 - of.fraction())))?;
        let (q, r) = (self.variable(&first, "quotient")?, self.variable(&rest, "rest")?);
        self.repeat(&bits(of.fraction()), |l| {
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

    /// The same of 32 bits: the quotient of numbers of 64, rounded down.
    fn narrow_over(&mut self, of: FixedFormat, n: &Atom, d: &Atom) -> Outcome<Atom> {
        let zero = i64(0);
        let (n, d) = (self.widened(n, Ty::I64)?, self.widened(d, Ty::I64)?);
        let (n_below, d_below) =
            (self.compare(Relation::Lt, &n, &zero)?, self.compare(Relation::Lt, &d, &zero)?);
        let none = self.compare(Relation::Eq, &d, &zero)?;
        let still = self.compare(Relation::Eq, &n, &zero)?;
        let end = self.choose(&n_below, &i64(least(of)), &i64(most(of)))?;
        let end = self.choose(&still, &zero, &end)?;
        let (minus_n, minus_d) = (self.signed(Op::Sub, &[&zero, &n])?, self.signed(Op::Sub, &[&zero, &d])?);
        let n = self.choose(&d_below, &minus_n, &n)?;
        let d = self.choose(&d_below, &minus_d, &d)?;
        let d = self.choose(&none, &i64(1), &d)?;
        let n = self.signed(Op::Shl, &[&n, &bits(of.fraction() + 1)])?;
        let n = self.signed(Op::Add, &[&n, &d])?;
        let d = self.signed(Op::Shl, &[&d, &bits(1)])?;
        let q = self.signed(Op::Div, &[&n, &d])?;
        let rest = self.signed(Op::Rem, &[&n, &d])?;
        let down = self.compare(Relation::Lt, &rest, &zero)?;
        let less = self.signed(Op::Sub, &[&q, &i64(1)])?;
        let q = self.choose(&down, &less, &q)?;
        let q = self.choose(&none, &end, &q)?;
        self.saturated(&q, of)
    }

    /// The nearest `f64`.
    pub fn fixed_to_f64(&mut self, of: FixedFormat, a: &Atom) -> Outcome<Atom> {
        let x = self.op(Op::Convert, Ty::F64, std::slice::from_ref(a))?;
        let unit = Atom::Const((0.5f64).powi(of.fraction() as i32).to_bits(), Ty::F64);
        self.op(Op::Mul, Ty::F64, &[x, unit])
    }

    /// The nearest `f32`, rounded once.
    pub fn fixed_to_f32(&mut self, of: FixedFormat, a: &Atom) -> Outcome<Atom> {
        let x = self.op(Op::Convert, Ty::F32, std::slice::from_ref(a))?;
        let unit = Atom::Const((0.5f32).powi(of.fraction() as i32).to_bits().into(), Ty::F32);
        self.op(Op::Mul, Ty::F32, &[x, unit])
    }

    /// The nearest fixed-point number, saturating; 0 for NaN.
    pub fn fixed_from_f64(&mut self, of: FixedFormat, x: &Atom) -> Outcome<Atom> {
        let one = Atom::Const((2.0f64).powi(of.fraction() as i32).to_bits(), Ty::F64);
        let scaled = self.op(Op::Mul, Ty::F64, &[x.clone(), one])?;
        let whole = self.op(Op::RoundEven, Ty::F64, &[scaled])?;
        self.op(Op::Convert, word(of), &[whole])
    }

    /// An integer as a fixed-point number, saturating.
    pub fn fixed_from_integer(&mut self, of: FixedFormat, a: &Atom) -> Outcome<Atom> {
        let limit = most(of) >> of.fraction();
        let (wide, limit) = if a.ty().is_signed() {
            (self.widened(a, Ty::I64)?, i64(limit))
        } else {
            (self.widened(a, Ty::U64)?, u64(limit as u64))
        };
        let over = self.compare(Relation::Gt, &wide, &limit)?;
        let shifted = self.op(Op::Shl, wide.ty(), &[wide.clone(), bits(of.fraction())])?;
        let shifted = if wide.ty() == Ty::I64 { shifted } else { self.bits_as(Ty::I64, &shifted)? };
        let mut value = self.choose(&over, &i64(most(of)), &shifted)?;
        if a.ty().is_signed() {
            let under = self.compare(Relation::Lt, &wide, &i64(least(of) >> of.fraction()))?;
            value = self.choose(&under, &i64(least(of)), &value)?;
        }
        self.fitted(&value, of)
    }

    fn widened(&mut self, a: &Atom, ty: Ty) -> Outcome<Atom> {
        if a.ty() == ty {
            Ok(a.clone())
        } else {
            self.op(Op::Convert, ty, std::slice::from_ref(a))
        }
    }

    /// The integer part in an integer type, saturating.
    pub fn fixed_to_integer(&mut self, of: FixedFormat, a: &Atom, to: ScalarType) -> Outcome<Atom> {
        let whole = self.fixed_round(of, Op::Trunc, a)?;
        let whole = self.widened(&whole, Ty::I64)?;
        let whole = self.signed(Op::Shr, &[&whole, &bits(of.fraction())])?;
        let (low, high) = match (to.signed(), to.bits()) {
            (Some(true), 64) | (None, _) => return self.widened(&whole, ty_of(to)),
            (Some(true), n) => (-1 << (n - 1), (1 << (n - 1)) - 1),
            (Some(false), 64) => (0, i64::MAX),
            (Some(false), n) => (0, (1 << n) - 1),
        };
        let whole = self.signed(Op::Max, &[&whole, &i64(low)])?;
        let whole = self.signed(Op::Min, &[&whole, &i64(high)])?;
        self.widened(&whole, ty_of(to))
    }

    /// The number in another format: rounded to nearest, halves up, saturating.
    pub fn fixed_between(&mut self, a: &Atom, from: FixedFormat, to: FixedFormat) -> Outcome<Atom> {
        let a = self.widened(a, Ty::I64)?;
        if to.fraction() < from.fraction() {
            let less = from.fraction() - to.fraction();
            let whole = self.signed(Op::Shr, &[&a, &bits(less)])?;
            let next = self.signed(Op::Shr, &[&a, &bits(less - 1)])?;
            let next = self.signed(Op::And, &[&next, &i64(1)])?;
            let sum = self.signed(Op::Add, &[&whole, &next])?;
            return self.saturated(&sum, to);
        }
        let more = to.fraction() - from.fraction();
        let over = self.compare(Relation::Gt, &a, &i64(most(to) >> more))?;
        let under = self.compare(Relation::Lt, &a, &i64(least(to) >> more))?;
        let value = self.signed(Op::Shl, &[&a, &bits(more)])?;
        let value = self.choose(&over, &i64(most(to)), &value)?;
        let value = self.choose(&under, &i64(least(to)), &value)?;
        self.fitted(&value, to)
    }

    /// Rounded to a whole number: down, up or towards zero, wrapping.
    pub fn fixed_round(&mut self, of: FixedFormat, op: Op, a: &Atom) -> Outcome<Atom> {
        let (part, zero) = (held(below_one(of), of), held(0, of));
        let add = match op {
            Op::Floor => zero,
            Op::Ceil => part,
            _ => {
                let below = self.compare(Relation::Lt, a, &zero)?;
                self.choose(&below, &part, &zero)?
            }
        };
        let sum = self.op(Op::Add, word(of), &[a.clone(), add])?;
        self.op(Op::And, word(of), &[sum, held(!below_one(of), of)])
    }
}
