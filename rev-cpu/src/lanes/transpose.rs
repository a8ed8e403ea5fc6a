//! Elements of several words of 8 bytes, moved whole with AVX-512: the words of eight lanes' elements are
//! the rows of a square, which is turned in registers into the lanes of eight words. That takes three
//! shuffles for eight words, where gathering and scattering take a step for each.
//!
//! # Safety
//!
//! Each function needs AVX-512, and memory that is live at every lane's place. They are inlined into
//! functions that enable it.

use std::arch::x86_64::*;

use rev_core::lanes::WIDTH;

use super::index::Places;

/// Rows and columns of a square.
const SIDE: usize = 8;

/// From how many words on elements are moved whole.
pub(super) const FROM: usize = 3;

/// The columns of a square's rows: pairs of words, then pairs of pairs, then all.
#[cfg_attr(optimized, inline(always))]
unsafe fn turned(r: [__m512i; SIDE]) -> [__m512i; SIDE] {
    // SAFETY: as the module requires.
    unsafe {
        let mut columns = r;
        // of rows 2i and 2i + 1: the even words, and the odd ones
        let even = [
            _mm512_unpacklo_epi64(r[0], r[1]),
            _mm512_unpacklo_epi64(r[2], r[3]),
            _mm512_unpacklo_epi64(r[4], r[5]),
            _mm512_unpacklo_epi64(r[6], r[7]),
        ];
        let odd = [
            _mm512_unpackhi_epi64(r[0], r[1]),
            _mm512_unpackhi_epi64(r[2], r[3]),
            _mm512_unpackhi_epi64(r[4], r[5]),
            _mm512_unpackhi_epi64(r[6], r[7]),
        ];
        for (first, pairs) in [(0, even), (1, odd)] {
            // the quarters 0 and 2 of two pairs, and the quarters 1 and 3
            let a = _mm512_shuffle_i64x2::<0x88>(pairs[0], pairs[1]);
            let b = _mm512_shuffle_i64x2::<0xdd>(pairs[0], pairs[1]);
            let c = _mm512_shuffle_i64x2::<0x88>(pairs[2], pairs[3]);
            let d = _mm512_shuffle_i64x2::<0xdd>(pairs[2], pairs[3]);
            columns[first] = _mm512_shuffle_i64x2::<0x88>(a, c);
            columns[first + 2] = _mm512_shuffle_i64x2::<0x88>(b, d);
            columns[first + 4] = _mm512_shuffle_i64x2::<0xdd>(a, c);
            columns[first + 6] = _mm512_shuffle_i64x2::<0xdd>(b, d);
        }
        columns
    }
}

/// How many words of a square are left from a word on, and their mask.
#[cfg_attr(optimized, inline(always))]
fn left(words: usize, from: usize) -> (usize, u8) {
    let count = (words - from).min(SIDE);
    (count, u8::MAX >> (SIDE - count))
}

/// The words of so many lanes' elements, as all lanes' first words, all lanes' second ones, and so on.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn read_whole(lanes: usize, base: *const u8, places: &Places, words: usize, to: *mut i64) {
    for half in (0..lanes).step_by(SIDE) {
        for word in (0..words).step_by(SIDE) {
            let (count, mask) = left(words, word);
            // SAFETY: as the module requires; `to` has all lanes of all words.
            unsafe {
                let mut rows = [_mm512_setzero_si512(); SIDE];
                for (k, row) in rows.iter_mut().enumerate() {
                    let element = base.wrapping_offset(places.at(half + k)).cast::<i64>();
                    *row = _mm512_maskz_loadu_epi64(mask, element.wrapping_add(word));
                }
                let columns = turned(rows);
                for (k, column) in columns.iter().enumerate().take(count) {
                    _mm512_storeu_epi64(to.add((word + k) * WIDTH + half), *column);
                }
            }
        }
    }
}

/// The reverse, in the order of the lanes.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn write_whole(
    lanes: usize,
    base: *mut u8,
    places: &Places,
    words: usize,
    from: *const i64,
) {
    for half in (0..lanes).step_by(SIDE) {
        for word in (0..words).step_by(SIDE) {
            let (count, mask) = left(words, word);
            // SAFETY: as in `read_whole`.
            unsafe {
                let mut columns = [_mm512_setzero_si512(); SIDE];
                for (k, column) in columns.iter_mut().enumerate().take(count) {
                    *column = _mm512_loadu_epi64(from.add((word + k) * WIDTH + half));
                }
                let rows = turned(columns);
                for (k, row) in rows.iter().enumerate() {
                    let element = base.wrapping_offset(places.at(half + k)).cast::<i64>();
                    _mm512_mask_storeu_epi64(element.wrapping_add(word), mask, *row);
                }
            }
        }
    }
}
