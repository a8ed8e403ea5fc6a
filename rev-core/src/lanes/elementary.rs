//! The elementary functions on whole vectors.
//!
//! They are the functions of [`crate::math`] on the registers of an instruction set, each compiled once,
//! here: a call costs little beside what a function does for all lanes, and what uses many of them
//! stays short. All take the number of lanes that run, which are the first.

use super::{Registers, Vector, NARROW, WIDTH};
use crate::math::cpu::{double, single};
use crate::math::{self, Native};
use rev_compiler::elementary_table;

macro_rules! declarations {
    ($(($variant:ident $name:ident($($arg:ident)*) $doc:literal $($row:tt)*))*) => {
        /// The elementary functions on the registers of one width.
        pub trait Elementary: Registers {
            $(
                #[doc = concat!("[`math::", stringify!($name), "`] in each lane.")]
                fn $name(self, count: usize, $($arg: &Vector<Self::Float>),*) -> Vector<Self::Float>;
            )*
            /// [`math::sin_cos`] in each lane.
            fn sin_cos(self, count: usize, x: &Vector<Self::Float>) -> (Vector<Self::Float>, Vector<Self::Float>);
        }
    };
}
elementary_table!(declarations,);

/// The functions of 64 bits alone.
pub trait Special: Elementary {
    /// [`math::powi`] in each lane.
    fn powi(self, count: usize, x: &Vector<f64>, n: &Vector<i64>) -> Vector<f64>;
    /// [`math::ln_gamma`] in each lane.
    fn ln_gamma(self, count: usize, x: &Vector<f64>) -> Vector<f64>;
    /// [`math::polygamma`] in each lane.
    fn polygamma(self, count: usize, order: i32, x: &Vector<f64>) -> Vector<f64>;
}

/// The values of so many lanes.
#[inline]
fn first<T: Copy + Default>(count: usize, mut value: impl FnMut(usize) -> T) -> Vector<T> {
    let mut result = Vector([T::default(); WIDTH]);
    for (k, lane) in result.0.iter_mut().enumerate().take(count) {
        *lane = value(k);
    }
    result
}

/// One of them by the scalar functions, which know whether the processor can multiply and add at once.
macro_rules! by_scalars {
    ($t:ident $functions:ident $(($variant:ident $name:ident($($arg:ident)*) $doc:literal $($row:tt)*))*) => {
        impl Elementary for Native<$t> {
            $(
                #[inline]
                fn $name(self, count: usize, $($arg: &Vector<$t>),*) -> Vector<$t> {
                    first(count, |k| $functions::$name($($arg.0[k]),*))
                }
            )*
            #[inline]
            fn sin_cos(self, count: usize, x: &Vector<$t>) -> (Vector<$t>, Vector<$t>) {
                let mut cosines = Vector([0.0; WIDTH]);
                let sines = first(count, |k| {
                    let (sine, cosine) = $functions::sin_cos(x.0[k]);
                    cosines.0[k] = cosine;
                    sine
                });
                (sines, cosines)
            }
        }
    };
}
elementary_table!(by_scalars, f64 double);
elementary_table!(by_scalars, f32 single);

impl Special for Native<f64> {
    #[inline]
    fn powi(self, count: usize, x: &Vector<f64>, n: &Vector<i64>) -> Vector<f64> {
        first(count, |k| double::powi(x.0[k], n.0[k] as i32))
    }
    #[inline]
    fn ln_gamma(self, count: usize, x: &Vector<f64>) -> Vector<f64> {
        first(count, |k| double::ln_gamma(x.0[k]))
    }
    #[inline]
    fn polygamma(self, count: usize, order: i32, x: &Vector<f64>) -> Vector<f64> {
        first(count, |k| double::polygamma(order, x.0[k]))
    }
}

/// So many results of a function, compiled for the instructions of a machine, for one register after the other.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! compiled {
    ($features:literal $machine:ident $t:ident $results:literal; $self:ident $count:ident $m:ident $(, $number:ident: $n:ty)*; $($arg:ident: $at:ident $of:ty),* => $values:expr) => {{
        // with the number of registers known, the compiler computes them side by side
        macro_rules! apart {
            ($lanes:expr) => {{
                #[target_feature(enable = $features)]
                fn apart(mut machine: $machine $(, $number: $n)* $(, $arg: &Vector<$of>)*) -> [Vector<$t>; $results] {
                    let $m = &mut machine;
                    let mut results = [Vector([0.0; WIDTH]); $results];
                    for chunk in 0..$lanes / $machine::LANES {
                        $(let $arg = $m.$at($arg, chunk);)*
                        let values = $values;
                        values.iter().zip(&mut results).for_each(|(value, result)| *$m.at_mut(result, chunk) = *value);
                    }
                    results
                }
                // SAFETY: the machine has a token, which says that the processor has the instructions.
                unsafe { apart($self $(, $number)* $(, $arg)*) }
            }};
        }
        match $count {
            NARROW => apart!(NARROW),
            _ => apart!(WIDTH),
        }
    }};
}
/// A method with one such result.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! method {
    ($features:literal $machine:ident $t:ident; $name:ident($m:ident $(, $number:ident: $n:ty)*)($($arg:ident: $at:ident $of:ty),*) => $value:expr) => {
        #[cfg_attr(optimized, inline(always))]
        fn $name(self, count: usize $(, $number: $n)* $(, $arg: &Vector<$of>)*) -> Vector<$t> {
            let [result] = compiled! {
                $features $machine $t 1; self count $m $(, $number: $n)*; $($arg: $at $of),* => [$value]
            };
            result
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! by_registers {
    ($features:literal $machine:ident $t:ident $(($variant:ident $name:ident($($arg:ident)*) $doc:literal $($row:tt)*))*) => {
        impl Elementary for $machine {
            $(method! { $features $machine $t; $name(m)($($arg: at $t),*) => math::$name(m, $($arg),*) })*
            #[cfg_attr(optimized, inline(always))]
            fn sin_cos(self, count: usize, x: &Vector<$t>) -> (Vector<$t>, Vector<$t>) {
                let [sine, cosine] = compiled! {
                    $features $machine $t 2; self count m; x: at $t => {
                        let (sine, cosine) = math::sin_cos(m, x);
                        [sine, cosine]
                    }
                };
                (sine, cosine)
            }
        }
    };
}

/// All of them for the machines of an instruction set.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! on_registers {
    ($features:literal $double:ident $single:ident) => {
        elementary_table!(by_registers, $features $double f64);
        elementary_table!(by_registers, $features $single f32);

        impl Special for $double {
            method! { $features $double f64; powi(m)(x: at f64, n: int_at i64) => math::powi(m, x, n) }
            method! { $features $double f64; ln_gamma(m)(x: at f64) => math::ln_gamma(m, x) }
            method! { $features $double f64; polygamma(m, order: i32)(x: at f64) => math::polygamma(m, order, x) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use crate::lanes::x86::{Double256, Double512, Single256, Single512};
    on_registers!("avx512f,avx512bw,avx512dq,avx512vl,fma" Double512 Single512);
    on_registers!("avx2,fma" Double256 Single256);
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::*;
    use crate::lanes::neon::{Double128, Single128};
    on_registers!("neon" Double128 Single128);
}
