//! A scalar of any built-in type.

use crate::ir::{Class, ScalarType, Type};
use crate::scalar::{bf16, f16, FixedPair, FixedPoint, FormatScope, Num, Primal, Scalar};
use crate::tolerance::Tolerances;
use num_complex::Complex;
use std::fmt;

/// Calls a macro with `[tokens]` and a row `(Variant (type) Class)` for every value but complex fixed-point numbers, whose
/// class is `Complex` for complex ones.
macro_rules! each_value {
    ($callback:ident $($tokens:tt)*) => {
        rev_compiler::scalar_table! { each_value_row, $callback [$($tokens)*] }
    };
}

macro_rules! each_value_row {
    ($callback:ident $tokens:tt $(($variant:ident $t:ident $class:ident $bits:literal $sign:ident))*) => {
        $callback! { $tokens
            $(($variant ($t) $class))*
            (Fixed (FixedPoint) Real)
            (ComplexF16 (Complex<f16>) Complex)
            (ComplexBf16 (Complex<bf16>) Complex)
            (Complex32 (Complex<f32>) Complex)
            (Complex64 (Complex<f64>) Complex)
        }
    };
}
pub(crate) use {each_value, each_value_row};

macro_rules! values {
    ([] $(($variant:ident ($t:ty) $class:ident))*) => {
        /// A scalar of any built-in type.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub enum Value {
            $($variant($t),)*
            ComplexFixed(FixedPair),
        }
    };
}
each_value!(values);

/// `match value { every variant(v) => expr }`, where `expr` may use `v` and its type's methods.
macro_rules! with_scalar {
    ($value:expr, $v:ident => $e:expr) => {{
        let value: $crate::value::Value = $value;
        let _format = value.format_scope();
        each_value!(with_scalar_arms value, $v => $e)
    }};
}

macro_rules! with_scalar_arms {
    ([$value:ident, $v:ident => $e:expr] $(($variant:ident ($t:ty) $class:ident))*) => {
        match $value {
            $($crate::value::Value::$variant($v) => $e,)*
            $crate::value::Value::ComplexFixed(pair) => {
                let $v = pair.get();
                $e
            }
        }
    };
}

/// The bits of a number of a class, and the number of bits.
macro_rules! bits {
    (of Scalar $v:ident) => {
        u128::from($v)
    };
    (of Integer $v:ident) => {
        $v as u128
    };
    (of Real $v:ident) => {
        $v.to_bits() as u128
    };
    (to Scalar $t:ident $bits:ident) => {
        $bits & 1 == 1
    };
    (to Integer $t:ident $bits:ident) => {
        $bits as $t
    };
    (to Real $t:ident $bits:ident) => {
        $t::from_bits($bits as _)
    };
}

macro_rules! of_type {
    ($(($variant:ident $t:ident $class:ident $bits:literal $sign:ident))*) => {
        impl Value {
            /// The bits of a scalar that isn't complex: as many lower ones as its type has, and above them of an integer and a
            /// fixed-point number its sign.
            pub fn to_bits(&self) -> Option<u128> {
                match *self {
                    $(Value::$variant(v) => Some(bits!(of $class v)),)*
                    Value::Fixed(v) => Some(v.to_bits() as u128),
                    _ => None,
                }
            }

            /// The scalar of a type that has these lower bits.
            pub fn from_bits(ty: ScalarType, bits: u128) -> Value {
                match ty {
                    $(ScalarType::$variant => Value::$variant(bits!(to $class $t bits)),)*
                    ScalarType::Fixed(format) => Value::Fixed(FixedPoint::of_bits(bits as i128, format)),
                }
            }

            /// A number as a value of a scalar type that isn't complex.
            fn real_from_num(num: Num, ty: ScalarType) -> Value {
                fn to<T: Scalar>(num: Num) -> Value {
                    T::from_number(num).to_value()
                }
                match ty {
                    $(ScalarType::$variant => to::<$t>(num),)*
                    ScalarType::Fixed(format) => {
                        let _format = FormatScope::of(Some(format));
                        to::<FixedPoint>(num)
                    }
                }
            }
        }
    };
}
rev_compiler::scalar_table!(of_type);

impl Value {
    /// The complex number over two real parts of one type; `None` where they are of other types.
    pub fn complex(re: Value, im: Value) -> Option<Value> {
        match (re, im) {
            (Value::F16(re), Value::F16(im)) => Some(Value::ComplexF16(Complex { re, im })),
            (Value::Bf16(re), Value::Bf16(im)) => Some(Value::ComplexBf16(Complex { re, im })),
            (Value::F32(re), Value::F32(im)) => Some(Value::Complex32(Complex { re, im })),
            (Value::F64(re), Value::F64(im)) => Some(Value::Complex64(Complex { re, im })),
            (Value::Fixed(re), Value::Fixed(im)) => FixedPair::new(re, im).map(Value::ComplexFixed),
            _ => None,
        }
    }

