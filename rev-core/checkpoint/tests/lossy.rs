//! Programs that lose information, each by checkpoints: recipes, and their numbers.

#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use rev_checkpoint::{from_old, in_place, no_loss, Run};
use rev_cpu::prelude::*;
use rev_schedule::{Binomial, Online, Policy};

/// A derivative of fourth order in `h`.
fn slope(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert_relative_eq!(found, expected, epsilon = 1e-3 * tolerance, max_relative = tolerance);
}

/// Lorenz' right side.
#[pure]
fn lorenz(x: f64, y: f64, z: f64, s: f64, r: f64, b: f64) -> (f64, f64, f64) {
    (s * (y - x), x * (r - z) - y, x * y - b * z)
}

/// A step of Runge and Kutta's method.
#[reversible]
fn runge_kutta(new: &mut [f64; 3], old: &[f64; 3], by: &[f64; 3], dt: f64) {
    let (a0, a1, a2) = lorenz(old[0], old[1], old[2], by[0], by[1], by[2]);
    let h = dt / 2.0;
    let (b0, b1, b2) = lorenz(old[0] + h * a0, old[1] + h * a1, old[2] + h * a2, by[0], by[1], by[2]);
    let (c0, c1, c2) = lorenz(old[0] + h * b0, old[1] + h * b1, old[2] + h * b2, by[0], by[1], by[2]);
    let (d0, d1, d2) = lorenz(old[0] + dt * c0, old[1] + dt * c1, old[2] + dt * c2, by[0], by[1], by[2]);
    new[0] += old[0] + dt / 6.0 * (a0 + 2.0 * b0 + 2.0 * c0 + d0);
    new[1] += old[1] + dt / 6.0 * (a1 + 2.0 * b1 + 2.0 * c1 + d1);
    new[2] += old[2] + dt / 6.0 * (a2 + 2.0 * b2 + 2.0 * c2 + d2);
}

const LORENZ: [f64; 3] = [10.0, 27.0, 8.0 / 3.0];

/// The derivatives of the last `x` by the start and by the parameters.
fn by_lorenz(steps: u64, states: usize) -> [f64; 6] {
    let (cpu, dt) = (Cpu::new(), 3e-3);
    let mut step = from_old(
        [0.0; 3],
        |_, new, old| Ok(runge_kutta::run(&cpu, new, old, &LORENZ, dt)?),
        no_loss,
        |_, new, old, (bar, by): &mut ([Batch<f64, 1>; 3], [Batch<f64, 1>; 3])| {
            let (mut old_bar, mut dt_bar) = ([Batch([0.0]); 3], Batch([0.0]));
            runge_kutta::pullback(&cpu, new, bar, old, &mut old_bar, &LORENZ, by, dt, &mut dt_bar)?;
            *bar = old_bar;
            Ok(())
        },
    );
    let mut bars = ([Batch([1.0]), Batch([0.0]), Batch([0.0])], [Batch([0.0]); 3]);
    let schedule = Binomial::revolve(steps, states).unwrap();
    Run::new().gradient(schedule, steps, &mut step, [1.0, 0.0, 0.0], &mut bars).unwrap();
    let all = bars.0.iter().chain(&bars.1).map(|b| b.0[0]).collect::<Vec<_>>();
    all.try_into().unwrap()
}

/// Differences hold for 300 steps. 10^4 steps are chaotic: rounding errors grow as the derivatives do, so the bits of two schedules
/// are compared, and the size with others' numbers (1807 and 787698 by the start, 176518 and 1301739 by parameters).
#[test]
fn lorenz_by_runge_kutta() {
    let last = |k: usize, h: f64| {
        let (mut x, mut by) = ([1.0, 0.0, 0.0], LORENZ);
        if k < 3 {
            x[k] += h
        } else {
            by[k - 3] += h
        }
        for _ in 0..300 {
            let mut next = [0.0; 3];
            runge_kutta(&mut next, &x, &by, 3e-3).unwrap();
            x = next;
        }
        x[0]
    };
    for (k, found) in by_lorenz(300, 10).into_iter().enumerate() {
        close(found, slope(|h| last(k, h), 1e-3), 1e-7);
    }
    let (few, many) = (by_lorenz(10_000, 30), by_lorenz(10_000, 2000));
    assert_eq!(few.map(f64::to_bits), many.map(f64::to_bits));
    for found in few {
        assert!((10.0..1e9).contains(&found.abs()), "{few:?}");
    }
}

