//! Programs of the library beside their plain twins, one thread:
//!
//!     cargo bench --bench library [-- part of a program's name]
//!
//! The first column is the twin's time, the others are multiples of it. A gradient is what `gradient` or `vjp` takes,
//! new arrays for its results included; encryption and the lattice gas have none.

#[path = "../examples/bench_report/race.rs"]
mod race;
#[path = "../examples/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::process::ExitCode;

use ndarray::{Array1, Array2, Array3, Array4, ArrayView2};
use race::{Race, Work};
use rev::prelude::*;
use rev_algebra::factorize::{cholesky, lu};
use rev_algebra::{fft, sorting, sparse, statistics, unitary};
use rev_classics::{kepler, lattice_gas, xtea};
use rev_networks::flows::real_nvp;
use rev_networks::{attention, layers, losses, residual};
use rustfft::FftPlanner;
use support::{finish, Failure, Outcome, Report};

/// How often each time is taken; the shortest counts.
const ROUNDS: usize = 12;

struct Table {
    /// Only programs whose names hold this.
    named: String,
    race: Race,
    report: Report,
}

impl Table {
    /// Times the twin, the program and its gradient, with checks and without.
    fn add<A, B, C>(
        &mut self,
        label: &str,
        plain: impl Fn() -> A,
        value: impl Fn(&Cpu) -> Result<B, rev::Error>,
        gradient: Option<impl Fn(&Cpu) -> Result<C, rev::Error>>,
    ) -> Result<(), Failure> {
        if !label.contains(&self.named) {
            return Ok(());
        }
        let devices = [true, false].map(|checks| Cpu::with_threads(1).checks(checks));
        let mut works = vec![work("plain", || Ok(plain()))];
        for device in &devices {
            works.push(work("value", || value(device)));
            if let Some(gradient) = &gradient {
                works.push(work("gradient", || gradient(device)));
            }
        }
        let times = self.race.run(label, &mut works)?;
        let [plain, others @ ..] = times.as_slice() else { return Ok(()) };
        let mut ratios = others.iter().map(|t| format!("{:.2}", t / plain));
        let mut next = |measured: bool| if measured { ratios.next().unwrap_or_default() } else { "-".into() };
        let both = gradient.is_some();
        let cells = [next(true), next(both), next(true), next(both)];
        self.report.row([label.to_string(), format!("{:.2}", plain * 1e6)].into_iter().chain(cells));
        Ok(())
    }
}

fn work<'a, T>(name: &'static str, run: impl Fn() -> Result<T, rev::Error> + 'a) -> Work<'a> {
    let run = move || {
        black_box(run()?);
        Ok(())
    };
    (name, Box::new(run))
}

type Run = fn(&Cpu) -> Result<(), rev::Error>;

/// For programs of whole numbers.
const NONE: Option<Run> = None;

fn numbers(n: usize, by: f64) -> Vec<f64> {
    (0..n).map(|i| (by * i as f64).sin()).collect()
}

fn matrix(shape: (usize, usize), by: f64) -> Array2<f64> {
    Array2::from_shape_fn(shape, |(i, j)| (by * (shape.1 * i + j) as f64).sin())
}

/// Starts, columns and values of a matrix by rows, `each` entries in every row.
fn entries(n: usize, each: usize, shift: usize) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
    let starts = (0..=n).map(|i| i * each).collect();
    let step = n / each;
    let columns = (0..n * each).map(|k| (k % each) * step + (k / each * 7 + k * shift) % step).collect();
    (starts, columns, numbers(n * each, 0.3))
}

