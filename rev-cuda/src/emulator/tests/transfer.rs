//! Moves, vectors, memory accesses of all sizes, and atomic operations.

use super::{check, emulator, eval, kernel, launch, read_words, words};
use crate::driver::Driver;

#[test]
fn moves() {
    check(&[
        ("mov.u32 %r0, %r1", &[7], 7),
        ("mov.b64 %l0, {%r1, %r2}", &[1, 2], 0x2_0000_0001),
        ("mov.b32 %r0, {%h1, %h2}", &[1, 2], 0x2_0001),
        ("mov.b64 %l0, {%h1, %h2, %h3, %h4}", &[1, 2, 3, 4], 0x0004_0003_0002_0001),
        ("mov.f64 %l0, 0d3FF0000000000000", &[], 1f64.to_bits()),
        ("mov.f32 %r0, 0f3F800000", &[], 1f32.to_bits().into()),
        ("mov.f32 %r0, 0.5", &[], 0.5f32.to_bits().into()),
        ("mov.s16 %h0, -1", &[], 0xffff),
        ("selp.s32 %r0, %r1, %r2, 0", &[3, 4], 4),
    ]);
    assert_eq!(eval("mov.b64 {%r0, %r2}, %l1;", 'r', &[0x2_0000_0001]), Ok(1));
    assert_eq!(eval("mov.b64 {_, %r0}, %l1;", 'r', &[0x2_0000_0001]), Ok(2));
    assert_eq!(eval("setp.eq.u32 %p1, %r1, 1; mov.pred %p0, !%p1;", 'p', &[1]), Ok(0));
    assert_eq!(eval("mov.pred %p1, 1; not.pred %p2, %p1; xor.pred %p0, %p1, %p2;", 'p', &[]), Ok(1));
}

#[test]
fn accesses_extend_and_cut() {
    let at = |i: &str| format!("{i} %r0, [%l10+8];");
    assert_eq!(eval(&at("ld.global.s8"), 'r', &[0xfffe]), Ok(0xffff_fffe));
    assert_eq!(eval(&at("ld.global.u8"), 'r', &[0xfffe]), Ok(0xfe));
    assert_eq!(eval(&at("ld.global.s16"), 'r', &[0x8001]), Ok(0xffff_8001));
    assert_eq!(eval(&at("ld.volatile.global.b32"), 'r', &[0x8001]), Ok(0x8001));
    assert_eq!(eval("ld.global.nc.v2.b32 {%r1, %r0}, [%l10+8];", 'r', &[5 << 32]), Ok(5));
    assert_eq!(eval("ld.relaxed.gpu.global.v2.u16 {%h1, %h0}, [%l10+8];", 'h', &[0x50000]), Ok(5));
    assert_eq!(eval("ld.global.s32 %l0, [%l10+8];", 'l', &[0x8000_0000]), Ok(0xffff_ffff_8000_0000));
    assert_eq!(
        eval("st.global.u8 [%l10+8], %r2; ld.global.cg.u64 %l0, [%l10+8];", 'l', &[0x1111, 0x22]),
        Ok(0x1122)
    );
    let both = "st.global.v4.b16 [%l10+8], {%h2, %h2, 7, %h2}; ld.b64 %l0, [%l10+8];";
    assert_eq!(eval(both, 'l', &[0, 1]), Ok(0x0001_0007_0001_0001));
}

#[test]
fn variables_and_generic_addresses() {
    let body = ".shared .align 8 .b8 s[16]; .local .align 8 .b8 t[8]; .local .u32 u;
        mov.u64 %l1, s; st.shared.u32 [%l1+4], 7; cvta.shared.u64 %l2, %l1; ld.u32 %r1, [%l2+4];
        st.local.u32 [u], 5; cvta.local.u64 %l3, u; ld.u32 %r2, [%l3]; cvta.to.local.u64 %l4, %l3;
        ld.local.u32 %r3, [%l4]; mov.u32 %r5, s; ld.shared.u32 %r6, [%r5+4];
        mad.lo.u32 %r0, %r1, 100, %r2; mad.lo.u32 %r0, %r0, 100, %r3; mad.lo.u32 %r0, %r0, 100, %r6;";
    assert_eq!(eval(body, 'r', &[]), Ok(7_050_507));
}