/// A step of the heat equation between cold ends, with a conductivity in each cell.
#[reversible]
fn heat(new: &mut [f64], old: &[f64], k: &[f64]) {
    let n = old.len();
    for i in 0..n {
        new[i] += old[i];
        new[i] -= 2.0 * k[i] * old[i];
    }
    for i in 1..n {
        new[i] += k[i] * old[i - 1];
        new[i - 1] += k[i - 1] * old[i];
    }
}

type Vector = Vec<Batch<f64, 1>>;

/// By the conductivities: the temperature in the middle, added up over time.
#[test]
fn the_heat_equation() {
    const N: usize = 20;
    let (cpu, steps) = (Cpu::new(), 400u64);
    let k: Vec<f64> = (0..N).map(|i| 0.2 + 0.01 * i as f64).collect();
    let first: Vec<f64> = (0..N).map(|i| f64::from(i == 4) + 0.3).collect();
    let mut step = from_old(
        vec![0.0; N],
        |_, new: &mut Vec<f64>, old: &Vec<f64>| Ok(heat::run(&cpu, new, old, &k)?),
        |_, after: &Vec<f64>, (bar, _, _, total): &mut (Vector, Vector, Vector, f64)| {
            *total += after[N / 2];
            bar[N / 2].0[0] += 1.0;
            Ok(())
        },
        |_, new: &mut Vec<f64>, old: &Vec<f64>, (bar, old_bar, k_bar, _)| {
            old_bar.fill(Batch([0.0]));
            heat::pullback(&cpu, new, bar, old, old_bar, &k, k_bar)?;
            std::mem::swap(bar, old_bar);
            Ok(())
        },
    );
    let zero = || vec![Batch([0.0]); N];
    let mut bars = (zero(), zero(), zero(), 0.0);
    let schedule = Binomial::revolve(steps, 6).unwrap();
    Run::new().gradient(schedule, steps, &mut step, first.clone(), &mut bars).unwrap();
    let total = |cell: usize, h: f64| {
        let (mut x, mut k) = (first.clone(), k.clone());
        k[cell] += h;
        (0..steps).fold(0.0, |sum, _| {
            let mut next = vec![0.0; N];
            heat(&mut next, &x, &k).unwrap();
            x = next;
            sum + x[N / 2]
        })
    };
    close(bars.3, total(0, 0.0), 1e-13);
    for cell in [0, 4, N / 2, N - 1] {
        close(bars.2[cell].0[0], slope(|h| total(cell, h), 1e-3), 1e-7);
    }
}

/// `x_new = x - rate ∇f(x)` for Rosenbrock's function.
#[reversible]
fn descend(new: &mut [f64; 2], old: &[f64; 2], rate: f64) {
    let valley = old[1] - old[0] * old[0];
    new[0] += old[0] + rate * (2.0 * (1.0 - old[0]) + 40.0 * old[0] * valley);
    new[1] += old[1] - rate * 20.0 * valley;
}

#[pure]
fn rosenbrock(x: f64, y: f64) -> f64 {
    (1.0 - x).powi(2) + 10.0 * (y - x * x).powi(2)
}

/// What is reached after 200 steps, by the rate of each step: rates that are learned by them reach less.
#[test]
fn rates_are_learned_through_the_steps_of_gradient_descent() {
    let (cpu, steps) = (Cpu::new(), 200u64);
    let reached = |rates: &[f64]| {
        let mut x = [-1.0, 1.5];
        for rate in rates {
            let mut next = [0.0; 2];
            descend(&mut next, &x, *rate).unwrap();
            x = next;
        }
        rosenbrock(x[0], x[1])
    };
    let gradient = |rates: &[f64]| {
        let mut step = from_old(
            [0.0; 2],
            |n, new: &mut [f64; 2], old: &[f64; 2]| Ok(descend::run(&cpu, new, old, rates[n as usize])?),
            |n, [x, y]: &[f64; 2], (bar, _): &mut ([Batch<f64, 1>; 2], Vec<f64>)| {
                if n + 1 == steps {
                    let valley = 20.0 * (y - x * x);
                    *bar = [Batch([-2.0 * (1.0 - x) - 2.0 * x * valley]), Batch([valley])];
                }
                Ok(())
            },
            |n, new: &mut [f64; 2], old: &[f64; 2], (bar, by_rate)| {
                let (mut old_bar, mut rate_bar) = ([Batch([0.0]); 2], Batch([0.0]));
                descend::pullback(&cpu, new, bar, old, &mut old_bar, rates[n as usize], &mut rate_bar)?;
                by_rate[n as usize] += rate_bar.0[0];
                *bar = old_bar;
                Ok(())
            },
        );
        let mut bars = ([Batch([0.0]); 2], vec![0.0; steps as usize]);
        let schedule = Binomial::revolve(steps, 8).unwrap();
        Run::new().gradient(schedule, steps, &mut step, [-1.0, 1.5], &mut bars).unwrap();
        bars.1
    };
    let mut rates = vec![0.01; steps as usize];
    let by_rate = gradient(&rates);
    for n in [0, 50, 199] {
        let moved = |h: f64| {
            let mut rates = rates.clone();
            rates[n] += h;
            reached(&rates)
        };
        close(by_rate[n], slope(moved, 1e-5), 1e-6);
    }
    let before = reached(&rates);
    for _ in 0..20 {
        let by_rate = gradient(&rates);
        let length = by_rate.iter().map(|g| g * g).sum::<f64>().sqrt();
        rates.iter_mut().zip(by_rate).for_each(|(rate, g)| *rate -= 2e-3 * g / length);
    }
    assert!(reached(&rates) < 0.9 * before, "{} {before}", reached(&rates));
}

