//! The rows of the table of pure functions on packs.
//!
//! [`Rows`] is how one type computes them; what it doesn't say is computed lane by lane with the
//! function of [`crate::scalar::rt`]. The free functions are what emitted code calls.

use super::pack::collect;
use super::{Each, Isa, Laned, Mask, Numbers, Pack};
use crate::scalar::{rt, Complex, Field, Integer, Real, Ring, Scalar};
use std::ops::BitXor;

/// The rows whose arguments and result are of one type: name, bound, arguments.
macro_rules! uniform_rows {
    ($callback:ident) => {
        rev_compiler::elementary_table!(all_uniform_rows, $callback);
    };
}
macro_rules! all_uniform_rows {
    ($callback:ident $(($variant:ident $name:ident($($arg:ident)*) $doc:literal $class:ident $($row:tt)*))*) => {
        $callback! {
            $(($name [$class] ($($arg)*)))*
            (add [Ring] (a b)) (sub [Ring] (a b)) (mul [Ring] (a b)) (neg [Ring] (a))
            (mul_add [Ring] (a b c)) (unit [Ring] (x)) (conj [Ring] (z)) (abs [Ring + PartialOrd] (x))
            (min [Scalar + PartialOrd] (a b)) (max [Scalar + PartialOrd] (a b))
            (bit_and [Integer] (a b)) (bit_or [Integer] (a b)) (bit_xor [Scalar + BitXor<Output = T>] (a b))
            (quot [Integer] (a b)) (rem [Integer] (a b))
            (div [Field] (a b)) (sqrt [Field] (x)) (recip [Field] (x)) (arg_gradient [Field] (z))
            (floor [Real] (x)) (ceil [Real] (x)) (round [Real] (x)) (trunc [Real] (x)) (copysign [Real] (a b))
            (ln_gamma [Real] (x))
        }
    };
}

/// The rows that compare.
macro_rules! comparing_rows {
    ($callback:ident) => {
        $callback! {
            (eq [Scalar]) (ne [Scalar])
            (lt [Laned + PartialOrd]) (le [Laned + PartialOrd]) (gt [Laned + PartialOrd]) (ge [Laned + PartialOrd])
        }
    };
}

/// The rows from a number to a real one, and the methods of [`Field`] for them.
macro_rules! real_rows {
    ($callback:ident) => {
        $callback! {
            (re re_in_lanes) (im im_in_lanes) (abs2 abs2_in_lanes) (norm norm_in_lanes) (arg arg_in_lanes)
        }
    };
}

macro_rules! uniform_methods {
    ($(($name:ident [$($bound:tt)*] ($($arg:ident)*)))*) => {$(
        #[doc = concat!("[`rt::", stringify!($name), "`] in each lane.")]
        #[cfg_attr(optimized, inline(always))]
        fn $name<S: Isa>(s: S, $($arg: Pack<T>),*) -> Pack<T>
        where
            T: $($bound)*,
        {
            collect(s, |k| rt::$name($(T::lane(&$arg, k)),*))
        }
    )*};
}

macro_rules! comparing_methods {
    ($(($name:ident [$($bound:tt)*]))*) => {$(
        #[doc = concat!("[`rt::", stringify!($name), "`] in each lane.")]
        #[cfg_attr(optimized, inline(always))]
        fn $name<S: Isa>(s: S, a: Pack<T>, b: Pack<T>) -> Pack<bool>
        where
            T: $($bound)*,
        {
            collect(s, |k| rt::$name(T::lane(&a, k), T::lane(&b, k)))
        }
    )*};
}

/// How packs of `T` are computed with. Every method has a body, which goes lane by lane.
pub trait Rows<T: Laned> {
    uniform_rows!(uniform_methods);
    comparing_rows!(comparing_methods);

    /// `rt::shl` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn shl<S: Isa>(s: S, a: Pack<T>, n: impl Each<i32>) -> Pack<T>
    where
        T: Integer,
    {
        collect(s, |k| rt::shl(T::lane(&a, k), n.at(k)))
    }
    /// `rt::shr` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn shr<S: Isa>(s: S, a: Pack<T>, n: impl Each<i32>) -> Pack<T>
    where
        T: Integer,
    {
        collect(s, |k| rt::shr(T::lane(&a, k), n.at(k)))
    }
    /// [`rt::sin_cos`] in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn sin_cos<S: Isa>(s: S, x: Pack<T>) -> (Pack<T>, Pack<T>)
    where
        T: Field,
    {
        (Self::sin(s, x), Self::cos(s, x))
    }
    /// `rt::powi` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn powi<S: Isa>(s: S, x: Pack<T>, n: impl Each<i32>) -> Pack<T>
    where
        T: Field,
    {
        collect(s, |k| rt::powi(T::lane(&x, k), n.at(k)))
    }
    /// `rt::polygamma` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn polygamma<S: Isa>(s: S, order: impl Each<i32>, x: Pack<T>) -> Pack<T>
    where
        T: Real,
    {
        collect(s, |k| rt::polygamma(order.at(k), T::lane(&x, k)))
    }
    /// `rt::complex` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn complex<S: Isa>(s: S, a: Pack<T>, b: Pack<T>) -> Pack<Complex<T>>
    where
        T: Real,
    {
        let _ = s;
        Pack(Complex { re: a, im: b })
    }
    /// The numbers for conversions; `None` where each lane is converted by itself.
    #[cfg_attr(optimized, inline(always))]
    fn numbers<S: Isa>(s: S, a: &Pack<T>) -> Option<Numbers>
    where
        T: Scalar,
    {
        let _ = (s, a);
        None
    }
    /// The conversion of numbers to this type.
    #[cfg_attr(optimized, inline(always))]
    fn from_numbers<S: Isa>(s: S, n: Numbers) -> Pack<T>
    where
        T: Scalar,
    {
        collect(s, |k| T::from_number(n.at(k)))
    }
}