fn sparse_programs(table: &mut Table) -> Result<(), Failure> {
    let n = 10_000;
    let (p, q) = (entries(n, 10, 1), entries(n, 10, 3));
    let (p, q) = ((&*p.0, &*p.1, &*p.2), (&*q.0, &*q.1, &*q.2));
    table.add(
        "Frobenius product of sparse matrices, 10⁵ entries each",
        || sparse::plain::dot(p, q),
        |d| {
            let mut y = 0.0;
            sparse::dot::run(d, &mut y, p.0, p.1, p.2, q.0, q.1, q.2).map(|()| y)
        },
        Some(|d: &Cpu| sparse::dot::gradient(d, p.0, p.1, p.2, q.0, q.1, q.2)),
    )?;
    let (x, zeros) = (numbers(n, 0.7), vec![0.0; n]);
    table.add(
        "sparse matrix times vector, 10⁵ entries",
        || {
            let mut y = zeros.clone();
            sparse::plain::matvec(&mut y, p.0, p.1, p.2, &x);
            y
        },
        |d| {
            let mut y = zeros.clone();
            sparse::matvec::run(d, &mut y, p.0, p.1, p.2, &x).map(|()| y)
        },
        Some(|d: &Cpu| sparse::matvec::vjp(d, &x, &zeros, p.0, p.1, p.2, &x)),
    )?;
    let complex = |v: &f64| Complex::new(*v, 1.0 - v);
    let values: Vec<_> = p.2.iter().map(complex).collect();
    let b = matrix((n, 10), 0.7).map(complex);
    let (one, zeros) = (Complex::new(1.0, 0.0), Array2::from_elem((n, 10), Complex::new(0.0, 0.0)));
    table.add(
        "complex sparse matrix, 10⁵ entries, times 10 columns",
        || {
            let mut c = zeros.clone();
            sparse::plain::product(c.view_mut(), one, p.0, p.1, &values, b.view());
            c
        },
        |d| {
            let mut c = zeros.clone();
            sparse::product::run(d, c.view_mut(), one, p.0, p.1, &values, b.view()).map(|()| c)
        },
        Some(|d: &Cpu| sparse::product::vjp(d, b.view(), zeros.view(), one, p.0, p.1, &values, b.view())),
    )
}

fn dense_programs(table: &mut Table) -> Result<(), Failure> {
    let n = 64;
    let a = matrix((n, n), 0.7) + 3.0 * Array2::<f64>::eye(n);
    let (b, zeros) = (matrix((n, 1), 0.9), Array2::zeros((n, 1)));
    table.add(
        "64 equations by LU",
        || lu::plain::solve(a.view(), b.view()),
        |d| {
            let mut x = zeros.clone();
            lu::solve::run(d, x.view_mut(), a.view(), b.view()).map(|()| x)
        },
        Some(|d: &Cpu| lu::solve::vjp(d, b.view(), zeros.view(), a.view(), b.view())),
    )?;
    let definite = a.dot(&a.t()) + Array2::<f64>::eye(n);
    table.add(
        "logarithm of a determinant by Cholesky, 64 by 64",
        || cholesky::plain::cholesky(definite.view()).map(|l| 2.0 * l.diag().mapv(f64::ln).sum()),
        |d| {
            let mut y = 0.0;
            cholesky::logdet::run(d, &mut y, definite.view()).map(|()| y)
        },
        Some(|d: &Cpu| cholesky::logdet::gradient(d, definite.view())),
    )?;
    let angles = numbers(16 * 15 / 2, 0.3);
    let x = matrix((16, 100), 0.4);
    table.add(
        "120 rotations of 100 columns",
        || unitary::plain::rotations(x.view(), &angles),
        |d| {
            let mut y = x.clone();
            unitary::rotations::run(d, y.view_mut(), &angles).map(|()| y)
        },
        Some(|d: &Cpu| unitary::rotations::vjp(d, x.view(), x.view(), &angles)),
    )?;
    let samples = matrix((1000, 16), 0.4);
    let zeros = Array2::zeros((16, 16));
    table.add(
        "covariances of 16 numbers, 1000 samples",
        || {
            let centred = &samples - &(samples.sum_axis(ndarray::Axis(0)) / 1000.0);
            centred.t().dot(&centred) / 1000.0
        },
        |d| {
            let mut c = zeros.clone();
            statistics::covariance_matrix::run(d, c.view_mut(), samples.view()).map(|()| c)
        },
        Some(|d: &Cpu| statistics::covariance_matrix::vjp(d, zeros.view(), zeros.view(), samples.view())),
    )
}

