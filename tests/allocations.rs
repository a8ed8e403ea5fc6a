//! Gradients in a loop: where the caller owns the buffers nothing is allocated after the first call,
//! and no loop of a program allocates in its iterations.

#![allow(clippy::unwrap_used)]

use approx::{assert_relative_eq, relative_eq};
use std::sync::atomic::{AtomicU64, Ordering};

use allocation_counter::measure;
use rev::cuda::driver::{Driver, ModuleHandle, Target};
use rev::cuda::Gpu;
use rev::prelude::*;
use rev::sparse::{Branches, Order, Plan};
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
        assert!(relative_eq!(sum, 21.0 * once, epsilon = 0.0, max_relative = 1e-9), "{sum} and {once}");
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

/// Outputs that are turned, so that the way back needs them, structs, a matrix and integers.
#[reversible(tangent, taylor = 2)]
fn bent<T: Real>(out: &mut [T], e: &mut T, hinges: &[Hinge<T>], x: ArrayView2<T>, k: T, of: &[usize]) {
    for i in par(0..of.len()) {
        let turn = hinges[of[i]].angle * x[[i, 0]] + hinges[of[i]].at[1] * k;
        out[i] += turn.sin() * x[[i, 1]];
        *e += turn * turn * hinges[of[i]].at[0] * k;
    }
    rot(out[0], out[1], k * x[[0, 0]]);
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Hinge<T> {
    angle: T,
    at: [T; 2],
    kind: i64,
}

#[test]
fn derivatives_into_buffers_allocate_nothing_after_the_first_call() {
    let n = 20;
    let hinge = |k: usize| Hinge { angle: 0.1 * k as f64, at: [0.5, k as f64], kind: 3 };
    let hinges: Vec<_> = (0..3).map(hinge).collect();
    let x = Array2::from_shape_fn((n, 2), |(i, j)| (i as f64 + 0.5 * j as f64).sin());
    let of: Vec<usize> = (0..n).map(|i| i % 3).collect();
    let (x, out) = (x.view(), vec![0.25; n]);
    for checks in [false, true] {
        let cpu = &Cpu::with_threads(1).checks(checks);
        let nothing = |what: &str, mut call: Box<dyn FnMut() + '_>| {
            call();
            let memory = measure(|| (0..3).for_each(|_| call()));
            assert_eq!((memory.count_total, memory.bytes_total), (0, 0), "{what}, checks: {checks}");
        };
        for (what, by) in [
            ("forward", bent::ALL.forward()),
            ("reverse", bent::ALL.reverse()),
            ("some", (bent::K | bent::X).into()),
        ] {
            let mut matrix = bent::jacobian_wrt(cpu, by, &out, &0.0, &hinges, x, 0.5, &of).unwrap();
            let mut space = Workspace::new();
            let call = || {
                bent::jacobian_into(cpu, &mut matrix, &mut space, &out, &0.0, &hinges, x, 0.5, &of).unwrap();
            };
            nothing(what, Box::new(call));
        }
        let mut matrix = bent::hessian(cpu, &out, &hinges, x, 0.5, &of).unwrap();
        let mut space = Workspace::new();
        let call = || bent::hessian_into(cpu, &mut matrix, &mut space, &out, &hinges, x, 0.5, &of).unwrap();
        nothing("Hessian", Box::new(call));
        let pattern = bent::jacobian_pattern(Branches::Taken, &out, &0.0, &hinges, x, 0.5, &of).unwrap();
        for plan in
            [Plan::by_columns(pattern.clone(), Order::Natural), Plan::by_rows(pattern, Order::Natural)]
        {
            let (mut values, mut space) = (vec![0.0; plan.pattern().nonzeros()], Workspace::new());
            let call = || {
                let (values, space) = (&mut values, &mut space);
                bent::jacobian_sparse_into(cpu, &plan, values, space, &out, &0.0, &hinges, x, 0.5, &of)
                    .unwrap();
            };
            nothing("sparse Jacobian", Box::new(call));
        }
        let pattern = bent::hessian_pattern(Branches::Taken, &out, &hinges, x, 0.5, &of).unwrap();
        let plan = Plan::by_star(pattern, Order::Natural).unwrap();
        let mut values = vec![0.0; plan.pattern().nonzeros()];
        let call = || {
            bent::hessian_sparse_into(cpu, &plan, &mut values, &mut space, &out, &hinges, x, 0.5, &of)
                .unwrap();
        };
        nothing("sparse Hessian", Box::new(call));
    }
}

