//! Every operator of docs/derivatives.md on every device, against formulas by hand.

#![allow(clippy::unwrap_used)]

use approx::assert_relative_eq;
use ndarray::Array2;
use rev::cuda::driver::Target;
use rev::cuda::ptxas::Assembler;
use rev::cuda::{emulator, Gpu};
use rev::prelude::*;
use rev::sparse::{Branches, Order, Plan, SparseMatrix};

/// The CPU in its ways, the interpreter, the emulator, and a GPU where there is one.
fn devices() -> Vec<Box<dyn Device>> {
    let mut devices: Vec<Box<dyn Device>> = vec![
        Box::new(Cpu::new()),
        Box::new(Cpu::with_threads(1).checks(false)),
        Box::new(Cpu::with_threads(3).parallel_from(0)),
        Box::new(Interpreter::new()),
        Box::new(rev::Emulator::new()),
    ];
    match rev::Cuda::new(0) {
        Ok(gpu) => devices.push(Box::new(gpu)),
        Err(e) => eprintln!("skipped on CUDA: {e}"),
    }
    devices
}

/// `Σ k x³ + sin(k x)`
#[reversible(tangent, adjoint, taylor = 3)]
fn loss<T: Real>(y: &mut T, x: &[T], k: T) {
    for i in par(0..x.len()) {
        *y += k * x[i] * x[i] * x[i] + (k * x[i]).sin();
    }
}

/// The gradient of the loss as a program, whose adjoint is that of an adjoint.
#[reversible(tangent)]
fn slope<T: Real>(x_slope: &mut [T], k_slope: &mut T, x: &[T], k: T) {
    loss::gradient(x, &mut *x_slope, k, &mut *k_slope);
}

/// `z_i += k x_i x_{i + 1}`, the last with the first.
#[reversible(tangent)]
fn ring<T: Real>(z: &mut [T], x: &[T], k: T) {
    for i in par(0..z.len()) {
        z[i] += k * x[i] * x[(i + 1) % x.len()];
    }
}

/// A function of one number.
#[reversible(tangent, taylor = 2)]
fn wave<T: Real>(y: &mut T, x: T) {
    *y += x.sin() * x;
}

/// A point and two directions, and the derivatives of `loss` there: numbers by `x`, and the one by `k` behind them.
struct Exact {
    x: Vec<f64>,
    k: f64,
    v: [Vec<f64>; 2],
    w: [f64; 2],
}

impl Exact {
    fn new(n: u32) -> Exact {
        let numbers = |by: f64| (0..n).map(|i| (by * f64::from(i) + 0.3).sin()).collect::<Vec<f64>>();
        Exact { x: numbers(0.7), k: 1.3, v: [numbers(1.9), numbers(0.4)], w: [-0.6, 0.9] }
    }

    fn n(&self) -> usize {
        self.x.len()
    }

    /// Both directions side by side.
    fn sides(&self) -> (Vec<Batch<f64, 2>>, Batch<f64, 2>) {
        let [v, u] = &self.v;
        (v.iter().zip(u).map(|(v, u)| Batch([*v, *u])).collect(), Batch(self.w))
    }

    /// The value and its derivatives of order 1, 2, 3 along a direction: with `q = k x` on the line, `sin q` has
    /// `q' cos q`, `q'' cos q - q'² sin q`, `-q'³ cos q - 3 q' q'' sin q`.
    fn along(&self, side: usize) -> [f64; 4] {
        let (k, w) = (self.k, self.w[side]);
        let mut sums = [0.0; 4];
        for (x, v) in self.x.iter().zip(&self.v[side]) {
            let ((s, c), a, b) = ((k * x).sin_cos(), k * v + w * x, 2.0 * w * v);
            sums[0] += k * x * x * x + s;
            sums[1] += w * x * x * x + 3.0 * k * x * x * v + a * c;
            sums[2] += 6.0 * w * x * x * v + 6.0 * k * x * v * v + b * c - a * a * s;
            sums[3] += 18.0 * w * x * v * v + 6.0 * k * v * v * v - a * a * a * c - 3.0 * a * b * s;
        }
        sums
    }