    /// The parts of a complex number, `None` for any other.
    pub fn parts(&self) -> Option<(Value, Value)> {
        match *self {
            Value::ComplexF16(z) => Some((Value::F16(z.re), Value::F16(z.im))),
            Value::ComplexBf16(z) => Some((Value::Bf16(z.re), Value::Bf16(z.im))),
            Value::Complex32(z) => Some((Value::F32(z.re), Value::F32(z.im))),
            Value::Complex64(z) => Some((Value::F64(z.re), Value::F64(z.im))),
            Value::ComplexFixed(z) => Some((Value::Fixed(z.get().re), Value::Fixed(z.get().im))),
            _ => None,
        }
    }

    /// The scope of its format, of fixed-point numbers: what is computed with it is of its type.
    #[inline]
    pub fn format_scope(&self) -> FormatScope {
        FormatScope::of(match self {
            Value::Fixed(v) => Some(v.format()),
            Value::ComplexFixed(z) => Some(z.format()),
            _ => None,
        })
    }

    /// The type.
    pub fn ir_type(&self) -> Type {
        fn of<T: Scalar>(_: &T) -> Type {
            T::ir_type()
        }
        with_scalar!(*self, v => of(&v))
    }

    /// Whether it is an integer.
    pub fn is_integer(&self) -> bool {
        matches!(self.ir_type(), Type::Scalar(t) if t.class() == Class::Integer)
    }

    /// The value as an index or a count: an integer that isn't negative.
    pub fn to_usize(&self) -> Option<usize> {
        match self.to_num() {
            Num::Int(v) => usize::try_from(v).ok(),
            Num::Uint(v) => usize::try_from(v).ok(),
            Num::Wide(v) => usize::try_from(v).ok(),
            Num::WideUint(v) => usize::try_from(v).ok(),
            Num::Float(_) | Num::Fixed(_) | Num::Complex(..) => None,
        }
    }

    /// The number.
    pub fn to_num(&self) -> Num {
        with_scalar!(*self, v => v.to_number())
    }

    /// A number as a value of a scalar type; `None` for types that aren't built-in scalars.
    pub fn from_num(num: Num, ty: &Type) -> Option<Value> {
        match ty {
            Type::Scalar(t) => Some(Value::real_from_num(num, *t)),
            Type::Complex(real) => match **real {
                Type::Scalar(t) if t.class() == Class::Real => {
                    let im = if let Num::Complex(_, im) = num { im } else { 0.0 };
                    Value::complex(Value::real_from_num(num, t), Value::real_from_num(Num::Float(im), t))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A number as a value of this value's type.
    pub fn same_type(&self, num: Num) -> Option<Value> {
        Value::from_num(num, &self.ir_type())
    }

    /// The name of the type in Rust.
    pub fn type_name(&self) -> String {
        match self.ir_type() {
            Type::Scalar(t) => t.name().to_string(),
            Type::Complex(real) => match *real {
                Type::Scalar(t) => format!("Complex<{}>", t.name()),
                _ => "Complex".to_string(),
            },
            _ => String::new(),
        }
    }

    /// Whether it is an integer or a truth value, which carry no derivative.
    pub fn is_inactive(&self) -> bool {
        self.is_integer() || matches!(self, Value::Bool(_))
    }

    /// The largest absolute value of its parts; 0 for `bool`.
    pub fn magnitude(&self) -> f64 {
        with_scalar!(*self, v => v.modulus())
    }

    /// Whether it may stand for a value of the same type.
    pub fn is_close(&self, expected: &Value, tolerances: &Tolerances, held: Option<f64>) -> bool {
        fn close<T: Scalar>(a: T, b: &Value, t: &Tolerances, held: Option<f64>) -> bool {
            T::from_value(b).is_some_and(|b| a.is_close(b, t, held))
        }
        with_scalar!(*self, v => close(v, expected, tolerances, held))
    }

    /// Whether it is a number of 16 bits, real or complex: its cotangents are kept in a wider type.
    pub fn is_half(&self) -> bool {
        matches!(self, Value::F16(_) | Value::Bf16(_) | Value::ComplexF16(_) | Value::ComplexBf16(_))
    }

    /// The number in the type of its cotangents: `f32` for the halves, else unchanged.
    pub fn widened(self) -> Value {
        match self {
            Value::F16(v) => Value::F32(v.to_f32()),
            Value::Bf16(v) => Value::F32(v.to_f32()),
            Value::ComplexF16(z) => Value::Complex32(Complex { re: z.re.to_f32(), im: z.im.to_f32() }),
            Value::ComplexBf16(z) => Value::Complex32(Complex { re: z.re.to_f32(), im: z.im.to_f32() }),
            other => other,
        }
    }

    /// The zero of the same type.
    pub fn zero_like(&self) -> Value {
        with_scalar!(*self, v => v.zero_like().to_value())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::ComplexFixed(z) => write!(f, "{}+{}i", z.get().re, z.get().im),
            _ => with_scalar!(*self, v => fmt::Debug::fmt(&v, f)),
        }
    }
}
