//! Matrix products on the kernels of `matrixmultiply`.
//!
//! A formula is a matrix product when its letters are at most one for the rows (in the target and one
//! factor), one for the columns (in the target and the other), and one that is summed; one more in all
//! three is a loop of products. Scalar factors are the product's scale. A triangle of a
//! matrix is cut into squares without a diagonal, which are ordinary products, and small ones on the
//! diagonal, which are copied; so a triangle costs half. Complex numbers are two planes of real ones
//! in the same memory, whose products are added up with the signs that conjugation asks for; several
//! cotangents side by side are as many planes.

use std::any::TypeId;
use std::mem::size_of;

use rev_core::ops::Part;
use rev_core::scalar::{Complex, Linear, Ring};

use crate::context::{Context, Mode};
use crate::schedule::{worthwhile, MULTIPLICATION};

use super::Sums;

/// The side of the squares on a diagonal.
const SQUARE: usize = 64;

/// Products of fewer multiplications are faster in plain loops, and so are products with a vector.
const LEAST_WORK: usize = 8 * 8 * 8;

/// Runs a product; false where it isn't one of matrices, or not worth it, or where it is to replace its target
/// and consists of several products.
pub(super) fn run<S, C>(cx: Context<'_, C>, sums: &Sums<'_, S>) -> bool
where
    S: Linear + Send + Sync,
    S::Over: Ring,
    C: Mode,
{
    let of = TypeId::of::<S::Over>();
    if sums.space.work() < LEAST_WORK {
        false
    } else if of == TypeId::of::<f64>() {
        planes::<f64, S, C>(cx, sums, 1)
    } else if of == TypeId::of::<f32>() {
        planes::<f32, S, C>(cx, sums, 1)
    } else if of == TypeId::of::<Complex<f64>>() {
        planes::<f64, S, C>(cx, sums, 2)
    } else if of == TypeId::of::<Complex<f32>>() {
        planes::<f32, S, C>(cx, sums, 2)
    } else {
        false
    }
}

/// A real type that the library has kernels for.
trait Kernel:
    Copy
    + Send
    + Sync
    + 'static
    + std::ops::AddAssign
    + std::ops::Mul<Output = Self>
    + std::ops::Neg<Output = Self>
    + PartialEq
{
    const ZERO: Self;
    /// `C += alpha·A·B`.
    ///
    /// # Safety
    ///
    /// The matrices' elements may be read, `C`'s written.
    unsafe fn product(size: Size, alpha: Self, a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>);
    /// The same for parts of matrices, and with `start` for a `C` that is to be replaced, where
    /// [`vectors`](super::vectors) has a kernel for it; else false.
    ///
    /// # Safety
    ///
    /// As for `product`.
    unsafe fn in_vectors(
        size: Size,
        alpha: Self,
        a: Matrix<Self>,
        b: Matrix<Self>,
        c: Matrix<Self>,
        start: bool,
    ) -> bool;
}

macro_rules! kernel {
    ($t:ty, $f:path) => {
        impl Kernel for $t {
            const ZERO: Self = 0.0;
            unsafe fn product(size: Size, alpha: Self, a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>) {
                let Size { m, k, n } = size;
                // SAFETY: as required of the caller.
                unsafe {
                    $f(
                        m, k, n, alpha, a.ptr, a.row, a.column, b.ptr, b.row, b.column, 1.0, c.ptr, c.row,
                        c.column,
                    )
                }
            }
            #[cfg(target_arch = "x86_64")]
            unsafe fn in_vectors(
                size: Size,
                alpha: Self,
                a: Matrix<Self>,
                b: Matrix<Self>,
                c: Matrix<Self>,
                start: bool,
            ) -> bool {
                // SAFETY: as required of the caller.
                unsafe { super::vectors::run(size, alpha, a, b, c, start) }
            }
            #[cfg(not(target_arch = "x86_64"))]
            unsafe fn in_vectors(
                _: Size,
                _: Self,
                _: Matrix<Self>,
                _: Matrix<Self>,
                _: Matrix<Self>,
                _: bool,
            ) -> bool {
                false
            }
        }
    };
}
kernel!(f64, matrixmultiply::dgemm);
kernel!(f32, matrixmultiply::sgemm);

/// `m×k` times `k×n`.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub m: usize,
    pub k: usize,
    pub n: usize,
}

/// A plane of numbers, and the part of it that counts.
#[derive(Clone, Copy)]
pub(super) struct Matrix<R> {
    pub ptr: *mut R,
    /// The distance from a row to the next, in numbers.
    pub row: isize,
    pub column: isize,
    pub part: Part,
}

