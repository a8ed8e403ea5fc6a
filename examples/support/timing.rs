//! Times of repeated work.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Timing {
    /// The shortest.
    pub min: f64,
    /// The middle one.
    pub median: f64,
}

impl Timing {
    fn of(mut milliseconds: Vec<f64>) -> Timing {
        milliseconds.sort_by(f64::total_cmp);
        let (n, at) = (milliseconds.len(), |i: usize| milliseconds.get(i).copied().unwrap_or(f64::NAN));
        Timing { min: at(0), median: 0.5 * (at(n.saturating_sub(1) / 2) + at(n / 2)) }
    }

    /// Both, for a table.
    pub fn cells(&self) -> [String; 2] {
        [format!("{:.3} ms", self.min), format!("{:.3} ms", self.median)]
    }
}

/// A bar that shows how much of the work is done.
pub fn progress(parts: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:>24} {wide_bar} {pos}/{len} [{elapsed_precise}]");
    let bar =
        ProgressBar::new(parts as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Repeats work and takes its time, with a progress bar while it lasts.
pub struct Stopwatch {
    repeat: usize,
    bar: ProgressBar,
}

impl Stopwatch {
    /// For `parts` different works, each repeated `repeat` times.
    pub fn new(repeat: usize, parts: usize) -> Stopwatch {
        Stopwatch { repeat, bar: progress(repeat * parts) }
    }

    /// Runs a work as often as asked and gives its last result and its times.
    pub fn time<T, E>(
        &self,
        name: &'static str,
        mut work: impl FnMut() -> Result<T, E>,
    ) -> Result<(T, Timing), E> {
        self.bar.set_message(name);
        let mut run = || -> Result<(T, f64), E> {
            let start = Instant::now();
            let result = work()?;
            let milliseconds = start.elapsed().as_secs_f64() * 1e3;
            self.bar.inc(1);
            Ok((result, milliseconds))
        };
        let (mut result, first) = run()?;
        let mut times = vec![first];
        for _ in 1..self.repeat {
            let next = run()?;
            result = next.0;
            times.push(next.1);
        }
        Ok((result, Timing::of(times)))
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