/// One direction and several, of the function and of its gradient, all on the caller's.
#[test]
fn products_into_buffers_allocate_nothing() {
    let n = 20;
    let hinges = vec![Hinge { angle: 0.3, at: [0.5, 2.0], kind: 3 }];
    let still = vec![Hinge { angle: 0.0, at: [1.0, 0.0], kind: 0 }];
    let x = Array2::from_shape_fn((n, 2), |(i, j)| (i as f64 + 0.5 * j as f64).sin());
    let of = vec![0; n];
    let cpu = &Cpu::with_threads(1);
    let (start, mut y, mut e) = (vec![0.25; n], vec![0.25; n], 0.0);
    // f::tangent: along one direction, in numbers
    let (mut y_dot, mut e_dot) = (vec![0.0; n], 0.0);
    let mut tangent = || {
        y.copy_from_slice(&start);
        y_dot.fill(0.0);
        (e, e_dot) = (0.0, 0.0);
        bent::tangent(
            cpu,
            &mut y,
            &mut y_dot,
            &mut e,
            &mut e_dot,
            &hinges,
            &still,
            x.view(),
            x.view(),
            0.5,
            1.0,
            &of,
            &of,
        )
        .unwrap();
        e_dot
    };
    let expected = tangent();
    assert_eq!(measure(|| _ = tangent()).count_total, 0);
    // f::taylor: the same line, to the second order
    let (mut y_1, mut y_2) = (vec![0.0; n], vec![0.0; n]);
    let (flat, none) = (Array2::zeros(x.dim()), vec![Hinge { angle: 0.0, at: [0.0; 2], kind: 0 }]);
    let mut taylor = || {
        y.copy_from_slice(&start);
        y_1.fill(0.0);
        y_2.fill(0.0);
        let (mut e, mut e_1, mut e_2) = (0.0, 0.0, 0.0);
        bent::taylor(
            cpu,
            &mut y,
            &mut y_1,
            &mut y_2,
            &mut e,
            &mut e_1,
            &mut e_2,
            &hinges,
            &still,
            &none,
            x.view(),
            x.view(),
            flat.view(),
            0.5,
            1.0,
            0.0,
            &of,
            &of,
            &of,
        )
        .unwrap();
        (e_1, e_2)
    };
    let (first, second) = taylor();
    assert_eq!(measure(|| _ = taylor()).count_total, 0);
    assert_relative_eq!(first, expected, epsilon = 0.0, max_relative = 1e-12);
    // f::tangents and f::adjoint_tangents: from the state before the function to that after it, and back
    let (mut y_dots, mut y_bar, mut y_bar_dots) = (y.zero_shadow::<2>(), vec![0.0; n], y.zero_shadow::<2>());
    let (mut h_dots, mut h_bar, mut h_bar_dots) =
        (hinges.zero_shadow::<2>(), hinges.zero_like(), hinges.zero_shadow::<2>());
    let zero = x.map(Primal::zero_shadow::<2>);
    let (mut x_dots, mut x_bar, mut x_bar_dots) = (zero.clone(), Array2::zeros(x.dim()), zero);
    for (dots, v) in x_dots.iter_mut().zip(&x) {
        dots.0[0] = *v;
    }
    h_dots[0].at[0].0[0] = 1.0;
    let k_dots = Batch([1.0, 0.0]);
    let (of_dots, mut of_bar, mut of_bar_dots) =
        (of.zero_shadow::<2>(), of.zero_like(), of.zero_shadow::<2>());
    let mut both = || {
        y.copy_from_slice(&start);
        y_dots.fill(Batch([0.0; 2]));
        y_bar.fill(0.0);
        y_bar_dots.fill(Batch([0.0; 2]));
        h_bar.fill(hinges[0].zero_like());
        h_bar_dots.iter_mut().for_each(|h| *h = hinges[0].zero_shadow());
        x_bar.fill(0.0);
        x_bar_dots.fill(Batch([0.0; 2]));
        let (mut e, mut e_dots, mut e_bar, mut e_bar_dots) = (0.0, Batch([0.0; 2]), 1.0, Batch([0.0; 2]));
        let (mut k_bar, mut k_bar_dots) = (0.0, Batch([0.0; 2]));
        bent::tangents::<f64, 2>(
            cpu,
            &mut y,
            &mut y_dots,
            &mut e,
            &mut e_dots,
            &hinges,
            &h_dots,
            x.view(),
            x_dots.view(),
            &0.5,
            &k_dots,
            &of,
            &of_dots,
        )
        .unwrap();
        let along = e_dots.0[0];
        bent::adjoint_tangents::<f64, 2>(
            cpu,
            &mut y,
            &mut y_dots,
            &mut y_bar,
            &mut y_bar_dots,
            &mut e,
            &mut e_dots,
            &mut e_bar,
            &mut e_bar_dots,
            &hinges,
            &h_dots,
            &mut h_bar,
            &mut h_bar_dots,
            x.view(),
            x_dots.view(),
            x_bar.view_mut(),
            x_bar_dots.view_mut(),
            &0.5,
            &k_dots,
            &mut k_bar,
            &mut k_bar_dots,
            &of,
            &of_dots,
            &mut of_bar,
            &mut of_bar_dots,
        )
        .unwrap();
        (along, k_bar, k_bar_dots.0[0])
    };
    let (along, gradient, product) = both();
    assert_eq!(measure(|| _ = both()).count_total, 0);
    assert_relative_eq!(along, expected, epsilon = 0.0, max_relative = 1e-12);
    let (g, h) =
        bent::gradient_and_hvp(cpu, &[0.0; 20], &still, x.view(), 1.0, &start, &hinges, x.view(), 0.5, &of)
            .unwrap();
    assert_relative_eq!(g.k, gradient, epsilon = 0.0, max_relative = 1e-9);
    assert_relative_eq!(h.k, product, epsilon = 0.0, max_relative = 1e-9);
    let along = [bent::HINGES.along(&still), bent::X.along(&x), bent::K.along(&1.0)];
    let d = bent::directional_wrt(cpu, &along, &start, &0.0, &hinges, x.view(), 0.5, &of).unwrap();
    assert_relative_eq!(2.0 * second, d.e[2], epsilon = 0.0, max_relative = 1e-12);
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
