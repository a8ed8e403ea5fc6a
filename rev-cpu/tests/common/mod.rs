//! What the tests of the language share: every device, and a function checked on each of them.
#![allow(dead_code, unused_macros, unused_imports)]

use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

/// The devices on which every program has to give the same.
pub fn devices() -> [Box<dyn Device>; 3] {
    [Box::new(Cpu::new()), Box::new(Cpu::new().checks(false)), Box::new(Interpreter::new())]
}

/// Checks the inverse and the gradient of a function on every device.
macro_rules! verify {
    ($f:ident, $($arg:expr),* $(,)?) => {
        for device in crate::common::devices() {
            let back = $f::check_inverse(&*device, $($arg),*).unwrap();
            assert!(back.passed(), "{} on {}:\n{back}", stringify!($f), device.name());
            let gradient = $f::check_gradient(&*device, $($arg),*).unwrap();
            assert!(gradient.passed(), "{} on {}:\n{gradient}", stringify!($f), device.name());
        }
    };
}

/// Checks that a function's inverse restores every bit, on every device.
macro_rules! verify_exact {
    ($f:ident, $($arg:expr),* $(,)?) => {
        for device in crate::common::devices() {
            let back = $f::check_inverse(&*device, $($arg),*).unwrap();
            assert!(back.is_exact(), "{} on {}:\n{back}", stringify!($f), device.name());
        }
    };
}

pub(crate) use {verify, verify_exact};
