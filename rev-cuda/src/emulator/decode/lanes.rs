//! Scalar definitions made into functions over the lanes of a warp.

/// A type whose values live in the low bits of a register.
pub(crate) trait Word: Copy {
    /// The value in a register's low bits.
    fn get(bits: u64) -> Self;

    /// The bits, zero-extended.
    fn put(self) -> u64;
}

macro_rules! integer_words {
    ($($ty:ty as $unsigned:ty),*) => {$(
        impl Word for $ty {
            #[inline(always)]
            fn get(bits: u64) -> $ty {
                bits as $ty
            }

            #[inline(always)]
            fn put(self) -> u64 {
                self as $unsigned as u64
            }
        }
    )*};
}

integer_words!(u8 as u8, i8 as u8, u16 as u16, i16 as u16, u32 as u32, i32 as u32, u64 as u64, i64 as u64);

impl Word for f32 {
    #[inline(always)]
    fn get(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }

    /// NaN results of `f32` operations are canonical (the manual's section on floating point).
    #[inline(always)]
    fn put(self) -> u64 {
        if self.is_nan() {
            0x7fff_ffff
        } else {
            self.to_bits().into()
        }
    }
}

impl Word for f64 {
    #[inline(always)]
    fn get(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    #[inline(always)]
    fn put(self) -> u64 {
        self.to_bits()
    }
}

impl Word for bool {
    #[inline(always)]
    fn get(bits: u64) -> bool {
        bits != 0
    }

    #[inline(always)]
    fn put(self) -> u64 {
        self.into()
    }
}

/// Comparisons that `f32` and `f64` lack.
pub(crate) trait Float: Word + PartialOrd {
    /// `a < b` where `-0 < +0`.
    fn below(self, other: Self) -> bool;

    /// Whether one of them is NaN.
    fn unordered(self, other: Self) -> bool;
}

macro_rules! float_words {
    ($($ty:ty),*) => {$(
        impl Float for $ty {
            fn below(self, other: $ty) -> bool {
                self < other || (self == other && self.is_sign_negative() && other.is_sign_positive())
            }

            fn unordered(self, other: $ty) -> bool {
                self.is_nan() || other.is_nan()
            }
        }
    )*};
}

float_words!(f32, f64);

/// `lanes!(T, |a, b, c| result)`: an [`Alu`](crate::emulator::code::Alu) from a scalar definition on
/// operands of type `T`.
macro_rules! lanes {
    ($t:ty, |$a:pat_param, $b:pat_param, $c:pat_param| $e:expr) => {{
        use $crate::emulator::code::{each_lane, Alu, Row};
        #[allow(unused_imports)]
        use $crate::emulator::decode::lanes::Word;
        let f: Alu = |mask: u32, x: &Row, y: &Row, z: &Row, out: &mut Row| {
            each_lane(mask, |lane| {
                let ($a, $b, $c) = (<$t>::get(x[lane]), <$t>::get(y[lane]), <$t>::get(z[lane]));
                out[lane] = Word::put($e);
            });
        };
        f
    }};
}

/// `test!(T, |a, b| condition)`: a [`Test`](crate::emulator::code::Test) likewise.
macro_rules! test {
    ($t:ty, |$a:pat_param, $b:pat_param| $e:expr) => {{
        use $crate::emulator::code::{each_lane, Row, Test};
        #[allow(unused_imports)]
        use $crate::emulator::decode::lanes::Word;
        let f: Test = |mask: u32, x: &Row, y: &Row| {
            let mut found = 0;
            each_lane(mask, |lane| {
                let ($a, $b) = (<$t>::get(x[lane]), <$t>::get(y[lane]));
                found |= u32::from($e) << lane;
            });
            found
        };
        f
    }};
}

/// `for_types!(ty, T in [u32 i32 f64], expression of T)`: the expression for the Rust type that
/// stands for a PTX type, if it is in the list.
macro_rules! for_types {
    ($ty:expr, $T:ident in [$($rust:tt)*], $e:expr) => {{
        let ty: $crate::emulator::syntax::Type = $ty;
        for_types!(@ ty, $T, $e, $($rust)*)
    }};
    (@ $ty:ident, $T:ident, $e:expr, $($rust:tt)*) => {
        $(if $ty == $crate::emulator::decode::lanes::named(stringify!($rust)) {
            type $T = $rust;
            Some($e)
        } else)* {
            None
        }
    };
}

pub(crate) use {for_types, lanes, test};

/// The PTX type of a Rust type.
pub(crate) fn named(rust: &str) -> crate::emulator::syntax::Type {
    use crate::emulator::syntax::{Class, Type};
    let (class, bits) = match rust {
        "u8" => (Class::Unsigned, 8),
        "u16" => (Class::Unsigned, 16),
        "u32" => (Class::Unsigned, 32),
        "u64" => (Class::Unsigned, 64),
        "i8" => (Class::Signed, 8),
        "i16" => (Class::Signed, 16),
        "i32" => (Class::Signed, 32),
        "i64" => (Class::Signed, 64),
        "f32" => (Class::Float, 32),
        _ => (Class::Float, 64),
    };
    Type { class, bits }
}
