//! Loads, stores and atomics.

use super::writer::{bits, memory, register, Writer, LOCAL, SHARED};
use crate::kernel::{Address, Atomic, Operand, Reg, Space, Ty};

/// A space's name in instructions.
fn space(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Constant => "const",
    }
}

impl Writer<'_> {
    /// `[base+offset]`
    fn address(&mut self, at: &Address) -> String {
        let (base, offset) = self.base(at);
        if offset == 0 {
            format!("[{base}]")
        } else {
            format!("[{base}+{offset}]")
        }
    }

    /// A register or variable, and the bytes to add to it, which fit into 32 bits.
    fn base(&mut self, at: &Address) -> (String, i64) {
        let variable = match at.space {
            Space::Global => None,
            Space::Shared => Some(SHARED.to_string()),
            Space::Local => Some(LOCAL.to_string()),
            Space::Constant => Some(self.constants()),
        };
        match (variable, at.base) {
            (Some(name), Operand::Const(base, _)) => (name, (base as i64).wrapping_add(at.offset)),
            (Some(name), Operand::Reg(r)) => {
                let (offset, start, sum) = (self.reg(r), self.temp("u64"), self.temp("u64"));
                self.line(format_args!("mov.u64 {start}, {name}"));
                self.line(format_args!("add.u64 {sum}, {start}, {offset}"));
                (sum, at.offset)
            }
            (None, base) => {
                let base = self.in_register(base);
                if i32::try_from(at.offset).is_ok() {
                    return (base, at.offset);
                }
                let sum = self.temp("u64");
                self.line(format_args!("add.s64 {sum}, {base}, {}", at.offset));
                (sum, 0)
            }
        }
    }

    /// Reads a value from an address that is printed already.
    pub fn load(&mut self, to: Reg, name: &str, ty: Ty, from: &str) {
        let d = self.reg(to);
        if ty != Ty::Pred {
            return self.line(format_args!("{name}.{} {d}, {from}", memory(ty)));
        }
        let byte = self.temp("u16");
        self.line(format_args!("{name}.u8 {byte}, {from}"));
        self.line(format_args!("setp.ne.u16 {d}, {byte}, 0"));
    }

    /// Reads memory.
    pub fn load_from(&mut self, to: Reg, from: &Address, read_only: bool) {
        let cached = if read_only && from.space == Space::Global { ".nc" } else { "" };
        let at = self.address(from);
        let ty = self.kernel.ty(to);
        self.load(to, &format!("ld.{}{cached}", space(from.space)), ty, &at);
    }

    /// Writes memory.
    pub fn store(&mut self, to: &Address, value: Operand, ty: Ty) {
        let value = self.in_memory(value, ty);
        let at = self.address(to);
        self.line(format_args!("st.{}.{} {at}, {value}", space(to.space), memory(ty)));
    }

    /// A register with what memory holds for a value.
    fn in_memory(&mut self, value: Operand, ty: Ty) -> String {
        let value = self.in_register(value);
        if ty != Ty::Pred {
            return value;
        }
        let byte = self.temp("u16");
        self.line(format_args!("selp.u16 {byte}, 1, 0, {value}"));
        byte
    }

    /// Changes memory, and gives what was there where that is asked for.
    pub fn atomic(&mut self, old: Option<Reg>, to: &Address, op: Atomic, value: Operand, ty: Ty) {
        if to.space == Space::Local {
            return self.unshared(old, to, op, value, ty);
        }
        let name = match op {
            Atomic::Add => "add",
            Atomic::Xor => "xor",
            Atomic::Min => "min",
            Atomic::Max => "max",
        };
        let native = match op {
            Atomic::Xor => Some(bits(ty)),
            // Two's complement: 64 bits are added as unsigned ones, the only form there is.
            Atomic::Add if ty == Ty::I64 => Some("u64"),
            Atomic::Add => Some(register(ty)),
            Atomic::Min | Atomic::Max => (!ty.is_float()).then(|| register(ty)),
        };
        let (Some(t), 4 | 8) = (native, ty.size()) else {
            return self.exchange(old, to, op, value, ty);
        };
        let (value, at) = (self.in_register(value), self.address(to));
        let space = space(to.space);
        match old {
            None => self.line(format_args!("red.{space}.{name}.{t} {at}, {value}")),
            Some(old) => {
                let old = self.reg(old);
                self.line(format_args!("atom.{space}.{name}.{t} {old}, {at}, {value}"));
            }
        }
    }

    /// Local memory is nobody else's: load, combine, store.
    fn unshared(&mut self, old: Option<Reg>, to: &Address, op: Atomic, value: Operand, ty: Ty) {
        let at = self.address(to);
        let (value, was, new) = (self.in_memory(value, ty), self.temp(word(ty)), self.temp(word(ty)));
        self.line(format_args!("ld.local.{} {was}, {at}", memory(ty)));
        self.combine(&new, &was, &value, op, ty);
        self.line(format_args!("st.local.{} {at}, {new}", memory(ty)));
        self.give(old, &was);
    }

    /// What the machine has no atomic for (bytes, 16 bits, the extrema of floats): a loop that tries to
    /// exchange the aligned word around it.
    fn exchange(&mut self, old: Option<Reg>, to: &Address, op: Atomic, value: Operand, ty: Ty) {
        let value = self.in_memory(value, ty);
        let (base, offset) = self.base(to);
        let place = self.temp("u64");
        match base.as_str() {
            SHARED => self.line(format_args!("mov.u64 {place}, {base}+{offset}")),
            _ => self.line(format_args!("add.s64 {place}, {base}, {offset}")),
        }
        let (space, wide) = (space(to.space), if ty.size() == 8 { ("u64", "b64") } else { ("u32", "b32") });
        let (seen, next, found, again) =
            (self.temp(wide.0), self.temp(wide.0), self.temp(wide.0), self.temp("pred"));
        let (was, new) = (self.temp(word(ty)), self.temp(word(ty)));
        let narrow = ty.size() < 4;
        let (shift, mask) = if narrow { self.position(&place, ty) } else { Default::default() };
        // An atomic read: exchanges 0 for 0, if anything.
        self.line(format_args!("atom.{space}.cas.{} {seen}, [{place}], 0, 0", wide.1));
        self.labels += 1;
        let label = format!("L{}_try", self.labels);
        self.label(&label);
        if narrow {
            self.extract(&was, &seen, &shift, ty);
        } else {
            self.line(format_args!("mov.{} {was}, {seen}", wide.1));
        }
        self.combine(&new, &was, &value, op, ty);
        if narrow {
            self.insert(&next, &seen, &new, &shift, &mask, ty);
        } else {
            self.line(format_args!("mov.{} {next}, {new}", wide.1));
        }
        self.line(format_args!("atom.{space}.cas.{} {found}, [{place}], {seen}, {next}", wide.1));
        self.line(format_args!("setp.ne.{} {again}, {found}, {seen}", wide.0));
        self.line(format_args!("mov.{} {seen}, {found}", wide.0));
        self.line(format_args!("@{again} bra {label}"));
        self.give(old, &was);
    }

    /// Makes `place` the address of the word around it: the bits before the value in the word, and the
    /// mask of the other values.
    fn position(&mut self, place: &str, ty: Ty) -> (String, String) {
        let (low, shift, mask) = (self.temp("u32"), self.temp("u32"), self.temp("u32"));
        let ones = if ty.size() == 1 { 0xff } else { 0xffff };
        self.line(format_args!("cvt.u32.u64 {low}, {place}"));
        self.line(format_args!("and.b32 {low}, {low}, 3"));
        self.line(format_args!("shl.b32 {shift}, {low}, 3"));
        self.line(format_args!("and.b64 {place}, {place}, -4"));
        self.line(format_args!("mov.u32 {mask}, {ones}"));
        self.line(format_args!("shl.b32 {mask}, {mask}, {shift}"));
        self.line(format_args!("not.b32 {mask}, {mask}"));
        (shift, mask)
    }

    /// `was` is the value in the word `seen`.
    fn extract(&mut self, was: &str, seen: &str, shift: &str, ty: Ty) {
        let t = self.temp("u32");
        self.line(format_args!("shr.u32 {t}, {seen}, {shift}"));
        self.line(format_args!("cvt.u16.u32 {was}, {t}"));
        match ty {
            Ty::I8 => self.line(format_args!("cvt.s16.s8 {was}, {was}")),
            Ty::U8 | Ty::Pred => self.line(format_args!("cvt.u16.u8 {was}, {was}")),
            _ => {}
        }
    }

    /// `next` is the word `seen` with `new` in its place.
    fn insert(&mut self, next: &str, seen: &str, new: &str, shift: &str, mask: &str, ty: Ty) {
        let (t, u) = (self.temp("u32"), self.temp("u32"));
        self.line(format_args!("cvt.u32.u16 {t}, {new}"));
        if ty.size() == 1 {
            self.line(format_args!("and.b32 {t}, {t}, 255"));
        }
        self.line(format_args!("shl.b32 {t}, {t}, {shift}"));
        self.line(format_args!("and.b32 {u}, {seen}, {mask}"));
        self.line(format_args!("or.b32 {next}, {u}, {t}"));
    }

    /// `new = op(was, value)`; the extrema as [`Op::Min`](crate::kernel::Op::Min) has them.
    fn combine(&mut self, new: &str, was: &str, value: &str, op: Atomic, ty: Ty) {
        let t = word(ty);
        match op {
            Atomic::Add if ty.is_half() => {
                let (a, b) = (self.temp("f32"), self.temp("f32"));
                self.widen_text(&a, was, ty);
                self.widen_text(&b, value, ty);
                self.line(format_args!("add.rn.f32 {a}, {a}, {b}"));
                self.narrow_text(new, &a, ty);
            }
            Atomic::Add if ty.is_float() => self.line(format_args!("add.rn.{t} {new}, {was}, {value}")),
            Atomic::Add => self.line(format_args!("add.{t} {new}, {was}, {value}")),
            Atomic::Xor => self.line(format_args!("xor.{} {new}, {was}, {value}", raw(ty))),
            Atomic::Min | Atomic::Max => {
                let keep = self.temp("pred");
                let relation = if op == Atomic::Min { "le" } else { "ge" };
                self.line(format_args!("setp.{relation}.{t} {keep}, {was}, {value}"));
                self.line(format_args!("selp.{t} {new}, {was}, {value}, {keep}"));
            }
        }
    }

    /// Hands out what was in memory.
    fn give(&mut self, old: Option<Reg>, was: &str) {
        let Some(old) = old else { return };
        let (ty, d) = (self.kernel.ty(old), self.reg(old));
        match ty {
            Ty::Pred => self.line(format_args!("setp.ne.u16 {d}, {was}, 0")),
            _ => self.line(format_args!("mov.{} {d}, {was}", register(ty))),
        }
    }
}

/// The type of a register for what memory holds: a truth value's byte is a number.
fn word(ty: Ty) -> &'static str {
    if ty == Ty::Pred {
        "u16"
    } else {
        register(ty)
    }
}

/// Its untyped bits.
fn raw(ty: Ty) -> &'static str {
    if ty == Ty::Pred {
        "b16"
    } else {
        bits(ty)
    }
}
