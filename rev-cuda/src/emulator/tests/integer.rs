//! Integer arithmetic, logic and shifts: values worked out from the manual's definitions.

use super::{check, eval};

const M: u64 = u64::MAX;
const W: u64 = 0xffff_ffff;

#[test]
fn sums_and_products_wrap() {
    check(&[
        ("add.u16 %h0, %h1, %h2", &[0xffff, 2], 1),
        ("add.s32 %r0, %r1, -1", &[0], W),
        ("add.u64 %l0, %l1, %l2", &[M, 3], 2),
        ("add.sat.s32 %r0, %r1, %r2", &[0x7fff_ffff, 1], 0x7fff_ffff),
        ("add.sat.s32 %r0, %r1, %r2", &[0x8000_0000, W], 0x8000_0000),
        ("sub.sat.s32 %r0, %r1, %r2", &[0x8000_0000, 1], 0x8000_0000),
        ("sub.s16 %h0, %h1, %h2", &[0, 1], 0xffff),
        ("sub.u64 %l0, %l1, 1", &[0], M),
        ("mul.lo.u16 %h0, %h1, %h2", &[300, 300], 90000 & 0xffff),
        ("mul.hi.u16 %h0, %h1, %h2", &[0xffff, 0xffff], 0xfffe),
        ("mul.hi.s16 %h0, %h1, %h2", &[0xffff, 0xffff], 0),
        ("mul.wide.u16 %r0, %h1, %h2", &[0xffff, 0xffff], 0xfffe_0001),
        ("mul.wide.s16 %r0, %h1, %h2", &[0xffff, 2], 0xffff_fffe),
        ("mul.lo.s32 %r0, %r1, %r2", &[0x10001, 0x10001], 0x20001),
        ("mul.hi.s32 %r0, %r1, %r2", &[W, 5], W),
        ("mul.hi.u32 %r0, %r1, %r2", &[W, W], 0xffff_fffe),
        ("mul.wide.s32 %l0, %r1, %r2", &[W, 7], (-7i64) as u64),
        ("mul.wide.u32 %l0, %r1, %r2", &[W, W], 0xffff_fffe_0000_0001),
        ("mul.hi.u64 %l0, %l1, %l2", &[M, M], M - 1),
        ("mul.hi.s64 %l0, %l1, %l2", &[M, 9], M),
        ("mad.lo.s32 %r0, %r1, %r2, %r3", &[3, 4, 5], 17),
        ("mad.hi.u32 %r0, %r1, %r2, %r3", &[W, W, 3], 1),
        ("mad.wide.u32 %l0, %r1, %r2, %l3", &[W, 2, 1], 0x1_ffff_ffff),
        ("mad.wide.s16 %r0, %h1, %h2, %r3", &[0xffff, 3, 1], 0xffff_fffe),
        ("sad.u32 %r0, %r1, %r2, %r3", &[3, 10, 100], 107),
        ("sad.s32 %r0, %r1, %r2, %r3", &[W, 1, 0], 2),
    ]);
}

#[test]
fn quotients_and_order() {
    check(&[
        ("div.s32 %r0, %r1, %r2", &[(-7i32) as u32 as u64, 2], (-3i32) as u32 as u64),
        ("div.u32 %r0, %r1, %r2", &[(-7i32) as u32 as u64, 2], 0x7fff_fffc),
        ("rem.s64 %l0, %l1, %l2", &[(-7i64) as u64, 2], M),
        ("rem.u16 %h0, %h1, %h2", &[100, 7], 2),
        ("neg.s16 %h0, %h1", &[1], 0xffff),
        ("neg.s64 %l0, %l1", &[5], (-5i64) as u64),
        ("abs.s32 %r0, %r1", &[W], 1),
        ("min.s32 %r0, %r1, %r2", &[W, 1], W),
        ("min.u32 %r0, %r1, %r2", &[W, 1], 1),
        ("max.s64 %l0, %l1, %l2", &[M, 1], 1),
        ("max.u16 %h0, %h1, %h2", &[0xffff, 1], 0xffff),
    ]);
}

#[test]
fn logic_and_shifts() {
    check(&[
        ("and.b32 %r0, %r1, 0xff", &[0x1234], 0x34),
        ("or.b64 %l0, %l1, %l2", &[1 << 63, 1], (1 << 63) | 1),
        ("xor.b16 %h0, %h1, %h2", &[0xf0f0, 0xffff], 0x0f0f),
        ("not.b16 %h0, %h1", &[0xf0f0], 0x0f0f),
        ("not.b32 %r0, %r1", &[0], W),
        ("not.b64 %l0, %l1", &[0], M),
        ("cnot.b32 %r0, %r1", &[0], 1),
        ("cnot.b64 %l0, %l1", &[8], 0),
        ("shl.b32 %r0, %r1, %r2", &[1, 31], 1 << 31),
        ("shl.b32 %r0, %r1, %r2", &[1, 32], 0),
        ("shl.b64 %l0, %l1, %r2", &[1, W], 0),
        ("shl.b16 %h0, %h1, %r2", &[3, 15], 0x8000),
        ("shr.u32 %r0, %r1, %r2", &[W, 40], 0),
        ("shr.s32 %r0, %r1, %r2", &[1 << 31, 40], W),
        ("shr.s64 %l0, %l1, %r2", &[1 << 63, 63], M),
        ("shr.b64 %l0, %l1, %r2", &[1 << 63, 63], 1),
        ("shr.s16 %h0, %h1, 4", &[0x8000], 0xf800),
        ("shf.l.wrap.b32 %r0, %r1, %r2, %r3", &[0x8000_0000, 1, 33], 3),
        ("shf.l.clamp.b32 %r0, %r1, %r2, %r3", &[0x8000_0000, 1, 33], 0x8000_0000),
        ("shf.r.wrap.b32 %r0, %r1, %r2, %r3", &[0, 1, 1], 0x8000_0000),
        ("shf.r.clamp.b32 %r0, %r1, %r2, %r3", &[7, 9, 99], 9),
        ("lop3.b32 %r0, %r1, %r2, %r3, 0x96", &[0xf0, 0xcc, 0xaa], 0xf0 ^ 0xcc ^ 0xaa),
        ("lop3.b32 %r0, %r1, %r2, %r3, 0xe8", &[0xf0, 0xcc, 0xaa], 0xe8),
    ]);
}

