//! The text of one kernel: its declarations, its registers' names, and the lines of its body.

use super::version::{Version, BASE};
use super::{ascii, one_line};
use crate::kernel::{Inst, Kernel, Operand, Reg, Ty};
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

/// The name of the shared memory of a block.
pub const SHARED: &str = "shared_memory";
/// The name of the local memory of a thread.
pub const LOCAL: &str = "local_memory";

/// What a kernel's text is collected in.
pub struct Writer<'k> {
    pub(super) kernel: &'k Kernel,
    /// The lines of the body.
    body: String,
    /// Nesting of branches and loops.
    pub(super) depth: usize,
    /// The registers that the text names, by type.
    declared: BTreeMap<&'static str, Vec<String>>,
    /// Which of the kernel's registers are among them.
    seen: Vec<bool>,
    temporaries: usize,
    pub(super) labels: usize,
    /// The lowest version that has what is in the text.
    needs: Version,
}

impl<'k> Writer<'k> {
    /// The text of a kernel, and the version that it needs.
    pub fn print(kernel: &'k Kernel) -> (String, Version) {
        let mut w = Writer {
            kernel,
            body: String::new(),
            depth: 1,
            declared: BTreeMap::new(),
            seen: vec![false; kernel.registers.len()],
            temporaries: 0,
            labels: 0,
            needs: BASE,
        };
        for k in 0..kernel.params.len() {
            w.param(k);
        }
        w.insts(&kernel.body);
        if !matches!(kernel.body.last(), Some(Inst::Fail { .. })) {
            w.line("ret");
        }
        (w.head() + &w.body + "}\n", w.needs)
    }

    /// Everything before the body.
    fn head(&self) -> String {
        let k = self.kernel;
        let mut text = String::new();
        if !k.title.is_empty() {
            let _ = writeln!(text, "// {}", one_line(&k.title));
        }
        if !k.constants.is_empty() {
            let _ = writeln!(text, ".const .align 8 .b64 {}[{}] = {{", self.constants(), k.constants.len());
            let words: Vec<String> = k.constants.iter().map(|word| format!("0x{word:016x}")).collect();
            let lines: Vec<String> = words.chunks(4).map(|some| format!("    {}", some.join(", "))).collect();
            let _ = writeln!(text, "{}\n}};", lines.join(",\n"));
        }
        let params: Vec<String> = (0..k.params.len())
            .map(|n| {
                let ty = memory(k.ty(k.params[n].register));
                format!("\n    .param .{ty} {}", self.param_name(n))
            })
            .collect();
        let _ = writeln!(text, ".visible .entry {}({})", k.name, params.join(","));
        if k.block > 0 {
            let _ = writeln!(text, ".maxntid {}, 1, 1", k.block);
        }
        text.push_str("{\n");
        for (space, name, bytes) in [("shared", SHARED, k.shared_bytes), ("local", LOCAL, k.local_bytes)] {
            if bytes > 0 {
                let _ = writeln!(text, "    .{space} .align 16 .b8 {name}[{bytes}];");
            }
        }
        for (ty, names) in &self.declared {
            for some in names.chunks(6) {
                let _ = writeln!(text, "    .reg .{ty} {};", some.join(", "));
            }
        }
        text.push('\n');
        text
    }

    /// The name of the kernel's tables, which stand outside of it.
    pub fn constants(&self) -> String {
        format!("{}_constants", self.kernel.name)
    }

    fn param_name(&self, k: usize) -> String {
        format!("param_{k}_{}", identifier(&self.kernel.params[k].name))
    }

    /// Reads a parameter into its register.
    fn param(&mut self, k: usize) {
        let register = self.kernel.params[k].register;
        let ty = self.kernel.ty(register);
        let from = format!("[{}]", self.param_name(k));
        self.load(register, "ld.param", ty, &from);
    }

    /// A line with an instruction.
    pub fn line(&mut self, inst: impl Display) {
        let _ = writeln!(self.body, "{:1$}{inst};", "", 4 * self.depth);
    }

    /// A label.
    pub fn label(&mut self, name: &str) {
        let _ = writeln!(self.body, "{name}:");
    }

    /// A comment.
    pub fn comment(&mut self, text: &str) {
        let _ = writeln!(self.body, "{:1$}// {2}", "", 4 * self.depth, ascii(text));
    }

