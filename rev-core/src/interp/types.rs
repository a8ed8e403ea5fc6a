//! Dispatch over the built-in scalar types of a class: `rings!(value, T => expr)` is `expr` with `T`
//! the value's type, inside `Some`, and `None` for a value of another class.

macro_rules! arms {
    ([$wanted:ident $key:expr, $T:ident => $e:expr] $(($variant:ident ($t:ty) $class:ident))*) => {{
        let key: $crate::value::Value = $key;
        // numbers that are made of nothing are of the value's type too
        let _format = key.format_scope();
        match key {
            $($crate::value::Value::$variant(_) => arm!($wanted $class ($t) $T => $e),)*
            $crate::value::Value::ComplexFixed(_) => arm!($wanted Complex (Complex<FixedPoint>) $T => $e),
        }
    }};
}

/// `Some` of the expression where a class is among those that a macro's name says.
macro_rules! arm {
    (integers Integer $($of:tt)*) => { arm!(@ $($of)*) };
    (xors Scalar $($of:tt)*) => { arm!(@ $($of)*) };
    (xors Integer $($of:tt)*) => { arm!(@ $($of)*) };
    (ordered Complex $($of:tt)*) => { None };
    (ordered $class:ident $($of:tt)*) => { arm!(@ $($of)*) };
    (numbers Integer $($of:tt)*) => { arm!(@ $($of)*) };
    (numbers Real $($of:tt)*) => { arm!(@ $($of)*) };
    (reals Real $($of:tt)*) => { arm!(@ $($of)*) };
    (fields Real $($of:tt)*) => { arm!(@ $($of)*) };
    (fields Complex $($of:tt)*) => { arm!(@ $($of)*) };
    (rings Scalar $($of:tt)*) => { None };
    (rings $class:ident $($of:tt)*) => { arm!(@ $($of)*) };
    (scalars $class:ident $($of:tt)*) => { arm!(@ $($of)*) };
    (@ ($t:ty) $T:ident => $e:expr) => {{
        #[allow(dead_code)]
        type $T = $t;
        Some($e)
    }};
    ($wanted:ident $class:ident $($of:tt)*) => { None };
}

macro_rules! dispatch {
    ($($name:ident)*) => { dispatch! { @ ($) $($name)* } };
    (@ ($d:tt) $($name:ident)*) => {$(
        macro_rules! $name {
            ($d key:expr, $d T:ident => $d e:expr) => { each_value!(arms $name $d key, $d T => $d e) };
        }
    )*};
}
dispatch!(integers xors ordered numbers reals fields rings scalars);

pub(super) use crate::value::{each_value, each_value_row};
pub(super) use {arm, arms, fields, integers, numbers, ordered, reals, rings, scalars, xors};
