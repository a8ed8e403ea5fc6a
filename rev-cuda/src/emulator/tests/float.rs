//! Floating point: arithmetic, rounding, NaN, flushing, comparisons and conversions.

use super::{check, eval};

const fn d(v: f64) -> u64 {
    v.to_bits()
}

const fn s(v: f32) -> u64 {
    v.to_bits() as u64
}

const NAN: u64 = 0x7fff_ffff;
const TINY: u64 = 1;

#[test]
fn arithmetic_rounds_as_it_says() {
    let third = d(1.0 / 3.0);
    check(&[
        ("add.rn.f64 %l0, %l1, %l2", &[d(0.1), d(0.2)], d(0.1 + 0.2)),
        ("add.rp.f64 %l0, %l1, %l2", &[d(1.0), d(1e-30)], d(1.0) + 1),
        ("add.rz.f64 %l0, %l1, %l2", &[d(1.0), d(-1e-30)], d(1.0) - 1),
        ("add.rm.f64 %l0, %l1, %l2", &[d(1.0), d(-1.0)], d(-0.0)),
        ("sub.rn.f32 %r0, %r1, %r2", &[s(1.0), s(1e-9)], s(1.0)),
        ("sub.rm.f32 %r0, %r1, %r2", &[s(1.0), s(1e-9)], s(1.0) - 1),
        ("mul.rn.f32 %r0, %r1, %r2", &[s(0.1), s(0.1)], s(0.1 * 0.1)),
        ("mul.rn.f64 %l0, %l1, 0d4000000000000000", &[third], d(2.0 / 3.0)),
        ("mul.rz.f64 %l0, %l1, %l2", &[d(f64::MAX), d(2.0)], d(f64::MAX)),
        ("fma.rn.f64 %l0, %l1, %l2, %l3", &[d(0.1), d(10.0), d(-1.0)], d(0.1f64.mul_add(10.0, -1.0))),
        ("mad.rn.f64 %l0, %l1, %l2, %l3", &[d(0.1), d(10.0), d(-1.0)], d(0.1f64.mul_add(10.0, -1.0))),
        ("fma.rn.f32 %r0, %r1, %r2, %r3", &[s(0.1), s(10.0), s(-1.0)], s(0.1f32.mul_add(10.0, -1.0))),
        ("fma.rz.f64 %l0, %l1, %l2, %l3", &[d(1.0), d(1.0), d(-1e-300)], d(1.0) - 1),
        ("div.rn.f64 %l0, %l1, %l2", &[d(1.0), d(3.0)], third),
        ("div.rp.f64 %l0, %l1, %l2", &[d(1.0), d(3.0)], third + 1),
        ("div.rn.f32 %r0, %r1, %r2", &[s(1.0), s(0.0)], s(f32::INFINITY)),
        ("rcp.rn.f32 %r0, %r1", &[s(3.0)], s(1.0 / 3.0)),
        ("rcp.rz.f64 %l0, %l1", &[d(3.0)], third),
        ("sqrt.rn.f64 %l0, %l1", &[d(2.0)], d(std::f64::consts::SQRT_2)),
        ("sqrt.rp.f64 %l0, %l1", &[d(4.0)], d(2.0)),
        ("sqrt.rn.f32 %r0, %r1", &[s(-1.0)], NAN),
        ("add.rn.f32 %r0, %r1, %r2", &[0x7fc1_2345, s(1.0)], NAN),
    ]);
}

#[test]
fn flushing_and_saturation() {
    check(&[
        ("add.rn.f32 %r0, %r1, %r2", &[TINY, TINY], 2),
        ("add.rn.ftz.f32 %r0, %r1, %r2", &[TINY, TINY], 0),
        ("mul.rn.ftz.f32 %r0, %r1, %r2", &[s(-1e-30), s(1e-10)], s(-0.0)),
        ("mul.rn.f32 %r0, %r1, %r2", &[s(-1e-30), s(1e-10)], s(-1e-30 * 1e-10)),
        ("add.rn.sat.f32 %r0, %r1, %r2", &[s(3.0), s(1.0)], s(1.0)),
        ("add.rn.sat.f32 %r0, %r1, %r2", &[s(-3.0), s(1.0)], 0),
        ("add.rn.ftz.sat.f32 %r0, %r1, %r2", &[NAN, s(1.0)], 0),
        ("mul.rn.sat.f32 %r0, %r1, %r2", &[s(0.5), s(0.5)], s(0.25)),
        ("neg.ftz.f32 %r0, %r1", &[TINY], s(-0.0)),
        ("abs.f32 %r0, %r1", &[s(-0.0)], 0),
        ("neg.f64 %l0, %l1", &[d(1.0)], d(-1.0)),
        ("copysign.f64 %l0, %l1, %l2", &[d(-1.0), d(3.0)], d(-3.0)),
        ("copysign.f32 %r0, %r1, %r2", &[s(1.0), s(-3.0)], s(3.0)),
    ]);
}

