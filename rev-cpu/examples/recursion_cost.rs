//! What it costs that recursions are counted and their stack grows: programs beside the same in Rust with nothing
//! counted, in turn, by their quickest rounds.
//!
//!     cargo run --release -p rev-cpu --example recursion_cost

use std::hint::black_box;
use std::time::{Duration, Instant};

use rev_cpu::prelude::*;

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

fn fibonacci_uncounted(mut out: i64, n: i64) -> i64 {
    if n <= 2 {
        out += 1;
    } else {
        out = fibonacci_uncounted(out, n - 1);
        out = fibonacci_uncounted(out, n - 2);
    }
    out
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
fn quickest<const N: usize>(mut runs: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..400 {
        for (run, best) in runs.iter_mut().zip(&mut best) {
            let start = Instant::now();
            run();
            *best = (*best).min(start.elapsed());
        }
    }
    best
}

fn show(what: &str, calls: f64, [counted, uncounted]: [Duration; 2]) {
    let ns = |t: Duration| t.as_secs_f64() * 1e9 / calls;
    let ratio = counted.as_secs_f64() / uncounted.as_secs_f64();
    println!(
        "{what}: {:.2} ns a call, {:.2} ns with nothing counted: {ratio:.3}",
        ns(counted),
        ns(uncounted)
    );
}

fn main() -> Result<(), Error> {
    let device = Cpu::with_threads(1).checks(false);
    let (n, mut found) = (25, 0);
    fibonacci::run(&device, &mut found, n)?;
    let calls = 2.0 * found as f64 - 1.0;
    let times = quickest([
        &mut || {
            let mut out = 0;
            _ = black_box(fibonacci::run(&device, &mut out, black_box(n)).map(|()| out));
        },
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
            _ = black_box(halves_uncounted(&mut out, black_box(&x), 0, x.len()).map(|()| out));
        },
    ]);
    show("by reference", 2.0 * x.len() as f64 - 1.0, times);
    Ok(())
}