// SAFETY: threads are given separate rows or columns of a target, and only read factors.
unsafe impl<R: Sync> Sync for Matrix<R> {}
// SAFETY: as above.
unsafe impl<R: Send> Send for Matrix<R> {}

impl<R> Matrix<R> {
    /// The same with rows as columns.
    #[cfg(target_arch = "x86_64")]
    pub fn transposed(self) -> Self {
        Matrix { row: self.column, column: self.row, part: self.part.transposed(), ..self }
    }

    /// The same from a row and column on.
    #[cfg_attr(optimized, inline(always))]
    pub fn from(self, row: usize, column: usize) -> Self {
        let by = self.row.wrapping_mul(row as isize).wrapping_add(self.column.wrapping_mul(column as isize));
        Matrix { ptr: self.ptr.wrapping_offset(by), ..self }
    }
}

/// The letters of a matrix product, and the factors by their numbers.
struct Shape {
    rows: Option<usize>,
    columns: Option<usize>,
    summed: Option<usize>,
    batch: Option<usize>,
    /// The factor with the rows, and the one with the columns.
    factors: [usize; 2],
}

fn shape_of<S: Linear>(sums: &Sums<'_, S>) -> Option<Shape> {
    let formula = sums.formula;
    let mut arrays = (0..formula.factors().len()).filter(|k| !sums.space.positions(k + 1).is_empty());
    let (Some(a), Some(b), None) = (arrays.next(), arrays.next(), arrays.next()) else { return None };
    let has = |operand: usize, letter: usize| sums.space.positions(operand).contains(&(letter as u8));
    let mut shape = Shape { rows: None, columns: None, summed: None, batch: None, factors: [a, b] };
    for letter in 0..sums.space.extents().len() {
        let slot = match (has(0, letter), has(a + 1, letter), has(b + 1, letter)) {
            (true, true, false) => &mut shape.rows,
            (true, false, true) => &mut shape.columns,
            (false, true, true) => &mut shape.summed,
            (true, true, true) => &mut shape.batch,
            _ => return None,
        };
        if slot.replace(letter).is_some() {
            return None;
        }
    }
    // a letter twice in one operand is a diagonal
    let twice = |operand: usize| {
        let p = sums.space.positions(operand);
        (1..p.len()).any(|k| p[..k].contains(&p[k]))
    };
    let plain = !([0, a + 1, b + 1].into_iter().any(twice) || shape.batch.is_some() && sums.parts);
    let whole = shape.rows.is_some() && shape.columns.is_some() && shape.summed.is_some();
    (plain && whole).then_some(shape)
}

/// Runs a product of elements that have `parts` parts (1 for real numbers, 2 for complex ones) of
/// type `R`, each as many numbers as there are cotangents.
fn planes<R: Kernel, S, C>(cx: Context<'_, C>, sums: &Sums<'_, S>, parts: usize) -> bool
where
    S: Linear + Send + Sync,
    S::Over: Ring,
    C: Mode,
{
    let width = S::width();
    if size_of::<S>() != parts * width * size_of::<R>() || size_of::<S::Over>() != parts * size_of::<R>() {
        return false;
    }
    let Some(shape) = shape_of(sums) else { return false };
    let extent = |letter: Option<usize>| letter.map_or(1, |l| sums.space.extents()[l]);
    let size = Size { m: extent(shape.rows), k: extent(shape.summed), n: extent(shape.columns) };
    if size.m < 2 || size.n < 2 {
        return false;
    }
    let scale = scale::<R, S>(sums, parts, &shape);
    if sums.start && (parts > 1 || width > 1 || shape.batch.is_some() || scale[0] == R::ZERO) {
        return false;
    }
    for batch in 0..extent(shape.batch) {
        for lane in 0..width {
            for (pa, pb) in (0..parts).flat_map(|pa| (0..parts).map(move |pb| (pa, pb))) {
                let planes = Planes { shape: &shape, batch, width, parts };
                let a =
                    planes.matrix::<R, S>(sums, shape.factors[0] + 1, pa, lane, [shape.rows, shape.summed]);
                let b = planes.matrix::<R, S>(
                    sums,
                    shape.factors[1] + 1,
                    pb,
                    lane,
                    [shape.summed, shape.columns],
                );
                let conj = |k: usize, part: usize| part == 1 && sums.formula.factors()[shape.factors[k]].conj;
                // i·i = -1; each conjugate changes the sign of its imaginary part
                let negative = (pa + pb == 2) ^ conj(0, pa) ^ conj(1, pb) ^ !sums.add;
                let (re, im) = if pa + pb == 1 { (-scale[1], scale[0]) } else { (scale[0], scale[1]) };
                for (pc, alpha) in [re, im].into_iter().enumerate().take(parts) {
                    let alpha = if negative { -alpha } else { alpha };
                    if alpha != R::ZERO {
                        let c = planes.matrix::<R, S>(sums, 0, pc, lane, [shape.rows, shape.columns]);
                        on_threads(cx, size, alpha, a, b, c, sums.start);
                    }
                }
            }
        }
    }
    true
}

