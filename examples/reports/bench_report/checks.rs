//! What checks cost: every program of the crate with them and without.

use std::hint::black_box;

use ndarray::{s, Array2};
use rev::prelude::*;
use rev_kernels::{
    affine, ba, bal, bessel, complex_log, dense, exponential, fibonacci, gates, gmm, ising_chain, kmeans,
    leapfrog, log_sum_exp, multiplier, norm, rotation, wave,
};

use super::programs::one_thread;
use super::releases;
use rev_examples::race::{Race, Work};
use rev_examples::support::Failure;

/// The times of one work without checks and with them, in seconds.
pub struct Cost {
    /// Which one.
    pub label: String,
    /// Without, with.
    pub times: [f64; 2],
}

impl Cost {
    /// How many times longer it takes with checks.
    pub fn ratio(&self) -> f64 {
        self.times[1] / self.times[0]
    }
}

/// Measures on a device.
struct Costs<'r> {
    race: &'r Race,
    all: Vec<Cost>,
}

impl Costs<'_> {
    fn add<T>(&mut self, label: &str, run: impl Fn(&Cpu) -> Result<T, rev::Error>) -> Result<(), Failure> {
        let on = |device: Cpu| {
            let run = &run;
            move || {
                black_box(run(&device)?);
                Ok(())
            }
        };
        let mut works: [Work; 2] =
            [("off", Box::new(on(one_thread(false)))), ("on", Box::new(on(one_thread(true))))];
        let times = self.race.run(label, &mut works)?;
        self.all.push(Cost { label: label.into(), times: [times[0], times[1]] });
        Ok(())
    }
}

/// Every program, with arrays of about `n` numbers.
pub fn costs(race: &Race, n: usize) -> Result<Vec<Cost>, Failure> {
    let mut costs = Costs { race, all: Vec::new() };
    let x: Vec<f64> = (0..n).map(|i| 0.5 + (i % 97) as f64 / 100.0).collect();
    scalars(&mut costs)?;
    arrays(&mut costs, &x)?;
    mixtures(&mut costs, n)?;
    adjustments(&mut costs, n)?;
    physics(&mut costs)?;
    compared(&mut costs, &x)?;
    Ok(costs.all)
}

fn physics(costs: &mut Costs) -> Result<(), Failure> {
    let angles =
        |columns| Array2::from_shape_fn((4, columns), |(i, j)| 0.1 + 0.2 * i as f64 + 0.05 * j as f64);
    let (bonds, fields) = (angles(9), angles(10));
    costs.add("chain of 10 spins", |d| {
        let mut energy = 0.0;
        ising_chain::energy::run(d, &mut energy, bonds.view(), fields.view(), 1.0, 0.5).map(|()| energy)
    })?;
    costs.add("chain of 10 spins, gradient", |d| {
        ising_chain::energy::gradient(d, bonds.view(), fields.view(), 1.0, 0.5)
    })?;
    let layer = wave::Layer { cells: 12, speed: 1000.0, reflection: 0.2 };
    let medium = wave::Medium::new(Array2::from_elem((100, 100), 1000.0), 0.05, (20.0, 20.0), layer);
    let (start, source) = (wave::filled((100, 100), 0.5), ([50, 50], 0.1));
    costs.add("wave equation, ten steps", |d| {
        let mut field = start.clone();
        (0..10).try_for_each(|_| wave::advance(d, &mut field, &medium, source)).map(|()| field)
    })?;
    let mut ones = wave::zero_bars((100, 100));
    ones.0 = wave::filled((100, 100), Batch([1.0]));
    costs.add("wave equation, ten pullbacks", |d| {
        let (mut field, mut bars) = (start.clone(), ones.clone());
        (0..10)
            .try_for_each(|_| wave::back(d, &mut field, &mut bars, &medium, source).map(drop))
            .map(|()| bars)
    })
}

