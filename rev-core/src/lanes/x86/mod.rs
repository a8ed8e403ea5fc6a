//! The vector registers of x86-64.
//!
//! Every machine and every conversion here belongs to a token ([`Avx512`], [`Avx2`]), which can only be
//! had where the processor has the instructions; that is why the calls of intrinsics are safe.

mod avx2;
mod avx512;
mod convert;

use super::intrinsics::in_registers;
use super::WIDTH;
pub use avx2::{Double256, Single256};
pub use avx512::{Double512, Single512};
use std::arch::x86_64::*;

/// A token, and the machines of both widths that it is the proof for.
macro_rules! isa {
    ($(#[$doc:meta])* $isa:ident $name:literal [$($feature:tt)*] $double:ident $single:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $isa<const LANES: usize = WIDTH>(());

        impl<const LANES: usize> $isa<LANES> {
            /// The token, if the processor has the instructions.
            #[inline]
            pub fn detect() -> Option<Self> {
                let present = true $(&& std::arch::is_x86_feature_detected!($feature))*;
                present.then_some($isa(()))
            }
        }

        impl<const LANES: usize> super::Isa for $isa<LANES> {
            const NAME: &'static str = $name;
            const LEVEL: super::Level = super::Level::$isa;
            const LANES: usize = LANES;
            type Double = $double;
            type Single = $single;

            #[cfg_attr(optimized, inline(always))]
            fn double(self) -> $double {
                $double($isa(()))
            }
            #[cfg_attr(optimized, inline(always))]
            fn single(self) -> $single {
                $single($isa(()))
            }
            #[cfg_attr(optimized, inline(always))]
            fn near<R>(self, body: impl FnOnce() -> R) -> R {
                #[inline]
                $(#[target_feature(enable = $feature)])*
                fn inside<R>(body: impl FnOnce() -> R) -> R {
                    body()
                }
                // SAFETY: there is a token only where the processor has the instructions.
                unsafe { inside(body) }
            }
            #[cfg_attr(optimized, inline(always))]
            fn apart<R>(self, body: impl FnOnce() -> R) -> R {
                #[inline(never)]
                $(#[target_feature(enable = $feature)])*
                fn inside<R>(body: impl FnOnce() -> R) -> R {
                    body()
                }
                // SAFETY: there is a token only where the processor has the instructions.
                unsafe { inside(body) }
            }
            convert::conversions!($isa);
        }
    };
}
isa! {
    /// AVX-512 with the extensions F, BW, DQ and VL, and FMA.
    Avx512 "AVX-512" ["avx512f" "avx512bw" "avx512dq" "avx512vl" "fma"] Double512 Single512
}
isa! {
    /// AVX2 and FMA.
    Avx2 "AVX2" ["avx2" "fma"] Double256 Single256
}

/// Constants and shifts by the same number everywhere.
macro_rules! by_number {
    ($(float $set:ident $f:ident;)? $(int $set_int:ident $i:ident;)? $(shift $name:ident $intrinsic:ident;)*) => {
        $(
        #[cfg_attr(optimized, inline(always))]
        fn float(&mut self, c: f64) -> Self::F {
            // SAFETY: the token says that the processor has the instruction.
            unsafe { $set(c as $f) }
        })?
        $(#[cfg_attr(optimized, inline(always))]
        fn int(&mut self, c: i64) -> Self::I {
            // SAFETY: the token says that the processor has the instruction.
            unsafe { $set_int(c as $i) }
        })?
        $(#[cfg_attr(optimized, inline(always))]
        fn $name(&mut self, a: &Self::I, n: u32) -> Self::I {
            // SAFETY: the token says that the processor has the instruction.
            unsafe { $intrinsic(*a, _mm_cvtsi32_si128(n as i32)) }
        })*
    };
}
use by_number;

/// `table[index]` by a gathering load, the indices kept within the table.
macro_rules! gathering {
    ($table:ident, $index:ident => $gather:expr) => {
        #[cfg_attr(optimized, inline(always))]
        fn lookup(&mut self, table: &'static [u64], index: &Self::I) -> Self::I {
            let zero = self.int(0);
            let last = self.int(table.len() as i64 - 1);
            let over = self.int_lt(&last, index);
            let index = self.select_int(&over, &last, index);
            let below = self.int_lt(&index, &zero);
            let $index = self.select_int(&below, &zero, &index);
            let $table = table.as_ptr();
            assert!(!table.is_empty());
            // SAFETY: the token says that the processor has the instruction; the indices are in range.
            unsafe { $gather }
        }
    };
}
use gathering;
