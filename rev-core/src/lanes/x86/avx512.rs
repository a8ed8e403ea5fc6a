//! AVX-512: 8 or 16 lanes in a register, truth values in mask registers.

use super::{by_number, gathering, Avx512};
use crate::lanes::intrinsics::{branching, by_intrinsic, by_intrinsics, cut, folded, folded_product};
use crate::lanes::{LaneMask, Registers, Vector};
use crate::math::machine::Machine;
use crate::math::numbers::{Numbers, DOUBLE, SINGLE};
use std::arch::x86_64::*;

/// Registers of `f64` and `i64`.
#[derive(Clone, Copy, Debug)]
pub struct Double512(pub(super) Avx512);

/// Registers of `f32` and `i32`.
#[derive(Clone, Copy, Debug)]
pub struct Single512(pub(super) Avx512);

/// Towards -∞, ∞ and 0, without exceptions.
const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
const CUT: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

impl Machine for Double512 {
    type F = __m512d;
    type I = __m512i;
    type M = __mmask8;
    const NUMBERS: &'static Numbers = &DOUBLE;

    by_number! {
        float _mm512_set1_pd f64;
        int _mm512_set1_epi64 i64;
        shift shl _mm512_sll_epi64;
        shift shr _mm512_srl_epi64;
        shift sar _mm512_sra_epi64;
    }
    by_intrinsic! {
        add(a: F, b: F) -> F = _mm512_add_pd;
        sub(a: F, b: F) -> F = _mm512_sub_pd;
        mul(a: F, b: F) -> F = _mm512_mul_pd;
        div(a: F, b: F) -> F = _mm512_div_pd;
        fma(a: F, b: F, c: F) -> F = _mm512_fmadd_pd;
        sqrt(a: F) -> F = _mm512_sqrt_pd;
        abs(a: F) -> F = _mm512_abs_pd;
        lt(a: F, b: F) -> M = _mm512_cmp_pd_mask::<_CMP_LT_OQ>;
        le(a: F, b: F) -> M = _mm512_cmp_pd_mask::<_CMP_LE_OQ>;
        eq(a: F, b: F) -> M = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>;
        int_lt(a: I, b: I) -> M = _mm512_cmplt_epi64_mask;
        int_eq(a: I, b: I) -> M = _mm512_cmpeq_epi64_mask;
        to_bits(a: F) -> I = _mm512_castpd_si512;
        from_bits(a: I) -> F = _mm512_castsi512_pd;
        int_add(a: I, b: I) -> I = _mm512_add_epi64;
        int_sub(a: I, b: I) -> I = _mm512_sub_epi64;
        int_mul(a: I, b: I) -> I = _mm512_mullo_epi64;
        and(a: I, b: I) -> I = _mm512_and_si512;
        or(a: I, b: I) -> I = _mm512_or_si512;
        xor(a: I, b: I) -> I = _mm512_xor_si512;
        shl_by(a: I, n: I) -> I = _mm512_sllv_epi64;
        shr_by(a: I, n: I) -> I = _mm512_srlv_epi64;
    }
    by_intrinsics! {
        neg(a: F) -> F = _mm512_xor_pd(a, _mm512_set1_pd(-0.0));
        copysign(a: F, b: F) -> F = {
            let sign = _mm512_set1_pd(-0.0);
            _mm512_or_pd(_mm512_andnot_pd(sign, a), _mm512_and_pd(sign, b))
        };
        both(a: M, b: M) -> M = a & b;
        either(a: M, b: M) -> M = a | b;
        not(a: M) -> M = !a;
        select(c: M, a: F, b: F) -> F = _mm512_mask_blend_pd(c, b, a);
        select_int(c: M, a: I, b: I) -> I = _mm512_mask_blend_epi64(c, b, a);
        int_mul_high(a: I, b: I) -> I = {
            // schoolbook, in halves of 32 bits
            let half = _mm512_set1_epi64(0xffff_ffff);
            let (a1, b1) = (_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            let low = _mm512_srli_epi64::<32>(_mm512_mul_epu32(a, b));
            let middle = _mm512_add_epi64(_mm512_mul_epu32(a1, b), low);
            let other = _mm512_add_epi64(_mm512_mul_epu32(a, b1), _mm512_and_si512(middle, half));
            let high = _mm512_add_epi64(_mm512_mul_epu32(a1, b1), _mm512_srli_epi64::<32>(middle));
            _mm512_add_epi64(high, _mm512_srli_epi64::<32>(other))
        };
    }
    gathering!(table, index => _mm512_i64gather_epi64::<8>(index, table.cast()));
    branching!("avx512f,avx512bw,avx512dq,avx512vl,fma" | condition | condition == 0);
}

impl Registers for Double512 {
    cut!(8 f64 i64);
    by_intrinsic! {
        floor(a: F) -> F = _mm512_roundscale_pd::<DOWN>;
        ceil(a: F) -> F = _mm512_roundscale_pd::<UP>;
        trunc(a: F) -> F = _mm512_roundscale_pd::<CUT>;
    }
    #[cfg_attr(optimized, inline(always))]
    fn mask(&mut self, bits: LaneMask, chunk: usize) -> __mmask8 {
        (bits >> (8 * chunk)) as u8
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits(&mut self, m: &__mmask8, chunk: usize) -> LaneMask {
        LaneMask::from(*m) << (8 * chunk)
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

impl Double512 {
    /// The sum of a register's lanes.
    #[cfg_attr(optimized, inline(always))]
    fn within(self, v: __m512d) -> f64 {
        // SAFETY: the token says that the processor has the instructions.
        unsafe {
            let v = _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd::<1>(v));
            let v = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd::<1>(v));
            _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v)))
        }
    }
}

