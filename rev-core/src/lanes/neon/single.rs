//! Registers of four `f32` or `i32`.

use super::Neon;
use crate::lanes::intrinsics::{branching, by_intrinsic, by_intrinsics, cut, folded, folded_product};
use crate::lanes::{LaneMask, Registers, Vector};
use crate::math::machine::Machine;
use crate::math::numbers::{Numbers, SINGLE};
use std::arch::aarch64::*;

/// Registers of `f32` and `i32`.
#[derive(Clone, Copy, Debug)]
pub struct Single128(pub(super) Neon);

impl Machine for Single128 {
    type F = float32x4_t;
    type I = int32x4_t;
    type M = uint32x4_t;
    const NUMBERS: &'static Numbers = &SINGLE;

    #[cfg_attr(optimized, inline(always))]
    fn float(&mut self, c: f64) -> float32x4_t {
        // SAFETY: the token says that the processor has the instruction.
        unsafe { vdupq_n_f32(c as f32) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn int(&mut self, c: i64) -> int32x4_t {
        // SAFETY: the token says that the processor has the instruction.
        unsafe { vdupq_n_s32(c as i32) }
    }
    by_intrinsic! {
        add(a: F, b: F) -> F = vaddq_f32;
        sub(a: F, b: F) -> F = vsubq_f32;
        mul(a: F, b: F) -> F = vmulq_f32;
        div(a: F, b: F) -> F = vdivq_f32;
        sqrt(a: F) -> F = vsqrtq_f32;
        neg(a: F) -> F = vnegq_f32;
        abs(a: F) -> F = vabsq_f32;
        lt(a: F, b: F) -> M = vcltq_f32;
        le(a: F, b: F) -> M = vcleq_f32;
        eq(a: F, b: F) -> M = vceqq_f32;
        int_lt(a: I, b: I) -> M = vcltq_s32;
        int_eq(a: I, b: I) -> M = vceqq_s32;
        both(a: M, b: M) -> M = vandq_u32;
        either(a: M, b: M) -> M = vorrq_u32;
        not(a: M) -> M = vmvnq_u32;
        select(c: M, a: F, b: F) -> F = vbslq_f32;
        select_int(c: M, a: I, b: I) -> I = vbslq_s32;
        to_bits(a: F) -> I = vreinterpretq_s32_f32;
        from_bits(a: I) -> F = vreinterpretq_f32_s32;
        int_add(a: I, b: I) -> I = vaddq_s32;
        int_sub(a: I, b: I) -> I = vsubq_s32;
        int_mul(a: I, b: I) -> I = vmulq_s32;
        and(a: I, b: I) -> I = vandq_s32;
        or(a: I, b: I) -> I = vorrq_s32;
        xor(a: I, b: I) -> I = veorq_s32;
        shl_by(a: I, n: I) -> I = vshlq_s32;
    }
    by_intrinsics! {
        fma(a: F, b: F, c: F) -> F = vfmaq_f32(c, a, b);
        copysign(a: F, b: F) -> F = vbslq_f32(vdupq_n_u32(1 << 31), b, a);
        int_mul_high(a: I, b: I) -> I = {
            let (a, b) = (vreinterpretq_u32_s32(a), vreinterpretq_u32_s32(b));
            let low = vmull_u32(vget_low_u32(a), vget_low_u32(b));
            let high = vmull_high_u32(a, b);
            let upper = vcombine_u32(vshrn_n_u64::<32>(low), vshrn_n_u64::<32>(high));
            vreinterpretq_s32_u32(upper)
        };
        shr_by(a: I, n: I) -> I = {
            // left by a negative number
            vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a), vnegq_s32(n)))
        };
    }
    #[cfg_attr(optimized, inline(always))]
    fn shl(&mut self, a: &int32x4_t, n: u32) -> int32x4_t {
        let n = self.int(i64::from(n));
        self.shl_by(a, &n)
    }
    #[cfg_attr(optimized, inline(always))]
    fn shr(&mut self, a: &int32x4_t, n: u32) -> int32x4_t {
        let n = self.int(i64::from(n));
        self.shr_by(a, &n)
    }
    #[cfg_attr(optimized, inline(always))]
    fn sar(&mut self, a: &int32x4_t, n: u32) -> int32x4_t {
        let n = self.int(-i64::from(n));
        self.shl_by(a, &n)
    }
    #[cfg_attr(optimized, inline(always))]
    fn lookup(&mut self, table: &'static [u64], index: &int32x4_t) -> int32x4_t {
        let entry = |index: i32| table[(index.max(0) as usize).min(table.len() - 1)] as i32;
        // SAFETY: the token says that the processor has the instructions.
        unsafe {
            let v = vdupq_n_s32(entry(vgetq_lane_s32::<0>(*index)));
            let v = vsetq_lane_s32::<1>(entry(vgetq_lane_s32::<1>(*index)), v);
            let v = vsetq_lane_s32::<2>(entry(vgetq_lane_s32::<2>(*index)), v);
            vsetq_lane_s32::<3>(entry(vgetq_lane_s32::<3>(*index)), v)
        }
    }
    branching!("neon" | condition | vmaxvq_u32(condition) == 0);
}

impl Registers for Single128 {
    cut!(4 f32 i32);
    by_intrinsic! {
        floor(a: F) -> F = vrndmq_f32;
        ceil(a: F) -> F = vrndpq_f32;
        trunc(a: F) -> F = vrndq_f32;
    }
    #[cfg_attr(optimized, inline(always))]
    fn mask(&mut self, bits: LaneMask, chunk: usize) -> uint32x4_t {
        // SAFETY: the token says that the processor has the instructions.
        unsafe { vtstq_u32(vdupq_n_u32(bits >> (4 * chunk)), vld1q_u32([1, 2, 4, 8].as_ptr())) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits(&mut self, m: &uint32x4_t, chunk: usize) -> LaneMask {
        // SAFETY: the token says that the processor has the instructions.
        let bits = unsafe { vaddvq_u32(vandq_u32(*m, vld1q_u32([1, 2, 4, 8].as_ptr()))) };
        bits << (4 * chunk)
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum(&mut self, count: usize, v: &Vector<f32>) -> f32 {
        let v = folded(self, count, v);
        self.within(v)
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum_product(&mut self, count: usize, a: &Vector<f32>, b: &Vector<f32>) -> f32 {
        let v = folded_product(self, count, a, b);
        self.within(v)
    }
}

impl Single128 {
    /// The sum of a register's lanes: `k` and `k + 2`, then both.
    #[cfg_attr(optimized, inline(always))]
    fn within(self, v: float32x4_t) -> f32 {
        // SAFETY: the token says that the processor has the instructions.
        unsafe {
            let v = vadd_f32(vget_low_f32(v), vget_high_f32(v));
            vget_lane_f32::<0>(v) + vget_lane_f32::<1>(v)
        }
    }
}
