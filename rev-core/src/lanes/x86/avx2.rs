//! AVX2 and FMA: 4 or 8 lanes in a register, truth values as lanes of ones and zeros.

use super::{by_number, gathering, Avx2};
use crate::lanes::intrinsics::{branching, by_intrinsic, by_intrinsics, cut, folded, folded_product};
use crate::lanes::{LaneMask, Registers, Vector};
use crate::math::machine::Machine;
use crate::math::numbers::{Numbers, DOUBLE, SINGLE};
use std::arch::x86_64::*;

/// Registers of `f64` and `i64`.
#[derive(Clone, Copy, Debug)]
pub struct Double256(pub(super) Avx2);

/// Registers of `f32` and `i32`.
#[derive(Clone, Copy, Debug)]
pub struct Single256(pub(super) Avx2);

/// Towards 0, without exceptions.
const CUT: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

impl Machine for Double256 {
    type F = __m256d;
    type I = __m256i;
    type M = __m256d;
    const NUMBERS: &'static Numbers = &DOUBLE;

    by_number! {
        float _mm256_set1_pd f64;
        int _mm256_set1_epi64x i64;
        shift shl _mm256_sll_epi64;
        shift shr _mm256_srl_epi64;
    }
    #[cfg_attr(optimized, inline(always))]
    fn sar(&mut self, a: &__m256i, n: u32) -> __m256i {
        // the bits of a negative number turned, shifted as if positive, and turned back
        let zero = self.int(0);
        // SAFETY: the token says that the processor has the instruction.
        let sign = unsafe { _mm256_cmpgt_epi64(zero, *a) };
        let a = self.xor(a, &sign);
        let a = self.shr(&a, n);
        self.xor(&a, &sign)
    }
    by_intrinsic! {
        add(a: F, b: F) -> F = _mm256_add_pd;
        sub(a: F, b: F) -> F = _mm256_sub_pd;
        mul(a: F, b: F) -> F = _mm256_mul_pd;
        div(a: F, b: F) -> F = _mm256_div_pd;
        fma(a: F, b: F, c: F) -> F = _mm256_fmadd_pd;
        sqrt(a: F) -> F = _mm256_sqrt_pd;
        lt(a: F, b: F) -> M = _mm256_cmp_pd::<_CMP_LT_OQ>;
        le(a: F, b: F) -> M = _mm256_cmp_pd::<_CMP_LE_OQ>;
        eq(a: F, b: F) -> M = _mm256_cmp_pd::<_CMP_EQ_OQ>;
        both(a: M, b: M) -> M = _mm256_and_pd;
        either(a: M, b: M) -> M = _mm256_or_pd;
        to_bits(a: F) -> I = _mm256_castpd_si256;
        from_bits(a: I) -> F = _mm256_castsi256_pd;
        int_add(a: I, b: I) -> I = _mm256_add_epi64;
        int_sub(a: I, b: I) -> I = _mm256_sub_epi64;
        and(a: I, b: I) -> I = _mm256_and_si256;
        or(a: I, b: I) -> I = _mm256_or_si256;
        xor(a: I, b: I) -> I = _mm256_xor_si256;
        shl_by(a: I, n: I) -> I = _mm256_sllv_epi64;
        shr_by(a: I, n: I) -> I = _mm256_srlv_epi64;
    }
    by_intrinsics! {
        neg(a: F) -> F = _mm256_xor_pd(a, _mm256_set1_pd(-0.0));
        abs(a: F) -> F = _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
        copysign(a: F, b: F) -> F = {
            let sign = _mm256_set1_pd(-0.0);
            _mm256_or_pd(_mm256_andnot_pd(sign, a), _mm256_and_pd(sign, b))
        };
        int_lt(a: I, b: I) -> M = _mm256_castsi256_pd(_mm256_cmpgt_epi64(b, a));
        int_eq(a: I, b: I) -> M = _mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b));
        not(a: M) -> M = _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)));
        select(c: M, a: F, b: F) -> F = _mm256_blendv_pd(b, a, c);
        select_int(c: M, a: I, b: I) -> I = _mm256_blendv_epi8(b, a, _mm256_castpd_si256(c));
        int_mul(a: I, b: I) -> I = {
            // schoolbook, in halves of 32 bits
            let (a1, b1) = (_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            let middle = _mm256_add_epi64(_mm256_mul_epu32(a1, b), _mm256_mul_epu32(a, b1));
            _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(middle))
        };
        int_mul_high(a: I, b: I) -> I = {
            let half = _mm256_set1_epi64x(0xffff_ffff);
            let (a1, b1) = (_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            let low = _mm256_srli_epi64::<32>(_mm256_mul_epu32(a, b));
            let middle = _mm256_add_epi64(_mm256_mul_epu32(a1, b), low);
            let other = _mm256_add_epi64(_mm256_mul_epu32(a, b1), _mm256_and_si256(middle, half));
            let high = _mm256_add_epi64(_mm256_mul_epu32(a1, b1), _mm256_srli_epi64::<32>(middle));
            _mm256_add_epi64(high, _mm256_srli_epi64::<32>(other))
        };
    }
    gathering!(table, index => _mm256_i64gather_epi64::<8>(table.cast(), index));
    branching!("avx2,fma" | condition | _mm256_movemask_pd(condition) == 0);
}