    fn gradient(&self) -> Vec<f64> {
        let k = self.k;
        let by_k = self.x.iter().map(|x| x * x * x + x * (k * x).cos()).sum();
        self.x.iter().map(|x| 3.0 * k * x * x + k * (k * x).cos()).chain([by_k]).collect()
    }

    fn hessian(&self) -> Array2<f64> {
        let (n, k) = (self.n(), self.k);
        let mut matrix = Array2::zeros((n + 1, n + 1));
        for (i, x) in self.x.iter().enumerate() {
            let (s, c) = (k * x).sin_cos();
            matrix[[i, i]] = 6.0 * k * x - k * k * s;
            matrix[[i, n]] = 3.0 * x * x + c - k * x * s;
            matrix[[n, i]] = matrix[[i, n]];
            matrix[[n, n]] -= x * x * s;
        }
        matrix
    }

    /// The Hessian times a direction.
    fn product(&self, side: usize) -> Vec<f64> {
        let direction: Vec<f64> = self.v[side].iter().copied().chain([self.w[side]]).collect();
        self.hessian().dot(&ndarray::Array1::from(direction)).to_vec()
    }

    /// The Jacobian of `ring`, by `z`, `x` and `k`.
    fn ring(&self) -> Array2<f64> {
        let n = self.n();
        let mut matrix = Array2::zeros((n, 2 * n + 1));
        for i in 0..n {
            let next = (i + 1) % n;
            matrix[[i, i]] = 1.0;
            matrix[[i, n + i]] += self.k * self.x[next];
            matrix[[i, n + next]] += self.k * self.x[i];
            matrix[[i, 2 * n]] = self.x[i] * self.x[next];
        }
        matrix
    }
}

/// As many iterations as are a few, fill lanes, and leave a rest.
fn each(test: impl Fn(&dyn Device, &Exact)) {
    for device in devices() {
        for n in [3, 37] {
            test(&*device, &Exact::new(n));
        }
    }
}

fn near(device: &dyn Device, what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what} on {}", device.name());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            approx::relative_eq!(*found, *expected, epsilon = 1e-12, max_relative = 1e-12),
            "{what} on {}: {found} and {expected}",
            device.name()
        );
    }
}

fn flat(matrix: &Array2<f64>) -> Vec<f64> {
    matrix.iter().copied().collect()
}

fn dense(sparse: &SparseMatrix) -> Vec<f64> {
    sparse.to_dense().concat()
}

/// `x` and `k` of a result, one behind the other.
fn both(x: &[f64], k: f64) -> Vec<f64> {
    [x, &[k]].concat()
}

/// One of several numbers side by side.
fn side(x: &[Batch<f64, 2>], k: Batch<f64, 2>, side: usize) -> Vec<f64> {
    x.iter().chain([&k]).map(|b| b.0[side]).collect()
}

#[test]
fn along_directions() {
    each(|d, e| {
        let ((v, w), (sides, widths)) = ((&e.v[0], e.w[0]), e.sides());
        let [first, second] = [e.along(0), e.along(1)];
        let found = loss::jvp(d, &0.5, v, w, &0.25, &e.x, e.k).unwrap();
        near(d, "jvp", &[found.y, found.y_dot], &[0.25 + first[0], 0.5 + first[1]]);
        let found = loss::jvp_wrt(d, &[loss::X.along(v), loss::K.along(&w)], &0.0, &e.x, e.k).unwrap();
        near(d, "jvp_wrt", &[found.y_dot], &[first[1]]);
        let found = loss::jvp_batch::<f64, 2>(d, Batch([0.0; 2]), &sides, widths, &0.0, &e.x, e.k).unwrap();
        near(d, "jvp_batch", &found.y_dot.0, &[first[1], second[1]]);
        let by = [loss::X.along(&sides), loss::K.along(&widths)];
        let found = loss::jvp_batch_wrt::<f64, 2>(d, &by, &0.0, &e.x, e.k).unwrap();
        near(d, "jvp_batch_wrt", &found.y_dot.0, &[first[1], second[1]]);
        let found = loss::directional(d, &0.0, v, w, &0.0, &e.x, e.k).unwrap();
        near(d, "directional", &found.y, &first);
        let found =
            loss::directional_wrt(d, &[loss::K.along(&w), loss::X.along(v)], &0.0, &e.x, e.k).unwrap();
        near(d, "directional_wrt", &found.y, &first);
    });
}

