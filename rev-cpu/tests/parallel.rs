//! Parallel loops: every class of accumulation, on 1, 2 and 8 threads, forward, inverse and
//! adjoint; and the bits of the deterministic mode.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::ArrayView2;
use rev_cpu::prelude::*;

/// `y += α x`: the scalar is read by every iteration, so its gradient is a sum over all of them.
#[reversible]
fn axpy<T: Real>(y: &mut [T], alpha: T, x: &[T]) {
    for i in par(0..y.len()) {
        y[i] += alpha * x[i];
    }
}

/// Accumulation through an index array, and its dual.
#[reversible]
fn scatter<T: Real>(y: &mut [T], x: &[T], idx: &[usize]) {
    for i in par(0..x.len()) {
        y[idx[i]] += x[i] * x[i];
    }
}

#[reversible]
fn gather<T: Real>(y: &mut [T], x: &[T], idx: &[usize]) {
    for i in par(0..y.len()) {
        y[i] += x[idx[i]] * x[idx[i]];
    }
}

/// An inner parallel loop with an ancilla, summed into a scalar.
#[reversible]
fn fit<T: Real>(loss: &mut T, w: &[T], x: &[T], y: &[T]) {
    for i in par(0..y.len()) {
        let mut p = T::zero();
        for j in 0..w.len() {
            p += x[i * w.len() + j] * w[j];
        }
        let r = p - y[i];
        *loss += r * r / (T::one() + r.abs());
    }
}

/// Parallel loops inside each other: a table, its row sums and the total.
#[reversible]
fn totals<T: Real>(total: &mut T, rows: &mut [T], a: ArrayView2<T>, scale: T) {
    for i in par(0..a.nrows()) {
        for j in par(0..a.ncols()) {
            rows[i] += a[[i, j]] * scale;
            *total += a[[i, j]] * a[[i, j]] * scale;
        }
    }
}

/// All iterations accumulate into one element, which is only there where the condition holds.
#[reversible]
fn guarded(sums: &mut [f64], x: &[f64], k: usize) {
    for i in par(0..x.len()) {
        if k < sums.len() {
            sums[k] += x[i];
        }
    }
}

/// Counting by parity: `^=` in any order.
#[reversible]
fn parity(bits: &mut u64, odd: &mut [bool], x: &[u64]) {
    for i in par(0..x.len()) {
        *bits ^= x[i];
        odd[x[i] as usize % 3] ^= x[i] % 2 == 1;
    }
}

/// Every element swapped and changed by one iteration, from the end.
#[reversible]
fn exchange<T: Real>(x: &mut [T], y: &mut [T]) {
    for i in par((0..x.len()).rev()) {
        swap(x[i], y[i]);
        x[i] += y[i] * y[i];
    }
}

fn devices() -> Vec<(Cpu, bool)> {
    let of =
        |threads, deterministic| (Cpu::with_threads(threads).deterministic(deterministic), deterministic);
    vec![of(1, false), of(2, false), of(8, false), of(1, true), of(2, true), of(8, true)]
}

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        })
        .collect()
}

fn close(a: f64, b: f64) {
    approx::assert_relative_eq!(a, b, epsilon = 1e-9, max_relative = 1e-9);
}

#[test]
fn a_scalar_that_a_million_iterations_read() {
    let n = 1_000_000;
    let (x, seed, alpha) = (numbers(n, 1), numbers(n, 2), 0.75);
    let expected: f64 = x.iter().zip(&seed).map(|(x, s)| x * s).sum();
    let mut bits = Vec::new();
    for (cpu, deterministic) in devices() {
        let y = numbers(n, 3);
        let g = axpy::vjp(&cpu, &seed, &y, alpha, &x).unwrap();
        close(g.alpha_bar, expected);
        assert!(g.x_bar.iter().zip(&seed).all(|(b, s)| *b == alpha * s));
        assert_eq!(g.y[17], y[17] + alpha * x[17]);
        if deterministic {
            bits.push(g.alpha_bar.to_bits());
        }
        let mut back = g.y.clone();
        axpy::run_inverse(&cpu, &mut back, alpha, &x).unwrap();
        assert_abs_diff_eq!(back[..], y[..], epsilon = 1e-15);
    }
    assert!(bits.windows(2).all(|w| w[0] == w[1]), "{bits:?}");
}

