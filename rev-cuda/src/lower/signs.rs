//! Additions of zero. A sum that starts at zero begins with `0 + v`, which is `v`, unless that is `-0`.
//! Where nothing that follows can tell the zeros apart, the addition is left out; and so is what
//! nobody reads.

use crate::kernel::{Inst, Kernel, Op, Operand, Reg, Ty};

/// Leaves out what changes no result.
pub(super) fn tidy(kernel: &mut Kernel) {
    let mut told = told_apart(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    each(&mut body, &mut |inst| {
        if let Inst::Op { to, op, args } = inst {
            if !told[to.0 as usize] {
                without_zero(op, args);
            }
        }
    });
    loop {
        told.iter_mut().for_each(|read| *read = false);
        let read = &mut told;
        visit(&body, &mut |inst| reads(inst, &mut |reg| read[reg.0 as usize] = true));
        let before = count(&body);
        remove(&mut body, read);
        if count(&body) == before {
            break;
        }
    }
    kernel.body = body;
}

/// `0 + v`, `v + 0` and `0 - v` where the sign of a zero doesn't matter.
fn without_zero(op: &mut Op, args: &mut Vec<Operand>) {
    match (*op, args.as_slice()) {
        (Op::Add, [zero, v]) if is_zero(zero) => (*op, *args) = (Op::Move, vec![*v]),
        (Op::Add, [v, zero]) if is_zero(zero) => (*op, *args) = (Op::Move, vec![*v]),
        (Op::Sub, [zero, v]) if is_zero(zero) => (*op, *args) = (Op::Neg, vec![*v]),
        _ => {}
    }
}

/// The positive zero of a float.
fn is_zero(operand: &Operand) -> bool {
    matches!(operand, Operand::Const(0, Ty::F32 | Ty::F64))
}

/// For each register, whether something reads it that `0` and `-0` make a difference to.
fn told_apart(kernel: &Kernel) -> Vec<bool> {
    let mut told = vec![false; kernel.registers.len()];
    loop {
        let mut changed = false;
        visit(&kernel.body, &mut |inst| {
            let result = match inst {
                Inst::Op { to, .. } => told[to.0 as usize],
                _ => true,
            };
            tells(inst, result, &mut |reg| changed |= !std::mem::replace(&mut told[reg.0 as usize], true));
        });
        if !changed {
            return told;
        }
    }
}

/// The registers in which an instruction tells zeros apart, if its result does (`result`).
fn tells(inst: &Inst, result: bool, tell: &mut dyn FnMut(Reg)) {
    let Inst::Op { op, args, .. } = inst else { return reads(inst, tell) };
    let mut tell = |k: usize| {
        if let Some(Operand::Reg(reg)) = args.get(k) {
            tell(*reg);
        }
    };
    match op {
        // 0 + -0 is 0 + 0, and 0 - 0 is 0 - -0
        Op::Add if args.iter().any(is_zero) => {}
        Op::Sub if args.first().is_some_and(is_zero) => {}
        Op::Compare(_) | Op::Abs => {}
        Op::Div => {
            tell(1);
            (0..1).filter(|_| result).for_each(tell);
        }
        Op::CopySign => tell(1),
        Op::Bits | Op::Convert => (0..args.len()).for_each(tell),
        Op::Move
        | Op::Add
        | Op::Sub
        | Op::Mul
        | Op::MulHigh
        | Op::MulWide
        | Op::Rem
        | Op::Fma
        | Op::Neg
        | Op::Min
        | Op::Max
        | Op::Sqrt
        | Op::Floor
        | Op::Ceil
        | Op::Trunc
        | Op::RoundEven
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::Not
        | Op::Shl
        | Op::Shr
        | Op::Select => (0..args.len()).filter(|_| result).for_each(tell),
    }
}

/// What an instruction reads, apart from what its blocks do.
pub(super) fn reads(inst: &Inst, read: &mut dyn FnMut(Reg)) {
    let mut operand = |operand: &Operand| {
        if let Operand::Reg(reg) = operand {
            read(*reg);
        }
    };
    match inst {
        Inst::Op { args, .. } => args.iter().for_each(operand),
        Inst::Quotients { over, under, .. } => {
            over.iter().for_each(&mut operand);
            operand(under);
        }
        Inst::Load { from, .. } => operand(&from.base),
        Inst::Store { to, value, .. } | Inst::Reduce { to, value, .. } | Inst::Fetch { to, value, .. } => {
            operand(&to.base);
            operand(value);
        }
        Inst::Shuffle { value, .. } | Inst::Gathered { value, .. } => operand(value),
        Inst::If { cond, .. } | Inst::Loop { cond, .. } => operand(cond),
        Inst::Fail { values, .. } => values.iter().for_each(operand),
        Inst::Special { .. } | Inst::Barrier | Inst::Comment { .. } => {}
    }
}

/// Leaves out operations, and loads, whose results nobody reads.
fn remove(body: &mut Vec<Inst>, read: &[bool]) {
    body.retain_mut(|inst| match inst {
        Inst::Op { to, .. } | Inst::Load { to, .. } => read[to.0 as usize],
        Inst::If { then, otherwise, .. } => {
            remove(then, read);
            remove(otherwise, read);
            true
        }
        Inst::Loop { before, body, .. } => {
            remove(before, read);
            remove(body, read);
            true
        }
        _ => true,
    });
}

fn count(body: &[Inst]) -> usize {
    let mut n = 0;
    visit(body, &mut |_| n += 1);
    n
}

/// Every instruction, those of inner blocks included.
pub(super) fn visit(body: &[Inst], f: &mut dyn FnMut(&Inst)) {
    for inst in body {
        f(inst);
        match inst {
            Inst::If { then, otherwise, .. } => {
                visit(then, f);
                visit(otherwise, f);
            }
            Inst::Loop { before, body, .. } => {
                visit(before, f);
                visit(body, f);
            }
            _ => {}
        }
    }
}

/// The same, to change them.
fn each(body: &mut [Inst], f: &mut dyn FnMut(&mut Inst)) {
    for inst in body {
        f(inst);
        match inst {
            Inst::If { then, otherwise, .. } => {
                each(then, f);
                each(otherwise, f);
            }
            Inst::Loop { before, body, .. } => {
                each(before, f);
                each(body, f);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Address, Space};

    const ZERO: Operand = Operand::Const(0, Ty::F64);

    /// What is left of `a = zero_first(0, x)` and of what is made of `a`.
    fn left(first: Op, then: impl Fn(Operand) -> Vec<(Op, Ty, Vec<Operand>)>) -> Vec<Op> {
        let mut kernel = Kernel::default();
        let [x, a] = ["x", "a"].map(|name| kernel.register(Ty::F64, name));
        let at = Address { space: Space::Global, base: Operand::u64(0), offset: 0 };
        kernel.body.push(Inst::Op { to: a, op: first, args: vec![ZERO, x.into()] });
        let mut last = a;
        for (op, ty, args) in then(a.into()) {
            last = kernel.register(ty, "then");
            kernel.body.push(Inst::Op { to: last, op, args });
        }
        let ty = kernel.ty(last);
        kernel.body.push(Inst::Store { to: at, value: last.into(), ty });
        let unread = kernel.register(Ty::F64, "unread");
        kernel.body.push(Inst::Op { to: unread, op: Op::Neg, args: vec![last.into()] });
        tidy(&mut kernel);
        let ops = kernel.body.iter().filter_map(|inst| match inst {
            Inst::Op { op, .. } => Some(*op),
            _ => None,
        });
        ops.collect()
    }

    #[test]
    fn zero_is_added_where_its_sign_is_seen() {
        let two = Operand::f64(2.0);
        let (add, less) = (Op::Add, Op::Compare(crate::kernel::Relation::Lt));
        // stored, also as a factor, a quotient's divisor, or bits
        assert_eq!(left(add, |_| vec![]), [add]);
        assert_eq!(left(add, |a| vec![(Op::Mul, Ty::F64, vec![a, two])]), [add, Op::Mul]);
        assert_eq!(left(add, |a| vec![(Op::Div, Ty::F64, vec![two, a])]), [add, Op::Div]);
        assert_eq!(left(add, |a| vec![(Op::Bits, Ty::U64, vec![a])]), [add, Op::Bits]);
        assert_eq!(left(add, |a| vec![(Op::Sub, Ty::F64, vec![a, ZERO])]), [add, Op::Sub]);
        // compared, or added to zero again, also what was made of it
        assert_eq!(left(add, |a| vec![(less, Ty::Pred, vec![a, two])]), [Op::Move, less]);
        assert_eq!(left(add, |a| vec![(add, Ty::F64, vec![ZERO, a])]), [Op::Move, add]);
        assert_eq!(left(Op::Sub, |a| vec![(Op::Sub, Ty::F64, vec![ZERO, a])]), [Op::Neg, Op::Sub]);
        assert_eq!(left(add, |a| vec![(Op::Abs, Ty::F64, vec![a])]), [Op::Move, Op::Abs]);
    }
}