#[test]
fn along_directions_in_place() {
    each(|d, e| {
        let ((v, w), (sides, widths)) = ((&e.v[0], e.w[0]), e.sides());
        let [first, second] = [e.along(0), e.along(1)];
        let (mut y, mut y_dot) = (0.0, 0.0);
        loss::tangent(d, &mut y, &mut y_dot, &e.x, v, e.k, w).unwrap();
        near(d, "tangent", &[y, y_dot], &first[..2]);
        let (mut y, mut y_dots) = (0.0, Batch([0.0; 2]));
        loss::tangents::<f64, 2>(d, &mut y, &mut y_dots, &e.x, &sides, &e.k, &widths).unwrap();
        near(d, "tangents", &[y, y_dots.0[0], y_dots.0[1]], &[first[0], first[1], second[1]]);
        let (mut coefficients, still) = ([0.0; 4], vec![0.0; e.n()]);
        let [y, y_1, y_2, y_3] = &mut coefficients;
        loss::taylor(d, y, y_1, y_2, y_3, &e.x, v, &still, &still, e.k, w, 0.0, 0.0).unwrap();
        let [_, _, c_2, c_3] = first;
        near(d, "taylor", &coefficients, &[first[0], first[1], c_2 / 2.0, c_3 / 6.0]);
    });
}

#[test]
fn by_one_number() {
    let (x, (s, c)) = (0.7, 0.7f64.sin_cos());
    for device in devices() {
        let d = &*device;
        near(d, "derivative", &[wave::derivative(d, &0.0, x).unwrap().y], &[c * x + s]);
        near(d, "second_derivative", &[wave::second_derivative(d, &0.0, x).unwrap().y], &[2.0 * c - s * x]);
    }
}

#[test]
fn products_of_the_hessian() {
    each(|d, e| {
        let ((v, w), (sides, widths)) = ((&e.v[0], e.w[0]), e.sides());
        let (gradient, [first, second]) = (e.gradient(), [e.product(0), e.product(1)]);
        let found = loss::hvp(d, v, w, &e.x, e.k).unwrap();
        near(d, "hvp", &both(&found.x, found.k), &first);
        let (slope, found) = loss::gradient_and_hvp(d, v, w, &e.x, e.k).unwrap();
        near(d, "gradient_and_hvp: gradient", &both(&slope.x, slope.k), &gradient);
        near(d, "gradient_and_hvp: product", &both(&found.x, found.k), &first);
        let by = [loss::X.along(v), loss::K.along(&w)];
        let found = loss::hvp_wrt(d, &by, &e.x, e.k).unwrap();
        near(d, "hvp_wrt", &both(&found.x, found.k), &first);
        let (slope, found) = loss::gradient_and_hvp_wrt(d, &by, &e.x, e.k).unwrap();
        near(d, "gradient_and_hvp_wrt: gradient", &both(&slope.x, slope.k), &gradient);
        near(d, "gradient_and_hvp_wrt: product", &both(&found.x, found.k), &first);
        let found = loss::hvp_batch::<f64, 2>(d, &sides, widths, &e.x, e.k).unwrap();
        near(d, "hvp_batch, first", &side(&found.x, found.k, 0), &first);
        near(d, "hvp_batch, second", &side(&found.x, found.k, 1), &second);
        let by = [loss::X.along(&sides), loss::K.along(&widths)];
        let found = loss::hvp_batch_wrt::<f64, 2>(d, &by, &e.x, e.k).unwrap();
        near(d, "hvp_batch_wrt", &side(&found.x, found.k, 1), &second);
    });
}

