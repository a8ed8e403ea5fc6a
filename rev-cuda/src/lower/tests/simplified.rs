//! What the kernel builder makes of operations when some operands are constants, against the operations
//! themselves: every operation on every type, small and extreme values, each operand known or unknown.

use crate::fake::compute;
use crate::kernel::{Inst, Op, Operand, Relation, Ty};
use crate::plan::Word;

use super::super::atom::Atom;
use super::super::builder::Builder;

const TYPES: [Ty; 13] = [
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

const RELATIONS: [Relation; 6] =
    [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];

/// Bits of some values of a type.
fn values(ty: Ty) -> Vec<u64> {
    let all = mask(ty);
    match ty {
        Ty::Pred => vec![0, 1],
        Ty::F64 => [0.0, -0.0, 1.0, -1.0, 2.5, f64::INFINITY, f64::NAN, 1e300].map(f64::to_bits).to_vec(),
        Ty::F32 => [0.0, -0.0, 1.0, -1.0, 2.5, f32::INFINITY, f32::NAN, 1e30]
            .map(|v: f32| u64::from(v.to_bits()))
            .to_vec(),
        Ty::F16 | Ty::Bf16 => vec![0, 0x8000, 0x3c00, 0x3f80, 0xbf80, 0x7c01, 0xff80],
        _ => vec![0, 1, 2, 3, 7, all, all - 1, all >> 1, (all >> 1) + 1],
    }
}

fn mask(ty: Ty) -> u64 {
    match ty {
        Ty::Pred => 1,
        _ => u64::MAX >> (64 - 8 * ty.size()),
    }
}

/// The operations on operands of a type, with the types of the operands and of the result.
fn operations(of: Ty) -> Vec<(Op, Vec<Ty>, Ty)> {
    let mut out = vec![(Op::Move, vec![of], of), (Op::Select, vec![Ty::Pred, of, of], of)];
    let same = |ops: &[Op], n: usize| ops.iter().map(|op| (*op, vec![of; n], of)).collect::<Vec<_>>();
    if of == Ty::Pred {
        out.extend(same(&[Op::And, Op::Or, Op::Xor], 2));
        out.extend(same(&[Op::Not], 1));
    } else if of.is_half() {
        out.extend(same(&[Op::Neg, Op::Abs], 1));
        out.extend(same(&[Op::CopySign], 2));
    } else {
        out.extend(same(&[Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min, Op::Max], 2));
        out.extend(same(&[Op::Neg, Op::Abs], 1));
        out.extend(RELATIONS.map(|r| (Op::Compare(r), vec![of; 2], Ty::Pred)));
        if of.is_float() {
            out.extend(same(&[Op::Sqrt, Op::Floor, Op::Ceil, Op::Trunc, Op::RoundEven], 1));
            out.extend(same(&[Op::CopySign], 2));
            out.extend(same(&[Op::Fma], 3));
        } else {
            out.extend(same(&[Op::Rem, Op::And, Op::Or, Op::Xor], 2));
            out.extend(same(&[Op::Not], 1));
            out.extend([Op::Shl, Op::Shr].map(|op| (op, vec![of, Ty::U32], of)));
        }
        if of.size() >= 4 && !of.is_float() {
            out.extend(same(&[Op::MulHigh], 2));
        }
        if of == Ty::U32 {
            out.push((Op::MulWide, vec![of; 2], Ty::U64));
        }
    }
    let directly = |to: Ty| match (of, to) {
        (Ty::F16 | Ty::Bf16, to) => to == Ty::F32,
        (from, Ty::F16 | Ty::Bf16) => from == Ty::F32,
        (_, to) => to != Ty::Pred,
    };
    out.extend(TYPES.into_iter().filter(|to| directly(*to)).map(|to| (Op::Convert, vec![of], to)));
    let sized = |to: &Ty| to.size() == of.size() && *to != Ty::Pred && of != Ty::Pred;
    out.extend(TYPES.into_iter().filter(sized).map(|to| (Op::Bits, vec![of], to)));
    out
}

/// Every choice of one of the values of each operand.
fn operands(types: &[Ty]) -> Vec<Vec<u64>> {
    types.iter().fold(vec![Vec::new()], |rows, ty| {
        let with = |row: &Vec<u64>, v: u64| row.iter().copied().chain([v]).collect();
        rows.iter().flat_map(|row| values(*ty).into_iter().map(move |v| with(row, v))).collect()
    })
}

/// What an operation gives where the operands of which `known` says so are constants: by the atom that it became
/// and by the instructions for it.
fn simplified(op: Op, ty: Ty, types: &[Ty], bits: &[u64], known: u32, early: bool) -> u64 {
    let mut builder = Builder::new("k".into(), String::new(), 32);
    let mut registers = Vec::new();
    let mut args = Vec::new();
    for (k, (bits, of)) in bits.iter().zip(types).enumerate() {
        if known >> k & 1 == 1 {
            args.push(Atom::Const(*bits, *of));
        } else {
            let reg = builder.register(*of, "");
            registers.push((reg, *bits));
            args.push(Atom::Reg(reg, *of));
        }
    }
    let found = if early { builder.early(op, ty, &args) } else { builder.op(op, ty, &args) };
    assert_eq!(found.ty(), ty);
    // what is left is kept: somebody reads it
    let insts = builder.instructions();
    assert!(insts.len() <= 1, "{insts:?}");
    for inst in &insts {
        let Inst::Op { to, op, args } = inst else { panic!("{inst:?}") };
        let read: Vec<u64> = args.iter().map(|a| value(a, &registers)).collect();
        let of = builder.kernel.operand_ty(args[0]);
        let ty = builder.kernel.ty(*to);
        registers.push((*to, compute(*op, ty, of, &read) & mask(ty)));
    }
    match found {
        Atom::Const(bits, _) => bits,
        Atom::Reg(reg, _) => value(&reg.into(), &registers),
        Atom::Word(..) | Atom::Buffer(_) => panic!("{found:?}"),
    }
}

fn value(operand: &Operand, registers: &[(crate::kernel::Reg, u64)]) -> u64 {
    match operand {
        Operand::Const(bits, _) => *bits,
        Operand::Reg(reg) => registers.iter().find(|(r, _)| r == reg).expect("a register with a value").1,
    }
}

fn is_nan(bits: u64, ty: Ty) -> bool {
    match ty {
        Ty::F64 => f64::from_bits(bits).is_nan(),
        Ty::F32 => f32::from_bits(bits as u32).is_nan(),
        _ => false,
    }
}

#[test]
fn every_operation_with_constants_is_the_operation() {
    let mut tried = 0;
    for of in TYPES {
        for (op, types, ty) in operations(of) {
            for bits in operands(&types) {
                if matches!(op, Op::Div | Op::Rem) && !of.is_float() && bits[1] == 0 {
                    continue;
                }
                let first = if op == Op::Select { Ty::Pred } else { of };
                let expected = compute(op, ty, first, &bits) & mask(ty);
                for known in 0..1 << bits.len() {
                    for early in [false, true] {
                        let found = simplified(op, ty, &types, &bits, known, early);
                        let same = found == expected || is_nan(found, ty) && is_nan(expected, ty);
                        assert!(
                            same,
                            "{op:?} {of:?} -> {ty:?} of {bits:x?}, known {known:b}: {found:x} not {expected:x}"
                        );
                        tried += 1;
                    }
                }
            }
        }
    }
    assert!(tried > 10_000, "{tried}");
}

/// A variable isn't what it was before a branch or a loop that assigns it.
#[test]
fn what_is_known_of_a_variable_ends_with_the_block_that_knows_it() {
    let mut builder = Builder::new("k".into(), String::new(), 32);
    let (one, two) = (Atom::index(1), Atom::index(2));
    let variable = builder.variable(&one, "v");
    assert_eq!(builder.resolve(&variable), one);
    let Atom::Reg(reg, _) = variable else { panic!("{variable:?}") };
    builder.begin();
    assert_eq!(builder.resolve(&variable), variable, "a loop may change it later");
    builder.assign(reg, &two);
    assert_eq!(builder.resolve(&variable), two);
    builder.end();
    assert_eq!(builder.resolve(&variable), variable, "the block may not have run");
}

/// Arithmetic of words that the host does is that of the device.
#[test]
fn words_of_the_host_are_64_bit_integers() {
    let word =
        |n: i64| Word::Binary(crate::plan::WordOp::Add, Box::new(Word::Const(n)), Box::new(Word::Const(0)));
    let small = [0i64, 1, 2, 3, 7, -1, -2, i64::MAX, i64::MIN];
    for op in [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem] {
        for ty in [Ty::U64, Ty::I64] {
            for (a, b) in small.into_iter().flat_map(|a| small.map(|b| (a, b))) {
                let args = [Atom::from_word(word(a), ty), Atom::Const(b as u64, ty)];
                let Some(found) = super::super::atom::on_words(op, ty, &args) else { continue };
                // lengths aren't negative
                if matches!(op, Op::Div | Op::Rem) && a < 0 {
                    continue;
                }
                let expected = compute(op, ty, ty, &[a as u64, b as u64]);
                let Some(found) = found.word() else { panic!("{found:?}") };
                assert_eq!(known(&found) as u64, expected, "{op:?} of {a} and {b} as {ty:?}");
            }
        }
    }
}

/// The value of a word that is made of constants.
fn known(word: &Word) -> i64 {
    match word {
        Word::Const(n) => *n,
        Word::Binary(op, a, b) => op.apply(known(a), known(b)),
        Word::Var(_) | Word::Length(..) | Word::Argument(_) => panic!("{word:?}"),
    }
}
