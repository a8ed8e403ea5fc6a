//! The text of single instructions, and NVIDIA's assembler on all of them.

use super::samples::{self, Builder, TYPES};
use super::*;
use crate::kernel::{Address, Atomic, Inst, Op, Operand, Space, Ty};
use crate::ptxas::Assembler;

/// The lines of an operation on registers `%a_2`, `%b_3`, … with the result in `%result_N`.
fn lines(ty: Ty, result: Ty, op: Op, count: usize) -> Vec<String> {
    let mut b = Builder::new("k");
    let args: Vec<Operand> =
        ["a", "b", "c"][..count].iter().map(|name| b.kernel.register(ty, *name).into()).collect();
    b.op(result, op, &args);
    body(&b.kernel)
}

/// The instructions of a kernel without its parameters, declarations and return.
fn body(kernel: &Kernel) -> Vec<String> {
    let text = kernels(std::slice::from_ref(kernel), Target(60));
    let lines = text.lines().skip_while(|l| !l.is_empty()).skip(1).skip_while(|l| !l.is_empty());
    let lines = lines
        .map(|l| l.trim().trim_end_matches(';'))
        .filter(|l| !l.is_empty() && !l.starts_with("ld.param") && *l != "ret" && *l != "}");
    lines.map(String::from).collect()
}

#[test]
fn floats_say_their_rounding() {
    for ty in [Ty::F32, Ty::F64] {
        let t = if ty == Ty::F32 { "f32" } else { "f64" };
        for (op, count, text) in [
            (Op::Add, 2, format!("add.rn.{t} %result_4, %a_2, %b_3")),
            (Op::Sub, 2, format!("sub.rn.{t} %result_4, %a_2, %b_3")),
            (Op::Mul, 2, format!("mul.rn.{t} %result_4, %a_2, %b_3")),
            (Op::Div, 2, format!("div.rn.{t} %result_4, %a_2, %b_3")),
            (Op::Fma, 3, format!("fma.rn.{t} %result_5, %a_2, %b_3, %c_4")),
            (Op::Sqrt, 1, format!("sqrt.rn.{t} %result_3, %a_2")),
            (Op::RoundEven, 1, format!("cvt.rni.{t}.{t} %result_3, %a_2")),
            (Op::CopySign, 2, format!("copysign.{t} %result_4, %b_3, %a_2")),
        ] {
            assert_eq!(lines(ty, ty, op, count), [text]);
        }
    }
    for kernel in samples::all() {
        let text = kernels(&[kernel], Target(80));
        for word in text.split_whitespace() {
            assert!(!word.contains("approx") && !word.contains("ftz"), "{word}");
            let contracted = ["add.f", "sub.f", "mul.f", "mad.", "fma.f", "div.f", "sqrt.f"];
            assert!(contracted.iter().all(|c| !word.starts_with(c)), "{word}");
        }
    }
}

#[test]
fn bytes_stay_in_range() {
    assert_eq!(
        lines(Ty::I8, Ty::I8, Op::Add, 2),
        ["add.s16 %result_4, %a_2, %b_3", "cvt.s16.s8 %result_4, %result_4"]
    );
    assert_eq!(
        lines(Ty::U8, Ty::U8, Op::Not, 1),
        ["not.b16 %result_3, %a_2", "cvt.u16.u8 %result_3, %result_3"]
    );
    assert_eq!(lines(Ty::U8, Ty::U8, Op::Xor, 2), ["xor.b16 %result_4, %a_2, %b_3"]);
    assert_eq!(lines(Ty::I8, Ty::I64, Op::Convert, 1), ["cvt.s64.s16 %result_3, %a_2"]);
    assert_eq!(
        lines(Ty::I64, Ty::U8, Op::Convert, 1),
        ["cvt.u16.s64 %result_3, %a_2", "cvt.u16.u8 %result_3, %result_3"]
    );
}

#[test]
fn shifts_are_modulo_the_width() {
    for (ty, mask) in [(Ty::U8, 7), (Ty::I16, 15), (Ty::I32, 31), (Ty::U64, 63)] {
        let mut b = Builder::new("k");
        let (a, n) = (b.kernel.register(ty, "a"), b.kernel.register(Ty::U32, "n"));
        b.op(ty, Op::Shr, &[a.into(), n.into()]);
        b.op(ty, Op::Shr, &[a.into(), Operand::u32(mask + 4)]);
        let text = body(&b.kernel);
        assert_eq!(text[0], format!("and.b32 %t1, %n_3, {mask}"));
        assert!(text[1].ends_with(", %a_2, %t1"), "{text:?}");
        assert!(text[2].ends_with(", %a_2, 3"), "{text:?}");
    }
}

/// Digits beyond the signed range are legal, and not read alike by all that read PTX.
#[test]
fn large_constants_are_written_by_their_bits() {
    for (bits, ty, text) in [
        (u64::MAX, Ty::U64, "0xFFFFFFFFFFFFFFFF"),
        (1 << 63, Ty::U64, "0x8000000000000000"),
        (1 << 63, Ty::I64, "0x8000000000000000"),
        ((1 << 63) - 1, Ty::U64, "9223372036854775807"),
        (u64::MAX, Ty::I64, "-1"),
    ] {
        let mut b = Builder::new("k");
        let a = b.kernel.register(ty, "a");
        b.op(ty, Op::Xor, &[a.into(), Operand::Const(bits, ty)]);
        assert!(body(&b.kernel)[0].ends_with(&format!(", {text}")), "{:?}", body(&b.kernel));
    }
}