#[test]
fn random_indices_with_heavy_collision() {
    let (n, m) = (200_000, 7);
    let x = numbers(n, 4);
    let idx: Vec<usize> = numbers(n, 5).iter().map(|v| ((v + 0.5) * m as f64) as usize % m).collect();
    let mut sums = vec![0.0; m];
    idx.iter().zip(&x).for_each(|(&i, x)| sums[i] += x * x);
    let seed = numbers(n, 6);
    let mut cotangents = vec![0.0; m];
    let table = numbers(m, 7);
    idx.iter().zip(&seed).for_each(|(&i, s)| cotangents[i] += 2.0 * table[i] * s);
    let mut bits = Vec::new();
    for (cpu, deterministic) in devices() {
        let mut y = vec![0.0; m];
        scatter::run(&cpu, &mut y, &x, &idx).unwrap();
        y.iter().zip(&sums).for_each(|(a, b)| close(*a, *b));
        let g = gather::vjp(&cpu, &seed, &vec![0.0; n], &table, &idx).unwrap();
        g.x_bar.iter().zip(&cotangents).for_each(|(a, b)| close(*a, *b));
        if deterministic {
            bits.push(y.iter().chain(&g.x_bar).map(|v| v.to_bits()).collect::<Vec<_>>());
        }
        scatter::run_inverse(&cpu, &mut y, &x, &idx).unwrap();
        assert!(y.iter().all(|&v| abs_diff_eq!(v, 0.0, epsilon = 1e-9)));
    }
    assert!(bits.windows(2).all(|w| w[0] == w[1]));
}

#[test]
fn loops_inside_loops() {
    for (rows, columns) in [(2, 60_000), (60_000, 2), (300, 400)] {
        let a = ndarray::Array2::from_shape_vec((rows, columns), numbers(rows * columns, 20)).unwrap();
        let square: f64 = a.iter().map(|v| v * v).sum();
        let mut bits = Vec::new();
        for (cpu, deterministic) in devices() {
            let seed = vec![2.0; rows];
            let g = totals::vjp(&cpu, 1.0, &seed, &0.0, &vec![0.0; rows], a.view(), 0.5).unwrap();
            close(g.total, 0.5 * square);
            close(g.rows[1], 0.5 * a.row(1).sum());
            close(g.a_bar[[1, 1]], 1.0 + a[[1, 1]]);
            close(g.scale_bar, square + 2.0 * a.sum());
            if deterministic {
                bits.push((g.total.to_bits(), g.scale_bar.to_bits(), g.rows[0].to_bits()));
            }
        }
        assert!(bits.windows(2).all(|w| w[0] == w[1]), "{bits:?}");
    }
}

#[test]
fn one_element_that_may_be_missing() {
    let x = vec![0.5; 100_000];
    for (cpu, _) in devices() {
        let mut sums = [0.0; 2];
        guarded::run(&cpu, &mut sums, &x, 1).unwrap();
        guarded::run(&cpu, &mut sums, &x, 2).unwrap();
        assert_eq!(sums, [0.0, 50_000.0]);
    }
}

#[test]
fn parities_and_exchanges() {
    let x: Vec<u64> = numbers(100_000, 21).iter().map(|v| v.to_bits()).collect();
    let expected = x.iter().fold(0, |a, b| a ^ b);
    let values = numbers(50_000, 22);
    for (cpu, _) in devices() {
        let (mut bits, mut odd) = (0, [false; 3]);
        parity::run(&cpu, &mut bits, &mut odd, &x).unwrap();
        assert_eq!(bits, expected);
        assert_eq!(odd.iter().filter(|b| **b).count() % 2, x.iter().filter(|v| *v % 2 == 1).count() % 2);
        parity::run_inverse(&cpu, &mut bits, &mut odd, &x).unwrap();
        assert_eq!((bits, odd), (0, [false; 3]));

        let (mut a, mut b) = (values.clone(), vec![0.5; values.len()]);
        exchange::run(&cpu, &mut a, &mut b).unwrap();
        assert_eq!((a[3], b[3]), (0.5 + values[3] * values[3], values[3]));
        let v = exchange::vjp(&cpu, &vec![1.0; a.len()], &vec![0.0; a.len()], &values, &b).unwrap();
        close(v.x_bar[7], 2.0 * values[7]);
        exchange::run_inverse(&cpu, &mut a, &mut b).unwrap();
        assert!(a.iter().zip(&values).all(|(a, v)| a == v));
    }
}

