//! The vector registers of x86-64.
//!
//! Every machine and every conversion here belongs to a token ([`Avx512`], [`Avx2`]), which can only be
//! had where the processor has the instructions; that is why the calls of intrinsics are safe.

mod avx2;
mod avx512;
mod convert;

use super::Vector;
pub use avx2::{Double256, Single256};
pub use avx512::{Double512, Single512};
use std::arch::x86_64::*;

/// A token, and the machines of both widths that it is the proof for.
macro_rules! isa {
    ($(#[$doc:meta])* $isa:ident $name:literal [$($feature:tt)*] $double:ident $single:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $isa(());

        impl $isa {
            /// The token, if the processor has the instructions.
            #[inline]
            pub fn detect() -> Option<Self> {
                let present = true $(&& std::arch::is_x86_feature_detected!($feature))*;
                present.then_some($isa(()))
            }
        }

        impl super::Isa for $isa {
            const NAME: &'static str = $name;
            const LEVEL: super::Level = super::Level::$isa;
            type Double = $double;
            type Single = $single;

            #[inline(always)]
            fn double(self) -> $double {
                $double(self)
            }
            #[inline(always)]
            fn single(self) -> $single {
                $single(self)
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

/// Operations that are one intrinsic.
macro_rules! by_intrinsic {
    ($($name:ident($($arg:ident: $t:ident),*) -> $result:ident = $intrinsic:expr;)*) => {$(
        #[inline(always)]
        fn $name(&mut self, $($arg: &Self::$t),*) -> Self::$result {
            // SAFETY: the token says that the processor has the instruction.
            unsafe { ($intrinsic)($(*$arg),*) }
        }
    )*};
}
use by_intrinsic;

/// Operations that are a few.
macro_rules! by_intrinsics {
    ($($name:ident($($arg:ident: $t:ident),*) -> $result:ident = $value:expr;)*) => {$(
        #[inline(always)]
        #[allow(unused_unsafe)] // masks are integers
        fn $name(&mut self, $($arg: &Self::$t),*) -> Self::$result {
            $(let $arg = *$arg;)*
            // SAFETY: the token says that the processor has the instructions.
            unsafe { $value }
        }
    )*};
}
use by_intrinsics;

/// Constants and shifts by the same number everywhere.
macro_rules! by_number {
    ($(float $set:ident $f:ident;)? $(int $set_int:ident $i:ident;)? $(shift $name:ident $intrinsic:ident;)*) => {
        $(
        #[inline(always)]
        fn float(&mut self, c: f64) -> Self::F {
            // SAFETY: the token says that the processor has the instruction.
            unsafe { $set(c as $f) }
        })?
        $(#[inline(always)]
        fn int(&mut self, c: i64) -> Self::I {
            // SAFETY: the token says that the processor has the instruction.
            unsafe { $set_int(c as $i) }
        })?
        $(#[inline(always)]
        fn $name(&mut self, a: &Self::I, n: u32) -> Self::I {
            // SAFETY: the token says that the processor has the instruction.
            unsafe { $intrinsic(*a, _mm_cvtsi32_si128(n as i32)) }
        })*
    };
}
use by_number;

/// [`Machine::rarely`](crate::math::machine::Machine::rarely) that branches, to code that is kept apart.
macro_rules! branching {
    ($features:literal |$condition:ident| $nowhere:expr) => {
        #[inline(always)]
        #[allow(unused_unsafe)] // masks are integers
        fn rarely<const N: usize>(
            &mut self,
            condition: &Self::M,
            fast: [Self::F; N],
            slow: impl FnOnce(&mut Self) -> [Self::F; N],
        ) -> [Self::F; N] {
            #[cold]
            #[inline(never)]
            #[target_feature(enable = $features)]
            fn apart<A: Machine, const N: usize>(
                m: &mut A,
                slow: impl FnOnce(&mut A) -> [A::F; N],
            ) -> [A::F; N] {
                slow(m)
            }
            let $condition = *condition;
            // SAFETY: the token says that the processor has the instructions.
            if unsafe { $nowhere } {
                return fast;
            }
            // SAFETY: likewise.
            let mut result = unsafe { apart(self, slow) };
            for k in 0..N {
                result[k] = self.select(condition, &result[k], &fast[k]);
            }
            result
        }
    };
}
use branching;

/// How a vector is cut into registers of so many lanes.
macro_rules! cut {
    ($lanes:literal $f:ident $i:ident; $load:ident $store:ident $load_int:ident $store_int:ident) => {
        type Float = $f;
        type Int = $i;
        const CHUNKS: usize = WIDTH / $lanes;

        #[inline(always)]
        fn load(&mut self, from: &Vector<$f>, chunk: usize) -> Self::F {
            assert!(chunk < Self::CHUNKS);
            // SAFETY: the token says that the processor has the instruction; the chunk is in the vector.
            unsafe { $load(from.0.as_ptr().add(chunk * $lanes).cast()) }
        }
        #[inline(always)]
        fn store(&mut self, v: &Self::F, to: &mut Vector<$f>, chunk: usize) {
            assert!(chunk < Self::CHUNKS);
            // SAFETY: the token says that the processor has the instruction; the chunk is in the vector.
            unsafe { $store(to.0.as_mut_ptr().add(chunk * $lanes).cast(), *v) }
        }
        #[inline(always)]
        fn load_int(&mut self, from: &Vector<$i>, chunk: usize) -> Self::I {
            assert!(chunk < Self::CHUNKS);
            // SAFETY: the token says that the processor has the instruction; the chunk is in the vector.
            unsafe { $load_int(from.0.as_ptr().add(chunk * $lanes).cast()) }
        }
        #[inline(always)]
        fn store_int(&mut self, v: &Self::I, to: &mut Vector<$i>, chunk: usize) {
            assert!(chunk < Self::CHUNKS);
            // SAFETY: the token says that the processor has the instruction; the chunk is in the vector.
            unsafe { $store_int(to.0.as_mut_ptr().add(chunk * $lanes).cast(), *v) }
        }
    };
}
use cut;

/// The sum of the registers of a vector, of which there are at most eight: the upper half added to the
/// lower until one is left.
#[inline(always)]
fn folded<R: super::Registers>(m: &mut R, v: &Vector<R::Float>) -> R::F {
    const { assert!(R::CHUNKS <= 8) };
    macro_rules! sum {
        ($a:expr, $b:expr) => {{
            let (a, b) = ($a, $b);
            m.add(&a, &b)
        }};
    }
    macro_rules! at {
        ($a:literal $b:literal) => {
            sum!(m.load(v, $a), m.load(v, $b))
        };
    }
    match const { R::CHUNKS } {
        1 => m.load(v, 0),
        2 => at!(0 1),
        4 => sum!(at!(0 2), at!(1 3)),
        _ => sum!(sum!(at!(0 4), at!(2 6)), sum!(at!(1 5), at!(3 7))),
    }
}

/// The sum of the products of two vectors' registers, one after the other.
#[inline(always)]
fn folded_product<R: super::Registers>(m: &mut R, a: &Vector<R::Float>, b: &Vector<R::Float>) -> R::F {
    let (x, y) = (m.load(a, 0), m.load(b, 0));
    let mut sum = m.mul(&x, &y);
    for chunk in 1..R::CHUNKS {
        let (x, y) = (m.load(a, chunk), m.load(b, chunk));
        sum = m.fma(&x, &y, &sum);
    }
    sum
}

/// `table[index]` by a gathering load, the indices kept within the table.
macro_rules! gathering {
    ($table:ident, $index:ident => $gather:expr) => {
        #[inline(always)]
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