/// What is compared besides.
fn compared(costs: &mut Costs, x: &[f64]) -> Result<(), Failure> {
    costs.add("numbers released by hand, in lanes", |d| {
        let mut y = vec![0.0; x.len()];
        releases::of_numbers::run(d, &mut y, x).map(|()| y)
    })?;
    let seeds = vec![1.0; x.len()];
    costs.add("numbers released by hand, in lanes, gradient", |d| {
        releases::of_numbers::vjp(d, &seeds, &seeds, x)
    })?;
    costs.add("an array released by hand", |d| {
        let mut y = 0.0;
        releases::of_an_array::run(d, &mut y, x).map(|()| y)
    })?;
    costs.add("an array released by hand, gradient", |d| releases::of_an_array::gradient(d, x))?;
    let (table, j) =
        (Array2::from_elem((x.len(), 3), 0.5), (0..x.len()).map(|i| 1 + i % 2).collect::<Vec<_>>());
    costs.add("elements compared, in lanes", |d| {
        let mut a = table.clone();
        releases::of_elements::run(d, a.view_mut(), &j).map(|()| a)
    })?;
    let seeds = Array2::from_elem((x.len(), 3), 1.0);
    costs.add("elements compared, in lanes, gradient", |d| {
        releases::of_elements::vjp(d, seeds.view(), table.view(), &j)
    })
}

fn scalars(costs: &mut Costs) -> Result<(), Failure> {
    costs.add("multiplier", |d| {
        let mut y = 0.0;
        multiplier::multiplier::run(d, &mut y, black_box(2.0), 3.0).map(|()| y)
    })?;
    costs.add("multiplier, gradient", |d| multiplier::multiplier::gradient(d, black_box(2.0), 3.0))?;
    costs.add("complex logarithm", |d| {
        let mut y = Complex::new(0.0, 0.0);
        complex_log::complex_log::run(d, &mut y, black_box(Complex::new(3.0, 2.0))).map(|()| y)
    })?;
    costs.add("complex logarithm, gradient", |d| {
        let one = Complex::new(1.0, 0.0);
        complex_log::complex_log::vjp(d, one, &one, black_box(Complex::new(3.0, 2.0)))
    })?;
    costs.add("exponential by its series", |d| {
        let mut y = 0.0;
        exponential::exponential::run(d, &mut y, black_box(1.6), 1e-10).map(|()| y)
    })?;
    costs.add("exponential by its series, gradient", |d| {
        exponential::exponential::gradient(d, black_box(1.6), 1e-10)
    })?;
    costs.add("J2(1.0)", |d| {
        let mut y = 0.0;
        bessel::bessel_j::run(d, &mut y, 2, black_box(1.0), 1e-8).map(|()| y)
    })?;
    costs.add("J2(1.0), gradient", |d| bessel::bessel_j::gradient(d, 2, black_box(1.0), 1e-8))?;
    costs.add("rotation", |d| {
        let mut out = [0.0; 3];
        rotation::rotate::run(d, &mut out, &black_box([0.3, -0.2, 0.5]), &[1.0, 2.0, 3.0]).map(|()| out)
    })?;
    costs.add("rotation, gradient", |d| {
        let (seed, out) = ([1.0, 0.5, 0.25], [0.0; 3]);
        rotation::rotate::vjp(d, seed, &out, &black_box([0.3, -0.2, 0.5]), &[1.0, 2.0, 3.0])
    })?;
    costs.add("leapfrog, 1000 steps", |d| {
        let (mut x, mut v) = (1.0, 0.0);
        leapfrog::leapfrog::run(d, &mut x, &mut v, 0.01, black_box(1000)).map(|()| x)
    })?;
    costs.add("leapfrog, 1000 steps, gradient", |d| {
        leapfrog::leapfrog::vjp(d, 1.0, 0.5, &0.7, &0.3, 0.01, black_box(1000))
    })?;
    costs.add("Fibonacci number 20, recursive", |d| {
        let mut y = 0;
        fibonacci::fibonacci::run(d, &mut y, black_box(20)).map(|()| y)
    })?;
    costs.add("first Fibonacci number from 10⁶ on", |d| {
        let mut y = 0;
        fibonacci::first_at_least::run(d, &mut y, black_box(1_000_000)).map(|()| y)
    })?;
    costs.add("Fibonacci number 12, recursive in a loop", |d| {
        let mut y = 0;
        fibonacci::by_odd_steps::run(d, &mut y, black_box(12)).map(|()| y)
    })
}