fn transforms(table: &mut Table) -> Result<(), Failure> {
    let n = 4096;
    let signal: Array1<_> = numbers(n, 0.7).into_iter().map(|v| Complex::new(v, -v)).collect();
    let plan = FftPlanner::new().plan_fft_forward(n);
    // rustfft has a complex number of its own
    let other: Vec<_> = signal.iter().map(|z| rustfft::num_complex::Complex::new(z.re, z.im)).collect();
    table.add(
        "Fourier transform of 4096 numbers, beside rustfft",
        || {
            let mut x = other.clone();
            plan.process(&mut x);
            x
        },
        |d| {
            let mut x = signal.clone();
            fft::fft::run(d, x.view_mut()).map(|()| x)
        },
        Some(|d: &Cpu| fft::fft::vjp(d, signal.view(), signal.view())),
    )?;
    let x = numbers(10_000, 0.7);
    let order = vec![0; x.len()];
    let pairs = vec![(); x.len()];
    table.add(
        "sorting 10⁴ numbers, the order kept",
        || sorting::plain::argsort(&x),
        |d| {
            let (mut y, mut order) = (x.clone(), order.clone());
            sorting::sort::run(d, &mut y, &mut order).map(|()| (y, order))
        },
        Some(|d: &Cpu| sorting::sort::vjp(d, &x, &pairs, &x, &order)),
    )?;
    let weights = numbers(x.len(), 0.2);
    let bins = vec![0.0; 64];
    table.add(
        "weighted histogram of 10⁴ numbers",
        || sorting::plain::histogram(64, &x, &weights, -1.0, 1.1),
        |d| {
            let mut bins = bins.clone();
            sorting::histogram::run(d, &mut bins, &x, &weights, -1.0, 1.1).map(|()| bins)
        },
        Some(|d: &Cpu| sorting::histogram::vjp(d, &bins, &bins, &x, &weights, -1.0, 1.1)),
    )
}

fn network_programs(table: &mut Table) -> Result<(), Failure> {
    let images = Array4::from_shape_fn((4, 3, 32, 32), |(n, c, i, j)| (0.1 * (n + c * i + j) as f64).sin());
    let kernel = Array4::from_shape_fn((8, 3, 3, 3), |(o, c, i, j)| (0.3 * (o + c + i * j) as f64).cos());
    let bias = Array1::from(numbers(8, 0.5));
    let zeros = Array4::zeros((4, 8, 32, 32));
    table.add(
        "convolution, 4 images of 3 by 32 by 32 to 8 channels",
        || layers::plain::convolution_2d(images.view(), kernel.view(), bias.view(), (1, 1, [32, 32])),
        |d| {
            let mut y = zeros.clone();
            let (images, kernel, bias) = (images.view(), kernel.view(), bias.view());
            layers::convolution_2d::run(d, y.view_mut(), images, kernel, bias, 1, 1).map(|()| y)
        },
        Some(|d: &Cpu| {
            let (images, kernel, bias) = (images.view(), kernel.view(), bias.view());
            layers::convolution_2d::vjp(d, zeros.view(), zeros.view(), images, kernel, bias, 1, 1)
        }),
    )?;
    let (x, p) = (matrix((1000, 10), 0.7), Array2::from_elem((1000, 10), 0.1));
    table.add(
        "cross entropy of 1000 rows of 10",
        || losses::plain::cross_entropy(x.view(), p.view()),
        |d| {
            let mut y = 0.0;
            losses::cross_entropy::run(d, &mut y, x.view(), p.view()).map(|()| y)
        },
        Some(|d: &Cpu| losses::cross_entropy::gradient(d, x.view(), p.view())),
    )?;
    let [q, k, v] = [0.3, 0.5, 0.7].map(|by| matrix((64, 32), by));
    fn views<'a>([q, k, v]: [&'a Array2<f64>; 3]) -> [ArrayView2<'a, f64>; 3] {
        [q.view(), k.view(), v.view()]
    }
    let given = views([&q, &k, &v]);
    let zeros = Array2::zeros((64, 32));
    table.add(
        "attention, 64 positions of 32 numbers",
        || attention::plain::attention(given[0], given[1], given[2], false),
        |d| {
            let mut y = zeros.clone();
            attention::attention::run(d, y.view_mut(), given[0], given[1], given[2], false).map(|()| y)
        },
        Some(|d: &Cpu| {
            attention::attention::vjp(d, given[0], zeros.view(), given[0], given[1], given[2], false)
        }),
    )?;
    let mut next = numbers(10_000, 0.37).into_iter().cycle();
    let weights = real_nvp::Weights::new(4, 16, 4, || 0.3 * next.next().unwrap_or_default());
    let samples = matrix((512, 4), 0.7);
    let (w, b, scale) = (weights.w.view(), weights.b.view(), weights.scale.view());
    let (r, shift, t) = (weights.r.view(), weights.shift.view(), weights.t.view());
    table.add(
        "likelihood of 512 samples by RealNVP, 4 layers",
        || real_nvp::plain::unlikelihood(samples.view(), &weights),
        |d| {
            let mut y = 0.0;
            real_nvp::unlikelihood::run(d, &mut y, samples.view(), w, b, scale, r, shift, t).map(|()| y)
        },
        Some(|d: &Cpu| real_nvp::unlikelihood::gradient(d, samples.view(), w, b, scale, r, shift, t)),
    )?;
    let halves = Array3::from_shape_fn((4, 8, 64), |(n, c, i)| (0.1 * (n + c * i) as f64).sin());
    let kernels =
        Array4::from_shape_fn((8, 8, 8, 3), |(l, o, c, k)| 0.1 * (0.3 * (l + o * c + k) as f64).cos());
    let biases = matrix((8, 8), 0.5);
    table.add(
        "8 reversible residual blocks, 4 signals of 16 by 64",
        || {
            let (mut x1, mut x2) = (halves.clone(), halves.clone());
            residual::plain::revnet(x1.view_mut(), x2.view_mut(), kernels.view(), biases.view());
            (x1, x2)
        },
        |d| {
            let (mut x1, mut x2) = (halves.clone(), halves.clone());
            let (kernels, biases) = (kernels.view(), biases.view());
            residual::revnet::run(d, x1.view_mut(), x2.view_mut(), kernels, biases).map(|()| (x1, x2))
        },
        Some(|d: &Cpu| {
            let x = || halves.view();
            residual::revnet::vjp(d, x(), x(), x(), x(), kernels.view(), biases.view())
        }),
    )
}

