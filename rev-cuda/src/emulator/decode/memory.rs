//! `ld`, `st`, `atom` and `red`.

use super::operands::Size;
use super::{Decoder, Form};
use crate::emulator::code::{Access, Address, Op, Reg, Strength, Update};
use crate::emulator::syntax::{Class, Operand, Space, Type};
use crate::emulator::SyntaxError;

impl Decoder<'_> {
    /// `ld{.weak|.volatile|.relaxed.scope|.acquire.scope}{.space}{.cache}{.nc}{.vec}.type d, [a]`
    pub(super) fn load(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let strength = self.strength(form, "acquire")?;
        let space = space(form);
        let cache = caching(form, &["ca", "cg", "cs", "lu", "cv"]);
        let constant = form.name == "ldu" || form.accept("nc");
        let _ = cache || caching(form, &[]);
        if constant && !matches!(space, Space::Global) {
            return Err(self.error("`.nc` and `ldu` exist only for `.global`"));
        }
        let count = vector(form);
        let ty = self.ty(form)?;
        let [d, a] = self.operands(form)?;
        let mut access = self.access(ty, count, strength)?;
        let parts =
            vector_parts(d, count).ok_or_else(|| self.error(format!("expected {count} registers")))?;
        for (reg, operand) in access.regs.iter_mut().zip(parts) {
            if count > 1 {
                *reg = self.to_or_sink(operand, ty, Size::Wider)?;
            } else {
                let (r, found) = self.result(operand, ty, Size::Wider)?;
                *reg = r;
                access.sign_to = (ty.is_signed() && found.bits > ty.bits).then_some(found.bits);
            }
        }
        if space == Space::Param {
            return self.load_param(a, access);
        }
        access.address = self.address(a, space)?;
        Ok(Op::Load(access))
    }

    fn load_param(&mut self, a: &Operand, access: Access) -> Result<Op, SyntaxError> {
        let Operand::Address(Some(name), offset) = a else {
            return Err(self.error("`ld.param` needs the name of a parameter"));
        };
        let Some((at, bytes)) = self.params.get(name).copied() else {
            return Err(self.error(format!("`{name}` isn't a parameter")));
        };
        let size = (access.bytes * access.count) as i64;
        if *offset < 0 || offset + size > bytes as i64 {
            return Err(self.error(format!("`{name}` has {bytes} bytes, and {size} are read at {offset}")));
        }
        let at = at + *offset as usize;
        if !at.is_multiple_of(size as usize) {
            return Err(self.error(format!("`[{name}+{offset}]` isn't aligned to {size} bytes")));
        }
        Ok(Op::LoadParam { at, access })
    }

    /// `st{.weak|.volatile|.relaxed.scope|.release.scope}{.space}{.cache}{.vec}.type [a], b`
    pub(super) fn store(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let strength = self.strength(form, "release")?;
        let space = space(form);
        caching(form, &["wb", "cg", "cs", "wt"]);
        let count = vector(form);
        let ty = self.ty(form)?;
        if space == Space::Param {
            return Err(self.error("parameters can't be written"));
        }
        if space == Space::Constant {
            return Err(self.error("constants can't be written"));
        }
        let [a, b] = self.operands(form)?;
        let mut access = self.access(ty, count, strength)?;
        let parts =
            vector_parts(b, count).ok_or_else(|| self.error(format!("expected {count} registers")))?;
        for (reg, operand) in access.regs.iter_mut().zip(parts) {
            *reg = self.source(operand, ty, Size::Wider)?;
        }
        access.address = self.address(a, space)?;
        Ok(Op::Store(access))
    }

    fn access(&mut self, ty: Type, count: usize, strength: Strength) -> Result<Access, SyntaxError> {
        if ty == Type::PRED || (ty.bits == 16 && ty.is_float()) {
            return Err(self.error(format!("memory has no `{ty}`")));
        }
        let bytes = ty.bytes();
        if bytes * count > 16 {
            return Err(self.error("a vector has at most 16 bytes"));
        }
        let address = Address { space: Space::Generic, base: self.constant(0), offset: 0 };
        Ok(Access { address, regs: [0; 4], count, bytes, sign_to: None, strength })
    }

    fn address(&mut self, operand: &Operand, space: Space) -> Result<Address, SyntaxError> {
        match operand {
            Operand::Address(None, _) if space != Space::Local => {
                Err(self.error("a constant address exists only in local memory"))
            }
            Operand::Address(None, offset) => Ok(Address { space, base: self.constant(0), offset: *offset }),
            Operand::Address(Some(name), offset) => match self.variables.get(name) {
                Some((found, at)) if *found == space => {
                    let offset = *at as i64 + offset;
                    Ok(Address { space, base: self.constant(0), offset })
                }
                Some((found, _)) => {
                    Err(self.error(format!("`{name}` is a .{found} variable, the access is {space}")))
                }
                None => {
                    let base = self.address_register(name, space)?;
                    Ok(Address { space, base, offset: *offset })
                }
            },
            _ => Err(self.error("expected an address in brackets")),
        }
    }

    /// Registers of 64 bits; of 32 also for the memories that are small.
    fn address_register(&mut self, name: &str, space: Space) -> Result<Reg, SyntaxError> {
        let operand = Operand::Name(name.to_string(), 0);
        let wide = self.from(&operand, Type::U64);
        if wide.is_err() && matches!(space, Space::Shared | Space::Local | Space::Constant) {
            return self.from(&operand, Type::U32);
        }
        wide
    }

    /// How strong an access is, with its scope.
    fn strength(&mut self, form: &mut Form<'_>, ordered: &str) -> Result<Strength, SyntaxError> {
        if form.accept("weak") {
            return Ok(Strength::Weak);
        }
        if form.accept("volatile") {
            return Ok(Strength::Device);
        }
        if form.accept("relaxed") || form.accept(ordered) {
            self.since("a memory order", (6, 0), 70)?;
            return self.scope(form)?.ok_or_else(|| self.error("a memory order needs a scope"));
        }
        Ok(Strength::Weak)
    }

    fn scope(&self, form: &mut Form<'_>) -> Result<Option<Strength>, SyntaxError> {
        let scope = form.one_of(&["cta", "gpu", "sys"]);
        if scope.is_some() {
            self.since("a scope", (5, 0), 60)?;
        }
        Ok(scope.map(|s| if s == "cta" { Strength::Block } else { Strength::Device }))
    }

    /// `atom{.sem}{.scope}{.space}.op.type d, [a], b{, c}` and `red` without `d`.
    pub(super) fn atomic(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let name = form.name;
        let red = name == "red";
        if form
            .one_of(if red { &["relaxed", "release"] } else { &["relaxed", "acquire", "release", "acq_rel"] })
            .is_some()
        {
            self.since("a memory order of an atomic operation", (6, 0), 70)?;
        }
        let strength = self.scope(form)?.unwrap_or(Strength::Device);
        let space = space(form);
        if matches!(space, Space::Param | Space::Local | Space::Constant) {
            return Err(self.error(format!("`{name}.{space}` doesn't exist")));
        }
        let Some((op, rest)) = form.mods.split_first() else {
            return Err(self.error(format!("`{name}` needs an operation")));
        };
        form.mods = rest;
        let ty = self.ty(form)?;
        if red && matches!(op.as_str(), "exch" | "cas") {
            return Err(self.error(format!("`red.{op}` doesn't exist")));
        }
        let (f, version, target) =
            update(op, ty).ok_or_else(|| self.error(format!("`{name}.{op}` doesn't exist for `{ty}`")))?;
        self.since(&format!("`{name}.{op}{ty}`"), version, target)?;
        self.no_more(form)?;
        let cas = op == "cas";
        let (d, a, b, c) = match (form.operands, red, cas) {
            ([a, b], true, _) => (None, a, b, None),
            ([d, a, b], false, false) => (Some(d), a, b, None),
            ([d, a, b, c], false, true) => (Some(d), a, b, Some(c)),
            _ => return Err(self.error(format!("wrong number of operands of `{name}.{op}`"))),
        };
        let d = match d {
            Some(d) => Some(self.to_or_sink(d, ty, Size::Same)?),
            None => None,
        };
        let b = self.from(b, ty)?;
        let c = match c {
            Some(c) => self.from(c, ty)?,
            None => b,
        };
        let address = self.address(a, space)?;
        let flush = op == "add" && ty == Type::F32;
        Ok(Op::Atomic { address, f, bytes: ty.bytes(), flush, d, b, c, strength })
    }
}

