//! Products of matrices whose rows lie side by side, on AVX-512 without copies of the large factor.
//!
//! The library's kernels copy both factors into panels and cut triangles into squares, which costs more
//! than small products and thin triangles themselves. Here a tile of sums stays in registers:
//!
//! * [`Kernels::rows`], for `B` and `C` with neighbouring columns: eight rows by three vectors of `C`. Only `A` is
//!   copied, scaled, by eight rows; of a triangle the columns that a tile has, with zeros in its corner.
//! * [`Kernels::dots`], for `A` and `B` with neighbouring summed elements: four rows by six columns, each a
//!   vector of partial sums that are added up at the end. Tiles outside of `C`'s triangle are left out.
//!
//! What is used of a factor at a time has to fit into the first cache, which limits the length of the sums: those
//! of `rows` are formed whole before they are added to `C`, longer ones of `dots` in parts.

use std::arch::x86_64::*;
use std::ops::Range;

use rev_core::lanes::Avx512;
use rev_core::ops::Part;

use super::library::{Matrix, Size};
use crate::scratch::Scratch;

/// The rows of a tile of `rows`.
const ROWS: usize = 8;
/// The vectors of each: with so many sums there are registers left for the factors.
const VECTORS: usize = 3;
/// The longest sums of `rows`: so many parts of rows of `B` fit into the first cache.
const LONGEST: usize = 256;

/// The rows of a tile of `dots`.
const DOT_ROWS: usize = 4;
/// The columns of it.
const DOT_COLUMNS: usize = 6;
/// The longest sums of `dots`; longer ones are formed in parts.
const LONGEST_DOT: usize = 512;
/// How large a whole target and its sums have to be for the library to be faster than `dots`.
const LIBRARY_FROM: usize = 128;

/// A type of numbers with kernels.
pub(super) trait Kernels: Copy {
    /// `C += alpha·A·B`, with `start` `C = alpha·A·B`, for whole `B`, `C` with neighbouring columns. False when out
    /// of memory.
    ///
    /// # Safety
    ///
    /// The processor has AVX-512; the matrices' elements may be read, `C`'s written.
    unsafe fn rows(
        size: Size,
        alpha: Self,
        a: Matrix<Self>,
        b: Matrix<Self>,
        c: Matrix<Self>,
        start: bool,
    ) -> bool;

    /// `C += alpha·A·B` for whole `A`, of neighbouring columns, and `B`, of neighbouring rows.
    ///
    /// # Safety
    ///
    /// As for `rows`.
    unsafe fn dots(size: Size, alpha: Self, a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>);
}

/// Runs a product, with `start` one that replaces its target; false where it isn't one for these kernels.
///
/// # Safety
///
/// The matrices' elements may be read, `c`'s written.
pub(super) unsafe fn run<R: Kernels>(
    size: Size,
    alpha: R,
    a: Matrix<R>,
    b: Matrix<R>,
    c: Matrix<R>,
    start: bool,
) -> bool {
    if <Avx512>::detect().is_none() {
        return false;
    }
    let Size { m, k, n } = size;
    let whole = |m: Matrix<R>| m.part == Part::Whole;
    // SAFETY: as required of the caller.
    unsafe {
        if k <= LONGEST && whole(c) && whole(b) && b.column == 1 && c.column == 1 {
            return R::rows(size, alpha, a, b, c, start);
        }
        if k <= LONGEST && whole(c) && whole(a) && a.row == 1 && c.row == 1 {
            let size = Size { m: n, k, n: m };
            return R::rows(size, alpha, b.transposed(), a.transposed(), c.transposed(), start);
        }
        // what is large in every direction and has no triangle is what the library is made for
        let skinny = !whole(c) || m.min(n).min(k) < LIBRARY_FROM;
        let fits = !start && skinny && whole(a) && whole(b) && a.column == 1 && b.row == 1;
        if fits {
            let parts = k.div_ceil(LONGEST_DOT).max(1);
            for p in tiles(k, k.div_ceil(parts).next_multiple_of(ROWS)) {
                R::dots(Size { k: p.len(), ..size }, alpha, a.from(0, p.start), b.from(p.start, 0), c);
            }
        }
        fits
    }
}

