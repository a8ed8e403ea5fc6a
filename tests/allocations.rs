//! Gradients in a loop: where the caller owns the buffers nothing is allocated after the first call,
//! and no loop of a program allocates in its iterations.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicU64, Ordering};

use allocation_counter::measure;
use rev::cuda::driver::{Driver, ModuleHandle, Target};
use rev::cuda::Gpu;
use rev::prelude::*;
use rev_kernels::gmm::{objective, Instance};

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

/// A GPU that does nothing, and counts what is allocated on it: what is left is the host's part of a call.
struct Idle(AtomicU64);

impl Driver for Idle {
    fn name(&self) -> &str {
        "idle"
    }
    fn target(&self) -> Target {
        Target(70)
    }
    fn load(&self, _: &str) -> Result<ModuleHandle, Error> {
        Ok(ModuleHandle(0))
    }
    fn allocate(&self, _: &str, _: usize) -> Result<u64, Error> {
        Ok(4096 * (1 + self.0.fetch_add(1, Ordering::Relaxed)))
    }
    fn free(&self, _: u64) {}
    fn upload(&self, _: u64, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }
    fn download(&self, _: u64, _: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }
    fn clear(&self, _: u64, _: usize) -> Result<(), Error> {
        Ok(())
    }
    fn copy(&self, _: u64, _: u64, _: usize) -> Result<(), Error> {
        Ok(())
    }
    fn launch(&self, _: ModuleHandle, _: &str, _: u32, _: u32, _: &[Vec<u8>]) -> Result<(), Error> {
        Ok(())
    }
    fn synchronize(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// Owned elements, a shared factor and a scattered sum.
#[reversible]
fn spread<T: Real>(y: &mut [T], bins: &mut [T], a: T, x: &[T], to: &[usize]) {
    for i in par(0..x.len()) {
        y[i] += a * x[i].sin();
        bins[to[i]] += x[i] * x[i];
    }
}

/// On the device nothing is allocated; on the host a few lists whose length is that of the signature
/// and of the program, whatever the sizes of the arrays, and a copy of what orders sums, in each call.
#[test]
fn a_second_call_on_a_gpu_allocates_no_arrays() {
    let bytes = |n: usize| {
        let gpu = Gpu::over(Idle(AtomicU64::new(0)));
        let (mut y, mut bins, x) = (vec![0.5; n], vec![0.25; n], vec![1.5; n]);
        let to: Vec<usize> = (0..n).map(|i| i % 7).collect();
        let (mut y_bar, mut bins_bar, mut x_bar) =
            (y.zero_shadow::<1>(), bins.zero_shadow(), x.zero_shadow());
        let (mut a_bar, mut to_bar) = (1.5f64.zero_shadow::<1>(), to.zero_shadow::<1>());
        let mut both = || {
            spread::run(&gpu, &mut y, &mut bins, 1.5, &x, &to).unwrap();
            spread::adjoint(
                &gpu,
                &mut y,
                &mut y_bar,
                &mut bins,
                &mut bins_bar,
                1.5,
                &mut a_bar,
                &x,
                &mut x_bar,
                &to,
                &mut to_bar,
            )
            .unwrap();
        };
        both();
        let (rooms, programs) = (gpu.driver().0.load(Ordering::Relaxed), gpu.compiled());
        let memory = measure(&mut both);
        assert_eq!((gpu.driver().0.load(Ordering::Relaxed), gpu.compiled()), (rooms, programs));
        memory.bytes_total
    };
    // each of the two calls copies the index array, to compare it with the one that sums were ordered for
    let index = |n: usize| (2 * n * size_of::<usize>()) as u64;
    let (small, large) = (bytes(1000) - index(1000), bytes(100_000) - index(100_000));
    assert!(small < 65_536 && large < 65_536, "{small} and {large} bytes");
}
