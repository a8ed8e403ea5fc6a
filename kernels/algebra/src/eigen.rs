//! Eigenvalues of symmetric matrices by Jacobi's rotations, and a single eigenvector of any matrix from a guess.
//!
//! A rotation in the plane of two axes `p < q` by `θ`, `tan 2θ = 2 a_pq / (a_qq - a_pp)`, makes `a_pq` zero. Sweeps through all pairs
//! let everything off the diagonal vanish, in the end quadratically: six to ten sweeps for double precision. C. G. J. Jacobi (1846);
//! G. H. Golub, C. F. Van Loan, *Matrix Computations* (4th edition, 2013), section 8.5.
//!
//! A rotation is undone by its angle, so the angles are what has to be kept: n (n - 1) / 2 for a sweep. From them come the eigenvectors,
//! too. The derivative of an eigenvalue by the matrix, `v vᵀ`, exists where it is simple. A gradient is by each element on its own, and its
//! symmetric part is the one by the symmetric matrix.
//!
//! On the way back each angle is computed again, from a matrix that is rounded. Two things keep it the same. An element off the diagonal
//! that is at most `tolerance` is left alone: the root of the rounding error is a good one (1e-8 times the norm in double precision), as
//! eigenvalues are off by its square over their distance. And `2θ`, an angle that could be `π` or `-π` where `a_pq` is zero, lies within
//! half a turn around [`CENTRE`].
//!
//! What is left alone has no angle, nor a derivative of it, which second derivatives are made of. So they take a tolerance below zero, with which
//! every angle is computed, eigenvalues that are well apart, and a sweep more than the values do.
//!
//! [`improve()`] takes one step of Newton's method for an eigenvector `x` of length 1 and its eigenvalue `λ`, the roots of `A x - λ x` and
//! `(1 - xᵀx)/2`. From what an iteration such as [`search()`] found, which isn't differentiated, that step has the derivatives of the fixed point:
//!
//! ```text
//! ( A - λ  -x ) ( dx )     ( dA x )
//! (  xᵀ     0 ) ( dλ ) = - (  0   )
//! ```
//!
//! (the theorem on implicit functions; A. Griewank, A. Walther, *Evaluating Derivatives*, 2nd edition, 2008, section 15.1). They take the memory of one
//! step, however long the iteration was.

use crate::factorize::lu;
use ndarray::{Array1, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use num_traits::Float;
use rev_cpu::prelude::*;

/// Half a turn around this angle, in radians, has no end on an axis, nor halfway between two.
pub const CENTRE: f64 = 0.6;

/// The angle that makes `off` zero, the element off the diagonal between `first` and `second` on it; 0 where it is small already.
#[pure]
pub fn angle<T: Real>(first: T, second: T, off: T, tolerance: T) -> T {
    let c = T::from_f64(CENTRE);
    let x = second - first;
    let y = 2.0 * off;
    if off.abs() <= tolerance {
        T::zero()
    } else {
        0.5 * (c + atan2(y * c.cos() - x * c.sin(), x * c.cos() + y * c.sin()))
    }
}

/// `A := Jᵀ A J`, a diagonal matrix but for rounding, for the product `J` of the rotations whose angles are kept. `A` is symmetric, and
/// all of it is read. `angles`, zeros before, has n (n - 1) / 2 numbers for each sweep, and how many it has says how many sweeps are made.
///
/// # Errors
///
/// A part of a sweep in `angles`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn diagonalize<T: Real>(mut a: ArrayViewMut2<T>, angles: &mut [T], tolerance: T) {
    let n = a.nrows();
    let mut at = 0usize;
    for _ in 0..angles.len() / max(n * (n - 1) / 2, 1) {
        for p in 0..n {
            for q in p + 1..n {
                angles[at] += angle(a[[p, p]], a[[q, q]], a[[p, q]], tolerance);
                {
                    let theta = angles[at];
                    for k in 0..n {
                        rot(a[[p, k]], a[[q, k]], theta);
                    }
                    for k in 0..n {
                        rot(a[[k, p]], a[[k, q]], theta);
                    }
                }
                inc(at);
            }
        }
    }
    release(at, angles.len());
}

/// `V := V J` for the rotations of [`diagonalize()`]: what is the identity before are the eigenvectors afterwards, one in each column, in the
/// order of the diagonal.
///
/// # Errors
///
/// A part of a sweep in `angles`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn rotate<T: Real>(mut v: ArrayViewMut2<T>, angles: &[T]) {
    let n = v.ncols();
    for k in par(0..v.nrows()) {
        let mut at = 0usize;
        for _ in 0..angles.len() / max(n * (n - 1) / 2, 1) {
            for p in 0..n {
                for q in p + 1..n {
                    rot(v[[k, p]], v[[k, q]], angles[at]);
                    inc(at);
                }
            }
        }
        release(at, angles.len());
    }
}

/// `values +=` the eigenvalues of a symmetric matrix, after so many sweeps and up to the tolerance of [`diagonalize()`], in no given
/// order. Memory: a copy of the matrix, and the angles of the sweeps.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn eigenvalues<T: Real>(mut values: ArrayViewMut1<T>, a: ArrayView2<T>, sweeps: usize, tolerance: T) {
    let n = a.nrows();
    let mut copy: Array2<T> = zeros((n, n));
    let mut angles = vec![T::zero(); sweeps * (n * (n - 1) / 2)];
    copy += entries(a);
    diagonalize(&mut copy, &mut angles, tolerance);
    values += diagonal(copy);
}