/// The columns of a part of a matrix that some rows have.
fn columns(part: Part, rows: Range<usize>, k: usize) -> Range<usize> {
    let (from, to) = match part {
        Part::Whole => (0, k),
        Part::Lower => (0, rows.end),
        Part::StrictLower => (0, rows.end - 1),
        Part::Upper => (rows.start, k),
        Part::StrictUpper => (rows.start + 1, k),
    };
    from.min(k)..to.min(k)
}

/// Whether a tile has elements of a part.
fn touches(part: Part, rows: Range<usize>, columns: Range<usize>) -> bool {
    part.has(rows.end - 1, columns.start) || part.has(rows.start, columns.end - 1)
}

/// The ranges of length `step`, and what is left over, of `0..n`.
fn tiles(n: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(step).map(move |start| start..n.min(start + step))
}

/// `A` by tiles of rows, each column of a tile after the other, scaled, with zeros for what doesn't count.
///
/// # Safety
///
/// The matrix' elements may be read.
unsafe fn panels<R: Kernels + std::ops::Mul<Output = R>>(
    size: Size,
    alpha: R,
    a: Matrix<R>,
    zero: R,
) -> Option<Scratch<R>> {
    let tiles = || tiles(size.m, ROWS).map(|rows| (columns(a.part, rows.clone(), size.k), rows));
    let mut panels = Scratch::with_capacity(tiles().map(|(columns, _)| columns.len() * ROWS).sum())?;
    for (columns, rows) in tiles() {
        for p in columns {
            let full = rows.len() == ROWS && a.part.has(rows.start, p) && a.part.has(rows.end - 1, p);
            for r in rows.start..rows.start + ROWS {
                let counts = full || r < rows.end && a.part.has(r, p);
                // SAFETY: the index is in range.
                panels.push(if counts { alpha * unsafe { *a.from(r, p).ptr } } else { zero });
            }
        }
    }
    Some(panels)
}