/// Each lane by itself, with the functions of [`crate::scalar::rt`].
#[derive(Debug)]
pub struct LaneByLane;

impl<T: Laned> Rows<T> for LaneByLane {}

macro_rules! uniform_functions {
    ($(($name:ident [$($bound:tt)*] ($($arg:ident)*)))*) => {$(
        #[doc = concat!("[`rt::", stringify!($name), "`] in each lane.")]
        #[cfg_attr(optimized, inline(always))]
        pub fn $name<S: Isa, T: $($bound)*>(s: S, $($arg: Pack<T>),*) -> Pack<T> {
            T::Rows::$name(s, $($arg),*)
        }
    )*};
}
uniform_rows!(uniform_functions);

macro_rules! comparing_functions {
    ($(($name:ident [$($bound:tt)*]))*) => {$(
        #[doc = concat!("[`rt::", stringify!($name), "`] in each lane.")]
        #[cfg_attr(optimized, inline(always))]
        pub fn $name<S: Isa, T: $($bound)*>(s: S, a: Pack<T>, b: Pack<T>) -> Pack<bool> {
            T::Rows::$name(s, a, b)
        }
    )*};
}
comparing_rows!(comparing_functions);

macro_rules! real_functions {
    ($(($name:ident $method:ident))*) => {$(
        #[doc = concat!("[`rt::", stringify!($name), "`] in each lane.")]
        #[cfg_attr(optimized, inline(always))]
        pub fn $name<S: Isa, T: Field>(s: S, z: Pack<T>) -> Pack<T::Real> {
            T::$method(s, z)
        }
    )*};
}
real_rows!(real_functions);

/// `rt::and` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn and<S: Isa>(_: S, a: Pack<bool>, b: Pack<bool>) -> Pack<bool> {
    Pack(a.0 & b.0)
}

/// `rt::or` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn or<S: Isa>(_: S, a: Pack<bool>, b: Pack<bool>) -> Pack<bool> {
    Pack(a.0 | b.0)
}

/// `rt::not` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn not<S: Isa>(_: S, a: Pack<bool>) -> Pack<bool> {
    Pack(!a.0)
}

/// `rt::shl` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn shl<S: Isa, T: Integer>(s: S, a: Pack<T>, n: impl Each<i32>) -> Pack<T> {
    T::Rows::shl(s, a, n)
}

/// `rt::shr` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn shr<S: Isa, T: Integer>(s: S, a: Pack<T>, n: impl Each<i32>) -> Pack<T> {
    T::Rows::shr(s, a, n)
}

/// `rt::try_quot` in each lane; the first active one that divides by zero as an error.
#[cfg_attr(optimized, inline(always))]
pub fn quotient<S: Isa, T: Integer>(s: S, m: impl Mask, a: Pack<T>, b: Pack<T>) -> Result<Pack<T>, usize> {
    divides(s, m, &b)?;
    Ok(quot(s, a, b))
}

/// `rt::try_rem` in each lane, likewise.
#[cfg_attr(optimized, inline(always))]
pub fn remainder<S: Isa, T: Integer>(s: S, m: impl Mask, a: Pack<T>, b: Pack<T>) -> Result<Pack<T>, usize> {
    divides(s, m, &b)?;
    Ok(rem(s, a, b))
}

/// The first active lane that holds a zero, as an error.
#[cfg_attr(optimized, inline(always))]
fn divides<S: Isa, T: Integer>(s: S, m: impl Mask, divisor: &Pack<T>) -> Result<(), usize> {
    match eq(s, *divisor, T::broadcast(s, T::zero())).0 & m.bits(s) {
        0 => Ok(()),
        zeros => Err(zeros.trailing_zeros() as usize),
    }
}

/// [`rt::sin_cos`] in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn sin_cos<S: Isa, T: Field>(s: S, x: Pack<T>) -> (Pack<T>, Pack<T>) {
    T::Rows::sin_cos(s, x)
}

/// `rt::powi` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn powi<S: Isa, T: Field>(s: S, x: Pack<T>, n: impl Each<i32>) -> Pack<T> {
    T::Rows::powi(s, x, n)
}

/// `rt::powi_derivative` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn powi_derivative<S: Isa, T: Field>(s: S, x: Pack<T>, n: impl Each<i32>, k: impl Each<i32>) -> Pack<T> {
    let (Some(n), Some(order)) = (n.uniform(), k.uniform()) else {
        return collect(s, |lane| rt::powi_derivative(T::lane(&x, lane), n.at(lane), k.at(lane)));
    };
    match rt::falling_factorial(n, order) {
        Some(factor) => mul(s, T::broadcast(s, factor), powi(s, x, n.wrapping_sub(order))),
        None => T::broadcast(s, T::zero()),
    }
}

/// `rt::polygamma` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn polygamma<S: Isa, T: Real>(s: S, order: impl Each<i32>, x: Pack<T>) -> Pack<T> {
    T::Rows::polygamma(s, order, x)
}

/// `rt::complex` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn complex<S: Isa, T: Real>(s: S, a: Pack<T>, b: Pack<T>) -> Pack<Complex<T>> {
    T::Rows::complex(s, a, b)
}

#[cfg(test)]
mod tests;

/// Every row has its function: a missing one doesn't compile.
mod complete {
    macro_rules! all_present {
        ($(($variant:ident $name:ident $($rest:tt)*))*) => {
            #[allow(unused_imports, non_snake_case)]
            mod rows {
                $(use crate::lanes::$name as $variant;)*
            }
        };
    }
    rev_compiler::func_table!(all_present);
}