#[test]
fn extremes() {
    check(&[
        ("min.f64 %l0, %l1, %l2", &[d(1.0), d(2.0)], d(1.0)),
        ("max.f32 %r0, %r1, %r2", &[s(1.0), s(2.0)], s(2.0)),
        ("min.f32 %r0, %r1, %r2", &[NAN, s(2.0)], s(2.0)),
        ("max.f32 %r0, %r1, %r2", &[s(2.0), NAN], s(2.0)),
        ("max.f32 %r0, %r1, %r2", &[NAN, 0x7fc0_0000], NAN),
        ("min.NaN.f32 %r0, %r1, %r2", &[s(2.0), NAN], NAN),
        ("max.NaN.f32 %r0, %r1, %r2", &[NAN, s(2.0)], NAN),
        ("max.NaN.f32 %r0, %r1, %r2", &[s(3.0), s(2.0)], s(3.0)),
        ("min.f64 %l0, %l1, %l2", &[d(0.0), d(-0.0)], d(-0.0)),
        ("max.f64 %l0, %l1, %l2", &[d(-0.0), d(0.0)], d(0.0)),
        ("max.ftz.f32 %r0, %r1, %r2", &[TINY, s(-1.0)], 0),
    ]);
}

#[test]
fn comparisons() {
    let nan = d(f64::NAN);
    let table = [
        ("eq", 0, 1, 0, 0),
        ("ne", 1, 0, 1, 0),
        ("lt", 1, 0, 0, 0),
        ("le", 1, 1, 0, 0),
        ("gt", 0, 0, 1, 0),
        ("ge", 0, 1, 1, 0),
        ("equ", 0, 1, 0, 1),
        ("neu", 1, 0, 1, 1),
        ("ltu", 1, 0, 0, 1),
        ("leu", 1, 1, 0, 1),
        ("gtu", 0, 0, 1, 1),
        ("geu", 0, 1, 1, 1),
        ("num", 1, 1, 1, 0),
        ("nan", 0, 0, 0, 1),
    ];
    for (op, less, equal, greater, unordered) in table {
        let test = format!("setp.{op}.f64 %p0, %l1, %l2;");
        let pairs = [
            (d(1.0), d(2.0), less),
            (d(0.0), d(-0.0), equal),
            (d(2.0), d(1.0), greater),
            (nan, d(1.0), unordered),
        ];
        for (a, b, expected) in pairs {
            assert_eq!(eval(&test, 'p', &[a, b]), Ok(expected), "{op} {a:x} {b:x}");
        }
    }
    check(&[
        ("setp.lt.s32 %p0, %r1, %r2", &[0xffff_ffff, 0], 1),
        ("setp.lo.u32 %p0, %r1, %r2", &[0xffff_ffff, 0], 0),
        ("setp.hs.u64 %p0, %l1, %l2", &[5, 5], 1),
        ("setp.ne.b16 %p0, %h1, %h2", &[5, 0x10005], 0),
        ("setp.eq.ftz.f32 %p0, %r1, %r2", &[TINY, 0], 1),
        ("setp.eq.f32 %p0, %r1, %r2", &[TINY, 0], 0),
        ("set.lt.u32.f32 %r0, %r1, %r2", &[s(1.0), s(2.0)], 0xffff_ffff),
        ("set.gt.f32.s32 %r0, %r1, %r2", &[2, 1], s(1.0)),
        ("slct.b32.s32 %r0, %r1, %r2, %r3", &[7, 8, 0], 7),
        ("slct.b64.f32 %l0, %l1, %l2, %r3", &[7, 8, NAN], 8),
        ("slct.u32.f32 %r0, %r1, %r2, %r3", &[7, 8, s(-0.0)], 7),
        ("testp.subnormal.f32 %p0, %r1", &[TINY], 1),
        ("testp.normal.f64 %p0, %l1", &[d(0.0)], 1),
        ("testp.infinite.f64 %p0, %l1", &[d(-f64::INFINITY)], 1),
        ("testp.notanumber.f64 %p0, %l1", &[nan], 1),
        ("testp.number.f32 %p0, %r1", &[NAN], 0),
        ("testp.finite.f32 %p0, %r1", &[s(1.0)], 1),
    ]);
    let both = "setp.lt.and.s32 %p0|%p1, %r1, %r2, %p2; selp.u32 %r3, 2, 0, %p1; selp.u32 %r0, 1, 0, %p0; add.u32 %r0, %r0, %r3;";
    let holds = format!("setp.eq.u32 %p2, %r1, %r1; {both}");
    let not = format!("setp.ne.u32 %p2, %r1, %r1; {both}");
    assert_eq!(eval(&holds, 'r', &[1, 2]), Ok(1));
    assert_eq!(eval(&holds, 'r', &[2, 1]), Ok(2));
    assert_eq!(eval(&not, 'r', &[1, 2]), Ok(0));
    let or = holds.replace(".and.", ".or.").replace("%p2; selp", "!%p2; selp");
    assert_eq!(eval(&or, 'r', &[2, 1]), Ok(2));
    let xor = holds.replace(".and.", ".xor.");
    assert_eq!(eval(&xor, 'r', &[2, 1]), Ok(1));
}

