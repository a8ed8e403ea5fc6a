//! Operands: which registers and constants fit an instruction's type.

use super::{Decoder, Register};
use crate::emulator::code::{Condition, Pred, Reg, TRUE};
use crate::emulator::syntax::{Class, Operand, Type};
use crate::emulator::SyntaxError;

/// The register for results that aren't wanted.
const SINK: Reg = 0;

/// The predicate likewise.
const SINK_PRED: Pred = 1;

/// How the size of a register relates to an instruction's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// They are the same.
    Same,
    /// The register may be wider: `ld`, `st` and `cvt`.
    Wider,
}

/// The manual's tables on operand types: bits go with everything of their size, integers of either
/// sign with each other, floats with floats; where the register may be wider, it is of bits, or both
/// are integers (or the instruction's type is bits and the register an integer).
fn fits(register: Type, ty: Type, size: Size) -> bool {
    use Class::{Bits, Brain, Float, Pred, Signed, Unsigned};
    if register.bits != ty.bits {
        let wider = size == Size::Wider && register.bits > ty.bits;
        return wider
            && match register.class {
                Bits => true,
                Signed | Unsigned => !ty.is_float(),
                Float | Brain | Pred => false,
            };
    }
    match (register.class, ty.class) {
        (Pred, _) | (_, Pred) => false,
        (Bits, _) | (_, Bits) => true,
        (a, b) => a == b || (register.is_integer() && ty.is_integer()),
    }
}

impl Decoder<'_> {
    fn register(&self, name: &str) -> Result<Register, SyntaxError> {
        self.scopes
            .iter()
            .rev()
            .find_map(|s| s.get(name))
            .copied()
            .ok_or_else(|| self.error(format!("`{name}` isn't declared")))
    }

    pub(super) fn pred(&self, name: &str) -> Result<Pred, SyntaxError> {
        match self.register(name)? {
            Register::Pred(p) => Ok(p),
            Register::Value(_, ty) => {
                Err(self.error(format!("`{name}` is a `{ty}` register where a predicate is expected")))
            }
        }
    }

    fn value_register(&self, name: &str, ty: Type, size: Size) -> Result<(Reg, Type), SyntaxError> {
        match self.register(name)? {
            Register::Value(r, found) if fits(found, ty, size) => Ok((r, found)),
            Register::Value(_, found) => {
                Err(self.error(format!("`{name}` is a `{found}` register where the instruction is `{ty}`")))
            }
            Register::Pred(_) => {
                Err(self.error(format!("`{name}` is a predicate where a `{ty}` register is expected")))
            }
        }
    }

    /// Where a result of a type goes, and the register's type.
    pub(super) fn result(&self, operand: &Operand, ty: Type, size: Size) -> Result<(Reg, Type), SyntaxError> {
        match operand {
            Operand::Name(name, 0) => self.value_register(name, ty, size),
            _ => Err(self.error(format!("the result must be a `{ty}` register"))),
        }
    }

    pub(super) fn to(&self, operand: &Operand, ty: Type) -> Result<Reg, SyntaxError> {
        Ok(self.result(operand, ty, Size::Same)?.0)
    }

    /// A result that `_` may stand for.
    pub(super) fn to_or_sink(&self, operand: &Operand, ty: Type, size: Size) -> Result<Reg, SyntaxError> {
        if matches!(operand, Operand::Name(name, 0) if name == "_") {
            return Ok(SINK);
        }
        Ok(self.result(operand, ty, size)?.0)
    }

    /// What an instruction of a type reads.
    pub(super) fn from(&mut self, operand: &Operand, ty: Type) -> Result<Reg, SyntaxError> {
        self.source(operand, ty, Size::Same)
    }

    pub(super) fn source(&mut self, operand: &Operand, ty: Type, size: Size) -> Result<Reg, SyntaxError> {
        match operand {
            Operand::Name(name, 0) if name.starts_with('%') && self.special(name).is_some() => {
                Err(self.error(format!("the special register `{name}` can only be read by `mov`")))
            }
            Operand::Name(name, 0) => Ok(self.value_register(name, ty, size)?.0),
            Operand::Int(_) | Operand::Double(_) | Operand::Single(_) => {
                let bits = self.immediate(operand, ty)?;
                Ok(self.constant(bits))
            }
            Operand::Name(..)
            | Operand::Vector(_)
            | Operand::Address(..)
            | Operand::Not(_)
            | Operand::Pair(..) => {
                Err(self.error(format!("expected a `{ty}` register or constant as operand")))
            }
        }
    }

    /// The bits of a constant of a type. It must be representable.
    pub(super) fn immediate(&self, operand: &Operand, ty: Type) -> Result<u64, SyntaxError> {
        let bits = match (operand, ty.class, ty.bits) {
            (Operand::Int(v), Class::Bits | Class::Unsigned | Class::Signed, bits) => {
                let fits = (-(1i128 << (bits - 1))..1i128 << bits).contains(v);
                fits.then_some(*v as u64 & (u64::MAX >> (64 - bits)))
            }
            (Operand::Single(v), Class::Float | Class::Bits, 32) => Some(v.to_bits().into()),
            (Operand::Double(v), Class::Float | Class::Bits, 64) => Some(v.to_bits()),
            (Operand::Double(v), Class::Float, 32) if f64::from(*v as f32) == *v => {
                Some((*v as f32).to_bits().into())
            }
            _ => None,
        };
        bits.ok_or_else(|| self.error(format!("the constant isn't a value of `{ty}`")))
    }

    /// A predicate as operand: a register, its negation, or a constant.
    pub(super) fn condition(&self, operand: &Operand) -> Result<Condition, SyntaxError> {
        match operand {
            Operand::Name(name, 0) => Ok(Condition { pred: self.pred(name)?, negated: false }),
            Operand::Not(name) => Ok(Condition { pred: self.pred(name)?, negated: true }),
            Operand::Int(v) => Ok(Condition { pred: TRUE, negated: *v == 0 }),
            _ => Err(self.error("expected a predicate")),
        }
    }

    /// Where a predicate goes; `_` for nowhere.
    pub(super) fn to_pred(&self, operand: &Operand) -> Result<Pred, SyntaxError> {
        match operand {
            Operand::Name(name, 0) if name == "_" => Ok(SINK_PRED),
            Operand::Name(name, 0) => self.pred(name),
            _ => Err(self.error("the result must be a predicate register")),
        }
    }

    /// `d` or `d|p`.
    pub(super) fn pair<'o>(&self, operand: &'o Operand) -> Result<(&'o Operand, Option<Pred>), SyntaxError> {
        match operand {
            Operand::Pair(d, p) => Ok((d, Some(self.to_pred(p)?))),
            d => Ok((d, None)),
        }
    }
}
