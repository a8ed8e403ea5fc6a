//! Texts that aren't loaded: each error names the line and what is wrong.

use super::{assembled, emulator, kernel, module};
use crate::driver::{Driver, Target};
use crate::emulator::decode::MAX_REGISTERS;
use crate::emulator::Emulator;

fn text(instruction: &str) -> String {
    kernel(1, &format!("{instruction}\nret;"))
}

fn refused(instruction: &str) -> String {
    emulator().load(&text(instruction)).unwrap_err().to_string()
}

/// What `ptxas` takes besides the manual: modifiers in another order, constants that it cuts or
/// rounds; and an instruction that isn't supported here.
const MORE: [&str; 5] = [
    "add.f32.rn %f0, %f1, %f2;",
    "add.u32 %r0, %r1, 0x100000000;",
    "add.rn.f32 %f0, %f1, 0.1;",
    "ld.param.u64 %l0, [b0+8];",
    "bar.arrive 0, 32;",
];

fn refused_by_the_assembler(instruction: &str) {
    if let Some(said) = assembled(&text(instruction)) {
        assert_eq!(said.is_ok(), MORE.contains(&instruction), "{instruction}: {said:?}");
    }
}

#[test]
fn what_the_manual_leaves_open() {
    let table = [
        ("add.f64 %d0, %d1, %d2;", "`add.f64` without a rounding may be contracted"),
        ("mul.f32 %f0, %f1, %f2;", "`mul.f32` without a rounding may be contracted"),
        ("div.approx.f32 %f0, %f1, %f2;", "`div.approx` is an approximation"),
        ("div.full.f32 %f0, %f1, %f2;", "`div.full` is an approximation"),
        ("sqrt.approx.f32 %f0, %f1;", "`sqrt.approx` is an approximation"),
        ("ex2.approx.f32 %f0, %f1;", "`ex2` exists only as an approximation"),
        ("sin.approx.f32 %f0, %f1;", "`sin` exists only as an approximation"),
    ];
    for (instruction, message) in table {
        let found = refused(instruction);
        assert!(found.contains(message), "{instruction}: {found}");
    }
}

#[test]
fn wrong_instructions() {
    let table = [
        ("addd.u32 %r0, %r1, %r2;", "`addd` is no instruction"),
        ("add.u32 %r0, %r1;", "`add` takes 3 operands here, not 2"),
        ("add.b32 %r0, %r1, %r2;", "`add` doesn't exist for `.b32`"),
        ("add.rn.u32 %r0, %r1, %r2;", "expected a type in `add`, found `.rn`"),
        ("add.u32.sat %r0, %r1, %r2;", "`.sat` is unknown, or not allowed"),
        ("add.sat.u32 %r0, %r1, %r2;", "only for `.s32`"),
        ("mul.u32 %r0, %r1, %r2;", "needs `.lo`, `.hi` or `.wide`"),
        ("mul.wide.u64 %l0, %l1, %l2;", "`.wide` doesn't exist for `.u64`"),
        ("add.f32.rn %f0, %f1, %f2;", "not allowed at this place"),
        ("add.rn.ftz.f64 %d0, %d1, %d2;", "only for `.f32`"),
        ("neg.u32 %r0, %r1;", "`neg` doesn't exist for `.u32`"),
        ("fma.u32 %r0, %r1, %r2, %r3;", "takes a float type"),
        ("setp.lt.b32 %p0, %r1, %r2;", "`setp.lt` doesn't exist for `.b32`"),
        ("setp.ltu.u32 %p0, %r1, %r2;", "`setp.ltu` doesn't exist for `.u32`"),
        ("setp.lt.and.u32 %p0, %r1, %r2;", "takes 4 operands"),
        ("cvt.s32.f64 %r0, %d1;", "`cvt.s32.f64` needs a rounding"),
        ("cvt.f32.f64 %f0, %d1;", "`cvt.f32.f64` needs a rounding"),
        ("cvt.rn.f64.f32 %d0, %f1;", "takes no floating-point rounding"),
        ("cvt.rzi.u64.u32 %l0, %r1;", "can't be rounded to an integer"),
        ("cvt.rn.s32.f32 %r0, %f1;", "takes no floating-point rounding"),
        ("shl.u32 %r0, %r1, %r2;", "`shl` doesn't exist for `.u32`"),
        ("lop3.b32 %r0, %r1, %r2, %r3, %r4;", "constant from 0 to 255"),
        ("atom.global.add.s64 %l0, [%l1], %l2;", "`atom.add` doesn't exist for `.s64`"),
        ("red.global.exch.b32 [%l1], %r2;", "`red.exch` doesn't exist"),
        ("atom.local.add.u32 %r0, [%l1], %r2;", "`atom.local` doesn't exist"),
        ("ld.global.v4.f64 {%d0, %d1, %d2, %d3}, [%l1];", "at most 16 bytes"),
        ("ld.global.v2.f64 %d0, [%l1];", "expected 2 registers"),
        ("st.param.u64 [b0], %l1;", "parameters can't be written"),
        ("ld.param.u64 %l0, [b1];", "`b1` isn't a parameter"),
        ("ld.param.u64 %l0, [b0+8];", "`b0` has 8 bytes, and 8 are read at 8"),
        ("bra NOWHERE;", "there is no label `NOWHERE`"),
        ("bar.sync 16;", "from 0 to 15"),
        ("ld.global.u32 %r0, [8];", "only in local memory"),
        ("bar.sync 1, 33;", "a multiple of the warp's"),
        ("ld.global.u32 %r0, [%l1-4];", "expected `]` after the address"),
        ("bar.arrive 0, 32;", "only `bar.sync` is supported"),
        ("shfl.bfly.b32 %r0, %r1, 1, 31;", "without `.sync`"),
        ("fence;", "needs a scope"),
        ("call foo;", "`call` is no instruction"),
    ];
    for (instruction, message) in table {
        let found = refused(instruction);
        assert!(found.contains(message), "{instruction}: {found}");
        assert!(found.contains("line 16"), "{found}");
        refused_by_the_assembler(instruction);
    }
}

