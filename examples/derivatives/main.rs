//! Derivatives of first, second and third order on small instances, and derivatives inside of programs.

mod graph;
mod programs;
mod series;
#[path = "../support/mod.rs"]
mod support;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use graph::{embedding, Graph, EDGES};
use ndarray::Array2;
use programs::*;
use rev::prelude::*;
use serde::Serialize;
use series::{bessel_derivatives, BESSEL_SECOND, BESSEL_THIRD};
use support::{finish, largest, number, write_json, Failure, Outcome, Report, Stopwatch, Timing};

/// Tangents, Hessians in three ways, and gradients inside of programs, on small instances.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// How often each time is taken
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = support::positive)]
    repeat: usize,
    /// Write the numbers to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Compare with numbers from elsewhere; exit status 1 when off
    #[arg(long)]
    check: bool,
}

/// A number for each order of modes, the outer one first: `r` reverse, `f` forward.
#[derive(Clone, Copy, Debug, Serialize)]
struct Modes<T> {
    rr: T,
    ff: T,
    fr: T,
    rf: T,
}

impl<T> Modes<T> {
    fn each(self) -> [(&'static str, T); 4] {
        [("rr", self.rr), ("ff", self.ff), ("fr", self.fr), ("rf", self.rf)]
    }
}

/// What `--json` writes.
#[derive(Serialize)]
struct Record {
    bessel_second: f64,
    bessel_third: f64,
    graph_asymmetry: f64,
    graph_ways: f64,
    particle: Modes<f64>,
    saddle: Modes<[f64; 4]>,
    gradient_ms: Timing,
    jvp_over_value: f64,
    gradient_over_value: f64,
    hvp_over_gradient: f64,
    jvp_8_over_value: f64,
    hvp_8_over_gradient: f64,
    hessian_column_over_gradient: f64,
}

/// The largest difference between two matrices, relative to the largest number in them.
fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    largest(&(a - b)) / largest(a).max(f64::MIN_POSITIVE)
}

/// Gradient descent of GradBench: steps that are taken ten times in a row become twice as long, others half as long.
/// Ends where the gradient or the step is at most 1e-5 long.
fn descend<const N: usize>(
    mut x: [f64; N],
    value: impl Fn(&[f64; N]) -> Result<f64, Error>,
    gradient: impl Fn(&[f64; N]) -> Result<[f64; N], Error>,
) -> Result<[f64; N], Error> {
    const SMALL: f64 = 1e-5;
    let length = |v: &[f64; N]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (mut at, mut slope, mut step, mut taken) = (value(&x)?, gradient(&x)?, 1e-5, 0);
    while length(&slope) > SMALL {
        if taken == 10 {
            (step, taken) = (2.0 * step, 0);
            continue;
        }
        if step * length(&slope) <= SMALL {
            break;
        }
        let next = std::array::from_fn(|k| x[k] - step * slope[k]);
        let there = value(&next)?;
        if there < at {
            (x, at, slope, taken) = (next, there, gradient(&next)?, taken + 1);
        } else {
            (step, taken) = (0.5 * step, 0);
        }
    }
    Ok(x)
}

/// The steps that a particle may take, and the second player.
const MOST: usize = 2048;

/// Where the upper charge has to be for the particle to arrive at 0, by each pair of modes.
fn particles(device: &Cpu) -> Result<Modes<f64>, Error> {
    let reverse_value = |w: &[f64; 1]| Ok(particle::gradient(device, force_reverse {}, w[0], MOST)?.value);
    let forward_value = |w: &[f64; 1]| Ok(particle::gradient(device, force_forward {}, w[0], MOST)?.value);
    let rr = |w: &[f64; 1]| Ok([particle::gradient(device, force_reverse {}, w[0], MOST)?.w]);
    let rf = |w: &[f64; 1]| Ok([particle::gradient(device, force_forward {}, w[0], MOST)?.w]);
    let fr = |w: &[f64; 1]| {
        Ok([particle::jvp(device, &0.0, force_reverse::TANGENT, 1.0, &0.0, force_reverse {}, w[0], MOST)?
            .loss_dot])
    };
    let ff = |w: &[f64; 1]| {
        Ok([particle::jvp(device, &0.0, force_forward::TANGENT, 1.0, &0.0, force_forward {}, w[0], MOST)?
            .loss_dot])
    };
    Ok(Modes {
        rr: descend([0.0], reverse_value, rr)?[0],
        ff: descend([0.0], forward_value, ff)?[0],
        fr: descend([0.0], reverse_value, fr)?[0],
        rf: descend([0.0], forward_value, rf)?[0],
    })
}

