//! Conversions between vectors of different scalars: the methods of [`Isa`](crate::lanes::Isa).

/// What an instruction set converts by instructions of its own.
macro_rules! conversions {
    (Avx512) => {
        in_registers! {
            single_to_double(f32 [_mm256_load_ps 8] -> f64 [_mm512_store_pd]) |a| _mm512_cvtps_pd(a);
            double_to_single(f64 [_mm512_load_pd 8] -> f32 [_mm256_store_ps]) |a| _mm512_cvtpd_ps(a);
            long_to_double(i64 [_mm512_load_si512 8] -> f64 [_mm512_store_pd]) |a| _mm512_cvtepi64_pd(a);
            unsigned_to_double(u64 [_mm512_load_si512 8] -> f64 [_mm512_store_pd]) |a| _mm512_cvtepu64_pd(a);
            long_to_single(i64 [_mm512_load_si512 8] -> f32 [_mm256_store_ps]) |a| _mm512_cvtepi64_ps(a);
            unsigned_to_single(u64 [_mm512_load_si512 8] -> f32 [_mm256_store_ps]) |a| _mm512_cvtepu64_ps(a);
            // out of range the instruction gives -2⁶³
            double_to_long(f64 [_mm512_load_pd 8] -> i64 [_mm512_store_si512]) |a| {
                let v = _mm512_cvttpd_epi64(a);
                let over = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(a, _mm512_set1_pd(9223372036854775808.0));
                let v = _mm512_mask_blend_epi64(over, v, _mm512_set1_epi64(i64::MAX));
                let number = _mm512_cmp_pd_mask::<_CMP_ORD_Q>(a, a);
                _mm512_maskz_mov_epi64(number, v)
            };
            // out of range the instruction gives 2⁶⁴ - 1
            double_to_unsigned(f64 [_mm512_load_pd 8] -> u64 [_mm512_store_si512]) |a| {
                let positive = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(a, _mm512_setzero_pd());
                _mm512_maskz_mov_epi64(positive, _mm512_cvttpd_epu64(a))
            };
            int_to_long(i32 [_mm256_load_si256 8] -> i64 [_mm512_store_si512]) |a| _mm512_cvtepi32_epi64(a);
            unsigned_to_long(u32 [_mm256_load_si256 8] -> u64 [_mm512_store_si512]) |a| _mm512_cvtepu32_epi64(a);
            long_to_int(i64 [_mm512_load_si512 8] -> i32 [_mm256_store_si256]) |a| _mm512_cvtepi64_epi32(a);
        }
    };
    (Avx2) => {
        in_registers! {
            single_to_double(f32 [_mm_load_ps 4] -> f64 [_mm256_store_pd]) |a| _mm256_cvtps_pd(a);
            double_to_single(f64 [_mm256_load_pd 4] -> f32 [_mm_store_ps]) |a| _mm256_cvtpd_ps(a);
            // the halves put into the fractions of 2⁵² and 2⁸⁴, which is exact, and added
            long_to_double(i64 [_mm256_load_si256 4] -> f64 [_mm256_store_pd]) |a| {
                let low = _mm256_blend_epi32::<0xaa>(a, _mm256_set1_epi64x(0x4330_0000_0000_0000));
                // 2⁸⁴ + 2⁶³, whose last bit turns the sign bit into a digit
                let high = _mm256_xor_si256(_mm256_srli_epi64::<32>(a), _mm256_set1_epi64x(0x4530_0000_8000_0000));
                let offset = _mm256_castsi256_pd(_mm256_set1_epi64x(0x4530_0000_8010_0000));
                _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), offset), _mm256_castsi256_pd(low))
            };
            unsigned_to_double(u64 [_mm256_load_si256 4] -> f64 [_mm256_store_pd]) |a| {
                let low = _mm256_blend_epi32::<0xaa>(a, _mm256_set1_epi64x(0x4330_0000_0000_0000));
                let high = _mm256_or_si256(_mm256_srli_epi64::<32>(a), _mm256_set1_epi64x(0x4530_0000_0000_0000));
                let offset = _mm256_castsi256_pd(_mm256_set1_epi64x(0x4530_0000_0010_0000));
                _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), offset), _mm256_castsi256_pd(low))
            };
            int_to_long(i32 [_mm_load_si128 4] -> i64 [_mm256_store_si256]) |a| _mm256_cvtepi32_epi64(a);
            unsigned_to_long(u32 [_mm_load_si128 4] -> u64 [_mm256_store_si256]) |a| _mm256_cvtepu32_epi64(a);
            long_to_int(i64 [_mm256_load_si256 4] -> i32 [_mm_store_si128]) |a| {
                let even = _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
                _mm256_castsi256_si128(even)
            };
        }
    };
}
pub(super) use conversions;
