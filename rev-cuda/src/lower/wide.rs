//! 128-bit integers as two halves, low and high, both `U64`: signed ones in two's complement.
//!
//! Sums carry, products have four partial products of 64 bits, quotients come from a long division of
//! magnitudes bit by bit, conversions to floats round once: the upper 64 significant bits with a bit
//! that says whether anything is below them have all that rounding needs.

use rev_core::error::Cause;
use rev_core::ir::ScalarType;
use rev_core::ops::{Func, Instr};
use rev_core::scalar::rt::instr::InstrError;

use crate::kernel::{Op, Relation, Ty};

use super::atom::Atom;
use super::real::ty_of;
use super::value::{Num, Val};
use super::{Lower, Outcome};

/// Low and high half.
type Halves = [Atom; 2];

/// Whether a scalar has two halves.
pub(super) fn is_wide(real: ScalarType) -> bool {
    matches!(real, ScalarType::I128 | ScalarType::U128)
}

fn u64(v: u64) -> Atom {
    Atom::Const(v, Ty::U64)
}

fn constant(v: u128) -> Halves {
    [u64(v as u64), u64((v >> 64) as u64)]
}

fn halves(n: &Num) -> Halves {
    [n.parts[0].clone(), n.parts[1].clone()]
}

impl Lower<'_> {
    fn word(&mut self, op: Op, args: &[&Atom]) -> Outcome<Atom> {
        let args: Vec<Atom> = args.iter().map(|a| (*a).clone()).collect();
        self.op(op, Ty::U64, &args)
    }

    fn as_bit(&mut self, truth: Atom) -> Outcome<Atom> {
        self.op(Op::Convert, Ty::U64, &[truth])
    }

    fn both(&mut self, a: Atom, b: Atom) -> Outcome<Atom> {
        self.op(Op::And, Ty::Pred, &[a, b])
    }

    fn either(&mut self, a: Atom, b: Atom) -> Outcome<Atom> {
        self.op(Op::Or, Ty::Pred, &[a, b])
    }

    fn choose_halves(&mut self, cond: &Atom, a: &Halves, b: &Halves) -> Outcome<Halves> {
        Ok([self.choose(cond, &a[0], &b[0])?, self.choose(cond, &a[1], &b[1])?])
    }

    /// The sum or difference of 128-bit integers: low halves, then high halves with the carry.
    pub fn wide_sum(&mut self, add: bool, a: &Num, b: &Num) -> Outcome<Num> {
        let parts = self.add_halves(add, &halves(a), &halves(b))?.to_vec();
        Ok(Num { parts, ..a.clone() })
    }

    fn add_halves(&mut self, add: bool, a: &Halves, b: &Halves) -> Outcome<Halves> {
        let op = if add { Op::Add } else { Op::Sub };
        let low = self.word(op, &[&a[0], &b[0]])?;
        let carry = match add {
            true => self.compare(Relation::Lt, &low, &a[0])?,
            false => self.compare(Relation::Lt, &a[0], &b[0])?,
        };
        let carry = self.as_bit(carry)?;
        let high = self.word(op, &[&a[1], &b[1]])?;
        Ok([low, self.word(op, &[&high, &carry])?])
    }

    fn wide_negated(&mut self, a: &Halves) -> Outcome<Halves> {
        self.add_halves(false, &constant(0), a)
    }

    /// The product of two numbers.
    pub fn wide_product(&mut self, a: &Num, b: &Num) -> Outcome<Num> {
        let parts = self.wide_times(&halves(a), &halves(b))?.to_vec();
        Ok(Num { parts, ..a.clone() })
    }

    fn wide_times(&mut self, a: &Halves, b: &Halves) -> Outcome<Halves> {
        let low = self.word(Op::Mul, &[&a[0], &b[0]])?;
        let mut high = self.word(Op::MulHigh, &[&a[0], &b[0]])?;
        for (x, y) in [(&a[0], &b[1]), (&a[1], &b[0])] {
            let product = self.word(Op::Mul, &[x, y])?;
            high = self.word(Op::Add, &[&high, &product])?;
        }
        Ok([low, high])
    }

    fn wide_equal(&mut self, a: &Halves, b: &Halves) -> Outcome<Atom> {
        let low = self.compare(Relation::Eq, &a[0], &b[0])?;
        let high = self.compare(Relation::Eq, &a[1], &b[1])?;
        self.both(low, high)
    }

    /// `a < b`; the high halves are compared with their signs where the type has one.
    fn wide_less(&mut self, signed: bool, a: &Halves, b: &Halves) -> Outcome<Atom> {
        let (x, y) =
            if signed { (self.signed_half(a)?, self.signed_half(b)?) } else { (a[1].clone(), b[1].clone()) };
        let above = self.compare(Relation::Lt, &x, &y)?;
        let same = self.compare(Relation::Eq, &x, &y)?;
        let below = self.compare(Relation::Lt, &a[0], &b[0])?;
        let below = self.both(same, below)?;
        self.either(above, below)
    }

    fn signed_half(&mut self, a: &Halves) -> Outcome<Atom> {
        self.op(Op::Bits, Ty::I64, std::slice::from_ref(&a[1]))
    }

    /// Whether two numbers are the same.
    pub fn same_wide(&mut self, a: &Num, b: &Num) -> Outcome<Atom> {
        self.wide_equal(&halves(a), &halves(b))
    }

    /// Whether a number of a type is below zero.
    fn wide_negative(&mut self, real: ScalarType, a: &Halves) -> Outcome<Atom> {
        if real == ScalarType::U128 {
            return Ok(Atom::bool(false));
        }
        let high = self.signed_half(a)?;
        self.compare(Relation::Lt, &high, &Atom::Const(0, Ty::I64))
    }

    fn wide_absolute(&mut self, real: ScalarType, a: &Halves) -> Outcome<Halves> {
        let negative = self.wide_negative(real, a)?;
        self.wide_negated_where(&negative, a)
    }

    fn wide_negated_where(&mut self, cond: &Atom, a: &Halves) -> Outcome<Halves> {
        let opposite = self.wide_negated(a)?;
        self.choose_halves(cond, &opposite, a)
    }

    /// Shifted by an `I32`: left 0, right copies of the sign where that isn't below 128.
    fn wide_shifted(&mut self, left: bool, real: ScalarType, a: &Halves, n: &Atom) -> Outcome<Halves> {
        let n = self.op(Op::Bits, Ty::U32, std::slice::from_ref(n))?;
        let (half, all) = (Atom::Const(64, Ty::U32), Atom::Const(128, Ty::U32));
        let (near, fits) = (self.compare(Relation::Lt, &n, &half)?, self.compare(Relation::Lt, &n, &all)?);
        // amounts are taken modulo 64
        let one = Atom::Const(1, Ty::U32);
        let rest = self.op(Op::Not, Ty::U32, std::slice::from_ref(&n))?;
        let ends = Atom::Const(63, Ty::U32);
        if left {
            let low = self.op(Op::Shl, Ty::U64, &[a[0].clone(), n.clone()])?;
            let carried = self.op(Op::Shr, Ty::U64, &[a[0].clone(), one])?;
            let carried = self.op(Op::Shr, Ty::U64, &[carried, rest])?;
            let high = self.op(Op::Shl, Ty::U64, &[a[1].clone(), n])?;
            let high = self.word(Op::Or, &[&high, &carried])?;
            let far = self.choose_halves(&near, &[low.clone(), high], &[u64(0), low])?;
            return self.choose_halves(&fits, &far, &constant(0));
        }
        let signed = real == ScalarType::I128;
        let ty = if signed { Ty::I64 } else { Ty::U64 };
        let top = self.op(Op::Bits, ty, std::slice::from_ref(&a[1]))?;
        let back = |l: &mut Self, n: &Atom| {
            let shifted = l.op(Op::Shr, ty, &[top.clone(), n.clone()])?;
            l.op(Op::Bits, Ty::U64, &[shifted])
        };
        let high = back(self, &n)?;
        let copies = if signed { back(self, &ends)? } else { u64(0) };
        let low = self.op(Op::Shr, Ty::U64, &[a[0].clone(), n])?;
        let carried = self.op(Op::Shl, Ty::U64, &[a[1].clone(), one])?;
        let carried = self.op(Op::Shl, Ty::U64, &[carried, rest])?;
        let low = self.word(Op::Or, &[&low, &carried])?;
        let far = self.choose_halves(&near, &[low, high.clone()], &[high, copies.clone()])?;
        self.choose_halves(&fits, &far, &[copies.clone(), copies])
    }

    /// The quotient and the remainder of magnitudes; the divisor isn't 0. In each of 128 steps the
    /// remainder takes the next bit of the dividend and gives the divisor up where it fits.
    fn wide_divided(&mut self, m: &Halves, d: &Halves) -> Outcome<(Halves, Halves)> {
        let mut variables = Vec::new();
        for (value, name) in [(&m[0], "low"), (&m[1], "high"), (&u64(0), "rest_low"), (&u64(0), "rest_high")]
        {
            variables.push(self.variable(value, name)?);
        }
        let [q0, q1, r0, r1] = variables.as_slice() else { return Err(self.unsupported("a division")) };
        let (q, r): (Halves, Halves) = ([q0.clone(), q1.clone()], [r0.clone(), r1.clone()]);
        let d = d.clone();
        self.repeat(&Atom::Const(128, Ty::U32), |l| {
            let (bit, top) = (Atom::Const(1, Ty::U32), Atom::Const(63, Ty::U32));
            let doubled = |l: &mut Self, a: &Halves, carry: &Atom| -> Outcome<(Halves, Atom)> {
                let low = l.op(Op::Shl, Ty::U64, &[a[0].clone(), bit.clone()])?;
                let low = l.word(Op::Or, &[&low, carry])?;
                let middle = l.op(Op::Shr, Ty::U64, &[a[0].clone(), top.clone()])?;
                let high = l.op(Op::Shl, Ty::U64, &[a[1].clone(), bit.clone()])?;
                let high = l.word(Op::Or, &[&high, &middle])?;
                Ok(([low, high], l.op(Op::Shr, Ty::U64, &[a[1].clone(), top.clone()])?))
            };
            let (next, out) = doubled(l, &q, &u64(0))?;
            let (rest, beyond) = doubled(l, &r, &out)?;
            let less = l.wide_less(false, &rest, &d)?;
            let enough = l.op(Op::Not, Ty::Pred, &[less])?;
            let beyond = l.compare(Relation::Ne, &beyond, &u64(0))?;
            let fits = l.either(enough, beyond)?;
            let left = l.add_halves(false, &rest, &d)?;
            let rest = l.choose_halves(&fits, &left, &rest)?;
            let own = l.as_bit(fits)?;
            let low = l.word(Op::Or, &[&next[0], &own])?;
            for (to, value) in [(&q[0], &low), (&q[1], &next[1]), (&r[0], &rest[0]), (&r[1], &rest[1])] {
                l.assign(to, value)?;
            }
            Ok(())
        })?;
        let builder = self.builder()?;
        let [q, r] = [q, r].map(|halves| halves.map(|half| builder.freeze(&half)));
        Ok((q, r))
    }

    /// An integer quotient or remainder. Unchecked kernels give 0 for a zero divisor.
    fn wide_quotient(&mut self, div: bool, real: ScalarType, a: &Halves, b: &Halves) -> Outcome<Halves> {
        let none = self.wide_equal(b, &constant(0))?;
        if self.checks_values() {
            self.fail_if(&none, Cause::DivisionByZero)?;
        }
        let (below, other) = (self.wide_negative(real, a)?, self.wide_negative(real, b)?);
        let m = self.wide_negated_where(&below, a)?;
        let d = self.wide_negated_where(&other, b)?;
        let d = self.choose_halves(&none, &constant(1), &d)?;
        let (q, r) = self.wide_divided(&m, &d)?;
        let value = if div {
            let differ = self.op(Op::Xor, Ty::Pred, &[below, other])?;
            self.wide_negated_where(&differ, &q)?
        } else {
            self.wide_negated_where(&below, &r)?
        };
        self.choose_halves(&none, &constant(0), &value)
    }

    /// What 128-bit integers can do.
    pub fn on_wide(&mut self, func: Func, args: &[Num]) -> Outcome<Val> {
        let real = args[0].real;
        let signed = real == ScalarType::I128;
        let a = halves(&args[0]);
        if let (Func::Shl | Func::Shr, Some(n)) = (func, args.get(1)) {
            let parts = self.wide_shifted(func == Func::Shl, real, &a, &n.parts[0])?.to_vec();
            return Ok(Val::Num(Num { parts, ..args[0].clone() }));
        }
        let b = args.get(1).map_or_else(|| a.clone(), halves);
        let bits = |l: &mut Self, op: Op| Ok([l.word(op, &[&a[0], &b[0]])?, l.word(op, &[&a[1], &b[1]])?]);
        let truth = |l: &mut Self, is: Atom, expected: bool| match expected {
            true => Ok(Val::bool(is)),
            false => Ok(Val::bool(l.op(Op::Not, Ty::Pred, &[is])?)),
        };
        let parts = match func {
            Func::Eq | Func::Ne => {
                let equal = self.wide_equal(&a, &b)?;
                return truth(self, equal, func == Func::Eq);
            }
            Func::Lt | Func::Ge => {
                let less = self.wide_less(signed, &a, &b)?;
                return truth(self, less, func == Func::Lt);
            }
            Func::Gt | Func::Le => {
                let less = self.wide_less(signed, &b, &a)?;
                return truth(self, less, func == Func::Gt);
            }
            Func::Add | Func::Sub => self.add_halves(func == Func::Add, &a, &b)?,
            Func::Neg => self.wide_negated(&a)?,
            Func::Mul => self.wide_times(&a, &b)?,
            Func::MulAdd => {
                let product = self.wide_times(&a, &b)?;
                let c = args.get(2).map_or_else(|| constant(0), halves);
                self.add_halves(true, &product, &c)?
            }
            Func::Quot | Func::Rem => self.wide_quotient(func == Func::Quot, real, &a, &b)?,
            Func::BitAnd => bits(self, Op::And)?,
            Func::BitOr => bits(self, Op::Or)?,
            Func::BitXor => bits(self, Op::Xor)?,
            Func::Min | Func::Max => {
                let (x, y) = if func == Func::Min { (&b, &a) } else { (&a, &b) };
                let other = self.wide_less(signed, x, y)?;
                self.choose_halves(&other, &b, &a)?
            }
            Func::Abs => self.wide_absolute(real, &a)?,
            Func::Unit => {
                let (still, below) = (self.wide_equal(&a, &constant(0))?, self.wide_negative(real, &a)?);
                let sign = self.choose_halves(&below, &constant(u128::MAX), &constant(1))?;
                self.choose_halves(&still, &constant(0), &sign)?
            }
            Func::Conj => a,
            _ => return Err(self.unsupported(format!("`{}` of 128-bit integers", func.name()))),
        };
        Ok(Val::Num(Num { parts: parts.to_vec(), ..args[0].clone() }))
    }

    /// `k·x` or `x/k` of a 128-bit integer.
    pub fn wide_by_integer(&mut self, instr: Instr, n: &Num, k: &Atom) -> Outcome<Num> {
        let real = n.real;
        let x = halves(n);
        let factor = self.extended(k, ScalarType::I64)?;
        let (name, mul) = if instr == Instr::MulInt { ("mul_int", true) } else { ("div_int", false) };
        let checked = self.checks_values();
        if checked {
            let zero = self.wide_equal(&factor, &constant(0))?;
            self.fail_instruction(&zero, name, InstrError::Inexact)?;
            if real == ScalarType::U128 {
                let below = self.compare(Relation::Lt, k, &Atom::Const(0, Ty::I64))?;
                let reason = if mul { InstrError::Overflow } else { InstrError::Inexact };
                self.fail_instruction(&below, name, reason)?;
            }
        }
        let parts = if mul {
            let product = self.wide_times(&x, &factor)?;
            if checked {
                let back = self.wide_quotient(true, real, &product, &factor)?;
                let same = self.wide_equal(&back, &x)?;
                let mut off = self.op(Op::Not, Ty::Pred, &[same])?;
                // the smallest number times -1 wraps to itself
                let mut least = Atom::bool(real == ScalarType::I128);
                for n in [&x, &factor, &product] {
                    let below = self.wide_negative(ScalarType::I128, n)?;
                    least = self.both(least, below)?;
                }
                off = self.either(off, least)?;
                self.fail_instruction(&off, name, InstrError::Overflow)?;
            }
            product
        } else {
            if checked {
                let rest = self.wide_quotient(false, real, &x, &factor)?;
                let whole = self.wide_equal(&rest, &constant(0))?;
                let off = self.op(Op::Not, Ty::Pred, &[whole])?;
                self.fail_instruction(&off, name, InstrError::Inexact)?;
            }
            self.wide_quotient(true, real, &x, &factor)?
        };
        Ok(Num { parts: parts.to_vec(), ..n.clone() })
    }

    /// A number in another scalar type, where one of the two is a 128-bit integer.
    pub fn wide_cast(&mut self, n: &Num, to: ScalarType) -> Outcome<Num> {
        if is_wide(to) {
            let parts = self.halves_of(n, to)?.to_vec();
            return Ok(Num { real: to, complex: false, lanes: 0, parts });
        }
        Ok(Num::real(to, self.of_halves(n, to)?))
    }

    /// An integer of at most 64 bits, extended.
    fn extended(&mut self, a: &Atom, from: ScalarType) -> Outcome<Halves> {
        if !ty_of(from).is_signed() {
            return Ok([self.converted(a, from, ScalarType::U64)?, u64(0)]);
        }
        let low = self.converted(a, from, ScalarType::I64)?;
        let high = self.op(Op::Shr, Ty::I64, &[low.clone(), Atom::Const(63, Ty::U32)])?;
        Ok([self.op(Op::Bits, Ty::U64, &[low])?, self.op(Op::Bits, Ty::U64, &[high])?])
    }

    fn halves_of(&mut self, n: &Num, to: ScalarType) -> Outcome<Halves> {
        let a = &n.parts[0];
        match n.real {
            ScalarType::I128 | ScalarType::U128 => Ok(halves(n)),
            // a fixed-point number's integer saturates, which only the unsigned type can need
            ScalarType::Fixed(_) => {
                let small = if to == ScalarType::U128 { ScalarType::U64 } else { ScalarType::I64 };
                let whole = self.converted(a, n.real, small)?;
                self.extended(&whole, small)
            }
            from if ty_of(from).is_float() => {
                let x = self.converted(a, n.real, ScalarType::F64)?;
                self.wide_from_f64(&x, to)
            }
            from => self.extended(a, from),
        }
    }

    /// Truncated, saturating; NaN gives 0.
    fn wide_from_f64(&mut self, x: &Atom, to: ScalarType) -> Outcome<Halves> {
        let f64 = |v: f64| Atom::Const(v.to_bits(), Ty::F64);
        let size = self.op(Op::Abs, Ty::F64, std::slice::from_ref(x))?;
        let size = self.op(Op::Trunc, Ty::F64, &[size])?;
        let (up, down) = ((2f64).powi(64), (0.5f64).powi(64));
        let high = self.op(Op::Mul, Ty::F64, &[size.clone(), f64(down)])?;
        let high = self.op(Op::Trunc, Ty::F64, &[high])?;
        let low = self.op(Op::Fma, Ty::F64, &[high.clone(), f64(-up), size.clone()])?;
        let m = [self.op(Op::Convert, Ty::U64, &[low])?, self.op(Op::Convert, Ty::U64, &[high])?];
        let negative = self.compare(Relation::Lt, x, &f64(0.0))?;
        let (most, least, limit) = match to {
            ScalarType::U128 => (u128::MAX, 0, (2f64).powi(128)),
            _ => (i128::MAX as u128, i128::MIN as u128, (2f64).powi(127)),
        };
        let over = self.compare(Relation::Ge, &size, &f64(limit))?;
        let under = match to {
            ScalarType::U128 => negative.clone(),
            _ => self.both(over.clone(), negative.clone())?,
        };
        let value = self.wide_negated_where(&negative, &m)?;
        let value = self.choose_halves(&over, &constant(most), &value)?;
        let value = self.choose_halves(&under, &constant(least), &value)?;
        let number = self.compare(Relation::Eq, x, x)?;
        self.choose_halves(&number, &value, &constant(0))
    }

    fn of_halves(&mut self, n: &Num, to: ScalarType) -> Outcome<Atom> {
        let a = halves(n);
        match to {
            ScalarType::Bool => {
                let any = self.word(Op::Or, &[&a[0], &a[1]])?;
                self.compare(Relation::Ne, &any, &u64(0))
            }
            ScalarType::F32 | ScalarType::F64 => self.wide_to_float(n.real, &a, to),
            ScalarType::F16 | ScalarType::Bf16 => {
                let single = self.wide_to_float(n.real, &a, ScalarType::F32)?;
                self.converted(&single, ScalarType::F32, to)
            }
            ScalarType::Fixed(_) => {
                // beyond 64 bits it saturates as the ends of 64 bits do
                let below = self.wide_negative(n.real, &a)?;
                let (least, most) = (constant(i64::MIN as i128 as u128), constant(i64::MAX as u128));
                let signed = n.real == ScalarType::I128;
                let under = self.wide_less(signed, &a, &least)?;
                let under = self.both(below, under)?;
                let over = self.wide_less(signed, &most, &a)?;
                let value = self.choose(&over, &most[0], &a[0])?;
                let value = self.choose(&under, &least[0], &value)?;
                let value = self.op(Op::Bits, Ty::I64, &[value])?;
                self.converted(&value, ScalarType::I64, to)
            }
            to => self.converted(&a[0], ScalarType::U64, to),
        }
    }

    /// The nearest float, ties to even.
    fn wide_to_float(&mut self, real: ScalarType, a: &Halves, to: ScalarType) -> Outcome<Atom> {
        let ty = ty_of(to);
        let float = |v: f64| match ty {
            Ty::F32 => Atom::Const((v as f32).to_bits().into(), ty),
            _ => Atom::Const(v.to_bits(), ty),
        };
        let negative = self.wide_negative(real, a)?;
        let [mut low, mut high] = self.wide_negated_where(&negative, a)?;
        // the high half is moved up until its first bit is set, or is 0 after all
        let mut unit = float((2f64).powi(64));
        for shift in [64u32, 32, 16, 8, 4, 2, 1] {
            let free = match shift {
                64 => self.compare(Relation::Eq, &high, &u64(0))?,
                _ => self.compare(Relation::Lt, &high, &u64(1 << (64 - shift)))?,
            };
            let moved = if shift == 64 {
                [u64(0), low.clone()]
            } else {
                let amount = |n: u32| Atom::Const(n.into(), Ty::U32);
                let carried = self.op(Op::Shr, Ty::U64, &[low.clone(), amount(64 - shift)])?;
                let up = self.op(Op::Shl, Ty::U64, &[high.clone(), amount(shift)])?;
                let up = self.word(Op::Or, &[&up, &carried])?;
                [self.op(Op::Shl, Ty::U64, &[low.clone(), amount(shift)])?, up]
            };
            [low, high] = self.choose_halves(&free, &moved, &[low, high])?;
            let smaller = self.op(Op::Mul, ty, &[unit.clone(), float((0.5f64).powi(shift as i32))])?;
            unit = self.choose(&free, &smaller, &unit)?;
        }
        let rest = self.compare(Relation::Ne, &low, &u64(0))?;
        let rest = self.as_bit(rest)?;
        let significant = self.word(Op::Or, &[&high, &rest])?;
        let value = self.op(Op::Convert, ty, &[significant])?;
        let value = self.op(Op::Mul, ty, &[value, unit])?;
        let opposite = self.op(Op::Neg, ty, std::slice::from_ref(&value))?;
        self.choose(&negative, &opposite, &value)
    }
}