#[test]
fn conversions_of_integers() {
    check(&[
        ("cvt.u64.u32 %l0, %r1", &[0xffff_ffff], 0xffff_ffff),
        ("cvt.s64.s32 %l0, %r1", &[0xffff_ffff], u64::MAX),
        ("cvt.u64.s32 %l0, %r1", &[0xffff_ffff], u64::MAX),
        ("cvt.s64.u32 %l0, %r1", &[0xffff_ffff], 0xffff_ffff),
        ("cvt.u16.u64 %h0, %l1", &[0x12345], 0x2345),
        ("cvt.s8.s32 %r0, %r1", &[0x180], 0xffff_ff80),
        ("cvt.u8.s32 %r0, %r1", &[0x180], 0x80),
        ("cvt.s32.s8 %r0, %r1", &[0x80], 0xffff_ff80),
        ("cvt.sat.u8.s32 %r0, %r1", &[0x180], 0xff),
        ("cvt.sat.u8.s32 %r0, %r1", &[(-3i32) as u32 as u64], 0),
        ("cvt.sat.s8.s32 %r0, %r1", &[(-300i32) as u32 as u64], 0xffff_ff80),
        ("cvt.sat.s32.u32 %r0, %r1", &[0xffff_ffff], 0x7fff_ffff),
        ("cvt.sat.u32.s64 %r0, %l1", &[u64::MAX], 0),
        ("cvt.rn.f64.s32 %l0, %r1", &[0xffff_ffff], d(-1.0)),
        ("cvt.rn.f64.u64 %l0, %l1", &[u64::MAX], d(18446744073709551616.0)),
        ("cvt.rz.f64.u64 %l0, %l1", &[u64::MAX], d(18446744073709551616.0) - 1),
        ("cvt.rn.f32.s64 %r0, %l1", &[(-16777217i64) as u64], s(-16777216.0)),
        ("cvt.rm.f32.s64 %r0, %l1", &[(-16777217i64) as u64], s(-16777218.0)),
        ("cvt.rp.f32.u32 %r0, %r1", &[16777217], s(16777218.0)),
        ("cvt.rn.f32.u16 %r0, %h1", &[0xffff], s(65535.0)),
        ("cvt.rn.f32.u64 %r0, %l1", &[0], s(0.0)),
        ("cvt.rn.f16.u32 %h0, %r1", &[100_000], 0x7c00),
    ]);
}