/// How the planes of numbers lie in arrays of elements.
struct Planes<'a> {
    shape: &'a Shape,
    batch: usize,
    width: usize,
    parts: usize,
}

impl Planes<'_> {
    /// Part `part` of an operand, of its cotangent number `lane` where it has several.
    fn matrix<R, S: Linear>(
        &self,
        sums: &Sums<'_, S>,
        operand: usize,
        part: usize,
        lane: usize,
        letters: [Option<usize>; 2],
    ) -> Matrix<R> {
        let wide = operand < 2;
        let ptr: *mut R = match operand {
            0 => sums.target.cast(),
            1 => sums.lead.cast_mut().cast(),
            k => sums.rest[k - 2].cast_mut().cast(),
        };
        let width = if wide { self.width } else { 1 };
        let step = |letter: Option<usize>| {
            letter.map_or(0, |l| sums.steps[operand][l].wrapping_mul((self.parts * width) as isize))
        };
        let [row, column] = letters;
        let first = step(self.shape.batch).wrapping_mul(self.batch as isize);
        let lane = if wide { lane } else { 0 };
        let ptr = ptr.wrapping_offset(first).wrapping_add(part * width + lane);
        let formula = if operand == 0 { &sums.formula.target } else { &sums.formula.factors()[operand - 1] };
        // the part is one of the operand's own rows and columns
        let turned = row.is_some_and(|r| sums.space.positions(operand).first() != Some(&(r as u8)));
        let part = if turned { formula.part.transposed() } else { formula.part };
        Matrix { ptr, row: step(row), column: step(column), part }
    }
}

