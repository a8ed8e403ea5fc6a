//! Dispatch over the built-in scalar types of a class: `rings!(value, T => expr)` is `expr` with `T`
//! the value's type, inside `Some`, and `None` for a value of another class.

macro_rules! arms {
    ($key:expr, $T:ident => $e:expr; $($variant:ident $t:ty),*) => {
        match $key {
            $($crate::value::Value::$variant(_) => {
                #[allow(dead_code)]
                type $T = $t;
                Some($e)
            })*
            #[allow(unreachable_patterns)]
            _ => None,
        }
    };
}

macro_rules! integers {
    ($key:expr, $T:ident => $e:expr) => {
        arms!($key, $T => $e; I8 i8, I16 i16, I32 i32, I64 i64, I128 i128, Isize isize, U8 u8, U16 u16,
            U32 u32, U64 u64, U128 u128, Usize usize)
    };
}

macro_rules! xors {
    ($key:expr, $T:ident => $e:expr) => {
        arms!($key, $T => $e; Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, I128 i128, Isize isize, U8 u8,
            U16 u16, U32 u32, U64 u64, U128 u128, Usize usize)
    };
}

macro_rules! ordered {
    (no_bool $key:expr, $T:ident => $e:expr) => {
        arms!($key, $T => $e; I8 i8, I16 i16, I32 i32, I64 i64, I128 i128, Isize isize, U8 u8, U16 u16,
            U32 u32, U64 u64, U128 u128, Usize usize, F16 f16, Bf16 bf16, F32 f32, F64 f64, Fixed43 Fixed43)
    };
    ($key:expr, $T:ident => $e:expr) => {
        arms!($key, $T => $e; Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, I128 i128, Isize isize, U8 u8,
            U16 u16, U32 u32, U64 u64, U128 u128, Usize usize, F16 f16, Bf16 bf16, F32 f32, F64 f64, Fixed43 Fixed43)
    };
}

macro_rules! reals {
    ($key:expr, $T:ident => $e:expr) => {
        arms!($key, $T => $e; F16 f16, Bf16 bf16, F32 f32, F64 f64, Fixed43 Fixed43)
    };
}

macro_rules! fields {
    ($key:expr, $T:ident => $e:expr) => {
        arms!($key, $T => $e; F16 f16, Bf16 bf16, F32 f32, F64 f64, Fixed43 Fixed43, ComplexF16 Complex<f16>, ComplexBf16 Complex<bf16>, Complex32 Complex<f32>,
            Complex64 Complex<f64>, ComplexFixed Complex<Fixed43>)
    };
}

macro_rules! rings {
    ($key:expr, $T:ident => $e:expr) => {
        arms!($key, $T => $e; I8 i8, I16 i16, I32 i32, I64 i64, I128 i128, Isize isize, U8 u8, U16 u16,
            U32 u32, U64 u64, U128 u128, Usize usize, F16 f16, Bf16 bf16, F32 f32, F64 f64, Fixed43 Fixed43,
            ComplexF16 Complex<f16>, ComplexBf16 Complex<bf16>, Complex32 Complex<f32>, Complex64 Complex<f64>, ComplexFixed Complex<Fixed43>)
    };
}

macro_rules! scalars {
    ($key:expr, $T:ident => $e:expr) => {
        arms!($key, $T => $e; Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, I128 i128, Isize isize, U8 u8,
            U16 u16, U32 u32, U64 u64, U128 u128, Usize usize, F16 f16, Bf16 bf16, F32 f32, F64 f64, Fixed43 Fixed43,
            ComplexF16 Complex<f16>, ComplexBf16 Complex<bf16>, Complex32 Complex<f32>, Complex64 Complex<f64>, ComplexFixed Complex<Fixed43>)
    };
}

pub(super) use {arms, fields, integers, ordered, reals, rings, scalars, xors};
