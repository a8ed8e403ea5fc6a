//! Arguments for generated programs.

use num_complex::Complex;
use rev_core::scalar::{
    bf16, f16, FixedI128, FixedI32, FixedI64, Fraction128, Fraction32, Fraction64, Num, Real, Scalar,
};
use rev_core::value::{Array, Data};

use crate::dice::Dice;
use crate::scope::{Element, What, SHORT};
use crate::{Param, Program};

/// A real scalar type that programs run on.
pub trait Number: Real {
    /// A random number within ±1 that is the same for every type up to rounding.
    fn random(dice: &mut Dice) -> Self {
        Self::from_number(Num::Float((dice.real(-1.0, 1.0) * 1e6).round() / 1e6))
    }
}
impl Number for f64 {}
impl Number for f32 {}
impl Number for f16 {}
impl Number for bf16 {}
impl<F: Fraction32> Number for FixedI32<F> {}
impl<F: Fraction64> Number for FixedI64<F> {}
impl<F: Fraction128> Number for FixedI128<F> {}

impl Program {
    /// Random arguments: numbers within ±1, lengths and indices as the program needs them.
    pub fn arguments<T: Number>(&self, seed: u64) -> Vec<Data>
    where
        Complex<T>: Scalar,
    {
        // each parameter its own, so that a program with fewer of them has the same
        let of = |p: &Param| {
            let name = p.name.bytes().fold(0, |h: u64, b| h.wrapping_mul(31) + u64::from(b));
            let mut dice = Dice::new(seed ^ self.seed.rotate_left(17) ^ name.rotate_left(40));
            data::<T>(&p.what, self.long, &mut dice)
        };
        self.signature().params.iter().map(of).collect()
    }
}

fn data<T: Number>(what: &What, long: usize, dice: &mut Dice) -> Data
where
    Complex<T>: Scalar,
{
    let mut reals = |n: usize| -> Vec<Data> { (0..n).map(|_| Data::scalar(T::random(dice))).collect() };
    match what {
        What::Real => Data::scalar(T::random(dice)),
        What::Complex => {
            let (re, im) = (T::random(dice), T::random(dice));
            Data::scalar(Complex::new(re, im))
        }
        What::Int => Data::scalar(dice.below(21) as i64 - 10),
        What::Index(most) => Data::scalar(most - dice.below(2)),
        What::Bool => Data::scalar(dice.chance(50)),
        What::Reals => Data::vector(reals(long)),
        What::Matrix => Data::Array(Array { shape: vec![long, SHORT], elements: reals(long * SHORT) }),
        What::Rows => Data::vector((0..long).map(|_| Data::vector(reals(SHORT))).collect()),
        What::Triple { .. } => Data::vector(reals(SHORT)),
        What::Ints => Data::vector((0..long).map(|_| Data::scalar(dice.below(21) as i64 - 10)).collect()),
        What::Indices { injective: true } => {
            Data::vector(dice.permutation(long).into_iter().map(Data::scalar).collect())
        }
        What::Indices { injective: false } => {
            Data::vector((0..long).map(|_| Data::scalar(dice.below(long))).collect())
        }
        What::Duo => Data::Tuple(reals(2)),
        What::Body => {
            let mass = Data::scalar(T::random(dice));
            let arm = (0..2).map(|_| Data::scalar(T::random(dice))).collect();
            Data::record("Body", [("mass", mass), ("arm", Data::vector(arm))])
        }
        What::Stack(Element::Real) => Data::Stack(reals(2)),
        What::Stack(Element::Complex) => {
            Data::Stack((0..2).map(|_| data::<T>(&What::Complex, long, dice)).collect())
        }
        What::Stack(Element::Int) => Data::Stack((0..2).map(|_| data::<T>(&What::Int, long, dice)).collect()),
        What::Stack(Element::Bool) => {
            Data::Stack((0..2).map(|_| data::<T>(&What::Bool, long, dice)).collect())
        }
        What::Depth => Data::scalar(dice.below(3)),
        // no parameter is one
        What::Mixed | What::Narrow(_) | What::Function => Data::None,
    }
}
