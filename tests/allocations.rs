//! Gradients in a loop: where the caller owns the buffers nothing is allocated after the first call,
//! and no loop of a program allocates in its iterations.

#![allow(clippy::unwrap_used)]

use allocation_counter::measure;
use rev::kernels::gmm::{objective, Instance};
use rev::prelude::*;

/// The buffers of a mixture's gradient.
struct Buffers {
    alphas: Vec<Batch<f64, 1>>,
    means: Array2<Batch<f64, 1>>,
    icf: Array2<Batch<f64, 1>>,
    points: Array2<Batch<f64, 1>>,
}

impl Buffers {
    fn of(i: &Instance) -> Buffers {
        let zero = |x: &f64| x.zero_shadow();
        Buffers {
            alphas: i.alphas.iter().map(zero).collect(),
            means: i.means.map(zero),
            icf: i.icf.map(zero),
            points: i.points.map(zero),
        }
    }

    fn add_gradient(&mut self, device: &Cpu, i: &Instance) {
        let (mut loss, mut loss_bar) = (0.0, Batch([1.0]));
        let (mut gamma_bar, mut m_bar) = (i.gamma.zero_shadow::<1>(), i.m.zero_shadow::<1>());
        objective::adjoint(
            device,
            &mut loss,
            &mut loss_bar,
            &i.alphas,
            &mut self.alphas,
            i.means.view(),
            self.means.view_mut(),
            i.icf.view(),
            self.icf.view_mut(),
            i.points.view(),
            self.points.view_mut(),
            i.gamma,
            &mut gamma_bar,
            i.m,
            &mut m_bar,
        )
        .unwrap();
    }
}

#[test]
fn repeated_gradients_into_buffers_allocate_nothing() {
    let i = Instance::random(3, 4, 200, 1);
    for checks in [false, true] {
        let device = Cpu::with_threads(1).checks(checks);
        let mut buffers = Buffers::of(&i);
        buffers.add_gradient(&device, &i);
        let once = buffers.alphas[1].0[0];
        let memory = measure(|| (0..20).for_each(|_| buffers.add_gradient(&device, &i)));
        assert_eq!((memory.count_total, memory.bytes_total), (0, 0), "checks: {checks}");
        // they did run
        let sum = buffers.alphas[1].0[0];
        assert!((sum - 21.0 * once).abs() < 1e-9 * sum.abs(), "{sum} and {once}");
    }
}

#[test]
fn iterations_do_not_allocate() {
    let allocations = |points: usize| {
        let i = Instance::random(3, 4, points, 1);
        let device = Cpu::with_threads(1).checks(false);
        let gradient = || {
            let (means, icf, x) = (i.means.view(), i.icf.view(), i.points.view());
            objective::gradient(&device, &i.alphas, means, icf, x, i.gamma, i.m).unwrap().value
        };
        gradient();
        measure(|| {
            gradient();
        })
        .count_total
    };
    assert_eq!(allocations(10), allocations(2000));
}

#[test]
fn a_gradient_holds_less_than_the_formula_of_the_paper() {
    // (3 + d² + d) k + 2 log₂ k + P numbers, for d dimensions and k components with P parameters;
    // the gradients by the points aren't part of it. In two dimensions the formula's numbers are fewer
    // than what one iteration needs, in whole cache lines. Lanes hold the arrays of 32 iterations
    for (d, k) in [(10, 5), (10, 50), (20, 50)] {
        let i = Instance::random(d, k, 100, 1);
        let device = Cpu::with_threads(1).checks(false).lanes(false);
        let parameters = i.alphas.len() + i.means.len() + i.icf.len();
        let numbers = (3 + d * d + d) as f64 * k as f64 + 2.0 * (k as f64).log2() + parameters as f64;
        let mut buffers = Buffers::of(&i);
        let memory = measure(|| buffers.add_gradient(&device, &i));
        let own = memory.bytes_max as f64 / 8.0 + parameters as f64;
        assert!(own < numbers, "d = {d}, k = {k}: {own} numbers, {numbers} by the formula");
        let in_lanes = measure(|| buffers.add_gradient(&device.clone().lanes(true), &i));
        let most = 32.0 * own;
        assert!((in_lanes.bytes_max as f64) < 8.0 * most, "d = {d}, k = {k}: {in_lanes:?}");
    }
}
