//! The memory of flows and of residual networks doesn't grow with their depth.
#![allow(clippy::unwrap_used)]

#[path = "support/numbers.rs"]
mod support;

use allocation_counter::measure;
use approx::abs_diff_eq;
use ndarray::Array2;
use rev_cpu::prelude::*;
use rev_networks::flows::real_nvp::{real_nvp, Weights};
use rev_networks::residual::revnet;
use support::numbers;

/// The most bytes at a time that a flow takes beside its arguments: forward and back, and in its adjoint into the caller's buffers.
fn bytes(layers: usize) -> [u64; 2] {
    let mut all = numbers(100_000, 3).into_iter();
    let p = Weights::new(layers, 8, 4, || 0.3 * all.next().unwrap());
    let start: Array2<f64> = numbers((50, 4), 1);
    let (mut x, mut log_det) = (start.clone(), vec![0.0; 50]);
    let cpu = Cpu::with_threads(1);
    let (w, b, scale, r) = (p.w.view(), p.b.view(), p.scale.view(), p.r.view());
    let (shift, t) = (p.shift.view(), p.t.view());
    let mut there_and_back = || {
        real_nvp::run(&cpu, x.view_mut(), &mut log_det, w, b, scale, r, shift, t).unwrap();
        real_nvp::run_inverse(&cpu, x.view_mut(), &mut log_det, w, b, scale, r, shift, t).unwrap();
    };
    there_and_back();
    let forward = measure(&mut there_and_back).bytes_max;
    assert!((&x - &start).iter().all(|&v| abs_diff_eq!(v, 0.0, epsilon = 1e-10)));

    let mut bars = (x.map(|_| Batch([1.0])), vec![Batch([1.0]); 50]);
    let mut w_bar = p.w.map(|x| x.zero_shadow::<1>());
    let [mut scale_bar, mut shift_bar] = [&p.scale, &p.shift].map(|a| a.map(|x| x.zero_shadow::<1>()));
    let [mut b_bar, mut r_bar, mut t_bar] = [&p.b, &p.r, &p.t].map(|a| a.map(|x| x.zero_shadow::<1>()));
    let mut adjoint = || {
        real_nvp::adjoint(
            &cpu,
            x.view_mut(),
            bars.0.view_mut(),
            &mut log_det,
            &mut bars.1,
            w,
            w_bar.view_mut(),
            b,
            b_bar.view_mut(),
            scale,
            scale_bar.view_mut(),
            r,
            r_bar.view_mut(),
            shift,
            shift_bar.view_mut(),
            t,
            t_bar.view_mut(),
        )
        .unwrap();
    };
    adjoint();
    let back = measure(&mut adjoint).bytes_max;
    assert!(w_bar.iter().any(|v| v.0[0] != 0.0));
    [forward, back]
}

#[test]
fn depth_takes_no_memory() {
    let shallow = bytes(2);
    assert_eq!(shallow, bytes(64));
    // one layer's: nothing like a copy of the samples for each layer, 64 * 1600 bytes
    assert!(shallow.iter().all(|&bytes| bytes < 16 * 1024), "{shallow:?}");
}

/// The same of residual blocks.
fn bytes_of_blocks(blocks: usize) -> [u64; 2] {
    let (kernels, b) = (0.1 * numbers((2 * blocks, 4, 4, 3), 3), numbers((2 * blocks, 4), 4));
    let (mut x1, mut x2, cpu) = (numbers((5, 4, 32), 1), numbers((5, 4, 32), 2), Cpu::with_threads(1));
    let mut there_and_back = || {
        revnet::run(&cpu, x1.view_mut(), x2.view_mut(), kernels.view(), b.view()).unwrap();
        revnet::run_inverse(&cpu, x1.view_mut(), x2.view_mut(), kernels.view(), b.view()).unwrap();
    };
    there_and_back();
    let forward = measure(&mut there_and_back).bytes_max;
    let mut bars = [&x1, &x2].map(|x| x.map(|_| Batch([1.0])));
    let (mut kernels_bar, mut b_bar) =
        (kernels.map(|x| x.zero_shadow::<1>()), b.map(|x| x.zero_shadow::<1>()));
    let mut adjoint = || {
        let [bar1, bar2] = &mut bars;
        revnet::adjoint(
            &cpu,
            x1.view_mut(),
            bar1.view_mut(),
            x2.view_mut(),
            bar2.view_mut(),
            kernels.view(),
            kernels_bar.view_mut(),
            b.view(),
            b_bar.view_mut(),
        )
        .unwrap();
    };
    adjoint();
    let back = measure(&mut adjoint).bytes_max;
    assert!(kernels_bar.iter().any(|v| v.0[0] != 0.0));
    [forward, back]
}

#[test]
fn blocks_take_no_memory() {
    let shallow = bytes_of_blocks(2);
    assert_eq!(shallow, bytes_of_blocks(50));
    // less than a copy of one half of the signals
    assert!(shallow.iter().all(|&bytes| bytes < 5 * 4 * 32 * 8), "{shallow:?}");
}