impl Machine for Single512 {
    type F = __m512;
    type I = __m512i;
    type M = __mmask16;
    const NUMBERS: &'static Numbers = &SINGLE;

    by_number! {
        float _mm512_set1_ps f32;
        int _mm512_set1_epi32 i32;
        shift shl _mm512_sll_epi32;
        shift shr _mm512_srl_epi32;
        shift sar _mm512_sra_epi32;
    }
    by_intrinsic! {
        add(a: F, b: F) -> F = _mm512_add_ps;
        sub(a: F, b: F) -> F = _mm512_sub_ps;
        mul(a: F, b: F) -> F = _mm512_mul_ps;
        div(a: F, b: F) -> F = _mm512_div_ps;
        fma(a: F, b: F, c: F) -> F = _mm512_fmadd_ps;
        sqrt(a: F) -> F = _mm512_sqrt_ps;
        abs(a: F) -> F = _mm512_abs_ps;
        lt(a: F, b: F) -> M = _mm512_cmp_ps_mask::<_CMP_LT_OQ>;
        le(a: F, b: F) -> M = _mm512_cmp_ps_mask::<_CMP_LE_OQ>;
        eq(a: F, b: F) -> M = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>;
        int_lt(a: I, b: I) -> M = _mm512_cmplt_epi32_mask;
        int_eq(a: I, b: I) -> M = _mm512_cmpeq_epi32_mask;
        to_bits(a: F) -> I = _mm512_castps_si512;
        from_bits(a: I) -> F = _mm512_castsi512_ps;
        int_add(a: I, b: I) -> I = _mm512_add_epi32;
        int_sub(a: I, b: I) -> I = _mm512_sub_epi32;
        int_mul(a: I, b: I) -> I = _mm512_mullo_epi32;
        and(a: I, b: I) -> I = _mm512_and_si512;
        or(a: I, b: I) -> I = _mm512_or_si512;
        xor(a: I, b: I) -> I = _mm512_xor_si512;
        shl_by(a: I, n: I) -> I = _mm512_sllv_epi32;
        shr_by(a: I, n: I) -> I = _mm512_srlv_epi32;
    }
    by_intrinsics! {
        neg(a: F) -> F = _mm512_xor_ps(a, _mm512_set1_ps(-0.0));
        copysign(a: F, b: F) -> F = {
            let sign = _mm512_set1_ps(-0.0);
            _mm512_or_ps(_mm512_andnot_ps(sign, a), _mm512_and_ps(sign, b))
        };
        both(a: M, b: M) -> M = a & b;
        either(a: M, b: M) -> M = a | b;
        not(a: M) -> M = !a;
        select(c: M, a: F, b: F) -> F = _mm512_mask_blend_ps(c, b, a);
        select_int(c: M, a: I, b: I) -> I = _mm512_mask_blend_epi32(c, b, a);
        int_mul_high(a: I, b: I) -> I = {
            // products of the even lanes, and of the odd ones
            let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(a, b));
            let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            _mm512_mask_blend_epi32(0xaaaa, even, odd)
        };
    }
    gathering!(table, index => _mm512_i32gather_epi32::<8>(index, table.cast()));
    branching!("avx512f,avx512bw,avx512dq,avx512vl,fma" | condition | condition == 0);
}

impl Registers for Single512 {
    cut!(16 f32 i32);
    by_intrinsic! {
        floor(a: F) -> F = _mm512_roundscale_ps::<DOWN>;
        ceil(a: F) -> F = _mm512_roundscale_ps::<UP>;
        trunc(a: F) -> F = _mm512_roundscale_ps::<CUT>;
    }
    #[cfg_attr(optimized, inline(always))]
    fn mask(&mut self, bits: LaneMask, chunk: usize) -> __mmask16 {
        (bits >> (16 * chunk)) as u16
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits(&mut self, m: &__mmask16, chunk: usize) -> LaneMask {
        LaneMask::from(*m) << (16 * chunk)
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

impl Single512 {
    /// The sum of a register's lanes.
    #[cfg_attr(optimized, inline(always))]
    fn within(self, v: __m512) -> f32 {
        // SAFETY: the token says that the processor has the instructions.
        unsafe {
            let v = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps::<1>(v));
            super::avx2::sum_of_eight(v)
        }
    }
}
