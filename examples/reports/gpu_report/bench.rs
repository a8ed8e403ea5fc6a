//! What the GPU can move and compute, and how long the benchmark programs take beside that.

use std::cell::RefCell;
use std::time::Instant;

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rev::cuda::driver::Driver;
use rev::cuda::plan::Strategy;
use rev::cuda::Gpu;
use rev::ir::{Direction, Module};
use rev::prelude::*;
use rev::scalar::Batch;
use rev::value::DynArg;
use rev::Error;
use rev_kernels::{ba, bessel, gmm};

use super::report::Time;
use super::wave::{cotangents, gradient, wave, Method};
use super::Options;

const ADJOINT: Direction = Direction::ADJOINT;

/// Dimension and components of the mixtures of the papers' tables.
const GMM: &[[usize; 2]] =
    &[[2, 5], [10, 5], [2, 200], [10, 50], [20, 50], [32, 50], [64, 5], [64, 25], [64, 200], [128, 200]];

/// Cameras, points and observations of ADBench's instances ba1 to ba20.
const BA: [[usize; 3]; 20] = [
    [49, 7_776, 31_843],
    [21, 11_315, 36_455],
    [161, 48_126, 182_072],
    [372, 47_423, 204_472],
    [257, 65_132, 225_911],
    [539, 65_220, 277_273],
    [93, 61_203, 287_451],
    [88, 64_298, 383_937],
    [810, 88_814, 393_775],
    [1_197, 126_327, 563_734],
    [1_723, 156_502, 678_718],
    [253, 163_691, 899_155],
    [245, 198_739, 1_091_386],
    [356, 226_730, 1_255_268],
    [1_102, 780_462, 4_052_340],
    [1_544, 942_409, 4_750_193],
    [1_778, 993_923, 5_001_946],
    [1_936, 649_673, 5_213_733],
    [4_585, 1_324_582, 9_125_125],
    [13_682, 4_456_117, 2_987_644],
];

/// The instance whose gradient is also taken by other strategies.
const STRATEGIES_AT: [usize; 3] = [253, 163_691, 899_155];

/// How many multiply-adds [`multiply_adds`] makes for each element.
const STEPS: usize = 2048;

/// Eight of them in a chain.
#[pure]
fn chain<T: Real>(x: T, a: T) -> T {
    let b = x.mul_add(a, x);
    let c = b.mul_add(a, x);
    let d = c.mul_add(a, x);
    let e = d.mul_add(a, x);
    let f = e.mul_add(a, x);
    let g = f.mul_add(a, x);
    let h = g.mul_add(a, x);
    h.mul_add(a, x)
}

/// Arithmetic with hardly any memory traffic.
#[reversible]
fn multiply_adds<T: Real>(y: &mut [T], a: T, rounds: usize) {
    for i in par(0..y.len()) {
        let x = a * T::from_usize(i);
        let mut s = T::zero();
        for k in 0..rounds {
            s += chain(x, a);
        }
        y[i] += s;
    }
}

/// A product of matrices.
#[reversible]
fn product<T: Real>(mut c: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>) {
    c += matmul(a, b);
}

/// Up to so many dimensions a mixture is also computed with a thread for each point.
const POINT_BY_POINT: usize = 10;

/// A program and its adjoint as `f::vjp` runs them: as one, where they are.
fn both(module: &Module) -> (Module, Direction) {
    module.fused().map_or((module.clone(), ADJOINT), |fused| (fused, Direction::FORWARD))
}

/// The benchmarks on a device.
pub struct Bench<'a, D: Driver> {
    gpu: &'a Gpu<D>,
    options: &'a Options,
    /// Read and written by a copy within the device.
    pub bytes_per_second: f64,
    /// Two for each fused multiply-add.
    pub operations_per_second: f64,
    /// Of a product of matrices: the library's, where there is one.
    pub matrix_operations_per_second: f64,
}

/// What can't be avoided: numbers read and written, and the time of the arithmetic where it is known.
struct Floor {
    numbers: usize,
    arithmetic_milliseconds: Option<f64>,
}

