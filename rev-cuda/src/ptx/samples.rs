//! Hand-made kernels that together have every instruction on every type.

use crate::kernel::*;

/// Every type.
pub const TYPES: [Ty; 13] = [
    Ty::Pred,
    Ty::I8,
    Ty::I16,
    Ty::I32,
    Ty::I64,
    Ty::U8,
    Ty::U16,
    Ty::U32,
    Ty::U64,
    Ty::F16,
    Ty::Bf16,
    Ty::F32,
    Ty::F64,
];

/// Whether there is a conversion between two types: of those of 16 bits only from and to `f32`.
pub fn convertible(from: Ty, to: Ty) -> bool {
    let half = from.is_half() || to.is_half();
    !half || from == to || from == Ty::F32 || to == Ty::F32
}

const RELATIONS: [Relation; 6] =
    [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];

/// A kernel in the making, which loads its operands from `from` and stores results to `to`.
pub struct Builder {
    pub kernel: Kernel,
    from: Reg,
    to: Reg,
    at: i64,
}

impl Builder {
    pub fn new(name: &str) -> Builder {
        let mut kernel = Kernel { name: name.into(), block: 64, ..Kernel::default() };
        let mut param = |name: &str| {
            let register = kernel.register(Ty::U64, name);
            kernel.params.push(KernelParam { name: name.into(), register });
            register
        };
        let (from, to) = (param("from"), param("to"));
        Builder { kernel, from, to, at: 0 }
    }

    pub fn inst(&mut self, inst: Inst) {
        self.kernel.body.push(inst);
    }

    pub fn load(&mut self, ty: Ty, name: &str) -> Reg {
        let to = self.kernel.register(ty, name);
        self.at += 8;
        let from = Address { space: Space::Global, base: self.from.into(), offset: self.at };
        self.inst(Inst::Load { to, from, read_only: self.at % 16 == 0 });
        to
    }

    pub fn store(&mut self, value: Operand) {
        self.at += 8;
        let to = Address { space: Space::Global, base: self.to.into(), offset: self.at };
        let ty = self.kernel.operand_ty(value);
        self.inst(Inst::Store { to, value, ty });
    }

    pub fn op(&mut self, ty: Ty, op: Op, args: &[Operand]) -> Reg {
        let to = self.kernel.register(ty, "result");
        self.inst(Inst::Op { to, op, args: args.to_vec() });
        to
    }
}

/// A constant that isn't trivial.
pub fn constant(ty: Ty) -> Operand {
    match ty {
        Ty::F16 => Operand::Const(0xbe00, ty),
        Ty::Bf16 => Operand::Const(0x3fc0, ty),
        Ty::F32 => Operand::f32(1.5),
        Ty::F64 => Operand::f64(-2.25),
        Ty::Pred => Operand::Const(1, Ty::Pred),
        _ => Operand::Const(0x8000_0000_8000_8085, ty),
    }
}

/// The operations on a type that give that type, and how many operands they have.
pub fn operations(ty: Ty) -> Vec<(Op, usize)> {
    if ty == Ty::Pred {
        return vec![(Op::Move, 1), (Op::And, 2), (Op::Or, 2), (Op::Xor, 2), (Op::Not, 1)];
    }
    if ty.is_half() {
        return vec![(Op::Move, 1), (Op::Neg, 1), (Op::Abs, 1), (Op::CopySign, 2)];
    }
    let mut all = vec![
        (Op::Move, 1),
        (Op::Add, 2),
        (Op::Sub, 2),
        (Op::Mul, 2),
        (Op::Div, 2),
        (Op::Neg, 1),
        (Op::Abs, 1),
        (Op::Min, 2),
        (Op::Max, 2),
    ];
    all.extend(match ty.is_float() {
        true => vec![
            (Op::Fma, 3),
            (Op::Sqrt, 1),
            (Op::Floor, 1),
            (Op::Ceil, 1),
            (Op::Trunc, 1),
            (Op::RoundEven, 1),
            (Op::CopySign, 2),
        ],
        false => {
            vec![(Op::MulHigh, 2), (Op::Rem, 2), (Op::And, 2), (Op::Or, 2), (Op::Xor, 2), (Op::Not, 1)]
        }
    });
    all
}