fn arrays(costs: &mut Costs, x: &[f64]) -> Result<(), Failure> {
    costs.add("norm", |d| {
        let mut y = 0.0;
        norm::norm::run(d, &mut y, x).map(|()| y)
    })?;
    costs.add("norm, gradient", |d| norm::norm::gradient(d, x))?;
    costs.add("log-sum-exp", |d| {
        let mut y = 0.0;
        log_sum_exp::log_sum_exp::run(d, &mut y, x).map(|()| y)
    })?;
    costs.add("log-sum-exp, gradient", |d| log_sum_exp::log_sum_exp::gradient(d, x))?;
    costs.add("J2 at many points", |d| {
        let mut y = vec![0.0; x.len()];
        bessel::bessel_j_each::run(d, &mut y, 2, x, 1e-8).map(|()| y)
    })?;
    let seeds = vec![1.0; x.len()];
    costs
        .add("J2 at many points, gradient", |d| bessel::bessel_j_each::vjp(d, &seeds, &seeds, 2, x, 1e-8))?;
    let side = (x.len() as f64).sqrt().ceil() as usize;
    let table = |rows: usize, columns: usize| {
        Array2::from_shape_fn((rows, columns), |(i, j)| x[(i * columns + j) % x.len()] - 0.9)
    };
    let (w, v, row) = (table(side, side), table(side, 2), vec![0.5; side]);
    costs.add("affine map", |d| {
        let mut y = vec![0.0; w.nrows()];
        affine::affine::run(d, &mut y, w.view(), &row, &row).map(|()| y)
    })?;
    costs.add("affine map, gradient", |d| affine::affine::vjp(d, &row, &row, w.view(), &row, &row))?;
    costs.add("k-means", |d| {
        let mut y = 0.0;
        kmeans::cost::run(d, &mut y, v.view(), w.slice(s![.., ..2])).map(|()| y)
    })?;
    costs.add("k-means, gradient", |d| kmeans::cost::gradient(d, v.view(), w.slice(s![.., ..2])))?;
    let (batch, wanted, bias) = (table(8, side), table(8, 2), vec![0.1; side]);
    costs.add("dense layers", |d| {
        let mut y = 0.0;
        dense::dense::run(d, &mut y, w.view(), &bias, v.view(), batch.view(), wanted.view()).map(|()| y)
    })?;
    costs.add("dense layers, gradient", |d| {
        dense::dense::gradient(d, w.view(), &bias, v.view(), batch.view(), wanted.view())
    })?;
    let qubits = x.len().max(8).ilog2() as usize;
    let state = gates::product_state(qubits, 0);
    costs.add("quantum gates", |d| {
        let (mut y, mut state) = (0.0, state.clone());
        gates::expectation::run(d, &mut y, &mut state, 0.3, 0.4, 0.5, 0, 1).map(|()| y)
    })?;
    costs.add("quantum gates, gradient", |d| gates::expectation::gradient(d, &state, 0.3, 0.4, 0.5, 0, 1))
}

fn mixtures(costs: &mut Costs, n: usize) -> Result<(), Failure> {
    for [d, k] in [[2, 5], [10, 25]] {
        let i = gmm::Instance::random(d, k, n, 0);
        let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
        macro_rules! variant {
            ($name:literal, $program:path) => {{
                use $program as program;
                let label = format!("mixture of {k} in {d} dimensions{}", $name);
                costs.add(&label, |d| {
                    let mut loss = 0.0;
                    program::run(d, &mut loss, &i.alphas, means, icf, points, i.gamma, i.m).map(|()| loss)
                })?;
                costs.add(&format!("{label}, gradient"), |d| {
                    program::gradient(d, &i.alphas, means, icf, points, i.gamma, i.m)
                })?;
            }};
        }
        variant!("", gmm::objective);
        variant!(", by products", gmm::objective_by_products);
        variant!(", by matrices", gmm::objective_by_matrices);
    }
    Ok(())
}

fn adjustments(costs: &mut Costs, n: usize) -> Result<(), Failure> {
    let (cameras, points) = ((n / 500).max(2), (n / 4).max(10));
    macro_rules! problem {
        ($name:literal, $module:ident) => {{
            let i = $module::Instance::random(cameras, points, n, 0);
            costs.add(concat!($name, ", residuals"), |d| $module::values(d, &i))?;
            costs.add(concat!($name, ", Jacobian"), |d| {
                $module::each_jacobian(d, &i, 1 << 9, &mut Vec::new(), |_, blocks| {
                    black_box(blocks);
                    Ok::<(), Error>(())
                })
            })?;
            costs.add(concat!($name, ", gradient"), |d| $module::gradient(d, &i))?;
        }};
    }
    problem!("bundle adjustment", ba);
    problem!("bundle adjustment in the large", bal);
    Ok(())
}
