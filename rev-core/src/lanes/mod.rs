//! Several iterations at once: what the body of a parallel loop computes with when [`WIDTH`]
//! iterations run side by side, one in each lane.
//!
//! * A [`Pack`] holds one value for each lane; [`Laned`] says how values of a type are kept, and every
//!   type of value and of shadow is `Laned`. A condition is a bit mask.
//! * Each row of the table of pure functions is a function here too, under the row's name, on packs:
//!   [`add`], [`exp`], …. In each lane it has the bits that the function of [`crate::scalar::rt`] gives.
//! * [`update`] and [`instr`] change places, in the lanes that a [`Mask`] names.
//! * An [`Isa`] is a token for an instruction set that the processor has. Functions take it first;
//!   everything is inlined, so that the code ends up in the caller's `#[target_feature]` function.
//!
//! Nothing here relies on the compiler to find vectors: floats and 32- and 64-bit integers are computed
//! by the processor's vector instructions ([`Registers`]), the elementary functions by [`crate::math`] on
//! registers, arrays, tuples, structs and complex numbers part by part, and the rest lane by lane.

mod compound;
mod each;
mod elementary;
pub mod instr;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod intrinsics;
mod isa;
mod layout;
mod level;
mod linear;
mod make;
mod mask;
mod native;
#[cfg(target_arch = "aarch64")]
mod neon;
mod number;
mod pack;
mod registers;
mod rows;
mod shadow;
mod sum;
pub mod update;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use compound::{ComplexParts, InParts};
pub use each::{Each, Uniform};
pub use elementary::{Elementary, Special};
pub use isa::{Isa, Portable};
pub use layout::Layout;
pub use level::Level;
pub use linear::{minus, negated, plus, LinearRows};
pub use make::*;
pub use mask::{any, assign, first, select, unlike, All, Group, Mask};
#[cfg(target_arch = "aarch64")]
pub use neon::Neon;
pub use number::{cast, cast_shadow, Numbers};
pub(crate) use pack::collect;
pub use pack::{astray, broadcast, get, set, splat, zero_like, zero_shadow, Laned, Pack};
pub use registers::Registers;
pub use rows::*;
pub use shadow::*;
pub use sum::{parity, sum, sum_product};
pub use vector::Vector;
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};

/// How many lanes a pack has.
pub const WIDTH: usize = 32;

/// How many of them run where a loop keeps more than the registers hold ([`Isa::LANES`]).
pub const NARROW: usize = WIDTH / 2;

/// A bit for each lane, the lowest for lane 0.
pub type LaneMask = u32;
const _: () = assert!(LaneMask::BITS as usize == WIDTH);