/// Every operation on a type, with operands in registers and as constants.
pub fn arithmetic(ty: Ty) -> Kernel {
    let mut b = Builder::new(&format!("arithmetic_{ty:?}"));
    let args: Vec<Operand> = (0..3).map(|k| b.load(ty, &format!("a{k}")).into()).collect();
    let condition = b.load(Ty::Pred, "condition");
    for (op, count) in operations(ty) {
        for k in 0..=count {
            let mut args = args[..count].to_vec();
            if k < count {
                args[k] = constant(ty);
            }
            let result = b.op(ty, op, &args);
            b.store(result.into());
        }
    }
    if !ty.is_float() && ty != Ty::Pred {
        let amount = b.load(Ty::U32, "amount");
        for op in [Op::Shl, Op::Shr] {
            for (a, n) in
                [(args[0], amount.into()), (args[1], Operand::u32(67)), (constant(ty), amount.into())]
            {
                let result = b.op(ty, op, &[a, n]);
                b.store(result.into());
            }
        }
    }
    for (x, y) in [(args[0], args[1]), (args[0], constant(ty)), (constant(ty), args[1])] {
        for relation in RELATIONS.into_iter().filter(|_| !ty.is_half()) {
            let result = b.op(Ty::Pred, Op::Compare(relation), &[x, y]);
            b.store(result.into());
        }
        for condition in [Operand::from(condition), Operand::Const(0, Ty::Pred)] {
            let result = b.op(ty, Op::Select, &[condition, x, y]);
            b.store(result.into());
        }
    }
    b.store(constant(ty));
    b.kernel
}

/// Every conversion from a type.
pub fn conversions(ty: Ty) -> Kernel {
    let mut b = Builder::new(&format!("conversions_{ty:?}"));
    let a = b.load(ty, "a");
    for to in TYPES {
        for operand in [a.into(), constant(ty)] {
            if convertible(ty, to) {
                let result = b.op(to, Op::Convert, &[operand]);
                b.store(result.into());
            }
            if ty.size() == to.size() {
                let result = b.op(to, Op::Bits, &[operand]);
                b.store(result.into());
            }
        }
    }
    b.kernel
}

