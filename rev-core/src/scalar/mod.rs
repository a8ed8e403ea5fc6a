//! Scalars: what a program can compute with, and the shadows in which gradients are kept.
//!
//! The IR is polymorphic in its scalar types; this folder says what a scalar type has to bring.
//!
//! * The classes of [`ir::Class`](crate::ir::Class) are traits: [`Scalar`] (storage, equality),
//!   [`Ring`] (`+ - *`, wrapping for integers), [`Integer`], [`Field`] (also division and the
//!   holomorphic functions; complex numbers are fields), [`Real`] (also order and the rest).
//! * Every type of value is [`Primal`]: it names the type of its shadow, in which `N` cotangents
//!   are carried side by side. A real scalar's is [`Batch`] (of 16 bits: [`WideBatch`], in `f32`), a
//!   complex one's [`ComplexShadow`], an integer's [`NoShadow`]; an array's is an array of its
//!   elements' shadows, and so on.
//! * Values and shadows can be added to each other and negated element by element: [`Linear`].
//! * [`rt`] has one generic function for each row of the table of pure functions, under the row's
//!   name; [`rt::instr`] one for each instruction. Emitted code calls these and nothing else, so
//!   another implementation of a function is put in at one place.
//!
//! The gradient of a real loss by a complex `z` is `∂L/∂re + i ∂L/∂im`.

#[macro_use]
mod elementary;
mod class;
mod complex;
mod fixed;
mod float;
mod half;
mod integer;
mod linear;
mod number;
mod primal;
pub mod rt;
mod shadow;
mod variants;

pub use ::half::{bf16, f16};
pub use class::{Field, Integer, Real, Ring, Scalar, Zero};
pub use fixed::{
    formats, fraction, Fixed43, FixedI128, FixedI32, FixedI64, FixedPair, FixedPoint, FormatScope,
    Fraction128, Fraction32, Fraction64, I16F16, I32F32, I64F64,
};
pub use half::{Half, WideBatch};
pub use linear::{Accumulator, Linear};
pub use num_complex::Complex;
pub use number::Num;
pub use primal::{Mismatch, Primal};
pub use shadow::{Batch, ComplexShadow, NoShadow};
pub use variants::{held_variant, is_held, PartsMut, Variants, VariantsShadow, PARTS};
