//! Loops with `#[checkpoint]` give the interpreter's bits on every device.

#![allow(clippy::unwrap_used)]

use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;
use rev_cuda::{Cuda, Emulator};

/// Relaxes values between fixed ends in place, with a rate that is learned on the way.
#[reversible]
fn relaxed<T: Real>(loss: &mut T, u0: &[T], rate: T, steps: usize) {
    let mut u = vec![T::zero(); u0.len()];
    let mut w: T = T::zero();
    let mut flips = false;
    for i in par(0..u0.len()) {
        u[i] += u0[i];
    }
    w += rate;
    #[checkpoint(every = 3)]
    for t in 0..steps {
        for i in 1..u.len() - 1 {
            u[i] = w * (u[i - 1] + u[i + 1]) + (1.0 - 2.0 * w) * u[i];
        }
        w = w * 0.9 + 0.01 * u[1].sin();
        if t % 2 == 0 {
            flips = !flips;
        }
    }
    for i in 0..u.len() {
        *loss += u[i] * u[i] * w;
    }
    if flips {
        *loss += 1.0;
    }
}

#[test]
fn every_device_has_the_same_bits() {
    let (u0, rate) = ([0.7, -0.4, 1.1, 0.2, -0.9, 0.3], 0.3);
    let mut devices: Vec<(&str, Box<dyn Device>)> = vec![
        ("cpu", Box::new(Cpu::with_threads(3).parallel_from(0).deterministic(true))),
        ("cpu without checks", Box::new(Cpu::new().checks(false).deterministic(true))),
        ("emulator", Box::new(Emulator::new().checks(true))),
        ("emulator without checks", Box::new(Emulator::new().deterministic(true))),
    ];
    match Cuda::new(0) {
        Ok(gpu) => {
            devices.push(("cuda", Box::new(gpu.clone().checks(true).deterministic(true))));
            devices.push(("cuda without checks", Box::new(gpu.deterministic(true))));
        }
        Err(e) => eprintln!("skipped on CUDA: {e}"),
    }
    for steps in [0, 1, 7, 9] {
        let expected = relaxed::gradient(&Interpreter::new(), &u0, rate, steps).unwrap();
        for (name, device) in &devices {
            let g = relaxed::gradient(&**device, &u0, rate, steps).unwrap();
            assert_eq!(g, expected, "{name}, {steps} steps");
        }
    }
}
