//! Kernels: scalar instructions on typed registers, with structured control flow. What the lowering
//! makes of the body of a parallel loop, and what PTX is printed from.
//!
//! Every float operation is exact in IEEE's sense (rounded to nearest even, never contracted).
//! Integer arithmetic wraps. Registers are variables: they may be assigned many times.

use rev_core::ir::Span;

/// The type of a register, and of a value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Ty {
    /// A truth value; a byte, 0 or 1, in memory.
    Pred,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// Half precision. Has copies, `Neg`, `Abs`, `CopySign` (of the bits), `Select`, conversions from and
    /// to `F32`, memory and `Atomic::Add`; everything else is done in `F32`.
    F16,
    /// The upper half of an `F32`, likewise.
    Bf16,
    F32,
    F64,
}

impl Ty {
    /// Bytes in memory.
    pub const fn size(self) -> usize {
        match self {
            Ty::Pred | Ty::I8 | Ty::U8 => 1,
            Ty::I16 | Ty::U16 | Ty::F16 | Ty::Bf16 => 2,
            Ty::I32 | Ty::U32 | Ty::F32 => 4,
            Ty::I64 | Ty::U64 | Ty::F64 => 8,
        }
    }

    /// Whether it is a floating-point number.
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64)
    }

    /// Whether it is a floating-point number of 16 bits.
    pub const fn is_half(self) -> bool {
        matches!(self, Ty::F16 | Ty::Bf16)
    }

    /// Whether it is a signed integer.
    pub const fn is_signed(self) -> bool {
        matches!(self, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64)
    }
}

/// A register of a kernel: an index into [`Kernel::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A constant: its bits, in the low bytes, and its type.
    Const(u64, Ty),
}