#[test]
fn a_large_scattered_target() {
    let (n, m) = (50_000, 400_000);
    let seed = numbers(n, 8);
    let table = numbers(m, 9);
    let idx: Vec<usize> = numbers(n, 10).iter().map(|v| ((v + 0.5) * m as f64) as usize % m).collect();
    let mut expected = vec![0.0; m];
    idx.iter().zip(&seed).for_each(|(&i, s)| expected[i] += 2.0 * table[i] * s);
    for threads in [1, 2, 8] {
        let g = gather::vjp(&Cpu::with_threads(threads), &seed, &vec![0.0; n], &table, &idx).unwrap();
        g.x_bar.iter().zip(&expected).for_each(|(a, b)| close(*a, *b));
    }
}

#[test]
fn a_sum_with_ancillas_inside() {
    let (n, m) = (20_000, 5);
    let (w, x, y) = (numbers(m, 11), numbers(n * m, 12), numbers(n, 13));
    let one = fit::gradient(&Cpu::with_threads(1), &w, &x, &y).unwrap();
    for (cpu, _) in devices() {
        let g = fit::gradient(&cpu, &w, &x, &y).unwrap();
        close(g.value, one.value);
        g.w.iter().zip(&one.w).for_each(|(a, b)| close(*a, *b));
        g.x.iter().zip(&one.x).for_each(|(a, b)| close(*a, *b));
        let unchecked = fit::gradient(&cpu.clone().checks(false), &w, &x, &y).unwrap();
        close(unchecked.value, one.value);
    }
}

/// Copies that are so large that all threads add them up.
#[test]
fn sums_into_large_copies() {
    let (n, m) = (600_000, 40_000);
    let x = numbers(n, 14);
    let idx: Vec<usize> = numbers(n, 15).iter().map(|v| ((v + 0.5) * m as f64) as usize % m).collect();
    let mut expected = vec![0.0; m];
    idx.iter().zip(&x).for_each(|(&i, x)| expected[i] += x * x);
    for threads in [2, 3, 8] {
        for deterministic in [false, true] {
            let cpu = Cpu::with_threads(threads).checks(false).deterministic(deterministic);
            let mut y = vec![0.0; m];
            scatter::run(&cpu, &mut y, &x, &idx).unwrap();
            y.iter().zip(&expected).for_each(|(a, b)| close(*a, *b));
        }
    }
}

/// Threads of a pool of the caller's run programs, each with threads of its own or those of the pool.
#[test]
fn inside_the_callers_pool() {
    let n = 300_000;
    let (x, seed, alpha) = (numbers(n, 16), numbers(n, 17), 0.75);
    let expected: f64 = x.iter().zip(&seed).map(|(x, s)| x * s).sum();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for cpu in [Cpu::new(), Cpu::with_threads(2), Cpu::with_threads(1), Cpu::new().deterministic(true)] {
        let call = || {
            let g = axpy::vjp(&cpu, &seed, &vec![0.0; n], alpha, &x).unwrap();
            close(g.alpha_bar, expected);
        };
        call();
        pool.install(|| rayon::join(call, call));
    }
}

/// The sum of some terms.
#[reversible]
fn sum<T: Real>(total: &mut T, x: &[T]) {
    for i in par(0..x.len()) {
        *total += x[i];
    }
}

/// Sums into an array: of all terms, and of their products with what its elements come from.
#[reversible]
fn moments<T: Real>(sums: &mut [T], x: &[T], w: &[T]) {
    for i in par(0..x.len()) {
        for j in 0..sums.len() {
            sums[j] += x[i] * w[j];
        }
    }
}