fn classics(table: &mut Table) -> Result<(), Failure> {
    let (position, velocity) = kepler::perihelion(0.5);
    table.add(
        "1000 steps around the sun",
        || {
            let (mut position, mut velocity) = (position, velocity);
            kepler::plain::orbit(&mut position, &mut velocity, black_box(1e-3), 1000);
            (position, velocity)
        },
        |d| {
            let (mut position, mut velocity) = (position, velocity);
            kepler::orbit::run(d, &mut position, &mut velocity, black_box(1e-3), 1000)
                .map(|()| (position, velocity))
        },
        Some(|d: &Cpu| kepler::orbit::vjp(d, [1.0, 0.0], [0.0, 0.0], &position, &velocity, 1e-3, 1000)),
    )?;
    let blocks: Vec<[u32; 2]> = (0..10_000).map(|i| [i, i ^ 0x5555]).collect();
    let key = [1, 2, 3, 4];
    table.add(
        "10⁴ blocks by XTEA",
        || blocks.iter().map(|block| xtea::plain::encipher(*block, key)).collect::<Vec<_>>(),
        |d| {
            let mut blocks = blocks.clone();
            xtea::encipher_each::run(d, &mut blocks, &key).map(|()| blocks)
        },
        NONE,
    )?;
    let rule = lattice_gas::Rule::fhp();
    let sites = Array2::from_shape_fn((64, 64), |(i, j)| ((i * 7 + j * 13) % 64) as u8);
    let moves = rule.moves(64, 64);
    table.add(
        "10 steps of a lattice gas, 64 by 64",
        || lattice_gas::plain::advance(&sites, &rule, 10),
        |d| {
            let mut sites = sites.clone();
            let (after, before) = (rule.after.view(), rule.before.view());
            lattice_gas::advance::run(d, &mut sites, after, before, &moves, 10).map(|()| sites)
        },
        NONE,
    )
}

fn run() -> Result<Outcome, Failure> {
    let columns = ["program", "plain, µs", "value", "gradient", "value, checks off", "gradient, checks off"];
    let report = Report::new("The library beside plain Rust, one thread".to_string(), &columns);
    // the harness adds options of its own
    let named = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut table = Table { named, race: Race::new(ROUNDS), report };
    sparse_programs(&mut table)?;
    dense_programs(&mut table)?;
    transforms(&mut table)?;
    network_programs(&mut table)?;
    classics(&mut table)?;
    drop(table.race);
    table.report.print()?;
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run())
}