/// A point of the first player with the answer to it, where neither gains, by each pair of modes.
fn saddles(device: &Cpu) -> Result<Modes<[f64; 4]>, Error> {
    let still = [0.0; 2];
    let by_reverse =
        |x: &[f64; 2]| answer::vjp(device, 1.0, still, &0.0, &still, climb_reverse {}, x[0], x[1], MOST);
    let by_forward =
        |x: &[f64; 2]| answer::vjp(device, 1.0, still, &0.0, &still, climb_forward {}, x[0], x[1], MOST);
    let along_reverse = |x: &[f64; 2], (dx, dy): (f64, f64)| {
        let (of, climb) = (climb_reverse::TANGENT, climb_reverse {});
        answer::jvp(device, &0.0, &still, of, dx, dy, &0.0, &still, climb, x[0], x[1], MOST)
    };
    let along_forward = |x: &[f64; 2], (dx, dy): (f64, f64)| {
        let (of, climb) = (climb_forward::TANGENT, climb_forward {});
        answer::jvp(device, &0.0, &still, of, dx, dy, &0.0, &still, climb, x[0], x[1], MOST)
    };
    let (right, up) = ((1.0, 0.0), (0.0, 1.0));
    let gain_reverse = |x: &[f64; 2]| Ok(by_reverse(x)?.gain);
    let gain_forward = |x: &[f64; 2]| Ok(by_forward(x)?.gain);
    let rr = |x: &[f64; 2]| by_reverse(x).map(|v| [v.x1_bar, v.y1_bar]);
    let rf = |x: &[f64; 2]| by_forward(x).map(|v| [v.x1_bar, v.y1_bar]);
    let fr = |x: &[f64; 2]| Ok([along_reverse(x, right)?.gain_dot, along_reverse(x, up)?.gain_dot]);
    let ff = |x: &[f64; 2]| Ok([along_forward(x, right)?.gain_dot, along_forward(x, up)?.gain_dot]);
    let with_answer = |x: [f64; 2]| {
        let best = by_reverse(&x)?.best;
        Ok::<_, Error>([x[0], x[1], best[0], best[1]])
    };
    Ok(Modes {
        rr: with_answer(descend([1.0; 2], gain_reverse, rr)?)?,
        ff: with_answer(descend([1.0; 2], gain_forward, ff)?)?,
        fr: with_answer(descend([1.0; 2], gain_reverse, fr)?)?,
        rf: with_answer(descend([1.0; 2], gain_forward, rf)?)?,
    })
}

/// Times of the embedding in ten dimensions.
struct Times {
    value: Timing,
    gradient: Timing,
    jvp: Timing,
    hvp: Timing,
    jvp_8: Timing,
    hvp_8: Timing,
    hessian: Timing,
}

/// How often a work is repeated within one measurement: they are short.
const INNER: usize = 100;

