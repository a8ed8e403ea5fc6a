//! What enums and `Option`s hold has tangents and second derivatives.

use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

/// A spring: one that pulls with k x, or one whose force grows as k x + c x³, or nothing.
#[derive(Clone, Debug, PartialEq, Reversible)]
enum Spring<T: Real> {
    Slack,
    Linear(T),
    Hardening { k: T, c: T },
    Table([T; 2], usize),
}

/// The energy of a spring at an extension, and its rest length that may be missing.
#[reversible(tangent)]
fn energy<T: Real>(e: &mut T, spring: &Spring<T>, rest: Option<T>, x: T) {
    let l = match rest {
        Some(l) => x - l,
        None => x,
    };
    match spring {
        Spring::Slack => {}
        Spring::Linear(k) => *e += k * l * l * 0.5,
        Spring::Hardening { k, c } => *e += k * k * l * l * 0.5 + c * l * l * l * l,
        Spring::Table(t, n) => {
            for i in 0..2 {
                *e += t[i] * t[i] * l * T::from(n);
            }
        }
    }
}

#[test]
fn energy_along() {
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let spring = Spring::Hardening { k: 3.0, c: 2.0 };
        let along = Spring::Hardening { k: 1.0, c: 5.0 };
        let h = energy::jvp(device, &0.0, &along, Some(0.0), 1.0, &0.0, &spring, Some(1.0), 3.0).unwrap();
        println!("{h:?}");
        let h = energy::hvp(device, &along, Some(0.0), 1.0, &spring, Some(1.0), 3.0).unwrap();
        println!("{h:?}");
    }
}