/// Operations on registers. Operands have the type of the result unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A copy.
    Move,
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a · b`, of integers the low half.
    Mul,
    /// The high half of an integer product (32 and 64 bits).
    MulHigh,
    /// The whole product of two `U32`, a `U64`.
    MulWide,
    /// Floats: the quotient. Integers: truncated towards zero; the divisor isn't zero.
    Div,
    /// The remainder of the truncated integer quotient.
    Rem,
    /// `a · b + c`, rounded once.
    Fma,
    /// `-a`
    Neg,
    /// `|a|`
    Abs,
    /// `a` where `a <= b`, else `b` (so `b` where one of them is NaN, and `a` of two zeros):
    /// [`rev_core::scalar::rt::min`].
    Min,
    /// `a` where `a >= b`, else `b`: [`rev_core::scalar::rt::max`].
    Max,
    /// The square root.
    Sqrt,
    /// Rounded down, to a float.
    Floor,
    /// Rounded up, to a float.
    Ceil,
    /// Rounded towards zero, to a float.
    Trunc,
    /// Rounded to the nearest, ties to even, to a float.
    RoundEven,
    /// The first operand's magnitude with the second's sign.
    CopySign,
    /// Bitwise, and on truth values.
    And,
    /// Bitwise, and on truth values.
    Or,
    /// Bitwise, and on truth values.
    Xor,
    /// Bitwise, and on truth values.
    Not,
    /// Shifted left by the second operand, a `U32`, taken modulo the width.
    Shl,
    /// Shifted right likewise: arithmetically where the type is signed.
    Shr,
    /// A comparison of two operands of one type; the result is a `Pred`. Ordered: false on NaN
    /// except for `Ne`.
    Compare(Relation),
    /// The second operand where the first, a `Pred`, holds, else the third.
    Select,
    /// Conversion from the operand's type: between integers by truncation or extension; integer to
    /// float and `F64` to `F32` to the nearest, `F32` to 16 bits likewise with one NaN
    /// ([`rev_core::scalar::Half::narrow`]); float to integer truncated, saturating, NaN to 0.
    /// From a `Pred`: 0 or 1.
    Convert,
    /// The same bits in another type of the same size.
    Bits,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Where in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address {
    /// Which memory.
    pub space: Space,
    /// A `U64`: an address of global memory; an offset in bytes into [`Kernel::constants`],
    /// [`Kernel::shared_bytes`] or [`Kernel::local_bytes`].
    pub base: Operand,
    /// Bytes added to it.
    pub offset: i64,
}

/// The memories of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Of the device.
    Global,
    /// Of a block of threads.
    Shared,
    /// Of a thread.
    Local,
    /// Tables that nobody writes.
    Constant,
}

/// Operations on memory that don't interfere with other threads'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Atomic {
    Add,
    Xor,
    Min,
    Max,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Inst {
    /// `to = op(args)`
    Op {
        /// The result.
        to: Reg,
        /// The operation.
        op: Op,
        /// What it reads.
        args: Vec<Operand>,
    },
    /// `to[k] = over[k] / under` of 64-bit floats, one after the other by the same instructions.
    Quotients {
        /// The quotients.
        to: Vec<Reg>,
        /// What is divided.
        over: Vec<Operand>,
        /// By what.
        under: Operand,
    },
    /// A value that the machine knows.
    Special {
        /// The result, a `U32`.
        to: Reg,
        /// Which.
        what: Special,
    },
    /// Reads memory; the type is the register's.
    Load {
        /// The result.
        to: Reg,
        /// From where.
        from: Address,
        /// Nobody writes it while the kernel runs (`ld.global.nc`).
        read_only: bool,
    },
    /// Writes memory.
    Store {
        /// Where to.
        to: Address,
        /// The value.
        value: Operand,
        /// Its type.
        ty: Ty,
    },
    /// Changes memory without reading it back (`red`).
    Reduce {
        /// Where.
        to: Address,
        /// How.
        op: Atomic,
        /// With what.
        value: Operand,
        /// Its type.
        ty: Ty,
    },
    /// Adds to memory and gives what was there before; integers.
    Fetch {
        /// What was there.
        old: Reg,
        /// Where.
        to: Address,
        /// The operation.
        op: Atomic,
        /// With what.
        value: Operand,
    },
    /// `to` of the lane whose number differs in the bits of `mask` (`shfl.sync.bfly` over the whole
    /// warp, all 32 lanes of which are here). 32- and 64-bit types.
    Shuffle {
        /// The result.
        to: Reg,
        /// What each lane gives.
        value: Operand,
        /// The bits in which the lanes' numbers differ.
        mask: u32,
    },
    /// Whether all 32 lanes of the warp are here, with one value (of a `U32` or `U64`): then they may
    /// exchange values.
    Gathered {
        /// The result, a `Pred`.
        to: Reg,
        /// What each lane has.
        value: Operand,
    },
    /// Waits for all threads of the block (none has left).
    Barrier,
    /// A branch.
    If {
        /// A `Pred`.
        cond: Operand,
        /// Where it holds.
        then: Vec<Inst>,
        /// Where it doesn't.
        otherwise: Vec<Inst>,
    },
    /// `loop { before; if !cond { break } body }`
    Loop {
        /// Instructions that give the condition.
        before: Vec<Inst>,
        /// A `Pred`: whether the body is run.
        cond: Operand,
        /// The body.
        body: Vec<Inst>,
    },
    /// What can't go on: unless another thread did so before, notes the place in
    /// [`plan::Program::failures`](crate::plan::Program::failures) and values that say more in the
    /// error record ([`Kernel::error_record`]); in any case the thread ends. Not in kernels with
    /// barriers after it, or with shuffles that don't ask whether all lanes are there.
    Fail {
        /// Which failure.
        failure: u32,
        /// At most [`FAILURE_VALUES`] values, each converted to 64 bits (floats as `F64` bits,
        /// integers extended).
        values: Vec<Operand>,
    },
    /// A line for the reader: a statement's source.
    Comment {
        /// The text.
        text: String,
        /// Where it stands in the source.
        span: Span,
    },
}

/// How many values a failure may carry: loop iterations first, then what was expected and found.
pub const FAILURE_VALUES: usize = 14;

/// The error record in device memory: a `U32` that is 0 or one more than the failure's index, four
/// bytes of padding, then the values.
pub const ERROR_RECORD_BYTES: usize = 8 + 8 * FAILURE_VALUES;

/// What a thread can ask about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Special {
    /// `%tid.x`
    ThreadInBlock,
    /// `%ntid.x`
    BlockSize,
    /// `%ctaid.x`
    Block,
    /// `%nctaid.x`
    Blocks,
    /// `%laneid`
    Lane,
}

/// A kernel: a one-dimensional grid of one-dimensional blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// A valid PTX identifier, unique in its program.
    pub name: String,
    /// What it was made from, for the reader of the text.
    pub title: String,
    /// The parameters, in order.
    pub params: Vec<KernelParam>,
    /// The parameter that is the error record's address (`U64`), where the kernel can fail.
    pub error_record: Option<Reg>,
    /// Type and name of each register. Names are for the reader; they needn't be unique.
    pub registers: Vec<(Ty, String)>,
    /// Tables, in words of 64 bits; smaller entries lie in them lowest first.
    pub constants: Vec<u64>,
    /// Bytes of shared memory.
    pub shared_bytes: usize,
    /// Bytes of local memory of each thread.
    pub local_bytes: usize,
    /// Threads of a block; a multiple of 32.
    pub block: u32,
    /// The instructions.
    pub body: Vec<Inst>,
}

/// A parameter of a kernel. Before the first instruction its value is in `register`.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelParam {
    /// For the reader.
    pub name: String,
    /// `U64` (addresses and sizes) or another type.
    pub register: Reg,
}

impl Kernel {
    /// A new register.
    pub fn register(&mut self, ty: Ty, name: impl Into<String>) -> Reg {
        self.registers.push((ty, name.into()));
        Reg(self.registers.len() as u32 - 1)
    }

    /// The type of a register.
    pub fn ty(&self, reg: Reg) -> Ty {
        self.registers[reg.0 as usize].0
    }

    /// The type of an operand.
    pub fn operand_ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(r) => self.ty(r),
            Operand::Const(_, ty) => ty,
        }
    }
}

impl Operand {
    /// A constant of type `F64`.
    pub fn f64(v: f64) -> Operand {
        Operand::Const(v.to_bits(), Ty::F64)
    }

    /// A constant of type `F32`.
    pub fn f32(v: f32) -> Operand {
        Operand::Const(v.to_bits().into(), Ty::F32)
    }

    /// A constant of type `U64`.
    pub fn u64(v: u64) -> Operand {
        Operand::Const(v, Ty::U64)
    }

    /// A constant of type `U32`.
    pub fn u32(v: u32) -> Operand {
        Operand::Const(v.into(), Ty::U32)
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}
