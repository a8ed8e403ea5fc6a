//! Transforms, sorting, running sums.

use ndarray::Array1;
use rev::prelude::*;
use rev_algebra::{fft, sorting};
use rustfft::FftPlanner;

use super::{numbers, Failure, Table};

/// All of them.
pub fn all(table: &mut Table) -> Result<(), Failure> {
    transforms(table)?;
    sorts(table)
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
    let n = 8192;
    let real = numbers(n, 0.7);
    let packed: Array1<_> = real.chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect();
    let plan = FftPlanner::new().plan_fft_forward(n);
    table.add(
        "Fourier transform of 8192 real numbers, beside rustfft's of complex ones",
        || {
            let mut x: Vec<_> = real.iter().map(|v| rustfft::num_complex::Complex::new(*v, 0.0)).collect();
            plan.process(&mut x);
            x
        },
        |d| {
            let mut z = packed.clone();
            fft::real_fft::run(d, z.view_mut()).map(|()| z)
        },
        Some(|d: &Cpu| fft::real_fft::vjp(d, packed.view(), packed.view())),
    )?;
    let n = 64;
    let plan = FftPlanner::new().plan_fft_forward(n);
    let picture = signal.to_shape((n, n)).map_err(|e| Failure::Sizes(e.to_string()))?;
    table.add(
        "Fourier transform of 64 by 64 numbers, beside rustfft",
        || {
            // of the rows, and with rows and columns exchanged
            let exchanged = |x: &[_]| (0..n * n).map(|k| x[k % n * n + k / n]).collect::<Vec<_>>();
            let mut x = other.clone();
            plan.process(&mut x);
            let mut t = exchanged(&x);
            plan.process(&mut t);
            exchanged(&t)
        },
        |d| {
            let mut x = picture.to_owned();
            fft::fft2::run(d, x.view_mut()).map(|()| x)
        },
        Some(|d: &Cpu| fft::fft2::vjp(d, picture.view(), picture.view())),
    )
}

fn sorts(table: &mut Table) -> Result<(), Failure> {
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
    )?;
    let (zeros, none, pairs) = (vec![0.0; x.len()], vec![0; x.len()], vec![(); x.len()]);
    table.add(
        "records of 10⁴ numbers",
        || sorting::plain::records(&x),
        |d| {
            let (mut y, mut at, mut count) = (zeros.clone(), none.clone(), 0);
            sorting::records::run(d, &mut y, &mut at, &mut count, &x).map(|()| (y, at, count))
        },
        Some(|d: &Cpu| sorting::records::vjp(d, &zeros, &pairs, (), &zeros, &none, &0, &x)),
    )?;
    table.add(
        "running sums of 10⁴ numbers",
        || sorting::plain::cumulative_sum(&x),
        |d| {
            let mut y = x.clone();
            sorting::cumulative_sum::run(d, &mut y).map(|()| y)
        },
        Some(|d: &Cpu| sorting::cumulative_sum::vjp(d, &x, &x)),
    )?;
    table.add(
        "running products of 10⁴ numbers",
        || sorting::plain::cumulative_product(&x),
        |d| {
            let mut y = zeros.clone();
            sorting::cumulative_product::run(d, &mut y, &x).map(|()| y)
        },
        Some(|d: &Cpu| sorting::cumulative_product::vjp(d, &x, &zeros, &x)),
    )?;
    table.add(
        "running maxima of 10⁴ numbers",
        || sorting::plain::running_maximum(&x),
        |d| {
            let mut y = zeros.clone();
            sorting::running_maximum::run(d, &mut y, &x).map(|()| y)
        },
        Some(|d: &Cpu| sorting::running_maximum::vjp(d, &x, &zeros, &x)),
    )
}
