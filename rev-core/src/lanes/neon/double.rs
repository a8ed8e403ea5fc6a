//! Registers of two `f64` or `i64`.

use super::Neon;
use crate::lanes::intrinsics::{branching, by_intrinsic, by_intrinsics, cut, folded, folded_product};
use crate::lanes::{LaneMask, Registers, Vector};
use crate::math::machine::Machine;
use crate::math::numbers::{Numbers, DOUBLE};
use std::arch::aarch64::*;

/// Registers of `f64` and `i64`.
#[derive(Clone, Copy, Debug)]
pub struct Double128(pub(super) Neon);

/// A function of both lanes' integers, one after the other: there is no such instruction.
macro_rules! one_by_one {
    ($a:ident, $b:ident => $value:expr) => {{
        let one = |$a: i64, $b: i64| -> i64 { $value };
        let low = one(vgetq_lane_s64::<0>($a), vgetq_lane_s64::<0>($b));
        let high = one(vgetq_lane_s64::<1>($a), vgetq_lane_s64::<1>($b));
        vsetq_lane_s64::<1>(high, vdupq_n_s64(low))
    }};
}

impl Machine for Double128 {
    type F = float64x2_t;
    type I = int64x2_t;
    type M = uint64x2_t;
    const NUMBERS: &'static Numbers = &DOUBLE;

    #[cfg_attr(optimized, inline(always))]
    fn float(&mut self, c: f64) -> float64x2_t {
        // SAFETY: the token says that the processor has the instruction.
        unsafe { vdupq_n_f64(c) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn int(&mut self, c: i64) -> int64x2_t {
        // SAFETY: the token says that the processor has the instruction.
        unsafe { vdupq_n_s64(c) }
    }
    by_intrinsic! {
        add(a: F, b: F) -> F = vaddq_f64;
        sub(a: F, b: F) -> F = vsubq_f64;
        mul(a: F, b: F) -> F = vmulq_f64;
        div(a: F, b: F) -> F = vdivq_f64;
        sqrt(a: F) -> F = vsqrtq_f64;
        neg(a: F) -> F = vnegq_f64;
        abs(a: F) -> F = vabsq_f64;
        lt(a: F, b: F) -> M = vcltq_f64;
        le(a: F, b: F) -> M = vcleq_f64;
        eq(a: F, b: F) -> M = vceqq_f64;
        int_lt(a: I, b: I) -> M = vcltq_s64;
        int_eq(a: I, b: I) -> M = vceqq_s64;
        both(a: M, b: M) -> M = vandq_u64;
        either(a: M, b: M) -> M = vorrq_u64;
        select(c: M, a: F, b: F) -> F = vbslq_f64;
        select_int(c: M, a: I, b: I) -> I = vbslq_s64;
        to_bits(a: F) -> I = vreinterpretq_s64_f64;
        from_bits(a: I) -> F = vreinterpretq_f64_s64;
        int_add(a: I, b: I) -> I = vaddq_s64;
        int_sub(a: I, b: I) -> I = vsubq_s64;
        and(a: I, b: I) -> I = vandq_s64;
        or(a: I, b: I) -> I = vorrq_s64;
        xor(a: I, b: I) -> I = veorq_s64;
        shl_by(a: I, n: I) -> I = vshlq_s64;
    }
    by_intrinsics! {
        fma(a: F, b: F, c: F) -> F = vfmaq_f64(c, a, b);
        copysign(a: F, b: F) -> F = vbslq_f64(vdupq_n_u64(1 << 63), b, a);
        not(a: M) -> M = veorq_u64(a, vdupq_n_u64(u64::MAX));
        int_mul(a: I, b: I) -> I = one_by_one!(a, b => a.wrapping_mul(b));
        int_mul_high(a: I, b: I) -> I =
            one_by_one!(a, b => ((a as u64 as u128 * b as u64 as u128) >> 64) as i64);
        shr_by(a: I, n: I) -> I = {
            // left by a negative number
            vreinterpretq_s64_u64(vshlq_u64(vreinterpretq_u64_s64(a), vnegq_s64(n)))
        };
    }
    #[cfg_attr(optimized, inline(always))]
    fn shl(&mut self, a: &int64x2_t, n: u32) -> int64x2_t {
        let n = self.int(i64::from(n));
        self.shl_by(a, &n)
    }
    #[cfg_attr(optimized, inline(always))]
    fn shr(&mut self, a: &int64x2_t, n: u32) -> int64x2_t {
        let n = self.int(i64::from(n));
        self.shr_by(a, &n)
    }
    #[cfg_attr(optimized, inline(always))]
    fn sar(&mut self, a: &int64x2_t, n: u32) -> int64x2_t {
        let n = self.int(-i64::from(n));
        self.shl_by(a, &n)
    }
    #[cfg_attr(optimized, inline(always))]
    fn lookup(&mut self, table: &'static [u64], index: &int64x2_t) -> int64x2_t {
        let entry = |index: i64| table[(index.max(0) as usize).min(table.len() - 1)] as i64;
        // SAFETY: the token says that the processor has the instructions.
        unsafe {
            let (low, high) = (entry(vgetq_lane_s64::<0>(*index)), entry(vgetq_lane_s64::<1>(*index)));
            vsetq_lane_s64::<1>(high, vdupq_n_s64(low))
        }
    }
    branching!("neon" | condition | vmaxvq_u32(vreinterpretq_u32_u64(condition)) == 0);
}

impl Registers for Double128 {
    cut!(2 f64 i64);
    by_intrinsic! {
        floor(a: F) -> F = vrndmq_f64;
        ceil(a: F) -> F = vrndpq_f64;
        trunc(a: F) -> F = vrndq_f64;
    }
    #[cfg_attr(optimized, inline(always))]
    fn mask(&mut self, bits: LaneMask, chunk: usize) -> uint64x2_t {
        let bits = u64::from(bits >> (2 * chunk));
        // SAFETY: the token says that the processor has the instructions.
        unsafe {
            let lane = vsetq_lane_u64::<1>(2, vdupq_n_u64(1));
            vtstq_u64(vdupq_n_u64(bits), lane)
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits(&mut self, m: &uint64x2_t, chunk: usize) -> LaneMask {
        // SAFETY: the token says that the processor has the instructions.
        let bits = unsafe { vgetq_lane_u64::<0>(*m) & 1 | vgetq_lane_u64::<1>(*m) & 2 };
        (bits as LaneMask) << (2 * chunk)
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum(&mut self, count: usize, v: &Vector<f64>) -> f64 {
        let v = folded(self, count, v);
        // SAFETY: the token says that the processor has the instruction.
        unsafe { vaddvq_f64(v) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum_product(&mut self, count: usize, a: &Vector<f64>, b: &Vector<f64>) -> f64 {
        let v = folded_product(self, count, a, b);
        // SAFETY: the token says that the processor has the instruction.
        unsafe { vaddvq_f64(v) }
    }
}
