//! The texts of a function's programs, for anybody who asks.

#![allow(clippy::unwrap_used)]

use ndarray::{arr2, Array2};
use rev::cuda::driver::Target;
use rev::prelude::*;
use rev::Emulator;

#[reversible]
fn scaled<T: Real>(y: &mut [T], a: T, x: ArrayView2<T>) {
    for i in par(0..y.len()) {
        y[i] += a * x[[i, 0]].exp();
    }
}

#[test]
fn a_function_gives_its_texts_for_any_target_and_device() {
    let x: Array2<f64> = arr2(&[[1.0], [2.0]]);
    let y = [0.5, 0.25];
    let texts = scaled::ptx(&Target(80), &y, 2.0, x.view()).unwrap();
    for text in [&texts.forward, &texts.inverse, &texts.adjoint] {
        assert!(text.contains(".target sm_80") && text.contains(".visible .entry"), "{text}");
        assert!(text.contains("fma.rn.f64") && text.contains("ptx::scaled"), "{text}");
    }
    assert!(texts.forward != texts.inverse && texts.inverse != texts.adjoint);
    // what a device would run is what it says
    let gpu = Emulator::new();
    let of_calls = gpu.ptx_of(|device| scaled::run(device, &mut [0.5, 0.25], 2.0, x.view())).unwrap();
    assert_eq!(of_calls, [scaled::ptx(&gpu, &y, 2.0, x.view()).unwrap().forward]);
    let single = scaled::ptx(&Target(60), &[0.5f32], 2.0, x.mapv(|v| v as f32).view()).unwrap();
    assert!(single.adjoint.contains(".target sm_60") && single.adjoint.contains("fma.rn.f32"));
}
