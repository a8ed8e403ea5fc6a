//! Kernels in the form in which they are run: one [`Inst`] for each instruction of the text.
//!
//! A register is a [`Row`]: the value of each lane of a warp, zero-extended to 64 bits. Constants are
//! rows too, so that an operation reads rows only. Arithmetic is a function over all active lanes,
//! chosen when the text is decoded.

use super::decode::Conversion;
use super::memory::Bytes;
use super::syntax::Space;

/// The lanes of a warp.
pub(crate) const LANES: usize = 32;

/// One value for each lane.
pub(crate) type Row = [u64; LANES];

/// Computes the lanes of a mask from three rows.
pub(crate) type Alu = fn(u32, &Row, &Row, &Row, &mut Row);

/// The lanes of a mask for which something holds for two rows.
pub(crate) type Test = fn(u32, &Row, &Row) -> u32;

/// `(old, operand, second operand) -> new` of an atomic operation.
pub(crate) type Update = fn(u64, u64, u64) -> u64;

/// A register's number; from [`CONSTANT`] on a constant's.
pub(crate) type Reg = u32;

/// Where the numbers of constants start.
pub(crate) const CONSTANT: Reg = 1 << 31;

/// A predicate register's number. The first one always holds.
pub(crate) type Pred = u32;

/// The predicate that always holds.
pub(crate) const TRUE: Pred = 0;

/// A predicate or its negation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub pred: Pred,
    pub negated: bool,
}

/// What is done to the rows that an [`Alu`] reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    /// `f32`: with `flush`, subnormal operands and results are zeros of their sign; with `saturate`,
    /// results are clamped to 0 to 1, and NaN is 0.
    Single {
        flush: bool,
        saturate: bool,
    },
    /// Sign extension of results from a width to a register's, which is wider.
    Extend {
        from: u32,
        to: u32,
    },
}

/// Logical operations on predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
}

impl Logic {
    pub fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        }
    }
}

/// Special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Thread(Axis),
    BlockSize(Axis),
    Block(Axis),
    Blocks(Axis),
    Lane,
    Warp,
    Warps,
    Clock,
    Grid,
    LanesEqual,
    LanesBelow,
    LanesUpTo,
    LanesAbove,
    LanesFrom,
}

/// Launches are one-dimensional: the other axes have one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    X,
    Other,
}

/// Where in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub space: Space,
    pub base: Reg,
    pub offset: i64,
}

/// How an access takes part in the search for races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    /// An ordinary access.
    Weak,
    /// Atomic among the threads of a block.
    Block,
    /// Atomic among all threads.
    Device,
}

/// A transfer between registers and memory: `regs` one after another, `bytes` each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub address: Address,
    pub regs: [Reg; 4],
    pub count: usize,
    pub bytes: usize,
    /// What a loaded value is extended to: its sign is carried on to this many bits.
    pub sign_to: Option<u32>,
    pub strength: Strength,
}

/// Which lane's value a shuffle gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What a vote gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// An exchange between the lanes that `members` names, which all execute it together.
#[derive(Clone, Copy)]
pub(crate) struct Exchange {
    pub members: Reg,
    pub kind: ExchangeKind,
}

#[derive(Clone, Copy)]
pub(crate) enum ExchangeKind {
    Barrier,
    Shuffle { how: Shuffle, d: Reg, p: Option<Pred>, a: Reg, b: Reg, c: Reg },
    VotePred { how: Vote, p: Pred, a: Condition },
    Ballot { d: Reg, a: Condition },
    MatchAny { d: Reg, a: Reg },
    MatchAll { d: Reg, p: Option<Pred>, a: Reg },
    Reduce { f: Update, d: Reg, a: Reg },
}

/// An operation. `d` is where the result goes.
#[derive(Clone, Copy)]
pub(crate) enum Op {
    Alu {
        f: Alu,
        mode: Mode,
        d: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    /// `setp`: `p = test`, `q = !test`, each combined with a condition.
    Set {
        f: Test,
        flush: bool,
        with: Option<(Logic, Condition)>,
        p: Pred,
        q: Option<Pred>,
        a: Reg,
        b: Reg,
    },
    /// `set`: `yes` where the test holds, else 0.
    SetValue {
        f: Test,
        flush: bool,
        with: Option<(Logic, Condition)>,
        yes: u64,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Select {
        d: Reg,
        a: Reg,
        b: Reg,
        p: Condition,
    },
    Predicate {
        logic: Logic,
        p: Pred,
        a: Condition,
        b: Condition,
    },
    /// `a + b`, `a - b` or `a · b + c` with the carry flag read and written.
    Carry {
        f: fn(u64, u64, u64, bool) -> (u64, bool),
        reads: bool,
        sets: bool,
        d: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    /// `cvt`; `sign_to`: as in [`Access`].
    Convert {
        how: Conversion,
        sign_to: Option<u32>,
        d: Reg,
        a: Reg,
    },
    /// `bfi`.
    Insert {
        d: Reg,
        a: Reg,
        b: Reg,
        at: Reg,
        len: Reg,
        bits: u32,
    },
    /// `lop3`.
    Lookup {
        table: u32,
        d: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    Special {
        what: Special,
        d: Reg,
    },
    /// `{d0, d1, ..} = a`, each of `bits`.
    Unpack {
        regs: [Reg; 4],
        count: usize,
        bits: u32,
        a: Reg,
    },
    /// `d = {a0, a1, ..}`, each of `bits`.
    Pack {
        d: Reg,
        regs: [Reg; 4],
        count: usize,
        bits: u32,
    },
    LoadParam {
        at: usize,
        access: Access,
    },
    Load(Access),
    Store(Access),
    Atomic {
        address: Address,
        f: Update,
        bytes: usize,
        flush: bool,
        d: Option<Reg>,
        b: Reg,
        c: Reg,
        strength: Strength,
    },
    Branch {
        target: u32,
        uniform: bool,
    },
    Exit,
    Barrier {
        id: Reg,
        count: Option<Reg>,
        aligned: bool,
    },
    Exchange(Exchange),
    ActiveMask {
        d: Reg,
    },
    Fence,
    Trap,
}

/// An instruction.
#[derive(Clone, Copy)]
pub(crate) struct Inst {
    pub op: Op,
    pub guard: Option<Condition>,
    /// Its line in the text.
    pub line: u32,
}

/// A kernel, ready to run.
pub(crate) struct Code {
    pub name: String,
    pub insts: Vec<Inst>,
    pub registers: usize,
    /// Their names, for messages.
    pub register_names: Vec<String>,
    pub predicates: usize,
    pub predicate_names: Vec<String>,
    pub constants: Vec<Row>,
    /// Offset and size of each parameter, and its name.
    pub params: Vec<(usize, usize, String)>,
    pub param_bytes: usize,
    pub shared_bytes: usize,
    pub local_bytes: usize,
    /// The constant variables of the module.
    pub constant: Bytes,
    pub max_threads: Option<u32>,
    pub required: Option<[u32; 3]>,
}

/// Runs `f` for every lane of a mask.
#[inline(always)]
pub(crate) fn each_lane(mask: u32, mut f: impl FnMut(usize)) {
    if mask == u32::MAX {
        (0..LANES).for_each(f);
        return;
    }
    let mut rest = mask;
    while rest != 0 {
        f(rest.trailing_zeros() as usize & (LANES - 1));
        rest &= rest - 1;
    }
}
