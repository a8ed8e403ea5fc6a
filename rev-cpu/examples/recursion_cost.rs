//! What it costs that recursions are counted and their stack grows: programs, and the same in Rust with what counts and
//! without it, in turn, by their quickest rounds.
//!
//!     cargo run --release -p rev-cpu --example recursion_cost

use std::hint::black_box;
use std::time::{Duration, Instant};

use rev_core::tolerance::Options;
use rev_cpu::context::{Context, Restoring, Run};
use rev_cpu::prelude::*;
use rev_cpu::recursion::{by_value, is_low, more_calls, on_more};

/// What a frame takes at most.
const FRAME: usize = 4 << 10;

/// By value: `out +=` the `n`-th Fibonacci number.
#[reversible]
fn fibonacci(out: &mut i64, n: i64) {
    if n <= 2 {
        *out += 1;
    } else {
        fibonacci(&mut *out, n - 1);
        fibonacci(&mut *out, n - 2);
    }
}

fn fibonacci_counted(out: i64, n: i64, left: usize) -> i64 {
    if left == 0 {
        return more_calls(FRAME, move |left| fibonacci_counted(out, n, left));
    }
    if n <= 2 {
        out + 1
    } else {
        let out = fibonacci_counted(out, n - 1, left - 1);
        fibonacci_counted(out, n - 2, left - 1)
    }
}

fn fibonacci_uncounted(out: i64, n: i64) -> i64 {
    if n <= 2 {
        out + 1
    } else {
        let out = fibonacci_uncounted(out, n - 1);
        fibonacci_uncounted(out, n - 2)
    }
}

/// By reference, for its array: `out +=` the sum of the elements, by halves.
#[reversible]
fn halves(out: &mut f64, x: &[f64], from: usize, to: usize) {
    if to - from == 1 {
        *out += x[from];
    } else {
        halves(&mut *out, &x, from, from + (to - from) / 2);
        halves(&mut *out, &x, from + (to - from) / 2, to);
    }
}

type Cx<'a> = Context<'a, Restoring>;

fn halves_counted(cx: Cx<'_>, out: &mut f64, x: &[f64], from: usize, to: usize) -> Result<(), Error> {
    if is_low(FRAME) {
        return on_more(FRAME, move || halves_counted(cx, out, x, from, to));
    }
    let cx = cx.deeper()?;
    if to - from == 1 {
        *out += x[from];
    } else {
        halves_counted(cx, out, x, from, from + (to - from) / 2)?;
        halves_counted(cx, out, x, from + (to - from) / 2, to)?;
    }
    Ok(())
}

fn halves_uncounted(out: &mut f64, x: &[f64], from: usize, to: usize) -> Result<(), Error> {
    if to - from == 1 {
        *out += x[from];
    } else {
        halves_uncounted(out, x, from, from + (to - from) / 2)?;
        halves_uncounted(out, x, from + (to - from) / 2, to)?;
    }
    Ok(())
}

/// The quickest of many rounds of each.
fn quickest(mut runs: [&mut dyn FnMut(); 3]) -> [Duration; 3] {
    let mut best = [Duration::MAX; 3];
    for _ in 0..400 {
        for (run, best) in runs.iter_mut().zip(&mut best) {
            let start = Instant::now();
            run();
            *best = (*best).min(start.elapsed());
        }
    }
    best
}

fn show(what: &str, calls: f64, times: [Duration; 3]) {
    let [program, counted, uncounted] = times.map(|t| t.as_secs_f64() * 1e9 / calls);
    println!("{what}: {program:.2} ns a call; by hand counted {counted:.2}, not counted {uncounted:.2}");
    println!("    program/counted {:.3}, counted/not counted {:.3}", program / counted, counted / uncounted);
}

fn main() -> Result<(), Error> {
    let device = Cpu::with_threads(1).checks(false);
    let options = Options::default();
    let run = Run::new(&options);
    let cx: Cx<'_> = run.context();
    let (n, mut found) = (25, 0);
    fibonacci::run(&device, &mut found, n)?;
    let calls = 2.0 * found as f64 - 1.0;
    let times = quickest([
        &mut || {
            let mut out = 0;
            _ = black_box(fibonacci::run(&device, &mut out, black_box(n)).map(|()| out));
        },
        &mut || _ = black_box(by_value(cx, FRAME, |left| fibonacci_counted(0, black_box(n), left))),
        &mut || _ = black_box(fibonacci_uncounted(0, black_box(n))),
    ]);
    show("by value", calls, times);
    let x: Vec<f64> = (0..1 << 16).map(|k| 1.0 / (k + 1) as f64).collect();
    let times = quickest([
        &mut || {
            let mut out = 0.0;
            _ = black_box(halves::run(&device, &mut out, black_box(&x), 0, x.len()).map(|()| out));
        },
        &mut || {
            let mut out = 0.0;
            _ = black_box(halves_counted(cx, &mut out, black_box(&x), 0, x.len()).map(|()| out));
        },
        &mut || {
            let mut out = 0.0;
            _ = black_box(halves_uncounted(&mut out, black_box(&x), 0, x.len()).map(|()| out));
        },
    ]);
    show("by reference", 2.0 * x.len() as f64 - 1.0, times);
    Ok(())
}