/// `vector +=` an eigenvector of length 1 and `value +=` its eigenvalue, which has to be a simple one, by one step from a guess. The error is
/// the square of that of the guess in the result, and of its order in the derivative by the matrix. By the guess there is none.
/// Memory: 2 (n + 1)² numbers. Second derivatives would take another step, from a guess that has derivatives, so there is no tangent.
///
/// # Errors
///
/// An eigenvalue that isn't simple, where the equations of the step are singular.
#[reversible(constant(guess, guessed_value))]
pub fn improve<T: Real>(vector: &mut [T], value: &mut T, a: ArrayView2<T>, guess: &[T], guessed_value: T) {
    let n = guess.len();
    let mut equations: Array2<T> = zeros((n + 1, n + 1));
    let mut off: Array2<T> = zeros((n + 1, 1));
    let mut step: Array2<T> = zeros((n + 1, 1));
    off[[n, 0]] += 0.5;
    for i in 0..n {
        for j in 0..n {
            equations[[i, j]] += a[[i, j]];
            off[[i, 0]] -= a[[i, j]] * guess[j];
        }
        equations[[i, i]] -= guessed_value;
        equations[[i, n]] -= guess[i];
        equations[[n, i]] += guess[i];
        off[[i, 0]] += guessed_value * guess[i];
        off[[n, 0]] -= 0.5 * guess[i] * guess[i];
    }
    lu::solve(&mut step, &equations, &off);
    for i in 0..n {
        vector[i] += guess[i] + step[[i, 0]];
    }
    *value += guessed_value + step[[n, 0]];
}

/// An eigenvector of length 1 and its eigenvalue, and how many products with the matrix it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigenpair<T> {
    /// The vector.
    pub vector: Vec<T>,
    /// `xᵀ A x`.
    pub value: T,
    /// Products with the matrix.
    pub products: usize,
}

/// The eigenvector of the eigenvalue of largest magnitude by power iteration (R. von Mises, H. Pollaczek-Geiringer, 1929): `x := A x / |A x|`
/// from `start`, until `|A x - λ x| ≤ tolerance |λ|`; `None` where that takes more than `most` products, or `start` is zero.
pub fn search<T: Float + 'static>(
    a: ArrayView2<T>,
    start: &[T],
    tolerance: T,
    most: usize,
) -> Option<Eigenpair<T>> {
    let unit = |x: Array1<T>| {
        let length = x.dot(&x).sqrt();
        (length > T::zero()).then(|| x.mapv(|x| x / length))
    };
    let mut x = unit(Array1::from(start.to_vec()))?;
    for products in 1..=most {
        let image = a.dot(&x);
        let value = x.dot(&image);
        let off = &image - &x.mapv(|x| value * x);
        if off.dot(&off).sqrt() <= tolerance * value.abs() {
            return Some(Eigenpair { vector: x.to_vec(), value, products });
        }
        x = unit(image)?;
    }
    None
}

/// The same as plain Rust.
pub mod plain {
    use crate::factorize::lu;
    use ndarray::{Array2, ArrayView2};
    use num_traits::Float;

    /// An eigenvector and its eigenvalue by one step from a guess; `None` where the equations of the step are singular.
    pub fn improve<T: Float>(a: ArrayView2<T>, guess: &[T], value: T) -> Option<(Vec<T>, T)> {
        let (n, half) = (guess.len(), T::one() / (T::one() + T::one()));
        let equations = Array2::from_shape_fn((n + 1, n + 1), |(i, j)| match (i == n, j == n) {
            (true, true) => T::zero(),
            (true, false) => guess[j],
            (false, true) => -guess[i],
            (false, false) => a[[i, j]] - if i == j { value } else { T::zero() },
        });
        let dot = |row: usize| (0..n).fold(T::zero(), |sum, j| sum + a[[row, j]] * guess[j]);
        let square = guess.iter().fold(T::zero(), |sum, x| sum + *x * *x);
        let off = Array2::from_shape_fn((n + 1, 1), |(i, _)| match i == n {
            true => half - half * square,
            false => value * guess[i] - dot(i),
        });
        let step = lu::plain::solve(equations.view(), off.view())?;
        Some(((0..n).map(|i| guess[i] + step[[i, 0]]).collect(), value + step[[n, 0]]))
    }

    /// The matrix after the sweeps, and the product of the rotations, whose columns are the eigenvectors.
    pub fn diagonalize<T: Float>(a: ArrayView2<T>, sweeps: usize) -> (Array2<T>, Array2<T>) {
        let (n, mut a) = (a.nrows(), a.to_owned());
        let mut v = Array2::from_shape_fn((n, n), |(i, j)| if i == j { T::one() } else { T::zero() });
        let pairs = || (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q)));
        for (p, q) in (0..sweeps).flat_map(|_| pairs()) {
            let two = T::one() + T::one();
            let (s, c) = ((two * a[[p, q]]).atan2(a[[q, q]] - a[[p, p]]) / two).sin_cos();
            let turn = |x: T, y: T| (c * x - s * y, s * x + c * y);
            for k in 0..n {
                (a[[p, k]], a[[q, k]]) = turn(a[[p, k]], a[[q, k]]);
            }
            for k in 0..n {
                (a[[k, p]], a[[k, q]]) = turn(a[[k, p]], a[[k, q]]);
                (v[[k, p]], v[[k, q]]) = turn(v[[k, p]], v[[k, q]]);
            }
        }
        (a, v)
    }
}