/// A step of Newton's method for the root of `x³ - c x - 1`.
#[reversible]
fn newton(new: &mut f64, old: f64, c: f64) {
    *new += old - (old * (old * old - c) - 1.0) / (3.0 * old * old - c);
}

/// As many steps as it takes: the derivative of a root is that of the implicit function.
#[test]
fn newton_s_method_of_unknown_length() {
    for (c, start) in [(0.5f64, 3.0), (1.0, 50.0), (2.0, 1e6)] {
        let cpu = Cpu::new();
        let mut step = from_old(
            0.0,
            |_, new: &mut f64, old: &f64| Ok(newton::run(&cpu, new, *old, c)?),
            no_loss,
            |_, new: &mut f64, old: &f64, (bar, by_c): &mut (f64, f64)| {
                let (mut new_bar, mut old_bar, mut c_bar) = (Batch([*bar]), Batch([0.0]), Batch([0.0]));
                newton::pullback(&cpu, new, &mut new_bar, *old, &mut old_bar, c, &mut c_bar)?;
                (*bar, *by_c) = (old_bar.0[0], *by_c + c_bar.0[0]);
                Ok(())
            },
        );
        let mut root = (0, 0.0);
        let mut bars = (0.0, 0.0);
        let report = Run::new()
            .gradient_while(
                Online::new(3, Policy::Binomial).unwrap(),
                |x| (x * (x * x - c) - 1.0).abs() > 1e-12,
                |steps, x, bars: &mut (f64, f64)| {
                    root = (steps, *x);
                    bars.0 = 1.0;
                    Ok(())
                },
                &mut step,
                start,
                &mut bars,
            )
            .unwrap();
        assert!(root.0 > 4 && report.counts.gradients == root.0, "{root:?}");
        close(bars.1, root.1 / (3.0 * root.1 * root.1 - c), 1e-9);
        assert!(abs_diff_eq!(bars.0, 0.0, epsilon = 1e-6), "{bars:?}");
    }
}

/// One step of an LSTM with the state `(h, c)` in two rows: `c ← f c + i g`, `h ← o tanh(c)`, in place. A forget gate
/// near zero can't be divided by: what it forgets is lost. `w` has for each gate (forget, input, output, candidate) and each cell a weight of the input, one of
/// the cell's own output, one of its neighbour's, and a bias.
#[reversible]
fn lstm(mut new: ArrayViewMut2<f64>, old: ArrayView2<f64>, w: ArrayView2<f64>, x: f64) {
    let n = old.ncols();
    for j in 0..n {
        let mut gate = [0.0; 4];
        for k in 0..4 {
            gate[k] += w[[4 * j + k, 0]] * x + w[[4 * j + k, 1]] * old[[0, j]];
            gate[k] += w[[4 * j + k, 2]] * old[[0, (j + 1) % n]] + w[[4 * j + k, 3]];
        }
        let c = gate[0].sigmoid() * old[[1, j]] + gate[1].sigmoid() * gate[3].tanh();
        new[[1, j]] += c;
        new[[0, j]] += gate[2].sigmoid() * c.tanh();
    }
}