#[test]
fn products_of_the_hessian_in_place() {
    each(|d, e| {
        let (n, (sides, widths)) = (e.n(), e.sides());
        let (mut y, mut y_dots) = (0.0, Batch([0.0; 2]));
        loss::tangents::<f64, 2>(d, &mut y, &mut y_dots, &e.x, &sides, &e.k, &widths).unwrap();
        let (mut y_bar, mut y_bar_dots) = (1.0, Batch([0.0; 2]));
        let (mut x_bar, mut x_bar_dots) = (vec![0.0; n], vec![Batch([0.0; 2]); n]);
        let (mut k_bar, mut k_bar_dots) = (0.0, Batch([0.0; 2]));
        loss::adjoint_tangents::<f64, 2>(
            d,
            &mut y,
            &mut y_dots,
            &mut y_bar,
            &mut y_bar_dots,
            &e.x,
            &sides,
            &mut x_bar,
            &mut x_bar_dots,
            &e.k,
            &widths,
            &mut k_bar,
            &mut k_bar_dots,
        )
        .unwrap();
        near(d, "adjoint_tangents: gradient", &both(&x_bar, k_bar), &e.gradient());
        near(d, "adjoint_tangents: first", &side(&x_bar_dots, k_bar_dots, 0), &e.product(0));
        near(d, "adjoint_tangents: second", &side(&x_bar_dots, k_bar_dots, 1), &e.product(1));
        near(d, "adjoint_tangents: the value before", &[y], &[0.0]);
    });
}

#[test]
fn an_adjoint_has_an_adjoint_and_a_tangent() {
    each(|d, e| {
        let (still, v, w) = (vec![0.0; e.n()], &e.v[0], e.w[0]);
        let found = slope::vjp(d, v, w, &still, &0.0, &e.x, e.k).unwrap();
        near(d, "value", &both(&found.x_slope, found.k_slope), &e.gradient());
        near(d, "adjoint over adjoint", &both(&found.x_bar, found.k_bar), &e.product(0));
        let found = slope::jvp(d, &still, &0.0, v, w, &still, &0.0, &e.x, e.k).unwrap();
        near(d, "tangent over adjoint", &both(&found.x_slope_dot, found.k_slope_dot), &e.product(0));
        let seeds: Vec<_> = e.sides().0;
        let found = slope::vjp_batch::<f64, 2>(d, &seeds, Batch(e.w), &still, &0.0, &e.x, e.k).unwrap();
        near(d, "two seeds", &side(&found.x_bar, found.k_bar, 1), &e.product(1));
    });
}

#[test]
fn jacobians() {
    each(|d, e| {
        let (n, z, expected) = (e.n(), vec![0.5; e.n()], e.ring());
        let whole = ring::jacobian(d, &z, &e.x, e.k).unwrap();
        near(d, "jacobian", &flat(&whole.matrix().to_owned()), &flat(&expected));
        for by in [ring::ALL.forward(), ring::ALL.reverse()] {
            let found = ring::jacobian_wrt(d, by, &z, &e.x, e.k).unwrap();
            near(d, "jacobian_wrt", &flat(&found.matrix().to_owned()), &flat(&expected));
        }
        let by_x = expected.slice(ndarray::s![.., n..2 * n]).to_owned();
        near(d, "a block", &flat(&whole.block("z", "x").unwrap().to_owned()), &flat(&by_x));
        let mut found = ring::jacobian_wrt(d, ring::X, &z, &z, 0.1).unwrap();
        ring::jacobian_into(d, &mut found, &mut Workspace::new(), &z, &e.x, e.k).unwrap();
        near(d, "jacobian_into", &flat(&found.matrix().to_owned()), &flat(&by_x));
        let pattern = ring::jacobian_pattern(Branches::All, &z, &e.x, e.k).unwrap();
        assert_eq!(pattern.nonzeros(), 4 * n);
        let plan = Plan::by_columns(pattern, Order::SmallestLast);
        let found = ring::jacobian_sparse(d, &plan, &z, &e.x, e.k).unwrap();
        near(d, "jacobian_sparse", &dense(&found), &flat(&expected));
        let mut values = vec![0.0; 4 * n];
        ring::jacobian_sparse_into(d, &plan, &mut values, &mut Workspace::new(), &z, &e.x, e.k).unwrap();
        near(d, "jacobian_sparse_into", &values, found.values());
    });
}

