//! Arithmetic on one real scalar: the sequence of operations that the scalar's own implementation in
//! [`rev_core::scalar`] makes, so that the results agree bit for bit.

use rev_core::ir::{Number, ScalarType};

use crate::kernel::{Inst, Op, Reg, Relation, Ty};

use super::atom::Atom;
use super::fixed::{below_one, half, held};
use super::types::scalar_leaves;
use super::value::constant;
use super::{Lower, Outcome};

/// The register type of a scalar of one leaf.
pub(super) fn ty_of(real: ScalarType) -> Ty {
    scalar_leaves(real)[0]
}

impl Lower<'_> {
    /// A number as a constant of a real scalar.
    pub fn number(&self, real: ScalarType, n: Number) -> Outcome<Atom> {
        self.held_here(real)?;
        match constant(n, real).as_deref() {
            Some([atom]) => Ok(atom.clone()),
            _ => Err(self.unsupported(format!("a constant of type `{}`", real.name()))),
        }
    }

    /// An integer as a constant of a real scalar.
    pub fn int(&self, real: ScalarType, n: i128) -> Outcome<Atom> {
        self.number(real, Number::Int(n))
    }

    /// A GPU has no fixed point of 128 bits.
    pub fn held_here(&self, real: ScalarType) -> Outcome<()> {
        match real {
            ScalarType::Fixed(of) if of.bits() > 64 => Err(self.unsupported(format!(
                "`{}` (only fixed point of 32 and 64 bits: a product needs integers of twice as many)",
                real.name()
            ))),
            _ => Ok(()),
        }
    }

    fn simple(&mut self, op: Op, real: ScalarType, args: &[&Atom]) -> Outcome<Atom> {
        if matches!(real, ScalarType::I128 | ScalarType::U128) {
            return Err(self.unsupported("arithmetic on 128-bit integers"));
        }
        self.held_here(real)?;
        let args: Vec<Atom> = args.iter().map(|a| (*a).clone()).collect();
        self.op(op, ty_of(real), &args)
    }

    /// `a + b`
    pub fn plus(&mut self, real: ScalarType, a: &Atom, b: &Atom) -> Outcome<Atom> {
        self.simple(Op::Add, real, &[a, b])
    }

    /// `a - b`
    pub fn minus(&mut self, real: ScalarType, a: &Atom, b: &Atom) -> Outcome<Atom> {
        self.simple(Op::Sub, real, &[a, b])
    }

    /// `a · b`
    pub fn times(&mut self, real: ScalarType, a: &Atom, b: &Atom) -> Outcome<Atom> {
        match real {
            ScalarType::Fixed(of) => {
                self.held_here(real)?;
                self.fixed_times(of, a, b)
            }
            _ => self.simple(Op::Mul, real, &[a, b]),
        }
    }

    /// `-a`
    pub fn negated(&mut self, real: ScalarType, a: &Atom) -> Outcome<Atom> {
        if ty_of(real).is_float() {
            return self.simple(Op::Neg, real, &[a]);
        }
        let zero = self.int(real, 0)?;
        self.simple(Op::Sub, real, &[&zero, a])
    }

    /// `a / b` of real numbers.
    pub fn over(&mut self, real: ScalarType, a: &Atom, b: &Atom) -> Outcome<Atom> {
        match real {
            ScalarType::Fixed(of) => {
                self.held_here(real)?;
                self.fixed_over(of, a, b)
            }
            _ => self.simple(Op::Div, real, &[a, b]),
        }
    }

    /// `a · b + c`
    pub fn fused(&mut self, real: ScalarType, a: &Atom, b: &Atom, c: &Atom) -> Outcome<Atom> {
        if ty_of(real).is_float() {
            return self.simple(Op::Fma, real, &[a, b, c]);
        }
        let product = self.times(real, a, b)?;
        self.plus(real, &product, c)
    }

    /// `c - a · b` of exact numbers.
    pub fn fused_from(&mut self, real: ScalarType, a: &Atom, b: &Atom, c: &Atom) -> Outcome<Atom> {
        let product = self.times(real, a, b)?;
        self.minus(real, c, &product)
    }

    /// `|a|`, of integers wrapped.
    pub fn absolute(&mut self, real: ScalarType, a: &Atom) -> Outcome<Atom> {
        let ty = ty_of(real);
        if ty.is_float() {
            return self.simple(Op::Abs, real, &[a]);
        }
        if !ty.is_signed() {
            return Ok(a.clone());
        }
        let zero = self.int(real, 0)?;
        let negative = self.compare(Relation::Lt, a, &zero)?;
        let opposite = self.negated(real, a)?;
        self.choose(&negative, &opposite, a)
    }

    /// `x/|x|`, 0 at 0.
    pub fn unit(&mut self, real: ScalarType, a: &Atom) -> Outcome<Atom> {
        let (zero, one) = (self.int(real, 0)?, self.int(real, 1)?);
        if ty_of(real).is_float() {
            // NaN stays
            let sign = self.simple(Op::CopySign, real, &[&one, a])?;
            let number = self.compare(Relation::Eq, a, a)?;
            let sign = self.choose(&number, &sign, a)?;
            let still = self.compare(Relation::Eq, a, &zero)?;
            return self.choose(&still, &zero, &sign);
        }
        let opposite = self.negated(real, &one)?;
        let still = self.compare(Relation::Eq, a, &zero)?;
        let sign = if ty_of(real).is_signed() {
            let negative = self.compare(Relation::Lt, a, &zero)?;
            self.choose(&negative, &opposite, &one)?
        } else {
            one
        };
        self.choose(&still, &zero, &sign)
    }

    /// A comparison of two scalars of one type.
    pub fn compare(&mut self, relation: Relation, a: &Atom, b: &Atom) -> Outcome<Atom> {
        self.op(Op::Compare(relation), Ty::Pred, &[a.clone(), b.clone()])
    }

    /// `a` where the condition holds, else `b`.
    pub fn choose(&mut self, cond: &Atom, a: &Atom, b: &Atom) -> Outcome<Atom> {
        if a == b {
            return Ok(a.clone());
        }
        self.op(Op::Select, a.ty(), &[cond.clone(), a.clone(), b.clone()])
    }

    /// A float operation with one argument; of a fixed-point number through `f64`.
    pub fn rounded(&mut self, op: Op, real: ScalarType, a: &Atom) -> Outcome<Atom> {
        match real {
            ScalarType::Fixed(of) => self.fixed_round(of, op, a),
            _ => self.simple(op, real, &[a]),
        }
    }

    /// The square root.
    pub fn root(&mut self, real: ScalarType, a: &Atom) -> Outcome<Atom> {
        if let ScalarType::Fixed(of) = real {
            let x = self.fixed_to_f64(of, a)?;
            let root = self.op(Op::Sqrt, Ty::F64, &[x])?;
            return self.fixed_from_f64(of, &root);
        }
        self.simple(Op::Sqrt, real, &[a])
    }

    /// The nearest integer, halves away from zero.
    pub fn nearest(&mut self, real: ScalarType, a: &Atom) -> Outcome<Atom> {
        if let ScalarType::Fixed(of) = real {
            // half the way to the next number, towards infinity on both sides
            let half = held(half(of), of);
            let zero = self.int(real, 0)?;
            let magnitude = self.absolute(real, a)?;
            let up = self.plus(real, &magnitude, &half)?;
            let whole = self.op(Op::And, ty_of(real), &[up, held(!below_one(of), of)])?;
            let opposite = self.negated(real, &whole)?;
            let negative = self.compare(Relation::Lt, a, &zero)?;
            return self.choose(&negative, &opposite, &whole);
        }
        let half = self.number(real, Number::Float(0.5))?;
        let one = self.int(real, 1)?;
        let whole = self.simple(Op::Trunc, real, &[a])?;
        let rest = self.minus(real, a, &whole)?;
        let rest = self.absolute(real, &rest)?;
        let away = self.compare(Relation::Ge, &rest, &half)?;
        let step = self.copy_sign(real, &one, a)?;
        let next = self.plus(real, &whole, &step)?;
        self.choose(&away, &next, &whole)
    }

    /// `|a|` with the sign of `b`.
    pub fn copy_sign(&mut self, real: ScalarType, a: &Atom, b: &Atom) -> Outcome<Atom> {
        if !matches!(real, ScalarType::Fixed(_)) {
            return self.simple(Op::CopySign, real, &[a, b]);
        }
        let magnitude = self.absolute(real, a)?;
        let opposite = self.negated(real, &magnitude)?;
        let zero = self.int(real, 0)?;
        let negative = self.compare(Relation::Lt, b, &zero)?;
        self.choose(&negative, &opposite, &magnitude)
    }

    /// The bits of a number, shifted left (0 where `n` is out of range) or right (copies of the sign).
    pub fn shifted(&mut self, left: bool, real: ScalarType, a: &Atom, n: &Atom) -> Outcome<Atom> {
        let ty = ty_of(real);
        let width = Atom::Const(8 * ty.size() as u64, Ty::U32);
        let n = self.op(Op::Bits, Ty::U32, std::slice::from_ref(n))?;
        let fits = self.compare(Relation::Lt, &n, &width)?;
        let op = if left { Op::Shl } else { Op::Shr };
        let inside = self.op(op, ty, &[a.clone(), n])?;
        let zero = self.int(real, 0)?;
        let outside = if left || !ty.is_signed() {
            zero
        } else {
            let most = Atom::Const(8 * ty.size() as u64 - 1, Ty::U32);
            self.op(Op::Shr, ty, &[a.clone(), most])?
        };
        self.choose(&fits, &inside, &outside)
    }

    /// `a` rounded to another scalar type, as [`rev_core::scalar::rt::cast`] does.
    pub fn converted(&mut self, a: &Atom, from: ScalarType, to: ScalarType) -> Outcome<Atom> {
        if from == to {
            return Ok(a.clone());
        }
        if [from, to].iter().any(|t| matches!(t, ScalarType::I128 | ScalarType::U128)) {
            return Err(self.unsupported("a conversion of 128-bit integers"));
        }
        self.held_here(from)?;
        self.held_here(to)?;
        match (from, to) {
            (half, _) if half.is_half() => {
                let single = self.single(a)?;
                self.converted(&single, ScalarType::F32, to)
            }
            (_, half) if half.is_half() => {
                let single = self.converted(a, from, ScalarType::F32)?;
                self.narrowed(single, ty_of(half))
            }
            (ScalarType::Fixed(of), ScalarType::F64) => self.fixed_to_f64(of, a),
            (ScalarType::Fixed(of), ScalarType::F32) => self.fixed_to_f32(of, a),
            (ScalarType::Fixed(from), ScalarType::Fixed(to)) => self.fixed_between(a, from, to),
            (ScalarType::Fixed(_), ScalarType::Bool) => {
                let zero = self.int(from, 0)?;
                self.compare(Relation::Ne, a, &zero)
            }
            (ScalarType::Fixed(of), _) => self.fixed_to_integer(of, a, to),
            (ScalarType::F32, ScalarType::Fixed(of)) => {
                let x = self.op(Op::Convert, Ty::F64, std::slice::from_ref(a))?;
                self.fixed_from_f64(of, &x)
            }
            (ScalarType::F64, ScalarType::Fixed(of)) => self.fixed_from_f64(of, a),
            (_, ScalarType::Fixed(of)) => self.fixed_from_integer(of, a),
            (_, ScalarType::Bool) => {
                let zero = self.int(from, 0)?;
                self.compare(Relation::Ne, a, &zero)
            }
            _ if a.ty() == ty_of(to) => Ok(a.clone()),
            _ => self.op(Op::Convert, ty_of(to), std::slice::from_ref(a)),
        }
    }

    /// An integer quotient or remainder. Unchecked kernels give 0 for a zero divisor.
    pub fn quotient(&mut self, op: Op, real: ScalarType, a: &Atom, b: &Atom) -> Outcome<Atom> {
        let ty = ty_of(real);
        if ty.size() == 8 && b.integer().is_some_and(|b| b > 0) {
            return self.simple(op, real, &[a, b]);
        }
        let (zero, one) = (self.int(real, 0)?, self.int(real, 1)?);
        let none = self.compare(Relation::Eq, b, &zero)?;
        if none.truth() != Some(false) && self.checks_values() {
            self.fail_if(&none, rev_core::error::Cause::DivisionByZero)?;
        }
        let divisor = self.choose(&none, &one, b)?;
        let q = self.simple(op, real, &[a, &divisor])?;
        let q = if ty.is_signed() && b.bits().is_none() { self.wrapped(op, real, a, b, q)? } else { q };
        self.choose(&none, &zero, &q)
    }

    /// `MIN / -1` wraps to `MIN`, and leaves nothing.
    fn wrapped(&mut self, op: Op, real: ScalarType, a: &Atom, b: &Atom, q: Atom) -> Outcome<Atom> {
        let minus_one = self.int(real, -1)?;
        let opposite = self.negated(real, a)?;
        let by_minus_one = self.compare(Relation::Eq, b, &minus_one)?;
        let wrapped = if op == Op::Div { opposite } else { self.int(real, 0)? };
        self.choose(&by_minus_one, &wrapped, &q)
    }

    /// A loop that counts a register down from a number.
    pub fn repeat(&mut self, times: &Atom, body: impl FnOnce(&mut Self) -> Outcome<()>) -> Outcome<()> {
        let left = self.variable(times, "left")?;
        let zero = Atom::Const(0, times.ty());
        let one = Atom::Const(1, times.ty());
        self.builder()?.begin();
        let cond = self.compare(Relation::Ne, &left, &zero);
        let before = self.builder()?.end();
        self.builder()?.begin();
        let done = body(self);
        let next = self.op(Op::Sub, times.ty(), &[left.clone(), one]);
        let next = next.and_then(|next| self.assign(&left, &next));
        let body = self.builder()?.end();
        done?;
        next?;
        let cond = self.builder()?.operand(&cond?);
        self.builder()?.emit(Inst::Loop { before, cond, body });
        Ok(())
    }

    /// A register that is assigned more than once.
    pub fn variable(&mut self, first: &Atom, name: &str) -> Outcome<Atom> {
        Ok(self.builder()?.variable(first, name))
    }

    /// Assigns a variable.
    pub fn assign(&mut self, to: &Atom, value: &Atom) -> Outcome<()> {
        if to == value {
            return Ok(());
        }
        match to {
            Atom::Reg(reg, _) => {
                let reg: Reg = *reg;
                self.builder()?.assign(reg, value);
                Ok(())
            }
            Atom::Const(..) | Atom::Word(..) | Atom::Buffer(_) => Err(self.unsupported("writing a constant")),
        }
    }
}
