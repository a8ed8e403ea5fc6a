//! The functions on the CPU's scalars: [`double`] and [`single`].
//!
//! A build for x86-64 as such has no fused multiply-add. Each function is therefore compiled twice,
//! once with the instruction and once with calls of the C library's `fma`, and the processor is asked
//! at run time. Both give the same bits, and a build with `-C target-feature=+fma`, or for a processor
//! that always has one, has no choice to make.

use super::machine::Convert;
use super::native::Native;

/// A value computed by the copy with the instruction where the processor has it.
macro_rules! dispatch {
    (($($arg:ident: $t:ty),*) -> $result:ty $value:block) => {{
        #[cfg_attr(optimized, inline(always))]
        fn value($($arg: $t),*) -> $result $value
        #[cfg(all(target_arch = "x86_64", not(target_feature = "fma")))]
        {
            #[target_feature(enable = "fma")]
            fn with_instruction($($arg: $t),*) -> $result {
                value($($arg),*)
            }
            #[cold]
            #[inline(never)]
            fn with_calls($($arg: $t),*) -> $result {
                value($($arg),*)
            }
            if std::arch::is_x86_feature_detected!("fma") {
                // SAFETY: the processor has the instruction.
                unsafe { with_instruction($($arg),*) }
            } else {
                with_calls($($arg),*)
            }
        }
        #[cfg(not(all(target_arch = "x86_64", not(target_feature = "fma"))))]
        value($($arg),*)
    }};
}

/// A function of [`crate::math`] on scalars.
macro_rules! on_scalars {
    ($t:ident $(#[$doc:meta])* $name:ident($($arg:ident)*) -> $result:ty) => {
        $(#[$doc])*
        #[inline]
        pub fn $name($($arg: $t),*) -> $result {
            dispatch!(($($arg: $t),*) -> $result { $crate::math::$name(&mut Native::<$t>::new(), $(&$arg),*) })
        }
    };
}

/// The elementary functions on a scalar.
macro_rules! elementary {
    ($t:ident $(($variant:ident $name:ident($($arg:ident)*) $doc:literal $($row:tt)*))*) => {
        $(on_scalars!($t #[doc = $doc] $name($($arg)*) -> $t);)*
    };
}

macro_rules! width {
    ($t:ident) => {
        use super::*;

        rev_compiler::elementary_table!(elementary, $t);
        on_scalars!($t /// `sin x` and `cos x`
            sin_cos(x) -> ($t, $t));
    };
}

/// Integer powers from -2 to 3, a multiplication or two where `n` is a constant; the same bits as
/// [`super::small_power`].
macro_rules! small_power {
    ($x:ident $n:ident) => {
        match $n {
            0 => Some(1.0),
            1 => Some($x),
            2 => Some($x * $x),
            3 => Some($x * $x * $x),
            -1 => Some(1.0 / $x),
            -2 => Some((1.0 / $x) * (1.0 / $x)),
            _ => None,
        }
    };
}

/// `f64`
pub mod double {
    width!(f64);

    /// `xⁿ`
    #[cfg_attr(optimized, inline(always))]
    pub fn powi(x: f64, n: i32) -> f64 {
        small_power!(x n).unwrap_or_else(|| larger_power(x, n))
    }

    // apart, so that what is live around the few multiplications stays in registers
    #[cold]
    fn larger_power(x: f64, n: i32) -> f64 {
        dispatch!((x: f64, n: i32) -> f64 { crate::math::known_power(&mut Native::<f64>::new(), &x, n) })
    }

    on_scalars!(f64 /// `ln |Γ(x)|`
        ln_gamma(x) -> f64);

    /// The derivative of an order of the digamma function.
    pub fn polygamma(order: i32, x: f64) -> f64 {
        dispatch!((order: i32, x: f64) -> f64 { crate::math::polygamma(&mut Native::<f64>::new(), order, &x) })
    }
}

/// `f32`
pub mod single {
    width!(f32);

    /// `xⁿ`
    #[cfg_attr(optimized, inline(always))]
    pub fn powi(x: f32, n: i32) -> f32 {
        small_power!(x n).unwrap_or_else(|| larger_power(x, n))
    }

    // apart, so that what is live around the few multiplications stays in registers
    #[cold]
    fn larger_power(x: f32, n: i32) -> f32 {
        dispatch!((x: f32, n: i32) -> f32 {
            crate::math::large_known_power_single(&mut Native::<f64>::new(), &x, n)
        })
    }

    /// `ln |Γ(x)|`, computed in `f64`.
    pub fn ln_gamma(x: f32) -> f32 {
        Native::<f64>::new().narrow(&double::ln_gamma(f64::from(x)))
    }

    /// The derivative of an order of the digamma function, computed in `f64`.
    pub fn polygamma(order: i32, x: f32) -> f32 {
        Native::<f64>::new().narrow(&double::polygamma(order, f64::from(x)))
    }
}