#[test]
fn hessians() {
    each(|d, e| {
        let (n, expected) = (e.n(), e.hessian());
        let whole = loss::hessian(d, &e.x, e.k).unwrap();
        near(d, "hessian", &flat(&whole.matrix().to_owned()), &flat(&expected));
        let block = expected.slice(ndarray::s![n.., ..n]).to_owned();
        near(d, "a block", &flat(&whole.block("k", "x").unwrap().to_owned()), &flat(&block));
        let of_x = expected.slice(ndarray::s![..n, ..n]).to_owned();
        let mut found = loss::hessian_wrt(d, loss::X, &vec![0.1; n], 0.1).unwrap();
        loss::hessian_into(d, &mut found, &mut Workspace::new(), &e.x, e.k).unwrap();
        near(d, "hessian_wrt, hessian_into", &flat(&found.matrix().to_owned()), &flat(&of_x));
        let pattern = loss::hessian_pattern(Branches::All, &e.x, e.k).unwrap();
        assert_eq!(pattern.nonzeros(), 3 * n + 1);
        let plan = Plan::by_star(pattern, Order::LargestFirst).unwrap();
        assert_eq!(plan.groups(), 2);
        let found = loss::hessian_sparse(d, &plan, &e.x, e.k).unwrap();
        near(d, "hessian_sparse", &dense(&found), &flat(&expected));
        let mut values = vec![0.0; 3 * n + 1];
        loss::hessian_sparse_into(d, &plan, &mut values, &mut Workspace::new(), &e.x, e.k).unwrap();
        near(d, "hessian_sparse_into", &values, found.values());
    });
}

/// On the interpreter, without a device.
#[test]
fn a_pushed_hessian() {
    let e = Exact::new(37);
    let found = dense(&loss::hessian_pushed(&e.x, e.k).unwrap());
    assert_relative_eq!(&found[..], &flat(&e.hessian())[..], epsilon = 1e-12, max_relative = 1e-12);
}

/// The texts of what a GPU would run for each kind of operator.
macro_rules! texts {
    ($gpu:expr, $t:ty) => {{
        let (x, v, k, w) = (&[0.5 as $t; 37], &[1.0 as $t; 37], 1.5 as $t, 1.0 as $t);
        let (sides, widths) = (&[Batch([1.0 as $t; 4]); 37], Batch([1.0 as $t; 4]));
        let still = &[0.0 as $t; 37];
        $gpu.ptx_of(|d| {
            loss::jvp(d, &0.0, v, w, &0.0, x, k)?;
            loss::jvp_batch::<$t, 4>(d, Batch([0.0; 4]), sides, widths, &0.0, x, k)?;
            loss::directional(d, &0.0, v, w, &0.0, x, k)?;
            wave::second_derivative(d, &0.0, k)?;
            loss::gradient_and_hvp(d, v, w, x, k)?;
            loss::hvp_batch::<$t, 4>(d, sides, widths, x, k)?;
            loss::hessian(d, x, k)?;
            slope::vjp(d, v, w, still, &0.0, x, k)?;
            slope::jvp(d, still, &0.0, v, w, still, &0.0, x, k)?;
            ring::jacobian(d, still, x, k).map(drop)
        })
    }};
}

#[test]
fn ptxas_takes_what_a_gpu_runs() {
    let Some(assembler) = Assembler::find() else {
        return eprintln!("skipped: no ptxas (REV_PTXAS, PATH)");
    };
    for target in [60, 75, 90].map(Target) {
        let gpu = Gpu::over(emulator::Emulator::new().with_target(target));
        for texts in [texts!(gpu, f64).unwrap(), texts!(gpu, f32).unwrap()] {
            assert!(texts.len() > 10 && texts.iter().all(|text| text.contains(".visible .entry")));
            for text in texts {
                let kernels = assembler.assemble(&text, target);
                assert!(kernels.is_ok_and(|kernels| !kernels.is_empty()), "sm_{}\n{text}", target.0);
            }
        }
    }
}
