//! The machine that computes with the CPU's scalars.

use super::machine::{Convert, Machine};
use super::numbers::{Numbers, DOUBLE, SINGLE};
use std::marker::PhantomData;

/// The CPU's scalars of type `T`, `f64` or `f32`.
///
/// The fused multiply-add is [`f64::mul_add`], which is correctly rounded everywhere: one instruction
/// where the target (or the `target_feature` of the function that this is inlined in) has it, and a
/// call of the C library elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Native<T>(PhantomData<T>);

impl<T> Native<T> {
    /// The machine; it has no state.
    #[cfg_attr(optimized, inline(always))]
    pub fn new() -> Self {
        Native(PhantomData)
    }
}

macro_rules! native {
    ($f:ident $i:ident $u:ident $wide:ident $numbers:ident) => {
        impl Machine for Native<$f> {
            type F = $f;
            type I = $i;
            type M = bool;
            const NUMBERS: &'static Numbers = &$numbers;

            #[cfg_attr(optimized, inline(always))]
            fn float(&mut self, c: f64) -> $f {
                c as $f
            }
            #[cfg_attr(optimized, inline(always))]
            fn int(&mut self, c: i64) -> $i {
                c as $i
            }
            #[cfg_attr(optimized, inline(always))]
            fn add(&mut self, a: &$f, b: &$f) -> $f {
                a + b
            }
            #[cfg_attr(optimized, inline(always))]
            fn sub(&mut self, a: &$f, b: &$f) -> $f {
                a - b
            }
            #[cfg_attr(optimized, inline(always))]
            fn mul(&mut self, a: &$f, b: &$f) -> $f {
                a * b
            }
            #[cfg_attr(optimized, inline(always))]
            fn div(&mut self, a: &$f, b: &$f) -> $f {
                a / b
            }
            #[cfg_attr(optimized, inline(always))]
            fn fma(&mut self, a: &$f, b: &$f, c: &$f) -> $f {
                a.mul_add(*b, *c)
            }
            #[cfg_attr(optimized, inline(always))]
            fn sqrt(&mut self, a: &$f) -> $f {
                a.sqrt()
            }
            #[cfg_attr(optimized, inline(always))]
            fn neg(&mut self, a: &$f) -> $f {
                -a
            }
            #[cfg_attr(optimized, inline(always))]
            fn abs(&mut self, a: &$f) -> $f {
                a.abs()
            }
            #[cfg_attr(optimized, inline(always))]
            fn copysign(&mut self, a: &$f, b: &$f) -> $f {
                a.copysign(*b)
            }
            #[cfg_attr(optimized, inline(always))]
            fn lt(&mut self, a: &$f, b: &$f) -> bool {
                a < b
            }
            #[cfg_attr(optimized, inline(always))]
            fn le(&mut self, a: &$f, b: &$f) -> bool {
                a <= b
            }
            #[cfg_attr(optimized, inline(always))]
            fn eq(&mut self, a: &$f, b: &$f) -> bool {
                a == b
            }
            #[cfg_attr(optimized, inline(always))]
            fn int_lt(&mut self, a: &$i, b: &$i) -> bool {
                a < b
            }
            #[cfg_attr(optimized, inline(always))]
            fn int_eq(&mut self, a: &$i, b: &$i) -> bool {
                a == b
            }
            #[cfg_attr(optimized, inline(always))]
            fn both(&mut self, a: &bool, b: &bool) -> bool {
                a & b
            }
            #[cfg_attr(optimized, inline(always))]
            fn either(&mut self, a: &bool, b: &bool) -> bool {
                a | b
            }
            #[cfg_attr(optimized, inline(always))]
            fn not(&mut self, a: &bool) -> bool {
                !a
            }
            #[cfg_attr(optimized, inline(always))]
            fn select(&mut self, c: &bool, a: &$f, b: &$f) -> $f {
                if *c {
                    *a
                } else {
                    *b
                }
            }
            #[cfg_attr(optimized, inline(always))]
            fn select_int(&mut self, c: &bool, a: &$i, b: &$i) -> $i {
                if *c {
                    *a
                } else {
                    *b
                }
            }
            #[cfg_attr(optimized, inline(always))]
            fn to_bits(&mut self, a: &$f) -> $i {
                a.to_bits() as $i
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_bits(&mut self, a: &$i) -> $f {
                $f::from_bits(*a as $u)
            }
            #[cfg_attr(optimized, inline(always))]
            fn int_add(&mut self, a: &$i, b: &$i) -> $i {
                a.wrapping_add(*b)
            }
            #[cfg_attr(optimized, inline(always))]
            fn int_sub(&mut self, a: &$i, b: &$i) -> $i {
                a.wrapping_sub(*b)
            }
            #[cfg_attr(optimized, inline(always))]
            fn int_mul(&mut self, a: &$i, b: &$i) -> $i {
                a.wrapping_mul(*b)
            }
            #[cfg_attr(optimized, inline(always))]
            fn int_mul_high(&mut self, a: &$i, b: &$i) -> $i {
                let product = $wide::from(*a as $u) * $wide::from(*b as $u);
                (product >> $u::BITS) as $i
            }
            #[cfg_attr(optimized, inline(always))]
            fn and(&mut self, a: &$i, b: &$i) -> $i {
                a & b
            }
            #[cfg_attr(optimized, inline(always))]
            fn or(&mut self, a: &$i, b: &$i) -> $i {
                a | b
            }
            #[cfg_attr(optimized, inline(always))]
            fn xor(&mut self, a: &$i, b: &$i) -> $i {
                a ^ b
            }
            #[cfg_attr(optimized, inline(always))]
            fn shl(&mut self, a: &$i, n: u32) -> $i {
                a.wrapping_shl(n)
            }
            #[cfg_attr(optimized, inline(always))]
            fn shr(&mut self, a: &$i, n: u32) -> $i {
                (*a as $u).wrapping_shr(n) as $i
            }
            #[cfg_attr(optimized, inline(always))]
            fn sar(&mut self, a: &$i, n: u32) -> $i {
                a.wrapping_shr(n)
            }
            #[cfg_attr(optimized, inline(always))]
            fn shl_by(&mut self, a: &$i, n: &$i) -> $i {
                a.wrapping_shl(*n as u32)
            }
            #[cfg_attr(optimized, inline(always))]
            fn shr_by(&mut self, a: &$i, n: &$i) -> $i {
                (*a as $u).wrapping_shr(*n as u32) as $i
            }
            #[cfg_attr(optimized, inline(always))]
            fn lookup(&mut self, table: &'static [u64], index: &$i) -> $i {
                table.get(*index as usize).copied().unwrap_or(0) as $i
            }
            #[cfg_attr(optimized, inline(always))]
            fn rarely<const N: usize>(
                &mut self,
                condition: &bool,
                fast: [$f; N],
                slow: impl FnOnce(&mut Self) -> [$f; N],
            ) -> [$f; N] {
                if *condition {
                    slow(self)
                } else {
                    fast
                }
            }
        }
    };
}
native!(f64 i64 u64 u128 DOUBLE);
native!(f32 i32 u32 u64 SINGLE);

impl Convert for Native<f64> {
    type Narrow = f32;
    #[cfg_attr(optimized, inline(always))]
    fn widen(&mut self, a: &f32) -> f64 {
        f64::from(*a)
    }
    #[cfg_attr(optimized, inline(always))]
    fn narrow(&mut self, a: &f64) -> f32 {
        *a as f32
    }
}
