//! Arguments for generated programs.

use num_complex::Complex;
use rev_core::ir::Mode;
use rev_core::scalar::{bf16, f16, Fixed43, Num, Real, Scalar};
use rev_core::value::{Array, Data};

use crate::dice::Dice;
use crate::scope::{What, LONG, SHORT};
use crate::Program;

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
impl Number for Fixed43 {}

impl Program {
    /// Random arguments: numbers within ±1, lengths and indices as the program needs them.
    pub fn arguments<T: Number>(&self, seed: u64) -> Vec<Data>
    where
        Complex<T>: Scalar,
    {
        let mut dice = Dice::new(seed ^ self.seed.rotate_left(17));
        self.signature().params.iter().map(|p| data::<T>(&p.what, p.mode, &mut dice)).collect()
    }
}

fn data<T: Number>(what: &What, mode: Mode, dice: &mut Dice) -> Data
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
        What::Reals => Data::vector(reals(LONG)),
        What::Matrix => Data::Array(Array { shape: vec![LONG, SHORT], elements: reals(LONG * SHORT) }),
        What::Triple { .. } => Data::vector(reals(SHORT)),
        What::Ints => Data::vector((0..LONG).map(|_| Data::scalar(dice.below(21) as i64 - 10)).collect()),
        What::Indices { injective: true } => {
            Data::vector(dice.permutation(LONG).into_iter().map(Data::scalar).collect())
        }
        What::Indices { injective: false } => {
            Data::vector((0..LONG).map(|_| Data::scalar(dice.below(LONG))).collect())
        }
        What::Duo => Data::Tuple(reals(2)),
        What::Body => {
            let mass = Data::scalar(T::random(dice));
            let arm = (0..2).map(|_| Data::scalar(T::random(dice))).collect();
            Data::record("Body", [("mass", mass), ("arm", Data::vector(arm))])
        }
        What::Stack => {
            debug_assert!(mode == Mode::Write);
            Data::Stack(reals(2))
        }
    }
}
