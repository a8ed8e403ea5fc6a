//! Instruction sets.

use super::{Elementary, LaneMask, Level, Special, Vector, WIDTH};
use crate::math::Native;
use std::fmt::Debug;

/// The token of an instruction set: whoever has one knows that the processor has the instructions.
///
/// The conversions have bodies that go lane by lane.
pub trait Isa: Copy + Debug + Send + Sync + 'static {
    /// Its name.
    const NAME: &'static str;
    /// Which it is.
    const LEVEL: Level;
    /// How many of a pack's lanes run: the first ones. The others hold values that nobody looks at.
    const LANES: usize;
    /// A bit for each lane that runs.
    const ALL: LaneMask = LaneMask::MAX >> (WIDTH - Self::LANES);
    /// Registers of `f64` and 64-bit integers.
    type Double: Special + Elementary<Float = f64, Int = i64> + Copy;
    /// Registers of `f32` and 32-bit integers.
    type Single: Elementary<Float = f32, Int = i32> + Copy;

    /// The machine of `f64` and 64-bit integers.
    fn double(self) -> Self::Double;
    /// The machine of `f32` and 32-bit integers.
    fn single(self) -> Self::Single;
    /// Runs a small closure in a function that is compiled for the instruction set, and is then inlined. Where every processor has the
    /// instructions, there is nothing to be compiled for.
    #[cfg_attr(optimized, inline(always))]
    fn near<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }
    /// Runs a closure in a function of its own. What is inlined into it is compiled for the instruction set.
    fn apart<R>(self, body: impl FnOnce() -> R) -> R;

    /// `a as f64`
    #[cfg_attr(optimized, inline(always))]
    fn single_to_double(self, a: &Vector<f32>) -> Vector<f64> {
        Vector(a.0.map(f64::from))
    }
    /// `a as f32`
    #[cfg_attr(optimized, inline(always))]
    fn double_to_single(self, a: &Vector<f64>) -> Vector<f32> {
        Vector(a.0.map(|v| v as f32))
    }
    /// `a as f64`
    #[cfg_attr(optimized, inline(always))]
    fn long_to_double(self, a: &Vector<i64>) -> Vector<f64> {
        Vector(a.0.map(|v| v as f64))
    }
    /// `a as f64`
    #[cfg_attr(optimized, inline(always))]
    fn unsigned_to_double(self, a: &Vector<u64>) -> Vector<f64> {
        Vector(a.0.map(|v| v as f64))
    }
    /// `a as f32`
    #[cfg_attr(optimized, inline(always))]
    fn long_to_single(self, a: &Vector<i64>) -> Vector<f32> {
        Vector(a.0.map(|v| v as f32))
    }
    /// `a as f32`
    #[cfg_attr(optimized, inline(always))]
    fn unsigned_to_single(self, a: &Vector<u64>) -> Vector<f32> {
        Vector(a.0.map(|v| v as f32))
    }
    /// `a as i64`
    #[cfg_attr(optimized, inline(always))]
    fn double_to_long(self, a: &Vector<f64>) -> Vector<i64> {
        Vector(a.0.map(|v| v as i64))
    }
    /// `a as u64`
    #[cfg_attr(optimized, inline(always))]
    fn double_to_unsigned(self, a: &Vector<f64>) -> Vector<u64> {
        Vector(a.0.map(|v| v as u64))
    }
    /// `a as i64`
    #[cfg_attr(optimized, inline(always))]
    fn int_to_long(self, a: &Vector<i32>) -> Vector<i64> {
        Vector(a.0.map(i64::from))
    }
    /// `a as u64`
    #[cfg_attr(optimized, inline(always))]
    fn unsigned_to_long(self, a: &Vector<u32>) -> Vector<u64> {
        Vector(a.0.map(u64::from))
    }
    /// The lower halves.
    #[cfg_attr(optimized, inline(always))]
    fn long_to_int(self, a: &Vector<i64>) -> Vector<i32> {
        Vector(a.0.map(|v| v as i32))
    }
}

/// Scalars: on every processor.
#[derive(Clone, Copy, Debug)]
pub struct Portable<const LANES: usize = WIDTH>;

impl<const LANES: usize> Isa for Portable<LANES> {
    const NAME: &'static str = "portable";
    const LEVEL: Level = Level::Portable;
    const LANES: usize = LANES;
    type Double = Native<f64>;
    type Single = Native<f32>;

    #[cfg_attr(optimized, inline(always))]
    fn double(self) -> Native<f64> {
        Native::new()
    }
    #[cfg_attr(optimized, inline(always))]
    fn single(self) -> Native<f32> {
        Native::new()
    }
    #[inline(never)]
    fn apart<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }
}
