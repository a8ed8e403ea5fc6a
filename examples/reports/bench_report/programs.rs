//! What is measured.

use std::hint::black_box;

use rev::prelude::*;
use rev_kernels::ba;
use rev_kernels::bessel::{self, bessel_j};
use rev_kernels::gmm::{self, parameter_count};

use rev_examples::race::{Race, Work};
use rev_examples::support::Failure;

/// The sizes of the instances.
pub struct Sizes {
    /// Dimension and components of each mixture.
    pub gmm: &'static [[usize; 2]],
    /// The number of points of all of them.
    pub points: usize,
    /// Cameras, points and observations.
    pub ba: &'static [[usize; 3]],
}

impl Sizes {
    /// Those of the papers' tables, up to what one thread does in seconds.
    pub const FULL: Sizes = Sizes {
        gmm: &[[2, 5], [10, 5], [2, 200], [10, 50], [20, 50], [64, 5], [64, 10]],
        points: 10_000,
        ba: &[[49, 7776, 31_843], [161, 48_126, 182_072], [372, 47_423, 204_472]],
    };
    /// Small ones.
    pub const QUICK: Sizes = Sizes { gmm: &[[2, 5], [3, 4]], points: 50, ba: &[[2, 10, 20], [3, 12, 40]] };
}

/// The times of one instance.
pub struct Row {
    /// What it is.
    pub label: String,
    /// The number of parameters or observations.
    pub size: usize,
    /// Each work with its time in seconds; the first one is the plain twin's forward run.
    pub times: Vec<(&'static str, f64)>,
}

fn row(race: &Race, label: String, size: usize, mut works: Vec<Work>) -> Result<Row, Failure> {
    let times = race.run(&label, &mut works)?;
    Ok(Row { label, size, times: works.iter().map(|(name, _)| *name).zip(times).collect() })
}

fn work<'a, T>(name: &'static str, mut f: impl FnMut() -> Result<T, rev::Error> + 'a) -> Work<'a> {
    let run = move || {
        black_box(f()?);
        Ok(())
    };
    (name, Box::new(run))
}

/// One thread, with checks or without.
pub fn one_thread(checks: bool) -> Cpu {
    Cpu::with_threads(1).checks(checks)
}

/// `J_2(1)` by its series.
pub fn bessel(race: &Race) -> Result<Row, Failure> {
    const TOLERANCE: f64 = 1e-8;
    let (free, checked) = (one_thread(false), one_thread(true));
    let forward = |device: Cpu| {
        move || {
            let mut out = 0.0;
            bessel_j::run(&device, &mut out, 2, black_box(1.0), TOLERANCE)?;
            Ok(out)
        }
    };
    let inverse = || {
        let mut out = 0.0;
        bessel_j::run_inverse(&checked, &mut out, 2, black_box(1.0), TOLERANCE)?;
        Ok(out)
    };
    let gradient = || {
        let gradient = bessel_j::gradient(&checked, 2, black_box(1.0), TOLERANCE)?;
        Ok((gradient.value, gradient.z))
    };
    let works = vec![
        work("twin", || Ok(bessel::plain::bessel_j(2, black_box(1.0), TOLERANCE))),
        work("twin's gradient", || Ok(bessel::plain::gradient(2, black_box(1.0), TOLERANCE))),
        work("forward", forward(checked.clone())),
        work("forward, checks off", forward(free)),
        work("inverse", inverse),
        work("gradient", gradient),
    ];
    row(race, "J2(1.0)".into(), 1, works)
}

/// Gaussian mixtures.
pub fn gmm(race: &Race, sizes: &Sizes) -> Result<Vec<Row>, Failure> {
    let (free, checked) = (one_thread(false), one_thread(true));
    let one_at_a_time = checked.clone().lanes(false);
    let mut rows = Vec::new();
    for &[d, k] in sizes.gmm {
        let i = &gmm::Instance::random(d, k, sizes.points, 0);
        let forward = |device: &Cpu| {
            let mut loss = 0.0;
            let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
            gmm::objective::run(device, &mut loss, &i.alphas, means, icf, points, i.gamma, i.m).map(|()| loss)
        };
        let inverse = || {
            let mut loss = 0.0;
            let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
            gmm::objective::run_inverse(&checked, &mut loss, &i.alphas, means, icf, points, i.gamma, i.m)
        };
        let plain =
            || gmm::plain::objective(&i.alphas, i.means.view(), i.icf.view(), i.points.view(), i.gamma, i.m);
        let plain_gradient =
            || gmm::plain::gradient(&i.alphas, i.means.view(), i.icf.view(), i.points.view(), i.gamma, i.m);
        let works = vec![
            work("twin", || Ok(plain())),
            work("twin's gradient", || Ok(plain_gradient())),
            work("forward", || forward(&checked)),
            work("forward, checks off", || forward(&free)),
            work("inverse", inverse),
            work("gradient", || gmm_gradient(&checked, i)),
            work("gradient, by products", || gmm_gradient_by_products(&checked, i)),
            work("gradient, one at a time", || gmm_gradient(&one_at_a_time, i)),
        ];
        let parameters = parameter_count(d, k).unwrap_or_default();
        rows.push(row(race, format!("d = {d}, K = {k}"), parameters, works)?);
    }
    Ok(rows)
}

fn gmm_gradient(device: &Cpu, i: &gmm::Instance) -> Result<f64, rev::Error> {
    let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
    let g = gmm::objective::gradient(device, &i.alphas, means, icf, points, i.gamma, i.m)?;
    Ok(g.value)
}

fn gmm_gradient_by_products(device: &Cpu, i: &gmm::Instance) -> Result<f64, rev::Error> {
    let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
    let g = gmm::objective_by_products::gradient(device, &i.alphas, means, icf, points, i.gamma, i.m)?;
    Ok(g.value)
}

/// The memory of a gradient of a mixture.
pub struct Memory {
    /// Which one.
    pub label: String,
    /// How many parameters it has.
    pub parameters: usize,
    /// The most bytes that a gradient into the caller's buffers holds, with those of the parameters'
    /// gradients, one iteration at a time.
    pub peak: f64,
    /// The same in lanes.
    pub in_lanes: f64,
    /// The paper's formula, in bytes.
    pub formula: f64,
}

/// Peak memory of the mixtures' gradients beside the formula of the paper.
pub fn gmm_memory(sizes: &Sizes) -> Result<Vec<Memory>, Failure> {
    let device = one_thread(true);
    let mut all = Vec::new();
    for &[d, k] in sizes.gmm {
        let i = gmm::Instance::random(d, k, sizes.points, 0);
        let (df, kf, parameters) = (d as f64, k as f64, parameter_count(d, k).unwrap_or_default());
        let numbers = (3.0 + df * df + df) * kf + 2.0 * kf.log2() + parameters as f64;
        let number = size_of::<f64>() as f64;
        let peak = |lanes| {
            rev_cpu::scratch::clear();
            let bytes = peak_of_gradient(&device.clone().lanes(lanes), &i)?;
            Ok::<f64, rev::Error>(bytes as f64 + number * parameters as f64)
        };
        all.push(Memory {
            label: format!("d = {d}, K = {k}"),
            parameters,
            peak: peak(false)?,
            in_lanes: peak(true)?,
            formula: number * numbers,
        });
    }
    Ok(all)
}

/// The most bytes that the adjoint holds besides its arguments.
fn peak_of_gradient(device: &Cpu, i: &gmm::Instance) -> Result<u64, rev::Error> {
    type Shadow = Batch<f64, 1>;
    let zero = |x: &f64| x.zero_shadow::<1>();
    let mut alphas: Vec<Shadow> = i.alphas.iter().map(zero).collect();
    let [mut means, mut icf, mut points] = [&i.means, &i.icf, &i.points].map(|a| a.map(zero));
    let (mut loss, mut loss_bar) = (0.0, Batch([1.0]));
    let (mut gamma_bar, mut m_bar) = (i.gamma.zero_shadow::<1>(), i.m.zero_shadow::<1>());
    let mut result = Ok(());
    let memory = allocation_counter::measure(|| {
        result = gmm::objective::adjoint(
            device,
            &mut loss,
            &mut loss_bar,
            &i.alphas,
            &mut alphas,
            i.means.view(),
            means.view_mut(),
            i.icf.view(),
            icf.view_mut(),
            i.points.view(),
            points.view_mut(),
            i.gamma,
            &mut gamma_bar,
            i.m,
            &mut m_bar,
        );
    });
    result.map(|()| memory.bytes_max)
}

/// Bundle adjustment.
pub fn ba(race: &Race, sizes: &Sizes) -> Result<Vec<Row>, Failure> {
    let (free, checked) = (one_thread(false), one_thread(true));
    let mut rows = Vec::new();
    for &[n, m, p] in sizes.ba {
        let i = &ba::Instance::random(n, m, p, 0);
        let mut blocks = Vec::new();
        let (ref free, ref checked) = (&free, &checked);
        let works = vec![
            work("twin", || Ok(ba::plain::residuals(i))),
            work("twin's gradient", || Ok(ba::plain::gradient(i))),
            work("forward", || ba::values(checked, i)),
            work("forward, checks off", || ba::values(free, i)),
            work("Jacobian", move || {
                ba::each_jacobian(checked, i, 1 << 9, &mut blocks, |_, blocks| {
                    black_box(blocks);
                    Ok::<(), Error>(())
                })
            }),
            work("gradient", || ba::gradient(checked, i)),
        ];
        rows.push(row(race, format!("{n} cameras, {m} points, {p} observations"), p, works)?);
    }
    Ok(rows)
}