fn times(device: &Cpu, graph: &Graph, repeat: usize) -> Result<Times, Error> {
    let x = Graph::start(10);
    let (x, a, b) = (x.view(), &graph.a[..], &graph.b[..]);
    let direction = Array2::from_shape_fn(x.dim(), |(i, k)| (i + 2 * k) as f64 * 0.1);
    let along = direction.view();
    let watch = Stopwatch::new(repeat, 5);
    let many = |work: &dyn Fn() -> Result<(), Error>| (0..INNER).try_for_each(|_| work());
    let value = watch.time("value", || many(&|| embedding::run(device, &mut 0.0, x, a, b, EDGES)))?;
    let gradient =
        watch.time("gradient", || many(&|| embedding::gradient(device, x, a, b, EDGES).map(drop)))?;
    let jvp = watch
        .time("jvp", || many(&|| embedding::jvp(device, &0.0, along, &0.0, x, a, b, EDGES).map(drop)))?;
    let hvp = watch.time("hvp", || many(&|| embedding::hvp(device, along, x, a, b, EDGES).map(drop)))?;
    let sides = direction.map(|v| Batch([1.0, -1.0, 0.5, 2.0, -0.5, 0.25, 3.0, -2.0].map(|by| by * v)));
    let (sides, still) = (sides.view(), Batch::splat(0.0));
    let jvp_8 = watch.time("jvp_8", || {
        many(&|| embedding::jvp_batch::<f64, 8>(device, still, sides, &0.0, x, a, b, EDGES).map(drop))
    })?;
    let hvp_8 = watch.time("hvp_8", || {
        many(&|| embedding::hvp_batch::<f64, 8>(device, sides, x, a, b, EDGES).map(drop))
    })?;
    let hessian = watch.time("hessian", || embedding::hessian(device, x, a, b, EDGES).map(drop))?;
    let each =
        |(_, time): ((), Timing)| Timing { min: time.min / INNER as f64, median: time.median / INNER as f64 };
    let (value, gradient, jvp, hvp) = (each(value), each(gradient), each(jvp), each(hvp));
    Ok(Times { value, gradient, jvp, hvp, jvp_8: each(jvp_8), hvp_8: each(hvp_8), hessian: hessian.1 })
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let device = Cpu::with_threads(1);
    let [bessel_second, bessel_third] = bessel_derivatives(&device)?;
    let graph = Graph::petersen();
    let x = Graph::start(5);
    let hessian = graph.hessian(&device, x.view())?;
    let forward = graph.forward_over_reverse(&device, x.view())?;
    let reverse = graph.reverse_over_reverse(&device, x.view())?;
    let products = graph.products(&device, x.view())?;
    let asymmetry = largest(&(&products - &products.t()));
    let ways = largest(&[apart(&hessian, &forward), apart(&hessian, &reverse), apart(&forward, &reverse)]);
    let (particle, saddle) = (particles(&device)?, saddles(&device)?);
    let times = times(&device, &graph, options.repeat)?;
    let columns = 100.0;
    let record = Record {
        bessel_second,
        bessel_third,
        graph_asymmetry: asymmetry,
        graph_ways: ways,
        particle,
        saddle,
        gradient_ms: times.gradient,
        jvp_over_value: times.jvp.min / times.value.min,
        gradient_over_value: times.gradient.min / times.value.min,
        hvp_over_gradient: times.hvp.min / times.gradient.min,
        jvp_8_over_value: times.jvp_8.min / times.value.min,
        hvp_8_over_gradient: times.hvp_8.min / times.gradient.min,
        hessian_column_over_gradient: times.hessian.min / times.gradient.min / columns,
    };
    print(&record)?;
    write_json(options.json.as_deref(), &record)?;
    Ok(if options.check && !is_right(&record) { Outcome::CheckFailed } else { Outcome::Good })
}

fn print(record: &Record) -> Result<(), Failure> {
    let mut report = Report::new("Derivatives of higher order", &["", "found", "expected"]);
    let digits = |name: &str, found: f64, expected: f64| {
        [name.to_string(), format!("{found:.16}"), format!("{expected:.16}")]
    };
    report.row(digits("J2''(1)", record.bessel_second, BESSEL_SECOND));
    report.row(digits("J2'''(1)", record.bessel_third, BESSEL_THIRD));
    let zero = |name: &str, found: f64| [name.to_string(), format!("{found:.1e}"), "0".to_string()];
    report.row(zero("embedding, k = 5: |H - Hᵀ|", record.graph_asymmetry));
    report.row(zero("embedding, k = 5: H in three ways", record.graph_ways));
    for (modes, w) in record.particle.each() {
        report.row(digits(&format!("particle, {modes}"), w, PARTICLE));
    }
    for (modes, at) in record.saddle.each() {
        report.row(digits(&format!("saddle, {modes}: x1"), at[0], SADDLE));
    }
    report.print()?;
    let title = "Times of the embedding in 10 dimensions (100 parameters), one thread";
    let mut report = Report::new(title, &["", "ratio"]);
    let ratios = [
        ("jvp / value", record.jvp_over_value),
        ("gradient / value", record.gradient_over_value),
        ("hvp / gradient", record.hvp_over_gradient),
        ("jvp along 8 directions / value", record.jvp_8_over_value),
        ("hvp along 8 directions / gradient", record.hvp_8_over_gradient),
        ("a column of the Hessian / gradient", record.hessian_column_over_gradient),
    ];
    for (name, ratio) in ratios {
        report.row([name.to_string(), number(ratio)]);
    }
    Ok(report.print()?)
}

/// What the implementations of GradBench give.
const PARTICLE: f64 = 0.207_191_874_648_611_6;
const SADDLE: f64 = 8.246_324_826_140_356e-6;

fn is_right(record: &Record) -> bool {
    let near = |a: f64, b: f64, most: f64| (a - b).abs() <= most * b.abs();
    near(record.bessel_second, BESSEL_SECOND, 1e-12)
        && near(record.bessel_third, BESSEL_THIRD, 1e-12)
        && record.graph_asymmetry < 1e-12
        && record.graph_ways < 1e-12
        && record.particle.each().iter().all(|(_, w)| near(*w, PARTICLE, 1e-8))
        && record.saddle.each().iter().all(|(_, at)| at.iter().all(|v| near(*v, SADDLE, 1e-6)))
}