#[test]
fn constants_are_read() {
    let body = "mov.u64 %l3, t; mul.lo.u64 %l4, %l1, 2; add.u64 %l3, %l3, %l4; ld.const.s16 %r1, [%l3];
        ld.const.u16 %r2, [t+2]; mad.lo.u32 %r0, %r1, 100, %r2;";
    let text = |body: &str| {
        let load = "ld.global.b64 %l1, [%l10+8]; ";
        let store = "cvt.u64.u32 %l0, %r0; st.global.b64 [%l10], %l0; ret;";
        let text = kernel(1, &format!("{load}{body}{store}"));
        text.replace(
            ".visible",
            ".const .u32 pad = 9; .const .align 4 .b16 t[4] = { 3, 0x4, 0xFFFF };\n.visible",
        )
    };
    let run = |index: u64| {
        let mut buffers = [[0, index].iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>()];
        launch(&text(body), 1, 1, &mut buffers)?;
        Ok::<u32, String>(read_words(&buffers[0])[0])
    };
    assert_eq!([run(0), run(1), run(3)], [Ok(304), Ok(404), Ok(4)]);
    assert_eq!(run(2), Ok(4u32.wrapping_sub(100)));
    assert!(run(9).unwrap_err().contains("of const memory, which has 12 bytes"));
    assert!(run(8).is_err());
    let stores = emulator().load(&text("st.const.u16 [t], %h0; mov.u32 %r0, 0;")).unwrap_err();
    assert!(stores.to_string().contains("constants can't be written"), "{stores}");
    let long = text(body).replace("t[4]", "t[2]");
    assert!(emulator().load(&long).unwrap_err().to_string().contains("`t` has room for 4 bytes"));
}

#[test]
fn atomic_operations() {
    let run = |op: &str, kind: char, args: &[u64]| {
        let (reg, old) = if kind == 'r' {
            ("%r", "ld.global.u32 %r0, [%l10+8]")
        } else {
            ("%l", "ld.global.u64 %l0, [%l10+8]")
        };
        let values = if op.starts_with("cas.") { format!("{reg}2, {reg}3") } else { format!("{reg}2") };
        let new = eval(&format!("atom.global.{op} {reg}4, [%l10+8], {values}; {old};"), kind, args).unwrap();
        let old = eval(&format!("atom.{op} {reg}0, [%l10+8], {values};"), kind, args).unwrap();
        assert_eq!(old, if kind == 'r' { args[0] & 0xffff_ffff } else { args[0] }, "{op}");
        new
    };
    let w = 0xffff_ffff;
    assert_eq!(run("add.u32", 'r', &[w, 2]), 1);
    assert_eq!(run("add.u64", 'l', &[u64::MAX, 2]), 1);
    assert_eq!(run("add.f64", 'l', &[1f64.to_bits(), 0.5f64.to_bits()]), 1.5f64.to_bits());
    assert_eq!(
        run("add.f32", 'r', &[1f32.to_bits().into(), 0.5f32.to_bits().into()]),
        u64::from(1.5f32.to_bits())
    );
    assert_eq!(run("min.s32", 'r', &[w, 2]), w);
    assert_eq!(run("min.u32", 'r', &[w, 2]), 2);
    assert_eq!(run("max.s64", 'l', &[u64::MAX, 2]), 2);
    assert_eq!(run("max.u64", 'l', &[u64::MAX, 2]), u64::MAX);
    assert_eq!(run("and.b32", 'r', &[6, 3]), 2);
    assert_eq!(run("or.b64", 'l', &[6, 3]), 7);
    assert_eq!(run("xor.b32", 'r', &[6, 3]), 5);
    assert_eq!(run("inc.u32", 'r', &[3, 3]), 0);
    assert_eq!(run("inc.u32", 'r', &[2, 3]), 3);
    assert_eq!(run("dec.u32", 'r', &[0, 3]), 3);
    assert_eq!(run("dec.u32", 'r', &[9, 3]), 3);
    assert_eq!(run("dec.u32", 'r', &[2, 3]), 1);
    assert_eq!(run("exch.b32", 'r', &[2, 3]), 3);
    assert_eq!(run("cas.b64", 'l', &[2, 2, 9]), 9);
    assert_eq!(run("cas.b32", 'r', &[2, 3, 9]), 2);
}

/// The manual: `add.f32` flushes subnormals in global memory, and doesn't in shared memory.
#[test]
fn a_float_sum_flushes_in_global_memory_only() {
    let body = ".shared .f32 s; st.shared.f32 [s], 0f00000001; red.shared.add.f32 [s], 0f00000001;
        ld.shared.b32 %r1, [s]; red.global.add.f32 [%l10], 0f00000001; st.global.b32 [%l10+4], %r1;";
    let mut buffers = [words(&[1, 0])];
    launch(&kernel(1, &format!("{body}\nret;")), 1, 1, &mut buffers).unwrap();
    assert_eq!(read_words(&buffers[0]), [0, 2]);
}