#[test]
fn conversions_to_integers_clamp() {
    let nan = d(f64::NAN);
    check(&[
        ("cvt.rzi.s32.f64 %r0, %l1", &[d(-2.9)], (-2i32) as u32 as u64),
        ("cvt.rni.s32.f64 %r0, %l1", &[d(2.5)], 2),
        ("cvt.rni.s32.f64 %r0, %l1", &[d(3.5)], 4),
        ("cvt.rmi.s64.f64 %l0, %l1", &[d(-0.5)], u64::MAX),
        ("cvt.rpi.s64.f64 %l0, %l1", &[d(0.1)], 1),
        ("cvt.rzi.s32.f64 %r0, %l1", &[d(1e10)], 0x7fff_ffff),
        ("cvt.rzi.s32.f32 %r0, %r1", &[s(-1e10)], 0x8000_0000),
        ("cvt.rzi.u32.f64 %r0, %l1", &[d(-1.0)], 0),
        ("cvt.rzi.u64.f64 %l0, %l1", &[d(f64::INFINITY)], u64::MAX),
        ("cvt.rzi.u64.f64 %l0, %l1", &[d(1e19)], 10_000_000_000_000_000_000),
        ("cvt.rzi.s8.f32 %r0, %r1", &[s(-300.0)], 0xffff_ff80),
        ("cvt.rzi.u8.f32 %r0, %r1", &[s(300.0)], 0xff),
        // The manual: zero, unless the source is `.f64` or the result has 64 bits.
        ("cvt.rzi.s32.f32 %r0, %r1", &[NAN], 0),
        ("cvt.rzi.s64.f32 %l0, %r1", &[NAN], 1 << 63),
        ("cvt.rzi.u32.f64 %r0, %l1", &[nan], 1 << 31),
        ("cvt.rzi.u64.f64 %l0, %l1", &[nan], 1 << 63),
        ("cvt.rpi.ftz.s32.f32 %r0, %r1", &[TINY], 0),
        ("cvt.rpi.s32.f32 %r0, %r1", &[TINY], 1),
    ]);
}

#[test]
fn conversions_between_floats() {
    check(&[
        ("cvt.f64.f32 %l0, %r1", &[s(0.1)], d(0.1f32 as f64)),
        ("cvt.rn.f32.f64 %r0, %l1", &[d(0.1)], s(0.1)),
        ("cvt.rz.f32.f64 %r0, %l1", &[d(0.1)], s(0.1) - 1),
        ("cvt.rn.f32.f64 %r0, %l1", &[d(1e300)], s(f32::INFINITY)),
        ("cvt.rz.f32.f64 %r0, %l1", &[d(1e300)], s(f32::MAX)),
        ("cvt.rn.f32.f64 %r0, %l1", &[d(1e-45)], 1),
        ("cvt.rn.ftz.f32.f64 %r0, %l1", &[d(-1e-45)], s(-0.0)),
        ("cvt.rn.sat.f32.f64 %r0, %l1", &[d(7.0)], s(1.0)),
        ("cvt.sat.f32.f32 %r0, %r1", &[NAN], 0),
        ("cvt.sat.f64.f64 %l0, %l1", &[d(-0.5)], 0),
        ("cvt.rmi.f64.f64 %l0, %l1", &[d(-2.5)], d(-3.0)),
        ("cvt.rpi.f64.f64 %l0, %l1", &[d(-0.5)], d(-0.0)),
        ("cvt.rni.f64.f64 %l0, %l1", &[d(-2.5)], d(-2.0)),
        ("cvt.rzi.f32.f32 %r0, %r1", &[s(2.9)], s(2.0)),
        ("cvt.rzi.f64.f64 %l0, %l1", &[d(1e300)], d(1e300)),
        ("cvt.rni.f64.f64 %l0, %l1", &[d(f64::INFINITY)], d(f64::INFINITY)),
        ("cvt.rn.f16.f32 %h0, %r1", &[s(1.0)], 0x3c00),
        ("cvt.rn.f16.f32 %h0, %r1", &[s(1e-8)], 0),
        ("cvt.f32.f16 %r0, %h1", &[0x0001], s(5.9604645e-8)),
        ("cvt.f32.f16 %r0, %h1", &[0xfc00], s(f32::NEG_INFINITY)),
        ("cvt.f64.f16 %l0, %h1", &[0x3555], d(0.333251953125)),
        ("cvt.rn.bf16.f32 %h0, %r1", &[0x3f80_8001], 0x3f81),
        ("cvt.f32.bf16 %r0, %h1", &[0x4049], 0x4049_0000),
    ]);
}