#[test]
fn counting_and_fields() {
    check(&[
        ("popc.b32 %r0, %r1", &[0xf0f0], 8),
        ("popc.b64 %r0, %l1", &[M], 64),
        ("clz.b32 %r0, %r1", &[0], 32),
        ("clz.b64 %r0, %l1", &[1], 63),
        ("brev.b32 %r0, %r1", &[1], 1 << 31),
        ("brev.b64 %l0, %l1", &[2], 1 << 62),
        ("bfind.u32 %r0, %r1", &[0x100], 8),
        ("bfind.u32 %r0, %r1", &[0], W),
        ("bfind.s32 %r0, %r1", &[W], W),
        ("bfind.s64 %r0, %l1", &[(-5i64) as u64], 2),
        ("bfind.shiftamt.u32 %r0, %r1", &[0x100], 23),
        ("bfe.u32 %r0, %r1, 4, 8", &[0x1234], 0x23),
        ("bfe.s32 %r0, %r1, 4, 8", &[0xf234], 0x23),
        ("bfe.s32 %r0, %r1, 8, 8", &[0xf234], 0xffff_fff2),
        ("bfe.s32 %r0, %r1, 28, 8", &[0x8000_0000], 0xffff_fff8),
        ("bfe.u32 %r0, %r1, 28, 8", &[0x8000_0000], 8),
        ("bfe.s64 %l0, %l1, 70, 3", &[1 << 63], M),
        ("bfe.s32 %r0, %r1, 0, 0", &[W], 0),
        ("bfi.b32 %r0, %r1, %r2, 8, 4", &[0xff, 0], 0xf00),
        ("bfi.b64 %l0, %l1, %l2, 60, 20", &[0, M], M >> 4),
        ("bfi.b32 %r0, %r1, %r2, 0, 0", &[0xff, 7], 7),
        ("prmt.b32 %r0, %r1, %r2, 0x7531", &[0x3322_1100, 0x7766_5544], 0x7755_3311),
        ("prmt.b32 %r0, %r1, %r2, 0x8b80", &[0x80ff_7f81, 0], 0xffff_ff81),
        ("prmt.b32.f4e %r0, %r1, %r2, 1", &[0x3322_1100, 0x7766_5544], 0x4433_2211),
        ("prmt.b32.b4e %r0, %r1, %r2, 1", &[0x3322_1100, 0x7766_5544], 0x6677_0011),
        ("prmt.b32.rc8 %r0, %r1, %r2, 2", &[0x3322_1100, 0], 0x2222_2222),
        ("prmt.b32.ecl %r0, %r1, %r2, 2", &[0x3322_1100, 0], 0x3322_2222),
        ("prmt.b32.ecr %r0, %r1, %r2, 1", &[0x3322_1100, 0], 0x1111_1100),
        ("prmt.b32.rc16 %r0, %r1, %r2, 1", &[0x3322_1100, 0], 0x3322_3322),
    ]);
}

#[test]
fn the_carry_flag_joins_words() {
    let sum = "add.cc.u32 %r0, %r1, %r2; addc.cc.u32 %r4, %r1, 0; addc.u32 %r0, %r3, 0;";
    assert_eq!(eval(sum, 'r', &[W, W, 5]), Ok(6));
    let sum = "add.cc.u64 %l4, %l1, %l2; addc.u64 %l0, %l3, 0;";
    assert_eq!(eval(sum, 'l', &[M, 1, 5]), Ok(6));
    let difference = "sub.cc.u32 %r4, %r1, %r2; subc.u32 %r0, %r3, 0;";
    assert_eq!(eval(difference, 'r', &[1, 2, 5]), Ok(4));
    assert_eq!(eval(difference, 'r', &[2, 2, 5]), Ok(5));
    let difference = "sub.cc.s64 %l4, %l1, %l2; subc.cc.s64 %l4, %l2, %l2; subc.s64 %l0, %l3, 0;";
    assert_eq!(eval(difference, 'l', &[1, 2, 5]), Ok(4));
    // (2^64 - 1)^2 = 2^128 - 2^65 + 1, plus 2^64 - 1 in the low word carries.
    let product = "mad.lo.cc.u64 %l4, %l1, %l1, %l2; madc.hi.u64 %l0, %l1, %l1, 0;";
    assert_eq!(eval(product, 'l', &[M, M]), Ok(M - 1 + 1));
    let product = "mad.lo.cc.u32 %r4, %r1, %r1, %r2; madc.hi.cc.u32 %r4, %r1, %r1, %r2; addc.u32 %r0, 0, 0;";
    assert_eq!(eval(product, 'r', &[W, W]), Ok(1));
    let signed = "add.cc.s32 %r4, %r1, 1; madc.hi.s32 %r0, %r1, %r2, 0;";
    assert_eq!(eval(signed, 'r', &[W, 3]), Ok(0));
}
