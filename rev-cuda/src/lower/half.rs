//! Numbers of 16 bits: computed with in `f32`, as [`rev_core::scalar::Half`] has it. Kernels hold them
//! as what memory holds; an operation takes its operands to `f32` and rounds its result.

use rev_core::ir::ScalarType;

use crate::kernel::{Op, Ty};

use super::atom::Atom;
use super::value::{Num, Val};
use super::{Lower, Outcome};

impl Lower<'_> {
    /// An operation with operands of 16 bits, or with a result of that size; `None` for those that
    /// kernels have: copies, changes of the sign bit, and conversions from and to `f32`.
    pub fn half_op(&mut self, op: Op, ty: Ty, args: &[Atom]) -> Outcome<Option<Atom>> {
        if !ty.is_half() && !args.iter().any(|a| a.ty().is_half()) {
            return Ok(None);
        }
        match op {
            Op::Move | Op::Select | Op::Bits | Op::Neg | Op::Abs | Op::CopySign => Ok(None),
            Op::Convert => match args {
                [a] if a.ty() == ty => Ok(Some(a.clone())),
                [a] if a.ty() == Ty::F32 || ty == Ty::F32 => Ok(None),
                [a] => {
                    let single = self.op(Op::Convert, Ty::F32, std::slice::from_ref(a))?;
                    self.op(Op::Convert, ty, &[single]).map(Some)
                }
                _ => Ok(None),
            },
            _ => {
                let args = args.iter().map(|a| self.single(a)).collect::<Outcome<Vec<_>>>()?;
                let value = self.op(op, if ty.is_half() { Ty::F32 } else { ty }, &args)?;
                self.narrowed(value, ty).map(Some)
            }
        }
    }

    /// A number of 16 bits as `f32`; anything else as it is.
    pub fn single(&mut self, a: &Atom) -> Outcome<Atom> {
        match a.ty().is_half() {
            true => self.op(Op::Convert, Ty::F32, std::slice::from_ref(a)),
            false => Ok(a.clone()),
        }
    }

    /// A value rounded from `f32` where the type has 16 bits.
    pub fn narrowed(&mut self, value: Atom, ty: Ty) -> Outcome<Atom> {
        match ty.is_half() {
            true => self.op(Op::Convert, ty, &[value]),
            false => Ok(value),
        }
    }

    /// A number in the type of its cotangents.
    pub fn widened_number(&mut self, n: &Num) -> Outcome<Num> {
        let parts = n.parts.iter().map(|p| self.single(p)).collect::<Outcome<_>>()?;
        Ok(Num { real: n.real.cotangent(), parts, ..n.clone() })
    }

    /// A value in the type of its cotangents.
    pub fn cotangent_of(&mut self, val: Val) -> Outcome<Val> {
        let each = |l: &mut Self, es: Vec<Val>| {
            es.into_iter().map(|e| l.cotangent_of(e)).collect::<Outcome<Vec<_>>>()
        };
        Ok(match val {
            Val::Num(n) if n.real.is_half() => Val::Num(self.widened_number(&n)?),
            Val::Choice(c, a, b) => {
                Val::Choice(c, Box::new(self.cotangent_of(*a)?), Box::new(self.cotangent_of(*b)?))
            }
            Val::Fixed(es) => Val::Fixed(each(self, es)?),
            Val::Tuple(es) => Val::Tuple(each(self, es)?),
            Val::Struct(name, fields) => {
                let fields = fields.into_iter().map(|(n, v)| Ok((n, self.cotangent_of(v)?)));
                Val::Struct(name, fields.collect::<Outcome<_>>()?)
            }
            Val::Fill(e, shape) => Val::Fill(Box::new(self.cotangent_of(*e)?), shape),
            val @ (Val::Num(_)
            | Val::Literal(_)
            | Val::Array(_)
            | Val::EmptyStack(_)
            | Val::Function(_)
            | Val::None) => val,
        })
    }

    /// A function of numbers of 16 bits by the one of `f32`.
    pub fn through_single(
        &mut self,
        real: ScalarType,
        args: &[&Atom],
        f: impl FnOnce(&mut Self, ScalarType, &[&Atom]) -> Outcome<Atom>,
    ) -> Outcome<Atom> {
        let wide = args.iter().map(|a| self.single(a)).collect::<Outcome<Vec<_>>>()?;
        let value = f(self, ScalarType::F32, &wide.iter().collect::<Vec<_>>())?;
        self.converted(&value, ScalarType::F32, real)
    }
}
