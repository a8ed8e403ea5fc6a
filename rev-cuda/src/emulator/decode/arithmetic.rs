//! The instructions whose name is the same for integers and floats.

use super::{Decoder, Form};
use crate::emulator::code::{Alu, Mode, Op};
use crate::emulator::syntax::Type;
use crate::emulator::SyntaxError;

impl Decoder<'_> {
    /// `add`, `sub`, `mul`, `mad`, `fma`, `div`, `rem`, `neg`, `abs`, `min`, `max`: the type decides.
    pub(super) fn arithmetic(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        match form.mods.last().and_then(|m| Type::named(m)) {
            Some(ty) if ty.is_float() => self.float(form, Some(ty)),
            _ => self.integer(form),
        }
    }

    /// An operation on as many operands as the instruction has, all of one type.
    pub(super) fn alu(
        &mut self,
        form: &Form<'_>,
        types: &[Type],
        result: Type,
        f: Option<Alu>,
        mode: Mode,
    ) -> Result<Op, SyntaxError> {
        self.no_more(form)?;
        let f = f.ok_or_else(|| self.no_type(form, result))?;
        let (Some((d, sources)), true) =
            (form.operands.split_first(), form.operands.len() == types.len() + 1)
        else {
            let (n, found) = (types.len() + 1, form.operands.len());
            return Err(self.error(format!("`{}` takes {n} operands here, not {found}", form.name)));
        };
        let d = self.to(d, result)?;
        let mut regs = [self.constant(0); 3];
        for ((reg, operand), ty) in regs.iter_mut().zip(sources).zip(types) {
            *reg = self.from(operand, *ty)?;
        }
        Ok(Op::Alu { f, mode, d, a: regs[0], b: regs[1], c: regs[2] })
    }
}
