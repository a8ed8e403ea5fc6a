//! A flow learns the density of a picture in two dimensions from points of it: affine coupling layers (Real NVP) whose parameters Adam
//! moves along the gradient of a reversible program. The layers run in place, forward to tell how likely a point is, and backwards to make new
//! points.

mod picture;
mod shape;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rev::prelude::*;
use rev_examples::support::{
    finish, largest, number, positive, progress, write_json, Checks, Failure, Outcome, Report,
};
use rev_kernels::io::write_whole;
use rev_networks::adam::Adam;
use rev_networks::flows::real_nvp::{real_nvp, unlikelihood, Weights};
use serde::Serialize;
use shape::Shape;

/// The most parameters, and the most points at a time.
const LARGEST: usize = 1_000_000;

/// A Real NVP flow that learns the density of a picture
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The picture
    #[arg(long, value_enum, default_value_t = Shape::Moons)]
    shape: Shape,
    /// Coupling layers
    #[arg(long, value_name = "L", default_value_t = 8, value_parser = positive)]
    layers: usize,
    /// Hidden numbers of each layer
    #[arg(long, value_name = "H", default_value_t = 32, value_parser = positive)]
    hidden: usize,
    /// Steps of Adam
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = positive)]
    steps: usize,
    /// Points for each step
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = positive)]
    batch: usize,
    /// The length of the first steps, which become shorter towards the end
    #[arg(long, value_name = "R", default_value_t = 0.005, value_parser = rate)]
    rate: f64,
    /// Seed of the points and of the first parameters
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Number of threads, all of them when not given
    #[arg(long, value_name = "T", value_parser = positive)]
    threads: Option<usize>,
    /// Write what was found to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw points of the picture and of the flow, and its density
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Compare the gradient with finite differences, and points with what comes back of them, before learning; exit status 1 when off
    #[arg(long)]
    check: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: Option<f64> = text.parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0);
    rate.ok_or_else(|| "a finite number above 0 is needed".into())
}

/// What `--json` writes: means of `-ln p` in nats.
#[derive(Serialize)]
struct Record {
    shape: Shape,
    seed: u64,
    layers: usize,
    hidden: usize,
    steps: usize,
    parameters: usize,
    /// Before the first step.
    first: f64,
    /// Of the last tenth of the steps.
    last: f64,
    /// Of points that weren't learned from.
    unseen: f64,
    /// The least that is possible.
    entropy: f64,
    /// The part of the flow's points that lie in the shape.
    inside: f64,
}

/// The flow on a device.
struct Flow {
    device: Cpu,
    weights: Weights,
}

impl Flow {
    /// A flow with small weights, which hardly changes points.
    fn new(options: &Options, rng: &mut ChaCha8Rng) -> Result<Flow, Failure> {
        let Options { layers, hidden, batch, .. } = *options;
        let parameters = hidden.checked_mul(4).and_then(|n| n.checked_add(2)?.checked_mul(layers));
        if parameters.is_none_or(|n| n > LARGEST) || batch > LARGEST {
            return Err(Failure::Sizes(format!(
                "expected at most {LARGEST} parameters, and as many points at a time"
            )));
        }
        let threads =
            options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let mut weights = Weights::new(layers, hidden, 2, || 0.1 * normal(rng));
        // what the hidden numbers see has to differ from one to the next
        weights.w.iter_mut().chain(&mut weights.b).for_each(|w| *w *= 10.0);
        Ok(Flow { device: Cpu::with_threads(threads), weights })
    }

    fn unlikelihood(&self, x: &Array2<f64>) -> Result<f64, Failure> {
        let (p, mut loss) = (&self.weights, 0.0);
        let (w, b, scale, r) = (p.w.view(), p.b.view(), p.scale.view(), p.r.view());
        let (shift, t) = (p.shift.view(), p.t.view());
        unlikelihood::run(&self.device, &mut loss, x.view(), w, b, scale, r, shift, t)?;
        Ok(loss)
    }

    /// The mean of `-ln p` of points, and its gradient.
    fn gradient(&self, x: &Array2<f64>) -> Result<(f64, Weights), Failure> {
        let p = &self.weights;
        let (w, b, scale, r) = (p.w.view(), p.b.view(), p.scale.view(), p.r.view());
        let (shift, t) = (p.shift.view(), p.t.view());
        let g = unlikelihood::gradient(&self.device, x.view(), w, b, scale, r, shift, t)?;
        Ok((g.value, Weights { w: g.w, b: g.b, scale: g.scale, r: g.r, shift: g.shift, t: g.t }))
    }

    /// Turns points in place into normally distributed ones, and gives `ln |det|` of each.
    fn forward(&self, x: &mut Array2<f64>) -> Result<Vec<f64>, Failure> {
        let (p, mut log_det) = (&self.weights, vec![0.0; x.nrows()]);
        let (w, b, scale, r) = (p.w.view(), p.b.view(), p.scale.view(), p.r.view());
        let (shift, t) = (p.shift.view(), p.t.view());
        real_nvp::run(&self.device, x.view_mut(), &mut log_det, w, b, scale, r, shift, t)?;
        Ok(log_det)
    }

    /// Turns normally distributed points in place into points of the picture.
    fn backward(&self, z: &mut Array2<f64>, log_det: &mut [f64]) -> Result<(), Failure> {
        let p = &self.weights;
        let (w, b, scale, r) = (p.w.view(), p.b.view(), p.scale.view(), p.r.view());
        let (shift, t) = (p.shift.view(), p.t.view());
        Ok(real_nvp::run_inverse(&self.device, z.view_mut(), log_det, w, b, scale, r, shift, t)?)
    }

