//! The machine of [`rev_core::math`] that writes instructions down.

use rev_core::math::numbers::{Numbers, DOUBLE, SINGLE};
use rev_core::math::{Convert, Machine};

use crate::kernel::{Inst, Op, Relation, Ty};

use super::atom::Atom;
use super::{Lower, Outcome, Stop};

/// Writes instructions for floats of 64 bits, or of 32.
pub(super) struct Emit<'l, 'm, const WIDE: bool> {
    lower: &'l mut Lower<'m>,
    /// The machine's operations can't fail: the first failure is kept here.
    stop: Option<Stop>,
}

/// What a function of the machine gives, written down.
pub(super) fn emit<'m, const WIDE: bool, R>(
    lower: &mut Lower<'m>,
    f: impl FnOnce(&mut Emit<'_, 'm, WIDE>) -> R,
) -> Outcome<R> {
    let mut machine = Emit { lower, stop: None };
    let result = f(&mut machine);
    machine.stop.map_or(Ok(result), Err)
}

impl<const WIDE: bool> Emit<'_, '_, WIDE> {
    const FLOAT: Ty = if WIDE { Ty::F64 } else { Ty::F32 };
    const INT: Ty = if WIDE { Ty::I64 } else { Ty::I32 };
    const WORD: Ty = if WIDE { Ty::U64 } else { Ty::U32 };

    fn op(&mut self, op: Op, ty: Ty, args: &[&Atom]) -> Atom {
        let args: Vec<Atom> = args.iter().map(|a| (*a).clone()).collect();
        match self.lower.op(op, ty, &args) {
            Ok(atom) => atom,
            Err(stop) => {
                self.stop.get_or_insert(stop);
                Atom::Const(0, ty)
            }
        }
    }

    fn float_op(&mut self, op: Op, args: &[&Atom]) -> Atom {
        self.op(op, Self::FLOAT, args)
    }

    fn int_op(&mut self, op: Op, args: &[&Atom]) -> Atom {
        self.op(op, Self::INT, args)
    }

    fn holds(&mut self, relation: Relation, a: &Atom, b: &Atom) -> Atom {
        self.op(Op::Compare(relation), Ty::Pred, &[a, b])
    }

    /// An operation on the same bits without a sign.
    fn word_op(&mut self, op: Op, a: &Atom, b: &Atom) -> Atom {
        let a = self.op(Op::Bits, Self::WORD, &[a]);
        let b = if b.ty() == Self::INT { self.op(Op::Bits, Self::WORD, &[b]) } else { b.clone() };
        let result = self.op(op, Self::WORD, &[&a, &b]);
        self.op(Op::Bits, Self::INT, &[&result])
    }

    fn distance(&mut self, n: &Atom) -> Atom {
        self.op(Op::Convert, Ty::U32, &[n])
    }

    /// Computes something only where a condition holds.
    fn where_it_holds<const N: usize>(
        &mut self,
        condition: &Atom,
        fast: [Atom; N],
        slow: impl FnOnce(&mut Self) -> [Atom; N],
    ) -> Outcome<[Atom; N]> {
        let mut results = Vec::new();
        for value in &fast {
            results.push(self.lower.variable(value, "")?);
        }
        self.lower.builder()?.begin();
        let values = slow(self);
        let mut done = Ok(());
        for (to, value) in results.iter().zip(&values) {
            done = done.and_then(|()| self.lower.assign(to, value));
        }
        let then = self.lower.builder()?.end();
        done?;
        let builder = self.lower.builder()?;
        let cond = builder.operand(condition);
        builder.emit(Inst::If { cond, then, otherwise: Vec::new() });
        let mut results = results.into_iter();
        Ok(fast.map(|old| results.next().unwrap_or(old)))
    }
}

impl<const WIDE: bool> Machine for Emit<'_, '_, WIDE> {
    type F = Atom;
    type I = Atom;
    type M = Atom;
    const NUMBERS: &'static Numbers = if WIDE { &DOUBLE } else { &SINGLE };