#[test]
fn the_least_integer_divided_by_minus_one_wraps() {
    let text = lines(Ty::I64, Ty::I64, Op::Div, 2).join("\n");
    assert!(text.starts_with("setp.eq.s64 %t1, %b_3, -1\nselp.b64 %t2, 1, %b_3, %t1\n"), "{text}");
    assert!(text.ends_with("selp.b64 %result_4, %t4, %t3, %t1"), "{text}");
    assert_eq!(lines(Ty::U32, Ty::U32, Op::Rem, 2), ["rem.u32 %result_4, %a_2, %b_3"]);
    let by = |divisor: i32| {
        let mut b = Builder::new("k");
        let a = b.kernel.register(Ty::I32, "a");
        b.op(Ty::I32, Op::Div, &[a.into(), Operand::Const(divisor as u32 as u64, Ty::I32)]);
        body(&b.kernel).len()
    };
    assert_eq!((by(3), by(-1)), (1, 6));
}

#[test]
fn comparisons_with_nan_are_false_but_for_inequality() {
    use crate::kernel::Relation::*;
    for (relation, name) in [(Eq, "eq"), (Ne, "neu"), (Lt, "lt"), (Ge, "ge")] {
        let text = lines(Ty::F64, Ty::Pred, Op::Compare(relation), 2);
        assert_eq!(text, [format!("setp.{name}.f64 %result_4, %a_2, %b_3")]);
    }
    assert_eq!(
        lines(Ty::F64, Ty::F64, Op::Min, 2),
        ["setp.le.f64 %t1, %a_2, %b_3", "selp.f64 %result_4, %a_2, %b_3, %t1"]
    );
}

#[test]
fn atomics_by_type_and_memory() {
    let text = |space, ty, op| {
        let mut b = Builder::new("k");
        let (at, value) = (b.kernel.register(Ty::U64, "at"), b.kernel.register(ty, "v"));
        let to = Address { space, base: at.into(), offset: 8 };
        b.inst(Inst::Reduce { to, op, value: value.into(), ty });
        body(&b.kernel).join("\n")
    };
    assert_eq!(text(Space::Global, Ty::F64, Atomic::Add), "red.global.add.f64 [%at_2+8], %v_3");
    assert_eq!(text(Space::Global, Ty::I64, Atomic::Add), "red.global.add.u64 [%at_2+8], %v_3");
    assert_eq!(text(Space::Global, Ty::I64, Atomic::Min), "red.global.min.s64 [%at_2+8], %v_3");
    assert_eq!(text(Space::Global, Ty::I32, Atomic::Xor), "red.global.xor.b32 [%at_2+8], %v_3");
    assert!(text(Space::Shared, Ty::F32, Atomic::Add).ends_with("red.shared.add.f32 [%t2+8], %v_3"));
    assert!(text(Space::Global, Ty::U8, Atomic::Add).contains("atom.global.cas.b32"));
    assert!(!text(Space::Local, Ty::F64, Atomic::Add).contains("red"));
}

#[test]
fn the_version_is_the_lowest_that_is_needed() {
    let first = |kernel: Kernel, target| {
        let text = kernels(&[kernel], Target(target));
        text.lines().take(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(first(samples::control(), 60), ".version 5.0 .target sm_60");
    assert_eq!(first(samples::memory(Ty::F64), 60), ".version 6.0 .target sm_60");
    assert_eq!(first(samples::control(), 86), ".version 7.1 .target sm_86");
    assert_eq!(first(samples::control(), 88), ".version 7.4 .target sm_87");
}

#[test]
fn a_program_says_what_it_was_made_from() {
    let mut kernel = samples::control();
    kernel.title = "loop over `i` in `axpy`\nline 3 \u{221a}".into();
    let program = Program {
        name: "axpy, adjoint".into(),
        kernels: vec![kernel],
        accumulations: vec![crate::plan::Accumulation {
            kernel: "control".into(),
            place: "a_bar".into(),
            strategy: crate::plan::Strategy::Uniform,
            reason: "every iteration adds to it".into(),
        }],
        ..Program::default()
    };
    let text = print(&program, Target(70));
    assert!(text.starts_with("// axpy, adjoint\n// sum a_bar in control: uniform ("), "{text}");
    assert!(text.contains("// loop over `i` in `axpy` line 3 \\u{221a}\n.visible .entry control("), "{text}");
    assert!(text.contains("        // 7: y += x\n        // and so on\n"), "{text}");
    assert!(text.contains("atom.global.cas.b32 "), "{text}");
}

#[test]
fn the_assembler_takes_every_instruction_on_every_type() {
    let Some(assembler) = Assembler::find() else {
        return eprintln!("skipped: no ptxas (REV_PTXAS, PATH)");
    };
    let all = samples::all();
    assert_eq!(all.len(), 1 + 3 * TYPES.len());
    for target in [60, 70, 75, 80, 90] {
        let text = kernels(&all, Target(target));
        let usages = assembler.assemble(&text, Target(target)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(usages.len(), all.len());
    }
    let wrong = kernels(&all, Target(60)).replace("add.rn.f64", "add.rm.s64");
    assert!(assembler.assemble(&wrong, Target(60)).is_err());
}
