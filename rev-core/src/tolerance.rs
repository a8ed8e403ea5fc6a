//! How far a value may be from what it should be, and the options of a run.
//!
//! A check compares what was found with what was expected. Integers, `bool` and fixed point have to
//! agree exactly. Floating-point numbers may be off by rounding, and a check has to tell rounding
//! from a mistake: where the largest magnitude is known that the variable held since it was
//! allocated, the difference may be `relative` times that; where it isn't, the difference may be
//! `absolute`, or `relative` times the larger of the two values. NaN never passes.

use crate::lanes::Level;

/// How far a floating-point value may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The difference that is allowed where no magnitude is known.
    pub absolute: f64,
    /// The difference that is allowed, as a fraction of the magnitude.
    pub relative: f64,
}

impl Tolerance {
    /// The default for `f64`: 1e-8, about the root of the rounding unit.
    pub const F64: Tolerance = Tolerance { absolute: 1e-8, relative: 1e-8 };
    /// The default for `f32`: 1e-3.
    pub const F32: Tolerance = Tolerance { absolute: 1e-3, relative: 1e-3 };
    /// The default for `f16`: 3e-2.
    pub const F16: Tolerance = Tolerance { absolute: 3e-2, relative: 3e-2 };
    /// The default for `bf16`: 0.1.
    pub const BF16: Tolerance = Tolerance { absolute: 0.1, relative: 0.1 };
    /// No difference at all.
    pub const EXACT: Tolerance = Tolerance { absolute: 0.0, relative: 0.0 };

    /// The difference that is allowed from `expected`.
    #[inline]
    pub fn limit(&self, found: f64, expected: f64, held: Option<f64>) -> f64 {
        match held {
            Some(magnitude) if magnitude.is_finite() => self.relative * magnitude.max(expected.abs()),
            _ => self.absolute.max(self.relative * expected.abs().max(found.abs())),
        }
    }

    /// Whether `found` may stand for `expected`. Equal values pass, equal infinities too; a NaN on
    /// either side, or an infinity where a number was expected, never does.
    #[inline]
    pub fn admits(&self, found: f64, expected: f64, held: Option<f64>) -> bool {
        if found == expected {
            return true;
        }
        let difference = (found - expected).abs();
        difference.is_finite() && difference <= self.limit(found, expected, held)
    }
}

/// The tolerance of each floating-point type; complex numbers are compared part by part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// For `f16`.
    pub f16: Tolerance,
    /// For `bf16`.
    pub bf16: Tolerance,
    /// For `f32`.
    pub f32: Tolerance,
    /// For `f64`.
    pub f64: Tolerance,
}

impl Default for Tolerances {
    fn default() -> Self {
        Tolerances { f16: Tolerance::F16, bf16: Tolerance::BF16, f32: Tolerance::F32, f64: Tolerance::F64 }
    }
}

impl Tolerances {
    /// No difference allowed in any type.
    pub const EXACT: Tolerances = Tolerances {
        f16: Tolerance::EXACT,
        bf16: Tolerance::EXACT,
        f32: Tolerance::EXACT,
        f64: Tolerance::EXACT,
    };
}

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Whether reversibility checks are made, where the program doesn't say otherwise.
    pub checks: bool,
    /// How far a checked value may be off.
    pub tolerances: Tolerances,
    /// How many threads parallel loops use, the calling one included. `None` for as many as rayon has for the calling
    /// thread: those of the pool that it belongs to, else one per processor or `RAYON_NUM_THREADS`.
    pub threads: Option<usize>,
    /// Whether sums of parallel loops are added up in an order that doesn't depend on the number of
    /// threads or the device ([`crate::tree`]).
    pub deterministic: bool,
    /// The work, in operations, from which on a parallel loop is worth several threads.
    pub parallel_from: usize,
    /// Whether several iterations of a parallel loop run at once on the processor's vectors.
    pub lanes: Lanes,
    /// How many calls of recursive functions ([`crate::facts::recursive`]) may be inside each other, on the CPU and on
    /// the interpreter; at least one. One more is an error.
    pub depth: usize,
}

/// The vectors that parallel loops run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lanes {
    /// None: one iteration after the other.
    Off,
    /// The best instruction set that the processor has.
    #[default]
    Best,
    /// This one; none where the processor lacks it.
    Only(Level),
}

impl Default for Options {
    fn default() -> Self {
        Options {
            checks: true,
            tolerances: Tolerances::default(),
            threads: None,
            deterministic: false,
            parallel_from: 1 << 13,
            lanes: Lanes::default(),
            depth: 100_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_never_passes() {
        for (a, b) in [(f64::NAN, 0.0), (0.0, f64::NAN), (f64::NAN, f64::NAN), (f64::INFINITY, 0.0)] {
            for held in [None, Some(1e300), Some(f64::INFINITY), Some(f64::NAN)] {
                assert!(!Tolerance::F64.admits(a, b, held), "{a} {b} {held:?}");
            }
        }
        assert!(!Tolerance::F64.admits(1.0, 0.0, Some(f64::NAN)));
        assert!(!Tolerance::F64.admits(1.0, 0.0, Some(f64::INFINITY)));
    }

    #[test]
    fn relative_to_what_was_held() {
        assert!(Tolerance::F64.admits(1.0, 0.0, Some(1e10)));
        assert!(!Tolerance::F64.admits(1e-9, 0.0, Some(1e-3)));
        assert!(Tolerance::F64.admits(1e-9, 0.0, None));
        assert!(Tolerance::F64.admits(1e10 + 1.0, 1e10, None));
        assert!(!Tolerance::EXACT.admits(1e-300, 0.0, Some(1.0)));
        assert!(Tolerance::EXACT.admits(f64::INFINITY, f64::INFINITY, None));
    }
}
