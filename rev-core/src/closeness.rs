//! Shadows and sparse matrices in the terms of the crate [`approx`], whose macros (`assert_relative_eq!` and the others) then
//! take them: close if all their numbers are. Arrays of a result have that from `ndarray`'s feature `approx`, which this one
//! asks for; numbers, slices and [`Complex`](crate::scalar::Complex) from `approx` itself. Fixed-point numbers, `f16` and `bf16` are
//! types of other crates, which can't have it from here: the first are exact and are compared by `==`, the others as `f32`.

use approx::{AbsDiffEq, RelativeEq, UlpsEq};

use crate::scalar::{Batch, ComplexShadow, WideBatch};
use crate::sparse::SparseMatrix;

/// What is made of numbers `Number`, which are compared in pairs.
trait Pairs {
    type Number;

    /// Whether the numbers that belong together are close; never, if there are numbers without another.
    fn all(&self, other: &Self, close: impl Fn(&Self::Number, &Self::Number) -> bool) -> bool;
}

impl<T, const N: usize> Pairs for Batch<T, N> {
    type Number = T;

    fn all(&self, other: &Self, close: impl Fn(&T, &T) -> bool) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| close(a, b))
    }
}

impl<T, const N: usize> Pairs for WideBatch<T, N> {
    type Number = f32;

    fn all(&self, other: &Self, close: impl Fn(&f32, &f32) -> bool) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| close(a, b))
    }
}

impl<S> Pairs for ComplexShadow<S> {
    type Number = S;

    fn all(&self, other: &Self, close: impl Fn(&S, &S) -> bool) -> bool {
        close(&self.re, &other.re) && close(&self.im, &other.im)
    }
}

/// Entries outside of a pattern are zero; matrices of other sizes aren't close.
impl Pairs for SparseMatrix {
    type Number = f64;

    fn all(&self, other: &Self, close: impl Fn(&f64, &f64) -> bool) -> bool {
        let entry = |of: &SparseMatrix, i: usize, j: usize| of.get(i, j).unwrap_or(0.0);
        (self.rows(), self.columns()) == (other.rows(), other.columns())
            && self.triplets().all(|(i, j, a)| close(&a, &entry(other, i, j)))
            && other.triplets().all(|(i, j, b)| close(&entry(self, i, j), &b))
    }
}

/// The traits for a type of [`Pairs`].
macro_rules! by_pairs {
    ([$($generics:tt)*] $type:ty, $number:ty) => {
        impl<$($generics)*> AbsDiffEq for $type
        where
            $number: AbsDiffEq,
            <$number as AbsDiffEq>::Epsilon: Clone,
            Self: PartialEq,
        {
            type Epsilon = <$number as AbsDiffEq>::Epsilon;

            fn default_epsilon() -> Self::Epsilon {
                <$number>::default_epsilon()
            }

            fn abs_diff_eq(&self, other: &Self, epsilon: Self::Epsilon) -> bool {
                self.all(other, |a, b| a.abs_diff_eq(b, epsilon.clone()))
            }
        }

        impl<$($generics)*> RelativeEq for $type
        where
            $number: RelativeEq,
            <$number as AbsDiffEq>::Epsilon: Clone,
            Self: PartialEq,
        {
            fn default_max_relative() -> Self::Epsilon {
                <$number>::default_max_relative()
            }

            fn relative_eq(&self, other: &Self, epsilon: Self::Epsilon, most: Self::Epsilon) -> bool {
                self.all(other, |a, b| a.relative_eq(b, epsilon.clone(), most.clone()))
            }
        }

        impl<$($generics)*> UlpsEq for $type
        where
            $number: UlpsEq,
            <$number as AbsDiffEq>::Epsilon: Clone,
            Self: PartialEq,
        {
            fn default_max_ulps() -> u32 {
                <$number>::default_max_ulps()
            }

            fn ulps_eq(&self, other: &Self, epsilon: Self::Epsilon, most: u32) -> bool {
                self.all(other, |a, b| a.ulps_eq(b, epsilon.clone(), most))
            }
        }
    };
}
by_pairs!([T, const N: usize] Batch<T, N>, T);
by_pairs!([T, const N: usize] WideBatch<T, N>, f32);
by_pairs!([S] ComplexShadow<S>, S);
by_pairs!([] SparseMatrix, f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(entries: &[(usize, usize, f64)]) -> SparseMatrix {
        SparseMatrix::from_triplets(2, 3, entries.iter().copied()).unwrap()
    }

    #[test]
    fn shadows_are_close_if_all_cotangents_are() {
        let (a, b) = (Batch([1.0, 2.0]), Batch([1.0, 2.0 + 1e-9]));
        approx::assert_abs_diff_eq!(a, b, epsilon = 1.1e-9);
        approx::assert_abs_diff_ne!(a, b, epsilon = 0.9e-9);
        approx::assert_relative_eq!(a, b, max_relative = 0.6e-9);
        approx::assert_relative_ne!(a, b, max_relative = 0.4e-9);
        let next = Batch([1.0, f64::from_bits(2f64.to_bits() + 3)]);
        approx::assert_ulps_eq!(a, next, epsilon = 0.0, max_ulps = 3);
        approx::assert_ulps_ne!(a, next, epsilon = 0.0, max_ulps = 2);
        let complex = |im| ComplexShadow { re: a, im };
        approx::assert_abs_diff_eq!(complex(a), complex(b), epsilon = 1.1e-9);
        approx::assert_abs_diff_ne!(complex(a), complex(b), epsilon = 0.9e-9);
        approx::assert_abs_diff_ne!(a, Batch([f64::NAN, 2.0]), epsilon = 1e9);
        let wide = |second| WideBatch::<crate::scalar::f16, 2>::new([1.0, second]);
        approx::assert_abs_diff_eq!(wide(2.0), wide(2.001), epsilon = 1.1e-3);
        approx::assert_abs_diff_ne!(wide(2.0), wide(2.001), epsilon = 0.9e-3);
        approx::assert_relative_ne!(wide(2.0), wide(f32::NAN), max_relative = 1e9);
    }

    #[test]
    fn matrices_are_close_whatever_their_patterns_are() {
        let a = matrix(&[(0, 0, 1.0), (1, 2, 3.0)]);
        approx::assert_relative_eq!(
            a,
            matrix(&[(0, 0, 1.0), (0, 1, 0.0), (1, 2, 3.0 + 1e-15)]),
            max_relative = 1e-15
        );
        approx::assert_relative_ne!(a, matrix(&[(0, 0, 1.0), (0, 1, 1e-3), (1, 2, 3.0)]));
        approx::assert_relative_ne!(a, matrix(&[(0, 0, 1.0)]));
        approx::assert_relative_ne!(matrix(&[(0, 0, 1.0)]), a);
        let wider = SparseMatrix::from_triplets(2, 4, [(0, 0, 1.0), (1, 2, 3.0)]).unwrap();
        approx::assert_abs_diff_ne!(a, wider, epsilon = 1e9);
    }
}
