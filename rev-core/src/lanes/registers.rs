//! A machine of [`crate::math`] whose values are vector registers, and how a [`Vector`] is cut into them.

use super::{LaneMask, Vector};
use crate::math::machine::Machine;
use crate::math::Native;

/// Vector registers of floats and of integers of the same width.
///
/// A [`Vector`] is [`WIDTH`](super::WIDTH) / [`LANES`](Registers::LANES) registers; a chunk's number is
/// always less than that. Registers are copied and never dropped: where the compiler didn't know, each function of lanes
/// would have code for a panic between any two instructions.
pub trait Registers: Machine<F: Copy, I: Copy, M: Copy> {
    /// What one lane of a float register holds.
    type Float: Copy;
    /// What one lane of an integer register holds.
    type Int: Copy;
    /// How many lanes a register has.
    const LANES: usize;

    /// A register of a vector.
    fn at<'v>(&mut self, of: &'v Vector<Self::Float>, chunk: usize) -> &'v Self::F;
    /// The same, to be written.
    fn at_mut<'v>(&mut self, of: &'v mut Vector<Self::Float>, chunk: usize) -> &'v mut Self::F;
    /// A register of a vector of integers.
    fn int_at<'v>(&mut self, of: &'v Vector<Self::Int>, chunk: usize) -> &'v Self::I;
    /// The same, to be written.
    fn int_at_mut<'v>(&mut self, of: &'v mut Vector<Self::Int>, chunk: usize) -> &'v mut Self::I;
    /// A vector with the same number in every lane.
    fn broadcast(&mut self, v: Self::Float) -> Vector<Self::Float>;
    /// The same of an integer.
    fn broadcast_int(&mut self, v: Self::Int) -> Vector<Self::Int>;
    /// The truth values of a chunk, from the bits of all lanes.
    fn mask(&mut self, bits: LaneMask, chunk: usize) -> Self::M;
    /// The truth values of a chunk as bits, at the places of its lanes.
    fn bits(&mut self, m: &Self::M, chunk: usize) -> LaneMask;
    /// The largest integer not above.
    fn floor(&mut self, a: &Self::F) -> Self::F;
    /// The smallest integer not below.
    fn ceil(&mut self, a: &Self::F) -> Self::F;
    /// The integer part.
    fn trunc(&mut self, a: &Self::F) -> Self::F;
    /// The sum of the first so many lanes along the tree of [`super::sum`].
    fn sum(&mut self, count: usize, v: &Vector<Self::Float>) -> Self::Float;
    /// The sum of the products of the first so many lanes: register by register multiplied and added at once, then as
    /// [`sum`](Registers::sum).
    fn sum_product(&mut self, count: usize, a: &Vector<Self::Float>, b: &Vector<Self::Float>) -> Self::Float;
}

/// Registers of one lane: the scalars.
macro_rules! scalars {
    ($f:ident $i:ident) => {
        impl Registers for Native<$f> {
            type Float = $f;
            type Int = $i;
            const LANES: usize = 1;

            #[cfg_attr(optimized, inline(always))]
            fn at<'v>(&mut self, of: &'v Vector<$f>, chunk: usize) -> &'v $f {
                &of.0[chunk]
            }
            #[cfg_attr(optimized, inline(always))]
            fn at_mut<'v>(&mut self, of: &'v mut Vector<$f>, chunk: usize) -> &'v mut $f {
                &mut of.0[chunk]
            }
            #[cfg_attr(optimized, inline(always))]
            fn int_at<'v>(&mut self, of: &'v Vector<$i>, chunk: usize) -> &'v $i {
                &of.0[chunk]
            }
            #[cfg_attr(optimized, inline(always))]
            fn int_at_mut<'v>(&mut self, of: &'v mut Vector<$i>, chunk: usize) -> &'v mut $i {
                &mut of.0[chunk]
            }
            #[cfg_attr(optimized, inline(always))]
            fn broadcast(&mut self, v: $f) -> Vector<$f> {
                Vector::splat(v)
            }
            #[cfg_attr(optimized, inline(always))]
            fn broadcast_int(&mut self, v: $i) -> Vector<$i> {
                Vector::splat(v)
            }
            #[cfg_attr(optimized, inline(always))]
            fn mask(&mut self, bits: LaneMask, chunk: usize) -> bool {
                bits >> chunk & 1 == 1
            }
            #[cfg_attr(optimized, inline(always))]
            fn bits(&mut self, m: &bool, chunk: usize) -> LaneMask {
                LaneMask::from(*m) << chunk
            }
            #[cfg_attr(optimized, inline(always))]
            fn floor(&mut self, a: &$f) -> $f {
                a.floor()
            }
            #[cfg_attr(optimized, inline(always))]
            fn ceil(&mut self, a: &$f) -> $f {
                a.ceil()
            }
            #[cfg_attr(optimized, inline(always))]
            fn trunc(&mut self, a: &$f) -> $f {
                a.trunc()
            }
            #[cfg_attr(optimized, inline(always))]
            fn sum(&mut self, mut count: usize, v: &Vector<$f>) -> $f {
                let mut lanes = v.0;
                while count > 1 {
                    count /= 2;
                    for k in 0..count {
                        lanes[k] += lanes[k + count];
                    }
                }
                lanes[0]
            }
            #[cfg_attr(optimized, inline(always))]
            fn sum_product(&mut self, count: usize, a: &Vector<$f>, b: &Vector<$f>) -> $f {
                let mut products = *a;
                for (a, b) in products.0.iter_mut().zip(b.0) {
                    *a *= b;
                }
                self.sum(count, &products)
            }
        }
    };
}
scalars!(f64 i64);
scalars!(f32 i32);
