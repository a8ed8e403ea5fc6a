//! A scalar of any built-in type.

use crate::ir::{Class, ScalarType, Type};
use crate::scalar::{bf16, f16, Fixed43, Num, Primal, Scalar};
use crate::tolerance::Tolerances;
use num_complex::Complex;
use std::fmt;

/// A scalar of any built-in type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    I128(i128),
    Isize(isize),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    U128(u128),
    Usize(usize),
    F16(f16),
    Bf16(bf16),
    F32(f32),
    F64(f64),
    Fixed43(Fixed43),
    ComplexF16(Complex<f16>),
    ComplexBf16(Complex<bf16>),
    Complex32(Complex<f32>),
    Complex64(Complex<f64>),
    ComplexFixed(Complex<Fixed43>),
}

/// `match value { every variant(v) => expr }`, where `expr` may use `v` and its type's methods.
macro_rules! with_scalar {
    ($value:expr, $v:ident => $e:expr) => {
        match $value {
            $crate::value::Value::Bool($v) => $e,
            $crate::value::Value::I8($v) => $e,
            $crate::value::Value::I16($v) => $e,
            $crate::value::Value::I32($v) => $e,
            $crate::value::Value::I64($v) => $e,
            $crate::value::Value::I128($v) => $e,
            $crate::value::Value::Isize($v) => $e,
            $crate::value::Value::U8($v) => $e,
            $crate::value::Value::U16($v) => $e,
            $crate::value::Value::U32($v) => $e,
            $crate::value::Value::U64($v) => $e,
            $crate::value::Value::U128($v) => $e,
            $crate::value::Value::Usize($v) => $e,
            $crate::value::Value::F16($v) => $e,
            $crate::value::Value::Bf16($v) => $e,
            $crate::value::Value::F32($v) => $e,
            $crate::value::Value::F64($v) => $e,
            $crate::value::Value::Fixed43($v) => $e,
            $crate::value::Value::ComplexF16($v) => $e,
            $crate::value::Value::ComplexBf16($v) => $e,
            $crate::value::Value::Complex32($v) => $e,
            $crate::value::Value::Complex64($v) => $e,
            $crate::value::Value::ComplexFixed($v) => $e,
        }
    };
}

impl Value {
    /// The complex number over two real parts of one type; `None` where they are of other types.
    pub fn complex(re: Value, im: Value) -> Option<Value> {
        match (re, im) {
            (Value::F16(re), Value::F16(im)) => Some(Value::ComplexF16(Complex { re, im })),
            (Value::Bf16(re), Value::Bf16(im)) => Some(Value::ComplexBf16(Complex { re, im })),
            (Value::F32(re), Value::F32(im)) => Some(Value::Complex32(Complex { re, im })),
            (Value::F64(re), Value::F64(im)) => Some(Value::Complex64(Complex { re, im })),
            (Value::Fixed43(re), Value::Fixed43(im)) => Some(Value::ComplexFixed(Complex { re, im })),
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
            Value::ComplexFixed(z) => Some((Value::Fixed43(z.re), Value::Fixed43(z.im))),
            _ => None,
        }
    }

    /// The type.
    pub fn ir_type(&self) -> Type {
        fn of<T: Scalar>(_: &T) -> Type {
            T::ir_type()
        }
        with_scalar!(self, v => of(v))
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
        fn to<T: Scalar>(num: Num) -> Value {
            T::from_number(num).to_value()
        }
        Some(match ty {
            Type::Scalar(t) => match t {
                ScalarType::Bool => to::<bool>(num),
                ScalarType::I8 => to::<i8>(num),
                ScalarType::I16 => to::<i16>(num),
                ScalarType::I32 => to::<i32>(num),
                ScalarType::I64 => to::<i64>(num),
                ScalarType::I128 => to::<i128>(num),
                ScalarType::Isize => to::<isize>(num),
                ScalarType::U8 => to::<u8>(num),
                ScalarType::U16 => to::<u16>(num),
                ScalarType::U32 => to::<u32>(num),
                ScalarType::U64 => to::<u64>(num),
                ScalarType::U128 => to::<u128>(num),
                ScalarType::Usize => to::<usize>(num),
                ScalarType::F16 => to::<f16>(num),
                ScalarType::Bf16 => to::<bf16>(num),
                ScalarType::F32 => to::<f32>(num),
                ScalarType::F64 => to::<f64>(num),
                ScalarType::Fixed43 => to::<Fixed43>(num),
            },
            Type::Complex(real) => match **real {
                Type::Scalar(ScalarType::F16) => to::<Complex<f16>>(num),
                Type::Scalar(ScalarType::Bf16) => to::<Complex<bf16>>(num),
                Type::Scalar(ScalarType::F32) => to::<Complex<f32>>(num),
                Type::Scalar(ScalarType::F64) => to::<Complex<f64>>(num),
                Type::Scalar(ScalarType::Fixed43) => to::<Complex<Fixed43>>(num),
                _ => return None,
            },
            _ => return None,
        })
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
            Value::ComplexFixed(z) => write!(f, "{}+{}i", z.re, z.im),
            _ => with_scalar!(self, v => fmt::Debug::fmt(v, f)),
        }
    }
}
