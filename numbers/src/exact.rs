//! Sums of floats without rounding.

use rev_cpu::prelude::*;

/// The types of numbers that an [`Exact`] adds up: each of their numbers is an `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` isn't a float, of which an `Exact` is a sum",
    label = "sums of integers and fixed-point numbers are exact in their own type"
)]
pub trait Float: Real {}
impl Float for f64 {}
impl Float for f32 {}
impl Float for f16 {}
impl Float for bf16 {}

/// A sum of floats in which nothing is rounded: `+=` and `-=` undo each other bit for bit, and the order of terms
/// doesn't matter (U. Kulisch, "Very fast and exact accumulation of products", Computing 91, 2011). [`read`](Exact::read) rounds it
/// once, to nearest, ties to even.
///
/// The sum is `Σ words[k] · 2^(64k - 1152)`, a fixed-point number that has room for every float. A term is added to two words, to each
/// an integer of at most 64 bits and a sign; what they carry stays in them until the sum is read. Words wrap modulo 2¹²⁸, so that each
/// update has its inverse whatever they hold; the sum is right as long as none of them has wrapped, for at least 2⁶² terms. The
/// last word's carry is beyond the largest float: such a sum is read as infinite.
///
/// What isn't a number (NaN, `∞`, `-∞`) is counted in `strays`, a count for each, up by `+=` and down by `-=`. While one of the
/// counts isn't zero the sum is read as NaN; taking back what was added brings back the sum.
///
/// `repr` is always 0: it is where the derivative of the sum is kept, so that gradients by an `Exact` are its `repr`.
///
/// ```
/// use rev_cpu::prelude::*;
/// use rev_numbers::{Exact, Float};
///
/// #[reversible]
/// fn total<T: Real + Float>(out: &mut T, x: &[T]) {
///     let mut sum = Exact::<T>::zero();
///     for i in 0..x.len() {
///         sum += x[i];
///     }
///     (&sum).read(&mut *out);
/// }
///
/// let mut out = 0.0;
/// total(&mut out, &[1e100, 1.0, -1e100, 1e-30]).unwrap();
/// assert_eq!(out, 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Reversible)]
pub struct Exact<T: Real + Float> {
    /// 0, and in gradients that of the sum.
    pub repr: T,
    /// The sum, 64 bits in each word and above them what is carried.
    pub words: [i128; 34],
    /// How often NaN, `∞` and `-∞` were added.
    pub strays: [i64; 3],
}

/// The digits of a float: which word has the lower one, both, which count it belongs to and what is counted; last a 0 that
/// has the derivative of the float.
#[pure]
pub fn digits<T: Real>(x: T) -> (usize, i128, i128, usize, i64) {
    let wide = x as f64;
    let size = wide.abs();
    let sound = size < f64::infinity();
    let v = if sound { wide } else { 0.0 };
    // of the word that has the first bit, or of the one below: 2^(64 place) ≤ 2^1088 size
    let place = if size > 0.0 { ((size.log2() + 1088.0) / 64.0).floor().max(0.0).min(32.0) } else { 0.0 };
    // its unit is the square of this, and may be too small for a float
    let root = (32.0 * place - 544.0).exp2();
    let high = (v / root / root).trunc();
    let low = (v - high * root * root) / root / root * 18446744073709551616.0;
    let kind = if wide == f64::infinity() {
        1
    } else if wide == f64::neg_infinity() {
        2
    } else {
        0
    };
    (place as usize, low as i128, high as i128, kind, if sound { 0 } else { 1 })
}

/// 0, with the derivative of `x`.
#[pure(d(x) = T::one())]
pub fn unseen<T: Real>(x: T) -> T {
    T::zero()
}

/// `2^(64n - 1152) · (2⁶⁴ high + low)`, or a little more where `more` isn't 0, rounded once.
#[pure]
fn nearest<T: Real>(high: i128, low: i128, more: i128, n: i128) -> T {
    // 64 bits at least, of which the last one says whether anything is below
    let last = if more == 0 && low & 1 == 0 { 0 } else { 1 };
    let bits = (high << 63) | (low >> 1) | last;
    let rounded = (bits as T) as f64;
    // of 16 bits the largest is smaller than that
    let rounded = if rounded < f64::infinity() { rounded } else { bits as f64 };
    let root = (32.0 * (n as f64) - 576.0).exp2();
    (rounded * root * 2.0 * root) as T
}

#[reversible]
impl<T: Real + Float> Exact<T> {
    /// `self += x`.
    #[reversible(tangent, inverse_adjoint)]
    pub fn add_assign(&mut self, x: T) {
        let (k, low, high, kind, stray) = digits(x);
        self.words[k] += low as i128;
        self.words[k + 1] += high as i128;
        self.strays[kind] += stray as i64;
        self.repr += unseen(x);
    }

    /// The number `x`.
    #[pure]
    pub fn of(x: T) -> T {
        x
    }

    /// Adds all of these, in parallel.
    #[reversible(tangent, inverse_adjoint)]
    pub fn add_all(&mut self, x: &[T]) {
        for i in par(0..x.len()) {
            let (k, low, high, kind, stray) = digits(x[i]);
            self.words[k] += low as i128;
            self.words[k + 1] += high as i128;
            self.strays[kind] += stray as i64;
            self.repr += unseen(x[i]);
        }
    }

    /// Adds another sum.
    #[reversible(tangent, inverse_adjoint)]
    pub fn merge(&mut self, other: &Exact<T>) {
        for k in 0..34 {
            self.words[k] += other.words[k];
        }
        for k in 0..3 {
            self.strays[k] += other.strays[k];
        }
        self.repr += other.repr;
    }

    /// `out +=` the sum, rounded to nearest, ties to even.
    #[reversible(tangent, inverse_adjoint)]
    pub fn read(&self, out: &mut T) {
        let mut carry = [0i128; 35];
        for k in 0..34 {
            carry[k + 1] += (self.words[k] + carry[k]) >> 64;
        }
        let sign = if carry[34] < 0 { -1i128 } else { 1i128 };
        // the digits of its size, and how many of them there are
        let mut digit = [0i128; 37];
        let mut up = [0i128; 35];
        for k in 0..34 {
            up[k + 1] += (self.words[k] * sign + up[k]) >> 64;
            digit[k + 2] += (self.words[k] * sign + up[k]) & 18446744073709551615;
        }
        digit[36] += up[34];
        let mut below = [0i128; 37];
        for k in 0..36 {
            below[k + 1] += below[k] | digit[k];
        }
        let mut above = [0i64; 38];
        for k in (0..37).rev() {
            above[k] += if above[k + 1] != 0 || digit[k] != 0 { 1 } else { 0 };
        }
        let mut n = 0usize;
        for k in 2..37 {
            n += above[k] as usize;
        }
        let value = nearest::<T>(digit[n + 1], digit[n], below[n], n as i128 - 2);
        let astray = self.strays[0] != 0 || self.strays[1] != 0 || self.strays[2] != 0;
        let sum = if astray { T::zero() / T::zero() } else { value * (sign as T) };
        *out += sum + self.repr;
    }
}
