//! Tropical numbers: sums are maxima or minima, products are sums.

use rev_cpu::prelude::*;

macro_rules! tropical {
    ($(#[$about:meta])* $name:ident, $sum:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Reversible)]
        pub struct $name<T: Real> {
            /// The number itself.
            pub repr: T,
        }

        #[reversible]
        impl<T: Real> $name<T> {
            /// `self *= y`.
            #[reversible(tangent, inverse_adjoint)]
            pub fn mul_assign(&mut self, by: T) {
                self.repr += by;
            }

            /// The number `x`.
            #[pure]
            pub fn of(x: T) -> T {
                x
            }

            /// The product, `x + y`.
            #[pure]
            pub fn mul(a: T, b: T) -> T {
                a + b
            }

            /// The quotient, `x - y`.
            #[pure]
            pub fn div(a: T, b: T) -> T {
                a - b
            }

            /// The sum: its derivative is 1 by the operand that it is, at ties by the first, and 0 by the other.
            #[pure]
            pub fn add(a: T, b: T) -> T {
                a.$sum(b)
            }

            /// The power, `n x`.
            #[pure]
            pub fn powi(a: T, n: i32) -> T {
                a * (n as T)
            }

            /// The power, `p x`.
            #[pure]
            pub fn powf(a: T, p: T) -> T {
                a * p
            }

            /// The reciprocal, `-x`.
            #[pure]
            pub fn recip(a: T) -> T {
                -a
            }
        }
    };
}

tropical! {
    /// A number of the max-plus algebra: `x + y` is the larger one, `x y` the sum. Products of weights along paths, summed
    /// over the paths, are the length of the longest one, and its derivatives are 1 along that path.
    MaxPlus, max
}

tropical! {
    /// A number of the min-plus algebra: `x + y` is the smaller one, `x y` the sum. Products of weights along paths, summed
    /// over the paths, are the length of the shortest one, and its derivatives are 1 along that path.
    MinPlus, min
}