/// The sum of the squares of what the cells' outputs are off from a signal, by the weights.
#[test]
fn an_lstm_s_loop_over_time() {
    const N: usize = 3;
    let (cpu, steps) = (Cpu::new(), 60u64);
    let input = |n: u64| (0.3 * n as f64).sin();
    let target = |n: u64, j: usize| (0.3 * (n + 1 + j as u64) as f64).sin() / 2.0;
    let w = Array2::from_shape_fn((4 * N, 4), |(i, j)| (1.7 * i as f64 + 0.9 * j as f64).sin());
    type Bars = (Array2<Batch<f64, 1>>, Array2<Batch<f64, 1>>, Array2<Batch<f64, 1>>, f64);
    let mut step = from_old(
        Array2::zeros((2, N)),
        |n, new: &mut Array2<f64>, old: &Array2<f64>| {
            Ok(lstm::run(&cpu, new.view_mut(), old.view(), w.view(), input(n))?)
        },
        |n, after: &Array2<f64>, (bar, _, _, loss): &mut Bars| {
            for j in 0..N {
                let off = after[[0, j]] - target(n, j);
                *loss += off * off;
                bar[[0, j]].0[0] += 2.0 * off;
            }
            Ok(())
        },
        |n, new: &mut Array2<f64>, old: &Array2<f64>, (bar, old_bar, w_bar, _): &mut Bars| {
            old_bar.fill(Batch([0.0]));
            let mut x_bar = Batch([0.0]);
            let (new_bar, old_bar_view) = (bar.view_mut(), old_bar.view_mut());
            let (w, w_bar) = (w.view(), w_bar.view_mut());
            lstm::pullback(
                &cpu,
                new.view_mut(),
                new_bar,
                old.view(),
                old_bar_view,
                w,
                w_bar,
                input(n),
                &mut x_bar,
            )?;
            std::mem::swap(bar, old_bar);
            Ok(())
        },
    );
    let zero = |shape: (usize, usize)| Array2::from_elem(shape, Batch([0.0]));
    let mut bars = (zero((2, N)), zero((2, N)), zero((4 * N, 4)), 0.0);
    let schedule = Binomial::revolve(steps, 5).unwrap();
    Run::new().gradient(schedule, steps, &mut step, Array2::zeros((2, N)), &mut bars).unwrap();
    let loss = |at: [usize; 2], h: f64| {
        let (mut x, mut w) = (Array2::zeros((2, N)), w.clone());
        w[at] += h;
        (0..steps).fold(0.0, |sum, n| {
            let mut next = Array2::zeros((2, N));
            lstm(next.view_mut(), x.view(), w.view(), input(n)).unwrap();
            x = next;
            sum + (0..N).map(|j| (x[[0, j]] - target(n, j)).powi(2)).sum::<f64>()
        })
    };
    close(bars.3, loss([0, 0], 0.0), 1e-13);
    for at in [[0, 0], [1, 1], [2, 2], [3, 3], [7, 0], [11, 1]] {
        close(bars.2[at].0[0], slope(|h| loss(at, h), 1e-3), 1e-7);
    }
}

/// A relaxation in place, whose inverse blows up rounding errors: checkpoints give back what it loses.
#[reversible]
fn settle(mut x: ArrayViewMut1<f64>, rate: f64) {
    for i in 0..x.len() {
        scale_by(x[i], 1.0 - rate);
        x[i] += rate;
    }
}

#[test]
fn a_relaxation_in_place() {
    let (cpu, steps, rate) = (Cpu::new(), 30u64, 0.3);
    let mut step = in_place(
        |_, x: &mut Array1<f64>| Ok(settle::run(&cpu, x.view_mut(), rate)?),
        no_loss,
        |_, x: &mut Array1<f64>, (bar, by_rate): &mut (Array1<Batch<f64, 1>>, f64)| {
            let mut rate_bar = Batch([0.0]);
            settle::pullback(&cpu, x.view_mut(), bar.view_mut(), rate, &mut rate_bar)?;
            *by_rate += rate_bar.0[0];
            Ok(())
        },
    );
    let mut bars = (Array1::from_elem(2, Batch([1.0])), 0.0);
    let schedule = Binomial::revolve(steps, 4).unwrap();
    let first = ndarray::arr1(&[5.0, -1.0]);
    Run::new().gradient(schedule, steps, &mut step, first.clone(), &mut bars).unwrap();
    // x_n - 1 = (1 - rate)^n (x_0 - 1)
    let expected = -(steps as f64) * 0.7f64.powi(29) * first.iter().map(|x| x - 1.0).sum::<f64>();
    assert_relative_eq!(bars.1, expected, epsilon = 0.0, max_relative = 1e-10);
    assert_abs_diff_eq!(bars.0[0].0[0] / 0.7f64.powi(30), 1.0, epsilon = 1e-10);
}
