//! The memory of flows and of residual networks doesn't grow with their depth, nor that of a recurrent network with the sequence.
#![allow(clippy::unwrap_used)]

#[path = "support/numbers.rs"]
mod support;

use allocation_counter::measure;
use approx::abs_diff_eq;
use ndarray::{Array1, Array2};
use rev_cpu::prelude::*;
use rev_cpu::scratch;
use rev_networks::flows::nice::nice;
use rev_networks::flows::real_nvp::{real_nvp, Weights};
use rev_networks::recurrent::recurrent;
use rev_networks::residual::revnet;
use support::numbers;

/// The most bytes at a time that a run takes, which the thread keeps none of from runs before. What is made once in a process isn't counted.
fn peak(run: &mut dyn FnMut()) -> u64 {
    run();
    scratch::clear();
    measure(run).bytes_max
}

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
    let forward = peak(&mut there_and_back);
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
    let back = peak(&mut adjoint);
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
    let forward = peak(&mut there_and_back);
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
    let back = peak(&mut adjoint);
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

/// The same of additive layers.
fn bytes_of_additive_layers(layers: usize) -> [u64; 2] {
    let (w, b) = (0.3 * numbers((layers, 8, 2), 3), numbers((layers, 8), 4));
    let (shift, t) = (0.3 * numbers((layers, 2, 8), 5), numbers((layers, 2), 6));
    let scale: Array1<f64> = numbers(4, 7);
    let start: Array2<f64> = numbers((50, 4), 1);
    let (mut x, mut log_det, cpu) = (start.clone(), 0.0, Cpu::with_threads(1));
    let (wv, bv, shift_v, tv, scale_v) = (w.view(), b.view(), shift.view(), t.view(), scale.view());
    let mut there_and_back = || {
        nice::run(&cpu, x.view_mut(), &mut log_det, wv, bv, shift_v, tv, scale_v).unwrap();
        nice::run_inverse(&cpu, x.view_mut(), &mut log_det, wv, bv, shift_v, tv, scale_v).unwrap();
    };
    let forward = peak(&mut there_and_back);
    assert!((&x - &start).iter().all(|&v| abs_diff_eq!(v, 0.0, epsilon = 1e-10)));

    let mut bars = (x.map(|_| Batch([1.0])), Batch([1.0]));
    let [mut w_bar, mut shift_bar] = [&w, &shift].map(|a| a.map(|x| x.zero_shadow::<1>()));
    let [mut b_bar, mut t_bar] = [&b, &t].map(|a| a.map(|x| x.zero_shadow::<1>()));
    let mut scale_bar = scale.map(|x| x.zero_shadow::<1>());
    let mut adjoint = || {
        nice::adjoint(
            &cpu,
            x.view_mut(),
            bars.0.view_mut(),
            &mut log_det,
            &mut bars.1,
            wv,
            w_bar.view_mut(),
            bv,
            b_bar.view_mut(),
            shift_v,
            shift_bar.view_mut(),
            tv,
            t_bar.view_mut(),
            scale_v,
            scale_bar.view_mut(),
        )
        .unwrap();
    };
    let back = peak(&mut adjoint);
    assert!(w_bar.iter().any(|v| v.0[0] != 0.0));
    [forward, back]
}

#[test]
fn additive_layers_take_no_memory() {
    let shallow = bytes_of_additive_layers(2);
    assert_eq!(shallow, bytes_of_additive_layers(64));
    // one layer's, as above
    assert!(shallow.iter().all(|&bytes| bytes < 16 * 1024), "{shallow:?}");
}

/// The same of a sequence of inputs.
fn bytes_of_sequence(steps: usize) -> [u64; 2] {
    let x = numbers((steps, 20, 3), 1);
    let [gate, new] = [2, 3].map(|seed| 0.3 * numbers((2, 8, 11), seed));
    // gates are nearly open, so that the way back doesn't lose the state
    let (b, c) = (numbers((2, 8), 4) + 6.0, numbers((2, 8), 5));
    let start: [Array2<f64>; 2] = [6, 7].map(|seed| numbers((20, 8), seed));
    let ([mut h1, mut h2], cpu) = (start.clone(), Cpu::with_threads(1));
    let (xv, gate_v, bv, new_v, cv) = (x.view(), gate.view(), b.view(), new.view(), c.view());
    let mut there_and_back = || {
        recurrent::run(&cpu, h1.view_mut(), h2.view_mut(), xv, gate_v, bv, new_v, cv).unwrap();
        recurrent::run_inverse(&cpu, h1.view_mut(), h2.view_mut(), xv, gate_v, bv, new_v, cv).unwrap();
    };
    let forward = peak(&mut there_and_back);
    for (h, start) in [(&h1, &start[0]), (&h2, &start[1])] {
        assert!((h - start).iter().all(|&v| abs_diff_eq!(v, 0.0, epsilon = 1e-10)));
    }
    let mut bars = [&h1, &h2].map(|h| h.map(|_| Batch([1.0])));
    let [mut gate_bar, mut new_bar] = [&gate, &new].map(|a| a.map(|x| x.zero_shadow::<1>()));
    let [mut b_bar, mut c_bar] = [&b, &c].map(|a| a.map(|x| x.zero_shadow::<1>()));
    let mut x_bar = x.map(|x| x.zero_shadow::<1>());
    let mut adjoint = || {
        let [bar1, bar2] = &mut bars;
        recurrent::adjoint(
            &cpu,
            h1.view_mut(),
            bar1.view_mut(),
            h2.view_mut(),
            bar2.view_mut(),
            xv,
            x_bar.view_mut(),
            gate_v,
            gate_bar.view_mut(),
            bv,
            b_bar.view_mut(),
            new_v,
            new_bar.view_mut(),
            cv,
            c_bar.view_mut(),
        )
        .unwrap();
    };
    let back = peak(&mut adjoint);
    assert!(gate_bar.iter().any(|v| v.0[0] != 0.0));
    [forward, back]
}

#[test]
fn a_sequence_takes_no_memory() {
    let short = bytes_of_sequence(2);
    assert_eq!(short, bytes_of_sequence(100));
    // less than a copy of one half of the state
    assert!(short.iter().all(|&bytes| bytes < 20 * 8 * 8), "{short:?}");
}
