//! What the text of a PTX module says, before its instructions are looked at.

use std::fmt;

/// The kinds of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    Pred,
    Bits,
    Unsigned,
    Signed,
    Float,
    Brain,
}

/// A type of an instruction or register: its kind and width in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Type {
    pub class: Class,
    pub bits: u32,
}

impl Type {
    pub const PRED: Type = Type { class: Class::Pred, bits: 1 };
    pub const U32: Type = Type { class: Class::Unsigned, bits: 32 };
    pub const S32: Type = Type { class: Class::Signed, bits: 32 };
    pub const U64: Type = Type { class: Class::Unsigned, bits: 64 };
    pub const B32: Type = Type { class: Class::Bits, bits: 32 };
    pub const F32: Type = Type { class: Class::Float, bits: 32 };
    pub const F64: Type = Type { class: Class::Float, bits: 64 };

    /// The type with this name (without the dot), if it is one that a scalar register can hold.
    pub fn named(name: &str) -> Option<Type> {
        let (class, bits) = match name {
            "pred" => (Class::Pred, 1),
            "b8" => (Class::Bits, 8),
            "b16" => (Class::Bits, 16),
            "b32" => (Class::Bits, 32),
            "b64" => (Class::Bits, 64),
            "u8" => (Class::Unsigned, 8),
            "u16" => (Class::Unsigned, 16),
            "u32" => (Class::Unsigned, 32),
            "u64" => (Class::Unsigned, 64),
            "s8" => (Class::Signed, 8),
            "s16" => (Class::Signed, 16),
            "s32" => (Class::Signed, 32),
            "s64" => (Class::Signed, 64),
            "f16" => (Class::Float, 16),
            "f32" => (Class::Float, 32),
            "f64" => (Class::Float, 64),
            "bf16" => (Class::Brain, 16),
            _ => return None,
        };
        Some(Type { class, bits })
    }

    pub fn bytes(self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    pub fn is_signed(self) -> bool {
        self.class == Class::Signed
    }

    pub fn is_float(self) -> bool {
        matches!(self.class, Class::Float | Class::Brain)
    }

    /// `.u` or `.s`.
    pub fn is_integer(self) -> bool {
        matches!(self.class, Class::Unsigned | Class::Signed)
    }

    pub fn is_bits(self) -> bool {
        self.class == Class::Bits
    }

    /// The same width without a sign.
    pub fn unsigned(self) -> Type {
        Type { class: Class::Unsigned, ..self }
    }

    /// The same kind, twice as wide.
    pub fn wide(self) -> Type {
        Type { bits: 2 * self.bits, ..self }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            Class::Pred => write!(f, ".pred"),
            Class::Bits => write!(f, ".b{}", self.bits),
            Class::Unsigned => write!(f, ".u{}", self.bits),
            Class::Signed => write!(f, ".s{}", self.bits),
            Class::Float => write!(f, ".f{}", self.bits),
            Class::Brain => write!(f, ".bf{}", self.bits),
        }
    }
}

/// A memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Param,
    Global,
    Shared,
    Local,
    Constant,
    /// Global, shared or local; the address says which.
    Generic,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Param => "param",
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Constant => "const",
            Space::Generic => "generic",
        })
    }
}

/// An operand as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// A register, special register, variable, label or function; with `+ offset` for variables.
    Name(String, i64),
    /// An integer constant.
    Int(i128),
    /// A decimal or `0d` constant.
    Double(f64),
    /// A `0f` constant.
    Single(f32),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `[base + offset]`; no base for a constant address.
    Address(Option<String>, i64),
    /// `!p`
    Not(String),
    /// `d|p`
    Pair(Box<Operand>, Box<Operand>),
}

/// `@p` or `@!p`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guard {
    pub name: String,
    pub negated: bool,
}

/// An instruction as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Instruction {
    /// Where it starts, from 1.
    pub line: u32,
    pub guard: Option<Guard>,
    /// `ld.global.f64` as `["ld", "global", "f64"]`.
    pub opcode: Vec<String>,
    pub operands: Vec<Operand>,
}

/// A variable in memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub line: u32,
    pub space: Space,
    pub name: String,
    pub align: usize,
    pub bytes: usize,
    /// What it holds from the start, as far as that is written.
    pub initial: Vec<u8>,
}

/// What a function's body consists of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Open,
    Close,
    Label(u32, String),
    /// `count`: of a range `%r<count>`, whose names are the prefix and a number.
    Register {
        line: u32,
        ty: Type,
        name: String,
        count: Option<u32>,
    },
    Variable(Variable),
    Instruction(Instruction),
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Param {
    pub name: String,
    /// Of its value, also of an array of bytes.
    pub bytes: usize,
    pub align: usize,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub line: u32,
    pub name: String,
    pub params: Vec<Param>,
    /// `.maxntid`: the product.
    pub max_threads: Option<u32>,
    /// `.reqntid`.
    pub required: Option<[u32; 3]>,
    pub body: Vec<Item>,
}

/// A module.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Module {
    /// `.version 7.8` as `(7, 8)`.
    pub version: (u32, u32),
    /// `sm_90a` as 90.
    pub target: u32,
    pub entries: Vec<Entry>,
    /// Variables outside the functions: shared and constant ones.
    pub variables: Vec<Variable>,
}