impl Registers for Double256 {
    cut!(4 f64 i64);
    by_intrinsic! {
        floor(a: F) -> F = _mm256_floor_pd;
        ceil(a: F) -> F = _mm256_ceil_pd;
        trunc(a: F) -> F = _mm256_round_pd::<CUT>;
    }
    #[cfg_attr(optimized, inline(always))]
    fn mask(&mut self, bits: LaneMask, chunk: usize) -> __m256d {
        let bits = self.int(i64::from(bits >> (4 * chunk)));
        // SAFETY: the token says that the processor has the instructions.
        unsafe {
            let lane = _mm256_setr_epi64x(1, 2, 4, 8);
            _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(bits, lane), lane))
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits(&mut self, m: &__m256d, chunk: usize) -> LaneMask {
        // SAFETY: the token says that the processor has the instruction.
        (unsafe { _mm256_movemask_pd(*m) } as LaneMask) << (4 * chunk)
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum(&mut self, count: usize, v: &Vector<f64>) -> f64 {
        let v = folded(self, count, v);
        self.within(v)
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum_product(&mut self, count: usize, a: &Vector<f64>, b: &Vector<f64>) -> f64 {
        let v = folded_product(self, count, a, b);
        self.within(v)
    }
}

impl Double256 {
    /// The sum of a register's lanes.
    #[cfg_attr(optimized, inline(always))]
    fn within(self, v: __m256d) -> f64 {
        // SAFETY: the token says that the processor has the instructions.
        unsafe {
            let v = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd::<1>(v));
            _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v)))
        }
    }
}

impl Machine for Single256 {
    type F = __m256;
    type I = __m256i;
    type M = __m256;
    const NUMBERS: &'static Numbers = &SINGLE;

