//! The wave's numbers: those of others, differences, the transpose.

use rev::checkpoint::{in_place, Run};
use rev::device::Device;
use rev::prelude::*;
use rev::schedule::Binomial;
use rev_kernels::wave::{advance, back, filled, ricker, zero_bars, Bars, Field, Layer, Medium};
use serde::Serialize;

use rev_examples::support::{number, Failure, Outcome, Report};

/// The sum of the squares at all times and at the last one, as ReversibleSeismic.jl computes them.
const SUMS: [f64; 2] = [10.931_466_822_080_788, 6.234_873_084_873_294e-5];

/// The largest relative difference that is good: of the sums, and of derivatives from differences.
const TOLERANCE: [f64; 2] = [1e-9, 1e-6];

/// The steps of the loop whose gradient is compared.
const STEPS: usize = 300;

#[derive(Serialize)]
pub struct Verified {
    sum_all: f64,
    sum_last: f64,
    /// The largest relative difference of derivatives by squared speeds from finite differences.
    gradient_difference: f64,
    /// `|⟨A v, w⟩ - ⟨v, Aᵀ w⟩|`, relative.
    dot_product_difference: f64,
}

fn medium() -> Medium {
    let layer = Layer { cells: 12, speed: 1000.0, reflection: 0.2 };
    Medium::new(Array2::from_elem((100, 100), 1000.0), 0.05, (20.0, 20.0), layer)
}

const SOURCE: [usize; 2] = [48, 48];

fn squares(field: &Field<f64>) -> f64 {
    field.1.iter().map(|u| u * u).sum()
}

/// The sum of the squares of all steps, and of the last one.
fn sums(device: &dyn Device, medium: &Medium, wavelet: &[f64]) -> Result<[f64; 2], Error> {
    let mut field = filled(medium.c.dim(), 0.0);
    let mut all = 0.0;
    for amount in wavelet {
        advance(device, &mut field, medium, (SOURCE, *amount))?;
        all += squares(&field);
    }
    Ok([all, squares(&field)])
}

fn gradient(device: &dyn Device, medium: &Medium, wavelet: &[f64]) -> Result<Array2<f64>, Failure> {
    let cells = medium.c.dim();
    let mut step = in_place(
        |n, field: &mut Field<f64>| Ok(advance(device, field, medium, (SOURCE, wavelet[n as usize]))?),
        |_, field: &Field<f64>, bars: &mut Bars| {
            bars.0 .1.zip_mut_with(&field.1, |bar, u| bar.0[0] += 2.0 * u);
            Ok(())
        },
        |n, field: &mut Field<f64>, bars: &mut Bars| {
            back(device, field, bars, medium, (SOURCE, wavelet[n as usize]))?;
            Ok(())
        },
    );
    let mut bars = zero_bars(cells);
    let steps = wavelet.len() as u64;
    let schedule = Binomial::treeverse(steps, 10).map_err(|e| Failure::Sizes(e.to_string()))?;
    Run::new().gradient(schedule, steps, &mut step, filled(cells, 0.0), &mut bars)?;
    Ok(bars.1.mapv(|bar| bar.0[0]))
}

fn gradient_difference(device: &dyn Device) -> Result<f64, Failure> {
    let (medium, wavelet) = (medium(), ricker(STEPS, 30.0, 80.0));
    let by_c = gradient(device, &medium, &wavelet)?;
    // a direction through all cells, and some cells
    let wavy =
        Array2::from_shape_fn(medium.c.dim(), |(i, j)| (0.1 * i as f64).sin() + (0.17 * j as f64).cos());
    let mut directions = vec![wavy];
    for cell in [[48, 48], [50, 47], [55, 41], [40, 48]] {
        let mut direction = Array2::zeros(medium.c.dim());
        direction[cell] = 1.0;
        directions.push(direction);
    }
    let mut worst = 0f64;
    for direction in &directions {
        let moved = |h: f64| -> Result<f64, Error> {
            let mut medium = medium.clone();
            medium.c.scaled_add(h, direction);
            Ok(sums(device, &medium, &wavelet)?[0])
        };
        let h = 2.0;
        let slope = (8.0 * (moved(h)? - moved(-h)?) - (moved(2.0 * h)? - moved(-2.0 * h)?)) / (12.0 * h);
        let found: f64 = by_c.iter().zip(direction).map(|(g, d)| g * d).sum();
        let off = (found - slope).abs() / slope.abs().max(found.abs());
        worst = if off > worst || off.is_nan() { off } else { worst };
    }
    Ok(worst)
}

/// Numbers in every cell.
pub fn uneven(cells: (usize, usize), seed: f64) -> Field<f64> {
    let one =
        |k: f64| Array2::from_shape_fn(cells, |(i, j)| (seed + k + 0.9 * i as f64 + 0.4 * j as f64).sin());
    (one(0.1), one(0.5), one(0.9), one(1.7))
}

/// Cotangents of one number each.
pub fn bars_of(field: &Field<f64>) -> Bars {
    let bar = |a: &Array2<f64>| a.mapv(|x| Batch([x]));
    let mut bars = zero_bars(field.0.dim());
    bars.0 = (bar(&field.0), bar(&field.1), bar(&field.2), bar(&field.3));
    bars
}

fn all(field: &Field<f64>) -> impl Iterator<Item = &f64> {
    field.0.iter().chain(&field.1).chain(&field.2).chain(&field.3)
}

fn dot_product_difference(device: &dyn Device) -> Result<f64, Error> {
    let medium = medium();
    let (v, w) = (uneven(medium.c.dim(), 0.1), uneven(medium.c.dim(), 2.3));
    let mut av = v.clone();
    advance(device, &mut av, &medium, (SOURCE, 0.0))?;
    let there: f64 = all(&av).zip(all(&w)).map(|(a, b)| a * b).sum();
    let mut bars = bars_of(&w);
    back(device, &mut av, &mut bars, &medium, (SOURCE, 0.0))?;
    let f = bars.0;
    let transposed = f.0.iter().chain(&f.1).chain(&f.2).chain(&f.3);
    let back: f64 = all(&v).zip(transposed).map(|(a, b)| a * b.0[0]).sum();
    Ok((there - back).abs() / there.abs())
}

/// Computes all of them, and prints them.
pub fn verify(device: &dyn Device) -> Result<(Verified, Outcome), Failure> {
    let [sum_all, sum_last] = sums(device, &medium(), &ricker(2000, 100.0, 500.0)[..1999])?;
    let gradient_difference = gradient_difference(device)?;
    let dot_product_difference = dot_product_difference(device)?;
    let off = [sum_all / SUMS[0] - 1.0, sum_last / SUMS[1] - 1.0].map(f64::abs);
    let mut report = Report::new("The wave's numbers", &["", "found", "relative difference"]);
    let small = |x: f64| format!("{x:.1e}");
    report.row(["sum of u² at all times".into(), number(sum_all), small(off[0])]);
    report.row(["sum of u² at the end".into(), number(sum_last), small(off[1])]);
    report.row(["gradient and differences".into(), String::new(), small(gradient_difference)]);
    report.row(["adjoint and transpose".into(), String::new(), small(dot_product_difference)]);
    report.print()?;
    let good = off.iter().all(|off| *off < TOLERANCE[0])
        && gradient_difference < TOLERANCE[1]
        && dot_product_difference < TOLERANCE[0];
    let outcome = if good { Outcome::Good } else { Outcome::CheckFailed };
    Ok((Verified { sum_all, sum_last, gradient_difference, dot_product_difference }, outcome))
}