    /// Something that only versions from this one on have.
    pub fn requires(&mut self, version: Version) {
        self.needs = self.needs.max(version);
    }

    /// A new register of a type of PTX.
    pub fn temp(&mut self, ty: &'static str) -> String {
        self.temporaries += 1;
        let name = format!("%t{}", self.temporaries);
        self.declared.entry(ty).or_default().push(name.clone());
        name
    }

    /// A register's name.
    pub fn reg(&mut self, reg: Reg) -> String {
        let (ty, name) = &self.kernel.registers[reg.0 as usize];
        let text = format!("%{}_{}", identifier(name), reg.0);
        if !std::mem::replace(&mut self.seen[reg.0 as usize], true) {
            self.declared.entry(register(*ty)).or_default().push(text.clone());
        }
        text
    }

    /// What an instruction reads: a register's name or a constant.
    pub fn value(&mut self, operand: Operand) -> String {
        match operand {
            Operand::Reg(r) => self.reg(r),
            Operand::Const(bits, ty) => constant(bits, ty),
        }
    }

    /// The same in a register, for instructions that take no constants.
    pub fn in_register(&mut self, operand: Operand) -> String {
        match operand {
            Operand::Reg(r) => self.reg(r),
            Operand::Const(bits, ty) => {
                let t = self.temp(register(ty));
                self.line(format_args!("mov.{} {t}, {}", register(ty), constant(bits, ty)));
                t
            }
        }
    }
}

/// A constant: floats by their bits, integers in decimal, truth values as 0 or 1.
fn constant(bits: u64, ty: Ty) -> String {
    match ty {
        Ty::Pred => (bits & 1).to_string(),
        Ty::I8 => (bits as i8).to_string(),
        Ty::I16 => (bits as i16).to_string(),
        Ty::I32 => (bits as i32).to_string(),
        // Digits beyond the signed range, which those of -2^63 are too, aren't read alike by all that read PTX.
        Ty::I64 if bits as i64 == i64::MIN => format!("0x{bits:016X}"),
        Ty::U64 if bits > i64::MAX as u64 => format!("0x{bits:016X}"),
        Ty::I64 => (bits as i64).to_string(),
        Ty::U8 => (bits as u8).to_string(),
        Ty::U16 => (bits as u16).to_string(),
        Ty::U32 => (bits as u32).to_string(),
        Ty::U64 => bits.to_string(),
        Ty::F16 | Ty::Bf16 => format!("0x{:04X}", bits as u16),
        Ty::F32 => format!("0f{:08X}", bits as u32),
        Ty::F64 => format!("0d{bits:016X}"),
    }
}

/// The letters, digits and underscores of a name; `v` where there are none.
fn identifier(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            text.push(c);
        } else if !text.ends_with('_') {
            text.push('_');
        }
    }
    let text = text.trim_matches('_');
    if text.is_empty() {
        "v".into()
    } else {
        text.into()
    }
}

/// The type of the register that holds a value, which is also the type that arithmetic names.
pub fn register(ty: Ty) -> &'static str {
    match ty {
        Ty::Pred => "pred",
        Ty::I8 | Ty::I16 => "s16",
        Ty::U8 | Ty::U16 => "u16",
        Ty::I32 => "s32",
        Ty::U32 => "u32",
        Ty::I64 => "s64",
        Ty::U64 => "u64",
        Ty::F16 | Ty::Bf16 => "b16",
        Ty::F32 => "f32",
        Ty::F64 => "f64",
    }
}

/// The untyped bits of such a register.
pub fn bits(ty: Ty) -> &'static str {
    match ty {
        Ty::Pred => "pred",
        Ty::I8 | Ty::I16 | Ty::U8 | Ty::U16 | Ty::F16 | Ty::Bf16 => "b16",
        Ty::I32 | Ty::U32 | Ty::F32 => "b32",
        Ty::I64 | Ty::U64 | Ty::F64 => "b64",
    }
}

/// The type in memory. A truth value is a byte.
pub fn memory(ty: Ty) -> &'static str {
    match ty {
        Ty::Pred | Ty::U8 => "u8",
        Ty::I8 => "s8",
        Ty::I16
        | Ty::U16
        | Ty::I32
        | Ty::U32
        | Ty::I64
        | Ty::U64
        | Ty::F16
        | Ty::Bf16
        | Ty::F32
        | Ty::F64 => register(ty),
    }
}