/// Loads, stores and atomics of a type in every memory, quotients that take turns, and shuffles.
pub fn memory(ty: Ty) -> Kernel {
    let mut b = Builder::new(&format!("memory_{ty:?}"));
    b.kernel.shared_bytes = 256;
    b.kernel.local_bytes = 64;
    let value = b.load(ty, "value");
    let offset = b.load(Ty::U64, "offset");
    let thread = b.kernel.register(Ty::U32, "thread");
    for what in [Special::Lane, Special::BlockSize, Special::Block, Special::Blocks, Special::ThreadInBlock] {
        b.inst(Inst::Special { to: thread, what });
    }
    let to = b.to;
    for (space, base) in [
        (Space::Global, Operand::from(to)),
        (Space::Shared, offset.into()),
        (Space::Shared, Operand::u64(16)),
        (Space::Local, offset.into()),
        (Space::Local, Operand::u64(8)),
    ] {
        let at = |offset| Address { space, base, offset };
        b.inst(Inst::Store { to: at(8), value: value.into(), ty });
        b.inst(Inst::Barrier);
        let mut ops = vec![];
        if ty == Ty::Pred {
            ops.push(Atomic::Xor);
        } else if ty.is_half() {
            ops.push(Atomic::Add);
        } else {
            ops.extend([Atomic::Add, Atomic::Min, Atomic::Max]);
            if !ty.is_float() {
                ops.push(Atomic::Xor);
            }
        }
        for op in ops {
            b.inst(Inst::Reduce { to: at(8), op, value: value.into(), ty });
            b.inst(Inst::Reduce { to: at(16), op, value: constant(ty), ty });
            let old = b.kernel.register(ty, "old");
            b.inst(Inst::Fetch { old, to: at(24), op, value: value.into() });
            b.store(old.into());
        }
        let back = b.kernel.register(ty, "back");
        b.inst(Inst::Load { to: back, from: at(8), read_only: false });
        b.store(back.into());
    }
    let far = Address { space: Space::Global, base: to.into(), offset: 1 << 40 };
    b.inst(Inst::Store { to: far, value: value.into(), ty });
    if ty == Ty::F64 {
        let to: Vec<Reg> = (0..3).map(|_| b.kernel.register(ty, "quotient")).collect();
        let over = vec![value.into(), Operand::f64(1.0), value.into()];
        b.inst(Inst::Quotients { to: to.clone(), over, under: value.into() });
        to.into_iter().for_each(|to| b.store(to.into()));
    }
    let other = b.kernel.register(ty, "other");
    b.inst(Inst::Shuffle { to: other, value: value.into(), mask: 16 });
    b.store(other.into());
    if matches!(ty, Ty::U32 | Ty::U64) {
        for value in [value.into(), constant(ty)] {
            let together = b.kernel.register(Ty::Pred, "together");
            b.inst(Inst::Gathered { to: together, value });
            b.store(together.into());
        }
    }
    b.kernel
}

/// A loop with a branch in it and a failure that carries a value of every type.
pub fn control() -> Kernel {
    let mut b = Builder::new("control");
    let record = b.kernel.register(Ty::U64, "error record");
    b.kernel.params.push(KernelParam { name: "error record".into(), register: record });
    b.kernel.error_record = Some(record);
    for ty in TYPES {
        let register = b.kernel.register(ty, "scalar");
        b.kernel.params.push(KernelParam { name: format!("{ty:?}"), register });
    }
    let values: Vec<Operand> = TYPES.iter().map(|ty| b.load(*ty, "x").into()).collect();
    let n = b.load(Ty::I32, "n");
    let i = b.op(Ty::I32, Op::Move, &[Operand::Const(0, Ty::I32)]);
    let condition = b.kernel.register(Ty::Pred, "more");
    let odd = b.load(Ty::Pred, "odd");
    let span = rev_core::ir::Span { line: 7, column: 0, end_line: 7, end_column: 9 };
    let step = Inst::Op { to: i, op: Op::Add, args: vec![i.into(), Operand::Const(1, Ty::I32)] };
    let fail = Inst::Fail { failure: 3, values };
    b.inst(Inst::Loop {
        before: vec![Inst::Op {
            to: condition,
            op: Op::Compare(Relation::Lt),
            args: vec![i.into(), n.into()],
        }],
        cond: condition.into(),
        body: vec![
            Inst::Comment { text: "y += x\nand so on".into(), span },
            Inst::If { cond: odd.into(), then: vec![step.clone()], otherwise: vec![fail.clone()] },
            Inst::If { cond: odd.into(), then: vec![fail.clone()], otherwise: vec![step.clone()] },
            Inst::If { cond: odd.into(), then: vec![step.clone()], otherwise: vec![] },
            Inst::If {
                cond: Operand::Const(0, Ty::Pred),
                then: vec![step.clone()],
                otherwise: vec![step.clone()],
            },
            Inst::If { cond: Operand::Const(1, Ty::Pred), then: vec![], otherwise: vec![step] },
        ],
    });
    b.store(i.into());
    b.inst(fail);
    b.kernel
}

/// All of them.
pub fn all() -> Vec<Kernel> {
    let mut all = vec![control()];
    for ty in TYPES {
        all.extend([arithmetic(ty), conversions(ty), memory(ty)]);
    }
    all
}
