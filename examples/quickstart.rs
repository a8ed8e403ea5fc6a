//! One function: its run, its inverse, its gradient on two devices, its checks, and its program.

use std::process::ExitCode;

use clap::Parser;
use ndarray::arr2;
use rev::prelude::*;

/// Runs one reversible function in every way there is.
#[derive(Parser)]
#[command(version)]
struct Options {}

/// `loss += Σ r² / (1 + |r|)` for the residuals `r = x·w - y` of a linear model.
#[reversible]
fn fit<T: Real>(loss: &mut T, w: &[T], x: ArrayView2<T>, y: &[T]) {
    for i in par(0..y.len()) {
        let mut p = T::zero();
        for j in 0..w.len() {
            p += x[[i, j]] * w[j];
        }
        let r = p - y[i];
        *loss += r * r / (1.0 + r.abs());
    }
}

fn run() -> Result<(), Error> {
    let (w, y) = ([0.5, -1.0], [1.0, 2.0, 3.0]);
    let x = arr2(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);

    let mut loss = 10.0;
    fit(&mut loss, &w, x.view(), &y)?;
    println!("run:      loss = {loss:.6}");
    fit::inverse(&mut loss, &w, x.view(), &y)?;
    println!("inverse:  loss = {loss:.6}");

    let cpu = Cpu::new();
    let g = fit::gradient(&cpu, &w, x.view(), &y)?;
    println!("gradient: value {:.6}, by w {:.6?}, by y {:.6?}", g.value, g.w, g.y);
    let interpreted = fit::gradient(&Interpreter::new(), &w, x.view(), &y)?;
    println!("the interpreter gives {:.6?} by w", interpreted.w);

    println!("\n{}", fit::check_gradient(&cpu, &loss, &w, x.view(), &y)?);
    println!("\nThe program:\n\n{}", fit::ir());
    println!("\nIts adjoint:\n\n{}", fit::ir().adjoint());
    Ok(())
}

fn main() -> ExitCode {
    let Options {} = Options::parse();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