#[test]
fn wrong_operands() {
    let table = [
        ("add.u32 %r0, %r1, %l2;", "`%l2` is a `.b64` register where the instruction is `.u32`"),
        ("add.rn.f64 %d0, %d1, %f2;", "`%f2` is a `.f32` register"),
        ("add.u32 %r0, %r1, %f2;", "`%f2` is a `.f32` register"),
        ("add.u32 %p0, %r1, %r2;", "`%p0` is a predicate"),
        ("add.u32 %r0, %r1, %p2;", "`%p2` is a predicate"),
        ("@%r1 ret;", "`%r1` is a `.b32` register where a predicate is expected"),
        ("add.u32 %r0, %r1, %r99;", "`%r99` isn't declared"),
        ("add.u32 5, %r1, %r2;", "the result must be"),
        ("add.u32 %r0, %r1, 0x100000000;", "the constant isn't a value of `.u32`"),
        ("add.u32 %r0, %r1, 1.5;", "the constant isn't a value of `.u32`"),
        ("add.rn.f32 %f0, %f1, 1;", "the constant isn't a value of `.f32`"),
        ("add.rn.f32 %f0, %f1, 0.1;", "the constant isn't a value of `.f32`"),
        ("add.u32 %r0, %r1, %tid.x;", "can only be read by `mov`"),
        ("mov.u64 %l0, %tid.x;", "`%tid.x` has 32 bits"),
        ("mov.f32 %f0, %d1;", "`%d1` is a `.f64` register"),
        ("ld.global.u32 %h0, [%l1];", "`%h0` is a `.b16` register"),
        ("ld.global.u32 %r0, [%r1];", "`%r1` is a `.b32` register"),
        ("ld.global.f32 %d0, [%l1];", "`%d0` is a `.f64` register"),
        (".shared .u32 s; ld.global.u32 %r0, [s];", "`s` is a .shared variable, the access is global"),
        (".reg .u32 %r1;", "a second register `%r1`"),
        ("L: L: ret;", "a second label `L`"),
    ];
    for (instruction, message) in table {
        let found = refused(instruction);
        assert!(found.contains(message), "{instruction}: {found}");
        refused_by_the_assembler(instruction);
    }
}

#[test]
fn instructions_need_versions_and_targets() {
    let table = [
        ("red.global.add.f64 [%l1], %d1;", "4.3", "sm_60", "needs `.version 5.0`"),
        ("red.global.add.f64 [%l1], %d1;", "6.0", "sm_52", "needs `.target sm_60`"),
        ("red.relaxed.gpu.global.add.u32 [%l1], %r1;", "6.0", "sm_61", "needs `.target sm_70`"),
        ("match.any.sync.b32 %r0, %r1, -1;", "6.0", "sm_60", "needs `.target sm_70`"),
        ("redux.sync.add.u32 %r0, %r1, -1;", "7.0", "sm_75", "needs `.target sm_80`"),
        ("activemask.b32 %r0;", "6.1", "sm_70", "needs `.version 6.2`"),
        ("shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;", "5.0", "sm_60", "needs `.version 6.0`"),
        ("min.NaN.f32 %f0, %f1, %f2;", "7.0", "sm_75", "needs `.target sm_80`"),
        ("ret;", "5.0", "sm_70", "`sm_70` needs `.version 6.0`"),
        ("ret;", "6.3", "sm_80", "`sm_80` needs `.version 7.0`"),
    ];
    for (instruction, version, target, message) in table {
        let text =
            kernel(1, &format!("{instruction}\nret;")).replace("8.0", version).replace("sm_90", target);
        let found = emulator().load(&text).unwrap_err().to_string();
        assert!(found.contains(message), "{instruction}: {found}");
        assert!(assembled(&text).is_none_or(|said| said.is_err()), "{instruction}");
    }
    let old = Emulator::new().with_target(Target(60));
    let found = old.load(&kernel(1, "ret;")).unwrap_err().to_string();
    assert!(found.contains("the text is for sm_90, the device is sm_60"), "{found}");
}

#[test]
fn as_many_registers_as_there_may_be() {
    let load = |n: usize| {
        let body = format!(".reg .b32 %x<{n}>;\n.reg .pred %p;\nret;");
        emulator().load(&module(&format!(".visible .entry k() {{\n{body}\n}}\n"))).map(drop)
    };
    assert_eq!(load(MAX_REGISTERS - 1), Ok(()));
    for more in [MAX_REGISTERS, 11_111_140, u32::MAX as usize] {
        let found = load(more).unwrap_err().to_string();
        assert!(found.contains("more than 262144 registers in a kernel"), "{found}");
    }
}

#[test]
fn too_much_shared_memory() {
    let found = refused(".shared .b8 s[49153];");
    assert!(found.contains("49153 bytes of shared memory"), "{found}");
}