macro_rules! kernels {
    ($module:ident $t:ident $mask:ident $width:literal $feature:literal;
     $zero:ident $set:ident $load:ident $load_some:ident $store:ident $store_some:ident $fma:ident $add:ident $sums:ident) => {
        impl Kernels for $t {
            unsafe fn rows(
                size: Size,
                alpha: $t,
                a: Matrix<$t>,
                b: Matrix<$t>,
                c: Matrix<$t>,
                start: bool,
            ) -> bool {
                // SAFETY: as required of the caller.
                unsafe {
                    if start {
                        $module::rows::<true>(size, alpha, a, b, c)
                    } else {
                        $module::rows::<false>(size, alpha, a, b, c)
                    }
                }
            }
            unsafe fn dots(size: Size, alpha: $t, a: Matrix<$t>, b: Matrix<$t>, c: Matrix<$t>) {
                // SAFETY: as required of the caller.
                unsafe { $module::dots(size, alpha, a, b, c) }
            }
        }

        // an index that runs along several arrays in registers
        #[allow(clippy::needless_range_loop)]
        mod $module {
            use super::*;

            /// The numbers in a vector.
            const W: usize = $width;

            /// The first lanes.
            #[cfg_attr(optimized, inline(always))]
            fn first(n: usize) -> $mask {
                if n >= W {
                    !0
                } else {
                    (1 << n) - 1
                }
            }

            #[target_feature(enable = $feature)]
            pub unsafe fn rows<const START: bool>(
                size: Size,
                alpha: $t,
                a: Matrix<$t>,
                b: Matrix<$t>,
                c: Matrix<$t>,
            ) -> bool {
                // SAFETY: as required of the caller.
                let Some(mut panels) = (unsafe { panels(size, alpha, a, 0.0) }) else { return false };
                for j in tiles(size.n, VECTORS * W) {
                    let mut panel = panels.elements();
                    for r in tiles(size.m, ROWS) {
                        let part = columns(a.part, r.clone(), size.k);
                        let (own, rest) = panel.split_at_mut(part.len() * ROWS);
                        let (b, c) = (b.from(part.start, j.start), c.from(r.start, j.start));
                        // SAFETY: the tile is in range.
                        unsafe {
                            if j.len() == VECTORS * W {
                                row_tile::<true, START>(own, b, c, r.len(), j.len());
                            } else {
                                row_tile::<false, START>(own, b, c, r.len(), j.len());
                            }
                        }
                        panel = rest;
                    }
                }
                true
            }

            /// The sums of `height` rows and `width` columns; masked loads take an arithmetic step each, so whole
            /// tiles do without.
            #[inline]
            #[target_feature(enable = $feature)]
            unsafe fn row_tile<const WHOLE: bool, const START: bool>(
                panel: &[$t],
                b: Matrix<$t>,
                c: Matrix<$t>,
                height: usize,
                width: usize,
            ) {
                let mut masks = [0; VECTORS];
                for v in 0..VECTORS {
                    masks[v] = first(width.saturating_sub(v * W));
                }
                // SAFETY: rows below `height` and columns below `width` are in range, and what the masks leave
                // out is neither read nor written; addresses that are only prefetched needn't be.
                unsafe {
                    for i in 0..ROWS {
                        let row = c.from(i, 0).ptr;
                        for v in 0..VECTORS {
                            _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(v * W).cast());
                        }
                    }
                    let mut sums = [[$zero(); VECTORS]; ROWS];
                    let mut row = b.ptr.cast_const();
                    for column in panel.chunks_exact(ROWS) {
                        let mut x = [$zero(); VECTORS];
                        for v in 0..VECTORS {
                            let p = row.wrapping_add(v * W);
                            x[v] = if WHOLE { $load(p) } else { $load_some(masks[v], p) };
                        }
                        for i in 0..ROWS {
                            let factor = $set(column[i]);
                            for v in 0..VECTORS {
                                sums[i][v] = $fma(factor, x[v], sums[i][v]);
                            }
                        }
                        row = row.wrapping_offset(b.row);
                    }
                    for i in 0..ROWS {
                        if i < height {
                            let row = c.from(i, 0).ptr;
                            for v in 0..VECTORS {
                                let p = row.wrapping_add(v * W);
                                let before = match (START, WHOLE) {
                                    (true, _) => $zero(),
                                    (false, true) => $load(p),
                                    (false, false) => $load_some(masks[v], p),
                                };
                                let after = $add(before, sums[i][v]);
                                if WHOLE {
                                    $store(p, after);
                                } else {
                                    $store_some(p, masks[v], after);
                                }
                            }
                        }
                    }
                }
            }

            #[target_feature(enable = $feature)]
            pub unsafe fn dots(size: Size, alpha: $t, a: Matrix<$t>, b: Matrix<$t>, c: Matrix<$t>) {
                for j in tiles(size.n, DOT_COLUMNS) {
                    for r in tiles(size.m, DOT_ROWS) {
                        if !touches(c.part, r.clone(), j.clone()) {
                            continue;
                        }
                        let (a, b) = (a.from(r.start, 0), b.from(0, j.start));
                        // SAFETY: the tile is in range.
                        let sums = unsafe { dot_tile(size.k, a, b, r.len(), j.len()) };
                        for (i, sums) in r.clone().zip(&sums) {
                            for (j, sum) in j.clone().zip(sums) {
                                if c.part.has(i, j) {
                                    // SAFETY: the index is in range.
                                    unsafe { *c.from(i, j).ptr += alpha * *sum }
                                }
                            }
                        }
                    }
                }
            }

            /// The sums of `height` rows and `width` columns; the others are copies of the last one's.
            #[inline]
            #[target_feature(enable = $feature)]
            unsafe fn dot_tile(
                k: usize,
                a: Matrix<$t>,
                b: Matrix<$t>,
                height: usize,
                width: usize,
            ) -> [[$t; DOT_COLUMNS]; DOT_ROWS] {
                let rows: [*const $t; DOT_ROWS] =
                    std::array::from_fn(|i| a.from(i.min(height - 1), 0).ptr.cast_const());
                let columns: [*const $t; DOT_COLUMNS] =
                    std::array::from_fn(|j| b.from(0, j.min(width - 1)).ptr.cast_const());
                let mut sums = [[$zero(); DOT_COLUMNS]; DOT_ROWS];
                // SAFETY: the rows and columns have `k` elements, and what the mask leaves out isn't read.
                unsafe {
                    for p in (0..k / W * W).step_by(W) {
                        let mut x = [$zero(); DOT_ROWS];
                        for i in 0..DOT_ROWS {
                            x[i] = $load(rows[i].wrapping_add(p));
                        }
                        for j in 0..DOT_COLUMNS {
                            let y = $load(columns[j].wrapping_add(p));
                            for i in 0..DOT_ROWS {
                                sums[i][j] = $fma(x[i], y, sums[i][j]);
                            }
                        }
                    }
                    if k % W > 0 {
                        let (p, mask) = (k / W * W, first(k % W));
                        for j in 0..DOT_COLUMNS {
                            let y = $load_some(mask, columns[j].wrapping_add(p));
                            for i in 0..DOT_ROWS {
                                let x = $load_some(mask, rows[i].wrapping_add(p));
                                sums[i][j] = $fma(x, y, sums[i][j]);
                            }
                        }
                    }
                    let all = sums.as_flattened();
                    let mut totals = [[0.0; DOT_COLUMNS]; DOT_ROWS];
                    for (eight, totals) in
                        all.chunks_exact(8).zip(totals.as_flattened_mut().chunks_exact_mut(8))
                    {
                        totals.copy_from_slice(&$sums(std::array::from_fn(
                            #[cfg_attr(optimized, inline(always))]
                            |k| eight[k],
                        )));
                    }
                    totals
                }
            }
        }
    };
}
kernels! {
    double f64 __mmask8 8 "avx512f";
    _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_maskz_loadu_pd _mm512_storeu_pd _mm512_mask_storeu_pd
    _mm512_fmadd_pd _mm512_add_pd sums_of_doubles
}
kernels! {
    single f32 __mmask16 16 "avx512f";
    _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_maskz_loadu_ps _mm512_storeu_ps _mm512_mask_storeu_ps
    _mm512_fmadd_ps _mm512_add_ps sums_of_singles
}

/// The sum of each vector's lanes.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn sums_of_doubles(v: [__m512d; 8]) -> [f64; 8] {
    // neighbouring lanes of two vectors
    let two = |a, b| _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
    // every other quarter
    let half = |a, b| {
        let (even, odd) =
            (_mm512_shuffle_f64x2::<0b10_00_10_00>(a, b), _mm512_shuffle_f64x2::<0b11_01_11_01>(a, b));
        _mm512_add_pd(even, odd)
    };
    let low = half(two(v[0], v[1]), two(v[2], v[3]));
    let high = half(two(v[4], v[5]), two(v[6], v[7]));
    let mut sums = [0.0; 8];
    // SAFETY: the array has room for a vector.
    unsafe { _mm512_storeu_pd(sums.as_mut_ptr(), half(low, high)) };
    sums
}

/// The sum of each vector's lanes.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn sums_of_singles(v: [__m512; 8]) -> [f32; 8] {
    v.map(
        #[cfg_attr(optimized, inline(always))]
        |v| _mm512_reduce_add_ps(v),
    )
}
