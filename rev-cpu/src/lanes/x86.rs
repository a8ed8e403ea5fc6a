//! The loads and stores of AVX-512 and AVX2 that lanes use. A pack's words are vectors of 8 words of
//! 8 bytes, or of 16 words of 4 (AVX-512). Functions take the number of lanes that run, the first ones.
//!
//! # Safety
//!
//! Each function needs its instruction set, and memory that is live where the mask has a lane. They are
//! inlined into functions that enable the set, which the compiler can do because they don't themselves.

use std::arch::x86_64::*;

use rev_core::lanes::{LaneMask, Pack};

/// Eight of a pack's offsets.
#[cfg_attr(optimized, inline(always))]
unsafe fn offsets(all: &Pack<usize>, eight: usize) -> __m512i {
    // SAFETY: a pack of words is as many of them as it has lanes (its layout).
    unsafe { _mm512_loadu_si512(std::ptr::from_ref(all).cast::<__m512i>().add(eight)) }
}

macro_rules! by_eights {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $t:ty),*) |$j:ident, $m:ident| $body:expr) => {
        $(#[$doc])*
        #[cfg_attr(optimized, inline(always))]
        pub(super) unsafe fn $name(lanes: usize, m: LaneMask, $($arg: $t),*) {
            for $j in 0..lanes / 8 {
                let $m = (m >> (8 * $j)) as u8;
                // SAFETY: as the module requires.
                unsafe { $body };
            }
        }
    };
}

by_eights! {
    /// Words of 8 bytes side by side; zeros in the other lanes.
    fn load_8(from: *const i64, to: *mut i64) |j, m|
        _mm512_storeu_epi64(to.add(8 * j), _mm512_maskz_loadu_epi64(m, from.wrapping_add(8 * j)))
}
by_eights! {
    /// The reverse.
    fn store_8(to: *mut i64, from: *const i64) |j, m|
        _mm512_mask_storeu_epi64(to.wrapping_add(8 * j), m, _mm512_loadu_epi64(from.add(8 * j)))
}
/// Each bit of eight twice as far up.
#[cfg_attr(optimized, inline(always))]
const fn spread(m: u8) -> u16 {
    let m = m as u16;
    let m = (m | m << 4) & 0x0f0f;
    let m = (m | m << 2) & 0x3333;
    (m | m << 1) & 0x5555
}

by_eights! {
    /// Every other word of 8 bytes, as of the parts of complex numbers; zeros in the other lanes. Quicker than to
    /// gather them.
    fn load_every_other(from: *const i64, to: *mut i64) |j, m| {
        let [low, high] = spread(m).to_le_bytes();
        let from = from.wrapping_add(16 * j);
        let low = _mm512_maskz_loadu_epi64(low, from);
        let high = _mm512_maskz_loadu_epi64(high, from.wrapping_add(8));
        let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        _mm512_storeu_epi64(to.add(8 * j), _mm512_permutex2var_epi64(low, even, high))
    }
}
by_eights! {
    /// The reverse.
    fn store_every_other(to: *mut i64, from: *const i64) |j, m| {
        let [low, high] = spread(m).to_le_bytes();
        let to = to.wrapping_add(16 * j);
        let words = _mm512_loadu_epi64(from.add(8 * j));
        let (first, second) = (_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), _mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7));
        _mm512_mask_storeu_epi64(to, low, _mm512_permutexvar_epi64(first, words));
        _mm512_mask_storeu_epi64(to.wrapping_add(8), high, _mm512_permutexvar_epi64(second, words));
    }
}
by_eights! {
    /// Words of 8 bytes at offsets.
    fn gather_8(base: *const u8, all: &Pack<usize>, to: *mut i64) |j, m|
        _mm512_storeu_epi64(
            to.add(8 * j),
            _mm512_mask_i64gather_epi64::<1>(_mm512_setzero_si512(), m, offsets(all, j), base.cast()),
        )
}
by_eights! {
    /// The reverse; where two lanes have one place, the later one's word stays.
    fn scatter_8(base: *mut u8, all: &Pack<usize>, from: *const i64) |j, m|
        _mm512_mask_i64scatter_epi64::<1>(
            base.cast(), m, offsets(all, j), _mm512_loadu_epi64(from.add(8 * j)),
        )
}
by_eights! {
    /// Words of 4 bytes at offsets.
    fn gather_4(base: *const u8, all: &Pack<usize>, to: *mut i32) |j, m|
        _mm256_storeu_epi32(
            to.add(8 * j),
            _mm512_mask_i64gather_epi32::<1>(_mm256_setzero_si256(), m, offsets(all, j), base.cast()),
        )
}
by_eights! {
    /// The reverse.
    fn scatter_4(base: *mut u8, all: &Pack<usize>, from: *const i32) |j, m|
        _mm512_mask_i64scatter_epi32::<1>(
            base.cast(), m, offsets(all, j), _mm256_loadu_epi32(from.add(8 * j)),
        )
}

/// Words of 4 bytes side by side; zeros in the other lanes.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn load_4(lanes: usize, m: LaneMask, from: *const i32, to: *mut i32) {
    for j in 0..lanes / 16 {
        let m = (m >> (16 * j)) as u16;
        // SAFETY: as the module requires.
        unsafe {
            _mm512_storeu_epi32(to.add(16 * j), _mm512_maskz_loadu_epi32(m, from.wrapping_add(16 * j)));
        }
    }
}

/// The reverse.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn store_4(lanes: usize, m: LaneMask, to: *mut i32, from: *const i32) {
    for j in 0..lanes / 16 {
        let m = (m >> (16 * j)) as u16;
        // SAFETY: as the module requires.
        unsafe { _mm512_mask_storeu_epi32(to.wrapping_add(16 * j), m, _mm512_loadu_epi32(from.add(16 * j))) };
    }
}

/// Four lanes of a mask as AVX2 has them: the sign of each word.
#[cfg_attr(optimized, inline(always))]
unsafe fn quarter(m: LaneMask, j: usize) -> __m256i {
    // SAFETY: as the module requires.
    unsafe {
        let bits = _mm256_setr_epi64x(1, 2, 4, 8);
        let here = _mm256_and_si256(_mm256_set1_epi64x(i64::from(m >> (4 * j))), bits);
        _mm256_cmpeq_epi64(here, bits)
    }
}

/// Words of 8 bytes side by side; zeros in the other lanes.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn load_8_avx2(lanes: usize, m: LaneMask, from: *const i64, to: *mut i64) {
    for j in 0..lanes / 4 {
        // SAFETY: as the module requires.
        unsafe {
            let words = _mm256_maskload_epi64(from.wrapping_add(4 * j), quarter(m, j));
            _mm256_storeu_si256(to.add(4 * j).cast(), words);
        }
    }
}

/// The reverse.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn store_8_avx2(lanes: usize, m: LaneMask, to: *mut i64, from: *const i64) {
    for j in 0..lanes / 4 {
        // SAFETY: as the module requires.
        unsafe {
            let words = _mm256_loadu_si256(from.add(4 * j).cast());
            _mm256_maskstore_epi64(to.wrapping_add(4 * j), quarter(m, j), words);
        }
    }
}

/// Four words of 8 bytes that were loaded one by one, as one vector without a way through memory.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn put_4_of_8(words: [i64; 4], to: *mut i64) {
    let [a, b, c, d] = words;
    // SAFETY: as the module requires.
    unsafe { _mm256_storeu_si256(to.cast(), _mm256_setr_epi64x(a, b, c, d)) };
}