    fn float(&mut self, c: f64) -> Atom {
        if WIDE {
            Atom::Const(c.to_bits(), Ty::F64)
        } else {
            Atom::Const((c as f32).to_bits().into(), Ty::F32)
        }
    }
    fn int(&mut self, c: i64) -> Atom {
        Atom::Const(if WIDE { c as u64 } else { (c as u32).into() }, Self::INT)
    }
    fn add(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.float_op(Op::Add, &[a, b])
    }
    fn sub(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.float_op(Op::Sub, &[a, b])
    }
    fn mul(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.float_op(Op::Mul, &[a, b])
    }
    fn div(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.float_op(Op::Div, &[a, b])
    }
    fn fma(&mut self, a: &Atom, b: &Atom, c: &Atom) -> Atom {
        self.float_op(Op::Fma, &[a, b, c])
    }
    fn sqrt(&mut self, a: &Atom) -> Atom {
        self.float_op(Op::Sqrt, &[a])
    }
    fn neg(&mut self, a: &Atom) -> Atom {
        self.float_op(Op::Neg, &[a])
    }
    fn abs(&mut self, a: &Atom) -> Atom {
        self.float_op(Op::Abs, &[a])
    }
    fn copysign(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.float_op(Op::CopySign, &[a, b])
    }
    fn lt(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.holds(Relation::Lt, a, b)
    }
    fn le(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.holds(Relation::Le, a, b)
    }
    fn eq(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.holds(Relation::Eq, a, b)
    }
    fn int_lt(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.holds(Relation::Lt, a, b)
    }
    fn int_eq(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.holds(Relation::Eq, a, b)
    }
    fn both(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.op(Op::And, Ty::Pred, &[a, b])
    }
    fn either(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.op(Op::Or, Ty::Pred, &[a, b])
    }
    fn not(&mut self, a: &Atom) -> Atom {
        self.op(Op::Not, Ty::Pred, &[a])
    }
    fn select(&mut self, c: &Atom, a: &Atom, b: &Atom) -> Atom {
        self.float_op(Op::Select, &[c, a, b])
    }
    fn select_int(&mut self, c: &Atom, a: &Atom, b: &Atom) -> Atom {
        self.int_op(Op::Select, &[c, a, b])
    }
    fn to_bits(&mut self, a: &Atom) -> Atom {
        self.int_op(Op::Bits, &[a])
    }
    fn from_bits(&mut self, a: &Atom) -> Atom {
        self.float_op(Op::Bits, &[a])
    }
    fn int_add(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.int_op(Op::Add, &[a, b])
    }
    fn int_sub(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.int_op(Op::Sub, &[a, b])
    }
    fn int_mul(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.int_op(Op::Mul, &[a, b])
    }
    fn int_mul_high(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.word_op(Op::MulHigh, a, b)
    }
    fn and(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.int_op(Op::And, &[a, b])
    }
    fn or(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.int_op(Op::Or, &[a, b])
    }
    fn xor(&mut self, a: &Atom, b: &Atom) -> Atom {
        self.int_op(Op::Xor, &[a, b])
    }
    fn shl(&mut self, a: &Atom, n: u32) -> Atom {
        self.int_op(Op::Shl, &[a, &Atom::Const(n.into(), Ty::U32)])
    }
    fn shr(&mut self, a: &Atom, n: u32) -> Atom {
        self.shifted_word(a, &Atom::Const(n.into(), Ty::U32))
    }
    fn sar(&mut self, a: &Atom, n: u32) -> Atom {
        self.int_op(Op::Shr, &[a, &Atom::Const(n.into(), Ty::U32)])
    }
    fn shl_by(&mut self, a: &Atom, n: &Atom) -> Atom {
        let n = self.distance(n);
        self.int_op(Op::Shl, &[a, &n])
    }
    fn shr_by(&mut self, a: &Atom, n: &Atom) -> Atom {
        let n = self.distance(n);
        self.shifted_word(a, &n)
    }
    fn lookup(&mut self, table: &'static [u64], index: &Atom) -> Atom {
        let index = self.op(Op::Convert, Ty::U64, &[index]);
        match self.lower.builder() {
            Ok(builder) => builder.entry(table, Self::INT, &index),
            Err(stop) => {
                self.stop.get_or_insert(stop);
                self.int(0)
            }
        }
    }

    fn rarely<const N: usize>(
        &mut self,
        condition: &Atom,
        fast: [Atom; N],
        slow: impl FnOnce(&mut Self) -> [Atom; N],
    ) -> [Atom; N] {
        match condition.truth() {
            Some(true) => slow(self),
            Some(false) => fast,
            None => match self.where_it_holds(condition, fast.clone(), slow) {
                Ok(values) => values,
                Err(stop) => {
                    self.stop.get_or_insert(stop);
                    fast
                }
            },
        }
    }
}

impl<const WIDE: bool> Emit<'_, '_, WIDE> {
    /// Shifted right with zeros moving in.
    fn shifted_word(&mut self, a: &Atom, n: &Atom) -> Atom {
        let a = self.op(Op::Bits, Self::WORD, &[a]);
        let shifted = self.op(Op::Shr, Self::WORD, &[&a, n]);
        self.op(Op::Bits, Self::INT, &[&shifted])
    }
}

impl Convert for Emit<'_, '_, true> {
    type Narrow = Atom;
    fn widen(&mut self, a: &Atom) -> Atom {
        self.op(Op::Convert, Ty::F64, &[a])
    }
    fn narrow(&mut self, a: &Atom) -> Atom {
        self.op(Op::Convert, Ty::F32, &[a])
    }
}
