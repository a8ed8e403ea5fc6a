//! The built-in scalar types: one table of those that are types of their own, and the formats of fixed-point numbers.
//!
//! `scalar_table!` is the only list of them. What a crate says of each type is made from it (`rev-core`'s values, their
//! dispatch and their bits, `rev-cuda`'s registers), so that a new type is a row here and what is new about it.

use std::borrow::Cow;
use std::fmt;

use super::Class;

/// Calls a macro with `tokens` and all rows: `(Variant name Class bits sign)`, where `sign` is `signed`, `unsigned` or `none`.
#[macro_export]
macro_rules! scalar_table {
    ($callback:ident $(, $($tokens:tt)*)?) => {
        $callback! {
            $($($tokens)*)?
            (Bool bool Scalar 1 none)
            (I8 i8 Integer 8 signed)
            (I16 i16 Integer 16 signed)
            (I32 i32 Integer 32 signed)
            (I64 i64 Integer 64 signed)
            (I128 i128 Integer 128 signed)
            (Isize isize Integer 64 signed)
            (U8 u8 Integer 8 unsigned)
            (U16 u16 Integer 16 unsigned)
            (U32 u32 Integer 32 unsigned)
            (U64 u64 Integer 64 unsigned)
            (U128 u128 Integer 128 unsigned)
            (Usize usize Integer 64 unsigned)
            (F16 f16 Real 16 none)
            (Bf16 bf16 Real 16 none)
            (F32 f32 Real 32 none)
            (F64 f64 Real 64 none)
        }
    };
}

macro_rules! scalar_types {
    ($(($variant:ident $name:ident $class:ident $bits:literal $sign:ident))*) => {
        /// The built-in scalar types. `F16` are the 16 bits of IEEE 754, 11 of them precision, `Bf16` the upper half of an
        /// `f32`, 8 bits of precision; both are computed with in `f32`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum ScalarType {
            $($variant,)*
            /// Fixed point.
            Fixed(FixedFormat),
        }

        impl ScalarType {
            /// Every built-in scalar type but the fixed-point ones, with its Rust name.
            pub const ALL: &'static [(ScalarType, &'static str)] =
                &[$((ScalarType::$variant, stringify!($name))),*];

            /// What the type can do.
            pub fn class(self) -> Class {
                match self {
                    $(ScalarType::$variant => Class::$class,)*
                    ScalarType::Fixed(_) => Class::Real,
                }
            }

            /// How many bits a number has; of sizes those of a 64-bit machine.
            pub fn bits(self) -> u32 {
                match self {
                    $(ScalarType::$variant => $bits,)*
                    ScalarType::Fixed(format) => format.bits(),
                }
            }

            /// Whether it is an integer type, and has negative numbers if so.
            pub fn signed(self) -> Option<bool> {
                match self {
                    $(ScalarType::$variant => scalar_types!(@ $sign),)*
                    ScalarType::Fixed(_) => None,
                }
            }
        }
    };
    (@ signed) => { Some(true) };
    (@ unsigned) => { Some(false) };
    (@ none) => { None };
}
scalar_table!(scalar_types);