impl<'a, D: Driver> Bench<'a, D> {
    /// Measures what the device can do.
    pub fn new(gpu: &'a Gpu<D>, options: &'a Options) -> Result<Self, Error> {
        let mut bench = Bench {
            gpu,
            options,
            bytes_per_second: 0.0,
            operations_per_second: 0.0,
            matrix_operations_per_second: 0.0,
        };
        bench.bytes_per_second = bench.bandwidth()?;
        bench.operations_per_second = bench.arithmetic()?;
        bench.matrix_operations_per_second = bench.matrices()?;
        Ok(bench)
    }

    /// The shortest time of some work on the device, in milliseconds.
    fn shortest(&self, mut work: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
        if !self.options.quick {
            work()?;
        }
        self.gpu.driver().synchronize()?;
        let mut best = f64::INFINITY;
        for _ in 0..self.options.size(self.options.repeat, 1) {
            let start = Instant::now();
            work()?;
            self.gpu.driver().synchronize()?;
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(best)
    }

    fn bandwidth(&self) -> Result<f64, Error> {
        let (driver, bytes) = (self.gpu.driver(), self.options.size(500_000_000, 1_000_000));
        let (from, to) = (driver.allocate("copy source", bytes)?, driver.allocate("copy target", bytes)?);
        driver.clear(from, bytes)?;
        let milliseconds = self.shortest(|| driver.copy(to, from, bytes));
        driver.free(from);
        driver.free(to);
        Ok(2.0 * bytes as f64 / (milliseconds? * 1e-3))
    }

    /// Operations per second of [`multiply_adds`].
    fn arithmetic(&self) -> Result<f64, Error> {
        let (count, rounds) = (self.options.size(1 << 20, 64), self.options.size(STEPS / 8, 1));
        let args: [&dyn DynArg; 3] = [&vec![0.0; count], &1e-9, &rounds];
        let milliseconds = self.prepared(&(multiply_adds::ir(), Direction::FORWARD), &args, &[])?;
        Ok(2.0 * (count * rounds * 8) as f64 / (milliseconds * 1e-3))
    }

    /// Operations per second of [`product`].
    fn matrices(&self) -> Result<f64, Error> {
        let n = self.options.size(4096, 8);
        let a = Array2::<f64>::from_elem((n, n), 0.5);
        let args: [&dyn DynArg; 3] = [&a, &a, &a];
        let milliseconds = self.prepared(&(product::ir(), Direction::FORWARD), &args, &[])?;
        Ok(2.0 * (n as f64).powi(3) / (milliseconds * 1e-3))
    }

    /// The time of a program with its arguments on the device: no copies to or from the host. Those at
    /// the positions `zeros` are cotangents that start at zero.
    fn prepared(
        &self,
        (module, direction): &(Module, Direction),
        args: &[&dyn DynArg],
        zeros: &[usize],
    ) -> Result<f64, Error> {
        let prepared = self.gpu.prepare_on_zeros(module, *direction, args, zeros)?;
        let arrays = args.iter().enumerate().map(|(k, a)| prepared.upload(k, *a));
        let arrays = arrays.collect::<Result<Vec<_>, Error>>()?;
        let arrays: Vec<_> = arrays.iter().collect();
        self.shortest(|| prepared.run(&arrays))
    }

    /// A gradient beside its floor.
    fn gradient(
        &self,
        name: String,
        program: &(Module, Direction),
        args: &[&dyn DynArg],
        zeros: &[usize],
        floor: Floor,
    ) -> Time {
        let milliseconds = self.prepared(program, args, zeros).map_err(|e| e.cause().to_string());
        let time = self.time(name, milliseconds, floor.numbers);
        Time { arithmetic_milliseconds: floor.arithmetic_milliseconds, ..time }
    }

    /// All programs.
    pub fn times(&self) -> Vec<Time> {
        let quick = self.options.quick;
        let mixtures = if quick { &[[2, 5], [12, 2]] } else { GMM };
        let mut times: Vec<Time> = mixtures.iter().flat_map(|size| self.mixtures(*size)).collect();
        let instances = if quick { &[[2, 10, 40]] } else { BA.as_slice() };
        for size in instances.iter().filter(|[.., count]| *count <= self.options.observations) {
            let i = ba::Instance::random(size[0], size[1], size[2], 1);
            times.push(self.jacobian(&i));
            times.push(self.adjustment(&i, ""));
            if quick || *size == STRATEGIES_AT {
                times.extend(self.strategies(&i));
            }
        }
        times.push(self.series(self.options.size(1 << 17, 64)));
        times.extend(self.waves(self.options.size(1000, 20), self.options.size(10_000, 30)));
        times
    }

    /// The floors are what the loops read and write once each, in matrices. A step: 5 and 1 in its first loop, 4 and 2 in its
    /// second. Its adjoint, with the fields and their cotangents: 8 and 6, then 10 and 6.
    fn waves(&self, cells: usize, steps: usize) -> Vec<Time> {
        const FORWARD: usize = 5 + 1 + 4 + 2;
        const BACK: usize = 8 + 6 + 10 + 6;
        let all = cells * cells;
        let names = ["", ", adjoint"].map(|what| format!("wave, {cells} x {cells} cells: a step{what}"));
        let each = self.options.size(200, 2);
        let wave = match wave(self.gpu, cells, steps.max(each * (self.options.repeat + 1))) {
            Ok(wave) => wave,
            Err(e) => return names.map(|name| self.time(name, Err(e.to_string()), 0)).into(),
        };
        let steps_of = |work: &dyn Fn() -> Result<(), Error>| {
            self.shortest(|| (0..each).try_for_each(|_| work()))
                .map(|ms| ms / each as f64)
                .map_err(|e| e.to_string())
        };
        let run = || {
            let (field, bars) = (RefCell::new(wave.field()?), RefCell::new(cotangents(&wave, cells)?));
            Ok::<_, Error>([
                steps_of(&|| wave.advance(&mut field.borrow_mut())),
                steps_of(&|| wave.back(&mut field.borrow_mut(), &mut bars.borrow_mut())),
            ])
        };
        let found = run().unwrap_or_else(|e| [Err(e.to_string()), Err(e.to_string())]);
        let mut times: Vec<Time> = names
            .into_iter()
            .zip(found)
            .zip([FORWARD, BACK])
            .map(|((name, ms), n)| self.time(name, ms, n * all))
            .collect();
        for method in Method::ALL {
            let start = Instant::now();
            let done = gradient(&wave, &method, cells, steps as u64).map_err(|e| e.to_string());
            let peak = done.as_ref().map_or(String::new(), |states| format!(" ({states} at most)"));
            let name = format!("wave: gradient of {steps} steps by {}{peak}", method.name());
            let milliseconds = done.map(|_| start.elapsed().as_secs_f64() * 1e3);
            times.push(self.time(name, milliseconds, (FORWARD + BACK) * all * steps));
        }
        times
    }

    /// A row without a floor by arithmetic.
    fn time(&self, name: String, milliseconds: Result<f64, String>, numbers: usize) -> Time {
        match &milliseconds {
            Ok(ms) => eprintln!("{name}: {ms:.3} ms"),
            Err(why) => eprintln!("{name}: {why}"),
        }
        let memory_milliseconds = 8.0 * numbers as f64 / self.bytes_per_second * 1e3;
        Time { name, milliseconds, memory_milliseconds, arithmetic_milliseconds: None }
    }

    /// By products of matrices `4 N K d (d + 1)` operations, at the rate of such products; with a thread for each point, in
    /// few dimensions, `3 N K d (d + 1)`: the product of each matrix with each difference, and both products of its adjoint.
    fn mixtures(&self, [d, k]: [usize; 2]) -> Vec<Time> {
        let i = gmm::Instance::random(d, k, self.options.size(10_000, 40), 1);
        let n = i.points.nrows();
        let zeros = |a: &Array2<f64>| Array2::<f64>::zeros(a.raw_dim());
        let args: [&dyn DynArg; 14] = [
            &0.0,
            &1.0,
            &i.alphas,
            &vec![0.0; k],
            &i.means,
            &zeros(&i.means),
            &i.icf,
            &zeros(&i.icf),
            &i.points,
            &zeros(&i.points),
            &i.gamma,
            &0.0,
            &i.m,
            &(),
        ];
        let parameters = i.alphas.len() + i.means.len() + i.icf.len();
        let numbers = 2 * (parameters + i.points.len());
        let row = |how: &str, module: Module, operations: usize, rate: f64| {
            let name = format!("GMM gradient{how}, d = {d}, K = {k}, N = {n}");
            let floor = Floor { numbers, arithmetic_milliseconds: Some(operations as f64 / rate * 1e3) };
            self.gradient(name, &(module, ADJOINT), &args, &[3, 5, 7, 9, 11], floor)
        };
        let (module, rate) = (gmm::objective_by_matrices::ir(), self.matrix_operations_per_second);
        let mut rows = vec![row("", module, 4 * n * k * d * (d + 1), rate)];
        if d <= POINT_BY_POINT {
            let (module, rate) = (gmm::objective::ir(), self.operations_per_second);
            rows.push(row(", a thread for each point", module, 3 * n * k * d * (d + 1), rate));
        }
        rows
    }

    /// The floor is the output: two rows for each observation.
    fn jacobian(&self, i: &ba::Instance) -> Time {
        let count = i.features.len();
        let cameras: Vec<_> = i.camera_of.iter().map(|&c| i.cameras[c]).collect();
        let points: Vec<_> = i.point_of.iter().map(|&x| i.points[x]).collect();
        let args: [&dyn DynArg; 10] = [
            &vec![[0.0; 2]; count],
            &vec![[Batch([1.0, 0.0]), Batch([0.0, 1.0])]; count],
            &cameras,
            &vec![[Batch([0.0; 2]); ba::CAMERA]; count],
            &points,
            &vec![[Batch([0.0; 2]); 3]; count],
            &i.weights,
            &vec![Batch([0.0; 2]); count],
            &i.features,
            &vec![[Batch([0.0; 2]); 2]; count],
        ];
        let name = format!("BA Jacobian, {} cameras, {count} observations", i.cameras.len());
        let floor = Floor { numbers: count * 2 * ba::COLUMNS, arithmetic_milliseconds: None };
        self.gradient(name, &both(&ba::residuals_apart::ir()), &args, &[3, 5, 7], floor)
    }

    /// A gradient with what iterations share added up in other ways.
    fn strategies(&self, i: &ba::Instance) -> Vec<Time> {
        use Strategy::{Atomic, BlockTable, Segmented};
        let ways = [[BlockTable, Atomic], [Atomic, Atomic], [BlockTable, Segmented], [Segmented, Atomic]];
        let time = |[cameras, points]: [Strategy; 2]| {
            let gpu = self.gpu.clone().sums_into("cameras_bar", cameras).sums_into("points_bar", points);
            let how = format!(", cameras by {}, points by {}", cameras.name(), points.name());
            Bench { gpu: &gpu, ..*self }.adjustment(i, &how)
        };
        ways.map(time).into()
    }

    /// The floor is every argument read and every gradient written once.
    fn adjustment(&self, i: &ba::Instance, how: &str) -> Time {
        let (count, n) = (i.features.len(), i.cameras.len());
        let none = vec![(); count];
        let args: [&dyn DynArg; 14] = [
            &0.0,
            &1.0,
            &i.cameras,
            &vec![[0.0; ba::CAMERA]; n],
            &i.points,
            &vec![[0.0; 3]; i.points.len()],
            &i.weights,
            &vec![0.0; count],
            &i.camera_of,
            &none,
            &i.point_of,
            &none,
            &i.features,
            &vec![[0.0; 2]; count],
        ];
        let name = format!("BA gradient, {n} cameras, {count} observations{how}");
        let differentiable = ba::CAMERA * n + 3 * i.points.len() + count;
        let floor = Floor { numbers: 2 * differentiable + 4 * count, arithmetic_milliseconds: None };
        self.gradient(name, &(ba::objective::ir(), ADJOINT), &args, &[3, 5, 7], floor)
    }

    /// Arguments, values, seeds and derivatives; the length of a series depends on its argument.
    fn series(&self, count: usize) -> Time {
        let z: Vec<f64> = (1..=count).map(|k| 2.0 * k as f64 / count as f64).collect();
        let args: [&dyn DynArg; 8] =
            [&vec![0.0; count], &vec![1.0; count], &2usize, &(), &z, &vec![0.0; count], &1e-10, &0.0];
        let floor = Floor { numbers: 4 * count, arithmetic_milliseconds: None };
        let name = format!("Bessel, {count} points");
        self.gradient(name, &both(&bessel::bessel_j_each::ir()), &args, &[5, 7], floor)
    }
}
