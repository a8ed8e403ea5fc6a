//! `mov`, with vectors taken apart and put together, special registers and addresses of variables;
//! and `cvta`.

use super::lanes::lanes;
use super::{Decoder, Form};
use crate::emulator::code::{Alu, Axis, Logic, Mode, Op, Special};
use crate::emulator::memory::{LOCAL_WINDOW, SHARED_WINDOW};
use crate::emulator::syntax::{Operand, Space, Type};
use crate::emulator::SyntaxError;

impl Decoder<'_> {
    pub(super) fn mov(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let ty = self.ty(form)?;
        let [d, a] = self.operands(form)?;
        if ty == Type::PRED {
            let a = self.condition(a)?;
            return Ok(Op::Predicate { logic: Logic::And, p: self.to_pred(d)?, a, b: a });
        }
        if ty.bits < 16 {
            return Err(self.no_type(form, ty));
        }
        match (d, a) {
            (Operand::Vector(to), a) => self.unpack(ty, to, a),
            (d, Operand::Vector(from)) => self.pack(ty, d, from),
            (d, Operand::Name(name, offset)) if self.variables.contains_key(name) => {
                let at = self.variables[name].1 as i64 + offset;
                if ty.is_float() || ty.bits < 32 {
                    return Err(self.error(format!("an address isn't a `{ty}`")));
                }
                let a = self.constant(at as u64);
                self.copy(ty, d, a)
            }
            (d, Operand::Name(name, 0)) if self.special(name).is_some_and(|(s, _)| s.is_some()) => {
                let Some((Some(what), bits)) = self.special(name) else {
                    return Err(self.error(format!("`{name}` isn't supported")));
                };
                if ty.bits != bits || ty.is_float() {
                    return Err(self.error(format!("`{name}` has {bits} bits and isn't a float")));
                }
                Ok(Op::Special { what, d: self.to(d, ty)? })
            }
            (d, a) => {
                let a = self.from(a, ty)?;
                self.copy(ty, d, a)
            }
        }
    }

    fn copy(&mut self, ty: Type, d: &Operand, a: u32) -> Result<Op, SyntaxError> {
        let f: Alu = lanes!(u64, |a, _, _| a);
        let zero = self.constant(0);
        Ok(Op::Alu { f, mode: Mode::Plain, d: self.to(d, ty)?, a, b: zero, c: zero })
    }

    fn parts(&self, ty: Type, count: usize) -> Result<Type, SyntaxError> {
        let bits = ty.bits / count as u32;
        if !ty.is_bits() || !matches!((ty.bits, count), (16, 2) | (32, 2 | 4) | (64, 2 | 4)) {
            return Err(self.error(format!("`mov{ty}` can't have a vector of {count}")));
        }
        Ok(Type { bits, ..ty })
    }

    fn unpack(&mut self, ty: Type, to: &[Operand], a: &Operand) -> Result<Op, SyntaxError> {
        let part = self.parts(ty, to.len())?;
        let mut regs = [0; 4];
        for (reg, operand) in regs.iter_mut().zip(to) {
            *reg = self.to_or_sink(operand, part, super::operands::Size::Same)?;
        }
        Ok(Op::Unpack { regs, count: to.len(), bits: part.bits, a: self.from(a, ty)? })
    }

    fn pack(&mut self, ty: Type, d: &Operand, from: &[Operand]) -> Result<Op, SyntaxError> {
        let part = self.parts(ty, from.len())?;
        let mut regs = [0; 4];
        for (reg, operand) in regs.iter_mut().zip(from) {
            *reg = self.from(operand, part)?;
        }
        Ok(Op::Pack { d: self.to(d, ty)?, regs, count: from.len(), bits: part.bits })
    }

    /// `cvta{.to}.space.size d, a`: between an address of a memory and a generic one.
    pub(super) fn cvta(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let to = form.accept("to");
        let space = form.one_of(&["global", "shared", "shared::cta", "local"]);
        let ty = self.ty(form)?;
        if ty != Type::U64 {
            return Err(self.error("`cvta` is of `.u64` where addresses have 64 bits"));
        }
        let [d, a] = self.operands(form)?;
        let (f, space): (Alu, _) = match (space, to) {
            (Some("global"), _) => (lanes!(u64, |a, _, _| a), Space::Global),
            (Some("local"), false) => (lanes!(u64, |a, _, _| a.wrapping_add(LOCAL_WINDOW)), Space::Local),
            (Some("local"), true) => (lanes!(u64, |a, _, _| a.wrapping_sub(LOCAL_WINDOW)), Space::Local),
            (Some(_), false) => (lanes!(u64, |a, _, _| a.wrapping_add(SHARED_WINDOW)), Space::Shared),
            (Some(_), true) => (lanes!(u64, |a, _, _| a.wrapping_sub(SHARED_WINDOW)), Space::Shared),
            (None, _) => return Err(self.error("`cvta` needs `.global`, `.shared` or `.local`")),
        };
        let a = match a {
            Operand::Name(name, offset) if self.variables.get(name).is_some_and(|v| v.0 == space && !to) => {
                let at = self.variables[name].1 as i64 + offset;
                self.constant(at as u64)
            }
            a => self.from(a, ty)?,
        };
        let zero = self.constant(0);
        Ok(Op::Alu { f, mode: Mode::Plain, d: self.to(d, ty)?, a, b: zero, c: zero })
    }

    /// A special register and its width; `None` for one that isn't supported.
    pub(super) fn special(&self, name: &str) -> Option<(Option<Special>, u32)> {
        let what = match name {
            "%tid.x" => Special::Thread(Axis::X),
            "%tid.y" | "%tid.z" => Special::Thread(Axis::Other),
            "%ntid.x" => Special::BlockSize(Axis::X),
            "%ntid.y" | "%ntid.z" => Special::BlockSize(Axis::Other),
            "%ctaid.x" => Special::Block(Axis::X),
            "%ctaid.y" | "%ctaid.z" => Special::Block(Axis::Other),
            "%nctaid.x" => Special::Blocks(Axis::X),
            "%nctaid.y" | "%nctaid.z" => Special::Blocks(Axis::Other),
            "%laneid" => Special::Lane,
            "%warpid" => Special::Warp,
            "%nwarpid" => Special::Warps,
            "%clock" => Special::Clock,
            "%clock64" | "%globaltimer" => return Some((Some(Special::Clock), 64)),
            "%gridid" => return Some((Some(Special::Grid), 64)),
            "%lanemask_eq" => Special::LanesEqual,
            "%lanemask_lt" => Special::LanesBelow,
            "%lanemask_le" => Special::LanesUpTo,
            "%lanemask_gt" => Special::LanesAbove,
            "%lanemask_ge" => Special::LanesFrom,
            "%smid" | "%nsmid" | "%envreg0" | "%total_smem_size" | "%dynamic_smem_size" => {
                return Some((None, 32))
            }
            _ => return None,
        };
        Some((Some(what), 32))
    }
}