/// The sum without rounding errors to speak of.
fn compensated(x: impl Iterator<Item = f64>) -> f64 {
    let (sum, rest) = x.fold((0.0, 0.0), |(sum, rest): (f64, f64), x| {
        let next = sum + x;
        let lost = if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        (next, rest + lost)
    });
    sum + rest
}

#[test]
fn rounding_errors_dont_grow_with_the_number_of_terms() {
    let n = 1_000_000;
    let check = |found: f32, exact: f64, what: &str, d: &Cpu| {
        let error = (f64::from(found) / exact - 1.0).abs();
        assert!(error < 1e-5, "{what} on {d:?}: {error:e}");
    };
    // each addition of a tenth to a large sum is rounded in the same direction
    let tenths = vec![0.1f32; n];
    let waves: Vec<f32> = (0..n).map(|i| (i as f64 * 0.37).sin() as f32 + 1.1).collect();
    let [tenth, wave] = [&tenths, &waves].map(|x| compensated(x.iter().map(|x| f64::from(*x))));
    for threads in [1, 2, 7] {
        for checks in [true, false] {
            let d = Cpu::with_threads(threads).checks(checks);
            for d in [&d, &d.clone().parallel_from(0)] {
                let mut totals = [0.0f32; 2];
                sum::run(d, &mut totals[0], &tenths).unwrap();
                sum::run(d, &mut totals[1], &waves).unwrap();
                check(totals[0], tenth, "tenths", d);
                check(totals[1], wave, "waves", d);
            }
            let mut sums = [0.0f32; 2];
            moments::run(&d, &mut sums, &waves, &[0.5, 2.0]).unwrap();
            check(sums[0], 0.5 * wave, "half", &d);
            check(sums[1], 2.0 * wave, "twice", &d);
            let (y, ones) = (vec![0.0f32; n], vec![1.0f32; n]);
            check(axpy::vjp(&d, &waves, &y, 1.0f32, &ones).unwrap().alpha_bar, wave, "gradient", &d);
        }
    }
}

/// So much work that scattered sums are added up atomically, in a loop inside too; the numbers are such that every sum is
/// exact in any order.
#[reversible]
fn far<T: Real>(bins: &mut [T], y: &mut [T], table: &[T], x: &[T], to: &[usize], also: &[usize]) {
    for i in par(0..x.len()) {
        let v = x[i] * x[i];
        let a = v + 2.0 * x[i] - 0.5 * (v + x[i] + x[i] * 0.25) + (x[i] - 0.25) * 0.5 + (v - 0.5) * 0.25
            - x[i] * 0.125
            + (x[i] + 0.5) * 0.5
            - (v + 0.25) * 0.5;
        bins[to[i]] += a;
        for k in par(0..2) {
            bins[also[2 * i + k]] -= x[i] * 0.5;
        }
        y[i] += table[to[i]] * a;
        y[i] -= table[also[i]] * x[i];
    }
}

#[test]
fn sums_that_are_added_up_in_place() {
    let (n, m) = (2000, 50_000);
    let quarters =
        |n: usize, by: usize| (0..n).map(|i| (i * by % 17) as f64 * 0.25 - 2.0).collect::<Vec<_>>();
    let places = |n: usize, by: usize| (0..n).map(|i| i * by % 1009 % m).collect::<Vec<_>>();
    let (table, x, to, also) = (quarters(m, 5), quarters(n, 3), places(n, 7), places(2 * n, 11));
    let run = |device: &dyn Device| {
        let (mut bins, mut y) = (vec![0.0; m], vec![0.0; n]);
        far::run(device, &mut bins, &mut y, &table, &x, &to, &also).unwrap();
        let v = far::vjp(device, &table, &x, &bins, &y, &table, &x, &to, &also).unwrap();
        (bins, y, v.table_bar, v.x_bar)
    };
    let right = run(&rev_core::interp::Interpreter::new());
    for (cpu, _) in devices() {
        for cpu in [cpu.clone(), cpu.clone().checks(false), cpu.lanes(false)] {
            let found = run(&cpu.parallel_from(0));
            assert!(found == right);
        }
    }
}