/// The product of the scalar factors, real and imaginary part.
fn scale<R: Kernel, S: Linear>(sums: &Sums<'_, S>, parts: usize, shape: &Shape) -> [R; 2]
where
    S::Over: Ring,
{
    let mut product = S::Over::one();
    for (k, factor) in sums.formula.factors().iter().enumerate().skip(1) {
        if !shape.factors.contains(&k) {
            // SAFETY: a scalar factor is one element.
            let value = unsafe { *sums.rest[k - 1] };
            product = product.times(if factor.conj { value.conj() } else { value });
        }
    }
    let numbers: *const R = std::ptr::from_ref(&product).cast();
    // SAFETY: the element is `parts` numbers of this type (`planes` has compared the sizes).
    unsafe { [*numbers, if parts == 2 { *numbers.add(1) } else { R::ZERO }] }
}

/// Rows or columns on several threads, where no triangle runs along them.
fn on_threads<R: Kernel, C: Mode>(
    cx: Context<'_, C>,
    size: Size,
    alpha: R,
    a: Matrix<R>,
    b: Matrix<R>,
    c: Matrix<R>,
    start: bool,
) {
    let work = size.m.saturating_mul(size.n).saturating_mul(size.k);
    let workers = match cx.parallel_from() {
        0 => cx.workers(),
        least if work < least => 1,
        _ => worthwhile(work as f64 * MULTIPLICATION, 0.0, cx.workers()),
    };
    let whole = |m: &Matrix<R>| m.part == Part::Whole;
    let (rows, columns) = (whole(&a) && whole(&c), whole(&b) && whole(&c));
    if workers < 2 || !(rows || columns) {
        return product(size, alpha, a, b, c, start);
    }
    let by_rows = rows && (!columns || size.m >= size.n);
    let length = if by_rows { size.m } else { size.n };
    let part = length.div_ceil(workers);
    let from = move |from: usize| {
        let n = part.min(length - from);
        if by_rows {
            product(Size { m: n, ..size }, alpha, a.from(from, 0), b, c.from(from, 0), start);
        } else {
            product(Size { n, ..size }, alpha, a, b.from(0, from), c.from(0, from), start);
        }
    };
    cx.at_once((0..length).step_by(part).map(|k| move || from(k)));
}

/// `C += alpha·A·B`, each with the part of it that counts, or with `start` `C = alpha·A·B`.
fn product<R: Kernel>(size: Size, alpha: R, a: Matrix<R>, b: Matrix<R>, c: Matrix<R>, start: bool) {
    let Size { m, k, n } = size;
    // SAFETY: the sizes are those of the arrays, whose elements may be used so (see `Sums`).
    if m == 0 || n == 0 || k > 0 && unsafe { R::in_vectors(size, alpha, a, b, c, start) } {
        return;
    }
    if start {
        for (i, j) in indices(Part::Whole, m, n) {
            // SAFETY: the index is in range, and the element is the target's.
            unsafe { c.from(i, j).ptr.write(R::ZERO) }
        }
        return product(size, alpha, a, b, c, false);
    }
    if k == 0 {
        return;
    }
    if a.part != Part::Whole {
        quadrants(a, m, k, &mut |r, s, rows, inner, a| match a {
            Triangle::Of(a) => {
                let size = Size { m: rows, k: inner, n };
                product(size, alpha, a, b.from(s, 0), c.from(r, 0), false);
            }
            Triangle::Small(square) => {
                let size = Size { m: rows, k: inner, n };
                product(size, alpha, square.matrix(), b.from(s, 0), c.from(r, 0), false);
            }
        });
    } else if b.part != Part::Whole {
        quadrants(b, k, n, &mut |r, s, inner, columns, b| {
            let size = Size { m, k: inner, n: columns };
            match b {
                Triangle::Of(b) => product(size, alpha, a.from(0, r), b, c.from(0, s), false),
                Triangle::Small(square) => {
                    product(size, alpha, a.from(0, r), square.matrix(), c.from(0, s), false)
                }
            }
        });
    } else if c.part != Part::Whole {
        quadrants(c, m, n, &mut |r, s, rows, columns, part| {
            let size = Size { m: rows, k, n: columns };
            let (a, b) = (a.from(r, 0), b.from(0, s));
            match part {
                Triangle::Of(c) => product(size, alpha, a, b, c, false),
                Triangle::Small(square) => {
                    square.numbers = [R::ZERO; SQUARE * SQUARE];
                    product(size, alpha, a, b, square.matrix(), false);
                    square.add_to(c.from(r, s), rows, columns);
                }
            }
        });
    } else {
        // SAFETY: as above.
        unsafe { R::product(size, alpha, a, b, c) }
    }
}

/// A piece of a triangle.
enum Triangle<'a, R> {
    /// A matrix in place, whole or cut further.
    Of(Matrix<R>),
    /// A copy of a square on the diagonal, with zeros for what doesn't count.
    Small(&'a mut Square<R>),
}

/// A small matrix of its own.
struct Square<R> {
    numbers: [R; SQUARE * SQUARE],
}

impl<R: Kernel> Square<R> {
    fn matrix(&mut self) -> Matrix<R> {
        Matrix { ptr: self.numbers.as_mut_ptr(), row: SQUARE as isize, column: 1, part: Part::Whole }
    }

    fn copy_of(m: Matrix<R>, rows: usize, columns: usize) -> Self {
        let mut square = Square { numbers: [R::ZERO; SQUARE * SQUARE] };
        for (i, j) in indices(m.part, rows, columns) {
            // SAFETY: the index is in range.
            square.numbers[i * SQUARE + j] = unsafe { *m.from(i, j).ptr };
        }
        square
    }

    fn add_to(&self, m: Matrix<R>, rows: usize, columns: usize) {
        for (i, j) in indices(m.part, rows, columns) {
            // SAFETY: the index is in range, and the element is the target's.
            unsafe { *m.from(i, j).ptr += self.numbers[i * SQUARE + j] }
        }
    }
}

fn indices(part: Part, rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).flat_map(move |i| (0..columns).map(move |j| (i, j))).filter(move |(i, j)| part.has(*i, *j))
}

/// What is done with a piece of a triangle: `f(row, column, rows, columns, piece)`.
type Visit<'a, R> = dyn FnMut(usize, usize, usize, usize, Triangle<'_, R>) + 'a;

/// Cuts a triangle of a matrix into pieces.
fn quadrants<R: Kernel>(m: Matrix<R>, rows: usize, columns: usize, f: &mut Visit<'_, R>) {
    if rows == 0 || columns == 0 {
        return;
    }
    if rows <= SQUARE && columns <= SQUARE {
        return f(0, 0, rows, columns, Triangle::Small(&mut Square::copy_of(m, rows, columns)));
    }
    let least = rows.min(columns);
    let half = if least > SQUARE { least / 2 } else { least };
    let whole = Matrix { part: Part::Whole, ..m };
    match m.part {
        Part::Lower | Part::StrictLower => f(half, 0, rows - half, half, Triangle::Of(whole.from(half, 0))),
        Part::Upper | Part::StrictUpper => {
            f(0, half, half, columns - half, Triangle::Of(whole.from(0, half)))
        }
        Part::Whole => {}
    }
    quadrants(m, half, half, f);
    quadrants(m.from(half, half), rows - half, columns - half, &mut |r, c, rows, columns, piece| {
        f(r + half, c + half, rows, columns, piece)
    });
}