impl ScalarType {
    /// The Rust name: a fixed-point type's as `FixedI64<U20>`, that of the default format as `Fixed43`.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            ScalarType::Fixed(format) if format == FixedFormat::DEFAULT => "Fixed43".into(),
            ScalarType::Fixed(format) => format.to_string().into(),
            _ => Self::ALL.iter().find(|(t, _)| *t == self).map_or("", |(_, n)| n).into(),
        }
    }

    /// The type with a Rust name, spelled without spaces; a fixed-point type's is also `I44F20`.
    pub fn from_name(name: &str) -> Option<ScalarType> {
        if name == "Fixed43" {
            return Some(ScalarType::Fixed(FixedFormat::DEFAULT));
        }
        if let Some(format) = FixedFormat::of_alias(name) {
            return Some(ScalarType::Fixed(format));
        }
        if let Some((of, fraction)) = name.strip_suffix('>').and_then(|name| name.split_once('<')) {
            let bits = FixedFormat::bits_of(of)?;
            return FixedFormat::new(bits, FixedFormat::fraction_of(fraction)?).map(ScalarType::Fixed);
        }
        Self::ALL.iter().find(|(_, n)| *n == name).map(|(t, _)| *t)
    }

    /// Whether it is a float: rounded, with infinities and NaN.
    pub fn is_float(self) -> bool {
        matches!(self, ScalarType::F16 | ScalarType::Bf16 | ScalarType::F32 | ScalarType::F64)
    }

    /// Whether it is stored in 16 bits and computed with in `f32`.
    pub fn is_half(self) -> bool {
        matches!(self, ScalarType::F16 | ScalarType::Bf16)
    }

    /// Whether it is a name of Rust itself, which is in scope everywhere.
    pub fn is_primitive(self) -> bool {
        !self.is_half() && !matches!(self, ScalarType::Fixed(_))
    }

    /// Whether every value of this type is one of another type, so that a conversion there and back gives the same.
    pub fn holds_in(self, wider: ScalarType) -> bool {
        match (self.integer_bits(64), wider.integer_bits(32), self.digits(), wider.digits()) {
            _ if self == wider => true,
            _ if self == ScalarType::Bool => wider.signed().is_some(),
            _ if self.is_fixed() || wider.is_fixed() => self.holds_in_fixed(wider),
            (Some((bits, signed)), Some((of, true)), ..) => bits + u32::from(!signed) <= of,
            (Some((bits, false)), Some((of, false)), ..) => bits <= of,
            (Some((bits, signed)), None, _, Some(digits)) => bits - u32::from(signed) <= digits,
            (None, None, Some(digits), Some(of)) => digits < of && wider != ScalarType::F16,
            _ => false,
        }
    }

    /// The same where one of them is a fixed-point type.
    fn holds_in_fixed(self, wider: ScalarType) -> bool {
        let before = |format: FixedFormat| format.bits() - format.fraction();
        match (self, wider) {
            (ScalarType::Fixed(a), ScalarType::Fixed(b)) => {
                a.fraction() <= b.fraction() && before(a) <= before(b)
            }
            (ScalarType::Fixed(a), _) => wider.digits().is_some_and(|digits| a.bits() <= digits + 1),
            (_, ScalarType::Fixed(b)) => {
                self.integer_bits(64).is_some_and(|(bits, signed)| bits + u32::from(!signed) <= before(b))
            }
            _ => false,
        }
    }

    fn is_fixed(self) -> bool {
        matches!(self, ScalarType::Fixed(_))
    }

    /// How many bits a number of an integer type has, those of a size as many as given, and whether it has a sign.
    fn integer_bits(self, of_size: u32) -> Option<(u32, bool)> {
        let bits = match self {
            ScalarType::Usize | ScalarType::Isize => of_size,
            _ => self.bits(),
        };
        self.signed().map(|signed| (bits, signed))
    }

    /// How many binary digits a float has.
    fn digits(self) -> Option<u32> {
        Some(match self {
            ScalarType::F16 => 11,
            ScalarType::Bf16 => 8,
            ScalarType::F32 => 24,
            ScalarType::F64 => 53,
            _ => return None,
        })
    }

    /// The type in which cotangents of numbers of this type are kept: `f32` for the halves, whose
    /// 8 or 11 bits would lose most of a sum's terms; the type itself for the others.
    pub fn cotangent(self) -> ScalarType {
        if self.is_half() {
            ScalarType::F32
        } else {
            self
        }
    }
}

/// How the bits of a fixed-point number are read: as an integer of so many bits, in units of `2^-fraction`.
///
/// The number one is a number of every format, so at least two bits are left before the point: the sign and the one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FixedFormat {
    bits: u8,
    fraction: u8,
}

impl FixedFormat {
    /// That of `Fixed43`: 64 bits, 43 of them behind the point.
    pub const DEFAULT: FixedFormat = FixedFormat { bits: 64, fraction: 43 };

    /// That of no number.
    pub const NONE: FixedFormat = FixedFormat { bits: 0, fraction: 0 };

    /// The format of a type, whose fraction fits its bits.
    pub const fn of_type(bits: u32, fraction: u32) -> FixedFormat {
        match FixedFormat::new(bits, fraction) {
            Some(format) => format,
            None => FixedFormat::NONE,
        }
    }

    /// The format of 32, 64 or 128 bits with so many of them behind the point; `None` where there is none.
    pub const fn new(bits: u32, fraction: u32) -> Option<FixedFormat> {
        match bits {
            32 | 64 | 128 if fraction + 2 <= bits => {
                Some(FixedFormat { bits: bits as u8, fraction: fraction as u8 })
            }
            _ => None,
        }
    }

