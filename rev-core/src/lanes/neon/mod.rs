//! The vector registers of 64-bit ARM processors: 128 bits, two lanes of 64 or four of 32.
//!
//! As on x86-64, a machine belongs to a token ([`Neon`]).

mod double;
mod single;

use super::intrinsics::in_registers;
use super::WIDTH;
use std::arch::aarch64::*;

pub use double::Double128;
pub use single::Single128;

/// NEON, which has fused multiplication and addition.
#[derive(Clone, Copy, Debug)]
pub struct Neon<const LANES: usize = WIDTH>(());

impl<const LANES: usize> Neon<LANES> {
    /// The token, if the processor has the instructions.
    #[inline]
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Neon(()))
    }
}

impl<const LANES: usize> super::Isa for Neon<LANES> {
    const NAME: &'static str = "NEON";
    const LEVEL: super::Level = super::Level::Neon;
    const LANES: usize = LANES;
    type Double = Double128;
    type Single = Single128;

    #[cfg_attr(optimized, inline(always))]
    fn double(self) -> Double128 {
        Double128(Neon(()))
    }
    #[cfg_attr(optimized, inline(always))]
    fn single(self) -> Single128 {
        Single128(Neon(()))
    }
    #[cfg_attr(optimized, inline(always))]
    fn apart<R>(self, body: impl FnOnce() -> R) -> R {
        #[inline(never)]
        #[target_feature(enable = "neon")]
        fn inside<R>(body: impl FnOnce() -> R) -> R {
            body()
        }
        // SAFETY: there is a token only where the processor has the instructions.
        unsafe { inside(body) }
    }
    // conversions to integers give the nearest integer there is, and 0 for NaN, as Rust's do
    in_registers! {
        single_to_double(f32 [vld1_f32 2] -> f64 [vst1q_f64]) |a| vcvt_f64_f32(a);
        double_to_single(f64 [vld1q_f64 2] -> f32 [vst1_f32]) |a| vcvt_f32_f64(a);
        long_to_double(i64 [vld1q_s64 2] -> f64 [vst1q_f64]) |a| vcvtq_f64_s64(a);
        unsigned_to_double(u64 [vld1q_u64 2] -> f64 [vst1q_f64]) |a| vcvtq_f64_u64(a);
        double_to_long(f64 [vld1q_f64 2] -> i64 [vst1q_s64]) |a| vcvtq_s64_f64(a);
        double_to_unsigned(f64 [vld1q_f64 2] -> u64 [vst1q_u64]) |a| vcvtq_u64_f64(a);
        int_to_long(i32 [vld1_s32 2] -> i64 [vst1q_s64]) |a| vmovl_s32(a);
        unsigned_to_long(u32 [vld1_u32 2] -> u64 [vst1q_u64]) |a| vmovl_u32(a);
        long_to_int(i64 [vld1q_s64 2] -> i32 [vst1_s32]) |a| vmovn_s64(a);
    }
}