fn space(form: &mut Form<'_>) -> Space {
    match form.one_of(&["param", "global", "shared", "local", "const", "shared::cta", "param::entry"]) {
        Some("param" | "param::entry") => Space::Param,
        Some("global") => Space::Global,
        Some("shared" | "shared::cta") => Space::Shared,
        Some("local") => Space::Local,
        Some("const") => Space::Constant,
        Some(_) | None => Space::Generic,
    }
}

/// Takes hints to the caches, which change no value.
fn caching(form: &mut Form<'_>, operators: &[&str]) -> bool {
    let found = form.one_of(operators).is_some();
    while form.mods.first().is_some_and(|m| m.starts_with("L1::") || m.starts_with("L2::")) {
        form.mods = &form.mods[1..];
    }
    found
}

fn vector(form: &mut Form<'_>) -> usize {
    match form.one_of(&["v2", "v4"]) {
        Some("v2") => 2,
        Some(_) => 4,
        None => 1,
    }
}

fn vector_parts(operand: &Operand, count: usize) -> Option<&[Operand]> {
    match operand {
        Operand::Vector(parts) => (parts.len() == count && count > 1).then_some(parts),
        single => (count == 1).then_some(std::slice::from_ref(single)),
    }
}

/// The operation, and from which version and target on it exists.
fn update(op: &str, ty: Type) -> Option<(Update, (u32, u32), u32)> {
    let base = ((2, 0), 20);
    let wide = ((3, 1), 32);
    let (f, (version, target)): (Update, _) = match (op, ty.class, ty.bits) {
        ("and", Class::Bits, 32) => (|a, b, _| a & b, base),
        ("or", Class::Bits, 32) => (|a, b, _| a | b, base),
        ("xor", Class::Bits, 32) => (|a, b, _| a ^ b, base),
        ("and", Class::Bits, 64) => (|a, b, _| a & b, wide),
        ("or", Class::Bits, 64) => (|a, b, _| a | b, wide),
        ("xor", Class::Bits, 64) => (|a, b, _| a ^ b, wide),
        ("exch", Class::Bits, 32 | 64) => (|_, b, _| b, base),
        ("cas", Class::Bits, 32 | 64) => (|a, b, c| if a == b { c } else { a }, base),
        ("cas", Class::Bits, 16) => (|a, b, c| if a == b { c } else { a }, ((6, 3), 70)),
        ("add", Class::Unsigned | Class::Signed, 32) => {
            (|a, b, _| (a as u32).wrapping_add(b as u32).into(), base)
        }
        ("add", Class::Unsigned, 64) => (|a, b, _| a.wrapping_add(b), base),
        ("add", Class::Float, 32) => {
            (|a, b, _| super::lanes::Word::put(f32::from_bits(a as u32) + f32::from_bits(b as u32)), base)
        }
        ("add", Class::Float, 64) => {
            (|a, b, _| (f64::from_bits(a) + f64::from_bits(b)).to_bits(), ((5, 0), 60))
        }
        ("inc", Class::Unsigned, 32) => (|a, b, _| if a >= b { 0 } else { a + 1 }, base),
        ("dec", Class::Unsigned, 32) => (|a, b, _| if a == 0 || a > b { b } else { a - 1 }, base),
        ("min", Class::Unsigned, 32) => (|a, b, _| a.min(b), base),
        ("max", Class::Unsigned, 32) => (|a, b, _| a.max(b), base),
        ("min", Class::Signed, 32) => (|a, b, _| (a as i32).min(b as i32) as u32 as u64, base),
        ("max", Class::Signed, 32) => (|a, b, _| (a as i32).max(b as i32) as u32 as u64, base),
        ("min", Class::Unsigned, 64) => (|a, b, _| a.min(b), wide),
        ("max", Class::Unsigned, 64) => (|a, b, _| a.max(b), wide),
        ("min", Class::Signed, 64) => (|a, b, _| (a as i64).min(b as i64) as u64, wide),
        ("max", Class::Signed, 64) => (|a, b, _| (a as i64).max(b as i64) as u64, wide),
        _ => return None,
    };
    Some((f, version, target))
}