    /// How many bits a number has: 32, 64 or 128.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.bits as u32
    }

    /// How many of them are behind the point.
    #[inline(always)]
    pub const fn fraction(self) -> u32 {
        self.fraction as u32
    }

    /// How many bits the types of a Rust name have: 64 of `FixedI64`.
    pub fn bits_of(name: &str) -> Option<u32> {
        match name {
            "FixedI32" => Some(32),
            "FixedI64" => Some(64),
            "FixedI128" => Some(128),
            _ => None,
        }
    }

    /// The format of the crate's short names for its types: `I44F20` has 44 bits before the point and 20 behind it.
    fn of_alias(name: &str) -> Option<FixedFormat> {
        let (before, behind) = name.strip_prefix('I')?.split_once('F')?;
        let (before, behind): (u32, u32) = (before.parse().ok()?, behind.parse().ok()?);
        let format = FixedFormat::new(before.checked_add(behind)?, behind)?;
        (name == format!("I{before}F{behind}")).then_some(format)
    }

    /// The number of a Rust name for one, `U20`.
    pub fn fraction_of(name: &str) -> Option<u32> {
        let number: u32 = name.strip_prefix('U')?.parse().ok()?;
        (name == format!("U{number}")).then_some(number)
    }
}

impl fmt::Display for FixedFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FixedI{}<U{}>", self.bits, self.fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let formats = [(32, 0), (32, 30), (64, 43), (64, 62), (128, 100), (128, 126)];
        let fixed = formats.map(|(bits, f)| ScalarType::Fixed(FixedFormat::new(bits, f).unwrap_or_default()));
        for t in ScalarType::ALL.iter().map(|(t, _)| *t).chain(fixed) {
            assert_eq!(ScalarType::from_name(&t.name()), Some(t));
        }
        assert_eq!(ScalarType::from_name("FixedI64<U43>"), ScalarType::from_name("Fixed43"));
        for (short, long) in
            [("I16F16", "FixedI32<U16>"), ("I64F0", "FixedI64<U0>"), ("I28F100", "FixedI128<U100>")]
        {
            assert_eq!(ScalarType::from_name(short), ScalarType::from_name(long));
        }
        for none in [
            "FixedI32<U31>",
            "FixedI64<U063>",
            "FixedI128<U127>",
            "FixedI16<U8>",
            "FixedI32<8>",
            "Fixed",
            "I16F8",
            "I1F31",
            "I016F16",
        ] {
            assert_eq!(ScalarType::from_name(none), None, "{none}");
        }
    }

    #[test]
    fn numbers_of_one_type_that_are_numbers_of_another() {
        let holds = |a: &str, b: &str| {
            ScalarType::from_name(a).zip(ScalarType::from_name(b)).is_some_and(|(a, b)| a.holds_in(b))
        };
        let held = [
            ("I16F16", "I32F32"),
            ("I16F16", "I16F48"),
            ("I16F16", "f64"),
            ("I32F32", "I32F32"),
            ("I32F32", "I64F64"),
            ("i32", "I32F32"),
            ("i16", "I16F16"),
            ("u16", "I17F15"),
            ("i64", "I64F64"),
            ("bool", "u8"),
            ("f16", "f32"),
        ];
        for (a, b) in held {
            assert!(holds(a, b), "{a} {b}");
            assert!(a == b || !holds(b, a), "{b} {a}");
        }
        let others = [
            ("I16F16", "f32"),
            ("I32F32", "f64"),
            ("f32", "I64F64"),
            ("i32", "I16F16"),
            ("u16", "I16F16"),
            ("u32", "I32F32"),
            ("I16F16", "I15F49"),
            ("I64F64", "i64"),
            ("bool", "I16F16"),
            ("usize", "I64F64"),
        ];
        for (a, b) in others {
            assert!(!holds(a, b), "{a} {b}");
        }
        assert!(holds("I16F16", "I48F16") && !holds("I48F16", "I16F16"));
    }

    #[test]
    fn bits_and_signs() {
        assert_eq!((ScalarType::I16.bits(), ScalarType::I16.signed()), (16, Some(true)));
        assert_eq!((ScalarType::Usize.bits(), ScalarType::Usize.signed()), (64, Some(false)));
        assert_eq!((ScalarType::F32.bits(), ScalarType::F32.signed()), (32, None));
        assert_eq!(ScalarType::Bool.signed(), None);
    }
}