    /// The density at points.
    fn density(&self, mut x: Array2<f64>) -> Result<Vec<f64>, Failure> {
        let log_det = self.forward(&mut x)?;
        let each = x.outer_iter().zip(log_det);
        let density = |(z, log_det): (ndarray::ArrayView1<f64>, f64)| {
            (log_det - 0.5 * z.dot(&z)).exp() / std::f64::consts::TAU
        };
        Ok(each.map(density).collect())
    }

    /// New points.
    fn make(&self, points: usize, rng: &mut ChaCha8Rng) -> Result<Array2<f64>, Failure> {
        let mut x = Array2::from_shape_simple_fn((points, 2), || normal(rng));
        self.backward(&mut x, &mut vec![0.0; points])?;
        Ok(x)
    }
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Learns, and gives the mean of `-ln p` at each step.
fn learn(flow: &mut Flow, options: &Options, rng: &mut ChaCha8Rng) -> Result<Vec<f64>, Failure> {
    let bar = progress(options.steps);
    let mut adam = Adam::new(options.rate, flow.weights.iter().count());
    let mut losses = Vec::with_capacity(options.steps);
    for step in 0..options.steps {
        // half a period of a cosine, from the whole rate to a hundredth
        let part = step as f64 / options.steps as f64;
        adam.rate = options.rate * (0.505 + 0.495 * (std::f64::consts::PI * part).cos());
        let (loss, gradient) = flow.gradient(&options.shape.sample(options.batch, rng))?;
        if !loss.is_finite() {
            bar.finish_and_clear();
            return Err(Failure::Sizes(format!(
                "learning went astray at step {step}: a smaller --rate may help"
            )));
        }
        adam.step(flow.weights.iter_mut(), gradient.iter());
        losses.push(loss);
        bar.set_message(format!("-ln p {loss:.3}"));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(losses)
}

/// The gradient against finite differences, and points that go there and back.
fn check(flow: &mut Flow, options: &Options, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let x = options.shape.sample(options.batch.min(100), rng);
    let (_, gradient) = flow.gradient(&x)?;
    let slopes: Vec<f64> = gradient.iter().copied().collect();
    let mut checks = Checks::new();
    for j in Checks::coordinates(slopes.len()) {
        let start = flow.weights.iter().nth(j).copied().unwrap_or_default();
        let mut at = |h: f64| -> Result<f64, Failure> {
            let set = |weights: &mut Weights, value: f64| {
                weights.iter_mut().skip(j).take(1).for_each(|w| *w = value)
            };
            set(&mut flow.weights, start + h);
            let loss = flow.unlikelihood(&x);
            set(&mut flow.weights, start);
            loss
        };
        checks.compare(format!("parameter {j}"), slopes[j], start, |h| Ok::<_, Failure>(at(h)? - at(-h)?))?;
    }
    let mut back = x.clone();
    let mut log_det = flow.forward(&mut back)?;
    flow.backward(&mut back, &mut log_det)?;
    let off = largest((&back - &x).iter().chain(&log_det));
    writeln!(std::io::stdout().lock(), "points come back to {off:.1e}")?;
    let outcome = checks.finish()?;
    Ok(if off < 1e-9 { outcome } else { Outcome::CheckFailed })
}

fn table(record: &Record) -> std::io::Result<()> {
    let title = format!(
        "A flow of {} layers with {} parameters, and the picture `{}`",
        record.layers,
        record.parameters,
        format!("{:?}", record.shape).to_lowercase()
    );
    let mut report = Report::new(title, &["mean of -ln p", "nats"]);
    report.row(["before learning".to_string(), number(record.first)]);
    report.row(["last tenth of the steps".to_string(), number(record.last)]);
    report.row(["points that it hasn't seen".to_string(), number(record.unseen)]);
    report.row(["the least possible: the logarithm of the area".to_string(), number(record.entropy)]);
    report.print()?;
    let part = 100.0 * record.inside;
    writeln!(std::io::stdout().lock(), "{part:.1} % of the points that it makes lie in the shape")
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut flow = Flow::new(options, &mut rng)?;
    if options.check && check(&mut flow, options, &mut rng)? == Outcome::CheckFailed {
        return Ok(Outcome::CheckFailed);
    }
    let unseen = options.shape.sample(5000, &mut rng);
    let first = flow.unlikelihood(&unseen)?;
    let losses = learn(&mut flow, options, &mut rng)?;
    let made = flow.make(5000, &mut rng)?;
    let inside = made.outer_iter().filter(|p| options.shape.contains(p[0], p[1])).count();
    let tail = &losses[losses.len() - losses.len().div_ceil(10)..];
    let Options { shape, seed, layers, hidden, steps, .. } = *options;
    let record = Record {
        shape,
        seed,
        layers,
        hidden,
        steps,
        parameters: flow.weights.iter().count(),
        first,
        last: tail.iter().sum::<f64>() / tail.len() as f64,
        unseen: flow.unlikelihood(&unseen)?,
        entropy: shape.entropy(),
        inside: inside as f64 / made.nrows() as f64,
    };
    table(&record)?;
    if let Some(path) = &options.plot {
        let density = flow.density(picture::cells())?;
        let svg = picture::document(unseen.view(), made.view(), &density)?;
        write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    write_json(options.json.as_deref(), &record)?;
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