    by_number! {
        float _mm256_set1_ps f32;
        int _mm256_set1_epi32 i32;
        shift shl _mm256_sll_epi32;
        shift shr _mm256_srl_epi32;
        shift sar _mm256_sra_epi32;
    }
    by_intrinsic! {
        add(a: F, b: F) -> F = _mm256_add_ps;
        sub(a: F, b: F) -> F = _mm256_sub_ps;
        mul(a: F, b: F) -> F = _mm256_mul_ps;
        div(a: F, b: F) -> F = _mm256_div_ps;
        fma(a: F, b: F, c: F) -> F = _mm256_fmadd_ps;
        sqrt(a: F) -> F = _mm256_sqrt_ps;
        lt(a: F, b: F) -> M = _mm256_cmp_ps::<_CMP_LT_OQ>;
        le(a: F, b: F) -> M = _mm256_cmp_ps::<_CMP_LE_OQ>;
        eq(a: F, b: F) -> M = _mm256_cmp_ps::<_CMP_EQ_OQ>;
        both(a: M, b: M) -> M = _mm256_and_ps;
        either(a: M, b: M) -> M = _mm256_or_ps;
        to_bits(a: F) -> I = _mm256_castps_si256;
        from_bits(a: I) -> F = _mm256_castsi256_ps;
        int_add(a: I, b: I) -> I = _mm256_add_epi32;
        int_sub(a: I, b: I) -> I = _mm256_sub_epi32;
        int_mul(a: I, b: I) -> I = _mm256_mullo_epi32;
        and(a: I, b: I) -> I = _mm256_and_si256;
        or(a: I, b: I) -> I = _mm256_or_si256;
        xor(a: I, b: I) -> I = _mm256_xor_si256;
        shl_by(a: I, n: I) -> I = _mm256_sllv_epi32;
        shr_by(a: I, n: I) -> I = _mm256_srlv_epi32;
    }
    by_intrinsics! {
        neg(a: F) -> F = _mm256_xor_ps(a, _mm256_set1_ps(-0.0));
        abs(a: F) -> F = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
        copysign(a: F, b: F) -> F = {
            let sign = _mm256_set1_ps(-0.0);
            _mm256_or_ps(_mm256_andnot_ps(sign, a), _mm256_and_ps(sign, b))
        };
        int_lt(a: I, b: I) -> M = _mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a));
        int_eq(a: I, b: I) -> M = _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b));
        not(a: M) -> M = _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
        select(c: M, a: F, b: F) -> F = _mm256_blendv_ps(b, a, c);
        select_int(c: M, a: I, b: I) -> I = _mm256_blendv_epi8(b, a, _mm256_castps_si256(c));
        int_mul_high(a: I, b: I) -> I = {
            // products of the even lanes, and of the odd ones
            let even = _mm256_srli_epi64::<32>(_mm256_mul_epu32(a, b));
            let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            _mm256_blend_epi32::<0xaa>(even, odd)
        };
    }
    gathering!(table, index => _mm256_i32gather_epi32::<8>(table.cast(), index));
    branching!("avx2,fma" | condition | _mm256_movemask_ps(condition) == 0);
}

impl Registers for Single256 {
    cut!(8 f32 i32);
    by_intrinsic! {
        floor(a: F) -> F = _mm256_floor_ps;
        ceil(a: F) -> F = _mm256_ceil_ps;
        trunc(a: F) -> F = _mm256_round_ps::<CUT>;
    }
    #[cfg_attr(optimized, inline(always))]
    fn mask(&mut self, bits: LaneMask, chunk: usize) -> __m256 {
        let bits = self.int(i64::from(bits >> (8 * chunk)));
        // SAFETY: the token says that the processor has the instructions.
        unsafe {
            let lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(bits, lane), lane))
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits(&mut self, m: &__m256, chunk: usize) -> LaneMask {
        // SAFETY: the token says that the processor has the instruction.
        (unsafe { _mm256_movemask_ps(*m) } as LaneMask) << (8 * chunk)
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum(&mut self, count: usize, v: &Vector<f32>) -> f32 {
        let v = folded(self, count, v);
        // SAFETY: the token says that the processor has the instructions.
        unsafe { sum_of_eight(v) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum_product(&mut self, count: usize, a: &Vector<f32>, b: &Vector<f32>) -> f32 {
        let v = folded_product(self, count, a, b);
        // SAFETY: the token says that the processor has the instructions.
        unsafe { sum_of_eight(v) }
    }
}

/// The sum of eight lanes: `k` and `k + 4`, then `k + 2`, `k + 1`.
///
/// # Safety
///
/// The processor has AVX.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn sum_of_eight(v: __m256) -> f32 {
    // SAFETY: what the function asks for.
    unsafe {
        let v = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
        let v = _mm_add_ps(v, _mm_movehl_ps(v, v));
        _mm_cvtss_f32(_mm_add_ss(v, _mm_shuffle_ps::<1>(v, v)))
    }
}
